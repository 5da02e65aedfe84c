"""Capacity: does it fit, how many sessions, how fast, how many tokens a month."""

import numpy as np
import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _page as page
from calculators import views
from calculators.numbers import share, three_digits, tokens
from calculators.report import to_json
from calculators.sizing import concurrency_by_context, latency_curve, memory_breakdown, ttft_by_input

t = page.t
state, report = page.begin()
language = state.language
data = to_json(report)
sizing, site = report.result.sizing, report.inputs.sizing
known = bool(sizing.fits) and report.evidence != "none"
gigabytes = fmt.gigabytes


def answer() -> None:
    """The capacity in large type, where it comes from, four figures."""
    rate, capacity = data["throughput"], data["capacity"]
    if not known:
        st.title(fmt.escape(report.sentences(language)[0]), anchor=False)
    else:
        total = fmt.token_count(capacity["tokens_per_month"], language)
        st.title(fmt.escape(t("cap.title", total=total, plan=report.resolved.system.name)), anchor=False)
    anchor, words = rate["anchor"], []
    if known:
        words.append(
            t(
                "cap.evidence",
                evidence=t(f"evidence.{report.evidence}"),
                low=share(1 - rate["low_factor"]),
                high=share(rate["high_factor"] - 1),
                layout=sizing.layout,
                limit=t(f"limit.{str(np.ravel(sizing.limited_by)[0]).replace(' ', '_')}"),
            )
        )
    if anchor is not None:
        link = f"[{fmt.escape(anchor['id'])}]({anchor['source_url']})" if anchor["source_url"] else anchor["id"]
        words.append(t("cap.anchor", link=link, date=anchor["date"]))
    if words:
        st.markdown(" ".join(words))
    cards = (
        (
            "sessions",
            fmt.count(rate["concurrency"], language),
            fmt.count(data["memory"]["max_concurrent_sequences"], language),
        ),
        ("output", fmt.rate(rate["output_tokens_per_s"], language), fmt.rate(rate["requests_per_s"], language, "/s")),
        ("tpot", fmt.rate(rate["tpot_ms"], language, "ms"), fmt.rate(views.per_user_tokens_per_s(report), language)),
        (
            "ttft",
            fmt.rate(rate["ttft_s"], language, "s"),
            fmt.token_count(float(state.scenario.input_tokens), language),
        ),
    )
    for column, (name, value, line) in zip(st.columns(4), cards, strict=True):
        column.metric(
            t(f"cap.{name}"),
            value,
            delta=t(f"cap.{name}_line", value=line),
            delta_color="off",
            delta_arrow="off",
            help=t(f"cap.{name}_help"),
            border=True,
        )


def memory() -> None:
    """Where the memory of one accelerator goes."""
    parts = memory_breakdown(site, sizing)
    fig = charts.figure(t("axis.gb"), "", height=190)
    shown = (
        ("weights", parts.weights_bytes, charts.OWN),
        ("cache", parts.cache_bytes, charts.ALTERNATIVE),
        ("state", parts.state_bytes, charts.OTHER),
        ("overhead", parts.overhead_bytes, charts.INK),
        ("free", parts.free_bytes, charts.FREE),
    )
    for name, size, colour in shown:
        charts.bars(fig, [gigabytes(size)], [""], t(f"memory.{name}"), colour, [f"{gigabytes(size):,.1f} GB"])
    charts.legend(fig)
    charts.upright(fig, gigabytes(parts.usable_bytes), t("memory.usable"))
    title = (
        t("memory.short", short=f"{gigabytes(parts.short_bytes):,.1f}")
        if parts.short_bytes > 0
        else t(
            "memory.title",
            share=share(parts.weights_bytes / parts.usable_bytes),
            size=f"{gigabytes(parts.usable_bytes):,.0f}",
        )
    )
    columns = {
        t("memory.part"): [t(f"memory.{name}") for name, _, _ in shown],
        "GB": [gigabytes(size) for _, size, _ in shown],
    }
    page.chart(fig, "memory", title, t("memory.alt", title=title), columns, t("memory.note"))


def sessions() -> None:
    """Sessions by context length, by layout and cache precision."""
    curves = concurrency_by_context(site)
    fig = charts.figure(t("axis.context"), t("axis.sessions"))
    for place, curve in enumerate(curves):
        keep = curve.sessions > 0
        if not keep.any():
            continue
        colour, dash = charts.LAYOUTS[place % 4]
        x, y = curve.context_tokens[keep], curve.sessions[keep]
        label = f"{curve.layout}, {curve.kv_dtype}"
        charts.line(fig, x, y, colour, label, at=None, dash=dash, hover="%{y:,.0f}")
    charts.legend(fig)
    context = state.scenario.input_tokens + state.scenario.output_tokens
    charts.logarithmic(fig, curves[0].context_tokens, np.concatenate([c.sessions for c in curves]))
    charts.upright(fig, context, t("cap.yours"), log=True)
    title = t(
        "cap.sessions_title",
        n=fmt.count(data["memory"]["max_concurrent_sequences"], language),
        context=tokens(context),
        long=fmt.count(max(float(c.sessions[-1]) for c in curves), language),
    )
    columns = {t("axis.context"): curves[0].context_tokens} | {f"{c.layout}, {c.kv_dtype}": c.sessions for c in curves}
    page.chart(fig, "sessions", title, t("cap.sessions_alt", title=title), columns, t("cap.sessions_note"))


