"""Importing pages: from a folder, from its git history, again and again; and exporting them."""

import errno
import json
import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cli
from falsify.brain.events import PageMoved, PageRecorded, PageRemoved
from falsify.brain.importing import Moved, Origin, Removed, Written, batches, decide
from falsify.brain.library import Library, as_of, current, evolve
from falsify.brain.org import EMPTY
from falsify.clock import SteppingClock
from falsify.errors import ForbiddenError, InvalidInputError, NotFoundError, RefusedError, UnavailableError
from projections.pages import past
from surfaces.brain import Brain
from surfaces.pages import transfer as page_transfer
from surfaces.pages.transfer import export_folder, import_folder
from surfaces.workspace import Workspace

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

MONDAY, TUESDAY, WEDNESDAY, THURSDAY = (f"2024-01-0{day}T12:00:00Z" for day in (1, 2, 3, 4))


ORG = """owner: ada
departments:
  - {slug: sales, name: Sales}
people:
  - {slug: ada, name: Ada, departments: [sales]}
"""


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
        "history_unread": "",
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
        "templates": [],
        "beside": 0,
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


@pytest.mark.parametrize(("pages", "kept"), [(1, 0), (2, 0), (3, 1), (5, 0), (5, 2), (6, 2), (8, 1), (8, 3)])
def test_a_folder_without_most_of_the_pages_is_refused_but_by_force(work, pages, kept):
    for number in range(pages):
        work.write(f"{number}.md", str(number))
    work.load()
    for number in range(kept, pages):
        (work.folder / f"{number}.md").unlink()
    work.write("org.yaml", ORG)
    before = work.events()
    for dry_run in (True, False):
        with pytest.raises(RefusedError, match=f"^{pages - kept} of {pages} imported pages (is|are) not in") as refused:
            work.load(dry_run=dry_run)
        assert (refused.value.reason, refused.value.details) == (
            "many_removals", {"removed": pages - kept, "pages": pages},
        )  # fmt: skip
        assert "--prune" in refused.value.hint
    assert (work.events(), work.brain.library.org) == (before, EMPTY)
    assert work.counts(prune=True) == (0, 0, pages - kept)


@pytest.mark.parametrize(("pages", "kept"), [(2, 1), (3, 2), (4, 2), (10, 5)])
def test_a_folder_that_has_half_of_the_pages_is_imported(work, pages, kept):
    for number in range(pages):
        work.write(f"{number}.md", str(number))
    work.load()
    for number in range(kept, pages):
        (work.folder / f"{number}.md").unlink()
    assert work.counts() == (0, 0, pages - kept)


def test_a_refusal_names_some_of_the_pages_that_would_be_removed(work):
    for name in "abcde":
        work.write(f"{name}.md", name)
    work.load()
    for name in "abcde":
        (work.folder / f"{name}.md").unlink()
    with pytest.raises(RefusedError) as refused:
        work.load()
    assert refused.value.message == (
        "5 of 5 imported pages are not in this folder, and would be removed: "
        "memory/a.md, memory/b.md, memory/c.md and 2 more"
    )


def test_pages_that_were_written_here_do_not_hide_that_all_others_are_missing(work):
    work.write("a.md", "a")
    work.load()
    for name in "bcd":
        work.written_here(f"memory/{name}.md", name)
    (work.folder / "a.md").unlink()
    before = work.events()
    with pytest.raises(RefusedError, match="1 of 1 imported pages"):
        work.load()
    assert work.events() == before


def test_pages_of_which_nothing_can_be_read_do_not_count_as_missing(work):
    for name in "abc":
        work.write(f"{name}.md", name)
    work.load()
    for name in "abc":
        work.write(f"{name}.md", b"\xff")
    told = work.load()
    assert (len(told["faults"]), told["removed"], len(work.pages())) == (3, 0, 3)


def test_only_the_owner_imports_and_exports(work):
    for act in (import_folder, export_folder):
        with pytest.raises(ForbiddenError, match="only the owner"):
            act(work.brain, work.folder, caller="agent:scribe")


def test_what_is_no_folder_is_refused(work):
    work.write("a.md", "a")
    (work.folder / "loop").symlink_to("loop")
    for nowhere in ("nowhere", "a.md/nowhere", "x" * 300, "loop"):
        with pytest.raises(NotFoundError, match="there is no folder"):
            import_folder(work.brain, work.folder / nowhere, caller="owner")
    with pytest.raises(InvalidInputError):
        import_folder(work.brain, work.folder / "a.md", caller="owner")


