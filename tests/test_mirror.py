"""The mirror in the real stores, through Cognee's own engines and its own recall."""

import asyncio
import gc
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

from falsify.errors import ConflictError, DamagedError, InvalidInputError, NotFoundError, UnavailableError
from falsify.judges.cognee_environment import undisturbed
from projections.cognee import Mirror, cognee_id, generations, row_id, snapshot, touched
from projections.cognee import mirror as mirror_module
from projections.cognee.state import COLLECTIONS
from projections.cognee.stores import Stores
from tests.driver import InMemory
from tests.mirror_world import (
    AUDIT,
    HashEmbedder,
    OtherEmbedder,
    audit,
    company_x,
    steps,
    texts_under,
)

pytestmark = [
    pytest.mark.cognee,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:(cognee|pydantic|alembic)"),
]

ROUNDS = int(os.environ.get("FALSIFY_CRASH_ROUNDS", "2"))
ROOT = Path(__file__).parent.parent


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "workspace" / ".falsify" / "mirror"


@pytest.fixture
def mirror(folder):
    with Mirror(folder, HashEmbedder()) as opened:
        yield opened


def follow(mirror: Mirror, world: InMemory) -> None:
    """Bring the mirror up to the end of the world's log, as whoever holds a log does."""
    mirror.sync(world.graph, len(world.events), touched(world.events[mirror.checkpoint() :], world.graph))


def vectors(mirror: Mirror) -> dict:
    """Return every vector, exactly."""
    from cognee.infrastructure.databases.vector import get_vector_engine_async

    async def read():
        engine = await get_vector_engine_async()
        return {
            (name, row["id"]): list(row["vector"])
            for name in COLLECTIONS
            for row in await (await engine.get_collection(name)).query().to_list()
        }

    return mirror.run(read)


# --- the contract, 4.1 -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def revised(tmp_path_factory):
    """The contract's investigation after the audit, in a mirror that was closed in between (session 2)."""
    folder = tmp_path_factory.mktemp("contract") / "mirror"
    world = company_x()
    with Mirror(folder, HashEmbedder()) as first:
        follow(first, world)
    audit(world)
    with Mirror(folder, HashEmbedder()) as second:
        follow(second, world)
    with Mirror(folder, HashEmbedder()) as third:
        yield SimpleNamespace(mirror=third, world=world, ids={h: world.id(h) for h in "ABCK"})


def graph(mirror, ask):
    """Return what Cognee's graph engine answers."""

    async def asked():
        from cognee.infrastructure.databases.graph import get_graph_engine

        return await ask(await get_graph_engine())

    return mirror.run(asked)


def search(mirror, collection, text, **options):
    """Return what Cognee's vector engine finds."""

    async def asked():
        from cognee.infrastructure.databases.vector import get_vector_engine_async

        return await (await get_vector_engine_async()).search(collection, text, limit=10, **options)

    return mirror.run(asked)


def cognee_recall(mirror, query, search_type, **options):
    """Return the texts of Cognee's own recall."""

    async def asked():
        import cognee
        from cognee.modules.search.types import SearchType

        return await cognee.recall(query, query_type=SearchType[search_type], only_context=True, **options)

    return [entry.text for entry in mirror.run(asked)]


def truth(revised, handle):
    node = cognee_id(revised.world.id(handle))
    return graph(revised.mirror, lambda engine: engine.get_node_truth_state([node])).get(node)


def test_direct_refutation(revised):
    assert truth(revised, "E_qa") == {"truth_alignment": ["refuted"], "truth_epoch": 1}


def test_competing_hypothesis_promoted(revised):
    assert truth(revised, "A")["truth_alignment"] == ["superseded"]
    assert truth(revised, "B")["truth_alignment"] == ["alive"]
    ids = [cognee_id(revised.world.id(h)) for h in "AB"]
    loser, winner = (graph(revised.mirror, lambda engine: engine.get_node_feedback_weights(ids))[i] for i in ids)
    assert winner > loser == 0.0


def test_forward_cascade_invalidates_conclusion_and_orphan_is_forgotten_from_both_stores(revised):
    assert [e.conclusion_id for e in revised.world.events if e.kind == "belief.conclusion_invalidated"] == [
        revised.world.id("K")
    ]
    dead = cognee_id(revised.world.id("K"))
    assert graph(revised.mirror, lambda engine: engine.has_node(dead)) is False
    assert dead not in {str(hit.id) for hit in search(revised.mirror, "Conclusion_statement", "X knew by March 2021")}


