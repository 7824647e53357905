"""Tickets: ideas in a queue, who may move them, and where to."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from falsify.errors import ForbiddenError, InvalidInputError, NotFoundError, RefusedError
from falsify.identity import is_agent, require_person
from falsify.workbench.contract import check_kinds, contract_of
from falsify.workbench.events import (
    ParentPolicy,
    RoundOpened,
    Source,
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
    WorkbenchEvent,
)
from falsify.workbench.plan import Plan, opens_by_itself, resolved
from falsify.workbench.project import Project, Ticket
from falsify.workbench.states import move_ticket

AT_ONCE = 8
"""How many tickets can be created by one command."""

HIGHEST_PRIORITY = 9

READING: frozenset[TicketType] = frozenset({"literature", "analysis"})
"""The types of tickets that are no experiments: they are completed, and become no node."""

_FINAL: frozenset[TicketStatus] = frozenset({"COMPLETED", "CANCELLED"})

_NODE = re.compile(r"(?<![\w-])N-[1-9][0-9]*(?![\w-])")
"""How a text names a node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """What somebody writes on a ticket."""

    title: str
    type: TicketType
    hypothesis: str
    instruction: str
    parent_policy: ParentPolicy
    required_evidence: tuple[str, ...] = ()


def create_tickets(
    project: Project,
    ideas: Sequence[Idea],
    *,
    author: str,
    source: Source,
    hypothesis_id: Callable[[str], str],
    draft: bool = False,
) -> list[WorkbenchEvent]:
    """Return a round of tickets, all or none: drafts, or queued. `hypothesis_id` gives a hypothesis its id."""
    contract_of(project)
    if not 1 <= len(ideas) <= AT_ONCE:
        raise InvalidInputError(f"{len(ideas)} tickets at once", hint=f"create 1 to {AT_ONCE}")
    for idea in ideas:
        check_kinds(idea.required_evidence)
    plan = Plan(project)
    round_id = f"round-{len(project.rounds) + 1}"
    plan.record(RoundOpened(round_id=round_id, parent_id=project.incumbent))
    for idea in ideas:
        created = TicketCreated(
            ticket_id=f"T-{len(plan.project.tickets) + 1}",
            round_id=round_id,
            title=idea.title,
            type=idea.type,
            hypothesis=idea.hypothesis,
            hypothesis_id=hypothesis_id(idea.hypothesis),
            instruction=idea.instruction,
            parent_policy=idea.parent_policy,
            required_evidence=idea.required_evidence,
            source=source,
            author=author,
            status="DRAFT" if draft else "QUEUED",
            reproduces=reproduced(project, idea),
        )
        plan.record(created)
    plan.open_queue()
    return plan.events


def reproduced(project: Project, idea: Idea) -> str:
    """Return the node that a reproduction is of, or empty where it names none and goes by its parent policy.

    That is the node which the first of its texts names that names exactly one: title, hypothesis, instruction.
    """
    if idea.type != "reproduction":
        return ""
    for text in (idea.title, idea.hypothesis, idea.instruction):
        named = {found[0] for found in _NODE.finditer(text)} & project.nodes.keys()
        if len(named) == 1:
            return named.pop()
    return ""


def waits_for(project: Project, ticket: Ticket) -> str:
    """Return what has to happen before a ticket goes on, empty where anybody can claim it or where it is over."""
    match ticket.status:
        case "DRAFT":
            return f"a person queues it: `falsify ticket queue {ticket.id}`"
        case "QUEUED":
            return _opening(project, ticket)
        case "CLAIMED" if ticket.type in READING:
            return f"a person completes it: `falsify ticket complete {ticket.id}`"
        case "CLAIMED":
            return f"{ticket.claimed_by} makes it a node"
        case "MATERIALIZED":
            return f"a decision about {ticket.node_id} settles it"
        case "BLOCKED":
            return f"a person takes it up again: `falsify ticket queue {ticket.id}`"
    return ""


