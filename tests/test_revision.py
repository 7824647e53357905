"""The decisions of belief: given what was recorded, when something is said, then exactly this follows."""

from dataclasses import replace
from itertools import pairwise

import orjson
import pytest

from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    ConclusionInvalidated,
    EvidenceAsserted,
    EvidenceInvalidated,
    EvidenceRecorded,
    EvidenceRefuted,
    EvidenceSuperseded,
    EvidenceWeighed,
    FrontierMoved,
    HandleGiven,
    HypothesisSuperseded,
    NodeContested,
    NodeForgotten,
    NodeReinstated,
    Premise,
    QuestionAsked,
    RevisionOpened,
    SourceRecorded,
)
from falsify.belief.graph import Conclusion, Question
from falsify.belief.ingest import BadReferenceError
from falsify.belief.revision import AssertFact, Weighing, ask, assert_fact, record_verdicts, restore, retract, rule
from falsify.belief.text import node_id
from falsify.codec import decode
from falsify.errors import InvalidInputError, NotFoundError, RefusedError
from tests.canonical import canonical
from tests.driver import InMemory, judged, withheld

COMPANY_X = "Did Company X know about the defect before the recall?"
AUDIT = "Forensic audit: the March QA report was back-dated"


@pytest.fixture
def company_x():
    """The contract's story (3.1) at the end of its first session."""
    beliefs = InMemory(COMPANY_X)
    beliefs.ingest(
        sources=[{"id": "qa", "title": "QA report, March 2021"}, {"id": "supplier", "title": "Supplier email"}],
        hypotheses=[
            {"id": "A", "statement": "X knew via the QA report of March 2021", "prior": 0.6},
            {"id": "B", "statement": "X knew via the supplier's email of January 2021", "prior": 0.5},
            {"id": "C", "statement": "X did not know", "prior": 0.3},
        ],
        evidence=[
            _evidence("E_qa", source_id="qa", supports=[{"hypothesis": "A", "weight": 0.9}]),
            _evidence("E_email", source_id="supplier", supports=[{"hypothesis": "B", "weight": 0.7}]),
        ],
        conclusions=[{"id": "K", "statement": "X knew by March 2021", "depends_on": [{"evidence": "E_qa"}]}],
    )
    return beliefs


@pytest.fixture
def beliefs():
    """An investigation that has only begun."""
    begun = InMemory("What broke the pump?")
    begun.ingest()
    return begun


# --- the contract's story ------------------------------------------------------------------------------------


def test_one_contradicting_fact_kills_the_evidence_and_its_conclusion_and_crowns_the_rival(company_x):
    audit = _claim_id(company_x, AUDIT)
    a, b, e_qa, k = (company_x.id(n) for n in ("A", "B", "E_qa", "K"))
    verdict = judged(audit, e_qa, confidence=0.9)

    events = company_x.fact(AUDIT, verdict, source_id="audit", source_title="Forensic audit", handle="E_audit")

    assert events == [
        RevisionOpened(epoch=1, trigger="fact", subject_id=audit),
        SourceRecorded(source_id="audit", title="Forensic audit", trust=1.0),
        EvidenceRecorded(evidence_id=audit, question_id=company_x.question_id, claim=AUDIT, handle="E_audit"),
        EvidenceAsserted(evidence_id=audit, source_id="audit", quote="", asserted_at=""),
        verdict.event,
        EvidenceRefuted(evidence_id=e_qa, by=audit, retracted=False),
        ConclusionInvalidated(conclusion_id=k, because=e_qa, lost=(e_qa,)),
        HypothesisSuperseded(hypothesis_id=a, by=b),
        NodeForgotten(node_id=k, node_kind="conclusion", was="invalidated", because=e_qa),
        FrontierMoved(question_id=company_x.question_id, hypothesis_id=b, previous_id=a, standing=0.7),
    ]


def test_after_the_story_the_refuted_evidence_is_kept_as_the_anchor_of_the_new_truth(company_x):
    company_x.fact(AUDIT, judged(_claim_id(company_x, AUDIT), company_x.id("E_qa")), handle="E_audit")
    assert company_x.states() == {
        "A": "superseded",
        "B": "alive",
        "C": "alive",
        "E_qa": "refuted",
        "E_email": "alive",
        "K": "forgotten",
        "E_audit": "alive",
    }
    assert _standings(company_x) == {"A": 0.0, "B": 0.7, "C": 0.0}


def test_when_the_refuter_is_refuted_everything_it_killed_comes_back_the_forgotten_too(company_x):
    company_x.fact(AUDIT, judged(_claim_id(company_x, AUDIT), company_x.id("E_qa")), handle="E_audit")
    a, b, audit, e_qa, k = (company_x.id(n) for n in ("A", "B", "E_audit", "E_qa", "K"))
    denial = _claim_id(company_x, "The forensic audit was a forgery")

    events = company_x.fact("The forensic audit was a forgery", judged(denial, audit))

    assert _consequences(events) == [
        EvidenceRefuted(evidence_id=audit, by=denial, retracted=False),
        NodeReinstated(node_id=e_qa, node_kind="evidence", because=audit, was="refuted"),
        NodeReinstated(node_id=k, node_kind="conclusion", because=e_qa, was="forgotten"),
        NodeReinstated(node_id=a, node_kind="hypothesis", because=e_qa, was="superseded"),
        FrontierMoved(question_id=company_x.question_id, hypothesis_id=a, previous_id=b, standing=0.9),
    ]


# --- the edge cases of the contract (4.3) --------------------------------------------------------------------


def test_a_cycle_of_conclusions_that_lost_its_ground_dies_once_each_and_terminates(beliefs):
    beliefs.ingest(
        evidence=[_evidence("E")],
        conclusions=[
            _conclusion("C1", {"conclusion": "C2"}, {"evidence": "E"}),
            _conclusion("C2", {"conclusion": "C1"}),
        ],
    )
    e, c1, c2 = (beliefs.id(n) for n in ("E", "C1", "C2"))
    assert set(beliefs.states().values()) == {"alive"}

    assert _consequences(beliefs.retract("E")) == [
        EvidenceRefuted(evidence_id=e, by="", retracted=True),
        ConclusionInvalidated(conclusion_id=c1, because=e, lost=(c2, e)),
        ConclusionInvalidated(conclusion_id=c2, because=c1, lost=(c1,)),
        NodeForgotten(node_id=e, node_kind="evidence", was="refuted", because=""),
        NodeForgotten(node_id=c1, node_kind="conclusion", was="invalidated", because=e),
        NodeForgotten(node_id=c2, node_kind="conclusion", was="invalidated", because=c1),
    ]


