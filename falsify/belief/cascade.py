"""What follows from a change: labels, flips with their causes, promotions, forgetting.

A `Draft` is a decision being made. It works in a branch of the graph, so that a decision that is never appended
leaves no trace.
"""

from collections.abc import Callable, Iterable, Iterator

from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    BeliefEvent,
    ConclusionDrawn,
    ConclusionInvalidated,
    Consequence,
    DependencyAdded,
    EvidenceAsserted,
    EvidenceInvalidated,
    EvidenceRecorded,
    EvidenceRefuted,
    EvidenceSuperseded,
    EvidenceWeighed,
    FrontierMoved,
    HypothesisSuperseded,
    NodeContested,
    NodeForgotten,
    NodeReinstated,
    SourceRecorded,
    TruthState,
    VerdictGiven,
)
from falsify.belief.graph import (
    NANO,
    BeliefGraph,
    Conclusion,
    Evidence,
    Hypothesis,
    Node,
    Question,
    evolve,
)
from falsify.belief.labelling import Label, Labels, justifications, label_of, relabel
from falsify.events import NodeId

DEAD_ENDS: frozenset[TruthState] = frozenset({"refuted", "invalidated"})
"""What can be forgotten; superseded nodes are kept as provenance (contract, 1.5 a)."""


class Draft:
    """The events of a decision so far, and the graph as it would be after them."""

    def __init__(self, graph: BeliefGraph) -> None:
        self.graph = graph.branch()
        self.events: list[BeliefEvent] = []
        self._changed: dict[NodeId, None] = {}

    def record(self, *events: BeliefEvent) -> None:
        """Add premises, and note which nodes they change."""
        for event in events:
            evolve(self.graph, event)
            self.events.append(event)
            self._changed.update(dict.fromkeys(_changes(self.graph, event)))

    def settle(self) -> int:
        """Add everything that follows from the premises, in cascade order; return how many states changed."""
        before = len(self.events)
        labels = relabel(self.graph, self._changed)
        flips = {n: flip for n, label in labels.items() if (flip := _flip(self.graph, labels, n, label))}
        self._follow(_in_cascade_order(self.graph, flips))
        hypotheses = self._rate_hypotheses()
        self._forget([*labels, *self._changed, *hypotheses])
        changes = len(self.events) - before
        self._move_frontiers()
        return changes

    def _follow(self, events: Iterable[Consequence]) -> None:
        for event in events:
            evolve(self.graph, event)
            self.events.append(event)

    def _rate_hypotheses(self) -> list[NodeId]:
        """Supersede and reinstate hypotheses; return the evidence weighed for those that changed."""
        supporters: list[NodeId] = []
        for hypothesis in _touched_hypotheses(self.graph):
            flip = _rate(self.graph, hypothesis)
            if flip is not None:
                self._follow([flip])
                supporters += (w.evidence_id for w in self.graph.weighed_by.of(hypothesis.id))
        return supporters

    def _move_frontiers(self) -> None:
        touched = {h.question_id for h in self.graph.edited(Hypothesis)}
        for question_id in sorted(touched, key=lambda q: self.graph.nodes[q].order):
            question = self.graph.nodes[question_id]
            best = best_hypothesis(self.graph, question_id)
            if isinstance(question, Question) and question.frontier != (best.id if best else ""):
                moved = FrontierMoved(
                    question_id=question_id,
                    hypothesis_id=best.id if best else "",
                    previous_id=question.frontier,
                    standing=best.standing / NANO if best else 0.0,
                )
                self._follow([moved])

    def _forget(self, candidates: list[NodeId]) -> None:
        """Forget dead ends among the candidates and what they rested on, and recall what feeds a living node again."""
        barren: set[NodeId] = set()
        for node_id in _dead_below(self.graph, candidates):
            node = self.graph.nodes[node_id]
            reason = _reason(self.graph, {}, node)
            end = reason.state in DEAD_ENDS and not _kept(self.graph, node, barren)
            if end and node.state != "forgotten":
                forgotten = NodeForgotten(node_id=node_id, node_kind=node.kind, was=node.state, because=node.cause)
                self._follow([forgotten])
            elif not end and node.state == "forgotten":
                self._follow([reason.event])


