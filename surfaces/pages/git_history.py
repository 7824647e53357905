"""The history of a folder in git, as what each commit did to each page, parents before children.

Two processes, however long the history: `git log` says what changed, and `git cat-file` gives the contents. All
branches that led to HEAD are read, by date; of a merge, what differs from what was read last.
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Final, NamedTuple

from falsify.brain.history import Entry
from falsify.brain.importing import Origin
from falsify.brain.page_path import page_path, skipped
from falsify.brain.page_text import MAX_BYTES
from falsify.errors import InvalidInputError, UnavailableError
from surfaces.pages.obsidian import Templates

_CONFIG: Final = (
    "core.fsmonitor=false",
    "log.showRoot=true",
    "log.showSignature=false",
    "i18n.logOutputEncoding=UTF-8",
)
"""A repository's own configuration may name programs to run, and change what the log looks like."""

_LOG: Final = (
    "log", "-z", "--reverse", "--date-order", "--full-history", "--sparse", "-m", "--raw", "--no-abbrev", "-M",
    "--relative", "--no-ext-diff", "--no-textconv", "--no-color", "--no-mailmap", "--no-notes",
    "--format=%H%x00%P%x00%ct%x00%an <%ae>%x00%s", "HEAD", "--", ".",
)  # fmt: skip
_OF_ELSEWHERE: Final = {
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_EXTERNAL_DIFF", "GIT_LITERAL_PATHSPECS",
}  # fmt: skip
"""What git sets for its hooks, and what would make it look at another repository."""

_CAP: Final = 2 * MAX_BYTES + 1
_AT_ONCE: Final = 65_536


class Commit(NamedTuple):
    """A commit as `git log` tells it; `parents` are as many as it has."""

    name: str
    parents: int
    seconds: int
    author: str
    message: str


class _Difference(NamedTuple):
    """What a commit did to a path: the blob it has now, or none; `was` is where it came from."""

    path: str
    blob: str
    was: str


