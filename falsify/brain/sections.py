"""The sections of a page: its text cut at its headings, with `#` or underlined, outside code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from falsify.brain.blocks import ITEM
from falsify.brain.wikilinks import labelled

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_OTHER: Final = re.compile(r" {0,3}[>|<]")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading; lines are counted from 1 in the file, both ends included.

    `heading_path` leads from the page's first heading to this one; the text before any heading has an empty path and
    level 0. `text` is those lines, the heading among them; what stands under a heading below it is another section.
    """

    ordinal: int
    level: int
    heading_path: tuple[str, ...]
    text: str
    start_line: int
    end_line: int


class Heading(NamedTuple):
    """A heading: its level (1 to 6), its text, and where in the lines it begins (counted from 0)."""

    level: int
    text: str
    start: int


def headings(prose: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings of lines of prose in order."""
    paragraph: int | None = None  # where the paragraph began that an underline would make a heading
    barred = False  # in a list, quotation, table or HTML: what follows without a gap belongs to it
    for number, line in enumerate(prose):
        if not line.strip():
            paragraph, barred = None, False
        elif found := _HEADING.match(line):
            paragraph, barred = None, False
            yield Heading(len(found[1]), _title(line[found.end() :]), number)
        elif paragraph is not None and _UNDERLINE.match(line):
            text = " ".join(each.strip() for each in prose[paragraph:number])
            yield Heading(1 if line.strip()[0] == "=" else 2, labelled(text), paragraph)
            paragraph = None
        elif _RULE.match(line):
            paragraph, barred = None, False
        elif ITEM.match(line) or _OTHER.match(line):
            paragraph, barred = None, True
        elif paragraph is None and not barred:
            paragraph = number


def cut(lines: Sequence[str], found: Sequence[Heading], *, first_line: int) -> Iterator[Section]:
    """Yield the sections of the lines of a body, of which the first is line `first_line` of the file."""
    path: list[Heading] = []
    ordinal = 0
    ends = [*(each.start for each in found), len(lines)]
    for heading, from_, to in zip((None, *found), (0, *ends), ends, strict=False):
        if heading:
            path = [*(each for each in path if each.level < heading.level), heading]
        start, end = _trimmed(lines, from_, to)
        if start == end:
            continue  # blank, and before the first heading
        yield Section(
            ordinal,
            heading.level if heading else 0,
            tuple(each.text for each in path),
            "\n".join(lines[start:end]),
            first_line + start,
            first_line + end - 1,
        )
        ordinal += 1


def _title(rest: str) -> str:
    """Return the text of a heading with `#`, without the marks that close it."""
    text = rest.strip()
    bare = text.rstrip("#")
    closed = bare != text and (not bare or bare[-1] in " \t")
    return labelled(bare.rstrip() if closed else text)


def _trimmed(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end
