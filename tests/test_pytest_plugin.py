"""Golden files are tests: whoever has Falsify installed replays their logs by running pytest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from falsify.belief.events import ConclusionInvalidated
from falsify.transfer import export_log
from replay.scenario import record
from tests.histories import STREAM, company_x, rewritten

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent
QUERY = "When did X know of the defect?"
MANUAL = (ROOT / "docs" / "replay-tests.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return the folder of a golden with the recall of one query."""
    folder = tmp_path_factory.mktemp("recorded")
    record(company_x().log, STREAM, name="company-x", folder=folder, queries=[QUERY])
    return folder


@pytest.fixture
def project(pytester, recorded):
    return Project(pytester, recorded)


class Project:
    """A user's repository with a golden in it, and pytest."""

    def __init__(self, pytester, recorded):
        self.pytester = pytester
        self.folder = pytester.mkdir("goldens")
        for file in recorded.iterdir():
            (self.folder / file.name).write_bytes(file.read_bytes())
        self.golden, self.log = self.folder / "company-x.golden.yaml", self.folder / "company-x.log.jsonl"

    def run(self, *arguments, subprocess=False):
        # However Falsify came to be here, the plugin is loaded once.
        plugin = ("-p", "no:falsify", "-p", "falsify_pytest", "-p", "no:cacheprovider", "-p", "no:warnings")
        run = self.pytester.runpytest_subprocess if subprocess else self.pytester.runpytest_inprocess
        return run(*plugin, *arguments)

    def edit(self, old, new, *, last=False):
        text = self.golden.read_text(encoding="utf-8")
        at = text.rindex(old) if last else text.index(old)
        self.golden.write_text(text[:at] + new + text[at + len(old) :], encoding="utf-8")

    def line(self, text):
        """Return the number of the last line of the golden file that holds a text."""
        lines = self.golden.read_text(encoding="utf-8").splitlines()
        return max(number for number, line in enumerate(lines, 1) if text in line)


def quiet(result):
    """Return the output, and see to it that no traceback is in it."""
    output = result.stdout.str()
    assert "Traceback" not in output
    assert ".py:" not in output
    return output


def test_a_golden_passes_with_a_test_for_the_log_and_one_for_each_checkpoint(project):
    result = project.run("-v")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "goldens/company-x.golden.yaml::decisions PASSED*",
            "goldens/company-x.golden.yaml::epoch-0 PASSED*",
            "goldens/company-x.golden.yaml::epoch-1 PASSED*",
        ]
    )


def test_one_point_can_be_picked_by_name_id_and_marker(project):
    project.run("-k", "epoch-1").assert_outcomes(passed=1, deselected=2)
    project.run("goldens/company-x.golden.yaml::epoch-0").assert_outcomes(passed=1)
    project.run("-m", "falsify_golden", "--strict-markers").assert_outcomes(passed=3)
    project.run("-m", "not falsify_golden").assert_outcomes(deselected=3)
    assert "falsify_golden: replays a recorded Falsify log" in project.run("--markers").stdout.str()


def test_collection_can_be_switched_off(project):
    project.pytester.makeini("[pytest]\nfalsify_goldens = false\n")
    result = project.run()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_what_other_tools_call_golden_is_left_alone(project):
    (project.folder / "theirs.golden.yaml").write_text("input: 1\noutput: 2\n", encoding="utf-8")
    (project.folder / "theirs-too.golden.yaml").write_text("- log: x.jsonl\n- \xff", encoding="latin-1")
    project.run().assert_outcomes(passed=3)


def test_a_golden_whose_log_is_elsewhere_is_collected_all_the_same(project):
    project.log.rename(project.pytester.path / "moved.log.jsonl")
    project.edit("log: company-x.log.jsonl", "log: ../moved.log.jsonl")
    project.run().assert_outcomes(passed=3)


def test_a_log_that_was_tampered_with_fails_everything_and_is_named_by_its_line(project):
    content = project.log.read_bytes()
    project.log.write_bytes(content.replace(b"by March 2021", b"by March 2020"))
    result = project.run()
    result.assert_outcomes(failed=3)
    number = 1 + content[: content.index(b"by March 2021")].count(b"\n")
    told = f"company-x.log.jsonl, line {number}: record {number - 1} is not what was written: its hash does not fit it"
    assert f"company-x.golden.yaml:3: decisions: {told}" in quiet(result)
    assert f"epoch 1: {told}" in quiet(result)


