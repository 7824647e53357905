"""The judge that needs no network and no key: a small cross-encoder, the lexical rules, and the rule about sources.

The model acts at p(contradiction) >= 0.5, or 0.7 where nothing else speaks for a conflict: it easily takes different
things that are said of one subject for one. Where it hesitates (p >= 0.2) the rules may decide at 0.6. The rules
overrule it where it takes statements about different things for a conflict, and where it misreads numbers. Together
they find two thirds to four fifths of the conflicts between facts of daily business; an LLM finds more. English only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from falsify import models
from falsify.belief.impugn import Impugnment, impugns, named, sentences, strongest
from falsify.belief.slots import AS_WORDED, Arity
from falsify.errors import UnavailableError
from falsify.judges import lexical, slotted
from falsify.judges.lexical import Comparison
from falsify.judges.quantities import stem
from falsify.judges.slotted import NOTHING, Bearing, bearing
from falsify.models.encoder import Encoder
from falsify.ports import Abstention, Opinion, Relation, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ACTS: Final = 0.5
"""p(contradiction) at which the model decides; the contract's confidence of 0.6."""
ALONE: Final = 0.7
"""p(contradiction) at which it decides where neither rules nor slots see any sign of a conflict.

On the labelled pairs this costs 0.05 of recall and gains as much precision; of 150 school-science sentences that
contradict nothing, 42 instead of 64 still retire something.
"""
CERTAIN: Final = 0.97
"""p(contradiction) at which it decides alone of two sentences that share nothing but their subject."""
HESITATES: Final = 0.2
ASSISTS: Final = 0.6
"""The rules' score that decides where the model hesitates."""
IMPUGNED: Final = 0.9
"""Confidence that a claim falls with its source, when the fact names the source without a doubt."""
SAME_SLOT: Final = 0.85
"""Confidence in a conflict between two values of one functional slot."""

READS_ON: Final = 0.8
"""p(entailment) from which one value is read from the other, so that the two are no conflict: Berlin is in Germany."""
APART: Final = 0.9
"""Confidence that two claims in different slots, or in one that takes many values, have nothing against each other."""

_MAX_SENTENCES: Final = 24
_MAX_CHARACTERS: Final = 600  # of one statement; the model reads no further than 128 tokens of a pair
_PRONOUNS: Final = frozenset("it they he she this that these those".split())  # noqa: SIM905  # as it is read
_BETWEEN_TITLES: Final = " / "


@dataclass(frozen=True, slots=True)
class _Reading:
    """One sentence of the fact beside a claim: what the model and the rules make of it."""

    sentence: str
    contradiction: float
    entailment: float
    rules: Comparison
    slots: Bearing = NOTHING

    @property
    def acts(self) -> bool:
        return not self.slots.apart and (self.by_slot or self.by_model or self.by_rules)

    @property
    def by_slot(self) -> bool:
        """Two values of one slot are a conflict, unless the model reads one from the other ("Berlin" and "Germany")."""
        return bool(self.slots.conflict) and (self.entailment < READS_ON or self.rules.counted)

    @property
    def by_model(self) -> bool:
        signs = self.slots.conflict or self.rules.score > 0 or self.rules.change
        enough = ACTS if signs else ALONE
        if self.rules.loose and not self.slots.conflict:
            enough = CERTAIN
        return self.contradiction >= enough and not (self.rules.apart or self.rules.agreed)

    @property
    def by_rules(self) -> bool:
        """A conflict of the rules acts where the model hesitates, or where it sees one statement twice.

        The second case is a number or a date: the model is blind to both, and so calls 85 and 850 respondents support.
        """
        heard = self.contradiction >= HESITATES or (self.rules.counted and self.entailment >= ACTS)
        return self.rules.score >= ASSISTS and heard and not (self.rules.apart or self.rules.loose)

    @property
    def confidence(self) -> float:
        """The odds of a contradiction raised by one half, so that the contract's 0.6 is the model's 0.5."""
        raised = 1.5 * self.contradiction / (1 + 0.5 * self.contradiction)
        if self.by_slot:
            return max(raised, SAME_SLOT)
        return max(raised, 0.6) if self.by_rules else raised


UNREAD: Final = Comparison(0.0, (), counted=False, change="", apart="", agreed="")


class OfflineJudge:
    """Judges English sentences on the processor. The model is loaded at the first use."""

    name: ClassVar[str] = "offline-nli"

    def __init__(self, arity: Arity = AS_WORDED) -> None:
        self._encode = Encoder(models.CROSS_ENCODER, max_tokens=128, width=3)
        self._arity = arity

    @property
    def version(self) -> str:
        """Return the model's short SHA-256 and the version of the rules."""
        try:
            sha = models.sums()[models.CROSS_ENCODER][:8]
        except UnavailableError:
            sha = "missing"
        return f"{sha}+{lexical.VERSION}+{slotted.VERSION}"

    def judge(self, fact: Statement, claims: Sequence[Statement]) -> list[Opinion | Abstention]:
        """Return one answer for each claim, in order; abstentions if the model cannot be run."""
        try:
            return list(self._opinions(fact, claims))
        except UnavailableError as error:
            return [Abstention(f"{error}; {error.hint}" if error.hint else str(error))] * len(claims)

    def _opinions(self, fact: Statement, claims: Sequence[Statement]) -> Iterator[Opinion]:
        impugnment = impugns(fact.text)
        pieces = _statements(fact.text)
        texts = [claim.text[:_MAX_CHARACTERS] for claim in claims]
        pairs = [(place, piece) for place, text in enumerate(texts) for piece in _most_related(pieces, text)]
        bearings = [bearing(piece, texts[place], self._arity) for place, piece in pairs]
        asked = [
            i for i, held in enumerate(bearings) if not held.apart
        ]  # the model is slow, and is not needed for these
        shown = [(lexical.align(pairs[i][1], texts[pairs[i][0]]), texts[pairs[i][0]]) for i in asked]
        read = dict(zip(asked, _softmax(self._encode(shown)), strict=True)) if asked else {}
        readings: list[list[_Reading]] = [[] for _ in claims]
        for i, ((place, piece), held) in enumerate(zip(pairs, bearings, strict=True)):
            contradiction, entailment, _ = read.get(i, (0.0, 0.0, 1.0))
            rules = UNREAD if held.apart else lexical.compare(piece, texts[place])
            readings[place].append(_Reading(piece, float(contradiction), float(entailment), rules, held))
        for claim, found in zip(claims, readings, strict=True):
            by_source = _by_source(impugnment, claim) if impugnment else None
            yield by_source or _opinion(found, long=len(pieces) > 1, later=_later(fact, claim))


