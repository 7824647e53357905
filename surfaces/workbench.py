"""A research project in a workspace: how its commands are carried out, asked for and approved.

Writing is: load project and beliefs, decide, append with the revision decided on. What the autonomy table does not let
a caller do is not decided for it: it becomes a request, which a person approves, once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from falsify import join
from falsify.belief.contradiction import Finding
from falsify.belief.graph import BeliefGraph
from falsify.belief.graph import evolve as evolve_beliefs
from falsify.belief.revision import remark
from falsify.errors import ConflictError, FalsifyError, NotFoundError, StaleRevisionError
from falsify.events import Event, NodeId, Recorded
from falsify.identity import is_project_id, require_person
from falsify.log import canonical
from falsify.ports import Statement
from falsify.workbench import approvals
from falsify.workbench.autonomy import gate
from falsify.workbench.events import Action, ApprovalRequested, WorkbenchEvent
from falsify.workbench.project import Approval, Project
from falsify.workbench.project import evolve as evolve_project
from projections.beliefs import BELIEF_EVENTS, fallen
from projections.chronicle import forecast, sentence
from projections.workbench import WORKBENCH_EVENTS, approval_row
from surfaces.envelope import Envelope, NextAction
from surfaces.workspace import Examine, Workspace, named
from surfaces.writing import ATTEMPTS, Asked, Decided, answered_with, append_decided

if TYPE_CHECKING:
    from falsify.belief.events import BeliefEvent


def unexamined(_graph: BeliefGraph, _claim: NodeId, _said: Statement) -> list[Finding]:
    """Return nothing: there are no claims that it might bear on."""
    return []


@dataclass(frozen=True, slots=True)
class Sight:
    """What a decision sees: project and beliefs, who decides, and the time (microseconds since 1970).

    `examine` asks the judge about a claim; by default nothing is near it.
    """

    project: Project
    graph: BeliefGraph
    caller: str
    now: int
    examine: Examine = unexamined

    def after(self, events: Sequence[Event]) -> "Sight":
        """Return it as it would be after the events; this one stays as it is."""
        project, graph = self.project.branch(), self.graph.branch()
        for number, event in enumerate(events, self.project.revision + 1):
            if type(event) in BELIEF_EVENTS:
                evolve_beliefs(graph, cast("BeliefEvent", event))
            if type(event) in WORKBENCH_EVENTS:
                evolve_project(project, cast("WorkbenchEvent", event), number, self.now)
            project.revision = number
        return replace(self, project=project, graph=graph)

    @property
    def unsound(self) -> frozenset[str]:
        """The frozen nodes whose measurement is not believed any more."""
        return join.unsound(self.project, self.graph)

    def state(self, name: str) -> str:
        """Return the truth-state of the belief that a name stands for, `absent` for none, `ambiguous` for several."""
        match named(self.graph, name):
            case []:
                return "absent"
            case [node]:
                return node.state
        return "ambiguous"


Decide = Callable[[Sight], list[Event]]
Result = Callable[[Sight, Sequence[Event]], Mapping[str, Any]]
"""Makes the result of an answer out of what there is after the events, and the events."""
Suggest = Callable[[Sight, Sequence[Event]], tuple[NextAction, ...]]
Warn = Callable[[Sight, Sequence[Event]], tuple[str, ...]]


Bind = Callable[[Sight, Mapping[str, Any]], Mapping[str, Any]]


def as_sent(_sight: Sight, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a request as they were sent: they name nothing but what has one name for ever."""
    return arguments


def nothing(_after: Sight, _events: Sequence[Event]) -> tuple[Any, ...]:
    """Return nothing to suggest, or to warn of."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A command: which tool, its arguments (JSON-ready, without key and revision), and how it is decided and told.

    `reason` is the caller's own; `action` that of a decision, which the autonomy table asks for. `foresee` tells, a
    sentence each, what it would do beside what happens in research. `bind` makes the arguments of a request, in which
    nothing is named that could come to stand for something else.
    """

    tool: str
    arguments: Mapping[str, Any]
    decide: Decide
    result: Result
    suggest: Suggest = nothing
    warn: Warn = nothing
    foresee: Warn = nothing
    reason: str = ""
    action: Action | None = None
    bind: Bind = as_sent


