"""What runs leave behind, kept by the sha256 of its bytes: written once, and checked whenever it is read."""

import errno
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final

from falsify.errors import DamagedError, InvalidInputError, NotFoundError, UnavailableError

_SHA256 = re.compile(r"[0-9a-f]{64}")

_CHUNK: Final = 1024 * 1024

_NAMED: Final = 100
"""How many of the files that are left out are named."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What an artifact is found by, and how many bytes it has."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Found:
    """A file that a run left behind: its name below the folder, with `/` between the parts, and its size in bytes."""

    name: str
    path: Path
    size: int


class ArtifactStore:
    """The artifacts below `root`, in files that their own hash names: `ab/cdef...`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, content: bytes) -> Stored:
        """Keep the bytes. What is there already is left alone if it is whole. Raises UnavailableError."""
        with self._incoming() as file:
            file.write(content)
            return self._keep(file, Stored(hashlib.sha256(content).hexdigest(), len(content)))

    def put_file(self, path: Path, *, within: Path | None = None) -> Stored:
        """Keep the bytes of a file, however large.

        Raises InvalidInputError if it is no regular file, and never follows a link to one: not in the last part of the
        path, nor, with `within`, in any part below that folder. Raises UnavailableError if it cannot be read or kept.
        """
        with _regular(path, within) as source, self._incoming() as file:
            digest, size = hashlib.sha256(), 0
            for chunk in _chunks(source):
                digest.update(chunk)
                size += len(chunk)
                file.write(chunk)
            return self._keep(file, Stored(digest.hexdigest(), size))

    def read(self, sha256: str, *, limit: int | None = None) -> bytes:
        """Return the bytes, or the first `limit` of them; all of them are checked.

        Raises NotFoundError if there is no such artifact, DamagedError if it is not what was put, and
        InvalidInputError for what is no sha256.
        """
        kept, digest = bytearray(), hashlib.sha256()
        with _reading(self.path(sha256), sha256) as file:
            for chunk in _chunks(file):
                digest.update(chunk)
                kept += chunk if limit is None else chunk[: max(0, limit - len(kept))]
        if digest.hexdigest() != sha256:
            raise DamagedError(
                f"artifact {sha256} is not what was stored", hint="restore its file from a copy, or run the run again"
            )
        return bytes(kept)

    def check(self, sha256: str, size: int) -> str:
        """Return what is wrong with an artifact of this size, or nothing. Raises InvalidInputError for no sha256."""
        digest, found = hashlib.sha256(), 0
        try:
            with _reading(self.path(sha256), sha256) as file:
                for chunk in _chunks(file):
                    digest.update(chunk)
                    found += len(chunk)
        except (NotFoundError, UnavailableError) as error:
            return error.message
        if found != size:
            return f"artifact {sha256} has {found} bytes, not {size}"
        return "" if digest.hexdigest() == sha256 else f"artifact {sha256} is not what was stored"

    def path(self, sha256: str) -> Path:
        """Return where an artifact is kept, whether it is there or not. Raises InvalidInputError for no sha256."""
        if not _SHA256.fullmatch(sha256):
            raise InvalidInputError(f"{sha256!r} is no sha256", hint="it is 64 digits of 0-9 and a-f")
        return self._root / sha256[:2] / sha256[2:]

    @contextmanager
    def _incoming(self) -> Iterator[IO[bytes]]:
        """Give a new file to write to, which is gone afterwards if it was not kept."""
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._root, prefix=".incoming-", delete=False) as file:
                try:
                    yield file
                finally:
                    Path(file.name).unlink(missing_ok=True)
        except OSError as error:
            raise UnavailableError(f"an artifact cannot be kept: {error}", hint=f"make room in {self._root}") from error

    def _keep(self, file: IO[bytes], stored: Stored) -> Stored:
        """Give a written file its name, unless it is there, and whole, already."""
        if self.check(stored.sha256, stored.size):
            place = self.path(stored.sha256)
            place.parent.mkdir(exist_ok=True)
            file.flush()
            os.fchmod(file.fileno(), stat.S_IRUSR)  # it will never be another
            os.fsync(file.fileno())
            Path(file.name).replace(place)
            _sync(place.parent)
            _sync(self._root)
        return stored


