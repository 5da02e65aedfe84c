"""Arrays -> plotly figures. No Streamlit, no arithmetic on money.

Colours have one meaning everywhere (after Okabe and Ito, told apart by colour-blind readers, and by dash as well):
own machines blue, today's API vermilion, serverless alternative green, uncertainty a tint of blue, break-even and other
marks ink. All reach a contrast of 3:1 on the light and on the dark background. Titles are written above the chart by the
page, where they wrap; fonts and grid come from the theme.
"""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

OWN = "#2C7FB8"
API = "#D9601A"
ALTERNATIVE = "#159A74"
OTHER = "#8C6BB1"
INK = "#77838F"
BAND = "rgba(44,127,184,0.20)"
GREY = "rgba(119,131,143,0.16)"
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

CONFIG: dict[str, Any] = {"displaylogo": False, "plotlyServerURL": "", "displayModeBar": False}
HEIGHT = 300


def figure(x_title: str, y_title: str, *, height: int = HEIGHT, zero: bool = True) -> go.Figure:
    """An empty chart with titled axes, thin grid and no legend: lines are labelled directly."""
    return go.Figure(
        layout={
            "height": height,
            "showlegend": False,
            "margin": {"l": 8, "r": 12, "t": 10, "b": 8},
            "hovermode": "x unified",
            "xaxis": {"title": {"text": x_title}, "automargin": True, "zeroline": False},
            "yaxis": {
                "title": {"text": y_title},
                "automargin": True,
                "rangemode": "tozero" if zero else "normal",
                "zeroline": True,
                "zerolinecolor": INK,
                "zerolinewidth": 1,
            },
        }
    )


def line(
    fig: go.Figure,
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
    words = [""] * len(x)
    if at is not None and words:
        words[at] = label
    fig.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines" if at is None else "lines+text",
            text=words,
            textposition=position,
            textfont={"color": colour, "size": 13},
            name=label,
            line={"color": colour, "width": width, "dash": dash or DASH.get(colour, "solid")},
            hovertemplate=f"{hover}<extra>{label}</extra>",
            cliponaxis=False,
        )
    )


def fan(
    fig: go.Figure, x: Sequence[float], lines: Sequence[tuple[Sequence[float], str, str]], hover: str = "%{y:,.0f}"
) -> None:
    """Lines from one start, each named beside its own stretch: the upper one above it, the lower one below it."""
    ordered = sorted(lines, key=lambda entry: entry[0][-1], reverse=True)
    for place, (y, colour, label) in enumerate(ordered):
        rising = y[-1] >= y[0]
        above = place == 0
        position = ("top " if above else "bottom ") + ("left" if above == rising else "right")
        line(fig, x, y, colour, label, hover=hover, at=len(x) * (7 if above else 5) // 10, position=position)


def band(fig: go.Figure, x: Sequence[float], low: Sequence[float], high: Sequence[float], label: str) -> None:
    """Shade what lies between two lines: an uncertainty."""
    fig.add_trace(
        go.Scatter(
            x=[*x, *reversed(x)],
            y=[*high, *reversed(low)],
            fill="toself",
            fillcolor=BAND,
            line={"width": 0},
            hoverinfo="skip",
            name=label,
            mode="lines",
        )
    )


def mark(fig: go.Figure, x: float, y: float, label: str, *, colour: str = INK, position: str = "top right") -> None:
    """A ringed dot with a label: a break-even, a payback, the chosen scenario."""
    fig.add_trace(
        go.Scatter(
            x=[x],
            y=[y],
            mode="markers+text",
            text=[label],
            textposition=position,
            textfont={"size": 13},
            marker={"size": 11, "color": "rgba(0,0,0,0)", "line": {"color": colour, "width": 2.5}},
            hovertemplate=f"{label}<extra></extra>",
            cliponaxis=False,
        )
    )


def points(
    fig: go.Figure,
    x: Sequence[float],
    y: Sequence[float],
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
        go.Scatter(
            x=x,
            y=y,
            mode="markers+text",
            text=labels,
            textposition=positions,
            textfont={"size": 12},
            marker={"size": sizes, "color": colour, "symbol": symbols, "line": {"width": 1.5, "color": colour}},
            customdata=list(hover or labels),
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    )


def beyond(fig: go.Figure, start: float, end: float, label: str) -> None:
    """Grey out a region of x that cannot be reached."""
    fig.add_vrect(
        x0=start,
        x1=end,
        fillcolor=GREY,
        line_width=0,
        layer="below",
        annotation={"text": label, "font": {"size": 12, "color": INK}},
        annotation_position="bottom right",
    )


def level(fig: go.Figure, y: float, label: str) -> None:
    """A thin horizontal reference line."""
    fig.add_hline(
        y=y,
        line={"color": INK, "width": 1, "dash": "dot"},
        annotation={"text": label, "font": {"size": 12, "color": INK}},
        annotation_position="top left",
    )


def upright(fig: go.Figure, x: float, label: str) -> None:
    """A thin vertical reference line."""
    fig.add_vline(
        x=x,
        line={"color": INK, "width": 1, "dash": "dot"},
        annotation={"text": label, "font": {"size": 12, "color": INK}},
        annotation_position="top right",
    )


def bars(
    fig: go.Figure, values: Sequence[float], names: Sequence[str], label: str, colour: str, texts: Sequence[str]
) -> None:
    """One part of stacked horizontal bars."""
    fig.add_trace(
        go.Bar(
            x=values,
            y=names,
            orientation="h",
            name=label,
            marker={"color": colour, "line": {"width": 1, "color": "rgba(255,255,255,0.6)"}},
            text=texts,
            textposition="inside",
            insidetextanchor="middle",
            hovertemplate=f"{label}: %{{text}}<extra></extra>",
        )
    )
    fig.update_layout(barmode="stack", hovermode="closest")
