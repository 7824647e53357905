"""Context packs: a recipe is parsed strictly, resolved anew at every call, and cut to its budget, which is told."""

import json

import pytest

from falsify.brain.page import read_page
from falsify.errors import InvalidInputError
from projections.packs import DEFAULT_BUDGET, Item, Piece, excluded, pack_of, tokens, within
from surfaces.brain import Brain
from surfaces.tools.brain_catalogue import call_brain
from surfaces.tools.brain_packs import NO_PACK
from tests.search_world import World, page

# --- the recipe -----------------------------------------------------------------------------------------------


def recipe(**front):
    told = {"title": "A pack", "owner_aor": "sales", "context": "[{page: memory/a.md}]", **front}
    lines = "\n".join(f"{key}: {value}" for key, value in told.items() if value is not None)
    return f"---\n{lines}\n---\n# A pack\n\nDo this.\n"


def parsed(**front):
    return pack_of(read_page("memory/packs/a-pack.md", recipe(**front)))


def test_a_recipe_is_what_its_page_says():
    pack = parsed(
        description="For tests",
        context="[{page: memory/a.md}, {query: 'why {task_hint}', k: 3}, {query: how}, {entity: '{task_hint}'}]",
        never="['memory/finance/**']",
        write="[memory/sales/]",
        budget=700,
    )
    assert (pack.slug, pack.title, pack.description, pack.owner_aor) == ("a-pack", "A pack", "For tests", "sales")
    assert (pack.instructions, pack.never) == ("# A pack\n\nDo this.", ("memory/finance/**",))
    assert (pack.write, pack.budget) == (("memory/sales/",), 700)
    assert pack.items == (
        Item("page", "memory/a.md"), Item("query", "why {task_hint}", 3), Item("query", "how"),
        Item("entity", "{task_hint}"),
    )  # fmt: skip


def test_a_recipe_need_not_say_what_is_never_used_or_where_to_write():
    pack = parsed()
    assert (pack.never, pack.write, pack.budget) == ((), (), DEFAULT_BUDGET)


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ({"owner_aor": None}, "owner_missing"),
        ({"owner_aor": "[sales]"}, "owner_missing"),
        ({"context": None}, "context_missing"),
        ({"context": "[]"}, "context_missing"),
        ({"context": "memory/a.md"}, "context_missing"),
        ({"context": str([{"page": "a"}] * 51)}, "context_too_long"),
        ({"context": "[memory/a.md]"}, "item_invalid"),
        ({"context": "[{page: memory/a.md, query: why}]"}, "item_invalid"),
        ({"context": "[{page: memory/a.md, k: 3}]"}, "item_invalid"),
        ({"context": "[{pages: memory/a.md}]"}, "item_invalid"),
        ({"context": "[{page: 7}]"}, "item_invalid"),
        ({"context": "[{entity: ' '}]"}, "item_invalid"),
        ({"context": "[{query: why, k: 0}]"}, "item_invalid"),
        ({"context": "[{query: why, k: true}]"}, "item_invalid"),
        ({"context": "[{query: why, k: 25}]"}, "item_invalid"),
        ({"context": "[{page: 'memory/*.md'}]"}, "glob"),
        ({"never": "{a: b}"}, "never_invalid"),
        ({"never": "[7]"}, "never_invalid"),
        ({"write": "[[a]]"}, "write_invalid"),
        ({"budget": "0"}, "budget_invalid"),
        ({"budget": "lots"}, "budget_invalid"),
        ({"budget": "true"}, "budget_invalid"),
    ],
)
def test_a_recipe_that_is_wrong_is_refused_by_a_word(front, reason):
    with pytest.raises(InvalidInputError) as caught:
        parsed(**front)
    assert (caught.value.reason, bool(caught.value.hint)) == (reason, True)


@pytest.mark.parametrize(
    ("glob", "met", "not_met"),
    [
        ("memory/finance/**", ["memory/finance/a.md", "memory/finance/x/y.md"], ["memory/finance.md", "memory/a.md"]),
        ("memory/*.md", ["memory/a.md"], ["memory/x/a.md", "memory/amd"]),
        ("memory/**/salary-*", ["memory/salary-1.md", "memory/x/y/salary-.md"], ["memory/x/my-salary-1.md"]),
        ("memory/a?.md", ["memory/ab.md"], ["memory/a.md", "memory/a/.md"]),
        ("memory/a.md", ["memory/a.md"], ["memory/aXmd", "memory/a.md/b"]),
    ],
)
def test_a_glob_meets_paths(glob, met, not_met):
    assert [excluded(path, [glob]) for path in (*met, *not_met)] == [True] * len(met) + [False] * len(not_met)


