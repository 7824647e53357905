"""What runs report while they go on, in a stream for each: written in batches by its worker, read by anybody."""

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from time import monotonic
from typing import Final

from falsify.errors import StaleRevisionError
from falsify.events import Event
from falsify.log import Command, EventLog
from falsify.ports import Metrics
from falsify.workbench.events import MetricsReported

INTERVAL: Final = 0.25
"""Seconds between two appends for one run."""

_LINES: Final = 500
"""How many lines one event holds."""


def stream_of(project_id: str, run_id: str) -> str:
    """Return the name of a run's stream."""
    return f"run:{project_id}:{run_id}"


def reported(
    log: EventLog, project_id: str, run_id: str, *, after: int = 0, through: int | None = None
) -> Iterator[tuple[int, Metrics]]:
    """Yield the lines that a run reported between two positions of the log, each with its position."""
    for recorded in log.read(after=after, through=through, stream=stream_of(project_id, run_id)):
        if isinstance(recorded.event, MetricsReported):
            yield from ((recorded.position, line) for line in recorded.event.lines)


class Telemetry:
    """Writes what a run reports into its stream: at once, or as soon as INTERVAL has passed since the last time."""

    def __init__(self, log: EventLog, project_id: str, run_id: str, *, actor: str) -> None:
        self._log = log
        self._stream = stream_of(project_id, run_id)
        self._actor = actor
        self._waiting: list[Metrics] = []
        self._due = 0.0
        self.lines: list[Metrics] = []
        """All that it reported, in order."""

    def add(self, lines: Iterable[Metrics]) -> None:
        """Take what was reported."""
        new = [kept for line in lines if (kept := _plain(line))]
        self.lines += new
        self._waiting += new

    def flush(self, *, now: bool = False) -> None:
        """Write what waits if it is time, or in any case. Raises UnavailableError, and then it still waits."""
        if not self._waiting or (monotonic() < self._due and not now):
            return
        lines = iter(self._waiting)
        events: list[Event] = []
        while some := tuple(islice(lines, _LINES)):
            events.append(MetricsReported(lines=some))
        self._append(events)
        self._waiting.clear()
        self._due = monotonic() + INTERVAL

    def _append(self, events: list[Event]) -> None:
        while True:
            revision = self._log.revision(self._stream)
            command = Command(id=f"telemetry-{revision}", actor=self._actor, tool="worker")
            try:
                self._log.append(self._stream, events, expected_revision=revision, command=command)
            except StaleRevisionError:  # a worker that was taken for dead writes its last
                continue
            return


def _plain(line: Metrics) -> Metrics:
    """Return what the log can hold of a line: names that are text, and None for what is not finite."""
    return {
        name: value if value is not None and math.isfinite(value) else None
        for name, value in line.items()
        if name and name.isprintable()  # half a surrogate pair is not
    }
