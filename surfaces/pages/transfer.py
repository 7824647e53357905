"""Pages between a folder and the brain: what was found is held against what is known, and appended in batches.

Each batch is written as a whole, so an import that was interrupted is simply begun again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, Protocol, TypeVar

from falsify.belief.text import end_of
from falsify.brain.comparison import compare
from falsify.brain.events import BrainEvent, PageMoved, PageRecorded, PageRemoved
from falsify.brain.history import History
from falsify.brain.importing import Change, batches, decide, known_commits
from falsify.brain.library import Library, as_of, current, evolve
from falsify.brain.org import EMPTY, Org
from falsify.brain.org_file import org_yaml
from falsify.brain.page_path import ORG, twins
from falsify.brain.page_text import decode
from falsify.brain.scope import is_owner
from falsify.errors import FalsifyError, ForbiddenError, InvalidInputError
from falsify.log import canonical
from projections.library import LIBRARY
from projections.pages import PageCache, pages_at
from surfaces.brain import STREAM, Brain
from surfaces.pages.git_history import GitHistory
from surfaces.pages.vault import Vault, existing, open_export, open_vault

T = TypeVar("T")


class Watch(Protocol):
    """Passes items on, and shows somebody how far it has come."""

    def __call__(self, items: Iterable[T], *, length: int, label: str) -> Iterable[T]: ...


def unwatched(items: Iterable[T], *, length: int, label: str) -> Iterable[T]:  # noqa: ARG001 - nobody is shown them
    """Pass the items on."""
    return items


def import_folder(
    brain: Brain,
    folder: Path,
    *,
    caller: str,
    history: bool = True,
    prune: bool = False,
    dry_run: bool = False,
    watch: Watch = unwatched,
) -> dict[str, Any]:
    """Record what is new in a folder, and in its git history where it has one; return what that came to, JSON-ready.

    Raises ForbiddenError for anybody but the owner, NotFoundError and InvalidInputError where there is no folder, and
    RefusedError where more than half of all pages would go without `prune`.
    """
    _owner_only(brain, caller, "import pages")
    root = existing(folder)
    git = GitHistory.of(root)
    vault = open_vault(root, among=git.files() if git else None)
    desk = _Desk(brain, caller, dry_run=dry_run)
    org = _org(brain, vault, caller, dry_run=dry_run)
    past: list[InvalidInputError] = []
    if git and history:
        past = _take_history(desk, git, rooted=vault.rooted, watch=watch)
    files = watch(vault.files(), length=len(vault.pages), label="Reading files")
    compared = compare(desk.library, files, now=brain.now, refused=vault.faults, prune=prune)
    for batch in batches((change,) for change in compared.changes):
        desk.record(batch)
    faults = [*vault.faults.values(), *compared.faults]
    said = {error.message for error in faults}
    return {
        "ok": not faults and "error" not in (org or {}),
        "folder": str(root),
        "dry_run": dry_run,
        "files": len(vault.pages),
        "history": bool(git and history),
        "shallow": bool(git and history and git.shallow),
        **desk.counts,
        "unchanged": compared.unchanged,
        "faults": [_told(error) for error in sorted(faults, key=lambda error: error.message)],
        "faults_in_history": [_told(error) for error in past if error.message not in said],
        "behind": list(compared.behind),
        "only_here": list(compared.only_here),
        "cycles": _cycles(desk.library),
        "twins": [list(group) for group in vault.twins],
        "personal": vault.personal,
        "passed_over": vault.passed_over,
        "org": org,
    }


def export_folder(
    brain: Brain,
    folder: Path,
    *,
    caller: str,
    known_at: str | None = None,
    force: bool = False,
    watch: Watch = unwatched,
) -> dict[str, Any]:
    """Write the pages of a moment (None: now) to a folder, word for word; return what that came to, JSON-ready.

    Raises ForbiddenError for anybody but the owner, and RefusedError for a folder that is not empty, but by force.
    """
    _owner_only(brain, caller, "export all pages")
    library = brain.library
    versions = list(current(library) if known_at is None else as_of(library, known_at))
    export = open_export(folder, force=force)
    org = _org_at(brain, known_at)
    if org != EMPTY:
        export.write_org(org_yaml(org))
    for version in watch(versions, length=len(versions), label="Writing pages"):
        export.write(version)
    return {
        "ok": not export.faults,
        "folder": str(export.folder),
        "known_at": known_at,
        "written": export.written,
        "org": org != EMPTY,
        "faults": [_told(error) for error in export.faults],
        "twins": [list(group) for group in twins(version.rel_path for version in versions)],
    }


@dataclass(slots=True)
class _Desk:
    """Where changes are decided and recorded; a dry run records them in a library of its own."""

    brain: Brain
    caller: str
    dry_run: bool
    counts: dict[str, int] = field(default_factory=lambda: {"recorded": 0, "moved": 0, "removed": 0})
    _trial: Library | None = None

    @property
    def library(self) -> Library:
        """The pages with what was recorded so far."""
        if not self.dry_run:
            return self.brain.library
        if self._trial is None:
            known = self.brain.library
            self._trial = Library(revision=known.revision, org=known.org, pages=dict(known.pages))
        return self._trial

    def record(self, changes: Sequence[Change]) -> None:
        """Record what the changes come to: all of it or nothing."""
        events = decide(self.library, changes)
        if not events:
            return
        if self.dry_run:
            self._try(events)
        else:
            body = canonical({"paths": [change.rel_path for change in changes]})
            self.brain.perform(
                lambda library: decide(library, changes),
                self._count,
                tool="import_pages",
                caller=self.caller,
                body=body,
            )

    def _try(self, events: Sequence[BrainEvent]) -> None:
        for event in events:
            library = self.library
            evolve(library, event, _AFTER_ALL + library.revision, library.revision + 1)
        self._count(events)

    def _count(self, events: Sequence[object]) -> bytes:
        for event in events:
            self.counts[_COUNTED[type(event)]] += 1
        return canonical({"events": len(events)})


_AFTER_ALL = 1 << 62
_COUNTED: dict[type, str] = {PageRecorded: "recorded", PageMoved: "moved", PageRemoved: "removed"}


def _take_history(desk: _Desk, git: GitHistory, *, rooted: bool, watch: Watch) -> list[InvalidInputError]:
    """Record the history; return what in it cannot be read."""
    known = known_commits(desk.library)
    reading = History(known, desk.brain.now)
    commits = watch(git.entries(known, rooted=rooted), length=git.count(), label="Reading history")
    taken = map(reading.take, chain.from_iterable(commits))
    for batch in batches(changes for changes in taken if changes):
        desk.record(batch)
    return [*git.faults.values(), *reading.faults]


def _org_at(brain: Brain, known_at: str | None) -> Org:
    """Return the org map as it was recorded by then."""
    if known_at is None:
        return brain.library.org
    limit = end_of(known_at)
    return LIBRARY.fold(takewhile(lambda r: r.recorded_at <= limit, brain.log.read(stream=STREAM))).org


def _cycles(library: Library) -> list[list[str]]:
    """Return the groups of pages that supersede each other in a circle."""
    if not any("supersedes" in (version.text or "") for version in current(library)):
        return []  # which spares parsing all pages to find that there are none
    return [list(group) for group in pages_at(library, None, PageCache()).cycles]


def _org(brain: Brain, vault: Vault, caller: str, *, dry_run: bool) -> dict[str, Any] | None:
    """Accept the org map that lies beside the pages, if it was not accepted before; one that is wrong stops nothing."""
    if vault.org is None:
        return None
    from surfaces.governance import import_org, read_org

    try:
        text = decode(ORG, vault.org.read_bytes())
        if dry_run:
            document = read_org(ORG, text)
            document.check()
            return {"accepted": False, "warnings": document.warnings}
        taken = import_org(brain, text, ORG, caller=caller)
    except FalsifyError as error:
        return {"accepted": False, "error": {"message": error.message, "hint": error.hint}}
    return {"accepted": taken.accepted, "warnings": list(taken.warnings)}


def _owner_only(brain: Brain, caller: str, to: str) -> None:
    if not is_owner(brain.library.org, caller):
        hint = "the setting `actor` says who you are"
        raise ForbiddenError(f"only the owner may {to}", hint=hint, reason="owner_only")


def _told(error: InvalidInputError) -> dict[str, Any]:
    return {"path": error.details.get("rel_path", ""), "line": error.details.get("line", 1),
            **({"commit": error.details["commit"]} if "commit" in error.details else {}),
            "message": error.message, "hint": error.hint}  # fmt: skip
