"""The tools about the organisation: what they answer, and that what is denied is not to be told from what is absent."""

import re
from dataclasses import replace

import orjson
import pytest
from hypothesis import HealthCheck, given, settings

from falsify.brain.events import OrgAccepted, PageRecorded
from falsify.brain.org import Department, Person
from falsify.brain.scope import scope_of
from surfaces.tools.brain_org import (
    NO_DEPARTMENT,
    NO_ENTITIES,
    NOT_BUILT,
    get_department,
    get_glossary_term,
    get_person_aor,
    list_company_entities,
)
from tests.brain_orgs import DEPARTMENTS, OWNER, PEOPLE, behalves, brain_at, callers, orgs

PAGES = {
    "memory/commerce/offers.md": "---\ntitle: Offers\ndescription: What we sell.\nsource_trust: verified\n---\nText.\n",
    "memory/commerce/old.md": "---\ntitle: Old\nlifecycle_status: archived\n---\nText.\n",
    "memory/commerce/gone.md": "---\ntitle: Gone\nexpires: 2001-01-01\n---\nText.\n",
    "memory/commerce/secret.md": "---\ntitle: Secret\nsensitivity: restricted\n---\nText.\n",
    "memory/commerce/quote.md": "---\ntitle: Quoting\ntype: process\n---\nText.\n",
    "memory/finance/books.md": "---\ntitle: Books\n---\nText.\n",
    "memory/glossary/arr.md": (
        "---\ntitle: ARR\ntype: glossary\naliases: [annual recurring revenue]\nsource_trust: declared\n"
        "answer_guidance: Never tell.\n---\n# ARR\n\nRevenue that comes back.\n\n## Answer guidance\n\nNever tell.\n\n"
        "### More\n\nNever tell.\n\n## Example\n\nA lease.\nanswer_guidance: Never tell.\n"
    ),
    "memory/finance/ebit.md": "---\ntitle: EBIT\ntype: glossary\n---\nEarnings.\n",
    "memory/entities/client/acme.md": "---\nsource_trust: verified\n---\nAcme\n====\n\nMakes anvils\nand rockets.\n",
    "memory/entities/client/zeta.md": (
        "---\ntitle: Zeta\ndepartment: finance\ndescription: Pays late.\nlifecycle_status: archived\n---\n"
    ),
    "memory/entities/project/moon.md": "---\ntitle: Moonshot\ndepartment: commerce\ndescription: A rocket.\n---\n",
}


def record(brain, pages):
    events = [
        PageRecorded(rel_path=path, text=text, known_at="2024-01-01T00:00:00Z", author="", commit="", message="")
        for path, text in pages.items()
    ]
    brain.perform(lambda _: events, lambda _: b"{}", tool="test", caller=OWNER, body=str(brain.position).encode())
    return brain


@pytest.fixture
def brain(tmp_path):
    return record(brain_at(tmp_path), PAGES)


def person(brain, caller, name, **more):
    return orjson.loads(get_person_aor(brain, caller, name=name, **more))


# --- shapes ---------------------------------------------------------------------------------------------------


def test_the_index_of_a_department_has_its_roles_documents_and_processes(brain):
    assert get_department(brain, "person:bob", name="Commerce") == (
        "# Commerce\n"
        "\n"
        "Sells.\n"
        "\n"
        "## Roles\n"
        "\n"
        "- **Bob Petit** (bob): Head of sales; decides on discounts, pricing; validates pricing\n"
        "\n"
        "## Key documents\n"
        "\n"
        "- [Offers](memory/commerce/offers.md): What we sell.\n"
        "- [Secret](memory/commerce/secret.md)\n"
        "\n"
        "## Processes\n"
        "\n"
        "- [Quoting](memory/commerce/quote.md)"
    )


def test_the_index_names_whom_somebody_reports_to_only_to_who_may_see_them(brain):
    assert "reports to Marie Durand" in get_department(brain, OWNER, name="commerce")
    assert "Marie" not in get_department(brain, "person:bob", name="commerce")


def test_the_index_leaves_out_what_is_too_sensitive_for_where_it_goes(brain):
    brain.destination = "mcp"
    assert "Secret" not in get_department(brain, OWNER, name="commerce")


