"""A workspace with one research project for tests: tools are called through the catalogue, as agents and people do.

What happens in between (measurements, people moving tickets) is decided by the domain and appended without a tool.
"""

import json
from pathlib import Path
from typing import Any

from falsify import join
from falsify.clock import SteppingClock
from falsify.config_keys import parse_key
from falsify.events import Event
from falsify.log import EventLog
from falsify.recorders.memory import MemoryRecorder
from falsify.workbench import nodes, runs, tickets
from falsify.workbench.contract import change_mode, checked
from falsify.workbench.events import Contract, Exhibit, Mode, NodeCreated, TicketCreated
from surfaces.tools.catalogue import CATALOGUE, call, work_of
from surfaces.workbench import Answer, Sight, Work, Workbench
from surfaces.workspace import Workspace
from tests.workbench_world import TERMS

OWNER, ALICE, BOB = "owner", "agent:alice", "agent:bob"
MODES: tuple[Mode, ...] = ("MANUAL", "COPILOT", "AUTORESEARCH")

KEYS = tuple(map(parse_key, ("hidden_width=int:[1,128]", "learning_rate=float:(0,10]")))
DECLARED = (*KEYS, parse_key("dataset=choice:spirals,moons"))
BASE = {"hidden_width": 8, "learning_rate": 0.01, "dataset": "spirals"}

TICKET = {
    "title": "Wider layers",
    "type": "experiment",
    "hypothesis": "A wider hidden layer helps.",
    "instruction": "Set hidden_width to 64.",
    "parent_policy": "incumbent",
}


def contract(**changes: Any) -> Contract:
    return checked(Contract(**(TERMS | {"keys": KEYS, "base": BASE} | changes)), KEYS, DECLARED[len(KEYS) :])


def memory(root: Path) -> Workspace:
    """Return a workspace whose log ends with the process."""
    clock = SteppingClock()
    return Workspace.init(root, environ={}, clock=clock, log=EventLog(MemoryRecorder(), clock=clock))


