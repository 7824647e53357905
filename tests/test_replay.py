"""A prefix of the log says what was believed at its end, wherever it is cut and whoever folds it."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from falsify.belief.events import (
    ConclusionDrawn,
    DependencyAdded,
    EvidenceAsserted,
    EvidenceRecorded,
    Premise,
)
from falsify.belief.graph import BeliefGraph, Hypothesis, Question
from falsify.belief.text import end_of
from falsify.errors import InvalidInputError, NotFoundError
from falsify.log import Command
from falsify.transfer import export_log
from projections.beliefs import BELIEFS, digest, snapshot, valid_at
from projections.timeline import TIMELINE
from replay.cutoff import NOW, Cutoff, parse, resolve
from replay.diff import diff, lines
from replay.replayer import prefix, replay, view
from replay.verify import mislabelled, redecide
from tests import oracle
from tests.canonical import canonical
from tests.histories import STREAM, History, histories

SOME = settings(max_examples=60, deadline=None)


# --- prefixes ------------------------------------------------------------------------------------------------


@SOME
@given(histories())
def test_the_prefix_of_an_epoch_is_a_prefix_of_the_next_and_of_now(history):
    log = history.log
    epochs = [list(prefix(log, STREAM, Cutoff(epoch=n))) for n in range(log.epoch(STREAM) + 1)]
    assert epochs[-1] == list(prefix(log, STREAM)) == history.records()
    for shorter, longer in pairwise(epochs):
        assert longer[: len(shorter)] == shorter
        assert len(longer) > len(shorter)


@SOME
@given(histories())
def test_replaying_everything_gives_the_live_graph(history):
    live = canonical(history.graph)
    assert canonical(replay(history.log, STREAM, BELIEFS)) == live
    assert canonical(view(history.log, STREAM).graph) == live


@SOME
@given(histories(), st.data())
def test_folding_in_two_parts_is_folding_at_once(history, data):
    records = history.records()
    cut = data.draw(st.integers(0, len(records)))
    halves = BELIEFS.fold(records[cut:], BELIEFS.fold(records[:cut]))
    assert canonical(halves) == canonical(BELIEFS.fold(records))
    assert TIMELINE.fold(records[cut:], TIMELINE.fold(records[:cut])) == TIMELINE.fold(records)


@SOME
@given(histories())
def test_every_prefix_is_decided_again_as_it_was(history):
    for epoch in range(history.log.epoch(STREAM) + 1):
        graph, divergence = redecide(prefix(history.log, STREAM, Cutoff(epoch=epoch)))
        assert divergence is None
        assert list(mislabelled(graph)) == []
        assert snapshot(graph) == snapshot(view(history.log, STREAM, Cutoff(epoch=epoch)).graph)


@SOME
@given(histories())
def test_an_epoch_a_position_and_a_date_name_the_same_prefix(history):
    # A command is a day, so what was recorded by the end of the day on which an epoch ended is that epoch.
    for epoch in range(history.log.epoch(STREAM) + 1):
        by_epoch = view(history.log, STREAM, Cutoff(epoch=epoch))
        assert view(history.log, STREAM, Cutoff(position=by_epoch.position)).as_json() == by_epoch.as_json()
        last = [r for r in history.records() if r.position <= by_epoch.position][-1:]
        for record in last:
            day = f"2026-01-{1 + (record.recorded_at - 1_767_225_600_000_000) // 86_400_000_000:02}"
            assert view(history.log, STREAM, Cutoff(as_of=day)).as_json() == by_epoch.as_json()


def test_other_streams_are_no_part_of_a_replay():
    one, other = History(), History("And the other pump?")
    one.ingest(evidence=[{"id": "e", "claim": "The seal was worn"}])
    other.ingest(evidence=[{"id": "e", "claim": "The seal was new"}])
    command = Command(id="other", actor="owner", tool="test")
    one.log.append("project:other", other.events, expected_revision=0, command=command)
    assert canonical(replay(one.log, STREAM, BELIEFS)) == canonical(one.graph)
    assert canonical(replay(one.log, "project:other", BELIEFS)) == canonical(other.graph)


# --- the same bytes everywhere -------------------------------------------------------------------------------

REPLAY = """
import sys
from pathlib import Path
from falsify.log import open_log
from falsify.transfer import import_log
from replay.cutoff import Cutoff
from replay.replayer import view
from projections.beliefs import digest
log = open_log("memory:")
with Path(sys.argv[1]).open("rb") as lines:
    import_log(log, lines)
