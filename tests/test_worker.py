"""The worker: every queued run is executed once, ends once, and what it left is evidence."""

import errno
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import pytest

import cli
from falsify import join
from falsify.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError
from falsify.executors import local, trainer
from falsify.executors.local import Command, Limits, LocalExecutor
from falsify.log import EventLog
from falsify.ports import Exit, Outcome
from falsify.workbench import nodes, runs, tickets
from falsify.workbench.contract import checked
from falsify.workbench.events import ContractAmended, RunCancelled, RunFailed, RunStarted, RunSucceeded
from surfaces.running import worker as worker_module
from surfaces.running.ending import NOT_KEPT, NOT_RECORDED, NOT_STARTED, WORKER_DIED, failure, told_apart
from surfaces.running.held_run import HeldRun
from surfaces.running.roster import Roster
from surfaces.running.telemetry import INTERVAL, reported, stream_of
from surfaces.running.waiting import Progress, wait
from surfaces.running.worker import Worker, serving
from surfaces.workbench import Workbench
from surfaces.workspace import Workspace
from tests import workbench_world as world

GUARDED = ("PYTHONPATH", "FALSIFY_TEST_NETWORK")  # what keeps the tests' own children off the network

PRELUDE = """\
import json, os, signal, sys, time
from pathlib import Path
config = json.loads(Path(os.environ["FALSIFY_CONFIG"]).read_text())
out, run = Path(os.environ["FALSIFY_RUN_DIR"]), os.environ["FALSIFY_RUN_ID"]

def report(**line):
    with open(os.environ["FALSIFY_METRICS"], "a") as file:
        file.write(json.dumps(line) + "\\n")

"""
SUCCESS = "report(epoch=1, val_acc=0.5); report(epoch=2, val_acc=0.75)"
FOREVER = "report(epoch=1, val_acc=0.5)\ntime.sleep(600)"


class Lab:
    """A workspace with a project whose experiment is a script, and the people in it."""

    def __init__(self, root, source=SUCCESS, *, project="p1", mode="AUTORESEARCH", contract=None, **terms):
        self.root, self.project_id = root, project
        self.limits = Limits(grace_seconds=0.3)
        self.write(source)
        self.workspace = Workspace.init(root, environ={})
        if not self.workspace.log.revision(f"project:{project}"):
            contract = contract or world.contract(executor="script", **terms)
            new = Workbench(self.workspace, project, new=True)
            self.append(lambda s: create(s, project, mode, contract), new)
            self.append(lambda s: nodes.register_baseline(s.project, caller="owner"), new)
        self.workbench = Workbench(self.workspace, project)

    def write(self, source):
        (self.root / "experiment.py").write_text(PRELUDE + source, encoding="utf-8")

    def executors(self, name):
        line = ("{python}", str(self.root / "experiment.py"))
        return LocalExecutor(Command(name=name, argv=line, cwd=self.root, env=GUARDED, limits=self.limits))

    def worker(self, **more):
        return Worker(self.workspace, **{"executors": self.executors, **more})

    def append(self, decide, workbench=None):
        return (workbench or self.workbench).append(lambda sight: [*decide(sight)], tool="test", actor="owner").project

    @property
    def project(self):
        return self.workbench.project

    def queue(self, node_id="N-1"):
        return list(self.append(lambda s: runs.queue_run(s.project, node_id, reason="to see")).runs)[-1]

    def cancel(self, run_id):
        self.append(lambda s: runs.cancel_run(s.project, run_id, reason="not wanted", seconds=0.0))

    def branch(self, **mutation):
        """Create, claim and materialise a ticket; return the node's id."""
        asked, alice = world.idea(f"{mutation}"), world.ALICE
        made = self.append(lambda s: join.create_tickets(s.project, s.graph, [asked], author=alice, source="agent"))
        ticket = list(made.tickets)[-1]
        self.append(lambda s: tickets.claim_ticket(s.project, ticket, reason="n", agent_session_id="", caller="owner"))
        self.append(lambda s: nodes.materialize(s.project, ticket, mutation=mutation, caller="owner"))
        return list(self.project.nodes)[-1]

    def run(self, node_id="N-1", **more):
        """Queue a run and work until it has ended; return it."""
        run_id = self.queue(node_id)
        with self.worker(**more) as worker:
            worker.run_until_idle()
        return self.project.runs[run_id]

    def evidence(self, run_id):
        """Return what a run left: (kind, name) -> its bytes, checked."""
        exhibits = [each.exhibit for each in self.project.evidence.values() if each.run_id == run_id]
        return {(e.kind, e.name): self.workspace.artifacts.read(e.sha256) for e in exhibits}

    def endings(self):
        """Return how often each run ended, as the log has it."""
        ended = [r.event.run_id for r in self.workbench.records() if type(r.event) in ENDINGS]
        return {run_id: ended.count(run_id) for run_id in self.project.runs}

    def check(self):
        """See to it that the log says what is live, and names nothing that is not there."""
        world.agree(self.project, self.workbench.workspace.graph, self.workbench.records())
        stored = [each.exhibit for each in self.project.evidence.values()]
        assert [self.workspace.artifacts.check(e.sha256, e.size) for e in stored] == [""] * len(stored)
        assert list(self.project.evidence) == [f"EV-{number}" for number in range(1, len(stored) + 1)]


