"""A multi-layer perceptron with a softmax at its end: what it says of points, and how to make it say better.

All parameters lie in one flat array, of which the layers' weights and biases are views: an optimizer is then a few
operations on one array.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, nan, sqrt

import numpy as np

from falsify.executors.trainer.activation import ACTIVATIONS, GAINS
from falsify.executors.trainer.data import Array, Labels

_CHUNK = 4096  # rows at a time where no gradient is asked for: it bounds the memory


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights (inputs, outputs) and bias (outputs,)."""

    weights: Array
    bias: Array


@dataclass(frozen=True, slots=True)
class Quality:
    """Mean cross-entropy (nats) and the share of points told right; NaN both if the loss is not finite."""

    loss: float
    accuracy: float


class Network:
    """A network of `sizes` (features, hidden ..., classes). `parameters` and `gradient` are flat, (p,)."""

    def __init__(self, sizes: Sequence[int], activation: str, random: np.random.Generator) -> None:
        self.activation = ACTIVATIONS[activation]
        count = sum((inputs + 1) * outputs for inputs, outputs in pairwise(sizes))
        self.parameters = np.zeros(count)
        self.gradient = np.zeros(count)
        self.layers = _views(self.parameters, sizes)
        self._slopes = _views(self.gradient, sizes)
        for layer in self.layers:
            inputs = len(layer.weights)
            layer.weights[:] = random.normal(0.0, sqrt(GAINS[activation] / inputs), layer.weights.shape)

    def probabilities(self, features: Array) -> Array:
        """Return the probability of each class, (n, classes), for features (n, d)."""
        return _softmax(self._scores(features))

    def differentiate(self, features: Array, labels: Labels, *, l2: float) -> None:
        """Set `gradient` to that of the mean cross-entropy of these points plus l2/2 of the squared weights."""
        inputs, slopes = [features], []
        for layer in self.layers[:-1]:
            value, slope = self.activation(inputs[-1] @ layer.weights + layer.bias)
            inputs.append(value)
            slopes.append(slope)
        last = self.layers[-1]
        delta = _softmax(inputs[-1] @ last.weights + last.bias)
        delta[np.arange(len(labels)), labels] -= 1.0
        delta /= len(labels)
        for at in range(len(self.layers) - 1, -1, -1):
            np.matmul(inputs[at].T, delta, out=self._slopes[at].weights)
            delta.sum(axis=0, out=self._slopes[at].bias)
            if l2:
                self._slopes[at].weights[:] += l2 * self.layers[at].weights
            if at:
                delta = (delta @ self.layers[at].weights.T) * slopes[at - 1]()

    def quality(self, features: Array, labels: Labels) -> Quality:
        """Return how well it tells these points apart."""
        scores = self._scores(features)
        scores -= scores.max(axis=1, keepdims=True)
        chosen = scores[np.arange(len(labels)), labels]
        loss = float(np.mean(np.log(np.exp(scores).sum(axis=1)) - chosen))
        if not isfinite(loss):
            return Quality(nan, nan)
        return Quality(loss, float(np.mean(scores.argmax(axis=1) == labels)))

    def _scores(self, features: Array) -> Array:
        return np.concatenate([self._forward(features[at : at + _CHUNK]) for at in range(0, len(features), _CHUNK)])

    def _forward(self, value: Array) -> Array:
        for layer in self.layers[:-1]:
            value, _ = self.activation(value @ layer.weights + layer.bias)
        last = self.layers[-1]
        return value @ last.weights + last.bias


def _views(flat: Array, sizes: Sequence[int]) -> list[Layer]:
    layers, at = [], 0
    for inputs, outputs in pairwise(sizes):
        end = at + inputs * outputs
        layers.append(Layer(flat[at:end].reshape(inputs, outputs), flat[end : end + outputs]))
        at = end + outputs
    return layers


def _softmax(scores: Array) -> Array:
    """Turn scores (n, classes) into probabilities, in place."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores
