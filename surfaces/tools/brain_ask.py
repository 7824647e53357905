"""What ask_company_context answers: one answer with verified citations, out of what the call may see.

A question that nothing is known about and a caller who may see nothing are answered alike. Everything that was asked
is recorded, the question sealed for whom it was asked, and what was answered can be rated by its id.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

import orjson

from falsify.belief.text import end_of
from falsify.brain.answering import EXPERIENCE, Extract
from falsify.brain.citations import stripped
from falsify.brain.consultation import Mode, Reply, Request, consult
from falsify.brain.events import AnswerGiven, Sealed
from falsify.brain.guard import MAX_TITLE
from falsify.brain.library import Library
from falsify.brain.proposals import Outcome
from falsify.brain.quotas import TOLD, Quotas, Since, asked_for, excess, sealed_for
from falsify.brain.response_schema import schema_fault
from falsify.brain.scope import SENSITIVITIES, Scope, Sensitivity
from falsify.errors import UnavailableError
from falsify.events import Event
from falsify.ports import Consultant
from projections.search.fusion import pipeline
from projections.search.pipeline import Hit, Ranking, search, withheld
from projections.search.view import Admission
from surfaces.brain import Brain
from surfaces.brain_writes import keyring, propose_lesson
from surfaces.tools.brain_search import (
    NOTHING_THERE,
    Answer,
    is_day,
    refusal,
    text_fault,
    tokens_of,
    unavailable,
)

MOST_EXTRACTS: Final = 24
"""The greatest k of a question."""

TRUST_LABELS: Final[Mapping[str, str]] = {
    "verified": "Verified",
    "declared": "Declared, not verified",
    "imported": "Imported, not verified",
    "unverified": "Not verified",
}
"""How the trust in a page is told to people."""

NO_CITATIONS: Final = "R-REFS: the answer cites no page, and nothing is proposed that rests on nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A call that was found in order."""

    caller: str
    on_behalf_of: str
    request: Request
    k: int
    as_of: str
    budget: int
    explain: bool
    department: str | None


def ask_company_context(
    brain: Brain,
    caller: str,
    *,
    question: str | None = None,
    task: str | None = None,
    k: int = 8,
    on_behalf_of: str = "",
    explain: bool = False,
    budget: int = 0,
    response_schema: Mapping[str, Any] | None = None,
    write_back: bool = False,
    write_back_department: str | None = None,
    as_of: str = "",
    consultant: Consultant | None = None,
) -> Answer:
    """Return the answer to a question, or guidance for a task. `consultant` is who the settings name, if not given."""
    settings = brain.workspace.settings
    mode: Mode = "question" if task is None else "guidance"
    if fault := _asked_fault(question, task):
        return refusal("invalid_question", fault)
    if task is not None and not settings.guidance:
        return refusal("guidance_disabled", "This deployment gives no guidance; ask a question instead.")
    if response_schema is not None and (fault := schema_fault(response_schema)):
        return refusal("invalid_schema", fault)
    if as_of and not is_day(as_of):
        return refusal("invalid_as_of", "as_of must be a date, written YYYY-MM-DD.")
    if write_back and (task is not None or as_of):
        what = "Guidance" if task is not None else "An answer of the past"
        return refusal("invalid_write_back", f"{what} is not proposed to the Brain: ask without write_back.")
    consultant = consultant or consultant_of(brain)
    if code := _excess(brain, caller, on_behalf_of, consulting=consultant is not None):
        return refusal(code, TOLD[code])
    call = _Call(
        caller=caller,
        on_behalf_of=on_behalf_of,
        request=Request(
            asked=(question if task is None else task) or "",
            mode=mode,
            schema=response_schema or {},
            max_tokens=settings.max_answer_tokens,
        ),
        k=min(max(k, 1), MOST_EXTRACTS),
        as_of=as_of,
        budget=budget,
        explain=explain,
        department=write_back_department or None,
    )
    try:
        payload = _answered(brain, call, consultant)
    except UnavailableError as error:
        return unavailable(error)
    if payload is None:
        return NOTHING_THERE
    given = _record(brain, call, payload)
    return _proposed(brain, call, given) if write_back else given