ENDINGS = (RunSucceeded, RunFailed, RunCancelled)


def create(sight, project, mode, contract):
    return join.create_project(
        sight.project,
        sight.graph,
        project_id=project,
        objective=world.OBJECTIVE,
        mode=mode,
        contract=contract,
        parent="",
        caller=sight.caller,
    )


def until(condition, *, seconds=20.0):
    """Wait until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- success ------------------------------------------------------------------------------------------------


def test_a_run_that_succeeds_freezes_its_node_with_all_that_it_left(tmp_path):
    lab = Lab(
        tmp_path,
        SUCCESS + "\nprint('well done')\n(out / 'sub').mkdir()\n(out / 'sub/weights.npz').write_bytes(b'w')\n"
        "(out / 'picture.png').write_bytes(b'p')\n(out / 'link').symlink_to('/etc/passwd')",
    )
    run = lab.run()
    node, left = lab.project.nodes["N-1"], lab.evidence("R-1")
    assert (run.status, run.metrics, node.status, node.value) == (
        "SUCCEEDED",
        {"epoch": 2.0, "val_acc": 0.75},
        "FROZEN",
        0.75,
    )
    assert list(left) == [
        ("metric", "metrics.json"),
        ("curve", "curve.json"),
        ("diff", "diff.json"),
        ("run_log", "log.txt"),
        ("environment", "environment.json"),
        ("artifact", "picture.png"),
        ("artifact", "sub/weights.npz"),
    ]
    assert left["artifact", "sub/weights.npz"] == b"w"
    assert left["run_log", "log.txt"] == b"well done\nfalsify: not kept: link: it is a link\n"
    assert json.loads(left["metric", "metrics.json"])["metrics"] == {"epoch": 2.0, "val_acc": 0.75}
    assert [line["val_acc"] for line in json.loads(left["curve", "curve.json"])["lines"]] == [0.5, 0.75]
    lab.check()


def test_a_node_that_branches_has_the_difference_from_its_parent_as_evidence(tmp_path):
    lab = Lab(tmp_path)
    lab.run()
    lab.run(lab.branch(width=64))
    told = json.loads(lab.evidence("R-2")["diff", "diff.json"])
    assert (told["node"], told["parent"], told["changed"]) == ("N-2", "N-1", {"width": {"from": 8, "to": 64}})


def test_the_experiment_is_given_the_whole_configuration_with_its_seed(tmp_path):
    lab = Lab(tmp_path, SUCCESS + "\n(out / 'seen.json').write_text(json.dumps(config))")
    lab.run()
    assert json.loads(lab.evidence("R-1")["artifact", "seen.json"]) == {**world.BASE, "seed": 7}


def test_what_a_run_says_of_its_environment_is_the_evidence_of_it(tmp_path):
    lab = Lab(tmp_path, SUCCESS + "\n(out / 'environment.json').write_text('{\"gpu\": 1}')")
    lab.run()
    found = {key: value for key, value in lab.evidence("R-1").items() if key[1] == "environment.json"}
    assert found == {("environment", "environment.json"): b'{"gpu": 1}'}


def test_without_a_word_of_the_run_the_environment_is_what_can_be_seen_from_outside(tmp_path):
    lab = Lab(tmp_path, SUCCESS + "\n(out / 'environment.json').write_text('no json')")
    lab.run()
    left = lab.evidence("R-1")
    told = json.loads(left["environment", "environment.json"])
    assert (told["executor"], told["argv"], told["threads"]["OMP_NUM_THREADS"]) == (
        "script",
        ["{python}", str(tmp_path / "experiment.py")],
        "1",
    )
    assert left["artifact", "environment.json"] == b"no json"


def test_only_the_log_stays_in_the_folder_of_a_run_that_has_ended(tmp_path):
    lab = Lab(tmp_path, SUCCESS + "\nprint('done')")
    lab.run()
    folder = tmp_path / ".falsify/runs/p1/R-1"
    assert [path.name for path in folder.iterdir()] == ["log.txt"]


def test_telemetry_lies_in_the_stream_of_the_run_and_never_moves_the_projects_revision(tmp_path):
    lab = Lab(tmp_path, "for epoch in range(20):\n    report(epoch=epoch, val_acc=epoch / 20)\n    time.sleep(0.02)")
    run = lab.run()
    log = lab.workspace.log
    assert [line["epoch"] for _, line in reported(log, "p1", "R-1")] == list(range(20))
    assert 1 <= log.revision(stream_of("p1", "R-1")) <= run.seconds / INTERVAL + 2
    started, *after = [r.event.kind for r in lab.workbench.records() if r.actor == "worker"]
    assert started == "workbench.run_started"
    assert "run.metrics_reported" not in after


# --- failure ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("print('one'); print('two'); print('three'); print('fo\\x1b[31mur'); sys.exit(7)",
         "it ended with exit code 7; its log ends: two | three | fo [31mur"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "it was ended by signal SIGKILL"),
        ("report(epoch=1, loss=0.5)", "it reported no val_acc, only epoch, loss"),
        ("pass", "it reported no val_acc"),
        (f"{SUCCESS}\nfor epoch in (3, 4): report(epoch=epoch, val_acc=float('nan'))",
         "val_acc is not a finite number from epoch 3 on"),
        ("report(val_acc=float('-inf'))\nsys.exit(3)",
         "it ended with exit code 3; val_acc is not a finite number from line 1 on"),
    ],
    ids=["exit code", "signal", "another metric", "no metric", "NaN", "infinity"],
)  # fmt: skip
def test_a_run_that_fails_says_why_keeps_its_log_and_leaves_the_node_to_be_repaired(tmp_path, source, reason):
    lab = Lab(tmp_path, source)
    run = lab.run()
    node = lab.project.nodes["N-1"]
    assert (run.status, run.note, node.status, node.value) == ("FAILED", reason, "REPAIRABLE", None)
    assert {kind for kind, _ in lab.evidence("R-1")} - {"curve"} == {"run_log", "environment"}
    lab.check()


def test_a_run_that_takes_too_long_is_ended_and_pays_no_more_than_was_kept_for_it(tmp_path):
    lab = Lab(tmp_path, "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + FOREVER, run_seconds=1.0)
    run = lab.run()
    assert (run.status, run.seconds) == ("FAILED", 1.0)
    assert run.note.startswith("it was ended after 1.")
    assert ("curve", "curve.json") in lab.evidence("R-1")


def test_a_command_that_does_not_exist_fails_the_run_and_not_the_worker(tmp_path):
    lab = Lab(tmp_path)
    run = lab.run(executors=lambda name: LocalExecutor(Command(name=name, argv=("no-such-command",), cwd=tmp_path)))
    assert run.note == ("it ended with exit code 127; its log ends: falsify: there is no command 'no-such-command'")


def test_an_executor_that_is_not_configured_fails_the_run_and_not_the_worker(tmp_path):
    lab = Lab(tmp_path)
    run = lab.run(executors=None)
    assert run.status == "FAILED"
    assert run.note.startswith("it could not be started: there is no executor 'script' (there are builtin;")
    lab.check()


def test_a_failed_node_can_be_run_again_under_a_new_run(tmp_path):
    lab = Lab(tmp_path, "sys.exit(1)")
    lab.run()
    lab.write(SUCCESS)
    again = lab.run()
    assert (again.id, again.attempt, again.status, lab.project.nodes["N-1"].status) == ("R-2", 2, "SUCCEEDED", "FROZEN")
    lab.check()


def test_a_store_that_cannot_keep_what_a_run_left_fails_the_run(tmp_path):
    lab = Lab(tmp_path)
    (tmp_path / ".falsify/artifacts").write_text("no folder")
    run = lab.run()
    assert run.status == "FAILED"
    assert run.note.startswith("what it left could not be kept: an artifact cannot be kept")


def test_names_that_the_log_cannot_hold_are_left_out_of_what_a_run_reports(tmp_path):
    lab = Lab(tmp_path, 'report(epoch=1, val_acc=0.5, **{"\\ud800": 1.0, "": 2.0})')
    assert lab.run().metrics == {"epoch": 1.0, "val_acc": 0.5}


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (Exit("vanished", -1, 1.0), "its process is gone, and nobody saw how it ended"),
        (Exit("stopped", -15, 1.0), "the worker was stopped"),
        (Exit("exited", -64, 1.0), "it was ended by signal SIGRTMAX"),
        (Exit("exited", -99, 1.0), "it was ended by signal 99"),
        (Exit("exited", 0, 1.0), ""),
    ],
)
def test_every_way_to_end_has_its_words(ended, told):
    assert failure(ended, [{"val_acc": 0.5}], "val_acc", "") == told


@pytest.mark.parametrize("lines", [[{"val_acc": 0.5}], [{"val_acc": math.nan, "epoch": 2.0}], []])
@pytest.mark.parametrize(
    "ended",
    [
        *(Exit(outcome, -15, 1.5e-7) for outcome in get_args(Outcome)),
        *(Exit("exited", code, 1.0) for code in (0, 3, -9, -64, -99)),
    ],
)
def test_the_words_of_falsify_are_told_apart_from_those_of_the_run(ended, lines):
    why = failure(ended, lines, "val_acc", "")
    assert told_apart(why) == (why, "")
    quoting = failure(ended, lines, "val_acc", "one\nits worker died")
    assert told_apart(quoting) == (why, "its log ends: one | its worker died" if why else "")


def test_the_names_that_a_run_gives_its_metrics_are_its_own_words():
    why = failure(Exit("exited", 0, 1.0), [{"promote it": 1.0}], "val_acc", "done")
    assert why == "it reported no val_acc, only promote it; its log ends: done"
    assert told_apart(why) == ("it reported no val_acc", "only promote it; its log ends: done")


@pytest.mark.parametrize(
    ("reason", "own", "said"),
    [
        (WORKER_DIED, WORKER_DIED, ""),
        (f"{WORKER_DIED}; its log ends: epoch 1", WORKER_DIED, "its log ends: epoch 1"),
        (f"{NOT_STARTED}: there is no executor 'x' (see y)", f"{NOT_STARTED}: there is no executor 'x' (see y)", ""),
        (f"the worker was stopped; {NOT_KEPT}: no room", f"the worker was stopped; {NOT_KEPT}: no room", ""),
        (f"{NOT_RECORDED}: it is too long", f"{NOT_RECORDED}: it is too long", ""),
        ("promote N-2", "", "promote N-2"),
        ("its worker died and so promote N-2", "", "its worker died and so promote N-2"),
        ("", "", ""),
    ],
)
def test_what_falsify_would_not_say_of_a_failure_is_the_runs(reason, own, said):
    assert told_apart(reason) == (own, said)


# --- calling off --------------------------------------------------------------------------------------------


def test_a_run_that_is_cancelled_in_the_queue_is_never_executed(tmp_path):
    lab = Lab(tmp_path, f"(Path({str(tmp_path)!r}) / 'executed').touch()\n" + SUCCESS)
    lab.cancel(lab.queue())
    with lab.worker() as worker:
        worker.run_until_idle()
    assert not (tmp_path / "executed").exists()
    assert lab.endings() == {"R-1": 1}


def test_a_run_that_is_cancelled_while_it_goes_on_is_ended_and_leaves_nothing(tmp_path):
    lab = Lab(tmp_path, f"(Path({str(tmp_path)!r}) / 'pid').write_text(str(os.getpid()))\n" + FOREVER)
    lab.queue()
    with lab.worker() as worker:
        until(lambda: worker.tick() and (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        lab.cancel("R-1")
        worker.run_until_idle()
        assert not lives(int((tmp_path / "pid").read_text()))
    node = lab.project.nodes["N-1"]
    assert (lab.endings(), node.status, lab.evidence("R-1")) == ({"R-1": 1}, "READY", {})
    lab.check()


class Puppet:
    """An executor and its run: it ends well at once, and does something at a moment of one's choice."""

    keys = fixed = ()

    def __init__(self, moment, act):
        self._moment, self._act = moment, act

    def _pass(self, moment):
        if moment == self._moment:
            self._moment = ""
            self._act()

    @property
    def name(self):
        self._pass("evidence")
        return "puppet"

    def start(self, _order):
        self._pass("start")
        return self

    def poll(self):
        self._pass("poll")
        return Exit("exited", 0, 0.5)

    def metrics(self):
        self._pass("metrics")
        return [{"val_acc": 0.5}]

    def stop(self):
        return Exit("exited", 0, 0.5)


