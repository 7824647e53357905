"""Who may come in from outside, at the end of a prefix of the log."""

from typing import cast, get_args

from falsify.access.events import AccessEvent
from falsify.access.tokens import Access, evolve
from falsify.events import Recorded
from projections.projection import Projection

ACCESS_EVENTS: frozenset[type] = frozenset(get_args(AccessEvent))


def _evolve(access: Access, recorded: Recorded) -> Access:
    event = recorded.event
    return evolve(access, cast("AccessEvent", event)) if type(event) in ACCESS_EVENTS else access


ACCESS: Projection[Access] = Projection("access", Access, _evolve)