def test_provenance_kept(revised):
    refuted, audit_ = (cognee_id(revised.world.id(h)) for h in ("E_qa", "E_audit"))
    node = graph(revised.mirror, lambda engine: engine.get_node(refuted))
    assert (node["type"], node["claim"], node["asserted_at"]) == (
        "Evidence",
        "The March QA report documents the defect",
        "2021-03-15",
    )
    assert graph(revised.mirror, lambda engine: engine.has_edge(audit_, refuted, "supersedes"))


def test_cross_session_recall_skips_dead(revised):
    context = "\n".join(cognee_recall(revised.mirror, "did X know?", "GRAPH_COMPLETION"))
    assert "X knew via supplier email, Jan 2021" in context
    assert "X knew by March 2021" not in context
    assert "X knew via QA report" not in context
    assert "The March QA report documents the defect" not in context


def test_baseline_still_stale(revised):
    context = "\n".join(cognee_recall(revised.mirror, "What does the March QA report say?", "RAG_COMPLETION"))
    assert "The March QA report documents the defect" in context
    assert cognee_id(revised.world.id("E_qa")) in {
        str(hit.id) for hit in search(revised.mirror, "Evidence_claim", "The March QA report documents the defect")
    }


@pytest.mark.parametrize("search_type", ["RAG_COMPLETION", "CHUNKS"])
def test_plain_retrieval_skips_what_is_not_alive_when_told_to(revised, search_type):
    stale, asked = "The March QA report documents the defect", "What does the March QA report document?"
    everything = "\n".join(cognee_recall(revised.mirror, asked, search_type))
    alive = "\n".join(cognee_recall(revised.mirror, asked, search_type, node_name=["alive"]))
    assert stale in everything
    assert stale not in alive
    assert "A supplier email warns X of the defect" in alive


def test_recall_says_which_belief_each_text_is(revised):
    answer = {hit.node_id: hit.text for hit in revised.mirror.recall("Which supplier email warned X?", 3)}
    assert answer[revised.world.id("B")] == (
        "Hypothesis: X knew via supplier email, Jan 2021. Supported by: "
        "A supplier email warns X of the defect (Supplier mail of January 2021, 2021-01-20T08:00:00Z)."
    )
    assert len(answer) == 3
    assert all(revised.world.graph.nodes[node_id].alive for node_id in answer)


def test_rag_says_which_claim_each_passage_is(revised):
    (hit,) = revised.mirror.rag("What does the March QA report document?", 1)
    assert hit.node_id == revised.world.id("E_qa")
    assert hit.text.startswith("The March QA report documents the defect\n“Lot 7:\n")
    assert hit.text.endswith("(QA report of March 2021, 2021-03-15)")


def test_a_model_that_answers_from_the_graph_is_shown_living_beliefs_only(revised, monkeypatch):
    import cognee.modules.retrieval.graph_completion_retriever as theirs

    async def answer(*, query, context, **_):
        return f"asked {query!r}, shown:\n{context}"

    async def ask():
        import cognee
        from cognee.modules.search.types import SearchType

        return await cognee.recall("Did X know?", query_type=SearchType.GRAPH_COMPLETION)

    monkeypatch.setattr(theirs, "generate_completion", answer)
    (entry,) = revised.mirror.run(ask)
    asked, *shown = entry.text.splitlines()
    assert asked == "asked 'Did X know?', shown:"
    assert "Hypothesis: X did not know (nothing that lives supports it)." in shown
    assert not any("The March QA report documents" in line or "X knew by March" in line for line in shown)


def test_a_conclusion_is_recalled_with_what_it_rests_on(mirror):
    world = company_x()
    follow(mirror, world)
    texts = {hit.node_id: hit.text for hit in mirror.recall("What does the March QA report document?")}
    assert texts[world.id("K")] == (
        "Conclusion: X knew by March 2021 (confidence 0.90). "
        "Rests on: The March QA report documents the defect (QA report of March 2021, 2021-03-15)."
    )
    assert texts[world.id("C")] == "Hypothesis: X did not know (nothing that lives supports it)."


