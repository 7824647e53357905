"""Research as it was: what is read at a cutoff is what was read when the log ended there."""

import json
from itertools import groupby

import orjson
import pytest

import cli
from falsify.errors import NotFoundError
from replay.cutoff import Cutoff
from surfaces.research.past import PastWorkbench
from surfaces.running.waiting import Follower
from surfaces.tools.fence import Fence
from surfaces.tools.schema import parse
from surfaces.tools.workbench_inputs import WORKBENCH_INPUTS
from tests.lab import MARK, READS, Lab

ASKED = {
    "falsify.project.get_state": {},
    "falsify.ticket.list": {"limit": 2},
    "falsify.graph.get": {"include_metrics": True, "include_runs": True},
    "falsify.node.compare": {"node_id": "N-1"},
    "falsify.run.get": {"run_id": "R-1"},
    "falsify.evidence.list": {"node_id": "N-1", "include_preview": True},
}


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path / "lab")


@pytest.fixture
def falsify(lab, capfd, monkeypatch):
    """Run a command in the workspace of the lab; return its exit code, stdout and stderr."""
    monkeypatch.setenv("FALSIFY_PROJECT", "p1")

    def run(*words):
        capfd.readouterr()
        code = cli.run(["-w", str(lab.workspace.root), *words])
        return code, *capfd.readouterr()

    return run


def grow(lab):
    """Let the reproduction N-3 bring the promotion of N-2 down; yield wherever no run is active."""
    lab.baseline(0.8)
    yield
    lab.measure(lab.branch({"hidden_width": 32}), 0.9)
    yield
    lab.decide("N-2", "IMPROVED", "PROMOTE")
    yield
    lab.measure(lab.reproduce("N-2"), 0.8)
    yield
    lab.propose()
    yield


def read(bench):
    """Return what every tool that reads answers."""
    told = {}
    for tool, arguments in ASKED.items():
        given = parse(WORKBENCH_INPUTS[tool], {"project_id": "p1", **arguments})
        told[tool] = orjson.loads(READS[tool](bench, given, "owner", Fence(MARK)).to_bytes())
    return told


def past(lab, **cutoff):
    return PastWorkbench(lab.workspace, "p1", Cutoff(**cutoff))


def test_at_each_position_everything_reads_as_it_did_when_the_log_ended_there(lab):
    then = [(lab.bench.log.head().position, read(lab.bench)) for _ in grow(lab)]
    assert [(position, read(past(lab, position=position))) for position, _ in then] == then


def test_a_command_that_the_cutoff_divides_has_not_happened_yet(lab):
    lab.undermine()
    commands = [list(each) for _, each in groupby(lab.workspace.records(), key=lambda record: record.command)]
    found = [past(lab, position=r.position).project.revision for command in commands[1:] for r in command]
    assert found == [
        record.revision if record is command[-1] else command[0].revision - 1
        for command in commands[1:]
        for record in command
    ]


def test_the_end_of_an_epoch_is_before_the_run_that_began_the_next_one_ended(lab):
    lab.undermine()
    states = [
        (past(lab, epoch=epoch).sight("owner").unsound, past(lab, epoch=epoch).project.active) for epoch in (0, 1)
    ]
    assert [(unsound, list(active)) for unsound, active in states] == [
        (frozenset(), ["R-3"]),
        (frozenset({"N-2"}), []),
    ]


def test_a_run_is_followed_up_to_the_cutoff(lab):
    lab.baseline()
    run_id = lab.start(lab.branch({"hidden_width": 32}))
    lab.report(run_id, {"epoch": 1, "val_acc": 0.7})
    position = lab.bench.log.head().position
    lab.report(run_id, {"epoch": 2, "val_acc": 0.9})
    lab.finish(run_id, 0.9)
    bench = past(lab, position=position)
    progress = Follower(bench, run_id).look()
    assert (progress.run.status, progress.latest) == ("RUNNING", 0.7)
    given = parse(
        WORKBENCH_INPUTS["falsify.run.get"], {"project_id": "p1", "run_id": run_id, "include_log_preview": True}
    )
    told = orjson.loads(READS["falsify.run.get"](bench, given, "owner", Fence(MARK)).to_bytes())
    assert (told["result"]["metrics"], told["result"]["reported_lines"]) == ({"epoch": 1.0, "val_acc": 0.7}, 1)
    assert told["warnings"] == [f"what {run_id} had printed by then was not kept"]


def test_before_it_was_created_there_was_no_project(lab):
    with pytest.raises(NotFoundError, match="there was no project p1 yet, position 0"):
        past(lab, position=0)


@pytest.mark.parametrize(
    "words",
    [
        ("project", "show"),
        ("ticket", "list"),
        ("ticket", "show", "T-1"),
        ("node", "list"),
        ("node", "show", "N-2"),
        ("node", "compare", "N-2"),
        ("run", "list"),
        ("run", "show", "R-2"),
        ("decision", "list"),
        ("decision", "show", "D-1"),
        ("evidence", "list", "N-2"),
    ],
)
def test_every_command_that_reads_says_what_it_said_then_and_how_far_back_that_is(lab, falsify, words):
    lab.baseline(0.8)
    lab.measure(lab.branch({"hidden_width": 64}), 0.9)
    lab.decide("N-2", "IMPROVED", "PROMOTE")
    position, revision = lab.bench.log.head().position, lab.project.revision
    (code, then, _) = falsify(*words)
    lab.measure(lab.reproduce("N-2"), 0.8)
    assert falsify(*words, "--position", str(position)) == (
        code,
        then,
        f"p1, position {position}: revision {revision} of {lab.project.revision}\n",
    )


def test_an_agent_that_reads_the_past_is_not_told_what_to_do_in_it(lab, falsify):
    lab.undermine()
    _, out, err = falsify("project", "show", "--epoch", "0", "--json")
    told = json.loads(out)
    assert (told["projectRevision"], "nextActions" in told, err) == (past(lab, epoch=0).project.revision, False, "")


def test_a_date_before_the_project_is_refused_with_how_to_find_its_beginning(lab, falsify):
    assert falsify("ticket", "list", "--as-of", "1999-12-31") == (
        NotFoundError.exit_code,
        "",
        "Error: there was no project p1 yet, as of 1999-12-31\n  see `falsify --project p1 log`\n",
    )
