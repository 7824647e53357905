"""Tickets, nodes, decisions and evidence as text for people, and the envelopes that commands of research come to.

What others wrote is made harmless: no control character reaches a terminal.
"""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import click

from surfaces.terminal import unicode_out
from surfaces.text import CHANGES, MARKS, table
from surfaces.tools.fence import harmless

Told = Mapping[str, Any]
Row = tuple[str, ...]

WIDTH: Final = 100
"""Columns that everything fits into."""

COLORS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("ELIGIBLE", "READY", "FROZEN", "SUCCEEDED", "IMPROVED", "COMPLETED"), "green"),
    **dict.fromkeys(("CLAIMED", "MATERIALIZED", "RUNNING", "IMPLEMENTING"), "cyan"),
    **dict.fromkeys(("BLOCKED", "REPAIRABLE", "FAILED", "REGRESSED"), "red"),
    **dict.fromkeys(("DRAFT", "CANCELLED"), "bright_black"),
}
"""The colours of states and verdicts; what is not here has none."""


# --- envelopes ------------------------------------------------------------------------------------------------


def enveloped(told: Told, render: Callable[[Any], Iterable[str]], *, dry_run: bool = False) -> Iterator[str]:
    """Render an envelope: what was done, or what waits for a person, and what to be warned of."""
    if dry_run:
        yield click.style("Dry run: nothing was appended. This would follow:", fg="cyan")
    if told["status"] == "approval_required":
        yield from _waiting(told["approval"])
    else:
        yield from render(told.get("result", {}))
    yield from warned(told)


def warned(told: Told) -> Iterator[str]:
    """Render the warnings of an envelope."""
    for warning in told.get("warnings", ()):
        head, *rest = wrapped(seen(warning if isinstance(warning, str) else str(warning)), indent=2)
        yield from (click.style(line, fg="yellow") for line in (f"! {head.lstrip()}", *rest))


def _waiting(approval: Told) -> Iterator[str]:
    yield f"{click.style(approval['id'], bold=True)}  {approval['tool']} waits for a person; nothing was done yet"
    yield from (f"  {bullet()} {seen(effect)}" for effect in approval["effects"])
    yield click.style(f"  a person decides: `falsify approvals approve {approval['id']}`, or reject", dim=True)


def done(told: Told) -> Iterator[str]:
    """Render what was done, a sentence each."""
    if not told["done"]:
        yield "nothing changed: it was so already"
    yield from (seen(each) for each in told["done"])


# --- tickets --------------------------------------------------------------------------------------------------


def ticket_page(told: Told) -> Iterator[str]:
    """Render a page of the queue as a table."""
    if not told["tickets"]:
        yield "there is no such ticket"
        return
    rows: list[Row] = [
        (
            row["id"],
            ("^" if row["pinned"] else "") + f"{row['rank_score']:g}",
            state(row["status"]),
            row["type"],
            row["source"],
            seen(row["claimed_by"] or row["parent_node_id"] or row["parent_policy"], 16),
            seen(row["title"], 34),
        )
        for row in told["tickets"]
    ]
    yield from table(("id", "rank", "status", "type", "source", "held by/from", "title"), rows)
    yield from _more(told)


def tickets_made(told: Told) -> Iterator[str]:
    """Render tickets that were created."""
    for row in told["tickets"]:
        yield f"{click.style(row['id'], bold=True)}  {state(row['status'])}  {row['type']}: {seen(row['title'], 60)}"


def ticket(told: Told) -> Iterator[str]:
    """Render all that is known of a ticket."""
    yield f"{click.style(told['id'], bold=True)}  {state(told['status'])}  {seen(told['title'], 80)}"
    pinned = ", pinned" if told["pinned"] else ""
    yield from fields(
        ("type", told["type"]),
        ("hypothesis", told["hypothesis"]),
        ("instruction", told["instruction"]),
        ("by", f"{told['author']} ({told['source']}), in {told['round_id']}"),
        ("from", f"{told['parent_policy']}" + (f": {told['parent_node_id']}" if told["parent_node_id"] else "")),
        ("reproduces", told["reproduces"]),
        ("requires", ", ".join(told["required_evidence"])),
        ("rank", f"{told['rank_score']:g} points (priority {told['priority']}{pinned})"),
        ("claimed", f"{told['claimed_by']}: {told['claim_reason'] or ''}" if told["claimed_by"] else ""),
        ("node", told["node_id"]),
        ("note", told["note"]),
        ("waits until", told["waits_for"]),
        ("was", past(told["history"])),
    )


