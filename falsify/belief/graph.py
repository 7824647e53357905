"""The belief graph: what a fold of belief events amounts to.

The graph obeys what is recorded, flips included; what *ought* to follow is computed by `labelling` and `revision`.
A decision works in a `branch`, which reads through to the graph below and keeps its own changes to itself.
"""

import copy
from collections import ChainMap
from collections.abc import Collection, Hashable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar, assert_never, cast

from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    BeliefEvent,
    ConclusionDrawn,
    ConclusionInvalidated,
    DependencyAdded,
    DocumentIngested,
    EvidenceAsserted,
    EvidenceInvalidated,
    EvidenceRecorded,
    EvidenceRefuted,
    EvidenceSuperseded,
    EvidenceWeighed,
    FrontierMoved,
    HandleGiven,
    HypothesisProposed,
    HypothesisSuperseded,
    NodeContested,
    NodeForgotten,
    NodeReinstated,
    QuestionAsked,
    RevisionOpened,
    SourceRecorded,
    TruthState,
    VerdictGiven,
    VerdictWithheld,
)
from falsify.belief.text import NodeKind, a_kind
from falsify.events import NodeId

ACTING_CONFIDENCE = 0.6
"""A verdict of `contradicts` or `supersedes` acts from this confidence on (contract, 1.3)."""

DECAY = 0.8
"""What each dead non-critical dependency leaves of a conclusion's confidence."""

NANO = 1_000_000_000
"""Weights are summed as whole billionths, so that a sum does not depend on its order."""

UNATTRIBUTED = "unattributed"
"""The source of a claim that names none."""

N = TypeVar("N", bound="Node")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class Node:
    """What all nodes have. `order` is its place among the nodes; `cause` is what its last change of state names."""

    id: NodeId
    question_id: NodeId
    text: str
    handle: str
    order: int
    state: TruthState = "alive"
    truth_epoch: int = 0
    cause: NodeId = ""

    @property
    def kind(self) -> NodeKind:
        return _KINDS[type(self)]

    @property
    def alive(self) -> bool:
        return self.state == "alive"


@dataclass(slots=True)
class Question(Node):
    """`supported` counts its hypotheses that have living support; `frontier` is its best living hypothesis."""

    supported: int = 0
    frontier: NodeId = ""


class Rank(NamedTuple):
    """What hypotheses are compared by, and which one it is; the oldest has the greatest `age`."""

    alive: bool
    standing: int
    prior: float
    age: int
    supported: bool
    hypothesis_id: NodeId


@dataclass(slots=True)
class Hypothesis(Node):
    """`standing` is in billionths; `supports`, `living` and `contested` count its supporting evidence."""

    prior: float = 0.5
    standing: int = 0
    supports: int = 0
    living: int = 0
    contested: int = 0

    @property
    def rank(self) -> Rank:
        return Rank(self.alive, self.standing, self.prior, -self.order, self.living > 0, self.id)


@dataclass(frozen=True, slots=True)
class Assertion:
    """A source's word for a claim; `order` tells later assertions from earlier ones."""

    source_id: str
    quote: str
    asserted_at: str
    order: int
    retracted: bool = False
    location: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Strength:
    """What decides a judged contradiction: trust, then date, then which was asserted later."""

    trust: float = 0.0
    asserted_at: str = ""
    order: int = 0

    def beats(self, other: "Strength") -> bool:
        """Return whether this is the stronger; dates count only where both are known, to their common precision."""
        if self.trust != other.trust:
            return self.trust > other.trust
        precision = min(len(self.asserted_at), len(other.asserted_at))
        mine, theirs = self.asserted_at[:precision], other.asserted_at[:precision]
        return mine > theirs if mine != theirs else self.order > other.order


@dataclass(slots=True)
class Evidence(Node):
    """A claim, and by source who asserts it. It is `retracted` when nobody does any more."""

    assertions: dict[str, Assertion] = field(default_factory=dict)
    strength: Strength = Strength()

    @property
    def retracted(self) -> bool:
        return bool(self.assertions) and all(a.retracted for a in self.assertions.values())


