"""What follows from a change: labels, flips with their causes, promotions, forgetting.

A `Draft` is a decision being made. It works in a branch of the graph, so that a decision that is never appended
leaves no trace.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

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
from falsify.belief.labelling import Label, Labels, justifications, label_all, label_of, relabel
from falsify.events import NodeId

DEAD_ENDS: frozenset[TruthState] = frozenset({"refuted", "invalidated"})
"""What can be forgotten; superseded nodes are kept as provenance (contract, 1.5 a)."""


class Draft:
    """The events of a decision so far, and the graph as it would be after them."""

    def __init__(self, graph: BeliefGraph) -> None:
        self.before = graph
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
        sight = _Sight(self.graph, labels)
        flips = {node_id: flip for node_id in labels if (flip := _flip(sight, node_id))}
        self._follow(_in_cascade_order(flips))
        hypotheses = self._rate_hypotheses()
        self._forget([*labels, *hypotheses])
        changes = len(self.events) - before
        self._move_frontiers()
        return changes

    def _follow(self, events: Iterable[Consequence]) -> None:
        for event in events:
            evolve(self.graph, event)
            self.events.append(event)

    def _rate_hypotheses(self) -> list[NodeId]:
        """Supersede and reinstate hypotheses; return the supports of those that changed."""
        supporters: list[NodeId] = []
        fallen: list[Hypothesis] = []
        for hypothesis in self._touched_hypotheses():
            if _rated(self.graph, hypothesis) != "alive":
                fallen.append(hypothesis)
            elif not hypothesis.alive:
                self._follow([_revived(self.graph, hypothesis)])
                supporters += _supporters(self.graph, hypothesis.id)
        # Whom they gave way to is asked when all who have living support live.
        rivals = {q: _best_supported(self.graph, q) for q in {h.question_id for h in fallen}}
        for hypothesis in fallen:
            flip = _overcome(self.graph, hypothesis, rivals[hypothesis.question_id])
            if flip is not None:
                self._follow([flip])
                supporters += _supporters(self.graph, hypothesis.id)
        return supporters

    def _touched_hypotheses(self) -> list[Hypothesis]:
        """Return the hypotheses whose state or its cause the draft may have changed, in the order of their nodes.

        A rival matters to them only by having living support: so they are those that gave way to one that lost it, and
        all of a question in which the first rival gained it or the last one lost it.
        """
        edited = self.graph.edited(Hypothesis)
        touched = {h.id for h in edited}
        for hypothesis in edited:
            if not hypothesis.living:
                touched.update(self.graph.gave_way.of(hypothesis.id))
        for question in self.graph.edited(Question):
            before = self.before.nodes.get(question.id)
            if bool(question.supported) != (isinstance(before, Question) and before.supported > 0):
                touched.update(self.graph.hypotheses.of(question.id))
        found = (self.graph.nodes[h] for h in touched)
        return sorted((h for h in found if isinstance(h, Hypothesis)), key=lambda h: h.order)

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
        recorded = _Sight(self.graph, {})
        dead = _dead_below(self.graph, candidates)
        fed = _fed(self.graph, dead, lambda n: self.graph.nodes[n].alive)
        for node_id in dead:
            node = self.graph.nodes[node_id]
            reason = _reason(recorded, node)
            end = reason.dead_end and node_id not in fed
            if end and node.state != "forgotten":
                forgotten = NodeForgotten(node_id=node_id, node_kind=node.kind, was=node.state, because=node.cause)
                self._follow([forgotten])
            elif not end and node.state == "forgotten":
                self._follow([reason.event])


def best_hypothesis(graph: BeliefGraph, question_id: NodeId) -> Hypothesis | None:
    """Return the living hypothesis with the greatest standing, then prior, then age."""
    best = max(graph.ranks.of(question_id), default=None)
    return cast("Hypothesis", graph.nodes[best.hypothesis_id]) if best and best.alive else None


def expected_states(graph: BeliefGraph) -> dict[NodeId, TruthState]:
    """Return the truth-state that follows for every node from the edges alone, whatever states are recorded."""
    labels = label_all(graph)
    sight = _Sight(graph, labels)
    states = _expected_ratings(graph, labels)
    ends: list[NodeId] = []
    for node in graph.nodes.values():
        if isinstance(node, Question):
            states[node.id] = "alive"
        elif isinstance(node, Hypothesis):
            continue
        elif labels[node.id] is not Label.DEAD:
            states[node.id] = "alive" if labels[node.id] is Label.ALIVE else "contested"
        else:
            reason = _reason(sight, node)
            states[node.id] = reason.state
            if reason.dead_end:
                ends.append(node.id)
    fed = _fed(graph, ends, lambda n: states[n] == "alive")
    return {**states, **dict.fromkeys((n for n in ends if n not in fed), "forgotten")}


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


@dataclass(frozen=True, slots=True)
class _Flip:
    """The state that follows for a node, the event that says so, and which causes hold; `cause` is the one it names."""

    state: TruthState
    cause: NodeId
    event: Consequence
    causes: frozenset[NodeId]

    @property
    def dead_end(self) -> bool:
        """Whether the node is forgotten unless it feeds a living one: no living attacker is anchored to it."""
        return self.state in DEAD_ENDS and not (self.state == "refuted" and self.cause)

    def known(self, node: Node) -> bool:
        """Return whether the node is in that state, for a cause that still holds."""
        return node.state == self.state and node.cause in self.causes


class _Sight:
    """A graph seen in the light of new labels, which its recorded states do not know of yet."""

    def __init__(self, graph: BeliefGraph, labels: Labels) -> None:
        self.graph = graph
        self.labels = labels
        self._places = {node_id: place for place, node_id in enumerate(labels)}

    def label(self, node_id: NodeId) -> Label:
        return self.labels.get(node_id) or label_of(self.graph.nodes[node_id].state)

    def flips(self, node_id: NodeId) -> bool:
        return self.label(node_id) is not label_of(self.graph.nodes[node_id].state)

    def place(self, node_id: NodeId) -> tuple[int, int]:
        """Return where the node stands among what follows from each other; what was settled before stands first."""
        return self._places.get(node_id, -1), self.graph.nodes[node_id].order

    def critical(self, node_id: NodeId) -> list[NodeId]:
        """Return what the node critically depends on."""
        return list(dict.fromkeys(on for group in justifications(self.graph, node_id).values() for on in group))


def _flip(sight: _Sight, node_id: NodeId) -> _Flip | None:
    """Return the flip that takes a node to its new label or names a new cause, or None where neither changes."""
    node, label = sight.graph.nodes[node_id], sight.label(node_id)
    if label is Label.ALIVE:
        return None if node.alive else _reinstate(sight, node)
    # Whether what is forgotten stays forgotten is decided when all labels are in (Draft._forget).
    if label is Label.DEAD and node.state == "forgotten":
        return None
    flip = _contest(sight, node) if label is Label.CONTESTED else _reason(sight, node)
    return None if flip.known(node) else flip


def _reason(sight: _Sight, node: Node) -> _Flip:
    """Return why a dead node is dead: a living attacker, a retraction, or no justification left."""
    if isinstance(node, Evidence):
        return _killed(sight, node) or _withdrawn(node) or _unjustified(sight, node)
    return _unjustified(sight, node)


def _killed(sight: _Sight, node: Evidence) -> _Flip | None:
    killers = {
        attacker: verdict.relation
        for attacker, verdict in sight.graph.attackers(node.id)
        if sight.label(attacker) is Label.ALIVE
    }
    refuters = frozenset(attacker for attacker, relation in killers.items() if relation == "contradicts")
    by = min(refuters or killers, key=sight.place, default=None)
    if by is None:
        return None
    if refuters:
        causes = refuters | {""} if node.retracted else refuters
        return _Flip("refuted", by, EvidenceRefuted(evidence_id=node.id, by=by, retracted=False), causes)
    return _Flip("superseded", by, EvidenceSuperseded(evidence_id=node.id, by=by), frozenset(killers))


def _withdrawn(node: Evidence) -> _Flip | None:
    if not node.retracted:
        return None
    return _Flip("refuted", "", EvidenceRefuted(evidence_id=node.id, by="", retracted=True), frozenset([""]))


def _unjustified(sight: _Sight, node: Node) -> _Flip:
    lost = [on for on in sight.critical(node.id) if sight.label(on) is not Label.ALIVE]
    # The cause is what this revision took away first, if it took anything; else the first that is missing.
    because = min((on for on in lost if sight.graph.nodes[on].alive), key=sight.place, default=lost[0])
    event: Consequence
    if isinstance(node, Conclusion):
        event = ConclusionInvalidated(conclusion_id=node.id, because=because, lost=tuple(lost))
    else:
        event = EvidenceInvalidated(evidence_id=node.id, because=because, lost=tuple(lost))
    return _Flip("invalidated", because, event, frozenset(lost))


def _contest(sight: _Sight, node: Node) -> _Flip:
    attackers = [a for a, _ in sight.graph.attackers(node.id)]
    open_ = {n for n in (*attackers, *sight.critical(node.id)) if sight.label(n) is Label.CONTESTED}
    over = tuple(sorted(open_, key=lambda n: sight.graph.nodes[n].order))
    event = NodeContested(node_id=node.id, node_kind=node.kind, over=over)
    return _Flip("contested", over[0], event, frozenset(over))


def _reinstate(sight: _Sight, node: Node) -> _Flip:
    """Return the reinstatement, caused by the attacker that fell or the dependency that came back.

    Where nothing did, it was a new dependency; or else the old cause that has no hold on the node any more.
    """
    attackers, critical = [a for a, _ in sight.graph.attackers(node.id)], sight.critical(node.id)
    earlier = [n for n in (*attackers, *critical) if sight.flips(n) and sight.place(n) < sight.place(node.id)]
    living = [n for n in critical if sight.label(n) is Label.ALIVE and sight.place(n) < sight.place(node.id)]
    if node.cause in earlier:
        because = node.cause
    elif earlier:
        because = min(earlier, key=sight.place)
    elif node.cause in critical and living:
        because = living[0]
    else:
        because = node.cause
    event = NodeReinstated(node_id=node.id, node_kind=node.kind, because=because, was=node.state)
    return _Flip("alive", because, event, frozenset([because]))


def _in_cascade_order(flips: dict[NodeId, _Flip]) -> list[Consequence]:
    """Return the flips with each after the one that it names as its cause, and else in their order."""
    caused: dict[NodeId, list[NodeId]] = {}
    for node_id, flip in flips.items():
        caused.setdefault(flip.cause, []).append(node_id)
    placed: dict[NodeId, None] = {}
    queue = deque(node_id for node_id, flip in flips.items() if flip.cause not in flips)
    rest = iter(flips)
    while len(placed) < len(flips):
        if not queue:  # what no walk has reached is caused by its own consequences: a loop, and it starts somewhere
            queue.append(next(n for n in rest if n not in placed))
        node_id = queue.popleft()
        if node_id not in placed:
            placed[node_id] = None
            queue.extend(caused.get(node_id, ()))
    return [flips[node_id].event for node_id in placed]


# --- hypotheses ------------------------------------------------------------------------------------------


def _rating(*, supports: int, living: int, contested: int, rivals: bool) -> TruthState:
    """Return the state of a hypothesis: superseded when all support died and a rival's has not."""
    if living or not supports or not rivals:
        return "alive"
    return "contested" if contested else "superseded"