def claimed(told: Told) -> Iterator[str]:
    """Render a claim."""
    row = told["ticket"]
    head = f"{click.style(row['id'], bold=True)}  {state(row['status'])}"
    yield f"{head} by {row['claimed_by']}: {seen(row['title'], 60)}"
    command = {"reproduction": "materialize {}", "literature": _COMPLETE, "analysis": _COMPLETE}.get(
        row["type"], "materialize {} --set KEY=VALUE"
    )
    yield click.style(f"  next: `falsify ticket {command.format(row['id'])}`", dim=True)


_COMPLETE: Final = "complete {} --reason TEXT"


def materialized(told: Told) -> Iterator[str]:
    """Render the node that a ticket became."""
    node = told["node"]
    changes = assignments(node["config_mutation"]) or seen(node["change_summary"])
    again = f"reproduces {node['reproduces']} with seed {node['seed']}" if node["reproduces"] else ""
    yield (
        f"{click.style(node['id'], bold=True)}  {state(node['status'])}  from {node['parent_id']}: {again or changes}"
    )
    if node["status"] == "READY":
        yield click.style(f"  next: `falsify run start {node['id']} --reason WHY --wait`", dim=True)


# --- nodes ----------------------------------------------------------------------------------------------------


def node_page(told: Told) -> Iterator[str]:
    """Render nodes as a table."""
    if not told["nodes"]:
        yield "there is no such node"
        return
    rows: list[Row] = [
        (
            row["id"],
            row["parent_id"] or "",
            state(row["status"]),
            measured(row["value"], row["measurement"]),
            (row["decision"] or {}).get("action", "").lower().replace("_", " "),
            row["verdict"] or "",
            _what(row),
        )
        for row in told["nodes"]
    ]
    yield from table(("id", "from", "status", "measured", "decision", "verdict", "what"), rows)
    yield from _more(told)


def _what(row: Told) -> str:
    if row["reproduces"]:
        return f"reproduces {row['reproduces']}, seed {row['seed']}"
    if not row["parent_id"]:
        return "the baseline"
    return clip(assignments(row["config_mutation"]) or seen(row["change_summary"]), 36)


def node(told: Told) -> Iterator[str]:
    """Render all that is known of a node."""
    roles = f"  {' and '.join(told['roles'])}" if told["roles"] else ""
    yield f"{click.style(told['id'], bold=True)}  {state(told['status'])}{click.style(roles, fg='green')}"
    shown = measured(told["value"], told["measurement"])
    decision = told["decision"]
    others = [f"{name} {number(value)}" for name, value in told["metrics"].items() if name != told["metric"]]
    yield from fields(
        (told["metric"], Styled(f"{shown} ({told['measurement']})") if told["measurement"] else ""),
        ("beside it", ", ".join(others)),
        ("from", told["parent_id"]),
        ("ticket", told["ticket_id"]),
        ("reproduces", told["reproduces"]),
        ("changes", assignments(told["config_mutation"])),
        ("summary", told["change_summary"]),
        ("config", f"{assignments(told['config'])}, seed {told['seed']}"),
        ("note", told["note"]),
        ("children", ", ".join(told["children"])),
        ("decision", f"{decision['id']} {decision['action']}, {decision['verdict']}" if decision else ""),
        ("missing", ", ".join(told["missing_evidence"])),
        ("was", past(told["history"])),
    )
    for run in told["runs"]:
        yield f"  {run['id']}  {state(run['status'])}  {run['seconds']:g} of at most {run['limit_seconds']:g} s"
    yield from (f"  {line}" for line in exhibit_rows(told["evidence"]))


