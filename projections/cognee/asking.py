"""Questions put to Cognee's own recall, and its answers as plain values."""

from typing import Any, NamedTuple

from falsify.events import NodeId
from projections.cognee.state import PASSAGES


class Recalled(NamedTuple):
    """A belief, or a passage about it, and the text that a model would have been shown."""

    node_id: NodeId
    text: str


async def beliefs(query: str, top_k: int) -> list[Recalled]:
    """Return the living beliefs nearest to the query (GRAPH_COMPLETION, as `retriever` answers it)."""
    entries = await _recall(query, top_k, "GRAPH_COMPLETION")
    references = entries[0].metadata["evidence"] if entries else []
    return [Recalled(reference["label"], entry.text) for entry, reference in zip(entries, references, strict=True)]


async def passages(query: str, top_k: int) -> list[Recalled]:
    """Return the passages that Cognee's RAG_COMPLETION puts before a model, nearest first, truth-states ignored."""
    from cognee.infrastructure.databases.vector import get_vector_engine_async

    entries = await _recall(query, top_k, "RAG_COMPLETION")
    references = entries[0].metadata["evidence"] if entries else []
    ids = [reference["artifact_id"] for reference in references]
    chunks = {str(c.id): c.payload for c in await (await get_vector_engine_async()).retrieve(PASSAGES, ids)}
    return [Recalled(chunks[i]["source_chunk_id"], chunks[i]["text"]) for i in ids]


async def _recall(query: str, top_k: int, search_type: str) -> list[Any]:
    import cognee
    from cognee.modules.search.types import SearchType

    answer: list[Any] = await cognee.recall(
        query, query_type=SearchType[search_type], only_context=True, include_references=True, top_k=top_k
    )
    return answer
