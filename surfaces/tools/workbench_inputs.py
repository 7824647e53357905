"""What the twelve tools of the research workbench take. The docstrings are what a model reads about them.

The bounds are those of the published contract, which has a few gaps (`StartRun` bounds no id): the domain closes them.
"""

from typing import Annotated, Literal

from pydantic import MISSING, Field

from surfaces.tools.schema import INTEGRAL, ToolInput

Id = Annotated[str, Field(min_length=1, max_length=64)]
Reason = Annotated[str, Field(min_length=1, max_length=500)]
Cursor = Annotated[str, Field(min_length=1, max_length=256)]
Limit = Annotated[int, Field(ge=1, le=50), INTEGRAL]
PreviewBytes = Annotated[int, Field(ge=0, le=8192), INTEGRAL]
IdempotencyKey = Annotated[str, Field(max_length=96)]
Revision = Annotated[int, Field(ge=0, le=2**53 - 1), INTEGRAL]

# A tuple is lax about being a list, which is what JSON has; what it holds stays strict.
_UP_TO_4 = Field(max_length=4, strict=False)
_UP_TO_6 = Field(max_length=6, strict=False)
_UP_TO_7 = Field(max_length=7, strict=False)
_UP_TO_8 = Field(max_length=8, strict=False)

StateSection = Literal["contract", "baseline", "incumbent", "budget", "active_runs", "queue_counts", "recent_events"]
TicketStatus = Literal[
    "DRAFT", "QUEUED", "ELIGIBLE", "CLAIMED", "MATERIALIZED", "COMPLETED", "BLOCKED", "CANCELLED"
]  # fmt: skip
TicketType = Literal["experiment", "ablation", "literature", "analysis", "reproduction", "verification"]
TicketSource = Literal["human", "agent", "system", "literature"]
TicketOrder = Literal["rank", "created_at", "priority"]
ParentPolicy = Literal["incumbent", "baseline", "round-parent"]
NodeStatus = Literal["DRAFT", "IMPLEMENTING", "READY", "RUNNING", "REPAIRABLE", "FROZEN", "BLOCKED"]
Opponent = Literal["parent", "baseline", "incumbent"]
EvidenceKind = Literal["metric", "curve", "diff", "run_log", "artifact", "literature", "analysis", "environment"]
Strategy = Literal["structured-config", "coding-agent", "manual"]
Verdict = Literal["IMPROVED", "REGRESSED", "NEUTRAL", "INCONCLUSIVE"]
Action = Literal["PROMOTE", "KEEP_FROZEN", "DISCARD", "REPRODUCE", "REQUEST_MORE_EVIDENCE"]


class GetState(ToolInput):
    """Read where the research project stands now.

    The objective, the autonomy mode, the frozen research contract (primary metric, direction, minimum effect, mutable
    config keys, budget), the baseline and the incumbent node with their primary metric, how much of the budget is
    used, the experiments that are running, how many tickets are queued, and the tickets ranked highest. Call it first
    in a session, and again after a human has approved or rejected a proposal. `include` selects sections and keeps
    the response small.
    """

    project_id: Id
    include: Annotated[tuple[StateSection, ...], _UP_TO_7] | MISSING = MISSING


class ListTickets(ToolInput):
    """List research tickets, the ideas queued for this project.

    Filter by status, type, source (a human, an agent, the system, the literature), round or pin. They are sorted by
    the deterministic rank score unless `sort` says otherwise. A page holds at most 50 tickets, 20 by default: pass
    the returned `nextCursor` as `cursor` to go on.
    """

    project_id: Id
    status: Annotated[tuple[TicketStatus, ...], _UP_TO_8] | MISSING = MISSING
    type: Annotated[tuple[TicketType, ...], _UP_TO_6] | MISSING = MISSING
    source: Annotated[tuple[TicketSource, ...], _UP_TO_4] | MISSING = MISSING
    round_id: Id | MISSING = MISSING
    pinned: bool | MISSING = MISSING
    sort: TicketOrder | MISSING = MISSING
    cursor: Cursor | MISSING = MISSING
    limit: Limit | MISSING = MISSING


