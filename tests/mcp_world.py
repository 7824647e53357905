"""The official client at a server in this process, for tests."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client

from surfaces.mcp.desk import Desk
from surfaces.mcp.identity import Caller
from surfaces.mcp.rows import Row
from surfaces.mcp.server import Options, always, make_server
from surfaces.workspace import Workspace

MODES = ("auto", "legacy")
"""How a client speaks: in the era of 2026, without a handshake, and in that before it."""


@asynccontextmanager
async def serve_in_memory(
    workspace: Workspace,
    identity: str = "agent:alice",
    *,
    projects: frozenset[str] | None = None,
    mode: str = "auto",
    client: dict[str, Any] | None = None,
    tools: Mapping[str, Row] | None = None,
    **options: Any,
) -> AsyncIterator[Client]:
    """Connect a client to a server of the workspace; `client` are options of the client, `tools` and the others
    the server's.

    Calls are carried out in the server's own thread: leave the workspace alone while one goes on.
    """
    with Desk(workspace) as desk:
        server = make_server(desk, always(Caller(identity, projects)), Options(**options), tools=tools)
        async with Client(server, mode=mode, **(client or {})) as connected:
            yield connected
