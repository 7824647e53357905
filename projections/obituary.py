"""Why a node is dead, or what keeps it alive: the audit of one belief, from the log.

An obituary is a tree. Its root is the node asked about; beneath a dead node stands what killed it, down to the fact
that started it, with the verdict, the judge, the source and the record of each; beneath a living one, what it rests on.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from falsify.belief.events import (
    AssertionRetracted,
    ConclusionDrawn,
    EvidenceAsserted,
    EvidenceRecorded,
    HypothesisProposed,
    QuestionAsked,
    TruthState,
    VerdictGiven,
)
from falsify.belief.graph import (
    NANO,
    BeliefGraph,
    Conclusion,
    Evidence,
    Hypothesis,
    Node,
    Question,
    acts,
)
from falsify.belief.labelling import justifications
from falsify.belief.text import written
from falsify.events import NodeId, Recorded
from falsify.join import BRAIN
from projections.beliefs import BELIEFS, CONSEQUENCES
from projections.drawing import mermaid_classes, mermaid_text
from projections.projection import Projection
from projections.remedies import remedies


@dataclass(frozen=True, slots=True)
class Entry:
    """Where something was recorded."""

    position: int
    revision: int
    epoch: int
    recorded_at: str
    actor: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a node's truth-state."""

    state: TruthState
    because: NodeId
    entry: Entry


@dataclass(slots=True)
class Register:
    """The belief graph, and where each thing in it was recorded."""

    graph: BeliefGraph = field(default_factory=BeliefGraph)
    births: dict[NodeId, Entry] = field(default_factory=dict)
    changes: dict[NodeId, list[Change]] = field(default_factory=dict)
    assertions: dict[tuple[NodeId, str], Entry] = field(default_factory=dict)
    retractions: dict[NodeId, list[tuple[str, str, Entry]]] = field(default_factory=dict)
    verdicts: dict[tuple[NodeId, NodeId], Entry] = field(default_factory=dict)


def _evolve(register: Register, recorded: Recorded) -> Register:
    BELIEFS.evolve(register.graph, recorded)
    event = recorded.event
    entry = Entry(recorded.position, recorded.revision, recorded.epoch, written(recorded.recorded_at), recorded.actor)
    match event:
        case EvidenceRecorded():
            register.births[event.evidence_id] = entry
        case ConclusionDrawn():
            register.births[event.conclusion_id] = entry
        case HypothesisProposed():
            register.births[event.hypothesis_id] = entry
        case QuestionAsked():
            register.births[event.question_id] = entry
        case EvidenceAsserted():
            register.assertions[event.evidence_id, event.source_id] = entry
        case AssertionRetracted():
            told = register.retractions.setdefault(event.evidence_id, [])
            told.append((event.source_id, event.reason, entry))
        case VerdictGiven():
            register.verdicts[event.fact_id, event.claim_id] = entry
        case _ if type(event) in CONSEQUENCES:
            _note(register, event.__dict__, entry)
        case _:
            pass
    return register


def _note(register: Register, body: dict[str, Any], entry: Entry) -> None:
    node_id = next((body[k] for k in ("node_id", "evidence_id", "conclusion_id") if k in body), None)
    if node_id is None and "by" in body:
        node_id = body["hypothesis_id"]
    if node_id is not None:
        node = register.graph.nodes[node_id]
        register.changes.setdefault(node_id, []).append(Change(node.state, node.cause, entry))


REGISTER: Projection[Register] = Projection("obituaries", Register, _evolve)


DEEPEST: Final = 125
"""How many steps of a tree JSON has room for: two levels each, of the 254 that orjson writes, and three of sources."""


