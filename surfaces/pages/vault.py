"""A folder of pages on the disk: an Obsidian vault, an export, a work tree. What is read of it, and written to it."""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from errno import EILSEQ, EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR
from pathlib import Path
from unicodedata import normalize

from falsify.brain.comparison import File
from falsify.brain.library import Version
from falsify.brain.page_path import ORG, in_one_line, page_path, skipped, twins
from falsify.brain.page_text import MAX_BYTES
from falsify.errors import InvalidInputError, NotFoundError, RefusedError, UnavailableError
from surfaces.pages.git_history import moment
from surfaces.pages.obsidian import SETTINGS, Templates


@dataclass(slots=True)
class Vault:
    """The pages of a folder: where each lies. `rooted` says that the folder has a memory/, outside which is nothing.

    `faults` are what cannot be read, by the path of the page or file, `left_out` the templates of an Obsidian
    vault. `personal`, `beside` and `passed_over` count what is not imported because it is somebody's own, beside the
    memory/, or no markdown.
    """

    folder: Path
    rooted: bool
    templates: Templates
    pages: dict[str, Path] = field(default_factory=dict)
    org: Path | None = None
    faults: dict[str, InvalidInputError] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    personal: int = 0
    beside: int = 0
    passed_over: int = 0

    @property
    def twins(self) -> tuple[tuple[str, ...], ...]:
        """The groups of pages that are one file where upper and lower case are the same."""
        return twins(self.pages)

    def files(self) -> Iterator[File]:
        """Yield the files in the order of their paths; what cannot be read is a fault."""
        for rel_path, path in self.pages.items():
            try:
                with path.open("rb") as file:
                    data = file.read(2 * MAX_BYTES + 1)
                    written = os.fstat(file.fileno()).st_mtime
            except OSError as error:
                self._fault(rel_path, f"the file cannot be read: {error.strerror}", "see who may read it")
            else:
                yield File(rel_path, data, moment(written))

    def take(self, path: Path) -> None:
        """Take in a file, or say why not."""
        name = path.relative_to(self.folder).as_posix()
        if name == (ORG if self.rooted else ORG.partition("/")[2]):
            self.org = self._inside(name, path)
            return
        reason = skipped(name, rooted=self.rooted)
        if reason:
            self.personal += reason == "personal"
            self.passed_over += reason == "other"
            return
        if self.templates.hold(name):
            self.left_out.append(self._told(name))
            return
        try:
            rel_path = page_path(name, rooted=self.rooted)
        except InvalidInputError as error:
            self.faults[error.details["rel_path"]] = error
            return
        if rel_path in self.pages:
            # Two spellings of one name in Unicode: the first by its characters is kept.
            self._fault(f"{rel_path} (again)", "another file has the same name, written otherwise", "rename one")
        elif place := self._inside(rel_path, path):
            self.pages[rel_path] = place

    def refuse(self, folder: Path, message: str, hint: str) -> None:
        """Say what is wrong with a folder; what lies below it is not looked at."""
        name = folder.relative_to(self.folder).as_posix()
        if self.templates.hold(name):
            self.left_out.append(self._told(name))
        else:
            self._fault(self._told(name), message, hint)

    def _told(self, name: str) -> str:
        """Return how a path of the folder is told: as that of a page, though no page may have it."""
        path = name if self.rooted else "memory" if name == "." else f"memory/{name}"
        return in_one_line(normalize("NFC", path))

    def _inside(self, rel_path: str, path: Path) -> Path | None:
        """Return the file that a path leads to; a link out of the folder is a fault, and what is no file is nothing."""
        try:
            place = path.resolve(strict=True)
            regular = stat.S_ISREG(place.stat().st_mode)
        except (OSError, RuntimeError):
            self._fault(rel_path, "the file is a link that leads nowhere", "remove it")
            return None
        if not place.is_relative_to(self.folder):
            self._fault(rel_path, "the file is a link out of the folder", "copy the file here")
            return None
        return place if regular else None

    def _fault(self, rel_path: str, message: str, hint: str) -> None:
        details = {"rel_path": rel_path, "line": 1}
        self.faults[rel_path] = InvalidInputError(
            f"{rel_path}:1: {message}", hint=hint, reason="bad_page", details=details
        )


def open_vault(folder: Path, *, among: Collection[str] | None = None) -> Vault:
    """Return what a folder has. `among` are the only paths that count, where git knows which do.

    Raises as `existing` does, and InvalidInputError where its memory/ is a link out of it.
    """
    root = existing(folder)
    vault = Vault(root, rooted=(root / "memory").is_dir(), templates=Templates(root))
    top = root / "memory" if vault.rooted else root
    if not top.resolve().is_relative_to(root):
        raise InvalidInputError(f"{top} is a link out of {root}", hint="name the folder that it leads to")
    listed = None if among is None else {normalize("NFC", name) for name in among}
    for above in top.parents:
        vault.templates.learn(above)
    for path in _walk(vault, top):
        # git and the file system may spell a name differently.
        if listed is None or normalize("NFC", path.relative_to(root).as_posix()) in listed:
            vault.take(path)
    if vault.rooted:
        vault.beside = sum(map(_is_beside, _names(root) if listed is None else listed))
    return vault


