"""Reads a belief file, YAML or JSON, and says of every fault at which line and column it is."""

from pathlib import Path
from typing import Any, NamedTuple

import orjson
import yaml
from pydantic import ValidationError

from falsify.belief.ingest import BadReferenceError, BeliefFile
from falsify.errors import InvalidInputError, NotFoundError

MAX_BYTES = 50_000_000


class Place(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int


class Document:
    """A parsed belief file that still knows where in the text each of its parts stood."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._root = _compose(name, text)
        try:
            self.beliefs = BeliefFile.model_validate(_values(name, self._root))
        except ValidationError as error:
            raise self._fault(error) from error

    def located(self, error: BadReferenceError) -> InvalidInputError:
        """Return the error with the place in the file that it speaks of."""
        return _error(self.name, self._place(error.path), error.message, error.hint)

    def _fault(self, error: ValidationError) -> InvalidInputError:
        details = error.errors()
        first = details[0]
        path = tuple(first["loc"])
        message, hint = str(first["msg"]).removeprefix("Value error, "), ""
        where = ".".join(str(part) for part in path)
        if first["type"] == "extra_forbidden":
            message, hint = f"unknown key {path[-1]!r}", f"known keys here: {', '.join(_known_keys(path[:-1]))}"
        elif first["type"] == "missing":
            message = f"{path[-1]!r} is missing"
        else:
            message = f"{where}: {message}"
        if len(details) > 1:
            hint = "; ".join(part for part in (hint, f"{len(details) - 1} more like this") if part)
        return _error(self.name, self._place(path, key=first["type"] == "extra_forbidden"), message, hint)

    def _place(self, path: tuple[Any, ...], *, key: bool = False) -> Place:
        node = self._root
        for step, part in enumerate(path):
            following = _child(node, part)
            if following is None:
                break
            key_node, value_node = following
            last = step == len(path) - 1
            node = key_node if key and last and key_node is not None else value_node
        return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def read(path: Path) -> Document:
    """Return the belief file at `path`."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InvalidInputError(f"{path} has {size:,} bytes; the limit is {MAX_BYTES:,}", hint="split the file")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{path} is a folder", hint="name a belief file, YAML or JSON") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not UTF-8 text (byte {error.start})", hint="save it as UTF-8") from None
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from error
    return Document(str(path), text)


def _compose(name: str, text: str) -> yaml.Node:
    if name.endswith(".json"):
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise _error(name, Place(error.lineno, error.colno), f"this is not JSON: {error.msg}", "") from error
    try:
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
        raise _error(name, place, f"this is not YAML: {error.problem}", "") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        raise _error(
            name, Place(line, column), f"the character U+{ord(text[error.position]):04X} is not allowed", "remove it"
        ) from error
    except RecursionError:
        raise InvalidInputError(f"{name} is nested too deeply to be a belief file") from None
    if not isinstance(root, yaml.MappingNode):
        raise InvalidInputError(
            f"{name} is not a belief file", hint="it starts with `question: …`; see docs/belief-files.md"
        )
    return root


def _values(name: str, root: yaml.Node) -> Any:
    """Return the plain values of a composed document; a key given twice and an alias are errors."""
    seen: set[int] = set()

    def value(node: yaml.Node) -> Any:
        if id(node) in seen and not isinstance(node, yaml.ScalarNode):
            raise _error(name, _mark(node), "anchors and aliases are not part of a belief file", "write it out")
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            out: dict[Any, Any] = {}
            for key_node, value_node in node.value:
                key = scalar(key_node)
                if key in out:
                    raise _error(name, _mark(key_node), f"the key {key!r} is given twice", "")
                out[key] = value(value_node)
            return out
        if isinstance(node, yaml.SequenceNode):
            return [value(item) for item in node.value]
        return scalar(node)

    def scalar(node: yaml.Node) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            raise _error(name, _mark(node), "a key must be a plain word", "")
        constructor = yaml.constructor.SafeConstructor()
        try:
            return constructor.construct_object(node)
        except (ValueError, yaml.constructor.ConstructorError) as error:
            raise _error(name, _mark(node), f"{node.value!r} is not a value: {error}", "") from error

    try:
        return value(root)
    except RecursionError:
        raise InvalidInputError(f"{name} is nested too deeply to be a belief file") from None


def _mark(node: yaml.Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _child(node: yaml.Node, part: Any) -> tuple[yaml.Node | None, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((k, v) for k, v in node.value if k.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return None, node.value[part]
    return None


def _known_keys(path: tuple[Any, ...]) -> list[str]:
    """Return the keys that the model knows at a path such as ("evidence", 0)."""
    model: Any = BeliefFile
    for part in path:
        if isinstance(part, str):
            (model,) = (arg for arg in model.model_fields[part].annotation.__args__ if hasattr(arg, "model_fields"))
    return sorted(model.model_fields)


def _error(name: str, place: Place, message: str, hint: str) -> InvalidInputError:
    return InvalidInputError(f"{name}, line {place.line}, column {place.column}: {message}", hint=hint)
