"""What Cognee ought to hold, as a pure function of the graph: no Cognee here."""

import subprocess
import sys
import uuid
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from falsify.belief.graph import BeliefGraph, evolve
from projections.cognee import MirrorNode, MirrorRow, MirrorState, cognee_id, differences, snapshot, touched
from projections.cognee.state import view
from tests.driver import InMemory, judged
from tests.mirror_world import AUDIT, audit, company_x, fact_id, steps


def patched(old: MirrorState, part: MirrorState, changed: set[str]) -> MirrorState:
    """Return the old state with what the changed nodes own taken out, and the new part put in."""

    def owned(source: str, relation: str, target: str) -> bool:
        return source in changed or (target in changed and relation in {"depends_on", "supersedes"})

    return MirrorState(
        {**{n: node for n, node in old.nodes.items() if n not in changed}, **part.nodes},
        {**{key: fields for key, fields in old.edges.items() if not owned(*key)}, **part.edges},
        {**{key: row for key, row in old.rows.items() if key[1] not in changed}, **part.rows},
    )


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), length=st.integers(1, 25))
def test_the_touched_nodes_are_all_that_an_event_changes(seed, length):
    world, mirrored = InMemory("Why?"), MirrorState()
    for events in islice(steps(world, seed), length):
        changed = touched(events, world.graph)
        mirrored = patched(mirrored, view(world.graph, changed), changed)
        assert mirrored == snapshot(world.graph)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_rival_weighs_as_much_as_the_frontier(seed):
    world = InMemory("Why?")
    for _ in islice(steps(world, seed), 20):
        nodes = snapshot(world.graph).nodes
        weights = {n: node.fields["feedback_weight"] for n, node in nodes.items() if node.type == "Hypothesis"}
        frontier = world.graph.nodes[world.question_id].frontier
        assert all(0 <= weight < 1 for weight in weights.values())
        assert all(weights[frontier] > weight for n, weight in weights.items() if n != frontier)


def test_what_does_not_live_weighs_nothing():
    world = company_x()
    audit(world)
    for node_id, node in snapshot(world.graph).nodes.items():
        assert (node.fields["feedback_weight"] > 0) == world.graph.nodes[node_id].alive


def test_a_claim_is_mirrored_with_its_strongest_standing_source():
    world = company_x()
    world.ingest(
        sources=[{"id": "court", "title": "Court record", "trust": 2.0}],
        evidence=[
            {
                "id": "again",
                "claim": "The March QA report documents the defect",
                "source_id": "court",
                "quote": "exhibit 4",
            }
        ],
    )
    evidence = world.id("E_qa")
    fields = snapshot(world.graph).nodes[evidence].fields
    assert fields == {
        "node_id": evidence,
        "question_id": world.question_id,
        "name": "E_qa",
        "text": "The March QA report documents the defect",
        "status": "alive",
        "truth_alignment": ["alive"],
        "truth_epoch": 0,
        "feedback_weight": 0.9,
        "belongs_to_set": ["alive"],
        "claim": "The March QA report documents the defect",
        "stance": "supports",
        "source_id": "court",
        "source_title": "Court record",
        "quote": "exhibit 4",
        "asserted_at": "",
    }
    assert snapshot(world.graph).rows["DocumentChunk_text", evidence] == MirrorRow(
        "The March QA report documents the defect\n“exhibit 4”\n(Court record)", ("alive",), "court", "Court record"
    )
    world.retract("E_qa", source_id="court")
    assert snapshot(world.graph).nodes[evidence].fields["source_id"] == "qa"


def test_edges_carry_what_the_contract_asks_of_them():
    world = company_x()
    audit(world)
    named = {world.id(handle): handle for handle in ("A", "B", "E_qa", "E_email", "K", "E_audit")}
    edges = {(named[s], r, named[t]): fields for (s, r, t), fields in snapshot(world.graph).edges.items()}
    assert edges == {
        ("E_qa", "supports", "A"): {"weight": 0.9},
        ("E_email", "supports", "B"): {"weight": 0.8},
        ("E_audit", "supersedes", "E_qa"): {"confidence": 0.9, "relation": "contradicts"},
    }


