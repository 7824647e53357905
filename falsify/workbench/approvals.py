"""Approvals: what was asked for, what it relies on, and the person who allows it, once."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from falsify.errors import ConflictError, NotFoundError, RefusedError
from falsify.identity import require_person
from falsify.workbench.events import (
    ApprovalGranted,
    ApprovalRejected,
    ApprovalRequested,
    Fact,
    WorkbenchEvent,
)
from falsify.workbench.nodes import parent_of
from falsify.workbench.project import Approval, Project
from falsify.workbench.runs import admits_run

StateOf = Callable[[str], str]
"""Says which truth-state the belief has that a name stands for: `absent` for none, `ambiguous` for several."""


def absent(_name: str) -> str:
    """Return the state of a belief where there are none."""
    return "absent"


@dataclass(frozen=True, slots=True)
class Believed:
    """What a request asks of the beliefs: which frozen nodes' measurements are refuted, and the state of a belief."""

    unsound: frozenset[str] = frozenset()
    state: StateOf = absent


Facts = Callable[[Project, Mapping[str, Any], Believed], list[Fact]]


def digest(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a tool and its arguments, whatever the order of their keys, in hexadecimal."""
    return hashlib.sha256(orjson.dumps([tool, arguments], option=orjson.OPT_SORT_KEYS)).hexdigest()


def request(
    project: Project,
    *,
    tool: str,
    arguments: Mapping[str, Any],
    caller: str,
    reason: str,
    effects: tuple[str, ...],
    falls: tuple[str, ...] = (),
    unsound: frozenset[str] = frozenset(),
    state: StateOf = absent,
) -> ApprovalRequested:
    """Return the request; its id is made of the project, the revision and what is asked for."""
    asked = digest(tool, arguments)
    unique = hashlib.sha256(f"{project.id}\0{project.revision}\0{caller}\0{asked}".encode()).hexdigest()
    return ApprovalRequested(
        approval_id=f"A-{unique[:10]}",
        tool=tool,
        arguments=arguments,
        digest=asked,
        asked_by=caller,
        reason=reason,
        asked_at=project.revision,
        facts=facts(project, tool, arguments, unsound, state),
        effects=effects,
        falls=falls,
    )


def grant(
    project: Project, approval_id: str, *, caller: str, note: str = "", effects: tuple[str, ...] = ()
) -> list[WorkbenchEvent]:
    """Return the approval of what is pending; what was asked for is carried out in the same command.

    `effects` is what that comes to, a sentence each.
    """
    require_person(caller, "approve anything")
    asked = pending(project, approval_id).request
    granted = ApprovalGranted(
        approval_id=approval_id, digest=asked.digest, approved_by=caller, note=note, effects=effects
    )
    return [granted]


def reject(project: Project, approval_id: str, *, reason: str, caller: str) -> list[WorkbenchEvent]:
    """Return the refusal of what is pending."""
    require_person(caller, "reject a request")
    pending(project, approval_id)
    return [ApprovalRejected(approval_id=approval_id, rejected_by=caller, reason=reason)]


def broken(
    project: Project, approval: Approval, unsound: frozenset[str] = frozenset(), state: StateOf = absent
) -> list[str]:
    """Return what the request relied on and is not so any more, a sentence each."""
    asked = approval.request
    now = {f.about: f.value for f in facts(project, asked.tool, asked.arguments, unsound, state)}
    return [
        f"{fact.about} {now.get(fact.about, 'unknown')} now, and was {fact.value} when it was asked for"
        for fact in asked.facts
        if now.get(fact.about) != fact.value
    ]


def facts(
    project: Project,
    tool: str,
    arguments: Mapping[str, Any],
    unsound: frozenset[str] = frozenset(),
    state: StateOf = absent,
) -> tuple[Fact, ...]:
    """Return what a command relies on, as it is now."""
    return tuple(RELIES_ON[tool](project, arguments, Believed(unsound, state)))


def pending(project: Project, approval_id: str) -> Approval:
    """Return a request that nobody answered yet; raises RefusedError for one that somebody did."""
    approval = approval_of(project, approval_id)
    if approval.status == "rejected":
        raise RefusedError(
            f"{approval_id} was rejected by {approval.decided_by}",
            hint="it has to be asked for again",
            reason="approval_rejected",
        )
    if approval.status != "pending":
        raise ConflictError(
            f"{approval_id} was approved by {approval.decided_by} and carried out",
            hint="nothing more is to be done",
            reason="approval_executed",
        )
    return approval


def approval_of(project: Project, approval_id: str) -> Approval:
    """Return a request, or raise NotFoundError."""
    approval = project.approvals.get(approval_id)
    if approval is None:
        raise NotFoundError(
            f"there is no approval {approval_id!r}", hint="see `falsify approvals list`", reason="no_approval"
        )
    return approval


def _creating(project: Project, _arguments: Mapping[str, Any], _believed: Believed) -> list[Fact]:
    return [Fact(about="the project is", value=project.id)]


def _claiming(project: Project, arguments: Mapping[str, Any], _believed: Believed) -> list[Fact]:
    return [_ticket(project, arguments)]


def _materializing(project: Project, arguments: Mapping[str, Any], _believed: Believed) -> list[Fact]:
    ticket = project.tickets.get(arguments["ticket_id"])
    round_id = arguments.get("round_id", "")
    if ticket is None or (round_id and round_id not in project.rounds):
        return [_ticket(project, arguments)]
    parent_id = parent_of(project, ticket, arguments.get("parent_node_id", ""), round_id)
    parent = project.nodes.get(parent_id)
    return [
        _ticket(project, arguments),
        Fact(about=f"who holds {ticket.id} is", value=ticket.claimed_by),
        Fact(about=f"the parent of {ticket.id} is", value=parent_id),
        Fact(about=f"the status of the parent of {ticket.id} is", value=parent.status if parent else "absent"),
    ]


def _starting(project: Project, arguments: Mapping[str, Any], _believed: Believed) -> list[Fact]:
    return [
        _node(project, arguments),
        Fact(about="the budget for another run is", value="there" if admits_run(project) else "spent"),
    ]


def _cancelling(project: Project, arguments: Mapping[str, Any], _believed: Believed) -> list[Fact]:
    run = project.runs.get(arguments["run_id"])
    return [Fact(about=f"run {arguments['run_id']} is", value="active" if run and run.active else "over")]


def _deciding(project: Project, arguments: Mapping[str, Any], believed: Believed) -> list[Fact]:
    node_id, unsound = arguments["node_id"], believed.unsound
    return [
        _node(project, arguments),
        Fact(about="the incumbent is", value=project.incumbent),
        Fact(about=f"the measurement of {node_id} is", value="refuted" if node_id in unsound else "standing"),
        Fact(about="the incumbent's measurement is", value="refuted" if project.incumbent in unsound else "standing"),
    ]


def _recording(project: Project, arguments: Mapping[str, Any], believed: Believed) -> list[Fact]:
    """Whatever else was recorded since, a claim still bears on the question that it was made under."""
    named = arguments.get("question_id", "")
    if not named:
        return [Fact(about="the project is", value=project.id)]
    known = "absent" if believed.state(named) in {"absent", "ambiguous"} else "there"
    return [Fact(about=f"question {named} is", value=known)]


def _retracting(_project: Project, arguments: Mapping[str, Any], believed: Believed) -> list[Fact]:
    named = arguments["evidence_id"]
    return [Fact(about=f"evidence {named} is", value=believed.state(named))]


def _ticket(project: Project, arguments: Mapping[str, Any]) -> Fact:
    ticket = project.tickets.get(arguments["ticket_id"])
    return Fact(about=f"ticket {arguments['ticket_id']} is", value=ticket.status if ticket else "absent")


def _node(project: Project, arguments: Mapping[str, Any]) -> Fact:
    node = project.nodes.get(arguments["node_id"])
    return Fact(about=f"node {arguments['node_id']} is", value=node.status if node else "absent")


RELIES_ON: Final[Mapping[str, Facts]] = {
    "falsify.ticket.create": _creating,
    "falsify.ticket.claim": _claiming,
    "falsify.experiment.materialize": _materializing,
    "falsify.run.start": _starting,
    "falsify.run.cancel": _cancelling,
    "falsify.decision.commit": _deciding,
    "falsify.belief.record": _recording,
    "falsify.belief.revise": _recording,
    "falsify.belief.retract": _retracting,
}
"""What must still hold when a request is approved; other changes to the project do not spoil it."""
