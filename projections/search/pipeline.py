"""A question becomes a ranking: legs over what the call may see, fusion, factors, tiers. The same one every time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import orjson

from projections.search import fusion, legs
from projections.search.fillers import FILLERS
from projections.search.index import Row, SearchIndex
from projections.search.view import Admission, View
from projections.search.words import words

MOST_WORDS: Final = 64
"""Distinct words of a question that the lexical leg reads."""

_SAME: Final = (
    "chunk", "ordinal", "rel_path", "title", "heading_path", "text", "start_line", "end_line", "type", "department",
    "lifecycle_status", "source_trust", "updated",
)  # fmt: skip
"""What a hit takes from its row as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A ranked chunk: what of it is served, and the numbers that ranked it.

    `ranks` has its rank in each leg that found it. `vector_score` is a cosine, `fts_score` BM25. `updated` is a date,
    lines count from 1 in the file of the version that became known at `known_at`.
    """

    rank: int
    chunk: int
    version: int
    rel_path: str
    ordinal: int
    title: str
    heading_path: str
    text: str
    start_line: int
    end_line: int
    type: str
    department: str
    lifecycle_status: str
    source_trust: str
    quotable: bool
    updated: str
    known_at: str
    sources: tuple[str, ...]
    origin: Mapping[str, str] | None
    score: float
    vector_score: float
    fts_score: float
    ranks: Mapping[str, int]
    rrf_score: float
    factors: fusion.Factors
    tier: int

    def explained(self) -> dict[str, Any]:
        """Return the numbers as `explain` prints them; a leg that has not found the chunk is null."""
        scores = {"vector": self.vector_score, "fts": self.fts_score}
        found = {
            leg: {"rank": self.ranks[leg], **({"score": scores[leg]} if leg in scores else {}),
                  "rrf": round(fusion.reciprocal(self.ranks[leg]), 8)}
            if leg in self.ranks else None
            for leg in fusion.LEGS
        }  # fmt: skip
        return {
            **found,
            "rrf_score": round(self.rrf_score, 8),
            "title_boost": round(self.factors.title_boost, 6),
            "verified_boost": self.factors.verified_boost,
            "recency_multiplier": round(self.factors.recency_multiplier, 6),
            "graph_boost": round(self.factors.graph_boost, 6),
            "lifecycle_tier": self.tier,
            "final_rank": self.rank,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The answer to a question: the whole ranking, whether its evidence is weak, and what `explain` says of it."""

    hits: tuple[Hit, ...] = ()
    weak: bool = True
    nothing: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    view: View

    @property
    def confidence(self) -> str:
        """`low` where the evidence is weak, else `normal`."""
        return "low" if self.weak else "normal"


def search(index: SearchIndex, question: str, admission: Admission) -> Ranking:
    """Rank what of the index answers the question among what is admitted.

    `nothing` says that the call can see no page at all, whatever it asks for. Raises UnavailableError where the index
    or the embedder cannot be used.
    """
    view = index.view(admission)
    if not len(view.chunks):
        return Ranking(view=view, nothing=not index.view(admission.unfiltered()).pages)
    found = _found(index, view, question)
    hits = _ranked(index, view, found, admission.day)
    counts = {
        "pages": view.pages,
        "chunks": len(view.chunks),
        **{leg: len(ranked) for leg, ranked in found.legs.items()},
        "candidates": len(found.ranks),
        "ranked": len(hits),
    }
    return Ranking(hits=hits, weak=found.weak(1 - index.embedder.threshold), counts=counts, view=view)


def neighbours(index: SearchIndex, ranking: Ranking, hits: Sequence[Hit]) -> list[list[Row]]:
    """Return for each hit the chunks before and after it on its page, where there are any."""
    # Chunks of a version have consecutive numbers, and a version is admitted whole.
    version_of = ranking.view.snapshot.version_of
    beside = [
        [n for n in (hit.chunk - 1, hit.chunk + 1) if 0 <= n < len(version_of) and version_of[n] == hit.version]
        for hit in hits
    ]
    rows = index.rows(sorted({number for numbers in beside for number in numbers}))
    return [[rows[number] for number in numbers] for numbers in beside]