@pytest.mark.parametrize("query", ["", "   ", "🙂", "x" * 30_000, "'; DROP TABLE \\ \" {{ $id"])
def test_any_query_is_answered(revised, query):
    assert len(revised.mirror.recall(query)) == (len(snapshot(revised.world.graph).nodes) - 2 if query.strip() else 0)
    assert len(revised.mirror.rag(query)) == (3 if query.strip() else 0)


def test_an_empty_mirror_recalls_nothing(mirror):
    assert (mirror.recall("anything"), mirror.rag("anything")) == ([], [])
    with pytest.raises(NotFoundError):
        mirror.run(lambda: None)
    mirror.rebuild(InMemory("Why?").graph, 0)
    assert (mirror.recall("anything"), mirror.rag("anything")) == ([], [])
    assert mirror.read_back() == snapshot(InMemory("Why?").graph)


# --- one state, however it was reached -------------------------------------------------------------------


def test_step_by_step_and_all_at_once_come_to_the_same(folder, tmp_path):
    world = InMemory("Why does “it” fail?\nAnd\twhen 🙂")
    with Mirror(folder, HashEmbedder()) as stepwise, Mirror(tmp_path / "other", HashEmbedder()) as whole:
        for _ in islice(steps(world, seed=6), 12):
            follow(stepwise, world)
            assert stepwise.read_back() == snapshot(world.graph)
        assert stepwise.checkpoint() == len(world.events)
        assert any(node.state == "forgotten" for node in world.graph.nodes.values())
        assert "forgotten" in {e.was for e in world.events if e.kind == "belief.node_reinstated"}
        whole.rebuild(world.graph, len(world.events))
        assert stepwise.read_back() == whole.read_back() == snapshot(world.graph)
        assert stepwise.compare(world.graph) == whole.compare(world.graph) == []
        assert vectors(stepwise) == vectors(whole)


def test_a_node_is_stored_the_same_by_bulk_copy_and_by_cognee(mirror):
    world = company_x()
    follow(mirror, world)
    nodes = "MATCH (n:Node) RETURN n.id, n.name, n.type, n.properties, n.source_ref_keys ORDER BY n.id"

    def stored():
        rows = graph(mirror, lambda engine: engine.query(nodes))
        return [(*row[:3], json.loads(row[3]), row[4]) for row in rows]

    bulk = stored()
    graph(mirror, lambda engine: engine.delete_nodes([row[0] for row in bulk]))
    follow_again = [*world.graph.nodes]
    mirror.sync(world.graph, len(world.events), follow_again)
    assert stored() == bulk
    assert mirror.compare(world.graph) == []


def test_a_vector_is_stored_the_same_by_bulk_copy_and_by_cognee(mirror):
    world = company_x()
    follow(mirror, world)

    def stored():
        async def read():
            from cognee.infrastructure.databases.vector import get_vector_engine_async

            engine = await get_vector_engine_async()
            tables = [await engine.get_collection(name) for name in COLLECTIONS]
            rows = {table.name: await table.query().to_list() for table in tables}
            for row in (row for rows_ in rows.values() for row in rows_):
                row["payload"] = {**row["payload"], "created_at": 0, "updated_at": 0}
            return [(t.name, await t.schema(), sorted(rows[t.name], key=lambda row: row["id"])) for t in tables]

        return mirror.run(read)

    bulk = stored()

    async def delete():
        from cognee.infrastructure.databases.vector import get_vector_engine_async

        vectors_ = await get_vector_engine_async()
        for name, _, rows in bulk:
            await vectors_.delete_data_points(name, [row["id"] for row in rows])

    mirror.run(delete)
    mirror.sync(world.graph, len(world.events), [*world.graph.nodes])
    assert stored() == bulk


def test_syncing_again_changes_nothing(mirror):
    world = company_x()
    follow(mirror, world)
    audit(world)
    for _ in range(3):
        mirror.sync(world.graph, len(world.events), touched(world.events, world.graph))
        assert mirror.compare(world.graph) == []


