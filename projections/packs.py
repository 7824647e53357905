"""Context packs: the recipe of what to read for a task that recurs, parsed from its page, and cut to its budget.

A recipe names pages, questions and entities, never globs: what it serves is looked up anew at every call.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NoReturn, Protocol

from falsify.brain.page import Page
from falsify.errors import InvalidInputError

FOLDER: Final = "memory/packs/"
HINT: Final = "{task_hint}"

DEFAULT_BUDGET: Final = 4_000
"""Approximate tokens of a pack that does not say."""

MOST_ITEMS: Final = 50
DEFAULT_K: Final = 5
MOST_K: Final = 24

_GLOB: Final = re.compile(r"[*?\[\]]")
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "page": frozenset({"page"}),
    "query": frozenset({"query", "k"}),
    "entity": frozenset({"entity"}),
}

Kind = Literal["page", "query", "entity"]

_KINDS: Final[tuple[Kind, ...]] = ("page", "query", "entity")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the recipe; `k` is how many excerpts a query brings."""

    kind: Kind
    text: str
    k: int = DEFAULT_K


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """A recipe. `owner_aor` is the department that answers for it; `never` are globs, `write` where to propose."""

    slug: str
    title: str
    description: str
    owner_aor: str
    instructions: str
    items: tuple[Item, ...]
    never: tuple[str, ...]
    write: tuple[str, ...]
    budget: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Something that is served: a page whole, or an excerpt under a heading of one."""

    kind: Literal["page", "chunk"]
    page: Page
    updated: str
    text: str
    heading_path: str = ""
    cut: bool = False

    def told(self) -> dict[str, Any]:
        """Return it with where it comes from, JSON-ready."""
        page = self.page
        return {
            "kind": self.kind,
            "rel_path": page.rel_path,
            "title": page.title,
            **({"heading_path": self.heading_path} if self.kind == "chunk" else {}),
            "lifecycle_status": page.lifecycle_status,
            "source_trust": page.source_trust,
            "quotable": page.quotable,
            "sources": page.sources,
            "updated": self.updated,
            **({"origin": page.origin} if page.origin else {}),
            "text": self.text,
            **({"truncated": True} if self.cut else {}),
        }


# --- the recipe -----------------------------------------------------------------------------------------------


def slug_of(rel_path: str) -> str:
    """Return the slug of the pack at a path, or nothing for a path that is not that of a pack."""
    name = rel_path.removeprefix(FOLDER)
    return name.removesuffix(".md") if name != rel_path and "/" not in name and name.endswith(".md") else ""


def pack_of(page: Page) -> Pack:
    """Return the recipe on a page. Raises InvalidInputError, whose `reason` is a word for what is wrong with it."""
    front = page.front
    return Pack(
        slug=slug_of(page.rel_path),
        title=page.title,
        description=page.description,
        owner_aor=owner_of(page) or _refuse("owner_missing", "owner_aor names no department", "write owner_aor: sales"),
        instructions=page.body.strip(),
        items=_items(front.get("context")),
        never=_texts("never", front.get("never")),
        write=_texts("write", front.get("write")),
        budget=_budget(front.get("budget")),
    )


def owner_of(page: Page) -> str:
    """Return the department that answers for a pack, or nothing where its page does not say."""
    owner = page.front.get("owner_aor")
    return owner.strip() if isinstance(owner, str) else ""


def _items(told: Any) -> tuple[Item, ...]:
    if not isinstance(told, list) or not told:
        _refuse("context_missing", "context is no list of items", "write context: [{page: memory/…}]")
    if len(told) > MOST_ITEMS:
        _refuse("context_too_long", f"context has {len(told)} items; the limit is {MOST_ITEMS}", "make two packs of it")
    return tuple(_item(number, each) for number, each in enumerate(told, start=1))


def _item(number: int, told: Any) -> Item:
    kinds = [kind for kind in _KINDS if isinstance(told, Mapping) and kind in told]
    if len(kinds) != 1 or not told.keys() <= _KEYS[kinds[0]]:
        hint = "write {page: memory/…}, {query: …, k: 5} or {entity: …}"
        _refuse("item_invalid", f"item {number} of context is neither a page nor a query nor an entity", hint)
    kind = kinds[0]
    text, k = told[kind], told.get("k", DEFAULT_K)
    if not isinstance(text, str) or not text.strip():
        _refuse("item_invalid", f"the {kind} of item {number} is no text", "put it in quotes")
    if kind == "page" and _GLOB.search(text):
        _refuse("glob", f"item {number} of context is a glob", "name each page; a query finds pages by what they say")
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= MOST_K:
        _refuse("item_invalid", f"the k of item {number} is no number from 1 to {MOST_K}", "leave it out, or mend it")
    return Item(kind, text.strip(), k)


def _texts(key: str, told: Any) -> tuple[str, ...]:
    listed = [] if told is None else told if isinstance(told, list) else [told]
    if not all(isinstance(each, str) for each in listed):
        _refuse(f"{key}_invalid", f"{key} is no list of texts", f"write {key} as a list, each entry in quotes")
    return tuple(listed)


def _budget(told: Any) -> int:
    if told is None:
        return DEFAULT_BUDGET
    if not isinstance(told, int) or isinstance(told, bool) or told < 1:
        _refuse("budget_invalid", "budget is no whole number above 0", "write it as approximate tokens: budget: 2000")
    return int(told)


def _refuse(reason: str, message: str, hint: str) -> NoReturn:
    raise InvalidInputError(message, hint=hint, reason=reason)


# --- what it brings -------------------------------------------------------------------------------------------


class Sources(Protocol):
    """Where pieces come from; only what the call may see is ever found."""

    def page(self, rel_path: str) -> Piece | None:
        """Return a page whole."""

    def query(self, text: str) -> Iterable[Piece]:
        """Yield the excerpts that a question finds, best first."""

    def entities(self, text: str) -> Iterable[Piece]:
        """Yield the entities that a text names, whole."""


@dataclass(slots=True)
class Assembly:
    """What a recipe brings: pieces, the fixed pages that are not to be had, and how many pieces `never` kept out."""

    pieces: list[Piece] = field(default_factory=list)
    unavailable: list[str] = field(default_factory=list)
    never_filtered: int = 0

    def take(self, found: Iterable[Piece], most: int, never: Sequence[str]) -> None:
        """Take up to so many pieces that are new and that no glob keeps out."""
        for piece in found:
            if most == 0:
                break
            if excluded(piece.page.rel_path, never):
                self.never_filtered += 1
            elif not self._holds(piece):
                self.pieces.append(piece)
                most -= 1

    def _holds(self, piece: Piece) -> bool:
        """Return whether the same excerpt is there already, or the whole page that it is of."""
        there = (each for each in self.pieces if each.page.rel_path == piece.page.rel_path)
        return any(each.kind == "page" or each.text == piece.text for each in there)


def assemble(pack: Pack, hint: str, sources: Sources) -> Assembly:
    """Return what the recipe brings for a task; what would need a hint brings nothing without one."""
    made = Assembly()
    for item in pack.items:
        text = " ".join(item.text.replace(HINT, hint).split())
        if item.kind == "page":
            found = sources.page(item.text)
            if found is None:
                made.unavailable.append(item.text)
            made.take([found] if found else [], 1, pack.never)
        elif item.kind == "query":
            made.take(sources.query(text) if text else (), item.k, pack.never)
        else:
            made.take(sources.entities(text), MOST_K, pack.never)
    return made


# --- what is left out -----------------------------------------------------------------------------------------


def excluded(rel_path: str, globs: Iterable[str]) -> bool:
    """Return whether a glob meets a path: `*` and `?` stay within a folder, `**` does not."""
    return any(_pattern(glob).fullmatch(rel_path) for glob in globs)


def _pattern(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return re.compile("".join(_GLOBS.get(part, re.escape(part)) for part in parts), re.DOTALL)


_GLOBS: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def within(pieces: Sequence[Piece], budget: int) -> tuple[list[Piece], int]:
    """Return the pieces that fit a budget of approximate tokens, and how many of them were cut or left out.

    It is a prefix: the piece that goes over it is cut, and what comes after that is left out.
    """
    served: list[Piece] = []
    left = budget
    for place, piece in enumerate(pieces):
        cost = tokens(piece.text)
        if cost > left:
            short = piece.text[: left * CHARACTERS].rstrip()
            return served + ([replace(piece, text=short, cut=True)] if short else []), len(pieces) - place
        served.append(piece)
        left -= cost
    return served, 0


CHARACTERS: Final = 4
"""Characters of a token, about."""


def tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text) // CHARACTERS)