@pytest.mark.parametrize("moment", ["start", "poll", "metrics", "evidence"])
def test_a_run_that_ends_as_it_is_cancelled_ends_once(tmp_path, moment):
    lab = Lab(tmp_path)
    run = lab.run(executors=lambda _: Puppet(moment, lambda: lab.cancel("R-1")))
    assert (run.status, lab.endings(), lab.project.nodes["N-1"].status) == ("CANCELLED", {"R-1": 1}, "READY")
    lab.check()


def test_what_others_write_while_a_run_is_recorded_neither_loses_it_nor_takes_its_ids(tmp_path):
    lab = Lab(tmp_path)
    run = lab.run(executors=lambda _: Puppet("evidence", lambda: lab.append(world_round)))
    assert (run.status, len(lab.project.tickets)) == ("SUCCEEDED", 1)
    lab.check()


def world_round(sight):
    return join.create_tickets(sight.project, sight.graph, [world.idea()], author="owner", source="human")


# --- several workers ----------------------------------------------------------------------------------------


def test_two_workers_on_one_queue_execute_each_run_exactly_once(tmp_path):
    mark = f"(Path({str(tmp_path)!r}) / run).touch(exist_ok=False)\n"
    lab = Lab(tmp_path, mark + SUCCESS, run_seconds=20.0)
    lab.run()
    for width in range(100, 112):
        lab.queue(lab.branch(width=width))
    with serving(tmp_path, slots=2, executors=lab.executors), serving(tmp_path, slots=2, executors=lab.executors):
        until(lambda: not lab.project.active, seconds=60)
    assert {run.status for run in lab.project.runs.values()} == {"SUCCEEDED"}
    assert lab.endings() == {f"R-{number}": 1 for number in range(1, 14)}
    assert len({run.worker for run in lab.project.runs.values()}) == 3
    lab.check()


