"""The tools of the brain publish what the contract says they take, and say what each of them is for."""

import json
from pathlib import Path

import pytest
from pydantic import MISSING

from falsify.errors import InvalidInputError, NotFoundError
from surfaces.tools.brain_catalogue import BRAIN_CATALOGUE, BrainTool, brain_tool
from surfaces.tools.brain_inputs import BRAIN_INPUTS, ProposeLesson, SearchCompanyContext
from surfaces.tools.schema import parse, publish

SNAPSHOT = Path(__file__).parent / "goldens_tools" / "brain_schemas.json"
PUBLISHED = {tool: publish(model) for tool, model in BRAIN_INPUTS.items()}

OPERATION = "op string, slug? string, dept? string, target? string, category? string, agent? string, area? string"
CONTRACT = {
    "get_department": "name string, on_behalf_of? string",
    "get_person_aor": "name string, on_behalf_of? string",
    "get_glossary_term": "term string, on_behalf_of? string",
    "list_company_entities": "type? string, on_behalf_of? string",
    "search_company_context": "query string, k integer = 8, on_behalf_of? string, include_indexes boolean = false,"
    " include_neighbors boolean = false, explain boolean = false, budget integer = 0,"
    ' format compact|full|toon = "compact", show_expired boolean = false, doc_types? [string], as_of? string',
    "grep_company_context": "pattern string, prefix? string, case_sensitive boolean = false, k integer = 20,"
    ' on_behalf_of? string, format json|toon = "json"',
    "read_page": "rel_path string, section integer = 0, on_behalf_of? string",
    "list_pages": 'prefix? string, on_behalf_of? string, format json|toon = "json"',
    "get_links": 'rel_path string, on_behalf_of? string, format json|toon = "json"',
    "get_index": 'scope string = "root", on_behalf_of? string',
    "who_knows": 'topic string, k integer = 12, on_behalf_of? string, format json|toon = "json"',
    "find_precedents": "situation string, k integer = 5, chain_depth integer = 1, on_behalf_of? string",
    "get_context_pack": "pack string, task_hint? string, on_behalf_of? string",
    "list_context_packs": 'on_behalf_of? string, format json|toon = "json"',
    "ask_company_context": "question? string, task? string, k integer = 8, on_behalf_of? string,"
    " explain boolean = false, budget integer = 0, response_schema? object, write_back boolean = false,"
    " write_back_department? string, as_of? string",
    "rate_answer": "answer_id string, rating up|down, comment? string",
    "log_trace": "task string, status success|failure|partial, summary string, detail? string,"
    " duration_seconds? number, refs? [string], on_behalf_of? string",
    "propose_lesson": "title string, lesson string, kind lesson|rule, department string|null, refs [string]",
    "propose_page": "title string, content string, department string|null, refs? [string]",
    "governance_model": "",
    "governance_preview": f"{OPERATION}, mode? string",
    "governance_apply": f"{OPERATION}, mode? string",
}
"""What each tool takes: a parameter with ? need not be sent; one with = is as if that had been sent."""


def signature(schema) -> str:
    return ", ".join(_parameter(name, each, schema.get("required", [])) for name, each in schema["properties"].items())


def _parameter(name, schema, required) -> str:
    if "default" in schema:
        return f"{name} {_type(schema)} = {json.dumps(schema['default'])}"
    return f"{name}{'' if name in required else '?'} {_type(schema)}"


def _type(schema) -> str:
    if "anyOf" in schema:
        return "|".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return "|".join(schema["enum"])
    return f"[{_type(schema['items'])}]" if schema["type"] == "array" else schema["type"]


def test_every_tool_takes_what_the_contract_says():
    assert {name: signature(schema) for name, schema in PUBLISHED.items()} == CONTRACT


def test_nothing_that_is_not_listed_may_be_sent():
    assert {name for name, schema in PUBLISHED.items() if schema["additionalProperties"] is not False} == set()


def test_every_parameter_says_what_it_is():
    told = [
        (tool, name) for tool, s in PUBLISHED.items() for name, p in s["properties"].items() if not p["description"]
    ]
    assert told == []


def test_the_published_schemas_are_the_committed_ones_to_the_letter():
    assert json.dumps(PUBLISHED, indent=2, ensure_ascii=False) + "\n" == SNAPSHOT.read_text(encoding="utf-8")


# --- what is said about a tool --------------------------------------------------------------------------------

