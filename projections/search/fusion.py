"""How the legs become one ranking: every constant of it, and the formula.

Each leg ranks chunks by itself, from 1, at most `LEG_DEPTH` of them:

* lexical: BM25 (`BM25_K1`, `BM25_B`) of the question's words. A word counts `FIELDS` times: in the title, in the
  headings (and description and aliases), in the text. How rare a word is, and how long a chunk is beside others, is
  counted over what the call may see, and nothing else.
* vector: cosine to the question.
* entity: chunks of the entity and glossary pages whose name or alias the question says; longer names first, then by
  path; of one page those nearest to the question first, at most `PER_PAGE`.
* relational: chunks of the pages that those pages link to or that link to them, nearest to the question first.

    rrf_score = sum over the legs that have the chunk of 1 / (RRF_K + rank in the leg)
    score     = rrf_score * title_boost * verified_boost * recency_multiplier * graph_boost

    title_boost        = 1 + TITLE_WEIGHT * share of the question's words that stand in the page's title
    verified_boost     = VERIFIED where source_trust is `verified`, else 1
    recency_multiplier = RECENCY_FLOOR + (1 - RECENCY_FLOOR) * 0.5 ** (age in days / HALF_LIFE_DAYS)
    graph_boost        = min(GRAPH_MAX, 1 + GRAPH_WEIGHT * log2(1 + pages that link to it))

Age is counted from `updated` (where a page does not say, from when its version became known) to the date of the call:
that of `as_of`, else today. Of links, those between pages that the call may see count, each page once.

The lifecycle tier (`TIERS`) sorts first: what holds, or is about to (draft), comes before what was superseded, and
that before what is archived. Then the score decides, then path, then ordinal. Of one page at most `PER_PAGE` chunks are
ranked. What is archived or has expired takes no part unless it is asked for.

Confidence is low where no ranked chunk is evidence enough. Nearness and words count together, of the same chunk:

    evidence = cosine + WEAK_WORDS * near * coverage
    near     = 1 - the embedder's threshold, and what the evidence of a chunk has to reach
    coverage = the weight (idf, over what the call may see) of the question's words that the chunk has, as a share

Fillers (fillers.py: "which", "do we have", "le") have no weight, nor do the names that the question says: whoever asks
for the salary of somebody is not told more surely for the somebody. A word that nothing has weighs most. Where a name
was said, chunks without any other word of the question are no evidence, since the name alone makes them near; where
nothing but a name was said, its page is evidence enough.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

RRF_K: Final = 2
LEG_DEPTH: Final = 60
PER_PAGE: Final = 3
BM25_K1: Final = 1.2
BM25_B: Final = 0.75
FIELDS: Final = (3, 2, 1)
TITLE_WEIGHT: Final = 0.05
VERIFIED: Final = 1.03
HALF_LIFE_DAYS: Final = 365
RECENCY_FLOOR: Final = 0.97
GRAPH_WEIGHT: Final = 0.005
GRAPH_MAX: Final = 1.03
TIERS: Final[Mapping[str, int]] = {"active": 0, "draft": 0, "superseded": 1, "archived": 2}
WEAK_WORDS: Final = 0.65

LEGS: Final = ("vector", "fts", "entity", "relational")
"""The legs, as `explain` calls them."""


def pipeline(day: str) -> dict[str, Any]:
    """Return the constants as `explain` prints them; `day` is the date that age is counted to."""
    return {
        "rrf_k": RRF_K,
        "leg_depth": LEG_DEPTH,
        "per_page": PER_PAGE,
        "bm25": {"k1": BM25_K1, "b": BM25_B, "fields": {"title": FIELDS[0], "headings": FIELDS[1], "text": FIELDS[2]}},
        "title_weight": TITLE_WEIGHT,
        "verified": VERIFIED,
        "recency": {"half_life_days": HALF_LIFE_DAYS, "floor": RECENCY_FLOOR, "date": day},
        "graph": {"weight": GRAPH_WEIGHT, "max": GRAPH_MAX},
        "tiers": dict(TIERS),
    }


def reciprocal_ranks(legs: Mapping[str, Sequence[int]]) -> dict[int, dict[str, int]]:
    """Return for each chunk that a leg has its rank in each leg that has it."""
    ranks: dict[int, dict[str, int]] = {}
    for leg, ranked in legs.items():
        for rank, chunk in enumerate(ranked, start=1):
            ranks.setdefault(chunk, {})[leg] = rank
    return ranks


def reciprocal(rank: int) -> float:
    """Return what a rank in one leg is worth."""
    return 1 / (RRF_K + rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """What the reciprocal ranks of a chunk are multiplied by."""

    title_boost: float
    verified_boost: float
    recency_multiplier: float
    graph_boost: float

    def of(self, rrf_score: float) -> float:
        """Return the score."""
        return rrf_score * self.title_boost * self.verified_boost * self.recency_multiplier * self.graph_boost


def title_boost(asked: Sequence[str], title: Iterable[str]) -> float:
    """Return the factor for the question's words that stand in the title."""
    wanted = set(asked)
    return 1 + TITLE_WEIGHT * len(wanted & set(title)) / len(wanted) if wanted else 1.0


def verified_boost(source_trust: str) -> float:
    """Return the factor for what was verified."""
    return VERIFIED if source_trust == "verified" else 1.0


def recency_multiplier(updated: str, day: str) -> float:
    """Return the factor for age; what says that it is from after that day is new."""
    age = max(0, (date.fromisoformat(day) - date.fromisoformat(updated)).days)
    return RECENCY_FLOOR + (1 - RECENCY_FLOOR) * math.exp2(-age / HALF_LIFE_DAYS)


def graph_boost(linking: int) -> float:
    """Return the factor for the number of pages that link to the page."""
    return min(GRAPH_MAX, 1 + GRAPH_WEIGHT * math.log2(1 + linking))


def weak(chunks: Iterable[tuple[float, float]], *, near: float, named: bool) -> bool:
    """Return whether none of the chunks (cosine, coverage) is evidence enough; `named` says that a name was said."""
    return not any(
        round(cosine + WEAK_WORDS * near * coverage, 6) >= round(near, 6)
        for cosine, coverage in chunks
        if coverage or not named
    )
