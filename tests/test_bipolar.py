"""Random graphs of attacks, grouped dependencies and loops, through the real commands, against clingo."""

import random

import pytest

from surfaces.belief_file import Document
from tests.test_workspace import opened

clingo_oracle = pytest.importorskip("tests.clingo_oracle", reason="clingo is not installed")

GRAPHS = 40
LABELS = {"alive": "alive", "contested": "contested"}


def random_graph(chance):
    """Return evidence and conclusions, some of them justified by groups, in loops too, and attacks on evidence."""
    evidence = [f"e{i}" for i in range(chance.randint(3, 9))]
    conclusions = [f"c{i}" for i in range(chance.randint(1, 8))]
    nodes = evidence + conclusions
    attacks = {(chance.choice(evidence), chance.choice(evidence)) for _ in range(chance.randint(0, 2 * len(evidence)))}
    justifications = {}
    for node in nodes:
        if node in conclusions or chance.random() < 0.4:
            groups = [
                tuple(sorted(chance.sample(nodes, chance.randint(1, min(3, len(nodes))))))
                for _ in range(chance.randint(0 if node in evidence else 1, 2))
            ]
            if groups:
                justifications[node] = tuple(groups)
    return clingo_oracle.Bipolar(tuple(nodes), tuple(sorted(attacks)), justifications)


def belief_file(graph, chance):
    """Return the graph as a belief file, its entries shuffled."""

    def depends_on(node):
        return [
            {("evidence" if on[0] == "e" else "conclusion"): on, "group": f"g{number}"}
            for number, group in enumerate(graph.justifications.get(node, ()))
            for on in group
        ]

    entries = {
        node: {"id": node, "depends_on": depends_on(node)}
        | (
            {"claim": f"claim {node}", "contradicts": [{"evidence": b} for a, b in graph.attacks if a == node]}
            if node[0] == "e"
            else {"statement": f"so {node}"}
        )
        for node in graph.nodes
    }
    evidence = [entries[n] for n in graph.nodes if n[0] == "e"]
    conclusions = [entries[n] for n in graph.nodes if n[0] == "c"]
    chance.shuffle(evidence)
    chance.shuffle(conclusions)
    return {"question": "What stands?", "evidence": evidence, "conclusions": conclusions}


def recorded_labels(workspace):
    graph = workspace.graph
    return {handle: LABELS.get(graph.nodes[node_id].state, "dead") for (_, handle), node_id in graph.handles.items()}


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_a_random_graph_has_the_labels_that_clingo_gives_it(tmp_path, seed):
    import orjson

    chance = random.Random(seed)
    graph = random_graph(chance)
    expected = clingo_oracle.well_founded(graph)
    with opened(tmp_path) as workspace:
        document = orjson.dumps(belief_file(graph, chance)).decode()
        workspace.ingest(Document("graph.json", document))
        assert recorded_labels(workspace) == expected
    agreed = clingo_oracle.stable(graph)
    if agreed is not None:
        everywhere, somewhere = agreed
        assert {n for n, label in expected.items() if label == "alive"} <= everywhere
        assert not {n for n, label in expected.items() if label == "dead"} & somewhere
