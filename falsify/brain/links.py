"""Where links lead: by path, title, alias or file name, among the pages that may be seen; and cycles of relations."""

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from falsify.brain.page import Page

Sees = Callable[[str], bool]
"""Whether the page at a path may be seen."""

Names = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class LinkIndex:
    """The paths of pages by what a link may call them; each in the order of the paths."""

    paths: Names
    titles: Names
    aliases: Names
    stems: Names


def index(pages: Iterable[Page]) -> LinkIndex:
    """Return the index of pages."""
    paths, titles, aliases, stems = (defaultdict[str, list[str]](list) for _ in range(4))
    for page in sorted(pages, key=lambda page: page.rel_path):
        paths[_path_key(page.rel_path)].append(page.rel_path)
        titles[_key(page.title)].append(page.rel_path)
        stems[_stem(page.rel_path)].append(page.rel_path)
        for alias in dict.fromkeys(map(_key, page.aliases)):
            aliases[alias].append(page.rel_path)
    return LinkIndex(*(_frozen(names) for names in (paths, titles, aliases, stems)))


def resolve(target: str, index: LinkIndex, *, source: str = "", sees: Sees | None = None) -> str | None:
    """Return the path of the page that a link of the page `source` leads to, or None.

    The exact path wins, then title, alias and file name; of several pages, the one in the folder of `source`, else the
    first by path. A page that `sees` does not admit takes no part, as if it were not there.
    """
    folder = posixpath.dirname(source)
    for candidates in _candidates(target, index, folder):
        seen = [path for path in candidates if sees is None or sees(path)]
        if seen:
            return next((path for path in seen if posixpath.dirname(path) == folder), seen[0])
    return None


def cycles(pages: Iterable[Page], index: LinkIndex, relation: str = "supersedes") -> tuple[tuple[str, ...], ...]:
    """Return the groups of pages that lead back to themselves by a relation, each in the order of the paths."""
    edges = {
        page.rel_path: [
            found
            for target in page.relations[relation]
            if (found := resolve(target, index, source=page.rel_path)) is not None
        ]
        for page in pages
        if relation in page.relations
    }
    return tuple(sorted(tuple(sorted(group)) for group in _components(edges) if len(group) > 1 or _loops(edges, group)))


def _candidates(target: str, index: LinkIndex, folder: str) -> Iterator[tuple[str, ...]]:
    wanted = target.strip()
    for path in _paths_meant(wanted, folder):
        found = index.paths.get(_path_key(path), ())
        yield tuple(each for each in found if each in {path, f"{path}.md"})
        yield found
    yield index.titles.get(_key(wanted), ())
    yield index.aliases.get(_key(wanted), ())
    tail = "/" + _path_key(wanted)
    yield tuple(each for each in index.stems.get(_stem(wanted), ()) if ("/" + _path_key(each)).endswith(tail))


def _paths_meant(target: str, folder: str) -> Iterator[str]:
    """Yield the paths that a target may stand for: of the deployment, of the vault, or from the folder of its page."""
    if target.startswith(("./", "../")):
        yield posixpath.normpath(posixpath.join(folder, target))
        return
    bare = target.lstrip("/")
    if bare:
        yield bare
        yield f"memory/{bare}"


def _key(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name.casefold()).split())


def _path_key(path: str) -> str:
    return _key(path).removesuffix(".md")


def _stem(path: str) -> str:
    return posixpath.basename(_path_key(path))


def _frozen(names: Mapping[str, list[str]]) -> Names:
    return {name: tuple(paths) for name, paths in names.items() if name}


def _loops(edges: Mapping[str, list[str]], group: list[str]) -> bool:
    return group[0] in edges.get(group[0], ())


def _components(edges: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Yield the strongly connected components (Tarjan), with a stack of its own instead of recursion."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    is_open: set[str] = set()
    for root in sorted(edges):
        walk = [] if root in order else [(root, iter(edges[root]))]
        while walk:
            node, following = walk[-1]
            if node not in order:
                order[node] = lowest[node] = len(order)
                open_.append(node)
                is_open.add(node)
            for other in following:
                if other not in order:
                    walk.append((other, iter(edges.get(other, ()))))
                    break
                if other in is_open:
                    lowest[node] = min(lowest[node], order[other])
            else:
                walk.pop()
                if walk:
                    above = walk[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == order[node]:
                    start = open_.index(node)
                    component = open_[start:]
                    del open_[start:]
                    is_open.difference_update(component)
                    yield component
