"""The order in which tickets are worked on: one score, the same on every replay.

The score is a sum in thousandths of a point, all of it integers:

    pinned                                10,000 points
    priority, -9 to 9                        100 points each
    source: human 30, agent 20, system 15, literature 10 points
    age                                    0.1 points a revision since it was created, at most 50
    untried                      40 points / (1 + n), averaged over the mutable keys that the ticket's words name,
                                 where n is how many nodes changed that key; 0 if it names none

Equal scores are in the order of creation.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Final

from falsify.workbench.events import Source
from falsify.workbench.project import Project, Ticket

POINT: Final = 1000
PINNED: Final = 10_000 * POINT
PRIORITY: Final = 100 * POINT
SOURCE: Final[Mapping[Source, int]] = {
    "human": 30 * POINT,
    "agent": 20 * POINT,
    "system": 15 * POINT,
    "literature": 10 * POINT,
}
AGE: Final = 100
OLDEST: Final = 50 * POINT
UNTRIED: Final = 40 * POINT


def rank_score(project: Project, ticket: Ticket, *, revision: int | None = None) -> int:
    """Return the ticket's score in thousandths of a point, as it was at a revision (the present one by default)."""
    return scorer(project, project.revision if revision is None else revision)(ticket)


def scorer(project: Project, revision: int) -> Callable[[Ticket], int]:
    """Return what gives tickets the score they had at a revision."""
    names = tuple(key.name for key in project.contract.keys) if project.contract else ()
    untried = {name: UNTRIED // (1 + bisect_right(project.tries.get(name, ()), revision)) for name in names}

    @cache  # thousands of tickets name the same few keys
    def worth(region: tuple[str, ...]) -> int:
        return sum(untried[name] for name in region) // len(region) if region else 0

    def score(ticket: Ticket) -> int:
        return (
            PINNED * ticket.pins.at(revision)
            + PRIORITY * ticket.priorities.at(revision)
            + SOURCE[ticket.source]
            + min(AGE * (revision - ticket.created_at), OLDEST)
            + worth(named_keys(names, ticket.title, ticket.hypothesis, ticket.instruction))
        )

    return score


@lru_cache(maxsize=65_536)
def named_keys(names: tuple[str, ...], *texts: str) -> tuple[str, ...]:
    """Return the config keys that the texts name, written `learning_rate`, `learning-rate` or `learning rate`."""
    said = f" {_spaced(texts)} "
    return tuple(name for name in names if f" {_spaced([name])} " in said)


def _spaced(texts: Iterable[str]) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", " ".join(texts).lower()))
