"""Plain text: paragraphs, with or without hard line breaks, or one sentence a line."""

from pathlib import PurePath

from surfaces.readers.paragraphs import paragraphs
from surfaces.readers.reading import Reading, decode, lines


def read(name: str, data: bytes) -> Reading:
    """Return the passages of a text; its title is the name of its file."""
    text = decode(name, data)
    return Reading(title=PurePath(name).name, passages=tuple(paragraphs(lines(text))))
