"""A log that says other than it must is found out, and what is wrong is named by its event."""

from dataclasses import replace
from itertools import count

import pytest

from falsify.belief.events import (
    BeliefEvent,
    ConclusionInvalidated,
    DependencyAdded,
    EvidenceRecorded,
    EvidenceRefuted,
    EvidenceSuperseded,
    FrontierMoved,
    HypothesisSuperseded,
    NodeForgotten,
    RevisionOpened,
    VerdictGiven,
)
from falsify.codec import encode
from falsify.events import Event
from projections.beliefs import BELIEFS, CONSEQUENCES
from replay.verify import Divergence, mislabelled, redecide
from tests.histories import History

QUESTION = "Did they know?"


@pytest.fixture(scope="module")
def history():
    """Return a story in three commands: a file, a fact that kills, a withdrawal that brings back."""
    history = History(QUESTION)
    history.ingest(
        hypotheses=[{"id": "A", "statement": "Through the report"}, {"id": "B", "statement": "Through the letter"}],
        evidence=[
            {"id": "E", "claim": "The report says so", "supports": [{"hypothesis": "A", "weight": 0.8}]},
            {"id": "L", "claim": "The letter says so", "supports": [{"hypothesis": "B", "weight": 0.5}]},
        ],
        conclusions=[
            {"id": "K", "statement": "They knew in March", "depends_on": [{"evidence": "E"}]},
            {"id": "K2", "statement": "They are liable", "depends_on": [{"conclusion": "K"}]},
        ],
    )
    history.ingest(
        evidence=[{"id": "F", "claim": "The report was back-dated", "contradicts": [{"evidence": "E"}]}],
    )
    history.retract("F")
    return history


def changed(history, old, *new, of=2):
    """Return the records with the event of command `of` (from 1) that is like `old` replaced by others."""
    records, place = [], None
    commands = list(dict.fromkeys(r.command for r in history.records()))
    for record in history.records():
        if record.command == commands[of - 1] and isinstance(record.event, type(old)) and record.event == old:
            place = record.position
            records += [record._replace(event=event) for event in new]
        else:
            records.append(record)
    assert place is not None
    position = count(1)
    return [r._replace(position=next(position)) for r in records], place


def the(history, kind, of=2):
    """Return the first event of a kind in a command."""
    commands = list(dict.fromkeys(r.command for r in history.records()))
    return next(r.event for r in history.records() if r.command == commands[of - 1] and isinstance(r.event, kind))


def body(event: BeliefEvent) -> str:
    return encode(event).decode()


def test_an_honest_log_diverges_nowhere(history):
    graph, divergence = redecide(history.records())
    assert divergence is None
    assert list(mislabelled(graph)) == []
    assert history.states() == {h: graph.nodes[history.id(h)].state for h in ("A", "B", "E", "L", "K", "K2", "F")}


def test_the_story_flips_in_this_order(history):
    kinds = [r.event.kind.removeprefix("belief.") for r in history.records() if r.epoch == 1]
    assert kinds == [
        "revision_opened", "evidence_recorded", "evidence_asserted", "verdict_given", "evidence_refuted",
        "conclusion_invalidated", "conclusion_invalidated", "hypothesis_superseded", "node_forgotten", "node_forgotten",
        "frontier_moved",
    ]  # fmt: skip


def test_a_wrong_flip_is_named(history):
    right = the(history, EvidenceRefuted)
    wrong = EvidenceSuperseded(evidence_id=right.evidence_id, by=right.by)
    records, place = changed(history, right, wrong)
    assert redecide(records)[1] == Divergence(
        position=place,
        epoch=1,
        kind="belief.evidence_superseded",
        recorded=f"belief.evidence_superseded (E, F) {body(wrong)}",
        follows=f"belief.evidence_refuted (E, F) {body(right)}",
        message=f"belief.evidence_superseded (E, F) {body(wrong)} was recorded where "
        f"belief.evidence_refuted (E, F) {body(right)} follows",
    )


def test_a_missing_flip_is_named_where_it_belongs(history):
    missing = the(history, ConclusionInvalidated)
    records, place = changed(history, missing)
    told = f"belief.conclusion_invalidated (K, E) {body(missing)}"
    assert redecide(records)[1] == Divergence(
        position=place,
        epoch=1,
        kind="belief.conclusion_invalidated",
        recorded="",
        follows=told,
        message=f"{told} follows here, and was not recorded",
    )


def test_a_flip_missing_at_the_end_of_a_command_is_named_after_it(history):
    missing = the(history, FrontierMoved)
    records, place = changed(history, missing)
    divergence = redecide(records)[1]
    assert (divergence.position, divergence.kind, divergence.recorded) == (place - 1, "belief.frontier_moved", "")
    assert divergence.message.endswith("follows after it, and was not recorded")


def test_a_flip_too_many_is_named(history):
    before = the(history, HypothesisSuperseded)
    extra = NodeForgotten(node_id=history.id("L"), node_kind="evidence", was="refuted", because="")
    records, place = changed(history, before, extra, before)
    told = f"belief.node_forgotten (L) {body(extra)}"
    assert redecide(records)[1] == Divergence(
        position=place,
        epoch=1,
        kind="belief.node_forgotten",
        recorded=told,
        follows="",
        message=f"{told} was recorded, and nothing calls for it",
    )


def test_a_flip_too_many_at_the_end_is_named(history):
    last = the(history, FrontierMoved)
    records, place = changed(history, last, last, last)
    divergence = redecide(records)[1]
    assert (divergence.position, divergence.kind, divergence.follows) == (place + 1, "belief.frontier_moved", "")


