"""What a checkpoint expects and a graph does not say: each difference in one line, with the place that expects it."""

from collections.abc import Iterable, Iterator
from typing import Any

from falsify.belief.cascade import expected_states
from falsify.belief.graph import NANO, BeliefGraph, Conclusion, Hypothesis, Question
from falsify.errors import FalsifyError
from falsify.events import NodeId
from falsify.located_yaml import Steps
from projections.beliefs import Recall
from replay.asking import Asker
from replay.golden import Checkpoint, RecallExpectation
from replay.naming import Names

TIE = 0.001
"""Distances nearer to each other than this are equal: processors differ in the last digits of a vector."""

_EXACT = 1e-9

Told = Iterator[tuple[Steps, str]]
"""Where in the checkpoint something is expected, and how it is otherwise."""


class Examiner:
    """Holds checkpoints against graphs of one log. `recorded_with` is the embedder that recall was recorded with."""

    def __init__(self, names: Names, asker: Asker, recorded_with: str) -> None:
        self._names = names
        self._asker = asker
        self._recorded_with = recorded_with

    def differences(self, point: Checkpoint, graph: BeliefGraph) -> Told:
        """Yield how labels, frontier, standings, confidence and recall differ from those expected.

        Where a name is not one of the log's, only that is told.
        """
        strangers = list(self._strangers(point))
        if strangers:
            yield from strangers
            return
        yield from self._labels(point, graph)
        yield from self._frontiers(point, graph)
        yield from self._numbers(point, graph)
        # A position may stand between a fact and what follows from it.
        whole = point.position is None or bool(point.valid_at)
        for place, expectation in enumerate(point.recall):
            yield from ((("recall", place, *steps), told) for steps, told in self._recall(expectation, graph))
            if whole:
                yield from ((("recall", place), told) for told in self._cited_dead(expectation, graph))

    def _strangers(self, point: Checkpoint) -> Told:
        """Yield the names that stand for no node of the log, or for several."""
        nodes: list[tuple[Steps, str]] = [
            ((key, name), name) for key in ("labels", "standings", "confidence") for name in getattr(point, key)
        ]
        nodes += [(("frontier", name), best) for name, best in point.frontier.items() if best]
        for place, expectation in enumerate(point.recall):
            for key in ("top", "never", "conflicts"):
                listed = enumerate(getattr(expectation, key) or ())
                nodes += [(("recall", place, key, number), name) for number, name in listed]
        questions: list[tuple[Steps, str]] = [(("frontier", name), name) for name in point.frontier]
        for find, named in ((self._names.find, nodes), (self._names.find_question, questions)):
            for steps, name in named:
                try:
                    find(name)
                except FalsifyError as error:
                    yield steps, error.message

    def _labels(self, point: Checkpoint, graph: BeliefGraph) -> Told:
        for name, expected in point.labels.items():
            found = _state(graph, self._names.find(name))
            if found != expected:
                yield ("labels", name), f"{name} is {found}, expected {expected}"

    def _frontiers(self, point: Checkpoint, graph: BeliefGraph) -> Told:
        for name, expected in point.frontier.items():
            question = graph.nodes.get(self._names.find_question(name))
            found = question.frontier if isinstance(question, Question) else ""
            if found != (self._names.find(expected) if expected else ""):
                told = self._names.of(found) if found else "nobody"
                yield ("frontier", name), f"the frontier of {name!r} is {told}, expected {expected or 'nobody'}"

    def _numbers(self, point: Checkpoint, graph: BeliefGraph) -> Told:
        for name, expected in point.standings.items():
            node = graph.nodes.get(self._names.find(name))
            standing = node.standing / NANO if isinstance(node, Hypothesis) else None
            if standing is None or abs(standing - expected) > _EXACT:
                yield ("standings", name), f"{name} has the standing {_number(standing)}, expected {expected}"
        for name, expected in point.confidence.items():
            node = graph.nodes.get(self._names.find(name))
            confidence = graph.confidence(node) if isinstance(node, Conclusion) else None
            if confidence is None or abs(confidence - expected) > _EXACT:
                yield ("confidence", name), f"{name} has the confidence {_number(confidence)}, expected {expected}"

    # --- recall -------------------------------------------------------------------------------------------

    def _recall(self, expectation: RecallExpectation, graph: BeliefGraph) -> Told:
        asked, with_ = f"recall {expectation.query!r}", self._asker.embedder.name
        if self._recorded_with not in {"", with_}:
            yield (), f"{asked} was recorded with the embedder {self._recorded_with}, and this is {with_}"
            return
        answer = self._asker.recall(graph, expectation.query, limit=expectation.limit)
        yield from ((("top",), f"{asked} {told}") for told in self._top(expectation, answer, graph))
        cited = _cited(answer)
        for name in expectation.never:
            if does := cited.get(self._names.find(name)):
                yield ("never",), f"{asked} {does} {name}, which must not appear"
        if expectation.conflicts is not None:
            found = {hit["id"] for hit in answer.conflicts}
            if found != {self._names.find(name) for name in expectation.conflicts}:
                told = f"{self._list(sorted(found))}, expected {_list(expectation.conflicts)}"
                yield ("conflicts",), f"{asked} reports as open conflicts {told}"

    def _top(self, expectation: RecallExpectation, answer: Recall, graph: BeliefGraph) -> Iterator[str]:
        """Yield how the first citations differ from those expected; at equal distances any order will do."""
        wanted = [self._names.find(name) for name in expectation.top]
        lost = [node_id for node_id in wanted if _state(graph, node_id) != "alive"]
        yield from (f"must cite {self._names.of(n)}, which is {_state(graph, n)}" for n in lost)
        if lost or not wanted:
            return
        found = [hit["distance"] for hit in answer.hits[: len(wanted)]]
        expected = self._asker.distances(expectation.query, wanted)
        if len(found) < len(wanted) or any(abs(f - e) > TIE for f, e in zip(found, expected, strict=True)):
            first = self._list(hit["id"] for hit in answer.hits)
            yield f"cites {first}; expected {_list(expectation.top)} at the top"

    def _cited_dead(self, expectation: RecallExpectation, graph: BeliefGraph) -> Iterator[str]:
        """Yield what is cited and should not live: its recorded state says it does, its edges say it does not."""
        expected = expected_states(graph)
        answer = self._asker.recall(graph, expectation.query, limit=expectation.limit)
        for node_id, does in _cited(answer).items():
            state = expected[node_id]
            if state != "alive":
                yield f"recall {expectation.query!r} {does} {self._names.of(node_id)}, whose edges make it {state}"

    def _list(self, node_ids: Iterable[NodeId]) -> str:
        return _list(self._names.of(n) for n in node_ids)


def _cited(answer: Recall) -> dict[NodeId, str]:
    """Return what an answer presents as true, and how it does."""
    frontier = {best["id"]: "gives as the frontier" for best in answer.frontier}
    return frontier | {hit["id"]: "cites" for hit in answer.hits}


def _state(graph: BeliefGraph, node_id: NodeId) -> str:
    node = graph.nodes.get(node_id)
    return node.state if node else "absent"


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"


def _number(value: Any) -> str:
    return "none" if value is None else f"{round(value, 9)}"
