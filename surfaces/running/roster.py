"""The workers of a workspace that live: each holds the lock of a file of its own for as long as it does.

The system gives the lock up with the process, however that ends, so nobody has to guess from a time that passed.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from falsify.errors import ConflictError, InvalidInputError, UnavailableError

_WORKER_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}")

_PATIENCE = 1.0
"""Seconds to wait for a name: somebody may just be looking whether its bearer lives."""


class Roster:
    """Who of the workers whose locks are in a folder lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def enlisted(self, worker_id: str) -> Iterator[None]:
        """Be on the list for the time of a `with` block. Raises ConflictError where a worker of that name lives."""
        if not _WORKER_ID.fullmatch(worker_id):
            raise InvalidInputError(f"{worker_id!r} cannot name a worker", hint="use letters, digits, `-`, `_` and `.`")
        with self._locked(worker_id, patience=_PATIENCE) as taken:
            if not taken:
                raise ConflictError(f"a worker {worker_id} is at work already", hint="give this one another name")
            yield

    @contextmanager
    def in_place_of(self, worker_id: str) -> Iterator[bool]:
        """Say whether the worker is dead; if so, nobody takes its name, or its place, during the `with` block."""
        if _WORKER_ID.fullmatch(worker_id):
            with self._locked(worker_id) as taken:
                yield taken
        else:
            yield True  # no worker of ours: the name is from elsewhere

    def sweep(self) -> None:
        """Remove the files that dead workers left."""
        for path in self._folder.glob("*.lock"):
            with self.in_place_of(path.stem):
                pass

    @contextmanager
    def _locked(self, worker_id: str, *, patience: float = 0.0) -> Iterator[bool]:
        """Hold a worker's lock during the `with` block, if nobody else does; its file is gone afterwards."""
        path = self._folder / f"{worker_id}.lock"
        # Not of one thread: a worker may be made in one and serve in another.
        lock = FileLock(path, thread_local=False)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=patience)
        except Timeout:
            yield False
            return
        except OSError as error:
            raise UnavailableError(
                f"{path} cannot be locked: {error}", hint=f"make {self._folder} a folder that you can write to"
            ) from error
        try:
            yield True
        finally:
            # While it is held: whoever opened it before finds that it is no file any more, and makes a new one.
            path.unlink(missing_ok=True)
            lock.release()
