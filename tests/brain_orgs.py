"""Organisations for tests: one that is written out, and strategies that make valid ones, their callers and pages."""

from dataclasses import dataclass
from pathlib import Path

import hypothesis.strategies as st

from falsify.brain.org import AREAS, GENERAL, Agent, Department, Org, Person, canonical
from falsify.brain.org_rules import errors
from falsify.brain.scope import SENSITIVITIES
from falsify.clock import SteppingClock
from falsify.log import EventLog
from falsify.recorders.memory import MemoryRecorder
from surfaces.brain import Brain
from surfaces.governance import import_org
from surfaces.workspace import Workspace

OWNER = "owner"

MAP = """\
owner: marie
departments:
  - {slug: commerce, name: Commerce, description: Sells.}
  - {slug: finance, name: Finance}
  - {slug: legal, name: Legal affairs}
people:
  - {slug: marie, name: Marie Durand, role: Founder, departments: [finance]}
  - {slug: bob, name: Bob Petit, role: Head of sales, departments: [commerce], reports_to: marie,
     decides: [discounts, pricing], validates: [pricing]}
  - {slug: lea, name: Léa Morel, role: Lawyer, departments: [legal, finance], reports_to: marie, validates: [contracts]}
agents:
  - {name: crm, read: [commerce, finance], write: [commerce], deny: [finance], areas: {read: [clients]}}
  - {name: clerk, read: [legal]}
must_validate: [pricing]
"""

DEPARTMENTS = ("commerce", "finance", "legal", "support")
CATEGORIES = ("pricing", "hiring", "contracts")
PEOPLE = ("ann", "bob", "cid", "dee")


@dataclass(frozen=True, slots=True)
class Place:
    """All that a scope looks at of a page."""

    rel_path: str
    department: str
    area: str
    sensitivity: str


def brain_at(root: Path, text: str = MAP) -> Brain:
    """Return a brain whose log is in memory; without text, one that is not built."""
    (root / ".falsify").mkdir(parents=True, exist_ok=True)
    clock = SteppingClock()
    workspace = Workspace(root, environ={}, clock=clock, log=EventLog(MemoryRecorder(), clock=clock))
    brain = Brain(workspace)
    if text:
        import_org(brain, text, caller=OWNER)
    return brain


def _some(values):
    return st.lists(st.sampled_from(values), unique=True, max_size=3).map(lambda some: tuple(sorted(some)))


@st.composite
def _people(draw):
    """Draw people who report to those before them; the first is the owner."""
    slugs = PEOPLE[: draw(st.integers(1, len(PEOPLE)))]
    return tuple(
        Person(
            slug=slug,
            name=slug.title(),
            departments=draw(_some(DEPARTMENTS)) or (GENERAL,),
            reports_to=draw(st.sampled_from(("", *slugs[:at]))) if at else "",
            decides=draw(_some(CATEGORIES)),
            validates=draw(_some(CATEGORIES)),
        )
        for at, slug in enumerate(slugs)
    )


_departments = _some((*DEPARTMENTS, GENERAL))

agents = st.builds(
    Agent,
    name=st.just("bot"),
    read=_departments,
    write=_departments,
    deny=_some((*DEPARTMENTS, *AREAS)),
    read_areas=_some(AREAS),
    write_areas=_some(AREAS),
)


@st.composite
def orgs(draw):
    """Draw a valid map in canonical form."""
    people = draw(_people())
    validated = sorted({category for person in people for category in person.validates})
    org = canonical(
        Org(
            owner=people[0].slug,
            departments=tuple(Department(slug=slug, name=slug.title()) for slug in DEPARTMENTS),
            people=people,
            agents=draw(st.sampled_from(((), (draw(agents),)))),
            must_validate=draw(_some(validated)) if validated else (),
            ceilings={"mcp": draw(st.sampled_from(SENSITIVITIES)), "web": draw(st.sampled_from(SENSITIVITIES))},
        )
    )
    assert errors(org) == []
    return org


callers = st.sampled_from(
    (OWNER, *(f"person:{slug}" for slug in (*PEOPLE, "nobody")), "agent:bot", "agent:other", "x:bot")
)
behalves = st.sampled_from(("", *PEOPLE, "nobody", "person:ann", "agent:bot"))

_steps = st.sampled_from(("memory", "commerce", "personal", "Personal", "x.md", "", ".", "..", "personal.md"))

places = st.builds(
    Place,
    rel_path=st.one_of(st.just("memory/x.md"), st.lists(_steps, min_size=1, max_size=4).map("/".join)),
    department=st.sampled_from((*DEPARTMENTS, GENERAL, "unheard-of")),
    area=st.sampled_from(("", *AREAS)),
    sensitivity=st.sampled_from(SENSITIVITIES),
)
