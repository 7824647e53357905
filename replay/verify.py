"""Is the log what was written, and does it say what it must? Every fault is named, with its place."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from falsify.belief.cascade import Draft, best_hypothesis, expected_states
from falsify.belief.events import BeliefEvent
from falsify.belief.graph import BeliefGraph, evolve
from falsify.codec import encode
from falsify.events import Event, NodeId, Recorded
from falsify.workbench.project import Project
from falsify.workbench.states import NODE, RUN, TICKET
from projections.beliefs import BELIEF_EVENTS, CONSEQUENCES
from projections.workbench import WORKBENCH, WORKBENCH_EVENTS

INCOHERENT = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What a fold raises over records that no Falsify wrote: the domain trusts its log."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first record at which the log and the rules part ways.

    `kind` is the kind of event that is wrong, missing or too many. `recorded` is what the log says there (empty for
    what is missing), `follows` what the rules say now (empty for what is too many).
    """

    position: int
    epoch: int
    kind: str
    recorded: str
    follows: str
    message: str


def redecide(records: Iterable[Recorded]) -> tuple[BeliefGraph, Divergence | None]:
    """Decide every command of a stream again from its premises, and compare what follows with what was recorded.

    Returns the graph as recorded, up to the command at which they part, and the first divergence, or None.
    """
    graph = BeliefGraph()
    for command in _commands(records):
        try:
            divergence = _redecided(graph, command)
            if divergence is not None:
                return graph, divergence
        except INCOHERENT as error:
            return graph, _incoherent(graph, command, error)
    return graph, None


def mislabelled(graph: BeliefGraph) -> Iterator[str]:
    """Yield a line for each node whose recorded state is not what its edges call for, computed from scratch."""
    expected = expected_states(graph)
    for node in sorted(graph.nodes.values(), key=lambda n: n.order):
        if expected[node.id] != node.state:
            yield f"{node.handle or node.id} is recorded as {node.state}; its edges make it {expected[node.id]}"
    for question in graph.questions():
        best = best_hypothesis(graph, question.id)
        if question.frontier != (best.id if best else ""):
            recorded, expected_best = _called(graph, question.frontier), _called(graph, best.id if best else "")
            yield (
                f"the frontier of {_called(graph, question.id)} is recorded as {recorded}; "
                f"its hypotheses make it {expected_best}"
            )


def misplaced(records: Iterable[Recorded]) -> Iterator[str]:
    """Yield a line for each record that takes a ticket, node or run where no transition table lets it go.

    Stops at a record that speaks of what was never recorded.
    """
    project = Project()
    for record in records:
        if type(record.event) not in WORKBENCH_EVENTS:
            WORKBENCH.evolve(project, record)
            continue
        before = _statuses(project, record.event)
        try:
            WORKBENCH.evolve(project, record)
        except INCOHERENT as fault:
            yield f"position {record.position}: {record.event.kind} speaks of what was never recorded ({fault})"
            return
        for name, status in _statuses(project, record.event).items():
            was = before.get(name, status)
            if was != status and status not in _TABLES[name[0]].get(was, ()):
                yield f"position {record.position}: {record.event.kind} takes {name[1]} from {was} to {status}"


_TABLES: Mapping[str, Mapping[Any, tuple[str, ...]]] = {"tickets": TICKET, "nodes": NODE, "runs": RUN}


def _statuses(project: Project, event: Event) -> dict[tuple[str, str], str]:
    """Return the states of what an event speaks of: (table, id) -> state."""
    told = event.__dict__
    ids = [("tickets", told.get("ticket_id", "")), ("nodes", told.get("node_id", "")), ("runs", told.get("run_id", ""))]
    return {(table, i): getattr(project, table)[i].status for table, i in ids if i in getattr(project, table)}


def named(graph: BeliefGraph, event: Event) -> str:
    """Return an event as a person reads it: its kind, the nodes it speaks of by their short names, and its body."""
    ids = [value for value in event.__dict__.values() if isinstance(value, str) and value in graph.nodes]
    spoken = ", ".join(f"{_called(graph, i)}" for i in dict.fromkeys(ids) if graph.nodes[i].handle)
    return f"{event.kind} ({spoken}) {encode(event).decode()}" if spoken else f"{event.kind} {encode(event).decode()}"


