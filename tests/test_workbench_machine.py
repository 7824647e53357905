"""Random research by people and agents in every mode, with crashes: what must hold holds after every step."""

import math
import shutil
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import hypothesis.strategies as st
import orjson
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from falsify import join
from falsify.belief.revision import AssertFact
from falsify.clock import SteppingClock
from falsify.errors import FalsifyError, RefusedError
from falsify.identity import is_agent
from falsify.workbench import contract as contracts
from falsify.workbench import nodes, runs, tickets
from falsify.workbench.events import (
    ApprovalGranted,
    ApprovalRequested,
    DecisionCommitted,
    ModeChanged,
    NodeCreated,
    NodeFrozen,
    ProjectCreated,
    RunCancelled,
    RunFailed,
    RunQueued,
    RunStarted,
    RunSucceeded,
    TicketCompleted,
    TicketCreated,
    TicketReleased,
)
from falsify.workbench.runs import budget
from falsify.workbench.states import NODE, TICKET
from projections.workbench import WORKBENCH_EVENTS
from surfaces.workbench import Work, Workbench
from surfaces.workspace import Workspace
from tests.mirror_world import HashEmbedder
from tests.test_workspace import WordJudge
from tests.workbench_world import ALICE, BOB, OBJECTIVE, OWNER, agree, contract, idea, judge

PEOPLE = (OWNER, "person:ada")
AGENTS = (ALICE, BOB)
MODES = ("MANUAL", "COPILOT", "AUTORESEARCH")
BUDGET_RUNS, BUDGET_SECONDS = 12, 400.0

people = st.sampled_from([OWNER, OWNER, "person:ada", ALICE])
callers = st.sampled_from([OWNER, "person:ada", ALICE, ALICE, BOB, BOB])
values = st.sampled_from([0.7, 0.8, 0.8, 0.81, 0.9, 0.9, 1.0, math.nan, math.inf])
mutations = st.sampled_from([{"width": 16}, {"width": 32}, {"rate": 1}, {"activation": "relu"}, {"width": 8}, {}])

TARGETS = {
    "queue": "QUEUED",
    "open": "ELIGIBLE",
    "release": "ELIGIBLE",
    "block": "BLOCKED",
    "cancel": "CANCELLED",
    "complete": "COMPLETED",
    "begin": "IMPLEMENTING",
    "ready": "READY",
}
"""Where a move takes a ticket or a node."""

TICKET_MOVES = {
    "queue": lambda p, t, who: tickets.queue_ticket(p, t, caller=who),
    "open": lambda p, t, who: tickets.make_eligible(p, t, caller=who),
    "release": lambda p, t, who: tickets.release_ticket(p, t, reason="", caller=who),
    "block": lambda p, t, who: tickets.block_ticket(p, t, reason="", caller=who),
    "cancel": lambda p, t, who: tickets.cancel_ticket(p, t, reason="", caller=who),
    "complete": lambda p, t, who: tickets.complete_ticket(p, t, reason="", caller=who),
    "pin": lambda p, t, who: tickets.pin_ticket(p, t, pinned=True, caller=who),
    "unpin": lambda p, t, who: tickets.pin_ticket(p, t, pinned=False, caller=who),
    "rank": lambda p, t, who: tickets.prioritize_ticket(p, t, priority=3, caller=who),
}
NODE_MOVES = {
    "begin": nodes.begin_implementation,
    "ready": nodes.ready_node,
    "block": nodes.block_node,
}


def work_of(tool, arguments):
    """Return the command that a tool's arguments make: what the surfaces do, without their schemas."""
    return Work(
        tool=tool,
        arguments=arguments,
        decide=lambda sight: TOOLS[tool](sight, arguments),
        result=lambda _, events: {"events": [event.kind for event in events]},
        action=arguments.get("action"),
    )


def create(sight, told):
    asked = [idea(words, type=told["type"], parent_policy=told["policy"]) for words in told["titles"]]
    source = "agent" if is_agent(sight.caller) else "human"
    return join.create_tickets(
        sight.project, sight.graph, asked, author=sight.caller, source=source, draft=told["draft"]
    )


def decide(sight, told):
    judgement = judge(told["node_id"], told["verdict"], told["action"])
    return join.commit_decision(sight.project, sight.graph, judgement, caller=sight.caller)


