"""Slots in the two gates: who becomes a candidate whatever the distance, and what the offline judge makes of it."""

import gzip
import json
import re

import numpy as np
import pytest

from falsify.belief.contradiction import find_candidates
from falsify.belief.revision import AssertFact
from falsify.belief.slots import Arity
from falsify.judges.offline import OfflineJudge
from falsify.ports import Statement
from projections.slots import SlotIndex
from surfaces.workspace import Workspace
from tests.public_data import needs_public_data


@pytest.fixture(scope="module")
def judge():
    return OfflineJudge()


@pytest.fixture
def workspace(tmp_path):
    with Workspace.init(tmp_path, environ={}) as opened:
        opened.ask("What is true?")
        yield opened


def record(workspace, *texts, **more):
    """Record facts in order; return the answer to the last."""
    question_id = workspace.question().id
    for text in texts:
        told = workspace.fact(AssertFact(question_id=question_id, text=text, **more)).as_json()
    return told


def states(workspace):
    return {node.text: node.state for node in workspace.graph.nodes.values() if node.kind == "evidence"}


def living(workspace):
    return [text for text, state in states(workspace).items() if state == "alive"]


def opinion(judge, fact, claim, *, on="", claimed_on=""):
    [answer] = judge.judge(Statement(fact, asserted_at=on), [Statement(claim, asserted_at=claimed_on)])
    return answer


def acts(answer):
    return answer.relation in {"contradicts", "supersedes"} and answer.confidence >= 0.6


class Far:
    """An embedder to which every text is as far from every other as can be."""

    name = "far"
    dimensions = 64
    threshold = 0.5

    def embed(self, texts):
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[sum(text.encode()) % self.dimensions] = 1
        return rows


# --- the first gate --------------------------------------------------------------------------------------------


def test_a_claim_in_the_same_slot_is_a_candidate_whatever_its_distance(tmp_path):
    with Workspace.init(tmp_path, environ={}, embedder=Far()) as workspace:
        workspace.ask("Who leads?")
        record(workspace, "Daniel is the head of security.", "The cafeteria serves soup.")
        told = record(workspace, "Priya took over as head of security in March.")
        assert [(v["claim"]["text"], v["gate"]) for v in told["verdicts"]] == [
            ("Daniel is the head of security.", "slot")
        ]
        assert living(workspace) == ["The cafeteria serves soup.", "Priya took over as head of security in March."]


def test_a_claim_that_is_near_too_keeps_the_gate_of_distance(workspace):
    told = record(workspace, "The capital of Australia is Sydney.", "The capital of Australia is Canberra.")
    assert [v["gate"] for v in told["verdicts"]] == ["distance"]


def test_values_that_died_and_were_forgotten_are_candidates_too(workspace):
    record(workspace, "Acme is based in Berlin.", "Acme is based in Paris.", "Acme is based in Rome.")
    graph = workspace.graph
    fact = Statement("Acme is based in Oslo.")
    found = find_candidates(graph, "E-new", fact, workspace.index)
    assert {graph.nodes[c.claim_id].text for c in found} >= {
        f"Acme is based in {city}." for city in ("Berlin", "Paris", "Rome")
    }


def test_the_index_of_slots_is_the_same_however_it_was_made(workspace):
    record(workspace, "Acme is based in Berlin.", "Acme is based in Paris.", "Anna likes rock.", "Tea is hot.")
    grown, graph = workspace.index.slots, workspace.graph
    fresh = SlotIndex()
    fresh.read(graph, graph.nodes)
    for text in ("Acme is based in Oslo.", "Anna hates rock.", "Tea is cold.", "What?"):
        assert grown.rivals(text) == fresh.rivals(text) == grown.over(graph).rivals(text)
    assert len(fresh) == len(grown) == 4


def test_a_workspace_that_is_opened_again_knows_its_slots(tmp_path):
    with Workspace.init(tmp_path, environ={}, embedder=Far()) as workspace:
        workspace.ask("?")
        record(workspace, "Daniel is the head of security.")
    with Workspace.open(tmp_path, environ={}, embedder=Far()) as again:
        assert record(again, "Priya is now the head of security.")["verdicts"][0]["gate"] == "slot"


