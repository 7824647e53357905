"""How good the brain's search is: 60 labelled questions to the sample organisation, by each leg alone and by all of it.

The sample organisation is imported with its history, as a user's folder is. A leg alone ranks as it does within the
pipeline, without fusion and factors, at most three passages of a page as everywhere. recall@8 is the share of the pages
that answer among the first eight passages; MRR is one divided by the rank of the first passage of such a page. The
questions (brain_questions.yaml) were written before the ranking was tuned, and its constants were chosen on those with
an odd number: the halves are told apart.

Confidence is also asked by callers that may not see everything: 12 questions about what is denied to them, and all the
others, by whether they may see the pages that answer.

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

SCOPED = ("agent:sales-assistant", "agent:quality-copilot", "agent:ledger-reader", "person:sophie-lambert")
"""Who asks the questions again without seeing everything."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, what kind it is, the pages that answer it, and the day at which it is asked (empty: now)."""

    id: str
    kind: str
    question: str
    relevant: tuple[str, ...]
    as_of: str = ""
    caller: str = OWNER

    @property
    def tuned_on(self):
        """Whether the constants were chosen on it."""
        return int(self.id[1:]) % 2 == 1


def questions():
    listed = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))["questions"]
    return [
        Question(**{**each, "relevant": tuple(each["relevant"]), "as_of": str(each.get("as_of", ""))})
        for each in listed
    ]


def denied():
    """Return the questions about what is denied to their caller: nothing that it may see answers them."""
    listed = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))["denied"]
    return [
        Question(id=each["id"], kind="denied", question=each["question"], relevant=(), caller=each["caller"])
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
        print_confidence(brain, index, every)
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
    groups = {kind: [each.id for each in asked if each.kind == kind] for kind in dict.fromkeys(q.kind for q in asked)}
    groups["odd (tuned on)"] = [each.id for each in asked if each.tuned_on]
    groups["even"] = [each.id for each in asked if not each.tuned_on]
    groups["all"] = [each.id for each in asked]
    for name_of, these in groups.items():
        cells = ""
        for name in WAYS:
            found, first = (statistics.mean(measured[name, id_][n] for id_ in these) for n in (0, 1))
            cells += f"{f'{found:.3f} / {first:.3f}':>20}"
        print(f"{name_of:<16}{len(these):>6}{cells}")


def print_confidence(brain, index, every):
    print(f"\n{'confidence':<44}{'questions':>10}{'low':>6}{'normal':>8}{'odd, low':>12}{'even, low':>12}")
    wrong = []
    for name, unsure, asked in grouped(brain, index, every):
        low = {each: is_low(brain, index, each) for each in asked}
        halves = ""
        for odd in (True, False):
            half = [low[each] for each in asked if each.tuned_on is odd]
            halves += f"{f'{sum(half)} of {len(half)}':>12}"
        count = sum(low.values())
        print(f"{name:<44}{len(asked):>10}{count:>6}{len(asked) - count:>8}{halves}")
        if unsure is not None:
            wrong += [f"{each.id} {each.question}" for each in asked if low[each] is not unsure]
    print("\nwrong of the first three:", *wrong, sep="\n    ")


def grouped(brain, index, every):
    """Yield groups of questions by who asks and what there is: name, whether they are to be low if known, questions."""
    yield "by the owner, not in the brain", True, [each for each in every if not each.relevant]
    yield "by others, denied", True, denied()
    yield "by the owner, in the brain", False, [each for each in every if each.relevant]
    scoped = [dataclasses.replace(each, caller=caller) for caller in SCOPED for each in every if each.relevant]
    seen = {each: visible(brain, index, each) for each in scoped}
    yield "by others, all pages that answer visible", None, [each for each in scoped if seen[each] == 1]
    yield "by others, some of them", None, [each for each in scoped if 0 < seen[each] < 1]
    yield "by others, none of them", None, [each for each in scoped if seen[each] == 0]


def visible(brain, index, question):
    """Return the share of the pages that answer which its caller may see."""
    paths = {path for path, _ in index.view(admission(brain.scope(question.caller), question)).paths()}
    return len(paths & {*question.relevant}) / len(question.relevant)


def is_low(brain, index, question):
    seen = admission(brain.scope(question.caller), question)
    return search(index, question.question, seen).confidence == "low"


def print_each(index, scope, asked, measured):
    for each in asked:
        found, first = measured["hybrid", each.id]
        if (found, first) != (1.0, 1.0):
            print(f"\n{each.id} {each.question}: {found:.2f} / {first:.2f}; wanted {', '.join(each.relevant)}")
            for path in hybrid(index, each.question, admission(scope, each))[:K]:
                print(f"    {'*' if path in each.relevant else ' '} {path}")


if __name__ == "__main__":
    main()
