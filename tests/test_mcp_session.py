"""Whole sessions of an agent: the official client at a server in a process of its own, and a person at the terminal.

The agent has the tools alone, the person the command line alone; what is queued is run by the server's own worker.
"""

import asyncio
import itertools
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import cli
from falsify.workbench.project import Project
from surfaces.workspace import Workspace

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
SCOUT = "agent:scout"
PATIENCE = 60
"""Seconds for one session, or for a server to end: many times what either takes."""

STILL, STEADY = 0.000001, 0.02
"""Learning rates: one that leaves the network as it was drawn, at chance, and one that learns the rings in 3 epochs."""

CALLED_FOR = {"IMPROVED": "PROMOTE", "NEUTRAL": "KEEP_FROZEN", "REGRESSED": "DISCARD"}

CONTRACT = (
    *("--objective", "Which setting tells two rings apart?", "--min-effect", "0.01", "--noise-floor", "0.02"),
    *("--mutable", "learning_rate", "--set", "dataset=circles", "--set", "points=60", "--set", "epochs=3"),
    *("--set", "noise=0.05", "--set", "activation=gelu", "--set", "hidden_width=64", "--set", "batch_size=4"),
    *("--set", f"learning_rate={STILL}"),
    *("--budget-runs", "5", "--budget-seconds", "300", "--run-seconds", "60"),
)
BELIEFS = """\
question: Is the bridge safe?
hypotheses:
  - {id: safe, statement: The bridge is safe}
  - {id: unsafe, statement: The bridge is not safe}
sources:
  - {id: survey, title: The survey of 2019}
  - {id: mason, title: A mason}
evidence:
  - id: sound
    claim: The main cable of the bridge is intact
    source_id: survey
    quote: We found no broken strand.
    supports: [{hypothesis: safe, weight: 0.8}]
    asserted_at: 2019-05-01
  - id: color
    claim: The railing was painted green by the town
    source_id: mason
    supports: [{hypothesis: safe, weight: 0.1}]
    asserted_at: 2018-05-01
conclusions:
  - {id: open, statement: The road may stay open, depends_on: [{evidence: sound}]}
"""


# --- the two of them ------------------------------------------------------------------------------------------


class Person:
    """Whoever sits at the terminal of a workspace: the owner, in one project."""

    def __init__(self, root: Path, project: str) -> None:
        self.root, self.project = root, project

    def do(self, *words: str) -> None:
        assert cli.run(["-w", str(self.root), "--project", self.project, *words]) == 0, words

    def token(self) -> str:
        """Return a token with which the agent may come into the project."""
        words = ("-w", str(self.root), "token", "create", "--agent", "scout", "--project", self.project)
        return CliRunner().invoke(cli.cli, words, catch_exceptions=False).stdout.strip()


