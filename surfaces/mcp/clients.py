"""Ready-made configurations of clients: what to put where, so that a client starts the server by itself."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from surfaces.mcp.server import ToolNames

Render = Callable[[Sequence[str]], str]
"""Makes a configuration out of a command and its arguments."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client: where its configuration lies, which names of tools it takes, and how the configuration is written."""

    where: str
    tool_names: ToolNames
    render: Render


def _json(key: str, **more: Any) -> Render:
    def render(command: Sequence[str]) -> str:
        entry: Mapping[str, Any] = {**more, "command": command[0], "args": list(command[1:])}
        return json.dumps({key: {"falsify": entry}}, indent=2, ensure_ascii=False)

    return render


def _toml(command: Sequence[str]) -> str:
    # A string of JSON is a basic string of TOML: they have the same escapes.
    told = [json.dumps(word, ensure_ascii=False) for word in command]
    return f"[mcp_servers.falsify]\ncommand = {told[0]}\nargs = [{', '.join(told[1:])}]"


CLIENTS: Final[Mapping[str, Client]] = {
    # Claude Desktop leaves a server out whole if one name has a dot in it, and so did Codex.
    "claude-desktop": Client("claude_desktop_config.json", "underscore", _json("mcpServers")),
    "claude-code": Client(".mcp.json in the folder of the project", "dotted", _json("mcpServers", type="stdio")),
    "codex": Client("~/.codex/config.toml", "underscore", _toml),
    "vscode": Client(".vscode/mcp.json", "underscore", _json("servers", type="stdio")),
}
"""Every client that there is a configuration for, by its name."""


def configuration(name: str, workspace: Path, *, identity: str) -> str:
    """Return the configuration with which a client serves itself from a workspace, as an identity."""
    client = CLIENTS[name]
    words = [*_program(), "--workspace", str(workspace), "mcp", "--as", identity]
    if client.tool_names == "underscore":
        words += ["--tool-names", "underscore"]
    return client.render(words)


def _program() -> list[str]:
    """Return how this program is started from anywhere: a client that has windows does not know the shell's PATH."""
    beside = Path(sys.executable).parent / ("falsify.exe" if os.name == "nt" else "falsify")
    found = str(beside) if beside.exists() else shutil.which("falsify")
    return [found] if found else [sys.executable, "-m", "cli"]
