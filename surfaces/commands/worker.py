"""The command that executes what is queued: worker."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from surfaces.commands.session import Session, common

if TYPE_CHECKING:
    from surfaces.running.worker import Notice

INTERRUPTED = 130


class Interruption:
    """The signal that asked this process to end, if one did. A second one ends it at once."""

    def __init__(self) -> None:
        self.by: int | None = None

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """Note the signal."""
        # Nothing but an assignment: what takes a lock might wait for the very code that was interrupted.
        self.by = number
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    @property
    def came(self) -> bool:
        """Whether there was one."""
        return self.by is not None

    @contextmanager
    def awaited(self) -> Iterator[Callable[[], bool]]:
        """Heed signals for the time of a `with` block."""
        before = {number: signal.signal(number, self) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield lambda: self.came
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@click.command()
@click.option("--once", is_flag=True, help="End as soon as the queue is empty.")
@click.option("--slots", type=click.IntRange(1, 64), default=1, show_default=True, help="How many runs at a time.")
@click.option("--idle-exit", type=click.FloatRange(min=0), metavar="SECONDS", help="End after so long without a run.")
@common
def worker(session: Session, once: bool, slots: int, idle_exit: float | None) -> int:
    """Execute the queued runs of all projects of the workspace, until SIGTERM or Ctrl-C.

    Any number of workers share a queue, and each run is executed once. What a worker leaves behind when it is killed,
    the next one ends and records as failed. When it is asked to end, what goes on is ended and recorded as failed; a
    second signal ends it at once. A line for each change goes to stderr, and --json prints all of them at the end.
    """
    from surfaces.lines.run import notice
    from surfaces.running.worker import Worker

    told: list[Notice] = []

    def watch(each: "Notice") -> None:
        told.append(each)
        click.echo(notice(each), err=True)

    interruption = Interruption()
    with session.workspace() as workspace, interruption.awaited() as stop:
        with Worker(workspace, slots=slots, watch=watch) as at_work:
            if once:
                at_work.run_until_idle(stop)
            else:
                at_work.serve(stop, idle_exit=idle_exit)
        session.show(_summary(at_work.id, told), _lines)
    return INTERRUPTED if interruption.by == signal.SIGINT else 0


def _summary(worker_id: str, told: "list[Notice]") -> dict[str, Any]:
    ended = [each for each in told if each.status not in {None, "RUNNING"}]
    runs = [
        {
            "project_id": each.project_id,
            "run_id": each.run_id,
            "status": each.status,
            "seconds": each.seconds,
            "note": each.note,
        }
        for each in ended
    ]
    counts = {
        status.lower(): sum(each.status == status for each in ended) for status in ("SUCCEEDED", "FAILED", "CANCELLED")
    }
    return {"ok": True, "status": "ok", "worker": worker_id, "runs": runs, **counts}


def _lines(told: dict[str, Any]) -> Iterator[str]:
    counts = ", ".join(f"{told[name]} {name}" for name in ("succeeded", "failed", "cancelled"))
    yield f"{len(told['runs'])} {'run' if len(told['runs']) == 1 else 'runs'} ended: {counts}"
