"""PDF, through pypdf: the text of each page, its lines joined, without what stands at an end of most pages."""

import io
import logging
import re
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from falsify.belief.prose import Location
from falsify.errors import InvalidInputError
from surfaces.readers.paragraphs import paragraphs
from surfaces.readers.reading import Line, Reading, lines

if TYPE_CHECKING:
    from pypdf import PdfReader


def read(name: str, data: bytes) -> Reading:
    """Return the passages of a document; a place in it is a page, and a character of the text of that page."""
    if b"%PDF-" not in data[:1024]:
        raise InvalidInputError(f"{name} is not a PDF", hint="it does not begin like one")
    if b"%%EOF" not in data[-2048:]:
        raise InvalidInputError(f"{name} is cut off: a PDF ends with %%EOF", hint="fetch or export it again")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells a log what is told here
    title, pages = _pages(name, data)
    found = [_page(number, text) for number, text in enumerate(pages, 1)]
    if not any(line.text.strip() for page in found for line in page):
        raise InvalidInputError(
            f"{name} holds no text on its {len(pages)} pages", hint="if it was scanned, have its text recognised first"
        )
    passages = paragraphs(_joined(_without_running_heads(found)), printed=True)
    return Reading(title=title or PurePath(name).name, passages=tuple(passages))


def _pages(name: str, data: bytes) -> tuple[str, list[str]]:
    """Return the title that the document gives itself, and the text of each page."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError

    number = 0
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            reader.decrypt("")  # many are encrypted with no password at all; where this fails, so does what follows
        texts = []
        for number, page in enumerate(reader.pages, 1):  # noqa: B007  # which page it was, for the error
            texts.append(page.extract_text())
        return _title(reader), texts
    except (FileNotDecryptedError, DependencyError):
        raise InvalidInputError(f"{name} is encrypted", hint="save a copy of it without a password") from None
    except Exception as error:  # a broken file meets pypdf at any place, and it has no base for what it raises then
        place = f", page {number + 1}" if number else ""
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise InvalidInputError(f"{name}{place}: this PDF is broken: {said}", hint="export it again") from error


def _title(reader: "PdfReader") -> str:
    """Return the title, unless it is what a program put there."""
    title = " ".join(str((reader.metadata.title if reader.metadata else None) or "").split())
    printable = "".join(character for character in title if character.isprintable())
    return "" if _NO_TITLE.match(printable) else printable


_NO_TITLE: Final = re.compile(r"untitled|microsoft word -|.*\.(?:docx?|indd|tex|dvi|pdf|odt)$", re.IGNORECASE)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_DIGITS: Final = re.compile(r"\d+")


def _page(number: int, text: str) -> list[Line]:
    plain = _CONTROL.sub(" ", text)  # what a font has no letter for
    return [Line(each.text, Location(each.location.character, page=number)) for each in lines(plain)]


def _without_running_heads(pages: list[list[Line]]) -> list[list[Line]]:
    """Return the pages without first and last lines that, page numbers aside, more than half of them share."""
    written = [[line for line in page if line.text.strip()] for page in pages]
    ends = Counter(
        _shape(line) for page in written for line in {id(each): each for each in page[:1] + page[-1:]}.values()
    )
    often = {shape for shape, times in ends.items() if times > 2 and times * 2 > len(pages)}
    kept = []
    for page in written:
        first = next((place for place, line in enumerate(page) if _shape(line) not in often), len(page))
        last = next((place for place in range(len(page), first, -1) if _shape(page[place - 1]) not in often), first)
        kept.append(page[first:last])
    return kept


def _shape(line: Line) -> str:
    return _DIGITS.sub("0", " ".join(line.text.split()))


def _joined(pages: list[list[Line]]) -> list[Line]:
    """Return the lines of all pages, with an empty one behind a page that ends with a sentence."""
    found: list[Line] = []
    for page in pages:
        if found and found[-1].text.rstrip().endswith((".", "!", "?", ":")):
            found.append(Line("", Location()))
        found += page
    return found
