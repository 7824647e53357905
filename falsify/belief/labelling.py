"""Truth as a fixpoint: the well-founded labelling of evidence and conclusions.

Dung's grounded semantics for the attacks joined with a JTMS for the dependencies. A node is ALIVE when no attacker
can live and a justification lives, DEAD when an attacker lives or no well-founded justification is left, and
CONTESTED when neither follows. The result does not depend on the order in which things were recorded.

Sources: P. M. Dung, "On the acceptability of arguments", Artificial Intelligence 77 (1995); A. Van Gelder,
K. A. Ross, J. S. Schlipf, "The well-founded semantics for general logic programs", JACM 38 (1991).
"""

from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum

from falsify.belief.events import TruthState
from falsify.belief.graph import BeliefGraph, Conclusion, Evidence, Node
from falsify.events import NodeId


class Label(Enum):
    """Whether a node lives; its truth-state also says why not."""

    ALIVE = "alive"
    DEAD = "dead"
    CONTESTED = "contested"


Labels = dict[NodeId, Label]
"""Labels in the order in which they follow from each other; those that do not follow, the contested ones, last."""


def label_of(state: TruthState) -> Label:
    """Return what a recorded truth-state means for the nodes that rest on it."""
    return Label.ALIVE if state == "alive" else Label.CONTESTED if state == "contested" else Label.DEAD


def relabel(graph: BeliefGraph, changed: Iterable[NodeId]) -> Labels:
    """Return the labels of every evidence and conclusion that a change at `changed` can reach.

    Nodes outside that forward closure keep the label of their recorded state, which is taken as given: the
    well-founded model of a program splits along its dependencies.
    """
    return _solve(graph, closure(graph, changed))


def label_all(graph: BeliefGraph) -> Labels:
    """Return the label of every evidence and conclusion, computed from nothing but edges and retractions."""
    return _solve(graph, [n.id for n in graph.nodes.values() if isinstance(n, Evidence | Conclusion)])


def closure(graph: BeliefGraph, changed: Iterable[NodeId]) -> dict[NodeId, None]:
    """Return `changed` and whatever attacks and dependencies lead to from there, in breadth-first order."""
    reached = dict.fromkeys(changed)
    queue = deque(reached)
    while queue:
        for node_id in _outgoing(graph, queue.popleft()):
            if node_id not in reached:
                reached[node_id] = None
                queue.append(node_id)
    return reached


def justifications(graph: BeliefGraph, node_id: NodeId) -> dict[str, list[NodeId]]:
    """Return the sets of critical dependencies that each suffice on their own; none means none is needed."""
    groups: dict[str, list[NodeId]] = {}
    for dependency in graph.depends.of(node_id):
        if dependency.critical:
            # A leading NUL keeps the name of a lone dependency apart from every name a person can give a group.
            groups.setdefault(dependency.group or f"\0{dependency.on_id}", []).append(dependency.on_id)
    return groups


def _outgoing(graph: BeliefGraph, node_id: NodeId) -> Iterator[NodeId]:
    for dependency in graph.dependents.of(node_id):
        if dependency.critical:
            yield dependency.node_id
    yield from graph.victims(node_id)