def test_a_fact_that_refutes_two_claims_invalidates_the_union_of_what_rests_on_them(beliefs):
    beliefs.ingest(
        evidence=[_evidence("E1"), _evidence("E2")],
        conclusions=[
            _conclusion("C1", {"evidence": "E1"}),
            _conclusion("C2", {"evidence": "E2"}),
            _conclusion("C12", {"evidence": "E1", "group": "both"}, {"evidence": "E2", "group": "both"}),
        ],
    )
    e1, e2, c1, c2, c12 = (beliefs.id(n) for n in ("E1", "E2", "C1", "C2", "C12"))
    fact = _claim_id(beliefs, "Neither holds")

    events = beliefs.fact("Neither holds", judged(fact, e1), judged(fact, e2))

    assert _consequences(events) == [
        EvidenceRefuted(evidence_id=e1, by=fact, retracted=False),
        EvidenceRefuted(evidence_id=e2, by=fact, retracted=False),
        ConclusionInvalidated(conclusion_id=c1, because=e1, lost=(e1,)),
        ConclusionInvalidated(conclusion_id=c12, because=e1, lost=(e1, e2)),
        ConclusionInvalidated(conclusion_id=c2, because=e2, lost=(e2,)),
        NodeForgotten(node_id=c1, node_kind="conclusion", was="invalidated", because=e1),
        NodeForgotten(node_id=c12, node_kind="conclusion", was="invalidated", because=e1),
        NodeForgotten(node_id=c2, node_kind="conclusion", was="invalidated", because=e2),
    ]


def test_a_conclusion_with_a_living_critical_alternative_stays_and_its_refuted_evidence_is_retained(beliefs):
    beliefs.ingest(
        evidence=[_evidence("E_qa"), _evidence("E_alt")],
        conclusions=[_conclusion("K", {"evidence": "E_qa"}, {"evidence": "E_alt"})],
    )
    assert _consequences(beliefs.retract("E_qa")) == [
        EvidenceRefuted(evidence_id=beliefs.id("E_qa"), by="", retracted=True)
    ]
    assert beliefs.states() == {"E_qa": "refuted", "E_alt": "alive", "K": "alive"}


def test_in_a_diamond_the_conclusion_is_invalidated_once_and_each_node_forgotten_once(beliefs):
    beliefs.ingest(
        evidence=[
            _evidence("E0"),
            _evidence("E1", depends_on=[{"evidence": "E0"}]),
            _evidence("E2", depends_on=[{"evidence": "E0"}]),
        ],
        conclusions=[_conclusion("K", {"evidence": "E1"}, {"evidence": "E2"})],
    )
    e0, e1, e2, k = (beliefs.id(n) for n in ("E0", "E1", "E2", "K"))
    fact = _claim_id(beliefs, "E0 is wrong")

    assert _consequences(beliefs.fact("E0 is wrong", judged(fact, e0))) == [
        EvidenceRefuted(evidence_id=e0, by=fact, retracted=False),
        EvidenceInvalidated(evidence_id=e1, because=e0, lost=(e0,)),
        EvidenceInvalidated(evidence_id=e2, because=e0, lost=(e0,)),
        ConclusionInvalidated(conclusion_id=k, because=e1, lost=(e1, e2)),
        NodeForgotten(node_id=e1, node_kind="evidence", was="invalidated", because=e0),
        NodeForgotten(node_id=e2, node_kind="evidence", was="invalidated", because=e0),
        NodeForgotten(node_id=k, node_kind="conclusion", was="invalidated", because=e1),
    ]


def test_losing_a_non_critical_dependency_lowers_confidence_and_its_return_restores_it(beliefs):
    beliefs.ingest(
        evidence=[_evidence("E1"), _evidence("E2"), _evidence("E3")],
        conclusions=[
            _conclusion(
                "K",
                {"evidence": "E1"},
                {"evidence": "E2", "critical": False},
                {"evidence": "E3", "critical": False},
                confidence=0.9,
            )
        ],
    )
    assert _confidence(beliefs, "K") == pytest.approx(0.9)
    beliefs.retract("E2")
    assert beliefs.state("K") == "alive"
    assert beliefs.state("E2") == "refuted"  # retained: it still feeds a living node
    assert _confidence(beliefs, "K") == pytest.approx(0.72)
    beliefs.retract("E3")
    assert _confidence(beliefs, "K") == pytest.approx(0.576)
    beliefs.restore("E2")
    beliefs.restore("E3")
    assert _confidence(beliefs, "K") == pytest.approx(0.9)


@pytest.mark.parametrize("confidence", [0.0, 0.59, 0.599999])
def test_a_verdict_below_the_gate_is_recorded_and_refutes_nothing(company_x, confidence):
    fact, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    finding = judged(fact, e_qa, confidence=confidence)
    events = company_x.fact(AUDIT, finding)
    assert finding.event in events
    assert _consequences(events) == []
    assert company_x.graph.epoch == 1


@pytest.mark.parametrize("relation", ["supports", "unrelated"])
def test_a_sure_verdict_of_another_kind_refutes_nothing(company_x, relation):
    fact, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    assert _consequences(company_x.fact(AUDIT, judged(fact, e_qa, relation, 1.0))) == []


def test_a_verdict_at_the_gate_acts(company_x):
    fact, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    company_x.fact(AUDIT, judged(fact, e_qa, confidence=0.6))
    assert company_x.state("E_qa") == "refuted"


# --- depth and loops -----------------------------------------------------------------------------------------


def test_a_cascade_has_no_depth_limit(beliefs):
    depth = 60
    beliefs.ingest(
        evidence=[_evidence("E")],
        conclusions=[
            _conclusion("C1", {"evidence": "E"}),
            *(_conclusion(f"C{i}", {"conclusion": f"C{i - 1}"}) for i in range(2, depth + 1)),
        ],
    )
    events = _consequences(beliefs.retract("E"))
    chain = [beliefs.id(n) for n in ("E", *(f"C{i}" for i in range(1, depth + 1)))]
    assert events[1 : depth + 1] == [
        ConclusionInvalidated(conclusion_id=c, because=on, lost=(on,)) for on, c in pairwise(chain)
    ]
    assert set(beliefs.states().values()) == {"forgotten"}
    beliefs.restore("E")
    assert set(beliefs.states().values()) == {"alive"}


def test_a_loop_that_nothing_supports_from_outside_is_dead_from_the_start(beliefs):
    loop = [_conclusion("C1", {"conclusion": "C2"}), _conclusion("C2", {"conclusion": "C1"})]
    events = beliefs.ingest(conclusions=loop)
    c1, c2 = beliefs.id("C1"), beliefs.id("C2")
    assert _consequences(events) == [
        ConclusionInvalidated(conclusion_id=c1, because=c2, lost=(c2,)),
        ConclusionInvalidated(conclusion_id=c2, because=c1, lost=(c1,)),
        NodeForgotten(node_id=c1, node_kind="conclusion", was="invalidated", because=c2),
        NodeForgotten(node_id=c2, node_kind="conclusion", was="invalidated", because=c1),
    ]


