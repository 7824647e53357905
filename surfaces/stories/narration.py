"""How a story is told on a terminal: titles, who says or does what, tables, and trees that are drawn elsewhere."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import click

from falsify.ports import Metrics
from surfaces.terminal import unicode_out
from surfaces.text import table as rendered

WIDTH: Final = 100
"""Columns that a line of a story has."""

_INDENT: Final = 2
_NAME: Final = 14
"""Columns of the name of who acts."""

_BAR: Final = 30
"""Columns of a bar."""

_LEAD: Final = re.compile(r"[ │├└─|`-]*")
_BELOW: Final = str.maketrans("├└─`-", "│    ")
"""What a branch of a tree begins with, and what that is a line further down."""

_PERSON: Final = "green"
_AGENT: Final = "magenta"
_WORKER: Final = "blue"


def title(number: int, text: str) -> Iterator[str]:
    """Yield the title of an act."""
    yield ""
    yield click.style(f"{number}. {text}", bold=True)


def says(who: str, text: str) -> Iterator[str]:
    """Yield what somebody does, wrapped beside the name."""
    name = click.style(f"{who:<{_NAME}}", fg=_color(who))
    first, *rest = wrapped(text)
    yield f"{'':{_INDENT}}{name}{first}"
    yield from (_beside(line) for line in rest)


def more(text: str, *, color: str | None = None, item: bool = False) -> Iterator[str]:
    """Yield what follows from it, below what was done; as an item of a list, or in a colour."""
    sign = f"{'•' if unicode_out() else '*'} " if item else ""
    for number, line in enumerate(wrapped(text, less=len(sign))):
        yield _beside((sign if not number else " " * len(sign)) + click.style(line, fg=color))


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table below what was done."""
    yield from (f"{'':{2 * _INDENT}}{line}" for line in rendered(head, rows))


def shell(command: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield what a command of the command line prints, with the command before it."""
    yield f"{'':{_INDENT}}{click.style(f'$ {command}', dim=True)}"
    for line in lines:
        yield from _folded(f"{'':{2 * _INDENT}}{line}".rstrip())


def drawing(lines: Iterable[str]) -> Iterator[str]:
    """Yield a drawing below what was done."""
    yield from (click.style(_beside(line), fg="cyan") for line in lines)


def progress(run_id: str, lines: Sequence[Metrics], *, epochs: int) -> str:
    """Return in a few words how far a run is, of which these lines have been reported."""
    done = len(lines) * _BAR // epochs
    full, empty = ("█", "░") if unicode_out() else ("#", ".")
    return f"{'':{_INDENT}}{run_id:<{_NAME}}{full * done}{empty * (_BAR - done)} epoch {len(lines)} of {epochs}"


def wrapped(text: str, *, less: int = 0) -> list[str]:
    """Return a text as lines that fit beside a name, `less` columns shorter."""
    return textwrap.wrap(text, WIDTH - _INDENT - _NAME - less, break_on_hyphens=False) or [""]


def _color(who: str) -> str:
    """Return the colour of whoever acts: agents and the worker are called so, and everybody else is a person."""
    if who == "worker":
        return _WORKER
    return _AGENT if "agent" in who else _PERSON


def _beside(line: str) -> str:
    return f"{'':{_INDENT + _NAME}}{line}".rstrip()


def _folded(line: str) -> Iterator[str]:
    """Yield a line of a tree in pieces that fit; the pieces stay within their branch, and keep their colours."""
    lead = _LEAD.match(click.unstyle(line))
    below = (lead[0] if lead else "").translate(_BELOW) + "  "
    piece, *words = line.split(" ")
    for word in words:
        longer = f"{piece} {word}"
        if len(click.unstyle(longer)) > WIDTH and click.unstyle(piece).strip():
            yield piece
            longer = below + word
        piece = longer
    yield piece
