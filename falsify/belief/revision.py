"""The decisions: a state and a command in, events out, nothing touched.

Each function returns the whole revision in recording order: premises, flips with their causes, promotions and
forgettings. They are appended together or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from falsify.belief.cascade import Draft
from falsify.belief.contradiction import Finding
from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    BeliefEvent,
    EvidenceAsserted,
    EvidenceRecorded,
    EvidenceWeighed,
    HandleGiven,
    NodeReinstated,
    QuestionAsked,
    RevisionOpened,
    SourceRecorded,
    Stance,
    Trigger,
    VerdictGiven,
    VerdictWithheld,
)
from falsify.belief.graph import UNATTRIBUTED, Assertion, BeliefGraph, Evidence, Hypothesis, Question, Source
from falsify.belief.text import clean, moment, node_id
from falsify.errors import InvalidInputError, NotFoundError, RefusedError
from falsify.events import NodeId
from falsify.ports import Relation


@dataclass(frozen=True, slots=True)
class Weighing:
    """For or against which hypothesis a fact speaks, and how much (0..1)."""

    hypothesis_id: NodeId
    stance: Stance
    weight: float


@dataclass(frozen=True, slots=True)
class AssertFact:
    """Command: a new fact, to be held against what is believed."""

    question_id: NodeId
    text: str
    source_id: str = UNATTRIBUTED
    source_title: str = ""
    trust: float | None = None
    quote: str = ""
    asserted_at: str = ""
    handle: str = ""
    weighs: tuple[Weighing, ...] = ()

    def __post_init__(self) -> None:
        """Refuse numbers that no rule could compare."""
        if self.trust is not None:
            trusted(self.trust)
        for weighing in self.weighs:
            share(weighing.weight, what="weight")

    @property
    def fact_id(self) -> NodeId:
        """The id of the evidence that the fact is, or becomes."""
        return node_id("evidence", self.text, question_id=self.question_id)


def ask(graph: BeliefGraph, text: str, *, handle: str = "") -> list[BeliefEvent]:
    """Return the start of an investigation; nothing if the question was asked before."""
    question = clean(text, what="the question")
    question_id = node_id("question", question)
    if question_id in graph.nodes:
        return []
    draft = Draft(graph)
    draft.record(QuestionAsked(question_id=question_id, text=question, handle=handle))
    return draft.events


def assert_fact(
    graph: BeliefGraph, fact: AssertFact, findings: Sequence[Finding], *, again: bool = True
) -> list[BeliefEvent]:
    """Return the revision that follows when a fact arrives and a judge has said these things of it.

    Said `again`, the same words count as said later. Else what is recorded with these words and this date is only held
    against what is believed: nothing follows where nobody has anything to say of it.
    """
    _check(graph, fact)
    draft = Draft(graph)
    open_revision(draft, "fact", fact.fact_id)
    record_source(draft, fact.source_id, title=fact.source_title, trust=fact.trust)
    record_evidence(draft, fact, again=again)
    draft.record(*(finding.event for finding in findings))
    if not again and len(draft.events) == 1:
        return []
    draft.settle()
    return draft.events


def retract(
    graph: BeliefGraph, evidence_id: NodeId, findings: Sequence[Finding] = (), *, source_id: str = "", reason: str = ""
) -> list[BeliefEvent]:
    """Return the revision that follows when a source (by default every source) withdraws a claim.

    `findings` are what was found of claims that come back because of it (`returned`).
    """
    return _withdraw(graph, evidence_id, findings, source_id=source_id, reason=reason, retracted=True)


def restore(
    graph: BeliefGraph, evidence_id: NodeId, findings: Sequence[Finding] = (), *, source_id: str = "", reason: str = ""
) -> list[BeliefEvent]:
    """Return the revision that follows when a source stands by a claim that it had withdrawn."""
    return _withdraw(graph, evidence_id, findings, source_id=source_id, reason=reason, retracted=False)


def returned(events: Sequence[BeliefEvent]) -> list[NodeId]:
    """Return the evidence that comes back from being forgotten.

    It had left the index, so no fact that came meanwhile was held against it: that is to be done before it lives.
    """
    return [
        event.node_id
        for event in events
        if isinstance(event, NodeReinstated) and event.was == "forgotten" and event.node_kind == "evidence"
    ]


def record_verdicts(graph: BeliefGraph, fact_id: NodeId, findings: Sequence[Finding]) -> list[BeliefEvent]:
    """Return the revision that follows when a recorded fact is adjudicated, for the first time or anew."""
    return _adjudicate(graph, fact_id, [finding.event for finding in findings])


def rule(
    graph: BeliefGraph,
    fact_id: NodeId,
    claim_id: NodeId,
    findings: Sequence[Finding] = (),
    *,
    relation: Relation,
    confidence: float,
    rationale: str,
    person: str,
) -> list[BeliefEvent]:
    """Return the revision that follows when a person rules on a fact and a claim: an attack in that direction."""
    verdict = given(fact_id, claim_id, relation=relation, confidence=confidence, rationale=rationale, person=person)
    return _adjudicate(graph, fact_id, [verdict, *(finding.event for finding in findings)])


def given(
    fact_id: NodeId, claim_id: NodeId, *, relation: Relation, confidence: float, rationale: str, person: str
) -> VerdictGiven:
    """Return a person's verdict."""
    return VerdictGiven(
        fact_id=fact_id,
        claim_id=claim_id,
        relation=relation,
        confidence=share(confidence, what="confidence"),
        rationale=remark(rationale, what="the rationale"),
        judge=person,
        judge_version="",
        gate="given",
        distance=-1.0,
        shown="",
        directed=True,
    )


