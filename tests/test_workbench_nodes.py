"""Nodes: which parent a ticket branches from, what may be changed, what was tried already, and reproductions."""

import pytest

from falsify.workbench import nodes, runs, tickets
from falsify.workbench.events import NodeCreated, TicketMaterialized
from tests.workbench_world import ALICE, BASE, BOB, OWNER, Research, idea, refused


def materialize(research, ticket_id, *, caller=ALICE, **more):
    return nodes.materialize(research.project, ticket_id, caller=caller, **{"mutation": {"width": 64}, **more})


def created(node_id, **changes):
    told = {
        "node_id": node_id,
        "ticket_id": "",
        "parent_id": "",
        "round_id": "",
        "strategy": "structured-config",
        "mutation": {},
        "config": BASE,
        "seed": 7,
        "change_summary": "",
        "reproduces": "",
        "status": "READY",
    }
    return NodeCreated(**told | changes)


def test_the_baseline_is_the_contracts_base():
    baseline = created("N-1", change_summary="the baseline")
    assert nodes.register_baseline(Research().project, caller=OWNER) == [baseline]


def test_a_claimed_ticket_becomes_its_parents_configuration_with_the_mutation():
    one = Research(baseline=0.8)
    one.claimed()
    assert materialize(one, "T-1", mutation={"width": 64.0, "rate": 0.1}, change_summary="wider") == [
        created(
            "N-2",
            ticket_id="T-1",
            parent_id="N-1",
            round_id="round-1",
            mutation={"width": 64},
            config={**BASE, "width": 64},
            change_summary="wider",
        ),
        TicketMaterialized(ticket_id="T-1", node_id="N-2"),
    ]


# --- who may ------------------------------------------------------------------------------------------------


def test_only_who_claimed_a_ticket_or_a_person_materializes_it():
    one = Research(baseline=0.8)
    one.claimed()
    assert refused(materialize, one, "T-1", caller=BOB) == ("forbidden", "not_your_claim")
    assert len(materialize(one, "T-1", caller=OWNER)) == 2


def test_a_ticket_that_is_not_claimed_becomes_no_node():
    one = Research(baseline=0.8)
    one.propose()
    assert refused(materialize, one, "T-1") == ("refused", "ticket_eligible")
    assert refused(materialize, one, "T-2") == ("not_found", "no_ticket")
    one.claim("T-1")
    one.materialize("T-1", mutation={"width": 64})
    assert refused(materialize, one, "T-1") == ("refused", "ticket_materialized")


@pytest.mark.parametrize("kind", ["literature", "analysis"])
def test_reading_is_no_experiment(kind):
    one = Research(baseline=0.8)
    one.claimed(idea(type=kind))
    assert refused(materialize, one, "T-1") == ("refused", "not_an_experiment")


# --- the parent ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "parent"), [("incumbent", "N-3"), ("baseline", "N-1"), ("round-parent", "N-2")])
def test_the_policy_names_the_parent_when_the_ticket_becomes_a_node(policy, parent):
    one = Research(baseline=0.8)
    one.measure(one.branch(width=64), 0.85)
    one.decide("N-2", "IMPROVED", "PROMOTE")
    one.claimed(idea("the one that is asked for", parent_policy=policy))
    one.measure(one.branch(width=65), 0.9)
    one.decide("N-3", "IMPROVED", "PROMOTE")
    assert materialize(one, "T-2", mutation={"activation": "relu"})[0].parent_id == parent


def test_a_round_that_was_opened_before_there_was_an_incumbent_branches_from_the_baseline():
    one = Research()
    one.propose(idea(parent_policy="round-parent"))
    one.record([*nodes.register_baseline(one.project, caller=OWNER)])
    one.measure("N-1", 0.8)
    one.claim("T-1")
    one.measure(one.branch(width=65), 0.9)
    one.decide("N-2", "IMPROVED", "PROMOTE")
    assert materialize(one, "T-1")[0].parent_id == "N-1"