def best_hypothesis(graph: BeliefGraph, question_id: NodeId) -> Hypothesis | None:
    """Return the living hypothesis with the greatest standing, then prior, then age."""
    living = [h for h in _hypotheses(graph, question_id) if h.alive]
    return max(living, key=rank, default=None)


def rank(hypothesis: Hypothesis) -> tuple[int, float, int]:
    """Return what hypotheses are compared by: standing, prior, age."""
    return hypothesis.standing, hypothesis.prior, -hypothesis.order


def expected_state(graph: BeliefGraph, labels: Labels, node: Node) -> TruthState:
    """Return the truth-state that follows for a node from the edges and these labels; used by `verify`.

    A dead end is expected to be `forgotten`; for that the labels must be those of the recorded states.
    """
    if isinstance(node, Question):
        return "alive"
    if isinstance(node, Hypothesis):
        return _rating(graph, node)
    label = labels[node.id]
    if label is not Label.DEAD:
        return "alive" if label is Label.ALIVE else "contested"
    state = _reason(graph, labels, node).state
    return "forgotten" if state in DEAD_ENDS and not _kept(graph, node, set()) else state


def _changes(graph: BeliefGraph, event: BeliefEvent) -> Iterator[NodeId]:
    """Yield the nodes whose label the premise may decide."""
    match event:
        case EvidenceRecorded() | EvidenceWeighed():
            yield event.evidence_id
        case ConclusionDrawn():
            yield event.conclusion_id
        case DependencyAdded():
            yield event.node_id
        case VerdictGiven():
            yield event.fact_id
            yield event.claim_id
        case EvidenceAsserted() | AssertionRetracted() | AssertionRestored():
            yield from _with_opponents(graph, event.evidence_id)
        case SourceRecorded():
            for evidence_id in graph.sourced.of(event.source_id):
                yield from _with_opponents(graph, evidence_id)
        case _:
            return


def _with_opponents(graph: BeliefGraph, evidence_id: NodeId) -> Iterator[NodeId]:
    """Yield a piece of evidence whose strength changed, and those it is in conflict with."""
    yield evidence_id
    for verdict in graph.verdicts.of(evidence_id):
        yield verdict.fact_id if verdict.claim_id == evidence_id else verdict.claim_id


# --- flips -----------------------------------------------------------------------------------------------


class _Flip:
    """A change of state and what caused it."""

    __slots__ = ("cause", "event", "state")

    def __init__(self, state: TruthState, cause: NodeId, event: Consequence) -> None:
        self.state = state
        self.cause = cause
        self.event = event


def _flip(graph: BeliefGraph, labels: Labels, node_id: NodeId, label: Label) -> _Flip | None:
    """Return the flip that takes a node to its new label, or None where its state stays as it is."""
    node = graph.nodes[node_id]
    if label is Label.ALIVE:
        return None if node.alive else _reinstate(graph, labels, node)
    if label is Label.CONTESTED:
        return None if node.state == "contested" else _contest(graph, labels, node)
    reason = _reason(graph, labels, node)
    # Whether what is forgotten stays forgotten is decided when all labels are in (Draft._forget).
    return None if node.state in {reason.state, "forgotten"} else reason


def _label(graph: BeliefGraph, labels: Labels, node_id: NodeId) -> Label:
    return labels.get(node_id) or label_of(graph.nodes[node_id].state)