@dataclass(slots=True)
class Conclusion(Node):
    """`confidence` is what it has while everything it depends on lives."""

    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Source:
    """Where claims come from; `trust` is any number of at least 0, usually 0..1."""

    id: str
    title: str
    trust: float


_KINDS: dict[type[Node], NodeKind] = {
    Question: "question",
    Hypothesis: "hypothesis",
    Evidence: "evidence",
    Conclusion: "conclusion",
}


class Table(Generic[K, V]):
    """The edges at each node, by key, in the order they came; a branch of it reads through to the one below."""

    __slots__ = ("_below", "_rows")

    def __init__(self, below: "Table[K, V] | None" = None) -> None:
        self._rows: dict[NodeId, dict[K, V]] = {}
        self._below = below

    def branch(self) -> "Table[K, V]":
        """Return a table that starts as this one and whose changes this one never sees."""
        return Table(self)

    def put(self, node: NodeId, key: K, value: V) -> None:
        """Add the edge, or replace the one with the same key."""
        rows = self._rows.get(node)
        if rows is None:
            rows = self._rows[node] = {}
        rows[key] = value

    def get(self, node: NodeId, key: K) -> V | None:
        """Return the edge at the node with this key."""
        own = self._rows.get(node)
        if own is not None and key in own:
            return own[key]
        return self._below.get(node, key) if self._below is not None else None

    def of(self, node: NodeId) -> Collection[V]:
        """Return the edges at the node."""
        return self.row(node).values()

    def row(self, node: NodeId) -> Mapping[K, V]:
        """Return the edges at the node by their keys; not to be changed."""
        own: Mapping[K, V] = self._rows.get(node, _EMPTY)
        if self._below is None:
            return own
        below = self._below.row(node)
        return {**below, **own} if own and below else own or below


_EMPTY: Mapping[Any, Any] = {}


