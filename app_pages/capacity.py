"""Capacity: does it fit, how many sessions, how fast, how many tokens a month."""

import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _inputs as inputs
from app_pages import _page as page
from calculators import capacity
from calculators.numbers import share, three_digits, tokens

t = page.t
state, report = page.begin()
language = state.language
data = report.data
sizing = report.result.sizing
known = report.evidence != "none"
speeds = capacity.speed(report)


def anchor_link(anchor: Mapping[str, Any]) -> str:
    """A measured point in markdown: a link where its source is one bare address, else its id and words."""
    name, source = fmt.escape(anchor["id"]), anchor["source_url"]
    if re.fullmatch(r"https?://[^\s()<>\[\]]+", source):
        return f"[{name}]({source})"
    return f"{name} ({fmt.escape(source)})" if source else name


def answer() -> None:
    """The capacity in large type, where it comes from, four figures."""
    rate, month = data["throughput"], data["capacity"]
    if not known:
        st.title(fmt.escape(report.sentences(language)[0]), anchor=False)
    else:
        total = fmt.token_count(month["tokens_per_month"], language)
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
                limit=t(f"limit.{str(sizing.limited_by).replace(' ', '_')}"),
            )
        )
    if anchor is not None:
        words.append(t("cap.anchor", link=anchor_link(anchor), date=fmt.escape(anchor["date"])))
    if report.inputs.sizing.stated is not None:
        words.append(t("cap.linked"))
    if words:
        st.markdown(" ".join(words))
    cards = (
        (
            "sessions",
            fmt.count(rate["concurrency"], language),
            fmt.count(data["memory"]["max_concurrent_sequences"], language),
        ),
        ("output", fmt.rate(rate["output_tokens_per_s"], language), fmt.rate(rate["requests_per_s"], language, "")),
        (
            "tpot",
            fmt.rate(rate["tpot_ms"], language, "ms"),
            fmt.rate(None if speeds is None or speeds.point is None else speeds.point[0], language),
        ),
        (
            "ttft",
            fmt.rate(rate["ttft_s"], language, "s"),
            fmt.count(state.scenario.input_tokens, language),
        ),
    )
    page.cards([(t(f"cap.{n}"), v, t(f"cap.{n}_line", value=line), t(f"cap.{n}_help")) for n, v, line in cards])


def memory() -> None:
    """Where the memory of one accelerator goes."""
    parts, usable, short = capacity.memory_parts(report)
    fig = charts.figure(t("axis.gb"), "", height=190)
    for part in parts:
        size = fmt.gigabytes(part.size_bytes)
        charts.bars(fig, [size], [""], t(f"memory.{part.key}"), charts.PARTS[part.key], [f"{size:,.1f} GB"])
    charts.legend(fig)
    charts.upright(fig, fmt.gigabytes(usable), t("memory.usable"), layer="above")
    weights = fmt.size(parts[0].size_bytes, language)
    title = (
        t("memory.short", short=f"{fmt.gigabytes(short):,.1f}")
        if short > 0
        else t("memory.title", weights=weights, size=fmt.size(usable, language))
    )
    columns = {
        t("memory.part"): [t(f"memory.{part.key}") for part in parts],
        "GB": [fmt.gigabytes(part.size_bytes) for part in parts],
    }
    note = t("memory.note" if sizing.fits else "memory.note_short")
    page.chart(fig, "memory", title, t("memory.alt", title=title), columns, note)


def sessions() -> None:
    """Sessions by context length, by layout and cache precision."""
    curves = capacity.sessions(report)
    fig = charts.figure(t("axis.context"), t("axis.sessions"))
    for style, curve in zip(charts.LAYOUTS, curves, strict=False):
        x, y = fmt.positive(curve.context_tokens, curve.sessions)
        charts.line(fig, x, y, style[0], f"{curve.layout}, {curve.kv_dtype}", at=None, dash=style[1], hover="%{y:,.0f}")
    charts.legend(fig)
    context = state.scenario.input_tokens + state.scenario.output_tokens
    charts.logarithmic(fig, curves[0].context_tokens, [v for curve in curves for v in curve.sessions])
    charts.upright(fig, context, t("cap.yours"), log=True, low=True)
    places = {
        "context": fmt.count(context, language),
        "long": fmt.count(max(float(c.sessions[-1]) for c in curves), language),
    }
    if sizing.fits:
        held = fmt.count(data["memory"]["max_concurrent_sequences"], language)
        title = t("cap.sessions_title", n=held, **places)
    elif str(sizing.limited_by) == "context":
        title = t("cap.sessions_title_long", **places)
    else:
        title = t("cap.sessions_title_short", n=fmt.count(data["memory"]["min_systems"], language), **places)
    columns = {t("axis.context"): curves[0].context_tokens} | {f"{c.layout}, {c.kv_dtype}": c.sessions for c in curves}
    page.chart(fig, "sessions", title, t("cap.sessions_alt", title=title), columns, t("cap.sessions_note"))


