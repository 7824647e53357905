"""search_company_context: its shapes, its errors, and the laws of its ranking."""

import math
import random
from collections import Counter

import numpy as np
import orjson
import pytest
from toon_format import decode

from falsify.brain.scope import scope_of
from projections.search import fusion, legs
from projections.search.fillers import FILLERS
from projections.search.pipeline import search
from projections.search.view import Admission
from projections.search.words import words
from surfaces.tools import brain_search
from surfaces.tools.brain_search import NOTHING_THERE, search_company_context
from tests.search_world import COMPANY, ORG, OWNER, TODAY, World, company, page

SAM, HELPER, FAY = "person:sam", "agent:helper", "person:fay"

COMPACT = ["rank", "rel_path", "heading_path", "lifecycle_status", "source_trust", "quotable", "updated", "text"]
FULL = [
    "rank", "score", "vector_score", "fts_score", "rel_path", "heading_path", "lifecycle_status", "source_trust",
    "quotable", "sources", "updated", "department", "doc_type", "text",
]  # fmt: skip
EXPLAINED = [
    "vector", "fts", "entity", "relational", "rrf_score", "title_boost", "verified_boost", "recency_multiplier",
    "graph_boost", "lifecycle_tier", "final_rank",
]  # fmt: skip

QUERIES = ("refund policy", "What does Acme Corp buy?", "budget", "zebra migration", 'a OR "b* NEAR(c)', "été")


@pytest.fixture
def world(tmp_path):
    made = company(tmp_path)
    yield made
    made.close()


def ask(world, query="refund", caller=OWNER, **arguments):
    return orjson.loads(search_company_context(world.brain, caller, query=query, **arguments))


def paths(answer) -> list[str]:
    return [result["rel_path"] for result in answer["results"]]


# --- shapes ---------------------------------------------------------------------------------------------------


def test_a_compact_answer_has_exactly_the_keys_of_the_contract(world):
    answer = ask(world, "refund policy")
    assert list(answer) == ["query", "results"]
    assert [list(result) for result in answer["results"]] == [COMPACT] * 8
    assert answer["results"][0] == {
        "rank": 1,
        "rel_path": "memory/sales/refunds.md",
        "heading_path": "Refund policy",
        "lifecycle_status": "active",
        "source_trust": "verified",
        "quotable": True,
        "updated": "2026-05-01",
        "text": "# Refund policy\n\nCustomers of [[Acme]] get their money back within thirty days.",
    }


def test_a_full_answer_adds_scores_sources_and_the_origin_where_the_page_has_one(world):
    results = ask(world, "refund policy", format="full", k=50)["results"]
    origin = {"connector": "drive", "url": "https://drive.example/refunds"}
    for result in results:
        ours = result["rel_path"] == "memory/sales/refunds.md"
        assert list(result) == [*FULL, "origin"] if ours else FULL
        assert (result.get("origin"), result["sources"]) == ((origin, ["handbook"]) if ours else (None, []))
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)


def test_toon_is_the_compact_answer_in_another_notation(world):
    told = search_company_context(world.brain, OWNER, query="refund", format="toon", include_neighbors=True)
    assert decode(told) == ask(world, "refund", include_neighbors=True)


def test_an_explained_answer_has_the_numbers_of_the_pipeline(world):
    answer = ask(world, "Acme Corp refund", explain=True)
    assert list(answer) == ["query", "results", "explain"]
    assert list(answer["explain"]) == ["pipeline", "counts", "destination_filtered"]
    assert answer["explain"]["pipeline"] == fusion.pipeline(TODAY)
    assert answer["explain"]["counts"] == {
        "pages": 7, "chunks": 9, "vector": 9, "fts": 6, "entity": 1, "relational": 3, "candidates": 9, "ranked": 9,
    }  # fmt: skip
    for result in answer["results"]:
        told = result["explain"]
        assert list(told) == EXPLAINED
        found = [told[leg] for leg in fusion.LEGS if told[leg]]
        assert told["rrf_score"] == pytest.approx(sum(1 / (2 + leg["rank"]) for leg in found), abs=1e-8)
        assert told["final_rank"] == result["rank"]


def test_the_score_is_the_product_that_explain_prints(world):
    for result in ask(world, "refund policy", explain=True, format="full")["results"]:
        told = result["explain"]
        factors = ("rrf_score", "title_boost", "verified_boost", "recency_multiplier", "graph_boost")
        assert result["score"] == pytest.approx(math.prod(told[name] for name in factors), rel=1e-5)


