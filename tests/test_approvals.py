"""An approval is bound to what it relied on, given by a person, and carried out exactly once, whatever happens."""

import json
import os
import random
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from falsify.errors import ConflictError, FalsifyError, ForbiddenError, InvalidInputError, NotFoundError, RefusedError
from falsify.log import EventLog
from falsify.workbench import nodes, runs, tickets
from falsify.workbench.events import ApprovalGranted, DecisionCommitted
from surfaces.approvals import detail, find, projects, requests, row
from surfaces.tools.catalogue import work_of
from surfaces.workbench import Workbench
from surfaces.workspace import Workspace
from tests.catalogue_world import ACTS, ALICE, BOB, OWNER, TICKET, World, memory

CREATE, CLAIM, MATERIALIZE, START, CANCEL, COMMIT = ACTS
ROUNDS = int(os.environ.get("FALSIFY_CRASH_ROUNDS", "25"))


@pytest.fixture
def world(tmp_path):
    return World(memory(tmp_path), "MANUAL")


def asked(world, tool, caller=ALICE):
    """Let an agent ask for what the tool does; return the request's id."""
    envelope = world.act(tool, caller=caller, **world.ready_for(tool))
    assert envelope["status"] == "approval_required"
    return envelope["approval"]["id"]


def events(world, kind):
    return [r.event for r in world.bench.records() if isinstance(r.event, kind)]


def told(world, approval_id):
    return detail(find(world.workspace, approval_id), work_of=work_of)


# --- bound to facts -------------------------------------------------------------------------------------------


def cancel_the_ticket(world):
    world.record(lambda s: [*tickets.cancel_ticket(s.project, "T-1", reason="no", caller=OWNER)])


def claim_it(world):
    claim = {"reason": "mine", "agent_session_id": "", "caller": BOB}
    world.record(lambda s: [*tickets.claim_ticket(s.project, "T-1", **claim)])


def pass_it_on(world):
    world.record(lambda s: [*tickets.release_ticket(s.project, "T-1", reason="no", caller=OWNER)])
    claim_it(world)


def promote_another(world):
    other = world.frozen(0.95, mutation={"hidden_width": 99}, hypothesis="Much wider helps more.")
    judged = {"verdict": "IMPROVED", "action": "PROMOTE", "rationale": "It is better by far."}
    assert world.act(COMMIT, caller=OWNER, node_id=other, **judged)["status"] == "ok"


def block_the_node(world):
    world.record(lambda s: [*nodes.block_node(s.project, "N-2", reason="no", caller=OWNER)])


def test_what_cannot_be_carried_out_any_more_can_be_asked_for_anew(world):
    arguments = world.ready_for(MATERIALIZE)
    first = world.act(MATERIALIZE, caller=ALICE, **arguments)
    same = world.act(MATERIALIZE, caller=ALICE, **arguments)
    promote_another(world)
    second = world.act(MATERIALIZE, caller=ALICE, **arguments)
    assert same["approval"]["id"] == first["approval"]["id"] != second["approval"]["id"]
    assert second["status"] == "approval_required"


def spend_the_budget(world):
    while world.project.contract.budget_runs > world.project.runs_spent:
        width = 10 + len(world.project.nodes)
        world.frozen(mutation={"hidden_width": width}, hypothesis=f"A width of {width} helps.")


def end_the_run(world):
    run_id = next(iter(world.project.active))
    world.record(lambda s: [*runs.fail_run(s.project, run_id, seconds=1.0, reason="it crashed")])


