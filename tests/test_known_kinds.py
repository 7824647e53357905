"""Kinds of failure that public bug reports of memory systems tell of, each held against a real workspace."""

from itertools import pairwise

import pytest

from falsify.ports import Abstention, Opinion
from replay.cutoff import Cutoff
from surfaces.belief_file import Document
from tests.test_workspace import fact, opened, state


class Contrary:
    """Says that two different prices contradict each other; it has no answer where it is told to stall."""

    name, version = "contrary", "1"

    def __init__(self, stalls_on=()):
        self.stalls_on = stalls_on

    def judge(self, fact, claims):
        return [
            Abstention("timed out")
            if any(word in claim.text for word in self.stalls_on)
            else Opinion("contradicts", 0.9, "another price")
            if "price" in claim.text and "price" in fact.text
            else Opinion("unrelated", 0.9, "about something else")
            for claim in claims
        ]


@pytest.fixture
def workspace(tmp_path):
    with opened(tmp_path, judge=Contrary()) as made:
        made.ask("What does it cost?")
        yield made


def prices(workspace, graph=None):
    graph = graph or workspace.graph
    return {
        n.text.removeprefix("the price is "): n.state for n in graph.nodes.values() if n.text.startswith("the price")
    }


def test_equal_dates_leave_the_price_that_was_said_later(workspace):
    fact(workspace, "the price is 10", asserted_at="2024-05-01")
    fact(workspace, "the price is 12", asserted_at="2024-05-01")
    assert prices(workspace) == {"10": "refuted", "12": "alive"}


def test_a_day_and_a_time_of_that_day_are_equal_dates(workspace):
    fact(workspace, "the price is 10", asserted_at="2024-05-01T18:00:00Z")
    fact(workspace, "the price is 12", asserted_at="2024-05-01")
    assert prices(workspace) == {"10": "refuted", "12": "alive"}


def test_history_filled_in_backwards_ends_at_the_newest_date_and_each_date_has_its_own_truth(workspace):
    for year in (2023, 2021, 2024, 2022):
        fact(workspace, f"the price is {year - 2000}", asserted_at=f"{year}-01-01")
    assert prices(workspace) == {"23": "refuted", "21": "refuted", "24": "alive", "22": "refuted"}
    for year in (2021, 2022, 2023, 2024):
        then = workspace.view(valid_at=f"{year}-06-01").graph
        assert [p for p, s in prices(workspace, then).items() if s == "alive"] == [str(year - 2000)]


def test_three_prices_and_the_first_again_end_at_the_first(workspace):
    for price in (10, 12, 14, 10):
        fact(workspace, f"the price is {price}")
    assert prices(workspace) == {"10": "alive", "12": "refuted", "14": "refuted"}


def test_one_claim_of_four_sources_is_one_node_and_falls_with_the_last_of_them(workspace):
    for source in ("a", "b", "c", "d"):
        fact(workspace, "the price is 10", source_id=source, handle="ten")
    ten = workspace.find("ten").id
    for source in ("a", "b", "c"):
        workspace.retract(ten, source_id=source)
        assert state(workspace, "ten") == "alive"
    workspace.retract(ten, source_id="d")
    assert state(workspace, "ten") == "forgotten"
    workspace.retract(ten, source_id="b", restored=True)
    assert state(workspace, "ten") == "alive"


def test_an_old_document_in_other_words_does_not_bring_back_what_was_refuted(workspace):
    fact(workspace, "the price is 10", asserted_at="2023-01-01")
    fact(workspace, "the price is 12", asserted_at="2024-01-01")
    entry = "{id: again, claim: a price of 10 is asked, asserted_at: 2023-02-01}"
    old = f"question: What does it cost?\nevidence:\n  - {entry}\n"
    workspace.ingest(Document("old.yaml", old), judged=True)
    assert (state(workspace, "again"), prices(workspace)["12"]) == ("refuted", "alive")


def test_losing_one_of_two_supports_costs_standing_and_losing_both_the_hypothesis(tmp_path):
    beliefs = """\
question: Which?
hypotheses: [{id: H, statement: this one}, {id: R, statement: that one}]
evidence:
  - {id: one, claim: first sign, supports: [{hypothesis: H, weight: 0.5}]}
  - {id: two, claim: second sign, supports: [{hypothesis: H, weight: 0.4}]}
  - {id: rival, claim: third sign, supports: [{hypothesis: R, weight: 0.1}]}
"""
    with opened(tmp_path) as workspace:
        workspace.ingest(Document("b.yaml", beliefs))
        workspace.retract(workspace.find("one").id)
        assert (state(workspace, "H"), workspace.question().frontier) == ("alive", workspace.find("H").id)
        workspace.retract(workspace.find("two").id)
        assert (state(workspace, "H"), workspace.question().frontier) == ("superseded", workspace.find("R").id)


