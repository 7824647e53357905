"""The offline judge, its rules and the pinned judge: what acts, why, and how often they are right."""

import csv
import gzip
import json
import re
import time

import numpy as np
import pytest

from falsify import models
from falsify.embedders.bundled import BundledEmbedder
from falsify.judges.lexical import align, change, compare
from falsify.judges.offline import ASSISTS, OfflineJudge
from falsify.judges.pinned import PinnedJudge
from falsify.judges.quantities import quantities
from falsify.ports import Abstention, Opinion, Statement


@pytest.fixture(scope="module")
def judge():
    return OfflineJudge()


def opinion(judge, fact, claim):
    """Return the judge's opinion of one text against another, or against a whole statement."""
    [answer] = judge.judge(Statement(fact), [claim if isinstance(claim, Statement) else Statement(claim)])
    assert isinstance(answer, Opinion)
    return answer


def acts(answer):
    return answer.relation in {"contradicts", "supersedes"} and answer.confidence >= 0.6


# --- quantities ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sessions end after one hour.", "Sessions end after 60 minutes."),
        ("It weighs 1.5 kg.", "It weighs 1500 grams."),
        ("The team has fourteen engineers.", "The team has 14 engineers."),
        ("Churn was 3.1% in Q3.", "Churn stayed below 4 % in Q3."),
        ("It costs 19 dollars.", "It costs $19."),
        ("It holds 2,000 rows.", "It holds two thousand rows."),
        ("About 14 hours passed.", "15 hours passed."),
        ("Between 5 and 10 users came.", "7 users came."),
        ("It takes half an hour.", "It takes 30 minutes."),
        ("A dozen people came.", "At least 10 people came."),
    ],
)
def test_amounts_that_say_the_same_agree(one, other):
    [ours], [theirs] = quantities(one).amounts, quantities(other).amounts
    assert ours.comparable(theirs)
    assert ours.agrees(theirs)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Churn was 9 %.", "Churn stayed below 4%."),
        ("The survey had 85 respondents.", "The survey had 850 respondents."),
        ("It lasts two hours.", "It lasts 30 minutes."),
        ("It costs $29.", "It costs $19."),
        ("Under 5 users came.", "5 users came."),
        ("More than 10 users came.", "Up to 10 users came."),
    ],
)
def test_amounts_that_exclude_each_other_differ(one, other):
    [ours], [theirs] = quantities(one).amounts, quantities(other).amounts
    assert ours.comparable(theirs)
    assert not ours.agrees(theirs)


def test_amounts_of_different_things_are_not_compared():
    [weight], [time_] = quantities("It weighs 300 grams.").amounts, quantities("It lasts 14 hours.").amounts
    assert not weight.comparable(time_)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It ends on 30 June 2025.", {"day": 30, "month": 6, "year": 2025}),
        ("It ends on June 30, 2025.", {"day": 30, "month": 6, "year": 2025}),
        ("It ends on 2025-06-30.", {"day": 30, "month": 6, "year": 2025}),
        ("It ends on the third of May.", {"day": 3, "month": 5}),
        ("It was founded in 2009.", {"year": 2009}),
        ("It began at 14:05 UTC.", {"minute": 845}),
        ("It began at 2:05 pm.", {"minute": 845}),
        ("The sync is on Mondays.", {"weekday": 0}),
        ("Sales fell in Q3 2024.", {"quarter": 3, "year": 2024}),
    ],
)
def test_dates_are_read_however_they_are_written(text, parts):
    [found] = quantities(text).times
    assert dict(found.parts) == parts


@pytest.mark.parametrize(
    "text", ["He may leave.", "They march on.", "Version 1.2.3 is out.", "gpt-4o-mini is cheap.", "24/7"]
)
def test_what_only_looks_like_a_date_or_an_amount_is_none(text):
    found = quantities(text)
    assert (found.amounts, found.times) == ((), ())