def test_a_rebuild_embeds_only_what_is_new(folder):
    embedder, world = HashEmbedder(), company_x()
    with Mirror(folder, embedder) as mirror:
        follow(mirror, world)
        embedder.embedded.clear()
        mirror.rebuild(world.graph, len(world.events))
        assert embedder.embedded == []
        audit(world)
        mirror.rebuild(world.graph, len(world.events))
        assert sorted(embedder.embedded) == [AUDIT, f"{AUDIT}\n(Forensic audit)"]


def test_another_embedder_means_another_generation(folder):
    world = company_x()
    with Mirror(folder, HashEmbedder()) as mirror:
        follow(mirror, world)
    with Mirror(folder, OtherEmbedder()) as mirror:
        assert mirror.checkpoint() == 0
        follow(mirror, world)
        assert mirror.compare(world.graph) == []
        assert mirror.recall("A supplier email warns X of the defect", 1)[0].node_id == world.id("E_email")


def test_progress_is_told_while_texts_are_embedded(mirror):
    world, told = company_x(), []
    mirror.rebuild(world.graph, 1, progress=lambda done, total: told.append((done, total)))
    assert told == [(9, 9)]


@pytest.mark.parametrize("limit", ["WORN", "MANY"])
def test_wear_and_bulk_are_answered_with_a_new_generation(mirror, monkeypatch, limit):
    world = company_x()
    follow(mirror, world)
    before = generations.current(mirror.folder)
    monkeypatch.setattr(mirror_module, limit, 1)
    audit(world)
    monkeypatch.setattr(Stores, "bring", None)  # not this way
    monkeypatch.setattr(Stores, "delete", None)
    follow(mirror, world)
    assert generations.current(mirror.folder) != before
    assert not before.exists()
    assert mirror.compare(world.graph) == []


def test_a_mirror_never_goes_back_by_syncing(mirror):
    world = company_x()
    follow(mirror, world)
    with pytest.raises(ConflictError, match="ahead of 1"):
        mirror.sync(world.graph, 1, [])
    mirror.rebuild(world.graph, 1)
    assert mirror.checkpoint() == 1


# --- forgetting ------------------------------------------------------------------------------------------


def test_forgetting_leaves_no_text_anywhere_on_the_disk(mirror):
    world = company_x()
    secret = "The procurement director kept a private ledger"
    world.ingest(
        evidence=[{"id": "E_ledger", "claim": secret, "quote": "ledger page forty-two"}],
        conclusions=[
            {
                "id": "L",
                "statement": "The ledger proves intent beyond doubt",
                "depends_on": [{"evidence": "E_ledger"}],
            }
        ],
    )
    follow(mirror, world)
    world.fact("A supplier confirms it", weighs=[("B", "supports", 0.4)])
    follow(mirror, world)  # through the engines, so that write-ahead logs and fragments have been used
    texts = [secret, "ledger page forty-two", "The ledger proves intent beyond doubt"]
    assert mirror.recall("ledger")
    assert mirror.rag("ledger")
    for text in texts:
        places = texts_under(mirror.folder, text)
        assert any("cognee_graph_ladybug" in place for place in places), "the search would not find it in the graph"
        assert any(".lance" in place for place in places), "the search would not find it among the vectors"
    world.retract("E_ledger")
    follow(mirror, world)
    assert [world.state("E_ledger"), world.state("L")] == ["forgotten", "forgotten"]
    assert mirror.compare(world.graph) == []
    assert {text: texts_under(mirror.folder, text) for text in texts} == {text: [] for text in texts}
    assert texts_under(mirror.folder, "A supplier confirms it")


def test_what_was_forgotten_can_come_back(mirror):
    world = company_x()
    follow(mirror, world)
    audit(world)
    follow(mirror, world)
    world.retract("E_audit")
    follow(mirror, world)
    assert world.state("K") == "alive"
    assert mirror.compare(world.graph) == []
    assert world.id("K") in {hit.node_id for hit in mirror.recall("X knew by March 2021")}


def test_a_deletion_that_did_not_happen_is_loud(mirror, monkeypatch):
    world = company_x()
    follow(mirror, world)
    audit(world)

    from projections.cognee.adapters import vector_adapter

    async def ignored(*_):
        return None

    base = vector_adapter().__mro__[1]
    monkeypatch.setattr(base, "delete_data_points", ignored)
    with pytest.raises(DamagedError, match=world.id("K")):
        follow(mirror, world)
    monkeypatch.undo()
    follow(mirror, world)
    assert mirror.compare(world.graph) == []


