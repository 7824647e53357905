"""Progress of a long call, told from the desk's thread to a client that asked for it."""

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import ServerRequestContext


@dataclass(slots=True)
class Progress:
    """Tells how far something has come. What is told only grows, as the protocol wants it, through all its stages.

    It is called in any thread, and heard in that of the event loop.
    """

    context: ServerRequestContext[Any, Any]
    loop: asyncio.AbstractEventLoop
    _stage: str = ""
    _before: int = 0
    _last: int = 0
    _told: list[Future[None]] = field(default_factory=list)

    def __call__(self, stage: str, count: int, total: int) -> None:
        """Take in that `count` of `total` of a stage are done."""
        if stage != self._stage:
            self._stage, self._before = stage, self._last
        now = self._before + count
        if now > self._last:
            self._last = now
            telling = self.context.session.report_progress(now, message=f"{count} of {total} {stage}")
            self._told.append(asyncio.run_coroutine_threadsafe(telling, self.loop))

    async def heard(self) -> None:
        """Wait until all is sent: what comes after the answer is not heard. That the client left is its own affair."""
        await asyncio.gather(*map(asyncio.wrap_future, self._told), return_exceptions=True)


def progress_to(context: ServerRequestContext[Any, Any]) -> Progress:
    """Return what tells the client; one that did not ask is told nothing."""
    return Progress(context, asyncio.get_running_loop())
