"""What a server takes to answer the workbench's reads about a large project, beside folding its history anew for each.

    python bench/bench_workbench.py

The project has 5,000 tickets and 2,000 nodes, of which 1,900 are measured, and was decided by the domain, command by
command, into a log on disk. Every call goes through the catalogue as an agent's does; the naive side answers the same
call from an empty workspace on the same log, and both sides run in turns. A read is to take at most 50 ms.
"""

import argparse
import gc
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from falsify import join
from falsify.artifacts import ArtifactStore
from falsify.belief.graph import BeliefGraph
from falsify.belief.graph import evolve as evolve_beliefs
from falsify.config_keys import parse_key
from falsify.errors import RefusedError
from falsify.log import Command, EventLog
from falsify.workbench import approvals, nodes, runs, tickets
from falsify.workbench.contract import checked
from falsify.workbench.decisions import Judgement
from falsify.workbench.events import ApprovalRequested, Contract, Exhibit, MetricsReported
from falsify.workbench.project import Project
from falsify.workbench.project import evolve as evolve_project
from falsify.workbench.verdicts import compare, reference_of
from projections.beliefs import BELIEF_EVENTS
from projections.workbench import WORKBENCH_EVENTS
from replay.verify import mislabelled, misplaced, redecide
from surfaces.tools.catalogue import CATALOGUE, call
from surfaces.tools.suggestions import ACTIONS
from surfaces.workspace import Workspace

ROOT = Path(__file__).parent.parent
PROJECT, OWNER, AGENT = "bench", "owner", "agent:bench"
ROUNDS, NODES = 625, 2_000
EACH = tickets.AT_ONCE
LIMIT_MS = 50

NUMBERS = ("learning_rate", "l2", "warmup_fraction")
CHOICES = {"activation": ("tanh", "relu", "gelu"), "optimizer": ("adam", "sgd"), "schedule": ("constant", "cosine")}
KEYS = tuple(
    parse_key(text)
    for text in (
        "hidden_width=int:[1,512]", "batch_size=int:[1,4096]",
        *(f"{name}=float:[0,1]" for name in NUMBERS),
        *(f"{name}=choice:{','.join(choices)}" for name, choices in CHOICES.items()),
    )
)  # fmt: skip
BASE = {
    "hidden_width": 8, "batch_size": 32, "learning_rate": 0.01, "l2": 0.0, "warmup_fraction": 0.0,
    "activation": "tanh", "optimizer": "adam", "schedule": "constant",
}  # fmt: skip
FILES = {
    "metric": ("metrics.json", "application/json", b'{"val_acc": 0.9}'),
    "curve": ("curve.json", "application/json", b"[0.5, 0.25]," * 500),
    "artifact": ("boundary.png", "image/png", bytes(range(256)) * 120),
    "diff": ("diff.json", "application/json", b'{"hidden_width": [8, 64]}'),
    "run_log": ("run.log", "text/plain", b"epoch 1 of 200: loss 0.25, val_acc 0.9\n" * 400),
    "environment": ("environment.json", "application/json", b'{"python": "3.11"}' * 20),
}


# --- the history ----------------------------------------------------------------------------------------------


