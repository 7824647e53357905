"""Pages between a folder and the brain: what was found is held against what is known, and appended in batches.

Everything is read and decided before anything is written, so an import that is refused leaves nothing behind. Each
batch is written as a whole, so one that was interrupted is simply begun again.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, Protocol, TypeVar

from falsify.belief.text import end_of
from falsify.brain.comparison import compare, imported
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
from surfaces.pages.git_history import GitHistory, unread
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

    Raises ForbiddenError for anybody but the owner, NotFoundError, InvalidInputError or UnavailableError where there is
    no folder that can be read, and RefusedError where more than half of the imported pages would go without `prune`.
    """
    _owner_only(brain, caller, "import pages")
    root = existing(folder)
    git = GitHistory.of(root)
    vault = open_vault(root, among=git.files() if git else None)
    desk = _Desk(brain, caller)
    past: list[InvalidInputError] = []
    if git and history:
        past = _take_history(desk, git, vault, now=brain.now, watch=watch)
    files = watch(vault.files(), length=len(vault.pages), label="Reading files")
    compared = compare(desk.library, files, now=brain.now, had=desk.had, refused=vault.faults, prune=prune)
    for batch in batches((change,) for change in compared.changes):
        desk.take(batch)
    org = _org(brain, vault, caller, dry_run=dry_run)
    if not dry_run:
        desk.record(watch)
    faults = [*vault.faults.values(), *compared.faults]
    said = {error.message for error in faults}
    return {
        "ok": not faults and "error" not in (org or {}),
        "folder": str(root),
        "dry_run": dry_run,
        "files": len(vault.pages),
        "history": bool(git and history),
        "shallow": bool(git and history and git.shallow),
        "history_unread": unread(root) if history and not git else "",
        **desk.counts,
        "unchanged": compared.unchanged,
        "faults": [_told(error) for error in sorted(faults, key=lambda error: error.message)],
        "faults_in_history": [_told(error) for error in past if error.message not in said],
        "behind": list(compared.behind),
        "only_here": list(compared.only_here),
        "cycles": _cycles(desk.library),
        "twins": [list(group) for group in vault.twins],
        "personal": vault.personal,
        "templates": sorted(vault.left_out),
        "beside": vault.beside,
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


class _Desk:
    """Where changes are decided, and then recorded: until that they are in a library of its own.

    `had` are the pages that were there before and came from files, at the paths where they are by now.
    """

    def __init__(self, brain: Brain, caller: str) -> None:
        self._brain, self._caller = brain, caller
        known = brain.library
        self.library = Library(revision=known.revision, org=known.org, pages=dict(known.pages))
        self.had = imported(known)
        self.counts = dict.fromkeys(_COUNTED.values(), 0)
        self._batches: list[Sequence[Change]] = []

    def take(self, changes: Sequence[Change]) -> None:
        """Decide what the changes come to; write nothing."""
        events = decide(self.library, changes)
        if events:
            self._batches.append(changes)
        for event in events:
            evolve(self.library, event, _AFTER_ALL + self.library.revision, self.library.revision + 1)
            self._follow(event)
        self._count(events)

    def record(self, watch: Watch) -> None:
        """Record what was taken, batch by batch; what somebody else wrote meanwhile is decided on anew."""
        self.counts = dict.fromkeys(_COUNTED.values(), 0)
        for batch in watch(self._batches, length=len(self._batches), label="Recording pages"):
            self._append(batch)

    def _append(self, changes: Sequence[Change]) -> None:
        self._brain.perform(
            lambda library: decide(library, changes),
            self._count,
            tool="import_pages",
            caller=self._caller,
            body=canonical({"paths": [change.rel_path for change in changes]}),
        )

    def _follow(self, event: BrainEvent) -> None:
        """Keep up with where the pages are that were there before; what a commit removed is nobody's to miss."""
        match event:
            case PageMoved() if event.was in self.had:
                self.had.remove(event.was)
                self.had.add(event.rel_path)
            case PageRemoved():
                self.had.discard(event.rel_path)

    def _count(self, events: Sequence[object]) -> bytes:
        for event in events:
            self.counts[_COUNTED[type(event)]] += 1
        return canonical({"events": len(events)})


_AFTER_ALL = 1 << 62
_COUNTED: dict[type, str] = {PageRecorded: "recorded", PageMoved: "moved", PageRemoved: "removed"}


def _take_history(desk: _Desk, git: GitHistory, vault: Vault, *, now: str, watch: Watch) -> list[InvalidInputError]:
    """Take in the history; return what in it cannot be read."""
    known = known_commits(desk.library)
    reading = History(known, now)
    entries = git.entries(known, rooted=vault.rooted, templates=vault.templates)
    commits = watch(entries, length=git.count(), label="Reading history")
    taken = map(reading.take, chain.from_iterable(commits))
    for batch in batches(changes for changes in taken if changes):
        desk.take(batch)
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
