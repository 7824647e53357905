"""Research as beliefs: evidence for a hypothesis, conclusions that rest on it, and what falls when it is refuted."""

import pytest

from falsify import join
from falsify.belief.contradiction import Finding
from falsify.belief.events import (
    ConclusionDrawn,
    ConclusionInvalidated,
    DependencyAdded,
    EvidenceRefuted,
    EvidenceWeighed,
    HandleGiven,
    HypothesisProposed,
    QuestionAsked,
    RevisionOpened,
    VerdictGiven,
)
from falsify.belief.graph import Hypothesis
from falsify.belief.ingest import BeliefFile, ingest
from falsify.belief.revision import AssertFact, assert_fact, given, retract
from falsify.belief.text import node_id
from falsify.ports import Candidate
from falsify.workbench.nodes import register_baseline
from falsify.workbench.runs import fail_run
from projections.obituary import REGISTER, why
from tests.lab import Lab
from tests.workbench_world import ALICE, OBJECTIVE, OWNER, Research, beliefs, decision, exhibit, idea, judge, refused


@pytest.fixture
def promoted():
    """Return research in which N-2 measured 0.9 against 0.8 and was promoted."""
    one = Research(baseline=0.8)
    one.measure(one.branch(idea("a wider layer"), width=64), 0.9)
    one.decide("N-2", "IMPROVED", "PROMOTE")
    yield one
    one.check()


def claim_id(research, node):
    return research.project.runs[research.project.nodes[node].frozen_by].claim_id


def hypothesis_id(research, text):
    return node_id("hypothesis", text, question_id=research.project.question_id)


def of_kind(events, *kinds):
    return [e for e in events if isinstance(e, kinds)]


def states(research, *handles):
    return {handle: research.state(handle) for handle in handles}


def fact(research, text, node, *, relation="contradicts"):
    """Record a fact that a person holds against what a node measured."""
    told = AssertFact(question_id=research.project.question_id, text=text, handle="F-1")
    against = {"relation": relation, "confidence": 0.9, "rationale": "seen", "person": "owner"}
    verdict = given(told.fact_id, claim_id(research, node), **against)
    finding = Finding(Candidate(verdict.claim_id, -1.0, "slot"), verdict)
    return research.record(assert_fact(research.graph, told, [finding]))


# --- what is what ---------------------------------------------------------------------------------------------


def test_a_project_is_a_question():
    one = Research()
    asked = QuestionAsked(question_id=one.project.question_id, text=OBJECTIVE, handle="p1")
    assert beliefs([r.event for r in one.records]) == [asked]


def test_a_ticket_is_a_hypothesis_and_two_with_the_same_words_are_one():
    one = Research(baseline=0.8)
    same = {"hypothesis": "Width helps."}
    asked = [idea("one", **same), idea("two", hypothesis="width  helps"), idea("three")]
    made = join.create_tickets(one.project, one.graph, asked, author=ALICE, source="agent")
    helps, other = hypothesis_id(one, "Width helps."), hypothesis_id(one, "three helps.")
    question_id = one.project.question_id
    proposed = {"question_id": question_id, "prior": join.PRIOR}
    assert of_kind(made, HypothesisProposed, HandleGiven) == [
        HypothesisProposed(hypothesis_id=helps, statement="Width helps.", handle="T-1", **proposed),
        HandleGiven(node_id=helps, question_id=question_id, handle="T-2"),
        HypothesisProposed(hypothesis_id=other, statement="three helps.", handle="T-3", **proposed),
    ]
    one.record(made)
    assert [t.hypothesis_id for t in one.project.tickets.values()] == [helps, helps, other]
    assert len([n for n in one.graph.nodes.values() if isinstance(n, Hypothesis)]) == 2
    assert one.graph.epoch == 0
    one.check()


def test_a_ticket_without_a_hypothesis_is_refused_and_none_is_created():
    one = Research()
    asked = [idea(), idea(hypothesis=" . ")]
    answer = refused(join.create_tickets, one.project, one.graph, asked, author=ALICE, source="agent")
    assert (answer, one.project.tickets) == (("invalid_request", ""), {})


