"""The tools publish the schemas of the contract, take what those admit, and say what is wrong with anything else."""

import json
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import MISSING, Field, ValidationError, field_validator

from falsify.errors import InvalidInputError
from surfaces.tools.schema import APPROVALS, ENVELOPE, RETRY, TRUST, ToolInput, describe, parse, publish
from surfaces.tools.workbench_inputs import WORKBENCH_INPUTS, ClaimTicket, ConfigMutation, CreateTickets, GetState

SNAPSHOT = Path(__file__).parent / "goldens_tools" / "workbench_schemas.json"
PUBLISHED = {tool: publish(model) for tool, model in WORKBENCH_INPUTS.items()}
CASES = settings(max_examples=400, deadline=None)

CLAIM = {
    "project_id": "P-1",
    "ticket_id": "T-1",
    "reason": "it ranks highest",
    "idempotency_key": "k1",
    "expected_project_revision": 3,
}
TICKET = {
    "title": "Wider layers",
    "type": "experiment",
    "hypothesis": "64 units are too few",
    "instruction": "set the width to 128",
    "parent_policy": "incumbent",
}
CREATE = {"project_id": "P-1", "tickets": [TICKET], "idempotency_key": "k1", "expected_project_revision": 3}


# --- what is published --------------------------------------------------------------------------------------


def test_the_published_schemas_are_the_committed_ones_to_the_letter():
    assert json.dumps(PUBLISHED, indent=2) + "\n" == SNAPSHOT.read_text(encoding="utf-8")


class Colour(ToolInput):
    """A colour."""

    hue: Annotated[float, Field(ge=0, lt=1)]


class Painting(ToolInput):
    """A painting."""

    title: str
    description: Annotated[str, Field(description="what it shows")]
    frame: Annotated[Colour, Field(description="the frame's colour")]
    palette: tuple[Colour, ...] | MISSING = MISSING


def test_a_schema_is_in_one_piece_and_keeps_what_fields_say_of_themselves():
    colour = {
        "type": "object",
        "properties": {"hue": {"type": "number", "minimum": 0, "exclusiveMaximum": 1}},
        "required": ["hue"],
        "additionalProperties": False,
    }
    assert publish(Painting) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "description": {"description": "what it shows", "type": "string"},
            "frame": {"description": "the frame's colour", **colour},
            "palette": {"type": "array", "items": colour},
        },
        "required": ["title", "description", "frame"],
        "additionalProperties": False,
    }


# --- what is said about a tool ------------------------------------------------------------------------------

FACTS = {
    "falsify.project.get_state": "objective, autonomy mode, primary metric, direction, minimum effect, mutable, budget,"
    " baseline, incumbent, running, tickets, ranked, first, again, approved or rejected, `include`, small",
    "falsify.ticket.list": "status, type, source, round, pin, deterministic rank score, at most 50, 20 by default,"
    " `nextCursor`",
    "falsify.graph.get": "parent, status, verdict, primary metric, latest run, edges, `root_node_id`, `focus_node_id`,"
    " `depth`, `max_nodes`, small",
    "falsify.node.compare": "parent, baseline, incumbent, primary metric on both sides, delta, minimum effect, config"
    " keys that differ, evidence that is still missing, before you decide",
    "falsify.run.get": "status, timing, structured metrics, capped preview, 8 KB",
    "falsify.evidence.list": "Metrics, epoch curves, decision boundaries, logs, config diffs, metadata, content hash,"
    " capped preview, 8 KB, at most 50, 20 by default",
    "falsify.ticket.create": "one to eight, title, type, hypothesis, instruction, parent node, source=agent, at once,"
    " runs nothing, spends no compute",
    "falsify.ticket.claim": "one eligible ticket, agent session, why it was chosen, leaves the eligible queue, nobody"
    " else, researcher sees the reason, nothing is started",
    "falsify.experiment.materialize": "claimed ticket, child, parent node, config mutation, contract, mutable, frozen,"
    " READY, does not run, spends no compute",
    "falsify.run.start": "READY, repairable, SPENDS, budget, valid metrics, freezes, evidence, never be edited, queued,"
    " poll `falsify.run.get`",
    "falsify.run.cancel": "queued or in flight, CANCELLED, discarded, not refunded",
    "falsify.decision.commit": "frozen, IMPROVED, REGRESSED, NEUTRAL, INCONCLUSIVE, PROMOTE, KEEP_FROZEN, DISCARD,"
    " REPRODUCE, REQUEST_MORE_EVIDENCE, rationale, incumbent pointer, parent_policy=incumbent, move nothing, Only"
    " action=PROMOTE is gated, every mode",
}


