"""Where the folders of runs are, and what is left of them when the runs have ended."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from falsify.executors.run_folder import RunFolder


def folder_of(workspace: Path, project_id: str, run_id: str) -> RunFolder:
    """Return the folder of a run; `workspace` is the folder of the log."""
    return RunFolder.at(workspace / "runs" / project_id / run_id)


def leftovers(workspace: Path, project_id: str) -> Iterator[RunFolder]:
    """Yield the folders of a project's runs in which there is more than a log."""
    for path in sorted((workspace / "runs" / project_id).glob("*/config.json")):
        yield RunFolder.at(path.parent)


def clear(place: RunFolder) -> None:
    """Remove all but the log of a run that has ended; `config.json` last, by which `leftovers` finds it.

    What cannot be removed stays: it is evidence of nothing, and takes only room.
    """
    with contextlib.suppress(OSError):
        for path in sorted(place.path.iterdir(), key=lambda path: path == place.config):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path != place.log:
                path.unlink(missing_ok=True)
