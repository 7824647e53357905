"""Which claims fill which slot: for the first gate, and for answers. Read from the graph's texts, and kept nowhere.

Adding a claim costs the same however many there are. Claims that died or were forgotten stay: where what killed them
falls, they must not come back unexamined.
"""

from collections.abc import Iterable, Iterator

from falsify.belief.graph import BeliefGraph, Evidence
from falsify.belief.slots import AS_WORDED, Arity, Slot, slot
from falsify.events import NodeId


class SlotIndex:
    """Claims by slot and by subject."""

    def __init__(self, arity: Arity = AS_WORDED) -> None:
        self.arity = arity
        self._known: dict[NodeId, Slot | None] = {}
        self._filling: dict[tuple[str, str], list[NodeId]] = {}
        self._about: dict[str, list[NodeId]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def read(self, graph: BeliefGraph, node_ids: Iterable[NodeId]) -> None:
        """Take in those of the nodes that are claims; what was read before is passed over."""
        for node_id in node_ids:
            node = graph.nodes.get(node_id)
            if node_id not in self._known and isinstance(node, Evidence):
                self._put(node_id, slot(node.text, self.arity))

    def over(self, graph: BeliefGraph) -> "SlotIndex":
        """Return an index of another graph's claims, with what is known of them here."""
        index = SlotIndex(self.arity)
        for node_id, node in graph.nodes.items():
            if isinstance(node, Evidence):
                known = self._known.get(node_id)
                index._put(node_id, known or slot(node.text, self.arity))
        return index

    def rivals(self, text: str) -> list[NodeId]:
        """Return the claims in the functional slot that a text fills, in the order they came."""
        filled = slot(text, self.arity)
        return list(self._filling.get(filled.key, ())) if filled and filled.functional else []

    def __contains__(self, subject: str) -> bool:
        return subject in self._about

    def about(self, subject: str) -> Iterator[tuple[NodeId, Slot]]:
        """Yield what is claimed of a subject, in the order it came."""
        for node_id in self._about.get(subject, ()):
            filled = self._known[node_id]
            if filled is not None:
                yield node_id, filled

    def _put(self, node_id: NodeId, filled: Slot | None) -> None:
        self._known[node_id] = filled
        if filled is not None:
            self._filling.setdefault(filled.key, []).append(node_id)
            self._about.setdefault(filled.subject, []).append(node_id)
