"""The states of tickets, nodes and runs: the tables as laws, each row brought about by a command, and the contract."""

import pytest

from falsify import join
from falsify.config_keys import parse_key
from falsify.errors import RefusedError
from falsify.workbench import contract as contracts
from falsify.workbench import nodes, runs, tickets
from falsify.workbench.events import (
    ContractAmended,
    ContractFrozen,
    ModeChanged,
    ProjectCreated,
    RunQueued,
    TicketMadeEligible,
)
from falsify.workbench.project import Project
from falsify.workbench.states import NODE, RUN, TICKET, move_node, move_run, move_ticket
from tests.workbench_world import ALICE, BASE, KEYS, OWNER, Research, contract, idea, judge, refused

TABLES = [
    pytest.param(TICKET, "DRAFT", id="ticket"),
    pytest.param(NODE, "DRAFT", id="node"),
    pytest.param(RUN, "QUEUED", id="run"),
]


def reachable(table, start):
    found, queue = {start}, [start]
    while queue:
        for then in table[queue.pop()]:
            if then not in found:
                found.add(then)
                queue.append(then)
    return found


# --- the tables ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "start"), TABLES)
def test_every_state_is_reached_from_the_first_and_reaches_an_end(table, start):
    ends = {state for state, then in table.items() if not then}
    assert reachable(table, start) == set(table)
    assert [state for state in table if not reachable(table, state) & ends] == []


@pytest.mark.parametrize(("table", "start"), TABLES)
def test_no_state_follows_itself_and_none_is_named_twice(table, start):
    assert [state for state, then in table.items() if state in then or len(set(then)) < len(then)] == []


def test_what_is_final_is_what_the_contract_says():
    ends = [{state for state, then in table.items() if not then} for table in (TICKET, NODE, RUN)]
    assert ends == [{"COMPLETED", "CANCELLED"}, {"FROZEN"}, {"SUCCEEDED", "FAILED", "CANCELLED"}]


@pytest.mark.parametrize(
    ("move", "what", "table"), [(move_ticket, "ticket", TICKET), (move_node, "node", NODE), (move_run, "run", RUN)]
)
def test_a_move_is_refused_exactly_where_the_table_has_none(move, what, table):
    for now in table:
        for then in table:
            if then in table[now]:
                move("X-1", now, then)
                continue
            with pytest.raises(RefusedError) as caught:
                move("X-1", now, then)
            told = caught.value.reason, caught.value.details
            assert told == (f"{what}_{now.lower()}", {what: "X-1", "status": now, "wanted": then})


# --- each row by a command -----------------------------------------------------------------------------------


def by(decide, *more):
    return lambda r, name: r.record([*decide(r.project, name, *more, **CALLED[decide])])


CALLED = {
    tickets.queue_ticket: {"caller": OWNER},
    tickets.make_eligible: {"caller": OWNER},
    tickets.claim_ticket: {"reason": "", "agent_session_id": "", "caller": ALICE},
    tickets.release_ticket: {"reason": "", "caller": ALICE},
    tickets.block_ticket: {"reason": "", "caller": OWNER},
    tickets.cancel_ticket: {"reason": "", "caller": OWNER},
    tickets.complete_ticket: {"reason": "", "caller": OWNER},
    nodes.begin_implementation: {"reason": "", "caller": OWNER},
    nodes.ready_node: {"reason": "", "caller": OWNER},
    nodes.block_node: {"reason": "", "caller": OWNER},
    runs.cancel_run: {"reason": "", "seconds": 1.0},
    runs.fail_run: {"reason": "", "seconds": 1.0},
    runs.start_run: {"worker": "w"},
}

queue, eligible, claim = by(tickets.queue_ticket), by(tickets.make_eligible), by(tickets.claim_ticket)
release, block, cancel = by(tickets.release_ticket), by(tickets.block_ticket), by(tickets.cancel_ticket)
complete = by(tickets.complete_ticket)


def become_node(research, ticket_id):
    research.materialize(ticket_id, mutation={"width": 64})