def test_the_run_that_has_waited_longest_in_any_project_comes_first(tmp_path):
    first, second = Lab(tmp_path), Lab(tmp_path, project="p2")
    second.queue()
    first.queue()
    told = []
    with first.worker(watch=told.append) as worker:
        worker.run_until_idle()
    assert [(each.project_id, each.run_id, each.status) for each in told] == [
        ("p2", "R-1", "RUNNING"),
        ("p2", "R-1", "SUCCEEDED"),
        ("p1", "R-1", "RUNNING"),
        ("p1", "R-1", "SUCCEEDED"),
    ]


def test_a_stream_of_beliefs_alone_is_no_project_to_work_for(tmp_path):
    lab = Lab(tmp_path)
    lab.workspace.ask("Which way?")
    assert lab.run().status == "SUCCEEDED"


# --- life and death -----------------------------------------------------------------------------------------


def test_a_worker_that_is_stopped_ends_its_runs_as_failed_at_once_and_they_can_be_repaired(tmp_path):
    lab = Lab(tmp_path, f"(Path({str(tmp_path)!r}) / run).write_text(str(os.getpid()))\n" + FOREVER)
    lab.queue()
    with lab.worker() as worker:
        until(lambda: worker.tick() and (tmp_path / "R-1").exists() and (tmp_path / "R-1").read_text())
    run = lab.project.runs["R-1"]
    assert (run.status, run.note, lab.project.nodes["N-1"].status) == ("FAILED", "the worker was stopped", "REPAIRABLE")
    assert not lives(int((tmp_path / "R-1").read_text()))
    lab.check()


