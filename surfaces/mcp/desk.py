"""The desk: the one thread that works on a workspace for all who call, one call after the other."""

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

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
    """Carries work out in its own thread, in the order in which it came: a workspace is one thread's."""

    def __init__(self, workspace: Workspace) -> None:
        self.served = Served.of(workspace)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="falsify-desk")

    async def run(self, work: Callable[[Served], T]) -> T:
        """Return what the work comes to. Work that is called off before its turn is never begun."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self.served)

    def settle(self) -> None:
        """Read the log before the first call does, and keep the collector off what that made."""
        self._thread.submit(_settle, self.served)

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
    # A graph of many nodes is walked by every full collection, though none of them ever goes away. Nothing is collected
    # before: the first client waits for its list of tools meanwhile.
    gc.freeze()
