"""What a request names, named by ids: a short name may stand for something else by the time that a person answers."""

from collections.abc import Mapping
from typing import Any, Final

from falsify.belief.graph import Conclusion, Evidence, Hypothesis
from falsify.belief.text import clean, node_id
from surfaces.tools.belief_rows import find, question
from surfaces.workbench import Sight

_ENTRIES: Final = ("hypotheses", "evidence", "conclusions")


def bound(sight: Sight, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool of beliefs with ids in place of the names of what is recorded.

    Names of the call's own entries stay. Raises as the lookup of a name does.
    """
    told = dict(arguments)
    if "evidence_id" in told:
        return {**told, "evidence_id": find(sight.graph, told["evidence_id"], Evidence).id}
    if "question" in told:
        under = node_id("question", clean(told["question"], what="question"))
    else:
        under = told["question_id"] = question(sight.graph, told.get("question_id", "")).id
    own = {entry["id"] for name in _ENTRIES for entry in told.get(name, ())}
    return {name: _bound(sight, value, under, own) for name, value in told.items()}


def _bound(sight: Sight, value: Any, under: str, own: set[str]) -> Any:
    if isinstance(value, list | tuple):
        return [_bound(sight, each, under, own) for each in value]
    if not isinstance(value, Mapping):
        return value
    told = {name: _bound(sight, each, under, own) for name, each in value.items()}
    if "hypothesis" in told and told["hypothesis"] not in own:
        told["hypothesis"] = find(sight.graph, told["hypothesis"], Hypothesis, under=under).id
    if "on" in told and told["on"] not in own:
        told["on"] = find(sight.graph, told["on"], Evidence, Conclusion, under=under).id
    return told
