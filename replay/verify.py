"""Is the log what was written, and does it say what it must? Every fault is named, with its place."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import cast

from falsify.belief.cascade import Draft, expected_state
from falsify.belief.events import BeliefEvent
from falsify.belief.graph import BeliefGraph, evolve
from falsify.belief.labelling import label_all
from falsify.codec import encode
from falsify.events import Recorded
from projections.beliefs import BELIEF_EVENTS, CONSEQUENCES


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first record at which the log and the rules part ways."""

    position: int
    epoch: int
    message: str


def redecide(records: Iterable[Recorded]) -> tuple[BeliefGraph, Divergence | None]:
    """Decide every command of a stream again from its premises, and compare what follows with what was recorded.

    Returns the graph as recorded, and the first divergence, by event, or None.
    """
    graph = BeliefGraph()
    for _, group in groupby(records, key=lambda r: r.command):
        command = [r for r in group if type(r.event) in BELIEF_EVENTS]
        premises = [r for r in command if type(r.event) not in CONSEQUENCES]
        recorded = [r for r in command if type(r.event) in CONSEQUENCES]
        draft = Draft(graph)
        draft.record(*(cast("BeliefEvent", r.event) for r in premises))
        draft.settle()
        divergence = _first_difference(command, recorded, draft.events[len(premises) :])
        if divergence is not None:
            return graph, divergence
        for r in command:
            evolve(graph, cast("BeliefEvent", r.event))
    return graph, None


def _first_difference(
    command: list[Recorded], recorded: list[Recorded], expected: list[BeliefEvent]
) -> Divergence | None:
    for index, record in enumerate(recorded):
        if index >= len(expected):
            return Divergence(record.position, record.epoch, f"{_told(record)} was recorded, and nothing calls for it")
        if record.event != expected[index]:
            return Divergence(
                record.position,
                record.epoch,
                f"{_told(record)} was recorded where {_event(expected[index])} follows",
            )
    if len(recorded) < len(expected):
        last = command[-1]
        return Divergence(
            last.position, last.epoch, f"{_event(expected[len(recorded)])} follows here, and was not recorded"
        )
    return None


def mislabelled(graph: BeliefGraph) -> Iterator[str]:
    """Yield a line for each node whose recorded state is not what its edges call for, computed from scratch."""
    labels = label_all(graph)
    for node in sorted(graph.nodes.values(), key=lambda n: n.order):
        expected = expected_state(graph, labels, node)
        if expected != node.state:
            yield f"{node.handle or node.id} is recorded as {node.state}; its edges make it {expected}"


def _told(recorded: Recorded) -> str:
    return _event(cast("BeliefEvent", recorded.event))


def _event(event: BeliefEvent) -> str:
    return f"{event.kind} {encode(event).decode()}"
