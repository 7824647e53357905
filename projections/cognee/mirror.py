"""The mirror: a folder in which Cognee sees what is believed, kept in step with the log by one process at a time."""

import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from falsify.belief.graph import BeliefGraph
from falsify.errors import ConflictError, DamagedError, InvalidInputError, NotFoundError, UnavailableError
from falsify.events import NodeId
from falsify.judges.cognee_environment import prepare
from falsify.ports import Embedder
from projections.cognee import bulk, generations
from projections.cognee.asking import Recalled, beliefs, passages
from projections.cognee.changes import touched
from projections.cognee.generations import Hold, Note
from projections.cognee.state import MirrorRow, MirrorState, RowKey, differences, snapshot, view
from projections.cognee.stores import Stores, refuse_inside, set_up

if TYPE_CHECKING:
    from projections.cognee.bulk import Vector

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Told how many of how many texts are embedded."""

MANY = 500
"""From so many changed nodes on, writing everything anew is quicker than writing them one by one."""

WORN = 200
"""Versions of a collection after which searching it has become slow enough to write everything anew."""

_BATCH = 256


class Mirror:
    """Keeps `folder` in step with the belief graph.

    The lock on the folder is taken when it is first needed, and held until `close`. Several threads may share a
    mirror; they take turns. What somebody else writes into it by Cognee's means is reported by `compare`, and is gone
    after the next rebuild.
    """

    touched = staticmethod(touched)
    """Which nodes the events between two positions change: what `sync` is to be told."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.folder = folder.absolute()
        self._embedder = embedder
        self._hold = Hold(self.folder)
        self._stores: Stores | None = None
        self._turn = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def checkpoint(self) -> int:
        """Return the last log position that is in the mirror, 0 if nothing is. Needs neither lock nor Cognee."""
        generation = self._present()
        note = generations.read_note(generation) if generation else None
        return note.position if note else 0

    def sync(self, graph: BeliefGraph, position: int, changed: Iterable[NodeId]) -> None:
        """Bring the changed nodes to their present state.

        `graph` is as it is at `position`, and `changed` what the events after the checkpoint touched.
        Interrupted at any point, it is made good by being done again. What has been forgotten leaves no text behind:
        neither in a collection nor, since the whole generation is replaced, on the disk.

        Raises ConflictError if the mirror is ahead of `position`, or another process has it.
        """
        with self._in_turn():
            if position < self.checkpoint():
                raise ConflictError(
                    f"the mirror is at position {self.checkpoint()} of the log, ahead of {position}",
                    hint="read the log again; or rebuild the mirror, if it is to go back",
                )
            generation, node_ids = self._take(), list(dict.fromkeys(changed))
            if generation is None or len(node_ids) >= MANY or _worn(generation) or generations.is_marked(generation):
                self.rebuild(graph, position)
            elif not node_ids or self._update(generation, graph, node_ids):
                generations.write_note(generation, self._note(position))
            else:
                self.rebuild(graph, position)

    def rebuild(self, graph: BeliefGraph, position: int, *, progress: Progress | None = None) -> None:
        """Write everything into a new generation, put it in the place of the present one, and delete that."""
        with self._in_turn():
            self._take()
            with _writing(self.folder):
                generation = generations.begin(self.folder)
                try:
                    self._build(generation, graph, position, progress)
                except Exception:
                    shutil.rmtree(generation, ignore_errors=True)  # the present one stays
                    raise
                self._shut()
                generations.promote(self.folder, generation)
                generations.sweep(self.folder)

    def export_to(self, folder: Path, graph: BeliefGraph, position: int, *, progress: Progress | None = None) -> None:
        """Write a graph into a folder of its own, which Cognee opens as its system root. The mirror is not touched.

        Raises InvalidInputError if the folder exists and is not empty.
        """
        target = folder.absolute()
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InvalidInputError(f"{folder} exists and is not an empty folder", hint="name a new folder")
        partial_ = target.with_name(f".{target.name}.{os.getpid()}.partial")
        try:
            with _writing(folder):
                partial_.mkdir(parents=True)
                self._build(partial_, graph, position, progress)
                generations.flush(partial_)
                if target.exists():
                    target.rmdir()
                partial_.rename(target)
        finally:
            shutil.rmtree(partial_, ignore_errors=True)

    def read_back(self) -> MirrorState:
        """Return what Cognee's engines say is in their stores."""
        with self._in_turn():
            generation = self._take()
            if generation is None:
                return MirrorState()
            with _reading(generation):
                return self._open(generation).read()

    def compare(self, graph: BeliefGraph) -> list[str]:
        """Return one line for each node, edge and vector in which Cognee and the graph differ; none if they agree."""
        return differences(snapshot(graph), self.read_back())

    def recall(self, query: str, top_k: int = 10) -> list[Recalled]:
        """Return the living beliefs nearest to the query, by Cognee's own graph recall."""
        return self._ask(beliefs, query, top_k)

    def rag(self, query: str, top_k: int = 10) -> list[Recalled]:
        """Return the passages nearest to the query, whatever became of the claims: what plain retrieval cites."""
        return self._ask(passages, query, top_k)

    def run(self, make: Callable[[], Awaitable[T]]) -> T:
        """Return what the awaitable comes to, run on Cognee's loop where Cognee's own functions see this mirror.

        It must not call the mirror in turn.
        """
        with self._in_turn():
            generation = self._take()
            if generation is None:
                raise NotFoundError("the mirror holds nothing yet", hint="sync it with the log first")
            with _reading(generation):
                opened = self._open(generation)
            set_up()
            return opened.run(make)

    def close(self) -> None:
        """Let go of the stores and the lock."""
        with self._in_turn():
            self._shut()
            self._hold.release()

    def _in_turn(self) -> AbstractContextManager[bool]:
        refuse_inside()
        return self._turn

    def _take(self) -> Path | None:
        """Take the lock, clear away what a crash left, and return the present generation if it is of use."""
        if not self._hold:
            self._hold.take()
            generations.sweep(self.folder)
        return self._present()

    def _present(self) -> Path | None:
        generation = generations.current(self.folder)
        note = generations.read_note(generation) if generation else None
        return generation if note and note.agrees_with(self._note(0)) else None

    def _note(self, position: int) -> Note:
        return Note(position, self._embedder.name, self._embedder.dimensions, bulk.COGNEE)

    def _open(self, generation: Path) -> Stores:
        if self._stores is None:
            prepare(self.folder / "home")
            self._stores = Stores(generation, self._embedder)
        return self._stores

    def _shut(self) -> None:
        stores, self._stores = self._stores, None
        if stores is not None:
            stores.close()

    def _update(self, generation: Path, graph: BeliefGraph, node_ids: list[NodeId]) -> bool:
        """Write what differs, and return whether that was all: after a deletion, the bytes are still on the disk."""
        wanted = view(graph, node_ids)
        try:
            with _reading(generation):
                stores = self._open(generation)
                found = stores.read(node_ids)
        except DamagedError:
            return False  # it is only a mirror: what cannot be read is written anew
        there = {*found.nodes, *(node_id for _, node_id in found.rows)}
        gone = [node_id for node_id in node_ids if node_id in there and node_id not in wanted.nodes]
        with _writing(self.folder):
            if gone:
                generations.mark(generation)
                stores.delete(gone)
            else:
                stores.bring(found, wanted)
        return not gone

    def _build(self, generation: Path, graph: BeliefGraph, position: int, progress: Progress | None) -> None:
        state = snapshot(graph)
        bulk.build(generation, state, self._vectors(state.rows, progress), self._embedder.dimensions)
        generations.write_note(generation, self._note(position))

    def _vectors(self, rows: Mapping[RowKey, MirrorRow], progress: Progress | None) -> "dict[RowKey, Vector]":
        """Return a vector for each row: those that the present generation has for the same text, and new ones."""
        present = self._present()
        known = bulk.read_vectors(present) if present else {}
        vectors = {key: known[key][1] for key, row in rows.items() if key in known and known[key][0] == row.text}
        missing: dict[str, list[RowKey]] = {}
        for key, row in rows.items():
            if key not in vectors:
                missing.setdefault(row.text, []).append(key)
        texts = list(missing)
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            for text, vector in zip(batch, self._embedder.embed(batch), strict=True):
                vectors.update(dict.fromkeys(missing[text], vector))
            if progress:
                progress(start + len(batch), len(texts))
        return vectors

    def _ask(self, ask: Callable[[str, int], Awaitable[list[Recalled]]], query: str, top_k: int) -> list[Recalled]:
        with self._in_turn():
            if not query.strip() or self._take() is None:
                return []
            return self.run(lambda: ask(query, top_k))


@contextmanager
def _reading(generation: Path) -> Iterator[None]:
    """Say of a failure to read, for which the engines have all kinds of errors, what failed and what to do."""
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        raise DamagedError(
            f"Cognee cannot read {generation}: {error}",
            hint=f"delete {generation.parent}: it is rebuilt from the log",
        ) from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say of a failure to write, for which the engines have all kinds of errors, what failed and what to do."""
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        raise UnavailableError(
            f"the Cognee mirror cannot be written to {folder}: {error}",
            hint="nothing is lost: once that is mended, sync it again",
        ) from error


def _worn(generation: Path) -> bool:
    tables = (generation / bulk.VECTORS).glob("*.lance")
    return any(len(list((table / "_versions").glob("*"))) > WORN for table in tables)
