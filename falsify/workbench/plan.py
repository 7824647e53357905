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
        if self.project.mode == "MANUAL":
            return
        for ticket in list(self.project.tickets.values()):
            if ticket.status == "QUEUED" and ticket.source == "agent":
                parent = resolved(self.project, ticket, ticket.round_id)
                if parent:
                    self.record(TicketMadeEligible(ticket_id=ticket.id, because=f"its parent {parent} is frozen"))


def resolved(project: Project, ticket: Ticket, round_id: str) -> str:
    """Return the frozen node that the ticket's policy names now, or empty where there is none yet.

    A round that was opened before there was an incumbent branches from the baseline.
    """
    named = {
        "incumbent": project.incumbent,
        "baseline": project.baseline,
        "round-parent": project.rounds[round_id] or project.baseline,
    }[ticket.parent_policy]
    return named if named and project.nodes[named].status == "FROZEN" else ""
