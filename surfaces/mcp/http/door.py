"""The door: what every request passes first. One by another name, or from another origin, gets no further."""

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from surfaces.mcp.http.names import Names


class Door:
    """Turns away requests by other names and from other origins, and ends those quietly whose client is gone."""

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope["headers"])
        if refused is not None:
            await refused(scope, receive, send)
            return
        try:
            await self._app(scope, _Whole(receive), send)
        except _GoneError:  # there is nobody to answer, and nothing was done
            return

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> Response | None:
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        if len(hosts) != 1 or not self._names.admit(hosts[0]):
            return PlainTextResponse("Invalid Host header: start the server with --allow-host NAME", 421)
        # Without one, it is no page that asks.
        if not all(self._names.admit_page(origin) for origin in origins if origin):
            return PlainTextResponse("Invalid Origin header: start the server with --allow-host NAME", 403)
        return None


class _GoneError(Exception):
    """A client went away in the middle of its request."""


@dataclass(slots=True)
class _Whole:
    """Receives a request, to the end or not at all."""

    receive: Receive
    ended: bool = False

    async def __call__(self) -> Message:
        message = await self.receive()
        if not self.ended and message["type"] == "http.disconnect":
            raise _GoneError
        self.ended = self.ended or not message.get("more_body", False)
        return message
