"""Every suggestion of the tools of beliefs can be sent as it stands, and tells of the moment of its answer."""

import random

import pytest

from falsify.belief.text import written
from falsify.workbench.autonomy import MODES
from surfaces.tools.schema import parse
from tests.catalogue_world import ALICE, OWNER
from tests.test_belief_tools import (
    GRAPH,
    READS,
    READY,
    RECALL,
    RECORD,
    REPLAY,
    RETRACT,
    REVISE,
    TOOLS,
    WHY,
    Believers,
    opened,
)

ROUNDS = 40
MUTATIONS = (RECORD, REVISE, RETRACT)


def worlds(root):
    """Yield beliefs in every mode, in a project of research and in one without."""
    for mode in MODES:
        yield f"{mode} project", Believers(opened(root / f"p{mode}"), mode)
        yield f"{mode} setting", Believers(opened(root / f"s{mode}", FALSIFY_AGENT_MODE=mode))


def literally(world, step, *, caller):
    """Send a suggestion as it stands; return what it is answered."""
    assert set(step) == {"tool", "arguments", "why"}
    parse(TOOLS[step["tool"]].model, step["arguments"])
    return world.send_step(step, caller=caller)


def moment(told):
    """Return the epoch that an answer tells of, and the dates that it was asked for."""
    result = told["result"]
    at = result.get("at", result)
    return at["epoch"], at.get("as_of"), at.get("valid_at")


def states_in(value):
    """Return the states that an answer tells, by the ids of the nodes: of a change, none."""
    found = {}
    rest = [value]
    while rest:
        each = rest.pop()
        if isinstance(each, dict):
            if "id" in each and each.get("state") is not None and "change" not in each:
                found.setdefault(each["id"], set()).add(each["state"])
            rest += each.values()
        elif isinstance(each, list):
            rest += each
    return found


def follow(world, told, *, caller, asked=(), depth=0):
    """Follow every suggestion of an answer, those that read first; return how many were followed.

    `asked` is the moment that the answer was asked about.
    """
    steps = told.get("nextActions", [])
    acts = [step for step in steps if step["tool"] in MUTATIONS]
    assert len(acts) <= 1, "the second would be decided on a revision that the first has left behind"
    followed = 0
    for step in [*(step for step in steps if step not in acts), *acts]:
        answer = literally(world, step, caller=caller)
        assert answer["status"] in ({"ok", "approval_required"} if step in acts else {"ok"}), (step, answer)
        followed += 1
        if step in acts:
            if depth < 3:
                followed += follow(world, answer, caller=caller, depth=depth + 1)
        elif step["tool"] in READS:
            assert_same_moment(told, step, answer, asked)
    return followed


def assert_same_moment(told, step, answer, asked):
    points = {n: step["arguments"][n] for n in ("epoch", "as_of", "valid_at") if n in step["arguments"]}
    assert points == dict(asked), step
    if told["status"] != "ok":
        return
    epoch, as_of, valid_at = moment(answer)
    assert epoch == moment(told)[0], (step, answer)
    if step["tool"] != WHY:
        assert (as_of, valid_at) == moment(told)[1:]
    node_id = step["arguments"].get("node", step["arguments"].get("focus"))
    before, after = states_in(told["result"]), states_in(answer["result"])
    if step["tool"] == WHY:
        after[answer["result"]["node"]["id"]] = {answer["result"]["state"]}
    if node_id in before:
        assert after[node_id] == before[node_id], (step, told, answer)


# --- the states ----------------------------------------------------------------------------------------------------

FORGOTTEN = {"claim": "not the red sign points north", "id": "F", "reason": "I saw it turned."}
STATES = {
    "fresh": [],
    "refuted": [(REVISE, FORGOTTEN)],
    "reinstated": [(REVISE, FORGOTTEN), (RETRACT, {"evidence_id": "F", "reason": "no"})],
    "withdrawn": [(RETRACT, READY[RETRACT])],
    "stood by again": [(RETRACT, READY[RETRACT]), (RETRACT, READY[RETRACT] | {"restore": True})],
    "doubtful": [(REVISE, {"claim": "no idea where the red sign points north", "id": "D", "reason": "see"})],
    "dated": [
        (REVISE, FORGOTTEN | {"asserted_at": "2024-01-01"}),
        (REVISE, {"claim": "the sea is west", "reason": "x"}),
    ],
    "on the dead": [
        (REVISE, FORGOTTEN),
        (RECORD, {"conclusions": [{"id": "K", "statement": "trust it", "depends_on": [{"on": "red"}]}]}),
    ],
}

ACTS = {
    "record": (RECORD, {"evidence": [
        {"id": "a", "claim": "not the blue sign points south"}, {"id": "b", "claim": "the blue sign is bent"},
    ]}),
    "record on red": (RECORD, {
        "evidence": [{"id": "g", "claim": "the green sign is red", "depends_on": [{"on": "red"}]}],
        "conclusions": [{"id": "k", "statement": "go by it", "depends_on": [{"on": "g"}]}],
    }),
    "record a source": (RECORD, {"evidence": [{
        "id": "h", "claim": "the hill is high", "source": {"id": "map", "title": "A map"}, "quote": "High!",
        "asserted_at": "2020-02-02",
    }]}),
    "revise": (REVISE, {"claim": "not the blue sign points south", "id": "G", "reason": "see"}),
    "revise what is there": (REVISE, {"claim": "the red sign points north", "source": {"id": "guide"}, "reason": "x"}),
    "revise an old one": (REVISE, {
        "claim": "not the blue sign points south", "asserted_at": "2001-01-01", "reason": "x",
    }),
    "retract": (RETRACT, {"evidence_id": "blue", "reason": "gone"}),
}  # fmt: skip


