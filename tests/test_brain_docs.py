"""docs/brain.md says what the code does: its tables are the code's, its commands exist, its tour is played."""

import ast
import inspect
import json
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import click
import orjson
import pytest

import cli
from falsify.brain import answering, citations, comparison, front_matter, guard, page_path, page_text, quotas, traces
from falsify.brain import contradictions as contradicting
from falsify.brain import page as pages
from falsify.brain import ratings as rated
from falsify.brain.events import BrainEvent, PageRecorded, Sealed
from falsify.brain.library import Library, evolve
from falsify.brain.likeness import NEAR, SAME, SHINGLE
from falsify.brain.operations import OPERATIONS
from falsify.brain.org import AREAS
from falsify.brain.page import RELATIONS, Lifecycle, Trust, read_page
from falsify.brain.response_schema import MOST_PROPERTIES, MOST_VALUES
from falsify.brain.scope import SENSITIVITIES, area_of
from falsify.errors import RefusedError
from projections import packs
from projections.search import chunks, fusion, pipeline
from surfaces.commands.brain import brain as brain_commands
from surfaces.pages import obsidian
from surfaces.settings import Settings
from surfaces.tools import brain_ask, brain_packs, brain_reads, brain_search, page_parts
from surfaces.tools.brain_catalogue import _CODES, BRAIN_CATALOGUE, call_brain
from surfaces.tools.brain_inputs import BRAIN_INPUTS
from tests.sample_world import sample
from tests.test_workbench_docs import anchor, commands, each_command, plain, unknown

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "brain.md").read_text(encoding="utf-8")
GOVERNANCE = (ROOT / "docs" / "brain-governance.md").read_text(encoding="utf-8")
TOOLS = ROOT / "surfaces" / "tools"


# --- reading the page -----------------------------------------------------------------------------------------


def section(heading, page=PAGE):
    """Return what stands below a heading, up to the next one of its level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    fence = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    marked = fence.sub(lambda block: block[0].replace("\n#", "\n\0#"), page)
    after = re.split(rf"^{re.escape(heading)}$", marked, flags=re.MULTILINE)
    assert len(after) == 2, f"the page has {len(after) - 1} headings {heading!r}"
    return re.split(rf"^#{{1,{level}}} ", after[1], flags=re.MULTILINE)[0].replace("\0", "")


def table(heading, first, page=PAGE):
    """Return the rows of the table below a heading whose first column is called so."""
    lines = section(heading, page).splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def coded(cell):
    """Return the words of a cell that are set as code."""
    return tuple(re.findall(r"`([^`]+)`", cell))


def words(heading):
    """Return a section as one line, to be held against numbers."""
    return " ".join(section(heading).split())


def calls(path, named):
    """Return the first argument of every call of a name in a module, where it is a text; and in which order."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    found.sort(key=lambda node: (node.lineno, node.col_offset))
    texts = [(node, node.args[0]) for node in found if isinstance(node.args[0], ast.Constant)]
    return [first.value for node, first in texts if ast.unparse(node.func).rpartition(".")[2] in named]


# --- pages ----------------------------------------------------------------------------------------------------


def test_the_keys_of_a_page_are_those_that_the_program_reads():
    told = [key for row in table("### Front matter", "key") for key in coded(row[0])]
    readers = {"text", "texts", "day", "flag", "choice", "_given"}
    assert sorted(told) == sorted({*calls(pages.__file__, readers), *RELATIONS})


def test_what_a_key_may_be_and_is_without_being_said_is_that_of_the_code():
    rows = {coded(row[0])[0]: row for row in table("### Front matter", "key")}
    empty = read_page("memory/x.md", "")
    told = {name: coded(rows[name][1]) for name in ("lifecycle_status", "source_trust", "sensitivity")}
    options = {"lifecycle_status": get_args(Lifecycle), "source_trust": get_args(Trust), "sensitivity": SENSITIVITIES}
    assert told == options
    assert {name: coded(rows[name][2]) for name in told} == {name: (getattr(empty, name),) for name in told}
    assert (rows["quotable"][2] == "true", rows["expires"][2] == "never") == (empty.quotable, empty.expires == "")
    assert (empty.department, empty.type, empty.title) == ("general", "page", "X")


