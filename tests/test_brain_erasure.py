"""Erasure: what is sealed for a person is gone for good, and log, hashes and replay are as they were."""

import base64
import io
import json
import shutil
import sqlite3

import orjson
import pytest

import cli
from falsify.brain.events import AnswerGiven, OrgAccepted, SubjectErased
from falsify.brain.traces import ERASED
from falsify.errors import ForbiddenError, NotFoundError, UnavailableError
from falsify.sealing import Keyring
from falsify.transfer import export_log
from surfaces import brain_writes
from surfaces.brain import STREAM, Brain
from surfaces.brain_writes import erase_person, foresee_erasure, keyring, rating_rows, read_trace, trace_rows
from surfaces.health import verify
from surfaces.tools.brain_writes import log_trace, rate_answer
from surfaces.workspace import Workspace
from tests.brain_writes_world import ORG, OWNER, READER, SCRIBE, VERA, WIM, dies, open_brain, record

SENTINEL = "Quokkas-prefer-blue-ladders"
"""What nobody must ever find in the workspace."""


def use(brain, person=VERA):
    """Leave of a person what can be left: a trace on their behalf, a question, a rating with a comment."""
    slug = person.removeprefix("person:")
    path = log_trace(
        brain, SCRIBE, task=SENTINEL, status="success", summary=SENTINEL, detail=SENTINEL, on_behalf_of=slug
    )
    number = len(brain.library.answers)
    record(
        brain,
        AnswerGiven(
            answer_id=f"A-{number}",
            asked_by=person,
            on_behalf_of="",
            question=keyring(brain).seal(slug, SENTINEL),
            citations=("memory/ops/pump.md",),
            confidence="low",
            mode="question",
        ),
    )
    assert json.loads(rate_answer(brain, person, answer_id=f"A-{number}", rating="down", comment=SENTINEL))["recorded"]
    return path


@pytest.fixture
def brain(tmp_path):
    found = open_brain(tmp_path)
    with found.workspace:
        yield found


def records(brain):
    return list(brain.log.read())


def seen(brain, path):
    """Return what the owner reads of it."""
    return (
        SENTINEL in (read_trace(brain, OWNER, path) or ""),
        [row["on_behalf_of"] for row in trace_rows(brain, OWNER) if row["rel_path"] == path],
        {row["comment"] for row in rating_rows(brain, OWNER)},
    )


def found_in(root, brain):
    """Return the files below a folder that have the sentinel, as text, in base64 or in UTF-16; the WAL is folded in."""
    for file in root.rglob("*.sqlite"):
        with sqlite3.connect(file) as raw:
            raw.execute("PRAGMA wal_checkpoint(FULL)")
    spelled = [SENTINEL.encode(), SENTINEL.encode("utf-16-le"), base64.b64encode(SENTINEL.encode())[:-4]]
    files = [file for file in root.rglob("*") if file.is_file()]
    assert [file for file in files if "log.sqlite" in file.name]
    exported = b"".join(export_log(brain.log))
    assert not [spelling for spelling in spelled if spelling in exported]
    return [file.name for file in files if any(spelling in file.read_bytes() for spelling in spelled)]


def test_a_sealed_text_is_never_in_clear_in_the_workspace_before_or_after(brain, tmp_path):
    path = use(brain)
    verify(brain.workspace, with_mirror=False, anchor=None)
    assert seen(brain, path) == (True, ["vera"], {SENTINEL})
    assert found_in(tmp_path, brain) == []
    erase_person(brain, OWNER, "vera")
    assert found_in(tmp_path, brain) == []


