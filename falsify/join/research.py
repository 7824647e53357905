"""What research means for beliefs.

A project is an investigation: its objective is a question. A ticket's hypothesis is a hypothesis; what a run measured
is evidence for or against it; a decision is a conclusion that rests on the evidence it cites. So a decision dies when
a measurement it rests on is refuted, by a reproduction or by any other fact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from falsify.belief.cascade import Draft
from falsify.belief.contradiction import shown, statement
from falsify.belief.events import (
    ConclusionDrawn,
    DependencyAdded,
    HandleGiven,
    HypothesisProposed,
    QuestionAsked,
    TruthState,
    VerdictGiven,
)
from falsify.belief.graph import BeliefGraph
from falsify.belief.revision import (
    AssertFact,
    Weighing,
    open_revision,
    record_evidence,
    record_source,
)
from falsify.belief.text import clean, node_id
from falsify.events import Event, NodeId
from falsify.join.settling import settled
from falsify.ports import Opinion, Statement
from falsify.workbench import contract as contracts
from falsify.workbench import decisions, runs, tickets
from falsify.workbench.contract import contract_of
from falsify.workbench.decisions import Judgement
from falsify.workbench.events import Contract, Exhibit, Mode, Source, TicketCreated
from falsify.workbench.project import Decision, Node, Project, Run
from falsify.workbench.verdicts import DIGITS, Comparison, node_of, numbers

NUMERIC_JUDGE: Final = "numeric"
NUMERIC_JUDGE_VERSION: Final = "1"

PRIOR: Final = 0.5
"""What a ticket's hypothesis starts with."""

CITED: Final = "cited"
"""The group of what a decision cites: all of it has to stand."""

MICRO: Final = 6
"""Decimals of a weight."""

