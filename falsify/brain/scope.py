"""Who may see what. A scope is computed once from who asks, and data is narrowed by it before anything else is asked.

What is denied and what is absent are one answer, because one line computes both.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, Protocol

from falsify.brain.org import AREAS, GENERAL, Access, Area, Org
from falsify.identity import OWNER

Destination = Literal["cli", "mcp", "web"]
Sensitivity = Literal["public", "internal", "confidential", "restricted"]

SENSITIVITIES: Final[tuple[Sensitivity, ...]] = ("public", "internal", "confidential", "restricted")
"""From the least to the most sensitive; a page that does not say is internal."""


class Placed(Protocol):
    """What a scope looks at: where a page belongs."""

    @property
    def rel_path(self) -> str: ...
    @property
    def department(self) -> str: ...
    @property
    def area(self) -> Area | Literal[""]: ...
    @property
    def sensitivity(self) -> Sensitivity: ...


Predicate = tuple[str, tuple[str, ...]]
"""A condition in SQL, and its parameters."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What one identity may read: everything, or pages of some departments and areas, without what is denied."""

    everything: bool = False
    departments: frozenset[str] = frozenset()
    areas: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()

    def admits(self, page: Placed) -> bool:
        """Return whether the page may be read; deny wins."""
        return self.covers(page.department, page.area)

    def covers(self, department: str, area: str) -> bool:
        """Return whether pages of that department and area may be read; deny wins."""
        if self.everything:
            return True
        if department in self.denied or area in self.denied:
            return False
        return department in self.departments or area in self.areas

    def where(self, table: str) -> Predicate:
        """Return `admits` as SQL; see `Scope.where`."""
        if self.everything:
            return "1", ()
        departments, areas, denied = sorted(self.departments), sorted(self.areas), sorted(self.denied)
        granted = f"({_among(table, 'department', departments)} OR {_among(table, 'area', areas)})"
        refused = f"({_among(table, 'department', denied)} OR {_among(table, 'area', denied)})"
        return f"{granted} AND NOT {refused}", (*departments, *areas, *denied, *denied)


NOTHING: Final = Grant()


@dataclass(frozen=True, slots=True)
class Scope:
    """What a call may read: what every one of its grants admits, up to the ceiling of where the answer goes."""

    caller: str
    grants: tuple[Grant, ...]
    ceiling: Sensitivity = "restricted"

    @property
    def everything(self) -> bool:
        """Whether there is nothing that may not be read, but for the ceiling."""
        return all(grant.everything for grant in self.grants)

    @property
    def empty(self) -> bool:
        """Whether no page at all can be admitted."""
        # A department that no grant names stands for all the others: what an area grants reaches into those too.
        departments = {"", *chain.from_iterable(grant.departments for grant in self.grants)}
        areas = {"", *chain.from_iterable(grant.areas for grant in self.grants)}
        return not any(self._covers(d, a) for d in departments for a in areas)

    def admits(self, page: Placed) -> bool:
        """Return whether the page exists for this call, whatever the ceiling."""
        return readable(page.rel_path) and all(grant.admits(page) for grant in self.grants)

    def withholds(self, page: Placed) -> bool:
        """Return whether the page is too sensitive for where the answer goes."""
        return SENSITIVITIES.index(page.sensitivity) > SENSITIVITIES.index(self.ceiling)

    def sees(self, page: Placed) -> bool:
        """Return whether the page may be served: it is admitted and not withheld."""
        return self.admits(page) and not self.withholds(page)

    def sees_department(self, slug: str) -> bool:
        """Return whether a department itself may be seen; a grant of an area alone opens none."""
        return all(g.everything or (slug in g.departments and slug not in g.denied) for g in self.grants)

    def where(self, table: str = "") -> Predicate:
        """Return `sees` as SQL over the text columns rel_path, department, area and sensitivity, none of them NULL.

        `table` qualifies the columns where a query has several tables. The SQL is SQLite's.
        """
        conditions, parameters = zip(*(grant.where(_qualified(table)) for grant in self.grants), strict=True)
        served = SENSITIVITIES[: SENSITIVITIES.index(self.ceiling) + 1]
        ceiling = _among(_qualified(table), "sensitivity", served)
        every = (_READABLE.format(table=_qualified(table)), *conditions, ceiling)
        return " AND ".join(every), (*chain.from_iterable(parameters), *served)

    def _covers(self, department: str, area: str) -> bool:
        return all(grant.covers(department, area) for grant in self.grants)