class World:
    """The project p1, its baseline N-1 measured at 0.8 unless told otherwise."""

    def __init__(
        self, workspace: Workspace, mode: Mode = "COPILOT", *, baseline: float | None = 0.8, project: str = "p1",
        parent: str = "", **terms: Any,
    ) -> None:  # fmt: skip
        self.workspace = workspace
        self.keys = 0
        self.bench = Workbench(workspace, project, new=True)
        words = {"objective": "Which settings classify the spirals best?", "mode": mode, "parent": parent}
        made = contract(**terms)
        self.record(
            lambda s: join.create_project(s.project, s.graph, project_id=project, contract=made, caller=OWNER, **words)
        )
        if baseline is not None:
            self.record(lambda s: [*nodes.register_baseline(s.project, caller=OWNER)])
            self.measure("N-1", baseline)

    @property
    def project(self):
        return self.bench.project

    @property
    def head(self) -> int:
        return self.workspace.log.head().position

    # --- through the catalogue ------------------------------------------------------------------------------

    def send(self, tool: str, arguments: object, *, caller: str = ALICE) -> bytes:
        return call(self.workspace, CATALOGUE, tool, arguments, caller=caller)

    def body(self, key: str = "", revision: int | None = None, **arguments: Any) -> dict[str, Any]:
        """Return what is sent: by default under a fresh key, and decided on the present revision."""
        self.keys += 1
        return {
            "project_id": self.bench.project_id,
            **arguments,
            "idempotency_key": key or f"key-{self.keys}",
            "expected_project_revision": self.project.revision if revision is None else revision,
        }

    def act(self, tool: str, *, caller: str = ALICE, key: str = "", revision: int | None = None, **arguments: Any):
        """Call a tool that acts; return the envelope."""
        return json.loads(self.send(tool, self.body(key, revision, **arguments), caller=caller))

    def approve(self, approval_id: str, *, caller: str = OWNER, **more: Any) -> Answer:
        return self.bench.approve(approval_id, caller=caller, work_of=work_of, **more)

    # --- in between -----------------------------------------------------------------------------------------

    def record(self, decide: Any) -> list[Event]:
        """Decide and append once; return the events."""
        made: list[Event] = []

        def decided(sight: Sight) -> list[Event]:
            made[:] = decide(sight)
            return made

        work = Work(tool="test", arguments={}, decide=decided, result=lambda _after, _events: {})
        self.bench.perform(work, caller=OWNER)
        return made

    def mode(self, mode: Mode) -> None:
        self.record(lambda s: [*change_mode(s.project, mode, reason="for a test", caller=OWNER)])

    def idea(self, **changes: Any) -> tickets.Idea:
        return tickets.Idea(**{**TICKET, **changes})

    def ticket(self, *, author: str = ALICE, draft: bool = False, **changes: Any) -> str:
        """Create a ticket; return its id. In every mode it can be claimed, if its parent is there."""
        ideas = [self.idea(**changes)]
        source: Any = "agent" if author.startswith("agent:") else "human"
        made = self.record(
            lambda s: join.create_tickets(s.project, s.graph, ideas, author=author, source=source, draft=draft)
        )
        ticket_id = next(e.ticket_id for e in made if isinstance(e, TicketCreated))
        if self.project.tickets[ticket_id].status == "QUEUED" and self.project.incumbent:
            self.record(lambda s: [*tickets.make_eligible(s.project, ticket_id, caller=OWNER)])
        return ticket_id

    def claimed(self, *, by: str = ALICE, **changes: Any) -> str:
        ticket_id = self.ticket(**changes)
        self.record(
            lambda s: [*tickets.claim_ticket(s.project, ticket_id, reason="next", agent_session_id="", caller=by)]
        )
        return ticket_id

    def node(self, *, mutation: dict[str, Any] | None = None, parent: str = "", **changes: Any) -> str:
        """Make a ticket a node; return the node's id."""
        ticket_id, changed = self.claimed(**changes), {"hidden_width": 64} if mutation is None else mutation
        made = self.record(
            lambda s: [*nodes.materialize(s.project, ticket_id, parent_node_id=parent, mutation=changed, caller=ALICE)]
        )
        return next(e.node_id for e in made if isinstance(e, NodeCreated))

    def queued(self, node_id: str) -> str:
        self.record(lambda s: [*runs.queue_run(s.project, node_id, reason="to see")])
        return next(reversed(self.project.runs))

    def running(self, node_id: str) -> str:
        run_id = self.queued(node_id)
        self.record(lambda s: [*runs.start_run(s.project, run_id, worker="w")])
        return run_id

    def measure(self, node_id: str, value: float, *, seconds: float = 1.5) -> str:
        """Run a node to a value; return the run's id. Its evidence is EV-<run>."""
        run_id = self.running(node_id)
        exhibit = Exhibit(
            evidence_id=f"EV-{run_id}", kind="metric", name="metrics.json", media_type="application/json",
            sha256="0" * 64, size=3,
        )  # fmt: skip
        finish = join.Finish(
            run_id=run_id, seconds=seconds, metrics={"val_acc": value}, exhibits=(exhibit,),
            ended_at=f"2026-01-01T00:{len(self.project.runs):02}:00Z",
        )  # fmt: skip
        self.record(lambda s: join.succeed_run(s.project, s.graph, finish))
        return run_id

    def frozen(self, value: float = 0.9, **more: Any) -> str:
        """Return a node that was measured at a value."""
        node_id = self.node(**more)
        self.measure(node_id, value)
        return node_id

    def refute(self, node_id: str, value: float) -> None:
        """Measure a node's configuration again, with another outcome."""
        again = self.node(
            type="reproduction", hypothesis=f"What {node_id} measured holds.", parent=node_id, mutation={}
        )
        self.measure(again, value)

    # --- each tool's own --------------------------------------------------------------------------------------

    def ready_for(self, tool: str) -> dict[str, Any]:
        """Bring the project to where the tool can be called; return the arguments to call it with."""
        match tool.removeprefix("falsify."):
            case "ticket.create":
                return {"tickets": [TICKET]}
            case "ticket.claim":
                return {"ticket_id": self.ticket(), "reason": "It ranks highest."}
            case "experiment.materialize":
                return {"ticket_id": self.claimed(), "config_mutation": {"hidden_width": 64}}
            case "run.start":
                return {"node_id": self.node(), "reason": "Measure it."}
            case "run.cancel":
                return {"run_id": self.running(self.node()), "reason": "It is of no use."}
        assert tool == "falsify.decision.commit"
        decided = {"verdict": "IMPROVED", "action": "PROMOTE", "rationale": "It is better by 0.1."}
        return {"node_id": self.frozen(), **decided}


ACTS = tuple(name for name, tool in CATALOGUE.items() if tool.kind != "answer")
