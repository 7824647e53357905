"""The facts of research: what was planned, what ran, what it measured, what was decided, and who allowed it.

They lie in the project's stream, beside the beliefs that follow from them. What a run reports while it goes on lies
in a stream of its own (`run:<project>:<run>`), so that telemetry never makes a caller's revision stale.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from falsify.config_keys import Key, Value
from falsify.events import Event, NodeId, event

Mode = Literal["MANUAL", "COPILOT", "AUTORESEARCH"]
Direction = Literal["maximize", "minimize"]
TicketType = Literal["experiment", "ablation", "literature", "analysis", "reproduction", "verification"]
TicketStatus = Literal["DRAFT", "QUEUED", "ELIGIBLE", "CLAIMED", "MATERIALIZED", "COMPLETED", "BLOCKED", "CANCELLED"]
Source = Literal["human", "agent", "system", "literature"]
ParentPolicy = Literal["incumbent", "baseline", "round-parent"]
NodeStatus = Literal["DRAFT", "IMPLEMENTING", "READY", "RUNNING", "REPAIRABLE", "FROZEN", "BLOCKED"]
Strategy = Literal["structured-config", "coding-agent", "manual"]
RunStatus = Literal["QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED"]
EvidenceKind = Literal["metric", "curve", "diff", "run_log", "artifact", "literature", "analysis", "environment"]
VerdictName = Literal["IMPROVED", "REGRESSED", "NEUTRAL", "INCONCLUSIVE"]
Action = Literal["PROMOTE", "KEEP_FROZEN", "DISCARD", "REPRODUCE", "REQUEST_MORE_EVIDENCE"]

# What events hold has no slots: the codec makes it as it makes events (docs/decisions/0003-event-classes.md).


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What the project promises to measure and to stay within; it freezes with the first run.

    `minimum_effect`, `noise_floor` and `tolerance` are in units of the metric. `tolerance` is how far a reproduction
    may lie from the original. `budget_seconds` and `run_seconds`, the limit of one run, are of wall-clock time. `base`
    is the whole configuration of the baseline; only the mutable `keys` of it can be changed. Every configuration is
    measured first with `seed`, and reproduced with the seeds that follow it.
    """

    metric: str
    direction: Direction
    minimum_effect: float
    noise_floor: float
    tolerance: float
    keys: tuple[Key, ...]
    base: Mapping[str, Value]
    seed: int
    executor: str
    budget_runs: int
    budget_seconds: float
    run_seconds: float
    required_evidence: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A stored piece of evidence: `sha256` and `size` (bytes) of its file in the artifact store."""

    evidence_id: str
    kind: EvidenceKind
    name: str
    media_type: str
    sha256: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What an approval relies on: `about` (`node N-3 is`) and what it was when it was asked for."""

    about: str
    value: str


# --- the project ---------------------------------------------------------------------------------------------


@event("workbench.project_created")
class ProjectCreated(Event):
    """A research project began; `parent` is the project whose frozen contract this one changes, or empty."""

    project_id: str
    objective: str
    question_id: str
    mode: Mode
    contract: Contract
    parent: str


@event("workbench.contract_amended")
class ContractAmended(Event):
    """The contract was changed, before any run."""

    contract: Contract


@event("workbench.contract_frozen")
class ContractFrozen(Event):
    """The first run was queued: the contract stays as it is. `digest` is the SHA-256 of its canonical JSON."""

    digest: str


@event("workbench.mode_changed")
class ModeChanged(Event):
    """A person changed how much agents may do by themselves."""

    mode: Mode
    previous: Mode
    reason: str


# --- tickets -------------------------------------------------------------------------------------------------


@event("workbench.round_opened")
class RoundOpened(Event):
    """Tickets were created together; `parent_id` is the node that was the incumbent then, or empty."""

    round_id: str
    parent_id: str