class GetGraph(ToolInput):
    """Read a slice of the research graph.

    Experiment nodes with their parent, status, verdict, primary metric and latest run, and the edges from parent to
    child. Bound the slice with `root_node_id`, `focus_node_id`, `depth` and `max_nodes` so that the response stays
    small.
    """

    project_id: Id
    root_node_id: Id | MISSING = MISSING
    focus_node_id: Id | MISSING = MISSING
    depth: Annotated[int, Field(ge=1, le=10), INTEGRAL] | MISSING = MISSING
    max_nodes: Annotated[int, Field(ge=1, le=500), INTEGRAL] | MISSING = MISSING
    status: Annotated[tuple[NodeStatus, ...], _UP_TO_7] | MISSING = MISSING
    include_metrics: bool | MISSING = MISSING
    include_runs: bool | MISSING = MISSING
    cursor: Cursor | MISSING = MISSING


class CompareNode(ToolInput):
    """Compare one experiment node with its parent, the baseline or the incumbent.

    The primary metric on both sides, the delta, whether the delta clears the contract's minimum effect, the config
    keys that differ, and the required evidence that is still missing. Read this before you decide anything about a
    node.
    """

    project_id: Id
    node_id: Id
    against: Opponent | MISSING = MISSING
    against_node_id: Id | MISSING = MISSING
    metric: Annotated[str, Field(min_length=1, max_length=120)] | MISSING = MISSING
    include_evidence_gaps: bool | MISSING = MISSING


class GetRun(ToolInput):
    """Read one attempt at a run.

    Its status, its timing, the structured metrics it produced, and if asked for a capped preview of its log (8 KB at
    most).
    """

    project_id: Id
    run_id: Id
    include_metrics: bool | MISSING = MISSING
    include_log_preview: bool | MISSING = MISSING
    log_preview_bytes: PreviewBytes | MISSING = MISSING


class ListEvidence(ToolInput):
    """List the evidence attached to an experiment node.

    Metrics, epoch curves, decision boundaries, logs and config diffs, each with its metadata and content hash, and if
    asked for a capped preview (8 KB at most for each item). A page holds at most 50 items, 20 by default.
    """

    project_id: Id
    node_id: Id
    run_id: Id | MISSING = MISSING
    kind: Annotated[tuple[EvidenceKind, ...], _UP_TO_8] | MISSING = MISSING
    include_preview: bool | MISSING = MISSING
    preview_bytes: PreviewBytes | MISSING = MISSING
    cursor: Cursor | MISSING = MISSING
    limit: Limit | MISSING = MISSING


class NewTicket(ToolInput):
    """One ticket to create."""

    title: Annotated[str, Field(min_length=3, max_length=120)]
    type: TicketType
    hypothesis: Annotated[str, Field(min_length=10, max_length=1200)]
    instruction: Annotated[str, Field(min_length=10, max_length=2000)]
    parent_policy: ParentPolicy
    required_evidence: Annotated[tuple[str, ...], _UP_TO_8] | MISSING = MISSING


class CreateTickets(ToolInput):
    """Create one to eight research tickets, hypotheses to test, in this project's queue.

    Each has a title, a type, a hypothesis, an instruction, and the policy by which its parent node is found. Tickets
    created by this tool are marked source=agent, and the researcher sees them at once. Creating a ticket runs nothing
    and spends no compute.
    """

    project_id: Annotated[str, Field(max_length=64)]
    tickets: Annotated[tuple[NewTicket, ...], Field(min_length=1, max_length=8, strict=False)]
    idempotency_key: IdempotencyKey
    expected_project_revision: Revision


class ClaimTicket(ToolInput):
    """Claim one eligible ticket for this agent session, and say why it was chosen.

    A claimed ticket leaves the eligible queue, so that nobody else works on it, and the researcher sees the reason
    beside it. Only the ownership in the queue changes: nothing is started.
    """

    project_id: Id
    ticket_id: Id
    reason: Reason
    agent_session_id: Id | MISSING = MISSING
    idempotency_key: IdempotencyKey
    expected_project_revision: Revision


