"""Answers that recall reads from slots: over living claims, hop by hop, at any time; and none where there is none."""

import gzip
import json
import re

import pytest
from click.testing import CliRunner

from cli import cli
from falsify.belief.revision import AssertFact
from replay.cutoff import Cutoff
from surfaces.workspace import Workspace
from tests.public_data import needs_public_data

FACTS = [
    "The author of Our Mutual Friend is Charles Dickens.",
    "Charles Dickens is married to Catherine Hogarth.",
    "Catherine Hogarth is a citizen of Scotland.",
    "The capital of Scotland is Edinburgh.",
    "Anna lives in Lisbon.",
    "Anna speaks Portuguese.",
    "Anna's manager is Tom Berg.",
    "Tom Berg works at Contoso.",
    "The headquarters of Contoso is located in the city of Oslo.",
    "The checkout service is written in Rust.",
    "The owner of the checkout service is Priya Shah.",
    "The recommended dose of ibuprofen is 400 mg.",
    "The cluster has 5 nodes.",
    "Contoso was founded in 1998.",
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    with Workspace.init(tmp_path_factory.mktemp("answers"), environ={}) as opened:
        record(opened, *FACTS)
        yield opened


def record(workspace, *texts, **more):
    workspace.ask("What is true?")
    for text in texts:
        workspace.fact(AssertFact(question_id=workspace.question().id, text=text, **more))


def answered(workspace, question, **more):
    found = workspace.recall(question, **more)
    return found.answer and found.answer["text"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who wrote Our Mutual Friend?", "Charles Dickens"),
        ("Who is Charles Dickens married to?", "Catherine Hogarth"),
        ("Where does Anna live?", "Lisbon"),
        ("What language does Anna speak?", "Portuguese"),
        ("Who owns the checkout service?", "Priya Shah"),
        ("Which language is the checkout service written in?", "Rust"),
        ("What is the recommended dose of ibuprofen?", "400 mg"),
        ("How many nodes does the cluster have?", "5"),
        ("When was Contoso founded?", "1998"),
        ("What is the nationality of the spouse of the author of Our Mutual Friend?", "Scotland"),
        ("What is the capital of the country of citizenship of Charles Dickens's wife?", "Edinburgh"),
        ("Which company does Anna's manager work for?", "Contoso"),
        ("In which city is the headquarters of the employer of Anna's manager?", "Oslo"),
    ],
)
def test_a_question_is_answered_over_one_claim_or_several(workspace, question, answer):
    assert answered(workspace, question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "What is the weather in Madrid?",
        "How tall is Charles Dickens?",
        "When was Anna born?",
        "How many children does Tom Berg have?",
        "Is Anna married?",
        "What is the population of Scotland?",
        "What is Tom Berg's salary?",
        "Why did the checkout service fail?",
        "What is true?",
    ],
)
def test_where_no_claim_tells_there_is_no_answer(workspace, question):
    found = workspace.recall(question)
    assert found.answer is None
    assert {"answer", "path"}.isdisjoint(found.as_json())
    assert found.hits


def test_the_path_names_the_claims_that_were_used_in_order(workspace):
    found = workspace.recall("What is the nationality of the spouse of the author of Our Mutual Friend?")
    assert [node["text"] for node in found.path] == FACTS[:3]
    assert all(node["sources"] for node in found.path)


def test_only_living_claims_answer_and_the_past_answers_as_of_then(tmp_path):
    with Workspace.init(tmp_path, environ={}) as workspace:
        record(workspace, "The capital of Scotland is Perth.", "The capital of Scotland is Edinburgh.")
        question = "What is the capital of Scotland?"
        assert answered(workspace, question) == "Edinburgh"
        assert answered(workspace, question, graph=workspace.view(Cutoff(epoch=1)).graph) == "Perth"
        edinburgh = AssertFact(
            question_id=workspace.question().id, text="The capital of Scotland is Edinburgh."
        ).fact_id
        workspace.retract(edinburgh)
        assert answered(workspace, question) == "Perth"


def test_what_was_true_then_answers_for_then(tmp_path):
    with Workspace.init(tmp_path, environ={}) as workspace:
        record(workspace, "The CEO of Acme is Ana Ruiz.", asserted_at="2020-01-01")
        record(workspace, "The CEO of Acme is Ben Long.", asserted_at="2023-01-01")
        question = "Who is the CEO of Acme?"
        assert answered(workspace, question) == "Ben Long"
        assert answered(workspace, question, graph=workspace.view(valid_at="2021-06-01").graph) == "Ana Ruiz"


def test_of_many_values_the_last_said_is_the_answer_and_the_others_are_told(tmp_path):
    with Workspace.init(tmp_path, environ={}) as workspace:
        record(workspace, "Anna speaks Greek.", "Anna speaks Dutch.", "Anna speaks Thai.")
        found = workspace.recall("Which languages does Anna speak?")
        assert (found.answer["text"], found.answer["also"]) == ("Thai", ["Dutch", "Greek"])


def test_a_chain_does_not_run_in_circles(tmp_path):
    with Workspace.init(tmp_path, environ={}) as workspace:
        record(workspace, "Anna is married to Tom.", "Tom is married to Anna.", "Tom lives in Oslo.")
        assert answered(workspace, "Where does the spouse of Anna live?") == "Oslo"
        assert answered(workspace, "Who is Anna married to?") == "Tom"


def test_the_command_shows_the_answer_and_what_it_was_read_from(tmp_path):
    with Workspace.init(tmp_path, environ={}) as workspace:
        record(workspace, *FACTS[:3])
    run = CliRunner()
    asked = ["recall", "Who is the spouse of the author of Our Mutual Friend?", "--workspace", str(tmp_path)]
    shown = run.invoke(cli, asked).output
    assert shown.startswith("Catherine Hogarth\n  read from ")
    told = json.loads(run.invoke(cli, [*asked, "--json"]).output)
    assert told["answer"]["text"] == "Catherine Hogarth"
    assert [node["text"] for node in told["path"]] == FACTS[:2]
    assert told["hits"]


@needs_public_data
def test_the_public_questions_about_a_slice_are_answered(tmp_path, test_data):
    """Of the single-hop questions, those whose fact is among the last eighty."""
    with gzip.open(test_data / "fact_consolidation_6k.json.gz", "rt", encoding="utf-8") as file:
        single = json.load(file)[1]
    facts = [m[1] for line in single["context"].splitlines() if (m := re.fullmatch(r"\d+\. (.+)", line.strip()))][-80:]
    with Workspace.init(tmp_path, environ={}) as workspace:
        record(workspace, *facts)
        asked = [
            (question, answers)
            for question, answers in zip(single["questions"], single["answers"], strict=True)
            if any(_says(fact, question, answers) for fact in facts)
        ]
        right = [question for question, answers in asked if answered(workspace, question) in answers]
    assert len(asked) >= 10
    assert len(right) >= 0.95 * len(asked)


def _says(fact, question, answers):
    value = next((a for a in answers if fact.removesuffix(".").endswith(a)), None)
    names = re.findall(r"[A-Z][\w.']+", fact.removesuffix(".").removesuffix(value)) if value else []
    return bool(names) and all(name in question for name in names if name not in {"The", "He"})
