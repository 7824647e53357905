"""The claims index: a vector for every node that is not forgotten, for the first gate and for recall.

It owns one SQLite file of its own, which holds vectors and ids and no text, and can be deleted at any time. How far
into the log it has read is kept in the same transaction as what it read.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from falsify.belief.events import (
    ConclusionDrawn,
    EvidenceRecorded,
    HypothesisProposed,
    NodeForgotten,
)
from falsify.belief.graph import BeliefGraph, Question
from falsify.errors import UnavailableError
from falsify.events import Event, NodeId
from falsify.ports import Embedder, Progress
from projections.beliefs import Hit
from projections.slots import SlotIndex

Vectors = NDArray[np.float32]

_distance, _node_id = attrgetter("distance"), attrgetter("node_id")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (node_id TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS checkpoint (
    only INTEGER PRIMARY KEY CHECK (only = 1), position INTEGER NOT NULL, embedder TEXT NOT NULL);
"""

_EMBEDDED_AT_ONCE = 64
"""So many texts are embedded before somebody is told how far it has come."""

_WRITTEN_AT_ONCE = 256
"""So many new vectors are kept in memory before they are written: each commit waits for the disk."""


class VectorTable:
    """Unit vectors by node, searched exactly; beside them, which claims fill which slot."""

    def __init__(self, embedder: Embedder, slots: SlotIndex | None = None) -> None:
        self.embedder = embedder
        self.slots = SlotIndex() if slots is None else slots
        self._ids: list[NodeId] = []
        self._rows: dict[NodeId, int] = {}
        self._matrix: Vectors = np.empty((0, embedder.dimensions), dtype=np.float32)
        self._query: tuple[str, Vectors] | None = None
        self._scan: Vectors | None = None

    def __contains__(self, node_id: NodeId) -> bool:
        return node_id in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def ids(self) -> set[NodeId]:
        """Return the nodes that have a vector."""
        return set(self._rows)

    def put(self, node_ids: Sequence[NodeId], vectors: Vectors) -> None:
        """Add vectors, one row for each node."""
        self._scan = None
        fresh = [i for i, node_id in enumerate(node_ids) if node_id not in self._rows]
        needed = len(self._ids) + len(fresh)
        if needed > len(self._matrix):
            grown = np.zeros((max(needed, 2 * len(self._matrix), 64), self.embedder.dimensions), dtype=np.float32)
            grown[: len(self._ids)] = self._matrix[: len(self._ids)]
            self._matrix = grown
        for node_id, vector in zip(node_ids, vectors, strict=True):
            row = self._rows.setdefault(node_id, len(self._ids))
            if row == len(self._ids):
                self._ids.append(node_id)
            self._matrix[row] = vector

    def drop(self, node_ids: Iterable[NodeId]) -> None:
        """Take the vectors of these nodes out; those without one are passed over."""
        self._scan = None
        for node_id in node_ids:
            row = self._rows.pop(node_id, None)
            if row is None:
                continue
            last = self._ids.pop()
            if last != node_id:
                self._ids[row] = last
                self._rows[last] = row
                self._matrix[row] = self._matrix[len(self._ids)]
            self._matrix[len(self._ids)] = 0

    def vector(self, node_id: NodeId) -> Vectors:
        """Return the vector of a node."""
        row: Vectors = self._matrix[self._rows[node_id]]
        return row

    def search(
        self, text: str, *, limit: int, within: float, admit: Callable[[NodeId], bool] = lambda _: True
    ) -> list[Hit]:
        """Return the admitted nodes nearer than `within`, nearest first, ties by id."""
        if not self._ids or limit <= 0:
            return []
        distances = self._distances(text)
        near = np.flatnonzero(distances < within)
        ordered = near[np.argsort(distances[near], kind="stable")]
        found = (Hit(self._ids[i], round(float(distances[i]), 6)) for i in ordered)
        ranked = (hit for _, tied in groupby(found, key=_distance) for hit in sorted(tied, key=_node_id))
        return list(islice((hit for hit in ranked if admit(hit.node_id)), limit))

    def nearest(self, text: str, *, limit: int, admit: Callable[[NodeId], bool]) -> list[tuple[NodeId, float]]:
        """Return the admitted nodes within the embedder's threshold (the first gate)."""
        found = self.search(text, limit=limit, within=self.embedder.threshold, admit=admit)
        return [(hit.node_id, hit.distance) for hit in found]

    def distances(self, text: str, node_ids: Sequence[NodeId]) -> list[float]:
        """Return the cosine distances from the text to these nodes; 2.0 for one that has no vector."""
        if not node_ids:
            return []
        everything = self._distances(text) if self._ids else np.empty(0, dtype=np.float32)
        return [
            round(float(everything[self._rows[node_id]]), 6) if node_id in self._rows else 2.0 for node_id in node_ids
        ]

    def rivals(self, text: str) -> list[NodeId]:
        """Return the claims in the functional slot that the text fills (the first gate)."""
        return self.slots.rivals(text)

    def _distances(self, text: str) -> Vectors:
        """Return the distance to every node; the last scan is kept, and the last query's vector.

        A fact is held against the living, the dead and its sources' claims in turn, and its vector becomes its own.
        """
        if self._query is None or self._query[0] != text:
            self._query, self._scan = (text, self.embedder.embed([text])[0]), None
        if self._scan is None:
            matrix = self._matrix[: len(self._ids)]
            self._scan = np.asarray(1.0 - matrix @ self._query[1], dtype=np.float32)
        return self._scan

    def _embedded(self, texts: list[str]) -> Vectors:
        if self._query is not None and texts == [self._query[0]]:
            return self._query[1][np.newaxis]
        return self.embedder.embed(texts)


