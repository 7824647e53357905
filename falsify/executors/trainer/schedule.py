"""The learning rate of every step of a run: up in a line while it warms up, then along a schedule."""

from math import cos, pi

_DROPS = (0.5, 0.75)  # how far a run has come when `step` divides the rate by ten


def rates(schedule: str, *, rate: float, warmup_fraction: float, steps: int) -> list[float]:
    """Return the learning rate of each step. The schedule begins where the warm-up, that fraction of them, ends."""
    warm = round(warmup_fraction * steps)
    rising = [rate * (number / warm) for number in range(1, warm + 1)]
    factor = _FACTORS[schedule]
    return rising + [rate * factor(number / (steps - warm)) for number in range(steps - warm)]


def _constant(_progress: float) -> float:
    return 1.0


def _cosine(progress: float) -> float:
    return 0.5 * (1.0 + cos(pi * progress))


def _step(progress: float) -> float:
    return 0.1 ** sum(progress >= drop for drop in _DROPS)


_FACTORS = {"constant": _constant, "cosine": _cosine, "step": _step}