def _rated(graph: BeliefGraph, hypothesis: Hypothesis) -> TruthState:
    question = graph.nodes[hypothesis.question_id]
    return _rating(
        supports=hypothesis.supports,
        living=hypothesis.living,
        contested=hypothesis.contested,
        rivals=isinstance(question, Question) and question.supported > 0,
    )


def _expected_ratings(graph: BeliefGraph, labels: Labels) -> dict[NodeId, TruthState]:
    hypotheses = [node for node in graph.nodes.values() if isinstance(node, Hypothesis)]
    supports = {h.id: [labels[evidence_id] for evidence_id in _supporters(graph, h.id)] for h in hypotheses}
    supported = {h.question_id for h in hypotheses if Label.ALIVE in supports[h.id]}
    return {
        h.id: _rating(
            supports=len(supports[h.id]),
            living=supports[h.id].count(Label.ALIVE),
            contested=supports[h.id].count(Label.CONTESTED),
            rivals=h.question_id in supported,
        )
        for h in hypotheses
    }


def _supporters(graph: BeliefGraph, hypothesis_id: NodeId) -> list[NodeId]:
    return [w.evidence_id for w in graph.weighed_by.of(hypothesis_id) if w.stance == "supports"]


def _revived(graph: BeliefGraph, hypothesis: Hypothesis) -> NodeReinstated:
    living = (evidence_id for evidence_id in _supporters(graph, hypothesis.id) if graph.nodes[evidence_id].alive)
    return NodeReinstated(
        node_id=hypothesis.id, node_kind=hypothesis.kind, because=next(living, ""), was=hypothesis.state
    )


