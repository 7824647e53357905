"""Commands about time: log, timeline, replay, diff, record-golden."""

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surfaces.commands.session import Session, at_a_cutoff, common, cutoff, note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from falsify.events import Recorded


@click.command()
@click.option("-n", "--last", type=click.IntRange(min=1), help="Only the last so many records.")
@click.option("--after", type=click.IntRange(min=0), default=0, help="Only what comes after this position.")
@click.option("--node", help="Only what speaks of this node.")
@common
def log(session: Session, last: int | None, after: int, node: str | None) -> None:
    """List what was recorded: position, epoch, time, actor, and the event."""
    from surfaces.answers import record
    from surfaces.text import records

    with session.workspace() as workspace:
        wanted = workspace.find(node).id if node else None
        told = (
            record(workspace.graph, r, workspace.project) for r in _last(workspace.records(after=after), last, wanted)
        )
        if session.as_json:
            session.show(list(told), lambda _: ())
        else:
            for line in records(told):
                click.echo(line)


@click.command()
@common
def timeline(session: Session) -> None:
    """One line for each epoch: what started the revision, what died, what rose."""
    from projections.timeline import TIMELINE, lines
    from replay.replayer import replay as over
    from surfaces.text import epochs

    with session.workspace() as workspace:
        session.show(lines(over(workspace.log, workspace.stream, TIMELINE)), epochs)


@click.command()
@click.argument("more", nargs=-1, type=click.Path(path_type=Path), metavar="[GOLDEN]...")
@at_a_cutoff
@click.option("--digest", "only_digest", is_flag=True, help="Print one line: the digest of the state.")
@click.option(
    "--mirror",
    "mirror_to",
    type=click.Path(path_type=Path),
    help="Build the Cognee graph of that point in this folder.",
)
@click.option(
    "--check",
    "golden",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Run a replay test (NAME.golden.yaml) instead.",
)
@common
def replay(
    session: Session,
    valid_at: str,
    only_digest: bool,
    mirror_to: Path | None,
    golden: tuple[Path, ...],
    more: tuple[Path, ...],
    **when: Any,
) -> int:
    """What was believed at an epoch, a position or a date: the same prefix gives the same bytes, everywhere.

    --as-of asks what was known then; --valid-at what was true then; they compose. With --check no workspace is needed.
    """
    if more and not golden:
        raise click.UsageError("files are for --check: a point in the log is named by --epoch, --position or --as-of")
    if golden:
        return _check(session, (*golden, *more))
    from projections.beliefs import digest
    from surfaces.text import replayed

    with session.workspace() as workspace:
        view = workspace.view(cutoff(**when), valid_at=valid_at)
        if mirror_to is not None:
            workspace.mirror.export_to(mirror_to, view.graph, view.position)
            note(f"Cognee's graph at position {view.position} is in {mirror_to}")
        if only_digest:
            click.echo(digest(view.graph))
        else:
            session.show(view.as_json(), replayed)
    return 0


@click.command()
@click.argument("before")
@click.argument("after", default="now")
@click.option("--valid-at", metavar="DATE", default="", help="Compare what was true at this date.")
@common
def diff(session: Session, before: str, after: str, valid_at: str) -> None:
    """What changed between two points of the log.

    A point is an epoch (3 or epoch:3), a position (position:120), a date (2021-03-15), or now.
    """
    from replay.cutoff import parse
    from replay.diff import diff as compare
    from surfaces.text import differences

    with session.workspace() as workspace:
        old = workspace.view(parse(before), valid_at=valid_at)
        new = workspace.view(parse(after), valid_at=valid_at)
        told = {"before": before, "after": after, **compare(old.graph, new.graph)}
        session.show(told, differences)


@click.command("record-golden")
@click.argument("name")
@click.option("--out", "folder", type=click.Path(path_type=Path), default=Path(), help="The folder to write to.")
@click.option("--query", "queries", multiple=True, help="A recall whose result the test expects, at every epoch.")
@click.option("--force", is_flag=True, help="Overwrite.")
@common
def record_golden(session: Session, name: str, folder: Path, queries: tuple[str, ...], force: bool) -> None:
    """Write a replay test of this log: NAME.log.jsonl and NAME.golden.yaml.

    Commit both; `falsify replay --check NAME.golden.yaml`, or pytest, replays them.
    """
    from replay.recording import record

    with session.workspace() as workspace:
        paths = record(
            workspace.log,
            workspace.stream,
            name=name,
            folder=folder,
            queries=queries,
            embedder=workspace.embedder,
            force=force,
        )
    session.show({"written": [str(path) for path in paths]}, lambda told: (f"wrote {path}" for path in told["written"]))


def _check(session: Session, goldens: tuple[Path, ...]) -> int:
    from falsify.embedders.bundled import BundledEmbedder
    from replay.scenario import check
    from surfaces.text import checked

    embedder = BundledEmbedder()
    reports = [check(path, embedder=embedder) for path in goldens]
    session.show([report.as_json() for report in reports], checked)
    failed = sum(not report.ok for report in reports)
    return session.fail(f"{failed} of {len(reports)} replay tests failed") if failed else 0


def _last(records: "Iterable[Recorded]", number: int | None, wanted: str | None) -> "Iterable[Recorded]":
    """Return the records that speak of a node, or only the last of them: other projects and the brain come between."""
    found = (r for r in records if _speaks_of(r.event.__dict__, wanted))
    return found if number is None else deque(found, maxlen=number)


def _speaks_of(body: dict[str, Any], node_id: str | None) -> bool:
    return node_id is None or any(
        value == node_id or (isinstance(value, tuple) and node_id in value) for value in body.values()
    )