@dataclass(slots=True)
class GitHistory:
    """The history below a folder of a work tree. `faults` are paths in it that no page can have."""

    folder: Path
    faults: dict[str, InvalidInputError] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> "GitHistory | None":
        """Return the history of the folder, or None where git has nothing of it (or is not there)."""
        try:
            tracked = _output(folder, "log", "-1", "--format=%H", "HEAD", "--", ".")
        except (UnavailableError, FileNotFoundError):
            return None
        return cls(folder) if tracked.strip() else None

    @property
    def shallow(self) -> bool:
        """Whether the history was cut off when it was fetched."""
        return _output(self.folder, "rev-parse", "--is-shallow-repository").strip() == b"true"

    def count(self) -> int:
        """Return how many commits there are."""
        return int(_output(self.folder, "rev-list", "--count", "HEAD"))

    def files(self) -> frozenset[str]:
        """Return the paths of all files that git knows or would add: those it is told to ignore are not among them."""
        listed = _output(self.folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
        return frozenset(os.fsdecode(path) for path in listed.split(b"\0") if path)

    def entries(
        self, known: Collection[tuple[str, str]], *, rooted: bool, templates: Templates
    ) -> Iterator[tuple[Entry, ...]]:
        """Yield what each commit did, commit by commit; of what is `known` (path, commit) no contents are fetched."""
        page = partial(self._page, rooted=rooted, templates=templates)
        blobs: dict[str, str] = {}
        with _process(self.folder, "cat-file", "--batch", stdin=subprocess.PIPE) as contents:
            for commit, differences in self._commits():
                told = _merged(differences, blobs) if commit.parents > 1 else differences
                entries = [entry for each in told if (entry := _entry(commit, each, contents, known, page)) is not None]
                for each in told:
                    blobs.pop(each.was, None)
                    blobs[each.path] = each.blob
                yield tuple(entries)

    def _page(self, path: str, *, rooted: bool, templates: Templates) -> str:
        """Return the path that a page has in the brain, or nothing where it is none."""
        if skipped(path, rooted=rooted) or templates.hold(path):
            return ""
        try:
            return page_path(path, rooted=rooted)
        except InvalidInputError as error:
            self.faults[path] = error
            return ""

    def _commits(self) -> Iterator[tuple[Commit, list[_Difference]]]:
        """Yield every commit with its differences: those from all its parents together."""
        last: Commit | None = None
        differences: list[_Difference] = []
        with _process(self.folder, *_LOG) as log:
            for told in _told(_tokens(log.stdout)):
                if isinstance(told, _Difference):
                    differences.append(told)
                elif last is None or told.name != last.name:
                    if last is not None:
                        yield last, differences
                    last, differences = told, []
            if last is not None:
                yield last, differences


def unread(folder: Path) -> str:
    """Return why git tells nothing of a folder that lies in a repository; nothing where there is nothing to tell."""
    if not any((each / ".git").exists() for each in (folder, *folder.parents)):
        return ""
    try:
        _output(folder, "rev-parse", "--show-toplevel")
    except FileNotFoundError:
        return "git is not installed"
    except UnavailableError as error:
        return error.message
    return ""


def moment(seconds: float) -> str:
    """Return a time since 1970 as `YYYY-MM-DDTHH:MM:SSZ`; one beyond the calendar is its end."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except (ValueError, OverflowError, OSError):
        return "9999-12-31T23:59:59Z" if seconds > 0 else "0001-01-01T00:00:00Z"


def _entry(
    commit: Commit,
    change: _Difference,
    contents: "subprocess.Popen[bytes]",
    known: Collection[tuple[str, str]],
    page: Callable[[str], str],
) -> Entry | None:
    """Return what a commit did to a page; `page` tells which one lies at a path, if any."""
    was = page(change.was) if change.was else ""
    rel_path = page(change.path)
    origin = Origin(moment(commit.seconds), commit.author, commit.name, commit.message)
    if not rel_path:  # moved to where no page is: to a hidden folder, or out of memory/
        return Entry(was, origin, removed=True) if was else None
    if not change.blob:
        return Entry(rel_path, origin, removed=True)
    data = None if (rel_path, commit.name) in known else _blob(contents, change.blob)
    return Entry(rel_path, origin, data, moved_from=was)


def _merged(differences: list[_Difference], blobs: dict[str, str]) -> list[_Difference]:
    """Return what a merge changed of what was read last: it is compared with each parent, and says the same twice."""
    found: dict[str, _Difference] = {}
    for each in differences:
        if each.was:
            found[each.was] = _Difference(each.was, "", "")
    for each in differences:
        found[each.path] = _Difference(each.path, each.blob, "")
    return [each for path, each in sorted(found.items()) if each.blob != blobs.get(path, "")]


def _told(tokens: Iterator[bytes]) -> Iterator[Commit | _Difference]:
    """Yield commits and differences as the log has them."""
    for token in tokens:
        bare = token.lstrip(b"\n")
        if bare.startswith(b":"):
            yield from _difference(bare.decode("ascii"), tokens)
        elif bare:
            parents, seconds, author, message = (next(tokens) for _ in range(4))
            yield Commit(bare.decode("ascii"), len(parents.split()), int(seconds or 0), _text(author), _text(message))


def _difference(raw: str, tokens: Iterator[bytes]) -> Iterator[_Difference]:
    """Yield the difference of `:100644 100644 <blob> <blob> M`, whose paths come next."""
    _, mode, _, blob, status = raw.split(" ")
    was = os.fsdecode(next(tokens)) if status[0] in "RC" else ""
    path = os.fsdecode(next(tokens))
    is_file = mode.startswith("100")  # not a link, and not another repository
    if not is_file and was:
        yield _Difference(was, "", "")
    yield _Difference(path, blob if is_file else "", was if is_file and status[0] == "R" else "")


def _tokens(stream: IO[bytes] | None) -> Iterator[bytes]:
    rest = b""
    while stream and (chunk := stream.read(_AT_ONCE)):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
    if rest.strip():
        yield rest


def _text(told: bytes) -> str:
    return "".join(c for c in told.decode("utf-8", "replace") if c.isprintable()).strip()


def _blob(contents: "subprocess.Popen[bytes]", name: str) -> bytes:
    """Return the contents of a blob, of one that is too long no more than shows that."""
    if contents.stdin is None or contents.stdout is None:
        raise LookupError("git was started without pipes")
    contents.stdin.write(name.encode() + b"\n")
    contents.stdin.flush()
    head = contents.stdout.readline().split()
    if len(head) != 3:
        raise UnavailableError(f"git does not have the contents {name}", hint="fetch them, or import with --no-history")
    size = int(head[2])
    data = contents.stdout.read(min(size, _CAP))
    left = size - len(data) + 1  # and the line end after it
    while left > 0 and (passed := contents.stdout.read(min(left, _AT_ONCE))):
        left -= len(passed)
    return data


@contextmanager
def _process(folder: Path, *words: str, stdin: int = subprocess.DEVNULL) -> "Iterator[subprocess.Popen[bytes]]":
    """Start git for the time of a `with` block. Raises UnavailableError if it fails."""
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(
            _command(folder, *words), stdin=stdin, stdout=subprocess.PIPE, stderr=told, env=_environment()
        )
        broken = False
        try:
            with process:
                yield process
        except BrokenPipeError:
            broken = True  # it ended by itself; why is told below
        if process.returncode or broken:
            told.seek(0)
            raise _failed(words[0], told.read())


def _output(folder: Path, *words: str) -> bytes:
    done = subprocess.run(_command(folder, *words), capture_output=True, env=_environment(), check=False)
    if done.returncode:
        raise _failed(words[0], done.stderr)
    return done.stdout


def _command(folder: Path, *words: str) -> list[str]:
    configured = [word for each in _CONFIG for word in ("-c", each)]
    return ["git", "--no-pager", "-C", str(folder), *configured, *words]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _OF_ELSEWHERE}
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}


def _failed(word: str, told: bytes) -> UnavailableError:
    lines = told.decode("utf-8", "replace").strip().splitlines() or ["it says nothing"]
    reason = next((line for line in lines if line.startswith("fatal: ")), lines[-1])  # advice may follow
    return UnavailableError(f"git {word} failed: {reason}", hint="mend the repository, or import with --no-history")
