"""The catalogue: every tool as a row, and the one way in which a row is called.

Surfaces fold over it: the command line, the reference page, and whoever serves it to agents.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from falsify.errors import FalsifyError, InvalidInputError, NotFoundError, StaleRevisionError
from falsify.identity import identity
from falsify.workbench.autonomy import GATES, Gate
from surfaces.envelope import Envelope, NextAction, refusal
from surfaces.tools import evidence_reads
from surfaces.tools import workbench_acts as acts
from surfaces.tools import workbench_reads as reads
from surfaces.tools.fence import Fence
from surfaces.tools.schema import Approval, ToolInput, describe, parse, publish
from surfaces.tools.workbench_inputs import WORKBENCH_INPUTS
from surfaces.workbench import Work, Workbench
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
    """A row: its canonical name, what it takes, what it says of itself, and either how it reads or what it does."""

    name: str
    kind: Kind
    model: type[ToolInput]
    description: str
    read: Read | None = None
    work: MakeWork | None = None

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
        return _gates(self.name)

    def published(self) -> dict[str, Any]:
        """Return the row as it is listed."""
        return {
            "name": self.name,
            "kind": self.kind,
            "description": self.description,
            "inputSchema": publish(self.model),
            "annotations": self.annotations,
        }


# --- the rows -------------------------------------------------------------------------------------------------

_READS: Mapping[str, Read] = {
    "falsify.project.get_state": reads.get_state,
    "falsify.ticket.list": reads.list_tickets,
    "falsify.graph.get": reads.get_graph,
    "falsify.node.compare": reads.compare_node,
    "falsify.run.get": evidence_reads.get_run,
    "falsify.evidence.list": evidence_reads.list_evidence,
}

_ACTS: Mapping[str, MakeWork] = {
    "falsify.ticket.create": acts.create_tickets,
    "falsify.ticket.claim": acts.claim_ticket,
    "falsify.experiment.materialize": acts.materialize_experiment,
    "falsify.run.start": acts.start_run,
    "falsify.run.cancel": acts.cancel_run,
    "falsify.decision.commit": acts.commit_decision,
}

_UNDOES: Final = frozenset({"falsify.run.cancel"})
"""The tools that throw away what was done."""

_QUOTES: Final = frozenset({"falsify.ticket.list", "falsify.run.get", "falsify.evidence.list"})
"""The tools that return what strangers wrote."""

_ASKS: Mapping[tuple[Gate, Gate, Gate], Approval] = {
    ("ask", "execute", "execute"): "manual",
    ("ask", "ask", "execute"): "manual_and_copilot",
    ("ask", "ask", "ask"): "always",
}
"""How each row of the autonomy table is described."""


def _gates(name: str) -> tuple[Gate, Gate, Gate] | None:
    return GATES.get(f"{name}:PROMOTE") or GATES.get(name)


def _answer(name: str, read: Read) -> Tool:
    model = WORKBENCH_INPUTS[name]
    description = describe(model, approval="read_only", trust=name in _QUOTES)
    return Tool(name=name, kind="answer", model=model, description=description, read=read)


def _act(name: str, work: MakeWork) -> Tool:
    model, gates = WORKBENCH_INPUTS[name], _gates(name)
    description = describe(model, approval=_ASKS[gates] if gates else "always", retry=True)
    kind: Kind = "transact" if name in _UNDOES else "act"
    return Tool(name=name, kind=kind, model=model, description=description, work=work)


CATALOGUE: Mapping[str, Tool] = {
    **{name: _answer(name, read) for name, read in _READS.items()},
    **{name: _act(name, work) for name, work in _ACTS.items()},
}
"""Every tool by its canonical name, in the order in which they are listed."""


# --- calling --------------------------------------------------------------------------------------------------


def tool_of(catalogue: Mapping[str, Tool], name: str) -> Tool:
    """Return the tool of that name, its dots written as underscores or not; raises NotFoundError."""
    dotted = {known.replace(".", "_"): known for known in catalogue}
    tool = catalogue.get(dotted.get(name, name))
    if tool is None:
        shown = name if name.isprintable() else ascii(name)
        raise NotFoundError(f"there is no tool {shown[:80]}", hint="see `falsify tools`", reason="no_tool")
    return tool


def call(workspace: Workspace, catalogue: Mapping[str, Tool], name: str, arguments: object, *, caller: str) -> bytes:
    """Call a tool as a caller; return the envelope, which is how refusals are told too."""
    try:
        return _called(workspace, tool_of(catalogue, name), arguments, caller=identity(caller))
    except FalsifyError as error:
        return _refused(workspace, arguments, error).to_bytes()


def work_of(tool: str, arguments: Mapping[str, Any]) -> Work:
    """Return the command that an approval is about, made again out of its recorded arguments.

    Raises NotFoundError for a tool that this version does not have.
    """
    row = tool_of(CATALOGUE, tool)
    if row.work is None:
        raise NotFoundError(f"{tool} does nothing that could be approved", hint="see `falsify tools`", reason="no_tool")
    return row.work(parse(row.model, {**arguments, "idempotency_key": "approved", "expected_project_revision": 0}))


def _called(workspace: Workspace, tool: Tool, arguments: object, *, caller: str) -> bytes:
    given = parse(tool.model, arguments)
    workbench = Workbench(workspace, str(getattr(given, "project_id", "")))
    if tool.read is not None:
        return tool.read(workbench, given, caller, Fence()).to_bytes()
    if tool.work is None:
        raise NotFoundError(f"{tool.name} can be neither read nor done", hint="see `falsify tools`", reason="no_tool")
    return workbench.perform(
        tool.work(given),
        caller=caller,
        key=_key(given),
        expected_revision=getattr(given, "expected_project_revision", None),
    ).response


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


def _refused(workspace: Workspace, arguments: object, error: FalsifyError) -> Envelope:
    """Return the answer to what was refused, with the present revision of the project it named."""
    named = arguments.get("project_id") if isinstance(arguments, Mapping) else None
    try:
        revision = Workbench(workspace, named).project.revision if isinstance(named, str) else 0
    except FalsifyError:  # there is no such project, or nothing can be read: the error at hand says which
        revision = 0
    told = refusal(error, project_revision=revision)
    if not isinstance(error, StaleRevisionError):
        return told
    read = NextAction("falsify.project.get_state", {"project_id": named}, "read the state again, and decide again")
    return replace(told, next_actions=(read,))
