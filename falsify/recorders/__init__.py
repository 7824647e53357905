"""Where records are kept: one narrow protocol, and one module for each store that keeps it.

A recorder knows nothing of events, hashes or idempotency. It stores rows, all or none, and finds them again; what
the rows say is decided once, in `falsify.log`, for every store.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from falsify.codec import GENESIS

RowTuple = tuple[int, str, int, int, int, str, str, str, bytes, bytes]
"""A row as a store hands it over: the fields of `Row`, in their order, without the cost of naming them."""


class Row(NamedTuple):
    """One record as stored; `topic` is `kind/version`, `body` the event as JSON."""

    position: int
    stream: str
    revision: int
    epoch: int
    recorded_at: int
    actor: str
    command: str
    topic: str
    hash: bytes
    body: bytes


class Head(NamedTuple):
    """The last record of the log: where it is, its hash, and when it was recorded."""

    position: int = 0
    hash: bytes = GENESIS
    recorded_at: int = 0


class Tip(NamedTuple):
    """The last record of a stream: its revision and its epoch."""

    revision: int = 0
    epoch: int = 0


class Slot(NamedTuple):
    """What an idempotency key is unique within."""

    stream: str
    actor: str
    tool: str
    key: str


class Answer(NamedTuple):
    """What a command with a key was answered, so that a retry is answered the same.

    `digest` is the SHA-256 of the command's canonical body; the last four fields say where log and stream stood.
    """

    digest: bytes
    response: bytes
    position: int
    revision: int
    epoch: int
    recorded_at: int


class Reader(Protocol):
    """One consistent view of the log: what is committed after the first question to it is not in it."""

    def head(self) -> Head:
        """Return the stored head, which is the last record unless the log was damaged."""
        ...

    def tip(self, stream: str) -> Tip:
        """Return where the stream stands; a stream nobody wrote to is at revision 0."""
        ...

    def streams(self) -> list[str]:
        """Return the names of all streams, sorted."""
        ...

    def rows(self, after: int = 0, through: int | None = None, stream: str | None = None) -> Iterator[RowTuple]:
        """Yield the rows with `after` < position <= `through` in order, one at a time."""
        ...

    def epoch_end(self, stream: str, epoch: int) -> int | None:
        """Return the position before the stream's first record of a later epoch; None if there is no such record."""
        ...

    def position_at(self, recorded_at: int) -> int:
        """Return the position of the last record recorded at or before the time; 0 if there is none."""
        ...

    def answer(self, slot: Slot) -> Answer | None:
        """Return what the command with this key was answered."""
        ...

    def answers(self) -> Iterator[tuple[Slot, Answer]]:
        """Yield all answers in the order in which they were remembered."""
        ...


class Writer(Reader, Protocol):
    """A view that can be added to. Nobody else writes while it is open."""

    def insert(self, rows: Sequence[Row]) -> None:
        """Add rows, at least one, behind the head, and move the head to the last of them."""
        ...

    def remember(self, slot: Slot, answer: Answer) -> None:
        """Add an answer."""
        ...


class Recorder(Protocol):
    """A store of rows. Safe to use from several threads."""

    def reading(self) -> AbstractContextManager[Reader]:
        """Open a consistent view."""
        ...

    def writing(self) -> AbstractContextManager[Writer]:
        """Wait for the only right to write; commit on leaving, or undo everything if an exception passes."""
        ...

    def watching(self) -> AbstractContextManager[Callable[[], object]]:
        """Return a cheap function whose value changes when anything is committed by anybody."""
        ...

    def close(self) -> None:
        """Give back what is held. Closing twice is harmless."""
        ...
