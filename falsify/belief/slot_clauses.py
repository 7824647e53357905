"""English sentences by their kind: the copula, the passive, the verb, the possessive, the definition."""

import re
import unicodedata
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from falsify.belief.impugn import sentences
from falsify.belief.slot_filling import Said, Slot, fill, of_the, placed, scope_start, split_owner, split_scope
from falsify.belief.slot_keys import (
    QUOTES,
    Words,
    are_common,
    entity_key,
    is_date,
    is_number,
    joined,
    split_amount,
    stem,
)
from falsify.belief.slot_words import (
    ACTIVE,
    ADVERBS,
    ATTRIBUTES,
    BE,
    BECOMING,
    DETERMINERS,
    DO,
    HAVE,
    IRREGULAR,
    MODALS,
    NEGATIONS,
    ONE,
    PARTICLES,
    PERSONS,
    PLURALS,
    POLES,
    PREPOSITIONS,
    RELATIVES,
    REPORTING,
    SCOPES,
    STATES,
    STATES_BELOW,
    SUBORDINATORS,
    TODAY,
    VERBS,
)


@lru_cache(maxsize=8192)  # a claim is compared with many facts
def parse(text: str) -> Slot | None:
    """Return the slot that a sentence fills by its wording, or None where no rule reads it."""
    if len(text) > _LONGEST or len(sentences(text)) != 1:
        return None
    words, scope = _opening(_words(text))
    if not 2 <= len(words) <= _MOST_WORDS or words[-1] == "?" or _LIST & set(words):
        return None
    found = _definition(words) or _clause(words)
    if found is None or not found.subject or not found.object:
        return None
    return placed(found, scope) if scope else found


_LONGEST: Final = 300


_MOST_WORDS: Final = 40


_LIST: Final = frozenset(";")


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).translate(QUOTES)
    plain = re.sub(r"\?\s*$", " ?", plain)  # a question; "... is What Is to Be Done?." is none
    plain = re.sub(r"n't\b", " not", plain)
    plain = re.sub(r'["()\[\]]', " ", plain).strip()
    plain = plain[:-1] if plain.endswith((".", "!")) else plain
    plain = _TAIL.sub("", plain)
    return plain.split()


# What a sentence adds to what it says: what held before, and a second clause.
_TAIL: Final = re.compile(
    r",? (?:(?:instead of|rather than|in place of)\b.*|any ?more|"
    r"(?:and|but) (?:is|was|are|were|will|has|have|had|never|it|they|he|she|"
    r"(?:the|its|his|her) [a-z][a-z ]* (?:is|was|will))\b.*)$"
    r"|^As of (?:today|now),? "
)


def _opening(words: list[str]) -> tuple[list[str], list[str]]:
    """Split off what a sentence opens with before a comma: "When relaxing, Anna ...", "In 2019, ..."."""
    if not words:
        return words, []
    if words[0].casefold().strip(",") in ADVERBS | TODAY and len(words) > 3:
        return words[1:], []
    opens = words[0].casefold() in SCOPES | {"according", "outside", "inside"}
    end = next((i for i, word in enumerate(words[:8]) if word.endswith(",")), None) if opens else None
    if words[0].casefold() in SUBORDINATORS and end is None:
        return [], []
    if end is None or end > len(words) - 4:
        return words, []
    rest = words[end + 1 :]
    return rest, [] if words[0].casefold() == "according" else [*words[:end], words[end].rstrip(",")]