WorkOf = Callable[[str, Mapping[str, Any]], Work]
"""Makes a command out of a tool's name and its recorded arguments."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The envelope of a command as bytes, the same bytes for the same idempotency key."""

    response: bytes
    replayed: bool = False


class Workbench:
    """The research of one project. Raises NotFoundError where there is no such project, unless it is to be created.

    With `beliefs`, a project that has beliefs and no research will do.
    `through` is the position up to which the log is read, or None where it is read to its end.
    """

    through: int | None = None

    def __init__(self, workspace: Workspace, project_id: str, *, new: bool = False, beliefs: bool = False) -> None:
        if not (is_project_id(project_id) if new else workspace.knows(project_id)):
            raise _absent(project_id)
        self.workspace = workspace.of(project_id)
        self.project_id = project_id
        self.log = workspace.log
        self.stream = self.workspace.stream
        if not (new or beliefs or self.workspace.project.exists):
            raise NotFoundError(
                f"{project_id} holds beliefs, and no research",
                hint=f"see `falsify --project {project_id} graph` for what is believed; a person begins research in it "
                f"with `falsify project create {project_id} --objective TEXT`",
                reason="no_project",
            )

    @property
    def project(self) -> Project:
        """The project as it stands. Not to be changed by anybody but the log."""
        return self.workspace.project

    @property
    def graph(self) -> BeliefGraph:
        """What is believed. Not to be changed by anybody but the log."""
        return self.workspace.graph

    @property
    def now(self) -> int:
        """The time of which the project is told, in microseconds since 1970."""
        return self.workspace.clock.now()

    def sight(self, caller: str) -> Sight:
        """Return what a decision sees now."""
        # The project is asked first: both are of the same moment then, or the graph is newer and the append refused.
        project = self.project
        return Sight(project, self.graph, caller, self.now, self.workspace.examine)

    def perform(
        self,
        work: Work,
        *,
        caller: str,
        key: str | None = None,
        expected_revision: int | None = None,
        dry_run: bool = False,
    ) -> Answer:
        """Carry the command out, or ask for it where the autonomy table says so; return the envelope.

        With a key that was used before for the same arguments, the first answer. With an expected revision it is
        decided on that one only (else StaleRevisionError); without, anew where somebody else wrote in between.
        """
        body = _body(work, expected_revision)
        if key is not None and not dry_run:
            first = self.log.answered(self.stream, self._asked(work.tool, body, caller=caller, key=key).command())
            if first is not None:
                return Answer(first.response, replayed=True)

        def decide(sight: Sight) -> tuple[list[Event], Callable[[Sight], Envelope]]:
            if expected_revision not in {None, sight.project.revision}:
                current = sight.project.revision
                raise StaleRevisionError(self.stream, expected=expected_revision, current=current)
            return _decided(work, sight)

        return self._write(
            decide, work.tool, body, caller=caller, key=key, dry_run=dry_run, once=expected_revision is not None
        )

    def approve(self, approval_id: str, *, caller: str, note: str = "", work_of: WorkOf) -> Answer:
        """Carry out what was asked for, in the same command as the approval: exactly once.

        Raises ConflictError, and leaves the request pending, where a fact that it relied on does not hold any more.
        Approved again, it is told what was done.
        """
        require_person(caller, "approve anything")
        note = remark(note, what="the note")

        def decide(sight: Sight) -> tuple[list[Event], Callable[[Sight], Envelope]]:
            approval = approvals.approval_of(sight.project, approval_id)
            if approval.status == "executed":
                return [], lambda after: _told_again(after, approval_id)
            approvals.pending(sight.project, approval_id)
            work = work_of(approval.request.tool, approval.request.arguments)
            done = _still(work, approval, sight)
            told = effects(work, sight.after(done), done)
            events: list[Event] = [
                *approvals.grant(sight.project, approval_id, caller=caller, note=note, effects=told),
                *done,
            ]
            return events, lambda after: _done(work, after, done, approval=approval_row(after.project, approval_id))

        body = canonical({"approval_id": approval_id, "note": note})
        return self._write(decide, "approvals.approve", body, caller=caller)

    def reject(self, approval_id: str, *, caller: str, reason: str) -> Answer:
        """Refuse what was asked for."""
        reason = remark(reason, what="the reason")

        def decide(sight: Sight) -> tuple[list[Event], Callable[[Sight], Envelope]]:
            events: list[Event] = [*approvals.reject(sight.project, approval_id, reason=reason, caller=caller)]
            return events, lambda after: Envelope(
                status="ok",
                project_revision=after.project.revision,
                result={"approval": approval_row(after.project, approval_id)},
            )

        body = canonical({"approval_id": approval_id, "reason": reason})
        return self._write(decide, "approvals.reject", body, caller=caller)

    def append(self, decide: Decide, *, tool: str, actor: str) -> Sight:
        """Decide and append what no caller asked for, as a worker does; return how things stand after it.

        Decided anew for as long as others write in between: what a run came to must not be lost.
        """
        while True:
            sight = self.sight(actor)
            events = decide(sight)
            if not events:
                return sight
            revision = sight.project.revision
            command = self._asked(tool, b"{}", caller=actor).command(revision)
            try:
                self.log.append(self.stream, events, expected_revision=revision, command=command)
            except StaleRevisionError:
                continue
            return self.sight(actor)

    def records(self, *, after_revision: int = 0) -> list[Recorded]:
        """Return the project's records after a revision, in order."""
        return [r for r in self.workspace.records() if r.revision > after_revision]

    def _write(
        self,
        decide: Callable[[Sight], tuple[list[Event], Callable[[Sight], Envelope]]],
        tool: str,
        body: bytes,
        *,
        caller: str,
        key: str | None = None,
        dry_run: bool = False,
        once: bool = False,
    ) -> Answer:
        asked = self._asked(tool, body, caller=caller, key=key)

        def foreseen() -> tuple[int, list[Event], bytes]:
            sight = self.sight(caller)
            revision = sight.project.revision
            events, answer = decide(sight)
            return revision, events, answer(sight.after(events)).to_bytes()

        def decided() -> Decided:
            revision, events, response = foreseen()
            return Decided(revision, events, answered_with(response))

        if dry_run:
            return Answer(foreseen()[2])
        receipt = append_decided(self.log, asked, decided, attempts=1 if once else ATTEMPTS)
        return Answer(receipt.response, receipt.replayed)

    def _asked(self, tool: str, body: bytes, *, caller: str, key: str | None = None) -> Asked:
        return Asked(stream=self.stream, actor=caller, tool=tool, body=body, key=key)