def test_a_full_disk_leaves_the_mirror_as_it_was(mirror, monkeypatch):
    world = company_x()
    follow(mirror, world)
    before, reached = mirror.read_back(), mirror.checkpoint()
    audit(world)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mirror_module.bulk, "build", full)
    with pytest.raises(UnavailableError, match="No space left on device"):
        mirror.rebuild(world.graph, len(world.events))
    monkeypatch.undo()
    assert (mirror.read_back(), mirror.checkpoint()) == (before, reached)
    assert len(list(mirror.folder.glob("gen-*"))) == 1
    follow(mirror, world)
    assert mirror.compare(world.graph) == []


def test_what_somebody_else_keeps_in_the_mirror_is_reported_and_does_not_stand_in_the_way(mirror):
    world = company_x()
    follow(mirror, world)

    async def remember():
        from cognee.infrastructure.databases.graph import get_graph_engine
        from cognee.infrastructure.databases.vector import get_vector_engine_async
        from cognee.infrastructure.engine import DataPoint
        from cognee.tasks.storage import add_data_points
        from pydantic import Field

        class Remark(DataPoint):
            text: str
            metadata: dict = Field(default={"index_fields": ["text"]})

        await add_data_points([Remark(id="00000000-0000-0000-0000-000000000001", text="mine")])
        evidence = cognee_id(world.id("E_qa"))
        await (await get_graph_engine()).add_edge("00000000-0000-0000-0000-000000000001", evidence, "about", {})
        assert await (await get_vector_engine_async()).has_collection("Remark_text")

    mirror.run(remember)
    theirs = [
        f"00000000-0000-0000-0000-000000000001 -about-> {world.id('E_qa')}: in Cognee, not in the log",
        "00000000-0000-0000-0000-000000000001 in Remark_text: in Cognee, not in the log",
        "00000000-0000-0000-0000-000000000001: in Cognee, not in the log",
    ]
    assert mirror.compare(world.graph) == theirs
    world.fact("Once more", weighs=[("B", "supports", 0.4)])
    mirror.sync(world.graph, len(world.events), [*world.graph.nodes])
    assert mirror.compare(world.graph) == theirs
    mirror.rebuild(world.graph, len(world.events))
    assert mirror.compare(world.graph) == []


# --- one process at a time -------------------------------------------------------------------------------

TAKE = """
import sys
from pathlib import Path
from falsify.belief.graph import BeliefGraph
from falsify.errors import ConflictError
from projections.cognee import Mirror
from tests.mirror_world import HashEmbedder
mirror = Mirror(Path(sys.argv[1]), HashEmbedder())
print(mirror.checkpoint())
try:
    mirror.sync(BeliefGraph(), 10_000, [])
except ConflictError as error:
    print(error)
    print(error.hint)
"""


