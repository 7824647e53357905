"""Answers from slots, without a language model: a question names a thing and leads on from it, by relations.

"What is the capital of the country where Anna lives?" starts at Anna, and of the chains of relations that lead on from
her over living claims, the one whose wording comes nearest to the question is taken: "capital of the lives in of it".
Where none comes near enough there is no answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from falsify.belief.graph import BeliefGraph, Evidence
from falsify.belief.slots import Slot, entity_key, relation_key, stem
from falsify.events import NodeId
from falsify.ports import Embedder
from projections.slots import SlotIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIDENT: Final = 0.5
"""What the wording of a chain must reach: its cosine similarity to the question, and a fifth of the words it shares.

Measured on FactConsolidation: of 241 questions that no claim answers 7 got one, of 300 that one answers none went
without.
"""

DEEPEST: Final = 4
"""How many relations a chain has at the most."""

_KEPT: Final = 12  # chains that are led on at each step
_LONGEST_NAME: Final = 16  # words
_EACH: Final = 0.01  # what a further relation has to bring
_SHARED: Final = 0.05  # what it counts that each relation has a word of the question, the last one what is asked for
_COVERED: Final = 0.3  # what it counts that all words of the question are told
_SURE: Final = 0.2  # and how much of that makes confident


@dataclass(frozen=True, slots=True)
class Answer:
    """A short text, the claims that it was read from, in order, and how near they came to the question.

    `also` are other values that live beside it, where the relation takes many.
    """

    text: str
    path: tuple[NodeId, ...]
    confidence: float
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Step:
    """A relation of a subject: the claims that live in it, the last asserted first."""

    claims: tuple[tuple[NodeId, Slot], ...]

    @property
    def first(self) -> Slot:
        return self.claims[0][1]


@dataclass(frozen=True, slots=True)
class _Chain:
    steps: tuple[_Step, ...]
    seen: frozenset[str]

    @property
    def end(self) -> str:
        return self.steps[-1].first.object

    @property
    def relations(self) -> tuple[str, ...]:
        return tuple(step.first.said.relation for step in self.steps)


@dataclass(frozen=True, slots=True)
class _Query:
    """A question without the thing it names: its vector, its words, what kind of value it wants, and which thing."""

    vector: "NDArray[np.float32]"
    words: frozenset[str]
    wants: str
    noun: frozenset[str]


class Answerer:
    """Answers questions; it remembers the vectors of the relations it has met."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def answer(self, question: str, graph: BeliefGraph, slots: SlotIndex) -> Answer | None:
        """Return the answer that living claims give, or None if there is none to be confident of."""
        if _CLOSED.match(question.strip()):
            return None  # yes or no is not the value of a slot
        words = question.split()
        best: tuple[float, float, _Chain] | None = None
        for subject, start, end in _mentions(words, graph, slots):
            query = self._query([*words[:start], "it", *words[end:]], question)
            for found in self._chains(subject, query, graph, slots):
                if best is None or found[0] > best[0]:
                    best = found
        if best is None or best[1] < CONFIDENT:
            return None
        _, confidence, chain = best
        last = chain.steps[-1]
        values = [filled.said.object for _, filled in last.claims] if last.first.many else []
        return Answer(
            text=last.first.said.object,
            path=tuple(step.claims[0][0] for step in chain.steps),
            confidence=round(confidence, 4),
            also=tuple(dict.fromkeys(v for v in values if v != last.first.said.object)),
        )

    def _chains(
        self, subject: str, query: _Query, graph: BeliefGraph, slots: SlotIndex
    ) -> Iterator[tuple[float, float, _Chain]]:
        """Yield the best chain of each length that ends in what the question wants: its score, its confidence."""
        front = [_Chain((step,), frozenset({subject})) for step in _steps(subject, graph, slots)]
        for _ in range(DEEPEST):
            if not front:
                return
            similarities = self._similarities(front, query)
            scores = [s + _bonus(c, query) for s, c in zip(similarities, front, strict=True)]
            order = sorted(range(len(front)), key=lambda i: (-scores[i], front[i].relations))
            fitting = next((i for i in order if _fits(front[i].steps[-1].first, query.wants)), None)
            if fitting is not None:
                sure = similarities[fitting] + _SURE * _covered(front[fitting], query)
                yield scores[fitting], min(1.0, sure), front[fitting]
            kept = [front[i] for i in order[:_KEPT]]
            front = [
                _Chain((*chain.steps, step), chain.seen | {chain.end})
                for chain in kept
                if chain.end not in chain.seen
                for step in _steps(chain.end, graph, slots)
            ]

    def _query(self, words: Sequence[str], question: str) -> _Query:
        text = " ".join(words)
        [vector] = self._embedder.embed([text])
        return _Query(vector, _content(text), _wanted(question), _noun(question))

    def _similarities(self, chains: Sequence[_Chain], query: _Query) -> list[float]:
        """Return how near each chain comes, as a phrase and as a question, to the question."""
        texts = [form.format(_worded(chain)) for chain in chains for form in _FORMS]
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            self._vectors.update(zip(missing, self._embedder.embed(missing), strict=True))
        found = [float(self._vectors[text] @ query.vector) for text in texts]
        return [sum(found[i : i + len(_FORMS)]) / len(_FORMS) for i in range(0, len(found), len(_FORMS))]


