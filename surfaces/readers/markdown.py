"""Markdown: paragraphs, list items and quotations are prose; headings, code, tables and comments are not."""

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, Final

from falsify.belief.prose import Location, Passage, passage
from falsify.belief.text import moment
from falsify.errors import InvalidInputError
from surfaces.readers.reading import Line, Reading, decode, lines


def read(name: str, data: bytes) -> Reading:
    """Return the passages of a page. Title and date are those of the front matter, or else the first heading is."""
    text = decode(name, data)
    matter, body = _front_matter(text)
    blocks = _Blocks()
    for line in lines(_HIDDEN.sub(_blank, _blank_until(text, body))):
        blocks.take(line)
    blocks.end()
    given = matter.get("title")
    title = given if isinstance(given, str) and given.strip() else blocks.title
    found = (passage(_inline(block)) for block in blocks.found)
    return Reading(
        title=" ".join(title.split()) or PurePath(name).name,
        asserted_at=_date(matter.get("date")),
        passages=tuple(each for each in found if each is not None),
    )


_HIDDEN: Final = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?)??(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|^[ \t]*<(?P<tag>script|style|pre|table)\b.*?(?:</(?P=tag)>|\Z)"
    r"|^[ \t]*<!--.*?(?:-->|\Z)"
    r"|<!--.{0,5000}?-->",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_FRONT: Final = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)


def _blank(match: re.Match[str]) -> str:
    """Return white space of the same shape, so that everything else stays where it is."""
    return re.sub(r"[^\r\n]", " ", match[0])


def _blank_until(text: str, end: int) -> str:
    return re.sub(r"[^\r\n]", " ", text[:end]) + text[end:]


def _front_matter(text: str) -> tuple[dict[str, Any], int]:
    """Return the values of the front matter, if there is one, and where it ends."""
    found = _FRONT.match(text)
    if found is None:
        return {}, 0
    import yaml

    try:
        values = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, found.end()  # whoever renders the page may read it otherwise; it is no prose in any case
    return (values if isinstance(values, dict) else {}), found.end()


def _date(value: object) -> str:
    """Return a date of the front matter, or nothing for one that could be read in two ways or none."""
    try:
        return moment(str(value)) if value else ""
    except InvalidInputError:
        return ""


class _Blocks:
    """Takes in a page line by line, and collects the blocks that are prose."""

    def __init__(self) -> None:
        self.title = ""
        self.found: list[list[Line]] = []
        self._block: list[Line] = []
        self._in_list = False
        self._in_table = False
        self._after_gap = True

    def take(self, line: Line) -> None:
        line = _shortened(line, _QUOTED)
        text = line.text
        if not text.strip():
            self.end()
            self._in_table, self._after_gap = False, True
            return
        gap, self._after_gap = self._after_gap, False
        if self._in_table or _DEFINES.match(text) or (gap and not self._in_list and _INDENTED.match(text)):
            self._after_gap = gap  # an indented line after an indented line is still code
        elif self._block and _UNDERLINE.match(text):
            self._entitle(" ".join(each.text for each in self._block), first=text.strip()[0] == "=")
            self._block = []
        elif self._block and "|" in self._block[-1].text and _DELIMITERS.match(text):
            self._block.pop()
            self.end()
            self._in_table = True
        elif heading := _HEADING.match(text):
            self.end()
            self._in_list = False
            self._entitle(heading[2], first=len(heading[1]) == 1)
        elif _RULE.match(text):
            self.end()
        else:
            self._prose(line, gap=gap)

    def end(self) -> None:
        """End the block that is being collected."""
        if self._block:
            self.found.append(self._block)
            self._block = []

    def _prose(self, line: Line, *, gap: bool) -> None:
        if _ITEM.match(line.text):
            self.end()
            self._in_list = True
            line = _shortened(line, _ITEM)
        elif gap and not line.text[0].isspace():
            self._in_list = False
        self._block.append(_shortened(line, _FOOTNOTE))

    def _entitle(self, text: str, *, first: bool) -> None:
        if first and not self.title:
            block = [Line(text, Location())]
            found = passage(_inline(block))
            self.title = found.text if found else ""


_QUOTED: Final = re.compile(r"(?: {0,3}>[ \t]?)+")
_INDENTED: Final = re.compile(r"(?: {4}| {0,3}\t)")
_DEFINES: Final = re.compile(r" {0,3}\[[^\]^][^\]]*\]:\s")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_DELIMITERS: Final = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_FOOTNOTE: Final = re.compile(r" {0,3}\[\^[^\]]+\]:[ \t]*")


def _shortened(line: Line, prefix: re.Pattern[str]) -> Line:
    """Return the line without a prefix, if it has it."""
    match = prefix.match(line.text)
    if match is None:
        return line
    character = line.location.character
    moved = line.location._replace(character=None if character is None else character + match.end())
    return Line(line.text[match.end() :], moved)


# --- within a block -------------------------------------------------------------------------------------------

_MARKUP: Final = re.compile(
    r"(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|(?P<drop>!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?|\[\^[^\]]+\]|~~[^~]+~~|</?[A-Za-z][^<>]*>)"
    r"|<(?P<link>(?:https?://|mailto:)[^<>\s]+)>"
    r"|\[(?P<label>(?:[^\[\]\\]|\\.|!?\[[^\]]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)",
    re.DOTALL,
)


def _inline(block: Sequence[Line]) -> Iterator[tuple[str, Location]]:
    """Yield the text of a block without its markup, piece by piece."""
    places: list[tuple[int, Location]] = []
    size = 0
    for line in block:
        places.append((size, line.location))
        size += len(line.text) + 1
    raw = Passage("\n".join(line.text for line in block), tuple(places))
    yield from _stripped(raw, 0, len(raw.text))


def _stripped(raw: Passage, start: int, end: int) -> Iterator[tuple[str, Location]]:
    for match in _MARKUP.finditer(raw.text, start, end):
        yield from _as_it_is(raw, start, match.start())
        if match["label"] is not None:
            yield from _stripped(raw, *match.span("label"))
        elif match["entity"]:
            yield html.unescape(match["entity"]), raw.at(match.start())
        else:
            kept = next((name for name in ("code", "link", "escaped") if match[name]), None)
            if kept:
                yield from _as_it_is(raw, *match.span(kept))
        start = match.end()
    yield from _as_it_is(raw, start, end)


def _as_it_is(raw: Passage, start: int, end: int) -> Iterator[tuple[str, Location]]:
    """Yield a stretch of the raw text, a piece for each of its lines."""
    while start < end:
        stop = raw.text.find("\n", start, end)
        stop = end if stop < 0 else stop + 1
        yield raw.text[start:stop], raw.at(start)
        start = stop
