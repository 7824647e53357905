"""What happened to the pages of the sample organisation, commit by commit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from typing import Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field

from falsify.errors import InvalidInputError
from falsify.located_yaml import parse

DOMAIN: Final = "corvane.example"

Files = Mapping[str, str]
"""The text of every file by its path, which begins with memory/."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit: who wrote what and when, and `files`, all there are after it. `changed` are the paths it touched."""

    date: datetime
    author: str
    email: str
    message: str
    files: Files
    changed: frozenset[str]


def commits() -> Iterator[Commit]:
    """Yield the commits of the sample organisation, the oldest first. The last one's files are how it stands."""
    history = parse("history.yaml", _read("history.yaml"), History, what="history", begins="").value
    files: Files = {}
    for entry in history.commits:
        before = files
        for change in entry.does:
            files = change.after(files, entry.date)
        yield Commit(
            date=entry.date,
            author=history.authors[entry.author],
            email=f"{entry.author}@{DOMAIN}",
            message=entry.message,
            files=files,
            changed=frozenset(path for path in {*before, *files} if before.get(path) != files.get(path)),
        )


class Part(BaseModel):
    """A part of history.yaml; a key it does not know is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Write(Part):
    """A file is written as it lies in `pages/`."""

    write: str

    def after(self, files: Files, date: datetime) -> Files:  # noqa: ARG002 - one of four alike
        """Return the files with this one."""
        return {**files, self.write: _read(f"pages/{self.write}")}


class Edit(Part):
    """A file changes: values of its front matter, and passages that stood there once."""

    edit: str
    set: Mapping[str, Any] = Field(default_factory=dict)
    replace: tuple[tuple[str, str], ...] = ()

    def after(self, files: Files, date: datetime) -> Files:
        """Return the files with this one as it reads then; a page says on which day it was updated."""
        text = files[self.edit]
        for old, new in self.replace:
            if text.count(old) != 1:
                raise InvalidInputError(f"{self.edit} has {old!r} {text.count(old)} times, not once")
            text = text.replace(old, new)
        if self.edit.endswith(".md"):
            for key, value in {**self.set, "updated": date.date()}.items():
                text = _with(text, key, value)
        return {**files, self.edit: text}


class Move(Part):
    """A file has another path."""

    move: str
    to: str

    def after(self, files: Files, date: datetime) -> Files:  # noqa: ARG002 - one of four alike
        """Return the files with this one elsewhere."""
        return {self.to if path == self.move else path: text for path, text in files.items()}


class Remove(Part):
    """A file is deleted."""

    remove: str

    def after(self, files: Files, date: datetime) -> Files:  # noqa: ARG002 - one of four alike
        """Return the files without this one."""
        return {path: text for path, text in files.items() if path != self.remove}


class Entry(Part):
    """A commit as it is told."""

    date: datetime
    author: str
    message: str
    does: tuple[Write | Edit | Move | Remove, ...]


class History(Part):
    """The whole of history.yaml; `authors` are names by slug."""

    authors: Mapping[str, str]
    commits: tuple[Entry, ...]


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _with(text: str, key: str, value: Any) -> str:
    """Return a page with one line of its front matter set, which is added at the end where there was none."""
    _, front, body = text.split("---\n", 2)
    said = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=1_000).strip()[1:-1]
    kept = [each for each in front.splitlines(keepends=True) if not each.startswith(f"{key}:")]
    at = next((n for n, each in enumerate(front.splitlines()) if each.startswith(f"{key}:")), len(kept))
    return "---\n".join(("", "".join((*kept[:at], f"{key}: {said}\n", *kept[at:])), body))
