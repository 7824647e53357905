"""Expertise: who decides by the org map, who knows by what they did; counted, and never merged."""

import json

import pytest

from falsify.brain.events import OrgAccepted, PageMoved, PageRecorded
from falsify.brain.library import Version
from falsify.brain.org import Agent, Department, Org, Person
from falsify.brain.page import read_page
from projections.expertise import Match, decides, knows, names, person_of
from surfaces.tools.brain_catalogue import call_brain
from tests.search_world import World, page

ANN = Person(slug="ann", name="Ann Läng", role="Buyer", departments=("sales",), decides=("supplier-choices", "rebates"))
BOB = Person(slug="bob", name="Bob Bright", departments=("finance",), validates=("rebates",))
CID = Person(slug="cid", name="Cid Cole", departments=("sales",))
PEOPLE = (ANN, BOB, CID)

ORG = Org(
    departments=(Department(slug="sales", name="Sales"), Department(slug="finance", name="Finance")),
    people=PEOPLE,
    agents=(Agent(name="helper", read=("sales", "general")),),
    ceilings={"mcp": "internal"},
)


def match(rel_path="memory/sales/a.md", body="Text.", headings=(), excerpts=(), **front) -> Match:
    read = read_page(rel_path, page("A page", body, **front), departments=("sales", "finance"))
    return Match(page=read, headings=headings, excerpts=excerpts)


def version(author, *, rel_path="memory/sales/a.md", on="2026-01-01", position=1, text="x", moved_from=""):
    return Version(
        rel_path=rel_path, text=text, known_at=f"{on}T09:00:00Z", position=position, author=author, commit="",
        moved_from=moved_from,
    )  # fmt: skip


# --- who decides ----------------------------------------------------------------------------------------------


def test_whom_the_topic_names_comes_before_whom_a_matching_page_of_theirs_names():
    topic = decides("who grants a rebate", [match(excerpts=("The choice of a supplier.",))], PEOPLE)
    assert topic == [
        {"person": "ann", "name": "Ann Läng", "role_aor": "Buyer: decides supplier-choices, rebates",
         "department": "sales"},
        {"person": "bob", "name": "Bob Bright", "role_aor": "validates rebates", "department": "finance"},
    ]  # fmt: skip


def test_a_page_names_nobody_of_another_department():
    near = match(excerpts=("A rebate of three per cent.",))
    assert [each["person"] for each in decides("discounts", [near], PEOPLE)] == ["ann"]
    everybodys = match("memory/a.md", excerpts=("A rebate of three per cent.",))
    assert [each["person"] for each in decides("discounts", [everybodys], PEOPLE)] == ["ann", "bob"]


def test_where_no_page_matched_nobody_is_named():
    assert decides("rebates", [], PEOPLE) == []


# --- who knows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("author", "slug"),
    [
        ("ann", "ann"), ("person:ann", "ann"), ("Ann Läng", "ann"), ("ANN LANG <x@y.example>", "ann"),
        ("Anna <ann@corp.example>", "ann"), ("ann@corp.example", "ann"), ("ann+git@corp.example", "ann"),
        ("bob-bright", "bob"), ("agent:ann", ""), ("Zoe <zoe@corp.example>", ""), ("", ""), ("<>", ""), ("owner", ""),
    ],
)  # fmt: skip
def test_an_author_is_the_person_of_that_slug_name_or_address(author, slug):
    assert person_of(author, names(PEOPLE)) == slug


def test_a_name_that_two_people_have_is_nobodys():
    twins = (ANN, Person(slug="ann-2", name="Ann Läng"))
    assert [person_of(author, names(twins)) for author in ("Ann Läng", "ann", "ann-2")] == ["", "ann", "ann-2"]


def test_what_somebody_wrote_answered_and_learned_is_counted_apart():
    lesson = match("memory/sales/l.md", type="lesson", author="cid", updated="2026-05-05")
    digest = match(
        "memory/digests/d.md",
        "## Which rebate?\n\nThree.\n\n## Which colour?\n\nRed.",
        headings=("A page > Which rebate?",),
        type="digest",
        updated="2026-04-30",
        answers="[{question: 'Which rebate?', answered_by: cid}, {question: 'Which colour?', answered_by: ann},"
        " {question: No heading, answered_by: bob}]",
    )
    wrote = match("memory/sales/a.md")
    past = {"memory/sales/a.md": (version("cid", on="2026-01-01"), version("Cid Cole", on="2026-02-02", position=2))}
    rows = knows([wrote, lesson, digest], past, PEOPLE)
    assert rows == [
        {"person": "cid", "name": "Cid Cole", "evidence": {"n_pages": 1, "n_digest_answers": 1, "n_lessons": 1},
         "recent": "2026-05-05", "pages": ["memory/sales/a.md", "memory/sales/l.md", "memory/digests/d.md"]},
        {"person": "bob", "name": "Bob Bright", "evidence": {"n_pages": 0, "n_digest_answers": 1, "n_lessons": 0},
         "recent": "2026-04-30", "pages": ["memory/digests/d.md"]},
    ]  # fmt: skip


