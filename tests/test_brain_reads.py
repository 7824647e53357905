"""The reading tools of the brain: what each answers, and that a narrower scope never adds a byte."""

import json
import re
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from falsify.brain.events import OrgAccepted
from falsify.brain.org import AREAS, GENERAL, Agent, Org
from surfaces.brain import Brain
from surfaces.tools.brain_catalogue import BRAIN_CATALOGUE, call_brain
from surfaces.tools.brain_org import UNAUTHORIZED
from surfaces.tools.brain_reads import MOST_PAGES, NO_INDEX, NO_PAGE, WITHHELD
from surfaces.tools.brain_search import NOTHING_THERE
from surfaces.tools.page_parts import MAX_PAGE
from tests.sample_world import sample
from tests.search_world import ORG, World, page

OWNER, NOBODY = "owner", "agent:nobody"
SALES, QUALITY, LEDGER = "agent:sales-assistant", "agent:quality-copilot", "agent:ledger-reader"
CALLERS = (SALES, QUALITY, LEDGER, "person:yuki-tanaka", "person:oliver-grant")


@pytest.fixture(scope="module")
def company(tmp_path_factory):
    made = sample(tmp_path_factory.mktemp("sample"))
    yield made
    made.close()


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    made.close()


def text(brain: Brain, name: str, caller: str = OWNER, **arguments) -> str:
    return call_brain(brain, name, arguments, caller=caller).decode()


def told(brain: Brain, name: str, caller: str = OWNER, **arguments):
    return json.loads(text(brain, name, caller, **arguments))


# --- read_page ------------------------------------------------------------------------------------------------

ODD = "---\r\ntitle: Odd\r\n---\r\n\r\n# Odd\r\ntrailing  \n\n\n"


def test_a_page_is_read_as_it_was_written(world):
    world.write({"memory/odd.md": ODD})
    assert text(world.brain, "read_page", rel_path="memory/odd.md") == ODD


ABSENT = (
    "memory/none.md",
    "memory/personal/diary.md",
    "memory/../secret.md",
    "notes/a.md",
    "memory",
    "",
    "memory/x\x00",
)


@pytest.mark.parametrize("rel_path", [*ABSENT, "memory/finance/budget.md"])
def test_what_is_denied_absent_or_no_page_is_the_same_line(world, rel_path):
    world.write({"memory/finance/budget.md": page("Budget", "Secret."), "memory/personal/diary.md": page("Diary", "x")})
    assert text(world.brain, "read_page", "agent:helper", rel_path=rel_path) == NO_PAGE
    assert text(world.brain, "read_page", "agent:helper", rel_path=rel_path, section=3) == NO_PAGE


def test_a_page_that_cannot_be_parsed_is_not_available(world):
    world.write({"memory/broken.md": "---\ntitle: [\n---\n"})
    assert text(world.brain, "read_page", rel_path="memory/broken.md") == NO_PAGE


def test_what_is_too_sensitive_for_the_channel_is_a_pointer_that_says_nothing_of_it(tmp_path):
    made = World(tmp_path, destination="mcp")
    made.write({"memory/sales/margin.md": page("Margin", "Forty.", sensitivity="confidential", description="Thin")})
    served = text(made.brain, "read_page", "agent:helper", rel_path="memory/sales/margin.md")
    denied = text(made.brain, "read_page", "agent:teller", rel_path="memory/sales/margin.md")
    assert (served, denied) == (WITHHELD, NO_PAGE)
    assert not {"margin", "forty", "thin"} & set(WITHHELD.lower().split())
    made.close()


def large(*, sections: int = 3, letters: int = 12_000) -> str:
    parts = [f"## Part {n}\n\n{'é' * (letters // 2)}\n\n### Detail {n}\n\nmore" for n in range(1, sections + 1)]
    head = "---\ntitle: Large\norigin: {connector: drive}\n---\n\n"
    return head + "# Large\n\nFirst of all.\n\n" + "\n\n".join(parts) + "\n"


