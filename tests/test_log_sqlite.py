"""What is particular to a log in a SQLite file: how it is opened, shared, locked, and read by eventsourcing."""

import multiprocessing
import sqlite3
import threading
from pathlib import Path

import pytest
from eventsourcing.persistence import InfrastructureFactory, Notification, NotSupportedError, StoredEvent

from falsify.clock import SteppingClock
from falsify.codec import encode
from falsify.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError
from falsify.events import Event, event
from falsify.log import Command, open_log
from falsify.recorders.sqlite import SQLiteRecorder

MAIN = "project:main"
NOTE = Command(id="c1", actor="owner", tool="note")


@event("test.sqlite_noted")
class Noted(Event):
    text: str


def note(log, *texts):
    return log.append(MAIN, [Noted(text=t) for t in texts], expected_revision=log.revision(MAIN), command=NOTE)


def texts(log):
    return [recorded.event.text for recorded in log.read()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.db"


# --- opening ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["log.db", "what?mode=ro#1 100%.db", "ü ß.db"])
def test_a_log_is_opened_by_path_or_url_whatever_its_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with open_log(tmp_path / name) as log:
        note(log, "a")
    for where in (name, str(tmp_path / name), f"sqlite:///{name}", f"sqlite:///{tmp_path / name}"):
        with open_log(where) as log:
            assert texts(log) == ["a"]
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("where", ["postgresql://localhost/falsify", "sqlite://log.db"])
def test_a_url_of_no_known_store_is_refused(where):
    with pytest.raises(InvalidInputError, match="names no kind of log"):
        open_log(where)


def test_a_log_opened_only_for_reading_must_exist_and_stays_as_it_is(path):
    with pytest.raises(NotFoundError):
        open_log(path, read_only=True)
    with open_log(path) as log:
        note(log, "a")
    before = path.read_bytes()
    with open_log(path, read_only=True) as log:
        assert texts(log) == ["a"]
        with pytest.raises(UnavailableError, match="can only be read"):
            note(log, "b")
    assert path.read_bytes() == before


def test_a_commit_is_on_the_disk_when_it_is_acknowledged(path):
    with open_log(path) as log, log.recorder._connection() as raw:
        assert raw.execute("PRAGMA synchronous").fetchone()[0] == 2, "FULL"
        assert raw.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_a_log_that_was_closed_says_so(path):
    log = open_log(path)
    note(log, "a", "b")
    reader = log.read()
    next(reader)
    log.close()
    log.close()
    with pytest.raises(UnavailableError):
        log.head()
    with pytest.raises(UnavailableError):
        next(reader)


def _open_and_note(path, start):
    start.wait()
    with open_log(path) as log:
        while True:
            try:
                return note(log, "a")
            except ConflictError:
                continue


def test_any_number_of_processes_may_create_the_same_log_at_once(tmp_path):
    fork = multiprocessing.get_context("fork")
    for number in range(10):
        path, start = tmp_path / f"{number}.db", fork.Barrier(6)
        processes = [fork.Process(target=_open_and_note, args=(path, start)) for _ in range(6)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(30)
        assert [process.exitcode for process in processes] == [0] * 6
        with open_log(path) as log:
            assert texts(log) == ["a"] * 6
            assert log.verify().ok


def test_a_new_file_that_another_process_holds_is_waited_for(path):
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ConflictError, match="locked"):
        open_log(path, timeout=1)
    threading.Timer(0.2, other.execute, ["ROLLBACK"]).start()
    with open_log(path, timeout=10) as log:
        assert note(log, "a").revision == 1
    other.close()


# --- locking ---------------------------------------------------------------------------------------------


def test_a_lock_that_outlasts_the_timeout_is_a_conflict_and_does_not_hinder_reading(path):
    with open_log(path, timeout=1) as log:
        note(log, "a")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ConflictError, match="locked"):
            note(log, "b")
        assert texts(log) == ["a"]
        other.execute("ROLLBACK")
        other.close()
        assert note(log, "b").revision == 2


def test_a_thread_that_keeps_writing_is_a_conflict_for_the_others(path):
    with open_log(path, timeout=1) as log, log.recorder.writing():
        refused = []

        def write():
            try:
                note(log, "b")
            except ConflictError as error:
                refused.append(error)

        thread = threading.Thread(target=write)
        thread.start()
        thread.join(10)
        assert len(refused) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE stored_events SET state = x'7b7d'",
        "DELETE FROM stored_events",
        "UPDATE answers SET response = x''",
        "DELETE FROM answers",
        "UPDATE head SET position = position - 1",
        "DELETE FROM head",
        "INSERT INTO head VALUES (2, 0, x'', 0)",
    ],
)
def test_the_tables_refuse_to_forget(path, statement):
    with open_log(path) as log:
        command = Command(id="c1", actor="owner", tool="note", key="k")
        log.append(MAIN, [Noted(text="a")], expected_revision=0, command=command)
    with sqlite3.connect(path) as raw, pytest.raises(sqlite3.IntegrityError):
        raw.execute(statement)
    raw.close()


# --- the library -----------------------------------------------------------------------------------------


@pytest.fixture
def recorder(path):
    """The recorder as eventsourcing makes it from its own settings, over a log of three records."""
    with open_log(path, clock=SteppingClock()) as log:
        note(log, "a", "b", "c")
    settings = {
        "PERSISTENCE_MODULE": "falsify.recorders.sqlite:SQLiteLogFactory",
        "SQLITE_DBNAME": path.as_uri(),
        "SQLITE_LOCK_TIMEOUT": "5",
    }
    factory = InfrastructureFactory.construct(settings)
    yield factory.application_recorder()
    factory.close()


def test_eventsourcing_reads_the_log_through_its_own_interface(recorder):
    assert isinstance(recorder, SQLiteRecorder)
    kind, state = "test.sqlite_noted/1", [encode(Noted(text=text)) for text in "abc"]
    assert recorder.max_notification_id() == 3
    assert recorder.select_events(MAIN, gt=1) == [
        StoredEvent(MAIN, 2, kind, state[1]),
        StoredEvent(MAIN, 3, kind, state[2]),
    ]
    assert recorder.select_notifications(2, 10) == [
        Notification(MAIN, 2, kind, state[1], id=2),
        Notification(MAIN, 3, kind, state[2], id=3),
    ]
    assert [n.id for n in recorder.select_notifications(1, 10, inclusive_of_start=False, stop=2)] == [2]
    assert [n.id for n in recorder.select_notifications(None, 2, topics=[kind])] == [1, 2]
    assert recorder.select_notifications(None, 2, topics=["other/1"]) == []


def test_eventsourcing_may_not_write_records_that_are_not_chained(recorder):
    with pytest.raises(NotSupportedError):
        recorder.insert_events([StoredEvent(MAIN, 4, "test.sqlite_noted/1", b"{}")])


def test_the_file_says_what_it_is(path):
    open_log(path).close()
    assert Path(path).read_bytes()[68:72] == b"FALS"
