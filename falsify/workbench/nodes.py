"""Nodes: configurations to be measured, from the baseline on."""

from collections.abc import Mapping

from falsify.config_keys import Config, admit_all, fingerprint
from falsify.errors import ForbiddenError, InvalidInputError, NotFoundError, RefusedError
from falsify.identity import is_agent, require_person
from falsify.workbench.contract import contract_of
from falsify.workbench.events import (
    Contract,
    NodeBlocked,
    NodeCreated,
    NodeImplementationBegan,
    NodeReadied,
    NodeStatus,
    Strategy,
    TicketMaterialized,
    WorkbenchEvent,
)
from falsify.workbench.plan import resolved
from falsify.workbench.project import Node, Project, Setup, Ticket
from falsify.workbench.states import move_node
from falsify.workbench.tickets import READING, ticket_of, unresolved, waits_for
from falsify.workbench.verdicts import node_of

BUILTIN = "builtin"
"""The executor whose code nobody can change."""


def register_baseline(project: Project, *, caller: str) -> list[WorkbenchEvent]:
    """Return the node that the contract's base configuration is; every other node descends from it."""
    contract = contract_of(project)
    require_person(caller, "register the baseline")
    if project.baseline:
        raise RefusedError(
            f"{project.id} has the baseline {project.baseline}",
            hint=f"run it with `falsify run start {project.baseline}`",
            reason="baseline_registered",
        )
    return [_created(project, contract, config=dict(contract.base), change_summary="the baseline")]


def materialize(
    project: Project,
    ticket_id: str,
    *,
    parent_node_id: str = "",
    round_id: str = "",
    strategy: Strategy = "structured-config",
    mutation: Mapping[str, object],
    change_summary: str = "",
    caller: str,
    draft: bool = False,
) -> list[WorkbenchEvent]:
    """Return the node that a claimed ticket becomes: its parent's configuration with the mutation, READY to run.

    Refuses a mutation outside the whitelist, one that changes nothing, and an exact repeat of a configuration that was
    tried, unless the ticket is a reproduction; each for its own reason.
    """
    contract = contract_of(project)
    ticket = ticket_of(project, ticket_id)
    _check_claim(project, ticket, caller)
    if round_id and round_id not in project.rounds:
        raise NotFoundError(
            f"there is no round {round_id!r}", hint="leave it out to stay in the ticket's own round", reason="no_round"
        )
    parent = _parent(project, ticket, parent_node_id, round_id or ticket.round_id)
    changes = _changes(contract, parent, mutation)
    config = {**parent.config, **changes}
    _check_code(contract, ticket, strategy=strategy, change_summary=change_summary)
    reproduces = _original(project, ticket, (parent.code, fingerprint(config))) if ticket.type == "reproduction" else ""
    if not reproduces and strategy == "structured-config":
        _check_change(project, parent, changes)
    created = _created(
        project,
        contract,
        config=config,
        mutation=changes,
        ticket_id=ticket.id,
        parent_id=parent.id,
        round_id=round_id or ticket.round_id,
        strategy=strategy,
        change_summary=change_summary,
        reproduces=reproduces,
        status="DRAFT" if draft else "READY",
    )
    return [created, TicketMaterialized(ticket_id=ticket.id, node_id=created.node_id)]


def begin_implementation(project: Project, node_id: str, *, reason: str, caller: str) -> list[WorkbenchEvent]:
    """Return what takes a node out of the queue while its code is changed."""
    node = _movable(project, node_id, "IMPLEMENTING", caller)
    if contract_of(project).executor == BUILTIN:
        raise RefusedError(
            "the built-in trainer has no code to change", hint="change its configuration", reason="no_code"
        )
    return [NodeImplementationBegan(node_id=node.id, reason=reason)]


def ready_node(project: Project, node_id: str, *, reason: str, caller: str) -> list[WorkbenchEvent]:
    """Return what lets a node run: a draft, one that was blocked or repaired, or whose code was changed."""
    node = _movable(project, node_id, "READY", caller)
    return [NodeReadied(node_id=node.id, reason=reason)]


def block_node(project: Project, node_id: str, *, reason: str, caller: str) -> list[WorkbenchEvent]:
    """Return what keeps a node from running."""
    node = _movable(project, node_id, "BLOCKED", caller)
    return [NodeBlocked(node_id=node.id, reason=reason)]


def parent_of(project: Project, ticket: Ticket, parent_node_id: str = "", round_id: str = "") -> str:
    """Return the node that a ticket would branch from now, or empty where there is none yet."""
    return parent_node_id or resolved(project, ticket, round_id or ticket.round_id)


def _movable(project: Project, node_id: str, status: NodeStatus, caller: str) -> Node:
    require_person(caller, "move a node by hand")
    node = node_of(project, node_id)
    move_node(node.id, node.status, status)
    if node.status == "RUNNING" or (node.run_ids and node.run_ids[-1] in project.active):
        raise RefusedError(
            f"{node.run_ids[-1]} of {node.id} is {project.runs[node.run_ids[-1]].status}",
            hint=f"cancel it first: `falsify run cancel {node.run_ids[-1]}`",
            reason="run_active",
        )
    return node