def _decided(work: Work, sight: Sight) -> tuple[list[Event], Callable[[Sight], Envelope]]:
    """Return what is to be written for a command, and what it is answered."""
    events = work.decide(sight)
    if gate(sight.caller, sight.project.mode, work.tool, work.action) == "execute":
        return events, lambda after: _done(work, after, events)
    asked = _request(work, sight, events)
    known = next((a for a in sight.project.approvals.values() if _same(a, asked)), None)
    approval_id = known.id if known else asked.approval_id
    return [] if known else [asked], lambda after: _asked(after, approval_id)


def _done(work: Work, after: Sight, events: Sequence[Event], *, approval: Mapping[str, Any] | None = None) -> Envelope:
    return Envelope(
        status="ok",
        project_revision=after.project.revision,
        result=work.result(after, events),
        approval=approval,
        warnings=work.warn(after, events),
        next_actions=work.suggest(after, events),
    )


def _asked(after: Sight, approval_id: str) -> Envelope:
    read = NextAction(
        state_tool(after.project),
        {"project_id": after.project.id},
        "a person has to approve it; read the state again after that, and do not ask for it twice",
    )
    return Envelope(
        status="approval_required",
        project_revision=after.project.revision,
        approval=approval_row(after.project, approval_id),
        next_actions=(read,),
    )


