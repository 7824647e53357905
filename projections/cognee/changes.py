"""Which nodes of the mirror an event changes: the nodes themselves, and those whose numbers depend on them."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    BeliefEvent,
    ConclusionDrawn,
    ConclusionInvalidated,
    DependencyAdded,
    DocumentIngested,
    EvidenceAsserted,
    EvidenceInvalidated,
    EvidenceRecorded,
    EvidenceRefuted,
    EvidenceSuperseded,
    EvidenceWeighed,
    FrontierMoved,
    HandleGiven,
    HypothesisProposed,
    HypothesisSuperseded,
    NodeContested,
    NodeForgotten,
    NodeReinstated,
    QuestionAsked,
    RevisionOpened,
    SourceRecorded,
    VerdictGiven,
    VerdictWithheld,
)
from falsify.belief.graph import BeliefGraph
from falsify.events import Event, NodeId


def touched(events: Iterable[Event], graph: BeliefGraph) -> set[NodeId]:
    """Return the nodes that the events change in the mirror; `graph` is as it is after them.

    An edge is changed with either of its ends. Events of other contexts change nothing here.
    """
    return {
        node_id
        for event in events
        if isinstance(event, BeliefEvent)
        for node_id in _touched(event, graph)
        if node_id in graph.nodes
    }


def _touched(event: BeliefEvent, graph: BeliefGraph) -> Iterator[NodeId]:
    match event:
        case NodeContested() | NodeReinstated() | NodeForgotten():
            yield from _with_consumers(graph, event.node_id)
        case EvidenceRefuted() | EvidenceSuperseded() | EvidenceInvalidated():
            yield from _with_consumers(graph, event.evidence_id)
        case ConclusionInvalidated():
            yield from _with_consumers(graph, event.conclusion_id)
        case EvidenceRecorded() | EvidenceAsserted() | AssertionRetracted() | AssertionRestored():
            yield event.evidence_id
        case EvidenceWeighed():
            yield event.evidence_id
            yield event.hypothesis_id
        case VerdictGiven():
            yield event.fact_id  # whichever way the attack runs, it is an edge at the fact
        case SourceRecorded():
            # A new trust turns attacks round, and a new title changes what the claims' passages cite.
            yield from graph.sourced.of(event.source_id)
        case FrontierMoved():
            yield event.hypothesis_id
            yield event.previous_id
        case HypothesisProposed() | HypothesisSuperseded():
            yield event.hypothesis_id
        case ConclusionDrawn():
            yield event.conclusion_id
        case DependencyAdded():
            yield event.node_id
        case QuestionAsked():
            yield event.question_id
        case HandleGiven() | VerdictWithheld() | RevisionOpened() | DocumentIngested():
            return
        case _:
            assert_never(event)


def _with_consumers(graph: BeliefGraph, node_id: NodeId) -> Iterator[NodeId]:
    """Yield a node that changed its state, the conclusions it lends confidence and the hypotheses it weighs on."""
    yield node_id
    for dependency in graph.dependents.of(node_id):
        yield dependency.node_id
    for weighing in graph.weighs.of(node_id):
        yield weighing.hypothesis_id