@pytest.mark.parametrize("closed", ["the folder itself", "what is in it"])
def test_a_folder_that_may_not_be_read_is_not_taken_for_an_empty_one(work, monkeypatch, closed):
    work.write("a.md", "a")
    work.load()

    def denied(path, *args, **more):
        if Path(path) == work.folder / ("." if closed == "what is in it" else ""):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *args, **more)

    asked = "stat" if closed == "what is in it" else "scandir"
    real = getattr(os, asked)
    before = work.events()
    monkeypatch.setattr(os, asked, denied)
    with pytest.raises(UnavailableError, match="cannot be read: Permission denied"):
        work.load(prune=True)
    assert work.events() == before


def test_a_folder_that_goes_away_while_it_is_read_keeps_its_pages(work, monkeypatch):
    work.write("a.md", "a")
    work.load()

    def gone(path):
        asked.append(path)
        if len(asked) > 2:  # it was there when it was looked for
            raise OSError(errno.EIO, "Input/output error", str(path))
        return real(path)

    asked, real = [], os.scandir
    monkeypatch.setattr(os, "scandir", gone)  # which os.walk lists a folder by
    told = work.load(prune=True)
    assert ([fault["path"] for fault in told["faults"]], told["removed"]) == (["memory"], 0)


def test_markdown_beside_a_memory_is_counted(work):
    work.write("memory/a.md", "a")
    for beside in ("b.md", "notes/c.md", "notes/d.txt", ".hidden/e.md", "personal/f.md"):
        work.write(beside, "x")
    told = work.load()
    assert (told["files"], told["beside"], told["personal"], told["passed_over"]) == (1, 2, 0, 0)


def test_pages_that_differ_only_in_case_are_reported(work):
    work.write("Plan.md", "one")
    work.write("plan.md", "two")
    if len(list(work.folder.iterdir())) < 2:
        pytest.skip("here they are one file")
    assert work.load()["twins"] == [["memory/Plan.md", "memory/plan.md"]]
    assert len(work.pages()) == 2


def test_the_org_map_is_accepted_once_and_is_no_page(work):
    work.write("org.yaml", ORG)
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


# --- templates ------------------------------------------------------------------------------------------------

TEMPLATE = "---\ntitle: {{title}}\ndate: <% tp.date.now() %>\n---\n"
CORE, DAILY = ".obsidian/templates.json", ".obsidian/daily-notes.json"
TEMPLATER = ".obsidian/plugins/templater-obsidian/data.json"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({CORE: {"folder": "Templates"}}, "Templates"),
        ({CORE: {"folder": "Meta/My templates", "dateFormat": "YYYY"}}, "Meta/My templates"),
        ({CORE: {"folder": "/templates/"}}, "Templates"),
        ({CORE: {"folder": "Mod\u00e8les"}}, "Mode\u0300les"),
        ({TEMPLATER: {"templates_folder": "Templates", "command_timeout": 5}}, "Templates"),
        ({CORE: {"folder": ""}, TEMPLATER: {"templates_folder": "./Templates"}}, "Templates"),
        ({DAILY: {"template": "Templates/Daily.md"}, CORE: {"folder": "Templates/more"}}, "Templates"),
        ({DAILY: {"template": "Templates/Daily"}, CORE: {"folder": "Templates/more"}}, "Templates"),
    ],
)
def test_what_lies_in_the_template_folder_of_a_vault_is_no_page_and_is_named_as_passed_over(work, settings, told):
    for file, content in settings.items():
        work.write(file, json.dumps(content))
    work.write("a.md", "a")
    for name in ("Daily.md", "more/Meeting.md"):
        work.write(f"{told}/{name}", TEMPLATE)
    work.write(f"{told}/more/picture.png", "x")
    found = work.load()
    assert (found["ok"], found["files"], found["recorded"], found["faults"]) == (True, 1, 1, [])
    folder = normalize("NFC", told)
    assert (found["templates"], found["passed_over"]) == (
        [f"memory/{folder}/Daily.md", f"memory/{folder}/more/Meeting.md"], 1,
    )  # fmt: skip
    assert work.counts() == (0, 0, 0)


