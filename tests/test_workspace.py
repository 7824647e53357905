"""The workspace: what the surfaces stand on, with a real log and claims index and a judge that decides by words."""

from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from falsify.belief.contradiction import NOT_BY_WORDS, settled
from falsify.belief.graph import Conclusion, Evidence, Hypothesis, evolve
from falsify.belief.labelling import justifications
from falsify.belief.revision import AssertFact
from falsify.clock import SteppingClock
from falsify.errors import ConflictError, InvalidInputError, KeyReusedError, NotFoundError, StaleRevisionError
from falsify.join.research import NUMERIC_JUDGE
from falsify.judges.pinned import PinnedJudge
from falsify.ports import Abstention, Opinion
from projections.beliefs import digest
from replay.cutoff import Cutoff
from surfaces.belief_file import Document
from surfaces.health import verify
from surfaces.workspace import Workspace, pending
from tests.mirror_world import HashEmbedder

WORDS = ("red", "blue", "green", "north", "south", "seven", "nine")


class WordJudge:
    """Says that "not X" contradicts "X", that "no idea about X" cannot be judged, and nothing else."""

    name, version = "words", "1"

    def judge(self, fact, claims):
        return [self._one(fact.text, claim.text) for claim in claims]

    def _one(self, fact, claim):
        if fact.startswith("no idea"):
            return Abstention("it has no idea")
        if fact.removeprefix("not ") == claim or claim.removeprefix("not ") == fact:
            return Opinion("contradicts", 0.9, "one is the denial of the other")
        return Opinion("unrelated", 0.8, "other words")


def opened(root: Path, **options) -> Workspace:
    return Workspace.init(
        root,
        **{"embedder": HashEmbedder(), "judge": WordJudge(), "clock": SteppingClock(), "environ": {}, **options},
    )


@pytest.fixture
def workspace(tmp_path):
    with opened(tmp_path) as made:
        made.ingest(Document("a.yaml", BELIEFS))
        yield made


BELIEFS = """\
question: Which way?
hypotheses:
  - {id: N, statement: the way is north}
  - {id: S, statement: the way is south}
evidence:
  - {id: red, claim: the red sign points north, supports: [{hypothesis: N, weight: 0.9}], asserted_at: 2020-01-01}
  - {id: blue, claim: the blue sign points south, supports: [{hypothesis: S, weight: 0.5}], asserted_at: 2020-01-01}
conclusions:
  - {id: go, statement: go north, depends_on: [{evidence: red}]}
"""


def fact(workspace, text, **more):
    return workspace.fact(AssertFact(question_id=workspace.question().id, text=text, **more)).as_json()


def state(workspace, name):
    return workspace.find(name).state


def test_a_fact_is_judged_against_what_is_near_and_the_cascade_follows(workspace):
    told = fact(workspace, "not the red sign points north", handle="F")
    assert [(c["change"], c["handle"]) for c in told["changes"]] == [
        ("evidence_refuted", "red"),
        ("conclusion_invalidated", "go"),
        ("hypothesis_superseded", "N"),
        ("node_forgotten", "go"),
    ]
    assert told["frontier"][0]["hypothesis"]["handle"] == "S"


def test_a_judge_that_abstains_refutes_nothing_and_can_be_asked_again(workspace):
    told = fact(workspace, "no idea where the red sign points", handle="F")
    assert (told["changes"], told["verdicts"][0]["relation"]) == ([], None)
    fact_id = workspace.find("F").id
    workspace._given_judge = WordJudge()
    again = workspace.adjudicate(fact_id).as_json()
    assert {v["relation"] for v in again["verdicts"]} == {None}


class Pinned(WordJudge):
    """Finds that every fact contradicts everything, as the pinned judge does."""

    name = "pinned"

    def _one(self, _fact, _claim):
        return Opinion("contradicts", 0.9, "pinned")


def returns(workspace, name):
    """Withdraw a claim and stand by it again; return what was asked when it came back."""
    node_id = workspace.find(name).id
    workspace.retract(node_id)
    told = workspace.retract(node_id, restored=True).as_json()
    return [(verdict["fact"]["handle"], verdict["claim"]["handle"]) for verdict in told["verdicts"]]


