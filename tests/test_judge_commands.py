"""`falsify judge` and `falsify calibrate`: both gates, looked at and measured, with a workspace or without one."""

import json
import subprocess
import sys
from typing import get_args

import pytest

import cli
from falsify.errors import InvalidInputError
from falsify.judges.quality import (
    Pair,
    accuracy,
    acting,
    best_threshold,
    conflict_score,
    quality,
    read_pairs,
)
from falsify.ports import Abstention, Opinion
from surfaces.commands.judging import KINDS
from surfaces.settings import JudgeKind
from surfaces.workspace import Workspace

BACKUPS = "All backups are encrypted at rest."
NEVER = "The audit found the backups were never encrypted at rest."

PAIRS = f"""\
relation\tnew fact\tclaim
contradicts\t{NEVER}\t{BACKUPS}
supersedes\tThe office moved from Lyon to Nantes.\tThe office is in Lyon.

supports\tEvery backup is encrypted at rest.\t{BACKUPS}
unrelated\tThe office is in Lyon.\t{BACKUPS}
"""


@pytest.fixture
def falsify(tmp_path, monkeypatch, capfd):
    """Run a command where there is no workspace; return its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capfd.readouterr()
        code = cli.run(list(words))
        return code, *capfd.readouterr()

    return run


@pytest.fixture
def pairs(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text(PAIRS, encoding="utf-8")
    return str(file)


def told(result):
    code, out, _ = result
    assert code == 0, result
    return json.loads(out)


# --- judge -----------------------------------------------------------------------------------------------------


def test_a_conflict_is_shown_with_its_reason_and_both_gates(falsify):
    answer = told(falsify("judge", NEVER, BACKUPS, "--json"))
    assert (answer["relation"], answer["judge"], answer["acts"]) == ("contradicts", "offline-nli", True)
    assert answer["confidence"] >= 0.6
    assert "negated" in answer["rationale"]
    gates = answer["gates"]
    assert (gates["candidate"], gates["by"], gates["threshold"]) == (True, "distance", 0.55)
    assert gates["distance"] < 0.55


def test_a_claim_that_is_too_far_away_would_not_come_before_the_judge(falsify):
    answer = told(falsify("judge", NEVER, "The office is in Lyon.", "--json"))
    assert (answer["gates"]["candidate"], answer["gates"]["by"], answer["acts"]) == (False, None, False)
    code, out, _ = falsify("judge", NEVER, "The office is in Lyon.")
    assert code == 0
    assert "it would not come before the judge" in out


def test_a_claim_far_away_is_a_candidate_by_the_source_that_the_fact_names(falsify):
    words = ("judge", "The March QA report was back-dated.", "X knew of the defect.", "--json")
    assert not told(falsify(*words))["gates"]["candidate"]
    answer = told(falsify(*words, "--source-title", "QA report of March 2021"))
    assert (answer["gates"]["by"], answer["relation"], answer["acts"]) == ("source", "contradicts", True)


def test_the_workspace_and_its_settings_are_used_where_there_is_one(falsify, tmp_path, monkeypatch):
    root = tmp_path / "inquiry"
    with Workspace.init(root, environ={}) as workspace:
        from falsify.belief.revision import AssertFact

        workspace.ask("Which way?")
        claim = AssertFact(question_id=workspace.question().id, text=BACKUPS, handle="E_backups")
        workspace.fact(claim)
        head = workspace.log.head()
    (root / "falsify.toml").write_text('judge = "pinned"\nembedder_threshold = 0.25\n')
    monkeypatch.setenv("REFUTED_ID", "E_backups")
    answer = told(falsify("-w", str(root), "judge", NEVER, BACKUPS, "--json"))
    assert (answer["judge"], answer["gates"]["threshold"], answer["gates"]["candidate"]) == ("pinned", 0.25, False)
    with Workspace.open(root, environ={}) as workspace:
        assert workspace.log.head() == head


def test_a_judge_that_gives_no_verdict_is_shown_as_that(falsify, monkeypatch):
    from falsify.judges import offline

    monkeypatch.setattr(offline.OfflineJudge, "judge", lambda *_: [Abstention("it is asleep")])
    answer = told(falsify("judge", NEVER, BACKUPS, "--json"))
    assert (answer["relation"], answer["rationale"], answer["acts"]) == (None, "it is asleep", False)
    assert "no verdict: it is asleep" in falsify("judge", NEVER, BACKUPS)[1]


@pytest.mark.parametrize(
    ("words", "environ", "code", "says"),
    [
        (("judge", NEVER, BACKUPS, "--judge", "pinned"), {}, 2, "needs to know what to refute"),
        (("judge", NEVER, BACKUPS, "--judge", "pinned"), {"REFUTED_ID": "E"}, 3, "here is none"),
        (("judge", NEVER, BACKUPS, "-w", "nowhere"), {}, 3, "is not a workspace"),
        (("judge", NEVER, BACKUPS), {"FALSIFY_EMBEDDER": "magic"}, 2, "FALSIFY_EMBEDDER"),
        (("judge", "", BACKUPS), {}, 2, "the fact"),
        (("calibrate", "nothing.tsv"), {}, 3, "there is no file nothing.tsv"),
        (("calibrate", "."), {}, 8, "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_message(falsify, monkeypatch, words, environ, code, says):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    ended, out, err = falsify(*words)
    assert (ended, out) == (code, "")
    assert says in err


def test_the_kinds_on_the_command_line_are_those_of_the_settings():
    assert get_args(JudgeKind) == KINDS


# --- calibrate -------------------------------------------------------------------------------------------------


def test_the_judge_is_measured_on_labelled_pairs(falsify, pairs):
    answer = told(falsify("calibrate", pairs, "--json"))
    assert {name: answer[name] for name in ("pairs", "conflicts", "abstained", "acts_from")} == {
        "pairs": 4,
        "conflicts": 2,
        "abstained": 0,
        "acts_from": 0.6,
    }
    assert (answer["precision"], answer["recall"], answer["f1"], answer["accuracy"]) == (1.0, 1.0, 1.0, 1.0)
    assert 0.6 <= answer["threshold"] <= 1
    code, out, _ = falsify("calibrate", pairs)
    assert code == 0
    assert "precision 1.000  recall 1.000  F1 1.000" in out


def test_the_first_gate_is_measured_by_the_distance_that_keeps_the_conflicts(falsify, pairs):
    answer = told(falsify("calibrate", pairs, "--embedder", "--json"))
    assert (answer["embedder"], answer["recall"], answer["present"]) == ("minilm-l6-v2-w8", 1.0, 0.55)
    assert 0 < answer["threshold"] < 1
    assert f"embedder_threshold = {answer['threshold']:.2f}" in falsify("calibrate", pairs, "--embedder")[1]


def test_pairs_are_read_from_standard_input():
    done = subprocess.run(
        [sys.executable, "-m", "cli", "calibrate", "-", "--embedder", "--json"],
        input=PAIRS.encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["pairs"] == 4


def test_embedder_and_judge_exclude_each_other(falsify, pairs):
    assert falsify("calibrate", pairs, "--embedder", "--judge", "offline")[0] == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("contradicts\tonly a fact", "x.tsv, line 2: it does not have three fields"),
        ("contradicts\ta\tb\tc", "x.tsv, line 2: it does not have three fields"),
        ("contradicts\t\tb", "x.tsv, line 2: it does not have three fields"),
        ("refutes\ta\tb", "x.tsv, line 2: 'refutes' is no relation"),
    ],
)
def test_a_line_that_is_no_pair_is_named(line, says):
    with pytest.raises(InvalidInputError, match=says):
        read_pairs(["supports\ta\tb", line], name="x.tsv")


def test_nothing_to_measure_is_refused():
    with pytest.raises(InvalidInputError, match=r"x\.tsv has no pair"):
        read_pairs(["relation\tfact\tclaim\n", "\n"], name="x.tsv")


def test_a_file_with_windows_lines_is_read():
    assert read_pairs(["Supports\ta\tb\r\n"], name="x") == [Pair("supports", "a", "b")]


# --- the numbers -----------------------------------------------------------------------------------------------


def test_precision_and_recall_count_what_was_found():
    found = quality([True, True, True, False, False], [True, True, False, True, False])
    assert (found.precision, found.recall, round(found.f1, 3)) == (2 / 3, 2 / 3, 0.667)
    assert quality([True], [False]).f1 == 0
    assert quality([False], [False]).recall == 0


def test_the_best_threshold_has_the_best_f1():
    truth, scores = [True, True, False, False, True], [0.9, 0.8, 0.7, 0.0, 0.0]
    assert best_threshold(truth, scores) == 0.8
    assert acting(scores, 0.8) == [True, True, False, False, False]
    assert best_threshold([True], [0.0]) == 0.6


def test_only_a_conflict_scores_and_only_an_opinion_can_be_right():
    answers = [Opinion("contradicts", 0.7, "r"), Opinion("supports", 0.9, "r"), Abstention("asleep")]
    assert list(map(conflict_score, answers)) == [0.7, 0.0, 0.0]
    pairs = [Pair("contradicts", "a", "b"), Pair("unrelated", "a", "b"), Pair("unrelated", "a", "b")]
    assert accuracy(pairs, answers) == 1 / 3
