"""What a page says: front matter, sections, links; where links lead; and the pages at a moment."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from falsify.brain.events import BrainEvent, OrgAccepted, PageMoved, PageRecorded, PageRemoved
from falsify.brain.library import Library, evolve
from falsify.brain.links import cycles, index, resolve
from falsify.brain.org import Department, Org
from falsify.brain.page import Link, Page, Section, read_page
from falsify.errors import InvalidInputError
from projections.pages import PageCache, pages_at, past

DECISION = """\
---
title: Leave the old supplier
type: Decision
department: Commerce
description: >
  Why we left,
  in one page.
updated: 2026-03-01
lifecycle_status: superseded
source_trust: verified
quotable: no
sensitivity: confidential
expires: 2027-01-31
sources: [minutes/march, "[[audit]]"]
origin: {connector: drive, url: "https://drive.example/1"}
aliases: Supplier exit
decided_by: "[[people/ada|Ada]]"
validated_by: grace
status: done
date: 2026-02-28T23:30:00-05:00
follows_from: [[audit]]
supersedes:
  - "[[stay|the old one]]"
team: 7
---
It led to [[led_to::exit-plan#costs|a plan]].
"""


def page(rel_path, text, **options):
    return read_page(rel_path, text, **options)


def named(rel_path, title="", aliases=(), **relations):
    lines = ["---", f"title: {title or rel_path}", f"aliases: [{', '.join(aliases)}]"]
    lines += [f"{name}: [{', '.join(targets)}]" for name, targets in relations.items()]
    return read_page(rel_path, "\n".join([*lines, "---", ""]))


def sections(text):
    return [(s.heading_path, s.level, s.start_line, s.end_line) for s in page("memory/a.md", text).sections]


def links(text):
    return [(link.relation, link.target, link.line) for link in page("memory/a.md", text).links]


def fault(text, rel_path="memory/a.md"):
    with pytest.raises(InvalidInputError) as told:
        read_page(rel_path, text)
    assert told.value.hint
    return told.value.message


# --- front matter ----------------------------------------------------------------------------------------------


def test_a_page_says_what_its_front_matter_says():
    read = page("memory/commerce/leave.md", DECISION, departments=("commerce",))
    body = "It led to [[led_to::exit-plan#costs|a plan]].\n"
    assert read == Page(
        rel_path="memory/commerce/leave.md",
        title="Leave the old supplier",
        type="decision",
        department="commerce",
        area="decisions",
        description="Why we left, in one page.",
        updated="2026-03-01",
        lifecycle_status="superseded",
        source_trust="verified",
        quotable=False,
        sensitivity="confidential",
        expires="2027-01-31",
        sources=("minutes/march", "[[audit]]"),
        origin={"connector": "drive", "url": "https://drive.example/1"},
        aliases=("Supplier exit",),
        decided_by="people/ada",
        validated_by="grace",
        status="done",
        date="2026-03-01",
        relations={"follows_from": ("audit",), "supersedes": ("stay",), "led_to": ("exit-plan",)},
        front={
            "title": "Leave the old supplier",
            "type": "Decision",
            "department": "Commerce",
            "description": "Why we left, in one page.\n",
            "updated": "2026-03-01",
            "lifecycle_status": "superseded",
            "source_trust": "verified",
            "quotable": False,
            "sensitivity": "confidential",
            "expires": "2027-01-31",
            "sources": ["minutes/march", "[[audit]]"],
            "origin": {"connector": "drive", "url": "https://drive.example/1"},
            "aliases": "Supplier exit",
            "decided_by": "[[people/ada|Ada]]",
            "validated_by": "grace",
            "status": "done",
            "date": "2026-02-28T23:30:00-05:00",
            "follows_from": [["audit"]],
            "supersedes": ["[[stay|the old one]]"],
            "team": 7,
        },
        body=body,
        sections=(Section(0, 0, (), body.strip(), 26, 26),),
        links=(
            Link("", "audit", 14),
            Link("", "people/ada", 17, label="Ada"),
            Link("follows_from", "audit", 21),
            Link("supersedes", "stay", 23, label="the old one"),
            Link("led_to", "exit-plan", 26, heading="costs", label="a plan"),
        ),
    )


def test_a_page_without_front_matter_has_the_defaults():
    assert page("memory/how-we_ship.md", "We ship on Fridays.\n") == Page(
        rel_path="memory/how-we_ship.md",
        title="How we ship",
        type="page",
        department="general",
        area="",
        body="We ship on Fridays.\n",
        sections=(Section(0, 0, (), "We ship on Fridays.", 1, 1),),
    )


@pytest.mark.parametrize(
    ("rel_path", "front", "expected"),
    [
        ("memory/x.md", "", ("page", "", "general", "")),
        ("memory/sales/x.md", "", ("page", "", "sales", "")),
        ("memory/attic/x.md", "", ("page", "", "general", "")),
        ("memory/sales.md", "", ("page", "", "general", "")),
        ("memory/attic/x.md", "department: Customer  Care", ("page", "", "customer-care", "")),
        ("memory/packs/x.md", "", ("pack", "", "general", "")),
        ("memory/entities/clients/x.md", "", ("entity", "clients", "general", "clients")),
        ("memory/entities/clients/x.md", "type: note", ("note", "", "general", "")),
        ("memory/sales/x.md", "type: entity\nentity_type: Supplier", ("entity", "supplier", "sales", "suppliers")),
    ],
)
def test_type_department_and_area_come_from_front_matter_or_else_from_the_folder(rel_path, front, expected):
    read = page(rel_path, f"---\n{front}\n---\n", departments=("sales", "customer-care"))
    assert (read.type, read.entity_type, read.department, read.area) == expected


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 1984\n---\n# No\n", "1984"),
        ("---\ntitle: Yes\n---\n", "Yes"),
        ("---\ntitle: 2026-01-02\n---\n", "2026-01-02"),
        ("---\ntitle:\n---\n## Two\n\n# [[x|One]] #\n", "One"),
        ("One\n===\n", "One"),
        ("```\n# code\n```\n", "A b"),
        ("\ufeff---\ntitle: Marked\n---\n", "Marked"),
        ("---\r\ntitle: Ends\r\n---\r\n", "Ends"),
    ],
)
def test_the_title_is_as_written_or_the_first_heading_or_the_name_of_the_file(text, title):
    assert page("memory/a-b.md", text).title == title


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ("a: 1\nlifecycle_status: live", "memory/a.md:3: lifecycle_status is 'live'"),
        ("source_trust: [verified]", "memory/a.md:2: source_trust is a list"),
        ("sensitivity: Internal", "memory/a.md:2: sensitivity is 'Internal'"),
        ('quotable: "yes"', "memory/a.md:2: quotable is 'yes'"),
        ("expires: 2026-02-30", "memory/a.md:2: expires is '2026-02-30'"),
        ("updated: yesterday", "memory/a.md:2: updated is 'yesterday'"),
        ("date: 2026", "memory/a.md:2: date is '2026'"),
        ("title: [a, b]", "memory/a.md:2: title is a list"),
        ("decided_by: {name: ada}", "memory/a.md:2: decided_by is a mapping"),
        ("sources:\n  - a\n  - {b: c}", "memory/a.md:4: an entry of sources is a mapping"),
        ("aliases: {a: b}", "memory/a.md:2: aliases is a mapping"),
        ("origin: drive", "memory/a.md:2: origin is 'drive'"),
        ("origin: {url: x}", "memory/a.md:2: origin is a mapping"),
        (f"description: {'x' * 2001}", "memory/a.md:2: description has 2,001 characters; the limit is 2,000"),
        ("a: b: c", "memory/a.md:2: the front matter is not YAML: mapping values are not allowed in this context"),
        ("- a", "memory/a.md:2: the front matter is not made of `key: value` lines"),
        ("a: 1\nb: 2\na: 3", "memory/a.md:4: the key 'a' is given twice"),
        ("a: &x 1\nb: *x", "memory/a.md:2: anchors and aliases have no place in front matter"),
        ("a: !new x", "memory/a.md:2: the tag !new has no place in front matter"),
        ("? [a]\n: b", "memory/a.md:2: a key must be a plain word"),
        ("a: " + "[" * 10 + "]" * 10, "memory/a.md:2: the front matter is nested more than 10 deep"),
        ("\n".join(f"k{n}: 1" for n in range(201)), "memory/a.md:202: the front matter has more than 200 keys"),
        ('a: "\\0"', "memory/a.md:2: a value holds the control character U+0000"),
        ("a: \x07", "memory/a.md:2: the front matter is not YAML: control characters are not allowed"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_front_matter_is_told_with_its_line(front, message):
    assert fault(f"---\n{front}\n---\nbody\n") == message


def test_front_matter_without_an_end_is_refused_so_that_what_it_restricts_is_not_lost():
    assert fault("---\nsensitivity: restricted\n\n# Salaries\n") == "memory/a.md:1: the front matter has no end"


def test_values_that_json_has_no_word_for_stay_as_they_were_written():
    read = page("memory/a.md", f"---\na: .nan\nb: {'9' * 30}\nc: 2026-01-02\nd: 0x10\ne: ~\nf: 2026-02-31\n---\n")
    assert read.front == {"a": ".nan", "b": "9" * 30, "c": "2026-01-02", "d": 16, "e": None, "f": "2026-02-31"}


# --- sections --------------------------------------------------------------------------------------------------


def test_sections_are_cut_at_headings_of_both_kinds_with_their_lines_in_the_file():
    text = "---\ntitle: T\n---\nintro\n\n# One\na\n\n## Two ##\nb\n\nThree\ncontinued\n---\nc\n\n# Four\n\n"
    assert sections(text) == [
        ((), 0, 4, 4),
        (("One",), 1, 6, 7),
        (("One", "Two"), 2, 9, 10),
        (("One", "Three continued"), 2, 12, 15),
        (("Four",), 1, 17, 17),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n# no\n```\nx\n",
        "~~~\n# no\n```\n# no\n~~~~\n",
        "> ```\n> # no\n> ```\n",
        "- item\n\n  ```\n# no\n  ```\n",
        "a\n\n    # no\n",
        "<!--\n# no\n-->\n",
        "- item\n---\n",
        "> quote\n---\n",
        "| a |\n| - |\n---\n",
        "#no\n\\# no\n####### no\n",
        "a\n\n---\nb\n",
        "```\n# never closed\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text):
    assert [path for path, *_ in sections(text)] == [()]


def test_a_fence_in_a_quotation_ends_with_it():
    assert [path for path, *_ in sections("> ```\n> x\n\n# Yes\n")] == [(), ("Yes",)]


def test_a_section_has_its_own_lines_and_not_those_below_its_subheadings():
    read = page("memory/a.md", "# A\r\none\r\n## B\r\ntwo\r\n")
    assert [section.text for section in read.sections] == ["# A\none", "## B\ntwo"]


def test_an_empty_page_has_no_sections():
    assert page("memory/a.md", "").sections == page("memory/a.md", "\n \n").sections == ()


# --- links -----------------------------------------------------------------------------------------------------


def test_links_are_read_with_relation_heading_label_and_line():
    text = "[[a]] ![[b.png]]\n[[c#d|e]] [[follows from::f]] [[#here]]\n| [[g\\|h]] |\n"
    assert page("memory/a.md", text).links == (
        Link("", "a", 1),
        Link("", "b.png", 1, embed=True),
        Link("", "c", 2, heading="d", label="e"),
        Link("follows_from", "f", 2),
        Link("", "g", 3, label="h"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]`\n",
        "``x ` [[a]]``\n",
        "`two\n[[a]] lines`\n",
        "```\n[[a]]\n```\n",
        "a\n\n    [[a]]\n",
        "\\[[a]]\n",
        "<!-- [[a]] -->\n",
        "[[]] [[ ]] [[a\n]] [a]\n",
    ],
)
def test_what_stands_in_code_or_is_escaped_is_no_link(text):
    assert links(text) == []


def test_a_backtick_that_is_never_closed_hides_nothing():
    assert links("a ` b [[c]]\n\n` [[d]] `` [[e]]\n") == [("", "c", 1), ("", "d", 3), ("", "e", 3)]


INDEX = index(
    [
        named("memory/a/budget.md", "Money"),
        named("memory/b/budget.md", "Costs"),
        named("memory/b/plan.md", "The Plan", ["Money"]),
        named("memory/c/Caf\u00e9.md", "caf\u00e9 2"),
    ]
)


@pytest.mark.parametrize(
    ("target", "source", "expected"),
    [
        ("memory/b/budget.md", "", "memory/b/budget.md"),
        ("memory/b/budget", "", "memory/b/budget.md"),
        ("b/Budget", "", "memory/b/budget.md"),
        ("budget", "", "memory/a/budget.md"),
        ("budget", "memory/b/plan.md", "memory/b/budget.md"),
        ("../a/budget", "memory/b/plan.md", "memory/a/budget.md"),
        ("the  plan", "", "memory/b/plan.md"),
        ("money", "", "memory/a/budget.md"),
        ("money", "memory/b/x.md", "memory/a/budget.md"),
        ("cafe\u0301", "", "memory/c/Caf\u00e9.md"),
        ("a/plan", "", None),
        ("nothing", "", None),
        ("", "", None),
        ("../../../etc/passwd", "memory/a/x.md", None),
    ],
)
def test_a_link_leads_by_path_then_title_then_alias_then_name(target, source, expected):
    assert resolve(target, INDEX, source=source) == expected


def test_a_page_that_may_not_be_seen_takes_no_part_in_resolving_a_link():
    hidden = {"memory/a/budget.md"}
    without = index([named("memory/b/budget.md", "Costs"), named("memory/b/plan.md", "The Plan", ["Money"])])
    for target in ("budget", "money", "memory/a/budget.md"):
        assert resolve(target, INDEX, sees=lambda path: path not in hidden) == resolve(target, without)


def test_pages_that_supersede_each_other_in_a_circle_are_named():
    pages = [
        named("memory/a.md", supersedes=["b"]),
        named("memory/b.md", supersedes=["c", "d"]),
        named("memory/c.md", supersedes=["a"]),
        named("memory/d.md", supersedes=["e"]),
        named("memory/e.md"),
        named("memory/f.md", supersedes=["f"]),
    ]
    assert cycles(pages, index(pages)) == (("memory/a.md", "memory/b.md", "memory/c.md"), ("memory/f.md",))


def test_a_long_chain_is_walked_without_recursion():
    pages = [named(f"memory/{n}.md", f"P{n}", supersedes=[f"memory/{(n + 1) % 3000}.md"]) for n in range(3000)]
    (group,) = cycles(pages, index(pages))
    assert len(group) == 3000


# --- whatever is written ---------------------------------------------------------------------------------------

MARKUP = st.sampled_from(
    (
        *(
            "---\n",
            "...\n",
            "# h\n",
            "```\n",
            "~~~\n",
            "> ",
            "- ",
            "    ",
            "\t",
            "===\n",
            "[[",
            "]]",
            "::",
            "|",
            "`",
            "``",
        ),
        *(
            "<!--",
            "-->",
            "title: ",
            "date: ",
            "quotable: ",
            "supersedes: ",
            "origin: {",
            "}",
            "[",
            "]",
            "&a ",
            "*a",
            "!!",
        ),
        *(
            "\r\n",
            "\r",
            "\n",
            "\0",
            "\ufeff",
            "\u2028",
            "\x85",
            "\ud800",
            "a",
            "2026-13-45",
            '"',
            "'",
            "%YAML 1.1\n",
            "? ",
        ),
    )
)


@given(st.lists(MARKUP | st.text(max_size=3), max_size=40).map("".join))
@example("---\n%TAG ! !\n--- a\n---\n")
@example("---\n\x85: \u2028\n---\n")
def test_reading_a_page_raises_nothing_but_what_says_where_and_what_to_do(text):
    for each in (text, f"---\n{text}\n---\n"):
        told = outcome(each)
        if isinstance(told, InvalidInputError):
            assert (told.message[:12], told.details["line"] >= 1, told.hint > "") == ("memory/a.md:", True, True)
            continue
        lines = each.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for section in told.sections:
            assert "\n".join(lines[section.start_line - 1 : section.end_line]) == section.text
        assert all(link.target and link.line >= 1 for link in told.links)


def outcome(text):
    try:
        return read_page("memory/a.md", text)
    except InvalidInputError as error:
        return error


# --- the pages at a moment -------------------------------------------------------------------------------------


def library(*events: BrainEvent):
    made = Library()
    for position, event in enumerate(events, start=1):
        evolve(made, event, position, position)
    return made


def recorded(rel_path, text, known_at):
    return PageRecorded(rel_path=rel_path, text=text, known_at=known_at, author="a", commit="", message="")


MARCH, APRIL, MAY = "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z"


def lived():
    return library(
        recorded("memory/a.md", "# One", MARCH),
        recorded("memory/b.md", "# Two", MARCH),
        PageMoved(rel_path="memory/c.md", was="memory/a.md", known_at=APRIL, author="a", commit=""),
        PageRemoved(rel_path="memory/b.md", known_at=MAY, author="a", commit=""),
        recorded("memory/c.md", "# Three", MAY),
    )


def test_a_view_has_the_pages_of_its_moment():
    made, cache = lived(), PageCache()
    told = {
        moment: {path: page.title for path, page in pages_at(made, moment, cache).pages.items()}
        for moment in ("2026-02-01T00:00:00Z", MARCH, APRIL, None)
    }
    assert told == {
        "2026-02-01T00:00:00Z": {},
        MARCH: {"memory/a.md": "One", "memory/b.md": "Two"},
        APRIL: {"memory/b.md": "Two", "memory/c.md": "One"},
        None: {"memory/c.md": "Three"},
    }


def test_a_view_stays_the_same_until_a_page_or_a_department_changes():
    made, cache = lived(), PageCache()
    first = pages_at(made, None, cache)
    made.revision += 1  # an answer was given
    assert pages_at(made, None, cache) is first
    assert first.page("memory/c.md") is pages_at(made, None, cache).pages["memory/c.md"]
    evolve(made, recorded("memory/sales/d.md", "# Four", MAY), 9, 9)
    second = pages_at(made, None, cache)
    assert set(second.pages) - set(first.pages) == {"memory/sales/d.md"}
    assert second.pages["memory/c.md"] is first.pages["memory/c.md"]
    accepted = OrgAccepted(org=Org(departments=(Department(slug="sales", name="Sales"),)).as_json(), source="")
    evolve(made, accepted, 10, 10)
    assert [each.pages["memory/sales/d.md"].department for each in (second, pages_at(made, None, cache))] == [
        "general",
        "sales",
    ]


def test_a_recorded_page_that_cannot_be_read_is_not_among_the_pages():
    view = pages_at(library(recorded("memory/a.md", "---\n- a\n---\n", MARCH)), None, PageCache())
    assert (view.pages, view.page("memory/a.md"), list(view.unreadable)) == ({}, None, ["memory/a.md"])
    assert view.version("memory/a.md") is not None


def test_the_past_of_a_page_goes_back_over_its_moves():
    assert [(v.rel_path, v.text) for v in past(lived(), "memory/c.md")] == [
        ("memory/a.md", "# One"),
        ("memory/c.md", "# One"),
        ("memory/c.md", "# Three"),
    ]