def python(code, *arguments, **options):
    """Start a Python in the repository."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_a_second_process_is_told_who_has_the_mirror(mirror):
    world = company_x()
    follow(mirror, world)
    out, err = python(TAKE, mirror.folder).communicate(timeout=60)
    assert err == ""
    assert out.splitlines() == [
        str(len(world.events)),
        f"the Cognee mirror {mirror.folder} is in use by process {os.getpid()}",
        "wait for that process or stop it; everything that does not read Cognee works meanwhile",
    ]
    mirror.close()
    out, err = python(TAKE, mirror.folder).communicate(timeout=60)
    assert (out, err) == (f"{len(world.events)}\n", "")


def test_a_second_mirror_in_the_same_process_is_refused_too(mirror, folder):
    mirror.rebuild(InMemory("Why?").graph, 0)
    with pytest.raises(ConflictError, match="this process itself"):
        Mirror(folder, HashEmbedder()).recall("anything")


def test_what_runs_in_the_mirror_cannot_call_it(mirror):
    world = company_x()
    follow(mirror, world)

    async def call():
        mirror.read_back()

    for make in (call, lambda: asyncio.to_thread(mirror.read_back)):
        with pytest.raises(asyncio.InvalidStateError, match="wait for itself"):
            mirror.run(make)
    assert mirror.compare(world.graph) == []


def test_threads_share_a_mirror(mirror):
    world = company_x()
    follow(mirror, world)
    answers: list[set[str]] = []

    def ask():
        answers.extend({hit.node_id for hit in mirror.recall("Which supplier email warned X?", 2)} for _ in range(3))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    audit(world)
    follow(mirror, world)
    for thread in threads:
        thread.join()
    assert answers == [{world.id("E_email"), world.id("B")}] * 12
    assert mirror.compare(world.graph) == []


def test_closing_leaves_nothing_for_the_garbage_collector_to_wait_for(mirror):
    from cognee.infrastructure.databases.utils.closing_lru_cache import _DECORATED_CACHES

    async def keep():
        from cognee.infrastructure.databases.graph import get_graph_engine
        from cognee.infrastructure.databases.vector import get_vector_engine_async

        handles = [await get_graph_engine(), await get_vector_engine_async()]
        assert all(handle.name for handle in handles[1:])
        assert await handles[0].is_empty()
        return handles

    mirror.rebuild(InMemory("Why?").graph, 0)
    kept = mirror.run(keep)
    mirror.close()

    def collect():
        with ExitStack() as inside:
            for cache in _DECORATED_CACHES:
                inside.enter_context(cache._lock)
            kept.clear()
            gc.collect()

    collector = threading.Thread(target=collect, daemon=True)
    collector.start()
    collector.join(timeout=20)
    assert not collector.is_alive()


# --- crashes ---------------------------------------------------------------------------------------------


class Crash(BaseException):
    """What ends a process between two writes."""


def crash(*_, **__):
    raise Crash


def crash_after(function):
    def wrapped(*arguments, **options):
        function(*arguments, **options)
        raise Crash

    return wrapped


POINTS = {
    "before anything is written": (mirror_module.generations, "mark", crash),
    "when the generation is marked": (mirror_module.generations, "mark", crash_after(generations.mark)),
    "when the node is deleted, before the rebuild": (Stores, "delete", crash_after(Stores.delete)),
    "with an empty new generation": (mirror_module.generations, "begin", crash_after(generations.begin)),
    "with the stores built, before the note": (mirror_module.bulk, "build", crash_after(mirror_module.bulk.build)),
    "with the new generation complete": (mirror_module.generations, "promote", crash),
    "with two generations, the new one current": (mirror_module.generations, "sweep", crash),
}


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_while_forgetting_is_made_good_by_doing_it_again(mirror, folder, monkeypatch, point):
    world = company_x()
    follow(mirror, world)
    audit(world)
    monkeypatch.setattr(*POINTS[point])
    with pytest.raises(Crash):
        follow(mirror, world)
    monkeypatch.undo()
    mirror.close()
    with Mirror(folder, HashEmbedder()) as again:
        follow(again, world)
        assert again.compare(world.graph) == []
        assert texts_under(folder, "X knew by March 2021") == []
        assert len(list(folder.glob("gen-*"))) == 1


def test_text_that_was_deleted_but_is_still_on_the_disk_goes_even_if_nothing_else_changes(mirror, folder, monkeypatch):
    world = company_x()
    follow(mirror, world)
    audit(world)
    monkeypatch.setattr(Stores, "delete", crash_after(Stores.delete))
    with pytest.raises(Crash):
        follow(mirror, world)
    monkeypatch.undo()
    assert texts_under(folder, "X knew by March 2021")
    mirror.sync(world.graph, len(world.events), [])
    assert texts_under(folder, "X knew by March 2021") == []
    assert mirror.compare(world.graph) == []


@pytest.mark.parametrize("method", ["add_nodes", "add_edges", "index_data_points", "update_payload"])
def test_a_crash_between_the_writes_of_a_sync_is_made_good_by_doing_it_again(mirror, folder, monkeypatch, method):
    world = company_x()
    follow(mirror, world)
    world.fact("A second audit blames the supplier", weighs=[("B", "supports", 0.4)], source_id="audit")
    world.rule("E_email", "E_qa", "unrelated")
    world.retract("E_email")
    world.restore("E_email")

    from projections.cognee import adapters

    owner = adapters.graph_adapter() if method in {"add_nodes", "add_edges"} else adapters.vector_adapter()
    original = getattr(owner.__mro__[1], method)

    async def crashing(*arguments, **options):
        await original(*arguments, **options)
        raise Crash

    monkeypatch.setattr(owner.__mro__[1], method, crashing)
    with pytest.raises(Crash):
        follow(mirror, world)
    monkeypatch.undo()
    mirror.close()
    with Mirror(folder, HashEmbedder()) as again:
        follow(again, world)
        assert again.compare(world.graph) == []


ENDLESS = """
import sys
from pathlib import Path
from projections.cognee import Mirror, touched
from tests.mirror_world import HashEmbedder, flicker
mirror = Mirror(Path(sys.argv[1]), HashEmbedder())
for world, events in flicker():
    mirror.sync(world.graph, len(world.events), touched(events, world.graph))
    print(len(world.events), flush=True)
