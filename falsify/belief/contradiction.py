"""The two gates of a contradiction: which claims a fact might bear on, and what a judge says of each.

Both gates are asked for through ports, and every answer becomes part of an event; replay asks nobody.
"""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Protocol

import orjson

from falsify.belief.events import VerdictGiven, VerdictWithheld
from falsify.belief.graph import BeliefGraph, Evidence, acts
from falsify.belief.impugn import Impugnment, impugns, mentions
from falsify.events import NodeId
from falsify.ports import Candidate, Gate, Judge, Opinion, Statement

NEAREST = 10
"""How many living claims the first gate lets through by distance, and how many that are not alive."""

NAMED = 0.6
"""How well a fact's words must name a source before the evidence that rests on it becomes a candidate."""

NOT_BY_WORDS: Final = frozenset({"numeric", "pinned"})
"""The judges that know something else of a pair than its words; whoever reads the words does not know better."""


class Neighbours(Protocol):
    """Finds claims by meaning, where the threshold is the embedder's, and by slot."""

    def nearest(self, text: str, *, limit: int, admit: Callable[[NodeId], bool]) -> list[tuple[NodeId, float]]:
        """Return the admitted nodes within the threshold, nearest first, with their cosine distances."""
        ...

    def distances(self, text: str, node_ids: Sequence[NodeId]) -> list[float]:
        """Return the cosine distance from the text to each of the nodes."""
        ...

    def rivals(self, text: str) -> list[NodeId]:
        """Return the claims, in whatever state, in the functional slot that the text fills."""
        ...


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on one candidate, or the reason why there is none."""

    candidate: Candidate
    event: VerdictGiven | VerdictWithheld


def examine(
    graph: BeliefGraph,
    fact_id: NodeId,
    fact: Statement,
    *,
    neighbours: Neighbours,
    judge: Judge,
    measured: Collection[NodeId] = (),
) -> list[Finding]:
    """Return what the judge says of the fact against every candidate, nearest first."""
    candidates = find_candidates(graph, fact_id, fact, neighbours, measured=measured)
    return adjudicate(graph, fact_id, fact, candidates, judge)


def find_candidates(
    graph: BeliefGraph, fact_id: NodeId, fact: Statement, neighbours: Neighbours, *, measured: Collection[NodeId] = ()
) -> list[Candidate]:
    """Return the claims that pass the first gate: those that the fact is not `settled` with.

    Dead claims are candidates too: when what killed them falls, they must not come back unexamined.
    """

    def admitted(node_id: NodeId, gate: Gate) -> bool:
        if node_id == fact_id or not _is_claim(graph, node_id):
            return False
        return not settled(graph, fact_id, node_id, gate, measured=measured)

    def living(node_id: NodeId) -> bool:
        return admitted(node_id, "distance") and graph.nodes[node_id].alive

    def dead(node_id: NodeId) -> bool:
        return admitted(node_id, "distance") and not graph.nodes[node_id].alive

    near = [
        Candidate(node_id, distance, "distance")
        for admit in (living, dead)
        for node_id, distance in neighbours.nearest(fact.text, limit=NEAREST, admit=admit)
    ]
    impugnment = impugns(fact.text)
    named = _resting_on_named_sources(graph, impugnment) if impugnment else []
    named = [n for n in named if admitted(n, "source")]
    # All of a slot, the dead and forgotten too: a new value that killed only the last would bring back the one before.
    rivals = [n for n in neighbours.rivals(fact.text) if admitted(n, "slot")]
    by_slot = _whatever_distance(fact, rivals, "slot", neighbours)
    by_source = _whatever_distance(fact, named, "source", neighbours)
    found = {c.claim_id: c for c in [*by_slot, *near, *by_source]}
    return sorted(found.values(), key=lambda c: (c.distance, c.claim_id))


def settled(
    graph: BeliefGraph, fact_id: NodeId, claim_id: NodeId, gate: Gate, *, measured: Collection[NodeId] = ()
) -> bool:
    """Return whether no judge of words is to be asked of the pair, because what decides it are not the words.

    That is so of two of the claims that were `measured`; of a pair on which somebody gave a directed verdict, or a
    judge one that acts and that is not by words; and of a charge, where it is the accused whose words are held against
    it.
    """
    if (fact_id in measured and claim_id in measured) or graph.ruled(fact_id, claim_id):
        return True
    known = graph.judged(fact_id, claim_id)
    if known is None or not acts(known):
        return False
    accuses_back = bool(known.impugned) and known.fact_id == claim_id and gate != "source"
    return known.judge in NOT_BY_WORDS or accuses_back


def _whatever_distance(fact: Statement, ids: list[NodeId], gate: Gate, neighbours: Neighbours) -> list[Candidate]:
    distances = neighbours.distances(fact.text, ids)
    return [Candidate(node_id, distance, gate) for node_id, distance in zip(ids, distances, strict=True)]


def adjudicate(
    graph: BeliefGraph, fact_id: NodeId, fact: Statement, candidates: Sequence[Candidate], judge: Judge
) -> list[Finding]:
    """Return the judge's verdict on each candidate, as the event to be recorded."""
    claims = [statement(graph, graph.evidence(c.claim_id)) for c in candidates]
    impugnment = impugns(fact.text) if any(c.gate == "source" for c in candidates) else None
    answers = judge.judge(fact, claims) if claims else []
    findings = []
    for candidate, claim, answer in zip(candidates, claims, answers, strict=True):
        event: VerdictGiven | VerdictWithheld
        if isinstance(answer, Opinion):
            event = VerdictGiven(
                fact_id=fact_id,
                claim_id=candidate.claim_id,
                relation=answer.relation,
                confidence=round(answer.confidence, 6),
                rationale=answer.rationale,
                judge=judge.name,
                judge_version=judge.version,
                gate=candidate.gate,
                distance=round(candidate.distance, 6),
                shown=shown(fact, claim),
                directed=False,
                impugned=_impugned_of(graph, impugnment, candidate) if impugnment else (),
            )
        else:
            event = VerdictWithheld(
                fact_id=fact_id,
                claim_id=candidate.claim_id,
                reason=answer.reason,
                judge=judge.name,
                judge_version=judge.version,
                gate=candidate.gate,
                distance=round(candidate.distance, 6),
                shown=shown(fact, claim),
            )
        findings.append(Finding(candidate, event))
    return findings


