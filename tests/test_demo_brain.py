"""`falsify demo brain`: the story is played on the real brain, says what happened, and leaves nothing behind."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cli
from falsify.errors import CheckFailedError
from surfaces.stories import brain, brain_changing, brain_reading
from surfaces.stories.narration import says
from surfaces.stories.office import NAMES, Office, story_clock
from surfaces.stories.payloads import pages_of, prose
from surfaces.workspace import Workspace

ROOT = Path(__file__).parent.parent

ALONE = """\
import socket, sys
def refuse(*_):
    raise AssertionError("the story used the network")
socket.socket.connect = socket.getaddrinfo = refuse
import cli
code = cli.run(["--color", "never", "demo", "brain", *sys.argv[1:]])
assert not [name for name in sys.modules if name.partition(".")[0] == "cognee"]
sys.exit(code)
"""
"""A process that plays the story without a network, and says so if it loads Cognee."""


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of somebody who has settings of their own, with a folder for temporary files."""
    theirs = {
        "FALSIFY_PROJECT": "theirs",
        "FALSIFY_ACTOR": "agent:theirs",
        "FALSIFY_JUDGE": "nobody",
        "FALSIFY_EMBEDDER": "nobody",
        "LLM_API_KEY": "theirs",
        "LLM_MODEL": "theirs",
    }
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, **theirs, "TMPDIR": str(folder), "PYTHONPATH": path, "PYTHONUTF8": "1"}


