"""The activations: each returns its value and a function that returns the slope there, for the way back."""

from collections.abc import Callable

import numpy as np

from falsify.executors.trainer.data import Array

Activation = Callable[[Array], tuple[Array, Callable[[], Array]]]

_GELU = 0.7978845608028654  # sqrt(2 / pi)
_CUBIC = 0.044715


def tanh(z: Array) -> tuple[Array, Callable[[], Array]]:
    """Hyperbolic tangent."""
    value = np.tanh(z)
    return value, lambda: 1.0 - value * value


def relu(z: Array) -> tuple[Array, Callable[[], Array]]:
    """Rectifier; its slope at zero is zero."""
    value = np.maximum(z, 0.0)
    return value, lambda: (z > 0.0).astype(np.float64)


def gelu(z: Array) -> tuple[Array, Callable[[], Array]]:
    """Gaussian error linear unit, in the approximation by a hyperbolic tangent."""
    square = z * z
    bent = np.tanh(_GELU * (z + _CUBIC * (square * z)))  # z**3 would cost more than all the rest

    def slope() -> Array:
        return 0.5 * (1.0 + bent + z * (1.0 - bent * bent) * (_GELU + (3.0 * _GELU * _CUBIC) * square))

    return 0.5 * z * (1.0 + bent), slope


def sigmoid(z: Array) -> tuple[Array, Callable[[], Array]]:
    """Logistic function, by the hyperbolic tangent, which does not overflow."""
    value = 0.5 + 0.5 * np.tanh(0.5 * z)
    return value, lambda: value * (1.0 - value)


ACTIVATIONS: dict[str, Activation] = {"tanh": tanh, "relu": relu, "gelu": gelu, "sigmoid": sigmoid}
GAINS = {"tanh": 1.0, "relu": 2.0, "gelu": 2.0, "sigmoid": 1.0}
"""The variance of a weight at the start, in units of one over its inputs: Glorot's and He's."""
