"""The organisation's knowledge in a workspace: one stream, read and written as everything else is."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from falsify.belief.text import written
from falsify.brain.library import Library
from falsify.brain.scope import Destination, Scope, scope_of
from falsify.events import Event
from falsify.ports import Progress
from projections.library import LIBRARY
from projections.pages import PageCache, PageView, pages_at
from surfaces.workspace import SEARCH, Workspace
from surfaces.writing import Asked, Decided, answered_with, append_decided

if TYPE_CHECKING:
    from projections.search.index import SearchIndex

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
        self._pages = PageCache()

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

    def pages(self, known_at: str | None = None) -> PageView:
        """Return the pages now, or as they were known at `YYYY-MM-DDTHH:MM:SSZ`; not narrowed to any scope."""
        return pages_at(self.library, known_at, self._pages)

    def text_at(self, rel_path: str, position: int) -> str:
        """Return what a page says since the record at that position of the log; nothing where it is not there."""
        past = self.library.pages.get(rel_path, ())
        return next((version.text or "" for version in past if version.position == position), "")

    @property
    def index(self) -> "SearchIndex":
        """The search index, brought up to the log. Raises UnavailableError if it cannot be."""
        self.build_index()
        return self._index

    def build_index(self, watch: Progress | None = None) -> int:
        """Bring the search index up to the log, telling somebody how far it has come; return how much was embedded.

        One that is ahead of the log is of another log, or of what this one was before it was restored: it is rebuilt.
        """
        library = self.library
        if self._ahead():
            return self._index.rebuild(library, self.position, watch=watch)
        return self._index.sync(library, self.position, watch=watch)

    def _ahead(self) -> bool:
        """Return whether the index on the disk has read what is not in the log."""
        from projections.claims import checkpoint_on_disk

        # In this order: somebody else may write and index meanwhile.
        reached = checkpoint_on_disk(self.workspace.folder / SEARCH) or 0
        return reached > self.log.head().position

    @cached_property
    def _index(self) -> "SearchIndex":
        from projections.search.index import SearchIndex  # numpy: not before something is searched

        return SearchIndex(self.workspace.folder / SEARCH, self.workspace.embedder)

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
        asked = Asked(stream=STREAM, actor=caller, tool=tool, body=body, key=key)
        if key is not None and (first := self.log.answered(STREAM, asked.command())):
            return first.response

        def decided() -> Decided:
            # The revision is read before the library: one that is newer is refused, one that is older would not be.
            revision = self.log.revision(STREAM)
            events = list(decide(self.library))
            return Decided(revision, events, answered_with(respond(events)))

        return append_decided(self.log, asked, decided).response
