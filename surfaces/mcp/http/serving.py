"""Serving over streamable HTTP at /mcp: who may connect, under which names, and who the bearer of a token is."""

import asyncio
import ipaddress
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route

from falsify.errors import InvalidInputError, UnavailableError
from surfaces.mcp.http import sessions
from surfaces.mcp.http.connections import QUEUE, TAKEN_AT_ONCE, Connections, room
from surfaces.mcp.http.door import Door
from surfaces.mcp.http.names import Names
from surfaces.mcp.identity import Caller
from surfaces.mcp.server import Context
from surfaces.mcp.tokens import Tokens

logger = logging.getLogger(__name__)

PATH: Final = "/mcp"

PATIENCE: Final = 3
"""Seconds that open connections are given when the server ends."""

_LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen: a host and a port, 0 for any that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Return what `HOST:PORT` says; the host may be left out, and that of IPv6 stands in brackets."""
        host, colon, port = text.rpartition(":")
        if not colon or not (port.isascii() and port.isdigit()) or int(port) > 65_535:
            raise InvalidInputError(f"{text!r} is no address", hint="write HOST:PORT, for example 127.0.0.1:8931")
        return cls(host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port))

    @property
    def loopback(self) -> bool:
        """Whether nobody but this machine gets there."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def everywhere(self) -> bool:
        """Whether it is every address of this machine, and so none that a client could name."""
        return self.host in {"0.0.0.0", "::"}  # noqa: S104 - compared with, not listened on

    @property
    def name(self) -> str:
        """The host as it stands in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def url(self, port: int) -> str:
        """Return where clients find the server."""
        return f"http://{self.name}:{port}{PATH}"


def allowed(address: Address, names: Sequence[str]) -> Names:
    """Return the names under which the server may be addressed, as the Host and the Origin of a request."""
    if address.everywhere and not names:
        raise InvalidInputError(
            f"{address.host} is every address of this machine, and a request must name one that is expected",
            hint="say under which names clients reach the server with --allow-host NAME",
        )
    own = () if address.everywhere else (address.name,)
    return Names.of((*own, *(_LOOPBACK_NAMES if address.loopback else ()), *names))


def http_app(server: Server[Any], *, tokens: Tokens | None, names: Names) -> Starlette:
    """Return the application; without `tokens`, whoever reaches it may call."""
    manager = StreamableHTTPSessionManager(server, session_idle_timeout=sessions.IDLE, max_sessions=sessions.IN_ALL)
    holds = tokens.holds if tokens is not None else lambda _token: True
    served = sessions.Sessions(manager.handle_request, holds=holds)
    doors = [Middleware(Door, names=names)]
    endpoint: Any = served
    if tokens is not None:
        # No OAuth: tokens come from a person at the command line, so there is no resource metadata to point to.
        doors += [
            Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(_Verifier(tokens))),
            Middleware(AuthContextMiddleware),
        ]
        endpoint = RequireAuthMiddleware(served, required_scopes=[])

    @asynccontextmanager
    async def life(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(served.watch)
            yield
            tasks.cancel_scope.cancel()

    return Starlette(routes=[Route(PATH, endpoint=endpoint)], middleware=doors, lifespan=life)


@dataclass(frozen=True, slots=True)
class _Verifier:
    """Looks tokens up in the log, anew for every request: one that was revoked a moment ago is unknown."""

    tokens: Tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who the bearer is; None makes the answer 401, for expired, revoked and unknown ones alike."""
        known = self.tokens.bearer(token)
        if known is None:
            return None
        # A session belongs to a client id: that of the token, so that a second token does not enter it.
        return AccessToken(
            token="", client_id=known.id, scopes=[], subject=known.identity, claims={"projects": known.projects}
        )


def by_token(context: Context) -> Caller:
    """Return who the bearer of the token is with which a request came."""
    user = context.request.user if context.request is not None else None
    if not isinstance(user, AuthenticatedUser):
        raise LookupError("a request came through that nobody had let in")  # noqa: TRY004 - of the program, not of a type
    known = user.access_token
    projects = (known.claims or {})["projects"]
    return Caller(known.subject or "", frozenset(projects) or None)


def listen(address: Address) -> socket.socket:
    """Return a socket that listens there. Raises UnavailableError where it cannot be had."""
    with ExitStack() as undone:
        try:
            (family, kind, protocol, _, where), *_ = socket.getaddrinfo(
                address.host, address.port, type=socket.SOCK_STREAM
            )
            # The protocol is named: asyncio sends without delay only where it knows that it is TCP.
            listening = undone.enter_context(socket.socket(family, kind, protocol or socket.IPPROTO_TCP))
            if os.name == "posix":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(where)
            # Whoever is told the address may connect at once, and waits until the server is up.
            listening.listen()
        except OSError as error:
            raise UnavailableError(
                f"{address.name}:{address.port} cannot be listened on: {error.strerror or error}",
                hint="choose another port; 0 takes any that is free",
            ) from error
        undone.pop_all()
        return listening


def serve_http(app: Starlette, listening: socket.socket, *, asked_to_end: Callable[[], bool] = lambda: False) -> None:
    """Serve until a signal asks to end, or at most until the server is up where one did before it heeded any."""
    HttpServer(app, asked_to_end).run(sockets=[listening])


class HttpServer(uvicorn.Server):
    """A server that heeds a signal which came before its own handlers were there, and looks after its connections."""

    def __init__(self, app: Starlette, asked_to_end: Callable[[], bool] = lambda: False) -> None:
        self._asked_to_end = asked_to_end
        self._connections = Connections(room())
        config = uvicorn.Config(
            app,
            http=self._connections.protocol,  # type: ignore[arg-type] # it is only called
            ws="none",
            log_config=None,
            log_level="warning",
            access_log=False,
            backlog=TAKEN_AT_ONCE,
            timeout_graceful_shutdown=PATIENCE,
            server_header=False,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin; from here on every signal comes to the handlers."""
        asyncio.get_running_loop().set_exception_handler(_told)
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(QUEUE)
        self.should_exit = self.should_exit or self._asked_to_end()

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end; ten times a second."""
        if counter % 10 == 0:
            self._connections.look()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End in order: what is being done is done, for so long."""
        self._connections.leave()
        await super().shutdown(sockets)


def _told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say what nobody else saw to; of connections that could not be accepted, no more than that."""
    error = context.get("exception")
    if isinstance(error, OSError) and "socket" in context:
        logger.error("a connection could not be accepted: %s", error.strerror)
    else:
        loop.default_exception_handler(context)
