"""The operations by which the owner changes the org map: a fixed vocabulary, as a table.

Each is a pure change of the map, knows what undoes it, and can tell in plain words how things stand. Refusals name the
rule by a stable word.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from falsify.brain import org_sentences as tell
from falsify.brain.arguments import Arguments, agent_of, checked, person_of, refused, shown
from falsify.brain.org import Agent, Org, Person, ordered
from falsify.brain.org_file import NOBODY
from falsify.brain.org_sentences import Tell

Change = Callable[[Org, Arguments], Org]
"""Returns the map after the operation; refuses what would change nothing."""

Inverse = Callable[[Org, Arguments], tuple[str, Arguments]]
"""Returns the operation that leads back, seen from the map before."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A row: what it takes, what it does, what undoes it, and how the map tells of what it is about.

    `otherwise` are the arguments that may be left out, and what they are then.
    """

    takes: tuple[str, ...]
    does: str
    change: Change
    inverse: Inverse
    tell: Tell
    otherwise: tuple[tuple[str, str], ...] = ()


# --- people ---------------------------------------------------------------------------------------------------


def _person_list(name: str, argument: str, *, add: bool) -> Change:
    """Make a change that puts an argument into one of a person's lists, or takes it out."""

    def change(org: Org, arguments: Arguments) -> Org:
        person, value = person_of(org, arguments["slug"]), arguments[argument]
        values = _listed(getattr(person, name), value, add=add, whose=f"{name} of {person.slug}")
        changed: dict[str, Any] = {name: values}
        return _with_person(org, replace(person, **changed))

    return change


def _set_reports_to(org: Org, arguments: Arguments) -> Org:
    person, target = person_of(org, arguments["slug"]), _above(arguments)
    if person.reports_to == target:
        raise refused("no_change", f"{person.slug} reports to {target or 'nobody'} already")
    return _with_person(org, replace(person, reports_to=target))


def _report_as_before(org: Org, arguments: Arguments) -> tuple[str, Arguments]:
    person = person_of(org, arguments["slug"])
    return "set_reports_to", {"slug": person.slug, "target": person.reports_to or "none"}


def _of_person(sentence: Callable[[Org, Person], tell.Told]) -> Tell:
    return lambda org, arguments: sentence(org, person_of(org, arguments["slug"]))


# --- the organisation -----------------------------------------------------------------------------------------


def _validation(*, add: bool) -> Change:
    """Make a change of the categories whose decisions need a validation."""

    def change(org: Org, arguments: Arguments) -> Org:
        whose = "categories that need a validation"
        return replace(org, must_validate=_listed(org.must_validate, arguments["category"], add=add, whose=whose))

    return change


# --- agents ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ladder:
    """The rungs that an agent may have for a department or an area: none, read, and write, which is also read."""

    read: str
    write: str
    argument: str
    grants: str
    revokes: str

    def rung(self, agent: Agent, value: str) -> str:
        """Return "write", "read" or ""."""
        if value in getattr(agent, self.write):
            return "write"
        return "read" if value in getattr(agent, self.read) else ""

    def set(self, org: Org, agent: Agent, value: str, rung: str) -> Org:
        """Return the map with the agent on another rung."""
        read, write = (set(getattr(agent, name)) - {value} for name in (self.read, self.write))
        rungs = {"": set[str](), "read": read, "write": write}
        rungs[rung].add(value)
        changed: dict[str, Any] = {self.read: ordered(read), self.write: ordered(write)}
        return _with_agent(org, replace(agent, **changed))

    def grant(self, org: Org, arguments: Arguments) -> Org:
        """Step up to the rung that `mode` names."""
        agent, value, mode = agent_of(org, arguments["agent"]), arguments[self.argument], arguments["mode"]
        rung = self.rung(agent, value)
        if rung in (mode, "write"):
            raise refused("no_change", f"{agent.name} may {rung} {value} already")
        return self.set(org, agent, value, mode)

    def ungrant(self, org: Org, arguments: Arguments) -> tuple[str, Arguments]:
        """Lead back to the rung from which `grant` steps up."""
        agent, value = agent_of(org, arguments["agent"]), arguments[self.argument]
        mode = "write" if self.rung(agent, value) == "read" else "read"
        return self.revokes, {**arguments, "mode": mode}

    def revoke(self, org: Org, arguments: Arguments) -> Org:
        """Step down: without write there is still read; without read there is nothing."""
        agent, value, mode = agent_of(org, arguments["agent"]), arguments[self.argument], arguments["mode"]
        rung = self.rung(agent, value)
        if not rung or (mode == "write" and rung == "read"):
            raise refused("no_change", f"{agent.name} is not granted to {mode} {value}")
        return self.set(org, agent, value, "read" if mode == "write" else "")

    def unrevoke(self, org: Org, arguments: Arguments) -> tuple[str, Arguments]:
        """Lead back to the rung from which `revoke` steps down."""
        agent, value = agent_of(org, arguments["agent"]), arguments[self.argument]
        return self.grants, {**arguments, "mode": self.rung(agent, value) or arguments["mode"]}


_DEPARTMENTS = _Ladder("read", "write", "dept", "grant_department", "revoke_department")
_AREAS = _Ladder("read_areas", "write_areas", "area", "grant_area", "revoke_area")


def _denial(*, add: bool) -> Change:
    """Make a change of what an agent is denied."""

    def change(org: Org, arguments: Arguments) -> Org:
        agent = agent_of(org, arguments["agent"])
        denied = _listed(agent.deny, arguments["dept"], add=add, whose=f"denied departments of {agent.name}")
        return _with_agent(org, replace(agent, deny=denied))

    return change


