"""What a fact costs from its words to the end of its revision, as the graph grows: facts per second, and where they go.

python bench/truth/bench_throughput.py [--sizes 1000 10000 100000] [--facts N] [--profile]

Everything is real: workspace, log with its commit to the disk, claims index, bundled embedder, offline judge. To build
a large graph in minutes, only the first 2,500 claims get vectors of the bundled model; those beyond get random ones,
which are near to nothing, so that a fact has the same candidates at every size, and what grows is the graph alone. The
facts are unrelated sentences, every tenth denies a claim and kills the conclusion on it.
"""

import argparse
import cProfile
import hashlib
import itertools
import json
import pstats
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import unrelated

from falsify.belief.revision import AssertFact
from falsify.embedders.bundled import BundledEmbedder
from surfaces.belief_file import Document
from surfaces.workspace import Workspace

REAL = 2_500
CHUNK = 5_000
FILLER = "Filler "


class HalfEmbedder(BundledEmbedder):
    """The bundled embedder, with a random vector for what is only there to be many."""

    def embed(self, texts):
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        real = [place for place, text in enumerate(texts) if not text.startswith(FILLER)]
        rows[real] = super().embed([texts[place] for place in real])
        for place, text in enumerate(texts):
            if text.startswith(FILLER):
                seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
                row = np.random.default_rng(seed).standard_normal(self.dimensions, dtype=np.float32)
                rows[place] = row / np.linalg.norm(row)
        return rows


def documents(texts, size):
    """Yield belief files that hold as many claims as the graph is to have, and a conclusion on every tenth."""
    claims = [*texts, *(f"{FILLER}{number} of a large graph" for number in range(size - len(texts)))]
    numbered = list(enumerate(claims))
    for start in range(0, size, CHUNK):
        chunk = numbered[start : start + CHUNK]
        yield {
            "question": "How fast?",
            "evidence": [{"id": f"E{i}", "claim": text, "source_id": f"s{i % 100}"} for i, text in chunk],
            "conclusions": [
                {"id": f"K{i}", "statement": f"{FILLER}conclusion {i}", "depends_on": [{"evidence": f"E{i}"}]}
                for i, _ in chunk[::10]
            ],
        }


def build(folder, texts, size):
    workspace = Workspace.init(folder, environ={}, embedder=HalfEmbedder())
    for number, content in enumerate(documents(texts, size)):
        workspace.ingest(Document(f"{number}.json", json.dumps(content)))
    workspace.index, workspace.judge  # noqa: B018  # both are made when they are first asked for
    return workspace


def arriving(claims, drawn):
    """Yield facts: sentences that conflict with nothing, and as every tenth the denial of a claim."""
    denied = (f"It is not true that {claim[0].lower()}{claim[1:]}" for claim in claims[::10])
    for number, text in enumerate(drawn):
        yield next(denied) if number % 10 == 9 else text


def measure(size, facts, *, profile):
    drawn = list(unrelated.sentences())
    claims = drawn[: min(REAL, size)]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        workspace = build(Path(folder), claims, size)
        built = time.perf_counter() - start
        question = workspace.question().id
        texts = list(itertools.islice(arriving(claims, drawn[REAL:]), facts + 5))
        spent, verdicts, changes = [], 0, 0
        profiler = cProfile.Profile()
        for number, text in enumerate(texts):
            if profile and number == 5:
                profiler.enable()
            start = time.perf_counter()
            told = workspace.fact(AssertFact(question_id=question, text=text)).as_json()
            spent.append(time.perf_counter() - start)
            verdicts, changes = verdicts + len(told["verdicts"]), changes + len(told["changes"])
        profiler.disable()
        start = time.perf_counter()
        workspace.recall("Which clinics treat most patients?")
        asked = time.perf_counter() - start
        workspace.close()
    timed = sorted(spent[5:])
    print(
        f"{size:8,}  {built:8.1f}  {len(timed) / sum(timed):8.1f}  {statistics.median(timed) * 1000:8.1f}  "
        f"{timed[int(len(timed) * 0.95)] * 1000:8.1f}  {verdicts / len(texts):9.1f}  {changes:8}  {asked * 1000:9.1f}",
        flush=True,
    )
    if profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    options.add_argument("--facts", type=int, default=200)
    options.add_argument("--profile", action="store_true", help="show where the time goes")
    told = options.parse_args()
    print(
        f"{'claims':>8}  {'build s':>8}  {'facts/s':>8}  {'median':>8}  {'p95 ms':>8}  {'judged':>9}  {'changes':>8}  "
        f"{'recall ms':>9}"
    )
    for size in told.sizes:
        measure(size, told.facts, profile=told.profile)


if __name__ == "__main__":
    main()