def test_a_dead_loop_comes_to_life_with_its_first_outside_support(beliefs):
    beliefs.ingest(conclusions=[_conclusion("C1", {"conclusion": "C2"}), _conclusion("C2", {"conclusion": "C1"})])
    events = beliefs.ingest(
        evidence=[_evidence("E")], conclusions=[_conclusion("C1", {"conclusion": "C2"}, {"evidence": "E"})]
    )
    c1, c2, e = (beliefs.id(n) for n in ("C1", "C2", "E"))
    assert _consequences(events) == [
        NodeReinstated(node_id=c1, node_kind="conclusion", because=e, was="forgotten"),
        NodeReinstated(node_id=c2, node_kind="conclusion", because=c1, was="forgotten"),
    ]


# --- open conflicts ------------------------------------------------------------------------------------------


def test_two_claims_that_refute_each_other_are_contested_and_so_is_what_rests_on_them(beliefs):
    beliefs.ingest(evidence=[_evidence("E1"), _evidence("E2")], conclusions=[_conclusion("K", {"evidence": "E1"})])
    e1, e2, k = (beliefs.id(n) for n in ("E1", "E2", "K"))
    beliefs.rule("E1", "E2")

    assert _consequences(beliefs.rule("E2", "E1")) == [
        NodeContested(node_id=e1, node_kind="evidence", over=(e2,)),
        NodeContested(node_id=e2, node_kind="evidence", over=(e1,)),
        NodeContested(node_id=k, node_kind="conclusion", over=(e1,)),
    ]


def test_a_third_fact_that_refutes_one_side_settles_the_conflict(beliefs):
    beliefs.ingest(
        evidence=[
            _evidence("E1", contradicts=[{"evidence": "E2"}]),
            _evidence("E2", contradicts=[{"evidence": "E1"}]),
        ],
        conclusions=[_conclusion("K", {"evidence": "E1"})],
    )
    assert set(beliefs.states().values()) == {"contested"}
    e1, e2, k = (beliefs.id(n) for n in ("E1", "E2", "K"))
    fact = _claim_id(beliefs, "E2 is wrong")

    assert _consequences(beliefs.fact("E2 is wrong", judged(fact, e2))) == [
        EvidenceRefuted(evidence_id=e2, by=fact, retracted=False),
        NodeReinstated(node_id=e1, node_kind="evidence", because=e2, was="contested"),
        NodeReinstated(node_id=k, node_kind="conclusion", because=e1, was="contested"),
    ]


def test_a_claim_that_contradicts_itself_is_contested_and_kills_nothing(beliefs):
    beliefs.ingest(evidence=[_evidence("E1", contradicts=[{"evidence": "E2"}]), _evidence("E2")])
    assert beliefs.states() == {"E1": "alive", "E2": "refuted"}
    e1, e2 = beliefs.id("E1"), beliefs.id("E2")
    assert _consequences(beliefs.rule("E1", "E1")) == [
        NodeContested(node_id=e1, node_kind="evidence", over=(e1,)),
        NodeContested(node_id=e2, node_kind="evidence", over=(e1,)),
    ]


def test_a_hypothesis_whose_last_support_is_contested_is_contested_and_loses_the_frontier(company_x):
    company_x.fact("No such report exists", handle="E_none")
    company_x.rule("E_none", "E_qa")
    a, b, k, e_qa, e_none = (company_x.id(n) for n in ("A", "B", "K", "E_qa", "E_none"))

    assert _consequences(company_x.rule("E_qa", "E_none")) == [
        NodeContested(node_id=e_qa, node_kind="evidence", over=(e_none,)),
        NodeContested(node_id=k, node_kind="conclusion", over=(e_qa,)),
        NodeContested(node_id=e_none, node_kind="evidence", over=(e_qa,)),
        NodeContested(node_id=a, node_kind="hypothesis", over=(e_qa,)),
    ]
    question = company_x.graph.nodes[company_x.question_id]
    assert isinstance(question, Question)
    assert question.frontier == b


# --- who wins ------------------------------------------------------------------------------------------------


def test_a_late_arriving_old_fact_loses_to_the_newer_one_and_is_refuted_itself(beliefs):
    beliefs.fact("The mayor is Ada", asserted_at="2022-01-01", handle="ada")
    old = _claim_id(beliefs, "The mayor is Bob")
    events = beliefs.fact("The mayor is Bob", judged(old, beliefs.id("ada")), asserted_at="2021-01-01")
    assert _consequences(events) == [
        EvidenceRefuted(evidence_id=old, by=beliefs.id("ada"), retracted=False),
    ]


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        ("2021-01-01", "2021-01-01", "second"),
        ("", "", "second"),
        ("2021-01-01", "", "second"),
        ("", "1999-01-01", "second"),
        ("2021-01-01T10:00:00Z", "2021-01-01", "second"),
        ("2021-01-01", "2021-01-01T00:00:00Z", "second"),
        ("2021-01-01T10:00:00Z", "2021-01-01T09:59:59Z", "first"),
        ("2021-01-02", "2021-01-01T23:59:59Z", "first"),
    ],
)
def test_dates_decide_where_both_are_known_and_differ_and_else_the_later_in_the_log(beliefs, first, second, winner):
    beliefs.fact("The mayor is Ada", asserted_at=first, handle="first")
    fact = _claim_id(beliefs, "The mayor is Bob")
    beliefs.fact("The mayor is Bob", judged(fact, beliefs.id("first")), asserted_at=second, handle="second")
    loser = "first" if winner == "second" else "second"
    assert beliefs.states() == {winner: "alive", loser: "refuted"}


def test_a_weak_source_cannot_kill_a_strong_fact_and_is_the_one_that_is_refuted(beliefs):
    beliefs.fact("The valve was open", source_id="sensor", trust=0.9, asserted_at="2021-01-01", handle="strong")
    rumour = _claim_id(beliefs, "The valve was shut")
    events = beliefs.fact(
        "The valve was shut",
        judged(rumour, beliefs.id("strong")),
        source_id="rumour",
        trust=0.2,
        asserted_at="2023-01-01",
    )
    assert _consequences(events) == [EvidenceRefuted(evidence_id=rumour, by=beliefs.id("strong"), retracted=False)]


@pytest.fixture
def charged(beliefs):
    """Return a claim of a log of 2022, and a charge of 2021 against the log."""
    beliefs.fact("The valve was open", source_id="log", asserted_at="2022-01-01", handle="open")
    charge = _claim_id(beliefs, "The log was forged")
    finding = judged(charge, beliefs.id("open"), impugned=("log",))
    beliefs.fact("The log was forged", finding, source_id="audit", asserted_at="2021-01-01", handle="charge")
    return beliefs


def test_a_charge_ends_what_rests_on_its_source_however_much_newer_that_is(charged):
    assert charged.states() == {"open": "refuted", "charge": "alive"}
    charged.fact("The valve was open", source_id="log", asserted_at="2023-01-01")
    assert charged.states() == {"open": "refuted", "charge": "alive"}