def start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """Start the demo; its temporary files are in a folder of this test's own."""
    temporary = folder / "temporary"
    temporary.mkdir()
    return subprocess.Popen(
        [sys.executable, "-c", ALONE, *words],
        cwd=folder,
        env=environment(temporary),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finished(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Play the demo; return how it ended, what it printed, and its folder."""
    folder = tmp_path_factory.mktemp("demo")
    return *finished(start(folder)), folder


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Play the demo in a folder that is kept; return what it printed, and the folder."""
    folder = tmp_path_factory.mktemp("kept")
    code, out, err = finished(start(folder, "--folder", "here"))
    assert (code, err) == (0, "")
    return out, folder / "here"


@pytest.fixture
def office(tmp_path):
    with Workspace.init(tmp_path, environ={}, clock=story_clock()) as workspace:
        yield Office(workspace, tmp_path / "corvane")


@pytest.mark.slow
def test_the_story_plays_to_its_end_without_a_network_and_without_anybodys_settings(told):
    code, out, err, _ = told
    assert (code, err) == (0, "")
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", out, re.MULTILINE)]
    assert numbers == list(range(1, len(brain.ACTS) + 1))


@pytest.mark.slow
def test_it_tells_what_was_read_found_hidden_cited_landed_undone_and_erased(told):
    words = " ".join(told[1].split())
    for part in (
        "corvane: 124 recorded, 3 moved, 1 removed (82 files and their git history)",
        "not recorded: memory/sales/spare-parts.md:",
        "passed over: 1 personal (never recorded)",
        "moved from memory/sales/warranty.md",
        "memory/finance/decisions/2026-02-key-accounts-forty-five-days.md finance",
        "_This page is not available._ _This page is not available._",
        '{"pattern":"salary bands","matches":[]} {"pattern":"unicorn herds","matches":[]}',
        "[1] memory/packs/answer-a-complaint.md,",
        "The Brain does not know this. (confidence: low)",
        "└ follows from: Two sources for ceramic cells └ supersedes: Keraton is our only source of ceramic cells",
        "└ follows from: The next pressure transmitter has a ceramic cell",
        "national institute every twelve months.",
        "is six months instead of twelve.",
        "class 1 every three months",
        "Sophie Lambert Quality manager: decides calibration",
        "refused: R-PRIVACY: it holds",
        "refused: R-INJECTION: it holds",
        "Sophie approves it, which lands it",
        '{"error":"unauthorized",',
        "after: The agent sales-assistant may read: general, Quality and Sales.",
        "after: L'agent sales-assistant peut lire : general, Quality et Sales.",
        "bytes as the first time",
        "C1 Line 2 can run for ten weeks without a delivery. invalidated at epoch 1, then forgotten at epoch 1",
        "Six weeks of ceramic cells in stock took its place",
        "on_behalf_of: (erased)",
        "ok hash chain",
        "What to try next",
    ):
        assert part in words


@pytest.mark.slow
def test_no_line_is_wider_than_a_hundred_columns(told):
    assert [line for line in told[1].splitlines() if len(line) > 100] == []


@pytest.mark.slow
def test_it_leaves_nothing(told):
    assert [path.name for path in told[3].rglob("*")] == ["temporary"]


@pytest.mark.slow
def test_a_second_playing_says_the_same(told, kept):
    first, second = (text.partition("What to try next")[0] for text in (told[1], kept[0]))
    assert first == second


@pytest.mark.slow
def test_interrupted_it_leaves_nothing(tmp_path):
    process = start(tmp_path)
    while not process.stdout.readline().startswith("2. "):
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "interrupted" in err) == (cli.INTERRUPTED, True)
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.slow
def test_a_kept_workspace_verifies_and_what_is_suggested_there_works(kept, monkeypatch, capfd):
    out, folder = kept
    commands = [shlex.split(line.strip()[2:]) for line in out.partition("What to try next")[2].splitlines()
                if line.strip().startswith("$ ")]  # fmt: skip
    assert commands == [["cd", "here"], *map(shlex.split, brain.NEXT), shlex.split(brain.OWN)]
    monkeypatch.chdir(folder)
    assert [cli.run(command[1:]) for command in (*commands[1:-1], ["falsify", "verify"])] == [0] * (len(brain.NEXT) + 1)
    assert "36 months from delivery for a PX-300" in capfd.readouterr().out


@pytest.mark.slow
def test_a_kept_workspace_is_not_played_in_again(kept, capfd):
    assert cli.run(["demo", "brain", "--folder", str(kept[1])]) == 2
    assert "is a workspace already" in capfd.readouterr().err


def test_the_import_leaves_out_what_is_private_no_page_or_broken(office):
    list(brain_reading.take_in(office))
    pages = office.brain.pages().pages
    assert len(pages) == 81
    assert not set(pages) & set(brain_reading.LEFT_LYING)


def test_a_story_that_does_not_come_true_ends_with_an_error_that_says_what(office, monkeypatch):
    monkeypatch.setattr(brain_reading, "MOVED", "memory/company/about.md")
    with pytest.raises(CheckFailedError, match=r"memory/company/about\.md was never moved") as told:
        list(brain_reading.take_in(office))
    assert told.value.hint


def test_a_denied_page_that_could_be_told_from_an_absent_one_would_end_it(office, monkeypatch):
    list(brain_reading.take_in(office))
    monkeypatch.setattr(brain_reading, "NOWHERE", "memory/company/about.md")
    with pytest.raises(CheckFailedError, match="is told from one that is absent"):
        list(brain_reading.hide(office))


def test_a_guard_that_lets_everything_pass_would_end_it(office, monkeypatch):
    list(brain_reading.take_in(office))
    monkeypatch.setattr(brain_changing, "REFUSED", (brain_changing.LESSON,))
    with pytest.raises(CheckFailedError, match=r"the guard let .* pass"):
        list(brain_changing.learn(office))


@pytest.mark.parametrize(("option", "value"), [("--no-mirror", ()), ("--demo", ()), ("--out", ("x",))])
def test_an_option_of_another_story_is_refused(option, value, capfd):
    assert cli.run(["demo", "brain", option, *value]) == 2
    assert f"the story brain has no option {option}" in capfd.readouterr().err


def test_a_passage_is_told_without_headings_and_brackets():
    assert prose("## Interval\n\nEvery [[As-found reading]]\ncounts.\n\n### More\n") == "Every As-found reading counts."


def test_of_several_passages_of_a_page_the_best_one_counts():
    hits = [{"rel_path": "a", "rank": 1}, {"rel_path": "b", "rank": 2}, {"rel_path": "a", "rank": 3}]
    assert pages_of({"results": hits}) == {"a": hits[0], "b": hits[1]}


def test_people_agents_and_the_worker_have_a_colour_each():
    told = {
        who: next(says(who, "acts")).partition(who)[0].strip() for who in (*NAMES.values(), "worker", "agent:scout")
    }
    green, magenta, blue = "\x1b[32m", "\x1b[35m", "\x1b[34m"
    assert told == {
        "owner": green,
        "Sophie": green,
        "sales agent": magenta,
        "quality agent": magenta,
        "agent:scout": magenta,
        "worker": blue,
    }
