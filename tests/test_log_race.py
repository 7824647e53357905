"""Processes that race for one revision, or with one command: one of them writes, all of them learn what came of it."""

import multiprocessing

import pytest

from falsify.errors import KeyReusedError, StaleRevisionError
from falsify.events import Event, event
from falsify.log import Command, canonical, open_log

MAIN = "project:main"
ROUNDS = 200

fork = multiprocessing.get_context("fork")


@event("test.race_noted")
class Noted(Event):
    text: str


def run(racer, path, processes):
    """Let the processes go through all rounds together; return what each got in each round."""
    start, results = fork.Barrier(processes), fork.Queue()
    racers = [fork.Process(target=racer, args=(path, start, results, number)) for number in range(processes)]
    for process in racers:
        process.start()
    got = dict(results.get(timeout=60) for _ in racers)
    for process in racers:
        process.join(10)
    return [tuple(got[number][each] for number in range(processes)) for each in range(ROUNDS)]


def race_for_a_revision(path, start, results, number):
    with open_log(path) as log:
        outcomes = []
        for revision in range(ROUNDS):
            command = Command(id=f"{number}.{revision}", actor=f"agent:{number}", tool="note", key=f"k{revision}")
            start.wait(60)
            try:
                receipt = log.append(MAIN, [Noted(text="a")], expected_revision=revision, command=command)
                outcomes.append(receipt.revision)
            except StaleRevisionError as stale:
                outcomes.append(("stale", stale.current))
        results.put((number, outcomes))


def race_with_a_command(path, start, results, number):
    with open_log(path) as log:
        outcomes = []
        for revision in range(ROUNDS):
            command = Command(
                id=f"{number}.{revision}",
                actor="agent:x",
                tool="note",
                key=f"k{revision}",
                body=canonical({"n": revision}),
                respond=lambda revision, _epoch, number=number: b"%d by %d" % (revision, number),
            )
            start.wait(60)
            receipt = log.append(MAIN, [Noted(text="a")], expected_revision=revision, command=command)
            outcomes.append((receipt.response, receipt.revision, receipt.recorded_at, receipt.replayed))
        results.put((number, outcomes))


def race_with_two_bodies(path, start, results, number):
    with open_log(path) as log:
        outcomes = []
        for revision in range(ROUNDS):
            command = Command(id="c", actor="agent:x", tool="note", key=f"k{revision}", body=canonical({"n": number}))
            start.wait(60)
            try:
                log.append(MAIN, [Noted(text=str(number))], expected_revision=revision, command=command)
                outcomes.append("done")
            except KeyReusedError:
                outcomes.append("reused")
        results.put((number, outcomes))


@pytest.fixture
def path(tmp_path):
    open_log(tmp_path / "log.db").close()
    return tmp_path / "log.db"


def count(path):
    with open_log(path) as log:
        assert log.verify().ok
        return log.revision(MAIN)


def test_of_two_processes_that_decide_on_one_revision_exactly_one_writes(path):
    for revision, outcomes in enumerate(run(race_for_a_revision, path, 2)):
        assert sorted(outcomes, key=str) == [("stale", revision + 1), revision + 1]
    assert count(path) == ROUNDS


@pytest.mark.parametrize("processes", [2, 4])
def test_a_command_that_several_processes_send_is_carried_out_once_and_answered_alike(path, processes):
    for outcomes in run(race_with_a_command, path, processes):
        answers = {outcome[:3] for outcome in outcomes}
        replayed = sorted(outcome[3] for outcome in outcomes)
        assert (len(answers), replayed) == (1, [False] + [True] * (processes - 1))
    assert count(path) == ROUNDS


def test_of_two_bodies_under_one_key_one_is_carried_out_and_the_other_refused(path):
    for outcomes in run(race_with_two_bodies, path, 2):
        assert sorted(outcomes) == ["done", "reused"]
    assert count(path) == ROUNDS
