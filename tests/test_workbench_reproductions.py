"""What is told of a reproduction: what it is of, whether it holds, and what is suggested once it was done."""

import click
import orjson
import pytest

from falsify.belief.revision import AssertFact, assert_fact
from falsify.workbench.autonomy import GATES
from falsify.workbench.autonomy import MODES as COLUMNS
from surfaces.lines.project import MODES
from surfaces.lines.project import project as shown
from surfaces.lines.research import comparison as compared
from surfaces.tools.catalogue import CATALOGUE, call
from tests.driver import judged
from tests.lab import Lab, idea

CONTRADICTED = (
    "R-3 contradicts what R-2 measured of N-2, beyond the tolerance: 0.783 against 0.7: a difference of 0.083, and the "
    "tolerance is 0.005"
)
FALLEN = "what the incumbent N-2 measured is refuted, and N-1 is its nearest ancestor whose measurement stands"


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path, tolerance=0.005)


def failed(lab, *, promoted=True):
    """N-2 measured 0.7, and its reproduction N-3 measured 0.783."""
    lab.baseline(0.65)
    lab.measure(lab.branch({"hidden_width": 64}), 0.7)
    if promoted:
        lab.decide("N-2", "IMPROVED", "PROMOTE")
    lab.measure(lab.reproduce("N-2"), 0.783)


def refute(lab, *run_ids):
    """Record a fact that contradicts what runs measured."""

    def refuted(sight):
        handles = [sight.graph.handles[sight.project.question_id, run_id] for run_id in run_ids]
        fact = AssertFact(question_id=sight.project.question_id, text=f"{run_ids} had wrong labels", source_id="audit")
        return assert_fact(sight.graph, fact, [judged(fact.fact_id, each) for each in handles])

    lab.record(refuted)


def steps(lab):
    told = lab.read("project.get_state", include=[]).get("nextActions", ())
    return [(each["tool"].removeprefix("falsify."), named(each["arguments"]), each["why"]) for each in told]


def named(arguments):
    (ticket,) = arguments.get("tickets", [{"title": ""}])
    return " ".join(filter(None, [arguments.get("node_id", ticket["title"]), arguments.get("action")]))


def send(lab, step):
    told = orjson.loads(call(lab.workspace, CATALOGUE, step["tool"], step["arguments"], caller="agent:a"))
    assert told["status"] == "ok", told
    return told


# --- one that fails -------------------------------------------------------------------------------------------


def test_a_reproduction_beyond_the_tolerance_is_told_wherever_it_is_looked_at_and_decided_on(lab):
    failed(lab)
    against = f"a decision about N-3 is held against N-1: {FALLEN}"
    compare = lab.read("node.compare", node_id="N-3")
    (step,) = compare["nextActions"]
    assert lab.read("run.get", run_id="R-3")["warnings"] == [CONTRADICTED, against]
    assert compare["warnings"] == [CONTRADICTED, against]
    assert step["arguments"]["action"] == "PROMOTE"
    assert step["why"] == f"the numbers say IMPROVED: the difference is in the wanted direction; but {CONTRADICTED}"
    assert step["arguments"]["rationale"].endswith(f"; but {CONTRADICTED}.")
    assert send(lab, step)["warnings"] == [CONTRADICTED, f"D-2 is held against N-1: {FALLEN}"]


def test_why_a_failed_reproduction_is_held_against_the_incumbent_is_told_where_that_is_another_node(lab):
    failed(lab, promoted=False)
    assert lab.read("run.get", run_id="R-3")["warnings"] == [
        CONTRADICTED,
        "a decision about N-3 is held against N-1: N-1 is the incumbent",
    ]


def test_a_run_whose_measurement_is_refuted_says_so(lab):
    failed(lab)
    assert lab.read("run.get", run_id="R-2")["warnings"] == ["what N-2 measured is refuted: see `falsify why R-2`"]


def test_every_measurement_that_a_reproduction_contradicts_is_told_the_one_it_is_of_first(lab):
    failed(lab)
    lab.measure(lab.reproduce("N-3"), 0.72)
    told = [warning[:47] for warning in lab.read("run.get", run_id="R-4")["warnings"]]
    assert told == [
        "R-4 contradicts what R-3 measured of N-3, beyon",
        "R-4 contradicts what R-2 measured of N-2, beyon",
        "a decision about N-4 is held against N-1: what ",
    ]


# --- one seed against another ---------------------------------------------------------------------------------


