"""`falsify ingest` of documents: files and folders in, claims recorded and found again, faults told."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cli
from falsify import errors
from falsify.belief.graph import Evidence
from falsify.ports import Abstention, Extracted
from surfaces import intake
from surfaces.health import verify
from surfaces.intake import Found, Wishes, take
from surfaces.workspace import Workspace
from tests.mirror_world import HashEmbedder
from tests.pdfs import pdf
from tests.test_llm_judge import Endpoint

BELIEFS = "question: What broke the pump?\nhypotheses: [{id: A, statement: It was the seal}]\n"
NOTE = "# Field note\n\nThe pump leaks 3 litres a day. The seal is worn. Is it?\n"
FILES = {
    "note.md": NOTE,
    "page.html": "<title>The page</title><p>The motor is old.",
    "plain.txt": "The fan is off since Monday.",
    "claims.csv": "claim,source\nThe seal leaks.,meter\n",
    "claims.jsonl": '{"claim": "The valve is shut.", "source": "log"}\n',
}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "inquiry"
    assert cli.run(["init", str(folder)]) == 0
    assert cli.run(["-w", str(folder), "question", "What broke the pump?"]) == 0
    return folder


@pytest.fixture
def falsify(root, capfd):
    """Run a command in the workspace; return its exit code, stdout and stderr."""

    def run(*words):
        capfd.readouterr()
        code = cli.run(["-w", str(root), *map(str, words)])
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def notes(root):
    folder = root / "notes"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "report.pdf").write_bytes(pdf(["The bolt is loose."], title="The report"))
    return folder


def told(result):
    code, out, _ = result
    assert code == 0, result
    return json.loads(out)


def digest(falsify):
    return falsify("replay", "--digest")[1]


def evidence(falsify):
    return {n["text"]: n for n in told(falsify("graph", "--all", "--json"))["nodes"] if n["kind"] == "evidence"}


# --- one file ------------------------------------------------------------------------------------------------


def test_a_note_is_taken_in_and_its_claims_are_cited_with_their_place(falsify, notes):
    code, out, _ = falsify("ingest", notes / "note.md")
    assert code == 0
    assert "notes/note.md: 2 claims, taken as sentences, 2 new; left out 1 (no claims)" in out
    hit = told(falsify("recall", "How much does the pump leak?", "--json"))["hits"][0]
    assert hit["sources"] == [
        {
            "id": "notes/note.md",
            "title": "Field note",
            "quote": "The pump leaks 3 litres a day.",
            "asserted_at": "",
            "location": "notes/note.md#line=3&char=14",
        }
    ]
    assert "(notes/note.md#line=3&char=14)" in falsify("recall", "How much does the pump leak?")[1]


def test_a_file_is_known_by_its_path_from_the_workspace_wherever_one_stands(falsify, notes, monkeypatch):
    told(falsify("ingest", notes / "note.md", "--json"))
    monkeypatch.chdir(notes)
    again = told(falsify("ingest", "note.md", "--json"))
    assert (again["recorded"], again["changes"]) == (0, [])
    outside = notes.parent.parent / "outside.txt"
    outside.write_text("The roof is wet.", encoding="utf-8")
    assert told(falsify("ingest", outside, "--json"))["document"]["path"] == "../outside.txt"


def test_the_same_file_again_is_not_even_read(falsify, notes, monkeypatch):
    falsify("ingest", notes / "note.md")
    before = digest(falsify)
    monkeypatch.setattr(intake, "read", lambda *_: pytest.fail("it was read again"))
    code, out, _ = falsify("ingest", notes / "note.md")
    assert (code, "nothing new" in out, digest(falsify)) == (0, True, before)


def test_an_edited_file_retires_only_what_is_gone_from_it(falsify, notes):
    falsify("ingest", notes / "note.md")
    (notes / "note.md").write_text(NOTE.replace("The seal is worn.", "The seal is torn."), encoding="utf-8")
    changed = told(falsify("ingest", notes / "note.md", "--json"))
    assert {k: changed["document"][k] for k in ("claims", "new", "withdrawn", "restored")} == {
        "claims": 2, "new": 1, "withdrawn": 1, "restored": 0,
    }  # fmt: skip
    assert {text: node["state"] for text, node in evidence(falsify).items()} == {
        "The pump leaks 3 litres a day.": "alive",
        "The seal is worn.": "forgotten",
        "The seal is torn.": "alive",
    }
    (notes / "note.md").write_text(NOTE, encoding="utf-8")
    back = told(falsify("ingest", notes / "note.md", "--json"))["document"]
    assert (back["new"], back["withdrawn"], back["restored"]) == (0, 1, 1)


def test_source_title_date_and_trust_are_what_a_person_says(falsify, notes):
    falsify("ingest", notes / "plain.txt", "--source", "diary", "--source-title", "The diary", "--asserted-at",
            "2021-03-15", "--trust", "0.5")  # fmt: skip
    source = told(falsify("replay", "--json"))["state"]["sources"]
    assert source == [{"id": "diary", "title": "The diary", "trust": 0.5}]
    (said,) = evidence(falsify)["The fan is off since Monday."]["assertions"]
    assert (said["source_id"], said["asserted_at"]) == ("diary", "2021-03-15")


def test_a_known_document_keeps_its_source_until_another_is_named(falsify, notes):
    falsify("ingest", notes / "plain.txt", "--source", "diary")
    (notes / "plain.txt").write_text("The fan is off since Monday. It is warm in here.", encoding="utf-8")
    assert told(falsify("ingest", notes / "plain.txt", "--json"))["document"]["source_id"] == "diary"
    falsify("ingest", notes / "plain.txt", "--source", "log")
    said = evidence(falsify)["The fan is off since Monday."]["assertions"]
    assert {a["source_id"]: a["retracted"] for a in said} == {"diary": True, "log": False}


def test_a_new_trust_is_recorded_though_the_file_is_the_same(falsify, notes):
    falsify("ingest", notes / "plain.txt")
    assert told(falsify("ingest", notes / "plain.txt", "--trust", "0.25", "--json"))["recorded"] == 1
    assert told(falsify("ingest", notes / "plain.txt", "--trust", "0.25", "--json"))["recorded"] == 0


def test_a_table_weighs_on_hypotheses(falsify, notes, tmp_path):
    beliefs = tmp_path / "beliefs.yaml"
    beliefs.write_text(BELIEFS, encoding="utf-8")
    falsify("ingest", beliefs)
    (notes / "claims.csv").write_text("claim,supports\nThe seal leaks.,A:0.5\n", encoding="utf-8")
    falsify("ingest", notes / "claims.csv")
    state = told(falsify("graph", "--json"))
    assert [n["standing"] for n in state["nodes"] if n["handle"] == "A"] == [0.5]


def test_a_dry_run_appends_nothing(falsify, notes):
    before = digest(falsify)
    shown = told(falsify("ingest", notes / "note.md", "--dry-run", "--json"))
    assert (shown["dry_run"], shown["document"]["new"]) == (True, 2)
    assert digest(falsify) == before


def test_a_key_answers_the_same_bytes_and_belongs_to_one_file(falsify, notes):
    first = falsify("ingest", notes / "note.md", "--key", "once", "--json")
    (notes / "other.md").write_text("It is dark.", encoding="utf-8")
    falsify("ingest", notes / "other.md")
    assert falsify("ingest", notes / "note.md", "--key", "once", "--json") == first
    code, _, err = falsify("ingest", notes, "--key", "twice")
    assert (code, "belongs to one file" in err) == (2, True)


def test_judged_claims_are_held_against_what_was_recorded_before(root):
    class Judge:
        name, version = "words", "1"

        def judge(self, fact, claims):
            from falsify.ports import Opinion

            assert fact.source_title == "Field note"
            return [Opinion("contradicts", 0.9, "they differ") for _ in claims]

    with Workspace(root, environ={}, embedder=HashEmbedder(), judge=Judge()) as workspace:
        (root / "old.txt").write_text("The seal is new.", encoding="utf-8")
        take(workspace, Found(root / "old.txt", named=True), Wishes())
        (root / "note.md").write_text("# Field note\n\nThe seal is worn.\n", encoding="utf-8")
        seen = []
        answer = take(
            workspace, Found(root / "note.md", named=True), Wishes(judged=True), watch=lambda c: seen.extend(c) or c
        ).outcome.as_json()
        assert [(c["change"], c["text"]) for c in answer["changes"]] == [("evidence_refuted", "The seal is new.")]
        assert [claim.text for _, claim in seen] == ["The seal is worn."]
        assert all(part["faults"] == [] for part in verify(workspace, with_mirror=False, anchor=None))


def test_where_there_are_two_questions_one_is_named(falsify, notes):
    falsify("question", "Is it dry?", "--id", "dry")
    code, _, err = falsify("ingest", notes / "note.md")
    assert (code, "name one with --question" in err) == (2, True)
    assert told(falsify("ingest", notes / "note.md", "--question", "dry", "--json"))["subject"]["handle"] == "dry"


def test_without_a_question_there_is_nothing_to_record_for(tmp_path, capfd):
    cli.run(["init", str(tmp_path)])
    (tmp_path / "a.txt").write_text("The pump leaks.", encoding="utf-8")
    assert cli.run(["-w", str(tmp_path), "ingest", str(tmp_path / "a.txt")]) == errors.NotFoundError.exit_code
    assert "falsify question TEXT" in capfd.readouterr().err


# --- folders -------------------------------------------------------------------------------------------------


def test_a_folder_is_walked_and_hidden_files_are_passed_over(falsify, notes):
    (notes / "deep" / "deeper").mkdir(parents=True)
    (notes / "deep" / "deeper" / "last.txt").write_text("The end is near.", encoding="utf-8")
    (notes / ".hidden").mkdir()
    (notes / ".hidden" / "a.txt").write_text("The hidden is hidden.", encoding="utf-8")
    (notes / ".a.txt").write_text("The hidden is hidden.", encoding="utf-8")
    (notes / "package.json").write_text('{"name": "x"}', encoding="utf-8")
    (notes / "picture.png").write_bytes(b"\x89PNG")
    answer = told(falsify("ingest", notes, "--json"))
    assert answer["totals"] == {"files": 7, "unchanged": 0, "claims": 8, "failed": 0, "passed_over": 2}
    names = ["claims.csv", "claims.jsonl", "note.md", "page.html", "plain.txt", "report.pdf", "last.txt"]
    assert [Path(file["path"]).name for file in answer["files"]] == names
    assert "The hidden is hidden." not in evidence(falsify)


def test_the_belief_files_of_a_folder_come_first(tmp_path, capfd):
    root = tmp_path / "w"
    cli.run(["init", str(root)])
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.csv").write_text("claim,supports\nThe seal leaks.,A:0.5\n", encoding="utf-8")
    (folder / "z.yaml").write_text(BELIEFS, encoding="utf-8")
    assert cli.run(["-w", str(root), "ingest", str(folder)]) == 0
    assert "2 files, 0 unchanged, 1 new claims" in capfd.readouterr().out


def test_the_same_folder_again_changes_nothing_and_says_so(falsify, notes):
    falsify("ingest", notes)
    before = digest(falsify)
    code, out, _ = falsify("ingest", notes)
    assert (code, out.strip()) == (0, "6 files, 6 unchanged, 0 new claims")
    assert digest(falsify) == before


def test_a_bad_file_stops_no_other_and_the_command_ends_with_2(falsify, notes):
    (notes / "bad.csv").write_text("claim,source\nIt is so.\n", encoding="utf-8")
    (notes / "empty.md").write_text("", encoding="utf-8")
    code, out, _ = falsify("ingest", notes, "--json")
    answer = json.loads(out)
    assert (code, answer["ok"], answer["status"]) == (2, False, "invalid_request")
    assert answer["totals"] == {"files": 6, "unchanged": 0, "claims": 7, "failed": 2, "passed_over": 0}
    assert [failed["error"]["message"].rpartition("/")[2] for failed in answer["failed"]] == [
        "bad.csv, line 2: it has 1 cells, and the first line names 2 columns",
        "empty.md is empty",
    ]
    assert "It is so." not in evidence(falsify)
    code, out, _ = falsify("ingest", notes)
    assert (code, "6 files, 6 unchanged, 0 new claims, 2 not recorded" in out) == (2, True)


def test_several_files_are_told_in_one_document(falsify, notes):
    answer = told(falsify("ingest", notes / "note.md", notes / "plain.txt", "--json"))
    assert [file["document"]["new"] for file in answer["files"]] == [2, 1]
    assert [file["document"]["extractor"] for file in answer["files"]] == ["sentences 1", "sentences 1"]


# --- faults --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.txt", b"", "a.txt is empty"),
        ("a.md", b"a\0b", "a.md, line 1, column 2: it is binary"),
        ("a.html", "<p>é".encode("latin-1"), "a.html, line 1, column 4: byte 0xE9 is not UTF-8"),
        ("a.pdf", b"%PDF-1.4", "a.pdf is cut off"),
        ("a.csv", b"klaim\n", "a.csv, line 1: there is no column 'klaim'"),
        ("a.jsonl", b"{", "a.jsonl, line 1, column 2: this is not JSON"),
        ("a.bin", b"\x7fELF\0\0\0", "a.bin, line 1, column 5: it is binary"),
        ("a.txt", b"x" * 20_001 + b" is it.", "a.txt, line 1: the claim has 20,008 characters"),
        ("a.csv", b"claim,supports\nIt is.,Z\n", "a.csv, line 2: 'Z' is no hypothesis of the question"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_message_and_nothing_is_recorded(falsify, root, name, data, says):
    before = digest(falsify)
    (root / name).write_bytes(data)
    code, out, err = falsify("ingest", root / name)
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert says in err
    assert len(err.splitlines()) <= 2
    assert digest(falsify) == before


def test_a_file_that_is_not_there_is_not_found(falsify, root):
    code, _, err = falsify("ingest", root / "none.md")
    assert (code, "there is no file" in err) == (errors.NotFoundError.exit_code, True)


@pytest.mark.parametrize(("option", "value"), [("--asserted-at", "soon"), ("--trust", "-1"), ("--extract", "llm")])
def test_an_option_that_cannot_be_followed_is_refused(falsify, notes, option, value):
    before = digest(falsify)
    code, out, err = falsify("ingest", notes / "note.md", option, value)
    assert (code, out, err.startswith("Error: ")) == (2, "", True)
    assert digest(falsify) == before


@pytest.mark.slow
def test_a_folder_that_was_interrupted_is_taken_in_by_running_it_again(root, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(300):
        text = " ".join(f"Pump {number} leaks {drop} drops an hour." for drop in range(20))
        (folder / f"{number:03}.txt").write_text(text, encoding="utf-8")
    words = [sys.executable, str(Path(cli.__file__)), "-w", str(root), "ingest", str(folder)]
    with Workspace(root, environ={}, embedder=HashEmbedder()) as watched:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(watched.graph.documents) < 3 and process.poll() is None:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        done = len(watched.graph.documents)
        assert 3 <= done < 300
        assert sum(isinstance(node, Evidence) for node in watched.graph.nodes.values()) == 20 * done
        unread = [take(watched, file, Wishes()) for file in intake.find([folder])[0]]
        assert sum(taken.outcome.as_json()["recorded"] == 0 for taken in unread) == done
        assert sum(isinstance(node, Evidence) for node in watched.graph.nodes.values()) == 6_000
        assert all(part["faults"] == [] for part in verify(watched, with_mirror=False, anchor=None))


# --- a language model ----------------------------------------------------------------------------------------


class Model:
    """Finds what it was told to find, by a word of the passage."""

    name, version = "llm", "stub+1"

    def __init__(self, *answers):
        self.answers = answers

    def extract(self, passages):
        return [self._of(passage) for passage in passages]

    def _of(self, passage):
        for word, answer in self.answers:
            if word in passage:
                return answer if isinstance(answer, Abstention) else tuple(Extracted(*each) for each in answer)
        return ()


@pytest.fixture
def asked(root, monkeypatch):
    """Take a text in with a model that answers so; return what became of it, and the claims."""
    monkeypatch.setattr(intake, "CHUNK", 40)

    def ask(text, *answers):
        (root / "a.txt").write_text(text, encoding="utf-8")
        monkeypatch.setattr(intake, "_extractor", lambda *_: Model(*answers))
        with Workspace(root, environ={}, embedder=HashEmbedder()) as workspace:
            taken = take(workspace, Found(root / "a.txt", named=True), Wishes(extract="llm"))
            graph = workspace.graph
            living = [
                (n.text, s.quote, s.location)
                for n in graph.nodes.values()
                if isinstance(n, Evidence) and n.alive
                for s in n.assertions.values()
            ]
            return taken.outcome.as_json(), living, taken.notes

    return ask


LEAK = ("leak", [("The pump of line 2 leaks.", "pump  LEAKS")])


def test_a_claim_of_the_model_stands_where_its_quote_is(asked):
    answer, living, notes = asked("Intro. The pump leaks.", LEAK)
    assert living == [("The pump of line 2 leaks.", "pump leaks", "a.txt#line=1&char=11")]
    assert (answer["document"]["extractor"], notes) == ("llm stub+1", ())


def test_a_claim_whose_quote_is_not_in_the_text_is_left_out_and_counted(asked):
    made_up = ("leak", [("It burst.", "it burst"), ("", "leaks"), ("x" * 2001, "leaks"), ("The pump leaks.", "leaks")])
    answer, living, notes = asked("The pump leaks.", made_up)
    assert [text for text, _, _ in living] == ["The pump leaks."]
    assert (answer["document"]["left_out"], len(notes)) == (3, 1)


def test_a_passage_without_an_answer_is_taken_as_sentences_and_asked_about_again(asked):
    text = "The pump leaks.\n\nThe seal is worn, as was to be expected."
    answer, living, notes = asked(text, LEAK, ("seal", Abstention("it was late")))
    assert [t for t, _, _ in living] == ["The pump of line 2 leaks.", "The seal is worn, as was to be expected."]
    assert answer["document"]["extractor"] == "llm stub+1, sentences 1"
    assert notes == ("1 of 2 passages were taken as sentences: it was late",)
    answer, living, _ = asked(text, LEAK, ("seal", [("The seal is worn.", "seal is worn")]))
    assert answer["document"]["extractor"] == "llm stub+1"
    assert "The seal is worn." in [t for t, _, _ in living]
    assert asked(text)[0]["recorded"] == 0


def test_a_model_that_never_answers_leaves_sentences(asked):
    answer, living, notes = asked("The pump leaks.", ("leak", Abstention("nobody is there")))
    assert ([t for t, _, _ in living], answer["document"]["extractor"]) == (["The pump leaks."], "sentences 1")
    assert "nobody is there" in notes[0]


def test_a_model_that_words_a_claim_otherwise_the_next_time_changes_nothing(asked):
    asked("The pump leaks.", LEAK)
    answer, living, _ = asked("The pump leaks. And more.", ("leak", [("Pump 2 is leaking.", "pump leaks")]))
    assert ([t for t, _, _ in living], answer["document"]["new"]) == (["The pump of line 2 leaks."], 0)
    answer, living, _ = asked("The pump is dry. And more.", ("dry", [("Pump 2 is dry.", "pump is dry")]))
    assert ([t for t, _, _ in living], answer["document"]["withdrawn"]) == (["Pump 2 is dry."], 1)


@pytest.fixture
def endpoint():
    server = Endpoint()
    yield server
    server.close()


@pytest.mark.cognee
def test_a_real_endpoint_is_asked_through_the_gateway(falsify, notes, endpoint, monkeypatch):
    found = {
        "claims": [{"claim": "The pump leaks.", "quote": "The pump leaks 3 litres"}, {"claim": "b", "quote": "zz"}]
    }
    endpoint.answer = lambda _: json.dumps(found)
    for name, value in {
        "PROVIDER": "custom",
        "MODEL": "openai/stub",
        "ENDPOINT": endpoint.url,
        "API_KEY": "none",
    }.items():
        monkeypatch.setenv(f"LLM_{name}", value)
    code, out, err = falsify("ingest", notes / "note.md", "--extract", "llm", "--json")
    assert code == 0, err
    document = json.loads(out)["document"]
    assert (document["claims"], document["left_out"]) == (1, 1)
    assert document["extractor"].startswith("llm openai/stub+")
    assert "1 claims of the model quote what the document does not say" in err
    request = endpoint.requests[0]["messages"][-1]["content"]
    assert "The pump leaks 3 litres a day. The seal is worn." in request


@pytest.mark.cognee
def test_an_endpoint_in_trouble_leaves_sentences_and_says_so(falsify, notes, endpoint, monkeypatch):
    endpoint.status = 401
    for name, value in {
        "PROVIDER": "custom",
        "MODEL": "openai/stub",
        "ENDPOINT": endpoint.url,
        "API_KEY": "none",
    }.items():
        monkeypatch.setenv(f"LLM_{name}", value)
    monkeypatch.setattr(intake, "TIMEOUT", 2.0)
    code, out, err = falsify("ingest", notes / "note.md", "--extract", "llm", "--json")
    assert (code, json.loads(out)["document"]["extractor"]) == (0, "sentences 1")
    assert "1 of 1 passages were taken as sentences" in err