for epoch in range(log.epoch("project:main") + 1):
    print(digest(view(log, "project:main", Cutoff(epoch=epoch)).graph))
    print(digest(view(log, "project:main", Cutoff(epoch=epoch), valid="2021-03-15").graph))
"""
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return a log with a bit of everything, exported, and its digests in this process."""
    history = _everything()
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    path.write_bytes(b"".join(export_log(history.log)))
    digests = [
        digest(view(history.log, STREAM, Cutoff(epoch=epoch), valid=date).graph)
        for epoch in range(history.log.epoch(STREAM) + 1)
        for date in ("", "2021-03-15")
    ]
    return path, digests


def _everything():
    history = History()
    history.ingest(
        sources=[{"id": f"s{i}", "title": f"Source {i}", "trust": i / 3} for i in range(4)],
        hypotheses=[{"id": f"h{i}", "statement": f"It was {i}"} for i in range(3)],
        evidence=[
            {
                "id": f"e{i}", "claim": f"Claim {i}", "source_id": f"s{i % 4}", "asserted_at": f"2021-0{i % 6 + 1}-10",
                "supports": [{"hypothesis": f"h{i % 3}", "weight": 1 / 7}],
                "contradicts": [{"evidence": f"e{(i + 1) % 9}"}] if i % 2 else [],
            }
            for i in range(9)
        ],
        conclusions=[
            {"id": f"c{i}", "statement": f"So {i}", "confidence": 0.7, "depends_on": [
                {"evidence": f"e{i}", "group": "g"}, {"evidence": f"e{i + 1}", "group": "g"},
                {"evidence": f"e{i + 2}", "critical": False},
            ]}
            for i in range(5)
        ],
    )  # fmt: skip
    for handle in ("e1", "e4", "e7"):
        history.retract(handle)
    history.restore("e4")
    return history


def test_the_digest_is_the_same_in_processes_with_other_hash_seeds(exported):
    path, digests = exported
    assert len(set(digests)) > 5
    for seed in ("0", "1", "4242"):
        assert _digests_under(sys.executable, path, seed) == digests


@pytest.mark.parametrize("python", ["python3.12", "python3.13"])
def test_the_digest_is_the_same_under_other_pythons(exported, python):
    path, digests = exported
    probe = [python, "-c", "import orjson, pydantic, yaml, numpy"]
    try:
        usable = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except OSError:
        usable = False
    if not usable:
        pytest.skip(f"{python} is not here with the packages that Falsify needs")
    assert _digests_under(python, path, "7") == digests


def _digests_under(python, path, seed):
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([python, "-c", REPLAY, path], capture_output=True, text=True, check=True, env=environment)
    return ran.stdout.split()


# --- valid time ----------------------------------------------------------------------------------------------


def _at(history, date):
    return {h: n.state for h, n in _by_handle(valid_at(history.records(), date)).items()}


def _by_handle(graph):
    return {handle: graph.nodes[node_id] for (_, handle), node_id in graph.handles.items()}


def _dated(handle, date, **more):
    return {"id": handle, "claim": f"Claim {handle}", "asserted_at": date, **more}


def test_a_claim_takes_part_from_the_day_it_was_asserted():
    history = History()
    history.ingest(evidence=[_dated("early", "2021-01-05"), _dated("late", "2021-03-15"), _dated("undated", "")])
    assert _at(history, "2021-01-04") == {"undated": "alive"}
    assert _at(history, "2021-03-14") == {"undated": "alive", "early": "alive"}
    assert _at(history, "2021-03-15") == {"undated": "alive", "early": "alive", "late": "alive"}
    assert _at(history, "2021-03-15T00:00:00Z") == {"undated": "alive", "early": "alive"}


