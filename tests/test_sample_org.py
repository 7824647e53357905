"""The sample organisation holds together: its links, its people, its dates, and what became known when."""

import subprocess
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from falsify.brain.links import index, resolve
from falsify.brain.org_file import BEGINS, PATH, WHAT, OrgFile, org_in
from falsify.brain.org_rules import errors
from falsify.brain.page import RELATIONS, read_page
from falsify.brain.scope import scope_of
from falsify.errors import ConflictError
from falsify.located_yaml import parse
from projections.packs import pack_of
from surfaces.stories.sample_org import build_folder, build_repository, commits

HISTORY = list(commits())
FILES = HISTORY[-1].files
UNRESOLVED = {("memory/engineering/px-300-design-notes.md", "PX-300 hydrogen variant")}
RETIRED = {"marc-delattre"}
QUESTIONS = yaml.safe_load((Path(__file__).parent.parent / "bench" / "brain_questions.yaml").read_text("utf-8"))[
    "questions"
]


def org(files):
    return org_in(parse(PATH, files[PATH], OrgFile, what=WHAT, begins=BEGINS).value)


def pages(files):
    departments = [d.slug for d in org(files).departments]
    found = [read_page(path, text, departments=departments) for path, text in files.items() if path.endswith(".md")]
    return {page.rel_path: page for page in found}


PAGES = pages(FILES)


def text_on(day, rel_path):
    """Return what a page said at the end of a day, or None where it was not there."""
    known = [commit for commit in HISTORY if commit.date.astimezone(UTC).date().isoformat() <= day]
    return known[-1].files.get(rel_path)


def page_on(day, rel_path):
    text = text_on(day, rel_path)
    return None if text is None else read_page(rel_path, text)


def git(folder, *arguments):
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def test_every_link_but_the_declared_one_leads_to_a_page():
    known = index(PAGES.values())
    loose = {
        (page.rel_path, link.target)
        for page in PAGES.values()
        for link in page.links
        if resolve(link.target, known, source=page.rel_path) is None
    }
    assert loose == UNRESOLVED


def test_after_every_commit_a_relation_leads_to_a_page_that_is_there():
    for commit in HISTORY:
        there = pages(commit.files)
        known = index(there.values())
        targets = [(p.rel_path, t) for p in there.values() for name in RELATIONS for t in p.relations.get(name, ())]
        assert [(path, t) for path, t in targets if resolve(t, known, source=path) is None] == [], commit.message


def test_what_is_superseded_says_so_and_what_superseded_it_came_later():
    replaced = {target: page for page in PAGES.values() for target in page.relations.get("supersedes", ())}
    decisions = {path: page for path, page in PAGES.items() if page.type == "decision"}
    assert len(replaced) == 5
    assert {path for path, page in decisions.items() if page.lifecycle_status != "active"} == set(replaced)
    assert {path for path, page in decisions.items() if page.status != "accepted"} == set(replaced)
    assert all(PAGES[target].date < by.date for target, by in replaced.items())


def test_one_chain_of_decisions_is_four_long():
    chain = [
        "memory/engineering/decisions/2024-11-ceramic-cell.md",
        "memory/operations/decisions/2025-02-keraton-sole-source.md",
        "memory/operations/decisions/2025-10-second-source-for-cells.md",
        "memory/operations/decisions/2026-02-ten-weeks-of-cells.md",
    ]
    before = [{t for name in ("follows_from", "supersedes") for t in PAGES[p].relations.get(name, ())} for p in chain]
    assert all(earlier in links for earlier, links in zip(chain, before[1:], strict=False))


def test_everybody_named_in_front_matter_is_or_was_on_the_org_map():
    named = {
        slug
        for page in PAGES.values()
        for slug in (
            page.decided_by,
            page.validated_by,
            page.front.get("author", ""),
            *(answer["answered_by"] for answer in page.front.get("answers", ())),
        )
        if slug
    }
    now = {person.slug for person in org(FILES).people}
    assert named - now == RETIRED
    assert {person.slug for person in org(HISTORY[0].files).people} - now == RETIRED


def test_everybody_who_wrote_is_called_as_on_the_org_map():
    called = {p.slug: p.name for p in (*org(FILES).people, *org(HISTORY[0].files).people)}
    assert {commit.email.partition("@")[0]: commit.author for commit in HISTORY} == called