def test_nothing_that_was_sealed_can_be_read_and_what_was_written_is_as_it_was(brain):
    path, other = use(brain), use(brain, WIM)
    before, exported = records(brain), b"".join(export_log(brain.log)).splitlines()[: len(records(brain)) + 1]
    told = erase_person(brain, "person:olga", "vera")
    assert (told["subject"], told["sealed_texts"], told["recorded"]) == ("vera", 3, True)
    assert seen(brain, path) == (False, [ERASED], {ERASED, SENTINEL})
    assert seen(brain, other)[:2] == (True, ["wim"])
    after = records(brain)
    assert after[:-1] == before
    assert after[-1].event == SubjectErased(subject="vera", erased_by="person:olga")
    assert b"".join(export_log(brain.log)).splitlines()[: len(exported)] == exported
    assert brain.log.verify().ok
    assert [part for part in verify(brain.workspace, with_mirror=False, anchor=None) if part["faults"]] == []


def test_a_replay_needs_no_key(brain, tmp_path):
    use(brain)
    with_keys = Brain(brain.workspace).library
    erase_person(brain, OWNER, "vera")
    shutil.rmtree(tmp_path / ".falsify" / "keys")
    without = Brain(brain.workspace).library
    assert (without.traces, without.answers, without.ratings) == (
        with_keys.traces,
        with_keys.answers,
        with_keys.ratings,
    )
    assert without.erased == {"vera"}


def test_the_attribution_of_a_trace_is_gone_with_its_content(brain):
    path = use(brain)
    erase_person(brain, OWNER, "vera")
    logged = brain.library.traces[path]
    assert b"vera" not in orjson.dumps(logged.__dict__ | {"sealed": logged.sealed.__dict__})
    assert keyring(brain).subject_of(logged.sealed) == ""
    assert f"on_behalf_of: {ERASED}" in read_trace(brain, OWNER, path)


@pytest.mark.parametrize("caller", [VERA, WIM, SCRIBE, READER, "person:nobody", "agent:unknown"])
@pytest.mark.parametrize("name", ["vera", "stranger", "", "../x"])
def test_only_the_owner_erases_and_others_are_told_the_same_of_everybody(brain, caller, name):
    path = use(brain)
    for act in (foresee_erasure, erase_person):
        with pytest.raises(ForbiddenError, match=r"^only the owner may erase somebody$"):
            act(brain, caller, name)
    assert seen(brain, path)[0]


@pytest.mark.parametrize("name", ["stranger", "", "agent:scribe", "../../log.sqlite"])
def test_nobody_is_not_erased(brain, name):
    with pytest.raises(NotFoundError):
        erase_person(brain, OWNER, name)


def test_who_is_on_no_map_any_more_is_erased_too(brain):
    path = use(brain)
    org = ORG.as_json()
    record(brain, OrgAccepted(org={**org, "people": [p for p in org["people"] if p["slug"] != "vera"]}, source="test"))
    erase_person(brain, OWNER, "vera")
    assert not seen(brain, path)[0]


def test_erased_again_nothing_is_recorded_again(brain):
    use(brain)
    erase_person(brain, OWNER, "vera")
    head = brain.log.head()
    assert erase_person(brain, OWNER, "person:vera")["recorded"] is False
    assert brain.log.head() == head


def test_who_comes_back_is_sealed_anew_and_can_be_erased_anew(brain):
    old = use(brain)
    erase_person(brain, OWNER, "vera")
    new = use(brain)
    assert (seen(brain, old)[0], seen(brain, new)[0]) == (False, True)
    assert erase_person(brain, OWNER, "vera")["sealed_texts"] == 3
    assert not seen(brain, new)[0]
    assert sum(isinstance(r.event, SubjectErased) for r in records(brain)) == 2


class PowerCutError(Exception):
    """The machine is gone."""


@pytest.mark.parametrize("where", ["destroy", "perform", "forget"])
def test_cut_short_anywhere_it_is_done_again_and_ends_erased(brain, tmp_path, monkeypatch, where):
    path = use(brain)

    def cut(*_args, **_options):
        raise PowerCutError

    with monkeypatch.context() as patched:
        patched.setattr(Brain if where == "perform" else Keyring, where, cut)
        with pytest.raises(PowerCutError):
            erase_person(brain, OWNER, "vera")
    with Workspace.open(tmp_path, environ={}) as workspace:
        again = Brain(workspace)
        # Once the key is gone nothing opens, whether that was recorded or not.
        assert seen(again, path)[0] is (where == "destroy")
        if where != "destroy":
            with pytest.raises(UnavailableError, match="nothing can be sealed for vera"):
                use(again)
        erase_person(again, OWNER, "vera")
        assert (seen(again, path)[0], again.library.erased) == (False, {"vera"})
        assert not (tmp_path / ".falsify" / "keys" / "vera.key").exists()
        assert seen(again, use(again))[0]


