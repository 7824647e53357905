"""Events to bytes and back: orjson, upcasters, and the hash that chains one record to the next."""

import hashlib
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_origin, get_type_hints

import orjson

from falsify.errors import DamagedError
from falsify.events import REGISTRY, Event

GENESIS = b"\0" * 32
"""What the first record of a log is chained to."""

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTERS: dict[tuple[str, int], Upcaster] = {}
"""(kind, version) -> the step that turns a body of that version into one of the next."""

_TUPLES: dict[type[Event], tuple[str, ...]] = {}


def encode(event: Event) -> bytes:
    """Return the event's body as JSON, fields in their declared order."""
    return orjson.dumps(event.__dict__)


def topic(event: Event) -> str:
    """Return the stable name under which the event is stored: `kind/version`."""
    return f"{event.kind}/{event.version}"


def decode(name: str, body: bytes) -> Event:
    """Return the event stored as `body` under the topic `name`, brought up to its present version.

    Raises DamagedError for an unknown kind, a version newer than this program, or a body that is not JSON.
    """
    decoder = _DECODERS.get(name) or _decoder(name)
    try:
        return decoder(orjson.loads(body))
    except (orjson.JSONDecodeError, TypeError, KeyError) as error:
        raise DamagedError(f"the body of a {name} record cannot be read: {error}") from error


_DECODERS: dict[str, Callable[[dict[str, Any]], Event]] = {}


def _decoder(name: str) -> Callable[[dict[str, Any]], Event]:
    kind, _, number = name.rpartition("/")
    cls = REGISTRY.get(kind)
    if cls is None or not number.isdigit() or int(number) > cls.version:
        raise DamagedError(
            f"the log holds a {name!r} record, which this version of Falsify does not know",
            hint="the log was written by a newer Falsify: upgrade with `pip install --upgrade falsify-log`",
        )
    steps = [UPCASTERS[kind, version] for version in range(int(number), cls.version)]
    build = _builder(cls)

    def upcast(body: dict[str, Any]) -> Event:
        for step in steps:
            body = step(body)
        return build(body)

    _DECODERS[name] = upcast if steps else build
    return _DECODERS[name]


def _builder(cls: type[Event]) -> Callable[[dict[str, Any]], Event]:
    """Return a function that makes the decoded JSON object the instance's own __dict__."""
    hints = get_type_hints(cls)
    tuples = [f.name for f in fields(cls) if get_origin(hints[f.name]) is tuple]  # type: ignore[arg-type]  # Event subclasses are dataclasses, made by @event
    new, assign = object.__new__, object.__setattr__

    def build(body: dict[str, Any]) -> Event:
        instance = new(cls)
        assign(instance, "__dict__", body)
        return instance

    def build_tuples(body: dict[str, Any]) -> Event:
        for name in tuples:
            if name in body:
                body[name] = tuple(body[name])
        return build(body)

    return build_tuples if tuples else build


def link(previous: bytes, *, stream: str, revision: int, epoch: int, recorded_at: int, actor: str, command: str,
         name: str, body: bytes) -> bytes:  # fmt: skip
    """Return the hash that chains a record to the one before it (SHA-256, 32 bytes).

    Every field takes part, length-prefixed, so that no two different records feed the hash the same bytes.
    """
    head = f"{stream}\0{revision}\0{epoch}\0{recorded_at}\0{actor}\0{command}\0{name}\0{len(body)}\0".encode()
    return hashlib.sha256(previous + head + body).digest()
