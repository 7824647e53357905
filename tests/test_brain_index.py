"""The search index: it equals its rebuild, survives a kill at any step, and embeds a text once."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from falsify.brain.events import OrgAccepted, TraceLogged
from falsify.brain.org import Department, Org
from falsify.brain.page import read_page
from falsify.brain.scope import Scope, scope_of
from falsify.errors import UnavailableError
from projections.search.chunks import LONGEST, chunks
from projections.search.index import SearchIndex
from projections.search.view import Admission
from surfaces.health import verify
from tests.mirror_world import HashEmbedder, OtherEmbedder
from tests.search_world import COMPANY, ORG, OWNER, TODAY, World, company, everything, page

ROOT = Path(__file__).parent.parent


@pytest.fixture
def world(tmp_path):
    made = company(tmp_path)
    yield made
    made.close()


def fresh(world: World, embedder=None) -> SearchIndex:
    """Return another index of the same brain, made at one go."""
    index = SearchIndex(world.root / "other.sqlite", embedder or HashEmbedder())
    index.rebuild(world.brain.library, world.brain.position)
    return index


def rows(index: SearchIndex, columns: str) -> list[tuple[object, ...]]:
    return index._select(f"SELECT {columns} FROM version ORDER BY rel_path, known_from", ())  # noqa: S608  # our own columns


# --- the log decides all of it --------------------------------------------------------------------------------


def history(world: World, seed: int) -> None:
    """Write, rewrite, move and remove pages at random, some of them in the past, and index now and then."""
    draw = random.Random(seed)
    words = ["refund", "price", "budget", "plan", "trial", "client", "invoice", "lawsuit"]
    for step in range(30):
        on = f"2026-{draw.randint(1, 5):02}-{draw.randint(1, 28):02}"
        there = [v[-1].rel_path for v in world.brain.library.pages.values() if v[-1].text is not None]
        match draw.randint(0, 9):
            case 0 if there:
                world.remove(draw.choice(there), on=on)
            case 1 if there:
                world.move(draw.choice(there), f"memory/sales/moved-{step}.md", on=on)
            case 2:
                slugs = draw.sample(["sales", "finance", "legal", "shop"], 3)
                org = Org(departments=tuple(Department(slug=each, name=each) for each in slugs))
                world.append(OrgAccepted(org=org.as_json(), source=""))
            case 3:
                world.write({f"memory/shop/bad-{step}.md": "---\ntitle: [\n---\nno page at all"}, on=on)
            case _:
                body = "\n\n".join(f"## {w}\n\n{' '.join(draw.choices(words, k=6))}" for w in draw.sample(words, 3))
                name = f"memory/{draw.choice(['sales', 'shop', 'legal'])}/p{draw.randint(0, 6)}.md"
                world.write({name: page(draw.choice(words), body + f"\n\n[[{draw.choice(words)}]]")}, on=on)
        if draw.random() < 0.4:
            everything(world)


@pytest.mark.parametrize("seed", range(6))
def test_an_index_that_grew_equals_one_that_was_rebuilt(tmp_path, seed):
    world = World(tmp_path)
    history(world, seed)
    assert everything(world) == fresh(world).contents()
    world.close()


@pytest.fixture(scope="module")
def long_log(tmp_path_factory):
    """Return a brain of 450 pages, of which nothing is indexed, and what its index has to be."""
    world = World(tmp_path_factory.mktemp("long"))
    world.write({f"memory/sales/p{n}.md": page(f"Page {n}", f"Text {n} of {n % 7}.") for n in range(450)})
    whole = fresh(world).contents()
    world.close()
    return world.root, whole


def forget(root: Path) -> None:
    """Delete the index, as a user may."""
    for found in (root / ".falsify").glob("search.*"):
        found.unlink()


@pytest.mark.parametrize("steps", range(1, 6))
def test_an_index_whose_making_was_killed_is_finished_to_the_same_bytes(long_log, tmp_path, steps):
    root, whole = long_log
    forget(root)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.search_world", str(root)], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as child:
        told = [child.stdout.readline() for _ in range(steps)]
        child.kill()
    assert told[-1].split()[0] == ("pages" if steps <= 3 else "passages")
    world = World(root, org=None)
    assert everything(world) == whole
    world.close()


def test_two_processes_that_index_at_once_make_one_index(long_log):
    root, whole = long_log
    forget(root)
    command = [sys.executable, "-m", "tests.search_world", str(root)]
    children = [subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT) for _ in range(2)]
    assert [child.wait(timeout=120) for child in children] == [0, 0]
    world = World(root, org=None)
    assert everything(world) == whole
    world.close()


def test_versions_hold_until_the_next_one_even_when_they_arrive_late(world):
    world.write({"memory/holidays.md": page("Holidays", "May")}, on="2026-05-01")
    everything(world)
    world.write({"memory/holidays.md": page("Holidays", "March")}, on="2026-03-01")
    world.remove("memory/holidays.md", on="2026-05-20")
    found = [row[1:] for row in rows(world.brain.index, "rel_path, known_from, known_to") if "holidays" in row[0]]
    assert found == [
        ("2026-01-01T09:00:00Z", "2026-03-01T09:00:00Z"),
        ("2026-03-01T09:00:00Z", "2026-05-01T09:00:00Z"),
        ("2026-05-01T09:00:00Z", "2026-05-20T09:00:00Z"),
    ]


def test_a_moved_page_is_found_at_its_new_path_only(world):
    world.move("memory/holidays.md", "memory/sales/holidays.md", on="2026-02-01")
    admission = Admission(scope=scope_of(ORG, OWNER), day=TODAY)
    paths = {path for path, _ in world.brain.index.view(admission).paths()}
    assert paths == {*COMPANY, "memory/sales/holidays.md"} - {"memory/holidays.md"}


def test_a_page_that_names_no_department_moves_with_the_org_map(world):
    world.write({"memory/shop/till.md": page("Till", "The till is counted at night.")})
    everything(world)
    grown = Org(departments=(*ORG.departments, Department(slug="shop", name="Shop")))
    world.append(OrgAccepted(org=grown.as_json(), source=""))
    departments = dict(rows(world.brain.index, "rel_path, department"))
    assert departments["memory/shop/till.md"] == "shop"
    assert everything(world) == fresh(world).contents()


def test_what_is_no_page_for_searching_is_not_indexed(world):
    hidden = ("memory/traces/helper/1.md", "memory/personal/diary.md", "memory/org.yaml", "notes/plan.md")
    world.write({path: page("Secret", "refund") for path in hidden})
    world.write({"memory/broken.md": "---\nlifecycle_status: eternal\n---\nrefund"})
    assert [path for (path,) in rows(world.brain.index, "rel_path")] == sorted(COMPANY)


# --- texts and vectors ----------------------------------------------------------------------------------------


def test_an_unchanged_section_of_a_new_version_shares_text_and_vector(world):
    everything(world)
    before = len(world.workspace.embedder.embedded)
    changed = COMPANY["memory/sales/refunds.md"].replace("desk in Lyon", "desk in Paris")
    world.write({"memory/sales/refunds.md": changed}, on="2026-05-02")
    everything(world)
    assert [text.split("\n")[-1] for text in world.workspace.embedder.embedded[before:]] == [
        "Ask the refunds desk in Paris."
    ]


def test_another_embedder_makes_the_vectors_anew_and_nothing_else(world):
    first = everything(world)
    world.close()
    other = World(world.root, embedder=OtherEmbedder(), org=None)
    second = everything(other)
    assert {k: v for k, v in first.items() if k not in {"vectors", "checkpoint"}} == {
        k: v for k, v in second.items() if k not in {"vectors", "checkpoint"}
    }
    assert len(second["vectors"][0][0]) == len(first["vectors"][0][0]) // 2
    assert second == fresh(other, OtherEmbedder()).contents()
    other.close()


def test_vectors_that_were_lost_are_made_again(world):
    whole = everything(world)
    world.close()
    (world.root / ".falsify" / "search.vectors").unlink()
    again = World(world.root, org=None)
    assert everything(again) == whole
    again.close()


def test_a_reader_keeps_what_it_has_while_the_index_is_rebuilt(world):
    admission = Admission(scope=scope_of(ORG, OWNER), day=TODAY)
    view = world.brain.index.view(admission)
    kept = np.array(view.snapshot.vectors)
    world.brain.index.rebuild(world.brain.library, world.brain.position)
    assert (view.snapshot.vectors == kept).all()
    assert (world.brain.index.view(admission).snapshot.vectors == kept).all()


def test_an_index_ahead_of_its_log_is_told_by_verify_and_rebuilt(world, tmp_path):
    everything(world)
    restored = World(tmp_path / "restored")
    restored.write({"memory/zebra.md": page("Zebra", "The zebra is striped.")})
    for file in (world.root / ".falsify").glob("search.*"):
        shutil.copy(file, restored.root / ".falsify")
    with restored.workspace as workspace:
        faults = [fault for part in verify(workspace, with_mirror=False, anchor=None) for fault in part["faults"]]
        ends = (world.brain.position, restored.brain.log.head().position)
        assert faults == [f"the search index has read up to position {ends[0]}, and the log ends at {ends[1]}"]
        assert rows(restored.brain.index, "rel_path") == [("memory/zebra.md",)]


def test_a_file_that_is_no_index_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "search.sqlite").write_bytes(b"not a database at all" * 100)
    index = SearchIndex(tmp_path / "search.sqlite", HashEmbedder())
    with pytest.raises(UnavailableError) as refused:
        index.view(Admission(scope=scope_of(ORG, OWNER), day=TODAY))
    assert refused.value.hint == "it holds nothing of its own: delete the file and it is rebuilt from the log"


def test_what_others_write_to_the_log_leaves_the_index_as_it_is(world):
    admission = Admission(scope=scope_of(ORG, OWNER), day=TODAY)
    view = world.brain.index.view(admission)
    world.append(
        TraceLogged(
            rel_path="memory/traces/helper/1.md",
            agent="helper",
            status="success",
            duration_seconds=None,
            refs=(),
            content="{}",
            sealed=None,
        )
    )
    assert world.brain.index.view(admission) is view


# --- what a call sees -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "caller", ["owner", "person:sam", "person:fay", "agent:helper", "agent:clerk", "agent:teller", "x"]
)
@pytest.mark.parametrize("destination", ["cli", "mcp"])
def test_a_view_holds_exactly_the_pages_that_the_scope_sees(world, caller, destination):
    scope: Scope = scope_of(ORG, caller, destination=destination)
    seen = {
        path
        for path, text in COMPANY.items()
        if scope.sees(read_page(path, text, departments=[each.slug for each in ORG.departments]))
    }
    view = world.brain.index.view(Admission(scope=scope, day=TODAY))
    assert {path for path, _ in view.paths()} == seen


# --- chunks ---------------------------------------------------------------------------------------------------


def test_chunks_lie_in_the_file_where_they_say(world):
    text = page("Long", "\n\n".join(f"## Part {n}\n\n" + "\n".join(["word " * 30] * n) for n in range(1, 30)))
    lines = text.split("\n")
    for chunk in chunks(read_page("memory/long.md", text)):
        assert "\n".join(lines[chunk.start_line - 1 : chunk.end_line]) == chunk.text
        assert len(chunk.text) <= LONGEST


def test_a_line_that_is_too_long_is_cut_between_words_and_loses_none():
    words = [f"word{n}" for n in range(2_000)]
    found = chunks(read_page("memory/long.md", page("Long", " ".join(words))))
    assert " ".join(chunk.text for chunk in found if chunk.text.startswith("word")).split() == words
    assert max(len(chunk.text) for chunk in found) <= LONGEST


def test_a_page_without_text_is_found_by_what_it_says_of_itself():
    text = "---\ntitle: Empty\ndescription: Nothing yet\naliases: [Void]\n---\n\n# Empty\n"
    (chunk,) = chunks(read_page("memory/empty.md", text))
    assert (chunk.text, chunk.context) == ("Nothing yet", "Nothing yet\nVoid")
