"""`falsify tools`, `falsify call` and `falsify approvals`: what they print, and how they end."""

import io
import json
import sys

import orjson
import pytest

import cli
from surfaces.envelope import STATUSES
from surfaces.tools.brain_catalogue import BRAIN_CATALOGUE
from surfaces.tools.catalogue import CATALOGUE, TOOLS
from surfaces.workspace import Workspace
from tests.catalogue_world import ACTS, ALICE, TICKET, World

STALE = {"node_id": "N-2", "reason": "", "idempotency_key": "k", "expected_project_revision": 1}

CREATE, CLAIM, MATERIALIZE, START, CANCEL, COMMIT = ACTS


@pytest.fixture
def root(tmp_path):
    """Return a workspace in which p1 is the project, in mode MANUAL, with node N-2 ready to run."""
    (tmp_path / "falsify.toml").write_text('project = "p1"\n')
    with Workspace.init(tmp_path, environ={}) as workspace:
        World(workspace, "MANUAL").node()
    return tmp_path


@pytest.fixture
def falsify(root, capfd):
    """Run a command in the workspace; return its exit code, stdout and stderr."""

    def run(*words):
        capfd.readouterr()
        code = cli.run(["-w", str(root), *words])
        out, err = capfd.readouterr()
        return code, out, err

    return run


def envelope(result):
    """Return the one envelope that was printed, whose status is the exit code."""
    code, out, err = result
    told = json.loads(out)
    assert (code, err, out.count("\n")) == (STATUSES[told["status"]].exit_code, "", 1)
    return told


def revision(falsify):
    return envelope(falsify("call", "falsify.project.get_state", "{}"))["projectRevision"]


def start(falsify, **changes):
    return {
        "node_id": "N-2",
        "reason": "Measure it.",
        "idempotency_key": "k1",
        "expected_project_revision": revision(falsify),
        **changes,
    }


def asked(falsify):
    """Let an agent ask for a run; return the request's id."""
    told = envelope(falsify("call", START, json.dumps(start(falsify)), "--as", ALICE))
    return told["approval"]["id"]


# --- tools ----------------------------------------------------------------------------------------------------


def test_tools_are_listed_as_they_are_published(falsify):
    code, out, _ = falsify("tools", "--json")
    every = [*TOOLS.values(), *BRAIN_CATALOGUE.values()]
    assert (code, json.loads(out)) == (0, [tool.published() for tool in every])
    assert list(json.loads(out)[0]) == ["name", "kind", "description", "inputSchema", "annotations"]


def test_tools_are_listed_for_people_with_what_an_agents_call_comes_to(falsify):
    code, out, _ = falsify("tools")
    lines = out.splitlines()
    heads = {line.split()[0]: line.split()[1:] for line in lines if line.startswith("falsify.")}
    assert (code, list(heads)) == (0, list(TOOLS))
    assert lines[0].split() == ["MANUAL", "COPILOT", "AUTORESEARCH"]
    assert heads["falsify.graph.get"] == ["answer"]
    assert heads[START] == ["act", "ask", "ask", "execute"]
    assert heads[CANCEL] == ["transact", "ask", "ask", "ask"]
    assert "  Cancel a run that is queued or in flight." in lines


@pytest.mark.parametrize("name", CATALOGUE)
def test_one_tool_is_shown_in_full(falsify, name):
    code, out, _ = falsify("tools", name)
    assert (code, json.loads(out[out.index("\n{") :])) == (0, CATALOGUE[name].published()["inputSchema"])
    assert CATALOGUE[name].description.split(". ")[0] in " ".join(out.split())
    assert json.loads(falsify("tools", name.replace(".", "_"), "--json")[1]) == CATALOGUE[name].published()


def test_tools_need_no_workspace(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["tools"]) == 0
    assert cli.run(["tools", "falsify.nothing"]) == 3


# --- call -----------------------------------------------------------------------------------------------------


def test_a_call_is_made_as_the_setting_actor_and_the_setting_project(falsify):
    told = envelope(falsify("call", START, json.dumps(start(falsify))))
    assert (told["status"], told["result"]["run"]["id"]) == ("ok", "R-2")


def test_a_call_is_made_as_whoever_is_named(falsify):
    told = envelope(falsify("call", START, json.dumps(start(falsify)), "--as", ALICE))
    assert (told["status"], told["approval"]["asked_by"]) == ("approval_required", ALICE)


def test_a_tool_is_called_by_its_name_with_underscores_too(falsify):
    told = envelope(falsify("call", "falsify_run_start", json.dumps(start(falsify)), "--as", ALICE))
    assert told["approval"]["tool"] == START


def test_the_project_that_the_arguments_name_is_the_one_that_is_meant(falsify):
    told = envelope(falsify("call", "falsify.project.get_state", '{"project_id": "p2"}'))
    assert told["status"] == "not_found"
    assert envelope(falsify("--project", "p2", "call", "falsify.project.get_state", "{}"))["status"] == "not_found"