def test_a_large_page_is_its_front_matter_and_a_listing_then_section_by_section(world):
    whole = large()
    world.write({"memory/large.md": whole})
    front = whole[: whole.index("# Large\n")]
    listing = text(world.brain, "read_page", rel_path="memory/large.md")
    assert listing == front + (
        f"_This page has {len(whole.encode()):,} bytes. Read its sections one by one, with their numbers:_\n\n"
        "1. Large (24 bytes)\n2. Part 1 (12,033 bytes)\n3. Part 2 (12,033 bytes)\n4. Part 3 (12,032 bytes)\n"
    )
    parts = [text(world.brain, "read_page", rel_path="memory/large.md", section=n) for n in range(1, 5)]
    assert all(part.startswith(front) for part in parts)
    assert front + "".join(part.removeprefix(front) for part in parts) == whole


@pytest.mark.parametrize("section", [-1, 5, 10**30])
def test_a_section_that_is_not_there_is_told_with_those_that_are(world, section):
    world.write({"memory/large.md": large()})
    answer = text(world.brain, "read_page", rel_path="memory/large.md", section=section)
    assert answer.endswith(f"_This page has no section {section}: it has 4, numbered from 1._\n")


def test_a_section_of_a_small_page_is_read_too(world):
    world.write({"memory/small.md": "---\ntitle: Small\n---\n# Small\n\nA.\n\n## Two\n\nB.\n"})
    answer = text(world.brain, "read_page", rel_path="memory/small.md", section=2)
    assert answer == "---\ntitle: Small\n---\n## Two\n\nB.\n"


@pytest.mark.parametrize(
    "body", ["€" * 70_000, "one line\n" * 9_000, "\n\n\n" + "x" * 40_000, "# T\n" + "a\r\n" * 20_000]
)
def test_no_answer_is_over_the_cap_and_nothing_is_lost(world, body):
    world.write({"memory/long.md": body})
    listing = text(world.brain, "read_page", rel_path="memory/long.md")
    count = len([line for line in listing.splitlines() if line[:1].isdigit()])
    parts = [text(world.brain, "read_page", rel_path="memory/long.md", section=n + 1) for n in range(count)]
    front = body[: len(body) - len(body.lstrip("\n"))]
    assert front + "".join(part.removeprefix(front) for part in parts) == body
    assert max(len(part.encode()) for part in parts) <= MAX_PAGE + len(front)


# --- list_pages -----------------------------------------------------------------------------------------------


def test_pages_are_listed_below_a_prefix_with_what_they_are_about(world):
    world.write(
        {
            "memory/sales/b.md": page("B", "x", description="About B", updated="2026-02-01"),
            "memory/sales/a.md": page("A", "x", lifecycle_status="draft"),
            "memory/finance/c.md": page("C", "x"),
        },
        on="2026-03-04",
    )
    rows = [
        {"rel_path": "memory/sales/a.md", "title": "A", "description": "", "updated": "2026-03-04",
         "lifecycle_status": "draft"},
        {"rel_path": "memory/sales/b.md", "title": "B", "description": "About B", "updated": "2026-02-01",
         "lifecycle_status": "active"},
    ]  # fmt: skip
    assert told(world.brain, "list_pages", prefix="memory/sales/") == {"prefix": "memory/sales/", "pages": rows}
    assert told(world.brain, "list_pages", "agent:helper") == {"prefix": "", "pages": rows}
    assert told(world.brain, "list_pages", "agent:helper", prefix="memory/finance/")["pages"] == []


def test_a_list_that_is_cut_says_so_and_only_what_may_be_seen_counts(world):
    world.write({f"memory/sales/{n:04}.md": page(f"P{n}", "x") for n in range(MOST_PAGES)})
    world.write({"memory/finance/one.md": page("One", "x")})
    assert list(told(world.brain, "list_pages", "agent:helper")) == ["prefix", "pages"]
    whole = told(world.brain, "list_pages")
    assert (len(whole["pages"]), whole["truncated"]) == (MOST_PAGES, True)


def test_a_list_can_be_toon(world):
    pytest.importorskip("toon_format")
    world.write({"memory/a.md": page("A", "x", updated="2026-02-01")})
    assert text(world.brain, "list_pages", format="toon").splitlines()[1] == (
        "pages[1]{rel_path,title,description,updated,lifecycle_status}:"
    )


