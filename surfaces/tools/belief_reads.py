"""The reading tools about beliefs: they ask the projections over a prefix of the log, page, and fence."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from pydantic import MISSING

from falsify.belief.graph import NANO, BeliefGraph, Hypothesis, Node, Question
from falsify.belief.text import clean
from falsify.errors import InvalidInputError
from falsify.events import NodeId
from projections import obituary
from projections.beliefs import digest, edges
from projections.obituary import REGISTER, Reason
from projections.project_state import request_rows
from replay.cutoff import NOW, Cutoff, resolve
from replay.diff import diff
from replay.replayer import View
from replay.replayer import replay as replayed
from surfaces.answers import name
from surfaces.envelope import Envelope, NextAction
from surfaces.tools import suggestions
from surfaces.tools.belief_inputs import Graph, Recall, Replay, Why
from surfaces.tools.belief_rows import (
    CLAIM,
    HEAD,
    NAME,
    cited,
    edge_row,
    find,
    lines,
    name_row,
    node_row,
    sources,
)
from surfaces.tools.cursor import Cursor, not_given_out, seal
from surfaces.tools.fence import Fence
from surfaces.tools.reading import answer, left_off, plain, sent
from surfaces.tools.spoken import said
from surfaces.workbench import Sight, Workbench
from surfaces.workspace import pending

WHY: Final = "falsify.belief.why"
GRAPH: Final = "falsify.belief.graph"

HITS: Final = 5
PAGE: Final = 100
DEPTH: Final = 2
MOST_ENTRIES: Final = 100
MOST_CONSIDERED: Final = 10
MOST_ASKED_ON: Final = 3
MOST_CHANGES: Final = 10


# --- recall ---------------------------------------------------------------------------------------------------


def recall(workbench: Workbench, given: Recall, caller: str, fence: Fence) -> Envelope:
    """Answer what is believed about something: nothing that is dead is ever among it."""
    sight = workbench.sight(caller)
    query = clean(given.query, what="the query")
    seen = _view(workbench, given)
    found = workbench.workspace.recall(query, limit=sent(given.limit, HITS), graph=seen.graph)
    told: dict[str, Any] = {
        "at": _at(seen, given),
        "hits": [cited(hit, fence) for hit in found.hits],
        "conflicts": [cited(hit, fence) for hit in found.conflicts],
        "frontier": [cited(best, fence) for best in found.frontier],
    }
    if found.answer is not None:
        told["answer"] = {
            "text": fence.inline(found.answer["text"], limit=CLAIM),
            "confidence": found.answer["confidence"],
            "also": lines(found.answer["also"], fence),
        }
        told["path"] = [cited(node, fence) for node in found.path]
    return answer(
        sight,
        told,
        fence,
        warnings=tuple(_doubts(seen.graph, sight.graph, found.hits, found.conflicts)),
        next_actions=tuple(_ask_what_it_rests_on(sight, given, [hit["id"] for hit in found.hits[:1]])),
    )


def _doubts(
    graph: BeliefGraph,
    now: BeliefGraph,
    hits: Iterable[Mapping[str, Any]],
    conflicts: tuple[Mapping[str, Any], ...],
) -> Iterator[str]:
    if conflicts:
        ids = ", ".join(conflict["id"] for conflict in conflicts)
        yield f"in open conflict, and not to be cited as settled: {ids}"
    for hit in hits:
        if number := len(pending(graph, hit["id"])):
            doubt = f"{hit['id']} was not judged against {number} claims that it might bear on"
            # Of the past, it may have been since.
            again = f"; a person has the judge asked again with `falsify adjudicate {hit['id']}`"
            yield doubt + (again if pending(now, hit["id"]) else "")


def _ask_what_it_rests_on(sight: Sight, given: Recall, node_ids: Iterable[NodeId]) -> Iterator[NextAction]:
    """Yield what tells what the nodes rest on at the moment that was asked about.

    Of what was true at a date the graph tells, which is drawn anew for it; an audit is of what was recorded.
    """
    why = "see what it rests on"
    for node_id in node_ids:
        if sent(given.valid_at, ""):
            yield suggestions.read(sight.project, GRAPH, why, focus=node_id, depth=1, **_point(given))
        else:
            yield suggestions.read(sight.project, WHY, why, node=node_id, **_point(given))


# --- why ------------------------------------------------------------------------------------------------------


def why(workbench: Workbench, given: Why, caller: str, fence: Fence) -> Envelope:
    """Answer why a node is in the state it is in: the tree as a list, each entry after the one it stands under.

    A tree that is too long for that is told from its root outwards, the nearest entries first. An entry says then how
    many of its reasons are `left_out`, and the next actions ask on.
    """
    sight = workbench.sight(caller)
    register = replayed(workbench.log, workbench.stream, REGISTER, _cutoff(workbench, given))
    node = find(register.graph, given.node)
    reason = obituary.why(register, node.id)
    entries = list(islice(_as_read(reason), MOST_ENTRIES + 1))
    left_out: dict[int, int] = {}
    if len(entries) > MOST_ENTRIES:
        entries = list(islice(_nearest(reason), MOST_ENTRIES))
        left_out = _left_out(reason, entries)
    told: dict[str, Any] = {
        "node": name_row(name(register.graph, node.id), fence),
        "state": node.state,
        "epoch": register.graph.epoch,
        "chain": [
            _entry(number, under, each, fence) | ({"left_out": left_out[number]} if number in left_out else {})
            for number, (under, each) in enumerate(entries)
        ],
        "remedies": lines(map(said, reason.remedies[:MOST_ENTRIES]), fence),
    }
    if left_out:
        told["cut_off"] = True
    return answer(sight, told, fence, next_actions=tuple(_ask_on(sight, given, entries, left_out)))


_Entry = tuple[int | None, Reason]
"""A reason, with the number of the entry that it stands under."""


def _as_read(root: Reason) -> Iterator[_Entry]:
    """Yield the tree in the order in which it is read."""
    rest: list[_Entry] = [(None, root)]
    number = 0
    while rest:
        under, reason = rest.pop()
        yield under, reason
        rest += [(number, below) for below in reversed(reason.reasons)]
        number += 1


def _nearest(root: Reason) -> Iterator[_Entry]:
    """Yield the tree step by step away from its root."""
    rest: deque[_Entry] = deque([(None, root)])
    number = 0
    while rest:
        under, reason = rest.popleft()
        yield under, reason
        rest += [(number, below) for below in reason.reasons]
        number += 1


def _left_out(root: Reason, entries: Sequence[_Entry]) -> dict[int, int]:
    """Return by the number of an entry how many of its reasons are not among the entries.

    A belief is told once: one that is listed without its reasons may have them where it is met first, which is not.
    """
    listed = Counter(under for under, _ in entries)
    told = {each.node["id"] for _, each in entries if each.reasons}
    elsewhere = {each.node["id"]: len(each.reasons) for each in root.walk() if each.reasons}
    missing = {
        number: len(each.reasons) - listed[number] if each.node["id"] in told else elsewhere.get(each.node["id"], 0)
        for number, (_, each) in enumerate(entries)
    }
    return {number: count for number, count in missing.items() if count > 0}


def _ask_on(sight: Sight, given: Why, entries: Sequence[_Entry], left_out: Mapping[int, int]) -> Iterator[NextAction]:
    """Yield the calls that tell what was left out, the nearest first."""
    at = _point(given)
    for number in islice(left_out, MOST_ASKED_ON):
        node_id, reasons = entries[number][1].node["id"], f"its reasons go on: {left_out[number]} left out here"
        if number:
            yield suggestions.read(sight.project, WHY, reasons, node=node_id, **at)
        else:  # to ask for it again would tell the same
            yield suggestions.read(sight.project, GRAPH, reasons, focus=node_id, depth=1, **at)


def _entry(number: int, under: int | None, reason: Reason, fence: Fence) -> dict[str, Any]:
    node = _without_positions(reason.node)
    told: dict[str, Any] = {
        **node,
        "id": fence.inline(node["id"], limit=2 * NAME),  # a retraction is named after its source
        "handle": fence.inline(node["handle"], limit=NAME),
        "text": fence.inline(node["text"], limit=CLAIM),
    }
    if "changes" in node:
        told["changes"] = node["changes"][-MOST_CHANGES:]
    if "sources" in node:
        told |= sources(node["sources"], fence)
    if reason.verdict is not None:
        told["verdict"] = _verdict(_without_positions(reason.verdict), fence)
    if reason.considered:
        told["considered"] = [
            _considered(_without_positions(each), fence) for each in reason.considered[:MOST_CONSIDERED]
        ]
    place = {"number": number} if under is None else {"number": number, "under": under, "link": reason.link}
    return {**place, **told}


def _without_positions(told: Any) -> Any:
    """Return what is told without where in the log it was recorded, which counts what others wrote too."""
    if isinstance(told, Mapping):
        return {name: _without_positions(value) for name, value in told.items() if name != "position"}
    return [_without_positions(each) for each in told] if isinstance(told, list | tuple) else told


def _verdict(verdict: Mapping[str, Any], fence: Fence) -> dict[str, Any]:
    """Return a verdict; its rationale is a judge's, who has read what strangers wrote."""
    return plain(fence, verdict, *({"rationale", "won_by"} & verdict.keys()))


