"""Arrays -> plotly charts. No Streamlit, no arithmetic on money.

Colours have one meaning everywhere (after Okabe and Ito, told apart by colour-blind readers, by dash as well): own
machines blue, today's API vermilion, serverless alternative green, uncertainty a tint of blue, break-even and other
marks ink. All stand out on the light and on the dark background. Titles are written above the chart by the page, where
they wrap. The look is set here, not by Streamlit's theme for charts: with it a chart with names and a band took the
browser 200 to 250 ms instead of 110 to 150. Words without a colour of their own take the page's (STYLE).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from plotly.basedatatypes import BaseFigure

OWN = "#2C7FB8"
API = "#CB5513"
ALTERNATIVE = "#128A68"
OTHER = "#8C6BB1"
INK = "#77838F"
BAND = "rgba(44,127,184,0.20)"
GREY = "rgba(119,131,143,0.16)"
FREE = "rgba(119,131,143,0.30)"
PARTS = {"weights": OWN, "cache": ALTERNATIVE, "state": OTHER, "overhead": INK, "free": FREE}
"""Parts of an accelerator's memory."""
LAYOUTS = ((OWN, "dash"), (OTHER, "dash"), (OWN, "solid"), (OTHER, "solid"))
"""Colour for the cache's precision, dash for the layout."""
DASH = {OWN: "solid", API: "dash", ALTERNATIVE: "dot", OTHER: "dashdot"}
SYMBOL = {
    "measured": "circle",
    "interpolated": "diamond",
    "modelled": "square",
    "class": "triangle-up",
    "uncalibrated": "x",
    "user": "star",
    "none": "circle-open",
}
"""Shape of each evidence level, the same on every chart."""

WORDS = "#6A7580"
"""Colour of words that have none of their own; the browser puts the page's text colour in its place (STYLE)."""
STYLE = """<style>
.stPlotlyChart text[style*="rgb(106, 117, 128)"] {fill: currentColor !important}
@media (max-width: 640px) {.stMarkdown th, .stMarkdown td {padding: 0.25rem 0.3rem !important}}
</style>"""
"""What no setting of the theme gives: words of charts in the page's colour, narrow cells on a phone."""
GRID = "rgba(119,131,143,0.22)"
CONFIG: dict[str, Any] = {"displaylogo": False, "plotlyServerURL": "", "displayModeBar": False}
HEIGHT = 300


class Chart:
    """A chart as plotly's own plain data: traces and layout.

    plotly's Figure checks and copies each property as it is set, which took a third of a rerun; here that is left to
    the tests, which check the charts of all pages with Figure.
    """

    def __init__(self, layout: Mapping[str, Any], data: Sequence[Mapping[str, Any]] = ()) -> None:
        self.data: list[dict[str, Any]] = [_plain(trace) for trace in data]
        self.layout: dict[str, Any] = _plain(layout)

    def add_trace(self, trace: Mapping[str, Any]) -> None:
        """Add a trace; arrays become lists."""
        self.data.append(_plain(trace))

    def add_shape(self, **shape: Any) -> None:
        """Add a line or a rectangle."""
        self.layout.setdefault("shapes", []).append(shape)

    def add_annotation(self, **words: Any) -> None:
        """Add words, without an arrow."""
        self.layout.setdefault("annotations", []).append({"showarrow": False, **words})

    def update_layout(self, **changes: Any) -> None:
        """Change the layout; parts that are mappings are merged."""
        _merge(self.layout, _plain(changes))

    def update_xaxes(self, **changes: Any) -> None:
        """Change the x axis."""
        self.update_layout(xaxis=changes)

    def update_yaxes(self, **changes: Any) -> None:
        """Change the y axis."""
        self.update_layout(yaxis=changes)

    def figure(self) -> "Ready":
        """For Streamlit, which takes a figure as it is and checks plain data once more."""
        return Ready(self)