def test_what_a_person_decided_is_not_asked_again_when_a_claim_comes_back(workspace):
    fact(workspace, "not the red sign points north", handle="F")
    more = {"confidence": 1.0, "rationale": "seen"}
    workspace.rule(workspace.find("red").id, workspace.find("F").id, relation="contradicts", **more)
    assert (state(workspace, "red"), state(workspace, "F")) == ("alive", "refuted")
    assert ("F", "red") not in returns(workspace, "F")
    assert (state(workspace, "red"), state(workspace, "F")) == ("alive", "refuted")


def test_what_was_pinned_is_not_asked_of_a_judge_of_words_when_a_claim_comes_back(workspace):
    workspace._given_judge = workspace.judge = Pinned()
    fact(workspace, "see the red sign", handle="F")
    workspace._given_judge = workspace.judge = WordJudge()
    assert (state(workspace, "red"), state(workspace, "F")) == ("refuted", "alive")
    assert ("F", "red") not in returns(workspace, "F")
    assert (state(workspace, "red"), state(workspace, "F")) == ("refuted", "alive")


def test_a_pair_that_was_settled_meanwhile_is_not_unadjudicated(workspace):
    fact(workspace, "no idea where the red sign points", handle="F")
    fact_id, signs = workspace.find("F").id, {workspace.find(name).id for name in ("red", "blue")}
    assert {event.claim_id for event in pending(workspace.graph, fact_id)} == signs
    for sign in signs:
        workspace.rule(sign, fact_id, relation="unrelated", confidence=1.0, rationale="seen")
    assert pending(workspace.graph, fact_id) == []
    with pytest.raises(InvalidInputError, match="nothing about"):
        workspace.adjudicate(fact_id)


def test_the_judges_that_do_not_go_by_words_are_named_as_they_name_themselves():
    assert {NUMERIC_JUDGE, PinnedJudge.name} == NOT_BY_WORDS


FORGED = "The March QA report was forged."


def test_a_charge_is_not_taken_back_by_the_words_of_the_accused(workspace):
    source = {"source_id": "qa", "source_title": "March QA report"}
    fact(workspace, "the seven sign points north", handle="seven", asserted_at="2030-01-01", **source)
    workspace._given_judge = workspace.judge = Pinned()
    fact(workspace, FORGED, handle="F", asserted_at="2020-01-01")
    workspace._given_judge = workspace.judge = WordJudge()
    seven, charge = workspace.find("seven").id, workspace.find("F").id
    known = workspace.graph.judged(seven, charge)
    assert (known.fact_id, known.gate, known.impugned) == (charge, "source", ("qa",))
    graph = workspace.graph.branch()
    evolve(graph, replace(known, judge="words"))
    asked = {gate: settled(graph, seven, charge, gate) for gate in ("distance", "slot", "source")}
    assert asked == {"distance": True, "slot": True, "source": False}
    assert not settled(graph, charge, seven, "source")


def test_the_index_follows_a_log_that_another_process_wrote_to(tmp_path, workspace):
    with opened(tmp_path) as other:
        fact(other, "the green sign points west", handle="G")
    assert [hit["handle"] for hit in workspace.recall("green sign west", limit=1).hits] == ["G"]
    assert workspace.index.position == workspace.log.head().position


def test_an_index_ahead_of_its_log_is_rebuilt(tmp_path, workspace):
    assert workspace.index.position > 0
    workspace.close()
    for file in (tmp_path / ".falsify").glob("log.sqlite*"):
        file.unlink()
    with opened(tmp_path) as anew:
        anew.ask("Something else?")
        assert anew.index.ids() == set()
        assert all(part["faults"] == [] for part in verify(anew, with_mirror=False, anchor=None))


