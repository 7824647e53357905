"""What the tools of the brain answered, put in the words of a story."""

from collections.abc import Mapping
from typing import Any

from falsify.errors import CheckFailedError

Told = dict[str, Any]
"""A payload, or a part of one."""


def pages_of(told: Mapping[str, Any]) -> dict[str, Told]:
    """Return the best hit of every page that a search found, by path in the order of the ranking."""
    best: dict[str, Told] = {}
    for hit in told["results"]:
        best.setdefault(hit["rel_path"], hit)
    return best


def prose(text: str) -> str:
    """Return a passage in one line, without its headings, links as their words."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return " ".join(" ".join(lines).replace("[[", "").replace("]]", "").split())


def counted(number: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - a sentence: expect this
    """Raise CheckFailedError where the story did not come true."""
    if not holds:
        raise CheckFailedError(
            f"the story does not come out as it is told: {otherwise}",
            hint="`falsify doctor` checks this machine; if all is well there, it is the story that is at fault",
        )
