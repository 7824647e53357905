"""What is written to the brain beside pages: proposals and who lands them, traces, ratings, and erasure.

The rules are in falsify/brain; here they are given what they look at, and the keys.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from falsify.belief.revision import remark
from falsify.belief.text import written
from falsify.brain import erasure, governance, proposals, ratings, traces
from falsify.brain.events import AnswerRated, ProposalKind, ProposalStaged, TraceLogged
from falsify.brain.guard import Draft, Ground, Kind
from falsify.brain.library import Library, Proposal
from falsify.brain.privacy import Classifier
from falsify.brain.proposals import Outcome
from falsify.errors import FalsifyError
from falsify.events import Event
from falsify.identity import require_person
from falsify.sealing import Keyring
from surfaces.brain import STREAM, Brain, Decide
from surfaces.tools.envelope import Envelope

KEYS = "keys"
"""The folder of a workspace that has the keys."""

DraftOf = Callable[[Library], Draft]


def keyring(brain: Brain) -> Keyring:
    """Return the keys of a workspace."""
    return Keyring(brain.workspace.folder / KEYS)


# --- proposing ----------------------------------------------------------------------------------------------------


def propose_lesson(
    brain: Brain,
    caller: str,
    *,
    title: str,
    lesson: str,
    kind: Kind,
    department: str | None = None,
    refs: Sequence[str] = (),
    classifier: Classifier | None = None,
) -> bytes:
    """Propose a lesson or a rule; return what became of it, JSON."""

    def draft(library: Library) -> Draft:
        return proposals.lesson_draft(
            library.org, kind=kind, caller=caller, title=title, lesson=lesson, department=department, refs=refs
        )

    return _propose(brain, caller, "propose_lesson", draft, classifier)


def propose_page(
    brain: Brain,
    caller: str,
    *,
    title: str,
    content: str,
    department: str | None = None,
    refs: Sequence[str] = (),
    classifier: Classifier | None = None,
) -> bytes:
    """Propose a new page; return what became of it, JSON."""

    def draft(library: Library) -> Draft:
        return proposals.page_draft(
            library.org, caller=caller, title=title, content=content, department=department, refs=refs
        )

    return _propose(brain, caller, "propose_page", draft, classifier)


def ground(brain: Brain, caller: str, classifier: Classifier | None = None) -> Ground:
    """Return what the guard looks at for a caller: nothing that they cannot see."""
    library, scope = brain.library, brain.scope(caller)
    waiting = {
        proposal_id: known.staged.text.partition("\n---\n")[2]
        for proposal_id, known in library.proposals.items()
        if known.status == "pending" and known.staged.proposed_by == caller and known.staged.proposes != "governance"
    }
    return Ground(
        org=library.org,
        pages={path: page for path, page in brain.pages().pages.items() if scope.sees(page)},
        traces=traces.own_traces(library, caller),
        waiting=waiting,
        classifier=classifier,
    )


def _propose(brain: Brain, caller: str, tool: str, draft_of: DraftOf, classifier: Classifier | None) -> bytes:
    outcome = Outcome(None)

    def decide(library: Library) -> list[Event]:
        nonlocal outcome
        held, judge = ground(brain, caller, classifier), brain.workspace.judge
        outcome = proposals.propose(library, draft_of(library), held, today=brain.today, judge=judge)
        return [outcome.staged] if outcome.staged else []

    return brain.perform(decide, lambda _events: orjson.dumps(outcome.as_json()), tool=tool, caller=caller)


# --- deciding -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal as the Approval Center has it, beside the requests of research."""

    brain: Brain
    proposal: Proposal

    @property
    def id(self) -> str:
        """The id that it is named by."""
        return self.proposal.staged.proposal_id

    @property
    def pending(self) -> bool:
        """Whether nobody has decided."""
        return self.proposal.status == "pending"

    @property
    def position(self) -> int:
        """Where in the log it was staged."""
        return self.proposal.position

    @property
    def revision(self) -> int:
        """Where the stream is that it belongs to."""
        return self.brain.library.revision

    def row(self) -> dict[str, Any]:
        """Return it, JSON-ready, with when it was made and how long ago (seconds)."""
        staged = self.proposal.staged
        asked = next(self.brain.log.read(after=self.position - 1, through=self.position))
        age = max(0, self.brain.workspace.clock.now() - asked.recorded_at)
        return {
            "id": self.id,
            "project_id": STREAM,
            "status": self.proposal.status,
            "tool": _TOOLS[staged.proposes],
            "arguments": _arguments(staged),
            "digest": staged.digest,
            "asked_by": staged.proposed_by,
            "reason": "",
            "asked_at_revision": asked.revision,
            "effects": _effects(staged),
            "relies_on": [],
            "decided_by": self.proposal.decided_by,
            "note": self.proposal.note,
            "findings": list(staged.findings),
            "judge": staged.judge,
            "asked_at": written(asked.recorded_at),
            "age_seconds": age // 1_000_000,
        }

    def detail(self) -> dict[str, Any]:
        """Return all there is to know before it is decided, JSON-ready, as of a request of research."""
        would_do, obstacles = self._foreseen()
        return {
            **self.row(),
            "since": [],
            "can_be_carried_out": not obstacles,
            "obstacles": obstacles,
            "would_do": would_do,
            "done": _effects(self.proposal.staged) if self.proposal.status == "approved" else [],
        }

    def approve(self, caller: str, note: str = "") -> bytes:
        """Land it, in the same command as the approval: exactly once. Return the envelope.

        Raises ConflictError, and leaves it pending, where it cannot be landed any more.
        """
        require_person(caller, "approve anything")
        told = remark(note, what="the note")

        def decide(library: Library) -> Sequence[Event]:
            held, now = lambda proposer: ground(self.brain, proposer), self.brain.now
            return proposals.approve(library, self.id, caller=caller, now=now, ground_of=held, note=told)

        return self._perform(decide, "approvals.approve", caller)

    def reject(self, caller: str, reason: str) -> bytes:
        """Refuse it; return the envelope."""
        told = remark(reason, what="the reason")
        return self._perform(
            lambda library: proposals.reject(library, self.id, caller=caller, reason=told), "approvals.reject", caller
        )

    def _perform(self, decide: Decide, tool: str, caller: str) -> bytes:
        def respond(events: Sequence[Event]) -> bytes:
            library = self.brain.library
            warnings: tuple[str, ...] = ()
            by = caller
            if not events:
                by = library.proposals[self.id].decided_by
                warnings = (f"{self.id} was approved before by {by} and landed then; nothing was done now",)
            status = "rejected" if tool == "approvals.reject" else "approved"
            return Envelope(
                status="ok",
                project_revision=library.revision + len(events),
                result={"approval": {"id": self.id, "status": status, "decided_by": by}},
                warnings=warnings,
            ).to_bytes()

        return self.brain.perform(decide, respond, tool=tool, caller=caller)

    def _foreseen(self) -> tuple[list[str], list[str]]:
        """Return what it would do now, and what keeps it from being landed."""
        staged, library = self.proposal.staged, self.brain.library
        if not self.pending:
            return [], [f"it was {self.proposal.status} by {self.proposal.decided_by}"]
        if staged.proposes != "governance":
            found = proposals.obstacles(library, staged, ground(self.brain, staged.proposed_by))
            return ([], found) if found else (_effects(staged), [])
        try:
            change = governance.proposed(library, staged)
        except FalsifyError as error:
            return [], [error.message]
        return [change.told(change.after)["en"], *change.warnings], []


