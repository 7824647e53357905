"""A tool as a row, and the one way in which a row is called: parse, call, wrap."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import orjson

from falsify.errors import FalsifyError, InvalidInputError, NotFoundError, StaleRevisionError
from falsify.identity import identity, is_project_id
from falsify.workbench.autonomy import GATES, Gate
from falsify.workbench.project import Project
from surfaces.envelope import Envelope, NextAction, refusal
from surfaces.tools.fence import Fence, harmless
from surfaces.tools.listing import listed, no_tool
from surfaces.tools.schema import Approval, ToolInput, describe, parse
from surfaces.tools.spoken import in_tools
from surfaces.workbench import Work, Workbench, state_tool
from surfaces.workspace import Workspace

Kind = Literal["answer", "act", "transact"]

Read = Callable[[Workbench, Any, str, Fence], Envelope]
"""Answers a question of a caller; what strangers wrote goes through the fence."""

MakeWork = Callable[[Any], Work]
"""Makes a command out of a parsed input."""

LONGEST_KEY: Final = 96
"""Characters of an idempotency key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A row: its canonical name, what it takes, what it says of itself, and either how it reads or what it does.

    `beliefs` says that a project that has beliefs and no research will do.
    """

    name: str
    kind: Kind
    model: type[ToolInput]
    description: str
    read: Read | None = None
    work: MakeWork | None = None
    beliefs: bool = False

    @property
    def annotations(self) -> dict[str, bool]:
        """The hints of the Model Context Protocol."""
        reads = self.kind == "answer"
        return {
            "readOnlyHint": reads,
            "destructiveHint": self.kind == "transact",
            "idempotentHint": True,
            "openWorldHint": False,
        }

    @property
    def gates(self) -> tuple[Gate, Gate, Gate] | None:
        """What an agent's call comes to in each autonomy mode, of a decision's that of PROMOTE; None for a read."""
        return gates_of(self.name)

    def published(self) -> dict[str, Any]:
        """Return the row as it is listed."""
        return listed(self)


# --- making rows ----------------------------------------------------------------------------------------------

_ASKS: Mapping[tuple[Gate, Gate, Gate], Approval] = {
    ("ask", "execute", "execute"): "manual",
    ("ask", "ask", "execute"): "manual_and_copilot",
    ("ask", "ask", "ask"): "always",
}
"""How each row of the autonomy table is described."""


def gates_of(name: str) -> tuple[Gate, Gate, Gate] | None:
    """Return the row of the autonomy table, of a decision that of PROMOTE; None for what is in no row."""
    return GATES.get(f"{name}:PROMOTE") or GATES.get(name)


def answering(name: str, model: type[ToolInput], read: Read, *, quotes: bool, beliefs: bool = False) -> Tool:
    """Return the row of a tool that reads; `quotes` says that it returns what strangers wrote."""
    description = describe(model, approval="read_only", trust=quotes)
    return Tool(name=name, kind="answer", model=model, description=description, read=read, beliefs=beliefs)


def acting(name: str, model: type[ToolInput], work: MakeWork, *, undoes: bool, beliefs: bool = False) -> Tool:
    """Return the row of a tool that does something; `undoes` says that it may throw away what was there."""
    gates = gates_of(name)
    description = describe(model, approval=_ASKS[gates] if gates else "always", retry=True)
    kind: Kind = "transact" if undoes else "act"
    return Tool(name=name, kind=kind, model=model, description=description, work=work, beliefs=beliefs)


# --- calling --------------------------------------------------------------------------------------------------


def tool_of(catalogue: Mapping[str, Tool], name: str) -> Tool:
    """Return the tool of that name, its dots written as underscores or not; raises NotFoundError."""
    dotted = {known.replace(".", "_"): known for known in catalogue}
    tool = catalogue.get(dotted.get(name, name))
    if tool is None:
        raise no_tool(name)
    return tool


def call(workspace: Workspace, catalogue: Mapping[str, Tool], name: str, arguments: object, *, caller: str) -> bytes:
    """Call a tool as a caller; return the envelope, which is how refusals are told too."""
    tool = None
    project = arguments.get("project_id") if isinstance(arguments, Mapping) else None
    named = project if isinstance(project, str) and is_project_id(project) else ""
    try:
        tool = tool_of(catalogue, name)
        return in_tools(_called(workspace, tool, arguments, caller=identity(caller)), named)
    except FalsifyError as error:
        return in_tools(_refused(workspace, tool, arguments, error).to_bytes(), named)


def _called(workspace: Workspace, tool: Tool, arguments: object, *, caller: str) -> bytes:
    given = parse(tool.model, arguments)
    project_id = str(getattr(given, "project_id", ""))
    if tool.read is not None:
        with workspace.still():
            workbench = Workbench(workspace, project_id, beliefs=tool.beliefs)
            return tool.read(workbench, given, caller, Fence()).to_bytes()
    if tool.work is None:
        raise NotFoundError(f"{tool.name} can be neither read nor done", hint="see `falsify tools`", reason="no_tool")
    done = Workbench(workspace, project_id, beliefs=tool.beliefs).perform(
        tool.work(given),
        caller=caller,
        key=_key(given),
        expected_revision=getattr(given, "expected_project_revision", None),
    )
    return _without_echo(done.response)


def _without_echo(response: bytes) -> bytes:
    """Return the answer to an act without the words that it was sent, where those are not harmless.

    Whoever sent them may have had them from a log or a page. A request for approval is told in harmless words, though
    people read it as it is; a next action that would repeat them is left out, since in other words it is another.
    """
    told = orjson.loads(response)
    steps = told.get("nextActions", [])
    kept = [step for step in steps if made_harmless(step["arguments"]) == step["arguments"]]
    if "approval" not in told and kept == steps:
        return response
    if "approval" in told:
        told["approval"] = made_harmless(told["approval"])
    told.pop("nextActions", None)
    return orjson.dumps({**told, "nextActions": kept} if kept else told)


def _key(given: ToolInput) -> str:
    """Return the idempotency key, of which the contract says only how long it may be."""
    key = str(getattr(given, "idempotency_key", ""))
    if key and key.isprintable():
        return key
    raise InvalidInputError(
        f"idempotency_key must be 1 to {LONGEST_KEY} printable characters, not {key!r}",
        hint="send a fresh key for each intent, for example a UUID; nothing was done",
        reason="invalid_arguments",
    )


def _refused(workspace: Workspace, tool: Tool | None, arguments: object, error: FalsifyError) -> Envelope:
    """Return the answer to what was refused, with the present revision of the project it named."""
    named = arguments.get("project_id") if isinstance(arguments, Mapping) else None
    project = Project()
    if isinstance(named, str):
        # Where there is no such project, or nothing can be read, the error at hand says which.
        with suppress(FalsifyError):
            project = Workbench(workspace, named, beliefs=tool is not None and tool.beliefs).project
    told = refusal(error, project_revision=project.revision)
    told = replace(told, result=made_harmless(told.result))
    if not isinstance(error, StaleRevisionError):
        return told
    read = NextAction(state_tool(project), {"project_id": named}, "read the state again, and decide again")
    return replace(told, next_actions=(read,))


def made_harmless(value: Any) -> Any:
    """Return a JSON value with every text in it harmless: what repeats words may repeat somebody else's."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {name: made_harmless(inner) for name, inner in value.items()}
    return [made_harmless(inner) for inner in value] if isinstance(value, list | tuple) else value