def test_what_a_dead_worker_left_is_failed_with_what_it_had_reported(tmp_path):
    lab = Lab(tmp_path)
    HeldRun(lab.workbench, lab.queue(), "the-dead").take()
    place = tmp_path / ".falsify/runs/p1/R-1"
    (place / "out").mkdir(parents=True)
    (place / "log.txt").write_text("epoch 1\n")
    with lab.worker():
        pass
    run = lab.project.runs["R-1"]
    assert (run.status, run.note) == ("FAILED", "its worker died; its log ends: epoch 1")
    assert lab.evidence("R-1")["run_log", "log.txt"] == b"epoch 1\n"
    assert [path.name for path in place.iterdir()] == ["log.txt"]
    lab.check()


def test_the_runs_of_the_living_and_those_in_the_queue_are_left_alone(tmp_path):
    lab = Lab(tmp_path)
    HeldRun(lab.workbench, lab.queue(), "the-living").take()
    with Roster(tmp_path / ".falsify/workers").enlisted("the-living"), lab.worker() as worker:
        worker.reconcile()
    assert lab.project.runs["R-1"].status == "RUNNING"


def test_a_worker_that_comes_back_under_its_name_fails_what_it_had_left(tmp_path):
    lab = Lab(tmp_path)
    HeldRun(lab.workbench, lab.queue(), "again").take()
    with lab.worker(worker_id="again") as worker:
        worker.run_until_idle()
    assert lab.project.runs["R-1"].note == "its worker died"


def test_a_worker_whose_run_was_ended_by_others_stops_it_and_records_nothing(tmp_path):
    lab = Lab(tmp_path, f"(Path({str(tmp_path)!r}) / run).write_text(str(os.getpid()))\n" + FOREVER)
    lab.queue()
    with lab.worker() as worker:
        until(lambda: worker.tick() and (tmp_path / "R-1").exists() and (tmp_path / "R-1").read_text())
        lab.append(lambda s: runs.fail_run(s.project, "R-1", seconds=1.0, reason="its worker died"))
        worker.run_until_idle()
    assert not lives(int((tmp_path / "R-1").read_text()))
    assert (lab.endings(), lab.project.runs["R-1"].note) == ({"R-1": 1}, "its worker died")


def test_a_run_that_was_called_off_while_its_worker_was_dead_leaves_no_process(tmp_path):
    lab = Lab(tmp_path, f"(Path({str(tmp_path)!r}) / run).write_text(str(os.getpid()))\n" + FOREVER)
    held = HeldRun(lab.workbench, lab.queue(), "the-dead")
    held.take()
    process = lab.executors("script").start(held.order())
    until(lambda: (tmp_path / "R-1").exists() and (tmp_path / "R-1").read_text())
    lab.cancel("R-1")
    with lab.worker():
        assert process.stop().outcome == "exited"
    assert [path.name for path in held.place.path.iterdir()] == ["log.txt"]


def test_two_workers_cannot_have_one_name_and_it_is_free_again_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr("surfaces.running.roster._PATIENCE", 0.01)
    lab = Lab(tmp_path)
    with lab.worker(worker_id="w"), pytest.raises(ConflictError), lab.worker(worker_id="w"):
        pass
    with lab.worker(worker_id="w"):
        assert [path.name for path in (tmp_path / ".falsify/workers").iterdir()] == ["w.lock"]
    assert list((tmp_path / ".falsify/workers").iterdir()) == []


@pytest.mark.parametrize("name", ["../w", "a/b", ".w", "w" * 101])
def test_a_name_that_is_no_file_names_no_worker(tmp_path, name):
    lab = Lab(tmp_path)
    with pytest.raises(InvalidInputError), lab.worker(worker_id=name):
        pass