@pytest.mark.parametrize(
    ("after", "terms", "stance", "weight"),
    [
        (0.9, {"noise_floor": 0.1}, "supports", 0.5),
        (0.7, {"noise_floor": 0.1}, "refutes", 0.5),
        (0.83, {"noise_floor": 0.01}, "supports", 0.75),
        (0.7, {"noise_floor": 0.1, "direction": "minimize"}, "supports", 0.5),
        (0.9, {"noise_floor": 0.0, "minimum_effect": 0.1}, "supports", 0.5),
        (0.9, {"noise_floor": 0.0, "minimum_effect": 0.0}, "supports", 1.0),
        (0.9, {"noise_floor": 1e-320, "minimum_effect": 0.0}, "supports", 1.0),
    ],
)
def test_a_frozen_run_is_evidence_by_effect_over_noise(after, terms, stance, weight):
    one = Research(baseline=0.8, **terms)
    one.branch(idea("it"), width=64)
    measured = one.measure("N-2", after)
    told = EvidenceWeighed(
        evidence_id=claim_id(one, "N-2"), hypothesis_id=hypothesis_id(one, "it helps."), stance=stance, weight=weight
    )
    assert of_kind(measured, EvidenceWeighed) == [told]
    assert one.state("R-2") == "alive"
    one.check()


@pytest.mark.parametrize(("before", "after"), [(0.8, 0.8), (0.1 + 0.2, 0.3)])
def test_no_effect_speaks_for_nothing_not_even_in_the_last_bit(before, after):
    one = Research(baseline=before, noise_floor=0.0, minimum_effect=0.0)
    one.branch(width=64)
    assert of_kind(one.measure("N-2", after), EvidenceWeighed) == []


def test_the_baseline_is_evidence_for_nothing_in_particular():
    one = Research(baseline=0.8)
    assert of_kind([r.event for r in one.records], EvidenceWeighed) == []
    text = one.graph.nodes[claim_id(one, "N-1")].text
    assert text == (
        "val_acc is 0.8 with the baseline configuration on the spirals data set (node N-1, run R-1, seed 7)."
    )


def test_evidence_says_what_was_changed():
    one = Research(baseline=0.8)
    one.measure(one.branch(width=64, rate=1), 0.9)
    text = one.graph.nodes[claim_id(one, "N-2")].text
    assert text == "val_acc is 0.9 with width 64 and rate 1.0 on the spirals data set (node N-2, run R-2, seed 7)."


def changed_code(research, summary):
    ticket_id = research.claimed(idea("other code"))
    return research.materialize(ticket_id, strategy="coding-agent", change_summary=summary)


def test_evidence_says_whose_code_it_is_also_when_it_is_measured_again():
    one = Research(baseline=0.8, executor="mine")
    one.measure(changed_code(one, "a residual connection."), 0.9)
    one.measure(one.reproduce("N-2"), 0.9)
    told = [one.graph.nodes[claim_id(one, node)].text for node in ("N-2", "N-3")]
    assert [text.partition(" on ")[0] for text in told] == ["val_acc is 0.9 with a residual connection"] * 2


@pytest.mark.parametrize("summary", ["red \x1b[31m text\0", "line\nafter line", "x" * 30_000])
def test_no_run_is_lost_to_a_summary_that_is_no_sentence(summary):
    one = Research(baseline=0.8, executor="mine")
    one.measure(changed_code(one, summary), 0.9)
    assert one.state("R-2") == "alive"


def test_a_decision_is_a_conclusion_that_rests_on_what_it_cites(promoted):
    (drawn,) = of_kind([r.event for r in promoted.records], ConclusionDrawn)
    (rests,) = of_kind([r.event for r in promoted.records], DependencyAdded)
    conclusion_id = promoted.project.decisions["D-1"].conclusion_id
    assert drawn == ConclusionDrawn(
        conclusion_id=conclusion_id,
        question_id=promoted.project.question_id,
        statement="D-1: promote N-2, IMPROVED (val_acc 0.9 against 0.8 of N-1, +0.1). as measured",
        confidence=1.0,
        handle="D-1",
    )
    assert rests == DependencyAdded(
        node_id=conclusion_id, on_id=claim_id(promoted, "N-2"), critical=True, group=join.CITED
    )
    assert (promoted.state("D-1"), promoted.incumbent()) == ("alive", ("N-2", "alive"))
    assert join.rests_on(promoted.project) == conclusion_id