def test_a_charge_that_comes_back_ends_it_again(charged):
    charged.retract("charge")
    assert charged.states()["open"] == "alive"
    charged.restore("charge")
    assert charged.states() == {"open": "refuted", "charge": "alive"}


def test_a_claim_that_another_source_stands_by_is_not_ended_by_a_charge_and_does_not_end_it(charged):
    charged.fact("The valve was open", source_id="sensor", asserted_at="2023-01-01")
    assert charged.states() == {"open": "alive", "charge": "alive"}
    charged.retract("open", source_id="sensor")
    assert charged.states() == {"open": "refuted", "charge": "alive"}


def test_a_charge_against_a_source_that_is_trusted_more_is_itself_refuted(charged):
    charged.ingest(sources=[{"id": "audit", "trust": 0.2}])
    assert charged.states() == {"open": "alive", "charge": "refuted"}
    charged.ingest(sources=[{"id": "log", "trust": 0.1}])
    assert charged.states() == {"open": "refuted", "charge": "alive"}


def test_a_verdict_that_was_recorded_before_charges_were_told_apart_keeps_its_meaning(beliefs):
    old = judged("F", "C").event
    body = {**old.__dict__, "gate": "source"}
    del body["impugned"]
    assert decode("belief.verdict_given/1", orjson.dumps(body)) == replace(old, gate="source", impugned=())


def test_a_source_trusted_less_later_flips_the_pair_it_had_won(beliefs):
    beliefs.ingest(sources=[{"id": "lab", "trust": 0.9}, {"id": "log", "trust": 0.5}])
    beliefs.fact("The valve was shut", source_id="log", handle="shut")
    opened = _claim_id(beliefs, "The valve was open")
    beliefs.fact("The valve was open", judged(opened, beliefs.id("shut")), source_id="lab", handle="open")
    shut = beliefs.id("shut")
    assert beliefs.states() == {"shut": "refuted", "open": "alive"}

    events = beliefs.ingest(sources=[{"id": "lab", "trust": 0.1}])

    assert events == [
        RevisionOpened(epoch=3, trigger="ingest", subject_id=beliefs.question_id),
        SourceRecorded(source_id="lab", title="lab", trust=0.1),
        NodeReinstated(node_id=shut, node_kind="evidence", because=opened, was="refuted"),
        EvidenceRefuted(evidence_id=opened, by=shut, retracted=False),
    ]


def test_the_same_source_trusted_anew_gives_the_pair_back(beliefs):
    beliefs.ingest(sources=[{"id": "lab", "trust": 0.9}, {"id": "log", "trust": 0.5}])
    beliefs.fact("The valve was shut", source_id="log", handle="shut")
    opened = _claim_id(beliefs, "The valve was open")
    beliefs.fact("The valve was open", judged(opened, beliefs.id("shut")), source_id="lab", handle="open")
    before = beliefs.states()
    beliefs.ingest(sources=[{"id": "lab", "trust": 0.1}])
    beliefs.ingest(sources=[{"id": "lab", "trust": 0.9}])
    assert beliefs.states() == before


def test_a_mention_of_a_source_without_a_trust_leaves_its_trust_as_it_is(beliefs):
    beliefs.ingest(sources=[{"id": "lab", "trust": 0.3}])
    assert beliefs.ingest(sources=[{"id": "lab"}]) == []
    beliefs.fact("The valve was open", source_id="lab")
    assert beliefs.graph.sources["lab"].trust == pytest.approx(0.3)


def test_a_claim_that_lost_its_strong_source_loses_the_pair_to_its_victim(beliefs):
    beliefs.fact("The valve was shut", source_id="log", trust=0.5, handle="shut")
    opened = _claim_id(beliefs, "The valve was open")
    beliefs.fact("The valve was open", source_id="rumour", trust=0.1, handle="open")
    beliefs.fact("The valve was open", judged(opened, beliefs.id("shut")), source_id="lab", trust=0.9)
    assert beliefs.states() == {"shut": "refuted", "open": "alive"}
    beliefs.retract("open", source_id="lab")
    assert beliefs.states() == {"shut": "alive", "open": "refuted"}
    beliefs.restore("open", source_id="lab")
    assert beliefs.states() == {"shut": "refuted", "open": "alive"}


def test_a_claim_said_again_of_an_older_day_loses_the_pair_to_its_victim(beliefs):
    beliefs.fact("The valve was shut", asserted_at="2021-06-01", handle="shut")
    opened = _claim_id(beliefs, "The valve was open")
    beliefs.fact("The valve was open", judged(opened, beliefs.id("shut")), asserted_at="2022-01-01", handle="open")
    assert beliefs.states() == {"shut": "refuted", "open": "alive"}
    beliefs.fact("The valve was open", asserted_at="2020-01-01")
    assert beliefs.states() == {"shut": "alive", "open": "refuted"}


def test_a_then_b_then_a_again_flips_back_without_a_new_verdict(beliefs):
    beliefs.fact("The mayor is Ada", handle="ada")
    bob = _claim_id(beliefs, "The mayor is Bob")
    beliefs.fact("The mayor is Bob", judged(bob, beliefs.id("ada")), handle="bob")
    ada = beliefs.id("ada")
    assert beliefs.states() == {"ada": "refuted", "bob": "alive"}

    events = beliefs.fact("The mayor is Ada.")

    assert events[:2] == [
        RevisionOpened(epoch=3, trigger="fact", subject_id=ada),
        EvidenceAsserted(evidence_id=ada, source_id="unattributed", quote="", asserted_at=""),
    ]
    assert beliefs.states() == {"ada": "alive", "bob": "refuted"}


# --- several sources of one claim ----------------------------------------------------------------------------


def test_a_claim_of_two_sources_lives_until_both_withdraw_it_and_again_when_one_returns(company_x):
    company_x.fact("The record says E_qa", source_id="witness", source_title="A witness")
    e_qa, a, b, k = (company_x.id(n) for n in ("E_qa", "A", "B", "K"))
    assert list(company_x.graph.evidence(e_qa).assertions) == ["qa", "witness"]

    assert company_x.retract("E_qa", source_id="qa") == [
        RevisionOpened(epoch=2, trigger="retraction", subject_id=e_qa),
        AssertionRetracted(evidence_id=e_qa, source_id="qa", reason="withdrawn"),
    ]
    assert company_x.retract("E_qa") == [
        RevisionOpened(epoch=3, trigger="retraction", subject_id=e_qa),
        AssertionRetracted(evidence_id=e_qa, source_id="witness", reason="withdrawn"),
        EvidenceRefuted(evidence_id=e_qa, by="", retracted=True),
        ConclusionInvalidated(conclusion_id=k, because=e_qa, lost=(e_qa,)),
        HypothesisSuperseded(hypothesis_id=a, by=b),
        NodeForgotten(node_id=e_qa, node_kind="evidence", was="refuted", because=""),
        NodeForgotten(node_id=k, node_kind="conclusion", was="invalidated", because=e_qa),
        FrontierMoved(question_id=company_x.question_id, hypothesis_id=b, previous_id=a, standing=0.7),
    ]
    assert company_x.restore("E_qa", source_id="qa") == [
        RevisionOpened(epoch=4, trigger="restoration", subject_id=e_qa),
        AssertionRestored(evidence_id=e_qa, source_id="qa", reason="it stands"),
        NodeReinstated(node_id=e_qa, node_kind="evidence", because="", was="forgotten"),
        NodeReinstated(node_id=k, node_kind="conclusion", because=e_qa, was="forgotten"),
        NodeReinstated(node_id=a, node_kind="hypothesis", because=e_qa, was="superseded"),
        FrontierMoved(question_id=company_x.question_id, hypothesis_id=a, previous_id=b, standing=0.9),
    ]


