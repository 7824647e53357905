"""What only people do to research: projects and their terms, the queue, nodes by hand, evidence, rolling back.

Each function makes a command, as `surfaces.tools.workbench_acts` does for the tools; none of these is a tool, and the
domain refuses every one of them to an agent. Its result says in sentences what changed, and shows what it is about.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from pydantic import MISSING

from falsify import join
from falsify.belief.text import clean
from falsify.errors import RefusedError
from falsify.events import Event
from falsify.identity import require_person
from falsify.workbench import attachments, contract, decisions, nodes, runs, tickets, verdicts
from falsify.workbench.events import Contract, EvidenceKind, Mode, NodeCreated, Strategy, TicketCreated
from falsify.workbench.project import Project
from projections.chronicle import sentence
from projections.exhibits import exhibit_row
from projections.project_state import contract_row
from projections.workbench import WORKBENCH_EVENTS
from surfaces.tools.research_rows import decision_row, node_row, project_line, ticket_row
from surfaces.tools.workbench_inputs import CreateTickets, NewTicket
from surfaces.workbench import Result, Sight, Work

Told = Callable[[Sight], Mapping[str, Any]]


# --- the project ----------------------------------------------------------------------------------------------


def create_project(project_id: str, *, objective: str, mode: Mode, terms: Contract, parent: str) -> Work:
    """Begin a project."""

    def decide(sight: Sight) -> list[Event]:
        return join.create_project(
            sight.project,
            sight.graph,
            project_id=project_id,
            objective=objective,
            mode=mode,
            contract=terms,
            parent=parent,
            caller=sight.caller,
        )

    arguments = {"project_id": project_id, "objective": objective, "mode": mode, "parent": parent}
    return Work(
        tool="project.create", arguments={**arguments, "contract": asdict(terms)}, decide=decide, result=_project()
    )


def amend(terms: Contract) -> Work:
    """Change a contract under which nothing ran yet."""
    return Work(
        tool="project.amend",
        arguments={"contract": asdict(terms)},
        decide=lambda sight: [*contract.amend_contract(sight.project, terms, caller=sight.caller)],
        result=_project(),
    )


def change_mode(mode: Mode, *, reason: str) -> Work:
    """Change how much agents may do by themselves."""
    return Work(
        tool="project.mode",
        arguments={"mode": mode, "reason": reason},
        decide=lambda sight: [*contract.change_mode(sight.project, mode, reason=reason, caller=sight.caller)],
        result=_project(),
        reason=reason,
    )


def register_baseline(*, run: bool) -> Work:
    """Register the baseline, and queue its run; one that is registered but never ran is only queued."""

    def decide(sight: Sight) -> list[Event]:
        require_person(sight.caller, "register the baseline")
        project = sight.project
        known = project.nodes.get(project.baseline)
        made = [] if run and known and not known.run_ids else nodes.register_baseline(project, caller=sight.caller)
        if not run:
            return [*made]
        after = sight.after(cast("Sequence[Event]", made)).project
        return [*made, *runs.queue_run(after, after.baseline, reason="the baseline is measured first")]

    def told(after: Sight) -> dict[str, Any]:
        node = after.project.nodes[after.project.baseline]
        return {"node": node_row(after, node.id), "run_id": node.run_ids[-1] if node.run_ids else ""}

    return Work(tool="project.baseline", arguments={"run": run}, decide=decide, result=_changed(told))


# --- tickets --------------------------------------------------------------------------------------------------


def draft_tickets(given: CreateTickets) -> Work:
    """Write a round of tickets down, all or none, which are not in the queue yet."""
    ideas = [_idea(each) for each in given.tickets]

    def decide(sight: Sight) -> list[Event]:
        require_person(sight.caller, "write drafts of tickets")
        return join.create_tickets(sight.project, sight.graph, ideas, author=sight.caller, source="human", draft=True)

    def result(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
        created = [event.ticket_id for event in events if isinstance(event, TicketCreated)]
        rows = [ticket_row(after.project, each) for each in created]
        return {"round_id": rows[0]["round_id"], "tickets": rows}

    return Work(
        tool="ticket.draft", arguments={"tickets": [asdict(idea) for idea in ideas]}, decide=decide, result=result
    )


def _idea(given: NewTicket) -> tickets.Idea:
    return tickets.Idea(
        title=clean(given.title, what="the title"),
        type=given.type,
        hypothesis=clean(given.hypothesis, what="the hypothesis"),
        instruction=clean(given.instruction, what="the instruction"),
        parent_policy=given.parent_policy,
        required_evidence=() if given.required_evidence is MISSING else given.required_evidence,
    )


def queue(ticket_id: str) -> Work:
    """Put a draft, or a ticket that was blocked, into the queue."""
    return _of_ticket("queue", ticket_id, lambda s: tickets.queue_ticket(s.project, ticket_id, caller=s.caller))


def make_eligible(ticket_id: str) -> Work:
    """Let a queued ticket be claimed."""
    return _of_ticket("eligible", ticket_id, lambda s: tickets.make_eligible(s.project, ticket_id, caller=s.caller))


def pin(ticket_id: str, *, pinned: bool) -> Work:
    """Put a ticket on top of the queue, or take it from there."""
    return _of_ticket(
        "pin" if pinned else "unpin",
        ticket_id,
        lambda s: tickets.pin_ticket(s.project, ticket_id, pinned=pinned, caller=s.caller),
    )


def prioritize(ticket_id: str, priority: int) -> Work:
    """Say how much a ticket matters, -9 to 9."""
    return _of_ticket(
        "priority",
        ticket_id,
        lambda s: tickets.prioritize_ticket(s.project, ticket_id, priority=priority, caller=s.caller),
        priority=priority,
    )


def release(ticket_id: str, *, reason: str) -> Work:
    """End a claim. An agent may end its own."""
    return _of_ticket(
        "release",
        ticket_id,
        lambda s: tickets.release_ticket(s.project, ticket_id, reason=reason, caller=s.caller),
        reason=reason,
    )


def block(ticket_id: str, *, reason: str) -> Work:
    """Keep a ticket from being worked on."""
    return _of_ticket(
        "block",
        ticket_id,
        lambda s: tickets.block_ticket(s.project, ticket_id, reason=reason, caller=s.caller),
        reason=reason,
    )


def cancel(ticket_id: str, *, reason: str) -> Work:
    """End a ticket that will not be worked on."""
    return _of_ticket(
        "cancel",
        ticket_id,
        lambda s: tickets.cancel_ticket(s.project, ticket_id, reason=reason, caller=s.caller),
        reason=reason,
    )


def complete(ticket_id: str, *, reason: str) -> Work:
    """End a ticket whose question is answered without a decision."""
    return _of_ticket(
        "complete",
        ticket_id,
        lambda s: tickets.complete_ticket(s.project, ticket_id, reason=reason, caller=s.caller),
        reason=reason,
    )


def materialize(
    ticket_id: str,
    *,
    parent_node_id: str,
    strategy: Strategy,
    mutation: Mapping[str, object],
    change_summary: str,
    draft: bool,
) -> Work:
    """Turn a claimed ticket into a node, whatever keys its executor declares; a draft cannot run yet."""

    def decide(sight: Sight) -> list[Event]:
        require_person(sight.caller, "materialize a ticket in this way")
        return [
            *nodes.materialize(
                sight.project,
                ticket_id,
                parent_node_id=parent_node_id,
                strategy=strategy,
                mutation=mutation,
                change_summary=change_summary,
                caller=sight.caller,
                draft=draft,
            )
        ]

    def result(after: Sight, events: Sequence[Event]) -> dict[str, Any]:
        node_id = next(e.node_id for e in events if isinstance(e, NodeCreated))
        ticket = ticket_row(after.project, ticket_id)
        return {**_sentences(after.project, events), "node": node_row(after, node_id), "ticket": ticket}

    arguments = {
        "ticket_id": ticket_id,
        "parent_node_id": parent_node_id,
        "strategy": strategy,
        "mutation": dict(mutation),
        "change_summary": change_summary,
        "draft": draft,
    }
    return Work(tool="ticket.materialize", arguments=arguments, decide=decide, result=result)


# --- nodes and their evidence ---------------------------------------------------------------------------------


def ready_node(node_id: str, *, reason: str) -> Work:
    """Let a node run."""
    return _of_node("ready", node_id, nodes.ready_node, reason=reason)


def block_node(node_id: str, *, reason: str) -> Work:
    """Keep a node from running."""
    return _of_node("block", node_id, nodes.block_node, reason=reason)


def implement_node(node_id: str, *, reason: str) -> Work:
    """Take a node out of the queue while its code is changed."""
    return _of_node("implement", node_id, nodes.begin_implementation, reason=reason)


def attach_evidence(node_id: str, *, kind: EvidenceKind, name: str, media_type: str, sha256: str, size: int) -> Work:
    """Make a stored file evidence of a node."""
    file = {"name": name, "media_type": media_type, "sha256": sha256, "size": size}

    def decide(sight: Sight) -> list[Event]:
        return [
            *attachments.attach(
                sight.project,
                node_id,
                kind=kind,
                name=name,
                media_type=media_type,
                sha256=sha256,
                size=size,
                caller=sight.caller,
            )
        ]

    def told(after: Sight) -> dict[str, Any]:
        stored = (after.project.evidence[each] for each in after.project.nodes[node_id].evidence_ids)
        same = next(e for e in stored if (e.exhibit.kind, e.exhibit.sha256) == (kind, sha256))
        return {"evidence": exhibit_row(same)}

    arguments = {"node_id": node_id, "kind": kind, **file}
    return Work(tool="evidence.attach", arguments=arguments, decide=decide, result=_changed(told))


# --- decisions ------------------------------------------------------------------------------------------------


def roll_back(*, reason: str) -> Work:
    """Promote the last earlier incumbent whose measurement stands."""

    def decide(sight: Sight) -> list[Event]:
        require_person(sight.caller, "roll the incumbent back")
        return join.commit_decision(sight.project, sight.graph, _return(sight, reason), caller=sight.caller)

    def told(after: Sight) -> dict[str, Any]:
        last = next(reversed(after.project.decisions))
        return {"decision": decision_row(after, last), "incumbent": after.project.incumbent}

    return Work(
        tool="decision.rollback", arguments={"reason": reason}, decide=decide, result=_changed(told), reason=reason
    )


def _return(sight: Sight, reason: str) -> decisions.Judgement:
    """Return the decision that promotes an earlier incumbent: IMPROVED if the numbers say so, else INCONCLUSIVE."""
    project, unsound = sight.project, sight.unsound
    contract.contract_of(project)
    node_id = next((each for each in decisions.earlier_incumbents(project) if each not in unsound), "")
    if not node_id:
        raise RefusedError(
            f"{project.id} has no earlier incumbent whose measurement stands",
            hint="measure one anew: make a ticket of type reproduction, and promote what holds",
            reason="nothing_to_roll_back_to",
        )
    node = project.nodes[node_id]
    measured = verdicts.compare(project, node, verdicts.reference_of(project, node, unsound=unsound)).verdict
    return decisions.Judgement(
        node_id=node_id,
        verdict="IMPROVED" if measured == "IMPROVED" else "INCONCLUSIVE",
        action="PROMOTE",
        rationale=reason or f"Rolled back from {project.incumbent} to {node_id}.",
    )


# --- what is told ---------------------------------------------------------------------------------------------


def _of_ticket(
    name: str, ticket_id: str, decide: Callable[[Sight], Sequence[Event]], *, reason: str = "", **more: Any
) -> Work:
    said = {"reason": reason} if reason else {}
    return Work(
        tool=f"ticket.{name}",
        arguments={"ticket_id": ticket_id, **said, **more},
        decide=lambda sight: [*decide(sight)],
        result=_changed(lambda after: {"ticket": ticket_row(after.project, ticket_id)}),
        reason=reason,
    )


def _of_node(name: str, node_id: str, move: Callable[..., Sequence[Event]], *, reason: str) -> Work:
    return Work(
        tool=f"node.{name}",
        arguments={"node_id": node_id, "reason": reason},
        decide=lambda sight: [*move(sight.project, node_id, reason=reason, caller=sight.caller)],
        result=_changed(lambda after: {"node": node_row(after, node_id)}),
        reason=reason,
    )


def _project() -> Result:
    def told(after: Sight) -> dict[str, Any]:
        return {"project": project_line(after), "contract": contract_row(after.project)}

    return _changed(told)


def _changed(told: Told) -> Result:
    """Return what tells what changed, and then the rest."""
    return lambda after, events: {**_sentences(after.project, events), **told(after)}


def _sentences(project: Project, events: Sequence[Event]) -> dict[str, Any]:
    return {"done": [sentence(event, project) for event in events if type(event) in WORKBENCH_EVENTS]}