def test_the_limits_of_a_page_are_those_of_the_code():
    rows = table("### What is refused and what is left out", "limit of a page")
    assert [int(row[1].replace(",", "")) for row in rows] == [
        page_text.MAX_BYTES,
        page_text.MAX_LINE,
        page_path.MAX_PATH,
        front_matter.MAX_CHARACTERS,
        front_matter.MAX_KEYS,
        front_matter.MAX_DEPTH,
        pages.MAX_TEXT,
        pages.MAX_SECTIONS,
        pages.MAX_LINKS,
    ]  # fmt: skip


def test_how_a_removal_of_too_many_pages_is_refused_is_that_of_the_code():
    gone = Library()
    evolve(gone, PageRecorded(rel_path="memory/a.md", text="a", known_at="", author="", commit="", message=""), 1, 1)
    with pytest.raises(RefusedError) as refused:
        comparison.compare(gone, [], now="", had=comparison.imported(gone))
    told = f"(`{refused.value.reason}`, exit code {refused.value.exit_code})"
    assert f"more than half of the pages that were imported would go, be they few, the import is refused {told}" in (
        words("## Import and export")
    )


def test_where_a_vault_says_what_its_templates_are_is_as_in_the_code():
    rows = table("### What is refused and what is left out", "file in `.obsidian`")
    assert [coded(row[0]) + coded(row[1]) for row in rows] == [(file, key) for file, key, _ in obsidian.PLACES]


def test_the_areas_and_what_belongs_to_them_are_those_of_the_code():
    told = coded(re.search(r"\* \*\*Areas\*\*(.+?)\n\* ", section("## Who sees what"), re.DOTALL)[1])
    assert {*AREAS} <= {*told}
    others = {word: area_of("entity", word) or area_of(word, "") for word in told if word not in AREAS}
    assert others == {
        "customers": "clients",
        "vendors": "suppliers",
        "people": "employees",
        "decision": "decisions",
        "digest": "timeline",
    }


# --- search and answers ---------------------------------------------------------------------------------------


def numbers(heading):
    """Return the constants that the table below a heading tells, by name."""
    rows = {coded(row[0])[0]: row[1] for row in table(heading, "constant")}
    told = {name: tuple(map(float, value.split(", "))) for name, value in rows.items()}
    return {name: value if len(value) > 1 else value[0] for name, value in told.items()}


def test_the_constants_of_the_ranking_are_those_of_the_code():
    told = numbers("## Search")
    assert told == {name: getattr(fusion, name) for name in told}
    constants = {name for name, value in vars(fusion).items() if name.isupper() and isinstance(value, int | float)}
    assert {*told} == constants | {"FIELDS"}


def test_the_formula_of_the_ranking_is_the_one_that_the_code_is_written_by():
    (block,) = re.findall(r"^```text\n(.*?)^```$", section("## Search"), re.MULTILINE | re.DOTALL)
    code = " ".join((fusion.__doc__ or "").replace("`", "").split())
    assert [line for line in block.splitlines() if " ".join(line.split()) not in code] == []


def test_the_legs_are_those_of_the_code():
    assert {coded(row[1])[0] for row in table("## Search", "leg")} == {*fusion.LEGS}
    ranked = words("## Search")
    assert f"more than {chunks.LONGEST:,} characters" in ranked
    assert f"the first {pipeline.MOST_WORDS} distinct" in ranked
    assert f"at most {fusion.LEG_DEPTH} of them" in ranked


def test_the_limits_of_search_and_grep_are_those_of_the_code():
    told, (least, most) = words("## Search"), brain_search.PATTERN
    for said in (
        f"`k` is at most {brain_search.MOST_RESULTS}.",
        f"a literal of {least} to {most} characters",
        f"at most {brain_search.LINES_PER_PAGE} lines of a page and {brain_search.EXCERPT} characters of a line",
    ):
        assert said in told


def test_the_constants_of_an_answer_are_those_of_the_code():
    told = numbers("## Answers")
    assert told == {name: getattr(answering, name) for name in told}
    constants = {name for name, value in vars(answering).items() if name.isupper() and isinstance(value, int | float)}
    assert {*told} == constants | {name for name, value in vars(answering).items() if is_pair(value)}


def is_pair(value):
    """Return whether a constant is two numbers."""
    return isinstance(value, tuple) and [*map(type, value)] == [int, float]


