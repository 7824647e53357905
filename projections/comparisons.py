"""One node held against another, JSON-ready."""

from dataclasses import replace
from typing import Any

from falsify.belief.graph import BeliefGraph
from falsify.errors import InvalidInputError
from falsify.workbench.contract import contract_of
from falsify.workbench.project import Node, Project
from falsify.workbench.verdicts import Against, Comparison, compare, named_other, node_of, reference_of
from projections.soundness import measurement_of


def opponent(
    project: Project,
    node: Node,
    *,
    against: Against | None,
    against_node_id: str,
    unsound: frozenset[str] = frozenset(),
) -> Node | None:
    """Return what a node is held against: the one named, by default what a decision about it is held against.

    None where there is no such node. `unsound` are the nodes whose measurement is refuted. Raises NotFoundError, and
    InvalidInputError where two are named.
    """
    if against and against_node_id:
        raise InvalidInputError(
            f"both against ({against}) and against_node_id ({against_node_id}) are given",
            hint="give one of them",
            reason="two_opponents",
        )
    if against_node_id == node.id:
        raise InvalidInputError(
            f"{node.id} is to be compared with itself", hint="name another against_node_id", reason="same_node"
        )
    if against_node_id:
        return node_of(project, against_node_id)
    return named_other(project, node, against) if against else reference_of(project, node, unsound=unsound)


def held_against(project: Project, node: Node, other: Node | None, *, metric: str = "") -> Comparison:
    """Return the comparison; where one of the two was not measured, it says so."""
    comparison = compare(project, node, other, metric=metric)
    if comparison.delta is not None or comparison.verdict is None:
        return comparison
    return replace(comparison, because=_silence(node, other, comparison))


def comparison_row(
    project: Project, graph: BeliefGraph, comparison: Comparison, *, evidence_gaps: bool = True
) -> dict[str, Any]:
    """Return a comparison. `measurement` and `against_measurement` are the truth-states of what the two measured."""
    contract = contract_of(project)
    node, other = project.nodes[comparison.node_id], project.nodes.get(comparison.against_id)
    row = {
        "node_id": node.id,
        "against_node_id": other.id if other else None,
        "metric": comparison.metric,
        "direction": contract.direction,
        "value": comparison.value,
        "reference": comparison.reference,
        "delta": comparison.delta,
        "effect": comparison.effect,
        "minimum_effect": contract.minimum_effect,
        "clears_minimum_effect": comparison.clears_minimum_effect,
        "noise_floor": contract.noise_floor,
        "clears_noise_floor": comparison.clears_noise_floor,
        "differing_keys": {
            name: {"node": mine, "against": theirs} for name, (mine, theirs) in comparison.differing.items()
        },
        "verdict": comparison.verdict,
        "because": comparison.because,
        "measurement": measurement_of(project, graph, node),
        "against_measurement": measurement_of(project, graph, other) if other else None,
        "decision_id": node.decision_id or None,
    }
    return {**row, "missing_evidence": list(comparison.missing_evidence)} if evidence_gaps else row


def _silence(node: Node, other: Node | None, comparison: Comparison) -> str:
    if comparison.value is None:
        return f"{node.id} is {node.status} and has measured nothing yet"
    if other is None:
        return "there is nothing to hold it against"
    if other.frozen_by:
        return f"{other.id} reported no {comparison.metric}"
    return f"{other.id} is {other.status} and has measured nothing yet"