# --- get_links ------------------------------------------------------------------------------------------------

LINKED = {
    "memory/sales/a.md": page("A", "See [[B]], [[led_to::Secret]], [[Nowhere]], [[B]] and [[Alias of D]]."),
    "memory/sales/b.md": page("B", "Back to [[memory/sales/a]]."),
    "memory/finance/secret.md": page("Secret", "About [[A]]."),
    "memory/d.md": page("D", "Nothing.", aliases="[Alias of D]"),
}


def link(relation, target, rel_path=None, title=None):
    return {"relation": relation, "target": target, "rel_path": rel_path, "title": title, "unresolved": not rel_path}


def test_links_leave_a_page_and_come_back_to_it(world):
    world.write(LINKED)
    assert told(world.brain, "get_links", rel_path="memory/sales/a.md") == {
        "rel_path": "memory/sales/a.md",
        "outgoing": [
            link("", "B", "memory/sales/b.md", "B"),
            link("led_to", "Secret", "memory/finance/secret.md", "Secret"),
            link("", "Nowhere"),
            link("", "Alias of D", "memory/d.md", "D"),
        ],
        "backlinks": [
            {"rel_path": "memory/finance/secret.md", "title": "Secret"},
            {"rel_path": "memory/sales/b.md", "title": "B"},
        ],
    }


def test_a_page_of_nothing_but_front_matter_says_that_it_has_no_sections(world):
    world.write({"memory/sales/empty.md": "---\ntitle: Empty\n---\n", "memory/sales/blank.md": ""})
    told = {
        path: text(world.brain, "read_page", rel_path=f"memory/sales/{path}.md", section=1)
        for path in ("empty", "blank")
    }
    none = "_This page has no section 1: it has none._\n"
    assert told == {"empty": f"---\ntitle: Empty\n---\n{none}", "blank": none}


def test_a_link_whose_other_end_may_not_be_seen_is_as_if_nothing_were_there(world):
    world.write(LINKED)
    denied = text(world.brain, "get_links", "agent:helper", rel_path="memory/sales/a.md")
    world.remove("memory/finance/secret.md", on="2026-02-02")
    assert denied == text(world.brain, "get_links", "agent:helper", rel_path="memory/sales/a.md")
    assert "memory/finance" not in denied


def test_the_links_of_a_denied_page_are_those_of_an_absent_one(world):
    world.write(LINKED)
    for rel_path in ("memory/finance/secret.md", "memory/none.md"):
        assert text(world.brain, "get_links", "agent:helper", rel_path=rel_path) == NO_PAGE


# --- get_index ------------------------------------------------------------------------------------------------


def test_the_root_has_names_and_counts_for_everybody_and_nothing_else(company):
    root = text(company.brain, "get_index")
    assert root == text(company.brain, "get_index", NOBODY, scope="root")
    assert "- quality: Quality (10)" in root.splitlines()
    assert "- suppliers (3)" in root.splitlines()
    assert [p.title for p in company.brain.pages().pages.values() if len(p.title) > 9 and p.title in root] == []


def test_the_root_promises_nobody_that_what_it_names_can_be_read(company):
    root = text(company.brain, "get_index", NOBODY)
    assert "What is granted to you is read with its slug, or with entities/ and the type." in root.splitlines()
    named = re.findall(r"^- ([a-z]+): ", root, re.MULTILINE)
    assert len(named) == 7
    assert {text(company.brain, "get_index", NOBODY, scope=each) for each in named} == {NO_INDEX}


def test_the_root_counts_nothing_that_this_channel_does_not_serve_and_is_the_same_for_everybody_on_it(tmp_path):
    pages = {
        "memory/sales/a.md": page("A", "Open."),
        "memory/sales/b.md": page("B", "Closed.", sensitivity="restricted"),
        "memory/entities/rivals/c.md": page("C", "Closed.", sensitivity="confidential"),
    }
    told = {}
    for name, destination, kept in (("cli", "cli", 3), ("mcp", "mcp", 3), ("without", "mcp", 1)):
        made = World(tmp_path / name, destination=destination)
        made.write(dict(list(pages.items())[:kept]))
        [told[name]] = {text(made.brain, "get_index", who) for who in ("owner", "agent:helper", NOBODY)}
        made.close()
    assert told["mcp"] == told["without"]
    assert ("- sales: Sales (1)" in told["mcp"], "rivals" in told["mcp"]) == (True, False)
    assert ("- sales: Sales (2)" in told["cli"], "- rivals (1)" in told["cli"]) == (True, True)


