"""Curves of what runs measured: in dots for a terminal, and as an SVG picture."""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from xml.sax.saxutils import escape

from falsify.ports import Metrics

Dot = tuple[int, int]
"""Column and row, counted from the upper left."""

_BRAILLE: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each of the eight dots of a braille character, by row and column."""

_BLANK: Final = 0x2800

_NARROWEST: Final = 1e-290
"""What is closer together cannot be divided into a scale."""


@dataclass(frozen=True, slots=True)
class Curve:
    """How a metric went: its value at each epoch, None where it was not a finite number."""

    name: str
    points: tuple[tuple[float, float | None], ...]

    @property
    def finite(self) -> list[tuple[float, float]]:
        """The points that can be drawn."""
        return [(x, y) for x, y in self.points if y is not None]

    def pieces(self) -> list[list[tuple[float, float]]]:
        """Return the points that hang together: a gap is where a value was no finite number."""
        pieces: list[list[tuple[float, float]]] = [[]]
        for x, y in self.points:
            if y is not None:
                pieces[-1].append((x, y))
            elif pieces[-1]:
                pieces.append([])
        return [piece for piece in pieces if piece]


@dataclass(frozen=True, slots=True)
class Span:
    """What an axis shows."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Span":
        """Return the span of the values, widened where they are all the same."""
        low, high = min(values), max(values)
        if high - low > _NARROWEST:
            return cls(low, high)
        margin = abs(low) / 10 if abs(low) > _NARROWEST else 1.0
        return cls(max(low - margin, -sys.float_info.max), min(high + margin, sys.float_info.max))

    def share(self, value: float) -> float:
        """Return where the value lies, from 0 to 1."""
        # Halved first: the distance between two finite numbers need not be one.
        return min(1.0, max(0.0, (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)))


def curve(lines: Sequence[Metrics], name: str) -> Curve:
    """Return how a metric went over the lines that have it; by their epochs, or by their number where they say none."""
    told = [line for line in lines if name in line]
    epochs = [line.get("epoch") for line in told]
    dated = [float(epoch) for epoch in epochs if epoch is not None]
    places = dated if len(dated) == len(told) and dated == sorted(set(dated)) else range(1, len(told) + 1)
    return Curve(name, tuple((float(x), line[name]) for x, line in zip(places, told, strict=True)))


def terminal(drawn: Curve, *, width: int = 60, height: int = 8, unicode: bool = True) -> Iterator[str]:
    """Yield a curve as lines of text, `width` columns of `height` rows beside the scale; nothing if it has no points.

    In braille characters, which have 2 by 4 dots each, or in asterisks.
    """
    if not drawn.finite:
        return
    across, up = (2, 4) if unicode else (1, 1)
    spans = _spans(drawn)
    dots = _dots(drawn, spans, width * across, height * up)
    rows = _braille(dots, width, height) if unicode else _asterisks(dots, width, height)
    top, bottom = f"{spans[1].high:.4g}", f"{spans[1].low:.4g}"
    gutter = max(len(top), len(bottom))
    side, corner, floor = ("┤", "└", "─") if unicode else ("|", "+", "-")
    for number, row in enumerate(rows):
        label = top if number == 0 else bottom if number == height - 1 else ""
        yield f"{label:>{gutter}} {side}{row}".rstrip()
    yield f"{'':>{gutter}} {corner}{floor * width}"
    left, right = f"{spans[0].low:.6g}", f"{spans[0].high:.6g}"
    yield f"{'':>{gutter}}  {left}{drawn.name:^{max(len(drawn.name), width - len(left) - len(right))}}{right}"


def svg(drawn: Curve, *, title: str, width: int = 640, height: int = 320) -> str:
    """Return a curve as an SVG document of `width` by `height` pixels; without points it says that there are none."""
    left, right, top, bottom = 64, 16, 36, 40
    size = f'width="{width}" height="{height}"'
    body: list[str] = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size} role="img" font-size="12">',
        "<style>text { font-family: sans-serif }</style>",
        f"<title>{_text(title)}</title>",
        f'<rect {size} fill="#ffffff"/>',
        f'<text x="{left}" y="22" font-size="14" fill="#1f2328">{_text(title)}</text>',
    ]
    if drawn.finite:
        body += _plot(drawn, (left, width - right), (height - bottom, top))
    else:
        body.append(f'<text x="{left}" y="{height // 2}" fill="#57606a">no finite value of {_text(drawn.name)}</text>')
    return "\n".join([*body, "</svg>", ""])


