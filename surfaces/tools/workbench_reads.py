"""The reading tools about a project, its queue and its graph: they ask the projections, page, and fence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from falsify import join
from falsify.errors import InvalidInputError
from falsify.events import Recorded
from falsify.workbench.project import Node, Project, Ticket
from falsify.workbench.ranking import scorer
from falsify.workbench.verdicts import node_of, reference_of
from projections import project_state, queue, research_graph
from projections.comparisons import comparison_row, held_against, opponent, opposition
from projections.reproductions import contradictions
from projections.runs import MOST_METRICS
from projections.soundness import incumbent_losses, refuted, standing
from projections.workbench import WORKBENCH_EVENTS
from surfaces.envelope import Envelope
from surfaces.tools import suggestions
from surfaces.tools.calling import made_harmless
from surfaces.tools.cursor import Cursor, seal
from surfaces.tools.fence import Fence
from surfaces.tools.reading import answer, left_off, plain, sent, setting
from surfaces.tools.workbench_inputs import CompareNode, GetGraph, GetState, ListTickets, StateSection
from surfaces.workbench import Sight, Workbench

PAGE: Final = 20
MOST_NODES: Final = 100
RECENT: Final = 10
TOP: Final = 5


# --- the project ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Look:
    """What the sections of a state are made of; `top` are the best eligible tickets."""

    workbench: Workbench
    sight: Sight
    fence: Fence
    top: tuple[Ticket, ...]

    @property
    def project(self) -> Project:
        return self.sight.project


def get_state(workbench: Workbench, given: GetState, caller: str, fence: Fence) -> Envelope:
    """Answer where the project stands, what the caller asked for and holds, and what is wrong with the incumbent."""
    sight = workbench.sight(caller)
    project, unsound = sight.project, sight.unsound
    look = _Look(workbench, sight, fence, queue.best(project, TOP))
    requests = project_state.request_rows(project, caller, unsound, sight.state)
    held = project_state.held_rows(project, caller)
    told = {
        "project_id": project.id,
        "objective": fence.inline(project.objective, limit=2000),
        "mode": project.mode,
        "parent_project_id": project.parent or None,
        "approvals": {**requests, "yours": [plain(fence, row, "note", "effects") for row in requests["yours"]]},
        "tickets": {**held, "yours": [plain(fence, row, "title") for row in held["yours"]]},
    }
    wanted = sent(given.include, tuple(_SECTIONS))
    return answer(
        sight,
        told | {str(name): tell(look) for name, tell in _SECTIONS.items() if name in wanted},
        fence,
        warnings=_undermined(sight, fence),
        next_actions=suggestions.next_steps(sight, unsound, look.top),
    )


def _contract(look: _Look) -> object:
    # Its text and its choices are a person's words, who may have had them from anybody.
    return made_harmless(project_state.contract_row(look.project))


def _baseline(look: _Look) -> object:
    return _stands(look.fence, standing(look.project, look.sight.graph, look.project.baseline))


def _incumbent(look: _Look) -> object:
    row = _stands(look.fence, project_state.incumbent_row(look.project, look.sight.graph, look.sight.unsound))
    return row and {**row, "losses": [plain(look.fence, loss, "id", "by", "because") for loss in row["losses"]]}


def _stands(fence: Fence, row: dict[str, Any] | None) -> dict[str, Any] | None:
    return row and {**row, "decision": row["decision"] and plain(fence, row["decision"], "rationale")}


def _budget(look: _Look) -> object:
    return project_state.budget_row(look.project)


def _active(look: _Look) -> object:
    return [plain(look.fence, row, "reason") for row in project_state.active_rows(look.project, now=look.sight.now)]


def _queue(look: _Look) -> object:
    row = project_state.queue_row(look.project, look.top)
    return {**row, "top": [plain(look.fence, ticket, "title") for ticket in row["top"]]}


def _recent(look: _Look) -> object:
    records = _last_records(look.workbench, look.project.revision)
    return [plain(look.fence, row, "event") for row in project_state.recent_rows(look.project, records)]


_SECTIONS: Final[Mapping[StateSection, Callable[[_Look], object]]] = {
    "contract": _contract,
    "baseline": _baseline,
    "incumbent": _incumbent,
    "budget": _budget,
    "active_runs": _active,
    "queue_counts": _queue,
    "recent_events": _recent,
}


def _last_records(workbench: Workbench, revision: int) -> list[Recorded]:
    """Return the last records about research, looking further back for as long as they are too few."""
    head, width = workbench.through or workbench.workspace.position, 64
    while True:
        after = max(0, head - width)
        found = [
            recorded
            for recorded in workbench.log.read(after=after, through=head, stream=workbench.stream)
            if type(recorded.event) in WORKBENCH_EVENTS and recorded.revision <= revision
        ]
        if len(found) >= RECENT or not after:
            return found[-RECENT:]
        width *= 4


def _undermined(sight: Sight, fence: Fence) -> tuple[str, ...]:
    """Return the warning that the incumbent rests on refuted evidence, and what took it away."""
    state = join.incumbent_state(sight.project, sight.graph)
    if state == "alive":
        return ()
    lost = incumbent_losses(sight.project, sight.graph)
    told = "; ".join(f"{fence.inline(loss.name)} is {loss.state}: {fence.inline(loss.because)}" for loss in lost)
    what = "contested" if state == "contested" else "refuted"
    return (
        (
            f"the incumbent {sight.project.incumbent} rests on {what} evidence. {told}. "
            f"A person sees the whole chain with `falsify why {lost[0].name}`"
        ),
    )


# --- tickets --------------------------------------------------------------------------------------------------


def list_tickets(workbench: Workbench, given: ListTickets, caller: str, fence: Fence) -> Envelope:
    """Answer a page of tickets: chosen and sorted as of the first page, told as they are now."""
    sight = workbench.sight(caller)
    project = sight.project
    wanted = queue.Filter(
        statuses=frozenset(sent(given.status, ())),
        types=frozenset(sent(given.type, ())),
        sources=frozenset(sent(given.source, ())),
        round_id=sent(given.round_id, ""),
        pinned=sent(given.pinned, None),
    )
    order: queue.Order = sent(given.sort, "rank")
    bound = {
        "tool": "falsify.ticket.list",
        "project_id": project.id,
        "status": sorted(wanted.statuses),
        "type": sorted(wanted.types),
        "source": sorted(wanted.sources),
        "round_id": wanted.round_id,
        "pinned": wanted.pinned,
        "sort": order,
    }
    at = left_off(given.cursor, bound, project, length=queue.KEY_LENGTHS[order])
    page = queue.page(project, wanted, order=order, revision=at.revision, limit=sent(given.limit, PAGE), after=at.key)
    score = scorer(project, project.revision)
    rows = [_ticket(fence, queue.ticket_row(project, ticket, score(ticket))) for ticket in page.tickets]
    told = {"tickets": rows, "total": page.total, "as_of_revision": at.revision}
    if page.after is not None:
        told["nextCursor"] = seal(Cursor(at.revision, page.after), bound=bound)
    eligible = next((ticket for ticket in page.tickets if ticket.status == "ELIGIBLE"), None)
    return answer(
        sight, told, fence, next_actions=(suggestions.claim(project, eligible),) if eligible is not None else ()
    )


def _ticket(fence: Fence, row: dict[str, Any]) -> dict[str, Any]:
    origin = f"ticket {row['id']} by {row['author']}"
    quoted = {name: fence.wrap(row[name], origin=origin) for name in ("hypothesis", "instruction")}
    return plain(fence, {**row, **quoted}, "title", "claim_reason", "note", "required_evidence")


# --- the graph ------------------------------------------------------------------------------------------------


def get_graph(workbench: Workbench, given: GetGraph, caller: str, fence: Fence) -> Envelope:
    """Answer a slice of the graph, in breadth-first order as of the first page."""
    sight = workbench.sight(caller)
    project = sight.project
    root, focus, depth = sent(given.root_node_id, ""), sent(given.focus_node_id, ""), sent(given.depth, None)
    if root and focus:
        raise InvalidInputError(
            "both root_node_id and focus_node_id are given",
            hint="give root_node_id for what was made of a node, focus_node_id for what led to it as well",
            reason="root_and_focus",
        )
    start_node = root or focus or project.baseline
    if start_node:
        node_of(project, start_node)
    statuses: frozenset[Any] = frozenset(sent(given.status, ()))
    bound = {
        "tool": "falsify.graph.get",
        "project_id": project.id,
        "root": root,
        "focus": focus,
        "depth": depth,
        "status": sorted(statuses),
    }
    at = left_off(given.cursor, bound, project, length=1)
    walk = research_graph.lineage if focus else research_graph.descendants
    generations = walk(project, start_node, depth=depth, revision=at.revision) if start_node else iter([])
    order = research_graph.chosen(project, generations, statuses, at.revision)
    start = max(0, *at.key, 0)
    end = start + sent(given.max_nodes, MOST_NODES)
    spelled = cache(partial(fence.inline, limit=120))  # the runs of a project name the same metrics
    told: dict[str, Any] = {
        "root_node_id": None if focus else start_node or None,
        "focus_node_id": focus or None,
        "baseline_node_id": project.baseline or None,
        "incumbent_node_id": project.incumbent or None,
        "nodes": [_node(sight, given, fence, spelled, node_id) for node_id in order[start:end]],
        "edges": research_graph.edges(project, order, start, end),
        "total": len(order),
        "as_of_revision": at.revision,
    }
    if end < len(order):
        told["nextCursor"] = seal(Cursor(at.revision, (end,)), bound=bound)
    return answer(sight, told, fence)


def _node(sight: Sight, given: GetGraph, fence: Fence, spelled: Callable[[str], str], node_id: str) -> dict[str, Any]:
    row = research_graph.node_row(
        sight.project,
        sight.graph,
        sight.project.nodes[node_id],
        now=sight.now,
        metrics=sent(given.include_metrics, False),
        all_runs=sent(given.include_runs, False),
    )
    row["config_mutation"] = {name: setting(fence, value) for name, value in row["config_mutation"].items()}
    row["decision"] = row["decision"] and plain(fence, row["decision"], "rationale")
    row["latest_run"] = row["latest_run"] and plain(fence, row["latest_run"], "reason")
    if "metrics" in row:
        row["metrics"] = {spelled(name): value for name, value in list(row["metrics"].items())[:MOST_METRICS]}
    if row.get("runs"):
        row["runs"] = [*(plain(fence, run, "reason") for run in row["runs"][:-1]), row["latest_run"]]
    return plain(fence, row, "change_summary")


# --- a comparison ---------------------------------------------------------------------------------------------


def compare_node(workbench: Workbench, given: CompareNode, caller: str, fence: Fence) -> Envelope:
    """Answer how a node compares with another, and which decision the numbers call for.

    Unless another is named, that other is the one that a decision about the node is held against.
    """
    sight = workbench.sight(caller)
    project, unsound = sight.project, sight.unsound
    node = node_of(project, given.node_id)
    against, named = sent(given.against, None), sent(given.against_node_id, "")
    other = opponent(project, node, against=against, against_node_id=named, unsound=unsound)
    reference = reference_of(project, node, unsound=unsound)
    comparison = held_against(project, node, other, metric=sent(given.metric, ""), reference=reference)
    row = comparison_row(project, sight.graph, comparison, evidence_gaps=sent(given.include_evidence_gaps, True))
    row["differing_keys"] = {
        name: {side: setting(fence, value) for side, value in pair.items()}
        for name, pair in row["differing_keys"].items()
    }
    decision = suggestions.decide(project, node, unsound)
    warnings = [
        *(refuted(each) for each in (node, other) if each is not None and each.id in unsound),
        *contradictions(project, node),
    ]
    elsewhere = reference is not other
    if node.status == "FROZEN" and (elsewhere or warnings or _fallen(project, node, unsound)):
        so = ", and so is the one that is suggested" if decision and elsewhere else ""
        warnings.append(opposition(project, node, reference, so))
    return answer(sight, row, fence, warnings=tuple(warnings), next_actions=(decision,) if decision is not None else ())


def _fallen(project: Project, node: Node, unsound: frozenset[str]) -> bool:
    """Return whether a decision about the node is not held against the incumbent because that is refuted."""
    return project.incumbent in unsound and project.incumbent != node.id
