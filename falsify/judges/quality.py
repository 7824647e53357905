"""How good a judge is: labelled pairs of a fact and a claim, and precision, recall and F1 for a conflict on them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from falsify.belief.graph import ACTING_CONFIDENCE
from falsify.errors import InvalidInputError
from falsify.judges.panel import CONFLICTS
from falsify.ports import Abstention, Judge, Opinion, Relation, Statement

RELATIONS: Final[tuple[Relation, ...]] = get_args(Relation)

_FIELDS: Final = "three fields with tabs between them: relation, new fact, existing claim"


@dataclass(frozen=True, slots=True)
class Pair:
    """A new fact, an existing claim, and what the one truly is to the other."""

    relation: Relation
    fact: str
    claim: str

    @property
    def conflict(self) -> bool:
        """Whether the two cannot both stand."""
        return self.relation in CONFLICTS


@dataclass(frozen=True, slots=True)
class Quality:
    """What of the conflicts was found, and what of the found were conflicts. Of nothing, each share is 0."""

    precision: float
    recall: float
    f1: float


def read_pairs(lines: Iterable[str], *, name: str) -> list[Pair]:
    """Return the pairs of a tab-separated text; empty lines, and a first line of headings, are passed over.

    Raises InvalidInputError that names the line which is none, or says that there is no pair at all.
    """
    pairs = list(_pairs(lines, name))
    if not pairs:
        raise InvalidInputError(f"{name} has no pair in it", hint=f"each line has {_FIELDS}")
    return pairs


def ask(judge: Judge, pair: Pair) -> Opinion | Abstention:
    """Return what the judge says of one pair, shown to it without sources and dates."""
    [answer] = judge.judge(Statement(pair.fact), [Statement(pair.claim)])
    return answer


def conflict_score(answer: Opinion | Abstention) -> float:
    """Return how sure a judge is of a conflict: its confidence in one, else 0."""
    return answer.confidence if isinstance(answer, Opinion) and answer.relation in CONFLICTS else 0.0


def quality(truth: Sequence[bool], found: Sequence[bool]) -> Quality:
    """Return precision, recall and F1 of what was found."""
    hits = sum(t and f for t, f in zip(truth, found, strict=True))
    precision, recall = hits / max(1, sum(found)), hits / max(1, sum(truth))
    return Quality(precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0)


def acting(scores: Sequence[float], threshold: float = ACTING_CONFIDENCE) -> list[bool]:
    """Return which of the answers act, if confidence `threshold` is enough."""
    return [score >= threshold for score in scores]


def best_threshold(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the confidence from which on acting has the best F1; of several the greatest, which acts least often."""
    candidates = sorted({score for score in scores if score > 0}, reverse=True)
    return max(candidates, key=lambda t: quality(truth, acting(scores, t)).f1, default=ACTING_CONFIDENCE)


def accuracy(pairs: Sequence[Pair], answers: Sequence[Opinion | Abstention]) -> float:
    """Return the share of pairs whose relation the judge names; an abstention names none."""
    right = sum(
        isinstance(answer, Opinion) and answer.relation == pair.relation
        for pair, answer in zip(pairs, answers, strict=True)
    )
    return right / max(1, len(pairs))


def _pairs(lines: Iterable[str], name: str) -> Iterator[Pair]:
    for number, line in enumerate(lines, start=1):
        fields = [field.strip() for field in line.split("\t")]
        if fields == [""] or (number == 1 and fields[0].casefold() == "relation"):
            continue
        if len(fields) != 3 or not all(fields):
            raise InvalidInputError(
                f"{name}, line {number}: it does not have {_FIELDS}", hint=f"it is {line.strip()!r}"
            )
        relation = fields[0].casefold()
        if relation not in RELATIONS:
            raise InvalidInputError(
                f"{name}, line {number}: {fields[0]!r} is no relation", hint=f"it may be {', '.join(RELATIONS)}"
            )
        yield Pair(relation, fields[1], fields[2])
