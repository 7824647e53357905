"""The autonomy table, by its laws."""

from typing import get_args

import pytest

from falsify.codec import canonical, decode
from falsify.workbench import approvals
from falsify.workbench import contract as contracts
from falsify.workbench.approvals import RELIES_ON, broken, digest, facts, request
from falsify.workbench.autonomy import ASK, EXECUTE, GATES, MODES, gate
from falsify.workbench.events import Action, ApprovalGranted, ApprovalRejected, Fact, Mode
from falsify.workbench.runs import cancel_run, queue_run, start_run
from falsify.workbench.tickets import block_ticket, release_ticket
from tests.workbench_world import ALICE, BOB, OWNER, Research, idea, refused

TOOLS = sorted({name.partition(":")[0] for name in GATES})
ACTIONS = get_args(Action)
PEOPLE = (OWNER, "person:ada")


def every_gate():
    for tool in TOOLS:
        for action in (None, *ACTIONS) if tool == "falsify.decision.commit" else (None,):
            yield tool, action


def test_the_modes_go_from_least_to_most():
    assert set(MODES) == set(get_args(Mode))
    assert {len(gates) for gates in GATES.values()} == {len(MODES)}


def test_more_autonomy_never_asks_more():
    rank = {ASK: 1, EXECUTE: 0}
    for tool, action in every_gate():
        asked = [rank[gate(ALICE, mode, tool, action)] for mode in MODES]
        assert asked == sorted(asked, reverse=True), (tool, action)


def test_people_are_never_asked():
    for who in PEOPLE:
        for mode in MODES:
            assert {gate(who, mode, tool, action) for tool, action in every_gate()} == {EXECUTE}


def test_to_cancel_a_run_an_agent_asks_in_every_mode():
    assert {gate(ALICE, mode, "falsify.run.cancel") for mode in MODES} == {ASK}


def test_in_manual_an_agent_asks_for_whatever_has_an_effect():
    free = {(tool, action) for tool, action in every_gate() if gate(ALICE, "MANUAL", tool, action) == EXECUTE}
    assert free == {("falsify.decision.commit", action) for action in (None, *ACTIONS) if action != "PROMOTE"}


def test_among_decisions_only_promote_is_asked_for():
    gates = {(action, gate(ALICE, mode, "falsify.decision.commit", action)) for action in ACTIONS for mode in MODES}
    assert {action for action, answer in gates if answer == ASK} == {"PROMOTE"}


def test_reading_is_asked_for_by_nobody():
    assert {gate(ALICE, mode, "falsify.project.get_state") for mode in MODES} == {EXECUTE}


def test_whatever_can_be_asked_for_says_what_it_relies_on():
    assert set(TOOLS) == set(RELIES_ON)


# --- who may answer -------------------------------------------------------------------------------------------


def asked(research, tool="falsify.run.start", caller=ALICE, **arguments):
    told = {"tool": tool, "arguments": arguments or {"node_id": "N-1"}, "reason": "to see", "effects": ("it runs",)}
    return request(research.project, caller=caller, **told)


def pending(**arguments):
    one = Research("MANUAL", baseline=0.8)
    made = asked(one, **arguments)
    one.record([made])
    return one, made


def test_a_request_is_written_with_what_it_relies_on():
    one, made = pending()
    assert (made.asked_by, made.asked_at) == (ALICE, one.project.revision - 1)
    assert made.digest == digest("falsify.run.start", {"node_id": "N-1"})
    assert made.facts == (
        Fact(about="node N-1 is", value="FROZEN"),
        Fact(about="the budget for another run is", value="there"),
    )
    assert (one.project.approvals[made.approval_id].status, made.approval_id[:2]) == ("pending", "A-")


def test_agents_neither_approve_nor_reject_nor_change_the_mode_in_any_mode():
    for mode in MODES:
        one = Research(mode, baseline=0.8)
        made = asked(one)
        one.record([made])
        name = made.approval_id
        for agent in (ALICE, BOB):
            answers = [
                refused(approvals.grant, one.project, name, caller=agent),
                refused(approvals.reject, one.project, name, reason="", caller=agent),
                *(refused(contracts.change_mode, one.project, m, reason="", caller=agent) for m in MODES),
            ]
            assert set(answers) == {("forbidden", "people_only")}


def test_an_approval_that_was_recorded_before_approvals_told_what_they_came_to_is_read_as_it_was():
    granted = ApprovalGranted(approval_id="A-1", digest="d", approved_by=OWNER, note="go", effects=())
    body = canonical({name: value for name, value in granted.__dict__.items() if name != "effects"})
    assert decode("workbench.approval_granted/1", body) == granted


def test_a_request_is_answered_once():
    one, made = pending()
    granted = ApprovalGranted(approval_id=made.approval_id, digest=made.digest, approved_by=OWNER, note="go")
    rejected = ApprovalRejected(approval_id=made.approval_id, rejected_by=OWNER, reason="no")
    assert approvals.reject(one.project, made.approval_id, reason="no", caller=OWNER) == [rejected]
    assert one.record([*approvals.grant(one.project, made.approval_id, caller=OWNER, note="go")]) == [granted]
    executed = ("conflict", "approval_executed")
    assert refused(approvals.grant, one.project, made.approval_id, caller=OWNER) == executed
    assert refused(approvals.reject, one.project, made.approval_id, reason="", caller=OWNER) == executed
    other = asked(one)
    one.record([other])
    one.record([*approvals.reject(one.project, other.approval_id, reason="no", caller=OWNER)])
    assert refused(approvals.grant, one.project, other.approval_id, caller=OWNER) == ("refused", "approval_rejected")
    assert refused(approvals.grant, one.project, "A-0", caller=OWNER) == ("not_found", "no_approval")


