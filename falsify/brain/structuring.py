"""An answer with a shape: values that are read off sentences, for a schema. What is not found is left out, not guessed.

A text is the sentence that has most words of the property's name, a number the one nearest to such a word (else the
first), a value of an `enum` one that a sentence says. What is true or false is not read off sentences.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from falsify.brain.likeness import normal
from falsify.brain.response_schema import Schema, is_of, same


def extracted(schema: Schema, told: Sequence[str]) -> dict[str, Any]:
    """Return what of an object is found in sentences, the best of them first."""
    found = {name: _extracted(name, each, told) for name, each in schema["properties"].items()}
    return {name: value for name, value in found.items() if value is not None}


def _extracted(name: str, schema: Schema, told: Sequence[str]) -> Any:
    ranked = _by_name(name, told)
    match schema["type"]:
        case "object":
            return extracted(schema, ranked) or None
        case "array":
            items = schema.get("items") or {"type": "string"}
            return [value for sentence in ranked[:1] for value in _all(name, items, sentence)] or None
        case _:
            return next((value for sentence in ranked for value in _all(name, schema, sentence)), None)


def _all(name: str, schema: Schema, sentence: str) -> list[Any]:
    """Return all values of a type in a sentence, the most likely first."""
    if "enum" in schema and schema["type"] == "string":
        said = f" {normal(sentence)} "
        return [value for value in schema["enum"] if f" {normal(value)} " in said]
    match schema["type"]:
        case "string":
            return [sentence]
        case "number" | "integer":
            numbers = [n for n in _numbers(name, sentence) if is_of(schema["type"], n)]
            return [n for n in numbers if "enum" not in schema or any(same(n, each) for each in schema["enum"])]
    return []


def _by_name(name: str, told: Sequence[str]) -> list[str]:
    """Return the sentences by how many words of a name they have; among equals the better one first."""
    wanted = _words_of(name)
    return sorted(told, key=lambda sentence: -len(wanted & set(map(_stem, normal(sentence).split()))))


def _words_of(name: str) -> set[str]:
    """Return the words of an identifier: `price_eur` and `priceEur` have two."""
    return set(map(_stem, normal(re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name)).split()))


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


_NUMBER: Final = re.compile(
    r"(?<![\w.,/-])[-+\u2212]?(?:\d{1,3}(?:[,' \u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\d+,\d{1,2})"
    r"(?![\w/]|[.,-]\d)"
)
_DATE: Final = re.compile(
    r"(?:\d{1,2}\s+)?\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:\s+\d{4})?\b|\b\d{4}-\d{2}(?:-\d{2})?\b",
    re.IGNORECASE,
)


def _numbers(name: str, sentence: str) -> list[int | float]:
    """Return the numbers of a sentence that are no date, those nearest to a word of the name first."""
    wanted = _words_of(name)
    places = [found.start() for found in re.finditer(r"\w+", sentence) if _stem(normal(found[0])) in wanted]
    dated = [found.span() for found in _DATE.finditer(sentence)]
    numbers = [n for n in _NUMBER.finditer(sentence) if not any(start <= n.start() < end for start, end in dated)]
    ranked = sorted(numbers, key=lambda n: min((abs(n.start() - place) for place in places), default=0))
    return [_value(found[0]) for found in ranked]


def _value(written: str) -> int | float:
    plain = re.sub(r"(?<=\d)[,' \u00a0\u202f](?=\d{3}(?!\d))", "", written.replace("\u2212", "-"))
    number = float(plain.replace(",", "."))
    return int(number) if number.is_integer() and "." not in plain and "," not in plain else number
