"""Prose: passages that know where in their document each word stands, and the sentences in them that are claims.

What a claim is, is a rule and not a judgement: three words or more that ask nothing and announce nothing, and that end
like a sentence or have a verb. The verbs are those of English; in any language a full stop will do.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from falsify.belief.impugn import sentences
from falsify.belief.verbs import AFTER_A_VERB, NO_PAST, VERBS


class Location(NamedTuple):
    """A place in a document: characters are counted from 0, lines and pages from 1. What is not known is left out."""

    character: int | None = None
    line: int = 0
    page: int = 0

    def within(self, path: str) -> str:
        """Return the place as it is recorded: `notes/a.md#line=3&char=120`."""
        parts = (("page", self.page), ("line", self.line))
        told = [f"{name}={number}" for name, number in parts if number]
        if self.character is not None:
            told.append(f"char={self.character}")
        return f"{path}#{'&'.join(told)}" if told else path


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of prose: a paragraph, say, with single spaces. `places` are where its pieces stand in the document."""

    text: str
    places: tuple[tuple[int, Location], ...]

    def at(self, index: int) -> Location:
        """Return where the character at `index` of the text stands in the document."""
        start, place = self.places[bisect_right(self.places, index, key=lambda each: each[0]) - 1]
        character = None if place.character is None else place.character + index - start
        return place._replace(character=character)

    def part(self, start: int, end: int) -> "Passage":
        """Return a part of the passage."""
        inner = [(index - start, place) for index, place in self.places if start < index < end]
        return Passage(self.text[start:end], ((0, self.at(start)), *inner))


def passage(pieces: Iterable[tuple[str, Location]]) -> Passage | None:
    """Return the pieces as one passage, white space folded and what is invisible left out; None where nothing is left.

    Within a piece one character of the document is one of the text; pieces are joined as they are.
    """
    words: list[str] = []
    places: list[tuple[int, Location]] = []
    size, gap = 0, False
    for text, place in pieces:
        for match in _RUN.finditer(text):
            if match[0].isspace():
                gap = True
                continue
            if match[0] in _INVISIBLE:
                continue
            if gap and size:
                words.append(" ")
                size += 1
            gap = False
            character = None if place.character is None else place.character + match.start()
            words.append(match[0])
            places.append((size, place._replace(character=character)))
            size += len(match[0])
    return Passage("".join(words), tuple(_thinned(places))) if words else None


_INVISIBLE: Final = "\u00ad\u200b\u2060\ufeff"
_RUN: Final = re.compile(rf"\s+|[{_INVISIBLE}]|[^\s{_INVISIBLE}]+")


def _thinned(places: list[tuple[int, Location]]) -> Iterator[tuple[int, Location]]:
    """Yield the places without those that follow from the one before."""
    last: tuple[int, Location] | None = None
    for index, place in places:
        if last is None or not _follows(*last, index, place):
            last = index, place
            yield last


def _follows(start: int, before: Location, index: int, place: Location) -> bool:
    known = before.character is not None
    reached = before._replace(character=before.character + index - start) if known else before  # type: ignore[operator]  # known
    return reached == place


def gathered(passages: Iterable[Passage], limit: int) -> Iterator[Passage]:
    """Yield passages of up to `limit` characters, short ones together and long ones in parts that end with a sentence.

    Only a single sentence may be longer. Between what was apart stands an empty line.
    """
    found: list[Passage] = []
    size = 0
    for each in passages:
        for part in _parts(each, limit):
            if found and size + 2 + len(part.text) > limit:
                yield _together(found)
                found, size = [], 0
            found.append(part)
            size += 2 + len(part.text)
    if found:
        yield _together(found)


def _parts(each: Passage, limit: int) -> Iterator[Passage]:
    start = end = 0
    for sentence in sentences(each.text):
        first = each.text.index(sentence, end)
        stop = first + len(sentence)
        if start < first and stop - start > limit:
            yield each.part(start, end)
            start = first
        end = stop
    yield each.part(start, len(each.text))


def _together(found: list[Passage]) -> Passage:
    places: list[tuple[int, Location]] = []
    size = 0
    for each in found:
        places += [(size + index, place) for index, place in each.places]
        size += len(each.text) + 2
    return Passage("\n\n".join(each.text for each in found), tuple(places))


def find(within: str, quote: str) -> tuple[int, int] | None:
    """Return from where to where a text has the words of a quote; case, spaces and the shape of marks do not count."""
    words = quote.translate(_PLAIN).split()
    if not words:
        return None
    match = re.search(r"\s+".join(map(re.escape, words)), within.translate(_PLAIN), re.IGNORECASE)
    return match.span() if match else None


# Typographic quotation marks, dashes and the unbreakable space, as a keyboard has them.
_PLAIN: Final = str.maketrans("\u2018\u2019\u201a\u201c\u201d\u201e\u2013\u2014\u2212\u00a0", "'''\"\"\"--- ")


# --- sentences ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands in a document."""

    text: str
    location: Location


def claims(passages: Iterable[Passage]) -> tuple[list[Sentence], int]:
    """Return the sentences that are claims, and how many there are that are not."""
    found = [sentence for each in passages for sentence in split(each)]
    claimed = [sentence for sentence in found if is_claim(sentence.text)]
    return claimed, len(found) - len(claimed)


def split(each: Passage) -> Iterator[Sentence]:
    """Yield the sentences of a passage."""
    end = 0
    for text in sentences(each.text):
        start = each.text.index(text, end)
        end = start + len(text)
        yield Sentence(text, each.at(start))


def is_claim(sentence: str) -> bool:
    """Return whether a sentence says something, by the rule of this module."""
    words = _WORD.findall(sentence)
    if len(words) < 3 or _ASKS.search(sentence):
        return False
    return bool(_ENDS.search(sentence)) or _has_verb(words)


_WORD: Final = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")  # noqa: RUF001  # a typographic apostrophe is meant
_ASKS: Final = re.compile(r"(?::|\?)[\"'”’)\]]*$")  # noqa: RUF001  # typographic quotes are meant
_ENDS: Final = re.compile(r"[.!][\"'”’)\]]*$")  # noqa: RUF001  # as above


def _has_verb(words: list[str]) -> bool:
    """Return whether a word behind the first is a verb by its form, or by its form and the word that follows."""
    return any(
        word.lower() in VERBS
        or _CONTRACTED.search(word)
        or (_PAST.search(word) and word.lower() not in NO_PAST)
        or (_PRESENT.search(word) and (following.lower() in AFTER_A_VERB or following.endswith("ly")))
        for word, following in pairwise([*words[1:], ""])
    )


_CONTRACTED: Final = re.compile(r"(?:n['’]t|['’](?:re|ve|ll|d|m))$", re.IGNORECASE)  # noqa: RUF001  # as above
_PAST: Final = re.compile(r"^[a-z-]{2,}ed$")
_PRESENT: Final = re.compile(r"^[a-z]{2,}[^sui]s$")
