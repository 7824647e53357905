"""How alike two texts are: by words first, which is cheap, and by shingles of characters then."""

import functools
import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from falsify.brain.org import folded

SHINGLE: Final = 5
"""Characters in a shingle."""

SAME: Final = 0.85
"""From this share of common shingles on two texts say the same, if numbers and negations are the same as well."""

NEAR: Final = 0.5
"""From this share on the one is a new version of the other."""

FEW: Final = 0.3
"""Below this share of common words two texts are taken to have nothing in common."""

_WORD: Final = re.compile(r"\w+")
_TELLING: Final = re.compile(
    r"\d+(?:[.,]\d+)*|\b(?:not?|never|none|without|nicht|nie|kein\w*|ohne|ne|pas|jamais|sans|non|n't)\b|n't"
)


@functools.lru_cache(maxsize=16_384)
def normal(text: str) -> str:
    """Return the words of a text, folded: what two copies have in common, whatever their marks and spaces."""
    return " ".join(_WORD.findall(folded(text)))


def closest(text: str, others: Mapping[str, str]) -> tuple[float, str]:
    """Return which of the normal texts is most like one, and how like it is; of equals the first, else nothing."""
    words, best, found = frozenset(text.split()), 0.0, ""
    for name, other in others.items():
        # What cannot beat the best is not cut into shingles: of many pages hardly any has the words for it.
        if _near_in_length(text, other) and len(words.intersection(other.split())) >= FEW * len(words):
            share = likeness(text, other)
            if share > best:
                best, found = share, name
    return best, found


def likeness(one: str, other: str) -> float:
    """Return the share of shingles that two normal texts have in common, 0 to 1; 0 where they have too few words."""
    if one == other:
        return 1.0
    if not _near_in_length(one, other):
        return 0.0
    words, others = set(one.split()), set(other.split())
    if min(len(words & others) / len(words), len(words & others) / len(others)) < FEW:
        return 0.0
    left, right = _shingles(one), _shingles(other)
    return len(left & right) / len(left | right)


def tells_the_same(one: str, other: str) -> bool:
    """Return whether the numbers and negations of two texts are the same."""
    return Counter(_TELLING.findall(folded(one))) == Counter(_TELLING.findall(folded(other)))


def _near_in_length(one: str, other: str) -> bool:
    return bool(one and other) and 0.4 < len(one) / len(other) < 2.5


def _shingles(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(padded[at : at + SHINGLE] for at in range(max(1, len(padded) - SHINGLE + 1)))
