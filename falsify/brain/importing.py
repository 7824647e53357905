"""Importing: what a folder or its history says of pages, held against what is known, becomes events.

Nothing is recorded twice. What a commit did to a page is known by path and commit; a file is known by its text.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from falsify.brain.events import BrainEvent, PageMoved, PageRecorded, PageRemoved
from falsify.brain.library import Library, Version, current, evolve
from falsify.brain.page import read_page
from falsify.brain.page_text import decode
from falsify.errors import InvalidInputError, RefusedError

BATCH: Final = 500
"""Events that are appended together."""

FEW: Final = 5
"""Pages that may go missing without a question being asked; of more, only half of all."""


@dataclass(frozen=True, slots=True)
class Origin:
    """When a change became known (`YYYY-MM-DDTHH:MM:SSZ`), and by whom; of a file that is in no commit, only when."""

    known_at: str
    author: str = ""
    commit: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a commit did to a page. `data` is what the file held; None where it was removed, or is known anyway."""

    rel_path: str
    origin: Origin
    data: bytes | None = None
    removed: bool = False
    moved_from: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the folder as it is, and when it was last written."""

    rel_path: str
    data: bytes
    known_at: str


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


@dataclass(slots=True)
class History:
    """Reads what commits did, parents before children. `faults` are the versions that cannot be read.

    Of a page the dates never run backwards: a commit that says it is older than the one before it, or that comes from
    the future, is dated by that one, or by now.
    """

    known: frozenset[tuple[str, str]]
    now: str
    faults: list[InvalidInputError] = field(default_factory=list)
    _present: set[str] = field(default_factory=set)
    _last: dict[str, str] = field(default_factory=dict)

    def take(self, entry: Entry) -> tuple[Change, ...]:
        """Return what is to be recorded of an entry: nothing where it is known."""
        origin = self._dated(entry)
        was = entry.moved_from if entry.moved_from in self._present else ""
        self._present.discard(entry.moved_from)
        if (entry.rel_path, origin.commit) in self.known:
            (self._present.discard if entry.removed else self._present.add)(entry.rel_path)
            return ()
        if entry.removed:
            there = entry.rel_path in self._present
            self._present.discard(entry.rel_path)
            return (Removed(entry.rel_path, origin),) if there else ()
        text = self._text(entry)
        if was or text is not None:
            self._present.add(entry.rel_path)
        return tuple(_became(entry.rel_path, origin, was, text))

    def _text(self, entry: Entry) -> str | None:
        try:
            text = decode(entry.rel_path, entry.data or b"")
            read_page(entry.rel_path, text)
        except InvalidInputError as error:
            at = {**error.details, "commit": entry.origin.commit}
            self.faults.append(InvalidInputError(error.message, hint=error.hint, reason=error.reason, details=at))
            return None
        return text

    def _dated(self, entry: Entry) -> Origin:
        origin = entry.origin
        earliest = max(self._last.get(entry.rel_path, ""), self._last.get(entry.moved_from, ""))
        at = min(max(origin.known_at, earliest), self.now)
        self._last[entry.rel_path] = at
        if entry.moved_from:
            self._last[entry.moved_from] = at
        return Origin(at, origin.author, origin.commit, origin.message)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a folder differs from the brain.

    `behind` are files that have an earlier text of a page that was changed here since; `only_here` pages that were
    written here and are not in the folder. Neither is touched.
    """

    changes: tuple[Change, ...]
    faults: tuple[InvalidInputError, ...]
    behind: tuple[str, ...]
    only_here: tuple[str, ...]
    unchanged: int