@event("workbench.ticket_created")
class TicketCreated(Event):
    """An idea to be tested. `hypothesis_id` is its hypothesis among the beliefs; `author` who wrote it.

    `reproduces` is the node that a reproduction is to measure again, where it names one; else empty.
    """

    ticket_id: str
    round_id: str
    title: str
    type: TicketType
    hypothesis: str
    hypothesis_id: str
    instruction: str
    parent_policy: ParentPolicy
    required_evidence: tuple[str, ...]
    source: Source
    author: str
    status: TicketStatus
    reproduces: str = ""


@event("workbench.ticket_queued")
class TicketQueued(Event):
    """A draft, or a ticket that was blocked, waits to become eligible."""

    ticket_id: str


@event("workbench.ticket_made_eligible")
class TicketMadeEligible(Event):
    """The ticket may be claimed; `because` says who or what made it so."""

    ticket_id: str
    because: str


@event("workbench.ticket_claimed")
class TicketClaimed(Event):
    """Somebody took the ticket, and said why this one."""

    ticket_id: str
    claimed_by: str
    agent_session_id: str
    reason: str


@event("workbench.ticket_released")
class TicketReleased(Event):
    """A claim was given up or taken away: the ticket is eligible again."""

    ticket_id: str
    reason: str


@event("workbench.ticket_materialized")
class TicketMaterialized(Event):
    """The ticket became a node."""

    ticket_id: str
    node_id: str


@event("workbench.ticket_completed")
class TicketCompleted(Event):
    """What the ticket asked is answered."""

    ticket_id: str
    reason: str


@event("workbench.ticket_blocked")
class TicketBlocked(Event):
    """Something keeps the ticket from being worked on."""

    ticket_id: str
    reason: str


@event("workbench.ticket_cancelled")
class TicketCancelled(Event):
    """The ticket will not be worked on."""

    ticket_id: str
    reason: str


@event("workbench.ticket_pinned")
class TicketPinned(Event):
    """A person put the ticket on top, or took it from there."""

    ticket_id: str
    pinned: bool


@event("workbench.ticket_prioritized")
class TicketPrioritized(Event):
    """A person said how much the ticket matters: -9 to 9."""

    ticket_id: str
    priority: int


# --- nodes ---------------------------------------------------------------------------------------------------


@event("workbench.node_created")
class NodeCreated(Event):
    """A configuration to be measured: the parent's, changed by `mutation`.

    `config` is the whole of it but the seed. `reproduces` is the earlier node with the same configuration that a
    reproduction measures again, or empty. The baseline has neither ticket nor parent.
    """

    node_id: str
    ticket_id: str
    parent_id: str
    round_id: str
    strategy: Strategy
    mutation: Mapping[str, Value]
    config: Mapping[str, Value]
    seed: int
    change_summary: str
    reproduces: str
    status: NodeStatus


@event("workbench.node_implementation_began")
class NodeImplementationBegan(Event):
    """Somebody changes code for the node."""

    node_id: str
    reason: str


@event("workbench.node_readied")
class NodeReadied(Event):
    """The node may run."""

    node_id: str
    reason: str


@event("workbench.node_blocked")
class NodeBlocked(Event):
    """The node must not run."""

    node_id: str
    reason: str


@event("workbench.node_made_repairable")
class NodeMadeRepairable(Event):
    """A run of the node failed, for this reason; it may be started again."""

    node_id: str
    reason: str


@event("workbench.node_frozen")
class NodeFrozen(Event):
    """The node was measured and will never change: `value` is its primary metric, always finite."""

    node_id: str
    run_id: str
    value: float


# --- runs and evidence ---------------------------------------------------------------------------------------


@event("workbench.run_queued")
class RunQueued(Event):
    """A run was asked for; `limit_seconds` is what it may take, and what the budget keeps for it."""

    run_id: str
    node_id: str
    attempt: int
    reason: str
    limit_seconds: float


@event("workbench.run_started")
class RunStarted(Event):
    """A worker took the run, which nobody else can take then."""

    run_id: str
    node_id: str
    worker: str