def test_neighbours_are_the_sections_before_and_after_on_the_same_page(world):
    results = ask(world, "licences activated", include_neighbors=True, k=1)["results"]
    assert results[0]["heading_path"] == "Refund policy > Exceptions"
    assert results[0]["neighbors"] == [
        {
            "chunk_index": 0,
            "heading_path": "Refund policy",
            "text": "# Refund policy\n\nCustomers of [[Acme]] get their money back within thirty days.",
            "truncated": False,
        },
        {
            "chunk_index": 2,
            "heading_path": "Refund policy > Contact",
            "text": "## Contact\n\nAsk the refunds desk in Lyon.",
            "truncated": False,
        },
    ]


@pytest.mark.parametrize(("tokens", "lengths"), [(0, []), (5, [(20, True)]), (25, [(79, False), (21, True)])])
def test_neighbours_share_their_budget_in_order_and_say_what_was_cut(world, tokens, lengths):
    results = ask(world, "licences activated", include_neighbors=True, k=1, neighbor_tokens=tokens)["results"]
    assert [(len(each["text"]), each["truncated"]) for each in results[0]["neighbors"]] == lengths


@pytest.mark.parametrize(("k", "count"), [(-5, 1), (0, 1), (1, 1), (3, 3), (1_000, 9)])
def test_k_is_clamped(world, k, count):
    assert len(ask(world, k=k)["results"]) == count


# --- refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", " \u3000", "x" * 2_001, "a\0b", "a\nb", "a\x7fb", "\ud800"])
def test_a_query_that_is_none_is_refused_before_anything_is_searched(world, query, monkeypatch):
    monkeypatch.setattr(brain_search, "search", None)
    answer = ask(world, query)
    assert (list(answer), answer["error"]) == (["error", "message"], "invalid_query")


@pytest.mark.parametrize("as_of", ["yesterday", "2026-02-30", "2026-1-1", "20260101", "2026-01-01T00:00:00Z"])
def test_a_date_that_is_none_is_refused(world, as_of):
    assert ask(world, as_of=as_of)["error"] == "invalid_as_of"


def test_toon_is_refused_with_explain_and_so_is_a_format_that_there_is_not(world):
    assert ask(world, format="toon", explain=True)["error"] == "invalid_format"
    assert ask(world, format="xml")["error"] == "invalid_format"


@pytest.mark.parametrize("query", ['"', "AND", "NEAR(a b)", "title:refund*", "-- ; DROP TABLE version", "% _ '"])
def test_a_query_is_data_and_never_syntax(world, query):
    assert ask(world, query)["query"] == query


def test_where_nothing_can_be_seen_there_is_a_note_whatever_there_is(world, tmp_path):
    empty = World(tmp_path / "empty")
    assert search_company_context(empty.brain, OWNER, query="refund") == NOTHING_THERE
    assert search_company_context(world.brain, "agent:unknown", query="refund") == NOTHING_THERE
    assert search_company_context(world.brain, OWNER, query="refund", on_behalf_of="nobody") == NOTHING_THERE
    empty.close()


def test_an_index_that_cannot_be_opened_is_a_note_and_no_crash(world):
    (world.root / ".falsify" / "search.sqlite").mkdir()
    told = search_company_context(world.brain, OWNER, query="refund")
    assert told.startswith("_The search index is not available: ")


# --- what takes part ------------------------------------------------------------------------------------------


def test_an_expired_page_is_left_out_until_it_is_asked_for(world):
    world.write({"memory/old.md": page("Old refund rule", "refund refund", expires="2026-05-31")})
    assert "memory/old.md" not in paths(ask(world))
    assert "memory/old.md" in paths(ask(world, show_expired=True))
    assert "memory/old.md" in paths(ask(world, as_of="2026-05-31"))


def test_a_page_is_valid_on_the_day_it_expires(world):
    world.write({"memory/old.md": page("Old refund rule", "refund refund", expires=TODAY)})
    assert "memory/old.md" in paths(ask(world))


def test_an_archived_page_takes_part_only_with_what_has_expired_and_comes_last(world):
    world.write({"memory/gone.md": page("Refund", "refund refund", lifecycle_status="archived")})
    assert "memory/gone.md" not in paths(ask(world, k=50))
    assert paths(ask(world, k=50, show_expired=True))[-1] == "memory/gone.md"


