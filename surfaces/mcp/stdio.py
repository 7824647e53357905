"""Serving the one client at the other end of standard input and output. Nothing but the protocol goes there."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn, TextIO

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from surfaces.mcp.frames import Frames, Lines


def serve_stdio(server: Server[Any], life: ExitStack) -> None:
    """Serve until the client closes its end, or takes no more answers.

    A signal, and a client that takes none, end the process after what `life` holds was closed.
    """
    with _standard_input() as lines:
        anyio.run(_serve, server, life, Lines(lines))


async def _serve(server: Server[Any], life: ExitStack, lines: Lines) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signal, life)
        try:
            async with stdio_server(stdin=lines) as (reading, writing):  # type: ignore[arg-type] # it only iterates
                await server.run(Frames(reading, writing), writing, server.create_initialization_options())
        except* ConnectionError:  # the client is gone, with an answer on its way: it ends as it would between two
            await _end(life, 0)
        tasks.cancel_scope.cancel()


async def _end_on_signal(life: ExitStack) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            await _end(life, 128 + number)


async def _end(life: ExitStack, code: int) -> NoReturn:
    await anyio.to_thread.run_sync(life.close)
    # The thread that waits for standard input cannot be interrupted, and Python would wait for it.
    os._exit(code)


@contextmanager
def _standard_input() -> Iterator[TextIO]:
    """Yield what comes in, which is nobody else's: whoever reads standard input meanwhile finds it empty."""
    private, empty = _copy(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # Never closed: the thread that waits for a line holds its lock.
    yield os.fdopen(private, encoding="utf-8", errors="replace", closefd=False)
    os.dup2(private, 0)


def _copy(descriptor: int) -> int:
    """Return another descriptor of the same, that is none of the standard ones, where one of these is closed."""
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
