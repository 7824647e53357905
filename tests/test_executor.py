"""A run is a process of its own: it gets what it needs, takes no more than it may, and nothing of it is left behind."""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from falsify.config_keys import parse_key
from falsify.errors import InvalidInputError, UnavailableError
from falsify.executors import local, trainer
from falsify.executors.command import PASSED, PLACEHOLDERS, PRESET
from falsify.executors.local import Command, Limits, LocalExecutor, end_orphan
from falsify.executors.metrics_file import LONGEST, MOST_LINES, MetricsFile
from falsify.executors.run_log import Excerpt
from falsify.executors.shim import ABANDONED, NOT_FOUND, NOT_RUNNABLE, main, started
from falsify.ports import RunOrder

LINUX = sys.platform == "linux"
GUARDED = ("PYTHONPATH", "FALSIFY_TEST_NETWORK")  # what keeps the tests' own children off the network
SLEEP = "[sys.executable, '-c', 'import time; time.sleep(600)']"
IGNORANT = "[sys.executable, '-c', 'import signal, time; signal.signal(15, 1); print(1, flush=True); time.sleep(600)']"

linux_only = pytest.mark.skipif(not LINUX, reason="only Linux says what a process was started with")


class Runs:
    """Runs scripts, each run in a folder of its own below `root`."""

    def __init__(self, root):
        self.root = root
        self.mark = uuid.uuid4().hex
        self.started = []

    def executor(self, source, *, argv=("{python}", "{script}"), name="script", **fields):
        script = self.root / "script.py"
        script.write_text(f"import json, os, signal, subprocess, sys, time\nfrom pathlib import Path\n{source}\n")
        line = tuple(str(script) if word == "{script}" else word for word in argv)
        return LocalExecutor(Command(name=name, argv=line, **{"cwd": self.root, "env": GUARDED, **fields}))

    def order(self, *, config=None, seconds=60.0):
        number = len(self.started)
        return RunOrder(
            f"R-{number}-{self.mark}", {"seed": 7, **(config or {})}, str(self.root / "runs" / str(number)), seconds
        )

    def start(self, source, *, config=None, seconds=60.0, **fields):
        run = self.executor(source, **fields).start(self.order(config=config, seconds=seconds))
        self.started.append(run)
        return run

    def folder(self, number=0):
        return self.root / "runs" / str(number)

    def log(self):
        return (self.folder() / "log.txt").read_text(encoding="utf-8")

    def processes(self):
        """Return the processes on this machine that belong to a run of this test."""
        return {pid for pid in pids() if self.mark.encode() in environment(pid)}


def pids():
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]


def environment(pid):
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def until(condition, *, seconds=20):
    """Wait for something that must come to pass."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it never came to pass"
        time.sleep(0.01)
    return found


def ended(run):
    """Return how a run ended, but for how long it took."""
    told = until(run.poll)
    return told.outcome, told.code


@pytest.fixture
def runs(tmp_path):
    runs = Runs(tmp_path)
    yield runs
    for run in runs.started:
        run.stop()
    if LINUX:
        assert runs.processes() == set(), "a run leaves nothing behind"


@pytest.fixture
def later(monkeypatch):
    """Make the time of runs go on by a number of seconds, without waiting for it."""

    def advance(seconds):
        monkeypatch.setattr(local, "monotonic", lambda: time.monotonic() + seconds)

    return advance


# --- what a run is given, and what it gives --------------------------------------------------------------------


def test_a_run_reads_its_configuration_and_leaves_metrics_a_log_and_artifacts(runs):
    run = runs.start(
        """
config = json.loads(Path(os.environ["FALSIFY_CONFIG"]).read_text())
with open(os.environ["FALSIFY_METRICS"], "a") as file:
    for epoch in range(2):
        file.write(json.dumps({"epoch": epoch, "loss": config["rate"] + epoch}) + "\\n")
