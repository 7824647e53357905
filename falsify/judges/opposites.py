"""Words that mean the opposite of each other: by prefix, by WordNet, and by the axes of everyday reports."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from falsify import models
from falsify.judges.reading import Reading, word_set


def opposites(new: Reading, old: Reading) -> Iterator[tuple[str, str]]:
    """Yield each word of the one that has an opposite in the other, with that opposite."""
    theirs = {key: word for key, word in old.words.items() if key not in new.words}
    for key, word in new.words.items():
        if key in old.words:
            continue
        opposite = next((other for k, other in theirs.items() if _are_opposites(word, other, key, k)), None)
        if opposite:
            yield word, opposite


def _are_opposites(one: str, other: str, one_stem: str, other_stem: str) -> bool:
    first, second = one.casefold(), other.casefold()
    if any(long in {prefix + short for prefix in _NEGATING} for long, short in ((first, second), (second, first))):
        return True
    ours, theirs = _bases(first) | {one_stem}, _bases(second) | {other_stem}
    if any(theirs & antonyms().get(base, frozenset()) for base in ours):
        return True
    return any((ours & up and theirs & down) or (ours & down and theirs & up) for up, down in _AXES)


_NEGATING: Final = ("un", "in", "im", "il", "ir", "dis", "non", "non-")
_AXES: Final = tuple(
    (word_set(up), word_set(down))
    for up, down in (
        (
            "rise increase grow gain climb raise expand soar surge double up higher high more extend widen",
            "fall decrease shrink lose drop decline reduce lower cut down low less sink plunge halve shorten narrow",
        ),
        ("improve better benefit help good gain", "worsen worse harm hurt bad degrade deteriorate"),
        ("accept approve choose adopt select allow permit pass", "reject refuse forbid ban prohibit block decline"),
        (
            "open reopen start launch active enable on include free public",
            "closed close shut stop end inactive disable off exclude paid private",
        ),
        ("fast quick faster", "slow slower"),
        ("majority most", "minority few"),
        ("succeed success work win", "fail failure break lose"),
    )
)


@cache
def antonyms() -> dict[str, frozenset[str]]:
    """Return the single-word antonyms of WordNet, by word. Raises UnavailableError if the file is missing."""
    table: dict[str, set[str]] = {}
    for line in models.path(models.ANTONYMS).read_text(encoding="utf-8").splitlines():
        word, opposite, _ = line.split("\t")
        if " " not in word and " " not in opposite:
            table.setdefault(word, set()).add(opposite)
    return {word: frozenset(opposites) for word, opposites in table.items()}


def _bases(word: str) -> frozenset[str]:
    """Return the forms that a dictionary may list an inflected word under."""
    bases = {word, _IRREGULAR.get(word, word)}
    for ending in ("s", "es", "ed", "d", "ing", "er", "r", "ly", "est"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            base = word[: -len(ending)]
            bases |= {base, base + "e", base[:-1] if base[-1] == base[-2] else base}
            bases |= {base[:-1] + "y"} if base.endswith("i") else set()
    return frozenset(bases)


_IRREGULAR: Final = {
    past: base
    for base, pasts in {
        "rise": "rose risen",
        "fall": "fell fallen",
        "grow": "grew grown",
        "lose": "lost",
        "win": "won",
        "begin": "began begun",
        "break": "broke broken",
        "choose": "chose chosen",
        "forbid": "forbade forbidden",
        "shrink": "shrank shrunk",
        "sink": "sank sunk",
        "buy": "bought",
        "sell": "sold",
        "come": "came",
        "go": "went gone",
        "give": "gave given",
        "take": "took taken",
        "leave": "left",
        "keep": "kept",
        "hold": "held",
        "build": "built",
        "lend": "lent",
        "teach": "taught",
        "forget": "forgot forgotten",
        "find": "found",
        "send": "sent",
        "arrive": "arrived",
    }.items()
    for past in pasts.split()
}
