"""What is believed at the end of a prefix: truth-states, standings, the frontier, the graph, and recall."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, cast, get_args

import orjson

from falsify.belief.cascade import Draft
from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    BeliefEvent,
    ConclusionDrawn,
    ConclusionInvalidated,
    Consequence,
    DependencyAdded,
    EvidenceAsserted,
    EvidenceInvalidated,
    EvidenceRecorded,
    EvidenceRefuted,
    EvidenceSuperseded,
    EvidenceWeighed,
    HandleGiven,
    HypothesisProposed,
    HypothesisSuperseded,
    NodeContested,
    NodeForgotten,
    Premise,
    QuestionAsked,
    SourceRecorded,
    VerdictGiven,
    VerdictWithheld,
)
from falsify.belief.graph import NANO, Assertion, BeliefGraph, Conclusion, Evidence, Hypothesis, Node, Question, evolve
from falsify.belief.labelling import Label, label_all
from falsify.belief.text import end_of, moment
from falsify.events import Event, NodeId, Recorded
from projections.projection import Projection

BELIEF_EVENTS: frozenset[type] = frozenset(get_args(BeliefEvent))
PREMISES: frozenset[type] = frozenset(get_args(Premise))
CONSEQUENCES: frozenset[type] = frozenset(get_args(Consequence))


BIRTHS: Final = frozenset({QuestionAsked, HypothesisProposed, EvidenceRecorded, ConclusionDrawn})
"""What brings a node into being."""

LOSSES: Final = frozenset(
    {EvidenceRefuted, EvidenceSuperseded, EvidenceInvalidated, ConclusionInvalidated, HypothesisSuperseded,
     NodeContested, NodeForgotten}
)  # fmt: skip
"""What takes something away from a node: that it stands, or that it is known at all."""

_SUBJECTS: Final = ("evidence_id", "conclusion_id", "node_id", "hypothesis_id", "question_id")


def subject(event: Event) -> NodeId:
    """Return the node that an event is about, "" for one that is about none; each has the first of its fields."""
    return next((getattr(event, field) for field in _SUBJECTS if hasattr(event, field)), "")


def born(event: Event) -> NodeId:
    """Return the node that an event brings into being, "" for none."""
    return subject(event) if type(event) in BIRTHS else ""


def fallen(event: Event) -> NodeId:
    """Return the node that an event takes something away from, "" for none."""
    return subject(event) if type(event) in LOSSES else ""


def _evolve(graph: BeliefGraph, recorded: Recorded) -> BeliefGraph:
    event = recorded.event
    return evolve(graph, cast("BeliefEvent", event)) if type(event) in BELIEF_EVENTS else graph


BELIEFS: Projection[BeliefGraph] = Projection("beliefs", BeliefGraph, _evolve)


# --- as one value ----------------------------------------------------------------------------------------


def snapshot(graph: BeliefGraph) -> dict[str, Any]:
    """Return the whole state as JSON-ready values, in an order that depends on nothing but the state."""
    return {
        "epoch": graph.epoch,
        "sources": [
            {"id": s.id, "title": s.title, "trust": s.trust} for s in sorted(graph.sources.values(), key=lambda s: s.id)
        ],
        "nodes": [describe(graph, node) for node in sorted(graph.nodes.values(), key=lambda n: n.id)],
        "edges": sorted(edges(graph), key=lambda e: (e["from"], e["relation"], e["to"], e.get("group", ""))),
        **_documents(graph),
    }


def _documents(graph: BeliefGraph) -> dict[str, list[dict[str, str]]]:
    """Return which editions were read last, if any was: digests of what was recorded before are as they were."""
    read = sorted(graph.documents.values(), key=lambda d: d.document_id)
    told = [
        {"id": d.document_id, "path": d.path, "sha256": d.sha256, "extractor": d.extractor, "source_id": d.source_id}
        for d in read
    ]
    return {"documents": told} if told else {}


DIGEST_FORMAT = "v1"
"""Raised when `snapshot` says more or otherwise: digests of different formats cannot be compared."""


def digest(graph: BeliefGraph) -> str:
    """Return the digest of what is believed: its format and a SHA-256 in hexadecimal, `v1-5e88…`.

    When something changed takes no part, so that the same beliefs have the same digest, whatever way led to them.
    """
    state = snapshot(graph)
    del state["epoch"]
    for node in state["nodes"]:
        del node["truth_epoch"]
    canonical = orjson.dumps(state, option=orjson.OPT_SORT_KEYS)
    return f"{DIGEST_FORMAT}-{hashlib.sha256(canonical).hexdigest()}"


def describe(graph: BeliefGraph, node: Node) -> dict[str, Any]:
    """Return everything there is to say about one node, JSON-ready."""
    common: dict[str, Any] = {
        "id": node.id,
        "handle": node.handle,
        "kind": node.kind,
        "question_id": node.question_id,
        "text": node.text,
        "state": node.state,
        "truth_epoch": node.truth_epoch,
    }
    match node:
        case Question():
            return {**common, "frontier": node.frontier}
        case Hypothesis():
            return {**common, "prior": node.prior, "standing": node.standing / NANO}
        case Evidence():
            return {
                **common,
                "assertions": [
                    {
                        "source_id": a.source_id,
                        "quote": a.quote,
                        "asserted_at": a.asserted_at,
                        "retracted": a.retracted,
                        **_located(a),
                    }
                    for a in sorted(node.assertions.values(), key=lambda a: a.source_id)
                ],
            }
        case Conclusion():
            return {**common, "confidence": round(graph.confidence(node), 9)}
        case _:
            raise TypeError(f"{node.kind} has no description")


def _located(assertion: Assertion) -> dict[str, str]:
    """Return where the words were found, if anybody knows: digests of what was recorded before are as they were."""
    return {"location": assertion.location} if assertion.location else {}


def edges(graph: BeliefGraph) -> Iterator[dict[str, Any]]:
    """Yield every edge: depends_on, supports, refutes, and supersedes from each attacker to what it attacks."""
    for node_id, node in graph.nodes.items():
        for dependency in graph.depends.of(node_id):
            yield {
                "from": node_id,
                "relation": "depends_on",
                "to": dependency.on_id,
                "critical": dependency.critical,
                "group": dependency.group,
            }
        for weight in graph.weighs.of(node_id):
            yield {"from": node_id, "relation": weight.stance, "to": weight.hypothesis_id, "weight": weight.weight}
        if isinstance(node, Evidence):
            for attacker, verdict in graph.attackers(node_id):
                yield {
                    "from": attacker,
                    "relation": "supersedes",
                    "to": node_id,
                    "confidence": verdict.confidence,
                    "verdict": verdict.relation,
                }


# --- recall ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hit:
    """A node that a query came near, with its cosine distance."""

    node_id: NodeId
    distance: float


@dataclass(frozen=True, slots=True)
class Recall:
    """What may be cited: living nodes, nearest first; open conflicts apart from them; the frontier of each question.

    Where slots give an answer, it comes with the living evidence that it was read from, in order.
    """

    hits: tuple[dict[str, Any], ...]
    conflicts: tuple[dict[str, Any], ...]
    frontier: tuple[dict[str, Any], ...]
    answer: dict[str, Any] | None = None
    path: tuple[dict[str, Any], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it without `answer` and `path` where there is no answer to be confident of."""
        told = {name: list(getattr(self, name)) for name in ("hits", "conflicts", "frontier")}
        return told if self.answer is None else {**told, "answer": self.answer, "path": list(self.path)}


