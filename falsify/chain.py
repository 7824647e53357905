"""Whether a log is what was written: every record hashed again, in order, against the one before it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from falsify.codec import GENESIS, link
from falsify.recorders import Reader, Row, Tip

Problem = Literal["edited", "dropped", "reordered", "truncated", "head", "rewritten"]

PROGRESS = 10_000
"""How many records are checked between two calls of `progress`."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The first thing that is wrong: at which position, and what it looks like."""

    position: int
    problem: Problem
    detail: str


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What `verify` found. `records` hold, the last of them with `hash`; keep the two as an anchor elsewhere."""

    records: int
    hash: bytes
    fault: Fault | None = None

    @property
    def ok(self) -> bool:
        """Whether the whole log holds."""
        return self.fault is None


class Chain:
    """A walk along the log that remembers what the next record must follow."""

    def __init__(self) -> None:
        self.position = 0
        self.hash = GENESIS
        self._recorded_at = 0
        self._tips: dict[str, Tip] = {}

    def check(self, row: Row) -> Fault | None:
        """Step to the row, or return why it is not the next record."""
        expected = self.position + 1
        if row.position != expected:
            return Fault(
                expected, "dropped", f"record {expected} is missing: {row.position} comes after {self.position}"
            )
        if not _fits(self.hash, row):
            return Fault(expected, "edited", f"record {expected} is not what was written: its hash does not fit it")
        if not self._continues(row):
            return Fault(expected, "rewritten", f"record {expected} does not continue the stream {row.stream!r}")
        self.position, self.hash, self._recorded_at = row.position, row.hash, row.recorded_at
        self._tips[row.stream] = Tip(row.revision, row.epoch)
        return None

    def _continues(self, row: Row) -> bool:
        """Whether revision, epoch and time go on as a log's do; a chain hashed anew over forged rows may not."""
        tip = self._tips.get(row.stream) or Tip()
        return (
            row.revision == tip.revision + 1
            and row.epoch in (tip.epoch, tip.epoch + 1)
            and row.recorded_at >= self._recorded_at
        )


def verify(
    log: Reader, anchor: tuple[int, bytes] | None = None, progress: Callable[[int], None] | None = None
) -> ChainReport:
    """Return whether the log holds, from its first record to its head, and to the anchor if one was kept.

    The anchor is a position and its hash, noted outside the log. It is what finds a log that was cut off and given a
    new head, or hashed anew from some record on.
    """
    chain = Chain()
    for row in map(Row._make, log.rows()):
        if fault := chain.check(row):
            return ChainReport(chain.position, chain.hash, _moved(log, row, fault))
        if anchor and row.position == anchor[0] and row.hash != anchor[1]:
            detail = f"record {row.position} is not the one that was anchored: the log was hashed anew"
            return ChainReport(chain.position, chain.hash, Fault(row.position, "rewritten", detail))
        if progress and row.position % PROGRESS == 0:
            progress(row.position)
    return ChainReport(chain.position, chain.hash, _ending(log, chain, anchor))


def _ending(log: Reader, chain: Chain, anchor: tuple[int, bytes] | None) -> Fault | None:
    """Return what is wrong with where the log ends."""
    head, last = log.head(), chain.position
    beyond, witness = max((head.position, "its head"), (anchor[0] if anchor else 0, "the anchor"))
    if beyond > last:
        return Fault(last + 1, "truncated", f"the log ends at {last}, and {witness} says that it went on to {beyond}")
    if (head.position, head.hash) != (last, chain.hash):
        return Fault(last, "head", f"the head row is for record {head.position}, and is not what record {last} leaves")
    return None


def _moved(log: Reader, row: Row, fault: Fault) -> Fault:
    """Tell a record that was edited from one that stands in another's place, by finding where it belongs."""
    if fault.problem != "edited":
        return fault
    for other in map(Row._make, log.rows()):
        if _fits(other.hash, row):
            detail = f"record {row.position} stands in the wrong place: it follows what is now record {other.position}"
            return Fault(row.position, "reordered", detail)
    return fault


def _fits(previous: bytes, row: Row) -> bool:
    """Whether the row's hash is the hash of the row."""
    if not _all_bytes(previous, row.hash, row.body):  # SQLite lets an editor leave text where bytes were
        return False
    linked = link(
        previous, stream=row.stream, revision=row.revision, epoch=row.epoch, recorded_at=row.recorded_at,
        actor=row.actor, command=row.command, name=row.topic, body=row.body,
    )  # fmt: skip
    return linked == row.hash and "\0" not in f"{row.stream}{row.actor}{row.command}{row.topic}"


def _all_bytes(*values: object) -> bool:
    return all(isinstance(value, bytes) for value in values)
