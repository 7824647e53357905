"""Texts, dates and the ids derived from them: where strangers' words become values.

Two texts that differ only in case, Unicode form, white space or a closing full stop are the same belief, and so
have the same id.
"""

import hashlib
import re
import unicodedata
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Literal

from falsify.errors import InvalidInputError
from falsify.events import NodeId

NodeKind = Literal["question", "hypothesis", "evidence", "conclusion"]

MAX_TEXT = 20_000
"""Characters in one claim, statement, title or quote."""

_LETTER: dict[NodeKind, str] = {"question": "Q", "hypothesis": "H", "evidence": "E", "conclusion": "C"}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DIGITS = 16


def node_id(kind: NodeKind, text: str, *, question_id: NodeId = "") -> NodeId:
    """Return the id of the belief that `text` states under a question: `E-3f0c…`, 16 hex digits."""
    # A lone surrogate is refused by `clean`; here it must only not get in the way of saying so.
    digest = hashlib.sha256(f"{question_id}\0{normalise(text)}".encode(errors="surrogatepass")).hexdigest()
    return f"{_LETTER[kind]}-{digest[:_DIGITS]}"


def normalise(text: str) -> str:
    """Return what makes two wordings the same belief: NFKC, case folded, single spaces, no closing full stop.

    Folding and NFKC each undo a little of the other, so Unicode has them twice (its definition D146).
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold()).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split()).rstrip(". ")


def a_kind(*kinds: str) -> str:
    """Return kinds of nodes as a sentence names them: `a question`, `evidence or a conclusion`."""
    return " or ".join(kind if kind == "evidence" else f"a {kind}" for kind in kinds)


def clean(text: str, *, what: str) -> str:
    """Return `text` without surrounding white space, or raise InvalidInputError that says what is wrong with it."""
    stripped = text.strip()
    if not normalise(stripped):
        raise InvalidInputError(f"{what} is empty", hint=f"write {what} as a sentence")
    if len(stripped) > MAX_TEXT:
        raise InvalidInputError(
            f"{what} has {len(stripped):,} characters; the limit is {MAX_TEXT:,}",
            hint="record its sentences one by one, and keep the document as the source",
        )
    for index, character in enumerate(stripped):
        if unicodedata.category(character) in {"Cc", "Cs"} and character not in "\t\n\r":
            raise InvalidInputError(
                f"{what} holds the control character U+{ord(character):04X} at position {index + 1}",
                hint="remove it: it would be invisible to whoever reads this belief",
            )
    return stripped


def moment(text: str, *, what: str = "the date") -> str:
    """Return a date as `YYYY-MM-DD`, or a date and time as `YYYY-MM-DDTHH:MM:SSZ` in UTC.

    Raises InvalidInputError for anything that is not a date of the calendar. A time without a zone is UTC.
    """
    candidate = text.strip()
    with suppress(ValueError):  # not a date alone
        return date.fromisoformat(candidate).isoformat()
    try:
        parsed = datetime.fromisoformat(candidate)
        zoned = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"{what} {text!r} is not a date", hint="write 2021-03-15, or 2021-03-15T14:30:00Z"
        ) from None
    return _told(zoned)


def end_of(moment_: str) -> int:
    """Return the last microsecond since 1970 that a moment covers: a date is the whole day in UTC."""
    if _DATE.fullmatch(moment_):
        day = datetime.fromisoformat(moment_).replace(tzinfo=UTC)
        return int(day.timestamp()) * 1_000_000 + 86_400_000_000 - 1
    instant = datetime.fromisoformat(moment_)
    return int(instant.timestamp()) * 1_000_000 + 999_999


def written(microseconds: int) -> str:
    """Return a recording time as `YYYY-MM-DDTHH:MM:SSZ`."""
    return _told(datetime.fromtimestamp(microseconds // 1_000_000, UTC))


def _told(time: datetime) -> str:
    return time.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
