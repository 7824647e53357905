"""A slot, and how the parts of a clause fill it: whose it is, under which key, with which scope and at what time."""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from falsify.belief.slot_keys import (
    DATE,
    TIMELY,
    Words,
    are_common,
    entity_key,
    is_date,
    is_number,
    joined,
    relation_key,
    stem,
    unit_of,
    written_date,
)
from falsify.belief.slot_words import (
    CLASSIFIERS,
    DETERMINERS,
    LINKS,
    MANY,
    ONE,
    ROLES,
    SCOPES,
    SUBORDINATORS,
    SUPERLATIVE,
    SYNONYMS,
    TODAY,
)


@dataclass(frozen=True, slots=True)
class Said:
    """The parts of a sentence as it words them; `noun` tells a relation that is a noun ("capital") from a verb."""

    subject: str
    relation: str
    object: str
    noun: bool = False


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that takes a value. `subject`, `relation` and `object` are keys: compared, never shown.

    `kind` is the class that the sentence gives its object ("city" of "the city of London"); a `side` is taken by who
    loves or opposes something, and the thing is part of the relation. `functional` slots hold one
    value at a time; of `many` it is known that they hold several; of most others nothing is known. `valid_from` and
    `valid_to` are dates as far as they are given, "" for open.
    """

    subject: str
    relation: str
    object: str
    scope: tuple[str, ...]
    valid_from: str
    valid_to: str
    functional: bool
    many: bool = False
    kind: str = ""
    side: bool = False
    said: Said = field(default=Said("", "", ""), compare=False)

    @property
    def key(self) -> tuple[str, str]:
        """What two claims share that speak of the same slot, scope and time apart."""
        return self.subject, self.relation


def fill(subject: Words, relation: Words, obj: Words, *, definite: bool = False) -> Slot | None:
    """Return the slot with its keys; what the subject says of a relation, as in "the R of S", joins the relation."""
    prefix, owner, owned = split_owner(subject)
    value, scope = split_scope(obj)
    if not owner or not value:
        return None
    since = next((i for i in range(1, len(owner) - 1) if owner[i] in SCOPES and is_date(owner[i + 1 :])), len(owner))
    owner, scope = owner[:since], [*owner[since:], *scope]
    if prefix and relation[0] in {"be", "is"}:
        relation = prefix if len(relation) == 1 else [*prefix, *relation[1:]]
    elif prefix:
        relation = [*prefix, *relation]
    kind, named = _classified(value)
    key = _keyed(relation, named, kind, noun=bool(prefix) or definite)
    worded = definite or (owned and _singular(prefix)) or (kind in ROLES and value[0] == "the")
    many = key in MANY or (bool(prefix) and stem(prefix[-1]) in MANY and key not in ONE)
    quantity = is_number(named) and not is_date(named)
    described = owner[1:] if key == "be" and owner[0].casefold() in DETERMINERS else []
    superlative = any(w.casefold() in SUPERLATIVE or w.endswith("est") for w in [*prefix, *relation, *described])
    functional = not many and (key in ONE or worded or quantity or superlative)
    phrase = [*relation, kind] if kind and kind not in relation else list(relation)
    found = Slot(
        subject=entity_key(joined(owner)),
        relation=key,
        object=entity_key(joined(named)),
        scope=(),
        valid_from="",
        valid_to="",
        functional=functional,
        many=many,
        kind=kind,
        said=Said(joined(owner), joined(phrase), joined(named), noun=bool(prefix) or definite),
    )
    return placed(found, scope, opens=_begins(relation))


def _keyed(relation: Words, value: Words, kind: str, *, noun: bool) -> str:
    """Return the key of a relation; what is measured, or when, is told from what is named by the same verb."""
    key = relation_key(joined(relation))
    of_a_name = relation[-1] in {"by", "of"} or kind not in {"", "year", "month", "day", "date"}
    of_a_name = of_a_name or (noun and not TIMELY.search(key))  # "founded by May", "the author is April"
    if not of_a_name and is_date(value, whole=True):
        first = re.sub(r" (?:in|on|at|for|when)$", "", key)
        return "date" if first in {"be", "place", "dat"} else SYNONYMS.get(f"{first} when", f"{first} when")
    if is_number(value) and key not in ONE - {"place"} and not noun:
        measured = unit_of(value)
        verb = "be" if key == "place" and measured else key
        return f"{verb} {measured}".strip()
    return f"{key} {kind}" if key in {"work in", "play"} and kind else key  # a position is not played like a game


def split_owner(subject: Words) -> tuple[list[str], list[str], bool]:
    """Split "the R of S" and "S's R" into R and S; whether there was an R comes with them."""
    words = list(subject)
    relation: list[str] = []
    while cut := of_the(words):
        named = words[1:cut]
        # The name of the head is the head.
        relation = [*relation, "of", *named] if relation and relation != ["name"] else named
        words = words[cut + 1 :]
    if relation and len(words) > 2 and (cut := _state_in(words)):
        relation, words = [*relation, "of", *words[:cut]], words[cut + 1 :]
    owners = [i for i, w in enumerate(words[:-1]) if w.endswith(("'s", "s'")) and words[i + 1].islower()]
    possessor = owners[-1] if owners else None
    common = words[0] in {"women's", "men's", "children's", "people's"}  # "women's football" is nobody's
    if possessor is not None and not common and are_common(words[possessor + 1 :]):
        owner = [*words[:possessor], words[possessor].removesuffix("'s").removesuffix("'")]
        return [*relation, *words[possessor + 1 :]], owner, True
    if relation and len(words) > 2 and words[0].casefold() == "the" and words[1][:1].isupper() and words[-1].islower():
        return [*relation, words[-1]], words[1:-1], True  # "the head of the Tucson government"
    return relation, words, bool(relation)


def of_the(words: Words) -> int:
    """Return where the "of" of "the R of S" is, 0 where the words are no such thing."""
    if not words or words[0].casefold() not in {"the", "our", "its", "their"}:
        return 0
    place = next((i for i, w in enumerate(words[:8]) if w in {"of", "for"} and i > 1), 0)
    return place if place and place < len(words) - 1 and are_common(words[1:place]) else 0


def _state_in(words: Words) -> int:
    """Return where the "in" of "(head of) state in S" is."""
    place = next((i for i, w in enumerate(words[:3]) if w in {"in", "at"}), 0)
    return place if place and are_common(words[:place]) and words[0] not in DETERMINERS else 0


def _classified(value: Words) -> tuple[str, Words]:
    """Take the class off "the city of London" and "the position of goalkeeper"."""
    start = 1 if value[0].casefold() in {"the", "a", "an"} else 0
    place = next((i for i, w in enumerate(value[: start + 4]) if w == "of"), 0)
    if place > start and place + 1 < len(value) and value[place - 1] in CLASSIFIERS and are_common(value[start:place]):
        return value[place - 1], value[place + 1 :]
    return "", value


def split_scope(words: Words) -> tuple[list[str], list[str]]:
    """Split a value from what says where or when it holds."""
    start = scope_start(words)
    value = list(words[:start])
    while value and value[-1].casefold().strip(",") in TODAY:
        value = value[:-1]
    return value, list(words[start:])


def scope_start(words: Words) -> int:
    """Return where a phrase begins that says when or where; a preposition inside a name begins none."""
    for place in range(1, len(words)):
        word = words[place]
        if word not in SCOPES and not (word in {"last", "this", "next", "every"} and place + 1 < len(words)):
            continue
        before, after = words[place - 1], words[place + 1] if place + 1 < len(words) else ""
        name = before[:1].isupper() and (after[:1].isupper() or after in LINKS) and not is_date([word, after])
        if word not in SUBORDINATORS and name:
            continue
        return place
    return len(words)


def placed(found: Slot, words: Words, *, opens: bool = False) -> Slot:
    """Return the slot with what these words say of its time and scope."""
    scope: list[str] = []
    start, end = found.valid_from, found.valid_to
    for phrase in _phrases(words):
        text = " ".join(phrase)
        dates = DATE.findall(text)
        if not dates or (phrase[0].casefold() not in SCOPES and len(dates) == 0):
            key = entity_key(" ".join(w for w in phrase if w.casefold() not in DETERMINERS | TODAY))
            scope += [key] if key and key not in {"as of", "by default"} else []
        elif phrase[0].casefold() in {"until", "till", "before", "by"}:
            end = written_date(dates[0])
        elif opens or phrase[0].casefold() in {"since", "from", "as", "after"}:
            start = written_date(dates[0])
        else:
            start = end = written_date(dates[0])
    return replace(found, scope=tuple(sorted({*found.scope, *scope})), valid_from=start, valid_to=end)


def _phrases(words: Words) -> list[list[str]]:
    """Cut what follows the object into phrases: "since 2019 | in the EU"."""
    found: list[list[str]] = []
    for word in words:
        if not found or word.casefold() in SCOPES:
            found.append([])
        found[-1].append(word)
    return found


def _begins(relation: Words) -> bool:
    """Whether the relation is entered by an event, so that its date is where it begins: moved, joined, appointed."""
    return stem(relation[0].casefold()) in _EVENTS if relation else False


_EVENTS: Final = frozenset("mov join relocat becom appoint nam renam hir switch migrat marri start".split())  # noqa: SIM905


def _singular(relation: Words) -> bool:
    last = relation[-1] if relation else ""
    return not (last.endswith("s") and not last.endswith(("ss", "us", "is", "headquarters")))
