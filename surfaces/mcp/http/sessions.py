"""Sessions: those of clients before 2026, so many for each token, and none for longer than its token holds.

The protocol of 2026 has none. In the SDK a session stays until its client ends it or was idle for half an hour, and
there is one number of them for all: without this, one bearer takes all that there are.
"""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from falsify.errors import FalsifyError

logger = logging.getLogger(__name__)

OF_TOKEN: Final = 32
"""Sessions that the bearers of one token may have open. With one more, the one that was idle longest ends."""

AT_ONCE: Final = 64
"""Requests of one token that are heard at a time, with the streams that clients hold open."""

IN_ALL: Final = 1024
"""Sessions of all tokens together."""

OF_EVERYBODY: Final = 512
"""Sessions that may be open where nobody needs a token, and everybody is one agent."""

IDLE: Final = 1800
"""Seconds after which a session ends with which nobody did anything."""

LOOK: Final = 10
"""Seconds between two looks for the sessions of tokens that do not hold any more."""

_ID: Final = MCP_SESSION_ID_HEADER.encode()
_VERSION: Final = MCP_PROTOCOL_VERSION_HEADER.encode()
_BEFORE_2026: Final = {version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS}


@dataclass(slots=True)
class _Session:
    """An open session: whose it is, how many requests are in it, and when the last of them ended."""

    user: AuthenticatedUser | None
    busy: int
    used: float


class Sessions:
    """Stands before what serves sessions, counts those of each token, and ends what is too much.

    `holds` says whether a token, by its id, still does.
    """

    def __init__(self, app: ASGIApp, *, holds: Callable[[str], bool]) -> None:
        self._app = app
        self._holds = holds
        self._open: dict[str, _Session] = {}
        self._at_once: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        user = scope.get("user")
        user = user if isinstance(user, AuthenticatedUser) else None
        owner = _owner(user)
        if user is not None and self._at_once[owner] >= AT_ONCE:
            await _refuse(f"{AT_ONCE} requests of this token are open already", scope, receive, send)
            return
        headers = dict(scope["headers"])
        opens = _ID not in headers and headers.get(_VERSION) in {None, *_BEFORE_2026}
        if opens and self._all_busy(user):
            await _refuse("all sessions of this token are in use", scope, receive, send)
            return
        name = headers.get(_ID, b"").decode("latin-1")
        visit = _Visit(self._open, user, name, send, ends=scope["method"] == "DELETE")
        self._at_once[owner] += 1
        visit.begin()
        try:
            await self._app(scope, receive, visit.send)
        finally:
            visit.end()
            self._at_once[owner] -= 1
            if not self._at_once[owner]:
                del self._at_once[owner]
        if visit.opened:
            await self._make_room(user, visit.opened)

    async def watch(self) -> None:
        """Look after the sessions for as long as they are served."""
        while True:
            await anyio.sleep(LOOK)
            try:
                await self.look()
            except (FalsifyError, OSError) as error:  # who may come in cannot be read: nobody does now
                logger.warning("the sessions could not be looked after: %s", error)

    async def look(self) -> None:
        """End the sessions of tokens that do not hold any more, and forget those that ended by themselves."""
        owners = {_owner(session.user) for session in self._open.values() if session.user is not None}
        gone = {owner for owner in owners if not self._holds(owner)}
        for name, session in list(self._open.items()):
            if session.user is not None and _owner(session.user) in gone:
                await self._end(name)
            elif not session.busy and monotonic() - session.used > IDLE:
                self._open.pop(name, None)

    def _of(self, user: AuthenticatedUser | None) -> dict[str, _Session]:
        owner = _owner(user)
        return {name: session for name, session in self._open.items() if _owner(session.user) == owner}

    def _all_busy(self, user: AuthenticatedUser | None) -> bool:
        own = self._of(user)
        return len(own) >= _most(user) and all(session.busy for session in own.values())

    async def _make_room(self, user: AuthenticatedUser | None, opened: str) -> None:
        """End those of a token's sessions that were idle longest, as far as there are too many beside a new one."""
        own = self._of(user)
        idle = sorted((session.used, name) for name, session in own.items() if not session.busy and name != opened)
        for _, name in idle[: max(0, len(own) - _most(user))]:
            await self._end(name)

    async def _end(self, name: str) -> None:
        """End a session, as its own client would."""
        session = self._open.pop(name, None)
        if session is not None:
            scope = {
                "type": "http", "method": "DELETE", "path": "/", "headers": [(_ID, name.encode())],
                "user": session.user,
            }  # fmt: skip
            await self._app(scope, _nothing_more, _unheard)


class _Visit:
    """One request on its way through, and what becomes of its session."""

    def __init__(
        self, known: dict[str, _Session], user: AuthenticatedUser | None, name: str, send: Send, *, ends: bool
    ) -> None:
        self._open = known
        self._user = user
        self._name = name
        self._send = send
        self._ends = ends
        self._session: _Session | None = None
        self.opened = ""

    def begin(self) -> None:
        """Note that it is in its session."""
        session = self._open.get(self._name)
        if session is not None and _owner(session.user) == _owner(self._user):
            self._session = session
            session.busy += 1

    async def send(self, message: Message) -> None:
        """Pass on the answer, and note what it says of the session."""
        if message["type"] == "http.response.start":
            self._note(message["status"], dict(message.get("headers", ())))
        await self._send(message)

    def end(self) -> None:
        """Note that it is not in its session any more."""
        if self._session is not None:
            self._session.busy -= 1
            self._session.used = monotonic()

    def _note(self, status: int, headers: dict[bytes, bytes]) -> None:
        if not self._name and status < 400 and _ID in headers:
            self.opened = headers[_ID].decode("latin-1")
            self._session = self._open[self.opened] = _Session(self._user, busy=1, used=monotonic())
        elif self._session is not None and (status == 404 or (self._ends and status < 400)):
            self._open.pop(self._name, None)


def _owner(user: AuthenticatedUser | None) -> str:
    return "" if user is None else user.access_token.client_id


def _most(user: AuthenticatedUser | None) -> int:
    return OF_EVERYBODY if user is None else OF_TOKEN


async def _refuse(why: str, scope: Scope, receive: Receive, send: Send) -> None:
    error = {"code": -32000, "message": f"Too many requests: {why}"}
    told = JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 429, headers={"Retry-After": "1"})
    await told(scope, receive, send)


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: Message) -> None:
    """Nobody waits for the answer."""
