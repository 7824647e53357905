"""One run from its configuration to the files that it leaves."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from falsify.executors.trainer.boundary import document, survey
from falsify.executors.trainer.configuration import Configuration
from falsify.executors.trainer.data import Array, Sample, Scale, draw, scale, split
from falsify.executors.trainer.environment import environment
from falsify.executors.trainer.network import Network
from falsify.executors.trainer.picture import paint, png
from falsify.executors.trainer.table import read_table
from falsify.executors.trainer.training import Epoch, train


@dataclass(frozen=True, slots=True)
class Streams:
    """The four random streams of a seed. What is drawn from one changes nothing in the others."""

    data: np.random.Generator
    split: np.random.Generator
    initial: np.random.Generator
    order: np.random.Generator


@dataclass(frozen=True, slots=True)
class Problem:
    """The points to train on and those to validate on, and the scale of the former that the network sees both in."""

    training: Sample
    validation: Sample
    scale: Scale


class Experiment:
    """A network and the problem that it is to learn. Raises InvalidInputError for a table that cannot be read."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.streams = streams(configuration.seed)
        self.problem = pose(configuration, self.streams)
        sample = self.problem.training
        sizes = [sample.features.shape[1], *[configuration.hidden_width] * configuration.hidden_layers]
        self.network = Network([*sizes, len(sample.classes)], configuration.activation, self.streams.initial)

    def run(self) -> Iterator[Epoch]:
        """Train the network, yielding each epoch; see `train`."""
        return train(
            self.network,
            self._scaled(self.problem.training),
            self._scaled(self.problem.validation),
            self.configuration,
            self.streams.order,
        )

    def predict(self, features: Array) -> Array:
        """Return the probabilities (n, classes) of features (n, d) in the units of the data."""
        return self.network.probabilities(self.problem.scale.apply(features))

    def leave_environment(self, folder: Path) -> None:
        """Write down where the run takes place."""
        _write(folder / "environment.json", environment(self.configuration.seed))

    def leave_boundary(self, folder: Path) -> str:
        """Write the decision boundary as numbers and as a picture; return what was done, or why not."""
        validation = self.problem.validation
        features = validation.features.shape[1]
        if features != 2:
            return f"no boundary picture: a plane has 2 features, these points have {features}"
        boundary = survey(self.predict, validation)
        predicted = self.predict(validation.features).argmax(axis=1)
        _write(folder / "boundary.json", document(boundary, validation))
        (folder / "boundary.png").write_bytes(png(paint(boundary, validation, predicted)))
        return "boundary.png shows the validation points"

    def _scaled(self, sample: Sample) -> Sample:
        return replace(sample, features=self.problem.scale.apply(sample.features))


def streams(seed: int) -> Streams:
    """Return the random streams of a seed."""
    return Streams(*(np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)))


def pose(configuration: Configuration, random: Streams) -> Problem:
    """Return the problem: a sample drawn or read, and split. Raises InvalidInputError."""
    if configuration.dataset == "csv":
        sample = read_table(Path(configuration.csv_path), configuration.csv_label)
    else:
        sample = draw(configuration, random.data)
    training, validation = split(sample, configuration.validation_fraction, random.split)
    return Problem(training, validation, scale(training.features))


def line(epoch: Epoch) -> str:
    """Return an epoch as a line of JSON; what is no number is spelled NaN, as Python's json reads it."""
    return json.dumps(asdict(epoch)) + "\n"


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value) + "\n", encoding="utf-8")
