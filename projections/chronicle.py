"""What happened in a project, or would, a sentence for each event."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from falsify.events import Event
from falsify.workbench.events import (
    ApprovalGranted,
    ApprovalRejected,
    ApprovalRequested,
    ContractAmended,
    ContractFrozen,
    DecisionCommitted,
    EvidenceAttached,
    ModeChanged,
    NodeBlocked,
    NodeCreated,
    NodeFrozen,
    NodeImplementationBegan,
    NodeMadeRepairable,
    NodeReadied,
    ProjectCreated,
    RoundOpened,
    RunCancelled,
    RunFailed,
    RunQueued,
    RunStarted,
    RunSucceeded,
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
)
from falsify.workbench.project import Project
from projections.reproductions import reproduced_by


def sentence(event: Event, project: Project) -> str:
    """Return an event as a person reads it; `project` is as it is after the event, or later."""
    match event:
        case ProjectCreated():
            return f"project {event.project_id} is created, in mode {event.mode}"
        case ContractAmended():
            return "the contract is changed"
        case ContractFrozen():
            return f"the contract is frozen ({event.digest[:12]})"
        case ModeChanged():
            return f"the mode is {event.mode}; it was {event.previous}"
        case RoundOpened():
            return f"{event.round_id} is opened" + (f" from {event.parent_id}" if event.parent_id else "")
        case TicketCreated():
            return f"{event.ticket_id} is created by {event.author}: {event.title}"
        case TicketQueued():
            return f"{event.ticket_id} is queued"
        case TicketMadeEligible():
            return f"{event.ticket_id} is eligible: {event.because}"
        case TicketClaimed():
            return f"{event.ticket_id} is claimed by {event.claimed_by}: {event.reason}"
        case TicketReleased():
            return f"{event.ticket_id} is released: {event.reason}"
        case TicketMaterialized():
            return f"{event.ticket_id} becomes {event.node_id}"
        case TicketCompleted():
            return f"{event.ticket_id} is completed: {event.reason}"
        case TicketBlocked():
            return f"{event.ticket_id} is blocked: {event.reason}"
        case TicketCancelled():
            return f"{event.ticket_id} is cancelled: {event.reason}"
        case TicketPinned():
            return f"{event.ticket_id} is {'pinned' if event.pinned else 'not pinned any more'}"
        case TicketPrioritized():
            return f"{event.ticket_id} has the priority {event.priority}"
        case NodeCreated():
            return _created(event, project)
        case NodeImplementationBegan():
            return f"the code of {event.node_id} is being changed: {event.reason}"
        case NodeReadied():
            return f"{event.node_id} is ready: {event.reason}"
        case NodeBlocked():
            return f"{event.node_id} is blocked: {event.reason}"
        case NodeMadeRepairable():
            return f"{event.node_id} is to be repaired: {event.reason}"
        case NodeFrozen():
            metric = project.contract.metric if project.contract else "its metric"
            return f"{event.node_id} is frozen: {metric} {event.value:.6g}"
        case RunQueued():
            return f"{event.run_id} of {event.node_id} is queued, for at most {event.limit_seconds:g} s"
        case RunStarted():
            return f"{event.run_id} of {event.node_id} is started"
        case RunSucceeded():
            return f"{event.run_id} of {event.node_id} succeeds after {event.seconds:g} s"
        case RunFailed():
            return f"{event.run_id} of {event.node_id} fails after {event.seconds:g} s: {event.reason}"
        case RunCancelled():
            return f"{event.run_id} of {event.node_id} is cancelled after {event.seconds:g} s: {event.reason}"
        case EvidenceAttached():
            return _attached(event)
        case DecisionCommitted():
            return _decided(event)
        case ApprovalRequested():
            return f"{event.asked_by} asks for {event.tool} ({event.approval_id})"
        case ApprovalGranted():
            return f"{event.approved_by} approves {event.approval_id}"
        case ApprovalRejected():
            return f"{event.rejected_by} rejects {event.approval_id}: {event.reason}"
        case _:
            raise TypeError(f"{event.kind} is no event of research")


def forecast(events: Sequence[Event], project: Project) -> list[str]:
    """Return what events would do, a sentence each, `project` being as it would be after them.

    What is settled only when they happen is not told: which ids they give out, which seed a reproduction has, what a
    run had spent when it was called off. So it stays true whatever happens in between.
    """
    born = _born(events)
    return [_foreseen(_unnamed(event, born), project) for event in events]


def _born(events: Iterable[Event]) -> dict[str, str]:
    """Return what to call the things that the events bring into being, by their ids."""
    born: dict[str, str] = {}
    for event in events:
        match event:
            case RoundOpened():
                born[event.round_id] = "a round"
            case TicketCreated():
                born[event.ticket_id] = "a ticket"
            case NodeCreated():
                born[event.node_id] = "a node"
            case RunQueued():
                born[event.run_id] = "a run"
            case DecisionCommitted():
                born[event.decision_id] = "a decision"
    return born


def _unnamed(event: Event, born: Mapping[str, str]) -> Event:
    told = {name: born.get(value, value) for name, value in vars(event).items() if name.endswith("_id")}
    if isinstance(event, TicketCompleted):  # by a decision, whose id its reason begins with
        name, _, rest = event.reason.partition(": ")
        told["reason"] = rest if name in born else event.reason
    return replace(event, **told)  # type: ignore[type-var]  # every event is a dataclass


def _foreseen(event: Event, project: Project) -> str:
    match event:
        case NodeCreated() if event.reproduces:
            return f"{event.node_id} is created to reproduce {_reproduced(event, project)} with another seed"
        case RunQueued() if project.contract:
            return sentence(replace(event, limit_seconds=project.contract.run_seconds), project)
        case RunCancelled():
            return f"{event.run_id} of {event.node_id} is cancelled: {event.reason}"
    return sentence(event, project)


def _created(event: NodeCreated, project: Project) -> str:
    changes = ", ".join(f"{name} {value}" for name, value in event.mutation.items())
    if event.reproduces:
        return f"{event.node_id} is created to reproduce {_reproduced(event, project)} with seed {event.seed}"
    if not event.parent_id:
        return f"{event.node_id} is created: the baseline"
    return f"{event.node_id} is created from {event.parent_id}: {changes or event.change_summary}"


def _reproduced(event: NodeCreated, project: Project) -> str:
    return reproduced_by(project, event.ticket_id, event.reproduces)


def _attached(event: EvidenceAttached) -> str:
    """Return how many files a node got, and of which kinds; a kind with its number where there are several."""
    kinds = Counter(exhibit.kind for exhibit in event.exhibits)
    told = ", ".join(kind if count == 1 else f"{kind} ({count})" for kind, count in kinds.items())
    if len(event.exhibits) == 1:
        return f"a piece of evidence is attached to {event.node_id}: {told}"
    return f"{len(event.exhibits)} pieces of evidence are attached to {event.node_id}: {told}"


def _decided(event: DecisionCommitted) -> str:
    moved = f"; the incumbent is {event.node_id}" if event.action == "PROMOTE" else ""
    return f"{event.decision_id}: {event.action} {event.node_id}, {event.verdict}{moved}"