def test_a_decision_that_cites_no_measurement_rests_on_the_nodes_own():
    one = Research(baseline=0.8)
    run_id = one.start(one.branch(width=64))
    log = (exhibit(run_id, "run_log"),)
    one.record([*fail_run(one.project, run_id, seconds=1.0, reason="exit 1", exhibits=log)])
    one.measure("N-2", 0.9)
    made = one.decide("N-2", "IMPROVED", "PROMOTE", refs=(log[0].evidence_id,))
    assert [e.on_id for e in of_kind(made, DependencyAdded)] == [claim_id(one, "N-2")]
    assert decision(made).evidence_refs == (log[0].evidence_id,)


def test_a_decision_that_cites_evidence_of_another_node_is_refused(promoted):
    answer = refused(promoted.decide, "N-2", "INCONCLUSIVE", "KEEP_FROZEN", refs=("EV-R-1-metric",))
    assert answer == ("refused", "foreign_evidence")


def test_the_same_decision_twice_is_two_conclusions(promoted):
    promoted.decide("N-2", "IMPROVED", "PROMOTE")
    assert states(promoted, "D-1", "D-2") == {"D-1": "alive", "D-2": "alive"}


# --- handles --------------------------------------------------------------------------------------------------


def taken(research, **parts):
    file = BeliefFile.model_validate({"question": OBJECTIVE, **parts})
    research.record(ingest(research.graph, file, person=OWNER, findings=[]))


def test_a_handle_that_stands_for_something_else_is_left_to_it():
    one = Research(baseline=0.8)
    taken(
        one,
        evidence=[{"id": "R-2", "claim": "somebody else's claim"}],
        hypotheses=[{"id": "T-1", "statement": "somebody else's idea"}],
        conclusions=[{"id": "D-1", "statement": "somebody else's conclusion", "depends_on": [{"evidence": "R-2"}]}],
    )
    before = {handle: one.graph.handles[one.project.question_id, handle] for handle in ("R-2", "T-1", "D-1")}
    one.measure(one.branch(width=64), 0.9)
    one.decide("N-2", "IMPROVED", "PROMOTE")
    assert {handle: one.graph.handles[one.project.question_id, handle] for handle in before} == before
    own = [claim_id(one, "N-2"), one.project.tickets["T-1"].hypothesis_id, one.project.decisions["D-1"].conclusion_id]
    assert [one.graph.nodes[belief].handle for belief in own] == ["", "", ""]
    one.check()


def test_a_project_on_a_question_that_was_asked_before_gives_it_its_name():
    one = Research(create=False)
    taken(one, hypotheses=[{"id": "H", "statement": "it is the width"}])
    made = one.create()
    question_id = one.project.question_id
    assert beliefs(made) == [HandleGiven(node_id=question_id, question_id=question_id, handle="p1")]
    one.check()


# --- reproductions --------------------------------------------------------------------------------------------


def test_a_reproduction_that_disagrees_refutes_the_original_and_the_decision_dies(promoted):
    made = promoted.measure(promoted.reproduce("N-2"), 0.8)
    original, again = claim_id(promoted, "N-2"), claim_id(promoted, "N-3")
    (verdict,) = of_kind(made, VerdictGiven)
    assert (verdict.relation, verdict.confidence, verdict.judge, verdict.gate, verdict.rationale) == (
        "contradicts",
        1.0,
        "numeric",
        "slot",
        "0.8 against 0.9: a difference of 0.1, and the tolerance is 0.02",
    )
    assert [(e.evidence_id, e.by) for e in of_kind(made, EvidenceRefuted)] == [(original, again)]
    assert len(of_kind(made, ConclusionInvalidated)) == 1
    assert states(promoted, "R-2", "R-3") == {"R-2": "refuted", "R-3": "alive"}
    assert promoted.incumbent() == ("N-2", promoted.state("D-1"))
    assert promoted.state("D-1") in {"invalidated", "forgotten"}
    assert join.unsound(promoted.project, promoted.graph) == {"N-2"}
    assert promoted.graph.epoch == 1


