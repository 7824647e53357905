"""Several curves in one picture: a line for each run, told apart by colour, dashes and a name."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from surfaces.lines.plots import Curve, Span

WIDTH: Final = 860
HEIGHT: Final = 420
LEFT, RIGHT, TOP, BOTTOM = 60, 270, 56, 48
"""Pixels of the picture, and of its margins; the right one holds the names."""

COLORS: Final = ("#57606a", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Told apart by colour-blind readers too (after Okabe and Ito)."""

INK, FAINT = "#1f2328", "#d0d7de"


@dataclass(frozen=True, slots=True)
class Line:
    """A curve with its name; dashed for a run that repeats another."""

    name: str
    curve: Curve
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Plane:
    """What is shown: epochs from left to right, values from the bottom up."""

    epochs: Span
    values: Span

    def place(self, epoch: float, value: float) -> str:
        """Return a point in pixels."""
        return f"{self.across(epoch):.1f},{self.up(value):.1f}"

    def across(self, epoch: float) -> float:
        """Return the pixels from the left."""
        return LEFT + self.epochs.share(epoch) * (WIDTH - LEFT - RIGHT)

    def up(self, value: float) -> float:
        """Return the pixels from the top."""
        return HEIGHT - BOTTOM - self.values.share(value) * (HEIGHT - TOP - BOTTOM)


def picture(lines: Sequence[Line], *, title: str, metric: str) -> str:
    """Return the curves as an SVG document; each is named beside its last point, and with its last value."""
    drawn = [line for line in lines if line.curve.finite]
    body = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            'role="img" font-family="sans-serif" font-size="13">'
        ),
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _label(LEFT, 28, title, size=16),
    ]
    if drawn:
        plane = _plane(drawn)
        body += _grid(plane, metric)
        body += [_path(plane, line, _color(number)) for number, line in enumerate(drawn)]
        body += _names(plane, drawn)
    return "\n".join([*body, "</svg>", ""])


def _plane(lines: Sequence[Line]) -> Plane:
    points = [point for line in lines for point in line.curve.finite]
    return Plane(Span.of([epoch for epoch, _ in points]), Span.of([value for _, value in points]))


def _grid(plane: Plane, metric: str) -> Iterator[str]:
    floor, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    for tick in _ticks(plane.values):
        y = plane.up(tick)
        yield f'<path d="M{LEFT} {y:.1f}H{end}" stroke="{FAINT}"/>'
        yield _label(LEFT - 8, y + 4, f"{tick:.3g}", anchor="end")
    for tick in _ticks(plane.epochs):
        yield _label(plane.across(tick), floor + 20, f"{tick:g}", anchor="middle")
    yield f'<path d="M{LEFT} {floor}H{end}" stroke="{INK}"/>'
    yield _label((LEFT + end) / 2, floor + 40, "epoch", anchor="middle")
    yield _label(LEFT, TOP - 10, metric)


def _path(plane: Plane, line: Line, color: str) -> str:
    pieces = ["M" + "L".join(plane.place(*point) for point in piece) for piece in line.curve.pieces()]
    dashes = ' stroke-dasharray="7 4"' if line.dashed else ""
    return f'<path d="{"".join(pieces)}" fill="none" stroke="{color}" stroke-width="2"{dashes}/>'


def _names(plane: Plane, lines: Sequence[Line]) -> Iterator[str]:
    """Yield the names beside where the curves end, moved apart where they would cover each other."""
    end = WIDTH - RIGHT
    ends = sorted((plane.up(line.curve.finite[-1][1]), number) for number, line in enumerate(lines))
    last = float("-inf")
    for y, number in ends:
        last = max(y, last + 20)
        line, color = lines[number], _color(number)
        yield f'<path d="M{end + 4} {y:.1f}L{end + 18} {last:.1f}" fill="none" stroke="{color}"/>'
        yield _label(end + 22, last + 4, f"{line.name}: {line.curve.finite[-1][1]:.3f}", color=color)


def _label(x: float, y: float, text: str, *, anchor: str = "start", size: int = 13, color: str = INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{color}">{escape(text)}</text>'
    )


def _color(number: int) -> str:
    return COLORS[number % len(COLORS)]


def _ticks(span: Span, *, most: int = 8) -> Iterator[float]:
    """Yield round numbers within the span, at most some `most` of them."""
    rough = span.high / most - span.low / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    yield from (number * step for number in range(math.ceil(span.low / step), math.floor(span.high / step) + 1))
