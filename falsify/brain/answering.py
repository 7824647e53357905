"""Answers that are made of what was found, word for word: the best sentences, each with the extract that it is from.

A sentence is worth its nearness to what was asked, the share of the asked words that it has (rare words count more),
and a little for how well its extract was ranked:

    score = cosine + WORDS * coverage + RANK / rank   (+ ORDERS in guidance, for what tells somebody to do something)

The cosine is that of the sentence with its title and headings before it. At most so many sentences are taken, none
far behind the best. What was superseded is only quoted where nothing that holds has anything to say, and is
then said to be superseded. Of a page that may not be quoted, and of a sentence that speaks to whoever reads it, nothing
is quoted: the page is named.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from falsify.brain.citations import Citing, unmarked, verified
from falsify.brain.injection import injections
from falsify.brain.likeness import normal
from falsify.brain.sentences import Sentence, sentences
from falsify.ports import Embedder

UNKNOWN: Final = "The Brain does not know this."
"""What is answered where nothing is known, or nothing of it may be seen: the same words for both."""

NO_EXPERIENCE: Final = "No stored experience applies; rely on your own judgment."
"""The published sentence of guidance that rests on nothing."""

EXPERIENCE: Final = ("lesson", "playbook", "process", "rule")
"""The types of pages that guidance is made of."""

NARROW: Final = (3, 0.15)
BROAD: Final = (6, 0.4)
"""The most sentences of an answer (of guidance, and of an object with fields), and how far behind the best they are."""

MOST_CANDIDATES: Final = 64
"""Sentences that are compared with what was asked, in the order of the ranking."""

LONGEST_SENTENCE: Final = 600
"""Characters of a sentence; what is longer is none that somebody wrote."""

WORDS: Final = 0.3
RANK: Final = 0.15
ORDERS: Final = 0.1
LIKE: Final = 0.8
"""The share of common words from which on a sentence says what another one said."""

_WARNS: Final = re.compile(
    r"\b(?:avoid|never|do(?:es)? not|don't|must not|may not|should not|cannot|can't|no longer|not accepted|nobody"
    r"|beware|forb[ia]d\w*|refus\w+|without|warning|caution|danger\w*|mistake|jamais|évit\w+|interdit\w*|sans|attention"
    r"|niemals|nie|nicht|kein\w*|vermeid\w+)\b",
    re.IGNORECASE,
)
_ORDERS: Final = re.compile(
    r"\b(?:must|shall|should|always|only|before|first|has to|have to|needs? to|is to be|within|doit|doivent|toujours"
    r"|avant|muss|müssen|immer|zuerst)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """What was served of a page; `holds` says that the page was not superseded."""

    rel_path: str
    title: str
    heading_path: str
    text: str
    quotable: bool = True
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence, the place of its extract among those served, and what it is worth; `cosine` is its nearness.

    `ordinal` is its place among all sentences of what was served.
    """

    place: int
    ordinal: int
    sentence: Sentence
    cosine: float
    score: float

    @property
    def warns(self) -> bool:
        """Whether it says what to avoid."""
        return _WARNS.search(self.sentence.text) is not None


@dataclass(frozen=True, slots=True)
class Found:
    """The sentences that answer, best first, and what they are from."""

    extracts: Sequence[Extract]
    best: tuple[Candidate, ...]


def find(
    asked: str,
    extracts: Sequence[Extract],
    embedder: Embedder,
    *,
    weak: bool,
    broad: bool = False,
    guidance: bool = False,
) -> Found | None:
    """Return the sentences that answer what was asked, more of them if `broad`, or None where nothing does.

    Where the evidence is `weak`, nothing does. Raises UnavailableError if the embedder cannot be used.
    """
    if weak:  # a sentence would still be found, near by its page's title: "Order by e-mail" to a question of credit
        return None
    ranked = _scored(asked, extracts, embedder, guidance=guidance)
    holding = [each for each in ranked if extracts[each.place].holds]
    chosen = tuple(_distinct(holding or ranked, *(BROAD if broad else NARROW)))
    return Found(extracts, chosen) if chosen else None


def extractive(found: Found, *, room: int) -> Citing:
    """Return the answer that the sentences make, in the order of their extracts, within so many characters."""
    return verified("\n".join(_lines(found, _in_order(found.best), room)), found.extracts)


def guidance(found: Found, *, room: int) -> Citing:
    """Return what to do and, before that, what to avoid; within so many characters."""
    warnings = [each for each in found.best if each.warns]
    steps = [each for each in found.best if not each.warns]
    made = [f"{head}\n{body}" for head, body in _parts(found, warnings, steps, room)]
    return verified("\n\n".join(made), found.extracts)


def told(candidate: Candidate, extract: Extract) -> str:
    """Return how a sentence is told: as it stands or, where it may not be quoted, by the name of its page."""
    if not may_quote(candidate, extract):
        return f"See {_name(extract)} [{candidate.place + 1}]."
    shown = unmarked(candidate.sentence.text)
    return f"{'' if extract.holds else 'Superseded: '}{shown} [{candidate.place + 1}]"


