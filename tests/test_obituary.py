"""Why a belief died or lives, told of chains and lattices of any size: as a tree, as JSON, and as Mermaid."""

from collections import Counter
from itertools import pairwise

import click
import orjson
import pytest
from hypothesis import given, settings

from projections.obituary import DEEPEST, REGISTER, Reason, mermaid, why
from surfaces import branches, text
from tests.histories import History, histories, judged

RED, BLUE = "The red sign points north", "The blue sign points south"
FALL = "the fall of F: retract it, or record a fact that refutes it"


def shown(told) -> list[str]:
    return [click.unstyle(line) for line in text.obituary(told)]


def told_of(history, handle) -> Reason:
    return why(REGISTER.fold(history.records()), history.id(handle))


def chain(steps: int, ground: str = "red") -> list[dict]:
    """Return conclusions, the first resting on the ground and each other on the one before it."""
    on = [{"evidence": ground}, *({"conclusion": f"c{n}"} for n in range(1, steps))]
    return [{"id": f"c{n}", "statement": f"So step {n}", "depends_on": [each]} for n, each in enumerate(on, 1)]


def lattice(layers: int) -> list[dict]:
    """Return layers of two conclusions, both resting on both of the layer below."""
    below = [[{"evidence": "red"}], *([{"conclusion": f"{side}{n}"} for side in "ab"] for n in range(1, layers))]
    return [
        {"id": f"{side}{n}", "statement": f"So {side} of {n}", "depends_on": on}
        for n, on in enumerate(below, 1)
        for side in "ab"
    ]


def world(*conclusions: dict) -> History:
    history = History("Which way?")
    history.ingest(evidence=[{"id": "red", "claim": RED}, {"id": "blue", "claim": BLUE}], conclusions=conclusions)
    return history


def refuted(history: History, claim: str) -> History:
    fact = f"It is not so that {claim}"
    history.fact(fact, judged(history.id_of(fact), history.id_of(claim)), handle="F")
    return history


@pytest.fixture(scope="module")
def deep():
    """Return the reason of the last of 5,000 conclusions."""
    return told_of(world(*chain(5000)), "c5000")


DOWN = [*(f"c{n}" for n in range(5000, 0, -1)), "red"]


def nested(told):
    """Return the handles down a chain, and its last entry."""
    handles = [told["handle"]]
    while told["reasons"]:
        (told,) = told["reasons"]
        handles.append(told["handle"])
    return handles, told


# --- a chain --------------------------------------------------------------------------------------------------


def test_a_chain_of_any_length_is_told_down_to_its_ground(deep):
    assert [reason.node["handle"] for reason in deep.walk()] == DOWN


def test_json_has_the_whole_of_a_chain_that_json_can_nest():
    told = told_of(world(*chain(DEEPEST)), f"c{DEEPEST}").as_json()
    handles, last = nested(told)
    assert handles == DOWN[-DEEPEST - 1 :]
    assert last == {
        "link": "rests on",
        "id": last["id"],
        "handle": "red",
        "kind": "evidence",
        "text": RED,
        "state": "alive",
        "recorded": last["recorded"],
        "sources": last["sources"],
        "reasons": [],
    }
    assert told.keys() == {
        "id", "handle", "kind", "text", "state", "recorded", "confidence", "reasons", "remedies",
    }  # fmt: skip
    assert orjson.loads(orjson.dumps(told)) == told


def test_json_that_cannot_nest_a_chain_says_where_it_stops_and_whom_to_ask_next():
    history = world(*chain(DEEPEST + 1))
    told = told_of(history, f"c{DEEPEST + 1}").as_json()
    handles, last = nested(told)
    assert handles == DOWN[-DEEPEST - 2 : -1]
    assert last == {
        "link": "rests on",
        "id": history.id("c1"),
        "handle": "c1",
        "kind": "conclusion",
        "text": "So step 1",
        "state": "alive",
        "recorded": last["recorded"],
        "confidence": 1.0,
        "reasons": [],
        "left_out": 1,
    }
    assert (told["cut_off"], told["ask_next"]) == (True, [history.id("c1")])
    assert orjson.loads(orjson.dumps(told)) == told


def test_asking_the_next_one_again_and_again_tells_the_whole_chain():
    history = world(*chain(1000))
    register = REGISTER.fold(history.records())
    found, asked = [], history.id("c1000")
    while asked:
        told = why(register, asked).as_json()
        handles, _ = nested(told)
        found += handles[1:] if found else handles
        (asked,) = told.get("ask_next", [""])
    assert found == DOWN[-1001:]


def test_a_chain_is_drawn_whole(deep):
    lines = mermaid(deep).splitlines()
    boxes = [line.split('["')[1].split(":")[0] for line in lines if '["' in line]
    assert boxes == DOWN
    assert [line for line in lines if "-->" in line] == [
        f"    n{above} -->|rests on| n{below}" for above, below in pairwise(range(5001))
    ]


