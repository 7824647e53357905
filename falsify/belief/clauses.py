"""Just enough English grammar to tell what a sentence says of whom, and whether it says so itself.

A sentence is a row of words in lower case. The functions here walk from a verb to its subject and its object, and ask
whether what stands around them is a denial, a doubt, a condition or hearsay.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

from falsify.belief.blame import (
    ADVERBS,
    BE,
    BREAKS,
    CONCESSIONS,
    CONDITIONS,
    DENIALS,
    DETERMINERS,
    DOUBTS,
    EXCEPTING,
    EXCEPTIONS,
    FACTIVE,
    HAVE,
    HEDGES,
    LINKS,
    MODALS,
    NEGATIONS,
    NO_ADVERBS,
    NO_OBJECT,
    NONE,
    NOUN_PARTICIPLES,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVES,
    SEEMING,
    TAKING_BACK,
    TOLD,
)
from falsify.belief.naming import MONTHS

_MAX_WORDS: Final = 120
"""How much of a sentence is read. Longer ones are lists and logs, whose grammar is not followed here anyway."""


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence: its words as written, and in lower case without hyphens; punctuation among them."""

    words: tuple[str, ...]
    low: tuple[str, ...]
    before: "Line | None" = None


@dataclass(slots=True)
class Group:
    """What stands between a subject and what is said of it: "was later found to have been"."""

    start: int
    be: bool = False
    negated: bool = False
    hedged: bool = False
    infinitive: bool = False
    ruled: bool = False


def parse(sentence: str, before: Line | None = None) -> Line:
    """Read a sentence that follows another: contractions written out, "back-dated" and its like in one spelling."""
    text = unicodedata.normalize("NFKC", sentence)
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    words = tuple(islice((match[0] for match in _TOKEN.finditer(text)), _MAX_WORDS))
    return Line(words, tuple(_lower(word, first=not place) for place, word in enumerate(words)), before)


def _lower(word: str, *, first: bool) -> str:
    if word == "May" and not first:
        return word  # a month, and no modal verb
    low = word.casefold()
    return low.replace("-", "") if low.startswith(("back-", "ante-", "mis-", "double-", "un-", "photo-")) else low


_SPELLINGS: Final = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        ("[\u2018\u2019]", "'"),
        ("[\u2010\u2011]", "-"),
        (r"\b(back|ante) (?=dat(?:ed|ing)\b)", r"\1-"),
        (r"\bcan(?:not|'t)\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\b(it|that|there)'s\b", r"\1 is"),
        (r"\b(?:not only|no doubt|without (?:a )?doubt|beyond (?:any |all )?doubt)\b", ""),
        (r"\(([^()]{0,12}\d[^()]{0,12})\)", r" \1 "),  # a number belongs to the name: "the QA report (2021)"
        (r"[()]", " , "),
        ("\\s[-\u2013\u2014]+\\s|\u2014|--+", " \u2014 "),
    )
]
_TOKEN: Final = re.compile("[^\\W_]+(?:['./&-][^\\W_]+)*|[,;:?\u2014]")


def group_before(low: Sequence[str], end: int, *, noun: bool = False) -> Group:
    """Walk left from what is said over auxiliaries, adverbs and "found to"."""
    group = Group(end)
    place = end - 1
    while place >= 0:
        word = low[place]
        if word in BE or word in LINKS or word in SEEMING:
            group.be = True
            group.hedged |= word in SEEMING
        elif word in MODALS or word in HEDGES or _reputed(word):
            group.hedged = True
        elif word in NEGATIONS:
            group.negated = True
        elif word == "to":
            if not (place and _passes_on(low[place - 1])):
                group.infinitive, group.start = True, place
                break
        elif word in {"and", "or", "but", "nor", ","}:
            verb = _shared_verb(low, place)
            if verb is None:
                break
            group.be = True
            group.negated |= word != "but" and bool(NEGATIONS & set(low[verb:place]))
            place = verb
        elif word in FACTIVE:
            group.ruled = True
        elif word == "fact" and low[place - 1 : place] == ("in",):
            place -= 1
        elif not (
            is_filler(word)
            or (word == "as" and place and low[place - 1] in FACTIVE)
            or (noun and word in {"a", "an", "the"} and place == end - 1)
        ):
            break
        group.start = place
        place -= 1
    return group