@dataclass(slots=True)
class Reason:
    """One node of the tree.

    `link` says how it bears on the node above it ("refuted by", "rests on", "lost"). `verdict` is what was said of the
    pair; `considered` what else was, when the fact arrived; `remedies` what would change the state of the root.
    """

    node: dict[str, Any]
    link: str = ""
    verdict: dict[str, Any] | None = None
    reasons: list["Reason"] = field(default_factory=list)
    considered: list[dict[str, Any]] = field(default_factory=list)
    remedies: list[str] = field(default_factory=list)

    def walk(self) -> "Iterator[Reason]":
        """Yield every reason of the tree in the order in which it is read, this one first."""
        rest = [self]
        while rest:
            reason = rest.pop()
            yield reason
            rest += reversed(reason.reasons)

    def as_json(self, *, deepest: int | None = DEEPEST) -> dict[str, Any]:
        """Return the tree as nested objects, of so many steps at the most; None for all there are.

        Where it stops short, each object says how many of its reasons are `left_out`, the root that it is `cut_off`,
        and whom to `ask_next`.
        """
        root = self._entry()
        rest: list[tuple[int, Reason, dict[str, Any]]] = [(0, self, root)]
        closed: list[dict[str, Any]] = []
        deeper: list[Reason] = []
        while rest:
            depth, reason, told = rest.pop()
            if reason.reasons and depth != deepest:
                below = [(depth + 1, each, each._entry()) for each in reason.reasons]  # noqa: SLF001 - of this class
                told["reasons"] += [entry for _, _, entry in below]
                rest += reversed(below)
                continue
            closed.append(told)
            if reason.reasons:
                deeper.append(reason)
        if deeper:
            _cut_off(root, closed, deeper)
        return root

    def _entry(self) -> dict[str, Any]:
        """Return this reason as an object, without the reasons of its own."""
        told: dict[str, Any] = {"link": self.link, **self.node} if self.link else dict(self.node)
        if self.verdict is not None:
            told["verdict"] = self.verdict
        told["reasons"] = []
        if self.considered:
            told["considered"] = self.considered
        if self.remedies:
            told["remedies"] = self.remedies
        return told


def _cut_off(root: dict[str, Any], closed: Iterable[dict[str, Any]], deeper: Iterable[Reason]) -> None:
    """Say in a tree which of its last, `closed` entries have their reasons in what is `deeper` than it goes.

    These are where it stops, and whatever else in it is told of only beneath that.
    """
    below = {each.node["id"]: len(each.reasons) for top in deeper for each in top.walk() if each.reasons}
    asked: dict[NodeId, None] = {}
    for told in closed:
        if told["id"] in below:
            told["left_out"] = below[told["id"]]
            asked[told["id"]] = None
    root["cut_off"], root["ask_next"] = True, list(asked)


def why(register: Register, node_id: NodeId) -> Reason:
    """Return why the node is in the state it is in."""
    return _Teller(register).tell(node_id)


_Step = tuple[Reason, NodeId]
"""A reason, and the node whose own reasons stand beneath it, if any."""

_UNTOLD: Final = ""


