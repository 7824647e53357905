"""How the tools of every catalogue are listed, and what is said of one that is in none."""

from collections.abc import Mapping
from typing import Any, Protocol

from falsify.errors import NotFoundError
from surfaces.tools.schema import ToolInput, publish


class Row(Protocol):
    """What a row of a catalogue says of itself; `model` is what the tool takes."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def model(self) -> type[ToolInput]: ...
    @property
    def description(self) -> str: ...
    @property
    def annotations(self) -> Mapping[str, bool]: ...


def listed(row: Row) -> dict[str, Any]:
    """Return a row as it is listed."""
    return {
        "name": row.name,
        "kind": row.kind,
        "description": row.description,
        "inputSchema": publish(row.model),
        "annotations": row.annotations,
    }


def no_tool(name: str) -> NotFoundError:
    """Return that there is no tool of that name."""
    return NotFoundError(f"there is no tool {shown(name)}", hint="see `falsify tools`", reason="no_tool")


def shown(name: str) -> str:
    """Return a tool's name as it may be repeated, whatever was sent for one."""
    return (name if name.isprintable() else ascii(name))[:80]
