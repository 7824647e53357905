"""Readers of documents, one module for each format: bytes in, passages or claims out, every fault with its place."""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import PurePath
from typing import Final, cast

from surfaces.readers.reading import Reading

Reader = Callable[[str, bytes], Reading]

BELIEF_FILE: Final = "belief file"

MODULES: Final = {
    "text": "plain_text",
    "markdown": "markdown",
    "HTML": "web_page",
    "PDF": "pdf",
    "JSON Lines": "json_lines",
    "CSV": "comma_separated",
}
"""Every format of a document and the module that reads it, imported when it is needed."""

FORMATS: Final = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "HTML",
    ".htm": "HTML",
    ".xhtml": "HTML",
    ".pdf": "PDF",
    ".jsonl": "JSON Lines",
    ".ndjson": "JSON Lines",
    ".csv": "CSV",
    ".tsv": "CSV",
    ".yaml": BELIEF_FILE,
    ".yml": BELIEF_FILE,
    ".json": BELIEF_FILE,
}
"""What the end of a file's name says about its format."""

_CONTENTS: Final = (
    ("PDF", re.compile(rb"\A\s*%PDF-")),
    ("HTML", re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<!doctype\s+html|<html\b)", re.IGNORECASE)),
    ("JSON Lines", re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"')),
    (BELIEF_FILE, re.compile(rb"\A(?:\xef\xbb\xbf)?(?:\s*#[^\n]*\n|\s*\n|---\s*\n)*question\s*:")),
)
_BELIEFS: Final = re.compile(rb'^\s*"?question"?\s*:|\{\s*"question"\s*:', re.MULTILINE)


def format_of(name: str, data: bytes) -> str:
    """Return the format of a file: by the end of its name, or else by how it begins; text, if nothing else."""
    known = FORMATS.get(PurePath(name).suffix.lower())
    return known or next((named for named, begins in _CONTENTS if begins.match(data)), "text")


def holds_beliefs(data: bytes) -> bool:
    """Return whether YAML or JSON looks like a belief file and not like anything else that is written so."""
    return _BELIEFS.search(data) is not None


def read(name: str, data: bytes, format_: str) -> Reading:
    """Return what a document says. Raises InvalidInputError with the place of the first fault."""
    module = import_module(f"surfaces.readers.{MODULES[format_]}")
    return cast("Reader", module.read)(name, data)
