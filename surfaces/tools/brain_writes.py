"""The tools that write to the brain: each puts the parameters of a call in the form that the rules take."""

from collections.abc import Sequence

import orjson

from falsify.brain.guard import Kind
from falsify.brain.traces import Entry
from falsify.errors import RefusedError
from surfaces import brain_writes
from surfaces.brain import Brain


def propose_lesson(
    brain: Brain, caller: str, *, title: str, lesson: str, kind: Kind, department: str | None, refs: Sequence[str]
) -> bytes:
    """Propose a lesson or a rule; a person lands it."""
    return brain_writes.propose_lesson(
        brain, caller, title=title, lesson=lesson, kind=kind, department=department, refs=refs
    )


def propose_page(
    brain: Brain, caller: str, *, title: str, content: str, department: str | None, refs: Sequence[str] = ()
) -> bytes:
    """Propose a new page; a person lands it."""
    return brain_writes.propose_page(brain, caller, title=title, content=content, department=department, refs=refs)


def log_trace(
    brain: Brain,
    caller: str,
    *,
    task: str,
    status: str,
    summary: str,
    detail: str = "",
    duration_seconds: float | None = None,
    refs: Sequence[str] = (),
    on_behalf_of: str = "",
) -> str:
    """Record what an agent did; return the path of the trace, or `refused: <rule>`."""
    entry = Entry(
        task=task,
        status=status,
        summary=summary,
        detail=detail,
        duration_seconds=duration_seconds,
        refs=tuple(refs),
        on_behalf_of=on_behalf_of,
    )
    try:
        return brain_writes.log_trace(brain, caller, entry)
    except RefusedError as error:
        return f"refused: {error.reason}"


def rate_answer(brain: Brain, caller: str, *, answer_id: str, rating: str, comment: str = "") -> bytes:
    """Record whether an answer was any good; of a refusal, the error object."""
    said = comment.encode(errors="replace").decode()  # half a surrogate pair is nothing that can be kept
    try:
        return brain_writes.rate_answer(brain, caller, answer_id=answer_id, rating=rating, comment=said)
    except RefusedError as error:
        return orjson.dumps({"error": error.reason, "message": error.message})
