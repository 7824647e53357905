"""Runs a command on this machine: in its own session, under limits, and with nothing of it left when it has ended.

It is not a sandbox: a command can read, write and connect as its user can. Where that matters, let it begin with
`bwrap`, `docker run` or the like.
"""

import json
import math
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from falsify.config_keys import Key
from falsify.errors import UnavailableError
from falsify.executors import shim
from falsify.executors.command import MEBIBYTE, Command, Limits
from falsify.executors.metrics_file import MetricsFile
from falsify.executors.processes import SETTLED, end_orphan, kill_members, signal_group
from falsify.executors.run_folder import RunFolder
from falsify.executors.run_log import RunLog
from falsify.executors.spawner import SPAWNER
from falsify.ports import Exit, Metrics, Outcome, RunOrder

__all__ = ["Command", "Limits", "LocalExecutor", "LocalRun", "end_orphan"]

_REMAINS: Final = 1.0
"""Seconds that what is left of a run may take to be gone after its first process."""

_UNKILLABLE: Final = 5.0
"""Seconds after SIGKILL in which every process ends, unless the kernel itself waits for a device."""

_VANISHED: Final = -1
"""The exit code of a process whose end somebody else has seen."""


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Runs configurations by a command of this machine."""

    command: Command

    @property
    def name(self) -> str:
        """What the executor is called in a contract."""
        return self.command.name

    @property
    def keys(self) -> tuple[Key, ...]:
        """The config keys that experiments may change."""
        return self.command.keys

    @property
    def fixed(self) -> tuple[Key, ...]:
        """The config keys that a contract sets for good."""
        return self.command.fixed

    def start(self, order: RunOrder) -> "LocalRun":
        """Start a run, and return at once. It may take the order's time or the command's, whichever is less.

        Raises UnavailableError if its folder is not new or its process cannot be started. A command that does not
        exist is a run that ends with 127, and says so in its log.
        """
        place = RunFolder.at(order.folder)
        place.prepare(order)
        limits = self.command.limits
        seconds = min(order.limit_seconds, limits.timeout_seconds)
        values = {
            "config": str(place.config),
            "out": str(place.out),
            "metrics": str(place.metrics),
            "seed": str(order.config["seed"]),
        }
        told = {
            "parent": os.getpid(),
            "run_id": order.run_id,
            "process": str(place.process),
            "nice": limits.nice,
            "limits": _resources(limits, seconds),
        }
        line = [sys.executable, "-I", "-S", shim.__file__, json.dumps(told), *self.command.line(values)]
        environment = self.command.environment(os.environ, place.environment(order.run_id))
        try:
            process, pipe = SPAWNER.call(lambda: _popen(line, self.command.cwd, environment))
        except OSError as error:
            raise UnavailableError(
                f"run {order.run_id} cannot be started: {error}", hint=f"is {self.command.cwd} a folder?"
            ) from error
        log = RunLog(pipe, place.log, limit=limits.log_bytes)
        return LocalRun(process, place, log, seconds=seconds, grace=limits.grace_seconds)


class LocalRun:
    """A run of a command. Its time is kept by whoever polls it; any thread may."""

    def __init__(
        self, process: subprocess.Popen[bytes], place: RunFolder, log: RunLog, *, seconds: float, grace: float
    ) -> None:
        self._process = process
        self._place = place
        self._log = log
        self._grace = grace
        self._began = monotonic()
        self._due = self._began + seconds
        self._outcome: Outcome = "exited"
        self._asked = math.inf  # when it was asked to end
        self._killed = math.inf
        self._code: int | None = None
        self._ended = math.inf
        self._exit: Exit | None = None
        self._metrics = MetricsFile(place.metrics)
        self._lock = threading.RLock()

    @property
    def malformed(self) -> int:
        """How many of the lines and values that it reported were no numbers, or too many."""
        return self._metrics.malformed

    def poll(self) -> Exit | None:
        """Return how it ended, or None while it, or anything that it started, goes on. Never blocks."""
        with self._lock:
            if self._exit is None and (self._code is not None or self._has_ended()):
                self._exit = self._left_nothing()
            elif self._exit is None:
                self._hurry()
            return self._exit

    def metrics(self) -> list[Metrics]:
        """Return the lines that it reported since this was asked last, in order."""
        with self._lock:
            return self._metrics.read(ended=self._exit is not None)

    def stop(self) -> Exit:
        """Ask it to end, kill it after the grace, and return how it ended. Stopping twice is harmless."""
        with self._lock:
            if self.poll() is None and self._code is None and self._outcome == "exited":
                self._end("stopped")
        while (ended := self.poll()) is None:
            sleep(0.01)
        return ended

    def _hurry(self) -> None:
        """Do what its time asks for."""
        now = monotonic()
        if self._outcome == "exited" and now >= self._due:
            self._end("timed out")
        elif now >= self._asked + self._grace and self._killed == math.inf:
            self._killed = now
            signal_group(self._process.pid, signal.SIGKILL)

    def _end(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._asked = monotonic()
        signal_group(self._process.pid, signal.SIGTERM)

    def _has_ended(self) -> bool:
        """Return whether the first process has ended; if so, how is noted, and the rest of its group is killed."""
        self._code = self._reaped()
        if self._code is None and monotonic() > self._killed + _UNKILLABLE:
            self._code = -signal.SIGKILL
        if self._code is None:
            return False
        self._ended = monotonic()
        return True

    def _reaped(self) -> int | None:
        pid = self._process.pid
        try:
            if hasattr(os, "waitid"):  # macOS has it from Python 3.13 on
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                    return None
                # Before it is reaped: until then no other group can be given this number.
                signal_group(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                return None
            self._process.returncode = os.waitstatus_to_exitcode(status)
        except ChildProcessError:  # this process ignores how its children end, or somebody else has waited for it
            self._outcome = "vanished"
            self._process.returncode = _VANISHED
        if not hasattr(os, "waitid"):
            signal_group(pid, signal.SIGKILL)
        return self._process.returncode

    def _left_nothing(self) -> Exit | None:
        """Return how it ended as soon as nothing of it is left and its log is complete."""
        now = monotonic()
        if kill_members(self._place) or not self._log.complete:
            waits = now < self._ended + _REMAINS
        else:
            waits = now < self._ended + SETTLED
        if waits:
            return None
        self._log.abandon()
        return Exit(self._outcome, self._code or 0, round(self._ended - self._began, 3))


def _popen(line: list[str], cwd: Path, environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """Return the process, and the end of the pipe from which what it prints can be read."""
    pipe, end = os.pipe()
    try:
        process = subprocess.Popen(
            line,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=end,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except BaseException:
        os.close(pipe)
        raise
    finally:
        os.close(end)
    return process, pipe


def _resources(limits: Limits, seconds: float) -> dict[str, tuple[int, int]]:
    """Return soft and hard limits by the names that `resource` has for them."""
    cpu = limits.cpu_seconds or math.ceil(seconds + limits.grace_seconds) * (os.cpu_count() or 1)
    wanted = {
        "RLIMIT_AS": limits.memory_mb * MEBIBYTE,
        "RLIMIT_FSIZE": limits.file_mb * MEBIBYTE,
        "RLIMIT_NPROC": limits.processes,
    }
    grace = math.ceil(limits.grace_seconds)
    found = {name: (most, most) for name, most in wanted.items() if most}
    return {**found, "RLIMIT_CPU": (cpu, cpu + grace), "RLIMIT_CORE": (0, 0)}