def test_two_roles_of_one_dependency_are_one_edge():
    world = company_x()
    roles = [{"evidence": "E_qa", "critical": False}, {"evidence": "E_qa", "group": "both"}, {"evidence": "E_email"}]
    world.ingest(conclusions=[{"id": "L", "statement": "X knew", "depends_on": roles}])
    edge = snapshot(world.graph).edges[world.id("L"), "depends_on", world.id("E_qa")]
    assert edge == {"critical": True, "group": "both", "also": [{"critical": False, "group": ""}]}


def test_the_stronger_attacks_whichever_way_the_verdict_was_asked_for():
    world = company_x()
    finding = judged(fact_id(world, AUDIT), world.id("E_qa"))
    world.fact(AUDIT, finding, source_id="rumour", trust=0.1, handle="E_audit")
    assert (world.id("E_qa"), "supersedes", world.id("E_audit")) in snapshot(world.graph).edges
    world.ingest(sources=[{"id": "rumour", "title": "Court record", "trust": 5.0}])
    edges = snapshot(world.graph).edges
    assert (world.id("E_audit"), "supersedes", world.id("E_qa")) in edges
    assert (world.id("E_qa"), "supersedes", world.id("E_audit")) not in edges


def test_forgotten_nodes_are_absent_with_their_edges_and_vectors():
    world = company_x()
    conclusion = world.id("K")
    audit(world)
    state = snapshot(world.graph)
    assert world.state("K") == "forgotten"
    assert conclusion not in state.nodes
    assert all(conclusion not in key for key in state.edges)
    assert all(node_id != conclusion for _, node_id in state.rows)


def test_differences_name_the_node_and_what_differs():
    node = MirrorNode("Evidence", {"truth_alignment": ["alive"], "truth_epoch": 1})
    ours = MirrorState(
        nodes={"E-1": node, "E-2": node},
        edges={("E-1", "supports", "H-1"): {"weight": 0.5}},
        rows={("Evidence_claim", "E-1"): MirrorRow("a", ("alive",))},
    )
    theirs = MirrorState(
        nodes={"E-1": MirrorNode("Evidence", {"truth_alignment": ["refuted"], "extra": 1}), "E-3": node},
        edges={("E-1", "supports", "H-1"): {"weight": 0.7}},
        rows={("Evidence_claim", "E-1"): MirrorRow("a", ("refuted",))},
    )
    assert differences(ours, theirs) == [
        "E-1 -supports-> H-1: weight is 0.7 in Cognee, 0.5 in the log",
        "E-1 in Evidence_claim: tags is ('refuted',) in Cognee, ('alive',) in the log",
        "E-1: extra is 1 in Cognee, unknown to the log",
        "E-1: truth_alignment is ['refuted'] in Cognee, ['alive'] in the log",
        "E-1: truth_epoch is missing in Cognee",
        "E-2: in the log, not in Cognee",
        "E-3: in Cognee, not in the log",
    ]
    assert differences(ours, ours) == []


@given(node_id=st.text(st.characters(exclude_categories=["Cs"])))
def test_ids_in_cognee_are_uuids_of_version_5(node_id):
    assert cognee_id(node_id) == str(uuid.uuid5(uuid.UUID("7b1c0f5e-0d0a-5c7e-9a55-6fa15f1f0001"), node_id))


def test_events_of_other_contexts_touch_nothing():
    class Elsewhere:
        kind = "run.finished"

    assert touched([Elsewhere()], BeliefGraph()) == set()


@pytest.mark.parametrize("seed", range(3))
def test_the_snapshot_depends_on_the_events_alone(seed):
    world = InMemory("Why?")
    for _ in islice(steps(world, seed), 20):
        pass
    again = BeliefGraph()
    for event in world.events:
        evolve(again, event)
    assert snapshot(again) == snapshot(world.graph)


def test_importing_the_mirror_imports_neither_cognee_nor_its_stores():
    heavy = "{'cognee', 'lancedb', 'ladybug', 'pyarrow'}"
    asked = f"import sys, projections.cognee; print(sorted({heavy} & sys.modules.keys()))"
    answer = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True)
    assert answer.stdout == "[]\n"