BROKEN = [
    (CLAIM, cancel_the_ticket, ["ticket T-1 is CANCELLED now, and was ELIGIBLE when it was asked for"]),
    (CLAIM, claim_it, ["ticket T-1 is CLAIMED now, and was ELIGIBLE when it was asked for"]),
    (MATERIALIZE, cancel_the_ticket, ["ticket T-1 is CANCELLED now, and was CLAIMED when it was asked for"]),
    (MATERIALIZE, pass_it_on, ["who holds T-1 is agent:bob now, and was agent:alice when it was asked for"]),
    (MATERIALIZE, promote_another, ["the parent of T-1 is N-2 now, and was N-1 when it was asked for"]),
    (START, block_the_node, ["node N-2 is BLOCKED now, and was READY when it was asked for"]),
    (START, spend_the_budget, ["the budget for another run is spent now, and was there when it was asked for"]),
    (CANCEL, end_the_run, ["run R-2 is over now, and was active when it was asked for"]),
    (COMMIT, promote_another, ["the incumbent is N-3 now, and was N-1 when it was asked for"]),
    (COMMIT, lambda world: world.refute("N-2", 0.7),
     ["the measurement of N-2 is refuted now, and was standing when it was asked for"]),
    (COMMIT, lambda world: world.refute("N-1", 0.7),
     ["the incumbent's measurement is refuted now, and was standing when it was asked for"]),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "change", "changed"), BROKEN, ids=[f"{t}-{i}" for i, (t, *_) in enumerate(BROKEN)])
def test_what_relied_on_something_that_has_changed_is_a_conflict_and_stays_pending(world, tool, change, changed):
    approval_id = asked(world, tool)
    assert told(world, approval_id)["can_be_carried_out"]
    change(world)
    head = world.head
    with pytest.raises(ConflictError) as caught:
        world.approve(approval_id)
    assert (caught.value.reason, caught.value.details["changed"]) == ("facts_changed", changed)
    assert (world.head, world.project.approvals[approval_id].status) == (head, "pending")
    seen = told(world, approval_id)
    assert (seen["can_be_carried_out"], seen["obstacles"], seen["would_do"]) == (False, changed, [])
    assert len([fact for fact in seen["relies_on"] if not fact["holds"]]) == len(changed)


@pytest.mark.parametrize("tool", ACTS)
def test_what_has_nothing_to_do_with_it_does_not_spoil_it(world, tool):
    approval_id = asked(world, tool)
    world.ticket(title="Something else", hypothesis="Something else helps as well.")
    world.mode("COPILOT")
    world.record(lambda s: [*tickets.pin_ticket(s.project, next(reversed(s.project.tickets)), pinned=True,
                                                caller=OWNER)])  # fmt: skip
    done = json.loads(world.approve(approval_id, note="go on").response)
    row_ = world.project.approvals[approval_id]
    assert (done["status"], row_.status, row_.decided_by, row_.note) == ("ok", "executed", OWNER, "go on")


def test_what_a_rule_refuses_by_now_is_a_conflict_though_its_facts_hold(world):
    approval_id = asked(world, MATERIALIZE)
    # The same configuration is tried by another ticket: no fact of the request says so, the rule does.
    world.node(hypothesis="Somebody else thinks so too.")
    with pytest.raises(ConflictError, match="N-2 has this very configuration"):
        world.approve(approval_id)
    assert told(world, approval_id)["obstacles"] == ["N-2 has this very configuration"]


def test_a_conflict_can_be_approved_once_its_facts_hold_again(world):
    approval_id = asked(world, START)
    block_the_node(world)
    with pytest.raises(ConflictError):
        world.approve(approval_id)
    world.record(lambda s: [*nodes.ready_node(s.project, "N-2", reason="mended", caller=OWNER)])
    assert json.loads(world.approve(approval_id).response)["status"] == "ok"


# --- once -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ACTS)
def test_what_is_approved_twice_is_carried_out_once(world, tool):
    approval_id = asked(world, tool)
    world.approve(approval_id)
    head = world.head
    again = json.loads(world.approve(approval_id, caller="person:ada").response)
    assert (again["status"], world.head, len(events(world, ApprovalGranted))) == ("ok", head, 1)
    assert again["warnings"] == [
        f"{approval_id} was approved before by owner and carried out then; nothing was done now"
    ]


def test_approval_and_execution_are_one_command(world):
    approval_id = asked(world, COMMIT)
    world.approve(approval_id)
    written = {type(r.event): r.command for r in world.bench.records()}
    assert written[ApprovalGranted] == written[DecisionCommitted]


