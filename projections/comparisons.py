"""One node held against another, JSON-ready."""

from dataclasses import replace
from typing import Any

from falsify.belief.graph import BeliefGraph
from falsify.errors import InvalidInputError
from falsify.workbench.contract import contract_of
from falsify.workbench.project import Node, Project
from falsify.workbench.verdicts import Against, Comparison, compare, named_other, node_of, reference_of
from projections.reproductions import repetition, reproduction_row
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


def held_against(
    project: Project, node: Node, other: Node | None, *, metric: str = "", reference: Node | None = None
) -> Comparison:
    """Return the comparison; where one of the two was not measured, it says so.

    `reference` is what a decision about the node is held against. With anything else, two measurements of one
    configuration have no verdict: what differs between them is the seed, and one seed is no improvement on another.
    """
    comparison = compare(project, node, other, metric=metric)
    if comparison.verdict is None:
        return comparison
    if comparison.delta is None:
        return replace(comparison, because=_silence(node, other, comparison))
    twice = repetition(project, other, node) if other else None
    if twice is None:
        return comparison
    seeds = f"{node.id} and {twice.earlier.id} are one configuration with two seeds, {twice.where}: {twice.told}"
    if other is not reference:
        return replace(comparison, verdict=None, because=f"{seeds}; one seed is no improvement on another")
    return replace(comparison, because=f"{comparison.because}; but {seeds}")


def opposition(project: Project, node: Node, reference: Node | None, so: str = "") -> str:
    """Return what a decision about a node is held against, and why that; `so` is what else is to be said of it."""
    against = reference.id if reference else ""
    why = why_against(node.id, against, project.incumbent)
    return f"a decision about {node.id} is held against {against or 'nothing'}{so}: {why}"


def why_against(node_id: str, against_id: str, incumbent_id: str) -> str:
    """Return why a decision about a node is held against what it is held against, `incumbent_id` being the incumbent.

    An empty `against_id` is nothing.
    """
    if against_id and against_id == incumbent_id:
        return f"{against_id} is the incumbent"
    fallen = f"what the incumbent {incumbent_id} measured is refuted"
    itself = f"{node_id} is the incumbent itself"
    nearest = (
        f"{against_id} is its nearest ancestor whose measurement stands"
        if against_id
        else "it has no ancestor whose measurement stands"
    )
    return f"{itself if node_id == incumbent_id else fallen}, and {nearest}"


def comparison_row(
    project: Project, graph: BeliefGraph, comparison: Comparison, *, evidence_gaps: bool = True
) -> dict[str, Any]:
    """Return a comparison. `measurement` and `against_measurement` are the truth-states of what the two measured.

    `reproduction` says which node a reproduction is of, and whether it lies within the tolerance of that.
    """
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
        "reproduction": reproduction_row(project, node),
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
