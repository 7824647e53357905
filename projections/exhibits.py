"""The evidence of a node, in the order in which it was attached, JSON-ready."""

from collections.abc import Collection
from typing import Any

from falsify.errors import InvalidInputError
from falsify.workbench.events import EvidenceKind
from falsify.workbench.project import Node, Project, StoredEvidence
from falsify.workbench.runs import run_of


def exhibits(
    project: Project, node: Node, *, run_id: str, kinds: Collection[EvidenceKind], revision: int
) -> list[tuple[int, StoredEvidence]]:
    """Return the node's evidence at a revision with its ordinals, counted from 1: of one run and of some kinds, or all.

    Raises NotFoundError for a run that does not exist, and InvalidInputError for one of another node.
    """
    if run_id and (run := run_of(project, run_id)).node_id != node.id:
        raise InvalidInputError(
            f"{run.id} is a run of {run.node_id}, not of {node.id}",
            hint=f"list the evidence of {run.node_id}, or leave run_id out",
            reason="foreign_run",
        )
    numbered = enumerate((project.evidence[evidence_id] for evidence_id in node.evidence_ids), 1)
    return [
        (number, stored)
        for number, stored in numbered
        if stored.attached_at <= revision
        and (not run_id or stored.run_id == run_id)
        and (not kinds or stored.exhibit.kind in kinds)
    ]


def run_log(project: Project, run_id: str) -> StoredEvidence | None:
    """Return the log that a run left behind."""
    node = project.nodes[project.runs[run_id].node_id]
    logs = [
        stored
        for evidence_id in node.evidence_ids
        if (stored := project.evidence[evidence_id]).run_id == run_id and stored.exhibit.kind == "run_log"
    ]
    return logs[-1] if logs else None


def exhibit_row(stored: StoredEvidence) -> dict[str, Any]:
    """Return a piece of evidence."""
    exhibit = stored.exhibit
    return {
        "id": stored.id,
        "node_id": stored.node_id,
        "run_id": stored.run_id or None,
        "kind": exhibit.kind,
        "name": exhibit.name,
        "media_type": exhibit.media_type,
        "sha256": exhibit.sha256,
        "size": exhibit.size,
        "attached_at_revision": stored.attached_at,
    }
