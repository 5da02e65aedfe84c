"""What no input changes: charts and tables of the Evidence and Claims pages, made once for a language and a day.

A page's file is run anew on every change, with a cache of its own functions each time; here they are made once.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _page as page
from calculators.calibration import load_calibration
from calculators.catalog import FigureRow, figures, load_catalog, stale
from calculators.claims import Claim, Variant, judge_all
from calculators.numbers import share, tokens
from calculators.predictions import ErrorRow, Prediction, errors_by, load_predictions
from calculators.sizing import EVIDENCE
from calculators.texts import Language, text
from calculators.uncertainty import load_rules
from calculators.worked_examples import NEVER, Row, worked_examples

STALE_PRICE_DAYS: Final = 90
STALE_DAYS: Final = 365
SHOWN: Final = 300
"""Figures that a table shows at most."""

PRICE_FILES: Final = ("offers.csv", "rentals.csv", "rates.csv")
CLAIMED_TOKENS, CLAIMED_DAYS = 30e9, 100.0


# ---------------------------------------------------------------------------------------------- predicted and measured


@lru_cache(maxsize=1)
def unseen() -> tuple[int, float, float]:
    """Rows, median and 90th percentile of the error by constants that never saw the configuration."""
    bare = np.abs([p.constants_only_error for p in load_predictions()])
    return bare.size, float(np.median(bare)), float(np.quantile(bare, 0.9))


@lru_cache(maxsize=8)
def errors(key: str) -> tuple[ErrorRow, ...]:
    """Errors by group."""
    return tuple(errors_by(load_predictions(), key))


def group_name(key: str, group: str, language: Language) -> str:
    """Name of a group of errors: an evidence level, an accelerator or a model."""
    if key == "evidence":
        return text(f"evidence.{group}", language)
    catalog = load_catalog()
    record = catalog.accelerators.get(group) if key == "hardware" else catalog.models.get(group)
    return group if record is None else record.name


@lru_cache(maxsize=16)
def error_table(key: str, language: Language) -> pa.Table:
    """Errors of groups; the group with the most measurements first."""
    rows = errors(key)
    return page.arrow(
        {
            text("evidence_page.col_group", language): [group_name(key, r.group, language) for r in rows],
            text("evidence_page.col_rows", language): [r.count for r in rows],
            text("evidence_page.col_mean", language): [share(r.mean) for r in rows],
            text("evidence_page.col_median", language): [share(r.median) for r in rows],
            text("evidence_page.col_p90", language): [share(r.p90) for r in rows],
            text("evidence_page.col_near_mean", language): [share(r.near_mean) for r in rows],
            text("evidence_page.col_near_p90", language): [share(r.near_p90) for r in rows],
        }
    )


@lru_cache(maxsize=4)
def scatter(language: Language) -> charts.Chart:
    """All predictions against what was measured."""
    rows = load_predictions()
    axes = (text("evidence_page.axis_measured", language), text("evidence_page.axis_predicted", language))
    fig = charts.figure(*axes, height=380)
    fig.update_layout(hovermode="closest", showlegend=True, legend={"orientation": "h", "y": 1.08})
    for level in EVIDENCE:
        mine = [p for p in rows if p.evidence == level]
        if mine:
            fig.add_trace(
                {
                    "type": "scatter",
                    "x": [p.measured_tokens_per_s for p in mine],
                    "y": [p.constants_only_tokens_per_s for p in mine],
                    "mode": "markers",
                    "name": text(f"evidence.{level}", language),
                    "marker": {"symbol": charts.SYMBOL[level], "size": 6, "opacity": 0.7},
                    "customdata": [f"{p.id}, {p.model}, {p.hardware}: {p.constants_only_error:+.0%}" for p in mine],
                    "hovertemplate": "%{customdata}<extra></extra>",
                }
            )
    measured = [p.measured_tokens_per_s for p in rows]
    ends = [min(measured), max(measured)]
    charts.line(fig, ends, ends, charts.INK, "", at=None, width=1.5)
    fig.data[-1]["showlegend"] = False
    fig.update_xaxes(type="log")
    fig.update_yaxes(type="log", rangemode="normal")
    return fig


def prediction_columns(rows: Sequence[Prediction], language: Language) -> Mapping[str, Sequence[Any]]:
    """The chart's points as a table."""
    return {
        "id": [p.id for p in rows],
        text("risk.col_input", language): [p.model for p in rows],
        text("evidence_page.col_group", language): [p.hardware for p in rows],
        text("evidence_page.axis_measured", language): [p.measured_tokens_per_s for p in rows],
        text("evidence_page.axis_predicted", language): [p.constants_only_tokens_per_s for p in rows],
        text("evidence_page.col_deviation", language): [f"{p.constants_only_error:+.1%}" for p in rows],
        text("evidence_page.col_deviation_near", language): [f"{p.error:+.1%}" for p in rows],
        text("col.kind", language): [text(f"evidence.{p.evidence}", language) for p in rows],
    }


# ---------------------------------------------------------------------------------------------- published calculations


