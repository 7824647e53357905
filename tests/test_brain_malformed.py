"""A hundred pages that are none: each is reported with its file, its line and what to do, and nothing else is lost."""

import os
import random

import pytest

from falsify.brain.library import current
from falsify.brain.page_path import page_path, skipped
from falsify.clock import SteppingClock
from falsify.errors import InvalidInputError
from surfaces.brain import Brain
from surfaces.pages.transfer import import_folder
from surfaces.workspace import Workspace

GOOD = "---\ntitle: Good\ntype: note\n---\n\n# Good\n\nThis page is as it should be.\n"


def front(*lines):
    return "\n".join(("---", "title: Bad", *lines, "---", "", "Body.")).encode()


YAML = {
    "colon": ("description: a: b", 3),
    "tab": ("tags:\n\t- a", 4),
    "open quote": ('description: "a', 3),
    "open list": ("tags: [a, b", 4),
    "open mapping": ("origin: {connector: a", 4),
    "brace": ("description: }", 3),
    "at": ("description: @ada", 3),
    "percent": ("description: %a", 3),
    "backtick": ("description: `a`", 3),
    "indent": ("tags:\n  - a\n - b", 5),
    "text and list": ("tags: a\n- b", 4),
    "bad escape": ('description: "\\q"', 3),
    "half surrogate": ('description: "\\ud800"', 3),
    "NUL escape": ('description: "a\\0b"', 3),
    "bell escape": ('description: "a\\ab"', 3),
    "control": ("description: a\x01b", 3),
    "twice": ("team: a\nteam: b", 4),
    "list as key": ("? [a, b]\n: c", 3),
    "mapping as key": ("{a: b}: c", 3),
    "anchor": ("team: &x a", 3),
    "alias": ("team: *x", 3),
    "bomb": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", 3),
    "merge bomb": ("base: &base {a: 1}\nother:\n  <<: *base", 3),
    "itself": ("a: &a [*a]", 3),
    "tag": ("when: !!timestamp 2026-01-01", 3),
    "python": ("x: !!python/object/apply:os.system [ls]", 3),
    "binary": ("x: !!binary aGk=", 3),
    "own tag": ("x: !mine {a: b}", 3),
    "second document": ("--- a\nb: c", 3),
    "deep list": ("x: " + "[" * 11 + "]" * 11, 3),
    "deep mapping": ("x: " + "{a: " * 11 + "b" + "}" * 11, 3),
    "deepest": ("x: " + "[" * 9000, 3),
    "too many keys": ("\n".join(f"k{n}: v" for n in range(200)), 202),
    "too long": ("notes: >\n" + "  word word word\n" * 8000, 1),
}
VALUES = {
    "lifecycle": "lifecycle_status: published",
    "lifecycle list": "lifecycle_status: [active]",
    "lifecycle number": "lifecycle_status: 1",
    "trust": "source_trust: trusted",
    "trust case": "source_trust: Verified",
    "sensitivity": "sensitivity: secret",
    "sensitivity mapping": "sensitivity: {level: internal}",
    "quotable text": 'quotable: "yes"',
    "quotable number": "quotable: 1",
    "quotable list": "quotable: [true]",
    "date word": "date: soon",
    "date day": "date: 2026-02-30",
    "date order": "date: 31/12/2026",
    "date year": "date: 2026",
    "date list": "date: [2026-01-01]",
    "updated": "updated: 2026-1-1",
    "updated zone": "updated: 2026-01-01T00:00:00+99:00",
    "updated early": "updated: 0001-01-01T00:00:00+14:00",
    "expires": "expires: never",
    "expires flag": "expires: false",
    "title list": "description: [a, b]",
    "description mapping": "description: {a: b}",
    "description long": "description: " + "x" * 2001,
    "type list": "type: [note, page]",
    "department list": "department: [sales, legal]",
    "decided_by list": "decided_by: [ada, grace]",
    "validated_by mapping": "validated_by: {name: ada}",
    "status list": "status: [open]",
    "sources mapping": "sources: {a: b}",
    "sources of mappings": "sources: [{title: a, url: b}]",
    "aliases of lists": "aliases: [[a, b]]",
    "follows_from mapping": "follows_from: {page: a}",
    "supersedes of mappings": "supersedes: [{page: a}]",
    "led_to long": "led_to: " + "y" * 2001,
    "origin text": "origin: drive",
    "origin list": "origin: [drive]",
    "origin empty": "origin: {}",
    "origin without connector": "origin: {url: https://example.org}",
    "origin connector list": "origin: {connector: [drive]}",
    "origin url mapping": "origin: {connector: drive, url: {a: b}}",
}
BYTES = {
    "binary": (bytes(range(256)), 2),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), 1),
    "zip": (b"PK\x03\x04" + bytes(30) + b"\xff", 1),
    "NUL": (b"a\nb\nc\0d", 3),
    "only NUL": (bytes(1000), 1),
    "NUL in front matter": (b"---\ntitle: a\0b\n---\n", 2),
    "Latin-1": ("a\ncaf\u00e9".encode("latin-1"), 2),
    "Windows": ("\u201cquoted\u201d\n".encode("cp1252"), 1),
    "Shift JIS": ("# \u65e5\u672c\u8a9e\n".encode("shift_jis"), 1),
    "mixed": ("\u00e9\n".encode() + "\u00e9\n".encode("latin-1"), 2),
    "mixed later": (("ok\n" * 500 + "\u00e9").encode() + b"\xe9", 501),
    "UTF-16 in the middle": (b"a\n" + "b\n".encode("utf-16-le"), 2),
    "UTF-16 without its mark": ("# Title\n".encode("utf-16-le"), 1),
    "half UTF-16": (b"\xff\xfea", 1),
    "odd UTF-16": (b"\xff\xfe\x00\xd8", 1),
    "cut off": ("a\nb\n\u65e5".encode()[:-1], 3),
    "overlong": (b"a\n\xc0\xaf", 2),
    "surrogate": (b"\xed\xa0\x80", 1),
    "too high": (b"\xf4\x90\x80\x80", 1),
    "long line": (b"a\n" + b"x" * 1_000_001, 2),
    "ten megabytes in a line": (b"x" * 10_000_000, 1),
    "long": (b"a line of text\n" * 140_000, 1),
    "long in UTF-16": (("\u65e5" * 100 + "\n").encode("utf-16") * 8000, 1),
    "no end": (b"---\ntitle: a\n\n# A\n", 1),
    "no end, with a rule": (b"---\ntitle: a\n\n----\n", 1),
    "a list": (b"---\n- a\n- b\n---\n", 2),
    "a text": (b"---\njust words\n---\n", 2),
    "headings": (b"#\n" * 10_001, 1),
    "links": (b"[[a]] " * 100 + b"\n" + (b"[[a]] " * 100 + b"\n") * 200, 1),
}


