"""The store of the search index: a SQLite file and one of vectors, brought up to the log in steps that survive a kill.

A step is a transaction: the pages of some positions with the checkpoint, or some vectors with how many there are. A
process that was killed goes on after the last one. Several processes may do so at once.
"""

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import orjson

from falsify.brain.library import Library, Version
from falsify.brain.page import read_page
from falsify.errors import UnavailableError
from falsify.ports import Embedder, Progress
from projections.search.chunks import to_embed
from projections.search.schema import (
    BLOCK,
    CONTENT,
    ENTRY,
    LAYOUT,
    TABLES,
    add_grams,
    advance,
    checkpoint,
    clear,
    grams_of,
    reading,
    writing,
)
from projections.search.view import Admission, Condition, Mask, Numbers, Snapshot, View, viewed
from projections.search.writer import Writer

Row = Mapping[str, Any]

K = TypeVar("K")
V = TypeVar("V")

POSITIONS_AT_ONCE: Final = 200
PASSAGES_AT_ONCE: Final = 256

VIEWS: Final = 32
"""So many views are kept in memory, and so many of the conditions that they are made of."""

MOST_GRAMS: Final = 16
"""So many runs of three characters of a literal are looked up; what holds them all is then read."""

WITHOUT_GRAMS: Final = -1
"""The sign of the layout of an index that was made by a SQLite that has no trigrams (before 3.34)."""


