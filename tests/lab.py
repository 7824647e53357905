"""A research project in a real workspace, worked on through the domain, with a stepping clock and files that exist."""

from typing import Any, cast

import orjson

from falsify import join
from falsify.clock import SteppingClock
from falsify.config_keys import parse_key
from falsify.log import Command
from falsify.workbench import decisions, nodes, runs, tickets
from falsify.workbench.contract import checked
from falsify.workbench.events import Contract, Exhibit, MetricsReported, Mode
from falsify.workbench.tickets import Idea
from surfaces.tools.evidence_reads import get_run, list_evidence
from surfaces.tools.fence import Fence
from surfaces.tools.schema import parse
from surfaces.tools.workbench_inputs import WORKBENCH_INPUTS
from surfaces.tools.workbench_reads import compare_node, get_graph, get_state, list_tickets
from surfaces.workbench import Work, Workbench
from surfaces.workspace import Workspace

MARK = "0123456789abcdef"
"""The nonce of every fence here."""

READS = {
    "falsify.project.get_state": get_state,
    "falsify.ticket.list": list_tickets,
    "falsify.graph.get": get_graph,
    "falsify.node.compare": compare_node,
    "falsify.run.get": get_run,
    "falsify.evidence.list": list_evidence,
}

KEYS = ("hidden_width=int:[1,512]", "learning_rate=float:(0,10]", "activation=choice:tanh,relu")
WARNING = Fence(MARK)
WARNING.wrap("")


def contract(**changes: Any) -> Contract:
    """Return a contract about the accuracy on spirals."""
    keys = tuple(parse_key(key) for key in KEYS)
    terms: dict[str, Any] = {
        "metric": "val_acc",
        "direction": "maximize",
        "minimum_effect": 0.01,
        "noise_floor": 0.005,
        "tolerance": 0.02,
        "keys": keys,
        "base": {"hidden_width": 8, "learning_rate": 0.01, "activation": "tanh", "dataset": "spirals"},
        "seed": 7,
        "executor": "builtin",
        "budget_runs": 20,
        "budget_seconds": 600.0,
        "run_seconds": 60.0,
        "required_evidence": (),
    }
    return checked(Contract(**{**terms, **changes}), keys, (parse_key("dataset=choice:spirals,moons"),))


def idea(title: str = "wider hidden width", **changes: Any) -> Idea:
    """Return what somebody writes on a ticket."""
    terms: dict[str, Any] = {
        "type": "experiment",
        "hypothesis": f"It helps: {title}.",
        "instruction": "Set it and measure.",
        "parent_policy": "incumbent",
    }
    return Idea(title=title, **{**terms, **changes})


def fenced(text: str, origin: str) -> str:
    """Return a text as the fence of these tests wraps it."""
    return Fence(MARK).wrap(text, origin=origin)


