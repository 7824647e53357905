"""A log that is exported and imported is the same log; an export that was changed is refused by the line."""

import hashlib

import orjson
import pytest

from falsify.clock import SteppingClock
from falsify.errors import DamagedError, RefusedError
from falsify.events import REGISTRY, Event, event
from falsify.log import Command, canonical, open_log
from falsify.transfer import export_log, import_log

MAIN = "project:main"


@event("test.transfer_noted")
class Noted(Event):
    text: str
    body: dict[str, str]
    weights: tuple[float, ...] = ()


@event("test.transfer_revised", opens_epoch=True)
class Revised(Event):
    text: str


def fill(log):
    command = {"actor": "owner", "tool": "note"}
    log.append(
        MAIN,
        [Noted(text='tricky ,"body":{} \u2028 \\', body={"body": "}\n"}, weights=(1e22, -0.0, 0.1, 5e-324))],
        expected_revision=0,
        command=Command(id="c1", key="k1", body=canonical({"a": 1}), respond=lambda *_: b"\xff\0 not JSON", **command),
    )
    log.append("run:1", [], expected_revision=0, command=Command(id="c2", key='k2,"body":', **command))
    log.append(
        MAIN, [Revised(text="b"), Noted(text="", body={})], expected_revision=1, command=Command(id="c3", **command)
    )
    return log


@pytest.fixture
def log():
    return fill(open_log("memory:", clock=SteppingClock()))


@pytest.fixture
def lines(log):
    return list(export_log(log))


@pytest.fixture
def empty(tmp_path):
    with open_log(tmp_path / "log.db") as log:
        yield log


def test_an_exported_log_reads_like_this(lines, log):
    first, second, third = (recorded.hash.hex() for recorded in log.read())
    time = 1_767_225_600_000_000
    record = {"stream": MAIN, "actor": "owner", "topic": "test.transfer_noted/1"}
    body = {"text": 'tricky ,"body":{} \u2028 \\', "body": {"body": "}\n"}, "weights": [1e22, -0.0, 0.1, 5e-324]}
    assert [orjson.loads(line) for line in lines[:4]] == [
        {"format": "falsify-log", "version": 1},
        record
        | {"position": 1, "revision": 1, "epoch": 0, "recorded_at": time, "command": "c1", "hash": first, "body": body},
        record
        | {"position": 2, "revision": 2, "epoch": 1, "recorded_at": time + 2_000_000, "command": "c3", "hash": second}
        | {"topic": "test.transfer_revised/1", "body": {"text": "b"}},
        record
        | {"position": 3, "revision": 3, "epoch": 1, "recorded_at": time + 2_000_000, "command": "c3", "hash": third}
        | {"body": {"text": "", "body": {}, "weights": []}},
    ]
    assert orjson.loads(lines[4]) == {
        "stream": MAIN, "actor": "owner", "tool": "note", "key": "k1",
        "digest": hashlib.sha256(b'{"a":1}').hexdigest(), "response": "/wAgbm90IEpTT04=",
        "position": 1, "revision": 1, "epoch": 0, "recorded_at": time,
    }  # fmt: skip
    assert orjson.loads(lines[6]) == {
        "records": 3,
        "answers": 2,
        "sha256": hashlib.sha256(b"".join(lines[:6])).hexdigest(),
    }
    assert len(lines) == 7


def test_a_log_that_was_moved_is_the_same_log(log, lines, empty):
    assert import_log(empty, lines) == log.head()
    assert list(empty.read()) == list(log.read())
    assert list(export_log(empty)) == lines
    assert empty.verify() == log.verify()
    assert (empty.epoch(MAIN), empty.streams()) == (1, [MAIN])


def test_a_moved_log_answers_retries_and_can_be_added_to(lines, empty):
    import_log(empty, lines)
    again = Command(id="c9", actor="owner", tool="note", key="k1", body=canonical({"a": 1}))
    receipt = empty.append(MAIN, [], expected_revision=0, command=again)
    assert (receipt.response, receipt.revision, receipt.replayed) == (b"\xff\0 not JSON", 1, True)
    assert empty.append(MAIN, [Revised(text="c")], expected_revision=3, command=Command(
        id="c4", actor="owner", tool="note")).position == 4  # fmt: skip
    assert empty.verify().records == 4


