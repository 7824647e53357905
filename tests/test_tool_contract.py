"""Every tool that acts is called through the catalogue, in every mode, by everybody, for every status it can have."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from falsify.errors import UnavailableError
from falsify.log import EventLog
from falsify.workbench import nodes, runs, tickets
from falsify.workbench.autonomy import GATES
from surfaces.envelope import OUTPUT_SCHEMA, STATUSES
from surfaces.tools.catalogue import CATALOGUE, TOOLS, call, tool_of, work_of
from surfaces.tools.schema import APPROVALS, parse, publish
from surfaces.tools.workbench_inputs import WORKBENCH_INPUTS
from surfaces.workspace import Workspace
from tests.catalogue_world import ACTS, ALICE, BASE, BOB, MODES, OWNER, TICKET, World, memory
from tests.test_tool_schemas import PUBLISHED, anything, conforms, near

CREATE, CLAIM, MATERIALIZE, START, CANCEL, COMMIT = ACTS


@pytest.fixture(params=MODES)
def world(tmp_path, request):
    return World(memory(tmp_path), request.param)


@pytest.fixture
def copilot(tmp_path):
    return World(memory(tmp_path), "COPILOT")


def checked(world, envelope):
    """Return the envelope, which is one, and whose suggestions can be sent as they are."""
    assert conforms(OUTPUT_SCHEMA, envelope)
    assert envelope["projectRevision"] == world.project.revision
    for step in envelope.get("nextActions", ()):
        parse(WORKBENCH_INPUTS[step["tool"]], step["arguments"])
    return envelope


def refusal(world, tool, *, caller=ALICE, **arguments):
    """Return status and reason of a call that is refused, having written nothing."""
    head = world.head
    envelope = checked(world, world.act(tool, caller=caller, **arguments))
    assert (world.head, envelope["ok"], envelope.keys() & {"approval", "warnings"}) == (head, False, set())
    assert all(envelope["result"]["error"][name] for name in ("reason", "message", "hint"))
    return envelope["status"], envelope["result"]["error"]["reason"]


# --- the list -------------------------------------------------------------------------------------------------


def test_the_catalogue_has_the_twelve_tools_of_the_contract_in_their_order():
    assert {name: tool.kind for name, tool in CATALOGUE.items()} == {
        "falsify.project.get_state": "answer",
        "falsify.ticket.list": "answer",
        "falsify.graph.get": "answer",
        "falsify.node.compare": "answer",
        "falsify.run.get": "answer",
        "falsify.evidence.list": "answer",
        "falsify.ticket.create": "act",
        "falsify.ticket.claim": "act",
        "falsify.experiment.materialize": "act",
        "falsify.run.start": "act",
        "falsify.run.cancel": "transact",
        "falsify.decision.commit": "act",
    }
    assert list(CATALOGUE) == list(WORKBENCH_INPUTS)


def test_each_row_publishes_the_schema_of_its_input_and_says_what_it_may_do():
    for name, tool in CATALOGUE.items():
        published = tool.published()
        assert (published["name"], published["inputSchema"]) == (name, publish(WORKBENCH_INPUTS[name]))
        assert (tool.read is None, tool.work is None) == (tool.kind != "answer", tool.kind == "answer")
        assert published["annotations"] == {
            "readOnlyHint": tool.kind == "answer",
            "destructiveHint": tool.kind == "transact",
            "idempotentHint": True,
            "openWorldHint": False,
        }


@pytest.mark.parametrize("tool", ACTS)
def test_a_description_says_in_which_modes_an_agent_has_to_wait(tool):
    gates = dict(zip(MODES, CATALOGUE[tool].gates, strict=True))
    (said,) = [text for text in APPROVALS.values() if text in CATALOGUE[tool].description]
    immediately = {mode for mode in MODES if gates[mode] == "execute"}
    assert (
        said
        == {
            frozenset(): APPROVALS["always"],
            frozenset({"AUTORESEARCH"}): APPROVALS["manual_and_copilot"],
            frozenset({"COPILOT", "AUTORESEARCH"}): APPROVALS["manual"],
        }[frozenset(immediately)]
    )


def test_the_autonomy_table_speaks_of_the_tools_that_act_and_of_no_others():
    assert {name.partition(":")[0] for name in GATES} == {n for n, tool in TOOLS.items() if tool.kind != "answer"}


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_tool_is_found_by_its_name_with_underscores_too(name):
    assert tool_of(CATALOGUE, name.replace(".", "_")).name == name


# --- ok and approval_required ---------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ACTS)
def test_an_agent_does_or_asks_as_the_autonomy_table_says(world, tool):
    arguments = world.ready_for(tool)
    gate = (GATES.get(f"{tool}:PROMOTE") or GATES[tool])[MODES.index(world.project.mode)]
    before = len(world.project.approvals)
    envelope = checked(world, world.act(tool, **arguments))
    if gate == "execute":
        assert (envelope["status"], envelope["ok"], "result" in envelope, "approval" in envelope) == (
            "ok", True, True, False,
        )  # fmt: skip
        assert len(world.project.approvals) == before
    else:
        assert (envelope["status"], envelope["ok"], "result" in envelope) == ("approval_required", False, False)
        asked = envelope["approval"]
        assert (asked["tool"], asked["asked_by"], asked["status"]) == (tool, ALICE, "pending")
        assert asked["arguments"] == {"project_id": "p1", **arguments}
        assert asked["effects"]
        assert list(world.project.approvals) == [asked["id"]]


@pytest.mark.parametrize("tool", ACTS)
def test_a_person_always_does(world, tool):
    arguments = world.ready_for(tool)
    envelope = checked(world, world.act(tool, caller="person:ada", **arguments))
    assert (envelope["status"], "result" in envelope, world.project.approvals) == ("ok", True, {})


@pytest.mark.parametrize("action", ["KEEP_FROZEN", "DISCARD", "REPRODUCE", "REQUEST_MORE_EVIDENCE"])
def test_only_promoting_is_gated_among_decisions(world, action):
    arguments = world.ready_for(COMMIT) | {"action": action}
    envelope = checked(world, world.act(COMMIT, **arguments))
    assert (envelope["status"], world.project.incumbent) == ("ok", "N-1")


@pytest.mark.parametrize("tool", ACTS)
def test_what_was_asked_for_and_approved_comes_to_what_a_person_would_have_done(world, tool):
    world.mode("MANUAL")
    arguments = world.ready_for(tool) | ({"action": "PROMOTE"} if tool == COMMIT else {})
    asked = world.act(tool, **arguments)
    assert asked["status"] == "approval_required"
    done = checked(world, json.loads(world.approve(asked["approval"]["id"]).response))
    assert (done["status"], done["approval"]["status"], done["approval"]["decided_by"]) == ("ok", "executed", OWNER)
    assert done["result"]


def test_the_agent_who_asked_is_the_one_who_acts_once_it_is_approved(tmp_path):
    world = World(memory(tmp_path), "MANUAL")
    for tool in (CREATE, CLAIM):
        asked = world.act(tool, **world.ready_for(tool))
        world.approve(asked["approval"]["id"])
    author, claimer = (ticket for ticket in world.project.tickets.values())
    assert (author.author, author.source, claimer.claimed_by) == (ALICE, "agent", ALICE)
    asked = world.act(COMMIT, **world.ready_for(COMMIT))
    world.approve(asked["approval"]["id"])
    assert world.project.decisions["D-1"].decided_by == ALICE


# --- conflict -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("caller", [ALICE, OWNER])
@pytest.mark.parametrize("tool", ACTS)
def test_a_stale_revision_is_a_conflict_that_names_the_current_one(world, tool, caller):
    arguments, revision = world.ready_for(tool), world.project.revision
    for wrong in (revision - 1, revision + 1, 0):
        head = world.head
        envelope = checked(world, world.act(tool, caller=caller, revision=wrong, **arguments))
        error = envelope["result"]["error"]
        told = (envelope["status"], error["reason"], error["expected"], error["current"])
        assert (told, world.head) == (("conflict", "stale_revision", wrong, revision), head)
        assert envelope["nextActions"][0]["tool"] == "falsify.project.get_state"


@pytest.mark.parametrize("tool", ACTS)
def test_a_key_that_was_sent_with_another_body_is_a_conflict_that_says_so(world, tool):
    arguments = world.ready_for(tool)
    world.act(tool, key="once", **arguments)
    head = world.head
    word = {"rationale", "reason"} & arguments.keys()
    other = {**arguments, word.pop(): "Something else entirely."} if word else {**arguments, "project_id": "p1"}
    if tool == CREATE:
        other = {"tickets": [TICKET | {"title": "Another title"}]}
    if tool == MATERIALIZE:
        other = {**arguments, "config_mutation": {"hidden_width": 32}}
    for changed, revision in ((other, None), (arguments, 0)):  # the revision is part of what was sent
        envelope = world.act(tool, key="once", revision=revision, **changed)
        assert (envelope["status"], world.head) == ("conflict", head)
        assert "was sent before with another body" in envelope["result"]["error"]["message"]


# --- the same key, the same body ------------------------------------------------------------------------------


@pytest.mark.parametrize("caller", [ALICE, OWNER])
@pytest.mark.parametrize("tool", ACTS)
def test_a_retry_is_answered_by_the_same_bytes_however_stale_it_is_by_then(world, tool, caller):
    sent = world.body(**world.ready_for(tool))
    first = world.send(tool, sent, caller=caller)
    world.ticket(title="What came in between", hypothesis="Something else helps too.")
    head = world.head
    backwards = dict(reversed(json.loads(json.dumps(sent)).items()))
    assert world.send(tool.replace(".", "_"), backwards, caller=caller) == first
    assert world.head == head


@pytest.mark.parametrize("tool", ACTS)
def test_a_retry_is_answered_by_the_same_bytes_after_a_restart(tmp_path, tool):
    with Workspace.init(tmp_path, environ={}) as workspace:
        world = World(workspace)
        sent = world.body(**world.ready_for(tool))
        first, head = world.send(tool, sent), world.head
    with Workspace.open(tmp_path, environ={}) as workspace:
        assert call(workspace, CATALOGUE, tool, sent, caller=ALICE) == first
        assert workspace.log.head().position == head


def test_a_key_belongs_to_its_caller_and_its_tool(tmp_path):
    world = World(memory(tmp_path), "AUTORESEARCH")
    first = world.act(CREATE, key="once", tickets=[TICKET])
    other = world.act(CREATE, key="once", caller=BOB, tickets=[TICKET])
    claim = world.act(CLAIM, key="once", ticket_id="T-1", reason="It ranks highest.")
    assert [e["status"] for e in (first, other, claim)] == ["ok", "ok", "ok"]
    assert [t["id"] for e in (first, other) for t in e["result"]["tickets"]] == ["T-1", "T-2"]


def test_asking_twice_for_the_same_is_one_request(copilot):
    arguments = copilot.ready_for(START)
    first, again = copilot.act(START, **arguments), copilot.act(START, **arguments)
    assert (first["approval"], len(copilot.project.approvals)) == (again["approval"], 1)
    assert copilot.act(START, caller=BOB, **arguments)["approval"]["id"] != first["approval"]["id"]


# --- invalid_request ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ACTS)
def test_arguments_that_are_missing_or_unknown_are_an_invalid_request(world, tool):
    sent = world.body(**world.ready_for(tool))
    head = world.head
    for wrong in ({k: v for k, v in sent.items() if k != name} for name in PUBLISHED[tool]["required"]):
        told = json.loads(world.send(tool, wrong))
        assert (told["status"], told["result"]["error"]["reason"]) == ("invalid_request", "invalid_arguments")
    told = checked(world, json.loads(world.send(tool, sent | {"bogus": 1})))
    assert (told["status"], world.head) == ("invalid_request", head)


WORDS = {
    CREATE: ("title", "hypothesis", "instruction"),
    CLAIM: ("reason", "ticket_id", "agent_session_id"),
    MATERIALIZE: ("change_summary", "ticket_id", "parent_node_id", "round_id"),
    START: ("reason", "node_id"),
    CANCEL: ("reason", "run_id"),
    COMMIT: ("rationale", "node_id"),
}


@pytest.mark.parametrize("character", ["\x1b[31m", "\0", "\x9b", "\ud800", "\x7f"])
@pytest.mark.parametrize(("tool", "field"), [(tool, field) for tool, fields in WORDS.items() for field in fields])
def test_a_text_with_characters_that_nobody_sees_is_an_invalid_request(copilot, tool, field, character):
    arguments = copilot.ready_for(tool)
    text = f"looks quite harmless{character} to whoever reads it"
    arguments = {"tickets": [TICKET | {field: text}]} if tool == CREATE else {**arguments, field: text}
    assert refusal(copilot, tool, **arguments)[0] == "invalid_request"


@pytest.mark.parametrize(
    ("tool", "change"),
    [
        (CREATE, {"tickets": [TICKET | {"title": "      "}]}),
        (CREATE, {"tickets": [TICKET | {"required_evidence": ["vibes"]}]}),
        (CREATE, {"tickets": [TICKET | {"required_evidence": ["x" * 10**6]}]}),
        (CREATE, {"tickets": []}),
        (CREATE, {"tickets": [TICKET] * 9}),
        (CLAIM, {"reason": " "}),
        (START, {"node_id": ""}),
        (START, {"node_id": "x" * 65}),
        (START, {"reason": "x" * 501}),
        (CANCEL, {"run_id": "x" * 65}),
        (COMMIT, {"rationale": " " * 20}),
        (COMMIT, {"evidence_refs": ["EV\n1"]}),
        (COMMIT, {"verdict": "GREAT"}),
        (MATERIALIZE, {"config_mutation": {"hidden_width": 0}}),
        (MATERIALIZE, {"config_mutation": {"learning_rate": float("nan")}}),
        (MATERIALIZE, {"config_mutation": {"dataset": "moons"}}),
    ],
)
def test_what_the_contract_does_not_admit_is_an_invalid_request(copilot, tool, change):
    told = refusal(copilot, tool, **(copilot.ready_for(tool) | change))
    assert told[0] == "invalid_request"


@pytest.mark.parametrize("key", ["", "two\nlines", "\0"])
@pytest.mark.parametrize("tool", ACTS)
def test_a_key_that_names_nothing_is_an_invalid_request(copilot, tool, key):
    sent = copilot.body(**copilot.ready_for(tool)) | {"idempotency_key": key}
    head = copilot.head
    told = json.loads(copilot.send(tool, sent))
    assert (told["status"], "idempotency_key" in told["result"]["error"]["message"]) == ("invalid_request", True)
    assert copilot.head == head


def test_nothing_of_a_round_is_written_where_one_of_its_tickets_is_wrong(copilot):
    wrong = [TICKET, TICKET | {"hypothesis": "It ends with a bell\x07."}]
    assert refusal(copilot, CREATE, tickets=wrong)[0] == "invalid_request"
    assert (copilot.project.tickets, copilot.project.rounds) == ({}, {})


def test_a_caller_who_is_nobody_is_an_invalid_request(copilot):
    for caller in ("", "root", "agent:", "agent:a b"):
        told = json.loads(copilot.send(CREATE, copilot.body(tickets=[TICKET]), caller=caller))
        assert told["status"] == "invalid_request"


@pytest.fixture(scope="module")
def autonomous(tmp_path_factory):
    """Return one world for all examples: whatever one of them did, the next must be answered."""
    return World(memory(tmp_path_factory.mktemp("autonomous")), "AUTORESEARCH")


@settings(max_examples=300)
@given(
    sent=st.data(), tool=st.sampled_from([*CATALOGUE, "falsify.nothing", ""]), caller=st.sampled_from([ALICE, OWNER])
)
def test_whatever_is_sent_the_answer_is_an_envelope(autonomous, sent, tool, caller):
    arguments = sent.draw(st.one_of(near(PUBLISHED[tool]), anything) if tool in PUBLISHED else anything)
    if isinstance(arguments, dict) and sent.draw(st.booleans()):
        arguments |= {"project_id": "p1"}
    told = json.loads(autonomous.send(tool, arguments, caller=caller))
    assert conforms(OUTPUT_SCHEMA, told)
    assert told["status"] in STATUSES


# --- not_found ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "change", "reason"),
    [
        (CLAIM, {"ticket_id": "T-99"}, "no_ticket"),
        (MATERIALIZE, {"ticket_id": "T-99"}, "no_ticket"),
        (MATERIALIZE, {"parent_node_id": "N-99"}, "no_node"),
        (MATERIALIZE, {"round_id": "round-99"}, "no_round"),
        (START, {"node_id": "N-99"}, "no_node"),
        (CANCEL, {"run_id": "R-99"}, "no_run"),
        (COMMIT, {"node_id": "N-99"}, "no_node"),
        (COMMIT, {"evidence_refs": ["EV-R-2", "EV-99"]}, "no_evidence"),
    ],
)
def test_what_is_not_there_is_not_found(world, tool, change, reason):
    assert refusal(world, tool, **(world.ready_for(tool) | change)) == ("not_found", reason)


@pytest.mark.parametrize("tool", CATALOGUE)
def test_a_project_that_is_not_there_is_not_found(copilot, tool):
    asked = copilot.ready_for(tool) if tool in ACTS else {}
    sent = copilot.body(**asked) if tool in ACTS else {"node_id": "N-1", "run_id": "R-1"}
    known = {name: value for name, value in sent.items() if name in PUBLISHED[tool]["properties"]}
    for project_id in ("p2", "main", "../p1", "p1\x00"):
        told = json.loads(copilot.send(tool, known | {"project_id": project_id}))
        assert (told["status"], told["projectRevision"]) == ("not_found", 0), project_id


def test_a_tool_that_is_not_there_is_not_found(copilot):
    for name in ("falsify.project.delete", "", "ticket.create", "\x1b[31m"):
        told = copilot.act(name)
        assert (told["status"], told["result"]["error"]["reason"]) == ("not_found", "no_tool")
        assert told["result"]["error"]["message"].isprintable()


# --- refused --------------------------------------------------------------------------------------------------


def claimable(world, move, **more):
    ticket_id = world.ticket(**more)
    world.record(lambda s: [*move(s.project, ticket_id, reason="so be it", caller=OWNER)])
    return {"ticket_id": ticket_id, "reason": "next"}


def materializing(world, mutation, **more):
    return {"ticket_id": world.claimed(**more), "config_mutation": mutation}


def node(world):
    node_id = world.node()
    return world.project.nodes[node_id]


def busy_node(world):
    node_id = world.node()
    world.queued(node_id)
    return node_id


def blocked_node(world):
    node_id = world.node()
    world.record(lambda s: [*nodes.block_node(s.project, node_id, reason="no", caller=OWNER)])
    return node_id


def failed_run(world):
    run_id = world.running(world.node())
    world.record(lambda s: [*runs.fail_run(s.project, run_id, seconds=1.0, reason="it crashed")])
    return run_id


def cancelled_run(world):
    run_id = world.queued(world.node())
    world.record(lambda s: [*runs.cancel_run(s.project, run_id, seconds=0.0, reason="no")])
    return run_id


def spent(world):
    """Leave no run in the budget."""
    for number in range(world.project.contract.budget_runs - len(world.project.runs)):
        world.frozen(mutation={"hidden_width": 10 + number}, hypothesis=f"A width of {10 + number} helps.")
    return world.node(mutation={"hidden_width": 9})


def judged(node_id, verdict="IMPROVED", action="PROMOTE", **more):
    return {"node_id": node_id, "verdict": verdict, "action": action, "rationale": "As it was measured.", **more}


def refuted(world):
    node_id = world.frozen(0.9)
    world.refute(node_id, 0.7)
    return node_id


REFUSED = {
    "a draft cannot be claimed": (CLAIM, "ticket_draft", lambda w: {"ticket_id": w.ticket(draft=True), "reason": "x"}),
    "a claimed ticket cannot be claimed": (
        CLAIM, "ticket_claimed", lambda w: {"ticket_id": w.claimed(), "reason": "x"}),
    "a blocked ticket cannot be claimed": (CLAIM, "ticket_blocked", lambda w: claimable(w, tickets.block_ticket)),
    "a cancelled ticket cannot be claimed": (
        CLAIM, "ticket_cancelled", lambda w: claimable(w, tickets.cancel_ticket)),
    "a completed ticket cannot be claimed": (
        CLAIM, "ticket_completed", lambda w: claimable(w, tickets.complete_ticket)),
    "a materialized ticket cannot be claimed": (
        CLAIM, "ticket_materialized",
        lambda w: {"ticket_id": node(w).ticket_id, "reason": "x"}),
    "a ticket that nobody claimed becomes no node": (
        MATERIALIZE, "ticket_eligible", lambda w: {"ticket_id": w.ticket(), "config_mutation": {"hidden_width": 9}}),
    "reading becomes no node": (
        MATERIALIZE, "not_an_experiment", lambda w: materializing(w, {"hidden_width": 9}, type="literature")),
    "a parent has to be frozen": (
        MATERIALIZE, "parent_not_frozen",
        lambda w: materializing(w, {"hidden_width": 9}) | {"parent_node_id": w.node()}),
    "a key that the contract does not name stays as it is": (
        MATERIALIZE, "key_not_mutable", lambda w: materializing(w, {"l2": 0.1})),
    "a key stays within the contract's bounds": (
        MATERIALIZE, "out_of_range", lambda w: materializing(w, {"hidden_width": 256})),
    "a mutation changes something": (
        MATERIALIZE, "no_op_mutation", lambda w: materializing(w, {"hidden_width": BASE["hidden_width"]})),
    "no mutation changes nothing": (MATERIALIZE, "no_op_mutation", lambda w: {"ticket_id": w.claimed()}),
    "a configuration is tried once": (
        MATERIALIZE, "repeated_config",
        lambda w: materializing(w, dict(node(w).mutation))),
    "the built-in trainer has no code": (
        MATERIALIZE, "no_code",
        lambda w: {"ticket_id": w.claimed(), "implementation_strategy": "coding-agent", "change_summary": "x"}),
    "only what was measured is reproduced": (
        MATERIALIZE, "nothing_to_reproduce", lambda w: materializing(w, {"hidden_width": 9}, type="reproduction")),
    "a node has one run at a time": (
        START, "run_active", lambda w: {"node_id": busy_node(w), "reason": "x"}),
    "a frozen node is not measured again": (
        START, "node_frozen", lambda w: {"node_id": w.project.baseline, "reason": "x"}),
    "a blocked node does not run": (START, "node_blocked", lambda w: {"node_id": blocked_node(w), "reason": "x"}),
    "the budget admits no further run": (START, "budget_exhausted", lambda w: {"node_id": spent(w), "reason": "x"}),
    "a run that succeeded is over": (
        CANCEL, "run_succeeded", lambda w: {"run_id": min(w.project.runs), "reason": "x"}),
    "a run that failed is over": (CANCEL, "run_failed", lambda w: {"run_id": failed_run(w), "reason": "x"}),
    "a cancelled run is over": (CANCEL, "run_cancelled", lambda w: {"run_id": cancelled_run(w), "reason": "x"}),
    "only a frozen node is decided on": (COMMIT, "node_ready", lambda w: judged(w.node())),
    "a decision follows the numbers": (COMMIT, "contradicts_numbers", lambda w: judged(w.frozen(0.5))),
    "what is no better is not promoted": (
        COMMIT, "contradicts_numbers", lambda w: judged(w.frozen(0.5), "REGRESSED")),
    "what is refuted is not promoted": (COMMIT, "evidence_refuted", lambda w: judged(refuted(w), "INCONCLUSIVE")),
    "evidence belongs to the node": (
        COMMIT, "foreign_evidence", lambda w: judged(w.frozen(), evidence_refs=["EV-R-1"])),
}  # fmt: skip


@pytest.mark.parametrize("caller", [ALICE, OWNER])
@pytest.mark.parametrize("rule", REFUSED)
def test_a_rule_refuses_for_its_own_reason_and_nothing_is_written(world, rule, caller):
    tool, reason, arguments = REFUSED[rule]
    assert refusal(world, tool, caller=caller, **arguments(world)) == ("refused", reason)


def test_a_ticket_whose_parent_was_not_measured_cannot_be_claimed(tmp_path):
    world = World(memory(tmp_path), baseline=None)
    assert refusal(world, CLAIM, ticket_id=world.ticket(), reason="x") == ("refused", "ticket_queued")


def test_a_refused_call_may_be_sent_again_under_its_key_and_succeeds_once_the_rule_admits_it(copilot):
    ticket_id = copilot.ticket(draft=True)
    arguments = {"key": "once", "ticket_id": ticket_id, "reason": "It ranks highest."}
    assert copilot.act(CLAIM, **arguments)["status"] == "refused"
    copilot.record(lambda s: [*tickets.queue_ticket(s.project, ticket_id, caller=OWNER)])
    assert copilot.act(CLAIM, **arguments)["status"] == "ok"


# --- forbidden and error --------------------------------------------------------------------------------------


def test_what_another_agent_claimed_is_not_to_be_materialized(world):
    arguments = world.ready_for(MATERIALIZE)
    assert refusal(world, MATERIALIZE, caller=BOB, **arguments) == ("forbidden", "not_your_claim")


@pytest.mark.parametrize("tool", ACTS)
def test_what_the_environment_cannot_do_is_an_error_and_nothing_is_written(copilot, tool, monkeypatch):
    arguments = copilot.ready_for(tool)
    head = copilot.head

    def full(*args, **more):
        raise UnavailableError("the disk is full", hint="make room")

    with monkeypatch.context() as patch:
        patch.setattr(EventLog, "append", full)
        told = copilot.act(tool, **arguments)
    assert (told["status"], told["result"]["error"]["message"], copilot.head) == ("error", "the disk is full", head)


# --- made again -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ACTS)
def test_a_command_is_made_again_out_of_its_recorded_arguments(world, tool):
    arguments = world.ready_for(tool)
    world.mode("MANUAL")
    asked = world.act(tool, **arguments)["approval"]
    again = work_of(tool, json.loads(json.dumps(asked["arguments"])))
    assert (again.tool, again.arguments) == (tool, {"project_id": "p1", **arguments})
    sight = world.bench.sight(ALICE)
    assert again.decide(sight) == work_of(tool, again.arguments).decide(sight)


def test_two_who_race_for_one_ticket_cannot_both_win(tmp_path):
    world = World(memory(tmp_path), "AUTORESEARCH")
    ticket_id, revision = world.ticket(), world.project.revision
    told = [
        world.act(CLAIM, caller=caller, revision=revision, ticket_id=ticket_id, reason="mine")["status"]
        for caller in (ALICE, BOB)
    ]
    assert (told, world.project.tickets[ticket_id].claimed_by) == (["ok", "conflict"], ALICE)


def test_whoever_is_overtaken_between_deciding_and_writing_loses(tmp_path, monkeypatch):
    world = World(memory(tmp_path), "AUTORESEARCH")
    ticket_id = world.ticket()
    append, sent = EventLog.append, world.body(ticket_id=ticket_id, reason="mine")

    def overtaken(log, *args, **more):
        monkeypatch.setattr(EventLog, "append", append)
        assert json.loads(world.send(CLAIM, sent, caller=BOB))["status"] == "ok"
        return append(log, *args, **more)

    monkeypatch.setattr(EventLog, "append", overtaken)
    told = checked(world, json.loads(world.send(CLAIM, sent)))
    assert (told["status"], world.project.tickets[ticket_id].claimed_by) == ("conflict", BOB)