def test_what_an_answer_says_and_takes_is_as_the_page_tells():
    told = words("## Answers")
    for said in (
        answering.UNKNOWN.removesuffix("."),
        answering.NO_EXPERIENCE,
        f"`k` (at most {brain_ask.MOST_EXTRACTS})",
        f"`properties` (1 to {MOST_PROPERTIES} identifiers)",
        f"`enum` lists up to {MOST_VALUES} values",
        "repeats eight words in a row",
        ", ".join(answering.EXPERIENCE[:-1]) + f" and {answering.EXPERIENCE[-1]}",
    ):
        assert said in told, said
    assert inspect.signature(answering.repeats).parameters["run"].default == 8
    assert citations.verified("a [1] b [9] c [2]", [Cited("x"), Cited("x")]).text == "a [1] b c [1]"


class Cited:
    """An extract of a page."""

    def __init__(self, rel_path):
        self.rel_path = rel_path


def test_an_answer_is_refused_in_the_order_that_the_page_tells():
    told = [coded(row[0])[0] for row in table("## Answers", "code")]
    assert told == [*dict.fromkeys(calls(brain_ask.__file__, {"refusal"})), *quotas.TOLD]


def test_the_settings_that_the_page_names_exist():
    named = {
        word for word in re.findall(r"`(\w+?)(?: = .+?)?`", section("## Answers")) if word in Settings.model_fields
    }
    begins = ("consultation", "questions_", "guidance", "max_answer")
    of_answers = {name for name in Settings.model_fields if name.startswith(begins)}
    assert of_answers - named <= {"consultation_timeout"}


# --- the tools ------------------------------------------------------------------------------------------------


def test_the_tools_are_those_of_the_catalogue_with_what_they_do_and_for_whom():
    rows = table("## The tools", "tool")
    assert [coded(row[0])[0] for row in rows] == [*BRAIN_INPUTS] == [*BRAIN_CATALOGUE]
    assert {coded(row[0])[0]: row[1] for row in rows} == {name: tool.nature for name, tool in BRAIN_CATALOGUE.items()}
    assert [coded(row[0])[0] for row in rows if row[2] == "the owner"] == [
        name for name, tool in BRAIN_CATALOGUE.items() if tool.owners
    ]
    asks = {coded(row[0])[0] for row in rows if row[1] == "reads" and row[2] == "anybody"} | {"ask_company_context"}
    assert {name for name, model in BRAIN_INPUTS.items() if "on_behalf_of" in model.model_fields} == {
        *asks,
        "log_trace",
    }


ARGUMENTS = {
    "get_person_aor": {"name": "sophie-lambert"},
    "get_glossary_term": {"term": "zero drift"},
    "search_company_context": {"query": "reference calibration"},
    "grep_company_context": {"pattern": "eighteen"},
    "list_pages": {"prefix": "memory/quality/"},
    "get_links": {"rel_path": "memory/quality/calibration-of-references.md"},
    "who_knows": {"topic": "calibration"},
    "find_precedents": {"situation": "calibration"},
    "get_context_pack": {"pack": "supplier-incident", "task_hint": "Keraton"},
    "list_context_packs": {},
    "ask_company_context": {"question": "How often are class 1 references calibrated?"},
    "governance_model": {},
    "governance_preview": {"op": "deny_department", "agent": "quality-copilot", "dept": "engineering"},
    "governance_apply": {"op": "deny_department", "agent": "quality-copilot", "dept": "sales"},
}


@pytest.fixture(scope="module")
def company(tmp_path_factory):
    """Return the brain of the sample organisation."""
    world = sample(tmp_path_factory.mktemp("company"))
    yield world.brain
    world.close()


def test_the_tools_answer_with_the_keys_that_the_page_tells(company):
    told = {coded(row[0])[0]: row[3] for row in table("## The tools", "tool")}
    answers = {name: told_by(company, name, given) for name, given in ARGUMENTS.items()}
    listed = {name: told[name].partition(";")[0].split(", ") for name in ARGUMENTS}
    # What is there only when something is to be said of it is told in the sections.
    extra = {"confidence", "warning", "structured"}
    assert {name: [key for key in answer if key not in extra or key in listed[name]] for name, answer in answers.items()} == listed  # fmt: skip  # noqa: E501


def told_by(brain, name, arguments, caller="owner"):
    answer = orjson.loads(call_brain(brain, name, arguments, caller=caller))
    assert "error" not in answer, answer
    return answer


