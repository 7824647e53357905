"""The guard, tier 1: rules that a proposal must not break. Each has an id, and a refusal begins with it.

What the rules look at of the brain is what the proposer can see, and nothing else: a refusal tells nobody of a page
that is denied to them. Who may propose gets all that is wrong at once.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from falsify.brain.injection import injections
from falsify.brain.likeness import NEAR, SAME, closest, normal, tells_the_same
from falsify.brain.org import GENERAL, Org
from falsify.brain.page import Page
from falsify.brain.privacy import Classifier, RuleClassifier, personal
from falsify.brain.scope import area_of, may_write, readable
from falsify.errors import UnavailableError

Rule = Literal["R-SCOPE", "R-SIZE", "R-KEYS", "R-REFS", "R-INJECTION", "R-PRIVACY", "R-DUPLICATE"]
Kind = Literal["lesson", "rule", "page"]

MAX_TITLE: Final = 200
MAX_LESSON: Final = 20_000
MAX_CONTENT: Final = 100_000
MAX_REFS: Final = 50
MAX_REF: Final = 400

PROTECTED: Final = frozenset({
    "title", "department", "owner", "source_trust", "quotable", "lifecycle_status", "status", "sensitivity", "origin",
    "decided_by", "validated_by", "approved_by", "proposed_by", "author", "authors", "sources", "source", "updated",
    "created", "date", "known_at", "expires", "valid_until", "aliases", "alias", "entity_type", "follows_from",
    "supersedes", "superseded_by", "led_to", "rel_path", "path", "id", "access", "permissions", "grants", "scope",
})  # fmt: skip
"""The keys of front matter that say who vouches for a page and who may see it, and those that the program writes."""

TYPES: Final = frozenset({"index", "pack", "digest", "trace", "lesson", "rule", "entity", "feedback", "glossary"})
"""The types that a proposed page cannot claim: other things make them, or are answered from them as they are."""

_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A proposal as it is checked. `front` is the front matter it came with, `fault` what was wrong with that.

    `department` is a slug. `text` is all that was written, title and front matter included.
    """

    kind: Kind
    caller: str
    title: str
    department: str
    text: str
    body: str
    front: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""
    refs: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """The type of the page that it would be."""
        return self.kind if self.kind != "page" else str(self.front.get("type") or "page").strip().casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a proposal is held against: the pages that the proposer sees by path, their traces, their waiting texts."""

    org: Org
    pages: Mapping[str, Page] = field(default_factory=dict)
    traces: Collection[str] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)
    classifier: Classifier | None = None

    @property
    def people(self) -> tuple[str, ...]:
        """The names of the organisation's people."""
        return tuple(person.name for person in self.org.people)


class Likest(NamedTuple):
    """The page that says nearly the same as a proposal, and how much of it."""

    rel_path: str
    share: float
    same: bool


def refusals(draft: Draft, ground: Ground) -> list[str]:
    """Return what the guard has against a draft, a sentence each that begins with the rule; empty if nothing."""
    alone: Rule
    for alone in ("R-SCOPE", "R-SIZE"):  # who may not write learns no more, and what is too long is not read
        if found := _told(alone, draft, ground):
            return found
    return [told for rule in RULES for told in _told(rule, draft, ground)]


def second_thoughts(draft: Draft, ground: Ground) -> list[str]:
    """Return what the guard has by now against a draft that it let pass: its form is as it was, the brain is not."""
    return [told for rule in RULES if rule not in {"R-SIZE", "R-KEYS"} for told in _told(rule, draft, ground)]


def likest(draft: Draft, pages: Mapping[str, Page]) -> Likest | None:
    """Return which of the pages says most of what the draft says, if any says enough of it; of equals the first."""
    wanted = normal(draft.body)
    share, path = closest(wanted, {path: normal(pages[path].body) for path in sorted(pages)})
    if share < NEAR:
        return None
    return Likest(path, share, share >= SAME and tells_the_same(draft.body, pages[path].body))


def classified(text: str, ground: Ground) -> Iterator[str]:
    """Yield why a text is not taken for business; one that cannot be classified is not."""
    found = list(personal(text, people=ground.people))
    yield from (f"it holds {what}" for what in found)
    classifier = ground.classifier or RuleClassifier(ground.people)
    if found and isinstance(classifier, RuleClassifier):
        return  # it would say so for the same reasons
    try:
        kind = classifier.classify(text)
    except UnavailableError:
        yield "it cannot be classified now, and what is not known to be business is not written"
        return
    if kind != "business":
        yield f"it is {'private' if kind == 'private' else 'partly private'}, not business"


