"""Whether two sentences speak of the same thing at all: two heads of two companies are no contradiction."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from falsify.judges.quantities import stem
from falsify.judges.reading import STOP, Reading, change, word_set


def told_apart(new: Reading, old: Reading, conflicts: Sequence[str]) -> str:
    """Return why two sentences, between which these conflicts were seen, are about different things, or ""."""
    return (
        _other_subject(new, old)
        or _only_subject(new, old, conflicts)
        or _other_serial(new, old, conflicts)
        or _other_period(new, old, conflicts)
    )


def _other_subject(new: Reading, old: Reading) -> str:
    """Tell subjects apart: "the head of X is A" and "the head of Y is B", "the red line" and "the blue line".

    The model takes any two sentences for descriptions of one scene, so it calls these a contradiction. Names decide;
    without names, one differing word ("red", "blue") or a long common predicate does.
    """
    ours, theirs = bare(new.tokens), bare(old.tokens)
    anchor = _common_verb(ours, theirs)
    if anchor is None:
        return ""
    mine, its = ours[: anchor[0]], theirs[: anchor[1]]
    rest = ours[anchor[0] :], theirs[anchor[1] :]
    if _content(mine) <= _content(rest[1]) or _content(its) <= _content(rest[0]):
        return ""  # turned round: "A is the head" and "the head is B"
    names = _names(mine, opening=ours[0] == new.tokens[0]), _names(its, opening=theirs[0] == old.tokens[0])
    if all(names):
        differ = _disjoint(*names)
    else:
        frame = sum(
            1 for _ in takewhile(lambda pair: pair[0].casefold() == pair[1].casefold(), zip(*rest, strict=False))
        )
        ours_only, theirs_only = _content(mine) - _content(its), _content(its) - _content(mine)
        contrast = bool(_content(mine) & _content(its)) and len(ours_only) == len(theirs_only) == 1
        differ = bool(ours_only and theirs_only) and (contrast or frame >= _LONG_FRAME)
    if not differ or (_said_alike(*rest) and _only_one(rest[0], new.text)):
        return ""
    return f'they are about "{" ".join(mine)}" and "{" ".join(its)}"'


def bound(new: Reading, old: Reading) -> bool:
    """Return whether two sentences have more in common than what they are about.

    A model that takes them for descriptions of one scene finds that a station which measures snow cannot have a solar
    panel, and that a bank cannot open on Saturdays if the library of that town opens at nine.
    """
    ours, theirs = bare(new.tokens), bare(old.tokens)
    same = _common(ours, theirs)
    names = _content([token for token in (*ours, *theirs) if token[0].isupper()])
    anchor = _common_verb(ours, theirs)
    if anchor and anchor == (_verb(ours), _verb(theirs)):
        mine, its = _content(ours[: anchor[0]]), _content(theirs[: anchor[1]])
        if mine - its and its - mine:
            return False
    if _same_verb(ours, theirs, same):
        return True
    return bool((_content(ours[same:]) & _content(theirs[same:])) - names)


def _same_verb(ours: Sequence[str], theirs: Sequence[str], same: int) -> bool:
    """Whether the words that two sentences begin with include what they say: "measures", "is" before no participle.

    To have one thing, or to be home to it, does not keep from having another.
    """
    verb = _verb(ours[:same])
    if verb is None or ours[verb] in _HAVING:
        return False
    after = (*ours[same:][:1], *theirs[same:][:1])
    return ours[verb] not in _COPULAS or not any(_is_participle(word) or word == "home" for word in after)


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return how many words two sentences begin with in common."""
    both = zip(ours, theirs, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].casefold() == pair[1].casefold(), both))


def _only_subject(new: Reading, old: Reading, conflicts: Sequence[str]) -> str:
    """Tell apart what is said in the same words of two names: "Umar speaks Korean", "the mine at Oslo pumps water"."""
    ours, theirs = bare(new.tokens), bare(old.tokens)
    start = _common(ours, theirs)
    end = min(_common(ours[::-1], theirs[::-1]), min(len(ours), len(theirs)) - start)
    mine, its = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    rest = ours[len(ours) - end :]
    if not (_called(mine) and _called(its)) or any(c.startswith(_OTHERWISE) for c in conflicts):
        return ""
    verb = _verb(ours)
    if verb is None or verb < len(ours) - end or _only_one(rest, new.text):
        return ""
    return f'they are about "{" ".join(mine)}" and "{" ".join(its)}"'


_OTHERWISE: Final = ("opposites", "only the", "numbers", "dates")


def _called(tokens: Sequence[str]) -> bool:
    """Whether the words are a name: one to three, all with a capital, none of them a word like "all" or "nobody"."""
    return 0 < len(tokens) <= 3 and all(t[0].isupper() and t.casefold() not in STOP for t in tokens)