# --- the budget -----------------------------------------------------------------------------------------------


def pieces(*lengths):
    a = read_page("memory/a.md", "A")
    return [Piece(kind="chunk", page=a, updated="", text="x" * length) for length in lengths]


@pytest.mark.parametrize(
    ("budget", "served", "truncated"),
    [(6, [8, 8, 8], 0), (5, [8, 8, 4], 1), (4, [8, 8], 1), (3, [8, 4], 2), (1, [4], 3), (100, [8, 8, 8], 0)],
)
def test_what_fits_a_budget_is_a_prefix_whose_last_piece_may_be_cut(budget, served, truncated):
    fits, lost = within(pieces(8, 8, 8), budget)
    assert ([len(each.text) for each in fits], lost) == (served, truncated)
    assert sum(tokens(each.text) for each in fits) <= budget
    assert [each.cut for each in fits] == [len(each.text) < 8 for each in fits]


# --- the tools ------------------------------------------------------------------------------------------------

PRICES, TERMS, RATES = "memory/sales/prices.md", "memory/finance/terms.md", "memory/sales/rates.md"
ACME, BOLT = "memory/entities/clients/acme.md", "memory/entities/clients/bolt.md"

QUOTE = """\
---
title: Prepare a quote
owner_aor: sales
department: sales
description: Prices and terms
context:
  - {page: memory/sales/prices.md}
  - {page: memory/finance/terms.md}
  - {page: memory/none.md}
  - {entity: "{task_hint}"}
  - {query: "rates {task_hint}", k: 2}
never: ["memory/sales/draft-*"]
write: [memory/sales/]
---
Quote well.
"""

PAGES = {
    "memory/packs/quote.md": QUOTE,
    "memory/packs/broken.md": "---\ntitle: Broken\nowner_aor: sales\ndepartment: sales\n---\nx\n",
    "memory/packs/odd.md": recipe(owner_aor="nobody"),
    "memory/packs/books.md": recipe(title="Books", owner_aor="finance"),
    "memory/packs/old.md": recipe(title="Old", lifecycle_status="archived"),
    "memory/packs/lapsed.md": recipe(title="Lapsed", expires="2026-05-31"),
    "memory/packs/deep/inner.md": recipe(title="Inner"),
    PRICES: page("Prices", "Forty.", sources="[list]", origin="{connector: drive}", updated="2026-01-02"),
    TERMS: page("Terms", "Thirty days."),
    RATES: page("Rates", "Rates of shipping.", quotable="false", updated="2026-01-03"),
    "memory/sales/draft-rates.md": page("Draft rates", "Rates to come."),
    ACME: page("Acme", "Buys bolts.", department="sales", aliases="[Acme Corp]", updated="2026-01-04"),
    BOLT: page("Bolt", "Sells acids.", department="finance"),
}


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.write(PAGES)
    yield made
    made.close()


def got(brain: Brain, pack="quote", caller="agent:helper", **more):
    return json.loads(call_brain(brain, "get_context_pack", {"pack": pack, **more}, caller=caller))


def test_the_packs_that_may_be_used_are_listed(world):
    def listed(caller):
        return json.loads(call_brain(world.brain, "list_context_packs", {}, caller=caller))["packs"]

    assert listed("agent:helper") == [
        {"slug": "broken", "title": "Broken", "description": "", "owner_aor": "sales"},
        {"slug": "odd", "title": "A pack", "description": "", "owner_aor": "nobody"},
        {"slug": "quote", "title": "Prepare a quote", "description": "Prices and terms", "owner_aor": "sales"},
    ]
    assert [each["slug"] for each in listed("owner")] == ["books", "broken", "odd", "quote"]
    toon = call_brain(world.brain, "list_context_packs", {"format": "toon"}, caller="agent:helper").decode()
    assert toon.splitlines()[0] == "packs[3]{slug,title,description,owner_aor}:"