def test_an_empty_log_is_moved_too(empty):
    lines = list(export_log(open_log("memory:")))
    assert import_log(empty, lines).position == 0
    assert list(export_log(empty)) == lines


def test_a_log_longer_than_a_batch_is_moved_whole(empty, monkeypatch):
    monkeypatch.setattr("falsify.transfer._BATCH", 2)
    log = open_log("memory:", clock=SteppingClock())
    log.append(MAIN, [Revised(text=str(n)) for n in range(5)], expected_revision=0, command=Command(
        id="c", actor="owner", tool="note"))  # fmt: skip
    assert import_log(empty, export_log(log)) == log.head()


def test_a_log_that_is_not_empty_is_not_imported_into(lines, log, empty):
    with pytest.raises(RefusedError):
        import_log(log, lines)
    command = Command(id="c", actor="owner", tool="note", key="k")
    empty.append(MAIN, [], expected_revision=0, command=command)
    with pytest.raises(RefusedError):
        import_log(empty, lines)


def edit(number, old, new):
    def change(lines):
        assert old in lines[number - 1]
        return [*lines[: number - 1], lines[number - 1].replace(old, new), *lines[number:]]

    return change


CHANGES = {
    "an edited body": (edit(2, b"tricky", b"trICky"), "line 2: record 1 is not what was written"),
    "an edited time": (edit(3, b'"recorded_at":17', b'"recorded_at":18'), "line 3: record 2 is not what was written"),
    "a spaced body": (edit(3, b'{"text":"b"}', b'{"text": "b"}'), "line 3: record 2 is not what was written"),
    "a dropped record": (lambda lines: lines[:2] + lines[3:], "line 3: record 2 is missing"),
    "swapped records": (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], "line 3: record 2 is missing"),
    "a missing end": (lambda lines: lines[:-1], "line 7: it is missing: the export was cut off"),
    "only a header": (lambda lines: lines[:1], "line 2: it is missing"),
    "nothing": (lambda _lines: [], "line 1: it is missing"),
    "a line cut in two": (lambda lines: [*lines[:3], lines[3][:-9]], "line 4: the record was cut off"),
    "a line cut early": (lambda lines: [*lines[:3], lines[3][:30]], "line 4: it is not as it was exported"),
    "an edited answer": (edit(5, b'"response":"/w', b'"response":"/x'), "line 7: the lines before it"),
    "an answer given twice": (lambda lines: [*lines[:5], *lines[4:]], "line 6: the key 'k1' is answered twice"),
    "a dropped answer": (lambda lines: lines[:5] + lines[6:], "line 6: the lines before it"),
    "something behind the end": (lambda lines: [*lines, lines[1]], "line 8: it comes after the last line"),
    "a missing field": (edit(2, b'"actor":"owner",', b""), "line 2: it is not as it was exported"),
    "another file": (lambda _lines: [b"{}\n"], "line 1: it does not say"),
    "no JSON": (lambda _lines: [b"PK\x03\x04\n"], "line 1: it is not as it was exported"),
    "a list": (lambda lines: [lines[0], b"[1]\n"], "line 2: it is neither a record nor an answer"),
    "a newer format": (edit(1, b'"version":1', b'"version":2'), "line 1: the export has format 2"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_export_that_was_changed_is_refused_by_the_line_and_nothing_is_imported(lines, empty, name):
    change, message = CHANGES[name]
    with pytest.raises(DamagedError) as refused:
        import_log(empty, change(lines))
    assert refused.value.message.startswith(message)
    assert empty.head().position == 0
    assert import_log(empty, lines).position == 3, "the log is as empty as before"


def test_records_of_a_kind_this_program_does_not_know_are_exported_but_not_imported(log, empty, monkeypatch):
    monkeypatch.delitem(REGISTRY, "test.transfer_revised")
    monkeypatch.setattr("falsify.codec._BUILDERS", {})
    lines = list(export_log(log))
    with pytest.raises(DamagedError, match=r"line 3: .*does not know"):
        import_log(empty, lines)


def test_the_source_of_an_import_may_fail(lines, empty):
    def failing():
        yield from lines[:3]
        raise OSError("the network is gone")

    with pytest.raises(OSError, match="the network is gone"):
        import_log(empty, failing())
    assert empty.head().position == 0