def example_value(row: Row, value: float, language: Language) -> str:
    """A published or recomputed value: shares as per cent, others with separators and a digit more than printed."""
    if math.isinf(value):
        return text("payback.never", language)
    if row.unit == "share":
        return f"{value:.2%}".replace("%", " %")
    digits = 6 if row.published == NEVER else max(0, 1 - math.floor(math.log10(2 * row.half_digit)))
    return f"{value:,.{min(digits, 5)}f}"


@lru_cache(maxsize=4)
def examples(language: Language) -> tuple[int, int, pa.Table]:
    """How many published numbers are found again, of how many, and all of them as a table."""
    rows = [(example, row) for example in worked_examples(load_catalog()) for row in example.rows]
    good = sum(row.reproduces for _, row in rows)
    words = {True: text("evidence_page.reproduces", language), False: text("evidence_page.differs", language)}
    columns = {
        text("evidence_page.col_id", language): [e.id for e, _ in rows],
        text("evidence_page.col_number", language): [r.name(language) for _, r in rows],
        text("evidence_page.col_published", language): [example_value(r, r.published_value, language) for _, r in rows],
        text("evidence_page.col_recomputed", language): [example_value(r, r.recomputed, language) for _, r in rows],
        text("claims.col_unit", language): ["%" if r.unit == "share" else r.unit for _, r in rows],
        text("evidence_page.col_reproduces", language): [words[bool(r.reproduces)] for _, r in rows],
        text("evidence_page.col_deviation", language): [
            "" if r.deviation is None else f"{r.deviation:+.2%}" for _, r in rows
        ],
        text("evidence_page.col_example", language): [e.title(language) for e, _ in rows],
        text("col.note", language): [e.note(language) for e, _ in rows],
        text("col.source", language): [f"{e.source} ({e.date})" for e, _ in rows],
    }
    return good, len(rows), page.arrow(columns)


# ------------------------------------------------------------------------------------------------------- every figure


@lru_cache(maxsize=4)
def every_figure(language: Language) -> tuple[tuple[FigureRow, str], ...]:
    """All figures with the text that a search looks in."""
    found = []
    for row in (*figures(load_catalog()), *_model_figures(language)):
        words = " ".join((row.path, row.record, row.field, row.unit, row.source, row.kind, row.note))
        found.append((row, words.lower()))
    return tuple(found)


def _model_figures(language: Language) -> Iterator[FigureRow]:
    """What was fitted and assumed for the calculation itself: constants, error bands, ranges."""
    fitted = load_calibration()
    for level, band in fitted.bands.items():
        held_out = text("evidence_page.held_out", language, n=f"{band.n:,}")
        source = held_out if band.n else text("evidence_page.assumed", language)
        kind = "derived" if band.n else "assumption"
        where = ("calibration.toml", f"band, {level}", "factor on throughput")
        yield FigureRow(*where, 1.0, "ratio", band.low, band.high, source, fitted.date, kind, "80 %")
    for entry in fitted.lone:
        what = ", ".join(part for part in (entry.class_id, entry.engine, entry.model_id) if part)
        where = ("calibration.toml", f"band, one configuration: {what}", "factor on throughput")
        source = text("evidence_page.held_out", language, n=f"{entry.n:,}")
        yield FigureRow(*where, 1.0, "ratio", entry.low, entry.high, source, fitted.date, "derived", "80 %")
    for group in fitted.sets:
        source = text("evidence_page.fitted", language, n=f"{group.n:,}", first=group.date_from, last=group.date_to)
        for name, value in vars(group.constants).items():
            unit = "s" if name.endswith("_s") else "ratio"
            if isinstance(value, float) and math.isfinite(value):
                where = ("calibration.toml", group.name, name)
                yield FigureRow(*where, value, unit, None, None, source, fitted.date, "derived", "")
    for name, figure in load_rules()[1].items():
        said = (
            figure.value,
            figure.unit,
            figure.low,
            figure.high,
            figure.source,
            figure.date,
            figure.kind,
            figure.note,
        )
        yield FigureRow("distributions.toml", name, "value", *said)


def is_stale(row: FigureRow, today: dt.date) -> bool:
    """Prices age faster than other figures; a definition does not age."""
    return stale(row, today, STALE_PRICE_DAYS if row.path in PRICE_FILES else STALE_DAYS)


@lru_cache(maxsize=4)
def stale_places(language: Language, today: dt.date) -> frozenset[int]:
    """Places of the figures that are stale on a day."""
    return frozenset(n for n, (row, _) in enumerate(every_figure(language)) if is_stale(row, today))


def figure_columns(places: Sequence[int], language: Language, today: dt.date) -> Mapping[str, Sequence[Any]]:
    """Figures by their places, the stale ones marked."""
    entries, old = every_figure(language), stale_places(language, today)
    rows = [entries[n][0] for n in places]
    age = {n: text(f"evidence_page.{'stale' if n in old else 'fresh'}", language) for n in places}
    return {
        text("evidence_page.col_record", language): [r.record for r in rows],
        text("evidence_page.col_field", language): [r.field for r in rows],
        text("col.value", language): [fmt.figure(r.value, r.unit) for r in rows],
        text("evidence_page.col_low", language): ["" if r.low is None else f"{r.low:,.6g}" for r in rows],
        text("evidence_page.col_high", language): ["" if r.high is None else f"{r.high:,.6g}" for r in rows],
        text("col.source", language): [r.source for r in rows],
        text("col.date", language): [str(r.date) for r in rows],
        text("evidence_page.col_age", language): list(age.values()),
        text("col.kind", language): [r.kind for r in rows],
        text("col.note", language): [r.note for r in rows],
    }