SHOWN: Final = 500
"""Characters of a setting that a claim shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """How a run ended well: seconds, last metrics, what it left behind, and when, as `YYYY-MM-DDTHH:MM:SSZ`."""

    run_id: str
    seconds: float
    metrics: Mapping[str, float]
    exhibits: tuple[Exhibit, ...]
    ended_at: str


# --- decisions that change both -------------------------------------------------------------------------------


def create_project(
    project: Project,
    graph: BeliefGraph,
    *,
    project_id: str,
    objective: str,
    mode: Mode,
    contract: Contract,
    parent: str,
    caller: str,
) -> list[Event]:
    """Return a new project, whose objective is a question."""
    asked = clean(objective, what="the objective")
    question_id = node_id("question", asked)
    created = contracts.create_project(
        project,
        project_id=project_id,
        objective=asked,
        question_id=question_id,
        mode=mode,
        contract=contract,
        parent=parent,
        caller=caller,
    )
    draft = Draft(graph)
    handle = _free(graph, question_id, project_id)
    if question_id not in graph.nodes:
        draft.record(QuestionAsked(question_id=question_id, text=asked, handle=handle))
    elif handle:
        draft.record(HandleGiven(node_id=question_id, question_id=question_id, handle=handle))
    return [*created, *cast("list[Event]", draft.events)]


def create_tickets(
    project: Project,
    graph: BeliefGraph,
    ideas: Sequence[tickets.Idea],
    *,
    author: str,
    source: Source,
    draft: bool = False,
) -> list[Event]:
    """Return a round of tickets, and their hypotheses among the beliefs."""
    for idea in ideas:
        clean(idea.hypothesis, what="the hypothesis")
    created = tickets.create_tickets(
        project,
        ideas,
        author=author,
        source=source,
        hypothesis_id=lambda text: node_id("hypothesis", text, question_id=project.question_id),
        draft=draft,
    )
    beliefs = Draft(graph)
    open_revision(beliefs, "ingest", project.question_id)
    for ticket in created:
        if isinstance(ticket, TicketCreated):
            _propose(beliefs, project, ticket)
    return [*created, *settled(beliefs)]


def succeed_run(project: Project, graph: BeliefGraph, finish: Finish) -> list[Event]:
    """Return a run's success, the evidence that it is, and what follows from that.

    Every earlier measurement of the same configuration is held against it by the numeric judge.
    """
    run = runs.run_of(project, finish.run_id)
    node = node_of(project, run.node_id)
    value = runs.outcome(project, run, finish.metrics)
    handle = _free(graph, project.question_id, run.id)
    fact = _measurement(project, node, run, value, ended_at=finish.ended_at, handle=handle)
    done = runs.succeed_run(
        project,
        run.id,
        seconds=finish.seconds,
        metrics=finish.metrics,
        exhibits=finish.exhibits,
        claim_id=fact.fact_id,
    )
    draft = Draft(graph)
    open_revision(draft, "fact", fact.fact_id)
    record_source(draft, fact.source_id, title=fact.source_title)
    record_evidence(draft, fact, again=False)
    draft.record(*_reproductions(project, draft.graph, node, fact.fact_id, value))
    return [*done, *settled(draft)]


def commit_decision(project: Project, graph: BeliefGraph, judgement: Judgement, *, caller: str) -> list[Event]:
    """Return a decision, and the conclusion that it is: it rests on the measurements it cites, all of them."""
    bad = unsound(project, graph)
    comparison = decisions.weigh(project, judgement, unsound=bad)
    decision_id = decisions.next_decision(project)
    text = _conclusion(decision_id, judgement, comparison)
    conclusion_id = node_id("conclusion", text, question_id=project.question_id)
    committed = decisions.commit_decision(project, judgement, conclusion_id=conclusion_id, caller=caller, unsound=bad)
    draft = Draft(graph)
    open_revision(draft, "ingest", conclusion_id)
    draft.record(
        ConclusionDrawn(
            conclusion_id=conclusion_id,
            question_id=project.question_id,
            statement=clean(text, what="the rationale"),
            confidence=1.0,
            handle=_free(graph, project.question_id, decision_id),
        )
    )
    for claim_id in _cited_claims(project, judgement):
        draft.record(DependencyAdded(node_id=conclusion_id, on_id=claim_id, critical=True, group=CITED))
    return [*committed, *settled(draft)]


# --- what beliefs mean for research ---------------------------------------------------------------------------


def unsound(project: Project, graph: BeliefGraph) -> frozenset[str]:
    """Return the frozen nodes whose measurement is not believed any more."""
    return frozenset(
        frozen
        for same in project.measured.values()
        for frozen in same
        if measurement_state(project, graph, project.nodes[frozen]) != "alive"
    )


def measurements(project: Project) -> frozenset[NodeId]:
    """Return the claims that runs measured: numbers decide between them, and no judge of words."""
    return frozenset(run.claim_id for run in project.runs.values() if run.claim_id)


def measurement_state(project: Project, graph: BeliefGraph, node: Node) -> TruthState:
    """Return the truth-state of what a frozen node measured."""
    return graph.nodes[project.runs[node.frozen_by].claim_id].state


def decision_state(graph: BeliefGraph, decision: Decision) -> TruthState:
    """Return the truth-state of a decision."""
    return graph.nodes[decision.conclusion_id].state


def incumbent_state(project: Project, graph: BeliefGraph) -> TruthState:
    """Return the truth-state of what makes the incumbent the incumbent: its promotion, or the baseline's measurement.

    "alive" where there is no incumbent.
    """
    promoted = decisions.promotion(project)
    if promoted is not None:
        return decision_state(graph, promoted)
    if not project.incumbent:
        return "alive"
    return measurement_state(project, graph, project.nodes[project.incumbent])


def rests_on(project: Project) -> NodeId:
    """Return the belief that the incumbent rests on: the conclusion or evidence to ask `why` of; empty for none."""
    promoted = decisions.promotion(project)
    if promoted is not None:
        return promoted.conclusion_id
    node = project.nodes.get(project.incumbent)
    return project.runs[node.frozen_by].claim_id if node else ""


def judge_numbers(original: float, again: float, tolerance: float) -> Opinion:
    """Return what a second measurement of the same says of the first: it supports it, or contradicts it."""
    distance = round(abs(original - again), DIGITS)
    told = f"{again:.6g} against {original:.6g}: a difference of {distance:.6g}, and the tolerance is {tolerance:.6g}"
    return Opinion("supports" if distance <= tolerance else "contradicts", 1.0, told)


# --- evidence -------------------------------------------------------------------------------------------------


def _measurement(project: Project, node: Node, run: Run, value: float, *, ended_at: str, handle: str) -> AssertFact:
    contract = contract_of(project)
    place = _place(node)
    text = (
        f"{contract.metric} is {value:.6g} with {_setting(project, node)}{place} "
        f"(node {node.id}, run {run.id}, seed {node.seed})."
    )
    return AssertFact(
        question_id=project.question_id,
        text=text,
        source_id=f"run:{project.id}:{run.id}",
        source_title=f"run {run.id} of node {node.id}{place}",
        quote=f"{contract.metric} {value!r}",
        asserted_at=ended_at,
        handle=handle,
        weighs=tuple(_weighings(project, node, value)),
    )


def _place(node: Node) -> str:
    """Return what was measured on, where the configuration says so."""
    dataset = node.config.get("dataset")
    return f" on the {dataset} data set" if isinstance(dataset, str) and dataset else ""


def _setting(project: Project, node: Node) -> str:
    """Return in words how configuration and code differ from the baseline's."""
    base = contract_of(project).base
    told = [f"{name} {_shown(str(value))}" for name, value in node.config.items() if base.get(name) != value]
    if node.code:
        told.append(_shown(project.nodes[node.code].change_summary).rstrip("."))
    if not told:
        return "the baseline configuration"
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def _shown(text: str) -> str:
    """Return a text as a claim can hold it: no run is to be lost to words that somebody wrote before it."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= SHOWN else f"{plain[:SHOWN]}..."


def _weighings(project: Project, node: Node, value: float) -> list[Weighing]:
    """Return for or against which hypothesis a measurement speaks: effect over noise, r / (1 + r), of 0..1."""
    contract = contract_of(project)
    ticket = project.tickets.get(node.ticket_id)
    if ticket is None:
        return []
    if node.reproduces:
        original = project.nodes[ticket.reproduces or node.reproduces]
        if original.setup != node.setup:  # it measures another node than the ticket speaks of
            return []
        distance = round(abs((original.value or 0.0) - value), DIGITS)
        if distance <= contract.tolerance:
            share = 1.0 - (distance / (2 * contract.tolerance) if contract.tolerance else 0.0)
            return [Weighing(ticket.hypothesis_id, "supports", round(share, MICRO))]
        return [Weighing(ticket.hypothesis_id, "refutes", _over(distance, contract.tolerance))]
    parent = project.nodes.get(node.parent_id)
    if parent is None or parent.value is None:
        return []
    gain = round(value - parent.value, DIGITS)
    effect = gain if contract.direction == "maximize" else -gain
    weight = _over(abs(effect), contract.noise_floor or contract.minimum_effect)
    return [Weighing(ticket.hypothesis_id, "supports" if effect > 0 else "refutes", weight)] if weight else []


def _over(effect: float, noise: float) -> float:
    return round(1.0 / (1.0 + noise / effect), MICRO) if effect else 0.0


def _reproductions(
    project: Project, graph: BeliefGraph, node: Node, fact_id: NodeId, value: float
) -> list[VerdictGiven]:
    """Return the numeric judge's verdicts on every earlier measurement of the same configuration."""
    if not node.reproduces:
        return []
    tolerance = contract_of(project).tolerance
    fact = statement(graph, graph.evidence(fact_id))
    verdicts = []
    for earlier_id in project.measured.get(node.setup, ()):
        earlier = project.nodes[earlier_id]
        claim_id = project.runs[earlier.frozen_by].claim_id
        if earlier.value is None or claim_id == fact_id:
            continue
        opinion = judge_numbers(earlier.value, value, tolerance)
        claim = statement(graph, graph.evidence(claim_id))
        verdicts.append(_verdict(fact_id, claim_id, opinion, fact=fact, claim=claim))
    return verdicts