@pytest.mark.parametrize("calling", ["Keyring.destroy", "EventLog.append", "Keyring.forget"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_any_step_it_is_done_again_and_ends_erased(brain, calling, when):
    path = use(brain)
    assert dies(brain, calling=calling, when=when, work='erase_person(brain, "owner", "vera")')
    assert seen(brain, path)[0] is ((calling, when) == ("Keyring.destroy", "before"))
    erase_person(brain, OWNER, "vera")
    assert (seen(brain, path)[0], keyring(brain).remains("vera"), brain.log.verify().ok) == (False, False, True)
    assert 1 <= sum(isinstance(r.event, SubjectErased) for r in records(brain)) <= 2


def test_what_is_sealed_while_somebody_is_erased_is_not_left_readable(brain, monkeypatch):
    use(brain)
    erase = brain_writes.erasure.erase

    def meanwhile(library, subject, **options):
        with pytest.raises(UnavailableError):
            keyring(brain).seal("vera", SENTINEL)
        return erase(library, subject, **options)

    monkeypatch.setattr(brain_writes.erasure, "erase", meanwhile)
    assert erase_person(brain, OWNER, "vera")["recorded"]


# --- the command line -----------------------------------------------------------------------------------------------


@pytest.fixture
def falsify(brain, tmp_path, capfd):
    def run(*words, actor=OWNER):
        (tmp_path / "falsify.toml").write_text(f'actor = "{actor}"\n')
        capfd.readouterr()
        code = cli.run(["-w", str(tmp_path), "brain", *words])
        out, err = capfd.readouterr()
        return code, out, err

    return run


def test_the_command_says_what_it_does_not_reach(brain, falsify):
    path = use(brain)
    code, out, _ = falsify("erase-person", "vera", "--yes")
    assert code == 0
    assert out.splitlines()[0] == "vera is erased: 3 sealed texts cannot be read any more"
    assert [line.strip() for line in out.splitlines()[1:]] == list(brain_writes.ERASURE_NOTES)
    assert falsify("traces")[1].splitlines() == [f"{path}  success  for {ERASED}", f"  {ERASED}: {ERASED}"]
    assert ERASED in falsify("ratings")[1]
    assert falsify("traces", path)[1].splitlines()[1] == f"title: {ERASED}"


def test_it_asks_first_and_does_nothing_unconfirmed(brain, falsify, monkeypatch):
    path = use(brain)
    head = brain.log.head()
    assert falsify("erase-person", "vera", "--json")[0] == 2
    for said in ("", "n\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(said))
        assert falsify("erase-person", "vera")[0] == 130
    assert falsify("erase-person", "vera", "--yes", actor=VERA)[0] == 9
    assert falsify("erase-person", "nobody", "--yes")[0] == 3
    assert (brain.log.head(), seen(brain, path)[0]) == (head, True)


def test_traces_and_ratings_are_listed_to_who_may_read_them(brain, falsify):
    path = use(brain)
    assert [row["rel_path"] for row in json.loads(falsify("traces", "--json", actor=SCRIBE)[1])] == [path]
    assert falsify("traces", actor=READER)[1] == "there is no trace that you may read\n"
    assert falsify("traces", path, actor=READER)[0] == 3
    assert json.loads(falsify("ratings", "--json", actor=VERA)[1])[0]["comment"] == SENTINEL
    assert falsify("ratings", actor=READER)[1] == "there is no rating that you may read\n"


def test_the_log_has_one_stream_for_all_of_it(brain):
    use(brain)
    erase_person(brain, OWNER, "vera")
    assert brain.log.streams() == [STREAM]