def points(world):
    """Yield moments of the past and of now."""
    days = [written(r.recorded_at) for r in world.workspace.records()]
    yield {}
    yield from ({"epoch": epoch} for epoch in range(world.graph.epoch + 1))
    yield from ({"as_of": day} for day in (days[len(days) // 2], days[-1], "2999-01-01"))
    yield from ({"valid_at": day} for day in ("2019-06-01", "2020-06-01", "2999-01-01"))
    yield {"epoch": 0, "valid_at": "2020-06-01"}
    yield {"as_of": days[-1], "valid_at": "2020-06-01"}


def reads(world):
    for query in ("the red sign points north", "go north", "the way is south"):
        yield RECALL, {"query": query}
    for node in ("red", "go", "N", "blue"):
        yield WHY, {"node": node}
    yield GRAPH, {"focus": "red", "max_nodes": 2}
    yield GRAPH, {}
    yield REPLAY, {}


@pytest.mark.parametrize("state", STATES)
def test_what_is_suggested_after_a_read_is_of_the_moment_that_was_read(tmp_path, state):
    followed = 0
    for _, world in worlds(tmp_path):
        for tool, sent in STATES[state]:
            asked = world.named if tool != RETRACT else {}
            assert world.act(tool, caller=OWNER, **sent, **asked)["status"] == "ok"
        for point in points(world):
            for tool, sent in reads(world):
                asked = {n: p for n, p in point.items() if tool != WHY or n != "valid_at"}
                told = world.act(tool, **sent, **asked)
                if told["status"] != "ok":  # there was no such node then
                    assert told["result"]["error"]["reason"] == "no_node"
                    continue
                assert told["status"] == "ok"
                followed += follow(world, told, caller=ALICE, asked=asked)
    assert followed > 100


@pytest.mark.parametrize("caller", [ALICE, OWNER])
@pytest.mark.parametrize("act", ACTS)
def test_what_is_suggested_after_an_act_can_be_sent_as_it_stands(tmp_path, act, caller):
    followed = 0
    for state, steps in STATES.items():
        for _, world in worlds(tmp_path / state):
            for tool, sent in steps:
                world.act(tool, caller=OWNER, **sent, **(world.named if tool != RETRACT else {}))
            tool, sent = ACTS[act]
            told = world.act(tool, caller=caller, **sent, **(world.named if tool != RETRACT else {}))
            assert told["status"] in {"ok", "approval_required"}, told
            followed += follow(world, told, caller=caller)
            if told["status"] == "approval_required":
                done = world.approve(told["approval"]["id"])
                assert done["status"] == "ok"
                followed += follow(world, done, caller=ALICE)
    # A person who holds what is there kills nothing that way, and so is told of nothing to look at.
    assert followed > 20 or (act, caller) == ("revise what is there", OWNER)


# --- any order -----------------------------------------------------------------------------------------------------


class Walk:
    """Acts in any order, each answer followed, by a seeded chance."""

    def __init__(self, world, seed):
        self.world, self.chance, self.number = world, random.Random(seed), 0

    def step(self):
        """Return how many suggestions were followed after one act and one read."""
        caller = self.chance.choice([ALICE, OWNER])
        tool, sent = self.chance.choice([self.record, self.record, self.revise, self.revise, self.retract])()
        told = self.world.act(tool, caller=caller, **sent, **(self.world.named if tool != RETRACT else {}))
        followed = follow(self.world, told, caller=caller) if told["ok"] or "approval" in told else 0
        point = self.chance.choice(list(points(self.world)))
        read, asked = self.chance.choice(list(reads(self.world)))
        point = {n: p for n, p in point.items() if read != WHY or n != "valid_at"}
        told = self.world.act(read, **asked, **point)
        return followed + (follow(self.world, told, caller=ALICE, asked=point) if told["ok"] else 0)

    def claim(self):
        what = self.chance.choice(["red", "blue", "green", "black"])
        sentence = f"the {what} sign points {self.chance.choice(['north', 'south'])}"
        return f"not {sentence}" if self.chance.random() < 0.5 else sentence

    def more(self):
        more = {}
        if self.chance.random() < 0.4:
            more["asserted_at"] = f"20{self.chance.randrange(10, 30)}-01-01"
        if self.chance.random() < 0.3:
            more["source"] = {"id": self.chance.choice(["guide", "map"])}
        return more

    def record(self):
        self.number += 1
        entry = {"id": f"e{self.number}", "claim": self.claim(), **self.more()}
        if self.chance.random() < 0.4:
            entry["supports"] = [{"hypothesis": self.chance.choice("NS")}]
        if self.chance.random() < 0.3:
            entry["depends_on"] = [{"on": self.chance.choice(["red", "blue", "go"])}]
        parts = {"evidence": [entry]}
        if self.chance.random() < 0.4:
            on = [{"on": entry["id"]}, {"on": self.chance.choice(["red", "blue"]), "critical": False}]
            parts["conclusions"] = [{"id": f"k{self.number}", "statement": f"so {self.number}", "depends_on": on}]
        return RECORD, parts

    def revise(self):
        return REVISE, {"claim": self.claim(), "reason": "see", **self.more()}

    def retract(self):
        handles = [h for (_, h), i in self.world.graph.handles.items() if i.startswith("E-")]
        sent = {"evidence_id": self.chance.choice(handles), "reason": "see"}
        return RETRACT, sent | ({"restore": True} if self.chance.random() < 0.5 else {})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(3))
def test_whatever_happened_before_what_is_suggested_can_be_sent(tmp_path, mode, seed):
    walk = Walk(Believers(opened(tmp_path), mode), seed)
    assert sum(walk.step() for _ in range(ROUNDS)) > ROUNDS // 2