def _reputed(word: str) -> bool:
    """Whether a participle makes what follows mere repute: "said to be", "alleged to have been"."""
    return word in {"said", "reported", "thought", "yet"} or bool(word.endswith("ed") and DOUBTS.fullmatch(word))


def _passes_on(word: str) -> bool:
    """Whether "to" after this word only carries the charge on: "found to be", "turned out to be"."""
    return word in FACTIVE | TOLD | SEEMING | LINKS or bool(DOUBTS.fullmatch(word))


def is_filler(word: str) -> bool:
    """Whether a word may stand between a subject and its verb and change nothing: an auxiliary, an adverb."""
    return (
        word in HAVE
        or word in ADVERBS
        or word in {"did", "does", "do"}
        or (word.endswith("ly") and word not in NO_ADVERBS)
    )


def _shared_verb(low: Sequence[str], joint: int) -> int | None:
    """Return the place of the verb that the second of two predicates shares: "was unsigned and forged"."""
    for place in range(joint - 1, max(-1, joint - 7), -1):
        if low[place] in BE:
            return place
        if low[place] in DETERMINERS | PREPOSITIONS | PRONOUNS:
            return None
    return None


def opens_object(word: str) -> bool:
    """Whether a noun phrase may begin with this word, right after a verb."""
    return bool(word) and not (
        word in NO_OBJECT or word in BE or word in HAVE or word in MODALS or word in BREAKS or is_filler(word)
    )


def has_agent(low: Sequence[str], start: int) -> bool:
    """Whether somebody stands before the verb, and not the article of a noun."""
    return start > 0 and low[start - 1] not in DETERMINERS | PREPOSITIONS | BREAKS | {",", "and", "or", "as", "no"}


def subject_before(low: Sequence[str], end: int) -> tuple[int, int, int]:
    """Return what bounds the subject that ends before `end` (a place, or -1), and where it starts and stops."""
    stop = end
    if stop and low[stop - 1] in RELATIVES:  # "the QA report, which was forged"
        stop -= 1
        stop -= bool(stop and low[stop - 1] == ",")
        start = _phrase_start(low, stop)
        return start - 1, start, stop
    if stop and low[stop - 1] == ",":  # "the QA report, which Bob signed, was forged"
        opening = next((i for i in range(stop - 2, -1, -1) if low[i] == "," or low[i] in BREAKS), -1)
        stop = opening if opening >= 0 and low[opening] == "," else stop - 1
    if stop and low[stop - 1] in {"and", "but"}:  # "the QA report was late and is invalid": the first verb's subject
        stop = next((place for place in range(1, stop - 1) if _has_verb(low[place - 1 : place + 1])), 0)
    place = stop - 1
    while place >= 0 and not _bounds_subject(low, place, stop):
        place -= 1
    return place, place + 1, stop


def _bounds_subject(low: Sequence[str], place: int, stop: int) -> bool:
    """Whether a subject that runs to `stop` cannot reach over this word."""
    word, rest = low[place], low[place + 1 : stop]
    if word in BREAKS:
        return True
    if word in {",", "and", "or"}:
        segment = list(takewhile(lambda w: w != "," and w not in BREAKS, reversed(low[:place])))
        listed = word != "," or {"and", "or"} & set(rest)
        return not listed or _has_verb(segment[::-1])
    if word == "that":  # a relative clause has a verb of its own; "found that the QA report" has not
        return bool(rest) and not _has_verb(rest) and not (place and low[place - 1] in PREPOSITIONS)
    if word == "out":
        return bool(rest and place and low[place - 1] in LINKS)
    if place and rest and (word in FACTIVE or word in TOLD or DOUBTS.fullmatch(word) or DENIALS.fullmatch(word)):
        noun = low[place - 1] in DETERMINERS | PREPOSITIONS or rest[0] in PREPOSITIONS
        return not noun and word != "known"
    return False