_TOOLS: Mapping[ProposalKind, str] = {
    "lesson": "propose_lesson",
    "rule": "propose_lesson",
    "page": "propose_page",
    "governance": "governance_apply",
}


def proposed(brain: Brain, caller: str) -> list[Proposed]:
    """Return the proposals that a caller may decide on or made, in the order in which they were made."""
    library = brain.library
    seen = (each for each in library.proposals.values() if proposals.may_see(library.org, caller, each.staged))
    return [Proposed(brain, each) for each in sorted(seen, key=lambda each: each.position)]


def _arguments(staged: ProposalStaged) -> dict[str, Any]:
    if staged.proposes == "governance":
        told: dict[str, Any] = orjson.loads(staged.text)
        return told
    return {
        "title": staged.title,
        "department": staged.department,
        "rel_path": staged.lands_at or staged.rel_path,
        "refs": list(staged.refs),
        "text": staged.text,
    }


def _effects(staged: ProposalStaged) -> list[str]:
    if staged.proposes == "governance":
        return [f"the org map is changed: {staged.title}"]
    return [
        f"{staged.lands_at or staged.rel_path} is recorded",
        *(f"{rel_path} is superseded by it" for rel_path in staged.supersedes),
    ]


# --- traces -------------------------------------------------------------------------------------------------------


def log_trace(brain: Brain, caller: str, entry: traces.Entry, *, classifier: Classifier | None = None) -> str:
    """Record a trace and return its path. Raises RefusedError, whose reason is the rule that was violated."""
    seal = keyring(brain).seal

    def decide(library: Library) -> list[Event]:
        held = Ground(org=library.org, classifier=classifier)
        return [traces.log_trace(library, entry, held, caller=caller, today=brain.today, seal=seal)]

    # What was written is no part of the command: a hash of it would outlive its erasure.
    return brain.perform(decide, _path, tool="log_trace", caller=caller).decode()


def read_trace(brain: Brain, caller: str, rel_path: str) -> str | None:
    """Return a trace as a page, or None where there is none or it is not the caller's to read."""
    library = brain.library
    trace = library.traces.get(rel_path)
    if trace is None or not traces.may_read(library.org, caller, trace):
        return None
    return traces.page_text(trace, keyring(brain).unseal)