def test_another_round_can_be_named_and_its_parent_is_the_one():
    one = Research(baseline=0.8)
    one.propose(idea("the first round"))
    one.measure(one.branch(width=65), 0.9)
    one.decide("N-2", "IMPROVED", "PROMOTE")
    one.claimed(idea(parent_policy="round-parent"))
    made = materialize(one, "T-3", round_id="round-1")[0]
    assert (made.parent_id, made.round_id) == ("N-1", "round-1")
    assert refused(materialize, one, "T-3", round_id="round-9")[0] == "not_found"


def test_a_parent_can_be_named_and_must_be_frozen():
    one = Research(baseline=0.8)
    one.measure(one.branch(width=65), 0.9)
    one.branch(width=66)
    one.claimed()
    assert materialize(one, "T-3", parent_node_id="N-2")[0].parent_id == "N-2"
    assert refused(materialize, one, "T-3", parent_node_id="N-3") == ("refused", "parent_not_frozen")
    assert refused(materialize, one, "T-3", parent_node_id="N-9") == ("not_found", "no_node")


# --- what may be changed -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mutation", "reason"),
    [
        ({"dataset": "moons"}, "key_not_mutable"),
        ({"width": 64, "depth": 2}, "key_not_mutable"),
        ({"seed": 8}, "key_not_mutable"),
        ({"width": 513}, "out_of_range"),
        ({"width": float("nan")}, "out_of_range"),
        ({"width": True}, "out_of_range"),
        ({"rate": 0}, "out_of_range"),
        ({"activation": "sin"}, "out_of_range"),
        ({}, "no_op_mutation"),
        ({"width": 8}, "no_op_mutation"),
        ({"width": 8.0, "activation": "tanh"}, "no_op_mutation"),
    ],
)
def test_a_mutation_is_refused_for_its_own_reason(mutation, reason):
    one = Research(baseline=0.8)
    one.claimed()
    assert refused(materialize, one, "T-1", mutation=mutation) == ("refused", reason)


@pytest.mark.parametrize("mutation", [{"width": 64}, {"width": 64.0}, {"width": 64, "rate": 0.1}])
def test_a_configuration_that_was_tried_is_not_tried_again(mutation):
    one = Research(baseline=0.8)
    one.branch(width=64)
    one.claimed()
    assert refused(materialize, one, "T-2", mutation=mutation) == ("refused", "repeated_config")


def test_the_way_back_to_a_tried_configuration_is_a_repeat():
    one = Research(baseline=0.8)
    one.measure(one.branch(width=64), 0.9)
    one.claimed()
    answer = refused(materialize, one, "T-2", parent_node_id="N-2", mutation={"width": 8})
    assert answer == ("refused", "repeated_config")


@pytest.mark.parametrize("kind", ["experiment", "reproduction"])
@pytest.mark.parametrize("strategy", ["coding-agent", "manual"])
def test_the_built_in_trainer_has_no_code_that_could_be_changed(kind, strategy):
    one = Research(baseline=0.8)
    one.claimed(idea(type=kind))
    answer = refused(materialize, one, "T-1", mutation={}, strategy=strategy, change_summary="faster")
    assert answer == ("refused", "no_code")


def test_a_change_of_code_says_what_was_changed_and_may_leave_the_configuration():
    one = Research(baseline=0.8, executor="mine")
    one.claimed()
    asked = {"mutation": {}, "strategy": "coding-agent"}
    answer = refused(materialize, one, "T-1", **asked, change_summary=" ")
    assert answer == ("invalid_request", "no_change_summary")
    made = materialize(one, "T-1", **asked, change_summary="a residual connection", draft=True)[0]
    assert made == created(
        "N-2",
        ticket_id="T-1",
        parent_id="N-1",
        round_id="round-1",
        strategy="coding-agent",
        change_summary="a residual connection",
        status="DRAFT",
    )


