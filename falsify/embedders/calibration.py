"""How near is near: the cosine distance of the first gate, for each embedder, and how it was found.

Distances of different models cannot be compared, so each has a threshold of its own. What the numbers trade: a claim
beyond the threshold is never shown to the judge, and a claim within it costs a judgement. `falsify calibrate FILE
--embedder` finds the number for another model, or for other texts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

KEPT: Final = 0.95
"""The share of true conflicts that a threshold should let through."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold, and where it comes from."""

    threshold: float
    made: str


BUNDLED: Final = "minilm-l6-v2-w8"
FASTEMBED: Final = "fastembed:"
OPENAI: Final = "openai:"
"""What the ids begin with; the model's name follows, and for OpenAI's the number of dimensions."""

_CONTRACT: Final = Calibration(
    0.35, "the contract's number, chosen for OpenAI's embeddings; not measured again, for want of a key"
)
_MINILM: Final = Calibration(
    0.55,
    "keeps 0.95 of 60 true conflicts between facts of daily business, and 0.85 of FEVER-symmetric's; 2.8 of 2,026 "
    "claims pass it for each fact",
)

TABLE: Final[dict[str, Calibration]] = {
    BUNDLED: _MINILM,
    f"{FASTEMBED}sentence-transformers/all-MiniLM-L6-v2": _MINILM,  # the same weights, before their compression
    f"{OPENAI}text-embedding-3-small": _CONTRACT,
    f"{OPENAI}text-embedding-3-large": _CONTRACT,
}
"""By the id of the embedder, or its beginning up to a colon."""

DEFAULT: Final = Calibration(
    0.5, "not calibrated: between the two numbers known; `falsify calibrate FILE --embedder` measures it"
)


def calibration(name: str) -> Calibration:
    """Return the calibration of the embedder with this id."""
    return TABLE.get(name) or TABLE.get(name.rpartition(":")[0]) or DEFAULT


def keeping(distances: Sequence[float], share: float = KEPT) -> float:
    """Return the least threshold, in whole hundredths, below which at least that share of the distances lies."""
    if not distances:
        raise ValueError("there are no distances to keep")
    last = sorted(distances)[math.ceil(share * len(distances)) - 1]
    return (math.floor(last * 100) + 1) / 100