def test_why_tells_the_chain_from_the_decision_to_the_reproduction(promoted):
    promoted.measure(promoted.reproduce("N-2"), 0.8)
    reason = str(why(REGISTER.fold(promoted.records), promoted.project.decisions["D-1"].conclusion_id).as_json())
    assert all(claim_id(promoted, node) in reason for node in ("N-2", "N-3"))
    assert "a difference of 0.1, and the tolerance is 0.02" in reason


def test_a_second_reproduction_that_agrees_with_the_original_brings_it_back(promoted):
    promoted.measure(promoted.reproduce("N-2"), 0.8)
    made = promoted.measure(promoted.reproduce("N-2"), 0.9)
    assert [v.relation for v in of_kind(made, VerdictGiven)] == ["supports", "contradicts"]
    told = states(promoted, "R-2", "R-3", "R-4", "D-1")
    assert told == {"R-2": "alive", "R-3": "refuted", "R-4": "alive", "D-1": "alive"}
    assert (promoted.incumbent(), join.unsound(promoted.project, promoted.graph)) == (("N-2", "alive"), {"N-3"})


def test_a_third_value_stands_alone(promoted):
    promoted.measure(promoted.reproduce("N-2"), 0.8)
    promoted.measure(promoted.reproduce("N-2"), 0.7)
    assert states(promoted, "R-2", "R-3", "R-4") == {"R-2": "refuted", "R-3": "refuted", "R-4": "alive"}


def test_to_promote_the_reproduction_makes_the_incumbent_alive_again(promoted):
    promoted.measure(promoted.reproduce("N-2"), 0.85)
    assert refused(promoted.decide, "N-2", "INCONCLUSIVE", "PROMOTE") == ("refused", "evidence_refuted")
    promoted.decide("N-3", "INCONCLUSIVE", "PROMOTE")
    assert promoted.incumbent() == ("N-3", "alive")


def test_to_roll_back_makes_the_incumbent_alive_again(promoted):
    promoted.measure(promoted.reproduce("N-2"), 0.8)
    promoted.decide("N-1", "INCONCLUSIVE", "PROMOTE")
    assert promoted.incumbent() == ("N-1", "alive")
    assert promoted.project.decisions["D-2"].reference is None


@pytest.mark.parametrize(
    ("value", "tolerance", "weight"), [(0.9, 0.02, 1.0), (0.91, 0.02, 0.75), (0.93, 0.03, 0.5), (0.9, 0.0, 1.0)]
)
def test_a_reproduction_that_agrees_supports_and_opens_no_epoch(value, tolerance, weight):
    one = Research(baseline=0.8, tolerance=tolerance)
    one.measure(one.branch(width=64), 0.9)
    one.decide("N-2", "IMPROVED", "PROMOTE")
    made = one.measure(one.reproduce("N-2"), value)
    assert [v.relation for v in of_kind(made, VerdictGiven)] == ["supports"]
    assert [(w.stance, w.weight) for w in of_kind(made, EvidenceWeighed)] == [("supports", weight)]
    assert of_kind(made, RevisionOpened) == []
    assert (one.graph.epoch, one.incumbent()) == (0, ("N-2", "alive"))
    one.check()


def test_beyond_the_tolerance_the_reproduction_speaks_against_its_own_hypothesis(promoted):
    made = promoted.measure(promoted.reproduce("N-2"), 0.86)
    assert [(w.stance, w.weight) for w in of_kind(made, EvidenceWeighed)] == [("refutes", 0.666667)]


