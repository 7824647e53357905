"""What the reading tools of the brain answer that are no search: pages, links, indexes, experts, precedents, packs.

The scope comes first: a call looks at the pages that it may see and at nothing else, so that what is denied and what
is absent cannot come out differently.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from falsify.brain.org import GENERAL
from falsify.brain.page import Page
from falsify.brain.scope import SENSITIVITIES, readable
from falsify.errors import UnavailableError
from projections import expertise, indexes
from projections.precedents import Causes, causes, chain
from projections.search.pipeline import Hit, Ranking, search, withheld
from projections.search.words import tail
from surfaces.brain import Brain
from surfaces.brain_writes import read_trace
from surfaces.tools.brain_org import NOT_BUILT
from surfaces.tools.brain_search import NOTHING_THERE, Answer, refusal, serialized, text_fault, unavailable
from surfaces.tools.page_parts import MAX_PAGE, Part, parts_of, size
from surfaces.tools.sight import Sight, sight

NO_PAGE: Final = "_This page is not available._"
NO_INDEX: Final = "_This index is not available._"

WITHHELD: Final = (
    "_What is here is not served through this channel. Whoever may read it finds it where the brain is kept._"
)
"""What is served of a page that is too sensitive for where the answer goes: neither its title nor what it says."""

MOST_PAGES: Final = 500
MOST_HITS: Final = 24
MOST_PRECEDENTS: Final = 12
DEEPEST: Final = 3

SNIPPET: Final = 400
"""Characters of the excerpt of a decision."""


# --- one page -------------------------------------------------------------------------------------------------


def read_page(brain: Brain, caller: str, *, rel_path: str, section: int = 0, on_behalf_of: str = "") -> str:
    """Return a page as it was written, or of a large one its front matter with a listing, or with one part.

    The parts of a page begin at its headings of the first two levels; one over the cap comes in pieces. Where there is
    no page, it may be the path of a trace that the caller may read; that is always whole.
    """
    call = sight(brain, caller, on_behalf_of)
    page = call.view.page(rel_path)
    if page is None or not call.scope.admits(page):
        return _trace(call, rel_path, on_behalf_of) or NO_PAGE
    if call.scope.withholds(page):
        return WITHHELD
    text = call.view.versions[rel_path].text or ""
    if section == 0 and size(text) <= MAX_PAGE:
        return text
    front, parts = parts_of(page, text)
    if section == 0:
        return front + _listing(text, parts)
    if 1 <= section <= len(parts):
        return front + parts[section - 1].text
    known = f"{len(parts)}, numbered from 1" if parts else "none"
    return front + f"_This page has no section {section}: it has {known}._\n"


def _trace(call: Sight, rel_path: str, on_behalf_of: str) -> str | None:
    """Return a trace of the caller's own, or any to the owner; never in somebody's name, whose grants name no trace."""
    # What an agent did is internal, as a page is that does not say how sensitive it is.
    if on_behalf_of or SENSITIVITIES.index(call.scope.ceiling) < SENSITIVITIES.index("internal"):
        return None
    return read_trace(call.brain, call.scope.caller, rel_path)


def _listing(text: str, parts: Iterable[Part]) -> str:
    told = f"_This page has {size(text):,} bytes. Read its sections one by one, with their numbers:_\n\n"
    return told + "".join(
        f"{number}. {part.title} ({size(part.text):,} bytes)\n" for number, part in enumerate(parts, start=1)
    )


# --- many pages -----------------------------------------------------------------------------------------------


def list_pages(brain: Brain, caller: str, *, prefix: str = "", on_behalf_of: str = "", format: str = "json") -> Answer:  # noqa: A002  # the contract's name
    """Return the pages under a prefix, by path."""
    call = sight(brain, caller, on_behalf_of)
    found = [page for path, page in call.seen.items() if path.startswith(prefix)]
    rows = [
        {
            "rel_path": page.rel_path,
            "title": page.title,
            "description": page.description,
            "updated": call.updated(page),
            "lifecycle_status": page.lifecycle_status,
        }
        for page in found[:MOST_PAGES]
    ]
    more = {"truncated": True} if len(found) > MOST_PAGES else {}
    asked = prefix.encode(errors="replace").decode()  # half a surrogate pair is in no path, and in no JSON
    return serialized({"prefix": asked, "pages": rows, **more}, format)


def get_links(brain: Brain, caller: str, *, rel_path: str, on_behalf_of: str = "", format: str = "json") -> Answer:  # noqa: A002  # the contract's name
    """Return the links of a page and those to it.

    A link to what may not be seen is what it would be if nothing were there: unresolved, with the words of the page.
    """
    call = sight(brain, caller, on_behalf_of)
    page = call.seen.get(rel_path)
    if page is None:
        return NO_PAGE
    outgoing = {(link.relation, link.target): call.resolve(link.target, rel_path) for link in page.links}
    rows = [
        {
            "relation": relation,
            "target": target,
            "rel_path": found,
            "title": call.seen[found].title if found else None,
            "unresolved": found is None,
        }
        for (relation, target), found in outgoing.items()
    ]
    backlinks = [{"rel_path": other.rel_path, "title": other.title} for other in _linking(call, page)]
    return serialized({"rel_path": rel_path, "outgoing": rows, "backlinks": backlinks}, format)


def _linking(call: Sight, page: Page) -> Iterator[Page]:
    """Yield the pages that link to a page, by path."""
    named = {tail(name) for name in (page.rel_path, page.title, *page.aliases)}
    for other in call.seen.values():
        targets = {link.target for link in other.links if tail(link.target) in named}
        if other is not page and any(call.resolve(t, other.rel_path) == page.rel_path for t in targets):
            yield other


def get_index(brain: Brain, caller: str, *, scope: str = indexes.ROOT, on_behalf_of: str = "") -> str:
    """Return a compiled index. That of the root is everybody's: it has names and counts only.

    The root asks for no grant, and still counts nothing that is too sensitive for where the answer goes.
    """
    call = sight(brain, caller, on_behalf_of)
    if scope == indexes.ROOT:
        every = [page for page in call.view.pages.values() if readable(page.rel_path)]
        if not every and not call.org.departments:
            return NOT_BUILT
        return indexes.root_index(call.org, [page for page in every if not call.scope.withholds(page)])
    past = brain.library.pages
    if scope.startswith(indexes.ENTITIES):
        kind = scope.removeprefix(indexes.ENTITIES)
        return indexes.entity_index(kind, call.seen, past, call.resolve) or NO_INDEX
    if scope not in {GENERAL, *(d.slug for d in call.org.departments)} or not call.scope.sees_department(scope):
        return NO_INDEX
    return indexes.department_index(scope, call.org, call.seen, past, call.resolve)


# --- who knows, and what was decided --------------------------------------------------------------------------


def who_knows(
    brain: Brain,
    caller: str,
    *,
    topic: str,
    k: int = 12,
    on_behalf_of: str = "",
    format: str = "json",  # noqa: A002  # the contract's name
) -> Answer:
    """Return who decides and who knows about a topic: two registers that rest on the pages that it matches."""
    if fault := text_fault(topic, "topic"):
        return refusal("invalid_topic", fault)
    call = sight(brain, caller, on_behalf_of)
    try:
        ranking = search(brain.index, topic, call.admission)
        filtered = withheld(brain.index, call.admission)
    except UnavailableError as error:
        return unavailable(error)
    if ranking.nothing:
        return NOTHING_THERE
    people, past = call.people(), brain.library.pages
    matches = _matches(call, _clamped(k, 1, MOST_HITS), ranking)
    authored = not matches or expertise.authored(matches, past)
    payload = {
        "topic": topic,
        "matched_pages": [match.page.rel_path for match in matches],
        "decides": expertise.decides(topic, matches, people),
        "knows": expertise.knows(matches, past, people, owner=call.org.owner),
        **({"destination_filtered": filtered} if filtered else {}),
        **_weak(ranking),
        **({} if authored else {"authorship_evidence": "unavailable"}),
    }
    return serialized(payload, format)


def _matches(call: Sight, k: int, ranking: Ranking) -> list[expertise.Match]:
    """Return the pages of the best hits, each with all of its parts among those, in the order of the ranking."""
    # A recipe of what to read about a topic is no knowledge of it.
    hits = [hit for hit in ranking.hits if hit.type != "pack" and hit.rel_path in call.seen]
    parts: dict[str, list[Hit]] = {}
    for hit in hits[:k]:
        parts.setdefault(hit.rel_path, []).append(hit)
    return [
        expertise.Match(
            page=call.seen[path],
            headings=tuple(hit.heading_path for hit in found),
            excerpts=tuple(hit.text for hit in found),
        )
        for path, found in parts.items()
    ]


def find_precedents(
    brain: Brain, caller: str, *, situation: str, k: int = 5, chain_depth: int = 1, on_behalf_of: str = ""
) -> Answer:
    """Return the decisions that match a situation, each with what it follows from and what came of it."""
    if fault := text_fault(situation, "situation"):
        return refusal("invalid_situation", fault)
    call = sight(brain, caller, on_behalf_of)
    try:
        ranking = search(brain.index, situation, replace(call.admission, types=("decision",)))
    except UnavailableError as error:
        return unavailable(error)
    if ranking.nothing:
        return NOTHING_THERE
    hits = [hit for hit in ranking.hits if hit.rel_path in call.seen]
    best = {hit.rel_path: hit for hit in reversed(hits)}.values()
    found, depth = causes(call.seen.values(), call.resolve), _clamped(chain_depth, 0, DEEPEST)
    results = [
        {**_decision(call.seen[hit.rel_path], hit), **_causal(call, found, hit.rel_path, depth)}
        for hit in sorted(best, key=lambda hit: hit.rank)[: _clamped(k, 1, MOST_PRECEDENTS)]
    ]
    return serialized({"situation": situation, "results": results, **_weak(ranking)}, "json")


def _causal(call: Sight, found: Causes, rel_path: str, depth: int) -> dict[str, Any]:
    titles = {path: page.title for path, page in call.seen.items()}
    return {"causal": chain(found, rel_path, titles, depth=depth)} if depth else {}


def _decision(page: Page, hit: Hit) -> dict[str, Any]:
    return {
        "rel_path": page.rel_path,
        "title": page.title,
        "decided_by": page.decided_by or None,
        "validated_by": page.validated_by or None,
        "status": page.status or None,
        "date": page.date or None,
        "updated": hit.updated,
        "department": page.department,
        "lifecycle_status": page.lifecycle_status,
        "source_trust": page.source_trust,
        "snippet": hit.text if len(hit.text) <= SNIPPET else hit.text[:SNIPPET].rsplit(None, 1)[0] + " …",
    }


def _weak(ranking: Ranking) -> dict[str, str]:
    return {"confidence": "low"} if ranking.weak else {}


def _clamped(value: int, least: int, most: int) -> int:
    return min(max(value, least), most)
