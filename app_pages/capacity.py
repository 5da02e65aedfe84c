"""Capacity: does it fit, how many sessions, how fast, how many tokens a month of which kind."""

import math

import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _page as page
from calculators import capacity
from calculators.numbers import three_digits, tokens
from calculators.report import to_json

t = page.t
PARTS = {
    "weights": charts.OWN,
    "cache": charts.ALTERNATIVE,
    "state": charts.OTHER,
    "overhead": charts.INK,
    "free": charts.GREY,
}


def figures() -> None:
    """Four figures: sessions, speed for a user, wait for the first token, evidence."""
    memory, speed = data["memory"], data["throughput"]
    columns = st.columns(4)
    columns[0].metric(
        t("capacity.at_once"),
        three_digits(speed["concurrency"]) if speed["concurrency"] else fmt.unknown(language),
        help=t(
            "capacity.at_once_help", most=memory["max_concurrent_sequences"] or 0, layout=report.result.sizing.layout
        ),
        border=True,
    )
    columns[1].metric(
        t("capacity.rate"),
        fmt.rate(speed["output_tokens_per_s"], language, "tok/s"),
        help=t("capacity.rate_help"),
        border=True,
    )
    columns[2].metric(
        "TPOT / TTFT",
        fmt.unknown(language)
        if speed["tpot_ms"] is None
        else f"{three_digits(speed['tpot_ms'])} ms / {three_digits(speed['ttft_s'])} s",
        help=t("capacity.latency_help"),
        border=True,
    )
    columns[3].metric(
        t("capacity.evidence"),
        t(f"evidence.{report.evidence}"),
        help=t(
            "capacity.evidence_help",
            low=fmt.fraction(speed["low_factor"], language),
            high=fmt.fraction(speed["high_factor"], language),
        ),
        border=True,
    )
    anchor = speed["anchor"]
    if anchor:
        st.caption(t("capacity.anchor", id=anchor["id"], date=anchor["date"], url=anchor["source_url"]))


def memory() -> None:
    """Where the memory of one accelerator goes."""
    parts, usable, short = capacity.memory_parts(report)
    fig = charts.figure("GB", "", height=190)
    for part in parts:
        name, size = t(f"capacity.{part.key}"), part.size_bytes / 1e9
        charts.bars(
            fig, [size], [t("capacity.one")], name, PARTS[part.key], [f"{name} {size:,.0f}" if size > 12 else ""]
        )
    charts.upright(fig, usable / 1e9, t("capacity.usable", gb=f"{usable / 1e9:,.0f}"))
    key = "capacity.fits" if short == 0 else "capacity.short"
    title = t(key, gb=f"{short / 1e9:,.0f}", weights=f"{parts[0].size_bytes / 1e9:,.0f}")
    columns = {t("col.figure"): [t(f"capacity.{p.key}") for p in parts], "GB": [p.size_bytes / 1e9 for p in parts]}
    page.chart(fig, "memory", title, title, columns)


def sessions() -> None:
    """Sessions that fit by context length."""
    fig = charts.figure(t("capacity.context"), t("capacity.sessions"))
    curves = capacity.sessions(report)
    columns: dict[str, list[float]] = {t("capacity.context"): curves[0].context_tokens.tolist()}
    for curve, colour, position in zip(
        curves,
        (charts.ALTERNATIVE, charts.OTHER, charts.OWN, charts.API),
        ("bottom left", "top right") * 2,
        strict=False,
    ):
        shown = [(x, y) for x, y in zip(curve.context_tokens, curve.sessions, strict=True) if y >= 1]
        name = f"{curve.layout} {curve.kv_dtype}"
        columns[name] = curve.sessions.tolist()
        if shown:
            charts.line(
                fig, [x for x, _ in shown], [y for _, y in shown], colour, name, at=len(shown) // 2, position=position
            )
    charts.logarithmic(fig)
    longest = max(curves, key=lambda c: c.sessions[-1])
    title = t("capacity.sessions_title", n=f"{longest.sessions[-1]:,.0f}", context=f"{longest.context_tokens[-1]:,.0f}")
    page.chart(fig, "sessions", title, title, columns, t("capacity.sessions_note"))


