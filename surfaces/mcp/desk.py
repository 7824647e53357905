"""The desk: the one thread that works on a workspace for all who call, one call after the other."""

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from falsify.log import EventLog
from falsify.recorders.memory import MemoryRecorder
from surfaces.brain import Brain
from surfaces.mcp.identity import Caller
from surfaces.workspace import Workspace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Served:
    """What is served: a workspace, its brain, and an empty workspace that answers for what is kept from a caller."""

    workspace: Workspace
    brain: Brain
    empty: Workspace

    @classmethod
    def of(cls, workspace: Workspace) -> "Served":
        """Return what is served of an open workspace."""
        log = EventLog(MemoryRecorder(), clock=workspace.clock)
        empty = Workspace(workspace.root, environ=workspace.environ, clock=workspace.clock, log=log)
        return cls(workspace, Brain(workspace, destination="mcp"), empty)

    def workspace_for(self, caller: Caller, project: object) -> Workspace:
        """Return where a caller finds a project: denied and absent are one answer, since one place gives both."""
        return self.workspace if caller.admits(project) else self.empty


class Desk:
    """Carries out one piece of work after the other, in the order in which they came: a workspace is one thread's.

    That is a thread of its own, so that the server hears its clients meanwhile. A piece that is quick is not worth the
    way there and back, if nobody is at the desk: then it is carried out where it was brought.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.served = Served.of(workspace)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="falsify-desk")
        self._open: set[Future[Any]] = set()
        self._settled = False

    async def run(self, work: Callable[[Served], T], *, quick: bool = False) -> T:
        """Return what the work comes to. Work that is called off before its turn is never begun."""
        self.settle()
        # Work is brought by one thread only, that of the server: while that is here, nobody brings any other.
        if quick and not self._open:
            return work(self.served)
        return await asyncio.wrap_future(self._submit(work))

    def settle(self) -> None:
        """Read the log before the first call does, if nobody asked for it yet."""
        if not self._settled:
            self._settled = True
            self._submit(_settle)

    def _submit(self, work: Callable[[Served], T]) -> Future[T]:
        future = self._thread.submit(work, self.served)
        self._open.add(future)
        # Called where the work ended, before anybody who waits for it learns of that.
        future.add_done_callback(self._open.discard)
        return future

    def close(self) -> None:
        """Wait for the work that has begun, drop the rest, and end the thread. The workspace stays open."""
        self._thread.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _settle(served: Served) -> None:
    served.workspace.graph  # noqa: B018 - reading it folds the log
    served.brain.library  # noqa: B018 - as above
    # A graph of many nodes is walked by every full collection, though none of them ever goes away.
    gc.freeze()
