"""How a run ended: what it measured in the end, or why it failed, in words that a person understands."""

import math
import re
import signal
from collections.abc import Mapping, Sequence
from typing import Final

from falsify.ports import Exit, Metrics

WORKER_DIED: Final = "its worker died"

NOT_STARTED: Final = "it could not be started"
NOT_KEPT: Final = "what it left could not be kept"
NOT_RECORDED: Final = "what it measured could not be recorded"
"""What went wrong here and not in the run; the message of an error follows."""

_LOG_ENDS: Final = "; its log ends: "
_ONLY: Final = ", only "
"""What stands before what a run itself says: the end of its log, the names of its metrics."""

_QUOTED: Final = 3
"""How many of the last lines of a log are quoted, and how many characters of each."""
_WIDEST: Final = 200

_NAMED: Final = 10
"""How many other metrics are named."""

_SAID: Final = "|".join(
    (
        r"it was ended after [\d.e+-]+ s: it may not take longer",
        "the worker was stopped",
        "its process is gone, and nobody saw how it ended",
        r"it ended with exit code \d+",
        r"it was ended by signal \w+",
        r"it reported no [\w./-]+",
        r"[\w./-]+ is not a finite number from (?:line|epoch) [\d.e+-]+ on",
        WORKER_DIED,
        f"(?:{NOT_STARTED}|{NOT_KEPT}|{NOT_RECORDED}): .*",
    )
)
_OWN: Final = re.compile(f"(?:{_SAID})(?:; (?:{_SAID}))*", re.ASCII)
"""What Falsify itself says of why a run failed."""


def measured(lines: Sequence[Metrics]) -> dict[str, float]:
    """Return the last value of each metric, without those that are not finite."""
    last: dict[str, float | None] = {}
    for line in lines:
        last.update(line)
    return {name: value for name, value in last.items() if value is not None and math.isfinite(value)}


def failure(ended: Exit, lines: Sequence[Metrics], metric: str, log: str) -> str:
    """Return why a run failed, with the end of its log; empty if it succeeded.

    Success is to exit with 0 and a finite value of the primary metric in the last line that has it.
    """
    badly, diverged = _badly(ended), _diverged(lines, metric)
    why = "; ".join(part for part in (badly, diverged) if part) or _unreported(lines, metric)
    return why + quoted(log) if why else ""


def quoted(log: str) -> str:
    """Return the last lines of a log as the end of a sentence; empty if there are none."""
    printed = [shown for line in log.splitlines() if (shown := printable(line).strip())]
    told = [line if len(line) <= _WIDEST else f"{line[:_WIDEST]}..." for line in printed[-_QUOTED:]]
    return f"{_LOG_ENDS}{' | '.join(told)}" if told else ""


def told_apart(reason: str) -> tuple[str, str]:
    """Return of why a run failed what Falsify says itself, and then what the run says; each may be empty.

    All that stands behind the first words of the run is the run's, and so is what nobody here would say.
    """
    cut = min((place for mark in (_LOG_ENDS, _ONLY) if (place := reason.find(mark)) >= 0), default=len(reason))
    own, said = reason[:cut], reason[cut:].lstrip(";, ")
    return (own, said) if _OWN.fullmatch(own) else ("", reason)


def printable(line: str) -> str:
    """Return a line without what a terminal would take for a command, or a reader would not see."""
    return "".join(each if each.isprintable() else " " for each in line)


def _badly(ended: Exit) -> str:
    match ended.outcome:
        case "timed out":
            return f"it was ended after {ended.seconds:g} s: it may not take longer"
        case "stopped":
            return "the worker was stopped"
        case "vanished":
            return "its process is gone, and nobody saw how it ended"
        case "exited":
            return _exited(ended.code)


def _exited(code: int) -> str:
    if not code:
        return ""
    if code > 0:
        return f"it ended with exit code {code}"
    names: Mapping[int, str] = {number.value: number.name for number in signal.Signals}
    return f"it was ended by signal {names.get(-code, str(-code))}"


def _unreported(lines: Sequence[Metrics], metric: str) -> str:
    """Return that no line has the primary metric, if so, and what they have."""
    names = sorted({name for line in lines for name in line})
    if metric in names:
        return ""
    return f"it reported no {metric}" + (f"{_ONLY}{', '.join(names[:_NAMED])}" if names else "")


def _diverged(lines: Sequence[Metrics], metric: str) -> str:
    """Return from where on the primary metric was no finite number, if it was none in the end."""
    first: tuple[int, Metrics] | None = None
    for number, line in reversed([(number, line) for number, line in enumerate(lines, 1) if metric in line]):
        value = line[metric]
        if value is not None and math.isfinite(value):
            break
        first = number, line
    if first is None:
        return ""
    epoch = first[1].get("epoch")
    return f"{metric} is not a finite number from {f'line {first[0]}' if epoch is None else f'epoch {epoch:g}'} on"
