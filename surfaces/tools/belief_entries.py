"""What is sent to be recorded, as a belief file: its names looked up, and what it leaves out filled in.

An entry may be of something that is recorded. What it leaves out of that stays; what it says otherwise is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from falsify.belief.events import Stance
from falsify.belief.graph import UNATTRIBUTED, Assertion, BeliefGraph, Conclusion, Evidence, Hypothesis, Node
from falsify.belief.ingest import (
    BeliefFile,
    ConclusionEntry,
    DependencyEntry,
    EvidenceEntry,
    HypothesisEntry,
    SourceEntry,
    WeightEntry,
)
from falsify.belief.text import clean, moment, node_id
from falsify.errors import InvalidInputError, RefusedError
from falsify.events import NodeId
from surfaces.tools.belief_inputs import (
    Dependency,
    NewConclusion,
    NewEvidence,
    NewHypothesis,
    Record,
    SourceNamed,
    Weight,
)
from surfaces.tools.belief_rows import check_free, find, other_kind, question
from surfaces.tools.reading import sent


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one call, and by its id in the call which node each is of."""

    question: str
    hypotheses: tuple[NewHypothesis, ...]
    evidence: tuple[NewEvidence, ...]
    conclusions: tuple[NewConclusion, ...]
    nodes: dict[str, tuple[NodeId, type[Node]]]

    @classmethod
    def of(cls, given: Record, graph: BeliefGraph) -> Self:
        """Return the entries of a call. Raises InvalidInputError where two of them have the same id."""
        asked = sent(given.question, "") or question(graph, sent(given.question_id, "")).text
        asked = clean(asked, what="question")
        hypotheses: tuple[NewHypothesis, ...] = sent(given.hypotheses, ())
        evidence: tuple[NewEvidence, ...] = sent(given.evidence, ())
        conclusions: tuple[NewConclusion, ...] = sent(given.conclusions, ())
        under = node_id("question", asked)
        named: list[tuple[str, NodeId, type[Node]]] = [
            *((h.id, node_id("hypothesis", h.statement, question_id=under), Hypothesis) for h in hypotheses),
            *((e.id, node_id("evidence", e.claim, question_id=under), Evidence) for e in evidence),
            *((c.id, node_id("conclusion", c.statement, question_id=under), Conclusion) for c in conclusions),
        ]
        nodes: dict[str, tuple[NodeId, type[Node]]] = {}
        for name, node, kind in named:
            if name in nodes:
                raise InvalidInputError(
                    f"the id {name!r} is used twice in this call",
                    hint="give each entry its own id",
                    reason="name_taken",
                )
            nodes[name] = node, kind
        return cls(asked, hypotheses, evidence, conclusions, nodes)

    @property
    def question_id(self) -> NodeId:
        """The question that they are about."""
        return node_id("question", self.question)

    def id(self, name: str) -> NodeId:
        """Return the node that the entry with this id is of."""
        return self.nodes[name][0]


def belief_file(graph: BeliefGraph, entries: Entries) -> BeliefFile:
    """Return the entries as a belief file.

    Raises InvalidInputError or NotFoundError for a name that is taken or leads nowhere and for what is said in two
    ways, RefusedError for another number than the one that is recorded.
    """
    for name, (node, _) in entries.nodes.items():
        check_free(graph, entries.question_id, name, node)
    _check_said_once(graph, entries)
    titles: dict[str, str] = {}
    for source in sources(entries):
        titles[source.id] = titles.get(source.id) or sent(source.title, "")
    return BeliefFile(
        question=entries.question,
        sources=tuple(SourceEntry(id=i, title=title) for i, title in titles.items() if i not in graph.sources),
        hypotheses=tuple(_hypothesis(graph, entries, h) for h in entries.hypotheses),
        evidence=tuple(_evidence(graph, entries, e) for e in entries.evidence),
        conclusions=tuple(_conclusion(graph, entries, c) for c in entries.conclusions),
    )


def source_of(given: Any) -> SourceNamed | None:
    """Return who says so, None where nobody is named."""
    return sent(given, None)


def sources(entries: Entries) -> Iterator[SourceNamed]:
    """Yield the sources that the entries name."""
    for entry in entries.evidence:
        source = source_of(entry.source)
        if source is not None:
            yield source


def weight_of(graph: BeliefGraph, evidence_id: NodeId, hypothesis_id: NodeId, stance: Stance, given: Weight) -> float:
    """Return how much evidence speaks for or against a hypothesis: as it is said, or recorded, or else wholly."""
    known = graph.weighs.get(evidence_id, (hypothesis_id, stance))
    return float(sent(given.weight, known.weight if known else 1.0))


# --- filling in -----------------------------------------------------------------------------------------------


def _hypothesis(graph: BeliefGraph, entries: Entries, entry: NewHypothesis) -> HypothesisEntry:
    known = graph.nodes.get(entries.id(entry.id))
    prior = known.prior if isinstance(known, Hypothesis) else 0.5
    return HypothesisEntry(id=entry.id, statement=entry.statement, prior=sent(entry.prior, prior))