class BeliefGraph:
    """Nodes by id and the edges between them, as recorded up to some point of the log.

    `ranks` has the rank of each hypothesis of a question; `gave_way` leads from a hypothesis to those it superseded.
    `documents` has the last edition of each; `contents` what a document ever claimed and by which source, and whether
    it still does; `found_in` is the same by the evidence: (source, document) -> whether it still does.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.size = 0
        self.assertions = 0
        self.nodes: MutableMapping[NodeId, Node] = {}
        self.sources: MutableMapping[str, Source] = {}
        self.handles: MutableMapping[tuple[NodeId, str], NodeId] = {}
        self.depends: Table[tuple[NodeId, str], DependencyAdded] = Table()
        self.dependents: Table[tuple[NodeId, str], DependencyAdded] = Table()
        self.verdicts: Table[tuple[bool, NodeId, NodeId], VerdictGiven] = Table()
        self.considered: Table[tuple[NodeId, NodeId], VerdictGiven | VerdictWithheld] = Table()
        self.weighs: Table[tuple[NodeId, str], EvidenceWeighed] = Table()
        self.weighed_by: Table[tuple[NodeId, str], EvidenceWeighed] = Table()
        self.asked: Table[NodeId, NodeId] = Table()
        self.hypotheses: Table[NodeId, NodeId] = Table()
        self.ranks: Table[NodeId, Rank] = Table()
        self.gave_way: Table[NodeId, NodeId] = Table()
        self.sourced: Table[NodeId, NodeId] = Table()
        self.documents: MutableMapping[str, DocumentIngested] = {}
        self.contents: Table[tuple[str, NodeId], bool] = Table()
        self.found_in: Table[tuple[str, str], bool] = Table()
        self._own: dict[NodeId, Node] | None = None

    def branch(self) -> "BeliefGraph":
        """Return a graph that starts as this one and whose changes this one never sees."""
        above = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, Table):
                setattr(above, name, value.branch())
        above.sources = ChainMap({}, self.sources)
        above.handles = ChainMap({}, self.handles)
        above.documents = ChainMap({}, self.documents)
        above._own = {}  # noqa: SLF001 - another instance of this class
        above.nodes = ChainMap(above._own, self.nodes)  # noqa: SLF001 - as above
        return above

    def edit(self, node_id: NodeId, kind: type[N]) -> N:
        """Return the node to be changed: in a branch, its own copy."""
        node = self.nodes[node_id]
        if self._own is not None and node_id not in self._own:
            node = self._own[node_id] = copy.copy(node)
        if not isinstance(node, kind):
            raise TypeError(f"{node_id} is {a_kind(node.kind)}, not {a_kind(kind.__name__.lower())}")
        return node

    def edited(self, kind: type[N]) -> list[N]:
        """Return the nodes of a kind that were added or edited in this branch."""
        return [node for node in (self._own or {}).values() if isinstance(node, kind)]

    def evidence(self, node_id: NodeId) -> Evidence:
        """Return the piece of evidence with this id."""
        return cast("Evidence", self.nodes[node_id])

    def questions(self) -> list[Question]:
        """Return the questions in the order they were asked."""
        return [cast("Question", self.nodes[question_id]) for question_id in self.asked.of("")]

    def attackers(self, evidence_id: NodeId) -> Iterator[tuple[NodeId, VerdictGiven]]:
        """Yield who attacks the evidence and by which verdict, whether the attacker lives or not."""
        for verdict in self.verdicts.of(evidence_id):
            if self.attacks(verdict, evidence_id):
                yield (verdict.fact_id if verdict.claim_id == evidence_id else verdict.claim_id), verdict

    def victims(self, evidence_id: NodeId) -> Iterator[NodeId]:
        """Yield whom the evidence attacks."""
        for verdict in self.verdicts.of(evidence_id):
            victim = verdict.claim_id if verdict.fact_id == evidence_id else verdict.fact_id
            if self.attacks(verdict, victim):
                yield victim

    def attacks(self, verdict: VerdictGiven, target: NodeId) -> bool:
        """Return whether the verdict is an attack on `target`.

        A person's verdict runs as given, and goes before a judge's on the same pair, also where it finds no conflict;
        in a judged pair the stronger attacks the weaker, and a charge the claim that rests on what it impugns.
        """
        if not acts(verdict):
            return False
        if verdict.directed:
            return verdict.claim_id == target
        if self.ruled(verdict.fact_id, verdict.claim_id):
            return False
        fact, claim = self.evidence(verdict.fact_id), self.evidence(verdict.claim_id)
        if verdict.impugned:
            if _has_other_ground(claim, verdict.impugned):
                return False
            # A claim is no better founded for being newer than what is said against its ground.
            loser = fact if claim.strength.trust > fact.strength.trust else claim
        else:
            loser = claim if fact.strength.beats(claim.strength) else fact
        return loser.id == target

    def ruled(self, one: NodeId, other: NodeId) -> bool:
        """Return whether somebody gave a directed verdict on the pair, in whichever direction."""
        return any(self.verdicts.get(one, ruling) is not None for ruling in ((True, one, other), (True, other, one)))

    def judged(self, one: NodeId, other: NodeId) -> VerdictGiven | None:
        """Return the last verdict on the pair that is not directed, if it acts or took one back that did."""
        return self.verdicts.get(one, (False, min(one, other), max(one, other)))

    def confidence(self, conclusion: Conclusion) -> float:
        """Return the confidence a conclusion has now: each dead non-critical dependency leaves DECAY of it."""
        lost = sum(
            not dependency.critical and not self.nodes[dependency.on_id].alive
            for dependency in self.depends.of(conclusion.id)
        )
        return conclusion.confidence * DECAY**lost


def acts(verdict: VerdictGiven) -> bool:
    """Return whether the verdict is of the kind and the confidence that refutes."""
    return verdict.relation in {"contradicts", "supersedes"} and verdict.confidence >= ACTING_CONFIDENCE


def _has_other_ground(claim: Evidence, impugned: Collection[str]) -> bool:
    """Return whether a source stands by the claim that is not impugned."""
    return any(not a.retracted and a.source_id not in impugned for a in claim.assertions.values())


def evolve(graph: BeliefGraph, event: BeliefEvent) -> BeliefGraph:
    """Return the graph after the event; the graph given is changed in place."""
    match event:
        case VerdictGiven():
            _give(graph, event)
        case EvidenceRefuted():
            _flip(graph, event.evidence_id, "refuted", event.by)
        case ConclusionInvalidated():
            _flip(graph, event.conclusion_id, "invalidated", event.because)
        case NodeReinstated():
            _flip(graph, event.node_id, "alive", event.because)
        case RevisionOpened():
            graph.epoch = event.epoch
        case EvidenceRecorded():
            _add(graph, event.evidence_id, Evidence, event, event.claim)
        case EvidenceAsserted():
            _assert(graph, event)
        case EvidenceWeighed():
            _weigh(graph, event)
        case DependencyAdded():
            graph.depends.put(event.node_id, (event.on_id, event.group), event)
            graph.dependents.put(event.on_id, (event.node_id, event.group), event)
        case ConclusionDrawn():
            _add(graph, event.conclusion_id, Conclusion, event, event.statement, confidence=event.confidence)
        case NodeForgotten():
            _flip(graph, event.node_id, "forgotten", event.because)
        case NodeContested():
            _flip(graph, event.node_id, "contested", event.over[0] if event.over else "")
        case EvidenceSuperseded():
            _flip(graph, event.evidence_id, "superseded", event.by)
        case EvidenceInvalidated():
            _flip(graph, event.evidence_id, "invalidated", event.because)
        case HypothesisSuperseded():
            _flip(graph, event.hypothesis_id, "superseded", event.by)
            graph.gave_way.put(event.by, event.hypothesis_id, event.hypothesis_id)
        case FrontierMoved():
            graph.edit(event.question_id, Question).frontier = event.hypothesis_id
        case VerdictWithheld():
            graph.considered.put(event.fact_id, (event.fact_id, event.claim_id), event)
        case SourceRecorded():
            _describe(graph, event)
        case AssertionRetracted():
            _retract(graph, event.evidence_id, event.source_id, retracted=True)
        case AssertionRestored():
            _retract(graph, event.evidence_id, event.source_id, retracted=False)
        case HypothesisProposed():
            _add(graph, event.hypothesis_id, Hypothesis, event, event.statement, prior=event.prior)
            graph.hypotheses.put(event.question_id, event.hypothesis_id, event.hypothesis_id)
            _rank(graph, graph.edit(event.hypothesis_id, Hypothesis))
        case DocumentIngested():
            _read(graph, event)
        case HandleGiven():
            graph.handles[event.question_id, event.handle] = event.node_id
        case QuestionAsked():
            _add(graph, event.question_id, Question, event, event.text)
            graph.asked.put("", event.question_id, event.question_id)
        case _:
            assert_never(event)
    return graph


def _add(
    graph: BeliefGraph,
    node_id: NodeId,
    kind: type[Node],
    event: QuestionAsked | HypothesisProposed | EvidenceRecorded | ConclusionDrawn,
    text: str,
    **more: Any,
) -> None:
    graph.nodes[node_id] = kind(
        id=node_id,
        question_id=event.question_id,
        text=text,
        handle=event.handle,
        order=graph.size,
        truth_epoch=graph.epoch,
        **more,
    )
    graph.size += 1
    if event.handle:
        graph.handles[event.question_id, event.handle] = node_id


def _give(graph: BeliefGraph, verdict: VerdictGiven) -> None:
    fact, claim = verdict.fact_id, verdict.claim_id
    graph.considered.put(fact, (fact, claim), verdict)
    first, second = (fact, claim) if verdict.directed or fact < claim else (claim, fact)
    key = (verdict.directed, first, second)
    # A judge's verdict that does not act is kept off the hot path, unless it takes an earlier one back.
    if acts(verdict) or verdict.directed or graph.verdicts.get(claim, key) is not None:
        graph.verdicts.put(claim, key, verdict)
        graph.verdicts.put(fact, key, verdict)


def _assert(graph: BeliefGraph, event: EvidenceAsserted) -> None:
    graph.assertions += 1
    node = graph.edit(event.evidence_id, Evidence)
    assertion = Assertion(event.source_id, event.quote, event.asserted_at, graph.assertions, location=event.location)
    node.assertions = {**node.assertions, event.source_id: assertion}
    node.strength = _strength(graph, node)
    graph.sourced.put(event.source_id, node.id, node.id)


def _retract(graph: BeliefGraph, evidence_id: NodeId, source_id: str, *, retracted: bool) -> None:
    node = graph.edit(evidence_id, Evidence)
    was = node.assertions[source_id]
    now = Assertion(was.source_id, was.quote, was.asserted_at, was.order, retracted, was.location)
    node.assertions = {**node.assertions, source_id: now}
    node.strength = _strength(graph, node)


def _read(graph: BeliefGraph, edition: DocumentIngested) -> None:
    document_id = edition.document_id
    graph.documents[document_id] = edition
    for said, there in ((edition.added, True), (edition.dropped, False)):
        for source_id, evidence_id in said:
            graph.contents.put(document_id, (source_id, evidence_id), there)
            graph.found_in.put(evidence_id, (source_id, document_id), there)


def _describe(graph: BeliefGraph, event: SourceRecorded) -> None:
    graph.sources[event.source_id] = Source(event.source_id, event.title, event.trust)
    for evidence_id in graph.sourced.of(event.source_id):
        node = graph.edit(evidence_id, Evidence)
        node.strength = _strength(graph, node)


def _strength(graph: BeliefGraph, node: Evidence) -> Strength:
    """Return the strength of the strongest source that stands by the claim (or stood by it, if none does)."""
    standing = [a for a in node.assertions.values() if not a.retracted] or list(node.assertions.values())
    return max(Strength(graph.sources[a.source_id].trust, a.asserted_at, a.order) for a in standing)


def _weigh(graph: BeliefGraph, event: EvidenceWeighed) -> None:
    state = graph.nodes[event.evidence_id].state
    before = graph.weighs.get(event.evidence_id, (event.hypothesis_id, event.stance))
    if before is not None:
        _count(graph, before, state, None)
    _count(graph, event, None, state)
    graph.weighs.put(event.evidence_id, (event.hypothesis_id, event.stance), event)
    graph.weighed_by.put(event.hypothesis_id, (event.evidence_id, event.stance), event)


def _flip(graph: BeliefGraph, node_id: NodeId, state: TruthState, cause: NodeId) -> None:
    node = graph.edit(node_id, Node)
    was, node.state, node.truth_epoch, node.cause = node.state, state, graph.epoch, cause
    if was == state:
        return
    if isinstance(node, Evidence):
        for weight in graph.weighs.of(node_id):
            _count(graph, weight, was, state)
    elif isinstance(node, Hypothesis):
        _rank(graph, node)


def _count(graph: BeliefGraph, weight: EvidenceWeighed, was: TruthState | None, now: TruthState | None) -> None:
    """Tell a hypothesis that evidence weighed for it was in one state and is now in another; None is not weighed."""
    hypothesis = graph.edit(weight.hypothesis_id, Hypothesis)
    lives = (now == "alive") - (was == "alive")
    if weight.stance == "supports":
        supported = hypothesis.living > 0
        hypothesis.supports += (now is not None) - (was is not None)
        hypothesis.contested += (now == "contested") - (was == "contested")
        hypothesis.living += lives
        if supported != (hypothesis.living > 0):
            graph.edit(hypothesis.question_id, Question).supported += -1 if supported else 1
    if lives:
        weighs = round(weight.weight * NANO)
        hypothesis.standing += lives * (weighs if weight.stance == "supports" else -weighs)
        _rank(graph, hypothesis)


def _rank(graph: BeliefGraph, hypothesis: Hypothesis) -> None:
    graph.ranks.put(hypothesis.question_id, hypothesis.id, hypothesis.rank)
