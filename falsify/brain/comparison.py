"""How a folder differs from the brain: what is new in it, what moved, what is gone, and what is left alone."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from falsify.brain.importing import Change, Moved, Origin, Removed, Written
from falsify.brain.library import Library, Version, current
from falsify.brain.page import read_page
from falsify.brain.page_text import decode
from falsify.errors import InvalidInputError, RefusedError

NAMED: Final = 3
"""Pages that a report names; of more, it says how many there are."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the folder as it is, and when it was last written."""

    rel_path: str
    data: bytes
    known_at: str


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


def imported(library: Library) -> set[str]:
    """Return the paths of the pages that came from files, as they are now: an import may remove them."""
    return {version.rel_path for version in current(library) if _from_files(version)}


def compare(
    library: Library,
    files: Iterable[File],
    *,
    now: str,
    had: Collection[str],
    refused: Iterable[str] = (),
    prune: bool = False,
) -> Comparison:
    """Return how the files of a folder differ from the pages there are.

    `had` are the imported pages that were there before the import began. `refused` are paths of pages and folders that
    could not be read, complete when `files` ends: what is there stays as it is. With `prune` pages that are not in the
    folder go, whoever wrote them. Raises RefusedError where more than half of `had` would go without.
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
        _not_too_many(had, removed)
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


def _not_too_many(had: Collection[str], removed: Sequence[Removed]) -> None:
    """Raise RefusedError where so many pages would go that this may be another folder, or one that is not mounted."""
    missing = sorted(change.rel_path for change in removed if change.rel_path in had)
    if 2 * len(missing) > len(had):
        are = "is" if len(missing) == 1 else "are"
        more = f" and {len(missing) - NAMED} more" * (len(missing) > NAMED)
        raise RefusedError(
            f"{len(missing)} of {len(had)} imported pages {are} not in this folder, and would be removed: "
            f"{', '.join(missing[:NAMED])}{more}",
            hint="is it the right folder? If they are to go, import with --prune",
            reason="many_removals",
            details={"removed": len(missing), "pages": len(had)},
        )
