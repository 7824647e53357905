"""The beginning of a stored file, and the end of a log, as text."""

import codecs
import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from falsify.artifacts import ArtifactStore
from falsify.errors import FalsifyError
from falsify.workbench.project import StoredEvidence

_TEXTUAL: Final = frozenset({
    "application/json", "application/jsonl", "application/x-ndjson", "application/ndjson", "application/yaml",
    "application/x-yaml", "application/toml", "application/xml", "image/svg+xml",
})  # fmt: skip


class Tail(NamedTuple):
    """The end of a text, and how many bytes stand before it."""

    text: str
    left_out: int


def textual(media_type: str) -> bool:
    """Return whether files of the type are text."""
    kind = media_type.partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind in _TEXTUAL or kind.endswith(("+json", "+xml", "+yaml"))


def damage(store: ArtifactStore, stored: StoredEvidence) -> str:
    """Return what is wrong with a stored file, "" if it is what was stored."""
    try:
        return store.check(stored.exhibit.sha256, stored.exhibit.size)
    except FalsifyError as error:  # an event of another version may hold what is no hash
        return error.message


def head(store: ArtifactStore, stored: StoredEvidence, limit: int) -> str:
    """Return the first `limit` bytes of a stored file; raises what ArtifactStore.read raises."""
    kept = store.read(stored.exhibit.sha256, limit=limit)
    # A character that the limit cuts in two is left out.
    return codecs.getincrementaldecoder("utf-8")("replace").decode(kept, final=len(kept) == stored.exhibit.size)


def tail(store: ArtifactStore, stored: StoredEvidence, limit: int) -> Tail:
    """Return the last `limit` bytes of a stored file; raises what ArtifactStore.read raises."""
    kept = store.read(stored.exhibit.sha256)
    return _tail(kept[max(0, len(kept) - limit) :], len(kept))


def tail_of(path: Path, limit: int) -> Tail | None:
    """Return the last `limit` bytes of a file that is being written, None if there is no such regular file."""
    try:
        # Neither a link is followed nor a pipe waited for: the folder belongs to whatever runs in it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor is no path
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        file.seek(max(0, status.st_size - limit))
        return _tail(file.read(limit), status.st_size)


def _tail(kept: bytes, size: int) -> Tail:
    """Return the bytes as text, without the rest of a character that was cut in two."""
    begun = 0
    while len(kept) < size and begun < min(3, len(kept)) and kept[begun] & 0xC0 == 0x80:
        begun += 1
    return Tail(kept[begun:].decode("utf-8", "replace"), size - len(kept) + begun)
