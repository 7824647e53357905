"""Reading a history: what commits did to pages, in order, becomes changes; what cannot be read is told and left out."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from falsify.brain.importing import Change, Moved, Origin, Removed, Written
from falsify.brain.page import read_page
from falsify.brain.page_text import decode
from falsify.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Entry:
    """What a commit did to a page. `data` is what the file held; None where it was removed, or is known anyway."""

    rel_path: str
    origin: Origin
    data: bytes | None = None
    removed: bool = False
    moved_from: str = ""


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


def _became(rel_path: str, origin: Origin, was: str, text: str | None) -> Iterator[Change]:
    if was:
        yield Moved(rel_path, origin, was, text)
    if text is not None:
        yield Written(rel_path, origin, text)
