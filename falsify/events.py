"""Events: facts in the past tense, frozen, complete, silent; and the registry of their stable names.

The store knows an event by its `kind` and schema `version`, never by a class or a module, so that code can move
and rename freely while history stays as it was written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

E = TypeVar("E", bound="Event")

NodeId = str
"""`<kind letter>-<16 hex digits>`, derived from the question and the normalised text (belief/text.py)."""


class Event:
    """What happened. Subclasses are frozen dataclasses made by `@event`."""

    kind: ClassVar[str]
    version: ClassVar[int]
    opens_epoch: ClassVar[bool]


class Recorded(NamedTuple):
    """An event and where, when and by whom it was written.

    `position` counts the log and `revision` the stream, both from 1. `epoch` counts the revisions of belief in the
    stream. `recorded_at` is microseconds since 1970 in UTC and never goes backwards. `command` is the same for all
    events of one append.
    """

    position: int
    stream: str
    revision: int
    epoch: int
    recorded_at: int
    actor: str
    command: str
    event: Event
    hash: bytes


REGISTRY: dict[str, type[Event]] = {}
"""Every kind of event there is, by its stable name."""

MODULES = {
    "access": "falsify.access.events",
    "belief": "falsify.belief.events",
    "brain": "falsify.brain.events",
    "run": "falsify.workbench.events",
    "workbench": "falsify.workbench.events",
}
"""Where the kinds that begin with a word are defined: a log can be read by whoever knows of only one context."""

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTERS: dict[tuple[str, int], Upcaster] = {}
"""(kind, version) -> the step that turns a body of that version into one of the next."""


def find_kind(kind: str) -> type[Event] | None:
    """Return the event of that kind, or None; imports the module that defines it."""
    if kind not in REGISTRY and (module := MODULES.get(kind.partition(".")[0])):
        import_module(module)
    return REGISTRY.get(kind)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def event(kind: str, *, version: int = 1, opens_epoch: bool = False) -> Callable[[type[E]], type[E]]:
    """Make a frozen, keyword-only dataclass of the class and register it under `kind`."""

    def register(cls: type[E]) -> type[E]:
        if kind in REGISTRY:
            raise ValueError(f"two events are named {kind!r}")
        cls.kind, cls.version, cls.opens_epoch = kind, version, opens_epoch
        # No slots: the codec hands a decoded JSON object over as the instance's __dict__, which is
        # what makes replay cheap (docs/decisions/0003-event-classes.md).
        frozen = dataclass(frozen=True, kw_only=True)(cls)
        REGISTRY[kind] = frozen
        return frozen

    return register
