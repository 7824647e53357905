"""kill -9 of a worker at any moment: no run is lost, executed twice or ended twice, and nothing of one is left."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.test_worker import PATHS, Lab

ROUNDS = int(os.environ.get("FALSIFY_CRASH_ROUNDS", "50"))

NURSERY = """\
import os, sys
import cli, surfaces.commands.worker, surfaces.lines.run, surfaces.stories, falsify.executors.local

for line in sys.stdin:
    child = os.fork()
    if not child:
        os._exit(cli.run(line.split()))
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Forks workers, so that each is a process of its own that need not import everything first."""

EXPERIMENT = """\
import subprocess
root = Path(__file__).parent
os.close(os.open(root / "begun" / run, os.O_CREAT | os.O_EXCL))
number = int(run[2:])
if number % 4 == 0:
    subprocess.Popen(["sleep", "600"], start_new_session=number % 8 == 0)
for epoch in range(1, 4 + number % 3):
    time.sleep(0.04)
    report(epoch=epoch, val_acc=config["width"] / 1000)
(out / "weights.txt").write_text(run)
(root / "ended" / run).touch()
"""


class Nursery:
    """Where workers come from."""

    def __init__(self, root):
        environ = {**os.environ, "PYTHONPATH": PATHS}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen([sys.executable, "-c", NURSERY], env=environ, text=True, **pipes)
        self._words = f"-w {root} worker --json"

    def begin(self, *words):
        """Begin a worker; return its process."""
        self._process.stdin.write(f"{self._words} {' '.join(words)}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def ended(self):
        """Wait for the worker to end; return its exit code."""
        line = self._process.stdout.readline()
        while line.strip() and not line.strip().lstrip("-").isdigit():  # what it printed
            line = self._process.stdout.readline()
        return int(line)

    def close(self):
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


def fill(lab):
    """See to it that a few runs are queued: of nodes whose runs failed, and of new ones."""
    nodes = lab.project.nodes.values()
    repairable = [n.id for n in nodes if n.status == "REPAIRABLE" and n.run_ids[-1] not in lab.project.active]
    while len(lab.project.active) < 4:
        lab.queue(repairable.pop() if repairable else lab.branch(width=100 + len(lab.project.nodes)))


def processes(root):
    """Return the processes that belong to a run below a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"FALSIFY_RUN_DIR={root}".encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process was started with")
def test_workers_that_are_killed_at_any_moment_lose_no_run_and_execute_none_twice(tmp_path):
    chance = random.Random(20261130)
    (tmp_path / "falsify.toml").write_text("[executor.script]\nargv = ['{python}', 'experiment.py']\n")
    for name in ("begun", "ended"):
        (tmp_path / name).mkdir()
    lab = Lab(tmp_path, EXPERIMENT, budget_runs=1000, budget_seconds=100_000.0, run_seconds=20.0)
    nursery = Nursery(tmp_path)
    lab.queue()
    nursery.begin("--once")
    assert nursery.ended() == 0
    for _ in range(ROUNDS):
        fill(lab)
        worker = nursery.begin("--slots", "2")
        time.sleep(chance.uniform(0.0, 1.0))
        os.kill(worker, signal.SIGKILL)
        assert nursery.ended() == -signal.SIGKILL
    nursery.begin("--once", "--slots", "2")
    assert nursery.ended() == 0
    nursery.close()

    runs = lab.project.runs.values()
    succeeded = {run.id for run in runs if run.status == "SUCCEEDED"}
    failed = {run.note.partition(";")[0] for run in runs if run.status == "FAILED"}
    begun, ended = ({path.name for path in (tmp_path / name).iterdir()} for name in ("begun", "ended"))
    assert set(lab.endings().values()) == {1}
    assert failed == {"its worker died"}  # and not the exit code of a second beginning
    assert succeeded <= ended <= begun
    assert {run.status for run in runs} == {"SUCCEEDED", "FAILED"}
    assert processes(tmp_path) == []
    assert {path.name for path in (tmp_path / ".falsify/runs/p1").glob("*/*")} <= {"log.txt"}
    assert list((tmp_path / ".falsify/workers").iterdir()) == []
    assert lab.workspace.log.verify().ok
    lab.check()
