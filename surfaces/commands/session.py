"""What all commands share: the common options, the workspace they work on, and how an answer is printed."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from falsify.errors import CheckFailedError

if TYPE_CHECKING:
    from replay.cutoff import Cutoff
    from surfaces.workspace import Outcome, Workspace

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class Session:
    """One call of one command."""

    def __init__(self, folder: str | None, *, as_json: bool) -> None:
        self.folder = Path(folder) if folder else None
        self.as_json = as_json

    @contextmanager
    def workspace(self, **options: Any) -> "Iterator[Workspace]":
        """Open the workspace for the time of a `with` block."""
        from surfaces.workspace import Workspace

        with Workspace.open(self.folder, **options) as workspace:
            yield workspace

    def show(self, value: Any, render: Callable[[Any], Iterable[str]]) -> None:
        """Print a value: as one JSON document under --json, else as the lines that `render` makes of it."""
        if self.as_json:
            self.show_bytes(_dump(value))
        else:
            for line in render(value):
                click.echo(line)

    def outcome(self, outcome: "Outcome", render: Callable[[Any], Iterable[str]]) -> None:
        """Print what a command came to; under --json the very bytes that its idempotency key keeps."""
        if self.as_json:
            self.show_bytes(outcome.response)
            return
        if outcome.replayed:
            note("this key was used before with the same words: here is the first answer again")
        self.show(outcome.as_json(), render)

    def fail(self, message: str) -> int:
        """Return the exit code of a check that failed; say so, unless the JSON document shown has said it."""
        if not self.as_json:
            raise CheckFailedError(message)
        return CheckFailedError.exit_code

    def show_bytes(self, document: bytes) -> None:
        """Print a document as it is, with one newline after it."""
        sys.stdout.flush()
        sys.stdout.buffer.write(document.rstrip(b"\n") + b"\n")
        sys.stdout.flush()

    def progress(self, items: Iterable[T], *, length: int, label: str) -> Iterator[T]:
        """Yield the items behind a progress bar on stderr, if somebody is there to see it."""
        if not sys.stderr.isatty() or self.as_json:
            yield from items
            return
        with click.progressbar(items, length=length, label=label, file=sys.stderr) as bar:
            yield from bar


def note(text: str) -> None:
    """Say something to the person at the terminal, beside the data."""
    click.echo(click.style(text, dim=True), err=True)


def common(command: F) -> F:
    """Give a command --workspace and --json, and its Session as the first argument."""

    @wraps(command)
    def wrapped(*, workspace_folder: str | None, as_json: bool, **options: Any) -> Any:
        named = workspace_folder or (click.get_current_context().obj or {}).get("folder")
        return command(Session(named, as_json=as_json), **options)

    given = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(wrapped)
    given = click.option("-w", "--workspace", "workspace_folder", type=click.Path(), help="The workspace.")(given)
    return cast("F", given)


def writes(command: F) -> F:
    """Give a command that writes --key and --dry-run."""
    command = click.option("--dry-run", is_flag=True, help="Show what would follow; append nothing.")(command)
    return click.option("--key", help="Idempotency key: the same key and words are carried out once.")(command)


def at_a_cutoff(command: F) -> F:
    """Give a command that reads --epoch, --position, --as-of and --valid-at."""
    options = (
        click.option("--epoch", type=click.IntRange(min=0), help="At the end of this epoch."),
        click.option("--position", type=click.IntRange(min=0), help="At this position of the log."),
        click.option("--as-of", metavar="DATE", help="What was known at this date."),
        click.option(
            "--valid-at", metavar="DATE", default="", help="What was true at this date: only claims made by then."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def cutoff(epoch: int | None, position: int | None, as_of: str | None) -> "Cutoff":
    """Return the cutoff that the options name."""
    from replay.cutoff import Cutoff

    return Cutoff(epoch=epoch, position=position, as_of=as_of)


def _dump(value: Any) -> bytes:
    import orjson

    return orjson.dumps(value, option=orjson.OPT_INDENT_2)