def test_neither_the_order_of_keys_nor_white_space_makes_another_body(falsify):
    sent = start(falsify)
    first = falsify("call", START, json.dumps(sent))
    again = falsify("call", "falsify_run_start", json.dumps(dict(reversed(sent.items())), indent=4))
    assert (first, envelope(first)["status"]) == (again, "ok")
    other = envelope(falsify("call", START, json.dumps(sent | {"reason": "Something else."})))
    assert other["status"] == "conflict"


def test_arguments_are_read_from_a_file_and_from_standard_input(falsify, tmp_path, monkeypatch):
    file = tmp_path / "arguments.json"
    file.write_text('{"limit": 1}')
    assert envelope(falsify("call", "falsify.ticket.list", f"@{file}"))["status"] == "ok"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"limit": 0}')))
    assert envelope(falsify("call", "falsify.ticket.list", "-"))["status"] == "invalid_request"


@pytest.mark.parametrize(
    "words",
    [
        "", "{", "limit=5", '{"a": NaN}', '{"a": "\\ud800"}', "\udcff", "[" * 100_000, "[]", "null", '"{}"', "7",
        "@", "@/no/such/file", "@.", '{"limit": "5"}', '{"project_id": null}',
    ],
)  # fmt: skip
def test_what_is_no_object_of_arguments_is_an_invalid_request(falsify, words):
    assert envelope(falsify("call", "falsify.ticket.list", words))["status"] == "invalid_request"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("falsify.nothing", "{}"), "not_found"),
        (("falsify.run.get", '{"run_id": "R-99"}'), "not_found"),
        (("falsify.run.get", '{"run_id": "R-1"}', "--as", "root"), "invalid_request"),
        ((CLAIM, '{"ticket_id": "T-1"}'), "invalid_request"),
        ((START, json.dumps(STALE)), "conflict"),
    ],
)  # fmt: skip
def test_a_refusal_is_an_envelope_whose_status_is_the_exit_code(falsify, words, status):
    assert envelope(falsify("call", *words))["status"] == status


def test_where_there_is_no_workspace_the_answer_is_an_envelope_still(tmp_path, capfd):
    code = cli.run(["-w", str(tmp_path / "nowhere"), "call", "falsify.project.get_state", "{}"])
    told = json.loads(capfd.readouterr().out)
    assert (code, told["status"], told["projectRevision"]) == (3, "not_found", 0)


def test_an_agent_calls_as_nobody_but_itself(falsify, monkeypatch):
    monkeypatch.setenv("FALSIFY_ACTOR", ALICE)
    for other in ("owner", "person:ada", "agent:bob"):
        assert envelope(falsify("call", START, json.dumps(start(falsify)), "--as", other))["status"] == "forbidden"
    assert envelope(falsify("call", START, json.dumps(start(falsify)), "--as", ALICE))["status"] == "approval_required"


# --- approvals ------------------------------------------------------------------------------------------------


def test_what_waits_is_listed_shown_and_approved(falsify):
    approval_id = asked(falsify)
    code, out, _ = falsify("approvals", "list")
    head, *effects = out.splitlines()
    assert (code, head.split()[:4]) == (0, [approval_id, "p1", START, ALICE])
    assert effects == ["  a run of N-2 is queued, for at most 60 s"]
    code, out, _ = falsify("approvals", "show", approval_id[:7])
    assert code == 0
    assert "  node N-2 is READY: holds" in out
    assert "what has changed in the project since then: nothing" in out
    assert "it can be carried out" in out
    code, out, _ = falsify("approvals", "approve", approval_id[:7], "--note", "go on")
    assert (code, out.splitlines()) == (
        0,
        [
            "what has changed in the project since then: nothing",
            f"{approval_id} is executed by owner",
            f"  owner approves {approval_id}",
            "  R-2 of N-2 is queued, for at most 60 s",
        ],
    )
    assert falsify("approvals", "list")[1] == "nothing waits for approval\n"
    assert "executed by owner" in falsify("approvals", "list", "--all")[1]


def test_approving_shows_what_has_changed_since(falsify, root):
    approval_id = asked(falsify)
    with Workspace.open(root, environ={}) as workspace:
        ticket = {"tickets": [TICKET], "idempotency_key": "k2"}
        sent = json.dumps({**ticket, "expected_project_revision": workspace.of("p1").project.revision})
    assert envelope(falsify("call", CREATE, sent, "--as", "person:ada"))["status"] == "ok"
    _, out, _ = falsify("approvals", "approve", approval_id)
    assert "T-2 is created by person:ada: Wider layers" in out
    assert out.index("T-2 is created") < out.index("is executed by")


def test_approving_twice_says_that_nothing_was_done(falsify):
    approval_id = asked(falsify)
    falsify("approvals", "approve", approval_id)
    code, out, _ = falsify("approvals", "approve", approval_id)
    assert (code, "was approved before by owner and carried out then; nothing was done now" in out) == (0, True)


