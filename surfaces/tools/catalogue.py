"""The catalogue: every tool as a row, and the one way in which a row is called.

Surfaces fold over it: the command line, the reference page, and whoever serves it to agents.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from falsify.errors import FalsifyError, InvalidInputError, NotFoundError
from surfaces.tools.envelope import Envelope, refusal
from surfaces.tools.fence import Fence
from surfaces.tools.schema import ToolInput, parse, publish
from surfaces.workbench import Work, Workbench
from surfaces.workspace import Workspace

Kind = Literal["answer", "act", "transact"]

Read = Callable[[Workbench, Any, str, Fence], Envelope]
"""Answers a question of a caller; what strangers wrote goes through the fence."""

MakeWork = Callable[[Any], Work]
"""Makes a command out of a parsed input."""


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

    def published(self) -> dict[str, Any]:
        """Return the row as it is listed."""
        return {
            "name": self.name,
            "kind": self.kind,
            "description": self.description,
            "inputSchema": publish(self.model),
            "annotations": self.annotations,
        }


def call(workspace: Workspace, catalogue: Mapping[str, Tool], name: str, arguments: object, *, caller: str) -> bytes:
    """Call a tool as a caller; return the envelope, which is how refusals are told too."""
    revision = 0
    try:
        tool = catalogue.get(name)
        if tool is None:
            raise NotFoundError(f"there is no tool {name[:80]!r}", hint="see `falsify tools`", reason="no_tool")
        given = parse(tool.model, arguments)
        workbench = Workbench(workspace, str(getattr(given, "project_id", "")))
        revision = workbench.project.revision
        if tool.read is not None:
            return tool.read(workbench, given, caller, Fence()).to_bytes()
        if tool.work is None:
            raise InvalidInputError(f"{name} can be neither read nor done")
        return workbench.perform(
            tool.work(given),
            caller=caller,
            key=str(getattr(given, "idempotency_key", "")),
            expected_revision=getattr(given, "expected_project_revision", None),
        ).response
    except FalsifyError as error:
        return refusal(error, project_revision=revision).to_bytes()