def test_a_result_of_a_search_has_the_keys_that_the_page_tells(company):
    told = coded(re.search(r"\* A result has(.+?)\. *\n", section("## Search"), re.DOTALL)[1])
    answer = told_by(company, "search_company_context", {"query": "calibration", "k": 1})
    assert told == tuple(answer["results"][0])


def test_what_a_search_explains_is_what_the_page_tells(company):
    told = coded(re.search(r"\* `explain` prints(.+?)\n\* ", section("## Search"), re.DOTALL)[1])
    answer = told_by(company, "search_company_context", {"query": "calibration", "explain": True})
    (explained, *_) = [each["explain"] for each in answer["results"]]
    factors = {name for name in explained if name.endswith(("_boost", "_multiplier"))}
    assert {*explained} - factors == {*told}
    assert len(factors) == 4


def test_the_codes_of_refusals_are_those_of_the_code():
    told = {code for heading in ("## The tools", "## Answers", "## Ratings") for row in table(heading, "code") for code in coded(row[0])}  # fmt: skip  # noqa: E501
    assert told == codes()


def codes():
    """Return every code that a tool of the brain refuses by."""
    found = {*_CODES.values(), *quotas.TOLD, *get_args(rated.Reason), "invalid_arguments"}
    for path in TOOLS.glob("brain_*.py"):
        found |= {*calls(path, {"refusal"})}
        found |= {*re.findall(r'"error": "(\w+)"', path.read_text(encoding="utf-8"))}
    return found


def test_the_limits_of_the_reading_tools_are_those_of_the_code():
    rows = {coded(row[0])[0]: row[3] for row in table("## The tools", "tool")}
    assert f"{page_parts.MAX_PAGE:,} bytes" in rows["read_page"]
    assert f"at most {brain_reads.MOST_PAGES}" in rows["list_pages"]
    assert f"(0 to {brain_reads.DEEPEST}, default 1)" in words("## Precedents")
    assert f"longer than {brain_search.LONGEST_TEXT:,} characters" in words("## The tools")


# --- packs ----------------------------------------------------------------------------------------------------


def test_the_keys_of_a_pack_are_those_that_the_program_reads():
    told = [coded(row[0])[0] for row in table("## Packs", "key")]
    assert sorted(told) == sorted({*calls(packs.__file__, {"get"})} - {"k"})
    rows = {coded(row[0])[0]: row for row in table("## Packs", "key")}
    assert rows["budget"][2] == str(packs.DEFAULT_BUDGET)
    assert f"1 to {packs.MOST_ITEMS} items" in rows["context"][1]
    assert f"k: {packs.DEFAULT_K}" in rows["context"][1]
    assert f"(1 to {packs.MOST_K})" in rows["context"][1]


