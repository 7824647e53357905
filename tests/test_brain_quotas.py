"""How many questions may be asked: counted over what the log has, and refused in the documented order."""

import orjson
import pytest

from falsify.brain.events import AnswerGiven
from falsify.brain.library import Library, evolve
from falsify.brain.quotas import TOLD, Quotas, Since, excess
from falsify.clock import SteppingClock
from surfaces.tools.brain_ask import ask_company_context
from tests.mirror_world import HashEmbedder
from tests.search_world import COMPANY, NOON, ORG, OWNER, World
from tests.test_brain_ask import StubConsultant

SAM, FAY, HELPER = "person:sam", "person:fay", "agent:helper"
DAY = 86_400_000_000
QUESTION = "within how many days do customers get their money back"


def library(*answers):
    """Return a library in which these were answered, one at each position: who asked, and for whom."""
    made = Library(org=ORG)
    for position, (asked_by, on_behalf_of) in enumerate(answers, start=1):
        event = AnswerGiven(
            answer_id=f"a{position}", asked_by=asked_by, on_behalf_of=on_behalf_of, question=None, citations=(),
            confidence="low", mode="question",
        )  # fmt: skip
        made = evolve(made, event, position, position)
    return made


def over(made, quotas, *, caller=SAM, on_behalf_of="", day=0, month=0, consulting=True):
    since = Since(day=day, month=month)
    return excess(made, quotas, since, caller=caller, on_behalf_of=on_behalf_of, consulting=consulting)


def test_without_a_limit_nothing_is_too_much():
    assert over(library(*[(SAM, "")] * 50), Quotas()) is None


@pytest.mark.parametrize(("asked", "refused"), [(0, None), (1, None), (2, "quota_exceeded"), (3, "quota_exceeded")])
def test_a_person_may_ask_so_many_questions_a_day(asked, refused):
    assert over(library(*[(SAM, "")] * asked), Quotas(person_daily=2)) == refused


def test_the_questions_of_yesterday_do_not_count_today():
    assert over(library((SAM, ""), (SAM, "")), Quotas(person_daily=1), day=2) is None
    assert over(library((SAM, ""), (SAM, ""), (SAM, "")), Quotas(person_daily=1), day=2) == "quota_exceeded"


@pytest.mark.parametrize(
    ("asked", "now", "counts"),
    [
        ((HELPER, "sam"), (SAM, ""), True),
        ((SAM, ""), (HELPER, "sam"), True),
        ((SAM, ""), (HELPER, "person:sam"), True),
        ((HELPER, "sam"), (HELPER, ""), False),
        ((HELPER, ""), (HELPER, "stranger"), True),
        ((FAY, ""), (SAM, ""), False),
        ((OWNER, ""), ("person:olga", ""), True),
        (("agent:nobody", "sam"), (SAM, ""), False),
        (("agent:nobody", "sam"), ("agent:nobody", "fay"), True),
        ((FAY, "sam"), (SAM, ""), False),
        ((FAY, "sam"), (FAY, ""), True),
    ],
)
def test_a_question_counts_for_whom_an_agent_of_the_map_asked_it_else_for_who_asked(asked, now, counts):
    refused = over(library(asked), Quotas(person_daily=1), caller=now[0], on_behalf_of=now[1])
    assert refused == ("quota_exceeded" if counts else None)


def test_the_budget_and_the_limit_hold_for_everybody_and_only_where_a_model_is_consulted():
    answers = library((FAY, ""), (HELPER, "sam"))
    assert over(answers, Quotas(monthly=2)) == "budget_reached"
    assert over(answers, Quotas(monthly=2), month=1) is None
    assert over(answers, Quotas(daily=2)) == "limit_reached"
    assert over(answers, Quotas(daily=2), day=1) is None
    assert over(answers, Quotas(monthly=1, daily=1), consulting=False) is None


def test_the_first_excess_of_the_order_is_told():
    answers = library((SAM, ""))
    assert over(answers, Quotas(person_daily=1, monthly=1, daily=1)) == "quota_exceeded"
    assert over(answers, Quotas(monthly=1, daily=1)) == "budget_reached"
    assert over(answers, Quotas(daily=1)) == "limit_reached"
    assert list(TOLD) == ["quota_exceeded", "budget_reached", "limit_reached"]


# --- over a workspace -------------------------------------------------------------------------------------------


def opened(root, settings):
    (root / "falsify.toml").write_text(settings)
    made = World(root, embedder=HashEmbedder())
    made.write(COMPANY)
    return made


def ask(world, caller=SAM, **options):
    return orjson.loads(ask_company_context(world.brain, caller, question=QUESTION, **options))


def at(world, microseconds):
    """Let it be that time in the workspace and its log."""
    world.workspace.clock = world.workspace.log._clock = SteppingClock(microseconds, 0)


def test_a_quota_begins_anew_at_midnight_in_utc(tmp_path):
    world = opened(tmp_path, "questions_per_day = 1\n")
    assert "answer" in ask(world)
    assert ask(world) == {"error": "quota_exceeded", "message": TOLD["quota_exceeded"]}
    assert "answer" in ask(world, FAY)
    at(world, NOON + DAY // 2 - 1)
    assert ask(world)["error"] == "quota_exceeded"
    at(world, NOON + DAY // 2)
    assert "answer" in ask(world)


def test_a_budget_begins_anew_with_the_month(tmp_path):
    world = opened(tmp_path, "consultations_per_month = 1\n")
    consultant = StubConsultant("Thirty days [1].")
    assert "answer" in ask(world, consultant=consultant)
    assert ask(world, FAY, consultant=consultant) == {"error": "budget_reached", "message": TOLD["budget_reached"]}
    at(world, NOON + 29 * DAY)
    assert ask(world, FAY, consultant=consultant)["error"] == "budget_reached"
    at(world, NOON + 30 * DAY)
    assert "answer" in ask(world, FAY, consultant=consultant)


def test_a_refused_question_is_neither_asked_nor_counted(tmp_path):
    world = opened(tmp_path, "consultations_per_day = 1\n")
    consultant = StubConsultant("Thirty days [1].")
    ask(world, consultant=consultant)
    for _ in range(3):
        assert ask(world, consultant=consultant)["error"] == "limit_reached"
    assert (len(consultant.asked), len(world.brain.library.answers)) == (1, 1)


def test_without_a_model_the_budget_is_nobodys(tmp_path):
    world = opened(tmp_path, "consultations_per_month = 1\nconsultations_per_day = 1\n")
    assert ["answer" in ask(world) for _ in range(3)] == [True, True, True]


def test_asking_about_the_past_counts_today(tmp_path):
    world = opened(tmp_path, "questions_per_day = 1\n")
    ask(world, as_of="2026-05-01")
    assert ask(world)["error"] == "quota_exceeded"
