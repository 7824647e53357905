"""What the numbers say: two measurements compared, and the verdict that follows, as a table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from falsify.config_keys import Value
from falsify.errors import InvalidInputError, NotFoundError, RefusedError
from falsify.workbench.contract import contract_of
from falsify.workbench.events import Action, Contract, EvidenceKind, VerdictName
from falsify.workbench.project import Node, Project

Against = Literal["parent", "baseline", "incumbent"]

DIGITS: Final = 12
"""Decimals to which a difference is kept: 0.93 - 0.90 is 0.03, not 0.030000000000000027."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One node against another.

    `delta` is value - reference in units of the metric; `effect` is the same, positive where the node is better.
    `differing` maps each config key that differs to the two values. `verdict` is None for any but the primary metric.
    """

    node_id: str
    against_id: str
    metric: str
    value: float | None
    reference: float | None
    delta: float | None
    effect: float | None
    clears_minimum_effect: bool
    clears_noise_floor: bool
    differing: Mapping[str, tuple[Value | None, Value | None]]
    missing_evidence: tuple[str, ...]
    verdict: VerdictName | None
    because: str


# The first line whose condition holds gives the verdict.
VERDICTS: Final[tuple[tuple[VerdictName, str, Callable[["_Numbers"], bool]], ...]] = (
    ("INCONCLUSIVE", "there is nothing to hold it against", lambda n: n.effect is None),
    ("INCONCLUSIVE", "required evidence is missing", lambda n: n.missing),
    ("NEUTRAL", "the difference is below the minimum effect", lambda n: not n.clears_minimum_effect),
    ("NEUTRAL", "the difference is below the noise floor", lambda n: not n.clears_noise_floor),
    ("IMPROVED", "the difference is in the wanted direction", lambda n: n.effect is not None and n.effect > 0),
    ("REGRESSED", "the difference is in the other direction", lambda _: True),
)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What the table looks at."""

    effect: float | None
    missing: bool
    clears_minimum_effect: bool
    clears_noise_floor: bool


def compare(project: Project, node: Node, other: Node | None, *, metric: str = "") -> Comparison:
    """Return how a node compares with another; with None there is nothing to hold it against.

    Raises InvalidInputError for a metric that the node did not report.
    """
    contract = contract_of(project)
    named = metric or contract.metric
    primary = named == contract.metric
    value = measurement(project, node, named)
    if value is None and node.status == "FROZEN":
        raise InvalidInputError(
            f"{node.id} reported no metric {named!r}",
            hint=f"it reported {', '.join(sorted(project.runs[node.frozen_by].metrics))}",
            reason="no_metric",
        )
    reference = None if other is None else measurement(project, other, named)
    delta = None if value is None or reference is None else round(value - reference, DIGITS)
    effect = None if delta is None else _directed(contract, delta)
    missing = missing_evidence(project, node)
    size = 0.0 if delta is None else abs(delta)
    numbers = _Numbers(
        effect=effect,
        missing=bool(missing),
        clears_minimum_effect=0.0 < size >= contract.minimum_effect,
        clears_noise_floor=0.0 < size >= contract.noise_floor,
    )
    verdict, because = next((name, why) for name, why, holds in VERDICTS if holds(numbers))
    return Comparison(
        node_id=node.id,
        against_id=other.id if other else "",
        metric=named,
        value=value,
        reference=reference,
        delta=delta,
        effect=effect if primary else None,
        clears_minimum_effect=numbers.clears_minimum_effect,
        clears_noise_floor=numbers.clears_noise_floor,
        differing=_differing(node, other),
        missing_evidence=missing,
        verdict=verdict if primary else None,
        because=because if primary else "the contract's thresholds and direction are those of the primary metric",
    )


def named_other(project: Project, node: Node, against: Against) -> Node | None:
    """Return the parent, the baseline or the incumbent to hold a node against, or None where there is none."""
    named = {"parent": node.parent_id, "baseline": project.baseline, "incumbent": project.incumbent}[against]
    return project.nodes[named] if named and named != node.id else None


