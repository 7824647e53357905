"""The four legs: each ranks the admitted chunks by itself. A chunk is meant by its place in the view."""

import math
import posixpath
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray

from falsify.brain.links import LinkIndex, index, resolve
from falsify.brain.page import Page
from projections.search.fusion import BM25_B, BM25_K1, LEG_DEPTH, PER_PAGE
from projections.search.index import SearchIndex
from projections.search.view import Numbers, Scores, View
from projections.search.words import runs, tail

_MARGIN: Final = 1e-4
"""More than two ways to add up a product of unit vectors in single precision can differ by."""

_GATHERED: Final = 0.25
"""Below this share of the vectors it is faster to fetch the admitted ones than to multiply them all (decision 9)."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """BM25 of every admitted chunk, and the share that it has of the weight of the words that tell something."""

    scores: Scores
    coverage: Scores


def lexical(search: SearchIndex, view: View, terms: Sequence[str], telling: Collection[str] = ()) -> Lexical:
    """Score the admitted chunks by the words; the statistics are those of the admitted chunks alone.

    `telling` are those of the words whose coverage is asked for.
    """
    copies, lengths = view.copies, view.snapshot.lengths
    count = len(view.chunks)
    scores = np.zeros(len(copies))
    carried = np.zeros(len(copies))
    total = 0.0
    mean = int((copies * lengths).sum()) / max(count, 1)
    known = search.postings(terms) if count else {}
    for term in terms:
        passages, often = _seen(view, *known[term]) if term in known else (np.empty(0, np.int64),) * 2
        having = int(copies[passages].sum())
        rarity = math.log(1 + (count - having + 0.5) / (having + 0.5))
        share = BM25_K1 * (1 - BM25_B + BM25_B * lengths[passages] / max(mean, 1.0))
        scores[passages] += rarity * often * (BM25_K1 + 1) / (often + share)
        if term in telling:
            total += rarity
            carried[passages] += rarity
    places = view.passages()
    return Lexical(scores[places], carried[places] / total if total else carried[places])


def _seen(view: View, passages: Numbers, often: Numbers) -> tuple[Numbers, Numbers]:
    passages, often = passages[passages < len(view.copies)], often[passages < len(view.copies)]
    admitted = view.copies[passages] > 0
    return passages[admitted], often[admitted]


def cosines(view: View, query: NDArray[np.float32], places: Numbers) -> Scores:
    """Return the cosine of the question to these chunks.

    Each is added up by itself in double precision: a matrix product rounds a row differently beside other rows, and so
    would tell that there are others. A passage that has no vector yet is as far as can be.
    """
    passages = view.passages()[places]
    there = passages < view.snapshot.embedded
    found = np.full(len(places), -1.0)
    rows = view.snapshot.vectors[passages[there]].astype(np.float64)
    found[there] = (rows * query.astype(np.float64)).sum(axis=1)
    return np.asarray(found.round(6))


def nearest(view: View, query: NDArray[np.float32]) -> Numbers:
    """Return the chunks nearest to the question, nearest first."""
    passages = np.flatnonzero(view.copies[: view.snapshot.embedded])
    if not len(passages):
        return np.empty(0, dtype=np.int64)
    vectors = view.snapshot.vectors
    few = len(passages) < _GATHERED * len(vectors)
    rough = vectors[passages] @ query if few else (vectors @ query)[passages]
    at_least = np.partition(rough, -LEG_DEPTH)[-LEG_DEPTH] - _MARGIN if len(rough) > LEG_DEPTH else -np.inf
    near = np.zeros(len(view.copies), dtype=np.bool_)
    near[passages[rough >= at_least]] = True
    places = np.flatnonzero(near[view.passages()])
    return ranked(view, places, cosines(view, query, places))


def best(view: View, scores: Scores) -> Numbers:
    """Return the chunks with the greatest scores above 0, greatest first."""
    places = np.flatnonzero(scores > 0)
    if len(places) > LEG_DEPTH:
        at_least = np.partition(scores[places], -LEG_DEPTH)[-LEG_DEPTH]
        places = places[scores[places] >= at_least]
    return ranked(view, places, scores[places])


def ranked(view: View, places: Numbers, scores: Scores) -> Numbers:
    """Return the places by score, ties by path and ordinal; at most as many as a leg has."""
    keyed = sorted(zip((-scores).tolist(), map(view.place, places), places.tolist(), strict=True))
    return np.array([place for *_, place in keyed[:LEG_DEPTH]], dtype=np.int64)


# --- entities and links ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mentions:
    """The pages (versions) that a question names, and the words of it that are their names."""

    versions: Sequence[int] = ()
    words: frozenset[str] = frozenset()


def mentions(search: SearchIndex, view: View, asked: Sequence[str]) -> Mentions:
    """Return the admitted entity and glossary pages that the question names: longer names first, then by path.

    A name within a longer one that was found is no mention of its own.
    """
    found = _by_name(search, view, list(dict.fromkeys(runs(asked))))
    left = f" {' '.join(asked)} "
    versions: list[int] = []
    said: set[str] = set()
    for name in runs(asked):
        if name in found and f" {name} " in left:
            left = left.replace(f" {name} ", " | ")
            versions += sorted(found.pop(name), key=view.snapshot.rel_paths.__getitem__)
            said.update(name.split())
    return Mentions(list(dict.fromkeys(versions)), frozenset(said))


def _by_name(search: SearchIndex, view: View, names: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name, version in search.mentioned(names):
        if _has(view, version):
            found.setdefault(name, []).append(version)
    return found


def chunks_of(view: View, versions: Sequence[int], query: NDArray[np.float32]) -> Numbers:
    """Return the chunks of these pages, page by page, of each those nearest to the question."""
    pages = []
    for version in versions:
        places = view.chunks_of([version])
        pages.append(ranked(view, places, cosines(view, query, places))[:PER_PAGE])
    return np.concatenate(pages)[:LEG_DEPTH] if pages else np.empty(0, dtype=np.int64)


def related(search: SearchIndex, view: View, versions: Sequence[int], query: NDArray[np.float32]) -> Numbers:
    """Return the chunks of the admitted pages that these link to or that link to these, nearest first."""
    if not versions:
        return np.empty(0, dtype=np.int64)
    around = set(linked_from(search, view, versions))
    for linking in linking_to(search, view, versions).values():
        around |= linking
    places = view.chunks_of(sorted(around - set(versions)))
    return ranked(view, places, cosines(view, query, places))


def linking_to(search: SearchIndex, view: View, versions: Sequence[int]) -> dict[int, set[int]]:
    """Return for each of these pages the admitted pages that link to it, itself left out."""
    tails = [each for (each,) in search.tails_of(versions)]
    linking: dict[int, set[int]] = {version: set() for version in versions}
    for source, found in _followed(search, view, search.links_to(tails)):
        if found in linking and found != source:
            linking[found].add(source)
    return linking


def linked_from(search: SearchIndex, view: View, versions: Sequence[int]) -> list[int]:
    """Return the admitted pages that these link to."""
    return sorted({found for _, found in _followed(search, view, search.links_from(versions))})


def _followed(search: SearchIndex, view: View, links: Iterable[tuple[int, str]]) -> list[tuple[int, int]]:
    """Return the links of admitted pages that lead to an admitted page: from which version, and to which.

    Where a link leads depends on its target and on the folder it stands in; the view remembers it.
    """
    paths = view.snapshot.rel_paths
    meant = [(source, (posixpath.dirname(paths[source]), target)) for source, target in links if _has(view, source)]
    unknown = {link for _, link in meant if link not in view.resolved}
    if unknown:
        names, numbers = _names(search, view, sorted({tail(target) for _, target in unknown}))
        for folder, target in unknown:
            path = resolve(target, names, source=f"{folder}/")
            view.resolved[folder, target] = None if path is None else numbers[path]
    found = ((source, view.resolved[link]) for source, link in meant)
    return [(source, target) for source, target in found if target is not None]


def _names(search: SearchIndex, view: View, tails: Sequence[str]) -> tuple[LinkIndex, dict[str, int]]:
    """Return what the admitted pages that a link could mean are called, and their numbers by path."""
    rows = [row for row in search.named(tails) if _has(view, row[0])]
    pages = [
        Page(rel_path=path, title=title, type="", department="", area="", aliases=tuple(orjson.loads(aliases)))
        for _, path, title, aliases in rows
    ]
    return index(pages), {path: number for number, path, _, _ in rows}


def _has(view: View, version: int) -> bool:
    return version < len(view.versions) and bool(view.versions[version])
