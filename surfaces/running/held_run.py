"""A run in the hands of a worker: how it is taken, and how its end is recorded, once and with what it left.

Everything is decided on the project as it is when it is written. So of two workers one takes a run, and a run that was
called off meanwhile, or given up for its worker's death, stays that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from falsify.belief.text import written
from falsify.errors import ConflictError, FalsifyError, UnavailableError
from falsify.events import Event
from falsify.executors.run_folder import RunFolder
from falsify.join import Finish, succeed_run
from falsify.ports import Executor, Exit, Metrics, RunOrder
from falsify.workbench import runs
from falsify.workbench.contract import contract_of
from falsify.workbench.project import Node, Project, Run
from surfaces.running.ending import (
    NOT_KEPT,
    NOT_RECORDED,
    NOT_STARTED,
    WORKER_DIED,
    failure,
    measured,
    printable,
    quoted,
)
from surfaces.running.evidence import Kept, Remains, exhibits, of_failure, of_success, read_log
from surfaces.running.folders import folder_of
from surfaces.workbench import Sight, Workbench

ACTOR: Final = "worker"
"""Who records what becomes of runs; which worker it was, the start of each run says."""

_LONGEST_REASON: Final = 2000


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A run, and the worker that holds it or means to."""

    workbench: Workbench
    run_id: str
    worker: str

    @property
    def run(self) -> Run:
        """The run as it is now."""
        return self.workbench.project.runs[self.run_id]

    @property
    def node(self) -> Node:
        """What it measures."""
        return self.workbench.project.nodes[self.run.node_id]

    @property
    def place(self) -> RunFolder:
        """Its folder."""
        return folder_of(self.workbench.workspace.folder, self.workbench.project_id, self.run_id)

    @property
    def held(self) -> bool:
        """Whether it goes on, and in the hands of this worker."""
        return self._held(self.workbench.project)

    def order(self) -> RunOrder:
        """Return what its executor is to run."""
        node = self.node
        config = {**node.config, "seed": node.seed}
        return RunOrder(self.run_id, config, str(self.place.path), self.run.limit_seconds)

    def take(self) -> bool:
        """Take it from the queue, and return whether it is this worker's now."""

        def decide(sight: Sight) -> list[Event]:
            if sight.project.runs[self.run_id].status != "QUEUED":
                return []
            return [*runs.start_run(sight.project, self.run_id, worker=self.worker)]

        return self._held(self.workbench.append(decide, tool="worker", actor=ACTOR).project)

    def conclude(self, ended: Exit, lines: Sequence[Metrics], executor: Executor) -> None:
        """Record how it ended. Raises UnavailableError or ConflictError if that cannot be written now."""
        reason = failure(ended, lines, contract_of(self.workbench.project).metric, read_log(self.place.log))
        remains = self._remains(lines, executor)
        reason = reason or self._succeed(remains, ended.seconds)
        if reason:
            self._fail(reason, ended.seconds, remains)

    def refuse(self, error: FalsifyError) -> None:
        """Record that it could not be started."""
        hint = f" ({error.hint})" if error.hint else ""
        self._fail(f"{NOT_STARTED}: {error.message}{hint}", 0.0, None)

    def give_up(self, lines: Sequence[Metrics]) -> None:
        """Record that its worker died, whose processes are ended by now."""
        seconds = (self.workbench.workspace.clock.now() - self.run.started_time) / 1e6
        self._fail(WORKER_DIED + quoted(read_log(self.place.log)), seconds, self._remains(lines, None))

    def _succeed(self, remains: Remains, seconds: float) -> str:
        """Record a success; return what stands in its way, if anything does."""
        workspace = self.workbench.workspace
        ended_at, metrics = written(workspace.clock.now()), measured(remains.lines)
        try:
            kept = of_success(workspace.artifacts, remains)
        except UnavailableError as error:
            return f"{NOT_KEPT}: {error.message}"

        def decide(sight: Sight) -> list[Event]:
            if not self._held(sight.project):
                return []
            found = exhibits(sight.project, kept)
            finish = Finish(run_id=self.run_id, seconds=seconds, metrics=metrics, exhibits=found, ended_at=ended_at)
            return succeed_run(sight.project, sight.graph, finish)

        try:
            self.workbench.append(decide, tool="worker", actor=ACTOR)
        except (UnavailableError, ConflictError):
            raise
        except FalsifyError as error:  # such as a configuration that no sentence can be made of
            return f"{NOT_RECORDED}: {error.message}"
        return ""

    def _fail(self, reason: str, seconds: float, remains: Remains | None) -> None:
        kept: list[Kept] = []
        if remains is not None:
            try:
                kept = of_failure(self.workbench.workspace.artifacts, remains)
            except UnavailableError as error:
                reason = f"{reason}; {NOT_KEPT}: {error.message}"
        told = printable(reason)[:_LONGEST_REASON]

        def decide(sight: Sight) -> list[Event]:
            if not self._held(sight.project):
                return []
            found = exhibits(sight.project, kept)
            return [*runs.fail_run(sight.project, self.run_id, seconds=seconds, reason=told, exhibits=found)]

        self.workbench.append(decide, tool="worker", actor=ACTOR)

    def _held(self, project: Project) -> bool:
        run = project.runs[self.run_id]
        return run.status == "RUNNING" and run.worker == self.worker

    def _remains(self, lines: Sequence[Metrics], executor: Executor | None) -> Remains:
        project = self.workbench.project
        return Remains(project=project, node=self.node, folder=self.place, lines=lines, executor=executor)
