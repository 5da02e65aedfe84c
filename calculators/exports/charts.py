"""Charts as inline SVG, drawn from the numbers of the report: lines with their names beside them, no script.

Colours are CSS variables of the page, so that a chart follows light and dark; a line is told apart by its dash too.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

WIDTH: Final = 760
HEIGHT: Final = 340
_TOP: Final = 30
_BOTTOM: Final = 48
_LEFT: Final = 78
_CHARACTER: Final = 7.7
"""Mean width of a letter at the size of the labels, in units of the drawing; a Chinese one is twice as wide."""

DASH: Final = {"own": "", "api": "8 4", "alternative": "2 4"}
"""Class of a line and its dash."""


@dataclass(frozen=True)
class Line:
    """A line: class (own, api, alternative), its name and points."""

    kind: str
    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Mark:
    """A ringed point with a label."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class Chart:
    """A chart of lines; ``beyond`` greys all to its right, ``upright`` is a dashed line, both with a label."""

    name: str
    title: str
    description: str
    x_title: str
    y_title: str
    lines: Sequence[Line]
    marks: Sequence[Mark] = field(default=())
    beyond: tuple[float, str] | None = None
    upright: tuple[float, str] | None = None
    whole_x: bool = False


def short(value: float) -> str:
    """A number of an axis: '250 k', '-1.5 M', '20 B'."""
    for size, suffix in ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size * 0.9999:
            return f"{value / size:.6g}{suffix}".replace("-", "\u2212")
    return f"{value:.6g}".replace("-", "\u2212")


def ticks(low: float, high: float, most: int = 6, *, whole: bool = False) -> list[float]:
    """Round numbers from at or below ``low`` to at or above ``high``, at most ``most`` + 1 steps."""
    span = high - low if high > low else abs(high) or 1.0
    raw = span / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * k for k in (1, 2, 2.5, 5, 10) if power * k >= raw * (1 - 1e-9))
    if whole:
        step = max(next(float(k) for k in (1, 2, 3, 6, 12, 24, 48, 60, 120) if k >= raw or k == 120), 1.0)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [k * step for k in range(first, max(last, first + 1) + 1)]


def text_width(text: str) -> float:
    """Rough width of a label in units of the drawing."""
    return sum(1.75 * _CHARACTER if ord(c) > 0x2E80 else _CHARACTER for c in text)


def shorten(text: str, width: float) -> str:
    """A label that is at most ``width`` wide, cut at its end."""
    if text_width(text) <= width:
        return text
    while text and text_width(text) > width - _CHARACTER:
        text = text[:-1]
    return f"{text}…"


def _spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move places apart until they are ``gap`` from each other, in their order, inside low..high."""
    order = sorted(range(len(places)), key=lambda k: places[k])
    moved = [min(max(places[k], low), high) for k in order]
    for k in range(1, len(moved)):
        moved[k] = max(moved[k], moved[k - 1] + gap)
    over = max(moved[-1] - high, 0.0) if moved else 0.0
    for k in reversed(range(len(moved))):
        limit = moved[k + 1] - gap if k + 1 < len(moved) else moved[k] - over
        moved[k] = min(moved[k], limit)
    found = [0.0] * len(places)
    for k, place in zip(order, moved, strict=True):
        found[k] = place
    return found


def svg(chart: Chart) -> str:
    """The chart as an ``svg`` element with title and description for those who do not see it."""
    xs = [x for line in chart.lines for x in line.x]
    ys = [y for line in chart.lines for y in line.y] + [m.y for m in chart.marks]
    x_end = max([*xs, *(m.x for m in chart.marks)])
    x_ticks = [t for t in ticks(0.0, x_end, 8, whole=chart.whole_x) if t <= x_end * (1 + 1e-9)]
    y_ticks = ticks(min(0.0, *ys), max(0.0, *ys))
    room = min(max((text_width(line.label) for line in chart.lines), default=0.0) + 16, 264.0)
    right, bottom = WIDTH - room, HEIGHT - _BOTTOM

    def px(x: float) -> float:
        return _LEFT + (right - _LEFT) * x / (x_end or 1.0)

    def py(y: float) -> float:
        return bottom - (bottom - _TOP) * (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0])

    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="xMinYMid" role="img" '
        f'aria-labelledby="{chart.name}-title {chart.name}-desc">',
        f'<title id="{chart.name}-title">{escape(chart.title)}</title>',
        f'<desc id="{chart.name}-desc">{escape(chart.description)}</desc>',
    ]
    if chart.beyond is not None and chart.beyond[0] < x_end:
        start = px(chart.beyond[0])
        parts.append(
            f'<rect class="beyond" x="{start:.1f}" y="{_TOP}" width="{right - start:.1f}" height="{bottom - _TOP}"/>'
        )
        parts.append(_label(right - 4, _TOP + 14, shorten(chart.beyond[1], right - start - 8), "note", "end"))
    parts += _axes(chart, x_ticks, y_ticks, px, py, right, bottom)
    if chart.upright is not None and chart.upright[0] <= x_end:
        x = px(chart.upright[0])
        parts.append(f'<line class="upright" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>')
        anchor = "end" if x - _LEFT > text_width(chart.upright[1]) + 8 else "start"
        parts.append(_label(x + (-4 if anchor == "end" else 4), _TOP + 14, chart.upright[1], "note", anchor))
    ends = _spread([py(line.y[-1]) for line in chart.lines], 16.0, _TOP, bottom)
    for line, end in zip(chart.lines, ends, strict=True):
        points = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in zip(line.x, line.y, strict=True))
        dash = f' stroke-dasharray="{DASH[line.kind]}"' if DASH[line.kind] else ""
        parts.append(f'<polyline class="line {line.kind}" points="{points}"{dash}/>')
        parts.append(_label(right + 8, end + 4, shorten(line.label, room - 12), f"name {line.kind}", "start"))
    for mark in chart.marks:
        x, y = px(mark.x), py(mark.y)
        parts.append(f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>')
        anchor = "end" if x + text_width(mark.label) + 12 > right else "start"
        parts.append(_label(x + (-10 if anchor == "end" else 10), y + 18, mark.label, "told", anchor))
    return "".join([*parts, "</svg>"])


def _label(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _axes(
    chart: Chart,
    x_ticks: Sequence[float],
    y_ticks: Sequence[float],
    px: Callable[[float], float],
    py: Callable[[float], float],
    right: float,
    bottom: float,
) -> list[str]:
    parts = []
    for tick in y_ticks:
        kind = "zero" if tick == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{_LEFT}" x2="{right:.1f}" y1="{py(tick):.1f}" y2="{py(tick):.1f}"/>')
        parts.append(_label(_LEFT - 8, py(tick) + 4, short(tick), "tick", "end"))
    for tick in x_ticks:
        parts.append(f'<line class="grid" x1="{px(tick):.1f}" x2="{px(tick):.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(_label(px(tick), bottom + 18, short(tick), "tick", "middle"))
    parts.append(_label((_LEFT + right) / 2, HEIGHT - 8, chart.x_title, "axis", "middle"))
    parts.append(_label(4, _TOP - 15, chart.y_title, "axis", "start"))
    return parts
