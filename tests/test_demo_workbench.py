"""`falsify demo workbench`: the story is played on real training, says what happened, and leaves nothing behind."""

import os
import re
import signal
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import cli
from falsify.errors import CheckFailedError
from surfaces.lines.plots import Curve
from surfaces.stories import workbench
from surfaces.stories.curves import Line, picture
from surfaces.workspace import Workspace

ROOT = Path(__file__).parent.parent
SVG = "{http://www.w3.org/2000/svg}"


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of somebody who has settings of their own, with a folder for temporary files."""
    theirs = {"FALSIFY_PROJECT": "theirs", "FALSIFY_ACTOR": "agent:theirs", "FALSIFY_JUDGE": "nobody"}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, **theirs, "TMPDIR": str(folder), "PYTHONPATH": path, "PYTHONUTF8": "1"}


def start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """Start the demo; its temporary files are in a folder of this test's own."""
    temporary = folder / "temporary"
    temporary.mkdir()
    return subprocess.Popen(
        [sys.executable, "-m", "cli", "--color", "never", "demo", "workbench", *words],
        cwd=folder,
        env=environment(temporary),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def processes(folder: Path) -> list[int]:
    """Return the processes that have the folder in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def curve(*values: float) -> Curve:
    return Curve("val_acc", tuple((float(epoch), value) for epoch, value in enumerate(values, 1)))


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Play the demo; return how it ended, what it printed, and its folder."""
    folder = tmp_path_factory.mktemp("demo")
    process = start(folder, "--out", str(folder / "pictures"))
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err, folder


@pytest.mark.slow
def test_the_story_plays_to_its_end(told):
    code, out, err, _ = told
    assert (code, err) == (0, "")
    assert [int(number) for number in re.findall(r"^(\d+)\. ", out, re.MULTILINE)] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.slow
def test_it_tells_who_asked_what_was_measured_what_died_and_that_it_was_believed(told):
    words = " ".join(told[1].split())
    for part in (
        "worker R-1 measures N-1: val_acc 0.900",
        "agent:scout asks to run N-2 (falsify.run.start): approval_required",
        "owner approves A-",
        "owner changes the mode to AUTORESEARCH",
        "N-2 l2 0.01 0.950 +0.050 IMPROVED",
        "N-3 activation gelu 0.900 +0.000 NEUTRAL",
        "N-4 learning_rate 0.001 0.625 -0.275 REGRESSED",
        "agent:scout decides D-1: DISCARD N-4",
        "agent:scout decides D-2: KEEP_FROZEN N-3",
        "agent:scout decides D-3: PROMOTE N-2",
        "worker R-5 measures N-5: val_acc 0.825",
        "verdict: contradicts, confidence 1.00, by numeric 1",
        "0.825 against 0.95: a difference of 0.125, and the tolerance is 0.05",
        "the incumbent N-2 rests on",
        "agent:scout does what is suggested: D-4, PROMOTE N-1",
        "The incumbent is N-1, alive",
        "the promotion D-3 was alive; at epoch 1 it is forgotten",
        "first measurement was luck",
    ):
        assert part in words


@pytest.mark.slow
def test_no_line_but_those_of_paths_is_wider_than_a_hundred_columns(told):
    wide = [line for line in told[1].splitlines() if len(line) > 100]
    assert [line for line in wide if str(told[3]) not in line] == []


@pytest.mark.slow
def test_it_draws_every_run_and_the_boundary_of_what_was_promoted(told):
    pictures = told[3] / "pictures"
    drawing = ET.fromstring((pictures / "curves.svg").read_text(encoding="utf-8"))  # noqa: S314 - our own
    names = [text.text for text in drawing.iter(f"{SVG}text") if re.match(r"N-\d", text.text or "")]
    assert sorted(names) == [
        "N-1 the baseline: 0.900",
        "N-2 l2 0.01: 0.950",
        "N-3 activation gelu: 0.900",
        "N-4 learning_rate 0.001: 0.625",
        "N-5 N-2 again, seed 8: 0.825",
    ]
    image = (pictures / "boundary.png").read_bytes()
    width, height = struct.unpack(">II", image[16:24])
    size = struct.unpack(">I", image[image.index(b"IDAT") - 4 : image.index(b"IDAT")])[0]
    rows = zlib.decompress(image[image.index(b"IDAT") + 4 :][:size])
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(rows) == height * (1 + 3 * width)


@pytest.mark.slow
def test_it_leaves_no_file_but_the_pictures_and_no_process(told):
    folder = told[3]
    left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    assert left == ["pictures", "pictures/boundary.png", "pictures/curves.svg", "temporary"]
    assert processes(folder) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see what runs")
def test_interrupted_it_ends_its_run_and_tidies_up(tmp_path):
    process = start(tmp_path)
    mark = b"FALSIFY_RUN_DIR=" + os.fsencode(tmp_path)
    deadline = time.monotonic() + 60
    while not any(mark in _environ(pid) for pid in processes(tmp_path)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "interrupted" in err) == (cli.INTERRUPTED, True)
    assert processes(tmp_path) == []
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.slow
def test_other_numbers_end_it_with_an_error_that_says_which(tmp_path, monkeypatch):
    monkeypatch.setattr(workbench, "TERMS", workbench.TERMS.model_copy(update={"seed": 8}))
    with (
        Workspace.init(tmp_path) as workspace,
        pytest.raises(CheckFailedError, match=r"N-\d .*is \w+, not \w+") as told,
    ):
        list(workbench.play(workspace))
    assert told.value.hint


@pytest.mark.slow
def test_a_kept_workspace_holds_the_pictures_and_verifies(tmp_path, capfd):
    root = tmp_path / "kept"
    assert cli.run(["demo", "workbench", "--folder", str(root)]) == 0
    assert {"curves.svg", "boundary.png"} <= {path.name for path in root.iterdir()}
    assert cli.run(["-w", str(root), "--project", "rings", "verify"]) == 0
    assert cli.run(["demo", "workbench", "--folder", str(root)]) == 2
    assert "is a workspace already" in capfd.readouterr().err


def test_a_story_that_there_is_not_is_refused_by_naming_those_that_there_are(capfd):
    assert cli.run(["demo", "nonsense"]) == 2
    assert "'nonsense' is not one of 'company-x', 'workbench'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["workbench", "--no-mirror"], "--no-mirror"),
        (["workbench", "--demo"], "--demo"),
        (["company-x", "--out", "x"], "--out"),
        (["--out", "x"], "--out"),
    ],
)
def test_an_option_of_the_other_story_is_refused(words, option, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["demo", *words]) == 2
    assert f"has no option {option}" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_picture_of_curves_names_each_with_its_last_value_and_keeps_the_names_apart():
    lines = [Line("<a>", curve(0.5, 0.9)), Line("b & c", curve(0.4, 0.9), dashed=True), Line("none", curve())]
    drawing = ET.fromstring(picture(lines, title="t", metric="val_acc"))  # noqa: S314 - our own
    texts = {text.text: float(text.get("y", "0")) for text in drawing.iter(f"{SVG}text")}
    assert {"<a>: 0.900", "b & c: 0.900"} <= texts.keys()
    assert texts["b & c: 0.900"] - texts["<a>: 0.900"] == 20
    assert [path.get("stroke-dasharray") for path in drawing.iter(f"{SVG}path") if path.get("stroke-width")] == [
        None,
        "7 4",
    ]


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
