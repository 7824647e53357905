"""A page of the brain: markdown with front matter, parsed once."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, Final, Literal, TypeVar, get_args

from falsify.brain.blocks import prose
from falsify.brain.front_matter import Value, split, texts
from falsify.brain.org import GENERAL, Area
from falsify.brain.page_text import check, fault
from falsify.brain.scope import SENSITIVITIES, Sensitivity, area_of
from falsify.brain.sections import Heading, Section, cut, headings
from falsify.brain.wikilinks import Link, links, links_in, unlinked

__all__ = ["RELATIONS", "Lifecycle", "Link", "Page", "Section", "Trust", "read_page"]

Lifecycle = Literal["draft", "active", "superseded", "archived"]
Trust = Literal["verified", "declared", "imported", "unverified"]

RELATIONS: Final = ("follows_from", "supersedes", "led_to")
"""What decisions say of each other, in front matter and in typed links."""

MAX_TEXT: Final = 2_000
"""Characters in one text of the front matter that this program reads."""

MAX_SECTIONS: Final = 10_000
MAX_LINKS: Final = 20_000

T = TypeVar("T", bound=str)

_ENDING: Final = re.compile(r"\.md$", re.IGNORECASE)
_ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a file says. `rel_path` begins with memory/; dates are `YYYY-MM-DD` or empty.

    `front` is the whole front matter, JSON-ready, `body` the markdown after it. `relations` have what both front matter
    and typed links say; `links` are all links, those of the front matter first.
    """

    rel_path: str
    title: str
    type: str
    department: str
    area: Area | Literal[""]
    entity_type: str = ""
    description: str = ""
    updated: str = ""
    lifecycle_status: Lifecycle = "active"
    source_trust: Trust = "unverified"
    quotable: bool = True
    sensitivity: Sensitivity = "internal"
    expires: str = ""
    sources: tuple[str, ...] = ()
    origin: Mapping[str, str] | None = None
    aliases: tuple[str, ...] = ()
    decided_by: str = ""
    validated_by: str = ""
    status: str = ""
    date: str = ""
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    front: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""
    sections: tuple[Section, ...] = ()
    links: tuple[Link, ...] = ()


def read_page(rel_path: str, text: str, *, departments: Collection[str] = ()) -> Page:
    """Return what the text of a page says. `departments` are the slugs of the org map: a folder may be one of them.

    Raises InvalidInputError (`path:line: message`) for what is no text, too large, or wrong in its front matter.
    """
    lines = check(rel_path, text.removeprefix("\ufeff"))
    front, front_lines = split(rel_path, lines)
    told = _Front(rel_path, front)
    body, first_line = lines[front_lines:], front_lines + 1
    shown = prose(body)
    found = _few(rel_path, list(headings(shown)), MAX_SECTIONS, "headings")
    linked = _few(rel_path, [*told.links(), *links(shown, first_line=first_line)], MAX_LINKS, "links")
    kind, entity_type = told.kind()
    return Page(
        rel_path=rel_path,
        title=told.title() or _first_title(found) or _stem_in_words(rel_path),
        type=kind,
        department=told.department(departments),
        area=area_of(kind, entity_type),
        entity_type=entity_type,
        description=told.text("description"),
        updated=told.day("updated"),
        lifecycle_status=told.choice("lifecycle_status", get_args(Lifecycle), "active"),
        source_trust=told.choice("source_trust", get_args(Trust), "unverified"),
        quotable=told.flag("quotable", default=True),
        sensitivity=told.choice("sensitivity", SENSITIVITIES, "internal"),
        expires=told.day("expires"),
        sources=told.texts("sources"),
        origin=told.origin(),
        aliases=told.texts("aliases"),
        decided_by=unlinked(told.text("decided_by")),
        validated_by=unlinked(told.text("validated_by")),
        status=told.text("status"),
        date=told.day("date"),
        relations=_relations(linked),
        front={name: value.plain for name, value in front.items()},
        body="\n".join(body),
        sections=tuple(cut(body, found, first_line=first_line)),
        links=tuple(linked),
    )


def _relations(linked: Sequence[Link]) -> dict[str, tuple[str, ...]]:
    found = {name: tuple(dict.fromkeys(link.target for link in linked if link.relation == name)) for name in RELATIONS}
    return {name: targets for name, targets in found.items() if targets}


def _first_title(found: Sequence[Heading]) -> str:
    return next((each.text for each in found if each.level == 1 and each.text), "")


def _stem_in_words(rel_path: str) -> str:
    stem = _ENDING.sub("", posixpath.basename(rel_path))
    words = " ".join(stem.replace("-", " ").replace("_", " ").split()) or stem
    return words[:1].upper() + words[1:]


def _few(rel_path: str, found: list[Any], limit: int, what: str) -> list[Any]:
    if len(found) > limit:
        raise fault(rel_path, 1, f"the page has {len(found):,} {what}; the limit is {limit:,}", hint="split it")
    return found


