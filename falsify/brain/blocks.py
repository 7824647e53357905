"""What of a page is prose: its lines with code and comments emptied, so that neither has headings or links."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_QUOTED: Final = re.compile(r"(?: {0,3}>[ \t]?)+")
_FENCE: Final = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_CLOSES: Final = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*$")
_INDENTED: Final = re.compile(r" {4}| {0,3}\t")
ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
"""The beginning of a list item."""
_COMMENT: Final = re.compile(r" {0,3}<!--")


@dataclass(slots=True)
class _Open:
    """What is open at a line: a fence and whether it stands in a quotation, a comment, a list."""

    fence: str = ""
    quoted: bool = False
    comment: bool = False
    listed: bool = False
    after_gap: bool = True


def prose(lines: Sequence[str]) -> list[str]:
    """Return the lines with fenced and indented code and HTML comments emptied: as many lines as there were."""
    return list(_prose(lines))


def _prose(lines: Sequence[str]) -> Iterator[str]:
    state = _Open()
    for line in lines:
        if state.fence and _in_fence(state, line):
            yield ""
        elif state.comment:
            state.comment, shown = _commented(line)
            yield shown
        else:
            yield _shown(state, line)


def _in_fence(state: _Open, line: str) -> bool:
    """Return whether the line belongs to the open fence, which ends with its mark or with its quotation."""
    bare, quoted = _unquoted(line)
    if state.quoted and not quoted:
        state.fence = ""
        return False
    closes = _CLOSES.match(bare if state.quoted else line)
    if closes and closes[1][0] == state.fence[0] and len(closes[1]) >= len(state.fence):
        state.fence = ""
    return True


def _shown(state: _Open, line: str) -> str:
    """Return the line, or nothing where it is code or a comment."""
    if not line.strip():
        state.after_gap = True
        return line
    gap, state.after_gap = state.after_gap, False
    if _INDENTED.match(line) and gap and not state.listed:
        state.after_gap = True  # an indented line after an indented line is still code
        return ""
    if gap and not line[0].isspace():
        state.listed = False
    state.listed = state.listed or ITEM.match(line) is not None
    bare, quoted = _unquoted(line)
    opens = _FENCE.match(bare)
    if opens and (state.listed or not _INDENTED.match(bare)):
        state.fence, state.quoted = opens["fence"], quoted
        return ""
    if _COMMENT.match(line):
        state.comment, line = _commented(line)
    return _without_comments(line) if "<!--" in line else line


def _unquoted(line: str) -> tuple[str, bool]:
    mark = _QUOTED.match(line)
    return (line[mark.end() :], True) if mark else (line, False)


def _commented(line: str) -> tuple[bool, str]:
    """Return whether a comment goes on after the line, and what is shown of the line."""
    _, end, rest = line.partition("-->")
    return (False, rest) if end else (True, "")


def _without_comments(line: str) -> str:
    """Return the line without the comments that begin and end in it."""
    kept: list[str] = []
    shown = 0
    while (start := line.find("<!--", shown)) >= 0 and (end := line.find("-->", start)) >= 0:
        kept.append(line[shown:start])
        shown = end + 3
    return "".join((*kept, line[shown:]))
