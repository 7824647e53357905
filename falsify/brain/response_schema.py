"""The schema that an answer is to conform to: what of JSON Schema is allowed, and whether a value conforms.

Allowed is an object with `properties` and, if wanted, `required`. A property is a string, number, integer, boolean, an
array of those, or, one level deep, an object; `enum` lists the values of the first four. There is no other keyword, and
no free text: names are identifiers. A value conforms only if it has no other properties than those.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

Schema = Mapping[str, Any]

SCALARS: Final = ("string", "number", "integer", "boolean")

MOST_PROPERTIES: Final = 32
MOST_VALUES: Final = 32
LONGEST_VALUE: Final = 64
"""Characters of a text in `enum`."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(SCALARS, frozenset({"type", "enum"})),
    "array": frozenset({"type", "items"}),
    "object": frozenset({"type", "properties", "required"}),
}


def schema_fault(schema: object) -> str:
    """Return what is wrong with a schema, or nothing."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return "The response_schema is not an object with the type object."
    return next(_faults(schema, "response_schema", nested=False), "")


def value_fault(schema: Schema, value: object, path: str = "") -> str:
    """Return where and how a value does not conform to a schema that has no fault, or nothing."""
    return next(_misfits(schema, value, path or "the answer"), "")


# --- what is allowed ------------------------------------------------------------------------------------------


def _faults(schema: object, path: str, *, nested: bool) -> Iterator[str]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or not isinstance(kind, str) or kind not in _KEYWORDS:
        yield f"{path} has no type that is allowed: {', '.join(_KEYWORDS)}."
        return
    if any(key not in _KEYWORDS[kind] for key in schema):
        yield f"{path} has a keyword that is not allowed: {kind} takes {', '.join(sorted(_KEYWORDS[kind]))}."
        return
    match kind:
        case "object":
            yield from _object_faults(schema, path, nested=nested)
        case "array":
            yield from _items_faults(schema, path)
        case _:
            yield from _enum_faults(schema, path)


def _object_faults(schema: Schema, path: str, *, nested: bool) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, Mapping) or not 0 < len(properties) <= MOST_PROPERTIES:
        yield f"{path} needs properties, 1 to {MOST_PROPERTIES}."
        return
    if any(not isinstance(name, str) or not _NAME.fullmatch(name) for name in properties):
        yield f"{path} has a property whose name is no identifier: letters, digits and _, 64 at most."
        return
    if not isinstance(required, Sequence) or isinstance(required, str) or not _once(required, properties):
        yield f"{path} has a required that is not a list of its properties, each once."
        return
    for name, schema_ in properties.items():
        if nested and isinstance(schema_, Mapping) and schema_.get("type") == "object":
            yield f"{path}.{name} is an object in an object in an object: one level is allowed."
        else:
            yield from _faults(schema_, f"{path}.{name}", nested=True)


def _once(names: Sequence[object], known: Mapping[str, object]) -> bool:
    return all(isinstance(name, str) and name in known for name in names) and len(set(names)) == len(names)


def _items_faults(schema: Schema, path: str) -> Iterator[str]:
    if "items" not in schema:
        return
    items = schema["items"]
    if not isinstance(items, Mapping) or items.get("type") not in SCALARS:
        yield f"{path}.items has no type that is allowed: {', '.join(SCALARS)}."
    else:
        yield from _faults(items, f"{path}.items", nested=True)


def _enum_faults(schema: Schema, path: str) -> Iterator[str]:
    if "enum" not in schema:
        return
    values = schema["enum"]
    if not isinstance(values, Sequence) or isinstance(values, str) or not 0 < len(values) <= MOST_VALUES:
        yield f"{path}.enum is not a list of 1 to {MOST_VALUES} values."
    elif not all(is_of(schema["type"], value) for value in values):
        yield f"{path}.enum has a value that is no {schema['type']}."
    elif any(isinstance(value, str) and not (len(value) <= LONGEST_VALUE and value.isprintable()) for value in values):
        yield f"{path}.enum has a text that is longer than {LONGEST_VALUE} characters or is not printable."


# --- what conforms --------------------------------------------------------------------------------------------


def _misfits(schema: Schema, value: object, path: str) -> Iterator[str]:
    kind = schema["type"]
    if not is_of(kind, value):
        yield f"{path} is no {kind}"
    elif isinstance(value, Mapping):
        properties = schema["properties"]
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            yield f"{path} has no {missing[0]}"
        if any(name not in properties for name in value):
            yield f"{path} has a property that was not asked for"
        for name in (each for each in properties if each in value):
            yield from _misfits(properties[name], value[name], name if path == "the answer" else f"{path}.{name}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _misfits(schema.get("items") or _ANY, item, f"{path}[{place}]")
    elif "enum" in schema and not any(same(value, each) for each in schema["enum"]):
        yield f"{path} is none of the values it may have"


_ANY: Final[Schema] = {"type": "scalar"}


def is_of(kind: str, value: object) -> bool:
    """Return whether a value is of a type; of the type `scalar` is all but arrays and objects."""
    match value:
        case bool():
            return kind in {"boolean", "scalar"}
        case int():
            return kind in {"number", "integer", "scalar"}
        case float():
            return math.isfinite(value) and (kind in {"number", "scalar"} or (kind == "integer" and value.is_integer()))
        case str():
            return kind in {"string", "scalar"}
        case Mapping():
            return kind == "object"
        case list():
            return kind == "array"
    return False


def same(one: object, other: object) -> bool:
    """Return whether two values are the same to JSON: 1 and 1.0 are, 1 and true are not."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other