def test_what_was_superseded_comes_after_all_that_holds(world):
    world.write({"memory/was.md": page("Refund policy", "refund policy", lifecycle_status="superseded")})
    answer = ask(world, "refund policy", k=50)
    assert [each["lifecycle_status"] for each in answer["results"]] == ["active"] * 9 + ["superseded"]


def test_compiled_indexes_take_part_only_if_they_are_asked_for(world):
    world.write({"memory/index.md": page("Refund index", "refund", type="index")})
    assert "memory/index.md" not in paths(ask(world, k=50))
    assert "memory/index.md" in paths(ask(world, k=50, include_indexes=True))


@pytest.mark.parametrize(
    ("types", "found"),
    [(["decision"], {"memory/decisions/d1.md"}), (["RULE", "x"], {"memory/sales/refunds.md"}), (["x"], set())],
)
def test_only_pages_of_the_types_asked_for_take_part(world, types, found):
    assert set(paths(ask(world, k=50, doc_types=types))) == found


def test_of_one_page_at_most_three_sections_are_ranked(world):
    body = "\n\n".join(f"## Part {n}\n\nrefund number {n}" for n in range(9))
    world.write({"memory/sales/long.md": page("Refund", body)})
    assert max(Counter(paths(ask(world, k=50))).values()) == 3


def test_a_page_is_found_by_the_alias_of_an_entity_that_links_to_it(world):
    answer = ask(world, "What about ACME corp?", explain=True, format="full", k=50)
    legs_of = {
        (each["rel_path"], leg)
        for each in answer["results"]
        for leg in ("entity", "relational")
        if each["explain"][leg]
    }
    assert legs_of == {("memory/entities/clients/acme.md", "entity"), ("memory/sales/refunds.md", "relational")}


def sure(world, *queries, **arguments):
    """Return which of the questions are answered without a warning."""
    return [query for query in queries if "confidence" not in ask(world, query, **arguments)]


def test_the_evidence_is_weak_where_neither_words_nor_meaning_speak_for_it(world):
    asked = ("xylophone quartz", "refund policy", "where is the refunds desk")
    assert sure(world, *asked) == ["refund policy", "where is the refunds desk"]


@pytest.mark.parametrize(
    ("chunks", "named", "weak"),
    [
        ([(0.45, 0.0)], False, False),
        ([(0.44, 0.0)], False, True),
        ([(0.44, 0.1)], False, False),
        ([(0.0, 1.0)], False, True),
        ([(0.2, 1.0)], False, False),
        ([(0.44, 0.0), (0.0, 1.0)], False, True),  # words and nearness have to be those of one chunk
        ([(0.9, 0.0)], True, True),
        ([(0.9, 0.0), (0.2, 1.0)], True, False),
        ([], False, True),
    ],
)
def test_evidence_is_the_nearness_of_a_chunk_and_the_words_that_it_has(chunks, named, weak):
    assert fusion.weak(chunks, near=0.45, named=named) is weak


def test_fillers_take_part_in_the_ranking_and_are_no_evidence(world):
    index = world.brain.index
    view = index.view(Admission(scope=scope_of(ORG, OWNER), day=TODAY))
    asked = words("what is the marketing budget of Acme")
    found = legs.lexical(index, view, asked, frozenset(asked) - FILLERS - legs.mentions(index, view, asked).words)
    places = {view.place(at)[0]: at for at in range(len(view.chunks))}
    of_budget, of_holidays = places["memory/finance/budget.md"], places["memory/holidays.md"]
    assert (found.coverage[of_budget], found.coverage[of_holidays]) == (1.0, 0.0)
    assert found.scores[of_holidays] > 0


def test_a_name_is_evidence_for_itself_and_not_for_what_is_asked_about_it(world):
    asked = ("Acme Corp", "what is Acme?", "xylophone quartz acme", "what does Acme Corp sue about")
    assert sure(world, *asked, caller=SAM) == ["Acme Corp", "what is Acme?"]


def test_a_topic_that_is_denied_is_as_weak_as_one_that_is_unknown(world):
    asked = ("what is the marketing budget", "the lawsuit of Acme")
    assert sure(world, *asked) == [*asked]
    assert sure(world, *asked, caller=SAM) == []


# --- time -----------------------------------------------------------------------------------------------------