def test_decisions_were_made_by_who_may_and_validated_by_somebody_else():
    first, last = org(HISTORY[0].files), org(FILES)
    for page in (page for page in PAGES.values() if page.type == "decision"):
        decider = last.person(page.decided_by) or first.person(page.decided_by)
        validator = last.person(page.validated_by) or first.person(page.validated_by)
        assert decider.decides, page.rel_path
        assert validator.validates, page.rel_path
        assert decider != validator


def test_the_org_map_is_acceptable_after_every_commit():
    assert [errors(org(commit.files)) for commit in HISTORY] == [[]] * len(HISTORY)


def test_the_dates_of_two_years_ascend():
    dates = [commit.date for commit in HISTORY]
    assert dates == sorted(set(dates))
    assert (dates[0].year, dates[0].month, dates[-1].year, dates[-1].month) == (2024, 11, 2026, 11)


def test_a_page_says_that_it_was_updated_on_the_day_of_its_last_commit():
    for commit in HISTORY:
        written = pages({path: text for path, text in commit.files.items() if path in commit.changed | {PATH}})
        moved = {path for path in written if commit.files[path] in set(_before(commit).values())}
        assert {p.updated for path, p in written.items() if path not in moved} <= {commit.date.date().isoformat()}


def _before(commit):
    at = HISTORY.index(commit)
    return HISTORY[at - 1].files if at else {}


@pytest.mark.parametrize(
    ("rel_path", "dates"),
    [
        (
            "memory/sales/price-list.md",
            {
                "2024-12-31": "| PX-200, 4 to 20 mA | 389 |",
                "2025-08-01": "| PX-200, 4 to 20 mA | 412 |",
                "2026-01-31": "| PX-300, 4 to 20 mA | 448 |",
                "2026-11-30": "| PX-300, 4 to 20 mA | 429 |",
            },
        ),
        (
            "memory/quality/calibration-of-references.md",
            {"2025-01-01": "every 12 months", "2025-05-05": "every 6 months", "2026-11-30": "class 2 every nine"},
        ),
        (
            "memory/entities/suppliers/elmex-circuits.md",
            {"2026-08-23": "Lead time: 6 weeks", "2026-08-24": "Lead time: 9 weeks"},
        ),
    ],
)
def test_what_was_true_depends_on_the_date(rel_path, dates):
    assert {day: said in text_on(day, rel_path) for day, said in dates.items()} == dict.fromkeys(dates, True)
    firsts = list(dates.values())
    assert [said in FILES[rel_path] for said in firsts] == [*[False] * (len(firsts) - 1), True]


def test_pages_came_moved_and_went():
    ways = {
        path: [text_on(day, path) is not None for day in ("2025-01-01", "2025-06-01", "2026-11-30")]
        for path in (
            "memory/quality/complaints.md",
            "memory/quality/complaint-handling.md",
            "memory/operations/line-1-shift-plan.md",
            "memory/entities/products/px-300.md",
        )
    }
    assert list(ways.values()) == [
        [True, False, False],
        [False, True, True],
        [False, True, False],
        [False, False, True],
    ]


def test_every_kind_of_page_lifecycle_trust_and_sensitivity_is_there():
    every = PAGES.values()
    assert {
        "page", "decision", "lesson", "rule", "process", "playbook", "entity", "glossary", "digest", "pack",
    } == {page.type for page in every}  # fmt: skip
    assert {"draft", "active", "superseded", "archived"} == {page.lifecycle_status for page in every}
    assert {"verified", "declared", "imported", "unverified"} == {page.source_trust for page in every}
    assert {"internal", "confidential", "restricted"} == {page.sensitivity for page in every}
    assert {page.rel_path for page in every if page.expires} == {"memory/company/trade-fair-2026.md"}
    assert any(not page.quotable for page in every)
    assert any(page.origin for page in every)


def test_what_a_caller_may_see_differs_from_caller_to_caller():
    callers = (
        "owner", "person:marie-dubois", "person:oliver-grant", "agent:sales-assistant", "agent:quality-copilot",
        "agent:ledger-reader", "person:marc-delattre",
    )  # fmt: skip
    chart = org(FILES)
    seen = {c: frozenset(p for p, page in PAGES.items() if scope_of(chart, c).admits(page)) for c in callers}
    assert len(set(seen.values())) == len(callers)
    assert seen["owner"] == frozenset(PAGES)
    assert seen["person:marc-delattre"] == frozenset()
    hidden = "memory/people/salary-bands-2026.md"
    assert [caller for caller in callers if hidden in seen[caller]] == ["owner", "person:oliver-grant"]


