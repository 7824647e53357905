"""Drives beliefs the way a person does: commands by handle in, truth-states by handle out.

`InMemory` runs the decisions of the domain and folds what they return. Whatever else can ingest a file, rule, retract
and tell its states (a workspace, say) can take its place in the tests that use it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from falsify.belief.contradiction import Finding
from falsify.belief.events import BeliefEvent, Stance, VerdictGiven, VerdictWithheld
from falsify.belief.graph import BeliefGraph, evolve
from falsify.belief.ingest import BeliefFile, ingest
from falsify.belief.revision import AssertFact, Weighing, assert_fact, record_verdicts, restore, retract, rule
from falsify.belief.text import node_id
from falsify.events import NodeId
from falsify.ports import Candidate, Relation


class InMemory:
    """The belief domain without a log: a live graph, and every event that made it."""

    def __init__(self, question: str) -> None:
        self.graph = BeliefGraph()
        self.events: list[BeliefEvent] = []
        self.question = question
        self.question_id = node_id("question", question)

    def record(self, events: Sequence[BeliefEvent]) -> list[BeliefEvent]:
        for event in events:
            evolve(self.graph, event)
        self.events += events
        return list(events)

    def ingest(self, *findings: Finding, person: str = "owner", **parts: Any) -> list[BeliefEvent]:
        file = BeliefFile.model_validate({"question": self.question, **parts})
        return self.record(ingest(self.graph, file, person=person, findings=findings))

    def fact(
        self, text: str, *findings: Finding, weighs: Iterable[tuple[str, Stance, float]] = (), **more: Any
    ) -> list[BeliefEvent]:
        weighings = tuple(Weighing(self.id(h), stance, weight) for h, stance, weight in weighs)
        command = AssertFact(question_id=self.question_id, text=text, weighs=weighings, **more)
        return self.record(assert_fact(self.graph, command, findings))

    def rule(
        self, fact: str, claim: str, relation: Relation = "contradicts", *, confidence: float = 1.0
    ) -> list[BeliefEvent]:
        return self.record(
            rule(
                self.graph,
                self.id(fact),
                self.id(claim),
                relation=relation,
                confidence=confidence,
                rationale="seen",
                person="owner",
            )
        )

    def adjudicate(self, fact: str, *findings: Finding) -> list[BeliefEvent]:
        return self.record(record_verdicts(self.graph, self.id(fact), findings))

    def retract(self, evidence: str, *, source_id: str = "") -> list[BeliefEvent]:
        return self.record(retract(self.graph, self.id(evidence), source_id=source_id, reason="withdrawn"))

    def restore(self, evidence: str, *, source_id: str = "") -> list[BeliefEvent]:
        return self.record(restore(self.graph, self.id(evidence), source_id=source_id, reason="it stands"))

    def id(self, handle: str) -> NodeId:
        """Return the id a handle stands for; an id stands for itself."""
        return self.graph.handles.get((self.question_id, handle), handle)

    def state(self, handle: str) -> str:
        return self.graph.nodes[self.id(handle)].state

    def states(self) -> dict[str, str]:
        """Return the truth-state of everything that has a handle."""
        return {handle: self.graph.nodes[node].state for (_, handle), node in self.graph.handles.items()}


def judged(
    fact_id: NodeId,
    claim_id: NodeId,
    relation: Relation = "contradicts",
    confidence: float = 0.9,
    *,
    impugned: tuple[str, ...] = (),
) -> Finding:
    """Return what a judge found of a fact and a claim, or of a fact that impugns the sources of the claim."""
    verdict = VerdictGiven(
        fact_id=fact_id,
        claim_id=claim_id,
        relation=relation,
        confidence=confidence,
        rationale="they cannot both hold",
        judge="scripted",
        judge_version="1",
        gate="source" if impugned else "distance",
        distance=0.2,
        shown="",
        directed=False,
        impugned=impugned,
    )
    return Finding(Candidate(claim_id, 0.2, "distance"), verdict)


def withheld(fact_id: NodeId, claim_id: NodeId) -> Finding:
    """Return that a judge had nothing to say of a fact and a claim."""
    event = VerdictWithheld(
        fact_id=fact_id,
        claim_id=claim_id,
        reason="the model did not answer",
        judge="scripted",
        judge_version="1",
        gate="distance",
        distance=0.2,
        shown="",
    )
    return Finding(Candidate(claim_id, 0.2, "distance"), event)