def existing(folder: Path) -> Path:
    """Return the folder, resolved. Raises NotFoundError or InvalidInputError where there is none.

    Raises UnavailableError for one that may not be read: it is not to be taken for one that is empty.
    """
    try:
        root = folder.resolve(strict=True)
        if not root.is_dir():
            raise InvalidInputError(f"{folder} is not a folder", hint="name the folder that the pages lie in")
        with os.scandir(root):
            os.stat(os.path.join(root, "."))  # noqa: PTH116, PTH118 - a Path drops the dot, which asks to look inside
    except (OSError, RuntimeError) as error:
        # RuntimeError is what Python before 3.13 says of links that lead in a circle.
        if not isinstance(error, OSError) or error.errno in {ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP}:
            raise NotFoundError(f"there is no folder {folder}", hint="name the folder that the pages lie in") from error
        hint = "see who may read it, and whether it is there"
        raise UnavailableError(f"{folder} cannot be read: {error.strerror}", hint=hint) from error
    return root


def _names(root: Path) -> Iterator[str]:
    """Yield the paths of all files beside the memory/ of a folder; what cannot be read has none."""
    for where, folders, names in os.walk(root):
        at = Path(where)
        folders[:] = [name for name in folders if not name.startswith(".") and at / name != root / "memory"]
        yield from ((at / name).relative_to(root).as_posix() for name in names)


def _is_beside(name: str) -> bool:
    """Return whether a file would be a page, if there were no memory/ that it lies beside."""
    return skipped(name, rooted=True) == "outside" and name.casefold().endswith(".md")


def _walk(vault: Vault, top: Path) -> Iterator[Path]:
    """Yield all files below a folder in the order of their names, without hidden folders; links are not entered."""

    def unreadable(error: OSError) -> None:
        vault.refuse(Path(error.filename), f"the folder cannot be read: {error.strerror}", "see who may read it")

    for where, folders, names in os.walk(top, onerror=unreadable):
        if SETTINGS in folders:
            vault.templates.learn(Path(where))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders:
            path = Path(where, name)
            if path.is_symlink() and not path.resolve().is_relative_to(vault.folder):
                vault.refuse(path, "the folder is a link out of the folder", "copy what it holds here")
        yield from (Path(where, name) for name in sorted(names))


# --- writing ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Export:
    """A folder that pages are written to. `faults` are the pages that this system cannot hold."""

    folder: Path
    written: int = 0
    faults: list[InvalidInputError] = field(default_factory=list)
    _spelt: dict[str, Path] = field(default_factory=dict)

    def write(self, version: Version) -> None:
        """Write a page as it was recorded, dated as it became known."""
        try:
            parts = page_path(version.rel_path, rooted=True).split("/")
            target = self.folder.joinpath(*parts)
            self._alone(version.rel_path, target)
            at = datetime.fromisoformat(version.known_at).timestamp()
            self._put(target, (version.text or "").encode(), at)
        except InvalidInputError as error:
            self.faults.append(error)

    def write_org(self, text: str) -> None:
        """Write the org map."""
        self._put(self.folder.joinpath(*ORG.split("/")), text.encode(), None)

    def _alone(self, rel_path: str, target: Path) -> None:
        """Raise where the system takes the path for one that was written before, but for case."""
        other = self._spelt.setdefault(rel_path.casefold(), target)
        if other != target and target.exists() and target.samefile(other):
            told = other.relative_to(self.folder).as_posix()
            raise _unwritten(rel_path, f"on this system it is the same file as {told}", "export on another system")

    def _put(self, target: Path, data: bytes, at: float | None) -> None:
        """Write a file at once or not at all. Raises UnavailableError where nothing can be written."""
        told = target.relative_to(self.folder).as_posix()
        draft = target.parent / f".falsify-{os.getpid()}.tmp"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.parent.resolve().is_relative_to(self.folder):
                raise _unwritten(told, "its folder is a link out of this folder", "export to an empty folder")
            draft.write_bytes(data)
            if at is not None:
                os.utime(draft, (at, at))
            draft.replace(target)
        except OSError as error:
            draft.unlink(missing_ok=True)
            if error.errno in {ENAMETOOLONG, EINVAL, EILSEQ}:
                raise _unwritten(told, f"this system does not take the name: {error.strerror}", "rename it") from error
            raise UnavailableError(
                f"{target} cannot be written: {error.strerror}", hint=f"{self.written} pages were written before it"
            ) from error
        self.written += 1


def open_export(folder: Path, *, force: bool = False) -> Export:
    """Return a folder to write to, made if need be. Raises RefusedError for one that holds something, but by force."""
    try:
        if folder.exists() and not folder.is_dir():
            raise InvalidInputError(f"{folder} is not a folder", hint="name one that is empty, or is to be made")
        folder.mkdir(parents=True, exist_ok=True)
        full = any(folder.iterdir())
    except OSError as error:
        hint = "choose a folder that you can write to"
        raise UnavailableError(f"{folder} cannot be made: {error.strerror}", hint=hint) from error
    if full and not force:
        raise RefusedError(
            f"{folder} is not empty", hint="choose an empty folder, or write over what is there with --force"
        )
    return Export(folder.resolve())


def _unwritten(rel_path: str, message: str, hint: str) -> InvalidInputError:
    details = {"rel_path": rel_path, "line": 1}
    return InvalidInputError(f"{rel_path}:1: {message}", hint=hint, reason="unwritten", details=details)