def trace_rows(brain: Brain, caller: str) -> list[dict[str, Any]]:
    """Return the traces that a caller may read, JSON-ready, by path; what was erased says so."""
    library, unseal = brain.library, keyring(brain).unseal
    return [
        {
            "rel_path": path,
            "agent": trace.agent,
            "status": trace.status,
            "duration_seconds": trace.duration_seconds,
            "refs": list(trace.refs),
            "on_behalf_of": None,
            **traces.content_of(trace, unseal),
        }
        for path, trace in sorted(library.traces.items())
        if traces.may_read(library.org, caller, trace)
    ]


def _path(events: Sequence[Event]) -> bytes:
    return next(event.rel_path for event in events if isinstance(event, TraceLogged)).encode()


# --- ratings ------------------------------------------------------------------------------------------------------


def rate_answer(brain: Brain, caller: str, *, answer_id: str, rating: str, comment: str = "") -> bytes:
    """Record what somebody thinks of an answer that they were given; return what was recorded, JSON.

    Raises RefusedError, whose reason is the error of the contract.
    """
    seal = keyring(brain).seal

    def decide(library: Library) -> list[Event]:
        return [
            ratings.rate(
                library,
                answer_id,
                rating=rating,
                comment=comment,
                caller=caller,
                age=_age(brain, library, answer_id),
                pages=brain.pages().pages,
                seal=seal,
            )
        ]

    def respond(events: Sequence[Event]) -> bytes:
        rated = next(event for event in events if isinstance(event, AnswerRated))
        return orjson.dumps(
            {"recorded": True, "answer_id": answer_id, "rating": rated.rating, "rel_path": rated.rel_path}
        )

    return brain.perform(decide, respond, tool="rate_answer", caller=caller)


def rating_rows(brain: Brain, caller: str) -> list[dict[str, Any]]:
    """Return the ratings that were raised to a caller, are theirs, or all to the owner, JSON-ready."""
    library, keys = brain.library, keyring(brain)
    return [
        {
            "answer_id": rated.answer_id,
            "rel_path": rated.rel_path,
            "rated_by": rated.rated_by,
            "rating": rated.rating,
            "comment": traces.opened(rated.comment, keys.unseal),
            "cited": list(library.answers[rated.answer_id].citations),
            "raised_to": list(rated.raised_to),
        }
        for rated in ratings.readable(library.ratings.values(), library.org, caller)
    ]


def _age(brain: Brain, library: Library, answer_id: str) -> int:
    """Return how long ago an answer was given (microseconds); of one that was not, nothing."""
    position = library.answered.get(answer_id)
    if position is None:
        return 0
    given = next(brain.log.read(after=position - 1, through=position))
    return brain.workspace.clock.now() - given.recorded_at


# --- erasure ------------------------------------------------------------------------------------------------------

_NAMES = "What pages say is the organisation's: a name in the text of a page is not touched; edit the page for that."
_COPIES = (
    "Copies of the folder of keys, in backups or elsewhere, are yours to find and destroy: whoever has one can still "
    "read what was sealed."
)
_BLOCKS = (
    "The file of the key was overwritten before it was removed; a disk or file system that keeps old blocks may still "
    "have them."
)
ERASURE_NOTES = (_NAMES, _COPIES, _BLOCKS)
"""What whoever erases somebody has to know."""


def foresee_erasure(brain: Brain, caller: str, name: str) -> dict[str, Any]:
    """Return whom a name stands for and how many sealed texts would be gone. The owner only."""
    library, keys = brain.library, keyring(brain)
    erasure.require_owner(library, caller)
    subject = erasure.subject_named(library, name, remains=_remains(keys, name))
    texts = sum(keys.subject_of(sealed) == subject for sealed in erasure.sealed(library))
    return {"subject": subject, "sealed_texts": texts, "notes": list(ERASURE_NOTES)}


def erase_person(brain: Brain, caller: str, name: str) -> dict[str, Any]:
    """Destroy the key of a person and record it; return what `foresee_erasure` foresaw. The owner only.

    Cut short, it can be done again: the key is gone first, and what is left of it until that is recorded keeps anybody
    from sealing with a new one.
    """
    told, keys = foresee_erasure(brain, caller, name), keyring(brain)
    subject = told["subject"]
    destroyed = keys.destroy(subject)

    def decide(library: Library) -> Sequence[Event]:
        return erasure.erase(library, subject, erased_by=caller, destroyed=destroyed)

    recorded = brain.perform(decide, lambda events: b"1" if events else b"0", tool="erase_person", caller=caller)
    keys.forget(subject)
    return {**told, "erased": True, "recorded": recorded == b"1"}


def _remains(keys: Keyring, name: str) -> bool:
    slug = name.strip().removeprefix("person:")
    return bool(slug) and keys.remains(slug)