# --- the judge -------------------------------------------------------------------------------------------------


def test_two_values_of_one_slot_contradict_and_the_rationale_says_so(judge):
    answer = opinion(judge, "The capital of Australia is Sydney.", "The capital of Australia is Canberra.")
    assert answer.relation == "contradicts"
    assert answer.confidence >= 0.85
    assert answer.rationale.startswith("same slot: the capital of Australia is Sydney against Canberra")


@pytest.mark.parametrize(
    ("fact", "dates", "relation"),
    [
        ("The CEO of Acme is Ana.", ("2024-05-01", "2021-03-01"), "supersedes"),
        ("The CEO of Acme is now Ana.", ("", ""), "supersedes"),
        ("Ana took over as CEO of Acme.", ("", ""), "supersedes"),
        ("The CEO of Acme is Ana.", ("2021-03-01T10:00:00Z", "2021-03-01T09:00:00Z"), "contradicts"),
        ("The CEO of Acme is Ana.", ("2024-05-01", ""), "contradicts"),
    ],
)
def test_a_later_value_or_a_word_of_change_supersedes(judge, fact, dates, relation):
    assert opinion(judge, fact, "The CEO of Acme is Ben.", on=dates[0], claimed_on=dates[1]).relation == relation


@pytest.mark.parametrize(
    ("fact", "claim"),
    [
        ("Anna drinks tea when relaxing.", "Anna drinks coffee at work."),
        ("The favourite drink of Anna at work is coffee.", "The favourite drink of Anna at home is tea."),
        ("The price of the plan in the EU is $29.", "The price of the plan in the US is $19."),
        ("The CEO of Northwind in 2019 was Peter.", "The CEO of Northwind since 2021 is Ana."),
        ("Anna speaks French.", "Anna speaks German."),
        ("Anna likes jazz.", "Anna likes rock."),
        ("Anna hates jazz.", "Anna loves rock."),
        ("Tom has visited Paris.", "Tom has visited Rome."),
        ("Tom is a member of the chess club.", "Tom is a member of the rowing club."),
        ("The capital of Austria is Vienna.", "The capital of Australia is Canberra."),
        ("The capital of Japan is Tokyo.", "The head of the Japan government is Shinzo Abe."),
        ("Contoso was founded in 1998.", "The headquarters of Contoso is located in the city of Oslo."),
        ("Tato Kabo is employed by Sode Group.", "Moveda was founded by Tato Kabo."),
        ("Shingon Buddhism was founded by Kukai.", "Buddhism was founded by Gautama."),
        ("Anna lives in Germany.", "Anna lives in Berlin."),
        ("The office is in Washington, D.C.", "The office is in Washington."),
        ("Ben was born in the city of Perth.", "Ben was born in the country of Australia."),
        ("The official language of the UK is English.", "The official language of the United Kingdom is English."),
        ("The team has fourteen engineers.", "The team has 14 engineers."),
    ],
)
def test_another_scope_subject_or_value_that_agrees_is_no_conflict(judge, fact, claim):
    assert not acts(opinion(judge, fact, claim))


@pytest.mark.parametrize(
    ("fact", "claim"),
    [
        ("Anna hates jazz.", "Anna loves jazz."),
        ("I don't like coffee any more.", "I love coffee."),
        ("Mark's wife is Elena.", "Mark is married to Julia."),
        ("The office has moved to 12 Harbour Street.", "The office is at 88 King Road."),
        ("The default model is gpt-4o.", "The default model is gpt-3.5."),
        ("The cluster has seven nodes.", "The cluster has 5 nodes."),
        ("The recommended dose of ibuprofen is 200 mg.", "The recommended dose of ibuprofen is 400 mg."),
        ("Priya has been appointed head of security.", "Daniel is the head of security."),
        ("Maria founded the company in 2012.", "The company was founded in 2009."),
    ],
)
def test_another_value_in_other_words_is_a_conflict(judge, fact, claim):
    assert acts(opinion(judge, fact, claim))


