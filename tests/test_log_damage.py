"""What was done to a log behind its back is found and named; what the environment refuses costs nothing."""
# ruff: noqa: S608  # the statements are made of what these tests are parametrised with

import os
import resource
import shutil
import sqlite3
import tempfile
import traceback
from pathlib import Path

import pytest

from falsify.chain import ChainReport, Fault
from falsify.clock import SteppingClock
from falsify.errors import DamagedError, UnavailableError
from falsify.events import Event, event
from falsify.log import Command, open_log

MAIN = "project:main"


@event("test.damage_noted")
class Noted(Event):
    text: str


def note(log, *texts, stream=MAIN, key=None):
    command = Command(id="c1", actor="owner", tool="note", key=key)
    events = [Noted(text=text) for text in texts]
    return log.append(stream, events, expected_revision=log.revision(stream), command=command)


def texts(log):
    return [recorded.event.text for recorded in log.read()]


@pytest.fixture
def path(tmp_path):
    """A closed log of ten records in two streams, a to j; project:b holds c, f and i."""
    path = tmp_path / "log.db"
    with open_log(path, clock=SteppingClock()) as log:
        for number, text in enumerate("abcdefghij"):
            note(log, text, stream="project:b" if number % 3 == 2 else MAIN)
    return path


@pytest.fixture
def hashes(path):
    with open_log(path) as log:
        return [b"", *(recorded.hash for recorded in log.read())]


def tamper(path, *statements):
    """Run the statements as somebody would who has the file and removes the triggers first."""
    raw = sqlite3.connect(path, isolation_level=None)
    for (trigger,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        raw.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        raw.execute(statement)
    raw.close()


def swap(first, second):
    """Exchange all that two records say, and leave their positions."""
    columns = "originator_id, originator_version, epoch, recorded_at, actor, command, topic, hash, state"
    return (
        f"CREATE TEMP TABLE kept AS SELECT * FROM stored_events WHERE position IN ({first}, {second})",
        f"DELETE FROM stored_events WHERE position IN ({first}, {second})",
        f"INSERT INTO stored_events (position, {columns}) SELECT {first} + {second} - position, {columns} FROM kept",
    )


def verified(path, anchor=None):
    with open_log(path) as log:
        return log.verify(anchor)


# --- tampering -------------------------------------------------------------------------------------------


def test_an_untouched_log_holds_with_and_without_its_anchor(path, hashes):
    assert (
        verified(path)
        == verified(path, (10, hashes[10]))
        == verified(path, (4, hashes[4]))
        == ChainReport(10, hashes[10])
    )


@pytest.mark.parametrize(
    "change",
    [
        "state = replace(state, 'd', 'x')",
        "state = cast(replace(state, 'd', 'x') AS BLOB)",
        "state = cast(state AS TEXT)",
        "originator_id = 'project:c'",
        "originator_version = 99",
        "epoch = 1",
        "recorded_at = recorded_at + 1",
        "actor = 'agent:x'",
        "command = 'c2'",
        "topic = 'test.damage_noted/2'",
        "hash = zeroblob(32)",
        "hash = 'text'",
    ],
)
def test_an_edited_record_is_named(path, hashes, change):
    tamper(path, f"UPDATE stored_events SET {change} WHERE position = 4")
    report = verified(path)
    assert (report.ok, report.records, report.hash) == (False, 3, hashes[3])
    assert (report.fault.position, report.fault.problem) == (4, "edited")


def test_a_dropped_record_is_named(path, hashes):
    tamper(path, "DELETE FROM stored_events WHERE position IN (4, 5)")
    assert verified(path) == ChainReport(3, hashes[3], Fault(4, "dropped", "record 4 is missing: 6 comes after 3"))


def test_a_dropped_record_is_found_even_if_the_others_close_ranks(path):
    tamper(
        path,
        "DELETE FROM stored_events WHERE position = 4",
        *(f"UPDATE stored_events SET position = {at - 1} WHERE position = {at}" for at in range(5, 11)),
    )
    assert verified(path).fault.position == 4


@pytest.mark.parametrize(("first", "second"), [(4, 5), (5, 6), (2, 9), (1, 10)])
def test_swapped_records_are_named_as_such(path, first, second):
    tamper(path, *swap(first, second))
    report = verified(path)
    assert (report.records, report.fault.position, report.fault.problem) == (first - 1, first, "reordered")


def test_a_log_that_was_cut_off_is_found_by_its_head(path, hashes):
    tamper(path, "DELETE FROM stored_events WHERE position > 7")
    assert verified(path) == ChainReport(
        7, hashes[7], Fault(8, "truncated", "the log ends at 7, and its head says that it went on to 10")
    )


def test_a_log_that_was_cut_off_and_given_a_new_head_is_found_by_the_anchor(path, hashes):
    tamper(
        path,
        "DELETE FROM stored_events WHERE position > 7",
        f"UPDATE head SET position = 7, hash = x'{hashes[7].hex()}'",
    )
    assert verified(path).ok, "without an anchor nobody can know"
    assert verified(path, (10, hashes[10])).fault == Fault(
        8, "truncated", "the log ends at 7, and the anchor says that it went on to 10"
    )


def test_a_log_that_was_hashed_anew_is_found_by_the_anchor(path, hashes, tmp_path):
    with open_log(tmp_path / "forged.db", clock=SteppingClock()) as forged:
        for number, text in enumerate("abcXefghij"):
            note(forged, text, stream="project:b" if number % 3 == 2 else MAIN)
        assert forged.verify().ok
        assert forged.verify((3, hashes[3])).ok
        report = forged.verify((10, hashes[10]))
    assert (report.fault.position, report.fault.problem) == (10, "rewritten")


@pytest.mark.parametrize("change", ["position = 9", "position = 9, hash = zeroblob(32)", "hash = zeroblob(32)"])
def test_a_head_that_is_not_that_of_the_last_record_is_named(path, change):
    tamper(path, f"UPDATE head SET {change}")
    report = verified(path)
    assert (report.records, report.fault.position, report.fault.problem) == (10, 10, "head")


def test_verifying_reports_how_far_it_is(path, monkeypatch):
    monkeypatch.setattr("falsify.chain.PROGRESS", 4)
    seen = []
    with open_log(path) as log:
        log.verify(progress=seen.append)
    assert seen == [4, 8]


def test_a_follower_does_not_pass_a_gap(path):
    tamper(path, "DELETE FROM stored_events WHERE position = 4")
    with open_log(path) as log:
        stop = _StopAfter(3)
        assert [recorded.position for recorded in log.follow(poll=0, stop=stop)] == [1, 2, 3]
        assert stop.waits > 3, "it went on waiting for the gap to be filled"


class _StopAfter:
    """An Event that sets itself after being waited for so many times."""

    def __init__(self, limit):
        self.limit, self.waits = limit, 0

    def is_set(self):
        return self.waits > self.limit

    def wait(self, _timeout):
        self.waits += 1


@pytest.mark.parametrize("key", [None, "k"])
def test_records_that_contradict_the_head_are_not_built_upon(path, key):
    tamper(path, "UPDATE head SET position = 5")
    with open_log(path) as log, pytest.raises(DamagedError, match="contradict"):
        note(log, "k", key=key)


# --- files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"this is not a database, but it is long enough to be one" * 99, "is not a log"), (b"SQLite", "is not a log")],
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, content, message):
    path = tmp_path / "log.db"
    path.write_bytes(content)
    with pytest.raises(DamagedError, match=message):
        open_log(path)
    assert path.read_bytes() == content