def _overcome(graph: BeliefGraph, hypothesis: Hypothesis, rival: NodeId) -> Consequence | None:
    """Return what changes about a hypothesis that does not live: its state, or what its state is owed to."""
    state = _rated(graph, hypothesis)
    if state == hypothesis.state and _still_owed(graph, hypothesis):
        return None
    if state == "superseded":
        return HypothesisSuperseded(hypothesis_id=hypothesis.id, by=rival)
    over = tuple(e for e in _supporters(graph, hypothesis.id) if graph.nodes[e].state == "contested")
    return NodeContested(node_id=hypothesis.id, node_kind=hypothesis.kind, over=over)


def _best_supported(graph: BeliefGraph, question_id: NodeId) -> NodeId:
    """Return the best of the hypotheses that have living support."""
    ranks = graph.ranks.of(question_id)
    best = max(ranks)
    return (best if best.supported else max(rank for rank in ranks if rank.supported)).hypothesis_id


def _still_owed(graph: BeliefGraph, hypothesis: Hypothesis) -> bool:
    """Return whether the recorded cause still holds: the rival has living support, the support is still contested."""
    cause = graph.nodes[hypothesis.cause]
    return cause.living > 0 if isinstance(cause, Hypothesis) else cause.state == "contested"


# --- forgetting ------------------------------------------------------------------------------------------