def reference_of(project: Project, node: Node, *, unsound: frozenset[str] = frozenset()) -> Node | None:
    """Return what a decision about the node is held against.

    That is the incumbent; for the incumbent itself, or where the incumbent's measurement is refuted (`unsound`), the
    nearest ancestor whose measurement stands; and nothing where there is none.
    """
    incumbent = named_other(project, node, "incumbent")
    if incumbent is not None and incumbent.id not in unsound:
        return incumbent
    ancestor = project.nodes.get(node.parent_id)
    while ancestor is not None and ancestor.id in unsound:
        ancestor = project.nodes.get(ancestor.parent_id)
    return ancestor


def measurement(project: Project, node: Node, metric: str) -> float | None:
    """Return the last value of a metric in the run that froze the node, or None where it has none."""
    if node.status != "FROZEN":
        return None
    if metric == contract_of(project).metric:
        return node.value
    return project.runs[node.frozen_by].metrics.get(metric)


def missing_evidence(project: Project, node: Node) -> tuple[EvidenceKind, ...]:
    """Return the kinds of evidence that contract and ticket require and the node lacks."""
    asked = (*contract_of(project).required_evidence, *_asked_by_ticket(project, node))
    there = {project.evidence[evidence_id].exhibit.kind for evidence_id in node.evidence_ids}
    return tuple(dict.fromkeys(kind for kind in asked if kind not in there))  # type: ignore[misc]  # checked when asked


def check_verdict(comparison: Comparison, verdict: VerdictName, action: Action) -> None:
    """Raise RefusedError, with the numbers, for a decision that they contradict and that does not say INCONCLUSIVE."""
    measured = comparison.verdict
    if verdict == "INCONCLUSIVE":
        return
    if verdict != measured:
        raise RefusedError(
            f"the numbers say {measured}, not {verdict}: {numbers(comparison)}; {comparison.because}",
            hint="decide INCONCLUSIVE"
            if measured == "INCONCLUSIVE"
            else f"decide {measured}, or INCONCLUSIVE where you do not trust the numbers",
            reason="contradicts_numbers",
            details=_told(comparison),
        )
    if action == "PROMOTE" and measured != "IMPROVED":
        raise RefusedError(
            f"{comparison.node_id} is {measured} and would be promoted: {numbers(comparison)}",
            hint="keep it frozen; or promote it as INCONCLUSIVE and say in the rationale what the numbers do not show",
            reason="contradicts_numbers",
            details=_told(comparison),
        )


def numbers(comparison: Comparison) -> str:
    """Return a comparison in words: `val_acc 0.93 against 0.9 of N-1, +0.03`."""
    told = f"{comparison.metric} {_number(comparison.value)}"
    if comparison.reference is None:
        return f"{told} against nothing"
    return f"{told} against {_number(comparison.reference)} of {comparison.against_id}, {comparison.delta:+.6g}"


def _told(comparison: Comparison) -> dict[str, object]:
    return {
        "node": comparison.node_id,
        "against": comparison.against_id,
        "metric": comparison.metric,
        "value": comparison.value,
        "reference": comparison.reference,
        "delta": comparison.delta,
        "measured": comparison.verdict,
        "missing_evidence": list(comparison.missing_evidence),
    }


def node_of(project: Project, node_id: str) -> Node:
    """Return a node, or raise NotFoundError."""
    contract_of(project)
    node = project.nodes.get(node_id)
    if node is None:
        raise NotFoundError(f"there is no node {node_id!r}", hint="see `falsify node list`", reason="no_node")
    return node


def _directed(contract: Contract, delta: float) -> float:
    return delta if contract.direction == "maximize" else -delta


def _number(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6g}"


def _asked_by_ticket(project: Project, node: Node) -> tuple[str, ...]:
    return project.tickets[node.ticket_id].required_evidence if node.ticket_id else ()


def _differing(node: Node, other: Node | None) -> dict[str, tuple[Value | None, Value | None]]:
    theirs = other.config if other else {}
    names = dict.fromkeys([*node.config, *theirs]) if other else {}
    pairs = {name: (node.config.get(name), theirs.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
