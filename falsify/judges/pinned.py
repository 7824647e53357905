"""The judge of a demonstration: one claim is contradicted, whatever the fact says. No model that could stall."""

import hashlib
import unicodedata
from collections.abc import Sequence
from typing import ClassVar, Final

from falsify.ports import Abstention, Opinion, Statement

CONFIDENCE: Final = 0.9


class PinnedJudge:
    """Contradicts the claims with the given texts and finds every other claim unrelated (DEMO_MODE, REFUTED_ID)."""

    name: ClassVar[str] = "pinned"

    def __init__(self, *targets: str) -> None:
        self._targets = frozenset(map(_key, targets))

    @property
    def version(self) -> str:
        """Return a short digest of what is pinned."""
        return hashlib.sha256("\0".join(sorted(self._targets)).encode()).hexdigest()[:8]

    def judge(self, fact: Statement, claims: Sequence[Statement]) -> list[Opinion | Abstention]:  # noqa: ARG002  # the fact does not matter here
        """Return one answer for each claim, in order."""
        return [self._opinion(claim) for claim in claims]

    def _opinion(self, claim: Statement) -> Opinion:
        if _key(claim.text) in self._targets:
            return Opinion("contradicts", CONFIDENCE, "this claim is pinned to be contradicted; no judge was asked")
        return Opinion("unrelated", CONFIDENCE, "another claim is pinned to be contradicted; no judge was asked")


def _key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(". ")
