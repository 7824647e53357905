"""How well a few words name a document: the title of a source, or the report a claim opens with.

Words are compared without order, case, plural or possessive; months and numbers are read, so that "the March QA
report" names "QA report of March 2021", and neither "QA report of April" nor "study 21" is named by the wrong one.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["plain", "id", "year", "month", "day", "weekday", "form", "part"]


def _list(words: str) -> tuple[str, ...]:
    return tuple(words.split())


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


MONTHS: Final = _list("january february march april may june july august september october november december")
_WEEKDAYS: Final = _set("monday tuesday wednesday thursday friday saturday sunday")
_NUMBERS: Final = {
    word: str(number)
    for number, words in enumerate(
        _list(
            "zero one/first two/second three/third four/fourth five/fifth six/sixth seven/seventh eight/eighth "
            "nine/ninth ten/tenth eleven/eleventh twelve/twelfth"
        )
    )
    for word in words.split("/")
}
_ROMAN: Final = {"II": "2", "III": "3", "IV": "4", "VI": "6", "VII": "7", "VIII": "8", "IX": "9"}

# What kind of document a word says; words of one line are near enough to be used for one another.
_FORMS: Final = {
    word: group
    for group, words in enumerate(
        (
            "report study paper article publication review analysis assessment audit whitepaper preprint thesis",
            "email mail message letter memo memorandum note fax text",
            "log record entry register logbook",
            "interview testimony statement deposition transcript affidavit",
            "survey poll questionnaire census",
            "test experiment trial benchmark assay measurement run",
            "contract agreement invoice receipt certificate licence license",
            "dataset data set table spreadsheet sheet figure",
            "presentation slide deck talk minute protocol",
            "photo photograph image video recording footage",
            "post blog tweet news story press release page website",
            "forecast estimate projection plan budget",
        )
    )
    for word in words.split()
}
_ANY_FORM: Final = _set("document file source evidence material paperwork")

# What a document consists of: "the date on the QA report" speaks of the QA report.
_PARTS: Final = _set(
    "date signature stamp timestamp number result finding conclusion content entry value reading page section table "
    "chapter appendix line row column paragraph part title header heading author figure fact detail information "
    "claim original entire whole method methodology sampling calculation"
)
_LOCATORS: Final = _set("page table figure section chapter appendix line row column paragraph part")

_STOP: Final = _set(
    "a an the this that these those its their his her our your my of in on at to for from by with about as and or both "
    "all some any said same so called is was are were be been dated no nr number titled entitled issued published "
    "internal et al s"
)
_IRREGULAR: Final = {
    "analyses": "analysis",
    "theses": "thesis",
    "hypotheses": "hypothesis",
    "news": "news",
    "series": "series",
    "data": "data",
}

_WORD: Final = re.compile(r"v?\d+(?:\.\d+)+|[^\W_]+(?:'[^\W_]+)?")
_ISO_DATE: Final = re.compile(r"\b((?:19|20)\d\d)-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?\b")
_ABBREVIATION: Final = re.compile(r"\b((?:[A-Za-z]\.){2,})")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ORDINAL: Final = re.compile(r"(\d+)(?:st|nd|rd|th)")

_WEIGHT: Final[dict[Kind, float]] = {"form": 0.35, "part": 0.1}


@dataclass(frozen=True, slots=True)
class _Word:
    key: str
    kind: Kind

    @property
    def weight(self) -> float:
        return _WEIGHT.get(self.kind, 1.0)

    @property
    def distinctive(self) -> bool:
        return self.kind in {"plain", "id"}


def likeness(phrase: str, title: str) -> float:
    """Return how well `phrase` names a document called `title`: 0 not at all, 1 as well as words can."""
    said, called = _words(phrase), _words(title)
    shared = said & called
    if not shared or _clash(said, called):
        return 0.0
    forms = sum(word.kind == "form" for word in shared)
    if forms < 2 and not any(word.kind not in {"form", "part"} for word in shared):  # "the assay log" has two
        return 1.0 if called <= shared and not any(word.distinctive for word in said - shared) else 0.0
    if len(shared) == 1 and _weight(shared) < 0.5 * _weight(called):
        return 0.0  # one word of many, as "supplier" of "Supplier email of January 2021", names something else
    missed, left = said - shared, called - shared
    score = _weight(shared) / (_weight(shared) + 0.5 * _weight(missed))
    score *= 0.75 + 0.25 * _title_share(shared, called)
    to_the_day = {"day", "month"} <= {word.kind for word in shared}
    if any(word.distinctive for word in called) and not (to_the_day or any(word.distinctive for word in shared)):
        score *= 0.6  # only its date was named: "the report of 2021"
    if any(word.distinctive for word in missed) and any(word.distinctive for word in left):
        score *= 0.75  # each has a name of its own: "the Berlin report" and "the Munich report"
    if _other_form(said, called):
        score *= 0.5
    elif _only_a_name(said, called, title):
        score *= 0.6
    head = _head(phrase)
    if head and head not in called:
        score *= 0.5  # "the critics of the QA report" are not the report
    return round(score, 4)


def named(text: str) -> str:
    """Return the words with which a claim names the document it speaks for, or "" if it names none.

    That is the document it opens with ("The QA report of March 2021 documents ...") or appeals to ("according to
    the March QA report, ..."). A bare "the report" names none: a title may be that short, a reference may not.
    """
    appeal = _APPEAL.search(text)
    tokens = _TOKEN.findall(text[appeal.end() :] if appeal else text)
    for place, word in enumerate(tokens[:_OPENING]):
        low = word.casefold()
        if place and _singular(low) in _DOCUMENTS and not tokens[place - 1].isdigit():
            name = " ".join(tokens[: _end_of_name(tokens, place + 1)])
            return name if any(word.kind not in {"form", "part"} for word in _words(name)) else ""
        if _singular(low) in _DOCUMENTS and tokens[1:2] and (tokens[1][0].isdigit() or tokens[1] in _LINKS):
            return " ".join(tokens[: _end_of_name(tokens, 1)])
        if _ends_name(word) or low in _NO_NAME or low.endswith("ed"):
            break
    return ""


_OPENING: Final = 8
_TOKEN: Final = re.compile("[^\\W_]+(?:['\u2019.-][^\\W_]+)*|[,;:.]")
_PUNCTUATION: Final = frozenset(",;:.")
_APPEAL: Final = re.compile(
    r"\b(?:according to|(?:reported|stated|shown|documented|recorded|noted|described) (?:in|by)|per|based on)\b",
    re.IGNORECASE,
)
# Words that head a title, and are seldom anything but a document.
_DOCUMENTS: Final = _set(
    "report study paper article publication review analysis assessment audit whitepaper preprint thesis email mail "
    "message letter memo memorandum log logbook register interview testimony statement deposition transcript affidavit "
    "survey poll questionnaire census experiment trial benchmark assay contract agreement invoice receipt certificate "
    "dataset spreadsheet presentation minute document file photo photograph recording"
)
_NO_NAME: Final = _set("if to when after before while because in on at it its their they we i you he she there not no")
_LINKS: Final = _set("of from by on for about dated in at")
_VERBS: Final = _set(
    "is are was were be been has have had do does did can could may might must shall should will would say says said "
    "show shows showed shown find finds found state states stated document documents documented describe describes "
    "report reports reported warn warns warned prove proves proved confirm confirms confirmed contain contains give "
    "gives gave list lists listed record records recorded claim claims mention mentions mentioned put puts names that "
    "which who"
)


def _end_of_name(tokens: Sequence[str], place: int) -> int:
    """Return where the name ends that has its document word just before `place`."""
    linked = 0  # how many lower-case words may still follow a preposition
    while place < len(tokens):
        token = tokens[place]
        if _ends_name(token):
            break
        if token.casefold() in _LINKS:
            linked = 3
        elif token.casefold() not in _STOP and not (token[0].isupper() or token[0].isdigit()):
            if not linked:
                break
            linked -= 1
        place += 1
    while place and tokens[place - 1].casefold() in _STOP:
        place -= 1
    return place


def _ends_name(word: str) -> bool:
    return word in _PUNCTUATION or (word.casefold() in _VERBS and word != "May")  # a month, not a verb


def _words(text: str) -> frozenset[_Word]:
    return frozenset(_read(text))


def _read(text: str) -> Iterator[_Word]:
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    plain = re.sub(r"\be-mail", "email", plain, flags=re.IGNORECASE)
    plain = _ABBREVIATION.sub(lambda match: match[1].replace(".", "") + " ", plain)
    for year, month, day in _ISO_DATE.findall(plain):
        yield _Word(year, "year")
        yield _Word(MONTHS[int(month) - 1], "month")
        if day:
            yield _Word(day.lstrip("0"), "day")
    tokens = _WORD.findall(_ISO_DATE.sub(" ", plain))
    for place, token in enumerate(tokens):
        before = tokens[place - 1].casefold() if place else ""
        after = tokens[place + 1].casefold() if place + 1 < len(tokens) else ""
        yield from _word(token, before=before, after=after, first=place == 0)


def _word(token: str, *, before: str, after: str, first: bool) -> Iterator[_Word]:
    low = token.casefold().removesuffix("'s").removesuffix("'")
    number = _NUMBERS.get(low) or _ROMAN.get(token) or (_ORDINAL.sub(r"\1", low) if low[0].isdigit() else "")
    if number:
        if _YEAR.fullmatch(number):
            yield _Word(number, "year")
        elif number.isdigit() and 1 <= int(number) <= 31 and (_month(before) or _month(after)):
            yield _Word(str(int(number)), "day")
        elif _singular(before) not in _LOCATORS:
            yield _Word(number.lstrip("0") or "0", "id")
    elif low != "may" and (month := _month(low)):
        yield _Word(month, "month")
    elif low == "may":
        # Without its capital it is a verb, unless it stands where only a month can.
        if token[0].isupper() or before in {"of", "in"} or _YEAR.fullmatch(after):
            yield _Word(low, "month")
    elif low in _WEEKDAYS:
        yield _Word(low, "weekday")
    elif len(low) == 1 and (low not in "ai" or (token.isupper() and not first)):
        yield _Word(low, "id")
    elif low not in _STOP:
        key = _singular(low)
        yield _Word(key, _kind(key))


def _kind(key: str) -> Kind:
    if key in _FORMS or key in _ANY_FORM:
        return "form"
    if key in _PARTS:
        return "part"
    return "id" if re.fullmatch(r"v\d[\d.]*|q[1-4]", key) else "plain"


def _month(word: str) -> str:
    """Return the month that `word` is or abbreviates, or ""."""
    if word == "sept":
        return "september"
    return next((month for month in MONTHS if word == month or (len(word) == 3 and month.startswith(word))), "")


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _head(phrase: str) -> _Word | None:
    """Return the noun that the phrase is about, unless it is a document, a part of one, a number or a date."""
    words = list(_read(_TAIL.split(phrase.strip(), maxsplit=1)[0]))
    return words[-1] if words and words[-1].kind == "plain" else None


_TAIL: Final = re.compile(r"(?<=\w)\s+(?:of|in|on|from|by|for|about|against|to|with|at|behind|used)\s", re.IGNORECASE)


def _clash(said: frozenset[_Word], called: frozenset[_Word]) -> bool:
    """Whether both give a number, a month or a year, and not one of them is the same."""
    for kind in ("id", "year", "month", "day", "weekday"):
        ours = {word for word in said if word.kind == kind}
        theirs = {word for word in called if word.kind == kind}
        if ours and theirs and not ours & theirs:
            return True
    return False


def _title_share(shared: frozenset[_Word], called: frozenset[_Word]) -> float:
    """Return how much of the title was said, its date apart: nobody repeats the year of a report."""
    total = _weight(frozenset(word for word in called if word.distinctive or word.kind == "form"))
    said = _weight(frozenset(word for word in shared if word.distinctive or word.kind == "form"))
    return said / total if total else 1.0


def _other_form(said: frozenset[_Word], called: frozenset[_Word]) -> bool:
    ours = {_FORMS[word.key] for word in said if word.key in _FORMS}
    theirs = {_FORMS[word.key] for word in called if word.key in _FORMS}
    return bool(ours and theirs and not ours & theirs)


def _only_a_name(said: frozenset[_Word], called: frozenset[_Word], title: str) -> bool:
    """Whether a document is called by the bare name of somebody: "Acme" is not the "Acme contract".

    The witness is as good as the testimony, though, the meeting as its minutes, and "Smith 2019" is a paper.
    """
    forms = {_FORMS[word.key] for word in called if word.key in _FORMS}
    if _BY_WHOM.search(title):
        forms -= {_FORMS["testimony"], _FORMS["minute"]}
    return bool(forms) and all(word.kind == "plain" for word in said)


_BY_WHOM: Final = re.compile(r"\b(?:of|with|by|from)\b", re.IGNORECASE)


def _weight(words: frozenset[_Word]) -> float:
    return sum(word.weight for word in words)