class _Teller:
    """Tells one obituary; a node met for the second time is named and not told again."""

    def __init__(self, register: Register) -> None:
        self.register = register
        self.graph = register.graph
        self.told: set[NodeId] = {_UNTOLD}

    def tell(self, node_id: NodeId) -> Reason:
        node = self.graph.nodes[node_id]
        root = Reason(self._describe(node), remedies=list(remedies(self.graph, node)))
        rest: list[_Step] = [(root, node_id)]
        while rest:
            reason, about = rest.pop()
            if about in self.told:
                continue
            self.told.add(about)
            below = list(self._below(self.graph.nodes[about]))
            reason.reasons = [each for each, _ in below]
            reason.considered = self._considered(self.graph.nodes[about])
            rest += reversed(below)
        return root

    def _below(self, node: Node) -> Iterator[_Step]:
        """Yield what stands beneath a node."""
        match node:
            case Question():
                if node.frontier:
                    yield self._step(node.frontier, "frontier")
            case Hypothesis():
                yield from self._hypothesis(node)
            case _ if node.alive:
                for each in self.graph.depends.of(node.id):
                    if self.graph.nodes[each.on_id].alive:
                        yield self._step(each.on_id, "rests on" if each.critical else "is helped by")
            case _:
                yield from self._death(node)

    def _step(self, node_id: NodeId, link: str, verdict: VerdictGiven | None = None) -> _Step:
        """Return a node as a reason, to be told itself."""
        said = None if verdict is None else self._verdict(verdict)
        return Reason(self._describe(self.graph.nodes[node_id]), link, said), node_id

    def _hypothesis(self, node: Hypothesis) -> Iterator[_Step]:
        for weight in self.graph.weighed_by.of(node.id):
            evidence = self.graph.nodes[weight.evidence_id]
            if weight.stance == "supports":
                link = "supported by" if evidence.alive else "lost the support of"
            else:
                link = "spoken against by" if evidence.alive else "no longer spoken against by"
            if node.alive and not evidence.alive:
                yield Reason(self._describe(evidence), link), _UNTOLD
            else:
                yield self._step(evidence.id, link)
        if node.state == "superseded":
            rivals = [
                h
                for i in self.graph.hypotheses.of(node.question_id)
                if isinstance(h := self.graph.nodes[i], Hypothesis) and h.living
            ]
            for rival in sorted(rivals, key=lambda h: (-h.standing, h.order))[:1]:
                yield self._step(rival.id, "gave way to")

    def _death(self, node: Node) -> Iterator[_Step]:
        """Yield what killed a node, or what it is contested over."""
        if isinstance(node, Evidence):
            for attacker, verdict in self.graph.attackers(node.id):
                state = self.graph.nodes[attacker].state
                if state == "alive":
                    link = "superseded by" if verdict.relation == "supersedes" else "refuted by"
                    yield self._step(attacker, link, verdict)
                elif state == "contested" and node.state == "contested":
                    yield self._step(attacker, "in conflict with", verdict)
            if node.retracted:
                for source_id, why_, entry in self.register.retractions.get(node.id, []):
                    yield Reason(self._retraction(node, source_id, why_, entry), "withdrawn by"), _UNTOLD
        for group in justifications(self.graph, node.id).values():
            for on in group:
                other = self.graph.nodes[on]
                if not other.alive:
                    link = "rests on what is contested" if other.state == "contested" else "lost"
                    yield self._step(on, link)

    def _retraction(self, node: Evidence, source_id: str, reason: str, entry: Entry) -> dict[str, Any]:
        source = self.graph.sources[source_id]
        return {
            "id": f"{node.id}@{source_id}",
            "handle": source_id,
            "kind": "retraction",
            "text": reason or f"{source.title} withdrew the claim",
            "state": "alive",
            "recorded": _json(entry),
        }

    def _describe(self, node: Node) -> dict[str, Any]:
        told: dict[str, Any] = {
            "id": node.id,
            "handle": node.handle,
            "kind": node.kind,
            "text": node.text,
            "state": node.state,
            "recorded": _json(self.register.births[node.id]),
        }
        changes = self.register.changes.get(node.id, [])
        if changes:
            told["changes"] = [{"state": c.state, "because": c.because, **_json(c.entry)} for c in changes]
        if isinstance(node, Evidence):
            told["sources"] = [self._source(node, source_id) for source_id in node.assertions]
        if isinstance(node, Hypothesis):
            told["standing"] = node.standing / NANO
        if isinstance(node, Conclusion):
            told["confidence"] = round(self.graph.confidence(node), 9)
        return told

    def _source(self, node: Evidence, source_id: str) -> dict[str, Any]:
        source, said = self.graph.sources[source_id], node.assertions[source_id]
        return {
            "id": source_id,
            "title": source.title,
            "trust": source.trust,
            "quote": said.quote,
            "asserted_at": said.asserted_at,
            "retracted": said.retracted,
            **({"location": said.location} if said.location else {}),
            "recorded": _json(self.register.assertions[node.id, source_id]),
        }

    def _verdict(self, verdict: VerdictGiven) -> dict[str, Any]:
        return {**_verdict(verdict), "won_by": self._won_by(verdict)}

    def _won_by(self, verdict: VerdictGiven) -> str:
        """Return in words why the attack runs in this direction."""
        if verdict.directed:
            told = {BRAIN: "the brain says what becomes of its pages"}
            return told.get(verdict.judge, "given by a person in this direction")
        fact, claim = self.graph.evidence(verdict.fact_id), self.graph.evidence(verdict.claim_id)
        winner, loser = (fact, claim) if fact.strength.beats(claim.strength) else (claim, fact)
        strong, weak = winner.strength, loser.strength
        if strong.trust != weak.trust:
            return f"its source is trusted more ({strong.trust:g} against {weak.trust:g})"
        if verdict.impugned:
            return "it is a charge against what the other rests on, and no date answers that"
        precision = min(len(strong.asserted_at), len(weak.asserted_at))
        if strong.asserted_at[:precision] != weak.asserted_at[:precision]:
            return f"it is newer ({strong.asserted_at} against {weak.asserted_at})"
        later = f"it was asserted later (revision {self._asserted(winner)} against {self._asserted(loser)})"
        return f"{_alike(strong.asserted_at, weak.asserted_at)} trusted alike, and {later}"

    def _asserted(self, evidence: Evidence) -> int:
        """Return the revision that asserted the word which the strength of the evidence is of."""
        said = next(s for s in evidence.assertions.values() if s.order == evidence.strength.order)
        return self.register.assertions[evidence.id, said.source_id].revision

    def _considered(self, node: Node) -> list[dict[str, Any]]:
        """Return the verdicts on this fact that did not act, and those that were withheld."""
        told = []
        for event in self.graph.considered.of(node.id):
            if isinstance(event, VerdictGiven):
                if acts(event):
                    continue
                answer: dict[str, Any] = _verdict(event)
            else:
                answer = {
                    "relation": "unadjudicated",
                    "rationale": event.reason,
                    "judge": event.judge,
                    "judge_version": event.judge_version,
                    "distance": event.distance,
                    "gate": event.gate,
                }
            claim = self.graph.nodes[event.claim_id]
            told.append({"id": claim.id, "handle": claim.handle, "text": claim.text, **answer})
        return told