class ConfigMutation(ToolInput):
    """What an experiment changes in its parent's configuration."""

    hidden_width: Annotated[int, Field(ge=1, le=512), INTEGRAL] | MISSING = MISSING
    activation: Literal["tanh", "relu", "gelu", "sigmoid"] | MISSING = MISSING
    optimizer: Literal["adam", "sgd", "momentum"] | MISSING = MISSING
    learning_rate: Annotated[float, Field(gt=0, le=10)] | MISSING = MISSING
    l2: Annotated[float, Field(ge=0, le=1)] | MISSING = MISSING
    batch_size: Annotated[int, Field(ge=1, le=4096), INTEGRAL] | MISSING = MISSING
    schedule: Literal["constant", "cosine", "step"] | MISSING = MISSING
    warmup_fraction: Annotated[float, Field(ge=0, le=1)] | MISSING = MISSING


class MaterializeExperiment(ToolInput):
    """Turn a claimed ticket into a new experiment node: a child of its parent node with a structured config mutation.

    Only the config keys that the contract lists as mutable can be changed, and the parent must be frozen. The node is
    created in READY state: this does not run it and spends no compute.
    """

    project_id: Id
    ticket_id: Id
    parent_node_id: Id | MISSING = MISSING
    round_id: Id | MISSING = MISSING
    implementation_strategy: Strategy | MISSING = MISSING
    config_mutation: ConfigMutation | MISSING = MISSING
    change_summary: Annotated[str, Field(max_length=1000)] | MISSING = MISSING
    idempotency_key: IdempotencyKey
    expected_project_revision: Revision


class StartRun(ToolInput):
    """Start a training run of an experiment node that is READY or repairable.

    This SPENDS the project's compute budget. It executes the experiment and, when it finishes with valid metrics,
    freezes the node together with its evidence: a frozen node can never be edited again. The call returns as soon as
    the run is queued; poll `falsify.run.get` for the outcome.
    """

    project_id: str
    node_id: str
    reason: Annotated[str, Field(max_length=500)]
    idempotency_key: IdempotencyKey
    expected_project_revision: Revision


class CancelRun(ToolInput):
    """Cancel a run that is queued or in flight.

    The run is recorded as CANCELLED and its partial work is discarded; compute that was spent is not refunded.
    """

    project_id: Id
    run_id: Id
    reason: Reason
    idempotency_key: IdempotencyKey
    expected_project_revision: Revision


class CommitDecision(ToolInput):
    """Record the decision about a frozen experiment node.

    A verdict (IMPROVED, REGRESSED, NEUTRAL, INCONCLUSIVE), an action (PROMOTE, KEEP_FROZEN, DISCARD, REPRODUCE,
    REQUEST_MORE_EVIDENCE) and a written rationale. PROMOTE moves the project's incumbent pointer to this node, so
    every later ticket with parent_policy=incumbent branches from it. The other actions record an interpretation of a
    result that is already frozen and move nothing: they execute at once in every mode. Only action=PROMOTE is gated,
    and what follows on approval is about it.
    """

    project_id: Id
    node_id: Id
    verdict: Verdict
    action: Action
    rationale: Annotated[str, Field(min_length=10, max_length=2000)]
    evidence_refs: Annotated[tuple[Id, ...], Field(max_length=16, strict=False)] | MISSING = MISSING
    idempotency_key: IdempotencyKey
    expected_project_revision: Revision


WORKBENCH_INPUTS: dict[str, type[ToolInput]] = {
    "falsify.project.get_state": GetState,
    "falsify.ticket.list": ListTickets,
    "falsify.graph.get": GetGraph,
    "falsify.node.compare": CompareNode,
    "falsify.run.get": GetRun,
    "falsify.evidence.list": ListEvidence,
    "falsify.ticket.create": CreateTickets,
    "falsify.ticket.claim": ClaimTicket,
    "falsify.experiment.materialize": MaterializeExperiment,
    "falsify.run.start": StartRun,
    "falsify.run.cancel": CancelRun,
    "falsify.decision.commit": CommitDecision,
}
"""The tools by their canonical names, in the order in which they are listed."""