FACTS = {
    "get_department": "roles; key documents; processes; look the same",
    "get_person_aor": "role, departments, what they decide and what they validate; unknown; same answer; names nobody",
    "get_glossary_term": "alias; definition, aliases, lifecycle_status, source_trust, rel_path; same line",
    "list_company_entities": "type, name, summary and source_trust; depends on the deployment; empty list;"
    " never an error",
    "search_company_context": "by meaning and by words, ranked; `confidence`; `as_of`; absent; expired;"
    " `invalid_query`",
    "grep_company_context": "literal; no regex; exact line numbers; at most 5 lines; `truncated`; `invalid_pattern`",
    "read_page": "front matter; as they were written; 32 KB; numbered listing; `section`; same not-available line;"
    " neutral pointer",
    "list_pages": "rel_path, title, description, updated and lifecycle_status; at most 500; `truncated`",
    "get_links": "relation, target, rel_path, title; unresolved; backlinks; Both ends; looks like one that is absent",
    "get_index": "structure; descriptions; entities; recent decisions; journal; `root`; nothing but the names;"
    " same not-available line",
    "who_knows": "two registers; never merged; `decides`; org map; `knows`; pages written; digests; lessons promoted;"
    " the pages that you may read; `confidence`; `authorship_evidence`; `invalid_topic`",
    "find_precedents": "decided_by, validated_by, status and date; null; ascendants; descendants; chains;"
    " `confidence`; `invalid_situation`",
    "get_context_pack": "resolved as you call; instructions; provenance; quoted; unavailable (without why);"
    " confers no right; always announced; same not-available line; `pack_invalid`",
    "list_context_packs": "slug, title, description and owner_aor; absent",
    "ask_company_context": "either `question` or `task`; verified citations;"
    " No stored experience applies; rely on your own judgment.; `retrieved`; answer_id; never instructions;"
    " `response_schema`; `write_back`; `as_of`; invalid_question, guidance_disabled, invalid_schema, quota_exceeded,"
    " budget_reached, limit_reached; same honest answer",
    "rate_answer": "up or down; once and for all; neither page nor ranking; recorded, answer_id, rating, rel_path;"
    " unknown_answer; already_rated; invalid_rating; comment_too_long; not_permitted",
    "log_trace": "provenance and not truth; agents only; cannot be changed; never found by search; business; rel_path;"
    " `refused: <rule>`",
    "propose_lesson": "Nothing is written; guard of two tiers; deny wins; a person decides;"
    " cite a trace of yours or a page",
    "propose_page": "new page; Nothing is written; guard of two tiers; deny wins; a person decides; exists already",
    "governance_model": "owner only; must be validated; superior; access to departments and areas",
    "governance_preview": "before and after; English and French; without applying; owner only; `aor_refused`;"
    " fixed vocabulary",
    "governance_apply": "validated; reversible; owner only; waits for approval; nothing is written",
}


@pytest.mark.parametrize("tool", FACTS)
def test_the_docstring_of_a_tool_carries_every_fact_of_the_contract(tool):
    told = " ".join((BRAIN_INPUTS[tool].__doc__ or "").split())
    assert [fact for fact in FACTS[tool].split("; ") if fact not in told] == []


def test_every_tool_of_the_contract_has_its_facts():
    assert list(FACTS) == list(BRAIN_INPUTS) == list(CONTRACT)


# --- the catalogue --------------------------------------------------------------------------------------------

READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
RECORDS = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False}
GOVERNS = RECORDS | {"destructiveHint": True}
ACTS = {
    "ask_company_context": RECORDS,
    "rate_answer": RECORDS,
    "log_trace": RECORDS,
    "propose_lesson": RECORDS,
    "propose_page": RECORDS,
    "governance_apply": GOVERNS,
}


def test_every_tool_has_its_row_in_the_order_of_the_contract():
    assert list(BRAIN_CATALOGUE) == list(BRAIN_INPUTS)


@pytest.mark.parametrize("name", BRAIN_CATALOGUE)
def test_a_row_is_published_with_its_annotations_and_its_schema(name):
    told = BRAIN_CATALOGUE[name].published()
    assert list(told) == ["name", "kind", "description", "inputSchema", "annotations"]
    assert (told["annotations"], told["inputSchema"]) == (ACTS.get(name, READS), PUBLISHED[name])
    assert told["kind"] == ("act" if name in ACTS else "answer")


def test_what_a_tool_says_ends_with_whether_it_changes_anything_and_whom_to_trust():
    pages = BrainTool(name="read_page", handler=print, quotes=True).description
    assert "Read-only: calling it changes nothing. Trust: what pages say" in pages
    assert "Trust:" not in BrainTool(name="log_trace", handler=print, nature="records").description


def test_a_tool_that_is_none_is_not_found():
    with pytest.raises(NotFoundError, match="there is no tool read_pages"):
        brain_tool("read_pages")


# --- what is sent ---------------------------------------------------------------------------------------------


def test_a_null_for_what_need_not_be_sent_is_as_if_it_had_not_been_sent():
    sent = {"query": "cells", "k": None, "as_of": None, "doc_types": None, "format": None}
    given = parse(SearchCompanyContext, sent)
    assert (given.k, given.as_of, given.doc_types, given.format) == (8, MISSING, MISSING, "compact")
    with pytest.raises(InvalidInputError, match="query must be a string, not null"):
        parse(SearchCompanyContext, {"query": None})


def test_a_department_of_null_is_sent():
    sent = {"title": "t", "lesson": "l", "kind": "rule", "department": None, "refs": ["memory/a.md"]}
    assert parse(ProposeLesson, sent).model_dump() == {**sent, "refs": ("memory/a.md",)}