_LONG_FRAME: Final = 4
_COPULAS: Final = word_set("is was are were has had have will would can could may must")
_RELATIVE: Final = word_set("that which who whom")
_PARTICIPLES: Final = word_set(
    "born bought bound broken brought built caught chosen cut drawn driven drunk eaten fed flown forbidden found "
    "frozen given grown held hidden hit kept known laid led left lent lit lost made met paid put read run seen "
    "sent set shown shut sold spent split spoken spread stolen struck sung swept taken taught thrown told torn "
    "won worn written"
)
_HAVING: Final = word_set("has had have")
_PAST: Final = word_set(
    "became began bought broke brought built came chose cut drew drove fell felt found gave got grew held kept knew "
    "laid led left lent lost made met paid put ran rose sank sat saw sent set shut sold spent spoke stood stuck swept "
    "swore taught thought threw told took went won wore wrote"
)
_UNIQUE: Final = re.compile(
    r"\b(?:is|was|are|were|became|remains) the\b|\b(?:chosen|selected|appointed|elected|named|picked|awarded)\b|"
    r"\b(?:won|wins|founded|invented|discovered|wrote|leads|led|heads|headed|runs|owns|owned)\b"
    r"(?! (?:by|on|in|at|from|for|to|with|of|off|out|into|an?)\b)",  # many may be founded by nuns and own a painting
    re.IGNORECASE,
)


def bare(tokens: Sequence[str]) -> list[str]:
    """Return the words without articles."""
    return [
        word
        for place, word in enumerate(tokens)
        if word.casefold() not in {"a", "an", "the"} or (place and word == "A")  # team A has no article
    ]


def _common_verb(ours: Sequence[str], theirs: Sequence[str]) -> tuple[int, int] | None:
    """Return where both have the same verb, as far as endings tell."""
    for place, token in enumerate(ours[1:], 1):
        if _is_verb(token) and not _describes(ours, place):
            other = next((i for i, word in enumerate(theirs[1:], 1) if word == token), None)
            if other is not None:
                return place, other
    return None


def _verb(tokens: Sequence[str]) -> int | None:
    """Return where the verb of a sentence is, as far as endings tell, and past "the choir that Umar conducts"."""
    places = [place for place in range(1, len(tokens)) if _is_verb(tokens[place]) and not _describes(tokens, place)]
    if len(places) > 1 and _RELATIVE & {token.casefold() for token in tokens[1 : places[0]]}:
        return places[1]
    return places[0] if places else None


def _describes(tokens: Sequence[str], place: int) -> bool:
    """Whether a word is a participle that describes the noun before it: "the phone designed by Umar weighs ..."."""
    followed = place + 1 < len(tokens) and tokens[place + 1] in _PREPOSITIONS
    if not followed or not _is_participle(tokens[place]) or tokens[place - 1] in _COPULAS:
        return False
    return any(map(_is_verb, tokens[place + 2 :]))


_PREPOSITIONS: Final = word_set("by in at on for from with of to under near")


def _is_participle(token: str) -> bool:
    return token.endswith("ed") or token in _PARTICIPLES


def _is_verb(token: str) -> bool:
    """Whether a word may be a verb, as far as its ending or a list of irregular ones tells."""
    return token in _COPULAS or token in _PAST or (len(token) > 3 and token.islower() and token.endswith(("s", "ed")))


def _names(tokens: Sequence[str], *, opening: bool) -> frozenset[str]:
    """Return the proper names among the first words; the word that opens a sentence may owe its capital to that."""
    capital = [token[0].isupper() for token in tokens]
    if capital[0] and opening and not (tokens[0][1:2].isupper() or capital[1:2] == [True]):
        capital[0] = False
    return frozenset(token.casefold() for token, is_name in zip(tokens, capital, strict=True) if is_name)


def _content(tokens: Sequence[str]) -> frozenset[str]:
    return frozenset(stem(token) for token in tokens if token.casefold() not in STOP and not token.isdigit())


def _disjoint(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether each has a word that the other lacks, and neither is the other's initials."""
    initials = {"".join(sorted(word[0] for word in words)) for words in (ours, theirs)}
    short = {"".join(sorted(word)) for words in (ours, theirs) if len(words) == 1 for word in words}
    return bool(ours - theirs and theirs - ours) and not initials & short


def _said_alike(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether what is said after the verb is the same, so that only the subjects differ."""
    return _content(ours) == _content(theirs)


def _only_one(predicate: Sequence[str], text: str) -> bool:
    """Whether only one can be what the predicate says: "is the head of security", "was chosen"."""
    return bool(predicate) and bool(_UNIQUE.search(text))


def _other_serial(new: Reading, old: Reading, conflicts: Sequence[str]) -> str:
    """Tell things apart by their numbers, if there is more that differs: "v2 began", "v1 ends"."""
    for serial in new.countables.serials:
        rivals = [other for other in old.countables.serials if other.noun == serial.noun]
        if rivals and not set(rivals) & set(new.countables.serials) and not change(new.text):
            ours, theirs = (reading.words.keys() - {serial.noun} for reading in (new, old))
            if conflicts or (ours - theirs and theirs - ours):
                return f"they are about {serial.text} and {rivals[0].text}"
    return ""


def _other_period(new: Reading, old: Reading, conflicts: Sequence[str]) -> str:
    """Tell times apart: each names a year, not the same one, and something else differs."""
    ours, theirs = ({value for t in r.times() for name, value in t.parts if name == "year"} for r in (new, old))
    differs = any(not reason.startswith("dates") for reason in conflicts)
    if ours and theirs and not ours & theirs and differs and not change(new.text):
        return f"they are about {min(ours)} and {min(theirs)}"
    return ""
