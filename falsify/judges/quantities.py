"""Amounts, dates and serial numbers in English text, as values that can be compared.

"below 4 %" is an interval of percent, "an hour" is 3,600 s, "30 June 2025" and "2025-06-30" are one date, and the 3 of
"floor 3" counts nothing: it tells one floor from another.
"""

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from falsify.judges.times import Time, times


@dataclass(frozen=True, slots=True)
class Amount:
    """How much: an interval of a unit, or of a thing counted; `nouns` are the words that say what is counted."""

    low: float
    high: float
    unit: str
    nouns: frozenset[str]
    text: str
    span: tuple[int, int]

    def comparable(self, other: "Amount") -> bool:
        """Whether both measure the same: the same unit, or a noun in common."""
        if self.unit or other.unit:
            return self.unit == other.unit
        return bool(self.nouns & other.nouns)

    def agrees(self, other: "Amount") -> bool:
        """Whether one amount can be both."""
        return self.low <= other.high and other.low <= self.high


@dataclass(frozen=True, slots=True)
class Serial:
    """One of several that bear numbers: floor 3, Python 3.8, v2."""

    noun: str
    number: str
    text: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Quantities:
    """Everything countable in a text, in order."""

    amounts: tuple[Amount, ...]
    times: tuple[Time, ...]
    serials: tuple[Serial, ...]


@lru_cache(maxsize=1024)  # a fact is compared with many claims
def quantities(text: str) -> Quantities:
    """Read the amounts, dates and serial numbers of a text. Spans are places in `plain(text)`."""
    source = plain(text)
    found_times = tuple(times(source))
    rest = list(source)
    for time in found_times:
        rest[slice(*time.span)] = " " * (time.span[1] - time.span[0])
    found = tuple(_numbers("".join(rest)))
    amounts = tuple(number for number in found if isinstance(number, Amount))
    return Quantities(amounts, found_times, tuple(number for number in found if isinstance(number, Serial)))


def plain(text: str) -> str:
    """Return the text with the variants of spaces, dashes and quotes written one way."""
    return unicodedata.normalize("NFKC", text).translate(_VARIANTS)


_VARIANTS: Final = str.maketrans(
    {"\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-", "\u2018": "'", "\u2019": "'"}
)


def stem(word: str) -> str:
    """Return a word without its commonest endings: engineers, encrypted and copies are engineer, encrypt and copy."""
    low = word.casefold().removesuffix("'s")
    for ending, replacement, least in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= least:
            return _undouble(low[: len(low) - len(ending)] + replacement)
    return low.removesuffix("e") if len(low) > 3 else low


_ENDINGS: Final = (
    ("sses", "ss", 2),
    ("ies", "y", 2),
    ("ied", "y", 2),
    ("ches", "ch", 2),
    ("shes", "sh", 2),
    ("xes", "x", 2),
    ("ating", "at", 3),
    ("ated", "at", 3),
    ("ings", "", 3),
    ("ing", "", 3),
    ("ed", "", 3),
    ("es", "", 3),
    ("ss", "ss", 1),
    ("us", "us", 1),
    ("is", "is", 1),
    ("s", "", 2),
)


