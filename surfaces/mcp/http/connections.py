"""Connections: so many at a time, and none for longer than its client does its part of a request.

Whoever can connect needs no token for that. So a connection that waits for its client ends after a while, and at once
where there is no room for one that comes: those who only wait shut nobody out.
"""

import asyncio
import logging
import math
import sys
from enum import IntEnum
from typing import Any, Final, cast

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

logger = logging.getLogger(__name__)

MOST: Final = 512
"""Connections at a time; half of the files that the process may have open, where that is less."""

TAKEN_AT_ONCE: Final = 8
"""Connections that are accepted before anything else is done. Three times so many may be too many for a moment: until
those have ended that have to go."""

QUEUE: Final = 1024
"""Connections that the system keeps until they are accepted."""


class Stage(IntEnum):
    """What a connection waits for, those first that go first where there is no room."""

    FIRST_HEAD = 0
    NEXT_HEAD = 1
    BODY = 2
    TAKEN = 3
    """The client, which does not take what is sent to it."""
    SERVED = 4
    """The server, and so for as long as it takes."""


PATIENCE: Final = {Stage.FIRST_HEAD: 10, Stage.NEXT_HEAD: 10, Stage.BODY: 60, Stage.TAKEN: 60}
"""Seconds in which a client gets on to the next stage, or takes a part of the answer."""

_Mark = tuple[Stage, object, int]
"""How far a connection has got: its stage, its request, and how much of what was sent is not taken yet."""


def room() -> int:
    """Return how many connections there may be at a time."""
    if sys.platform == "win32":
        return MOST
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else min(MOST, files // 2)


class Connections:
    """Those of one server. To be asked for what handles each that comes in, and to look after them every second."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._crowd: set[H11Protocol] = set()
        self._seen: dict[H11Protocol, tuple[_Mark | None, float]] = {}

    def protocol(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> asyncio.Protocol:
        """Return what handles a connection that comes in. uvicorn calls it as it does a class.

        It is always that of h11, though the other may be there: that one reads requests on and on from a client that
        takes no answers.
        """
        self._crowd = cast("set[H11Protocol]", server_state.connections)
        if not self._has_room():
            logger.warning("all %d connections are in use: one was turned away", self._most)
            return _TurnedAway()
        made = H11Protocol(config, server_state, app_state, _loop)
        self._seen[made] = (None, asyncio.get_running_loop().time())
        return made

    def look(self) -> None:
        """End the connections whose clients have kept the server waiting for too long."""
        now, before = asyncio.get_running_loop().time(), self._seen
        self._seen = {}
        for each in self._crowd:
            mark, (seen, since) = _mark(each), before.get(each, (None, now))
            if seen is not None and (seen[:2] != mark[:2] or seen[2] > mark[2]):
                since = now
            self._seen[each] = mark, since
            if now - since >= PATIENCE.get(mark[0], math.inf):
                each.transport.abort()

    def leave(self) -> None:
        """End the connections whose requests have not come yet, as the server ends; answers are still taken."""
        for each in self._crowd:
            if _mark(each)[0] < Stage.TAKEN:
                each.transport.abort()

    def _has_room(self) -> bool:
        """Return whether there is room for one more, for which the one ends that has waited longest for its client."""
        here = [each for each in self._crowd if not each.transport.is_closing()]
        if len(here) < self._most:
            return True
        waiting = [(_mark(each)[0], self._seen[each][1], each) for each in here if each in self._seen]
        stage, _, first = min(waiting, key=lambda each: each[:2], default=(Stage.SERVED, 0.0, None))
        if first is None or stage is Stage.SERVED:
            return False
        logger.warning("all %d connections are in use: one that waited for its client was ended", self._most)
        first.transport.abort()
        return True


class _TurnedAway(asyncio.Protocol):
    """Says that there is no room, and ends."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Answer before anything is asked."""
        if isinstance(transport, asyncio.WriteTransport):
            transport.write(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        transport.close()


def _mark(connection: H11Protocol) -> _Mark:
    cycle: RequestResponseCycle | None = connection.cycle
    unsent = connection.transport.get_write_buffer_size()
    if unsent:
        return Stage.TAKEN, cycle, unsent
    if cycle is None:
        return Stage.FIRST_HEAD, cycle, 0
    if cycle.response_complete:
        return Stage.NEXT_HEAD, cycle, 0
    return (Stage.BODY if cycle.more_body else Stage.SERVED), cycle, 0
