"""The contract of the 22 tools, for whoever calls: the keys of each answer, each default, each refusal."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from falsify.brain.org import Agent
from surfaces.tools.brain_catalogue import BRAIN_CATALOGUE, call_brain
from surfaces.tools.brain_org import NO_DEPARTMENT, NO_ENTITIES, NOT_BUILT, UNAUTHORIZED
from surfaces.tools.brain_reads import NO_INDEX, NO_PAGE, WITHHELD
from surfaces.tools.brain_search import NOTHING_THERE
from tests.search_world import COMPANY, ORG, World, page

OWNER, SAM, HELPER, NOBODY = "owner", "person:sam", "agent:helper", "agent:nobody"
CLERK = ("agent:clerk", "sam")
"""An agent on behalf of somebody who may see less."""

CALLERS = ((OWNER, ""), (SAM, ""), (HELPER, ""), CLERK, (NOBODY, ""))
KNOWN = CALLERS[:-1]

PAGES = COMPANY | {
    "memory/glossary/refund.md": page("Refund", "Money given back.", type="glossary", aliases="[payback]"),
    "memory/sales/refund-window.md": page(
        "Refund window", "Refunds within thirty days.", type="decision", decided_by="sam", status="accepted",
        date="2026-02-01", follows_from="[Drop the free plan]",
    ),
    "memory/sales/lessons/refund.md": page("Ask early", "Ask for the invoice before a refund.", type="lesson"),
    "memory/packs/refunds.md": page(
        "Refunds", "Use these.", owner_aor="sales",
        context="[{page: memory/sales/refunds.md}, {query: 'refund {task_hint}', k: 2}, {page: memory/none.md}]",
        never="['memory/legal/**']", write="[propose_lesson]",
    ),
    "memory/packs/broken.md": page("Broken", "No recipe.", owner_aor="sales"),
}  # fmt: skip
LEARNER = Agent(name="helper", read=("sales", "general"), write=("sales",))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("contract"), org=replace(ORG, agents=(LEARNER, *ORG.agents[1:])))
    made.write(PAGES)
    yield made
    made.close()


TAKES_BEHALF = frozenset(n for n, row in BRAIN_CATALOGUE.items() if "on_behalf_of" in row.model.model_fields)


def told(world: World, name: str, who=(OWNER, ""), /, **given: Any) -> str:
    caller, behalf = who
    for_whom = {"on_behalf_of": behalf} if behalf and name in TAKES_BEHALF else {}
    return call_brain(world.brain, name, {**given, **for_whom}, caller=caller).decode()


# --- the keys of each answer ----------------------------------------------------------------------------------

COMPACT = ["rank", "rel_path", "heading_path", "lifecycle_status", "source_trust", "quotable", "updated", "text"]
FULL = [
    "rank", "score", "vector_score", "fts_score", "rel_path", "heading_path", "lifecycle_status", "source_trust",
    "quotable", "sources", "updated", "department", "doc_type", "text",
]  # fmt: skip
LEGS = [
    "vector", "fts", "entity", "relational", "rrf_score", "title_boost", "verified_boost", "recency_multiplier",
    "graph_boost", "lifecycle_tier", "final_rank",
]  # fmt: skip
SOURCE = ["rel_path", "title", "heading_path", "snippet", "source_trust", "trust_label", "updated", "department"]
DECISION = [
    "rel_path", "title", "decided_by", "validated_by", "status", "date", "updated", "department", "lifecycle_status",
    "source_trust", "snippet", "causal",
]  # fmt: skip
OPTIONAL = {"origin", "start_line", "end_line", "explain"}
"""Keys that a row has only where there is something to say."""

REFUND = {"query": "refund within thirty days"}
OUTCOME = ["outcome", "written", "rel_path", "moderation_item_id", "refusal_messages", "superseded"]

SHAPES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("get_person_aor", {"name": "sam"}, {"": ["slug", "name", "role", "departments", "decides", "validates"]}),
    ("get_glossary_term", {"term": "payback"},
     {"": ["term", "definition", "aliases", "lifecycle_status", "source_trust", "rel_path"]}),
    ("search_company_context", REFUND, {"": ["query", "results"], "results": COMPACT}),
    ("search_company_context", {**REFUND, "format": "full"}, {"": ["query", "results"], "results": FULL}),
    ("search_company_context", {**REFUND, "explain": True},
     {"": ["query", "results", "explain"], "results": COMPACT,
      "explain": ["pipeline", "counts", "destination_filtered"],
      "results.explain": LEGS}),
    ("search_company_context", {**REFUND, "include_neighbors": True},
     {"": ["query", "results"], "results": [*COMPACT, "neighbors"],
      "results.neighbors": ["chunk_index", "heading_path", "text", "truncated"]}),
    ("search_company_context", {**REFUND, "budget": 1}, {"": ["query", "results", "budget_truncated"]}),
    ("search_company_context", {**REFUND, "as_of": "2026-02-01"},
     {"": ["query", "results", "as_of"], "results": COMPACT}),
    ("grep_company_context", {"pattern": "refund"},
     {"": ["pattern", "matches"], "matches": ["rel_path", "line", "text"]}),
    ("grep_company_context", {"pattern": "refund", "k": 1},
     {"": ["pattern", "matches", "truncated"], "matches": ["rel_path", "line", "text"]}),
    ("list_pages", {},
     {"": ["prefix", "pages"], "pages": ["rel_path", "title", "description", "updated", "lifecycle_status"]}),
    ("get_links", {"rel_path": "memory/sales/refunds.md"},
     {"": ["rel_path", "outgoing", "backlinks"], "outgoing": ["relation", "target", "rel_path", "title", "unresolved"],
      "backlinks": ["rel_path", "title"]}),
    ("who_knows", {"topic": "refund"}, {"": ["topic", "matched_pages", "decides", "knows", "authorship_evidence"]}),
    ("find_precedents", {"situation": "refund window"},
     {"": ["situation", "results"], "results": DECISION, "results.causal": ["ascendants", "descendants"]}),
    ("find_precedents", {"situation": "refund window", "chain_depth": 0},
     {"": ["situation", "results"], "results": DECISION[:-1]}),
    ("get_context_pack", {"pack": "refunds"},
     {"": ["pack", "context", "unavailable", "never", "write", "counters"],
      "pack": ["slug", "title", "description", "owner_aor", "instructions"], "unavailable": ["rel_path", "status"],
      "counters": ["resolved", "destination_filtered", "never_filtered", "truncated"]}),
    ("get_context_pack", {"pack": "broken"}, {"": ["error", "reason", "message"]}),
    ("list_context_packs", {}, {"": ["packs"], "packs": ["slug", "title", "description", "owner_aor"]}),
    ("ask_company_context", {"question": "When is money given back for a refund?"},
     {"": ["answer", "confidence", "citations", "retrieved", "answered_at", "answer_id"],
      "citations": ["n", *SOURCE], "retrieved": SOURCE}),
    ("ask_company_context", {"task": "Handle a refund"},
     {"": ["answer", "confidence", "citations", "retrieved", "answered_at", "answer_id"]}),
    ("ask_company_context", {"question": "Is a refund given?", "as_of": "2026-02-01"},
     {"": ["answer", "confidence", "citations", "retrieved", "answered_at", "answer_id", "as_of"]}),
    ("ask_company_context", {"question": "When is money given back for a refund?", "explain": True},
     {"": ["answer", "confidence", "citations", "retrieved", "answered_at", "answer_id", "explain"],
      "explain": ["pipeline", "counts", "destination_filtered"], "citations.explain": LEGS}),
    ("ask_company_context", {"question": "Which refund is given back?", "write_back": True},
     {"": ["answer", "confidence", "citations", "retrieved", "answered_at", "answer_id", "write_back"],
      "write_back": OUTCOME}),
    ("propose_lesson", {"title": "T", "lesson": "Oil the lathe.", "kind": "rule", "department": "sales", "refs": []},
     {"": OUTCOME}),
    ("propose_page", {"title": "T", "content": "Oil it.", "department": "finance"}, {"": OUTCOME}),
]  # fmt: skip


@pytest.mark.parametrize("who", KNOWN, ids=[f"{caller} {behalf}".strip() for caller, behalf in KNOWN])
@pytest.mark.parametrize(("name", "given", "shape"), SHAPES, ids=[f"{n}-{i}" for i, (n, *_) in enumerate(SHAPES)])
def test_an_answer_has_the_keys_of_the_contract_in_their_order(world, name, given, shape, who):
    payload = json.loads(told(world, name, who, **given))
    payload.pop("confidence") if name in ADVISORY and payload.get("confidence") == "low" else None
    found = {
        where: [key for key in _at(payload, where) if key not in OPTIONAL or key in shape[where]] for where in shape
    }
    assert found == shape


ADVISORY = {"search_company_context", "who_knows", "find_precedents"}
"""The tools that mark an answer only where its evidence is weak."""


def _at(payload: Any, where: str) -> Mapping[str, Any]:
    """Return the object at a path of keys; of lists, the first that has something there."""
    for key in filter(None, where.split(".")):
        rows = payload if isinstance(payload, list) else [payload]
        payload = next(row[key] for row in rows if row[key])
    return payload[0] if isinstance(payload, list) else payload


GOVERNED = {
    "governance_model": ({}, ["owner", "must_validate", "people", "agents"]),
    "governance_preview": (
        {"op": "grant_department", "agent": "helper", "dept": "legal", "mode": "read"},
        ["op", "file", "before", "after"],
    ),
}


def test_the_owner_is_told_of_governance_and_others_are_all_told_the_same(world):
    for name, (given, wanted) in GOVERNED.items():
        assert [key for key in json.loads(told(world, name, **given)) if key in wanted] == wanted
    for name in ("governance_model", "governance_preview", "governance_apply"):
        for who in CALLERS[1:]:
            for given in ({}, {"op": "grant_department"}, GOVERNED["governance_preview"][0], {"nonsense": 1}):
                assert told(world, name, who, **given) == UNAUTHORIZED.decode()


def test_what_is_told_in_words_is_markdown_for_whoever_may_see_it(world):
    for who in KNOWN:
        assert told(world, "get_department", who, name="Sales").splitlines()[0] == "# Sales"
        assert told(world, "list_company_entities", who).startswith("- [clients] **Acme** - Acme Corporation")
        assert told(world, "get_index", who, scope="sales").startswith("---\ntype: index\nscope: sales\n---\n# Sales")
        assert told(world, "read_page", who, rel_path="memory/sales/refunds.md") == COMPANY["memory/sales/refunds.md"]
    assert {told(world, "get_index", who) for who in CALLERS} == {told(world, "get_index")}


NOT_FOUND = {
    "get_person_aor": "No such person is available.",
    "get_glossary_term": "No such term is available in the glossary.",
}
UNSEEN = [
    ("get_department", {"name": "sales"}, NO_DEPARTMENT),
    ("list_company_entities", {}, NO_ENTITIES),
    ("read_page", {"rel_path": "memory/holidays.md"}, NO_PAGE),
    ("get_links", {"rel_path": "memory/holidays.md"}, NO_PAGE),
    ("get_index", {"scope": "sales"}, NO_INDEX),
    ("list_pages", {}, '{"prefix":"","pages":[]}'),
    *[(n, g, NOTHING_THERE) for n, g in (
        ("search_company_context", REFUND), ("grep_company_context", {"pattern": "refund"}),
        ("who_knows", {"topic": "refund"}), ("find_precedents", {"situation": "refund"}),
        ("get_context_pack", {"pack": "refunds"}), ("list_context_packs", {}))],
    ("log_trace", {"task": "T", "status": "success", "summary": "Done."}, "refused: R-SCOPE"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "answer"), UNSEEN, ids=[name for name, *_ in UNSEEN])
def test_an_unknown_caller_sees_nothing_nor_does_anybody_on_behalf_of_one(world, name, given, answer):
    assert told(world, name, (NOBODY, ""), **given) == answer
    if name != "log_trace":
        assert {told(world, name, (caller, "nobody"), **given) for caller, _ in CALLERS} == {answer}


def test_what_is_not_known_is_told_the_same_to_everybody_who_does_not_see_it(world):
    for name, message in NOT_FOUND.items():
        key = "name" if name == "get_person_aor" else "term"
        for who in CALLERS[1:]:
            wanted = {"error": "not_found", "message": message}
            assert json.loads(told(world, name, who, **{key: "nothing"})) == wanted
    unknown = [
        json.loads(told(world, "ask_company_context", w, question="Who is king?")) for w in ((NOBODY, ""), CLERK)
    ]
    assert len({json.dumps({**each, "answer_id": "", "retrieved": []}) for each in unknown}) == 1


# --- each default ---------------------------------------------------------------------------------------------

REQUIRED: dict[str, dict[str, Any]] = {
    "get_department": {"name": "sales"},
    "get_person_aor": {"name": "sam"},
    "get_glossary_term": {"term": "refund"},
    "list_company_entities": {},
    "search_company_context": REFUND,
    "grep_company_context": {"pattern": "REFUND"},
    "read_page": {"rel_path": "memory/sales/refunds.md"},
    "list_pages": {},
    "get_links": {"rel_path": "memory/sales/refunds.md"},
    "get_index": {},
    "who_knows": {"topic": "refund"},
    "find_precedents": {"situation": "refund"},
    "get_context_pack": {"pack": "refunds"},
    "list_context_packs": {},
    "ask_company_context": {"question": "When is money given back for a refund?"},
}
DEFAULTS: dict[str, dict[str, list[Any]]] = {
    "list_company_entities": {"type": [""]},
    "search_company_context": {
        "k": [8, 8.0], "include_indexes": [False], "include_neighbors": [False], "explain": [False], "budget": [0],
        "format": ["compact"], "show_expired": [False], "doc_types": [[]], "as_of": [""],
    },
    "grep_company_context": {"prefix": [""], "case_sensitive": [False], "k": [20], "format": ["json"]},
    "read_page": {"section": [0]},
    "list_pages": {"prefix": [""], "format": ["json"]},
    "get_links": {"format": ["json"]},
    "get_index": {"scope": ["root"]},
    "who_knows": {"k": [12], "format": ["json"]},
    "find_precedents": {"k": [5], "chain_depth": [1]},
    "get_context_pack": {"task_hint": [""]},
    "list_context_packs": {"format": ["json"]},
    "ask_company_context": {
        "k": [8], "explain": [False], "budget": [0], "write_back": [False], "write_back_department": ["sales"],
        "as_of": [""],
    },
}  # fmt: skip
NULLED = {"ask_company_context": ("task", "response_schema"), "search_company_context": ("doc_types", "as_of")}
ANSWER_ID = re.compile(r'"answer_id":"[0-9a-f]{32}"')


@pytest.mark.parametrize("name", REQUIRED)
def test_a_default_that_is_sent_is_as_if_it_had_been_left_out(world, name):
    for who in CALLERS:
        left_out = ANSWER_ID.sub("", told(world, name, who, **REQUIRED[name]))
        sent = [(key, value) for key, values in DEFAULTS.get(name, {}).items() for value in (*values, None)]
        sent += [(key, None) for key in NULLED.get(name, ())]
        sent += [] if who[1] else [("on_behalf_of", ""), ("on_behalf_of", None)]
        for key, value in sent:
            answer = ANSWER_ID.sub("", told(world, name, who, **{**REQUIRED[name], key: value}))
            assert (name, key, value, answer) == (name, key, value, left_out)


@pytest.mark.parametrize("name", [name for name in DEFAULTS if "k" in DEFAULTS[name]])
def test_a_k_beyond_the_bounds_is_the_bound(world, name):
    def asked(k: int) -> str:
        return ANSWER_ID.sub("", told(world, name, **REQUIRED[name], k=k))

    assert asked(-3) == asked(0) == asked(1)
    assert asked(10**9) == asked(100)


def test_toon_is_the_same_payload_for_every_tool_that_has_it(world):
    toon = pytest.importorskip("toon_format")
    for name in ("search_company_context", "grep_company_context", "list_pages", "get_links", "who_knows",
                 "list_context_packs"):  # fmt: skip
        for who in KNOWN:
            payload = json.loads(told(world, name, who, **REQUIRED[name]))
            assert told(world, name, who, **REQUIRED[name], format="toon") == toon.encode(payload)


# --- each refusal ---------------------------------------------------------------------------------------------

NEEDS: dict[str, str] = {
    name: next(each for each, field in row.model.model_fields.items() if field.is_required())
    for name, row in BRAIN_CATALOGUE.items()
    if not row.owners and any(field.is_required() for field in row.model.model_fields.values())
}
"""The tools that need an argument, and the first that each needs."""

TEXTS = ("", " \t", "x" * 2_001, "a\x00b", "a\x1bb")
LONG = "x" * 2_001
QUESTION = {"question": "Why?"}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    *[("search_company_context", {"query": text}, "invalid_query") for text in TEXTS],
    *[("grep_company_context", {"pattern": text}, "invalid_pattern") for text in (*TEXTS, "a", "x" * 257)],
    *[("who_knows", {"topic": text}, "invalid_topic") for text in TEXTS],
    *[("find_precedents", {"situation": text}, "invalid_situation") for text in TEXTS],
    *[("ask_company_context", {"question": text}, "invalid_question") for text in TEXTS],
    *[("ask_company_context", {"task": text}, "invalid_question") for text in TEXTS],
    ("ask_company_context", {}, "invalid_question"),
    ("ask_company_context", {"question": "Why?", "task": "Do"}, "invalid_question"),
    ("ask_company_context", {**QUESTION, "response_schema": {"type": "array"}}, "invalid_schema"),
    ("ask_company_context", {**QUESTION, "response_schema": {"type": "object", "$ref": "x"}}, "invalid_schema"),
    ("ask_company_context", {"task": "Do", "write_back": True}, "invalid_write_back"),
    ("ask_company_context", {**QUESTION, "as_of": "2026-01-01", "write_back": True}, "invalid_write_back"),
    *[("ask_company_context", {**QUESTION, "as_of": day}, "invalid_as_of") for day in ("x", "2026-13-01", "20260101")],
    *[("search_company_context", {**REFUND, "as_of": day}, "invalid_as_of") for day in ("x", "2026-02-30", "2026-1-1")],
    ("search_company_context", {**REFUND, "format": "toon", "explain": True}, "invalid_format"),
    *[
        (name, {**REQUIRED[name], "format": "yaml"}, "invalid_format")
        for name in DEFAULTS
        if "format" in DEFAULTS[name]
    ],
    ("get_context_pack", {"pack": "refunds", "task_hint": LONG}, "invalid_task_hint"),
    ("rate_answer", {"answer_id": "0" * 32, "rating": "up"}, "unknown_answer"),
    ("rate_answer", {"answer_id": "0" * 32, "rating": "sideways"}, "invalid_rating"),
    ("rate_answer", {"answer_id": "0" * 32, "rating": "up", "comment": LONG}, "comment_too_long"),
    *[(name, {**given, "nonsense": 1}, "invalid_arguments") for name, given in REQUIRED.items()],
    *[(name, sent, "invalid_arguments") for name in NEEDS for sent in ({}, {"q": "x"}, {"Query": 1, "k": 3})],
    ("rate_answer", {"answer_id": "0" * 32}, "invalid_arguments"),
    ("ask_company_context", {"q": "Why?"}, "invalid_arguments"),
    # What was sent and is none has the code of its own.
    *[
        (name, {needed: value}, f"invalid_{needed}")
        for name, needed in NEEDS.items()
        if needed in {"query", "pattern", "topic", "situation"}
        for value in (7, None, ["x"])
    ],
]


@pytest.mark.parametrize(
    ("name", "given", "code"), REFUSED, ids=[f"{n}-{c}-{i}" for i, (n, _, c) in enumerate(REFUSED)]
)
def test_a_refusal_has_its_code_and_is_the_same_for_everybody_and_nothing_is_written(world, name, given, code):
    before = world.workspace.log.head()
    answers = {told(world, name, who, **given) for who in CALLERS if "nonsense" not in given or not who[1]}
    assert len(answers) == 1
    refusal = json.loads(answers.pop())
    assert (list(refusal), refusal["error"]) == (["error", "message"], code)
    assert world.workspace.log.head() == before


def test_an_answer_is_rated_once_by_whom_it_was_given_to(world):
    given = json.loads(told(world, "ask_company_context", (HELPER, ""), question="Where is the refunds desk?"))
    rating = {"answer_id": given["answer_id"], "rating": "down"}
    assert json.loads(told(world, "rate_answer", (SAM, ""), **rating))["error"] == "unknown_answer"
    rated = json.loads(told(world, "rate_answer", (HELPER, ""), **rating))
    assert list(rated) == ["recorded", "answer_id", "rating", "rel_path"]
    assert json.loads(told(world, "rate_answer", (HELPER, ""), **rating))["error"] == "already_rated"
    assert json.loads(told(world, "rate_answer", ("agent:anonymous", ""), **rating))["error"] == "not_permitted"


def test_agents_log_traces_and_nobody_else_does(world):
    trace = {"task": "Refunded", "status": "success", "summary": "The invoice was there."}
    assert told(world, "log_trace", (HELPER, ""), **trace) == "memory/traces/helper/2026-06-01-1.md"
    for who in ((OWNER, ""), (SAM, ""), (NOBODY, "")):
        assert told(world, "log_trace", who, **trace) == "refused: R-SCOPE"
    assert told(world, "log_trace", (HELPER, "nobody"), **trace) == "refused: R-SUBJECT"
    assert told(world, "log_trace", (HELPER, ""), **trace, refs=["a note"]) == "refused: R-REFS"
    assert told(world, "log_trace", (HELPER, ""), **{**trace, "status": "odd"}).startswith('{"error":')


LESSON = {"title": "Invoices", "lesson": "The invoice comes first.", "kind": "lesson", "refs": ["memory/holidays.md"]}


@pytest.mark.parametrize(
    ("who", "department", "outcome"),
    [
        ((HELPER, ""), "sales", "staged"),
        ((HELPER, ""), "finance", "refused"),
        ((HELPER, ""), None, "refused"),
        (("agent:clerk", ""), "sales", "refused"),
        ((SAM, ""), "sales", "refused"),
        ((NOBODY, ""), "sales", "refused"),
        ((OWNER, ""), "sales", "refused"),
    ],
)
def test_only_an_agent_with_the_grant_proposes_and_nothing_is_written(world, who, department, outcome):
    answer = json.loads(told(world, "propose_lesson", who, **LESSON, department=department))
    assert (list(answer), answer["outcome"], answer["written"]) == (OUTCOME, outcome, False)
    scope = [told for told in answer["refusal_messages"] if told.startswith("R-SCOPE: ")]
    assert bool(scope) is (outcome == "refused")
    page_ = {"title": "Invoices of spring", "content": "An invoice is kept for ten years.", "department": department}
    assert json.loads(told(world, "propose_page", who, **page_))["outcome"] == outcome


def test_a_page_that_exists_is_not_proposed_again(world):
    answer = json.loads(
        told(world, "propose_page", (HELPER, ""), title="Pricing", content="A new price list.", department="sales")
    )
    assert answer["refusal_messages"] == ["R-DUPLICATE: there is a page memory/sales/pricing.md already"]


@pytest.mark.parametrize("given", [{"op": "widen_everything"}, {}, {"op": "grant_department", "agent": "helper"}])
def test_an_operation_that_cannot_be_is_refused_with_its_reason(world, given):
    before = world.workspace.log.head()
    for name in ("governance_preview", "governance_apply"):
        refusal = json.loads(told(world, name, **given))
        assert (list(refusal), refusal["error"]) == (["error", "reason", "message"], "aor_refused")
    assert world.workspace.log.head() == before


# --- the channel, and a brain without pages -------------------------------------------------------------------


def test_what_is_above_the_ceiling_is_a_pointer_to_who_reads_it_by_name_and_is_nowhere_else(tmp_path):
    made = World(tmp_path, destination="mcp")
    made.write({"memory/sales/margin.md": page("Margin", "Forty.", sensitivity="confidential"), **COMPANY})
    assert told(made, "read_page", (SAM, ""), rel_path="memory/sales/margin.md") == WITHHELD
    assert json.loads(told(made, "grep_company_context", (SAM, ""), pattern="Forty"))["matches"] == []
    assert "margin" not in told(made, "list_pages", (SAM, ""))
    made.close()


def test_a_brain_that_is_not_built_says_so_and_does_not_crash(tmp_path):
    made = World(tmp_path, org=None)
    for name in ("get_department", "get_person_aor", "get_glossary_term", "list_company_entities", "get_index"):
        assert told(made, name, **REQUIRED[name]) == NOT_BUILT
    for name in ("search_company_context", "grep_company_context", "who_knows", "find_precedents", "get_context_pack",
                 "list_context_packs", "ask_company_context"):  # fmt: skip
        assert told(made, name, **REQUIRED[name]) == NOTHING_THERE
    made.close()


NOTES = {"NOT_BUILT": NOT_BUILT, "NOTHING_THERE": NOTHING_THERE}


@pytest.mark.parametrize("name", NOTES)
def test_a_note_tells_nobody_to_do_what_only_the_owner_can(name):
    """Agents have tools and people have commands: a command is named with whose it is."""
    assert "`falsify " not in NOTES[name].partition("owner")[0]
    assert NOTES[name].count("`falsify ") >= 1


def test_what_is_said_where_nothing_may_be_seen_is_true_with_pages_and_without(world):
    assert NOTHING_THERE == (
        "_There is nothing here that you may see: there are no pages yet, or none that is served to you, or to the "
        "person you ask for. The owner imports pages (`falsify brain import FOLDER`) and says on the org map who may "
        "see them (`falsify brain org`)._"
    )
    assert told(world, "search_company_context", (NOBODY, ""), **REFUND) == NOTHING_THERE


def test_every_tool_is_held_to_the_contract_here():
    told_of = {name for name, *_ in SHAPES} | set(REQUIRED) | {name for name, *_ in REFUSED} | set(GOVERNED)
    assert told_of | {"governance_apply"} == set(BRAIN_CATALOGUE)