def _undouble(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls" else word


_DIMENSIONS: Final[dict[str, dict[str, float]]] = {
    "%": {"%": 1, "percent": 1, "per cent": 1, "pct": 1},
    "s": {
        "ms|millisecond|milliseconds": 0.001,
        "s|sec|secs|second|seconds": 1,
        "min|mins|minute|minutes": 60,
        "h|hr|hrs|hour|hours": 3600,
        "day|days": 86_400,
        "week|weeks": 604_800,
    },
    "month": {"month|months": 1, "year|years|yr|yrs": 12},
    "B": {
        "kb|kilobytes": 1e3,
        "mb|megabytes|megabyte": 1e6,
        "gb|gigabytes|gigabyte": 1e9,
        "tb|terabytes|terabyte": 1e12,
    },
    "g": {
        "mg|milligrams": 0.001,
        "g|gram|grams": 1,
        "kg|kilo|kilos|kilograms": 1e3,
        "tonne|tonnes|ton|tons": 1e6,
    },
    "m": {
        "mm|millimetres|millimeters": 0.001,
        "cm|centimetres|centimeters": 0.01,
        "m|metre|metres|meter|meters": 1,
        "km|kilometres|kilometers": 1e3,
        "mile|miles": 1609.344,
    },
    "W": {"w|watt|watts": 1, "kw": 1e3, "mw": 1e6},
    "l": {"ml": 0.001, "l|litre|litres|liter|liters": 1},
    "C": {"c|celsius": 1},
    "$": {"dollar|dollars|usd": 1},
    "\u20ac": {"euro|euros|eur": 1},
    "\u00a3": {"pound|pounds|gbp": 1},
}
_UNITS: Final[dict[str, tuple[str, float]]] = {
    name: (unit, factor)
    for unit, names in _DIMENSIONS.items()
    for spellings, factor in names.items()
    for name in spellings.split("|")
}
_SCALES: Final = {"hundred": 1e2, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS: Final = {word: value for value, word in enumerate(_ONES.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
_NUMBER_WORD: Final = "|".join(sorted(_WORDS, key=len, reverse=True))
_NUMBER: Final = re.compile(
    r"(?P<currency>[$\u20ac\u00a3] ?)?"
    r"(?:(?<![\w./])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*)(?!\d|/\d)"
    rf"|\b(?P<words>(?:{_NUMBER_WORD})(?:[- ](?:{_NUMBER_WORD}))?"
    r"|(?:an?|half an?)(?= (?:hour|minute|day|week|month|year|dozen|hundred|thousand|million)\b)))"
    r"(?: ?(?P<scale>hundred|thousand|million|billion|dozen|bn|k)\b|(?P<short>m)\b(?! ?%))?"
    r"(?P<more>\+| or (?:more|above|over)\b)?(?P<less> or (?:less|fewer|under|below)\b)?",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(
    r" ?(?P<unit>%|per cent\b|[a-z\u00b0]+\b)|-(?P<joined>second|minute|hour|day|week|month|year)\b", re.IGNORECASE
)
_BELOW: Final = r"below|under|less than|fewer than|up to|at most|no more than|not more than|within|max(?:imum)?(?: of)?"
_ABOVE: Final = (
    r"above|over|more than|at least|no less than|not less than|min(?:imum)?(?: of)?|exceed(?:s|ed|ing)?|greater than"
)
_ABOUT: Final = r"about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|~"
_BOUND: Final = re.compile(
    rf"\b(?:(?P<below>{_BELOW})|(?P<above>{_ABOVE})|(?P<about>{_ABOUT})) ?(?:the |a )?$", re.IGNORECASE
)
_STRICT: Final = ("below", "under", "less", "fewer", "above", "over", "more", "exceed", "greater")
_SERIAL_NOUNS: Final = frozenset(
    [
        *(
            "floor",
            "room",
            "phase",
            "version",
            "study",
            "trial",
            "page",
            "section",
            "chapter",
            "level",
            "stage",
            "grade",
        ),
        *("step", "batch", "lot", "sample", "group", "team", "sprint", "round", "lane", "gate", "terminal", "platform"),
        *(
            "line",
            "plant",
            "building",
            "case",
            "ticket",
            "issue",
            "number",
            "no",
            "figure",
            "table",
            "appendix",
            "type",
        ),
        *("class", "category", "model", "experiment", "cohort", "wave", "site", "zone", "district", "tier", "patient"),
        *(
            "day",
            "week",
            "quarter",
            "part",
            "season",
            "episode",
            "article",
            "rule",
            "option",
            "plan",
            "release",
            "unit",
        ),
    ]
)
_NO_NOUNS: Final = frozenset(
    [
        *("of", "to", "and", "or", "in", "on", "at", "by", "for", "from", "with", "the", "a", "an", "is", "was", "are"),
        *("were", "be", "per", "than", "last", "since", "after", "before", "as", "out", "not", "but", "that", "which"),
        *(
            "have",
            "has",
            "had",
            "will",
            "would",
            "who",
            "when",
            "while",
            "only",
            "now",
            "today",
            "more",
            "less",
            "each",
        ),
        *("about", "some", "all", "these", "those", "over", "under", "up", "both", "our", "their", "its", "exactly"),
        *("between", "among", "within", "until", "without", "during", "every", "another", "if", "so", "then", "there"),
    ]
)

_VERBS: Final = frozenset(
    ["cost", "hit", "grew", "fell", "rose", "lost", "won", "got", "sold", "paid", "held", "weigh"]
)


def _numbers(text: str) -> Iterator[Amount | Serial]:
    pending: Amount | None = None
    for match in _NUMBER.finditer(text):
        number = _number(text, match)
        if number is None:
            continue
        if isinstance(number, Amount):
            if pending and _joins_range(text, pending.span[1], match.start()):
                low, high = min(pending.low, number.low), max(pending.high, number.high)
                span = pending.span[0], number.span[1]
                number = Amount(low, high, number.unit, number.nouns, text[slice(*span)].strip(), span)
                pending = None
            if pending:
                yield pending
            pending = number
        else:
            yield number
    if pending:
        yield pending
    for version in re.finditer(r"\bv(\d+(?:\.\d+)*)\b", text, re.IGNORECASE):
        yield Serial("v", version[1], version[0])


def _number(text: str, match: re.Match[str]) -> Amount | Serial | None:
    before = text[: match.start()]
    unit, end = _unit(text, match)
    word = re.search(r"([^\W\d_]+)[ -]$", before)
    if word and not unit and not match["currency"] and _is_serial(word[1], match, text[match.end() :]):
        number = match[0].strip()
        return Serial(stem(word[1]), number, f"{word[1]} {number}")
    if (match["digits"] or "").count(".") > 1 or (not unit and text[match.end() : match.end() + 1].isalpha()):
        return None  # a version, 1.2.3, without what it is a version of; or part of a name, as in 4o
    name, factor = _UNITS.get(unit, ("", 1.0))
    if match["currency"]:
        name = match["currency"].strip()
    low, high = _interval(_value(match), before, match)
    nouns = frozenset() if name else _nouns(text[match.end() :])
    bound = _BOUND.search(before)
    span = (bound.start() if bound else match.start(), end)
    return Amount(low * factor, high * factor, name, nouns, text[slice(*span)].strip(), span)


def _joins_range(text: str, end: int, start: int) -> bool:
    """Whether the two numbers beside these places are one range: "5 to 10", but not "from 5 to 10"."""
    return bool(re.fullmatch(r"\s?(?:-|to|and)\s?", text[end:start])) and not re.search(
        r"\bfrom \S+(?: \S+)?$", text[:end]
    )


def _unit(text: str, match: re.Match[str]) -> tuple[str, int]:
    """Return the unit that follows a number, and where it ends."""
    found = _UNIT.match(text, match.end())
    unit = (found["unit"] or found["joined"]).casefold() if found else ""
    return (unit, found.end()) if found and unit in _UNITS else ("", match.end())


def _is_serial(word: str, match: re.Match[str], after: str) -> bool:
    """Whether the number after this word tells one from another: "floor 3", "Postgres 16", "protocol 7"."""
    low = word.casefold()
    named = word[0].isupper() and low not in _NO_NOUNS and not low.endswith("ly")
    last = not (low in _NO_NOUNS or low in _VERBS or low.endswith(("ed", "s", "ly"))) and not _nouns(after)
    return not match["words"] and (low in _SERIAL_NOUNS or named or last)


def _value(match: re.Match[str]) -> float:
    if match["digits"]:
        value = float(match["digits"].replace(",", ""))
    else:
        words = re.split(r"[- ]", match["words"].casefold())
        value = float(sum(_WORDS.get(word, 0) for word in words)) or (0.5 if words[0] == "half" else 1.0)
        value = 0.0 if words == ["zero"] else value
    scale = (match["scale"] or "").casefold()
    if match["short"] and match["currency"]:
        scale = "m"
    return value * (12 if scale == "dozen" else _SCALES.get(scale, 1.0))


def _interval(value: float, before: str, match: re.Match[str]) -> tuple[float, float]:
    bound = _BOUND.search(before)
    if match["more"]:
        return value, math.inf
    if match["less"]:
        return -math.inf, value
    if bound is None:
        return value, value
    strict = bound[0].casefold().startswith(_STRICT)
    if bound["below"]:
        return -math.inf, math.nextafter(value, -math.inf) if strict else value
    if bound["above"]:
        return math.nextafter(value, math.inf) if strict else value, math.inf
    return value - abs(value) * 0.15, value + abs(value) * 0.15


def _nouns(after: str) -> frozenset[str]:
    """Return what is counted: the stems of up to three words after the number."""
    nouns: list[str] = []
    for word in re.match(r"(?: [^\W\d_]+(?:-[^\W\d_]+)*){0,3}", after)[0].split():  # type: ignore[index]  # may match nothing, but matches
        if word.casefold() in _NO_NOUNS:
            break
        nouns.append(stem(word))
    return frozenset(nouns)
