"""What changed between two cutoffs."""

from collections.abc import Iterator
from typing import Any

import orjson

from falsify.belief.graph import BeliefGraph
from projections.beliefs import snapshot

_UNTOLD = ("truth_epoch",)


def diff(before: BeliefGraph, after: BeliefGraph) -> dict[str, Any]:
    """Return the nodes and edges that came, went or changed, and for a changed node each field as [before, after].

    An edge whose weight, confidence or criticality changed went and came. Sources are told as [before, after] too.
    """
    return compare(snapshot(before), snapshot(after))


def compare(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the same of two snapshots."""
    old_nodes = {n["id"]: n for n in old["nodes"]}
    new_nodes = {n["id"]: n for n in new["nodes"]}
    old_edges = {_key(e) for e in old["edges"]}
    new_edges = {_key(e) for e in new["edges"]}
    return {
        "epochs": [old["epoch"], new["epoch"]],
        "added": [n for i, n in new_nodes.items() if i not in old_nodes],
        "removed": [n for i, n in old_nodes.items() if i not in new_nodes],
        "changed": [
            {"id": i, "handle": n["handle"], "kind": n["kind"], "text": n["text"], "fields": fields}
            for i, n in new_nodes.items()
            if i in old_nodes and (fields := _changes(old_nodes[i], n))
        ],
        "edges_added": [e for e in new["edges"] if _key(e) not in old_edges],
        "edges_removed": [e for e in old["edges"] if _key(e) not in new_edges],
        "sources": [[o, n] for o, n in _paired(old["sources"], new["sources"]) if o != n],
    }


def _key(edge: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(edge.items()))


def lines(difference: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each thing that differs."""
    before, after = difference["epochs"]
    if before != after:
        yield f"epoch {before} is now {after}"
    for what in ("added", "removed"):
        yield from (f"{node['handle'] or node['id']} was {what}" for node in difference[what])
    for node in difference["changed"]:
        for field, (old, new) in node["fields"].items():
            yield f"{field} of {node['handle'] or node['id']} was {_told(old)}, is {_told(new)}"
    for what in ("edges_added", "edges_removed"):
        done = what.removeprefix("edges_")
        yield from (f"the edge {e['from']} {e['relation']} {e['to']} was {done}" for e in difference[what])
    for old, new in difference["sources"]:
        yield f"source {(new or old)['id']} was {_told(old)}, is {_told(new)}"


def _told(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) else orjson.dumps(value).decode()


def _changes(old: dict[str, Any], new: dict[str, Any]) -> dict[str, list[Any]]:
    fields = dict.fromkeys([*new, *old])
    return {k: [old.get(k), new.get(k)] for k in fields if k not in _UNTOLD and old.get(k) != new.get(k)}


def _paired(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    before = {s["id"]: s for s in old}
    after = {s["id"]: s for s in new}
    return [(before.get(i), after.get(i)) for i in sorted({*before, *after})]
