"""A command that runs an experiment: its line with placeholders, what it may see and what it may use."""

import string
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from falsify.config_keys import Key
from falsify.errors import InvalidInputError

PLACEHOLDERS: Final = ("python", "config", "out", "metrics", "seed")
"""What a command line may leave open: the Python that runs Falsify, the paths of the run, and its seed."""

RUN_ID: Final = "FALSIFY_RUN_ID"
CONFIG: Final = "FALSIFY_CONFIG"
RUN_DIR: Final = "FALSIFY_RUN_DIR"
METRICS: Final = "FALSIFY_METRICS"

PASSED: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    "OPENBLAS_CORETYPE",  # which kernel multiplies: it decides the last digits of a result
)
"""What every command sees of the environment of Falsify, where it is set there."""

PRESET: Final = {
    # One thread, because the order in which threads add up decides the last digits of a result.
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
        "1",
    ),
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",  # else the log of a run that is killed ends before it
}
"""What every command sees besides, unless its own settings say otherwise."""

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may use. 0 is no limit, except where something else is said.

    `timeout_seconds` is wall-clock time, after which it is asked to end and killed `grace_seconds` later. Each of its
    processes may use `cpu_seconds` (0: as much as fits into its time on all cores), `memory_mb` of address space and
    write files of `file_mb`. `processes` counts all that its user runs on the machine. Of what it prints, `log_bytes`
    are kept.
    """

    timeout_seconds: float = 600.0
    grace_seconds: float = 2.0
    memory_mb: int = 4096
    cpu_seconds: int = 0
    file_mb: int = 1024
    processes: int = 0
    log_bytes: int = 64 * 1024
    nice: int = 5

    def __post_init__(self) -> None:
        if self.timeout_seconds <= 0 or self.log_bytes < 1024:
            raise InvalidInputError(
                "a run needs time and a log", hint="timeout_seconds is more than 0, and log_bytes at least 1024"
            )
        rest = (self.grace_seconds, self.memory_mb, self.cpu_seconds, self.file_mb, self.processes, self.nice)
        if min(rest) < 0:
            raise InvalidInputError("a limit is less than 0", hint="0 is no limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How configurations are run: a command line, never a shell's, in the folder `cwd`.

    `keys` are those that experiments may change, `fixed` those that a contract sets for good.

    Raises InvalidInputError for a placeholder in `argv` that is none of PLACEHOLDERS; `{{` and `}}` are braces. `env`
    names what it sees of the environment of Falsify beside PASSED, and `fixed_env` is what it sees beside PRESET.
    """

    name: str
    argv: tuple[str, ...]
    cwd: Path
    env: tuple[str, ...] = ()
    fixed_env: Mapping[str, str] = field(default_factory=dict)
    keys: tuple[Key, ...] = ()
    fixed: tuple[Key, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise InvalidInputError(
                f"the executor {self.name} has no command", hint='write it as a list: ["{python}", "train.py"]'
            )
        for word in self.argv:
            _check(word)
        for name in (*self.env, *self.fixed_env):
            if not name or "=" in name or "\0" in name:
                raise InvalidInputError(f"{name!r} is no variable of an environment", hint="name it as in PATH")

    def line(self, values: Mapping[str, str]) -> list[str]:
        """Return the command line with these values for its placeholders; `python` is known."""
        return [word.format_map({"python": sys.executable, **values}) for word in self.argv]

    def environment(self, given: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
        """Return what the command sees: what is passed of the `given` environment, what is fixed, and its `own`."""
        passed = {name: given[name] for name in (*PASSED, *self.env) if name in given}
        return {**PRESET, **passed, **self.fixed_env, **own}


def _check(word: str) -> None:
    try:
        fields = [each[1:] for each in string.Formatter().parse(word) if each[1] is not None]
    except ValueError as error:
        raise _unreadable(word) from error
    if "\0" in word or any(name not in PLACEHOLDERS or spec or conversion for name, spec, conversion in fields):
        raise _unreadable(word)


def _unreadable(word: str) -> InvalidInputError:
    known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    return InvalidInputError(
        f"{word!r} has a placeholder that is not known", hint=f"there are {known}; a brace itself is {{{{ or }}}}"
    )
