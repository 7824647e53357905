"""Verdicts: what two numbers say, to the last digit, and which decisions they forbid."""

import math
from contextlib import suppress

import hypothesis.strategies as st
import pytest
from hypothesis import given

from falsify import join
from falsify.errors import RefusedError
from falsify.workbench import decisions
from falsify.workbench.events import DecisionCommitted, TicketCompleted
from falsify.workbench.verdicts import Comparison, check_verdict, compare, named_other, numbers, reference_of
from tests.workbench_world import BASE, OWNER, Research, decision, idea, judge, refused, research

VERDICTS = ("IMPROVED", "REGRESSED", "NEUTRAL", "INCONCLUSIVE")
ACTIONS = ("PROMOTE", "KEEP_FROZEN", "DISCARD", "REPRODUCE", "REQUEST_MORE_EVIDENCE")


def measured(before, after, **terms):
    """Return research whose N-2 measured `after` against the baseline's `before`."""
    one = Research(baseline=before, **terms)
    one.measure(one.branch(width=64), after)
    return one


def compared(one, node_id="N-2", other="N-1", **more):
    nodes = one.project.nodes
    return compare(one.project, nodes[node_id], nodes[other] if other else None, **more)


# --- the table ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "terms", "verdict", "delta"),
    [
        (0.90, 0.93, {"minimum_effect": 0.03, "noise_floor": 0.03}, "IMPROVED", 0.03),
        (0.93, 0.90, {"minimum_effect": 0.03, "noise_floor": 0.03}, "REGRESSED", -0.03),
        (0.90, 0.9299999, {"minimum_effect": 0.03, "noise_floor": 0.0}, "NEUTRAL", 0.0299999),
        (0.90, 0.9299999, {"minimum_effect": 0.0, "noise_floor": 0.03}, "NEUTRAL", 0.0299999),
        (0.1 + 0.2, 0.3, {"minimum_effect": 0.0, "noise_floor": 0.0}, "NEUTRAL", 0.0),
        (0.9, 0.9, {"minimum_effect": 0.0, "noise_floor": 0.0}, "NEUTRAL", 0.0),
        (0.9, 0.9 + 1e-9, {"minimum_effect": 0.0, "noise_floor": 0.0}, "IMPROVED", 1e-9),
        (0.9, 0.8, {"direction": "minimize"}, "IMPROVED", -0.1),
        (0.8, 0.9, {"direction": "minimize"}, "REGRESSED", 0.1),
        (0.9, 0.895, {"direction": "minimize"}, "NEUTRAL", -0.005),
        (-0.5, 0.5, {}, "IMPROVED", 1.0),
        (0.8, 0.9, {"required_evidence": ("metric", "curve")}, "INCONCLUSIVE", 0.1),
        (0.8, 0.8, {"required_evidence": ("curve",)}, "INCONCLUSIVE", 0.0),
    ],
)
def test_the_numbers_give_the_verdict(before, after, terms, verdict, delta):
    told = compared(measured(before, after, **terms))
    assert (told.verdict, told.delta) == (verdict, delta)


def test_a_comparison_is_told_whole():
    assert compared(measured(0.8, 0.9)) == Comparison(
        node_id="N-2",
        against_id="N-1",
        metric="val_acc",
        value=0.9,
        reference=0.8,
        delta=0.1,
        effect=0.1,
        clears_minimum_effect=True,
        clears_noise_floor=True,
        differing={"width": (64, 8)},
        missing_evidence=(),
        verdict="IMPROVED",
        because="the difference is in the wanted direction",
    )


def test_against_nothing_the_numbers_say_nothing():
    told = compared(measured(0.8, 0.9), other="")
    assert (told.verdict, told.delta, told.effect, told.differing, told.against_id) == (
        "INCONCLUSIVE", None, None, {}, "",
    )  # fmt: skip


def test_a_node_that_was_not_measured_compares_as_nothing():
    one = Research(baseline=0.8)
    one.branch(width=64)
    told = compared(one)
    assert (told.value, told.verdict, told.because) == (None, "INCONCLUSIVE", "there is nothing to hold it against")


def test_a_secondary_metric_is_compared_without_a_verdict():
    one = Research(baseline=0.8)
    one.measure(one.branch(width=64), 0.9, metrics={"val_acc": 0.9, "loss": 0.2})
    told = compared(one, metric="loss")
    assert (told.value, told.reference, told.verdict, told.effect) == (0.2, None, None, None)
    assert refused(compared, one, metric="f1") == ("invalid_request", "no_metric")


