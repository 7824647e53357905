"""HTML: what a reader of the page reads as prose. Scripts, navigation, forms, code and data tables are not."""

import html
import re
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import PurePath
from typing import Final

from falsify.belief.prose import Location, Passage, passage
from falsify.belief.text import moment
from falsify.errors import InvalidInputError
from surfaces.readers.reading import Reading, decode


def read(name: str, data: bytes) -> Reading:
    """Return the passages of a page, its title and the date that it says it was published on."""
    declared = _CHARSET.search(data[:4096])
    text = decode(name, data, encoding=declared[1].decode("ascii") if declared else "")
    page = _Page(text)
    try:
        page.feed(text)
        page.close()
    except AssertionError as error:  # what html.parser says of a declaration that is none
        line, column = page.getpos()
        raise InvalidInputError(f"{name}, line {line}, column {column + 1}: this is not HTML: {error}") from error
    page.end_passage()
    title = page.title or page.heading
    return Reading(
        title=" ".join(title.split()) or PurePath(name).name, asserted_at=page.date, passages=tuple(page.passages)
    )


_CHARSET: Final = re.compile(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9._:-]+)""", re.IGNORECASE)
_SKIPPED: Final = frozenset(
    (
        "script", "style", "nav", "aside", "footer", "form", "noscript", "template", "svg", "math", "pre", "button",
        "select", "textarea", "iframe", "object", "figcaption", "del", "s", "strike", "dialog", "audio", "video",
        "canvas",
    )
)  # fmt: skip
_INLINE: Final = frozenset(
    (
        "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "dfn", "em", "font", "i", "img", "ins", "kbd",
        "label", "mark", "q", "ruby", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    )
)  # fmt: skip
_HEADINGS: Final = frozenset(["h1", "h2", "h3", "h4", "h5", "h6", "title"])
_DATES: Final = frozenset(
    ["article:published_time", "date", "dc.date", "dcterms.date", "dcterms.issued", "datepublished", "citation_date"]
)
_VOID: Final = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)


class _Page(HTMLParser):
    """Collects the passages of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)  # a character reference is longer than what it stands for
        self.title = self.heading = self.date = ""
        self.passages: list[Passage] = []
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self._pieces: list[tuple[str, Location]] = []
        self._skipped: list[str] = []
        self._tables: list[tuple[int, bool]] = []
        self._in_heading = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "meta":
            self._take_date({name: value or "" for name, value in attrs})
        elif self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.append(tag)
        elif tag in _SKIPPED or (tag not in _VOID and any(name == "hidden" for name, _ in attrs)):
            if tag not in {"del", "s", "strike"}:  # what is struck out stands within a sentence
                self.end_passage()
            self._skipped.append(tag)
        elif tag not in _INLINE:
            self._begin(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_starttag(tag, attrs)

    def _begin(self, tag: str) -> None:
        self.end_passage()
        if tag in _HEADINGS:
            self._in_heading = tag
        elif tag == "table":
            self._tables.append((len(self.passages), False))
        elif tag in {"th", "thead"} and self._tables:
            self._tables[-1] = (self._tables[-1][0], True)

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.pop()
            return
        if tag in _INLINE or tag in _SKIPPED:
            return
        self.end_passage()
        if tag == "table" and self._tables:
            start, of_data = self._tables.pop()
            if of_data:  # a table without a head is layout, as old pages have it
                del self.passages[start:]

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            line, column = self.getpos()
            for each in data.splitlines(keepends=True):
                self._pieces.append((each, Location(self._starts[line - 1] + column, line)))
                ended = each.endswith("\n")
                line, column = (line + 1, 0) if ended else (line, column + len(each))

    def handle_entityref(self, name: str) -> None:
        self._reference(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._reference(f"&#{name};")

    def _reference(self, written: str) -> None:
        if not self._skipped:
            line, column = self.getpos()
            self._pieces.append((html.unescape(written), Location(self._starts[line - 1] + column, line)))

    def end_passage(self) -> None:
        """End the passage, or the heading, that is being collected."""
        found = passage(self._pieces)
        heading, self._in_heading, self._pieces = self._in_heading, "", []
        if found is None:
            self._in_heading = heading if heading == "title" else ""
        elif heading == "title":
            self.title = self.title or found.text
        elif heading:
            self.heading = self.heading or found.text
        else:
            self.passages.append(found)

    def _take_date(self, attributes: dict[str, str]) -> None:
        named = (attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or "").lower()
        if named in _DATES and not self.date:
            try:
                self.date = moment(attributes.get("content", ""))
            except InvalidInputError:
                return  # not a date that can be read in one way only
