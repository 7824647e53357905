"""The facts of belief revision.

First what people and agents record, then what follows from it. What follows is never typed by anybody: the
decisions in `revision` compute it and write it down with its cause, so that "why did it die" is a lookup.
"""

from typing import Literal

from falsify.belief.text import NodeKind
from falsify.events import UPCASTERS, Event, NodeId, event
from falsify.ports import Gate, Relation

TruthState = Literal["alive", "refuted", "superseded", "invalidated", "contested", "forgotten"]
Trigger = Literal["fact", "retraction", "restoration", "adjudication", "ingest"]
Stance = Literal["supports", "refutes"]

# --- what is recorded ------------------------------------------------------------------------------------


@event("belief.question_asked")
class QuestionAsked(Event):
    """An investigation began."""

    question_id: NodeId
    text: str
    handle: str


@event("belief.hypothesis_proposed")
class HypothesisProposed(Event):
    """A possible answer to the question; `prior` (0..1) breaks ties between equal standings."""

    hypothesis_id: NodeId
    question_id: NodeId
    statement: str
    prior: float
    handle: str


@event("belief.source_recorded")
class SourceRecorded(Event):
    """A source of claims, new or described anew; a contradiction is won by the more trusted source."""

    source_id: str
    title: str
    trust: float


@event("belief.evidence_recorded")
class EvidenceRecorded(Event):
    """A claim entered the graph; who asserts it is said by the EvidenceAsserted events."""

    evidence_id: NodeId
    question_id: NodeId
    claim: str
    handle: str


@event("belief.evidence_asserted", version=2)
class EvidenceAsserted(Event):
    """A source asserts the claim; `asserted_at` is a date, a time in UTC, or empty when nobody knows.

    `location` is where the words were found: a file, and behind `#` the page, line and character in it; or empty.
    """

    evidence_id: NodeId
    source_id: str
    quote: str
    asserted_at: str
    location: str = ""


UPCASTERS["belief.evidence_asserted", 1] = lambda body: {**body, "location": ""}


@event("belief.document_ingested")
class DocumentIngested(Event):
    """A document was read, for the first time or in a new edition.

    `sha256` is that of its bytes; `extractor` says what found the `claims`, and `left_out` how many sentences it took
    for none. `added` and `dropped` are what this edition claims that the one before did not, and the other way round:
    pairs of source and evidence.
    """

    document_id: str
    question_id: NodeId
    path: str
    sha256: str
    title: str
    source_id: str
    asserted_at: str
    extractor: str
    claims: int
    left_out: int
    added: tuple[tuple[str, NodeId], ...]
    dropped: tuple[tuple[str, NodeId], ...]


@event("belief.conclusion_drawn")
class ConclusionDrawn(Event):
    """A statement that rests on other nodes; `confidence` (0..1) is what it has while all of them live."""

    conclusion_id: NodeId
    question_id: NodeId
    statement: str
    confidence: float
    handle: str


@event("belief.handle_given")
class HandleGiven(Event):
    """Another short name for a node, as a belief file calls it; the first one came with the node."""

    node_id: NodeId
    question_id: NodeId
    handle: str


@event("belief.dependency_added")
class DependencyAdded(Event):
    """`node_id` depends on `on_id`.

    Critical dependencies of one `group` stand or fall together; groups, and critical dependencies without a group,
    are alternatives. One that is not critical only lowers confidence when it dies.
    """

    node_id: NodeId
    on_id: NodeId
    critical: bool
    group: str


@event("belief.evidence_weighed")
class EvidenceWeighed(Event):
    """Evidence speaks for or against a hypothesis, with a weight of 0..1."""

    evidence_id: NodeId
    hypothesis_id: NodeId
    stance: Stance
    weight: float


@event("belief.verdict_given", version=2)
class VerdictGiven(Event):
    """A judge, or a person, said how a fact relates to a claim.

    A person's verdict is `directed`: the attack runs from fact to claim as given. In a judged pair the stronger of
    the two attacks the weaker. `distance` is the cosine distance at which the pair was found, -1 for a directed
    verdict. `shown` is the SHA-256 of what the judge was shown. `impugned` are the sources of the claim that the fact
    impugns: where it names any, the fact attacks the claim, whichever is newer, while the claim rests on these alone;
    only where they are trusted more than the fact's does the claim attack the fact.
    """

    fact_id: NodeId
    claim_id: NodeId
    relation: Relation
    confidence: float
    rationale: str
    judge: str
    judge_version: str
    gate: Gate | Literal["given"]
    distance: float
    shown: str
    directed: bool
    impugned: tuple[str, ...] = ()