"""


@pytest.mark.slow
def test_kill_9_at_any_moment_is_repaired_by_the_next_to_open(folder):
    from tests.mirror_world import flicker

    rng = random.Random(20)
    for _ in range(ROUNDS):
        child = python(ENDLESS, folder)
        wait_for = rng.randint(3, 6)
        for line in islice(child.stdout, wait_for):
            assert line.strip().isdigit()
        time.sleep(rng.random() * 0.5)
        child.send_signal(signal.SIGKILL)
        _, err = child.communicate(timeout=60)
        assert (child.returncode, err) == (-signal.SIGKILL, "")
        with Mirror(folder, HashEmbedder()) as mirror:
            reached = mirror.checkpoint()
            for world, _ in flicker():
                if len(world.events) > reached and world.state("K") == "forgotten":
                    break
            follow(mirror, world)
            assert mirror.compare(world.graph) == []
            assert texts_under(folder, "X knew by March 2021") == []
            assert [path.name for path in folder.glob("gen-*")] == [generations.current(folder).name]
        # the next child starts from the beginning of the history
        for path in folder.glob("gen-*"):
            (path / "falsify.json").unlink()


def test_a_generation_that_cannot_be_read_is_written_anew(mirror, folder):
    world = company_x()
    follow(mirror, world)
    mirror.close()
    graph = generations.current(folder) / "databases" / "cognee_graph_ladybug"
    graph.write_bytes(b"not a database")
    audit(world)
    with Mirror(folder, HashEmbedder()) as again:
        with pytest.raises(DamagedError, match="cannot read"):
            again.read_back()
        follow(again, world)
        assert again.compare(world.graph) == []


@pytest.mark.parametrize("damage", ["", "gen-99", "../elsewhere", "\0"])
def test_a_pointer_to_nowhere_is_an_empty_mirror(mirror, folder, damage):
    world = company_x()
    follow(mirror, world)
    mirror.close()
    (folder / "CURRENT").write_text(damage)
    with Mirror(folder, HashEmbedder()) as again:
        assert again.checkpoint() == 0
        follow(again, world)
        assert again.compare(world.graph) == []
        assert len(list(folder.glob("gen-*"))) == 1


# --- what is checked, and what is given away -------------------------------------------------------------


def test_compare_names_what_was_changed_behind_our_back(mirror):
    world = company_x()
    follow(mirror, world)
    qa, email, hypothesis = (cognee_id(world.id(h)) for h in ("E_qa", "E_email", "A"))

    async def meddle():
        from cognee.infrastructure.databases.graph import get_graph_engine
        from cognee.infrastructure.databases.vector import get_vector_engine_async

        graph, vectors_ = await get_graph_engine(), await get_vector_engine_async()
        await graph.set_node_truth_state({qa: {"truth_alignment": ["refuted"], "truth_epoch": 7}})
        await graph.add_edge(email, hypothesis, "refutes", {"weight": 1.0})
        await vectors_.delete_data_points("Evidence_claim", [email])
        await vectors_.update_payload(
            "DocumentChunk_text", {row_id("DocumentChunk_text", world.id("E_qa")): {"belongs_to_set": ["dead"]}}
        )

    mirror.run(meddle)
    assert mirror.compare(world.graph) == sorted(
        [
            f"{world.id('E_qa')}: truth_alignment is ['refuted'] in Cognee, ['alive'] in the log",
            f"{world.id('E_qa')}: truth_epoch is 7 in Cognee, 0 in the log",
            f"{world.id('E_email')} -refutes-> {world.id('A')}: in Cognee, not in the log",
            f"{world.id('E_email')} in Evidence_claim: in the log, not in Cognee",
            f"{world.id('E_qa')} in DocumentChunk_text: tags is ('dead',) in Cognee, ('alive',) in the log",
        ]
    )
    mirror.sync(world.graph, len(world.events), [*world.graph.nodes])
    assert mirror.compare(world.graph) == []


def test_an_exported_epoch_is_a_folder_that_plain_cognee_opens(mirror, tmp_path, monkeypatch):
    world = company_x()
    before, position = snapshot(world.graph), len(world.events)
    target = tmp_path / "then"
    mirror.export_to(target, world.graph, position)
    audit(world)
    follow(mirror, world)
    live = mirror.read_back()
    with pytest.raises(InvalidInputError, match="not an empty folder"):
        mirror.export_to(target, world.graph, position)
    assert sorted(path.name for path in target.iterdir()) == ["databases", "falsify.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["then", "workspace"]
    monkeypatch.setenv("HOME", str(tmp_path))  # plain Cognee writes there

    async def read():
        from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
        from cognee.infrastructure.databases.vector.lancedb.LanceDBAdapter import LanceDBAdapter

        graph = LadybugAdapter(
            str(target / "databases" / "cognee_graph_ladybug"),
            kuzu_buffer_pool_size=1 << 28,
            kuzu_max_db_size=1 << 32,
        )
        vectors_ = LanceDBAdapter(str(target / "databases" / "cognee.lancedb"), None, None)
        nodes, edges = await graph.get_graph_data()
        hits = await vectors_.search(
            "Conclusion_statement", query_vector=HashEmbedder().embed(["X knew by March 2021"])[0].tolist()
        )
        await graph.close()
        await vectors_.close()
        return nodes, edges, hits

    nodes, edges, hits = mirror.run(read)
    assert {node["node_id"] for _, node in nodes} == before.nodes.keys()
    assert len(edges) == len(before.edges)
    assert [str(hit.id) for hit in hits] == [cognee_id(world.id("K"))]
    assert mirror.read_back() == live


def test_the_environment_before_cognee_can_be_had_back(mirror, tmp_path):
    asked = """