def speed() -> None:
    """Throughput against the speed that one user sees, with what was measured."""
    curve = latency_curve(site)
    if not curve.concurrency.size:
        return
    fig = charts.figure(t("axis.tpot_ms"), t("axis.output_tokens_per_s"))
    near = [p for p in curve.measured if p.same_shape]
    charts.band(fig, curve.tpot_ms, curve.low_output_tokens_per_s, curve.high_output_tokens_per_s, t("cap.band"))
    inside = ~curve.beyond_measured
    charts.line(
        fig, curve.tpot_ms, curve.output_tokens_per_s, charts.OWN, t("cap.model"), at=None, dash="dot", width=1.5
    )
    charts.line(fig, curve.tpot_ms[inside], curve.output_tokens_per_s[inside], charts.OWN, t("cap.model"), at=None)
    charts.points(
        fig,
        [1e3 / p.tokens_per_s_per_user for p in near],
        [p.output_tokens_per_s for p in near],
        [""] * len(near),
        [charts.SYMBOL["measured"]] * len(near),
        colour=charts.API,
        hover=[f"{p.id}: {p.output_tokens_per_s:,.0f} tokens/s, {p.concurrency:,.0f}" for p in near],
        sizes=9,
    )
    if known:
        x, y = float(sizing.tpot_ms), views.replica_output_tokens_per_s(report)
        charts.mark(fig, x, y, t("cap.point"), position="bottom right")
    if state.scenario.max_tpot_ms is not None and curve.tpot_ms.max() > state.scenario.max_tpot_ms * 0.5:
        charts.upright(fig, state.scenario.max_tpot_ms, t("cap.limit"))
    title = (
        t(
            "cap.speed_title",
            rate=three_digits(float(sizing.output_tokens_per_s)),
            tpot=three_digits(float(sizing.tpot_ms)),
        )
        if known
        else t("cap.speed_none")
    )
    columns = {
        t("axis.concurrency"): curve.concurrency,
        t("axis.tpot_ms"): curve.tpot_ms,
        "TTFT, s": curve.ttft_s,
        t("axis.output_tokens_per_s"): curve.output_tokens_per_s,
        t("cap.low"): curve.low_output_tokens_per_s,
        t("cap.high"): curve.high_output_tokens_per_s,
    }
    note = t("cap.speed_note", n=len(near))
    page.chart(fig, "speed", title, t("cap.speed_alt", title=title), columns, note)


def first_token() -> None:
    """Time to first token by input length."""
    curve = ttft_by_input(site)
    fig = charts.figure(t("axis.input_tokens"), t("axis.ttft_s"))
    for values, colour, label in (
        (curve.loaded_s, charts.API, t("cap.loaded")),
        (curve.lone_s, charts.OWN, t("cap.lone")),
    ):
        keep = np.isfinite(values)
        if keep.any():
            where = int(keep.sum()) * 2 // 3
            charts.line(
                fig,
                curve.input_tokens[keep],
                values[keep],
                colour,
                label,
                hover="%{y:,.2f} s",
                at=where,
                position="top left" if colour == charts.API else "bottom right",
            )
    both = np.concatenate((curve.lone_s, curve.loaded_s))
    charts.logarithmic(fig, curve.input_tokens, both[np.isfinite(both)])
    finite = curve.lone_s[np.isfinite(curve.lone_s)]
    title = t("cap.ttft_title", s=three_digits(float(finite[-1]))) if finite.size else t("cap.speed_none")
    columns = {
        t("axis.input_tokens"): curve.input_tokens,
        t("cap.lone"): fmt.finite(curve.lone_s),
        t("cap.loaded"): fmt.finite(curve.loaded_s),
        t("cap.grade"): [t(f"grade.{g.replace(' ', '_')}") for g in curve.grade],
    }
    page.chart(fig, "ttft", title, t("cap.ttft_alt", title=title), columns, t("cap.ttft_note"))


def by_utilization() -> None:
    """Tokens a month by kind and by utilization."""
    table = views.tokens_by_utilization(report)
    page.finding(t("cap.month_title"))
    page.table(
        {t("input.utilization").capitalize(): [share(u) for u in table.utilization]}
        | {
            t(f"cap.{kind}_tokens"): [tokens(v) for v in values] for kind, values in table.tokens_per_month.items()
        },
        "by_utilization",
        t("cap.month_title"),
    )


answer()
for parts in ((memory, sessions), (speed, first_token)):
    for column, draw in zip(st.columns(2), parts, strict=True):
        with column:
            draw()
if known:
    by_utilization()
page.notes(report)
page.sources(report, language)
