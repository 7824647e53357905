"""The organisation's knowledge in a workspace: one stream, read and written as everything else is."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from falsify.belief.text import written
from falsify.brain.library import Library
from falsify.brain.scope import Destination, Scope, scope_of
from falsify.errors import ConflictError, StaleRevisionError
from falsify.events import Event
from falsify.log import Command
from projections.library import LIBRARY
from surfaces.workspace import ATTEMPTS, Workspace, command_id

STREAM = "brain"

Decide = Callable[[Library], Sequence[Event]]
Respond = Callable[[Sequence[Event]], bytes]
"""Makes the answer to a command out of what is about to be written."""


class Brain:
    """The brain of a workspace. `destination` is where its answers go."""

    def __init__(self, workspace: Workspace, *, destination: Destination = "cli") -> None:
        self.workspace = workspace
        self.log = workspace.log
        self.destination = destination
        self._library, self._position = Library(), 0

    @property
    def library(self) -> Library:
        """What is known now. Not to be changed by anybody but the log."""
        head = self.log.head().position
        if head > self._position:
            LIBRARY.fold(self.log.read(after=self._position, through=head, stream=STREAM), self._library)
            self._position = head
        return self._library

    @property
    def position(self) -> int:
        """How far into the log the library has been read."""
        return self._position

    @property
    def now(self) -> str:
        """The time, as `YYYY-MM-DDTHH:MM:SSZ`."""
        return written(self.workspace.clock.now())

    @property
    def today(self) -> str:
        """The date in UTC."""
        return datetime.fromtimestamp(self.workspace.clock.now() // 1_000_000, UTC).date().isoformat()

    def scope(self, caller: str, on_behalf_of: str = "") -> Scope:
        """Return what a caller may see, narrowed to what somebody else may see too."""
        return scope_of(self.library.org, caller, on_behalf_of=on_behalf_of, destination=self.destination)

    def perform(
        self, decide: Decide, respond: Respond, *, tool: str, caller: str, body: bytes = b"{}", key: str | None = None
    ) -> bytes:
        """Decide and append; decide anew where somebody else wrote in between. The same key has the same answer."""
        if key is not None and (first := self.log.answered(STREAM, self._command(tool, body, caller, key=key))):
            return first.response
        for _ in range(ATTEMPTS):
            revision = self.log.revision(STREAM)
            events = list(decide(self.library))
            response = respond(events)
            command = replace(
                self._command(tool, body, caller, key=key, revision=revision),
                respond=lambda _revision, _epoch, response=response: response,  # type: ignore[misc]  # bound early
            )
            try:
                return self.log.append(STREAM, events, expected_revision=revision, command=command).response
            except StaleRevisionError:
                continue
        raise ConflictError(f"others wrote to {STREAM} {ATTEMPTS} times while this was being decided", hint="try again")

    def _command(self, tool: str, body: bytes, caller: str, *, key: str | None = None, revision: int = 0) -> Command:
        name = command_id(STREAM, revision, caller, tool, body)
        return Command(id=name, actor=caller, tool=tool, key=key, body=body)
