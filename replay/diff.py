"""What changed between two cutoffs."""

from typing import Any

from falsify.belief.graph import BeliefGraph
from projections.beliefs import snapshot

_UNTOLD = ("truth_epoch",)


def diff(before: BeliefGraph, after: BeliefGraph) -> dict[str, Any]:
    """Return the nodes and edges that came, went or changed, and for a changed node each field as [before, after]."""
    old, new = snapshot(before), snapshot(after)
    old_nodes = {n["id"]: n for n in old["nodes"]}
    new_nodes = {n["id"]: n for n in new["nodes"]}
    return {
        "epochs": [before.epoch, after.epoch],
        "added": [n for i, n in new_nodes.items() if i not in old_nodes],
        "removed": [n for i, n in old_nodes.items() if i not in new_nodes],
        "changed": [
            {"id": i, "handle": n["handle"], "kind": n["kind"], "text": n["text"], "fields": fields}
            for i, n in new_nodes.items()
            if i in old_nodes and (fields := _changes(old_nodes[i], n))
        ],
        "edges_added": [e for e in new["edges"] if e not in old["edges"]],
        "edges_removed": [e for e in old["edges"] if e not in new["edges"]],
        "sources": [[o, n] for o, n in _paired(old["sources"], new["sources"]) if o != n],
    }


def _changes(old: dict[str, Any], new: dict[str, Any]) -> dict[str, list[Any]]:
    return {k: [old[k], new[k]] for k in new if k not in _UNTOLD and old[k] != new[k]}


def _paired(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    before = {s["id"]: s for s in old}
    after = {s["id"]: s for s in new}
    return [(before.get(i), after.get(i)) for i in sorted({*before, *after})]
