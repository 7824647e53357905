"""Importing pages: from a folder, from its git history, again and again; and exporting them."""

import json
import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cli
from falsify.brain.events import PageMoved, PageRecorded, PageRemoved
from falsify.brain.importing import Moved, Origin, Removed, Written, batches, decide
from falsify.brain.library import Library, as_of, current, evolve
from falsify.clock import SteppingClock
from falsify.errors import ForbiddenError, InvalidInputError, NotFoundError, RefusedError, UnavailableError
from projections.pages import past
from surfaces.brain import Brain
from surfaces.pages import transfer as page_transfer
from surfaces.pages.transfer import export_folder, import_folder
from surfaces.workspace import Workspace

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

MONDAY, TUESDAY, WEDNESDAY, THURSDAY = (f"2024-01-0{day}T12:00:00Z" for day in (1, 2, 3, 4))


def seconds(moment):
    return int(datetime.fromisoformat(moment).timestamp())


class Work:
    """A workspace with a brain, a folder of pages beside it, and git in the folder where a test wants it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "vault"
        self.folder.mkdir(parents=True)
        start = seconds("2026-06-01T00:00:00Z") * 1_000_000
        self.workspace = Workspace.init(root / "work", clock=SteppingClock(start))
        self.brain = Brain(self.workspace)

    def write(self, path, text, at=""):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        if at or not (self.folder / ".git").exists():  # git takes a file of the same size and date for the same
            os.utime(file, (seconds(at or MONDAY), seconds(at or MONDAY)))

    def load(self, **options):
        return import_folder(self.brain, self.folder, caller="owner", **options)

    def counts(self, **options):
        told = self.load(**options)
        return tuple(told[name] for name in ("recorded", "moved", "removed"))

    def pages(self, moment=None):
        library = self.brain.library
        found = current(library) if moment is None else as_of(library, moment)
        return {version.rel_path.removeprefix("memory/"): version.text for version in found}

    def events(self):
        return [record.event for record in self.brain.log.read(stream="brain")]

    def git(self, *words, at=MONDAY, by="Ada"):
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in
               (("NAME", by), ("EMAIL", f"{by.lower()}@example.org"), ("DATE", at))}  # fmt: skip
        done = subprocess.run(
            ["git", "-C", str(self.folder), "-c", "init.defaultBranch=main", *words],
            env={**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, message, at=MONDAY, **options):
        self.git("add", "-A", at=at, **options)
        self.git("commit", "-q", "--allow-empty", "-m", message, at=at, **options)
        return self.git("rev-parse", "HEAD")

    def written_here(self, rel_path, text):
        event = PageRecorded(
            rel_path=rel_path, text=text, known_at=self.brain.now, author="person:ada", commit="", message=""
        )
        self.brain.perform(lambda _: [event], lambda _: b"{}", tool="test", caller="owner", body=text.encode())


@pytest.fixture
def work(tmp_path):
    made = Work(tmp_path)
    yield made
    made.workspace.close()


@pytest.fixture
def repository(work):
    work.git("init", "-q")
    return work


# --- a folder --------------------------------------------------------------------------------------------------


def test_a_vault_is_imported_below_memory_as_it_is(work):
    work.write("Home.md", "# Home\n", MONDAY)
    work.write("sales/Deal one.md", "---\ntitle: One\n---\n\r\nx", TUESDAY)
    work.write("empty.md", "", TUESDAY)
    for passed_over in (".obsidian/app.md", ".trash/gone.md", "sales/.hidden.md", "picture.png", "personal/diary.md"):
        work.write(passed_over, "x")
    work.write("sales/Personal/more.md", "x")
    told = work.load()
    assert work.events() == [
        PageRecorded(rel_path=path, text=text, known_at=at, author="", commit="", message="")
        for path, text, at in (
            ("memory/Home.md", "# Home\n", MONDAY),
            ("memory/empty.md", "", TUESDAY),
            ("memory/sales/Deal one.md", "---\ntitle: One\n---\n\r\nx", TUESDAY),
        )
    ]
    assert told == {
        "ok": True,
        "folder": str(work.folder),
        "dry_run": False,
        "files": 3,
        "history": False,
        "shallow": False,
        "recorded": 3,
        "moved": 0,
        "removed": 0,
        "unchanged": 0,
        "faults": [],
        "faults_in_history": [],
        "behind": [],
        "only_here": [],
        "cycles": [],
        "twins": [],
        "personal": 2,
        "passed_over": 1,
        "org": None,
    }


def test_of_a_folder_with_a_memory_only_that_is_imported(work):
    work.write("memory/a.md", "a")
    work.write("README.md", "not a page")
    work.load()
    assert work.pages() == {"a.md": "a"}


def test_an_import_records_only_what_is_new(work):
    work.write("a.md", "a")
    work.write("b.md", "b")
    work.write("c.md", "c")
    assert work.counts() == (3, 0, 0)
    assert work.counts() == (0, 0, 0)
    work.write("a.md", "a again", TUESDAY)
    (work.folder / "b.md").unlink()
    (work.folder / "c.md").rename(work.folder / "d.md")
    assert work.counts() == (1, 1, 1)
    assert work.counts() == (0, 0, 0)
    moved, written, removed = work.events()[3:]
    assert [type(moved), type(written), type(removed)] == [PageMoved, PageRecorded, PageRemoved]
    assert (moved.rel_path, moved.was, removed.rel_path) == ("memory/d.md", "memory/c.md", "memory/b.md")
    assert work.pages() == {"a.md": "a again", "d.md": "c"}
    assert work.pages(MONDAY) == {"a.md": "a", "b.md": "b", "c.md": "c"}


def test_a_file_that_goes_back_to_what_it_was_is_recorded_again(work):
    for text in ("x", "y", "x"):
        work.write("a.md", text)
        assert work.counts() == (1, 0, 0)
    assert work.pages() == {"a.md": "x"}


def test_a_file_dated_in_the_future_is_known_from_now(work):
    work.write("a.md", "a", "2031-01-01T00:00:00Z")
    work.load()
    (event,) = work.events()
    assert "2026-06-01T00:00:00Z" <= event.known_at < "2026-06-02"


def test_a_dry_run_says_what_would_follow_and_appends_nothing(work):
    work.write("a.md", "a")
    assert work.counts(dry_run=True) == (1, 0, 0)
    assert work.events() == []
    assert work.counts() == (1, 0, 0)


def test_what_was_written_here_meanwhile_is_neither_undone_nor_removed(work):
    work.write("a.md", "a")
    work.load()
    work.written_here("memory/a.md", "a, corrected")
    work.written_here("memory/lesson.md", "learnt")
    told = work.load()
    assert (told["behind"], told["only_here"]) == (["memory/a.md"], ["memory/lesson.md"])
    assert work.pages() == {"a.md": "a, corrected", "lesson.md": "learnt"}
    work.write("a.md", "a, edited")
    assert work.counts() == (1, 0, 0)
    assert work.counts(prune=True) == (0, 0, 1)
    assert work.pages() == {"a.md": "a, edited"}


def test_a_folder_without_most_of_the_pages_is_refused_but_by_force(work):
    for number in range(8):
        work.write(f"{number}.md", str(number))
    work.load()
    for number in range(1, 8):
        (work.folder / f"{number}.md").unlink()
    with pytest.raises(RefusedError, match="7 of 8 pages"):
        work.load()
    assert len(work.pages()) == 8
    assert work.counts(prune=True) == (0, 0, 7)


def test_only_the_owner_imports_and_exports(work):
    for act in (import_folder, export_folder):
        with pytest.raises(ForbiddenError, match="only the owner"):
            act(work.brain, work.folder, caller="agent:scribe")


def test_what_is_no_folder_is_refused(work):
    work.write("a.md", "a")
    with pytest.raises(NotFoundError):
        import_folder(work.brain, work.folder / "nowhere", caller="owner")
    with pytest.raises(InvalidInputError):
        import_folder(work.brain, work.folder / "a.md", caller="owner")


def test_pages_that_differ_only_in_case_are_reported(work):
    work.write("Plan.md", "one")
    work.write("plan.md", "two")
    if len(list(work.folder.iterdir())) < 2:
        pytest.skip("here they are one file")
    assert work.load()["twins"] == [["memory/Plan.md", "memory/plan.md"]]
    assert len(work.pages()) == 2


def test_the_org_map_is_accepted_once_and_is_no_page(work):
    work.write("org.yaml", "owner: ada\ndepartments:\n  - {slug: sales, name: Sales}\n"
               "people:\n  - {slug: ada, name: Ada, departments: [sales]}\n")  # fmt: skip
    work.write("sales/a.md", "a")
    first, second = work.load(), work.load()
    assert [told["org"]["accepted"] for told in (first, second)] == [True, False]
    assert work.brain.library.org.owner == "ada"
    assert work.pages() == {"sales/a.md": "a"}


def test_an_org_map_that_is_wrong_is_reported_and_the_pages_are_imported(work):
    work.write("org.yaml", "owner: nobody\n")
    work.write("a.md", "a")
    told = work.load()
    assert (told["ok"], "error" in told["org"]) == (False, True)
    assert work.pages() == {"a.md": "a"}


# --- a history -------------------------------------------------------------------------------------------------


@needs_git
def test_each_commit_is_recorded_with_its_date_author_and_message(repository):
    repository.write("a.md", "# A\none\ntwo\nthree\n")
    repository.write("b.md", "b")
    first = repository.commit("Begin\n\nwith more to say", MONDAY)
    repository.git("mv", "a.md", "c.md")
    repository.write("c.md", "# A\none\ntwo\nthree\nfour\n")
    second = repository.commit("Move and edit", TUESDAY, by="Grace")
    repository.git("rm", "-q", "b.md")
    third = repository.commit("Drop", WEDNESDAY)
    assert repository.counts() == (3, 1, 1)
    ada, grace = "Ada <ada@example.org>", "Grace <grace@example.org>"
    begun = {"known_at": MONDAY, "author": ada, "commit": first, "message": "Begin"}
    edited = {"known_at": TUESDAY, "author": grace, "commit": second}
    dropped = {"known_at": WEDNESDAY, "author": ada, "commit": third}
    four = "# A\none\ntwo\nthree\nfour\n"
    assert repository.events() == [
        PageRecorded(rel_path="memory/a.md", text="# A\none\ntwo\nthree\n", **begun),
        PageRecorded(rel_path="memory/b.md", text="b", **begun),
        PageMoved(rel_path="memory/c.md", was="memory/a.md", **edited),
        PageRecorded(rel_path="memory/c.md", text=four, message="Move and edit", **edited),
        PageRemoved(rel_path="memory/b.md", **dropped),
    ]
    assert repository.counts() == (0, 0, 0)
    assert repository.pages(MONDAY) == {"a.md": "# A\none\ntwo\nthree\n", "b.md": "b"}
    assert repository.pages(TUESDAY) == {"b.md": "b", "c.md": four}
    assert [v.rel_path for v in past(repository.brain.library, "memory/c.md")][:2] == ["memory/a.md", "memory/c.md"]


@needs_git
def test_what_is_not_committed_comes_last_and_its_commit_is_known_later(repository):
    repository.write("a.md", "a")
    repository.commit("Begin", MONDAY)
    repository.write("a.md", "a, edited", TUESDAY)
    repository.write("new.md", "new", WEDNESDAY)
    assert repository.counts() == (3, 0, 0)
    assert [(e.known_at, e.commit != "") for e in repository.events()] == [
        (MONDAY, True),
        (TUESDAY, False),
        (WEDNESDAY, False),
    ]
    repository.commit("Edit", THURSDAY)
    assert repository.counts() == (2, 0, 0)
    assert repository.counts() == (0, 0, 0)
    assert repository.pages() == {"a.md": "a, edited", "new.md": "new"}


@needs_git
def test_a_history_read_after_the_files_fills_in_the_past(repository):
    repository.write("a.md", "one")
    repository.commit("One", MONDAY)
    repository.git("mv", "a.md", "b.md")
    repository.commit("Move", TUESDAY)
    repository.write("b.md", "two", THURSDAY)
    repository.commit("Two", WEDNESDAY)
    assert repository.counts(history=False) == (1, 0, 0)
    repository.load()
    told = [repository.pages(moment) for moment in (MONDAY, TUESDAY, WEDNESDAY, None)]
    assert told == [{"a.md": "one"}, {"b.md": "one"}, {"b.md": "two"}, {"b.md": "two"}]
    assert repository.counts() == (0, 0, 0)


@needs_git
def test_branches_are_read_by_date_and_a_merge_says_what_came_of_them(repository):
    repository.write("a.md", "base")
    repository.write("b.md", "base")
    repository.write("c.md", "base")
    repository.commit("Base", MONDAY)
    repository.git("checkout", "-q", "-b", "side")
    repository.write("a.md", "side")
    repository.write("b.md", "side")
    repository.write("d.md", "side")
    repository.commit("Side", TUESDAY)
    repository.git("checkout", "-q", "main")
    repository.write("a.md", "main")
    repository.git("rm", "-q", "c.md")
    repository.commit("Main", WEDNESDAY)
    repository.git("merge", "-q", "-s", "ours", "--no-commit", "side", at=THURSDAY)
    repository.write("d.md", "merged")
    merge = repository.commit("Merge", THURSDAY)
    repository.load()
    told = [repository.pages(moment) for moment in (TUESDAY, WEDNESDAY, THURSDAY)]
    assert told == [
        {"a.md": "side", "b.md": "side", "c.md": "base", "d.md": "side"},
        {"a.md": "main", "b.md": "side", "d.md": "side"},
        {"a.md": "main", "b.md": "base", "d.md": "merged"},
    ]
    assert {e.rel_path for e in repository.events() if e.commit == merge} == {"memory/b.md", "memory/d.md"}
    assert repository.counts() == (0, 0, 0)


@needs_git
def test_of_a_page_the_dates_never_run_backwards_nor_beyond_now(repository):
    for text, at in (("one", TUESDAY), ("two", MONDAY), ("three", "2035-01-01T00:00:00Z"), ("four", WEDNESDAY)):
        repository.write("a.md", text)
        repository.commit(text, at)
    repository.load()
    dates = [event.known_at for event in repository.events()]
    assert dates[:2] == [TUESDAY, TUESDAY]
    assert dates[2:] == [dates[2]] * 2
    assert dates[2].startswith("2026-06-01")
    assert repository.pages() == {"a.md": "four"}
    assert repository.counts() == (0, 0, 0)


@needs_git
def test_a_folder_within_a_repository_has_the_history_of_that_folder(repository):
    repository.write("code.md", "not a page of the folder")
    repository.write("docs/a.md", "a")
    repository.write("ignored/x.md", "x")
    repository.write(".gitignore", "ignored/\ndocs/scratch.md\n")
    repository.commit("Begin", MONDAY)
    repository.write("docs/scratch.md", "ignored")
    repository.write("code.md", "changed")
    repository.commit("Elsewhere", TUESDAY)
    repository.git("mv", "code.md", "docs/code.md")
    repository.commit("Into the folder", WEDNESDAY)
    whole, repository.folder = repository.folder, repository.folder / "docs"
    assert repository.counts() == (2, 0, 0)
    assert [(e.rel_path, e.known_at) for e in repository.events()] == [
        ("memory/a.md", MONDAY),
        ("memory/code.md", WEDNESDAY),
    ]
    repository.folder = whole / "ignored"
    told = import_folder(Brain(Workspace.init(repository.root / "other")), repository.folder, caller="owner")
    assert (told["history"], told["recorded"]) == (False, 1)


@needs_git
def test_bad_versions_in_the_history_are_counted_and_the_good_ones_are_recorded(repository):
    for text in ("good", b"\xff\xfe\x00", "---\nquotable: maybe\n---\n", "better"):
        repository.write("a.md", text)
        repository.commit("Commit", MONDAY)
    repository.write("b.md", "---\ndate: soon\n---\n")
    repository.commit("Bad", TUESDAY)
    told = repository.load()
    assert [fault["message"] for fault in told["faults"]] == ["memory/b.md:2: date is 'soon'"]
    assert [fault["line"] for fault in told["faults_in_history"]] == [1, 2]
    assert repository.pages() == {"a.md": "better"}
    assert repository.counts() == (0, 0, 0)


@needs_git
def test_a_page_renamed_into_a_bad_one_keeps_what_it_last_said(repository):
    good = "one\ntwo\nthree\nfour\nfive\n"
    repository.write("a.md", good)
    repository.commit("Good", MONDAY)
    repository.git("mv", "a.md", "b.md")
    repository.write("b.md", "---\n" + good)
    repository.commit("Bad", TUESDAY)
    told = repository.load()
    assert [fault["path"] for fault in told["faults"]] == ["memory/b.md"]
    assert repository.pages() == {"b.md": good}
    assert repository.counts() == (0, 0, 0)


@needs_git
def test_links_to_files_and_moves_to_where_no_page_is_are_removals(repository):
    repository.write("a.md", "the text of a page, long enough to be known again\n")
    repository.write("b.md", "b")
    repository.commit("Begin", MONDAY)
    (repository.folder / "personal").mkdir()
    repository.git("mv", "a.md", "personal/a.md")
    (repository.folder / "b.md").unlink()
    (repository.folder / "b.md").symlink_to("/etc/hostname")
    repository.commit("Hide", TUESDAY)
    told = repository.load()
    assert (told["recorded"], told["moved"], told["removed"], told["personal"]) == (2, 0, 2, 1)
    assert [fault["path"] for fault in told["faults"]] == ["memory/b.md"]
    assert repository.pages() == {}
    assert repository.counts() == (0, 0, 0)


@needs_git
def test_names_with_quotes_spaces_accents_and_line_ends_are_read_as_they_are(repository):
    for name in ('say "hi".md', " spaced .md", "caf\u00e9.md", "cafe\u0301 two.md", "line\nend.md"):
        repository.write(name, name)
    repository.commit('Odd "names"\n', MONDAY, by='Ada "the" first')
    told = repository.load()
    assert sorted(repository.pages()) == [" spaced .md", "caf\u00e9 two.md", "caf\u00e9.md", 'say "hi".md']
    assert [fault["message"] for fault in told["faults"]] == ["line\nend.md:1: this path cannot be that of a page"]
    assert repository.counts() == (0, 0, 0)


@needs_git
def test_a_repository_without_commits_is_a_folder(repository):
    repository.write("a.md", "a")
    told = repository.load()
    assert (told["history"], told["recorded"]) == (False, 1)


@needs_git
def test_a_program_named_in_the_repository_is_not_run(repository, tmp_path):
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    repository.write("a.md", "a")
    repository.commit("Begin")
    for key in ("core.fsmonitor", "diff.external", "core.pager", "diff.x.textconv"):
        repository.git("config", key, str(trap))
    repository.write("new.md", "new")
    assert repository.counts() == (2, 0, 0)
    assert not (tmp_path / "sprung").exists()


@needs_git
def test_a_repository_that_lacks_what_it_should_have_is_refused_and_its_files_can_be_imported(repository):
    repository.write("a.md", "one")
    repository.commit("One")
    lost = repository.git("rev-parse", "HEAD:a.md")
    repository.write("a.md", "two, longer")
    repository.commit("Two")
    (repository.folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(UnavailableError, match="git does not have the contents") as told:
        repository.load()
    assert "--no-history" in told.value.hint
    assert repository.counts(history=False) == (1, 0, 0)


# --- what is decided -------------------------------------------------------------------------------------------


def fold(library, events):
    for event in events:
        position = library.revision + 1
        evolve(library, event, position, position)
    return library


def texts(library):
    return {version.rel_path: version.text for version in current(library)}


def test_a_move_of_what_is_not_as_it_was_becomes_a_record_and_a_removal():
    origin = Origin(TUESDAY, "Ada", "c2")
    known = fold(Library(), decide(Library(), [Written("memory/a.md", Origin(WEDNESDAY), "later")]))
    events = decide(known, [Moved("memory/b.md", origin, "memory/a.md", "then")])
    assert [type(event) for event in events] == [PageRecorded]
    assert texts(fold(known, events)) == {"memory/a.md": "later", "memory/b.md": "then"}


def test_batches_are_full_but_never_tear_apart_what_one_commit_did_to_a_page():
    origin = Origin(MONDAY, "Ada", "c1")
    one = (Written("memory/a.md", origin, "a"),)
    both = (Moved("memory/b.md", origin, "memory/a.md", "b"), Written("memory/b.md", origin, "b"))
    sizes = [len(batch) for batch in batches([one] * 499 + [both] + [one] * 497)]
    assert sizes == [499, 2 + 497]


PATHS = st.sampled_from(["memory/a.md", "memory/b.md", "memory/c.md"])
ORIGINS = st.builds(Origin, st.sampled_from([MONDAY, TUESDAY]), st.just("Ada"), st.sampled_from(["", "c1", "c2", "c3"]))
CHANGES = st.lists(
    st.builds(Written, PATHS, ORIGINS, st.sampled_from("xyz"))
    | st.builds(Moved, PATHS, ORIGINS, PATHS, st.sampled_from("xyz") | st.none()).filter(lambda m: m.was != m.rel_path)
    | st.builds(Removed, PATHS, ORIGINS),
    max_size=8,
)


@given(CHANGES, CHANGES)
def test_what_is_decided_can_always_be_folded_and_a_commit_is_never_recorded_twice(before, after):
    library = fold(Library(), decide(Library(), before))
    fold(library, decide(library, after))
    said = [change for change in (*before, *after) if getattr(change, "text", "") is not None]
    committed = [change for change in said if change.origin.commit]
    assert [e for e in decide(library, committed) if isinstance(e, PageRecorded | PageMoved)] == []


NAMES = st.sampled_from(["a.md", "b.md", "n/c.md", "n/d.md"])
STEPS = st.lists(
    st.tuples(st.just("write"), NAMES, st.sampled_from(["x", "y", "long enough to be known again\n" * 3]))
    | st.tuples(st.just("delete"), NAMES, st.just(""))
    | st.tuples(st.just("move"), NAMES, NAMES)
    | st.tuples(st.just("commit"), st.sampled_from([MONDAY, TUESDAY, WEDNESDAY]), st.just(""))
    | st.tuples(st.just("load"), st.just(""), st.just("")),
    max_size=12,
)


@needs_git
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_after_an_import_the_brain_has_what_the_folder_has_and_a_second_one_records_nothing(tmp_path_factory, steps):
    work = Work(tmp_path_factory.mktemp("lived"))
    work.git("init", "-q")
    for act, first, second in steps:
        file = work.folder / first
        if act == "write":
            work.write(first, second)
        elif act == "delete":
            file.unlink(missing_ok=True)
        elif act == "move" and file.exists():
            (work.folder / second).parent.mkdir(exist_ok=True)
            file.rename(work.folder / second)
        elif act == "commit":
            work.commit("A commit", first)
        elif act == "load":
            work.load()
    work.load()
    there = {p.relative_to(work.folder).as_posix(): p.read_text("utf-8") for p in work.folder.rglob("*.md")}
    assert work.pages() == there
    assert work.counts() == (0, 0, 0)
    work.workspace.close()


def test_an_import_that_was_interrupted_is_simply_begun_again(work, monkeypatch):
    monkeypatch.setattr("falsify.brain.importing.BATCH", 2)
    for name in "abcde":
        work.write(f"{name}.md", name)
    appended = []

    def failing(brain, *args, **more):
        if len(appended) == 2:
            raise KeyboardInterrupt
        appended.append(1)
        return perform(brain, *args, **more)

    perform = page_transfer.Brain.perform
    monkeypatch.setattr(page_transfer.Brain, "perform", failing)
    with pytest.raises(KeyboardInterrupt):
        work.load()
    assert len(work.pages()) == 4
    monkeypatch.setattr(page_transfer.Brain, "perform", perform)
    assert work.counts() == (1, 0, 0)


# --- exporting -------------------------------------------------------------------------------------------------


def test_an_export_has_every_page_word_for_word_and_importing_it_records_nothing(work, tmp_path):
    work.write("a.md", "a\r\nb\rc\n\n")
    work.write("sales/caf\u00e9.md", "\u00e9")
    work.write("utf16.md", "# Two\n".encode("utf-16"))
    work.write("marked.md", b"\xef\xbb\xbf# Three\n", TUESDAY)
    work.load()
    out = tmp_path / "out"
    told = export_folder(work.brain, out, caller="owner")
    assert (told["ok"], told["written"], told["org"]) == (True, 4, False)
    assert {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()} == {
        "memory/a.md": b"a\r\nb\rc\n\n",
        "memory/sales/caf\u00e9.md": b"\xc3\xa9",
        "memory/utf16.md": b"# Two\n",
        "memory/marked.md": b"# Three\n",
    }
    work.folder = out
    assert work.counts() == (0, 0, 0)
    with Workspace.init(tmp_path / "fresh") as fresh:
        brain = Brain(fresh)
        import_folder(brain, out, caller="owner")
        assert [(v.rel_path, v.text, v.known_at) for v in current(brain.library)] == [
            (v.rel_path, v.text, v.known_at) for v in current(work.brain.library)
        ]


def test_an_export_as_of_a_date_has_the_pages_of_that_date(work, tmp_path):
    work.write("a.md", "one", MONDAY)
    work.load()
    work.write("a.md", "two", WEDNESDAY)
    work.write("b.md", "b", WEDNESDAY)
    work.load()
    export_folder(work.brain, tmp_path / "out", caller="owner", known_at=TUESDAY)
    assert [p.read_text("utf-8") for p in (tmp_path / "out").rglob("*.md")] == ["one"]


def test_an_export_has_the_org_map_which_is_known_when_it_comes_back(work, tmp_path):
    work.write("org.yaml", "owner: ada\ndepartments:\n  - {slug: sales, name: Sales}\n"
               "people:\n  - {slug: ada, name: Ada, departments: [sales]}\n")  # fmt: skip
    work.write("a.md", "a")
    work.load()
    assert export_folder(work.brain, tmp_path / "out", caller="owner")["org"] is True
    work.folder = tmp_path / "out"
    before = work.events()
    told = work.load()
    assert (told["org"]["accepted"], work.events()) == (False, before)


def test_a_folder_that_is_not_empty_is_written_to_only_by_force(work, tmp_path):
    work.write("a.md", "a")
    work.load()
    out = tmp_path / "out"
    (out / "memory").mkdir(parents=True)
    (out / "memory" / "a.md").write_text("old", encoding="utf-8")
    with pytest.raises(RefusedError, match="not empty"):
        export_folder(work.brain, out, caller="owner")
    export_folder(work.brain, out, caller="owner", force=True)
    assert [p.name for p in (out / "memory").iterdir()] == ["a.md"]
    assert (out / "memory" / "a.md").read_text("utf-8") == "a"


def test_an_export_does_not_write_through_links_out_of_its_folder(work, tmp_path):
    work.write("sales/a.md", "a")
    work.load()
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    (out / "memory").mkdir(parents=True)
    elsewhere.mkdir()
    (out / "memory" / "sales").symlink_to(elsewhere)
    told = export_folder(work.brain, out, caller="owner", force=True)
    assert [fault["path"] for fault in told["faults"]] == ["memory/sales/a.md"]
    assert list(elsewhere.iterdir()) == []


# --- the commands ----------------------------------------------------------------------------------------------


@pytest.fixture
def falsify(work, capfd):
    def run(*words):
        code = cli.run(["-w", str(work.root / "work"), "brain", *map(str, words)])
        return code, capfd.readouterr().out

    return run


def test_pages_are_imported_listed_shown_and_exported_from_the_command_line(work, falsify, tmp_path):
    work.write("sales/deal.md", "---\ntitle: The deal\ntype: decision\nlifecycle_status: draft\n---\n\nSold.\n")
    work.write("bad.md", "---\ndate: soon\n---\n")
    code, out = falsify("import", work.folder)
    assert (code, out.splitlines()[1]) == (2, "not recorded: memory/bad.md:2: date is 'soon'")
    assert falsify("list") == (0, "memory/sales/deal.md  2024-01-01  decision  The deal (draft)\n")
    assert falsify("list", "memory/other/") == (0, "no pages\n")
    assert falsify("show", "the deal")[1].endswith("---\n\nSold.\n")
    assert falsify("show", "deal", "--history") == (0, "2024-01-01T12:00:00Z  -  -  recorded\n")
    assert falsify("show", "deal", "--as-of", "2023-12-31")[0] == NotFoundError.exit_code
    assert falsify("export", tmp_path / "out") == (0, f"wrote 1 file to {tmp_path / 'out'}\n")


def test_an_import_indexes_the_pages_for_search_unless_it_is_told_not_to(work, falsify):
    work.write("a.md", "# A\n")
    index = work.root / "work" / ".falsify" / "search.sqlite"
    assert (falsify("import", work.folder, "--no-index")[0], index.exists()) == (0, False)
    assert (falsify("import", work.folder, "--dry-run")[0], index.exists()) == (0, False)
    assert falsify("import", work.folder)[0] == 0
    assert Brain(work.workspace).build_index() == 0  # nothing was left to embed
    assert index.exists()


def test_what_was_imported_stands_where_it_cannot_be_indexed(work, capfd):
    (work.root / "work" / ".falsify" / "search.sqlite").mkdir()
    work.write("a.md", "# A\n")
    code = cli.run(["-w", str(work.root / "work"), "brain", "import", str(work.folder)])
    out, err = capfd.readouterr()
    assert (code, out.split(": ")[1], err.split(":")[0]) == (
        0, "1 recorded, 0 moved, 0 removed (1 file)\n", "not indexed for search",
    )  # fmt: skip


@pytest.mark.parametrize(("files", "said"), [(1, "1 that is no markdown"), (2, "2 that are no markdown")])
def test_files_that_are_no_markdown_are_counted(work, falsify, files, said):
    for number in range(files):
        work.write(f"picture{number}.png", "x")
    assert falsify("import", work.folder, "--no-index")[1].splitlines()[-1] == f"passed over: {said}"


def test_a_workspace_keeps_the_search_index_out_of_git(work):
    assert "search.*" in (work.root / "work" / ".falsify" / ".gitignore").read_text().splitlines()


def test_under_json_a_command_prints_one_document(work, falsify):
    work.write("a.md", "# A\n")
    code, out = falsify("import", work.folder, "--json")
    assert (code, json.loads(out)["recorded"]) == (0, 1)
    row = {
        "rel_path": "memory/a.md",
        "title": "A",
        "type": "page",
        "department": "general",
        "lifecycle_status": "active",
        "updated": "2024-01-01",
        "author": "",
    }
    assert json.loads(falsify("list", "--json")[1]) == [row]
    assert json.loads(falsify("show", "a", "--json")[1]) == {**row, "text": "# A\n"}


def test_who_may_not_see_a_page_is_told_what_is_told_of_one_that_is_not_there(work, falsify, monkeypatch):
    work.write("a.md", "# A\n")
    falsify("import", work.folder)
    monkeypatch.setenv("FALSIFY_ACTOR", "agent:stranger")
    assert falsify("list") == (0, "no pages\n")
    assert (
        falsify("show", "memory/a.md", "--json")[1].replace("/a.md", "/b.md")
        == falsify("show", "memory/b.md", "--json")[1]
    )
    assert falsify("import", work.folder)[0] == ForbiddenError.exit_code