def collect(folder: Path, *, max_files: int, max_bytes: int) -> tuple[list[Found], list[str]]:
    """Return the regular files below a folder by name, and what was left out and why.

    No link is followed, the folder itself included. A file that would make more than `max_bytes` of all is left out;
    after `max_files` nothing more is looked at.
    """
    found: list[Found] = []
    left_out: list[str] = []
    size = unnamed = 0
    for each in _walk(folder):
        if isinstance(each, Found) and len(found) == max_files:
            left_out.append(f"there are more than {max_files} files: the rest is left out")
            break
        if isinstance(each, Found) and size + each.size <= max_bytes:
            found.append(each)
            size += each.size
        elif len(left_out) == _NAMED:
            unnamed += 1
        else:
            left_out.append(
                f"{each.name}: it would make more than {max_bytes} bytes" if isinstance(each, Found) else each
            )
    return sorted(found, key=lambda each: each.name), [*left_out, *([f"and {unnamed} more"] if unnamed else [])]


def _walk(folder: Path) -> Iterator[Found | str]:
    """Yield what is below the folder, always in the same order: files, and what is none with the reason."""
    ahead = [(folder.name, folder)]
    if folder.is_symlink():
        yield f"{folder.name}: it is a link"
        return
    while ahead:
        name, path = ahead.pop()
        try:
            with os.scandir(path) as entries:
                below = sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield f"{name}: it cannot be read: {error.strerror}"
            continue
        prefix = "" if path is folder else f"{name}/"
        ahead += [
            (f"{prefix}{each.name}", Path(each.path)) for each in reversed(below) if each.is_dir(follow_symlinks=False)
        ]
        yield from (_told(f"{prefix}{each.name}", each) for each in below if not each.is_dir(follow_symlinks=False))


def _told(name: str, entry: os.DirEntry[str]) -> Found | str:
    if not name.isprintable():  # which surrogates, the bytes that are no text, are not either
        return f"{name!a}: its name is not text"
    if entry.is_symlink():
        return f"{name}: it is a link"
    if not entry.is_file(follow_symlinks=False):
        return f"{name}: it is no regular file"
    try:
        return Found(name, Path(entry.path), entry.stat(follow_symlinks=False).st_size)
    except OSError as error:
        return f"{name}: it cannot be read: {error.strerror}"


@contextmanager
def _regular(path: Path, within: Path | None) -> Iterator[BinaryIO]:
    """Give a regular file to read, reached without a link."""
    try:
        descriptor = _descriptor(path, within)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise InvalidInputError(f"{path} is no regular file", hint="only files are artifacts")
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor is no path
            yield file
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):  # BSD says EMLINK
            raise InvalidInputError(f"{path} is reached by a link", hint="only files are artifacts") from error
        raise UnavailableError(f"{path} cannot be read: {error.strerror}", hint="is it there, and readable?") from error


def _descriptor(path: Path, within: Path | None) -> int:
    """Open a path, following no link in its last part, nor in any below `within`, that folder's own included."""
    # Not blocking: to open a FIFO would wait for somebody to write.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    if within is None:
        return os.open(path, flags)
    parts = path.relative_to(within).parts if path.is_relative_to(within) else ()
    if not parts or ".." in parts:
        raise InvalidInputError(f"{path} is not below {within}", hint="only files of a run's own folder are artifacts")
    *folders, name = parts
    at = os.open(within, flags | os.O_DIRECTORY)
    try:
        for folder in folders:
            below = os.open(folder, flags | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, flags, dir_fd=at)
    finally:
        os.close(at)


@contextmanager
def _reading(path: Path, sha256: str) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise NotFoundError(f"artifact {sha256} is missing", hint="is it from another workspace?") from error
    except OSError as error:
        raise UnavailableError(f"artifact {sha256} cannot be read: {error.strerror}", hint=f"see {path}") from error


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _sync(folder: Path) -> None:
    """Make sure that a name in the folder outlives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