def mermaid(reason: Reason) -> str:
    """Return the tree as a Mermaid flowchart."""
    lines = ["flowchart TD"]
    names: dict[str, str] = {}

    def place(told: dict[str, Any]) -> str:
        if told["id"] not in names:
            names[told["id"]] = f"n{len(names)}"
            label = mermaid_text(f"{told['handle'] or told['id']}: {told['text']}")
            lines.append(f'    {names[told["id"]]}["{label}<br/><i>{told["state"]}</i>"]:::{told["state"]}')
        return names[told["id"]]

    rest: list[tuple[str, Reason]] = [("", reason)]
    while rest:
        parent, below = rest.pop()
        name = place(below.node)
        if parent:
            lines.append(f"    {parent} -->|{below.link}| {name}")
        rest += [(name, each) for each in reversed(below.reasons)]
    return "\n".join([*lines, *mermaid_classes()]) + "\n"


def _verdict(verdict: VerdictGiven) -> dict[str, Any]:
    return {
        "relation": verdict.relation,
        "confidence": verdict.confidence,
        "rationale": verdict.rationale,
        "judge": verdict.judge,
        "judge_version": verdict.judge_version,
        "distance": None if verdict.directed else verdict.distance,
        "gate": verdict.gate,
    }


def _alike(mine: str, theirs: str) -> str:
    """Return in words why two dates decide nothing."""
    if not (mine or theirs):
        return "both are undated and"
    if not (mine and theirs):
        return "one is undated, both are"
    if mine == theirs:
        return f"both are of {mine} and"
    return f"both are of {min(mine, theirs, key=len)}, as far as both say, and"


def _json(entry: Entry) -> dict[str, Any]:
    return {
        "position": entry.position,
        "epoch": entry.epoch,
        "recorded_at": entry.recorded_at,
        "actor": entry.actor,
    }
