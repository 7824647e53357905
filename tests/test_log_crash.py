"""A writer that is killed at any moment loses nothing that it was told is written, and leaves nothing half done."""

import multiprocessing
import os
import random
import signal
import time

from falsify.errors import StaleRevisionError
from falsify.events import Event, event
from falsify.log import Command, canonical, open_log

ROUNDS = int(os.environ.get("FALSIFY_CRASH_ROUNDS", "75"))
STREAMS = ("project:a", "project:b")

fork = multiprocessing.get_context("fork")


@event("test.crash_noted")
class Noted(Event):
    batch: str
    number: int
    size: int


def write_until_killed(path, pipe, writer):
    """Append commands of one to five events for ever; say on the pipe which of them were acknowledged."""
    with open_log(path) as log, os.fdopen(pipe, "wb", buffering=0) as acknowledged:
        number = 0
        while True:
            number += 1
            batch, size = f"{writer}.{number}", 1 + number % 5
            stream = STREAMS[number % 2]
            events = [Noted(batch=batch, number=each, size=size) for each in range(size)]
            command = Command(id=batch, actor="agent:x", tool="note", key=batch, body=canonical({"batch": batch}))
            while True:
                try:
                    log.append(stream, events, expected_revision=log.revision(stream), command=command)
                    break
                except StaleRevisionError:
                    continue
            acknowledged.write(f"{batch}\n".encode())


def killed_writers(path, number):
    """Start two writers, kill both after a while, and return the batches that were acknowledged to them."""
    reader, pipe = os.pipe()
    writers = [fork.Process(target=write_until_killed, args=(path, pipe, f"{number}.{each}")) for each in range(2)]
    for writer in writers:
        writer.start()
    os.close(pipe)
    with os.fdopen(reader, "rb") as lines:
        first = lines.readline()  # both are under way, or at least one is
        time.sleep(random.uniform(0, 0.1))
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
        for writer in writers:
            writer.join()
        return [line.decode().strip() for line in (first, *lines) if line.endswith(b"\n")]


def test_nothing_acknowledged_is_lost_and_nothing_is_torn_by_kill_9(tmp_path):
    path, acknowledged, before = tmp_path / "log.db", [], None
    for number in range(ROUNDS):
        acknowledged += killed_writers(path, number)
        with open_log(path) as log:
            assert log.verify(before).ok, "what was there before this round is there, and unchanged"
            before = log.head()[:2]
    with open_log(path) as log:
        batches = {}
        for recorded in log.read():
            batches.setdefault(recorded.command, []).append(recorded)
        assert batches.keys() >= set(acknowledged)
        for name, records in batches.items():
            positions = [recorded.position for recorded in records]
            assert positions == list(range(positions[0], positions[0] + records[0].event.size))
            assert [(recorded.event.batch, recorded.event.number) for recorded in records] == [
                (name, each) for each in range(records[0].event.size)
            ]
        assert len(acknowledged) >= ROUNDS
        assert_retries_are_answered(log, batches)


def assert_retries_are_answered(log, batches):
    """Sending every command again changes nothing: also those that were written but never acknowledged."""
    end = log.head()
    for name, records in batches.items():
        command = Command(id="retry", actor="agent:x", tool="note", key=name, body=canonical({"batch": name}))
        receipt = log.append(records[0].stream, [], expected_revision=0, command=command)
        assert (receipt.replayed, receipt.position) == (True, records[-1].position)
    assert log.head() == end