def may_be_cited(graph: BeliefGraph, node_id: NodeId) -> bool:
    """Return whether recall may speak of the node: it is alive, or an open conflict that is shown as one."""
    node = graph.nodes.get(node_id)
    return node is not None and node.state in {"alive", "contested"}


def recall(graph: BeliefGraph, hits: Iterable[Hit]) -> Recall:
    """Return what the hits amount to: nothing that is dead is ever among them."""
    found = [(graph.nodes[h.node_id], h.distance) for h in hits if h.node_id in graph.nodes]
    living = [cite(graph, node, distance) for node, distance in found if node.alive]
    contested = [cite(graph, node, distance) for node, distance in found if node.state == "contested"]
    questions = dict.fromkeys(node.question_id or node.id for node, _ in found)
    best = [frontier(graph, question_id) for question_id in questions]
    return Recall(tuple(living), tuple(contested), tuple(f for f in best if f))


def cite(graph: BeliefGraph, node: Node, distance: float | None = None) -> dict[str, Any]:
    """Return a node with its sources, and what it rests on that lives."""
    cited = describe(graph, node)
    if distance is not None:
        cited["distance"] = round(distance, 6)
    if isinstance(node, Evidence):
        cited["sources"] = [
            {
                "id": a.source_id,
                "title": graph.sources[a.source_id].title,
                "quote": a.quote,
                "asserted_at": a.asserted_at,
                **_located(a),
            }
            for a in node.assertions.values()
            if not a.retracted
        ]
    cited["rests_on"] = [
        {"id": other.id, "handle": other.handle, "text": other.text} for other in rests_on(graph, node) if other.alive
    ]
    return cited


