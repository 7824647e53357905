"""The append-only log: the one thing the rest of the program knows of where its facts are kept."""

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from falsify.chain import ChainReport, verify
from falsify.clock import SystemClock
from falsify.codec import canonical, decode, encode, link, topic
from falsify.errors import (
    DamagedError,
    InvalidInputError,
    KeyReusedError,
    NotFoundError,
    StaleRevisionError,
)
from falsify.events import Event, Recorded
from falsify.ports import Clock
from falsify.recorders import Answer, Head, Recorder, Row, Slot, Tip
from falsify.recorders.memory import MemoryRecorder

__all__ = ["Command", "EventLog", "Head", "Receipt", "canonical", "open_log"]

Respond = Callable[[int, int], bytes]
"""Makes the answer to a command out of the stream's new revision and epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What was asked, by whom, and how it is answered.

    With a `key` the command is carried out once: sent again with the same `body` (made by `canonical`), it is given
    its first response. `respond` makes the response before anything is committed: if it fails, nothing was written. It
    runs while everybody else waits to write, and must not append itself.
    """

    id: str
    actor: str
    tool: str
    key: str | None = None
    body: bytes = b"{}"
    respond: Respond | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an append came to: where log and stream stood after it, and the response.

    `replayed` says that the command had been carried out before; all other fields are as they were then.
    """

    position: int
    revision: int
    epoch: int
    recorded_at: int
    response: bytes
    replayed: bool = False


class EventLog:
    """All facts in the order in which they were written, in streams of which each counts its own revisions."""

    def __init__(self, recorder: Recorder, *, clock: Clock | None = None) -> None:
        self.recorder = recorder
        self._clock = clock or SystemClock()

    def append(self, stream: str, events: Sequence[Event], *, expected_revision: int, command: Command) -> Receipt:
        """Write all events of the command, or none, if the stream is at the revision on which they were decided.

        Raises StaleRevisionError if it is not, and KeyReusedError if the command's key belongs to another body. A
        command that was carried out before is answered as it was then, whatever the revision is now.
        """
        slot, digest = _slot(stream, command), hashlib.sha256(command.body).digest()
        if slot and (receipt := self._carried_out(slot, digest)):
            return receipt
        bodies = [(event.opens_epoch, topic(event), encode(event)) for event in events]
        with self.recorder.writing() as log:
            if slot and (first := log.answer(slot)):  # another process was faster
                return _again(slot, first, digest)
            tip, head = log.tip(stream), log.head()
            if tip.revision != expected_revision:
                raise StaleRevisionError(stream, expected=expected_revision, current=tip.revision)
            now = max(head.recorded_at, self._clock.now())
            rows = _chained(bodies, stream=stream, tip=tip, head=head, recorded_at=now, command=command)
            if rows:
                log.insert(rows)
            position, revision, epoch = _ends(rows, head, tip)
            response = (command.respond or _respond)(revision, epoch)
            answer = Answer(digest, response, position, revision, epoch, now)
            if slot:
                log.remember(slot, answer)
        return _receipt(answer)

    def answered(self, stream: str, command: Command) -> Receipt | None:
        """Return what the command was answered if its key was used before, or None.

        So a retry need not be decided again, which might be refused by now. Raises KeyReusedError as `append` does.
        """
        slot = _slot(stream, command)
        return self._carried_out(slot, hashlib.sha256(command.body).digest()) if slot else None

    def read(self, *, after: int = 0, through: int | None = None, stream: str | None = None) -> Iterator[Recorded]:
        """Yield the records with `after` < position <= `through`, of one stream or of all, in order.

        One record is in memory at a time, and all are of one moment: that at which the first is asked for.
        """
        new = tuple.__new__
        with self.recorder.reading() as log:
            # This loop is what replay costs: it makes tuples without naming their fields, and calls nothing but decode.
            for position, name, revision, epoch, recorded_at, actor, command, kind, digest, body in log.rows(
                after, through, stream
            ):
                try:
                    event = decode(kind, body)
                except DamagedError as error:
                    raise DamagedError(f"record {position}: {error.message}", hint=error.hint) from error
                yield new(Recorded, (position, name, revision, epoch, recorded_at, actor, command, event, digest))

    def follow(self, after: int = 0, *, poll: float = 0.05, stop: threading.Event | None = None) -> Iterator[Recorded]:
        """Yield what comes after the position, for ever, looking every `poll` seconds; until `stop` is set.

        A gap is never passed: what comes behind it is held back until it is filled.
        """
        stop = stop or threading.Event()
        with self.recorder.watching() as version:
            seen: object = None
            while not stop.is_set():
                if (now := version()) == seen:
                    stop.wait(poll)
                    continue
                seen = now
                # In pages, so that no transaction stays open while the caller takes its time over a record.
                while page := [*self._contiguous(after)]:
                    for recorded in page:
                        if stop.is_set():
                            return
                        after = recorded.position
                        yield recorded

    def head(self) -> Head:
        """Return the position, hash and time of the last record; position 0 if there is none."""
        with self.recorder.reading() as log:
            return log.head()

    def tip(self, stream: str) -> Tip:
        """Return the stream's revision and epoch, both of one moment."""
        with self.recorder.reading() as log:
            return log.tip(stream)

    def revision(self, stream: str) -> int:
        """Return how many records the stream has; 0 if nobody wrote to it."""
        return self.tip(stream).revision

    def epoch(self, stream: str) -> int:
        """Return how many epochs were opened in the stream."""
        return self.tip(stream).epoch

    def streams(self) -> list[str]:
        """Return the names of all streams, sorted."""
        with self.recorder.reading() as log:
            return log.streams()

    def position_of_epoch(self, stream: str, epoch: int) -> int:
        """Return the last position of the log at which the stream is still in the epoch.

        Raises NotFoundError for an epoch that the stream has not reached.
        """
        with self.recorder.reading() as log:
            reached = log.tip(stream).epoch
            if not 0 <= epoch <= reached:
                raise NotFoundError(f"{stream} has no epoch {epoch}", hint=f"its epochs are 0 to {reached}")
            end = log.epoch_end(stream, epoch)
            return log.head().position if end is None else end

    def position_at(self, recorded_at: int) -> int:
        """Return the position of the last record recorded at or before the time (microseconds); 0 if there is none."""
        with self.recorder.reading() as log:
            return log.position_at(recorded_at)

    def verify(
        self, anchor: tuple[int, bytes] | None = None, *, progress: Callable[[int], None] | None = None
    ) -> ChainReport:
        """Hash every record again and say what is wrong first, if anything is; see `falsify.chain.verify`."""
        with self.recorder.reading() as log:
            return verify(log, anchor, progress)

    def close(self) -> None:
        """Close the store. Closing twice is harmless."""
        self.recorder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _carried_out(self, slot: Slot, digest: bytes) -> Receipt | None:
        with self.recorder.reading() as log:
            first = log.answer(slot)
        return _again(slot, first, digest) if first else None

    def _contiguous(self, after: int) -> Iterator[Recorded]:
        for recorded in islice(self.read(after=after), _PAGE):
            if recorded.position != after + 1:
                return
            after = recorded.position
            yield recorded