def test_evidence_that_the_ticket_requires_is_missed_like_the_contracts():
    one = Research(baseline=0.8, required_evidence=("curve",))
    asked = idea(required_evidence=("diff", "curve", "metric"))
    one.measure(one.branch(asked, width=64), 0.9)
    assert compared(one).missing_evidence == ("curve", "diff")
    one.measure(one.branch(idea("x", required_evidence=("diff",)), width=65), 0.9, kinds=("metric", "curve", "diff"))
    assert compared(one, "N-3").verdict == "IMPROVED"


values = st.floats(-10, 10, allow_nan=False)


@given(one=values, other=values, least=st.floats(0, 1), noise=st.floats(0, 1))
def test_a_comparison_turned_round_is_the_opposite(one, other, least, noise):
    opposite = {"IMPROVED": "REGRESSED", "REGRESSED": "IMPROVED", "NEUTRAL": "NEUTRAL"}
    there = measured(one, other, minimum_effect=least, noise_floor=noise)
    back, forth = compared(there), compared(there, "N-1", "N-2")
    assert (forth.verdict, forth.delta) == (opposite[back.verdict], -back.delta)
    turned = compared(measured(one, other, minimum_effect=least, noise_floor=noise, direction="minimize"))
    assert turned.verdict == opposite[back.verdict]


# --- what is held against what --------------------------------------------------------------------------------


def test_a_node_is_held_against_the_incumbent_and_else_against_its_nearest_sound_ancestor():
    one = measured(0.8, 0.9)
    one.decide("N-2", "IMPROVED", "PROMOTE")
    one.measure(one.branch(width=65), 0.95)
    node = one.project.nodes
    held = [reference_of(one.project, node[n]) for n in ("N-3", "N-2", "N-1")]
    assert held == [node["N-2"], node["N-1"], node["N-2"]]
    unsound = frozenset({"N-2"})
    held = [reference_of(one.project, node[n], unsound=unsound) for n in ("N-3", "N-2", "N-1")]
    assert held == [node["N-1"], node["N-1"], None]
    assert [named_other(one.project, node["N-3"], a) for a in ("parent", "baseline", "incumbent")] == [
        node["N-2"], node["N-1"], node["N-2"],
    ]  # fmt: skip
    assert named_other(one.project, node["N-2"], "incumbent") is None


# --- decisions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("after", "says"), [(0.9, "IMPROVED"), (0.7, "REGRESSED"), (0.801, "NEUTRAL")])
def test_a_decision_agrees_with_the_numbers_or_is_inconclusive(after, says):
    comparison = compared(measured(0.8, after))
    allowed = set()
    for verdict in VERDICTS:
        for action in ACTIONS:
            with suppress(RefusedError):
                check_verdict(comparison, verdict, action)
                allowed.add((verdict, action))
    settled = {(says, action) for action in ACTIONS if action != "PROMOTE" or says == "IMPROVED"}
    assert allowed == settled | {("INCONCLUSIVE", action) for action in ACTIONS}


def test_a_refusal_tells_the_numbers():
    with pytest.raises(RefusedError) as caught:
        check_verdict(compared(measured(0.8, 0.801)), "IMPROVED", "PROMOTE")
    assert (caught.value.reason, caught.value.details) == (
        "contradicts_numbers",
        {
            "node": "N-2",
            "against": "N-1",
            "metric": "val_acc",
            "value": 0.801,
            "reference": 0.8,
            "delta": 0.001,
            "measured": "NEUTRAL",
            "missing_evidence": [],
        },
    )
    assert "val_acc 0.801 against 0.8 of N-1, +0.001" in caught.value.message


def test_where_evidence_is_missing_only_inconclusive_is_decided():
    one = measured(0.8, 0.9, required_evidence=("curve",))
    for verdict in ("IMPROVED", "NEUTRAL", "REGRESSED"):
        assert refused(one.decide, "N-2", verdict, "KEEP_FROZEN") == ("refused", "contradicts_numbers")
    one.decide("N-2", "INCONCLUSIVE", "REQUEST_MORE_EVIDENCE")


def commit(one, judgement):
    return decisions.commit_decision(one.project, judgement, conclusion_id="C-1", caller=OWNER)