class Ready(BaseFigure):  # type: ignore[misc]  # plotly has no types
    """What Streamlit and plotly's writer ask of a figure: its data, as they are."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart

    def to_dict(self) -> dict[str, Any]:
        """Traces and layout."""
        return {"data": self._chart.data, "layout": self._chart.layout}


def _plain(value: Any) -> Any:
    """Arrays as lists, all the way down; a gap (no finite number) as None."""
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            value = np.where(np.isfinite(value), value.astype(object), None)
        return value.tolist()
    if isinstance(value, list | tuple):
        if all(type(v) is float for v in value):
            return [v if math.isfinite(v) else None for v in value]
        return [v if type(v) is str else _plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _merge(into: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def figure(x_title: str, y_title: str, *, height: int = HEIGHT, zero: bool = True) -> Chart:
    """An empty chart with titled axes, thin grid and no legend: lines are labelled directly."""
    axis = {"gridcolor": GRID, "zerolinecolor": INK, "zerolinewidth": 1}
    return Chart(
        {
            "height": height,
            "datarevision": 1,
            "showlegend": False,
            "margin": {"l": 72, "r": 12, "t": 10, "b": 46},
            "font": {"family": '"Source Sans", sans-serif', "size": 13, "color": WORDS},
            "colorway": [OWN, API, ALTERNATIVE, OTHER, INK],
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "hovermode": "x unified",
            "hoverlabel": {"bgcolor": "#1C252F", "bordercolor": INK, "font": {"color": "#FFFFFF", "size": 13}},
            "xaxis": {"title": {"text": x_title, "font": {"size": 13}}, **axis, "showgrid": False, "zeroline": False},
            "yaxis": {
                "title": {"text": y_title, "font": {"size": 13}},
                "rangemode": "tozero" if zero else "normal",
                "zeroline": True,
                **axis,
            },
        }
    )


def line(
    fig: Chart,
    x: Sequence[float],
    y: Sequence[float],
    colour: str,
    label: str,
    *,
    hover: str = "%{y:,.0f}",
    at: int | None = -1,
    position: str = "top left",
    width: float = 2.5,
    dash: str | None = None,
) -> None:
    """Add a line with its name written at point ``at`` (None: no name)."""
    fig.add_trace(
        {
            "type": "scatter",
            "x": x,
            "y": y,
            "mode": "lines",
            "name": label,
            "line": {"color": colour, "width": width, "dash": dash or DASH.get(colour, "solid")},
            "hovertemplate": f"{hover}<extra>{label}</extra>",
            "cliponaxis": False,
        }
    )
    if at is not None and len(x):
        # a trace of one point: with a text for each point of the line the browser makes as many empty words
        fig.add_trace(
            {
                "type": "scatter",
                "x": [x[at]],
                "y": [y[at]],
                "mode": "text",
                "text": [label],
                "textposition": position,
                "textfont": {"color": colour, "size": 13},
                "hoverinfo": "skip",
                "showlegend": False,
                "cliponaxis": False,
            }
        )


def fan(
    fig: Chart, x: Sequence[float], lines: Sequence[tuple[Sequence[float], str, str]], hover: str = "%{y:,.0f}"
) -> None:
    """Lines from one start, each named beside its own stretch: the upper one above it, the lower one below it."""
    ordered = sorted(lines, key=lambda entry: entry[0][-1], reverse=True)
    for place, (y, colour, label) in enumerate(ordered):
        rising = y[-1] >= y[0]
        above = place == 0
        position = ("top " if above else "bottom ") + ("left" if above == rising else "right")
        line(fig, x, y, colour, label, hover=hover, at=len(x) * (7 if above else 4) // 10, position=position)


def band(fig: Chart, x: Sequence[float], low: Sequence[float], high: Sequence[float], label: str) -> None:
    """Shade what lies between two lines: an uncertainty."""
    fig.add_trace(
        {
            "type": "scatter",
            "x": [*x, *reversed(x)],
            "y": [*high, *reversed(low)],
            "fill": "toself",
            "fillcolor": BAND,
            "line": {"width": 0},
            "hoverinfo": "skip",
            "name": label,
            "mode": "lines",
        }
    )


def mark(fig: Chart, x: float, y: float, label: str, *, colour: str = INK, position: str = "top right") -> None:
    """A ringed dot with a label: a break-even, a payback, the chosen scenario."""
    fig.add_trace(
        {
            "type": "scatter",
            "x": [x],
            "y": [y],
            "mode": "markers+text",
            "text": [label],
            "textposition": position,
            "textfont": {"size": 13},
            "marker": {"size": 11, "color": "rgba(0,0,0,0)", "line": {"color": colour, "width": 2.5}},
            "hovertemplate": f"{label}<extra></extra>",
            "showlegend": False,
            "cliponaxis": False,
        }
    )


def label_places(
    x: Sequence[float], y: Sequence[float], labels: Sequence[str], width: float = 820, height: float = 280
) -> list[str]:
    """Where to write each name beside its dot so that names do not cover one another; logarithmic axes.

    Args:
        x: positive values.
        y: positive values.
        labels: names.
        width: of the plot in pixels, as it mostly is.
        height: likewise.
    """
    if not x:
        return []
    across, up = ([math.log(v) for v in values] for values in (x, y))
    places: list[str] = []
    taken: list[tuple[float, float, float, float]] = []

    def pixel(values: Sequence[float], value: float, size: float) -> float:
        span = max(values) - min(values)
        return (value - min(values)) / span * size if span > 0 else size / 2

    dots = [(pixel(across, a, width), pixel(up, b, height)) for a, b in zip(across, up, strict=True)]
    taken += [(px - 8, py - 8, px + 8, py + 8) for px, py in dots]
    for (px, py), label in zip(dots, labels, strict=True):
        wide = 6.6 * len(label)
        boxes = {
            "middle right": (px + 9, py - 8, px + 9 + wide, py + 8),
            "middle left": (px - 9 - wide, py - 8, px - 9, py + 8),
            "top center": (px - wide / 2, py + 9, px + wide / 2, py + 25),
            "bottom center": (px - wide / 2, py - 25, px + wide / 2, py - 9),
            "top right": (px + 4, py + 9, px + 4 + wide, py + 25),
            "bottom right": (px + 4, py - 25, px + 4 + wide, py - 9),
            "top left": (px - 4 - wide, py + 9, px - 4, py + 25),
            "bottom left": (px - 4 - wide, py - 25, px - 4, py - 9),
        }
        covered = {
            place: sum(b[0] < o[2] and o[0] < b[2] and b[1] < o[3] and o[1] < b[3] for o in taken)
            + (b[0] < -30)
            + (b[2] > width + 30)
            for place, b in boxes.items()
        }
        place = min(covered, key=lambda name: covered[name])
        places.append(place)
        taken.append(boxes[place])
    return places


def level_names(
    x: Sequence[float], y: Sequence[float], z: npt.NDArray[np.float64], levels: Mapping[str, float]
) -> dict[str, Any]:
    """The names of a contour's lines, each written above its line and further right than the one before.

    plotly's own names cut the line open and lie along it; to find the place it walks along every line, 45 ms a chart.

    Args:
        x: of the columns of ``z``.
        y: of its rows, rising.
        z: finite values, shape (len(y), len(x)).
        levels: start, end and size, as plotly's contours take them.
    """
    written: list[tuple[float, float, str]] = []
    columns = np.arange(len(x))
    heights = np.asarray(y, dtype=float)
    lines = np.arange(levels["start"], levels["end"] + 0.5 * levels["size"], levels["size"])
    for level, wanted in zip(lines, np.linspace(0.35, 0.88, lines.size), strict=True):
        above = z >= level
        crosses = above[:-1] != above[1:]
        row = np.argmax(crosses, axis=0)
        low, high = z[row, columns], z[np.minimum(row + 1, len(y) - 1), columns]
        part = np.divide(level - low, high - low, out=np.zeros(len(x)), where=high != low)
        place = heights[row] + part * (heights[np.minimum(row + 1, len(y) - 1)] - heights[row])
        inside = crosses.any(axis=0) & (place < heights[0] + 0.92 * (heights[-1] - heights[0]))
        inside &= (columns > 0.04 * len(x)) & (columns < 0.94 * len(x))
        if inside.any():
            at = int(np.argmin(np.where(inside, np.abs(columns - wanted * len(x)), np.inf)))
            written.append((float(x[at]), float(place[at]), f"{level:,.6g}"))
    return {
        "type": "scatter",
        "x": [a for a, _, _ in written],
        "y": [b for _, b, _ in written],
        "mode": "text",
        "text": [name for _, _, name in written],
        "textposition": "top center",
        "textfont": {"size": 12, "color": "#12181F"},
        "hoverinfo": "skip",
    }


def points(
    fig: Chart,
    x: Sequence[float | None],
    y: Sequence[float | None],
    labels: Sequence[str],
    symbols: Sequence[str],
    *,
    colour: str = OWN,
    hover: Sequence[str] = (),
    sizes: Sequence[float] | float = 11,
    positions: Sequence[str] | str = "top center",
) -> None:
    """Dots with a name each; the shape tells the evidence."""
    fig.add_trace(
        {
            "type": "scatter",
            "x": x,
            "y": y,
            "mode": "markers+text",
            "text": labels,
            "textposition": positions,
            "textfont": {"size": 12},
            "marker": {"size": sizes, "color": colour, "symbol": symbols, "line": {"width": 1.5, "color": colour}},
            "customdata": list(hover or labels),
            "hovertemplate": "%{customdata}<extra></extra>",
            "cliponaxis": False,
        }
    )


def logarithmic(fig: Chart, x: Sequence[float], y: Sequence[float]) -> None:
    """Both axes logarithmic, over the positive values given; ticks at 1, 2 and 5, or at powers of two for tokens."""
    fig.update_xaxes(type="log", **_log_axis(x))
    fig.update_yaxes(type="log", rangemode="normal", zeroline=False, **_log_axis(y))


def _log_axis(values: Sequence[float]) -> dict[str, Any]:
    positive = [float(v) for v in values if v > 0]
    if not positive:
        return {}
    low, high = min(positive), max(positive)
    powers = low >= 1024 and math.log2(low).is_integer()
    ticks = (
        [2.0**n for n in range(int(math.log2(low)), int(math.log2(high)) + 1, 2)]
        if powers
        else [m * 10.0**e for e in range(-4, 13) for m in (1, 2, 5) if low * 0.7 <= m * 10.0**e <= high * 1.5]
    )
    text = [_power_of_two(v) if powers else f"{v:,.6g}" for v in ticks]
    return {
        "tickvals": ticks,
        "ticktext": text,
        "range": [math.log10(low) - 0.12, math.log10(high) + 0.12],
    }


def _power_of_two(tokens: float) -> str:
    return f"{tokens / 2**20:,.0f}M" if tokens >= 2**20 else f"{tokens / 1024:,.0f}k"


def ring(fig: Chart, x: float | None, y: float | None) -> None:
    """A ring around the chosen scenario's dot."""
    fig.add_trace(
        {
            "type": "scatter",
            "x": [x],
            "y": [y],
            "mode": "markers",
            "marker": {"size": 20, "color": "rgba(0,0,0,0)", "line": {"color": INK, "width": 2}},
            "hoverinfo": "skip",
        }
    )


