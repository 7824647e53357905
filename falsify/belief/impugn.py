"""Statements about a source: "the March QA report was back-dated" says nothing of what the report says, and ends it.

A judge of sentences sees no conflict between such a fact and a claim taken from the report, and the two embed far
apart. So this is a rule: read whom the fact accuses, and of what; leave out what it denies, doubts or only reports.
Where the grammar is unclear the rule stays silent, because a false accusation kills true beliefs. English only.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from falsify.belief.blame import (
    ACTS,
    AFTER_A_HEADLINE,
    BE,
    BEFORE_A_NOUN,
    CONFESSIONS,
    DETERMINERS,
    DISTRUST,
    DONE_TO_IT,
    FACTIVE,
    HEADLINES,
    MISTRUST,
    NONE,
    NOUNS,
    PHRASES,
    POSSESSIVES,
    PRAISE,
    STATES,
    TOLD,
    VICTIMS,
)
from falsify.belief.clauses import (
    Group,
    Line,
    accused,
    group_before,
    has_agent,
    object_end,
    opens_object,
    parse,
    subject_before,
    vouched_after,
    vouched_before,
    vouched_here,
)
from falsify.belief.naming import likeness, named

__all__ = ["Charge", "Impugnment", "impugns", "mentions", "named", "sentences", "strongest"]


@dataclass(frozen=True, slots=True)
class Charge:
    """What is said against something: "was back-dated" of "the March QA report"."""

    subject: str
    predicate: str


@dataclass(frozen=True, slots=True)
class Impugnment:
    """The charges that a fact brings, at least one."""

    charges: tuple[Charge, ...]


def impugns(fact_text: str) -> Impugnment | None:
    """Return what the fact says against sources, or None. Denials, doubts, questions and hearsay are not charges."""
    charges: list[Charge] = []
    line: Line | None = None
    for sentence in sentences(fact_text):
        line = parse(sentence, line)
        if "?" not in line.low:
            charges += _charges(line)
    return Impugnment(tuple(dict.fromkeys(charges))) if charges else None


def mentions(impugnment: Impugnment, title: str) -> float:
    """Return how well the accused is named by a source's title (or a claim's text), 0 to 1."""
    return strongest(impugnment, title)[1]


def strongest(impugnment: Impugnment, title: str) -> tuple[Charge, float]:
    """Return the charge whose subject names `title` best, and how well it does."""
    scored = [(charge, _naming(charge.subject, title)) for charge in impugnment.charges]
    return max(scored, key=lambda pair: pair[1])


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, trimmed. Abbreviations, initials and decimal points end none."""
    pieces: list[str] = []
    start = 0
    for match in _STOP.finditer(text):
        before = text[start : match.start()].rsplit(None, 1)
        if match[0] == "." and before and _abbreviates(before[-1], text[match.end() :].lstrip()[:1]):
            continue
        pieces.append(text[start : match.end()])
        start = match.end()
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


_STOP: Final = re.compile(r"[.!?]+[\"'”’)]*(?=\s+[\"'“‘(]*[A-Z0-9])|\n+")  # noqa: RUF001  # typographic quotes are meant
_ABBREVIATION: Final = re.compile(
    r"[\"'(]*(?:dr|mr|mrs|ms|prof|st|vs|etc|e\.g|i\.e|inc|ltd|co|corp|al|approx|dept|jan|feb|mar|apr|jun|jul|aug|sept?|"
    r"oct|nov|dec|(?:[a-z]\.)+[a-z])",
    re.IGNORECASE,
)
_BEFORE_A_NUMBER: Final = re.compile(r"(?:no|nr|fig|p|pp|art|sec|vol)", re.IGNORECASE)


def _abbreviates(word: str, following: str) -> bool:
    if following.isdigit() and _BEFORE_A_NUMBER.fullmatch(word):
        return True
    return bool(_ABBREVIATION.fullmatch(word)) or (len(word) == 1 and word.isupper())


def _naming(subject: str, title: str) -> float:
    """Return how well the subject, or one of several it joins, names the title."""
    parts = [part for part in _JOINED.split(subject) if part.strip()]
    return max(likeness(part, title) for part in (subject, *parts))


_JOINED: Final = re.compile(r"\s*,\s*|\s+(?:and|or|as well as)\s+", re.IGNORECASE)


# --- the charges -----------------------------------------------------------------------------------------------


