"""The three tools that change beliefs: each turns its input into a command, and tells what came of it.

An agent's word counts as anybody's: no input says how far a source is trusted, and a source that is known keeps its
title, so that nobody is made to look like somebody else.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, TypeVar, cast

from falsify.belief import revision
from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    BeliefEvent,
    ConclusionDrawn,
    DependencyAdded,
    EvidenceAsserted,
    EvidenceRecorded,
    EvidenceWeighed,
    FrontierMoved,
    HypothesisProposed,
    QuestionAsked,
    Stance,
    VerdictGiven,
    VerdictWithheld,
)
from falsify.belief.graph import UNATTRIBUTED, BeliefGraph, Conclusion, Evidence, Hypothesis, acts
from falsify.belief.ingest import (
    BadReferenceError,
    BeliefFile,
    ConclusionEntry,
    DependencyEntry,
    EvidenceEntry,
    HypothesisEntry,
    SourceEntry,
    WeightEntry,
    ingest,
)
from falsify.belief.revision import AssertFact, Weighing, assert_fact
from falsify.belief.text import clean, moment, node_id, written
from falsify.errors import InvalidInputError, RefusedError
from falsify.events import Event, NodeId
from falsify.ports import Statement
from projections.beliefs import BELIEF_EVENTS, CONSEQUENCES
from surfaces import answers
from surfaces.envelope import NextAction
from surfaces.text import CHANGES
from surfaces.tools import suggestions
from surfaces.tools.belief_inputs import (
    Dependency,
    NewConclusion,
    NewEvidence,
    NewHypothesis,
    Record,
    Retract,
    Revise,
    SourceNamed,
    Weight,
)
from surfaces.tools.belief_rows import CLAIM, HEAD, NAME, find, name_row, question
from surfaces.tools.fence import Fence
from surfaces.tools.reading import sent
from surfaces.tools.workbench_acts import arguments_of
from surfaces.workbench import Sight, Work
from surfaces.workspace import second_look

RECORD: Final = "falsify.belief.record"
REVISE: Final = "falsify.belief.revise"
RETRACT: Final = "falsify.belief.retract"

AT_ONCE: Final = 3
"""How many of the fallen are suggested to ask about."""
MOST_EFFECTS: Final = 20
"""How many sentences a person is told of what a command would do: a cascade may be of thousands."""

T = TypeVar("T")


# --- recording ------------------------------------------------------------------------------------------------


def record(given: Record) -> Work:
    """Record what is new, and refuse what would change anything that is there."""
    arguments = _checked(given)
    if "question" in arguments and "question_id" in arguments:
        raise InvalidInputError(
            "both question and question_id are given",
            hint="give question to ask a new one, question_id to name one that is there",
            reason="question_twice",
        )

    def decide(sight: Sight) -> list[Event]:
        asked = sent(given.question, "") or question(sight.graph, sent(given.question_id, "")).text
        try:
            events = ingest(sight.graph, _file(sight.graph, clean(asked, what="question"), given), person=sight.caller)
        except BadReferenceError as error:
            raise InvalidInputError(
                error.message.replace("this file", "this call"),
                hint=error.hint or "refer to entries of this call by their id, to others by id or short name",
                reason="bad_reference",
            ) from error
        for event in events:
            _check_that_it_adds(sight.graph, event)
        return [*events]

    return Work(
        tool=RECORD,
        arguments=arguments,
        decide=decide,
        result=_recorded,
        suggest=partial(_judge_it, given),
        warn=_not_judged,
        foresee=_foreseen,
        reason=sent(given.reason, ""),
    )


def _file(graph: BeliefGraph, asked: str, given: Record) -> BeliefFile:
    """Return what is given as a belief file about a question."""
    question_id = node_id("question", asked)
    hypotheses: tuple[NewHypothesis, ...] = sent(given.hypotheses, ())
    evidence: tuple[NewEvidence, ...] = sent(given.evidence, ())
    conclusions: tuple[NewConclusion, ...] = sent(given.conclusions, ())
    own: dict[str, type] = {**{e.id: Evidence for e in evidence}, **{c.id: Conclusion for c in conclusions}}

    def rests_on(entries: tuple[Dependency, ...]) -> tuple[DependencyEntry, ...]:
        return tuple(_dependency(entry, own.get(entry.on) or _kind(graph, question_id, entry.on)) for entry in entries)

    sources = [source for e in evidence if (source := _source(e.source)) is not None]
    titles = {source.id: sent(source.title, "") for source in sources}
    return BeliefFile(
        question=asked,
        sources=tuple(SourceEntry(id=i, title=title) for i, title in titles.items() if i not in graph.sources),
        hypotheses=tuple(HypothesisEntry(id=h.id, statement=h.statement, prior=sent(h.prior, 0.5)) for h in hypotheses),
        evidence=tuple(_evidence(e, rests_on(sent(e.depends_on, ()))) for e in evidence),
        conclusions=tuple(
            ConclusionEntry(
                id=c.id, statement=c.statement, confidence=sent(c.confidence, 1.0), depends_on=rests_on(c.depends_on)
            )
            for c in conclusions
        ),
    )


def _evidence(entry: NewEvidence, depends_on: tuple[DependencyEntry, ...]) -> EvidenceEntry:
    source = _source(entry.source)
    return EvidenceEntry(
        id=entry.id,
        claim=entry.claim,
        source_id=source.id if source else UNATTRIBUTED,
        quote=sent(entry.quote, ""),
        asserted_at=sent(entry.asserted_at, ""),
        supports=_weights(sent(entry.supports, ())),
        refutes=_weights(sent(entry.refutes, ())),
        depends_on=depends_on,
    )


def _source(given: Any) -> SourceNamed | None:
    """Return who says so, None where nobody is named."""
    return sent(given, None)


def _weights(given: tuple[Weight, ...]) -> tuple[WeightEntry, ...]:
    return tuple(WeightEntry(hypothesis=each.hypothesis, weight=sent(each.weight, 1.0)) for each in given)


def _dependency(given: Dependency, kind: type) -> DependencyEntry:
    on = {"conclusion": given.on} if kind is Conclusion else {"evidence": given.on}
    return DependencyEntry(**on, critical=sent(given.critical, True), group=sent(given.group, ""))


def _kind(graph: BeliefGraph, question_id: NodeId, name: str) -> type:
    return type(graph.nodes.get(graph.handles.get((question_id, name), name)))


def _check_that_it_adds(graph: BeliefGraph, event: BeliefEvent) -> None:
    """Raise RefusedError for an event that says something else of what is recorded, or changes what is believed."""
    match event:
        case EvidenceAsserted() if (known := graph.nodes.get(event.evidence_id)) and isinstance(known, Evidence):
            overwrites = event.source_id in known.assertions
        case EvidenceWeighed():
            overwrites = graph.weighs.get(event.evidence_id, (event.hypothesis_id, event.stance)) is not None
        case DependencyAdded():
            overwrites = event.node_id in graph.nodes
        case FrontierMoved():
            overwrites = False
        case _:
            overwrites = type(event) in CONSEQUENCES and _subject(event) in graph.nodes
    if overwrites:
        subject = _subject(event)
        raise RefusedError(
            f"recording adds, and this would change what is recorded or believed of {subject}",
            hint=f"leave it out, or hold it against what is believed with {REVISE}",
            reason="not_new",
            details={"node": subject},
        )


def _subject(event: BeliefEvent) -> NodeId:
    told = event.__dict__
    return next(
        (told[field] for field in ("node_id", "evidence_id", "conclusion_id", "hypothesis_id") if field in told), ""
    )


def _recorded(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
    graph, fence = after.graph, Fence()
    new = [i for event in events if (i := _born(event))]
    asserted = [e.evidence_id for e in events if isinstance(e, EvidenceAsserted) and e.evidence_id not in new]
    return {
        "recorded": [_standing(graph, i, fence) for i in new],
        "asserted": [_standing(graph, i, fence) for i in dict.fromkeys(asserted)],
        **_followed(after, events, fence),
    }


def _born(event: Event) -> NodeId:
    """Return the node that the event brings into being, or ""."""
    match event:
        case QuestionAsked():
            return event.question_id
        case HypothesisProposed():
            return event.hypothesis_id
        case EvidenceRecorded():
            return event.evidence_id
        case ConclusionDrawn():
            return event.conclusion_id
    return ""


def _judge_it(given: Record, after: Sight, events: Sequence[Event]) -> tuple[NextAction, ...]:
    """Return the judging of the first claim that is new: it was held against nothing."""
    new = {event.handle: event for event in events if isinstance(event, EvidenceRecorded)}
    evidence: tuple[NewEvidence, ...] = sent(given.evidence, ())
    entry = next((entry for entry in evidence if entry.id in new), None)
    if entry is None:
        return ()
    said = entry.model_dump(mode="json", include={"id", "claim", "source", "quote", "asserted_at"})
    why = f"{entry.id} was held against nothing that is believed"
    asked = {"question_id": new[entry.id].question_id, **said, "reason": f"Hold {entry.id} against what is believed."}
    return (suggestions.act(after.project, REVISE, why, **asked),)


def _not_judged(_after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    if not events:
        return ("all of it was recorded before; nothing was done",)
    claims = [event.evidence_id for event in events if isinstance(event, EvidenceRecorded)]
    if not claims:
        return ()
    return (f"unadjudicated: no judge was asked about {', '.join(claims)}; nothing is refuted by what was recorded",)


# --- revising -------------------------------------------------------------------------------------------------


def revise(given: Revise) -> Work:
    """Hold a fact against what is believed; a judge is asked each time that it is decided."""
    arguments = _checked(given)
    source = _source(given.source)
    source_id, title = (source.id, sent(source.title, "")) if source else (UNATTRIBUTED, "")

    def decide(sight: Sight) -> list[Event]:
        graph = sight.graph
        known = graph.sources.get(source_id)
        fact = AssertFact(
            question_id=question(graph, sent(given.question_id, "")).id,
            text=clean(given.claim, what="claim"),
            source_id=source_id,
            source_title="" if known else title,
            quote=sent(given.quote, ""),
            asserted_at=sent(given.asserted_at, "") or written(sight.now),
            handle=sent(given.id, ""),
            weighs=tuple(_weighings(graph, given)),
        )
        _check_names(graph, fact)
        shown = Statement(fact.text, known.title if known else title or source_id, fact.quote, fact.asserted_at)
        said = sight.examine(graph, fact.fact_id, shown)
        return [*second_look(graph, lambda found: assert_fact(graph, fact, [*said, *found]), sight.examine)]

    return Work(
        tool=REVISE,
        arguments=arguments,
        decide=decide,
        result=_revised,
        suggest=_ask_why,
        warn=_unadjudicated,
        foresee=_foreseen,
        reason=given.reason,
    )


def _weighings(graph: BeliefGraph, given: Revise) -> Iterator[Weighing]:
    told: dict[Stance, tuple[Weight, ...]] = {"supports": sent(given.supports, ()), "refutes": sent(given.refutes, ())}
    for stance, weights in told.items():
        for each in weights:
            yield Weighing(find(graph, each.hypothesis, Hypothesis).id, stance, sent(each.weight, 1.0))


def _check_names(graph: BeliefGraph, fact: AssertFact) -> None:
    """Refuse names that stand for something else before a judge is asked; without the words of others."""
    holder = graph.handles.get((fact.question_id, fact.handle), fact.fact_id)
    if holder != fact.fact_id:
        raise InvalidInputError(
            f"the id {fact.handle!r} already stands for {holder}", hint="choose another id", reason="name_taken"
        )
    for weighing in fact.weighs:
        if graph.nodes[weighing.hypothesis_id].question_id != fact.question_id:
            raise InvalidInputError(
                f"{weighing.hypothesis_id} answers another question than {fact.question_id}",
                hint="name a hypothesis of the question that the fact bears on",
                reason="other_question",
            )


def _revised(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
    fence = Fence()
    fact = next(event.evidence_id for event in events if isinstance(event, EvidenceAsserted))
    return {"fact": _standing(after.graph, fact, fence), **_followed(after, events, fence)}


def _unadjudicated(_after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    withheld = [event for event in events if isinstance(event, VerdictWithheld)]
    if not withheld:
        return ()
    reasons = "; ".join(dict.fromkeys(_inline(event.reason) for event in withheld))
    facts = dict.fromkeys(event.fact_id for event in withheld)
    again = " and ".join(f"`falsify adjudicate {fact}`" for fact in facts)
    told = f"unadjudicated: the judge gave no verdict on {len(withheld)} pairs, and nothing followed from them"
    return (f"{told} ({reasons}); a person has it asked again with {again}",)


# --- retracting -----------------------------------------------------------------------------------------------


def retract(given: Retract) -> Work:
    """Withdraw a claim, or stand by it again."""
    arguments = _checked(given)
    source_id = sent(given.source_id, "")
    decision = revision.restore if sent(given.restore, False) else revision.retract

    def decide(sight: Sight) -> list[Event]:
        claim = find(sight.graph, given.evidence_id, Evidence)
        withdrawal = partial(decision, sight.graph, claim.id, source_id=source_id, reason=given.reason)
        return [*second_look(sight.graph, withdrawal, sight.examine)]

    return Work(
        tool=RETRACT,
        arguments=arguments,
        decide=decide,
        result=_retracted,
        suggest=_ask_why,
        warn=_unadjudicated,
        foresee=_foreseen,
        reason=given.reason,
    )


def _retracted(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
    fence = Fence()
    claims = [event for event in events if isinstance(event, AssertionRetracted | AssertionRestored)]
    return {
        "evidence": _standing(after.graph, claims[0].evidence_id, fence),
        "sources": [fence.inline(event.source_id, limit=NAME) for event in claims],
        **_followed(after, events, fence),
    }


# --- what is told ---------------------------------------------------------------------------------------------


def _followed(after: Sight, events: Sequence[Event], fence: Fence) -> dict[str, Any]:
    """Return the verdicts, and what changed in cascade order, each change with its cause."""
    told = answers.answer("", after.graph, _believed(events), "", revision=0, epoch=after.graph.epoch)
    return {
        "epoch": told["epoch"],
        "revised": told["revised"],
        "verdicts": [_verdict(each, fence) for each in told["verdicts"]],
        "changes": [
            {**each, **(name_row(each, fence) or {}), "because": name_row(each["because"], fence)}
            for each in told["changes"]
        ],
        "frontier": [
            {**each, **{side: name_row(each[side], fence) for side in ("question", "hypothesis", "previous")}}
            for each in told["frontier"]
        ],
    }


def _verdict(told: Mapping[str, Any], fence: Fence) -> dict[str, Any]:
    """Return a verdict; its rationale is a judge's, who has read what strangers wrote."""
    words = {name: fence.inline(told[name], limit=CLAIM) for name in ("rationale", "reason") if name in told}
    return {**told, "fact": name_row(told["fact"], fence), "claim": name_row(told["claim"], fence), **words}


