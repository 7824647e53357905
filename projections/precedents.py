"""What decisions say of each other: which follows from which, which replaced which, and the chains that this makes.

Only pages that may be seen are looked at, so a chain neither names nor passes through any other.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from falsify.brain.page import Page

Resolve = Callable[[str, str], str | None]
"""Returns the page that may be seen and that a target on a page (target, rel_path) leads to."""

LED_TO: Final = "led_to"
"""The one relation that is told by the older of the two."""


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """What the page `src` says of the page `dst`."""

    src: str
    dst: str
    relation: str

    @property
    def older(self) -> str:
        return self.src if self.relation == LED_TO else self.dst

    @property
    def newer(self) -> str:
        return self.dst if self.relation == LED_TO else self.src


@dataclass(frozen=True, slots=True)
class Causes:
    """The edges by the page that they lead on from: `above` to what was before it, `below` to what came of it."""

    above: Mapping[str, tuple[Edge, ...]]
    below: Mapping[str, tuple[Edge, ...]]


def causes(pages: Iterable[Page], resolve: Resolve) -> Causes:
    """Return what the pages say of each other. What both sides say is told once, as the newer says it."""
    above: defaultdict[str, list[Edge]] = defaultdict(list)
    below: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in _distinct(_edges(pages, resolve)):
        above[edge.newer].append(edge)
        below[edge.older].append(edge)
    return Causes(*({page: tuple(sorted(edges)) for page, edges in side.items()} for side in (above, below)))


def chain(found: Causes, rel_path: str, titles: Mapping[str, str], *, depth: int) -> dict[str, list[dict[str, Any]]]:
    """Return the edges up to so many hops above and below a page, nearest first, JSON-ready."""
    told = {
        "ascendants": _walk(found.above, rel_path, lambda edge: edge.older, depth),
        "descendants": _walk(found.below, rel_path, lambda edge: edge.newer, depth),
    }
    return {side: [_row(edge, hops, titles) for edge, hops in edges] for side, edges in told.items()}


def _edges(pages: Iterable[Page], resolve: Resolve) -> Iterator[Edge]:
    for page in pages:
        for relation, targets in page.relations.items():
            for target in targets:
                other = resolve(target, page.rel_path)
                if other is not None and other != page.rel_path:
                    yield Edge(page.rel_path, other, relation)


def _distinct(edges: Iterable[Edge]) -> Iterator[Edge]:
    """Yield the edges without a `led_to` of which the newer page says itself that it follows or supersedes."""
    every = set(edges)
    told = {(edge.newer, edge.older) for edge in every if edge.relation != LED_TO}
    return (edge for edge in every if edge.relation != LED_TO or (edge.newer, edge.older) not in told)


def _walk(
    edges: Mapping[str, tuple[Edge, ...]], start: str, onward: Callable[[Edge], str], depth: int
) -> Iterator[tuple[Edge, int]]:
    reached, layer = {start}, [start]
    for hops in range(1, depth + 1):
        found = [edge for page in layer for edge in edges.get(page, ())]
        yield from ((edge, hops) for edge in found)
        layer = sorted({onward(edge) for edge in found} - reached)
        reached.update(layer)


def _row(edge: Edge, hops: int, titles: Mapping[str, str]) -> dict[str, Any]:
    return {
        "relation": edge.relation,
        "src": edge.src,
        "dst": edge.dst,
        "src_title": titles[edge.src],
        "dst_title": titles[edge.dst],
        "depth": hops,
    }
