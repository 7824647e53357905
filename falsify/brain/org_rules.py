"""What an org map must be before it is accepted, as a table of rules.

An error keeps a map, or an operation that would lead to it, from being accepted; a warning is told and no more.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from falsify.brain.org import AREAS, GENERAL, Agent, Org, Person, folded
from falsify.brain.scope import reach

Steps = tuple[str | int, ...]
"""The way to a part of memory/org.yaml: keys, and places in lists."""

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a map and where in the file; `rule` is a stable word for what it breaks."""

    rule: str
    path: Steps
    message: str
    hint: str = ""

    @property
    def severity(self) -> Severity:
        """Whether it keeps the map from being accepted."""
        return SEVERITIES[self.rule]


SEVERITIES: Final[Mapping[str, Severity]] = {
    "duplicate": "error",
    "ambiguous_name": "error",
    "unknown_department": "error",
    "unknown_person": "error",
    "ownership": "error",
    "cycle": "error",
    "orphan": "error",
    "no_validator": "error",
    "namesake": "warning",
    "empty_department": "warning",
    "reports_to_nobody": "warning",
    "unknown_category": "warning",
    "self_validation": "warning",
    "denied_grant": "warning",
}
"""Every rule by its word. A person without a department is an error, as they would see nothing of their own; a
department without people may be there before they are."""


def faults(org: Org) -> list[Fault]:
    """Return all that is wrong with a map, the errors first, each kind in the order of the file's rules."""
    found = [fault for rule in _RULES for fault in rule(org)]
    return sorted(found, key=lambda fault: fault.severity != "error")


def errors(org: Org) -> list[Fault]:
    """Return what keeps a map from being accepted."""
    return [fault for fault in faults(org) if fault.severity == "error"]


def widened(before: Org, after: Org) -> Iterator[tuple[str, str]]:
    """Yield who may see or change more than before (`person:<slug>`, `agent:<name>`), and what, in plain words."""
    for identity in identities(after):
        gained = reach(after, identity) - reach(before, identity)
        read = {(department, area) for department, area, access in gained if access == "read"}
        write = {(department, area) for department, area, access in gained if access == "write"}
        if read:
            yield identity, f"may read more ({_places(read)})"
        if write:
            yield identity, f"may propose more ({_places(write)})"


def moved(before: Org, after: Org) -> list[str]:
    """Return the identities whose scope differs between two maps."""
    every = sorted({*identities(before), *identities(after)})
    return [identity for identity in every if reach(before, identity) != reach(after, identity)]


def identities(org: Org) -> Iterator[str]:
    """Yield all people and agents of a map as they call."""
    yield from (f"person:{person.slug}" for person in org.people)
    yield from (f"agent:{agent.name}" for agent in org.agents)


# --- the rules ------------------------------------------------------------------------------------------------


def _duplicates(org: Org) -> Iterator[Fault]:
    yield from _twice("departments", [d.slug for d in org.departments], "slug")
    yield from _twice("people", [p.slug for p in org.people], "slug")
    yield from _twice("agents", [a.name for a in org.agents], "name")
    yield from _repeated(("must_validate",), org.must_validate)
    for at, person in enumerate(org.people):
        for name in ("departments", "decides", "validates"):
            yield from _repeated(("people", at, name), getattr(person, name))
    for at, agent in enumerate(org.agents):
        for path, values in _agent_lists(at, agent):
            yield from _repeated(path, values)


def _names(org: Org) -> Iterator[Fault]:
    """Names by which something is looked up must lead to one thing."""
    taken = {d.slug: at for at, d in enumerate(org.departments)}
    for at, department in enumerate(org.departments):
        first = taken.setdefault(folded(department.name), at)
        if first != at:
            message = f"the name {department.name!r} is taken by the department {org.departments[first].slug!r}"
            yield Fault("ambiguous_name", ("departments", at, "name"), message, "give each department its own name")
    called = Counter(folded(person.name) for person in org.people)
    for at, person in enumerate(org.people):
        if called[folded(person.name)] > 1:
            message = f"several people are called {person.name!r}; by this name the first is found"
            yield Fault("namesake", ("people", at, "name"), message, "look them up by slug")


def _references(org: Org) -> Iterator[Fault]:
    departments = {d.slug for d in org.departments} | {GENERAL}
    known = f"the departments are {', '.join(sorted(departments))}"
    for at, person in enumerate(org.people):
        yield from _strangers(("people", at, "departments"), person.departments, departments, known)
        if person.reports_to and not _is_person(org, person.reports_to):
            message = f"{person.slug} reports to {person.reports_to!r}, who is not on the map"
            yield Fault("unknown_person", ("people", at, "reports_to"), message, "name the slug of a person, or nobody")
    for at, agent in enumerate(org.agents):
        for name in ("read", "write"):
            yield from _strangers(("agents", at, name), getattr(agent, name), departments, known)
        allowed = departments | set(AREAS)
        yield from _strangers(("agents", at, "deny"), agent.deny, allowed, f"{known}; the areas {', '.join(AREAS)}")