def test_a_brain_of_which_this_channel_serves_nothing_is_built_all_the_same(tmp_path):
    made = World(tmp_path, org=replace(ORG, departments=(), people=ORG.people[:1], agents=()), destination="mcp")
    made.write({"memory/a.md": page("A", "Closed.", sensitivity="restricted")})
    assert "- general: General (0)" in text(made.brain, "get_index")
    made.close()


def test_the_index_of_a_department_is_its_catalogue(company):
    index = text(company.brain, "get_index", scope="finance")
    headings = [line for line in index.splitlines() if line.startswith("#")]
    assert headings == ["# Finance", "## Structure", "## Pages", "## Entities", "## Recent decisions", "## Journal"]
    assert "- memory/finance/decisions/ (2)" in index
    assert [line.split("|")[0] for line in part(index, "Recent decisions")] == [
        "- 2026-02-02 [[memory/finance/decisions/2026-02-key-accounts-forty-five-days.md",
        "- 2025-03-04 [[memory/finance/decisions/2025-03-thirty-days-net.md",
    ]


def part(index: str, heading: str) -> list[str]:
    return index.split(f"## {heading}\n\n")[1].split("\n\n", maxsplit=1)[0].splitlines()


def test_a_denied_index_and_one_that_is_not_there_are_the_same_line(company):
    scopes = ("finance", "people", "nothing", "entities/employees", "entities/nothing", "entities/", "", "Finance")
    assert {text(company.brain, "get_index", SALES, scope=scope) for scope in scopes} == {NO_INDEX}
    assert text(company.brain, "get_index", SALES, scope="general").startswith("---\ntype: index\nscope: general\n")


def test_an_index_names_nothing_that_may_not_be_seen(company):
    hidden = [p for p in company.brain.pages().pages.values() if not company.brain.scope(SALES).sees(p)]
    for scope in ("general", "sales", "entities/clients"):
        index = text(company.brain, "get_index", SALES, scope=scope)
        assert [p.rel_path for p in hidden if p.rel_path in index] == []


# --- what a brain without pages says --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("who_knows", {"topic": "cells"}),
        ("find_precedents", {"situation": "cells"}),
        ("get_context_pack", {"pack": "quote-request"}),
        ("list_context_packs", {}),
    ],
)
def test_where_there_is_nothing_to_see_a_note_says_so_whatever_the_reason(world, company, name, arguments):
    assert text(world.brain, name, **arguments) == NOTHING_THERE
    assert text(company.brain, name, NOBODY, **arguments) == NOTHING_THERE


def test_an_index_of_nothing_is_a_note_too(tmp_path):
    made = World(tmp_path, org=None)
    assert "not built yet" in text(made.brain, "get_index")
    made.close()


# --- refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "parameter"), [("who_knows", "topic"), ("find_precedents", "situation")])
@pytest.mark.parametrize("value", ["", " \u2003", "x" * 2_001, "a\x00b", "a\nb", "\x1b[31m", 7])
def test_a_text_that_is_none_is_refused_before_anything_is_looked_for(company, name, parameter, value):
    answer = told(company.brain, name, **{parameter: value})
    assert (list(answer), answer["error"]) == (["error", "message"], f"invalid_{parameter}")


def test_arguments_that_do_not_fit_the_schema_are_an_error_object(company):
    for name, arguments in (
        ("read_page", {"path": "memory/a.md"}),
        ("who_knows", {"subject": "cells"}),
        ("find_precedents", {"k": 3}),
    ):
        answer = told(company.brain, name, **arguments)
        assert (list(answer), answer["error"]) == (["error", "message"], "invalid_arguments")
    assert told(company.brain, "list_pages", format="yaml")["error"] == "invalid_format"