def test_two_seeds_of_one_configuration_have_no_verdict_and_say_what_they_are(lab):
    failed(lab)
    told = lab.result("node.compare", node_id="N-3", against="parent")
    numbers = "0.783 against 0.7: a difference of 0.083, and the tolerance is 0.005"
    seeds = f"N-3 and N-2 are one configuration with two seeds, beyond the tolerance: {numbers}"
    assert (told["verdict"], told["because"]) == (None, f"{seeds}; one seed is no improvement on another")
    assert told["reproduction"] == {
        "of": "N-2",
        "run_id": "R-2",
        "value": 0.7,
        "tolerance": 0.005,
        "within_tolerance": False,
        "because": numbers,
    }
    lines = [click.unstyle(line) for line in compared(told)]
    assert [line for line in lines if "reproduces" in line] == [
        "  reproduces  N-2, beyond the tolerance of 0.005: 0.783 against 0.7: a difference of 0.083, and the"
    ]
    assert max(map(len, lines)) <= 100


def test_a_reproduction_that_holds_is_neither_promoted_nor_discarded_for_its_seed(tmp_path):
    for value, verdict in ((0.915, "IMPROVED"), (0.885, "REGRESSED")):
        lab = Lab(tmp_path / verdict, tolerance=0.02)
        lab.baseline(0.8)
        lab.measure(lab.branch({"hidden_width": 64}), 0.9)
        lab.decide("N-2", "IMPROVED", "PROMOTE")
        lab.measure(lab.reproduce("N-2"), value)
        told = lab.read("node.compare", node_id="N-3")
        (step,) = told["nextActions"]
        assert (told["result"]["verdict"], step["arguments"]["action"]) == (verdict, "KEEP_FROZEN")
        assert told["result"]["reproduction"]["within_tolerance"]
        assert step["why"].endswith(", but it is the configuration of N-2 with another seed")
        assert "warnings" not in told
        send(lab, step)


def test_a_promoted_reproduction_is_not_offered_as_what_it_claims_over_its_original(lab):
    failed(lab)
    lab.decide("N-3", "IMPROVED", "PROMOTE")
    refute(lab, "R-3")
    assert [each for each in steps(lab) if "claims over" in each[2]] == []


# --- one that was done ----------------------------------------------------------------------------------------


def test_a_reproduction_that_was_done_is_not_suggested_again(lab):
    failed(lab)
    assert steps(lab) == [
        ("decision.commit", "N-1 PROMOTE", "N-1 was the incumbent before, and what it measured stands"),
        ("node.compare", "N-2", "see what N-2 claims over its parent"),
        ("node.compare", "N-3", "N-3 is frozen and nobody decided about it"),
    ]


def test_a_reproduction_that_was_refuted_itself_is_suggested_again(lab):
    failed(lab)
    refute(lab, "R-2", "R-3")
    assert steps(lab)[0][:2] == ("ticket.create", "Reproduce N-2")


def test_what_is_refuted_by_its_reproduction_is_not_to_be_reproduced_once_more(lab):
    failed(lab, promoted=False)
    (step,) = lab.read("node.compare", node_id="N-2")["nextActions"]
    asked = step["arguments"]
    assert (asked["verdict"], asked["action"], step["why"]) == (
        "INCONCLUSIVE",
        "KEEP_FROZEN",
        "what N-2 measured is refuted, and N-3 measured it again",
    )
    send(lab, step)
    assert "ticket.create" not in [tool for tool, _, _ in steps(lab)]


def all_refuted(lab):
    """N-3 is the incumbent, and all that was measured is refuted, but for its reproduction N-4."""
    failed(lab)
    lab.decide("N-3", "IMPROVED", "PROMOTE")
    refute(lab, "R-1", "R-2", "R-3")
    lab.measure(lab.branch({}, idea("Reproduce N-3", type="reproduction")), 0.79)


def test_where_all_else_is_refuted_the_reproduction_that_stands_is_to_be_promoted(lab):
    all_refuted(lab)
    (step,) = lab.read("node.compare", node_id="N-4")["nextActions"]
    asked = step["arguments"]
    assert (asked["node_id"], asked["verdict"], asked["action"]) == ("N-4", "INCONCLUSIVE", "PROMOTE")
    send(lab, step)
    assert lab.project.incumbent == "N-4"
    assert steps(lab) == []