def _check_claim(project: Project, ticket: Ticket, caller: str) -> None:
    if ticket.status != "CLAIMED":
        raise RefusedError(
            f"{ticket.id} is {ticket.status}, and only a CLAIMED ticket becomes a node",
            hint=_before(project, ticket),
            reason=f"ticket_{ticket.status.lower()}",
            details={"ticket": ticket.id, "status": ticket.status},
        )
    if is_agent(caller) and ticket.claimed_by != caller:
        raise ForbiddenError(
            f"{ticket.id} is claimed by {ticket.claimed_by}", hint="claim another ticket", reason="not_your_claim"
        )
    if ticket.type in READING:
        raise RefusedError(
            f"{ticket.id} asks for {ticket.type}, which is no experiment",
            hint=f"record what you find with falsify.belief.record; a person completes the ticket with "
            f"`falsify ticket complete {ticket.id}`, or gives it back with `falsify ticket release {ticket.id}`",
            reason="not_an_experiment",
        )


def _before(project: Project, ticket: Ticket) -> str:
    """Return what has to be done before a ticket can become a node, or instead."""
    match ticket.status:
        case "ELIGIBLE":
            return "claim it first with falsify.ticket.claim"
        case "MATERIALIZED":
            return f"it is {ticket.node_id} already: go on with that, or create another ticket"
        case "COMPLETED" | "CANCELLED":
            return "that is final: create another ticket"
    then = "" if ticket.node_id else "; claim it then"
    return f"it waits until {waits_for(project, ticket)}{then}"


def _parent(project: Project, ticket: Ticket, named: str, round_id: str) -> Node:
    parent_id = parent_of(project, ticket, named, round_id)
    if not parent_id:
        raise unresolved(ticket)
    parent = node_of(project, parent_id)
    if parent.status != "FROZEN":
        raise RefusedError(
            f"the parent {parent.id} is {parent.status}, and only a FROZEN node has children",
            hint="branch from the incumbent, or wait until the parent is measured",
            reason="parent_not_frozen",
            details={"parent": parent.id, "status": parent.status},
        )
    return parent


def _changes(contract: Contract, parent: Node, mutation: Mapping[str, object]) -> Config:
    """Return the keys that the mutation really changes."""
    allowed = [key.name for key in contract.keys]
    for name in mutation:
        if name not in allowed:
            raise RefusedError(
                f"the contract does not let anybody change {name!r}",
                hint=f"the mutable keys are {', '.join(allowed) or 'none'}",
                reason="key_not_mutable",
                details={"key": name, "mutable": allowed},
            )
    try:
        admitted = admit_all(contract.keys, mutation)
    except InvalidInputError as error:
        raise RefusedError(error.message, hint=error.hint, reason="out_of_range") from error
    return {name: value for name, value in admitted.items() if parent.config.get(name) != value}


def _check_code(contract: Contract, ticket: Ticket, *, strategy: Strategy, change_summary: str) -> None:
    if strategy == "structured-config":
        return
    if contract.executor == BUILTIN:
        raise RefusedError(
            f"the built-in trainer has no code that {strategy!r} could change",
            hint="use structured-config with a config_mutation",
            reason="no_code",
        )
    if ticket.type == "reproduction":
        raise RefusedError(
            f"{ticket.id} is a reproduction, and {strategy!r} would change its code",
            hint="use structured-config without a config_mutation; for other code, make a ticket of type experiment",
            reason="code_changed",
        )
    if not change_summary.strip():
        raise InvalidInputError(
            "a change of code needs a change_summary", hint="say what was changed", reason="no_change_summary"
        )


def _check_change(project: Project, parent: Node, changes: Config) -> None:
    if not changes:
        raise RefusedError(
            f"the mutation changes nothing in the configuration of {parent.id}",
            hint="set at least one key to another value; to measure it again, make a ticket of type reproduction",
            reason="no_op_mutation",
            details={"parent": parent.id},
        )
    earlier = project.tried.get((parent.code, fingerprint({**parent.config, **changes})))
    if earlier:
        raise RefusedError(
            f"{earlier} has this very configuration",
            hint=f"read it with falsify.node.compare; to measure it again, make a ticket of type reproduction "
            f"and branch from {earlier}",
            reason="repeated_config",
            details={"node": earlier},
        )


def _original(project: Project, ticket: Ticket, setup: Setup) -> str:
    """Return the first node that was measured with the setup that a reproduction measures again."""
    measured = project.measured.get(setup)
    if not measured:
        raise RefusedError(
            f"no frozen node has the configuration that {ticket.id} is to reproduce",
            hint="leave config_mutation out to reproduce the parent, or name another parent_node_id",
            reason="nothing_to_reproduce",
        )
    return measured[0]


def _created(
    project: Project,
    contract: Contract,
    *,
    config: Config,
    mutation: Config | None = None,
    ticket_id: str = "",
    parent_id: str = "",
    round_id: str = "",
    strategy: Strategy = "structured-config",
    change_summary: str,
    reproduces: str = "",
    status: NodeStatus = "READY",
) -> NodeCreated:
    """Return the node; a reproduction is measured with a seed that its configuration was not measured with before."""
    again = sum(node.reproduces == reproduces for node in project.nodes.values()) + 1 if reproduces else 0
    return NodeCreated(
        node_id=f"N-{len(project.nodes) + 1}",
        ticket_id=ticket_id,
        parent_id=parent_id,
        round_id=round_id,
        strategy=strategy,
        mutation=mutation or {},
        config=config,
        seed=contract.seed + again,
        change_summary=change_summary,
        reproduces=reproduces,
        status=status,
    )