def test_a_decision_on_an_old_graph_is_taken_anew(tmp_path, workspace, monkeypatch):
    """Somebody else's fact arrives between reading and appending: the command is decided on what is true by then."""
    calls = []
    original = Workspace.examine

    def interrupted(self, graph, fact_id, statement):
        if not calls:
            calls.append(fact_id)
            with opened(tmp_path) as other:
                monkeypatch.setattr(Workspace, "examine", original)
                fact(other, "not the red sign points north", handle="first")
        return original(self, graph, fact_id, statement)

    monkeypatch.setattr(Workspace, "examine", interrupted)
    told = fact(workspace, "not the blue sign points south", handle="second")
    assert told["epoch"] == 2
    assert (state(workspace, "red"), state(workspace, "blue")) == ("refuted", "refuted")


def test_a_command_that_never_gets_a_turn_says_so(workspace, monkeypatch):
    def stale(*_, **__):
        raise StaleRevisionError("project:main", expected=1, current=2)

    monkeypatch.setattr(workspace.log, "append", stale)
    with pytest.raises(ConflictError, match="others wrote to project:main"):
        fact(workspace, "not the red sign points north")


def test_an_undated_fact_sent_again_with_its_key_is_the_same_command(workspace):
    command = AssertFact(question_id=workspace.question().id, text="not the red sign points north")
    first = workspace.fact(command, key="k")
    assert workspace.fact(command, key="k").response == first.response
    with pytest.raises(KeyReusedError):
        workspace.fact(AssertFact(question_id=workspace.question().id, text="something else"), key="k")


def test_recall_of_the_past_answers_from_what_was_alive_then(workspace):
    fact(workspace, "not the red sign points north", handle="F")
    then = workspace.view(Cutoff(epoch=0)).graph
    assert "red" in {hit["handle"] for hit in workspace.recall("red sign", graph=then).hits}
    assert "red" not in {hit["handle"] for hit in workspace.recall("red sign").hits}


def test_contested_facts_are_open_conflicts_and_not_answers(workspace):
    workspace.rule(
        workspace.find("red").id, workspace.find("blue").id, relation="contradicts", confidence=1.0, rationale=""
    )
    workspace.rule(
        workspace.find("blue").id, workspace.find("red").id, relation="contradicts", confidence=1.0, rationale=""
    )
    recalled = workspace.recall("sign")
    assert {c["handle"] for c in recalled.conflicts} >= {"red", "blue"}
    assert not {h["handle"] for h in recalled.hits} & {"red", "blue", "go"}


def test_names_that_fit_several_nodes_are_listed(workspace):
    workspace.ingest(Document("b.yaml", BELIEFS.replace("Which way?", "Which way back?")))
    with pytest.raises(Exception, match="stands for 2 nodes"):
        workspace.find("red")
    with pytest.raises(NotFoundError, match="no node 'gren'"):
        workspace.find("gren")