def _has_verb(words: Sequence[str]) -> bool:
    return any(
        word in BE
        or word in HAVE
        or word in MODALS
        or word in {"did", "does", "do"}
        or (
            (word in FACTIVE or word in TOLD or (word.endswith("ed") and len(word) > 4))
            and word not in NOUN_PARTICIPLES
            and (place and words[place - 1] not in DETERMINERS | PREPOSITIONS | {"and", "or"})
            and (word != "reports" or words[place + 1 : place + 2] in (["that"], ["the"], ("that",), ("the",)))
        )
        for place, word in enumerate(words)
    )


def _phrase_start(low: Sequence[str], stop: int) -> int:
    """Return where the noun phrase starts that stops at `stop`: at its article, with "of the" reaching further."""
    place = stop - 1
    while place > 0:
        if low[place] in DETERMINERS and low[place - 1] not in {"of", "from", "by"}:
            return place
        if low[place - 1] in BREAKS or low[place - 1] in {",", "and"}:
            return place
        place -= 1
    return 0


def accused(line: Line, boundary: int, start: int, stop: int, *, following: Sequence[str]) -> Iterator[str]:
    """Yield the noun phrases accused: the subject trimmed, or what its pronoun may stand for."""
    if start == stop and boundary >= 0 and line.low[boundary] in {":", "\u2014"}:  # "QA report of March: forged"
        _, start, stop = subject_before(line.low, boundary)
    if line.low[start] in BE | MODALS | {"had"}:  # "had study 12 been retracted": a condition, or a question
        return
    start, stop = _trimmed(line.low, start, stop)
    low = line.low[start:stop]
    if not low or low[0] in NONE or _has_verb(low):
        return
    if all(word in PRONOUNS for word in low):
        if list(following) not in (["that"], ["to"]):  # "it is false that"
            yield from _antecedents(line, boundary)
    elif low[0] in POSSESSIVES and stop > start + 1:  # "its results": the results of what was spoken of
        for owner in _antecedents(line, boundary):
            yield " ".join((owner, *line.words[start + 1 : stop]))
    elif low not in (("this",), ("that",), ("there",)):
        yield " ".join(line.words[start:stop])


def _trimmed(low: Sequence[str], start: int, stop: int) -> tuple[int, int]:
    """Return the bounds without a leading "In 2023", and without a relative clause or an exception at the end."""
    while start < stop and (is_filler(low[start]) or low[start] in {"however", "therefore", "and", "or", "thus"}):
        start += 1
    if start < stop and low[start] in PREPOSITIONS:
        article = next((i for i in range(start + 2, stop) if low[i] in DETERMINERS), None)
        start = (
            article if article is not None else next((i for i in range(start + 1, stop) if not _dates(low[i])), stop)
        )
    for place in range(start + 1, stop):
        pair = tuple(low[place : place + 2])
        if low[place] in RELATIVES | EXCEPTIONS or pair in EXCEPTING:
            return start, place - (low[place - 1] == ",")
    return start, stop


def _antecedents(line: Line, boundary: int) -> Iterator[str]:
    """Yield what "it" may stand for: the first and the last noun phrase of what was said just before."""
    words, low = (line.words[:boundary], line.low[:boundary]) if boundary > 0 else ((), ())
    if not words and line.before:
        words, low = line.before.words, line.before.low
    if not words:
        return
    first = next(
        (place for place in range(1, len(low)) if _has_verb(low[: place + 1]) or low[place] in {",", ":"}), len(low)
    )
    yield " ".join(words[:first])
    yield " ".join(words[_phrase_start(low, len(low)) :])