class Agent:
    """Whoever is connected: sends each intent under a fresh key, decided on the revision that it saw last."""

    def __init__(self, client: Client, project: str) -> None:
        self.client, self.project = client, project
        self.revision = 0
        self.keys = (f"scout-{number}" for number in itertools.count(1))

    async def read(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; return the envelope."""
        told = await self.client.call_tool(f"falsify.{tool}", {"project_id": self.project, **arguments})
        envelope = told.structured_content
        assert isinstance(envelope, dict)
        self.revision = envelope["projectRevision"]
        return envelope

    async def act(self, tool: str, **arguments: Any) -> dict[str, Any]:
        decided_on = {"idempotency_key": next(self.keys), "expected_project_revision": self.revision}
        return await self.read(tool, **arguments, **decided_on)

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Do what needs nobody's approval; return the result."""
        told = await self.act(tool, **arguments)
        assert told["status"] == "ok", told
        return told["result"]

    async def ask(self, tool: str, **arguments: Any) -> str:
        """Do what a person has to approve; return the request's id."""
        told = await self.act(tool, **arguments)
        assert (told["status"], told["approval"]["status"]) == ("approval_required", "pending"), told
        return told["approval"]["id"]

    async def awaited(self, run_id: str) -> dict[str, Any]:
        """Return a run once it has ended."""
        while True:
            run = (await self.read("run.get", run_id=run_id))["result"]
            if run["status"] not in {"QUEUED", "RUNNING"}:
                return run
            await asyncio.sleep(0.05)


# --- the ways to a server -------------------------------------------------------------------------------------


def words(root: Path, *more: str) -> list[str]:
    return ["-m", "cli", "-w", str(root), "mcp", *more]


@asynccontextmanager
async def over_stdio(person: Person) -> AsyncIterator[Client]:
    """Connect to a server that the client starts, as who the command says."""
    started = StdioServerParameters(
        command=sys.executable, args=words(person.root, "--as", SCOUT), cwd=ROOT, env=dict(os.environ)
    )
    async with Client(stdio_client(started)) as client:
        yield client


@asynccontextmanager
async def over_http(person: Person) -> AsyncIterator[Client]:
    """Connect to a server that is there already, as who the token says."""
    headers = {"Authorization": f"Bearer {person.token()}"}
    with listening(person.root) as url:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            yield client


@contextmanager
def listening(root: Path):
    """Start a server at some port; yield its URL, and see it end in order."""
    command = [sys.executable, *words(root, "--http", "127.0.0.1:0")]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            said = server.stderr.readline()
            address = re.fullmatch(r"serving at (http://127\.0\.0\.1:\d+/mcp)\n", said)
            assert address, said
            yield address[1]
        finally:
            server.terminate()
            try:
                ended = server.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                server.kill()
                raise
    assert ended == 0


TRANSPORTS = {"stdio": over_stdio, "http": over_http}


@pytest.fixture(params=TRANSPORTS)
def session(request):
    """Return what carries out an agent's part of a session, connected in one of the ways."""
    connected = TRANSPORTS[request.param]

    def play(person: Person, part):
        async def played():
            async with asyncio.timeout(PATIENCE), connected(person) as client:
                return await part(Agent(client, person.project))

        return asyncio.run(played())

    return play


# --- what the log says afterwards ---------------------------------------------------------------------------------


def recorded(person: Person) -> Project:
    """Return the project as the log has it, read anew."""
    with Workspace.open(person.root) as workspace:
        return workspace.of(person.project).project


def requests(project: Project) -> list[tuple[str, str, str, str]]:
    """Return what was asked for, by whom, what became of it, and who decided."""
    return [
        (each.request.tool, each.request.asked_by, each.status, each.decided_by) for each in project.approvals.values()
    ]


# --- research ---------------------------------------------------------------------------------------------------


@pytest.fixture
def rings(tmp_path):
    """Return the owner of a project whose baseline is measured, and in which no agent was yet."""
    person = Person(tmp_path / "lab", "rings")
    assert cli.run(["init", str(person.root)]) == 0
    person.do("project", "create", "rings", *CONTRACT)
    person.do("project", "baseline", "--wait")
    return person


async def tried(agent: Agent, person: Person, learning_rate: float) -> dict[str, Any]:
    """Carry an idea from its ticket to its measurement; return the comparison's envelope."""
    ticket = {
        "title": f"Steps of {learning_rate}", "type": "experiment", "hypothesis": "Other steps land closer.",
        "instruction": f"Set learning_rate to {learning_rate}.", "parent_policy": "incumbent",
    }  # fmt: skip
    ticket_id = (await agent.done("ticket.create", tickets=[ticket]))["tickets"][0]["id"]
    await agent.done("ticket.claim", ticket_id=ticket_id, reason="It ranks highest.")
    mutation = {"learning_rate": learning_rate}
    made = await agent.done("experiment.materialize", ticket_id=ticket_id, config_mutation=mutation)
    node_id = made["node"]["id"]
    person.do("approvals", "approve", await agent.ask("run.start", node_id=node_id, reason="Measure it."))
    nodes = (await agent.read("graph.get", focus_node_id=node_id))["result"]["nodes"]
    run_id = next(node["latest_run"]["id"] for node in nodes if node["id"] == node_id)
    run = await agent.awaited(run_id)
    assert (run["status"], run["node_id"]) == ("SUCCEEDED", node_id), run
    return (await agent.read("node.compare", node_id=node_id))["result"]


def decision(compared: dict[str, Any]) -> dict[str, Any]:
    """Return the decision that a comparison calls for."""
    verdict = compared["verdict"]
    words = {"verdict": verdict, "action": CALLED_FOR[verdict], "rationale": f"The contract says {verdict}."}
    return {"node_id": compared["node_id"], **words}


def test_an_agent_and_a_person_carry_ideas_from_the_ticket_to_the_decision(rings, session):
    async def part(agent):
        before = (await agent.read("project.get_state"))["result"]
        better = await tried(agent, rings, STEADY)
        rings.do("approvals", "approve", await agent.ask("decision.commit", **decision(better)))
        promoted = (await agent.read("project.get_state"))["result"]
        worse = await tried(agent, rings, 2 * STILL)
        await agent.done("decision.commit", **decision(worse))
        after = (await agent.read("project.get_state"))["result"]
        assert [state["incumbent"]["node_id"] for state in (before, promoted, after)] == ["N-1", "N-2", "N-2"]
        assert [state["budget"]["runs"]["used"] for state in (before, promoted, after)] == [1, 2, 3]
        return before["incumbent"]["value"], better, worse, after

    first, better, worse, after = session(rings, part)
    compared = [(each["against_node_id"], each["node_id"], each["verdict"]) for each in (better, worse)]
    assert compared == [("N-1", "N-2", "IMPROVED"), ("N-2", "N-3", "REGRESSED")]
    assert first == better["reference"] < better["value"] == worse["reference"] == after["incumbent"]["value"]
    assert (after["active_runs"], after["approvals"]["pending"]) == ([], 0)
    project = recorded(rings)
    assert [(each.author, each.claimed_by) for each in project.tickets.values()] == [(SCOUT, SCOUT)] * 2
    assert requests(project) == [
        ("falsify.run.start", SCOUT, "executed", "owner"),
        ("falsify.decision.commit", SCOUT, "executed", "owner"),
        ("falsify.run.start", SCOUT, "executed", "owner"),
    ]


# --- beliefs ----------------------------------------------------------------------------------------------------


@pytest.fixture
def bridge(tmp_path):
    """Return the owner of beliefs that were read from a file, and of no research: agents are in COPILOT."""
    person = Person(tmp_path / "town", "main")
    (tmp_path / "bridge.yaml").write_text(BELIEFS, encoding="utf-8")
    assert cli.run(["init", str(person.root)]) == 0
    person.do("ingest", str(tmp_path / "bridge.yaml"))
    return person


def cited(recalled: dict[str, Any]) -> set[str]:
    """Return the evidence and conclusions that a recall lets an answer cite, and what its frontier rests on."""
    hits = recalled["result"]["hits"]
    rests_on = [each for hit in (*hits, *recalled["result"]["frontier"]) for each in hit["rests_on"]]
    return {each["handle"] for each in (*hits, *rests_on) if each["handle"] not in {"safe", "unsafe"}}


def test_what_a_fact_of_an_agents_refutes_falls_when_a_person_approves_and_is_not_cited_any_more(bridge, session):
    query = {"query": "Is the main cable of the bridge intact, and may the road stay open?", "limit": 20}
    fact = {
        "id": "torn", "claim": "The main cable of the bridge is not intact", "reason": "The inspector told me.",
        "source": {"id": "inspector", "title": "The inspection of today"}, "quote": "Nine strands are torn.",
    }  # fmt: skip

    async def part(agent):
        before = cited(await agent.read("belief.recall", **query))
        asked = await agent.ask("belief.revise", **fact)
        waiting = cited(await agent.read("belief.recall", **query))
        bridge.do("approvals", "approve", asked)
        after = cited(await agent.read("belief.recall", **query))
        why = [(await agent.read("belief.why", node=node))["result"] for node in ("sound", "open")]
        return before, waiting, after, why

    before, waiting, after, why = session(bridge, part)
    assert before == waiting == {"sound", "color", "open"}
    assert after == {"torn", "color"}
    assert [each["state"] for each in why] == ["refuted", "forgotten"]
    chains = [[(entry["handle"], entry.get("link")) for entry in each["chain"]] for each in why]
    assert chains == [
        [("sound", None), ("torn", "refuted by")],
        [("open", None), ("sound", "lost"), ("torn", "refuted by")],
    ]
    assert why[0]["chain"][1]["verdict"]["relation"] == "contradicts"
    assert requests(recorded(bridge)) == [("falsify.belief.revise", SCOUT, "executed", "owner")]