def test_the_past_shows_the_version_of_that_day_and_says_so(world):
    world.write({"memory/holidays.md": page("Holidays", "The office is closed all of August.")}, on="2026-03-10")
    world.remove("memory/sales/pricing.md", on="2026-04-01")
    before, on_the_day = (
        ask(world, "office closed", as_of="2026-03-09"),
        ask(world, "office closed", as_of="2026-03-10"),
    )
    assert (before["as_of"], on_the_day["as_of"]) == ("2026-03-09", "2026-03-10")
    said = [[month for month in ("August", "December") if month in str(answer)] for answer in (before, on_the_day)]
    assert said == [["December"], ["August"]]
    assert "memory/sales/pricing.md" in paths(ask(world, "pricing", as_of="2026-03-31"))
    assert "memory/sales/pricing.md" not in paths(ask(world, "pricing"))


def test_before_anything_was_known_there_is_nothing(world):
    assert ask(world, as_of="2025-12-31") == {
        "query": "refund",
        "results": [],
        "confidence": "low",
        "as_of": "2025-12-31",
    }


@pytest.mark.parametrize("day", ["2026-01-15", "2026-02-15", "2026-03-15", "2026-04-15"])
@pytest.mark.parametrize("caller", [OWNER, SAM, HELPER])
def test_the_past_is_to_the_byte_what_was_answered_then(tmp_path, day, caller):
    then, now = World(tmp_path / "then"), World(tmp_path / "now")
    draw = random.Random(day)
    for month in range(1, 6):
        on = f"2026-{month:02}-01"
        pages = {
            f"memory/{draw.choice(['sales', 'legal'])}/p{n}.md": page(
                f"Page {n}",
                f"refund {draw.choice(['late', 'early'])} in month {month}. See [[Page {draw.randint(0, 9)}]].",
                lifecycle_status=draw.choice(["active", "superseded", "archived"]),
                expires=f"2026-{draw.randint(1, 9):02}-10",
            )
            for n in draw.sample(range(10), 4)
        }
        now.write(pages, on=on)
        if on <= day:
            then.write(pages, on=on)
    then.brain.workspace.clock.at = _noon(day)
    for query in QUERIES:
        told = search_company_context(now.brain, caller, query=query, as_of=day, explain=True, format="full", k=50)
        first = search_company_context(then.brain, caller, query=query, explain=True, format="full", k=50)
        if first == NOTHING_THERE:  # it was all they had to say to who could see nothing then
            assert orjson.loads(told)["results"] == []
        else:
            answer = orjson.loads(told)
            assert answer.pop("as_of") == day
            assert orjson.dumps(answer) == first
    then.close()
    now.close()


def _noon(day: str) -> int:
    return int(np.datetime64(f"{day}T12:00:00", "us").astype(np.int64))


# --- denied is absent -----------------------------------------------------------------------------------------