@pytest.mark.parametrize("tool", FACTS)
def test_the_description_of_a_tool_carries_every_fact_of_the_contract(tool):
    told = describe(WORKBENCH_INPUTS[tool], approval="read_only")
    assert [fact for fact in FACTS[tool].split(", ") if fact not in told] == []


def test_every_tool_of_the_contract_has_its_facts():
    assert list(FACTS) == list(WORKBENCH_INPUTS)


def test_a_description_is_one_paragraph_of_its_own_and_shared_sentences():
    told = describe(Painting, approval="manual_and_copilot", retry=True, trust=True)
    assert told == f"A painting. {APPROVALS['manual_and_copilot']} {TRUST} {RETRY} {ENVELOPE}"
    assert describe(GetState, approval="read_only").count("  ") == 0
    assert describe(Painting, approval="read_only") == f"A painting. Read-only: calling it changes nothing. {ENVELOPE}"


# --- what is sent -------------------------------------------------------------------------------------------


def conforms(schema, value):
    """Return whether a value conforms to a JSON schema of the keywords that the tools use, as the standard has it."""
    unknown = schema.keys() - {*KEYWORDS, "$schema", "type", "description"}
    assert unknown == set(), "this test does not know a keyword"
    kind = schema.get("type")
    if kind and not KINDS[kind](value):
        return False
    return all(holds(schema[word], value, schema) for word, holds in KEYWORDS.items() if word in schema)


def number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


KINDS = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": number,
    "integer": lambda value: number(value) and value == int(value),
}

KEYWORDS = {
    "enum": lambda choices, value, _: value in choices,
    "minLength": lambda bound, value, _: len(value) >= bound,
    "maxLength": lambda bound, value, _: len(value) <= bound,
    "minItems": lambda bound, value, _: len(value) >= bound,
    "maxItems": lambda bound, value, _: len(value) <= bound,
    "minimum": lambda bound, value, _: value >= bound,
    "exclusiveMinimum": lambda bound, value, _: value > bound,
    "maximum": lambda bound, value, _: value <= bound,
    "required": lambda names, value, _: value.keys() >= set(names),
    "additionalProperties": lambda allowed, value, schema: allowed or value.keys() <= schema["properties"].keys(),
    "properties": lambda inner, value, _: all(conforms(inner[name], value[name]) for name in inner.keys() & value),
    "items": lambda inner, value, _: all(conforms(inner, each) for each in value),
    "anyOf": lambda inner, value, _: any(conforms(each, value) for each in inner),
}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def near(schema):
    """Return a strategy of values that mostly conform: at the bounds, now and then over them, or of another kind."""
    return st.integers(0, 39).flatmap(lambda dice: anything if dice == 0 else _near(schema))


def _near(schema):
    match schema:
        case {"enum": choices}:
            return st.sampled_from([*choices] * 9 + [choices[0].swapcase()])
        case {"type": "string"}:
            low, high = schema.get("minLength", 0), schema.get("maxLength", 70)
            sizes = [low, low, low + 1, high, high, max(low - 1, 0), high + 1]
            return st.sampled_from(sizes).map(lambda size: "é" * size)
        case {"type": "integer" | "number"}:
            low, high = schema.get("minimum", 0.5), schema["maximum"]
            return st.sampled_from([low, high, float(high), high / 2, low - 1, high + 1, True] + [low, high] * 6)
        case {"type": "boolean"}:
            return st.booleans()
        case {"type": "array", "items": items}:
            return st.lists(
                near(items), min_size=schema.get("minItems", 0), max_size=schema.get("maxItems", 3) // 2 + 1
            )
        case {"type": "object", "properties": inner}:
            known = {name: near(each) for name, each in inner.items()}
            needed = {name: each for name, each in known.items() if name in schema.get("required", ())}
            optional = {name: each for name, each in known.items() if name not in needed}
            extra = {"bogus": anything}
            whole = st.fixed_dictionaries(needed, optional=optional)
            return st.one_of(
                *[whole] * 9, st.fixed_dictionaries(needed, optional=extra), st.fixed_dictionaries(optional)
            )