def beyond(fig: Chart, start: float, end: float, label: str) -> None:
    """Grey out a region of x that cannot be reached."""
    fig.add_shape(
        type="rect", x0=start, x1=end, y0=0, y1=1, yref="paper", fillcolor=GREY, line={"width": 0}, layer="below"
    )
    fig.add_annotation(
        x=end,
        y=0,
        yref="paper",
        text=label,
        xanchor="right",
        yanchor="bottom",
        font={"size": 12, "color": INK},
    )


def upright(fig: Chart, x: float, label: str, *, log: bool = False, low: bool = False, layer: str = "below") -> None:
    """A thin vertical reference line, its name at the top or, with ``low``, at the bottom."""
    fig.add_shape(
        type="line", x0=x, x1=x, y0=0, y1=1, yref="paper", line={"color": INK, "width": 1, "dash": "dot"}, layer=layer
    )
    fig.add_annotation(
        x=math.log10(x) if log else x,
        y=0 if low else 1,
        yref="paper",
        text=label,
        xanchor="left",
        yanchor="bottom" if low else "top",
        font={"size": 12, "color": INK},
    )


def legend(fig: Chart) -> None:
    """Names above the chart, where lines run too close for names beside them."""
    fig.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"}
    )


def bars(
    fig: Chart, values: Sequence[float], names: Sequence[str], label: str, colour: str, texts: Sequence[str]
) -> None:
    """One part of stacked horizontal bars."""
    fig.add_trace(
        {
            "type": "bar",
            "x": values,
            "y": names,
            "orientation": "h",
            "name": label,
            "marker": {"color": colour, "line": {"width": 1, "color": "rgba(255,255,255,0.6)"}},
            "text": texts,
            "textposition": "inside",
            "textangle": 0,
            "insidetextanchor": "middle",
            # the page shows through what is free: plotly would choose words for white behind it
            **({"insidetextfont": {"color": WORDS}} if colour == FREE else {}),
            "hovertemplate": f"{label}: %{{text}}<extra></extra>",
        }
    )
    fig.update_layout(barmode="stack", hovermode="closest", uniformtext={"minsize": 11, "mode": "hide"})
    _names_beside(fig)
    fig.update_yaxes(showgrid=False)


def _names_beside(fig: Chart) -> None:
    """Room for the names of bars, as wide as they are; elsewhere the margins are fixed, as a second look costs time."""
    fig.update_layout(margin={"l": 8})
    fig.update_yaxes(automargin=True)


def ranked(
    fig: Chart, names: Sequence[str], values: Sequence[float], colours: Sequence[str], texts: Sequence[str]
) -> None:
    """Horizontal bars from zero, the first on top, each with its value written at its end."""
    fig.add_trace(
        {
            "type": "bar",
            "x": list(values),
            "y": list(names),
            "orientation": "h",
            "marker": {"color": list(colours)},
            "text": list(texts),
            "textposition": "outside",
            "cliponaxis": False,
            "hovertemplate": "%{y}: %{text}<extra></extra>",
            "width": 0.62,
        }
    )
    fig.update_layout(hovermode="closest", margin={"r": 90})
    _names_beside(fig)
    fig.update_yaxes(autorange="reversed", showgrid=False, zeroline=False)
