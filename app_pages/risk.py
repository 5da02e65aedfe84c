"""Risk: how likely it pays back, what it hangs on, and what would have to be true."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _page as page
from calculators import link
from calculators.conditions import Condition, Conditions, Frontier, conditions, frontier, put_back
from calculators.numbers import money, share, three_digits
from calculators.resolve import live_pins
from calculators.texts import months_text, translated
from calculators.uncertainty import Array, Bar, Uncertainty
from calculators.units import DAYS_PER_MONTH

t = page.t
state, report = page.begin(page.t("risk.title"))
language = state.language
horizon = state.scenario.horizon_months
over = months_text(horizon, language)
SHOWN_BARS = 8
bought = float(report.result.ownership.capex_usd) > 0


def amount(value: float, unit: str) -> str:
    """A value as a table shows it: shares as per cent, money in words, else three digits with the unit."""
    if unit in ("share", "share/year"):
        return f"{value * 100:,.1f} %"
    if unit in ("USD", "USD/month"):
        return money(value)
    if unit == "USD/accelerator-hour":
        unit = "USD/h"  # short enough for a phone; the input's name says of what
    return f"{three_digits(value)} {unit}".strip()


def days(value: float) -> str:
    """Days as people read them, infinity as never."""
    return fmt.days_or_never(value, language)


def millions(usd: float) -> str:
    """Money short enough for a card's second line: '1.09' (of a million)."""
    return f"{usd / 1e6:,.2f}"


def at_end(bar: Bar, value: float) -> str:
    """The value of an input at an end of its bar; a factor as the change that it is."""
    if bar.input.name == "throughput_factor":
        return f"{value / bar.input.typical - 1:+.0%}".replace("%", " %")
    if bar.input.unit.startswith("USD") and value >= 10_000:
        return f"{three_digits(value / 1000)}k USD"
    return amount(value, bar.input.unit)


def ends_text(bar: Bar) -> str:
    """Both ends of an input, the unit once: '30.0 to 85.0 %'."""
    low, high = at_end(bar, bar.input.low), at_end(bar, bar.input.high)
    number, _, unit = low.partition(" ")
    return t("risk.to", low=number if unit and high.endswith(f" {unit}") else low, high=high)


def capital(words: str) -> str:
    """The first letter large, to begin a title."""
    return words[:1].upper() + words[1:]


def answer(u: Uncertainty) -> None:
    """One sentence, then four figures."""
    draws = f"{u.draws:,}"
    if not bought:
        p = fmt.chance(u.probability_npv_above_zero, language)
        low, middle, high = (money(v) for v in (u.npv_usd.p10, u.npv_usd.p50, u.npv_usd.p90))
        words = t("risk.answer_rent", p=p, draws=draws, horizon=over, low=low, high=high, middle=middle)
    elif u.probability_never == 1:
        words = t("risk.answer_never", p=fmt.chance(u.probability_never, language), draws=draws)
    else:
        low, middle, high = (days(v) for v in (u.payback_days.p10, u.payback_days.p50, u.payback_days.p90))
        p = fmt.chance(u.probability_pays_back, language)
        words = t("risk.answer", horizon=over, p=p, draws=draws, low=low, high=high, middle=middle)
        if report.days is not None and report.days < u.payback_days.p10:
            words += " " + t("risk.headline_better", days=days(report.days))
    st.markdown(fmt.escape(words))
    figures(u)


def figures(u: Uncertainty) -> None:
    """Four figures: what pays back and when, or, where nothing is bought, what is saved."""
    draws, npv = f"{u.draws:,}", u.npv_usd
    value = (
        "npv",
        money(npv.p50),
        t("risk.npv_line", low=millions(npv.p10), high=millions(npv.p90)),
        t("risk.npv_help", horizon=over, rate=share(state.scenario.discount_rate)),
    )
    if not bought:
        saving = fmt.usd(report.saving_usd_per_month, language)
        p, never = (fmt.chance(x, language) for x in (u.probability_npv_above_zero, u.probability_never))
        cards = (
            ("saves", p, t("risk.saves_line", horizon=over), t("risk.saves_help", draws=draws)),
            value,
            ("monthly", saving, t("risk.monthly_line"), t("risk.monthly_help")),
            ("never_saves", never, t("risk.never_line"), t("risk.never_saves_help")),
        )
        page.cards([(t(f"risk.{name}"), *words) for name, *words in cards])
        return
    rest = 1 - u.probability_pays_back - u.probability_never
    typical = fmt.payback(report.status, report.days, language)
    cards = (
        (
            "pays",
            fmt.chance(u.probability_pays_back, language),
            t("risk.pays_line", horizon=over),
            t("risk.pays_help", draws=draws),
        ),
        (
            "band",
            days(u.payback_days.p50),
            t("risk.band_never")
            if math.isinf(u.payback_days.p10)
            else t("risk.band_line", low=days(u.payback_days.p10), high=days(u.payback_days.p90)),
            t("risk.band_help", days=typical),
        ),
        (
            "never",
            fmt.chance(u.probability_never, language),
            t("risk.never_line"),
            t("risk.never_help", rest=fmt.chance(max(rest, 0.0), language)),
        ),
        value,
    )
    page.cards([(t(f"risk.{name}"), *words) for name, *words in cards])


