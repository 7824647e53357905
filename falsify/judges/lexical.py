"""What two sentences show a conflict by, without a model: negation, numbers, dates, opposites, another name in a slot.

The rules alone find about half of the conflicts, and not every one they find is one. They lend the offline judge its
reasons, a second opinion where the model hesitates, and a reading of numbers, which the model is blind to.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import takewhile
from typing import Final

from falsify import models
from falsify.judges.quantities import Amount, Quantities, Time, plain, quantities, stem

VERSION: Final = "rules1"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the rules make of a fact and a claim.

    `score` says how sure they are of a conflict, 0..1; `reasons` why, the strongest first ("numbers differ: 9 % against
    4 %"); `counted` whether that is a number or a date; `change` holds the words by which the fact speaks of a change,
    or ""; `apart` says why the two are about different things, or ""; `agreed` which numbers are the same in both while
    nothing else differs that the rules can see, or "".
    """

    score: float
    reasons: tuple[str, ...]
    counted: bool
    change: str
    apart: str
    agreed: str


def compare(fact: str, claim: str) -> Comparison:
    """Compare a new fact with a claim, one sentence each. Raises UnavailableError without the list of antonyms."""
    new, old = _read(fact), _read(claim)
    found = sorted(_conflicts(new, old), reverse=True)
    apart = _apart(new, old, conflicts=found)
    score = 0.0
    if found:
        score = min(0.95, found[0][0] + 0.05 * (len(found) - 1)) * min(1.0, _overlap(new, old) / 0.5)
        score *= 0.4 if apart else 1.0
    counted = bool(found) and found[0][1].startswith(("numbers", "dates"))
    reasons = tuple(reason for _, reason in found)
    return Comparison(round(score, 4), reasons, counted, change(fact), apart, "" if found else _agreed(new, old))


def change(fact: str) -> str:
    """Return the words by which a fact speaks of a change that took place, or ""."""
    cue = _CHANGE.search(plain(fact))
    return cue[0].strip() if cue else ""


def align(fact: str, claim: str) -> str:
    """Return the fact with its numbers and dates in the claim's spelling, where they say the same or more.

    "After one hour" becomes "after 60 minutes" beside a claim of 60 minutes, and 3.1 % becomes "below 4 %": a model
    that cannot count then sees that nothing differs.
    """
    new, old = quantities(fact), quantities(claim)
    edits: list[tuple[tuple[int, int], str]] = []
    for amount in new.amounts:
        same = next(
            (a for a in old.amounts if amount.comparable(a) and a.low <= amount.low <= amount.high <= a.high), None
        )
        if same:
            edits.append((amount.span, same.text))
    for time in new.times:
        known = next((t for t in old.times if set(t.parts) <= set(time.parts)), None)
        if known:
            edits.append((time.span, known.text))
    text = plain(fact)
    for (start, end), replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


# --- reading ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reading:
    text: str
    tokens: tuple[str, ...]
    words: dict[str, str]
    """The content words: stem to spelling, in order."""
    negations: tuple[str, ...]
    countables: Quantities
    left: tuple[tuple[int, int], ...]
    """Where the text speaks of what was before: "from MySQL", "instead of gRPC"."""

    def amounts(self) -> list[Amount]:
        return [a for a in self.countables.amounts if not self._past(a.span)]

    def times(self) -> list[Time]:
        return [t for t in self.countables.times if not self._past(t.span)]

    def past(self) -> str:
        return " ".join(self.text[start:end] for start, end in self.left)

    def _past(self, span: tuple[int, int]) -> bool:
        return any(start <= span[0] < end for start, end in self.left)


@lru_cache(maxsize=1024)  # a fact is compared with many claims
def _read(text: str) -> _Reading:
    source = re.sub(r"n't\b", " not", plain(text).replace("cannot", "can not"))
    tokens = tuple(_TOKEN.findall(source))
    countables = quantities(source)
    counted = [*(amount.span for amount in countables.amounts), *(time.span for time in countables.times)]
    words: dict[str, str] = {}
    for match in _TOKEN.finditer(source):
        inside = any(start <= match.start() < end for start, end in counted)
        if not inside and match[0].casefold() not in _STOP and not match[0].isdigit():
            words.setdefault(stem(match[0]), match[0])
    negations = tuple(match[0] for match in _NEGATION.finditer(source))
    left = tuple(match.span("old") for pattern in _LEFT for match in pattern.finditer(source))
    return _Reading(source, tokens, words, negations, countables, left)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TOKEN: Final = re.compile(r"[^\W_]+(?:['.&+-][^\W_]+)*")
