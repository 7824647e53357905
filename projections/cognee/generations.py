"""The folder of the mirror: generations, the pointer to the present one, and who holds the lock.

    mirror/
      CURRENT          the name of the present generation
      gen-7/           what Cognee opens: databases/, and falsify.json (how far into the log it has read)
      lock, lock.pid   one process at a time

A generation is built beside the present one and becomes it by one rename, so whoever is killed leaves either the old
one or the new one, and rubbish that the next to take the lock sweeps out.
"""

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from falsify.errors import ConflictError, UnavailableError

FORMAT = 1
"""Raised when what a generation holds is laid out otherwise; older ones are rebuilt, never read."""

_CURRENT = "CURRENT"
_NOTE = "falsify.json"
_MARK = "residue"
_PREFIX = "gen-"


@dataclass(frozen=True, slots=True)
class Note:
    """What a generation says of itself: the last log position in it, and what its vectors were made with."""

    position: int
    embedder: str
    dimensions: int
    cognee: str
    format: int = FORMAT

    def agrees_with(self, other: "Note") -> bool:
        """Return whether both were made in the same way, wherever in the log they stand."""
        return (self.embedder, self.dimensions, self.cognee, self.format) == (
            other.embedder,
            other.dimensions,
            other.cognee,
            other.format,
        )


def current(folder: Path) -> Path | None:
    """Return the present generation, or None where there is none that can be read. Takes no lock."""
    name = _pointed_to(folder)
    while name is not None:
        generation = folder / name
        if read_note(generation):
            return generation
        # Whoever has the lock may have put another in its place since.
        before, name = name, _pointed_to(folder)
        if name == before:
            return None
    return None


def read_note(generation: Path) -> Note | None:
    """Return what the generation says of itself, or None if it says nothing that can be read."""
    try:
        return Note(**json.loads((generation / _NOTE).read_bytes()))
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        return None


def write_note(generation: Path, note: Note) -> None:
    """Record how far the generation has come; all of the old note or all of the new one survives a crash."""
    _replace(generation / _NOTE, json.dumps(asdict(note)))


def mark(generation: Path) -> None:
    """Record that deleted text is still among the bytes of the generation, which must therefore be replaced."""
    _replace(generation / _MARK, "")


def is_marked(generation: Path) -> bool:
    """Return whether the generation must be replaced."""
    return (generation / _MARK).exists()


def begin(folder: Path) -> Path:
    """Return a new, empty generation that nothing points to yet."""
    last = max((_number(path) for path in _generations(folder)), default=0)
    generation = folder / f"{_PREFIX}{last + 1}"
    generation.mkdir()
    return generation


def promote(folder: Path, generation: Path) -> None:
    """Make a finished generation the present one, in one step, once all of it is on the disk."""
    flush(generation)
    _replace(folder / _CURRENT, generation.name + "\n")


def sweep(folder: Path) -> None:
    """Delete every generation but the present one."""
    kept = current(folder)
    for path in _generations(folder):
        if path != kept:
            shutil.rmtree(path)


def flush(folder: Path) -> None:
    """Wait until everything in the folder is on the disk."""
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and os.name != "posix":
            continue  # elsewhere directories cannot be opened, and need not be synced
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Hold:
    """The lock on a mirror's folder, and the note that says who has it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder / "lock", timeout=0, thread_local=False)
        self._holder = folder / "lock.pid"

    def __bool__(self) -> bool:
        return self._lock.is_locked

    def take(self) -> None:
        """Take the lock, or raise ConflictError that says which process has it."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout:
            raise ConflictError(
                f"the Cognee mirror {self._folder} is in use by {self._who()}",
                hint="wait for that process or stop it; everything that does not read Cognee works meanwhile",
            ) from None
        except OSError as error:
            raise UnavailableError(f"the Cognee mirror {self._folder} cannot be locked: {error}") from error
        _replace(self._holder, str(os.getpid()))

    def release(self) -> None:
        """Give the lock back."""
        if self._lock.is_locked:
            self._holder.unlink(missing_ok=True)
            self._lock.release()

    def _who(self) -> str:
        try:
            pid = self._holder.read_text(encoding="utf-8")
        except FileNotFoundError:  # it has the lock, and is about to say so
            return "another process"
        return "this process itself" if pid == str(os.getpid()) else f"process {pid}"


def _pointed_to(folder: Path) -> str | None:
    try:
        name = (folder / _CURRENT).read_text(encoding="utf-8").strip()
    except (FileNotFoundError, ValueError):
        return None
    return name if name.startswith(_PREFIX) and name.removeprefix(_PREFIX).isdigit() else None


def _generations(folder: Path) -> list[Path]:
    return [path for path in folder.glob(f"{_PREFIX}*") if path.name.removeprefix(_PREFIX).isdigit()]


def _number(generation: Path) -> int:
    return int(generation.name.removeprefix(_PREFIX))


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
