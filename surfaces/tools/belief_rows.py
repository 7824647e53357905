"""Beliefs as agents are told of them: what strangers wrote is one harmless line, and their own words are fenced.

Refusals name nodes by their ids: the texts of others have no place in a message that nobody fences.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from falsify.belief.graph import NANO, BeliefGraph, Conclusion, Evidence, Hypothesis, Node, Question
from falsify.belief.text import a_kind
from falsify.errors import InvalidInputError, NotFoundError
from falsify.events import NodeId
from surfaces.tools.fence import Fence
from surfaces.workspace import meant, named

CLAIM: Final = 2000
"""Bytes of a claim that are told."""
HEAD: Final = 240
"""Bytes of a claim that stands beside others."""
QUOTE: Final = 1000
"""Bytes of a source's own words that are told."""
NAME: Final = 128

_RESERVED: Final = re.compile(r"[QHEC]-[0-9a-f]{4,16}|(A|D|EV|N|P|R|RD|T)-[0-9A-Za-z-]*[0-9][0-9A-Za-z-]*")
"""Short names that would pass for an id: of a node, or its beginning, or of what research counts."""

MOST_SOURCES: Final = 3
MOST_GROUNDS: Final = 10


# --- names ----------------------------------------------------------------------------------------------------


def find(graph: BeliefGraph, name: str, *kinds: type[Node], under: NodeId = "") -> Node:
    """Return the node with this id, short name, or beginning of an id; `under` a question, one that stands there.

    Raises NotFoundError, or InvalidInputError where several fit or it is of another kind or under another question.
    """
    found = named(graph, name)
    fitting = [node for node in found if not kinds or isinstance(node, kinds)]
    here = [node for node in fitting if under in {"", node.question_id}]
    if len(here) == 1:
        return here[0]
    shown = name if name.isprintable() else ascii(name)
    if here:
        raise InvalidInputError(
            f"{shown!r} stands for {len(here)} nodes",
            hint=f"use an id: {', '.join(node.id for node in here[:10])}",
            reason="ambiguous_name",
        )
    others = [node for node in found if under in {"", node.question_id}] or (found if not fitting else [])
    if others:
        raise other_kind(shown, others[0].kind, kinds)
    if fitting:
        which = "" if name == fitting[0].id else f" is {fitting[0].id}, which"
        raise InvalidInputError(
            f"{shown!r}{which} stands under another question",
            hint="name what stands under the question that it bears on",
            reason="other_question",
        )
    raise NotFoundError(
        f"there is no {' or '.join(map(_kind, kinds)) or 'node'} {shown!r}",
        hint=meant(graph, name) or "see falsify.belief.graph for what there is",
        reason="no_node",
    )


def other_kind(name: str, kind: str, wanted: Iterable[type[Node]]) -> InvalidInputError:
    """Return that a name stands for a node of another kind than is wanted."""
    return InvalidInputError(
        f"{name!r} is {a_kind(kind)}, not {a_kind(*map(_kind, wanted))}",
        hint="see falsify.belief.graph",
        reason="other_kind",
    )


def _kind(node: type[Node]) -> str:
    return node.__name__.lower()


def check_free(graph: BeliefGraph, question_id: NodeId, name: str, node_id: NodeId) -> None:
    """Refuse a short name that stands for something else than the node that it is to be given to.

    Nor may it be the id of another node (ids go first, and the name would never lead to what it was given to), or pass
    for an id that Falsify may give.
    """
    holder = name if name in graph.nodes else graph.handles.get((question_id, name), node_id)
    if holder != node_id:
        raise InvalidInputError(
            f"the id {name!r} already stands for {holder}", hint="choose another id", reason="name_taken"
        )
    if _RESERVED.fullmatch(name) and graph.handles.get((question_id, name)) != node_id:
        raise InvalidInputError(
            f"the id {name!r} is one that Falsify gives, or might",
            hint="choose a word of your own: not a letter, a hyphen and a number",
            reason="name_reserved",
        )


