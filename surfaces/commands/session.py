"""What all commands share: the common options, the workspace they work on, and how an answer is printed."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeVar, cast

import click

from falsify.errors import CheckFailedError, FalsifyError
from falsify.identity import require_project_id

if TYPE_CHECKING:
    from replay.cutoff import Cutoff
    from surfaces.workbench import Answer, Work, Workbench
    from surfaces.workspace import Outcome, Workspace

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class Session:
    """One call of one command."""

    def __init__(self, folder: str | None, *, as_json: bool, project: str = "") -> None:
        self.folder = Path(folder) if folder else None
        self.as_json = as_json
        self.project = project
        self.revision = 0

    @contextmanager
    def workspace(self, **options: Any) -> "Iterator[Workspace]":
        """Open the workspace for the time of a `with` block."""
        from surfaces.workspace import Workspace

        with Workspace.open(self.folder, project=self.project, **options) as workspace:
            yield workspace

    @contextmanager
    def workbench(self, **when: Any) -> "Iterator[Workbench]":
        """Open the research of the project that is worked on, as it is now or as it was at a cutoff.

        Raises NotFoundError where it has none, or had none then.
        """
        from replay.cutoff import NOW
        from surfaces.workbench import Workbench

        with self.workspace() as workspace:
            name, at = workspace.settings.project, cutoff(**when) if when else NOW
            workbench = Workbench(workspace, name) if at == NOW else self._past(workspace, name, at)
            self.revision = workbench.project.revision
            yield workbench

    def _past(self, workspace: "Workspace", name: str, at: "Cutoff") -> "Workbench":
        """Return the research as it was at a cutoff, and say beside the data that it is not of the present."""
        from surfaces.research.past import PastWorkbench

        past = PastWorkbench(workspace, name, at)
        if not self.as_json:
            note(f"{name}, {at}: revision {past.project.revision} of {workspace.log.revision(past.stream)}")
        return past

    def perform(
        self,
        workbench: "Workbench",
        work: "Work",
        render: Callable[[Any], Iterable[str]],
        *,
        key: str | None,
        dry_run: bool,
    ) -> int:
        """Carry a command of research out as who records here, print its envelope, and return its exit code."""
        caller = workbench.workspace.settings.actor
        answer = workbench.perform(work, caller=caller, key=key, dry_run=dry_run)
        return self.answer(answer, render, dry_run=dry_run)

    def read(
        self,
        workbench: "Workbench",
        tool: str,
        render: Callable[[Any], Iterable[str]],
        *,
        warn: bool = True,
        **arguments: Any,
    ) -> int:
        """Ask one of the tools that read, and print its envelope; without `warn`, `render` says what is wrong.

        Arguments that are None or empty are not sent.
        """
        from dataclasses import replace

        from surfaces.tools.catalogue import CATALOGUE
        from surfaces.tools.fence import Fence
        from surfaces.workbench import Answer

        row, fence = CATALOGUE[tool], Fence()
        given = tool_input(tool, workbench.project_id, **arguments)
        if row.read is None:
            raise LookupError(f"{tool} reads nothing")
        envelope = row.read(workbench, given, workbench.workspace.settings.actor, fence)
        if workbench.through is not None:
            envelope = replace(envelope, next_actions=())  # what made sense then need not make sense now
        if not self.as_json:
            # People are not told how a fence works; what it fences is made harmless again where it is shown.
            told = tuple(each for each in envelope.warnings if each != fence.warning) if warn else ()
            envelope = replace(envelope, warnings=told)
        return self.answer(Answer(envelope.to_bytes()), render)

    def answer(self, answer: "Answer", render: Callable[[Any], Iterable[str]], *, dry_run: bool = False) -> int:
        """Print the envelope of an answer, and return its exit code; `render` makes lines of what was done."""
        import orjson

        from surfaces.envelope import STATUSES
        from surfaces.lines.research import enveloped

        told = orjson.loads(answer.response)
        if self.as_json:
            self.show_bytes(answer.response)
        else:
            if answer.replayed:
                note("this key was used before with the same words: here is the first answer again")
            for line in enveloped(told, render, dry_run=dry_run):
                click.echo(line)
        return STATUSES[told["status"]].exit_code

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
        """Print a document as it is, with one newline after it; on a terminal, what would command that is harmless."""
        from surfaces.terminal import printable

        if sys.stdout.isatty():
            document = printable(document.decode("utf-8", "replace")).encode()
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


def project_named(name: str) -> str:
    """Return the id of a project, or empty for none. Raises InvalidInputError for what cannot be one."""
    return require_project_id(name) if name else name


def tool_input(tool: str, project_id: str, **arguments: Any) -> Any:
    """Return the input of a tool: its arguments without those that are None or empty. Raises InvalidInputError."""
    from surfaces.tools.catalogue import CATALOGUE
    from surfaces.tools.schema import parse

    model = CATALOGUE[tool].model
    sent = {name: value for name, value in arguments.items() if value is not None and value not in ((), "", {})}
    if "idempotency_key" in model.model_fields:
        # Who works at the log itself needs no revision, and the key goes beside the arguments.
        sent |= {"idempotency_key": "", "expected_project_revision": 0}
    return parse(model, {"project_id": project_id, **sent})


@contextmanager
def whole_file(path: Path, mode: Literal["wb", "xb"]) -> Iterator[BinaryIO]:
    """Open a file for the time of a `with` block; if that fails, on a full disk say, no half of it stays."""
    file = path.open(mode)  # what cannot be opened is not ours to remove
    try:
        with file:
            yield file
    except BaseException:
        if path.is_file() and not path.is_symlink():
            path.unlink()
        raise


def note(text: str) -> None:
    """Say something to the person at the terminal, beside the data."""
    click.echo(click.style(text, dim=True), err=True)


def common(command: F) -> F:
    """Give a command --workspace, --project and --json, and its Session as the first argument."""

    @wraps(command)
    def wrapped(*, workspace_folder: str | None, project_id: str | None, as_json: bool, **options: Any) -> Any:
        given = click.get_current_context().obj or {}
        folder, project = workspace_folder or given.get("folder"), project_id or given.get("project")
        return command(Session(folder, as_json=as_json, project=project_named(project or "")), **options)

    given = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(wrapped)
    given = click.option("--project", "project_id", metavar="ID", help="The project.")(given)
    given = click.option("-w", "--workspace", "workspace_folder", type=click.Path(), help="The workspace.")(given)
    return cast("F", given)


def research(command: F) -> F:
    """Give a command what `common` gives; under --json its refusals are envelopes, as a tool's are."""

    @wraps(command)
    def wrapped(session: Session, **options: Any) -> Any:
        try:
            return command(session, **options)
        except FalsifyError as error:
            if not session.as_json:
                raise
            from surfaces.envelope import refusal

            session.show_bytes(refusal(error, project_revision=session.revision).to_bytes())
            return error.exit_code

    return cast("F", common(wrapped))


