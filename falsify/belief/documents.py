"""A document is a source, and its claims are evidence that it asserts.

The same document twice changes nothing. Of an edited one, what is new is recorded and what is gone is withdrawn, as an
assertion of that source alone: what another source, or another document of the same source, still says lives on.
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from falsify.belief.cascade import Draft
from falsify.belief.contradiction import Finding
from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    BeliefEvent,
    DocumentIngested,
    EvidenceAsserted,
    EvidenceRecorded,
    RevisionOpened,
    Stance,
)
from falsify.belief.graph import Assertion, BeliefGraph, Evidence, Hypothesis
from falsify.belief.prose import Location
from falsify.belief.revision import Weighing, open_revision, question, record_source, record_weighing, remark
from falsify.belief.text import clean, moment, node_id, normalise
from falsify.errors import InvalidInputError
from falsify.events import NodeId
from falsify.ports import Statement


@dataclass(frozen=True, slots=True)
class Weight:
    """For or against which hypothesis, by its short name or id, a claim speaks, and how much (0..1)."""

    hypothesis: str
    stance: Stance
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Claim:
    """What a document says in one place. A claim of a table may have a source, a date and weights of its own."""

    text: str
    quote: str
    location: Location
    source_id: str = ""
    source_title: str = ""
    asserted_at: str = ""
    weights: tuple[Weight, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read. `path` is its lasting name; `extractor` says what found the claims.

    `source_id` is who asserts the claims that name nobody. `retitled` says that a person gave the title: else the
    source keeps one that a person gave it.
    """

    path: str
    sha256: str
    title: str
    source_id: str
    extractor: str
    claims: tuple[Claim, ...]
    asserted_at: str = ""
    trust: float | None = None
    retitled: bool = False
    left_out: int = 0


Said = tuple[str, NodeId]
"""A source and the evidence it asserts."""

GONE = "it is no longer in {path}"
BACK = "it is in {path} again"


def document_id(question_id: NodeId, path: str) -> str:
    """Return the id of a document as it bears on a question: `D-` and 16 hex digits."""
    digest = hashlib.sha256(f"{question_id}\0{path}".encode(errors="surrogateescape")).hexdigest()
    return f"D-{digest[:16]}"


def edition(graph: BeliefGraph, question_id: NodeId, path: str) -> DocumentIngested | None:
    """Return the last edition of a document that was recorded, or None."""
    return graph.documents.get(document_id(question_id, path))


def ingest_document(
    graph: BeliefGraph, question_id: NodeId, document: Document, findings: Sequence[Finding] = ()
) -> list[BeliefEvent]:
    """Return what this edition of a document says that the graph does not hold yet, and what follows from it.

    It opens no epoch unless it changes the truth-state of something. Raises InvalidInputError, with the place in the
    document, for a claim that is no text and for a name that leads nowhere.
    """
    question(graph, question_id)
    draft = Draft(graph)
    open_revision(draft, "ingest", question_id)
    claims = _once(document, question_id)
    _record_sources(draft, document, claims.values(), edition(graph, question_id, document.path))
    read = _edition(graph, document, question_id, claims)
    if read is not None:
        for said, claim in claims.items():
            _record_claim(draft, document, question_id, said, claim)
        _withdraw(draft, document, question_id, claims)
        draft.record(read)
    draft.record(*(finding.event for finding in findings))
    if draft.settle():
        return draft.events
    quiet: list[BeliefEvent] = [event for event in draft.events if not isinstance(event, RevisionOpened)]
    return quiet


def new_claims(graph: BeliefGraph, question_id: NodeId, document: Document) -> Iterator[tuple[NodeId, Claim]]:
    """Yield the claims of the document that are not evidence yet, each once, with the ids they will have."""
    found = {evidence_id: claim for (_, evidence_id), claim in reversed(_once(document, question_id).items())}
    yield from (
        (evidence_id, claim) for evidence_id, claim in reversed(found.items()) if evidence_id not in graph.nodes
    )


def statement(graph: BeliefGraph, document: Document, claim: Claim) -> Statement:
    """Return what a judge is shown of a claim that is not recorded yet."""
    known = graph.sources.get(claim.source_id or document.source_id)
    title = claim.source_title or (known.title if known else claim.source_id or document.title)
    return Statement(claim.text, title, claim.quote, claim.asserted_at or document.asserted_at)


def standing(graph: BeliefGraph, question_id: NodeId, path: str) -> list[Claim]:
    """Return the claims of the last edition of a document that its source stands by."""
    told: list[Claim] = []
    for (source_id, evidence_id), there in graph.contents.row(document_id(question_id, path)).items():
        node = graph.evidence(evidence_id)
        said = node.assertions[source_id]
        if there and not said.retracted:
            told.append(Claim(node.text, said.quote, Location(), source_id=source_id))
    return told


def _once(document: Document, question_id: NodeId) -> dict[Said, Claim]:
    """Return the claims by source and evidence; of what is said twice, the first, with the weights of all."""
    found: dict[Said, Claim] = {}
    for claim in document.claims:
        try:
            evidence_id = node_id("evidence", clean(claim.text, what="the claim"), question_id=question_id)
        except InvalidInputError as error:
            raise _located(document, claim, error.message, error.hint) from error
        said = (claim.source_id or document.source_id, evidence_id)
        first = found.get(said)
        found[said] = claim if first is None else replace(first, weights=(*first.weights, *claim.weights))
    return found


