"""What the terminal can show."""

import sys


def unicode_out() -> bool:
    """Return whether standard output takes characters beyond ASCII."""
    encoding: str = getattr(sys.stdout, "encoding", None) or ""
    return encoding.lower().startswith("utf")