def hidden_pages(draw: random.Random) -> dict[str, str]:
    """Return pages that neither Sam nor the helper may see, made to disturb: same words, names, links and texts."""
    body = "Customers of [[Acme]] get their money back within thirty days. [[Refund policy]] [[Pricing 2026]]"
    titles = ["Acme", "Acme Corp", "Refund policy", "refund", "zebra migration", "budget"]
    return {
        f"memory/{draw.choice(['legal', 'entities/clients'])}/h{n}.md": page(
            draw.choice(titles),
            body + " refund zebra budget" * draw.randint(0, 9),
            type=draw.choice(["page", "entity", "glossary"]),
            department="legal",
            aliases="[Acme Corp, refund, zebra]",
            sensitivity=draw.choice(["public", "internal", "restricted"]),
        )
        for n in range(draw.randint(1, 80))
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("caller", [SAM, HELPER, FAY])
def test_pages_that_a_caller_may_not_see_change_no_byte_of_its_answers(tmp_path, seed, caller):
    without, beside = World(tmp_path / "without"), World(tmp_path / "beside")
    hidden = hidden_pages(random.Random(seed))
    visible = {path: text for path, text in COMPANY.items() if not path.startswith("memory/legal/")}
    without.write(visible)
    beside.write(dict(sorted({**visible, **hidden}.items(), key=lambda item: item[1][::-1])))
    for query in QUERIES:
        for more in (
            {},
            {"explain": True, "format": "full", "k": 50},
            {"include_neighbors": True, "show_expired": True},
            {"format": "toon", "as_of": "2026-02-01"},
            {"doc_types": ["entity", "page"], "budget": 40},
        ):
            assert search_company_context(beside.brain, caller, query=query, **more) == search_company_context(
                without.brain, caller, query=query, **more
            )
    without.close()
    beside.close()


def test_on_behalf_of_somebody_only_what_both_may_see_takes_part(world):
    assert ask(world, caller=HELPER, on_behalf_of="fay", k=50) == ask(world, caller=FAY, on_behalf_of="sam", k=50)
    assert set(paths(ask(world, caller=HELPER, on_behalf_of="fay", k=50))) == {"memory/holidays.md"}


def test_what_is_too_sensitive_for_where_the_answer_goes_is_absent_but_for_its_count(tmp_path):
    world, without = company(tmp_path / "a", destination="mcp"), World(tmp_path / "b", destination="mcp")
    sensitive = {"memory/finance/budget.md", "memory/legal/lawsuit.md"}
    without.write({path: text for path, text in COMPANY.items() if path not in sensitive})
    for query in QUERIES:
        told, absent = (ask(each, query, explain=True, format="full", k=50) for each in (world, without))
        assert (told["explain"].pop("destination_filtered"), absent["explain"].pop("destination_filtered")) == (2, 0)
        assert told == absent
    world.close()
    without.close()


@pytest.mark.parametrize("query", QUERIES)
def test_a_narrower_scope_adds_no_page(world, query):
    wide = set(paths(ask(world, query, k=50)))
    for caller in (SAM, HELPER, FAY, "agent:clerk"):
        narrow = set(paths(ask(world, query, caller, k=50)))
        assert narrow <= wide
        assert set(paths(ask(world, query, caller, on_behalf_of="sam", k=50)) if narrow else ()) <= narrow


# --- laws of the ranking --------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", QUERIES)
def test_the_same_query_has_the_same_bytes_here_and_in_a_rebuilt_index(world, query):
    def told():
        return search_company_context(world.brain, SAM, query=query, format="full", explain=True, k=50)

    first = told()
    assert told() == first
    world.brain.index.rebuild(world.brain.library, world.brain.position)
    assert told() == first


@pytest.mark.parametrize("query", QUERIES)
def test_explain_changes_nothing_but_adds_itself(world, query):
    told = ask(world, query, explain=True, k=50)
    del told["explain"]
    for result in told["results"]:
        del result["explain"]
    assert orjson.dumps(told) == search_company_context(world.brain, OWNER, query=query, k=50)


@pytest.mark.parametrize("more", [{}, {"include_neighbors": True}, {"explain": True}])
def test_a_budget_serves_a_prefix_of_the_same_ranking_and_says_so(world, more):
    whole = ask(world, k=50, **more)
    for budget in range(0, 400, 29):
        told = ask(world, k=50, budget=budget, **more)
        assert told["results"] == whole["results"][: len(told["results"])]
        assert told.get("budget_truncated", False) == (len(told["results"]) < len(whole["results"]))
        volume = sum(
            math.ceil(len(text) / 4)
            for each in told["results"]
            for text in (each["text"], *(beside["text"] for beside in each.get("neighbors", ())))
        )
        assert volume <= budget or budget == 0
        assert told.get("confidence") == whole.get("confidence")


def test_fewer_results_are_a_prefix_of_more(world):
    whole = ask(world, k=50)["results"]
    assert [ask(world, k=k)["results"] for k in range(1, 10)] == [whole[:k] for k in range(1, 10)]


def test_equal_pages_are_ordered_by_path_and_section(world):
    same = page("Twin", "twins twins")
    world.write({f"memory/sales/{name}.md": same for name in ("c", "a", "b")})
    assert paths(ask(world, "twins twins", k=3)) == [f"memory/sales/{name}.md" for name in ("a", "b", "c")]


# --- the legs against textbooks -------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path):
    """Return a brain of 240 pages in two departments, and the view that Sam has of it."""
    world = World(tmp_path)
    draw = random.Random(7)
    vocabulary = [f"w{n}" for n in range(60)]
    world.write(
        {
            f"memory/{draw.choice(['sales', 'legal'])}/p{n}.md": page(
                " ".join(draw.choices(vocabulary, k=2)), " ".join(draw.choices(vocabulary, k=draw.randint(5, 60)))
            )
            for n in range(240)
        }
    )
    index = world.brain.index
    yield index, index.view(Admission(scope=scope_of(ORG, SAM), day=TODAY))
    world.close()


def test_the_lexical_scores_are_bm25_of_the_visible_chunks(library):
    index, view = library
    terms = ["w1", "w20", "nothing", "w33"]
    kept = index.rows(view.chunks.tolist())
    documents = []
    for number in view.chunks:
        row = kept[number]
        (context,) = index._select(
            "SELECT context FROM passage p JOIN chunk c ON c.passage = p.id WHERE c.id = ?", [int(number)]
        )
        documents.append([words(row["title"]), words(context[0]), words(row["text"])])
    count, lengths = len(documents), [sum(map(len, document)) for document in documents]
    expected = []
    for document, length in zip(documents, lengths, strict=True):
        score = 0.0
        for term in terms:
            having = sum(any(term in part for part in other) for other in documents)
            often = sum(weight * part.count(term) for weight, part in zip((3, 2, 1), document, strict=True))
            idf = math.log(1 + (count - having + 0.5) / (having + 0.5))
            score += idf * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * length / (sum(lengths) / count)))
        expected.append(score)
    assert legs.lexical(index, view, terms).scores.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_vector_leg_is_exact_whichever_way_it_multiplies(library, monkeypatch, share):
    index, view = library
    monkeypatch.setattr(legs, "_GATHERED", share)
    query = index.embedder.embed(["w1 w20 w33"])[0]
    vectors = view.snapshot.vectors[view.passages()].astype(float)
    exact = (vectors @ query.astype(float)).round(6)
    places = [view.place(at) for at in range(len(exact))]
    expected = sorted(range(len(exact)), key=lambda at: (-exact[at], places[at]))[: fusion.LEG_DEPTH]
    assert legs.nearest(view, query).tolist() == expected