def consultant_of(brain: Brain) -> Consultant | None:
    """Return who is consulted by the settings of a workspace; None for the sentences alone."""
    settings, environ = brain.workspace.settings, brain.workspace.environ
    asked = settings.consultation
    if asked == "auto":
        shown = environ.get("DEMO_MODE", "") not in {"", "0", "false"}
        asked = "llm" if environ.get("LLM_API_KEY") and not shown else "extractive"
    if asked == "extractive":
        return None
    from falsify.consultants.llm import LLMConsultant  # Cognee's gateway: not before somebody wants it

    return LLMConsultant(root=brain.workspace.folder, timeout=settings.consultation_timeout, environ=environ)


# --- what is refused ------------------------------------------------------------------------------------------


def _asked_fault(question: str | None, task: str | None) -> str:
    if (question is None) == (task is None):
        return "Send either a question or a task."
    return text_fault(question, "question") if question is not None else text_fault(task or "", "task")


def _excess(brain: Brain, caller: str, on_behalf_of: str, *, consulting: bool) -> Any:
    """Return the code of what keeps the question from being asked today, or None."""
    settings, library = brain.workspace.settings, brain.library
    quotas = Quotas(
        person_daily=settings.questions_per_day,
        monthly=settings.consultations_per_month,
        daily=settings.consultations_per_day,
    )
    day = date.fromisoformat(brain.today)
    since = Since(day=_position_before(brain, day), month=_position_before(brain, day.replace(day=1)))
    return excess(library, quotas, since, caller=caller, on_behalf_of=on_behalf_of, consulting=consulting)


def _position_before(brain: Brain, day: date) -> int:
    """Return the position of the log at which a day begins."""
    return brain.log.position_at(end_of(day.isoformat()) - 86_400_000_000)


# --- the answer -----------------------------------------------------------------------------------------------


def _answered(brain: Brain, call: _Call, consultant: Consultant | None) -> dict[str, Any] | None:
    """Return the answer, or None where there is no page at all."""
    scope = brain.scope(call.caller, call.on_behalf_of)
    if consultant is not None:
        scope = _lowered(scope, brain.workspace.settings.consultation_sensitivity)
    admission = Admission(
        scope=scope,
        day=call.as_of or brain.today,
        past=bool(call.as_of),
        types=EXPERIENCE if call.request.mode == "guidance" else (),
    )
    index = brain.index
    ranking = search(index, call.request.asked, admission)
    # Only who may read everything learns that there is nothing: to others it looks as what they may not see.
    if ranking.nothing and scope.everything:
        return None
    hits = ranking.hits[: call.k]
    extracts = [_extract(hit) for hit in hits]
    reply = consult(call.request, extracts, weak=ranking.weak, embedder=brain.workspace.embedder, consultant=consultant)
    payload = _payload(call, reply, hits if reply.known else (), ranking)
    if call.explain:
        payload["explain"] = {
            "pipeline": {**pipeline(admission.day), "consultation": _consulted(reply, consultant)},
            "counts": dict(ranking.counts),
            "destination_filtered": withheld(index, admission),
        }
    return payload


def _lowered(scope: Scope, most: Sensitivity) -> Scope:
    """Return a scope whose ceiling is not above `most`."""
    return replace(scope, ceiling=min(scope.ceiling, most, key=SENSITIVITIES.index))


def _extract(hit: Hit) -> Extract:
    return Extract(
        rel_path=hit.rel_path,
        title=hit.title,
        heading_path=hit.heading_path,
        text=hit.text,
        quotable=hit.quotable,
        holds=hit.tier == 0,
    )


