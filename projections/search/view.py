"""What one call may see of the index: the rows that a scope, a date and the filters admit.

Nothing of the other rows takes part in anything: not in a score, not in a count, not in the frequency of a word.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from falsify.brain.scope import Scope

Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]

Condition = tuple[str, tuple[str, ...]]
"""A condition in SQL, and its parameters."""

OPEN: Final = "9999-12-31T23:59:59Z"
"""The end of a version that still holds."""

INDEX_TYPE: Final = "index"
"""The type of compiled index pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What a call asks to be shown, as a condition of SQL.

    `day` (`YYYY-MM-DD`) is what expiry is held against; with `past`, versions are those known at its end, else those
    of now. `lapsed` admits what has expired or is archived. An empty `types` means all.
    """

    scope: Scope
    day: str
    past: bool = False
    lapsed: bool = False
    indexes: bool = False
    types: tuple[str, ...] = ()

    def conditions(self) -> tuple[Condition, Condition]:
        """Return the conditions on the table of versions that both have to hold: of the scope, and of the filters.

        They are two because a scope is asked about again and again, each time with another date.
        """
        return self._placed() if self.past else self.scope.where(), self._filters()

    def _placed(self) -> Condition:
        """Return that the scope admits a version as it was, and all that say where it belongs today.

        A version of today that is not there could not be read, so nobody knows where it belongs.
        """
        then, told = self.scope.where()
        now, told_now = self.scope.where("today")
        return (
            f"{then} AND NOT EXISTS (SELECT 1 FROM heir LEFT JOIN version AS today "  # noqa: S608  # the scope's
            "ON today.rel_path = heir.rel_path AND today.position = heir.position "
            f"WHERE heir.version = version.id AND NOT coalesce({now}, 0))"
        ), (*told, *told_now)

    def _filters(self) -> Condition:
        moment = f"{self.day}T23:59:59Z"
        # A version that still holds is known now; of the past, what was known at the end of the day.
        then: Condition = ("known_to > ? AND known_from <= ?", (moment, moment))
        parts = [then if self.past else ("known_to = ?", (OPEN,))]
        if not self.lapsed:
            parts.append(("(expires = '' OR expires >= ?) AND lifecycle_status <> 'archived'", (self.day,)))
        if not self.indexes:
            parts.append(("type <> ?", (INDEX_TYPE,)))
        if self.types:
            parts.append((f"type IN ({', '.join('?' * len(self.types))})", self.types))
        return " AND ".join(sql for sql, _ in parts), tuple(each for _, given in parts for each in given)

    def unfiltered(self) -> "Admission":
        """Return the same scope without any filter: what there is at all for this call, now."""
        return Admission(scope=self.scope, day=self.day, lapsed=True, indexes=True)

    def unwithheld(self) -> "Admission":
        """Return the same without the ceiling of where the answer goes."""
        return replace(self, scope=replace(self.scope, ceiling="restricted"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What of the index is held in memory: how chunks, versions and passages belong together, and the vectors.

    A passage is a distinct text; its number is its row in `vectors`, of which the first `embedded` are there. Chunks
    are numbered as `version_of`, `passage_of` and `ordinal_of` are; versions as `rel_paths` and `positions`.
    """

    generation: int
    rel_paths: tuple[str, ...]
    positions: tuple[int, ...]
    version_of: Numbers
    passage_of: Numbers
    ordinal_of: Numbers
    lengths: Numbers
    vectors: NDArray[np.float32]

    @property
    def embedded(self) -> int:
        return len(self.vectors)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The admitted rows: `versions` is a mask over versions, `chunks` the numbers of chunks in rising order.

    `copies` says for each passage how many admitted chunks have its text. `resolved` remembers where links were found
    to lead among the admitted pages: from a folder and a target to a version.
    """

    snapshot: Snapshot
    versions: Mask
    chunks: Numbers
    copies: Numbers
    resolved: dict[tuple[str, str], int | None] = field(default_factory=dict)

    @property
    def pages(self) -> int:
        return int(self.versions.sum())

    def paths(self, among: Mask | None = None) -> list[tuple[str, int]]:
        """Return path and log position of each admitted version, or of those among them, by path."""
        known, mask = self.snapshot, self.versions if among is None else self.versions & among
        return sorted((known.rel_paths[number], known.positions[number]) for number in np.flatnonzero(mask))

    def passages(self) -> Numbers:
        """Return the passage of each admitted chunk."""
        found: Numbers = self.snapshot.passage_of[self.chunks]
        return found

    def chunks_of(self, versions: Sequence[int]) -> Numbers:
        """Return the places in `chunks` of the chunks of these versions."""
        wanted = np.zeros(len(self.versions), dtype=np.bool_)
        wanted[list(versions)] = True
        return np.flatnonzero(wanted[self.snapshot.version_of[self.chunks]])

    def place(self, at: int) -> tuple[str, int]:
        """Return path and ordinal of the chunk at a place in `chunks`: what ties are ordered by."""
        chunk = self.chunks[at]
        return self.snapshot.rel_paths[self.snapshot.version_of[chunk]], int(self.snapshot.ordinal_of[chunk])


def viewed(snapshot: Snapshot, versions: Mask) -> View:
    """Return the view of the versions that the mask admits."""
    chunks = np.flatnonzero(versions[snapshot.version_of])
    copies = np.bincount(snapshot.passage_of[chunks], minlength=len(snapshot.lengths))
    return View(snapshot=snapshot, versions=versions, chunks=chunks, copies=copies)