def test_a_conclusion_is_absent_until_a_justification_of_it_is_complete():
    history = History()
    history.ingest(
        evidence=[_dated("e1", "2021-01-01"), _dated("e2", "2021-02-01"), _dated("e3", "2021-03-01")],
        conclusions=[
            {"id": "grouped", "statement": "G", "depends_on": [
                {"evidence": "e1", "group": "g"}, {"evidence": "e2", "group": "g"}]},
            {"id": "either", "statement": "E", "depends_on": [{"evidence": "e1"}, {"evidence": "e3"}]},
            {"id": "above", "statement": "A", "depends_on": [{"conclusion": "grouped"}]},
            {"id": "bare", "statement": "B", "depends_on": []},
        ],
    )  # fmt: skip
    assert _at(history, "2020-12-31") == {"bare": "alive"}
    assert _at(history, "2021-01-31") == {"bare": "alive", "e1": "alive", "either": "alive"}
    assert _at(history, "2021-02-01") == dict.fromkeys(["bare", "e1", "e2", "either", "grouped", "above"], "alive")


def test_a_group_is_incomplete_without_a_critical_member_only():
    history = History()
    history.ingest(
        evidence=[_dated("e1", "2021-01-01"), _dated("e2", "2021-02-01")],
        conclusions=[{"id": "k", "statement": "K", "depends_on": [
            {"evidence": "e1", "group": "g"}, {"evidence": "e2", "group": "g", "critical": False}]}],
    )  # fmt: skip
    graph = valid_at(history.records(), "2021-01-01")
    assert _by_handle(graph)["k"].state == "alive"
    assert [d.on_id for d in graph.depends.of(history.id("k"))] == [history.id("e1")]


def test_of_an_incomplete_group_no_member_is_a_justification():
    history = History()
    history.ingest(
        evidence=[
            _dated("e1", "2021-01-01"), _dated("e2", "2021-06-01"), _dated("e3", "2021-01-01"),
            _dated("f", "2021-02-01", contradicts=[{"evidence": "e3"}]),
        ],
        conclusions=[{"id": "k", "statement": "K", "depends_on": [
            {"evidence": "e1", "group": "g"}, {"evidence": "e2", "group": "g"}, {"evidence": "e3"}]}],
    )  # fmt: skip
    assert _at(history, "2021-01-01") == {"e1": "alive", "e3": "alive", "k": "alive"}
    assert _at(history, "2021-02-01") == {"e1": "alive", "e3": "refuted", "f": "alive", "k": "forgotten"}
    assert _at(history, "2021-06-01") == {"e1": "alive", "e2": "alive", "e3": "refuted", "f": "alive", "k": "alive"}


def test_an_attack_counts_from_the_day_of_the_attacker():
    history = History()
    history.ingest(
        hypotheses=[{"id": "h", "statement": "H"}],
        evidence=[
            _dated("e", "2021-01-01", supports=[{"hypothesis": "h", "weight": 0.5}]),
            _dated("f", "2021-02-01", contradicts=[{"evidence": "e"}]),
        ],
        conclusions=[{"id": "k", "statement": "K", "depends_on": [{"evidence": "e"}]}],
    )
    before, after = (valid_at(history.records(), date) for date in ("2021-01-31", "2021-02-01"))
    assert {h: n.state for h, n in _by_handle(before).items()} == dict.fromkeys("hek", "alive")
    assert [n.standing for n in before.nodes.values() if isinstance(n, Hypothesis)] == [500_000_000]
    assert {h: n.state for h, n in _by_handle(after).items()} == {
        "h": "alive", "e": "refuted", "f": "alive", "k": "forgotten",
    }  # fmt: skip
    assert [n.standing for n in after.nodes.values() if isinstance(n, Hypothesis)] == [0]


