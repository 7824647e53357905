"""What the reading tools share: how they answer, make strangers' text harmless, and go on with a listing."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import MISSING

from falsify.config_keys import Value
from falsify.workbench.project import Project
from projections.runs import MOST_METRICS
from surfaces.envelope import Envelope, NextAction
from surfaces.tools.cursor import not_given_out, unseal
from surfaces.tools.fence import Fence
from surfaces.workbench import Sight

T = TypeVar("T")


def answer(
    sight: Sight,
    result: Mapping[str, Any],
    fence: Fence,
    *,
    warnings: tuple[str, ...] = (),
    next_actions: tuple[NextAction, ...] = (),
) -> Envelope:
    """Return the envelope of what was read; its last warning says what the fence marks, if it marks anything."""
    marked = (fence.warning,) if fence.warning else ()
    return Envelope(
        status="ok",
        project_revision=sight.project.revision,
        result=result,
        warnings=(*warnings, *marked),
        next_actions=next_actions,
    )


def sent(value: Any, default: T) -> T:
    """Return what was sent, or the default."""
    return default if value is MISSING else value


class Mark(NamedTuple):
    """Where a listing was left off: at which revision it began, and the key of its last item, () before the first."""

    revision: int
    key: tuple[int, ...]


def left_off(cursor: Any, bound: Mapping[str, Any], project: Project, *, length: int) -> Mark:
    """Return where a listing goes on; its keys are of `length` whole numbers.

    Raises InvalidInputError for a cursor that no page of this listing can have given out.
    """
    if cursor is MISSING:
        return Mark(project.revision, ())
    told = unseal(cursor, bound=bound)
    key = tuple(each for each in told.key if isinstance(each, int))
    if told.revision > project.revision or not len(key) == len(told.key) == length:
        raise not_given_out()
    return Mark(told.revision, key)


def plain(fence: Fence, row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a row in which the named texts, and texts in the named lists, are harmless lines."""
    return {**row, **{name: _line(fence, row[name]) for name in names if row[name]}}


def _line(fence: Fence, told: Any) -> Any:
    return [fence.inline(each) for each in told] if isinstance(told, list) else fence.inline(told)


def setting(fence: Fence, value: Value | None) -> Value | None:
    """Return a value of a configuration; one that is text may be anybody's."""
    return fence.inline(value, limit=1000) if isinstance(value, str) else value


def named_metrics(fence: Fence, metrics: Mapping[str, float]) -> dict[str, float]:
    """Return metrics by their names, which a run chose itself."""
    return {fence.inline(name, limit=120): value for name, value in list(metrics.items())[:MOST_METRICS]}