def test_withdrawing_what_is_withdrawn_and_restoring_what_stands_is_refused(company_x):
    with pytest.raises(RefusedError, match="standing already"):
        company_x.restore("E_qa")
    company_x.retract("E_qa")
    with pytest.raises(RefusedError, match="withdrawn already"):
        company_x.retract("E_qa")


def test_a_source_that_never_made_the_claim_cannot_withdraw_it(company_x):
    with pytest.raises(NotFoundError, match="not asserted by the source 'supplier'") as refusal:
        company_x.retract("E_qa", source_id="supplier")
    assert refusal.value.hint == "its sources are qa"


def test_a_withdrawn_claim_said_again_stands_again(company_x):
    company_x.retract("E_qa")
    company_x.fact("The record says E_qa", source_id="qa")
    assert company_x.state("K") == "alive"


def test_evidence_both_refuted_and_withdrawn_stays_dead_for_the_reason_that_is_left(company_x):
    audit, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    company_x.fact(AUDIT, judged(audit, e_qa), handle="E_audit")
    assert _consequences(company_x.retract("E_qa")) == []

    assert _consequences(company_x.retract("E_audit")) == [
        EvidenceRefuted(evidence_id=e_qa, by="", retracted=True),
        EvidenceRefuted(evidence_id=audit, by="", retracted=True),
        NodeForgotten(node_id=e_qa, node_kind="evidence", was="refuted", because=""),
        NodeForgotten(node_id=audit, node_kind="evidence", was="refuted", because=""),
    ]


def test_evidence_with_two_refuters_names_the_other_when_the_first_falls(beliefs):
    beliefs.ingest(
        evidence=[
            _evidence("E"),
            _evidence("R1", contradicts=[{"evidence": "E"}]),
            _evidence("R2", contradicts=[{"evidence": "E"}]),
        ]
    )
    e, r1, r2 = (beliefs.id(n) for n in ("E", "R1", "R2"))
    assert beliefs.graph.nodes[e].cause == r1
    assert _consequences(beliefs.retract("R1")) == [
        EvidenceRefuted(evidence_id=e, by=r2, retracted=False),
        EvidenceRefuted(evidence_id=r1, by="", retracted=True),
        NodeForgotten(node_id=r1, node_kind="evidence", was="refuted", because=""),
    ]


def test_evidence_refuted_and_superseded_is_refuted_until_only_the_newer_version_is_left(beliefs):
    beliefs.ingest(
        evidence=[
            _evidence("E"),
            _evidence("new", supersedes=[{"evidence": "E"}]),
            _evidence("refuter", contradicts=[{"evidence": "E"}]),
        ]
    )
    assert beliefs.state("E") == "refuted"
    assert EvidenceSuperseded(evidence_id=beliefs.id("E"), by=beliefs.id("new")) in beliefs.retract("refuter")
    assert beliefs.state("E") == "superseded"


def test_superseded_evidence_is_kept_as_provenance_even_when_nothing_rests_on_it(beliefs):
    beliefs.ingest(evidence=[_evidence("old"), _evidence("new", supersedes=[{"evidence": "old"}])])
    assert beliefs.states() == {"old": "superseded", "new": "alive"}


# --- groups --------------------------------------------------------------------------------------------------


def test_a_group_of_three_falls_with_one_of_them_and_only_what_fell_is_named(beliefs):
    beliefs.ingest(
        evidence=[_evidence("E1"), _evidence("E2"), _evidence("E3")],
        conclusions=[_conclusion("K", *({"evidence": f"E{i}", "group": "all"} for i in (1, 2, 3)))],
    )
    e2, k = beliefs.id("E2"), beliefs.id("K")
    assert _consequences(beliefs.retract("E2")) == [
        EvidenceRefuted(evidence_id=e2, by="", retracted=True),
        ConclusionInvalidated(conclusion_id=k, because=e2, lost=(e2,)),
        NodeForgotten(node_id=e2, node_kind="evidence", was="refuted", because=""),
        NodeForgotten(node_id=k, node_kind="conclusion", was="invalidated", because=e2),
    ]
    assert beliefs.states() == {"E1": "alive", "E2": "forgotten", "E3": "alive", "K": "forgotten"}


def test_the_second_group_keeps_a_conclusion_that_lost_the_first(beliefs):
    beliefs.ingest(
        evidence=[_evidence(f"E{i}") for i in (1, 2, 3, 4)],
        conclusions=[
            _conclusion(
                "K", *({"evidence": f"E{i}", "group": group} for i, group in ((1, "g"), (2, "g"), (3, "h"), (4, "h")))
            )
        ],
    )
    beliefs.retract("E1")
    assert beliefs.state("K") == "alive"
    beliefs.retract("E4")
    assert beliefs.state("K") == "forgotten"
    beliefs.restore("E1")
    assert beliefs.state("K") == "alive"


# --- forgetting ----------------------------------------------------------------------------------------------


def test_a_dead_end_is_kept_while_a_living_node_reaches_it_through_a_contested_one(beliefs):
    beliefs.ingest(
        evidence=[
            _evidence("leaf"),
            _evidence("ground"),
            _evidence("doubt", contradicts=[{"evidence": "doubt"}, {"evidence": "middle"}]),
            _evidence("middle", depends_on=[{"evidence": "leaf", "critical": False}]),
        ],
        conclusions=[_conclusion("top", {"evidence": "ground"}, {"evidence": "middle"})],
    )
    beliefs.retract("leaf")
    assert beliefs.states() == {
        "leaf": "refuted",
        "ground": "alive",
        "doubt": "contested",
        "middle": "contested",
        "top": "alive",
    }
    beliefs.retract("ground")
    assert beliefs.state("top") == "contested"
    assert beliefs.state("leaf") == "forgotten"
    beliefs.restore("ground")
    assert beliefs.state("leaf") == "refuted"


