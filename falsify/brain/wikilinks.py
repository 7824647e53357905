"""The links of a page as they are written: `[[target]]`, `[[target#heading|label]]`, `[[relation::target]]`."""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_WIKILINK: Final = re.compile(r"(?<!\\)(!?)\[\[([^\[\]\n]+)\]\]")
_RELATION: Final = re.compile(r"\s*([^\W\d]\w*(?:[ -]\w+)*)\s*::")
_LABEL: Final = re.compile(r"\\?\|")
_TICKS: Final = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Link:
    """A wikilink: `[[target]]`, or `[[relation::target]]`; `relation` is empty for a plain one.

    `target` is without the heading, which is kept apart; `embed` says that it was `![[target]]`.
    """

    relation: str
    target: str
    line: int
    heading: str = ""
    label: str = ""
    embed: bool = False


def links(prose: Sequence[str], *, first_line: int = 1) -> Iterator[Link]:
    """Yield the links of lines of prose in order, without what stands in code spans."""
    for number, line in enumerate(_without_code(prose), start=first_line):
        if "[[" in line:
            yield from links_in(line, line=number)


def links_in(text: str, *, line: int) -> Iterator[Link]:
    """Yield the links of a text that stands on one line. A link to a heading of its own page is none."""
    for found in _WIKILINK.finditer(text):
        link = _read(found[2], line, embed=bool(found[1]))
        if link.target:
            yield link


def unlinked(text: str) -> str:
    """Return the target of a text that is one wikilink, and any other text as it is."""
    whole = _WIKILINK.fullmatch(text.strip())
    return _read(whole[2], 0, embed=False).target if whole else text


def labelled(text: str) -> str:
    """Return a text with every wikilink replaced by what a reader sees of it."""
    if "[[" not in text:
        return text
    return _WIKILINK.sub(lambda found: _seen(_read(found[2], 0, embed=False)), text)


def relation_name(text: str) -> str:
    """Return the name of a relation: `Follows from` and `follows-from` are `follows_from`."""
    return re.sub(r"[ -]", "_", text.strip()).casefold()


def _read(inner: str, line: int, *, embed: bool) -> Link:
    whole, *label = _LABEL.split(inner, maxsplit=1)
    typed = _RELATION.match(whole)
    target, _, heading = (whole[typed.end() :] if typed else whole).partition("#")
    return Link(
        relation_name(typed[1]) if typed else "",
        target.strip(),
        line,
        heading.strip(),
        label[0].strip() if label else "",
        embed,
    )


def _seen(link: Link) -> str:
    return link.label or link.target or link.heading


def _without_code(prose: Sequence[str]) -> list[str]:
    """Return the lines with their code spans emptied. A span may go over lines, but not over an empty one."""
    if not any("`" in line for line in prose):
        return list(prose)
    cleaned: list[str] = []
    block: list[str] = []
    for line in (*prose, ""):
        if line.strip():
            block.append(line)
            continue
        cleaned += _spans_emptied("\n".join(block)).split("\n") if block else []
        cleaned.append(line)
        block = []
    return cleaned[:-1]


def _spans_emptied(text: str) -> str:
    """Return the text with what stands between equally long runs of backticks emptied, but for line ends."""
    runs = list(_TICKS.finditer(text))
    waiting: defaultdict[int, deque[int]] = defaultdict(deque)
    for place, run in enumerate(runs):
        waiting[len(run[0])].append(place)
    kept: list[str] = []
    position, place = 0, 0
    while place < len(runs):
        opens = runs[place]
        same = waiting[len(opens[0])]
        while same and same[0] <= place:
            same.popleft()
        if same:
            closes = runs[same[0]]
            kept += (text[position : opens.start()], "\n" * text.count("\n", opens.end(), closes.start()))
            position, place = closes.end(), same[0]
        place += 1
    return "".join((*kept, text[position:]))