@pytest.mark.parametrize("pack", ["books", "none", "", "old", "lapsed", "deep/inner", "../packs/quote", "Quote"])
def test_a_pack_that_is_denied_and_one_that_is_not_there_are_the_same_line(world, pack):
    assert call_brain(world.brain, "get_context_pack", {"pack": pack}, caller="agent:helper").decode() == NO_PACK


def test_a_pack_is_resolved_for_a_task(world):
    told = got(world.brain, task_hint="for ACME\ncorp")
    assert list(told) == ["pack", "context", "unavailable", "never", "write", "counters"]
    assert told["pack"] == {
        "slug": "quote", "title": "Prepare a quote", "description": "Prices and terms", "owner_aor": "sales",
        "instructions": "Quote well.",
    }  # fmt: skip
    assert [(each["kind"], each["rel_path"]) for each in told["context"]] == [
        ("page", PRICES), ("page", ACME), ("chunk", RATES),
    ]  # fmt: skip
    assert told["context"][0] == {
        "kind": "page", "rel_path": PRICES, "title": "Prices", "lifecycle_status": "active",
        "source_trust": "unverified", "quotable": True, "sources": ["list"], "updated": "2026-01-02",
        "origin": {"connector": "drive"}, "text": "# Prices\n\nForty.",
    }  # fmt: skip
    assert told["context"][2] == {
        "kind": "chunk", "rel_path": RATES, "title": "Rates", "heading_path": "Rates", "lifecycle_status": "active",
        "source_trust": "unverified", "quotable": False, "sources": [], "updated": "2026-01-03",
        "text": "# Rates\n\nRates of shipping.",
    }  # fmt: skip
    assert told["unavailable"] == [
        {"rel_path": path, "status": "unavailable"} for path in (TERMS, "memory/none.md")
    ]  # fmt: skip
    assert (told["never"], told["write"]) == (["memory/sales/draft-*"], ["memory/sales/"])
    assert told["counters"] == {"resolved": 3, "destination_filtered": 0, "never_filtered": 1, "truncated": 0}


def test_a_pack_without_a_hint_brings_what_needs_none(world):
    told = got(world.brain)
    assert [each["rel_path"] for each in told["context"] if each["kind"] == "page"] == [PRICES]


def test_a_pack_is_resolved_anew_at_every_call(world):
    world.write({PRICES: page("Prices", "Fifty.")}, on="2026-02-02")
    assert got(world.brain)["context"][0]["text"] == "# Prices\n\nFifty."


def test_what_the_budget_cuts_off_is_announced(world):
    world.write({"memory/packs/quote.md": QUOTE.replace("never:", "budget: 3\nnever:")}, on="2026-02-02")
    told = got(world.brain, task_hint="Acme")
    assert [(each["text"], each["truncated"]) for each in told["context"]] == [("# Prices\n\nFo", True)]
    assert (told["counters"]["resolved"], told["counters"]["truncated"]) == (3, 3)


def test_a_withheld_page_is_unavailable_as_an_absent_one_is(tmp_path):
    made = World(tmp_path, destination="mcp")
    made.write({**PAGES, PRICES: page("Prices", "Forty.", sensitivity="restricted")})
    told = got(made.brain, task_hint="Acme")
    withheld = told.pop("counters")
    made.remove(PRICES, on="2026-02-02")
    absent = got(made.brain, task_hint="Acme")
    assert (told, withheld["destination_filtered"]) == ({k: v for k, v in absent.items() if k != "counters"}, 1)
    assert {each["status"] for each in told["unavailable"]} == {"unavailable"}
    made.close()


@pytest.mark.parametrize(("pack", "reason"), [("broken", "context_missing"), ("odd", "owner_unknown")])
def test_a_pack_whose_page_is_wrong_says_what_is_wrong_to_who_may_see_it(world, pack, reason):
    told = got(world.brain, pack)
    assert (list(told), told["error"], told["reason"]) == (["error", "reason", "message"], "pack_invalid", reason)
    assert ". Whoever keeps the page of the pack can mend it: " in told["message"]


@pytest.mark.parametrize("hint", ["x" * 2_001, "a\x00b", "\x1b[31m"])
def test_a_hint_that_is_no_text_is_refused_for_every_pack_alike(world, hint):
    answers = {call_brain(world.brain, "get_context_pack", {"pack": p, "task_hint": hint}, caller="owner")
               for p in ("quote", "none", "broken")}  # fmt: skip
    (only,) = answers
    assert json.loads(only)["error"] == "invalid_task_hint"