def test_withdrawn_support_of_a_living_hypothesis_is_kept_until_a_rival_is_supported(beliefs):
    beliefs.ingest(
        hypotheses=[{"id": "A", "statement": "It was A"}, {"id": "B", "statement": "It was B"}],
        evidence=[_evidence("E", supports=[{"hypothesis": "A"}])],
    )
    beliefs.retract("E")
    assert beliefs.states() == {"A": "alive", "B": "alive", "E": "refuted"}
    a, b, e = (beliefs.id(n) for n in "ABE")
    events = beliefs.ingest(evidence=[_evidence("F", supports=[{"hypothesis": "B"}])])
    assert _consequences(events) == [
        HypothesisSuperseded(hypothesis_id=a, by=b),
        NodeForgotten(node_id=e, node_kind="evidence", was="refuted", because=""),
        FrontierMoved(question_id=beliefs.question_id, hypothesis_id=b, previous_id=a, standing=1.0),
    ]
    assert _consequences(beliefs.retract("F")) == [
        EvidenceRefuted(evidence_id=beliefs.id("F"), by="", retracted=True),
        NodeReinstated(node_id=a, node_kind="hypothesis", because="", was="superseded"),
        EvidenceRefuted(evidence_id=e, by="", retracted=True),
        FrontierMoved(question_id=beliefs.question_id, hypothesis_id=a, previous_id=b, standing=0.0),
    ]


def test_evidence_against_a_hypothesis_lowers_its_standing_and_does_not_keep_the_dead(beliefs):
    beliefs.ingest(
        hypotheses=[{"id": "A", "statement": "It was A"}, {"id": "B", "statement": "It was B"}],
        evidence=[
            _evidence("for A", supports=[{"hypothesis": "A", "weight": 0.8}]),
            _evidence("against A", refutes=[{"hypothesis": "A", "weight": 0.5}]),
            _evidence("for B", supports=[{"hypothesis": "B", "weight": 0.4}]),
        ],
    )
    assert _standings(beliefs) == {"A": 0.3, "B": 0.4}
    assert _frontier(beliefs) == "B"
    beliefs.retract("against-A")
    assert beliefs.state("against-A") == "forgotten"
    assert _standings(beliefs) == {"A": 0.8, "B": 0.4}
    assert _frontier(beliefs) == "A"


def test_a_superseded_hypothesis_names_the_next_rival_when_the_first_loses_its_support(beliefs):
    beliefs.ingest(
        hypotheses=[{"id": h, "statement": f"It was {h}"} for h in "ABC"],
        evidence=[
            _evidence(f"for {h}", supports=[{"hypothesis": h, "weight": w}])
            for h, w in zip("ABC", (1, 0.9, 0.5), strict=True)
        ],
    )
    a, b, c = (beliefs.id(h) for h in "ABC")
    assert HypothesisSuperseded(hypothesis_id=a, by=b) in beliefs.retract("for-A")
    assert HypothesisSuperseded(hypothesis_id=a, by=c) in beliefs.retract("for-B")


# --- verdicts ------------------------------------------------------------------------------------------------


def test_a_later_verdict_on_the_same_pair_takes_the_earlier_back(company_x):
    audit, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    company_x.fact(AUDIT, judged(audit, e_qa), handle="E_audit")
    events = company_x.adjudicate("E_audit", judged(audit, e_qa, "unrelated"))
    assert events[0] == RevisionOpened(epoch=2, trigger="adjudication", subject_id=audit)
    assert NodeReinstated(node_id=e_qa, node_kind="evidence", because=audit, was="refuted") in events
    assert company_x.state("K") == "alive"
    company_x.adjudicate("E_audit", judged(audit, e_qa))
    assert company_x.state("K") == "forgotten"


def test_a_verdict_on_the_pair_the_other_way_round_is_on_the_same_pair(company_x):
    audit, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    company_x.fact(AUDIT, judged(audit, e_qa), handle="E_audit")
    company_x.adjudicate("E_qa", judged(e_qa, audit, "unrelated"))
    assert company_x.state("E_qa") == "alive"


def test_a_persons_verdict_goes_before_a_judges_on_the_same_pair(company_x):
    audit, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    company_x.fact(AUDIT, judged(audit, e_qa), handle="E_audit")
    company_x.rule("E_qa", "E_audit")
    assert company_x.states()["E_audit"] == "refuted"
    assert company_x.states()["E_qa"] == "alive"
    company_x.adjudicate("E_audit", judged(audit, e_qa, confidence=1.0))
    assert company_x.states()["E_audit"] == "refuted"


@pytest.mark.parametrize(("fact", "claim"), [("E_audit", "E_qa"), ("E_qa", "E_audit")])
def test_a_person_who_sees_no_conflict_takes_the_judges_verdict_back_whichever_way_round(company_x, fact, claim):
    audit, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    company_x.fact(AUDIT, judged(audit, e_qa), handle="E_audit")
    company_x.rule(fact, claim, "unrelated")
    assert company_x.state("E_audit") == company_x.state("E_qa") == company_x.state("K") == "alive"
    company_x.adjudicate("E_audit", judged(audit, e_qa, confidence=1.0))
    assert company_x.state("E_qa") == "alive"


def test_a_persons_verdict_runs_as_given_however_weak_the_source(beliefs):
    beliefs.fact("The valve was open", source_id="sensor", trust=1.0, asserted_at="2023-01-01", handle="strong")
    beliefs.fact("The valve was shut", source_id="rumour", trust=0.1, asserted_at="2021-01-01", handle="weak")
    beliefs.rule("weak", "strong")
    assert beliefs.states() == {"strong": "refuted", "weak": "alive"}


def test_a_withheld_verdict_refutes_nothing_and_can_be_given_later(company_x):
    audit, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    silence = withheld(audit, e_qa)
    events = company_x.fact(AUDIT, silence, handle="E_audit")
    assert silence.event in events
    assert _consequences(events) == []
    assert company_x.graph.considered.get(audit, (audit, e_qa)) == silence.event

    events = company_x.adjudicate("E_audit", judged(audit, e_qa))

    assert events[0] == RevisionOpened(epoch=2, trigger="adjudication", subject_id=audit)
    assert company_x.state("K") == "forgotten"


def test_a_withheld_verdict_does_not_take_an_earlier_one_back(company_x):
    audit, e_qa = _claim_id(company_x, AUDIT), company_x.id("E_qa")
    company_x.fact(AUDIT, judged(audit, e_qa), handle="E_audit")
    company_x.adjudicate("E_audit", withheld(audit, e_qa))
    assert company_x.state("E_qa") == "refuted"


def test_an_adjudication_without_a_finding_is_no_revision(company_x):
    assert record_verdicts(company_x.graph, company_x.id("E_qa"), []) == []


# --- ingest --------------------------------------------------------------------------------------------------


