"""A revision as Cognee's tasks: the contract's four and the step that adds data points, for its pipeline or `memify`.

The log decides here too. One task appends the whole revision, once; those before it look, and those after it bring
Cognee's stores up to it, a part each. Whatever is interrupted, the next sync of the mirror makes good.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal, cast

from falsify.belief.contradiction import find_candidates
from falsify.belief.graph import BeliefGraph, Hypothesis
from falsify.belief.revision import AssertFact
from falsify.events import NodeId
from falsify.join.research import measurements
from falsify.judges.cognee_environment import import_cognee, prepare
from falsify.ports import Statement
from surfaces.workspace import Outcome, Workspace

DATASET = "falsify"
PIPELINE = "falsify_revision"

Through = Literal["pipeline", "memify"]


@dataclass(frozen=True, slots=True)
class Revising:
    """What the tasks hand on: the fact, what it may bear on, and, once it is decided, what it came to."""

    workspace: Workspace
    fact: AssertFact
    key: str | None = None
    candidates: tuple[NodeId, ...] = ()
    reach: tuple[NodeId, ...] = ()
    outcome: Outcome | None = None


def revise(
    workspace: Workspace, fact: AssertFact, *, key: str | None = None, through: Through = "pipeline"
) -> Revising:
    """Let a fact arrive through Cognee's pipeline (or `memify`, while it exists), and return what the tasks handed on.

    The same events are appended, and the mirror comes to hold the same, as by `workspace.fact` and
    `workspace.sync_mirror`. What a task raises is raised here.
    """
    from projections.cognee.stores import run, set_up

    prepare(workspace.mirror.folder / "home")
    cognee = import_cognee()
    set_up()
    told: list[Revising] = []
    tasks = belief_tasks(workspace, fact, key=key, told=told.append)
    if through == "memify":
        work = cognee.memify(extraction_tasks=tasks[:1], enrichment_tasks=tasks[1:], data=[{}], dataset=DATASET)
    else:
        work = cognee.run_custom_pipeline(tasks=tasks, data=[{}], dataset=DATASET, pipeline_name=PIPELINE)
    run(work)
    return told[-1]


def belief_tasks(
    workspace: Workspace,
    fact: AssertFact,
    *,
    key: str | None = None,
    told: Callable[[Revising], object] = lambda _: None,
) -> list[Any]:
    """Return the five tasks of a revision, in order; the first takes the pipeline's `data=[{}]`.

    `told` hears what each task hands on. Cognee must have been imported through `import_cognee`.
    """
    from cognee.modules.pipelines.tasks.task import Task

    begin = Revising(workspace, fact, key)
    steps = (
        collect_belief_subgraph,
        propagate_refutation,
        promote_competing_hypothesis,
        forget_orphan_deadends,
        add_data_points,
    )
    return [Task(_task(step, begin, told), needs_llm=False) for step in steps]


def collect_belief_subgraph(revising: Revising) -> Revising:
    """Bring the mirror up to the log, and find what the fact may bear on and what rests on that. Appends nothing."""
    workspace, fact = revising.workspace, revising.fact
    workspace.sync_mirror()
    shown = Statement(fact.text, fact.source_title or fact.source_id, fact.quote, fact.asserted_at)
    measured = measurements(workspace.project)
    found = find_candidates(workspace.graph, fact.fact_id, shown, workspace.index, measured=measured)
    candidates = tuple(candidate.claim_id for candidate in found)
    return replace(revising, candidates=candidates, reach=_reach(workspace.graph, candidates))


def propagate_refutation(revising: Revising) -> Revising:
    """Judge, decide, and append the whole revision; then show in Cognee what lives and what died of the evidence."""
    workspace = revising.workspace
    outcome = workspace.fact(revising.fact, key=revising.key)
    _show(workspace, lambda graph, node: graph.nodes[node].state != "forgotten" and not _is_hypothesis(graph, node))
    return replace(revising, outcome=outcome)


def promote_competing_hypothesis(revising: Revising) -> Revising:
    """Show in Cognee how the hypotheses stand now: the superseded, and the frontier with its greater weight."""
    _show(revising.workspace, _is_hypothesis)
    return revising


def forget_orphan_deadends(revising: Revising) -> Revising:
    """Delete from Cognee's graph and collections what the revision has forgotten; its bytes go, too."""
    _show(revising.workspace, lambda graph, node: graph.nodes[node].state == "forgotten")
    return revising


def add_data_points(revising: Revising) -> Revising:
    """Write what is not there yet, and record that the mirror has come to the end of the log."""
    revising.workspace.sync_mirror()
    return revising


def _show(workspace: Workspace, admit: Callable[[BeliefGraph, NodeId], bool]) -> None:
    """Bring some of the nodes that changed since the mirror's checkpoint to their present state; it stays behind."""
    from projections.cognee import touched

    graph, checkpoint = workspace.graph, workspace.mirror.checkpoint()
    changed = touched((r.event for r in workspace.records(after=checkpoint)), graph)
    workspace.mirror.sync(graph, checkpoint, sorted(node for node in changed if admit(graph, node)))


def _reach(graph: BeliefGraph, seeds: Iterable[NodeId]) -> tuple[NodeId, ...]:
    """Return the seeds, the conclusions that rest on them however indirectly, and the hypotheses they weigh on."""
    queue = list(seeds)
    found = dict.fromkeys(queue)
    for node in queue:
        above = [d.node_id for d in graph.dependents.of(node)] + [w.hypothesis_id for w in graph.weighs.of(node)]
        new = [each for each in sorted(set(above)) if each not in found]
        found |= dict.fromkeys(new)
        queue += new
    return tuple(found)


def _is_hypothesis(graph: BeliefGraph, node: NodeId) -> bool:
    return isinstance(graph.nodes[node], Hypothesis)


def _task(
    step: Callable[[Revising], Revising], begin: Revising, told: Callable[[Revising], object]
) -> Callable[[Any], Awaitable[Revising]]:
    """Return a step as Cognee runs it: on any loop, with the blocking work in a thread beside it."""

    @wraps(step)
    async def carried_out(handed_on: Any) -> Revising:
        # The pipeline's own data come in a list; what a task returns may come as it is, or in one.
        before = handed_on[0] if isinstance(handed_on, list) else handed_on
        after = await asyncio.to_thread(step, before if isinstance(before, Revising) else begin)
        told(after)
        return after

    del cast("Any", carried_out).__wrapped__  # Cognee reads signatures, and this one is not the step's
    return carried_out
