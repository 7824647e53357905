"""What the incumbent and its rivals rest on, and what took it away."""

from collections import deque
from dataclasses import dataclass
from typing import Any

from falsify import join
from falsify.belief.graph import BeliefGraph, Evidence, Node
from falsify.events import NodeId
from falsify.workbench.decisions import promotion
from falsify.workbench.project import Decision, Project
from falsify.workbench.project import Node as Experiment

MOST_LOSSES = 5


@dataclass(frozen=True, slots=True)
class Loss:
    """A belief that is not held any more: its name and state, the belief that did that (or empty), and how."""

    name: str
    state: str
    by: str
    because: str

    def as_json(self) -> dict[str, Any]:
        """Return it, JSON-ready."""
        return {"id": self.name, "state": self.state, "by": self.by, "because": self.because}


def losses(graph: BeliefGraph, node_id: NodeId) -> list[Loss]:
    """Return what died beneath a belief, itself first, down to the facts that did it; nothing if it is alive."""
    found: list[Loss] = []
    seen, ahead = {node_id}, deque([node_id])
    while ahead and len(found) < MOST_LOSSES:
        node = graph.nodes[ahead.popleft()]
        if node.alive:
            continue
        found.append(_loss(graph, node))
        below = [d.on_id for d in graph.depends.of(node.id) if d.on_id not in seen]
        seen.update(below)
        ahead.extend(below)
    return found


def name_of(node: Node) -> str:
    """Return what a belief is called: its handle, such as D-1 or R-1, or its id."""
    return node.handle or node.id


def incumbent_losses(project: Project, graph: BeliefGraph) -> list[Loss]:
    """Return what took away what the incumbent rests on; nothing where that stands or there is no incumbent."""
    rests = join.rests_on(project)
    return losses(graph, rests) if rests else []


def measurement_of(project: Project, graph: BeliefGraph, node: Experiment) -> str | None:
    """Return the truth-state of what a node measured, None where it measured nothing."""
    return join.measurement_state(project, graph, node) if node.frozen_by else None


def refuted(node: Experiment) -> str:
    """Return the warning that what a node measured is not believed any more."""
    return f"what {node.id} measured is refuted: see `falsify why {node.frozen_by}`"


def decision_row(graph: BeliefGraph, decision: Decision) -> dict[str, Any]:
    """Return a decision, JSON-ready. `state` is its truth-state."""
    return {
        "id": decision.id,
        "node_id": decision.node_id,
        "verdict": decision.verdict,
        "measured_verdict": decision.measured,
        "action": decision.action,
        "rationale": decision.rationale,
        "evidence_refs": list(decision.evidence_refs),
        "value": decision.value,
        "against_node_id": decision.against_id or None,
        "reference": decision.reference,
        "decided_by": decision.decided_by,
        "committed_at_revision": decision.committed_at,
        "state": join.decision_state(graph, decision),
    }


def standing(project: Project, graph: BeliefGraph, node_id: str) -> dict[str, Any] | None:
    """Return where the baseline or the incumbent stands, None where there is none.

    The incumbent's decision is the one that promoted it last, any other node's the one about it.
    """
    node = project.nodes.get(node_id)
    if node is None:
        return None
    promoted = promotion(project)
    promotes = promoted is not None and promoted.node_id == node.id == project.incumbent
    decision = promoted if promotes else project.decisions.get(node.decision_id)
    return {
        "node_id": node.id,
        "status": node.status,
        "value": node.value,
        "measurement": measurement_of(project, graph, node),
        "run_id": node.frozen_by or None,
        "decision": decision_row(graph, decision) if decision else None,
    }


def _loss(graph: BeliefGraph, node: Node) -> Loss:
    if isinstance(node, Evidence):
        for attacker_id, verdict in graph.attackers(node.id):
            attacker = graph.nodes[attacker_id]
            if attacker.state in {"alive", "contested"}:
                because = f"{name_of(attacker)} {verdict.relation} it: {verdict.rationale}"
                return Loss(name_of(node), node.state, name_of(attacker), because)
        if node.retracted:
            return Loss(name_of(node), node.state, "", "every source withdrew it")
    lost = [graph.nodes[d.on_id] for d in graph.depends.of(node.id) if not graph.nodes[d.on_id].alive]
    named = ", ".join(name_of(each) for each in lost)
    cause = graph.nodes.get(node.cause)
    because = f"it rests on {named}" if named else f"because of {name_of(cause)}" if cause else "nothing supports it"
    return Loss(name_of(node), node.state, name_of(lost[0]) if lost else name_of(cause) if cause else "", because)
