"""What Cognee's recall runs for GRAPH_COMPLETION here: the living beliefs nearest to a query, and their reasons."""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import orjson

from projections.cognee.state import EMBEDDED, Fields

_ALIVE = ["alive"]
_SHOWN = 5
"""Reasons shown with one belief."""


@dataclass(slots=True)
class Belief:
    """A living node, how near it is, and the living nodes that it rests on or that speak for and against it."""

    fields: Fields
    type: str
    distance: float
    rests_on: list[Fields] = field(default_factory=list)
    supports: list[Fields] = field(default_factory=list)
    refutes: list[Fields] = field(default_factory=list)

    def text(self) -> str:
        """Return the belief as a passage of context."""
        fields = self.fields
        match self.type:
            case "Evidence":
                return _cited(fields)
            case "Hypothesis":
                head = f"Hypothesis: {fields['statement']}"
                head += "" if self.supports else " (nothing that lives supports it)"
                reasons = [*_reasons("Supported by", self.supports), *_reasons("Spoken against by", self.refutes)]
                return " ".join([f"{head}.", *reasons])
            case "Conclusion":
                head = f"Conclusion: {fields['statement']} (confidence {fields['confidence']:.2f})."
                return " ".join([head, *_reasons("Rests on", self.rests_on)])
            case _:
                return f"Question: {fields['text']}"


def _cited(evidence: Fields) -> str:
    if "claim" not in evidence:
        return str(evidence["text"])
    origin = ", ".join(part for part in (evidence["source_title"], evidence["asserted_at"]) if part)
    return f"{evidence['claim']} ({origin})" if origin else str(evidence["claim"])


def _reasons(what: str, nodes: Iterable[Fields]) -> list[str]:
    shown = [_cited(fields) for fields in nodes][:_SHOWN]
    return [f"{what}: {'; '.join(shown)}."] if shown else []


@cache
def belief_retriever() -> Any:
    """Return the retriever. It never serves what does not live, whatever it is asked to filter by."""
    from cognee.infrastructure.databases.graph import get_graph_engine
    from cognee.infrastructure.databases.vector import get_vector_engine_async
    from cognee.infrastructure.databases.vector.exceptions import CollectionNotFoundError
    from cognee.modules.retrieval.graph_completion_retriever import GraphCompletionRetriever
    from cognee.modules.search.models.EvidenceReference import EvidenceReference

    known = set(inspect.signature(GraphCompletionRetriever.__init__).parameters)

    class BeliefRetriever(GraphCompletionRetriever):  # type: ignore[misc]  # Cognee is not type-checked here
        """Living beliefs by distance, from all collections, each with its living reasons."""

        supports_prompt_preview = False
        supports_session_turn_preparation = False

        def __init__(self, **options: Any) -> None:
            super().__init__(**{name: value for name, value in options.items() if name in known})

        async def get_retrieved_objects(self, query: str | None = None, query_batch: Any = None) -> list[Belief]:
            """Return the nearest living beliefs."""
            if query_batch:
                raise NotImplementedError("beliefs are recalled one query at a time")
            vectors = await get_vector_engine_async()
            (vector,) = await vectors.embed_data([query])
            distances: dict[str, float] = {}
            for kind, name in EMBEDDED.items():
                try:
                    hits = await vectors.search(
                        f"{kind}_{name}", query_vector=vector, limit=self.top_k, node_name=_ALIVE
                    )
                except CollectionNotFoundError:
                    continue  # a store that holds no beliefs
                distances.update((str(hit.id), hit.score) for hit in hits)
            nearest = sorted(distances, key=lambda node: (distances[node], node))[: self.top_k]
            return await _beliefs(await get_graph_engine(), nearest, distances)

        async def get_context_from_objects(
            self,
            query: str | None = None,  # noqa: ARG002  # Cognee's signature
            query_batch: Any = None,  # noqa: ARG002  # Cognee's signature
            retrieved_objects: Any = None,
        ) -> list[str]:
            """Return one passage for each belief."""
            return [belief.text() for belief in retrieved_objects or []]

        async def get_completion_from_context(
            self,
            query: str | None = None,
            query_batch: Any = None,  # noqa: ARG002  # Cognee's signature
            retrieved_objects: Any = None,
            context: list[str] | None = None,
            **turn: Any,
        ) -> list[Any]:
            """Return what Cognee's model makes of the passages."""
            answers: list[Any] = await super().get_completion_from_context(
                query=query, retrieved_objects=retrieved_objects, context="\n".join(context or []), **turn
            )
            return answers

        def get_context_evidence(
            self,
            retrieved_objects: Any,
            dataset_id: Any = None,  # noqa: ARG002  # Cognee's signature
        ) -> list[Any]:
            """Return a reference for each belief, in the order of the context; the label is Falsify's id."""
            return [
                EvidenceReference(
                    kind="graph_node",
                    artifact_id=belief.fields["id"],
                    label=belief.fields["node_id"],
                    rank=rank,
                    score=belief.distance,
                )
                for rank, belief in enumerate(retrieved_objects or [])
            ]

        def extract_context_object_ids(self, retrieved_objects: Any) -> dict[str, list[str]]:
            """Return the ids of the nodes for Cognee's session memory."""
            return {"node_ids": [belief.fields["id"] for belief in retrieved_objects or []], "edge_ids": []}

    return BeliefRetriever


async def _beliefs(graph: Any, nearest: list[str], distances: dict[str, float]) -> list[Belief]:
    """Return the nodes that live by the graph too, with their living neighbours."""
    ids = {"ids": nearest}
    nodes = await graph.query("UNWIND $ids AS i MATCH (n:Node {id: i}) RETURN n.id, n.type, n.properties", ids)
    found = {
        node: Belief({**orjson.loads(properties), "id": node}, kind, distances[node])
        for node, kind, properties in nodes
    }
    living = {node: belief for node, belief in found.items() if _lives(belief.fields)}
    rests_on = await graph.query(
        "UNWIND $ids AS i MATCH (a:Node {id: i})-[r:EDGE]->(b:Node) WHERE r.relationship_name = 'depends_on' "
        "RETURN a.id, b.properties",
        ids,
    )
    weighed = await graph.query(
        "UNWIND $ids AS i MATCH (a:Node)-[r:EDGE]->(b:Node {id: i}) "
        "WHERE r.relationship_name IN ['supports', 'refutes'] "
        "RETURN b.id, a.properties, r.relationship_name, r.properties",
        ids,
    )
    for node, properties in rests_on:
        other = orjson.loads(properties)
        if node in living and _lives(other):
            living[node].rests_on.append(other)
    ranked = sorted(((orjson.loads(edge)["weight"], *row) for *row, edge in weighed), key=lambda row: -row[0])
    for _, node, properties, relation in ranked:
        other = orjson.loads(properties)
        if node in living and _lives(other):
            getattr(living[node], relation).append(other)
    return [living[node] for node in nearest if node in living]


def _lives(fields: Fields) -> bool:
    return fields.get("truth_alignment") == _ALIVE
