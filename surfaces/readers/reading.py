"""What a reader makes of a document, and how the bytes of one become text."""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from falsify.belief.documents import Claim
from falsify.belief.prose import Location, Passage
from falsify.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Reading:
    """A document that was read: prose in passages, or the claims of a table as they are."""

    title: str = ""
    asserted_at: str = ""
    passages: tuple[Passage, ...] = ()
    claims: tuple[Claim, ...] | None = None


class Line(NamedTuple):
    """A line of a text and where it begins."""

    text: str
    location: Location


def decode(name: str, data: bytes, *, encoding: str = "") -> str:
    """Return the text of a document: UTF-8, or UTF-16 with its mark, or else the encoding it declares itself.

    Raises InvalidInputError for what is empty, no text, or holds characters that no text has.
    """
    if not data.strip():
        raise InvalidInputError(f"{name} is empty", hint="there is nothing in it to record")
    text = _decoded(name, data, encoding)
    if "\0" in text:
        raise fault(name, text, text.index("\0"), "it is binary", hint="convert it to text or PDF first")
    bad = _CONTROL.search(text)
    if bad is not None:
        message = f"it holds the control character U+{ord(bad[0]):04X}"
        raise fault(name, text, bad.start(), message, hint="remove it: it would be invisible to whoever reads this")
    if not text.strip():
        raise InvalidInputError(f"{name} is empty", hint="there is nothing in it to record")
    return text


def _decoded(name: str, data: bytes, encoding: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            raise InvalidInputError(
                f"{name} begins like UTF-16 and is not, or is cut off", hint="save it as UTF-8"
            ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if encoding:
            try:
                return data.decode(encoding)
            except (UnicodeDecodeError, LookupError):
                pass  # it is not what it says it is: the message below is as true for it
        if b"\0" in data:
            raise InvalidInputError(f"{name} is binary, not text", hint="convert it to text or PDF first") from None
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise InvalidInputError(
            f"{name}, line {line}, column {column}: byte 0x{data[error.start]:02X} is not UTF-8",
            hint="save it as UTF-8",
        ) from None


def fault(name: str, text: str, index: int, message: str, *, hint: str = "") -> InvalidInputError:
    """Return an error that names line and column of a character."""
    line, column = text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
    return InvalidInputError(f"{name}, line {line}, column {column}: {message}", hint=hint)


def lines(text: str) -> list[Line]:
    """Return the lines of a text, without their ends."""
    found: list[Line] = []
    start = 0
    for number, match in enumerate(_LINE_END.finditer(text), 1):
        found.append(Line(text[start : match.start()], Location(start, number)))
        start = match.end()
    found.append(Line(text[start:], Location(start, len(found) + 1)))
    return found


_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