class History:
    """A project that grows by what the domain decides; each command is appended, and folded in place."""

    def __init__(self, log: EventLog, store: ArtifactStore) -> None:
        self.log = log
        self.project, self.graph = Project(), BeliefGraph()
        self.order = random.Random(1)
        self.stored = {kind: store.put(content) for kind, (_, _, content) in FILES.items()}
        self.asked = 0

    def record(self, *decide) -> None:
        """Decide one after the other, and append all of it as one command."""
        before, events = self.project.revision, []
        for each in decide:
            for event in each(self.project, self.graph):
                events.append(event)
                self.project.revision += 1
                if type(event) in BELIEF_EVENTS:
                    evolve_beliefs(self.graph, event)
                if type(event) in WORKBENCH_EVENTS:
                    evolve_project(self.project, event, self.project.revision, 0)
        self.append(f"project:{PROJECT}", events, before)

    def append(self, stream: str, events, revision: int) -> None:
        self.asked += 1
        command = Command(id=f"c{self.asked}", actor=OWNER, tool="bench")
        self.log.append(stream, events, expected_revision=revision, command=command)

    # --- its parts ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        contract = Contract(
            metric="val_acc", direction="maximize", minimum_effect=0.01, noise_floor=0.005, tolerance=0.02, keys=KEYS,
            base=BASE, seed=7, executor="builtin", budget_runs=10_000, budget_seconds=1e6, run_seconds=60.0,
            required_evidence=("metric", "curve"),
        )  # fmt: skip
        terms = {"mode": "COPILOT", "contract": checked(contract, KEYS), "parent": "", "caller": OWNER}
        objective = "Which settings tell the two spirals apart best?"
        self.record(lambda p, g: join.create_project(p, g, project_id=PROJECT, objective=objective, **terms))
        self.record(lambda p, _: nodes.register_baseline(p, caller=OWNER))
        self.start("N-1")
        self.measure("N-1", 0.5)

    def open_round(self, number: int) -> None:
        """Create eight tickets; four of them become nodes, unless the round is one of drafts."""
        source = ("human", "human", "human", "literature", "system", *["agent"] * 5)[number % 10]
        author, draft = AGENT if source == "agent" else OWNER, number % 10 == 0
        made = len(self.project.tickets)
        ideas = [self.idea(made + place + 1, becomes_node=not draft and place < 4) for place in range(EACH)]
        self.record(lambda p, g: join.create_tickets(p, g, ideas, author=author, source=source, draft=draft))
        ids = [f"T-{made + place + 1}" for place in range(EACH)]
        self.people_move(ids, draft=draft)
        if not draft:
            for ticket_id in ids[:4]:
                if len(self.project.nodes) < NODES:
                    self.work_on(ticket_id)

    def idea(self, number: int, *, becomes_node: bool) -> tickets.Idea:
        first, second = self.order.sample([key.name for key in KEYS], 2)
        reproduction = becomes_node and number % 40 == 1
        kinds = ("experiment", "ablation", "verification") if becomes_node else ("experiment", "literature", "analysis")
        return tickets.Idea(
            title=f"Idea {number}: another {first.replace('_', ' ')}",
            type="reproduction" if reproduction else self.order.choice(kinds),
            hypothesis=f"Another {first} than in idea {number - 1} tells the spirals apart better. " * 2
            + f"({number})",
            instruction=f"Set {first}, leave {second} as it is, and compare the curves of both with the parent's. " * 3,
            parent_policy=self.order.choice(("incumbent", "baseline", "round-parent")),
            required_evidence=("metric", "curve") if number % 3 else (),
        )

    def people_move(self, ids, *, draft: bool) -> None:
        """Let people do with the tickets of a round what they do: pin, rank, block, cancel."""
        pinned, ranked, ended = ids[4], ids[5], ids[6]
        if self.order.random() < 0.2:
            self.record(lambda p, _: tickets.pin_ticket(p, pinned, pinned=True, caller=OWNER))
        priority = self.order.randint(-9, 9)
        self.record(lambda p, _: tickets.prioritize_ticket(p, ranked, priority=priority, caller=OWNER))
        end = tickets.cancel_ticket if self.order.random() < 0.5 or draft else tickets.block_ticket
        self.record(lambda p, _: end(p, ended, reason="it was tried elsewhere", caller=OWNER))

    def work_on(self, ticket_id: str) -> None:
        """Make a ticket a node, and measure nineteen of twenty."""
        number = len(self.project.nodes) + 1
        ticket, node_id = self.project.tickets[ticket_id], f"N-{number}"
        claim = {"reason": "it ranks highest", "agent_session_id": "", "caller": AGENT}
        steps = [lambda p, _: tickets.claim_ticket(p, ticket_id, **claim)]
        if ticket.status == "QUEUED":
            steps.insert(0, lambda p, _: tickets.make_eligible(p, ticket_id, caller=OWNER))
        again = ticket.type == "reproduction"
        parent = self.measured() if again else self.parent(number)
        mutation = {} if again else self.mutation(number)
        made = {"parent_node_id": parent, "mutation": mutation, "caller": AGENT}
        self.record(*steps, lambda p, _: nodes.materialize(p, ticket_id, **made))
        fate = number // 20 % 10 if number % 20 == 0 else None
        if fate is None or fate > 3:
            self.start(node_id, begun=fate != 9)
        if fate in {4, 5, 6}:
            run_id = self.project.nodes[node_id].run_ids[-1]
            self.record(lambda p, _: runs.fail_run(p, run_id, seconds=1.0, reason="the loss is not finite: " * 10))
        if fate is None:
            earlier = self.project.nodes[parent].value if again else None
            self.measure(node_id, self.value(number) if earlier is None else earlier + self.order.choice((0.001, -0.1)))

    def parent(self, number: int) -> str:
        """Return the parent: ten chains of fifty, then fans of a hundred, then any."""
        if number <= 500:
            wanted = number - 1 if number % 50 != 1 else 1
        elif number <= 1_500:
            wanted = 1 + (number - 501) // 100
        else:
            wanted = self.order.randrange(1, number)
        while self.project.nodes[f"N-{wanted}"].status != "FROZEN":
            wanted -= 1
        return f"N-{wanted}"

    def measured(self) -> str:
        """Return a measured node that reproduces nothing."""
        found = [n.id for n in self.project.nodes.values() if n.status == "FROZEN" and not n.reproduces]
        return self.order.choice(found)

    def mutation(self, number: int):
        name = self.order.choice([*CHOICES, "hidden_width", "batch_size"])
        value = self.order.choice(CHOICES[name]) if name in CHOICES else self.order.randint(1, 512)
        return {NUMBERS[number % 3]: number / (2 * NODES), name: value}

    def value(self, number: int) -> float:
        return round(0.5 + 0.4 * number / NODES + self.order.gauss(0, 0.02), 6)

    def start(self, node_id: str, *, begun: bool = True) -> None:
        run_id = f"R-{len(self.project.runs) + 1}"
        queue = [lambda p, _: runs.queue_run(p, node_id, reason=f"Measure {node_id}.")]
        self.record(*queue, *([lambda p, _: runs.start_run(p, run_id, worker="bench")] if begun else []))
        lines = tuple({"epoch": float(n), "loss": 1 / (n + 1), "val_acc": 1 - 1 / (n + 2)} for n in range(20))
        self.append(f"run:{PROJECT}:{run_id}", [MetricsReported(lines=lines)] * 3 if begun else [], 0)

    def measure(self, node_id: str, value: float) -> None:
        run_id, made = self.project.nodes[node_id].run_ids[-1], len(self.project.evidence)
        exhibits = tuple(
            Exhibit(
                evidence_id=f"EV-{made + place}", kind=kind, name=FILES[kind][0], media_type=FILES[kind][1],
                sha256=stored.sha256, size=stored.size,
            )
            for place, (kind, stored) in enumerate(self.stored.items(), 1)
        )  # fmt: skip
        ended = f"2026-01-{1 + made // 86400:02}T{made // 3600 % 24:02}:{made // 60 % 60:02}:{made % 60:02}Z"
        metrics = {"val_acc": value, "loss": 1 - value, "seconds_per_epoch": 0.01}
        finish = join.Finish(run_id=run_id, seconds=1.5, metrics=metrics, exhibits=exhibits, ended_at=ended)
        self.record(lambda p, g: join.succeed_run(p, g, finish))
        if self.order.random() < 0.6:
            self.decide(node_id)

    def decide(self, node_id: str) -> None:
        """Commit what the numbers call for."""
        unsound = join.unsound(self.project, self.graph)
        node = self.project.nodes[node_id]
        verdict = compare(self.project, node, reference_of(self.project, node, unsound=unsound)).verdict
        judgement = Judgement(
            node_id=node_id, verdict=verdict or "INCONCLUSIVE", action=ACTIONS[verdict or "INCONCLUSIVE"],
            rationale="The curve is smooth, and the difference is what it is.",
        )  # fmt: skip
        try:
            self.record(lambda p, g: join.commit_decision(p, g, judgement, caller=AGENT))
        except RefusedError as error:  # a reproduction may have refuted it already
            assert error.reason == "evidence_refuted", error

    def refute_incumbent(self) -> None:
        """Let a reproduction of the incumbent disagree: the state then says so, and what to do."""
        idea = tickets.Idea(
            title="Reproduce it", type="reproduction", hypothesis="What the incumbent measured holds.",
            instruction="Measure it again, with another seed.", parent_policy="incumbent",
        )  # fmt: skip
        self.record(lambda p, g: join.create_tickets(p, g, [idea], author=AGENT, source="agent"))
        ticket_id, node_id = next(reversed(self.project.tickets)), f"N-{len(self.project.nodes) + 1}"
        claim = {"reason": "to be sure", "agent_session_id": "", "caller": AGENT}
        self.record(
            lambda p, _: tickets.claim_ticket(p, ticket_id, **claim),
            lambda p, _: nodes.materialize(p, ticket_id, mutation={}, caller=AGENT),
        )
        self.start(node_id)
        value = self.project.nodes[self.project.incumbent].value
        self.measure(node_id, (value or 0.0) - 0.1)
        assert join.incumbent_state(self.project, self.graph) != "alive"

    def request(self, node_id: str) -> None:
        """Let the agent ask for a run, as it must in this mode."""

        def decide(project, _graph) -> list[ApprovalRequested]:
            arguments = {"project_id": PROJECT, "node_id": node_id, "reason": "to see"}
            asked = {"caller": AGENT, "reason": "to see", "effects": (f"a run of {node_id} is queued",)}
            return [approvals.request(project, tool="falsify.run.start", arguments=arguments, **asked)]

        self.record(decide)