def question(graph: BeliefGraph, name: str) -> Question:
    """Return the question named, or, where the name is empty, the only one there is."""
    if name:
        return cast("Question", find(graph, name, Question))
    questions = graph.questions()
    if len(questions) == 1:
        return questions[0]
    if not questions:
        raise NotFoundError(
            "there is no question yet", hint="record one with falsify.belief.record", reason="no_question"
        )
    raise InvalidInputError(
        f"there are {len(questions)} questions",
        hint=f"name one as question_id: {', '.join(q.id for q in questions[:10])}",
        reason="ambiguous_question",
    )


# --- rows -----------------------------------------------------------------------------------------------------


def name_row(node: Mapping[str, Any] | None, fence: Fence, *, limit: int = HEAD) -> dict[str, Any] | None:
    """Return what a node is called (`surfaces.answers.name`), its text as one line."""
    if node is None:
        return None
    return {**node, "handle": fence.inline(node["handle"], limit=NAME), "text": _line(node["text"], fence, limit)}


def node_row(graph: BeliefGraph, node: Node, fence: Fence) -> dict[str, Any]:
    """Return a node as it stands in a listing; `because` is what its last change of state names."""
    row: dict[str, Any] = {
        "id": node.id,
        "handle": fence.inline(node.handle, limit=NAME),
        "kind": node.kind,
        "question_id": node.question_id or None,
        "text": _line(node.text, fence, HEAD),
        "state": node.state,
        "truth_epoch": node.truth_epoch,
        "because": node.cause or None,
    }
    match node:
        case Question():
            return {**row, "frontier": node.frontier or None}
        case Hypothesis():
            return {**row, "prior": node.prior, "standing": node.standing / NANO}
        case Evidence():
            standing_by = sum(not said.retracted for said in node.assertions.values())
            return {**row, "sources": len(node.assertions), "standing_by": standing_by}
        case Conclusion():
            return {**row, "confidence": round(graph.confidence(node), 9)}
    return row


def edge_row(edge: Mapping[str, Any], fence: Fence) -> dict[str, Any]:
    """Return an edge; only the name of its group is somebody's words."""
    return {**edge, "group": fence.inline(edge["group"], limit=NAME)} if edge.get("group") else dict(edge)


def cited(row: Mapping[str, Any], fence: Fence) -> dict[str, Any]:
    """Return a node that may be cited (`projections.beliefs.cite`), the quotes of its sources fenced."""
    told = {name: value for name, value in row.items() if name != "assertions"}
    told |= {"handle": fence.inline(row["handle"], limit=NAME), "text": _line(row["text"], fence, CLAIM)}
    if "question" in row:
        told["question"] = _line(row["question"], fence, HEAD)
    if "sources" in row:
        told |= sources(row["sources"], fence)
    grounds = [name_row(ground, fence) for ground in row["rests_on"][:MOST_GROUNDS]]
    return {**told, "rests_on": grounds, **_more("rests_on", len(row["rests_on"]) - len(grounds))}


def sources(rows: list[dict[str, Any]], fence: Fence) -> dict[str, Any]:
    """Return `sources`, and how many there are more."""
    told = [_source(row, fence) for row in rows[:MOST_SOURCES]]
    return {"sources": told, **_more("sources", len(rows) - len(told))}


def lines(words: Iterable[str], fence: Fence, *, limit: int = CLAIM) -> list[str]:
    """Return texts as harmless lines."""
    return [_line(word, fence, limit) for word in words]


def _source(row: Mapping[str, Any], fence: Fence) -> dict[str, Any]:
    told = {name: fence.inline(row[name], limit=NAME) for name in ("id", "title", "location") if name in row}
    quote = fence.wrap(row["quote"], limit=QUOTE, origin=f"source {row['id']}") if row["quote"] else ""
    return {**row, **told, "quote": quote}


def called(graph: BeliefGraph, node_id: NodeId) -> str:
    """Return what a node is called in a sentence: its short name, or else its id."""
    return inline(graph.nodes[node_id].handle) or node_id


def inline(text: str) -> str:
    """Return a text as one harmless line in a sentence."""
    return Fence().inline(text, limit=HEAD)


def _line(text: str, fence: Fence, limit: int) -> str:
    return fence.inline(text, limit=limit)


def _more(what: str, number: int) -> dict[str, int]:
    return {f"more_{what}": number} if number > 0 else {}
