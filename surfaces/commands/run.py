"""Commands about runs: run start, cancel, list, show; and waiting for one."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from falsify.errors import CheckFailedError
from surfaces.commands.session import Session, at_a_point, note, research, tool_input, whole_file, writes
from surfaces.commands.ticket import UNSAID

if TYPE_CHECKING:
    from falsify.workbench.project import Run
    from surfaces.running.waiting import Progress
    from surfaces.workbench import Workbench

STATUSES = ("QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED")

_STEPS: Final = 1000
"""How finely a bar is divided."""


@click.group()
def run() -> None:
    """Runs: attempts to measure a node, which a worker executes.

    A run that exits with 0 and a finite primary metric freezes its node with all that it left. One that fails leaves
    the node to be repaired, and says why.
    """


@run.command()
@click.argument("node")
@click.option("--reason", default=UNSAID, help="Why it is to run now.")
@click.option("--wait", is_flag=True, help="Execute the queue here until it has ended, and show how it goes.")
@writes
@research
def start(session: Session, node: str, reason: str, wait: bool, key: str | None, dry_run: bool) -> int:
    """Queue a run of a node; `falsify worker` executes it, or --wait does it here.

    Runs that were queued before come first. With --wait it ends with 0 if the run succeeded, and with 1 if not; --json
    is then what `run show` says of the run.
    """
    import orjson

    from surfaces.lines.run import queued
    from surfaces.tools.workbench_acts import start_run

    with session.workbench() as workbench:
        work = start_run(tool_input("falsify.run.start", workbench.project_id, node_id=node, reason=reason))
        caller = workbench.workspace.settings.actor
        answer = workbench.perform(work, caller=caller, key=key, dry_run=dry_run)
        told = orjson.loads(answer.response)
        follows = wait and told["ok"] and not dry_run
        if session.as_json and follows:
            return follow(session, workbench, told["result"]["run"]["id"])
        code = session.answer(answer, queued, dry_run=dry_run)
        return follow(session, workbench, told["result"]["run"]["id"]) if follows else code


@run.command()
@click.argument("run_id", metavar="RUN")
@click.option("--reason", default=UNSAID, help="Why it is called off.")
@writes
@research
def cancel(session: Session, run_id: str, reason: str, key: str | None, dry_run: bool) -> int:
    """Call a run off that is queued or goes on. What it spent of the budget is not given back."""
    from surfaces.lines.run import cancelled
    from surfaces.tools.workbench_acts import cancel_run

    with session.workbench() as workbench:
        work = cancel_run(tool_input("falsify.run.cancel", workbench.project_id, run_id=run_id, reason=reason))
        return session.perform(workbench, work, cancelled, key=key, dry_run=dry_run)


@run.command("list")
@click.option("--status", "statuses", type=click.Choice(STATUSES), multiple=True, help="Only those that are so.")
@at_a_point
@research
def list_(session: Session, statuses: tuple[str, ...], **when: Any) -> None:
    """List the runs of the project, in the order in which they were queued."""
    from surfaces.lines.run import run_list

    with session.workbench(**when) as workbench:
        chosen = [each for each in workbench.project.runs.values() if not statuses or each.status in statuses]
        session.show([_row(workbench, each) for each in chosen], run_list)


@run.command()
@click.argument("run_id", metavar="RUN")
@click.option("--log", "with_log", is_flag=True, help="With the end of what it printed.")
@click.option("--curve", "picture", type=click.Path(path_type=Path), help="Draw the primary metric's curve: an SVG.")
@at_a_point
@research
def show(session: Session, run_id: str, with_log: bool, picture: Path | None, **when: Any) -> int:
    """Show one run: how it stands, what it measured, and the curve of the primary metric."""
    from surfaces.lines import run as run_lines
    from surfaces.running.waiting import Follower

    def render(_told: Any) -> Iterator[str]:
        yield from run_lines.run(progress)
        if with_log and not (workbench.through is not None and progress.run.active):
            yield from run_lines.log(_log(workbench, progress.run))

    with session.workbench(**when) as workbench:
        progress = Follower(workbench, run_id).look()
        if picture is not None:
            _draw(picture, workbench, progress)
        wanted: dict[str, Any] = {"include_log_preview": True, "log_preview_bytes": 8192} if with_log else {}
        return session.read(workbench, "falsify.run.get", render, run_id=run_id, **wanted)


def follow(session: Session, workbench: "Workbench", run_id: str) -> int:
    """Wait for a run, executing the queue meanwhile; show how it goes and how it ended, and return the exit code."""
    from surfaces.lines import run as run_lines
    from surfaces.running.waiting import wait

    with _bar(session, run_id) as show_progress, _interruptible():
        progress = wait(
            workbench.workspace,
            workbench.project_id,
            run_id,
            show=show_progress,
            watch=lambda told: None if told.run_id else note(run_lines.notice(told)),
        )
    if session.as_json:
        session.read(workbench, "falsify.run.get", lambda _: (), run_id=run_id)
    else:
        for line in (*run_lines.drawn(progress), *run_lines.outcome(progress)):
            click.echo(line)
    return 0 if progress.run.status == "SUCCEEDED" else CheckFailedError.exit_code


@contextmanager
def _interruptible() -> Iterator[None]:
    """Take SIGTERM for Ctrl-C for the time of a `with` block: what goes on here is ended, and recorded as failed."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _bar(session: Session, run_id: str) -> "Iterator[Callable[[Progress], None]]":
    """Give what shows how far a run is: a bar on stderr, if somebody is there to see it."""
    from surfaces.lines import run as run_lines
    from surfaces.running.waiting import unshown

    if not sys.stderr.isatty() or session.as_json:
        yield unshown
        return
    with click.progressbar(  # not by its steps: where epochs take the place of seconds, it goes back
        length=_STEPS, label=run_id, file=sys.stderr, show_eta=False, item_show_func=lambda text: text or ""
    ) as bar:

        def show_progress(progress: "Progress") -> None:
            bar.pos, bar.current_item = round(progress.share * _STEPS), run_lines.bar(progress)
            bar.render_progress()

        yield show_progress


def _row(workbench: "Workbench", known: "Run") -> dict[str, Any]:
    from falsify.workbench.contract import contract_of
    from projections.runs import run_row

    metric = contract_of(workbench.project).metric
    row = run_row(known, now=workbench.now)
    return {**row, "note": known.note, "metric": metric, "value": known.metrics.get(metric)}


def _log(workbench: "Workbench", known: "Run") -> str:
    """Return what a run printed: as evidence if it is some, else as it lies in its folder."""
    from projections.exhibits import run_log
    from surfaces.running.evidence import read_log
    from surfaces.running.folders import folder_of

    stored = run_log(workbench.project, known.id)
    if stored is None:
        return read_log(folder_of(workbench.workspace.folder, workbench.project_id, known.id).log)
    return workbench.workspace.artifacts.read(stored.exhibit.sha256).decode(errors="replace")


def _draw(picture: Path, workbench: "Workbench", progress: "Progress") -> None:
    from falsify.errors import UnavailableError
    from surfaces.lines.plots import curve, svg

    known = progress.run
    title = f"{progress.metric} of {known.node_id}, run {known.id} in {workbench.project_id}"
    try:
        with whole_file(picture, "wb") as file:
            file.write(svg(curve(progress.lines, progress.metric), title=title).encode())
    except OSError as error:
        raise UnavailableError(f"{picture} cannot be written: {error.strerror}", hint="name another file") from error
    note(f"the curve is in {picture}")
