"""A log in one SQLite file, on eventsourcing's SQLite recorder; several processes may hold it open.

What the library gives is the datastore with its pool and transactions, and its reading interface. Ours are the
table (a position that is never used twice, time, epoch, author, hash), the append-only triggers, the answers to
commands, reading row by row, and saying in the program's own words what SQLite cannot do.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, cast

from eventsourcing.persistence import Notification, NotSupportedError, StoredEvent
from eventsourcing.sqlite import (
    SQLiteApplicationRecorder,
    SQLiteConnection,
    SQLiteConnectionPool,
    SQLiteDatastore,
    SQLiteFactory,
)
from eventsourcing.utils import Environment, EnvType

from falsify.errors import ConflictError, DamagedError, NotFoundError, UnavailableError
from falsify.recorders.sqlite_errors import translated
from falsify.recorders.sqlite_tables import APPLICATION, END, LAYOUT, SCHEMA, Tables

_READERS = 200
"""How many connections may be open at once: a reader that is left standing keeps one."""


class _Connection(SQLiteConnection):
    def __init__(self, raw: sqlite3.Connection) -> None:
        super().__init__(raw, max_age=None)
        self.raw = raw


class _Pool(SQLiteConnectionPool):
    """Connections that acknowledge a commit only when it is on the disk, and do not change a file by opening it."""

    def _create_connection(self) -> _Connection:
        return _Connection(self.connect())

    def connect(self) -> sqlite3.Connection:
        """Return a connection of the caller's own."""
        raw = sqlite3.connect(
            self.db_name, uri=True, check_same_thread=False, isolation_level=None, timeout=self.lock_timeout or 0
        )
        raw.row_factory = sqlite3.Row  # what the library's own reading methods expect
        raw.execute("PRAGMA synchronous = FULL")
        return raw


