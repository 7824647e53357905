"""What waits for a person: the requests of all projects and the proposals to the brain, and what they would do now.

What is asked of a research project is a `Request`, what is proposed to the brain a `Proposed`.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from falsify.belief.text import written
from falsify.errors import FalsifyError, InvalidInputError, NotFoundError
from falsify.events import Event, Recorded
from falsify.workbench import approvals
from falsify.workbench.events import ApprovalRequested
from falsify.workbench.project import Approval
from projections.beliefs import CONSEQUENCES, born
from projections.chronicle import sentence
from projections.workbench import WORKBENCH_EVENTS, approval_row
from surfaces.answers import answer
from surfaces.brain import STREAM, Brain
from surfaces.brain_proposals import Proposed, proposed
from surfaces.text import CHANGES
from surfaces.workbench import Sight, Workbench, WorkOf, effects, fallen_too, nothing
from surfaces.workspace import Workspace

if TYPE_CHECKING:
    from falsify.belief.events import BeliefEvent


@dataclass(frozen=True, slots=True)
class Request:
    """A request, the research it is about, and the record with which it was made."""

    workbench: Workbench
    approval: Approval
    asked: Recorded

    @property
    def id(self) -> str:
        """The id that it is named by."""
        return self.approval.id

    @property
    def pending(self) -> bool:
        """Whether nobody has answered it."""
        return self.approval.status == "pending"

    @property
    def position(self) -> int:
        """Where in the log it was made."""
        return self.asked.position

    @property
    def revision(self) -> int:
        """Where the stream is that it belongs to."""
        return self.workbench.project.revision


Item = Request | Proposed


def items(workspace: Workspace, *, settled: bool = False) -> list[Item]:
    """Return what waits in any project or for the brain, the newest first; with `settled` also what was answered.

    Of the proposals to the brain, those that whoever records here may decide on or made.
    """
    found: list[Item] = [*requests(workspace, settled=True), *_proposed(workspace)]
    found.sort(key=lambda item: item.position, reverse=True)
    return [item for item in found if settled or item.pending]


def requests(workspace: Workspace, *, settled: bool = False) -> list[Request]:
    """Return what waits in any project, the newest first; with `settled` also what was answered."""
    found = [request for workbench in projects(workspace, beliefs=True) for request in requests_of(workbench)]
    found.sort(key=lambda request: request.asked.position, reverse=True)
    return [request for request in found if settled or request.pending]


def find(workspace: Workspace, name: str) -> Item:
    """Return the request or proposal with this id, or the only one whose id begins so.

    Raises NotFoundError or, where several fit, InvalidInputError that lists them.
    """
    every = items(workspace, settled=True)
    fitting = [item for item in every if name and item.id.startswith(name)]
    if not fitting:
        shown = name if len(name) <= 64 and name.isprintable() else ascii(name[:64])
        raise NotFoundError(
            f"there is no approval {shown}", hint="see `falsify approvals list --all`", reason="no_approval"
        )
    if len(fitting) > 1:  # what was answered is named in full
        fitting = [item for item in fitting if item.pending] or fitting
    if len(fitting) > 1:
        listed = ", ".join(item.id for item in fitting)
        raise InvalidInputError(f"{name!r} stands for {len(fitting)} requests", hint=f"write more of the id: {listed}")
    return fitting[0]


def projects(workspace: Workspace, *, beliefs: bool = False) -> Iterator[Workbench]:
    """Yield the research projects of a workspace, by their ids; with `beliefs` those too that have nothing else."""
    for stream in workspace.log.streams():
        context, _, project_id = stream.partition(":")
        workbench = None
        if context == "project":
            with suppress(NotFoundError):  # a stream of beliefs without a research project
                workbench = Workbench(workspace, project_id, beliefs=beliefs)
        if workbench is not None:
            yield workbench


def row(request: Item) -> dict[str, Any]:
    """Return a request or proposal, JSON-ready, with when it was made and how long ago (seconds)."""
    if isinstance(request, Proposed):
        return request.row()
    age = max(0, request.workbench.workspace.clock.now() - request.asked.recorded_at)
    return {
        **approval_row(request.workbench.project, request.approval.id),
        "asked_at": written(request.asked.recorded_at),
        "age_seconds": age // 1_000_000,
    }


def detail(request: Item, *, work_of: WorkOf) -> dict[str, Any]:
    """Return all there is to know before it is answered, JSON-ready.

    `relies_on` are its facts then and `now`; `since` what was recorded since it was made; `obstacles` why it cannot be
    carried out (empty if it can), and `would_do` what it would do now; `done` what its approval came to.
    """
    if isinstance(request, Proposed):
        return request.detail()
    sight = request.workbench.sight(request.approval.request.asked_by)
    would_do, obstacles = _foreseen(request, sight, work_of)
    since, done = _history(request)
    return {
        **row(request),
        "relies_on": _facts(request, sight),
        "since": list(_sentences(since, sight)),
        "can_be_carried_out": not obstacles,
        "obstacles": obstacles,
        "would_do": would_do,
        "done": _done(request, done, sight, work_of),
    }


def _proposed(workspace: Workspace) -> Iterator[Proposed]:
    if workspace.log.revision(STREAM):
        yield from proposed(Brain(workspace), workspace.settings.actor)


def requests_of(workbench: Workbench) -> Iterator[Request]:
    """Yield the requests of one project, in the order in which they were made."""
    known = workbench.project.approvals
    if not known:
        return
    for recorded in workbench.records():
        if isinstance(recorded.event, ApprovalRequested) and recorded.event.approval_id in known:
            yield Request(workbench, known[recorded.event.approval_id], recorded)


def _facts(request: Request, sight: Sight) -> list[dict[str, Any]]:
    asked = request.approval.request
    facts = approvals.facts(sight.project, asked.tool, asked.arguments, sight.unsound, sight.state)
    now = {fact.about: fact.value for fact in facts}
    return [
        {
            "about": fact.about,
            "value": fact.value,
            "now": now.get(fact.about, "unknown"),
            "holds": now.get(fact.about) == fact.value,
        }
        for fact in asked.facts
    ]


def _foreseen(request: Request, sight: Sight, work_of: WorkOf) -> tuple[list[str], list[str]]:
    """Return what it would do now, and what keeps it from being carried out."""
    approval = request.approval
    if not request.pending:
        return [], [f"it was {approval.status} by {approval.decided_by}"]
    obstacles = approvals.broken(sight.project, approval, sight.unsound, sight.state)
    if obstacles:
        return [], obstacles
    try:
        work = work_of(approval.request.tool, approval.request.arguments)
        events = work.decide(sight)
    except FalsifyError as error:
        return [], [error.message]
    return [*effects(work, sight.after(events), events)], fallen_too(approval, sight, events)


def _done(request: Request, done: list[Recorded], sight: Sight, work_of: WorkOf) -> list[str]:
    """Return what its answer came to: of a command that tells by itself what it does, all of it, as it was foreseen."""
    asked = request.approval.request
    if request.approval.status == "executed":
        with suppress(FalsifyError):  # arguments that are refused by now: it is told as any other
            work, events = work_of(asked.tool, asked.arguments), [recorded.event for recorded in done]
            if work.foresee is not nothing:
                return [*effects(work, sight, events)]
    return [told["sentence"] for told in _sentences(done, sight)]


def _history(request: Request) -> tuple[list[Recorded], list[Recorded]]:
    """Return what was recorded between the request and its answer, or now; and what its approval came to."""
    approval = request.approval
    later = request.workbench.records(after_revision=approval.requested_at)
    if request.pending:
        return later, []
    command = next(recorded.command for recorded in later if recorded.revision == approval.decided_at)
    since = [recorded for recorded in later if recorded.revision < approval.decided_at]
    return since, [recorded for recorded in later if recorded.command == command]


def _sentences(records: Iterable[Recorded], sight: Sight) -> Iterator[dict[str, Any]]:
    """Yield the records that change research, or what is believed, as a person reads them.

    Of what research itself brings into being among the beliefs, its own records tell.
    """
    listed = list(records)
    research = {each.command for each in listed if type(each.event) in WORKBENCH_EVENTS}
    for recorded in listed:
        for told in _told(recorded.event, sight, births=recorded.command not in research):
            yield {
                "revision": recorded.revision,
                "recorded_at": written(recorded.recorded_at),
                "actor": recorded.actor,
                "sentence": told,
            }


def _told(event: Event, sight: Sight, *, births: bool) -> Iterator[str]:
    if type(event) in WORKBENCH_EVENTS:
        yield sentence(event, sight.project)
    if births and (node := born(event)):
        yield f"{sight.graph.nodes[node].handle or node} is recorded"
    if type(event) in CONSEQUENCES:
        changed = answer("", sight.graph, [cast("BeliefEvent", event)], "", revision=0, epoch=0)["changes"]
        for change in changed:
            because = f", because of {_called(change['because'])}" if change["because"] else ""
            yield f"{_called(change)} is {CHANGES[change['change']]}{because}"


def _called(node: Mapping[str, str]) -> str:
    return node["handle"] or node["id"]