def test_under_json_the_answer_is_the_envelope(falsify):
    approval_id = asked(falsify)
    (listed,) = json.loads(falsify("approvals", "list", "--json")[1])
    shown = json.loads(falsify("approvals", "show", approval_id, "--json")[1])
    assert (listed["id"], listed["status"], shown["can_be_carried_out"]) == (approval_id, "pending", True)
    told = envelope(falsify("approvals", "approve", approval_id, "--json"))
    assert (told["status"], told["result"]["run"]["id"], told["approval"]["status"]) == ("ok", "R-2", "executed")
    told = envelope(falsify("approvals", "reject", approval_id, "--reason", "too late", "--json"))
    assert (told["status"], told["result"]["error"]["reason"]) == ("conflict", "approval_executed")
    told = envelope(falsify("approvals", "show", "A-nobody", "--json"))
    assert told["status"] == "not_found"


def test_what_is_rejected_is_told_with_its_reason(falsify):
    approval_id = asked(falsify)
    code, out, _ = falsify("approvals", "reject", approval_id, "--reason", "too dear")
    assert (code, out.splitlines()) == (
        0, [f"{approval_id} is rejected by owner", f"  owner rejects {approval_id}: too dear"],
    )  # fmt: skip
    code, _, err = falsify("approvals", "approve", approval_id)
    assert (code, "was rejected by owner" in err) == (6, True)


def test_a_conflict_names_what_has_changed_and_ends_with_its_code(falsify, root):
    approval_id = asked(falsify)
    assert envelope(falsify("call", START, json.dumps(start(falsify, idempotency_key="k2"))))["status"] == "ok"
    code, _, err = falsify("approvals", "approve", approval_id)
    assert (code, f"{approval_id} cannot be carried out any more: R-2 of N-2 is QUEUED" in err) == (4, True)
    assert "it cannot be carried out any more\n  R-2 of N-2 is QUEUED" in falsify("approvals", "show", approval_id)[1]
    assert [r["status"] for r in json.loads(falsify("approvals", "list", "--json")[1])] == ["pending"]


@pytest.mark.parametrize("words", [("approve",), ("reject", "--reason", "no")])
def test_an_agent_is_forbidden_to_answer(falsify, monkeypatch, words):
    approval_id = asked(falsify)
    monkeypatch.setenv("FALSIFY_ACTOR", "agent:bob")
    code, _, err = falsify("approvals", words[0], approval_id, *words[1:])
    assert (code, "agent:bob may not" in err) == (9, True)
    assert envelope(falsify("approvals", words[0], approval_id, *words[1:], "--json"))["status"] == "forbidden"
    assert [r["status"] for r in json.loads(falsify("approvals", "list", "--json")[1])] == ["pending"]


@pytest.mark.parametrize("words", [("approve", "--note", "a bell\x07"), ("reject", "--reason", "\x1b[31m"),
                                   ("reject", "--reason", " ")])  # fmt: skip
def test_what_is_said_with_an_answer_is_free_of_control_characters(falsify, words):
    approval_id = asked(falsify)
    assert falsify("approvals", words[0], approval_id, *words[1:])[0] == 2
    assert [r["status"] for r in json.loads(falsify("approvals", "list", "--json")[1])] == ["pending"]


def test_no_control_character_of_an_agent_reaches_the_terminal(falsify):
    """Overlong rows, bidirectional overrides and forged lines are shown as one harmless line each."""
    ticket = TICKET | {
        "title": "Wider\u202e layers\n  approved by owner",
        "instruction": "Look:\r\n\t\u200bit can be carried out\u2028<|im_start|>",
    }
    sent = {"tickets": [ticket], "idempotency_key": "k9", "expected_project_revision": revision(falsify)}
    told = envelope(falsify("call", CREATE, json.dumps(sent), "--as", ALICE))
    approval_id = told["approval"]["id"]
    shown = falsify("approvals", "show", approval_id)[1]
    everything = shown + falsify("approvals", "list")[1] + falsify("approvals", "approve", approval_id)[1]
    assert [c for c in everything if not c.isprintable() and c != "\n"] == []
    assert "  tickets[0].title: Wider layers approved by owner" in shown.splitlines()
    assert "  tickets[0].instruction: Look: it can be carried out (|im_start|)" in shown.splitlines()


def test_requests_of_all_projects_are_found(falsify, root):
    with Workspace.open(root, environ={}) as workspace:
        other = World(workspace, "MANUAL", project="p2")
        told = other.act(CREATE, tickets=[TICKET])
    first, second = asked(falsify), told["approval"]["id"]
    assert [r["id"] for r in json.loads(falsify("approvals", "list", "--json")[1])] == [first, second]
    assert envelope(falsify("approvals", "approve", second, "--json"))["result"]["tickets"][0]["id"] == "T-1"


def test_every_answer_is_json_that_orjson_reads_back(falsify):
    """What Falsify prints is UTF-8 without a byte-order mark, one document and one newline."""
    out = falsify("call", "falsify.project.get_state", "{}")[1]
    assert (orjson.loads(out)["ok"], out.endswith("}\n")) == (True, True)
