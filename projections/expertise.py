"""Who decides and who knows: declared authority out of the org map, demonstrated expertise out of pages. Never merged.

Both rest on the pages that matched a topic and may be seen, and on people who may be seen. Everything is counted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from falsify.brain.library import Version
from falsify.brain.org import GENERAL, Person
from falsify.brain.page import Page
from falsify.identity import OWNER
from projections.search.words import words

LESSONS: Final = frozenset({"lesson", "rule"})
"""The types of pages that are lessons somebody learned."""

APPROVED: Final = ", approved by "
"""What parts who proposed a page from who landed it, in the author of one that was proposed."""

_ADDRESS: Final = re.compile(r"<([^<>@]+)@[^<>]*>|^\s*([^\s<>@]+)@\S+\s*$")

Past = Mapping[str, tuple[Version, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A page that a topic matched: the heading paths and texts of the parts that did, best first."""

    page: Page
    headings: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Work:
    """Something that a person did: a page, a lesson or an answer in a digest, on a day (`YYYY-MM-DD`)."""

    kind: str
    rel_path: str
    what: str
    day: str = field(compare=False)


# --- declared authority ---------------------------------------------------------------------------------------


def decides(topic: str, matches: Sequence[Match], people: Iterable[Person]) -> list[dict[str, Any]]:
    """Return who decides or validates a category that the topic names, or a page of their department that matched.

    People have only the departments that may be seen. Whom the topic names comes first, then who is named by the
    better match.
    """
    found = [(place, person, kinds) for person in people for place, kinds in _authority(topic, matches, person)]
    found.sort(key=lambda each: (each[0], each[1].slug))
    return [_decider(person, kinds, matches) for _, person, kinds in found]


def _authority(topic: str, matches: Sequence[Match], person: Person) -> Iterator[tuple[int, Mapping[str, list[str]]]]:
    """Yield the categories by what the person does with them, and the best place they were named at; or nothing."""
    if not matches:
        return
    near = [match for match in matches if match.page.department in (*person.departments, GENERAL)]
    texts = [_terms(topic), *(_terms(_about(match)) for match in near)]
    kinds = {"decides": person.decides, "validates": person.validates}
    places = {c: _named(c, texts) for categories in kinds.values() for c in categories}
    named = {c: place for c, place in places.items() if place is not None}
    if named:
        yield min(named.values()), {kind: [c for c in categories if c in named] for kind, categories in kinds.items()}


def _named(category: str, texts: Sequence[frozenset[str]]) -> int | None:
    terms = _terms(category)
    return next((place for place, text in enumerate(texts) if terms and terms <= text), None)


def _about(match: Match) -> str:
    return "\n".join((match.page.title, match.page.description, *match.headings, *match.excerpts))


def _decider(person: Person, kinds: Mapping[str, list[str]], matches: Sequence[Match]) -> dict[str, Any]:
    matched = [match.page.department for match in matches if match.page.department in person.departments]
    authority = "; ".join(f"{kind} {', '.join(categories)}" for kind, categories in kinds.items() if categories)
    return {
        "person": person.slug,
        "name": person.name,
        "role_aor": f"{person.role}: {authority}" if person.role else authority,
        "department": next(iter((*matched, *person.departments)), None),
    }


def _terms(text: str) -> frozenset[str]:
    """Return the words of a text, the plural and the singular of one as one."""
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in words(text))


# --- demonstrated expertise -----------------------------------------------------------------------------------


def knows(matches: Sequence[Match], past: Past, people: Sequence[Person], *, owner: str = "") -> list[dict[str, Any]]:
    """Return who wrote, answered and learned something about a topic, who did most first.

    `owner` is the slug of the person whom the log calls owner.
    """
    named = {**names(people), OWNER: owner if owner in {person.slug for person in people} else ""}
    done: dict[str, set[Work]] = {}
    for match in matches:
        for author, work in _works(match, past):
            if slug := person_of(author, named):
                done.setdefault(slug, set()).add(work)
    order = {match.page.rel_path: place for place, match in enumerate(matches)}
    ranked = sorted(done, key=lambda slug: (-len(done[slug]), min(order[w.rel_path] for w in done[slug]), slug))
    by_slug = {person.slug: person for person in people}
    return [_knower(by_slug[slug], done[slug], order) for slug in ranked]


