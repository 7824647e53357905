"""Drafts: what somebody proposed as the guard reads it, and as the page that it would be."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from falsify.brain.events import ProposalStaged
from falsify.brain.front_matter import split
from falsify.brain.guard import PROTECTED, Draft, Kind
from falsify.brain.org import GENERAL, Org
from falsify.brain.page import read_page
from falsify.brain.page_text import check, lines
from falsify.errors import InvalidInputError

LESSONS: Final[frozenset[str]] = frozenset({"lesson", "rule"})
MAX_SLUG: Final = 60

_RESERVED: Final = frozenset({"index"})
"""The names of pages that the program compiles."""


def page_draft(
    org: Org, *, caller: str, title: str, content: str, department: str | None, refs: Sequence[str] = ()
) -> Draft:
    """Return a proposed page as the guard reads it. Content may open with front matter."""
    front: Mapping[str, Any] = {}
    body, fault = content, ""
    try:
        written = check("content", content.removeprefix("\ufeff"))
        values, taken = split("content", written)
        front, body = {name: value.plain for name, value in values.items()}, "\n".join(written[taken:])
    except InvalidInputError as error:
        fault = error.message
    return Draft(
        kind="page",
        caller=caller,
        title=title.strip(),
        department=_department(org, department),
        text=f"{title}\n\n{content}",
        body=body.strip(),
        front=front,
        fault=fault,
        refs=tuple(dict.fromkeys(refs)),
    )


def lesson_draft(
    org: Org, *, kind: Kind, caller: str, title: str, lesson: str, department: str | None, refs: Sequence[str]
) -> Draft:
    """Return a proposed lesson or rule as the guard reads it."""
    return Draft(
        kind=kind,
        caller=caller,
        title=title.strip(),
        department=_department(org, department),
        text=f"{title}\n\n{lesson}",
        body=lesson.strip(),
        refs=tuple(dict.fromkeys(refs)),
    )


def _department(org: Org, named: str | None) -> str:
    """Return the slug of a department, or what was named where there is no such one; of nothing, everybody's."""
    wanted = (named or "").strip() or GENERAL
    known = org.department(wanted)
    return known.slug if known else wanted


def draft_again(staged: ProposalStaged) -> Draft:
    """Return the draft that a staged page was made of."""
    page = read_page(staged.rel_path, staged.text)
    free = {name: value for name, value in page.front.items() if name.casefold().replace("-", "_") not in PROTECTED}
    told = yaml.safe_dump(free, allow_unicode=True, width=1_000) if free else ""
    kind: Kind = "page" if staged.proposes == "governance" else staged.proposes
    return Draft(
        kind=kind,
        caller=staged.proposed_by,
        title=staged.title,
        department=staged.department,
        text=f"{staged.title}\n\n{told}\n{page.body}",
        body=page.body.strip(),
        front=free,
        refs=staged.refs,
    )


# --- the page that it would be ------------------------------------------------------------------------------------


def path_of(draft: Draft) -> str:
    """Return the path that a draft's title and department lead to."""
    folder = "lessons/" if draft.kind in LESSONS else ""
    return f"memory/{draft.department}/{folder}{slug_of(draft.title)}.md"


def slug_of(title: str) -> str:
    """Return a title as the name of a file: ASCII letters, digits and single dashes, at most 60."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_SLUG].strip("-")
    if not slug:
        digest = hashlib.sha256(unicodedata.normalize("NFKC", title).encode("utf-8", "replace")).hexdigest()
        return f"page-{digest[:8]}"
    return f"{slug}-page" if slug in _RESERVED else slug


def written(draft: Draft, *, today: str, supersedes: tuple[str, ...]) -> str:
    """Return the page as it would be recorded."""
    front: dict[str, Any] = {
        "title": draft.title,
        "type": draft.type,
        "department": draft.department,
        "lifecycle_status": "active",
        "source_trust": "declared",
        "updated": today,
        "proposed_by": draft.caller,
    }
    if draft.refs:
        front["sources"] = list(draft.refs)
    if supersedes:
        front["supersedes"] = list(supersedes)
    free = {name: value for name, value in draft.front.items() if name not in {*front, "type"}}
    told = yaml.safe_dump({**front, **free}, sort_keys=False, allow_unicode=True, width=1_000)
    return f"---\n{told}---\n{draft.body}\n"


def superseded_text(rel_path: str, text: str) -> str:
    """Return a page with the lifecycle status superseded, else as it was; empty where it is not active."""
    try:
        page = read_page(rel_path, text)
    except InvalidInputError:
        return ""
    if page.lifecycle_status != "active":
        return ""
    if not page.front:
        return f"---\nlifecycle_status: superseded\n---\n{text}"
    first, *rest = text.split("\n")
    end = split(rel_path, lines(text.removeprefix("\ufeff"))).lines - 1
    kept = [line for line in rest[:end] if not line.startswith("lifecycle_status:")]
    return "\n".join([first, "lifecycle_status: superseded", *kept, *rest[end:]])
