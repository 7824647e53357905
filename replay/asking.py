"""What recall says of graphs of the past: the same vectors, the truth-states of the point asked about."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from falsify.belief.graph import BeliefGraph, Question
from falsify.events import NodeId
from falsify.ports import Embedder
from projections.beliefs import Recall, may_be_cited, recall

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from projections.claims import VectorTable

FARTHEST = 2.0
"""Above every cosine distance."""


class Asker:
    """Answers queries over any prefix of a log, given the graph of the whole; embeds nothing before it is asked."""

    def __init__(self, whole: BeliefGraph, embedder: Embedder | None = None) -> None:
        self._whole = whole
        self._given = embedder

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder given, or else the bundled one."""
        if self._given is not None:
            return self._given
        from falsify.embedders.bundled import BundledEmbedder  # most goldens never ask

        return BundledEmbedder()

    def recall(self, graph: BeliefGraph, query: str, *, limit: int) -> Recall:
        """Return what may be cited in answer to a query, by the truth-states of `graph`."""
        admit = partial(may_be_cited, graph)
        return recall(graph, self._table.search(query, limit=limit, within=FARTHEST, admit=admit))

    def nearest(self, graph: BeliefGraph, query: str, *, limit: int) -> list[NodeId]:
        """Return the nodes of `graph` nearest to a query, whatever their state, the forgotten too."""
        found = self._table.search(query, limit=limit, within=FARTHEST, admit=lambda n: n in graph.nodes)
        return [hit.node_id for hit in found]

    def distances(self, query: str, node_ids: Sequence[NodeId]) -> list[float]:
        """Return the cosine distance from a query to each of the nodes."""
        return self._table.distances(query, node_ids)

    @cached_property
    def _table(self) -> "VectorTable":
        from projections.claims import VectorTable  # numpy, for those who ask

        nodes = [node for node in self._whole.nodes.values() if not isinstance(node, Question)]
        table = VectorTable(_Remembering(self.embedder))
        if nodes:
            table.put([node.id for node in nodes], self.embedder.embed([node.text for node in nodes]))
        return table


class _Remembering:
    """An embedder that is asked the same queries again and again, once for each point of the log."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self.threshold = embedder.threshold
        self._embedder = embedder
        self._known: dict[tuple[str, ...], NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row for each text."""
        key = tuple(texts)
        if key not in self._known:
            self._known[key] = self._embedder.embed(texts)
        return self._known[key]
