"""The processes of a run: known by what they were started with, and ended with all that they started.

A process number names another process sooner or later, so nothing is killed by its number alone.
"""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from falsify.executors.command import RUN_DIR, RUN_ID
from falsify.executors.run_folder import RunFolder
from falsify.executors.shim import started

SETTLED: Final = 0.03
"""Seconds after which all that was begun can be seen: while a program is being loaded, it has no environment yet."""

_PATIENCE: Final = 1.0
"""Seconds to wait for killed processes to be gone."""


@dataclass(frozen=True, slots=True)
class Leader:
    """The first process of a run, as it was written down when it started."""

    pid: int
    group: int
    started: str
    run_id: str

    @property
    def lives(self) -> bool:
        """Whether it is still that process, and not another that was given its number."""
        if self.pid <= 1 or not self.started or started(self.pid) != self.started or _group(self.pid) != self.group:
            return False
        return sys.platform != "linux" or _variable(RUN_ID, self.run_id) in _environment(self.pid)


def end_orphan(folder: str | Path) -> bool:
    """End what is left of a run that nobody looks after any more, and return whether there was anything.

    To be asked after a restart, for each run that had not ended: it kills one that goes on. Its first process is told
    from one that was given its number by when it started. On Linux it also finds processes that have left the group,
    and those whose first process is dead, by the run's folder in their environment; elsewhere those cannot be told.
    """
    place = RunFolder.at(folder)
    leader = _read(place.process)
    begun = seen = time.monotonic()
    found = False
    while (now := time.monotonic()) < min(seen + SETTLED, begun + _PATIENCE):
        if _kill_group(leader) or kill_members(place):
            found, seen = True, now
        time.sleep(0.01)
    return found


def _kill_group(leader: Leader | None) -> bool:
    if leader is None or not leader.lives:
        return False
    signal_group(leader.group, signal.SIGKILL)
    return True


def kill_members(place: RunFolder) -> int:
    """Kill every process that was started by the run of this folder, and return how many there were.

    Linux only: elsewhere 0. Two workspaces may both have a run of that id, but not in this folder.
    """
    mark = _variable(RUN_DIR, str(place.out))
    found = 0
    for pid in _pids():
        if pid != os.getpid() and mark in _environment(pid):
            # Numbers are given out in turn: between that look and this line none comes round again.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                found += 1
    return found


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group, if it is there."""
    # macOS refuses where only the remains of ended processes are in it
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _read(path: Path) -> Leader | None:
    """Return what is written down, or None if it is missing or torn."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        leader = Leader(int(told["pid"]), int(told["pgid"]), str(told["started"]), str(told["run_id"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return leader


def _pids() -> Iterator[int]:
    if sys.platform == "linux":
        yield from (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 - names are all


def _environment(pid: int) -> list[bytes]:
    """Return the variables of a process as `NAME=value`; none if it has ended or is not ours to look into."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _variable(name: str, value: str) -> bytes:
    return os.fsencode(f"{name}={value}")


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return -1