def test_the_pack_of_the_page_is_one_and_what_is_unavailable_says_no_more(company):
    (text,) = re.findall(r"^```yaml\n(---\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    pack = packs.pack_of(read_page("memory/packs/supplier-incident.md", text))
    assert (pack.slug, pack.owner_aor, len(pack.items), pack.budget) == ("supplier-incident", "operations", 3, 1500)
    assert f"`{brain_packs.UNAVAILABLE}`" in section("## Packs")
    served = told_by(company, "get_context_pack", {"pack": "supplier-incident"}, "person:pavel-novak")
    denied = {"rel_path": "memory/people/line-1-transfer.md", "status": brain_packs.UNAVAILABLE}
    assert served["unavailable"] == [denied]


# --- what is written ------------------------------------------------------------------------------------------


def test_the_rules_of_the_guard_are_those_of_the_code_in_their_order():
    rows = {coded(row[0])[0]: row[1] for row in table("### The guard", "rule")}
    assert [*rows] == [*guard.RULES]
    sizes = [guard.MAX_TITLE, guard.MAX_LESSON, guard.MAX_CONTENT, guard.MAX_REFS]
    assert re.findall(r"\d+(?:,\d{3})*", rows["R-SIZE"]) == [f"{size:,}" for size in sizes]
    assert f"{SAME:.0%} of shingles of" in rows["R-DUPLICATE"]
    assert (SHINGLE, NEAR) == (5, 0.5)


def test_what_a_proposal_cannot_say_of_itself_is_that_of_the_code():
    protected, types = re.search(r"The protected keys:(.+?)The types that a proposal cannot claim:(.+?)\n\n", section("### The guard"), re.DOTALL).groups()  # fmt: skip  # noqa: E501
    assert coded(protected) == tuple(sorted(guard.PROTECTED))
    assert coded(types) == tuple(sorted(guard.TYPES))


def test_what_the_judge_of_a_proposal_looks_at_is_that_of_the_code():
    told = words("### The guard")
    assert f"(at most {contradicting.SENTENCES})" in told
    assert f"those of the {contradicting.PAGES} active pages" in told
    assert f"a confidence of {contradicting.ACTS} or more" in told


def test_the_rules_of_a_trace_are_those_of_the_code_in_their_order():
    rows = {coded(row[0])[0]: row[1] for row in table("## Traces", "rule")}
    assert [*rows] == [*traces.RULES]
    sizes = [traces.MAX_TASK, traces.MAX_SUMMARY, traces.MAX_DETAIL, traces.MAX_REFS]
    assert re.findall(r"\d+(?:,\d{3})*", rows["R-SIZE"]) == [f"{size:,}" for size in sizes]


def test_ratings_are_told_with_the_limits_of_the_code():
    assert {coded(row[0])[0] for row in table("## Ratings", "code")} == {*get_args(rated.Reason)}
    assert f"within {rated.WINDOW // 86_400_000_000} days" in words("## Ratings")
    assert f"at most {rated.MAX_COMMENT:,} characters" in words("## Ratings")


def test_what_is_sealed_is_all_that_an_event_can_hold_sealed():
    told = {coded(row[0])[0] for row in table("## Erasure", "sealed")}
    hints = {(event, field.name): get_type_hints(event)[field.name] for event in get_args(BrainEvent) for field in fields(event)}  # fmt: skip  # noqa: E501
    sealed = {f"{event.__name__}.{name}" for (event, name), hint in hints.items() if Sealed in (hint, *get_args(hint))}
    assert told == sealed


def test_the_org_map_is_changed_by_as_many_operations_as_the_page_says():
    assert f"changed by {len(OPERATIONS)} operations" in words("## Governance")


# --- the page about the org map -------------------------------------------------------------------------------


def test_the_model_of_governance_has_the_keys_that_its_page_tells(company):
    model = told_by(company, "governance_model", {})
    rows = table("## The tools", "of", GOVERNANCE)
    keys = {coded(row[0])[0]: [word for word in coded(row[1]) if word not in {"read", "write", "deny"}] for row in rows}
    assert keys == {kind: [*model[kind][0]] for kind in ("people", "agents")}
    assert sorted(model["people"][0]["plain"]) == ["en", "fr"]
    joel = next(each["plain"]["en"] for each in model["people"] if each["slug"] == "joel-okafor")
    (shown,) = re.findall(r'sentences: "(.+?) …"', " ".join(GOVERNANCE.split()))
    assert joel.startswith(shown)


def test_the_index_of_a_department_looks_as_its_page_tells(company):
    (block,) = re.findall(r"^```text\n(.*?)^```$", section("## The tools", GOVERNANCE), re.MULTILINE | re.DOTALL)
    answer = call_brain(company, "get_department", {"name": "quality"}, caller="owner").decode()
    assert [line for line in block.splitlines() if line not in answer.splitlines()] == []
    assert [line for line in answer.splitlines() if line.startswith("#")] == [
        line for line in block.splitlines() if line.startswith("#")
    ]


def test_a_person_and_a_term_have_the_keys_that_their_page_tells(company):
    paragraphs = [each for each in section("## The tools", GOVERNANCE).split("\n\n") if each.startswith("**`get_")]
    keys = {coded(each)[0]: re.search(r"`\{([\w, ]+)\}`", each) for each in paragraphs}
    shown = {name: found[1].split(", ") for name, found in keys.items() if found}
    assert shown == {
        name: [*told_by(company, name, ARGUMENTS[name])] for name in ("get_person_aor", "get_glossary_term")
    }


# --- commands -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [PAGE, GOVERNANCE], ids=["brain.md", "brain-governance.md"])
def test_every_command_of_the_page_exists_with_the_options_that_it_is_given(text):
    found = commands(text)
    assert len(found) > 5
    assert [problem for each in found if (problem := unknown(each))] == []


def test_every_command_of_the_brain_is_in_the_list():
    cells = [coded(row[0]) for row in table("### The commands", "command")]
    named = [name for first, *more in cells if first.startswith("falsify brain ") for name in (first.split()[2], *more)]
    assert sorted(named) == sorted(brain_commands.list_commands(click.Context(brain_commands)))
    below = {word for row in table("### The commands", "command") for word in coded(row[1])}
    groups = [brain_commands.get_command(click.Context(brain_commands), name) for name in ("org", "governance")]
    assert below == {name for group in groups for name in group.list_commands(click.Context(group))}


# --- the tour -------------------------------------------------------------------------------------------------


def tour():
    """Yield what is below "A tour", in order: lines for a shell, what is printed, and what is answered."""
    yield from re.findall(r"^```(\w+)\n(.*?)^```$", section("## A tour"), re.MULTILINE | re.DOTALL)


def test_the_tour_goes_as_the_page_says(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    printed, ids, codes_ = "", {}, []
    for kind, text in tour():
        match kind:
            case "sh":
                printed = ""
                for line in text.splitlines():
                    codes_ += play(shlex.split(known(line, ids), comments=True), monkeypatch)
                    said = capfd.readouterr().out
                    ids |= operation(said)
                    printed += said
            case "text":
                assert unseen(text, printed) == []
            case "json":
                assert told(json.loads(text), within=json.loads(printed.splitlines()[-1]))
    assert codes_ == [0] * len(codes_)
    assert len(codes_) >= 20


def known(line, ids):
    """Return a line with the id of the last operation in the place of the one that the page happens to show."""
    return re.sub(r"G-[0-9a-f]{10}", lambda shown: ids.get("last", shown[0]), line)


def operation(printed):
    found = re.findall(r"Applied \w+ as (G-[0-9a-f]{10})", printed)
    return {"last": found[-1]} if found else {}


def play(line, monkeypatch):
    """Carry out a line of a shell, and return the exit codes of its commands."""
    if line[:2] == ["python", "-c"]:
        exec(line[2], {})  # noqa: S102 - the page's own line, which makes the folder
        return []
    done = [cli.run(each) for each in each_command(line)]
    if line[-2:-1] == ["cd"]:
        monkeypatch.chdir(line[-1])
    elif line[:1] != ["falsify"]:
        raise AssertionError(f"the test cannot play {line}")
    return done


def unseen(shown, printed):
    """Return the lines of the page that were not printed; ids and days are other ones."""
    seen = leveled(printed)
    return [line for line in shown.splitlines() if leveled(line) not in seen]


def leveled(text):
    return re.sub(r"\b[GP]-[0-9a-f]{10}|(?<=-copilot/)\d{4}-\d\d-\d\d|\S*(?=corvane: )", "…", plain(text))


def told(part, *, within):
    """Return whether a document says all that its excerpt says; a text that ends with … goes on."""
    if isinstance(part, dict):
        return all(name in within and told(value, within=within[name]) for name, value in part.items())
    if isinstance(part, list):
        return len(part) <= len(within) and all(told(a, within=b) for a, b in zip(part, within, strict=False))
    if isinstance(part, str) and part.endswith("…"):
        return within.startswith(part[:-1])
    return part == within


# --- the page itself ------------------------------------------------------------------------------------------


def test_every_place_on_the_page_that_is_linked_to_exists():
    for page in (PAGE, GOVERNANCE):
        anchors = {anchor(heading) for heading in re.findall(r"^#+ (.+)$", page, re.MULTILINE)}
        assert {*re.findall(r"\]\(#([\w-]+)\)", page)} - anchors == set()
        for name, place in re.findall(r"\]\((\w[\w-]*\.md)#([\w-]+)\)", page):
            there = (ROOT / "docs" / name).read_text(encoding="utf-8")
            assert place in {anchor(heading) for heading in re.findall(r"^#+ (.+)$", there, re.MULTILINE)}


def test_prose_is_no_wider_than_elsewhere():
    for page in (PAGE, GOVERNANCE):
        text = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
        assert [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")] == []


def test_how_well_it_finds_is_told_in_one_place():
    prose = re.sub(r"^\| `[A-Z_0-9]+` \|.*$", "", PAGE, flags=re.MULTILINE)  # a constant may have as many digits
    assert re.findall(r"recall@\d|MRR|\b0\.\d{3}\b", prose) == []
    assert "benchmarks.md#searching-the-brain" in PAGE


def test_nothing_on_the_page_waits_to_be_written():
    assert re.findall(r"^[A-Z]{3,}$|TODO|FIXME", PAGE + GOVERNANCE, re.MULTILINE) == []