def _verdict(fact_id: NodeId, claim_id: NodeId, opinion: Opinion, *, fact: Statement, claim: Statement) -> VerdictGiven:
    """Return the verdict as an event. The two measure one slot, so that the later one beats the earlier."""
    return VerdictGiven(
        fact_id=fact_id,
        claim_id=claim_id,
        relation=opinion.relation,
        confidence=opinion.confidence,
        rationale=opinion.rationale,
        judge=NUMERIC_JUDGE,
        judge_version=NUMERIC_JUDGE_VERSION,
        gate="slot",
        distance=0.0,
        shown=shown(fact, claim),
        directed=False,
    )


# --- hypotheses and conclusions -------------------------------------------------------------------------------


def _propose(draft: Draft, project: Project, ticket: TicketCreated) -> None:
    """Record a ticket's hypothesis, or the ticket as another name of one that is there."""
    handle = _free(draft.graph, project.question_id, ticket.ticket_id)
    if ticket.hypothesis_id in draft.graph.nodes:
        if handle:
            named = HandleGiven(node_id=ticket.hypothesis_id, question_id=project.question_id, handle=handle)
            draft.record(named)
        return
    draft.record(
        HypothesisProposed(
            hypothesis_id=ticket.hypothesis_id,
            question_id=project.question_id,
            statement=clean(ticket.hypothesis, what="the hypothesis"),
            prior=PRIOR,
            handle=handle,
        )
    )


def _conclusion(decision_id: str, judgement: Judgement, comparison: Comparison) -> str:
    did = judgement.action.replace("_", " ").lower()
    return (
        f"{decision_id}: {did} {judgement.node_id}, {judgement.verdict} ({numbers(comparison)}). {judgement.rationale}"
    )


def _cited_claims(project: Project, judgement: Judgement) -> list[NodeId]:
    """Return the measurements that a decision rests on: those of the runs that it cites, else the node's own."""
    node = node_of(project, judgement.node_id)
    refs = decisions.cited(project, node, judgement.evidence_refs)
    cited = [project.runs[run_id].claim_id for ref in refs if (run_id := project.evidence[ref].run_id)]
    claims = [claim_id for claim_id in dict.fromkeys(cited) if claim_id]
    return claims or [project.runs[node.frozen_by].claim_id]


def _free(graph: BeliefGraph, question_id: NodeId, handle: str) -> str:
    """Return the handle, or empty where it stands for something else already."""
    return "" if (question_id, handle) in graph.handles else handle