TICKETS = {
    ("DRAFT", "QUEUED"): [queue],
    ("DRAFT", "CANCELLED"): [cancel],
    ("QUEUED", "ELIGIBLE"): [queue, eligible],
    ("QUEUED", "BLOCKED"): [queue, block],
    ("QUEUED", "COMPLETED"): [queue, complete],
    ("QUEUED", "CANCELLED"): [queue, cancel],
    ("ELIGIBLE", "CLAIMED"): [queue, eligible, claim],
    ("ELIGIBLE", "BLOCKED"): [queue, eligible, block],
    ("ELIGIBLE", "COMPLETED"): [queue, eligible, complete],
    ("ELIGIBLE", "CANCELLED"): [queue, eligible, cancel],
    ("CLAIMED", "ELIGIBLE"): [queue, eligible, claim, release],
    ("CLAIMED", "MATERIALIZED"): [queue, eligible, claim, become_node],
    ("CLAIMED", "BLOCKED"): [queue, eligible, claim, block],
    ("CLAIMED", "COMPLETED"): [queue, eligible, claim, complete],
    ("CLAIMED", "CANCELLED"): [queue, eligible, claim, cancel],
    ("MATERIALIZED", "COMPLETED"): [queue, eligible, claim, become_node, complete],
    ("MATERIALIZED", "BLOCKED"): [queue, eligible, claim, become_node, block],
    ("MATERIALIZED", "CANCELLED"): [queue, eligible, claim, become_node, cancel],
    ("BLOCKED", "QUEUED"): [queue, block, queue],
    ("BLOCKED", "MATERIALIZED"): [queue, eligible, claim, become_node, block, queue],
    ("BLOCKED", "CANCELLED"): [queue, block, cancel],
}


def test_every_transition_of_a_ticket_is_brought_about_by_a_command():
    assert TICKETS.keys() == {(now, then) for now in TICKET for then in TICKET[now]}
    for (now, then), steps in TICKETS.items():
        research = Research("MANUAL", baseline=0.8)
        (ticket_id,) = research.propose(draft=True)
        for step in steps:
            step(research, ticket_id)
        assert [status for _, status in research.project.tickets[ticket_id].statuses.history][-2:] == [now, then]
        research.check()


def start(research, node_id):
    research.start(node_id)


def fail(research, node_id):
    by(runs.fail_run)(research, research.project.nodes[node_id].run_ids[-1])


def call_off(research, node_id):
    by(runs.cancel_run)(research, research.project.nodes[node_id].run_ids[-1])


def measure(research, node_id):
    research.measure(node_id, 0.9)


begin, ready, stop = by(nodes.begin_implementation), by(nodes.ready_node), by(nodes.block_node)

NODES = {
    ("DRAFT", "IMPLEMENTING"): [begin],
    ("DRAFT", "READY"): [ready],
    ("DRAFT", "BLOCKED"): [stop],
    ("IMPLEMENTING", "READY"): [begin, ready],
    ("IMPLEMENTING", "BLOCKED"): [begin, stop],
    ("READY", "IMPLEMENTING"): [ready, begin],
    ("READY", "RUNNING"): [ready, start],
    ("READY", "BLOCKED"): [ready, stop],
    ("RUNNING", "FROZEN"): [ready, measure],
    ("RUNNING", "REPAIRABLE"): [ready, start, fail],
    ("RUNNING", "READY"): [ready, start, call_off],
    ("REPAIRABLE", "IMPLEMENTING"): [ready, start, fail, begin],
    ("REPAIRABLE", "READY"): [ready, start, fail, ready],
    ("REPAIRABLE", "RUNNING"): [ready, start, fail, start],
    ("REPAIRABLE", "BLOCKED"): [ready, start, fail, stop],
    ("BLOCKED", "IMPLEMENTING"): [stop, begin],
    ("BLOCKED", "READY"): [stop, ready],
}


def test_every_transition_of_a_node_is_brought_about_by_a_command():
    assert NODES.keys() == {(now, then) for now in NODE for then in NODE[now]}
    for (now, then), steps in NODES.items():
        research = Research(baseline=0.8, executor="mine")
        node_id = research.materialize(research.claimed(), mutation={"width": 64}, draft=True)
        for step in steps:
            step(research, node_id)
        assert [status for _, status in research.project.nodes[node_id].statuses.history][-2:] == [now, then]
        research.check()