def open_revision(draft: Draft, trigger: Trigger, subject_id: NodeId) -> None:
    """Begin the next epoch."""
    draft.record(RevisionOpened(epoch=draft.graph.epoch + 1, trigger=trigger, subject_id=subject_id))


def record_source(draft: Draft, source_id: str, *, title: str = "", trust: float | None = None) -> None:
    """Record a source that is new or described otherwise than before; a bare mention changes nothing."""
    clean(source_id, what="the id of the source")
    title = remark(title, what="the title of the source")
    known = draft.graph.sources.get(source_id)
    if trust is None:
        trust = known.trust if known else 1.0
    described = Source(source_id, title or (known.title if known else source_id), trusted(trust))
    if described != known:
        draft.record(SourceRecorded(source_id=source_id, title=described.title, trust=described.trust))


def record_evidence(draft: Draft, fact: AssertFact, *, again: bool) -> None:
    """Record a claim, who asserts it and what it speaks for. Said `again`, the same words count as said later."""
    graph = draft.graph
    asserted_at = moment(fact.asserted_at, what="asserted_at") if fact.asserted_at else ""
    quote = remark(fact.quote, what="the quote")
    known = graph.nodes.get(fact.fact_id)
    if known is None:
        draft.record(
            EvidenceRecorded(
                evidence_id=fact.fact_id,
                question_id=fact.question_id,
                claim=clean(fact.text, what="the claim"),
                handle=fact.handle,
            )
        )
    elif fact.handle and (fact.question_id, fact.handle) not in graph.handles:
        draft.record(HandleGiven(node_id=fact.fact_id, question_id=fact.question_id, handle=fact.handle))
    said = known.assertions.get(fact.source_id) if isinstance(known, Evidence) else None
    if again or said is None or (said.quote, said.asserted_at) != (quote, asserted_at):
        draft.record(
            EvidenceAsserted(evidence_id=fact.fact_id, source_id=fact.source_id, quote=quote, asserted_at=asserted_at)
        )
    for weighing in fact.weighs:
        record_weighing(draft, fact.fact_id, weighing)


def record_weighing(draft: Draft, evidence_id: NodeId, weighing: Weighing) -> None:
    """Record what evidence speaks for, unless it is known already."""
    event = EvidenceWeighed(
        evidence_id=evidence_id,
        hypothesis_id=weighing.hypothesis_id,
        stance=weighing.stance,
        weight=share(weighing.weight, what="weight"),
    )
    if draft.graph.weighs.get(evidence_id, (weighing.hypothesis_id, weighing.stance)) != event:
        draft.record(event)


