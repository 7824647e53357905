"""Writes versions of pages into the tables of the search index."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import orjson

from falsify.brain.library import Library, Version, heirs, moves
from falsify.brain.page import Page, read_page
from falsify.brain.scope import readable
from falsify.errors import InvalidInputError
from projections.search.chunks import Chunk, chunks
from projections.search.fusion import FIELDS
from projections.search.schema import BLOCK, ENTRY, marks
from projections.search.view import OPEN
from projections.search.words import name_key, tail, words

MENTIONED: Final = frozenset({"entity", "glossary"})
"""The types of pages that are found by their names in a question."""


_DISINHERIT: Final = "DELETE FROM heir WHERE version IN (SELECT id FROM version WHERE rel_path = ?)"
_INHERIT: Final = "INSERT INTO heir SELECT id, ?, ? FROM version WHERE rel_path = ? AND position = ?"


class Writer:
    """Writes versions into an open transaction; numbers go on where they ended."""

    def __init__(self, connection: sqlite3.Connection, departments: Sequence[str], *, grams: bool) -> None:
        self._connection = connection
        self._grams = grams
        self._departments = departments
        self._version, self._passage, self._chunk = (
            _next(connection, each) for each in ("version", "passage", "chunk")
        )
        self._entries: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)

    def write(self, versions: Sequence[Version], library: Library) -> None:
        """Write versions, and when those before them ended."""
        for version in versions:
            page = _page(version, self._departments)
            if page is not None:
                self._write(version, page)
        self._connection.executemany(
            "INSERT INTO posting VALUES (?, ?, ?) ON CONFLICT (term, block) "
            "DO UPDATE SET entries = CAST(entries || excluded.entries AS BLOB)",
            ((term, block, np.array(found, dtype=ENTRY).tobytes()) for (term, block), found in self._entries.items()),
        )
        for rel_path in sorted({version.rel_path for version in versions}):
            self._connection.executemany(
                "UPDATE version SET known_to = ? WHERE rel_path = ? AND position = ?", _ends(library.pages[rel_path])
            )

        self._inherit(library, {version.rel_path for version in versions})

    def _inherit(self, library: Library, changed: set[str]) -> None:
        """Write anew what says where the earlier versions at these paths belong today, and at those moved to them."""
        moved, known, left = moves(library), set[str](), changed
        while left:
            known |= left
            left = {v.moved_from for path in left for v in library.pages.get(path, ()) if v.moved_from} - known
        for path in sorted(known):
            found = [
                (heir.rel_path, heir.position, path, version.position)
                for version in library.pages.get(path, ())
                if version.text is not None
                for heir in heirs(library, version, moved)
                if heir is not version
            ]
            self._connection.execute(_DISINHERIT, (path,))
            self._connection.executemany(_INHERIT, found)

    def _write(self, version: Version, page: Page) -> None:
        number, self._version = self._version, self._version + 1
        self._connection.execute(
            f"INSERT INTO version VALUES ({marks(range(19))})",  # noqa: S608
            (
                number, page.rel_path, version.position, version.known_at, OPEN, page.title, page.type,
                page.department, bool(page.front.get("department")), page.area, page.sensitivity,
                page.lifecycle_status, page.source_trust, page.quotable, page.updated or version.known_at[:10],
                page.expires, _json(page.aliases), _json(page.sources), _json(page.origin),
            ),
        )  # fmt: skip
        if self._grams:
            folded = (version.text or "").casefold()
            self._connection.execute("INSERT INTO literal (rowid, text) VALUES (?, ?)", (number, folded))
        self._insert("name", {(tail(each), number) for each in (page.rel_path, page.title, *page.aliases)})
        self._insert("link", {(tail(link.target), number, link.target) for link in page.links})
        if page.type in MENTIONED:
            names = {name_key(each) for each in (page.title, *page.aliases)} - {""}
            self._insert("mention", {(name, number) for name in names})
        for each in chunks(page):
            passage = self._passage_of(each)
            row = self._chunk, number, each.ordinal, passage, each.start_line, each.end_line
            self._connection.execute("INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?)", row)
            self._chunk += 1

    def _insert(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        ordered = sorted(rows)
        if ordered:
            self._connection.executemany(f"INSERT INTO {table} VALUES ({marks(ordered[0])})", ordered)  # noqa: S608

    def _passage_of(self, chunk: Chunk) -> int:
        """Return the number of a chunk's text, which is new where it was not known."""
        digest = chunk.digest
        known = self._connection.execute("SELECT id FROM passage WHERE digest = ?", (digest,)).fetchone()
        if known:
            return int(known[0])
        number, self._passage = self._passage, self._passage + 1
        often: Counter[str] = Counter()
        length = 0
        for value, weight in zip((chunk.title, chunk.context, chunk.text), FIELDS, strict=True):
            found = words(value)
            length += len(found)
            for word in found:
                often[word] += weight
        row = number, digest, chunk.title, chunk.heading_path, chunk.context, chunk.text, length
        self._connection.execute("INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        block, at = divmod(number, BLOCK)
        for word, count in often.items():
            self._entries[word, block].append((at, min(count, 255)))
        return number


def _page(version: Version, departments: Sequence[str]) -> Page | None:
    """Return the page that a version is: None where it was removed, cannot be read, or is not for searching."""
    if version.text is None or not version.rel_path.casefold().endswith(".md") or not readable(version.rel_path):
        return None
    if version.rel_path.startswith("memory/traces/"):
        return None
    try:
        return read_page(version.rel_path, version.text, departments=departments)
    except InvalidInputError:  # an older program took it: it is told by who reads pages, and found by nobody
        return None


def _ends(past: Sequence[Version]) -> list[tuple[str, str, int]]:
    """Return when each version of a page ended, with its path and position."""
    ends = [*(later.known_at for later in past[1:]), OPEN]
    return [(end, version.rel_path, version.position) for version, end in zip(past, ends, strict=True)]


def _next(connection: sqlite3.Connection, table: str) -> int:
    (number,) = connection.execute(f"SELECT coalesce(max(id) + 1, 0) FROM {table}").fetchone()  # noqa: S608
    return int(number)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
