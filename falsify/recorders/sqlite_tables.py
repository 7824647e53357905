"""The tables of a log in SQLite, and what is asked of them."""
# ruff: noqa: S608  # what is put into the statements are the constants of this file

import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal

from falsify.errors import DamagedError
from falsify.recorders import Answer, Head, Row, RowTuple, Slot, Tip

SCHEMA = 1
"""`PRAGMA user_version`: the layout of the tables below."""

APPLICATION = 0x46414C53
"""`PRAGMA application_id`: "FALS", by which `file` and we know a log from any other database."""

# Short columns come first: what is looked up by index is then read without following a long body's overflow pages.
_TABLES = (
    """CREATE TABLE stored_events (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        originator_id TEXT NOT NULL, originator_version INTEGER NOT NULL, epoch INTEGER NOT NULL,
        recorded_at INTEGER NOT NULL, actor TEXT NOT NULL, command TEXT NOT NULL,
        topic TEXT NOT NULL, hash BLOB NOT NULL, state BLOB NOT NULL,
        UNIQUE (originator_id, originator_version))""",
    """CREATE TABLE answers (
        ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
        stream TEXT NOT NULL, actor TEXT NOT NULL, tool TEXT NOT NULL, key TEXT NOT NULL,
        digest BLOB NOT NULL, response BLOB NOT NULL,
        position INTEGER NOT NULL, revision INTEGER NOT NULL, epoch INTEGER NOT NULL, recorded_at INTEGER NOT NULL,
        UNIQUE (stream, actor, tool, key))""",
    """CREATE TABLE head (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        position INTEGER NOT NULL, hash BLOB NOT NULL, recorded_at INTEGER NOT NULL)""",
    "INSERT INTO head VALUES (1, 0, zeroblob(32), 0)",
)
_REFUSED = "BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END"
_TRIGGERS = (
    f"CREATE TRIGGER stored_events_update BEFORE UPDATE ON stored_events {_REFUSED}",
    f"CREATE TRIGGER stored_events_delete BEFORE DELETE ON stored_events {_REFUSED}",
    f"CREATE TRIGGER answers_update BEFORE UPDATE ON answers {_REFUSED}",
    f"CREATE TRIGGER answers_delete BEFORE DELETE ON answers {_REFUSED}",
    f"CREATE TRIGGER head_update BEFORE UPDATE ON head WHEN NEW.position < OLD.position {_REFUSED}",
    f"CREATE TRIGGER head_delete BEFORE DELETE ON head {_REFUSED}",
)
LAYOUT = (*_TABLES, *_TRIGGERS, f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {SCHEMA}")
"""The statements that make an empty file a log."""

_COLUMNS = "position, originator_id, originator_version, epoch, recorded_at, actor, command, topic, hash, state"
_INSERT = f"INSERT INTO stored_events ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)"
_ALL = f"SELECT {_COLUMNS} FROM stored_events WHERE position > ? AND position <= ? ORDER BY position"
_OF_STREAM = (
    f"SELECT {_COLUMNS} FROM stored_events WHERE originator_id = ? "
    "AND originator_version > ? AND originator_version <= ? ORDER BY originator_version"
)
# A table has no index on its streams' names alone; this steps through UNIQUE (originator_id, ...) one name at a time.
_STREAMS = """
    WITH RECURSIVE names(name) AS (
        SELECT min(originator_id) FROM stored_events
        UNION ALL
        SELECT (SELECT min(originator_id) FROM stored_events WHERE originator_id > name)
        FROM names WHERE name IS NOT NULL)
    SELECT name FROM names WHERE name IS NOT NULL"""
_ANSWER = "digest, response, position, revision, epoch, recorded_at"
END = 1 << 62


class Tables:
    """The log's tables as one transaction sees them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def head(self) -> Head:
        row = self._query("SELECT position, hash, recorded_at FROM head").fetchone()
        if row is None:
            raise DamagedError("the log has lost its head row", hint="restore the file from a backup")
        return Head(*row)

    def tip(self, stream: str) -> Tip:
        row = self._query(
            "SELECT originator_version, epoch FROM stored_events WHERE originator_id = ? "
            "ORDER BY originator_version DESC LIMIT 1",
            stream,
        ).fetchone()
        return Tip(*row) if row else Tip()

    def streams(self) -> list[str]:
        return [name for (name,) in self._query(_STREAMS)]

    def rows(self, after: int = 0, through: int | None = None, stream: str | None = None) -> Iterator[RowTuple]:
        last = END if through is None else through
        if stream is None:
            return self._query(_ALL, after, last)
        lowest = self._revision_at(stream, after) if after > 0 else 0
        highest = self._revision_at(stream, last) if through is not None else END
        return self._query(_OF_STREAM, stream, lowest, highest)

    def epoch_end(self, stream: str, epoch: int) -> int | None:
        last = self.tip(stream).revision
        revision = self._bisect(stream, "epoch", epoch)
        return None if revision == last else self._of_stream(stream, "position", revision + 1) - 1

    def position_at(self, recorded_at: int) -> int:
        def time_of(position: int) -> int:
            return self._one("SELECT recorded_at FROM stored_events WHERE position = ?", position)

        # Time never goes backwards in a log, so looking for it takes 20 steps in a million records and no index.
        return bisect_right(range(1, self.head().position + 1), recorded_at, key=time_of)

    def answer(self, slot: Slot) -> Answer | None:
        row = self._query(
            f"SELECT {_ANSWER} FROM answers WHERE stream = ? AND actor = ? AND tool = ? AND key = ?",
            *slot,
        ).fetchone()
        return Answer(*row) if row else None

    def answers(self) -> Iterator[tuple[Slot, Answer]]:
        for row in self._query(f"SELECT stream, actor, tool, key, {_ANSWER} FROM answers ORDER BY ordinal"):
            yield Slot(*row[:4]), Answer(*row[4:])

    def insert(self, rows: Sequence[Row]) -> None:
        self._connection.executemany(_INSERT, rows)
        last = rows[-1]
        self._query(
            "UPDATE head SET position = ?, hash = ?, recorded_at = ?", last.position, last.hash, last.recorded_at
        )

    def remember(self, slot: Slot, answer: Answer) -> None:
        self._query(
            f"INSERT INTO answers (stream, actor, tool, key, {_ANSWER}) VALUES (?,?,?,?,?,?,?,?,?,?)",
            *slot,
            *answer,
        )

    def _revision_at(self, stream: str, position: int) -> int:
        return self._bisect(stream, "position", position)

    def _bisect(self, stream: str, column: Literal["position", "epoch"], value: int) -> int:
        """Return the stream's last revision whose column, which only ever grows, is not above the value."""
        revisions = range(1, self.tip(stream).revision + 1)
        return bisect_right(revisions, value, key=lambda revision: self._of_stream(stream, column, revision))

    def _of_stream(self, stream: str, column: Literal["position", "epoch"], revision: int) -> int:
        return self._one(
            f"SELECT {column} FROM stored_events WHERE originator_id = ? AND originator_version = ?",
            stream,
            revision,
        )

    def _one(self, sql: str, *parameters: str | int) -> int:
        row = self._query(sql, *parameters).fetchone()
        if row is None:
            raise DamagedError(
                f"the log has lost a record ({', '.join(map(str, parameters))})", hint="`falsify verify` names it"
            )
        return int(row[0])

    def _query(self, sql: str, *parameters: str | int | bytes) -> sqlite3.Cursor:
        cursor = self._connection.cursor()
        cursor.row_factory = None  # plain tuples: the library's rows by name cost half as much again
        return cursor.execute(sql, parameters)