def _told(rule: Rule, draft: Draft, ground: Ground) -> list[str]:
    return [f"{rule}: {what}" for what in RULES[rule](draft, ground)]


# --- the rules --------------------------------------------------------------------------------------------------------


def _scope(draft: Draft, ground: Ground) -> Iterator[str]:
    # A grant of an area reaches into every department: one that there is not has to be refused as a denied one is.
    known = {GENERAL, *(each.slug for each in ground.org.departments)}
    if draft.department not in known or not may_write(
        ground.org, draft.caller, draft.department, area_of(draft.type, "")
    ):
        yield "you have no permission to write there"


def _size(draft: Draft, _ground: Ground) -> Iterator[str]:
    limit = MAX_CONTENT if draft.kind == "page" else MAX_LESSON
    if not draft.title.strip():
        yield "the title is empty"
    if len(draft.title) > MAX_TITLE:
        yield f"the title has {len(draft.title):,} characters; the limit is {MAX_TITLE:,}"
    size = len(draft.text) - len(draft.title) - 2  # what was written, without the title and the empty line after it
    if not normal(draft.body):
        yield "the text is empty"
    if size > limit:
        yield f"the text has {size:,} characters; the limit is {limit:,}"
    if "\n" in draft.title.strip() or "\r" in draft.title.strip():
        yield "the title has more than one line"
    if len(draft.refs) > MAX_REFS:
        yield f"there are {len(draft.refs)} refs; the limit is {MAX_REFS}"
    if any(len(ref) > MAX_REF for ref in draft.refs):
        yield f"a ref has more than {MAX_REF} characters"


def _keys(draft: Draft, _ground: Ground) -> Iterator[str]:
    if draft.fault:
        yield draft.fault
    for key in draft.front:
        if not _KEY.fullmatch(key):
            yield f"the key {ascii(key)[:60]} is not made of ASCII letters, digits, _ and -"
        elif key.casefold().replace("-", "_") in PROTECTED:
            yield f"the key {key} is protected: a person or the program sets it"
    if draft.kind == "page" and draft.type in TYPES:
        yield f"a proposed page cannot be of the type {draft.type}"


def _refs(draft: Draft, ground: Ground) -> Iterator[str]:
    if draft.kind != "page" and not draft.refs:
        yield "a lesson cites at least one of your own traces or a page"
    for number, ref in enumerate(draft.refs, 1):
        if not known_ref(ref, ground):
            yield f"ref {number} is neither a page that you can see nor a trace of yours"


def known_ref(ref: str, ground: Ground) -> bool:
    """Return whether somebody may cite this: a page they see, or a trace of their own."""
    return readable(ref) and (ref in ground.pages or ref in ground.traces)


def _injection(draft: Draft, _ground: Ground) -> Iterator[str]:
    yield from (f"it holds {what}" for what in injections(draft.text))


def _privacy(draft: Draft, ground: Ground) -> Iterator[str]:
    yield from classified(draft.text, ground)


def _duplicate(draft: Draft, ground: Ground) -> Iterator[str]:
    found = likest(draft, ground.pages)
    if found and found.same:
        yield f"{found.rel_path} says the same"
    wanted = normal(draft.body)
    for proposal_id, text in ground.waiting.items():
        if normal(text) == wanted:
            yield f"you proposed the same already, as {proposal_id}, which waits for a person"


Check = Callable[[Draft, Ground], Iterator[str]]

RULES: Final[Mapping[Rule, Check]] = {
    "R-SCOPE": _scope,
    "R-SIZE": _size,
    "R-KEYS": _keys,
    "R-REFS": _refs,
    "R-INJECTION": _injection,
    "R-PRIVACY": _privacy,
    "R-DUPLICATE": _duplicate,
}
"""Every rule, in the order in which it is told."""


def rules_of(messages: Sequence[str]) -> list[str]:
    """Return the ids of the rules that refusals name, each once."""
    return list(dict.fromkeys(message.partition(":")[0] for message in messages))
