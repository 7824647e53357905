"""What commands share that bring the search index up to the pages: how far it has come, and what keeps it back."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from surfaces.commands.session import Session, note

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar  # click names the type nowhere else

    from surfaces.brain import Brain

LABELS = {"pages": "Indexing pages", "passages": "Embedding passages"}


def index(session: Session, brain: "Brain") -> None:
    """Bring the search index up to the log, behind a progress bar. It is kept as it goes, so it can be cut short.

    What was imported stands: where the index cannot be made, that is said, and the next search tries again.
    """
    from falsify.errors import UnavailableError

    try:
        with _Bars(shown=sys.stderr.isatty() and not session.as_json) as bars:
            brain.build_index(bars)
    except UnavailableError as error:
        note(f"not indexed for search: {error.message}")
        note(f"  {error.hint}" if error.hint else "  the next search tries again")


class _Bars:
    """A progress bar on stderr for each kind of thing that is counted, one after the other."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._what = ""
        self._bar: ProgressBar[int] | None = None

    def __call__(self, what: str, done: int, of: int) -> None:
        """Say that `done` of so many have been."""
        if not self._shown:
            return
        if self._bar is None or what != self._what:
            self._end()
            self._what = what
            self._bar = click.progressbar(length=of, label=LABELS[what], file=sys.stderr)
            self._bar.__enter__()
        self._bar.update(done - self._bar.pos)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
