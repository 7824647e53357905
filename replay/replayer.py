"""Any projection over any prefix."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from falsify.belief.graph import BeliefGraph
from falsify.belief.text import moment
from falsify.events import Recorded
from falsify.log import EventLog
from projections.beliefs import BELIEFS, digest, snapshot, valid_at
from projections.projection import Projection
from replay.cutoff import NOW, Cutoff, resolve

S = TypeVar("S")


def prefix(log: EventLog, stream: str, cutoff: Cutoff = NOW) -> Iterator[Recorded]:
    """Yield the records of a stream up to the cutoff."""
    return log.read(stream=stream, through=resolve(log, stream, cutoff))


def replay(log: EventLog, stream: str, projection: Projection[S], cutoff: Cutoff = NOW) -> S:
    """Return what a projection says at the cutoff."""
    return projection.fold(prefix(log, stream, cutoff))


@dataclass(frozen=True, slots=True)
class View:
    """What was believed at a cutoff, and of what date the question was asked.

    `revision` is that of the stream there, 0 before anybody wrote to it.
    """

    stream: str
    position: int
    revision: int
    valid_at: str
    graph: BeliefGraph

    def as_json(self) -> dict[str, Any]:
        """Return the whole state with where it stands in the log."""
        return {
            "stream": self.stream,
            "position": self.position,
            "valid_at": self.valid_at or None,
            "digest": digest(self.graph),
            "state": snapshot(self.graph),
        }


def view(log: EventLog, stream: str, cutoff: Cutoff = NOW, *, valid: str = "") -> View:
    """Return what was known at the cutoff; with `valid`, of what was true at that date. The two compose."""
    position = resolve(log, stream, cutoff)
    revision = 0

    def records() -> Iterator[Recorded]:
        nonlocal revision
        for recorded in log.read(stream=stream, through=position):
            revision = recorded.revision
            yield recorded

    date = moment(valid, what="valid_at") if valid else ""
    graph = valid_at(records(), date) if date else BELIEFS.fold(records())
    return View(stream, position, revision, date, graph)
