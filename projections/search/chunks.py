"""A page cut into chunks: what is ranked and served. A chunk is a section, or a part of one that is too long."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from falsify.brain.page import Page, Section

LONGEST: Final = 1_200
"""Characters of a chunk: about what the bundled embedder reads of a text (256 tokens)."""

SEPARATOR: Final = " > "
"""What stands between the headings of a path, where it is one text."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a page. `ordinal` counts from 0 over the page; lines count from 1 in the file, both ends included.

    `context` is what the chunk stands under and is found by beside its text: its headings, and for the first chunk
    of a page also the page's description and aliases.
    """

    ordinal: int
    title: str
    heading_path: str
    context: str
    text: str
    start_line: int
    end_line: int

    @property
    def digest(self) -> bytes:
        """What is equal for chunks that are found by the same words and have the same vector."""
        parts = self.title, self.heading_path, self.context, self.text
        return hashlib.sha256("\0".join(parts).encode()).digest()


def chunks(page: Page) -> list[Chunk]:
    """Return the chunks of a page in order: at least one, so that a page without text is found by its title."""
    parts = [
        (SEPARATOR.join(section.heading_path), *part)
        for section in page.sections
        if not _only_heading(section)
        for part in _parts(section)
    ]
    if not parts:
        parts = [("", page.description or page.title, 1, 1)]
    return [
        Chunk(number, page.title, path, _context(page, path, first=number == 0), text, start, end)
        for number, (path, text, start, end) in enumerate(parts)
    ]


def to_embed(title: str, context: str, text: str) -> str:
    """Return what the vector of a chunk is made of. A title that is also its first heading is said twice.

    Without that, questions in other words than the page's found it later (bench_retrieval.py: MRR 0.78, not 0.83).
    """
    return "\n".join(part for part in (title, context, text) if part)


def _context(page: Page, path: str, *, first: bool) -> str:
    about = (page.description, *page.aliases) if first else ()
    return "\n".join(each for each in (path, *about) if each)


def _only_heading(section: Section) -> bool:
    """Return whether nothing stands under the heading; an underlined one has two lines."""
    if section.level == 0:
        return False
    lines = section.text.split("\n")
    return len(lines) == 1 or (len(lines) == 2 and not lines[0].lstrip().startswith("#") and not lines[1].strip("=- "))


def _parts(section: Section) -> Iterator[tuple[str, int, int]]:
    """Yield the parts of a section (text, first line, last line): cut at empty lines, else at lines, else at words."""
    held: list[str] = []  # begins with a line that is not blank
    start = section.start_line
    for number, line in enumerate(section.text.split("\n"), start=section.start_line):
        size = sum(map(len, held)) + len(held)
        if held and (size + len(line) > LONGEST or (not line.strip() and size > LONGEST // 2)):
            yield _ended(held, start)
            held = []
        if not held:
            start = number
        if len(line) > LONGEST:
            yield from ((piece, number, number) for piece in _pieces(line))
        elif held or line.strip():
            held.append(line)
    if held:
        yield _ended(held, start)


def _ended(lines: list[str], start: int) -> tuple[str, int, int]:
    last = max(place for place, line in enumerate(lines) if line.strip())
    return "\n".join(lines[: last + 1]), start, start + last


def _pieces(line: str) -> Iterator[str]:
    """Yield a line that is too long in pieces, parted at a space where there is one."""
    start = 0
    while start < len(line):
        end = start + LONGEST
        if end < len(line):
            end = max(line.rfind(" ", start + LONGEST // 2, end), 0) or end
        if piece := line[start:end].strip():
            yield piece
        start = end
