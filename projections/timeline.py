"""One line per epoch: what started each revision and what it did."""

from dataclasses import dataclass, field
from typing import Any

from falsify.belief.events import (
    ConclusionDrawn,
    EvidenceRecorded,
    FrontierMoved,
    HypothesisProposed,
    QuestionAsked,
    RevisionOpened,
)
from falsify.belief.text import written
from falsify.events import NodeId, Recorded
from projections.beliefs import CONSEQUENCES
from projections.projection import Projection

_NODE_FIELDS = ("evidence_id", "conclusion_id", "hypothesis_id", "node_id")


@dataclass(slots=True)
class EpochLine:
    """What one epoch of a stream amounts to; epoch 0 is what was recorded before the first revision."""

    epoch: int
    trigger: str
    subject_id: NodeId
    first_position: int
    last_position: int
    recorded_at: int
    actor: str
    recorded: int = 0
    changes: list[tuple[str, NodeId]] = field(default_factory=list)
    frontier: dict[NodeId, NodeId] = field(default_factory=dict)


@dataclass(slots=True)
class Timeline:
    """The epochs so far, and the texts they speak of."""

    epochs: list[EpochLine] = field(default_factory=list)
    texts: dict[NodeId, str] = field(default_factory=dict)
    handles: dict[NodeId, str] = field(default_factory=dict)


def _evolve(timeline: Timeline, recorded: Recorded) -> Timeline:
    event = recorded.event
    if isinstance(event, RevisionOpened) or not timeline.epochs:
        timeline.epochs.append(_line(recorded))
    line = timeline.epochs[-1]
    line.last_position = recorded.position
    if type(event) in CONSEQUENCES:
        if isinstance(event, FrontierMoved):
            line.frontier[event.question_id] = event.hypothesis_id
        else:
            body = event.__dict__
            node_id = next(body[name] for name in _NODE_FIELDS if name in body)
            line.changes.append((event.kind.removeprefix("belief."), node_id))
        return timeline
    line.recorded += not isinstance(event, RevisionOpened)
    _name(timeline, recorded)
    return timeline


def _line(recorded: Recorded) -> EpochLine:
    event = recorded.event
    opened = isinstance(event, RevisionOpened)
    return EpochLine(
        epoch=recorded.epoch,
        trigger=event.trigger if isinstance(event, RevisionOpened) else "start",
        subject_id=event.subject_id if opened and isinstance(event, RevisionOpened) else "",
        first_position=recorded.position,
        last_position=recorded.position,
        recorded_at=recorded.recorded_at,
        actor=recorded.actor,
    )


def _name(timeline: Timeline, recorded: Recorded) -> None:
    match recorded.event:
        case EvidenceRecorded(evidence_id=node_id, claim=text, handle=handle):
            pass
        case ConclusionDrawn(conclusion_id=node_id, statement=text, handle=handle):
            pass
        case HypothesisProposed(hypothesis_id=node_id, statement=text, handle=handle):
            pass
        case QuestionAsked(question_id=node_id, text=text, handle=handle):
            pass
        case _:
            return
    timeline.texts[node_id] = text
    timeline.handles[node_id] = handle


TIMELINE: Projection[Timeline] = Projection("timeline", Timeline, _evolve)


def lines(timeline: Timeline) -> list[dict[str, Any]]:
    """Return the timeline JSON-ready: an object for each epoch, oldest first."""

    def node(node_id: NodeId) -> dict[str, str]:
        return {
            "id": node_id,
            "handle": timeline.handles.get(node_id, ""),
            "text": timeline.texts.get(node_id, ""),
        }

    return [
        {
            "epoch": line.epoch,
            "trigger": line.trigger,
            "subject": node(line.subject_id) if line.subject_id else None,
            "positions": [line.first_position, line.last_position],
            "recorded_at": written(line.recorded_at),
            "actor": line.actor,
            "recorded": line.recorded,
            "changes": [{"change": change, **node(node_id)} for change, node_id in line.changes],
            "frontier": [{"question": node(q), "hypothesis": node(h) if h else None} for q, h in line.frontier.items()],
        }
        for line in timeline.epochs
    ]
