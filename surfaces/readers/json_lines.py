"""JSON Lines: a claim a line, as an object."""

import json
from pathlib import PurePath
from typing import Any, NoReturn

from falsify.belief.documents import Claim
from falsify.errors import InvalidInputError
from surfaces.readers.reading import Reading, decode
from surfaces.readers.rows import claim


def read(name: str, data: bytes) -> Reading:
    """Return the claims of a file; empty lines are passed over."""
    text = decode(name, data)
    claims = [_claim(name, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return Reading(title=PurePath(name).name, claims=tuple(claims))


def _claim(name: str, number: int, line: str) -> Claim:
    try:
        values = json.loads(line, object_pairs_hook=_object, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"{name}, line {number}, column {error.colno}: this is not JSON: {error.msg}",
            hint='a line is an object such as {"claim": "The valve leaks."}',
        ) from error
    except (ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise InvalidInputError(f"{name}, line {number}: {said}") from error
    if not isinstance(values, dict):
        raise InvalidInputError(
            f"{name}, line {number}: a line is an object, and this is not one", hint='{"claim": "The valve leaks."}'
        )
    return claim(name, number, values)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)!r} is given twice")
    return values


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