def test_a_reproduction_of_the_baseline_unsettles_an_incumbent_that_nobody_promoted():
    one = Research(baseline=0.8)
    assert (one.incumbent(), join.rests_on(one.project)) == (("N-1", "alive"), claim_id(one, "N-1"))
    one.measure(one.reproduce("N-1"), 0.7)
    assert one.incumbent() == ("N-1", one.state("R-1"))
    assert one.state("R-1") in {"refuted", "forgotten"}
    one.decide("N-2", "INCONCLUSIVE", "PROMOTE")
    assert one.incumbent() == ("N-2", "alive")
    one.check()


def test_other_code_is_not_held_against_the_original():
    one = Research(baseline=0.8, executor="mine")
    one.measure(changed_code(one, "a residual connection"), 0.9)
    made = one.measure(one.reproduce("N-1"), 0.8)
    assert [(v.claim_id, v.relation) for v in of_kind(made, VerdictGiven)] == [(claim_id(one, "N-1"), "supports")]
    made = one.measure(one.reproduce("N-2"), 0.9)
    assert [(v.claim_id, v.relation) for v in of_kind(made, VerdictGiven)] == [(claim_id(one, "N-2"), "supports")]
    one.check()


@pytest.mark.parametrize(
    ("original", "again", "tolerance", "relation"),
    [
        (0.90, 0.93, 0.03, "supports"),
        (0.93, 0.90, 0.03, "supports"),
        (0.90, 0.9300001, 0.03, "contradicts"),
        (0.1 + 0.2, 0.3, 0.0, "supports"),
        (0.3, 0.3000001, 0.0, "contradicts"),
        (-1e308, 1e308, 1.0, "contradicts"),
    ],
)
def test_numbers_agree_up_to_the_tolerance(original, again, tolerance, relation):
    assert join.judge_numbers(original, again, tolerance).relation == relation


# --- facts ----------------------------------------------------------------------------------------------------


def test_a_fact_refutes_a_measurement_and_the_decision_dies_with_it(promoted):
    fact(promoted, "The spiral set had label noise.", "N-2")
    assert states(promoted, "R-2", "F-1") == {"R-2": "refuted", "F-1": "alive"}
    assert promoted.incumbent()[1] in {"invalidated", "forgotten"}
    assert join.unsound(promoted.project, promoted.graph) == {"N-2"}
    reason = str(why(REGISTER.fold(promoted.records), promoted.project.decisions["D-1"].conclusion_id).as_json())
    assert "The spiral set had label noise." in reason


def test_when_the_fact_is_withdrawn_the_decision_is_alive_again(promoted):
    fact(promoted, "The spiral set had label noise.", "N-2")
    promoted.record(retract(promoted.graph, promoted.graph.handles[promoted.project.question_id, "F-1"]))
    assert (promoted.incumbent(), promoted.state("R-2")) == (("N-2", "alive"), "alive")


def test_what_is_refuted_is_not_what_others_are_held_against(promoted):
    promoted.measure(promoted.branch(width=65), 0.95)
    fact(promoted, "The spiral set had label noise.", "N-2")
    made = decision(promoted.decide("N-3", "INCONCLUSIVE", "KEEP_FROZEN"))
    assert (made.against_id, made.reference, made.measured) == ("N-1", 0.8, "IMPROVED")


# --- finishing ------------------------------------------------------------------------------------------------


def test_a_run_that_is_over_or_has_no_finite_metric_is_evidence_of_nothing():
    one = Research()
    one.record([*register_baseline(one.project, caller=OWNER)])
    run_id = one.start("N-1")
    none = one.finish(run_id, float("nan"))
    assert refused(join.succeed_run, one.project, one.graph, none) == ("refused", "no_finite_metric")
    one.record(join.succeed_run(one.project, one.graph, one.finish(run_id, 0.8)))
    assert refused(join.succeed_run, one.project, one.graph, one.finish(run_id, 0.8)) == ("refused", "run_succeeded")
    judgement = judge("N-9", "INCONCLUSIVE", "DISCARD")
    assert refused(join.commit_decision, one.project, one.graph, judgement, caller=OWNER) == ("not_found", "no_node")


def again(node_id):
    return idea(f"Reproduce {node_id}", type="reproduction", hypothesis=f"The number of {node_id} is right.")


