"""Commands that people are told of, as they are told to whoever calls tools."""

import json

import pytest

from surfaces.tools.catalogue import TOOLS
from surfaces.tools.spoken import _TOOLS, FOR_PEOPLE, in_tools, said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("see `falsify ticket list`", "see falsify.ticket.list"),
        ("see `falsify project list`", "see the resource falsify://projects"),
        ("see `falsify why E-12ab`", "see falsify.belief.why of E-12ab"),
        ("see `falsify why why`", "see falsify.belief.why of why"),
        ("see `falsify --project lab graph`", "see falsify.belief.graph"),
        ("by it again: `falsify retract e1 --restore`", "by it again: falsify.belief.retract of e1, restore"),
        ("run it with `falsify run start N-1`", "run it with falsify.run.start of N-1"),
        (
            "a person completes it: `falsify ticket complete T-1`",
            "a person completes it: `falsify --project lab ticket complete T-1`",
        ),
        (
            "measure first: `falsify project baseline`",
            "measure first: `falsify --project lab project baseline`" + FOR_PEOPLE,
        ),
        ("`falsify verify` names it", "`falsify verify` names it" + FOR_PEOPLE),
        ("see falsify.run.get", "see falsify.run.get"),
        ("A person sees the chain with `falsify why D-1`", "A person sees the chain with `falsify why D-1`"),
        (
            "see `falsify run list`; a person ends it with `falsify run cancel R-1`",
            "see falsify.graph.get; a person ends it with `falsify --project lab run cancel R-1`",
        ),
    ],
)
def test_a_command_is_said_by_the_tool_that_does_the_same(text, told):
    assert said(text, "lab") == told


def test_every_tool_that_is_said_is_one():
    assert {tool for tool in _TOOLS.values() if tool.startswith("falsify.")} <= set(TOOLS)


def test_only_what_falsify_says_itself_is_said_otherwise():
    words = "see `falsify ticket list`"
    told = {
        "ok": False, "status": "refused", "projectRevision": 3, "warnings": [words, {"text": words}],
        "result": {"error": {"reason": "x", "message": words, "hint": words, "detail": words}},
    }  # fmt: skip
    read = {"ok": True, "status": "ok", "projectRevision": 3, "result": {"error": {"message": words}, "title": words}}
    assert json.loads(in_tools(json.dumps(told).encode(), "lab")) == {
        **told, "warnings": ["see falsify.ticket.list", {"text": words}],
        "result": {
            "error": {"reason": "x", "message": "see falsify.ticket.list", "hint": "see falsify.ticket.list",
                      "detail": words},
        },
    }  # fmt: skip
    assert json.loads(in_tools(json.dumps(read).encode(), "lab")) == read