def test_derived_evidence_is_absent_with_what_it_derives_from_though_it_bears_no_date():
    history = History()
    history.ingest(evidence=[_dated("base", "2022-01-01"), _dated("derived", "", depends_on=[{"evidence": "base"}])])
    assert _at(history, "2021-01-01") == {}
    assert _at(history, "2022-01-01") == {"base": "alive", "derived": "alive"}


def test_every_name_of_an_absent_claim_is_absent():
    history = History()
    history.ingest(evidence=[_dated("e", "2022-01-01"), _dated("f", "2021-01-01")])
    history.ingest(evidence=[{**_dated("e", "2022-01-01"), "id": "again"}])
    assert _at(history, "2021-06-01") == {"f": "alive"}
    assert _at(history, "2022-06-01") == dict.fromkeys(["e", "f", "again"], "alive")


def test_of_two_sources_the_one_that_had_spoken_counts():
    history = History()
    history.ingest(evidence=[_dated("e", "2022-01-01", source_id="late")])
    history.fact("Claim e", source_id="early", asserted_at="2021-01-01")
    history.retract("e", source_id="early")
    assert _at(history, "2021-06-01") == {"e": "forgotten"}
    assert _at(history, "2022-01-01") == {"e": "alive"}


def test_a_withdrawal_by_a_source_that_had_not_spoken_yet_is_passed_over():
    history = History()
    history.ingest(evidence=[_dated("e", "2022-01-01", source_id="late")])
    history.fact("Claim e", source_id="undated")
    history.retract("e", source_id="late")
    history.retract("e", source_id="undated")
    history.restore("e", source_id="undated")
    assert _at(history, "2021-06-01") == {"e": "alive"}


def test_valid_time_composes_with_recording_time():
    history = History()
    history.ingest(evidence=[_dated("e", "2021-01-01")])  # recorded on 2026-01-01
    history.fact("Claim late", asserted_at="2020-01-01", handle="late")  # an old fact that came a day later
    states = {
        (as_of, valid): sorted(_by_handle(view(history.log, STREAM, Cutoff(as_of=as_of), valid=valid).graph))
        for as_of in ("2025-12-31", "2026-01-01", "2026-01-02")
        for valid in ("2020-06-01", "2021-06-01")
    }
    assert states == {
        ("2025-12-31", "2020-06-01"): [],
        ("2025-12-31", "2021-06-01"): [],
        ("2026-01-01", "2020-06-01"): [],
        ("2026-01-01", "2021-06-01"): ["e"],
        ("2026-01-02", "2020-06-01"): ["late"],
        ("2026-01-02", "2021-06-01"): ["e", "late"],
    }


def test_a_date_is_read_as_everywhere_else():
    history = History()
    history.ingest(evidence=[_dated("e", "2021-03-15")])
    with pytest.raises(InvalidInputError, match="valid_at '2021-02-30' is not a date"):
        view(history.log, STREAM, valid="2021-02-30")
    assert view(history.log, STREAM, valid=" 2021-03-15T12:00:00+02:00 ").valid_at == "2021-03-15T10:00:00Z"


@SOME
@given(histories(), st.sampled_from(["2020-01-01", "2021-01-05", "2021-03-15", "2021-03-15T12:00:00Z", "2030-01-01"]))
def test_what_was_true_at_a_date_is_what_follows_from_the_claims_of_that_date(history, date):
    graph = valid_at(history.records(), date)
    expected = oracle.believe(_claims_by(history.events, date))
    assert {n.id: n.state for n in graph.nodes.values()} == expected.states
    assert {n.id: n.standing for n in graph.nodes.values() if isinstance(n, Hypothesis)} == expected.standing
    assert {n.id: n.frontier for n in graph.nodes.values() if isinstance(n, Question)} == expected.frontier
    assert set(graph.handles.values()) <= set(graph.nodes)


@SOME
@given(histories())
def test_at_the_end_of_time_everything_that_could_be_drawn_is_as_it_is_known_now(history):
    graph = valid_at(history.records(), "9999-12-31")
    undrawn = set(history.graph.nodes) - set(graph.nodes)
    assert {n: history.graph.nodes[n].alive for n in undrawn} == dict.fromkeys(undrawn, False)
    if not undrawn:
        assert {n.id: n.state for n in graph.nodes.values()} == {n.id: n.state for n in history.graph.nodes.values()}


