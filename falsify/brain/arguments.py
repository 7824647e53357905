"""The arguments of an operation on the org map, as strangers give them: checked against the map, refused by a word."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from falsify.brain.org import AREAS, GENERAL, Agent, Org, Person
from falsify.brain.org_file import NOBODY, is_category
from falsify.errors import RefusedError

ADDING: Final = (
    "No operation adds one: write it into what `falsify brain org show` prints, and accept that with "
    "`falsify brain org import FILE --replace`"
)
"""How a department, a person or an agent comes onto the map."""

Arguments = Mapping[str, str]
"""The arguments of an operation by the names that the tools give them, none empty."""


def refused(reason: str, message: str, hint: str = "") -> RefusedError:
    """Return the refusal of an operation; `reason` is a stable word."""
    return RefusedError(message, hint=hint, reason=reason)


def shown(value: object) -> str:
    """Return what somebody wrote as an error can repeat it."""
    return ascii(value)[:80]


def checked(org: Org, name: str, takes: Sequence[str], said: Mapping[str, object]) -> Arguments:
    """Return the arguments that an operation takes, in that order.

    Refuses what is missing, what the operation does not take, and what is not on the map.
    """
    hint = f"{name} takes {', '.join(takes)}"
    unexpected = sorted(set(said) - set(takes))
    if unexpected:
        raise refused("unexpected_argument", f"{name} does not take {shown(unexpected[0])}", hint)
    missing = [argument for argument in takes if argument not in said]
    if missing:
        raise refused("missing_argument", f"{name} needs {missing[0]}", hint)
    return {argument: _CHECKS[argument](org, said[argument]) for argument in takes}


def person_of(org: Org, slug: str) -> Person:
    """Return a person by slug, or refuse."""
    person = next((p for p in org.people if p.slug == slug), None)
    if person is None:
        known = ", ".join(sorted(p.slug for p in org.people))
        hint = f"the people are {known}" if known else "there is nobody yet"
        raise refused("unknown_person", f"there is no person {shown(slug)}", f"{hint}. {ADDING}")
    return person


def agent_of(org: Org, name: str) -> Agent:
    """Return an agent by its name, or refuse."""
    agent = org.agent(name)
    if agent is None:
        known = ", ".join(sorted(a.name for a in org.agents))
        hint = f"the agents are {known}" if known else "there is no agent yet"
        raise refused("unknown_agent", f"there is no agent {shown(name)}", f"{hint}. {ADDING}")
    return agent


def _text(argument: str, value: object) -> str:
    if not isinstance(value, str):
        raise refused("invalid_argument", f"{argument} must be text, not {shown(value)}")
    return value.strip()


def _slug(org: Org, value: object) -> str:
    return person_of(org, _text("slug", value)).slug


def _dept(org: Org, value: object) -> str:
    known = sorted({GENERAL, *(d.slug for d in org.departments)})
    return _among("unknown_department", "department", _text("dept", value), known, more=f". {ADDING}")


def _target(org: Org, value: object) -> str:
    target = _text("target", value)
    return "none" if target.lower() in NOBODY else person_of(org, target).slug


def _category(_org: Org, value: object) -> str:
    category = _text("category", value)
    if not is_category(category):
        message = f"{shown(category)} cannot be a category"
        raise refused("invalid_category", message, "write lower-case letters, digits, _ and -, 64 characters at most")
    return category


def _agent(org: Org, value: object) -> str:
    return agent_of(org, _text("agent", value)).name


def _area(_org: Org, value: object) -> str:
    return _among("unknown_area", "area", _text("area", value), AREAS)


def _mode(_org: Org, value: object) -> str:
    return _among("unknown_mode", "mode", _text("mode", value), ("read", "write"))


_CHECKS: Final[Mapping[str, Callable[[Org, object], str]]] = {
    "slug": _slug,
    "dept": _dept,
    "target": _target,
    "category": _category,
    "agent": _agent,
    "area": _area,
    "mode": _mode,
}


def _among(reason: str, what: str, value: str, known: Collection[str], *, more: str = "") -> str:
    if value not in known:
        raise refused(reason, f"there is no {what} {shown(value)}", f"it is one of {', '.join(known)}{more}")
    return value