class _Front:
    """Reads the known keys of the front matter; what is wrong with one is told with its line."""

    def __init__(self, rel_path: str, values: Mapping[str, Value]) -> None:
        self._rel_path = rel_path
        self._values = values

    def title(self) -> str:
        return " ".join(self.text("title").split())

    def text(self, key: str) -> str:
        """Return a text as it was written, so that 1984 and Yes may be titles; empty where it is not given."""
        value = self._values.get(key)
        return self._one(value, key) if value else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; one text alone is a list of one."""
        return tuple(text for text, _ in self._listed(key))

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._given(key)
        if value is None:
            return default
        if not isinstance(value.plain, bool):
            raise self._wrong(key, value, "true or false, without quotes")
        return value.plain

    def day(self, key: str) -> str:
        """Return a date as `YYYY-MM-DD`; of a time, the day in UTC."""
        value = self._given(key)
        if value is None:
            return ""
        found = _day(value.plain) if isinstance(value.plain, str) else ""
        if not found:
            raise self._wrong(key, value, "a date: 2026-03-15")
        return found

    def choice(self, key: str, options: tuple[T, ...], default: T) -> T:
        value = self._given(key)
        if value is None:
            return default
        if value.text not in options:
            raise self._wrong(key, value, f"one of {', '.join(options)}")
        return next(each for each in options if each == value.text)

    def origin(self) -> Mapping[str, str] | None:
        value = self._given("origin")
        if value is None:
            return None
        keys = value.keys or {}
        connector = self._one(keys["connector"], "origin.connector") if "connector" in keys else ""
        if not connector:
            raise self._wrong("origin", value, "{connector: NAME, url: ADDRESS}; the url may be left out")
        url = self._one(keys["url"], "origin.url") if "url" in keys else ""
        return {"connector": connector, "url": url} if url else {"connector": connector}

    def kind(self) -> tuple[str, str]:
        """Return the type of the page, and of which kind it is where it is an entity."""
        folders = self._rel_path.split("/")[1:-1]
        entity = folders[1] if len(folders) > 1 and folders[0] == "entities" else ""
        by_folder = "entity" if entity else "pack" if folders[:1] == ["packs"] else "page"
        kind = self.text("type").casefold() or by_folder
        return (kind, entity or self.text("entity_type").casefold()) if kind == "entity" else (kind, "")

    def department(self, departments: Collection[str]) -> str:
        """Return the department named, or else the folder's, or else the one of everybody."""
        named = "-".join(self.text("department").casefold().split())
        if named:
            return named
        folder = self._rel_path.split("/")[1] if self._rel_path.count("/") > 1 else ""
        return folder if folder in departments else GENERAL

    def links(self) -> Iterator[Link]:
        """Yield the relations of decisions, and the wikilinks that stand in any other value."""
        for key, value in self._values.items():
            if key in RELATIONS:
                for target, line in self._listed(key):
                    written = next(links_in(target, line=line), Link("", target, line))
                    yield replace(written, relation=key)
            else:
                for each in texts(value):
                    yield from links_in(each.text or "", line=each.line)

    def _given(self, key: str) -> Value | None:
        """Return the value of a key, or None where there is none or it is empty."""
        value = self._values.get(key)
        return None if value is None or (value.plain is None and value.items is None) else value

    def _one(self, value: Value, key: str) -> str:
        if value.items is not None or value.keys is not None:
            raise self._wrong(key, value, "one text")
        text = (value.text or "").strip()
        if len(text) > MAX_TEXT:
            message = f"{key} has {len(text):,} characters; the limit is {MAX_TEXT:,}"
            raise fault(self._rel_path, value.line, message, hint="move the text below the front matter")
        return text

    def _listed(self, key: str) -> Iterator[tuple[str, int]]:
        """Yield the texts of a list with their lines. `[[target]]` without quotes is a list in a list to YAML."""
        value = self._given(key)
        if value is None:
            return
        if value.keys is not None:
            raise self._wrong(key, value, "a list of texts")
        for each in value.items if value.items is not None else (value,):
            inner = each.items[0] if each.items is not None and len(each.items) == 1 else each
            if text := self._one(inner, f"an entry of {key}"):
                yield text, inner.line

    def _wrong(self, key: str, value: Value, wanted: str) -> Exception:
        written = "a list" if value.items is not None else "a mapping" if value.keys is not None else repr(value.text)
        message = f"{key} is {written if len(written) < 80 else 'a long text'}"
        return fault(self._rel_path, value.line, message, hint=f"write {key} as {wanted}")


def _day(text: str) -> str:
    """Return the day of an ISO date or time, or nothing for what is none."""
    if not _ISO.match(text):
        return ""
    try:
        if len(text) == 10:
            return date.fromisoformat(text).isoformat()
        moment = datetime.fromisoformat(text)
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date().isoformat()
    except (ValueError, OverflowError):
        return ""