def _claims_by(events, date):
    """Return the premises that take part at a date, by the plainest rules there are."""
    premises = [
        e for e in events
        if isinstance(e, Premise)
        and not (isinstance(e, EvidenceAsserted) and e.asserted_at and end_of(e.asserted_at) > end_of(date))
    ]  # fmt: skip
    said = {e.evidence_id for e in premises if isinstance(e, EvidenceAsserted)}
    there = {e.conclusion_id for e in premises if isinstance(e, ConclusionDrawn)} | said
    critical = {}
    for event in premises:
        if isinstance(event, DependencyAdded):
            critical[event.node_id, event.on_id, event.group] = event.critical
    bodies = {}
    for (node, on, group), needed in critical.items():
        if needed:
            bodies.setdefault(node, {}).setdefault(group or f"alone {on}", set()).add(on)
    drawn = set()
    while more := {n for n in there - drawn if n not in bodies or any(body <= drawn for body in bodies[n].values())}:
        drawn |= more
    gone = {e.evidence_id for e in events if isinstance(e, EvidenceRecorded)} | {
        e.conclusion_id for e in events if isinstance(e, ConclusionDrawn)
    }
    gone -= drawn
    broken = {(n, g) for n, groups in bodies.items() for g, body in groups.items() if body & gone}
    heard = set()
    for event in premises:
        names = {v for v in event.__dict__.values() if isinstance(v, str)}
        if isinstance(event, EvidenceAsserted):
            heard.add((event.evidence_id, event.source_id))
        if names & gone and not isinstance(event, DependencyAdded) and event.kind != "belief.revision_opened":
            continue
        if isinstance(event, DependencyAdded):
            key = event.node_id, event.on_id, event.group
            group = event.group or f"alone {event.on_id}"
            if {event.node_id, event.on_id} & gone or (critical[key] and (event.node_id, group) in broken):
                continue
        if event.kind.startswith("belief.assertion_") and (event.evidence_id, event.source_id) not in heard:
            continue
        yield event


# --- cutoffs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "cutoff"),
    [
        ("now", NOW),
        (" NOW ", NOW),
        ("3", Cutoff(epoch=3)),
        ("0", Cutoff(epoch=0)),
        ("epoch:3", Cutoff(epoch=3)),
        ("epoch 3", Cutoff(epoch=3)),
        ("Epoch: 3", Cutoff(epoch=3)),
        ("epoch:2021", Cutoff(epoch=2021)),
        ("position:120", Cutoff(position=120)),
        ("2021-03-15", Cutoff(as_of="2021-03-15")),
        ("as of 2021-03-15", Cutoff(as_of="2021-03-15")),
        ("2021-03-15T10:00:00+02:00", Cutoff(as_of="2021-03-15T08:00:00Z")),
    ],
)
def test_a_point_in_the_log_is_written_like_this(written, cutoff):
    assert parse(written) == cutoff
    assert parse(str(cutoff)) == cutoff


@pytest.mark.parametrize(
    "written",
    ["", "2021", "epoch", "epoch:", "epoch:-1", "epoch:²", "²", "position:x", "12345", "tomorrow", "2021-02-30"],
)
def test_what_is_no_point_in_the_log_is_refused(written):
    with pytest.raises(InvalidInputError, match="is no point in the log") as refused:
        parse(written)
    assert "epoch:3" in refused.value.hint


def test_a_cutoff_names_one_point():
    with pytest.raises(InvalidInputError, match="epoch and as_of each name a point in the log"):
        Cutoff(epoch=1, as_of="2021-03-15")


