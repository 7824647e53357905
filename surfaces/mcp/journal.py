"""What a server says on standard error: on one line, with nothing in it that a terminal obeys, and not all day.

Strangers make a server say things: whoever can connect can send what is no HTTP, and a client says why it failed. So
what they wrote begins no line, and what is said again and again is counted instead.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Final

OFTEN: Final = 10
WHILE: Final = 60
"""How often the same thing is said, from one place in the program, in so many seconds."""

_LONGEST: Final = 1000
_INDENT: Final = "\n    "


@contextmanager
def kept() -> Iterator[None]:
    """Have what the program and its libraries log said on standard error, for the time of a `with` block."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_Harmless())
    handler.addFilter(Sparing())
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


class _Harmless(logging.Formatter):
    """Writes a message on one line, and what went wrong behind it, a little further in."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines."""
        message = harmless(record.getMessage())
        if not record.exc_info:
            return message
        trace = [harmless(line) for line in self.formatException(record.exc_info).splitlines()]
        return _INDENT.join((message, *trace))


def harmless(text: str) -> str:
    """Return a text as one line that a terminal shows as it is, and that has an end."""
    line = "".join(each if each.isprintable() else " " if each.isspace() else ascii(each)[1:-1] for each in text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


@dataclass(slots=True)
class _Said:
    """Since when something is counted, how often it was said, and how often not."""

    since: float
    times: int = 0
    left_out: int = 0


class Sparing(logging.Filter):
    """Lets through so many messages of one place in the program in a while; the next one says how many it left out."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[str, int], _Said] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether it is to be said."""
        now = monotonic()
        said = self._said.setdefault((record.pathname, record.lineno), _Said(now))
        if now - said.since > WHILE:
            if said.left_out:
                record.msg, record.args = f"{record.getMessage()} (and {said.left_out} times more before)", None
            said.since, said.times, said.left_out = now, 0, 0
        said.times += 1
        said.left_out += said.times > OFTEN
        return said.times <= OFTEN
