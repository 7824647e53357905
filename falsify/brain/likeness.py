"""How alike two texts are: by words first, which is cheap, and by shingles of characters then."""

import functools
import re
from collections import Counter
from typing import Final

from falsify.brain.org import folded

SHINGLE: Final = 5
"""Characters in a shingle."""

SAME: Final = 0.85
"""From this share of common shingles on two texts say the same, if numbers and negations are the same as well."""

NEAR: Final = 0.5
"""From this share on the one is a new version of the other."""

_WORD: Final = re.compile(r"\w+")
_TELLING: Final = re.compile(
    r"\d+(?:[.,]\d+)*|\b(?:not?|never|none|without|nicht|nie|kein\w*|ohne|ne|pas|jamais|sans|non|n't)\b|n't"
)


@functools.lru_cache(maxsize=16_384)
def normal(text: str) -> str:
    """Return the words of a text, folded: what two copies have in common, whatever their marks and spaces."""
    return " ".join(_WORD.findall(folded(text)))


def likeness(one: str, other: str) -> float:
    """Return the share of shingles that two normal texts have in common, 0 to 1; 0 where they have too few words."""
    if one == other:
        return 1.0
    if not one or not other or not 0.4 < len(one) / len(other) < 2.5:
        return 0.0
    words, others = set(one.split()), set(other.split())
    if len(words & others) < 0.3 * len(words | others):
        return 0.0
    left, right = _shingles(one), _shingles(other)
    return len(left & right) / len(left | right)


def tells_the_same(one: str, other: str) -> bool:
    """Return whether the numbers and negations of two texts are the same."""
    return Counter(_TELLING.findall(folded(one))) == Counter(_TELLING.findall(folded(other)))


def _shingles(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(padded[at : at + SHINGLE] for at in range(max(1, len(padded) - SHINGLE + 1)))