@pytest.mark.parametrize("arguments", [{}, {"op": "grant"}, {"nonsense": 1}, None, 7, "x", {1: 2}])
def test_governance_answers_others_the_same_whatever_they_send(company, arguments):
    for name in ("governance_model", "governance_preview", "governance_apply"):
        for caller in (*CALLERS, NOBODY):
            assert call_brain(company.brain, name, arguments, caller=caller) == UNAUTHORIZED


# --- laws -----------------------------------------------------------------------------------------------------

TOPICS = ("calibration of references", "which supplier of ceramic cells", "salary bands", "discount for key accounts")

CALLS = [
    *[("read_page", {"rel_path": p}) for p in ("memory/finance/budget-2026.md", "memory/sales/price-list.md",
                                               "memory/people/salary-bands-2026.md", "memory/company/about.md")],
    *[("list_pages", {"prefix": p}) for p in ("", "memory/sales/", "memory/finance/", "memory/entities/")],
    *[("get_links", {"rel_path": f"memory/{p}.md"}) for p in ("entities/suppliers/keraton", "company/about",
                                                              "glossary/ceramic-cell", "sales/price-list")],
    *[("get_index", {"scope": s}) for s in (GENERAL, "sales", "finance", "people", "quality", "entities/clients",
                                            "entities/suppliers", "entities/employees")],
    *[("who_knows", {"topic": t}) for t in TOPICS],
    *[("find_precedents", {"situation": t, "chain_depth": 3, "k": 12}) for t in TOPICS],
    *[("get_context_pack", {"pack": p, "task_hint": "Keraton and Brennholt Chemie"})
      for p in ("answer-a-complaint", "quote-request", "supplier-incident", "none")],
    ("list_context_packs", {}),
]  # fmt: skip


def answers(brain: Brain, caller: str, calls=CALLS, **more) -> list[tuple[str, str, str]]:
    return [(name, repr(given), text(brain, name, caller, **given, **more)) for name, given in calls]


@pytest.mark.parametrize("caller", CALLERS)
def test_what_is_denied_leaves_every_answer_as_if_it_had_never_been_written(company, tmp_path, caller):
    scope = company.brain.scope(caller)
    seen = {path for path, each in company.brain.pages().pages.items() if scope.sees(each)}
    less = sample(tmp_path, only=seen)
    assert 0 < len(seen) < len(company.brain.pages().pages)
    assert answers(company.brain, caller) == answers(less.brain, caller)
    less.close()


def test_what_the_channel_withholds_is_absent_and_told_only_as_one_number(company, tmp_path):
    served, caller = Brain(company.workspace, destination="mcp"), "person:oliver-grant"
    scope = served.scope(caller)
    every = served.pages().pages
    seen = {path for path, each in every.items() if scope.sees(each)}
    withheld = len([each for each in every.values() if scope.admits(each)]) - len(seen)
    less = sample(tmp_path, only=seen, destination="mcp")
    calls = [(name, given) for name, given in CALLS if name != "read_page"]
    told_, numbers = _without_number(answers(served, caller, calls))
    assert withheld > 0
    assert (told_, numbers - {0}) == (_without_number(answers(less.brain, caller, calls))[0], {withheld})
    less.close()


def _without_number(answered):
    """Return the answers without how much was withheld, and the numbers that they gave."""
    numbers = {int(n) for _, _, each in answered for n in re.findall(r'"destination_filtered":(\d+)', each)}
    return [(n, g, re.sub(r',?"destination_filtered":\d+', "", each)) for n, g, each in answered], numbers


def test_the_same_call_is_the_same_bytes_and_writes_nothing(company):
    before = company.workspace.log.head()
    for caller in (OWNER, *CALLERS, NOBODY):
        assert answers(company.brain, caller) == answers(company.brain, caller)
    assert company.workspace.log.head() == before


