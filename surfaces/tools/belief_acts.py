"""The three tools that change beliefs: each turns its input into a command, and tells what came of it.

An agent's word counts as anybody's: no input says how far a source is trusted, and a source that is known keeps its
title, so that nobody is made to look like somebody else.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
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
from falsify.belief.graph import UNATTRIBUTED, BeliefGraph, Evidence, Hypothesis, acts
from falsify.belief.ingest import BadReferenceError, ingest
from falsify.belief.revision import AssertFact, Weighing, assert_fact, standing_word
from falsify.belief.text import clean, moment, node_id, written
from falsify.errors import InvalidInputError, RefusedError
from falsify.events import Event, NodeId
from falsify.ports import Statement
from projections.beliefs import BELIEF_EVENTS, CONSEQUENCES, born, subject
from surfaces import answers
from surfaces.envelope import NextAction
from surfaces.text import CHANGES
from surfaces.tools import suggestions
from surfaces.tools.belief_binding import bound
from surfaces.tools.belief_entries import Entries, belief_file, source_of, sources, weight_of
from surfaces.tools.belief_inputs import NewEvidence, Record, Retract, Revise, Weight
from surfaces.tools.belief_rows import CLAIM, NAME, called, check_free, find, inline, name_row, question
from surfaces.tools.belief_warnings import kept_titles, lifeless
from surfaces.tools.fence import Fence
from surfaces.tools.reading import sent
from surfaces.tools.workbench_acts import arguments_of
from surfaces.workbench import Sight, Work
from surfaces.workspace import second_look

WHY: Final = "falsify.belief.why"
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
        file = belief_file(sight.graph, Entries.of(given, sight.graph))
        try:
            events = ingest(sight.graph, file, person=sight.caller)
        except BadReferenceError as error:
            told = error.message.replace("this file", "this call")
            raise InvalidInputError(told, hint=error.hint or "choose another id", reason=error.reason) from error
        for event in events:
            _check_that_it_adds(sight.graph, event)
        return [*events]

    return Work(
        tool=RECORD,
        arguments=arguments,
        bind=bound,
        decide=decide,
        result=_recorded,
        suggest=partial(_judge_it, given),
        warn=partial(_warned_of_records, given),
        foresee=_foreseen,
        reason=sent(given.reason, ""),
    )


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
            overwrites = type(event) in CONSEQUENCES and subject(event) in graph.nodes
    if overwrites:
        about = subject(event)
        raise RefusedError(
            f"recording adds, and this would change what is recorded or believed of {about}",
            hint=f"leave it out, or hold it against what is believed with {REVISE}",
            reason="not_new",
            details={"node": about},
        )


def _recorded(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
    graph, fence = after.graph, Fence()
    new = [i for event in events if (i := born(event))]
    asserted = [e.evidence_id for e in events if isinstance(e, EvidenceAsserted) and e.evidence_id not in new]
    return {
        "recorded": [_standing(graph, i, fence) for i in new],
        "asserted": [_standing(graph, i, fence) for i in dict.fromkeys(asserted)],
        **_followed(after, events, fence),
    }


def _judge_it(given: Record, after: Sight, events: Sequence[Event]) -> tuple[NextAction, ...]:
    """Return the judging of the first claim that is new, which was held against nothing; and why others are dead.

    Only of the first: each revision needs the revision of the project after the one before it.
    """
    dead = [i for event in events if (i := born(event)) and not after.graph.nodes[i].alive]
    asked = _why_dead(after, dead)
    new = {event.handle: event for event in events if isinstance(event, EvidenceRecorded)}
    evidence: tuple[NewEvidence, ...] = sent(given.evidence, ())
    held_against_nothing = [entry for entry in evidence if entry.id in new]
    if not held_against_nothing:
        return asked
    entry, *others = held_against_nothing
    said = entry.model_dump(mode="json", include={"id", "claim", "source", "quote", "asserted_at"})
    why = f"{entry.id} was held against nothing that is believed"
    if others:
        why += (
            f"; it is the first of {1 + len(others)}: hold {', '.join(inline(other.id) for other in others)} in the "
            "same way, each with the projectRevision of the answer before it"
        )
    told = {"question_id": new[entry.id].question_id, **said, "reason": f"Hold {entry.id} against what is believed."}
    return (suggestions.act(after.project, REVISE, why, **told), *asked)


def _warned_of_records(given: Record, after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    entries = Entries.of(given, after.graph)
    asked = [node for node, _ in entries.nodes.values()]
    return (*_not_judged(events), *lifeless(after.graph, asked), *kept_titles(after.graph, sources(entries)))


def _not_judged(events: Sequence[Event]) -> Iterator[str]:
    if not events:
        yield "all of it was recorded before; nothing was done"
    claims = [event.evidence_id for event in events if isinstance(event, EvidenceRecorded)]
    if claims:
        yield f"unadjudicated: no judge was asked about {', '.join(claims)}; nothing is refuted by what was recorded"


# --- revising -------------------------------------------------------------------------------------------------


def revise(given: Revise) -> Work:
    """Hold a fact against what is believed; a judge is asked each time that it is decided.

    What its source stands by already is held as it is recorded: only another date or other words are asserted anew.
    """
    arguments = _checked(given)

    def decide(sight: Sight) -> list[Event]:
        graph = sight.graph
        fact, again = _fact(graph, given, now=sight.now)
        if fact.handle:  # before a judge is asked
            check_free(graph, fact.question_id, fact.handle, fact.fact_id)
        known = graph.sources.get(fact.source_id)
        title = known.title if known else fact.source_title or fact.source_id
        said = sight.examine(graph, fact.fact_id, Statement(fact.text, title, fact.quote, fact.asserted_at))
        return [
            *second_look(graph, lambda found: assert_fact(graph, fact, [*said, *found], again=again), sight.examine)
        ]

    return Work(
        tool=REVISE,
        arguments=arguments,
        bind=bound,
        decide=decide,
        result=partial(_revised, given),
        suggest=_ask_why,
        warn=partial(_warned_of_a_fact, given),
        foresee=_foreseen,
        reason=given.reason,
    )


def _fact(graph: BeliefGraph, given: Revise, *, now: int) -> tuple[AssertFact, bool]:
    """Return the fact, and whether it is asserted whatever is recorded: its source does not stand by it.

    What is left out of what it stands by is as it is recorded; else the date is now.
    """
    question_id, text = question(graph, sent(given.question_id, "")).id, clean(given.claim, what="claim")
    fact_id = node_id("evidence", text, question_id=question_id)
    source = source_of(given.source)
    source_id = source.id if source else UNATTRIBUTED
    word = standing_word(graph, fact_id, source_id)
    fact = AssertFact(
        question_id=question_id,
        text=text,
        source_id=source_id,
        source_title=sent(source.title, "") if source and source_id not in graph.sources else "",
        quote=sent(given.quote, word.quote if word else ""),
        asserted_at=sent(given.asserted_at, "") or (word.asserted_at if word else written(now)),
        handle=sent(given.id, ""),
        weighs=tuple(_weighings(graph, given, fact_id, question_id)),
    )
    return fact, word is None


def _weighings(graph: BeliefGraph, given: Revise, fact_id: NodeId, question_id: NodeId) -> Iterator[Weighing]:
    told: dict[Stance, tuple[Weight, ...]] = {"supports": sent(given.supports, ()), "refutes": sent(given.refutes, ())}
    for stance, weights in told.items():
        for each in weights:
            hypothesis_id = find(graph, each.hypothesis, Hypothesis, under=question_id).id
            yield Weighing(hypothesis_id, stance, weight_of(graph, fact_id, hypothesis_id, stance, each))


def _revised(given: Revise, after: Sight, events: Sequence[Event]) -> dict[str, Any]:
    fence = Fence()
    return {"fact": _standing(after.graph, _fact_id(given, after), fence), **_followed(after, events, fence)}


def _fact_id(given: Revise, after: Sight) -> NodeId:
    question_id = question(after.graph, sent(given.question_id, "")).id
    return node_id("evidence", given.claim, question_id=question_id)


def _warned_of_a_fact(given: Revise, after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    source = source_of(given.source)
    return (
        *_only_held(given, after, events),
        *_unadjudicated(after, events),
        *lifeless(after.graph, [_fact_id(given, after)]),
        *kept_titles(after.graph, [source] if source else []),
    )


def _only_held(given: Revise, after: Sight, events: Sequence[Event]) -> Iterator[str]:
    """Yield that nothing was asserted, where a date might have been expected or nothing was done."""
    if not events:
        yield "all of it was recorded before, and nothing was found that it might bear on; nothing was done"
    if sent(given.asserted_at, "") or any(isinstance(event, EvidenceAsserted) for event in events):
        return
    source, fact_id = source_of(given.source), _fact_id(given, after)
    said = after.graph.evidence(fact_id).assertions[source.id if source else UNATTRIBUTED]
    stays = f"its date stays {said.asserted_at}" if said.asserted_at else "it stays undated"
    before = f"{inline(said.source_id)} has asserted {called(after.graph, fact_id)} before"
    yield f"{before}, and {stays}; send asserted_at to have it asserted anew"


def _unadjudicated(_after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    withheld = [event for event in events if isinstance(event, VerdictWithheld)]
    if not withheld:
        return ()
    reasons = "; ".join(dict.fromkeys(inline(event.reason) for event in withheld))
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
        bind=bound,
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
    changed = [subject(e) for e in _believed(events) if e.kind.removeprefix("belief.") in CHANGES]
    return _why_dead(after, [i for i in dict.fromkeys(changed) if not after.graph.nodes[i].alive])


def _why_dead(after: Sight, node_ids: Sequence[NodeId]) -> tuple[NextAction, ...]:
    return tuple(
        suggestions.read(after.project, WHY, f"{i} is {after.graph.nodes[i].state} now: see the chain", node=i)
        for i in node_ids[:AT_ONCE]
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
        because = f", because of {called(graph, change['because']['id'])}" if change["because"] else ""
        return f"{called(graph, change['id'])} is {CHANGES[change['change']]}{because}: {inline(change['text'])}"
    match event:
        case QuestionAsked() | HypothesisProposed() | EvidenceRecorded() | ConclusionDrawn():
            node = graph.nodes[born(event)]
            return f"the {node.kind} {called(graph, node.id)} is recorded: {inline(node.text)}"
        case EvidenceAsserted():
            return f"{inline(event.source_id)} asserts {called(graph, event.evidence_id)}"
        case AssertionRetracted():
            return f"{inline(event.source_id)} withdraws {called(graph, event.evidence_id)}"
        case AssertionRestored():
            return f"{inline(event.source_id)} stands by {called(graph, event.evidence_id)} again"
        case VerdictGiven() if acts(event):
            fact, claim = called(graph, event.fact_id), called(graph, event.claim_id)
            return f"{inline(event.judge)} finds that {fact} {event.relation} {claim} ({event.confidence:g})"
        case VerdictWithheld():
            fact, claim = called(graph, event.fact_id), called(graph, event.claim_id)
            return f"there is no verdict on {fact} and {claim}: {inline(event.reason)}"
        case FrontierMoved():
            best = called(graph, event.hypothesis_id) if event.hypothesis_id else "none"
            return f"the best answer to {called(graph, event.question_id)} is {best}"
    return ""


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