def test_what_cannot_be_written_now_is_written_later(tmp_path, monkeypatch):
    lab = Lab(tmp_path)
    monkeypatch.setattr(worker_module, "PATIENCE", 0.01)
    append, refused = EventLog.append, []

    def full(log, stream, events, **more):
        if isinstance(events[-1], RunSucceeded | RunStarted) or events[0].kind == "run.metrics_reported":
            kind = events[-1].kind
            if kind not in refused:
                refused.append(kind)
                raise UnavailableError("the disk is full")
        return append(log, stream, events, **more)

    monkeypatch.setattr(EventLog, "append", full)
    told = []
    run = lab.run(watch=told.append)
    assert (run.status, len(refused)) == ("SUCCEEDED", 2)
    assert [each.note for each in told if not each.run_id] == ["the disk is full; this is tried again"] * 2
    lab.check()


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO])
def test_a_worker_that_can_open_no_file_says_so_once_and_begins_the_run_when_it_can(tmp_path, monkeypatch, code):
    monkeypatch.setattr(worker_module, "PATIENCE", 0.01)
    monkeypatch.setattr(worker_module, "RECONCILE", 0.0)  # nor does it take the run for one that a dead worker left
    lab, asked, told = Lab(tmp_path), [], []

    def starved(name):
        asked.append(name)
        if len(asked) <= 3:
            raise OSError(code, os.strerror(code))
        return lab.executors(name)

    assert lab.run(executors=starved, watch=told.append).status == "SUCCEEDED"
    assert [each.note for each in told if each.status is None] == [f"{os.strerror(code)}; this is tried again"]
    assert lab.endings() == {"R-1": 1}
    lab.check()


def test_a_run_whose_process_cannot_be_started_for_want_of_files_is_started_later(tmp_path, monkeypatch):
    monkeypatch.setattr(worker_module, "PATIENCE", 0.01)
    lab, failures, told = Lab(tmp_path), [OSError(errno.EMFILE, "too many"), OSError(errno.ENOMEM, "no memory")], []
    popen = local._popen

    def starved(*given):
        if failures:
            raise failures.pop(0)
        return popen(*given)

    monkeypatch.setattr(local, "_popen", starved)
    assert lab.run(watch=told.append).status == "SUCCEEDED"
    assert [each.status for each in told] == ["RUNNING", None, None, "SUCCEEDED"]
    lab.check()


def test_a_run_that_waits_for_its_start_is_dropped_when_it_is_called_off_and_failed_when_its_worker_ends(tmp_path):
    def starved(_name):
        raise OSError(errno.EMFILE, "too many open files")

    lab = Lab(tmp_path)
    run_id = lab.queue()
    with lab.worker(executors=starved) as worker:
        worker.tick()
        running = lab.project.runs[run_id].status
        lab.cancel(run_id)
        worker._rest = 0.0
        assert not worker.tick()
        again = lab.queue()
        worker.tick()
    assert (running, lab.project.runs[run_id].status) == ("RUNNING", "CANCELLED")
    assert lab.project.runs[again].note == "it could not be started: its worker was stopped"
    lab.check()