def compare(
    library: Library, files: Iterable[File], *, now: str, refused: Iterable[str] = (), prune: bool = False
) -> Comparison:
    """Return how the files of a folder differ from the pages there are.

    `refused` are paths of pages and folders that could not be read, complete when `files` ends: what is there stays as
    it is. With `prune` pages that are not in the folder go, whoever wrote them. Raises RefusedError where more than
    half would go without.
    """
    held = _Held(library, now)
    for file in files:
        held.take(file)
    there = held.seen | set(refused)
    missing = [version for version in current(library) if not _is_among(there, version.rel_path)]
    gone = [version for version in missing if prune or _from_files(version)]
    moves = _moves(library, gone, held.texts, now)
    removed = _removals(gone, moves, now)
    if not prune:
        _not_too_many(library, removed)
    targets = {move.rel_path for move in moves}
    written = [each for path, each in held.texts.items() if path not in targets]
    only_here = sorted(version.rel_path for version in missing if version not in gone)
    return Comparison(
        (*moves, *written, *removed), tuple(held.faults), tuple(held.behind), tuple(only_here), held.unchanged
    )


@dataclass(slots=True)
class _Held:
    """Files, held one by one against the pages there are; `texts` is what is new in them."""

    library: Library
    now: str
    seen: set[str] = field(default_factory=set)
    texts: dict[str, Written] = field(default_factory=dict)
    faults: list[InvalidInputError] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    unchanged: int = 0

    def take(self, file: File) -> None:
        self.seen.add(file.rel_path)
        past = self.library.pages.get(file.rel_path, ())
        try:
            text = decode(file.rel_path, file.data)
            if past and past[-1].text == text:
                self.unchanged += 1
                return
            read_page(file.rel_path, text)
        except InvalidInputError as error:
            self.faults.append(error)
            return
        if _is_behind(past, text):
            self.behind.append(file.rel_path)
            return
        at = max(min(file.known_at, self.now), past[-1].known_at if past else "")
        self.texts[file.rel_path] = Written(file.rel_path, Origin(at), text)


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


def _became(rel_path: str, origin: Origin, was: str, text: str | None) -> Iterator[Change]:
    if was:
        yield Moved(rel_path, origin, was, text)
    if text is not None:
        yield Written(rel_path, origin, text)


def _is_among(paths: Collection[str], rel_path: str) -> bool:
    """Return whether a path, or a folder above it, is among the paths."""
    parts = rel_path.split("/")
    return any("/".join(parts[:end]) in paths for end in range(1, len(parts) + 1))


def _from_files(version: Version) -> bool:
    """Return whether a version was imported; what is written here says who wrote it, and has no commit."""
    return bool(version.commit) or not version.author


def _is_behind(past: Sequence[Version], text: str) -> bool:
    """Return whether the text is an earlier one of the page, which was changed here since."""
    same = [place for place, version in enumerate(past) if version.text == text]
    return bool(same) and not all(map(_from_files, past[same[-1] + 1 :]))


def _moves(library: Library, gone: Sequence[Version], texts: dict[str, Written], now: str) -> list[Moved]:
    """Return a move for each page that is gone and stands, word for word, where there was none."""
    arrived: dict[str, list[str]] = {}
    for path in sorted(texts, reverse=True):
        past = library.pages.get(path)
        if not past or past[-1].text is None:
            arrived.setdefault(texts[path].text, []).append(path)
    moves: list[Moved] = []
    for version in gone:
        if version.text and (places := arrived.get(version.text)):
            origin = Origin(max(now, version.known_at))
            moves.append(Moved(places.pop(), origin, version.rel_path, version.text))
    return moves


def _removals(gone: Sequence[Version], moves: Sequence[Moved], now: str) -> list[Removed]:
    moved = {move.was for move in moves}
    return [Removed(v.rel_path, Origin(max(now, v.known_at))) for v in gone if v.rel_path not in moved]


def _not_too_many(library: Library, removed: Sequence[Removed]) -> None:
    """Raise RefusedError where so many pages would go that this may be another folder."""
    there = sum(1 for _ in current(library))
    if len(removed) > FEW and 2 * len(removed) > there:
        raise RefusedError(
            f"{len(removed)} of {there} pages are not in this folder, and would be removed",
            hint="is it the right folder? If they are to go, import with --prune",
            reason="many_removals",
            details={"removed": len(removed), "pages": there},
        )
