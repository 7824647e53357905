"""The page about agents names what is there: commands, resources, prompts, tools and links."""

import re
from pathlib import Path

from surfaces.mcp.prompts import PROMPTS
from surfaces.mcp.resources import PROJECTS, RESOURCES, SCHEME
from surfaces.mcp.rows import rows
from tests.test_workbench_docs import commands, unknown

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_command_on_the_page_exists_with_its_options():
    assert [told for command in commands(PAGE) if (told := unknown(command))] == []


def test_the_resources_on_the_page_are_those_that_are_served():
    assert re.findall(rf"^\| `({re.escape(SCHEME)}[^`]+)`", PAGE, re.MULTILINE) == [
        each.template for each in (PROJECTS, *RESOURCES)
    ]


def test_the_prompts_on_the_page_are_those_that_are_served():
    assert [each.name for each in PROMPTS if f"`{each.name}`" not in PAGE] == []


def test_the_tools_on_the_page_are_served():
    named = set(re.findall(r"falsify\.[a-z]+\.[a-z_]+", PAGE))
    assert named - set(rows()) == set()


def test_the_number_of_tools_is_right():
    assert len(rows()) == 12 + 22 + 7
    assert f"{len(rows())} tools" in README
    assert [words for words in ("twelve", "22 of the", "seven about") if words not in PAGE] == []


def test_links_lead_somewhere():
    targets = [each for each in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE) if "://" not in each]
    assert [each for each in targets if not (ROOT / "docs" / each).exists()] == []