def statement(graph: BeliefGraph, claim: Evidence) -> Statement:
    """Return what a judge is shown of a claim: with the strongest of the sources that stand by it."""
    said = max(claim.assertions.values(), key=lambda a: (not a.retracted, graph.sources[a.source_id].trust, a.order))
    titles = [graph.sources[a.source_id].title for a in claim.assertions.values() if not a.retracted]
    return Statement(
        text=claim.text,
        source_title=" / ".join(titles) or graph.sources[said.source_id].title,
        quote=said.quote,
        asserted_at=said.asserted_at,
    )


def shown(fact: Statement, claim: Statement) -> str:
    """Return the SHA-256 of what a judge was shown, in hexadecimal."""
    return hashlib.sha256(orjson.dumps([asdict(fact), asdict(claim)])).hexdigest()


def _is_claim(graph: BeliefGraph, node_id: NodeId) -> bool:
    return isinstance(graph.nodes.get(node_id), Evidence)


def _resting_on_named_sources(graph: BeliefGraph, impugnment: Impugnment) -> list[NodeId]:
    named = [s for s in graph.sources.values() if mentions(impugnment, s.title) >= NAMED]
    claims = dict.fromkeys(claim for source in named for claim in graph.sourced.of(source.id))
    return [claim for claim in claims if all(_impugned(graph, impugnment, s) for s in _standing_by(graph, claim))]


def _impugned_of(graph: BeliefGraph, impugnment: Impugnment, candidate: Candidate) -> tuple[str, ...]:
    """Return the sources of the claim that the fact impugns, where that is how the claim was found."""
    if candidate.gate != "source":
        return ()
    return tuple(sorted(s for s in graph.evidence(candidate.claim_id).assertions if _impugned(graph, impugnment, s)))


def _standing_by(graph: BeliefGraph, claim: NodeId) -> list[str]:
    return [a.source_id for a in graph.evidence(claim).assertions.values() if not a.retracted]


def _impugned(graph: BeliefGraph, impugnment: Impugnment, source_id: str) -> bool:
    return mentions(impugnment, graph.sources[source_id].title) >= NAMED
