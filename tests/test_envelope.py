"""Every tool answers in one envelope: what was done, what waits for a person, and why not."""

import json
from dataclasses import FrozenInstanceError
from typing import get_args

import pytest

from falsify import errors
from falsify.errors import FalsifyError, InvalidInputError, NotFoundError, StaleRevisionError, UnavailableError
from surfaces.envelope import OUTPUT_SCHEMA, STATUSES, Envelope, NextAction, Status, refusal
from tests.test_tool_schemas import conforms

NEXT = NextAction("falsify.run.get", {"project_id": "P-1", "run_id": "R-1"}, "the run is queued: poll it")

ENVELOPES = [
    Envelope(status="ok", project_revision=0),
    Envelope(status="ok", project_revision=4, result={}),
    Envelope(status="ok", project_revision=4, result={"run": {"id": "R-1"}}, warnings=("slow",), next_actions=(NEXT,)),
    Envelope(status="approval_required", project_revision=4, approval={"id": "A-1"}, warnings=({"mark": "5f"},)),
    refusal(StaleRevisionError("project P-1", expected=3, current=4), project_revision=4),
    refusal(UnavailableError("the disk is full"), project_revision=2**53 - 1),
]


def test_a_full_envelope_has_its_keys_in_the_order_of_the_contract():
    envelope = Envelope(
        status="approval_required",
        project_revision=4,
        result={"ticket_id": "T-1"},
        approval={"id": "A-1"},
        warnings=("text is fenced", {"kind": "budget", "left": 2}),
        next_actions=(NEXT,),
    )
    assert envelope.to_bytes().decode() == (
        '{"ok":false,"status":"approval_required","projectRevision":4,"result":{"ticket_id":"T-1"},'
        '"approval":{"id":"A-1"},"warnings":["text is fenced",{"kind":"budget","left":2}],'
        '"nextActions":[{"tool":"falsify.run.get","arguments":{"project_id":"P-1","run_id":"R-1"},'
        '"why":"the run is queued: poll it"}]}'
    )


def test_what_is_empty_is_left_out_but_an_empty_result_is_an_answer():
    assert ENVELOPES[0].as_json() == {"ok": True, "status": "ok", "projectRevision": 0}
    assert ENVELOPES[1].as_json() == {"ok": True, "status": "ok", "projectRevision": 4, "result": {}}


def test_only_ok_is_ok_and_what_waits_for_approval_is_not():
    done = {status: Envelope(status=status, project_revision=1).ok for status in STATUSES}
    assert done == {status: status == "ok" for status in STATUSES}


def test_every_status_has_its_meaning_and_its_own_exit_code():
    assert tuple(STATUSES) == get_args(Status)
    assert {status: outcome.exit_code for status, outcome in STATUSES.items()} == {
        "ok": 0,
        "error": 1,
        "invalid_request": 2,
        "not_found": 3,
        "conflict": 4,
        "approval_required": 5,
        "refused": 6,
        "forbidden": 9,
    }
    assert all(len(outcome.meaning) > 20 for outcome in STATUSES.values())
    assert Envelope(status="conflict", project_revision=1).exit_code == 4


def every_error():
    return [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, FalsifyError)]


@pytest.mark.parametrize("error", every_error(), ids=lambda error: error.__name__)
def test_every_error_has_a_status_of_the_table_and_the_exit_code_of_it_unless_it_is_a_failure(error):
    assert error.status in STATUSES
    assert error.status == "error" or error.exit_code == STATUSES[error.status].exit_code


def test_a_refusal_says_why_and_what_to_do_next():
    told = refusal(StaleRevisionError("project P-1", expected=3, current=4), project_revision=4).as_json()
    assert told == {
        "ok": False,
        "status": "conflict",
        "projectRevision": 4,
        "result": {
            "error": {
                "reason": "stale_revision",
                "message": "project P-1 is at revision 4, not 3",
                "hint": "read the state again, decide again, and send the current revision",
                "expected": 3,
                "current": 4,
            }
        },
    }


def test_an_error_without_a_reason_is_named_by_its_status():
    told = refusal(NotFoundError("there is no ticket T-9"), project_revision=4).as_json()
    assert told["result"]["error"] == {"reason": "not_found", "message": "there is no ticket T-9", "hint": ""}


def test_a_detail_never_replaces_the_message():
    error = InvalidInputError("no", hint="yes", reason="why", details={"message": 1, "hint": 2, "reason": 3, "more": 4})
    told = refusal(error, project_revision=0).as_json()["result"]["error"]
    assert list(told.items()) == [("reason", "why"), ("message", "no"), ("hint", "yes"), ("more", 4)]


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_an_envelope_conforms_to_the_published_schema(envelope):
    assert conforms(OUTPUT_SCHEMA, json.loads(envelope.to_bytes()))


@pytest.mark.parametrize(
    "change",
    [
        {"ok": "yes"},
        {"status": "done"},
        {"projectRevision": -1},
        {"projectRevision": None},
        {"result": []},
        {"warnings": []},
        {"warnings": [1]},
        {"nextActions": [{"tool": "x", "arguments": {}}]},
        {"nextActions": [{"tool": "x", "arguments": {}, "why": "", "more": 1}]},
        {"more": 1},
    ],
)
def test_anything_else_does_not_conform(change):
    assert not conforms(OUTPUT_SCHEMA, ENVELOPES[0].as_json() | change)


def test_the_published_schema_is_closed_and_names_one_type_a_place():
    def schemas(schema):
        yield schema
        inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
        inner += [schema["items"]] if "items" in schema else []
        for each in inner:
            yield from schemas(each)

    found = list(schemas(OUTPUT_SCHEMA))
    assert [each for each in found if "anyOf" not in each and not isinstance(each["type"], str)] == []
    assert [each for each in found if "properties" in each and each["additionalProperties"] is not False] == []


def test_an_envelope_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        ENVELOPES[0].status = "error"
