"""Runs: what they may cost, and how they begin and end."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from falsify.errors import NotFoundError, RefusedError
from falsify.workbench.contract import contract_of, digest
from falsify.workbench.events import (
    ContractFrozen,
    EvidenceAttached,
    Exhibit,
    NodeFrozen,
    NodeMadeRepairable,
    RunCancelled,
    RunFailed,
    RunQueued,
    RunStarted,
    RunSucceeded,
    WorkbenchEvent,
)
from falsify.workbench.plan import Plan
from falsify.workbench.project import Node, Project, Run
from falsify.workbench.states import move_run
from falsify.workbench.verdicts import node_of

SHORTEST = 1.0
"""Seconds below which a run is not started: the rest of a budget that is too small for anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What was promised, spent, and kept for runs that are queued or go on. Seconds are of wall-clock time."""

    runs: int
    runs_used: int
    seconds: float
    seconds_spent: float
    seconds_reserved: float

    @property
    def runs_left(self) -> int:
        """How many runs may still be started."""
        return self.runs - self.runs_used

    @property
    def seconds_left(self) -> float:
        """How many seconds are neither spent nor reserved."""
        return max(0.0, round(self.seconds - self.seconds_spent - self.seconds_reserved, 6))


def budget(project: Project) -> Budget:
    """Return how the project's budget stands."""
    contract = contract_of(project)
    return Budget(
        runs=contract.budget_runs,
        runs_used=project.runs_spent,
        seconds=contract.budget_seconds,
        seconds_spent=round(project.seconds_spent, 6),
        seconds_reserved=round(math.fsum(project.runs[run_id].limit_seconds for run_id in project.active), 6),
    )


def admits_run(project: Project) -> bool:
    """Return whether the budget admits another run."""
    left = budget(project)
    return left.runs_left >= 1 and left.seconds_left >= SHORTEST


def queue_run(project: Project, node_id: str, *, reason: str) -> list[WorkbenchEvent]:
    """Return a run's place in the queue. The first one freezes the contract. Refused beyond the budget."""
    contract = contract_of(project)
    node = node_of(project, node_id)
    _check_startable(project, node)
    left = budget(project)
    if not admits_run(project):
        raise RefusedError(
            exhausted(project),
            hint="wait for active runs, or decide on what was measured"
            if project.active
            else f"decide on what was measured; a person goes on under another budget with a new project: "
            f"`falsify project create NEW --parent {project.id} ...`",
            reason="budget_exhausted",
            details={"runs_left": left.runs_left, "seconds_left": left.seconds_left},
        )
    queued = RunQueued(
        run_id=f"R-{len(project.runs) + 1}",
        node_id=node.id,
        attempt=len(node.run_ids) + 1,
        reason=reason,
        limit_seconds=min(contract.run_seconds, left.seconds_left),
    )
    return [queued] if project.contract_digest else [ContractFrozen(digest=digest(contract)), queued]


def exhausted(project: Project) -> str:
    """Return in words that the budget admits no further run, with its numbers."""
    left = budget(project)
    return (
        f"the budget admits no further run: {left.runs_used} of {left.runs} runs used, "
        f"{left.seconds_left:g} of {left.seconds:g} seconds left ({left.seconds_reserved:g} kept for active runs)"
    )


def start_run(project: Project, run_id: str, *, worker: str) -> list[WorkbenchEvent]:
    """Return what gives a queued run to a worker."""
    run = run_of(project, run_id)
    move_run(run.id, run.status, "RUNNING")
    return [RunStarted(run_id=run.id, node_id=run.node_id, worker=worker)]


