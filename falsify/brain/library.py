"""The brain as it stands: the fold of its events.

Of a page all versions are kept, each with when it became known, so that any date can be asked for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

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
from falsify.brain.org import EMPTY, Org, org_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a page said from `known_at` on; `text` is None where it was not there any more.

    `position` is that of the record in the log, which tells versions of the same second apart.
    """

    rel_path: str
    text: str | None
    known_at: str
    position: int
    author: str
    commit: str
    moved_from: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Something proposed, at that position of the log; `status` is pending, approved or rejected."""

    staged: ProposalStaged
    position: int = 0
    status: str = "pending"
    decided_by: str = ""
    note: str = ""


@dataclass(slots=True)
class Library:
    """All pages with their past, the org map, proposals, traces and answers. `revision` is that of the stream.

    `answered` has the position of the log at which an answer was given.
    """

    revision: int = 0
    org: Org = EMPTY
    pages: dict[str, tuple[Version, ...]] = field(default_factory=dict)
    proposals: dict[str, Proposal] = field(default_factory=dict)
    operations: dict[str, GovernanceApplied] = field(default_factory=dict)
    undone: set[str] = field(default_factory=set)
    traces: dict[str, TraceLogged] = field(default_factory=dict)
    answers: dict[str, AnswerGiven] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    ratings: dict[str, AnswerRated] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)


def evolve(library: Library, event: BrainEvent, position: int, revision: int) -> Library:
    """Return the library after the event, changed in place."""
    library.revision = revision
    match event:
        case PageRecorded():
            _add(library, event.rel_path, event, event.text, position)
        case PageMoved():
            _add(library, event.rel_path, event, _text(library, event), position, moved_from=event.was)
            _add(library, event.was, event, None, position)
        case PageRemoved():
            _add(library, event.rel_path, event, None, position)
        case OrgAccepted():
            library.org = org_of(event.org)
        case GovernanceApplied():
            library.org = org_of(event.org)
            library.operations[event.operation_id] = event
            if event.undoes:
                library.undone.add(event.undoes)
        case ProposalStaged():
            library.proposals[event.proposal_id] = Proposal(staged=event, position=position)
        case ProposalApproved():
            _decide(library, event.proposal_id, "approved", event.approved_by, event.note)
        case ProposalRejected():
            _decide(library, event.proposal_id, "rejected", event.rejected_by, event.reason)
        case TraceLogged():
            library.traces[event.rel_path] = event
        case AnswerGiven():
            library.answers[event.answer_id] = event
            library.answered[event.answer_id] = position
        case AnswerRated():
            library.ratings[event.answer_id] = event
        case SubjectErased():
            library.erased.add(event.subject)
        case _:
            assert_never(event)
    return library


def current(library: Library) -> Iterator[Version]:
    """Yield the present version of every page that is there, by path."""
    for rel_path in sorted(library.pages):
        version = library.pages[rel_path][-1]
        if version.text is not None:
            yield version


def as_of(library: Library, known_at: str) -> Iterator[Version]:
    """Yield the version of every page that was known then (`YYYY-MM-DDTHH:MM:SSZ`), by path."""
    for rel_path in sorted(library.pages):
        known = [v for v in library.pages[rel_path] if v.known_at <= known_at]
        if known and known[-1].text is not None:
            yield known[-1]


Moves = Mapping[tuple[str, int], str]
"""Where a page went, by the path that it left and the position of the record of that."""


def moves(library: Library) -> Moves:
    """Return all moves that there were."""
    every = (v for past in library.pages.values() for v in past if v.moved_from and v.text is not None)
    return {(v.moved_from, v.position): v.rel_path for v in every}


def heirs(library: Library, version: Version, moved: Moves) -> list[Version]:
    """Return the versions that say where an earlier one belongs today: who may not see them all does not see it.

    They are the last text at its path and, where the page was moved on, the last text at the path that it came to. What
    was moved on is no text at the path that it left.
    """
    here, path = _last(library, version.rel_path), version.rel_path
    left = first = _left(library, path, version)
    while left and (path_then := moved.get((path, left.position))):
        path, left = path_then, _left(library, path_then, left)
    if path == version.rel_path:
        return [here]
    stays = first is not None and _order(here) > _order(first)
    return [here, _last(library, path)] if stays else [_last(library, path)]


def _last(library: Library, rel_path: str) -> Version:
    return next(each for each in reversed(library.pages[rel_path]) if each.text is not None)


def _left(library: Library, rel_path: str, since: Version) -> Version | None:
    """Return the version with which a page was first not there any more since another."""
    gone = (v for v in library.pages[rel_path] if v.text is None and _order(v) > _order(since))
    return next(gone, None)


def _order(version: Version) -> tuple[str, int]:
    return version.known_at, version.position


def _decide(library: Library, proposal_id: str, status: str, decided_by: str, note: str) -> None:
    known = library.proposals[proposal_id]
    library.proposals[proposal_id] = replace(known, status=status, decided_by=decided_by, note=note)


def _add(
    library: Library,
    rel_path: str,
    event: PageRecorded | PageMoved | PageRemoved,
    text: str | None,
    position: int,
    *,
    moved_from: str = "",
) -> None:
    """Put a version where it belongs by when it became known; a later record of the same second comes after."""
    version = Version(
        rel_path=rel_path,
        text=text,
        known_at=event.known_at,
        position=position,
        author=event.author,
        commit=event.commit,
        moved_from=moved_from,
    )
    past = (*library.pages.get(rel_path, ()), version)
    library.pages[rel_path] = tuple(sorted(past, key=_order))


def _text(library: Library, event: PageMoved) -> str | None:
    """Return what the page said when it was moved."""
    known = [v for v in library.pages.get(event.was, ()) if v.known_at <= event.known_at]
    return known[-1].text if known else None
