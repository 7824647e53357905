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
    return _solve(graph, {n.id: None for n in graph.nodes.values() if isinstance(n, Evidence | Conclusion)})


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

    def __init__(self, graph: BeliefGraph, region: dict[NodeId, None]) -> None:
        self.graph = graph
        self.labels: dict[NodeId, Label | None] = dict.fromkeys(region)
        self.attackers: dict[NodeId, int] = {}
        self.groups: dict[NodeId, dict[str, list[NodeId]]] = {}
        self.missing: dict[tuple[NodeId, str], int] = {}
        self.justified_by: dict[NodeId, list[tuple[NodeId, str]]] = {}
        self.victims: dict[NodeId, list[NodeId]] = {}
        self.settled: deque[NodeId] = deque()
        for node_id in region:
            self._open(graph.nodes[node_id])

    def outside(self, node_id: NodeId) -> Label | None:
        """Return the label of a node that is settled, or None while it is open."""
        if node_id in self.labels:
            return self.labels[node_id]
        return label_of(self.graph.nodes[node_id].state)

    def _open(self, node: Node) -> None:
        node_id = node.id
        groups = justifications(self.graph, node_id)
        needed = bool(groups)
        for name, members in list(groups.items()):
            given = [None if m in self.labels else self.outside(m) for m in members]
            if Label.DEAD in given:
                del groups[name]
                continue
            self.missing[node_id, name] = sum(label is not Label.ALIVE for label in given)
            for member, label in zip(members, given, strict=True):
                if label is None:
                    self.justified_by.setdefault(member, []).append((node_id, name))
        self.groups[node_id] = groups
        attackers = 0
        doomed = (needed and not groups) or (isinstance(node, Evidence) and node.retracted)
        if isinstance(node, Evidence):
            for attacker, _ in self.graph.attackers(node_id):
                label = None if attacker in self.labels else self.outside(attacker)
                doomed = doomed or label is Label.ALIVE
                attackers += label is not Label.DEAD
                if label is None:
                    self.victims.setdefault(attacker, []).append(node_id)
        self.attackers[node_id] = attackers
        if not needed:
            self.groups[node_id] = {"": []}
            self.missing[node_id, ""] = 0
        if doomed:
            self.settle(node_id, Label.DEAD)
        else:
            self.maybe_alive(node_id)

    def settle(self, node_id: NodeId, label: Label) -> None:
        if self.labels[node_id] is None:
            self.labels[node_id] = label
            self.settled.append(node_id)

    def maybe_alive(self, node_id: NodeId) -> None:
        if self.attackers[node_id] == 0 and any(self.missing[node_id, g] == 0 for g in self.groups[node_id]):
            self.settle(node_id, Label.ALIVE)

    def propagate(self) -> None:
        """Carry every settled label to the nodes that it decides."""
        while self.settled:
            node_id = self.settled.popleft()
            alive = self.labels[node_id] is Label.ALIVE
            for victim in self.victims.get(node_id, ()):
                if alive:
                    self.settle(victim, Label.DEAD)
                else:
                    self.attackers[victim] -= 1
                    self.maybe_alive(victim)
            for dependent, group in self.justified_by.get(node_id, ()):
                if alive:
                    self.missing[dependent, group] -= 1
                    self.maybe_alive(dependent)
                elif self.groups[dependent].pop(group, None) is not None and not self.groups[dependent]:
                    self.settle(dependent, Label.DEAD)

    def unfounded(self) -> list[NodeId]:
        """Return the open nodes that could live only by supporting each other."""
        missing = {
            (node_id, group): sum(self.labels.get(m) is None and m in self.labels for m in members)
            for node_id, label in self.labels.items()
            if label is None
            for group, members in self.groups[node_id].items()
        }
        founded = {node_id for (node_id, _), count in missing.items() if count == 0}
        queue = deque(founded)
        while queue:
            for key in self.justified_by.get(queue.popleft(), ()):
                if key in missing:
                    missing[key] -= 1
                    if missing[key] == 0 and key[0] not in founded:
                        founded.add(key[0])
                        queue.append(key[0])
        return [n for n, label in self.labels.items() if label is None and n not in founded]


def _solve(graph: BeliefGraph, nodes: dict[NodeId, None]) -> Labels:
    region = _Region(graph, nodes)
    while True:
        region.propagate()
        loops = region.unfounded()
        if not loops:
            break
        for node_id in loops:
            region.settle(node_id, Label.DEAD)
    return {node_id: label or Label.CONTESTED for node_id, label in region.labels.items()}