# --- commands, one after another ---------------------------------------------------------------------------


def _commands(records: Iterable[Recorded]) -> Iterator[list[Recorded]]:
    """Yield the belief records of each command: its premises, then what followed from them."""
    command: list[Recorded] = []
    for record in records:
        if type(record.event) not in BELIEF_EVENTS:
            continue
        if command and _begins(command[-1], record):
            yield command
            command = []
        command.append(record)
    if command:
        yield command


def _begins(before: Recorded, record: Recorded) -> bool:
    """Return whether a record belongs to another command than the one before it, whatever their ids are."""
    follows = type(before.event) in CONSEQUENCES and type(record.event) not in CONSEQUENCES
    return follows or record.command != before.command or record.recorded_at != before.recorded_at


def _redecided(graph: BeliefGraph, command: list[Recorded]) -> Divergence | None:
    """Compare one command with what follows from its premises; if they agree, carry it out on the graph."""
    premises = [r for r in command if type(r.event) not in CONSEQUENCES]
    recorded = [r for r in command if type(r.event) in CONSEQUENCES]
    draft = Draft(graph)
    draft.record(*(cast("BeliefEvent", r.event) for r in premises))
    draft.settle()
    divergence = _first_difference(draft.graph, command, recorded, draft.events[len(premises) :])
    if divergence is not None:
        return divergence
    for record in command:
        evolve(graph, cast("BeliefEvent", record.event))
        if record.epoch != graph.epoch:
            message = f"it was recorded in epoch {record.epoch}, and the revisions before it make it {graph.epoch}"
            return _divergence(record, record.event.kind, message, recorded=named(graph, record.event))
    return None


def _first_difference(
    graph: BeliefGraph, command: list[Recorded], recorded: list[Recorded], expected: list[BeliefEvent]
) -> Divergence | None:
    """Return the first place at which the two lists differ, told as what is missing there, too many, or other."""
    same = 0
    while same < min(len(recorded), len(expected)) and recorded[same].event == expected[same]:
        same += 1
    ours, theirs = recorded[same:], expected[same:]
    if not ours and not theirs:
        return None
    missing = not ours or any(ours[0].event == event for event in theirs)
    surplus = not theirs or any(theirs[0] == record.event for record in ours)
    at = ours[0] if ours else command[-1]
    if surplus and not missing:
        told = named(graph, at.event)
        return _divergence(at, at.event.kind, f"{told} was recorded, and nothing calls for it", recorded=told)
    follows = named(graph, theirs[0])
    if missing and not surplus:
        message = f"{follows} follows {'here' if ours else 'after it'}, and was not recorded"
        return _divergence(at, theirs[0].kind, message, follows=follows)
    told = named(graph, at.event)
    message = f"{told} was recorded where {follows} follows"
    return _divergence(at, at.event.kind, message, recorded=told, follows=follows)


def _incoherent(graph: BeliefGraph, command: list[Recorded], error: Exception) -> Divergence:
    """Return which record of the command cannot be: it speaks of something that the log never recorded."""
    branch = graph.branch()
    for record in command:
        told = named(branch, record.event)
        try:
            evolve(branch, cast("BeliefEvent", record.event))
        except INCOHERENT as fault:
            message = f"{told} speaks of what was never recorded ({fault})"
            return _divergence(record, record.event.kind, message, recorded=told)
    last = command[-1]
    message = f"nothing can be decided from the command that ends here ({type(error).__name__}: {error})"
    return _divergence(last, last.event.kind, message, recorded=named(graph, last.event))


def _divergence(at: Recorded, kind: str, message: str, *, recorded: str = "", follows: str = "") -> Divergence:
    return Divergence(at.position, at.epoch, kind, recorded, follows, message)


def _called(graph: BeliefGraph, node_id: NodeId) -> str:
    node = graph.nodes.get(node_id)
    return (node.handle or node.id) if node else "nobody"
