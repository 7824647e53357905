"""The six tools that change research: each turns its input into a command, and tells what came of it.

What the published schemas leave open is closed here, before anything is decided: texts that are kept hold no control
characters, and names are short and printable.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import MISSING

from falsify import join
from falsify.belief.text import clean
from falsify.errors import InvalidInputError
from falsify.events import Event
from falsify.identity import is_agent
from falsify.workbench import decisions, nodes, runs, tickets
from falsify.workbench.contract import contract_of
from falsify.workbench.events import (
    Action,
    ContractFrozen,
    DecisionCommitted,
    NodeCreated,
    RoundOpened,
    RunCancelled,
    RunQueued,
    Source,
    Strategy,
    TicketCompleted,
    TicketCreated,
    VerdictName,
)
from falsify.workbench.project import Project, Ticket
from falsify.workbench.tickets import READING, waits_for
from falsify.workbench.verdicts import missing_evidence
from projections.beliefs import BELIEF_EVENTS
from projections.comparisons import why_against
from projections.project_state import budget_row
from projections.queue import best
from projections.recovery import under_way
from projections.reproductions import contradictions
from projections.runs import run_row
from surfaces import answers
from surfaces.envelope import NextAction
from surfaces.tools import suggestions
from surfaces.tools.fence import harmless
from surfaces.tools.research_rows import decision_row, node_row, ticket_row
from surfaces.tools.schema import ToolInput
from surfaces.tools.workbench_inputs import (
    CancelRun,
    ClaimTicket,
    CommitDecision,
    CreateTickets,
    MaterializeExperiment,
    NewTicket,
    StartRun,
)
from surfaces.workbench import Sight, Work

if TYPE_CHECKING:
    from falsify.belief.events import BeliefEvent

LONGEST_NAME = 64
"""Characters of an id or a kind."""

HOW_IT_IS_SENT = frozenset({"idempotency_key", "expected_project_revision"})
"""The fields of an input that say nothing of what is asked for."""

E = TypeVar("E", bound=Event)
T = TypeVar("T")


def arguments_of(given: ToolInput) -> dict[str, Any]:
    """Return what is asked for, JSON-ready: the input without key and revision, and without what was not sent."""
    return given.model_dump(mode="json", exclude=set(HOW_IT_IS_SENT))


# --- tickets --------------------------------------------------------------------------------------------------


def create_tickets(given: CreateTickets) -> Work:
    """Create a round of tickets, all or none."""
    ideas = [_idea(ticket, f"tickets[{index}]") for index, ticket in enumerate(given.tickets)]

    def decide(sight: Sight) -> list[Event]:
        source: Source = "agent" if is_agent(sight.caller) else "human"
        return join.create_tickets(sight.project, sight.graph, ideas, author=sight.caller, source=source)

    return Work(
        tool="falsify.ticket.create",
        arguments=arguments_of(given),
        decide=decide,
        result=_created_tickets,
        suggest=_claim_one,
        warn=_waiting_tickets,
    )


def claim_ticket(given: ClaimTicket) -> Work:
    """Claim an eligible ticket."""
    ticket_id = _name(given.ticket_id, "ticket_id")
    reason = _words(given.reason, "the reason")
    session = _words(_or(given.agent_session_id, ""), "agent_session_id")

    def decide(sight: Sight) -> list[Event]:
        return [
            *tickets.claim_ticket(
                sight.project, ticket_id, reason=reason, agent_session_id=session, caller=sight.caller
            )
        ]

    return Work(
        tool="falsify.ticket.claim",
        arguments=arguments_of(given),
        decide=decide,
        result=lambda after, _: {"ticket": _told(ticket_row(after.project, ticket_id))},
        suggest=lambda after, _: _go_on(after.project, after.project.tickets[ticket_id]),
        warn=lambda after, _: _is_reading(after.project.tickets[ticket_id]),
        reason=reason,
    )


def _idea(ticket: NewTicket, where: str) -> tickets.Idea:
    kinds: tuple[str, ...] = _or(ticket.required_evidence, ())
    return tickets.Idea(
        title=_words(ticket.title, f"{where}.title"),
        type=ticket.type,
        hypothesis=_words(ticket.hypothesis, f"{where}.hypothesis"),
        instruction=_words(ticket.instruction, f"{where}.instruction"),
        parent_policy=ticket.parent_policy,
        required_evidence=tuple(_name(kind, f"{where}.required_evidence") for kind in kinds),
    )


def _created_tickets(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
    rows = [ticket_row(after.project, event.ticket_id) for event in _all(events, TicketCreated)]
    return {"round_id": _the(events, RoundOpened).round_id, "tickets": _told(rows)}


def _claim_one(after: Sight, events: Sequence[Event]) -> tuple[NextAction, ...]:
    created = [after.project.tickets[event.ticket_id] for event in _all(events, TicketCreated)]
    eligible = next((ticket for ticket in created if ticket.status == "ELIGIBLE"), None)
    if eligible is not None:
        return (suggestions.claim(after.project, eligible),)
    return (suggestions.read(after.project, "falsify.ticket.list", "see what each waits for", sort="created_at"),)


def _waiting_tickets(after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    project, created = after.project, [event.ticket_id for event in _all(events, TicketCreated)]
    first: dict[str, str] = {}
    for ticket in project.tickets.values():
        first.setdefault(ticket.hypothesis_id, ticket.id)
    told = [
        f"{ticket_id} has the hypothesis of {earlier}: what is measured bears on both"
        for ticket_id in created
        if (earlier := first[project.tickets[ticket_id].hypothesis_id]) != ticket_id
    ]
    queued = [ticket for ticket_id in created if (ticket := project.tickets[ticket_id]).status == "QUEUED"]
    told += [f"{ticket.id} cannot be claimed yet: it waits until {waits_for(project, ticket)}" for ticket in queued]
    return tuple(told)


def _is_reading(ticket: Ticket) -> tuple[str, ...]:
    """Return what becomes of a claimed ticket that is no experiment."""
    if ticket.type not in READING:
        return ()
    return (
        (
            f"{ticket.id} asks for {ticket.type}, so that it becomes no node, and no tool ends it: record what you "
            f"find with falsify.belief.record; a person completes it with `falsify ticket complete {ticket.id}`, or "
            f"gives it back with `falsify ticket release {ticket.id}`"
        ),
    )


def _go_on(project: Project, ticket: Ticket) -> tuple[NextAction, ...]:
    """Return what whoever claimed a ticket does next."""
    if ticket.type == "reproduction":
        return (suggestions.materialize(project, ticket),)
    if ticket.type in READING:
        why = f"see what is believed, then do what {ticket.id} asks for and record it with falsify.belief.record"
        return (suggestions.read(project, "falsify.belief.graph", why),)
    why = f"see which config keys may be changed, then materialize {ticket.id} with a config_mutation"
    sections = ["contract", "baseline", "incumbent"]
    return (suggestions.read(project, "falsify.project.get_state", why, include=sections),)


# --- nodes ----------------------------------------------------------------------------------------------------


def materialize_experiment(given: MaterializeExperiment) -> Work:
    """Turn a claimed ticket into a node."""
    ticket_id = _name(given.ticket_id, "ticket_id")
    parent_id = _optional_name(given.parent_node_id, "parent_node_id")
    round_id = _optional_name(given.round_id, "round_id")
    summary = _words(_or(given.change_summary, ""), "change_summary")
    strategy: Strategy = _or(given.implementation_strategy, "structured-config")
    mutation = {} if given.config_mutation is MISSING else given.config_mutation.model_dump(mode="json")

    def decide(sight: Sight) -> list[Event]:
        return [
            *nodes.materialize(
                sight.project,
                ticket_id,
                parent_node_id=parent_id,
                round_id=round_id,
                strategy=strategy,
                mutation=mutation,
                change_summary=summary,
                caller=sight.caller,
            )
        ]

    return Work(
        tool="falsify.experiment.materialize",
        arguments=arguments_of(given),
        decide=decide,
        result=_created_node,
        suggest=_run_it,
        warn=_doubts,
        reason=summary,
    )


def _created_node(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
    created = _the(events, NodeCreated)
    ticket = ticket_row(after.project, created.ticket_id)
    return {"node": _told(node_row(after, created.node_id)), "ticket": _told(ticket)}


def _run_it(after: Sight, events: Sequence[Event]) -> tuple[NextAction, ...]:
    return (suggestions.measure(after.project, after.project.nodes[_the(events, NodeCreated).node_id]),)


def _doubts(after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    """Return what whoever made the node may not have meant."""
    created, project = _the(events, NodeCreated), after.project
    told = []
    if created.parent_id in after.unsound and not created.reproduces:
        told.append(f"{created.node_id} branches from {created.parent_id}, and what that measured is refuted")
    wanted = project.nodes.get(project.tickets[created.ticket_id].reproduces)
    if wanted and wanted.setup != project.nodes[created.node_id].setup:
        told.append(
            f"{created.node_id} measures {created.reproduces} again, and {created.ticket_id} is about {wanted.id}: "
            "it will say nothing of the hypothesis"
        )
    if not runs.admits_run(project):
        told.append(f"{created.node_id} cannot run: {runs.exhausted(project)}")
    return tuple(told)


# --- runs -----------------------------------------------------------------------------------------------------


def start_run(given: StartRun) -> Work:
    """Queue a run of a node."""
    node_id = _name(given.node_id, "node_id")
    reason = _words(given.reason, "the reason")

    def decide(sight: Sight) -> list[Event]:
        return [*runs.queue_run(sight.project, node_id, reason=reason)]

    return Work(
        tool="falsify.run.start",
        arguments=arguments_of(given),
        decide=decide,
        result=_queued_run,
        suggest=_poll_it,
        warn=_costs,
        reason=reason,
    )


def cancel_run(given: CancelRun) -> Work:
    """Call a run off that is queued or goes on."""
    run_id = _name(given.run_id, "run_id")
    reason = _words(given.reason, "the reason")

    def decide(sight: Sight) -> list[Event]:
        seconds = _running_for(sight, run_id)
        return [*runs.cancel_run(sight.project, run_id, reason=reason, seconds=seconds)]

    return Work(
        tool="falsify.run.cancel",
        arguments=arguments_of(given),
        decide=decide,
        result=lambda after, _: _run(after, run_id),
        suggest=_see_what_is_left,
        warn=_not_refunded,
        reason=reason,
    )


def _running_for(sight: Sight, run_id: str) -> float:
    """Return for how many seconds a run has gone on, 0 for one that does not."""
    run = sight.project.runs.get(run_id)
    return (sight.now - run.started_time) / 1e6 if run and run.status == "RUNNING" else 0.0


def _queued_run(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
    return _run(after, _the(events, RunQueued).run_id)


def _poll_it(after: Sight, events: Sequence[Event]) -> tuple[NextAction, ...]:
    return (suggestions.poll(after.project, after.project.runs[_the(events, RunQueued).run_id]),)


def _costs(after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    queued, contract = _the(events, RunQueued), contract_of(after.project)
    told = []
    if any(_all(events, ContractFrozen)):
        told.append("this is the first run: the contract is frozen now, and cannot be changed any more")
    if queued.limit_seconds < contract.run_seconds:
        told.append(
            f"{queued.run_id} may take {queued.limit_seconds:g} s, which is what the budget has left, and not the "
            f"{contract.run_seconds:g} s of the contract"
        )
    if runs.budget(after.project).runs_left < 1:
        told.append(f"{queued.run_id} is the last run of the budget")
    return tuple(told)


def _see_what_is_left(after: Sight, _events: Sequence[Event]) -> tuple[NextAction, ...]:
    why = "see what goes on, and what the budget has left"
    return (suggestions.read(after.project, "falsify.project.get_state", why, include=["budget", "active_runs"]),)


def _not_refunded(_after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    cancelled = _the(events, RunCancelled)
    if not cancelled.seconds:
        return ()
    return (f"{cancelled.run_id} had spent {cancelled.seconds:g} s of the budget, which are not given back",)


# --- decisions ------------------------------------------------------------------------------------------------


def commit_decision(given: CommitDecision) -> Work:
    """Record what is made of a frozen node."""
    verdict: VerdictName = given.verdict
    action: Action = given.action
    refs: tuple[str, ...] = _or(given.evidence_refs, ())
    judgement = decisions.Judgement(
        node_id=_name(given.node_id, "node_id"),
        verdict=verdict,
        action=action,
        rationale=_words(given.rationale, "the rationale"),
        evidence_refs=tuple(_name(ref, "evidence_refs") for ref in refs),
    )

    def decide(sight: Sight) -> list[Event]:
        return join.commit_decision(sight.project, sight.graph, judgement, caller=sight.caller)

    return Work(
        tool="falsify.decision.commit",
        arguments=arguments_of(given),
        decide=decide,
        result=_committed,
        suggest=_follow_up,
        warn=_weak_points,
        reason=judgement.rationale,
        action=action,
    )


def _committed(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
    committed = _the(events, DecisionCommitted)
    believed = [cast("BeliefEvent", event) for event in events if type(event) in BELIEF_EVENTS]
    followed = answers.answer("", after.graph, believed, "", revision=0, epoch=0)
    return {
        "decision": _told(decision_row(after, committed.decision_id)),
        "incumbent": {"before": committed.previous_incumbent, "after": after.project.incumbent},
        "completed_tickets": [event.ticket_id for event in _all(events, TicketCompleted)],
        "changes": _told(followed["changes"]),
        "frontier": _told(followed["frontier"]),
    }


def _follow_up(after: Sight, events: Sequence[Event]) -> tuple[NextAction, ...]:
    committed = _the(events, DecisionCommitted)
    project, node = after.project, after.project.nodes[committed.node_id]
    if committed.action == "REPRODUCE" and not any(under_way(project, node)):
        return (suggestions.reproduce(project, node),)
    if committed.action == "REQUEST_MORE_EVIDENCE":
        return (suggestions.evidence(project, node),)
    listed = suggestions.read(project, "falsify.ticket.list", "see which tickets there are")
    return suggestions.next_steps(after, after.unsound, best(project, 1)) or (listed,)


def _weak_points(after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    committed = _the(events, DecisionCommitted)
    decision_id, node_id = committed.decision_id, committed.node_id
    node = after.project.nodes[node_id]
    told = []
    if committed.action == "PROMOTE" and committed.verdict == "INCONCLUSIVE":
        told.append(f"{decision_id} promotes {node_id}, though {_doubt(committed)}")
    if against := contradictions(after.project, node):
        opponent, before = committed.against_id, committed.previous_incumbent
        told += against
        told.append(f"{decision_id} is held against {opponent or 'nothing'}: {why_against(node_id, opponent, before)}")
    if missing := missing_evidence(after.project, node):
        told.append(f"{node_id} lacks required evidence: {', '.join(missing)}")
    if node_id in after.unsound:
        claim = after.project.runs[node.frozen_by].claim_id
        told.append(f"{decision_id} rests on a measurement that is refuted: see `falsify why {claim}`")
    return tuple(told)


def _doubt(committed: DecisionCommitted) -> str:
    if committed.measured == "INCONCLUSIVE":
        return "the numbers are INCONCLUSIVE"
    return f"who decided calls the numbers INCONCLUSIVE; they say {committed.measured}"


# --- what is told ---------------------------------------------------------------------------------------------


def _told(value: Any) -> Any:
    """Return a JSON value with every text in it harmless: what is told was written by whoever made the ticket."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {name: _told(inner) for name, inner in value.items()}
    return [_told(inner) for inner in value] if isinstance(value, list | tuple) else value


