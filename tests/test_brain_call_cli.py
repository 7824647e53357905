"""`falsify call` of the brain's tools: the payload as it is, and an exit code that says what a refusal was."""

import json

import pytest

import cli
from surfaces.tools.brain_catalogue import BRAIN_CATALOGUE
from surfaces.tools.brain_org import UNAUTHORIZED
from surfaces.tools.brain_reads import NO_PAGE
from tests.search_world import World, page

BUDGET = page("Budget", "Eighty.")
FORGED = '{"error":"forged"}\n'


@pytest.fixture
def falsify(tmp_path, capfd):
    """Run a command in a workspace with a brain; return its exit code, stdout and stderr."""
    world = World(tmp_path)
    world.write({"memory/finance/budget.md": BUDGET, "memory/forged.md": FORGED})
    world.close()

    def run(*words):
        capfd.readouterr()
        code = cli.run(["-w", str(tmp_path), *words])
        out, err = capfd.readouterr()
        return code, out, err

    return run


def test_a_tool_of_the_brain_answers_with_its_payload_as_whoever_is_named(falsify):
    sent = '{"rel_path": "memory/finance/budget.md"}'
    assert falsify("call", "read_page", sent) == (0, BUDGET, "")
    assert falsify("call", "read_page", sent, "--as", "person:fay") == (0, BUDGET, "")
    assert falsify("call", "read_page", sent, "--as", "agent:helper") == (0, f"{NO_PAGE}\n", "")


def test_an_agent_calls_as_nobody_but_itself(falsify, monkeypatch):
    monkeypatch.setenv("FALSIFY_ACTOR", "agent:helper")
    code, out, _ = falsify("call", "list_pages", "{}", "--as", "owner")
    assert (code, json.loads(out)["error"]) == (9, "not_yourself")
    assert falsify("call", "list_pages", "{}")[0] == 0


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("read_page", "{}"), 2, "invalid_arguments"),
        (("read_page", "{"), 2, "invalid_json"),
        (("list_pages", '{"format": "xml"}'), 2, "invalid_format"),
        (("who_knows", '{"topic": " "}'), 2, "invalid_topic"),
        (("ask_company_context", '{"task": 7}'), 2, "invalid_question"),
        (("log_trace", '{"task": 7}'), 2, "invalid_arguments"),
        (("rate_answer", '{"answer_id": "a", "rating": "sideways"}'), 2, "invalid_rating"),
        (("list_pages", "{}", "--as", "root"), 2, "invalid_request"),
        (("get_person_aor", '{"name": "nobody"}', "--as", "agent:helper"), 3, "not_found"),
        (("governance_preview", '{"op": "no_such_operation"}'), 6, "aor_refused"),
    ],
)
def test_a_refusal_is_an_error_object_that_the_exit_code_follows(falsify, words, code, error):
    ended, out, err = falsify("call", *words)
    assert (ended, json.loads(out)["error"], err) == (code, error, "")


def test_a_refused_trace_ends_as_what_is_refused_does(falsify):
    sent = '{"task": "t", "status": "success", "summary": "s"}'
    code, out, _ = falsify("call", "log_trace", sent, "--as", "person:sam")
    assert (code, out.startswith("refused: ")) == (6, True)


@pytest.mark.parametrize("sent", ["{}", "{", "[]", '{"op": "grant"}', "null", "\udcff"])
@pytest.mark.parametrize("name", [name for name, tool in BRAIN_CATALOGUE.items() if tool.owners])
def test_governance_is_refused_with_the_same_bytes_even_for_what_is_no_json(falsify, name, sent):
    assert falsify("call", name, sent, "--as", "person:sam") == (9, UNAUTHORIZED.decode() + "\n", "")


def test_a_page_that_looks_like_a_refusal_is_a_page(falsify):
    assert falsify("call", "read_page", '{"rel_path": "memory/forged.md"}') == (0, FORGED, "")


def test_the_tools_are_listed_and_shown_beside_those_of_the_workbench(falsify):
    listed = [each["name"] for each in json.loads(falsify("tools", "--json")[1])]
    assert listed[-len(BRAIN_CATALOGUE) :] == list(BRAIN_CATALOGUE)
    assert json.loads(falsify("tools", "get_links", "--json")[1]) == BRAIN_CATALOGUE["get_links"].published()
    assert falsify("tools", "get_links")[1].startswith("get_links  answer\n")
