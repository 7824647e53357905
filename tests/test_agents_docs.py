"""The page about agents names what is there: commands, resources, prompts, tools and links."""

import json
import re
import shlex
from pathlib import Path

import cli
from surfaces.mcp.desk import MOST_WAITING
from surfaces.mcp.http import connections, sessions
from surfaces.mcp.http.connections import Stage
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


def test_the_limits_on_the_page_are_those_that_hold():
    told = [int(each) for each in re.findall(r"\b\d+\b", PAGE.split("## Security\n")[1]) if each not in {"2026", "429"}]
    assert told == [
        connections.MOST, connections.PATIENCE[Stage.FIRST_HEAD], connections.PATIENCE[Stage.BODY], sessions.OF_TOKEN,
        sessions.AT_ONCE, sessions.LOOK, MOST_WAITING,
    ]  # fmt: skip
    assert {
        Stage.FIRST_HEAD: told[1], Stage.NEXT_HEAD: told[1], Stage.BODY: told[2], Stage.TAKEN: told[2],
    } == connections.PATIENCE  # fmt: skip


def test_an_agent_is_given_sight_of_the_brain_from_nothing_as_the_page_says(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/refunds.md").write_text("# Refunds\n\nRefunds are paid within thirty days.\n", encoding="utf-8")
    for words in (("init", "lab"), ("-w", "lab", "brain", "import", "notes")):
        assert cli.run([*words]) == 0
    monkeypatch.chdir("lab")
    part = PAGE.split("## Giving an agent sight of the brain\n")[1].split("\n## ")[0]
    (org,) = re.findall(r"^```yaml\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    line = re.search(r"^# write into org.yaml, below agents: +(- .*)$", part, re.MULTILINE)[1]
    answers = {}
    for agent in ("claude-desktop", "codex"):
        assert "There is nothing here that you may see" in said(capfd, SEARCH, agent)
    Path("org.yaml").write_text(org, encoding="utf-8")
    shown = [
        each
        for block in re.findall(r"^```sh\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
        for each in block.splitlines()
    ]
    for each in shown:
        if each.startswith("# write"):
            drawn = Path("org.yaml").read_text(encoding="utf-8")
            assert "agents:\n" in drawn
            Path("org.yaml").write_text(drawn.replace("agents:\n", f"agents:\n{line}\n"), encoding="utf-8")
            continue
        capfd.readouterr()
        words = shlex.split(each, comments=True)
        into = words.pop() if words[-2:-1] == [">"] else None
        assert cli.run([word for word in words[1:] if word != ">"]) == 0, each
        answers[each] = capfd.readouterr().out
        if into:
            Path(into).write_text(answers[each], encoding="utf-8")
    found = {words: json.loads(told) for words, told in answers.items() if words.startswith("falsify call")}
    (listed,) = [told["pages"] for told in found.values() if "pages" in told]
    (searched,) = [told["results"] for told in found.values() if "results" in told]
    assert [row["rel_path"] for row in (*listed, *searched)] == ["memory/refunds.md"] * 2
    proposal = {"title": "Vouchers", "content": "Vouchers hold for three years.", "department": None}
    assert json.loads(said(capfd, ("propose_page", proposal), "codex"))["outcome"] == "staged"


SEARCH = ("search_company_context", {"query": "refunds"})


def said(capfd, call, agent):
    """Return what a call of a tool is answered, as a command prints it."""
    capfd.readouterr()
    cli.run(["call", call[0], json.dumps(call[1]), "--as", f"agent:{agent}"])
    return capfd.readouterr().out


def test_links_lead_somewhere():
    targets = [each for each in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE) if "://" not in each]
    assert [each for each in targets if not (ROOT / "docs" / each).exists()] == []