def drawn(
    data: list[dict[str, Any]],
    x_axis: dict[str, Any],
    y_axis: dict[str, Any],
    *,
    height: int = charts.HEIGHT,
    **more: Any,
) -> charts.Chart:
    """A chart made in one piece."""
    fig = charts.figure("", "", height=height)
    more = {"margin": {"t": 22}, **more}
    fig.update_layout(hovermode="closest", xaxis=x_axis, yaxis={"zeroline": False, **y_axis}, **more)
    for trace in data:
        fig.add_trace(trace)
    return fig


def upright(x: float, label: str) -> dict[str, Any]:
    """A thin vertical line over the height of the chart, with its name above."""
    line = {"color": charts.INK, "width": 1, "dash": "dot"}
    return {
        "shapes": [{"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line}],
        "annotations": [
            {"x": x, "y": 1, "yref": "paper", "yanchor": "bottom", "text": label, "showarrow": False}
            | {"font": {"size": 12, "color": charts.INK}}
        ],
    }


def tornado(u: Uncertainty) -> None:
    """Swing of each input, as days where it pays back, else as NPV."""
    by_npv = report.days is None or report.days == 0
    bars = sorted(u.tornado, key=lambda bar: -bar.swing_npv_usd) if by_npv else list(u.tornado)
    moving = [bar for bar in bars if (bar.swing_npv_usd if by_npv else bar.rank[0]) > 0][:SHOWN_BARS]
    if not moving:
        page.finding(t("risk.tornado_flat"))
        return
    here = float(report.result.flow.npv_usd) if by_npv else float(report.days or 0.0)
    ends = np.array([_npv(bar) if by_npv else _days(bar) for bar in moving])
    known = [*ends[np.isfinite(ends)], here]
    # a bar that ends in 'never' runs a quarter beyond the longest payback shown
    shown = np.minimum(ends, max(known) * (1.0 if np.isfinite(ends).all() else 1.25)) - here
    names = [capital(bar.input.title(language)) for bar in moving]
    rows = list(range(len(moving)))
    data: list[dict[str, Any]] = []
    for place, colour in ((0, charts.OTHER), (1, charts.OWN)):
        labels = [at_end(b, (b.input.low, b.input.high)[place]) for b in moving]
        told = [money(v) if by_npv else days(v) for v in ends[:, place]]
        data.append(
            {
                "type": "bar",
                "x": shown[:, place],
                "y": rows,
                "base": here,
                "orientation": "h",
                "marker": {"color": colour, "pattern": {"shape": "/" if place == 0 else ""}},
                "width": 0.42,
                "customdata": [f"{n}, {label}: {words}" for n, label, words in zip(names, labels, told, strict=True)],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )
    low, high = min(float(shown.min()), 0.0), max(float(shown.max()), 0.0)
    room = 0.05 * max(high - low, 1e-9)
    # name and range stand above their bar, where no width of the screen makes them meet anything; one trace of words,
    # as each annotation takes the browser as long as a bar
    data.append(
        {
            "type": "scatter",
            "x": [here + low - room] * len(moving),
            "y": [row - 0.44 for row in rows],
            "mode": "text",
            "text": [f"{name}: {ends_text(bar)}" for name, bar in zip(names, moving, strict=True)],
            "textposition": "middle right",
            "textfont": {"size": 12},
            "hoverinfo": "skip",
            "cliponaxis": False,
        }
    )
    fig = drawn(
        data,
        {
            "title": {"text": t("risk.axis_npv" if by_npv else "risk.axis_days")},
            "range": [here + low - room, here + high + room],
            "nticks": 5,
        },
        {"range": [len(moving) - 0.6, -0.9], "showticklabels": False, "showgrid": False},
        height=max(charts.HEIGHT, 90 + 40 * len(moving)),
        barmode="overlay",
        margin={"l": 8, "t": 22},
        **upright(here, t("risk.typical")),
    )
    title = t("risk.tornado_npv" if by_npv else "risk.tornado", input=names[0])
    listed = "; ".join(
        f"{name} {' - '.join(money(v) if by_npv else days(v) for v in pair)}"
        for name, pair in zip(names[:4], ends[:4], strict=True)
    )
    alt = t("risk.tornado_alt", title=title, list=listed)
    page.chart(fig, "tornado", title, alt, tornado_columns(u.tornado), t("risk.tornado_note"))


def _days(bar: Bar) -> tuple[float, float]:
    return bar.payback_days_at_low, bar.payback_days_at_high


def _npv(bar: Bar) -> tuple[float, float]:
    return bar.npv_usd_at_low, bar.npv_usd_at_high


def tornado_columns(bars: Sequence[Bar]) -> dict[str, list[str]]:
    """The tornado with the ranges, their distributions and sources."""
    return {
        t("risk.col_input"): [capital(b.input.title(language)) for b in bars],
        t("risk.col_low"): [at_end(b, b.input.low) for b in bars],
        t("risk.col_typical"): [at_end(b, b.input.typical) for b in bars],
        t("risk.col_high"): [at_end(b, b.input.high) for b in bars],
        t("risk.col_payback_low"): [days(b.payback_days_at_low) for b in bars],
        t("risk.col_payback_high"): [days(b.payback_days_at_high) for b in bars],
        t("risk.col_npv_low"): [f"{b.npv_usd_at_low:,.0f}" for b in bars],
        t("risk.col_npv_high"): [f"{b.npv_usd_at_high:,.0f}" for b in bars],
        t("risk.col_distribution"): [b.input.distribution for b in bars],
        t("col.source"): [translated(b.input.source, language) for b in bars],
        t("col.date"): [b.input.date for b in bars],
        t("col.kind"): [b.input.kind for b in bars],
    }


def columns_of(edges: Array, parts: Array, *, digits: int) -> dict[str, Any]:
    """A histogram as one stepped area, a shape instead of a hundred; ``digits`` after the point of what is pointed at.

    A point stands at the left edge of its column, so the middle of the column is told beside it.
    """
    return {
        "type": "scatter",
        "x": edges,
        "y": np.append(parts, 0.0),
        "customdata": np.append(0.5 * (edges[1:] + edges[:-1]), edges[-1]),
        "mode": "lines",
        "line": {"shape": "hv", "width": 0},
        "fill": "tozeroy",
        "fillcolor": charts.OWN,
        "hovertemplate": f"%{{customdata:,.{digits}f}}: %{{y:.1f}} %<extra></extra>",
    }


def distribution(u: Uncertainty) -> None:
    """Histogram of the payback within the horizon."""
    edges, parts = u.payback_histogram.edges, u.payback_histogram.shares * 100
    middles = 0.5 * (edges[1:] + edges[:-1])
    middle = u.payback_days.p50
    # the axis ends where one draw in a thousand is left
    reached = np.cumsum(parts[::-1])[::-1] > 0.1
    end = float(edges[1:][reached].max(initial=edges[1]))
    bars = columns_of(edges, parts, digits=0)
    title = t("risk.histogram", middle=days(middle)) if math.isfinite(middle) else t("risk.histogram_never")
    fig = drawn(
        [bars],
        {"title": {"text": t("risk.axis_days")}, "range": [0, end]},
        {"title": {"text": t("risk.axis_share")}, "rangemode": "tozero"},
        **(upright(middle, days(middle)) if middle <= end else {}),
    )
    alt = t(
        "risk.histogram_alt", draws=f"{u.draws:,}", title=title, late=fmt.chance(1 - u.probability_pays_back, language)
    )
    columns = {t("risk.axis_days"): middles[reached].round(), t("risk.axis_share"): parts[reached].round(2)}
    page.chart(fig, "payback_histogram", title, alt, columns)


def npv_distribution(u: Uncertainty) -> None:
    """Histogram of the NPV, for machines that are not bought."""
    edges, parts = u.npv_histogram.edges / 1e6, u.npv_histogram.shares * 100
    middles = 0.5 * (edges[1:] + edges[:-1])
    bars = columns_of(edges, parts, digits=2)
    title = t("risk.histogram_npv", middle=money(u.npv_usd.p50))
    fig = drawn(
        [bars],
        {"title": {"text": t("risk.axis_npv_millions")}, "range": [min(edges[0], 0.0), max(edges[-1], 0.0)]},
        {"title": {"text": t("risk.axis_share")}, "rangemode": "tozero"},
        **upright(0.0, "0"),
    )
    p = fmt.chance(u.probability_npv_above_zero, language)
    alt = t("risk.histogram_npv_alt", draws=f"{u.draws:,}", title=title, p=p)
    columns = {t("risk.axis_npv_millions"): middles.round(3), t("risk.axis_share"): parts.round(2)}
    page.chart(fig, "npv_histogram", title, alt, columns)


def paid_back(u: Uncertainty) -> None:
    """Probability of having paid back, by month."""
    months = u.payback_histogram.edges / DAYS_PER_MONTH
    parts = np.concatenate(([0.0], np.cumsum(u.payback_histogram.shares))) * 100
    line = {
        "type": "scatter",
        "x": months,
        "y": parts,
        "mode": "lines",
        "line": {"color": charts.OWN, "width": 2.5},
        "hovertemplate": "%{x:.0f}: %{y:.1f} %<extra></extra>",
    }
    year = max(1, min(2, horizon // 12))
    at = float(np.interp(12.0 * year, months, parts)) / 100
    title = t("risk.paid", year=year, p=fmt.chance(at, language))
    fig = drawn(
        [line],
        {"title": {"text": t("axis.month")}, "range": [0, months[-1]]},
        {"title": {"text": t("risk.axis_paid")}, "range": [0, 102]},
    )
    columns = {t("axis.month"): months.round(1), t("risk.axis_paid"): parts.round(2)}
    page.chart(fig, "paid_back", title, t("risk.paid_alt", title=title), columns)


GREY = "#B9C0C7"


def months_field(f: Frontier) -> tuple[dict[str, Any], dict[str, Any]]:
    """Contour levels and colours of the payback in months: grey beyond the horizon, where the colours end."""
    beyond = 1.25 * horizon
    months = np.minimum(np.where(np.isfinite(f.payback_days), f.payback_days, np.inf) / DAYS_PER_MONTH, beyond)
    step = max(1, horizon // 4)
    scale = [[0, "#3E8FC4"], [0.4, "#9CC7E3"], [0.8, "#EEF5FA"], [0.8, GREY], [1, GREY]]
    levels = {"start": step, "end": step * (horizon // step), "size": step}
    return levels, {"z": months, "zmin": 0, "zmax": beyond, "colorscale": scale}


def npv_field(f: Frontier) -> tuple[dict[str, Any], dict[str, Any]]:
    """Contour levels and colours of the NPV in million USD: grey below zero."""
    millions = f.npv_usd / 1e6
    top = max(float(millions.max()), 1e-9)
    tidy = 10 ** math.floor(math.log10(top / 4))
    step = next(k * tidy for k in (1, 2, 5, 10) if k * tidy >= top / 4)
    # plotly stretches the colours from half a step below the first line to half a step above the last: five steps
    scale = [[0, GREY], [0.1, GREY], [0.1, "#EEF5FA"], [0.55, "#9CC7E3"], [1, "#3E8FC4"]]
    return {"start": 0, "end": step * 4, "size": step}, {"z": millions, "colorscale": scale}


def price_and_load(f: Frontier) -> None:
    """Payback (or NPV, where nothing is bought) over the API price change and the load, with the scenario marked."""
    x, y = f.api_price_change_per_year * 100, f.utilization * 100
    levels, colours = (months_field if bought else npv_field)(f)
    field = {
        "type": "contour",
        "x": x,
        "y": y,
        **colours,
        "contours": {
            **levels,
            "coloring": "fill",
        },
        "line": {"color": charts.INK, "width": 1},
        "showscale": False,
        "hovertemplate": "%{x:.0f} %, %{y:.0f} %: %{z:,.0f}<extra></extra>",
    }
    place = {
        "type": "scatter",
        "x": [f.here_price_change * 100],
        "y": [f.here_utilization * 100],
        "mode": "markers",
        "marker": {"size": 12, "color": "rgba(255,255,255,0.9)", "line": {"color": charts.API, "width": 3}},
        "hoverinfo": "skip",
    }
    label = {
        "x": f.here_price_change * 100,
        "y": f.here_utilization * 100,
        "text": t("risk.here"),
        "showarrow": False,
        "xanchor": "right" if f.here_price_change > -0.2 else "left",
        "xshift": -12 if f.here_price_change > -0.2 else 12,
        "bgcolor": "rgba(255,255,255,0.85)",
        "font": {"size": 13, "color": "#12181F"},
    }
    fig = drawn(
        [field, charts.level_names(x, y, colours["z"], levels), place],
        {"title": {"text": t("risk.axis_change")}, "range": [x[0], x[-1]]},
        {"title": {"text": t("risk.axis_load")}, "range": [y[0], 100]},
        annotations=[label],
    )
    kind = "frontier" if bought else "frontier_rent"
    if f.load_needed is not None:
        title = t(f"risk.{kind}", load=share(f.load_needed), horizon=over)
    else:
        title = t(f"risk.{kind}_none", horizon=over)
    where = {"change": share(f.here_price_change), "load": share(f.here_utilization)}
    here = fmt.payback(report.status, report.days, language)
    worth = money(float(report.result.flow.npv_usd))

    def columns() -> dict[str, Sequence[Any]]:
        shown = [[days(v) for v in row] for row in f.payback_days.T] if bought else (f.npv_usd.T / 1e6).round(3)
        return {t("risk.axis_load"): y.round()} | {
            f"{change:.0f} %": shown[j] for j, change in enumerate(x) if j % 4 == 0
        }

    alt = t(f"risk.{kind}_alt", title=title, days=here, npv=worth, **where)
    page.chart(fig, "frontier", title, alt, columns, t(f"risk.{kind}_note"))


def scenario_link(condition: Condition) -> str:
    """Address that opens this page with a condition's value in place; '' where no field can hold it."""
    there = put_back(state.scenario, condition)
    if there is None:
        return ""
    if state.answer.moved is None:
        return "?" + urlencode({**link.changed(there), "lang": language})
    pins = live_pins(dict(link.parse(report.link).pins), state.scenario, there)
    return "?" + link.encode(there, report.release, pins)


def cell(condition: Condition) -> str:
    """The value that reaches the target, as a link that opens it."""
    if condition.value is None:
        return t(f"risk.must_{condition.outcome}")
    shown = amount(condition.value, condition.unit)
    key = "risk.must_at_least" if condition.at_least else "risk.must_at_most"
    words = fmt.escape(t(key if condition.exact else "risk.must_jump", value=shown))
    target = scenario_link(condition)
    return f"[{words}]({target})" if target else words


def what_must_be_true(payback: Conditions, npv: Conditions) -> None:
    """Every input alone: now, for the wanted payback, for an NPV of 0."""
    wanted = fmt.days_or_never(payback.target_days, language)
    st.caption(t("risk.must_note", days=wanted))
    first = t("risk.must_saving") if payback.target == "saving" else t("risk.must_payback", days=wanted)
    head = (t("risk.must_input"), t("risk.must_now"), first, t("risk.must_npv"))
    other = {row.name: row for row in npv.rows}
    names = {row.name: row for row in payback.rows}
    rows = ["| " + " | ".join(head) + " |", "|---|--:|--:|--:|"]
    for name in dict.fromkeys((*names, *other)):
        row = names.get(name) or other[name]
        cells = (cell(names[name]) if name in names else "", cell(other[name]) if name in other else "")
        shown = fmt.escape(amount(row.now, row.unit))
        rows.append(f"| {row.title(language)} | {shown} | {cells[0]} | {cells[1]} |")
    # a unit such as USD/kW-month may break on a phone, so that the table stays within its width
    st.markdown("\n".join(rows).replace("USD/", "USD/\u200b").replace("kW-", "kW-\u200b"))


def beside(*parts: Callable[[], None]) -> None:
    """Parts next to each other, below each other on a phone."""
    for column, draw in zip(st.columns(len(parts)), parts, strict=True):
        with column:
            draw()


def drivers(u: Uncertainty) -> None:
    """How far each input moves the result, beside the result of all together."""
    if not bought:
        beside(partial(tornado, u), partial(npv_distribution, u))
    elif u.probability_pays_back > 0:
        beside(partial(tornado, u), partial(distribution, u))
    else:  # without a single payback in time a distribution of it would be an empty chart
        tornado(u)


def together(u: Uncertainty) -> None:
    """The two inputs that nobody knows, against each other, and by when the money is back."""
    field = frontier(report.inputs, report.result, points=33)
    if bought and u.probability_pays_back > 0:
        beside(partial(price_and_load, field), partial(paid_back, u))
    else:
        price_and_load(field)


def alone() -> None:
    """What each input alone would have to be."""
    what_must_be_true(
        conditions(report.resolved, report.result, "payback"), conditions(report.resolved, report.result, "npv")
    )


unsure = report.uncertainty
if unsure is None:
    st.info(fmt.escape(t("risk.none", reason=report.sentences(language)[0])))
else:
    answer(unsure)
    page.tables()
    page.tabs(
        {
            "risk.tab_drivers": partial(drivers, unsure),
            "risk.tab_frontier": partial(together, unsure),
            "risk.must": alone,
        },
        "_risk_tabs",
    )
    st.caption(fmt.escape(t("risk.method", draws=f"{unsure.draws:,}", seed=unsure.seed)))
page.notes(report)