def _reason(graph: BeliefGraph, labels: Labels, node: Node) -> _Flip:
    """Return why a dead node is dead: a living attacker, a retraction, or no justification left."""
    if isinstance(node, Evidence):
        killers = [
            (verdict.relation != "contradicts", graph.nodes[attacker].order, attacker)
            for attacker, verdict in graph.attackers(node.id)
            if _label(graph, labels, attacker) is Label.ALIVE
        ]
        if killers:
            superseded, _, by = min(killers)
            if superseded:
                return _Flip("superseded", by, EvidenceSuperseded(evidence_id=node.id, by=by))
            return _Flip("refuted", by, EvidenceRefuted(evidence_id=node.id, by=by, retracted=False))
        if node.retracted:
            return _Flip("refuted", "", EvidenceRefuted(evidence_id=node.id, by="", retracted=True))
    lost = _critical(graph, node.id, lambda on: _label(graph, labels, on) is not Label.ALIVE)
    # The cause is what this revision took away, if it took anything; else the first that is missing.
    because = min(lost, key=lambda on: (label_of(graph.nodes[on].state) is not Label.ALIVE, lost.index(on)))
    if isinstance(node, Conclusion):
        return _Flip(
            "invalidated",
            because,
            ConclusionInvalidated(conclusion_id=node.id, because=because, lost=tuple(lost)),
        )
    return _Flip("invalidated", because, EvidenceInvalidated(evidence_id=node.id, because=because, lost=tuple(lost)))


def _critical(graph: BeliefGraph, node_id: NodeId, admits: Callable[[NodeId], bool]) -> list[NodeId]:
    members = (on for group in justifications(graph, node_id).values() for on in group)
    return [on for on in dict.fromkeys(members) if admits(on)]


def _contest(graph: BeliefGraph, labels: Labels, node: Node) -> _Flip:
    open_ = [a for a, _ in graph.attackers(node.id) if _label(graph, labels, a) is Label.CONTESTED]
    open_ += _critical(graph, node.id, lambda on: _label(graph, labels, on) is Label.CONTESTED)
    over = tuple(sorted(dict.fromkeys(open_), key=lambda n: graph.nodes[n].order))
    return _Flip("contested", over[0], NodeContested(node_id=node.id, node_kind=node.kind, over=over))


def _reinstate(graph: BeliefGraph, labels: Labels, node: Node) -> _Flip:
    """Return the reinstatement, caused by the attacker that fell or the dependency that came back."""
    flipped = [
        other
        for other in (
            *([a for a, _ in graph.attackers(node.id)] if isinstance(node, Evidence) else ()),
            *_critical(graph, node.id, lambda _: True),
        )
        if _label(graph, labels, other) is not label_of(graph.nodes[other].state)
    ]
    because = node.cause if node.cause in flipped or not flipped else flipped[0]
    event = NodeReinstated(node_id=node.id, node_kind=node.kind, because=because, was=node.state)
    return _Flip("alive", because, event)


def _in_cascade_order(graph: BeliefGraph, flips: dict[NodeId, _Flip]) -> list[Consequence]:
    """Return the flips with each after the one that caused it, and equals in the order of their nodes."""
    caused: dict[NodeId, list[NodeId]] = {}
    order = sorted(flips, key=lambda n: graph.nodes[n].order)
    for node_id in order:
        caused.setdefault(flips[node_id].cause, []).append(node_id)
    queue = [n for n in order if flips[n].cause not in flips]
    placed = dict.fromkeys(queue)
    for start in (None, *order):  # the second round starts inside loops, which nothing outside them caused
        if start is not None and start not in placed:
            placed[start] = None
            queue.append(start)
        while queue:
            for node_id in caused.get(queue.pop(0), ()):
                if node_id not in placed:
                    placed[node_id] = None
                    queue.append(node_id)
    return [flips[node_id].event for node_id in placed]


# --- hypotheses ------------------------------------------------------------------------------------------


def _hypotheses(graph: BeliefGraph, question_id: NodeId) -> list[Hypothesis]:
    found = (graph.nodes[h] for h in graph.hypotheses.of(question_id))
    return [h for h in found if isinstance(h, Hypothesis)]