def _record_sources(
    draft: Draft, document: Document, claims: Collection[Claim], before: DocumentIngested | None
) -> None:
    if not claims or any(not claim.source_id for claim in claims):
        record_source(draft, document.source_id, title=_title(draft.graph, document, before), trust=document.trust)
    titles = {claim.source_id: "" for claim in claims if claim.source_id}
    titles |= {claim.source_id: claim.source_title for claim in claims if claim.source_title and claim.source_id}
    for source_id, title in titles.items():
        record_source(draft, source_id, title=title)


def _title(graph: BeliefGraph, document: Document, before: DocumentIngested | None) -> str:
    """Return the title for the document's source: its own, unless the source was given another one."""
    known = graph.sources.get(document.source_id)
    mine = known is None or (before is not None and known.title == before.title)
    return document.title if document.retitled or mine else ""


def _record_claim(draft: Draft, document: Document, question_id: NodeId, said: Said, claim: Claim) -> None:
    source_id, evidence_id = said
    try:
        asserted_at = (
            moment(claim.asserted_at or document.asserted_at) if claim.asserted_at or document.asserted_at else ""
        )
        quote = remark(claim.quote, what="the quote")
    except InvalidInputError as error:
        raise _located(document, claim, error.message, error.hint) from error
    known = draft.graph.nodes.get(evidence_id)
    if known is None:
        text = clean(claim.text, what="the claim")
        draft.record(EvidenceRecorded(evidence_id=evidence_id, question_id=question_id, claim=text, handle=""))
    before = known.assertions.get(source_id) if isinstance(known, Evidence) else None
    if before is None or _says_otherwise(before, quote, asserted_at):
        draft.record(
            EvidenceAsserted(
                evidence_id=evidence_id,
                source_id=source_id,
                quote=quote,
                asserted_at=asserted_at,
                location=claim.location.within(document.path),
            )
        )
    elif before.retracted and _stands_again(draft.graph, document, question_id, said):
        reason = BACK.format(path=document.path)
        draft.record(AssertionRestored(evidence_id=evidence_id, source_id=source_id, reason=reason))
    for weight in claim.weights:
        record_weighing(draft, evidence_id, _weighing(draft.graph, document, question_id, claim, weight))


def _says_otherwise(before: Assertion, quote: str, asserted_at: str) -> bool:
    """Return whether these are other words, or words of another day. A place that moved is no change."""
    return normalise(before.quote) != normalise(quote) or (bool(asserted_at) and before.asserted_at != asserted_at)


def _stands_again(graph: BeliefGraph, document: Document, question_id: NodeId, said: Said) -> bool:
    """Return whether a withdrawn claim that is in the document is back in it.

    What the last edition had too was withdrawn by a person, who is not overruled by an edit elsewhere in the document.
    """
    return not graph.contents.get(document_id(question_id, document.path), said)


def _withdraw(draft: Draft, document: Document, question_id: NodeId, claims: Collection[Said]) -> None:
    """Withdraw what only the last edition says, where no other document of the same source says it."""
    this = document_id(question_id, document.path)
    reason = GONE.format(path=document.path)
    for said, there in draft.graph.contents.row(this).items():
        if there and said not in claims:
            source_id, evidence_id = said
            others = draft.graph.found_in.row(evidence_id).items()
            elsewhere = any(here and by == source_id and where != this for (by, where), here in others)
            if not elsewhere and not draft.graph.evidence(evidence_id).assertions[source_id].retracted:
                draft.record(AssertionRetracted(evidence_id=evidence_id, source_id=source_id, reason=reason))


def _edition(
    graph: BeliefGraph, document: Document, question_id: NodeId, claims: Collection[Said]
) -> DocumentIngested | None:
    """Return that this edition was read, or None if it is the last one."""
    this = document_id(question_id, document.path)
    before = graph.contents.row(this)
    read = DocumentIngested(
        document_id=this,
        question_id=question_id,
        path=document.path,
        sha256=document.sha256,
        title=document.title,
        source_id=document.source_id,
        asserted_at=document.asserted_at,
        extractor=document.extractor,
        claims=len(claims),
        left_out=document.left_out,
        added=tuple(said for said in claims if not before.get(said)),
        dropped=tuple(said for said, there in before.items() if there and said not in claims),
    )
    last = graph.documents.get(this)
    unchanged = last is not None and replace(last, added=(), dropped=()) == read
    return None if unchanged else read


def _weighing(graph: BeliefGraph, document: Document, question_id: NodeId, claim: Claim, weight: Weight) -> Weighing:
    target = graph.handles.get((question_id, weight.hypothesis), weight.hypothesis)
    hypothesis = graph.nodes.get(target)
    if not isinstance(hypothesis, Hypothesis) or hypothesis.question_id != question_id:
        message = f"{weight.hypothesis!r} is no hypothesis of the question"
        raise _located(document, claim, message, "record it first, with a belief file")
    return Weighing(target, weight.stance, weight.weight)


def _located(document: Document, claim: Claim, message: str, hint: str) -> InvalidInputError:
    place = "".join(
        f", {name} {number}"
        for name, number in (("page", claim.location.page), ("line", claim.location.line))
        if number
    )
    return InvalidInputError(f"{document.path}{place}: {message}", hint=hint)