def succeed_run(
    project: Project,
    run_id: str,
    *,
    seconds: float,
    metrics: Mapping[str, float],
    exhibits: Sequence[Exhibit],
    claim_id: str,
) -> list[WorkbenchEvent]:
    """Return a run's success, which freezes its node with the evidence. The primary metric must be finite."""
    run = run_of(project, run_id)
    value = outcome(project, run, metrics)
    plan = Plan(project)
    if exhibits:
        plan.record(EvidenceAttached(node_id=run.node_id, run_id=run.id, exhibits=tuple(exhibits)))
    succeeded = RunSucceeded(
        run_id=run.id,
        node_id=run.node_id,
        seconds=_charged(run, seconds),
        metrics={name: number for name, number in metrics.items() if math.isfinite(number)},
        claim_id=claim_id,
    )
    plan.record(succeeded, NodeFrozen(node_id=run.node_id, run_id=run.id, value=value))
    plan.open_queue()
    return plan.events


def outcome(project: Project, run: Run, metrics: Mapping[str, float]) -> float:
    """Return the primary metric of a run that ended well; raises RefusedError where it did not, or cannot now."""
    metric = contract_of(project).metric
    move_run(run.id, run.status, "SUCCEEDED")
    value = metrics.get(metric)
    if value is None or not math.isfinite(value):
        raise RefusedError(f"{run.id} has no finite {metric}", hint="it failed", reason="no_finite_metric")
    return value


def fail_run(
    project: Project, run_id: str, *, seconds: float, reason: str, exhibits: Sequence[Exhibit] = ()
) -> list[WorkbenchEvent]:
    """Return a run's failure, which leaves its node to be repaired."""
    run = run_of(project, run_id)
    move_run(run.id, run.status, "FAILED")
    failed = RunFailed(run_id=run.id, node_id=run.node_id, seconds=_charged(run, seconds), reason=reason)
    repairable = NodeMadeRepairable(node_id=run.node_id, reason=reason)
    left = EvidenceAttached(node_id=run.node_id, run_id=run.id, exhibits=tuple(exhibits))
    return [left, failed, repairable] if exhibits else [failed, repairable]


def cancel_run(project: Project, run_id: str, *, reason: str, seconds: float) -> list[WorkbenchEvent]:
    """Return the end of a run that is queued or goes on. What it spent is not given back."""
    run = run_of(project, run_id)
    move_run(run.id, run.status, "CANCELLED")
    spent = 0.0 if run.status == "QUEUED" else _charged(run, seconds)
    return [RunCancelled(run_id=run.id, node_id=run.node_id, seconds=spent, reason=reason)]


def run_of(project: Project, run_id: str) -> Run:
    """Return a run, or raise NotFoundError."""
    contract_of(project)
    run = project.runs.get(run_id)
    if run is None:
        raise NotFoundError(f"there is no run {run_id!r}", hint="see `falsify run list`", reason="no_run")
    return run


def _check_startable(project: Project, node: Node) -> None:
    if node.run_ids and node.run_ids[-1] in project.active:
        run = project.runs[node.run_ids[-1]]
        raise RefusedError(
            f"{run.id} of {node.id} is {run.status}",
            hint=f"poll it with falsify.run.get, run_id {run.id}",
            reason="run_active",
            details={"run": run.id, "status": run.status},
        )
    ticket = project.tickets.get(node.ticket_id)
    if ticket is not None and ticket.status in {"BLOCKED", "CANCELLED"}:
        raise RefusedError(
            f"the ticket {ticket.id} of {node.id} is {ticket.status}",
            hint=f"a person can take it up again: `falsify ticket queue {ticket.id}`"
            if ticket.status == "BLOCKED"
            else "that is final: create another ticket",
            reason=f"ticket_{ticket.status.lower()}",
            details={"ticket": ticket.id, "status": ticket.status},
        )
    if node.status not in {"READY", "REPAIRABLE"}:
        raise RefusedError(
            f"{node.id} is {node.status}, and only a READY or REPAIRABLE node can run",
            hint="a frozen node is never measured again: make a ticket of type reproduction"
            if node.status == "FROZEN"
            else f"a person can ready it: `falsify node ready {node.id}`",
            reason=f"node_{node.status.lower()}",
            details={"node": node.id, "status": node.status},
        )


def _charged(run: Run, seconds: float) -> float:
    """Return what the budget pays: never more than was kept for the run, whatever the ending took on top."""
    return min(round(max(seconds, 0.0), 3), run.limit_seconds)
