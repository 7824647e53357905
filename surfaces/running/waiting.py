"""Waiting for a run: whoever waits executes the queue meanwhile, or follows the worker that has the run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import sleep

from falsify.ports import Metrics
from falsify.workbench.contract import contract_of
from falsify.workbench.project import Run
from falsify.workbench.runs import run_of
from surfaces.running.telemetry import reported
from surfaces.running.worker import BUSY, Executors, Watch, Worker, unwatched
from surfaces.workbench import Workbench
from surfaces.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: what it has reported, for how many seconds it goes on, and how many epochs it has, or 0."""

    run: Run
    metric: str
    lines: Sequence[Metrics]
    seconds: float
    epochs: int

    @property
    def epoch(self) -> float | None:
        """The last epoch that it named."""
        return next((epoch for line in reversed(self.lines) if (epoch := line.get("epoch")) is not None), None)

    @property
    def latest(self) -> float | None:
        """The last finite value of the primary metric."""
        return next((value for line in reversed(self.lines) if (value := line.get(self.metric)) is not None), None)

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1: by epochs where it is known how many, else by its time."""
        if not self.run.active:
            return 1.0
        done = (
            self.epoch / self.epochs
            if self.epochs and self.epoch is not None
            else self.seconds / self.run.limit_seconds
        )
        return min(1.0, max(0.0, done))


class Follower:
    """Follows a run by what the log says of it, whoever executes it. Raises NotFoundError where there is none."""

    def __init__(self, workbench: Workbench, run_id: str) -> None:
        run = run_of(workbench.project, run_id)
        self._workbench = workbench
        self._run_id = run_id
        self._lines: tuple[Metrics, ...] = ()
        self._position = 0
        epochs = workbench.project.nodes[run.node_id].config.get("epochs")
        self._epochs = epochs if isinstance(epochs, int) else 0

    def look(self) -> Progress:
        """Return how far it is now."""
        # First the run: of one that has ended, all that it reported is in the log.
        run = self._workbench.project.runs[self._run_id]
        log, project_id, through = self._workbench.log, self._workbench.project_id, self._workbench.through
        new = list(reported(log, project_id, self._run_id, after=self._position, through=through))
        self._lines += tuple(line for _, line in new)
        self._position = new[-1][0] if new else self._position
        now = self._workbench.now
        return Progress(
            run=run,
            metric=contract_of(self._workbench.project).metric,
            lines=self._lines,
            seconds=max(0, now - run.started_time) / 1e6 if run.status == "RUNNING" else run.seconds,
            epochs=self._epochs,
        )


def unshown(_progress: Progress) -> None:
    """Show nobody."""


def wait(
    workspace: Workspace,
    project_id: str,
    run_id: str,
    *,
    show: Callable[[Progress], None] = unshown,
    executors: Executors | None = None,
    watch: Watch = unwatched,
) -> Progress:
    """Execute the queue until the run has ended, and return how it did; `show` is shown how far it is meanwhile.

    Runs that have waited longer come first. Where another worker has the run, it is only followed.
    """
    follower = Follower(Workbench(workspace, project_id), run_id)
    progress = follower.look()
    if not progress.run.active:
        return progress
    with Worker(workspace, executors=executors, watch=watch) as worker:
        while (progress := follower.look()).run.active:
            show(progress)
            worker.tick(taking=progress.run.status == "QUEUED")
            sleep(BUSY)
        show(progress)
        while worker.tick(taking=False):  # what it took besides
            sleep(BUSY)
    return progress
