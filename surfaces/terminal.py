"""What the terminal can show, and what it must not be told."""

import re
import sys
from typing import Final


def unicode_out() -> bool:
    """Return whether standard output takes characters beyond ASCII."""
    encoding: str = getattr(sys.stdout, "encoding", None) or ""
    return encoding.lower().startswith("utf")


def printable(text: str) -> str:
    """Return a text with what would command a terminal, or turn its line around, written as an escape of JSON.

    A JSON document is the same document after it.
    """
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


# Control characters but for the tab and ends of lines, and those that set the direction of what follows.
_COMMANDS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")