def _touched_hypotheses(graph: BeliefGraph) -> list[Hypothesis]:
    """Return the hypotheses whose rating the draft may have changed: a question's whole set once support moved."""
    touched = {h.id: h for h in graph.edited(Hypothesis)}
    for question in graph.edited(Question):
        touched.update((h.id, h) for h in _hypotheses(graph, question.id))
    return sorted(touched.values(), key=lambda h: h.order)


def _rating(graph: BeliefGraph, hypothesis: Hypothesis) -> TruthState:
    """Return the state of a hypothesis: superseded when all support died and a rival's has not."""
    question = graph.nodes[hypothesis.question_id]
    supported = question.supported if isinstance(question, Question) else 0
    if hypothesis.living or not hypothesis.supports or not supported:
        return "alive"
    return "contested" if hypothesis.contested else "superseded"


def _rate(graph: BeliefGraph, hypothesis: Hypothesis) -> Consequence | None:
    state = _rating(graph, hypothesis)
    if state == hypothesis.state:
        return None
    supporters = [graph.nodes[w.evidence_id] for w in graph.weighed_by.of(hypothesis.id) if w.stance == "supports"]
    if state == "alive":
        because = next((e.id for e in supporters if e.alive), "")
        return NodeReinstated(node_id=hypothesis.id, node_kind=hypothesis.kind, because=because, was=hypothesis.state)
    if state == "contested":
        over = tuple(e.id for e in supporters if e.state == "contested")
        return NodeContested(node_id=hypothesis.id, node_kind=hypothesis.kind, over=over)
    rivals = [h for h in _hypotheses(graph, hypothesis.question_id) if h.living]
    return HypothesisSuperseded(hypothesis_id=hypothesis.id, by=max(rivals, key=rank).id)


# --- forgetting ------------------------------------------------------------------------------------------


def _dead_below(graph: BeliefGraph, candidates: Iterable[NodeId]) -> list[NodeId]:
    """Return the dead nodes among the candidates and beneath them, consumers before what they rest on."""
    found: dict[NodeId, None] = {}
    queue = list(dict.fromkeys(candidates))
    seen = set(queue)
    for node_id in queue:  # grows while it is walked
        node = graph.nodes[node_id]
        if isinstance(node, Evidence | Conclusion) and label_of(node.state) is Label.DEAD:
            found[node_id] = None
        for dependency in graph.depends.of(node_id):
            on = dependency.on_id
            if on not in seen and label_of(graph.nodes[on].state) is Label.DEAD:
                seen.add(on)
                queue.append(on)
    return list(found)


def _kept(graph: BeliefGraph, node: Node, barren: set[NodeId]) -> bool:
    """Return whether a dead node stays in the graph: it feeds a living node, or a living attacker is anchored to it."""
    if isinstance(node, Evidence) and any(graph.nodes[a].alive for a, _ in graph.attackers(node.id)):
        return True
    return _feeds_the_living(graph, node.id, barren)


def _feeds_the_living(graph: BeliefGraph, node_id: NodeId, barren: set[NodeId]) -> bool:
    """Return whether a living node reaches this one; `barren` collects nodes known to feed none."""
    walk = {node_id: None}
    queue = [node_id]
    while queue:
        for consumer in _consumers(graph, queue.pop()):
            if graph.nodes[consumer].alive:
                return True
            if consumer not in walk and consumer not in barren:
                walk[consumer] = None
                queue.append(consumer)
    barren.update(walk)
    return False


def _consumers(graph: BeliefGraph, node_id: NodeId) -> Iterator[NodeId]:
    for dependency in graph.dependents.of(node_id):
        yield dependency.node_id
    for weight in graph.weighs.of(node_id):
        if weight.stance == "supports":
            yield weight.hypothesis_id