def comparison(told: Told) -> Iterator[str]:
    """Render one node held against another."""
    against = told["against_node_id"]
    yield f"{click.style(told['node_id'], bold=True)} against {click.style(against or 'nothing', bold=True)}"
    rows: list[Row] = [
        (told["metric"], number(told["value"]), number(told["reference"]), signed(told["delta"])),
        *((name, number(pair["node"]), number(pair["against"]), "") for name, pair in told["differing_keys"].items()),
    ]
    rows = [tuple(clip(cell, 30) for cell in row) for row in rows]
    yield from (f"  {line}" for line in table(("", told["node_id"], against or "", "difference"), rows))
    yield from fields(
        ("measured", f"{told['node_id']} {told['measurement']}" if told["measurement"] else ""),
        ("against", f"{against} {told['against_measurement']}" if told["against_measurement"] else ""),
        ("effect", _threshold(told, "minimum_effect")),
        ("noise", _threshold(told, "noise_floor")),
        ("reproduces", _reproduced(told["reproduction"])),
        ("missing", ", ".join(told.get("missing_evidence", ()))),
        ("decision", told["decision_id"]),
    )
    verdict = f"the numbers say {state(told['verdict'])}" if told["verdict"] else "no verdict"
    head, *rest = wrapped(f"{click.unstyle(verdict)}: {seen(told['because'])}", indent=4)
    yield f"  {verdict}{head.lstrip().removeprefix(click.unstyle(verdict))}"
    yield from rest


def _reproduced(told: Told | None) -> str:
    if told is None:
        return ""
    where = "within" if told["within_tolerance"] else "beyond"
    return f"{told['of']}, {where} the tolerance of {told['tolerance']:g}: {told['because']}"


def _threshold(told: Told, name: str) -> str:
    words = name.replace("_", " ")
    return f"{'clears' if told[f'clears_{name}'] else 'does not clear'} the {words} of {told[name]:g}"


# --- decisions ------------------------------------------------------------------------------------------------


def decision_list(told: Iterable[Told]) -> Iterator[str]:
    """Render decisions as a table."""
    rows: list[Row] = [
        (
            f"{mark(row['state'])} {row['id']}",
            row["node_id"],
            row["action"].lower().replace("_", " "),
            state(row["verdict"]),
            f"{number(row['value'])} against {number(row['reference'])}",
            row["decided_by"],
            seen(row["rationale"], 30),
        )
        for row in told
    ]
    if not rows:
        yield "nothing is decided yet"
        return
    yield from table(("id", "node", "action", "verdict", "measured", "by", "rationale"), rows)


def decision(told: Told) -> Iterator[str]:
    """Render all that is known of a decision."""
    action = told["action"].lower().replace("_", " ")
    yield f"{mark(told['state'])} {click.style(told['id'], bold=True)}  {action} {told['node_id']}, {told['verdict']}"
    against = f" against {number(told['reference'])} of {told['against_node_id']}" if told["against_node_id"] else ""
    yield from fields(
        ("state", told["state"]),
        (told["metric"], f"{number(told['value'])}{against}; the numbers say {told['measured_verdict']}"),
        ("rationale", told["rationale"]),
        ("rests on", ", ".join(told["evidence_refs"])),
        ("by", told["decided_by"]),
        ("incumbent", f"it was {told['previous_incumbent'] or 'none'}" if told["action"] == "PROMOTE" else ""),
    )
    yield from lost(told["losses"])
    if told["losses"]:
        yield click.style(f"  the whole chain: `falsify why {told['id']}`", dim=True)


def committed(told: Told) -> Iterator[str]:
    """Render a decision that was made, and what followed from it."""
    row, moved = told["decision"], told["incumbent"]
    action = row["action"].lower().replace("_", " ")
    yield f"{mark(row['state'])} {click.style(row['id'], bold=True)}  {action} {row['node_id']}, {row['verdict']}"
    if moved["before"] != moved["after"]:
        yield f"  {mark('alive')} the incumbent is {moved['after']}; it was {moved['before'] or 'none'}"
    yield from (f"  {ticket_id} is completed" for ticket_id in told["completed_tickets"])
    for change in told["changes"]:
        yield f"  {mark(CHANGES[change['change']])} {change['handle'] or change['id']} {seen(change['text'], 80)}"


def lost(losses: Iterable[Told]) -> Iterator[str]:
    """Render what took something away."""
    for loss in losses:
        head, *rest = wrapped(f"{loss['id']} is {loss['state']}: {seen(loss['because'])}", indent=4)
        yield f"  {mark(loss['state'])} {head.lstrip()}"
        yield from rest


# --- evidence -------------------------------------------------------------------------------------------------


def exhibit_page(told: Told) -> Iterator[str]:
    """Render a page of evidence as a table, with the previews that were asked for."""
    if not told["evidence"]:
        yield "there is no such evidence"
        return
    yield from exhibit_rows(told["evidence"])
    for row in told["evidence"]:
        if row.get("preview"):
            yield f"{click.style(row['id'], bold=True)}  {seen(row['name'])}"
            yield from visible(str(row["preview"]))
    yield from _more(told)