def rests_on(graph: BeliefGraph, node: Node) -> list[Node]:
    """Return what a node stands on: the supports of a hypothesis, the dependencies of anything else."""
    if isinstance(node, Hypothesis):
        ids = [w.evidence_id for w in graph.weighed_by.of(node.id) if w.stance == "supports"]
    else:
        ids = [d.on_id for d in graph.depends.of(node.id)]
    return [graph.nodes[i] for i in dict.fromkeys(ids)]


def frontier(graph: BeliefGraph, question_id: NodeId) -> dict[str, Any] | None:
    """Return the best living hypothesis of a question, as it is cited, or None."""
    question = graph.nodes.get(question_id)
    if not isinstance(question, Question) or not question.frontier:
        return None
    return {"question": question.text, **cite(graph, graph.nodes[question.frontier])}


# --- valid time ------------------------------------------------------------------------------------------


def valid_at(records: Iterable[Recorded], date: str) -> BeliefGraph:
    """Return what the records say was true at `date`: only claims asserted by then take part.

    A claim without a date takes part. A conclusion takes part when, attacks aside, it could have been drawn: a
    justification of it was complete.
    """
    limit = end_of(moment(date, what="valid_at"))
    events = [cast("Premise", r.event) for r in records if type(r.event) in PREMISES]
    said = [
        e for e in events if not (isinstance(e, EvidenceAsserted) and e.asserted_at and end_of(e.asserted_at) > limit)
    ]
    heard = {e.evidence_id for e in said if isinstance(e, EvidenceAsserted)}
    unheard = {e.evidence_id for e in said if isinstance(e, EvidenceRecorded)} - heard
    draft = Draft(BeliefGraph())
    draft.record(*_taking_part(said, _never_drawn(said, unheard)))
    draft.settle()
    return draft.graph


def _never_drawn(events: list[Premise], unheard: set[NodeId]) -> set[NodeId]:
    """Return the unheard claims and the nodes that no complete justification could have led to without them."""
    draft = Draft(BeliefGraph())
    draft.record(
        *(
            e
            for e in events
            if not isinstance(e, VerdictGiven | VerdictWithheld | AssertionRetracted | AssertionRestored)
        )
    )
    draft.record(SourceRecorded(source_id=_NOBODY, title="", trust=0.0))
    for evidence_id in sorted(unheard):
        # Nobody asserts it yet, which is what a claim looks like that everybody has withdrawn.
        draft.record(
            EvidenceAsserted(evidence_id=evidence_id, source_id=_NOBODY, quote="", asserted_at=""),
            AssertionRetracted(evidence_id=evidence_id, source_id=_NOBODY, reason=""),
        )
    return {node_id for node_id, label in label_all(draft.graph).items() if label is Label.DEAD}


_NOBODY = ""


def _taking_part(events: list[Premise], absent: set[NodeId]) -> Iterator[Premise]:
    """Yield the premises that speak of no absent node, without the justifications that need one."""
    as_last_said = {(e.node_id, e.on_id, e.group): e for e in events if isinstance(e, DependencyAdded)}
    incomplete = {(e.node_id, e.group) for e in as_last_said.values() if e.critical and e.group and e.on_id in absent}
    broken = {key for key, e in as_last_said.items() if e.critical and (e.node_id, e.group) in incomplete}
    asserted: set[tuple[NodeId, str]] = set()
    for event in events:
        match event:
            case EvidenceRecorded() | EvidenceAsserted() | EvidenceWeighed() if event.evidence_id in absent:
                continue
            case EvidenceAsserted():
                asserted.add((event.evidence_id, event.source_id))
            case AssertionRetracted() | AssertionRestored() if (event.evidence_id, event.source_id) not in asserted:
                continue
            case ConclusionDrawn() if event.conclusion_id in absent:
                continue
            case HandleGiven() if event.node_id in absent:
                continue
            case DependencyAdded() if {event.node_id, event.on_id} & absent or (
                event.node_id,
                event.on_id,
                event.group,
            ) in broken:
                continue
            case VerdictGiven() | VerdictWithheld() if {event.fact_id, event.claim_id} & absent:
                continue
            case _:
                pass
        yield event