def _charges(line: Line) -> Iterator[Charge]:
    """Yield every charge that the sentence brings on its own authority."""
    text = " ".join(line.low)
    offsets = list(accumulate((len(word) + 1 for word in line.low), initial=0))
    taken: set[int] = set()
    for pattern, read in ((MISTRUST, _phrase), (PHRASES, _phrase), (DISTRUST, _act), (ACTS, _act)):
        for match in pattern.finditer(text):
            span = range(bisect_right(offsets, match.start()) - 1, bisect_right(offsets, match.end() - 1))
            if taken.isdisjoint(span) and not NONE & set((match.groupdict().get("amount") or "").split()):
                taken.update(span)
                yield from read(line, span.start, span.stop)
    for place, word in enumerate(line.low):
        if place not in taken and word in STATES:
            yield from _state(line, place, place + 2 if line.low[place + 1 : place + 2] == ("with",) else place + 1)


def _phrase(line: Line, start: int, end: int) -> Iterator[Charge]:
    """Read a whole predicate: "contained errors", "cannot be trusted"."""
    group = group_before(line.low, start)
    if not (group.negated or group.hedged):
        yield from _accuse(line, group, line.words[start if group.infinitive else group.start : end], end)


def _act(line: Line, start: int, end: int) -> Iterator[Charge]:
    """Read an act and what it was done to: "the retraction of study 12", "errors were found in the log"."""
    gerund = line.low[start].endswith("ing") and line.low[end - 1] not in {"of", "with"}
    if not gerund or _done(line.low, start):
        yield from _accuse_object(line, start, end)


def _state(line: Line, place: int, end: int) -> Iterator[Charge]:
    """Read one word of blame by its surroundings: passive, active, before a noun, or as a headline has it."""
    word, low = line.low[place], line.low
    group = group_before(low, place, noun=word in NOUNS)
    following = low[end] if end < len(low) else ""
    said = line.words[group.start : end]
    if word in PRAISE:
        if group.be and group.negated and not (group.hedged or group.infinitive):
            yield from _accuse(line, group, said, end)
    elif group.negated or group.hedged or (word == "mistaken" and following == "for"):
        return
    elif group.be:
        yield from _accuse(line, group, ("was", *line.words[place:end]) if group.infinitive else said, end)
    elif opens_object(following):
        if word in (DONE_TO_IT if has_agent(low, group.start) else BEFORE_A_NOUN):
            yield from _accuse_object(line, place, end)
    elif (word in HEADLINES or group.ruled) and following in AFTER_A_HEADLINE:
        yield from _accuse(line, group, ("was", *line.words[place:end]), end)


def _done(low: Sequence[str], start: int) -> bool:
    """Whether a gerund tells what was done: "was forging", "admitted to having forged", "by forging"."""
    before = [word for word in low[max(0, start - 5) : start] if word not in {"to", "having", "for", "of", "been"}]
    return bool(before) and before[-1] in BE | CONFESSIONS


def _accuse(line: Line, group: Group, said: Sequence[str], end: int) -> Iterator[Charge]:
    """Yield the charge against what stands before the group, if the sentence vouches for it."""
    boundary, start, stop = subject_before(line.low, group.start)
    governor = line.low[boundary] if boundary >= 0 else ""
    if group.infinitive and governor not in FACTIVE | TOLD:
        return
    if vouched_before(line.low, boundary) and vouched_after(line.low[end:], clause=governor == "that"):
        predicate = " ".join(said).replace("can not", "cannot")
        for subject in accused(line, boundary, start, stop, following=line.low[end : end + 1]):
            yield Charge(subject, predicate)


def _accuse_object(line: Line, start: int, end: int) -> Iterator[Charge]:
    """Yield the charge against what stands after the act, if the sentence vouches for it."""
    stop = object_end(line.low, end)
    if (
        not has_agent(line.low, start)
        and stop - end > 1
        and line.low[stop : stop + 1]
        and line.low[stop] in DETERMINERS
    ):
        stop -= 1  # "the forged report misled the panel": the word before the next article is the verb
    if stop > end and vouched_here(line.low, start) and vouched_after(line.low[stop:], clause=False):
        words = line.words[end:stop]
        if line.low[end] in POSSESSIVES:  # "the supplier withdrew its email": the supplier's email
            _, first, last = subject_before(line.low, group_before(line.low, start).start)
            words = (*line.words[first:last], *words[1:])
        yield Charge(" ".join(words), _done_to(line.low[start]))


def _done_to(act: str) -> str:
    """Return the act as it is said of its victim: "retracts" and "retraction" are "was retracted"."""
    return next((said for stem, said in VICTIMS.items() if act.startswith(stem)), f"was {act}")
