"""Approvals and tools as text for people. What agents wrote is made harmless before it reaches a terminal."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import click
import orjson

from falsify.workbench.autonomy import MODES
from surfaces.tools.fence import Fence, harmless

LONGEST: Final = 8192
"""Bytes of one argument: whoever approves it sees all of it."""

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


# --- approvals ------------------------------------------------------------------------------------------------


def approval_list(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Render requests, two lines or more each."""
    rows = [_plain(row) for row in rows]
    if not rows:
        yield "nothing waits for approval"
    for row in rows:
        status = "" if row["status"] == "pending" else f"  {row['status']} by {row['decided_by']}"
        head = click.style(row["id"], bold=True)
        yield f"{head}  {row['project_id']}  {row['tool']}  {row['asked_by']}  {_ago(row['age_seconds'])}{status}"
        yield from (f"  {effect}" for effect in row["effects"])


def approval(told: Mapping[str, Any]) -> Iterator[str]:
    """Render all there is to know about a request, or about a proposal to the brain."""
    if "findings" in told:
        yield from _proposal(told)
        return
    told = _plain(told)
    yield f"{click.style(told['id'], bold=True)}  {told['tool']}  {told['status']}"
    asked = f"asked by {told['asked_by']} {_ago(told['age_seconds'])}, at {told['asked_at']}"
    yield f"  project {told['project_id']}, {asked}"
    if told["reason"]:
        yield f"  because: {told['reason']}"
    yield "arguments"
    yield from (f"  {path}: {value}" for path, value in _flat("", told["arguments"]))
    if told["status"] == "pending":
        yield "what it would do" + (" now" if told["would_do"] else "")
        yield from (f"  {effect}" for effect in told["would_do"] or told["effects"])
    yield "what it relies on"
    yield from map(_fact, told["relies_on"])
    yield from _changes(told)
    if told["status"] != "pending":
        note = f": {told['note']}" if told["note"] else ""
        yield f"{told['status']} by {told['decided_by']}{note}"
        yield from (f"  {done}" for done in told["done"])
    elif told["can_be_carried_out"]:
        yield click.style("it can be carried out", fg="green")
    else:
        yield click.style("it cannot be carried out any more", fg="red")
        yield from (f"  {obstacle}" for obstacle in told["obstacles"])


def approval_changes(told: Mapping[str, Any]) -> Iterator[str]:
    """Render what has changed in the project since a request was made; of a proposal, what the guard noticed."""
    if "findings" in told:
        yield from _findings(_plain(told["findings"]))
    else:
        yield from _changes(_plain(told))


def _proposal(written: Mapping[str, Any]) -> Iterator[str]:
    """Render a proposal: what is proposed as it would be recorded, line by line behind a mark that it cannot forge."""
    told = _plain({name: value for name, value in written.items() if name != "arguments"})
    yield f"{click.style(told['id'], bold=True)}  {told['tool']}  {told['status']}"
    yield f"  proposed by {told['asked_by']} {_ago(told['age_seconds'])}, at {told['asked_at']}"
    arguments = dict(written["arguments"])
    text = arguments.pop("text", "")
    yield from (f"  {path}: {value}" for path, value in _flat("", _plain(arguments)))
    yield from (f"  | {line}" for line in harmless(text).splitlines())
    yield "what it would do" + (" now" if told["would_do"] else "")
    yield from (f"  {effect}" for effect in told["would_do"] or told["effects"])
    yield from _findings(told["findings"])
    if told["status"] != "pending":
        yield f"{told['status']} by {told['decided_by']}" + (f": {told['note']}" if told["note"] else "")
    elif told["can_be_carried_out"]:
        yield click.style("it can be landed", fg="green")
    else:
        yield click.style("it cannot be landed any more", fg="red")
        yield from (f"  {obstacle}" for obstacle in told["obstacles"])


def _findings(findings: Iterable[str]) -> Iterator[str]:
    findings = list(findings)
    yield "what the guard noticed" + ("" if findings else ": nothing")
    yield from (click.style(f"  {finding}", fg="yellow") for finding in findings)


def _changes(told: Mapping[str, Any]) -> Iterator[str]:
    until = "since then" if told["status"] == "pending" else "between request and answer"
    yield f"what has changed in the project {until}" + ("" if told["since"] else ": nothing")
    yield from (f"  {change['recorded_at']}  {change['sentence']}" for change in told["since"])


def approval_done(told: Mapping[str, Any], envelope: Mapping[str, Any]) -> Iterator[str]:
    """Render what became of a request, and what the command warned of."""
    told, warnings = _plain(told), _plain(envelope.get("warnings", ()))
    yield click.style(f"{told['id']} is {told['status']}", bold=True) + f" by {told['decided_by']}"
    yield from (f"  {done}" for done in told["done"])
    yield from (click.style(f"  note: {each}", fg="yellow") for each in warnings)


def _fact(fact: Mapping[str, Any]) -> str:
    holds = click.style("holds", fg="green") if fact["holds"] else click.style(f"it is {fact['now']} now", fg="red")
    return f"  {fact['about']} {fact['value'] or 'nothing'}: {holds}"


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the leaves of a JSON value with where they are: `tickets[0].title`."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _flat(f"{path}.{name}".removeprefix("."), inner)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _flat(f"{path}[{index}]", inner)
    else:
        yield path, value if isinstance(value, str) else orjson.dumps(value).decode()


def _plain(value: Any) -> Any:
    """Return a JSON value in which every text is one line that does nothing to a terminal."""
    if isinstance(value, str):
        return Fence().inline(value, limit=LONGEST)
    if isinstance(value, Mapping):
        return {_plain(name): _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _ago(seconds: int) -> str:
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"


# --- tools ----------------------------------------------------------------------------------------------------


def tool_list(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Render the catalogue: a line for each tool with what an agent's call comes to, and one that says what it is."""
    rows = list(rows)
    width = max(len(row["name"]) for row in rows)
    yield f"{'':{width}}  {'':8}  {'  '.join(f'{mode:12}' for mode in MODES)}".rstrip()
    for row in rows:
        yield f"{row['name']:{width}}  {row['kind']:8}  {_gates(row['gates'])}".rstrip()
        yield click.style(f"  {row['description'].partition('. ')[0].rstrip('.')}.", dim=True)
    yield "answer: reads; act: changes something; transact: throws something away. What asks waits for a person."
    yield "The tools without dots are the brain's: grants decide what they show and take, in every mode."


def tool(row: Mapping[str, Any]) -> Iterator[str]:
    """Render one tool in full."""
    yield f"{click.style(row['name'], bold=True)}  {row['kind']}"
    if row["gates"]:
        yield "  " + ", ".join(f"{mode}: {gate}" for mode, gate in row["gates"].items())
    yield from textwrap.wrap(row["description"], 100, initial_indent="  ", subsequent_indent="  ")
    yield from orjson.dumps(row["inputSchema"], option=orjson.OPT_INDENT_2).decode().splitlines()


def _gates(gates: Mapping[str, str] | None) -> str:
    return "  ".join(f"{gates[mode]:12}" for mode in MODES) if gates else ""
