"""The command line: what it prints, what it writes, and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cli
from falsify import errors

HEAVY = ("numpy", "onnxruntime", "orjson", "pydantic", "cognee", "eventsourcing", "yaml", "sqlite3")

STORY = """\
question: Did X know?
sources:
  - {id: qa-report, title: QA report of March 2021}
  - {id: supplier-email, title: Supplier email of January 2021}
hypotheses:
  - {id: A, statement: X knew through the QA report}
  - {id: B, statement: X knew through the supplier email, prior: 0.3}
evidence:
  - {id: E_qa, claim: The QA report of March 2021 documents the defect, source_id: qa-report, asserted_at: 2021-03-15,
     supports: [{hypothesis: A, weight: 0.8}]}
  - {id: E_email, claim: A supplier email of January 2021 warns X, source_id: supplier-email, asserted_at: 2021-01-20,
     supports: [{hypothesis: B, weight: 0.6}]}
conclusions:
  - {id: K, statement: X knew by March 2021, depends_on: [{evidence: E_qa}]}
"""
FACT = "Forensic audit: the March QA report was back-dated."


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "inquiry"
    assert cli.run(["init", str(folder)]) == 0
    return folder


@pytest.fixture
def falsify(root, capfd):
    """Run a command in the workspace; return its exit code, stdout and stderr."""

    def run(*words):
        capfd.readouterr()
        code = cli.run(["-w", str(root), *words])
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def story(falsify, tmp_path):
    file = tmp_path / "story.yaml"
    file.write_text(STORY, encoding="utf-8")
    assert falsify("ingest", str(file))[0] == 0
    return file


def told(result):
    code, out, _ = result
    assert code == 0, result
    return json.loads(out)


def nodes(falsify, *words):
    state = told(falsify("graph", "--all", "--json", *words))
    return {node["handle"]: node for node in state["nodes"]}


def test_a_pasted_fact_kills_the_evidence_the_conclusion_and_crowns_the_rival(falsify, story):
    answer = told(falsify("fact", FACT, "--id", "F", "--json"))
    assert [(c["change"], c["handle"]) for c in answer["changes"]] == [
        ("evidence_refuted", "E_qa"),
        ("conclusion_invalidated", "K"),
        ("hypothesis_superseded", "A"),
        ("node_forgotten", "K"),
    ]
    assert [f["hypothesis"]["handle"] for f in answer["frontier"]] == ["B"]
    assert answer["epoch"] == 1
    assert {h: n["state"] for h, n in nodes(falsify).items() if h} == {
        "A": "superseded",
        "B": "alive",
        "E_qa": "refuted",
        "E_email": "alive",
        "K": "forgotten",
        "F": "alive",
    }


def test_retracting_the_refuter_brings_everything_back(falsify, story):
    before = nodes(falsify)
    falsify("fact", FACT, "--id", "F")
    answer = told(falsify("retract", "F", "--json"))
    assert [c["handle"] for c in answer["changes"] if c["change"] == "node_reinstated"] == ["E_qa", "K", "A"]
    after = nodes(falsify)
    assert {h: after[h]["state"] for h in before} == {h: n["state"] for h, n in before.items()}


def test_a_dry_run_shows_the_cascade_and_appends_nothing(falsify, story):
    before = falsify("replay", "--digest")
    shown = told(falsify("fact", FACT, "--dry-run", "--json"))
    assert shown["dry_run"] is True
    assert "K" in {c["handle"] for c in shown["changes"]}
    assert falsify("replay", "--digest") == before


def test_the_same_key_and_words_answer_byte_for_byte_the_same(falsify, story):
    first = falsify("fact", FACT, "--key", "once", "--json")
    falsify("fact", "The warehouse moved to Utrecht.", "--json")
    assert falsify("fact", FACT, "--key", "once", "--json") == first


def test_the_same_key_for_other_words_is_a_conflict(falsify, story):
    falsify("fact", FACT, "--key", "once")
    code, out, _ = falsify("fact", "Something else entirely.", "--key", "once", "--json")
    assert (code, json.loads(out)["status"]) == (errors.ConflictError.exit_code, "conflict")


def test_a_retry_with_a_key_is_answered_even_where_the_command_would_now_be_refused(falsify, story):
    first = falsify("retract", "E_qa", "--key", "r1", "--json")
    assert falsify("retract", "E_qa", "--json")[0] == errors.RefusedError.exit_code
    assert falsify("retract", "E_qa", "--key", "r1", "--json") == first


def test_the_same_file_twice_changes_nothing(falsify, story):
    before = falsify("replay", "--digest")
    answer = told(falsify("ingest", str(story), "--json"))
    assert (answer["recorded"], answer["changes"], answer["revised"]) == (0, [], False)
    assert falsify("replay", "--digest") == before


def test_recall_never_cites_the_dead_and_plain_rag_does(falsify, story):
    falsify("fact", FACT)
    recalled = told(falsify("recall", "when did X know?", "-k", "20", "--json"))
    assert {h["state"] for h in recalled["hits"]} == {"alive"}
    board = told(falsify("scoreboard", "What does the QA report of March 2021 document?", "--json"))
    assert [c["handle"] for c in board["plain_rag"]["citations"] if c["stale"]] == ["E_qa"]
    assert "E_qa" not in {c["handle"] for c in board["falsify"]["citations"]}


def test_replaying_an_epoch_gives_what_was_believed_then(falsify, story):
    before = told(falsify("replay", "--json"))
    falsify("fact", FACT)
    assert told(falsify("replay", "--epoch", "0", "--json")) == before
    assert told(falsify("replay", "--epoch", "1", "--json"))["digest"] != before["digest"]


def test_valid_time_leaves_out_what_nobody_had_said_yet(falsify, story):
    state = told(falsify("replay", "--valid-at", "2021-02-01", "--json"))["state"]
    assert {n["handle"] for n in state["nodes"]} >= {"A", "B", "E_email"}
    assert not {n["handle"] for n in state["nodes"]} & {"E_qa", "K"}


def test_why_tells_the_chain_down_to_the_fact_the_judge_and_the_source(falsify, story):
    falsify("fact", FACT, "--id", "F", "--source", "audit", "--source-title", "Forensic audit")
    reason = told(falsify("why", "K", "--json"))
    (lost,) = reason["reasons"]
    (killer,) = lost["reasons"]
    assert (reason["handle"], lost["link"], lost["handle"], killer["link"], killer["handle"]) == (
        "K", "lost", "E_qa", "refuted by", "F",
    )  # fmt: skip
    assert killer["sources"][0]["title"] == "Forensic audit"
    assert killer["verdict"]["relation"] == "contradicts"
    assert killer["verdict"]["confidence"] >= 0.6
    assert any("F" in remedy for remedy in reason["remedies"])
    text = falsify("why", "K")[1]
    assert FACT in text
    assert "What would bring it back" in text
    assert falsify("why", "K", "--mermaid")[1].startswith("flowchart TD\n")


def test_why_tells_a_chain_of_any_length(falsify, story, tmp_path):
    steps = range(1, 1001)
    on = ["evidence: E_qa", *(f"conclusion: c{n}" for n in steps)]
    lines = [f"  - {{id: c{n}, statement: step {n}, depends_on: [{{{on[n - 1]}}}]}}" for n in steps]
    file = tmp_path / "chain.yaml"
    file.write_text("\n".join(["question: Did X know?", "conclusions:", *lines]), encoding="utf-8")
    falsify("ingest", str(file))
    falsify("fact", FACT, "--id", "F")
    code, text, _ = falsify("why", "c1000")
    assert (code, text.count("lost "), text.count("refuted by "), text.count("continued at [")) == (0, 1000, 1, 62)
    code, drawn, _ = falsify("why", "c1000", "--mermaid")
    assert (code, drawn.count("-->|lost|"), drawn.count("-->|refuted by|")) == (0, 1000, 1)
    answer = told(falsify("why", "c1000", "--json"))
    assert (answer["cut_off"], [node["handle"] for node in asked(falsify, answer)]) == (True, ["c875"])
    assert told(falsify("why", "c100", "--json")).get("cut_off") is None


def asked(falsify, answer):
    """Return the nodes that an answer says to ask about next."""
    return [told(falsify("show", node_id, "--json")) for node_id in answer["ask_next"]]


def test_a_living_node_says_what_would_kill_it(falsify, story):
    assert told(falsify("why", "K", "--json"))["remedies"] == ["the death of E_qa"]


def test_verify_is_clean_after_a_revision(falsify, story):
    falsify("fact", FACT)
    code, out, _ = falsify("verify", "--json")
    assert code == 0
    assert all(part["faults"] == [] for part in json.loads(out))


def test_an_export_imports_to_the_same_bytes(falsify, story, tmp_path, capfd):
    falsify("fact", FACT, "--key", "once")
    exported, again = tmp_path / "log.jsonl", tmp_path / "again.jsonl"
    falsify("export", str(exported))
    other = str(tmp_path / "other")
    assert cli.run(["init", other]) == 0
    assert cli.run(["-w", other, "import", str(exported)]) == 0
    assert cli.run(["-w", other, "export", str(again)]) == 0
    assert again.read_bytes() == exported.read_bytes()


def test_a_person_overrules_the_judge(falsify, story):
    falsify("fact", FACT, "--id", "F")
    answer = told(
        falsify("adjudicate", "F", "E_qa", "--relation", "unrelated", "--rationale", "another report", "--json")
    )
    assert answer["epoch"] == 2
    assert nodes(falsify)["E_qa"]["state"] == "alive"


@pytest.mark.parametrize("form", ["table", "dot", "mermaid", "json"])
def test_the_graph_is_drawn_in_every_form(falsify, story, form):
    code, out, _ = falsify("graph", "--format", form)
    assert code == 0
    assert "The QA report of March 2021" in out


READS = [
    ["graph"], ["recall", "defect"], ["show", "K"], ["why", "K"], ["log"], ["timeline"], ["replay"], ["diff", "0"],
    ["scoreboard"], ["status"], ["verify"], ["doctor"], ["adjudicate"],
]  # fmt: skip


@pytest.mark.parametrize("words", READS, ids=lambda words: words[0])
def test_every_command_prints_one_json_document_and_readable_text(falsify, story, words):
    code, out, _ = falsify(*words, "--json")
    assert code == 0
    json.loads(out)
    code, out, _ = falsify(*words)
    assert code == 0
    assert out.strip()


BAD = [
    (["why", "nobody"], errors.NotFoundError, "there is no node 'nobody'"),
    (["why", "Kk"], errors.NotFoundError, "did you mean K?"),
    (["recall", "x", "--epoch", "7"], errors.NotFoundError, "its epochs are 0 to 0"),
    (["replay", "--position", "999"], errors.NotFoundError, "the log has no position 999"),
    (["replay", "--as-of", "yesterday"], errors.InvalidInputError, "'yesterday' is not a date"),
    (["replay", "--valid-at", "2021-02-30"], errors.InvalidInputError, "'2021-02-30' is not a date"),
    (["replay", "--epoch", "0", "--position", "1"], errors.InvalidInputError, "give one of them"),
    (["fact", ""], errors.InvalidInputError, "the fact is empty"),
    (["fact", "  . "], errors.InvalidInputError, "the fact is empty"),
    (["fact", "a\x07b"], errors.InvalidInputError, "U+0007 at position 2"),
    (["fact", "x" * 1_000_000], errors.InvalidInputError, "1,000,000 characters"),
    (["fact", "x", "--asserted-at", "03/15/2021"], errors.InvalidInputError, "is not a date"),
    (["fact", "x", "--trust", "-1"], errors.InvalidInputError, "trust is -1"),
    (["fact", "x", "--trust", "nan"], errors.InvalidInputError, "trust is nan"),
    (["fact", "x", "--supports", "K"], errors.InvalidInputError, "'K' is a conclusion, not a hypothesis"),
    (["fact", "x", "--supports", "A:2"], errors.InvalidInputError, "between 0 and 1"),
    (["fact", "x", "--id", "K"], errors.InvalidInputError, "'K' already stands for"),
    (["fact", "x", "--question", "Q9"], errors.NotFoundError, "there is no question 'Q9'"),
    (["retract", "K"], errors.InvalidInputError, "'K' is a conclusion, not evidence"),
    (["retract", "E_qa", "--source", "nobody"], errors.NotFoundError, "its sources are qa-report"),
    (["retract", "E_qa", "--restore"], errors.RefusedError, "standing already"),
    (["adjudicate", "E_qa"], errors.InvalidInputError, "is unadjudicated"),
    (["ingest", "missing.yaml"], errors.NotFoundError, "there is no file missing.yaml"),
    (["diff", "soon"], errors.InvalidInputError, "'soon' is no point in the log"),
    (["nonsense"], errors.InvalidInputError, "No such command"),
    (["fact"], errors.InvalidInputError, "Missing argument"),
    (["graph", "--format", "png"], errors.InvalidInputError, "is not one of"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "error", "says"), BAD, ids=lambda value: str(value)[:40])
def test_bad_input_gets_one_clear_message_and_writes_nothing(falsify, story, words, error, says):
    before = falsify("replay", "--digest")
    code, out, err = falsify(*words)
    assert code == error.exit_code
    assert out == ""
    assert says in err
    assert "Traceback" not in err
    code, out, err = falsify(*words, "--json")
    answer = json.loads(out)
    assert (code, answer["ok"], answer["status"]) == (error.exit_code, False, error.status)
    assert says in answer["error"]["message"] + answer["error"]["hint"]
    assert falsify("replay", "--digest") == before


def test_without_a_workspace_it_says_how_to_make_one(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["graph"]) == errors.NotFoundError.exit_code
    assert "falsify init" in capfd.readouterr().err


def test_the_nearest_workspace_upwards_is_found(root, monkeypatch, capfd):
    below = root / "notes" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert cli.run(["status", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["workspace"] == str(root)


def test_init_leaves_a_workspace_as_it_is(root, falsify, story):
    before = falsify("replay", "--digest")
    assert cli.run(["init", str(root)]) == 0
    assert falsify("replay", "--digest") == before


def run_apart(*words, **environ):
    """Run the command in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent), **environ}
    return subprocess.run([sys.executable, "-m", "cli", *words], capture_output=True, text=True, check=False, env=env)