Path(os.environ["FALSIFY_RUN_DIR"], "model.txt").write_text(str(config["seed"]))
print("trained", os.environ["FALSIFY_RUN_ID"])
print("well", file=sys.stderr)
""",
        config={"rate": 0.5},
    )
    assert ended(run) == ("exited", 0)
    assert run.metrics() == [{"epoch": 0, "loss": 0.5}, {"epoch": 1, "loss": 1.5}]
    assert (run.metrics(), run.malformed) == ([], 0)
    assert runs.log() == f"trained R-0-{runs.mark}\nwell\n"
    assert json.loads((runs.folder() / "config.json").read_text()) == {"seed": 7, "rate": 0.5}
    assert {path.relative_to(runs.folder()).as_posix() for path in runs.folder().rglob("*")} == {
        *("config.json", "metrics.jsonl", "log.txt", "process.json", "out", "out/model.txt")
    }
    assert (runs.folder() / "out" / "model.txt").read_text() == "7"


def test_the_process_that_is_written_down_is_the_command_itself_at_the_head_of_its_own_group(runs):
    run = runs.start("print(json.dumps([os.getpid(), os.getpgid(0), os.getsid(0)]), flush=True); time.sleep(600)")
    pid, group, session = json.loads(until(lambda: (runs.folder() / "log.txt").exists() and runs.log()))
    assert pid == group == session
    assert json.loads((runs.folder() / "process.json").read_text()) == {
        "pid": pid,
        "pgid": pid,
        "started": started(pid),
        "run_id": f"R-0-{runs.mark}",
    }
    run.stop()
    assert started(pid) == ""


def test_every_placeholder_of_the_command_line_is_filled_in_and_no_shell_reads_it(runs):
    line = ("{python}", "{script}", "--out={out}", "{config}", "{metrics}", "{seed}", "{{}}", "$HOME; *")
    assert ended(runs.start("print(json.dumps([sys.executable, *sys.argv[1:]]))", argv=line)) == ("exited", 0)
    folder = runs.folder()
    assert json.loads(runs.log()) == [
        *(sys.executable, f"--out={folder}/out", f"{folder}/config.json", f"{folder}/metrics.jsonl"),
        *("7", "{}", "$HOME; *"),
    ]


@pytest.mark.parametrize(
    "word", ["{pyhton}", "{}", "{0}", "{seed:>9}", "{seed!r}", "{seed.real}", "{seed", "seed}", "\0"]
)
def test_a_placeholder_that_is_not_known_is_refused_before_anything_runs(tmp_path, word):
    with pytest.raises(InvalidInputError) as refused:
        Command(name="x", argv=("{python}", word), cwd=tmp_path)
    assert all(f"{{{name}}}" in refused.value.hint for name in PLACEHOLDERS)


@pytest.mark.parametrize(
    "fields", [{"argv": ()}, {"argv": ("",)}, {"env": ("A=B",)}, {"env": ("",)}, {"fixed_env": {"A\0": "1"}}]
)
def test_a_command_that_could_not_be_started_is_refused_before_anything_runs(tmp_path, fields):
    with pytest.raises(InvalidInputError):
        Command(**{"name": "x", "argv": ("true",), "cwd": tmp_path, **fields})


@pytest.mark.parametrize("fields", [{"timeout_seconds": 0}, {"log_bytes": 10}, {"memory_mb": -1}, {"nice": -5}])
def test_limits_that_make_no_sense_are_refused(fields):
    with pytest.raises(InvalidInputError):
        Limits(**fields)


def test_a_command_sees_what_it_needs_and_what_it_is_promised_and_no_secret(runs, monkeypatch):
    for name, value in {"LLM_API_KEY": "secret", "AWS_SECRET": "secret", "GPU": "0", "OMP_NUM_THREADS": "8"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LANG", "C.UTF-8")
    run = runs.start("print(json.dumps(dict(os.environ)))", env=("GPU", "UNSET"), fixed_env={"MKL_NUM_THREADS": "2"})
    assert ended(run) == ("exited", 0)
    folder = runs.folder()
    seen = json.loads(runs.log())
    assert {name: value for name, value in seen.items() if name not in PASSED} == {
        **PRESET,
        "MKL_NUM_THREADS": "2",
        "GPU": "0",
        "FALSIFY_RUN_ID": f"R-0-{runs.mark}",
        "FALSIFY_CONFIG": f"{folder}/config.json",
        "FALSIFY_RUN_DIR": f"{folder}/out",
        "FALSIFY_METRICS": f"{folder}/metrics.jsonl",
    }
    assert (seen["PATH"], seen["HOME"]) == (os.environ["PATH"], os.environ["HOME"])


def test_standard_input_is_empty(runs):
    assert ended(runs.start("print(repr(sys.stdin.read()))")) == ("exited", 0)
    assert runs.log() == "''\n"


def test_modules_in_the_folder_of_the_command_are_not_taken_for_those_that_start_it(runs):
    for name in ("json", "resource", "signal", "falsify"):
        (runs.root / f"{name}.py").write_text("raise SystemExit(99)")
    assert ended(runs.start("", argv=("true",))) == ("exited", 0)


@linux_only
def test_a_command_ignores_no_signal_because_python_started_it(runs):
    assert ended(runs.start("", argv=("grep", "SigIgn", "/proc/self/status"))) == ("exited", 0)
    ignored = int(runs.log().split()[1], 16)
    assert ignored & ~(1 << 31 | 1 << 32) == 0  # 32 and 33 are the C library's own: nobody can take them back


def test_an_executor_has_the_name_and_the_keys_of_its_command(runs):
    keys, fixed = (parse_key("width=int:[1,512]"),), (parse_key("epochs=int:[1,9]"),)
    executor = runs.executor("", name="mine", keys=keys, fixed=fixed)
    assert (executor.name, executor.keys, executor.fixed) == ("mine", keys, fixed)


def test_the_built_in_trainer_is_run_as_any_other_command(runs):
    config = {**trainer.DEFAULTS, "epochs": 2, "points": 40}
    run = runs.start("", argv=trainer.COMMAND_ARGV, cwd=Path(__file__).parent.parent, config=config)
    assert (ended(run), run.malformed) == (("exited", 0), 0), runs.log()
    assert [line["epoch"] for line in run.metrics()] == [1, 2]
    assert "environment.json" in [each.name for each in (runs.folder() / "out").iterdir()]


# --- how a run ends --------------------------------------------------------------------------------------------


def test_a_run_that_fails_ends_with_its_own_exit_code(runs):
    assert ended(runs.start("sys.exit(7)")) == ("exited", 7)


def test_a_run_that_a_signal_ends_says_which(runs):
    assert ended(runs.start("os.kill(os.getpid(), signal.SIGSEGV)")) == ("exited", -signal.SIGSEGV)


def test_a_command_that_does_not_exist_ends_with_127_and_its_log_says_so(runs):
    assert ended(runs.start("", argv=("no-such-command",))) == ("exited", NOT_FOUND)
    assert runs.log() == "falsify: there is no command 'no-such-command'\n"


def test_a_command_that_is_no_program_ends_with_126_and_its_log_says_so(runs):
    assert ended(runs.start("", argv=("{script}",))) == ("exited", NOT_RUNNABLE)
    assert re.fullmatch(r"falsify: the command '.*script.py' cannot be run: .*Permission denied.*\n", runs.log())


def test_a_run_in_a_folder_that_is_not_there_is_refused(runs):
    with pytest.raises(UnavailableError, match="R-0"):
        runs.start("", cwd=runs.root / "nowhere")


def test_a_folder_holds_one_run_only(runs):
    assert ended(runs.start("")) == ("exited", 0)
    runs.started.clear()
    with pytest.raises(UnavailableError, match="holds a run already"):
        runs.start("")


def test_a_run_that_somebody_else_has_waited_for_has_vanished(runs):
    run = runs.start("")
    os.waitpid(run._process.pid, 0)
    assert ended(run)[0] == "vanished"


def test_a_run_outlives_the_thread_that_started_it(runs):
    thread = threading.Thread(
        target=runs.start, args=("while not Path('go').exists(): time.sleep(0.01)\nprint('gone')",)
    )
    thread.start()
    thread.join()
    (run,) = runs.started
    until((runs.folder() / "process.json").exists)
    (runs.root / "go").touch()
    assert (ended(run), runs.log()) == (("exited", 0), "gone\n")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is nothing to fork")
def test_a_forked_process_can_start_runs_of_its_own(runs):
    assert ended(runs.start("")) == ("exited", 0)
    there = Runs(runs.root / "forked")
    there.root.mkdir()
    child = multiprocessing.get_context("fork").Process(
        target=lambda: sys.exit(0 if ended(there.start("sys.exit(3)")) == ("exited", 3) else 1)
    )
    child.start()
    child.join(20)
    assert child.exitcode == 0


# --- limits ----------------------------------------------------------------------------------------------------


def test_a_run_cannot_have_more_memory_than_its_limit(runs):
    run = runs.start("bytearray(8 << 30)", limits=Limits(memory_mb=1024))
    if not LINUX:
        pytest.skip("only Linux limits memory")
    assert ended(run) == ("exited", 1)
    assert runs.log().endswith("MemoryError\n")


def test_a_run_cannot_write_a_file_that_is_larger_than_its_limit(runs):
    run = runs.start("Path(os.environ['FALSIFY_RUN_DIR'], 'big').write_bytes(bytes(3 << 20))", limits=Limits(file_mb=1))
    assert ended(run) == ("exited", 1)
    assert "File too large" in runs.log()
    assert (runs.folder() / "out" / "big").stat().st_size == 1 << 20


def test_a_run_cannot_compute_for_longer_than_its_limit(runs):
    assert ended(runs.start("while True: pass", limits=Limits(cpu_seconds=1))) == ("exited", -signal.SIGXCPU)


def test_the_limits_of_a_run_are_those_of_its_command_and_its_time(runs):
    source = (
        "import resource as r; print([r.getrlimit(getattr(r, 'RLIMIT_' + name)) for name in ('CPU', 'FSIZE', 'CORE')])"
    )
    run = runs.start(source, seconds=10.5, limits=Limits(file_mb=2, grace_seconds=1.5))
    assert ended(run) == ("exited", 0)
    cpu = 12 * os.cpu_count()
    assert json.loads(runs.log().replace("(", "[").replace(")", "]")) == [[cpu, cpu + 2], [2 << 20, 2 << 20], [0, 0]]


def test_what_a_run_prints_is_read_to_the_end_and_kept_up_to_its_limit(runs):
    run = runs.start("sys.stdout.write(''.join(f'line {n}\\n' for n in range(200_000)))")
    assert ended(run) == ("exited", 0)
    printed = "".join(f"line {n}\n" for n in range(200_000))
    head, left_out, tail = re.fullmatch(r"(.*)\n\[(\d+) bytes left out\]\n(.*)", runs.log(), re.DOTALL).groups()
    assert (printed.startswith(head), printed.endswith(tail)) == (True, True)
    assert len(head) + int(left_out) + len(tail) == len(printed)
    assert 60_000 < len(runs.log()) <= 64 * 1024


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("step", [1, 7, 600, 5000])
def test_an_excerpt_is_whole_if_it_fits_and_else_the_first_half_and_the_tail(size, step):
    content, excerpt = bytes(65 + n % 26 for n in range(size)), Excerpt(1024)
    for start in range(0, size, step):
        excerpt.add(content[start : start + step])
    if size <= 1024:
        assert excerpt.text() == content
    else:
        note = f"\n[{size - 512 - 448} bytes left out]\n".encode()
        assert excerpt.text() == content[:512] + note + content[-448:]


# --- metrics ---------------------------------------------------------------------------------------------------


def test_a_run_that_measures_nothing_has_no_metrics(runs):
    run = runs.start("")
    assert (ended(run), run.metrics(), run.malformed) == (("exited", 0), [], 0)


def test_metrics_are_there_while_the_run_goes_on(runs):
    run = runs.start(
        "with open(os.environ['FALSIFY_METRICS'], 'a') as file: file.write('{\"a\": 1}\\n{\"a\"')\ntime.sleep(600)"
    )
    assert (until(run.metrics), run.poll()) == ([{"a": 1}], None)
    assert (run.stop().outcome, run.metrics(), run.malformed) == ("stopped", [], 1)


@pytest.mark.parametrize(
    ("written", "metrics", "malformed"),
    [
        (b'{"a": NaN, "b": Infinity, "c": -Infinity, "d": null}\n', [{"a": None, "b": None, "c": None, "d": None}], 0),
        (b'{"a": 1e999, "b": 1' + b"0" * 400 + b"}\n", [{"a": None, "b": None}], 0),
        (b'{"a": 1, "note": "x", "ok": true, "list": [1]}\n', [{"a": 1}], 3),
        (b'[1]\n3\n"x"\n{}\n{"a": "x"}\nloss=3\n\xff\n', [], 7),
        (b'\n \r\n{"a": 1}\r\n', [{"a": 1}], 0),
        (b"[" * 60_000 + b"\n", [], 1),
        (b'{"a": 1' + b" " * LONGEST + b'}\n{"b": 2}\n', [{"b": 2}], 1),
        (b"x" * 1_000_000, [], 1),
        (b'{"a": 1}\n{"b": 2}', [{"a": 1}, {"b": 2}], 0),
        (b'{"a": 1}\n{"b": 2', [{"a": 1}], 1),
    ],
)
def test_of_what_is_written_as_metrics_the_numbers_are_taken_and_the_rest_is_counted(
    tmp_path, written, metrics, malformed
):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(written)
    file = MetricsFile(path)
    assert (file.read(ended=True), file.malformed) == (metrics, malformed)
    assert (file.read(ended=True), file.malformed) == ([], malformed)


def test_a_line_is_taken_when_it_is_complete_however_it_is_cut(tmp_path):
    path, taken = tmp_path / "metrics.jsonl", []
    file = MetricsFile(path)
    with path.open("ab", buffering=0) as writer:
        for byte in b'{"a": 1}\n{"b": 2}\n':
            writer.write(bytes([byte]))
            taken.append(len(file.read()))
    assert taken == [0] * 8 + [1] + [0] * 8 + [1]


def test_lines_without_end_are_counted_and_not_kept(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"a":1}\n' * (MOST_LINES + 5))
    file = MetricsFile(path)
    assert (len(file.read()), file.malformed) == (MOST_LINES, 5)


@pytest.mark.parametrize("replace", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero"), lambda path: path])
def test_nothing_waits_for_a_file_of_metrics_that_is_something_else_or_gone(tmp_path, replace):
    replace(tmp_path / "metrics.jsonl")
    assert MetricsFile(tmp_path / "metrics.jsonl").read(ended=True) == []


# --- an end that is not its own --------------------------------------------------------------------------------


def test_a_run_whose_time_is_over_is_asked_to_end_and_then_killed_with_what_it_started(runs, later):
    run = runs.start(
        f"signal.signal(signal.SIGTERM, lambda *_: print('no', flush=True))\n"
        f"child = subprocess.Popen({IGNORANT})\nprint('ready', flush=True)\nwhile True: time.sleep(1)",
        limits=Limits(grace_seconds=30),
    )
    until(
        lambda: (
            run.poll() is None
            and (runs.folder() / "log.txt").exists()
            and "1\n" in runs.log()
            and "ready" in runs.log()
        )
    )
    later(61)
    assert run.poll() is None
    until(lambda: "no" in runs.log())
    assert run.poll() is None
    later(61 + 31)
    assert ended(run) == ("timed out", -signal.SIGKILL)


def test_a_run_may_take_its_own_time_or_the_commands_whichever_is_less(runs, later):
    run = runs.start("time.sleep(600)", seconds=500.0, limits=Limits(timeout_seconds=50))
    later(51)
    assert ended(run) == ("timed out", -signal.SIGTERM)


def test_a_run_that_is_stopped_may_tidy_up_and_is_stopped_once_only(runs):
    run = runs.start(
        "def tidy(*_): print('tidied', flush=True); sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, tidy)\nprint('ready', flush=True)\ntime.sleep(600)"
    )
    until(lambda: (runs.folder() / "log.txt").exists() and runs.log())
    stopped = run.stop()
    assert (stopped.outcome, stopped.code, runs.log()) == ("stopped", 3, "ready\ntidied\n")
    assert (run.stop(), run.poll()) == (stopped, stopped)


def test_a_run_that_will_not_stop_is_killed_with_what_it_started(runs):
    run = runs.start(
        f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsubprocess.Popen({IGNORANT})\ntime.sleep(600)",
        limits=Limits(grace_seconds=0.1),
    )
    until(lambda: (runs.folder() / "log.txt").exists() and runs.log())
    stopped = run.stop()
    assert (stopped.outcome, stopped.code) == ("stopped", -signal.SIGKILL)


def test_stopping_a_run_that_has_ended_changes_nothing(runs):
    run = runs.start("sys.exit(7)")
    assert (ended(run), run.stop().outcome) == (("exited", 7), "exited")


def test_a_run_is_stopped_while_another_thread_looks_after_it(runs):
    run = runs.start("time.sleep(600)")
    found = []
    thread = threading.Thread(target=lambda: found.append(until(run.poll)))
    thread.start()
    stopped = run.stop()
    thread.join()
    assert found == [stopped]


@linux_only
@pytest.mark.parametrize("apart", [False, True])
def test_what_a_run_leaves_running_ends_with_it(runs, apart):
    run = runs.start(f"print(subprocess.Popen({SLEEP}, start_new_session={apart}).pid)")
    assert ended(run) == ("exited", 0)
    assert environment(int(runs.log())) == b""


# --- a run whose parent is dead --------------------------------------------------------------------------------

PARENT = """
import sys, time
from pathlib import Path
from falsify.executors.local import Command, LocalExecutor
from falsify.ports import RunOrder
run_id, folder, script = sys.argv[1:]
command = Command(name="x", argv=("{python}", script), cwd=Path(folder).parent, env=("PYTHONPATH",))
run = LocalExecutor(command).start(RunOrder(run_id, {"seed": 0}, folder, 600.0))
while run.poll() is None:
    time.sleep(0.01)