import os, sys
from pathlib import Path
from falsify.judges.cognee_environment import prepare, undisturbed
os.environ["LOG_LEVEL"] = "DEBUG"
before = dict(os.environ)
prepare(Path(sys.argv[1]))
prepare(Path(sys.argv[1], "elsewhere"))
print(undisturbed() == before, os.environ["LOG_LEVEL"], os.environ["SYSTEM_ROOT_DIRECTORY"])
"""
    out, err = python(asked, tmp_path).communicate(timeout=60)
    assert (out, err) == (f"True ERROR {tmp_path}/system\n", "")


SILENT = """
import os, sys
from pathlib import Path
from projections.cognee import Mirror, touched
from tests.mirror_world import HashEmbedder, audit, company_x
os.chdir(sys.argv[2])
world = company_x()
with Mirror(Path(sys.argv[1]), HashEmbedder()) as mirror:
    mirror.sync(world.graph, len(world.events), [])
    done = len(world.events)
    audit(world)
    mirror.sync(world.graph, len(world.events), touched(world.events[done:], world.graph))
    world.fact("One more", source_id="audit")
    mirror.sync(world.graph, len(world.events), touched(world.events[done:], world.graph))
    assert mirror.recall("did X know?") and mirror.rag("did X know?") and not mirror.compare(world.graph)
print("done")
"""


def test_nothing_is_printed_nothing_written_elsewhere_and_nobody_called(tmp_path):
    here, home, temporary = (tmp_path / name for name in ("here", "home", "temporary"))
    for path in (here, home, temporary):
        path.mkdir()
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), str(home))
    environment = {**undisturbed(), **homes, "TMPDIR": str(temporary)}
    environment["PYTHONPATH"] += f"{os.pathsep}{ROOT}"  # what is there already keeps the process off the network
    out, err = python(SILENT, tmp_path / "w" / "mirror", here, env=environment).communicate(timeout=120)
    assert (out, err) == ("done\n", "")
    assert [*here.iterdir(), *home.iterdir(), *temporary.iterdir()] == []
