"""Lines to passages, where nothing but the layout says what belongs together: plain text, and the pages of a PDF."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from falsify.belief.prose import Location, Passage, passage
from surfaces.readers.reading import Line


def paragraphs(lines: Sequence[Line], *, printed: bool = False) -> list[Passage]:
    """Return the passages of a text.

    One ends at an empty line, before a bullet, and where its writer ended a line that had much room for the next word.
    Of `printed` pages all lines are compared, and not those of a paragraph; and a hyphen at the end of one is taken for
    hyphenation, unless the word has it elsewhere too.
    """
    compounds = {word for line in lines for word in _COMPOUND.findall(line.text.lower())} if printed else None
    width = _usual(lines) * _SLACK if printed else 0
    found = (passage(_pieces(block, compounds)) for block in _blocks(lines, width))
    return [each for each in found if each is not None]


_SLACK: Final = 0.8
_COMPOUND: Final = re.compile(r"\b[^\W\d_]+-[^\W\d_]+\b")
_BULLET: Final = re.compile(r"\s*(?:[-*+•‣▪◦●○–—]|\(?\d{1,3}[.)]|\([a-z]\)|[a-z]\))\s+(?=\S)")  # noqa: RUF001  # dashes are meant
_OPENS: Final = re.compile(r"[\"'“‘(\[]*[^\W_]")  # noqa: RUF001  # typographic quotes are meant
_GOES_ON: Final = re.compile(
    r"(?:[,;–—-]|\b(?:the|an?|of|and|or|to|in|on|at|by|for|with|from|that|which|as|is|are|was|were|be|has|have|had))$"  # noqa: RUF001  # as above
)


def _usual(lines: Sequence[Line]) -> int:
    """Return how long the long lines of the text are, but for a few that are longer."""
    lengths = sorted(len(line.text.strip()) for line in lines if line.text.strip())
    return lengths[len(lengths) * 9 // 10] if lengths else 0


def _blocks(lines: Sequence[Line], width: float) -> Iterator[list[Line]]:
    for chunk in _chunks(lines):
        most = max(len(line.text.rstrip()) for line in chunk)
        pairs = [(line.text.rstrip(), following.text.strip()) for line, following in pairwise(chunk)]
        # Where most lines had room, those that had none, the longest, were ended on purpose too.
        listed = not width and sum(_had_room(*pair, most) for pair in pairs) * 2 > len(pairs)
        block = [chunk[0]]
        for line, pair in zip(chunk[1:], pairs, strict=True):
            if (listed or _had_room(*pair, width or most * _SLACK)) and _may_end(*pair):
                yield block
                block = []
            block.append(line)
        yield block


def _chunks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield lines between those that are empty, or drawn, or begin with a bullet."""
    chunk: list[Line] = []
    for line in lines:
        bullet = _BULLET.match(line.text)
        if chunk and (bullet or not _written(line.text)):
            yield chunk
            chunk = []
        if _written(line.text):
            start = bullet.end() if bullet else 0
            character = line.location.character
            moved = line.location._replace(character=None if character is None else character + start)
            chunk.append(Line(line.text[start:], moved))
    if chunk:
        yield chunk


def _written(text: str) -> bool:
    return any(map(str.isalnum, text))


def _had_room(text: str, following: str, room: float) -> bool:
    """Return whether a line ended though the first word of the one after it would have fitted."""
    return len(text) + 1 + len(following.split(None, 1)[0]) <= room


def _may_end(text: str, following: str) -> bool:
    """Return whether a line may be the end of something, and the next the beginning of something else."""
    opening = _OPENS.match(following)
    return opening is not None and not opening[0][-1].islower() and not _GOES_ON.search(text)


def _pieces(block: list[Line], compounds: set[str] | None) -> Iterator[tuple[str, Location]]:
    for line, following in zip(block, [*block[1:], None], strict=True):
        text = line.text.rstrip()
        if following is None:
            yield text, line.location
        elif _HYPHENATED.search(text) and following.text.strip()[:1].islower():
            # A line that ends with a hyphen is not followed by a space: "docu-" "ments", "well-" "known".
            yield (text[:-1] if _is_split(text, following.text, compounds) else text), line.location
        else:
            yield f"{text} ", line.location


_HYPHENATED: Final = re.compile(r"[^\W\d_]-$")


def _is_split(text: str, following: str, compounds: set[str] | None) -> bool:
    if compounds is None:
        return False
    first, second = re.findall(r"[^\W\d_]+", text)[-1], re.findall(r"[^\W\d_]+", following)[0]
    return f"{first}-{second}".lower() not in compounds
