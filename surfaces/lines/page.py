"""Pages as text for people: what an import or export came to, lists of pages and of their versions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from falsify.brain.comparison import NAMED
from falsify.brain.library import Version
from falsify.brain.page import Page
from projections.pages import PageView
from surfaces.terminal import printable


def page_row(view: PageView, page: Page) -> dict[str, Any]:
    """Return what a list tells of a page."""
    version = view.versions[page.rel_path]
    return {
        "rel_path": page.rel_path,
        "title": page.title,
        "type": page.type,
        "department": page.department,
        "lifecycle_status": page.lifecycle_status,
        "updated": page.updated or version.known_at[:10],
        "author": version.author,
    }


def version_row(version: Version) -> dict[str, Any]:
    """Return what a history tells of a version."""
    return {
        "known_at": version.known_at,
        "rel_path": version.rel_path,
        "change": "moved" if version.moved_from else "recorded",
        "moved_from": version.moved_from,
        "author": version.author,
        "commit": version.commit,
        "position": version.position,
    }


def imported(told: dict[str, Any]) -> Iterator[str]:
    """Render what an import came to."""
    if told["dry_run"]:
        yield click.style("Dry run: nothing was appended. This would follow:", fg="cyan")
    yield _came_to(told)
    if told["org"] is not None:
        yield from _org(told["org"])
    yield from _faults(told["faults"], "not recorded")
    if told["faults_in_history"]:
        number = len(told["faults_in_history"])
        yield f"{number} {_plural(number, 'earlier version')} in the history could not be read; --json lists them"
    for path in told["behind"]:
        yield f"{path}: the folder has an earlier version than the brain, which keeps its own"
    for path in told["only_here"]:
        yield f"{path}: written here, and not in the folder; `falsify brain export FOLDER` writes it there"
    for group in told["cycles"]:
        yield click.style(f"supersede each other in a circle: {', '.join(group)}", fg="yellow")
    for group in told["twins"]:
        yield click.style(f"differ only in upper and lower case: {', '.join(group)}", fg="yellow")
    if told["history_unread"]:
        yield click.style("neither the history nor .gitignore was read: ", fg="yellow") + told["history_unread"]
    if told["shallow"]:
        yield "the history was cut off when it was fetched: `git fetch --unshallow` brings the rest"
    yield from _passed_over(told)


def exported(told: dict[str, Any]) -> Iterator[str]:
    """Render what an export came to."""
    moment = f" as they were known at {told['known_at']}" if told["known_at"] else ""
    yield f"wrote {told['written']} {_plural(told['written'], 'file')} to {told['folder']}{moment}"
    yield from _faults(told["faults"], "not written")
    for group in told["twins"]:
        yield click.style(f"differ only in upper and lower case: {', '.join(group)}", fg="yellow")


def listed(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Render a list of pages."""
    if not rows:
        yield "no pages"
        return
    width = max(len(row["rel_path"]) for row in rows)
    for row in rows:
        state = "" if row["lifecycle_status"] == "active" else f" ({row['lifecycle_status']})"
        yield printable(f"{row['rel_path']:<{width}}  {row['updated']}  {row['type']}  {row['title']}{state}")


def versions(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Render the history of a page."""
    for row in rows:
        change = f"moved from {row['moved_from']}" if row["moved_from"] else row["change"]
        told = (row["known_at"], row["commit"][:10] or "-", row["author"] or "-", change)
        yield printable("  ".join(told))


def _came_to(told: dict[str, Any]) -> str:
    """Return what was recorded, in one line; of a folder without pages that it has none."""
    counted = {name: told[name] for name in ("recorded", "moved", "removed")}
    if not (told["files"] or told["faults"] or any(counted.values())):
        return f"{told['folder']} has no pages: a page is a file whose name ends with .md"
    counts = ", ".join(f"{number} {name}" for name, number in counted.items())
    source = " and their git history" if told["history"] else ""
    return f"{told['folder']}: {counts} ({told['files']} {_plural(told['files'], 'file')}{source})"


def _org(org: dict[str, Any]) -> Iterator[str]:
    if "error" in org:
        yield click.style("org map not accepted: ", fg="red") + org["error"]["message"]
        if org["error"]["hint"]:
            yield f"  {org['error']['hint']}"
    elif org["accepted"]:
        yield "the org map was accepted"
    for warning in org.get("warnings", ()):
        yield f"  {warning}"


def _faults(faults: Iterable[dict[str, Any]], what: str) -> Iterator[str]:
    for fault in faults:
        yield click.style(f"{what}: ", fg="red") + printable(fault["message"])
        if fault["hint"]:
            yield f"  {fault['hint']}"


def _passed_over(told: dict[str, Any]) -> Iterator[str]:
    parts = [f"{told['personal']} personal (never recorded)"] * bool(told["personal"])
    if templates := told["templates"]:
        parts.append(f"{len(templates)} {_plural(len(templates), 'template')} ({_some(templates)})")
    parts += [f"{told['beside']} beside memory/"] * bool(told["beside"])
    are = "is" if told["passed_over"] == 1 else "are"
    parts += [f"{told['passed_over']} that {are} no markdown"] * bool(told["passed_over"])
    if parts:
        yield click.style(f"passed over: {', '.join(parts)}", dim=True)


def _some(paths: Sequence[str]) -> str:
    """Return the first of the paths, and how many there are besides."""
    return printable(", ".join(paths[:NAMED])) + f" and {len(paths) - NAMED} more" * (len(paths) > NAMED)


def _plural(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"
