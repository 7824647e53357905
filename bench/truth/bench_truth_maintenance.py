"""Truth maintenance on data that others made, through the real commands of a workspace on disk.

    python bench/truth/bench_truth_maintenance.py --data FOLDER

Argumentation frameworks: arguments are evidence and attacks a person's verdicts; the labels must be the grounded
extension (a textbook loop computes it), and arriving in another order, attack by attack, must give the same digest.
Entailment trees: steps are grouped critical dependencies; refuting a leaf must kill exactly what its steps lead to, and
with one premise of each step made non-critical, losing that premise must only cost confidence.
Random bipolar graphs: attacks, groups and loops, against the well-founded model by clingo.
Beside each stands what flipping in order of arrival, or a walk of depth four, would have got right.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from projections.beliefs import digest
from surfaces.belief_file import Document
from surfaces.workspace import Workspace
from tests import public_data
from tests.mirror_world import HashEmbedder

NAMES = {"alive": "in", "contested": "undecided"}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="the folder of public data")
    parser.add_argument("--shuffles", type=int, default=60, help="frameworks that arrive again, attack by attack")
    parser.add_argument("--graphs", type=int, default=200, help="random bipolar graphs")
    wanted = parser.parse_args()
    os.environ["FALSIFY_TEST_DATA"] = wanted.data
    print(f"{'what':<58} {'right':>12} {'peer':>22} {'seconds':>8}")
    for row in (frameworks(wanted.shuffles), *trees(), bipolar(wanted.graphs)):
        print(f"{row[0]:<58} {row[1]:>12} {row[2]:>22} {row[3]:>8.1f}")


def workspace(folder: str) -> Workspace:
    """Open a new workspace; no text is embedded, as nothing here is judged."""
    return Workspace.init(Path(folder), environ={}, embedder=HashEmbedder())


def frameworks(shuffles: int) -> tuple[str, str, str, float]:
    """Hold every framework against the grounded extension, and some of them against another order of arrival."""
    start, right, arrival, total = time.perf_counter(), 0, 0, 0
    same = 0
    for number, framework in enumerate(public_data.frameworks()):
        expected = grounded(framework)
        total += 1
        arrival += flipped_in_order(framework) == expected
        with tempfile.TemporaryDirectory() as folder, workspace(folder) as at_once:
            at_once.ingest(_arguments(framework.arguments, framework.attacks))
            right += _states(at_once) == expected
            if number < shuffles:
                with tempfile.TemporaryDirectory() as other, workspace(other) as one_by_one:
                    same += _one_by_one(one_by_one, framework) == digest(at_once.graph)
    told = f"{right}/{total}, {same}/{min(shuffles, total)}"
    return (
        "argumentation frameworks: grounded, same digest shuffled",
        told,
        f"order of arrival: {arrival}",
        time.perf_counter() - start,
    )


def grounded(framework: public_data.Framework) -> dict[str, str]:
    """Return in, out or undecided for each argument, by the textbook loop."""
    attackers: dict[str, set[str]] = {a: set() for a in framework.arguments}
    for a, target in framework.attacks:
        attackers[target].add(a)
    inside: set[str] = set()
    outside: set[str] = set()
    while fresh := {a for a in framework.arguments if a not in inside | outside and attackers[a] <= outside}:
        inside |= fresh
        outside |= {target for a, target in framework.attacks if a in inside}
    return {a: "in" if a in inside else "out" if a in outside else "undecided" for a in framework.arguments}


def flipped_in_order(framework: public_data.Framework) -> dict[str, str]:
    """Return what comes of flipping the target of each attack whose attacker is alive when it arrives."""
    alive = dict.fromkeys(framework.arguments, "in")
    for attacker, target in framework.attacks:
        if alive[attacker] == "in":
            alive[target] = "out"
    return alive


def trees() -> Iterable[tuple[str, str, str, float]]:
    """Refute each leaf of each tree; then lose a premise of each step that is not critical."""
    start = time.perf_counter()
    leaves = exact = shallow = decays = decayed = 0
    for tree in public_data.trees():
        used = sorted({p for premises, _ in tree.steps for p in premises if p in tree.texts and p.startswith("sent")})
        for leaf in used:
            expected = _dead(tree, leaf)
            with tempfile.TemporaryDirectory() as folder, workspace(folder) as inquiry:
                inquiry.ingest(_tree(tree))
                inquiry.ingest(_refutation(tree, leaf))
                found = _not_alive(inquiry, tree)
            leaves += 1
            exact += found == expected
            shallow += _walk(tree, leaf, depth=4) == expected
        loose = {head: premises[0] for premises, head in tree.steps if len(premises) > 1}
        for premise in sorted(set(loose.values()) & set(used)):
            with tempfile.TemporaryDirectory() as folder, workspace(folder) as inquiry:
                inquiry.ingest(_tree(tree, loose))
                inquiry.ingest(_refutation(tree, premise))
                decays += 1
                decayed += _decay_is_right(inquiry, tree, loose, premise)
    taken = time.perf_counter() - start
    yield (
        "entailment trees: refuting a leaf kills exactly its steps",
        f"{exact}/{leaves}",
        f"walk of depth 4: {shallow}",
        taken,
    )
    yield "entailment trees: losing a non-critical premise decays", f"{decayed}/{decays}", "", taken


def bipolar(number: int) -> tuple[str, str, str, float]:
    """Hold random graphs of attacks, grouped dependencies and loops against clingo."""
    from tests import clingo_oracle
    from tests.test_bipolar import belief_file, random_graph, recorded_labels

    start, right = time.perf_counter(), 0
    for seed in range(number):
        chance = random.Random(10_000 + seed)
        graph = random_graph(chance)
        with tempfile.TemporaryDirectory() as folder, workspace(folder) as inquiry:
            inquiry.ingest(_document(belief_file(graph, chance)))
            right += recorded_labels(inquiry) == clingo_oracle.well_founded(graph)
    return "random bipolar graphs: well-founded model by clingo", f"{right}/{number}", "", time.perf_counter() - start


# --- how the data are recorded ---------------------------------------------------------------------------


def _document(value: dict[str, object]) -> Document:
    return Document("data.json", orjson.dumps(value).decode())


def _arguments(arguments: Iterable[str], attacks: Iterable[tuple[str, str]]) -> Document:
    attacks = list(attacks)
    return _document(
        {
            "question": "Which arguments stand?",
            "evidence": [
                {
                    "id": a,
                    "claim": f"argument {a} holds",
                    "contradicts": [{"evidence": target} for attacker, target in attacks if attacker == a],
                }
                for a in arguments
            ],
        }
    )


def _one_by_one(inquiry: Workspace, framework: public_data.Framework) -> str:
    chance = random.Random(framework.name)
    arguments, attacks = list(framework.arguments), list(framework.attacks)
    chance.shuffle(arguments)
    chance.shuffle(attacks)
    inquiry.ingest(_arguments(arguments, ()))
    for attacker, target in attacks:
        inquiry.ingest(_arguments(dict.fromkeys((attacker, target)), [(attacker, target)]))
    return digest(inquiry.graph)


def _states(inquiry: Workspace) -> dict[str, str]:
    graph = inquiry.graph
    return {h: NAMES.get(graph.nodes[i].state, "out") for (_, h), i in graph.handles.items()}


def _tree(tree: public_data.Tree, loose: dict[str, str] | None = None) -> Document:
    heads = {head for _, head in tree.steps}
    leaves = [s for s in tree.texts if s not in heads and s.startswith("sent")]
    return _document(
        {
            "question": tree.question,
            "evidence": [{"id": s, "claim": f"{s}: {tree.texts[s]}"} for s in leaves],
            "conclusions": [
                {
                    "id": head,
                    "statement": f"{head}: {tree.texts[head]}",
                    "depends_on": [
                        {
                            ("conclusion" if p in heads else "evidence"): p,
                            "group": "step",
                            "critical": (loose or {}).get(head) != p,
                        }
                        for p in premises
                    ],
                }
                for premises, head in tree.steps
            ],
        }
    )


def _refutation(tree: public_data.Tree, leaf: str) -> Document:
    fact = {"id": "refuter", "claim": f"it is not so that {tree.texts[leaf]}", "contradicts": [{"evidence": leaf}]}
    return _document({"question": tree.question, "evidence": [fact]})


def _dead(tree: public_data.Tree, leaf: str) -> set[str]:
    dead = {leaf}
    while more := {head for premises, head in tree.steps if set(premises) & dead} - dead:
        dead |= more
    return dead


def _walk(tree: public_data.Tree, leaf: str, *, depth: int) -> set[str]:
    dead = wave = {leaf}
    for _ in range(depth):
        wave = {head for premises, head in tree.steps if set(premises) & wave} - dead
        dead |= wave
    return dead


def _not_alive(inquiry: Workspace, tree: public_data.Tree) -> set[str]:
    graph = inquiry.graph
    return {h for (_, h), i in graph.handles.items() if h in tree.texts and not graph.nodes[i].alive}


def _decay_is_right(inquiry: Workspace, tree: public_data.Tree, loose: dict[str, str], premise: str) -> bool:
    """Whether steps that need the premise died, and those that only gain by it live with less confidence."""
    dead = {premise}
    while (
        more := {head for premises, head in tree.steps if {p for p in premises if loose.get(head) != p} & dead} - dead
    ):
        dead |= more
    if _not_alive(inquiry, tree) != dead:
        return False
    graph = inquiry.graph
    nodes = {h: graph.nodes[i] for (_, h), i in graph.handles.items()}
    weakened = {head for head, p in loose.items() if p in dead and head not in dead}
    return all(
        (graph.confidence(nodes[head]) < 1.0) == (head in weakened)  # type: ignore[arg-type]  # heads are conclusions
        for _, head in tree.steps
        if head not in dead
    )


if __name__ == "__main__":
    main()