def test_a_reproduction_of_a_reproduction_speaks_of_the_number_that_it_is_of(promoted):
    promoted.measure(promoted.reproduce("N-2"), 0.8)
    made = promoted.measure(promoted.branch(again("N-3")), 0.81)
    told = EvidenceWeighed(
        evidence_id=claim_id(promoted, "N-4"),
        hypothesis_id=hypothesis_id(promoted, "the number of n-3 is right."),
        stance="supports",
        weight=0.75,
    )
    assert (promoted.project.nodes["N-4"].reproduces, of_kind(made, EvidenceWeighed)) == ("N-2", [told])


def test_a_reproduction_that_measures_another_node_says_nothing_of_the_one_that_it_is_of(promoted):
    ticket_id = promoted.claimed(again("N-2"))
    made = promoted.measure(promoted.materialize(ticket_id, parent_node_id="N-1"), 0.8)
    assert (promoted.project.nodes["N-3"].reproduces, of_kind(made, EvidenceWeighed)) == ("N-1", [])


# --- what comes back ------------------------------------------------------------------------------------------


@pytest.fixture
def lab(tmp_path):
    """Return a real workspace with the bundled judge, in which R-3 refuted R-2 and with it the promotion D-1."""
    one = Lab(tmp_path)
    one.undermine()
    with one.bench.workspace.of("p1") as workspace:
        yield workspace


REFUTED = {"R-1": "alive", "R-2": "refuted", "R-3": "alive", "D-1": "forgotten"}
NOISE = "The spirals data set had label noise."


def all_of(workspace, *handles):
    return {handle: workspace.find(handle).state for handle in handles or REFUTED}


def told(workspace, text, **more):
    return workspace.fact(AssertFact(question_id=workspace.project.question_id, text=text, **more)).as_json()


def returns(workspace, handle):
    """Withdraw a claim and stand by it again; return what was said of it when it came back."""
    node = workspace.find(handle).id
    workspace.retract(node)
    return workspace.retract(node, restored=True).as_json()["verdicts"]


def test_a_reproduction_that_is_restored_refutes_what_it_refuted_and_no_judge_of_texts_is_asked(lab):
    assert all_of(lab) == REFUTED
    assert (returns(lab, "R-3"), all_of(lab)) == ([], REFUTED)


def test_a_measurement_said_again_in_its_own_words_is_not_held_against_others_by_its_words(lab):
    said = told(lab, lab.find("R-3").text, source_id="notebook")
    assert (said["verdicts"], all_of(lab)) == ([], REFUTED)


def test_measurements_that_no_judge_compared_are_not_compared_by_their_words_either(lab):
    assert (returns(lab, "R-1"), all_of(lab)) == ([], REFUTED)


def test_a_restored_measurement_is_still_held_against_what_is_no_measurement(lab):
    told(lab, "val_acc is 0.1 with the baseline configuration on the spirals data set.", handle="F")
    assert {verdict["claim"]["handle"] for verdict in returns(lab, "R-1")} == {"F"}


def test_a_charge_impugns_every_run_on_the_data_set_also_where_it_is_older_than_they(lab):
    told(lab, NOISE, handle="F", asserted_at="2025-11-01")
    assert all_of(lab, "F", "R-1", "R-2", "R-3") == {
        "F": "alive", "R-1": "refuted", "R-2": "refuted", "R-3": "refuted",
    }  # fmt: skip
    assert "a charge" in str(lab.why("R-1").as_json())


def test_a_charge_that_is_restored_is_not_refuted_by_a_run_that_was_measured_meanwhile(tmp_path):
    one = Lab(tmp_path)
    one.baseline()
    with one.bench.workspace.of("p1") as workspace:
        told(workspace, NOISE, handle="F", asserted_at="2025-11-01")
        one.measure(one.branch({"hidden_width": 64}), 0.9)
        returns(workspace, "F")
        assert all_of(workspace, "F", "R-1", "R-2") == {"F": "alive", "R-1": "refuted", "R-2": "refuted"}
