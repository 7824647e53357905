"""How a run ended: what it measured in the end, or why it failed, in words that a person understands."""

import math
import signal
from collections.abc import Mapping, Sequence
from typing import Final

from falsify.ports import Exit, Metrics

WORKER_DIED: Final = "its worker died"

_QUOTED: Final = 3
"""How many of the last lines of a log are quoted, and how many characters of each."""
_WIDEST: Final = 200


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
    badly, unmeasured = _badly(ended), _unmeasured(lines, metric)
    if not badly and not unmeasured:
        return ""
    not_finite = unmeasured if lines and "finite" in unmeasured else ""
    told = "; ".join(part for part in (badly, not_finite) if part) if badly else unmeasured
    return told + quoted(log)


def quoted(log: str) -> str:
    """Return the last lines of a log as the end of a sentence; empty if there are none."""
    printed = [shown for line in log.splitlines() if (shown := printable(line).strip())]
    told = [line if len(line) <= _WIDEST else f"{line[:_WIDEST]}..." for line in printed[-_QUOTED:]]
    return f"; its log ends: {' | '.join(told)}" if told else ""


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


def _unmeasured(lines: Sequence[Metrics], metric: str) -> str:
    """Return what is wrong with the primary metric, or nothing."""
    told = [(number, line) for number, line in enumerate(lines, 1) if metric in line]
    if not told:
        names = ", ".join(sorted({name for line in lines for name in line})[:10])
        return f"it reported no {metric}, only {names}" if names else f"it reported no {metric}"
    first: tuple[int, Metrics] | None = None
    for number, line in reversed(told):
        value = line[metric]
        if value is not None and math.isfinite(value):
            break
        first = number, line
    if first is None:
        return ""
    epoch = first[1].get("epoch")
    place = f"line {first[0]}" if epoch is None else f"epoch {epoch:g}"
    return f"{metric} is not a finite number from {place} on"