def writes(command: F) -> F:
    """Give a command that writes --key and --dry-run."""
    command = click.option("--dry-run", is_flag=True, help="Show what would follow; append nothing.")(command)
    return click.option("--key", help="Idempotency key: the same key and words are carried out once.")(command)


def at_a_point(command: F) -> F:
    """Give a command that reads --epoch, --position and --as-of."""
    options = (
        click.option("--epoch", type=click.IntRange(min=0), help="At the end of this epoch."),
        click.option("--position", type=click.IntRange(min=0), help="At this position of the log."),
        click.option("--as-of", metavar="DATE", help="What was known at this date."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def at_a_cutoff(command: F) -> F:
    """Give a command that reads --epoch, --position, --as-of and --valid-at."""
    words = "What was true at this date: only claims made by then."
    return at_a_point(click.option("--valid-at", metavar="DATE", default="", help=words)(command))


def point(options: dict[str, Any]) -> dict[str, Any]:
    """Take what `at_a_point` gave a command out of its other options."""
    return {name: options.pop(name) for name in ("epoch", "position", "as_of")}


def cutoff(epoch: int | None, position: int | None, as_of: str | None) -> "Cutoff":
    """Return the cutoff that the options name."""
    from replay.cutoff import Cutoff

    return Cutoff(epoch=epoch, position=position, as_of=as_of)


def _dump(value: Any) -> bytes:
    import orjson

    return orjson.dumps(value, option=orjson.OPT_INDENT_2)
