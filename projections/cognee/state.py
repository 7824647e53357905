"""What Cognee ought to hold: a pure function of the belief graph, and the differences between two such values.

A node's `feedback_weight` says how much it counts in Cognee's ranking:

* 0 for whatever does not live (contested nodes too: an open conflict is never served as truth);
* a question has Cognee's neutral 0.5;
* evidence has its share: the greatest weight with which it speaks for or against a hypothesis, 0.5 if for none;
* a conclusion has its present confidence;
* a hypothesis of standing s has w = (1 + s / (1 + |s|)) / 2, which is 0.5 at 0 and lies between 0 and 1; the frontier
  has (1 + w) / 2. No rival's standing exceeds the frontier's, so no rival's weight reaches it, ties included.
"""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from falsify.belief.events import DependencyAdded, VerdictGiven
from falsify.belief.graph import NANO, Assertion, BeliefGraph, Conclusion, Evidence, Hypothesis, Node, Question
from falsify.belief.text import NodeKind
from falsify.events import NodeId

Fields = dict[str, Any]
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

PASSAGES = "DocumentChunk_text"
"""Where Cognee's plain retrieval looks: each claim as a passage of its source, whatever its truth-state."""

TYPES: Mapping[NodeKind, str] = {
    "question": "InvestigationQuestion",
    "hypothesis": "Hypothesis",
    "evidence": "Evidence",
    "conclusion": "Conclusion",
}

EMBEDDED: Mapping[str, str] = {
    "InvestigationQuestion": "question",
    "Hypothesis": "statement",
    "Evidence": "claim",
    "Conclusion": "statement",
}
"""The field of each class that has a vector; the collection is named after both."""

COLLECTIONS: tuple[str, ...] = (*(f"{kind}_{name}" for kind, name in EMBEDDED.items()), PASSAGES)

NEUTRAL = 0.5
"""Cognee's own default for a feedback weight."""

_SHOWN = 80
_NAMESPACE = UUID("7b1c0f5e-0d0a-5c7e-9a55-6fa15f1f0001")


@dataclass(frozen=True, slots=True)
class MirrorNode:
    """A node as Cognee has it: the name of its class, and those of its fields that Falsify writes."""

    type: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class MirrorRow:
    """What stands beside a vector: the text it was made of, its tags, and the source."""

    text: str
    tags: tuple[str, ...]
    source_id: str = ""
    source_title: str = ""


EdgeKey = tuple[NodeId, str, NodeId]
"""Source, relation, target."""
RowKey = tuple[str, NodeId]
"""Collection, node."""


@dataclass(frozen=True, slots=True)
class MirrorState:
    """Everything that Falsify keeps in Cognee, or the part of it that concerns some nodes."""

    nodes: dict[NodeId, MirrorNode] = field(default_factory=dict)
    edges: dict[EdgeKey, Fields] = field(default_factory=dict)
    rows: dict[RowKey, MirrorRow] = field(default_factory=dict)


def cognee_id(node_id: NodeId) -> str:
    """Return the id a node has in Cognee, a UUID of version 5."""
    return _uuid5(node_id)


def row_id(collection: str, node_id: NodeId) -> str:
    """Return the id that a node's vector has in a collection of Cognee's."""
    return _uuid5(f"passage:{node_id}" if collection == PASSAGES else node_id)


def snapshot(graph: BeliefGraph) -> MirrorState:
    """Return what Cognee ought to hold; forgotten nodes and their edges are absent."""
    state = MirrorState()
    for node in graph.nodes.values():
        if node.state != "forgotten":
            _put(state, graph, node)
            state.edges.update(_outgoing(graph, node))
    return state