def _dead_below(graph: BeliefGraph, candidates: Iterable[NodeId]) -> list[NodeId]:
    """Return the dead nodes among the candidates and beneath them, consumers before what they rest on.

    A living node on the way down ends the walk: it feeds whatever is beneath it, before the change and after.
    """
    found: dict[NodeId, None] = {}
    queue = list(dict.fromkeys(candidates))
    seen = set(queue)
    for node_id in queue:  # grows while it is walked
        node = graph.nodes[node_id]
        if isinstance(node, Evidence | Conclusion) and label_of(node.state) is Label.DEAD:
            found[node_id] = None
        for dependency in graph.depends.of(node_id):
            on = dependency.on_id
            if on not in seen and not graph.nodes[on].alive:
                seen.add(on)
                queue.append(on)
    return list(found)


def _fed(graph: BeliefGraph, nodes: Iterable[NodeId], lives: Callable[[NodeId], bool]) -> set[NodeId]:
    """Return those nodes, and those above them, that a living node reaches."""
    above = dict.fromkeys(nodes)
    fed: dict[NodeId, None] = {}
    queue = deque(above)
    while queue:
        node_id = queue.popleft()
        for consumer in _consumers(graph, node_id):
            if lives(consumer):
                fed[node_id] = None
                break
            if consumer not in above:
                above[consumer] = None
                queue.append(consumer)
    queue = deque(fed)
    while queue:
        for dependency in graph.depends.of(queue.popleft()):
            on = dependency.on_id
            if on in above and on not in fed:
                fed[on] = None
                queue.append(on)
    return set(fed)


def _consumers(graph: BeliefGraph, node_id: NodeId) -> Iterator[NodeId]:
    for dependency in graph.dependents.of(node_id):
        yield dependency.node_id
    for weight in graph.weighs.of(node_id):
        if weight.stance == "supports":
            yield weight.hypothesis_id
