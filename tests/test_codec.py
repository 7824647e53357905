"""An event that is written and read again is equal to itself, for every kind there is and whatever it holds."""

import enum
import importlib
import math
import pkgutil
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from datetime import datetime
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

import falsify
from falsify.codec import GENESIS, UPCASTERS, decode, encode, link, topic
from falsify.errors import DamagedError, InvalidInputError
from falsify.events import REGISTRY, Event, event

for module in pkgutil.walk_packages(falsify.__path__, "falsify."):
    if module.name.endswith(".events"):
        importlib.import_module(module.name)


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Point:
    x: float
    names: tuple[str, ...]


@event("test.codec_everything")
class Everything(Event):
    text: str
    number: int
    weight: float
    flag: bool
    maybe: str | None
    choice: Literal["a", "b"]
    colour: Colour
    names: tuple[str, ...]
    pair: tuple[str, tuple[int, ...]]
    point: Point
    points: tuple[Point, ...]
    perhaps: Point | None
    table: dict[str, tuple[float, ...]]
    anything: Any


KINDS = sorted(kind for kind in REGISTRY if kind.startswith("test.codec_") or not kind.startswith("test."))

PLAIN = {
    str: st.text(max_size=20),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
    Any: st.none() | st.booleans() | st.text(max_size=5) | st.lists(st.integers(0, 9), max_size=2),
}


def values(hint):
    """Return a strategy for what a field of this type may hold."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of(*map(values, arguments))
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values, arguments))
    if origin in (dict, Mapping):
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=3)
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{field.name: values(hints[field.name]) for field in fields(hint)})
    return st.sampled_from(hint)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_event_comes_back_as_it_went(kind, data):
    written = data.draw(values(REGISTRY[kind]))
    read = decode(topic(written), encode(written))
    assert read == written
    assert type(read) is type(written)
    assert encode(read) == encode(written)


@pytest.mark.parametrize("kind", KINDS)
def test_every_version_an_event_ever_had_can_be_brought_up_to_date(kind):
    assert [version for version in range(1, REGISTRY[kind].version) if (kind, version) not in UPCASTERS] == []


def test_an_event_that_was_read_cannot_be_changed_either():
    read = decode("test.codec_small/1", b'{"text":"a"}')
    with pytest.raises(FrozenInstanceError):
        read.text = "b"
    with pytest.raises(FrozenInstanceError):
        del read.text


@event("test.codec_small")
class Small(Event):
    text: str
    names: tuple[str, ...] = ("x",)


def test_a_body_is_json_in_the_order_of_the_fields():
    assert encode(Small(text="ü", names=("b", "a"))) == '{"text":"ü","names":["b","a"]}'.encode()
    assert topic(Small(text="")) == "test.codec_small/1"


def test_a_field_that_was_added_with_a_default_has_it_in_older_bodies():
    assert decode("test.codec_small/1", b'{"text":"a"}') == Small(text="a", names=("x",))


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b"null", b'{"text":1', b'{"names":[]}', b'{"text":"a","names":1}',
                                  b'{"text":"a","names":[],"more":1}', b"\xff"])  # fmt: skip
def test_a_body_that_is_not_the_event_is_damage(body):
    with pytest.raises(DamagedError, match=r"the body of a test\.codec_small/1 record cannot be read"):
        decode("test.codec_small/1", body)


@pytest.mark.parametrize("name", ["test.codec_small/2", "test.codec_small/0", "test.codec_small", "unheard/1", "/", ""])
def test_a_topic_that_this_program_does_not_know_is_damage(name):
    with pytest.raises(DamagedError, match="does not know") as refused:
        decode(name, b"{}")
    assert "upgrade" in refused.value.hint


@pytest.fixture
def aged(monkeypatch):
    """A kind in its third version, of which the first two are still in some log."""

    class Moved(Event):
        to: tuple[str, ...]
        by: str

    monkeypatch.setattr("falsify.codec._BUILDERS", {})
    cls = event("test.codec_aged", version=3)(Moved)
    monkeypatch.setitem(UPCASTERS, ("test.codec_aged", 1), lambda body: {"target": body["place"]})
    monkeypatch.setitem(UPCASTERS, ("test.codec_aged", 2), lambda body: {"to": [body["target"]], "by": "unknown"})
    yield cls
    del REGISTRY["test.codec_aged"]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("test.codec_aged/1", b'{"place":"a"}'),
        ("test.codec_aged/2", b'{"target":"a"}'),
        ("test.codec_aged/3", b'{"to":["a"],"by":"unknown"}'),
    ],
)
def test_an_older_body_is_brought_up_to_date_step_by_step(aged, name, body):
    assert decode(name, body) == aged(to=("a",), by="unknown")


def test_an_older_body_that_was_damaged_is_damage_and_not_a_crash(aged):
    with pytest.raises(DamagedError):
        decode("test.codec_aged/1", b'{"elsewhere":"a"}')


def test_two_events_cannot_have_one_name():
    class Other(Event):
        text: str

    with pytest.raises(ValueError, match=r"test\.codec_small"):
        event("test.codec_small")(Other)


@pytest.mark.parametrize("hint", [frozenset[str], datetime, tuple[str, ...] | str, Point | Colour, list[str], bytes])
def test_a_field_that_would_not_be_read_back_as_it_was_written_is_refused(hint, monkeypatch):
    class Wrong(Event):
        field: hint

    event("test.codec_wrong")(Wrong)
    monkeypatch.setattr("falsify.codec._BUILDERS", {})
    try:
        with pytest.raises(TypeError, match="an event cannot hold"):
            decode("test.codec_wrong/1", b'{"field":[]}')
    finally:
        del REGISTRY["test.codec_wrong"]


@pytest.mark.parametrize(
    "wrong",
    [math.nan, math.inf, Point(x=math.nan, names=()), {"a": (1.0, math.inf)}, [None, math.nan], object(), "\ud800"],
)
def test_what_json_cannot_hold_is_refused_and_not_changed(wrong):
    with pytest.raises(InvalidInputError, match=r"test\.codec_small"):
        encode(Small(text=wrong))


def test_the_chain_tells_every_field_from_every_other():
    record = {"stream": "s", "revision": 1, "epoch": 2, "recorded_at": 3, "actor": "a", "command": "c", "name": "n/1"}
    first = link(GENESIS, **record, body=b"{}")
    others = [link(GENESIS, **record | {field: value}, body=b"{}") for field, value in (
        ("stream", "t"), ("revision", 12), ("epoch", 3), ("recorded_at", 4), ("actor", "b"), ("command", "d"),
        ("name", "n/2"))]  # fmt: skip
    others += [link(first, **record, body=b"{}"), link(GENESIS, **record, body=b"[]")]
    assert len({first, *others}) == 10
    assert len(first) == 32