def _considered(told: Mapping[str, Any], fence: Fence) -> dict[str, Any]:
    words = {"handle": fence.inline(told["handle"], limit=NAME), "text": fence.inline(told["text"], limit=HEAD)}
    return {**_verdict(told, fence), **words}


# --- the graph ------------------------------------------------------------------------------------------------


def graph(workbench: Workbench, given: Graph, caller: str, fence: Fence) -> Envelope:
    """Answer a slice of the graph as of the first page: in order of recording, around a focus the nearest first."""
    sight = workbench.sight(caller)
    bound = {"tool": GRAPH, **given.model_dump(mode="json", exclude={"cursor", "max_nodes"})}
    at = left_off(given.cursor, bound, sight.project, length=2)
    revision, start = (at.key[0], max(0, at.key[1])) if at.key else (None, 0)
    seen = _view(workbench, given, revision=revision)
    kinds: frozenset[Any] = frozenset(sent(given.kinds, ()))
    states: frozenset[Any] = frozenset(sent(given.states, ()))
    order = [
        node
        for node in _near(seen.graph, sent(given.focus, ""), sent(given.depth, DEPTH))
        if (not kinds or node.kind in kinds) and (not states or node.state in states)
    ]
    end = start + sent(given.max_nodes, PAGE)
    told: dict[str, Any] = {
        "at": _at(seen, given),
        "nodes": [node_row(seen.graph, node, fence) for node in order[start:end]],
        "edges": [edge_row(edge, fence) for edge in _between(seen.graph, order[:end], start)],
        "total": len(order),
    }
    if not at.key:
        requests = request_rows(sight.project, caller, sight.unsound, sight.state)
        told["approvals"] = {**requests, "yours": [plain(fence, row, "note", "effects") for row in requests["yours"]]}
    if end < len(order):
        told["nextCursor"] = seal(Cursor(at.revision, (seen.revision, end)), bound=bound)
    return answer(sight, told, fence)


