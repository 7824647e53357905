"""A large research project for benchmarks: 5,000 tickets and 2,000 nodes, decided by the domain into a log."""

import random

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
from surfaces.tools.suggestions import ACTIONS

PROJECT, OWNER, AGENT = "bench", "owner", "agent:bench"
ROUNDS, NODES = 625, 2_000
EACH = tickets.AT_ONCE

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
            if self.order.random() < 0.6:
                self.decide(node_id)

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
        except RefusedError as error:
            if error.reason != "evidence_refuted":  # by an earlier measurement of the same, with an open conflict
                raise

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
