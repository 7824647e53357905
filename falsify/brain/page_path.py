"""Where a file of a folder or vault belongs in the brain, and which files have no place there."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import Final, Literal

from falsify.errors import InvalidInputError

ORG: Final = "memory/org.yaml"
"""The org map; it is no page."""

MAX_PATH: Final = 400
"""Characters in the path of a page."""

Skipped = Literal["", "hidden", "personal", "outside", "other"]
"""Why a file is passed over: it is hidden, somebody's own, beside memory/, or no markdown. Empty: it is a page."""

_IMPOSSIBLE: Final = re.compile(r"[\x00-\x1f\x7f\\]|[\ud800-\udfff]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE: Final = re.compile(r"[A-Za-z]:")


def skipped(path: str, *, rooted: bool) -> Skipped:
    """Return why the file at a path of the folder is passed over. `rooted` says that the folder has a memory/."""
    parts = path.split("/")
    if any(part.startswith(".") and part not in {".", ".."} for part in parts):
        return "hidden"
    if any(unicodedata.normalize("NFKC", part).casefold() == "personal" for part in parts):
        return "personal"
    if rooted and parts[0] != "memory":
        return "outside"
    return "" if path.casefold().endswith(".md") else "other"


def page_path(path: str, *, rooted: bool) -> str:
    """Return the `rel_path` of the file at a path of the folder, in the Unicode form NFC.

    Raises InvalidInputError for a path that leaves the folder, or that not every system could write.
    """
    told = in_one_line(path)
    if _IMPOSSIBLE.search(path) or _DRIVE.match(path) or {"", ".", ".."} & set(path.split("/")):
        hint = "rename the file: a path is made of names and /, without .., backslashes and control characters"
        raise _refused(told, "this path cannot be that of a page", hint)
    rel_path = unicodedata.normalize("NFC", path if rooted else f"memory/{path}")
    if len(rel_path) > MAX_PATH:
        raise _refused(told, f"the path has {len(rel_path)} characters; the limit is {MAX_PATH}", "use shorter names")
    return rel_path


def in_one_line(path: str) -> str:
    """Return a path as it can be told, whatever it holds: a line end in it would look like the end of what is said."""
    escaped = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", path)
    return escaped.encode("utf-8", "backslashreplace").decode()


def twins(paths: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of paths that are one file where upper and lower case are the same."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(paths):
        found[path.casefold()].append(path)
    return tuple(tuple(group) for group in found.values() if len(group) > 1)


def _refused(told: str, message: str, hint: str) -> InvalidInputError:
    details = {"rel_path": told, "line": 1}
    return InvalidInputError(f"{told}:1: {message}", hint=hint, reason="bad_page", details=details)
