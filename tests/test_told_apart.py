"""Two things said of one subject, and one thing said of two, are no conflict; what only one can be is."""

import pytest

from falsify.judges.lexical import compare
from falsify.judges.offline import OfflineJudge
from falsify.judges.panel import acts
from falsify.ports import Statement


@pytest.fixture(scope="module")
def judge():
    return OfflineJudge()


def conflict(judge, fact, claim):
    [answer] = judge.judge(Statement(fact), [Statement(claim)])
    return acts(answer)


@pytest.mark.parametrize(
    ("fact", "claim"),
    [
        # one predicate, two names, wherever in the subject they stand
        ("Umar speaks Korean fluently.", "Otto speaks Korean fluently."),
        ("Zoe's neighbour grew up in a fishing village.", "Vera's neighbour grew up in a fishing village."),
        ("The Leeds clinic was founded by nuns.", "The Perth clinic was founded by nuns."),
        ("The supplier Chidi & Sons bought a second warehouse.", "The supplier Umar & Sons bought a second warehouse."),
        ("The phone designed by Kaya weighs 175 grams.", "The phone designed by Vera weighs 160 grams."),
        ("The museum of Lima owns a Flemish painting.", "The museum of Oslo owns a Flemish painting."),
        # one subject, two predicates
        ("The weather station at Doha measures snow.", "The weather station at Doha has a solar panel."),
        ("The farm of Lars grows hops.", "The farm of Lars sells cheese at the market."),
        ("The backup job of Anton was moved to another host.", "The backup job of Anton writes to tape."),
        # opposites, of different things
        ("The bakery in Cork sells spelt bread.", "The bakery in Cork buys its flour from a local mill."),
        # two subjects of one town
        ("The Izmir library opens at eight on weekdays.", "The Izmir branch of the bank opens on Saturday mornings."),
    ],
)
def test_what_is_about_something_else_is_no_conflict(judge, fact, claim):
    assert not conflict(judge, fact, claim)
    assert not conflict(judge, claim, fact)


@pytest.mark.parametrize(
    ("fact", "claim"),
    [
        ("Bruno leads the billing team.", "Dagny leads the billing team."),
        ("We chose Kafka for the queue.", "We chose RabbitMQ for the queue."),
        ("Prices rose in March.", "Prices fell in March."),
        ("The vendor only offers support on weekdays.", "The vendor offers 24/7 support."),
        ("The repository was archived and is now read-only.", "The repository is actively maintained."),
        ("The phone designed by Kaya weighs 175 grams.", "The phone designed by Kaya weighs 160 grams."),
    ],
)
def test_what_cannot_both_be_is_still_a_conflict(judge, fact, claim):
    assert conflict(judge, fact, claim)


def test_sentences_with_nothing_but_a_subject_in_common_are_loose():
    station = "The weather station at Doha measures snow."
    assert compare(station, "The weather station at Doha has a solar panel.").loose
    assert not compare(station, "The weather station at Doha does not measure snow.").loose
    assert not compare(station, "The weather station at Doha measures rain.").loose
