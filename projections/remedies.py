"""What would change the state of a belief: what would bring a dead one back, and what would kill a living one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from falsify.belief.events import EvidenceWeighed
from falsify.belief.graph import BeliefGraph, Evidence, Hypothesis, Node
from falsify.belief.labelling import justifications
from falsify.events import NodeId

LONGEST_WAY: Final = 10
"""How many returns a way back names; of a longer one it names the ends."""

_END: Final = 3

_NEW_GROUND: Final = "a new living dependency that suffices on its own"


def remedies(graph: BeliefGraph, node: Node) -> Iterator[str]:
    """Yield what would bring a dead node back, or kill a living one."""
    if node.alive:
        yield from _dangers(graph, node)
    elif isinstance(node, Hypothesis):
        yield f"new living support for {_name(node)}, or the return of any support it lost"
    else:
        yield from _returns(graph, node)


# --- what would bring it back ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Loss:
    """What would bring one dead node back: `cure` for what befell the node itself, and the return of what it `lost`."""

    cure: str
    lost: tuple[NodeId, ...]


def _returns(graph: BeliefGraph, node: Node) -> Iterator[str]:
    """Yield what would bring a dead node back, each remedy down to the facts at the end of it."""

    @cache
    def loss(node_id: NodeId) -> _Loss:
        lost = dict.fromkeys(on for group in _lost(graph, node_id) for on in group)
        return _Loss(_cure(graph, graph.nodes[node_id]), tuple(lost))

    def told(on: NodeId) -> str:
        way, end = _way_back(loss, node.id, on)
        return _told([_name(graph.nodes[each]) for each in way], end)

    if cure := _cure(graph, node):
        yield cure
    lost = _lost(graph, node.id)
    yield from dict.fromkeys(", together with ".join(map(told, group)) for group in lost)
    if lost:
        yield _NEW_GROUND


def _way_back(loss: Callable[[NodeId], _Loss], start: NodeId, on: NodeId) -> tuple[list[NodeId], str]:
    """Return the nodes of which each returns when the next one does, and what brings back the last of them."""
    way, seen = [on], {start, on}
    while not loss(way[-1]).cure:
        below = next((each for each in loss(way[-1]).lost if each not in seen), None)
        if below is None:  # a loop: neither of its nodes can bring the other back
            return way, _NEW_GROUND if loss(way[-1]).lost else ""
        seen.add(below)
        way.append(below)
    return way, loss(way[-1]).cure


def _cure(graph: BeliefGraph, node: Node) -> str:
    """Return what would undo what befell the node itself, whatever it rests on; "" where nothing did."""
    if not isinstance(node, Evidence):
        return ""
    attackers = (graph.nodes[attacker] for attacker, _ in graph.attackers(node.id))
    falls = [f"the fall of {_name(each)}" for each in attackers if each.state in {"alive", "contested"}]
    needed = [f"{fall}: retract it, or record a fact that refutes it" for fall in falls]
    if node.retracted:
        needed.append(f"a source standing by it again: `falsify retract {_name(node)} --restore`")
    return "; together with ".join(needed)


def _lost(graph: BeliefGraph, node_id: NodeId) -> list[list[NodeId]]:
    """Return what has to return of each justification of a node: all of one, if any has lost something."""
    groups = justifications(graph, node_id).values()
    return [lost for group in groups if (lost := [on for on in group if not graph.nodes[on].alive])]


def _told(names: list[str], end: str) -> str:
    """Return a way back in words, in the middle of a long one how many more returns it takes."""
    returns = [f"the return of {name}" for name in names]
    if len(names) > LONGEST_WAY:
        returns[_END:-_END] = [f"{len(names) - 2 * _END:,} more returns"]
    return ", through ".join([*returns, end] if end else returns)


# --- what would kill it ---------------------------------------------------------------------------------------


def _dangers(graph: BeliefGraph, node: Node) -> Iterator[str]:
    if isinstance(node, Hypothesis):
        supports = [w for w in graph.weighed_by.of(node.id) if _supports(graph, w)]
        names = ", ".join(_name(graph.nodes[w.evidence_id]) for w in supports)
        if supports:
            together = "the death of" if len(supports) == 1 else "the death of all of"
            yield f"{together} {names}, while a rival keeps living support"
        else:
            yield "nothing yet: it has no support to lose"
        return
    if isinstance(node, Evidence):
        strength = node.strength
        dated = f" and newer than {strength.asserted_at}" if strength.asserted_at else ""
        yield f"a contradicting fact from a source trusted more than {strength.trust:g}, or as much{dated}"
        yield "every source withdrawing it"
    groups = justifications(graph, node.id)
    living = [g for g in groups.values() if all(graph.nodes[on].alive for on in g)]
    if living:
        parts = [" or ".join(_name(graph.nodes[on]) for on in group) for group in living]
        yield "the death of " + " together with ".join(f"({p})" if " or " in p else p for p in parts)


def _supports(graph: BeliefGraph, weight: EvidenceWeighed) -> bool:
    return weight.stance == "supports" and graph.nodes[weight.evidence_id].alive


def _name(node: Node) -> str:
    return node.handle or node.id