def test_a_file_that_revises_nothing_opens_no_epoch(company_x):
    assert company_x.graph.epoch == 0
    assert not any(isinstance(e, RevisionOpened) for e in company_x.events)


def test_a_file_that_kills_something_opens_an_epoch_first(company_x):
    events = company_x.ingest(evidence=[_evidence("E_audit", contradicts=[{"evidence": "E_qa"}])])
    assert events[0] == RevisionOpened(epoch=1, trigger="ingest", subject_id=company_x.question_id)
    assert {company_x.graph.nodes[company_x.id(n)].truth_epoch for n in ("E_qa", "K", "A")} == {1}


def test_a_file_recorded_twice_changes_nothing_whatever_it_repeats(beliefs):
    parts = {
        "sources": [{"id": "s", "trust": 0.4}, {"id": "s", "title": "S", "trust": 0.6}],
        "hypotheses": [{"id": "A", "statement": "It was A"}, {"id": "A2", "statement": "it was a."}],
        "evidence": [
            _evidence(
                "E",
                source_id="s",
                quote="one",
                asserted_at="2021-01-01",
                supports=[{"hypothesis": "A", "weight": 0.2}, {"hypothesis": "A2", "weight": 0.3}],
                depends_on=[{"evidence": "F"}, {"evidence": "F", "critical": False}],
                contradicts=[{"evidence": "F", "confidence": 0.3}, {"evidence": "F", "confidence": 0.4}],
                supersedes=[{"evidence": "F", "confidence": 0.2}],
            ),
            {"id": "E2", "claim": "The record says E", "source_id": "s", "quote": "two"},
            {"id": "E3", "claim": "The record says E", "source_id": "t"},
            _evidence("F"),
        ],
        "conclusions": [_conclusion("K", {"evidence": "E"}, {"evidence": "E2"})],
    }
    first = beliefs.ingest(**parts)
    assert len(first) > 10
    assert beliefs.ingest(**parts) == []
    assert beliefs.ingest(**{**parts, "evidence": parts["evidence"][::-1]}) == [
        *(e for e in beliefs.events[len(first) :] if isinstance(e, EvidenceAsserted))
    ]


def test_the_same_words_under_two_names_are_one_node_with_two_handles(beliefs):
    events = beliefs.ingest(evidence=[_evidence("E"), {"id": "again", "claim": "the record says e.", "source_id": "t"}])
    e = beliefs.id("E")
    assert beliefs.id("again") == e
    assert HandleGiven(node_id=e, question_id=beliefs.question_id, handle="again") in events
    assert list(beliefs.graph.evidence(e).assertions) == ["unattributed", "t"]


def test_a_judged_file_acts_on_what_the_judge_found(company_x):
    audit, e_qa = _claim_id(company_x, "The record says E_audit"), company_x.id("E_qa")
    events = company_x.ingest(judged(audit, e_qa), evidence=[_evidence("E_audit")])
    assert EvidenceRefuted(evidence_id=e_qa, by=audit, retracted=False) in events


@pytest.mark.parametrize(
    ("parts", "path", "says"),
    [
        (
            {"evidence": [{"supports": [{"hypothesis": "A"}, {"hypothesis": "Z"}]}]},
            "evidence 0 supports 1 hypothesis",
            "Z",
        ),
        (
            {"evidence": [{"refutes": [{"hypothesis": "E_qa"}]}]},
            "evidence 0 refutes 0 hypothesis",
            "is evidence, not a hypothesis",
        ),
        ({"evidence": [{"contradicts": [{"evidence": "A"}]}]}, "evidence 0 contradicts 0 evidence", "is a hypothesis"),
        ({"evidence": [{"supersedes": [{"evidence": "Z"}]}]}, "evidence 0 supersedes 0 evidence", "Z"),
        ({"evidence": [{}, {"depends_on": [{"conclusion": "Z"}]}]}, "evidence 1 depends_on 0 conclusion", "Z"),
        (
            {"conclusions": [{"depends_on": [{"evidence": "K"}]}]},
            "conclusions 0 depends_on 0 evidence",
            "is a conclusion",
        ),
        (
            {"conclusions": [{"depends_on": [{"conclusion": "A"}]}]},
            "conclusions 0 depends_on 0 conclusion",
            "hypothesis",
        ),
        ({"evidence": [{"id": "A"}]}, "evidence 0 id", "already stands for"),
        ({"evidence": [{}], "conclusions": [{"id": "x0"}]}, "conclusions 0 id", "used twice"),
        ({"hypotheses": [{"id": "K"}]}, "hypotheses 0 id", "already stands for"),
    ],
)
def test_a_bad_reference_names_its_place_and_records_nothing(company_x, parts, path, says):
    field = {"evidence": "claim", "conclusions": "statement", "hypotheses": "statement"}
    whole = {
        part: [{"id": f"x{i}", field[part]: f"Said {part} {i}", **entry} for i, entry in enumerate(entries)]
        for part, entries in parts.items()
    }
    before = canonical(company_x.graph)
    with pytest.raises(BadReferenceError, match=says) as refusal:
        company_x.ingest(**whole)
    assert " ".join(map(str, refusal.value.path)) == path
    assert canonical(company_x.graph) == before


def test_what_belongs_to_another_question_cannot_be_named(company_x):
    other = InMemory("What broke the pump?")
    other.graph = company_x.graph
    for name, says in ((company_x.id("E_qa"), "' stands under"), ("E_qa", "'E_qa' is E-.*, which stands under")):
        with pytest.raises(BadReferenceError, match=f"{says} another question") as refusal:
            other.ingest(conclusions=[_conclusion("P", {"evidence": name})])
        assert refusal.value.reason == "other_question"


# --- decisions and their graph -------------------------------------------------------------------------------


def test_no_decision_changes_the_graph_it_was_given(company_x):
    graph, e_qa, e_email = company_x.graph, company_x.id("E_qa"), company_x.id("E_email")
    company_x.retract("E_email")
    fact = AssertFact(
        question_id=company_x.question_id,
        text=AUDIT,
        source_id="qa",
        trust=0.1,
        handle="E_audit",
        weighs=(Weighing(company_x.id("C"), "supports", 0.3),),
    )
    before = canonical(graph)
    decisions = [
        ask(graph, "Another question?", handle="Q2"),
        assert_fact(graph, fact, [judged(fact.fact_id, e_qa), withheld(fact.fact_id, e_email)]),
        retract(graph, e_qa),
        restore(graph, e_email),
        rule(graph, e_email, e_qa, relation="supersedes", confidence=1.0, rationale="", person="owner"),
        record_verdicts(graph, e_qa, [judged(e_qa, e_email)]),
    ]
    assert all(decisions)
    assert canonical(graph) == before


class Watched(dict):
    """Nodes that count how often they are looked at, and cannot be walked through."""

    looks = 0

    def __getitem__(self, key):
        self.looks += 1
        return super().__getitem__(key)

    def __iter__(self):
        raise AssertionError("a decision walked through all nodes")

    __len__ = keys = values = items = __iter__


