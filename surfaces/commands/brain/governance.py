"""Commands for who may see, decide and change what: the groups `org` and `governance`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from surfaces.commands.session import Session, common

if TYPE_CHECKING:
    from surfaces.brain import Brain

F = TypeVar("F", bound=Callable[..., Any])

_ARGUMENTS = (
    ("slug", "A person, by slug."),
    ("dept", "A department, by slug."),
    ("target", "Whom a person is to report to, by slug; none for nobody."),
    ("category", "A category of decisions."),
    ("agent", "An agent, by name."),
    ("area", "clients, suppliers, employees, decisions or timeline."),
    ("mode", "read or write."),
)


@click.group()
def org() -> None:
    """Show the org map that holds, check a file before it is imported, or import it."""


@org.command()
@common
def show(session: Session) -> None:
    """Print the org map as the file memory/org.yaml that draws it; for the owner."""
    from falsify.brain.governance import require_owner
    from falsify.brain.org_file import org_yaml

    with session.workspace() as workspace:
        brain = _brain(workspace)
        require_owner(brain.library.org, workspace.settings.actor)
        org_map = brain.library.org
    session.show(org_map.as_json(), lambda _: org_yaml(org_map).splitlines())


@org.command()
@click.argument("file", type=click.Path(path_type=Path))
@common
def check(session: Session, file: Path) -> int:
    """Say what is wrong with an org map, each fault with line and column; nothing is imported."""
    from falsify.located_yaml import read_text
    from surfaces.governance import read_org

    document = read_org(str(file), read_text(file, what="map of an organisation"))
    told = {"valid": not document.errors, "errors": document.errors, "warnings": document.warnings}
    session.show(told, _checked)
    return 0 if told["valid"] else session.fail(f"{file} would not be accepted")


@org.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Accept it in the place of the map that holds; for the owner.")
@common
def import_(session: Session, file: Path, replace: bool) -> None:
    """Accept an org map, by itself; `falsify brain import` does so too, where one lies beside the pages."""
    from falsify.located_yaml import read_text
    from surfaces.governance import import_org

    text = read_text(file, what="map of an organisation")
    with session.workspace() as workspace:
        taken = import_org(_brain(workspace), text, str(file), caller=workspace.settings.actor, replace=replace)
    session.show({"accepted": taken.accepted, "warnings": list(taken.warnings)}, _imported)


@click.group()
def governance() -> None:
    """Change who may see, decide and change what: the owner's, one operation at a time, each of which can be undone."""


@governance.command()
@common
def model(session: Session) -> None:
    """Tell in plain words who may see, decide and change what."""
    from surfaces.governance import model as told

    with session.workspace() as workspace:
        answer = told(_brain(workspace), caller=workspace.settings.actor)
    session.show(answer, _model)


@governance.command()
@common
def operations(session: Session) -> None:
    """List the operations, and what each takes."""
    from surfaces.governance import vocabulary

    session.show(vocabulary(), _vocabulary)


def _takes_arguments(command: F) -> F:
    for name, help_ in reversed(_ARGUMENTS):
        command = click.option(f"--{name}", metavar=name.upper(), help=help_)(command)
    return click.argument("op", metavar="OPERATION")(command)


@governance.command()
@_takes_arguments
@common
def preview(session: Session, op: str, **arguments: str | None) -> None:
    """Tell what an operation would change, before and after; nothing is recorded."""
    from surfaces.governance import preview as foreseen

    with session.workspace() as workspace:
        told = foreseen(_brain(workspace), op, arguments, caller=workspace.settings.actor)
    session.show(told, _preview)


@governance.command()
@_takes_arguments
@common
def apply(session: Session, op: str, **arguments: str | None) -> None:
    """Carry an operation out; where the organisation wants changes approved, submit it."""
    from surfaces.governance import apply as carry_out

    with session.workspace() as workspace:
        told = carry_out(_brain(workspace), op, arguments, caller=workspace.settings.actor)
    session.show(told, _done)


@governance.command()
@click.argument("event", metavar="EVENT")
@click.option("--dry-run", is_flag=True, help="Show what would change; record nothing.")
@common
def undo(session: Session, event: str, dry_run: bool) -> None:
    """Take an operation back by a new one. EVENT is its id: what `apply` calls commit, see `governance log`."""
    from surfaces.governance import preview_undo
    from surfaces.governance import undo as take_back

    with session.workspace() as workspace:
        brain, caller = _brain(workspace), workspace.settings.actor
        if dry_run:
            session.show(preview_undo(brain, event, caller=caller), _preview)
        else:
            session.show(take_back(brain, event, caller=caller), _done)


@governance.command()
@common
def log(session: Session) -> None:
    """List every import of an org map and every operation, the oldest first."""
    from surfaces.governance import history

    with session.workspace() as workspace:
        rows = history(_brain(workspace), caller=workspace.settings.actor)
    session.show(rows, lambda rows: map(_row, rows))


def _brain(workspace: Any) -> "Brain":
    from surfaces.brain import Brain

    return Brain(workspace)


def _checked(told: dict[str, Any]) -> Iterator[str]:
    yield from told["errors"]
    yield from (f"warning: {each}" for each in told["warnings"])
    if told["valid"]:
        yield "It would be accepted."


def _imported(told: dict[str, Any]) -> Iterator[str]:
    yield "The map was accepted." if told["accepted"] else "Nothing new: this map was accepted before."
    yield from (f"warning: {each}" for each in told["warnings"])


def _model(told: dict[str, Any]) -> Iterator[str]:
    yield f"Owner: {told['owner'] or 'nobody yet'}"
    yield f"Must be validated: {', '.join(told['must_validate']) or 'nothing'}"
    for each in (*told["people"], *told["agents"]):
        yield each["plain"]["en"]


def _vocabulary(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        takes = " ".join(f"[--{name}]" if name in row["optional"] else f"--{name}" for name in row["takes"])
        yield f"{row['op']} {takes}: {row['does']}"


def _preview(told: dict[str, Any]) -> Iterator[str]:
    yield f"Before: {told['before']['en']}"
    yield f"After:  {told['after']['en']}"
    yield f"Avant : {told['before']['fr']}"
    yield f"Après : {told['after']['fr']}"
    if "warning" in told:
        yield f"Warning: {told['warning']}"


def _done(told: dict[str, Any]) -> Iterator[str]:
    if told["status"] == "applied":
        yield f"Applied {told['op']} as {told['commit']} ({told['scope_propagation']})."
        yield f"Take it back with `falsify brain governance undo {told['commit']}`."
    else:
        yield f"Submitted for approval as {told['item_id']}: see `falsify approvals list`."


def _row(row: dict[str, Any]) -> str:
    arguments = " ".join(f"{name}={value}" for name, value in row["arguments"].items())
    undoes = f", undoes {row['undoes']}" if row["undoes"] else ""
    undone = ", undone" if row["undone"] else ""
    return f"{row['recorded_at']}  {row['id'] or '-':<12}  {row['op']} {arguments}  by {row['actor']}{undoes}{undone}"