def _definition(words: list[str]) -> Slot | None:
    """Read "The R that/where S verb is O" and "The R that verbed S is O"."""
    if words[0].casefold() not in DETERMINERS:
        return None
    place = next((i for i, w in enumerate(words) if w in RELATIVES), 0)
    if place < 2 or not are_common(words[1:place]):
        return None
    copula = next((i for i in range(len(words) - 2, place + 1, -1) if words[i] in BE), 0)
    clause = words[place + 1 : copula]
    if copula == 0 or len(clause) < 2:
        return None
    passive = clause[0] not in VERBS and any(w in BE for w in clause[1:])  # "where mixed martial arts was invented"
    if clause[0] in BE | HAVE or (
        _is_verb(clause[0]) and not passive
    ):  # "that produced the F-22", "who is married to Anna"
        verb = 1
        while verb < len(clause) - 1 and (clause[verb] in PREPOSITIONS | ADVERBS or clause[verb - 1] in BE | HAVE):
            verb += 1
        subject, verbs = clause[verb:], clause[:verb]
    else:
        verb = next((i for i in range(1, len(clause)) if clause[i] in BE | HAVE), len(clause) - 1)
        if not (clause[verb] in BE | HAVE or _is_verb(clause[verb])):
            verb = next((i for i in range(1, len(clause)) if clause[i].islower() and _is_verb(clause[i])), 0)
        subject, verbs = clause[:verb], clause[verb:]
    relation = [*words[1:place], *(w for w in verbs if w not in ADVERBS)]
    functional = words[0].casefold() == "the"
    return fill(subject, relation, words[copula + 1 :], definite=functional)


def _clause(words: list[str]) -> Slot | None:
    found = _verb(words)
    if found is None:
        return None
    subject, rest = words[:found], words[found:]
    if _reports(words) or any(w == "longer" for w in [*subject[-2:], *rest[:3]]):
        return None  # it says what somebody says, or what is over
    if subject[-1].casefold() in NEGATIONS and len(subject) > 1:
        subject, rest = subject[:-1], [rest[0], subject[-1], *rest[1:]]
    negated = any(w.casefold() in NEGATIONS for w in rest[:3]) or subject[0].casefold() in NEGATIONS
    rest = [w for i, w in enumerate(rest) if i == 0 or i > 3 or w not in ADVERBS | NEGATIONS]
    while len(subject) > 1 and subject[-1].casefold() in ADVERBS | TODAY:
        subject = subject[:-1]
    if rest[0] == "used":
        return None
    verb, after = rest[0], rest[1:]
    if verb in DO or verb in MODALS:
        if not after:
            return None
        verb, after = after[0], after[1:]
    if verb in HAVE and after and _participle(after[0]):
        verb, after = after[0], after[1:]
        if verb == "been" and after:
            verb = "is"
    if not after:
        return None
    if verb in BE:
        return _copular(subject, after, negated=negated)
    if IRREGULAR.get(verb, verb) == "have":
        return _possession(subject, after) if not negated else None
    return _verbal(subject, verb, after, negated=negated)


def _reports(words: Words) -> bool:
    told = DETERMINERS | PERSONS | {"that"}
    return any(w in REPORTING and after.casefold() in told for w, after in pairwise(words[1:8]))


def _verb(words: list[str]) -> int | None:
    """Return where the main verb is: an auxiliary if there is one, else a word that is known for or ends as a verb."""
    low = [w.casefold() for w in words]
    if low[0] in PERSONS and len(words) > 2:
        return 2 if low[1] in ADVERBS and len(words) > 3 else 1
    end = next(
        (i for i in range(2, len(words)) if words[i] in SUBORDINATORS and not is_date(words[i + 1 :])), len(words)
    )
    auxiliary = next((i for i in range(1, end) if words[i] in BE | HAVE | MODALS | {"does", "did"}), None)
    last = min(end, len(words) - 1)
    known = next((i for i in range(1, last) if _finite(words, i)), None)
    if auxiliary is not None and (known is None or auxiliary <= known + 1):
        return auxiliary
    if known is not None:
        return known
    return next((i for i in range(1, last) if _ends_as_verb(words, i)), None)


def _ends_as_verb(words: Words, place: int) -> bool:
    """Whether an unknown word stands where a verb of the third person does: "the worm eats", "aspirin inhibits"."""
    word, before = words[place], words[place - 1].casefold()
    ends = word.islower() and word.isalpha() and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return ends and before not in DETERMINERS | PREPOSITIONS and not before.endswith("s")


def _finite(words: Words, place: int) -> bool:
    word, before = words[place], words[place - 1]
    if (
        not word.isalpha()
        or not word.islower()
        or before.casefold() in DETERMINERS | PREPOSITIONS
        or before.endswith("'s")
    ):
        return False
    base = IRREGULAR.get(word, word)
    if base in VERBS and base != word:
        return True
    if word.endswith("s") and _singular_verb(word) in VERBS:
        return True
    if word.endswith("ed") and len(word) > 4:
        return True
    return word in VERBS and (before.endswith("s") or before.casefold() in PLURALS)


