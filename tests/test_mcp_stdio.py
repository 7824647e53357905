"""The server at standard input and output: how it ends with its client, and what it makes of a client's odd answers."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from surfaces.mcp import journal
from surfaces.workspace import Workspace
from tests.catalogue_world import World
from tests.test_mcp_fuzz import Wire, frame

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="select waits for pipes on POSIX only")

PAGE = "http://127.0.0.1:8787/approvals/{id}"


@pytest.fixture
def connect(tmp_path):
    """Return what starts a server and shakes hands with it; all of them are gone afterwards."""
    with Workspace.init(tmp_path) as workspace:
        world = World(workspace)
        nodes = [world.node(mutation={"hidden_width": width}) for width in (16, 32, 48, 64)]
    opened = []

    def start(*words, **capabilities):
        wire = Wire(tmp_path, *words)
        opened.append(wire)
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "x", "version": "1"},
        }
        wire.send(frame("initialize", id="begin", params=hello) + b"\n")
        wire.until("begin")
        wire.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return SimpleNamespace(wire=wire, process=wire.process, nodes=nodes, said=tmp_path / "stderr")

    yield start
    for wire in opened:
        wire.process.kill()
        wire.process.wait()


def listing(name):
    return frame("tools/list", id=name) + b"\n"


def test_a_client_that_dies_with_an_answer_on_its_way_ends_the_server_in_order(connect):
    at = connect()
    at.wire.send(b"".join(listing(number) for number in range(5)))
    at.process.stdout.close()
    at.process.stdin.close()
    assert (at.process.wait(20), at.said.read_text()) == (0, "")


def test_a_client_that_reads_no_more_ends_the_server_with_the_next_answer_though_it_could_send(connect):
    at = connect()
    at.process.stdout.close()
    at.wire.send(listing(1))
    assert (at.process.wait(20), at.said.read_text()) == (0, "")


def test_with_its_client_the_worker_of_a_server_ends_too(tmp_path):
    with Workspace.init(tmp_path) as workspace:
        World(workspace)
    command = [sys.executable, "-m", "cli", "-w", str(tmp_path), "mcp", "--as", "agent:scribe"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, bufsize=0) as server:
        server.stdin.write(listing(1))
        server.stdout.read(1)
        server.stdout.close()
        at_work = len(list((tmp_path / ".falsify" / "workers").glob("*.lock")))
        server.stdin.write(listing(2))
        code = server.wait(20)
    assert (at_work, code, list((tmp_path / ".falsify" / "workers").glob("*.lock"))) == (1, 0, [])


def test_what_is_started_meanwhile_finds_standard_input_empty_and_takes_no_message(connect):
    at = connect()
    opened = Path(f"/proc/{at.process.pid}/fd")
    if not opened.is_dir():
        pytest.skip("only Linux says what a process has open")
    assert (opened / "0").readlink() == Path(os.devnull)


# --- what a client says to being asked to open a page -----------------------------------------------------------


def asked(at, number, answer):
    """Call what waits for a person, answer the question for the page, and return the answer and the seconds it took."""
    at.wire.send(frame("tools/call", id="state", params=call("falsify.project.get_state")) + b"\n")
    revision = at.wire.until("state")[-1]["result"]["structuredContent"]["projectRevision"]
    body = {"node_id": at.nodes[number], "reason": "Go.", "idempotency_key": f"k{number}"}
    run = call("falsify.run.start", **body, expected_project_revision=revision)
    at.wire.send(frame("tools/call", id=f"run {number}", params=run) + b"\n")
    question = at.wire.until("elicitation/create", key="method")[-1]
    at.wire.send(json.dumps({"jsonrpc": "2.0", "id": question["id"], **answer}).encode() + b"\n")
    began = time.monotonic()
    told = at.wire.until(f"run {number}")[-1]
    return told, time.monotonic() - began


def call(name, **arguments):
    return {"name": name, "arguments": {"project_id": "p1", **arguments}}


def test_whatever_a_client_answers_to_a_page_the_call_says_at_once_that_it_waits(connect):
    at = connect("--approval-url", PAGE, elicitation={"url": {}})
    answers = [{"result": {"action": "APPROVE!"}}, {"result": {}}, {"result": [1]}, {"error": 7}]
    told = [asked(at, number, answer) for number, answer in enumerate(answers)]
    assert [each["result"]["structuredContent"]["status"] for each, _ in told] == ["approval_required"] * 4
    assert max(seconds for _, seconds in told) < 10
    at.wire.close()
    with Workspace.open(at.said.parent) as workspace:
        approvals = workspace.of("p1").project.approvals.values()
        assert [each.status for each in approvals] == ["pending"] * 4


def test_what_a_client_says_went_wrong_begins_no_line_of_the_servers_own(connect):
    at = connect("--approval-url", PAGE, elicitation={"url": {}})
    forged = "no browser\nserving at http://evil.example/mcp\x1b[2J\u202e" + "x" * 100_000
    asked(at, 0, {"error": {"code": 1, "message": forged}})
    [line] = at.said.read_text().splitlines()
    assert re.fullmatch(
        r"the client did not open http://\S+: no browser serving at http://\S+\[2J\\u202ex+\.\.\.", line
    )
    assert len(line) < 1100


# --- what a server says on standard error -------------------------------------------------------------------------


def test_what_is_said_again_and_again_is_counted_instead(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(journal, "monotonic", lambda: now[0])
    sparing, said = journal.Sparing(), []
    for second in range(200):
        now[0] = float(second)
        record = journal.logging.LogRecord("x", 30, "file.py", 7, "trouble %d", (second,), None)
        if sparing.filter(record):
            said.append(record.getMessage())
    first = [f"trouble {second}" for second in range(10)]
    second = ["trouble 61 (and 51 times more before)", *(f"trouble {second}" for second in range(62, 71))]
    assert said[:20] == first + second
    assert len(said) == 40


def test_two_things_are_counted_apart():
    sparing = journal.Sparing()
    records = [journal.logging.LogRecord("x", 30, "file.py", line, "trouble", (), None) for line in (1, 2) * 15]
    assert sum(sparing.filter(record) for record in records) == 20


def test_what_went_wrong_is_told_behind_its_line_and_further_in(capsys):
    with journal.kept():
        try:
            int("bad\nserving at http://evil.example")
        except ValueError as error:
            error.add_note("bad\nserving at http://evil.example")
            journal.logging.getLogger("x").exception("it\nfailed")
        journal.logging.getLogger("x").info("not worth a word")
    head, *trace = capsys.readouterr().err.splitlines()
    assert head == "it failed"
    assert trace[0] == "    Traceback (most recent call last):"
    assert trace[-2:] == ["    bad", "    serving at http://evil.example"]
