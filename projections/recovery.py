"""What may take the place of an incumbent that rests on refuted evidence: an earlier one, or another that stands."""

from collections.abc import Iterator
from typing import Any

from falsify.workbench.contract import contract_of
from falsify.workbench.decisions import SETTLES, earlier_incumbents
from falsify.workbench.events import VerdictName
from falsify.workbench.project import Node, Project, Setup, Ticket
from falsify.workbench.verdicts import Comparison, compare, reference_of


def earlier_incumbent(project: Project, unsound: frozenset[str]) -> Node | None:
    """Return the last earlier incumbent whose measurement stands, None if there is none."""
    return next((project.nodes[each] for each in earlier_incumbents(project) if each not in unsound), None)


def promotable(project: Project, unsound: frozenset[str]) -> Comparison | None:
    """Return the best measurement that stands and may be promoted, as it compares; None if there is none.

    It is better than what a decision about it is held against, or there is nothing to hold it against. What was settled
    against the same opponent, or is to be reproduced, is not promoted behind the back of whoever decided so.
    """
    earlier = set(earlier_incumbents(project))
    standing = (n for n in project.nodes.values() if n.status == "FROZEN" and n.id not in unsound | earlier)
    compared = (compare(project, node, reference_of(project, node, unsound=unsound)) for node in standing)
    found = [each for each in compared if _to_promote(each) and not _settled(project, each)]
    sign = 1 if contract_of(project).direction == "maximize" else -1
    return max(found, key=lambda each: sign * (each.value or 0.0), default=None)


def unopposed(comparison: Comparison) -> bool:
    """Return whether all that is asked for was measured, and nothing that stands is there to hold it against."""
    return comparison.value is not None and comparison.reference is None and not comparison.missing_evidence


def measured_again(project: Project, node: Node, unsound: frozenset[str]) -> str:
    """Return the last other node that measured the same configuration and stands, or empty."""
    same = project.measured.get(node.setup, ())
    return next((each for each in reversed(same) if each != node.id and each not in unsound), "")


def under_way(project: Project, node: Node) -> Iterator[Ticket]:
    """Yield the tickets that are to measure again what a node measures, and did not yet."""
    return (ticket for ticket in reproductions(project, node) if goes_on(project, ticket))


def reproductions(project: Project, node: Node) -> Iterator[Ticket]:
    """Yield the tickets that measure again what a node measures."""
    return (
        ticket
        for ticket in project.tickets.values()
        if ticket.type == "reproduction" and _measures(project, ticket) == node.setup
    )


def goes_on(project: Project, ticket: Ticket) -> bool:
    """Return whether what a ticket is to measure may still be measured."""
    if ticket.status == "MATERIALIZED":
        return project.nodes[ticket.node_id].status != "FROZEN"
    return ticket.status not in {"COMPLETED", "CANCELLED"}


def to_reproduce(project: Project, unsound: frozenset[str]) -> Node | None:
    """Return the incumbent if it is to be measured again: it is refuted, nobody is about to, and nobody did.

    A measurement of the same configuration that stands is one that was done; a refuted one says nothing.
    """
    incumbent = project.nodes.get(project.incumbent)
    if incumbent is None or measured_again(project, incumbent, unsound) or any(under_way(project, incumbent)):
        return None
    return incumbent if incumbent.id in unsound else None


def ways_back(project: Project, unsound: frozenset[str]) -> dict[str, Any]:
    """Return what may be done now about an incumbent that does not stand, JSON-ready; None for what may not."""
    best, back = promotable(project, unsound), earlier_incumbent(project, unsound)
    again = to_reproduce(project, unsound)
    return {
        "promote": {"node_id": best.node_id, "verdict": stated(best)} if best else None,
        "roll_back_to": back.id if back else None,
        "reproduce": again.id if again else None,
    }


def stated(comparison: Comparison) -> VerdictName:
    """Return the verdict with which a node may be promoted: IMPROVED if the numbers say so, else INCONCLUSIVE."""
    return "IMPROVED" if comparison.verdict == "IMPROVED" else "INCONCLUSIVE"


def _to_promote(comparison: Comparison) -> bool:
    return comparison.verdict == "IMPROVED" or unopposed(comparison)


def _settled(project: Project, comparison: Comparison) -> bool:
    decision = project.decisions.get(project.nodes[comparison.node_id].decision_id)
    if decision is None or decision.action == "PROMOTE":
        return False
    same = decision.against_id == comparison.against_id
    return decision.action == "REPRODUCE" or (decision.action in SETTLES and same)


def _measures(project: Project, ticket: Ticket) -> Setup | None:
    """Return what a reproduction measures again, as far as it is settled."""
    node = project.nodes.get(ticket.node_id or ticket.reproduces)
    return node.setup if node else None
