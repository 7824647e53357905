"""What every log does, wherever it is kept."""

import threading
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from falsify.chain import ChainReport
from falsify.clock import SteppingClock
from falsify.codec import GENESIS, encode, link
from falsify.errors import (
    ConflictError,
    InvalidInputError,
    KeyReusedError,
    NotFoundError,
    StaleRevisionError,
)
from falsify.events import Event, Recorded, event
from falsify.log import Command, EventLog, Head, Receipt, canonical, open_log
from falsify.recorders.memory import MemoryRecorder
from falsify.transfer import export_log, import_log

START = 1_767_225_600_000_000
SECOND = 1_000_000
MAIN = "project:main"


@event("test.contract_noted")
class Noted(Event):
    text: str
    weight: float = 0.5


@event("test.contract_revised", opens_epoch=True)
class Revised(Event):
    text: str


NOTE = Command(id="c1", actor="owner", tool="note")


class Memory:
    """A store in memory that can be opened again."""

    def __init__(self, _folder):
        self.recorder = MemoryRecorder()

    def open(self, clock=None):
        return EventLog(self.recorder, clock=clock or SteppingClock())


class SQLite:
    def __init__(self, folder):
        self.path = folder / "log.db"
        self.logs = []

    def open(self, clock=None):
        self.logs.append(open_log(self.path, clock=clock or SteppingClock()))
        return self.logs[-1]


@pytest.fixture(params=[Memory, SQLite])
def store(request, tmp_path):
    store = request.param(tmp_path)
    yield store
    for log in getattr(store, "logs", ()):
        log.close()


@pytest.fixture
def log(store):
    return store.open()


def note(log, *texts, stream=MAIN, expected=None, opens=False, **command):
    events = [(Revised if opens else Noted)(text=text) for text in texts]
    revision = log.revision(stream) if expected is None else expected
    return log.append(stream, events, expected_revision=revision, command=replace(NOTE, **command))


def texts(records):
    return [recorded.event.text for recorded in records]


# --- appending -------------------------------------------------------------------------------------------


def test_an_empty_log_is_at_position_zero_and_holds(log):
    assert (log.head(), log.streams(), list(log.read())) == (Head(0, GENESIS, 0), [], [])
    assert (log.revision(MAIN), log.epoch(MAIN)) == (0, 0)
    assert log.verify() == ChainReport(0, GENESIS)


def test_what_was_appended_is_read_back_whole_and_chained(log):
    receipt = log.append(
        MAIN, [Noted(text="a"), Noted(text="ü")], expected_revision=0, command=replace(NOTE, actor="agent:x")
    )

    chained = partial(link, stream=MAIN, epoch=0, recorded_at=START, actor="agent:x", command="c1")
    first = chained(GENESIS, revision=1, name="test.contract_noted/1", body=encode(Noted(text="a")))
    second = chained(first, revision=2, name="test.contract_noted/1", body=encode(Noted(text="ü")))
    assert list(log.read()) == [
        Recorded(1, MAIN, 1, 0, START, "agent:x", "c1", Noted(text="a"), first),
        Recorded(2, MAIN, 2, 0, START, "agent:x", "c1", Noted(text="ü"), second),
    ]
    assert log.head() == Head(2, second, START)
    assert receipt == Receipt(2, 2, 0, START, b'{"epoch":0,"revision":2}', replayed=False)


def test_every_stream_counts_its_own_revisions_in_one_chain(log):
    note(log, "a", stream="project:b")
    note(log, "b", "c", stream="project:a")
    note(log, "d", stream="project:b")

    assert [(r.position, r.stream, r.revision) for r in log.read()] == [
        (1, "project:b", 1),
        (2, "project:a", 1),
        (3, "project:a", 2),
        (4, "project:b", 2),
    ]
    assert log.streams() == ["project:a", "project:b"]
    assert log.verify().records == 4


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_command_decided_on_another_revision_is_refused_with_the_current_one(log, expected):
    note(log, "a", "b")

    with pytest.raises(StaleRevisionError) as refused:
        note(log, "c", expected=expected, key="k")

    assert (refused.value.expected, refused.value.current) == (expected, 2)
    assert texts(log.read()) == ["a", "b"]
    assert note(log, "c", expected=2, key="k").replayed is False, "a refused command did not use up its key"


