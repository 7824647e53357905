"""Dates and times of day in English text, as far as they are given: "the third of May", "2025-06-30", "2 pm"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Time:
    """A date or a time of day, as far as the text gives it."""

    parts: tuple[tuple[str, int], ...]
    text: str
    span: tuple[int, int]

    def comparable(self, other: "Time") -> bool:
        """Whether both give a year, a month, or whatever it is."""
        return bool({name for name, _ in self.parts} & {name for name, _ in other.parts})

    def agrees(self, other: "Time") -> bool:
        """Whether no part that both give differs."""
        mine, theirs = dict(self.parts), dict(other.parts)
        return all(mine[name] == theirs[name] for name in mine.keys() & theirs.keys())


_MONTHS: Final = "january february march april may june july august september october november december".split()  # noqa: SIM905  # as it is read
_MONTH: Final = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_DAY: Final = (
    r"(?P<day>(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|"
    r"eleventh|twelfth)"
)
_ORDINALS: Final = {
    word: number
    for number, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"], 1
    )
} | {"twelfth": 12}
_WEEKDAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

_BEFORE_A_YEAR: Final = "(?:in|by|until|since|before|after|during|from|to|of|for|year|late|early|mid|throughout|the)"

_TIME_PATTERNS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_YEAR}-(?P<m>0[1-9]|1[0-2])(?:-(?P<d>0[1-9]|[12]\d|3[01]))?\b",
        rf"\b(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR}\b)?",
        rf"\b{_MONTH} {_DAY}\b(?!\s*%)(?:,? {_YEAR}\b)?",
        rf"\b{_MONTH}(?: of)?(?:,? {_YEAR}\b)",
        rf"\bQ(?P<quarter>[1-4])(?:[ /]{_YEAR})?\b",
        r"\b(?P<hour>1[0-2]|[1-9])(?::(?P<minute>[0-5]\d))? ?(?P<half>[ap])\.?m\b",
        r"\b(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?\b",
        rf"\b(?:in|on|by|until|till|since|before|after|during|from|to|for|last|next|of|late|early|mid) {_MONTH}",
        rf"\b{_MONTH}(?= (?:is|was|will|and|or|to)\b|[.,;]|$)",
        rf"(?:\b{_BEFORE_A_YEAR} |\(){_YEAR}\b(?!,\d)",
        r"\b(?P<weekday>Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b",
    )
)


def times(text: str) -> Iterator[Time]:
    """Yield the dates and times of day, without overlap; the longer patterns come first."""
    taken: set[int] = set()
    found: list[Time] = []
    for pattern in _TIME_PATTERNS:
        for match in pattern.finditer(text):
            groups = {name: value for name, value in match.groupdict().items() if value}
            start = min(match.start(name) for name in groups)
            span = start, match.end()
            if taken.isdisjoint(range(*span)):
                taken.update(range(*span))
                found.append(Time(tuple(sorted(_parts(groups).items())), text[slice(*span)].rstrip(".,"), span))
    yield from sorted(found, key=lambda time: time.span)


def _parts(groups: dict[str, str]) -> dict[str, int]:
    parts: dict[str, int] = {}
    for name, value in groups.items():
        match name:
            case "year" | "quarter":
                parts[name] = int(value)
            case "m":
                parts["month"] = int(value)
            case "d":
                parts["day"] = int(value)
            case "month":
                parts["month"] = next(i for i, month in enumerate(_MONTHS, 1) if month.startswith(value[:3].casefold()))
            case "day":
                parts["day"] = _ORDINALS.get(value) or int(re.sub(r"\D", "", value))
            case "weekday":
                parts["weekday"] = next(i for i, day in enumerate(_WEEKDAYS) if day.startswith(value.casefold()))
    if "hour" in groups:
        hour = (
            int(groups["hour"]) % 12 + (12 if groups["half"] == "p" else 0) if "half" in groups else int(groups["hour"])
        )
        parts["minute"] = hour * 60 + int(groups.get("minute", "0"))
    return parts