def queue_ticket(project: Project, ticket_id: str, *, caller: str) -> list[WorkbenchEvent]:
    """Return what puts a draft, or a ticket that was blocked, into the queue; one that has its node is past that."""
    require_person(caller, "queue a ticket")
    ticket = ticket_of(project, ticket_id)
    if ticket.status == "BLOCKED" and ticket.node_id:
        return [TicketMaterialized(ticket_id=ticket.id, node_id=ticket.node_id)]
    move_ticket(ticket.id, ticket.status, "QUEUED")
    plan = Plan(project)
    plan.record(TicketQueued(ticket_id=ticket.id))
    plan.open_queue()
    return plan.events


def make_eligible(project: Project, ticket_id: str, *, caller: str) -> list[WorkbenchEvent]:
    """Return what lets a queued ticket be claimed. Its parent must have resolved."""
    require_person(caller, "make a ticket eligible")
    ticket = ticket_of(project, ticket_id)
    move_ticket(ticket.id, ticket.status, "ELIGIBLE")
    if ticket.status == "CLAIMED":
        raise RefusedError(
            f"{ticket.id} is claimed by {ticket.claimed_by}",
            hint=f"take the claim away with `falsify ticket release {ticket.id}`",
            reason="ticket_claimed",
        )
    if not resolved(project, ticket, ticket.round_id):
        raise unresolved(ticket)
    return [TicketMadeEligible(ticket_id=ticket.id, because=f"{caller} said so")]


def claim_ticket(
    project: Project, ticket_id: str, *, reason: str, agent_session_id: str, caller: str
) -> list[WorkbenchEvent]:
    """Return the claim of an eligible ticket, which nobody else can claim then."""
    ticket = ticket_of(project, ticket_id)
    if ticket.status != "ELIGIBLE":
        taken = f" by {ticket.claimed_by}" if ticket.status == "CLAIMED" else ""
        raise RefusedError(
            f"{ticket.id} is {ticket.status}{taken}, and only an ELIGIBLE ticket can be claimed",
            hint=_instead(project, ticket, caller),
            reason=f"ticket_{ticket.status.lower()}",
            details={"ticket": ticket.id, "status": ticket.status},
        )
    claimed = TicketClaimed(ticket_id=ticket.id, claimed_by=caller, agent_session_id=agent_session_id, reason=reason)
    return [claimed]


def release_ticket(project: Project, ticket_id: str, *, reason: str, caller: str) -> list[WorkbenchEvent]:
    """Return the end of a claim: by who holds it, or by a person."""
    ticket = ticket_of(project, ticket_id)
    if ticket.status != "CLAIMED":
        raise RefusedError(
            f"{ticket.id} is {ticket.status}", hint="only a CLAIMED ticket can be released", reason="ticket_not_claimed"
        )
    if is_agent(caller) and caller != ticket.claimed_by:
        raise ForbiddenError(
            f"{ticket.id} is claimed by {ticket.claimed_by}", hint="claim another ticket", reason="not_your_claim"
        )
    return [TicketReleased(ticket_id=ticket.id, reason=reason)]


def block_ticket(project: Project, ticket_id: str, *, reason: str, caller: str) -> list[WorkbenchEvent]:
    """Return what keeps a ticket from being worked on."""
    require_person(caller, "block a ticket")
    ticket = ticket_of(project, ticket_id)
    move_ticket(ticket.id, ticket.status, "BLOCKED")
    _refuse_while_running(project, ticket)
    return [TicketBlocked(ticket_id=ticket.id, reason=reason)]


def cancel_ticket(project: Project, ticket_id: str, *, reason: str, caller: str) -> list[WorkbenchEvent]:
    """Return the end of a ticket that will not be worked on."""
    require_person(caller, "cancel a ticket")
    ticket = ticket_of(project, ticket_id)
    move_ticket(ticket.id, ticket.status, "CANCELLED")
    _refuse_while_running(project, ticket)
    return [TicketCancelled(ticket_id=ticket.id, reason=reason)]


