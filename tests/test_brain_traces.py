"""Traces are an agent's own, immutable and classified; ratings are one for each answer, and a signal to people."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from falsify.brain.events import AnswerGiven, AnswerRated, OrgAccepted, TraceLogged
from falsify.brain.guard import Ground
from falsify.brain.ratings import MAX_COMMENT
from falsify.brain.traces import MAX_DETAIL, MAX_SUMMARY, MAX_TASK, Entry
from falsify.brain.traces import log_trace as decide_trace
from falsify.clock import SteppingClock
from falsify.errors import RefusedError, UnavailableError
from falsify.log import canonical
from surfaces import brain_writes
from surfaces.brain_writes import keyring, rating_rows, read_trace, trace_rows
from surfaces.tools.brain_reads import NO_PAGE, read_page
from surfaces.tools.brain_writes import log_trace, propose_lesson, propose_page, rate_answer
from tests.brain_writes_world import CLERK, NOBODY, ORG, OWNER, READER, SCRIBE, VERA, WIM, open_brain, record

PUMP_PATH = "memory/ops/pump.md"


@pytest.fixture
def clock():
    return SteppingClock(step=0)


@pytest.fixture
def brain(tmp_path, clock):
    found = open_brain(tmp_path, clock=clock)
    with found.workspace:
        yield found


def trace(brain, caller=SCRIBE, **changes):
    told = {"task": "Grease the pump", "status": "success", "summary": "It was greased.", **changes}
    return log_trace(brain, caller, **told)


def test_a_trace_has_a_path_of_its_agent_and_day(brain):
    assert [trace(brain), trace(brain), trace(brain, READER)] == [
        "memory/traces/scribe/2026-01-01-1.md",
        "memory/traces/scribe/2026-01-01-2.md",
        "memory/traces/reader/2026-01-01-1.md",
    ]


def test_a_trace_records_what_was_given_and_is_no_page(brain):
    path = trace(brain, detail="Two strokes.", duration_seconds=1.5, refs=[PUMP_PATH, "memory/nothing/here.md"])
    assert brain.library.traces[path] == TraceLogged(
        rel_path=path,
        agent="scribe",
        status="success",
        duration_seconds=1.5,
        refs=(PUMP_PATH, "memory/nothing/here.md"),
        content='{"task":"Grease the pump","summary":"It was greased.","detail":"Two strokes."}',
        sealed=None,
    )
    assert path not in brain.library.pages


@pytest.mark.parametrize("caller", [OWNER, VERA, NOBODY, "agent:unknown", "agent:.."])
def test_only_agents_of_the_organisation_log_traces(brain, caller):
    assert trace(brain, caller) == "refused: R-SCOPE"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"status": "great"}, "R-STATUS"),
        ({"task": "x " * (MAX_TASK // 2 + 1)}, "R-SIZE"),
        ({"summary": "x " * (MAX_SUMMARY // 2 + 1)}, "R-SIZE"),
        ({"detail": "x " * (MAX_DETAIL // 2 + 1)}, "R-SIZE"),
        ({"task": " "}, "R-SIZE"),
        ({"summary": ""}, "R-SIZE"),
        ({"detail": "\ud800"}, "R-SIZE"),
        ({"duration_seconds": -1.0}, "R-SIZE"),
        ({"duration_seconds": float("nan")}, "R-SIZE"),
        ({"refs": ["memory/a.md"] * 51}, "R-SIZE"),
        ({"refs": ["see the pump page"]}, "R-REFS"),
        ({"refs": ["memory/please call my mother"]}, "R-REFS"),
        ({"refs": ["memory/personal/diary.md"]}, "R-REFS"),
        ({"refs": ["memory/../x.md"]}, "R-REFS"),
        ({"refs": ["ops/pump.md"]}, "R-REFS"),
        ({"refs": [PUMP_PATH, ""]}, "R-REFS"),
        ({"on_behalf_of": "stranger"}, "R-SUBJECT"),
        ({"task": "Write to tom@gmail.com"}, "R-PRIVACY"),
        ({"summary": "Vera Lindt is on sick leave."}, "R-PRIVACY"),
        ({"detail": "Call +41 79 123 45 67."}, "R-PRIVACY"),
        ({"refs": ["memory/Tom Berger is on sick leave.md"], "task": "Tom Berger"}, "R-PRIVACY"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_its_name_and_not_written(brain, changes, rule):
    head = brain.log.head()
    assert trace(brain, **changes) == f"refused: {rule}"
    assert brain.log.head() == head


class BrokenClassifier:
    name = "broken"

    def classify(self, _text):
        raise UnavailableError("no model")


class ListeningClassifier:
    def __init__(self):
        self.name, self.heard = "listening", []

    def classify(self, text):
        self.heard.append(text)
        return "business"


ENTRY = Entry(task="the task", status="partial", summary="the summary", detail="the detail")


def test_a_classifier_that_fails_keeps_the_trace_out(brain):
    with pytest.raises(RefusedError) as caught:
        brain_writes.log_trace(brain, SCRIBE, ENTRY, classifier=BrokenClassifier())
    assert (caught.value.reason, brain.library.traces) == ("R-PRIVACY", {})


def test_all_of_it_is_classified(brain):
    heard = ListeningClassifier()
    brain_writes.log_trace(brain, SCRIBE, ENTRY, classifier=heard)
    assert heard.heard == ["the task\n\nthe summary\n\nthe detail"]


def test_who_it_was_done_for_is_sealed_with_the_rest(brain):
    path = trace(brain, on_behalf_of="vera")
    logged = brain.library.traces[path]
    body = canonical(logged.__dict__ | {"sealed": logged.sealed.__dict__})
    assert (logged.content, b"vera" in body, b"Grease" in body) == ("", False, False)
    opened = json.loads(keyring(brain).unseal(logged.sealed))
    assert (opened["on_behalf_of"], opened["task"]) == ("vera", "Grease the pump")


def test_a_trace_is_read_by_its_agent_and_the_owner(brain):
    path = trace(brain, detail="Two strokes.", on_behalf_of="person:vera", refs=[PUMP_PATH])
    expected = (
        "---\ntitle: Grease the pump\ntype: trace\nagent: scribe\nstatus: success\non_behalf_of: vera\n"
        f"sources:\n- {PUMP_PATH}\n---\nIt was greased.\n\nTwo strokes.\n"
    )
    read = {SCRIBE: expected, OWNER: expected, "person:olga": expected, READER: None, VERA: None, NOBODY: None}
    assert {caller: read_trace(brain, caller, path) for caller in read} == read
    assert [row["rel_path"] for row in trace_rows(brain, SCRIBE)] == [path]
    assert trace_rows(brain, READER) == []
    assert read_trace(brain, OWNER, "memory/traces/scribe/2026-01-01-9.md") is None


def test_read_page_serves_a_trace_to_its_agent_and_the_owner_and_to_nobody_on_somebodys_behalf(brain):
    path, other = trace(brain, on_behalf_of="person:vera"), "memory/traces/scribe/2026-01-01-9.md"
    text = read_trace(brain, SCRIBE, path)
    read = {OWNER: text, SCRIBE: text, READER: NO_PAGE, CLERK: NO_PAGE, VERA: NO_PAGE, NOBODY: NO_PAGE}
    assert {caller: read_page(brain, caller, rel_path=path) for caller in read} == read
    assert {read_page(brain, caller, rel_path=other) for caller in read} == {NO_PAGE}
    assert {read_page(brain, caller, rel_path=path, on_behalf_of="vera") for caller in read} == {NO_PAGE}


def test_a_trace_leaves_through_no_channel_that_serves_only_what_is_public(brain):
    path = trace(brain)
    closed = replace(ORG, ceilings={"web": "public"})
    record(brain, OrgAccepted(org=closed.as_json(), source="memory/org.yaml"))
    brain.destination = "web"
    assert read_page(brain, SCRIBE, rel_path=path) == NO_PAGE


def test_a_trace_of_ones_own_can_be_cited_and_anothers_cannot(brain):
    mine, theirs = trace(brain), trace(brain, CLERK)

    def outcome(ref):
        told = propose_lesson(
            brain, SCRIBE, title="Grease", lesson="Grease is cheap.", kind="rule", department="ops", refs=[ref]
        )
        return json.loads(told)["outcome"]

    assert (outcome(theirs), outcome(mine)) == ("refused", "staged")


def test_deciding_on_a_trace_needs_no_keys_unless_it_is_for_somebody(brain):
    def seal(subject, text):
        raise AssertionError("sealed")

    logged = decide_trace(brain.library, ENTRY, Ground(org=ORG), caller=SCRIBE, today="2026-01-01", seal=seal)
    assert logged.sealed is None


WORDS = st.text(alphabet=st.characters(), max_size=40)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(WORDS, min_size=4, max_size=4),
    refs=st.lists(WORDS, max_size=2),
    caller=st.sampled_from([SCRIBE, OWNER, NOBODY, "agent:..", "agent:stranger", "person:stranger"]),
)
@example(words=["\ud800"] * 4, refs=["memory/\ud800.md"], caller=SCRIBE)
@example(words=["---\n\ud800: x\n---\n"] * 4, refs=[], caller=SCRIBE)
@example(words=["a", "b", "---\na: {b: [1, 2]}\nc: 2024-01-01\n---\nd", "x"], refs=[], caller=SCRIBE)
def test_whatever_is_sent_the_writing_tools_answer(brain, words, refs, caller):
    one, two, three, four = words
    told = log_trace(brain, caller, task=one, status=two, summary=three, detail=four, refs=refs, on_behalf_of=two)
    assert told.startswith(("refused: R-", "memory/traces/"))
    for tool, content in ((propose_page, {"content": three}), (propose_lesson, {"lesson": three, "kind": "rule"})):
        outcome = json.loads(tool(brain, caller, title=one, department=two, refs=refs, **content))
        assert (outcome["outcome"] == "staged") is (outcome["refusal_messages"] == [])
    assert json.loads(rate_answer(brain, caller, answer_id=one, rating=two, comment=three))["error"]


# --- ratings --------------------------------------------------------------------------------------------------------

DAY = 86_400_000_000


def answered(brain, asked_by=SCRIBE, answer_id="A-1", on_behalf_of="", citations=(PUMP_PATH,)):
    record(
        brain,
        AnswerGiven(
            answer_id=answer_id,
            asked_by=asked_by,
            on_behalf_of=on_behalf_of,
            question=None,
            citations=citations,
            confidence="normal",
            mode="question",
        ),
    )


def rate(brain, caller=SCRIBE, **changes):
    return rate_answer(brain, caller, **{"answer_id": "A-1", "rating": "down", **changes})


def test_a_rating_is_recorded_and_raised_to_who_looks_after_the_cited_pages(brain):
    answered(brain)
    told = rate(brain, comment="The number is old.")
    path = "memory/feedback/scribe/A-1.md"
    assert told == f'{{"recorded":true,"answer_id":"A-1","rating":"down","rel_path":"{path}"}}'.encode()
    rated = brain.library.ratings["A-1"]
    assert rated == AnswerRated(
        answer_id="A-1", rel_path=path, rated_by=SCRIBE, rating="down", comment=rated.comment, raised_to=("vera",)
    )
    assert keyring(brain).unseal(rated.comment) == "The number is old."


def test_nobody_responsible_is_the_owner_and_a_good_answer_is_raised_to_nobody(brain):
    answered(brain, citations=("memory/gone.md",))
    rate(brain)
    answered(brain, answer_id="A-2")
    rate(brain, answer_id="A-2", rating="up", comment="  ")
    assert [(each.raised_to, each.comment) for each in brain.library.ratings.values()] == [
        (("olga",), None),
        ((), None),
    ]


@pytest.mark.parametrize(
    ("asked_by", "rated_by", "code"),
    [
        (SCRIBE, READER, b"unknown_answer"),
        (VERA, WIM, b"unknown_answer"),
        (SCRIBE, OWNER, b"unknown_answer"),
        (OWNER, "person:olga", None),
        ("person:olga", OWNER, None),
        (VERA, VERA, None),
        ("agent:anonymous", "agent:anonymous", b"not_permitted"),
    ],
)
def test_an_answer_is_rated_by_whom_it_was_given_to(brain, asked_by, rated_by, code):
    answered(brain, asked_by)
    told = json.loads(rate(brain, rated_by))
    assert (told.get("error"), told.get("recorded")) == ((code.decode(), None) if code else (None, True))


def test_what_was_never_issued_and_what_is_too_old_get_the_same_reply(brain, clock):
    answered(brain)
    clock.at += 30 * DAY + 1
    answered(brain, READER, "A-2")
    replies = {rate(brain, answer_id=name) for name in ("A-1", "A-2", "A-3", "", "\ud800", "x" * 9_999)}
    assert replies == {b'{"error":"unknown_answer","message":"there is no such answer of yours that could be rated"}'}


def test_until_the_last_day_it_can_be_rated_and_only_once(brain, clock):
    answered(brain)
    clock.at += 30 * DAY
    assert json.loads(rate(brain))["recorded"]
    assert rate(brain, rating="up") == b'{"error":"already_rated","message":"this answer was rated already"}'


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"rating": "sideways"}, "invalid_rating"), ({"comment": "x" * (MAX_COMMENT + 1)}, "comment_too_long")],
)
def test_what_is_wrong_with_a_rating_is_said_of_any_answer(brain, changes, code):
    answered(brain)
    assert [json.loads(rate(brain, answer_id=name, **changes))["error"] for name in ("A-1", "A-9")] == [code, code]
    assert brain.library.ratings == {}


def test_a_comment_may_be_as_long_as_it_may_be(brain):
    answered(brain)
    assert json.loads(rate(brain, comment="é" * MAX_COMMENT))["recorded"]


def test_a_rating_is_read_by_the_rater_whom_it_was_raised_to_and_the_owner(brain):
    answered(brain)
    rate(brain, comment="old")
    seen = {
        caller: [row["comment"] for row in rating_rows(brain, caller)] for caller in (SCRIBE, VERA, OWNER, WIM, READER)
    }
    assert seen == {SCRIBE: ["old"], VERA: ["old"], OWNER: ["old"], WIM: [], READER: []}
