"""Next actions are sent exactly as they are suggested: wherever a project stands, none of them is refused.

A seeded walk leads a project through its states, in every mode. In each of them everything that is suggested to an
agent is carried out on a copy of the log, and what is suggested then as well.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from falsify import join
from falsify.belief.revision import AssertFact
from falsify.clock import SteppingClock
from falsify.errors import FalsifyError
from falsify.log import EventLog
from falsify.recorders.memory import MemoryRecorder
from falsify.workbench import nodes, runs, tickets
from falsify.workbench.contract import change_mode
from falsify.workbench.decisions import Judgement
from surfaces.tools.catalogue import TOOLS, call
from surfaces.workbench import Workbench
from surfaces.workspace import Workspace
from tests.catalogue_world import ACTS, ALICE, BOB, MODES, OWNER, TICKET, World, memory

STATE, LIST, COMPARE, RUN = (
    f"falsify.{name}" for name in ("project.get_state", "ticket.list", "node.compare", "run.get")
)
CREATE, CLAIM, MATERIALIZE, START, CANCEL, COMMIT = ACTS
ACTIONS = ("PROMOTE", "KEEP_FROZEN", "DISCARD", "REPRODUCE", "REQUEST_MORE_EVIDENCE")

Step = dict[str, Any]

SEEDS, STEPS = 4, 20
"""How many walks there are in each mode, and how long they are."""


# --- following ------------------------------------------------------------------------------------------------


def fork(world: World) -> World:
    """Return a copy of a world, on which can be tried what the original is not to know of."""
    recorder, known = MemoryRecorder(), world.workspace.log.recorder
    recorder.rows, recorder.answers = [*known.rows], dict(known.answers)
    recorder.streams = {name: [*positions] for name, positions in known.streams.items()}
    recorder._committed = (len(recorder.rows), len(recorder.answers))
    clock = SteppingClock()
    twin = object.__new__(World)
    twin.workspace = Workspace.open(world.workspace.root, environ={}, clock=clock, log=EventLog(recorder, clock=clock))
    twin.bench, twin.keys = Workbench(twin.workspace, "p1"), world.keys
    return twin


def send(world: World, tool: str, arguments: dict[str, Any], caller: str = ALICE) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(call(world.workspace, TOOLS, tool, arguments, caller=caller))
    return told


def ask(world: World, tool: str, caller: str = ALICE, **arguments: Any) -> dict[str, Any]:
    """Read something; return the envelope."""
    return send(world, tool, {"project_id": "p1", **arguments}, caller)


def follow(world: World, step: Step, caller: str = ALICE) -> dict[str, Any]:
    """Send a next action as it stands; where it waits for a person, let a person approve it.

    Return the answer to the agent, or what the agent finds when it looks again: `result` is then what was approved.
    """
    told = send(world, step["tool"], step["arguments"], caller)
    assert told["status"] in {"ok", "approval_required"}, (step, told["result"]["error"])
    if told["status"] == "ok":
        return measures_what_it_says(world, step, told)
    assert [each["tool"] for each in told["nextActions"]] == [STATE]
    done = json.loads(world.approve(told["approval"]["id"]).response)
    assert done["status"] == "ok"
    return measures_what_it_says(world, step, {**ask(world, STATE, caller, include=[]), "result": done["result"]})


def measures_what_it_says(world: World, step: Step, told: dict[str, Any]) -> dict[str, Any]:
    """Return the answer, having seen to it that a reproduction that was suggested is of the node in its title."""
    title = told["result"]["ticket"]["title"].removeprefix("Reproduce ") if step["tool"] == MATERIALIZE else ""
    if named := world.project.nodes.get(title):
        made = world.project.nodes[told["result"]["node"]["id"]]
        assert (made.setup, made.parent_id) == (named.setup, named.id), step
    return told


def suggested(world: World, caller: str) -> Iterator[Step]:
    """Yield each next action that any look at the project comes with."""
    project = world.project
    looks = [(STATE, {}), (LIST, {}), (LIST, {"sort": "created_at", "limit": 1})]
    looks += [(COMPARE, {"node_id": node_id}) for node_id in project.nodes]
    looks += [(RUN, {"run_id": run_id}) for run_id in project.runs]
    for tool, arguments in looks:
        told = ask(world, tool, caller, **arguments)
        assert told["status"] == "ok"
        yield from told.get("nextActions", ())


def own_acts(world: World, caller: str) -> list[tuple[str, dict[str, Any]]]:
    """Return what an agent may do without having been told to: what no suggestion has the arguments of."""
    project, number = world.project, len(world.project.nodes)
    held = [t.id for t in project.tickets.values() if t.status == "CLAIMED" and t.claimed_by == caller]
    frozen = [node.id for node in project.nodes.values() if node.status == "FROZEN"]
    asked = {"verdict": "INCONCLUSIVE", "rationale": "To see what comes of it."}
    idea = {
        "hypothesis": f"The idea {number} helps.",
        "instruction": "Try it and measure.",
        "parent_policy": "incumbent",
    }
    kinds = ("experiment", "literature", "reproduction")
    return [
        *((MATERIALIZE, {"ticket_id": each, "config_mutation": {"hidden_width": 100 + number}}) for each in held),
        *((COMMIT, {"node_id": each, "action": action, **asked}) for each in frozen for action in ACTIONS),
        *((START, {"node_id": node.id, "reason": "Try it."}) for node in project.nodes.values()),
        *((CANCEL, {"run_id": run_id, "reason": "Enough of it."}) for run_id in project.active),
        *((CREATE, {"tickets": [{"title": f"idea {number}", "type": kind, **idea}]}) for kind in kinds),
        *((CLAIM, {"ticket_id": ticket_id, "reason": "I want to."}) for ticket_id in project.tickets),
    ]


def each_once(steps: Iterator[Step]) -> list[Step]:
    return list({json.dumps([step["tool"], step["arguments"]]): step for step in steps}.values())


def check(world: World, caller: str, draw: random.Random) -> Counter[str]:
    """Follow all that is suggested to a caller, and what is suggested thereafter; count what was followed."""
    followed: Counter[str] = Counter()
    steps = each_once(suggested(world, caller))
    for tool, arguments in draw.sample(own_acts(world, caller), 2):
        sent = world.body(**arguments)
        if send(fork(world), tool, sent, caller)["status"] in {"ok", "approval_required"}:
            steps.append({"tool": tool, "arguments": sent})
    for step in steps:
        twin = apart(world, step)
        told = follow(twin, step, caller)
        followed[step["tool"]] += 1
        for later in told.get("nextActions", ()):
            follow(apart(twin, later), later, caller)
            followed[later["tool"]] += 1
    return followed


def apart(world: World, step: Step) -> World:
    """Return the world itself for what only reads, and a copy for what changes something."""
    return fork(world) if step["tool"] in ACTS else world


def check_verdicts(world: World, caller: str) -> None:
    """See to it that the verdict that a comparison shows is one that a decision may state."""
    for node in world.project.nodes.values():
        if node.status == "FROZEN":
            verdict = ask(world, COMPARE, caller, node_id=node.id)["result"]["verdict"]
            decided = {"verdict": verdict, "action": "KEEP_FROZEN", "rationale": "As the comparison says."}
            told = send(twin := fork(world), COMMIT, twin.body(node_id=node.id, **decided), caller)
            assert told["status"] == "ok", told["result"]


# --- what else happens ----------------------------------------------------------------------------------------


def walk(world: World, draw: random.Random, length: int) -> Iterator[int]:
    """Yield after each of many steps that people, agents and workers take in a world."""
    taken = 0
    while taken < length:
        move = draw.choice(MOVES)
        try:
            move(world, draw)
        except (FalsifyError, IndexError):  # it was not possible here
            continue
        taken += 1
        yield taken


def goes_on(world: World, draw: random.Random) -> None:
    """An agent does something that is suggested."""
    caller = draw.choice([ALICE, ALICE, BOB])
    follow(world, draw.choice(ask(world, STATE, caller, include=[]).get("nextActions", ())), caller)


def creates(world: World, draw: random.Random) -> None:
    kind = draw.choice(["experiment", "experiment", "reproduction", "literature", "analysis", "ablation"])
    named = draw.choice([*world.project.nodes])
    world.record(
        lambda s: join.create_tickets(
            s.project,
            s.graph,
            [
                world.idea(
                    title=f"Reproduce {named}" if kind == "reproduction" else f"idea {len(world.project.tickets)}",
                    type=kind,
                    parent_policy=draw.choice(["incumbent", "baseline", "round-parent"]),
                )
            ],
            author=draw.choice([ALICE, OWNER]),
            source=draw.choice(["agent", "agent", "human"]),
            draft=draw.random() < 0.1,
        )
    )


def claims(world: World, draw: random.Random) -> None:
    ticket_id = draw.choice([t.id for t in world.project.tickets.values() if t.status == "ELIGIBLE"])
    caller = draw.choice([ALICE, ALICE, BOB, OWNER])
    world.record(
        lambda s: [*tickets.claim_ticket(s.project, ticket_id, reason="next", agent_session_id="", caller=caller)]
    )


def materializes(world: World, draw: random.Random) -> None:
    ticket = draw.choice([t for t in world.project.tickets.values() if t.status == "CLAIMED"])
    changes = {} if ticket.type == "reproduction" else {"hidden_width": draw.randrange(1, 128)}
    world.record(
        lambda s: [
            *nodes.materialize(
                s.project, ticket.id, mutation=changes, caller=ticket.claimed_by, draft=draw.random() < 0.1
            )
        ]
    )


def moves_a_ticket(world: World, draw: random.Random) -> None:
    ticket_id = draw.choice([*world.project.tickets])
    name = draw.choice(["queue", "eligible", "eligible", "eligible", "block", "cancel", "complete", "release"])
    move: dict[str, Callable[[Any], Any]] = {
        "queue": lambda s: tickets.queue_ticket(s.project, ticket_id, caller=OWNER),
        "eligible": lambda s: tickets.make_eligible(s.project, ticket_id, caller=OWNER),
        "block": lambda s: tickets.block_ticket(s.project, ticket_id, reason="no", caller=OWNER),
        "cancel": lambda s: tickets.cancel_ticket(s.project, ticket_id, reason="no", caller=OWNER),
        "complete": lambda s: tickets.complete_ticket(s.project, ticket_id, reason="done", caller=OWNER),
        "release": lambda s: tickets.release_ticket(s.project, ticket_id, reason="later", caller=OWNER),
    }
    world.record(lambda s: [*move[name](s)])


def moves_a_node(world: World, draw: random.Random) -> None:
    node_id, move = draw.choice([*world.project.nodes]), draw.choice([nodes.ready_node, nodes.block_node])
    world.record(lambda s: [*move(s.project, node_id, reason="so be it", caller=OWNER)])


def changes_the_mode(world: World, draw: random.Random) -> None:
    mode = draw.choice(MODES)
    world.record(lambda s: [*change_mode(s.project, mode, reason="", caller=OWNER)])


def measures(world: World, draw: random.Random) -> None:
    """A node is run, and succeeds, fails, is called off, or goes on."""
    node_id = draw.choice([n.id for n in world.project.nodes.values() if n.status in {"READY", "REPAIRABLE"}])
    ending = draw.choice(["queued", "running", "failed", "cancelled", "frozen", "frozen", "frozen", "frozen"])
    if ending == "queued":
        world.queued(node_id)
    elif ending == "frozen":
        world.measure(node_id, draw.choice([0.7, 0.8, 0.801, 0.9, 0.95]))
    else:
        run_id = world.running(node_id)
        if ending == "failed":
            world.record(lambda s: [*runs.fail_run(s.project, run_id, seconds=1.0, reason="its worker died")])
        if ending == "cancelled":
            world.record(lambda s: [*runs.cancel_run(s.project, run_id, seconds=1.0, reason="no")])


def decides(world: World, draw: random.Random) -> None:
    node_id = draw.choice([n.id for n in world.project.nodes.values() if n.status == "FROZEN"])
    action: Any = draw.choice(["PROMOTE", "PROMOTE", "KEEP_FROZEN", "DISCARD", "REPRODUCE", "REQUEST_MORE_EVIDENCE"])
    told = Judgement(node_id=node_id, verdict="INCONCLUSIVE", action=action, rationale="To see what comes of it.")
    world.record(lambda s: join.commit_decision(s.project, s.graph, told, caller=OWNER))


def refutes(world: World, draw: random.Random) -> None:
    run_id = draw.choice([node.frozen_by for node in world.project.nodes.values() if node.value])
    charge(world, run_id, draw.randrange(9))


def charge(world: World, run_id: str, times: int) -> None:
    """Refute what a run measured by a fact."""
    beliefs = world.bench.workspace
    fact = AssertFact(question_id=world.project.question_id, text=f"The seed was chosen {times} times.")
    beliefs.fact(fact)
    claim_id = world.project.runs[run_id].claim_id
    beliefs.rule(fact.fact_id, claim_id, relation="contradicts", confidence=0.9, rationale="seen")


def asks(world: World, draw: random.Random) -> None:
    """An agent asks for what waits for a person, who says nothing yet, or no."""
    step = draw.choice(ask(world, STATE, include=[]).get("nextActions", ()))
    told = send(world, step["tool"], step["arguments"])
    if told["status"] == "approval_required" and draw.random() < 0.5:
        world.bench.reject(told["approval"]["id"], caller=OWNER, reason="not now")


MOVES = (
    goes_on, goes_on, goes_on, goes_on, creates, creates, claims, claims, materializes, materializes, moves_a_ticket,
    moves_a_node, changes_the_mode, measures, measures, measures, decides, refutes, asks,
)  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_whatever_is_suggested_is_taken_wherever_a_project_stands(tmp_path, mode):
    followed: Counter[str] = Counter()
    for seed in range(SEEDS):
        draw = random.Random(seed)
        world = World(memory(tmp_path / f"{seed}"), mode, budget_runs=(2, 6, 20)[seed % 3])
        for taken in walk(world, draw, STEPS):
            caller = (ALICE, ALICE, BOB, OWNER)[taken % 4]
            followed += check(world, caller, draw)
            check_verdicts(world, caller)
    assert {STATE, LIST, COMPARE, RUN, CREATE, CLAIM, MATERIALIZE, START, COMMIT} - followed.keys() == set()


# --- a reproduction -------------------------------------------------------------------------------------------


def regressed(root: Any, mode: str) -> World:
    """Return a world with the incumbent N-2, and N-3, which is worse and undecided."""
    world = World(memory(root), mode)  # type: ignore[arg-type]
    for width, value in ((64, 0.9), (32, 0.7)):
        world.frozen(value, mutation={"hidden_width": width}, hypothesis=f"A width of {width} helps.")
        if width == 64:
            told = Judgement(node_id="N-2", verdict="IMPROVED", action="PROMOTE", rationale="As it was measured.")
            world.record(lambda s, told=told: join.commit_decision(s.project, s.graph, told, caller=OWNER))
    return world


def follow_on(world: World, step: Step) -> list[str]:
    """Follow the first of what is suggested until a run is queued, a person doing what waits; return the tools."""
    done = []
    while not world.project.active:
        done.append(step["tool"].removeprefix("falsify."))
        told = follow(world, step)
        for ticket in [t for t in world.project.tickets.values() if t.status == "QUEUED"]:
            world.record(lambda s, t=ticket: [*tickets.make_eligible(s.project, t.id, caller=OWNER)])
            told = ask(world, STATE, include=[])
        steps = told.get("nextActions", ())
        step = next((each for each in steps if each["tool"] in ACTS and each["tool"] != COMMIT), steps[0])
    return done


@pytest.mark.parametrize("mode", MODES)
def test_what_is_suggested_after_a_decision_to_reproduce_measures_that_node(tmp_path, mode):
    world = regressed(tmp_path, mode)
    sent = world.body(node_id="N-3", verdict="REGRESSED", action="REPRODUCE", rationale="It may be the seed.")
    (step,) = send(world, COMMIT, sent)["nextActions"]
    assert follow_on(world, step) == ["ticket.create", "ticket.claim", "experiment.materialize", "run.start"]
    node = world.project.nodes["N-4"]
    assert (node.reproduces, node.parent_id, node.config) == ("N-3", "N-3", world.project.nodes["N-3"].config)
    assert [world.project.runs[run_id].node_id for run_id in world.project.active] == ["N-4"]


@pytest.mark.parametrize("mode", MODES)
def test_a_decision_to_reproduce_is_followed_up_by_whoever_looks_later_and_once(tmp_path, mode):
    world = regressed(tmp_path, mode)
    sent = world.body(node_id="N-3", verdict="REGRESSED", action="REPRODUCE", rationale="It may be the seed.")
    (made,) = send(world, COMMIT, sent)["nextActions"]
    (later,) = ask(world, STATE, BOB, include=[])["nextActions"]
    assert (later["tool"], later["arguments"]) == (made["tool"], made["arguments"])
    follow(world, made)
    assert CREATE not in [step["tool"] for step in ask(world, STATE, BOB, include=[])["nextActions"]]


def test_a_reproduction_keeps_its_node_when_the_incumbent_moves_before_it_is_materialized(tmp_path):
    world = regressed(tmp_path, "AUTORESEARCH")
    ticket_id = world.claimed(type="reproduction", title="Reproduce N-2", hypothesis="What N-2 measured holds.")
    told = Judgement(node_id="N-3", verdict="INCONCLUSIVE", action="PROMOTE", rationale="To see what comes of it.")
    world.record(lambda s: join.commit_decision(s.project, s.graph, told, caller=OWNER))
    (step,) = [each for each in ask(world, STATE, include=[])["nextActions"] if each["tool"] == MATERIALIZE]
    assert (step["arguments"]["ticket_id"], step["arguments"]["parent_node_id"]) == (ticket_id, "N-2")
    assert step["why"] == f"you hold {ticket_id}; without a mutation it measures N-2 again"


def test_a_refuted_incumbent_is_not_to_be_reproduced_by_a_second_ticket(tmp_path):
    world = regressed(tmp_path, "AUTORESEARCH")
    charge(world, "R-2", 3)
    first: list[str] = []
    for _ in range(2):
        step = ask(world, STATE, include=[])["nextActions"][0]
        first.append(step["tool"])
        follow(world, step)
    told = {step["tool"]: step["arguments"] for step in ask(world, STATE, include=[])["nextActions"]}
    assert (first, CREATE in told, told[MATERIALIZE]["parent_node_id"]) == ([CREATE, CLAIM], False, "N-2")


# --- what waits for a person ----------------------------------------------------------------------------------


def test_an_agent_in_manual_learns_what_its_approved_ticket_waits_for_and_goes_on_as_soon_as_it_can(tmp_path):
    world = World(memory(tmp_path), "MANUAL")
    follow(world, {"tool": CREATE, "arguments": world.body(tickets=[TICKET])})
    (look,) = ask(world, STATE, include=[])["nextActions"]
    waits = "a person makes it eligible: `falsify ticket eligible T-1`"
    said = "a person makes it eligible: `falsify --project p1 ticket eligible T-1`"
    assert (look["tool"], look["arguments"], look["why"]) == (
        LIST,
        {"project_id": "p1", "status": ["QUEUED"]},
        f"T-1 waits until {said}",
    )
    (row,) = follow(world, look)["result"]["tickets"]
    assert (row["status"], row["waits_for"]) == ("QUEUED", waits)
    refused = send(world, CLAIM, world.body(ticket_id="T-1", reason="It is mine."))["result"]["error"]
    assert (refused["reason"], refused["hint"]) == (
        "ticket_queued",
        f"it waits until {said}; no other ticket is ELIGIBLE now",
    )
    world.record(lambda s: [*tickets.make_eligible(s.project, "T-1", caller=OWNER)])
    (claim,) = ask(world, STATE, include=[])["nextActions"]
    held = follow(world, claim)
    (read,) = held["nextActions"]
    assert (claim["tool"], read["tool"], read["arguments"]) == (
        CLAIM,
        LIST,
        {"project_id": "p1", "status": ["CLAIMED"]},
    )
    (mine,) = ask(world, STATE, include=[])["result"]["tickets"]["yours"]
    assert (mine["id"], mine["parent_node_id"], mine["waits_for"]) == ("T-1", "N-1", f"{ALICE} makes it a node")
    send(world, MATERIALIZE, world.body(ticket_id="T-1", config_mutation={"hidden_width": 64}))
    assert "nextActions" not in ask(world, STATE, include=[])


def test_an_agent_learns_that_its_tickets_wait_for_the_baseline(tmp_path):
    world = World(memory(tmp_path), "AUTORESEARCH", baseline=None)
    world.ticket()
    (look,) = ask(world, STATE, include=[])["nextActions"]
    assert (look["tool"], look["why"]) == (LIST, "T-1 waits until the baseline is measured")


def test_no_tool_is_suggested_for_reading_that_somebody_holds(tmp_path):
    world = World(memory(tmp_path), "AUTORESEARCH")
    world.claimed(type="literature")
    told = ask(world, STATE, include=[])
    assert "nextActions" not in told
    assert told["result"]["tickets"]["yours"][0]["waits_for"] == "a person completes it: `falsify ticket complete T-1`"


# --- what became of requests ----------------------------------------------------------------------------------


def yours(world: World) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = ask(world, STATE, include=[])["result"]["approvals"]["yours"]
    return told


def test_an_executed_request_tells_what_it_came_to_and_not_what_was_foreseen(tmp_path):
    world = World(memory(tmp_path), "COPILOT")
    run_id = world.running(world.node())
    started = world.project.runs[run_id].started_time
    world.workspace.clock.at = started + 4_234_000
    asked = send(world, CANCEL, world.body(run_id=run_id, reason="It is of no use."))["approval"]
    assert (asked["effects"], yours(world)[0]["effects"]) == (["R-2 of N-2 is cancelled: It is of no use."],) * 2
    world.workspace.clock.at = started + 6_827_000
    done = json.loads(world.approve(asked["id"]).response)["approval"]
    told = ["R-2 of N-2 is cancelled after 6.827 s: It is of no use."]
    assert (done["effects"], yours(world)[0]["effects"]) == (told, told)


def test_a_pending_request_names_nothing_that_has_no_name_yet(tmp_path):
    world = World(memory(tmp_path), "MANUAL")
    world.mode("COPILOT")
    first, second = (
        world.frozen(0.9, mutation={"hidden_width": width}, hypothesis=f"A width of {width} helps.")
        for width in (64, 32)
    )
    waiting = world.node(mutation={"hidden_width": 16}, hypothesis="A width of 16 helps.")
    held = world.claimed(type="reproduction", title="Reproduce N-1", hypothesis="What N-1 measured holds.")
    decided = {"verdict": "IMPROVED", "action": "PROMOTE", "rationale": "It is better by 0.1."}
    send(world, COMMIT, world.body(node_id=first, **decided))
    send(world, START, world.body(node_id=waiting, reason="Measure it."))
    world.mode("MANUAL")
    send(world, MATERIALIZE, world.body(ticket_id=held))
    send(world, CREATE, world.body(tickets=[TICKET]))
    told = {row["tool"]: row["effects"] for row in yours(world)}
    assert told == {
        COMMIT: [f"a decision: PROMOTE {first}, IMPROVED; the incumbent is {first}", "T-1 is completed: PROMOTE"],
        START: [f"a run of {waiting} is queued, for at most 60 s"],
        MATERIALIZE: ["a node is created to reproduce N-1 with another seed", "T-4 becomes a node"],
        CREATE: ["a round is opened from N-1", "a ticket is created by agent:alice: Wider layers"],
    }
    world.record(
        lambda s: join.commit_decision(
            s.project, s.graph, Judgement(node_id=second, **{**decided, "action": "DISCARD"}), caller=OWNER
        )
    )
    assert {row["tool"]: row["effects"] for row in yours(world)} == told


@pytest.mark.parametrize("answer", ["pending", "executed", "rejected"])
def test_a_request_is_told_in_one_spelling_wherever_it_is_told(tmp_path, answer):
    world = World(memory(tmp_path), "COPILOT")
    asked = send(world, START, world.body(node_id=world.node(), reason="Measure it."))["approval"]
    if answer == "executed":
        asked = json.loads(world.approve(asked["id"], note="go on").response)["approval"]
    if answer == "rejected":
        rejected = world.bench.reject(asked["id"], caller=OWNER, reason="too dear").response
        asked = json.loads(rejected)["result"]["approval"]
    (row,) = yours(world)
    assert asked["status"] == answer
    assert row == {**{name: asked[name] for name in row if name in asked}, "no_longer_holds": []}
    names = ("decided_by", "decided_at_revision", "note")
    assert [row[name] for name in names] == {
        "pending": [None, None, None],
        "executed": [OWNER, world.project.approvals[row["id"]].decided_at, "go on"],
        "rejected": [OWNER, world.project.approvals[row["id"]].decided_at, "too dear"],
    }[answer]
