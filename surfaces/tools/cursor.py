"""Cursors: where a listing was left off, sealed so that it continues that listing and no other.

A cursor hides nothing and grants nothing: whoever unseals one still asks for what the caller may see.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from falsify.codec import canonical
from falsify.errors import InvalidInputError

MAX_LENGTH = 256
"""How long a sealed cursor may be, in characters: the published bound of every `cursor` argument."""

_CHECK, _BOUND = 4, 8  # bytes of the digest over the cursor itself, and of that over the listing


@dataclass(frozen=True, slots=True)
class Cursor:
    """The project's revision at the first page, and the sort key of the last item that was told."""

    revision: int
    key: tuple[int | float | str, ...]


def seal(cursor: Cursor, *, bound: Mapping[str, Any]) -> str:
    """Return the cursor as an opaque text, bound to one listing: its tool, project and filters, but not its limit.

    Raises ValueError for a sort key too long to fit, which is a fault of the listing and not of its caller.
    """
    body = _digest(canonical(bound), _BOUND) + canonical([cursor.revision, cursor.key])
    text = _text(_digest(body, _CHECK) + body)
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a cursor of {len(text)} characters; at most {MAX_LENGTH} are published")
    return text


def unseal(text: str, *, bound: Mapping[str, Any]) -> Cursor:
    """Return the cursor that was sealed. Raises InvalidInputError if it was not by us, or for another listing."""
    raw = _bytes(text)
    check, body = raw[:_CHECK], raw[_CHECK:]
    if check != _digest(body, _CHECK):
        raise not_given_out()
    if body[:_BOUND] != _digest(canonical(bound), _BOUND):
        raise InvalidInputError(
            "the cursor belongs to another listing",
            hint="repeat the call with the filters of the first page, or leave the cursor out to begin anew",
            reason="bad_cursor",
        )
    return _cursor(body[_BOUND:])


def _cursor(body: bytes) -> Cursor:
    """Return what the JSON says. Anybody can compute a digest, so its types are not taken on trust."""
    match told := _json(body):
        case [revision, list(key)] if (
            type(revision) is int and revision >= 0 and {*map(type, key)} <= {int, float, str}
        ):
            if canonical(told) == body:
                return Cursor(revision, tuple(key))
    raise not_given_out()


def _json(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise not_given_out() from None


def _bytes(text: str) -> bytes:
    padded = text + "=" * (-len(text) % 4)
    try:
        raw = base64.b64decode(padded, altchars=b"-_", validate=True) if len(text) <= MAX_LENGTH else b""
    except (binascii.Error, ValueError):
        raise not_given_out() from None
    if not raw or _text(raw) != text:  # base64 has many spellings of the same bytes; we write one
        raise not_given_out()
    return raw


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _digest(body: bytes, size: int) -> bytes:
    return hashlib.blake2b(body, digest_size=size).digest()


def not_given_out() -> InvalidInputError:
    """Return that a cursor is none that any page of the listing gave out."""
    return InvalidInputError(
        "the cursor is not one that Falsify gave out",
        hint="pass nextCursor of the last page as it is, or leave the cursor out to begin anew",
        reason="bad_cursor",
    )
