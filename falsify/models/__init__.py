"""The bundled model files: where they are, and whether they are still what was shipped."""

import hashlib
from functools import cache
from pathlib import Path

from falsify.errors import DamagedError, UnavailableError

EMBEDDER = "minilm_embed_w8.onnx"
CROSS_ENCODER = "nli_ce_w8.onnx"
TOKENIZER = "tokenizer.json"
ANTONYMS = "antonyms.tsv"

_FOLDER = Path(__file__).parent
_SUMS = "SHA256SUMS"
_REINSTALL = "the installation is incomplete: reinstall with `pip install --force-reinstall falsify-log`"


def path(name: str) -> Path:
    """Return where the bundled file `name` is. Raises UnavailableError if it is not there."""
    found = _FOLDER / name
    if not found.is_file():
        raise UnavailableError(f"the bundled model file {name} is missing", hint=_REINSTALL)
    return found


@cache
def sums() -> dict[str, str]:
    """Return the published SHA-256 of every bundled file, by name."""
    lines = path(_SUMS).read_text(encoding="ascii").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines if line)}


def verify() -> tuple[str, ...]:
    """Compare every bundled file with its published sum and return the names, in order.

    Raises UnavailableError if a file is missing and DamagedError if one was changed. Reads 47 MB.
    """
    changed = [name for name, digest in sums().items() if _sha256(path(name)) != digest]
    if changed:
        raise DamagedError(f"not what was shipped: {', '.join(changed)}", hint=_REINSTALL)
    return tuple(sums())


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