def authored(matches: Iterable[Match], past: Past) -> bool:
    """Return whether it is recorded of any of the pages who wrote it."""
    return any(version.author for match in matches for version in writings(match.page.rel_path, past))


def names(people: Iterable[Person]) -> Mapping[str, str]:
    """Return the slugs of people by what authors call them; what two people are called is nobody's."""
    found: dict[str, str] = {}
    for person in people:
        for name in {person.slug, _slug(person.name)}:
            found[name] = person.slug if found.get(name, person.slug) == person.slug else ""
    return found


def person_of(author: str, named: Mapping[str, str]) -> str:
    """Return the slug of the person that an author is: `person:SLUG`, a slug, a name, or an address; else nothing."""
    name = author.removeprefix("person:")
    address = _ADDRESS.search(name)
    called = (_slug(_ADDRESS.sub("", name)), _slug((address[1] or address[2]).partition("+")[0]) if address else "")
    return next((slug for each in called if each and (slug := named.get(each, ""))), "")


def writings(rel_path: str, past: Past) -> Iterator[Version]:
    """Yield the versions of a page that somebody wrote, newest first, those under its former paths too."""
    visited: set[str] = set()
    before: tuple[str, int] | None = None
    while rel_path and rel_path not in visited:
        visited.add(rel_path)
        versions = [v for v in past.get(rel_path, ()) if before is None or (v.known_at, v.position) < before]
        rel_path = ""
        for version in reversed(versions):
            if version.text is None:
                break
            if version.moved_from:
                rel_path, before = version.moved_from, (version.known_at, version.position)
                break
            yield version


def _works(match: Match, past: Past) -> Iterator[tuple[str, Work]]:
    """Yield who did something on a page, and what."""
    page = match.page
    kind = "lesson" if page.type in LESSONS else "page"
    for version in writings(page.rel_path, past):
        proposer, _, approver = version.author.partition(APPROVED)
        work = Work(kind, page.rel_path, "", version.known_at[:10])
        yield proposer, work
        if kind == "lesson":
            yield approver, work  # who lands a lesson vouches for it; who lets a page in has not written it
    stated = page.front.get("author")
    if isinstance(stated, str):
        yield stated, Work(kind, page.rel_path, "", page.updated)
    if page.type == "digest":
        for question, author in _answers(match):
            yield author, Work("answer", page.rel_path, question, page.updated)


def _answers(match: Match) -> Iterator[tuple[str, str]]:
    """Yield the answers of a digest that matched: the question and who answered it.

    A question that is a heading of the page counts where that part of it matched, any other where the page did.
    """
    told = match.page.front.get("answers")
    headings = {words_of for section in match.page.sections for words_of in map(_slug, section.heading_path)}
    matched = {_slug(part) for path in match.headings for part in path.split(" > ")}
    for each in told if isinstance(told, list) else ():
        question, author = (each.get("question"), each.get("answered_by")) if isinstance(each, dict) else (None, None)
        if isinstance(question, str) and isinstance(author, str):
            key = _slug(question)
            if key in matched or key not in headings:
                yield question, author


def _knower(person: Person, works: set[Work], order: Mapping[str, int]) -> dict[str, Any]:
    counts = {kind: sum(work.kind == kind for work in works) for kind in ("page", "answer", "lesson")}
    return {
        "person": person.slug,
        "name": person.name,
        "evidence": {
            "n_pages": counts["page"],
            "n_digest_answers": counts["answer"],
            "n_lessons": counts["lesson"],
        },
        "recent": max(work.day for work in works) or None,
        "pages": sorted({work.rel_path for work in works}, key=order.__getitem__),
    }


def _slug(name: str) -> str:
    return "-".join(words(name))
