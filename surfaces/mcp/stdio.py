"""Serving the one client at the other end of standard input and output. Nothing but the protocol goes there."""

import os
import signal
from contextlib import ExitStack
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from surfaces.mcp.frames import Frames


def serve_stdio(server: Server[Any], life: ExitStack) -> None:
    """Serve until the client closes its end. A signal ends the process, after what `life` holds was closed."""
    anyio.run(_serve, server, life)


async def _serve(server: Server[Any], life: ExitStack) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signal, life)
        async with stdio_server() as (reading, writing):
            await server.run(Frames(reading, writing), writing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _end_on_signal(life: ExitStack) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            await anyio.to_thread.run_sync(life.close)
            # The thread that waits for standard input cannot be interrupted, and Python would wait for it.
            os._exit(128 + number)