def test_a_database_of_somebody_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "log.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE notes (text)")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(DamagedError, match="but not a log"):
        open_log(path)
    assert path.read_bytes() == before


def test_an_empty_file_is_not_a_log_to_read(tmp_path):
    (tmp_path / "log.db").touch()
    with pytest.raises(DamagedError, match="empty"):
        open_log(tmp_path / "log.db", read_only=True)


def test_a_log_of_a_newer_layout_is_refused(path):
    tamper(path, "PRAGMA user_version = 99")
    with pytest.raises(DamagedError, match="layout 99") as refused:
        open_log(path)
    assert "upgrade" in refused.value.hint


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_a_file_that_was_truncated_is_damaged_whoever_asks(tmp_path, kept):
    path = tmp_path / "log.db"
    with open_log(path) as log:
        for _ in range(20):
            note(log, *("x" * 500 for _ in range(20)))
    os.truncate(path, int(path.stat().st_size * kept))
    for ask in (texts, lambda log: log.verify(), lambda log: note(log, "a")):
        with pytest.raises(DamagedError), open_log(path) as log:
            ask(log)


@pytest.mark.parametrize(
    ("table", "message"), [("stored_events", "not laid out"), ("head", "not laid out"), ("answers", "not laid out")]
)
def test_a_log_without_one_of_its_tables_is_damaged(path, table, message):
    tamper(path, f"DROP TABLE {table}")
    with pytest.raises(DamagedError, match=message), open_log(path) as log:
        note(log, "a", key="k")


def test_a_log_without_its_head_is_damaged(path):
    tamper(path, "DELETE FROM head")
    with open_log(path) as log, pytest.raises(DamagedError, match="head"):
        note(log, "a")


