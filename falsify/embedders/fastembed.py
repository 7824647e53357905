"""Embedders of the fastembed package, which comes with Cognee: any model it lists, on the processor.

A model that is not in the cache is fetched once, when the user has named it; nothing is fetched otherwise.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from falsify.embedders.calibration import FASTEMBED, calibration
from falsify.errors import InvalidInputError, UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"

_BATCH: Final = 32
_THREADS: Final = 2  # as the bundled models


class FastembedEmbedder:
    """Embeds with one of fastembed's models. Making one sees to it that its files are there, and loads nothing yet.

    They are looked for in FASTEMBED_CACHE_PATH, else in ~/.cache/fastembed. HF_HUB_OFFLINE=1 forbids to fetch them.

    Raises InvalidInputError for a model that fastembed does not list, and UnavailableError if it cannot be had.
    """

    def __init__(self, model: str = "", *, cache: Path | None = None, threshold: float | None = None) -> None:
        model, self.dimensions = _listed(model or DEFAULT_MODEL)
        self.name = f"{FASTEMBED}{model}"
        self.threshold = calibration(self.name).threshold if threshold is None else threshold
        self._lock = threading.Lock()
        self._model = _made_available(model, cache or _cache())

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one L2-normalised row for each text; what lies beyond the model's context is not read.

        Raises UnavailableError if the model cannot be run.
        """
        import numpy as np  # heavy: not before a text is to be embedded

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return rows
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # little of a batch is padding
        try:
            with self._lock:  # the session is opened at the first use
                vectors = list(self._model.embed([texts[place] for place in order], batch_size=_BATCH))
        except Exception as error:  # onnxruntime's own exceptions share no base class with each other
            raise UnavailableError(f"fastembed's model {self.name} failed: {error}") from error
        rows[order] = np.asarray(vectors, dtype=np.float32)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return rows


def _cache() -> Path:
    named = os.environ.get("FASTEMBED_CACHE_PATH")  # fastembed's own default is a folder that a reboot empties
    return Path(named) if named else Path.home() / ".cache" / "fastembed"


def _package() -> Any:
    try:
        import fastembed  # heavy
        from loguru import logger
    except ImportError as error:
        raise UnavailableError(f"fastembed cannot be imported: {error}", hint="pip install fastembed") from error
    logger.disable("fastembed")  # it would tell on stderr what is told here
    return fastembed


def _listed(model: str) -> tuple[str, int]:
    """Return a model's name as fastembed spells it, and its dimensions."""
    listed = {
        m["model"].casefold(): (m["model"], int(m["dim"])) for m in _package().TextEmbedding.list_supported_models()
    }
    if model.casefold() not in listed:
        raise InvalidInputError(
            f"fastembed has no model {model!r}",
            hint=f"set embedder_model to one of {', '.join(name for name, _ in sorted(listed.values()))}",
        )
    return listed[model.casefold()]


def _made_available(model: str, cache: Path) -> Any:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        return _package().TextEmbedding(model, cache_dir=str(cache), threads=_THREADS, lazy_load=True)
    except Exception as error:  # fetching and reading a model raises all kinds of errors of others
        raise UnavailableError(
            f"fastembed's model {model} is not in {cache} and cannot be fetched: {error}",
            hint='connect to the network once, copy its files there, or set embedder = "bundled"',
        ) from error
