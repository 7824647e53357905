"""A page of the brain: markdown with front matter, parsed once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from falsify.brain.org import Area
from falsify.brain.scope import Sensitivity

Lifecycle = Literal["draft", "active", "superseded", "archived"]
Trust = Literal["verified", "declared", "imported", "unverified"]

RELATIONS: Final = ("follows_from", "supersedes", "led_to")
"""What decisions say of each other, in front matter and in typed links."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading; lines are counted from 1 in the file, both ends included.

    `heading_path` leads from the page's first heading to this one; the text before any heading has an empty path.
    """

    ordinal: int
    level: int
    heading_path: tuple[str, ...]
    text: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Link:
    """A wikilink: `[[target]]`, or `[[relation::target]]`; `relation` is empty for a plain one."""

    relation: str
    target: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a file says. `rel_path` begins with memory/; dates are `YYYY-MM-DD` or empty.

    `front` is the whole front matter as it was written, `body` the markdown after it.
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
