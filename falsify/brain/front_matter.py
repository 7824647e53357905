"""Front matter: the YAML at the top of a page, read into plain values that know their line.

It is read event by event, so that its depth and size are known before anything is built; anchors, aliases and tags
have no place in it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final, NamedTuple

import yaml

from falsify.brain.page_text import fault

MAX_CHARACTERS: Final = 100_000
MAX_KEYS: Final = 200
MAX_DEPTH: Final = 10

_EDGE: Final = re.compile(r"---[ \t]*$")
_END: Final = re.compile(r"(?:---|\.\.\.)[ \t]*$")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LARGEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the front matter and the line of the file on which it begins.

    `plain` is JSON-ready: dates are ISO text. `text` is what was written, of a single value that is not empty;
    `items` and `keys` are what a list or a mapping holds.
    """

    line: int
    plain: Any
    text: str | None = None
    items: tuple["Value", ...] | None = None
    keys: Mapping[str, "Value"] | None = None


class Split(NamedTuple):
    """The front matter of a page, and the number of lines that it takes; 0 where there is none."""

    values: Mapping[str, Value]
    lines: int


NONE: Final = Split({}, 0)


def split(rel_path: str, lines: Sequence[str]) -> Split:
    """Return the front matter that the lines of a page begin with. Raises InvalidInputError where it is malformed."""
    if not _EDGE.match(lines[0]):
        return NONE
    end = next((number for number, line in enumerate(lines) if number and _END.match(line)), None)
    if end is None:
        message = "the front matter has no end"
        raise fault(rel_path, 1, message, hint="close it with a line ---, or begin the page with another line")
    text = "\n".join(lines[1:end])
    if len(text) > MAX_CHARACTERS:
        message = f"the front matter has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}"
        raise fault(rel_path, 1, message, hint="move the text below it")
    return Split(_values(rel_path, text), end + 1)


def _values(rel_path: str, text: str) -> Mapping[str, Value]:
    builder = _Builder(rel_path)
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = f"the front matter is not YAML: {error.problem or error.context}"
        hint = "put a text that holds `: `, `#`, quotes or brackets in quotes"
        raise fault(rel_path, mark.line + 2 if mark else 1, message, hint=hint) from error
    except yaml.reader.ReaderError as error:
        before = text.encode()[: error.position]  # the parser counts bytes
        message = f"the front matter is not YAML: {error.reason}"
        raise fault(rel_path, before.count(b"\n") + 2, message, hint="remove it") from error
    return builder.result()


@dataclass(slots=True)
class _Frame:
    """A list or mapping that is being read; `key` is the one whose value comes next."""

    line: int
    keys: dict[str, Value] | None
    items: list[Value] = field(default_factory=list)
    key: str | None = None

    def value(self) -> Value:
        if self.keys is not None:
            return Value(self.line, {name: each.plain for name, each in self.keys.items()}, keys=self.keys)
        return Value(self.line, [each.plain for each in self.items], items=tuple(self.items))


class _Builder:
    """Makes values of the events of a YAML parser."""

    def __init__(self, rel_path: str) -> None:
        self._rel_path = rel_path
        self._frames: list[_Frame] = []
        self._root: Value | None = None
        self._count = 0

    def take(self, event: yaml.Event) -> None:
        line = (
            event.start_mark.line if event.start_mark else 0
        ) + 2  # the parser counts from 0, and the first line is the one with ---
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise self._fault(line, "anchors and aliases have no place in front matter", "write the value out")
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            self._open(event, line)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self._put(self._frames.pop().value())
        elif isinstance(event, yaml.DocumentStartEvent) and self._root is not None:
            raise self._fault(line, "the front matter holds a second document", "keep one")

    def result(self) -> Mapping[str, Value]:
        root = self._root
        if root is None or (root.plain is None and root.items is None):
            return {}
        if root.keys is None:
            raise self._fault(2, "the front matter is not made of `key: value` lines", "write `title: …`, one a line")
        return root.keys

    def _open(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent, line: int) -> None:
        self._no_tag(event.tag, line)
        if self._frames and self._frames[-1].keys is not None and self._frames[-1].key is None:
            raise self._fault(line, "a key must be a plain word", "put a text that begins with [ or { in quotes")
        if len(self._frames) == MAX_DEPTH:
            raise self._fault(line, f"the front matter is nested more than {MAX_DEPTH} deep", "flatten it")
        self._frames.append(_Frame(line, {} if isinstance(event, yaml.MappingStartEvent) else None))

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        self._no_tag(event.tag, line)
        bad = _CONTROL.search(event.value)
        if bad:
            raise self._fault(line, f"a value holds the control character U+{ord(bad[0]):04X}", "remove it")
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.keys is not None and frame.key is None:
            self._key(frame, frame.keys, event.value, line)
        else:
            plain = _plain(event.value) if event.implicit[0] else event.value
            self._put(Value(line, plain, None if plain is None else event.value))

    def _key(self, frame: _Frame, keys: Mapping[str, Value], name: str, line: int) -> None:
        if name in keys:
            raise self._fault(line, f"the key {name!r} is given twice", "keep one of the two")
        self._count += 1
        if self._count > MAX_KEYS:
            raise self._fault(line, f"the front matter has more than {MAX_KEYS} keys", "move data below it")
        frame.key = name

    def _put(self, value: Value) -> None:
        if not self._frames:
            self._root = value
            return
        frame = self._frames[-1]
        if frame.keys is None:
            frame.items.append(value)
        elif frame.key is not None:
            frame.keys[frame.key] = value
            frame.key = None

    def _no_tag(self, tag: str | None, line: int) -> None:
        if tag is not None:
            raise self._fault(line, f"the tag {tag} has no place in front matter", "leave it out")

    def _fault(self, line: int, message: str, hint: str) -> Exception:
        return fault(self._rel_path, line, message, hint=hint)


_RESOLVER: Final = yaml.resolver.Resolver()
_CONSTRUCTOR: Final = yaml.constructor.SafeConstructor()
_TAG: Final = "tag:yaml.org,2002:"


def _plain(text: str) -> Any:
    """Return what YAML takes an unquoted value for, or the text where that could not be written as JSON."""
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]  # the stubs have none
    kind = tag.removeprefix(_TAG)
    if kind not in {"null", "bool", "int", "float", "timestamp"}:
        return text
    try:
        value = _CONSTRUCTOR.construct_object(yaml.ScalarNode(tag, text))
    except (ValueError, OverflowError):
        return text  # 2024-02-31, or a number of thousands of digits
    return _json_ready(value, text)


def _json_ready(value: Any, text: str) -> Any:
    match value:
        case datetime() | date():
            return value.isoformat()
        case float() if not math.isfinite(value):
            return text
        case int() if abs(value) > _LARGEST:
            return text
        case _:
            return value


def texts(value: Value) -> Iterator[Value]:
    """Yield every single value within a value that is a text or stands for one, in order."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if each.text is not None:
            yield each
        inner = each.items if each.items is not None else tuple((each.keys or {}).values())
        waiting.extend(reversed(inner))
