"""A log in memory: for tests, previews and scratch work. It keeps the contract of the stores on disk."""

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from falsify.recorders import Answer, Head, Row, RowTuple, Slot, Tip


class _Tables:
    """Rows and answers up to a size. What is appended behind it later is invisible to it."""

    def __init__(self, recorder: "MemoryRecorder", rows: int, answers: int) -> None:
        self._recorder = recorder
        self._rows = rows
        self._answers = answers

    def head(self) -> Head:
        if not self._rows:
            return Head()
        last = self._recorder.rows[self._rows - 1]
        return Head(last.position, last.hash, last.recorded_at)

    def tip(self, stream: str) -> Tip:
        positions, size = self._positions(stream)
        if not size:
            return Tip()
        last = self._recorder.rows[positions[size - 1] - 1]
        return Tip(last.revision, last.epoch)

    def streams(self) -> list[str]:
        return sorted(name for name in list(self._recorder.streams) if self._positions(name)[1])

    def rows(self, after: int = 0, through: int | None = None, stream: str | None = None) -> Iterator[RowTuple]:
        last = self._rows if through is None else min(through, self._rows)
        positions: Sequence[int] = range(1, last + 1) if stream is None else self._positions(stream)[0]
        for index in range(bisect_right(positions, after), bisect_right(positions, last)):
            yield self._recorder.rows[positions[index] - 1]

    def epoch_end(self, stream: str, epoch: int) -> int | None:
        positions, size = self._positions(stream)
        first = bisect_right(positions, epoch, hi=size, key=lambda position: self._recorder.rows[position - 1].epoch)
        return positions[first] - 1 if first < size else None

    def position_at(self, recorded_at: int) -> int:
        return bisect_right(self._recorder.rows, recorded_at, hi=self._rows, key=lambda row: row.recorded_at)

    def answer(self, slot: Slot) -> Answer | None:
        ordinal, answer = self._recorder.answers.get(slot, (0, None))
        return answer if ordinal < self._answers else None

    def answers(self) -> Iterator[tuple[Slot, Answer]]:
        for slot, (ordinal, answer) in list(self._recorder.answers.items()):
            if ordinal < self._answers:
                yield slot, answer

    def insert(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._recorder.rows.append(row)
            self._recorder.streams.setdefault(row.stream, []).append(row.position)
        self._rows = len(self._recorder.rows)

    def remember(self, slot: Slot, answer: Answer) -> None:
        self._recorder.answers[slot] = (self._answers, answer)
        self._answers += 1

    def _positions(self, stream: str) -> tuple[Sequence[int], int]:
        """Return the positions of the stream and how many of them this view sees."""
        positions = self._recorder.streams.get(stream, [])
        return positions, bisect_right(positions, self._rows)


class MemoryRecorder:
    """Keeps rows in lists that only ever grow, so that a view of them is two numbers."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.streams: dict[str, list[int]] = {}
        self.answers: dict[Slot, tuple[int, Answer]] = {}
        self._committed = (0, 0)
        self._lock = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[_Tables]:
        """Open a consistent view."""
        yield _Tables(self, *self._committed)

    @contextmanager
    def writing(self) -> Iterator[_Tables]:
        """Open the view that can be added to; one at a time."""
        with self._lock:
            try:
                yield _Tables(self, *self._committed)
            except BaseException:
                self._undo()
                raise
            self._committed = (len(self.rows), len(self.answers))

    @contextmanager
    def watching(self) -> Iterator[Callable[[], object]]:
        """Return a function whose value changes with every commit."""
        yield lambda: self._committed

    def close(self) -> None:
        """Do nothing: the memory is freed with the object."""

    def _undo(self) -> None:
        rows, answers = self._committed
        for row in self.rows[rows:]:
            self.streams[row.stream].pop()
            if not self.streams[row.stream]:
                del self.streams[row.stream]
        del self.rows[rows:]
        for slot in list(self.answers)[answers:]:
            del self.answers[slot]
