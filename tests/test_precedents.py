"""Precedents: past decisions that match, with what they follow from and what came of them, among what may be seen."""

import json

import pytest

from falsify.brain.page import read_page
from projections.precedents import causes, chain
from surfaces.tools.brain_catalogue import call_brain
from tests.search_world import World, page

A, B, C, D, E = (f"memory/sales/{name}.md" for name in "abcde")


def decisions(**says: str):
    """Return pages of decisions by path, each with the front matter it says."""
    texts = {
        f"memory/sales/{n}.md": f"---\ntitle: {n.upper()}\ntype: decision\n{front}\n---\n" for n, front in says.items()
    }
    return {path: read_page(path, text) for path, text in texts.items()}


def chains(pages, rel_path, *, depth=3, seen=None):
    visible = {path: each for path, each in pages.items() if seen is None or path in seen}

    def resolve(target: str, _source: str) -> str | None:
        path = f"memory/sales/{target}.md"
        return path if path in visible else None

    titles = {path: each.title for path, each in visible.items()}
    return chain(causes(visible.values(), resolve), rel_path, titles, depth=depth)


def edge(relation, src, dst, depth):
    name = {path: path[-4].upper() for path in (src, dst)}
    return {
        "relation": relation, "src": src, "dst": dst, "src_title": name[src], "dst_title": name[dst], "depth": depth,
    }  # fmt: skip


# a <- b (follows), b <- c (supersedes), c -> d (led to), d <- e (follows)
LINE = {"a": "", "b": "follows_from: [a]", "c": "supersedes: b\nled_to: d", "d": "", "e": "follows_from: d"}


def test_a_chain_goes_up_to_its_causes_and_down_to_its_consequences():
    assert chains(decisions(**LINE), C) == {
        "ascendants": [edge("supersedes", C, B, 1), edge("follows_from", B, A, 2)],
        "descendants": [edge("led_to", C, D, 1), edge("follows_from", E, D, 2)],
    }


@pytest.mark.parametrize(("depth", "counts"), [(0, (0, 0)), (1, (1, 1)), (2, (2, 2)), (3, (2, 2))])
def test_a_chain_is_as_long_as_is_asked_for(depth, counts):
    told = chains(decisions(**LINE), C, depth=depth)
    assert (len(told["ascendants"]), len(told["descendants"])) == counts


def test_a_chain_does_not_pass_through_what_may_not_be_seen():
    assert chains(decisions(**LINE), C, seen={A, C, E}) == {"ascendants": [], "descendants": []}
    assert chains(decisions(**LINE), B, seen={A, B, D, E})["ascendants"] == [edge("follows_from", B, A, 1)]


def test_what_both_sides_say_is_told_once():
    told = chains(decisions(a="led_to: b", b="follows_from: a"), B)
    assert told == {"ascendants": [edge("follows_from", B, A, 1)], "descendants": []}


def test_a_circle_is_walked_once_and_a_decision_is_no_cause_of_itself():
    told = chains(decisions(a="supersedes: [c, a]", b="supersedes: a", c="supersedes: b"), A)
    assert told == {
        "ascendants": [edge("supersedes", A, C, 1), edge("supersedes", C, B, 2), edge("supersedes", B, A, 3)],
        "descendants": [edge("supersedes", B, A, 1), edge("supersedes", C, B, 2), edge("supersedes", A, C, 3)],
    }


# --- the tool -------------------------------------------------------------------------------------------------

OLD, NEW, SECRET = "memory/sales/old.md", "memory/sales/new.md", "memory/finance/secret.md"

PAGES = {
    OLD: page("Refunds take sixty days", "We refund within sixty days.", type="decision", updated="2025-01-01",
              lifecycle_status="superseded", led_to="[memory/finance/secret.md]"),
    NEW: page("Refunds take thirty days", "We refund within thirty days.", type="decision", updated="2026-01-02",
              decided_by="sam", validated_by="'[[fay]]'", status="accepted", date="2026-01-01", supersedes=f"[{OLD}]",
              source_trust="verified"),
    SECRET: page("Refund reserve", "We keep a refund reserve.", type="decision", follows_from=f"[{NEW}]"),
    "memory/sales/note.md": page("Refund note", "Refunds, refunds, refunds."),
}  # fmt: skip


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.write(PAGES)
    yield made
    made.close()


def found(world, caller="owner", **more):
    return json.loads(call_brain(world.brain, "find_precedents", {"situation": "refunds", **more}, caller=caller))


def test_a_precedent_is_told_with_who_decided_and_what_it_led_to(world):
    told = found(world, "agent:helper")
    assert list(told) == ["situation", "results"]
    assert told["results"][0] == {
        "rel_path": NEW,
        "title": "Refunds take thirty days",
        "decided_by": "sam",
        "validated_by": "fay",
        "status": "accepted",
        "date": "2026-01-01",
        "updated": "2026-01-02",
        "department": "sales",
        "lifecycle_status": "active",
        "source_trust": "verified",
        "snippet": "# Refunds take thirty days\n\nWe refund within thirty days.",
        "causal": {
            "ascendants": [
                {"relation": "supersedes", "src": NEW, "dst": OLD, "src_title": "Refunds take thirty days",
                 "dst_title": "Refunds take sixty days", "depth": 1},
            ],
            "descendants": [],
        },
    }  # fmt: skip
    accountability = ("decided_by", "validated_by", "status", "date")
    assert [told["results"][1][name] for name in ("rel_path", *accountability)] == [OLD, None, None, None, None]


def test_only_decisions_are_precedents_each_of_them_once(world):
    assert sorted(each["rel_path"] for each in found(world)["results"]) == [SECRET, NEW, OLD]


def test_a_decision_that_may_not_be_seen_is_in_no_result_and_in_no_chain(world):
    assert SECRET in json.dumps(found(world, "agent:clerk"))
    assert "finance" not in json.dumps(found(world, "agent:helper", chain_depth=3))


def test_without_depth_there_is_no_causal_block(world):
    assert {"causal" in each for each in found(world, chain_depth=0)["results"]} == {False}
    assert found(world, chain_depth=-7) == found(world, chain_depth=0)
    assert found(world, chain_depth=99) == found(world, chain_depth=3)


def test_as_many_are_told_as_are_asked_for_within_bounds(world):
    assert [len(found(world, k=k)["results"]) for k in (-1, 0, 1, 2, 10**20)] == [1, 1, 1, 2, 3]


def test_what_matches_nothing_well_says_that_the_evidence_is_weak(world):
    assert found(world)["results"]
    assert found(world, situation="zebra")["confidence"] == "low"
