"""What the tools about the organisation answer: departments, people, terms, entities, and the owner's governance.

Everything is narrowed to the caller's scope first and asked afterwards: what is denied and what is absent are the
same bytes, because no line after the scope could tell them apart.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson

from falsify.brain.org import EMPTY, Department, Org, Person, folded
from falsify.brain.page import Page
from falsify.brain.scope import Scope, is_owner
from falsify.brain.sections import Section
from falsify.errors import RefusedError
from surfaces import governance
from surfaces.brain import Brain

NOT_BUILT: Final = "_The Brain is not built yet: its owner imports pages first (`falsify brain import FOLDER`)._"
NO_DEPARTMENT: Final = "_This department is not available._"
NO_ENTITIES: Final = "_No entities visible._"

UNAUTHORIZED: Final = orjson.dumps(
    {"error": "unauthorized", "message": "Only the owner may read or change the governance of this organisation."}
)
"""What everybody but the owner is answered by the three governance tools, whatever they ask."""

MAX_DOCUMENTS: Final = 20
"""How many key documents, and how many processes, the index of a department lists."""

MAX_SUMMARY: Final = 160
"""Characters in the one-line summary of an entity."""

_PROCESSES: Final = frozenset({"process", "playbook", "rule"})
_NO_DOCUMENTS: Final = _PROCESSES | {"index", "digest", "timeline", "entity", "glossary", "pack"}
_TRUST: Final = ("verified", "declared", "imported", "unverified")
_GUIDANCE: Final = re.compile(r"\W*answer[\s_-]*guidance\b", re.IGNORECASE)


# --- departments ----------------------------------------------------------------------------------------------


def get_department(brain: Brain, caller: str, *, name: str, on_behalf_of: str = "") -> str:
    """Return the index of a department as markdown; the same line for one that is unknown or denied."""
    if _unbuilt(brain):
        return NOT_BUILT
    scope, org = brain.scope(caller, on_behalf_of), brain.library.org
    department = org.department(name)
    if department is None or not scope.sees_department(department.slug):
        return NO_DEPARTMENT
    pages = [
        page for page in _visible(brain, scope) if page.department == department.slug and _holds(page, brain.today)
    ]
    return "\n".join(_index(org, department, scope, pages))


def _index(org: Org, department: Department, scope: Scope, pages: list[Page]) -> Iterator[str]:
    yield f"# {department.name}"
    if department.description:
        yield from ("", department.description)
    yield from _section("Roles", [_role(org, p, scope) for p in org.people if department.slug in p.departments])
    documents = [page for page in pages if page.type not in _NO_DOCUMENTS]
    yield from _section("Key documents", _documents(documents))
    yield from _section("Processes", _documents([page for page in pages if page.type in _PROCESSES]))


def _section(title: str, lines: list[str]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    yield from lines or ["_None._"]


def _role(org: Org, person: Person, scope: Scope) -> str:
    above = next((p for p in org.people if p.slug == person.reports_to and _seen(p, scope)), None)
    parts = (
        person.role,
        f"decides on {', '.join(person.decides)}" if person.decides else "",
        f"validates {', '.join(person.validates)}" if person.validates else "",
        f"reports to {above.name}" if above else "",
    )
    told = "; ".join(part for part in parts if part)
    return f"- **{person.name}** ({person.slug})" + (f": {told}" if told else "")


def _documents(pages: list[Page]) -> list[str]:
    """Return the lines of the pages that are to be trusted most, and of these the newest."""
    newest = sorted(sorted(pages, key=lambda page: page.rel_path), key=lambda page: page.updated, reverse=True)
    best = sorted(newest, key=lambda page: _TRUST.index(page.source_trust))
    lines = [f"- [{_line(page.title)}]({page.rel_path}){_after(': ', page.description)}" for page in best]
    more = [f"- _and {len(lines) - MAX_DOCUMENTS} more_"] if len(lines) > MAX_DOCUMENTS else []
    return lines[:MAX_DOCUMENTS] + more


# --- people ---------------------------------------------------------------------------------------------------


def get_person_aor(brain: Brain, caller: str, *, name: str, on_behalf_of: str = "") -> bytes | str:
    """Return what a person is responsible for, with the departments that the caller may see.

    Somebody unknown, denied, or of no visible department is the same answer; only who sees all is told who there is.
    """
    if _unbuilt(brain):
        return NOT_BUILT
    scope, org = brain.scope(caller, on_behalf_of), brain.library.org
    person = next((p for p in org.called(name) if _seen(p, scope)), None)
    if person is None:
        return _no_person(org, scope)
    return orjson.dumps(
        {
            "slug": person.slug,
            "name": person.name,
            "role": person.role,
            "departments": [slug for slug in person.departments if scope.sees_department(slug)],
            "decides": person.decides,
            "validates": person.validates,
        }
    )


def _seen(person: Person, scope: Scope) -> bool:
    return scope.everything or any(map(scope.sees_department, person.departments))


def _no_person(org: Org, scope: Scope) -> bytes:
    known = f" Known people: {', '.join(p.slug for p in org.people)}." if scope.everything and org.people else ""
    return orjson.dumps({"error": "not_found", "message": f"No such person is available.{known}"})


# --- the glossary ---------------------------------------------------------------------------------------------


def get_glossary_term(brain: Brain, caller: str, *, term: str, on_behalf_of: str = "") -> bytes | str:
    """Return the definition of a term by its name or an alias; the same answer for one unknown or out of scope."""
    if _unbuilt(brain):
        return NOT_BUILT
    scope, wanted = brain.scope(caller, on_behalf_of), folded(term)
    entries = [page for page in _visible(brain, scope) if page.type == "glossary" and wanted in _names(page)]
    if not wanted or not entries:
        return orjson.dumps({"error": "not_found", "message": "No such term is available in the glossary."})
    page = min(entries, key=lambda p: (folded(p.title) != wanted, p.lifecycle_status != "active", p.rel_path))
    return orjson.dumps(
        {
            "term": page.title,
            "definition": _definition(page),
            "aliases": page.aliases,
            "lifecycle_status": page.lifecycle_status,
            "source_trust": page.source_trust,
            "rel_path": page.rel_path,
        }
    )


def _names(page: Page) -> set[str]:
    return {folded(name) for name in (page.title, *page.aliases)}


def _definition(page: Page) -> str:
    """Return what the page says without its title, and without guidance on how to answer, which is nobody's to read."""
    told = page.front.get("definition")
    if isinstance(told, str) and told.strip():
        return told.strip()
    text = "\n\n".join(filter(None, (_prose(section, page.title) for section in page.sections)))
    return text or page.description


