"""Citations: the markers [n] of an answer, held against what was served, one number for each page, without gaps.

A marker is worth what it leads to. One that leads to nothing is dropped, whoever wrote it; and what a page has in
brackets is none, so it is shown in parentheses.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

_NUMBERS: Final = r"\d{1,6}(?:\s*[,;\u2013-]\s*\d{1,6})*"
_MARKER: Final = re.compile(
    rf"(?P<gap>[ \t]*)[\[\u3010]{{1,3}}\s*\^?(?P<numbers>{_NUMBERS})\s*(?:\u2020[^\]\u3011\n]*)?[\]\u3011]{{1,3}}"
)
_BRACKETS: Final = " \t[]\u3010\u3011"
_KEPT: Final = re.compile(r"\0(\d+)\0")
_TWICE: Final = re.compile(r"(\[\d+\])(?:[ \t]*\1)+")

MOST_OF_A_RANGE: Final = 50
"""Extracts that one range may name, as [2-5] names four."""


class Cited(Protocol):
    """What a citation looks at: which page an extract is of."""

    @property
    def rel_path(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Citing:
    """A text with markers [1], [2], ... and what they lead to: `places[n - 1]` is the place of the extract of [n]."""

    text: str
    places: tuple[int, ...] = ()


def verified(text: str, extracts: Sequence[Cited]) -> Citing:
    """Return a text whose markers are numbers of `extracts` (from 1), with those that hold, numbered anew by page."""
    numbers: dict[str, int] = {}
    places: list[int] = []

    def kept(found: re.Match[str]) -> str:
        shown: dict[int, None] = {}
        for place in _named(found["numbers"], len(extracts)):
            rel_path = extracts[place].rel_path
            if rel_path not in numbers:
                numbers[rel_path] = len(numbers) + 1
                places.append(place)
            shown[numbers[rel_path]] = None
        return found["gap"] + "".join(f"\0{number}\0" for number in shown) if shown else ""

    held = _MARKER.sub(kept, text.replace("\0", ""))
    # What is left around a marker that was dropped may pass for one: [1[9]] without [9].
    while _MARKER.search(held):
        held = _MARKER.sub("", held)
    return Citing(_TWICE.sub(r"\1", _KEPT.sub(r"[\1]", held)).strip(), tuple(places))


def unmarked(text: str) -> str:
    """Return a text in which nothing passes for a marker: its brackets are parentheses."""
    return _MARKER.sub(lambda found: f"{found['gap']}({found[0].strip(_BRACKETS)})", text.replace("\0", ""))


def stripped(text: str) -> str:
    """Return a text without its markers."""
    return _MARKER.sub("", text)


def _named(numbers: str, count: int) -> Iterator[int]:
    """Yield the places that a marker names and that there are."""
    for part in re.split(r"\s*[,;]\s*", numbers):
        first, *last = (int(number) for number in re.split(r"\s*[\u2013-]\s*", part))
        for number in range(first, min(max([first, *last]), first + MOST_OF_A_RANGE) + 1):
            if 1 <= number <= count:
                yield number - 1