def test_a_command_whose_answer_cannot_be_made_writes_nothing(log):
    def fail(_revision, _epoch):
        raise RuntimeError("no answer")

    note(log, "a")
    with pytest.raises(RuntimeError, match="no answer"):
        note(log, "b", "c", stream="project:new", key="k", respond=fail)

    assert texts(log.read()) == ["a"]
    assert (log.streams(), log.head().position, log.verify().ok) == ([MAIN], 1, True)
    assert note(log, "d", stream="project:new", key="k").revision == 1
    assert (texts(log.read()), log.verify().records) == (["a", "d"], 2)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_cannot_hold_is_refused_and_not_turned_into_null(log, weight):
    with pytest.raises(InvalidInputError, match="not finite"):
        log.append(MAIN, [Noted(text="a"), Noted(text="b", weight=weight)], expected_revision=0, command=NOTE)
    assert log.head().position == 0


@pytest.mark.parametrize("field", ["id", "actor", "tool", "key"])
@pytest.mark.parametrize("name", ["", "a\0b", "a\nb", "\ud800"])
def test_a_name_that_could_be_mistaken_for_two_is_refused(log, field, name):
    with pytest.raises(InvalidInputError):
        note(log, "a", **{field: name})
    assert log.head().position == 0


def test_time_never_goes_backwards_in_a_log(store):
    note(store.open(SteppingClock(at=2000)), "a")
    note(store.open(SteppingClock(at=1000)), "b", stream="run:1")
    note(store.open(SteppingClock(at=3000)), "c")
    assert [recorded.recorded_at for recorded in store.open().read()] == [2000, 2000, 3000]


def test_threads_that_race_for_a_stream_lose_nothing(log):
    def write(name):
        for number in range(10):
            while True:
                try:
                    note(log, f"{name}{number}", key=f"{name}{number}")
                    break
                except StaleRevisionError:
                    continue

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(log.read())) == sorted(f"{name}{number}" for name in "abcd" for number in range(10))
    assert log.verify().records == 40


# --- idempotency -----------------------------------------------------------------------------------------


def answer(revision, epoch):
    return b'{ "revision": %d,\n "epoch": %d }' % (revision, epoch)


def test_the_same_key_and_body_is_answered_as_the_first_time_byte_for_byte(store):
    log = store.open()
    first = note(log, "a", "b", key="k", body=canonical({"x": 1}), respond=answer)
    note(log, "c")
    log = store.open()
    again = note(log, "a", "b", expected=0, key="k", body=canonical({"x": 1}), respond=lambda *_: b"other", id="c9")

    assert first.response == b'{ "revision": 2,\n "epoch": 0 }'
    assert again == replace(first, replayed=True)
    assert texts(log.read()) == ["a", "b", "c"]


def test_the_same_key_with_another_body_is_refused(log):
    note(log, "a", key="k", body=canonical({"x": 1}))
    with pytest.raises(KeyReusedError):
        note(log, "a", key="k", body=canonical({"x": 2}))
    assert texts(log.read()) == ["a"]


@pytest.mark.parametrize(
    ("stream", "command"), [("project:b", {}), (MAIN, {"actor": "agent:x"}), (MAIN, {"tool": "other"})]
)
def test_a_key_belongs_to_one_stream_actor_and_tool(log, stream, command):
    note(log, "a", key="k", body=b'{"x":1}')
    assert not note(log, "b", stream=stream, key="k", body=b'{"x":2}', **command).replayed


