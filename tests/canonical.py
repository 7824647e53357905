"""A belief graph as plain data, so that two graphs can be compared whole."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from falsify.belief.graph import BeliefGraph, Table


def canonical(graph: BeliefGraph) -> dict[str, Any]:
    """Return everything the graph holds; equal graphs have equal dicts, the order of edges included.

    It goes by the graph's own attributes, so that what is added to the graph is compared from its first day on. The
    graph must be whole: a branch holds only its own changes.
    """
    return {name: _plain(value) for name, value in vars(graph).items()}


def _plain(value: Any) -> Any:
    match value:
        case Table():
            assert value._below is None, "a branch cannot be compared"
            return {key: list(rows.items()) for key, rows in value._rows.items() if rows}
        case Mapping():
            return {key: _plain(found) for key, found in value.items()}
        case _ if hasattr(value, "__dataclass_fields__"):
            return {"type": type(value).__name__, **asdict(value)}
        case _:
            return value