def speed() -> None:
    """Throughput against the speed of each user, with what was measured."""
    curve = capacity.speed(report)
    if curve is None:
        return
    fig = charts.figure(t("capacity.user_speed"), t("capacity.rate_axis"))
    x = curve.user_tokens_per_s.tolist()
    charts.band(
        fig, x, curve.low_output_tokens_per_s.tolist(), curve.high_output_tokens_per_s.tolist(), t("capacity.band")
    )
    charts.line(fig, x, curve.output_tokens_per_s.tolist(), charts.OWN, t("capacity.model"), at=len(x) // 3)
    near = [p for p in curve.measured if p.same_shape]
    if near:
        charts.points(
            fig,
            [p.tokens_per_s_per_user for p in near],
            [p.output_tokens_per_s for p in near],
            [""] * len(near),
            [charts.SYMBOL["measured"]] * len(near),
            colour=charts.INK,
            hover=[f"{p.id}: {p.output_tokens_per_s:,.0f} tok/s @ {p.concurrency:g}" for p in near],
        )
    if curve.point is not None:
        charts.mark(fig, *curve.point, t("capacity.chosen"), position="bottom left")
    title = t("capacity.speed_title" if near else "capacity.speed_unmeasured", n=len(near))
    columns = {
        t("capacity.at_once"): curve.concurrency.tolist(),
        t("capacity.user_speed"): x,
        t("capacity.rate_axis"): curve.output_tokens_per_s.tolist(),
        "TPOT (ms)": curve.tpot_ms.tolist(),
        "TTFT (s)": curve.ttft_s.tolist(),
    }
    page.chart(fig, "speed", title, title, columns, t("capacity.speed_note"))


def first_token() -> None:
    """The wait for the first token, graded by input length."""
    curve = capacity.first_token(report)
    rows = list(
        zip(curve.input_tokens.tolist(), curve.lone_s.tolist(), curve.loaded_s.tolist(), curve.grade, strict=True)
    )
    known = [r for r in rows if math.isfinite(r[1])]
    columns = {
        t("capacity.input"): [r[0] for r in rows],
        t("capacity.alone"): [r[1] if math.isfinite(r[1]) else None for r in rows],
        t("capacity.loaded"): [r[2] if math.isfinite(r[2]) else None for r in rows],
        t("capacity.grade"): [t(f"capacity.grade_{r[3].replace(' ', '_')}") for r in rows],
    }
    if not known:
        return
    fig = charts.figure(t("capacity.input"), t("capacity.wait"))
    charts.line(
        fig,
        [r[0] for r in known],
        [r[1] for r in known],
        charts.OWN,
        t("capacity.alone"),
        hover="%{y:.3g} s",
        at=len(known) // 2,
        position="bottom right",
    )
    busy = [r for r in known if math.isfinite(r[2])]
    if busy:
        charts.line(
            fig,
            [r[0] for r in busy],
            [r[2] for r in busy],
            charts.OTHER,
            t("capacity.loaded"),
            hover="%{y:.3g} s",
            at=len(busy) // 2,
        )
    charts.logarithmic(fig)
    title = t(
        "capacity.ttft_title",
        short=three_digits(known[0][1]),
        long=three_digits(known[-1][1]),
        first=f"{known[0][0]:,.0f}",
        last=f"{known[-1][0]:,.0f}",
    )
    page.chart(fig, "first_token", title, title, columns, t("capacity.ttft_note"))


def by_month() -> None:
    """Tokens of a month by kind and utilization."""
    rows = capacity.months(report)
    st.markdown(f"##### {t('capacity.month_title')}")
    columns = {
        t("capacity.utilization"): [fmt.fraction(r.utilization, language) for r in rows],
        t("capacity.new_input"): [tokens(r.new_input_tokens) for r in rows],
        t("capacity.cached_input"): [tokens(r.cached_input_tokens) for r in rows],
        t("capacity.output"): [tokens(r.output_tokens) for r in rows],
        t("capacity.total"): [tokens(r.tokens) for r in rows],
    }
    page.table(columns, "by_month", t("capacity.month_title"))


state, report = page.begin(t("nav.capacity"))
language = state.language
data = to_json(report)
if report.status is None:
    st.markdown(fmt.escape(report.reason))
figures()
memory()
left, right = st.columns(2)
with left:
    speed()
with right:
    sessions()
left, right = st.columns(2)
with left:
    first_token()
with right:
    if report.evidence != "none":
        by_month()
page.notes(report)
page.sources(report, language)