_STOP: Final = _set(
    "a an the this that these those it its he she his her they their them we our us you your i my of in on at to for "
    "from by with about into onto over under as and or but nor than then so if is was are were be been being am has "
    "have had do does did will would shall should can could may might must there here which who whom whose what when "
    "where not no never none nobody nothing neither without only also just very too more most some any all each every "
    "both other such own same now already still yet ever since until till while after before because during per via up "
    "out off again further once new newly currently recently today say says said found"
)
_NEGATION: Final = re.compile(
    r"\b(?:no longer|not|no|never|none|nobody|nothing|neither|without|lack(?:s|ed|ing)?|fail(?:s|ed)? to|unable|absent|"
    r"zero(?= [a-z])|refus(?:es|ed)|den(?:ies|ied)|(?:is|are|was|were|been|be|got) (?:\w+ly )?(?:dropped|discontinued|"
    r"removed|abolished|scrapped|abandoned|gone|cancell?ed|deprecated|ended|withdrawn|lifted))\b",
    re.IGNORECASE,
)
_LEFT: Final = (
    re.compile(r"\bfrom (?P<old>[^,.;]{1,60}?) (?:in)?to\b", re.IGNORECASE),
    re.compile(r"\b(?:instead of|rather than|in place of) (?P<old>[^,.;]{1,60})", re.IGNORECASE),
    re.compile(r"\breplac(?:ed|es|ing) (?P<old>[^,.;]{1,60}?) (?:with|by)\b", re.IGNORECASE),
    re.compile(r"\bnot (?P<old>[^,.;]{1,40}?),? but\b", re.IGNORECASE),
)
_CHANGE: Final = re.compile(
    r"\b(?:no longer|not any ?more|now|as of|since the|from now on|effective|instead of|used to|formerly|previously|"
    r"has become|became|"
    r"(?:was|were|is|are|been|be|has|have|had|we|they|it|and) (?:been |since |then |just |recently )?(?:moved|switched|"
    r"migrated|replaced|renamed|upgraded|downgraded|raised|lowered|reduced|increased|cut|extended|shortened|"
    r"postponed|delayed|rescheduled|brought forward|dropped|discontinued|removed|retired|archived|cancell?ed|reopened|"
    r"reversed|revised|updated|amended|changed|converted|restored|lifted|abolished|relocated|promoted|appointed|"
    r"succeeded|divorced|merged|acquired|gone|doubled|halved)|"
    r"(?:revised|replaced|switched|migrated|moved|changed|upgraded|raised|lowered|cut) (?:the|its|their|our|from|to)|"
    r"took over|taken over|stepped down|resigned|retired|(?:left|joined) (?=[A-Z])|after the (?:fix|update|upgrade|"
    r"migration|reorg\w*|merger|change|move|patch|release)|divorced|reopened|renamed)\b",
    re.IGNORECASE,
)


# --- conflicts -------------------------------------------------------------------------------------------------


def _conflicts(new: _Reading, old: _Reading) -> Iterator[tuple[float, str]]:
    """Yield every sign of a conflict: how strong it is by itself, and the reason in words."""
    yield from _numbers_differ(new, old)
    yield from _dates_differ(new, old)
    yield from _opposed(new, old)
    if slot := _slot(new, old):
        yield 0.75, f'another name in the same place: "{slot[0]}" against "{slot[1]}"'
    if left := _left_behind(new, old):
        yield 0.85, f'the fact speaks of "{left}" as what was before'


def _numbers_differ(new: _Reading, old: _Reading) -> Iterator[tuple[float, str]]:
    for theirs in old.amounts():
        ours = [amount for amount in new.amounts() if amount.comparable(theirs)]
        if ours and not any(_same(amount, theirs) for amount in ours):
            yield 0.9, f"numbers differ: {ours[0].text} against {theirs.text}"


def _agreed(new: _Reading, old: _Reading) -> str:
    """Return a number that both give, if the fact has every number of the claim."""
    pairs = [
        next((f"{amount.text} and {theirs.text}" for amount in new.amounts() if _same(amount, theirs)), "")
        for theirs in old.amounts()
    ]
    return pairs[0] if pairs and all(pairs) else ""


def _same(amount: Amount, other: Amount) -> bool:
    return amount.comparable(other) and amount.agrees(other)


def _dates_differ(new: _Reading, old: _Reading) -> Iterator[tuple[float, str]]:
    for theirs in old.times():
        ours = [time for time in new.times() if time.comparable(theirs)]
        if ours and not any(time.agrees(theirs) for time in ours):
            yield 0.9, f"dates differ: {ours[0].text} against {theirs.text}"


def _opposed(new: _Reading, old: _Reading) -> Iterator[tuple[float, str]]:
    """Yield what an odd number of negations and opposites says; an even number says the same twice."""
    pairs = list(_opposites(new, old))
    if (len(new.negations) + len(old.negations) + len(pairs)) % 2 == 0:
        return
    if pairs:
        ours, theirs = pairs[0]
        yield 0.8, f'opposites: "{ours}" against "{theirs}"'
    else:
        side, words = ("fact", new.negations) if len(new.negations) > len(old.negations) else ("claim", old.negations)
        yield 0.85, f'only the {side} is negated: "{words[0]}"'