def test_a_department_without_pages_says_so(brain):
    assert get_department(brain, "person:lea", name="Legal affairs").endswith(
        "## Key documents\n\n_None._\n\n## Processes\n\n_None._"
    )


def test_a_person_is_told_with_the_departments_that_the_caller_may_see(brain):
    assert person(brain, "agent:clerk", "léa morel") == {
        "slug": "lea",
        "name": "Léa Morel",
        "role": "Lawyer",
        "departments": ["legal"],
        "decides": [],
        "validates": ["contracts"],
    }
    assert person(brain, OWNER, "lea")["departments"] == ["finance", "legal"]
    assert person(brain, OWNER, "lea", on_behalf_of="marie")["departments"] == ["finance", "legal"]


def test_only_who_sees_everything_is_told_who_there_is(brain):
    assert person(brain, OWNER, "zoe")["message"] == "No such person is available. Known people: marie, bob, lea."
    scoped = {get_person_aor(brain, caller, name="zoe") for caller in ("person:bob", "agent:crm", "agent:nobody")}
    assert scoped == {b'{"error":"not_found","message":"No such person is available."}'}
    assert get_person_aor(brain, OWNER, name="zoe", on_behalf_of="bob") in scoped


def test_of_two_people_of_one_name_the_one_that_may_be_seen_is_found(brain):
    org = brain.library.org
    twin = Person(slug="bob-2", name="Bob Petit", departments=("legal",), reports_to="marie")
    changed = replace(org, people=(*org.people, twin)).as_json()
    event = OrgAccepted(org=changed, source="test")
    brain.perform(lambda _: [event], lambda _: b"{}", tool="test", caller=OWNER, body=b"twin")
    assert person(brain, "agent:clerk", "Bob Petit")["slug"] == "bob-2"
    assert person(brain, "person:bob", "Bob Petit")["slug"] == "bob"


@pytest.mark.parametrize("term", ["ARR", " arr ", "Annual  Recurring Revenue"])
def test_a_term_is_found_by_its_name_or_an_alias_and_guidance_is_never_served(brain, term):
    assert orjson.loads(get_glossary_term(brain, "person:bob", term=term)) == {
        "term": "ARR",
        "definition": "Revenue that comes back.\n\n## Example\n\nA lease.",
        "aliases": ["annual recurring revenue"],
        "lifecycle_status": "active",
        "source_trust": "declared",
        "rel_path": "memory/glossary/arr.md",
    }


def test_a_definition_in_the_front_matter_is_served_as_it_is(brain):
    record(brain, {"memory/glossary/x.md": "---\ntitle: X\ntype: glossary\ndefinition: The unknown.\n---\nMore.\n"})
    assert orjson.loads(get_glossary_term(brain, OWNER, term="x"))["definition"] == "The unknown."


def test_the_name_of_a_term_comes_before_an_alias_and_what_is_active_before_what_is_not(brain):
    page = "---\ntitle: {}\ntype: glossary\naliases: [both]\nlifecycle_status: {}\n---\nText.\n"
    record(brain, {"memory/a.md": page.format("Other", "active"), "memory/b.md": page.format("Both", "superseded")})
    assert orjson.loads(get_glossary_term(brain, OWNER, term="both"))["rel_path"] == "memory/b.md"
    record(brain, {"memory/c.md": page.format("Both", "active")})
    assert orjson.loads(get_glossary_term(brain, OWNER, term="both"))["rel_path"] == "memory/c.md"


def test_every_visible_entity_is_one_line(brain):
    assert list_company_entities(brain, OWNER) == (
        "- [client] **Acme** - Makes anvils (verified)\n"
        "- [client] **Zeta** - Pays late. (unverified, archived)\n"
        "- [project] **Moonshot** - A rocket. (unverified)"
    )
    assert list_company_entities(brain, OWNER, type="project") == "- [project] **Moonshot** - A rocket. (unverified)"
    assert list_company_entities(brain, "person:bob", type="client") == "- [client] **Acme** - Makes anvils (verified)"


def test_a_summary_is_one_line_of_limited_length(brain):
    record(brain, {"memory/entities/client/long.md": f"---\ntitle: Long\n---\n{'word ' * 100}\n"})
    (line,) = [each for each in list_company_entities(brain, OWNER).split("\n") if "Long" in each]
    assert re.fullmatch(r"- \[client\] \*\*Long\*\* - (word ){31}\w*\.\.\. \(unverified\)", line)


