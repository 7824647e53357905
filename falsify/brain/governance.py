"""Changing who may see and decide what: foreseen and done by the same pure function, and undone by a later event.

An operation is validated by the map that it would lead to. Where the organisation wants every change approved, it is
staged as a proposal, and carried out when that is approved.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from falsify.brain.arguments import Arguments, refused
from falsify.brain.events import BrainEvent, GovernanceApplied, OrgAccepted, ProposalApproved, ProposalStaged
from falsify.brain.library import Library
from falsify.brain.operations import OPERATIONS, arguments_of, operation_of
from falsify.brain.org import EMPTY, GENERAL, Org, canonical
from falsify.brain.org_difference import left_over, steps
from falsify.brain.org_file import PATH
from falsify.brain.org_rules import Fault, errors, faults, moved, widened
from falsify.brain.org_sentences import Told
from falsify.brain.scope import is_owner
from falsify.errors import ConflictError, ForbiddenError, NotFoundError, RefusedError

CATEGORY: Final = "governance"
"""Who validates decisions of this category may approve the owner's changes, beside the owner."""

SHOWN: Final = 5
"""How many operations a refusal lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an operation would do: the map before and after it, and what undoes it."""

    op: str
    arguments: Arguments
    before: Org
    after: Org
    inverse_op: str
    inverse_arguments: Arguments

    def told(self, org: Org) -> Told:
        """Return how things stand on a map, in plain French and English."""
        return OPERATIONS[self.op].tell(org, self.arguments)

    @property
    def moved(self) -> list[str]:
        """The identities whose scope it changes."""
        return moved(self.before, self.after)

    @property
    def warnings(self) -> list[str]:
        """What the owner should know before: who may see or change more, and what would be odd about the map."""
        wider = [f"widening: {identity} {what}" for identity, what in widened(self.before, self.after)]
        return [*wider, *(f"{fault.rule}: {fault.message}" for fault in _new(self.before, self.after, faults))]


def plan(org: Org, op: str, given: Mapping[str, object]) -> Plan:
    """Return what an operation would do to a map.

    Raises RefusedError, its reason a stable word, for arguments that do not fit, for what would change nothing, and for
    what would leave a map that is not valid.
    """
    if org == EMPTY:
        raise refused("no_org", "there is no org map yet", "accept one: `falsify brain org import FILE`")
    operation = operation_of(op)
    arguments = arguments_of(org, op, given)
    after = operation.change(org, arguments)
    for fault in _new(org, after, errors):
        raise refused(fault.rule, fault.message, fault.hint)
    inverse_op, inverse_arguments = operation.inverse(org, arguments)
    return Plan(
        op=op, arguments=arguments, before=org, after=after, inverse_op=inverse_op, inverse_arguments=inverse_arguments
    )


def plan_undo(library: Library, operation_id: str) -> Plan:
    """Return what undoing an operation would do.

    Raises NotFoundError where there is none of that id, and RefusedError where it was undone already or the map has
    moved on, so that its inverse would not lead back.
    """
    done = library.operations.get(operation_id)
    if done is None:
        message = f"there is no operation {ascii(operation_id)[:80]}"
        raise NotFoundError(message, hint="see `falsify brain governance log`", reason="no_operation")
    if operation_id in library.undone:
        raise refused("already_undone", f"{operation_id} was undone already", "undo what undid it, or apply it again")
    message, hint = (
        f"the map has moved on since {operation_id}",
        "see `falsify brain governance log`, and apply what is needed",
    )
    try:
        back = plan(library.org, done.inverse_op, done.inverse_arguments)
    except RefusedError as error:
        raise refused("moved_on", f"{message}: {error.message}", hint) from error
    if (back.inverse_op, back.inverse_arguments) != (done.op, done.arguments):
        raise refused("moved_on", message, hint)
    return back


# --- decisions ------------------------------------------------------------------------------------------------


def accept(library: Library, org: Org, *, source: str, caller: str, replace: bool = False) -> list[BrainEvent]:
    """Return the acceptance of a map that was found valid; of the one that holds already, nothing.

    Raises RefusedError where another one was accepted before, unless the owner wants it replaced as a whole.
    """
    require_owner(org if library.org == EMPTY else library.org, caller)
    if found := errors(org):
        raise refused(found[0].rule, found[0].message, found[0].hint)
    wanted = canonical(org)
    if wanted == library.org:
        return []
    if library.org != EMPTY and not replace:
        message = "an org map was accepted already, and this one is different"
        raise refused("org_exists", message, _instead(library.org, wanted))
    return [OrgAccepted(org=wanted.as_json(), source=source)]


def apply(library: Library, op: str, given: Mapping[str, object], *, caller: str) -> list[BrainEvent]:
    """Return the change of the map, or, where changes are to be approved, the proposal to change it."""
    require_owner(library.org, caller)
    return _decided(library, plan(library.org, op, given), caller=caller)


def undo(library: Library, operation_id: str, *, caller: str) -> list[BrainEvent]:
    """Return the change that takes an operation back, or the proposal to do so."""
    require_owner(library.org, caller)
    return _decided(library, plan_undo(library, operation_id), caller=caller, undoes=operation_id)