def test_who_lands_a_lesson_promoted_it_and_who_lets_a_page_in_has_not_written_it():
    landed = (version("agent:helper, approved by person:bob"), version("person:cid, approved by owner", position=2))
    lesson, other = match(type="lesson"), match()
    told = knows([lesson], {"memory/sales/a.md": landed}, PEOPLE, owner="ann")
    assert {each["person"]: each["evidence"]["n_lessons"] for each in told} == {"ann": 1, "bob": 1, "cid": 1}
    assert [each["person"] for each in knows([other], {"memory/sales/a.md": landed}, PEOPLE, owner="ann")] == ["cid"]


def test_who_moved_a_page_did_not_write_it_and_who_wrote_it_before_did():
    past = {
        "memory/sales/a.md": (version("bob", on="2026-03-03", position=3, moved_from="memory/sales/old.md"),),
        "memory/sales/old.md": (
            version("ann", rel_path="memory/sales/old.md"),
            version("bob", rel_path="memory/sales/old.md", on="2026-03-03", position=3, text=None),
        ),
    }
    assert [each["person"] for each in knows([match()], past, PEOPLE)] == ["ann"]


def test_who_wrote_a_page_that_was_deleted_did_not_write_the_one_that_came_after():
    past = {
        "memory/sales/a.md": (
            version("ann"), version("ann", on="2026-02-02", position=2, text=None),
            version("cid", on="2026-03-03", position=3),
        )
    }  # fmt: skip
    assert [each["person"] for each in knows([match()], past, PEOPLE)] == ["cid"]


# --- the tool -------------------------------------------------------------------------------------------------


def wrote(rel_path, text, author):
    return PageRecorded(
        rel_path=rel_path, text=text, known_at="2026-02-03T09:00:00Z", author=author, commit="", message=""
    )


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path, org=None)
    made.append(
        OrgAccepted(org=ORG.as_json(), source=""),
        wrote("memory/sales/rebates.md", page("Rebates", "How rebates are granted."), "Ann Läng <ann@corp.example>"),
        wrote("memory/sales/other.md", page("Other rebates", "More on rebates."), "bob@corp.example"),
        wrote("memory/finance/books.md", page("Rebates in the books", "Booked as rebates."), "bob@corp.example"),
    )
    yield made
    made.close()


def asked(world, caller="owner", **more):
    return json.loads(call_brain(world.brain, "who_knows", {"topic": "rebates", **more}, caller=caller))


def test_the_registers_rest_on_the_pages_and_people_that_may_be_seen(world):
    told = asked(world, "agent:helper")
    assert told == {
        "topic": "rebates",
        "matched_pages": told["matched_pages"],
        "decides": [
            {"person": "ann", "name": "Ann Läng", "role_aor": "Buyer: decides rebates", "department": "sales"},
        ],
        "knows": [
            {"person": "ann", "name": "Ann Läng", "evidence": {"n_pages": 1, "n_digest_answers": 0, "n_lessons": 0},
             "recent": "2026-02-03", "pages": ["memory/sales/rebates.md"]},
        ],
    }  # fmt: skip
    assert sorted(told["matched_pages"]) == ["memory/sales/other.md", "memory/sales/rebates.md"]
    assert [each["person"] for each in asked(world)["knows"]] == ["bob", "ann"]


def test_as_many_hits_anchor_a_topic_as_are_asked_for(world):
    assert [len(asked(world, k=k)["matched_pages"]) for k in (-3, 0, 1, 2, 99)] == [1, 1, 1, 2, 3]


def test_where_no_author_is_recorded_that_is_said(tmp_path):
    made = World(tmp_path, org=ORG)
    made.write({"memory/sales/rebates.md": page("Rebates", "How rebates are granted.")})
    told = asked(made)
    assert list(told) == ["topic", "matched_pages", "decides", "knows", "authorship_evidence"]
    assert (told["knows"], told["authorship_evidence"]) == ([], "unavailable")
    made.append(
        PageMoved(
            rel_path="memory/sales/r.md", was="memory/sales/rebates.md", known_at="2026-03-01T09:00:00Z", author="ann",
            commit="",
        )
    )  # fmt: skip
    assert asked(made)["authorship_evidence"] == "unavailable"
    made.close()


def test_weak_evidence_is_told_and_toon_says_the_same(world):
    assert asked(world, topic="zebra quartz")["confidence"] == "low"
    assert "confidence" not in asked(world)
    toon = call_brain(world.brain, "who_knows", {"topic": "rebates", "format": "toon"}, caller="owner").decode()
    assert toon.splitlines()[0] == "topic: rebates"
