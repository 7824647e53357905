"""187 public entailment trees, told as investigations: refuting a leaf kills exactly what its steps lead to.

Leaves and distractors are evidence, what a step entails is a conclusion, and the premises of a step are a group.
"""

import pytest

from tests.driver import InMemory
from tests.public_data import needs_public_data, trees

pytestmark = needs_public_data


@pytest.fixture(scope="module")
def all_trees():
    return list(trees())


def open_investigation(question):
    """Return something to drive; what a workspace offers can take its place here."""
    return InMemory(question)


def test_refuting_each_leaf_kills_exactly_what_its_steps_lead_to_and_its_refuters_fall_brings_it_back(all_trees):
    assert len(all_trees) == 187
    killed = 0
    for tree in all_trees:
        beliefs = open_investigation(f"{tree.question} ({tree.name})")
        beliefs.ingest(**_file(tree))
        assert set(beliefs.states().values()) == {"alive"}, tree.name
        for leaf in _leaves(tree):
            beliefs.ingest(evidence=[_refuter(leaf)])
            expected = _what_falls_with(tree, leaf)
            assert _dead(beliefs) == expected, (tree.name, leaf)
            assert beliefs.state(leaf) == "refuted"
            killed += len(expected) - 1
            beliefs.retract(f"not-{leaf}")
            assert _dead(beliefs) == set(), (tree.name, leaf)
    assert killed > 1_000


def test_refuting_all_leaves_kills_all_conclusions_and_no_distractor(all_trees):
    for tree in all_trees:
        beliefs = open_investigation(f"{tree.question} ({tree.name})")
        beliefs.ingest(**_file(tree))
        beliefs.ingest(evidence=[_refuter(leaf) for leaf in _leaves(tree)])
        derived = {head for _, head in tree.steps}
        assert {beliefs.state(head) for head in derived} <= {"invalidated", "forgotten"}, tree.name
        assert _dead(beliefs) == derived | {n for leaf in _leaves(tree) for n in _namesakes(tree, leaf)}, tree.name


def test_every_step_given_alone_and_backwards_ends_in_the_same_states(all_trees):
    for tree in all_trees[::6]:
        leaf = _leaves(tree)[0]
        beliefs = open_investigation(f"{tree.question} ({tree.name})")
        whole = _file(tree)
        beliefs.ingest(evidence=[*whole["evidence"], _refuter(leaf)])
        beliefs.ingest(conclusions=[{**entry, "depends_on": []} for entry in whole["conclusions"]])
        for entry in reversed(whole["conclusions"]):
            beliefs.ingest(conclusions=[entry])
        assert _dead(beliefs) == _what_falls_with(tree, leaf), tree.name


def _file(tree):
    steps = {head: [] for _, head in tree.steps}
    for place, (premises, head) in enumerate(tree.steps):
        for premise in premises:
            kind = "evidence" if premise.startswith("sent") else "conclusion"
            steps[head].append({kind: premise, "group": f"step{place}"})
    return {
        "evidence": [{"id": n, "claim": text} for n, text in tree.texts.items() if n.startswith("sent")],
        "conclusions": [
            {"id": head, "statement": tree.texts[head], "depends_on": depends_on} for head, depends_on in steps.items()
        ],
    }


def _refuter(leaf):
    return {
        "id": f"not-{leaf}",
        "claim": f"It has been found that {leaf} is wrong",
        "contradicts": [{"evidence": leaf}],
    }


def _leaves(tree):
    return sorted({p for premises, _ in tree.steps for p in premises if p.startswith("sent")})


def _what_falls_with(tree, leaf):
    fallen = _namesakes(tree, leaf)
    while more := {head for premises, head in tree.steps if fallen & set(premises)} - fallen:
        fallen |= more
    return fallen


def _namesakes(tree, leaf):
    """Return the sentences with the words of the leaf: one belief, whatever it is called."""
    return {
        n for n, text in tree.texts.items() if n.startswith("sent") and text.casefold() == tree.texts[leaf].casefold()
    }


def _dead(beliefs):
    return {h for h, state in beliefs.states().items() if state != "alive" and not h.startswith("not-")}
