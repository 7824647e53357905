"""The end of a decision that changes beliefs besides something else."""

from typing import cast

from falsify.belief.cascade import Draft
from falsify.belief.events import RevisionOpened
from falsify.events import Event


def settled(draft: Draft) -> list[Event]:
    """Return the draft with what follows; without its epoch where no truth-state changed."""
    revised = draft.settle() > 0
    return [e for e in cast("list[Event]", draft.events) if revised or not isinstance(e, RevisionOpened)]
