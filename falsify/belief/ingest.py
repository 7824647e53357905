"""A belief file: what a person wrote down about an investigation, parsed once and then recorded as a whole.

Recording the same file twice changes nothing. Unless it changes the truth-state of a node, it opens no epoch.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from falsify.belief.cascade import Draft
from falsify.belief.contradiction import Finding
from falsify.belief.events import (
    BeliefEvent,
    ConclusionDrawn,
    DependencyAdded,
    EvidenceWeighed,
    HandleGiven,
    HypothesisProposed,
    QuestionAsked,
    RevisionOpened,
    Stance,
    VerdictGiven,
)
from falsify.belief.graph import UNATTRIBUTED, BeliefGraph, Conclusion, Evidence, Hypothesis, Node
from falsify.belief.revision import (
    AssertFact,
    given,
    open_revision,
    record_evidence,
    record_source,
)
from falsify.belief.text import NodeKind, a_kind, clean, moment, node_id
from falsify.errors import InvalidInputError
from falsify.events import NodeId

if TYPE_CHECKING:
    from falsify.ports import Relation

Path = tuple[str | int, ...]
"""The way to a place in a belief file."""


def _as_text(value: Any) -> Any:
    """Return YAML's dates as the text they were, so that one rule reads them all."""
    return value.isoformat() if isinstance(value, date | datetime) else value


def _as_moment(value: Any) -> Any:
    text = _as_text(value)
    try:
        return moment(text) if isinstance(text, str) and text else text
    except InvalidInputError as error:
        raise ValueError(f"{error.message}; {error.hint}") from None


def _as_clean(value: Any) -> Any:
    try:
        return clean(value, what="the text") if isinstance(value, str) else value
    except InvalidInputError as error:
        raise ValueError(f"{error.message}; {error.hint}") from None


def _as_remark(value: Any) -> Any:
    return "" if isinstance(value, str) and not value.strip() else _as_clean(value)


Handle = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\s\x00-\x1f\x7f]+$")]
"""The file's own name for a thing: no spaces."""
Moment = Annotated[str, BeforeValidator(_as_moment)]
Text = Annotated[str, BeforeValidator(_as_clean)]
Remark = Annotated[str, BeforeValidator(_as_remark)]
"""A text that may be empty."""
Group = Annotated[str, Field(max_length=128, pattern=r"^[^\x00-\x1f\x7f]*$")]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Part(BaseModel):
    """A part of a belief file: no key that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SourceEntry(Part):
    """Where claims come from; the more trusted source wins a judged contradiction. A new one is trusted 1.0."""

    id: Handle
    title: Remark = ""
    trust: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class HypothesisEntry(Part):
    """A possible answer."""

    id: Handle
    statement: Text
    prior: Share = 0.5


class WeightEntry(Part):
    """A hypothesis that evidence speaks for or against."""

    hypothesis: Handle
    weight: Share = 1.0


class AttackEntry(Part):
    """Evidence that this evidence contradicts or supersedes: a person's verdict."""

    evidence: Handle
    confidence: Share = 1.0
    rationale: Remark = ""


class DependencyEntry(Part):
    """Evidence, or a conclusion, that something rests on."""

    evidence: Handle = ""
    conclusion: Handle = ""
    critical: bool = True
    group: Group = ""

    @model_validator(mode="after")
    def _names_one(self) -> "DependencyEntry":
        if bool(self.evidence) == bool(self.conclusion):
            raise ValueError("name one thing it depends on: `evidence: ID` or `conclusion: ID`")
        return self


class EvidenceEntry(Part):
    """A claim, who made it, and what it bears on."""

    id: Handle
    claim: Text
    source_id: Handle = UNATTRIBUTED
    quote: Remark = ""
    asserted_at: Moment = ""
    supports: tuple[WeightEntry, ...] = Field(default=(), strict=False)
    refutes: tuple[WeightEntry, ...] = Field(default=(), strict=False)
    depends_on: tuple[DependencyEntry, ...] = Field(default=(), strict=False)
    contradicts: tuple[AttackEntry, ...] = Field(default=(), strict=False)
    supersedes: tuple[AttackEntry, ...] = Field(default=(), strict=False)


class ConclusionEntry(Part):
    """A statement that rests on evidence or on other conclusions."""

    id: Handle
    statement: Text
    confidence: Share = 1.0
    depends_on: tuple[DependencyEntry, ...] = Field(default=(), strict=False)


class BeliefFile(Part):
    """A whole belief file."""

    question: Text
    sources: tuple[SourceEntry, ...] = Field(default=(), strict=False)
    hypotheses: tuple[HypothesisEntry, ...] = Field(default=(), strict=False)
    evidence: tuple[EvidenceEntry, ...] = Field(default=(), strict=False)
    conclusions: tuple[ConclusionEntry, ...] = Field(default=(), strict=False)


