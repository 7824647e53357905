"""The states of tickets, nodes and runs, and which may follow which: one table for each."""

from collections.abc import Mapping
from typing import Final

from falsify.errors import RefusedError
from falsify.workbench.events import NodeStatus, RunStatus, TicketStatus

TICKET: Final[Mapping[TicketStatus, tuple[TicketStatus, ...]]] = {
    "DRAFT": ("QUEUED", "CANCELLED"),
    "QUEUED": ("ELIGIBLE", "BLOCKED", "COMPLETED", "CANCELLED"),
    "ELIGIBLE": ("CLAIMED", "BLOCKED", "COMPLETED", "CANCELLED"),
    "CLAIMED": ("ELIGIBLE", "MATERIALIZED", "BLOCKED", "COMPLETED", "CANCELLED"),
    "MATERIALIZED": ("COMPLETED", "BLOCKED", "CANCELLED"),
    "BLOCKED": ("QUEUED", "MATERIALIZED", "CANCELLED"),
    "COMPLETED": (),
    "CANCELLED": (),
}

NODE: Final[Mapping[NodeStatus, tuple[NodeStatus, ...]]] = {
    "DRAFT": ("IMPLEMENTING", "READY", "BLOCKED"),
    "IMPLEMENTING": ("READY", "BLOCKED"),
    "READY": ("IMPLEMENTING", "RUNNING", "BLOCKED"),
    "RUNNING": ("FROZEN", "REPAIRABLE", "READY"),
    "REPAIRABLE": ("IMPLEMENTING", "READY", "RUNNING", "BLOCKED"),
    "BLOCKED": ("IMPLEMENTING", "READY"),
    "FROZEN": (),
}

RUN: Final[Mapping[RunStatus, tuple[RunStatus, ...]]] = {
    "QUEUED": ("RUNNING", "CANCELLED"),
    "RUNNING": ("SUCCEEDED", "FAILED", "CANCELLED"),
    "SUCCEEDED": (),
    "FAILED": (),
    "CANCELLED": (),
}


def move_ticket(ticket_id: str, now: TicketStatus, then: TicketStatus) -> None:
    """Raise RefusedError unless a ticket may go from one state to the other."""
    _check("ticket", ticket_id, now, then, TICKET[now])


def move_node(node_id: str, now: NodeStatus, then: NodeStatus) -> None:
    """Raise RefusedError unless a node may go from one state to the other."""
    _check("node", node_id, now, then, NODE[now])


def move_run(run_id: str, now: RunStatus, then: RunStatus) -> None:
    """Raise RefusedError unless a run may go from one state to the other."""
    _check("run", run_id, now, then, RUN[now])


def _check(what: str, name: str, now: str, then: str, allowed: tuple[str, ...]) -> None:
    if then in allowed:
        return
    can = f"from {now} it can become {', '.join(allowed)}" if allowed else f"{now} is final"
    raise RefusedError(
        f"{what} {name} is {now} and cannot become {then}",
        hint=can,
        reason=f"{what}_{now.lower()}",
        details={what: name, "status": now, "wanted": then},
    )
