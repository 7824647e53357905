"""The belief file: parsed once and strictly, with the place of every fault."""

from datetime import UTC, date, datetime

import pytest
from pydantic import ValidationError

from falsify.belief.graph import UNATTRIBUTED
from falsify.belief.ingest import BeliefFile, claims
from falsify.belief.text import MAX_TEXT, node_id
from tests.driver import InMemory

QUESTION = "What broke the pump?"


def test_a_file_needs_only_a_question():
    assert BeliefFile.model_validate({"question": " What broke the pump? "}) == BeliefFile(question=QUESTION)


def test_what_an_entry_leaves_out_has_its_default():
    file = BeliefFile.model_validate(
        {
            "question": QUESTION,
            "sources": [{"id": "s"}],
            "hypotheses": [{"id": "A", "statement": "It was A"}],
            "evidence": [
                {
                    "id": "E",
                    "claim": "It leaked",
                    "supports": [{"hypothesis": "A"}],
                    "contradicts": [{"evidence": "E"}],
                    "depends_on": [{"conclusion": "K"}],
                }
            ],
            "conclusions": [{"id": "K", "statement": "So A"}],
        }
    )
    assert file.model_dump() == {
        "question": QUESTION,
        "sources": ({"id": "s", "title": "", "trust": None},),
        "hypotheses": ({"id": "A", "statement": "It was A", "prior": 0.5},),
        "evidence": (
            {
                "id": "E",
                "claim": "It leaked",
                "source_id": UNATTRIBUTED,
                "quote": "",
                "asserted_at": "",
                "supports": ({"hypothesis": "A", "weight": 1.0},),
                "refutes": (),
                "depends_on": ({"evidence": "", "conclusion": "K", "critical": True, "group": ""},),
                "contradicts": ({"evidence": "E", "confidence": 1.0, "rationale": ""},),
                "supersedes": (),
            },
        ),
        "conclusions": ({"id": "K", "statement": "So A", "confidence": 1.0, "depends_on": ()},),
    }


def test_json_and_python_say_the_same():
    body = {
        "question": QUESTION,
        "evidence": [{"id": "E", "claim": "It leaked", "asserted_at": "2021-03-15", "refutes": [{"hypothesis": "A"}]}],
    }
    as_python = BeliefFile.model_validate(body)
    assert BeliefFile.model_validate_json(as_python.model_dump_json()) == as_python


@pytest.mark.parametrize(
    ("told", "means"),
    [
        ("2021-03-15", "2021-03-15"),
        (date(2021, 3, 15), "2021-03-15"),
        (datetime(2021, 3, 15, 12, 30, tzinfo=UTC), "2021-03-15T12:30:00Z"),
        (datetime(2021, 3, 15, 12, 30), "2021-03-15T12:30:00Z"),  # noqa: DTZ001 - what YAML gives for a time without a zone
        ("2021-03-15T12:30:00+02:00", "2021-03-15T10:30:00Z"),
        ("", ""),
    ],
)
def test_a_date_may_be_text_or_what_yaml_makes_of_it(told, means):
    assert _evidence(asserted_at=told).asserted_at == means


@pytest.mark.parametrize("text", ["It leaked", "two\nlines", "“quoted” – ünïcode ✓"])
def test_texts_are_kept_as_they_are_but_for_the_space_around_them(text):
    assert _evidence(claim=f"  {text}\n").claim == text


