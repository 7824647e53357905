"""The worker: executes the queued runs of all projects of a workspace, and records how each ended, once.

The log is the queue. A worker holds a lock while it lives; what it leaves behind when it dies, the next one ends.
"""

import errno
import logging
import os
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Final, Self

from falsify.errors import ConflictError, FalsifyError, UnavailableError
from falsify.executors.local import end_orphan
from falsify.ports import Executor, RunProcess
from falsify.workbench.contract import contract_of
from falsify.workbench.events import RunStatus
from falsify.workbench.project import Project, Run
from surfaces.adapters import make_executor
from surfaces.running.folders import clear, leftovers
from surfaces.running.held_run import ACTOR, HeldRun
from surfaces.running.roster import Roster
from surfaces.running.telemetry import Telemetry, reported
from surfaces.workbench import Workbench
from surfaces.workspace import Workspace

logger = logging.getLogger(__name__)

RECONCILE: Final = 5.0
"""Seconds between two looks for what dead workers left behind."""

BUSY: Final = 0.03
IDLE: Final = 0.2
"""Seconds between two looks while something goes on, and while nothing does."""

PATIENCE: Final = 1.0
"""Seconds to wait after log or store could not be written to, or nothing could be opened."""

RESTART: Final = 5.0
"""Seconds after which a worker that ended by a bug is replaced, while its server goes on."""

_SCARCE: Final = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
"""What the system says when it has none left just now: of files, memory or processes."""

Executors = Callable[[str], Executor]
"""Makes the executor of a name, or raises what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What became of a run, with the reason as its note; without a run, what the worker itself has to say."""

    project_id: str
    run_id: str
    status: RunStatus | None
    note: str = ""
    seconds: float = 0.0


Watch = Callable[[Notice], None]


def unwatched(_notice: Notice) -> None:
    """Tell nobody."""


def trouble_only(notice: Notice) -> None:
    """Tell of what is in the worker's way, where a server tells what it has to say."""
    if notice.status is None:
        logger.warning("%s", notice.note)


@dataclass(frozen=True, slots=True)
class _Active:
    """A run that goes on here."""

    held: HeldRun
    executor: Executor
    process: RunProcess
    telemetry: Telemetry