@pytest.mark.parametrize(
    ("text", "serial"),
    [
        ("The floor 3 room is free.", "3"),
        ("Postgres 16 is out.", "16"),
        ("The v2 API began.", "2"),
        ("See protocol 7.", "7"),
    ],
)
def test_a_number_that_tells_one_thing_from_another_counts_nothing(text, serial):
    found = quantities(text)
    assert [s.number for s in found.serials] == [serial]
    assert found.amounts == ()


# --- the rules -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fact", "claim", "reason"),
    [
        ("EU churn was 9 % last quarter.", "EU churn was 4 % last quarter.", "numbers differ: 9 % against 4 %"),
        ("The outage began at 14:05.", "The outage began at 09:30.", "dates differ: 14:05 against 09:30"),
        (
            "Retries are disabled by default.",
            "Retries are enabled by default.",
            'opposites: "disabled" against "enabled"',
        ),
        ("The patch is unsafe to apply.", "The patch is safe to apply.", 'opposites: "unsafe" against "safe"'),
        ("Sales in Brazil fell.", "Sales in Brazil grew.", 'opposites: "fell" against "grew"'),
        ("The device was not approved.", "The device was approved.", 'only the fact is negated: "not"'),
        ("The dataset holds personal data.", "The dataset holds no personal data.", 'only the claim is negated: "no"'),
        ("We moved the CI from Jenkins to Actions.", "The CI runs on Jenkins.", '"Jenkins" as what was before'),
        (
            "The new centre is in Berlin.",
            "The new centre is in Dublin.",
            'in the same place: "Berlin" against "Dublin"',
        ),
    ],
)
def test_a_conflict_is_seen_and_named(fact, claim, reason):
    found = compare(fact, claim)
    assert found.score >= ASSISTS
    assert reason in found.reasons[0]


@pytest.mark.parametrize(
    ("fact", "claim"),
    [
        ("The battery weighs 300 grams.", "The battery lasts 14 hours."),
        ("Sessions end after one hour.", "Sessions end after 60 minutes."),
        ("The drug is not unsafe.", "The drug is safe."),
        ("The API rejects requests that lack a key.", "The API does not accept requests without a key."),
        ("The bridge was built in 1932.", "The bridge is closed to traffic."),
        ("", "The bridge is closed to traffic."),
    ],
)
def test_no_conflict_is_seen_where_none_is(fact, claim):
    assert compare(fact, claim).score < ASSISTS


@pytest.mark.parametrize(
    ("fact", "claim"),
    [
        ("The CEO of Contoso is Ana Ruiz.", "The CEO of Northwind is Peter Long."),
        ("Laura Bush is married to George W. Bush.", "Victoria Beckham is married to David Beckham."),
        ("The red line opens at 7:00.", "The blue line opens at 6:00."),
        ("The projector on floor 2 is broken.", "The floor 3 meeting room has a projector."),
        ("Study 12 found an effect.", "Study 21 found no effect."),
        ("Revenue in 2022 was $4 million.", "Revenue in 2023 was $6 million."),
    ],
)
def test_statements_about_different_things_are_told_apart(fact, claim):
    assert compare(fact, claim).apart.startswith("they are about ")


@pytest.mark.parametrize(
    ("fact", "claim"),
    [
        ("The CEO of Northwind is Ana Ruiz.", "The CEO of Northwind is Peter Long."),
        ("Ana Ruiz is the CEO of Northwind.", "Peter Long is the CEO of Northwind."),
        ("The CEO of Northwind is Ana Ruiz.", "Peter Long is the CEO of Northwind."),
        ("Dublin was chosen for the data centre.", "Berlin was chosen for the data centre."),
        ("The US office is closed.", "The United States office is open."),
        ("The office is on floor 2.", "The office is on floor 3."),
        ("The company was founded in 2012.", "The company was founded in 2009."),
    ],
)
def test_two_values_of_one_thing_are_not_told_apart(fact, claim):
    assert compare(fact, claim).apart == ""


