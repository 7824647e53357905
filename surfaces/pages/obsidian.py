"""What Obsidian vaults say of themselves: where their templates lie, which are no pages.

A template is text with gaps, which Obsidian fills in when it makes a note of it. Read as a page, most are broken.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from unicodedata import normalize

import orjson

SETTINGS: Final = ".obsidian"
"""The folder in which a vault has its settings."""

PLACES: Final = (
    ("templates.json", "folder", ""),
    ("plugins/templater-obsidian/data.json", "templates_folder", ""),
    ("daily-notes.json", "template", ".md"),
)
"""Where a vault says what its templates are: a file of the settings, a key, and the ending that its value leaves out.

The first two name a folder, the last a note.
"""

_MAX_BYTES: Final = 1_000_000


@dataclass(slots=True)
class Templates:
    """Where templates lie below a folder: folders and single notes.

    As in links between pages, case and how Unicode spells a letter do not count.
    """

    folder: Path
    _places: set[str] = field(default_factory=set)

    def learn(self, vault: Path) -> None:
        """Take in what the settings of a vault say, which may lie above the folder or within it."""
        for place in _named(vault / SETTINGS):
            path = vault / place
            if path != self.folder and path.is_relative_to(self.folder):
                self._places.add(_folded(path.relative_to(self.folder).as_posix()))

    def hold(self, name: str) -> bool:
        """Return whether the path of a file or folder, from the folder on, is that of a template."""
        parts = _folded(name).split("/") if self._places else []
        return any("/".join(parts[:end]) in self._places for end in range(1, len(parts) + 1))


def _named(settings: Path) -> Iterator[str]:
    """Yield the paths that the settings name, from the vault on; of the vault itself there is nothing to tell."""
    for file, key, ending in PLACES:
        parts = [part for part in _value(settings / file, key).split("/") if part not in {"", "."}]
        if parts and ".." not in parts:
            yield "/".join(parts).removesuffix(ending) + ending


def _value(file: Path, key: str) -> str:
    """Return the text at a key of a file, or nothing: settings that cannot be read make no page a template."""
    try:
        if not file.is_file() or file.stat().st_size > _MAX_BYTES:
            return ""
        told = orjson.loads(file.read_bytes())
    except (OSError, ValueError):
        return ""
    value = told.get(key) if isinstance(told, dict) else None
    return value.strip() if isinstance(value, str) else ""


def _folded(path: str) -> str:
    return normalize("NFC", normalize("NFC", path).casefold())
