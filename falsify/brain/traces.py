"""Traces: what an agent recorded of its work. Provenance and no truth: never indexed, never changed, read by few.

What was done on somebody's behalf is sealed for them, with the attribution: when they are erased, both are gone.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import orjson
import yaml

from falsify.brain.events import Sealed, TraceLogged, TraceStatus
from falsify.brain.guard import Ground, classified
from falsify.brain.library import Library
from falsify.brain.org import Org
from falsify.brain.scope import is_owner, readable
from falsify.errors import RefusedError
from falsify.identity import OWNER

Seal = Callable[[str, str], Sealed]
"""Seals a text for a subject."""

Unseal = Callable[[Sealed], str | None]
"""Opens a sealed text; None where its key was destroyed."""

ERASED: Final = "(erased)"
"""What stands for a text that cannot be opened any more."""

MAX_TASK: Final = 500
MAX_SUMMARY: Final = 2_000
MAX_DETAIL: Final = 20_000
MAX_REFS: Final = 50
MAX_REF: Final = 200

TraceRule = Literal["R-SCOPE", "R-STATUS", "R-SIZE", "R-REFS", "R-SUBJECT", "R-PRIVACY"]

_REF: Final = re.compile(r"memory/[\w./ -]+\.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What an agent wants recorded. `on_behalf_of` is the slug of a person, or empty."""

    task: str
    status: str
    summary: str
    detail: str = ""
    duration_seconds: float | None = None
    refs: tuple[str, ...] = ()
    on_behalf_of: str = ""

    @property
    def text(self) -> str:
        """All words in it."""
        return "\n\n".join([self.task, self.summary, self.detail, *self.refs])


def log_trace(library: Library, entry: Entry, ground: Ground, *, caller: str, today: str, seal: Seal) -> TraceLogged:
    """Return the trace. Raises RefusedError, whose reason is the rule that was violated."""
    for rule, check in RULES.items():
        for what in check(entry, ground, caller):
            raise RefusedError(f"{rule}: {what}", hint="correct it and log it again", reason=rule)
    agent = caller.partition(":")[2]
    told = {"task": entry.task, "summary": entry.summary, "detail": entry.detail}
    person = entry.on_behalf_of.removeprefix("person:")
    hidden = orjson.dumps({**told, "on_behalf_of": person}).decode()
    return TraceLogged(
        rel_path=_next(library, agent, today),
        agent=agent,
        status=next(status for status in get_args(TraceStatus) if status == entry.status),
        duration_seconds=entry.duration_seconds,
        refs=entry.refs,
        content="" if person else orjson.dumps(told).decode(),
        sealed=seal(person, hidden) if person else None,
    )


def subject_of(org: Org, caller: str) -> str:
    """Return for whom the words of a caller are sealed: a person's slug, or the identity of one that has none."""
    if caller == OWNER:
        return org.owner or OWNER
    return caller.removeprefix("person:")


def own_traces(library: Library, caller: str) -> frozenset[str]:
    """Return the paths of the traces that a caller logged."""
    return frozenset(path for path, trace in library.traces.items() if f"agent:{trace.agent}" == caller)


def may_read(org: Org, caller: str, trace: TraceLogged) -> bool:
    """Return whether a trace exists for somebody: it is the agent's own, or they are the owner."""
    return caller == f"agent:{trace.agent}" or is_owner(org, caller)


def content_of(trace: TraceLogged, unseal: Unseal) -> Mapping[str, str]:
    """Return task, summary, detail and, where it is known, on_behalf_of; `(erased)` for what cannot be opened."""
    opened = unseal(trace.sealed) if trace.sealed else trace.content
    if opened is None:
        return dict.fromkeys(("task", "summary", "detail", "on_behalf_of"), ERASED)
    content: dict[str, str] = orjson.loads(opened)
    return content


def opened(sealed: Sealed | None, unseal: Unseal) -> str:
    """Return a sealed text, `(erased)` where it cannot be opened any more, or nothing where there is none."""
    if sealed is None:
        return ""
    text = unseal(sealed)
    return ERASED if text is None else text


def page_text(trace: TraceLogged, unseal: Unseal) -> str:
    """Return a trace as a page."""
    content = content_of(trace, unseal)
    front: dict[str, Any] = {
        "title": content["task"],
        "type": "trace",
        "agent": trace.agent,
        "status": trace.status,
        "on_behalf_of": content.get("on_behalf_of"),
        "duration_seconds": trace.duration_seconds,
        "sources": list(trace.refs),
    }
    told = {name: value for name, value in front.items() if value not in (None, [])}
    head = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=1_000)
    parts = [part for part in (content["summary"], content["detail"]) if part.strip()]
    return f"---\n{head}---\n" + "\n\n".join(parts) + "\n"


def _next(library: Library, agent: str, today: str) -> str:
    prefix = f"memory/traces/{agent}/{today}-"
    number = sum(path.startswith(prefix) for path in library.traces) + 1
    return f"{prefix}{number}.md"


# --- the rules, in the order in which they are looked at ------------------------------------------------------------


def _scope(_entry: Entry, ground: Ground, caller: str) -> Iterator[str]:
    kind, _, name = caller.partition(":")
    known = kind == "agent" and ground.org.agent(name) is not None
    if not known or not readable(f"memory/traces/{name}/x.md"):
        yield "only agents of the organisation log traces"


def _status(entry: Entry, _ground: Ground, _caller: str) -> Iterator[str]:
    if entry.status not in get_args(TraceStatus):
        yield f"the status is one of {', '.join(get_args(TraceStatus))}"


def _size(entry: Entry, _ground: Ground, _caller: str) -> Iterator[str]:
    for what, text, limit in (
        ("task", entry.task, MAX_TASK),
        ("summary", entry.summary, MAX_SUMMARY),
        ("detail", entry.detail, MAX_DETAIL),
    ):
        if len(text) > limit:
            yield f"the {what} has {len(text):,} characters; the limit is {limit:,}"
        if not text.strip() and what != "detail":
            yield f"the {what} is empty"
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            yield f"the {what} holds half a surrogate pair"
    seconds = entry.duration_seconds
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        yield "the duration is no number of seconds"
    if len(entry.refs) > MAX_REFS:
        yield f"there are {len(entry.refs)} refs; the limit is {MAX_REFS}"


def _refs(entry: Entry, _ground: Ground, _caller: str) -> Iterator[str]:
    # Whether there is such a page is not asked: the answer would tell of pages that the agent cannot see.
    for number, ref in enumerate(entry.refs, 1):
        if len(ref) > MAX_REF or not _REF.fullmatch(ref) or not readable(ref):
            yield f"ref {number} is not the path of a page: memory/....md"


def _subject(entry: Entry, ground: Ground, _caller: str) -> Iterator[str]:
    slug = entry.on_behalf_of.removeprefix("person:")
    if entry.on_behalf_of and not any(person.slug == slug for person in ground.org.people):
        yield "there is no such person"


def _privacy(entry: Entry, ground: Ground, _caller: str) -> Iterator[str]:
    yield from classified(entry.text, ground)


RULES: Final[Mapping[TraceRule, Callable[[Entry, Ground, str], Iterator[str]]]] = {
    "R-SCOPE": _scope,
    "R-STATUS": _status,
    "R-SIZE": _size,
    "R-REFS": _refs,
    "R-SUBJECT": _subject,
    "R-PRIVACY": _privacy,
}