class Worker:
    """Executes queued runs, `slots` at a time. To be entered before it works, and used by one thread.

    `worker_id` is its name in the log, and that of the lock that it holds while it lives. `executors` is what the
    settings say, if not given. Leaving it ends what goes on.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        worker_id: str = "",
        slots: int = 1,
        executors: Executors | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self.id = worker_id or f"worker-{os.getpid()}-{secrets.token_hex(3)}"
        self._workspace = workspace
        self._slots = slots
        self._executors = executors or partial(make_executor, workspace.settings, workspace.root)
        self._watch = watch
        self._roster = Roster(workspace.folder / "workers")
        self._active: list[_Active] = []
        self._taken: list[HeldRun] = []  # runs that are this worker's, and could not be begun yet
        self._told = ""  # of what is in the way
        self._seen = -1  # the position of the log up to which nothing is queued
        self._look = 0.0  # when to look for what dead workers left
        self._rest = 0.0  # until when to wait after a failure
        self._life = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as life:
            life.enter_context(self._roster.enlisted(self.id))
            self._roster.sweep()
            self.reconcile()
            self._life = life.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._life:
            self.stop()

    # --- working ------------------------------------------------------------------------------------------

    def tick(self, *, taking: bool = True) -> bool:
        """Do what is to be done now, and return whether anything goes on; without `taking`, begin nothing new.

        What cannot be written or opened now is told once, and tried again until it can.
        """
        if monotonic() < self._rest:
            return True
        try:
            if monotonic() >= self._look:
                self.reconcile()
            for active in list(self._active):
                self._attend(active)
            for held in list(self._taken):
                self._begin(held)
            while taking and len(self._active) < self._slots and self._take():
                pass
        except (UnavailableError, ConflictError, OSError) as error:
            self._rest = monotonic() + PATIENCE
            if self._told != (told := _said(error)):
                self._told = told
                self._watch(Notice("", "", None, f"{told}; this is tried again"))
            return True
        self._told = ""
        return bool(self._active)

    def run_until_idle(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Work until nothing is queued and nothing goes on here, or until `stop` says so."""
        while not stop() and self.tick():
            sleep(BUSY)

    def serve(self, stop: Callable[[], bool], *, idle_exit: float | None = None) -> None:
        """Work until `stop` says so, or until there was nothing to do for `idle_exit` seconds."""
        worked = monotonic()
        while not stop():
            if self.tick():
                worked = monotonic()
                sleep(BUSY)
            elif idle_exit is not None and monotonic() - worked >= idle_exit:
                return
            else:
                sleep(IDLE)

    def stop(self) -> None:
        """End what goes on, all at once, and record it as failed; what has ended by itself is recorded as it did."""
        if self._active:
            with ThreadPoolExecutor(len(self._active)) as pool:
                list(pool.map(lambda active: active.process.stop(), self._active))
        last = [(active.held, partial(self._attend, active)) for active in self._active]
        last += [(held, partial(self._refuse, held, _STOPPED)) for held in self._taken]
        for held, record in last:
            try:
                record()
            except (UnavailableError, ConflictError, OSError) as error:  # whoever works next finds it left behind
                self._watch(Notice(held.workbench.project_id, held.run_id, None, _said(error)))
        self._active.clear()
        self._taken.clear()

    def _take(self) -> bool:
        """Begin the run that has waited longest; return whether there was one to try."""
        head = self._workspace.log.head().position
        if head == self._seen:
            return False
        waiting = [
            (run.queued_time, run.queued_at, HeldRun(workbench, run.id, self.id))
            for workbench in self._workbenches()
            for run in _active_runs(workbench.project)
            if run.status == "QUEUED"
        ]
        if not waiting:
            self._seen = head
            return False
        *_, held = min(waiting, key=lambda each: each[:2])
        if held.take():
            name = contract_of(held.workbench.project).executor
            self._taken.append(held)
            self._watch(Notice(held.workbench.project_id, held.run_id, "RUNNING", f"{held.node.id}, executor {name}"))
            self._begin(held)
        return True

    def _begin(self, held: HeldRun) -> None:
        """Start a run that was taken. Raises OSError or UnavailableError where it is to be tried again."""
        if held.held:
            try:
                executor = self._executors(contract_of(held.workbench.project).executor)
                process = executor.start(held.order())
            except FalsifyError as error:
                if _scarce(error):  # a whole queue would fail for what is gone in a moment
                    shutil.rmtree(held.place.path, ignore_errors=True)
                    raise
                self._refuse(held, error)
            else:
                telemetry = Telemetry(self._workspace.log, held.workbench.project_id, held.run_id, actor=ACTOR)
                self._active.append(_Active(held, executor, process, telemetry))
        else:  # called off meanwhile
            self._tell(held)
        self._taken.remove(held)

    def _refuse(self, held: HeldRun, error: FalsifyError) -> None:
        held.refuse(error)
        self._tell(held)

    def _attend(self, active: _Active) -> None:
        """Take in what a run reports; record how it ended, or end it where it was called off."""
        held, ended = active.held, active.process.poll()
        active.telemetry.add(active.process.metrics())
        if held.held:
            active.telemetry.flush(now=ended is not None)
            if ended is None:
                return
            held.conclude(ended, active.telemetry.lines, active.executor)
        else:
            active.process.stop()
        self._active.remove(active)
        clear(held.place)
        self._tell(held)

    def _tell(self, held: HeldRun) -> None:
        run = held.run
        self._watch(Notice(held.workbench.project_id, run.id, run.status, run.note, run.seconds))

    # --- what the dead left -------------------------------------------------------------------------------

    def reconcile(self) -> None:
        """End and fail the runs that dead workers left behind. Those of the living, and what is queued, stay."""
        for workbench in self._workbenches():
            for run in _active_runs(workbench.project):
                if run.status == "RUNNING":
                    self._bury(HeldRun(workbench, run.id, run.worker))
            for place in leftovers(self._workspace.folder, workbench.project_id):
                run_id = place.path.name
                if run_id in workbench.project.runs:
                    self._tidy(HeldRun(workbench, run_id, workbench.project.runs[run_id].worker))
        self._look = monotonic() + RECONCILE

    def _bury(self, held: HeldRun) -> None:
        """End a run whose worker is dead, and record that."""
        with self._in_place_of(held) as dead:
            if dead:
                end_orphan(held.place.path)
                lines = reported(self._workspace.log, held.workbench.project_id, held.run_id)
                held.give_up([line for _, line in lines])
                clear(held.place)
                self._tell(held)

    def _tidy(self, held: HeldRun) -> None:
        """End what goes on of a run that was called off, and whose worker died before it saw to that."""
        with self._in_place_of(held) as dead:
            if dead and not held.run.active:
                end_orphan(held.place.path)
                clear(held.place)

    @contextmanager
    def _in_place_of(self, held: HeldRun) -> Iterator[bool]:
        """Say whether nobody looks after a run any more, and see to it that nobody else finds that out at once."""
        if held.worker == self.id:  # this one, or one of that name before it
            mine = [*(active.held for active in self._active), *self._taken]
            here = [(each.workbench.project_id, each.run_id) for each in mine]
            yield (held.workbench.project_id, held.run_id) not in here
        else:
            with self._roster.in_place_of(held.worker) as dead:
                yield dead

    def _workbenches(self) -> list[Workbench]:
        """Return the projects that research; a stream of beliefs alone is none."""
        names = [name.removeprefix("project:") for name in self._workspace.log.streams() if name.startswith("project:")]
        return [Workbench(self._workspace, name) for name in names if self._workspace.of(name).project.exists]


