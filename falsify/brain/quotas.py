"""How many questions may be asked: of each person in a day, and of the language model in a month and in a day.

Counted are the answers that the log has, so that nobody keeps a counter that could be wrong. A question counts for whom
an agent of the org map asked it; every other counts for who asked: nobody uses up the questions of somebody whom they
are not there to serve.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from falsify.brain.library import Library
from falsify.brain.org import Org
from falsify.brain.traces import subject_of

Excess = Literal["quota_exceeded", "budget_reached", "limit_reached"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """The most questions of a person in a day, and of the language model in a month and in a day; 0 is no limit."""

    person_daily: int = 0
    monthly: int = 0
    daily: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """The positions of the log after which this day and this month (UTC) begin."""

    day: int
    month: int


TOLD: Final[dict[Excess, str]] = {
    "quota_exceeded": "The questions of today are used up; ask again tomorrow.",
    "budget_reached": "The month's budget for consultations is used up; it begins anew with the next month.",
    "limit_reached": "The deployment's limit of consultations for today is reached; ask again tomorrow.",
}
"""What is said of each excess, in the order in which they are looked for."""


def excess(
    library: Library, quotas: Quotas, since: Since, *, caller: str, on_behalf_of: str, consulting: bool
) -> Excess | None:
    """Return what keeps one more question from being asked, or None.

    The budget and the limit are those of the language model: they hold where one is `consulting`, and there each answer
    counts, since each may have asked it.
    """
    person = charged(library.org, caller, on_behalf_of)
    today = _answers(library, since.day)
    if quotas.person_daily and _of(library, today, person) >= quotas.person_daily:
        return "quota_exceeded"
    if consulting and quotas.monthly and len(_answers(library, since.month)) >= quotas.monthly:
        return "budget_reached"
    if consulting and quotas.daily and len(today) >= quotas.daily:
        return "limit_reached"
    return None


def charged(org: Org, caller: str, on_behalf_of: str) -> str:
    """Return for whom a question counts: a slug or, of an agent, its identity."""
    serves = any(caller == f"agent:{agent.name}" for agent in org.agents)
    return (asked_for(org, on_behalf_of) if serves else "") or subject_of(org, caller)


def sealed_for(org: Org, caller: str, on_behalf_of: str) -> str:
    """Return for whom the words of a question are sealed: whoever it was asked for, or else who asked."""
    return asked_for(org, on_behalf_of) or subject_of(org, caller)


def asked_for(org: Org, on_behalf_of: str) -> str:
    """Return the slug of whom a question was asked for, or nothing for nobody whom the org map has."""
    slug = on_behalf_of.removeprefix("person:")
    known = any(person.slug == slug for person in org.people)
    return slug if known else ""


def _of(library: Library, answers: list[str], person: str) -> int:
    given = (library.answers[each] for each in answers)
    return sum(charged(library.org, each.asked_by, each.on_behalf_of) == person for each in given)


def _answers(library: Library, after: int) -> list[str]:
    """Return the answers that were given after a position."""
    return list(_newest(library, after))


def _newest(library: Library, after: int) -> Iterator[str]:
    for answer_id in reversed(library.answered):
        if library.answered[answer_id] <= after:
            return
        yield answer_id