def _evidence(graph: BeliefGraph, entries: Entries, entry: NewEvidence) -> EvidenceEntry:
    evidence_id, source_id = entries.id(entry.id), _source_id(entry)
    known = graph.nodes.get(evidence_id)
    said = known.assertions.get(source_id) if isinstance(known, Evidence) else None
    said = said or Assertion(source_id, "", "", 0)
    return EvidenceEntry(
        id=entry.id,
        claim=entry.claim,
        source_id=source_id,
        quote=sent(entry.quote, said.quote),
        asserted_at=sent(entry.asserted_at, said.asserted_at),
        supports=_weights(graph, entries, evidence_id, "supports", sent(entry.supports, ())),
        refutes=_weights(graph, entries, evidence_id, "refutes", sent(entry.refutes, ())),
        depends_on=_grounds(graph, entries, evidence_id, sent(entry.depends_on, ())),
    )


def _source_id(entry: NewEvidence) -> str:
    source = source_of(entry.source)
    return source.id if source else UNATTRIBUTED


def _conclusion(graph: BeliefGraph, entries: Entries, entry: NewConclusion) -> ConclusionEntry:
    conclusion_id = entries.id(entry.id)
    known = graph.nodes.get(conclusion_id)
    confidence = known.confidence if isinstance(known, Conclusion) else 1.0
    return ConclusionEntry(
        id=entry.id,
        statement=entry.statement,
        confidence=sent(entry.confidence, confidence),
        depends_on=_grounds(graph, entries, conclusion_id, entry.depends_on),
    )


def _weights(
    graph: BeliefGraph, entries: Entries, evidence_id: NodeId, stance: Stance, given: tuple[Weight, ...]
) -> tuple[WeightEntry, ...]:
    named = [(_refer(graph, entries, each.hypothesis, Hypothesis)[0], each) for each in given]
    return tuple(WeightEntry(hypothesis=i, weight=weight_of(graph, evidence_id, i, stance, each)) for i, each in named)


def _grounds(
    graph: BeliefGraph, entries: Entries, consumer: NodeId, given: tuple[Dependency, ...]
) -> tuple[DependencyEntry, ...]:
    return tuple(_ground(graph, entries, consumer, each) for each in given)


def _ground(graph: BeliefGraph, entries: Entries, consumer: NodeId, given: Dependency) -> DependencyEntry:
    on_id, kind = _refer(graph, entries, given.on, Evidence, Conclusion)
    on = {"conclusion": on_id} if kind is Conclusion else {"evidence": on_id}
    group = sent(given.group, "")
    known = graph.depends.get(consumer, (on_id, group))
    return DependencyEntry(**on, critical=sent(given.critical, known.critical if known else True), group=group)


def _refer(graph: BeliefGraph, entries: Entries, name: str, *kinds: type[Node]) -> tuple[NodeId, type[Node]]:
    """Return what a name stands for, with its kind: an entry of the call, or what stands under its question."""
    if name not in entries.nodes:
        node = find(graph, name, *kinds, under=entries.question_id)
        return node.id, type(node)
    node_id_, kind = entries.nodes[name]
    if kind not in kinds:
        raise other_kind(name, kind.__name__.lower(), kinds)
    return node_id_, kind


# --- what is said in two ways ---------------------------------------------------------------------------------


def _check_said_once(graph: BeliefGraph, entries: Entries) -> None:
    """Refuse what the call says in two ways, and numbers that are recorded as others: nothing is dropped in silence."""
    seen: dict[tuple[str, ...], Any] = {}
    for what, about, value in _said(graph, entries):
        if seen.setdefault((what, *about), value) != value:
            raise InvalidInputError(
                f"this call gives {what} of {about[0]} in two ways", hint="say it once", reason="said_twice"
            )
        node = graph.nodes.get(about[0])
        known = {"the prior": "prior", "the confidence": "confidence"}.get(what)
        if node is not None and known is not None and value not in {None, getattr(node, known)}:
            raise RefusedError(
                f"{what} of {node.id} is recorded as {getattr(node, known):g}, and recording overwrites nothing",
                hint="leave it out: what is recorded stays",
                reason="not_new",
                details={"node": node.id},
            )


def _said(graph: BeliefGraph, entries: Entries) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Yield what the entries say of what, None where they leave it open; what has no place for two words only."""
    for h in entries.hypotheses:
        yield "the prior", (entries.id(h.id),), sent(h.prior, None)
    for source in sources(entries):
        if sent(source.title, ""):
            yield "the title", (source.id,), source.title
    for e in entries.evidence:
        evidence_id, source_id = entries.id(e.id), _source_id(e)
        yield "the quote", (evidence_id, source_id), sent(e.quote, None)
        yield "the date", (evidence_id, source_id), moment(sent(e.asserted_at, "")) if sent(e.asserted_at, "") else None
        weights: dict[Stance, tuple[Weight, ...]] = {"supports": sent(e.supports, ()), "refutes": sent(e.refutes, ())}
        for stance, each in ((stance, each) for stance, listed in weights.items() for each in listed):
            hypothesis_id, _ = _refer(graph, entries, each.hypothesis, Hypothesis)
            yield "the weight", (evidence_id, hypothesis_id, stance), sent(each.weight, None)
        yield from _said_of_grounds(graph, entries, evidence_id, sent(e.depends_on, ()))
    for c in entries.conclusions:
        yield "the confidence", (entries.id(c.id),), sent(c.confidence, None)
        yield from _said_of_grounds(graph, entries, entries.id(c.id), c.depends_on)


def _said_of_grounds(
    graph: BeliefGraph, entries: Entries, consumer: NodeId, given: tuple[Dependency, ...]
) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    for each in given:
        on_id, _ = _refer(graph, entries, each.on, Evidence, Conclusion)
        yield "what is critical", (consumer, on_id, sent(each.group, "")), sent(each.critical, None)
