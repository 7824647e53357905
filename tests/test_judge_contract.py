"""What every judge keeps to, whatever it thinks: one answer for each claim, in order, in range, the same every time."""

from collections.abc import Sequence

import pytest

from falsify.judges.offline import OfflineJudge
from falsify.judges.panel import PanelJudge
from falsify.judges.pinned import PinnedJudge
from falsify.ports import Abstention, Judge, Opinion, Statement

FACT = Statement("The load test peaked at 1,200 requests per second.", asserted_at="2024-05-01")
CLAIMS = [
    Statement("The service handles 5,000 requests per second.", source_title="Vendor sheet"),
    Statement("The office is in Lyon."),
    Statement("The load test peaked at 1,200 requests per second."),
    Statement(""),
    Statement("¿Qué? 日本語 \N{PILE OF POO} " * 50),
]


class StubJudge:
    """The smallest judge there is: every claim with the fact's words supports, and of an empty one it says nothing."""

    name = "stub"
    version = "1"

    def judge(self, fact: Statement, claims: Sequence[Statement]) -> list[Opinion | Abstention]:
        return [self._opinion(fact, claim) for claim in claims]

    def _opinion(self, fact: Statement, claim: Statement) -> Opinion | Abstention:
        if not claim.text:
            return Abstention("there is nothing to judge")
        return Opinion("supports" if claim.text == fact.text else "unrelated", 1.0, "word by word")


@pytest.fixture(scope="module", params=["offline", "pinned", "stub", "panel"])
def judge(request) -> Judge:
    pinned = PinnedJudge(CLAIMS[0].text)
    made = {
        "offline": OfflineJudge,
        "pinned": lambda: pinned,
        "stub": StubJudge,
        "panel": lambda: PanelJudge(OfflineJudge(), pinned, StubJudge()),
    }
    return made[request.param]()


def test_a_judge_has_a_name_and_a_version(judge):
    assert judge.name
    assert judge.version
    assert judge.version == judge.version.strip()


def test_no_claims_get_no_answers(judge):
    assert judge.judge(FACT, []) == []


def test_every_claim_gets_one_answer_that_is_well_formed(judge):
    answers = judge.judge(FACT, CLAIMS)
    assert len(answers) == len(CLAIMS)
    for answer in answers:
        if isinstance(answer, Opinion):
            assert answer.relation in {"contradicts", "supersedes", "supports", "unrelated"}
            assert 0 <= answer.confidence <= 1
            assert answer.rationale
        else:
            assert isinstance(answer, Abstention)
            assert answer.reason


def test_answers_come_in_the_order_of_the_claims_and_depend_on_no_other_claim(judge):
    together = judge.judge(FACT, CLAIMS)
    assert judge.judge(FACT, CLAIMS[::-1]) == together[::-1]
    assert [judge.judge(FACT, [claim])[0] for claim in CLAIMS] == together


def test_a_judge_is_asked_twice_and_answers_the_same(judge):
    assert judge.judge(FACT, CLAIMS) == judge.judge(FACT, CLAIMS)


def test_a_judge_leaves_what_it_is_given_alone(judge):
    claims = list(CLAIMS)
    judge.judge(FACT, claims)
    assert claims == CLAIMS
