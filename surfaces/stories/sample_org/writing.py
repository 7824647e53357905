"""The sample organisation written to disk: as a folder of pages, or as a git repository with its whole past."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from falsify.errors import ConflictError, UnavailableError
from surfaces.stories.sample_org.history import Commit, Files, commits

BRANCH: Final = "main"


def build_folder(folder: Path) -> None:
    """Write the pages as they stand into an empty or new folder; each file has the time of its last commit.

    Raises ConflictError for a folder that holds something.
    """
    _empty(folder)
    changed_at = {path: commit.date for commit in commits() for path in commit.changed}
    for rel_path, text in _last().items():
        path = folder / rel_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        moment = changed_at[rel_path].timestamp()
        os.utime(path, (moment, moment))


def build_repository(folder: Path) -> str:
    """Make a git repository of the whole history in an empty or new folder and return the hash of its last commit.

    Dates, names and addresses are those of the history and no setting of the user's takes part: the hashes are the same
    everywhere. Raises ConflictError for a folder that holds something, UnavailableError without git.
    """
    _empty(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _git(folder, "init", "--quiet", "--template=", f"--initial-branch={BRANCH}")
    _git(folder, "fast-import", "--quiet", stdin=b"".join(_stream()))
    _git(folder, "-c", "core.autocrlf=false", "reset", "--quiet", "--hard")
    return _git(folder, "rev-parse", "HEAD").decode().strip()


def _last() -> Files:
    *_, last = commits()
    return last.files


def _empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConflictError(f"{folder} holds something already", hint="name a folder that is new or empty")


def _stream() -> Iterator[bytes]:
    """Yield the history in the language of `git fast-import`."""
    for commit in commits():
        yield f"commit refs/heads/{BRANCH}\n".encode()
        for role in ("author", "committer"):
            yield f"{role} {commit.author} <{commit.email}> {_date(commit)}\n".encode()
        yield _data(commit.message)
        for path in sorted(commit.changed):
            text = commit.files.get(path)
            if text is None:
                yield f"D {path}\n".encode()
            else:
                yield f"M 100644 inline {path}\n".encode() + _data(text)
        yield b"\n"


def _date(commit: Commit) -> str:
    return f"{int(commit.date.timestamp())} {commit.date:%z}"


def _data(text: str) -> bytes:
    encoded = text.encode()
    return b"data %d\n%s\n" % (len(encoded), encoded)


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, env=environment, input=stdin, capture_output=True, check=True
        )
    except FileNotFoundError:
        raise UnavailableError("git is not installed", hint="install it, or use the folder without a history") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise UnavailableError(f"git {arguments[0]} failed: {said}", hint="git 2.28 or newer is needed") from error
    return done.stdout
