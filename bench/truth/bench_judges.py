"""How good the judges are on labelled pairs, and both gates together where most new facts contradict nothing.

python bench/truth/bench_judges.py --data PAIRS.tsv [--distractors N] [--judge KIND ...] [--show]

PAIRS.tsv has relation, new fact and claim on each line, or is the folder that holds contradiction_pairs.tsv. First each
judge alone: precision, recall and F1 for a conflict. Then end to end through a real workspace: its claims are those of
the pairs and as many unrelated sentences as there are (bench/truth/unrelated.py, none derived from the pairs); the new
facts are those of the pairs and N unrelated ones, in random order. An unrelated fact is wrong if any state changes.
"""

import argparse
import itertools
import json
import os
import random
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import unrelated

from falsify.belief.graph import UNATTRIBUTED
from falsify.belief.revision import AssertFact
from falsify.belief.text import node_id
from falsify.embedders.bundled import BundledEmbedder
from falsify.judges import lexical
from falsify.judges.quality import accuracy, acting, ask, best_threshold, conflict_score, quality, read_pairs
from falsify.ports import Opinion
from surfaces.adapters import make_judge
from surfaces.belief_file import Document
from surfaces.gates import distances
from surfaces.settings import Settings
from surfaces.workspace import Workspace

FILE = "contradiction_pairs.tsv"
QUESTION = "What is the case?"
ALLOWED = 1 / 200
SECOND = 1_200  # new facts of the second set of domains: nearly half of its sentences


class RulesJudge:
    """A baseline: the offline judge's rules without its model."""

    name, version = "rules only", lexical.VERSION

    def judge(self, fact, claims):
        found = [lexical.compare(fact.text, claim.text) for claim in claims]
        return [
            Opinion("supersedes" if f.change else "contradicts", f.score, "rules")
            if f.score
            else Opinion("unrelated", 1.0, "rules")
            for f in found
        ]


def read(path):
    file = path / FILE if path.is_dir() else path
    return read_pairs(file.read_text(encoding="utf-8").splitlines(), name=str(file))


def appointed(kinds, folder):
    """Return the judges of these kinds; without any, those that can be asked here."""
    kinds = kinds or ["offline", *(["llm", "panel"] if os.environ.get("LLM_API_KEY") else [])]
    return [make_judge(Settings(), os.environ, folder=folder, pinned=str, kind=kind) for kind in kinds]


def measure(judges, pairs):
    print(f"judges alone, {len(pairs)} pairs, {sum(pair.conflict for pair in pairs)} of them conflicts")
    print(
        f"{'judge':>14}  {'precision':>9}  {'recall':>6}  {'F1':>6}  {'relation':>8}  {'best from':>9}  {'ms/pair':>7}"
    )
    truth = [pair.conflict for pair in pairs]
    embedder = BundledEmbedder()
    near = quality(truth, [d < embedder.threshold for d in distances(embedder, pairs)])
    print(f"{'distance only':>14}  {near.precision:9.3f}  {near.recall:6.3f}  {near.f1:6.3f}")
    for judge in [RulesJudge(), *judges]:
        ask(judge, pairs[0])  # the model is loaded at the first use
        start = time.perf_counter()
        answers = [ask(judge, pair) for pair in pairs]
        spent = (time.perf_counter() - start) / len(pairs) * 1000
        scores = [conflict_score(answer) for answer in answers]
        found = quality(truth, acting(scores))
        print(
            f"{judge.name:>14}  {found.precision:9.3f}  {found.recall:6.3f}  {found.f1:6.3f}  "
            f"{accuracy(pairs, answers):8.3f}  {best_threshold(truth, scores):9.2f}  {spent:7.1f}"
        )


@dataclass
class Told:
    """What came of the new facts."""

    seconds: float = 0.0
    facts: int = 0
    verdicts: dict = field(default_factory=dict)  # (fact, claim) -> whether the verdict acted
    retiring: dict = field(default_factory=dict)  # fact -> the answers that acted, for facts that changed a state