@pytest.mark.parametrize(
    ("topic", "state", "message"),
    [
        ("test.unheard_of/1", b'{"text":"d"}', "does not know"),
        ("test.damage_noted/2", b'{"text":"d"}', "does not know"),
        ("test.damage_noted/0", b'{"text":"d"}', "does not know"),
        ("test.damage_noted", b'{"text":"d"}', "does not know"),
        ("test.damage_noted/1", b'{"text":"d"', "cannot be read"),
        ("test.damage_noted/1", b"[1]", "cannot be read"),
        ("test.damage_noted/1", b"{}", "cannot be read"),
        ("test.damage_noted/1", b'{"text":"d","more":1}', "cannot be read"),
    ],
)
def test_a_record_that_cannot_be_understood_is_named_and_what_came_before_is_read(path, topic, state, message):
    tamper(path, f"UPDATE stored_events SET topic = '{topic}', state = x'{state.hex()}' WHERE position = 4")
    with open_log(path) as log:
        reader, seen = log.read(), []
        with pytest.raises(DamagedError, match=rf"^record 4: .*{message}"):
            seen.extend(recorded.event.text for recorded in reader)
        seen += [recorded.event.text for recorded in log.read(through=3)]
    assert seen[-3:] == ["a", "b", "c"]


def test_a_column_that_is_not_text_is_damage(path):
    tamper(path, "UPDATE stored_events SET actor = cast(x'ff' AS TEXT) WHERE position = 4")
    with open_log(path) as log:
        for ask in (log.verify, lambda: list(log.read())):
            with pytest.raises(DamagedError):
                ask()


# --- the environment -------------------------------------------------------------------------------------


def apart(act):
    """Call `act` in a process of its own that may do no more than anybody may, and expect it to succeed."""
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            act()
        except BaseException:  # noqa: BLE001  # whatever it was, the process ends here
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def shelf():
    """A folder that everybody can reach, to be filled and then locked."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def lock(folder):
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("in_use", [False, True])
def test_a_log_in_a_folder_that_may_not_be_written_to_is_still_read(shelf, in_use, read_only):
    """With the write-ahead log beside it, in use or left by a crash, or without, as on a mounted backup."""
    writer = open_log(shelf / "log.db")
    note(writer, "a", "b", key="k")
    if not in_use:
        writer.close()
    lock(shelf)

    def read():
        with open_log(shelf / "log.db", read_only=read_only) as log:
            assert texts(log) == ["a", "b"]
            assert log.verify().ok
            assert note(log, "a", "b", key="k").replayed
            with pytest.raises(UnavailableError, match="can only be read") as refused:
                note(log, "c")
            assert "folder" in refused.value.hint

    apart(read)
    writer.close()


def test_commits_that_cannot_be_read_in_a_locked_folder_are_not_passed_over(shelf):
    with open_log(shelf / "old.db") as log:
        note(log, "a")
        shutil.copy(shelf / "old.db", shelf / "log.db")
        shutil.copy(shelf / "old.db-wal", shelf / "log.db-wal")
    lock(shelf)

    def read():
        with pytest.raises(UnavailableError, match="last commits") as refused:
            open_log(shelf / "log.db")
        assert "copy both files" in refused.value.hint

    apart(read)


def test_a_new_log_where_nothing_may_be_created_is_unavailable(shelf):
    def create():
        for where in (shelf / "new.db", shelf / "missing" / "log.db", shelf):
            with pytest.raises(UnavailableError, match="cannot be opened"):
                open_log(where)

    lock(shelf)
    apart(create)


def test_a_disk_that_fills_up_refuses_the_command_and_loses_nothing(path):
    with open_log(path) as log:
        with log.recorder._connection() as raw:
            pages = raw.execute("PRAGMA page_count").fetchone()[0]
            raw.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(UnavailableError, match="is full") as refused:
            note(log, "k", *("x" * 1000 for _ in range(100)), key="k")
        assert "room" in refused.value.hint
        assert texts(log) == list("abcdefghij")
        with log.recorder._connection() as raw:
            raw.execute("PRAGMA max_page_count = 100000")
        assert not note(log, "k", key="k").replayed
        assert log.verify().records == 11


def fill_up(log):
    """Append until it is refused, and return the refusal."""
    number = 0
    while True:
        try:
            note(log, f"{number}", "x" * 5000)
        except UnavailableError as error:
            assert log.head().position == 2 * number
            return error
        number += 1


def test_a_file_that_may_not_grow_refuses_the_command_and_loses_nothing(shelf):
    shelf.chmod(0o777)

    def fill():
        unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
        with open_log(shelf / "log.db") as log:
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, unlimited[1]))
            refused = fill_up(log)
            assert "disk" in refused.message
            written = log.head().position // 2
            assert written > 5
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
            note(log, "last", "x" * 5000)
        with open_log(shelf / "log.db") as log:
            assert texts(log)[::2] == [*map(str, range(written)), "last"]
            assert log.verify().ok

    apart(fill)