def _prose(section: Section, title: str) -> str:
    if any(_GUIDANCE.match(heading) for heading in section.heading_path):
        return ""
    titled = section.level == 1 and folded(section.heading_path[-1]) == folded(title)
    lines = _below_heading(section) if titled else section.text.split("\n")
    return "\n".join(line for line in lines if not _GUIDANCE.match(line)).strip()


def _below_heading(section: Section) -> list[str]:
    """Return the lines of a section without its heading, which ends with its line or with what underlines it."""
    lines = section.text.split("\n")
    if not section.level:
        return lines
    if lines[0].lstrip().startswith("#"):
        return lines[1:]
    ends = next((at for at, line in enumerate(lines) if set(line.strip()) in ({"="}, {"-"})), 0)
    return lines[ends + 1 :]


# --- entities -------------------------------------------------------------------------------------------------


def list_company_entities(brain: Brain, caller: str, *, type: str = "", on_behalf_of: str = "") -> str:  # noqa: A002 - the tool's parameter
    """Return a line of markdown for every entity that the caller may see, of one type or of all."""
    if _unbuilt(brain):
        return NOT_BUILT
    visible = [p for p in _visible(brain, brain.scope(caller, on_behalf_of)) if p.type == "entity"]
    listed = [page for page in visible if type in ("", page.entity_type)]
    listed.sort(key=lambda page: (page.entity_type, folded(page.title), page.rel_path))
    return "\n".join(map(_entity, listed)) or NO_ENTITIES


def _entity(page: Page) -> str:
    state = "" if page.lifecycle_status == "active" else f", {page.lifecycle_status}"
    return f"- [{page.entity_type}] **{_line(page.title)}**{_after(' - ', _summary(page))} ({page.source_trust}{state})"


def _summary(page: Page) -> str:
    """Return the description, or the first line of text that is no heading, as one line."""
    prose = (line for section in page.sections for line in _below_heading(section))
    line = _line(page.description or next((each for each in prose if each.strip()), ""))
    return line if len(line) <= MAX_SUMMARY else f"{line[: MAX_SUMMARY - 3].rstrip()}..."


# --- governance -----------------------------------------------------------------------------------------------


def governance_model(brain: Brain, caller: str, /, **arguments: object) -> bytes:
    """Return who may see, decide and change what; nothing for anybody but the owner."""
    del arguments  # it takes none, and whoever sends some is answered the same
    return _as_owner(brain, caller, lambda: governance.model(brain, caller=caller))


def governance_preview(brain: Brain, caller: str, /, **arguments: object) -> bytes:
    """Return what an operation would change, before and after; nothing is written.

    The arguments are those of the tool, as they came: they are looked at after the caller, so that who is not the owner
    cannot tell a well-formed call from another.
    """
    op, given = _split(arguments)
    return _as_owner(brain, caller, lambda: governance.preview(brain, op, given, caller=caller))


def governance_apply(brain: Brain, caller: str, /, **arguments: object) -> bytes:
    """Carry an operation out, or stage it; the arguments are those of `governance_preview`."""
    op, given = _split(arguments)
    return _as_owner(brain, caller, lambda: governance.apply(brain, op, given, caller=caller))


def _as_owner(brain: Brain, caller: str, answer: Callable[[], Mapping[str, Any]]) -> bytes:
    if not is_owner(brain.library.org, caller):
        return UNAUTHORIZED
    try:
        return orjson.dumps(answer())
    except RefusedError as error:
        message = f"{error.message}; {error.hint}" if error.hint else error.message
        return orjson.dumps({"error": "aor_refused", "reason": error.reason, "message": message})


def _split(arguments: Mapping[str, object]) -> tuple[Any, dict[str, object]]:
    """Return the operation as it was sent, which may be anything, and its other arguments."""
    return arguments.get("op"), {name: value for name, value in arguments.items() if name != "op"}


# --- what they share ------------------------------------------------------------------------------------------


def _unbuilt(brain: Brain) -> bool:
    return brain.library.org == EMPTY and not brain.library.pages


def _visible(brain: Brain, scope: Scope) -> Iterator[Page]:
    return (page for page in brain.pages().pages.values() if scope.sees(page))


def _holds(page: Page, today: str) -> bool:
    return page.lifecycle_status == "active" and not (page.expires and page.expires < today)


def _line(text: str) -> str:
    return " ".join(text.split())


def _after(separator: str, text: str) -> str:
    return f"{separator}{_line(text)}" if text.strip() else ""
