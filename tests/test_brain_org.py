"""The org map as people write it: every fault is told with its place, and what is written is read back the same."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given

from falsify import located_yaml
from falsify.brain.org import Agent, Department, Org, Person, canonical, org_of
from falsify.brain.org_file import BEGINS, WHAT, OrgFile, org_in, org_yaml
from falsify.brain.org_rules import Fault, errors, faults
from falsify.errors import InvalidInputError
from surfaces.governance import read_org
from tests.brain_orgs import MAP, orgs


def read(text):
    return org_in(located_yaml.parse("memory/org.yaml", text, OrgFile, what=WHAT, begins=BEGINS).value)


def test_the_file_draws_the_map():
    assert read(MAP) == Org(
        owner="marie",
        departments=(
            Department(slug="commerce", name="Commerce", description="Sells."),
            Department(slug="finance", name="Finance"),
            Department(slug="legal", name="Legal affairs"),
        ),
        people=(
            Person(slug="marie", name="Marie Durand", role="Founder", departments=("finance",)),
            Person(
                slug="bob",
                name="Bob Petit",
                role="Head of sales",
                departments=("commerce",),
                reports_to="marie",
                decides=("discounts", "pricing"),
                validates=("pricing",),
            ),
            Person(
                slug="lea",
                name="Léa Morel",
                role="Lawyer",
                departments=("legal", "finance"),
                reports_to="marie",
                validates=("contracts",),
            ),
        ),
        agents=(
            Agent(
                name="crm",
                read=("commerce", "finance"),
                write=("commerce",),
                deny=("finance",),
                read_areas=("clients",),
            ),
            Agent(name="clerk", read=("legal",)),
        ),
        must_validate=("pricing",),
        ceilings={"mcp": "internal", "web": "confidential"},
    )


@given(orgs())
def test_a_map_that_is_written_and_read_is_the_same_map(org):
    assert canonical(read(org_yaml(org))) == org


@given(orgs())
def test_the_log_keeps_a_map_as_json_and_gives_it_back(org):
    stored = org.as_json()
    assert orjson.loads(orjson.dumps(stored)) == stored
    assert org_of(stored) == org


@given(orgs())
def test_the_canonical_form_of_a_map_is_canonical(org):
    assert canonical(org) == org


def test_who_may_write_may_read_and_is_listed_once():
    org = Org(agents=(Agent(name="bot", read=("legal", "commerce"), write=("legal", "legal")),))
    assert canonical(org).agents == (Agent(name="bot", read=("commerce",), write=("legal",)),)


def test_people_and_departments_are_found_by_slug_and_by_name_whatever_the_spelling():
    org = read(MAP)
    assert org.department("LEGAL  affairs") == org.department("legal") == org.departments[2]
    assert org.person("le\u0301a MOREL") == org.person(" lea ") == org.people[2]
    assert org.department("nothing") is org.person("nobody") is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("owner: marie", "owner: Marie D", "line 1, column 8: owner: 'Marie D' is not a slug: lower-case"),
        ("owner: marie", "boss: marie", "line 1, column 1: unknown key 'boss'"),
        ("slug: finance", "slug: clients", "line 4, column 12: departments.1.slug: 'clients' is taken"),
        ("slug: lea,", "slug: none,", "line 10, column 12: people.2.slug: 'none' is taken"),
        ("name: Finance", "name: ' '", "line 4, column 27: departments.1.name: it is empty"),
        ("name: Finance", 'name: "a\\nb"', "line 4, column 27: departments.1.name: it must be one line"),
        ("decides: [discounts,", "decides: [Big deals,", "people.1.decides.0: 'Big deals' is not a slug"),
        ("[clients]", "[memory/**]", "agents.0.areas.read.0: Input should be 'clients'"),
        ("name: crm", "name: ../crm", "line 12, column 12: agents.0.name: '../crm' is not a name"),
        (
            "must_validate: [pricing]",
            "must_validate: pricing",
            "line 14, column 16: must_validate: Input should be a valid",
        ),
        (
            "must_validate: [pricing]",
            "meta_approval: often",
            "line 14, column 16: meta_approval: Input should be a valid",
        ),
        ("must_validate: [pricing]", "destination_policy: {mcp: secret}", "line 14, column 27: destination_policy.mcp"),
    ],
)
def test_what_is_no_org_map_is_told_with_line_and_column(old, new, message):
    with pytest.raises(InvalidInputError) as told:
        read(MAP.replace(old, new, 1))
    assert message in told.value.message


@pytest.mark.parametrize(
    ("old", "new", "rule", "place", "message"),
    [
        ("slug: finance", "slug: commerce", "duplicate", (4, 12), "'commerce' is there twice among the departments"),
        ("slug: lea,", "slug: bob,", "duplicate", (10, 12), "'bob' is there twice among the people"),
        ("name: clerk", "name: crm", "duplicate", (13, 12), "'crm' is there twice among the agents"),
        ("[pricing]\n", "[pricing, pricing]\n", "duplicate", (14, 26), "'pricing' is listed twice"),
        ("[legal, finance]", "[legal, legal]", "duplicate", (10, 69), "'legal' is listed twice"),
        ("name: Finance", "name: COMMERCE", "ambiguous_name", (4, 27), "the name 'COMMERCE' is taken"),
        ("[legal, finance]", "[legal, fnance]", "unknown_department", (10, 69), "there is no department 'fnance'"),
        ("[legal]}", "[leagl]}", "unknown_department", (13, 26), "there is no department 'leagl'"),
        ("deny: [finance]", "deny: [client]", "unknown_department", (12, 70), "there is no department 'client'"),
        ("reports_to: marie,\n", "reports_to: mary,\n", "unknown_person", (8, 92), "bob reports to 'mary'"),
        ("owner: marie", "owner: mary", "unknown_person", (1, 8), "the owner 'mary' is not among the people"),
        ("[legal, finance]", "[]", "orphan", (10, 5), "lea is in no department"),
        ("validates: [pricing]", "validates: []", "no_validator", (14, 17), "decisions on 'pricing' need a validation"),
        ("Founder,", "Founder, reports_to: bob,", "ownership", (7, 66), "the owner marie would report to bob"),
    ],
)
def test_a_map_that_cannot_be_accepted_is_told_with_the_rule_and_the_place(old, new, rule, place, message):
    document = read_org("memory/org.yaml", MAP.replace(old, new, 1))
    line, column = place
    expected = f"memory/org.yaml, line {line}, column {column}: {rule}: {message}"
    assert any(told.startswith(expected) for told in document.errors), document.errors
    with pytest.raises(InvalidInputError, match="line"):
        document.check()


def test_who_report_to_each_other_in_a_circle_are_told_once():
    text = MAP.replace("reports_to: marie,\n", "reports_to: lea,\n").replace(
        "reports_to: marie, v", "reports_to: bob, v"
    )
    document = read_org("memory/org.yaml", text)
    assert document.errors == [
        "memory/org.yaml, line 8, column 92: cycle: they report to each other in a circle: bob -> lea -> bob"
    ]


@given(orgs())
def test_an_operation_cannot_start_from_a_map_with_errors(org):
    assert errors(replace(org, owner="zoe"))[0].rule == "unknown_person"


def test_what_is_odd_is_a_warning_and_no_error():
    org = Org(
        owner="ann",
        departments=(Department(slug="sales", name="Sales"), Department(slug="law", name="Law")),
        people=(
            Person(slug="ann", name="Ann", decides=("pricing",), validates=("pricing",)),
            Person(slug="bob", name="ann", departments=("sales",), validates=("hiring",)),
        ),
        agents=(Agent(name="bot", read=("sales",), deny=("sales",)),),
        must_validate=("pricing",),
    )
    assert faults(org) == [
        Fault(
            "namesake",
            ("people", 0, "name"),
            "several people are called 'Ann'; by this name the first is found",
            "look them up by slug",
        ),
        Fault(
            "namesake",
            ("people", 1, "name"),
            "several people are called 'ann'; by this name the first is found",
            "look them up by slug",
        ),
        Fault("empty_department", ("departments", 1), "nobody is in the department 'law'", "assign somebody to it"),
        Fault("reports_to_nobody", ("people", 1), "bob reports to nobody", "only the owner needs to report to nobody"),
        Fault(
            "self_validation",
            ("must_validate", 0),
            "who decides on 'pricing' is the only one who validates it",
            "let somebody else validate them too",
        ),
        Fault(
            "unknown_category",
            ("people", 1, "validates", 0),
            "bob validates 'hiring', which nobody decides on and which need not be validated",
            "is it written right?",
        ),
        Fault(
            "denied_grant",
            ("agents", 0, "read", 0),
            "bot is granted 'sales' and denied it; it is denied",
            "remove one of the two",
        ),
    ]
    assert errors(org) == []