TOOLS = {
    "falsify.ticket.create": create,
    "falsify.ticket.claim": lambda s, a: tickets.claim_ticket(
        s.project, a["ticket_id"], reason="", agent_session_id="", caller=s.caller
    ),
    "falsify.experiment.materialize": lambda s, a: nodes.materialize(
        s.project, a["ticket_id"], mutation=a["config_mutation"], caller=s.caller
    ),
    "falsify.run.start": lambda s, a: runs.queue_run(s.project, a["node_id"], reason=""),
    "falsify.run.cancel": lambda s, a: runs.cancel_run(s.project, a["run_id"], reason="", seconds=a["seconds"]),
    "falsify.decision.commit": decide,
    "ticket.move": lambda s, a: TICKET_MOVES[a["move"]](s.project, a["ticket_id"], s.caller),
    "node.move": lambda s, a: NODE_MOVES[a["move"]](s.project, a["node_id"], reason="", caller=s.caller),
    "project.mode": lambda s, a: contracts.change_mode(s.project, a["mode"], reason="", caller=s.caller),
    "project.baseline": lambda s, _: nodes.register_baseline(s.project, caller=s.caller),
}


class Laboratory(RuleBasedStateMachine):
    """A project in a workspace on the disk, and everybody who works on it."""

    def __init__(self):
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="falsify-laboratory-"))
        self.clock = SteppingClock()
        self.dropped, self.answers, self.frozen = [], [], {}
        self.open(new=True)

    def open(self, *, new=False):
        self.workspace = Workspace.init(
            self.root, embedder=HashEmbedder(), judge=WordJudge(), clock=self.clock, environ={}
        )
        self.bench = Workbench(self.workspace, "p1", new=new)

    @property
    def project(self):
        return self.bench.project

    @property
    def graph(self):
        return self.bench.workspace.graph

    @property
    def records(self):
        return self.bench.records()

    def perform(self, tool, caller, *, key=None, **arguments):
        """Carry a command out; a refusal writes nothing."""
        before = self.project.revision
        try:
            answer = self.bench.perform(work_of(tool, arguments), caller=caller, key=key)
        except FalsifyError as error:
            refusal = error
        else:
            return answer.response
        assert refusal.status in {"refused", "not_found", "forbidden", "invalid_request"}
        assert refusal.hint
        assert self.project.revision == before
        return None

    def worker(self, decide):
        self.bench.append(decide, tool="worker", actor="system")

    def pick(self, data, names):
        return data.draw(st.sampled_from(sorted(names)))

    # --- a project -----------------------------------------------------------------------------------------

    @initialize(mode=st.sampled_from(MODES), measured=st.sampled_from([True, True, True, False]))
    def begin(self, mode, measured):
        terms = contract(executor="mine", budget_runs=BUDGET_RUNS, budget_seconds=BUDGET_SECONDS)
        told = {"objective": OBJECTIVE, "mode": mode, "contract": terms, "parent": ""}
        work = Work(
            tool="project.create",
            arguments={},
            decide=lambda s: join.create_project(s.project, s.graph, project_id="p1", caller=s.caller, **told),
            result=lambda *_: {},
        )
        self.bench.perform(work, caller=OWNER)
        self.perform("project.baseline", OWNER)
        if measured:
            self.perform("falsify.run.start", OWNER, node_id="N-1")
            self.start()
            self.finish(0.8, 2.0)

    @rule(caller=people, mode=st.sampled_from(MODES))
    def change_mode(self, caller, mode):
        self.perform("project.mode", caller, mode=mode)

    # --- tickets and nodes ---------------------------------------------------------------------------------

    @rule(
        caller=callers,
        titles=st.lists(st.sampled_from(["width", "rate", "both"]), min_size=1, max_size=2),
        kind=st.sampled_from(["experiment", "experiment", "reproduction", "analysis"]),
        policy=st.sampled_from(["incumbent", "baseline", "round-parent"]),
        draft=st.sampled_from([False, False, True]),
        keyed=st.booleans(),
    )
    def create_tickets(self, caller, titles, kind, policy, draft, keyed):
        told = {"titles": titles, "type": kind, "policy": policy, "draft": draft}
        key = f"key-{len(self.answers)}" if keyed else None
        response = self.perform("falsify.ticket.create", caller, key=key, **told)
        if keyed and response:
            self.answers.append((caller, key, told, response))

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def say_it_again(self, data):
        caller, key, told, response = data.draw(st.sampled_from(self.answers))
        before = self.project.revision
        assert self.perform("falsify.ticket.create", caller, key=key, **told) == response
        assert self.project.revision == before

    @precondition(lambda self: self.project.tickets)
    @rule(data=st.data(), caller=people, move=st.sampled_from(sorted(TICKET_MOVES)))
    def move_ticket(self, data, caller, move):
        fit = [t.id for t in self.project.tickets.values() if TARGETS.get(move, "CANCELLED") in TICKET[t.status]]
        self.perform("ticket.move", caller, move=move, ticket_id=self.pick(data, fit or self.project.tickets))

    @precondition(lambda self: self.project.tickets)
    @rule(data=st.data(), caller=callers)
    def claim(self, data, caller):
        eligible = [t.id for t in self.project.tickets.values() if t.status == "ELIGIBLE"]
        self.perform("falsify.ticket.claim", caller, ticket_id=self.pick(data, eligible or self.project.tickets))

    @rule(
        caller=callers,
        value=st.none() | values,
        again=st.booleans(),
        promotes=st.sampled_from([None, "IMPROVED", "INCONCLUSIVE"]),
    )
    def study(self, caller, value, again, promotes):
        """Go the whole way from an idea to a decision, or as far as it is let; `again` measures the incumbent."""
        kind = "reproduction" if again else "experiment"
        told = {"titles": ["it"], "type": kind, "policy": "incumbent", "draft": False}
        if self.perform("falsify.ticket.create", caller, **told) is None or not self.project.tickets:
            return
        ticket_id = list(self.project.tickets)[-1]
        self.perform("ticket.move", OWNER, move="open", ticket_id=ticket_id)
        self.perform("falsify.ticket.claim", caller, ticket_id=ticket_id)
        changes = {} if again else {"width": 100 + len(self.project.nodes)}
        self.perform("falsify.experiment.materialize", caller, ticket_id=ticket_id, config_mutation=changes)
        node_id = self.project.tickets[ticket_id].node_id
        if not node_id:
            return
        self.perform("falsify.run.start", caller, node_id=node_id)
        if value is None:
            return
        while not self.project.nodes[node_id].value and self.project.nodes[node_id].run_ids and self.project.active:
            if self.of_status("RUNNING"):
                self.finish(value, 1.5)
            else:
                self.start()
        if promotes and self.project.nodes[node_id].value:
            promotion = {"node_id": node_id, "verdict": promotes, "action": "PROMOTE"}
            self.perform("falsify.decision.commit", caller, **promotion)

    @precondition(lambda self: any(t.status == "CLAIMED" for t in self.project.tickets.values()))
    @rule(data=st.data(), caller=callers, mutation=mutations)
    def materialize(self, data, caller, mutation):
        claimed = [t.id for t in self.project.tickets.values() if t.status == "CLAIMED"]
        ticket = self.project.tickets[self.pick(data, claimed)]
        changes = {} if ticket.type == "reproduction" else mutation
        who = ticket.claimed_by if is_agent(caller) and ticket.claimed_by != OWNER else caller
        self.perform("falsify.experiment.materialize", who, ticket_id=ticket.id, config_mutation=changes)

    @precondition(lambda self: self.waiting())
    @rule(data=st.data(), caller=people, move=st.sampled_from(sorted(NODE_MOVES)))
    def move_node(self, data, caller, move):
        fit = [n for n in self.waiting() if TARGETS[move] in NODE[self.project.nodes[n].status]]
        self.perform("node.move", caller, move=move, node_id=self.pick(data, fit or self.waiting()))

    def waiting(self):
        return [n.id for n in self.project.nodes.values() if n.status != "FROZEN"]

    # --- runs ----------------------------------------------------------------------------------------------

    @rule(data=st.data(), caller=callers)
    def queue_run(self, data, caller):
        self.perform("falsify.run.start", caller, node_id=self.pick(data, self.waiting() or self.project.nodes))

    @precondition(lambda self: self.of_status("QUEUED"))
    @rule()
    def start(self):
        run_id = self.of_status("QUEUED")[0]
        self.worker(lambda s: runs.start_run(s.project, run_id, worker="w"))

    @precondition(lambda self: self.of_status("RUNNING"))
    @rule(value=values, seconds=st.sampled_from([0.0, 12.3456, 60.0, 999.0]))
    def finish(self, value, seconds):
        run_id = self.of_status("RUNNING")[0]
        finish = join.Finish(
            run_id=run_id,
            seconds=seconds,
            metrics={"val_acc": value},
            exhibits=(),
            ended_at=f"2026-01-01T{len(self.records) // 60:02}:{len(self.records) % 60:02}:00Z",
        )
        if math.isfinite(value):
            self.worker(lambda s: join.succeed_run(s.project, s.graph, finish))
            return
        with pytest.raises(RefusedError, match="no finite val_acc"):
            self.worker(lambda s: join.succeed_run(s.project, s.graph, finish))
        self.worker(lambda s: runs.fail_run(s.project, run_id, seconds=seconds, reason="no finite metric"))

    @precondition(lambda self: self.of_status("RUNNING"))
    @rule(seconds=st.sampled_from([0.5, 999.0]))
    def fail(self, seconds):
        run_id = self.of_status("RUNNING")[-1]
        self.worker(lambda s: runs.fail_run(s.project, run_id, seconds=seconds, reason="exit 1"))

    @precondition(lambda self: self.project.active)
    @rule(data=st.data(), caller=callers, seconds=st.sampled_from([0.0, 3.0, 999.0]))
    def cancel(self, data, caller, seconds):
        self.perform("falsify.run.cancel", caller, run_id=self.pick(data, self.project.active), seconds=seconds)

    def of_status(self, status):
        return [run_id for run_id in self.project.active if self.project.runs[run_id].status == status]

    # --- decisions and approvals ---------------------------------------------------------------------------

    @precondition(lambda self: self.frozen)
    @rule(
        data=st.data(),
        caller=callers,
        verdict=st.sampled_from(["IMPROVED", "REGRESSED", "NEUTRAL", "INCONCLUSIVE", "INCONCLUSIVE"]),
        action=st.sampled_from(["PROMOTE", "PROMOTE", "PROMOTE", "KEEP_FROZEN", "DISCARD", "REPRODUCE"]),
    )
    def commit(self, data, caller, verdict, action):
        node_id = self.pick(data, self.frozen)
        self.perform("falsify.decision.commit", caller, node_id=node_id, verdict=verdict, action=action)

    @precondition(lambda self: self.project.approvals)
    @rule(data=st.data(), caller=people, approves=st.sampled_from([True, True, True, False]))
    def answer(self, data, caller, approves):
        pending = [a.id for a in self.project.approvals.values() if a.status == "pending"]
        anyone = sorted(self.project.approvals)
        approval_id = data.draw(st.sampled_from(pending * 2 + anyone))
        status, before = self.project.approvals[approval_id].status, self.project.revision
        try:
            if approves:
                told = orjson.loads(self.bench.approve(approval_id, caller=caller, work_of=work_of).response)
            else:
                told = orjson.loads(self.bench.reject(approval_id, caller=caller, reason="no").response)
        except FalsifyError as error:
            refusal = error
        else:
            refusal = None
        if refusal:
            told = self.project.revision, self.project.approvals[approval_id].status, refusal.status == "forbidden"
            assert told == (before, status, is_agent(caller))
            return
        assert told["ok"]
        assert not is_agent(caller)
        assert self.project.approvals[approval_id].status == ("executed" if approves else "rejected")
        assert (self.project.revision == before) == (status == "executed")

    # --- beliefs -------------------------------------------------------------------------------------------

    @precondition(lambda self: self.frozen)
    @rule(data=st.data(), words=st.sampled_from(["label noise", "a leak", "a bug"]))
    def refute(self, data, words):
        beliefs = self.bench.workspace
        fact = AssertFact(question_id=self.project.question_id, text=f"the data set had {words}")
        beliefs.fact(fact)
        claim_id = self.project.runs[self.project.nodes[self.pick(data, self.frozen)].frozen_by].claim_id
        beliefs.rule(fact.fact_id, claim_id, relation="contradicts", confidence=0.9, rationale="seen")

    @rule(data=st.data(), restored=st.booleans())
    def withdraw(self, data, restored):
        facts = [n.id for n in self.graph.nodes.values() if n.kind == "evidence" and n.retracted == restored]
        if facts:
            self.bench.workspace.retract(self.pick(data, facts), restored=restored)

    @rule()
    def crash(self):
        before = self.project, self.graph
        self.dropped.append(self.workspace)
        self.open()
        assert self.project == before[0]

    # --- what must hold ------------------------------------------------------------------------------------

    @invariant()
    def the_log_is_what_is_live(self):
        agree(self.project, self.graph, self.records)

    @invariant()
    def a_frozen_node_never_changes(self):
        now = {
            n.id: (n.config, n.code, n.seed, n.value, n.frozen_by, n.parent_id, n.mutation)
            for n in self.project.nodes.values()
            if n.status == "FROZEN"
        }
        assert self.frozen.items() <= now.items()
        assert all(math.isfinite(value[3]) for value in now.values())
        self.frozen = now

    @invariant()
    def nothing_is_the_incumbent_but_the_baseline_or_what_was_promoted(self):
        incumbent = ""
        for record in self.records:
            match record.event:
                case NodeFrozen(node_id="N-1") if not incumbent:
                    incumbent = "N-1"
                case DecisionCommitted(action="PROMOTE"):
                    incumbent = record.event.node_id
        assert self.project.incumbent == incumbent

    @invariant()
    def a_decision_lives_as_long_as_what_it_rests_on(self):
        unsound = join.unsound(self.project, self.graph)
        for decision in self.project.decisions.values():
            alive = join.decision_state(self.graph, decision) == "alive"
            assert alive == (decision.node_id not in unsound)

    @invariant()
    def the_budget_is_what_the_log_makes_it_and_is_not_overdrawn(self):
        if not self.project.exists:
            return
        counted, kept, paid = set(), {}, []
        for record in self.records:
            match record.event:
                case RunQueued(run_id=run_id, limit_seconds=limit):
                    counted.add(run_id)
                    kept[run_id] = limit
                case RunCancelled(run_id=run_id, seconds=seconds) if not self.project.runs[run_id].started_time:
                    counted.remove(run_id)
                    assert (kept.pop(run_id) > 0, seconds) == (True, 0.0)
                case RunSucceeded(run_id=run_id) | RunFailed(run_id=run_id) | RunCancelled(run_id=run_id):
                    assert 0.0 <= record.event.seconds <= kept.pop(run_id)
                    paid.append(record.event.seconds)
        stands = budget(self.project)
        told = stands.runs_used, round(stands.seconds_spent, 6), round(stands.seconds_reserved, 6)
        assert told == (len(counted), round(math.fsum(paid), 6), round(math.fsum(kept.values()), 6))
        assert stands.runs_left >= 0
        assert stands.seconds_spent + stands.seconds_reserved <= BUDGET_SECONDS + 1e-6

    @invariant()
    def a_node_has_at_most_one_active_run(self):
        busy = Counter(self.project.runs[run_id].node_id for run_id in self.project.active)
        assert set(busy.values()) <= {1}
        running = {n.id for n in self.project.nodes.values() if n.status == "RUNNING"}
        assert running == {self.project.runs[run_id].node_id for run_id in self.of_status("RUNNING")}

    @invariant()
    def statuses_move_along_the_tables_and_every_ticket_is_counted(self):
        created = [r.event for r in self.records if isinstance(r.event, TicketCreated | NodeCreated)]
        assert len(created) == len(self.project.tickets) + len(self.project.nodes)
        for table, things in ((TICKET, self.project.tickets), (NODE, self.project.nodes)):
            for thing in things.values():
                steps = pairwise(status for _, status in thing.statuses.history)
                assert [(now, then) for now, then in steps if then not in table[now]] == []
        for ticket in self.project.tickets.values():
            assert (ticket.status == "CLAIMED") <= (ticket.claimed_by != "")
            assert (ticket.status == "MATERIALIZED") <= (ticket.node_id != "")

    @invariant()
    def what_was_approved_was_carried_out_once(self):
        granted = Counter(r.event.approval_id for r in self.records if isinstance(r.event, ApprovalGranted))
        executed = {a.id: 1 for a in self.project.approvals.values() if a.status == "executed"}
        assert granted == executed
        for record in self.records:
            if isinstance(record.event, ApprovalGranted):
                together = [r.event for r in self.records if r.command == record.command]
                assert len(together) > 1

    @invariant()
    def no_agent_does_what_its_mode_asks_for(self):
        mode = ""
        for record in self.records:
            event = record.event
            mode = event.mode if isinstance(event, ProjectCreated | ModeChanged) else mode
            if not is_agent(record.actor) or type(event) not in WORKBENCH_EVENTS:
                continue
            assert not isinstance(event, ModeChanged | ApprovalGranted | RunCancelled | RunStarted)
            promotes = isinstance(event, DecisionCommitted) and event.action == "PROMOTE"
            if mode == "COPILOT":
                assert not promotes
                assert not isinstance(event, RunQueued)
            if mode == "MANUAL":
                free = ApprovalRequested | TicketReleased | DecisionCommitted | TicketCompleted
                assert isinstance(event, free)
                assert not promotes

    def teardown(self):
        for run_id in list(self.project.active):
            if self.project.runs[run_id].status == "QUEUED":
                self.worker(lambda s, run_id=run_id: runs.start_run(s.project, run_id, worker="w"))
            self.worker(lambda s, run_id=run_id: runs.fail_run(s.project, run_id, seconds=1.0, reason="shut down"))
        assert not self.project.active
        if self.project.exists:
            agree(self.project, self.graph, self.records)
        for workspace in (*self.dropped, self.workspace):
            workspace.close()
        shutil.rmtree(self.root)


Laboratory.TestCase.settings = settings(
    max_examples=20, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLaboratory = Laboratory.TestCase