def _statements(text: str) -> list[str]:
    """Return the sentences of a fact; one that opens with a pronoun comes with the sentence it points to."""
    pieces: list[str] = []
    previous = ""
    for sentence in sentences(text):
        first = sentence.split(None, 1)[0].casefold().rstrip("'s,")
        pieces.append(f"{previous} {sentence}" if previous and first in _PRONOUNS else sentence)
        previous = sentence
    return [piece[:_MAX_CHARACTERS] for piece in pieces] or [text[:_MAX_CHARACTERS]]


def _most_related(pieces: Sequence[str], claim: str) -> Sequence[str]:
    """Return the pieces that share most words with the claim, if there are too many to judge each."""
    if len(pieces) <= _MAX_SENTENCES:
        return pieces
    words = {stem(word) for word in claim.split()}
    shared = [len(words & {stem(word) for word in piece.split()}) for piece in pieces]
    best = sorted(range(len(pieces)), key=lambda place: (-shared[place], place))[:_MAX_SENTENCES]
    return [pieces[place] for place in sorted(best)]


def _softmax(logits: "NDArray[np.float32]") -> "NDArray[np.float64]":
    import numpy as np  # heavy

    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    probabilities: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


def _by_source(impugnment: Impugnment, claim: Statement) -> Opinion | None:
    """Return that the claim falls with its source, or with the document it names, if the fact impugns that.

    A claim that several sources stand by falls only when all of them do. A claim that says the same of the source is
    no victim of the fact.
    """
    if impugns(claim.text):
        return None
    titles = [title for title in claim.source_title.split(_BETWEEN_TITLES) if title.strip()]
    charges = [(title, *strongest(impugnment, title)) for title in titles]
    found = [("source", *min(charges, key=lambda charge: charge[2]))] if charges else []
    if document := named(claim.text):
        found.append(("document", document, *strongest(impugnment, document)))
    for kind, title, charge, likeness in sorted(found, key=lambda entry: -entry[3]):
        if IMPUGNED * likeness >= ASSISTS:
            rationale = f"the fact says the {kind} '{title}' {charge.predicate}"
            return Opinion("contradicts", round(IMPUGNED * likeness, 4), rationale)
    return None


def _later(fact: Statement, claim: Statement) -> bool:
    """Whether the fact is of a later day than the claim, as far as both are dated."""
    days = fact.asserted_at[:_DAY], claim.asserted_at[:_DAY]
    size = min(map(len, days))
    return size > 0 and days[0][:size] > days[1][:size]


_DAY: Final = len("2021-03-15")


def _opinion(readings: Sequence[_Reading], *, long: bool, later: bool) -> Opinion:
    """Return what the strongest of the readings says."""
    acting = [reading for reading in readings if reading.acts]
    if acting:
        return _conflict(max(acting, key=lambda reading: reading.confidence), long=long, later=later)
    best = max(readings, key=lambda reading: reading.entailment)
    if best.entailment >= ACTS:
        return Opinion("supports", round(best.entailment, 4), f"the model reads support (p = {best.entailment:.2f})")
    nearest = max(readings, key=lambda reading: reading.contradiction)
    if nearest.slots.apart:
        return Opinion("unrelated", APART, nearest.slots.apart)
    overruled = nearest.rules.apart or (nearest.rules.agreed and f"the numbers agree: {nearest.rules.agreed}")
    rationale = f"the model reads neither conflict nor support (p = {nearest.contradiction:.2f} for a conflict)"
    if nearest.contradiction >= ACTS and not overruled:
        alone = nearest.contradiction < ALONE
        overruled = "nothing else speaks for a conflict" if alone else "they say different things of one subject"
    if nearest.contradiction >= ACTS:
        rationale = f"{overruled}; the model alone reads a conflict (p = {nearest.contradiction:.2f})"
    confidence = 1 - max(best.entailment, 0.0 if overruled else nearest.contradiction)
    return Opinion("unrelated", round(confidence, 4), rationale)


def _conflict(reading: _Reading, *, long: bool, later: bool) -> Opinion:
    model = f"the model reads a conflict (p = {reading.contradiction:.2f})"
    if not reading.by_model:
        model = f"the model is in doubt (p = {reading.contradiction:.2f})"
    by_slot = [reading.slots.conflict] if reading.by_slot else []
    parts = [*by_slot, *reading.rules.reasons[: 2 - len(by_slot)], model]
    if reading.rules.change:
        parts.append(f'the fact speaks of a change ("{reading.rules.change}")')
    if long:
        parts.append(f'in "{reading.sentence}"')
    # Two values of one slot at two dates are no error of either: the newer replaces the older.
    replaces = reading.rules.change or (reading.by_slot and later)
    relation: Relation = "supersedes" if replaces else "contradicts"
    return Opinion(relation, round(reading.confidence, 4), "; ".join(parts))
