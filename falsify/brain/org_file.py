"""The org map as people write it, memory/org.yaml: its input model, and back."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Final

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from falsify.brain.org import AREAS, Agent, Area, Department, Org, Person, canonical
from falsify.brain.scope import SENSITIVITIES, Sensitivity

PATH: Final = "memory/org.yaml"
"""Where the map lies in a folder of pages; it is no page."""

WHAT: Final = "map of an organisation"
BEGINS: Final = "it starts with `owner: SLUG`; see docs/brain-governance.md"

CEILINGS: Final[Mapping[str, Sensitivity]] = {"mcp": "internal", "web": "confidential"}
"""The most sensitive pages that a destination is served where the file does not say."""

NOBODY: Final = frozenset({"none", "null", "-"})
"""How a person who reports to nobody is written; no person may be called so."""

_TAKEN: Final = frozenset({*AREAS, "entities", "packs", "traces", "personal"})
"""What below memory/ is no department, and what `deny` would take for an area."""


def _matching(pattern: str, form: str, taken: frozenset[str] = frozenset()) -> AfterValidator:
    """Refuse text of another form, and what means something else already."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{text[:80]!r} is not {form}")
        if text in taken:
            raise ValueError(f"{text!r} is taken: it means something else")
        return text

    return AfterValidator(check)


def _one_line(text: str) -> str:
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in text):
        raise ValueError("it must be one line without control characters")
    return " ".join(text.split())


def _name(text: str) -> str:
    if not (name := _one_line(text)):
        raise ValueError("it is empty")
    return name


_SLUG = r"[a-z0-9][a-z0-9-]{0,63}"
_WORD = r"[a-z0-9][a-z0-9_-]{0,63}"
_FORM = "a slug: lower-case letters, digits and -, 64 characters at most"

DepartmentSlug = Annotated[str, _matching(_WORD, _FORM.replace(" and", ", _ and"), _TAKEN)]
PersonSlug = Annotated[str, _matching(_SLUG, _FORM, NOBODY)]
AgentName = Annotated[
    str,
    _matching(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", "a name of letters, digits, _ . and -", frozenset({"personal"})),
]
Category = Annotated[str, _matching(_WORD, _FORM.replace(" and", ", _ and"))]
Name = Annotated[str, Field(max_length=200), AfterValidator(_name)]
Remark = Annotated[str, Field(max_length=500), AfterValidator(_one_line)]
Slugs = Annotated[tuple[str, ...], Field(strict=False)]


class Part(BaseModel):
    """A part of the file; a key it does not know is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DepartmentEntry(Part):
    """A department; pages in the folder of that name belong to it."""

    slug: DepartmentSlug
    name: Name
    description: Remark = ""


class PersonEntry(Part):
    """Somebody of the organisation."""

    slug: PersonSlug
    name: Name
    role: Remark = ""
    departments: Slugs = ()
    reports_to: str | None = None
    decides: Annotated[tuple[Category, ...], Field(strict=False)] = ()
    validates: Annotated[tuple[Category, ...], Field(strict=False)] = ()


class Areas(Part):
    """Curated areas that an agent may read, or read and write, in all departments."""

    read: Annotated[tuple[Area, ...], Field(strict=False)] = ()
    write: Annotated[tuple[Area, ...], Field(strict=False)] = ()


class AgentEntry(Part):
    """A program. `read`, `write` and `deny` are departments; `deny` may hold areas too."""

    name: AgentName
    read: Slugs = ()
    write: Slugs = ()
    deny: Slugs = ()
    areas: Areas = Areas()


class Policy(Part):
    """The most sensitive pages that a destination is served."""

    mcp: Sensitivity = CEILINGS["mcp"]
    web: Sensitivity = CEILINGS["web"]


class OrgFile(Part):
    """The whole file."""

    owner: PersonSlug
    departments: Annotated[tuple[DepartmentEntry, ...], Field(strict=False)] = ()
    people: Annotated[tuple[PersonEntry, ...], Field(strict=False)] = ()
    agents: Annotated[tuple[AgentEntry, ...], Field(strict=False)] = ()
    must_validate: Annotated[tuple[Category, ...], Field(strict=False)] = ()
    destination_policy: Policy = Policy()
    meta_approval: bool = False


def is_category(text: str) -> bool:
    """Return whether a category of decisions can be called so."""
    return re.fullmatch(_WORD, text) is not None


def org_in(file: OrgFile) -> Org:
    """Return the map that the file draws, every list as it was written: not checked, and not canonical yet."""
    return Org(
        owner=file.owner,
        departments=tuple(Department(**each.model_dump()) for each in file.departments),
        people=tuple(Person(**{**each.model_dump(), "reports_to": each.reports_to or ""}) for each in file.people),
        agents=tuple(
            Agent(**each.model_dump(exclude={"areas"}), read_areas=each.areas.read, write_areas=each.areas.write)
            for each in file.agents
        ),
        must_validate=file.must_validate,
        ceilings=file.destination_policy.model_dump(),
        meta_approval=file.meta_approval,
    )


def org_yaml(org: Org) -> str:
    """Return the file that draws the map."""
    known = {name: ceiling for name, ceiling in org.ceilings.items() if ceiling in SENSITIVITIES}
    drawn = {
        "owner": org.owner,
        "departments": [_said(slug=d.slug, name=d.name, description=d.description) for d in org.departments],
        "people": [_person(person) for person in canonical(org).people],
        "agents": [_agent(agent) for agent in canonical(org).agents],
        "must_validate": list(canonical(org).must_validate),
        "destination_policy": known,
        "meta_approval": org.meta_approval,
    }
    text: str = yaml.safe_dump(drawn, sort_keys=False, allow_unicode=True, width=120)
    return text


def _person(person: Person) -> dict[str, Any]:
    return _said(
        slug=person.slug,
        name=person.name,
        role=person.role,
        departments=list(person.departments),
        reports_to=person.reports_to,
        decides=list(person.decides),
        validates=list(person.validates),
    )


def _agent(agent: Agent) -> dict[str, Any]:
    areas = _said(read=list(agent.read_areas), write=list(agent.write_areas))
    return _said(name=agent.name, read=list(agent.read), write=list(agent.write), deny=list(agent.deny), areas=areas)


def _said(**values: Any) -> dict[str, Any]:
    """Return the values without those that say nothing."""
    return {name: value for name, value in values.items() if value}