def _near(graph: BeliefGraph, focus: str, depth: int) -> list[Node]:
    """Return all nodes in the order of their recording; with a focus those at most so many edges away from it."""
    if not focus:
        return sorted(graph.nodes.values(), key=lambda node: node.order)
    start = find(graph, focus)
    beside: dict[NodeId, set[NodeId]] = {}
    for edge in edges(graph):
        beside.setdefault(edge["from"], set()).add(edge["to"])
        beside.setdefault(edge["to"], set()).add(edge["from"])
    # No edge leads to a question: around one stands what was recorded under it.
    beside[start.id] = beside.get(start.id, set()) | {n.id for n in graph.nodes.values() if n.question_id == start.id}
    distances, rest = {start.id: 0}, deque([start.id])
    while rest:
        node_id = rest.popleft()
        for other in beside.get(node_id, ()) if distances[node_id] < depth else ():
            if other not in distances:
                distances[other] = distances[node_id] + 1
                rest.append(other)
    return [graph.nodes[i] for i in sorted(distances, key=lambda i: (distances[i], graph.nodes[i].order))]


def _between(graph: BeliefGraph, order: list[Node], start: int) -> Iterator[Mapping[str, Any]]:
    """Yield the edges within the order that have an end at or behind `start`: each edge is on one page only."""
    place = {node.id: number for number, node in enumerate(order)}
    for edge in edges(graph):
        ends = place.get(edge["from"]), place.get(edge["to"])
        if None not in ends and max(end for end in ends if end is not None) >= start:
            yield edge


# --- replay ---------------------------------------------------------------------------------------------------


def replay(workbench: Workbench, given: Replay, caller: str, fence: Fence) -> Envelope:
    """Answer what was believed at a point of the log, and what is different now."""
    sight = workbench.sight(caller)
    seen = _view(workbench, given)
    told = {
        "at": _at(seen, given),
        "digest": digest(seen.graph),
        "nodes": _counts(seen.graph),
        "frontier": [_best(seen.graph, question, fence) for question in seen.graph.questions()[:MOST_ENTRIES]],
        "differs": _differences(diff(seen.graph, sight.graph), fence),
    }
    return answer(sight, told, fence)


