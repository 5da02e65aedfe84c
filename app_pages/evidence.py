"""Evidence: measured against predicted, published calculations redone, and every figure with its source."""

import csv
import datetime as dt
import io
from collections.abc import Sequence

import streamlit as st

from app_pages import _format as fmt
from app_pages import _inputs as inputs
from app_pages import _page as page
from app_pages import _standing as standing
from calculators.calibration import load_calibration
from calculators.catalog import FigureRow
from calculators.numbers import share
from calculators.predictions import load_predictions

t = page.t
state = inputs.current()
language = state.language


def validation() -> None:
    """Scatter of predicted against measured, configurations held out, and the error by group."""
    count, median, p90 = standing.unseen()
    title = t("evidence_page.unseen", n=f"{count:,}", median=share(median), p90=share(p90))
    levels = standing.errors("evidence")
    listed = "; ".join(f"{standing.group_name('evidence', r.group, language)} {share(r.median)}" for r in levels)
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
            standing.scatter(language),
            "validation",
            title,
            t("evidence_page.validation_alt", title=title, list=listed),
            lambda: standing.prediction_columns(load_predictions(), language),
            t("evidence_page.validation_note"),
        )
    with right:
        for key in ("evidence", "hardware"):
            errors(key)
    with left:
        errors("model")


def errors(key: str) -> None:
    """Errors of groups; the group with the most measurements first."""
    title = t(f"evidence_page.by_{key}")
    st.markdown(f"**{title}**")
    page.table(standing.error_table(key, language), f"errors_{key}", title)


def calculations() -> None:
    """Published numbers against recomputed ones, the ones that do not follow included."""
    good, count, table = standing.examples(language)
    st.caption(t("evidence_page.examples_note", k=good, n=count))
    page.table(table, "examples", t("evidence_page.examples"))


def csv_of(rows: Sequence[FigureRow], today: dt.date) -> bytes:
    """All figures as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ("path", "record", "field", "value", "unit", "low", "high", "source", "date", "kind", "note", "stale")
    )
    for r in rows:
        cells = (r.path, r.record, r.field, r.value, r.unit, r.low, r.high, r.source, r.date, r.kind, r.note)
        writer.writerow((*("" if c is None else c for c in cells), "yes" if standing.is_stale(r, today) else ""))
    return text.getvalue().encode("utf-8-sig")


def library() -> None:
    """Every figure, searchable, the stale ones marked."""
    today = dt.date.today()
    entries, old = standing.every_figure(language), standing.stale_places(language, today)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    asked = left.text_input(t("evidence_page.search"), key="_evidence_search", max_chars=100)
    only = right.checkbox(t("evidence_page.only_stale"), key="_evidence_stale")
    words = (asked or "").lower().split()
    places: Sequence[int] = sorted(old) if only else range(len(entries))
    hits = [n for n in places if all(w in entries[n][1] for w in words)] if words else places
    st.caption(
        t(
            "evidence_page.found",
            n=f"{len(hits):,}",
            all=f"{len(entries):,}",
            stale=f"{len(old.intersection(hits)) if words else len(old):,}",
            price=standing.STALE_PRICE_DAYS,
            other=standing.STALE_DAYS,
        )
    )
    if len(hits) > standing.SHOWN:
        st.caption(t("evidence_page.cut", n=standing.SHOWN))
    found = (
        standing.figure_columns(hits[: standing.SHOWN], language, today)
        if words or only
        else standing.first_figures(language, today)
    )
    page.table(found, "figures", t("evidence_page.figures"))
    st.download_button(
        t("evidence_page.download"),
        data=lambda: csv_of([row for row, _ in entries], today),
        file_name="figures.csv",
        mime="text/csv",
        key="_figures_download",
        on_click="ignore",
        icon=":material/download:",
    )


st.title(t("evidence_page.title"))
st.markdown(fmt.escape(t("evidence_page.intro", release=state.catalog.release, n=f"{standing.unseen()[0]:,}")))
page.tabs(
    {"evidence_page.measured": validation, "evidence_page.examples": calculations, "evidence_page.figures": library},
    "_evidence_tabs",
)