_PAGE = 500


def open_log(where: str | Path, *, clock: Clock | None = None, timeout: int = 30, read_only: bool = False) -> EventLog:
    """Open the log kept at a path or URL, making it if there is none.

    `memory:` is a log that ends with the process; a path, or `sqlite:///path`, is one SQLite file. `timeout` is how
    many seconds to wait for another process that writes.
    """
    if where == "memory:":
        return EventLog(MemoryRecorder(), clock=clock)
    scheme, _, path = str(where).rpartition("://")
    if isinstance(where, str) and (scheme not in ("", "sqlite") or (scheme and not path.startswith("/"))):
        raise InvalidInputError(f"{where} names no kind of log", hint="give a path, sqlite:///path or memory:")
    from falsify.recorders.sqlite import open_sqlite  # not at the top: eventsourcing takes 40 ms to import

    file = Path(path[1:] if scheme else where)
    return EventLog(open_sqlite(file, timeout=timeout, read_only=read_only), clock=clock)


def _slot(stream: str, command: Command) -> Slot | None:
    """Return what the command's key is unique within; refuse names that a record cannot be chained by."""
    key = command.key
    for name in (stream, command.id, command.actor, command.tool, "-" if key is None else key):
        # Among what is not printable are the zero byte that separates names, and half a surrogate pair.
        if not name or not name.isprintable():
            raise InvalidInputError(f"{name!r} cannot be the name of a stream, command, actor, tool or key")
    return None if key is None else Slot(stream, command.actor, command.tool, key)


def _again(slot: Slot, first: Answer, digest: bytes) -> Receipt:
    if first.digest != digest:
        raise KeyReusedError(
            f"the idempotency key {slot.key!r} was sent before with another body",
            hint="send a new key for a new command, or the same body to be answered as before",
            reason="key_reused",
        )
    return _receipt(first, replayed=True)


def _receipt(answer: Answer, *, replayed: bool = False) -> Receipt:
    return Receipt(answer.position, answer.revision, answer.epoch, answer.recorded_at, answer.response, replayed)


def _respond(revision: int, epoch: int) -> bytes:
    return canonical({"epoch": epoch, "revision": revision})


def _chained(
    bodies: Sequence[tuple[bool, str, bytes]], *, stream: str, tip: Tip, head: Head, recorded_at: int, command: Command
) -> list[Row]:
    """Return the rows that continue the stream from its tip and the log from its head."""
    rows: list[Row] = []
    epoch, digest = tip.epoch, head.hash
    for number, (opens_epoch, name, body) in enumerate(bodies, 1):
        revision, epoch = tip.revision + number, epoch + opens_epoch
        digest = link(
            digest, stream=stream, revision=revision, epoch=epoch, recorded_at=recorded_at,
            actor=command.actor, command=command.id, name=name, body=body,
        )  # fmt: skip
        rows.append(Row(head.position + number, stream, revision, epoch, recorded_at, command.actor, command.id, name,
                        digest, body))  # fmt: skip
    return rows


def _ends(rows: Sequence[Row], head: Head, tip: Tip) -> tuple[int, int, int]:
    """Return position, revision and epoch after the rows, which may be none."""
    if not rows:
        return head.position, tip.revision, tip.epoch
    return rows[-1].position, rows[-1].revision, rows[-1].epoch