def _singular_verb(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1]


def _is_verb(word: str) -> bool:
    low = word.casefold()
    return word.islower() and (low in VERBS or low in IRREGULAR or low.endswith("ed") or _singular_verb(low) in VERBS)


def _participle(word: str) -> bool:
    return word.islower() and (word.endswith("ed") or word in IRREGULAR) and word not in {"has", "had", "red"}


def _copular(subject: Words, after: list[str], *, negated: bool) -> Slot | None:
    head = after[0]
    if not negated and (inverse := _role(subject, after)):
        return inverse
    state = _state(subject, after, negated=negated)
    if state or negated:
        return state
    after = _from_to(after)
    if (
        _participle(head)
        and len(after) > 1
        and (after[1] in PREPOSITIONS or stem(head) in {"call", "nam", "elect", "appoint"})
    ):
        preposition = after[1] if after[1] in PREPOSITIONS else ""
        rest = after[2:] if preposition else after[1:]
        key = f"{stem(head)} {preposition}".strip()
        if key in BECOMING and (role := _role(subject, [w for w in rest if w not in {"to", "be"}])):
            return role
        return fill(subject, [head, preposition] if preposition else [head], rest)
    attribute = bool(split_owner(subject)[0])  # what follows is its value, whatever it looks like
    if not attribute and len(after) > 2 and head.islower() and after[1] in {"for", "to", "of", "with", "from", "about"}:
        return fill(subject, after[:2], after[2:])  # "is famous for Y"
    if len(after) > 2 and head.islower() and after[1] in {"on", "in", "at", "by"} and is_date(after[2:]):
        return fill(subject, after[:2], after[2:])  # "is due on 3 May"
    if head in {"in", "at", "on"} and len(after) > 1:
        return fill(subject, ["be", head], after[1:])
    match = None if attribute else _member(after)
    if match:
        relation, obj = match
        return fill(subject, relation, obj)
    parts = _named_attribute(subject)
    if parts:
        return fill(parts[1], parts[0], after, definite=True)
    if head in PREPOSITIONS:
        return None
    return fill(subject, ["be"], after)


def _plain_word(word: str) -> bool:
    return word.islower() or (word.isupper() and len(word) > 1)  # "head", "CEO"


def _from_to(words: list[str]) -> list[str]:
    """Leave out where a change started: "moved from 3 May to 17 June" is "moved to 17 June"."""
    if "from" not in words[:3] or "to" not in words:
        return words
    start, end = words.index("from"), words.index("to")
    return [*words[:start], *words[end:]] if start < end else words


def _role(holder: Words, after: Words) -> Slot | None:
    """Read "Paris is the capital of France" as "the capital of France is Paris"."""
    place = next((i for i, w in enumerate(after[:6]) if w == "of"), 0)
    named = after[0].casefold() == "the" or (_plain_word(after[0]) and after[0] not in {"a", "an", "one", "part"})
    start = 1 if after[0].casefold() == "the" else 0
    if not place or place <= start or not named or not are_common(after[start:place]) or len(after) <= place + 1:
        return None
    office = after[place - 1]
    if start == 0 and stem(office.casefold()) not in ONE | {"head", "chief"} and office not in ATTRIBUTES:
        return None
    if start == 0 and _participle(after[0]):
        return None  # "appointed head of security" is for the verb to read
    if of_the(holder):  # "the spouse of the author of X is the mother of Y" is told from its own side
        return None
    owner, scope = split_scope(after[place + 1 :])
    found = fill(owner, after[start:place], holder, definite=True)
    return placed(found, scope) if found and scope else found


def _state(subject: Words, after: Words, *, negated: bool) -> Slot | None:
    word = after[0].casefold()
    axis = STATES.get(word)
    tail = after[1:]
    if axis is None or (tail and word in PARTICLES) or (tail[:1] == ["by"] and tail[1:2] != ["default"]):
        return None
    if axis == "married" and tail[:1] == ["to"]:
        return None
    below = (word in STATES_BELOW) != negated
    filled = fill(subject, ["state", axis], [f"not-{axis}" if below else axis], definite=True)
    if filled is None:
        return None
    said = Said(filled.said.subject, f"is {axis}", ("not " if negated else "") + word)
    return placed(replace(filled, relation=f"state {axis}", functional=True, said=said), after[1:])


