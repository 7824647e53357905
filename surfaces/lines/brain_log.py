"""What was recorded in the brain, a line for each event. What is sealed stays so."""

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from falsify.belief.text import written
from falsify.brain.events import (
    AnswerGiven,
    AnswerRated,
    BrainEvent,
    GovernanceApplied,
    OrgAccepted,
    PageMoved,
    PageRecorded,
    PageRemoved,
    ProposalApproved,
    ProposalRejected,
    ProposalStaged,
    SubjectErased,
    TraceLogged,
)
from falsify.events import Recorded


def row(recorded: Recorded) -> dict[str, Any]:
    """Return a record, JSON-ready, with a sentence that says what it is."""
    event: BrainEvent = recorded.event  # type: ignore[assignment]  # nothing else is in the stream
    return {
        "position": recorded.position,
        "stream": recorded.stream,
        "revision": recorded.revision,
        "recorded_at": written(recorded.recorded_at),
        "actor": recorded.actor,
        "command": recorded.command,
        "kind": event.kind,
        "version": event.version,
        "event": dict(event.__dict__),
        "sentence": sentence(event),
        "hash": recorded.hash.hex(),
    }


def lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Render records of the brain."""
    from surfaces.tools.fence import Fence

    for each in rows:
        kind = each["kind"].removeprefix("brain.")
        told = Fence().inline(each["sentence"], limit=200)
        yield f"{each['position']:>6}  {each['recorded_at']}  {each['actor']:<10} {kind:<18} {told}"


def sentence(event: BrainEvent) -> str:
    """Return an event as a person reads it."""
    match event:
        case PageRecorded():
            return f"{event.rel_path}, known since {event.known_at}" + _by(event.author, event.commit)
        case PageMoved():
            return f"{event.was} is {event.rel_path} since {event.known_at}" + _by(event.author, event.commit)
        case PageRemoved():
            return f"{event.rel_path} is gone since {event.known_at}" + _by(event.author, event.commit)
        case OrgAccepted():
            return f"the org map of {event.source}"
        case GovernanceApplied():
            arguments = "".join(f" {name}={value}" for name, value in event.arguments.items())
            undoes = f", which undoes {event.undoes}" if event.undoes else ""
            return f"{event.operation_id}: {event.op}{arguments}{undoes}"
        case ProposalStaged():
            what = "change of the org map" if event.proposes == "governance" else event.proposes
            return f"{event.proposal_id}: a {what} for {event.lands_at or event.rel_path}, {event.title!r}"
        case ProposalApproved():
            return f"{event.proposal_id}" + (f": {event.note}" if event.note else "")
        case ProposalRejected():
            return f"{event.proposal_id}: {event.reason}"
        case TraceLogged():
            return f"{event.rel_path}: {event.status}"
        case AnswerGiven():
            return f"{event.answer_id}: {event.mode} of {event.asked_by}, {len(event.citations)} cited"
        case AnswerRated():
            return f"{event.answer_id}: {event.rating}"
        case SubjectErased():
            return event.subject
        case _:
            assert_never(event)


def _by(author: str, commit: str) -> str:
    return (f", by {author}" if author else "") + (f" in {commit[:10]}" if commit else "")