class BadReferenceError(InvalidInputError):
    """An entry has a name that is taken, or names what it cannot refer to; `path` leads to it in the file."""

    def __init__(self, message: str, path: Path, *, reason: str, hint: str = "") -> None:
        super().__init__(message, hint=hint, reason=reason)
        self.path = path


def ingest(graph: BeliefGraph, file: BeliefFile, *, person: str, findings: Sequence[Finding] = ()) -> list[BeliefEvent]:
    """Return everything in the file that the graph does not hold yet, and what follows from it.

    Where the file says a thing twice, its last word counts. Raises BadReferenceError, with the place in the file, for a
    name that leads nowhere or is taken.
    """
    question_id = node_id("question", file.question)
    names = _Names(graph, file, question_id)
    draft = Draft(graph)
    open_revision(draft, "ingest", question_id)
    if question_id not in graph.nodes:
        draft.record(QuestionAsked(question_id=question_id, text=file.question, handle=""))
    _record_sources(draft, file)
    for entry in file.hypotheses:
        _record_hypothesis(draft, names, entry)
    for evidence in {(names.ids[e.id], e.source_id): e for e in file.evidence}.values():
        fact = AssertFact(
            question_id=question_id,
            text=evidence.claim,
            source_id=evidence.source_id,
            quote=evidence.quote,
            asserted_at=evidence.asserted_at,
            handle=evidence.id,
        )
        record_evidence(draft, fact, again=False)
    for conclusion in file.conclusions:
        _record_conclusion(draft, names, conclusion)
    for handle, target in names.ids.items():
        if (question_id, handle) not in draft.graph.handles:
            draft.record(HandleGiven(node_id=target, question_id=question_id, handle=handle))
    edges = {_key(edge): edge for edge in _edges(draft, names, file, person)}
    draft.record(*(edge for edge in edges.values() if not _holds(draft.graph, edge)))
    draft.record(*(finding.event for finding in findings))
    revised = draft.settle()
    if revised:
        return draft.events
    quiet: list[BeliefEvent] = [event for event in draft.events if not isinstance(event, RevisionOpened)]
    return quiet


def claims(graph: BeliefGraph, file: BeliefFile) -> Iterator[tuple[NodeId, EvidenceEntry]]:
    """Yield the evidence of the file that the graph does not hold yet, with the ids it will have."""
    question_id = node_id("question", file.question)
    entries = {node_id("evidence", entry.claim, question_id=question_id): entry for entry in file.evidence}
    yield from ((evidence_id, entry) for evidence_id, entry in entries.items() if evidence_id not in graph.nodes)


class _Names:
    """What the handles of a file stand for: entries of the file first, then nodes of the same question."""

    def __init__(self, graph: BeliefGraph, file: BeliefFile, question_id: NodeId) -> None:
        self.graph = graph
        self.question_id = question_id
        self.ids: dict[str, NodeId] = {}
        for index, hypothesis in enumerate(file.hypotheses):
            self._name(hypothesis.id, "hypothesis", hypothesis.statement, ("hypotheses", index, "id"))
        for index, evidence in enumerate(file.evidence):
            self._name(evidence.id, "evidence", evidence.claim, ("evidence", index, "id"))
        for index, conclusion in enumerate(file.conclusions):
            self._name(conclusion.id, "conclusion", conclusion.statement, ("conclusions", index, "id"))

    def _name(self, handle: str, kind: NodeKind, text: str, path: Path) -> None:
        target = node_id(kind, text, question_id=self.question_id)
        if handle in self.ids:
            raise BadReferenceError(
                f"the id {handle!r} is used twice in this file",
                path,
                reason="name_taken",
                hint="give each entry its own id",
            )
        known = self.graph.handles.get((self.question_id, handle), target)
        if known != target:
            raise BadReferenceError(
                f"the id {handle!r} already stands for {self.graph.nodes[known].text!r}",
                path,
                reason="name_taken",
                hint="choose another id for this entry: a recorded belief is never overwritten",
            )
        self.ids[handle] = target

    def find(self, handle: str, kinds: tuple[type[Node], ...], path: Path, draft: Draft) -> NodeId:
        """Return the node a handle or id stands for, in the file or in the graph."""
        target = self.ids.get(handle) or self.graph.handles.get((self.question_id, handle)) or handle
        node = draft.graph.nodes.get(target)
        if node is None:
            elsewhere = next((i for (_, known), i in draft.graph.handles.items() if known == handle), None)
            if elsewhere is not None:
                raise _under_another_question(handle, elsewhere, path)
            raise BadReferenceError(f"{handle!r} is neither in this file nor in the graph", path, reason="no_node")
        if node.question_id not in {self.question_id, ""}:
            raise _under_another_question(handle, node.id, path)
        if not isinstance(node, kinds):
            wanted = a_kind(*(kind.__name__.lower() for kind in kinds))
            raise BadReferenceError(f"{handle!r} is {a_kind(node.kind)}, not {wanted}", path, reason="other_kind")
        return target