@CASES
@given(st.sampled_from(sorted(PUBLISHED)).flatmap(lambda tool: st.tuples(st.just(tool), near(PUBLISHED[tool]))))
def test_exactly_what_the_schema_admits_is_parsed(sent):
    tool, arguments = sent
    if conforms(PUBLISHED[tool], arguments):
        assert parse(WORKBENCH_INPUTS[tool], arguments).model_dump(mode="json") == arguments
    else:
        with pytest.raises(InvalidInputError) as caught:
            parse(WORKBENCH_INPUTS[tool], arguments)
        assert (caught.value.reason, 1 <= len(caught.value.details["problems"]) <= 5) == ("invalid_arguments", True)
        assert len(caught.value.message) < 2500


def test_what_was_not_sent_is_missing_and_not_null():
    claim = parse(ClaimTicket, CLAIM)
    assert claim.agent_session_id is MISSING
    assert claim.model_dump() == CLAIM
    with pytest.raises(InvalidInputError, match="agent_session_id must be a string of 1 to 64 characters, not null"):
        parse(ClaimTicket, CLAIM | {"agent_session_id": None})


def test_a_whole_float_is_an_integer_and_a_parsed_input_cannot_be_changed():
    claim = parse(ClaimTicket, CLAIM | {"expected_project_revision": 3.0})
    assert (claim, type(claim.expected_project_revision)) == (parse(ClaimTicket, CLAIM), int)
    with pytest.raises(ValidationError, match="frozen"):
        claim.reason = "another"


def problems(model, arguments):
    with pytest.raises(InvalidInputError) as caught:
        parse(model, arguments)
    return {each["path"]: each["problem"] for each in caught.value.details["problems"]}


@pytest.mark.parametrize(
    ("change", "path", "problem"),
    [
        ({"project_id": ""}, "project_id", "must be a string of 1 to 64 characters, not ''"),
        ({"project_id": "x" * 65}, "project_id", "must be a string of 1 to 64 characters, not a string of 65"),
        ({"idempotency_key": 7}, "idempotency_key", "must be a string of at most 96 characters, not 7"),
        ({"reason": {"why": 1}}, "reason", "must be a string of 1 to 500 characters, not an object"),
        ({"reason": "\ud800"}, "reason", "must be a string of 1 to 500 characters, not '\\ud800'"),
        (
            {"expected_project_revision": "3"},
            "expected_project_revision",
            "must be a whole number from 0 to 9007199254740991, not '3'",
        ),
        (
            {"expected_project_revision": 3.5},
            "expected_project_revision",
            "must be a whole number from 0 to 9007199254740991, not 3.5",
        ),
        (
            {"expected_project_revision": True},
            "expected_project_revision",
            "must be a whole number from 0 to 9007199254740991, not true",
        ),
        (
            {"expected_project_revision": 10**5000},
            "expected_project_revision",
            "must be a whole number from 0 to 9007199254740991, not a number of more than 64 bits",
        ),
        ({"ticketId": "T-1"}, "ticketId", "is not known: did you mean ticket_id?"),
        (
            {"zzz": 1},
            "zzz",
            (
                "is not known: the fields are project_id, ticket_id, reason, agent_session_id, idempotency_key, "
                "expected_project_revision"
            ),
        ),
    ],
)
def test_a_problem_says_where_it_is_what_is_wrong_and_what_is_allowed(change, path, problem):
    assert problems(ClaimTicket, CLAIM | change) == {path: problem}


def test_a_problem_deep_inside_has_its_whole_path():
    tickets = [TICKET, TICKET | {"title": "No", "type": "Experiment"}, {**TICKET, "priority": 1}]
    kinds = "experiment, ablation, literature, analysis, reproduction, verification"
    assert problems(CreateTickets, CREATE | {"tickets": tickets}) == {
        "tickets[1].title": "must be a string of 3 to 120 characters, not 'No'",
        "tickets[1].type": f"must be one of {kinds}, not 'Experiment'",
        "tickets[2].priority": "is not known: the fields are title, type, hypothesis, instruction, parent_policy, "
        "required_evidence",
    }