def test_a_worker_that_ends_by_a_bug_while_it_serves_is_told_of_and_replaced(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(worker_module, "RESTART", 0.01)
    lab, bugs = Lab(tmp_path), [ZeroDivisionError("a bug"), OSError("another")]
    tick = Worker.tick

    def spoilt(worker, **options):
        if bugs:
            raise bugs.pop(0)
        return tick(worker, **options)

    monkeypatch.setattr(Worker, "tick", spoilt)
    run_id = lab.queue()
    with serving(tmp_path, executors=lab.executors):
        until(lambda: not lab.project.active)
    assert lab.project.runs[run_id].status == "SUCCEEDED"
    assert [each.getMessage() for each in caplog.records] == ["the worker ended; another takes its place"] * 2
    assert list((tmp_path / ".falsify/workers").glob("*.lock")) == []


def test_a_worker_that_cannot_begin_to_serve_is_an_error_of_whoever_wants_it(tmp_path):
    with pytest.raises(NotFoundError), serving(tmp_path / "nowhere"):
        pass


def test_trouble_of_a_worker_that_serves_is_told_where_the_server_tells_things(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(worker_module, "PATIENCE", 0.01)
    lab, refused = Lab(tmp_path), []

    def starved(name):
        if len(refused) < 3:
            refused.append(name)
            raise OSError(errno.EMFILE, "too many open files")
        return lab.executors(name)

    lab.queue()
    with serving(tmp_path, executors=starved):
        until(lambda: not lab.project.active)
    assert [each.getMessage() for each in caplog.records] == ["too many open files; this is tried again"]


def test_the_budget_pays_what_runs_took_and_no_more(tmp_path):
    lab = Lab(tmp_path, SUCCESS, budget_seconds=60.0)
    lab.run()
    left = runs.budget(lab.project)
    assert (left.runs_used, left.seconds_reserved, left.seconds_spent) == (1, 0.0, lab.project.runs["R-1"].seconds)
    assert 0.0 < left.seconds_spent < 30.0


# --- waiting ------------------------------------------------------------------------------------------------


def test_whoever_waits_for_a_run_executes_what_comes_before_it_and_sees_how_far_it_is(tmp_path):
    slow = "for epoch in range(1, 9):\n    report(epoch=epoch, val_acc=epoch / 10)\n    time.sleep(0.05)"
    lab = Lab(tmp_path, slow)
    lab.run()
    first, second, third = (lab.queue(lab.branch(width=width)) for width in (2, 3, 4))
    shown = []
    told = wait(lab.workspace, "p1", second, show=shown.append, executors=lab.executors)
    statuses = [lab.project.runs[each].status for each in (first, second, third)]
    assert (statuses, told.run.id, told.latest) == (["SUCCEEDED", "SUCCEEDED", "QUEUED"], second, 0.8)
    assert list(dict.fromkeys(each.run.status for each in shown)) == ["QUEUED", "RUNNING", "SUCCEEDED"]
    assert len({len(each.lines) for each in shown}) > 1
    assert (shown[-1].share, [line["epoch"] for line in told.lines]) == (1.0, list(range(1, 9)))


def test_a_run_that_another_worker_has_is_followed_and_nothing_else_begun(tmp_path):
    lab = Lab(tmp_path, "report(epoch=1, val_acc=0.5)\ntime.sleep(0.5)")
    lab.run()
    one, other = lab.queue(lab.branch(width=2)), lab.queue(lab.branch(width=3))
    with serving(tmp_path, executors=lab.executors):
        until(lambda: lab.project.runs[one].status == "RUNNING")
        told = wait(lab.workspace, "p1", one, executors=lambda _: Puppet("start", lambda: pytest.fail("it was begun")))
        until(lambda: not lab.project.active)
    assert (told.run.status, lab.project.runs[one].worker) == ("SUCCEEDED", lab.project.runs[other].worker)


def test_a_run_that_has_ended_is_not_waited_for(tmp_path):
    lab = Lab(tmp_path)
    ended = lab.run()
    assert wait(lab.workspace, "p1", ended.id, executors=lab.executors).run == ended


@pytest.mark.parametrize(
    ("epochs", "line", "share"),
    [(8, {"epoch": 2.0}, 0.25), (0, {"epoch": 2.0}, 0.5), (8, {"loss": 2.0}, 0.5), (1, {"epoch": 2.0}, 1.0)],
)
def test_how_far_a_run_is_goes_by_its_epochs_where_it_is_known_how_many(tmp_path, epochs, line, share):
    lab = Lab(tmp_path)
    HeldRun(lab.workbench, lab.queue(), "w").take()
    run = lab.project.runs["R-1"]
    told = Progress(run=run, metric="val_acc", lines=[line], seconds=run.limit_seconds / 2, epochs=epochs)
    assert told.share == share


# --- the built-in trainer, and the commands -----------------------------------------------------------------


@pytest.fixture
def trained(tmp_path):
    """Return a workspace whose project trains a tiny network."""
    tiny = replace(
        world.contract(),
        keys=trainer.KEYS,
        base={**trainer.DEFAULTS, "epochs": 4, "points": 60},
        executor="builtin",
    )
    Lab(tmp_path, project="moons", contract=checked(tiny, trainer.KEYS, trainer.FIXED)).workspace.close()
    return tmp_path


@dataclass
class Told:
    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        return json.loads(self.stdout)


@pytest.fixture
def falsify(capfd, monkeypatch):
    """Run a command in a workspace, whose project is `moons`; return what it says."""
    monkeypatch.setenv("PYTHONPATH", PATHS)

    def run(root, *words):
        capfd.readouterr()
        code = cli.run(["-w", str(root), "--project", "moons", *words])
        return Told(code, *capfd.readouterr())

    return run


PATHS = f"{Path(__file__).parent.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"


def test_run_start_with_wait_trains_the_network_and_shows_its_curve(trained, falsify):
    told = falsify(trained, "run", "start", "N-1", "--reason", "measure it", "--wait")
    assert told.exit_code == 0, told.stderr
    assert "R-1  QUEUED  of N-1, attempt 1, at most 60 s" in told.stdout
    assert "R-1 of N-1  SUCCEEDED after" in told.stdout
    assert "└───" in told.stdout
    with Workspace.open(trained) as workspace:
        exhibits = [each.exhibit for each in Workbench(workspace, "moons").project.evidence.values()]
    names = {(each.kind, each.name, each.media_type) for each in exhibits}
    assert names == {
        ("metric", "metrics.json", "application/json"),
        ("curve", "curve.json", "application/json"),
        ("diff", "diff.json", "application/json"),
        ("run_log", "log.txt", "text/plain; charset=utf-8"),
        ("environment", "environment.json", "application/json"),
        ("artifact", "boundary.json", "application/json"),
        ("artifact", "boundary.png", "image/png"),
    }


def test_run_start_with_wait_and_json_says_what_run_show_says(trained, falsify):
    told = falsify(trained, "run", "start", "N-1", "--reason", "measure it", "--wait", "--json")
    assert (told.exit_code, told.json) == (0, falsify(trained, "run", "show", "R-1", "--json").json)
    assert told.json["result"]["status"] == "SUCCEEDED"


def test_a_run_that_fails_ends_the_command_with_1(trained, falsify):
    (trained / "falsify.toml").write_text("[executor.other]\nargv = ['true']\n")
    with Workspace.open(trained) as workspace:
        lab = Workbench(workspace, "moons")
        terms = replace(lab.project.contract, executor="other")
        lab.append(lambda _: [ContractAmended(contract=terms)], tool="test", actor="owner")
    told = falsify(trained, "run", "start", "N-1", "--reason", "measure it", "--wait")
    assert (told.exit_code, told.stderr) == (1, "")
    assert told.stdout.splitlines()[-1] == "  it reported no val_acc"


def test_a_worker_empties_the_queue_and_tells_every_change(trained, falsify):
    falsify(trained, "run", "start", "N-1", "--reason", "measure it")
    told = falsify(trained, "worker", "--once", "--json")
    (ended,) = told.json["runs"]
    assert (told.exit_code, ended["status"], told.json["succeeded"], told.json["failed"]) == (0, "SUCCEEDED", 1, 0)
    assert told.stderr.splitlines() == [
        "moons R-1 RUNNING: N-1, executor builtin",
        f"moons R-1 SUCCEEDED after {ended['seconds']:g} s",
    ]
    assert falsify(trained, "worker", "--idle-exit", "0").stdout == "0 runs ended: 0 succeeded, 0 failed, 0 cancelled\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_worker_that_is_asked_to_end_fails_what_goes_on_and_ends(tmp_path, number, code):
    lab = Lab(tmp_path, f"(Path({str(tmp_path)!r}) / run).write_text(str(os.getpid()))\n" + FOREVER)
    (tmp_path / "falsify.toml").write_text("[executor.script]\nargv = ['{python}', 'experiment.py']\n")
    lab.queue()
    words = [sys.executable, "-m", "cli", "-w", str(tmp_path), "worker"]
    environ = {**os.environ, "PYTHONPATH": PATHS}
    worker = subprocess.Popen(words, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: (tmp_path / "R-1").exists() and (tmp_path / "R-1").read_text())
    worker.send_signal(number)
    told, _ = worker.communicate(timeout=30)
    assert (worker.returncode, told) == (code, "1 run ended: 0 succeeded, 1 failed, 0 cancelled\n")
    assert (lab.project.runs["R-1"].note, lab.project.nodes["N-1"].status) == ("the worker was stopped", "REPAIRABLE")
    assert not lives(int((tmp_path / "R-1").read_text()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_waits_for_a_run_and_is_asked_to_end_leaves_none_behind(tmp_path, number):
    lab = Lab(tmp_path, f"(Path({str(tmp_path)!r}) / run).write_text(str(os.getpid()))\n" + FOREVER)
    (tmp_path / "falsify.toml").write_text("[executor.script]\nargv = ['{python}', 'experiment.py']\n")
    words = [sys.executable, "-m", "cli", "-w", str(tmp_path), "--project", "p1", "run", "start", "N-1", "--wait"]
    environ = {**os.environ, "PYTHONPATH": PATHS}
    waiting = subprocess.Popen(words, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: (tmp_path / "R-1").exists() and (tmp_path / "R-1").read_text())
    waiting.send_signal(number)
    _, err = waiting.communicate(timeout=30)
    assert (waiting.returncode, err.strip()) == (130, "interrupted; nothing is half-written")
    assert (lab.project.runs["R-1"].note, lab.project.nodes["N-1"].status) == ("the worker was stopped", "REPAIRABLE")
    assert not lives(int((tmp_path / "R-1").read_text()))


def test_runs_are_listed_by_status_and_cancelled_with_a_reason(trained, falsify):
    falsify(trained, "run", "start", "N-1", "--reason", "measure it")
    told = falsify(trained, "run", "cancel", "R-1", "--reason", "not wanted")
    assert (told.exit_code, told.stdout.splitlines()[0]) == (0, "R-1  CANCELLED  of N-1")
    (row,) = falsify(trained, "run", "list", "--status", "CANCELLED", "--json").json
    assert (row["id"], row["status"], row["note"], row["value"]) == ("R-1", "CANCELLED", "not wanted", None)
    assert falsify(trained, "run", "list", "--status", "FAILED").stdout == "there is no such run\n"


def test_a_run_is_shown_with_its_curve_and_its_log_without_what_a_terminal_would_obey(tmp_path, falsify):
    lab = Lab(tmp_path, SUCCESS + "\nprint('\\x1b[2Jred')", project="moons")
    lab.run()
    told = falsify(tmp_path, "run", "show", "R-1", "--log", "--curve", str(tmp_path / "curve.svg"))
    assert told.exit_code == 0, told.stderr
    assert "SUCCEEDED" in told.stdout
    assert "└───" in told.stdout
    assert "red" in told.stdout
    assert "\x1b" not in told.stdout
    assert "<polyline" in (tmp_path / "curve.svg").read_text()