@pytest.mark.parametrize(
    ("fact", "claim", "aligned"),
    [
        ("It ends after one hour.", "It lasts 60 minutes.", "It ends after 60 minutes."),
        ("It ends on 2026-12-31.", "It runs until 31 December 2026.", "It ends on 31 December 2026."),
        ("Churn was 3.1% in Q3.", "Churn was below 4 %.", "Churn was below 4 % in Q3."),
        ("Churn was below 3 % in Q3.", "Churn was below 4 %.", "Churn was below 4 % in Q3."),
        ("Churn was 9% in Q3.", "Churn was below 4 %.", "Churn was 9% in Q3."),
        ("It ends in May.", "It ends on 3 May 2025.", "It ends in May."),
    ],
)
def test_numbers_are_aligned_only_where_the_fact_says_as_much(fact, claim, aligned):
    assert align(fact, claim) == aligned


@pytest.mark.parametrize(
    ("fact", "cue"),
    [
        ("Elena no longer works here.", "no longer"),
        ("The launch was moved to June.", "was moved"),
        ("Priya took over as head.", "took over"),
        ("The launch is on 3 May.", ""),
        ("The moved boxes are heavy.", ""),
    ],
)
def test_a_change_is_known_by_its_words(fact, cue):
    assert change(fact) == cue


# --- the offline judge -----------------------------------------------------------------------------------------


def test_the_version_names_the_model_by_its_sum(judge):
    assert judge.version.startswith(models.sums()["nli_ce_w8.onnx"][:8] + "+")


def test_a_conflict_contradicts_and_says_why(judge):
    answer = opinion(judge, "Churn in the EU segment was 9 % last quarter.", "EU churn stayed below 4 % last quarter.")
    assert answer.relation == "contradicts"
    assert answer.confidence >= 0.6
    assert "numbers differ: 9 % against below 4 %" in answer.rationale
    assert "p = 0." in answer.rationale


def test_a_conflict_that_speaks_of_a_change_supersedes(judge):
    answer = opinion(judge, "The launch was moved from 3 May to 17 June.", "The launch date is 3 May.")
    assert answer.relation == "supersedes"
    assert acts(answer)
    assert 'the fact speaks of a change ("was moved")' in answer.rationale


def test_the_same_thing_in_other_words_supports(judge):
    answer = opinion(judge, "The team has fourteen engineers.", "The team has 14 engineers.")
    assert answer.relation == "supports"


def test_another_thing_is_unrelated(judge):
    assert opinion(judge, "The battery weighs 300 grams.", "The battery lasts 14 hours.").relation == "unrelated"


@pytest.mark.parametrize(
    ("fact", "claim"),
    [
        ("The survey had 85 respondents.", "The survey collected answers from 850 respondents."),
        ("The meeting takes two hours.", "The meeting takes 30 minutes."),
    ],
)
def test_the_rules_read_the_numbers_that_the_model_is_blind_to(judge, fact, claim):
    assert acts(opinion(judge, fact, claim))


@pytest.mark.parametrize(
    ("fact", "claim", "reason"),
    [
        ("Postgres 15 is not supported.", "Postgres 16 is supported.", "they are about Postgres 15 and Postgres 16"),
        ("Sessions time out after one hour.", "Sessions expire after 60 minutes.", "the numbers agree: one hour and"),
    ],
)
def test_the_rules_overrule_a_model_that_misreads_subjects_and_numbers(judge, fact, claim, reason):
    answer = opinion(judge, fact, claim)
    assert not acts(answer)
    assert reason in answer.rationale


def test_the_strongest_sentence_of_a_long_fact_decides(judge):
    padding = "The meeting was held in the main room. Several people joined by phone. Lunch was served at noon."
    fact = f"{padding} Retries are disabled by default in the client. {padding}"
    answer = opinion(judge, fact, "Retries are enabled by default in the client.")
    assert answer.relation == "contradicts"
    assert 'in "Retries are disabled by default in the client."' in answer.rationale


