"""The sentences of an extract of a page: what an answer can be made of, word for word.

What stands in a heading, in code or in a comment is none; a row of a table and an item of a list are sentences of their
own. Line breaks are folded, the marks of blocks fall away, and of a wikilink there is what a reader sees.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from falsify.brain.blocks import ITEM, prose
from falsify.brain.wikilinks import labelled

_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_QUOTED: Final = re.compile(r"(?: {0,3}>[ \t]?)+")
_ROW: Final = re.compile(r"\s*\|.*\|\s*$")
_RULER: Final = re.compile(r"[\s|:-]*-[\s|:-]*$")
_STOP: Final = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019\u00bb)\]]*(?=\s+(\S))")
_OPENING: Final = "\"'\u201c\u2018\u00ab([*_"
_ABBREVIATION: Final = re.compile(
    r"[\"'(]*(?:dr|mr|mrs|ms|mme|mlle|prof|st|vs|etc|e\.g|i\.e|z\.b|inc|ltd|co|corp|al|approx|dept|no|nr|fig|pp?|art|vol"
    r"|env|resp|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|(?:\w\.)+\w|[^\W\d_])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence on one line; `listed` says that it stands in a list or is a row of a table."""

    text: str
    listed: bool = False


def sentences(extract: str) -> list[Sentence]:
    """Return the sentences of an extract in order."""
    return [Sentence(text, listed) for block, listed in _blocks(extract) for text in _sentences(labelled(block))]


def first_sentences(text: str, room: int) -> str:
    """Return as many whole sentences of a text, from its beginning, as fit into so many characters; it may be none."""
    if len(text) <= room:
        return text
    end = max((stop.end() for stop in _STOP.finditer(text) if stop.end() <= room and _ends(text, stop)), default=0)
    return text[:end]


def _blocks(extract: str) -> Iterator[tuple[str, bool]]:
    """Yield the paragraphs, items and rows of an extract, each on one line, and whether it is one of a list."""
    held: list[str] = []
    listed = False
    lines = list(_unquoted(prose(extract.split("\n"))))
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        item = ITEM.match(line)
        row = _ROW.match(line)
        if row or item or not line.strip() or _HEADING.match(line):
            if held:
                yield " ".join(held), listed
            held, listed = [], item is not None
        elif _UNDERLINE.match(line):
            held = []  # what it underlines is a heading
            continue
        if row and not _RULER.match(line) and not (_ROW.match(following) and _RULER.match(following)):
            yield line.strip().strip("|").strip(), True
        elif not row and not _HEADING.match(line) and (text := line[item.end() if item else 0 :].strip()):
            held.append(text)
    if held:
        yield " ".join(held), listed


def _unquoted(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines without the marks of quotations, which an empty line parts from what is around them."""
    quoted = False
    for line in lines:
        mark = _QUOTED.match(line)
        if (mark is not None) != quoted:
            quoted = not quoted
            yield ""
        yield line[mark.end() :] if mark else line


def _sentences(block: str) -> Iterator[str]:
    start = 0
    for stop in _STOP.finditer(block):
        if _ends(block, stop):
            yield block[start : stop.end()].strip()
            start = stop.end()
    if rest := block[start:].strip():
        yield rest


def _ends(text: str, stop: re.Match[str]) -> bool:
    """Return whether a full stop ends a sentence: what follows begins one, and it abbreviates nothing."""
    following = stop[1]
    if not (following.isupper() or following.isdigit() or following in _OPENING or following.istitle()):
        return False
    before = text[: stop.start()].rsplit(None, 1)
    return stop[0] != "." or not before or not _ABBREVIATION.fullmatch(before[-1])
