"""What a page of the brain means for beliefs: its claims are evidence, for as long as the page holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from falsify.belief.cascade import Draft
from falsify.belief.events import AssertionRetracted, DocumentIngested, VerdictGiven
from falsify.belief.graph import BeliefGraph, Evidence
from falsify.belief.revision import AssertFact, open_revision, record_evidence, record_source
from falsify.events import Event, NodeId
from falsify.join.settling import settled

PAGES: Final = "brain:"
"""What the path of a document that is a page begins with."""

BRAIN: Final = "brain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of a page: `ended` says how (superseded, archived, removed), empty while it holds.

    `since` is when (`YYYY-MM-DD`), `title` what it is called, `successor` the title of what took its place, or empty.
    """

    title: str
    ended: str
    since: str = ""
    successor: str = ""


def follow_page(graph: BeliefGraph, edition: DocumentIngested, fate: Fate) -> list[Event]:
    """Return what the fate of a page means for the claims taken from it; nothing if that is known.

    Where the page has ended, its claims are superseded; what somebody else asserts too only loses this source. Where it
    holds again, what superseded its claims is withdrawn.
    """
    source_id = f"{edition.path}#fate"
    said = list(_standing(graph, source_id))
    if not fate.ended:
        return _withdrawn(graph, said, source_id) if said else []
    fact = AssertFact(
        question_id=edition.question_id,
        text=_ended(edition, fate),
        source_id=source_id,
        source_title=f"the brain, about {fate.title}",
        asserted_at=fate.since,
    )
    if fact.fact_id in said:
        return []
    draft = Draft(graph)
    open_revision(draft, "fact", fact.fact_id)
    for earlier in said:
        draft.record(AssertionRetracted(evidence_id=earlier, source_id=source_id, reason="told anew"))
    record_source(draft, source_id, title=fact.source_title)
    record_evidence(draft, fact, again=True)
    for claim_source, claim_id in _claims(graph, edition):
        if _asserted_elsewhere(graph, claim_id, claim_source):
            draft.record(AssertionRetracted(evidence_id=claim_id, source_id=claim_source, reason=fact.text))
        else:
            draft.record(_superseded(fact.fact_id, claim_id, fact.text))
    return settled(draft)


def _ended(edition: DocumentIngested, fate: Fate) -> str:
    by = f", and {fate.successor} took its place" if fate.successor else ""
    since = f" since {fate.since}" if fate.since else ""
    return f"The page {fate.title} ({edition.path.removeprefix(PAGES)}) is {fate.ended}{since}{by}."


def _withdrawn(graph: BeliefGraph, said: list[NodeId], source_id: str) -> list[Event]:
    draft = Draft(graph)
    open_revision(draft, "retraction", said[0])
    for evidence_id in said:
        draft.record(AssertionRetracted(evidence_id=evidence_id, source_id=source_id, reason="the page holds again"))
    return settled(draft)


def _superseded(fact_id: NodeId, claim_id: NodeId, rationale: str) -> VerdictGiven:
    return VerdictGiven(
        fact_id=fact_id,
        claim_id=claim_id,
        relation="supersedes",
        confidence=1.0,
        rationale=rationale,
        judge=BRAIN,
        judge_version="1",
        gate="given",
        distance=-1.0,
        shown="",
        directed=True,
    )


def _standing(graph: BeliefGraph, source_id: str) -> Iterator[NodeId]:
    """Yield the evidence that a source stands by."""
    for evidence_id in graph.sourced.of(source_id):
        if not graph.evidence(evidence_id).assertions[source_id].retracted:
            yield evidence_id


def _claims(graph: BeliefGraph, edition: DocumentIngested) -> Iterator[tuple[str, NodeId]]:
    """Yield the claims of the last edition that its source stands by, each with that source."""
    for (source_id, evidence_id), there in graph.contents.row(edition.document_id).items():
        node = graph.nodes[evidence_id]
        if there and isinstance(node, Evidence) and not node.assertions[source_id].retracted:
            yield source_id, evidence_id


def _asserted_elsewhere(graph: BeliefGraph, claim_id: NodeId, source_id: str) -> bool:
    """Return whether another source stands by the claim as well."""
    said = graph.evidence(claim_id).assertions.values()
    return any(a.source_id != source_id and not a.retracted for a in said)
