"""The queue of tickets: filtered, sorted and counted as it was at a revision, told as it is now."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, Final, Literal, get_args

from falsify.workbench.events import Source, TicketStatus, TicketType
from falsify.workbench.plan import resolved
from falsify.workbench.project import Project, Ticket
from falsify.workbench.ranking import POINT, scorer
from falsify.workbench.tickets import waits_for

Order = Literal["rank", "created_at", "priority"]
Key = tuple[int, ...]
"""What tickets are sorted by, ascending. No two tickets have the same: it ends with when the ticket was created."""

STATUSES: Final[tuple[TicketStatus, ...]] = get_args(TicketStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which tickets are asked for. What is empty or None asks for nothing in particular."""

    statuses: frozenset[TicketStatus] = frozenset()
    types: frozenset[TicketType] = frozenset()
    sources: frozenset[Source] = frozenset()
    round_id: str = ""
    pinned: bool | None = None

    def admits(self, ticket: Ticket, revision: int) -> bool:
        """Return whether the ticket was there at the revision, and was what is asked for."""
        return (
            ticket.created_at <= revision
            and (not self.statuses or ticket.statuses.at(revision) in self.statuses)
            and (not self.types or ticket.type in self.types)
            and (not self.sources or ticket.source in self.sources)
            and (not self.round_id or ticket.round_id == self.round_id)
            and (self.pinned is None or ticket.pins.at(revision) == self.pinned)
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Tickets in order, where the next page begins (None after the last one), and how many there are on all pages."""

    tickets: tuple[Ticket, ...]
    after: Key | None
    total: int


def page(project: Project, wanted: Filter, *, order: Order, revision: int, limit: int, after: Key = ()) -> Page:
    """Return the first `limit` tickets behind `after`, as the queue was at the revision."""
    key = ORDERS[order](project, revision)
    found = [ticket for ticket in project.tickets.values() if wanted.admits(ticket, revision)]
    keyed = ((key(ticket), ticket) for ticket in found)  # one at a time: thousands would set off a garbage collection
    ahead = nsmallest(limit + 1, (entry for entry in keyed if entry[0] > after))
    more = len(ahead) > limit
    return Page(tuple(ticket for _, ticket in ahead[:limit]), ahead[limit - 1][0] if more else None, len(found))


def best(project: Project, limit: int) -> tuple[Ticket, ...]:
    """Return the eligible tickets with the highest rank scores now."""
    eligible = (ticket for ticket in project.tickets.values() if ticket.status == "ELIGIBLE")
    return tuple(nsmallest(limit, eligible, key=_by_rank(project, project.revision)))


def counts(project: Project) -> dict[TicketStatus, int]:
    """Return how many tickets there are of each status."""
    there = Counter(ticket.status for ticket in project.tickets.values())
    return {status: there[status] for status in STATUSES}


def points(score: int) -> float:
    """Return thousandths of a point as points."""
    return score / POINT


def ticket_row(project: Project, ticket: Ticket, score: int) -> dict[str, Any]:
    """Return a ticket, JSON-ready.

    `parent_node_id` is its node's parent, or what it would branch from now; `reproduces` the node that a reproduction
    is of; `note` the reason for its present state; `waits_for` what has to happen before it goes on.
    """
    node = project.nodes.get(ticket.node_id)
    return {
        "id": ticket.id,
        "title": ticket.title,
        "type": ticket.type,
        "status": ticket.status,
        "source": ticket.source,
        "author": ticket.author,
        "round_id": ticket.round_id,
        "parent_policy": ticket.parent_policy,
        "parent_node_id": (node.parent_id if node else resolved(project, ticket, ticket.round_id)) or None,
        "hypothesis": ticket.hypothesis,
        "instruction": ticket.instruction,
        "rank_score": points(score),
        "pinned": ticket.pins.now,
        "priority": ticket.priorities.now,
        "claimed_by": ticket.claimed_by or None,
        "claim_reason": ticket.claim_reason or None,
        "node_id": ticket.node_id or None,
        "reproduces": ticket.reproduces or None,
        "note": ticket.note or None,
        "waits_for": waits_for(project, ticket) or None,
        "required_evidence": list(ticket.required_evidence),
        "created_at_revision": ticket.created_at,
    }


def _by_rank(project: Project, revision: int) -> Callable[[Ticket], Key]:
    score = scorer(project, revision)
    return lambda ticket: (-score(ticket), ticket.created_at)


def _by_creation(_project: Project, _revision: int) -> Callable[[Ticket], Key]:
    return lambda ticket: (-ticket.created_at,)


def _by_priority(project: Project, revision: int) -> Callable[[Ticket], Key]:
    score = scorer(project, revision)
    return lambda ticket: (-ticket.priorities.at(revision), -score(ticket), ticket.created_at)


ORDERS: Final[dict[Order, Callable[[Project, int], Callable[[Ticket], Key]]]] = {
    "rank": _by_rank,
    "created_at": _by_creation,
    "priority": _by_priority,
}
"""Makes the sort key that tickets had at a revision."""

KEY_LENGTHS: Final[dict[Order, int]] = {"rank": 2, "created_at": 1, "priority": 3}
