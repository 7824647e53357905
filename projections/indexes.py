"""The compiled indexes: what there is in a department, of a type of entity, or in the whole, to be read first.

They are made of the pages that may be seen, and of nothing else; the root has names and counts only.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from falsify.brain.library import Version
from falsify.brain.org import GENERAL, Org
from falsify.brain.page import Page
from projections.precedents import Resolve

ROOT: Final = "root"
ENTITIES: Final = "entities/"

MOST_PAGES: Final = 200
"""Pages in one list of an index; it says how many more there are."""

RECENT: Final = 5
"""Decisions that are shown as recent."""

JOURNAL: Final = 10
"""Changes at the end of an index."""

_UNLISTED: Final = frozenset({"index", "pack"})
"""The types of pages that are no content of a department."""

Past = Mapping[str, tuple[Version, ...]]
"""All versions of pages by path."""


def root_index(org: Org, pages: Iterable[Page]) -> str:
    """Return the index of everything: departments and types of entities, and how many pages each has."""
    listed = [page for page in pages if page.type not in _UNLISTED]
    departments = Counter(page.department for page in listed if page.type != "entity")
    entities = Counter(page.entity_type for page in listed if page.type == "entity" and page.entity_type)
    names = {GENERAL: "General", **{each.slug: each.name for each in org.departments}}
    return _document(
        ROOT,
        "Index",
        "What is granted to you is read with its slug, or with entities/ and the type.",
        {
            "Departments": [f"- {slug}: {_line(name)} ({departments[slug]})" for slug, name in sorted(names.items())],
            "Entity types": [f"- {name} ({entities[name]})" for name in sorted(entities)],
        },
    )


def department_index(slug: str, org: Org, seen: Mapping[str, Page], past: Past, resolve: Resolve) -> str:
    """Return the index of a department out of the pages that may be seen, by path."""
    department = org.department(slug)
    name, description = (department.name, department.description) if department else ("General", "")
    every = [page for page in seen.values() if page.department == slug and page.type not in _UNLISTED]
    pages = [page for page in every if page.type != "entity"]
    linked = _linked_entities(pages, seen, resolve)
    entities = {page.rel_path: page for page in (*linked, *(page for page in every if page.type == "entity"))}
    return _document(
        slug,
        name,
        description,
        {
            "Structure": _folders(pages),
            "Pages": _listed(pages),
            "Entities": _listed([entities[path] for path in sorted(entities)]),
            "Recent decisions": _decisions(pages),
            "Journal": _journal(every, past),
        },
    )


def entity_index(entity_type: str, seen: Mapping[str, Page], past: Past, resolve: Resolve) -> str:
    """Return the index of a type of entity; empty where none may be seen."""
    entities = [page for page in seen.values() if page.type == "entity" and page.entity_type == entity_type]
    if not entities:
        return ""
    paths = {page.rel_path for page in entities}
    about = [page for page in seen.values() if page.type == "decision" and _leads_to(page, paths, resolve)]
    return _document(
        f"{ENTITIES}{entity_type}",
        entity_type.replace("-", " ").capitalize(),
        "",
        {
            "Structure": _folders(entities),
            "Pages": _listed(entities),
            "Entities": _listed([each for each in _linked_entities(entities, seen, resolve) if each not in entities]),
            "Recent decisions": _decisions(about),
            "Journal": _journal(entities, past),
        },
    )


def _document(scope: str, title: str, description: str, parts: Mapping[str, Sequence[str]]) -> str:
    head = ["---", "type: index", f"scope: {scope}", "---", f"# {_line(title)}"]
    paragraphs = ["\n".join(head), *([_line(description)] if description else [])]
    paragraphs += ["\n".join((f"## {heading}", "", *lines)) for heading, lines in parts.items() if lines]
    return "\n\n".join(paragraphs) + "\n"


def _folders(pages: Iterable[Page]) -> list[str]:
    folders = Counter(page.rel_path.rpartition("/")[0] for page in pages)
    return [f"- {folder}/ ({count})" for folder, count in sorted(folders.items())]


def _listed(pages: Sequence[Page]) -> list[str]:
    more = len(pages) - MOST_PAGES
    told = [f"- {_link(page)} ({_kind(page)}){_about(page)}" for page in pages[:MOST_PAGES]]
    return [*told, f"- and {more} more, which list_pages shows"] if more > 0 else told


def _kind(page: Page) -> str:
    kind = page.entity_type or page.type if page.type == "entity" else page.type
    return kind if page.lifecycle_status == "active" else f"{kind}, {page.lifecycle_status}"


def _about(page: Page) -> str:
    return f": {_line(page.description)}" if page.description else ""


def _decisions(pages: Iterable[Page]) -> list[str]:
    decisions = sorted((p for p in pages if p.type == "decision"), key=lambda p: p.rel_path)
    decisions.sort(key=_decided_on, reverse=True)
    return [f"- {_decided_on(page) or 'no date'} {_link(page)}{_outcome(page)}" for page in decisions[:RECENT]]


def _decided_on(page: Page) -> str:
    return page.date or page.updated


def _outcome(page: Page) -> str:
    by = f"decided by {_line(page.decided_by)}" if page.decided_by else ""
    told = ", ".join(each for each in (_line(page.status), by) if each)
    return f": {told}" if told else ""


def _journal(pages: Iterable[Page], past: Past) -> list[str]:
    changes = [change for page in pages for change in _changes(past.get(page.rel_path, ()))]
    changes.sort(key=lambda change: (change[0].known_at, change[0].position, change[0].rel_path), reverse=True)
    return [f"- {version.known_at[:10]} {what} {version.rel_path}" for version, what in changes[:JOURNAL]]


def _changes(versions: Sequence[Version]) -> Iterator[tuple[Version, str]]:
    """Yield what was done to a page since it was last not there."""
    gone = max((place for place, version in enumerate(versions) if version.text is None), default=-1)
    for place, version in enumerate(versions[gone + 1 :]):
        yield version, "moved" if version.moved_from else "changed" if place else "added"


def _linked_entities(pages: Iterable[Page], seen: Mapping[str, Page], resolve: Resolve) -> list[Page]:
    found = {resolve(link.target, page.rel_path) for page in pages for link in page.links}
    return [seen[path] for path in sorted(path for path in found if path) if seen[path].type == "entity"]


def _leads_to(page: Page, paths: set[str], resolve: Resolve) -> bool:
    return any(resolve(link.target, page.rel_path) in paths for link in page.links)


def _link(page: Page) -> str:
    title = page.title.translate({ord(mark): " " for mark in "[]|"})
    return f"[[{page.rel_path}|{_line(title)}]]"


def _line(text: str) -> str:
    return " ".join(text.split())
