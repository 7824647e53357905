"""YAML or JSON that strangers wrote, read into a pydantic model: every fault is told with its line and column."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, get_args

import orjson
import yaml
from pydantic import BaseModel, ValidationError

from falsify.errors import InvalidInputError, NotFoundError

MAX_BYTES = 50_000_000

M = TypeVar("M", bound=BaseModel)

Steps = tuple[str | int, ...]
"""The way from the top of a document to one of its parts: keys, and places in lists."""


class Place(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Located(Generic[M]):
    """What a document says, and where in its text each part of that stands."""

    name: str
    value: M
    root: yaml.Node

    def place(self, path: Steps, *, key: bool = False) -> Place:
        """Return where the part at `path` begins, or its `key`; of a path that leads nowhere, where it ends."""
        return _place(self.root, path, key=key)

    def error(self, path: Steps, message: str, *, hint: str = "") -> InvalidInputError:
        """Return an error that says where in the document it is."""
        return _error(self.name, self.place(path), message, hint)


def read(path: Path, model: type[M], *, what: str, begins: str) -> Located[M]:
    """Return the document at `path`; see `read_text` and `parse`."""
    return parse(str(path), read_text(path, what=what), model, what=what, begins=begins)


def read_text(path: Path, *, what: str) -> str:
    """Return the text at `path`. Raises NotFoundError if there is none, InvalidInputError if it is no text."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InvalidInputError(f"{path} has {size:,} bytes; the limit is {MAX_BYTES:,}", hint="split the file")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{path} is a folder", hint=f"name a {what}, YAML or JSON") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not UTF-8 text (byte {error.start})", hint="save it as UTF-8") from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from error


def parse(name: str, text: str, model: type[M], *, what: str, begins: str) -> Located[M]:
    """Return what `text` says. `what` is what such a document is called; `begins` says how one begins.

    Raises InvalidInputError that names line and column of the first fault.
    """
    root = _compose(name, text, what, begins)
    values = _Values(name, what).of(root)
    try:
        return Located(name, model.model_validate(values), root)
    except ValidationError as error:
        raise _fault(name, root, model, error) from error


def _compose(name: str, text: str, what: str, begins: str) -> yaml.Node:
    if name.endswith(".json"):
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise _error(name, Place(error.lineno, error.colno), f"this is not JSON: {error.msg}") from error
    try:
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
        raise _error(name, place, f"this is not YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        # The parser in C counts bytes, the one in Python characters: what it stopped at is looked for here.
        found = yaml.reader.Reader.NON_PRINTABLE.search(text)
        if found is None:
            raise InvalidInputError(f"{name} is not YAML: {error.reason}", hint="save it as UTF-8") from error
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        raise _error(
            name, Place(line, column), f"the character U+{ord(found[0]):04X} is not allowed", "remove it"
        ) from error
    if not isinstance(root, yaml.MappingNode):
        raise InvalidInputError(f"{name} is not a {what}", hint=begins)
    return root


class _Values:
    """Makes the plain values of a composed document; a key given twice and an alias are errors."""

    def __init__(self, name: str, what: str) -> None:
        self._name = name
        self._what = what
        self._seen: set[int] = set()
        self._constructor = yaml.constructor.SafeConstructor()

    def of(self, root: yaml.Node) -> Any:
        try:
            return self._value(root)
        except RecursionError:
            raise InvalidInputError(f"{self._name} is nested too deeply to be a {self._what}") from None

    def _value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self._seen:
            message = f"anchors and aliases are not part of a {self._what}"
            raise _error(self._name, _start(node), message, "write it out")
        self._seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item) for item in node.value]
        values: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self._scalar(key_node)
            if key in values:
                raise _error(self._name, _start(key_node), f"the key {key!r} is given twice")
            values[key] = self._value(value_node)
        return values

    def _scalar(self, node: yaml.Node) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            raise _error(self._name, _start(node), "a key must be a plain word")
        try:
            return self._constructor.construct_object(node)
        except (ValueError, yaml.constructor.ConstructorError) as error:
            raise _error(self._name, _start(node), f"{node.value!r} is not a value: {error}") from error


def _fault(name: str, root: yaml.Node, model: type[BaseModel], error: ValidationError) -> InvalidInputError:
    details = error.errors()
    # A misspelt key is also a missing one; what was written is what its writer looks for.
    first = next((each for each in details if each["type"] == "extra_forbidden"), details[0])
    path = tuple(first["loc"])
    message, hint = str(first["msg"]).removeprefix("Value error, "), ""
    at_key = first["type"] == "extra_forbidden"
    if at_key:
        message, hint = f"unknown key {path[-1]!r}", f"known keys here: {', '.join(_known_keys(model, path[:-1]))}"
    elif first["type"] == "missing":
        message = f"{path[-1]!r} is missing"
    elif path and path[-1] == _KEY:
        message, hint, at_key, path = f"the key {first['input']!r} is not text", "put it in quotes", True, path[:-1]
    elif path:
        message = f"{'.'.join(str(part) for part in path)}: {message}"
    if len(details) > 1:
        hint = "; ".join(part for part in (hint, f"{len(details) - 1} more like this") if part)
    return _error(name, _place(root, path, key=at_key), message, hint)


_KEY = "[key]"
"""What pydantic adds to the path of a key that is wrong in itself."""


def _place(root: yaml.Node, path: Steps, *, key: bool) -> Place:
    node = root
    for step, part in enumerate(path):
        following = _child(node, part)
        if following is None:
            break
        key_node, value_node = following
        last = step == len(path) - 1
        node = key_node if key and last and key_node is not None else value_node
    return _start(node)


def _child(node: yaml.Node, part: str | int) -> tuple[yaml.Node | None, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((k, v) for k, v in node.value if k.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return None, node.value[part]
    return None


def _start(node: yaml.Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _known_keys(model: type[BaseModel], path: Steps) -> list[str]:
    """Return the keys that the model knows at a path such as ("evidence", 0)."""
    for part in path:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        model = next(_models(field.annotation), model) if field else model
    return sorted(model.model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _error(name: str, place: Place, message: str, hint: str = "") -> InvalidInputError:
    return InvalidInputError(f"{name}, line {place.line}, column {place.column}: {message}", hint=hint)
