"""A projection as a value: a name, an empty state, and how one record changes it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from falsify.events import Recorded

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Projection(Generic[S]):
    """A fold of the log. `evolve` may change the state it is given in place, and returns it.

    Law: fold(a + b) == fold(b, fold(a)).
    """

    name: str
    empty: Callable[[], S]
    evolve: Callable[[S, Recorded], S]

    def fold(self, records: Iterable[Recorded], state: S | None = None) -> S:
        """Return the state after the records, from `state` on (which is changed) or from the empty one."""
        evolve = self.evolve
        folded = self.empty() if state is None else state
        for recorded in records:
            folded = evolve(folded, recorded)
        return folded
