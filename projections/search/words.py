"""The words of a text, as the lexical and the entity leg read them: folded, without accents, in order."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_BEYOND_LATIN: Final = re.compile("[^\x00-\u02ff]")
"""Where the marks are that stand upon letters, among others."""

LONGEST_NAME: Final = 6
"""Words in the longest name that is looked for in a question."""


def words(text: str) -> list[str]:
    """Return the words of a text; case and accents are folded, and what is no letter or digit parts words."""
    folded = text.casefold()
    if not folded.isascii():
        folded = _BEYOND_LATIN.sub(_unmarked, unicodedata.normalize("NFKD", folded))
    return _WORD.findall(folded)


def name_key(name: str) -> str:
    """Return a name as it is looked for in a question."""
    return " ".join(words(name))


def tail(name: str) -> str:
    """Return the last part of a path, a title or a link's target, folded.

    A link can only lead to a page one of whose names has the same tail, so that few have to be tried.
    """
    key = " ".join(unicodedata.normalize("NFC", name.casefold()).split())
    return key.removesuffix(".md").rsplit("/", 1)[-1]


def runs(found: Sequence[str], longest: int = LONGEST_NAME) -> Iterator[str]:
    """Yield every run of up to so many consecutive words, longer ones first, from left to right."""
    for length in range(min(longest, len(found)), 0, -1):
        for start in range(len(found) - length + 1):
            yield " ".join(found[start : start + length])


def _unmarked(found: re.Match[str]) -> str:
    return "" if unicodedata.combining(found[0]) else found[0]
