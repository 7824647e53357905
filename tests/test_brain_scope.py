"""What a caller may see: narrowing never adds, a denial always wins, and SQL narrows as Python does."""

import sqlite3
from dataclasses import astuple, replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from falsify.brain.org import AREAS, GENERAL, Agent, Org
from falsify.brain.scope import SENSITIVITIES, may_write, reach, readable, scope_of
from tests.brain_orgs import DEPARTMENTS, PEOPLE, Place, agents, behalves, callers, orgs, places

EVERY_PLACE = [
    Place("memory/x.md", department, area, "public")
    for department in (*DEPARTMENTS, GENERAL, "unheard-of")
    for area in ("", *AREAS)
]
destinations = st.sampled_from(("cli", "mcp", "web"))


@given(orgs(), callers, behalves, destinations, places)
def test_asking_on_behalf_of_somebody_sees_what_both_see_and_nothing_more(org, caller, behalf, destination, place):
    together = scope_of(org, caller, on_behalf_of=behalf, destination=destination)
    alone = scope_of(org, caller, destination=destination)
    other = scope_of(org, f"person:{behalf.removeprefix('person:')}", destination=destination)
    assert together.sees(place) == (alone.sees(place) and (not behalf or other.sees(place)))


@given(orgs(), agents, st.sampled_from((*DEPARTMENTS, *AREAS)), places)
def test_what_is_denied_is_neither_read_nor_written_whatever_is_granted(org, agent, denied, place):
    agent = replace(agent, deny=(*agent.deny, denied))
    org = replace(org, agents=(agent,))
    if denied in (place.department, place.area):
        assert not scope_of(org, "agent:bot").admits(place)
        assert not may_write(org, "agent:bot", place.department, place.area)


@given(orgs(), callers, behalves, destinations, st.lists(places, max_size=12))
def test_sql_narrows_to_the_pages_that_python_sees(org, caller, behalf, destination, some):
    scope = scope_of(org, caller, on_behalf_of=behalf, destination=destination)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE pages (rel_path TEXT, department TEXT, area TEXT, sensitivity TEXT)")
    database.executemany("INSERT INTO pages VALUES (?, ?, ?, ?)", map(astuple, some))
    for table in ("", "pages"):
        condition, parameters = scope.where(table)
        rows = database.execute(f"SELECT * FROM pages WHERE {condition}", parameters).fetchall()  # noqa: S608 - it is what is tested
        assert rows == [astuple(place) for place in some if scope.sees(place)]
    database.close()


@given(orgs(), callers, behalves)
def test_a_scope_is_empty_exactly_when_it_admits_no_page(org, caller, behalf):
    scope = scope_of(org, caller, on_behalf_of=behalf)
    assert scope.empty == (not any(map(scope.admits, EVERY_PLACE)))


@given(orgs(), callers)
def test_the_reach_of_an_identity_is_what_it_may_read_and_write(org, caller):
    scope, known = scope_of(org, caller), [place for place in EVERY_PLACE if place.department != "unheard-of"]
    every = reach(org, caller)
    assert {(p.department, p.area) for p in known if scope.admits(p)} == {
        (d, a) for d, a, x in every if x == "read" and d
    }
    assert {(p.department, p.area) for p in known if may_write(org, caller, p.department, p.area)} == {
        (d, a) for d, a, x in every if x == "write" and d
    }


@given(
    orgs(),
    st.sampled_from(("person:nobody", "agent:nobody", "x:bot", "x:ann", "bot", "", "person:", "agent:", "OWNER")),
)
def test_who_is_not_on_the_map_sees_nothing(org, caller):
    scope = scope_of(org, caller)
    assert scope.empty
    assert not any(map(scope.admits, EVERY_PLACE))
    assert not any(map(scope.sees_department, DEPARTMENTS))


@given(orgs(), st.sampled_from(SENSITIVITIES), st.sampled_from(SENSITIVITIES))
def test_what_is_above_the_ceiling_of_a_destination_is_withheld_from_everybody(org, ceiling, sensitivity):
    org = replace(org, ceilings={"mcp": ceiling})
    scope = scope_of(org, "owner", destination="mcp")
    page = Place("memory/x.md", GENERAL, "", sensitivity)
    assert scope.admits(page)
    assert scope.sees(page) == (SENSITIVITIES.index(sensitivity) <= SENSITIVITIES.index(ceiling))


def test_a_ceiling_that_nobody_knows_lets_only_what_is_public_through():
    scope = scope_of(Org(ceilings={"mcp": "secret"}), "owner", destination="mcp")
    assert [s for s in SENSITIVITIES if scope.sees(Place("memory/x.md", GENERAL, "", s))] == ["public"]


def test_an_agent_with_an_area_reads_it_everywhere_but_opens_no_department():
    org = Org(agents=(Agent(name="bot", read_areas=("clients",)),))
    scope = scope_of(org, "agent:bot")
    assert scope.admits(Place("memory/x.md", "commerce", "clients", "public"))
    assert not scope.admits(Place("memory/x.md", "commerce", "", "public"))
    assert not scope.sees_department("commerce")


def test_an_agent_proposes_pages_of_what_it_may_write_and_nobody_else_proposes_any():
    org = Org(
        owner="ann", agents=(Agent(name="bot", read=("legal",), write=("commerce",), write_areas=("decisions",)),)
    )
    assert may_write(org, "agent:bot", "commerce")
    assert may_write(org, "agent:bot", "legal", "decisions")
    assert not may_write(org, "agent:bot", "legal")
    assert not any(may_write(org, who, "commerce") for who in ("owner", "person:ann", "person:bot", "agent:x"))


@pytest.mark.parametrize(
    ("rel_path", "is_page"),
    [
        ("memory/a.md", True),
        ("memory/a/b.md", True),
        ("memory/personal.md", True),
        ("memory", False),
        ("memory/", False),
        ("memory/personal/a.md", False),
        ("memory/a/PERSONAL/a.md", False),
        ("memory/../a.md", False),
        ("memory//a.md", False),
        ("memory/./a.md", False),
        ("Memory/a.md", False),
        ("/memory/a.md", False),
        ("other/a.md", False),
        ("", False),
    ],
)
def test_only_what_lies_below_memory_and_is_nobodys_own_can_be_a_page(rel_path, is_page):
    assert readable(rel_path) is is_page


@given(orgs(), st.sampled_from(PEOPLE))
def test_a_person_sees_their_departments_and_what_belongs_to_none(org, slug):
    person = next((p for p in org.people if p.slug == slug), None)
    expected = {*person.departments, GENERAL} if person else set()
    if person and slug == org.owner:
        expected = {*DEPARTMENTS, GENERAL, "unheard-of"}
    seen = {p.department for p in EVERY_PLACE if scope_of(org, f"person:{slug}").admits(p)}
    assert seen == expected
