"""Writing what was decided: at the revision it was decided on, and anew where somebody else wrote in between."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from falsify.errors import ConflictError, StaleRevisionError
from falsify.events import Event
from falsify.log import Command, EventLog, Receipt, Respond

ATTEMPTS: Final = 5
"""How often a command is decided anew because somebody else wrote in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A command as it was asked for: of which stream, by whom, by which tool, with what body, under what key."""

    stream: str
    actor: str
    tool: str
    body: bytes = b"{}"
    key: str | None = None

    def command(self, revision: int = 0, respond: Respond | None = None) -> Command:
        """Return it for the log; its id is shared only by the same command decided at the same revision."""
        head = f"{self.stream}\0{revision}\0{self.actor}\0{self.tool}\0".encode()
        digest = hashlib.sha256(head + self.body).hexdigest()
        return Command(
            id=f"{self.tool}-{digest[:20]}",
            actor=self.actor,
            tool=self.tool,
            key=self.key,
            body=self.body,
            respond=respond,
        )


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided at a revision of the stream, and what makes the answer to it."""

    revision: int
    events: Sequence[Event]
    respond: Respond | None = None


def append_decided(log: EventLog, asked: Asked, decide: Callable[[], Decided], *, attempts: int = ATTEMPTS) -> Receipt:
    """Decide and append. With one attempt a stale revision is the caller's; with more it is decided anew.

    Raises ConflictError where others were faster every time.
    """
    for _ in range(attempts):
        decided = decide()
        command = asked.command(decided.revision, decided.respond)
        try:
            return log.append(asked.stream, decided.events, expected_revision=decided.revision, command=command)
        except StaleRevisionError:
            if attempts == 1:
                raise
    raise ConflictError(
        f"others wrote to {asked.stream} {attempts} times while this was being decided", hint="try again"
    )


def answered_with(response: bytes) -> Respond:
    """Return what answers with a response that was made beforehand, whatever the revision is then."""
    return lambda _revision, _epoch: response
