"""The scoreboard: one question asked twice of the same vectors, with truth-states and without."""

from typing import Any

from falsify.belief.graph import Evidence
from projections.beliefs import cite
from surfaces.workspace import Workspace


def scoreboard(workspace: Workspace, query: str | None, *, limit: int = 3, in_cognee: bool = False) -> dict[str, Any]:
    """Return what Falsify and plain RAG answer; the query is the question itself if none is given.

    Plain RAG cites the nearest claims of the same index without looking at their truth-state; `stale` marks what it
    should not have cited.
    """
    graph = workspace.graph
    query = query or workspace.question().text
    recalled = workspace.recall(query, limit=limit)
    hits = workspace.index.search(query, limit=limit, within=2.0, admit=lambda n: isinstance(graph.nodes[n], Evidence))
    plain = [cite(graph, graph.nodes[h.node_id], h.distance) for h in hits]
    board: dict[str, Any] = {
        "query": query,
        "epoch": graph.epoch,
        "falsify": {
            "frontier": list(recalled.frontier),
            "citations": list(recalled.hits),
            "conflicts": list(recalled.conflicts),
        },
        "plain_rag": {"citations": [{**c, "stale": c["state"] != "alive"} for c in plain]},
    }
    if in_cognee:
        workspace.sync_mirror()
        board["cognee"] = {
            "recall": [answer._asdict() for answer in workspace.mirror.recall(query, limit)],
            "plain_rag": [answer._asdict() for answer in workspace.mirror.rag(query, limit)],
        }
    return board