def speed(curve: capacity.Speed) -> None:
    """Throughput against the time per token, with what was measured."""
    fig = charts.figure(t("axis.tpot_ms"), t("axis.output_tokens_per_s"))
    near = [p for p in curve.measured if p.same_shape]
    charts.band(fig, curve.tpot_ms, curve.low_output_tokens_per_s, curve.high_output_tokens_per_s, t("cap.band"))
    charts.line(fig, curve.tpot_ms, curve.output_tokens_per_s, charts.OWN, t("cap.model"), at=None)
    charts.points(
        fig,
        [fmt.milliseconds_each(p.tokens_per_s_per_user) for p in near],
        [p.output_tokens_per_s for p in near],
        [""] * len(near),
        [charts.SYMBOL["measured"]] * len(near),
        colour=charts.API,
        hover=[t("cap.point_hover", id=p.id, rate=f"{p.output_tokens_per_s:,.0f}", n=p.concurrency) for p in near],
        sizes=9,
    )
    title = t("cap.speed_none")
    if known and curve.point is None:
        title = t("cap.speed_own", rate=three_digits(float(sizing.output_tokens_per_s)))
    elif known:
        rate, tpot = three_digits(float(sizing.output_tokens_per_s)), three_digits(float(sizing.tpot_ms))
        title = t("cap.speed_title", rate=rate, tpot=tpot)
    if curve.point is not None:
        charts.mark(fig, float(sizing.tpot_ms), curve.point[1], t("cap.point"), position="bottom right")
    limit = state.scenario.max_tpot_ms
    if limit is not None and limit <= curve.tpot_ms.max():
        charts.upright(fig, limit, t("cap.limit"))
    columns = {
        t("axis.concurrency"): curve.concurrency,
        t("axis.tpot_ms"): curve.tpot_ms,
        t("axis.user_tokens_per_s"): curve.user_tokens_per_s,
        t("axis.ttft_s"): curve.ttft_s,
        t("axis.output_tokens_per_s"): curve.output_tokens_per_s,
        t("cap.low"): curve.low_output_tokens_per_s,
        t("cap.high"): curve.high_output_tokens_per_s,
    }
    note = t("cap.speed_note", n=len(near))
    page.chart(fig, "speed", title, t("cap.speed_alt", title=title), columns, note)


def first_token() -> None:
    """Time to first token by input length."""
    curve = capacity.first_token(report)
    lone, loaded = (fmt.positive(curve.input_tokens, values) for values in (curve.lone_s, curve.loaded_s))
    if not lone[0]:
        return
    fig = charts.figure(t("axis.input_tokens"), t("axis.ttft_s"))
    hover = "%{y:,.2f} s"
    charts.line(fig, *loaded, charts.API, t("cap.loaded"), hover=hover, at=len(loaded[0]) // 2, position="top left")
    charts.line(fig, *lone, charts.OWN, t("cap.lone"), hover=hover, at=len(lone[0]) // 2, position="bottom right")
    charts.logarithmic(fig, lone[0], [*lone[1], *loaded[1]])
    title = t("cap.ttft_title", context=fmt.token_count(lone[0][-1], language), s=three_digits(lone[1][-1]))
    columns = {
        t("axis.input_tokens"): curve.input_tokens,
        t("cap.lone"): fmt.finite(curve.lone_s),
        t("cap.loaded"): fmt.finite(curve.loaded_s),
        t("cap.grade"): [t(f"grade.{g.replace(' ', '_')}") for g in curve.grade],
    }
    page.chart(fig, "ttft", title, t("cap.ttft_alt", title=title), columns, t("cap.ttft_note"))


def by_utilization() -> None:
    """Tokens a month by kind and by utilization."""
    rows = capacity.months(report)
    kinds = ("tokens", "new_input_tokens", "cached_input_tokens", "output_tokens")
    columns = {inputs.field_title("utilization", language): [share(row.utilization) for row in rows]} | {
        t(f"cap.{kind}"): [tokens(getattr(row, kind)) for row in rows] for kind in kinds
    }
    page.finding(t("cap.month_title"))
    page.small_table(columns)


answer()
page.tables()
with st.grid(2, min_column_width=400) as grid:
    with grid.cell():
        memory()
    with grid.cell():
        sessions()
    if speeds is not None:
        with grid.cell():
            speed(speeds)
    with grid.cell():
        first_token()
if known:
    by_utilization()
page.notes(report)
page.sources(report, language)
