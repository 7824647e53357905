"""Runs and what they reported while they went on, JSON-ready."""

from collections.abc import Iterable, Mapping
from typing import Any

from falsify.belief.text import written
from falsify.workbench.events import Direction
from falsify.workbench.project import Run

MOST_METRICS = 50
"""How many metrics of a run are told, those that it named first."""

MOST_POINTS = 50

Line = Mapping[str, float | None]


def run_row(run: Run, *, now: int) -> dict[str, Any]:
    """Return a run; of one that goes on `seconds` is how long it has, `now` being in microseconds since 1970."""
    running = run.status == "RUNNING"
    row = {
        "id": run.id,
        "node_id": run.node_id,
        "status": run.status,
        "attempt": run.attempt,
        "reason": run.reason,
        "queued_at": _time(run.queued_time),
        "started_at": _time(run.started_time),
        "ended_at": _time(run.ended_time),
        "seconds": round(max(0, now - run.started_time) / 1e6, 3) if running else run.seconds,
        "limit_seconds": run.limit_seconds,
    }
    return {**row, "worker": run.worker} if running else row


def last_values(lines: Iterable[Line]) -> dict[str, float]:
    """Return the last finite value of each metric."""
    return {name: value for line in lines for name, value in line.items() if value is not None}


def curves(lines: Iterable[Line], *, primary: str, direction: Direction) -> dict[str, dict[str, Any]]:
    """Return the curve of each metric by its name: its ends and extremes, and at most 50 evenly spaced points.

    A point is [number of the line, value]; lines are counted from 1. Only of the primary metric is it known which
    extreme is the best. `not_finite` counts the lines at which the metric was no number.
    """
    points: dict[str, list[tuple[int, float]]] = {}
    gaps: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        for name, value in line.items():
            if value is None:
                gaps[name] = gaps.get(name, 0) + 1
                points.setdefault(name, [])
            elif name in points or len(points) < MOST_METRICS or name == primary:
                points.setdefault(name, []).append((number, value))
    told = {name: _curve(found, gaps.get(name, 0)) for name, found in points.items()}
    if points.get(primary):
        told[primary]["best"] = told[primary]["highest" if direction == "maximize" else "lowest"]
    return told


def spread(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return at most 50 of the points, evenly spaced, the first and the last among them."""
    last = len(points) - 1
    if last < MOST_POINTS:
        return points
    return [points[round(step * last / (MOST_POINTS - 1))] for step in range(MOST_POINTS)]


def _curve(points: list[tuple[int, float]], gaps: int) -> dict[str, Any]:
    values = [value for _, value in points]
    return {
        "first": values[0] if values else None,
        "last": values[-1] if values else None,
        "lowest": min(values, default=None),
        "highest": max(values, default=None),
        "not_finite": gaps,
        "points": [list(point) for point in spread(points)],
    }


def _time(microseconds: int) -> str | None:
    return written(microseconds) if microseconds else None
