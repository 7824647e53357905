"""Where a research project stands: its contract, its best node, its budget and its queue, JSON-ready."""

from collections.abc import Iterable
from typing import Any

from falsify.belief.graph import BeliefGraph
from falsify.belief.text import written
from falsify.config_keys import Key
from falsify.events import Recorded
from falsify.workbench import approvals
from falsify.workbench.contract import contract_of
from falsify.workbench.project import Project, Ticket
from falsify.workbench.ranking import scorer
from falsify.workbench.runs import budget
from projections.chronicle import sentence
from projections.queue import counts, points, ticket_row
from projections.recovery import ways_back
from projections.runs import run_row
from projections.soundness import incumbent_losses, standing
from projections.workbench import approval_row

RECENT_REQUESTS = 5

MOST_HELD = 10
"""How many of the tickets that somebody holds are told."""


def contract_row(project: Project) -> dict[str, Any]:
    """Return what the project promises. `digest` is None until the contract is frozen."""
    contract = contract_of(project)
    return {
        "metric": contract.metric,
        "direction": contract.direction,
        "minimum_effect": contract.minimum_effect,
        "noise_floor": contract.noise_floor,
        "tolerance": contract.tolerance,
        "mutable_keys": {key.name: key_row(key) for key in contract.keys},
        "base_config": dict(contract.base),
        "seed": contract.seed,
        "executor": contract.executor,
        "budget": {
            "runs": contract.budget_runs,
            "seconds": contract.budget_seconds,
            "run_seconds": contract.run_seconds,
        },
        "required_evidence": list(contract.required_evidence),
        "frozen": bool(project.contract_digest),
        "digest": project.contract_digest or None,
    }


def key_row(key: Key) -> dict[str, Any]:
    """Return what a mutable key may be set to, in the words of a JSON Schema but for its type."""
    if key.type == "choice":
        return {"type": key.type, "enum": list(key.choices)}
    if key.type == "text":
        return {"type": key.type}
    bounds = int if key.type == "int" and float(key.minimum).is_integer() and float(key.maximum).is_integer() else float
    lowest = "exclusive_minimum" if key.exclusive else "minimum"
    return {"type": key.type, lowest: bounds(key.minimum), "maximum": bounds(key.maximum)}


def incumbent_row(project: Project, graph: BeliefGraph, unsound: frozenset[str]) -> dict[str, Any] | None:
    """Return where the incumbent stands, what took away what it rests on, and what may take its place then.

    `ways_back` is None where it stands. `unsound` are the nodes whose measurement is refuted.
    """
    row = standing(project, graph, project.incumbent)
    if row is None:
        return None
    losses = [loss.as_json() for loss in incumbent_losses(project, graph)]
    return {**row, "losses": losses, "ways_back": ways_back(project, unsound) if losses else None}


def budget_row(project: Project) -> dict[str, Any]:
    """Return what is promised, used, kept for active runs, and left. A run that is queued is used already."""
    left = budget(project)
    return {
        "runs": {
            "total": left.runs,
            "used": left.runs_used,
            "active": len(project.active),
            "left": left.runs_left,
        },
        "seconds": {
            "total": left.seconds,
            "used": left.seconds_spent,
            "reserved": left.seconds_reserved,
            "left": left.seconds_left,
        },
    }


def active_rows(project: Project, *, now: int) -> list[dict[str, Any]]:
    """Return the runs that are queued or go on; `now` is in microseconds since 1970."""
    return [run_row(project.runs[run_id], now=now) for run_id in project.active]


def queue_row(project: Project, top: Iterable[Ticket]) -> dict[str, Any]:
    """Return how many tickets there are of each status, and under `top` which ones to claim first."""
    score = scorer(project, project.revision)
    rows = [
        {"id": t.id, "title": t.title, "type": t.type, "rank_score": points(score(t)), "pinned": t.pins.now}
        for t in top
    ]
    return {**{str(status): count for status, count in counts(project).items()}, "top": rows}


def recent_rows(project: Project, records: Iterable[Recorded]) -> list[dict[str, Any]]:
    """Return what happened, the last first."""
    rows = [
        {
            "revision": r.revision,
            "recorded_at": written(r.recorded_at),
            "actor": r.actor,
            "event": sentence(r.event, project),
        }
        for r in records
    ]
    return rows[::-1]


def request_rows(
    project: Project, caller: str, unsound: frozenset[str], state: approvals.StateOf = approvals.absent
) -> dict[str, Any]:
    """Return how many requests wait for a person, and what became of the caller's last ones, the last first.

    `no_longer_holds` says why a request that still waits can only be rejected.
    """
    waiting = sum(a.status == "pending" for a in project.approvals.values())
    own = [a for a in project.approvals.values() if a.request.asked_by == caller][-RECENT_REQUESTS:]
    rows = [
        {
            **{name: row for name, row in approval_row(project, a.id).items() if name in _OF_A_REQUEST},
            "no_longer_holds": approvals.broken(project, a, unsound, state) if a.status == "pending" else [],
        }
        for a in reversed(own)
    ]
    return {"pending": waiting, "yours": rows}


_OF_A_REQUEST = frozenset(
    {"id", "status", "tool", "effects", "asked_at_revision", "decided_by", "decided_at_revision", "note"}
)
"""What whoever asked is told of a request, beside what he knows."""


def held_rows(project: Project, caller: str) -> dict[str, Any]:
    """Return how many tickets the caller holds, and the first of them, each with what it waits for."""
    held = [t for t in project.tickets.values() if t.status == "CLAIMED" and t.claimed_by == caller]
    score = scorer(project, project.revision)
    told = [ticket_row(project, ticket, score(ticket)) for ticket in held[:MOST_HELD]]
    return {"held": len(held), "yours": [{name: row[name] for name in _OF_A_HELD_TICKET} for row in told]}


_OF_A_HELD_TICKET = ("id", "title", "type", "parent_node_id", "reproduces", "waits_for")
