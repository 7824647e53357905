"""A revision through Cognee's pipeline and through memify: the same events, and the same mirror, as `falsify fact`."""

import warnings

import pytest

from falsify.belief.revision import AssertFact
from falsify.clock import SteppingClock
from falsify.events import Recorded
from falsify.ports import Abstention, Opinion
from projections.beliefs import digest
from surfaces.belief_file import Document
from surfaces.cognee_tasks import revise
from surfaces.workspace import Workspace
from tests.mirror_world import HashEmbedder, texts_under

pytestmark = [
    pytest.mark.cognee,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:(cognee|pydantic|alembic|dlt|websockets)"),
]

STORY = """\
question: Did X know?
hypotheses:
  - {id: A, statement: X knew through the QA report}
  - {id: B, statement: X knew through the supplier email, prior: 0.3}
evidence:
  - {id: E_qa, claim: the QA report documents the defect, supports: [{hypothesis: A, weight: 0.8}]}
  - {id: E_email, claim: a supplier email warns of the leak, supports: [{hypothesis: B, weight: 0.6}]}
conclusions:
  - {id: K, statement: X knew by March of that year, depends_on: [{evidence: E_qa}]}
"""
FACT = "not the QA report documents the defect"


class DenialJudge:
    """Says that "not X" contradicts "X", and nothing else; told to fail, it abstains or raises."""

    name, version = "denial", "1"

    def __init__(self, failure=None):
        self.failure = failure

    def judge(self, fact, claims):
        if isinstance(self.failure, Exception):
            raise self.failure
        if self.failure:
            return [Abstention(self.failure)] * len(claims)
        return [
            Opinion("contradicts" if fact.text == f"not {claim.text}" else "unrelated", 0.9, "word by word")
            for claim in claims
        ]


def opened(root, judge=None):
    workspace = Workspace.init(
        root, environ={}, embedder=HashEmbedder(), judge=judge or DenialJudge(), clock=SteppingClock()
    )
    workspace.ingest(Document("story.yaml", STORY))
    return workspace


def fact(workspace):
    return AssertFact(question_id=workspace.question().id, text=FACT, source_id="audit", asserted_at="2022-01-01")


def kept(record: Recorded):
    return record.position, record.revision, record.epoch, record.actor, record.command, record.event, record.hash


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Return what `falsify fact` and a sync make of the story: records, digest, mirror and answer."""
    with opened(tmp_path_factory.mktemp("plain")) as workspace:
        outcome = workspace.fact(fact(workspace), key="k")
        workspace.sync_mirror()
        return list(map(kept, workspace.records())), digest(workspace.graph), workspace.mirror.read_back(), outcome


@pytest.mark.parametrize("through", ["pipeline", "memify"])
def test_a_whole_revision_through_cognee_appends_the_same_events_and_mirrors_the_same(plain, tmp_path, through):
    records, state, mirrored, outcome = plain
    with opened(tmp_path) as workspace:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # memify says that it will go
            told = revise(workspace, fact(workspace), key="k", through=through)
        assert told.outcome.response == outcome.response
        assert list(map(kept, workspace.records())) == records
        assert digest(workspace.graph) == state
        assert workspace.mirror.read_back() == mirrored
        assert workspace.mirror.checkpoint() == workspace.log.head().position
        assert workspace.mirror.compare(workspace.graph) == []
        handles = {workspace.graph.nodes[node].handle for node in told.reach}
        assert {"E_qa", "K", "A"} <= handles
        assert [hit.node_id for hit in workspace.mirror.recall("who knew through the email", 1)] == [
            workspace.find("B").id
        ]
    assert texts_under(tmp_path / ".falsify" / "mirror", "X knew by March of that year") == []


def test_the_same_key_again_appends_nothing(tmp_path):
    with opened(tmp_path) as workspace:
        first = revise(workspace, fact(workspace), key="k")
        head = workspace.log.head()
        again = revise(workspace, fact(workspace), key="k")
        assert (again.outcome.replayed, again.outcome.response) == (True, first.outcome.response)
        assert workspace.log.head() == head


def test_a_judge_without_a_verdict_refutes_nothing_and_the_mirror_still_gets_the_fact(tmp_path):
    with opened(tmp_path, DenialJudge("it is asleep")) as workspace:
        told = revise(workspace, fact(workspace))
        assert {v["reason"] for v in told.outcome.as_json()["verdicts"]} == {"it is asleep"}
        assert workspace.find("E_qa").state == "alive"
        assert workspace.mirror.compare(workspace.graph) == []


def test_what_a_task_raises_is_raised_and_nothing_is_appended(tmp_path):
    with opened(tmp_path, DenialJudge(ZeroDivisionError("broken"))) as workspace:
        head = workspace.log.head()
        with pytest.raises(ZeroDivisionError, match="broken"):
            revise(workspace, fact(workspace))
        assert workspace.log.head() == head
        workspace._given_judge = DenialJudge()
        workspace.__dict__.pop("judge", None)
        assert revise(workspace, fact(workspace)).outcome.as_json()["changes"]


def test_a_mirror_left_between_two_tasks_is_made_good_by_the_next_sync(tmp_path):
    from surfaces.cognee_tasks import Revising, collect_belief_subgraph, propagate_refutation

    with opened(tmp_path) as workspace:
        decided = propagate_refutation(collect_belief_subgraph(Revising(workspace, fact(workspace))))
        assert decided.outcome is not None
        assert workspace.mirror.checkpoint() < workspace.log.head().position
        assert workspace.mirror.compare(workspace.graph) != []
        workspace.sync_mirror()
        assert workspace.mirror.compare(workspace.graph) == []