def test_a_command_without_events_is_answered_and_remembered(log):
    note(log, "a")
    first = note(log, expected=1, key="k", respond=answer)
    note(log, "b")

    assert first.response == b'{ "revision": 1,\n "epoch": 0 }'
    assert note(log, expected=1, key="k", respond=answer) == replace(first, replayed=True)
    with pytest.raises(StaleRevisionError):
        note(log, expected=1, key="another")


def test_a_command_without_a_key_is_carried_out_each_time(log):
    assert [note(log, "a").revision, note(log, "a").revision] == [1, 2]


def test_canonical_bodies_do_not_depend_on_order_or_space():
    assert canonical({"b": [1, {"y": 2, "x": None}], "a": "ü"}) == '{"a":"ü","b":[1,{"x":null,"y":2}]}'.encode()
    with pytest.raises(InvalidInputError):
        canonical({"a": float("nan")})
    with pytest.raises(InvalidInputError):
        canonical({"a": object()})


# --- epochs and cutoffs ----------------------------------------------------------------------------------


def test_an_event_that_opens_an_epoch_is_its_first_record(log):
    note(log, "a")
    log.append(MAIN, [Noted(text="b"), Revised(text="c"), Noted(text="d")], expected_revision=1, command=NOTE)
    note(log, "e", stream="project:b")
    last = note(log, "f", opens=True)

    assert [(r.event.text, r.epoch) for r in log.read()] == [
        ("a", 0), ("b", 0), ("c", 1), ("d", 1), ("e", 0), ("f", 2),
    ]  # fmt: skip
    assert (last.epoch, log.epoch(MAIN), log.epoch("project:b")) == (2, 2, 0)


@pytest.fixture
def busy(store):
    """A log of three streams that take turns, with epochs, and several records of one moment."""
    log = store.open(SteppingClock(step=7))
    for number in range(40):
        stream = ("project:a", "project:b", "run:1")[number % 3]
        note(log, *(f"{number}.{each}" for each in range(number % 4)), stream=stream, opens=number % 5 == 0)
        note(log, f"{number}", stream=stream)
    return log


def test_the_position_of_an_epoch_is_the_one_before_the_next_epoch_began(busy):
    records = list(busy.read())
    for stream in busy.streams():
        for epoch in range(busy.epoch(stream) + 1):
            later = [r.position for r in records if r.stream == stream and r.epoch > epoch]
            assert busy.position_of_epoch(stream, epoch) == (min(later) - 1 if later else records[-1].position)


def test_an_epoch_the_stream_has_not_reached_is_not_found(busy):
    for epoch in (-1, busy.epoch("project:a") + 1):
        with pytest.raises(NotFoundError):
            busy.position_of_epoch("project:a", epoch)
    with pytest.raises(NotFoundError):
        busy.position_of_epoch("project:unknown", 1)


def test_the_position_at_a_time_is_the_last_one_recorded_by_then(busy):
    records = list(busy.read())
    for time in range(START - 2, records[-1].recorded_at + 3):
        assert busy.position_at(time) == max((r.position for r in records if r.recorded_at <= time), default=0)


def test_a_range_of_a_stream_or_of_the_log_is_what_a_scan_would_give(busy):
    records = list(busy.read())
    for stream in (None, "project:a", "run:1", "project:unknown"):
        for after in (-1, 0, 1, 17, 60, len(records), 999):
            for through in (None, 0, 1, 18, 61, len(records), 999):
                wanted = [
                    r
                    for r in records
                    if after < r.position and (through is None or r.position <= through) and stream in (None, r.stream)
                ]
                assert list(busy.read(after=after, through=through, stream=stream)) == wanted


# --- reading ---------------------------------------------------------------------------------------------


def test_a_reader_sees_the_log_of_the_moment_at_which_it_began(log):
    note(log, "a", "b")
    reader = log.read()
    assert next(reader).event.text == "a"
    note(log, "c")
    assert texts(reader) == ["b"]
    assert texts(log.read()) == ["a", "b", "c"]