def test_a_promotion_is_written_with_its_numbers_and_completes_the_ticket():
    one = measured(0.8, 0.9)
    assert commit(one, judge("N-2", "IMPROVED", "PROMOTE")) == [
        DecisionCommitted(
            decision_id="D-1",
            node_id="N-2",
            verdict="IMPROVED",
            measured="IMPROVED",
            action="PROMOTE",
            rationale="as measured",
            evidence_refs=("EV-R-2-metric",),
            value=0.9,
            against_id="N-1",
            reference=0.8,
            previous_incumbent="N-1",
            decided_by=OWNER,
            conclusion_id="C-1",
        ),
        TicketCompleted(ticket_id="T-1", reason="D-1: PROMOTE"),
    ]


@pytest.mark.parametrize("action", ACTIONS)
def test_only_promote_moves_the_incumbent_and_only_an_answer_ends_the_ticket(action):
    one = measured(0.8, 0.9)
    one.decide("N-2", "IMPROVED", action)
    ended = action in {"PROMOTE", "KEEP_FROZEN", "DISCARD"}
    assert (one.project.incumbent, one.project.tickets["T-1"].status) == (
        "N-2" if action == "PROMOTE" else "N-1",
        "COMPLETED" if ended else "MATERIALIZED",
    )
    assert one.project.nodes["N-2"].decision_id == "D-1"


def test_a_second_decision_ends_no_ticket_twice():
    one = measured(0.8, 0.9)
    one.decide("N-2", "IMPROVED", "KEEP_FROZEN")
    assert [type(e) for e in research(one.decide("N-2", "IMPROVED", "PROMOTE"))] == [DecisionCommitted]


def test_what_is_not_frozen_is_not_decided_on():
    one = Research(baseline=0.8)
    one.branch(width=64)
    assert refused(one.decide, "N-2", "INCONCLUSIVE", "DISCARD") == ("refused", "node_ready")
    assert refused(one.decide, "N-9", "INCONCLUSIVE", "DISCARD") == ("not_found", "no_node")


def test_a_refuted_measurement_is_not_promoted_but_may_be_discarded():
    one = measured(0.8, 0.9)
    one.measure(one.reproduce("N-2"), 0.8)
    assert refused(one.decide, "N-2", "IMPROVED", "PROMOTE") == ("refused", "evidence_refuted")
    assert refused(one.decide, "N-2", "INCONCLUSIVE", "PROMOTE") == ("refused", "evidence_refuted")
    one.decide("N-2", "INCONCLUSIVE", "DISCARD")
    assert one.state("D-1") in {"invalidated", "forgotten"}


def test_cited_evidence_exists_and_belongs_to_the_node():
    one = measured(0.8, 0.9)
    answers = [
        refused(one.decide, "N-2", "IMPROVED", "PROMOTE", refs=refs)
        for refs in (("EV-9",), ("EV-R-1-metric",), ("EV-R-2-metric", "EV-R-1-metric"))
    ]
    assert answers == [("not_found", "no_evidence"), ("refused", "foreign_evidence"), ("refused", "foreign_evidence")]
    refs = ("EV-R-2-metric", "EV-R-2-metric")
    assert decision(one.decide("N-2", "IMPROVED", "PROMOTE", refs=refs)).evidence_refs == refs[:1]


def test_the_incumbents_before_are_told_the_last_one_first():
    one = measured(0.8, 0.85)
    one.decide("N-2", "IMPROVED", "PROMOTE")
    one.measure(one.branch(width=65), 0.9)
    one.decide("N-3", "IMPROVED", "PROMOTE")
    assert decisions.earlier_incumbents(one.project) == ["N-2", "N-1"]
    one.decide("N-1", "INCONCLUSIVE", "PROMOTE")
    assert decisions.earlier_incumbents(one.project) == ["N-3", "N-2"]
    assert decisions.promotion(one.project).id == "D-3"


def test_a_value_that_is_not_finite_never_wins():
    one = Research(baseline=0.8)
    run_id = one.start(one.branch(width=64))
    for value in (math.nan, math.inf):
        finish = one.finish(run_id, value)
        answer = refused(join.succeed_run, one.project, one.graph, finish)
        assert answer == ("refused", "no_finite_metric")
    assert one.project.nodes["N-2"].value is None


def test_numbers_are_told_in_words():
    one = measured(0.8, 0.9)
    assert [numbers(compared(one)), numbers(compared(one, other=""))] == [
        "val_acc 0.9 against 0.8 of N-1, +0.1",
        "val_acc 0.9 against nothing",
    ]
    assert compared(one).differing == {"width": (64, BASE["width"])}