def standing_word(graph: BeliefGraph, evidence_id: NodeId, source_id: str) -> Assertion | None:
    """Return what a source said to make a claim, if it made it and did not withdraw it."""
    claim = graph.nodes.get(evidence_id)
    said = claim.assertions.get(source_id) if isinstance(claim, Evidence) else None
    return said if said is not None and not said.retracted else None


def share(value: float, *, what: str) -> float:
    """Return a number of 0..1, or raise InvalidInputError."""
    if not 0.0 <= value <= 1.0:
        raise InvalidInputError(f"{what} is {value}; it must be between 0 and 1")
    return float(value)


def trusted(value: float) -> float:
    """Return a finite number of at least 0, or raise InvalidInputError."""
    if not 0.0 <= value < float("inf"):
        raise InvalidInputError(f"trust is {value}; it must be a number of at least 0")
    return float(value)


def remark(text: str, *, what: str) -> str:
    """Return a text that may be empty, or raise InvalidInputError that says what is wrong with it."""
    return clean(text, what=what) if text.strip() else ""


def question(graph: BeliefGraph, question_id: NodeId) -> Question:
    """Return a question, or raise NotFoundError."""
    node = graph.nodes.get(question_id)
    if not isinstance(node, Question):
        raise NotFoundError(f"there is no question {question_id!r}")
    return node


def evidence(graph: BeliefGraph, evidence_id: NodeId) -> Evidence:
    """Return a piece of evidence, or raise NotFoundError."""
    node = graph.nodes.get(evidence_id)
    if not isinstance(node, Evidence):
        raise NotFoundError(f"there is no evidence {evidence_id!r}")
    return node


def _check(graph: BeliefGraph, fact: AssertFact) -> None:
    """Raise for a fact that is no sentence, or that names what is not there or stands for something else."""
    question(graph, fact.question_id)
    clean(fact.text, what="the claim")
    for weighing in fact.weighs:
        hypothesis = graph.nodes.get(weighing.hypothesis_id)
        if not isinstance(hypothesis, Hypothesis) or hypothesis.question_id != fact.question_id:
            raise NotFoundError(f"the question has no hypothesis {weighing.hypothesis_id!r}")
    holder = graph.handles.get((fact.question_id, fact.handle), fact.fact_id)
    if holder != fact.fact_id:
        raise InvalidInputError(
            f"the id {fact.handle!r} already stands for {graph.nodes[holder].text!r}", hint="choose another id"
        )


def _adjudicate(
    graph: BeliefGraph, fact_id: NodeId, verdicts: Sequence[VerdictGiven | VerdictWithheld]
) -> list[BeliefEvent]:
    if not verdicts:
        return []
    for verdict in verdicts:
        evidence(graph, verdict.fact_id)
        evidence(graph, verdict.claim_id)
    draft = Draft(graph)
    open_revision(draft, "adjudication", fact_id)
    draft.record(*verdicts)
    draft.settle()
    return draft.events


def _withdraw(
    graph: BeliefGraph,
    evidence_id: NodeId,
    findings: Sequence[Finding],
    *,
    source_id: str,
    reason: str,
    retracted: bool,
) -> list[BeliefEvent]:
    claim = evidence(graph, evidence_id)
    reason = remark(reason, what="the reason")
    if source_id and source_id not in claim.assertions:
        raise NotFoundError(
            f"{evidence_id} is not asserted by the source {source_id!r}",
            hint=f"its sources are {', '.join(sorted(claim.assertions))}",
        )
    chosen = [
        a.source_id for a in claim.assertions.values() if a.retracted != retracted and source_id in {"", a.source_id}
    ]
    if not chosen:
        done = "withdrawn" if retracted else "standing"
        raise RefusedError(f"that claim is {done} already", hint=f"see `falsify why {evidence_id}`")
    event = AssertionRetracted if retracted else AssertionRestored
    draft = Draft(graph)
    open_revision(draft, "retraction" if retracted else "restoration", evidence_id)
    draft.record(*(event(evidence_id=evidence_id, source_id=s, reason=reason) for s in chosen))
    draft.record(*(finding.event for finding in findings))
    draft.settle()
    return draft.events
