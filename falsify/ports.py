"""What the write side needs from outside, each as the narrowest protocol that serves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Relation = Literal["contradicts", "supersedes", "supports", "unrelated"]
Gate = Literal["distance", "source", "slot"]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a judge is shown of one claim: its text, and where and when it was asserted."""

    text: str
    source_title: str = ""
    quote: str = ""
    asserted_at: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge thinks of a fact against a claim; `confidence` is in 0..1."""

    relation: Relation
    confidence: float
    rationale: str


@dataclass(frozen=True, slots=True)
class Abstention:
    """A judge that failed, stalled or answered nonsense, and why. It refutes nothing."""

    reason: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """A claim that an extractor found in a text, and the words of the text that make it."""

    text: str
    quote: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim that passed the first gate; `distance` is the cosine distance, 0..2, lower is closer."""

    claim_id: str
    distance: float
    gate: Gate


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> int:
        """Return microseconds since 1970 in UTC."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors. `threshold` is the cosine distance calibrated for this embedder."""

    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def threshold(self) -> float: ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one L2-normalised row for each text, shape (len(texts), dimensions)."""
        ...


class Judge(Protocol):
    """Says how a new fact relates to existing claims."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...

    def judge(self, fact: Statement, claims: Sequence[Statement]) -> list[Opinion | Abstention]:
        """Return one answer for each claim, in order. Never raises for a failing model: it abstains."""
        ...


class Extractor(Protocol):
    """Finds the claims in passages of a document."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...

    def extract(self, passages: Sequence[str]) -> list[tuple[Extracted, ...] | Abstention]:
        """Return the claims of each passage, in order. Never raises for a failing model: it abstains."""
        ...