def test_on_behalf_of_narrows_to_what_both_may_see(company):
    for caller in (OWNER, SALES):
        both = answers(company.brain, caller, on_behalf_of="oliver-grant")
        assert both == answers(company.brain, caller, on_behalf_of="person:oliver-grant")
        everything = told(company.brain, "list_pages", caller, on_behalf_of="oliver-grant")["pages"]
        listed = {each["rel_path"] for each in everything}
        grants = [company.brain.scope(c) for c in (caller, "person:oliver-grant")]
        assert listed == {
            path for path, each in company.brain.pages().pages.items() if all(g.sees(each) for g in grants)
        }
    unknown = answers(company.brain, OWNER, on_behalf_of="nobody")
    assert unknown == answers(company.brain, NOBODY)


SLUGS = ("engineering", "operations", "quality", "sales", "finance", "people", GENERAL)


@cache
def places() -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(SLUGS), max_size=4)


def paths(name: str, answer: str) -> set[str]:
    """Return every page that an answer names as there."""
    if not answer.startswith("{"):
        return set()
    found = json.loads(answer)
    rows = {
        "list_pages": lambda: found["pages"],
        "get_links": lambda: [each for each in (*found["outgoing"], *found["backlinks"]) if each["rel_path"]],
        "list_context_packs": lambda: [{"rel_path": each["slug"]} for each in found["packs"]],
    }[name]()
    return {each["rel_path"] for each in rows}


LISTS = [(n, given) for n, given in CALLS if n in {"list_pages", "get_links", "list_context_packs"}]


@st.composite
def grants(draw):
    """Draw the grants of an agent: `bot`, and those of `less`, which are some of them."""
    read, write, deny, lost, denied = (draw(places()) for _ in range(5))
    areas, lost_areas = (draw(st.frozensets(st.sampled_from(AREAS), max_size=3)) for _ in range(2))
    more = deny | denied | lost_areas
    return _agent("bot", read, write, deny, areas), _agent("less", read - lost, write - lost, more, areas - lost_areas)


def _agent(name, read, write, deny, areas) -> Agent:
    listed = {"read": read, "write": write, "deny": deny, "read_areas": areas}
    return Agent(name=name, **{key: tuple(sorted(values)) for key, values in listed.items()})


def accept(world: World, before, agents) -> None:
    """Put agents on the map of the sample organisation."""
    stored = Org(agents=agents).as_json()["agents"]
    world.append(OrgAccepted(org={**before, "agents": [*before["agents"][:3], *stored]}, source="test"))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(grants())
def test_narrowing_a_scope_never_adds_a_page(company, agents):
    accept(company, company.brain.library.org.as_json(), agents)
    wide, narrow = (company.brain.scope(f"agent:{agent.name}") for agent in agents)
    every = company.brain.pages().pages.values()
    assert all(wide.sees(each) for each in every if narrow.sees(each))
    for name, given_ in LISTS:
        few = paths(name, text(company.brain, name, "agent:less", **given_))
        assert few <= paths(name, text(company.brain, name, "agent:bot", **given_))
    hidden = [each.rel_path for each in every if not narrow.sees(each)]
    for name, given_ in (call for call in CALLS if "rel_path" not in call[1]):
        answer = text(company.brain, name, "agent:less", **given_)
        assert [rel_path for rel_path in hidden if _names(name, answer, rel_path)] == []


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(grants())
def test_for_any_grants_what_is_denied_is_as_if_it_had_never_been_written(company, tmp_path_factory, agents):
    before = company.brain.library.org.as_json()
    accept(company, before, agents)
    scope = company.brain.scope("agent:bot")
    seen = {path for path, each in company.brain.pages().pages.items() if scope.sees(each)}
    less = sample(tmp_path_factory.mktemp("less"), only=seen)
    accept(less, before, agents)
    assert answers(company.brain, "agent:bot") == answers(less.brain, "agent:bot")
    less.close()


def _names(name: str, answer: str, rel_path: str) -> bool:
    """Return whether an answer names a page, but for what the caller sent and what a pack's recipe says itself."""
    if name != "get_context_pack" or not answer.startswith("{"):
        return rel_path in answer
    return rel_path in {item["rel_path"] for item in json.loads(answer)["context"]}


def test_every_reading_tool_is_in_the_catalogue():
    assert {name for name, _ in CALLS} <= set(BRAIN_CATALOGUE)
