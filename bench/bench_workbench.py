"""What a server takes to answer the workbench's reads about a large project, beside folding its history anew for each.

    python bench/bench_workbench.py

The project has 5,000 tickets and 2,000 nodes, of which 1,900 are measured (bench/research_history.py). Every call goes
through the catalogue as an agent's does; the naive side answers the same call from an empty workspace on the same log,
and both sides run in turns. A read is to take at most 50 ms.
"""

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle, islice
from pathlib import Path

from research_history import OWNER, PROJECT, History, build, check

from falsify import join
from falsify.log import Command
from falsify.workbench.events import MetricsReported
from surfaces.tools.catalogue import CATALOGUE, call
from surfaces.workspace import Workspace

ROOT = Path(__file__).parent.parent
AGENT = "agent:bench"
LIMIT_MS = 50


# --- what is asked --------------------------------------------------------------------------------------------


def asked(workspace: Workspace, history: History):
    """Return the reads by name: tool and arguments."""
    measured = [node for node in history.project.nodes.values() if node.status == "FROZEN"]
    node, hub = (
        measured[len(measured) // 2],
        max(measured[1:], key=lambda each: len(history.project.children.get(each.id, ()))),
    )
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
        "graph.get, 100 nodes around one": ("graph.get", {"focus_node_id": hub.id}),
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


def claim(ticket_id: str, revision: int):
    sent = {"ticket_id": ticket_id, "reason": "It ranks highest.", "idempotency_key": f"claim-{ticket_id}"}
    return "ticket.claim", {**sent, "expected_project_revision": revision}


# --- measuring ------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=50, help="calls of each tool")
    parser.add_argument("--folds", type=int, default=3, help="of which so many are made from a full fold too")
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
                gc.collect()  # else our side clears away what this one leaves behind
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
    """Return the times of claims, of the first reads after them, and of appends that nobody had to decide."""
    eligible = answered(workspace, "ticket.list", {"status": ["ELIGIBLE"], "limit": 50})["result"]["tickets"]
    claims, lists, states, bare = [], [], [], []
    event = [MetricsReported(lines=({"loss": 0.1},))]
    for number, ticket in enumerate(eligible[:calls]):
        tool, arguments = claim(ticket["id"], workspace.log.revision(f"project:{PROJECT}"))
        claims.append(seconds(lambda t=tool, a=arguments: answered(workspace, t, a)))
        lists.append(seconds(lambda: ask(workspace, "ticket.list", {})))
        states.append(seconds(lambda: ask(workspace, "project.get_state", {})))
        command = Command(id=f"bare-{number}", actor=OWNER, tool="bench")
        bare.append(
            seconds(lambda c=command, n=number: workspace.log.append("run:bare", event, expected_revision=n, command=c))
        )
    return {
        "ticket.claim, decided and on the disk": claims,
        "a bare append of one record": bare,
        "ticket.list, the first after an act": lists,
        "project.get_state, the second after it": states,
    }


def print_acts(times) -> None:
    base = statistics.median(times["a bare append of one record"])
    print(f"\n{'act':40}{'median':>10}{'p95':>10}{'to a bare append':>18}")
    for name, taken in times.items():
        middle = statistics.median(taken)
        print(f"{name:40}{middle * 1000:>7.1f} ms{p95(taken) * 1000:>7.1f} ms{middle / base:>17.1f}x")


def print_memory(workspace: Workspace, reads, calls: int) -> None:
    """Show what so many calls leave in memory (live objects, the process's peak), and what their slowest took."""
    turns = [*reads.values()]
    for tool, arguments in turns * 10:
        ask(workspace, tool, arguments)
    before, full = footprint(), gc.get_stats()[2]["collections"]
    asked_in_turn = islice(cycle(turns), calls)
    slowest = max(seconds(lambda t=tool, a=arguments: ask(workspace, t, a)) for tool, arguments in asked_in_turn)
    full = gc.get_stats()[2]["collections"] - full
    after = footprint()
    print(f"\n{calls:,} more calls: {after[0] - before[0]:+,} live objects of {after[0]:,},", end=" ")
    print(f"{after[1] - before[1]:+.1f} MB at the peak of {after[1]:.0f} MB")
    print(f"the slowest took {slowest * 1000:.0f} ms; there were {full} full garbage collections, of", end=" ")
    print(f"{seconds(gc.collect) * 1000:.0f} ms each")


def footprint() -> tuple[int, float]:
    """Return how many objects live, and the peak of the process in MB."""
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