def _standing(graph: BeliefGraph, node_id: NodeId, fence: Fence) -> dict[str, Any]:
    return {**(name_row(answers.name(graph, node_id), fence) or {}), "state": graph.nodes[node_id].state}


def _ask_why(after: Sight, events: Sequence[Event]) -> tuple[NextAction, ...]:
    """Return the questions why the first of the fallen fell."""
    fallen = {
        _subject(event): CHANGES[change]
        for event in _believed(events)
        if (change := event.kind.removeprefix("belief.")) in CHANGES and CHANGES[change] != "alive"
    }
    return tuple(
        suggestions.read(after.project, "falsify.belief.why", f"{node_id} is {state} now: see the chain", node=node_id)
        for node_id, state in islice(fallen.items(), AT_ONCE)
    )


def _foreseen(after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    """Return what a command does, a sentence each."""
    told = [sentence for event in _believed(events) if (sentence := _sentence(after.graph, event))]
    if not any(type(event) in CONSEQUENCES for event in events):
        told.append("nothing that is believed already changes")
    more = len(told) - MOST_EFFECTS
    return (*told[:MOST_EFFECTS], f"and {more} more of that kind") if more > 0 else tuple(told)


def _sentence(graph: BeliefGraph, event: BeliefEvent) -> str:
    """Return an event as a person reads it before it is approved, or "" for what says nothing by itself."""
    if type(event) in CONSEQUENCES and not isinstance(event, FrontierMoved):
        (change,) = answers.answer("", graph, [event], "", revision=0, epoch=0)["changes"]
        because = f", because of {_called(graph, change['because']['id'])}" if change["because"] else ""
        return f"{_called(graph, change['id'])} is {CHANGES[change['change']]}{because}: {_inline(change['text'])}"
    match event:
        case QuestionAsked() | HypothesisProposed() | EvidenceRecorded() | ConclusionDrawn():
            node = graph.nodes[_born(event)]
            return f"the {node.kind} {_called(graph, node.id)} is recorded: {_inline(node.text)}"
        case EvidenceAsserted():
            return f"{_inline(event.source_id)} asserts {_called(graph, event.evidence_id)}"
        case AssertionRetracted():
            return f"{_inline(event.source_id)} withdraws {_called(graph, event.evidence_id)}"
        case AssertionRestored():
            return f"{_inline(event.source_id)} stands by {_called(graph, event.evidence_id)} again"
        case VerdictGiven() if acts(event):
            fact, claim = _called(graph, event.fact_id), _called(graph, event.claim_id)
            return f"{_inline(event.judge)} finds that {fact} {event.relation} {claim} ({event.confidence:g})"
        case VerdictWithheld():
            fact, claim = _called(graph, event.fact_id), _called(graph, event.claim_id)
            return f"there is no verdict on {fact} and {claim}: {_inline(event.reason)}"
        case FrontierMoved():
            best = _called(graph, event.hypothesis_id) if event.hypothesis_id else "none"
            return f"the best answer to {_called(graph, event.question_id)} is {best}"
    return ""


def _called(graph: BeliefGraph, node_id: NodeId) -> str:
    return _inline(graph.nodes[node_id].handle) or node_id


def _inline(text: str) -> str:
    return Fence().inline(text, limit=HEAD)


def _believed(events: Sequence[Event]) -> list[BeliefEvent]:
    return [cast("BeliefEvent", event) for event in events if type(event) in BELIEF_EVENTS]


# --- what is taken --------------------------------------------------------------------------------------------

_NAMES: Final = frozenset({"id", "question_id", "evidence_id", "source_id", "hypothesis", "on", "group"})
"""The fields that name something."""


def _checked(given: Record | Revise | Retract) -> dict[str, Any]:
    """Return what is asked for, JSON-ready; raises InvalidInputError for words that nobody could read or refer to."""
    arguments = arguments_of(given)
    for path, field, text in _words("", "", arguments):
        if field == "asserted_at":
            moment(text, what=path)
        elif field in _NAMES:
            _check_name(text, path)
        elif text:
            clean(text, what=path)
    return arguments


def _words(path: str, field: str, value: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the texts of a JSON value, each with where it is and the field that it belongs to."""
    if isinstance(value, str):
        yield path, field, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _words(f"{path}.{name}".removeprefix("."), name, inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _words(f"{path}[{index}]", field, inner)


def _check_name(text: str, what: str) -> None:
    if text.isprintable() and " " not in text:
        return
    raise InvalidInputError(
        f"{what} must be printable characters without white space, not {text[:64]!a}",
        hint="correct the arguments and call again; nothing was done",
        reason="invalid_arguments",
    )
