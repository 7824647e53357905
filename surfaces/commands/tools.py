"""Commands for the tools that agents call: tools, call."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surfaces.commands.session import Session, common

if TYPE_CHECKING:
    from surfaces.tools.catalogue import Tool


@click.command()
@click.argument("name", required=False)
@common
def tools(session: Session, name: str | None) -> None:
    """List the tools that agents call; with NAME, one in full with its schema.

    The columns are the autonomy modes: what an agent's call comes to in each. `ask` waits for a person (see `falsify
    approvals`); of falsify.decision.commit that is about PROMOTE. A person's call is always carried out.
    """
    from surfaces import research_text
    from surfaces.tools.catalogue import CATALOGUE, tool_of

    if name is not None:
        session.show(_row(tool_of(CATALOGUE, name), text=not session.as_json), research_text.tool)
        return
    session.show([_row(tool, text=not session.as_json) for tool in CATALOGUE.values()], research_text.tool_list)


@click.command()
@click.argument("tool")
@click.argument("arguments", metavar="JSON")
@click.option("--as", "caller", metavar="IDENTITY", help="Who calls: owner, person:SLUG or agent:NAME; else `actor`.")
@common
def call(session: Session, tool: str, arguments: str, caller: str | None) -> int:
    """Call a tool as an agent would, and print the envelope; its status decides the exit code.

    JSON is the arguments, `-` reads them from standard input, @FILE from a file. Where they name no project_id, it is
    the setting `project`. The answer is always one JSON document, refusals included.
    """
    import orjson

    from falsify.errors import FalsifyError
    from surfaces.tools import catalogue
    from surfaces.tools.envelope import STATUSES, refusal

    try:
        with session.workspace() as workspace:
            actor = workspace.settings.actor
            given = _with_project(_parsed(arguments), workspace.settings.project)
            who = _speaking_for(actor, caller or actor)
            document = catalogue.call(workspace, catalogue.CATALOGUE, tool, given, caller=who)
    except FalsifyError as error:
        document = refusal(error, project_revision=0).to_bytes()
    session.show_bytes(document)
    return STATUSES[orjson.loads(document)["status"]].exit_code


def _row(tool: "Tool", *, text: bool) -> dict[str, Any]:
    """Return a tool as it is published, for people with what an agent's call comes to."""
    from falsify.workbench.autonomy import MODES

    gates = dict(zip(MODES, tool.gates, strict=True)) if tool.gates else None
    return {**tool.published(), "gates": gates} if text else tool.published()


def _parsed(arguments: str) -> Any:
    import orjson

    from falsify.errors import InvalidInputError

    try:
        return orjson.loads(_text(arguments))
    except orjson.JSONDecodeError as error:
        raise InvalidInputError(
            f"the arguments are not JSON: {error}",
            hint="write one object, for example '{\"limit\": 5}'",
            reason="invalid_json",
        ) from None


def _text(arguments: str) -> bytes:
    """Return what the arguments are read from."""
    from falsify.errors import InvalidInputError

    if arguments == "-":
        return sys.stdin.buffer.read()
    if not arguments.startswith("@"):
        return arguments.encode("utf-8", "surrogateescape")
    try:
        return Path(arguments[1:]).read_bytes()
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"{arguments[1:]!r} cannot be read: {error}", hint="name a file after the @", reason="invalid_json"
        ) from error


def _with_project(arguments: Any, project: str) -> Any:
    return {"project_id": project, **arguments} if isinstance(arguments, dict) else arguments


def _speaking_for(actor: str, caller: str) -> str:
    """Return who calls; an agent speaks for nobody but itself."""
    from falsify.errors import ForbiddenError
    from falsify.identity import identity, is_agent

    who = identity(caller)
    if is_agent(actor) and who != actor:
        raise ForbiddenError(f"{actor} may not call as {who}", hint="leave --as out", reason="not_yourself")
    return who
