"""Slots: what is read from a sentence, which wordings share a slot, and what a user says of relations."""

import csv

import pytest

from falsify.belief.slots import Arity, entity_key, slot
from tests.public_data import needs_public_data


def parts(text):
    found = slot(text)
    return found and (found.said.subject, found.relation, found.said.object)


@pytest.mark.parametrize(
    ("text", "subject", "relation", "value"),
    [
        ("The capital of Australia is Canberra.", "Australia", "capital", "Canberra"),
        ("Metformin is a treatment for type 2 diabetes.", "Metformin", "treatment for", "type 2 diabetes"),
        ("Aspirin inhibits platelet aggregation.", "Aspirin", "inhibit", "platelet aggregation"),
        ("Friedrich Engels is famous for the Manifesto.", "Friedrich Engels", "famous for", "the Manifesto"),
        ("The service is written in Rust.", "The service", "writ in", "Rust"),
        ("Anna's favourite dish is grilled steak.", "Anna", "favourit dish", "grilled steak"),
        ("The recommended dose of ibuprofen is 400 mg.", "ibuprofen", "recommend dos", "400 mg"),
        ("The person who manages payroll is Olga.", "payroll", "person manag", "Olga"),
        ("The clinic where Dr. Osei trained is St. Mary's.", "Dr. Osei", "clinic train", "St. Mary's"),
        ("The name of the head of state in Peru is Dina.", "Peru", "head stat", "Dina"),
        (
            "The mayor of the city of Oslo was appointed by the council.",
            "Oslo",
            "mayor city appoint by",
            "the council",
        ),
        ("The cluster has 5 nodes.", "The cluster", "number nod", "5"),
        ("The p95 latency is 40 ms.", "The p95 latency", "be time", "40 ms"),
        ("The invoice is due on 3 May 2024.", "The invoice", "due when", "3 May 2024"),
        ("Iceland has a population of 372,000.", "Iceland", "population", "372,000"),
        ("Born in the U.S.A. was recorded by Bruce.", "Born in the U.S.A.", "record by", "Bruce"),
        (
            "The Girl with the Dragon Tattoo was written by Stieg Larsson.",
            "The Girl with the Dragon Tattoo",
            "writ by",
            "Stieg Larsson",
        ),
    ],
)
def test_a_sentence_is_read_by_the_rules_of_english(text, subject, relation, value):
    assert parts(text) == (subject, relation, value)


@pytest.mark.parametrize(
    "text",
    [
        "Paris",
        "Is Anna married?",
        "Do not use the v1 API.",
        "She said that he was late.",
        "The audit found the backups were never encrypted.",
        "Elena no longer works at Northwind.",
        "Anna lives in Rome. Tom lives in Oslo.",
        "After logs are old they are deleted.",
    ],
)
def test_what_states_no_value_has_no_slot(text):
    assert slot(text) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The capital of Australia is Canberra.", "Canberra is the capital of Australia."),
        ("Mark is married to Julia.", "Mark's wife is Julia."),
        ("The founder of Acme is Maria.", "Maria founded Acme."),
        ("Acme was founded by Maria.", "Maria founded Acme in 2012."),
        ("The office is at 88 King Road.", "The office has moved to 12 Harbour Street."),
        ("Daniel is the head of security.", "Priya took over as head of security in March."),
        ("Daniel is the head of security.", "Priya has been appointed head of security."),
        ("The company is called Brightside.", "The company has been renamed to Lumen Labs."),
        ("The launch date is 3 May.", "The launch was moved from 3 May to 17 June."),
        ("The subscription costs $19 per month.", "The price of the subscription is $29 per month."),
        ("The team has 9 engineers.", "Our team now has fourteen engineers."),
        ("The chief executive officer of Acme is Ana.", "The CEO of Acme is Ben."),
        ("The bridge is closed to traffic.", "The bridge is open."),
        ("I love coffee.", "I don't like coffee any more."),
        ("The population of Iceland is 372,000.", "Iceland has a population of 380,000."),
        ("The meeting starts at 10:00.", "The meeting begins at 11:30."),
    ],
)
def test_two_wordings_share_a_functional_slot(one, other):
    first, second = slot(one), slot(other)
    assert first.key == second.key
    assert first.functional or second.relation == "found by"