"""


@linux_only
def test_what_is_left_of_a_run_when_falsify_is_killed_is_found_and_ended(runs):
    runs.executor(
        f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"near = subprocess.Popen({SLEEP})\nfar = subprocess.Popen({SLEEP}, start_new_session=True)\n"
        f"Path('ready.new').write_text(f'{{os.getpid()}} {{near.pid}} {{far.pid}}')\n"
        f"os.rename('ready.new', 'ready')\ntime.sleep(600)"
    )
    folder = runs.root / "run"
    line = [sys.executable, "-c", PARENT, f"R-{runs.mark}", str(folder), str(runs.root / "script.py")]
    parent = subprocess.Popen(line, cwd=Path(__file__).parent.parent)
    until((runs.root / "ready").exists)
    leader, near, far = map(int, (runs.root / "ready").read_text().split())
    assert runs.processes() == {leader, near, far}
    parent.kill()
    parent.wait()
    until(lambda: runs.processes() == {near, far})  # the first of them dies with its parent, as Linux was asked to
    assert end_orphan(folder) is True
    assert runs.processes() == set()
    assert end_orphan(folder) is False


def test_a_run_that_goes_on_without_anybody_to_look_after_it_is_ended_with_its_group(runs):
    run = runs.start(f"subprocess.Popen({SLEEP})\nprint('ready', flush=True)\ntime.sleep(600)")
    until(lambda: (runs.folder() / "log.txt").exists() and runs.log())
    assert end_orphan(runs.folder()) is True
    assert ended(run) == ("exited", -signal.SIGKILL)


@linux_only
@pytest.mark.parametrize(
    "text", ["", '{"pid": 12', "[]", "null", '{"pid": "x", "pgid": 1, "started": "", "run_id": ""}']
)
def test_a_run_is_found_by_its_folder_where_its_process_is_not_written_down(runs, text):
    run = runs.start("time.sleep(600)")
    process = runs.folder() / "process.json"
    until(process.exists)
    process.write_text(text)
    assert end_orphan(runs.folder()) is True
    assert ended(run) == ("exited", -signal.SIGKILL)


def test_where_no_run_ever_was_nothing_is_found(tmp_path):
    assert end_orphan(tmp_path / "nowhere") is False


@pytest.fixture
def bystander():
    """A process that is no run, at the head of a group of its own."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize(
    "other",
    [
        {"started": "1"},
        {"started": ""},
        pytest.param({}, marks=linux_only),  # the very process, but it was not started as this run
    ],
)
def test_a_process_that_was_given_the_number_of_a_run_is_left_alone(tmp_path, bystander, other):
    told = {"pid": bystander.pid, "pgid": bystander.pid, "started": started(bystander.pid), "run_id": "R-1", **other}
    (tmp_path / "process.json").write_text(json.dumps(told))
    assert end_orphan(tmp_path) is False
    assert bystander.poll() is None


def test_a_group_that_is_not_the_runs_own_is_left_alone(runs, bystander):
    run = runs.start("time.sleep(600)")
    process = runs.folder() / "process.json"
    until(process.exists)
    process.write_text(json.dumps({**json.loads(process.read_text()), "pgid": bystander.pid}))
    end_orphan(runs.folder())
    assert bystander.poll() is None
    run.stop()


@linux_only
def test_a_run_of_the_same_id_in_another_workspace_is_left_alone(runs):
    run = runs.start("time.sleep(600)")
    until((runs.folder() / "process.json").exists)
    elsewhere = runs.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "process.json").write_text("torn")
    assert (end_orphan(elsewhere), run.poll()) == (False, None)


def test_a_run_whose_parent_died_before_it_began_does_not_begin(tmp_path):
    order = {"parent": os.getpid() + 1, "run_id": "R", "process": str(tmp_path / "p"), "nice": 0, "limits": {}}
    shim = sys.modules[main.__module__].__file__
    done = subprocess.run(
        [sys.executable, "-I", "-S", shim, json.dumps(order), "touch", str(tmp_path / "begun")], check=False
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (ABANDONED, [])