# --- reproductions -------------------------------------------------------------------------------------------


def test_a_reproduction_measures_its_parent_again_with_the_seeds_that_follow():
    one = Research(baseline=0.8)
    one.measure(one.branch(width=64), 0.9)
    again = [one.project.nodes[one.reproduce("N-2")] for _ in range(3)]
    assert [(n.config, n.reproduces, n.seed) for n in again] == [
        ({**BASE, "width": 64}, "N-2", seed) for seed in (8, 9, 10)
    ]


def test_a_reproduction_of_a_reproduction_reproduces_the_original_with_a_seed_of_its_own():
    one = Research(baseline=0.8)
    one.measure(one.reproduce("N-1"), 0.8)
    second = one.project.nodes[one.reproduce("N-2")]
    assert (second.parent_id, second.reproduces, second.seed) == ("N-2", "N-1", 9)


def test_seeds_are_counted_for_each_original():
    one = Research(baseline=0.8)
    one.measure(one.branch(width=64), 0.9)
    assert [one.project.nodes[one.reproduce(node_id)].seed for node_id in ("N-1", "N-2", "N-1")] == [8, 8, 9]


def test_a_reproduction_may_name_the_configuration_instead_of_the_node():
    one = Research(baseline=0.8)
    one.measure(one.branch(width=64), 0.9)
    one.claimed(idea(type="reproduction"))
    made = materialize(one, "T-2", mutation={"width": 64})[0]
    assert (made.parent_id, made.reproduces, made.mutation) == ("N-1", "N-2", {"width": 64})


def test_what_was_not_measured_is_not_reproduced():
    one = Research(baseline=0.8)
    one.branch(width=64)
    one.claimed(idea(type="reproduction"))
    assert refused(materialize, one, "T-2", mutation={"width": 64}) == ("refused", "nothing_to_reproduce")
    assert refused(materialize, one, "T-2", mutation={"width": 65}) == ("refused", "nothing_to_reproduce")


def changed_code(research, summary="a residual connection", **mutation):
    """Return a node whose code was changed."""
    told = {"strategy": "coding-agent", "change_summary": summary}
    return research.materialize(research.claimed(idea(summary)), mutation=mutation, **told)


def test_a_reproduction_changes_no_code():
    one = Research(baseline=0.8, executor="mine")
    one.claimed(idea(type="reproduction"))
    answer = refused(materialize, one, "T-1", mutation={}, strategy="coding-agent", change_summary="faster")
    assert answer == ("refused", "code_changed")


def test_other_code_is_another_configuration():
    one = Research(baseline=0.8, executor="mine")
    node_id = changed_code(one)
    one.measure(node_id, 0.9)
    assert one.project.nodes[one.reproduce(node_id)].reproduces == node_id
    assert one.project.nodes[one.reproduce("N-1")].reproduces == "N-1"


def test_a_configuration_that_was_tried_with_other_code_can_be_tried():
    one = Research(baseline=0.8, executor="mine")
    one.branch(width=64)
    node_id = changed_code(one)
    one.measure(node_id, 0.9)
    one.claimed()
    assert materialize(one, "T-3", parent_node_id=node_id)[0].config == {**BASE, "width": 64}
    one.materialize("T-3", parent_node_id=node_id, mutation={"width": 64})
    one.claimed()
    answer = refused(materialize, one, "T-4", parent_node_id=node_id)
    assert answer == ("refused", "repeated_config")


# --- a ticket that people stopped ----------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [tickets.block_ticket, tickets.cancel_ticket])
def test_the_node_of_a_ticket_that_a_person_stopped_is_not_run(stop):
    one = Research(baseline=0.8)
    node_id = one.branch(width=64)
    one.record([*stop(one.project, "T-1", reason="too dear", caller=OWNER)])
    reason = f"ticket_{one.project.tickets['T-1'].status.lower()}"
    assert refused(runs.queue_run, one.project, node_id, reason="") == ("refused", reason)
