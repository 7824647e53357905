"""grep_company_context: exact lines of the present pages that the caller may see, and nothing else."""

import random

import orjson
import pytest
from toon_format import decode

from surfaces.tools.brain_search import EXCERPT, NOTHING_THERE, grep_company_context
from tests.search_world import COMPANY, OWNER, World, company, page

SAM, HELPER, FAY = "person:sam", "agent:helper", "person:fay"


@pytest.fixture
def world(tmp_path):
    made = company(tmp_path)
    yield made
    made.close()


def grep(world, pattern, caller=OWNER, **arguments):
    return orjson.loads(grep_company_context(world.brain, caller, pattern=pattern, **arguments))


def places(answer) -> list[tuple[str, int]]:
    return [(match["rel_path"], match["line"]) for match in answer["matches"]]


def expected(pattern: str, *, fold: bool = True, pages=COMPANY) -> list[tuple[str, int]]:
    """Return what grep -n would say of the pages."""
    return [
        (path, number)
        for path in sorted(pages)
        for number, line in enumerate(pages[path].split("\n"), start=1)
        if (pattern.casefold() in line.casefold() if fold else pattern in line)
    ]


def test_a_match_has_exactly_the_keys_of_the_contract(world):
    assert grep(world, "desk in Lyon") == {
        "pattern": "desk in Lyon",
        "matches": [{"rel_path": "memory/sales/refunds.md", "line": 20, "text": "Ask the refunds desk in Lyon."}],
    }


@pytest.mark.parametrize("pattern", ["refund", "REFUND", "plan", "2026", "]]", "title: "])
@pytest.mark.parametrize("fold", [True, False])
def test_lines_are_those_that_hold_the_literal_by_path_and_number(world, pattern, fold):
    found = expected(pattern, fold=fold)
    assert places(grep(world, pattern, case_sensitive=not fold, k=100)) == [
        place for place in found if [path for path, _ in found[: found.index(place)]].count(place[0]) < 5
    ]


@pytest.mark.parametrize("pattern", ["%%", "__", ".*", "a|b", "\\\\", "''", '""', "[a-z]"])
def test_a_pattern_is_a_literal_whatever_it_looks_like(world, pattern):
    world.write({"memory/odd.md": page("Odd", f"before {pattern} after")})
    assert ("memory/odd.md", 7) in places(grep(world, pattern))
    assert places(grep(world, pattern)) == expected(
        pattern, pages={"memory/odd.md": page("Odd", f"before {pattern} after")}
    )


def test_case_is_folded_beyond_ascii(world):
    world.write({"memory/odd.md": page("Odd", "Die STRASSE nach Łódź")})
    assert places(grep(world, "straße")) == places(grep(world, "łÓDŹ")) == [("memory/odd.md", 7)]
    assert grep(world, "straße", case_sensitive=True)["matches"] == []


def test_of_one_page_five_lines_are_shown_and_the_rest_announced(world):
    world.write({"memory/long.md": page("Long", "needle\n" * 6)})
    answer = grep(world, "needle")
    assert places(answer) == [("memory/long.md", line) for line in range(7, 12)]
    assert answer["truncated"] is True


@pytest.mark.parametrize(
    ("k", "shown", "truncated"), [(-1, 1, True), (1, 1, True), (2, 2, True), (3, 3, False), (500, 3, False)]
)
def test_k_is_clamped_and_what_is_left_out_announced(world, k, shown, truncated):
    world.write({f"memory/n{n}.md": page(f"N{n}", "one needle") for n in range(3)})
    answer = grep(world, "needle", k=k)
    assert (len(answer["matches"]), "truncated" in answer) == (shown, truncated)


def test_no_more_than_a_hundred_lines_are_shown(world):
    world.write({f"memory/n{n:03}.md": page(f"N{n}", "one needle") for n in range(101)})
    answer = grep(world, "needle", k=5_000)
    assert (len(answer["matches"]), answer["truncated"]) == (100, True)


def test_a_long_line_is_shown_around_its_match(world):
    world.write({"memory/long.md": page("Long", "a" * 5_000 + " needle " + "b" * 5_000)})
    (match,) = grep(world, "needle")["matches"]
    assert (len(match["text"]), match["line"]) == (EXCERPT, 7)
    assert " needle " in match["text"]


