"""The org map: departments, people, agents, and what each may see, decide and change. `governance` changes it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

Area = Literal["clients", "suppliers", "employees", "decisions", "timeline"]
Access = Literal["read", "write"]

AREAS: Final[tuple[Area, ...]] = ("clients", "suppliers", "employees", "decisions", "timeline")

GENERAL: Final = "general"
"""The department of what belongs to none: everybody in the organisation may read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Department:
    """A department: the slug is its folder below memory/."""

    slug: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody of the organisation, what they decide and what they validate; `reports_to` is a slug or empty."""

    slug: str
    name: str
    role: str = ""
    departments: tuple[str, ...] = ()
    reports_to: str = ""
    decides: tuple[str, ...] = ()
    validates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A program and its grants. What it is denied it may neither read nor write, whatever is granted beside that."""

    name: str
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    read_areas: tuple[Area, ...] = ()
    write_areas: tuple[Area, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Org:
    """The whole map. `must_validate` are the categories of decisions that need a validation.

    `ceilings` are the most sensitive pages that a destination may be served: `{"mcp": "internal"}`.
    """

    owner: str = ""
    departments: tuple[Department, ...] = ()
    people: tuple[Person, ...] = ()
    agents: tuple[Agent, ...] = ()
    must_validate: tuple[str, ...] = ()
    ceilings: Mapping[str, str] = field(default_factory=dict)
    meta_approval: bool = False

    def department(self, name: str) -> Department | None:
        """Return a department by slug or name, whatever the case."""
        wanted = name.strip().casefold()
        return next((d for d in self.departments if wanted in {d.slug.casefold(), d.name.casefold()}), None)

    def person(self, name: str) -> Person | None:
        """Return a person by slug or display name, whatever the case."""
        wanted = name.strip().casefold()
        return next((p for p in self.people if wanted in {p.slug.casefold(), p.name.casefold()}), None)

    def agent(self, name: str) -> Agent | None:
        """Return an agent by its name."""
        return next((a for a in self.agents if a.name == name), None)

    def as_json(self) -> dict[str, Any]:
        """Return the map as the log keeps it."""
        return asdict(self)


EMPTY: Final = Org()


def org_of(stored: Mapping[str, Any]) -> Org:
    """Return the map that the log kept."""
    return Org(
        owner=stored["owner"],
        departments=tuple(Department(**each) for each in stored["departments"]),
        people=tuple(Person(**_tuples(each)) for each in stored["people"]),
        agents=tuple(Agent(**_tuples(each)) for each in stored["agents"]),
        must_validate=tuple(stored["must_validate"]),
        ceilings=dict(stored["ceilings"]),
        meta_approval=stored["meta_approval"],
    )


def _tuples(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}