class _Region:
    """The nodes to be labelled, with counters of what still keeps each of them open."""

    def __init__(self, graph: BeliefGraph, region: list[NodeId]) -> None:
        self.graph = graph
        self.labels: dict[NodeId, Label | None] = dict.fromkeys(region)
        self.attackers: dict[NodeId, int] = {}
        self.victims: dict[NodeId, list[NodeId]] = {}
        self.groups: dict[NodeId, dict[str, list[NodeId]]] = {}
        self.missing: dict[tuple[NodeId, str], int] = {}
        self.justified: set[NodeId] = set()
        self.justifies: dict[NodeId, list[tuple[NodeId, str]]] = {}
        self.settled: list[NodeId] = []
        self.carried = 0
        for node_id in region:
            self._open(graph.nodes[node_id])
        self.suspects: list[NodeId] = [n for n in region if self.groups[n]]

    def settle(self, node_id: NodeId, label: Label) -> None:
        """Give an open node its label."""
        if self.labels[node_id] is None:
            self.labels[node_id] = label
            self.settled.append(node_id)

    def propagate(self) -> None:
        """Carry every settled label to the nodes that it decides."""
        while self.carried < len(self.settled):
            node_id = self.settled[self.carried]
            self.carried += 1
            alive = self.labels[node_id] is Label.ALIVE
            for victim in self.victims.get(node_id, ()):
                if alive:
                    self.settle(victim, Label.DEAD)
                else:
                    self.attackers[victim] -= 1
                    self._settle_if_alive(victim)
            for dependent, group in self.justifies.get(node_id, ()):
                if alive:
                    self._gain(dependent, group)
                else:
                    self._lose(dependent, group)

    def unfounded(self) -> list[NodeId]:
        """Return the open nodes that could live only by supporting each other.

        Only nodes that lost a justification since the last search, and what rests on them, can have become such.
        """
        suspects = self._open_above(self.suspects)
        self.suspects = []
        missing = {
            (node_id, group): sum(member in suspects for member in members)
            for node_id in suspects
            for group, members in self.groups[node_id].items()
        }
        founded = dict.fromkeys(node_id for (node_id, _), count in missing.items() if count == 0)
        queue = deque(founded)
        while queue:
            for key in self.justifies.get(queue.popleft(), ()):
                if key in missing:
                    missing[key] -= 1
                    if missing[key] == 0 and key[0] not in founded:
                        founded[key[0]] = None
                        queue.append(key[0])
        return [node_id for node_id in suspects if node_id not in founded]

    def _open(self, node: Node) -> None:
        groups = justifications(self.graph, node.id)
        if not groups:
            self.justified.add(node.id)
        self.groups[node.id] = {name: on for name, on in groups.items() if not any(map(self._dead_outside, on))}
        for name, members in self.groups[node.id].items():
            inside = [member for member in members if member in self.labels]
            for member in inside:
                self.justifies.setdefault(member, []).append((node.id, name))
            self.missing[node.id, name] = len(inside) + sum(map(self._contested_outside, members))
            if not self.missing[node.id, name]:
                self.justified.add(node.id)
        attackers = [a for a, _ in self.graph.attackers(node.id)] if isinstance(node, Evidence) else []
        for attacker in attackers:
            if attacker in self.labels:
                self.victims.setdefault(attacker, []).append(node.id)
        self.attackers[node.id] = sum(not self._dead_outside(attacker) for attacker in attackers)
        retracted = isinstance(node, Evidence) and node.retracted
        if retracted or (groups and not self.groups[node.id]) or any(map(self._alive_outside, attackers)):
            self.settle(node.id, Label.DEAD)
        else:
            self._settle_if_alive(node.id)

    def _outside(self, node_id: NodeId, label: Label) -> bool:
        return node_id not in self.labels and label_of(self.graph.nodes[node_id].state) is label

    def _alive_outside(self, node_id: NodeId) -> bool:
        return self._outside(node_id, Label.ALIVE)

    def _dead_outside(self, node_id: NodeId) -> bool:
        return self._outside(node_id, Label.DEAD)

    def _contested_outside(self, node_id: NodeId) -> bool:
        return self._outside(node_id, Label.CONTESTED)

    def _settle_if_alive(self, node_id: NodeId) -> None:
        if self.attackers[node_id] == 0 and node_id in self.justified:
            self.settle(node_id, Label.ALIVE)

    def _gain(self, node_id: NodeId, group: str) -> None:
        self.missing[node_id, group] -= 1
        if self.missing[node_id, group] == 0:
            self.justified.add(node_id)
            self._settle_if_alive(node_id)

    def _lose(self, node_id: NodeId, group: str) -> None:
        if self.groups[node_id].pop(group, None) is not None:
            self.suspects.append(node_id)
            if not self.groups[node_id]:
                self.settle(node_id, Label.DEAD)

    def _open_above(self, start: Iterable[NodeId]) -> dict[NodeId, None]:
        """Return the open nodes among `start` and those that may rest on them."""
        reached = dict.fromkeys(n for n in start if self.labels[n] is None)
        queue = deque(reached)
        while queue:
            for node_id, group in self.justifies.get(queue.popleft(), ()):
                if node_id not in reached and self.labels[node_id] is None and group in self.groups[node_id]:
                    reached[node_id] = None
                    queue.append(node_id)
        return reached


def _solve(graph: BeliefGraph, nodes: Iterable[NodeId]) -> Labels:
    region = _Region(graph, sorted(nodes, key=lambda n: graph.nodes[n].order))
    region.propagate()
    while loops := region.unfounded():
        for node_id in loops:
            region.settle(node_id, Label.DEAD)
        region.propagate()
    open_ = (node_id for node_id, label in region.labels.items() if label is None)
    return {**{n: region.labels[n] or Label.CONTESTED for n in region.settled}, **dict.fromkeys(open_, Label.CONTESTED)}