@pytest.mark.parametrize(
    "content",
    [
        *(
            '{"folder": ""}',
            '{"folder": "/"}',
            '{"folder": "."}',
            '{"folder": null}',
            '{"folder": 7}',
            "{}",
            "[]",
            "null",
        ),
        *('{"folder": "../vault"}', '{"folder": "Templates/../"}', '{"folder": "Temp"}', '{"folder": "a/Templates"}'),
        *('{"folder": ', "", b"\xff", "[" * 100_000),
    ],
)
def test_settings_that_name_no_folder_of_the_vault_pass_nothing_over(work, content):
    work.write(CORE, content)
    work.write("a.md", "a")
    work.write("Templates/Daily.md", TEMPLATE)
    found = work.load()
    assert (found["ok"], found["templates"], found["recorded"]) == (False, [], 1)
    assert [fault["path"] for fault in found["faults"]] == ["memory/Templates/Daily.md"]


def test_a_template_elsewhere_is_a_page_that_cannot_be_read(work):
    work.write(CORE, '{"folder": "Templates"}')
    for path in ("Templates.md", "Templates 2/a.md", "sub/Templates/a.md"):
        work.write(path, TEMPLATE)
    found = work.load()
    assert (found["ok"], found["templates"], len(found["faults"])) == (False, [], 3)


@pytest.mark.parametrize(
    ("vault", "path", "told"),
    [
        ("", "memory/Templates/a.md", "memory/Templates/a.md"),
        ("memory/", "memory/Templates/a.md", "memory/Templates/a.md"),
        ("inner/", "inner/Templates/a.md", "memory/inner/Templates/a.md"),
        ("../", "Templates/a.md", "memory/Templates/a.md"),
    ],
)
def test_the_vault_may_be_the_folder_or_lie_above_or_within_it(work, vault, path, told):
    folder = {"": "memory/Templates", "../": "vault/Templates"}.get(vault, "Templates")
    work.write(f"{vault}{CORE}", json.dumps({"folder": folder}))
    work.write(path, TEMPLATE)
    found = work.load()
    assert (found["ok"], found["templates"]) == (True, [told])


def test_a_template_folder_that_is_imported_itself_has_pages(work):
    work.write(f"../{CORE}", '{"folder": "vault"}')
    work.write("a.md", "a")
    assert work.counts() == (1, 0, 0)


def test_a_name_with_a_line_end_is_told_in_one_line(work, falsify):
    try:
        work.write("a\nnot recorded: b.md", "x")
        work.write("Templates/c\nd.md", "x")
    except OSError:
        pytest.skip("here a name has no line end")
    work.write(CORE, '{"folder": "Templates"}')
    assert falsify("import", work.folder, "--no-index")[1].splitlines()[1:] == [
        "not recorded: a\\x0anot recorded: b.md:1: this path cannot be that of a page",
        "  rename the file: a path is made of names and /, without .., backslashes and control characters",
        "passed over: 1 template (memory/Templates/c\\x0ad.md)",
    ]


def test_of_templates_nothing_is_reported_that_would_be_wrong_with_a_page(work):
    outside = work.root / "outside"
    outside.mkdir()
    work.write(CORE, '{"folder": "Templates"}')
    work.write("a.md", "a")
    work.write("Templates/bytes.md", b"\xff")
    (work.folder / "Templates/link.md").symlink_to(outside / "nothing.md")
    (work.folder / "Templates/shared").symlink_to(outside)
    work.write("Templates/personal/diary.md", "x")
    found = work.load()
    assert (found["ok"], found["recorded"], found["personal"], found["templates"]) == (
        True, 1, 1, ["memory/Templates/bytes.md", "memory/Templates/link.md", "memory/Templates/shared"],
    )  # fmt: skip


def test_pages_that_were_recorded_before_their_folder_was_one_of_templates_are_removed(work):
    for path in ("a.md", "b.md", "Templates/c.md"):
        work.write(path, path)
    work.load()
    work.write(CORE, '{"folder": "Templates"}')
    assert work.counts() == (0, 0, 1)
    assert work.pages() == {"a.md": "a.md", "b.md": "b.md"}


@needs_git
def test_templates_are_no_pages_of_the_history_either(repository):
    repository.write(CORE, '{"folder": "Templates"}')
    repository.write("a.md", "# A\n\nIt says so.\n")
    repository.write("Templates/Daily.md", TEMPLATE)
    repository.write("Templates/Plain.md", "# Plain\n\nIt says so too.\n")
    repository.commit("All")
    repository.git("mv", "Templates/Plain.md", "plain.md")
    repository.commit("Out of the templates", TUESDAY)
    found = repository.load()
    assert (found["ok"], found["recorded"], found["moved"], found["removed"]) == (True, 2, 0, 0)
    assert (found["faults_in_history"], found["templates"]) == ([], ["memory/Templates/Daily.md"])


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
def test_a_repository_that_is_not_the_one_of_the_pages_is_refused_and_nothing_of_it_is_written(repository):
    for number in range(4):
        repository.write(f"{number}.md", str(number))
    repository.commit("Ours")
    repository.load()
    before = repository.events()
    repository.folder = repository.root / "other"
    repository.folder.mkdir()
    repository.git("init", "-q")
    repository.write("org.yaml", ORG)
    for number in range(40):
        repository.write(f"other {number}.md", f"other {number}")
    repository.commit("Theirs")
    with pytest.raises(RefusedError, match="4 of 4 imported pages"):
        repository.load()
    assert (repository.events(), repository.brain.library.org) == (before, EMPTY)