def build(log: EventLog, store: ArtifactStore) -> History:
    """Write the whole history; nothing in it is for the benchmark but its size."""
    history = History(log, store)
    history.begin()
    for number in range(ROUNDS):
        history.open_round(number)
    history.refute_incumbent()
    ready = [node.id for node in history.project.nodes.values() if node.status == "READY"]
    for node_id in ready[:20]:
        history.request(node_id)
    return history


def check(log: EventLog) -> None:
    """Assert that the history is one that the domain could have written."""
    stream = f"project:{PROJECT}"
    graph, divergence = redecide(log.read(stream=stream))
    assert divergence is None, divergence
    assert not [*mislabelled(graph)]
    assert not [*misplaced(log.read(stream=stream))]


# --- what is asked --------------------------------------------------------------------------------------------


def asked(workspace: Workspace, history: History):
    """Return the reads by name: tool and arguments."""
    measured = [node for node in history.project.nodes.values() if node.status == "FROZEN"]
    node = measured[len(measured) // 2]
    filters = {"status": ["ELIGIBLE", "QUEUED"], "type": ["experiment"], "source": ["agent", "human"], "pinned": False}
    whole = {"include_metrics": True, "include_runs": True}
    return {
        "project.get_state, all sections": ("project.get_state", {}),
        "ticket.list, 20 by rank": ("ticket.list", {}),
        "ticket.list, 50 by rank": ("ticket.list", {"limit": 50}),
        "ticket.list, 20 by created_at": ("ticket.list", {"sort": "created_at"}),
        "ticket.list, 20 by priority": ("ticket.list", {"sort": "priority"}),
        "ticket.list, 20 by rank, filtered": ("ticket.list", filters),
        "ticket.list, 20 by rank, 10th page": ("ticket.list", {"cursor": tenth_page(workspace)}),
        "graph.get, 100 nodes": ("graph.get", {}),
        "graph.get, 500 nodes, metrics and runs": ("graph.get", {"max_nodes": 500, **whole}),
        "graph.get, 100 nodes around one": ("graph.get", {"focus_node_id": node.id}),
        "node.compare": ("node.compare", {"node_id": node.id}),
        "run.get, log preview": ("run.get", {"run_id": node.frozen_by, "include_log_preview": True}),
        "evidence.list, previews": ("evidence.list", {"node_id": node.id, "include_preview": True}),
    }


def ask(workspace: Workspace, tool: str, arguments):
    """Call a tool as an agent, as a server does; return the answer's bytes."""
    name = f"falsify.{tool}"
    return call(workspace, CATALOGUE, name, {"project_id": PROJECT, **arguments}, caller=AGENT)


def answered(workspace: Workspace, tool: str, arguments):
    told = json.loads(ask(workspace, tool, arguments))
    assert told["ok"], told
    return told


def tenth_page(workspace: Workspace) -> str:
    cursor = {}
    for _ in range(9):
        cursor = {"cursor": answered(workspace, "ticket.list", cursor)["result"]["nextCursor"]}
    return cursor["cursor"]


def claim(workspace: Workspace, ticket_id: str, revision: int):
    sent = {"ticket_id": ticket_id, "reason": "It ranks highest.", "idempotency_key": f"claim-{ticket_id}"}
    return "ticket.claim", {**sent, "expected_project_revision": revision}


# --- measuring ------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=50, help="calls of each tool")
    parser.add_argument("--folds", type=int, default=5, help="of which so many are made from a full fold too")
    parser.add_argument("--soak", type=int, default=2_000, help="calls over which memory must not grow")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Workspace.init(Path(folder), environ={}) as workspace:
        history = build(workspace.log, workspace.artifacts)
        check(workspace.log)
        describe(workspace, history)
        reads = asked(workspace, history)
        del history
        print_reads(measure_reads(workspace, reads, options))
        print_acts(measure_acts(workspace, options.calls))
        print_memory(workspace, reads, options.soak)
        print_starts(Path(folder))


def describe(workspace: Workspace, history: History) -> None:
    project = history.project
    records = f"{workspace.log.head().position:,} records, {project.revision:,} of them the project's"
    print(f"{len(project.tickets):,} tickets, {len(project.nodes):,} nodes, {len(project.decisions):,} decisions")
    print(f"{records}; {len(join.unsound(project, history.graph))} measurements refuted, the incumbent's among them")
    for name in ("tickets", "nodes"):
        there = Counter(each.status for each in getattr(project, name).values())
        print(f"{name}: {', '.join(f'{count} {status}' for status, count in there.most_common())}")


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure_reads(workspace: Workspace, reads, options):
    """Return the times by name, ours and the naive ones, and how long the answers are; the reads take turns."""
    ours, naive, sizes = {name: [] for name in reads}, {name: [] for name in reads}, {}
    for name, (tool, arguments) in reads.items():
        answered(workspace, tool, arguments)
        sizes[name] = len(ask(workspace, tool, arguments))
    for number in range(options.calls):
        for name, (tool, arguments) in reads.items():
            ours[name].append(seconds(lambda t=tool, a=arguments: ask(workspace, t, a)))
            if number * options.folds // options.calls < (number + 1) * options.folds // options.calls:
                naive[name].append(seconds(lambda t=tool, a=arguments: ask_anew(workspace, t, a)))
    return ours, naive, sizes


def ask_anew(workspace: Workspace, tool: str, arguments) -> None:
    """Fold the project's whole stream, and answer then."""
    with Workspace(workspace.root, environ={}, log=workspace.log) as empty:
        ask(empty, tool, arguments)


def print_reads(measured) -> None:
    print(f"\n{'read':40}{'median':>10}{'p95':>10}{'full fold':>12}{'ratio':>8}{'answer':>10}")
    ours, naive, sizes = measured
    for name, times in ours.items():
        middle, last, fold = statistics.median(times), p95(times), statistics.median(naive[name])
        over = "" if last * 1000 <= LIMIT_MS else f"  over {LIMIT_MS} ms"
        print(
            f"{name:40}{middle * 1000:>7.1f} ms{last * 1000:>7.1f} ms{fold * 1000:>9.0f} ms{fold / middle:>7.0f}x"
            f"{sizes[name] / 1024:>7.0f} KB{over}"
        )


def p95(times) -> float:
    return statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]


