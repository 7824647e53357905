"""What a sentence says of whom: subject, relation, object, in which scope and when.

Read offline, by general rules of English: the copula ("X is Y"), the passive ("X was founded by Y"), the verb ("X plays
Y"), the possessive ("X's child is Y"), the definition ("the R of S is O", "the R that S verbs is O"), and quantities.
Two claims in the same *functional* slot cannot both hold. A sentence that fits no rule has no slot, and nothing follows
from that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from falsify.belief.slot_clauses import parse
from falsify.belief.slot_filling import Said, Slot
from falsify.belief.slot_keys import entity_key, relation_key, stem

__all__ = ["AS_WORDED", "Arity", "Said", "Slot", "entity_key", "relation_key", "slot", "stem"]


@dataclass(frozen=True, slots=True)
class Arity:
    """What a user says of relations: keys of those that take one value, and of those that take many."""

    functional: frozenset[str] = frozenset()
    many_valued: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *, functional: Sequence[str] = (), many_valued: Sequence[str] = ()) -> "Arity":
        """Read relations as people write them: "works at", "official language"."""
        return cls(frozenset(map(relation_key, functional)), frozenset(map(relation_key, many_valued)))


AS_WORDED: Final = Arity()


def slot(text: str, arity: Arity = AS_WORDED) -> Slot | None:
    """Return the slot that a sentence fills, or None where no rule reads it."""
    found = parse(text)
    if found is None:
        return None
    if found.relation in arity.many_valued:
        return replace(found, functional=False, many=True)
    return replace(found, functional=True, many=False) if found.relation in arity.functional else found
