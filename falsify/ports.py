"""What the write side needs from outside, each as the narrowest protocol that serves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from falsify.config_keys import Key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Relation = Literal["contradicts", "supersedes", "supports", "unrelated"]
Gate = Literal["distance", "source", "slot"]

Progress = Callable[[str, int, int], None]
"""Is told how far something has come: what ("pages", "claims"), how many of it are done, and of how many."""


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


@dataclass(frozen=True, slots=True)
class Shown:
    """What a consultant is shown of a page: an extract, and whether it may be repeated word for word."""

    title: str
    text: str
    quotable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Consultation:
    """What a consultant is asked, and the extracts that it is to answer from, which it cites as [1], [2], ...

    `schema` is that of JSON which the answer is to be, {} for prose; `max_tokens` about how long it may be.
    """

    mode: Literal["question", "guidance"]
    asked: str
    extracts: tuple[Shown, ...]
    schema: Mapping[str, Any]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Advice:
    """What a consultant answered, JSON where that was asked for. `known` is False where the extracts have nothing."""

    text: str
    known: bool = True


class Consultant(Protocol):
    """Answers a question from extracts, and nothing else. What it says is checked by whoever asks it."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...

    def consult(self, consultation: Consultation) -> Advice | Abstention:
        """Return the answer. Never raises for a failing model: it abstains."""
        ...


Metrics = Mapping[str, float | None]
"""One line of what a run measured: name -> value, None for what was not a finite number."""

Outcome = Literal["exited", "timed out", "stopped", "vanished"]
"""How a process ended: by itself, past its time, because we stopped it, or without anybody seeing how."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What an executor is to run.

    `config` is the whole configuration, `seed` included; `folder` an absolute path that belongs to this run alone;
    `limit_seconds` how long it may take.
    """

    run_id: str
    config: Mapping[str, Any]
    folder: str
    limit_seconds: float


@dataclass(frozen=True, slots=True)
class Exit:
    """How a run's process ended: its exit code (negative for a signal) and how many seconds it took."""

    outcome: Outcome
    code: int
    seconds: float


class RunProcess(Protocol):
    """A run that goes on in a process of its own."""

    def poll(self) -> Exit | None:
        """Return how it ended, or None while it goes on. Never blocks."""
        ...

    def metrics(self) -> list[Metrics]:
        """Return the lines that it reported since this was asked last, in order."""
        ...

    def stop(self) -> Exit:
        """End it with everything that it started, and return how it ended. Stopping twice is harmless."""
        ...


class Executor(Protocol):
    """Runs configurations of `keys`, which experiments may change, and `fixed` ones, which a contract sets for good.

    Beside them every configuration has a `seed`.
    """

    @property
    def name(self) -> str: ...
    @property
    def keys(self) -> tuple[Key, ...]: ...
    @property
    def fixed(self) -> tuple[Key, ...]: ...

    def start(self, order: RunOrder) -> RunProcess:
        """Start a run, and return at once. Raises UnavailableError if the process cannot be started."""
        ...