def _opposites(new: _Reading, old: _Reading) -> Iterator[tuple[str, str]]:
    theirs = {key: word for key, word in old.words.items() if key not in new.words}
    for key, word in new.words.items():
        if key in old.words:
            continue
        opposite = next((other for k, other in theirs.items() if _are_opposites(word, other, key, k)), None)
        if opposite:
            yield word, opposite


def _are_opposites(one: str, other: str, one_stem: str, other_stem: str) -> bool:
    first, second = one.casefold(), other.casefold()
    if any(long in {prefix + short for prefix in _NEGATING} for long, short in ((first, second), (second, first))):
        return True
    ours, theirs = _bases(first) | {one_stem}, _bases(second) | {other_stem}
    if any(theirs & antonyms().get(base, frozenset()) for base in ours):
        return True
    return any((ours & up and theirs & down) or (ours & down and theirs & up) for up, down in _AXES)


_NEGATING: Final = ("un", "in", "im", "il", "ir", "dis", "non", "non-")
_AXES: Final = (
    (
        _set("rise increase grow gain climb raise expand soar surge double up higher high more extend widen"),
        _set("fall decrease shrink lose drop decline reduce lower cut down low less sink plunge halve shorten narrow"),
    ),
    (_set("improve better benefit help good gain"), _set("worsen worse harm hurt bad degrade deteriorate")),
    (
        _set("accept approve choose adopt select allow permit pass"),
        _set("reject refuse forbid ban prohibit block decline"),
    ),
    (
        _set("open reopen start launch active enable on include free public"),
        _set("closed close shut stop end inactive disable off exclude paid private"),
    ),
    (_set("fast quick faster"), _set("slow slower")),
    (_set("majority most"), _set("minority few")),
    (_set("succeed success work win"), _set("fail failure break lose")),
)


@cache
def antonyms() -> dict[str, frozenset[str]]:
    """Return the single-word antonyms of WordNet, by word. Raises UnavailableError if the file is missing."""
    table: dict[str, set[str]] = {}
    for line in models.path(models.ANTONYMS).read_text(encoding="utf-8").splitlines():
        word, opposite, _ = line.split("\t")
        if " " not in word and " " not in opposite:
            table.setdefault(word, set()).add(opposite)
    return {word: frozenset(opposites) for word, opposites in table.items()}


