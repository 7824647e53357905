"""The optimizers: each moves a flat array of parameters against its gradient, in place."""

from collections.abc import Callable
from math import sqrt
from typing import Protocol

import numpy as np

from falsify.executors.trainer.data import Array

_MOMENTUM = 0.9
_FIRST, _SECOND, _EPSILON = 0.9, 0.999, 1e-8  # as in Kingma and Ba, 2015


class Optimizer(Protocol):
    """What remembers how the parameters moved."""

    def step(self, gradient: Array, rate: float) -> None:
        """Move the parameters once."""
        ...


class Sgd:
    """Steepest descent."""

    def __init__(self, parameters: Array) -> None:
        self.parameters = parameters

    def step(self, gradient: Array, rate: float) -> None:
        """Move the parameters once."""
        self.parameters -= rate * gradient


class Momentum:
    """Descent with a velocity (the heavy ball)."""

    def __init__(self, parameters: Array) -> None:
        self.parameters = parameters
        self.velocity = np.zeros_like(parameters)

    def step(self, gradient: Array, rate: float) -> None:
        """Move the parameters once."""
        self.velocity *= _MOMENTUM
        self.velocity += gradient
        self.parameters -= rate * self.velocity


class Adam:
    """Descent by the running mean of the gradient over that of its square's root, both without their bias."""

    def __init__(self, parameters: Array) -> None:
        self.parameters = parameters
        self.mean = np.zeros_like(parameters)
        self.square = np.zeros_like(parameters)
        self.steps = 0

    def step(self, gradient: Array, rate: float) -> None:
        """Move the parameters once."""
        self.steps += 1
        self.mean += (1.0 - _FIRST) * (gradient - self.mean)
        self.square += (1.0 - _SECOND) * (gradient * gradient - self.square)
        unbias = sqrt(1.0 - _SECOND**self.steps)
        root = np.sqrt(self.square)
        root += _EPSILON * unbias
        np.divide(self.mean, root, out=root)
        root *= rate * unbias / (1.0 - _FIRST**self.steps)
        self.parameters -= root


OPTIMIZERS: dict[str, Callable[[Array], Optimizer]] = {"adam": Adam, "sgd": Sgd, "momentum": Momentum}
