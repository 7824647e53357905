"""The org map: departments, people, agents, and what each may see, decide and change. `governance` changes it."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, TypeVar

T = TypeVar("T", bound=str)

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
        """Return a department by slug or name, whatever the case; a slug comes first."""
        wanted = folded(name)
        by_slug = (d for d in self.departments if d.slug == wanted)
        return next(by_slug, None) or next((d for d in self.departments if folded(d.name) == wanted), None)

    def person(self, name: str) -> Person | None:
        """Return a person by slug or display name, whatever the case; of namesakes the first."""
        return next(self.called(name), None)

    def called(self, name: str) -> Iterator[Person]:
        """Yield who has that slug, then who has that display name, whatever the case."""
        wanted = folded(name)
        yield from (p for p in self.people if p.slug == wanted)
        yield from (p for p in self.people if folded(p.name) == wanted and p.slug != wanted)

    def agent(self, name: str) -> Agent | None:
        """Return an agent by its name."""
        return next((a for a in self.agents if a.name == name), None)

    def as_json(self) -> dict[str, Any]:
        """Return the map as the log keeps it: nothing but JSON."""
        return {name: _lists(value) for name, value in asdict(self).items()}


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


def canonical(org: Org) -> Org:
    """Return the map in the form in which equal rights are equal values: sorted, nothing twice.

    Who may write may read, so what is in `write` is not in `read` too.
    """
    return replace(
        org,
        people=tuple(replace(p, **_sorted(p, "departments", "decides", "validates")) for p in org.people),
        agents=tuple(_levels(a) for a in org.agents),
        must_validate=ordered(org.must_validate),
    )


def ordered(values: Iterable[T]) -> tuple[T, ...]:
    """Return the values as a list of the map has them."""
    return tuple(sorted(set(values)))


def folded(name: str) -> str:
    """Return what makes two spellings the same name: case, Unicode form and white space do not count."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


def _levels(agent: Agent) -> Agent:
    return replace(
        agent,
        read=ordered(set(agent.read) - set(agent.write)),
        read_areas=ordered(set(agent.read_areas) - set(agent.write_areas)),
        **_sorted(agent, "write", "deny", "write_areas"),
    )


def _sorted(of: Person | Agent, *names: str) -> dict[str, Any]:
    return {name: ordered(getattr(of, name)) for name in names}


def _lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _lists(each) for name, each in value.items()}
    return [_lists(each) for each in value] if isinstance(value, list | tuple) else value


def _tuples(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}
