"""Sets the limits of a run, writes down which process it is, and becomes its command.

A program of its own, because what a threaded parent may do between fork and exec is next to nothing. It is started by
its path with `-I -S`, so it imports of Falsify nothing, and of Python little; a `json.py` in the folder that the
command runs in is not mistaken for Python's.

    shim.py '{"parent": 1, "run_id": "R", "process": "/run/process.json", "nice": 5, "limits": {"RLIMIT_AS": [1, 1]}}' command ...
"""  # noqa: E501 - a command line is one line

import json
import os
import resource
import signal
import sys
from typing import Any, NoReturn

NOT_FOUND = 127
NOT_RUNNABLE = 126
ABANDONED = 125
"""Exit codes: there is no such command, it cannot be run, and nobody is there any more who would run it."""

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> NoReturn:
    """Become the command; the first argument is the order, the rest the command line."""
    order: dict[str, Any] = json.loads(arguments[0])
    die_with_parent()
    if os.getppid() != order["parent"]:  # it died before this could be tied to it
        sys.exit(ABANDONED)
    try:
        os.nice(order["nice"])
        write_process(order["process"], order["run_id"])
        restore_signals()
        limit(order["limits"])
        os.execvp(arguments[1], arguments[1:])  # noqa: S606 - no shell is meant
    except FileNotFoundError:
        sys.stderr.write(f"falsify: there is no command {arguments[1]!r}\n")
        sys.exit(NOT_FOUND)
    except (OSError, MemoryError, ValueError) as error:
        sys.stderr.write(f"falsify: the command {arguments[1]!r} cannot be run: {error}\n")
        sys.exit(NOT_RUNNABLE)


def die_with_parent() -> None:
    """Ask to be killed when the thread that started this ends. Linux only: elsewhere a restart ends what is left."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def write_process(path: str, run_id: str) -> None:
    """Write down, whole or not at all, which process this is."""
    pid = os.getpid()
    told = {"pid": pid, "pgid": os.getpgid(pid), "started": started(pid), "run_id": run_id}
    with open(f"{path}.new", "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes longer than the rest
        json.dump(told, file)
    os.replace(f"{path}.new", path)  # noqa: PTH105


def started(pid: int) -> str:
    """Return when the process started, as the system spells it; empty if there is no such process."""
    if sys.platform != "linux":
        return _started_by_ps(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[19].decode()  # the 22nd field, after a name in brackets
    except OSError:
        return ""


def _started_by_ps(pid: int) -> str:
    import subprocess

    asked = ["ps", "-o", "lstart=", "-p", str(pid)]
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    return subprocess.run(asked, env=environment, capture_output=True, text=True, check=False).stdout.strip()


def restore_signals() -> None:
    """Undo what Python ignores, and what the parent blocked: both would be the command's for ever."""
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def limit(limits: dict[str, list[int]]) -> None:
    """Set soft and hard limits by the names of `resource`, none above what is set already."""
    for name, (soft, hard) in limits.items():
        which = getattr(resource, name, None)
        if which is None:  # not every system has every limit
            continue
        ceiling = resource.getrlimit(which)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)  # noqa: PLW2901
        try:
            resource.setrlimit(which, (soft, hard))
        except (OSError, ValueError):
            # macOS names a limit of memory, and refuses to set it
            sys.stderr.write(f"falsify: {name} cannot be limited here\n")


if __name__ == "__main__":
    main(sys.argv[1:])