class Lab:
    """The project p1, of an owner and the agent a."""

    def __init__(self, root: Any, *, mode: Mode = "AUTORESEARCH", **terms: Any) -> None:
        self.workspace = Workspace.init(root, clock=SteppingClock())
        self.bench = Workbench(self.workspace, "p1", new=True)
        self.record(
            lambda s: join.create_project(
                s.project,
                s.graph,
                project_id="p1",
                objective="Which settings classify spirals best?",
                mode=mode,
                contract=contract(**terms),
                parent="",
                caller=s.caller,
            )
        )

    @property
    def project(self) -> Any:
        return self.bench.project

    def record(self, decide: Any, *, caller: str = "owner") -> None:
        """Append what is decided."""
        self.bench.append(decide, tool="test", actor=caller)

    def ask(self, tool: str, arguments: dict[str, Any], decide: Any, *, action: Any = None) -> dict[str, Any]:
        """Do something as agent:a, or ask for it."""
        work = Work(tool=tool, arguments=arguments, decide=decide, result=lambda _s, _e: {}, action=action)
        return cast("dict[str, Any]", orjson.loads(self.bench.perform(work, caller="agent:a").response))

    # --- what people and agents do ---------------------------------------------------------------------------

    def baseline(self, value: float = 0.8) -> None:
        """Register and measure N-1."""
        self.record(lambda s: [*nodes.register_baseline(s.project, caller=s.caller)])
        self.measure("N-1", value)

    def propose(self, *ideas: Idea, caller: str = "agent:a") -> list[str]:
        """Create tickets; return their ids."""
        source: Any = "agent" if caller.startswith("agent") else "human"
        count = len(self.project.tickets)
        self.record(
            lambda s: join.create_tickets(s.project, s.graph, ideas or (idea(),), author=s.caller, source=source),
            caller=caller,
        )
        return list(self.project.tickets)[count:]

    def claim(self, ticket_id: str) -> None:
        self.record(
            lambda s: [
                *tickets.claim_ticket(
                    s.project, ticket_id, reason="most promising", agent_session_id="", caller=s.caller
                )
            ],
            caller="agent:a",
        )

    def materialize(self, ticket_id: str, mutation: dict[str, Any], **more: Any) -> str:
        """Make a claimed ticket a node; return its id."""
        self.record(
            lambda s: [*nodes.materialize(s.project, ticket_id, mutation=mutation, caller=s.caller, **more)],
            caller="agent:a",
        )
        return list(self.project.nodes)[-1]

    def branch(self, mutation: dict[str, Any], asked: Idea | None = None, **more: Any) -> str:
        """Create a ticket, claim it and make it a node; return the node's id."""
        (ticket_id,) = self.propose(asked or idea(f"try {mutation}"))
        self.claim(ticket_id)
        return self.materialize(ticket_id, mutation, **more)

    def reproduce(self, node_id: str) -> str:
        """Return a new node that reproduces a node."""
        return self.branch({}, idea(f"Reproduce {node_id}", type="reproduction"), parent_node_id=node_id)

    def queue(self, node_id: str) -> str:
        """Queue a run; return its id."""
        self.record(lambda s: [*runs.queue_run(s.project, node_id, reason="to see")])
        return list(self.project.runs)[-1]

    def start(self, node_id: str) -> str:
        """Queue a run and start it; return its id."""
        run_id = self.queue(node_id)
        self.record(lambda s: [*runs.start_run(s.project, run_id, worker="w-1")])
        return run_id

    def report(self, run_id: str, *lines: dict[str, float | None]) -> None:
        """Append what a run reports, to its own stream."""
        stream = f"run:p1:{run_id}"
        revision = self.bench.log.revision(stream)
        command = Command(id=f"{run_id}-{revision}", actor="owner", tool="worker")
        self.bench.log.append(stream, [MetricsReported(lines=lines)], expected_revision=revision, command=command)

    def store(self, evidence_id: str, kind: Any, content: bytes, *, name: str = "", media_type: str = "") -> Exhibit:
        """Keep a file; return it as evidence."""
        stored = self.workspace.artifacts.put(content)
        return Exhibit(
            evidence_id=evidence_id,
            kind=kind,
            name=name or f"{kind}.json",
            media_type=media_type or "application/json",
            sha256=stored.sha256,
            size=stored.size,
        )

    def finish(self, run_id: str, value: float, *exhibits: Exhibit, **metrics: float) -> None:
        """End a run well."""
        left = exhibits or (self.store(f"EV-{len(self.project.evidence) + 1}", "metric", b'{"val_acc": %r}' % value),)
        end = f"2026-01-01T00:{len(self.project.runs):02}:00Z"
        told = join.Finish(
            run_id=run_id, seconds=1.5, metrics={"val_acc": value, **metrics}, exhibits=left, ended_at=end
        )
        self.record(lambda s: join.succeed_run(s.project, s.graph, told))

    def fail(self, run_id: str, reason: str, *exhibits: Exhibit) -> None:
        self.record(lambda s: [*runs.fail_run(s.project, run_id, seconds=2.0, reason=reason, exhibits=exhibits)])

    def measure(self, node_id: str, value: float, *exhibits: Exhibit, **metrics: float) -> str:
        """Run a node to a value; return the run's id."""
        run_id = self.start(node_id)
        self.finish(run_id, value, *exhibits, **metrics)
        return run_id

    def decide(self, node_id: str, verdict: Any, action: Any) -> None:
        told = decisions.Judgement(node_id=node_id, verdict=verdict, action=action, rationale="As it was measured.")
        self.record(lambda s: join.commit_decision(s.project, s.graph, told, caller=s.caller), caller="agent:a")

    def undermine(self) -> None:
        """Promote N-2, and refute what it measured by its reproduction N-3."""
        self.baseline(0.8)
        self.measure(self.branch({"hidden_width": 64}), 0.9)
        self.decide("N-2", "IMPROVED", "PROMOTE")
        self.measure(self.reproduce("N-2"), 0.8)

    # --- what they read --------------------------------------------------------------------------------------

    def read(self, tool: str, *, caller: str = "agent:a", **arguments: Any) -> dict[str, Any]:
        """Return the envelope, JSON-ready; every next action in it is one that its tool takes."""
        name = f"falsify.{tool}"
        given = parse(WORKBENCH_INPUTS[name], {"project_id": "p1", **arguments})
        before = self.bench.log.head()
        told = orjson.loads(READS[name](self.bench, given, caller, Fence(MARK)).to_bytes())
        assert self.bench.log.head() == before
        assert (told["ok"], told["status"], told["projectRevision"]) == (True, "ok", self.project.revision)
        for step in told.get("nextActions", ()):
            parse(WORKBENCH_INPUTS[step["tool"]], step["arguments"])
            assert step["arguments"].get("expected_project_revision", self.project.revision) == self.project.revision
        return cast("dict[str, Any]", told)

    def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the result of a reading."""
        return cast("dict[str, Any]", self.read(tool, **arguments)["result"])