@lru_cache(maxsize=4)
def first_figures(language: Language, today: dt.date) -> pa.Table:
    """The figures that stand there as long as nothing is searched."""
    return page.arrow(figure_columns(range(min(SHOWN, len(every_figure(language)))), language, today))


# ------------------------------------------------------------------------------------------------------------- claims


@lru_cache(maxsize=1)
def claims() -> tuple[Claim, ...]:
    """All claims against the data of this process; they depend on nothing that a person chooses."""
    return judge_all(load_catalog())


@lru_cache(maxsize=128)
def claim_query(place: int) -> Mapping[str, str]:
    """Query parameters that open the scenario of a claim, by its place among `claims`."""
    return claims()[place].link()


@lru_cache(maxsize=4)
def combinations(place: int, language: Language) -> charts.Chart:
    """All combinations of a claim (by its place) against the two numbers that it claims."""
    variants = claims()[place].variants
    known = [v for v in variants if math.isfinite(v.payback_days) and v.tokens_per_month > 0]
    fig = charts.figure(text("axis.tokens_per_month", language), text("claims.axis_days", language), height=340)
    fig.update_layout(hovermode="closest")
    top = max((v.payback_days for v in known), default=CLAIMED_DAYS) * 1.15
    end = max((v.tokens_per_month for v in known), default=CLAIMED_TOKENS) * 2
    fig.add_shape(
        type="rect", x0=CLAIMED_TOKENS, x1=end, y0=0, y1=CLAIMED_DAYS, fillcolor=charts.BAND, line={"width": 0}
    )
    fig.add_trace(
        {
            "type": "scatter",
            "x": [CLAIMED_TOKENS],
            "y": [CLAIMED_DAYS / 2],
            "mode": "text",
            "text": [text("claims.claimed_here", language)],
            "textposition": "middle right",
            "hoverinfo": "skip",
        }
    )
    named = _named(known)
    for offer, colour in zip(dict.fromkeys(v.offer for v in known), (charts.API, charts.ALTERNATIVE), strict=False):
        mine = [v for v in known if v.offer == offer]
        charts.points(
            fig,
            [v.tokens_per_month for v in mine],
            [v.payback_days for v in mine],
            [v.title(language) if id(v) in named else "" for v in mine],
            ["circle" if v.with_running_cost else "circle-open" for v in mine],
            colour=colour,
            hover=[
                f"{v.title(language)}, {v.accepted_tokens_per_step:g}, {offer}: {tokens(v.tokens_per_month)}, "
                f"{fmt.days_or_never(v.payback_days, language)}"
                for v in mine
            ],
            sizes=10,
            positions=[named.get(id(v), "top center") for v in mine],
        )
    ticks = [2e10, 5e10, 1e11, 2e11, 5e11, 1e12]
    span = [math.log10(1.5e10), math.log10(end)]
    fig.update_xaxes(type="log", range=span, tickvals=ticks, ticktext=[f"{v / 1e9:,.0f} B" for v in ticks])
    fig.update_yaxes(range=[0, top])
    return fig


def _named(known: Sequence[Variant]) -> Mapping[int, str]:
    """Each mix is named once: in turn above its highest and below its lowest dot, so that neighbours do not collide."""
    order = sorted({v.mix for v in known}, key=lambda mix: max(v.tokens_per_month for v in known if v.mix == mix))
    named = {}
    for place, mix in enumerate(order):
        pick: Callable[..., Variant] = max if place % 2 == 0 else min
        dot = pick((v for v in known if v.mix == mix), key=lambda v: v.payback_days)
        named[id(dot)] = "top center" if place % 2 == 0 else "bottom center"
    return named


def combination_columns(variants: Sequence[Variant], language: Language) -> Mapping[str, Sequence[Any]]:
    """The combinations as a table."""
    counted = {v: text("claims.counted" if v else "claims.left_out", language) for v in (True, False)}
    both = {v: text("claims.yes" if v else "claims.no", language) for v in (True, False)}
    return {
        text("claims.col_mix", language): [v.title(language) for v in variants],
        text("claims.col_accepted", language): [v.accepted_tokens_per_step for v in variants],
        text("claims.col_offer", language): [v.offer for v in variants],
        text("claims.col_cost", language): [counted[bool(v.with_running_cost)] for v in variants],
        text("axis.tokens_per_month", language): [tokens(v.tokens_per_month) for v in variants],
        text("claims.col_cached", language): [share(v.cached_tokens_share) for v in variants],
        text("claims.axis_days", language): [fmt.days_or_never(v.payback_days, language) for v in variants],
        text("claims.col_both", language): [both[bool(v.meets_both)] for v in variants],
    }
