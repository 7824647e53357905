"""A belief graph as plain data, so that two graphs can be compared whole."""

from dataclasses import asdict
from typing import Any

from falsify.belief.graph import BeliefGraph, Table

_TABLES = ("depends", "dependents", "verdicts", "considered", "weighs", "weighed_by", "hypotheses", "sourced")


def canonical(graph: BeliefGraph) -> dict[str, Any]:
    """Return everything the graph holds; equal graphs have equal dicts, the order of edges included."""
    return {
        "epoch": graph.epoch,
        "assertions": graph.assertions,
        "nodes": [{"kind": node.kind, **asdict(node)} for node in sorted(graph.nodes.values(), key=lambda n: n.order)],
        "sources": {source_id: asdict(graph.sources[source_id]) for source_id in sorted(graph.sources)},
        "handles": {" ".join(key): graph.handles[key] for key in sorted(graph.handles)},
        "edges": {name: _rows(graph, getattr(graph, name)) for name in _TABLES},
    }


def _rows(graph: BeliefGraph, table: Table[Any, Any]) -> dict[str, list[Any]]:
    keys = [*graph.nodes, *graph.sources]
    return {key: [(k, v) for k, v in table.row(key).items()] for key in keys if table.of(key)}
