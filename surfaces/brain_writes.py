"""What is written to the brain beside pages: proposals and who lands them, traces, ratings, and erasure.

The rules are in falsify/brain; here they are given what they look at, and the keys.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from falsify.brain import erasure, ratings, traces
from falsify.brain.events import AnswerRated, TraceLogged
from falsify.brain.guard import Ground
from falsify.brain.library import Library
from falsify.brain.page import Page
from falsify.brain.privacy import Classifier
from falsify.events import Event
from falsify.sealing import Keyring
from surfaces.brain import Brain
from surfaces.brain_proposals import Proposed, ground, propose_lesson, propose_page, proposed

__all__ = [
    "Proposed", "erase_person", "foresee_erasure", "ground", "keyring", "log_trace", "propose_lesson", "propose_page",
    "proposed", "rate_answer", "rating_rows", "read_trace", "trace_rows",
]  # fmt: skip

KEYS = "keys"
"""The folder of a workspace that has the keys."""


def keyring(brain: Brain) -> Keyring:
    """Return the keys of a workspace."""
    return Keyring(brain.workspace.folder / KEYS)


# --- traces -------------------------------------------------------------------------------------------------------


def log_trace(brain: Brain, caller: str, entry: traces.Entry, *, classifier: Classifier | None = None) -> str:
    """Record a trace and return its path. Raises RefusedError, whose reason is the rule that was violated."""
    seal = keyring(brain).seal

    def decide(library: Library) -> list[Event]:
        held = Ground(org=library.org, classifier=classifier)
        return [traces.log_trace(library, entry, held, caller=caller, today=brain.today, seal=seal)]

    # What was written is no part of the command: a hash of it would outlive its erasure.
    return brain.perform(decide, _path, tool="log_trace", caller=caller).decode()


def read_trace(brain: Brain, caller: str, rel_path: str) -> str | None:
    """Return a trace as a page, or None where there is none or it is not the caller's to read."""
    library = brain.library
    trace = library.traces.get(rel_path)
    if trace is None or not traces.may_read(library.org, caller, trace):
        return None
    return traces.page_text(trace, keyring(brain).unseal)


def trace_rows(brain: Brain, caller: str) -> list[dict[str, Any]]:
    """Return the traces that a caller may read, JSON-ready, by path; what was erased says so."""
    library, unseal = brain.library, keyring(brain).unseal
    return [
        {
            "rel_path": path,
            "agent": trace.agent,
            "status": trace.status,
            "duration_seconds": trace.duration_seconds,
            "refs": list(trace.refs),
            "on_behalf_of": None,
            **traces.content_of(trace, unseal),
        }
        for path, trace in sorted(library.traces.items())
        if traces.may_read(library.org, caller, trace)
    ]


def _path(events: Sequence[Event]) -> bytes:
    return next(event.rel_path for event in events if isinstance(event, TraceLogged)).encode()


# --- ratings ------------------------------------------------------------------------------------------------------


def rate_answer(brain: Brain, caller: str, *, answer_id: str, rating: str, comment: str = "") -> bytes:
    """Record what somebody thinks of an answer that they were given; return what was recorded, JSON.

    Raises RefusedError, whose reason is the error of the contract.
    """
    seal = keyring(brain).seal

    def decide(library: Library) -> list[Event]:
        return [
            ratings.rate(
                library,
                answer_id,
                rating=rating,
                comment=comment,
                caller=caller,
                age=_age(brain, library, answer_id),
                pages=_cited(brain, library, answer_id),
                seal=seal,
            )
        ]

    def respond(events: Sequence[Event]) -> bytes:
        rated = next(event for event in events if isinstance(event, AnswerRated))
        return orjson.dumps(
            {"recorded": True, "answer_id": answer_id, "rating": rated.rating, "rel_path": rated.rel_path}
        )

    return brain.perform(decide, respond, tool="rate_answer", caller=caller)


def rating_rows(brain: Brain, caller: str) -> list[dict[str, Any]]:
    """Return the ratings that were raised to a caller, are theirs, or all to the owner, JSON-ready."""
    library, keys = brain.library, keyring(brain)
    return [
        {
            "answer_id": rated.answer_id,
            "rel_path": rated.rel_path,
            "rated_by": rated.rated_by,
            "rating": rated.rating,
            "comment": traces.opened(rated.comment, keys.unseal),
            "cited": list(library.answers[rated.answer_id].citations),
            "raised_to": list(rated.raised_to),
        }
        for rated in ratings.readable(library.ratings.values(), library.org, caller)
    ]


def _cited(brain: Brain, library: Library, answer_id: str) -> Mapping[str, Page]:
    """Return the pages that an answer cites, of those that there are now."""
    answer, view = library.answers.get(answer_id), brain.pages()
    cited = {path: view.page(path) for path in answer.citations} if answer else {}
    return {path: page for path, page in cited.items() if page}


def _age(brain: Brain, library: Library, answer_id: str) -> int:
    """Return how long ago an answer was given (microseconds); of one that was not, nothing."""
    position = library.answered.get(answer_id)
    if position is None:
        return 0
    given = next(brain.log.read(after=position - 1, through=position))
    return brain.workspace.clock.now() - given.recorded_at


# --- erasure ------------------------------------------------------------------------------------------------------

_NAMES = "What pages say is the organisation's: a name in the text of a page is not touched; edit the page for that."
_COPIES = (
    "Copies of the folder of keys, in backups or elsewhere, are yours to find and destroy: whoever has one can still "
    "read what was sealed."
)
_BLOCKS = (
    "The file of the key was overwritten before it was removed; a disk or file system that keeps old blocks may still "
    "have them."
)
ERASURE_NOTES = (_NAMES, _COPIES, _BLOCKS)
"""What whoever erases somebody has to know."""


def foresee_erasure(brain: Brain, caller: str, name: str) -> dict[str, Any]:
    """Return whom a name stands for and how many sealed texts would be gone. The owner only."""
    library, keys = brain.library, keyring(brain)
    erasure.require_owner(library, caller)
    subject = erasure.subject_named(library, name, remains=_remains(keys, name))
    texts = sum(keys.subject_of(sealed) == subject for sealed in erasure.sealed(library))
    return {"subject": subject, "sealed_texts": texts, "notes": list(ERASURE_NOTES)}


def erase_person(brain: Brain, caller: str, name: str) -> dict[str, Any]:
    """Destroy the key of a person and record it; return what `foresee_erasure` foresaw. The owner only.

    Cut short, it can be done again: the key is gone first, and what is left of it until that is recorded keeps anybody
    from sealing with a new one.
    """
    told, keys = foresee_erasure(brain, caller, name), keyring(brain)
    subject = told["subject"]
    destroyed = keys.destroy(subject)

    def decide(library: Library) -> Sequence[Event]:
        return erasure.erase(library, subject, erased_by=caller, destroyed=destroyed)

    recorded = brain.perform(decide, lambda events: b"1" if events else b"0", tool="erase_person", caller=caller)
    keys.forget(subject)
    return {**told, "erased": True, "recorded": recorded == b"1"}


def _remains(keys: Keyring, name: str) -> bool:
    slug = name.strip().removeprefix("person:")
    return bool(slug) and keys.remains(slug)
