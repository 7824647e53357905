"""One row of a table of claims, whichever format the table has: its columns, and the faults in them."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from falsify.belief.documents import Claim, Weight
from falsify.belief.events import Stance
from falsify.belief.ingest import Moment, Part, Remark, Text, WeightEntry
from falsify.belief.prose import Location
from falsify.errors import InvalidInputError


def _weights(value: Any) -> Any:
    """Return `A:0.8; B`, or a list of such, as entries of a hypothesis and a weight."""
    words = value.split(";") if isinstance(value, str) else value
    if not isinstance(words, list):
        return words
    return [_weight(word.strip()) if isinstance(word, str) else word for word in words if word != ""]


def _weight(word: str) -> dict[str, Any]:
    name, colon, number = word.rpartition(":")
    try:
        return {"hypothesis": name.strip(), "weight": float(number)} if colon else {"hypothesis": word}
    except ValueError:
        return {"hypothesis": word}


def _stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


Weights = Annotated[tuple[WeightEntry, ...], BeforeValidator(_weights), Field(strict=False)]
SourceName = Annotated[str, BeforeValidator(_stripped), Field(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*$")]


class Row(Part):
    """A claim, who made it, and what it bears on."""

    claim: Text
    source: SourceName = ""
    title: Remark = ""
    asserted_at: Moment = ""
    quote: Remark = ""
    supports: Weights = ()
    refutes: Weights = ()


COLUMNS = tuple(Row.model_fields)


def claim(name: str, line: int, values: Mapping[str, Any]) -> Claim:
    """Return the claim of a row. Raises InvalidInputError that names line and column of the first fault."""
    try:
        row = Row.model_validate(values)
    except ValidationError as error:
        raise _fault(name, line, error) from error
    return Claim(
        text=row.claim,
        quote=row.quote,
        location=Location(line=line),
        source_id=row.source,
        source_title=row.title,
        asserted_at=row.asserted_at,
        weights=(*_told("supports", row.supports), *_told("refutes", row.refutes)),
    )


def _told(stance: Stance, entries: tuple[WeightEntry, ...]) -> tuple[Weight, ...]:
    return tuple(Weight(entry.hypothesis, stance, float(entry.weight)) for entry in entries)


def unknown(name: str, line: int, column: str) -> InvalidInputError:
    """Return the error for a column that there is not."""
    return InvalidInputError(
        f"{name}, line {line}: there is no column {column!r}", hint=f"the columns are {', '.join(COLUMNS)}"
    )


def _fault(name: str, line: int, error: ValidationError) -> InvalidInputError:
    details = error.errors()
    first = next((each for each in details if each["type"] == "extra_forbidden"), details[0])
    column = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        return unknown(name, line, column)
    if first["type"] == "missing" and len(first["loc"]) == 1:
        return InvalidInputError(f"{name}, line {line}: the column {column!r} is missing", hint="see docs/ingest.md")
    message = str(first["msg"]).removeprefix("Value error, ")
    return InvalidInputError(f"{name}, line {line}, column {column!r}: {message}", hint="see docs/ingest.md")