def _bases(word: str) -> frozenset[str]:
    """Return the forms that a dictionary may list an inflected word under."""
    bases = {word, _IRREGULAR.get(word, word)}
    for ending in ("s", "es", "ed", "d", "ing", "er", "r", "ly", "est"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            base = word[: -len(ending)]
            bases |= {base, base + "e", base[:-1] if base[-1] == base[-2] else base}
            bases |= {base[:-1] + "y"} if base.endswith("i") else set()
    return frozenset(bases)


_IRREGULAR: Final = {
    past: base
    for base, pasts in {
        "rise": "rose risen",
        "fall": "fell fallen",
        "grow": "grew grown",
        "lose": "lost",
        "win": "won",
        "begin": "began begun",
        "break": "broke broken",
        "choose": "chose chosen",
        "forbid": "forbade forbidden",
        "shrink": "shrank shrunk",
        "sink": "sank sunk",
        "buy": "bought",
        "sell": "sold",
        "come": "came",
        "go": "went gone",
        "give": "gave given",
        "take": "took taken",
        "leave": "left",
        "keep": "kept",
        "hold": "held",
        "build": "built",
        "lend": "lent",
        "teach": "taught",
        "forget": "forgot forgotten",
        "find": "found",
        "send": "sent",
        "arrive": "arrived",
    }.items()
    for past in pasts.split()
}


def _slot(new: _Reading, old: _Reading) -> tuple[str, str] | None:
    """Return the names that two sentences of one frame differ by, if they differ by nothing else."""
    regions = list(_regions(new.tokens, old.tokens))
    names = [region for region in regions if _is_name(region[0]) and _is_name(region[1])]
    return (" ".join(names[0][0]), " ".join(names[0][1])) if len(regions) == 1 and names else None


def _left_behind(new: _Reading, old: _Reading) -> str:
    """Return what the fact calls past and the claim still says, or ""."""
    past = _TOKEN.findall(new.past())
    present = (
        {stem(token) for token in new.tokens}
        if not past
        else {
            stem(match[0])
            for match in _TOKEN.finditer(new.text)
            if not any(a <= match.start() < b for a, b in new.left)
        }
    )
    still = [word for word in past if stem(word) in {stem(t) for t in old.tokens} and stem(word) not in present]
    content = [word for word in still if word.casefold() not in _STOP]
    return " ".join(content)


# --- the same subject? -----------------------------------------------------------------------------------------


def _overlap(new: _Reading, old: _Reading) -> float:
    """Return how much of the shorter text's words the other has too, those apart by which they differ."""
    differing = {stem(word) for pair in _opposites(new, old) for word in pair}
    if slot := _slot(new, old):
        differing |= {stem(word) for name in slot for word in name.split()}
    ours, theirs = new.words.keys() - differing, old.words.keys() - differing
    return len(ours & theirs) / max(1, min(len(ours), len(theirs)))


def _apart(new: _Reading, old: _Reading, *, conflicts: Sequence[tuple[float, str]]) -> str:
    """Return why the two are about different things, or ""."""
    reasons = [reason for _, reason in conflicts]
    return _other_subject(new, old) or _other_serial(new, old, reasons) or _other_period(new, old, reasons)


def _other_subject(new: _Reading, old: _Reading) -> str:
    """Tell subjects apart: "the head of X is A" and "the head of Y is B", "the red line" and "the blue line".

    The model takes any two sentences for descriptions of one scene, so it calls these a contradiction. Names decide;
    without names, one differing word ("red", "blue") or a long common predicate does.
    """
    ours, theirs = _bare(new.tokens), _bare(old.tokens)
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


_LONG_FRAME: Final = 4
_COPULAS: Final = _set("is was are were has had have will would can could may must")
_UNIQUE: Final = re.compile(
    r"\b(?:is|was|are|were|became|remains) the\b|\b(?:chosen|selected|won|wins|appointed|elected|named|picked|awarded|"
    r"founded|invented|discovered|wrote|written|leads|led|heads|headed|runs|owns|owned)\b",
    re.IGNORECASE,
)


def _bare(tokens: Sequence[str]) -> list[str]:
    return [
        word
        for place, word in enumerate(tokens)
        if word.casefold() not in {"a", "an", "the"} or (place and word == "A")  # team A has no article
    ]


def _common_verb(ours: Sequence[str], theirs: Sequence[str]) -> tuple[int, int] | None:
    """Return where both have the same verb, as far as endings tell."""
    for place, token in enumerate(ours[1:], 1):
        if token in _COPULAS or (len(token) > 3 and token.islower() and token.endswith(("s", "ed"))):
            other = next((i for i, word in enumerate(theirs[1:], 1) if word == token), None)
            if other is not None:
                return place, other
    return None


def _names(tokens: Sequence[str], *, opening: bool) -> frozenset[str]:
    """Return the proper names among the first words; the word that opens a sentence may owe its capital to that."""
    capital = [token[0].isupper() for token in tokens]
    if capital[0] and opening and not (tokens[0][1:2].isupper() or capital[1:2] == [True]):
        capital[0] = False
    return frozenset(token.casefold() for token, is_name in zip(tokens, capital, strict=True) if is_name)


def _content(tokens: Sequence[str]) -> frozenset[str]:
    return frozenset(stem(token) for token in tokens if token.casefold() not in _STOP and not token.isdigit())


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


def _regions(new: Sequence[str], old: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield where two sentences of one frame differ."""
    ours, theirs = _bare(new), _bare(old)
    matcher = SequenceMatcher(None, [t.casefold() for t in ours], [t.casefold() for t in theirs], autojunk=False)
    if matcher.ratio() >= 0.5:
        for action, a, b, c, d in matcher.get_opcodes():
            if action != "equal":
                yield ours[a:b], theirs[c:d]


def _is_name(tokens: Sequence[str]) -> bool:
    return any(token[0].isupper() for token in tokens)


def _other_serial(new: _Reading, old: _Reading, conflicts: Sequence[str]) -> str:
    """Tell things apart by their numbers, if there is more that differs: "v2 began", "v1 ends"."""
    for serial in new.countables.serials:
        rivals = [other for other in old.countables.serials if other.noun == serial.noun]
        if rivals and not set(rivals) & set(new.countables.serials) and not change(new.text):
            ours, theirs = (reading.words.keys() - {serial.noun} for reading in (new, old))
            if conflicts or (ours - theirs and theirs - ours):
                return f"they are about {serial.text} and {rivals[0].text}"
    return ""


def _other_period(new: _Reading, old: _Reading, conflicts: Sequence[str]) -> str:
    """Tell times apart: each names a year, not the same one, and something else differs."""
    ours, theirs = ({value for t in r.times() for name, value in t.parts if name == "year"} for r in (new, old))
    differs = any(not reason.startswith("dates") for reason in conflicts)
    if ours and theirs and not ours & theirs and differs and not change(new.text):
        return f"they are about {min(ours)} and {min(theirs)}"
    return ""
