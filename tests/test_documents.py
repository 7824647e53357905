"""Documents: what an edition of one adds to the beliefs, what it withdraws, and what it leaves alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from falsify.belief.documents import (
    Claim,
    Document,
    Weight,
    document_id,
    edition,
    ingest_document,
    new_claims,
    standing,
    statement,
)
from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    DocumentIngested,
    EvidenceAsserted,
    EvidenceRecorded,
    EvidenceRefuted,
    EvidenceWeighed,
    FrontierMoved,
    NodeForgotten,
    NodeReinstated,
    RevisionOpened,
    SourceRecorded,
)
from falsify.belief.prose import Location
from falsify.belief.text import node_id
from falsify.codec import decode, encode, topic
from falsify.errors import InvalidInputError, NotFoundError
from falsify.ports import Statement
from projections.beliefs import describe, digest, snapshot
from replay.verify import mislabelled
from tests.driver import InMemory, judged

QUESTION = "What broke the pump?"
LEAKS, WORN, OLD = "The pump leaks.", "The seal is worn.", "The motor is old."


@pytest.fixture
def beliefs():
    made = InMemory(QUESTION)
    made.ingest(hypotheses=[{"id": "A", "statement": "It was the seal"}])
    return made


def said(text, line=1, **more):
    return Claim(text, text, Location(line * 10, line), **more)


def document(*claims, path="report.md", sha256="1" * 64, **more):
    whole = {"title": "Report", "source_id": path, "extractor": "sentences 1", **more}
    return Document(
        path=path, sha256=sha256, claims=tuple(c if isinstance(c, Claim) else said(c) for c in claims), **whole
    )


def read(beliefs, *claims, **more):
    found = document(*claims, **more)
    return beliefs.record(ingest_document(beliefs.graph, beliefs.question_id, found))


def id_of(text):
    return node_id("evidence", text, question_id=node_id("question", QUESTION))


def recorded(text, source="report.md", line=1, path="report.md", quote=None, asserted_at=""):
    return [
        EvidenceRecorded(evidence_id=id_of(text), question_id=node_id("question", QUESTION), claim=text, handle=""),
        asserted(text, source, line, path, quote, asserted_at),
    ]


def asserted(text, source="report.md", line=1, path="report.md", quote=None, asserted_at=""):
    return EvidenceAsserted(
        evidence_id=id_of(text),
        source_id=source,
        quote=text if quote is None else quote,
        asserted_at=asserted_at,
        location=f"{path}#line={line}&char={line * 10}",
    )


def ingested(path="report.md", sha256="1" * 64, claims=1, added=(), dropped=(), source="report.md", **more):
    whole = {"title": "Report", "asserted_at": "", "extractor": "sentences 1", "left_out": 0, **more}
    question_id = node_id("question", QUESTION)
    return DocumentIngested(
        document_id=document_id(question_id, path),
        question_id=question_id,
        path=path,
        sha256=sha256,
        source_id=source,
        claims=claims,
        added=tuple((source, id_of(text)) for text in added),
        dropped=tuple((source, id_of(text)) for text in dropped),
        **whole,
    )


def gone(text, source="report.md", path="report.md"):
    return AssertionRetracted(evidence_id=id_of(text), source_id=source, reason=f"it is no longer in {path}")


def state(beliefs, text):
    return beliefs.graph.nodes[id_of(text)].state


# --- the first edition -------------------------------------------------------------------------------------


def test_a_document_is_a_source_and_its_claims_are_evidence_it_asserts(beliefs):
    assert read(beliefs, said(LEAKS, 1), said(WORN, 2), left_out=3) == [
        SourceRecorded(source_id="report.md", title="Report", trust=1.0),
        *recorded(LEAKS, line=1),
        *recorded(WORN, line=2),
        ingested(claims=2, added=[LEAKS, WORN], left_out=3),
    ]


def test_recording_a_document_opens_no_epoch(beliefs):
    read(beliefs, LEAKS, WORN)
    assert beliefs.graph.epoch == 0
    assert {beliefs.graph.nodes[id_of(t)].truth_epoch for t in (LEAKS, WORN)} == {0}


def test_what_is_said_twice_is_recorded_once_where_it_stands_first(beliefs):
    events = read(beliefs, said(LEAKS, 1), said("the pump  LEAKS", 5))
    assert events[1:] == [*recorded(LEAKS, line=1), ingested(claims=1, added=[LEAKS])]


def test_a_document_may_claim_nothing(beliefs):
    assert read(beliefs, left_out=4) == [
        SourceRecorded(source_id="report.md", title="Report", trust=1.0),
        ingested(claims=0, left_out=4),
    ]


def test_a_date_and_a_trust_are_those_of_all_its_claims(beliefs):
    events = read(beliefs, LEAKS, asserted_at="2021-03-15", trust=0.5)
    assert events == [
        SourceRecorded(source_id="report.md", title="Report", trust=0.5),
        *recorded(LEAKS, asserted_at="2021-03-15"),
        ingested(added=[LEAKS], asserted_at="2021-03-15"),
    ]


def test_the_claims_of_a_table_may_have_sources_dates_and_weights_of_their_own(beliefs):
    row = Claim(
        LEAKS,
        "it drips",
        Location(line=2),
        source_id="meter",
        source_title="The meter",
        asserted_at="2021-01-02T03:04:05Z",
        weights=(Weight("A", "supports", 0.5), Weight("A", "refutes", 0.25)),
    )
    leaks, hypothesis = id_of(LEAKS), beliefs.id("A")
    assert read(beliefs, row, path="t.csv", extractor="rows 1") == [
        SourceRecorded(source_id="meter", title="The meter", trust=1.0),
        EvidenceRecorded(evidence_id=leaks, question_id=beliefs.question_id, claim=LEAKS, handle=""),
        EvidenceAsserted(
            evidence_id=leaks,
            source_id="meter",
            quote="it drips",
            asserted_at="2021-01-02T03:04:05Z",
            location="t.csv#line=2",
        ),
        EvidenceWeighed(evidence_id=leaks, hypothesis_id=hypothesis, stance="supports", weight=0.5),
        EvidenceWeighed(evidence_id=leaks, hypothesis_id=hypothesis, stance="refutes", weight=0.25),
        DocumentIngested(
            document_id=document_id(beliefs.question_id, "t.csv"),
            question_id=beliefs.question_id,
            path="t.csv",
            sha256="1" * 64,
            title="Report",
            source_id="t.csv",
            asserted_at="",
            extractor="rows 1",
            claims=1,
            left_out=0,
            added=(("meter", leaks),),
            dropped=(),
        ),
    ] + [e for e in beliefs.events[-1:] if isinstance(e, FrontierMoved)]


def test_what_others_assert_already_gets_one_more_source_and_no_second_node(beliefs):
    beliefs.ingest(evidence=[{"id": "E", "claim": "the pump leaks", "source_id": "meter"}])
    assert read(beliefs, LEAKS)[1:] == [asserted(LEAKS), ingested(added=[LEAKS])]


# --- the same again ----------------------------------------------------------------------------------------


def test_the_same_document_again_is_no_event(beliefs):
    read(beliefs, LEAKS, WORN, asserted_at="2021-03-15")
    assert read(beliefs, LEAKS, WORN, asserted_at="2021-03-15") == []


def test_two_documents_of_one_source_that_date_a_claim_otherwise_do_not_take_turns(beliefs):
    for path, date in (("a.md", "2021-01-01"), ("b.md", "2022-01-01")):
        read(beliefs, LEAKS, path=path, source_id="handbook", asserted_at=date)
    for path, date in (("a.md", "2021-01-01"), ("b.md", "2022-01-01")):
        assert read(beliefs, LEAKS, path=path, source_id="handbook", asserted_at=date) == []


def test_bytes_that_changed_without_a_change_of_claims_are_noted_and_nothing_else(beliefs):
    read(beliefs, said(LEAKS, 1))
    assert read(beliefs, said(LEAKS, 9), sha256="2" * 64) == [ingested(sha256="2" * 64)]


# --- an edited document ------------------------------------------------------------------------------------


def test_an_edit_records_what_is_new_withdraws_what_is_gone_and_leaves_the_rest(beliefs):
    read(beliefs, said(LEAKS, 1), said(WORN, 2))
    assert read(beliefs, said(WORN, 1), said(OLD, 2), sha256="2" * 64) == [
        RevisionOpened(epoch=1, trigger="ingest", subject_id=beliefs.question_id),
        *recorded(OLD, line=2),
        gone(LEAKS),
        ingested(sha256="2" * 64, claims=2, added=[OLD], dropped=[LEAKS]),
        EvidenceRefuted(evidence_id=id_of(LEAKS), by="", retracted=True),
        NodeForgotten(node_id=id_of(LEAKS), node_kind="evidence", was="refuted", because=""),
    ]


def test_what_another_source_still_asserts_lives(beliefs):
    read(beliefs, LEAKS)
    read(beliefs, LEAKS, path="other.md")
    assert read(beliefs, sha256="2" * 64) == [gone(LEAKS), ingested(sha256="2" * 64, claims=0, dropped=[LEAKS])]
    assert state(beliefs, LEAKS) == "alive"
    assert beliefs.graph.epoch == 0


def test_what_another_document_of_the_same_source_still_says_is_not_withdrawn(beliefs):
    read(beliefs, LEAKS, path="a.md", source_id="handbook")
    read(beliefs, LEAKS, path="b.md", source_id="handbook")
    events = read(beliefs, path="a.md", source_id="handbook", sha256="2" * 64)
    assert [type(e) for e in events] == [DocumentIngested]
    events = read(beliefs, path="b.md", source_id="handbook", sha256="2" * 64)
    assert gone(LEAKS, "handbook", "b.md") in events
    assert state(beliefs, LEAKS) == "forgotten"


def test_an_edit_does_not_touch_what_a_person_recorded_for_the_same_source(beliefs):
    beliefs.fact(OLD, source_id="report.md")
    read(beliefs, LEAKS)
    read(beliefs, WORN, sha256="2" * 64)
    assert state(beliefs, OLD) == "alive"


def test_a_claim_that_comes_back_is_restored(beliefs):
    read(beliefs, LEAKS)
    read(beliefs, sha256="2" * 64)
    assert read(beliefs, LEAKS, sha256="3" * 64) == [
        RevisionOpened(epoch=2, trigger="ingest", subject_id=beliefs.question_id),
        AssertionRestored(evidence_id=id_of(LEAKS), source_id="report.md", reason="it is in report.md again"),
        ingested(sha256="3" * 64, added=[LEAKS]),
        NodeReinstated(node_id=id_of(LEAKS), node_kind="evidence", because="", was="forgotten"),
    ]


def test_what_a_person_withdrew_is_not_restored_by_an_edit_elsewhere(beliefs):
    read(beliefs, LEAKS)
    beliefs.retract(id_of(LEAKS))
    read(beliefs, LEAKS, WORN, sha256="2" * 64)
    assert (state(beliefs, LEAKS), state(beliefs, WORN)) == ("forgotten", "alive")


def test_another_date_is_another_word_and_none_at_all_is_not(beliefs):
    read(beliefs, LEAKS, asserted_at="2021-03-15")
    assert read(beliefs, LEAKS, sha256="2" * 64) == [ingested(sha256="2" * 64)]
    assert read(beliefs, LEAKS, sha256="3" * 64, asserted_at="2022-03-15") == [
        asserted(LEAKS, asserted_at="2022-03-15"),
        ingested(sha256="3" * 64, asserted_at="2022-03-15"),
    ]


def test_the_title_follows_the_document_until_a_person_gives_another(beliefs):
    read(beliefs, LEAKS)
    events = read(beliefs, LEAKS, sha256="2" * 64, title="Second report")
    assert events[0] == SourceRecorded(source_id="report.md", title="Second report", trust=1.0)
    events = read(beliefs, LEAKS, sha256="3" * 64, title="The fitter's report", retitled=True)
    assert events[0] == SourceRecorded(source_id="report.md", title="The fitter's report", trust=1.0)
    events = beliefs.ingest(sources=[{"id": "report.md", "title": "Named in a belief file"}])
    assert [type(e) for e in read(beliefs, LEAKS, sha256="4" * 64, title="Fourth")] == [DocumentIngested]


def test_a_document_bears_on_each_question_by_itself(beliefs):
    read(beliefs, LEAKS)
    other = InMemory("What broke the motor?")
    beliefs.record(other.ingest())
    found = document(LEAKS)
    beliefs.record(ingest_document(beliefs.graph, other.question_id, found))
    beliefs.record(ingest_document(beliefs.graph, other.question_id, document(sha256="2" * 64)))
    assert state(beliefs, LEAKS) == "alive"
    assert edition(beliefs.graph, beliefs.question_id, "report.md").sha256 == "1" * 64
    assert edition(beliefs.graph, other.question_id, "report.md").sha256 == "2" * 64


# --- refusals ----------------------------------------------------------------------------------------------


def test_a_question_that_was_not_asked_is_refused(beliefs):
    with pytest.raises(NotFoundError):
        ingest_document(beliefs.graph, "Q-0", document(LEAKS))


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        (said("x" * 20_001, 7), r"report\.md, line 7: the claim has 20,001 characters"),
        (said(" . ", 7), r"report\.md, line 7: the claim is empty"),
        (
            Claim(LEAKS, "a\x07b", Location(page=2)),
            r"report\.md, page 2: the quote holds the control character U\+0007",
        ),
        (said(LEAKS, 7, asserted_at="soon"), r"report\.md, line 7: the date 'soon' is not a date"),
        (
            said(LEAKS, 7, weights=(Weight("Z", "supports"),)),
            r"report\.md, line 7: 'Z' is no hypothesis of the question",
        ),
        (said(LEAKS, 7, weights=(Weight("A", "supports", 2.0),)), r"weight is 2\.0"),
    ],
)
def test_a_bad_claim_is_named_with_its_place_and_nothing_is_decided(beliefs, claim, says):
    before = digest(beliefs.graph)
    with pytest.raises(InvalidInputError, match=says):
        ingest_document(beliefs.graph, beliefs.question_id, document(WORN, claim))
    assert digest(beliefs.graph) == before


# --- judging -----------------------------------------------------------------------------------------------


def test_new_claims_are_those_that_are_not_evidence_yet_each_once(beliefs):
    read(beliefs, LEAKS)
    found = document(LEAKS, said(WORN, 2), said(WORN, 3, source_id="other"), said(OLD, 4))
    assert [(i, c.location.line) for i, c in new_claims(beliefs.graph, beliefs.question_id, found)] == [
        (id_of(WORN), 2),
        (id_of(OLD), 4),
    ]


def test_what_a_judge_finds_of_a_new_claim_is_part_of_the_same_command(beliefs):
    beliefs.fact(WORN, source_id="a", asserted_at="2020-01-01")
    new = "The seal is as new."
    found = document(new, asserted_at="2021-01-01")
    events = ingest_document(beliefs.graph, beliefs.question_id, found, [judged(id_of(new), id_of(WORN))])
    assert EvidenceRefuted(evidence_id=id_of(WORN), by=id_of(new), retracted=False) in events
    assert isinstance(events[0], RevisionOpened)


def test_a_judge_is_shown_the_title_that_the_source_has_or_will_have(beliefs):
    told = statement(beliefs.graph, document(LEAKS, asserted_at="2021-03-15"), said(LEAKS))
    assert told == Statement(LEAKS, "Report", LEAKS, "2021-03-15")
    read(beliefs, LEAKS, source_id="known", title="Known")
    assert statement(beliefs.graph, document(LEAKS, source_id="known"), said(LEAKS)).source_title == "Known"
    assert statement(beliefs.graph, document(LEAKS), said(LEAKS, source_id="meter")).source_title == "meter"


# --- the log and the state ---------------------------------------------------------------------------------


def test_an_assertion_of_before_there_were_locations_has_none():
    body = b'{"evidence_id":"E","source_id":"s","quote":"q","asserted_at":""}'
    old = decode("belief.evidence_asserted/1", body)
    assert old == EvidenceAsserted(evidence_id="E", source_id="s", quote="q", asserted_at="", location="")
    assert topic(old) == "belief.evidence_asserted/2"


def test_a_location_is_told_where_there_is_one(beliefs):
    read(beliefs, said(LEAKS, 3))
    beliefs.fact(LEAKS, source_id="meter")
    told = describe(beliefs.graph, beliefs.graph.nodes[id_of(LEAKS)])["assertions"]
    assert [a.get("location") for a in told] == [None, "report.md#line=3&char=30"]


def test_a_withdrawn_assertion_keeps_its_location(beliefs):
    read(beliefs, said(LEAKS, 3))
    beliefs.retract(id_of(LEAKS))
    assert beliefs.graph.evidence(id_of(LEAKS)).assertions["report.md"].location == "report.md#line=3&char=30"


def test_a_state_without_documents_says_nothing_of_them(beliefs):
    assert "documents" not in snapshot(beliefs.graph)
    read(beliefs, LEAKS)
    assert [d["path"] for d in snapshot(beliefs.graph)["documents"]] == ["report.md"]


def test_what_stands_is_what_the_last_edition_says_and_nobody_withdrew(beliefs):
    read(beliefs, LEAKS, WORN, OLD)
    read(beliefs, LEAKS, WORN, sha256="2" * 64)
    beliefs.retract(id_of(WORN))
    assert [claim.text for claim in standing(beliefs.graph, beliefs.question_id, "report.md")] == [LEAKS]


editions = st.lists(
    st.tuples(
        st.sampled_from(["a.md", "b.md"]),
        st.sampled_from(["handbook", "own"]),
        st.lists(st.sampled_from([LEAKS, WORN, OLD]), unique=True),
    ),
    max_size=8,
)


@given(editions)
def test_after_any_editions_a_claim_stands_if_the_last_edition_of_some_document_makes_it(drawn):
    beliefs = InMemory(QUESTION)
    beliefs.ingest()
    last, ever = {}, set()
    for number, (path, kind, claims) in enumerate(drawn):
        source = kind if kind == "handbook" else path
        events = read(beliefs, *claims, path=path, source_id=source, sha256=f"{number:064}")
        assert [decode(topic(e), encode(e)) for e in events] == events
        last[path] = {(source, text) for text in claims}
        ever |= last[path]
    standing_ = {said for told in last.values() for said in told}
    for source, text in ever:
        assertion = beliefs.graph.evidence(id_of(text)).assertions[source]
        assert assertion.retracted == ((source, text) not in standing_)
    assert list(mislabelled(beliefs.graph)) == []
