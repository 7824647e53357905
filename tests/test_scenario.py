"""A replay test passes where the log says what is expected, and else says precisely what it does not."""

import re
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from falsify.belief.events import ConclusionInvalidated, EvidenceRefuted
from falsify.belief.graph import BeliefGraph
from falsify.embedders.bundled import BundledEmbedder
from falsify.errors import CheckFailedError, InvalidInputError, NotFoundError, RefusedError, UnavailableError
from falsify.events import REGISTRY
from falsify.log import Command
from falsify.transfer import export_log
from projections.beliefs import BELIEF_EVENTS, digest
from replay.asking import Asker
from replay.cutoff import Cutoff
from replay.replayer import view
from replay.scenario import Failure, Report, check, record, text
from tests.goldens.record import STORIES, tell
from tests.histories import STREAM, History, company_x, histories, rewritten
from tests.mirror_world import HashEmbedder, OtherEmbedder

OTHER, ANOTHER = "v1-" + "a" * 64, "v1-" + "b" * 64
QUERY = "When did X know of the defect?"
GOLDENS = Path(__file__).parent / "goldens"


@pytest.fixture(scope="module")
def story():
    return company_x()


class Golden:
    """A golden in a folder of its own, to be damaged."""

    def __init__(self, folder, history, log=None):
        self.folder = folder
        self.log_path, self.path = record(
            history.log, STREAM, name="x", folder=folder, queries=[QUERY], embedder=HashEmbedder()
        )
        if log is not None:
            self.log_path.write_bytes(b"".join(export_log(log)))

    def edit(self, old, new):
        content = self.path.read_text(encoding="utf-8")
        assert content.count(old) == 1, old
        self.path.write_text(content.replace(old, new), encoding="utf-8")

    def expect(self, *checkpoints, **more):
        """Write another golden file for the log."""
        document = {"log": "x.log.jsonl", "checkpoints": list(checkpoints), **more}
        self.path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")

    def check(self, embedder=None):
        return check(self.path, embedder=embedder or HashEmbedder())

    def told(self):
        return [str(failure) for failure in self.check().failures]


@pytest.fixture
def golden(tmp_path, story):
    return Golden(tmp_path, story)


# --- recording -----------------------------------------------------------------------------------------------


def test_what_was_recorded_passes(golden):
    report = golden.check()
    assert report == Report(str(golden.path), ("epoch 0", "epoch 1"), ())
    assert report.ok
    assert report.as_json() == {"golden": str(golden.path), "ok": True, "checkpoints": 2, "failures": []}
    assert text(report) == f"ok {golden.path} (2 checkpoints)"


def test_a_golden_says_everything_of_every_epoch(golden, story):
    written = yaml.safe_load(golden.path.read_text(encoding="utf-8"))
    assert written == {
        "log": "x.log.jsonl",
        "stream": STREAM,
        "embedder": "hash",
        "checkpoints": [
            {
                "epoch": 0,
                "digest": digest(view(story.log, STREAM, Cutoff(epoch=0)).graph),
                "labels": dict.fromkeys(["A", "B", "E_qa", "E_email", "K"], "alive"),
                "frontier": {story.question: "A"},
                "standings": {"A": 0.8, "B": 0.6},
                "confidence": {"K": 1.0},
                "recall": [{"query": QUERY, "top": ["E_email", "E_qa", "A", "B", "K"], "conflicts": []}],
            },
            {
                "epoch": 1,
                "digest": digest(view(story.log, STREAM, Cutoff(epoch=1)).graph),
                "labels": {
                    "A": "superseded", "B": "alive", "E_qa": "refuted", "E_email": "alive", "K": "forgotten",
                    "F": "alive",
                },
                "frontier": {story.question: "B"},
                "standings": {"A": 0.0, "B": 0.6},
                "confidence": {"K": 1.0},
                "recall": [
                    {"query": QUERY, "top": ["E_email", "F", "B"], "never": ["E_qa", "A"], "conflicts": []},
                ],
            },
        ],
    }  # fmt: skip


def test_recording_twice_gives_the_same_bytes(tmp_path, story):
    once = Golden(tmp_path / "a", story)
    again = Golden(tmp_path / "b", company_x())
    assert once.path.read_bytes() == again.path.read_bytes()
    assert once.log_path.read_bytes() == again.log_path.read_bytes()
    assert sorted(p.name for p in once.folder.iterdir()) == ["x.golden.yaml", "x.log.jsonl"]


