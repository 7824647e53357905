"""Events to bytes and back: orjson, upcasters, and the hash that chains one record to the next."""

import enum
import hashlib
import math
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import orjson

from falsify.errors import DamagedError, InvalidInputError
from falsify.events import UPCASTERS, Event, find_kind

GENESIS = b"\0" * 32
"""What the first record of a log is chained to."""


def canonical(body: object) -> bytes:
    """Return the JSON of the body with sorted keys and no spaces: equal bodies are equal bytes."""
    return _dump(body, "the body", orjson.OPT_SORT_KEYS)


def encode(event: Event) -> bytes:
    """Return the event's body as JSON, fields in their declared order."""
    return _dump(event.__dict__, f"a {event.kind} event")


def topic(event: Event) -> str:
    """Return the stable name under which the event is stored: `kind/version`."""
    return f"{event.kind}/{event.version}"


def decode(name: str, body: bytes) -> Event:
    """Return the event stored as `body` under the topic `name`, brought up to its present version.

    Raises DamagedError for an unknown kind, a version newer than this program, or a body that is not JSON.
    """
    build = _BUILDERS.get(name) or _builder(name)
    try:
        return build(orjson.loads(body))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedError(f"the body of a {name} record cannot be read: {error}") from error


def link(previous: bytes, *, stream: str, revision: int, epoch: int, recorded_at: int, actor: str, command: str,
         name: str, body: bytes) -> bytes:  # fmt: skip
    """Return the hash that chains a record to the one before it (SHA-256, 32 bytes).

    Every field takes part, separated by zero bytes, which no name and no JSON holds: no two different records feed
    the hash the same bytes.
    """
    head = f"{stream}\0{revision}\0{epoch}\0{recorded_at}\0{actor}\0{command}\0{name}\0{len(body)}\0".encode()
    return hashlib.sha256(previous + head + body).digest()


def _dump(value: object, what: str, option: int = 0) -> bytes:
    try:
        body = orjson.dumps(value, option=option)
    except TypeError as error:
        raise InvalidInputError(f"{what} cannot be written as JSON: {error}") from error
    # orjson writes NaN and infinity as null, and what is read back would not be what happened.
    if b"null" in body and not _finite(value):
        raise InvalidInputError(f"{what} holds a number that is not finite", hint="JSON has no NaN and no infinity")
    return body


def _finite(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(map(_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_finite, value))
    if is_dataclass(value) and not isinstance(value, type):
        return all(_finite(getattr(value, field.name)) for field in fields(value))
    return True


# --- decoding, compiled once for each topic -----------------------------------------------------------------

_Convert = Callable[[Any], Any]

_Build = Callable[[dict[str, Any]], Event]

_BUILDERS: dict[str, _Build] = {}


def _builder(name: str) -> _Build:
    kind, _, number = name.rpartition("/")
    cls = find_kind(kind)
    if cls is None or not number.isdecimal() or not 0 < int(number) <= cls.version:
        raise DamagedError(
            f"the log holds a {name!r} record, which this version of Falsify does not know",
            hint="the log was written by a newer Falsify: upgrade with `pip install --upgrade falsify-log`",
        )
    steps = [UPCASTERS[kind, version] for version in range(int(number), cls.version)]
    build: _Build = _instance(cls)

    def upcast(body: dict[str, Any]) -> Event:
        for step in steps:
            body = step(body)
        return build(body)

    _BUILDERS[name] = upcast if steps else build
    return _BUILDERS[name]


def _instance(cls: type[Any]) -> _Convert:
    """Return a function that makes the decoded JSON object the instance's own __dict__, its values converted."""
    hints = get_type_hints(cls)
    defaults = {f.name: f.default for f in fields(cls)}
    converters = [(name, convert) for name in defaults if (convert := _converter(hints[name]))]
    size, new, assign = len(defaults), object.__new__, object.__setattr__

    def build(body: dict[str, Any]) -> Any:
        if len(body) != size:  # comparing the names would cost replay 4 times as much, for what no log contains
            body = _complete(defaults, body)
        for name, convert in converters:
            body[name] = convert(body[name])
        instance = new(cls)
        assign(instance, "__dict__", body)
        return instance

    return build


def _complete(defaults: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    body = defaults | body
    wrong = sorted(name for name, value in body.items() if value is MISSING or name not in defaults)
    if wrong:
        raise TypeError(f"it lacks or does not know {', '.join(wrong)}")
    return body


def _converter(hint: Any) -> _Convert | None:
    """Return what turns JSON into the hinted type, or None where JSON already is it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _PLAIN or origin is Literal:
        return None
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin in (dict, Mapping):
        convert = _converter(arguments[1])
        return convert and (lambda value: {key: convert(each) for key, each in value.items()})
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint
    if is_dataclass(hint) and isinstance(hint, type):
        return _instance(hint)
    raise TypeError(f"an event cannot hold a {hint}: it would not be read back as it was written")


_PLAIN = (str, int, float, bool, type(None), Any, object)


def _union(arguments: Iterable[Any]) -> _Convert | None:
    values = [each for each in arguments if each is not type(None)]
    converters = [convert for each in values if (convert := _converter(each))]
    if not converters:
        return None
    if len(values) > 1:
        raise TypeError(f"an event cannot hold any of {values}: JSON does not tell them apart")
    (convert,) = converters
    return lambda value: value if value is None else convert(value)


def _tuple(arguments: tuple[Any, ...]) -> _Convert:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        convert = _converter(arguments[0])
        return (lambda value: tuple(map(convert, value))) if convert else tuple
    converters = [_converter(each) or (lambda value: value) for each in arguments]
    return lambda value: tuple(convert(each) for convert, each in zip(converters, value, strict=True))
