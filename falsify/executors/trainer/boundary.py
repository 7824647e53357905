"""What a network says of a plane: the probability of each class on a grid over the points."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from falsify.executors.trainer.data import Array, Sample

RESOLUTION = 60
_MARGIN = 0.08


@dataclass(frozen=True, slots=True)
class Boundary:
    """Probabilities (rows, columns, classes), the first row at the bottom; `x` and `y` are where its edges lie."""

    probabilities: Array
    x: tuple[float, float]
    y: tuple[float, float]


def survey(predict: Callable[[Array], Array], sample: Sample) -> Boundary:
    """Ask for the probabilities (n, classes) of features (n, 2) all over the region in which the sample lies."""
    x, y = (_extent(sample.features[:, axis]) for axis in (0, 1))
    across, up = np.meshgrid(np.linspace(*x, RESOLUTION), np.linspace(*y, RESOLUTION))
    probabilities = predict(np.column_stack([across.ravel(), up.ravel()]))
    return Boundary(probabilities.reshape(RESOLUTION, RESOLUTION, -1), x, y)


def document(boundary: Boundary, sample: Sample) -> dict[str, Any]:
    """Return the boundary as JSON: `probability` is that of the second class, `predicted` the index of the likeliest.

    Both are lists of rows from the bottom up.
    """
    return {
        "features": sample.feature_names,
        "classes": sample.classes,
        "x": boundary.x,
        "y": boundary.y,
        "resolution": [RESOLUTION, RESOLUTION],
        "probability": np.round(boundary.probabilities[:, :, 1], 3).tolist(),
        "predicted": boundary.probabilities.argmax(axis=2).tolist(),
    }


def _extent(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin = _MARGIN * (high - low) or 1.0
    return low - margin, high + margin
