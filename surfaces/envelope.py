"""The envelope: the one form in which every tool answers, be it done, waiting for a person, or refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import orjson

from falsify.errors import FalsifyError

Status = Literal[
    "ok", "approval_required", "conflict", "invalid_request", "not_found", "refused", "forbidden", "error"
]  # fmt: skip


class Outcome(NamedTuple):
    """What a status means, and the code with which a command line ends that answers with it."""

    exit_code: int
    meaning: str


STATUSES: dict[Status, Outcome] = {
    "ok": Outcome(0, "it was done, or read; `result` has it"),
    "approval_required": Outcome(
        5, "nothing was done yet: a person has to approve it first; `approval` names the request"
    ),
    "conflict": Outcome(4, "the state moved on since it was read, or the idempotency key was used for something else"),
    "invalid_request": Outcome(2, "the arguments are malformed or out of range"),
    "not_found": Outcome(3, "what was named does not exist, or not for this caller"),
    "refused": Outcome(6, "a rule of the research contract or of the workbench forbids it"),
    "forbidden": Outcome(9, "it may be done, but not by this caller"),
    "error": Outcome(1, "Falsify or its environment failed"),
}
"""Every status. Only `ok` is ok: with any other, what was asked for has not happened."""


@dataclass(frozen=True, slots=True)
class NextAction:
    """A call that makes sense now, and why."""

    tool: str
    arguments: Mapping[str, Any]
    why: str

    def as_json(self) -> dict[str, Any]:
        """Return the action, JSON-ready."""
        return {"tool": self.tool, "arguments": dict(self.arguments), "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """An answer. `project_revision` is the one to send with the next mutation, 0 where no project was found."""

    status: Status
    project_revision: int
    result: Mapping[str, Any] | None = None
    approval: Mapping[str, Any] | None = None
    warnings: tuple[str | Mapping[str, Any], ...] = ()
    next_actions: tuple[NextAction, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it was done. What waits for approval was not."""
        return self.status == "ok"

    @property
    def exit_code(self) -> int:
        """The code with which a command line ends."""
        return STATUSES[self.status].exit_code

    def as_json(self) -> dict[str, Any]:
        """Return the envelope as it goes over the wire; what is empty is left out, but an empty result stays."""
        body: dict[str, Any] = {"ok": self.ok, "status": self.status, "projectRevision": self.project_revision}
        if self.result is not None:
            body["result"] = dict(self.result)
        if self.approval is not None:
            body["approval"] = dict(self.approval)
        if self.warnings:
            body["warnings"] = [each if isinstance(each, str) else dict(each) for each in self.warnings]
        if self.next_actions:
            body["nextActions"] = [each.as_json() for each in self.next_actions]
        return body

    def to_bytes(self) -> bytes:
        """Return the envelope as JSON, keys in their order. NaN and infinity become null: JSON has neither."""
        return orjson.dumps(self.as_json())


def refusal(error: FalsifyError, *, project_revision: int) -> Envelope:
    """Return the answer that an error comes to; `result.error` says why, and what to do next."""
    told = {"reason": error.reason or error.status, "message": error.message, "hint": error.hint}
    # A detail never replaces one of the three, whatever it is called.
    result = {"error": {**told, **error.details, **told}}
    return Envelope(status=cast("Status", error.status), project_revision=project_revision, result=result)


OUTPUT_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "ok": {"type": "boolean", "description": "true for status ok only"},
        "status": {"type": "string", "enum": list(STATUSES), "description": "branch on this"},
        "projectRevision": {
            "type": "integer",
            "minimum": 0,
            "maximum": 2**53 - 1,
            "description": "send it as expected_project_revision with the next mutation",
        },
        "result": {"type": "object", "description": "what was asked for; of a refusal, result.error"},
        "approval": {"type": "object", "description": "the request that waits for a person"},
        # Some clients take no list of types, so the two kinds of a warning are two schemas.
        "warnings": {"type": "array", "minItems": 1, "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}},
        "nextActions": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "tool": {"type": "string", "minLength": 1},
                    "arguments": {"type": "object"},
                    "why": {"type": "string"},
                },
                "required": ["tool", "arguments", "why"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["ok", "status", "projectRevision"],
    "additionalProperties": False,
}
"""What every tool publishes as the schema of its answer."""