def test_a_user_may_make_a_relation_functional_or_many_valued():
    strict = OfflineJudge(Arity.of(functional=["speaks"], many_valued=["official language"]))
    assert acts(opinion(strict, "Anna speaks French.", "Anna speaks German."))
    pair = "The official language of Belgium is Dutch.", "The official language of Belgium is French."
    assert not acts(opinion(strict, *pair))
    assert acts(opinion(OfflineJudge(), *pair))


def test_the_settings_reach_the_judge_and_the_index(tmp_path):
    (tmp_path / "falsify.toml").write_text('functional = ["works at"]\n', encoding="utf-8")
    with Workspace.init(tmp_path, environ={"FALSIFY_MANY_VALUED": "capital, owner"}, embedder=Far()) as workspace:
        workspace.ask("?")
        record(workspace, "Elena works at Northwind.", "The capital of Bolivia is Sucre.")
        record(workspace, "Elena joined Contoso.", "The capital of Bolivia is La Paz.")
        assert living(workspace) == [
            "The capital of Bolivia is Sucre.",
            "Elena joined Contoso.",
            "The capital of Bolivia is La Paz.",
        ]


# --- both gates ------------------------------------------------------------------------------------------------


def test_love_then_hate_leaves_one_living_value(workspace):
    record(workspace, "Anna loves jazz.", "Anna hates jazz.")
    assert living(workspace) == ["Anna hates jazz."]
    record(workspace, "Anna loves jazz.")  # again, and so later
    assert living(workspace) == ["Anna loves jazz."]


def test_two_wordings_of_one_reassignment_retire_the_old_value_and_not_each_other(workspace):
    record(workspace, "Daniel is the head of security.")
    record(workspace, "Priya took over as head of security in March.", "Priya is now the head of security.")
    assert living(workspace) == ["Priya took over as head of security in March.", "Priya is now the head of security."]


def test_of_three_values_the_last_lives_and_the_first_does_not_come_back(workspace):
    record(workspace, "The CEO of Acme is Ana.", "The CEO of Acme is Ben.", "The CEO of Acme is Cleo.")
    assert living(workspace) == ["The CEO of Acme is Cleo."]
    cleo = AssertFact(question_id=workspace.question().id, text="The CEO of Acme is Cleo.").fact_id
    workspace.retract(cleo)
    assert living(workspace) == ["The CEO of Acme is Ben."]


def test_what_else_is_said_of_the_subject_lives_on(workspace):
    others = ["Elena lives in Lisbon.", "Elena has two brothers.", "Elena speaks Greek.", "Elena's manager is Ana."]
    record(workspace, *others, "Elena's favourite city is Rome.", "Elena's favourite city is Oslo.")
    assert living(workspace) == [*others, "Elena's favourite city is Oslo."]


def test_values_in_different_scopes_live_side_by_side(workspace):
    sides = ["Anna's favourite drink at work is coffee.", "Anna's favourite drink when relaxing is tea."]
    record(workspace, *sides)
    assert living(workspace) == sides


def test_a_late_value_of_an_older_date_does_not_replace_a_newer_one(workspace):
    record(workspace, "The CEO of Acme is Ben.", asserted_at="2023-01-01")
    record(workspace, "The CEO of Acme is Ana.", asserted_at="2020-01-01")
    assert living(workspace) == ["The CEO of Acme is Ben."]


@needs_public_data
def test_of_the_public_facts_only_the_last_of_each_slot_is_left(tmp_path, test_data):
    """On a slice: no fact of another subject or relation retires one, and functional slots keep one value."""
    with gzip.open(test_data / "fact_consolidation_6k.json.gz", "rt", encoding="utf-8") as file:
        context = json.load(file)[0]["context"]
    facts = [line.split(". ", 1)[1] for line in context.splitlines() if re.match(r"\d+\. ", line)]
    chosen = [
        fact
        for fact in facts
        if re.match(r"The (?:capital|author|chief executive officer|official language) of ", fact)
    ]
    with Workspace.init(tmp_path, environ={}) as workspace:
        workspace.ask("?")
        record(workspace, *chosen)
        last = {fact.split(" is ")[0]: fact for fact in chosen}
        assert sorted(living(workspace)) == sorted(last.values())