def measure_acts(workspace: Workspace, calls: int):
    """Return the times of claims, of the first reads after them, and of an append of one event without deciding."""
    eligible = answered(workspace, "ticket.list", {"status": ["ELIGIBLE"], "limit": 50})["result"]["tickets"]
    times = {
        name: [] for name in ("ticket.claim", "bare append of one record", "ticket.list after it", "get_state after it")
    }
    for number, ticket in enumerate(eligible[:calls]):
        revision = workspace.log.revision(f"project:{PROJECT}")
        tool, arguments = claim(workspace, ticket["id"], revision)
        times["ticket.claim"].append(seconds(lambda t=tool, a=arguments: answered(workspace, t, a)))
        times["ticket.list after it"].append(seconds(lambda: ask(workspace, "ticket.list", {})))
        times["get_state after it"].append(seconds(lambda: ask(workspace, "project.get_state", {})))
        command = Command(id=f"bare-{number}", actor=OWNER, tool="bench")
        event = [MetricsReported(lines=({"loss": 0.1},))]
        times["bare append of one record"].append(
            seconds(lambda c=command, n=number: workspace.log.append("run:bare", event, expected_revision=n, command=c))
        )
    return times


def print_acts(times) -> None:
    base = statistics.median(times["bare append of one record"])
    print(f"\n{'act':40}{'median':>10}{'p95':>10}{'to a bare append':>18}")
    for name, taken in times.items():
        middle = statistics.median(taken)
        print(f"{name:40}{middle * 1000:>7.1f} ms{p95(taken) * 1000:>7.1f} ms{middle / base:>17.1f}x")