def exhibit_rows(rows: Iterable[Told]) -> Iterator[str]:
    """Render evidence as a table, or nothing."""
    cells: list[Row] = [
        (
            row["id"],
            row["kind"],
            seen(row["name"], 30),
            seen(row["media_type"], 24),
            f"{row['size']:,} B",
            row["run_id"] or "a person",
            row["sha256"][:12],
        )
        for row in rows
    ]
    if cells:
        yield from table(("id", "kind", "name", "type", "size", "from", "sha256"), cells)


def exhibit(told: Told) -> Iterator[str]:
    """Render a piece of evidence, whether its file is what was stored, and how it begins."""
    yield f"{click.style(told['id'], bold=True)}  {told['kind']}  {seen(told['name'])}"
    yield from fields(
        ("node", told["node_id"]),
        ("from", told["run_id"] or "a person"),
        ("type", told["media_type"]),
        ("size", f"{told['size']:,} bytes"),
        ("sha256", told["sha256"]),
        ("file", Styled(click.style(seen(told["fault"]), fg="red")) if told["fault"] else Styled(seen(told["path"]))),
    )
    if told["preview"]:
        yield ""
        yield from visible(told["preview"])


# --- words ----------------------------------------------------------------------------------------------------


class Styled(str):
    """A line of ours that holds our own colours; nothing of it was written by others."""

    __slots__ = ()


def fields(*pairs: tuple[str, str | None]) -> Iterator[str]:
    """Render names with their values, those that have one; what is not Styled is made harmless, and wrapped."""
    there = [(name, value) for name, value in pairs if value]
    width = max((len(name) for name, _ in there), default=0)
    for name, value in there:
        head, *rest = [value] if isinstance(value, Styled) else wrapped(seen(value), indent=width + 4)
        yield f"  {name:<{width}}  {head.lstrip()}"
        yield from rest


def wrapped(line: str, *, indent: int) -> list[str]:
    """Return a line as several, indented, that fit into the columns; at least one."""
    margin = " " * indent
    return textwrap.wrap(line, WIDTH, initial_indent=margin, subsequent_indent=margin) or [margin]


def seen(text: str, width: int = 0) -> str:
    """Return what others wrote as one line that does nothing to a terminal, cut to a width if there is one."""
    line = " ".join(harmless(text).split())
    return clip(line, width) if width else line


def visible(text: str) -> Iterator[str]:
    """Return the lines of a text without what would do something to a terminal."""
    yield from harmless(text).splitlines()


def clip(text: str, width: int) -> str:
    """Return a line, cut to a width."""
    return text if len(text) <= width else text[: width - 1] + ("…" if unicode_out() else "~")


def mark(name: str) -> str:
    """Return the sign of a truth-state."""
    sign, plain, color = MARKS[name]
    return click.style(sign if unicode_out() else plain, fg=color)


def state(name: str) -> str:
    """Return a state or a verdict in its colour."""
    return click.style(name, fg=COLORS[name]) if name in COLORS else name


def measured(value: float | None, truth: str | None) -> str:
    """Return a measurement with the sign of its truth-state."""
    shown = "" if value is None else number(value)
    return f"{mark(truth)} {shown}".rstrip() if truth else shown


def number(value: object) -> str:
    """Return a value as people read it."""
    if value is None:
        return "nothing"
    return f"{value:.6g}" if isinstance(value, float) else seen(str(value))


def signed(value: float | None) -> str:
    """Return a difference."""
    return "" if value is None else f"{value:+.6g}"


def assignments(config: Mapping[str, Any]) -> str:
    """Return a configuration in a line."""
    return ", ".join(f"{name} {number(value)}" for name, value in config.items())


def past(history: Iterable[Told]) -> str:
    """Return the states that something was in, with the revisions at which it became so."""
    return ", ".join(f"{each['status']} at {each['revision']}" for each in history)


def bullet() -> str:
    """Return the sign of an item of a list."""
    return "•" if unicode_out() else "*"


def _more(told: Told) -> Iterator[str]:
    if told.get("nextCursor"):
        yield click.style(f"more with --cursor {told['nextCursor']}", dim=True)
