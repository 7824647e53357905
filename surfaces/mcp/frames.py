"""Frames: what is no message of the protocol is answered with an error, where the SDK would pass over it in silence."""

from collections.abc import Mapping
from contextvars import Context
from types import TracebackType
from typing import Any, Protocol, Self

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError


class Reading(Protocol):
    """Where messages come from, and what could not be read as one."""

    last_context: Context | None

    async def receive(self) -> SessionMessage | Exception: ...
    async def aclose(self) -> None: ...


class Writing(Protocol):
    """Where messages go."""

    async def send(self, item: SessionMessage, /) -> None: ...


class Frames:
    """The messages that come from a client; what is none never gets further than this."""

    def __init__(self, reading: Reading, writing: Writing) -> None:
        self._reading, self._writing = reading, writing

    @property
    def last_context(self) -> Context | None:
        """The context in which the last message was sent: the SDK carries a request out in it."""
        return self._reading.last_context

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises anyio.EndOfStream after the last one."""
        while isinstance(item := await self._reading.receive(), Exception):
            if (answer := refusal(item)) is not None:
                await self._writing.send(SessionMessage(answer))
        return item

    async def aclose(self) -> None:
        await self._reading.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


def refusal(error: Exception) -> types.JSONRPCError | None:
    """Return the answer to what could not be read, None for what waits for none.

    That is an empty line, and an answer, whatever is wrong with it: two sides that answer each other's answers never
    come to an end.
    """
    problems = error.errors(include_url=False, include_context=False) if isinstance(error, ValidationError) else []
    if any(each["type"] == "json_invalid" for each in problems):
        blank = not str(problems[0]["input"]).strip()
        return None if blank else _refused(None, types.PARSE_ERROR, "this is not JSON, or JSON that is nested too deep")
    frame: Mapping[str, Any] = next((each["input"] for each in problems if _is_frame(each["input"])), {})
    if not {"result", "error"}.isdisjoint(frame):
        return None
    return _refused(_id(frame), types.INVALID_REQUEST, "this is not a message of JSON-RPC 2.0, one in each line")


def _is_frame(value: object) -> bool:
    return isinstance(value, Mapping) and not {"jsonrpc", "id", "method", "result", "error"}.isdisjoint(value)


def _id(frame: Mapping[str, Any]) -> types.RequestId | None:
    given = frame.get("id")
    return given if isinstance(given, str | int) and not isinstance(given, bool) else None


def _refused(request_id: types.RequestId | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