def test_a_deep_tree_goes_on_at_the_margin_in_numbered_parts():
    lines = shown(told_of(world(*chain(18)), "c18").as_json())
    by = "recorded by owner at 2026-01-01T00:00:00Z, epoch 0, position"
    assert lines == [
        "● c18  So step 18  alive",
        f"│  {by} 24",
        *(
            line
            for down in range(1, 16)
            for line in (
                f"{'   ' * (down - 1)}└─ rests on ● c{18 - down}  So step {18 - down}  alive",
                f"{'   ' * down}│  {by} {24 - down}",
            )
        ),
        f"{'   ' * 15}└─ rests on ● c2  So step 2  alive; continued at [1]",
        f"{'   ' * 16}   {by} 8",
        "",
        "[1] ● c2  So step 2  16 steps down",
        "└─ rests on ● c1  So step 1  alive",
        f"   │  {by} 7",
        f"   └─ rests on ● red  {RED}  alive",
        "         said by unattributed (trust 1)",
        f"         {by} 3",
        "",
        "What would kill it:",
        "  • the death of c17",
    ]


def test_a_tree_of_any_depth_stays_narrow_and_has_each_step_once(deep):
    lines = shown(deep.as_json(deepest=None))
    assert max(len(line) - len(line.lstrip(" │└├─")) for line in lines) <= 3 * 17
    steps = [line.split("rests on ● ")[1].split("  ")[0] for line in lines if "rests on" in line]
    assert steps == DOWN[1:]
    heads = [line for line in lines if line.startswith("[")]
    assert heads == [
        f"[{n}] ● c{5000 - 16 * n}  So step {5000 - 16 * n}  {16 * n:,} steps down" for n in range(1, 5000 // 16 + 1)
    ]


# --- what is met again ----------------------------------------------------------------------------------------


def test_a_lattice_is_told_in_its_own_size_not_in_that_of_its_paths():
    reason = told_of(world(*lattice(40)), "a40")
    found = [(each.node["handle"], [below.node["handle"] for below in each.reasons]) for each in reason.walk()]
    edges = {(name, on) for name, reasons in found for on in reasons}
    assert edges == {
        *((f"{one}{n}", f"{other}{n - 1}") for n in range(2, 40) for one in "ab" for other in "ab"),
        ("a40", "a39"), ("a40", "b39"), ("a1", "red"), ("b1", "red"),
    }  # fmt: skip
    assert len(found) == len(edges) + 1
    assert len([line for line in mermaid(reason).splitlines() if "-->" in line]) == len(edges)


def test_what_is_told_above_or_in_another_part_is_referred_to():
    lines = shown(told_of(world(*lattice(3)), "a3").as_json())
    assert [line for line in lines if "●" in line] == [
        "● a3  So a of 3  alive",
        "├─ rests on ● a2  So a of 2  alive",
        "│  ├─ rests on ● a1  So a of 1  alive",
        f"│  │  └─ rests on ● red  {RED}  alive",
        "│  └─ rests on ● b1  So b of 1  alive",
        f"│     └─ rests on ● red  {RED}  alive",
        "└─ rests on ● b2  So b of 2  alive",
        "   ├─ rests on ● a1  So a of 1  alive; told above",
        "   └─ rests on ● b1  So b of 1  alive; told above",
    ]
    both = {"id": "both", "statement": "So both", "depends_on": [{"conclusion": "c20"}, {"conclusion": "c2"}]}
    lines = shown(told_of(world(*chain(20), both), "both").as_json())
    assert [line for line in lines if "● c2 " in line or "● c5 " in line] == [
        f"{'│  ' + '   ' * 14}└─ rests on ● c5  So step 5  alive; continued at [1]",
        "└─ rests on ● c2  So step 2  alive; told at [1]",
        "[1] ● c5  So step 5  16 steps down",
        "      └─ rests on ● c2  So step 2  alive",
    ]


def test_each_entry_stands_in_one_part_and_one_met_again_names_the_part_of_its_reasons(monkeypatch):
    monkeypatch.setattr(branches, "STEPS", 3)
    reason = told_of(world(*lattice(9)), "a9")
    laid_out = list(branches.rows(reason.as_json(), branches.Signs("|", "|- ", "`- ")))
    entries = [row for row in laid_out if not row.head]
    assert Counter(row.told["id"] for row in entries) == Counter(each.node["id"] for each in reason.walk())
    assert [row.part for row in laid_out] == sorted(row.part for row in laid_out)
    assert [row.part for row in laid_out if row.head] == sorted(row.goes_on for row in entries if row.goes_on)
    homes = {row.told["id"]: row.part for row in laid_out if row.told["reasons"] and row.goes_on is None}
    again = {id(row): homes[row.told["id"]] for row in entries if not row.told["reasons"] and row.told["id"] in homes}
    assert again
    assert {id(row): row.told_in for row in entries if row.told_in is not None} == again


def test_a_tree_read_back_from_json_says_how_to_go_on():
    history = world(*chain(DEEPEST + 1))
    told = orjson.loads(orjson.dumps(told_of(history, f"c{DEEPEST + 1}").as_json()))
    (last,) = (line for line in shown(told) if "● c1 " in line)
    assert last.strip() == f"└─ rests on ● c1  So step 1  alive; the rest by `falsify why {history.id('c1')}`"


def test_json_marks_what_is_near_and_whose_reasons_are_told_too_deep():
    both = {"id": "both", "statement": "So both", "depends_on": [{"conclusion": "c200"}, {"conclusion": "c2"}]}
    history = world(*chain(200), both)
    told = told_of(history, "both").as_json()
    far, near = told["reasons"]
    _, last = nested(far)
    assert (last["handle"], last["left_out"]) == ("c76", 1)
    assert (near["handle"], near["reasons"], near["left_out"]) == ("c2", [], 1)
    assert told["ask_next"] == [history.id("c76"), history.id("c2")]


@settings(max_examples=100, deadline=None)
@given(histories())
def test_each_belief_is_told_once_and_at_any_depth_nothing_is_left_out_unsaid(history):
    register = REGISTER.fold(history.records())
    for node_id in register.graph.nodes:
        reason = why(register, node_id)
        told = [each.node["id"] for each in reason.walk() if each.reasons]
        assert len(told) == len(set(told))
        whole = reason.as_json(deepest=None)
        assert "cut_off" not in whole
        for deepest in range(4):
            cut = reason.as_json(deepest=deepest)
            assert cut.get("cut_off", False) == ("ask_next" in cut) == (cut != whole)
            assert set(_steps(cut)) | set(_hidden(cut, register)) == set(_steps(whole))


def _steps(told):
    """Return each step of a tree: a belief, how it bears, and on whom."""
    rest = [told]
    while rest:
        above = rest.pop()
        yield from ((above["id"], below["link"], below["id"]) for below in above["reasons"])
        rest += above["reasons"]


def _hidden(told, register):
    """Return the steps that are found by asking on, within those of the whole."""
    asked = list(told.get("ask_next", ()))
    whole = {each: why(register, each).as_json(deepest=None) for each in asked}
    return [step for each in asked for step in _steps(whole[each])]


# --- what would change it -------------------------------------------------------------------------------------


def test_the_way_back_of_a_short_chain_names_each_step():
    history = refuted(world(*chain(3)), RED)
    assert told_of(history, "c3").remedies == [
        f"the return of c2, through the return of c1, through the return of red, through {FALL}",
        "a new living dependency that suffices on its own",
    ]


def test_the_way_back_of_a_long_chain_names_its_ends():
    history = refuted(world(*chain(2000)), RED)
    assert told_of(history, "c2000").remedies == [
        ", through ".join(
            [
                *("the return of c1999", "the return of c1998", "the return of c1997", "1,994 more returns"),
                *("the return of c2", "the return of c1", "the return of red", FALL),
            ]
        ),
        "a new living dependency that suffices on its own",
    ]


def test_what_befell_it_twice_has_to_be_undone_twice():
    history = refuted(world(), RED)
    history.retract("red")
    assert told_of(history, "red").remedies == [
        f"{FALL}; together with a source standing by it again: `falsify retract red --restore`"
    ]


def test_of_what_holds_only_together_all_has_to_return():
    both = [{"evidence": "red", "group": "signs"}, {"evidence": "blue", "group": "signs"}]
    history = refuted(world({"id": "k", "statement": "So it is", "depends_on": both}), RED)
    history.retract("blue")
    assert told_of(history, "k").remedies == [
        (
            f"the return of red, through {FALL}, together with the return of blue, through a source standing by it "
            "again: `falsify retract blue --restore`"
        ),
        "a new living dependency that suffices on its own",
    ]


def test_in_a_loop_nothing_brings_the_other_back():
    loop = [
        {"id": "one", "statement": "So one", "depends_on": [{"conclusion": "other"}]},
        {"id": "other", "statement": "So the other", "depends_on": [{"conclusion": "one"}]},
    ]
    assert told_of(world(*loop), "one").remedies == [
        "the return of other, through a new living dependency that suffices on its own",
        "a new living dependency that suffices on its own",
    ]


def test_a_dead_lattice_tells_its_way_back_once_for_each_ground():
    history = refuted(world(*lattice(40)), RED)
    down = ["the return of a38", "the return of a37", "34 more returns"]
    up = ["the return of a2", "the return of a1", "the return of red", FALL]
    assert told_of(history, "a40").remedies == [
        ", through ".join(["the return of a39", *down, *up]),
        ", through ".join(["the return of b39", *down, *up]),
        "a new living dependency that suffices on its own",
    ]
