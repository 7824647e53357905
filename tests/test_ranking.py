"""The rank of tickets, to the digit: as it is, as it was at a revision, and on replay."""

import pytest

from falsify.workbench.ranking import named_keys, rank_score, scorer
from falsify.workbench.tickets import pin_ticket, prioritize_ticket
from projections.workbench import WORKBENCH
from tests.workbench_world import OWNER, Research, idea

PLAIN = {"title": "sleep", "hypothesis": "Sleep helps.", "instruction": "sleep"}


def ranked(research, ticket_id="T-1", **at):
    return rank_score(research.project, research.project.tickets[ticket_id], **at)


def proposed(*, source="agent", **words):
    one = Research("MANUAL")
    one.propose(idea(**{**PLAIN, **words}), source=source)
    return one


def age(research, ticket_id="T-1", at=None):
    revision = research.project.revision if at is None else at
    return 100 * (revision - research.project.tickets[ticket_id].created_at)


@pytest.mark.parametrize(
    ("source", "points"), [("human", 30_000), ("agent", 20_000), ("system", 15_000), ("literature", 10_000)]
)
def test_each_source_has_its_points(source, points):
    one = proposed(source=source)
    assert ranked(one) == points + age(one)


@pytest.mark.parametrize(
    ("instruction", "points"),
    [
        ("try width", 40_000),
        ("try width and rate", 40_000),
        ("try WIDTH.", 40_000),
        ("try widths", 0),
        ("try bandwidth", 0),
        ("", 0),
    ],
)
def test_words_that_name_an_untried_key_have_forty_points(instruction, points):
    one = proposed(instruction=instruction)
    assert ranked(one) == 20_000 + age(one) + points


def test_a_key_is_worth_less_the_more_nodes_changed_it_and_keys_are_averaged():
    one = Research(baseline=0.8)
    for width in (64, 65):
        one.branch(width=width)
    one.propose(idea(**PLAIN | {"instruction": "width"}), idea(**PLAIN | {"instruction": "width, rate, activation"}))
    assert ranked(one, "T-3") - age(one, "T-3") == 20_000 + 40_000 // 3
    assert ranked(one, "T-4") - age(one, "T-4") == 20_000 + (13_333 + 40_000 + 40_000) // 3


def test_a_reproduction_tries_nothing_new():
    one = Research(baseline=0.8)
    one.measure(one.branch(width=64), 0.9)
    before = one.project.tries
    one.reproduce("N-2")
    assert one.project.tries == before


def test_pins_outweigh_everything_and_priorities_are_a_hundred_points_each():
    one = proposed()
    before = ranked(one) - age(one)
    one.record([*prioritize_ticket(one.project, "T-1", priority=-9, caller=OWNER)])
    assert ranked(one) - age(one) == before - 900_000
    one.record([*pin_ticket(one.project, "T-1", pinned=True, caller=OWNER)])
    assert ranked(one) - age(one) == before - 900_000 + 10_000_000
    one.record([*prioritize_ticket(one.project, "T-1", priority=9, caller=OWNER)])
    one.record([*pin_ticket(one.project, "T-1", pinned=False, caller=OWNER)])
    assert ranked(one) - age(one) == before + 900_000


def test_age_is_a_tenth_of_a_point_a_revision_and_at_most_fifty():
    one = proposed()
    born = one.project.tickets["T-1"].created_at
    ages = {n: ranked(one, revision=born + n) - 20_000 for n in (0, 1, 499, 500, 9999)}
    assert ages == {0: 0, 1: 100, 499: 49_900, 500: 50_000, 9999: 50_000}


def test_a_rank_as_of_a_revision_is_what_it_was_then():
    one = Research(baseline=0.8)
    one.propose(idea(**PLAIN | {"instruction": "width"}))
    then = [(one.project.revision, ranked(one))]
    for step in (
        lambda: one.record([*pin_ticket(one.project, "T-1", pinned=True, caller=OWNER)]),
        lambda: one.branch(width=64),
        lambda: one.record([*prioritize_ticket(one.project, "T-1", priority=3, caller=OWNER)]),
        lambda: one.branch(width=65),
        lambda: one.record([*pin_ticket(one.project, "T-1", pinned=False, caller=OWNER)]),
    ):
        step()
        then.append((one.project.revision, ranked(one)))
    assert [(revision, ranked(one, revision=revision)) for revision, _ in then] == then


def test_every_rank_is_the_same_on_replay():
    one = Research(baseline=0.8)
    for width in (64, 65):
        one.branch(idea(f"width {width}"), width=width)
    one.propose(idea("rate"), idea("nothing"), source="human")
    again = WORKBENCH.fold(one.records)
    scores = [
        {t.id: scorer(project, revision)(t) for t in project.tickets.values() if t.created_at <= revision}
        for project in (one.project, again)
        for revision in (project.revision, project.revision // 2)
    ]
    assert (scores[0], scores[1]) == (scores[2], scores[3])


def test_keys_are_named_in_words_of_their_own():
    names = ("learning_rate", "l2", "rate")
    assert named_keys(names, "a Learning-Rate of 3", "L2!") == ("learning_rate", "l2", "rate")
    assert named_keys(names, "learning", "rate") == ("learning_rate", "rate")
    assert named_keys(names, "learning the ropes, l 2") == ()