def test_a_sentence_that_opens_with_a_pronoun_is_read_with_the_one_before(judge):
    fact = "The newsletter has a new day. It is now sent on Thursdays."
    assert not acts(opinion(judge, fact, "The board meets on Mondays."))


def test_confidence_is_the_models_odds_raised_by_half_and_meets_the_contract_at_one_half(judge):
    from falsify.judges.lexical import Comparison
    from falsify.judges.offline import _Reading

    none = Comparison(0.0, (), counted=False, change="", apart="", agreed="")
    at = [_Reading("", p, 0.0, none).confidence for p in (0.2, 0.5, 0.9, 1.0)]
    assert at == pytest.approx([0.2727, 0.6, 0.9310, 1.0], abs=1e-4)
    assert _Reading("", 0.5, 0.0, none).confidence >= 0.6
    assisted = Comparison(0.9, ("numbers differ",), counted=True, change="", apart="", agreed="")
    assert _Reading("", 0.2, 0.0, assisted).confidence == 0.6
    assert not _Reading("", 0.19, 0.0, assisted).acts


@pytest.mark.parametrize(
    "text",
    ["was forged " * 2000, "the report and " * 1300, "9" * 20_000, "a " * 10_000, "It 9 % " * 2800, "Why? " * 4000],
)
def test_no_text_keeps_the_judge_busy_for_long(judge, text):
    started = time.monotonic()
    judge.judge(Statement(text[:20_000]), [Statement(text[:20_000])])
    assert time.monotonic() - started < 5


def test_a_judge_without_its_model_abstains_with_a_hint(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "_FOLDER", tmp_path)
    answers = OfflineJudge().judge(Statement("It rained."), [Statement("It was dry."), Statement("It was warm.")])
    assert [type(answer) for answer in answers] == [Abstention, Abstention]
    assert "is missing" in answers[0].reason
    assert "reinstall" in answers[0].reason


# --- statements about a source ---------------------------------------------------------------------------------

AUDIT = "Forensic audit: the March QA report was back-dated."
QA = Statement("The QA report of March 2021 documents the defect", source_title="QA report of March 2021")
EMAIL = Statement("A supplier email of January 2021 warns of the defect", source_title="Supplier email of January 2021")


def test_the_demonstration_of_the_contract_works_with_the_real_judge(judge):
    qa, email = judge.judge(Statement(AUDIT), [QA, EMAIL])
    assert qa == Opinion("contradicts", 0.9, "the fact says the source 'QA report of March 2021' was back-dated")
    assert not acts(email)


def test_a_claim_falls_with_its_source_whatever_it_says(judge):
    assert acts(
        opinion(judge, AUDIT, Statement("The plant knew of the defect.", source_title="QA report of March 2021"))
    )


def test_a_claim_falls_with_the_document_that_it_names_itself(judge):
    answer = opinion(judge, AUDIT, "According to the March 2021 QA report, the defect was known.")
    assert acts(answer)
    assert "the document 'the March 2021 QA report' was back-dated" in answer.rationale


def test_a_claim_that_another_source_stands_by_does_not_fall(judge):
    both = Statement("The plant knew of the defect.", source_title="QA report of March 2021 / Plant manager's diary")
    assert not acts(opinion(judge, AUDIT, both))


def test_a_claim_that_says_the_same_of_the_source_does_not_fall(judge):
    assert not acts(opinion(judge, AUDIT, "The March QA report was back-dated by the plant manager."))


@pytest.mark.parametrize(
    "fact",
    [
        "Forensic audit: the March QA report was not back-dated.",
        "The audit also mentions the March QA report.",
        "The defence alleges that the March QA report was back-dated.",
    ],
)
def test_mentioning_a_source_is_not_impugning_it(judge, fact):
    assert not acts(opinion(judge, fact, Statement("The plant knew of the defect.", source_title=QA.source_title)))


