"""Importing: changes of pages, as a folder or its history has them, become events.

Nothing is recorded twice. What a commit did to a page is known by path and commit; a file is known by its text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from falsify.brain.events import BrainEvent, PageMoved, PageRecorded, PageRemoved
from falsify.brain.library import Library, evolve

BATCH: Final = 500
"""Events that are appended together."""


@dataclass(frozen=True, slots=True)
class Origin:
    """When a change became known (`YYYY-MM-DDTHH:MM:SSZ`), and by whom; of a file that is in no commit, only when."""

    known_at: str
    author: str = ""
    commit: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """A page has this text."""

    rel_path: str
    origin: Origin
    text: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A page went from one path to another; `text` is None where what it says now cannot be read."""

    rel_path: str
    origin: Origin
    was: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Removed:
    """A page is gone."""

    rel_path: str
    origin: Origin


Change = Written | Moved | Removed


def known_commits(library: Library) -> frozenset[tuple[str, str]]:
    """Return the path and commit of every version that came from a history."""
    return frozenset((v.rel_path, v.commit) for past in library.pages.values() for v in past if v.commit)


def decide(library: Library, changes: Sequence[Change]) -> list[BrainEvent]:
    """Return the events that the changes come to, without those that are known by now."""
    known = known_commits(Library(pages={c.rel_path: library.pages.get(c.rel_path, ()) for c in changes}))
    draft = _Draft(library)
    for change in changes:
        if (change.rel_path, change.origin.commit) not in known:
            draft.record(change)
    return draft.events


def batches(changes: Iterable[tuple[Change, ...]]) -> Iterator[list[Change]]:
    """Yield the changes in batches of at most BATCH events; what one commit did to one page is not torn apart."""
    batch: list[Change] = []
    for together in changes:
        if _most(batch) + _most(together) > BATCH:
            yield batch
            batch = []
        batch.extend(together)
    if batch:
        yield batch


def _most(changes: Sequence[Change]) -> int:
    """Return how many events the changes come to at most."""
    return sum(2 if isinstance(change, Moved) else 1 for change in changes)


_AFTER_ALL: Final = 1 << 62
"""A position after all that are recorded."""


class _Draft:
    """The events so far, and the pages as they are after them."""

    def __init__(self, library: Library) -> None:
        self.events: list[BrainEvent] = []
        self._library = Library(pages=dict(library.pages))
        self._position = _AFTER_ALL

    def record(self, change: Change) -> None:
        match change:
            case Written():
                self._write(change.rel_path, change.text, change.origin)
            case Moved():
                self._move(change)
            case Removed():
                self._remove(change.rel_path, change.origin)

    def _write(self, rel_path: str, text: str, origin: Origin) -> None:
        past = self._library.pages.get(rel_path)
        if past and past[-1].text == text and origin.commit in {"", past[-1].commit}:
            return  # it says so already, or has moved here by the same commit
        self._add(
            PageRecorded(
                rel_path=rel_path,
                text=text,
                known_at=origin.known_at,
                author=origin.author,
                commit=origin.commit,
                message=origin.message,
            )
        )

    def _move(self, change: Moved) -> None:
        """Record a move where the page is still as it was then; else what came of it, at both paths."""
        origin = change.origin
        if self._movable(change):
            self._add(
                PageMoved(
                    rel_path=change.rel_path,
                    was=change.was,
                    known_at=origin.known_at,
                    author=origin.author,
                    commit=origin.commit,
                )
            )
            return
        if change.text is not None:
            self._write(change.rel_path, change.text, origin)
        self._remove(change.was, origin)

    def _movable(self, change: Moved) -> bool:
        past, there = self._library.pages.get(change.was), self._library.pages.get(change.rel_path)
        if not past or past[-1].text is None or past[-1].known_at > change.origin.known_at:
            return False
        return not there or (there[-1].text is None and there[-1].known_at <= change.origin.known_at)

    def _remove(self, rel_path: str, origin: Origin) -> None:
        past = [v for v in self._library.pages.get(rel_path, ()) if v.known_at <= origin.known_at]
        if past and past[-1].text is not None:
            self._add(
                PageRemoved(rel_path=rel_path, known_at=origin.known_at, author=origin.author, commit=origin.commit)
            )

    def _add(self, event: BrainEvent) -> None:
        self._position += 1
        self.events.append(event)
        evolve(self._library, event, self._position, self._library.revision + 1)