@pytest.mark.parametrize(
    ("cutoff", "message", "hint"),
    [
        (Cutoff(epoch=2), "project:main has no epoch 2", "its epochs are 0 to 1"),
        (Cutoff(epoch=-1), "project:main has no epoch -1", "its epochs are 0 to 1"),
        (Cutoff(position=99), "the log has no position 99", "its positions are 0 to "),
        (Cutoff(position=-1), "the log has no position -1", "its positions are 0 to "),
    ],
)
def test_a_point_that_the_log_has_not_reached_is_refused(cutoff, message, hint):
    history = History()
    history.ingest(evidence=[_dated("e", "")])
    history.retract("e")
    with pytest.raises(NotFoundError, match=message) as refused:
        resolve(history.log, STREAM, cutoff)
    assert refused.value.hint.startswith(hint)


def test_before_the_first_record_nothing_is_believed():
    history = History()
    history.ingest(evidence=[_dated("e", "")])
    empty = snapshot(BeliefGraph())
    assert snapshot(view(history.log, STREAM, Cutoff(position=0)).graph) == empty
    assert snapshot(view(history.log, STREAM, Cutoff(as_of="1999-12-31")).graph) == empty
    assert snapshot(view(history.log, STREAM, Cutoff(as_of="1999-12-31"), valid="2021-01-01").graph) == empty


# --- differences ---------------------------------------------------------------------------------------------


def test_a_difference_is_told_whole():
    history = History("Q")
    history.ingest(
        hypotheses=[{"id": "h", "statement": "H"}],
        evidence=[_dated("e", "2021-01-01", source_id="s", supports=[{"hypothesis": "h", "weight": 0.5}])],
        conclusions=[{"id": "k", "statement": "K", "depends_on": [{"evidence": "e", "critical": False}]}],
    )
    before = view(history.log, STREAM).graph
    history.ingest(
        sources=[{"id": "s", "title": "A source", "trust": 0.5}],
        evidence=[
            _dated("e", "2021-01-01", source_id="s", supports=[{"hypothesis": "h", "weight": 0.25}]),
            _dated("f", "", contradicts=[{"evidence": "e"}]),
        ],
    )
    after = view(history.log, STREAM).graph
    e, f, h, k = map(history.id, "efhk")
    supports = {"from": e, "relation": "supports", "to": h}
    attack = {"from": f, "relation": "supersedes", "to": e, "confidence": 1.0, "verdict": "contradicts"}
    unattributed = {"id": "unattributed", "title": "unattributed", "trust": 1.0}
    told = diff(before, after)
    assert told == {
        "epochs": [0, 1],
        "added": [n for n in snapshot(after)["nodes"] if n["id"] == f],
        "removed": [],
        "changed": [
            {"id": i, "handle": handle, "kind": kind, "text": text, "fields": fields}
            for i, handle, kind, text, fields in sorted([
                (e, "e", "evidence", "Claim e", {"state": ["alive", "refuted"]}),
                (h, "h", "hypothesis", "H", {"standing": [0.5, 0.0]}),
                (k, "k", "conclusion", "K", {"confidence": [1.0, 0.8]}),
            ])
        ],
        "edges_added": [e for e in snapshot(after)["edges"] if e in ({**supports, "weight": 0.25}, attack)],
        "edges_removed": [{**supports, "weight": 0.5}],
        "sources": [
            [{"id": "s", "title": "s", "trust": 1.0}, {"id": "s", "title": "A source", "trust": 0.5}],
            [None, unattributed],
        ],
    }  # fmt: skip
    assert len(told["edges_added"]) == 2
    back = diff(after, before)
    assert (back["removed"], back["edges_removed"]) == (told["added"], told["edges_added"])
    assert "state of e was alive, is refuted" in list(lines(told))


@SOME
@given(histories())
def test_nothing_differs_from_itself_and_all_differs_from_nothing(history):
    graph, empty = history.graph, BeliefGraph()
    same = diff(graph, graph)
    assert same == {**{key: [] for key in same}, "epochs": [graph.epoch, graph.epoch]}
    assert list(lines(same)) == []
    whole = snapshot(graph)
    assert diff(empty, graph) == {
        "epochs": [0, graph.epoch],
        "added": whole["nodes"],
        "removed": [],
        "changed": [],
        "edges_added": whole["edges"],
        "edges_removed": [],
        "sources": [[None, source] for source in whole["sources"]],
    }
