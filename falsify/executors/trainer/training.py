"""The training of a network, epoch by epoch."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np

from falsify.executors.trainer.configuration import Configuration
from falsify.executors.trainer.data import Sample
from falsify.executors.trainer.network import Network
from falsify.executors.trainer.optimizer import OPTIMIZERS
from falsify.executors.trainer.schedule import rates


@dataclass(frozen=True, slots=True)
class Epoch:
    """How good the network is after so many passes over its training points; `learning_rate` is that of the last step.

    The losses are cross-entropies, without what `l2` adds to what is minimised.
    """

    epoch: int
    train_loss: float
    val_loss: float
    train_acc: float
    val_acc: float
    learning_rate: float

    @property
    def finite(self) -> bool:
        """Whether both losses are numbers."""
        return isfinite(self.train_loss) and isfinite(self.val_loss)


def train(
    network: Network,
    training: Sample,
    validation: Sample,
    configuration: Configuration,
    order: np.random.Generator,
) -> Iterator[Epoch]:
    """Train the network and yield each epoch; the first whose loss is not finite is the last.

    Features are taken as they are. The last epoch is the result, not the best one, which the validation points would
    have chosen.
    """
    optimizer = OPTIMIZERS[configuration.optimizer](network.parameters)
    size = configuration.batch_size
    batches = -(-len(training.labels) // size)
    schedule = rates(
        configuration.schedule,
        rate=configuration.learning_rate,
        warmup_fraction=configuration.warmup_fraction,
        steps=batches * configuration.epochs,
    )
    for number in range(configuration.epochs):
        shuffled = training.take(order.permutation(len(training.labels)))
        steps = schedule[number * batches : (number + 1) * batches]
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges is reported, not warned of
            for batch, rate in enumerate(steps):
                rows = slice(batch * size, (batch + 1) * size)
                network.differentiate(shuffled.features[rows], shuffled.labels[rows], l2=configuration.l2)
                optimizer.step(network.gradient, rate)
            seen = network.quality(training.features, training.labels)
            held = network.quality(validation.features, validation.labels)
        epoch = Epoch(number + 1, seen.loss, held.loss, seen.accuracy, held.accuracy, steps[-1])
        yield epoch
        if not epoch.finite:
            return