@pytest.mark.parametrize(
    "text",
    [
        "Tom speaks French.",
        "Tom likes rock.",
        "Tom knows Anna.",
        "Tom has visited Paris.",
        "Tom is a member of the chess club.",
        "Anna's child is Tom.",
        "The package depends on numpy.",
        "Elena works at Northwind.",
    ],
)
def test_a_relation_is_not_functional_unless_its_wording_says_so(text):
    found = slot(text)
    assert not found.functional or found.side  # to like rock says nothing of jazz, but it excludes hating rock


@pytest.mark.parametrize(
    "text",
    [
        "The default model is gpt-4.",
        "The tallest building in Dubai is the Burj Khalifa.",
        "The museum is located in Turin.",
        "Marie Curie was born in Warsaw.",
        "The store is closed.",
        "The battery lasts 14 hours.",
        "Hines Ward plays the position of cornerback.",
    ],
)
def test_a_wording_that_leaves_room_for_one_value_is_functional(text):
    assert slot(text).functional


def test_scope_and_time_are_kept_apart_from_the_value():
    tea = slot("Anna drinks tea when relaxing.")
    assert (tea.object, tea.scope) == ("tea", ("when relaxing",))
    assert slot("When relaxing, Anna drinks tea.") == tea
    assert slot("The drug is approved in the EU.").scope == ("in eu",)


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("Peter was the CEO of Northwind in 2019.", "2019", "2019"),
        ("In 2019, the CEO of Northwind was Peter.", "2019", "2019"),
        ("Ana has been the CEO of Northwind since March 2021.", "2021-03", ""),
        ("The CEO of Northwind since 2019 is Ana.", "2019", ""),
        ("My sister moved to Lisbon in 2022.", "2022", ""),
        ("Ana is the CEO of Northwind until 3 May 2024.", "", "2024-05-03"),
    ],
)
def test_the_valid_interval_is_read_from_the_words(text, begins, ends):
    found = slot(text)
    assert (found.valid_from, found.valid_to) == (begins, ends)


def test_the_class_of_a_value_is_told_from_the_value():
    found = slot("Thomas Kyd was born in the city of London.")
    assert (found.object, found.kind) == ("london", "city")
    assert slot("Thomas Kyd was born in London.").key == found.key
    assert slot("Anna met the mayor of London.").kind == ""


NAMES = """
What Is to Be Done?
The Lion, the Witch and the Wardrobe
iPad
Law & Order: Special Victims Unit
Jeopardy!
2001: A Space Odyssey
The Man Who Sold the World
A Song of Ice and Fire
Prince Philip, Duke of Edinburgh
Life Is Beautiful
Washington, D.C.
Apple Inc.
Robert Downey Jr.
May
Cars
The Office
Mr. Robot
"""
FRAMES = """
{} was born in the city of {}.
The author of {} is {}.
{} is married to {}.
{} was founded by {}.
The company that produced {} is {}.
The town where {} was filmed is {}.
{} lives in {}.
{}'s owner is {}.
"""


@pytest.mark.parametrize("frame", FRAMES.strip().splitlines())
@pytest.mark.parametrize("name", NAMES.strip().splitlines())
def test_a_name_is_one_thing_whatever_words_it_has(frame, name):
    assert slot(frame.format(name, "Zorbania")).subject == entity_key(name)
    if name != "May" or " in " not in frame:  # a month is a date there
        assert slot(frame.format("Contoso", name)).object == entity_key(name)


def test_a_user_may_say_how_many_values_a_relation_has():
    arity = Arity.of(functional=["works at"], many_valued=["official language"])
    assert slot("Elena works for Northwind.", arity).functional
    swiss = slot("The official language of Switzerland is German.", arity)
    assert (swiss.functional, swiss.many) == (False, True)


def test_no_text_keeps_the_reader_busy():
    for text in ("a " * 10_000, "of the " * 3_000, "The R of " * 30 + "S is O", "'s " * 100, "is " * 39, "", "  "):
        slot(text)


@needs_public_data
def test_conflicts_of_the_public_pairs_share_a_slot_and_others_do_not(test_data):
    """Where both sentences are read to one functional slot with two values, the pair is a conflict."""
    with (test_data / "contradiction_pairs.tsv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    shared = [
        relation
        for relation, fact, claim in rows
        if (new := slot(fact))
        and (old := slot(claim))
        and new.key == old.key
        and new.functional
        and new.object != old.object
    ]
    assert len(shared) >= 12
    assert "unrelated" not in shared
