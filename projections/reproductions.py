"""What a reproduction is of, and whether what it measured lies within the tolerance of what was measured before."""

from dataclasses import dataclass
from typing import Any, Final

from falsify import join
from falsify.workbench.contract import contract_of
from falsify.workbench.project import Node, Project

MOST_TOLD: Final = 3
"""How many of the measurements that a reproduction contradicts are told."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """A measurement held against another of the same configuration; `told` are the numbers in words."""

    earlier: Node
    later: Node
    within: bool
    told: str

    @property
    def where(self) -> str:
        """Where the one lies, seen from the other."""
        return "within the tolerance" if self.within else "beyond the tolerance"


def reproduced_by(project: Project, ticket_id: str, first_id: str) -> str:
    """Return which node the reproduction of a ticket measures again, `first_id` being the first with its configuration.

    That is the node that the ticket names, if it has that configuration; else the first one. Empty without a first one.
    """
    ticket = project.tickets.get(ticket_id)
    named = project.nodes.get(ticket.reproduces) if ticket else None
    same = named is not None and bool(first_id) and named.setup == project.nodes[first_id].setup
    return named.id if named is not None and same else first_id


def original(project: Project, node: Node) -> str:
    """Return the node that a reproduction measures again, empty for what is no reproduction."""
    return reproduced_by(project, node.ticket_id, node.reproduces)


def repetition(project: Project, earlier: Node, later: Node) -> Repetition | None:
    """Return how two measurements of one configuration agree; None where they are none, or none of one."""
    if earlier.value is None or later.value is None or earlier.setup != later.setup:
        return None
    opinion = join.judge_numbers(earlier.value, later.value, contract_of(project).tolerance)
    return Repetition(earlier, later, opinion.relation == "supports", opinion.rationale)


def contradictions(project: Project, node: Node) -> tuple[str, ...]:
    """Return which earlier measurements of its configuration a reproduction contradicts, the one it is of first."""
    if not node.reproduces or node.value is None:
        return ()
    same, first = project.measured[node.setup], original(project, node)
    earlier = sorted(same[: same.index(node.id)], key=lambda node_id: node_id != first)
    found = (repetition(project, project.nodes[node_id], node) for node_id in earlier)
    beyond = [each for each in found if each is not None and not each.within]
    return tuple(
        f"{node.frozen_by} contradicts what {each.earlier.frozen_by} measured of {each.earlier.id}, {each.where}: "
        f"{each.told}"
        for each in beyond[:MOST_TOLD]
    )


def reproduction_row(project: Project, node: Node) -> dict[str, Any] | None:
    """Return what a reproduction is of, and whether it holds: None for what is none, or was not measured yet."""
    of = project.nodes.get(original(project, node))
    held = repetition(project, of, node) if of else None
    if held is None:
        return None
    return {
        "of": held.earlier.id,
        "run_id": held.earlier.frozen_by,
        "value": held.earlier.value,
        "tolerance": contract_of(project).tolerance,
        "within_tolerance": held.within,
        "because": held.told,
    }