class SearchIndex:
    """The index of all versions of all pages. `sync` brings it up to the log; `view` narrows it to what a call sees."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self.embedder = embedder
        self._path = path
        self._vectors = path.with_suffix(".vectors")
        self._synced = -1
        self._snapshot: Snapshot | None = None
        self._views: OrderedDict[tuple[int, tuple[Condition, ...]], View] = OrderedDict()
        self._masks: OrderedDict[tuple[int, Condition], Mask] = OrderedDict()
        self._grams = self._made = False

    # --- writing ----------------------------------------------------------------------------------------------

    def sync(self, library: Library, position: int, *, watch: Progress | None = None) -> int:
        """Bring the index to `position`, up to which the library was folded; return how many passages were embedded.

        Raises UnavailableError if the files or the embedder cannot be used.
        """
        if position == self._synced and self._path.exists():
            return 0
        with self._connect() as connection:
            self._begin(connection)
            self._place(connection, library)
            self._read(connection, library, position, watch or _unwatched)
            embedded = self._embed(connection, watch or _unwatched)
        self._synced = position
        return embedded

    def rebuild(self, library: Library, position: int, *, watch: Progress | None = None) -> int:
        """Forget everything and read the library anew; return how many passages were embedded."""
        with self._connect() as connection, writing(connection):
            clear(connection, 0)
        self._synced = -1
        return self.sync(library, position, watch=watch)

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Make an index of another layout anew, and the vectors of another embedder."""
        with writing(connection):
            known = checkpoint(connection)
            layout = LAYOUT if self._grams else LAYOUT * WITHOUT_GRAMS
            if known["layout"] != layout:
                clear(connection, layout)
            if known["embedder"] != self.embedder.name or self._vectors_on_disk() < known["embedded"]:
                advance(connection, embedder=self.embedder.name, embedded=0)

    def _place(self, connection: sqlite3.Connection, library: Library) -> None:
        """Put the pages that name no department where the org map of today puts them."""
        slugs = sorted(each.slug for each in library.org.departments)
        departments = orjson.dumps(slugs).decode()
        if checkpoint(connection)["departments"] == departments:
            return
        with writing(connection):
            rows = connection.execute("SELECT id, rel_path FROM version WHERE NOT named").fetchall()
            placed = ((read_page(path, "", departments=slugs).department, number) for number, path in rows)
            connection.executemany("UPDATE version SET department = ? WHERE id = ?", placed)
            advance(connection, departments=departments)

    def _read(self, connection: sqlite3.Connection, library: Library, position: int, watch: Progress) -> None:
        """Write the versions that are new, some positions at a time."""
        slugs = [each.slug for each in library.org.departments]
        while True:
            after = int(checkpoint(connection)["position"])
            fresh = _versions(library, after, position)
            if not fresh:
                break
            for at_once in _batched(fresh, POSITIONS_AT_ONCE):
                with writing(connection):
                    if checkpoint(connection)["position"] != after:
                        break  # another process was faster: see what is left
                    Writer(connection, slugs, grams=self._grams).write(
                        [v for _, same in at_once for v in same], library
                    )
                    after = at_once[-1][0]
                    advance(connection, position=after)
                watch("pages", sum(at <= after for at, _ in fresh), len(fresh))
        # What others wrote to the log changes nothing here: the generation stays, and with it what is kept in memory.
        connection.execute("UPDATE checkpoint SET position = max(position, ?)", (position,))

    def _embed(self, connection: sqlite3.Connection, watch: Progress) -> int:
        """Embed the passages that have no vector yet, in the order of their numbers."""
        count, made = 0, 0
        (total,) = connection.execute("SELECT count(*) FROM passage").fetchone()
        while (start := int(checkpoint(connection)["embedded"])) < total:
            rows = connection.execute(
                "SELECT title, context, text FROM passage WHERE id >= ? ORDER BY id LIMIT ?", (start, PASSAGES_AT_ONCE)
            ).fetchall()
            vectors = self.embedder.embed([to_embed(*row) for row in rows]).astype("<f4")
            with writing(connection):
                if checkpoint(connection)["embedded"] != start:
                    continue  # another process was faster
                self._append(vectors, start)
                advance(connection, embedded=start + len(rows))
            made += len(rows)
            count = start + len(rows)
            watch("passages", count, total)
        return made

    def _vectors_on_disk(self) -> int:
        size = self._vectors.stat().st_size if self._vectors.exists() else 0
        return size // (self.embedder.dimensions * 4)

    def _append(self, vectors: Any, start: int) -> None:
        """Write vectors from row `start` on; the disk has them before the checkpoint says that they are there."""
        if start == 0:
            self._vectors.unlink(missing_ok=True)  # whoever still reads the old ones keeps them
        self._vectors.touch()
        with self._vectors.open("r+b") as file:
            file.seek(start * self.embedder.dimensions * 4)
            file.write(vectors.tobytes())
            file.truncate()
            file.flush()
            os.fsync(file.fileno())

    # --- reading ----------------------------------------------------------------------------------------------

    def view(self, admission: Admission) -> View:
        """Return what is admitted of the index as it is on the disk; kept until the index changes."""
        conditions = admission.conditions()
        with self._connect() as connection, reading(connection):
            snapshot = self._current(connection)
            key = (snapshot.generation, conditions)
            view = self._views.get(key)
            if view is None:
                seen, wanted = (self._mask(connection, snapshot, condition) for condition in conditions)
                view = viewed(snapshot, seen & wanted)
            _keep(self._views, key, view)
        return view

    def literal(self, view: View, text: str) -> Mask:
        """Return the admitted versions that may hold the text, whatever the case: all that do, and maybe some more."""
        grams = sorted({text[at : at + 3] for at in range(len(text) - 2)})[:MOST_GRAMS]
        if not grams or not self._grams:
            return view.versions
        query = " AND ".join('"' + gram.replace('"', '""') + '"' for gram in grams)
        with self._connect() as connection:
            rows = connection.execute("SELECT rowid FROM literal WHERE literal MATCH ?", (query,)).fetchall()
        return view.versions & _mask(len(view.versions), rows)

    def _mask(self, connection: sqlite3.Connection, snapshot: Snapshot, condition: Condition) -> Mask:
        key = (snapshot.generation, condition)
        mask = self._masks.get(key)
        if mask is None:
            sql, parameters = condition
            rows = connection.execute(f"SELECT id FROM version WHERE {sql}", parameters).fetchall()  # noqa: S608  # Admission's
            mask = _mask(len(snapshot.rel_paths), rows)
        _keep(self._masks, key, mask)
        return mask

    def postings(self, terms: Sequence[str]) -> dict[str, tuple[Numbers, Numbers]]:
        """Return for each word that is known the passages that have it, in rising order, and how often."""
        rows = self._among(
            "SELECT term, block, entries FROM posting WHERE term IN (VALUES) ORDER BY term, block", terms
        )
        found: dict[str, tuple[Numbers, Numbers]] = {}
        for term, blocks in groupby(rows, key=itemgetter(0)):
            read = [(block, np.frombuffer(entries, dtype=ENTRY)) for _, block, entries in blocks]
            passages = np.concatenate([block * BLOCK + entries["at"].astype(np.int64) for block, entries in read])
            found[term] = passages, np.concatenate([entries["often"].astype(np.int64) for _, entries in read])
        return found

    def mentioned(self, names: Sequence[str]) -> list[tuple[str, int]]:
        """Return the versions of entity and glossary pages that have one of these names, by name and number."""
        return self._among("SELECT name, version FROM mention WHERE name IN (VALUES) ORDER BY 1, 2", names)

    def tails_of(self, versions: Sequence[int]) -> list[tuple[str]]:
        """Return the tails of all names of these versions."""
        return self._among("SELECT DISTINCT tail FROM name WHERE version IN (VALUES) ORDER BY 1", versions)

    def named(self, tails: Sequence[str]) -> list[tuple[int, str, str, str]]:
        """Return number, path, title and aliases (JSON) of the versions that have a name with one of these tails."""
        return self._among(
            "SELECT id, rel_path, title, aliases FROM version "
            "WHERE id IN (SELECT version FROM name WHERE tail IN (VALUES)) ORDER BY id",
            tails,
        )

    def links_to(self, tails: Sequence[str]) -> list[tuple[int, str]]:
        """Return the links whose target has one of these tails: the version they are in, and the target."""
        return self._among("SELECT version, target FROM link WHERE tail IN (VALUES) ORDER BY 1, 2", tails)

    def links_from(self, versions: Sequence[int]) -> list[tuple[int, str]]:
        """Return the links of these versions."""
        return self._among("SELECT version, target FROM link WHERE version IN (VALUES) ORDER BY 1, 2", versions)

    def rows(self, chunk_numbers: Sequence[int]) -> dict[int, Row]:
        """Return everything about these chunks, by their number."""
        found = self._among(
            "SELECT c.id AS chunk, c.ordinal, c.start_line, c.end_line, p.heading_path, p.text, v.* FROM chunk c "
            "JOIN passage p ON p.id = c.passage JOIN version v ON v.id = c.version WHERE c.id IN (VALUES)",
            chunk_numbers,
        )
        return {row["chunk"]: row for row in found}

    def contents(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return every table that the log decides, whole, and the vectors: what two indexes are compared by."""
        tables: dict[str, list[tuple[Any, ...]]] = {
            name: self._select(f"SELECT * FROM {name} ORDER BY 1, 2", ())  # noqa: S608
            for name in CONTENT
        }
        with self._connect() as connection:
            known = checkpoint(connection)
            grams = grams_of(connection) if self._grams else []
        kept = ("layout", "position", "departments", "embedder", "embedded")
        return {
            **tables,
            "literal": grams,
            "checkpoint": [tuple(known[name] for name in kept)],
            "vectors": [(self._vectors.read_bytes(),)] if self._vectors.exists() else [],
        }

    def _among(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows of a query in which VALUES stands for these values, however many they are."""
        with self._connect() as connection:
            connection.row_factory = sqlite3.Row
            given = orjson.dumps(list(values)).decode()
            return connection.execute(sql.replace("VALUES", "SELECT value FROM json_each(?)"), (given,)).fetchall()

    def _select(self, sql: str, parameters: Sequence[Any]) -> list[Any]:
        with self._connect() as connection:
            return connection.execute(sql, list(parameters)).fetchall()

    def _current(self, connection: sqlite3.Connection) -> Snapshot:
        known = checkpoint(connection)
        if self._snapshot is None or self._snapshot.generation != known["generation"]:
            self._snapshot = self._load(connection, known)
        return self._snapshot

    def _load(self, connection: sqlite3.Connection, known: Row) -> Snapshot:
        rows = connection.execute("SELECT version, passage, ordinal FROM chunk ORDER BY id").fetchall()
        numbers = np.array(rows, dtype=np.int64).reshape(-1, 3)
        lengths = connection.execute("SELECT length FROM passage ORDER BY id").fetchall()
        pages = connection.execute("SELECT rel_path, position FROM version ORDER BY id").fetchall()
        shape = int(known["embedded"]), self.embedder.dimensions
        vectors = np.memmap(self._vectors, "<f4", "r", shape=shape) if shape[0] else np.empty(shape, dtype=np.float32)
        return Snapshot(
            generation=known["generation"],
            rel_paths=tuple(path for path, _ in pages),
            positions=tuple(position for _, position in pages),
            version_of=np.ascontiguousarray(numbers[:, 0]),
            passage_of=np.ascontiguousarray(numbers[:, 1]),
            ordinal_of=np.ascontiguousarray(numbers[:, 2]),
            lengths=np.array(lengths, dtype=np.int64).reshape(-1),
            vectors=vectors,
        )

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        made = self._made and self._path.exists()
        try:
            connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            try:
                if not made:
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.executescript(TABLES)
                    self._grams = add_grams(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                yield connection
                self._made = True
            finally:
                connection.close()
        except (sqlite3.DatabaseError, OSError) as error:
            raise UnavailableError(
                f"the search index {self._path} cannot be used: {error}",
                hint="it holds nothing of its own: delete the file and it is rebuilt from the log",
            ) from error


def _keep(kept: OrderedDict[K, V], key: K, value: V) -> None:
    """Keep a value as the one that was used last, and let the oldest go."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > VIEWS:
        kept.popitem(last=False)


def _mask(length: int, rows: Sequence[tuple[int]]) -> Mask:
    """Return a mask of these numbers; those beyond it, which are newer than the snapshot, are passed over."""
    numbers = np.array(rows, dtype=np.int64).reshape(-1)
    mask = np.zeros(length, dtype=np.bool_)
    mask[numbers[numbers < length]] = True
    return mask


def _unwatched(_what: str, _done: int, _of: int) -> None:
    """Show nobody anything."""


def _versions(library: Library, after: int, through: int) -> list[tuple[int, list[Version]]]:
    """Return the versions of the positions in between, those of one position together, in order."""
    fresh = [v for past in library.pages.values() for v in past if after < v.position <= through]
    fresh.sort(key=lambda v: (v.position, v.rel_path))
    return [(position, list(same)) for position, same in groupby(fresh, key=lambda v: v.position)]


def _batched(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