def print_memory(workspace: Workspace, reads, calls: int) -> None:
    """Show what so many calls leave in memory: live objects, and the peak of the process."""
    turns = [*reads.values()]
    for tool, arguments in turns * 10:
        ask(workspace, tool, arguments)
    before = footprint()
    for number in range(calls):
        ask(workspace, *turns[number % len(turns)])
    after = footprint()
    print(f"\n{calls:,} more calls: {after[0] - before[0]:+,} live objects, {after[1] - before[1]:+.1f} MB peak RSS")
    print(f"(of {after[0]:,} objects and {after[1]:.0f} MB)")


def footprint() -> tuple[int, float]:
    gc.collect()
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def print_starts(folder: Path) -> None:
    """Show what a process takes that answers one read, which has to fold the whole history itself."""
    falsify = [sys.executable, str(ROOT / "cli.py")]
    environ = {**os.environ, "FALSIFY_PROJECT": PROJECT}
    commands = {"--help": ["--help"], "ticket list --json": ["-w", str(folder), "ticket", "list", "--json"]}
    print()
    for name, words in commands.items():
        taken = seconds(lambda w=words: subprocess.run([*falsify, *w], check=True, capture_output=True, env=environ))
        print(f"{'falsify ' + name:40}{taken * 1000:>7.0f} ms, once")


if __name__ == "__main__":
    main()
