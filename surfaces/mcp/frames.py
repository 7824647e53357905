"""Frames: what is no message of the protocol is answered with an error, where the SDK would pass over it in silence."""

import re
from collections.abc import Mapping
from contextvars import Context
from types import TracebackType
from typing import Any, Final, Protocol, Self, TextIO

import anyio
import anyio.to_thread
import mcp_types as types
import orjson
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_ODD_ID: Final = re.compile(r'"id"\s*:\s*(?:[^"\s\d-]|-?\d+[.eE])')
_NO_MESSAGE: Final = "{}\n"


class Reading(Protocol):
    """Where messages come from, and what could not be read as one."""

    last_context: Context | None

    async def receive(self) -> SessionMessage | Exception: ...
    async def aclose(self) -> None: ...


class Writing(Protocol):
    """Where messages go."""

    async def send(self, item: SessionMessage, /) -> None: ...


class Lines:
    """The lines that come in. One that asks under an id that is none would pass for a notification, and is no message.

    A thread waits for each, and whoever stops waiting for it leaves it behind.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = await anyio.to_thread.run_sync(self._file.readline, abandon_on_cancel=True)
        if not line:
            raise StopAsyncIteration
        # Parsed here too only where something in it, at whatever depth, has such an id: to search it takes no time.
        return _NO_MESSAGE if _ODD_ID.search(line) and _asks_under_none(line) else line


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
            if (failed := failed_answer(item)) is not None:
                return SessionMessage(failed)
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
    frame = _frame(error)
    if not _ANSWER.isdisjoint(frame):
        return None
    return _refused(_id(frame), types.INVALID_REQUEST, "this is not a message of JSON-RPC 2.0, one in each line")


def failed_answer(error: Exception) -> types.JSONRPCError | None:
    """Return what an answer that could not be read is taken for: its sender failed. None for what is no answer.

    Without it, whoever asked would wait in vain.
    """
    frame = _frame(error)
    request_id = _id(frame)
    if request_id is None or _ANSWER.isdisjoint(frame):
        return None
    return _refused(request_id, types.INVALID_REQUEST, "its answer is none of JSON-RPC 2.0")


_ANSWER: Final = frozenset({"result", "error"})


def _asks_under_none(line: str) -> bool:
    """Return whether a line is a request whose id is neither text nor an integer."""
    try:
        frame = orjson.loads(line)
    except ValueError:
        return False
    if not isinstance(frame, dict) or "id" not in frame or not isinstance(method := frame.get("method"), str):
        return False
    # Some clients send notifications with an id of null: nobody waits for what becomes of them.
    return _id(frame) is None and not (frame["id"] is None and method.startswith("notifications/"))


def _frame(error: Exception) -> Mapping[str, Any]:
    """Return what could not be read as a message, as far as it is an object that meant to be one."""
    problems = error.errors(include_url=False, include_context=False) if isinstance(error, ValidationError) else []
    return next((each["input"] for each in problems if _is_frame(each["input"])), {})


def _is_frame(value: object) -> bool:
    return isinstance(value, Mapping) and not {"jsonrpc", "id", "method", "result", "error"}.isdisjoint(value)


def _id(frame: Mapping[str, Any]) -> types.RequestId | None:
    given = frame.get("id")
    return given if isinstance(given, str | int) and not isinstance(given, bool) else None


def _refused(request_id: types.RequestId | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