def malformed():
    """Return every bad page by name: its bytes, and the line that is told."""
    made = {f"yaml {name}": (front(line), at) for name, (line, at) in YAML.items()}
    made |= {f"value {name}": (front(line), 3) for name, line in VALUES.items()}
    return made | {f"bytes {name}": told for name, told in BYTES.items()}


BAD = malformed()


@pytest.fixture
def brain(tmp_path):
    with Workspace.init(tmp_path / "work", clock=SteppingClock()) as workspace:
        yield Brain(workspace)


def load(brain, folder):
    return import_folder(brain, folder, caller="owner")


def texts(brain):
    return {version.rel_path: version.text for version in current(brain.library)}


def test_a_hundred_bad_pages_are_each_reported_with_their_line_and_the_good_ones_are_recorded(brain, tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    for name, (data, _) in BAD.items():
        (folder / f"{name}.md").write_bytes(data)
        (folder / f"{name}, good.md").write_text(GOOD, encoding="utf-8")
    told = load(brain, folder)
    assert len(BAD) > 100
    assert {fault["path"]: fault["line"] for fault in told["faults"]} == {
        f"memory/{name}.md": line for name, (_, line) in BAD.items()
    }
    assert [f for f in told["faults"] if not f["message"].startswith(f"{f['path']}:{f['line']}: ")] == []
    assert [f for f in told["faults"] if not f["hint"] or len(f["message"]) + len(f["hint"]) > 400] == []
    assert texts(brain) == {f"memory/{name}, good.md": GOOD for name in BAD}
    assert told["recorded"] == len(BAD)
    assert load(brain, folder)["recorded"] == 0


def test_a_page_that_was_good_is_kept_when_its_file_is_spoilt(brain, tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    for name in BAD:
        (folder / f"{name}.md").write_text(f"{GOOD}{name}\n", encoding="utf-8")
    load(brain, folder)
    before = texts(brain)
    for name, (data, _) in BAD.items():
        (folder / f"{name}.md").write_bytes(data)
    told = load(brain, folder)
    assert (len(told["faults"]), told["recorded"], told["removed"]) == (len(BAD), 0, 0)
    assert texts(brain) == before


def test_random_bytes_never_stop_an_import(brain, tmp_path):
    drawn = random.Random(7)
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(60):
        data = b"---\n" * (number % 2) + drawn.randbytes(drawn.randrange(200))
        (folder / f"{number:02}.md").write_bytes(data)
    (folder / "good.md").write_text(GOOD, encoding="utf-8")
    told = load(brain, folder)
    assert len(told["faults"]) + told["recorded"] == 61
    assert texts(brain)["memory/good.md"] == GOOD


def test_pages_that_supersede_each_other_in_a_circle_are_all_named_and_all_recorded(brain, tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    for name, target in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("e", "e")):
        (folder / f"{name}.md").write_text(f"---\nsupersedes: {target}\n---\n", encoding="utf-8")
    told = load(brain, folder)
    assert (told["ok"], told["recorded"]) == (True, 5)
    assert told["cycles"] == [["memory/a.md", "memory/b.md", "memory/c.md"], ["memory/e.md"]]


def test_links_out_of_the_folder_are_refused_and_links_within_are_followed(brain, tmp_path):
    folder, outside = tmp_path / "vault", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text("secret", encoding="utf-8")
    (folder / "file.md").symlink_to(outside / "secret.md")
    (folder / "folder").symlink_to(outside)
    (folder / "broken.md").symlink_to(folder / "nothing.md")
    (folder / "loop.md").symlink_to(folder / "loop.md")
    (folder / "good.md").write_text(GOOD, encoding="utf-8")
    (folder / "same.md").symlink_to(folder / "good.md")
    told = load(brain, folder)
    assert [fault["path"] for fault in told["faults"]] == [
        "memory/broken.md",
        "memory/file.md",
        "memory/folder",
        "memory/loop.md",
    ]
    assert texts(brain) == {"memory/good.md": GOOD, "memory/same.md": GOOD}


def test_a_memory_that_is_a_link_out_of_the_folder_is_refused(brain, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "memory").symlink_to(tmp_path / "outside")
    with pytest.raises(InvalidInputError, match="link out of"):
        load(brain, tmp_path / "vault")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_what_is_no_file_is_passed_over(brain, tmp_path):
    (tmp_path / "vault").mkdir()
    os.mkfifo(tmp_path / "vault" / "pipe.md")
    assert load(brain, tmp_path / "vault")["recorded"] == 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="whoever runs this may read everything")
def test_what_may_not_be_read_is_reported_and_its_page_is_kept(brain, tmp_path):
    folder = tmp_path / "vault"
    (folder / "closed").mkdir(parents=True)
    for name in ("a.md", "closed/b.md"):
        (folder / name).write_text(GOOD, encoding="utf-8")
    load(brain, folder)
    (folder / "a.md").chmod(0)
    (folder / "closed").chmod(0)
    told = load(brain, folder)
    (folder / "closed").chmod(0o700)
    assert ([fault["path"] for fault in told["faults"]], told["removed"]) == (["memory/a.md", "memory/closed"], 0)


def test_one_name_in_two_unicode_forms_is_reported(brain, tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "cafe\u0301.md").write_text("one", encoding="utf-8")
    (folder / "caf\u00e9.md").write_text("two", encoding="utf-8")
    if len(list(folder.iterdir())) < 2:
        pytest.skip("here they are one file")
    told = load(brain, folder)
    assert [fault["path"] for fault in told["faults"]] == ["memory/caf\u00e9.md (again)"]
    assert texts(brain) == {"memory/caf\u00e9.md": "one"}


def test_a_name_that_is_no_unicode_is_reported(brain, tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    try:
        (folder / os.fsdecode(b"\xff.md")).write_text("x", encoding="utf-8")
    except OSError:
        pytest.skip("here a name must be Unicode")
    assert [fault["path"] for fault in load(brain, folder)["faults"]] == ["\\udcff.md"]


@pytest.mark.parametrize(
    "path",
    [
        *("../a.md", "a/../../b.md", "/etc/a.md", "a//b.md", "./a.md", "a/./b.md", "a\\b.md", "C:/a.md", "c:a.md"),
        *("a\0.md", "a\n.md", "\ud800.md", "x" * 401 + ".md", ""),
    ],
)
def test_a_path_that_leads_elsewhere_is_that_of_no_page(path):
    for rooted in (True, False):
        with pytest.raises(InvalidInputError) as told:
            page_path(path, rooted=rooted)
        assert told.value.hint
        told.value.message.encode()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("memory/a.md", ""),
        ("memory/a.MD", ""),
        ("memory/a.txt", "other"),
        ("memory/.obsidian/a.md", "hidden"),
        (".git/a.md", "hidden"),
        ("memory/personal/a.md", "personal"),
        ("memory/x/PERSONAL/a.md", "personal"),
        ("memory/\uff50ersonal/a.md", "personal"),
        ("memory/personal.md", ""),
        ("notes/a.md", "outside"),
    ],
)
def test_what_is_passed_over_is_passed_over_for_a_reason(path, reason):
    assert skipped(path, rooted=True) == reason