@pytest.mark.parametrize("length", range(1, 11))
def test_a_chain_of_refuters_alternates_down_to_the_claim(workspace, length):
    names = ["claim", *(f"refuter{i}" for i in range(length))]
    for name in names:
        fact(workspace, f"{name} says so", handle=name)
    for target, refuter in pairwise(names):
        workspace.rule(
            workspace.find(refuter).id, workspace.find(target).id, relation="contradicts", confidence=1.0, rationale=""
        )
    # The last stands, the one before it falls, and so on down.
    assert [state(workspace, name) for name in reversed(names)] == [
        "refuted" if place % 2 else "alive" for place in range(length + 1)
    ]


def test_a_judge_that_stalls_in_the_middle_of_a_batch_loses_only_its_own_verdict(workspace):
    fact(workspace, "the price is 10 in Rome", handle="rome")
    workspace._given_judge = workspace.__dict__["judge"] = Contrary(stalls_on=("Rome",))
    told = fact(workspace, "the price is 11 in Oslo", handle="oslo")
    assert [v["relation"] for v in told["verdicts"]] == [None]
    told = fact(workspace, "the price is 12", handle="twelve")
    assert {(v["claim"]["handle"], v["relation"]) for v in told["verdicts"]} == {
        ("rome", None),
        ("oslo", "contradicts"),
    }
    assert (state(workspace, "rome"), state(workspace, "oslo")) == ("alive", "refuted")
    workspace._given_judge = workspace.__dict__["judge"] = Contrary()
    workspace.adjudicate(workspace.find("twelve").id)
    assert state(workspace, "rome") == "refuted"


def test_a_batch_that_adds_and_removes_is_one_revision(workspace, tmp_path):
    from surfaces.intake import Wishes, find, take

    note = tmp_path / "note.md"
    note.write_text("# Note\n\nThe gate was open. The lamp was lit.\n", encoding="utf-8")
    take(workspace, find([note])[0][0], Wishes())
    before = workspace.graph.epoch
    note.write_text("# Note\n\nThe gate was open. The dog was barking.\n", encoding="utf-8")
    take(workspace, find([note])[0][0], Wishes())
    said = {n.text: n.state for n in workspace.graph.nodes.values() if n.kind == "evidence"}
    assert said == {"The gate was open.": "alive", "The lamp was lit.": "forgotten", "The dog was barking.": "alive"}
    assert workspace.graph.epoch == before + 1
    then = workspace.view(Cutoff(epoch=before)).graph
    assert {n.text for n in then.nodes.values() if n.kind == "evidence" and n.alive} == {
        "The gate was open.",
        "The lamp was lit.",
    }


def test_a_forgotten_claim_that_comes_back_is_held_against_what_was_said_meanwhile(workspace):
    fact(workspace, "the price is 10", asserted_at="2023-01-01", handle="ten")
    workspace.retract(workspace.find("ten").id)
    assert state(workspace, "ten") == "forgotten"
    fact(workspace, "the price is 12", asserted_at="2024-01-01")
    workspace.retract(workspace.find("ten").id, restored=True)
    assert prices(workspace) == {"10": "refuted", "12": "alive"}


def test_derived_evidence_that_comes_back_with_what_it_rests_on_is_examined_too(workspace):
    beliefs = """\
question: What does it cost?
evidence:
  - {id: invoice, claim: the invoice is genuine}
  - {id: ten, claim: the price is 10, depends_on: [{evidence: invoice}], asserted_at: 2023-01-01}
"""
    workspace.ingest(Document("b.yaml", beliefs))
    workspace.retract(workspace.find("invoice").id)
    assert state(workspace, "ten") == "forgotten"
    fact(workspace, "the price is 12", asserted_at="2024-01-01")
    workspace.retract(workspace.find("invoice").id, restored=True)
    assert (state(workspace, "invoice"), prices(workspace)) == ("alive", {"10": "refuted", "12": "alive"})