def test_a_list_is_not_too_short_because_what_is_in_it_is_wrong():
    assert problems(CreateTickets, CREATE | {"tickets": [TICKET | {"title": "No"}]}) == {
        "tickets[0].title": "must be a string of 3 to 120 characters, not 'No'"
    }


def test_a_list_of_the_wrong_size_or_kind_is_told_its_size():
    sizes = "must be an array of 1 to 8 items, not"
    assert problems(CreateTickets, CREATE | {"tickets": []}) == {"tickets": f"{sizes} an array of 0"}
    assert problems(CreateTickets, CREATE | {"tickets": [TICKET] * 9}) == {"tickets": f"{sizes} an array of 9"}
    assert problems(CreateTickets, CREATE | {"tickets": "none"}) == {"tickets": f"{sizes} 'none'"}


def test_a_number_with_an_open_bound_says_so():
    assert problems(ConfigMutation, {"learning_rate": 0, "l2": -1, "batch_size": 0}) == {
        "learning_rate": "must be a number above 0 and at most 10, not 0",
        "l2": "must be a number from 0 to 1, not -1",
        "batch_size": "must be a whole number from 1 to 4096, not 0",
    }


class Letter(ToolInput):
    """A letter."""

    to: Annotated[str, Field(min_length=2)] | None = None
    weight: Annotated[float, Field(ge=0, lt=20)] = 1
    code: Annotated[str, Field(pattern="^[A-Z]+$")] = "A"
    stamp: str = "red"

    @field_validator("stamp")
    @classmethod
    def glued(cls, stamp: str) -> str:
        if stamp != "red":
            raise ValueError("a stamp is red")
        return stamp


def test_what_more_a_model_asks_is_told_too():
    assert problems(Letter, {"to": "a", "weight": 20, "code": "a", "stamp": "blue"}) == {
        "to": "must be a string of at least 2 characters or null, not 'a'",
        "weight": "must be a number at least 0 and below 20, not 20",
        "code": "is wrong: String should match pattern '^[A-Z]+$'",
        "stamp": "is wrong: a stamp is red",
    }
    assert problems(Letter, {"weight": {1}, "to": b"x"}) == {
        "to": "must be a string of at least 2 characters or null, not a bytes",
        "weight": "must be a number at least 0 and below 20, not a set",
    }


def test_what_is_missing_is_told_with_what_it_must_be_and_at_most_five_problems_are_told():
    with pytest.raises(InvalidInputError) as caught:
        parse(ClaimTicket, {"reason": "", "a": 1, "b": 2})
    assert caught.value.message == (
        "project_id is missing: it must be a string of 1 to 64 characters; "
        "ticket_id is missing: it must be a string of 1 to 64 characters; "
        "reason must be a string of 1 to 500 characters, not ''; "
        "idempotency_key is missing: it must be a string of at most 96 characters; "
        "expected_project_revision is missing: it must be a whole number from 0 to 9007199254740991; "
        "and 2 more problems"
    )
    assert len(caught.value.details["problems"]) == 5
    assert "nothing was done" in caught.value.hint


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (None, "null"),
        ([], "an array of 0"),
        ("{}", "'{}'"),
        (7, "7"),
        (True, "true"),
        ("x" * 10**6, "a string of 1000000"),
    ],
)
def test_arguments_that_are_no_object_are_refused(arguments, seen):
    assert problems(GetState, arguments) == {"": f"the arguments must be an object, not {seen}"}


def test_what_is_huge_or_unprintable_is_never_repeated():
    with pytest.raises(InvalidInputError) as caught:
        parse(GetState, {"project_id": "x" * 10**6, "y" * 10**6: 1, "\x1b[31m\u202e": 2, "include": ["z" * 10**6]})
    told = json.dumps([caught.value.message, caught.value.details], ensure_ascii=False)
    assert len(told) < 1500
    assert told.isprintable()