_STOPPED: Final = UnavailableError("its worker was stopped")


def _said(error: FalsifyError | OSError) -> str:
    return error.message if isinstance(error, FalsifyError) else error.strerror or str(error)


def _scarce(error: FalsifyError) -> bool:
    """Return whether it is for want of what the system will have again."""
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in _SCARCE


def _active_runs(project: Project) -> list[Run]:
    return [project.runs[run_id] for run_id in project.active]


@contextmanager
def serving(
    root: Path, *, slots: int = 1, executors: Executors | None = None, watch: Watch = trouble_only, **options: Any
) -> Iterator[None]:
    """Execute the queue of the workspace at `root` in a thread for the time of a `with` block, for a server.

    It opens the workspace anew, with the `options` of `Workspace.open`: what a workspace holds is one thread's. A
    worker that ends by a bug is dead, and what it had is ended as that of any dead worker's: another takes its place.
    """

    @contextmanager
    def at_work() -> Iterator[Worker]:
        with (
            Workspace.open(root, **options) as workspace,
            Worker(workspace, slots=slots, executors=executors, watch=watch) as worker,
        ):
            yield worker

    ends = threading.Event()
    began: Future[None] = Future()
    thread = threading.Thread(target=_serve, args=(at_work, began, ends), name="falsify-worker")
    thread.start()
    try:
        began.result()
        yield
    finally:
        ends.set()
        thread.join()


def _serve(at_work: Callable[[], AbstractContextManager[Worker]], began: Future[None], ends: threading.Event) -> None:
    while not ends.is_set():
        try:
            with at_work() as worker:
                if not began.done():
                    began.set_result(None)
                worker.serve(ends.is_set)
        except Exception as error:  # whatever ended it, the server goes on, and its queue has to
            if not began.done():
                began.set_exception(error)
                return
            logger.exception("the worker ended; another takes its place")
            ends.wait(RESTART)