def test_a_prefix_narrows_to_the_paths_that_begin_with_it(world):
    assert places(grep(world, "plan", prefix="memory/sales/")) == [
        each for each in expected("plan") if each[0].startswith("memory/sales/")
    ]
    assert grep(world, "plan", prefix="memory/%")["matches"] == []


def test_only_the_present_versions_are_searched(world):
    world.write({"memory/holidays.md": page("Holidays", "The office is open.")}, on="2026-02-01")
    world.move("memory/sales/pricing.md", "memory/sales/prices.md", on="2026-02-01")
    world.remove("memory/sales/refunds.md", on="2026-02-01")
    assert grep(world, "December")["matches"] == grep(world, "Lyon")["matches"] == []
    assert places(grep(world, "list price")) == [("memory/sales/prices.md", 8)]


def test_whatever_its_lifecycle_a_page_is_searched_but_a_compiled_index_is_not(world):
    world.write(
        {
            "memory/a.md": page("A", "needle", lifecycle_status="archived"),
            "memory/b.md": page("B", "needle", expires="2020-01-01"),
            "memory/c.md": page("C", "needle", type="index"),
        }
    )
    assert [path for path, _ in places(grep(world, "needle"))] == ["memory/a.md", "memory/b.md"]


def test_toon_is_the_same_answer_in_another_notation(world):
    assert decode(grep_company_context(world.brain, OWNER, pattern="refund", format="toon")) == grep(world, "refund")


@pytest.mark.parametrize("pattern", ["", "  ", "a", "x" * 257, "a\nb", "a\tb", "a\0", "\ud800a"])
def test_a_pattern_that_is_none_is_refused(world, pattern):
    answer = grep(world, pattern)
    assert (list(answer), answer["error"]) == (["error", "message"], "invalid_pattern")


def test_the_longest_and_the_shortest_pattern_are_taken(world):
    assert grep(world, "x" * 256)["matches"] == []
    assert grep(world, "we")["matches"]


def test_where_nothing_can_be_seen_there_is_a_note_whatever_there_is(world, tmp_path):
    empty = World(tmp_path / "empty")
    for told in (
        grep_company_context(empty.brain, OWNER, pattern="refund"),
        grep_company_context(world.brain, "agent:unknown", pattern="refund"),
        grep_company_context(world.brain, HELPER, pattern="refund", on_behalf_of="nobody"),
    ):
        assert told == NOTHING_THERE
    empty.close()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("caller", [SAM, HELPER, FAY])
def test_pages_that_a_caller_may_not_see_change_no_byte_of_its_answers(tmp_path, seed, caller):
    draw = random.Random(seed)
    without, beside = World(tmp_path / "without"), World(tmp_path / "beside")
    visible = {path: text for path, text in COMPANY.items() if not path.startswith("memory/legal/")}
    hidden = {
        f"memory/{draw.choice(['aaa', 'sales', 'zzz'])}/h{n}.md": page(
            "H", "refund plan\n" * draw.randint(1, 9), department="legal"
        )
        for n in range(40)
    }
    without.write(visible)
    beside.write({**hidden, **visible})
    for pattern in ("refund", "plan", "H", "department: legal", "in"):
        for more in ({}, {"k": 1}, {"k": 3}, {"format": "toon"}, {"prefix": "memory/sales/"}):
            assert grep_company_context(beside.brain, caller, pattern=pattern, **more) == grep_company_context(
                without.brain, caller, pattern=pattern, **more
            )
    without.close()
    beside.close()


def test_a_page_too_sensitive_for_where_the_answer_goes_is_in_no_result_and_no_count(tmp_path):
    world = World(tmp_path, destination="mcp")
    world.write(
        {
            "memory/a.md": page("A", "needle"),
            "memory/b.md": page("B", "needle " * 3, sensitivity="confidential"),
            "memory/c.md": page("C", "needle\n" * 9, sensitivity="restricted"),
        }
    )
    assert grep(world, "needle", k=1) == {
        "pattern": "needle",
        "matches": [{"rel_path": "memory/a.md", "line": 7, "text": "needle"}],
    }
    world.close()


@pytest.mark.parametrize("pattern", ["refund", "plan", "the"])
def test_a_narrower_scope_adds_no_line(world, pattern):
    wide = set(places(grep(world, pattern, k=100)))
    for caller in (SAM, HELPER, FAY):
        narrow = set(places(grep(world, pattern, caller, k=100)))
        assert narrow <= wide
        assert set(places(grep(world, pattern, caller, on_behalf_of="sam", k=100))) <= narrow
