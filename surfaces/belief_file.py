"""Reads a belief file, YAML or JSON, and says of every fault at which line and column it is."""

from pathlib import Path

from falsify import located_yaml
from falsify.belief.ingest import BadReferenceError, BeliefFile
from falsify.errors import InvalidInputError

_WHAT = "belief file"
_BEGINS = "it starts with `question: …`; see docs/belief-files.md"


class Document:
    """A parsed belief file that still knows where in the text each of its parts stood."""

    def __init__(self, name: str, text: str) -> None:
        self._located = located_yaml.parse(name, text, BeliefFile, what=_WHAT, begins=_BEGINS)
        self.name, self.beliefs = name, self._located.value

    def located(self, error: BadReferenceError) -> InvalidInputError:
        """Return the error with the place in the file that it speaks of."""
        return self._located.error(error.path, error.message, hint=error.hint)


def read(path: Path) -> Document:
    """Return the belief file at `path`."""
    return Document(str(path), located_yaml.read_text(path, what=_WHAT))
