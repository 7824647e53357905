"""The desk: the one thread that works on a workspace for all who call, one call after the other."""

import asyncio
import gc
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from falsify.errors import UnavailableError
from falsify.log import EventLog
from falsify.recorders.memory import MemoryRecorder
from surfaces.brain import Brain
from surfaces.mcp.identity import Caller
from surfaces.workspace import Workspace

T = TypeVar("T")

MOST_WAITING: Final = 64
"""How many calls of one caller wait at the most."""


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
    """Carries out one piece of work after the other: a workspace is one thread's.

    That is a thread of its own, so that the server hears its clients meanwhile. Those who call take turns, each with
    their first piece that waits, so that nobody waits for all that somebody else has brought. A piece that is quick is
    not worth the way there and back, if nobody is at the desk: then it is carried out where it was brought.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.served = Served.of(workspace)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="falsify-desk")
        self._turns = Turns()
        self._open: set[Future[Any]] = set()
        self._settled = False

    async def run(self, work: Callable[[Served], T], *, caller: str = "", quick: bool = False) -> T:
        """Return what the work comes to. Work that is called off before its turn is never begun.

        Raises UnavailableError where too much of the caller's waits already.
        """
        self.settle()
        # Work is brought by one thread only, that of the server: while that is here, nobody brings any other.
        if quick and not self._open:
            return work(self.served)
        return await asyncio.wrap_future(self._submit(work, caller))

    def settle(self) -> None:
        """Read the log before the first call does, if nobody asked for it yet."""
        if not self._settled:
            self._settled = True
            self._submit(_settle, "")

    def _submit(self, work: Callable[[Served], T], caller: str) -> Future[T]:
        future: Future[T] = Future()
        self._turns.put(caller, Piece(work, future))
        self._open.add(future)
        # Called where the work ended, before anybody who waits for it learns of that.
        future.add_done_callback(self._open.discard)
        self._thread.submit(self._take_turn)
        return future

    def _take_turn(self) -> None:
        self._turns.take().carry_out(self.served)

    def close(self) -> None:
        """Wait for the work that has begun, drop the rest, and end the thread. The workspace stays open."""
        self._thread.shutdown(cancel_futures=True)
        for future in [*self._open]:
            future.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of work, and where what it comes to is waited for."""

    work: Callable[[Served], Any]
    future: Future[Any]

    def carry_out(self, served: Served) -> None:
        """Do the work, unless it was called off."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.work(served)
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class Turns:
    """What waits, by who brought it. Any thread may put and take."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Piece]] = {}
        self._lock = threading.Lock()

    def put(self, caller: str, piece: Piece) -> None:
        """Let a piece wait behind the caller's others. Raises UnavailableError where those are too many."""
        with self._lock:
            waiting = self._waiting.setdefault(caller, deque())
            if len(waiting) >= MOST_WAITING:
                raise UnavailableError(
                    f"{len(waiting)} calls of yours wait already",
                    hint="nothing was done: wait for their answers, then call again",
                    reason="busy",
                )
            waiting.append(piece)

    def take(self) -> Piece:
        """Return the first piece of whoever has waited longest for a turn; the others' turns come first then."""
        with self._lock:
            caller, waiting = next(iter(self._waiting.items()))
            piece = waiting.popleft()
            del self._waiting[caller]
            if waiting:
                self._waiting[caller] = waiting
            return piece


def _settle(served: Served) -> None:
    served.workspace.graph  # noqa: B018 - reading it folds the log
    served.brain.library  # noqa: B018 - as above
    # A graph of many nodes is walked by every full collection, though none of them ever goes away.
    gc.freeze()