@needs_git
def test_what_a_commit_removes_is_removed_without_a_question(repository):
    for name in "abc":
        repository.write(f"{name}.md", name)
    repository.commit("All")
    repository.load()
    for name in "bc":
        (repository.folder / f"{name}.md").unlink()
    repository.commit("Fewer", TUESDAY)
    assert repository.counts() == (0, 0, 2)


@needs_git
def test_an_emptied_work_tree_is_refused_although_a_commit_moved_or_removed_some_of_the_pages(repository):
    for name in "abc":
        repository.write(f"{name}.md", f"# {name}\n\nIt says so.\n")
    repository.commit("All")
    repository.load()
    (repository.folder / "sub").mkdir()
    repository.git("mv", "a.md", "sub/a.md")
    repository.git("rm", "-q", "b.md")
    repository.commit("Moved", TUESDAY)
    for left in ("sub/a.md", "c.md"):
        (repository.folder / left).unlink()
    before = repository.events()
    with pytest.raises(RefusedError, match="2 of 2 imported pages"):
        repository.load()
    assert repository.events() == before


@needs_git
def test_what_was_only_ever_in_the_history_is_not_missed_in_the_folder(repository):
    for name in "abc":
        repository.write(f"{name}.md", name)
    repository.commit("All")
    for name in "ab":
        (repository.folder / f"{name}.md").unlink()
    assert repository.counts() == (3, 0, 2)


@needs_git
def test_names_with_quotes_spaces_accents_and_line_ends_are_read_as_they_are(repository):
    for name in ('say "hi".md', " spaced .md", "caf\u00e9.md", "cafe\u0301 two.md", "line\nend.md"):
        repository.write(name, name)
    repository.commit('Odd "names"\n', MONDAY, by='Ada "the" first')
    told = repository.load()
    assert sorted(repository.pages()) == [" spaced .md", "caf\u00e9 two.md", "caf\u00e9.md", 'say "hi".md']
    assert [fault["message"] for fault in told["faults"]] == ["line\\x0aend.md:1: this path cannot be that of a page"]
    assert repository.counts() == (0, 0, 0)


@needs_git
def test_a_repository_without_commits_is_a_folder(repository):
    repository.write("a.md", "a")
    told = repository.load()
    assert (told["history"], told["recorded"]) == (False, 1)


@needs_git
@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        (".git/config", "[broken", "bad config"),
        (".git", "gitdir: /nowhere/at/all", "not a git repository: /nowhere/at/all"),
    ],
)
def test_a_history_that_git_refuses_to_tell_is_said_to_be_missing(repository, file, content, said):
    repository.write("a.md", "a")
    repository.commit("Ours")
    if file == ".git":
        shutil.rmtree(repository.folder / file)
    (repository.folder / file).write_text(content, encoding="utf-8")
    told = repository.load()
    assert (told["ok"], told["history"], told["recorded"]) == (True, False, 1)
    assert said in told["history_unread"]
    assert repository.load(history=False)["history_unread"] == ""


@needs_git
def test_a_history_is_said_to_be_missing_where_git_is_not_installed(repository, monkeypatch):
    repository.write("a.md", "a")
    repository.commit("Ours")
    monkeypatch.setenv("PATH", str(repository.root))
    assert repository.load()["history_unread"] == "git is not installed"


@needs_git
def test_nothing_is_said_of_a_history_where_there_is_none(repository):
    repository.write("a.md", "a")
    assert repository.load()["history_unread"] == ""
    repository.commit("Ours")
    repository.write("ignored/b.md", "b")
    repository.write(".gitignore", "ignored/\n")
    repository.folder /= "ignored"
    assert repository.load(prune=True)["history_unread"] == ""


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
            work.load(prune=True)  # else a folder that lost most of its pages would be refused
    work.load(prune=True)
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
    work.write("org.yaml", ORG)
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


