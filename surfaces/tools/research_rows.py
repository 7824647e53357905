"""All that is known of one thing in a project, JSON-ready: a project in a line, a ticket, a node, a decision."""

from typing import Any

from falsify import join
from falsify.workbench.contract import contract_of
from falsify.workbench.decisions import decision_of
from falsify.workbench.project import Dated, Project
from falsify.workbench.ranking import rank_score
from falsify.workbench.tickets import ticket_of
from falsify.workbench.verdicts import missing_evidence, node_of
from projections import queue, research_graph, soundness
from projections.exhibits import exhibit_row
from projections.project_state import budget_row
from surfaces.workbench import Sight


def project_line(sight: Sight) -> dict[str, Any]:
    """Return a project: what it asks, how far it is, and whether what its incumbent rests on stands."""
    project = sight.project
    incumbent = project.nodes.get(project.incumbent)
    return {
        "id": project.id,
        "objective": project.objective,
        "mode": project.mode,
        "parent": project.parent or None,
        "revision": project.revision,
        "contract_frozen": bool(project.contract_digest),
        "metric": contract_of(project).metric,
        "incumbent": project.incumbent or None,
        "value": incumbent.value if incumbent else None,
        "state": join.incumbent_state(project, sight.graph) if incumbent else None,
        "tickets": len(project.tickets),
        "nodes": len(project.nodes),
        "budget": budget_row(project),
    }


def ticket_row(project: Project, ticket_id: str) -> dict[str, Any]:
    """Return a ticket, and the states it was in. Raises NotFoundError."""
    ticket = ticket_of(project, ticket_id)
    return {
        **queue.ticket_row(project, ticket, rank_score(project, ticket)),
        "hypothesis_id": ticket.hypothesis_id,
        "agent_session_id": ticket.agent_session_id or None,
        "history": _history(ticket.statuses),
    }


def node_row(sight: Sight, node_id: str) -> dict[str, Any]:
    """Return a node with its configuration, runs and evidence, and the states it was in. Raises NotFoundError."""
    project = sight.project
    node = node_of(project, node_id)
    row = research_graph.node_row(project, sight.graph, node, now=sight.now, metrics=True, all_runs=True)
    return {
        **row,
        "roles": [role for role in ("baseline", "incumbent") if getattr(project, role) == node.id],
        "note": node.note or None,
        "metric": contract_of(project).metric,
        "config": dict(node.config),
        "strategy": node.strategy,
        "children": list(project.children.get(node.id, ())),
        "evidence": [exhibit_row(project.evidence[each]) for each in node.evidence_ids],
        "missing_evidence": list(missing_evidence(project, node)),
        "history": _history(node.statuses),
    }


def decision_row(sight: Sight, decision_id: str) -> dict[str, Any]:
    """Return a decision, and what took away what it rests on. Raises NotFoundError."""
    decision = decision_of(sight.project, decision_id)
    return {
        **soundness.decision_row(sight.graph, decision),
        "metric": contract_of(sight.project).metric,
        "previous_incumbent": decision.previous_incumbent or None,
        "conclusion_id": decision.conclusion_id,
        "losses": [loss.as_json() for loss in soundness.losses(sight.graph, decision.conclusion_id)],
    }


def _history(statuses: Dated[Any]) -> list[dict[str, Any]]:
    return [{"revision": revision, "status": status} for revision, status in statuses.history]