def test_a_flip_that_was_taken_out_and_hashed_over_is_named_as_the_first_divergence(project):
    history = company_x()
    forged = rewritten(history, lambda e: [] if isinstance(e, ConclusionInvalidated) else [e])
    project.log.write_bytes(b"".join(export_log(forged)))
    result = project.run()
    result.assert_outcomes(passed=2, failed=1)  # it was forgotten right after, so no checkpoint tells
    output = quiet(result)
    next_to_it = next(r for r in history.records() if isinstance(r.event, ConclusionInvalidated))
    assert f"decisions: position {next_to_it.position}, epoch 1: belief.conclusion_invalidated (K, E_qa) {{" in output
    assert "follows here, and was not recorded" in output


def test_a_wrong_label_is_one_line_with_its_place(project):
    project.edit("K: forgotten", "K: alive", last=True)
    result = project.run()
    result.assert_outcomes(passed=2, failed=1)
    lines = [line for line in quiet(result).splitlines() if "expected alive" in line and not line.startswith("FAILED")]
    assert lines == [f"company-x.golden.yaml:{project.line('K: alive')}: epoch 1: K is forgotten, expected alive"]
    result.stdout.fnmatch_lines(["*FAILED goldens/company-x.golden.yaml::epoch-1*"])


def test_a_recall_that_is_to_cite_a_dead_node_fails(project):
    project.edit("top:\n", "top:\n          - K\n", last=True)
    result = project.run()
    result.assert_outcomes(passed=2, failed=1)
    assert f"epoch 1: recall {QUERY!r} must cite K, which is forgotten" in quiet(result)


def test_a_recall_that_cites_a_dead_node_fails(project):
    forged = rewritten(company_x(), lambda e: [] if e.kind == "belief.evidence_refuted" else [e])
    project.log.write_bytes(b"".join(export_log(forged)))
    output = quiet(project.run("-k", "epoch-1"))
    assert f"epoch 1: recall {QUERY!r} cites E_qa, which must not appear" in output
    assert f"epoch 1: recall {QUERY!r} cites E_qa, whose edges make it refuted" in output


def test_an_unknown_key_is_an_error_of_collection_with_line_and_column(project):
    project.edit("labels:", "lables:", last=True)
    result = project.run()
    result.assert_outcomes(errors=1)
    output = quiet(result)
    assert f"company-x.golden.yaml, line {project.line('lables:')}, column 5: unknown key 'lables'" in output
    assert "known keys here: as_of, confidence, digest" in output


def test_a_model_that_is_missing_is_told_with_what_to_do(project, monkeypatch):
    from falsify.embedders.bundled import BundledEmbedder
    from falsify.errors import UnavailableError

    def embed(*_):
        raise UnavailableError("the bundled model file is missing", hint="reinstall with pip")

    monkeypatch.setattr(BundledEmbedder, "embed", embed)
    result = project.run()
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["the bundled model file is missing", "reinstall with pip"])
    quiet(result)


def test_a_fault_of_the_program_keeps_its_traceback(project, monkeypatch):
    from replay.scenario import Scenario

    monkeypatch.setattr(Scenario, "checkpoint", lambda *_: 1 / 0)
    result = project.run("-k", "epoch-1")
    result.stdout.fnmatch_lines(["*test_pytest_plugin.py*ZeroDivisionError*"])


def test_importing_the_plugin_imports_nothing_but_pytest():
    script = (
        "import sys, pytest; before = set(sys.modules); import falsify_pytest; "
        "print(*sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["falsify_pytest"]


HEAVY = ("numpy", "onnxruntime", "tokenizers", "pydantic", "yaml", "orjson", "falsify", "projections")


def test_a_run_without_goldens_loads_nothing_and_one_without_recall_loads_no_model(project, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    project.pytester.makeconftest(
        f"import sys\ndef pytest_unconfigure():\n    print('LOADED', [m for m in {HEAVY} if m in sys.modules])\n"
    )
    project.pytester.makepyfile(test_mine="def test_mine(): pass")
    project.pytester.makeini("[pytest]\naddopts = -s -p no:hypothesispytest\n")
    mine = project.run("test_mine.py", subprocess=True)
    mine.assert_outcomes(passed=1)
    assert "LOADED []" in mine.stdout.str()
    text = project.golden.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    at = [n for n, line in enumerate(lines) if line.startswith("    recall:")]
    starts = [n for n, line in enumerate(lines) if line.startswith("  - epoch:")]
    project.golden.write_text("".join(lines[: at[0]] + lines[starts[1] : at[1]]), encoding="utf-8")
    without = project.run(str(project.golden), subprocess=True)
    without.assert_outcomes(passed=3)
    loaded = without.stdout.str().split("LOADED ")[1].splitlines()[0]
    assert "falsify" in loaded
    assert not {"numpy", "onnxruntime", "tokenizers"} & set(loaded.strip("[]").replace("'", "").split(", "))