def test_links_are_resolved_and_counted_among_the_visible_pages_alone(tmp_path):
    world = World(tmp_path)
    world.write(
        {
            "memory/sales/goal.md": page("Goal", "the goal", aliases="[Target]"),
            "memory/sales/a.md": page("A", "[[Goal]] and [[goal|again]]"),
            "memory/sales/b.md": page("B", "[[Target]]"),
            "memory/sales/c.md": page("C", "[[sales/goal.md]] [[Elsewhere]]"),
            "memory/legal/d.md": page("D", "[[Goal]]"),
            "memory/legal/goal.md": page("Target", "a hidden page of the same name"),
        }
    )
    index = world.brain.index
    found = {}
    for caller in (OWNER, SAM):
        view = index.view(Admission(scope=scope_of(ORG, caller), day=TODAY))
        numbers = {view.snapshot.rel_paths[each]: int(each) for each in np.flatnonzero(view.versions)}
        linking = legs.linking_to(index, view, sorted(numbers.values()))
        found[caller] = {
            path: sorted(view.snapshot.rel_paths[each][-4] for each in linking[number])
            for path, number in numbers.items()
            if linking[number]
        }
    assert found == {
        OWNER: {"memory/sales/goal.md": ["a", "c", "d"], "memory/legal/goal.md": ["b"]},
        SAM: {"memory/sales/goal.md": ["a", "b", "c"]},
    }
    world.close()


def test_only_the_longer_of_two_names_is_mentioned(tmp_path):
    world = World(tmp_path)
    world.write(
        {
            "memory/entities/clients/north.md": page("North", "x"),
            "memory/entities/clients/north-star.md": page("North Star", "x"),
            "memory/entities/clients/star.md": page("Étoile", "x", aliases="[Star]"),
        }
    )
    view = world.brain.index.view(Admission(scope=scope_of(ORG, OWNER), day=TODAY))

    def named(query):
        return [
            view.snapshot.rel_paths[n][24:-3] for n in legs.mentions(world.brain.index, view, words(query)).versions
        ]

    assert named("what of the North-Star?") == ["north-star"]
    assert named("north star north etoile") == ["north-star", "north", "star"]
    assert legs.mentions(world.brain.index, view, words("what of the Étoile")).words == {"etoile"}
    world.close()


def test_a_ranking_says_what_a_reader_of_the_file_needs(world):
    ranking = search(world.brain.index, "licences activated", Admission(scope=scope_of(ORG, OWNER), day=TODAY))
    hit = ranking.hits[0]
    lines = COMPANY[hit.rel_path].split("\n")
    assert "\n".join(lines[hit.start_line - 1 : hit.end_line]) == hit.text
    assert (hit.known_at, hit.type, ranking.confidence) == ("2026-01-01T09:00:00Z", "rule", "normal")
