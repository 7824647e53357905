"""Who may see what. A scope is computed once from who asks, and data is narrowed by it before anything else is asked.

What is denied and what is absent are one answer, because one line computes both.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from falsify.brain.org import GENERAL, Area, Org
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


@dataclass(frozen=True, slots=True)
class Grant:
    """What one identity may read: everything, or pages of some departments and areas, without what is denied."""

    everything: bool = False
    departments: frozenset[str] = frozenset()
    areas: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()

    def admits(self, page: Placed) -> bool:
        """Return whether the page may be read; deny wins."""
        if self.everything:
            return True
        if page.department in self.denied or page.area in self.denied:
            return False
        return page.department in self.departments or page.area in self.areas


NOTHING: Final = Grant()


@dataclass(frozen=True, slots=True)
class Scope:
    """What a call may read: what every one of its grants admits, up to the ceiling of where the answer goes."""

    caller: str
    grants: tuple[Grant, ...]
    ceiling: Sensitivity = "restricted"

    @property
    def empty(self) -> bool:
        """Whether nothing at all can be seen."""
        return any(not (g.everything or g.departments or g.areas) for g in self.grants)

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
        """Return whether anything of a department may be seen."""
        return all(g.everything or (slug in g.departments and slug not in g.denied) for g in self.grants)


def readable(rel_path: str) -> bool:
    """Return whether a path can be a page at all: below memory/, and nobody's personal folder."""
    parts = rel_path.split("/")
    return parts[0] == "memory" and len(parts) > 1 and "personal" not in parts and not {"", ".", ".."} & set(parts)


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
    return _person(org, name) if kind == "person" else _agent(org, name)


def may_write(org: Org, caller: str, department: str) -> bool:
    """Return whether an agent may propose into a department; deny wins. Only agents propose."""
    kind, _, name = caller.partition(":")
    agent = org.agent(name) if kind == "agent" else None
    return agent is not None and department in agent.write and department not in agent.deny


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


def _plural(*names: str) -> Iterable[str]:
    for name in names:
        yield from (name, f"{name}s")


_ENTITY_AREAS: Final[dict[str, Area]] = {
    **dict.fromkeys(_plural("client", "customer"), "clients"),
    **dict.fromkeys(_plural("supplier", "vendor"), "suppliers"),
    **dict.fromkeys((*_plural("employee", "person"), "people"), "employees"),
}
_TYPE_AREAS: Final[dict[str, Area]] = {"decision": "decisions", "digest": "timeline", "timeline": "timeline"}
