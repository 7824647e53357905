"""Projects as text for people: what is asked and promised, what is best so far and whether it stands, what is left."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import click

from surfaces.lines.research import (
    Row,
    Told,
    bullet,
    clip,
    done,
    fields,
    lost,
    mark,
    measured,
    number,
    seen,
    state,
)
from surfaces.terminal import unicode_out
from surfaces.text import table

BAR: Final = 24
"""Columns of a bar."""


def projects(told: Iterable[Told]) -> Iterator[str]:
    """Render projects as a table."""
    rows: list[Row] = [
        (
            row["id"],
            row["mode"],
            f"{row['incumbent'] or 'none'} {measured(row['value'], row['state'])}".rstrip(),
            str(row["tickets"]),
            str(row["nodes"]),
            f"{row['budget']['runs']['used']}/{row['budget']['runs']['total']}",
            seen(row["objective"], 36),
        )
        for row in told
    ]
    if not rows:
        yield "there is no project yet: `falsify project create ID --objective TEXT`"
        return
    yield from table(("id", "mode", "incumbent", "tickets", "nodes", "runs", "objective"), rows)


def changed(told: Told) -> Iterator[str]:
    """Render what was done to a project, and its contract as it is then."""
    yield from done(told)
    yield from contract(told["contract"])


def created(told: Told) -> Iterator[str]:
    """Render a new project: its contract, and how to go on."""
    yield from changed(told)
    name = told["project"]["id"]
    yield click.style(f"  next: `falsify --project {name} project baseline --wait`", dim=True)
    yield click.style(f'  FALSIFY_PROJECT={name}, or project = "{name}" in falsify.toml, saves the option', dim=True)


def project(told: Told, *, past: bool = False) -> Iterator[str]:
    """Render where a project stands, as somebody understands it who has never seen it; of the `past` nothing to do."""
    yield f"{click.style(told['project_id'], bold=True)}  {seen(told['objective'])}"
    yield click.style(f"mode {told['mode']}: {MODES[told['mode']]}", dim=True)
    if told["parent_project_id"]:
        yield click.style(f"takes over from {told['parent_project_id']}", dim=True)
    yield ""
    yield from contract(told["contract"])
    yield ""
    yield from _best(told, past=past)
    yield ""
    yield from _budget(told["budget"], told["contract"])
    yield from _queue(told["queue_counts"])
    yield from _running(told["active_runs"])
    yield from _requests(told["approvals"])
    yield ""
    yield click.style("Lately", bold=True)
    yield from (f"  {clip(_event(row), 98)}" for row in told["recent_events"][:5])


MODES: Final[Mapping[str, str]] = {
    "MANUAL": "agents ask before everything but decisions that promote nothing",
    "COPILOT": "agents ask before they start or cancel runs, promote, or revise or retract beliefs",
    "AUTORESEARCH": "agents ask before they cancel a run, and for nothing else",
}
"""What each autonomy mode means, in a line: a column of the table of who may do what, in words."""


def contract(told: Told) -> Iterator[str]:
    """Render a contract: what is measured and when it counts, and a table of the configuration."""
    frozen = f"frozen, {told['digest'][:12]}" if told["frozen"] else "can be amended until the first run"
    yield f"{click.style('Contract', bold=True)}  {frozen}"
    yield from fields(
        ("metric", f"{told['metric']}, {told['direction']}"),
        ("counts", _counts(told)),
        ("budget", _promised(told["budget"])),
        ("runs by", f"executor {told['executor']}, seed {told['seed']}"),
        ("requires", ", ".join(told["required_evidence"])),
    )
    keys = told["mutable_keys"]
    rows: list[Row] = [
        (name, clip(_may_be(keys[name]) if name in keys else "fixed", 44), clip(number(value), 36))
        for name, value in sorted(told["base_config"].items(), key=lambda item: item[0] not in keys)
    ]
    yield from (f"  {line}" for line in table(("key", "may be", "baseline"), rows))


def _counts(told: Told) -> str:
    return (
        f"from an effect of {told['minimum_effect']:g}, above a noise floor of {told['noise_floor']:g}; "
        f"a reproduction may differ by {told['tolerance']:g}"
    )


def _promised(budget: Told) -> str:
    return f"{budget['runs']} runs, {budget['seconds']:g} s in all, {budget['run_seconds']:g} s each at most"


def _may_be(key: Told) -> str:
    if key["type"] == "text":
        return "text"
    if key["type"] == "choice":
        return ", ".join(key["enum"])
    low = f"({key['exclusive_minimum']:g}" if "exclusive_minimum" in key else f"[{key['minimum']:g}"
    return f"{key['type']} in {low}, {key['maximum']:g}]"


# --- what is best ---------------------------------------------------------------------------------------------


def _best(told: Told, *, past: bool) -> Iterator[str]:
    metric = told["contract"]["metric"]
    yield _stands("Baseline", told["baseline"], metric)
    incumbent = told["incumbent"]
    yield _stands("Incumbent", incumbent, metric)
    if incumbent and incumbent["losses"]:
        yield click.style(f"! the incumbent {incumbent['node_id']} rests on evidence that is refuted", fg="yellow")
        yield from lost(incumbent["losses"])
        yield from (f"  {bullet()} {line}" for line in ([] if past else _remedies(incumbent)))


def _stands(title: str, row: Told | None, metric: str) -> str:
    head = click.style(f"{title:<10}", bold=True)
    if row is None:
        missing = "none yet: `falsify project baseline --wait`" if title == "Baseline" else "none yet"
        return f"{head} {missing}"
    value = measured(row["value"], row["measurement"])
    told = f"{metric} {value} ({row['measurement']})" if value else state(row["status"])
    decision = row["decision"]
    by = f", {decision['id']} {mark(decision['state'])} {decision['state']}" if decision else ""
    return f"{head} {row['node_id']}  {told}{by}"


def _remedies(incumbent: Told) -> Iterator[str]:
    """Yield what can be done now, and nothing that would be refused."""
    yield f"see why: `falsify why {incumbent['losses'][0]['id']}`"
    ways = incumbent["ways_back"]
    if best := ways["promote"]:
        node, verdict = best["node_id"], best["verdict"]
        yield f"what {node} measured stands: `falsify node compare {node}`"
        yield f"promote: `falsify decision commit {node} --verdict {verdict} --action PROMOTE --rationale WHY`"
    if ways["roll_back_to"]:
        yield f"go back to {ways['roll_back_to']}, an earlier incumbent that stands: `falsify decision rollback`"
    if again := ways["reproduce"]:
        yield f"measure it again: `falsify ticket create`, with --type reproduction --title 'Reproduce {again}'"


# --- what is left ---------------------------------------------------------------------------------------------


def _budget(budget: Told, terms: Told) -> Iterator[str]:
    runs, seconds = budget["runs"], budget["seconds"]
    kept = f", {seconds['reserved']:g} kept for active runs" if seconds["reserved"] else ""
    yield click.style("Budget", bold=True)
    yield f"  runs     {bar(runs['used'], runs['total'])}  {runs['used']} of {runs['total']} used"
    spent = seconds["used"] + seconds["reserved"]
    yield f"  seconds  {bar(spent, seconds['total'])}  {seconds['used']:g} of {terms['budget']['seconds']:g} used{kept}"


def _queue(counts: Told) -> Iterator[str]:
    there = [f"{count} {state(name)}" for name, count in counts.items() if name != "top" and count]
    yield f"{click.style('Queue', bold=True)}  {', '.join(there) or 'no tickets yet'}"
    for row in counts["top"]:
        yield f"  {row['id']}  {row['rank_score']:g}  {row['type']}: {seen(row['title'], 70)}"


def _running(runs: Iterable[Told]) -> Iterator[str]:
    for run in runs:
        yield (
            f"{click.style('Run', bold=True)}    {run['id']} of {run['node_id']} is {state(run['status'])}, "
            f"{run['seconds']:g} of at most {run['limit_seconds']:g} s"
        )


def _requests(approvals: Told) -> Iterator[str]:
    if approvals["pending"]:
        yield click.style(f"! {approvals['pending']} wait for a person: `falsify approvals list`", fg="yellow")


def _event(row: Told) -> str:
    return f"{row['recorded_at']}  {row['actor']}  {seen(row['event'])}"


def bar(part: float, whole: float) -> str:
    """Return how much of a whole is used, as a bar; whatever is used at all shows."""
    share = min(1.0, part / whole) if whole else 0.0
    filled = max(1, round(share * BAR)) if share else 0
    full, empty = ("█", "░") if unicode_out() else ("#", ".")
    return full * filled + empty * (BAR - filled)
