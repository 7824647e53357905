"""The lines that a run measures, read while it writes them."""

import json
import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from falsify.ports import Metrics

LONGEST: Final = 64 * 1024
"""How many bytes a line may have."""

MOST_LINES: Final = 100_000
MOST_BYTES: Final = 32 * 1024 * 1024
"""How much of a file is taken; the rest is counted only."""

_CHUNK: Final = 64 * 1024


class MetricsFile:
    """Reads a growing file of JSON lines, each an object of numbers; never waits for it, and never trusts it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._begun = bytearray()  # the line whose end is not written yet
        self._overlong = False
        self._lines = 0
        self._bytes = 0
        self.malformed = 0
        """How many lines, and values in good lines, were not taken."""

    def read(self, *, ended: bool = False) -> list[Metrics]:
        """Return the lines that were written since the last time, in order.

        A value that is not finite is None. Once the writer has `ended`, what follows the last newline is a line too.
        """
        lines = [line for chunk in self._chunks() for line in self._split(chunk)]
        if ended and (self._begun or self._overlong):
            lines += self._split(b"\n")
        return [taken for line in lines if (taken := self._take(line))]

    def _chunks(self) -> Iterator[bytes]:
        with _opened(self._path) as file:
            left = os.fstat(file.fileno()).st_size - self._offset  # as of now: it may grow faster than it is read
            file.seek(self._offset)
            while left > 0 and (chunk := file.read(min(left, _CHUNK))):
                self._offset += len(chunk)
                left -= len(chunk)
                yield chunk

    def _split(self, chunk: bytes) -> list[bytes]:
        """Return the lines that the chunk completes."""
        *ends, rest = chunk.split(b"\n")
        lines = []
        for end in ends:
            self._begin(end)
            if self._overlong:
                self.malformed += 1
            elif self._begun.strip():
                lines.append(bytes(self._begun))
            self._begun.clear()
            self._overlong = False
        self._begin(rest)
        return lines

    def _begin(self, part: bytes) -> None:
        self._overlong = self._overlong or len(self._begun) + len(part) > LONGEST
        if self._overlong:
            self._begun.clear()
        else:
            self._begun += part

    def _take(self, line: bytes) -> Metrics:
        """Return the numbers of a line; none if it is not one to take."""
        self._lines += 1
        self._bytes += len(line)
        if self._lines > MOST_LINES or self._bytes > MOST_BYTES:
            self.malformed += 1
            return {}
        try:
            told = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict) or not told:
            self.malformed += 1
            return {}
        numbers = {name: _number(value) for name, value in told.items() if _measured(value)}
        self.malformed += len(told) - len(numbers)
        return numbers


def _opened(path: Path) -> BinaryIO:
    """Return the file to read, or an empty one where the run has put something else in its place."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return Path(os.devnull).open("rb")
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")  # noqa: PTH123 - a descriptor is no path
    os.close(descriptor)
    return Path(os.devnull).open("rb")


def _measured(value: Any) -> bool:
    # null is how some encoders spell what is not a number
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _number(value: float | None) -> float | None:
    try:
        number = math.nan if value is None else float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
