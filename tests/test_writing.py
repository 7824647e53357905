"""What was decided is written at its revision, and decided anew where somebody else was faster."""

import pytest

from falsify.belief.events import QuestionAsked
from falsify.errors import ConflictError, StaleRevisionError
from falsify.log import open_log
from surfaces.writing import ATTEMPTS, Asked, Decided, answered_with, append_decided

ASKED = Asked(stream="project:p", actor="owner", tool="ask", key="k")


def question(text):
    return QuestionAsked(question_id=f"Q-{text}", text=text, handle="")


def other(log):
    command = Asked(stream="project:p", actor="owner", tool="other").command()
    log.append("project:p", [question("other")], expected_revision=log.revision("project:p"), command=command)


@pytest.fixture
def log():
    with open_log("memory:") as opened:
        yield opened


def decided(log, *, overtaken):
    """Return a decision that somebody else overtakes so many times."""
    left = [overtaken]

    def decide():
        made = Decided(log.revision("project:p"), [question("mine")], answered_with(b"done"))
        if left[0]:
            left[0] -= 1
            other(log)
        return made

    return decide


def written(log):
    return [record.event.text for record in log.read()]


@pytest.mark.parametrize("times", [0, 1, ATTEMPTS - 1])
def test_who_is_overtaken_decides_anew_and_writes_once(log, times):
    receipt = append_decided(log, ASKED, decided(log, overtaken=times))
    assert (receipt.response, written(log)) == (b"done", ["other"] * times + ["mine"])
    assert log.answered("project:p", ASKED.command()).response == b"done"


def test_who_is_overtaken_every_time_is_told_so_and_writes_nothing(log):
    with pytest.raises(ConflictError, match=f"{ATTEMPTS} times"):
        append_decided(log, ASKED, decided(log, overtaken=ATTEMPTS))
    assert written(log) == ["other"] * ATTEMPTS


def test_who_decided_on_one_revision_alone_is_told_the_present_one(log):
    with pytest.raises(StaleRevisionError) as refused:
        append_decided(log, ASKED, decided(log, overtaken=1), attempts=1)
    assert (refused.value.expected, refused.value.current, written(log)) == (0, 1, ["other"])


def test_a_command_has_an_id_of_its_own_at_each_revision():
    assert len({ASKED.command(revision).id for revision in range(5)}) == 5
    assert ASKED.command(3) == ASKED.command(3)