def _ownership(org: Org) -> Iterator[Fault]:
    owner = next(((at, p) for at, p in enumerate(org.people) if p.slug == org.owner), None)
    if owner is None:
        message = f"the owner {org.owner!r} is not among the people"
        yield Fault("unknown_person", ("owner",), message, "list them under `people`")
    elif owner[1].reports_to:
        message = f"the owner {org.owner} would report to {owner[1].reports_to}, and own nothing by themselves"
        yield Fault("ownership", ("people", owner[0], "reports_to"), message, "the owner reports to nobody")


def _cycles(org: Org) -> Iterator[Fault]:
    """Tell of each circle once, at the first of it on the map."""
    above = {person.slug: person.reports_to for person in org.people}
    told: set[str] = set()
    for at, person in enumerate(org.people):
        line = _line(above, person.slug)
        if above.get(line[-1]) == person.slug and not told & set(line):
            told |= set(line)
            message = f"they report to each other in a circle: {' -> '.join((*line, person.slug))}"
            yield Fault("cycle", ("people", at, "reports_to"), message, "somebody of them must report elsewhere")


def _orphans(org: Org) -> Iterator[Fault]:
    populated = {slug for person in org.people for slug in person.departments}
    for at, department in enumerate(org.departments):
        if department.slug not in populated:
            message = f"nobody is in the department {department.slug!r}"
            yield Fault("empty_department", ("departments", at), message, "assign somebody to it")
    for at, person in enumerate(org.people):
        if person.slug == org.owner:
            continue
        if not person.departments:
            message = f"{person.slug} is in no department"
            yield Fault("orphan", ("people", at), message, f"assign them to one, or to {GENERAL!r}")
        if not person.reports_to:
            message = f"{person.slug} reports to nobody"
            yield Fault("reports_to_nobody", ("people", at), message, "only the owner needs to report to nobody")


def _validation(org: Org) -> Iterator[Fault]:
    validated = {category for person in org.people for category in person.validates}
    decided = {category for person in org.people for category in person.decides}
    for at, category in enumerate(org.must_validate):
        if category not in validated:
            message = f"decisions on {category!r} need a validation, and nobody validates them"
            yield Fault("no_validator", ("must_validate", at), message, "let somebody validate them")
        elif _alone(org.people, category):
            message = f"who decides on {category!r} is the only one who validates it"
            yield Fault("self_validation", ("must_validate", at), message, "let somebody else validate them too")
    for at, person in enumerate(org.people):
        for place, category in enumerate(person.validates):
            if category not in decided and category not in org.must_validate:
                message = (
                    f"{person.slug} validates {category!r}, which nobody decides on and which need not be validated"
                )
                yield Fault("unknown_category", ("people", at, "validates", place), message, "is it written right?")


def _denials(org: Org) -> Iterator[Fault]:
    for at, agent in enumerate(org.agents):
        for path, values in _agent_lists(at, agent):
            for place, value in enumerate(values):
                if path[-1] != "deny" and value in agent.deny:
                    message = f"{agent.name} is granted {value!r} and denied it; it is denied"
                    yield Fault("denied_grant", (*path, place), message, "remove one of the two")


_RULES: Final[tuple[Callable[[Org], Iterator[Fault]], ...]] = (
    _duplicates,
    _names,
    _references,
    _ownership,
    _cycles,
    _orphans,
    _validation,
    _denials,
)


# --- what they share ------------------------------------------------------------------------------------------


def _twice(part: str, names: list[str], key: str) -> Iterator[Fault]:
    for at, name in enumerate(names):
        if name in names[:at]:
            yield Fault("duplicate", (part, at, key), f"{name!r} is there twice among the {part}", "keep one of them")


def _repeated(path: Steps, values: tuple[str, ...]) -> Iterator[Fault]:
    for at, value in enumerate(values):
        if value in values[:at]:
            yield Fault("duplicate", (*path, at), f"{value!r} is listed twice", "keep it once")


def _strangers(path: Steps, values: Iterable[str], known: set[str], hint: str) -> Iterator[Fault]:
    for at, value in enumerate(values):
        if value not in known:
            yield Fault("unknown_department", (*path, at), f"there is no department {value[:80]!r}", hint)


def _agent_lists(at: int, agent: Agent) -> Iterator[tuple[Steps, tuple[str, ...]]]:
    for name in ("read", "write", "deny"):
        yield ("agents", at, name), getattr(agent, name)
    yield ("agents", at, "areas", "read"), agent.read_areas
    yield ("agents", at, "areas", "write"), agent.write_areas


def _is_person(org: Org, slug: str) -> bool:
    return any(person.slug == slug for person in org.people)


def _line(above: Mapping[str, str], slug: str) -> list[str]:
    """Return who stands above somebody, nearest first and they themselves before them, until it repeats or ends."""
    line = [slug]
    while (following := above.get(line[-1], "")) and following not in line:
        line.append(following)
    return line


def _alone(people: Iterable[Person], category: str) -> bool:
    """Return whether one person alone both decides and validates what is of a category."""
    validators = [p for p in people if category in p.validates]
    deciders = [p for p in people if category in p.decides]
    return len(validators) == 1 and deciders == validators


def _places(places: set[tuple[str, str]]) -> str:
    """Return departments and areas in words; an area that is open everywhere is told by itself."""
    departments = sorted({d for d, a in places if d and a == ""})
    areas = sorted({a for d, a in places if a and d not in departments})
    told = [*(f"department {d}" for d in departments), *(f"area {a}" for a in areas)]
    return ", ".join(told)