@event("workbench.run_succeeded")
class RunSucceeded(Event):
    """The run ended well. `metrics` are its last values, all finite; `claim_id` its evidence among the beliefs."""

    run_id: str
    node_id: str
    seconds: float
    metrics: Mapping[str, float]
    claim_id: str


@event("workbench.run_failed")
class RunFailed(Event):
    """The run ended without a finite primary metric, or its worker died."""

    run_id: str
    node_id: str
    seconds: float
    reason: str


@event("workbench.run_cancelled")
class RunCancelled(Event):
    """The run was called off; `seconds` were spent and are not given back."""

    run_id: str
    node_id: str
    seconds: float
    reason: str


@event("workbench.evidence_attached")
class EvidenceAttached(Event):
    """Files became evidence of a node; `run_id` is the run that left them, or empty."""

    node_id: str
    run_id: str
    exhibits: tuple[Exhibit, ...]


# --- decisions -----------------------------------------------------------------------------------------------


@event("workbench.decision_committed")
class DecisionCommitted(Event):
    """What was made of a frozen node; PROMOTE makes it the incumbent.

    `value` is the node's metric, `reference` that of `against_id`, which it was held against, or None; `measured` is
    the verdict that the numbers call for. `conclusion_id` is the decision among the beliefs.
    """

    decision_id: str
    node_id: str
    verdict: VerdictName
    measured: VerdictName
    action: Action
    rationale: str
    evidence_refs: tuple[str, ...]
    value: float
    against_id: str
    reference: float | None
    previous_incumbent: str
    decided_by: str
    conclusion_id: str


# --- approvals -----------------------------------------------------------------------------------------------


@event("workbench.approval_requested")
class ApprovalRequested(Event):
    """A caller asked for what is not its to do alone.

    `digest` is the SHA-256 of tool and canonical arguments, `asked_at` the project's revision then, `facts` what must
    still hold when it is approved, `effects` what it would do, a sentence each, and `falls` the beliefs that it would
    take something away from.
    """

    approval_id: str
    tool: str
    arguments: Mapping[str, Any]
    digest: str
    asked_by: str
    reason: str
    asked_at: int
    facts: tuple[Fact, ...]
    effects: tuple[str, ...]
    falls: tuple[NodeId, ...] = ()


@event("workbench.approval_granted")
class ApprovalGranted(Event):
    """A person approved; what was asked for is carried out in the same command, all or nothing.

    `effects` is what it came to, a sentence each.
    """

    approval_id: str
    digest: str
    approved_by: str
    note: str
    effects: tuple[str, ...] = ()


@event("workbench.approval_rejected")
class ApprovalRejected(Event):
    """A person said no."""

    approval_id: str
    rejected_by: str
    reason: str


# --- telemetry, in the run's own stream ----------------------------------------------------------------------


@event("run.metrics_reported")
class MetricsReported(Event):
    """What a run reported since the last time, a mapping a line; None where a number was not finite."""

    lines: tuple[Mapping[str, float | None], ...]


WorkbenchEvent = (
    ProjectCreated
    | ContractAmended
    | ContractFrozen
    | ModeChanged
    | RoundOpened
    | TicketCreated
    | TicketQueued
    | TicketMadeEligible
    | TicketClaimed
    | TicketReleased
    | TicketMaterialized
    | TicketCompleted
    | TicketBlocked
    | TicketCancelled
    | TicketPinned
    | TicketPrioritized
    | NodeCreated
    | NodeImplementationBegan
    | NodeReadied
    | NodeBlocked
    | NodeMadeRepairable
    | NodeFrozen
    | RunQueued
    | RunStarted
    | RunSucceeded
    | RunFailed
    | RunCancelled
    | EvidenceAttached
    | DecisionCommitted
    | ApprovalRequested
    | ApprovalGranted
    | ApprovalRejected
)
"""What changes a project's state."""