def test_a_log_that_grows_while_it_is_verified_or_exported_is_taken_as_it_was(store, monkeypatch):
    monkeypatch.setattr("falsify.chain.PROGRESS", 1)
    log, other = store.open(), store.open()
    note(log, "a", "b", key="k")
    report = log.verify(progress=lambda _position: note(other, "c"))
    assert (report.records, report.fault) == (2, None)

    lines = export_log(log)
    begun = [next(lines), next(lines)]
    note(other, "d", key="k4")
    exported = [*begun, *lines]
    assert other.head().position == 5
    assert import_log(open_log("memory:"), exported).position == 4
    assert b'"records":4,"answers":1' in exported[-1]


def test_readers_that_are_left_standing_hold_up_nobody(log):
    note(log, "a", "b")
    readers = [log.read() for _ in range(50)]
    assert {next(reader).event.text for reader in readers} == {"a"}
    assert note(log, "c").revision == 3
    assert texts(readers[0]) == ["b"]


def test_reading_keeps_one_record_at_a_time_in_memory(log):
    for at in range(0, 20_000, 1000):
        note(log, *("x" * 100 for _ in range(1000)), expected=at)
    tracemalloc.start()
    try:
        assert sum(1 for _ in log.read()) == 20_000
        assert sum(1 for _ in log.read(stream=MAIN)) == 20_000
        assert log.verify().records == 20_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200_000, "a list of 20,000 records would take 10 MB"


def test_following_yields_what_is_there_and_then_what_comes(store):
    log, stop, seen = store.open(), threading.Event(), []
    note(log, "a", "b")

    def watch():
        for recorded in store.open().follow(after=1, poll=0.005, stop=stop):
            seen.append(recorded.event.text)
            if recorded.event.text == "e":
                stop.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    for text in "cde":
        note(log, text)
    watcher.join(timeout=10)
    stop.set()
    assert seen == ["b", "c", "d", "e"]


def test_following_stops_when_it_is_told_to(log):
    stop = threading.Event()
    note(log, "a", "b", "c")
    follower = log.follow(poll=0.005, stop=stop)
    assert [next(follower).event.text for _ in range(2)] == ["a", "b"]
    stop.set()
    assert list(follower) == []


def test_a_follower_may_append_to_the_log_it_follows(log):
    note(log, "a")
    for recorded in islice(log.follow(poll=0.005), 5):
        note(log, recorded.event.text + "'")
    assert texts(log.read()) == ["a", "a'", "a''", "a'''", "a''''", "a'''''"]


# --- the two stores ----------------------------------------------------------------------------------------

_COMMANDS = st.lists(
    st.tuples(
        st.sampled_from(["project:a", "project:b"]),
        st.lists(st.builds(Noted, text=st.text(max_size=5)) | st.builds(Revised, text=st.text(max_size=5)), max_size=3),
        st.integers(0, 6),
        st.sampled_from([None, "k1", "k2", "k3"]),
        st.sampled_from([b"{}", b'{"x":1}']),
    ),
    max_size=12,
)


def outcome(act: Callable[[], Receipt]) -> Receipt | tuple[type[Exception], str]:
    try:
        return act()
    except ConflictError as error:
        return type(error), str(error)


@settings(max_examples=60, deadline=None)
@given(commands=_COMMANDS)
def test_memory_and_sqlite_give_the_same_answers_and_the_same_bytes(tmp_path_factory, commands):
    memory, sqlite = (store(tmp_path_factory.mktemp("log")).open() for store in (Memory, SQLite))
    for number, (stream, events, expected, key, body) in enumerate(commands):
        command = Command(id=f"c{number}", actor="owner", tool="note", key=key, body=body)
        given_, wanted = (
            outcome(partial(log.append, stream, events, expected_revision=expected, command=command))
            for log in (memory, sqlite)
        )
        assert given_ == wanted
    exported = list(export_log(memory))
    assert exported == list(export_log(sqlite))
    assert all(before.position + 1 == after.position for before, after in pairwise(memory.read()))
    sqlite.close()