def object_end(low: Sequence[str], start: int) -> int:
    """Return where the noun phrase ends that starts at `start`."""
    for place in range(start, len(low)):
        word, before = low[place], low[place - 1]
        following = low[place + 1] if place + 1 < len(low) else ""
        if word in BREAKS or word in RELATIVES - {"that"} or word in {",", "?", "to", "than", "did", "does"}:
            return place
        if word in BE or word in HAVE or word in MODALS:
            return place
        if word in DETERMINERS and place > start and before not in DETERMINERS | PREPOSITIONS | {"and", "or"}:
            return place
        if word in {"in", "on", "during", "by"} and (_dates(following) or following.endswith("ing")):
            return place
        if word in {"and", "or"} and (following.endswith("ed") or following in BE | HAVE | MODALS):
            return place
    return len(low)


def _dates(word: str) -> bool:
    return word[:1].isdigit() or word.casefold() in MONTHS or word in {"last", "next", "then", "now", "order"}


def vouched_before(low: Sequence[str], boundary: int) -> bool:
    """Whether what comes before the subject leaves the charge standing."""
    governor = low[boundary] if boundary >= 0 else ";"
    if governor in CONDITIONS:
        return False
    governed = governor == "that" or governor not in BREAKS | {",", "and", "or"}
    if not governed and governor in BREAKS - {":", "\u2014"}:
        return True
    for segment in _segments(low[: boundary + governed]):
        if segment[0] in CONDITIONS or _doubted(segment):
            return False
        if (governed or governor == ":") and any(DENIALS.fullmatch(word) for word in segment):
            return False
        if governed and any(word in NEGATIONS or word in MODALS for word in segment):
            return False
    return True


def vouched_here(low: Sequence[str], start: int) -> bool:
    """Whether what comes before an act leaves it done, in the eyes of whoever wrote the sentence."""
    return not any(
        _doubted(segment)
        or any(word in NEGATIONS or word in MODALS or word in CONDITIONS or DENIALS.fullmatch(word) for word in segment)
        for segment in _segments(low[:start])
    )


def vouched_after(rest: Sequence[str], *, clause: bool) -> bool:
    """Whether nothing after the charge takes it back: ", the defence claims", "if the clock was wrong"."""
    first, *others = _split(rest, {",", "\u2014", ";", "but"})
    if {"if", "unless", "whether"} & set(first) or HEDGES & set(first) or tuple(first[:2]) == ("or", "not"):
        return False
    if clause and any(DENIALS.fullmatch(word) or DOUBTS.fullmatch(word) for word in first):
        return False
    for segment in others:
        aside = segment and segment[0] not in CONCESSIONS and (len(segment) <= 5 or segment[0] in TAKING_BACK)
        if aside and (_doubted(segment) or any(DENIALS.fullmatch(word) for word in segment) or _untrue(segment)):
            return False
    return True


def _segments(low: Sequence[str]) -> list[list[str]]:
    """Return the parts of the text since its last hard stop, those apart that only concede something."""
    last = max((place for place, word in enumerate(low) if word in {";", "but", "\u2014"}), default=-1)
    parts = _split(low[last + 1 :], {",", ":"})
    return [part for part in parts if part and part[0] not in CONCESSIONS]


def _split(low: Sequence[str], marks: set[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in low:
        if word in marks:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _doubted(segment: Sequence[str]) -> bool:
    """Whether these words leave open what they introduce: a claim, a rumour, "it is said"."""
    return any(
        word in HEDGES
        or DOUBTS.fullmatch(word)
        or (word in TOLD and bool(BE & set(segment[max(0, place - 2) : place])))
        for place, word in enumerate(segment)
    )


def _untrue(segment: Sequence[str]) -> bool:
    return "not" in segment and bool({"true", "so", "case", "correct"} & set(segment))