@pytest.mark.parametrize("decide", [nodes.begin_implementation, nodes.ready_node, nodes.block_node])
@pytest.mark.parametrize("begin", [Research.queue, Research.start])
def test_a_node_with_an_active_run_is_not_moved_by_hand(decide, begin):
    research = Research(baseline=0.8, executor="mine")
    node_id = research.branch(width=64)
    begin(research, node_id)
    status, reason = refused(decide, research.project, node_id, **CALLED[decide])
    assert (status, reason in {"run_active", "node_running", "node_ready"}) == ("refused", True)


@pytest.mark.parametrize("decide", [nodes.begin_implementation, nodes.ready_node, nodes.block_node])
def test_a_frozen_node_is_moved_by_nobody(decide):
    research = Research(baseline=0.8, executor="mine")
    assert refused(decide, research.project, "N-1", **CALLED[decide]) == ("refused", "node_frozen")


def test_the_built_in_trainer_has_no_code_to_change():
    research = Research(baseline=0.8)
    node_id = research.branch(width=64)
    assert refused(by(nodes.begin_implementation), research, node_id) == ("refused", "no_code")


# --- the project and its contract ----------------------------------------------------------------------------


def test_a_project_begins_with_its_contract():
    created = contracts.create_project(
        Project(),
        project_id="p1",
        objective="Why?",
        question_id="Q-1",
        mode="MANUAL",
        contract=contract(),
        parent="p0",
        caller=OWNER,
    )
    assert created == [
        ProjectCreated(
            project_id="p1", objective="Why?", question_id="Q-1", mode="MANUAL", contract=contract(), parent="p0"
        )
    ]


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"caller": ALICE}, ("forbidden", "people_only")),
        ({"project_id": "a b"}, ("invalid_request", "")),
        ({"project_id": ""}, ("invalid_request", "")),
        ({"project_id": "x" * 65}, ("invalid_request", "")),
    ],
)
def test_a_project_is_not_created_by_an_agent_or_under_a_name_that_is_none(changes, answer):
    told = {
        "project_id": "p1",
        "objective": "Why?",
        "question_id": "Q-1",
        "mode": "MANUAL",
        "contract": contract(),
        "parent": "",
        "caller": OWNER,
        **changes,
    }
    assert refused(contracts.create_project, Project(), **told) == answer


def test_a_project_is_created_once():
    told = {"objective": "Why?", "question_id": "Q-1", "mode": "MANUAL", "contract": contract(), "parent": ""}
    answer = refused(contracts.create_project, Research().project, project_id="p1", caller=OWNER, **told)
    assert answer == ("conflict", "project_exists")


@pytest.mark.parametrize(
    "decide",
    [
        lambda p: contracts.amend_contract(p, contract(), caller=OWNER),
        lambda p: contracts.change_mode(p, "COPILOT", reason="", caller=OWNER),
        lambda p: nodes.register_baseline(p, caller=OWNER),
        lambda p: runs.queue_run(p, "N-1", reason=""),
        lambda p: runs.run_of(p, "R-1"),
        lambda p: tickets.ticket_of(p, "T-1"),
        lambda p: tickets.create_tickets(p, [idea()], author=OWNER, source="human", hypothesis_id=str),
    ],
)
def test_where_there_is_no_project_there_is_nothing_to_do(decide):
    assert refused(decide, Project()) == ("not_found", "no_project")


def test_the_contract_is_amended_until_the_first_run():
    research = Research()
    other = contract(minimum_effect=0.5)
    assert contracts.amend_contract(research.project, other, caller=OWNER) == [ContractAmended(contract=other)]
    assert contracts.amend_contract(research.project, contract(), caller=OWNER) == []


def test_the_first_queued_run_freezes_the_contract_and_no_later_one_does():
    research = Research()
    research.record([*nodes.register_baseline(research.project, caller=OWNER)])
    queued = RunQueued(run_id="R-1", node_id="N-1", attempt=1, reason="", limit_seconds=60.0)
    frozen = ContractFrozen(digest=contracts.digest(contract()))
    assert research.record([*runs.queue_run(research.project, "N-1", reason="")]) == [frozen, queued]
    by(runs.cancel_run)(research, "R-1")
    again = RunQueued(run_id="R-2", node_id="N-1", attempt=2, reason="", limit_seconds=60.0)
    assert runs.queue_run(research.project, "N-1", reason="") == [again]
    refusal = refused(contracts.amend_contract, research.project, contract(seed=1), caller=OWNER)
    assert refusal == ("refused", "contract_frozen")