def _spans(drawn: Curve) -> tuple[Span, Span]:
    """Return what the two axes show: the epochs of all points, and the values of those that have one."""
    return Span.of([x for x, _ in drawn.points]), Span.of([y for _, y in drawn.finite])


# --- dots ----------------------------------------------------------------------------------------------------


def _dots(drawn: Curve, spans: tuple[Span, Span], columns: int, rows: int) -> set[Dot]:
    """Return which dots of a raster the curve passes through."""
    dots: set[Dot] = set()
    for piece in drawn.pieces():
        places = [
            (round(spans[0].share(x) * (columns - 1)), round((1 - spans[1].share(y)) * (rows - 1))) for x, y in piece
        ]
        dots.add(places[0])
        for start, end in pairwise(places):
            dots.update(_between(start, end))
    return dots


def _between(start: Dot, end: Dot) -> Iterator[Dot]:
    """Yield the dots of a straight line."""
    across, down = end[0] - start[0], end[1] - start[1]
    steps = max(abs(across), abs(down), 1)
    for step in range(steps + 1):
        yield start[0] + round(across * step / steps), start[1] + round(down * step / steps)


def _braille(dots: set[Dot], width: int, height: int) -> list[str]:
    cells = [[_BLANK] * width for _ in range(height)]
    for column, row in dots:
        cells[row // 4][column // 2] |= _BRAILLE[row % 4][column % 2]
    # A blank that is a space: some fonts show the dots of an empty cell.
    return ["".join(" " if cell == _BLANK else chr(cell) for cell in line) for line in cells]


def _asterisks(dots: set[Dot], width: int, height: int) -> list[str]:
    return ["".join("*" if (column, row) in dots else " " for column in range(width)) for row in range(height)]


# --- vectors -------------------------------------------------------------------------------------------------


def _plot(drawn: Curve, across: tuple[int, int], up: tuple[int, int]) -> Iterator[str]:
    """Yield axes and curve; `across` and `up` are the pixels of the least and the greatest value."""
    spans = _spans(drawn)

    def place(x: float, y: float) -> tuple[str, str]:
        return _pixel(spans[0].share(x), across), _pixel(spans[1].share(y), up)

    for tick in _ticks(spans[1]):
        y = _pixel(spans[1].share(tick), up)
        yield f'<line x1="{across[0]}" y1="{y}" x2="{across[1]}" y2="{y}" stroke="#d0d7de"/>'
        yield f'<text x="{across[0] - 8}" y="{y}" dy="4" text-anchor="end" fill="#57606a">{tick:.6g}</text>'
    for tick in _ticks(spans[0]):
        x = _pixel(spans[0].share(tick), across)
        yield f'<text x="{x}" y="{up[0] + 18}" text-anchor="middle" fill="#57606a">{tick:.6g}</text>'
    yield f'<line x1="{across[0]}" y1="{up[0]}" x2="{across[1]}" y2="{up[0]}" stroke="#57606a"/>'
    yield f'<text x="{across[1]}" y="{up[0] + 34}" text-anchor="end" fill="#57606a">{_text(drawn.name)} by epoch</text>'
    for piece in drawn.pieces():
        places = [place(x, y) for x, y in piece]
        if len(places) == 1:
            yield f'<circle cx="{places[0][0]}" cy="{places[0][1]}" r="3" fill="#0969da"/>'
        else:
            path = " ".join(f"{x},{y}" for x, y in places)
            yield f'<polyline points="{path}" fill="none" stroke="#0969da" stroke-width="2"/>'


def _pixel(share: float, pixels: tuple[int, int]) -> str:
    return f"{pixels[0] + share * (pixels[1] - pixels[0]):.1f}"


def _ticks(span: Span, *, about: int = 5) -> list[float]:
    """Return round numbers within the span, some `about` of them."""
    rough = span.high / about - span.low / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first, last = math.ceil(span.low / step), math.floor(span.high / step)
    return [number * step for number in range(first, last + 1)]


def _text(text: str) -> str:
    """Return a text for XML, without the characters that it cannot hold."""
    return escape("".join(each if each.isprintable() else " " for each in text))
