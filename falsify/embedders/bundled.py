"""The embedder that ships with Falsify: all-MiniLM-L6-v2 as a file in the package, no network, no key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from falsify import models
from falsify.embedders import calibration
from falsify.models.encoder import Encoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BundledEmbedder:
    """Embeds English text on the processor, offline. The model is loaded at the first use."""

    name: ClassVar[str] = calibration.BUNDLED
    dimensions: ClassVar[int] = 384

    def __init__(self, *, threshold: float | None = None) -> None:
        self.threshold = calibration.calibration(self.name).threshold if threshold is None else threshold
        self._encode = Encoder(models.EMBEDDER, max_tokens=256, width=self.dimensions)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one L2-normalised row for each text; what lies beyond 256 tokens of a text is not read.

        Raises UnavailableError if the model cannot be loaded.
        """
        return self._encode(texts)
