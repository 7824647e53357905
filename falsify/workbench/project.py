"""A research project as it stands: the fold of its events.

Its parts are frozen values, so that a branch of a project is a copy of its dictionaries. What a listing is sorted or
filtered by keeps its history with the revisions, so that the pages of one listing are all of one moment.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, assert_never

from falsify.config_keys import Config, Value, fingerprint
from falsify.workbench.events import (
    Action,
    ApprovalGranted,
    ApprovalRejected,
    ApprovalRequested,
    Contract,
    ContractAmended,
    ContractFrozen,
    DecisionCommitted,
    EvidenceAttached,
    Exhibit,
    Mode,
    ModeChanged,
    NodeBlocked,
    NodeCreated,
    NodeFrozen,
    NodeImplementationBegan,
    NodeMadeRepairable,
    NodeReadied,
    NodeStatus,
    ParentPolicy,
    ProjectCreated,
    RoundOpened,
    RunCancelled,
    RunFailed,
    RunQueued,
    RunStarted,
    RunStatus,
    RunSucceeded,
    Source,
    Strategy,
    TicketBlocked,
    TicketCancelled,
    TicketClaimed,
    TicketCompleted,
    TicketCreated,
    TicketMadeEligible,
    TicketMaterialized,
    TicketPinned,
    TicketPrioritized,
    TicketQueued,
    TicketReleased,
    TicketStatus,
    TicketType,
    VerdictName,
    WorkbenchEvent,
)

T = TypeVar("T")

Setup = tuple[str, tuple[tuple[str, Value], ...]]
"""What nodes that measure the same have in common: the code, and the configuration's fingerprint."""