class ClaimsIndex(VectorTable):
    """The vector table of the present, kept on disk beside its checkpoint.

    The disk may lag behind by some vectors, which a process that was killed makes again; `close` writes them. What has
    been forgotten is taken from the disk at once.
    """

    def __init__(self, path: Path, embedder: Embedder, slots: SlotIndex | None = None) -> None:
        super().__init__(embedder, slots)
        self._path = path
        self._position = self._written = 0
        self._unwritten: list[NodeId] = []
        self._undeleted: list[NodeId] = []
        with self._connect() as connection:
            self._load(connection)

    @property
    def position(self) -> int:
        """How far into the log the index has read."""
        return self._position

    def sync(self, graph: BeliefGraph, position: int, events: Iterable[Event], *, watch: Progress | None = None) -> int:
        """Bring the index to `position`, given the events since its own; return how many texts were embedded."""
        wanted = _changed(events) if self._position else dict.fromkeys(graph.nodes)
        self.slots.read(graph, wanted if self.slots else graph.nodes)
        present = [n for n in wanted if _indexed(graph, n)]
        gone = [n for n in wanted if not _indexed(graph, n)]
        missing = [n for n in present if n not in self]
        for start in range(0, len(missing), _EMBEDDED_AT_ONCE):
            some = missing[start : start + _EMBEDDED_AT_ONCE]
            self.put(some, self._embedded([graph.nodes[n].text for n in some]))
            self._unwritten += some
            if watch is not None:
                watch("claims", start + len(some), len(missing))
        forgotten = any(n in self for n in gone)
        self.drop(gone)
        self._undeleted += gone
        self._position = position
        if forgotten or len(self._unwritten) >= _WRITTEN_AT_ONCE:
            self._write()
        return len(missing)

    def close(self) -> None:
        """Write what is not yet on the disk."""
        if self._position != self._written:
            self._write()

    def rebuild(self, graph: BeliefGraph, position: int, *, watch: Progress | None = None) -> int:
        """Forget every vector and read the graph anew; return how many texts were embedded."""
        self._clear()
        return self.sync(graph, position, (), watch=watch)

    def over(self, graph: BeliefGraph) -> VectorTable:
        """Return a table of another graph's nodes (a past one, say), with vectors taken from here where it can."""
        table = VectorTable(self.embedder, self.slots.over(graph))
        ids = [n for n in graph.nodes if _indexed(graph, n)]
        known = [n for n in ids if n in self]
        if known:
            table.put(known, np.stack([self.vector(n) for n in known]))
        missing = [n for n in ids if n not in self]
        if missing:
            table.put(missing, self.embedder.embed([graph.nodes[n].text for n in missing]))
        return table

    def differences(self, graph: BeliefGraph) -> list[str]:
        """Return how the index differs from what the graph says should be in it, a line each."""
        wanted = {n for n in graph.nodes if _indexed(graph, n)}
        missing = [f"{n} has no vector in the claims index" for n in sorted(wanted - self.ids())]
        extra = [f"{n} has a vector in the claims index and should not" for n in sorted(self.ids() - wanted)]
        return missing + extra

    def _clear(self) -> None:
        with self._connect() as connection, connection:
            connection.execute("DELETE FROM vectors")
            connection.execute("DELETE FROM checkpoint")
        self.drop(self.ids())
        self._position = self._written = 0
        self._unwritten, self._undeleted = [], []

    def _write(self) -> None:
        gone = [(n,) for n in self._undeleted if n not in self]
        rows = [(n, self.vector(n).astype("<f4").tobytes()) for n in self._unwritten if n in self]
        with self._connect() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("DELETE FROM vectors WHERE node_id = ?", gone)
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            checkpoint = self._position, self.embedder.name
            connection.execute("INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?)", checkpoint)
        self._written, self._unwritten, self._undeleted = self._position, [], []

    def _load(self, connection: sqlite3.Connection) -> None:
        self._position = 0
        row = connection.execute("SELECT position, embedder FROM checkpoint").fetchone()
        if row is None:
            return
        position, embedder = row
        if embedder != self.embedder.name:
            connection.execute("DELETE FROM vectors")
            connection.execute("DELETE FROM checkpoint")
            return
        rows = connection.execute("SELECT node_id, vector FROM vectors ORDER BY node_id").fetchall()
        if rows:
            vectors = np.frombuffer(b"".join(v for _, v in rows), dtype="<f4").reshape(len(rows), -1)
            self.put([n for n, _ in rows], vectors.astype(np.float32))
        self._position = self._written = position

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            try:
                connection.execute("PRAGMA secure_delete = ON")
                connection.executescript(_SCHEMA)
                yield connection
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            raise UnavailableError(
                f"the claims index {self._path} cannot be used: {error}",
                hint="it holds nothing of its own: delete the file and it is rebuilt from the log",
            ) from error


def _indexed(graph: BeliefGraph, node_id: NodeId) -> bool:
    node = graph.nodes.get(node_id)
    return node is not None and not isinstance(node, Question) and node.state != "forgotten"


def _changed(events: Iterable[Event]) -> dict[NodeId, None]:
    """Return the nodes that may have entered the graph or left it."""
    changed: dict[NodeId, None] = {}
    for event in events:
        match event:
            case EvidenceRecorded():
                changed[event.evidence_id] = None
            case ConclusionDrawn():
                changed[event.conclusion_id] = None
            case HypothesisProposed():
                changed[event.hypothesis_id] = None
            case NodeForgotten():
                changed[event.node_id] = None
            case _:
                # Any flip can bring a forgotten node back, whatever it is called.
                for name in ("node_id", "evidence_id", "conclusion_id"):
                    if name in event.__dict__:
                        changed[event.__dict__[name]] = None
    return changed


def checkpoint_on_disk(path: Path) -> int | None:
    """Return how far into the log the index at `path` has read, or None where there is no index."""
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            row = connection.execute("SELECT position FROM checkpoint").fetchone()
    except sqlite3.DatabaseError:
        return None  # half made, or not an index at all: it will be rebuilt
    return int(row[0]) if row else None
