"""A tree as rows of text that stay narrow: what is many steps down goes on at the margin, in a numbered part."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

STEPS: Final = 16
"""How many steps a part of a tree is indented."""


class Signs(NamedTuple):
    """What branches are drawn with: one character, then two of three."""

    bar: str
    tee: str
    corner: str


@dataclass(frozen=True, slots=True)
class Row:
    """An entry of the tree: an object with an `id` and its `reasons`, how many steps down it is, and in which part.

    `first` stands before its first line and `rest` before the others. The `head` of a part was a row of another part,
    of which `goes_on` is that part. `told_in` is the part in which the reasons of an entry stand that was met before.
    """

    told: Mapping[str, Any]
    first: str = ""
    rest: str = ""
    depth: int = 0
    part: int = 0
    head: bool = False
    goes_on: int | None = None
    told_in: int | None = None


def rows(root: Mapping[str, Any], signs: Signs) -> Iterator[Row]:
    """Yield the entries of a tree in the order in which they are read."""
    laid_out = list(_laid_out(root, signs))
    places = {row.told["id"]: (row.part, place) for place, row in enumerate(laid_out) if row.told["reasons"]}
    for place, row in enumerate(laid_out):
        part, there = places.get(row.told["id"], (row.part, place))
        known = not row.told["reasons"] and (there < place or part != row.part)
        yield replace(row, told_in=part) if known else row


def _laid_out(root: Mapping[str, Any], signs: Signs) -> Iterator[Row]:
    heads = deque([Row(root)])
    parts = 0
    while heads:
        top = heads.popleft()
        rest = [top]
        while rest:
            row = rest.pop()
            if row.told["reasons"] and row.depth - top.depth == STEPS:
                parts += 1
                heads.append(Row(row.told, depth=row.depth, part=parts, head=True))
                yield replace(row, goes_on=parts)
            else:
                yield row
                rest += reversed(list(_beneath(row, signs)))


def _beneath(row: Row, signs: Signs) -> Iterator[Row]:
    reasons = row.told["reasons"]
    for number, told in enumerate(reasons, 1):
        branch, below = (signs.tee, f"{signs.bar}  ") if number < len(reasons) else (signs.corner, "   ")
        yield Row(told, row.rest + branch, row.rest + below, row.depth + 1, row.part)
