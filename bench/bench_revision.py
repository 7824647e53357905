"""What a revision costs as the graph grows, labelling from scratch, and folding a million flips.

A revision is one fact that kills the only support of the frontier: a small cascade, the same at every size, that
moves the frontier among all the hypotheses of the question. Run: python bench/bench_revision.py
"""

import gc
import random
import statistics
import time
from itertools import chain, cycle, islice

from falsify.belief.cascade import Draft
from falsify.belief.contradiction import Finding
from falsify.belief.events import (
    ConclusionDrawn,
    ConclusionInvalidated,
    DependencyAdded,
    EvidenceAsserted,
    EvidenceRecorded,
    EvidenceRefuted,
    EvidenceWeighed,
    HypothesisProposed,
    NodeReinstated,
    QuestionAsked,
    SourceRecorded,
    VerdictGiven,
)
from falsify.belief.graph import UNATTRIBUTED, BeliefGraph, evolve
from falsify.belief.labelling import label_all
from falsify.belief.revision import AssertFact, assert_fact
from falsify.ports import Candidate

SIZES = (1_000, 10_000, 100_000)
RUNS = 300
FLIPS = 1_000_000
FLIPPED = 5_000
QUESTION = "Q"


def grow(size):
    """Yield the events of an investigation with about `size` nodes, a hundredth of them hypotheses of one question."""
    order = random.Random(size)
    hypotheses, evidence, conclusions = size // 100, size * 6 // 10, size * 39 // 100
    yield QuestionAsked(question_id=QUESTION, text="?", handle="")
    yield SourceRecorded(source_id=UNATTRIBUTED, title="", trust=1.0)
    for i in range(hypotheses):
        yield HypothesisProposed(hypothesis_id=f"H{i}", question_id=QUESTION, statement=f"h {i}", prior=0.5, handle="")
    for i in range(evidence):
        yield from claim(f"E{i}")
        for _ in range(order.choice((0, 1, 1, 2))):
            target = f"H{order.randrange(1, hypotheses)}"
            stance = order.choice(("supports", "supports", "refutes"))
            weight = order.random() / size  # so that H0, with one support of weight 1, is the frontier
            yield EvidenceWeighed(evidence_id=f"E{i}", hypothesis_id=target, stance=stance, weight=weight)
        if i and order.random() < 0.2:
            yield attack(f"E{i}", f"E{order.randrange(i)}")
    for i in range(conclusions):
        yield ConclusionDrawn(conclusion_id=f"C{i}", question_id=QUESTION, statement=f"c {i}", confidence=1, handle="")
        for _ in range(order.choice((1, 2, 3))):
            on = f"C{order.randrange(i)}" if i and order.random() < 0.5 else f"E{order.randrange(evidence)}"
            group = order.choice(("", "g"))
            yield DependencyAdded(node_id=f"C{i}", on_id=on, critical=order.random() < 0.8, group=group)


def cascade():
    """Yield what the revision strikes: the only support of the best hypothesis, and four conclusions above it."""
    yield from claim("E")
    yield EvidenceWeighed(evidence_id="E", hypothesis_id="H0", stance="supports", weight=1.0)
    for i in range(4):
        yield ConclusionDrawn(conclusion_id=f"K{i}", question_id=QUESTION, statement=f"k {i}", confidence=1, handle="")
        yield DependencyAdded(node_id=f"K{i}", on_id=f"K{i - 1}" if i else "E", critical=True, group="")


def claim(name):
    yield EvidenceRecorded(evidence_id=name, question_id=QUESTION, claim=name, handle="")
    yield EvidenceAsserted(evidence_id=name, source_id=UNATTRIBUTED, quote="", asserted_at="2021-01-01")


def attack(fact, claim_):
    return VerdictGiven(
        fact_id=fact,
        claim_id=claim_,
        relation="contradicts",
        confidence=0.9,
        rationale="",
        judge="bench",
        judge_version="",
        gate="distance",
        distance=0.1,
        shown="",
        directed=False,
    )


def fold(events):
    graph = BeliefGraph()
    for event in events:
        evolve(graph, event)
    return graph


def settled(size):
    """Return the graph of an investigation in which everything that follows has followed."""
    draft = Draft(BeliefGraph())
    draft.record(*grow(size), *cascade())
    draft.settle()
    return fold(draft.events)


def revise(graph):
    """Decide the revision, and return how many events it has."""
    fact = AssertFact(question_id=QUESTION, text="E does not hold", asserted_at="2022-01-01")
    finding = Finding(Candidate("E", 0.1, "distance"), attack(fact.fact_id, "E"))
    return len(assert_fact(graph, fact, [finding]))


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def flips(names):
    """Yield flips of weighed evidence and of conclusions, in turns: dead, alive."""
    dead = [
        EvidenceRefuted(evidence_id=n, by="E0", retracted=False)
        if n.startswith("E")
        else ConclusionInvalidated(conclusion_id=n, because="E0", lost=("E0",))
        for n in names
    ]
    kinds = {"E": "evidence", "C": "conclusion"}
    alive = [NodeReinstated(node_id=n, node_kind=kinds[n[0]], because="E0", was="refuted") for n in names]
    return islice(cycle(chain(dead, alive)), FLIPS)


def fold_flips():
    """Return the time of a flip, and how many nodes were flipped."""
    graph = settled(FLIPPED)
    names = [n for n in graph.nodes if n[0] in "EC"][:FLIPPED]
    events = list(flips(names))
    gc.freeze()

    def refold():
        for event in events:
            evolve(graph, event)

    return seconds(refold) / FLIPS, len(names)


def main():
    flip, flipped = fold_flips()
    graphs, grown = {}, {}
    for size in SIZES:
        grown[size] = seconds(lambda size=size: graphs.update({size: settled(size)}))
    gc.freeze()
    told = {revise(graph) for graph in graphs.values()}
    assert told == {15}, told
    took = {size: [] for size in SIZES}
    for _ in range(RUNS):  # the sizes in turns, so that a noisy minute strikes all of them
        for size, graph in graphs.items():
            took[size].append(seconds(lambda graph=graph: revise(graph)))
    medians = {size: statistics.median(times) for size, times in took.items()}
    print(f"{'nodes':>8}  {'grow and settle':>16}  {'label all':>10}  {'revision':>10}  {'to 1k':>6}")
    for size, graph in graphs.items():
        label = seconds(lambda graph=graph: label_all(graph))
        print(
            f"{len(graph.nodes):>8,}  {grown[size]:>14.2f} s  {label:>8.2f} s  {medians[size] * 1e6:>7.0f} us"
            f"  {medians[size] / medians[SIZES[0]]:>6.2f}"
        )
    print(f"\nfolding {FLIPS:,} flips of {flipped:,} nodes: {flip * 1e6:.2f} us an event")


if __name__ == "__main__":
    main()