@pytest.mark.parametrize("changes", [{"base": {**BASE, "width": 9}}, {"seed": 8}])
def test_what_a_registered_baseline_is_made_of_is_not_amended(changes):
    research = Research()
    research.record([*nodes.register_baseline(research.project, caller=OWNER)])
    refusal = refused(contracts.amend_contract, research.project, contract(**changes), caller=OWNER)
    assert refusal == ("refused", "baseline_registered")


def test_an_agent_amends_no_contract_and_registers_no_baseline():
    research = Research()
    assert refused(contracts.amend_contract, research.project, contract(seed=1), caller=ALICE)[0] == "forbidden"
    assert refused(nodes.register_baseline, research.project, caller=ALICE)[0] == "forbidden"


def test_a_baseline_is_registered_once():
    assert refused(nodes.register_baseline, Research(baseline=0.8).project, caller=OWNER)[1] == "baseline_registered"


@pytest.mark.parametrize(
    "changes",
    [
        {"minimum_effect": float("nan")},
        {"minimum_effect": -0.1},
        {"noise_floor": float("inf")},
        {"tolerance": float("nan")},
        {"budget_runs": 0},
        {"budget_seconds": 0.0},
        {"budget_seconds": float("nan")},
        {"run_seconds": float("inf")},
        {"seed": -1},
        {"seed": 2**53},
        {"metric": "val acc"},
        {"metric": ""},
        {"required_evidence": ("vibes",)},
        {"keys": (*KEYS, KEYS[0])},
        {"base": {k: v for k, v in BASE.items() if k != "width"}},
        {"base": {**BASE, "depth": 3}},
        {"base": {**BASE, "width": 0}},
    ],
)
def test_a_contract_that_nobody_could_keep_is_refused(changes):
    assert refused(contract, **changes)[0] == "invalid_request"


def test_a_contract_may_narrow_a_key_but_not_widen_it():
    def bounded(bounds):
        return {"keys": (parse_key(f"width=int:{bounds}"),)}

    assert [key.maximum for key in contract(**bounded("[4,16]")).keys] == [16]
    assert refused(contract, **bounded("[1,513]"))[0] == "invalid_request"
    assert refused(contract, **bounded("[9,16]"))[0] == "invalid_request"  # the baseline has 8


def test_the_base_of_a_contract_is_held_in_the_types_of_the_keys():
    assert contract(base={**BASE, "width": 8.0, "rate": 1}).base == {**BASE, "width": 8, "rate": 1.0}
    assert contracts.digest(contract(base={**BASE, "rate": 1})) == contracts.digest(
        contract(base={**BASE, "rate": 1.0})
    )


def test_a_change_of_mode_opens_the_queue_for_agents_tickets():
    research = Research("MANUAL", baseline=0.8)
    research.propose(idea("one"), idea("two"))
    research.propose(author=OWNER, source="human")
    assert contracts.change_mode(research.project, "COPILOT", reason="go", caller=OWNER) == [
        ModeChanged(mode="COPILOT", previous="MANUAL", reason="go"),
        TicketMadeEligible(ticket_id="T-1", because="its parent N-1 is frozen"),
        TicketMadeEligible(ticket_id="T-2", because="its parent N-1 is frozen"),
    ]


def test_a_change_to_the_same_mode_is_none():
    assert contracts.change_mode(Research("COPILOT").project, "COPILOT", reason="", caller=OWNER) == []


def test_a_decision_leaves_the_project_as_it_was():
    research = Research(baseline=0.8)
    node_id = research.branch(width=64)
    research.measure(node_id, 0.9)
    before = research.project.branch()
    contracts.change_mode(research.project, "MANUAL", reason="", caller=OWNER)
    join.commit_decision(research.project, research.graph, judge(node_id, "IMPROVED", "PROMOTE"), caller=OWNER)
    join.create_tickets(research.project, research.graph, [idea()], author=ALICE, source="agent")
    assert research.project == before