def _run(after: Sight, run_id: str) -> dict[str, Any]:
    run = after.project.runs[run_id]
    row = {**run_row(run, now=after.now), "note": run.note or None}
    return {"run": _told(row), "budget": budget_row(after.project)}


# --- what is taken --------------------------------------------------------------------------------------------


def _or(value: Any, default: T) -> T:
    """Return what was sent, or the default."""
    return default if value is MISSING else cast("T", value)


def _words(text: str, what: str) -> str:
    """Return a text without surrounding white space; raises InvalidInputError for control characters."""
    return clean(text, what=what) if text else ""


def _name(text: str, what: str) -> str:
    """Return a name, or raise InvalidInputError where it is too long or not printable."""
    if text and len(text) <= LONGEST_NAME and text.isprintable():
        return text
    seen = repr(text) if len(text) <= LONGEST_NAME else f"a string of {len(text)}"
    raise InvalidInputError(
        f"{what} must be 1 to {LONGEST_NAME} printable characters, not {seen}",
        hint="correct the arguments and call again; nothing was done",
        reason="invalid_arguments",
    )


def _optional_name(text: Any, what: str) -> str:
    return "" if text is MISSING else _name(text, what)


def _all(events: Sequence[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def _the(events: Sequence[Event], kind: type[E]) -> E:
    """Return the first event of a kind that the command has in any case."""
    return _all(events, kind)[0]
