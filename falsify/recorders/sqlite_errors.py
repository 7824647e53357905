"""What SQLite cannot do, said once in the program's own words; no sqlite3 error leaves the recorder."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from eventsourcing.persistence import ConnectionPoolClosedError, PersistenceError

from falsify.errors import ConflictError, DamagedError, FalsifyError, UnavailableError

_ROOM = "make room on the disk (or raise the quota) and try again; nothing of this command was written"
_RIGHTS = "check that the file, and the folder it is in, belong to you and may be written to"
_BACKUP = "restore it from a backup, or import an export of the log"
_LATER = "try again when the other process is done"

#           primary code -> what it is, what happened, what to do next
REFUSALS: dict[int, tuple[type[FalsifyError], str, str]] = {
    sqlite3.SQLITE_FULL: (UnavailableError, "the disk of {where} is full", _ROOM),
    sqlite3.SQLITE_IOERR: (UnavailableError, "the disk of {where} does not read or write", _ROOM),
    sqlite3.SQLITE_READONLY: (UnavailableError, "{where} can only be read", _RIGHTS),
    sqlite3.SQLITE_CANTOPEN: (UnavailableError, "{where} cannot be opened", _RIGHTS),
    sqlite3.SQLITE_PERM: (UnavailableError, "{where} may not be used", _RIGHTS),
    sqlite3.SQLITE_AUTH: (UnavailableError, "{where} may not be used", _RIGHTS),
    sqlite3.SQLITE_NOMEM: (UnavailableError, "there is no memory left to use {where}", "close other programs"),
    sqlite3.SQLITE_BUSY: (ConflictError, "another process keeps {where} locked", _LATER),
    sqlite3.SQLITE_LOCKED: (ConflictError, "another connection keeps {where} locked", _LATER),
    sqlite3.SQLITE_PROTOCOL: (ConflictError, "too many processes open {where} at once", _LATER),
    sqlite3.SQLITE_NOTADB: (DamagedError, "{where} is not a log", _BACKUP),
    sqlite3.SQLITE_CORRUPT: (DamagedError, "{where} is damaged", _BACKUP),
    sqlite3.SQLITE_FORMAT: (DamagedError, "{where} is damaged", _BACKUP),
    sqlite3.SQLITE_CONSTRAINT: (DamagedError, "the records of {where} contradict its head", "run `falsify verify`"),
    # A log whose tables or columns are gone: our SQL is right for the layout that user_version promised.
    sqlite3.SQLITE_ERROR: (DamagedError, "{where} is not laid out like a log", _BACKUP),
}


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn what sqlite3 and the library raise into refusals that name the file."""
    try:
        yield
    except ConnectionPoolClosedError as error:
        raise UnavailableError(f"{where} was closed") from error
    except (sqlite3.Error, PersistenceError) as error:
        raise refusal(error, where) from error


def refusal(error: Exception, where: str) -> FalsifyError:
    """Return the refusal that an error of sqlite3, or the library's wrapping of one, amounts to."""
    cause = error if isinstance(error, sqlite3.Error) else error.__cause__ or error
    code = getattr(cause, "sqlite_errorcode", None)  # errors of the module itself, unlike SQLite's, have none
    if code is None:
        undecodable = isinstance(cause, sqlite3.OperationalError)
        return (DamagedError if undecodable else UnavailableError)(f"{where} cannot be used: {cause}")
    kind, message, hint = REFUSALS.get(code & 0xFF, (UnavailableError, "{where} cannot be used", ""))
    return kind(f"{message.format(where=where)} (SQLite: {cause})", hint=hint)