def readable(rel_path: str) -> bool:
    """Return whether a path can be a page at all: below memory/, and nobody's personal folder."""
    parts = rel_path.split("/")
    # A file system may not tell `Personal` from `personal`, so neither do we.
    hidden = {"", ".", "..", "personal"} & {part.lower() for part in parts}
    return parts[0] == "memory" and len(parts) > 1 and not hidden


_READABLE: Final = """\
{table}rel_path GLOB 'memory/*' \
AND NOT lower('/' || {table}rel_path || '/') GLOB '*/personal/*' \
AND NOT '/' || {table}rel_path || '/' GLOB '*//*' \
AND NOT '/' || {table}rel_path || '/' GLOB '*/./*' \
AND NOT '/' || {table}rel_path || '/' GLOB '*/../*'"""
"""`readable` as SQL."""


def scope_of(org: Org, caller: str, *, on_behalf_of: str = "", destination: Destination = "cli") -> Scope:
    """Return what a caller may see, narrowed to what somebody else may see too.

    An unknown caller, or an unknown person on whose behalf it asks, sees nothing.
    """
    grants = [grant_of(org, caller)]
    if on_behalf_of:
        person = on_behalf_of.removeprefix("person:")
        grants.append(_person(org, person))
    ceiling = org.ceilings.get(destination, "restricted")
    return Scope(caller, tuple(grants), ceiling if ceiling in SENSITIVITIES else "public")


def grant_of(org: Org, caller: str) -> Grant:
    """Return what an identity may read by itself."""
    kind, _, name = caller.partition(":")
    if caller == OWNER:
        return Grant(everything=True)
    return _GRANTS[kind](org, name) if kind in _GRANTS else NOTHING


def may_write(org: Org, caller: str, department: str, area: str = "") -> bool:
    """Return whether an agent may propose a page of a department and area; deny wins. Only agents propose."""
    kind, _, name = caller.partition(":")
    agent = org.agent(name) if kind == "agent" else None
    if agent is None or department in agent.deny or area in agent.deny:
        return False
    return department in agent.write or area in agent.write_areas


def reach(org: Org, caller: str) -> frozenset[tuple[str, str, Access]]:
    """Return all that an identity may do: the department and area of the pages, and whether it may read or write them.

    A page of no area has the area "", and the department "" stands for those that the map does not know.
    """
    grant = grant_of(org, caller)
    places = [(d, a) for d in ("", GENERAL, *(d.slug for d in org.departments)) for a in ("", *AREAS)]
    read: set[tuple[str, str, Access]] = {(d, a, "read") for d, a in places if grant.covers(d, a)}
    return frozenset(read | {(d, a, "write") for d, a in places if may_write(org, caller, d, a)})


def is_owner(org: Org, caller: str) -> bool:
    """Return whether the caller is the owner, by that name or as the person who is."""
    return caller == OWNER or (bool(org.owner) and caller == f"person:{org.owner}")


def area_of(page_type: str, entity_type: str) -> Area | Literal[""]:
    """Return the curated area that a page belongs to by its type, or empty."""
    if page_type == "entity":
        return _ENTITY_AREAS.get(entity_type, "")
    return _TYPE_AREAS.get(page_type, "")


def _person(org: Org, slug: str) -> Grant:
    if org.owner and slug == org.owner:
        return Grant(everything=True)
    person = next((p for p in org.people if p.slug == slug), None)
    return Grant(departments=frozenset((*person.departments, GENERAL))) if person else NOTHING


def _agent(org: Org, name: str) -> Grant:
    agent = org.agent(name)
    if agent is None:
        return NOTHING
    return Grant(
        departments=frozenset((*agent.read, *agent.write)),
        areas=frozenset((*agent.read_areas, *agent.write_areas)),
        denied=frozenset(agent.deny),
    )


_GRANTS: Final[Mapping[str, Callable[[Org, str], Grant]]] = {"person": _person, "agent": _agent}


def _qualified(table: str) -> str:
    return f"{table}." if table else ""


def _among(table: str, column: str, values: Sequence[str]) -> str:
    return f"{table}{column} IN ({', '.join('?' * len(values))})" if values else "0"


def _plural(*names: str) -> Iterable[str]:
    for name in names:
        yield from (name, f"{name}s")


_ENTITY_AREAS: Final[dict[str, Area]] = {
    **dict.fromkeys(_plural("client", "customer"), "clients"),
    **dict.fromkeys(_plural("supplier", "vendor"), "suppliers"),
    **dict.fromkeys((*_plural("employee", "person"), "people"), "employees"),
}
_TYPE_AREAS: Final[dict[str, Area]] = {"decision": "decisions", "digest": "timeline", "timeline": "timeline"}
