"""The tables of the search index. All of it is made from the log, and can be deleted at any time.

Versions, passages and chunks are numbered from 0 in the order of the log, so that an index that grew and one that was
rebuilt are equal, table by table. Vectors are in a file of their own beside it, a row for each passage.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

LAYOUT: Final = 3
"""Changes with what is written here, or with how it is made; an index of another layout is made anew."""

BLOCK: Final = 4096
"""So many passages share one list of a word's entries; an entry is the place in the block, and how often."""

ENTRY: Final = np.dtype([("at", "<u2"), ("often", "u1")])

TABLES: Final = """
CREATE TABLE IF NOT EXISTS version (
    id INTEGER PRIMARY KEY, rel_path TEXT NOT NULL, position INTEGER NOT NULL,
    known_from TEXT NOT NULL, known_to TEXT NOT NULL,
    title TEXT NOT NULL, type TEXT NOT NULL, department TEXT NOT NULL, named INTEGER NOT NULL, area TEXT NOT NULL,
    sensitivity TEXT NOT NULL, lifecycle_status TEXT NOT NULL, source_trust TEXT NOT NULL, quotable INTEGER NOT NULL,
    updated TEXT NOT NULL, expires TEXT NOT NULL, aliases TEXT NOT NULL, sources TEXT NOT NULL, origin TEXT NOT NULL,
    UNIQUE (rel_path, position));
CREATE INDEX IF NOT EXISTS version_when ON version (known_to, known_from, expires, lifecycle_status, type);
CREATE TABLE IF NOT EXISTS passage (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, title TEXT NOT NULL, heading_path TEXT NOT NULL,
    context TEXT NOT NULL, text TEXT NOT NULL, length INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS chunk (
    id INTEGER PRIMARY KEY, version INTEGER NOT NULL, ordinal INTEGER NOT NULL, passage INTEGER NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, UNIQUE (version, ordinal));
CREATE TABLE IF NOT EXISTS posting (
    term TEXT NOT NULL, block INTEGER NOT NULL, entries BLOB NOT NULL, PRIMARY KEY (term, block)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS name (
    tail TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (tail, version)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS name_of ON name (version);
CREATE TABLE IF NOT EXISTS mention (
    name TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (name, version)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS link (
    tail TEXT NOT NULL, version INTEGER NOT NULL, target TEXT NOT NULL,
    PRIMARY KEY (tail, version, target)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS link_of ON link (version);
CREATE TABLE IF NOT EXISTS heir (
    version INTEGER NOT NULL, rel_path TEXT NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (version, rel_path, position)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS checkpoint (
    only INTEGER PRIMARY KEY CHECK (only = 1), layout INTEGER NOT NULL, generation INTEGER NOT NULL,
    position INTEGER NOT NULL, departments TEXT NOT NULL, embedder TEXT NOT NULL, embedded INTEGER NOT NULL);
"""

GRAMS: Final = """
CREATE VIRTUAL TABLE IF NOT EXISTS literal USING fts5 (
    text, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1')
"""
"""Which version holds which three characters in a row, case folded: what a literal is looked for by."""

CONTENT: Final = ("version", "passage", "chunk", "posting", "name", "mention", "link", "heir")
"""The tables that an index is compared by; `checkpoint` says besides how often it was written."""

_NOTHING: Final = {"layout": 0, "generation": 0, "position": 0, "departments": "[]", "embedder": "", "embedded": 0}


def marks(values: Sequence[Any]) -> str:
    """Return as many question marks, for a list in SQL."""
    return ", ".join("?" * len(values))


def checkpoint(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return how far the index has come."""
    names = tuple(_NOTHING)
    row = connection.execute(f"SELECT {', '.join(names)} FROM checkpoint").fetchone()  # noqa: S608
    return dict(zip(names, row, strict=True)) if row else dict(_NOTHING)


def advance(connection: sqlite3.Connection, **changed: object) -> None:
    """Write how far the index has come; what is kept in memory of the generation before is old now."""
    known = checkpoint(connection)
    new = {**known, **changed, "generation": known["generation"] + 1}
    connection.execute(
        f"INSERT OR REPLACE INTO checkpoint (only, {', '.join(new)}) VALUES (1, {marks(list(new))})",  # noqa: S608
        list(new.values()),
    )


def clear(connection: sqlite3.Connection, layout: int) -> None:
    """Empty every table; the generation goes on, so that nobody takes the old for the new."""
    for table in CONTENT:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608
    connection.execute("DROP TABLE IF EXISTS literal")
    add_grams(connection)
    nothing = {name: value for name, value in _NOTHING.items() if name != "generation"}
    advance(connection, **{**nothing, "layout": layout})


def add_grams(connection: sqlite3.Connection) -> bool:
    """Make the table of literals where there is none; return whether this SQLite has such tables."""
    try:
        connection.execute(GRAMS)
    except sqlite3.OperationalError as error:
        if "no such" in str(error):  # module or tokenizer: literals are then looked for in every page
            return False
        raise
    return True


def grams_of(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """Return the whole table of literals: three characters, and a version that holds them."""
    connection.execute("CREATE VIRTUAL TABLE temp.gram USING fts5vocab (main, literal, instance)")
    return connection.execute("SELECT term, doc FROM temp.gram ORDER BY 1, 2").fetchall()


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold the one transaction that may write; undo it if it fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold a transaction in which everything that is read is of one moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")