def test_a_digest_says_who_answered_each_of_its_questions():
    digests = [page for page in PAGES.values() if page.type == "digest"]
    assert len(digests) == 4
    for page in digests:
        headings = [section.heading_path[-1] for section in page.sections if section.level == 2]
        assert [answer["question"] for answer in page.front["answers"]] == headings


def test_every_pack_is_a_valid_recipe_whose_pages_are_there():
    packs = [pack_of(page) for page in PAGES.values() if page.type == "pack"]
    assert {pack.slug: pack.owner_aor for pack in packs} == {
        "answer-a-complaint": "quality", "quote-request": "sales", "supplier-incident": "operations",
    }  # fmt: skip
    assert {item.text for pack in packs for item in pack.items if item.kind == "page"} <= set(PAGES)
    assert {item.kind for pack in packs for item in pack.items} == {"page", "query", "entity"}


def test_the_repository_holds_the_history_and_has_the_same_hash_whoever_builds_it(tmp_path, monkeypatch):
    first = build_repository(tmp_path / "first")
    (tmp_path / "config").write_text(
        "[user]\n  name = Somebody\n[commit]\n  gpgsign = true\n[core]\n  autocrlf = true\n"
    )
    for name, value in {
        "GIT_CONFIG_GLOBAL": str(tmp_path / "config"), "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
        "GIT_DIR": str(tmp_path / "elsewhere"), "TZ": "Asia/Tokyo",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert build_repository(tmp_path / "second") == first
    monkeypatch.undo()
    lines = git(tmp_path / "second", "log", "--reverse", "--format=%an|%ae|%aI|%cI|%s").splitlines()
    assert lines == [f"{c.author}|{c.email}|{c.date.isoformat()}|{c.date.isoformat()}|{c.message}" for c in HISTORY]
    assert git(tmp_path / "second", "status", "--porcelain") == ""


def test_the_folder_holds_what_the_repository_has_checked_out(tmp_path):
    build_repository(tmp_path / "repository")
    build_folder(tmp_path / "folder")
    trees = [
        {
            path.relative_to(tmp_path / name).as_posix(): path.read_bytes()
            for path in (tmp_path / name / "memory").rglob("*")
            if path.is_file()
        }
        for name in ("repository", "folder")
    ]
    assert trees == [{path: text.encode() for path, text in FILES.items()}] * 2


def test_the_files_of_the_folder_have_the_time_of_their_last_commit(tmp_path):
    build_folder(tmp_path)
    elmex = (tmp_path / "memory/entities/suppliers/elmex-circuits.md").stat().st_mtime
    assert datetime.fromtimestamp(elmex, UTC).isoformat() == "2026-08-24T09:45:00+00:00"


@pytest.mark.parametrize("build", [build_folder, build_repository])
def test_what_a_folder_holds_is_not_written_over(tmp_path, build):
    (tmp_path / "mine.md").write_text("mine")
    with pytest.raises(ConflictError):
        build(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.md"]


def test_the_sixty_questions_are_of_every_kind_and_no_two_are_one():
    assert Counter(each["kind"] for each in QUESTIONS) == {
        "exact": 9, "paraphrase": 11, "alias": 7, "decision": 7, "who": 5, "as_of": 6, "multi_hop": 4, "french": 5,
        "none": 6,
    }  # fmt: skip
    assert len({each["question"] for each in QUESTIONS}) == len({each["id"] for each in QUESTIONS}) == 60


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each["id"])
def test_the_pages_that_answer_a_question_are_there_on_its_day(question):
    day = str(question.get("as_of", "2026-11-30"))
    there = {path: page for path in question["relevant"] if (page := page_on(day, path))}
    assert set(there) == set(question["relevant"])
    assert all(page.lifecycle_status != "archived" for page in there.values())
    assert all(not page.expires or page.expires >= day for page in there.values())
    assert bool(there) == (question["kind"] != "none")
    assert len(there) <= 3
    assert ("as_of" in question) >= (question["kind"] == "as_of")