def withheld(index: SearchIndex, admission: Admission) -> int:
    """Return how many pages the ceiling of where the answer goes keeps from a call that may read them.

    It is counted whatever the question is: a count that depended on it would tell what those pages say.
    """
    return index.view(admission.unwithheld()).pages - index.view(admission).pages


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the legs found: chunks by their place in the view, their ranks, and the scores of all that has a rank.

    `telling` are the words of the question that are neither fillers nor a name that it says.
    """

    terms: Sequence[str]
    telling: frozenset[str]
    named: bool
    legs: Mapping[str, Sequence[int]]
    ranks: Mapping[int, Mapping[str, int]]
    cosine: Mapping[int, float]
    bm25: Mapping[int, float]
    coverage: Mapping[int, float]

    def weak(self, near: float) -> bool:
        """Return whether the evidence is; `near` is the cosine from which on two texts are about the same."""
        if self.named and not self.telling:
            return False
        chunks = ((self.cosine[place], self.coverage[place]) for place in self.ranks)
        return fusion.weak(chunks, near=near, named=self.named)


def _found(index: SearchIndex, view: View, question: str) -> _Found:
    asked = words(question)
    terms = list(dict.fromkeys(asked))[:MOST_WORDS]
    query = index.embedder.embed([question])[0]
    named = legs.mentions(index, view, asked)
    telling = frozenset(terms) - FILLERS - named.words
    lexical = legs.lexical(index, view, terms, telling)
    ranked = {
        "vector": legs.nearest(view, query).tolist(),
        "fts": legs.best(view, lexical.scores).tolist(),
        "entity": legs.chunks_of(view, named.versions, query).tolist(),
        "relational": legs.related(index, view, named.versions, query).tolist(),
    }
    ranks = fusion.reciprocal_ranks(ranked)
    places = np.array(sorted(ranks), dtype=np.int64)
    cosines = legs.cosines(view, query, places)
    return _Found(
        terms=terms,
        telling=telling,
        named=bool(named.versions),
        legs=ranked,
        ranks=ranks,
        cosine=dict(zip(places.tolist(), cosines.tolist(), strict=True)),
        bm25=dict(zip(places.tolist(), lexical.scores[places].round(6).tolist(), strict=True)),
        coverage=dict(zip(places.tolist(), lexical.coverage[places].round(6).tolist(), strict=True)),
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    """A candidate with its score, not yet ranked."""

    row: Row
    place: int
    rrf_score: float
    factors: fusion.Factors
    score: float

    @property
    def order(self) -> tuple[int, float, str, int]:
        return fusion.TIERS[self.row["lifecycle_status"]], -self.score, self.row["rel_path"], self.row["ordinal"]


def _ranked(index: SearchIndex, view: View, found: _Found, day: str) -> tuple[Hit, ...]:
    """Return the candidates as hits, ordered, at most so many of a page."""
    numbers = {place: int(view.chunks[place]) for place in found.ranks}
    rows = index.rows(list(numbers.values()))
    linking = legs.linking_to(index, view, sorted({row["id"] for row in rows.values()}))
    scored = [
        _scored(rows[number], found, place, linking=len(linking[rows[number]["id"]]), day=day)
        for place, number in numbers.items()
    ]
    of_page: Counter[str] = Counter()
    kept: list[_Scored] = []
    for each in sorted(scored, key=lambda each: each.order):
        of_page[each.row["rel_path"]] += 1
        if of_page[each.row["rel_path"]] <= fusion.PER_PAGE:
            kept.append(each)
    return tuple(_hit(rank, each, found) for rank, each in enumerate(kept, start=1))


def _scored(row: Row, found: _Found, place: int, *, linking: int, day: str) -> _Scored:
    factors = fusion.Factors(
        title_boost=fusion.title_boost(found.terms, words(row["title"])),
        verified_boost=fusion.verified_boost(row["source_trust"]),
        recency_multiplier=fusion.recency_multiplier(row["updated"], day),
        graph_boost=fusion.graph_boost(linking),
    )
    rrf = sum(fusion.reciprocal(rank) for rank in found.ranks[place].values())
    return _Scored(row, place, rrf, factors, round(factors.of(rrf), 8))


def _hit(rank: int, scored: _Scored, found: _Found) -> Hit:
    row, place = scored.row, scored.place
    return Hit(
        rank=rank,
        version=row["id"],
        quotable=bool(row["quotable"]),
        known_at=row["known_from"],
        sources=tuple(orjson.loads(row["sources"])),
        origin=orjson.loads(row["origin"]),
        tier=fusion.TIERS[row["lifecycle_status"]],
        ranks=found.ranks[place],
        rrf_score=scored.rrf_score,
        factors=scored.factors,
        score=scored.score,
        vector_score=found.cosine[place],
        fts_score=found.bm25[place],
        **{name: row[name] for name in _SAME},
    )
