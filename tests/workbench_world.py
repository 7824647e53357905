"""A piece of research for tests: a project and its beliefs, decided by the domain and folded from a log in memory."""

from collections.abc import Sequence
from typing import Any, cast

import pytest

from falsify import join
from falsify.belief.events import BeliefEvent
from falsify.belief.graph import BeliefGraph
from falsify.clock import SteppingClock
from falsify.config_keys import parse_key
from falsify.errors import FalsifyError
from falsify.events import Event, Recorded
from falsify.log import Command, EventLog
from falsify.recorders.memory import MemoryRecorder
from falsify.workbench import nodes, runs, tickets
from falsify.workbench.contract import checked
from falsify.workbench.decisions import Judgement
from falsify.workbench.events import Contract, DecisionCommitted, Exhibit, Mode, NodeCreated, TicketCreated
from falsify.workbench.project import Project
from falsify.workbench.tickets import Idea
from projections.beliefs import BELIEF_EVENTS, BELIEFS, digest
from projections.workbench import WORKBENCH, WORKBENCH_EVENTS
from replay.verify import mislabelled, misplaced, redecide

OBJECTIVE = "Which settings classify the spirals best?"
STREAM = "project:p1"
ALICE, BOB = "agent:alice", "agent:bob"
OWNER = "owner"

KEYS = (
    parse_key("width=int:[1,512]"),
    parse_key("rate=float:(0,10]"),
    parse_key("activation=choice:tanh,relu"),
)
FIXED = (parse_key("dataset=choice:spirals,moons"),)
BASE = {"width": 8, "rate": 0.1, "activation": "tanh", "dataset": "spirals"}


TERMS: dict[str, Any] = {
    "metric": "val_acc",
    "direction": "maximize",
    "minimum_effect": 0.01,
    "noise_floor": 0.005,
    "tolerance": 0.02,
    "seed": 7,
    "executor": "builtin",
    "budget_runs": 20,
    "budget_seconds": 600.0,
    "run_seconds": 60.0,
    "required_evidence": (),
}
"""What a contract promises, beside its keys and the baseline's configuration."""


def contract(**changes: Any) -> Contract:
    """Return a checked contract: accuracy to be maximised, 20 runs of a minute within ten minutes."""
    return checked(Contract(**(TERMS | {"keys": KEYS, "base": BASE} | changes)), KEYS, FIXED)


def idea(title: str = "a wider layer", **changes: Any) -> Idea:
    """Return an idea for an experiment."""
    words: dict[str, Any] = {
        "title": title,
        "type": "experiment",
        "hypothesis": f"{title} helps.",
        "instruction": "set width to 64",
        "parent_policy": "incumbent",
        **changes,
    }
    return Idea(**words)


def exhibit(run_id: str, kind: Any = "metric") -> Exhibit:
    """Return a piece of evidence that a run left."""
    return Exhibit(
        evidence_id=f"EV-{run_id}-{kind}",
        kind=kind,
        name=f"{kind}.json",
        media_type="application/json",
        sha256="0" * 64,
        size=3,
    )


def refused(call: Any, *args: Any, **more: Any) -> tuple[str, str]:
    """Return the status and the reason with which a decision is refused; it must be, and must say what to do."""
    with pytest.raises(FalsifyError) as caught:
        call(*args, **more)
    assert caught.value.hint, f"{caught.value.message} has no hint"
    return caught.value.status, caught.value.reason


