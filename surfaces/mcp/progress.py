"""Progress of a long call, told from the desk's thread to a client that asked for it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import ServerRequestContext


@dataclass(slots=True)
class Progress:
    """Tells how far something has come. What is told only grows, as the protocol wants it, through all its stages."""

    tell: Callable[[float, str], None]
    _stage: str = ""
    _before: int = field(default=0)
    _last: int = field(default=0)

    def __call__(self, stage: str, count: int, total: int) -> None:
        """Take in that `count` of `total` of a stage are done."""
        if stage != self._stage:
            self._stage, self._before = stage, self._last
        now = self._before + count
        if now > self._last:
            self._last = now
            self.tell(now, f"{count} of {total} {stage}")


def progress_to(context: ServerRequestContext[Any, Any]) -> Progress | None:
    """Return what tells the client, None for one that did not ask. To be made in the event loop's thread."""
    if context.meta is None or context.meta.get("progress_token") is None:
        return None
    loop = asyncio.get_running_loop()

    def tell(count: float, message: str) -> None:
        asyncio.run_coroutine_threadsafe(context.session.report_progress(count, message=message), loop)

    return Progress(tell)