@dataclass(frozen=True, slots=True)
class Dated(Generic[T]):
    """A value with its history: at which revision of the stream it became what."""

    history: tuple[tuple[int, T], ...]

    @property
    def now(self) -> T:
        """The value it has now."""
        return self.history[-1][1]

    @property
    def since(self) -> int:
        """The revision at which it became that."""
        return self.history[-1][0]

    def at(self, revision: int) -> T:
        """Return the value it had at a revision, which is not before its first."""
        if revision >= self.since:
            return self.now
        return self.history[bisect_right(self.history, revision, key=lambda entry: entry[0]) - 1][1]

    def become(self, value: T, revision: int) -> "Dated[T]":
        """Return it with another value from the revision on."""
        return Dated((*self.history, (revision, value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """An idea to be tested. `note` is the reason for its present state.

    `reproduces` is the node that a reproduction is of, or empty: then its parent policy says what it measures again.
    """

    id: str
    created_at: int
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
    statuses: Dated[TicketStatus]
    pins: Dated[bool]
    priorities: Dated[int]
    claimed_by: str = ""
    agent_session_id: str = ""
    claim_reason: str = ""
    node_id: str = ""
    reproduces: str = ""
    note: str = ""

    @property
    def status(self) -> TicketStatus:
        """Its present state."""
        return self.statuses.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A configuration, and what it measured if it is frozen. `run_ids` are its runs in order, `note` why it is so.

    `code` is the node whose code it runs: its own, or the nearest ancestor's that changed it; empty for none.
    """

    id: str
    created_at: int
    ticket_id: str
    parent_id: str
    round_id: str
    strategy: Strategy
    mutation: Mapping[str, Value]
    config: Config
    code: str
    seed: int
    change_summary: str
    reproduces: str
    statuses: Dated[NodeStatus]
    value: float | None = None
    frozen_by: str = ""
    decision_id: str = ""
    run_ids: tuple[str, ...] = ()
    evidence_ids: tuple[str, ...] = ()
    note: str = ""

    @property
    def status(self) -> NodeStatus:
        """Its present state."""
        return self.statuses.now

    @property
    def setup(self) -> Setup:
        """What it measures."""
        return self.code, fingerprint(self.config)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One attempt to measure a node. Times are revisions of the stream; `seconds` is what it took in the end."""

    id: str
    node_id: str
    attempt: int
    reason: str
    status: RunStatus
    limit_seconds: float
    queued_at: int
    queued_time: int
    started_time: int = 0
    ended_time: int = 0
    worker: str = ""
    seconds: float = 0.0
    metrics: Mapping[str, float] = field(default_factory=dict)
    claim_id: str = ""
    note: str = ""

    @property
    def active(self) -> bool:
        """Whether it is queued or goes on."""
        return self.status in {"QUEUED", "RUNNING"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvidence:
    """A file that belongs to a node."""

    id: str
    node_id: str
    run_id: str
    attached_at: int
    exhibit: Exhibit


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was made of a frozen node."""

    id: str
    committed_at: int
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What somebody asked for; `status` is pending, executed or rejected, `done` what it came to, a sentence each."""

    request: ApprovalRequested
    requested_at: int
    status: str = "pending"
    decided_by: str = ""
    decided_at: int = 0
    note: str = ""
    done: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Its id."""
        return self.request.approval_id


@dataclass(slots=True)
class Project:
    """Everything about one project. `revision` is that of the last record of the stream, whatever it was about.

    `tries` says for each config key at which revisions nodes that change it were created; `tried` which node was the
    first with a setup; `measured` which nodes were measured with one, in order.
    """

    id: str = ""
    objective: str = ""
    question_id: str = ""
    parent: str = ""
    mode: Mode = "MANUAL"
    contract: Contract | None = None
    contract_digest: str = ""
    created_at: int = 0
    revision: int = 0
    baseline: str = ""
    incumbent: str = ""
    rounds: dict[str, str] = field(default_factory=dict)
    tickets: dict[str, Ticket] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    evidence: dict[str, StoredEvidence] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)
    approvals: dict[str, Approval] = field(default_factory=dict)
    children: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tries: dict[str, tuple[int, ...]] = field(default_factory=dict)
    tried: dict[Setup, str] = field(default_factory=dict)
    measured: dict[Setup, tuple[str, ...]] = field(default_factory=dict)
    active: dict[str, None] = field(default_factory=dict)
    seconds_spent: float = 0.0
    runs_spent: int = 0

    def branch(self) -> "Project":
        """Return a copy that can be evolved without changing this one."""
        copies: dict[str, Any] = {name: dict(getattr(self, name)) for name in _TABLES}
        return replace(self, **copies)

    @property
    def exists(self) -> bool:
        """Whether the project was created."""
        return self.contract is not None


_TABLES = (
    "rounds", "tickets", "nodes", "runs", "evidence", "decisions", "approvals", "children", "tries", "tried",
    "measured", "active",
)  # fmt: skip


def evolve(project: Project, event: WorkbenchEvent, revision: int, time: int) -> Project:
    """Return the project after the event, changed in place; `time` is when it was recorded, in microseconds."""
    project.revision = revision
    match event:
        case ProjectCreated():
            project.id, project.objective, project.question_id = event.project_id, event.objective, event.question_id
            project.mode, project.contract, project.parent = event.mode, event.contract, event.parent
            project.created_at = revision
        case ContractAmended():
            project.contract = event.contract
        case ContractFrozen():
            project.contract_digest = event.digest
        case ModeChanged():
            project.mode = event.mode
        case RoundOpened():
            project.rounds[event.round_id] = event.parent_id
        case TicketCreated():
            project.tickets[event.ticket_id] = _ticket(event, revision)
        case TicketQueued():
            _move_ticket(project, event.ticket_id, "QUEUED", revision, **_UNCLAIMED, note="")
        case TicketMadeEligible():
            _move_ticket(project, event.ticket_id, "ELIGIBLE", revision, note=event.because)
        case TicketClaimed():
            claim = {"claimed_by": event.claimed_by, "agent_session_id": event.agent_session_id}
            _move_ticket(project, event.ticket_id, "CLAIMED", revision, claim_reason=event.reason, note="", **claim)
        case TicketReleased():
            _move_ticket(project, event.ticket_id, "ELIGIBLE", revision, **_UNCLAIMED, note=event.reason)
        case TicketMaterialized():
            _move_ticket(project, event.ticket_id, "MATERIALIZED", revision, node_id=event.node_id, note="")
        case TicketCompleted():
            _move_ticket(project, event.ticket_id, "COMPLETED", revision, note=event.reason)
        case TicketBlocked():
            _move_ticket(project, event.ticket_id, "BLOCKED", revision, note=event.reason)
        case TicketCancelled():
            _move_ticket(project, event.ticket_id, "CANCELLED", revision, note=event.reason)
        case TicketPinned():
            ticket = project.tickets[event.ticket_id]
            project.tickets[ticket.id] = replace(ticket, pins=ticket.pins.become(event.pinned, revision))
        case TicketPrioritized():
            ticket = project.tickets[event.ticket_id]
            ranked = ticket.priorities.become(event.priority, revision)
            project.tickets[ticket.id] = replace(ticket, priorities=ranked)
        case NodeCreated():
            _create_node(project, event, revision)
        case NodeImplementationBegan():
            _move_node(project, event.node_id, "IMPLEMENTING", revision, event.reason)
        case NodeReadied():
            _move_node(project, event.node_id, "READY", revision, event.reason)
        case NodeBlocked():
            _move_node(project, event.node_id, "BLOCKED", revision, event.reason)
        case NodeMadeRepairable():
            _move_node(project, event.node_id, "REPAIRABLE", revision, event.reason)
        case NodeFrozen():
            _freeze(project, event, revision)
        case RunQueued():
            _queue(project, event, revision, time)
        case RunStarted():
            run = project.runs[event.run_id]
            project.runs[run.id] = replace(run, status="RUNNING", worker=event.worker, started_time=time)
            _move_node(project, event.node_id, "RUNNING", revision, "")
        case RunSucceeded():
            _end(project, event, "SUCCEEDED", time, metrics=event.metrics, claim_id=event.claim_id)
        case RunFailed():
            _end(project, event, "FAILED", time, note=event.reason)
        case RunCancelled():
            _cancel(project, event, revision, time)
        case EvidenceAttached():
            _attach(project, event, revision)
        case DecisionCommitted():
            _decide(project, event, revision)
        case ApprovalRequested():
            project.approvals[event.approval_id] = Approval(request=event, requested_at=revision)
        case ApprovalGranted():
            by, done = event.approved_by, event.effects
            _settle(project, event.approval_id, revision, status="executed", by=by, note=event.note, done=done)
        case ApprovalRejected():
            _settle(project, event.approval_id, revision, status="rejected", by=event.rejected_by, note=event.reason)
        case _:
            assert_never(event)
    return project


def _ticket(event: TicketCreated, revision: int) -> Ticket:
    return Ticket(
        id=event.ticket_id,
        created_at=revision,
        round_id=event.round_id,
        title=event.title,
        type=event.type,
        hypothesis=event.hypothesis,
        hypothesis_id=event.hypothesis_id,
        instruction=event.instruction,
        parent_policy=event.parent_policy,
        required_evidence=event.required_evidence,
        source=event.source,
        author=event.author,
        statuses=Dated(((revision, event.status),)),
        pins=Dated(((revision, False),)),
        priorities=Dated(((revision, 0),)),
        reproduces=event.reproduces,
    )


_UNCLAIMED: Mapping[str, str] = {"claimed_by": "", "agent_session_id": "", "claim_reason": ""}


def _move_ticket(project: Project, ticket_id: str, status: TicketStatus, revision: int, **changes: str) -> None:
    ticket = project.tickets[ticket_id]
    statuses = ticket.statuses.become(status, revision)
    project.tickets[ticket_id] = replace(ticket, statuses=statuses, **changes)  # type: ignore[arg-type]  # all are str


def _create_node(project: Project, event: NodeCreated, revision: int) -> None:
    parent = project.nodes.get(event.parent_id)
    inherited = parent.code if parent else ""
    node = Node(
        id=event.node_id,
        created_at=revision,
        ticket_id=event.ticket_id,
        parent_id=event.parent_id,
        round_id=event.round_id,
        strategy=event.strategy,
        mutation=event.mutation,
        config=dict(event.config),
        code=inherited if event.strategy == "structured-config" else event.node_id,
        seed=event.seed,
        change_summary=event.change_summary,
        reproduces=event.reproduces,
        statuses=Dated(((revision, event.status),)),
    )
    project.nodes[node.id] = node
    project.children[node.parent_id] = (*project.children.get(node.parent_id, ()), node.id)
    project.tried.setdefault(node.setup, node.id)
    for key in node.mutation:
        project.tries[key] = (*project.tries.get(key, ()), revision)
    if not node.parent_id:
        project.baseline = node.id


def _move_node(project: Project, node_id: str, status: NodeStatus, revision: int, note: str) -> None:
    node = project.nodes[node_id]
    project.nodes[node_id] = replace(node, statuses=node.statuses.become(status, revision), note=note)


def _freeze(project: Project, event: NodeFrozen, revision: int) -> None:
    _move_node(project, event.node_id, "FROZEN", revision, "")
    node = replace(project.nodes[event.node_id], value=event.value, frozen_by=event.run_id)
    project.nodes[node.id] = node
    project.measured[node.setup] = (*project.measured.get(node.setup, ()), node.id)
    if node.id == project.baseline and not project.incumbent:
        project.incumbent = node.id


def _queue(project: Project, event: RunQueued, revision: int, time: int) -> None:
    node = project.nodes[event.node_id]
    project.runs[event.run_id] = Run(
        id=event.run_id,
        node_id=node.id,
        attempt=event.attempt,
        reason=event.reason,
        status="QUEUED",
        limit_seconds=event.limit_seconds,
        queued_at=revision,
        queued_time=time,
    )
    project.nodes[node.id] = replace(node, run_ids=(*node.run_ids, event.run_id))
    project.active[event.run_id] = None
    project.runs_spent += 1


def _end(
    project: Project,
    event: RunSucceeded | RunFailed | RunCancelled,
    status: RunStatus,
    time: int,
    *,
    metrics: Mapping[str, float] | None = None,
    claim_id: str = "",
    note: str = "",
) -> None:
    run = replace(project.runs[event.run_id], status=status, ended_time=time, seconds=event.seconds, note=note)
    project.runs[run.id] = replace(run, metrics=dict(metrics or {}), claim_id=claim_id)
    del project.active[run.id]
    project.seconds_spent += event.seconds


def _cancel(project: Project, event: RunCancelled, revision: int, time: int) -> None:
    """Call the run off; one that had not started gives back its place in the budget, and its node was not running."""
    if project.runs[event.run_id].status == "QUEUED":
        project.runs_spent -= 1
    else:
        _move_node(project, event.node_id, "READY", revision, event.reason)
    _end(project, event, "CANCELLED", time, note=event.reason)


def _attach(project: Project, event: EvidenceAttached, revision: int) -> None:
    for exhibit in event.exhibits:
        project.evidence[exhibit.evidence_id] = StoredEvidence(
            id=exhibit.evidence_id,
            node_id=event.node_id,
            run_id=event.run_id,
            attached_at=revision,
            exhibit=exhibit,
        )
    node = project.nodes[event.node_id]
    ids = (*node.evidence_ids, *(exhibit.evidence_id for exhibit in event.exhibits))
    project.nodes[node.id] = replace(node, evidence_ids=ids)


def _decide(project: Project, event: DecisionCommitted, revision: int) -> None:
    project.decisions[event.decision_id] = Decision(
        id=event.decision_id,
        committed_at=revision,
        node_id=event.node_id,
        verdict=event.verdict,
        measured=event.measured,
        action=event.action,
        rationale=event.rationale,
        evidence_refs=event.evidence_refs,
        value=event.value,
        against_id=event.against_id,
        reference=event.reference,
        previous_incumbent=event.previous_incumbent,
        decided_by=event.decided_by,
        conclusion_id=event.conclusion_id,
    )
    project.nodes[event.node_id] = replace(project.nodes[event.node_id], decision_id=event.decision_id)
    if event.action == "PROMOTE":
        project.incumbent = event.node_id


def _settle(
    project: Project,
    approval_id: str,
    revision: int,
    *,
    status: str,
    by: str,
    note: str,
    done: tuple[str, ...] = (),
) -> None:
    approval = project.approvals[approval_id]
    settled = replace(approval, status=status, decided_by=by, decided_at=revision, note=note, done=done)
    project.approvals[approval_id] = settled