def _payload(call: _Call, reply: Reply, hits: Sequence[Hit], ranking: Ranking) -> dict[str, Any]:
    """Return the answer with the contract's keys; when and under which id it is given is not known yet."""
    cited = [hits[place] for place in reply.places]
    paths = {hit.rel_path for hit in cited}
    rest = [hit for hit in hits if hit.rel_path not in paths]
    snippets, cut = _within(call.budget, [hit.text if hit.quotable else "" for hit in (*cited, *rest)])
    shown = [
        _source(hit, snippet, explain=call.explain) for hit, snippet in zip((*cited, *rest), snippets, strict=True)
    ]
    payload: dict[str, Any] = {
        "answer": reply.text,
        "confidence": ranking.confidence if reply.known else "low",
        "citations": [{"n": n, **each} for n, each in enumerate(shown[: len(cited)], start=1)],
        "retrieved": shown[len(cited) :],
        "answered_at": "",
        "answer_id": "",
    }
    if call.request.schema:
        payload["structured"] = reply.structured
        payload |= {"structured_error": reply.fault} if reply.fault else {}
    payload |= {"budget_truncated": True} if cut else {}
    payload |= {"as_of": call.as_of} if call.as_of else {}
    return payload


def _source(hit: Hit, snippet: str, *, explain: bool) -> dict[str, Any]:
    return {
        "rel_path": hit.rel_path,
        "title": hit.title,
        "heading_path": hit.heading_path,
        "snippet": snippet,
        "source_trust": hit.source_trust,
        "trust_label": TRUST_LABELS[hit.source_trust],
        "updated": hit.updated,
        "department": hit.department,
        **({"origin": hit.origin} if hit.origin else {}),
        **({"start_line": hit.start_line, "end_line": hit.end_line} if hit.start_line else {}),
        **({"explain": hit.explained()} if explain else {}),
    }


def _within(budget: int, snippets: Sequence[str]) -> tuple[list[str], bool]:
    """Return the snippets, cut to so many tokens, which they share in order, and whether anything was cut."""
    if budget <= 0:
        return list(snippets), False
    kept: list[str] = []
    for snippet in snippets:
        kept.append(snippet[: 4 * max(budget, 0)])
        budget -= tokens_of(kept[-1])
    return kept, kept != list(snippets)


def _consulted(reply: Reply, consultant: Consultant | None) -> dict[str, Any]:
    """Return who answered, and whether it was because the consultant had no usable answer."""
    version = consultant.version if consultant is not None and reply.by == consultant.name else None
    return {"by": reply.by, "version": version, "fallback": reply.instead}


# --- what is recorded -----------------------------------------------------------------------------------------


def _record(brain: Brain, call: _Call, payload: Mapping[str, Any]) -> bytes:
    """Record that the answer was given, and return it with its id and the time."""
    org = brain.library.org
    sealed = keyring(brain).seal(sealed_for(org, call.caller, call.on_behalf_of), call.request.asked)
    answered_at = brain.now

    def decide(library: Library) -> Sequence[Event]:
        return [
            AnswerGiven(
                answer_id=_answer_id(call, sealed, library.revision),
                asked_by=call.caller,
                on_behalf_of=asked_for(org, call.on_behalf_of),
                question=sealed,
                citations=tuple(each["rel_path"] for each in payload["citations"]),
                confidence=payload["confidence"],
                mode=call.request.mode,
            )
        ]

    def respond(events: Sequence[Event]) -> bytes:
        (given,) = events
        return orjson.dumps({**payload, "answered_at": answered_at, "answer_id": given.__dict__["answer_id"]})

    return brain.perform(decide, respond, tool="ask_company_context", caller=call.caller, body=orjson.dumps(sealed.box))


def _answer_id(call: _Call, sealed: Sealed, revision: int) -> str:
    """Return the id of an answer. The question takes part in it as it is sealed: nobody can guess it from the id."""
    parts = (call.caller, sealed.key, sealed.box, call.as_of, str(revision))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _proposed(brain: Brain, call: _Call, given: bytes) -> bytes:
    """Propose the answer as a lesson, as the caller, and return it with what became of that."""
    payload = orjson.loads(given)
    refs = [each["rel_path"] for each in payload["citations"]]
    if refs:
        outcome = orjson.loads(
            propose_lesson(
                brain,
                call.caller,
                title=call.request.asked[:MAX_TITLE].strip(),
                lesson=stripped(payload["answer"]),
                kind="lesson",
                department=call.department,
                refs=refs,
            )
        )
    else:
        outcome = Outcome(None, (NO_CITATIONS,)).as_json()
    return orjson.dumps({**payload, "write_back": outcome})
