"""Runs as text for people: lists, what one measured, its curve, and the end of its log."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import click

from falsify.workbench.events import RunStatus
from surfaces.lines.plots import curve, terminal
from surfaces.lines.research import number, seen, state, visible
from surfaces.running.waiting import Progress
from surfaces.running.worker import Notice
from surfaces.terminal import unicode_out
from surfaces.text import table

_TAIL: Final = 40
"""How many lines of a log are shown."""

_WORDS: Final[Mapping[RunStatus, str]] = {
    "QUEUED": "waits in the queue",
    "RUNNING": "goes on for {seconds:.1f} s",
    "SUCCEEDED": "after {seconds:g} s",
    "FAILED": "after {seconds:g} s",
    "CANCELLED": "after {seconds:g} s",
}


def queued(told: Mapping[str, Any]) -> Iterator[str]:
    """Render a run that was queued."""
    run = told["run"]
    yield (
        f"{click.style(run['id'], bold=True)}  {state(run['status'])}  of {run['node_id']}, attempt {run['attempt']}, "
        f"at most {run['limit_seconds']:g} s"
    )


def cancelled(told: Mapping[str, Any]) -> Iterator[str]:
    """Render a run that was called off."""
    run = told["run"]
    yield f"{click.style(run['id'], bold=True)}  {state(run['status'])}  of {run['node_id']}"


def run_list(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Render runs as a table."""
    rows = list(rows)
    if not rows:
        yield "there is no such run"
        return
    cells: list[tuple[str, ...]] = [
        (
            row["id"],
            row["node_id"],
            state(row["status"]),
            str(row["attempt"]),
            f"{row['seconds']:g}",
            "" if row["value"] is None else number(row["value"]),
            seen(row["note"] or row["reason"], 50),
        )
        for row in rows
    ]
    yield from table(("id", "node", "status", "attempt", "seconds", rows[0]["metric"], "why"), cells)


def run(progress: Progress) -> Iterator[str]:
    """Render all about a run but its log: how it stands, its last metrics, and the curve of the primary one."""
    yield from outcome(progress)
    known, metrics = progress.run, progress.run.metrics
    yield f"  attempt {known.attempt}, at most {known.limit_seconds:g} s: {seen(known.reason)}"
    others = {name: value for name, value in metrics.items() if name != progress.metric}
    if others:
        yield "  " + ", ".join(f"{seen(name)} {number(value)}" for name, value in others.items())
    yield from drawn(progress)


def outcome(progress: Progress) -> Iterator[str]:
    """Render in a line or two how a run stands."""
    known = progress.run
    words = _WORDS[known.status].format(seconds=progress.seconds)
    value = known.metrics.get(progress.metric, progress.latest)
    told = "" if value is None else f": {seen(progress.metric)} {number(value)}"
    yield f"{click.style(known.id, bold=True)} of {known.node_id}  {state(known.status)} {words}{told}"
    if known.note:
        yield f"  {seen(known.note)}"


def drawn(progress: Progress) -> Iterator[str]:
    """Render the curve of the primary metric, if it has two points to draw."""
    found = curve(progress.lines, progress.metric)
    if len(found.finite) > 1:
        yield from (f"  {line}" for line in terminal(found, unicode=unicode_out()))


def log(text: str) -> Iterator[str]:
    """Render the end of a log without anything that a terminal would obey."""
    lines = list(visible(text))
    left_out = len(lines) - _TAIL
    yield click.style(f"  log, without the first {left_out} lines" if left_out > 0 else "  log", dim=True)
    yield from (f"  {line}" for line in lines[-_TAIL:] or ["(it printed nothing)"])


def notice(told: Notice) -> str:
    """Return what a worker has to say as one line."""
    if told.status is None:
        return seen(" ".join(part for part in (told.project_id, told.run_id, told.note) if part))
    after = "" if told.status == "RUNNING" else f" after {told.seconds:g} s"
    note = f": {seen(told.note)}" if told.note else ""
    return f"{told.project_id} {told.run_id} {state(told.status)}{after}{note}"


def bar(progress: Progress) -> str:
    """Return what stands beside the bar of a run that goes on."""
    if progress.run.status == "QUEUED":
        return "waits in the queue"
    parts = [f"{progress.seconds:.1f} s"]
    if progress.epoch is not None:
        parts.insert(0, f"epoch {progress.epoch:g}" + (f"/{progress.epochs}" if progress.epochs else ""))
    if progress.latest is not None:
        parts.append(f"{seen(progress.metric)} {number(progress.latest)}")
    return "  ".join(parts)