def _under_another_question(handle: str, node: NodeId, path: Path) -> BadReferenceError:
    which = "" if handle == node else f" is {node}, which"
    return BadReferenceError(
        f"{handle!r}{which} stands under another question",
        path,
        reason="other_question",
        hint="name what stands under the question of the file",
    )


def _record_sources(draft: Draft, file: BeliefFile) -> None:
    for source in {source.id: source for source in file.sources}.values():
        record_source(draft, source.id, title=source.title, trust=source.trust)
    for evidence in file.evidence:
        record_source(draft, evidence.source_id)


def _record_hypothesis(draft: Draft, names: _Names, entry: HypothesisEntry) -> None:
    hypothesis_id = names.ids[entry.id]
    if hypothesis_id not in draft.graph.nodes:
        draft.record(
            HypothesisProposed(
                hypothesis_id=hypothesis_id,
                question_id=names.question_id,
                statement=entry.statement,
                prior=entry.prior,
                handle=entry.id,
            )
        )


def _record_conclusion(draft: Draft, names: _Names, entry: ConclusionEntry) -> None:
    conclusion_id = names.ids[entry.id]
    if conclusion_id not in draft.graph.nodes:
        draft.record(
            ConclusionDrawn(
                conclusion_id=conclusion_id,
                question_id=names.question_id,
                statement=entry.statement,
                confidence=entry.confidence,
                handle=entry.id,
            )
        )


Edge = EvidenceWeighed | DependencyAdded | VerdictGiven


def _edges(draft: Draft, names: _Names, file: BeliefFile, person: str) -> Iterator[Edge]:
    for index, evidence in enumerate(file.evidence):
        node, path = names.ids[evidence.id], ("evidence", index)
        yield from _weights(draft, names, node, evidence, path)
        yield from _dependencies(draft, names, node, evidence.depends_on, path)
        yield from _attacks(draft, names, node, evidence, path, person=person)
    for index, conclusion in enumerate(file.conclusions):
        yield from _dependencies(draft, names, names.ids[conclusion.id], conclusion.depends_on, ("conclusions", index))


def _weights(draft: Draft, names: _Names, node: NodeId, entry: EvidenceEntry, path: Path) -> Iterator[EvidenceWeighed]:
    told: dict[Stance, tuple[WeightEntry, ...]] = {"supports": entry.supports, "refutes": entry.refutes}
    for stance, weights in told.items():
        for place, weight in enumerate(weights):
            target = names.find(weight.hypothesis, (Hypothesis,), (*path, stance, place, "hypothesis"), draft)
            yield EvidenceWeighed(evidence_id=node, hypothesis_id=target, stance=stance, weight=float(weight.weight))


def _dependencies(
    draft: Draft, names: _Names, node: NodeId, entries: tuple[DependencyEntry, ...], path: Path
) -> Iterator[DependencyAdded]:
    for place, entry in enumerate(entries):
        key = "evidence" if entry.evidence else "conclusion"
        kind = Evidence if entry.evidence else Conclusion
        on = names.find(entry.evidence or entry.conclusion, (kind,), (*path, "depends_on", place, key), draft)
        yield DependencyAdded(node_id=node, on_id=on, critical=entry.critical, group=entry.group)


def _attacks(
    draft: Draft, names: _Names, node: NodeId, entry: EvidenceEntry, path: Path, *, person: str
) -> Iterator[VerdictGiven]:
    told: dict[Relation, tuple[AttackEntry, ...]] = {"contradicts": entry.contradicts, "supersedes": entry.supersedes}
    for relation, attacks in told.items():
        for place, attack in enumerate(attacks):
            target = names.find(attack.evidence, (Evidence,), (*path, relation, place, "evidence"), draft)
            yield given(
                node,
                target,
                relation=relation,
                confidence=attack.confidence,
                rationale=attack.rationale or "stated in a belief file",
                person=person,
            )


def _key(edge: Edge) -> tuple[str, ...]:
    """Return what tells edges apart: a later one with the same key takes the place of an earlier one."""
    match edge:
        case EvidenceWeighed():
            return "weighs", edge.evidence_id, edge.hypothesis_id, edge.stance
        case DependencyAdded():
            return "depends", edge.node_id, edge.on_id, edge.group
        case VerdictGiven():
            return "attacks", edge.fact_id, edge.claim_id


def _holds(graph: BeliefGraph, edge: Edge) -> bool:
    """Return whether the graph has the edge as the file says it; a ruling of the same effect may be anybody's."""
    match edge:
        case EvidenceWeighed():
            return graph.weighs.get(edge.evidence_id, (edge.hypothesis_id, edge.stance)) == edge
        case DependencyAdded():
            return graph.depends.get(edge.node_id, (edge.on_id, edge.group)) == edge
        case VerdictGiven():
            known = graph.verdicts.get(edge.claim_id, (True, edge.fact_id, edge.claim_id))
            return known is not None and (known.relation, known.confidence) == (edge.relation, edge.confidence)