# --- the pinned judge ------------------------------------------------------------------------------------------


def test_the_pinned_claim_is_contradicted_and_no_other():
    pinned, other = PinnedJudge(QA.text).judge(Statement("It rained."), [QA, EMAIL])
    assert (pinned.relation, pinned.confidence) == ("contradicts", 0.9)
    assert "pinned" in pinned.rationale
    assert other.relation == "unrelated"


def test_a_pin_holds_for_any_spelling_that_is_the_same_belief():
    [answer] = PinnedJudge("The  QA report says so.").judge(Statement("x"), [Statement("the QA Report says so")])
    assert answer.relation == "contradicts"


def test_the_version_of_a_pinned_judge_tells_what_is_pinned():
    assert PinnedJudge("one").version != PinnedJudge("another").version
    assert PinnedJudge("one", "another").version == PinnedJudge("another", "one").version


# --- how often they are right ----------------------------------------------------------------------------------


def test_conflicts_are_found_and_the_unrelated_left_alone_on_the_public_pairs(judge, test_data):
    """Measured: precision .893, recall .833; 2 of 40 unrelated pairs act. Floors leave room for other processors."""
    with (test_data / "contradiction_pairs.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    answers = [opinion(judge, fact, claim) for _, fact, claim in rows]
    acting = np.array([acts(answer) for answer in answers])
    gold = np.array([relation in {"contradicts", "supersedes"} for relation, *_ in rows])
    unrelated = np.array([relation == "unrelated" for relation, *_ in rows])
    typed = [
        answer.relation == row[0]
        for answer, row, act in zip(answers, rows, acting, strict=True)
        if act and row[0] in {"contradicts", "supersedes"}
    ]
    assert (acting & gold).sum() / acting.sum() >= 0.85
    assert (acting & gold).sum() / gold.sum() >= 0.80
    assert (acting & unrelated).sum() <= 3
    assert sum(typed) / len(typed) >= 0.95


# The sentence frames of the FactConsolidation set: what stands before the value is the slot.
FRAMES = re.compile(
    r"(.+? (?:plays the position of|is located in the (?:continent|city) of|is married to|is associated with the sport "
    r"of|(?:died|was born|worked|was founded) in the city of|was (?:founded|performed|created|developed) by|is famous "
    r"for|is a citizen of|speaks the language of|was (?:created in the country|written in the language) of|is employed "
    r"by|is affiliated with the religion of|works in the field of|is|was)) .+"
)


@pytest.mark.slow
def test_a_new_value_of_a_slot_is_a_conflict_and_another_slot_is_none_on_the_public_facts(judge, test_data):
    """Measured on the pairs that pass the first gate: precision .86, recall .99; the model alone has .36 and .99."""
    with gzip.open(test_data / "fact_consolidation_6k.json.gz", "rt", encoding="utf-8") as file:
        context = json.load(file)[0]["context"]
    facts = [line.split(". ", 1)[1] for line in context.splitlines() if re.match(r"\d+\. ", line)]
    slots = [FRAMES.fullmatch(fact)[1] if FRAMES.fullmatch(fact) else fact for fact in facts]
    vectors = BundledEmbedder().embed(facts)
    distances = 1 - vectors @ vectors.T
    true, acting, found = 0, 0, 0
    for new, row in enumerate(distances):
        near = [old for old in np.argsort(row) if old < new and row[old] < 0.55][:10]
        answers = judge.judge(Statement(facts[new]), [Statement(facts[old]) for old in near])
        for old, answer in zip(near, answers, strict=True):
            conflict = slots[old] == slots[new]
            true += conflict
            acting += acts(answer)
            found += conflict and acts(answer)
    assert true > 100
    assert found / acting >= 0.80
    assert found / true >= 0.95
