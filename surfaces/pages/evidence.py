"""Pages of the brain as evidence: taken in as documents are, and followed for as long as they hold."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from falsify.belief.events import DocumentIngested
from falsify.brain.library import Version
from falsify.brain.links import resolve
from falsify.brain.page import Page, read_page
from falsify.brain.wikilinks import labelled, links_in
from falsify.errors import ConflictError, InvalidInputError, NotFoundError
from falsify.join import PAGES, Fate, follow_page
from projections.pages import PageView
from surfaces.brain import Brain
from surfaces.intake import Taken, Text, Wishes, take_text
from surfaces.workspace import Watch, Workspace, unwatched
from surfaces.writing import Asked, Decided, append_decided

if TYPE_CHECKING:
    from falsify.events import Event

ENDED = frozenset({"superseded", "archived"})
"""The lifecycles in which a page holds no more."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What became of a page's claims in an investigation: `ended` as its fate, empty where it was read anew."""

    project: str
    rel_path: str
    ended: str
    events: int


def take_page(
    workspace: Workspace,
    brain: Brain,
    rel_path: str,
    wishes: Wishes,
    *,
    caller: str,
    key: str | None = None,
    dry_run: bool = False,
    watch: Watch = unwatched,
) -> Taken:
    """Record what a page of the brain says; it is followed from then on.

    Raises NotFoundError for a page that the caller cannot see, as for one that is not there, and ConflictError for one
    that holds no more.
    """
    view = brain.pages()
    page, version = view.page(rel_path), view.version(rel_path)
    if page is None or version is None or version.text is None or not brain.scope(caller).sees(page):
        raise NotFoundError(f"there is no page {rel_path}", hint="see `falsify brain list`")
    if page.lifecycle_status in ENDED:
        raise ConflictError(
            f"{rel_path} is {page.lifecycle_status}: what it says is not held any more",
            hint="ingest the page that took its place",
        )
    return take_text(
        workspace, _text(rel_path, version.text), _wished(wishes, page, version), key=key, dry_run=dry_run, watch=watch
    )


def follow(workspace: Workspace, brain: Brain) -> list[Followed]:
    """Bring every investigation that took claims from pages up to what became of these pages.

    Done after every change of the brain; done again it changes nothing, so that what a crash kept from being done is
    made up for the next time.
    """
    done: list[Followed] = []
    for stream in workspace.log.streams():
        if stream.startswith("project:"):
            done += _followed(workspace.of(stream.removeprefix("project:")), brain)
    return done


def _followed(workspace: Workspace, brain: Brain) -> Iterator[Followed]:
    editions = [e for e in workspace.graph.documents.values() if e.path.startswith(PAGES)]
    view = brain.pages() if editions else None
    for edition in editions:
        if view is None:
            return
        named = edition.path.removeprefix(PAGES)
        rel_path = _present_path(brain, named)
        page, version = view.page(rel_path), view.version(rel_path)
        fate = _fate(view, brain, rel_path, edition)
        events = _append_fate(workspace, edition.document_id, fate)
        if page is not None and version is not None and not fate.ended and _reads_otherwise(version, edition):
            wishes = _wished(Wishes(question=edition.question_id, source_id=edition.source_id), page, version)
            told = take_text(workspace, _text(named, version.text or ""), wishes).outcome.as_json()
            events += told["recorded"] + len(told["changes"])
        if events:
            yield Followed(workspace.settings.project, rel_path, fate.ended, events)


def _reads_otherwise(version: Version, edition: DocumentIngested) -> bool:
    if version.text is None:
        return False
    return hashlib.sha256(_text(version.rel_path, version.text).data).hexdigest() != edition.sha256


def _append_fate(workspace: Workspace, edition_id: str, fate: Fate) -> int:
    """Append what a page's fate means, and return how many events that are; decided anew where others wrote."""
    said: list[Event] = []

    def decided() -> Decided:
        revision = workspace.log.revision(workspace.stream)
        graph = workspace.graph
        said[:] = follow_page(graph, graph.documents[edition_id], fate)
        return Decided(revision, said)

    asked = Asked(stream=workspace.stream, actor=workspace.settings.actor, tool="follow", body=edition_id.encode())
    append_decided(workspace.log, asked, decided)
    return len(said)


def _fate(view: PageView, brain: Brain, rel_path: str, edition: DocumentIngested) -> Fate:
    page, version = view.page(rel_path), view.version(rel_path)
    if page is None or version is None:
        past = brain.library.pages.get(rel_path, ())
        return Fate(title=edition.title, ended="removed", since=past[-1].known_at[:10] if past else "")
    if page.lifecycle_status not in ENDED:
        return Fate(title=page.title, ended="")
    since = _since(brain, rel_path, page.lifecycle_status)
    return Fate(title=page.title, ended=page.lifecycle_status, since=since, successor=_successor(view, rel_path))


def _present_path(brain: Brain, rel_path: str) -> str:
    """Return where a page is now that was taken in under another path, as far as it was moved."""
    moved = {v.moved_from: path for path, past in brain.library.pages.items() for v in past if v.moved_from}
    seen = {rel_path}
    while brain.pages().version(rel_path) is None and moved.get(rel_path) and moved[rel_path] not in seen:
        rel_path = moved[rel_path]
        seen.add(rel_path)
    return rel_path


def _since(brain: Brain, rel_path: str, status: str) -> str:
    """Return when the page's present lifecycle began, as far as its versions tell."""
    since = ""
    for version in brain.library.pages[rel_path]:
        if _lifecycle(version) != status:
            since = ""
        elif not since:
            since = version.known_at[:10]
    return since


def _lifecycle(version: Version) -> str:
    try:
        return read_page(version.rel_path, version.text).lifecycle_status if version.text is not None else ""
    except InvalidInputError:
        return ""


def _successor(view: PageView, rel_path: str) -> str:
    """Return the title of a page that says it supersedes this one, or empty."""
    for page in view.pages.values():
        named = page.relations.get("supersedes", ())
        if any(resolve(target, view.links, source=page.rel_path) == rel_path for target in named):
            return page.title
    return ""


def _text(rel_path: str, text: str) -> Text:
    return Text(rel_path, f"{PAGES}{rel_path}", _LINK.sub(_words, text).encode(), "markdown")


_LINK: Final = re.compile(r"(?P<ticks>`+)[^\n]*?(?<!`)(?P=ticks)(?!`)|(?<!\\)!?\[\[[^\[\]\n]+\]\]")
"""A wikilink, or what stands in code, where there is none."""


def _words(found: re.Match[str]) -> str:
    """Return what a reader sees of a link: its label, or the last part of its target; nothing of what is embedded.

    Lines stay as they are, so that a claim is told to stand where it does; within a line it may be further on.
    """
    written = found[0]
    if found["ticks"]:
        return written
    if written.startswith("!"):
        return ""
    link = next(links_in(written, line=1), None)
    if link is None:
        return labelled(written)  # to a heading of its own page
    return link.label or PurePosixPath(link.target).name.removesuffix(".md")


def _wished(wishes: Wishes, page: Page, version: Version) -> Wishes:
    """Return the wishes with what the page knows of itself: its title, and when it was brought up to date."""
    told: dict[str, Any] = {
        "source_title": wishes.source_title or page.title,
        "asserted_at": wishes.asserted_at or page.updated or version.known_at[:10],
    }
    return Wishes(**{**{name: getattr(wishes, name) for name in Wishes.__slots__}, **told})
