"""Runs: what they may cost, how they end, and what the budget pays for them."""

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from falsify import join
from falsify.errors import FalsifyError
from falsify.workbench import nodes, runs
from falsify.workbench.events import (
    EvidenceAttached,
    NodeFrozen,
    NodeMadeRepairable,
    RunCancelled,
    RunFailed,
    RunQueued,
    RunStarted,
    RunSucceeded,
)
from falsify.workbench.nodes import register_baseline
from falsify.workbench.runs import Budget, budget
from tests.workbench_world import OWNER, Research, exhibit, refused


def succeed(research, run_id, *, metrics=None, seconds=2.0, exhibits=()):
    told = {"val_acc": 0.9} if metrics is None else metrics
    return runs.succeed_run(research.project, run_id, seconds=seconds, metrics=told, exhibits=exhibits, claim_id="E-1")


def cancel(research, run_id, seconds=0.0):
    return research.record([*runs.cancel_run(research.project, run_id, reason="dear", seconds=seconds)])


def fail(research, run_id, seconds=1.0):
    return research.record([*runs.fail_run(research.project, run_id, seconds=seconds, reason="exit 1")])


# --- beginning -----------------------------------------------------------------------------------------------


def test_a_run_is_queued_once_and_given_to_one_worker():
    one = Research(baseline=0.8)
    node_id = one.branch(width=64)
    queued = RunQueued(run_id="R-2", node_id=node_id, attempt=1, reason="to see", limit_seconds=60.0)
    assert runs.queue_run(one.project, node_id, reason="to see") == [queued]
    one.queue(node_id)
    assert refused(runs.queue_run, one.project, node_id, reason="") == ("refused", "run_active")
    started = RunStarted(run_id="R-2", node_id=node_id, worker="w1")
    assert one.record([*runs.start_run(one.project, "R-2", worker="w1")]) == [started]
    assert refused(runs.start_run, one.project, "R-2", worker="w2") == ("refused", "run_running")
    assert refused(runs.queue_run, one.project, node_id, reason="") == ("refused", "run_active")


@pytest.mark.parametrize(("draft", "reason"), [(True, "node_draft"), (False, "")])
def test_only_a_ready_node_runs(draft, reason):
    one = Research(baseline=0.8)
    node_id = one.materialize(one.claimed(), mutation={"width": 64}, draft=draft)
    if reason:
        assert refused(runs.queue_run, one.project, node_id, reason="") == ("refused", reason)
    else:
        assert len(runs.queue_run(one.project, node_id, reason="")) == 1


def test_a_frozen_node_is_never_run_again_nor_is_one_that_is_not_there():
    one = Research(baseline=0.8)
    assert refused(runs.queue_run, one.project, "N-1", reason="") == ("refused", "node_frozen")
    assert refused(runs.queue_run, one.project, "N-9", reason="") == ("not_found", "no_node")
    assert refused(runs.start_run, one.project, "R-9", worker="w") == ("not_found", "no_run")


# --- ending --------------------------------------------------------------------------------------------------


def test_a_success_freezes_the_node_with_its_evidence():
    one = Research(baseline=0.8)
    node_id = one.branch(width=64)
    run_id = one.start(node_id)
    left = (exhibit(run_id), exhibit(run_id, "curve"))
    metrics = {"val_acc": 0.9, "loss": math.inf, "epochs": 3.0}
    assert succeed(one, run_id, metrics=metrics, exhibits=left) == [
        EvidenceAttached(node_id=node_id, run_id=run_id, exhibits=left),
        RunSucceeded(
            run_id=run_id, node_id=node_id, seconds=2.0, metrics={"val_acc": 0.9, "epochs": 3.0}, claim_id="E-1"
        ),
        NodeFrozen(node_id=node_id, run_id=run_id, value=0.9),
    ]


