"""Decisions: what is made of a frozen node, within what the numbers allow."""

from collections.abc import Sequence
from dataclasses import dataclass

from falsify.errors import NotFoundError, RefusedError
from falsify.workbench.contract import contract_of
from falsify.workbench.events import (
    Action,
    DecisionCommitted,
    TicketCompleted,
    VerdictName,
    WorkbenchEvent,
)
from falsify.workbench.plan import Plan
from falsify.workbench.project import Decision, Node, Project
from falsify.workbench.verdicts import Comparison, check_verdict, compare, node_of, reference_of

SETTLES: frozenset[Action] = frozenset({"PROMOTE", "KEEP_FROZEN", "DISCARD"})
"""The actions that answer what the ticket asked; the others ask for more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What somebody decides about a node, and what it rests on."""

    node_id: str
    verdict: VerdictName
    action: Action
    rationale: str
    evidence_refs: tuple[str, ...] = ()


def next_decision(project: Project) -> str:
    """Return the id that the next decision has."""
    return f"D-{len(project.decisions) + 1}"


def commit_decision(
    project: Project,
    judgement: Judgement,
    *,
    conclusion_id: str,
    caller: str,
    unsound: frozenset[str] = frozenset(),
) -> list[WorkbenchEvent]:
    """Return the decision, and the end of the node's ticket where it answers what that asked.

    PROMOTE makes the node the incumbent. `unsound` are nodes whose measurement is refuted: they are not held
    against anything, and not promoted. Raises RefusedError, with the numbers, for a verdict that contradicts them.
    """
    comparison = weigh(project, judgement, unsound=unsound)
    node = node_of(project, judgement.node_id)
    refs = cited(project, node, judgement.evidence_refs)
    plan = Plan(project)
    committed = DecisionCommitted(
        decision_id=next_decision(project),
        node_id=node.id,
        verdict=judgement.verdict,
        measured=comparison.verdict or "INCONCLUSIVE",
        action=judgement.action,
        rationale=judgement.rationale,
        evidence_refs=refs,
        value=comparison.value or 0.0,
        against_id=comparison.against_id,
        reference=comparison.reference,
        previous_incumbent=project.incumbent,
        decided_by=caller,
        conclusion_id=conclusion_id,
    )
    plan.record(committed)
    ticket = project.tickets.get(node.ticket_id)
    if ticket is not None and ticket.status == "MATERIALIZED" and judgement.action in SETTLES:
        plan.record(TicketCompleted(ticket_id=ticket.id, reason=f"{committed.decision_id}: {judgement.action}"))
    return plan.events


def weigh(project: Project, judgement: Judgement, *, unsound: frozenset[str] = frozenset()) -> Comparison:
    """Return the numbers that a decision is held against; raises RefusedError where they forbid it."""
    contract_of(project)
    node = node_of(project, judgement.node_id)
    if node.status != "FROZEN":
        raise RefusedError(
            f"{node.id} is {node.status}, and only a FROZEN node can be decided on",
            hint=_unmeasured(project, node),
            reason=f"node_{node.status.lower()}",
            details={"node": node.id, "status": node.status},
        )
    if judgement.action == "PROMOTE" and node.id in unsound:
        raise RefusedError(
            f"what {node.id} measured is refuted",
            hint=f"see `falsify why {project.runs[node.frozen_by].claim_id}`; promote a reproduction that holds, or an "
            "earlier incumbent",
            reason="evidence_refuted",
        )
    comparison = compare(project, node, reference_of(project, node, unsound=unsound))
    check_verdict(comparison, judgement.verdict, judgement.action)
    return comparison


def _unmeasured(project: Project, node: Node) -> str:
    """Return what has to happen before a node can be decided on."""
    if node.run_ids and node.run_ids[-1] in project.active:
        return f"wait until {node.run_ids[-1]} is over: poll it with falsify.run.get"
    if node.status in {"READY", "REPAIRABLE"}:
        return "run it first with falsify.run.start"
    return f"a person can ready it: `falsify node ready {node.id}`; run it then with falsify.run.start"


def cited(project: Project, node: Node, refs: Sequence[str]) -> tuple[str, ...]:
    """Return the evidence that a decision rests on: what it cites, by default the measurement.

    Raises NotFoundError for what does not exist, and RefusedError for what belongs to another node.
    """
    if not refs:
        return tuple(e for e in node.evidence_ids if project.evidence[e].exhibit.kind == "metric")
    for ref in refs:
        stored = project.evidence.get(ref)
        if stored is None:
            raise NotFoundError(f"there is no evidence {ref!r}", hint="see falsify.evidence.list", reason="no_evidence")
        if stored.node_id != node.id:
            raise RefusedError(
                f"{ref} is evidence of {stored.node_id}, not of {node.id}",
                hint=f"cite evidence of {node.id}: {', '.join(node.evidence_ids[:5])}",
                reason="foreign_evidence",
            )
    return tuple(dict.fromkeys(refs))


def decision_of(project: Project, decision_id: str) -> Decision:
    """Return a decision, or raise NotFoundError."""
    contract_of(project)
    decision = project.decisions.get(decision_id)
    if decision is None:
        raise NotFoundError(
            f"there is no decision {decision_id!r}", hint="see `falsify decision list`", reason="no_decision"
        )
    return decision


def promotion(project: Project) -> Decision | None:
    """Return the decision by which the incumbent is the incumbent; None for a baseline that nobody promoted."""
    promoted = [d for d in project.decisions.values() if d.action == "PROMOTE"]
    return promoted[-1] if promoted else None


def earlier_incumbents(project: Project) -> list[str]:
    """Return the nodes that were the incumbent before, the last one first, each once, without the present one."""
    before = [d.previous_incumbent for d in project.decisions.values() if d.action == "PROMOTE"]
    return [node_id for node_id in dict.fromkeys(reversed(before)) if node_id and node_id != project.incumbent]
