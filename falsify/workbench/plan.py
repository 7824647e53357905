"""A decision being made: events so far, and the project as it would be after them."""

from falsify.workbench.events import TicketMadeEligible, WorkbenchEvent
from falsify.workbench.project import Project, Ticket, evolve


class Plan:
    """Works in a branch of the project, so that a decision that is never appended leaves no trace."""

    def __init__(self, project: Project) -> None:
        self.before = project
        self.project = project.branch()
        self.events: list[WorkbenchEvent] = []

    def record(self, *events: WorkbenchEvent) -> None:
        """Add events."""
        for event in events:
            evolve(self.project, event, self.project.revision + 1, 0)
            self.events.append(event)

    def open_queue(self) -> None:
        """Add what follows for agents' tickets: outside MANUAL they become eligible when their parent resolves."""
        for ticket in list(self.project.tickets.values()):
            if ticket.status == "QUEUED" and opens_by_itself(self.project, ticket):
                parent = resolved(self.project, ticket, ticket.round_id)
                if parent:
                    self.record(TicketMadeEligible(ticket_id=ticket.id, because=f"its parent {parent} is frozen"))


def opens_by_itself(project: Project, ticket: Ticket) -> bool:
    """Return whether a ticket needs no person to become eligible, once its parent is frozen."""
    return project.mode != "MANUAL" and ticket.source == "agent"


def resolved(project: Project, ticket: Ticket, round_id: str) -> str:
    """Return the frozen node that a ticket branches from now, or empty where there is none yet.

    It is the node that a reproduction is of, else the one that the ticket's policy names. A round that was opened
    before there was an incumbent branches from the baseline.
    """
    named = (
        ticket.reproduces
        or {
            "incumbent": project.incumbent,
            "baseline": project.baseline,
            "round-parent": project.rounds[round_id] or project.baseline,
        }[ticket.parent_policy]
    )
    return named if named and project.nodes[named].status == "FROZEN" else ""