def complete_ticket(project: Project, ticket_id: str, *, reason: str, caller: str) -> list[WorkbenchEvent]:
    """Return the end of a ticket whose question was answered without a decision: reading, or an analysis."""
    require_person(caller, "complete a ticket")
    ticket = ticket_of(project, ticket_id)
    move_ticket(ticket.id, ticket.status, "COMPLETED")
    _refuse_while_running(project, ticket)
    return [TicketCompleted(ticket_id=ticket.id, reason=reason)]


def pin_ticket(project: Project, ticket_id: str, *, pinned: bool, caller: str) -> list[WorkbenchEvent]:
    """Return what puts a ticket on top or takes it from there; nothing if it is so already."""
    require_person(caller, "pin a ticket")
    ticket = _open(project, ticket_id)
    return [] if ticket.pins.now == pinned else [TicketPinned(ticket_id=ticket.id, pinned=pinned)]


def prioritize_ticket(project: Project, ticket_id: str, *, priority: int, caller: str) -> list[WorkbenchEvent]:
    """Return the change of a ticket's priority; nothing if it is so already."""
    require_person(caller, "rank a ticket")
    if not -HIGHEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
        raise InvalidInputError(f"the priority is {priority}", hint="it must be between -9 and 9; 0 is usual")
    ticket = _open(project, ticket_id)
    same = ticket.priorities.now == priority
    return [] if same else [TicketPrioritized(ticket_id=ticket.id, priority=priority)]


def ticket_of(project: Project, ticket_id: str) -> Ticket:
    """Return a ticket, or raise NotFoundError."""
    contract_of(project)
    ticket = project.tickets.get(ticket_id)
    if ticket is None:
        raise NotFoundError(f"there is no ticket {ticket_id!r}", hint="see `falsify ticket list`", reason="no_ticket")
    return ticket


def unresolved(ticket: Ticket) -> RefusedError:
    """Return the refusal of what needs the node that a ticket branches from, where that was not measured yet."""
    first = f"{ticket.reproduces} first: `falsify run start {ticket.reproduces}`"
    return RefusedError(
        f"the parent of {ticket.id} ({ticket.reproduces or ticket.parent_policy}) is not frozen yet",
        hint=f"measure {first if ticket.reproduces else 'the baseline first: `falsify project baseline`'}",
        reason="parent_unresolved",
    )


def _opening(project: Project, ticket: Ticket) -> str:
    by_hand = f"a person makes it eligible: `falsify ticket eligible {ticket.id}`"
    if resolved(project, ticket, ticket.round_id):
        return by_hand
    measured = f"{ticket.reproduces or 'the baseline'} is measured"
    return measured if opens_by_itself(project, ticket) else f"{measured}, and {by_hand}"


def _instead(project: Project, ticket: Ticket, caller: str) -> str:
    """Return what somebody can do who cannot claim a ticket."""
    if ticket.status == "CLAIMED" and ticket.claimed_by == caller and ticket.type not in READING:
        return "you hold it: make it a node with falsify.experiment.materialize"
    there = any(other.status == "ELIGIBLE" for other in project.tickets.values())
    choose = "choose another from falsify.ticket.list with status ELIGIBLE"
    other = choose if there else "no other ticket is ELIGIBLE now"
    if ticket.node_id and ticket.status == "MATERIALIZED":
        return f"it is {ticket.node_id} already; {other}"
    waits = waits_for(project, ticket) if ticket.status in {"DRAFT", "QUEUED", "BLOCKED"} else ""
    return f"it waits until {waits}; {other}" if waits else other


def _open(project: Project, ticket_id: str) -> Ticket:
    ticket = ticket_of(project, ticket_id)
    if ticket.status in _FINAL:
        raise RefusedError(f"{ticket.id} is {ticket.status}", hint="that is final", reason="ticket_final")
    return ticket


def _refuse_while_running(project: Project, ticket: Ticket) -> None:
    for run_id in project.active:
        if project.runs[run_id].node_id == ticket.node_id:
            raise RefusedError(
                f"{run_id} of {ticket.id} is {project.runs[run_id].status}",
                hint=f"cancel it first: `falsify run cancel {run_id}`",
                reason="run_active",
            )
