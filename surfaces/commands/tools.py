"""Commands for the tools that agents call, of the workbench and of the brain: tools, call."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surfaces.commands.session import Session, common

if TYPE_CHECKING:
    from surfaces.tools.brain_catalogue import BrainTool
    from surfaces.tools.catalogue import Tool
    from surfaces.workspace import Workspace


@click.command()
@click.argument("name", required=False)
@common
def tools(session: Session, name: str | None) -> None:
    """List the tools that agents call; with NAME, one in full with its schema.

    The columns are the autonomy modes: what an agent's call comes to in each. `ask` waits for a person (see `falsify
    approvals`); of falsify.decision.commit that is about PROMOTE. A person's call is always carried out. The tools
    whose names have no dots are the brain's: what they show or take is decided by grants, in every mode.
    """
    from surfaces.lines import requests as research_text
    from surfaces.tools.brain_catalogue import BRAIN_CATALOGUE
    from surfaces.tools.catalogue import TOOLS, tool_of

    if name is not None:
        tool: Tool | BrainTool = BRAIN_CATALOGUE.get(name) or tool_of(TOOLS, name)
        session.show(_row(tool, text=not session.as_json), research_text.tool)
        return
    every: tuple[Tool | BrainTool, ...] = (*TOOLS.values(), *BRAIN_CATALOGUE.values())
    session.show([_row(tool, text=not session.as_json) for tool in every], research_text.tool_list)


@click.command()
@click.argument("tool")
@click.argument("arguments", metavar="JSON")
@click.option("--as", "caller", metavar="IDENTITY", help="Who calls: owner, person:SLUG or agent:NAME; else `actor`.")
@common
def call(session: Session, tool: str, arguments: str, caller: str | None) -> int:
    """Call a tool as an agent would, and print what it answers.

    JSON is the arguments, `-` reads them from standard input, @FILE from a file.

    A tool of the workbench answers with its envelope, always one JSON document, refusals included, and its status
    decides the exit code. Where the arguments name no project_id, it is the setting `project`.

    A tool of the brain answers with its payload: JSON, markdown or a page as it was written. A refusal is
    {"error": ..., "message": ...} and ends with 2 for malformed arguments, 9 where it is not the caller's to call,
    and 6 for anything else.
    """
    from surfaces.tools.brain_catalogue import BRAIN_CATALOGUE

    row = BRAIN_CATALOGUE.get(tool)
    document, code = (
        _of_brain(session, row, arguments, caller) if row else _of_workbench(session, tool, arguments, caller)
    )
    session.show_bytes(document)
    return code


def _of_workbench(session: Session, tool: str, arguments: str, caller: str | None) -> tuple[bytes, int]:
    """Return the envelope of a call, and how the command ends."""
    import orjson

    from falsify.errors import FalsifyError
    from surfaces.envelope import STATUSES, refusal
    from surfaces.tools import catalogue

    try:
        with session.workspace() as workspace:
            given = _with_project(_parsed(arguments), workspace.settings.project)
            who = _caller(workspace, caller)
            document = catalogue.call(workspace, catalogue.TOOLS, tool, given, caller=who)
    except FalsifyError as error:
        document = refusal(error, project_revision=0).to_bytes()
    return document, STATUSES[orjson.loads(document)["status"]].exit_code


def _of_brain(session: Session, row: "BrainTool", arguments: str, caller: str | None) -> tuple[bytes, int]:
    """Return the payload of a call, and how the command ends."""
    from falsify.errors import FalsifyError
    from surfaces.brain import Brain
    from surfaces.tools.brain_catalogue import answer_brain, refused

    try:
        with session.workspace() as workspace:
            who = _caller(workspace, caller)
            # Who is not the owner is not even told whether the arguments of an owner's tool are JSON.
            given = _parsed(arguments, or_none=row.owners)
            payload = answer_brain(Brain(workspace), row.name, given, caller=who)
    except FalsifyError as error:
        payload = refused(error)
    return payload.document, payload.exit_code


def _row(tool: "Tool | BrainTool", *, text: bool) -> dict[str, Any]:
    """Return a tool as it is published, for people with what an agent's call comes to."""
    from falsify.workbench.autonomy import MODES

    gates = dict(zip(MODES, tool.gates, strict=True)) if tool.gates else None
    return {**tool.published(), "gates": gates} if text else tool.published()


def _parsed(arguments: str, *, or_none: bool = False) -> Any:
    import orjson

    from falsify.errors import InvalidInputError

    try:
        return orjson.loads(_text(arguments))
    except orjson.JSONDecodeError as error:
        if or_none:
            return None
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


def _caller(workspace: "Workspace", named: str | None) -> str:
    """Return who calls; an agent speaks for nobody but itself."""
    from falsify.errors import ForbiddenError
    from falsify.identity import identity, is_agent

    actor = workspace.settings.actor
    who = identity(named or actor)
    if is_agent(actor) and who != actor:
        raise ForbiddenError(f"{actor} may not call as {who}", hint="leave --as out", reason="not_yourself")
    return who