def test_a_wrong_cause_is_named(history):
    right = the(history, ConclusionInvalidated)
    wrong = replace(right, because=history.id("L"), lost=(history.id("L"),))
    records, place = changed(history, right, wrong)
    divergence = redecide(records)[1]
    assert (divergence.position, divergence.epoch, divergence.kind) == (place, 1, "belief.conclusion_invalidated")
    assert divergence.recorded == f"belief.conclusion_invalidated (K, L) {body(wrong)}"
    assert divergence.follows == f"belief.conclusion_invalidated (K, E) {body(right)}"


def test_a_wrong_frontier_is_named(history):
    right = the(history, FrontierMoved)
    wrong = replace(right, hypothesis_id=right.previous_id)
    records, place = changed(history, right, wrong)
    divergence = redecide(records)[1]
    assert (divergence.position, divergence.kind) == (place, "belief.frontier_moved")
    assert divergence.follows == f"belief.frontier_moved (B, A) {body(right)}"


def test_flips_in_another_order_are_named(history):
    first, second = [r.event for r in history.records() if isinstance(r.event, NodeForgotten)][:2]
    records, place = changed(history, first, second, first)
    records = [r for i, r in enumerate(records) if not (r.event == second and records[i - 1].event == first)]
    divergence = redecide(records)[1]
    assert (divergence.position, divergence.recorded.split(" ")[0]) == (place, "belief.node_forgotten")
    assert f"{body(second)} was recorded where" in divergence.message


def test_a_verdict_that_was_taken_out_leaves_a_flip_that_nothing_calls_for(history):
    records, _ = changed(history, the(history, VerdictGiven))
    divergence = redecide(records)[1]
    assert divergence.kind == "belief.evidence_refuted"
    assert divergence.message.endswith("was recorded, and nothing calls for it")


def test_a_revision_that_was_taken_out_is_found_by_its_epoch(history):
    opened = the(history, RevisionOpened)
    records, place = changed(history, opened)
    divergence = redecide(records)[1]
    assert (divergence.position, divergence.epoch, divergence.kind) == (place, 1, "belief.evidence_recorded")
    assert divergence.message == "it was recorded in epoch 1, and the revisions before it make it 0"


def test_a_premise_that_was_taken_out_is_found_by_who_speaks_of_it(history):
    recorded = the(history, EvidenceRecorded)
    records, place = changed(history, recorded)
    divergence = redecide(records)[1]
    assert (divergence.position, divergence.kind) == (place, "belief.evidence_asserted")
    assert "speaks of what was never recorded" in divergence.message


def test_a_command_from_which_nothing_can_be_decided_is_named_by_its_last_record(history):
    added = the(history, DependencyAdded, of=1)
    records, _ = changed(history, added, replace(added, on_id="E-nowhere"), of=1)
    graph, divergence = redecide(records)
    assert len(graph.nodes) == 0
    assert (divergence.epoch, divergence.kind) == (0, "belief.frontier_moved")
    assert divergence.message == "nothing can be decided from the command that ends here (KeyError: 'E-nowhere')"


def test_only_the_first_divergence_is_told_and_the_graph_ends_before_it(history):
    records, place = changed(history, the(history, EvidenceRefuted))
    graph, divergence = redecide(records)
    assert divergence.position == place
    assert {h: graph.nodes[history.id(h)].state for h in ("A", "B", "E", "L", "K", "K2")} == dict.fromkeys(
        ["A", "B", "E", "L", "K", "K2"], "alive"
    )
    assert history.id("F") not in graph.nodes


def test_two_commands_with_one_id_are_still_two(history):
    same = [r._replace(command="the same", recorded_at=1) for r in history.records()]
    assert redecide(same)[1] is None


def test_records_of_other_contexts_are_passed_over(history):
    class Telemetry(Event):
        kind, version = "test.telemetry", 1

    mixed = [each for r in history.records() for each in (r, r._replace(event=Telemetry()))]
    assert redecide(mixed)[1] is None


def test_a_mislabelled_node_is_named_with_the_state_its_edges_call_for(history):
    flip = the(history, ConclusionInvalidated)
    records, _ = changed(history, flip)
    graph = BELIEFS.fold(r for r in records if r.epoch <= 1 and not isinstance(r.event, NodeForgotten))
    assert list(mislabelled(graph)) == [
        "K is recorded as alive; its edges make it forgotten",
        "K2 is recorded as invalidated; its edges make it forgotten",
    ]


def test_a_frontier_that_is_not_the_best_is_named(history):
    records, _ = changed(history, the(history, FrontierMoved))
    graph = BELIEFS.fold(r for r in records if r.epoch <= 1)
    assert list(mislabelled(graph)) == [
        f"the frontier of {history.question_id} is recorded as A; its hypotheses make it B",
    ]


def test_a_hypothesis_that_was_not_superseded_is_named(history):
    records, _ = changed(history, the(history, HypothesisSuperseded))
    graph = BELIEFS.fold(r for r in records if r.epoch <= 1)
    assert "A is recorded as alive; its edges make it superseded" in list(mislabelled(graph))


def test_dropping_any_one_consequence_is_noticed_in_its_command(history):
    records = history.records()
    consequences = [place for place, record in enumerate(records) if type(record.event) in CONSEQUENCES]
    assert len(consequences) > 12
    for place in consequences:
        divergence = redecide(records[:place] + records[place + 1 :])[1]
        assert (divergence.epoch, divergence.kind) == (records[place].epoch, records[place].event.kind)
        assert body(records[place].event) in divergence.follows