class Inquiry(RuleBasedStateMachine):
    """Random commands on a real workspace; after each, everything that is promised of it."""

    def __init__(self):
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory(prefix="falsify-machine-")
        self.workspace = opened(Path(self.folder.name))
        self.digests = []

    def teardown(self):
        self.workspace.close()
        self.folder.cleanup()

    @initialize()
    def begin(self):
        self.workspace.ingest(Document("a.yaml", BELIEFS))

    @rule(
        words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=2),
        denied=st.booleans(),
        trust=st.sampled_from([0.5, 1.0]),
    )
    def fact(self, words, denied, trust):
        text = ("not " if denied else "") + " ".join(words)
        fact(self.workspace, text, source_id=f"source-{trust}", trust=trust)

    @rule(data=st.data(), restored=st.booleans())
    def retract(self, data, restored):
        evidence = [
            n for n in self.workspace.graph.nodes.values() if isinstance(n, Evidence) and n.retracted == restored
        ]
        if evidence:
            self.workspace.retract(data.draw(st.sampled_from(evidence)).id, restored=restored)

    @precondition(lambda self: len(self.workspace.graph.nodes) > 6)
    @rule(data=st.data(), relation=st.sampled_from(["contradicts", "supersedes", "unrelated"]))
    def overrule(self, data, relation):
        evidence = [n.id for n in self.workspace.graph.nodes.values() if isinstance(n, Evidence)]
        one, other = data.draw(st.sampled_from(evidence)), data.draw(st.sampled_from(evidence))
        self.workspace.rule(one, other, relation=relation, confidence=0.9, rationale="")

    @rule(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=2, unique=True))
    def conclude(self, words):
        evidence = [n for n in self.workspace.graph.nodes.values() if isinstance(n, Evidence)][:3]
        on = ", ".join(f"{{evidence: {n.id}}}" for n in evidence)
        text = "-".join(words)
        self.workspace.ingest(
            Document(
                "c.yaml",
                f"question: Which way?\nconclusions:\n  - {{id: c-{text}, statement: so {text}, depends_on: [{on}]}}\n",
            )
        )

    @invariant()
    def live_is_replay_and_verify_is_clean(self):
        assert digest(self.workspace.view(Cutoff(position=self.workspace.log.head().position)).graph) == digest(
            self.workspace.graph
        )
        parts = verify(self.workspace, with_mirror=False, anchor=None)
        assert [part for part in parts if part["faults"]] == []

    @invariant()
    def nothing_alive_rests_on_the_dead(self):
        graph = self.workspace.graph
        for node in graph.nodes.values():
            if node.alive and isinstance(node, Conclusion | Evidence):
                groups = justifications(graph, node.id)
                assert not groups or any(all(graph.nodes[on].alive for on in group) for group in groups.values())

    @invariant()
    def recall_never_returns_a_dead_node(self):
        recalled = self.workspace.recall("the way north south red blue", limit=50)
        assert {hit["state"] for hit in recalled.hits} <= {"alive"}
        assert {hit["state"] for hit in recalled.conflicts} <= {"contested"}
        for best in recalled.frontier:
            assert best["state"] == "alive"

    @invariant()
    def an_epoch_that_is_past_never_changes(self):
        epoch = self.workspace.graph.epoch
        while len(self.digests) < epoch:
            self.digests.append(digest(self.workspace.view(Cutoff(epoch=len(self.digests))).graph))
        if self.digests:
            assert digest(self.workspace.view(Cutoff(epoch=0)).graph) == self.digests[0]

    @invariant()
    def hypotheses_never_count_the_dead(self):
        graph = self.workspace.graph
        for node in graph.nodes.values():
            if isinstance(node, Hypothesis):
                living = [w for w in graph.weighed_by.of(node.id) if graph.nodes[w.evidence_id].alive]
                assert node.living == sum(w.stance == "supports" for w in living)


Inquiry.TestCase.settings = settings(
    max_examples=8, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestInquiry = Inquiry.TestCase


def test_the_words_embedder_is_what_the_tests_take_it_for():
    vectors = HashEmbedder().embed(["red sign", "red sign", "seven"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
    assert np.allclose(vectors[0], vectors[1])


def test_the_same_beliefs_have_the_same_digest_whatever_way_led_to_them(workspace):
    before = digest(workspace.graph)
    workspace.retract(workspace.find("red").id)
    assert digest(workspace.graph) != before
    workspace.retract(workspace.find("red").id, restored=True)
    assert (digest(workspace.graph), workspace.graph.epoch) == (before, 2)


def test_a_workspace_that_holds_still_does_so_for_every_project(tmp_path):
    with opened(tmp_path) as workspace, opened(tmp_path) as other:
        other.of("side").ask("Which way?")
        with workspace.still(), workspace.of("side").still():
            other.of("side").ask("Which way back?")
            assert len(workspace.of("side").graph.questions()) == 1
        assert len(workspace.of("side").graph.questions()) == 2


def test_a_project_is_known_once_anything_was_recorded_of_it(tmp_path):
    with opened(tmp_path) as workspace, opened(tmp_path) as other:
        assert [workspace.knows(name) for name in ("main", "side")] == [False, False]
        other.ask("Which way?")
        other.of("side").ask("Which way?")
        assert [workspace.knows(name) for name in ("main", "side", "other")] == [True, True, False]


def test_what_is_read_while_a_workspace_holds_still_is_of_one_moment(tmp_path):
    with opened(tmp_path) as workspace, opened(tmp_path) as other:
        workspace.ask("Which way?")
        with workspace.still():
            other.ask("Which way back?")
            assert (len(workspace.graph.questions()), workspace.project.revision) == (1, 1)
        assert (len(workspace.graph.questions()), workspace.project.revision) == (2, 2)
