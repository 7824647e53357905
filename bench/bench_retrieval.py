"""How good the brain's search is: 60 labelled questions to the sample organisation, by each leg alone and by all of it.

The sample organisation is imported with its history, as a user's folder is. A leg alone ranks as it does within the
pipeline, without fusion and factors, at most three passages of a page as everywhere. recall@8 is the share of the pages
that answer among the first eight passages; MRR is one divided by the rank of the first passage of such a page. The
questions (brain_questions.yaml) were written before the ranking was tuned.

Run: python bench/bench_retrieval.py [--each]
"""

import argparse
import dataclasses
import statistics
import tempfile
from collections import Counter
from pathlib import Path

import yaml

from falsify.embedders.bundled import BundledEmbedder
from falsify.identity import OWNER
from projections.search import fusion, legs
from projections.search.index import SearchIndex
from projections.search.pipeline import search
from projections.search.view import Admission
from projections.search.words import words
from surfaces.brain import Brain
from surfaces.pages.transfer import import_folder
from surfaces.stories.sample_org import build_repository
from surfaces.workspace import Workspace

K = 8
TODAY = "2026-11-30"
"""The day that ages are counted to, so that the numbers are the same tomorrow."""

QUESTIONS = Path(__file__).parent / "brain_questions.yaml"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, what kind it is, the pages that answer it, and the day at which it is asked (empty: now)."""

    id: str
    kind: str
    question: str
    relevant: tuple[str, ...]
    as_of: str = ""


def questions():
    listed = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))["questions"]
    return [
        Question(**{**each, "relevant": tuple(each["relevant"]), "as_of": str(each.get("as_of", ""))})
        for each in listed
    ]


# --- ways to rank: a question becomes the paths of passages, best first -----------------------------------------


def lexical(index, question, admission):
    view = index.view(admission)
    terms = list(dict.fromkeys(words(question)))
    return paths(view, legs.best(view, legs.lexical(index, view, terms).scores))


def vector(index, question, admission):
    view = index.view(admission)
    return paths(view, legs.nearest(view, index.embedder.embed([question])[0]))


def fused(index, question, admission):
    """Rank by the sum of reciprocal ranks of all four legs and nothing else."""
    hits = search(index, question, admission).hits
    return [hit.rel_path for hit in sorted(hits, key=lambda hit: (-hit.rrf_score, hit.rel_path, hit.ordinal))]


def hybrid(index, question, admission):
    return [hit.rel_path for hit in search(index, question, admission).hits]


WAYS = {"lexical only": lexical, "vector only": vector, "fused, no factors": fused, "hybrid": hybrid}


def paths(view, places):
    of_page: Counter[str] = Counter()
    found = []
    for place in places:
        path, _ = view.place(place)
        of_page[path] += 1
        if of_page[path] <= fusion.PER_PAGE:
            found.append(path)
    return found


# --- what they are worth --------------------------------------------------------------------------------------


def recall(ranked, relevant):
    return len({*ranked[:K]} & {*relevant}) / len(relevant)


def reciprocal_rank(ranked, relevant):
    return next((1 / rank for rank, path in enumerate(ranked, start=1) if path in relevant), 0.0)


def measure(index, scope, asked):
    """Return recall@8 and reciprocal rank by way and question."""
    return {
        (name, each.id): (recall(ranked, each.relevant), reciprocal_rank(ranked, each.relevant))
        for each in asked
        for name, way in WAYS.items()
        for ranked in [way(index, each.question, admission(scope, each))]
    }


def admission(scope, question):
    return Admission(scope=scope, day=question.as_of or TODAY, past=bool(question.as_of))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", action="store_true", help="also every question that hybrid does not answer at rank 1")
    options = parser.parse_args()
    every = questions()
    with tempfile.TemporaryDirectory() as folder, Workspace.init(Path(folder) / "w", environ={}) as workspace:
        brain, index = imported(workspace, Path(folder))
        scope = brain.scope(OWNER)
        answered = [each for each in every if each.relevant]
        measured = measure(index, scope, answered)
        print_table(answered, measured)
        print_confidence(index, scope, every)
        if options.each:
            print_each(index, scope, answered, measured)


def imported(workspace, folder):
    build_repository(folder / "pages")
    brain = Brain(workspace)
    told = import_folder(brain, folder / "pages", caller=OWNER)
    assert told["ok"], told
    index = SearchIndex(folder / "search.sqlite", BundledEmbedder())
    passages = index.sync(brain.library, brain.position)
    print(f"{told['files']} pages, {brain.library.revision} records, {passages} passages\n")
    return brain, index


def print_table(asked, measured):
    print(f"{'recall@8 / MRR':<22}" + "".join(f"{name:>20}" for name in WAYS))
    for kind in [*dict.fromkeys(each.kind for each in asked), ""]:
        these = [each.id for each in asked if kind in {each.kind, ""}]
        cells = ""
        for name in WAYS:
            found, first = (statistics.mean(measured[name, id_][n] for id_ in these) for n in (0, 1))
            cells += f"{f'{found:.3f} / {first:.3f}':>20}"
        print(f"{kind or 'all':<16}{len(these):>6}{cells}")


def print_confidence(index, scope, every):
    low = {each.id: search(index, each.question, admission(scope, each)).confidence == "low" for each in every}
    without = [each.id for each in every if not each.relevant]
    print(f"\nconfidence low: {sum(low[id_] for id_ in without)} of {len(without)} questions without an answer,")
    print(f"{sum(low.values()) - sum(low[id_] for id_ in without)} of the {len(every) - len(without)} others")
    print(f"not low without an answer: {[id_ for id_ in without if not low[id_]]}")
    print(f"low with one: {[id_ for id_ in low if low[id_] and id_ not in without]}")


def print_each(index, scope, asked, measured):
    for each in asked:
        found, first = measured["hybrid", each.id]
        if (found, first) != (1.0, 1.0):
            print(f"\n{each.id} {each.question}: {found:.2f} / {first:.2f}; wanted {', '.join(each.relevant)}")
            for path in hybrid(index, each.question, admission(scope, each))[:K]:
                print(f"    {'*' if path in each.relevant else ' '} {path}")


if __name__ == "__main__":
    main()
