"""CSV: a claim a row, below a row with the names of the columns; commas, semicolons or tabs between them."""

import csv
import io
from pathlib import PurePath
from typing import Any

from falsify.belief.documents import Claim
from falsify.errors import InvalidInputError
from surfaces.readers.reading import Reading, decode
from surfaces.readers.rows import COLUMNS, claim, unknown

_LIMIT = 1_000_000


def read(name: str, data: bytes) -> Reading:
    """Return the claims of a file."""
    text = decode(name, data)
    return Reading(title=PurePath(name).name, claims=tuple(_Table(name, text).claims()))


class _Table:
    """A file of rows, read one by one."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._line = 1
        first = text.partition("\n")[0]
        self._delimiter = max(",;\t", key=first.count)
        csv.field_size_limit(_LIMIT)
        self._reader = csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter, strict=True)

    def claims(self) -> list[Claim]:
        head = [cell.strip() for cell in self._next() or ()]
        self._check(head)
        found = []
        while (cells := self._next()) is not None:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(head):
                raise self._fault(f"it has {len(cells)} cells, and the first line names {len(head)} columns")
            values: dict[str, Any] = {column: cell for column, cell in zip(head, cells, strict=True) if cell.strip()}
            found.append(claim(self._name, self._line, {"claim": "", **values}))
        return found

    def _next(self) -> list[str] | None:
        """Return the next row, and note the line on which it begins."""
        self._line = self._reader.line_num + 1
        try:
            return next(self._reader, None)
        except csv.Error as error:
            message = "a quotation mark is not closed" if "unexpected end" in str(error) else str(error)
            raise self._fault(message) from error

    def _check(self, head: list[str]) -> None:
        for column in head:
            if column not in COLUMNS:
                raise unknown(self._name, 1, column)
            if head.count(column) > 1:
                raise InvalidInputError(f"{self._name}, line 1: the column {column!r} is there twice")
        if "claim" not in head:
            raise InvalidInputError(
                f"{self._name}, line 1: there is no column 'claim'", hint=f"the columns are {', '.join(COLUMNS)}"
            )

    def _fault(self, message: str) -> InvalidInputError:
        return InvalidInputError(
            f"{self._name}, line {self._line}: {message}", hint="a cell with a comma or a quote in it stands in quotes"
        )