@pytest.mark.parametrize("metrics", [{}, {"loss": 1.0}, *({"val_acc": v} for v in (math.nan, math.inf, -math.inf))])
def test_a_run_without_a_finite_metric_never_freezes_a_node(metrics):
    one = Research(baseline=0.8)
    run_id = one.start(one.branch(width=64))
    assert refused(succeed, one, run_id, metrics=metrics) == ("refused", "no_finite_metric")
    assert refused(join.succeed_run, one.project, one.graph, one.finish(run_id, 0, metrics=metrics))[0] == "refused"


def test_a_failure_leaves_the_node_to_be_repaired_with_what_the_run_left():
    one = Research(baseline=0.8)
    node_id = one.branch(width=64)
    run_id = one.start(node_id)
    log = exhibit(run_id, "run_log")
    failed = RunFailed(run_id=run_id, node_id=node_id, seconds=1.0, reason="exit 1")
    repairable = NodeMadeRepairable(node_id=node_id, reason="exit 1")
    told = {"seconds": 1.0, "reason": "exit 1"}
    assert runs.fail_run(one.project, run_id, **told) == [failed, repairable]
    assert runs.fail_run(one.project, run_id, **told, exhibits=[log]) == [
        EvidenceAttached(node_id=node_id, run_id=run_id, exhibits=(log,)),
        failed,
        repairable,
    ]


def test_a_queued_run_is_only_started_or_cancelled():
    one = Research(baseline=0.8)
    run_id = one.queue(one.branch(width=64))
    assert refused(succeed, one, run_id) == ("refused", "run_queued")
    assert refused(fail, one, run_id) == ("refused", "run_queued")
    assert cancel(one, run_id, 9.0) == [RunCancelled(run_id=run_id, node_id="N-2", seconds=0.0, reason="dear")]


@pytest.mark.parametrize("end", [fail, cancel, lambda r, i: r.record([*succeed(r, i)])])
def test_a_run_ends_once(end):
    one = Research(baseline=0.8)
    run_id = one.start(one.branch(width=64))
    end(one, run_id)
    over = f"run_{one.project.runs[run_id].status.lower()}"
    for again in (succeed, fail, cancel, lambda r, i: runs.start_run(r.project, i, worker="w")):
        assert refused(again, one, run_id) == ("refused", over)


# --- the budget ----------------------------------------------------------------------------------------------


def left(research):
    stands = budget(research.project)
    return stands.runs_left, stands.seconds_left


def test_a_run_counts_from_being_queued_and_its_limit_is_kept_for_it():
    one = Research(baseline=0.8)
    run_id = one.queue(one.branch(width=64))
    assert budget(one.project) == Budget(runs=20, runs_used=2, seconds=600.0, seconds_spent=1.5, seconds_reserved=60.0)
    one.record([*runs.start_run(one.project, run_id, worker="w")])
    assert left(one) == (18, 538.5)


def test_a_run_that_is_cancelled_in_the_queue_gives_its_place_back():
    one = Research(baseline=0.8)
    before = left(one)
    cancel(one, one.queue(one.branch(width=64)), 30.0)
    assert left(one) == before


@pytest.mark.parametrize("end", [fail, cancel])
def test_a_run_that_had_begun_is_paid_for_however_it_ends(end):
    one = Research(baseline=0.8)
    end(one, one.start(one.branch(width=64)), 30.0)
    assert left(one) == (18, 568.5)


@pytest.mark.parametrize(
    ("seconds", "paid"), [(-1.0, 0.0), (0.0, 0.0), (1.23456, 1.235), (60.0, 60.0), (61.0, 60.0), (math.inf, 60.0)]
)
def test_what_is_paid_is_between_nothing_and_the_limit(seconds, paid):
    one = Research(baseline=0.8)
    run_id = one.start(one.branch(width=64))
    assert fail(one, run_id, seconds)[0].seconds == paid


def test_no_more_is_paid_than_was_kept_not_even_by_rounding():
    one = Research(baseline=None, budget_seconds=1.2346)
    one.record([*register_baseline(one.project, caller="owner")])
    fail(one, one.start("N-1"), 5.0)
    stands = budget(one.project)
    assert (stands.seconds_spent, stands.seconds_left) == (1.2346, 0.0)


