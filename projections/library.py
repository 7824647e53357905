"""The brain at the end of a prefix of the log."""

from typing import cast, get_args

from falsify.brain.events import BrainEvent
from falsify.brain.library import Library, evolve
from falsify.events import Recorded
from projections.projection import Projection

BRAIN_EVENTS: frozenset[type] = frozenset(get_args(BrainEvent))


def _evolve(library: Library, recorded: Recorded) -> Library:
    event = recorded.event
    if type(event) in BRAIN_EVENTS:
        return evolve(library, cast("BrainEvent", event), recorded.position, recorded.revision)
    return library


LIBRARY: Projection[Library] = Projection("library", Library, _evolve)