def _told_again(after: Sight, approval_id: str) -> Envelope:
    row = approval_row(after.project, approval_id)
    return Envelope(
        status="ok",
        project_revision=after.project.revision,
        result={"approval": row},
        warnings=(
            f"{approval_id} was approved before by {row['decided_by']} and carried out then; nothing was done now",
        ),
    )


def _request(work: Work, sight: Sight, events: Sequence[Event]) -> ApprovalRequested:
    return approvals.request(
        sight.project,
        tool=work.tool,
        arguments=work.bind(sight, work.arguments),
        caller=sight.caller,
        reason=work.reason,
        effects=_forecast(work, sight.after(events), events),
        falls=falls(events),
        unsound=sight.unsound,
        state=sight.state,
    )


def _forecast(work: Work, after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    """Return what a command would do whenever it is approved, a sentence each."""
    told = forecast([event for event in events if type(event) in WORKBENCH_EVENTS], after.project)
    return (*told, *work.foresee(after, events))


def falls(events: Sequence[Event]) -> tuple[NodeId, ...]:
    """Return the nodes that the events take something away from: that they stand, or that they are known at all."""
    return tuple(sorted({fallen(event) for event in events} - {""}))


def fallen_too(approval: Approval, sight: Sight, events: Sequence[Event]) -> list[str]:
    """Return what would fall now and would not have when it was asked for, a sentence each."""
    nodes = sight.graph.nodes
    more = [node for node in falls(events) if node not in approval.request.falls]
    return [f"{(nodes[node].handle if node in nodes else '') or node} would fall too" for node in more]


def effects(work: Work, after: Sight, events: Sequence[Event]) -> tuple[str, ...]:
    """Return what a command does, a sentence each."""
    told = [sentence(event, after.project) for event in events if type(event) in WORKBENCH_EVENTS]
    return (*told, *work.foresee(after, events))


def state_tool(project: Project) -> str:
    """Return the tool that tells where a project stands, and what became of requests."""
    return "falsify.project.get_state" if project.exists else "falsify.belief.graph"


def _same(approval: Approval, asked: ApprovalRequested) -> bool:
    """Return whether the caller waits for this very thing already, and it can still be carried out."""
    known = approval.request
    told = (known.digest, known.asked_by, known.facts, known.falls)
    return approval.status == "pending" and told == (asked.digest, asked.asked_by, asked.facts, asked.falls)


def _still(work: Work, approval: Approval, sight: Sight) -> list[Event]:
    """Return what the command comes to if all it relied on still holds and it can still be carried out."""
    events: list[Event] = []
    changed = approvals.broken(sight.project, approval, sight.unsound, sight.state)
    if approvals.digest(work.tool, work.arguments) != approval.request.digest:
        changed = [*changed, "its arguments are read otherwise than when it was asked for"]
    if not changed:
        try:
            events = work.decide(replace(sight, caller=approval.request.asked_by))
            changed = fallen_too(approval, sight, events)
        except FalsifyError as error:
            changed = [error.message]
    if changed:
        raise ConflictError(
            f"{approval.id} cannot be carried out any more: {'; '.join(changed)}",
            hint=f"reject it with `falsify approvals reject {approval.id} --reason TEXT`, and have it asked for anew",
            reason="facts_changed",
            details={"approval": approval.id, "changed": changed},
        )
    return events


def _body(work: Work, expected_revision: int | None) -> bytes:
    revision = {} if expected_revision is None else {"expected_project_revision": expected_revision}
    return canonical({**work.arguments, **revision})


def _absent(project_id: str) -> NotFoundError:
    shown = project_id if project_id.isprintable() else ascii(project_id)
    shown = shown if len(shown) <= 64 else f"{shown[:64]}..."
    return NotFoundError(
        f"there is no project {shown}",
        hint="see `falsify project list`; a person begins one with `falsify project create ID --objective TEXT`, or "
        "with `falsify --project ID question TEXT` for beliefs alone",
        reason="no_project",
    )