def may_quote(candidate: Candidate, extract: Extract) -> bool:
    """Return whether a sentence may be repeated word for word."""
    return extract.quotable and next(injections(candidate.sentence.text), None) is None


def repeats(text: str, extracts: Iterable[Extract], *, run: int = 8) -> bool:
    """Return whether a text has so many words in a row from an extract that may not be quoted."""
    words = normal(text).split()
    said = {tuple(words[at : at + run]) for at in range(len(words) - run + 1)}
    for extract in extracts:
        theirs = normal(extract.text).split()
        if not extract.quotable and any(tuple(theirs[at : at + run]) in said for at in range(len(theirs) - run + 1)):
            return True
    return False


# --- what a sentence is worth ---------------------------------------------------------------------------------


def _scored(asked: str, extracts: Sequence[Extract], embedder: Embedder, *, guidance: bool) -> list[Candidate]:
    """Return every sentence with what it is worth, best first; ties in the order of the extracts."""
    listed = [
        (place, sentence)
        for place, extract in enumerate(extracts)
        for sentence in sentences(extract.text)
        if len(sentence.text) <= LONGEST_SENTENCE
    ][:MOST_CANDIDATES]
    if not listed:
        return []
    shown = [_with_context(extracts[place], sentence) for place, sentence in listed]
    query, *vectors = embedder.embed([asked, *shown])
    covered = _coverage(asked, shown)
    found = []
    for ordinal, ((place, sentence), vector, coverage) in enumerate(zip(listed, vectors, covered, strict=True)):
        cosine = round(float(vector @ query), 6)
        orders = ORDERS if guidance and _tells_to_act(sentence) else 0.0
        score = round(cosine + WORDS * coverage + RANK / (place + 1) + orders, 6)
        found.append(Candidate(place, ordinal, sentence, cosine, score))
    return sorted(found, key=lambda each: (-each.score, each.ordinal))


def _with_context(extract: Extract, sentence: Sentence) -> str:
    return "\n".join(filter(None, (extract.title, extract.heading_path, sentence.text)))


def _coverage(asked: str, shown: Sequence[str]) -> list[float]:
    """Return for each text the share of the asked words that it has; of words that no text has nothing is known."""
    wanted = _words(asked)
    texts = [_words(text) for text in shown]
    often = Counter(word for text in texts for word in text & wanted)
    weight = {word: math.log(1 + len(texts) / often[word]) for word in sorted(often)}
    total = sum(weight.values())
    return [sum(weight[word] for word in sorted(text & wanted)) / total if total else 0.0 for text in texts]


def _words(text: str) -> frozenset[str]:
    """Return the words of a text; a plural is the same word."""
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in normal(text).split())


def _tells_to_act(sentence: Sentence) -> bool:
    text = sentence.text
    return sentence.listed or _WARNS.search(text) is not None or _ORDERS.search(text) is not None


def _distinct(ranked: Sequence[Candidate], most: int, margin: float) -> Iterator[Candidate]:
    """Yield the best sentences, none that says what one before it said."""
    kept: list[frozenset[str]] = []
    for each in ranked:
        if len(kept) == most or each.score < ranked[0].score - margin:
            return
        words = _words(each.sentence.text)
        if words and all(len(words & other) < LIKE * len(words | other) for other in kept):
            kept.append(words)
            yield each


# --- how it is told -------------------------------------------------------------------------------------------


def _in_order(chosen: Sequence[Candidate]) -> list[Candidate]:
    """Return the sentences of one extract together and as they stand there, the extract of the best one first."""
    first = {each.place: at for at, each in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda each: (first[each.place], each.ordinal))


def _name(extract: Extract) -> str:
    """Return the title of a page, or its path where the title speaks to whoever reads it."""
    return extract.rel_path if next(injections(extract.title), None) else unmarked(extract.title)


def _lines(found: Found, chosen: Iterable[Candidate], room: int) -> Iterator[str]:
    """Yield a line for each sentence, none twice, as long as there is room; the first is told in any case."""
    said: set[str] = set()
    for each in chosen:
        extract = found.extracts[each.place]
        line = told(each, extract)
        if said and len(line) > room:
            continue
        if not may_quote(each, extract) and extract.rel_path in said:
            continue
        said |= {line, extract.rel_path}
        room -= len(line)
        yield line


def _parts(
    found: Found, warnings: Sequence[Candidate], steps: Sequence[Candidate], room: int
) -> Iterator[tuple[str, str]]:
    """Yield the two parts of guidance that have something in them; what to avoid has the room first."""
    for head, part in (("Watch out:", warnings), ("Where it applies:", steps)):
        lines = list(_lines(found, _in_order(part), room)) if room > 0 else []
        room -= sum(map(len, lines))
        if lines:
            yield head, "\n".join(f"- {line}" for line in lines)