# --- what is denied is absent ---------------------------------------------------------------------------------


def test_a_brain_that_is_not_built_says_so_to_everybody(tmp_path):
    brain = brain_at(tmp_path, "")
    for caller in (OWNER, "person:bob", "agent:crm"):
        assert {
            get_department(brain, caller, name="x"),
            get_person_aor(brain, caller, name="x"),
            get_glossary_term(brain, caller, term="x"),
            list_company_entities(brain, caller),
        } == {NOT_BUILT}


@pytest.mark.parametrize("name", ["finance", "Finance", "unheard-of", "", "x" * 5000, "a\x00b"])
def test_a_department_that_is_denied_or_unknown_is_the_same_line(brain, name):
    answers = {get_department(brain, caller, name=name) for caller in ("person:bob", "agent:crm", "agent:nobody")}
    assert answers == {NO_DEPARTMENT}


def test_an_entity_type_that_is_unknown_or_hidden_lists_nothing(brain):
    assert list_company_entities(brain, OWNER, type="planet") == NO_ENTITIES
    assert list_company_entities(brain, "person:lea", type="project") == NO_ENTITIES
    assert list_company_entities(brain, "agent:nobody") == NO_ENTITIES


def everything(brain, caller, behalf):
    """Return all bytes of all base tools."""
    names = (*DEPARTMENTS, "general", "vault", *PEOPLE, "zoe", "zed")
    terms = ("arr", "ebit", "hidden")
    return [
        *(get_department(brain, caller, name=name, on_behalf_of=behalf) for name in names),
        *(get_person_aor(brain, caller, name=name, on_behalf_of=behalf) for name in names),
        *(get_glossary_term(brain, caller, term=term, on_behalf_of=behalf) for term in terms),
        *(list_company_entities(brain, caller, type=type_, on_behalf_of=behalf) for type_ in ("", "client", "planet")),
    ]


HIDDEN = {
    "memory/vault/a.md": "---\ntitle: Hidden\ntype: glossary\naliases: [arr]\n---\nSecret.\n",
    "memory/vault/b.md": "---\ntitle: Hidden\n---\nSecret.\n",
    "memory/vault/c.md": "---\ntitle: Hidden\ntype: process\nsource_trust: verified\n---\nSecret.\n",
    "memory/vault/d.md": "---\ntitle: Hidden\ntype: entity\nentity_type: planet\n---\nSecret.\n",
    "memory/entities/planet/e.md": "---\ntitle: Hidden\ndepartment: vault\n---\nSecret.\n",
}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(orgs(), callers, behalves)
def test_a_department_nobody_may_see_changes_no_byte_for_anybody_who_may_not_see_it(tmp_path, org, caller, behalf):
    with_it = replace(
        org,
        departments=(*org.departments, Department(slug="vault", name="Vault")),
        people=(*org.people, Person(slug="zed", name="Zed", departments=("vault",), reports_to=org.owner)),
    )
    scope = scope_of(with_it, caller, on_behalf_of=behalf)
    if scope.everything:
        return
    assert not scope.sees_department("vault")
    without, hiding = (record(brain_at(tmp_path, ""), pages) for pages in (PAGES, {**PAGES, **HIDDEN}))
    for brain, map_ in ((without, org), (hiding, with_it)):
        event = OrgAccepted(org=map_.as_json(), source="test")
        brain.perform(lambda _, event=event: [event], lambda _: b"{}", tool="test", caller=OWNER, body=b"org")
    assert everything(without, caller, behalf) == everything(hiding, caller, behalf)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(orgs(), callers, behalves)
def test_asking_on_behalf_of_somebody_adds_no_line(tmp_path, org, caller, behalf):
    brain = record(brain_at(tmp_path, ""), PAGES)
    event = OrgAccepted(org=org.as_json(), source="test")
    brain.perform(lambda _: [event], lambda _: b"{}", tool="test", caller=OWNER, body=b"org")
    alone = list_company_entities(brain, caller).split("\n")
    together = list_company_entities(brain, caller, on_behalf_of=behalf).split("\n")
    assert set(together) - {NO_ENTITIES} <= set(alone)
