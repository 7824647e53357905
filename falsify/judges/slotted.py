"""What the slots of a fact and of a claim say of a conflict: two values of one slot, or two slots."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from falsify.belief.slot_words import DETERMINERS, PERSONS
from falsify.belief.slots import AS_WORDED, Arity, Slot, slot
from falsify.judges.quantities import Amount, quantities
from falsify.judges.times import Time

VERSION: Final = "slots1"


@dataclass(frozen=True, slots=True)
class Bearing:
    """Why a fact and a claim are in conflict by their slots, or why they cannot be; "" where slots do not tell."""

    conflict: str = ""
    apart: str = ""


NOTHING: Final = Bearing()


def bearing(fact: str, claim: str, arity: Arity = AS_WORDED) -> Bearing:
    """Hold the slot of a fact against that of a claim, one sentence each."""
    new, old = slot(fact, arity), slot(claim, arity)
    if new is None or old is None:
        return NOTHING
    if _strangers(new, old):
        return Bearing(apart=f"they are about {new.said.subject} and {old.said.subject}")
    if new.relation != old.relation:
        return _other_relation(new, old)
    if new.subject != old.subject:
        return NOTHING
    if new.kind and old.kind and new.kind != old.kind:
        return Bearing(apart=f"one names a {new.kind}, the other a {old.kind}")
    if scope := _other_scope(new, old):
        return Bearing(apart=f"the scope differs: {scope}")
    if new.many or old.many:
        return Bearing(apart=f'"{new.said.relation}" has many values')
    if not (new.functional and old.functional) or not _differ(new, old):
        return NOTHING
    values = (new.said.relation, old.said.relation) if new.side else (new.said.object, old.said.object)
    told = f"{new.said.subject} and {new.said.object}:" if new.side else _told(new)
    return Bearing(conflict=f"same slot: {told} {values[0]} against {values[1]}")


def _told(filled: Slot) -> str:
    said = filled.said
    opening, _, rest = said.subject.partition(" ")
    subject = f"{opening.casefold()} {rest}" if rest and opening.casefold() in DETERMINERS else said.subject
    return f"the {said.relation} of {subject} is" if said.noun else f"{subject}, {said.relation}:"


Measured = TypeVar("Measured", Amount, Time)


def _differ(new: Slot, old: Slot) -> bool:
    """Whether the two values exclude each other: neither rewords the other nor is more specific."""
    ours, theirs = quantities(new.said.object), quantities(old.said.object)
    if (new.object[:1].isdigit() or ours.times) and (old.object[:1].isdigit() or theirs.times):
        agreed = _agree(ours.amounts, theirs.amounts)
        agreed = _agree(ours.times, theirs.times) if agreed is None else agreed
        if agreed is not None:
            return not agreed
    mine, its = set(new.object.split()), set(old.object.split())
    return not (mine <= its or its <= mine or _initials(new.object, old.object) or _initials(old.object, new.object))


def _agree(ours: Sequence[Measured], theirs: Sequence[Measured]) -> bool | None:
    """Return whether some of the one agrees with some of the other; None where they cannot be compared."""
    pairs = [(mine, its) for mine in ours for its in theirs if mine.comparable(its)]
    return any(mine.agrees(its) for mine, its in pairs) if pairs else None


def _initials(short: str, long: str) -> bool:
    return short.replace(".", "") == "".join(w[0] for w in long.split() if w not in {"of", "the", "and"})


def _other_relation(new: Slot, old: Slot) -> Bearing:
    """Tell apart sides taken of two things (to love jazz, to hate rock), and two attributes with a name each."""
    ours, theirs = set(new.relation.split()), set(old.relation.split())
    if new.side and old.side:
        told = new.said.object, old.said.object
        return NOTHING if ours & theirs - {new.relation.split()[0]} else Bearing(apart=_ABOUT.format(*told))
    if ours <= theirs or theirs <= ours:
        return NOTHING
    told_when = [filled.relation.endswith("when") for filled in (new, old)]
    if any(told_when) and new.subject == old.subject and not ours & theirs:
        names = all(when or _is_name(filled) for when, filled in zip(told_when, (new, old), strict=True))
        return Bearing(apart=_attributes(new, old)) if names else NOTHING  # when it was founded, and where it is
    if not (_is_name(new) and _is_name(old)):
        return NOTHING
    if new.subject == old.subject:
        attributes = any(filled.said.noun or filled.kind for filled in (new, old))
        separate = attributes and not set(new.object.split()) & set(old.object.split())
    else:
        separate = _named(new) and _named(old) and {new.subject, new.object} != {old.subject, old.object}
    return Bearing(apart=_attributes(new, old)) if separate else NOTHING


def _attributes(new: Slot, old: Slot) -> str:
    return _ABOUT.format(*(f"{filled.said.relation} of {filled.said.subject}" for filled in (new, old)))


_ABOUT: Final = "they are about {} and {}"


def _is_name(filled: Slot) -> bool:
    """Whether the value is a name, which one relation can hold and another not contradict."""
    value = filled.said.object
    return not filled.side and any(w[:1].isupper() for w in value.split()) and not value[:1].isdigit()


_NARROWING: Final = frozenset("when while whenever during if unless in at on under within without for".split())  # noqa: SIM905


def _other_scope(new: Slot, old: Slot) -> str:
    """Return how the scopes differ: each has its own, or one has one that narrows what it says; or the times do."""
    if new.scope != old.scope and all(
        not scope or scope[0].split()[0] in _NARROWING or (new.scope and old.scope) for scope in (new.scope, old.scope)
    ):
        return " against ".join(f'"{", ".join(scope)}"' if scope else "none" for scope in (new.scope, old.scope))
    if new.valid_to and old.valid_from and _before(new.valid_to, old.valid_from):
        return f"until {new.valid_to} against from {old.valid_from}"
    if old.valid_to and new.valid_from and _before(old.valid_to, new.valid_from):
        return f"from {new.valid_from} against until {old.valid_to}"
    return ""


def _before(one: str, other: str) -> bool:
    size = min(len(one), len(other))
    return one[:1].isdigit() and other[:1].isdigit() and one[:size] < other[:size]


def _strangers(new: Slot, old: Slot) -> bool:
    """Whether the subjects are two things by their names, and neither sentence mentions what the other is about."""
    ours, theirs = new.subject.split(), old.subject.split()
    if ours == theirs or not (_named(new) and _named(old)):
        return False
    if _initials(new.subject, old.subject) or _initials(old.subject, new.subject):
        return False
    if set(ours) <= set(theirs) or set(theirs) <= set(ours):
        # "Acme" may be "Acme Inc.", "Shingon Buddhism" is not Buddhism.
        return ours[0] != theirs[0] and new.relation == old.relation and new.object != old.object
    if new.relation == old.relation:
        return new.object != old.object or (new.said.noun and old.said.noun)
    mentioned = set(ours) & {*theirs, *old.object.split()} or set(theirs) & set(new.object.split())
    return not mentioned - _SMALL


_SMALL: Final = frozenset("of the and in de la jr inc".split())  # noqa: SIM905


def _named(filled: Slot) -> bool:
    """Whether the subject is a name, or is used like one: without an article or possessive, and no pronoun."""
    first, *rest = filled.said.subject.split()
    if first.casefold() in DETERMINERS:
        return any(w[:1].isupper() and not w.isupper() for w in rest)  # "the CEO" is somebody else each time
    return first.casefold() not in PERSONS