def play(judge, claims, facts, folder):
    """Let the facts arrive in a workspace in which the claims are believed."""
    evidence = [{"id": f"E{i}", "claim": text} for i, text in enumerate(claims)]
    told = Told(facts=len(facts))
    with Workspace.init(folder, environ={}, judge=judge) as workspace:
        workspace.ingest(Document("claims.json", json.dumps({"question": QUESTION, "evidence": evidence})))
        question = workspace.question().id
        workspace.index, workspace.judge  # noqa: B018  # both are made when they are first asked for
        start = time.perf_counter()
        for text in facts:
            fact = AssertFact(question_id=question, text=text, source_id=UNATTRIBUTED)
            answer = workspace.fact(fact).as_json()
            told.verdicts |= {(fact.fact_id, v["claim"]["id"]): v["acts"] for v in answer["verdicts"]}
            if answer["changes"]:
                told.retiring[text] = [v for v in answer["verdicts"] if v["acts"]]
        told.seconds = time.perf_counter() - start
    return told


def mixture(pairs, distractors, *, second=False, seed=0):
    """Return the claims that are believed, and the new facts in random order; the last are the unrelated ones."""
    drawn = list(unrelated.sentences(seed, second=second))
    if distractors > len(drawn) // 2:
        raise SystemExit(f"there are {len(drawn)} unrelated sentences; at most half of them can be new facts")
    new, old = drawn[:distractors], drawn[distractors:]
    labelled = {p.claim for p in pairs}
    facts = list(dict.fromkeys(p.fact for p in pairs if p.fact not in labelled)) + new
    random.Random(seed).shuffle(facts)
    return [*dict.fromkeys([*labelled, *old])], facts, set(new)


def end_to_end(judge, pairs, distractors, *, second, show):
    claims, facts, new = mixture(pairs, distractors, second=second)
    with tempfile.TemporaryDirectory() as folder:
        told = play(judge, sorted(claims), facts, Path(folder))
    question = node_id("question", QUESTION)
    ids = [tuple(node_id("evidence", text, question_id=question) for text in (p.fact, p.claim)) for p in pairs]
    conflicts = {pair for pair, labelled in zip(ids, pairs, strict=True) if labelled.conflict}
    acted = {pair for pair, acting_ in told.verdicts.items() if acting_}
    found = conflicts & acted
    reached = conflicts & told.verdicts.keys()
    wrong = sorted(new & told.retiring.keys())
    friendly = {p.fact for p in pairs if not p.conflict} - {p.fact for p in pairs if p.conflict}
    rate = len(wrong) / len(new)
    print(
        f"{judge.name:>14}  {'second' if second else 'first':>8}  "
        f"{len(reached) / len(conflicts):9.3f}  {len(found) / len(conflicts):6.3f}  "
        f"{len(found) / max(1, len(acted)):9.3f}  {len(friendly & told.retiring.keys())}/{len(friendly):<6}  "
        f"{len(wrong)}/{len(new)} = {rate:.4f}  {told.facts / told.seconds:7.1f}"
    )
    for text in itertools.chain(wrong, sorted(friendly & told.retiring.keys())) if show else ():
        for verdict in told.retiring[text]:
            print(f"    {text}\n      {verdict['relation']}: {verdict['claim']['text']}\n      {verdict['rationale']}")
    return rate


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--data", type=Path, required=True, help="labelled pairs, or the folder they are in")
    options.add_argument("--distractors", type=int, default=1000, help="how many new facts contradict nothing")
    options.add_argument("--judge", action="append", help="offline, llm, panel; may be repeated")
    options.add_argument("--show", action="store_true", help="list the false alarms")
    told = options.parse_args()
    pairs = read(told.data)
    with tempfile.TemporaryDirectory() as folder:
        judges = appointed(told.judge, Path(folder))
        measure(judges, pairs)
        print(
            f"\nboth gates, {told.distractors} unrelated facts among those of the pairs; the first gate is the bundled"
        )
        print("embedder's; 'friendly' are the pairs' facts that conflict with nothing they are paired with")
        print(
            f"{'judge':>14}  {'domains':>8}  {'candidate':>9}  {'recall':>6}  {'precision':>9}  {'friendly':>8}  "
            f"{'unrelated that change anything':>30}  facts/s"
        )
        rates = [
            end_to_end(judge, pairs, number, second=second, show=told.show)
            for judge in judges
            for second, number in ((False, told.distractors), (True, min(told.distractors, SECOND)))
        ]
    if max(rates) >= ALLOWED:
        raise SystemExit(f"more than {ALLOWED} of the unrelated facts retired something")


if __name__ == "__main__":
    main()
