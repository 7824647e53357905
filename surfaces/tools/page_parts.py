"""A page too large to be served at once, in parts: its front matter, and what stands under its headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from falsify.brain.front_matter import split
from falsify.brain.page import Page
from falsify.brain.page_text import lines

MAX_PAGE: Final = 32_768
"""Bytes (UTF-8) of a page that is served whole, and of a part of one that is not."""

DEEPEST: Final = 2
"""The level of the headings that parts begin at, with those above it."""

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page as it was written, and what it is called in the listing."""

    title: str
    text: str


def parts_of(page: Page, text: str) -> tuple[str, list[Part]]:
    """Return the front matter of a page and its parts, as they were written: one after the other they are the text."""
    kept = _LINE.findall(text)
    start = split(page.rel_path, lines(text.removeprefix("\ufeff"))).lines
    while start < len(kept) and not kept[start].strip():
        start += 1
    heads = {s.start_line - 1: s.heading_path[-1] for s in page.sections if 1 <= s.level <= DEEPEST}
    cuts = sorted({start, *heads}) if start < len(kept) else []
    found = [
        Part(heads.get(cut) or page.title, "".join(kept[cut:end]))
        for cut, end in zip(cuts, [*cuts[1:], len(kept)], strict=False)
    ]
    return "".join(kept[:start]), [piece for part in found for piece in _pieces(part)]


def size(text: str) -> int:
    """Return the bytes of a text."""
    return len(text.encode())


def _pieces(part: Part) -> Iterator[Part]:
    """Yield a part in pieces that are not over the cap, parted after lines where there are any."""
    pieces: list[list[str]] = [[]]
    room = MAX_PAGE
    for each in (short for line in _LINE.findall(part.text) for short in _short(line)):
        if pieces[-1] and size(each) > room:
            pieces.append([])
            room = MAX_PAGE
        pieces[-1].append(each)
        room -= size(each)
    for place, piece in enumerate(pieces, start=1):
        yield Part(part.title if len(pieces) == 1 else f"{part.title} ({place} of {len(pieces)})", "".join(piece))


def _short(line: str) -> list[str]:
    """Return a line in pieces under the cap; no character has more than four bytes."""
    step = MAX_PAGE // 4
    return [line] if size(line) <= MAX_PAGE else [line[at : at + step] for at in range(0, len(line), step)]
