"""What the Cognee mirror costs over bare bulk copies of the same data into Ladybug and LanceDB, without Cognee.

    python bench/bench_mirror.py --nodes 10000
    python bench/bench_mirror.py --nodes 10000 --cognee      # and what goes through Cognee's engines

Both sides of the ratio run in turns in one process and end with closed, synced files. The bare side starts from
finished Arrow tables; the mirror starts from the belief graph. All embeddings are computed before the clock starts:
with a real model they cost many times everything else (about 5 ms a text), and are the same on both sides.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import ladybug
import lancedb
import numpy as np
from numpy.typing import NDArray

from falsify.belief.events import (
    BeliefEvent,
    ConclusionDrawn,
    DependencyAdded,
    EvidenceAsserted,
    EvidenceRecorded,
    EvidenceWeighed,
    HypothesisProposed,
    QuestionAsked,
    SourceRecorded,
)
from falsify.belief.graph import BeliefGraph, evolve
from falsify.belief.revision import AssertFact, assert_fact, retract
from projections.cognee import Mirror, MirrorState, bulk, generations, snapshot, touched
from projections.cognee.stores import Stores


class Precomputed:
    """Vectors made beforehand: the clock does not measure the model."""

    name: ClassVar[str] = "precomputed"
    dimensions: ClassVar[int] = 384
    threshold: ClassVar[float] = 0.55

    def __init__(self, texts: Sequence[str]) -> None:
        rows = np.random.default_rng(1).standard_normal((len(texts), self.dimensions), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        self._vectors = dict(zip(texts, rows, strict=True))
        self._other = rows[0]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vectors.get(text, self._other) for text in texts])


def investigation(nodes: int) -> BeliefGraph:
    """Return a graph of 80 % evidence, 10 % hypotheses and 10 % conclusions, with an edge and a bit for each node."""
    graph = BeliefGraph()
    hypotheses = conclusions = nodes // 10
    evidence = nodes - hypotheses - conclusions - 1
    events: list[BeliefEvent] = [QuestionAsked(question_id="Q-1", text="What caused it?", handle="")]
    events += [SourceRecorded(source_id=f"s{i}", title=f"Report {i}", trust=1.0) for i in range(50)]
    for i in range(hypotheses):
        statement = f"Hypothesis {i}: the cause was part {i * 7919 % 1000} of the assembly"
        events.append(
            HypothesisProposed(hypothesis_id=f"H-{i}", question_id="Q-1", statement=statement, prior=0.5, handle="")
        )
    for i in range(evidence):
        claim = f"Claim {i}: inspection {i * 104729 % 9973} found wear of {i % 97} micrometres on part {i % 1000}"
        events += [
            EvidenceRecorded(evidence_id=f"E-{i}", question_id="Q-1", claim=claim, handle=""),
            EvidenceAsserted(
                evidence_id=f"E-{i}", source_id=f"s{i % 50}", quote=f"see page {i % 400}", asserted_at="2021-03-15"
            ),
            EvidenceWeighed(evidence_id=f"E-{i}", hypothesis_id=f"H-{i % hypotheses}", stance="supports", weight=0.5),
        ]
    for i in range(conclusions):
        statement = f"Conclusion {i}: part {i} must be replaced"
        events.append(
            ConclusionDrawn(conclusion_id=f"C-{i}", question_id="Q-1", statement=statement, confidence=0.9, handle="")
        )
        events += [
            DependencyAdded(node_id=f"C-{i}", on_id=f"E-{(3 * i + j) % evidence}", critical=True, group="")
            for j in range(2)
        ]
    for event in events:
        evolve(graph, event)
    return graph


class Tables:
    """The data as bare bulk copies want it: finished Arrow tables."""

    def __init__(self, state: MirrorState, embedder: Precomputed) -> None:
        self.nodes, self.edges = bulk.node_table(state.nodes), bulk.edge_table(state.edges)
        rows: dict[str, dict] = {}
        for (collection, node_id), row in state.rows.items():
            rows.setdefault(collection, {})[node_id] = row
        schema = bulk.row_schema(embedder.dimensions)
        self.collections = {
            collection: bulk.row_table(
                collection, members, list(embedder.embed([row.text for row in members.values()])), schema
            )
            for collection, members in rows.items()
        }

    def copy(self, folder: Path) -> None:
        database = ladybug.Database(str(folder / "graph"), buffer_pool_size=bulk.BUFFER_POOL, max_db_size=bulk.MAX_SIZE)
        connection = ladybug.Connection(database)
        for statement in bulk.SCHEMA:
            connection.execute(statement)
        connection.execute("COPY Node FROM $rows", {"rows": self.nodes})
        connection.execute("COPY EDGE FROM $rows", {"rows": self.edges})
        connection.execute("CHECKPOINT")
        connection.close()
        database.close()
        vectors = lancedb.connect(folder / "vectors.lancedb")
        for name, table in self.collections.items():
            vectors.create_table(name, table)
        generations.flush(folder)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def show(what: str, seconds: list[float]) -> None:
    print(f"{what:<46} {statistics.median(seconds):8.3f} s   (best {min(seconds):.3f}, worst {max(seconds):.3f})")


def bulk_copies(graph: BeliefGraph, embedder: Precomputed, root: Path, rounds: int) -> None:
    tables = Tables(snapshot(graph), embedder)
    bare, mirrored = [], []
    for turn in range(rounds + 1):  # the first warms both up, and is not counted
        folder = root / f"bare-{turn}"
        folder.mkdir()
        bare.append(timed(lambda folder=folder: tables.copy(folder)))
        with Mirror(root / f"mirror-{turn}", embedder) as mirror:
            mirrored.append(timed(lambda mirror=mirror: mirror.rebuild(graph, 1)))
    show("bare copies, ladybug + lancedb", bare[1:])
    show("Mirror.rebuild, from the belief graph", mirrored[1:])
    show("  of which the snapshot", [timed(lambda: snapshot(graph)) for _ in range(rounds)])
    print(f"{'ratio of the medians':<46} {statistics.median(mirrored[1:]) / statistics.median(bare[1:]):8.2f}")


def through_cognee(graph: BeliefGraph, embedder: Precomputed, root: Path, rounds: int) -> None:
    with Mirror(root / "live", embedder) as mirror:
        mirror.rebuild(graph, 1)
        print(f"{'importing Cognee and opening the stores':<46} {timed(lambda: mirror.recall('part 7')):8.3f} s")
        show("recall, top 10", [timed(lambda: mirror.recall("part 7", 10)) for _ in range(rounds)])
        show("rag, top 10", [timed(lambda: mirror.rag("part 7", 10)) for _ in range(rounds)])
        show("compare", [timed(lambda: mirror.compare(graph)) for _ in range(2)])
        position, plain, forgetting = 1, [], []
        for turn in range(rounds):
            fact = AssertFact(question_id="Q-1", text=f"New fact {turn}", source_id="s1")
            position += _sync(mirror, graph, assert_fact(graph, fact, []), position, plain)
            position += _sync(mirror, graph, retract(graph, fact.fact_id), position, forgetting)
        show("sync of a new fact", plain)
        show("sync of a forgetting (a new generation)", forgetting)
        assert mirror.compare(graph) == []
    empty = root / "engines"
    with Mirror(empty, embedder) as mirror:
        mirror.rebuild(BeliefGraph(), 1)
        mirror.close()
        generation = generations.current(empty)
        assert generation is not None
        stores = Stores(generation, embedder)
        seconds = timed(lambda: stores.bring(MirrorState(), snapshot(graph)))
        stores.close()
        print(f"{'the same data, written through the engines':<46} {seconds:8.3f} s")


def _sync(mirror: Mirror, graph: BeliefGraph, events: list[BeliefEvent], position: int, times: list[float]) -> int:
    for event in events:
        evolve(graph, event)
    changed = touched(events, graph)
    times.append(timed(lambda: mirror.sync(graph, position + len(events), changed)))
    return len(events)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cognee", action="store_true", help="also measure what goes through Cognee (a minute)")
    options = parser.parse_args()
    graph = investigation(options.nodes)
    state = snapshot(graph)
    print(f"{len(state.nodes):,} nodes, {len(state.edges):,} edges, {len(state.rows):,} vectors of 384 dimensions\n")
    embedder = Precomputed(sorted({row.text for row in state.rows.values()}))
    with tempfile.TemporaryDirectory() as folder:
        bulk_copies(graph, embedder, Path(folder), options.rounds)
        if options.cognee:
            through_cognee(graph, embedder, Path(folder), options.rounds)


if __name__ == "__main__":
    main()