UPCASTERS["belief.verdict_given", 1] = lambda body: {**body, "impugned": ()}


@event("belief.verdict_withheld")
class VerdictWithheld(Event):
    """A judge failed, stalled or answered nonsense: the pair is unadjudicated, and nothing was refuted."""

    fact_id: NodeId
    claim_id: NodeId
    reason: str
    judge: str
    judge_version: str
    gate: Gate
    distance: float
    shown: str


@event("belief.assertion_retracted")
class AssertionRetracted(Event):
    """A source withdrew a claim. Evidence is refuted when no source asserts it any more."""

    evidence_id: NodeId
    source_id: str
    reason: str


@event("belief.assertion_restored")
class AssertionRestored(Event):
    """A source stands by a claim it had withdrawn."""

    evidence_id: NodeId
    source_id: str
    reason: str


@event("belief.revision_opened", opens_epoch=True)
class RevisionOpened(Event):
    """A revision of belief began: the first record of its epoch. `subject_id` is the node it is about."""

    epoch: int
    trigger: Trigger
    subject_id: NodeId


# --- what follows ----------------------------------------------------------------------------------------


@event("belief.evidence_refuted")
class EvidenceRefuted(Event):
    """A living contradiction, or the retraction of its last source, killed the evidence.

    `by` is the attacking evidence, or empty where `retracted` says that nobody asserts the claim any more.
    """

    evidence_id: NodeId
    by: NodeId
    retracted: bool


@event("belief.evidence_superseded")
class EvidenceSuperseded(Event):
    """A living newer version replaced the evidence."""

    evidence_id: NodeId
    by: NodeId


@event("belief.evidence_invalidated")
class EvidenceInvalidated(Event):
    """Derived evidence lost its last living justification."""

    evidence_id: NodeId
    because: NodeId
    lost: tuple[NodeId, ...]


@event("belief.conclusion_invalidated")
class ConclusionInvalidated(Event):
    """A conclusion lost its last living justification; `lost` are all its critical dependencies that do not live."""

    conclusion_id: NodeId
    because: NodeId
    lost: tuple[NodeId, ...]


@event("belief.node_contested")
class NodeContested(Event):
    """An open conflict: neither alive nor dead, because what it is in conflict `over` is not settled."""

    node_id: NodeId
    node_kind: NodeKind
    over: tuple[NodeId, ...]


@event("belief.node_reinstated")
class NodeReinstated(Event):
    """A node that was dead, contested or forgotten lives again; `was` is the state it had."""

    node_id: NodeId
    node_kind: NodeKind
    because: NodeId
    was: TruthState


@event("belief.hypothesis_superseded")
class HypothesisSuperseded(Event):
    """Every support of the hypothesis died while the rival `by` still has living support."""

    hypothesis_id: NodeId
    by: NodeId


@event("belief.frontier_moved")
class FrontierMoved(Event):
    """The question's best living hypothesis is now another one (empty: none lives)."""

    question_id: NodeId
    hypothesis_id: NodeId
    previous_id: NodeId
    standing: float


@event("belief.node_forgotten")
class NodeForgotten(Event):
    """A dead end with no living consumer and no living anchor left graph and vectors; the log keeps its text."""

    node_id: NodeId
    node_kind: NodeKind
    was: TruthState
    because: NodeId


Premise = (
    QuestionAsked
    | HypothesisProposed
    | SourceRecorded
    | EvidenceRecorded
    | EvidenceAsserted
    | DocumentIngested
    | ConclusionDrawn
    | HandleGiven
    | DependencyAdded
    | EvidenceWeighed
    | VerdictGiven
    | VerdictWithheld
    | AssertionRetracted
    | AssertionRestored
    | RevisionOpened
)
"""What was said or done."""

Consequence = (
    EvidenceRefuted
    | EvidenceSuperseded
    | EvidenceInvalidated
    | ConclusionInvalidated
    | NodeContested
    | NodeReinstated
    | HypothesisSuperseded
    | FrontierMoved
    | NodeForgotten
)
"""What followed from it."""

BeliefEvent = Premise | Consequence