def test_the_digest_does_not_depend_on_the_order_of_the_arguments():
    assert digest("t", {"a": 1, "b": {"c": 1, "d": 2}}) == digest("t", {"b": {"d": 2, "c": 1}, "a": 1})
    assert len({digest("t", {"a": 1}), digest("t", {"a": 2}), digest("u", {"a": 1})}) == 3


# --- what a request relies on ---------------------------------------------------------------------------------


def test_a_request_stands_while_other_things_change():
    one = Research("MANUAL", baseline=0.8)
    one.propose(idea("one"), idea("two"))
    made = asked(one, "falsify.ticket.claim", ticket_id="T-1")
    one.record([made])
    one.record([*block_ticket(one.project, "T-2", reason="", caller=OWNER)])
    assert broken(one.project, one.project.approvals[made.approval_id]) == []


def test_a_request_falls_with_the_ticket_it_is_about():
    one = Research("MANUAL", baseline=0.8)
    one.propose()
    made = asked(one, "falsify.ticket.claim", ticket_id="T-1")
    one.record([made])
    one.record([*block_ticket(one.project, "T-1", reason="", caller=OWNER)])
    told = ["ticket T-1 is BLOCKED now, and was QUEUED when it was asked for"]
    assert broken(one.project, one.project.approvals[made.approval_id]) == told


def test_a_request_to_run_falls_with_the_node_and_with_the_budget():
    one = Research(baseline=0.8, budget_runs=2)
    first, second = one.branch(width=64), one.branch(width=65)
    for name in (first, second):
        one.record([asked(one, node_id=name)])
    one.measure(first, 0.9)
    assert [broken(one.project, approval) for approval in one.project.approvals.values()] == [
        [
            "node N-2 is FROZEN now, and was READY when it was asked for",
            "the budget for another run is spent now, and was there when it was asked for",
        ],
        ["the budget for another run is spent now, and was there when it was asked for"],
    ]


def test_a_request_to_promote_falls_with_the_incumbent_and_with_the_measurement():
    one = Research(baseline=0.8)
    for width, value in ((64, 0.9), (65, 0.95)):
        one.measure(one.branch(width=width), value)
    one.record([asked(one, "falsify.decision.commit", node_id="N-2")])
    (approval,) = one.project.approvals.values()
    one.decide("N-3", "IMPROVED", "PROMOTE")
    changed = "the incumbent is N-3 now, and was N-1 when it was asked for"
    assert broken(one.project, approval) == [changed]
    refuted = "the measurement of N-2 is refuted now, and was standing when it was asked for"
    assert broken(one.project, approval, frozenset({"N-2"})) == [changed, refuted]


def test_a_request_to_materialize_falls_with_the_claim_and_with_the_parent():
    one = Research(baseline=0.8)
    ticket_id = one.claimed()
    one.record([asked(one, "falsify.experiment.materialize", ticket_id=ticket_id, config_mutation={"width": 64})])
    (approval,) = one.project.approvals.values()
    one.measure(one.branch(width=65), 0.9)
    assert broken(one.project, approval) == []
    one.decide("N-2", "IMPROVED", "PROMOTE")
    assert broken(one.project, approval) == ["the parent of T-1 is N-2 now, and was N-1 when it was asked for"]
    one.record([*release_ticket(one.project, ticket_id, reason="", caller=OWNER)])
    one.claim(ticket_id, caller=BOB)
    assert "who holds T-1 is agent:bob now, and was agent:alice when it was asked for" in broken(one.project, approval)


def test_a_request_to_cancel_stands_while_the_run_is_active():
    one = Research(baseline=0.8)
    run_id = one.queue(one.branch(width=64))
    one.record([asked(one, "falsify.run.cancel", run_id=run_id)])
    (approval,) = one.project.approvals.values()
    one.record([*start_run(one.project, run_id, worker="w")])
    assert broken(one.project, approval) == []
    one.record([*cancel_run(one.project, run_id, reason="", seconds=1.0)])
    assert broken(one.project, approval) == [f"run {run_id} is over now, and was active when it was asked for"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("falsify.ticket.claim", {"ticket_id": "T-9"}),
        ("falsify.experiment.materialize", {"ticket_id": "T-9"}),
        ("falsify.run.start", {"node_id": "N-9"}),
        ("falsify.run.cancel", {"run_id": "R-9"}),
        ("falsify.decision.commit", {"node_id": "N-9"}),
    ],
)
def test_facts_of_what_is_not_there_are_told_as_such(tool, arguments):
    told = facts(Research(baseline=0.8).project, tool, arguments)
    assert told[0].value in {"absent", "over"}


def test_a_queued_run_spoils_a_request_for_another_of_the_node():
    one = Research(baseline=0.8)
    node_id = one.branch(width=64)
    one.queue(node_id)
    assert refused(queue_run, one.project, node_id, reason="") == ("refused", "run_active")