def test_a_revision_looks_at_no_more_nodes_in_a_large_graph_than_in_a_small_one():
    looks = set()
    for bystanders in (20, 2_000):
        beliefs = InMemory(COMPANY_X)
        beliefs.ingest(
            hypotheses=[{"id": f"H{i}", "statement": f"It was {i}"} for i in range(bystanders // 10)],
            evidence=[
                _evidence(f"E{i}", supports=[{"hypothesis": f"H{i % (bystanders // 10)}", "weight": 0.001}])
                for i in range(bystanders)
            ],
            conclusions=[_conclusion(f"K{i}", {"evidence": f"E{i}"}) for i in range(bystanders)],
        )
        beliefs.ingest(
            hypotheses=[{"id": "A", "statement": "X knew", "prior": 0.6}],
            evidence=[_evidence("E_qa", supports=[{"hypothesis": "A", "weight": 0.9}])],
            conclusions=[_conclusion("K", {"evidence": "E_qa"})],
        )
        nodes = beliefs.graph.nodes = Watched(beliefs.graph.nodes)
        audit = AssertFact(question_id=beliefs.question_id, text=AUDIT)
        events = assert_fact(beliefs.graph, audit, [judged(audit.fact_id, beliefs.id("E_qa"))])
        assert [type(e) for e in _consequences(events)] == [
            EvidenceRefuted,
            ConclusionInvalidated,
            HypothesisSuperseded,
            NodeForgotten,
            FrontierMoved,
        ]
        looks.add(nodes.looks)
    assert len(looks) == 1


def test_a_question_is_asked_once():
    beliefs = InMemory("What broke the pump?")
    first = beliefs.record(ask(beliefs.graph, "What broke the pump?", handle="pump"))
    assert first == [QuestionAsked(question_id=beliefs.question_id, text="What broke the pump?", handle="pump")]
    assert ask(beliefs.graph, " what broke the PUMP?") == []


def test_a_fact_with_everything_is_recorded_as_said(company_x):
    c = company_x.id("C")
    events = company_x.fact(
        "X denied it under oath",
        source_id="court",
        source_title="Court record",
        trust=0.8,
        quote="We did not know.",
        asserted_at="2021-05-01T12:00+02:00",
        handle="E_oath",
        weighs=[("C", "supports", 0.25)],
    )
    oath = company_x.id("E_oath")
    assert events == [
        RevisionOpened(epoch=1, trigger="fact", subject_id=oath),
        SourceRecorded(source_id="court", title="Court record", trust=0.8),
        EvidenceRecorded(
            evidence_id=oath, question_id=company_x.question_id, claim="X denied it under oath", handle="E_oath"
        ),
        EvidenceAsserted(
            evidence_id=oath, source_id="court", quote="We did not know.", asserted_at="2021-05-01T10:00:00Z"
        ),
        EvidenceWeighed(evidence_id=oath, hypothesis_id=c, stance="supports", weight=0.25),
    ]


def test_a_known_fact_said_under_another_name_gets_the_name(company_x):
    events = company_x.fact("The record says E_qa", handle="E_march")
    e_qa = company_x.id("E_qa")
    assert HandleGiven(node_id=e_qa, question_id=company_x.question_id, handle="E_march") in events
    assert company_x.id("E_march") == e_qa


@pytest.mark.parametrize(
    ("change", "refusal", "says"),
    [
        ({"text": " . "}, InvalidInputError, "claim is empty"),
        ({"text": "half a \ud800 pair"}, InvalidInputError, r"U\+D800"),
        ({"quote": "a\0b"}, InvalidInputError, "quote holds the control character"),
        ({"asserted_at": "yesterday"}, InvalidInputError, "asserted_at 'yesterday' is not a date"),
        ({"trust": -0.1}, InvalidInputError, "trust is -0.1"),
        ({"trust": float("nan")}, InvalidInputError, "trust is nan"),
        ({"trust": float("inf")}, InvalidInputError, "trust is inf"),
        ({"source_id": ""}, InvalidInputError, "id of the source is empty"),
        ({"source_title": "\0"}, InvalidInputError, "title of the source"),
        ({"handle": "K"}, InvalidInputError, "'K' already stands for 'X knew by March 2021'"),
        ({"weighs": (Weighing("H-none", "supports", 1.0),)}, NotFoundError, "no hypothesis 'H-none'"),
        ({"question_id": "Q-none"}, NotFoundError, "no question 'Q-none'"),
    ],
)
def test_a_fact_that_cannot_be_recorded_is_refused_in_words(company_x, change, refusal, says):
    with pytest.raises(refusal, match=says):
        assert_fact(company_x.graph, AssertFact(**{"question_id": company_x.question_id, "text": AUDIT, **change}), [])


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_or_confidence_outside_of_0_to_1_is_refused(company_x, weight):
    with pytest.raises(InvalidInputError, match="must be between 0 and 1"):
        company_x.fact(AUDIT, weighs=[("A", "supports", weight)])
    with pytest.raises(InvalidInputError, match="must be between 0 and 1"):
        company_x.rule("E_qa", "E_email", confidence=weight)


@pytest.mark.parametrize("name", ["E-none", "K"])
def test_what_is_no_evidence_can_be_neither_withdrawn_nor_ruled_on(company_x, name):
    with pytest.raises(NotFoundError, match="there is no evidence"):
        company_x.retract(name)
    with pytest.raises(NotFoundError, match="there is no evidence"):
        company_x.rule(name, "E_qa")
    with pytest.raises(NotFoundError, match="there is no evidence"):
        company_x.rule("E_qa", name)
    with pytest.raises(NotFoundError, match="there is no evidence"):
        company_x.adjudicate("E_qa", judged(company_x.id("E_qa"), company_x.id(name)))


def _evidence(handle, **more):
    return {"id": handle.replace(" ", "-"), "claim": f"The record says {handle}", **more}


def _conclusion(handle, *depends_on, **more):
    return {"id": handle, "statement": f"So {handle}", "depends_on": list(depends_on), **more}


def _claim_id(beliefs, text):
    return node_id("evidence", text, question_id=beliefs.question_id)


def _consequences(events):
    return [event for event in events if not isinstance(event, Premise)]


def _confidence(beliefs, handle):
    conclusion = beliefs.graph.nodes[beliefs.id(handle)]
    assert isinstance(conclusion, Conclusion)
    return beliefs.graph.confidence(conclusion)


def _standings(beliefs):
    return {
        beliefs.graph.nodes[h].handle: beliefs.graph.nodes[h].standing / 1_000_000_000
        for h in beliefs.graph.hypotheses.of(beliefs.question_id)
    }


def _frontier(beliefs):
    return beliefs.graph.nodes[beliefs.graph.nodes[beliefs.question_id].frontier].handle
