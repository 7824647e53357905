"""A sentence as the rules see it: its words, what it counts, what it negates, and what it says was before."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from falsify.judges.quantities import Amount, Quantities, plain, quantities, stem
from falsify.judges.times import Time


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence. `words` are its content words, stem to spelling; `left` says where it speaks of what was before."""

    text: str
    tokens: tuple[str, ...]
    words: dict[str, str]
    negations: tuple[str, ...]
    countables: Quantities
    left: tuple[tuple[int, int], ...]

    def amounts(self) -> list[Amount]:
        """Return the amounts that hold now: in "from 10 to 20", the second."""
        return [a for a in self.countables.amounts if not self._past(a.span)]

    def times(self) -> list[Time]:
        """Return the dates that hold now."""
        return [t for t in self.countables.times if not self._past(t.span)]

    def past(self) -> str:
        """Return what the sentence says was before."""
        return " ".join(self.text[start:end] for start, end in self.left)

    def _past(self, span: tuple[int, int]) -> bool:
        return any(start <= span[0] < end for start, end in self.left)


@lru_cache(maxsize=1024)  # a fact is compared with many claims
def read(text: str) -> Reading:
    """Read one sentence."""
    source = re.sub(r"n't\b", " not", plain(text).replace("cannot", "can not"))
    tokens = tuple(TOKEN.findall(source))
    countables = quantities(source)
    counted = [*(amount.span for amount in countables.amounts), *(time.span for time in countables.times)]
    words: dict[str, str] = {}
    for match in TOKEN.finditer(source):
        inside = any(start <= match.start() < end for start, end in counted)
        if not inside and match[0].casefold() not in STOP and not match[0].isdigit():
            words.setdefault(stem(match[0]), match[0])
    negations = tuple(match[0] for match in _NEGATION.finditer(source))
    left = tuple(match.span("old") for pattern in _LEFT for match in pattern.finditer(source))
    return Reading(source, tokens, words, negations, countables, left)


TOKEN: Final = re.compile(r"[^\W_]+(?:['.&+-][^\W_]+)*")
STOP: Final = word_set(
    "a an the this that these those it its he she his her they their them we our us you your i my of in on at to for "
    "from by with about into onto over under as and or but nor than then so if is was are were be been being am has "
    "have had do does did will would shall should can could may might must there here which who whom whose what when "
    "where not no never none nobody nothing neither without only also just very too more most some any all each every "
    "both other such own same now already still yet ever since until till while after before because during per via up "
    "out off again further once new newly currently recently today say says said found"
)
_NEGATION: Final = re.compile(
    r"\b(?:no longer|not|no|never|none|nobody|nothing|neither|without|lack(?:s|ed|ing)?|fail(?:s|ed)? to|unable|absent|"
    r"zero(?= [a-z])|refus(?:es|ed)|den(?:ies|ied)|(?:is|are|was|were|been|be|got) (?:\w+ly )?(?:dropped|discontinued|"
    r"removed|abolished|scrapped|abandoned|gone|cancell?ed|deprecated|ended|withdrawn|lifted))\b",
    re.IGNORECASE,
)
_LEFT: Final = (
    re.compile(r"\bfrom (?P<old>[^,.;]{1,60}?) (?:in)?to\b", re.IGNORECASE),
    re.compile(r"\b(?:instead of|rather than|in place of) (?P<old>[^,.;]{1,60})", re.IGNORECASE),
    re.compile(r"\breplac(?:ed|es|ing) (?P<old>[^,.;]{1,60}?) (?:with|by)\b", re.IGNORECASE),
    re.compile(r"\bnot (?P<old>[^,.;]{1,40}?),? but\b", re.IGNORECASE),
)
_CHANGE: Final = re.compile(
    r"\b(?:no longer|not any ?more|now|as of|since the|from now on|effective|instead of|used to|formerly|previously|"
    r"has become|became|"
    r"(?:was|were|is|are|been|be|has|have|had|we|they|it|and) (?:been |since |then |just |recently )?(?:moved|switched|"
    r"migrated|replaced|renamed|upgraded|downgraded|raised|lowered|reduced|increased|cut|extended|shortened|"
    r"postponed|delayed|rescheduled|brought forward|dropped|discontinued|removed|retired|archived|cancell?ed|reopened|"
    r"reversed|revised|updated|amended|changed|converted|restored|lifted|abolished|relocated|promoted|appointed|"
    r"succeeded|divorced|merged|acquired|gone|doubled|halved)|"
    r"(?:revised|replaced|switched|migrated|moved|changed|upgraded|raised|lowered|cut) (?:the|its|their|our|from|to)|"
    r"took over|taken over|stepped down|resigned|retired|(?:left|joined) (?=[A-Z])|after the (?:fix|update|upgrade|"
    r"migration|reorg\w*|merger|change|move|patch|release)|divorced|reopened|renamed)\b",
    re.IGNORECASE,
)


def change(fact: str) -> str:
    """Return the words by which a fact speaks of a change that took place, or ""."""
    cue = _CHANGE.search(plain(fact))
    return cue[0].strip() if cue else ""


def moved(cue: str) -> bool:
    """Whether the change is one of place: it ends where something was, and nothing else about it."""
    return bool(_MOVED.search(cue))


_MOVED: Final = re.compile(r"\b(?:moved|relocated)\b", re.IGNORECASE)
