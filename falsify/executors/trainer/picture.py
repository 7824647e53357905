"""The picture of a decision boundary, and the few lines that it takes to write a PNG."""

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from falsify.executors.trainer.boundary import Boundary
from falsify.executors.trainer.data import Array, Sample

Pixels = NDArray[np.uint8]

SIZE = 240
_COLOURS = np.array(  # Okabe and Ito's, which differ in lightness as well as in hue
    [(0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 228, 66)],
    dtype=np.float64,
)
_PALE = 0.55  # how much white is in the ground, so that points of the same colour stand out from it
_DOT, _RIM = 2.6, 3.9  # radii in pixels


def paint(boundary: Boundary, points: Sample, predicted: NDArray[np.int64]) -> Pixels:
    """Return an image (size, size, 3): the ground by probability, the edge between classes dark, and the points.

    A point that is told right has a white rim, one that is told wrong a black one and a black heart.
    """
    probabilities = _enlarged(boundary.probabilities)
    colours = _COLOURS[np.arange(probabilities.shape[2]) % len(_COLOURS)]
    canvas = (1.0 - _PALE) * (probabilities @ colours) + _PALE * 255.0
    canvas[_edge(probabilities.argmax(axis=2))] = 70.0
    column = _pixel(points.features[:, 0], boundary.x)
    row = _pixel(points.features[:, 1], boundary.y)
    for at, label in enumerate(points.labels):
        right = predicted[at] == label
        _dot(canvas, row[at], column[at], _RIM, 255.0 if right else 0.0)
        _dot(canvas, row[at], column[at], _DOT, colours[label])
        if not right:
            _dot(canvas, row[at], column[at], 1.0, 0.0)
    return np.round(canvas[::-1]).astype(np.uint8)  # an image begins at its top


def png(pixels: Pixels) -> bytes:
    """Return an image (height, width, 3) as a PNG of 8 bits a colour."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in chunks)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _enlarged(grid: Array) -> Array:
    """Return the grid (n, n, classes) at the size of the picture, linear between its values."""
    place = np.linspace(0.0, len(grid) - 1.0, SIZE)
    below = np.minimum(place.astype(np.int64), len(grid) - 2)
    share = (place - below)[:, None, None]
    for _ in range(2):  # along the rows, then along the columns
        grid = ((1.0 - share) * grid[below] + share * grid[below + 1]).swapaxes(0, 1)
    return grid


def _edge(winner: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the pixels whose neighbour above or to the right belongs to another class."""
    edge = np.zeros(winner.shape, dtype=np.bool_)
    edge[:-1] |= winner[:-1] != winner[1:]
    edge[:, :-1] |= winner[:, :-1] != winner[:, 1:]
    return edge


def _pixel(values: Array, extent: tuple[float, float]) -> Array:
    low, high = extent
    return (values - low) / (high - low) * (SIZE - 1)


def _dot(canvas: Array, row: float, column: float, radius: float, colour: Any) -> None:
    top, left = (max(0, int(centre - radius)) for centre in (row, column))
    bottom, right = (min(SIZE, int(centre + radius) + 2) for centre in (row, column))
    down, across = np.ogrid[top:bottom, left:right]
    canvas[top:bottom, left:right][(down - row) ** 2 + (across - column) ** 2 <= radius * radius] = colour