class Research:
    """A project that is played by calling the domain; every decision is encoded, logged, decoded and folded."""

    def __init__(
        self, mode: Mode = "AUTORESEARCH", *, baseline: float | None = None, create: bool = True, **terms: Any
    ) -> None:
        self.log = EventLog(MemoryRecorder(), clock=SteppingClock())
        self.project, self.graph = Project(), BeliefGraph()
        self._position = 0
        if create:
            self.create(mode, **terms)
        if baseline is not None:
            self.record(nodes.register_baseline(self.project, caller=OWNER))
            self.measure("N-1", baseline)

    def create(self, mode: Mode = "AUTORESEARCH", **terms: Any) -> list[Event]:
        """Begin the project."""
        told: dict[str, Any] = {"objective": OBJECTIVE, "mode": mode, "contract": contract(**terms), "parent": ""}
        return self.record(join.create_project(self.project, self.graph, project_id="p1", caller=OWNER, **told))

    @property
    def records(self) -> list[Recorded]:
        return list(self.log.read(stream=STREAM))

    def record(self, events: Sequence[Event]) -> list[Event]:
        """Append what was decided, and catch up."""
        revision = self.project.revision
        name = f"{self.log.head().position}"
        self.log.append(STREAM, events, expected_revision=revision, command=Command(id=name, actor=OWNER, tool="test"))
        for recorded in self.log.read(after=self._position, stream=STREAM):
            BELIEFS.evolve(self.graph, recorded)
            WORKBENCH.evolve(self.project, recorded)
            self._position = recorded.position
        return list(events)

    # --- what people and agents do --------------------------------------------------------------------------

    def propose(self, *ideas: Idea, author: str = ALICE, source: Any = "agent", draft: bool = False) -> list[str]:
        """Create tickets; return their ids."""
        created = join.create_tickets(
            self.project, self.graph, ideas or (idea(),), author=author, source=source, draft=draft
        )
        return [e.ticket_id for e in self.record(created) if isinstance(e, TicketCreated)]

    def claim(self, ticket_id: str, *, caller: str = ALICE) -> list[Event]:
        claimed = tickets.claim_ticket(self.project, ticket_id, reason="next", agent_session_id="", caller=caller)
        return self.record([*claimed])

    def claimed(self, *ideas: Idea) -> str:
        """Create a ticket and claim it; return its id."""
        (ticket_id,) = self.propose(*ideas)
        self.claim(ticket_id)
        return ticket_id

    def materialize(self, ticket_id: str, *, caller: str = ALICE, **more: Any) -> str:
        """Make a claimed ticket a node; return its id."""
        made = self.record([*nodes.materialize(self.project, ticket_id, caller=caller, **{"mutation": {}, **more})])
        return cast("NodeCreated", made[0]).node_id

    def branch(self, asked: Idea | None = None, **mutation: Any) -> str:
        """Create, claim and materialise a ticket; return the node's id."""
        return self.materialize(self.claimed(asked or idea(f"{mutation}")), mutation=mutation)

    def reproduce(self, node_id: str) -> str:
        """Create, claim and materialise a reproduction of a node; return the new node's id."""
        again = idea(f"once more {node_id}", type="reproduction", hypothesis=f"What {node_id} measured holds.")
        return self.materialize(self.claimed(again), parent_node_id=node_id)

    def queue(self, node_id: str) -> str:
        """Queue a run; return its id."""
        self.record([*runs.queue_run(self.project, node_id, reason="to see")])
        return next(reversed(self.project.runs))

    def start(self, node_id: str) -> str:
        """Queue a run and start it; return its id."""
        run_id = self.queue(node_id)
        self.record([*runs.start_run(self.project, run_id, worker="w")])
        return run_id

    def finish(self, run_id: str, value: float, *, kinds: Sequence[str] = ("metric",), **more: Any) -> join.Finish:
        """Return how a run ends well."""
        told: dict[str, Any] = {
            "seconds": 1.5,
            "metrics": {"val_acc": value},
            "ended_at": f"2026-01-01T00:{len(self.project.runs):02}:00Z",
            **more,
        }
        return join.Finish(run_id=run_id, exhibits=tuple(exhibit(run_id, kind) for kind in kinds), **told)

    def measure(self, node_id: str, value: float, **more: Any) -> list[Event]:
        """Run a node to a value; return what its success came to."""
        run_id = self.start(node_id)
        return self.record(join.succeed_run(self.project, self.graph, self.finish(run_id, value, **more)))

    def decide(self, node_id: str, verdict: Any, action: Any, *, refs: tuple[str, ...] = ()) -> list[Event]:
        """Commit a decision."""
        judgement = judge(node_id, verdict, action, refs=refs)
        return self.record(join.commit_decision(self.project, self.graph, judgement, caller=OWNER))

    # --- what is believed of it -----------------------------------------------------------------------------

    def state(self, handle: str) -> str:
        """Return the truth-state of what a handle stands for."""
        return self.graph.nodes[self.graph.handles[self.project.question_id, handle]].state

    def incumbent(self) -> tuple[str, str]:
        """Return the incumbent and its truth-state."""
        return self.project.incumbent, join.incumbent_state(self.project, self.graph)

    def check(self) -> None:
        """See to it that the log says what is live, and what the rules of belief say."""
        agree(self.project, self.graph, self.records)


def judge(node_id: str, verdict: Any, action: Any, *, refs: tuple[str, ...] = ()) -> Judgement:
    return Judgement(node_id=node_id, verdict=verdict, action=action, rationale="as measured", evidence_refs=refs)


def agree(project: Project, graph: BeliefGraph, records: list[Recorded]) -> None:
    """See to it that a log says what is live, and that every cascade and every move in it is by the rules."""
    assert WORKBENCH.fold(records) == project
    assert digest(BELIEFS.fold(records)) == digest(graph)
    assert redecide(records)[1] is None
    assert list(mislabelled(graph)) == []
    assert list(misplaced(records)) == []


def beliefs(events: Sequence[Event]) -> list[BeliefEvent]:
    """Return what beliefs make of it."""
    return [cast("BeliefEvent", e) for e in events if type(e) in BELIEF_EVENTS]


def research(events: Sequence[Event]) -> list[Event]:
    """Return what is no belief."""
    return [e for e in events if type(e) in WORKBENCH_EVENTS]


def decision(events: Sequence[Event]) -> DecisionCommitted:
    """Return the decision among the events."""
    return next(e for e in events if isinstance(e, DecisionCommitted))