def _worded(chain: _Chain) -> str:
    """Return a chain in words, the last relation first: "capital of the citizen of the married to"."""
    return " of the ".join(relation.removesuffix(" of") for relation in reversed(chain.relations))


_FORMS: Final = ("{}", "What is the {} of it?")
_CLOSED: Final = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may)\b", re.IGNORECASE
)
_COMMON: Final = frozenset(
    str.split(
        "a an the of in on at to for from by with is was are were be been it its what which who whom whose where when "
        "how does do did that this and or as"
    )
)


def _mentions(words: Sequence[str], graph: BeliefGraph, slots: SlotIndex) -> list[tuple[str, int, int]]:
    """Return the subjects that the question names and where: the longest names, none inside another."""
    found: list[tuple[str, int, int]] = []
    taken: set[int] = set()
    for size in range(min(_LONGEST_NAME, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            place = range(start, start + size)
            if not taken.isdisjoint(place):
                continue
            subject = _subject(" ".join(words[start : start + size]), graph, slots)
            if subject:
                found.append((subject, start, start + size))
                taken.update(place)
    return found


def _subject(name: str, graph: BeliefGraph, slots: SlotIndex) -> str:
    for spelling in (name, re.sub(r"['\u2019]s?$", "", name.strip(' ?!.,:;"\u201c\u201d'))):
        key = entity_key(spelling)
        if key in slots and key not in _COMMON and any(_lives(graph, node_id) for node_id, _ in slots.about(key)):
            return key
    return ""


def _steps(subject: str, graph: BeliefGraph, slots: SlotIndex) -> Iterator[_Step]:
    """Yield the relations of a subject that living claims fill."""
    filled: dict[tuple[str, str], list[tuple[NodeId, Slot]]] = {}
    for node_id, found in slots.about(subject):
        if _lives(graph, node_id):
            filled.setdefault((found.relation, found.kind), []).append((node_id, found))
    for claims in filled.values():
        yield _Step(tuple(sorted(claims, key=lambda claim: graph.evidence(claim[0]).strength, reverse=True)))


def _lives(graph: BeliefGraph, node_id: NodeId) -> bool:
    node = graph.nodes.get(node_id)
    return isinstance(node, Evidence) and node.alive


def _bonus(chain: _Chain, query: _Query) -> float:
    shared = sum(bool(_content(relation) & query.words) for relation in chain.relations)
    asked = bool(_content(chain.relations[-1]) & query.noun)
    return (
        _SHARED * (shared / len(chain.relations) + asked)
        + _COVERED * _covered(chain, query)
        - _EACH * len(chain.relations)
    )


def _covered(chain: _Chain, query: _Query) -> float:
    """Return how much of what the question says the chain tells, by words."""
    told = frozenset[str]().union(*map(_content, chain.relations))
    return len(told & query.words) / max(1, len(query.words))


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    """Return what the words of a text are called as relations, so that "employer" and "employed by" meet."""
    words = [word for word in entity_key(text).split() if word not in _COMMON]
    return frozenset(part for word in words for part in (stem(word), *relation_key(word).split())) - _COMMON


def _wanted(question: str) -> str:
    """Return what kind of value the question asks for: "number", "date", "name", or "" for any."""
    low = question.casefold()
    if re.match(r"(?:how (?:many|much|old|tall|long|large|big|high|heavy|far))\b", low):
        return "number"
    if re.match(r"(?:when|(?:in|on|since|until) (?:what|which) (?:year|date|day|month))\b", low):
        return "date"
    return "name" if re.match(r"(?:who|whom)\b", low) else ""


def _noun(question: str) -> frozenset[str]:
    """Return what is asked for: "continent" of "On which continent ...", "capital" and "city" of "the capital city"."""
    found = _ASKED.search(question.casefold())
    return _content(found[1] or found[2]) if found else frozenset()


_ASKED: Final = re.compile(
    r"\b(?:which|what) (?!is\b|was\b|are\b|were\b|does\b|did\b)(\w+)|"
    r"\b(?:what|who) (?:is|was|are|were) the (?:name of the )?([\w ]+?)"
    r"(?: (?:of|that|where|in|on|for|to|who|which|associated)\b|[,?]|$)"
)


def _fits(filled: Slot, wants: str) -> bool:
    has_digit = any(c.isdigit() for c in filled.object)
    if wants == "number":
        return has_digit or filled.relation.startswith("number")
    if wants == "date":
        return filled.relation.endswith("when") or filled.relation == "date" or has_digit
    return not (wants == "name" and (filled.relation.endswith("when") or filled.object[:1].isdigit()))
