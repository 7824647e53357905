"""A CSV file as a sample: one column of classes, and every other column of numbers is a feature."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from falsify.errors import InvalidInputError
from falsify.executors.trainer.data import Sample

_MOST_CLASSES = 100
_FEWEST_ROWS = 10


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: tuple[str, ...]


def read_table(path: Path, label: str) -> Sample:
    """Return the rows of a CSV file (UTF-8, first line a header) whose column `label` holds the classes.

    A column is a feature if the first cell of it that is not empty is a number, and then every cell must be one.
    Raises InvalidInputError, naming the line, for what cannot be read.
    """
    header, *rows = _rows(path)
    names = header.cells
    if len(set(names)) < len(names):
        raise InvalidInputError(f"{path} names a column twice in its first line", hint="each needs a name of its own")
    if label not in names:
        raise InvalidInputError(f"csv_label is {label!r}", hint=f"it must be a column of {path}: {', '.join(names)}")
    if len(rows) < _FEWEST_ROWS:
        raise InvalidInputError(f"{path} has {len(rows)} rows", hint=f"it must have at least {_FEWEST_ROWS}")
    column = names.index(label)
    features = [at for at in range(len(names)) if at != column and _numeric(rows, at)]
    if not features:
        raise InvalidInputError(f"{path} has no column of numbers beside {label!r}", hint="add at least one")
    classes, labels = _classes(path, label, [(row.line, row.cells[column]) for row in rows])
    values = [[_number(path, row.line, names[at], row.cells[at]) for at in features] for row in rows]
    return Sample(
        np.array(values),
        np.array([classes.index(name) for name in labels]),
        tuple(names[at] for at in features),
        classes,
    )


def _rows(path: Path) -> Iterator[_Row]:
    """Return the header and every row that is not blank, each of them as long as the header."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"csv_path is {str(path)!r}", hint=f"it must be a file of UTF-8: {error}") from error
    reader = csv.reader(io.StringIO(text), strict=True)
    width = 0
    try:
        for cells in reader:
            if not cells:
                continue
            width = width or len(cells)
            if len(cells) != width:
                raise InvalidInputError(
                    f"{path}, line {reader.line_num}: {len(cells)} cells",
                    hint=f"it must have {width}, as the header has",
                )
            yield _Row(reader.line_num, tuple(cell.strip() for cell in cells))
    except csv.Error as error:
        raise InvalidInputError(f"{path}, line {reader.line_num}: {error}") from error
    if not width:
        raise InvalidInputError(f"{path} is empty", hint="its first line must name the columns")


def _numeric(rows: Sequence[_Row], column: int) -> bool:
    first = next((row.cells[column] for row in rows if row.cells[column]), "")
    return _parsed(first) is not None


def _number(path: Path, line: int, name: str, cell: str) -> float:
    number = _parsed(cell)
    if number is None or not math.isfinite(number):
        raise InvalidInputError(f"{path}, line {line}: {name} is {cell!r}", hint="it must be a finite number")
    return number


def _parsed(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _classes(path: Path, name: str, cells: Sequence[tuple[int, str]]) -> tuple[tuple[str, ...], list[str]]:
    """Return the classes in sorted order, and the class of each row."""
    empty = next((line for line, cell in cells if not cell), None)
    if empty is not None:
        raise InvalidInputError(f"{path}, line {empty}: {name} is empty", hint="it must name a class")
    labels = [cell for _, cell in cells]
    classes = tuple(sorted(set(labels)))
    if not 2 <= len(classes) <= _MOST_CLASSES:
        raise InvalidInputError(
            f"csv_label is {name!r}, which has {len(classes)} different values",
            hint=f"it must have 2 to {_MOST_CLASSES}, the classes",
        )
    return classes, labels