def _member(after: Words) -> tuple[list[str], Words] | None:
    """Read "a citizen of Y", "one of Y's customers" as a relation to Y."""
    place = next((i for i, w in enumerate(after[:5]) if w in {"of", "for", "in", "at", "to", "with"}), 0)
    start = 1 if after[0].casefold() in {"a", "an"} else 0
    if not place or place <= start or place + 1 >= len(after) or not are_common(after[start:place]):
        return None
    if after[place] != "of" and start == 0:
        return None
    return [*after[start:place], after[place]], after[place + 1 :]


def _possession(subject: Words, after: list[str]) -> Slot | None:
    of = after.index("of") if "of" in after[:5] else 0
    if after[0] in {"a", "an"} and of > 1 and is_number(after[of + 1 :]) and are_common(after[1:of]):
        return fill(subject, after[1:of], after[of + 1 :], definite=True)  # "has a population of 372,000"
    if not is_number(after):
        return fill(subject, ["have"], after)
    amount, rest = split_amount(after)
    nouns = [w for w in rest[: scope_start(rest)] if w.isalpha() or "-" in w][:3]
    if not nouns:
        return None
    found = fill(subject, ["number", "of", *nouns], amount, definite=True)
    return placed(found, rest[scope_start(rest) :]) if found else None


def _verbal(subject: Words, verb: str, after: list[str], *, negated: bool) -> Slot | None:
    base = stem(verb)
    lemma = _lemma(verb)
    if lemma in POLES and not is_number(after):
        return _side(subject, lemma, after, negated=negated)
    if negated:
        return None
    after = _from_to(after)
    if lemma == "take" and after[0] == "place" and len(after) > 2:
        return _copular(subject, after[1:], negated=False)
    particle = 1 if after[0] in PARTICLES and len(after) > 2 and after[1] in PREPOSITIONS else 0
    preposition = after[particle] if after[particle : particle + 1] and after[particle] in PREPOSITIONS else ""
    lead = [verb, *after[: particle + 1]] if preposition else [verb]
    rest = after[len(lead) - 1 :]
    if not rest:
        return None
    key = " ".join(stem(w) for w in lead)
    if key in BECOMING:
        role = _role(subject, rest)
        if role:
            return role if role.valid_from != role.valid_to else replace(role, valid_to="")
        return fill(subject, ["be"] if base == "becom" else lead, rest)
    if lemma in ACTIVE and not preposition and not is_number(rest):
        owner, scope = split_scope(rest)
        found = fill(owner, [verb, "by"], subject)
        return placed(found, scope, opens=True) if found else None
    return fill(subject, lead, rest)


def _side(subject: Words, lemma: str, after: Words, *, negated: bool) -> Slot | None:
    axis, side = POLES[lemma]
    target, scope = split_scope(after)
    if not target:
        return None
    value = {"for": "against", "against": "for"}[side] if negated else side
    found = fill(subject, [axis, *target], [value], definite=True)
    if found is None:
        return None
    words = f"does not {lemma}" if negated else lemma
    said = Said(joined(subject), words, joined(target))
    key = f"{axis} {entity_key(joined(target))}"
    return placed(replace(found, relation=key, functional=True, many=False, side=True, said=said), scope)


def _lemma(verb: str) -> str:
    low = IRREGULAR.get(verb.casefold(), verb.casefold())
    for form in (low, _singular_verb(low) if low.endswith("s") else low, low.removesuffix("d"), low.removesuffix("ed")):
        if form in POLES or form in ACTIVE or form in VERBS:
            return form
    return low


def _named_attribute(subject: Words) -> tuple[list[str], list[str]] | None:
    """Split "the launch date" into date and launch."""
    if len(subject) < 2 + (subject[0].casefold() in DETERMINERS) or of_the(subject):
        return None
    last = subject[-1].casefold()
    return ([last], list(subject[:-1])) if last in ATTRIBUTES and not subject[-2].endswith("'s") else None