def _of_agent(sentence: Callable[[Org, Agent], tell.Told]) -> Tell:
    return lambda org, arguments: sentence(org, agent_of(org, arguments["agent"]))


def _opposite(name: str) -> Inverse:
    return lambda _org, arguments: (name, arguments)


# --- the table ------------------------------------------------------------------------------------------------

OPERATIONS: Final[Mapping[str, Operation]] = {
    "assign_department": Operation(
        ("slug", "dept"),
        "put a person into a department",
        _person_list("departments", "dept", add=True),
        _opposite("unassign_department"),
        _of_person(tell.departments_of),
    ),
    "unassign_department": Operation(
        ("slug", "dept"),
        "take a person out of a department",
        _person_list("departments", "dept", add=False),
        _opposite("assign_department"),
        _of_person(tell.departments_of),
    ),
    "set_reports_to": Operation(
        ("slug", "target"),
        "say whom a person reports to; the target none, null or - is nobody",
        _set_reports_to,
        _report_as_before,
        _of_person(tell.reporting_of),
    ),
    "add_decides": Operation(
        ("slug", "category"),
        "let a person decide on a category",
        _person_list("decides", "category", add=True),
        _opposite("remove_decides"),
        _of_person(tell.decisions_of),
    ),
    "remove_decides": Operation(
        ("slug", "category"),
        "let a person decide on a category no more",
        _person_list("decides", "category", add=False),
        _opposite("add_decides"),
        _of_person(tell.decisions_of),
    ),
    "add_validates": Operation(
        ("slug", "category"),
        "let a person validate decisions on a category",
        _person_list("validates", "category", add=True),
        _opposite("remove_validates"),
        _of_person(tell.validations_of),
    ),
    "remove_validates": Operation(
        ("slug", "category"),
        "let a person validate decisions on a category no more",
        _person_list("validates", "category", add=False),
        _opposite("add_validates"),
        _of_person(tell.validations_of),
    ),
    "require_validation": Operation(
        ("category",),
        "let decisions on a category need a validation; somebody must validate it",
        _validation(add=True),
        _opposite("unrequire_validation"),
        lambda org, _: tell.must_validate(org),
    ),
    "unrequire_validation": Operation(
        ("category",),
        "let decisions on a category need no validation",
        _validation(add=False),
        _opposite("require_validation"),
        lambda org, _: tell.must_validate(org),
    ),
    "grant_department": Operation(
        ("agent", "dept", "mode"),
        "let an agent read a department, or (mode write) read it and propose pages to it",
        _DEPARTMENTS.grant,
        _DEPARTMENTS.ungrant,
        _of_agent(tell.access_of),
    ),
    "revoke_department": Operation(
        ("agent", "dept", "mode"),
        "take a grant back: mode write leaves the agent reading, mode read (or none) leaves it nothing",
        _DEPARTMENTS.revoke,
        _DEPARTMENTS.unrevoke,
        _of_agent(tell.access_of),
        (("mode", "read"),),
    ),
    "deny_department": Operation(
        ("agent", "dept"),
        "deny an agent a department, whatever it is granted",
        _denial(add=True),
        _opposite("allow_department"),
        _of_agent(tell.access_of),
    ),
    "allow_department": Operation(
        ("agent", "dept"),
        "deny it no more; what it is granted counts again",
        _denial(add=False),
        _opposite("deny_department"),
        _of_agent(tell.access_of),
    ),
    "grant_area": Operation(
        ("agent", "area", "mode"),
        "let an agent read an area in all departments, or (mode write) read it and propose pages of it",
        _AREAS.grant,
        _AREAS.ungrant,
        _of_agent(tell.areas_of),
    ),
    "revoke_area": Operation(
        ("agent", "area", "mode"),
        "take a grant back: mode write leaves the agent reading, mode read (or none) leaves it nothing",
        _AREAS.revoke,
        _AREAS.unrevoke,
        _of_agent(tell.areas_of),
        (("mode", "read"),),
    ),
}
"""Every operation by its name."""


def operation_of(name: object) -> Operation:
    """Return an operation by its name, or refuse."""
    known = f"the operations are {', '.join(OPERATIONS)}"
    if name is None:
        raise refused("missing_argument", "op is missing", known)
    operation = OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        raise refused("unknown_operation", f"there is no operation {shown(name)}", known)
    return operation


def arguments_of(org: Org, name: str, given: Mapping[str, object]) -> Arguments:
    """Return the arguments of an operation, each checked against the map; what is None or empty is not given."""
    operation = operation_of(name)
    said = {argument: value for argument, value in given.items() if value is not None and value != ""}
    return checked(org, name, operation.takes, {**dict(operation.otherwise), **said})


# --- what they share ------------------------------------------------------------------------------------------


def _listed(values: tuple[str, ...], value: str, *, add: bool, whose: str) -> tuple[str, ...]:
    """Return a list of the map with a value more, or less."""
    if add == (value in values):
        is_there = "is among" if add else "is not among"
        raise refused("no_change", f"{value} {is_there} the {whose}")
    return ordered((*values, value) if add else (each for each in values if each != value))


def _above(arguments: Arguments) -> str:
    return "" if arguments["target"] in NOBODY else arguments["target"]


def _with_person(org: Org, person: Person) -> Org:
    return replace(org, people=tuple(person if p.slug == person.slug else p for p in org.people))


def _with_agent(org: Org, agent: Agent) -> Org:
    return replace(org, agents=tuple(agent if a.name == agent.name else a for a in org.agents))
