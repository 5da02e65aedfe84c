"""Evidence: measured against predicted, published calculations redone, and every figure with its source."""

import csv
import datetime as dt
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _inputs as inputs
from app_pages import _page as page
from calculators.calibration import load_calibration
from calculators.catalog import FigureRow, figures, load_catalog, stale
from calculators.numbers import share
from calculators.predictions import ErrorRow, Prediction, errors_by, load_predictions
from calculators.sizing import EVIDENCE
from calculators.uncertainty import load_rules
from calculators.worked_examples import NEVER, Example, Row, worked_examples

t = page.t
state = inputs.current()
language = state.language
STALE_PRICE_DAYS, STALE_DAYS = 90, 365
SHOWN = 300
PRICE_FILES = ("offers.csv", "rentals.csv", "rates.csv")


@st.cache_resource(show_spinner=False)
def predictions(release: str) -> tuple[Prediction, ...]:
    """Measured against predicted, configurations held out; depends on the data only."""
    return load_predictions()


@st.cache_resource(show_spinner=False)
def examples(release: str) -> tuple[Example, ...]:
    """Published calculations, recomputed."""
    return worked_examples(load_catalog())


@st.cache_resource(show_spinner=False)
def every_figure(release: str, language: str) -> tuple[tuple[FigureRow, str], ...]:
    """All figures with the text that a search looks in."""
    found = []
    for row in (*figures(load_catalog()), *model_figures()):
        words = " ".join((row.path, row.record, row.field, row.unit, row.source, row.kind, row.note))
        found.append((row, words.lower()))
    return tuple(found)


def model_figures() -> Iterator[FigureRow]:
    """What was fitted and assumed for the calculation itself: constants, error bands, ranges."""
    fitted = load_calibration()
    for level, band in fitted.bands.items():
        source = t("evidence_page.held_out", n=f"{band.n:,}") if band.n else t("evidence_page.assumed")
        kind = "derived" if band.n else "assumption"
        where = ("calibration.toml", f"band, {level}", "factor on throughput")
        yield FigureRow(*where, 1.0, "ratio", band.low, band.high, source, fitted.date, kind, "80 %")
    for entry in fitted.lone:
        what = ", ".join(part for part in (entry.class_id, entry.engine, entry.model_id) if part)
        where = ("calibration.toml", f"band, one configuration: {what}", "factor on throughput")
        source = t("evidence_page.held_out", n=f"{entry.n:,}")
        yield FigureRow(*where, 1.0, "ratio", entry.low, entry.high, source, fitted.date, "derived", "80 %")
    for group in fitted.sets:
        source = t("evidence_page.fitted", n=f"{group.n:,}", first=group.date_from, last=group.date_to)
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


@st.cache_resource(show_spinner=False, max_entries=64)
def kept(name: str, release: str, language: str, today: dt.date, _make: Callable[[], Mapping[str, Any]]) -> pa.Table:
    """A table that depends on the data, the language and the day only, ready to be sent."""
    return page.arrow(_make())


def standing_table(key: str, title: str, make: Callable[[], Mapping[str, Any]]) -> None:
    """A table that inputs do not change."""
    page.table(kept(key, state.catalog.release, language, dt.date.today(), make), key, title)


def is_stale(row: FigureRow, today: dt.date) -> bool:
    """Prices age faster than other figures; a definition does not age."""
    return stale(row, today, STALE_PRICE_DAYS if row.path in PRICE_FILES else STALE_DAYS)


@st.cache_resource(show_spinner=False)
def errors(release: str, key: str) -> list[ErrorRow]:
    """Errors by group; they depend on the data only."""
    return errors_by(load_predictions(), key)