@pytest.mark.parametrize(
    ("entry", "place", "says"),
    [
        ({"claim": ""}, "claim", "the text is empty"),
        ({"claim": " . "}, "claim", "the text is empty"),
        ({"claim": "x" * (MAX_TEXT + 1)}, "claim", "the limit is 20,000"),
        ({"claim": "a\x1bb"}, "claim", r"U\+001B"),
        ({"claim": 7}, "claim", "valid string"),
        ({"quote": "a\0b"}, "quote", r"U\+0000"),
        ({"id": ""}, "id", "at least 1 character"),
        ({"id": "two words"}, "id", "match pattern"),
        ({"id": "line\n"}, "id", "match pattern"),
        ({"id": "x" * 129}, "id", "at most 128"),
        ({"id": 7}, "id", "valid string"),
        ({"source_id": ""}, "source_id", "at least 1 character"),
        ({"asserted_at": "yesterday"}, "asserted_at", "'yesterday' is not a date; write 2021-03-15"),
        ({"asserted_at": 2021}, "asserted_at", "valid string"),
        ({"supports": [{"hypothesis": "A", "weight": 1.01}]}, "supports.0.weight", "less than or equal to 1"),
        ({"supports": [{"hypothesis": "A", "weight": -0.1}]}, "supports.0.weight", "greater than or equal to 0"),
        ({"supports": [{"hypothesis": "A", "weight": float("nan")}]}, "supports.0.weight", "finite|greater than"),
        ({"supports": [{"hypothesis": "A", "weight": "0.5"}]}, "supports.0.weight", "valid number"),
        ({"supports": [{"hypothesis": "A", "weight": True}]}, "supports.0.weight", "valid number"),
        ({"supports": ["A"]}, "supports.0", "valid dictionary or instance"),
        ({"supports": "A"}, "supports", "valid tuple"),
        ({"contradicts": [{"evidence": "E", "confidence": 2}]}, "contradicts.0.confidence", "less than or equal to 1"),
        ({"depends_on": [{}]}, "depends_on.0", "name one thing it depends on"),
        ({"depends_on": [{"evidence": "E", "conclusion": "K"}]}, "depends_on.0", "name one thing it depends on"),
        ({"depends_on": [{"evidence": "E", "critical": "yes"}]}, "depends_on.0.critical", "valid boolean"),
        ({"depends_on": [{"evidence": "E", "group": "\0E"}]}, "depends_on.0.group", "match pattern"),
        ({"depends_on": [{"hypothesis": "A"}]}, "depends_on.0.hypothesis", "not permitted"),
        ({"supprts": []}, "supprts", "not permitted"),
    ],
)
def test_a_fault_in_an_entry_is_named_with_its_place(entry, place, says):
    with pytest.raises(ValidationError, match=says) as refusal:
        _evidence(**entry)
    assert ".".join(map(str, refusal.value.errors()[0]["loc"])) == f"evidence.0.{place}"


@pytest.mark.parametrize("trust", [-0.1, float("inf"), float("nan"), "high", True])
def test_a_trust_is_a_number_of_at_least_0(trust):
    with pytest.raises(ValidationError):
        BeliefFile.model_validate({"question": QUESTION, "sources": [{"id": "s", "trust": trust}]})


def test_a_trust_may_be_more_than_1_and_a_whole_number():
    file = BeliefFile.model_validate({"question": QUESTION, "sources": [{"id": "s", "trust": 5}]})
    assert file.sources[0].trust == 5


@pytest.mark.parametrize("question", ["", None, 3, " \n"])
def test_a_file_without_a_question_is_refused(question):
    with pytest.raises(ValidationError):
        BeliefFile.model_validate({"question": question})


def test_a_parsed_file_cannot_be_changed():
    file = BeliefFile(question=QUESTION)
    with pytest.raises(ValidationError, match="frozen"):
        file.question = "Another?"


def test_the_claims_of_a_file_are_those_the_graph_does_not_hold_each_once():
    beliefs = InMemory(QUESTION)
    beliefs.ingest(evidence=[{"id": "E1", "claim": "It leaked"}])
    file = BeliefFile.model_validate(
        {
            "question": QUESTION,
            "evidence": [
                {"id": "E1", "claim": "it leaked."},
                {"id": "E2", "claim": "It burst"},
                {"id": "E3", "claim": "It burst", "source_id": "s"},
            ],
        }
    )
    found = list(claims(beliefs.graph, file))
    assert [evidence_id for evidence_id, _ in found] == [
        node_id("evidence", "It burst", question_id=beliefs.question_id)
    ]


def _evidence(**entry):
    body = {"question": QUESTION, "evidence": [{"id": "E", "claim": "It leaked", **entry}]}
    return BeliefFile.model_validate(body).evidence[0]
