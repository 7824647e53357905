"""What a run, a decision or a page means for beliefs: the only package that knows two contexts."""

from falsify.join.pages import BRAIN, PAGES, Fate, follow_page
from falsify.join.research import (
    CITED,
    PRIOR,
    Finish,
    commit_decision,
    create_project,
    create_tickets,
    decision_state,
    incumbent_state,
    judge_numbers,
    measurement_state,
    measurements,
    rests_on,
    succeed_run,
    unsound,
)

__all__ = [
    "BRAIN",
    "CITED",
    "PAGES",
    "PRIOR",
    "Fate",
    "Finish",
    "commit_decision",
    "create_project",
    "create_tickets",
    "decision_state",
    "follow_page",
    "incumbent_state",
    "judge_numbers",
    "measurement_state",
    "measurements",
    "rests_on",
    "succeed_run",
    "unsound",
]
