"""The research graph: slices of it in a fixed order, nodes and edges, JSON-ready."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any

from falsify.belief.graph import BeliefGraph
from falsify.workbench.events import NodeStatus
from falsify.workbench.project import Node, Project
from projections.reproductions import original
from projections.runs import run_row
from projections.soundness import decision_row, measurement_of


def descendants(project: Project, root: str, *, depth: int | None, revision: int) -> Iterator[list[str]]:
    """Yield a node and what was made of it until the revision, generation by generation, `depth` of them below it."""
    generation = [root]
    below = 0
    while generation:
        yield generation
        if below == depth:
            return
        below += 1
        children = chain.from_iterable(project.children.get(node_id, ()) for node_id in generation)
        generation = [child for child in children if project.nodes[child].created_at <= revision]


def ancestors(project: Project, node_id: str, *, depth: int | None) -> Iterator[str]:
    """Yield the parent of a node, its parent, and so on, `depth` of them."""
    above = 0
    while (parent := project.nodes[node_id].parent_id) and above != depth:
        yield parent
        node_id, above = parent, above + 1


def lineage(project: Project, focus: str, *, depth: int | None, revision: int) -> Iterator[list[str]]:
    """Yield a node and its ancestors and descendants, the nearest first and the ancestor before the descendants."""
    above = chain([[]], ([each] for each in ancestors(project, focus, depth=depth)))
    below = descendants(project, focus, depth=depth, revision=revision)
    for up, down in zip_longest(above, below, fillvalue=()):
        yield [*up, *down]


def chosen(
    project: Project, generations: Iterator[list[str]], statuses: Collection[NodeStatus], revision: int
) -> list[str]:
    """Return the nodes of the generations, in order, that had one of the statuses at the revision; of none, all."""
    return [
        node_id
        for node_id in chain.from_iterable(generations)
        if not statuses or project.nodes[node_id].statuses.at(revision) in statuses
    ]


def edges(project: Project, order: Sequence[str], start: int, end: int) -> list[dict[str, str]]:
    """Return the edges within order[:end] that have an end in order[start:end]: each edge is on one page only."""
    place = {node_id: number for number, node_id in enumerate(order[:end])}
    found = []
    for node_id in order[start:end]:
        mine, parent = place[node_id], project.nodes[node_id].parent_id
        if place.get(parent, mine) < mine:
            found.append({"from": parent, "to": node_id})
        found += [
            {"from": node_id, "to": child}
            for child in project.children.get(node_id, ())
            if place.get(child, mine) < mine
        ]
    return found


def node_row(
    project: Project, graph: BeliefGraph, node: Node, *, now: int, metrics: bool, all_runs: bool
) -> dict[str, Any]:
    """Return a node. `measurement` is the truth-state of what it measured, `now` in microseconds since 1970.

    `reproduces` is the node that a reproduction measures again, as its ticket says, where that has this configuration.

    `metrics` adds the last metrics of the run that froze it; `all_runs` all of its runs, else there is only the latest.
    """
    decision = project.decisions.get(node.decision_id)
    told = [run_row(project.runs[run_id], now=now) for run_id in (node.run_ids if all_runs else node.run_ids[-1:])]
    row = {
        "id": node.id,
        "parent_id": node.parent_id or None,
        "ticket_id": node.ticket_id or None,
        "round_id": node.round_id or None,
        "status": node.status,
        "verdict": decision.verdict if decision else None,
        "measured_verdict": decision.measured if decision else None,
        "decision": decision_row(graph, decision) if decision else None,
        "value": node.value,
        "measurement": measurement_of(project, graph, node),
        "reproduces": original(project, node) or None,
        "config_mutation": dict(node.mutation),
        "change_summary": node.change_summary,
        "seed": node.seed,
        "latest_run": told[-1] if told else None,
        "created_at_revision": node.created_at,
    }
    if metrics:
        row["metrics"] = dict(project.runs[node.frozen_by].metrics) if node.frozen_by else {}
    return {**row, "runs": told} if all_runs else row
