"""What makes two wordings one key: stems, names without articles, relations by their commonest name, dates, amounts."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from falsify.belief.slot_words import (
    ADVERBS,
    BE,
    DETERMINERS,
    HEDGES,
    IRREGULAR,
    MANY,
    NUMBER_WORDS,
    ONE,
    SYNONYMS,
    UNITS,
    VERBS,
)

Words = Sequence[str]


def entity_key(text: str) -> str:
    """Return what makes two spellings one subject: no case, no articles, no punctuation at its edges."""
    words = _fold(text).split()
    while len(words) > 1 and words[0] in DETERMINERS:
        words = words[1:]
    return " ".join(words)


def relation_key(text: str) -> str:
    """Return the key of a relation: stems without articles, under its commonest name."""
    words = [w for w in _fold(text).split() if w not in DETERMINERS and w not in ADVERBS | BE]
    kept = [stem(w) for place, w in enumerate(words) if w != "of" or place in {0, len(words) - 1}]
    if len(kept) > 1 and kept[-1] == "of":
        plain = " ".join(kept[:-1])
        if f"{plain} of" not in MANY:
            kept = kept[:-1]
    key = " ".join(kept) or "be"
    key = SYNONYMS.get(key, key)
    return _agent(key)


def stem(word: str) -> str:
    """Return a word without its commonest endings, and an irregular verb in its base form."""
    low = IRREGULAR.get(word, word)
    for ending, replacement, least in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= least:
            low = low[: len(low) - len(ending)] + replacement
            break
    if len(low) > 3 and low[-1] == low[-2] and low[-1] not in "aeiouls":
        low = low[:-1]
    return low.removesuffix("e") if len(low) > 3 else low


_ENDINGS: Final = (
    ("sses", "ss", 2),
    ("ies", "y", 2),
    ("ied", "y", 2),
    ("ches", "ch", 2),
    ("shes", "sh", 2),
    ("xes", "x", 2),
    ("ings", "", 3),
    ("ing", "", 3),
    ("eed", "eed", 1),
    ("ed", "", 2),
    ("ss", "ss", 1),
    ("us", "us", 1),
    ("is", "is", 1),
    ("s", "", 2),
)


def _agent(key: str) -> str:
    """Tell "founder" as "found by": who does a thing is by whom it is done."""
    words = key.split()
    if len(words) != 1 or key in ONE | MANY | VERBS or len(key) < 6 or key in _NO_AGENT:
        return key
    for ending in ("er", "or"):
        if key.endswith(ending):
            return f"{stem(key.removesuffix(ending) + 'e')} by"
    return key


_NO_AGENT: Final = frozenset(
    str.split(
        "number member order paper mother father center officer minister power quarter parameter computer server "
        "chapter "
        "letter character layer weather corner border partner trigger factor sector vector motor error colour monitor "
        "successor predecessor governor major mayor senator doctor professor daughter calendar"
    )
)


QUOTES: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-"})


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(QUOTES).casefold()
    return " ".join(word.strip(".,:;!?\"'()[]") for word in plain.split())


def unit_of(value: Words) -> str:
    """Return the unit of a quantity, or what is counted: "ms" of "40 ms", "project" of "3 projects"."""
    amount, rest = split_amount(list(value))
    if not rest:
        return "%" if amount and amount[-1].endswith("%") else ""
    if rest[0].casefold() in UNITS:
        return _SPELLED.get(rest[0].casefold(), stem(rest[0].casefold()))
    return "" if rest[0][:1].isupper() else " ".join(stem(w.casefold()) for w in rest[:2] if w.isalpha() and w != "of")


_SPELLED: Final = {
    spelling: unit
    for unit, spellings in {
        "time": "ms s sec second seconds min minute minutes h hour hours day days week weeks"
    }.items()
    for spelling in spellings.split()
}


_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905  # as it is read


_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)"
)


DATE: Final = re.compile(
    rf"\b(?:(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?,?(?: \d{{4}})?|"
    r"(?:1[0-9]|20)\d\d(?:-\d\d(?:-\d\d)?)?|Q[1-4](?: \d{4})?|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
)


def written_date(text: str) -> str:
    """Return a date as far as it is given, year first so that it sorts: 2019, 2019-03, 2019-03-05, or as written."""
    year = re.search(r"\b\d{4}\b", text)
    month = re.search(_MONTH, text)
    day = re.search(r"\b\d{1,2}(?=st|nd|rd|th|\b)", text.replace(year[0], "") if year else text)
    if year is None or re.fullmatch(r"\d{4}-.*", text):
        return text.casefold()
    parts = [year[0]]
    if month:
        parts.append(f"{_MONTHS.index(month[0][:3].casefold()) + 1:02}")
        parts += [f"{int(day[0]):02}"] if day else []
    return "-".join(parts)


TIMELY: Final = re.compile(r"\b(?:dat|day|deadlin|year|month|tim|birth|start|end|launch|expir)")


_CLOCK: Final = re.compile(r"[ ,]*(?:at )?(?:\d{1,2}(?::\d\d)?(?: ?[ap]m)?(?: UTC| GMT)?)?", re.IGNORECASE)


def is_date(words: Words, *, whole: bool = False) -> bool:
    """Whether these words open with a date, or are one as a whole."""
    text = re.sub(r"^(?:the|in|on) ", "", " ".join(words))
    found = DATE.match(text)
    return bool(found and not (whole and not _CLOCK.fullmatch(text[found.end() :])))


def is_number(words: Words) -> bool:
    """Whether these words open with a number, however hedged."""
    rest = [w for w in words[:4] if w.casefold() not in HEDGES]
    return bool(rest) and (rest[0].lstrip("$\u20ac\u00a3~<>")[:1].isdigit() or rest[0].casefold() in NUMBER_WORDS)


def split_amount(words: list[str]) -> tuple[list[str], list[str]]:
    """Split "about 5 thousand nodes" into the number and what is counted."""
    end = 0
    while end < len(words) and (
        words[end].casefold() in HEDGES | NUMBER_WORDS or words[end].lstrip("$\u20ac\u00a3")[:1].isdigit()
    ):
        end += 1
    return words[:end], words[end:]


def are_common(words: Words) -> bool:
    """Whether these are common words, as a relation has, and not a name."""
    return bool(words) and all(
        (w.islower() or w.isupper() or w in {"Prime", "Minister"} or "-" in w) and not w.endswith(",") for w in words
    )


def joined(words: Words) -> str:
    """Return the words as a text."""
    return " ".join(words).strip(" ,")
