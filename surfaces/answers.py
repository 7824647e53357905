"""What a command is answered: one JSON-ready value that every surface prints in its own way."""

from collections.abc import Iterable
from typing import Any

from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    BeliefEvent,
    DocumentIngested,
    EvidenceAsserted,
    FrontierMoved,
    RevisionOpened,
    VerdictGiven,
    VerdictWithheld,
)
from falsify.belief.graph import BeliefGraph, acts
from falsify.belief.text import written
from falsify.events import NodeId, Recorded
from falsify.workbench.project import Project
from projections.beliefs import CONSEQUENCES, describe, subject
from projections.chronicle import sentence
from projections.workbench import WORKBENCH_EVENTS

_CAUSES = ("by", "because")


def answer(
    tool: str,
    graph: BeliefGraph,
    events: Iterable[BeliefEvent],
    subject: NodeId,
    *,
    revision: int,
    epoch: int,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Return what a command came to, given the graph after it.

    `verdicts` are the answers of the judge, acting or not; `changes` the flips in cascade order, each with its cause;
    `frontier` the questions whose best hypothesis is now another.
    """
    events = list(events)
    told: dict[str, Any] = {
        "ok": True,
        "status": "ok",
        "tool": tool,
        "revision": revision,
        "epoch": epoch,
        "revised": any(isinstance(e, RevisionOpened) for e in events),
        "recorded": sum(type(e) not in CONSEQUENCES for e in events),
        "subject": describe(graph, graph.nodes[subject]) if subject in graph.nodes else None,
        "verdicts": [_verdict(graph, e) for e in events if isinstance(e, VerdictGiven | VerdictWithheld)],
        "changes": [_change(graph, e) for e in events if type(e) in CONSEQUENCES and not isinstance(e, FrontierMoved)],
        "frontier": [_frontier(graph, e) for e in events if isinstance(e, FrontierMoved)],
    }
    read = next((e for e in events if isinstance(e, DocumentIngested)), None)
    if read is not None:
        told["document"] = _document(read, events)
    if dry_run:
        told["dry_run"] = True
    return told


def name(graph: BeliefGraph, node_id: NodeId) -> dict[str, str] | None:
    """Return what a node is called, or None for no node."""
    node = graph.nodes.get(node_id)
    return {"id": node.id, "handle": node.handle, "kind": node.kind, "text": node.text} if node else None


def _document(read: DocumentIngested, events: list[BeliefEvent]) -> dict[str, Any]:
    """Return what was found in a document, and how that differs from its last edition."""
    said = [e for e in events if isinstance(e, EvidenceAsserted)]
    return {
        "path": read.path,
        "title": read.title,
        "source_id": read.source_id,
        "extractor": read.extractor,
        "claims": read.claims,
        "left_out": read.left_out,
        "new": len(said),
        "withdrawn": sum(isinstance(e, AssertionRetracted) for e in events),
        "restored": sum(isinstance(e, AssertionRestored) for e in events),
    }


def _verdict(graph: BeliefGraph, event: VerdictGiven | VerdictWithheld) -> dict[str, Any]:
    told: dict[str, Any] = {
        "fact": name(graph, event.fact_id),
        "claim": name(graph, event.claim_id),
        "judge": event.judge,
        "judge_version": event.judge_version,
        "gate": event.gate,
    }
    if isinstance(event, VerdictWithheld):
        return {**told, "distance": event.distance, "relation": None, "acts": False, "reason": event.reason}
    return {
        **told,
        "distance": None if event.directed else event.distance,
        "relation": event.relation,
        "confidence": event.confidence,
        "rationale": event.rationale,
        "acts": acts(event),
    }


def _change(graph: BeliefGraph, event: BeliefEvent) -> dict[str, Any]:
    body = event.__dict__
    causes = [body[field] for field in _CAUSES if body.get(field)] or list(body.get("over", ()))
    cause = causes[0] if causes else ""
    return {
        "change": event.kind.removeprefix("belief."),
        **(name(graph, subject(event)) or {}),
        "because": name(graph, cause),
    }


def _frontier(graph: BeliefGraph, event: FrontierMoved) -> dict[str, Any]:
    return {
        "question": name(graph, event.question_id),
        "hypothesis": name(graph, event.hypothesis_id),
        "previous": name(graph, event.previous_id),
        "standing": event.standing,
    }


def record(graph: BeliefGraph, recorded: Recorded, project: Project) -> dict[str, Any]:
    """Return a record of the log, JSON-ready, with what the nodes it names are called; of research, as a sentence."""
    body = dict(recorded.event.__dict__)
    told = {"sentence": sentence(recorded.event, project)} if type(recorded.event) in WORKBENCH_EVENTS else {}
    ids = [value for field, value in body.items() if field.endswith("_id") or field in _CAUSES]
    return {
        "position": recorded.position,
        "stream": recorded.stream,
        "revision": recorded.revision,
        "epoch": recorded.epoch,
        "recorded_at": written(recorded.recorded_at),
        "actor": recorded.actor,
        "command": recorded.command,
        "kind": recorded.event.kind,
        "version": recorded.event.version,
        "event": body,
        **told,
        "names": {node_id: named for node_id in ids if (named := name(graph, node_id))},
        "hash": recorded.hash.hex(),
    }
