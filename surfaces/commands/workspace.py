"""Commands about the workspace itself: init, export, import, status, doctor, completion."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from surfaces.commands.session import Session, common, note, whole_file

if TYPE_CHECKING:
    from surfaces.workspace import Workspace


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@common
def init(session: Session, folder: Path) -> None:
    """Make a folder a workspace: it gets a log. One that is a workspace already stays as it is."""
    from surfaces.text import initialised
    from surfaces.workspace import FOLDER, Workspace

    root = session.folder or folder
    existed = (root / FOLDER).is_dir()
    with Workspace.init(root.resolve()) as workspace:
        told = {"workspace": str(workspace.root), "log": workspace.settings.log, "existed": existed}
    session.show(told, initialised)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), default="-")
@common
def export(session: Session, file: Path) -> None:
    """Write the log as JSON Lines, with its hashes: all that a workspace is, but for the files of evidence.

    Those are in .falsify/artifacts/; the log has their hashes. Copy that folder too.
    """
    from falsify.transfer import export_log

    with session.workspace() as workspace:
        lines = 0
        with _opened(file) as out:
            for line in export_log(workspace.log):
                out.write(line)
                lines += 1
    note(f"wrote {lines} lines")


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """Open a file to write to, or standard output for `-`. Raises UnavailableError if it cannot be written."""
    from falsify.errors import UnavailableError

    if str(file) == "-":
        yield sys.stdout.buffer
        return
    try:
        with whole_file(file, "wb") as out:
            yield out
    except OSError as error:
        raise UnavailableError(f"{file} cannot be written: {error.strerror}", hint="name another file") from error


@click.command("import")
@click.argument("file", type=click.File("rb"))
@common
def import_(session: Session, file: BinaryIO) -> None:
    """Read an exported log into this workspace, which must be empty; every hash is checked.

    Says how many files of evidence are not here: copy .falsify/artifacts/ of the workspace that was exported.
    """
    from falsify.transfer import import_log

    with session.workspace() as workspace:
        import_log(workspace.log, file)
        head = workspace.log.head()
        told = {"position": head.position, "hash": head.hash.hex(), "missing_files": _missing(workspace)}
    session.show(told, lambda t: [f"read {t['position']} records; the log ends with {t['hash'][:16]}"])
    if told["missing_files"]:
        note(f"files of evidence that are not here: {told['missing_files']}; copy .falsify/artifacts/ from there")


def _missing(workspace: "Workspace") -> int:
    """Return how many files of evidence the log speaks of that are not here."""
    from surfaces.approvals import projects

    exhibits = {e.exhibit.sha256: e.exhibit for each in projects(workspace) for e in each.project.evidence.values()}
    return sum(bool(workspace.artifacts.check(each.sha256, each.size)) for each in exhibits.values())


@click.command()
@common
def status(session: Session) -> None:
    """Where log, claims index and mirror stand.

    Keep the anchor it prints: `falsify verify --anchor` holds the log to it.
    """
    from surfaces.health import status as stand
    from surfaces.text import standing

    with session.workspace() as workspace:
        session.show(stand(workspace), standing)


@click.command()
@common
def doctor(session: Session) -> int:
    """Check this machine and this installation: Python, packages, bundled models, judge, workspace."""
    from surfaces.health import examine
    from surfaces.text import examined

    findings = examine(session.folder)
    session.show(findings, examined)
    return 0 if all(finding["ok"] for finding in findings) else session.fail("something here needs attention")


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    Put `eval "$(falsify completion bash)"` into ~/.bashrc, or the like for zsh; for fish, save it as
    ~/.config/fish/completions/falsify.fish.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click has no completion for {shell}")
    click.echo(kind(click.get_current_context().find_root().command, {}, "falsify", "_FALSIFY_COMPLETE").source())
