"""A panel acts where its members agree; what they disagree about is left open, with what each of them said."""

import pytest

from falsify.belief.graph import Evidence
from falsify.belief.revision import AssertFact
from falsify.clock import SteppingClock
from falsify.judges.panel import PanelJudge
from falsify.ports import Abstention, Opinion, Statement
from surfaces.adapters import make_judge
from surfaces.settings import Settings
from surfaces.workspace import Workspace, pending
from tests.mirror_world import HashEmbedder


class Fixed:
    """Says the same of every claim."""

    version = "1"

    def __init__(self, name, answer):
        self.name, self.answer = name, answer

    def judge(self, _, claims):
        return [self.answer] * len(claims)


def panel(*answers):
    return PanelJudge(*(Fixed(f"m{number}", answer) for number, answer in enumerate(answers)))


def says(relation, confidence):
    return Opinion(relation, confidence, f"for {relation}")


def together(*answers):
    [answer] = panel(*answers).judge(Statement("a fact"), [Statement("a claim")])
    return answer


@pytest.mark.parametrize(
    ("answers", "relation", "confidence"),
    [
        ((says("contradicts", 0.9), says("contradicts", 0.7)), "contradicts", 0.7),
        ((says("supersedes", 0.9), says("contradicts", 0.7)), "supersedes", 0.7),
        ((says("unrelated", 0.9), says("unrelated", 0.8)), "unrelated", 0.8),
        ((says("supports", 0.9), says("supports", 0.8)), "supports", 0.8),
        ((says("supports", 0.9), says("unrelated", 0.8)), "unrelated", 0.8),
        ((says("contradicts", 0.5), says("unrelated", 0.8)), "unrelated", 0.5),
        ((says("contradicts", 0.5), says("contradicts", 0.4)), "contradicts", 0.4),
    ],
)
def test_what_the_members_agree_on_is_the_verdict_with_the_least_confidence(answers, relation, confidence):
    answer = together(*answers)
    assert (answer.relation, answer.confidence) == (relation, confidence)
    assert all(f"m{number} says" in answer.rationale for number in range(len(answers)))


@pytest.mark.parametrize("other", [says("unrelated", 0.9), says("supports", 0.9), says("contradicts", 0.59)])
def test_a_conflict_that_only_some_see_is_an_open_disagreement(other):
    answer = together(says("contradicts", 0.9), other)
    assert isinstance(answer, Abstention)
    assert answer.reason.startswith("open disagreement: m0 says contradicts 0.90 (for contradicts); m1 says ")


def test_a_member_without_a_verdict_leaves_the_panel_without_one():
    answer = together(says("contradicts", 0.9), Abstention("it is asleep"))
    assert answer == Abstention(
        "the panel is not complete: m0 says contradicts 0.90 (for contradicts); m1 gave no verdict (it is asleep)"
    )


def test_the_version_changes_with_a_member():
    one, other = panel(says("unrelated", 1), says("unrelated", 1)), panel(says("unrelated", 1), says("unrelated", 1))
    assert one.version == other.version
    other._members[1].version = "2"
    assert one.version != other.version


def test_one_judge_is_no_panel():
    with pytest.raises(ValueError, match="at least two"):
        PanelJudge(Fixed("alone", says("unrelated", 1)))


@pytest.fixture
def workspace(tmp_path):
    split = panel(says("contradicts", 0.9), says("unrelated", 0.8))
    with Workspace.init(
        tmp_path, environ={}, judge=split, embedder=HashEmbedder(), clock=SteppingClock(), read_only=False
    ) as made:
        made.ask("Which way?")
        yield made


def test_a_disagreement_refutes_nothing_and_stays_open_until_somebody_decides(workspace):
    question = workspace.question().id
    claim = AssertFact(question_id=question, text="the way is north")
    fact = AssertFact(question_id=question, text="the way is not north")
    workspace.fact(claim)
    told = workspace.fact(fact).as_json()
    [verdict] = told["verdicts"]
    assert verdict["reason"].startswith("open disagreement: ")
    assert {n.text: n.state for n in workspace.graph.nodes.values() if isinstance(n, Evidence)} == {
        claim.text: "alive",
        fact.text: "alive",
    }
    [open_] = pending(workspace.graph, fact.fact_id)
    assert (open_.judge, open_.claim_id) == ("panel", claim.fact_id)
    workspace.rule(fact.fact_id, claim.fact_id, relation="contradicts", confidence=1.0, rationale="I was there")
    assert workspace.graph.evidence(claim.fact_id).state == "refuted"


def test_the_settings_say_who_sits_on_the_panel(tmp_path):
    def pinned(_):
        return "a claim"

    settings = Settings(judge="panel", panel="offline, pinned")
    made = make_judge(settings, {"REFUTED_ID": "E"}, folder=tmp_path, pinned=pinned)
    assert made.version.startswith("offline-nli+pinned+")
    default = make_judge(Settings(judge="panel"), {}, folder=tmp_path, pinned=pinned)
    assert default.version.startswith("offline-nli+llm+")


@pytest.mark.parametrize(
    ("members", "says_"),
    [
        ("offline", "at least 2"),
        ("offline,offline", "agree with itself"),
        ("offline,panel", "'offline', 'llm' or 'pinned'"),
    ],
)
def test_a_panel_that_is_none_is_refused(members, says_, tmp_path):
    from falsify.errors import InvalidInputError
    from surfaces.settings import load

    with pytest.raises(InvalidInputError, match="FALSIFY_PANEL") as refusal:
        load(tmp_path, {"FALSIFY_PANEL": members})
    assert says_ in refusal.value.message