def test_the_last_run_gets_what_is_left_and_the_next_none():
    one = Research(baseline=0.8, budget_seconds=70.0)
    first, second, third = (one.branch(width=width) for width in (64, 65, 66))
    one.queue(first)
    one.queue(second)
    assert [one.project.runs[run_id].limit_seconds for run_id in ("R-2", "R-3")] == [60.0, 8.5]
    assert refused(runs.queue_run, one.project, third, reason="") == ("refused", "budget_exhausted")


def test_runs_end_with_the_number_that_was_promised():
    one = Research(baseline=0.8, budget_runs=2)
    first, second = one.branch(width=64), one.branch(width=65)
    run_id = one.queue(first)
    assert refused(runs.queue_run, one.project, second, reason="") == ("refused", "budget_exhausted")
    cancel(one, run_id)
    one.measure(second, 0.9)
    assert refused(runs.queue_run, one.project, first, reason="") == ("refused", "budget_exhausted")


@settings(max_examples=30)
@given(
    limit=st.floats(0.5, 100.0),
    total=st.floats(1.0, 300.0),
    endings=st.lists(st.tuples(st.sampled_from(["fail", "cancel", "recall"]), st.floats(0.0, 200.0)), max_size=8),
)
def test_the_budget_is_never_overdrawn(limit, total, endings):
    one = Research(baseline=None, run_seconds=limit, budget_seconds=total)
    one.record([*register_baseline(one.project, caller="owner")])
    for ending, seconds in endings:
        if budget(one.project).seconds_left < runs.SHORTEST:
            assert refused(runs.queue_run, one.project, "N-1", reason="") == ("refused", "budget_exhausted")
            return
        if ending == "recall":
            cancel(one, one.queue("N-1"), seconds)
        else:
            {"fail": fail, "cancel": cancel}[ending](one, one.start("N-1"), seconds)
        stands = budget(one.project)
        paid = math.fsum(run.seconds for run in one.project.runs.values())
        assert stands.seconds_spent == pytest.approx(paid, abs=1e-6)
        assert stands.seconds_spent <= total + 1e-6
        assert stands.runs_used == sum(r.started_time > 0 for r in one.project.runs.values())


# --- what to do instead ---------------------------------------------------------------------------------------


def hint(call, *args, **more):
    with pytest.raises(FalsifyError) as caught:
        call(*args, **more)
    return caught.value.hint


def test_who_cannot_start_a_run_for_the_budget_waits_only_where_something_goes_on():
    one = Research(baseline=0.8, budget_runs=3)
    waiting, other, last = (one.branch(width=width) for width in (16, 32, 64))
    run_id = one.queue(waiting)
    one.measure(other, 0.9)
    assert hint(runs.queue_run, one.project, last, reason="") == "wait for active runs, or decide on what was measured"
    one.record([*runs.start_run(one.project, run_id, worker="w")])
    one.record([*runs.fail_run(one.project, run_id, seconds=1.0, reason="exit 1")])
    assert hint(runs.queue_run, one.project, last, reason="") == (
        "decide on what was measured; a person goes on under another budget with a new project: "
        "`falsify project create NEW --parent p1 ...`"
    )


def test_who_cannot_decide_about_a_node_is_told_what_has_to_happen_first():
    one = Research(baseline=0.8)
    node_id = one.branch(width=64)
    told = [hint(one.decide, node_id, "INCONCLUSIVE", "DISCARD")]
    run_id = one.queue(node_id)
    told.append(hint(one.decide, node_id, "INCONCLUSIVE", "DISCARD"))
    one.record([*runs.cancel_run(one.project, run_id, reason="no", seconds=0.0)])
    one.record([*nodes.block_node(one.project, node_id, reason="no", caller=OWNER)])
    told.append(hint(one.decide, node_id, "INCONCLUSIVE", "DISCARD"))
    assert told == [
        "run it first with falsify.run.start",
        "wait until R-2 is over: poll it with falsify.run.get",
        "a person can ready it: `falsify node ready N-2`; run it then with falsify.run.start",
    ]
