"""What a run prints: read as fast as it comes, and kept up to a size."""

import os
import selectors
import threading
import time
from pathlib import Path
from typing import Final

_BEHIND: Final = 0.2
"""How many seconds the file may be behind the pipe."""

_NOTE: Final = 64
"""Bytes that are kept free for the line that says how much is left out."""


class Excerpt:
    """The first half and the tail of a stream of bytes, `limit` bytes at most."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._rest = limit - self._half
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        self._total += len(chunk)
        del self._tail[: -self._rest]

    def text(self) -> bytes:
        """Return all of it, or what is kept with a line that says how much is not."""
        if self._total <= self._half + self._rest:
            return bytes(self._head + self._tail)
        tail = self._tail[-(self._rest - _NOTE) :]
        left_out = self._total - len(self._head) - len(tail)
        return bytes(self._head) + f"\n[{left_out} bytes left out]\n".encode() + bytes(tail)


class RunLog:
    """Drains a pipe into a file of at most `limit` bytes, in a thread of its own, and closes both."""

    def __init__(self, pipe: int, path: Path, *, limit: int) -> None:
        self._pipe = pipe
        self._path = path
        self._excerpt = Excerpt(limit)
        self._abandoned = False
        self._thread = threading.Thread(target=self._drain, name="falsify-run-log", daemon=True)
        self._thread.start()

    @property
    def complete(self) -> bool:
        """Whether everybody who could print has ended, and the file says what they printed."""
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """Stop reading, although somebody still holds the other end."""
        self._abandoned = True

    def _drain(self) -> None:
        written, stale = 0.0, False
        with selectors.DefaultSelector() as ready:
            ready.register(self._pipe, selectors.EVENT_READ)
            while not self._abandoned:
                if ready.select(_BEHIND):
                    chunk = os.read(self._pipe, 64 * 1024)
                    if not chunk:
                        break
                    self._excerpt.add(chunk)
                    stale = True
                if stale and time.monotonic() - written >= _BEHIND:
                    self._write()
                    written, stale = time.monotonic(), False
        self._write()
        os.close(self._pipe)

    def _write(self) -> None:
        try:
            self._path.write_bytes(self._excerpt.text())
        except OSError:
            # A full disk costs the log, not the run: what it prints must be read all the same, or it waits for ever.
            return
