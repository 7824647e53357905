"""The pages of the brain at one moment, parsed when they are asked for, and by what links find them."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from falsify.brain.library import Library, Version, as_of, current, heirs, moves
from falsify.brain.links import LinkIndex, cycles, index
from falsify.brain.page import Page, read_page
from falsify.errors import InvalidInputError

VIEWS = 8
"""How many moments a cache keeps."""


class PageCache:
    """What was parsed, by path and text, and the views of the last moments. A cache serves one library."""

    def __init__(self) -> None:
        self._pages: dict[tuple[str, str, frozenset[str]], Page | InvalidInputError] = {}
        self._views: OrderedDict[str | None, tuple[int, PageView]] = OrderedDict()

    def read(self, version: Version, departments: frozenset[str]) -> Page | InvalidInputError:
        """Return the page that a version is, or what is wrong with it."""
        # The text is its own key: Python keeps a string's hash, so this costs no digest.
        key = (version.rel_path, version.text or "", departments)
        if key not in self._pages:
            self._pages[key] = _read(version, departments)
        return self._pages[key]

    def view(self, known_at: str | None) -> "tuple[int, PageView] | None":
        """Return the last view of a moment, and the revision at which it was made."""
        return self._views.get(known_at)

    def keep(self, known_at: str | None, revision: int, view: "PageView") -> None:
        """Keep the view of a moment; the oldest is let go."""
        self._views[known_at] = (revision, view)
        self._views.move_to_end(known_at)
        while len(self._views) > VIEWS:
            self._views.popitem(last=False)


class PageView:
    """The pages at one moment. Nothing is narrowed to a scope here: that is for whoever asks.

    A recorded page that cannot be read (an older program took it) is not among the pages; `unreadable` tells why.
    """

    def __init__(self, versions: Mapping[str, Version], departments: frozenset[str], cache: PageCache) -> None:
        self.versions = versions
        self.departments = departments
        self._cache = cache

    def version(self, rel_path: str) -> Version | None:
        """Return the version of a page at this moment, or None where there is none."""
        return self.versions.get(rel_path)

    def page(self, rel_path: str) -> Page | None:
        """Return a page, or None where there is none; only this one is parsed."""
        version = self.versions.get(rel_path)
        read = self._cache.read(version, self.departments) if version else None
        return read if isinstance(read, Page) else None

    @cached_property
    def pages(self) -> Mapping[str, Page]:
        """All pages by path, in the order of the paths."""
        return {path: page for path, page in self._read if isinstance(page, Page)}

    @cached_property
    def unreadable(self) -> Mapping[str, InvalidInputError]:
        """What is wrong with the versions that are no page."""
        return {path: error for path, error in self._read if not isinstance(error, Page)}

    @cached_property
    def links(self) -> LinkIndex:
        """What links find pages by: `falsify.brain.links.resolve` reads it."""
        return index(self.pages.values())

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """The groups of pages that supersede each other in a circle: of none of them does it hold."""
        return cycles(self.pages.values(), self.links)

    def narrowed(self, library: Library, sees: Callable[[Page], bool]) -> "PageView":
        """Return the pages of a moment of the past that may be seen as they were, and as they belong today."""
        moved = moves(library)
        kept = {
            path: version
            for path, version in self.versions.items()
            if all(self._sees(each, sees) for each in (version, *heirs(library, version, moved)))
        }
        return PageView(kept, self.departments, self._cache)

    def _sees(self, version: Version, sees: Callable[[Page], bool]) -> bool:
        read = self._cache.read(version, self.departments)
        return isinstance(read, Page) and sees(read)

    @property
    def _read(self) -> Iterator[tuple[str, Page | InvalidInputError]]:
        return ((path, self._cache.read(version, self.departments)) for path, version in self.versions.items())


def pages_at(library: Library, known_at: str | None, cache: PageCache) -> PageView:
    """Return the pages of a library now (None) or as they were known at `YYYY-MM-DDTHH:MM:SSZ`.

    While no page changes, the same moment is the same view, and so is what was parsed and indexed for it.
    """
    kept = cache.view(known_at)
    if kept and kept[0] == library.revision:
        return kept[1]
    found = current(library) if known_at is None else as_of(library, known_at)
    versions = {version.rel_path: version for version in found}
    departments = frozenset(each.slug for each in library.org.departments)
    view = PageView(versions, departments, cache)
    if kept and kept[1].departments == departments and kept[1].versions == versions:
        view = kept[1]  # something else was recorded meanwhile: an answer, a trace
    cache.keep(known_at, library.revision, view)
    return view


def past(library: Library, rel_path: str) -> list[Version]:
    """Return the versions of a page, oldest first, with those it had at the paths it was moved from."""
    found: list[Version] = []
    path, before, seen = rel_path, "9999", {rel_path}
    while path:
        here = [v for v in library.pages.get(path, ()) if v.known_at <= before and v.text is not None]
        moved = next((place for place in reversed(range(len(here))) if here[place].moved_from), None)
        found[:0] = here if moved is None else here[moved:]
        path = "" if moved is None or here[moved].moved_from in seen else here[moved].moved_from
        before = found[0].known_at if found else ""
        seen.add(path)
    return found


def _read(version: Version, departments: frozenset[str]) -> Page | InvalidInputError:
    try:
        return read_page(version.rel_path, version.text or "", departments=departments)
    except InvalidInputError as error:
        return error