def test_an_approver_who_is_overtaken_by_another_carries_nothing_out(tmp_path, monkeypatch):
    with Workspace.init(tmp_path, environ={}) as workspace, Workspace.open(tmp_path, environ={}) as other:
        world = World(workspace, "MANUAL")
        approval_id = asked(world, COMMIT)
        append = EventLog.append

        def overtaken(log, *args, **more):
            monkeypatch.setattr(EventLog, "append", append)
            Workbench(other, "p1").approve(approval_id, caller="person:ada", work_of=work_of)
            return append(log, *args, **more)

        monkeypatch.setattr(EventLog, "append", overtaken)
        late = json.loads(world.approve(approval_id).response)
        assert "was approved before by person:ada" in late["warnings"][0]
        assert (len(events(world, ApprovalGranted)), list(world.project.decisions)) == (1, ["D-1"])


def test_of_many_approvers_at_once_exactly_one_carries_it_out(tmp_path):
    with Workspace.init(tmp_path, environ={}) as workspace:
        world = World(workspace, "MANUAL")
        approval_id = asked(world, COMMIT)
        answers: list[dict] = []
        ready = threading.Barrier(4)

        def approve(person):
            with Workspace.open(tmp_path, environ={}) as mine:
                bench = Workbench(mine, "p1")
                ready.wait()
                answers.append(json.loads(bench.approve(approval_id, caller=person, work_of=work_of).response))

        threads = [threading.Thread(target=approve, args=(f"person:p{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answer["status"] for answer in answers] == ["ok"] * 4
        assert sum("decision" in answer["result"] for answer in answers) == 1
        assert (len(events(world, ApprovalGranted)), list(world.project.decisions)) == (1, ["D-1"])


def test_of_approval_and_rejection_at_once_one_wins(tmp_path, monkeypatch):
    with Workspace.init(tmp_path, environ={}) as workspace, Workspace.open(tmp_path, environ={}) as other:
        world = World(workspace, "MANUAL")
        approval_id = asked(world, COMMIT)
        append = EventLog.append

        def overtaken(log, *args, **more):
            monkeypatch.setattr(EventLog, "append", append)
            Workbench(other, "p1").reject(approval_id, caller="person:ada", reason="not yet")
            return append(log, *args, **more)

        monkeypatch.setattr(EventLog, "append", overtaken)
        with pytest.raises(RefusedError, match="was rejected by person:ada"):
            world.approve(approval_id)
        assert world.project.decisions == {}


APPROVER = """\
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from falsify.log import EventLog
from surfaces.tools.catalogue import work_of
from surfaces.workbench import Workbench
from surfaces.workspace import Workspace

root, approval_id, moment = sys.argv[1:]
append = EventLog.append


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def dying(log, stream, events, *, expected_revision, command):
    if moment == "before it is written":
        die()
    if moment == "while it is written":
        command = replace(command, respond=die)
    append(log, stream, events, expected_revision=expected_revision, command=command)
    die()


if moment != "at random":
    EventLog.append = dying
with Workspace.open(Path(root), environ={}) as workspace:
    bench = Workbench(workspace, "p1")
    print("ready", flush=True)
    sys.stdin.readline()
    bench.approve(approval_id, caller="owner", work_of=work_of)
    print("done", flush=True)
"""


@pytest.mark.parametrize(
    ("moment", "status"),
    [
        ("before it is written", "pending"),
        ("while it is written", "pending"),
        ("before it is told", "executed"),
    ],
)
def test_a_kill_at_any_step_of_approving_ends_in_one_execution_after_a_restart(tmp_path, moment, status):
    with Workspace.init(tmp_path, environ={}) as workspace:
        World(workspace, "MANUAL")
    assert _killed_while_approving(tmp_path, 0, moment, delay=5.0) == status


@pytest.mark.slow
def test_a_kill_at_any_moment_of_approving_ends_in_one_execution_after_a_restart(tmp_path):
    chance = random.Random(20210315)
    with Workspace.init(tmp_path, environ={}) as workspace:
        World(workspace, "MANUAL")
    for number in range(ROUNDS):
        _killed_while_approving(tmp_path, number, "at random", delay=chance.uniform(0.0, 0.012))


def _killed_while_approving(root, number, moment, *, delay):
    """Have a request approved by a process that is killed; return what it left, having approved the request again."""
    env = {**os.environ, "PYTHONPATH": f"{Path(__file__).parent.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    with Workspace.open(root, environ={}) as workspace:
        approval_id = _ask_for_a_ticket(Workbench(workspace, "p1"), number)
    with subprocess.Popen(
        [sys.executable, "-c", APPROVER, str(root), approval_id, moment],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    ) as approver:
        assert approver.stdin is not None
        assert approver.stdout is not None
        assert approver.stdout.readline() == "ready\n"
        approver.stdin.write("\n")
        approver.stdin.flush()
        with suppress(subprocess.TimeoutExpired):
            approver.wait(delay)
        approver.kill()
        acknowledged = approver.stdout.read() == "done\n"
    with Workspace.open(root, environ={}) as workspace:
        bench = Workbench(workspace, "p1")
        status = bench.project.approvals[approval_id].status
        assert len(bench.project.tickets) == number + (status == "executed")
        assert status == "executed" or not acknowledged
        answer = json.loads(bench.approve(approval_id, caller=OWNER, work_of=work_of).response)
        assert ("tickets" in answer["result"]) == (status == "pending")
        granted = [r.event.approval_id for r in bench.records() if isinstance(r.event, ApprovalGranted)]
        assert (len(bench.project.tickets), granted.count(approval_id)) == (number + 1, 1)
        return status


def _ask_for_a_ticket(bench, number):
    ticket = {**TICKET, "hypothesis": f"Idea number {number} helps."}
    work = work_of(CREATE, {"project_id": "p1", "tickets": [ticket]})
    return json.loads(bench.perform(work, caller=ALICE).response)["approval"]["id"]


# --- by a person ----------------------------------------------------------------------------------------------


def test_an_agent_can_neither_approve_nor_reject(world):
    approval_id = asked(world, START)
    head = world.head
    for caller in (ALICE, BOB):
        with pytest.raises(ForbiddenError, match="may not approve"):
            world.approve(approval_id, caller=caller)
        with pytest.raises(ForbiddenError, match="may not reject"):
            world.bench.reject(approval_id, caller=caller, reason="no")
    assert (world.head, world.project.approvals[approval_id].status) == (head, "pending")


def test_what_was_rejected_is_not_approved_and_can_be_asked_for_again(world):
    arguments = world.ready_for(START)
    first = world.act(START, **arguments)["approval"]["id"]
    world.bench.reject(first, caller="person:ada", reason="too dear")
    with pytest.raises(RefusedError, match="was rejected by person:ada"):
        world.approve(first)
    with pytest.raises(RefusedError):
        world.bench.reject(first, caller=OWNER, reason="no")
    second = world.act(START, **arguments)["approval"]["id"]
    assert second != first
    world.approve(second)
    statuses = [(a.status, a.decided_by, a.note) for a in world.project.approvals.values()]
    assert statuses == [("rejected", "person:ada", "too dear"), ("executed", OWNER, "")]


def test_what_was_carried_out_is_not_rejected(world):
    approval_id = asked(world, START)
    world.approve(approval_id)
    with pytest.raises(ConflictError, match="carried out"):
        world.bench.reject(approval_id, caller=OWNER, reason="no")


# --- what a person sees ---------------------------------------------------------------------------------------


def test_requests_are_listed_over_all_projects_the_newest_first(tmp_path):
    workspace = memory(tmp_path)
    first, second = World(workspace, "MANUAL", project="p1"), World(workspace, "MANUAL", project="p2")
    one, two, three = asked(first, CREATE), asked(second, CREATE), asked(first, START)
    first.bench.reject(three, caller=OWNER, reason="no")
    assert [bench.project_id for bench in projects(workspace)] == ["p1", "p2"]
    assert [r.approval.id for r in requests(workspace)] == [two, one]
    assert [r.approval.id for r in requests(workspace, settled=True)] == [three, two, one]
    assert [row(r)["project_id"] for r in requests(workspace)] == ["p2", "p1"]


def test_a_stream_of_beliefs_is_no_project_and_has_no_requests(tmp_path):
    workspace = memory(tmp_path)
    workspace.ask("Who wrote this?")
    assert (list(projects(workspace)), requests(workspace)) == ([], [])


def test_a_request_is_found_by_the_beginning_of_its_id_as_long_as_that_is_one(tmp_path):
    workspace = memory(tmp_path)
    ids = [asked(World(workspace, "MANUAL", project=f"p{number}"), CREATE) for number in range(3)]
    for approval_id in ids:
        assert find(workspace, approval_id[:9]).approval.id == approval_id
    with pytest.raises(InvalidInputError) as caught:
        find(workspace, "A-")
    assert all(approval_id in caught.value.hint for approval_id in ids)
    for nobody in ("", "A-zzz", "B"):
        with pytest.raises(NotFoundError):
            find(workspace, nobody)


def test_a_request_is_shown_with_its_facts_and_what_has_changed_since(world):
    approval_id = asked(world, COMMIT)
    world.ticket(title="Something else", hypothesis="Something else helps as well.")
    seen = told(world, approval_id)
    assert seen["relies_on"] == [
        {"about": "node N-2 is", "value": "FROZEN", "now": "FROZEN", "holds": True},
        {"about": "the incumbent is", "value": "N-1", "now": "N-1", "holds": True},
        {"about": "the measurement of N-2 is", "value": "standing", "now": "standing", "holds": True},
        {"about": "the incumbent's measurement is", "value": "standing", "now": "standing", "holds": True},
    ]
    assert [change["sentence"] for change in seen["since"]] == [
        "round-2 is opened from N-1",
        "T-2 is created by agent:alice: Something else",
        "T-2 is eligible: owner said so",
    ]
    assert seen["would_do"] == [
        "D-1: PROMOTE N-2, IMPROVED; the incumbent is N-2",
        "T-1 is completed: D-1: PROMOTE",
    ]
    assert seen["effects"] == ["a decision: PROMOTE N-2, IMPROVED; the incumbent is N-2", "T-1 is completed: PROMOTE"]
    assert (seen["can_be_carried_out"], seen["obstacles"], seen["done"]) == (True, [], [])


def test_beliefs_that_changed_since_are_told_as_well(world):
    approval_id = asked(world, COMMIT)
    world.refute("N-1", 0.5)
    assert "R-1 is refuted, because of R-3" in [change["sentence"] for change in told(world, approval_id)["since"]]


def test_what_it_would_do_is_told_as_of_now(world):
    approval_id = asked(world, CREATE)
    world.ticket(title="Something else", hypothesis="Something else helps as well.")
    seen = told(world, approval_id)
    assert seen["effects"][1] == "a ticket is created by agent:alice: Wider layers"
    assert seen["would_do"][1] == "T-2 is created by agent:alice: Wider layers"
    world.approve(approval_id)
    after = told(world, approval_id)
    assert after["done"] == [f"owner approves {approval_id}", *seen["would_do"]]
    assert after["effects"] == seen["would_do"]


def test_a_request_that_was_answered_shows_what_came_of_it(world):
    approval_id = asked(world, START)
    world.approve(approval_id)
    world.ticket(title="Something else", hypothesis="Something else helps as well.")
    seen = told(world, approval_id)
    assert (seen["since"], seen["can_be_carried_out"]) == ([], False)
    assert seen["obstacles"] == ["it was executed by owner"]
    assert seen["done"] == [f"owner approves {approval_id}", "R-2 of N-2 is queued, for at most 60 s"]


def test_looking_at_a_request_writes_nothing(world):
    approval_id = asked(world, COMMIT)
    head = world.head
    told(world, approval_id)
    row(find(world.workspace, approval_id))
    assert world.head == head


def test_every_refusal_of_an_approval_says_what_to_do(world):
    approval_id = asked(world, START)
    block_the_node(world)
    for refused in (
        lambda: world.approve(approval_id),
        lambda: world.approve("A-0"),
        lambda: find(world.workspace, ""),
    ):
        with pytest.raises(FalsifyError) as caught:
            refused()
        assert caught.value.hint