def test_nothing_is_overwritten_unless_forced(golden, story):
    golden.edit("epoch: 1", "epoch: 1 ")
    edited = golden.path.read_bytes()
    with pytest.raises(RefusedError, match=r"x.log.jsonl exists") as refused:
        record(story.log, STREAM, name="x", folder=golden.folder)
    assert "--force" in refused.value.hint
    golden.log_path.unlink()
    with pytest.raises(RefusedError, match=r"x.golden.yaml exists"):
        record(story.log, STREAM, name="x", folder=golden.folder)
    assert golden.path.read_bytes() == edited
    record(story.log, STREAM, name="x", folder=golden.folder, force=True)
    assert golden.check().ok


@pytest.mark.parametrize("name", ["", "a/b", "../x", ".x", "a b", "x" * 101, "x\n"])
def test_a_golden_has_a_plain_name(tmp_path, story, name):
    with pytest.raises(InvalidInputError, match="cannot be the name of a golden"):
        record(story.log, STREAM, name=name, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_only_a_stream_that_is_there_is_recorded(tmp_path, story):
    with pytest.raises(NotFoundError, match="no stream 'project:other'") as refused:
        record(story.log, "project:other", name="x", folder=tmp_path)
    assert refused.value.hint == "its streams: project:main"


def test_a_log_that_diverges_is_not_recorded(tmp_path, story):
    forged = rewritten(story, lambda e: [] if isinstance(e, ConclusionInvalidated) else [e])
    with pytest.raises(CheckFailedError, match=r"conclusion_invalidated .* and was not recorded"):
        record(forged, STREAM, name="x", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to_is_said_so(tmp_path, story):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="cannot be written to"):
        record(story.log, STREAM, name="x", folder=tmp_path / "file" / "below")


def test_a_log_that_begins_with_a_revision_has_an_empty_epoch_0(tmp_path):
    history = History()
    history.ingest(
        evidence=[
            {"id": "a", "claim": "One", "contradicts": [{"evidence": "b"}]},
            {"id": "b", "claim": "Other", "contradicts": [{"evidence": "a"}]},
        ]
    )
    golden = Golden(tmp_path, history)
    assert golden.check().ok
    first = yaml.safe_load(golden.path.read_text(encoding="utf-8"))["checkpoints"][0]
    assert first == {"epoch": 0, "digest": digest(BeliefGraph())}
    golden.expect({"recall": [{"query": "One", "conflicts": ["b", "a"]}]})
    assert golden.check().ok


def test_where_two_questions_share_a_handle_ids_are_written(tmp_path):
    history, other = History("Why?"), History("How?")
    for each in (history, other):
        each.ingest(
            hypotheses=[{"id": "A", "statement": f"An answer to {each.question}"}],
            evidence=[{"id": f"E{each.question}", "claim": each.question, "supports": [{"hypothesis": "A"}]}],
        )
    command = Command(id="other", actor="owner", tool="test")
    history.log.append(STREAM, other.events, expected_revision=history.log.revision(STREAM), command=command)
    golden = Golden(tmp_path, history)
    assert golden.check().ok
    written = yaml.safe_load(golden.path.read_text(encoding="utf-8"))["checkpoints"][0]
    assert written["frontier"] == {"Why?": history.id("A"), "How?": other.id("A")}
    assert list(written["labels"]) == [history.id("A"), "EWhy?", other.id("A"), "EHow?"]
    golden.expect({"labels": {"A": "alive"}, "frontier": {"why?": history.id("A"), "HOW?": None}})
    assert golden.told() == [
        f"now: 'A' stands for 2 nodes; use an id: {history.id('A')}, {other.id('A')}",
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories())
def test_whatever_is_recorded_passes(tmp_path_factory, history):
    golden = Golden(tmp_path_factory.mktemp("golden"), history)
    assert golden.told() == []


# --- what is told of a log -----------------------------------------------------------------------------------


def test_a_log_that_was_edited_is_one_failure_and_hides_the_rest(golden):
    golden.log_path.write_bytes(golden.log_path.read_bytes().replace(b"by March 2021", b"by March 2020"))
    report = golden.check()
    (failure,) = report.failures
    assert failure == Failure("decisions", failure.message, 3)
    assert re.fullmatch(
        r"x\.log\.jsonl, line \d+: record \d+ is not what was written: its hash does not fit it", failure.message
    )
    assert text(report).splitlines() == [
        f"FAILED {golden.path} (2 checkpoints)",
        f"{golden.path}:3: decisions: {failure.message}",
    ]


def test_a_log_that_was_cut_off_or_is_not_there_is_said_so(golden):
    lines = golden.log_path.read_bytes().splitlines(keepends=True)
    golden.log_path.write_bytes(b"".join(lines[:-3]))
    (told,) = golden.told()
    assert told.startswith("decisions: x.log.jsonl, line ")
    assert "cut off" in told
    golden.log_path.unlink()
    assert golden.told() == [f"decisions: there is no log {golden.log_path}"]


def test_a_log_from_a_newer_version_says_what_to_do(golden):
    golden.log_path.write_bytes(golden.log_path.read_bytes().replace(b'"version":1', b'"version":99', 1))
    (told,) = golden.told()
    assert "line 1: the export has format 99" in told
    assert "upgrade with `pip install --upgrade falsify-log`" in told


def test_a_stream_that_the_log_does_not_have_is_said_so(golden):
    golden.edit("stream: project:main", "stream: project:other")
    assert golden.told() == ["decisions: x.log.jsonl has no stream 'project:other'; its streams: project:main"]


def test_a_flip_that_was_taken_out_and_hashed_over_is_named_by_its_event(tmp_path, story):
    forged = rewritten(story, lambda e: [] if isinstance(e, EvidenceRefuted) else [e])
    told = Golden(tmp_path, story, forged).told()
    assert re.fullmatch(
        r"decisions: position \d+, epoch 1: belief\.evidence_refuted \(E_qa, F\) \{.*\} follows here, "
        r"and was not recorded", told[0],
    )  # fmt: skip
    assert "decisions: E_qa is recorded as alive; its edges make it refuted" in told[1:4]
    assert "epoch 1: E_qa is alive, expected refuted" in told
    assert any(t.startswith(f"epoch 1: recall {QUERY!r} cites E_qa, whose edges make it refuted") for t in told)
    assert any(t.startswith(f"epoch 1: recall {QUERY!r} cites E_qa, which must not appear") for t in told)
    assert not any(t.startswith("epoch 0") for t in told)


def test_a_log_that_makes_no_sense_is_told_by_its_first_such_record(tmp_path, story):
    forged = rewritten(story, lambda e: [] if e.kind == "belief.hypothesis_proposed" else [e])
    (told,) = Golden(tmp_path, story, forged).told()
    assert told.startswith("decisions: position ")
    assert "belief.evidence_weighed" in told
    assert "speaks of what was never recorded" in told


def test_a_log_from_which_nothing_can_be_decided_is_told_and_its_checkpoints_too(tmp_path, story):
    def forge(event):
        return [replace(event, on_id="E-nowhere") if event.kind == "belief.dependency_added" else event]

    decisions, *points = Golden(tmp_path, story, rewritten(story, forge)).told()
    assert "nothing can be decided from the command that ends here (KeyError: 'E-nowhere')" in decisions
    assert all("E-nowhere" in told and told.endswith("see 'decisions'") for told in points if "digest" not in told)
    assert {told.split(":")[0] for told in points} == {"epoch 0", "epoch 1"}


def test_a_log_that_is_a_folder_is_said_so(golden):
    golden.log_path.unlink()
    golden.log_path.mkdir()
    assert golden.told() == [f"decisions: the log {golden.log_path} cannot be read: Is a directory"]


# --- what is told of a checkpoint ----------------------------------------------------------------------------


def test_a_label_that_is_otherwise_is_told_with_its_line(golden):
    golden.edit("K: forgotten", "K: alive")
    report = golden.check()
    lines = [n for n, t in enumerate(golden.path.read_text(encoding="utf-8").splitlines(), 1) if "K: alive" in t]
    assert report.failures == (Failure("epoch 1", "K is forgotten, expected alive", lines[-1]),)
    assert report.as_json()["failures"] == ["epoch 1: K is forgotten, expected alive"]


def test_everything_that_can_be_otherwise_is_told(golden, story):
    golden.expect(
        {
            "epoch": 1,
            "labels": {"E_qa": "alive", story.id("E_email"): "refuted", "F": "alive"},
            "frontier": {story.question: "A"},
            "standings": {"A": 0.8, "B": 0.6, "K": 1.0},
            "confidence": {"K": 0.8, "A": 1.0},
        },
        {"frontier": {story.question.upper(): None}},
        {"epoch": 0, "labels": {"F": "alive"}},
        {"as_of": "2025-12-31", "labels": {"A": "absent", "K": "alive"}, "frontier": {story.question: "A"}},
        {
            "as_of": "2026-01-01",
            "valid_at": "2021-02-01",
            "labels": {"E_email": "alive", "E_qa": "alive", "K": "absent"},
        },
        {"epoch": 7},
        {"position": 999},
    )
    assert golden.told() == [
        "epoch 1: E_qa is refuted, expected alive",
        f"epoch 1: {story.id('E_email')} is alive, expected refuted",
        f"epoch 1: the frontier of {story.question!r} is B, expected A",
        "epoch 1: A has the standing 0.0, expected 0.8",
        "epoch 1: K has the standing none, expected 1.0",
        "epoch 1: K has the confidence 1.0, expected 0.8",
        "epoch 1: A has the confidence none, expected 1.0",
        f"now: the frontier of {story.question.upper()!r} is B, expected nobody",
        "epoch 0: F is absent, expected alive",
        "as of 2025-12-31: K is absent, expected alive",
        f"as of 2025-12-31: the frontier of {story.question!r} is nobody, expected A",
        "as of 2026-01-01, valid at 2021-02-01: E_qa is absent, expected alive",
        "epoch 7: project:main has no epoch 7",
        "position 999: the log has no position 999",
    ]


def test_a_name_that_the_log_does_not_know_is_told_and_nothing_else_of_its_checkpoint(golden, story):
    golden.expect(
        {
            "labels": {"E_qua": "alive", "K": "alive"},
            "frontier": {"Who?": "A", story.question: "Z"},
            "standings": {"Y": 0.0},
            "confidence": {"X": 0.0},
            "recall": [{"query": "q", "top": ["T"], "never": ["N"], "conflicts": ["C"]}],
        },
        {"epoch": 0, "frontier": {"A": "A"}},
    )
    assert golden.told() == [
        "now: the log knows no 'E_qua'; did you mean 'E_qa'?",
        "now: the log knows no 'Y'",
        "now: the log knows no 'X'",
        "now: the log knows no 'Z'",
        "now: the log knows no 'T'",
        "now: the log knows no 'N'",
        "now: the log knows no 'C'",
        "now: the log knows no 'Who?'",
        "epoch 0: 'A' is a hypothesis, not a question",
    ]


def test_the_first_digest_that_differs_is_named(golden, story):
    digests = [digest(view(story.log, STREAM, Cutoff(epoch=n)).graph) for n in (0, 1)]
    golden.edit(digests[0], OTHER)
    assert golden.told() == [f"epoch 0: the digest is {digests[0]}, expected {OTHER}; those before it agree"]
    golden.edit(digests[1], ANOTHER)
    assert golden.told() == [
        f"epoch 0: the digest is {digests[0]}, expected {OTHER}; those before it agree",
        f"epoch 1: the digest is {digests[1]}, expected {ANOTHER}; epoch 0 is the first to differ",
    ]
    golden.edit(OTHER, digests[0])
    assert golden.told() == [f"epoch 1: the digest is {digests[1]}, expected {ANOTHER}; those before it agree"]


def test_a_digest_of_another_date_is_not_what_an_epoch_is_compared_with(golden):
    golden.expect(
        {"epoch": 0, "valid_at": "2021-02-01", "digest": OTHER},
        {"epoch": 1, "digest": OTHER},
        {"valid_at": "2021-02-01", "digest": OTHER},
    )
    assert [told.split("; ")[1] for told in golden.told()] == [
        "those before it agree",
        "those before it agree",
        "epoch 0, valid at 2021-02-01 is the first to differ",
    ]


def test_with_a_snapshot_what_differs_is_listed(golden, story):
    kept = golden.folder / "then.json"
    kept.write_bytes(orjson.dumps(view(story.log, STREAM, Cutoff(epoch=0)).as_json(), option=orjson.OPT_SORT_KEYS))
    golden.expect({"epoch": 1, "digest": OTHER, "snapshot": "then.json"})
    first, *since = golden.told()
    assert first.startswith("epoch 1: the digest is ")
    assert "epoch 1: since then.json: epoch 0 is now 1" in since
    assert "epoch 1: since then.json: F was added" in since
    assert "epoch 1: since then.json: state of K was alive, is forgotten" in since
    assert "epoch 1: since then.json: standing of A was 0.8, is 0.0" in since
    assert f"epoch 1: since then.json: the edge {story.id('F')} supersedes {story.id('E_qa')} was added" in since
    assert since[-1].startswith("epoch 1: since then.json: source audit was none, is {")


@pytest.mark.parametrize(
    ("content", "message"), [(None, "cannot be read"), (b"{}", "is not a snapshot"), (b"[", "is not a snapshot")]
)
def test_a_snapshot_that_is_none_is_said_so(golden, content, message):
    if content is not None:
        (golden.folder / "then.json").write_bytes(content)
    golden.expect({"epoch": 1, "digest": OTHER, "snapshot": "then.json"})
    assert message in golden.told()[-1]


def test_many_differences_are_cut_short(tmp_path):
    history = History()
    claims = [{"id": f"e{i}", "claim": f"Claim {i}"} for i in range(30)]
    history.ingest(evidence=claims)
    golden = Golden(tmp_path, history)
    (tmp_path / "then.json").write_bytes(orjson.dumps(view(history.log, STREAM, Cutoff(position=0)).as_json()))
    golden.expect({"digest": OTHER, "snapshot": "then.json"})
    told = golden.told()
    assert len(told) == 22
    assert told[-1].endswith("and 12 more")


# --- what is told of recall ----------------------------------------------------------------------------------


def _recalls(golden, **expected):
    golden.expect({"epoch": 1, "recall": [{"query": QUERY, **expected}]})
    return golden.told()


def test_a_recall_that_must_cite_a_dead_node_is_told(golden):
    assert _recalls(golden, top=["E_email", "K", "A"]) == [
        f"epoch 1: recall {QUERY!r} must cite K, which is forgotten",
        f"epoch 1: recall {QUERY!r} must cite A, which is superseded",
    ]


def test_a_recall_in_another_order_is_told(golden):
    assert _recalls(golden, top=["E_email", "F"]) == []
    assert _recalls(golden, top=["B"]) == [
        f"epoch 1: recall {QUERY!r} cites E_email, F, B; expected B at the top",
    ]
    assert _recalls(golden, top=["E_email", "B"], limit=1) == [
        f"epoch 1: recall {QUERY!r} cites E_email; expected E_email, B at the top",
    ]


def test_a_recall_that_cites_what_must_not_appear_is_told(golden):
    assert _recalls(golden, never=["F", "A"]) == [f"epoch 1: recall {QUERY!r} cites F, which must not appear"]
    assert _recalls(golden, never=["B"], limit=1) == [
        f"epoch 1: recall {QUERY!r} gives as the frontier B, which must not appear"
    ]


def test_open_conflicts_are_expected_whole(tmp_path):
    history = History()
    history.ingest(
        evidence=[
            {"id": "a", "claim": "The valve was open", "contradicts": [{"evidence": "b"}]},
            {"id": "b", "claim": "The valve was shut", "contradicts": [{"evidence": "a"}]},
        ]
    )
    golden = Golden(tmp_path, history)
    golden.expect({"recall": [{"query": "Was the valve open?", "conflicts": ["b", "a"], "never": ["a", "b"]}]})
    assert golden.told() == []
    golden.expect({"recall": [{"query": "Was the valve open?", "conflicts": ["a"], "top": ["a"]}]})
    listed = ", ".join(sorted("ab", key=history.id))
    assert golden.told() == [
        "now: recall 'Was the valve open?' must cite a, which is contested",
        f"now: recall 'Was the valve open?' reports as open conflicts {listed}, expected a",
    ]


def test_nodes_at_the_same_distance_may_stand_in_any_order(tmp_path):
    history = History()
    history.ingest(evidence=[{"id": i, "claim": c} for i, c in (("a", "the seal"), ("b", "Seal the"), ("c", "pump"))])
    golden = Golden(tmp_path, history)
    for top in (["a", "b", "c"], ["b", "a"], ["b"]):
        golden.expect({"recall": [{"query": "the seal", "top": top}]})
        assert golden.told() == []
    golden.expect({"recall": [{"query": "the seal", "top": ["a", "c"]}]})
    assert len(golden.told()) == 1


def test_recall_with_another_embedder_is_not_compared(golden):
    told = [str(failure) for failure in golden.check(embedder=OtherEmbedder()).failures]
    assert told == [
        f"epoch {n}: recall {QUERY!r} was recorded with the embedder hash, and this is hash-32" for n in (0, 1)
    ]


def test_an_embedder_that_is_missing_is_no_verdict(golden):
    class Missing(HashEmbedder):
        def embed(self, _):
            raise UnavailableError("the model cannot be loaded")

    with pytest.raises(UnavailableError, match="the model cannot be loaded"):
        golden.check(embedder=Missing())


def test_nothing_is_embedded_for_a_golden_without_recall(golden):
    class Untouchable(HashEmbedder):
        def embed(self, _):
            raise AssertionError("nobody asked")

    golden.expect({"epoch": 1, "labels": {"K": "forgotten"}})
    assert check(golden.path, embedder=Untouchable()).ok


def test_where_nothing_but_a_question_was_recorded_nothing_is_cited(tmp_path):
    history = History()
    history.ingest()
    golden = Golden(tmp_path, history)
    written = yaml.safe_load(golden.path.read_text(encoding="utf-8"))["checkpoints"]
    assert [point["recall"] for point in written] == [[{"query": QUERY, "conflicts": []}]]
    assert golden.check().ok


def test_each_query_is_embedded_once_for_all_points(golden):
    embedder = HashEmbedder()
    assert golden.check(embedder=embedder).ok
    assert sorted(embedder.embedded) == sorted({*embedder.embedded})


def test_a_position_between_a_fact_and_what_follows_may_still_cite_what_is_about_to_die(golden, story):
    verdict = next(r.position for r in story.records() if r.event.kind == "belief.verdict_given")
    golden.expect({"position": verdict, "labels": {"E_qa": "alive"}, "recall": [{"query": QUERY, "top": ["E_email"]}]})
    assert golden.told() == []


@settings(max_examples=15, deadline=None)
@given(histories())
def test_what_is_asked_of_the_past_never_cites_the_dead(history):
    asker = Asker(history.graph, HashEmbedder())
    for epoch in range(history.log.epoch(STREAM) + 1):
        graph = view(history.log, STREAM, Cutoff(epoch=epoch)).graph
        answer = asker.recall(graph, "The record says e1", limit=50)
        assert {hit["id"] for hit in answer.hits} == {
            n.id for n in graph.nodes.values() if n.alive and n.kind != "question"
        }
        assert {hit["id"] for hit in answer.conflicts} == {n.id for n in graph.nodes.values() if n.state == "contested"}
        everything = asker.nearest(graph, "The record says e1", limit=50)
        assert set(everything) == {n.id for n in graph.nodes.values() if n.kind != "question"}


# --- the project's own goldens -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bundled():
    return BundledEmbedder()


@pytest.mark.parametrize("name", STORIES)
def test_the_story_of_a_golden_can_be_told_again(name, tmp_path, bundled):
    _, path = tell(name, tmp_path / "a", bundled)
    assert check(path, embedder=bundled).failures == ()
    tell(name, tmp_path / "b", bundled)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_every_story_is_committed_with_its_log():
    assert {p.name.removesuffix(".golden.yaml") for p in GOLDENS.glob("*.golden.yaml")} >= set(STORIES)
    assert {p.name.removesuffix(".log.jsonl") for p in GOLDENS.glob("*.log.jsonl")} >= set(STORIES)


def test_the_goldens_hold_every_kind_of_belief_event():
    kinds = {
        orjson.loads(line)["topic"].removesuffix("/1")
        for path in GOLDENS.glob("*.log.jsonl")
        for line in path.read_bytes().splitlines()[1:-1]
    }
    assert {kind for kind, event in REGISTRY.items() if event in BELIEF_EVENTS} - kinds == set()


def test_a_digest_of_another_format_says_so_and_not_that_beliefs_changed(golden, story):
    golden.edit(digest(view(story.log, STREAM, Cutoff(epoch=0)).graph), "v0-" + "a" * 64)
    assert golden.told() == ["epoch 0: the digest is of format v0, and this Falsify makes v1: record it again"]
