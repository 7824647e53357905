"""What leads from one org map to another: the operations for it, and what no operation can change."""

from collections.abc import Iterator
from typing import Final

from falsify.brain.arguments import Arguments
from falsify.brain.operations import OPERATIONS
from falsify.brain.org import Agent, Org, Person

Step = tuple[str, Arguments]
"""An operation and its arguments."""

_ORDER: Final = (
    *("assign_department", "add_decides", "add_validates", "require_validation", "set_reports_to"),
    *("grant_department", "grant_area", "deny_department", "allow_department", "revoke_department", "revoke_area"),
    *("unrequire_validation", "remove_validates", "remove_decides", "unassign_department"),
)
"""What comes first, so that nobody is without a department and nothing without a validator on the way."""

_PERSON_LISTS: Final = (
    ("departments", "dept", "assign_department", "unassign_department"),
    ("decides", "category", "add_decides", "remove_decides"),
    ("validates", "category", "add_validates", "remove_validates"),
)

_PARTS: Final = ("owner", "departments", "people", "agents", "ceilings", "meta_approval")


def steps(before: Org, after: Org) -> list[Step]:
    """Return the operations that lead from one canonical map to another, as far as operations can."""
    return sorted(_steps(before, after), key=lambda step: _ORDER.index(step[0]))


def left_over(before: Org, after: Org) -> list[str]:
    """Return the parts of the map that still differ after all `steps`."""
    reached = before
    for op, arguments in steps(before, after):
        reached = OPERATIONS[op].change(reached, arguments)
    return [name for name in _PARTS if getattr(reached, name) != getattr(after, name)]


def _steps(before: Org, after: Org) -> Iterator[Step]:
    for category in sorted({*before.must_validate} ^ {*after.must_validate}):
        op = "require_validation" if category in after.must_validate else "unrequire_validation"
        yield op, {"category": category}
    wanted = {person.slug: person for person in after.people}
    for person in before.people:
        if person.slug in wanted:
            yield from _person_steps(person, wanted[person.slug])
    meant = {agent.name: agent for agent in after.agents}
    for agent in before.agents:
        if agent.name in meant:
            yield from _agent_steps(agent, meant[agent.name])


def _person_steps(before: Person, after: Person) -> Iterator[Step]:
    for name, argument, add, remove in _PERSON_LISTS:
        had, has = set(getattr(before, name)), set(getattr(after, name))
        for value in sorted(had ^ has):
            yield (add if value in has else remove), {"slug": before.slug, argument: value}
    if before.reports_to != after.reports_to:
        yield "set_reports_to", {"slug": before.slug, "target": after.reports_to or "none"}


def _agent_steps(before: Agent, after: Agent) -> Iterator[Step]:
    for value in sorted({*before.deny} ^ {*after.deny}):
        op = "deny_department" if value in after.deny else "allow_department"
        yield op, {"agent": before.name, "dept": value}
    yield from _rungs(before.name, "dept", "department", (before.read, before.write), (after.read, after.write))
    areas = (before.read_areas, before.write_areas), (after.read_areas, after.write_areas)
    yield from _rungs(before.name, "area", "area", *areas)


_Rungs = tuple[tuple[str, ...], tuple[str, ...]]
"""What may be read and no more, and what may be written."""


def _rungs(agent: str, argument: str, what: str, before: _Rungs, after: _Rungs) -> Iterator[Step]:
    for value in sorted({*before[0], *before[1], *after[0], *after[1]}):
        had, has = _rung(before, value), _rung(after, value)
        if has > had:
            yield f"grant_{what}", {"agent": agent, argument: value, "mode": ("read", "write")[has - 1]}
        elif has < had:
            yield f"revoke_{what}", {"agent": agent, argument: value, "mode": "write" if has else "read"}


def _rung(lists: _Rungs, value: str) -> int:
    """Return 2 for what may be written, 1 for what may be read, 0 for what is not granted."""
    return 2 if value in lists[1] else int(value in lists[0])