def approve(library: Library, proposal_id: str, *, caller: str, note: str = "") -> list[BrainEvent]:
    """Return the approval of a proposed change, and the change as it comes out now.

    Raises ForbiddenError for who may not approve it, ConflictError where it was decided already, and RefusedError where
    the map does not admit it any more.
    """
    require_approver(library.org, caller)
    staged = _pending(library, proposal_id)
    change = proposed(library, staged)
    undoes = str(orjson.loads(staged.text)["undoes"])
    approved = ProposalApproved(proposal_id=proposal_id, digest=staged.digest, approved_by=caller, note=note)
    return [approved, _applied(library, change, caller=staged.proposed_by, undoes=undoes)]


def proposed(library: Library, staged: ProposalStaged) -> Plan:
    """Return what a staged change would do now; raises as `plan` does."""
    wanted = orjson.loads(staged.text)
    if wanted["undoes"]:
        return plan_undo(library, wanted["undoes"])
    return plan(library.org, wanted["op"], wanted["arguments"])


def require_owner(org: Org, caller: str) -> None:
    """Raise ForbiddenError for anybody but the owner."""
    if not is_owner(org, caller):
        raise ForbiddenError(
            "only the owner may read or change the governance of this organisation",
            hint="ask the owner",
            reason="unauthorized",
        )


def require_approver(org: Org, caller: str) -> None:
    """Raise ForbiddenError for anybody but the owner and who validates decisions on governance."""
    kind, _, slug = caller.partition(":")
    validates = kind == "person" and any(p.slug == slug and CATEGORY in p.validates for p in org.people)
    if not validates and not is_owner(org, caller):
        raise ForbiddenError(
            "only the owner, or who validates governance, may decide on a change of the org map",
            hint=f"the owner lets somebody do so with add_validates SLUG {CATEGORY}",
            reason="not_an_approver",
        )


def _decided(library: Library, change: Plan, *, caller: str, undoes: str = "") -> list[BrainEvent]:
    if library.org.meta_approval:
        return [_staged(library, change, caller=caller, undoes=undoes)]
    return [_applied(library, change, caller=caller, undoes=undoes)]


def _applied(library: Library, change: Plan, *, caller: str, undoes: str) -> GovernanceApplied:
    return GovernanceApplied(
        operation_id=f"G-{_unique(library, change, caller)}",
        op=change.op,
        arguments=dict(change.arguments),
        inverse_op=change.inverse_op,
        inverse_arguments=dict(change.inverse_arguments),
        org=change.after.as_json(),
        applied_by=caller,
        undoes=undoes,
    )


def _staged(library: Library, change: Plan, *, caller: str, undoes: str) -> ProposalStaged:
    text = orjson.dumps({"op": change.op, "arguments": dict(change.arguments), "undoes": undoes}).decode()
    for known in library.proposals.values():
        if known.status == "pending" and known.staged.proposes == "governance" and known.staged.text == text:
            message = f"the same change waits for approval already, as {known.staged.proposal_id}"
            raise refused("already_submitted", message, "see `falsify approvals list`")
    return ProposalStaged(
        proposal_id=f"P-{_unique(library, change, caller)}",
        proposes="governance",
        rel_path=PATH,
        title=" ".join([*(["undo:"] if undoes else []), change.op, *change.arguments.values()]),
        department=GENERAL,
        text=text,
        refs=(),
        proposed_by=caller,
        findings=tuple(change.warnings),
        judge="",
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )


def _pending(library: Library, proposal_id: str) -> ProposalStaged:
    known = library.proposals.get(proposal_id)
    if known is None or known.staged.proposes != "governance":
        raise NotFoundError(f"there is no proposal {ascii(proposal_id)[:80]}", reason="no_proposal")
    if known.status != "pending":
        raise ConflictError(f"{proposal_id} was {known.status} by {known.decided_by}", reason="proposal_decided")
    return known.staged


def _unique(library: Library, change: Plan, caller: str) -> str:
    """Return what tells one operation from all others: it is made of where the stream stands and what is wanted."""
    wanted = orjson.dumps([library.revision, caller, change.op, dict(change.arguments)])
    return hashlib.sha256(wanted).hexdigest()[:10]


def _new(before: Org, after: Org, find: Callable[[Org], list[Fault]]) -> Iterator[Fault]:
    """Yield what is wrong with a map and was not wrong with the one before: an old fault must not block its repair."""
    known = {(fault.rule, fault.message) for fault in find(before)}
    yield from (fault for fault in find(after) if (fault.rule, fault.message) not in known)


def _instead(before: Org, after: Org) -> str:
    """Return how to come from the accepted map to another one without replacing it."""
    commands = [
        " ".join([op, *(f"--{name} {value}" for name, value in arguments.items())])
        for op, arguments in steps(before, after)
    ]
    more = f" (and {len(commands) - SHOWN} more)" if len(commands) > SHOWN else ""
    rest = left_over(before, after)
    told = []
    if commands:
        told.append(f"change it with `falsify brain governance apply`: {'; '.join(commands[:SHOWN])}{more}")
    if rest:
        told.append(f"no operation changes {', '.join(rest)} like that")
    whole = "Or accept" if commands else "Accept"
    return ". ".join([*told, f"{whole} it as a whole: `falsify brain org import FILE --replace`"])