def test_a_folder_that_cannot_be_made_is_not_written_to(work):
    work.write("a.md", "a")
    for nowhere, error in (("x" * 300, UnavailableError), ("a.md", InvalidInputError), ("a.md/b", UnavailableError)):
        with pytest.raises(error):
            export_folder(work.brain, work.folder / nowhere, caller="owner")


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


def test_a_page_whose_name_ends_in_upper_case_is_found_as_any_other(work, capfd):
    work.write("ZEBRA.MD", "Stripes are black.")
    folder = str(work.root / "work")
    assert cli.run(["-w", folder, "brain", "import", str(work.folder)]) == 0
    capfd.readouterr()
    assert cli.run(["-w", folder, "call", "search_company_context", '{"query": "black stripes"}']) == 0
    assert [each["rel_path"] for each in json.loads(capfd.readouterr().out)["results"]] == ["memory/ZEBRA.MD"]
    assert cli.run(["-w", folder, "brain", "list"]) == 0
    assert capfd.readouterr().out == "memory/ZEBRA.MD  2024-01-01  page  ZEBRA\n"


def test_what_was_imported_stands_where_it_cannot_be_indexed(work, capfd):
    (work.root / "work" / ".falsify" / "search.sqlite").mkdir()
    work.write("a.md", "# A\n")
    code = cli.run(["-w", str(work.root / "work"), "brain", "import", str(work.folder)])
    out, err = capfd.readouterr()
    assert (code, out.split(": ")[1], err.split(":")[0]) == (
        0, "1 recorded, 0 moved, 0 removed (1 file)\n", "not indexed for search",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("templates", "said"),
    [
        (1, "1 template (memory/Templates/0.md)"),
        (5, "5 templates (memory/Templates/0.md, memory/Templates/1.md, memory/Templates/2.md and 2 more)"),
    ],
)
def test_templates_are_counted_and_named_and_the_import_succeeds(work, falsify, templates, said):
    work.write(CORE, '{"folder": "Templates"}')
    work.write("a.md", "a")
    for number in range(templates):
        work.write(f"Templates/{number}.md", TEMPLATE)
    for count in (1, 0):
        assert falsify("import", work.folder, "--no-index") == (
            0, f"{work.folder}: {count} recorded, 0 moved, 0 removed (1 file)\npassed over: {said}\n",
        )  # fmt: skip
    work.write("b.md", TEMPLATE)
    assert falsify("import", work.folder, "--no-index")[0] == InvalidInputError.exit_code


def test_an_empty_folder_says_so_in_an_empty_brain_and_is_refused_in_one_with_pages(work, falsify):
    said = f"{work.folder} has no pages: a page is a file whose name ends with .md\n"
    for _ in range(2):
        assert falsify("import", work.folder) == (0, said)
    dry = falsify("import", work.folder, "--dry-run")
    assert dry == (0, f"Dry run: nothing was appended. This would follow:\n{said}")
    code, out = falsify("import", work.folder, "--json")
    assert (code, json.loads(out)["files"]) == (0, 0)
    work.write("a.md", "a")
    falsify("import", work.folder, "--no-index")
    (work.folder / "a.md").unlink()
    assert falsify("import", work.folder) == (RefusedError.exit_code, "")
    code, out = falsify("import", work.folder, "--json")
    assert (code, json.loads(out)) == (
        RefusedError.exit_code,
        {
            "ok": False,
            "status": "refused",
            "error": {
                "message": "1 of 1 imported pages is not in this folder, and would be removed: memory/a.md",
                "hint": "is it the right folder? If they are to go, import with --prune",
                "exit_code": RefusedError.exit_code,
            },
        },
    )
    assert falsify("list")[1].startswith("memory/a.md")
    assert falsify("import", work.folder, "--prune")[1] == f"{work.folder}: 0 recorded, 0 moved, 1 removed (0 files)\n"


@needs_git
def test_what_was_not_read_is_told_in_words(work, falsify):
    work.write("memory/a.md", "a")
    for beside in ("b.md", "c.md"):
        work.write(beside, "x")
    (work.folder / ".git").write_text("gitdir: /nowhere", encoding="utf-8")
    assert falsify("import", work.folder, "--no-index")[1].splitlines() == [
        f"{work.folder}: 1 recorded, 0 moved, 0 removed (1 file)",
        "neither the history nor .gitignore was read: git rev-parse failed: fatal: not a git repository: /nowhere",
        "passed over: 2 beside memory/",
    ]


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
