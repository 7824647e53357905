"""The tools as rows: one list over the catalogues of the workbench, of the brain and of the beliefs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import orjson

from falsify.errors import FalsifyError
from surfaces.envelope import OUTPUT_SCHEMA, STATUSES, refusal
from surfaces.mcp.desk import Served
from surfaces.mcp.identity import Caller
from surfaces.tools.belief_catalogue import BELIEF_CATALOGUE, call_belief
from surfaces.tools.brain_catalogue import BRAIN_CATALOGUE, answer_brain, refused
from surfaces.tools.catalogue import CATALOGUE, call


class Listed(Protocol):
    """A row of a catalogue."""

    @property
    def name(self) -> str:
        """The canonical name, the only one that log, audit and policy know."""

    def published(self) -> dict[str, Any]:
        """Return name, description, input schema and annotations."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call comes to: a text, the same as an object, and whether something is wrong with call or program."""

    text: str
    structured: Mapping[str, Any]
    is_error: bool


Arguments = Mapping[str, Any]
Answer = Callable[[Served, Caller, Arguments], Reply]


@dataclass(frozen=True, slots=True)
class Row:
    """A tool that is served: how it is listed, what its answers look like, and what makes them.

    `fail` makes the answer for an error that the tool itself could not tell. `searches` says that a call may have to
    bring the search index up to the log first, which may take long.
    """

    tool: Listed
    output_schema: Mapping[str, Any]
    answer: Answer
    fail: Callable[[FalsifyError], Reply]
    searches: bool = False

    @property
    def name(self) -> str:
        """The canonical name."""
        return self.tool.name


BRAIN_OUTPUT: Final[Mapping[str, Any]] = {
    "$schema": OUTPUT_SCHEMA["$schema"],
    "type": "object",
    "description": "the payload where it is a JSON object, else { text: the payload }",
    "additionalProperties": True,
}
"""What a tool of the brain publishes as the schema of its answer. No list of types in it: some clients refuse those."""

_FAULTS: Final = frozenset({1, 2, 3, 7, 8, 9})
"""The exit codes of what is an error. That a person has to approve, that others were faster or that a rule says no is
an answer."""

_SEARCHES: Final = frozenset(
    {"search_company_context", "grep_company_context", "who_knows", "find_precedents", "get_context_pack",
     "ask_company_context"}
)  # fmt: skip


# --- answers --------------------------------------------------------------------------------------------------


def enveloped(document: bytes) -> Reply:
    """Return an envelope as a reply."""
    told = orjson.loads(document)
    return Reply(document.decode(), told, STATUSES[told["status"]].exit_code in _FAULTS)


def paid(document: bytes, exit_code: int) -> Reply:
    """Return a payload of the brain as a reply."""
    return Reply(document.decode(), _object(document), exit_code in _FAULTS)


def _object(document: bytes) -> Mapping[str, Any]:
    try:
        told = orjson.loads(document)
    except orjson.JSONDecodeError:  # a page, or an answer in words
        told = None
    return told if isinstance(told, dict) else {"text": document.decode()}


def _of_workbench(name: str, served: Served, caller: Caller, arguments: Arguments) -> Reply:
    workspace = served.workspace_for(caller, arguments.get("project_id"))
    return enveloped(call(workspace, CATALOGUE, name, arguments, caller=caller.identity))


def _of_beliefs(name: str, served: Served, caller: Caller, arguments: Arguments) -> Reply:
    workspace = served.workspace_for(caller, arguments.get("project_id"))
    return enveloped(call_belief(workspace, name, arguments, caller=caller.identity))


def _of_brain(name: str, served: Served, caller: Caller, arguments: Arguments) -> Reply:
    payload = answer_brain(served.brain, name, arguments, caller=caller.identity)
    return paid(payload.document, payload.exit_code)


def _fail_enveloped(error: FalsifyError) -> Reply:
    return enveloped(refusal(error, project_revision=0).to_bytes())


def _fail_paid(error: FalsifyError) -> Reply:
    payload = refused(error)
    return paid(payload.document, payload.exit_code)


# --- the rows -------------------------------------------------------------------------------------------------


def rows() -> Mapping[str, Row]:
    """Return every tool by its canonical name, in the order in which they are listed."""
    every: Iterable[Row] = (
        *(Row(tool, OUTPUT_SCHEMA, partial(_of_workbench, name), _fail_enveloped) for name, tool in CATALOGUE.items()),
        *(
            Row(tool, BRAIN_OUTPUT, partial(_of_brain, name), _fail_paid, searches=name in _SEARCHES)
            for name, tool in BRAIN_CATALOGUE.items()
        ),
        *(
            Row(tool, OUTPUT_SCHEMA, partial(_of_beliefs, name), _fail_enveloped)
            for name, tool in BELIEF_CATALOGUE.items()
        ),
    )
    return {row.name: row for row in every}
