"""The points to learn from: drawn from a shape or read from a table, then split in two."""

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

from falsify.errors import InvalidInputError
from falsify.executors.trainer.configuration import Configuration

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_TURNS = 1.5
_RADIUS = 4.0  # so that the arms are about as far apart as the moons are, and the same noise is as hard
_INNER = 0.5


@dataclass(frozen=True, slots=True)
class Sample:
    """Points with their classes: `features` (n, d), and `labels` (n,), indices into `classes`."""

    features: Array
    labels: Labels
    feature_names: tuple[str, ...]
    classes: tuple[str, ...]

    def take(self, rows: NDArray[np.intp]) -> "Sample":
        """Return these rows, in this order."""
        return Sample(self.features[rows], self.labels[rows], self.feature_names, self.classes)


@dataclass(frozen=True, slots=True)
class Scale:
    """The mean and the spread of each feature, (d,) both."""

    mean: Array
    spread: Array

    def apply(self, features: Array) -> Array:
        """Return the features (n, d) in units of the spread from the mean."""
        return (features - self.mean) / self.spread


def draw(configuration: Configuration, random: np.random.Generator) -> Sample:
    """Return a sample of a shape, of two classes that differ in size by one at most."""
    second = configuration.points // 2
    first = configuration.points - second
    shape = _SHAPES[configuration.dataset]
    features = np.concatenate([shape(0, random.random(first)), shape(1, random.random(second))])
    features += random.normal(0.0, configuration.noise, features.shape)
    return Sample(features, np.repeat((0, 1), (first, second)), ("x", "y"), ("0", "1"))


def split(sample: Sample, fraction: float, random: np.random.Generator) -> tuple[Sample, Sample]:
    """Return the rows to train on and the rows to validate on, the latter the fraction of all, at random.

    Raises InvalidInputError if either would be empty.
    """
    rows = random.permutation(len(sample.labels))
    held = round(fraction * len(rows))
    if not 0 < held < len(rows):
        raise InvalidInputError(
            f"validation_fraction is {fraction:g}, which of {len(rows)} rows leaves nothing to train or validate on",
            hint="it must leave at least one row for each",
        )
    return sample.take(rows[held:]), sample.take(rows[:held])


def scale(features: Array) -> Scale:
    """Return the scale of the features; one that never changes is left as it is."""
    spread = features.std(axis=0)
    return Scale(features.mean(axis=0), np.where(spread > 0.0, spread, 1.0))


def _moon(label: int, along: Array) -> Array:
    angle = pi * along
    if label:
        return np.column_stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)])
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _spiral(label: int, along: Array) -> Array:
    # The square root spreads the points evenly over the arm, which is longer outside.
    radius = _RADIUS * np.sqrt(0.02 + 0.98 * along)
    angle = 2.0 * pi * _TURNS * radius / _RADIUS + pi * label
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _circle(label: int, along: Array) -> Array:
    angle = 2.0 * pi * along
    return (_INNER if label else 1.0) * np.column_stack([np.cos(angle), np.sin(angle)])


_SHAPES = {"moons": _moon, "spirals": _spiral, "circles": _circle}