def _counts(graph: BeliefGraph) -> dict[str, dict[str, int]]:
    """Return how many nodes of each kind are in which state."""
    counts = Counter((node.kind, node.state) for node in graph.nodes.values())
    told: dict[str, dict[str, int]] = {}
    for (kind, state), count in sorted(counts.items()):
        told.setdefault(kind, {})[state] = count
    return told


def _best(graph: BeliefGraph, question: Question, fence: Fence) -> dict[str, Any]:
    best = graph.nodes.get(question.frontier)
    return {
        "question": name_row(name(graph, question.id), fence),
        "hypothesis": name_row(name(graph, best.id), fence) if best else None,
        "standing": best.standing / NANO if isinstance(best, Hypothesis) else None,
    }


def _differences(told: Mapping[str, Any], fence: Fence) -> dict[str, Any]:
    """Return what `replay.diff` says: of each list how long it is, and its beginning without what sources said."""
    lists = {key: told[key] for key in _DIFFERING}
    return {
        "epochs": told["epochs"],
        "counts": {key: len(rows) for key, rows in lists.items()},
        **{key: [_harmless(_slim(row), fence) for row in rows[:MOST_ENTRIES]] for key, rows in lists.items()},
    }


_DIFFERING: Final = ("added", "removed", "changed", "edges_added", "edges_removed", "sources")

_KEPT: Final = ("id", "handle", "kind", "text", "state", "fields")


def _slim(row: Any) -> Any:
    """Return a node without what a listing of differences has no room for; edges and sources as they are."""
    return {key: row[key] for key in _KEPT if key in row} if isinstance(row, Mapping) and "kind" in row else row


def _harmless(value: Any, fence: Fence) -> Any:
    if isinstance(value, str):
        return fence.inline(value, limit=HEAD)
    if isinstance(value, Mapping):
        return {key: _harmless(inner, fence) for key, inner in value.items() if key != "quote"}
    return [_harmless(inner, fence) for inner in value] if isinstance(value, list | tuple) else value


# --- a point in the log ---------------------------------------------------------------------------------------


def _view(workbench: Workbench, given: Recall | Graph | Replay, *, revision: int | None = None) -> View:
    """Return what was believed at the point that is asked about, or at a revision that an earlier page was of."""
    valid_at, now = sent(given.valid_at, ""), workbench.workspace.view()
    cutoff = _cutoff(workbench, given) if revision is None else _revision(workbench, revision)
    if cutoff.position == now.position and not valid_at:
        return now
    return workbench.workspace.view(cutoff, valid_at=valid_at)


def _revision(workbench: Workbench, revision: int) -> Cutoff:
    """Return the point of the log at which the project had that revision. Raises InvalidInputError if it never had."""
    if revision == workbench.project.revision:
        return Cutoff(position=workbench.workspace.position)
    found = (each.position for each in workbench.workspace.records() if each.revision == revision)
    position = next(found, None) if revision else 0
    if position is None:
        raise not_given_out()
    return Cutoff(position=position)


def _cutoff(workbench: Workbench, given: Recall | Why | Graph | Replay) -> Cutoff:
    """Return the point that is asked about, at the latest that at which the call reads all else."""
    asked, now = _asked_about(given), workbench.workspace.position
    return Cutoff(position=now if asked == NOW else min(now, resolve(workbench.log, workbench.stream, asked)))


def _asked_about(given: Recall | Why | Graph | Replay) -> Cutoff:
    epoch: int | None = sent(given.epoch, None)
    as_of: str | None = sent(given.as_of, None)
    if epoch is not None and as_of is not None:
        raise InvalidInputError(
            "epoch and as_of each name a point in the log", hint="give one of them", reason="two_points"
        )
    return Cutoff(epoch=epoch, as_of=as_of)


def _at(seen: View, given: Recall | Graph | Replay) -> dict[str, Any]:
    """Return which point of the project's past is told of: the position in the log would tell of other projects too."""
    return {
        "revision": seen.revision,
        "epoch": seen.graph.epoch,
        "as_of": sent(given.as_of, None),
        "valid_at": seen.valid_at or None,
    }


def _point(given: Recall | Why) -> dict[str, Any]:
    """Return the moment that is asked about as the arguments of a call that asks about the same one."""
    points = {name: getattr(given, name, MISSING) for name in ("epoch", "as_of", "valid_at")}
    return {name: point for name, point in points.items() if point is not MISSING}