@pytest.mark.parametrize("command", [*cli.COMMANDS, ""], ids=lambda c: c or "falsify")
def test_help_loads_nothing_heavy(command):
    words = [*([command] if command else []), "--help"]
    code = (
        "import sys, cli\n"
        f"code = cli.run({words!r})\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)\n"
        "sys.exit(code)"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0
    assert "Usage: falsify" in done.stdout
    assert done.stderr.strip() == "[]"


def test_no_command_but_those_that_need_it_imports_cognee(root, story):
    code = (
        "import sys, cli\n"
        f"for words in {READS!r}:\n"
        f"    cli.run(['-w', {str(root)!r}, *words])\n"
        "print('cognee' in sys.modules, file=sys.stderr)"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert done.stderr.strip().splitlines()[-1] == "False"


def test_colours_respect_no_color(root, story):
    plain = run_apart("-w", str(root), "graph", NO_COLOR="1")
    forced = run_apart("--color", "always", "-w", str(root), "graph")
    assert "\x1b[" not in plain.stdout
    assert "\x1b[" in forced.stdout


def test_a_reader_that_has_enough_is_not_an_error(root, story):
    command = f"{sys.executable} -m cli -w {root} log | head -1"
    env = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent)}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False, env=env
    )
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
@pytest.mark.parametrize("words", [["log"], ["log", "--json"], ["--help"]])
def test_what_does_not_fit_on_the_disk_is_said_in_one_line(root, story, words):
    command = [sys.executable, "-m", "cli", "-w", str(root), *words]
    env = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent)}
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=env)
    told = "Error: it cannot be written: No space left on device; free some space and try again\n"
    assert (done.returncode, done.stderr) == (8, told)


def test_an_ascii_terminal_gets_ascii(root, story):
    done = run_apart("-w", str(root), "graph", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert done.returncode == 0
    assert done.stdout.isascii()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_completion_for_every_shell(shell, capfd):
    assert cli.run(["completion", shell]) == 0
    assert "_FALSIFY_COMPLETE" in capfd.readouterr().out
