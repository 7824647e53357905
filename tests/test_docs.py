"""What a person can use is documented: every command, exit code, event, setting and variable, and no link is dead."""

import ast
import re
from pathlib import Path

import pytest

import cli
from docs import generate
from falsify.errors import FalsifyError
from surfaces.envelope import STATUSES
from surfaces.settings import TABLES, ExecutorTable, Settings

ROOT = Path(__file__).parent.parent
PACKAGES = ("falsify", "projections", "replay", "surfaces")
VARIABLE = re.compile(r"(FALSIFY|LLM)_[A-Z_]+|DEMO_MODE|REFUTED_ID|NO_COLOR")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def sources():
    """Return the program's own modules, parsed."""
    paths = [ROOT / "cli.py", *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def written(page):
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def markdown():
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "falsify").rglob("*.md")])


@pytest.mark.parametrize("page", ["cli.md", "events.md", "settings.md"])
def test_a_generated_page_says_what_the_code_says(page):
    assert written(page) == generate.pages()[page], "`make docs` writes it anew"


def test_every_command_is_documented_with_its_help():
    page = written("cli.md")
    headings = re.findall(r"^## `(.+)`$", page, re.MULTILINE)
    assert headings == [context.command_path for context in generate.commands()]
    assert {f"falsify {name}" for name in cli.COMMANDS} <= set(headings)
    assert [c.command_path for c in generate.commands() if (c.command.help or "").strip() == ""] == []


def test_the_line_of_a_command_in_the_help_is_one_line():
    assert {name: line for name, (_, line) in cli.COMMANDS.items() if "\n" in line or not line.endswith(".")} == {}


def test_every_exit_code_is_documented_and_is_given_in_one_place():
    rows = {int(code) for code in re.findall(r"^\| (\d+) \|", written("cli.md"), re.MULTILINE)}
    asked = STATUSES["approval_required"].exit_code
    assert rows == {0, asked, cli.BUG, cli.INTERRUPTED} | {each.exit_code for each in refusals(FalsifyError)}
    elsewhere = {
        name
        for name, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and name != "falsify/errors.py"
        for line in node.body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) in {"exit_code", "status"}
    }
    assert elsewhere == set()


def refusals(of):
    return {each for below in of.__subclasses__() for each in (below, *refusals(below))}


def test_every_event_is_documented_with_what_it_means():
    kinds = re.findall(r"^### `(.+)`$", written("events.md"), re.MULTILINE)
    assert kinds == list(generate.catalogue())
    assert len(kinds) > 20
    assert [kind for kind, each in generate.catalogue().items() if not each.__doc__] == []


def test_every_setting_is_documented_with_what_it_does():
    rows = re.findall(r"^\| `(\w+)` \| `FALSIFY_\w+` \|", written("settings.md"), re.MULTILINE)
    assert rows == [name for name in Settings.model_fields if name not in TABLES]
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_every_key_of_an_executor_is_documented_with_what_it_does():
    (section,) = re.findall(r"^\| in the table .*?\n\n", written("settings.md"), re.MULTILINE | re.DOTALL)
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(ExecutorTable.model_fields)
    assert [name for name, field in ExecutorTable.model_fields.items() if not field.description] == []


def test_every_variable_that_the_code_names_is_documented():
    named = {
        node.value
        for tree in sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and VARIABLE.fullmatch(node.value)
    }
    documented = set(re.findall(r"^\|.*?`([A-Z_]+)` \|", written("settings.md"), re.MULTILINE))
    assert named - documented == set()
    assert {"FALSIFY_WORKSPACE", "DEMO_MODE"} <= named


def test_a_fresh_machine_needs_two_commands_with_make_or_without():
    readme, guide = ((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "CONTRIBUTING.md"))
    assert [each for each in ("make demo", "make test", "(CONTRIBUTING.md)") if each not in readme] == []
    without_make = [
        "python3 -m venv .venv",
        ".venv/bin/python -m pip install -c constraints.txt --upgrade pip",
        ".venv/bin/python -m pip install -c constraints.txt -e . --group dev",
        ".venv/bin/falsify demo",
        ".venv/bin/python -m pytest",
    ]
    assert [each for each in without_make if each not in guide] == []


@pytest.mark.parametrize("page", markdown(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_link_between_pages_is_dead(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert [link for link in LINK.findall(text) if not (page.parent / link).exists()] == []


def test_pages_that_the_program_names_exist():
    named = {
        page
        for path in (ROOT / "cli.py", *(p for package in PACKAGES for p in (ROOT / package).rglob("*.py")))
        for page in re.findall(r"docs/[\w/.-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert {page for page in named if not (ROOT / page).exists()} == set()
    assert "docs/settings.md" in named