@st.cache_resource(show_spinner=False)
def scatter(release: str, language: str) -> charts.Chart:
    """The chart of all predictions, the same for everyone who reads it in this language."""
    rows = load_predictions()
    fig = charts.figure(t("evidence_page.axis_measured"), t("evidence_page.axis_predicted"), height=380)
    fig.update_layout(hovermode="closest", showlegend=True, legend={"orientation": "h", "y": 1.08})
    for level in EVIDENCE:
        mine = [p for p in rows if p.evidence == level]
        if mine:
            fig.add_trace(
                {
                    "type": "scattergl",
                    "x": [p.measured_tokens_per_s for p in mine],
                    "y": [p.constants_only_tokens_per_s for p in mine],
                    "mode": "markers",
                    "name": t(f"evidence.{level}"),
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


@st.cache_resource(show_spinner=False, max_entries=4)
def stale_rows(release: str, language: str, today: dt.date) -> frozenset[int]:
    """Places of the figures that are stale today."""
    return frozenset(n for n, (row, _) in enumerate(every_figure(release, language)) if is_stale(row, today))


def validation(rows: Sequence[Prediction]) -> None:
    """Scatter of predicted against measured, configurations held out, and the error by group."""
    bare = np.abs([p.constants_only_error for p in rows])
    title = t(
        "evidence_page.unseen",
        n=f"{len(rows):,}",
        median=share(float(np.median(bare))),
        p90=share(float(np.quantile(bare, 0.9))),
    )
    fig = scatter(state.catalog.release, language)
    by = {key: errors(state.catalog.release, key) for key in ("evidence", "hardware", "model")}
    listed = "; ".join(f"{t(f'evidence.{r.group}')} {share(r.median)}" for r in by["evidence"])
    summary = load_calibration().summary
    st.markdown(
        fmt.escape(
            t(
                "evidence_page.anchored",
                median=share(summary["all"]["anchored"]["median"]),
                p90=share(summary["all"]["anchored"]["p90"]),
                k3=share(summary["k3"]["anchored"]["mean"]),
                other=share(summary["other"]["anchored"]["mean"]),
                k3_only=share(summary["k3"]["constants_only"]["mean"]),
                other_only=share(summary["other"]["constants_only"]["mean"]),
            )
        )
    )
    page.tables()
    left, right = st.columns(2)
    with left:
        page.chart(
            fig,
            "validation",
            title,
            t("evidence_page.validation_alt", title=title, list=listed),
            lambda: {
                "id": [p.id for p in rows],
                t("risk.col_input"): [p.model for p in rows],
                t("evidence_page.col_group"): [p.hardware for p in rows],
                t("evidence_page.axis_measured"): [p.measured_tokens_per_s for p in rows],
                t("evidence_page.axis_predicted"): [p.constants_only_tokens_per_s for p in rows],
                t("evidence_page.col_deviation"): [f"{p.constants_only_error:+.1%}" for p in rows],
                t("evidence_page.col_deviation_near"): [f"{p.error:+.1%}" for p in rows],
                t("col.kind"): [t(f"evidence.{p.evidence}") for p in rows],
            },
            t("evidence_page.validation_note"),
        )
    with right:
        names: dict[str, Callable[[str], str]] = {
            "evidence": lambda group: t(f"evidence.{group}"),
            "hardware": lambda group: chip_name(group),
            "model": lambda group: model_name(group),
        }
        for key in ("evidence", "hardware"):
            error_table(t(f"evidence_page.by_{key}"), by[key], f"errors_{key}", names[key])
    with left:
        error_table(t("evidence_page.by_model"), by["model"], "errors_model", names["model"])


def chip_name(key: str) -> str:
    """Name of an accelerator."""
    chip = state.catalog.accelerators.get(key)
    return key if chip is None else chip.name


def model_name(key: str) -> str:
    """Name of a model."""
    model = state.catalog.models.get(key)
    return key if model is None else model.name


def error_table(title: str, rows: Sequence[ErrorRow], key: str, name: Callable[[str], str]) -> None:
    """Errors of groups; the group with the most measurements first."""
    st.markdown(f"**{title}**")
    standing_table(
        key,
        title,
        lambda: {
            t("evidence_page.col_group"): [name(r.group) for r in rows],
            t("evidence_page.col_rows"): [r.count for r in rows],
            t("evidence_page.col_mean"): [share(r.mean) for r in rows],
            t("evidence_page.col_median"): [share(r.median) for r in rows],
            t("evidence_page.col_p90"): [share(r.p90) for r in rows],
            t("evidence_page.col_near_mean"): [share(r.near_mean) for r in rows],
            t("evidence_page.col_near_p90"): [share(r.near_p90) for r in rows],
        },
    )


def example_value(row: Row, value: float) -> str:
    """A published or recomputed value: shares as per cent, others with separators and a digit more than printed."""
    if math.isinf(value):
        return t("payback.never")
    if row.unit == "share":
        return f"{value:.2%}".replace("%", " %")
    digits = 6 if row.published == NEVER else max(0, 1 - math.floor(math.log10(2 * row.half_digit)))
    return f"{value:,.{min(digits, 5)}f}"


def calculations(found: Sequence[Example]) -> None:
    """Published numbers against recomputed ones, the ones that do not follow included."""
    rows = [(example, row) for example in found for row in example.rows]
    st.subheader(t("evidence_page.examples"), anchor=False)
    good = sum(row.reproduces for _, row in rows)
    st.caption(t("evidence_page.examples_note", k=good, n=len(rows)))
    standing_table(
        "examples",
        t("evidence_page.examples"),
        lambda: {
            t("evidence_page.col_id"): [e.id for e, _ in rows],
            t("evidence_page.col_number"): [r.name(language) for _, r in rows],
            t("evidence_page.col_published"): [example_value(r, r.published_value) for _, r in rows],
            t("evidence_page.col_recomputed"): [example_value(r, r.recomputed) for _, r in rows],
            t("claims.col_unit"): ["%" if r.unit == "share" else r.unit for _, r in rows],
            t("evidence_page.col_reproduces"): [
                t("evidence_page.reproduces" if r.reproduces else "evidence_page.differs") for _, r in rows
            ],
            t("evidence_page.col_deviation"): ["" if r.deviation is None else f"{r.deviation:+.2%}" for _, r in rows],
            t("evidence_page.col_example"): [e.title(language) for e, _ in rows],
            t("col.note"): [e.note(language) for e, _ in rows],
            t("col.source"): [f"{e.source} ({e.date})" for e, _ in rows],
        },
    )


def csv_of(rows: Sequence[FigureRow], today: dt.date) -> bytes:
    """All figures as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ("path", "record", "field", "value", "unit", "low", "high", "source", "date", "kind", "note", "stale")
    )
    for r in rows:
        cells = (r.path, r.record, r.field, r.value, r.unit, r.low, r.high, r.source, r.date, r.kind, r.note)
        writer.writerow((*("" if c is None else c for c in cells), "yes" if is_stale(r, today) else ""))
    return text.getvalue().encode("utf-8-sig")


def library(entries: Sequence[tuple[FigureRow, str]]) -> None:
    """Every figure, searchable, the stale ones marked."""
    today = dt.date.today()
    st.subheader(t("evidence_page.figures"), anchor=False)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    asked = left.text_input(t("evidence_page.search"), key="_evidence_search", max_chars=100)
    only = right.checkbox(t("evidence_page.only_stale"), key="_evidence_stale")
    words = (asked or "").lower().split()
    old = stale_rows(state.catalog.release, language, today)
    places = old if only else range(len(entries))
    hits = [n for n in sorted(places) if all(w in entries[n][1] for w in words)]
    st.caption(
        t(
            "evidence_page.found",
            n=f"{len(hits):,}",
            all=f"{len(entries):,}",
            stale=f"{len(old.intersection(hits)):,}",
            price=STALE_PRICE_DAYS,
            other=STALE_DAYS,
        )
    )
    if len(hits) > SHOWN:
        st.caption(t("evidence_page.cut", n=SHOWN))
    rows = [entries[n][0] for n in hits[:SHOWN]]

    def columns() -> dict[str, Any]:
        return {
            t("evidence_page.col_record"): [r.record for r in rows],
            t("evidence_page.col_field"): [r.field for r in rows],
            t("col.value"): [fmt.figure(r.value, r.unit) for r in rows],
            t("evidence_page.col_low"): ["" if r.low is None else f"{r.low:,.6g}" for r in rows],
            t("evidence_page.col_high"): ["" if r.high is None else f"{r.high:,.6g}" for r in rows],
            t("col.source"): [r.source for r in rows],
            t("col.date"): [str(r.date) for r in rows],
            t("evidence_page.col_age"): [t(f"evidence_page.{'stale' if n in old else 'fresh'}") for n in hits[:SHOWN]],
            t("col.kind"): [r.kind for r in rows],
            t("col.note"): [r.note for r in rows],
        }

    if words or only:
        page.table(columns(), "figures", t("evidence_page.figures"))
    else:
        standing_table("figures", t("evidence_page.figures"), columns)
    everything = [row for row, _ in entries]
    st.download_button(
        t("evidence_page.download"),
        data=lambda: csv_of(everything, today),
        file_name="figures.csv",
        mime="text/csv",
        key="_figures_download",
        on_click="ignore",
        icon=":material/download:",
    )


release = state.catalog.release
st.title(t("evidence_page.title"))
rows = predictions(release)
st.markdown(fmt.escape(t("evidence_page.intro", release=release, n=f"{len(rows):,}")))
validation(rows)
calculations(examples(release))
library(every_figure(release, language))