def view(graph: BeliefGraph, node_ids: Iterable[NodeId]) -> MirrorState:
    """Return the part of the snapshot that changes with these nodes: they, their vectors, and the edges they own.

    A node owns the edges that it is the source of, the dependencies on it, and the attacks on it. It does not own what
    speaks for it: those edges change with the evidence, and a hypothesis may have thousands of them.
    """
    state = MirrorState()
    for node_id in node_ids:
        node = graph.nodes.get(node_id)
        if node is None or node.state == "forgotten":
            continue
        _put(state, graph, node)
        state.edges.update(_outgoing(graph, node))
        state.edges.update(_dependent(graph, node))
    return state


def differences(expected: MirrorState, found: MirrorState) -> list[str]:
    """Return one line for each node, edge and vector that is not as expected, and what differs."""
    lines = [
        *_differences(expected.nodes, found.nodes, str, lambda node: {"type": node.type, **node.fields}),
        *_differences(expected.edges, found.edges, _arrow, dict),
        *_differences(expected.rows, found.rows, _place, asdict),
    ]
    return sorted(lines)


def _uuid5(name: str) -> str:
    """Return str(uuid5(_NAMESPACE, name)) in a quarter of the time, which bulk copies are full of."""
    digest = hashlib.sha1(_NAMESPACE.bytes + name.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


# --- nodes -----------------------------------------------------------------------------------------------


def _put(state: MirrorState, graph: BeliefGraph, node: Node) -> None:
    mirrored = MirrorNode(TYPES[node.kind], {**_common(graph, node), **_own(graph, node)})
    state.nodes[node.id] = mirrored
    tags = (node.state,)
    state.rows[f"{mirrored.type}_{EMBEDDED[mirrored.type]}", node.id] = MirrorRow(node.text, tags)
    if isinstance(node, Evidence):
        fields = mirrored.fields
        state.rows[PASSAGES, node.id] = MirrorRow(_passage(fields), tags, fields["source_id"], fields["source_title"])


def _common(graph: BeliefGraph, node: Node) -> Fields:
    return {
        "node_id": node.id,
        "question_id": node.question_id,
        "name": node.handle or node.id,
        "text": node.text,
        "status": node.state,
        "truth_alignment": [node.state],
        "truth_epoch": node.truth_epoch,
        "feedback_weight": _weight(graph, node) if node.alive else 0.0,
        "belongs_to_set": [node.state],
    }


def _own(graph: BeliefGraph, node: Node) -> Fields:
    match node:
        case Hypothesis():
            return {"statement": node.text, "prior": node.prior}
        case Evidence():
            return {"claim": node.text, "stance": _stance(graph, node), **_origin(graph, node)}
        case Conclusion():
            rests_on = dict.fromkeys(d.on_id for d in graph.depends.of(node.id) if _there(graph, d.on_id))
            return {
                "statement": node.text,
                "confidence": graph.confidence(node),
                "depends_on_ids": list(rests_on),
            }
        case _:
            return {"question": node.text}


def _weight(graph: BeliefGraph, node: Node) -> float:
    match node:
        case Hypothesis():
            standing = node.standing / NANO
            weight = (1 + standing / (1 + abs(standing))) / 2
            question = graph.nodes[node.question_id]
            leads = isinstance(question, Question) and question.frontier == node.id
            return (1 + weight) / 2 if leads else weight
        case Evidence():
            return max((weighing.weight for weighing in graph.weighs.of(node.id)), default=NEUTRAL)
        case Conclusion():
            return graph.confidence(node)
        case _:
            return NEUTRAL


def _stance(graph: BeliefGraph, node: Evidence) -> str:
    strongest = max(graph.weighs.of(node.id), key=lambda weighing: weighing.weight, default=None)
    return strongest.stance if strongest else ""


def _origin(graph: BeliefGraph, node: Evidence) -> Fields:
    """Return who says so: the strongest of the sources that stand by the claim (that stood by it, if none does)."""

    def rank(said: Assertion) -> tuple[bool, float, int]:
        return not said.retracted, graph.sources[said.source_id].trust, said.order

    said = max(node.assertions.values(), key=rank, default=Assertion("", "", "", 0))
    source = graph.sources.get(said.source_id)
    return {
        "source_id": said.source_id,
        "source_title": source.title if source else "",
        "quote": said.quote,
        "asserted_at": said.asserted_at,
    }


def _passage(evidence: Fields) -> str:
    """Return the claim as a document would have it: the words, the quotation, and where they stand."""
    lines = [evidence["claim"]]
    if evidence["quote"] and evidence["quote"] != evidence["claim"]:
        lines.append(f"“{evidence['quote']}”")
    origin = ", ".join(part for part in (evidence["source_title"], evidence["asserted_at"]) if part)
    return "\n".join([*lines, f"({origin})"] if origin else lines)


# --- edges -----------------------------------------------------------------------------------------------


def _there(graph: BeliefGraph, node_id: NodeId) -> bool:
    return graph.nodes[node_id].state != "forgotten"


def _outgoing(graph: BeliefGraph, node: Node) -> Iterator[tuple[EdgeKey, Fields]]:
    """Yield what the node depends on, speaks for, and attacks or is attacked by."""
    by_target: dict[NodeId, list[DependencyAdded]] = {}
    for dependency in graph.depends.of(node.id):
        by_target.setdefault(dependency.on_id, []).append(dependency)
    for on_id, roles in by_target.items():
        if _there(graph, on_id):
            yield (node.id, "depends_on", on_id), _dependency(roles)
    for weighing in graph.weighs.of(node.id):
        if _there(graph, weighing.hypothesis_id):
            yield (node.id, weighing.stance, weighing.hypothesis_id), {"weight": weighing.weight}
    for verdict in graph.verdicts.of(node.id):
        for winner, loser in ((verdict.fact_id, verdict.claim_id), (verdict.claim_id, verdict.fact_id)):
            if graph.attacks(verdict, loser) and _there(graph, winner) and _there(graph, loser):
                yield (winner, "supersedes", loser), _attack(verdict)


def _dependent(graph: BeliefGraph, node: Node) -> Iterator[tuple[EdgeKey, Fields]]:
    """Yield what depends on the node."""
    by_source: dict[NodeId, list[DependencyAdded]] = {}
    for dependency in graph.dependents.of(node.id):
        by_source.setdefault(dependency.node_id, []).append(dependency)
    for node_id, roles in by_source.items():
        if _there(graph, node_id):
            yield (node_id, "depends_on", node.id), _dependency(roles)


def _attack(verdict: VerdictGiven) -> Fields:
    return {"confidence": verdict.confidence, "relation": verdict.relation}


def _dependency(roles: list[DependencyAdded]) -> Fields:
    """Return the one edge that Cognee keeps of a pair; further roles of the dependency stand under `also`."""
    ordered = sorted(roles, key=lambda role: (not role.critical, role.group))
    first, *others = [{"critical": role.critical, "group": role.group} for role in ordered]
    return {**first, "also": others} if others else first


# --- differences -----------------------------------------------------------------------------------------


def _differences(
    expected: Mapping[K, V], found: Mapping[K, V], name: Callable[[K], str], parts: Callable[[V], Fields]
) -> Iterator[str]:
    for key, value in expected.items():
        if key not in found:
            yield f"{name(key)}: in the log, not in Cognee"
            continue
        ours, theirs = parts(value), parts(found[key])
        for part in ours.keys() | theirs.keys():
            if part not in theirs:
                yield f"{name(key)}: {part} is missing in Cognee"
            elif part not in ours:
                yield f"{name(key)}: {part} is {_short(theirs[part])} in Cognee, unknown to the log"
            elif ours[part] != theirs[part]:
                yield f"{name(key)}: {part} is {_short(theirs[part])} in Cognee, {_short(ours[part])} in the log"
    for key in found:
        if key not in expected:
            yield f"{name(key)}: in Cognee, not in the log"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _arrow(key: EdgeKey) -> str:
    source, relation, target = key
    return f"{source} -{relation}-> {target}"


def _place(key: RowKey) -> str:
    collection, node_id = key
    return f"{node_id} in {collection}"
