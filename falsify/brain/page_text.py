"""The text of a page before anything is made of it: bytes to characters, lines, and the limits of both."""

import re
from typing import Final

from falsify.errors import InvalidInputError

MAX_BYTES: Final = 2_000_000
"""Bytes in one page, as UTF-8."""

MAX_LINE: Final = 1_000_000
"""Characters in one line."""

_BREAK: Final = re.compile(r"\r\n|\n|\r")
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


def decode(rel_path: str, data: bytes) -> str:
    """Return the text of a file: UTF-8, with or without its mark, or UTF-16 with its mark; line ends stay as they are.

    Raises InvalidInputError for what is too long or no text.
    """
    if len(data) > 2 * MAX_BYTES:
        raise _too_long(rel_path)
    text = _characters(rel_path, data)
    check(rel_path, text)
    return text


def check(rel_path: str, text: str) -> list[str]:
    """Return the lines of a page, or raise InvalidInputError for one that is too long or no text."""
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        line = _line_at(text, error.start)
        raise fault(rel_path, line, "half a surrogate pair is no character", hint="save the file as UTF-8") from None
    if size > MAX_BYTES:
        raise _too_long(rel_path)
    if "\0" in text:
        line = _line_at(text, text.index("\0"))
        raise fault(rel_path, line, "a NUL: the file is binary, not text", hint="save it as text in UTF-8")
    found = lines(text)
    if len(text) > MAX_LINE:
        for number, line_text in enumerate(found, start=1):
            if len(line_text) > MAX_LINE:
                message = f"the line has {len(line_text):,} characters; the limit is {MAX_LINE:,}"
                raise fault(rel_path, number, message, hint="break it into lines, or keep the data elsewhere")
    return found


def lines(text: str) -> list[str]:
    """Return the lines of a text without their ends; line 1 is the first."""
    return _BREAK.split(text) if "\r" in text else text.split("\n")


def fault(rel_path: str, line: int, message: str, *, hint: str = "") -> InvalidInputError:
    """Return the error that says where in a page something is wrong: `path:line: message`."""
    return InvalidInputError(
        f"{rel_path}:{line}: {message}", hint=hint, reason="bad_page", details={"rel_path": rel_path, "line": line}
    )


def _characters(rel_path: str, data: bytes) -> str:
    if data.startswith(_UTF16):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            message = "the file begins like UTF-16 and is not, or is cut off"
            raise fault(rel_path, 1, message, hint="save it as UTF-8") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the byte 0x{data[error.start]:02X} is not UTF-8"
        raise fault(rel_path, line, message, hint="save the file as UTF-8") from None


def _too_long(rel_path: str) -> InvalidInputError:
    message = f"the page has more than {MAX_BYTES:,} bytes"
    return fault(rel_path, 1, message, hint="split it, or keep the data elsewhere and link to it")


def _line_at(text: str, index: int) -> int:
    return len(_BREAK.findall(text, 0, index)) + 1
