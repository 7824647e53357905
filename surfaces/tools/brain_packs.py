"""What the two tools for context packs answer: which there are, and what one brings for a task."""

import unicodedata
from collections.abc import Iterator
from typing import Final

from falsify.brain.org import GENERAL
from falsify.brain.page import Page
from falsify.errors import InvalidInputError, UnavailableError
from projections.packs import Pack, Piece, assemble, owner_of, pack_of, slug_of, within
from projections.search.pipeline import search, withheld
from projections.search.words import name_key, runs, words
from surfaces.brain import Brain
from surfaces.tools.brain_search import LONGEST_TEXT, NOTHING_THERE, Answer, refusal, serialized, unavailable
from surfaces.tools.sight import Sight, sight

NO_PACK: Final = "_This context pack is not available._"

UNAVAILABLE: Final = "unavailable"
"""The one status of a fixed page that is not served, for whatever reason."""


def list_context_packs(brain: Brain, caller: str, *, on_behalf_of: str = "", format: str = "json") -> Answer:  # noqa: A002  # the contract's name
    """Return the packs that may be used, by slug."""
    call = sight(brain, caller, on_behalf_of)
    if not call.seen:
        return NOTHING_THERE
    rows = [
        {"slug": slug, "title": page.title, "description": page.description, "owner_aor": owner_of(page) or None}
        for slug, page in sorted(_packs(call))
    ]
    return serialized({"packs": rows}, format)


def get_context_pack(brain: Brain, caller: str, *, pack: str, task_hint: str = "", on_behalf_of: str = "") -> Answer:
    """Return what a pack brings for a task, within its budget."""
    if fault := _hint_fault(task_hint):
        return refusal("invalid_task_hint", fault)
    call = sight(brain, caller, on_behalf_of)
    if not call.seen:
        return NOTHING_THERE
    page = dict(_packs(call)).get(pack)
    if page is None:
        return NO_PACK
    try:
        recipe = _checked(call, page)
        return _resolved(call, recipe, " ".join(task_hint.split()))
    except InvalidInputError as error:
        message = f"{error.message}. Whoever keeps the page of the pack can mend it: {error.hint}"
        told = {"error": "pack_invalid", "reason": error.reason, "message": message}
        return serialized(told, "json")
    except UnavailableError as error:
        return unavailable(error)


def _packs(call: Sight) -> Iterator[tuple[str, Page]]:
    """Yield the packs that hold, whose page and whose owner may be seen, with their slugs."""
    known = {GENERAL, *(d.slug for d in call.org.departments)}
    for path, page in call.seen.items():
        slug, owner = slug_of(path), owner_of(page)
        denied = owner in known and not call.scope.sees_department(owner)
        if slug and page.type == "pack" and page.lifecycle_status == "active" and not denied and call.holds(page):
            yield slug, page


def _checked(call: Sight, page: Page) -> Pack:
    recipe = pack_of(page)
    if recipe.owner_aor != GENERAL and call.org.department(recipe.owner_aor) is None:
        message = f"owner_aor {recipe.owner_aor!r} is no department"
        raise InvalidInputError(message, hint="write the slug of one", reason="owner_unknown")
    return recipe


def _resolved(call: Sight, recipe: Pack, hint: str) -> Answer:
    made = assemble(recipe, hint, _Sources(call))
    served, truncated = within(made.pieces, recipe.budget)
    asks = any(item.kind != "page" for item in recipe.items)
    payload = {
        "pack": {
            "slug": recipe.slug,
            "title": recipe.title,
            "description": recipe.description,
            "owner_aor": recipe.owner_aor,
            "instructions": recipe.instructions,
        },
        "context": [piece.told() for piece in served],
        "unavailable": [{"rel_path": rel_path, "status": UNAVAILABLE} for rel_path in made.unavailable],
        "never": recipe.never,
        "write": recipe.write,
        "counters": {
            "resolved": len(made.pieces),
            "destination_filtered": withheld(call.brain.index, call.admission) if asks else 0,
            "never_filtered": made.never_filtered,
            "truncated": truncated,
        },
    }
    return serialized(payload, "json")


class _Sources:
    """The pages, answers and entities that one call may see."""

    def __init__(self, call: Sight) -> None:
        self._call = call

    def page(self, rel_path: str) -> Piece | None:
        page = self._call.seen.get(rel_path)
        return self._whole(page) if page else None

    def query(self, text: str) -> Iterator[Piece]:
        for hit in search(self._call.brain.index, text, self._call.admission).hits:
            page = self._call.seen.get(hit.rel_path)
            if page and page.type != "pack":
                yield Piece(kind="chunk", page=page, updated=hit.updated, text=hit.text, heading_path=hit.heading_path)

    def entities(self, text: str) -> Iterator[Piece]:
        """Yield the entities of whose names the text says the longest first, then by path."""
        said = {name: place for place, name in reversed(list(enumerate(runs(words(text)))))}
        named = [
            (min(places), path, page)
            for path, page in self._call.seen.items()
            if page.type == "entity" and page.lifecycle_status != "archived" and self._call.holds(page)
            and (places := [said[key] for key in map(name_key, (page.title, *page.aliases)) if key in said])
        ]  # fmt: skip
        yield from (self._whole(page) for _, _, page in sorted(named, key=lambda each: each[:2]))

    def _whole(self, page: Page) -> Piece:
        return Piece(kind="page", page=page, updated=self._call.updated(page), text=page.body.strip())


def _hint_fault(hint: str) -> str:
    """Return what is wrong with a hint, or nothing; it may have lines, as a message has."""
    if any(unicodedata.category(character) in {"Cc", "Cs"} and character not in "\n\r\t" for character in hint):
        return "The task_hint holds control characters."
    return f"The task_hint is longer than {LONGEST_TEXT:,} characters." if len(hint) > LONGEST_TEXT else ""