class SQLiteRecorder(SQLiteApplicationRecorder):
    """The recorder of one file. Make it with `open_sqlite`, or by the library's settings with `SQLiteLogFactory`."""

    def __init__(self, datastore: SQLiteDatastore, events_table_name: str = "stored_events") -> None:
        super().__init__(datastore, events_table_name)
        self.where = datastore.pool.db_name
        self._writer = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        """Open a consistent view: a read transaction, which keeps nobody from writing."""
        with self._connection() as raw:
            raw.execute("BEGIN")
            yield Tables(raw)

    @contextmanager
    def writing(self) -> Iterator[Tables]:
        """Wait for the only right to write; commit on leaving, or undo everything if an exception passes."""
        # Threads queue here; SQLite's own lock, which is polled, is then only between processes.
        if not self._writer.acquire(timeout=self._timeout):
            raise ConflictError(f"another thread keeps writing to {self.where}", hint="try again when it is done")
        try:
            with self._connection() as raw:
                # The library's plain BEGIN makes a reader, and a reader that starts to write is refused if anybody
                # wrote since; this waits its turn first.
                raw.execute("BEGIN IMMEDIATE")
                yield Tables(raw)
                raw.execute("COMMIT")
        finally:
            self._writer.release()

    @contextmanager
    def watching(self) -> Iterator[Callable[[], object]]:
        """Return a function whose value changes when anybody commits, on a connection that itself never does."""
        with translated(self.where), closing(self._pool.connect()) as raw:
            yield lambda: raw.execute("PRAGMA data_version").fetchone()[0]

    def close(self) -> None:
        """Close every connection; the last process to do so folds the write-ahead log into the file."""
        self.datastore.close()

    def construct_create_table_statements(self) -> list[str]:
        """Return what makes an empty file a log."""
        return list(LAYOUT)

    def create_table(self) -> None:
        """Make the file a log unless it is one. Any number of processes may do so at once."""
        with self._connection() as raw:
            raw.execute("BEGIN")
            if self._is_log(raw):
                return
            raw.execute("ROLLBACK")
            self._use_wal(raw)
            raw.execute("BEGIN IMMEDIATE")
            if not self._is_log(raw):
                for statement in self.create_table_statements:
                    raw.execute(statement)
            raw.execute("COMMIT")

    def check(self) -> None:
        """Refuse a file that is not a log, or not one that this program and this process can read."""
        with self._connection() as raw:
            raw.execute("BEGIN")
            if not self._is_log(raw):
                raise DamagedError(f"{self.where} is empty: it is not a log", hint="open it for writing to start one")
            Tables(raw).head()

    def insert_events(self, stored_events: Sequence[StoredEvent], **_: Any) -> NoReturn:  # noqa: ARG002  # refused unseen
        """Refuse: the library may read the log, but only `EventLog.append` knows how records are chained."""
        raise NotSupportedError("append through falsify.log.EventLog")

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> list[Notification]:
        """Return records as the library's notifications; its own statement expects a table without a position."""
        after = 0 if start is None else start - inclusive_of_start
        wanted = f"AND topic IN ({','.join('?' * len(topics))})" if topics else ""
        with self._connection() as raw:
            rows = raw.execute(
                "SELECT position, originator_id, originator_version, topic, state FROM stored_events "  # noqa: S608  # question marks
                f"WHERE position > ? AND position <= ? {wanted} ORDER BY position LIMIT ?",
                (after, END if stop is None else stop, *topics, limit),
            )
            return [
                Notification(id=position, originator_id=stream, originator_version=revision, topic=topic, state=body)
                for position, stream, revision, topic, body in rows
            ]

    @property
    def _pool(self) -> _Pool:
        pool = self.datastore.pool
        if not isinstance(pool, _Pool):
            raise TypeError("SQLiteRecorder needs the datastore of SQLiteLogFactory")
        return pool

    @property
    def _timeout(self) -> int:
        return self._pool.lock_timeout or 0

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection of the pool, and take it back without a transaction, whatever happened."""
        pool = self._pool
        with translated(self.where):
            connection = cast("_Connection", pool.get_connection())
            try:
                yield connection.raw
            finally:
                if not pool.closed:  # else it was closed with the pool, under a reader that was left standing
                    with suppress(sqlite3.Error):  # what undoes nothing has nothing left to undo
                        connection.rollback()
                    pool.put_connection(connection)

    def _is_log(self, raw: sqlite3.Connection) -> bool:
        """Return False for an empty file; refuse what is neither that nor a log of this program's time."""
        application, version, tables = (
            raw.execute(sql).fetchone()[0]
            for sql in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if application == 0 and tables == 0:
            return False
        if application != APPLICATION:
            raise DamagedError(f"{self.where} is a database, but not a log", hint="name another file")
        if version != SCHEMA:
            raise DamagedError(
                f"{self.where} has layout {version}, and this version of Falsify knows layout {SCHEMA}",
                hint="the log was written by a newer Falsify: upgrade with `pip install --upgrade falsify-log`",
            )
        return True

    def _use_wal(self, raw: sqlite3.Connection) -> None:
        """Switch the new file to write-ahead logging. SQLite does not wait for its turn here, so this does."""
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                raw.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return


class SQLiteLogFactory(SQLiteFactory):
    """Makes the recorder from the library's settings (`PERSISTENCE_MODULE`, `SQLITE_DBNAME`, ...)."""

    application_recorder_class = SQLiteRecorder

    def __init__(self, env: Environment | EnvType | None) -> None:
        super().__init__(env)
        stock = self.datastore.pool
        self.datastore.originator_id_type = "text"
        self.datastore.pool = _Pool(db_name=stock.db_name, lock_timeout=stock.lock_timeout, max_overflow=_READERS)


def open_sqlite(path: Path, *, timeout: int = 30, read_only: bool = False) -> SQLiteRecorder:
    """Open the log in the file, making it if there is none; for reading only if that is all that can be had.

    `timeout` is how many seconds to wait for another process. A file in a folder that may not be written to is still
    read: SQLite's read-only mode where the write-ahead log is there to be read, else as an immutable file.
    """
    if read_only and not path.exists():
        raise NotFoundError(f"there is no log at {path}")
    refused: UnavailableError | None = None
    for mode in ("mode=ro", "immutable=1") if read_only else ("mode=rwc", "mode=ro", "immutable=1"):
        if mode == "immutable=1" and _unfolded(path):
            raise UnavailableError(
                f"the last commits to {path} are in {path.name}-wal beside it, and the folder cannot be written to",
                hint="copy both files into a folder of your own and open the log there",
            ) from refused
        try:
            return _open(path, mode, timeout)
        except UnavailableError as error:
            refused = refused or error
    raise refused or UnavailableError(f"{path} cannot be opened")


def _open(path: Path, mode: str, timeout: int) -> SQLiteRecorder:
    uri = f"{path.absolute().as_uri()}?{mode}"
    settings = {"SQLITE_DBNAME": uri, "SQLITE_LOCK_TIMEOUT": str(timeout), "CREATE_TABLE": "n"}
    recorder = SQLiteLogFactory(settings).application_recorder()
    if not isinstance(recorder, SQLiteRecorder):
        raise TypeError
    recorder.where = str(path)
    try:
        if mode == "mode=rwc":
            recorder.create_table()
        else:
            recorder.check()
    except BaseException:
        recorder.close()
        raise
    return recorder


def _unfolded(path: Path) -> bool:
    """Return whether commits wait beside the file that reading it as immutable would silently leave out."""
    beside = path.with_name(f"{path.name}-wal")
    return beside.exists() and beside.stat().st_size > 0
