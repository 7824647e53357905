"""What two sentences show a conflict by, without a model: negation, numbers, dates, opposites, another name in a slot.

The rules alone find about half of the conflicts, and not every one they find is one. They lend the offline judge its
reasons, a second opinion where the model hesitates, and a reading of numbers, which the model is blind to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from falsify.judges.opposites import opposites
from falsify.judges.quantities import Amount, plain, quantities, stem
from falsify.judges.reading import STOP, TOKEN, Reading, change, moved, read
from falsify.judges.subjects import bare, bound, told_apart

VERSION: Final = "rules2"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the rules make of a fact and a claim.

    `score` says how sure they are of a conflict, 0..1; `reasons` why, the strongest first ("numbers differ: 9 % against
    4 %"); `counted` whether that is a number or a date; `change` holds the words by which the fact speaks of a change,
    or ""; `apart` says why the two are about different things, or ""; `agreed` which numbers are the same in both while
    nothing else differs that the rules can see, or ""; `loose` whether the rules see nothing and the two share
    no word but those of their subject.
    """

    score: float
    reasons: tuple[str, ...]
    counted: bool
    change: str
    apart: str
    agreed: str
    loose: bool = False


def compare(fact: str, claim: str) -> Comparison:
    """Compare a new fact with a claim, one sentence each. Raises UnavailableError without the list of antonyms."""
    new, old = read(fact), read(claim)
    found = sorted(_conflicts(new, old), reverse=True)
    apart = told_apart(new, old, [reason for _, reason in found])
    score = 0.0
    if found:
        score = min(0.95, found[0][0] + 0.05 * (len(found) - 1)) * min(1.0, _overlap(new, old) / 0.5)
        score *= 0.4 if apart else 1.0
    counted = bool(found) and found[0][1].startswith(("numbers", "dates"))
    reasons = tuple(reason for _, reason in found)
    changed = change(fact)
    agreed = "" if found else _agreed(new, old)
    loose = (
        (not changed or moved(changed)) and not bound(new, old) and (not found or _opposites_only(new, old, reasons))
    )
    return Comparison(round(score, 4), reasons, counted, changed, apart, agreed, loose)


def _opposites_only(new: Reading, old: Reading, reasons: Sequence[str]) -> bool:
    """Whether nothing is seen but opposites, of different things: selling bread and buying flour are no conflict."""
    if any(not reason.startswith("opposites") for reason in reasons):
        return False
    opposed = {stem(word) for pair in opposites(new, old) for word in pair}
    ours, theirs = new.words.keys() - opposed, old.words.keys() - opposed
    return bool(ours - theirs and theirs - ours)


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


def _conflicts(new: Reading, old: Reading) -> Iterator[tuple[float, str]]:
    """Yield every sign of a conflict: how strong it is by itself, and the reason in words."""
    yield from _numbers_differ(new, old)
    yield from _dates_differ(new, old)
    yield from _opposed(new, old)
    if slot := _slot(new, old):
        yield 0.75, f'another name in the same place: "{slot[0]}" against "{slot[1]}"'
    if left := _left_behind(new, old):
        yield 0.85, f'the fact speaks of "{left}" as what was before'


def _numbers_differ(new: Reading, old: Reading) -> Iterator[tuple[float, str]]:
    for theirs in old.amounts():
        ours = [amount for amount in new.amounts() if amount.comparable(theirs)]
        if ours and not any(_same(amount, theirs) for amount in ours):
            yield 0.9, f"numbers differ: {ours[0].text} against {theirs.text}"


def _agreed(new: Reading, old: Reading) -> str:
    """Return a number that both give, if the fact has every number of the claim."""
    pairs = [
        next((f"{amount.text} and {theirs.text}" for amount in new.amounts() if _same(amount, theirs)), "")
        for theirs in old.amounts()
    ]
    return pairs[0] if pairs and all(pairs) else ""


def _same(amount: Amount, other: Amount) -> bool:
    return amount.comparable(other) and amount.agrees(other)


def _dates_differ(new: Reading, old: Reading) -> Iterator[tuple[float, str]]:
    for theirs in old.times():
        ours = [time for time in new.times() if time.comparable(theirs)]
        if ours and not any(time.agrees(theirs) for time in ours):
            yield 0.9, f"dates differ: {ours[0].text} against {theirs.text}"


def _opposed(new: Reading, old: Reading) -> Iterator[tuple[float, str]]:
    """Yield what an odd number of negations and opposites says; an even number says the same twice."""
    pairs = list(opposites(new, old))
    if (len(new.negations) + len(old.negations) + len(pairs)) % 2 == 0:
        return
    if pairs:
        ours, theirs = pairs[0]
        yield 0.8, f'opposites: "{ours}" against "{theirs}"'
    else:
        side, words = ("fact", new.negations) if len(new.negations) > len(old.negations) else ("claim", old.negations)
        yield 0.85, f'only the {side} is negated: "{words[0]}"'


def _slot(new: Reading, old: Reading) -> tuple[str, str] | None:
    """Return the names that two sentences of one frame differ by, if they differ by nothing else."""
    regions = list(_regions(new.tokens, old.tokens))
    names = [region for region in regions if _is_name(region[0]) and _is_name(region[1])]
    return (" ".join(names[0][0]), " ".join(names[0][1])) if len(regions) == 1 and names else None


def _left_behind(new: Reading, old: Reading) -> str:
    """Return what the fact calls past and the claim still says, or ""."""
    past = TOKEN.findall(new.past())
    present = (
        {stem(token) for token in new.tokens}
        if not past
        else {
            stem(match[0]) for match in TOKEN.finditer(new.text) if not any(a <= match.start() < b for a, b in new.left)
        }
    )
    still = [word for word in past if stem(word) in {stem(t) for t in old.tokens} and stem(word) not in present]
    content = [word for word in still if word.casefold() not in STOP]
    return " ".join(content)


def _overlap(new: Reading, old: Reading) -> float:
    """Return how much of the shorter text's words the other has too, those apart by which they differ."""
    differing = {stem(word) for pair in opposites(new, old) for word in pair}
    if slot := _slot(new, old):
        differing |= {stem(word) for name in slot for word in name.split()}
    ours, theirs = new.words.keys() - differing, old.words.keys() - differing
    return len(ours & theirs) / max(1, min(len(ours), len(theirs)))


def _regions(new: Sequence[str], old: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield where two sentences of one frame differ."""
    ours, theirs = bare(new), bare(old)
    matcher = SequenceMatcher(None, [t.casefold() for t in ours], [t.casefold() for t in theirs], autojunk=False)
    if matcher.ratio() >= 0.5:
        for action, a, b, c, d in matcher.get_opcodes():
            if action != "equal":
                yield ours[a:b], theirs[c:d]


def _is_name(tokens: Sequence[str]) -> bool:
    return any(token[0].isupper() for token in tokens)