def test_a_measurement_that_stands_is_offered_after_somebody_asked_for_more_evidence_of_it(lab):
    all_refuted(lab)
    lab.decide("N-4", "INCONCLUSIVE", "REQUEST_MORE_EVIDENCE")
    told = steps(lab)
    assert [each[:2] for each in told] == [("decision.commit", "N-4 PROMOTE")]
    assert told[0][2].startswith("what N-4 measured stands, and the incumbent N-3 rests on refuted evidence; but R-4")
    send(lab, lab.read("project.get_state", include=[])["nextActions"][0])
    assert lab.project.incumbent == "N-4"


@pytest.mark.parametrize("action", ["KEEP_FROZEN", "DISCARD", "REPRODUCE"])
def test_what_somebody_settled_since_is_not_offered_for_promotion(lab, action):
    all_refuted(lab)
    lab.decide("N-4", "INCONCLUSIVE", action)
    assert [each for each in steps(lab) if each[0] == "decision.commit"] == []


def test_what_was_discarded_for_an_incumbent_that_fell_is_offered_now(lab):
    lab.baseline(0.65)
    for width, value in ((64, 0.9), (32, 0.8)):
        lab.measure(lab.branch({"hidden_width": width}, parent_node_id="N-1"), value)
        lab.decide(*(("N-2", "IMPROVED", "PROMOTE") if width == 64 else ("N-3", "REGRESSED", "DISCARD")))
    refute(lab, "R-2")
    assert ("decision.commit", "N-3 PROMOTE") in [each[:2] for each in steps(lab)]


# --- what it is of --------------------------------------------------------------------------------------------


def test_a_node_and_its_ticket_name_the_same_node_that_is_reproduced(lab):
    all_refuted(lab)
    (ticket,) = lab.result("ticket.list", sort="created_at", limit=1)["tickets"]
    rows = {row["id"]: row["reproduces"] for row in lab.result("graph.get")["nodes"]}
    assert (ticket["reproduces"], rows) == ("N-3", {"N-1": None, "N-2": None, "N-3": "N-2", "N-4": "N-3"})
    (event,) = [
        row["event"]
        for row in lab.result("project.get_state")["recent_events"]
        if row["event"].startswith("N-4 is created")
    ]
    assert event == "N-4 is created to reproduce N-3 with seed 9"


# --- for people -----------------------------------------------------------------------------------------------


def remedies(lab, **more):
    told = [click.unstyle(line) for line in shown(lab.result("project.get_state"), **more)]
    assert max(map(len, told)) <= 100
    return [line.strip(" •*") for line in told if line.startswith(("  •", "  *"))]


def test_people_are_shown_only_ways_back_that_are_there(lab):
    failed(lab)
    assert remedies(lab) == [
        "see why: `falsify why D-1`",
        "what N-3 measured stands: `falsify node compare N-3`",
        "promote: `falsify decision commit N-3 --verdict IMPROVED --action PROMOTE --rationale WHY`",
        "go back to N-1, an earlier incumbent that stands: `falsify decision rollback`",
    ]
    lab.decide("N-3", "IMPROVED", "PROMOTE")
    refute(lab, "R-1", "R-2", "R-3")
    assert remedies(lab) == [
        "see why: `falsify why D-2`",
        "measure it again: `falsify ticket create`, with --type reproduction --title 'Reproduce N-3'",
    ]
    assert remedies(lab, past=True) == []
    lab.measure(lab.branch({}, idea("Reproduce N-3", type="reproduction")), 0.79)
    assert remedies(lab) == [
        "see why: `falsify why D-2`",
        "what N-4 measured stands: `falsify node compare N-4`",
        "promote: `falsify decision commit N-4 --verdict INCONCLUSIVE --action PROMOTE --rationale WHY`",
    ]


WORDS = {
    "falsify.ticket.create": "everything",
    "falsify.ticket.claim": "everything",
    "falsify.experiment.materialize": "everything",
    "falsify.belief.record": "everything",
    "falsify.run.start": "start",
    "falsify.run.cancel": "cancel",
    "falsify.decision.commit:PROMOTE": "promote",
    "falsify.belief.revise": "revise",
    "falsify.belief.retract": "retract",
}
"""By which word of the line about a mode it is said that agents ask for this."""


@pytest.mark.parametrize("mode", COLUMNS)
def test_what_is_said_of_a_mode_is_what_its_column_of_the_table_has(mode):
    asked = {tool for tool, gates in GATES.items() if gates[COLUMNS.index(mode)] == "ask"}
    line = MODES[mode]
    if "everything but decisions that promote nothing" in line:
        assert asked == GATES.keys() - {"falsify.decision.commit"}
    else:
        assert asked == {tool for tool, word in WORDS.items() if word in line.split("agents ask", 1)[1]}
