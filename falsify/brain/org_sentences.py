"""What an org map says of somebody, in plain English and plain French: the same function tells before and after."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from falsify.brain.org import Agent, Org, Person

Told = dict[str, str]
"""The same sentence in both languages: `{"fr": ..., "en": ...}`."""

Tell = Callable[[Org, Mapping[str, str]], Told]
"""Tells what an operation with these arguments is about."""

_AREAS_FR: Final[Mapping[str, str]] = {
    "clients": "clients",
    "suppliers": "fournisseurs",
    "employees": "salariés",
    "decisions": "décisions",
    "timeline": "chronologie",
}


def departments_of(org: Org, person: Person) -> Told:
    """Tell which departments a person is in."""
    names = _names(org, person.departments)
    return _told(
        fr=f"{_who(person)} appartient à : {_et(names)}."
        if names
        else f"{_who(person)} n'appartient à aucun département.",
        en=f"{_who(person)} is in: {_and(names)}." if names else f"{_who(person)} is in no department.",
    )


def reporting_of(org: Org, person: Person) -> Told:
    """Tell whom a person reports to."""
    above = next((_who(p) for p in org.people if p.slug == person.reports_to), person.reports_to)
    return _told(
        fr=f"{_who(person)} rend compte à {above}." if above else f"{_who(person)} ne rend compte à personne.",
        en=f"{_who(person)} reports to {above}." if above else f"{_who(person)} reports to nobody.",
    )


def decisions_of(_org: Org, person: Person) -> Told:
    """Tell what a person decides on."""
    what = person.decides
    return _told(
        fr=f"{_who(person)} décide de : {_et(what)}." if what else f"{_who(person)} ne décide de rien.",
        en=f"{_who(person)} decides on: {_and(what)}." if what else f"{_who(person)} decides on nothing.",
    )


def validations_of(_org: Org, person: Person) -> Told:
    """Tell what decisions a person validates."""
    what = person.validates
    return _told(
        fr=f"{_who(person)} valide : {_et(what)}." if what else f"{_who(person)} ne valide rien.",
        en=f"{_who(person)} validates: {_and(what)}." if what else f"{_who(person)} validates nothing.",
    )


def must_validate(org: Org) -> Told:
    """Tell which decisions need a validation."""
    what = org.must_validate
    return _told(
        fr=f"Doivent être validées les décisions sur : {_et(what)}."
        if what
        else "Aucune décision ne doit être validée.",
        en=f"Decisions that need a validation: {_and(what)}." if what else "No decision needs a validation.",
    )


def access_of(org: Org, agent: Agent) -> Told:
    """Tell which departments an agent may read, propose pages to, and is denied."""
    read = _names(org, sorted({*agent.read, *agent.write}))
    write, deny = _names(org, agent.write), _names(org, agent.deny)
    denied_fr = f" Lui sont interdits, quoi qu'il lui soit accordé : {_et(deny)}." if deny else ""
    denied_en = f" It is denied, whatever it is granted: {_and(deny)}." if deny else ""
    return _told(
        fr=f"L'agent {agent.name} peut lire : {_et(read) or 'aucun département'}. "
        f"Il peut proposer des pages dans : {_et(write) or 'aucun département'}.{denied_fr}",
        en=f"The agent {agent.name} may read: {_and(read) or 'no department'}. "
        f"It may propose pages to: {_and(write) or 'no department'}.{denied_en}",
    )


def areas_of(_org: Org, agent: Agent) -> Told:
    """Tell which curated areas an agent may read and propose pages to, in all departments."""
    read, write = sorted({*agent.read_areas, *agent.write_areas}), list(agent.write_areas)
    read_fr, write_fr = ([_AREAS_FR[area] for area in areas] for areas in (read, write))
    return _told(
        fr=f"L'agent {agent.name} peut lire, dans tous les départements : {_et(read_fr) or 'aucun domaine'}. "
        f"Il peut y proposer des pages de : {_et(write_fr) or 'aucun domaine'}.",
        en=f"The agent {agent.name} may read, across all departments: {_and(read) or 'no area'}. "
        f"It may propose pages there of: {_and(write) or 'no area'}.",
    )


def joined(*told: Told) -> Told:
    """Return several sentences as one text."""
    return _told(fr=" ".join(each["fr"] for each in told), en=" ".join(each["en"] for each in told))


def _told(*, fr: str, en: str) -> Told:
    return {"fr": fr, "en": en}


def _who(person: Person) -> str:
    return f"{person.name} ({person.slug})"


def _names(org: Org, slugs: Iterable[str]) -> list[str]:
    """Return the display names of departments; what is none is called as it is written."""
    names = {department.slug: department.name for department in org.departments}
    return [names.get(slug, slug) for slug in slugs]


def _and(words: Sequence[str]) -> str:
    return _listed(words, "and")


def _et(words: Sequence[str]) -> str:
    return _listed(words, "et")


def _listed(words: Sequence[str], last: str) -> str:
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else "".join(words)
