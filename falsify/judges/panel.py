"""A panel of judges: a conflict is one only if every member says so; what they disagree about is left open.

An open disagreement is no verdict, so it refutes nothing and contests nothing: the claim stays as it was, and the pair
is listed, with what each member said, until a judge or a person decides it.
"""

import hashlib
from collections.abc import Sequence
from typing import ClassVar, Final

from falsify.belief.graph import ACTING_CONFIDENCE
from falsify.ports import Abstention, Judge, Opinion, Relation, Statement

CONFLICTS: Final = frozenset({"contradicts", "supersedes"})
DISAGREEMENT: Final = "open disagreement"
"""How the reason begins where some members see a conflict that acts and others do not."""

_SHOWN: Final = 200  # characters of each member's rationale


class PanelJudge:
    """Asks every member, in the order given, about all claims."""

    name: ClassVar[str] = "panel"

    def __init__(self, *members: Judge) -> None:
        if len(members) < 2:
            raise ValueError("a panel has at least two members")
        self._members = members

    @property
    def version(self) -> str:
        """Return the names of the members, and a short digest of their versions."""
        versions = "\0".join(f"{member.name} {member.version}" for member in self._members)
        return f"{'+'.join(m.name for m in self._members)}+{hashlib.sha256(versions.encode()).hexdigest()[:8]}"

    def judge(self, fact: Statement, claims: Sequence[Statement]) -> list[Opinion | Abstention]:
        """Return one answer for each claim, in order: what the members agree on, or that they do not."""
        if not claims:
            return []
        names = [member.name for member in self._members]
        by_member = [member.judge(fact, claims) for member in self._members]
        return [_together(names, answers) for answers in zip(*by_member, strict=True)]


def _together(names: Sequence[str], answers: Sequence[Opinion | Abstention]) -> Opinion | Abstention:
    opinions = [answer for answer in answers if isinstance(answer, Opinion)]
    said = "; ".join(f"{name} {_said(answer)}" for name, answer in zip(names, answers, strict=True))
    if len(opinions) < len(answers):
        return Abstention(f"the panel is not complete: {said}")
    acting = [acts(opinion) for opinion in opinions]
    if any(acting) and not all(acting):
        return Abstention(f"{DISAGREEMENT}: {said}")
    return Opinion(_relation(opinions), min(opinion.confidence for opinion in opinions), said)


def acts(answer: Opinion | Abstention) -> bool:
    """Return whether an answer is a conflict that it is confident enough of to act (contract, 1.3)."""
    return isinstance(answer, Opinion) and answer.relation in CONFLICTS and answer.confidence >= ACTING_CONFIDENCE


def _relation(opinions: Sequence[Opinion]) -> Relation:
    """Return the relation all agree on; of two kinds of conflict the first member's; else that there is none."""
    first = opinions[0].relation
    agreed = all(opinion.relation == first for opinion in opinions) or all(map(acts, opinions))
    return first if agreed else "unrelated"


def _said(answer: Opinion | Abstention) -> str:
    if isinstance(answer, Abstention):
        return f"gave no verdict ({answer.reason[:_SHOWN]})"
    return f"says {answer.relation} {answer.confidence:.2f} ({answer.rationale[:_SHOWN]})"
