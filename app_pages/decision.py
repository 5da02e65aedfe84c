"""Decision: does it pay back, when, against what; the first page."""

from collections.abc import Sequence

import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _inputs as inputs
from app_pages import _page as page
from calculators import views
from calculators.numbers import money, share, tokens
from calculators.texts import months_text
from calculators.uncertainty import cash_band
from calculators.verdict import break_even_key, cash_key

t = page.t
state, report = page.begin()
language = state.language
bought = float(report.result.ownership.capex_usd) > 0
horizon = months_text(state.scenario.horizon_months, language)
data = report.data


def verdict() -> None:
    """The answer in large type, its reasons below."""
    first, *rest = report.sentences(language)
    if state.scenario.title:
        st.caption(fmt.escape(state.scenario.title))
    st.title(fmt.escape(first), anchor=False)
    if report.uncertainty is not None:
        unsure = report.uncertainty
        chance = fmt.chance(unsure.probability_pays_back if bought else unsure.probability_npv_above_zero, language)
        rest.append(t("decision.chance" if bought else "decision.chance_saves", share=chance, horizon=horizon))
    st.markdown(fmt.escape(" ".join(rest) if language == "en" else "".join(rest)))


def figures() -> None:
    """Four figures, each with a line that compares and its parts in the help."""
    unsure = report.uncertainty
    capacity, even, host, served = data["capacity"], data["break_even"], data["self_host"], data["served"]
    cards = (
        (
            "capacity",
            fmt.token_count(capacity["tokens_per_month"], language),
            {"served": fmt.token_count(served["tokens_per_month"], language)},
            {
                "new": fmt.token_count(capacity["new_input_tokens_per_month"], language),
                "cached": fmt.token_count(capacity["cached_input_tokens_per_month"], language),
                "output": fmt.token_count(capacity["output_tokens_per_month"], language),
                "evidence": t(f"evidence.{report.evidence}"),
            },
        ),
        (
            "usd_per_mtok",
            fmt.usd_per_mtok(host["usd_per_mtok"], language),
            {"api": fmt.usd_per_mtok(data["serverless"]["baseline"]["usd_per_mtok"], language)},
            {
                "month": fmt.usd(host["usd_per_month"], language),
                "served": fmt.token_count(served["tokens_per_month"], language),
            },
        ),
        (
            "payback",
            fmt.payback(report.status, report.days, language),
            {"band": fmt.band(unsure.payback_days if unsure else None, language)},
            {
                "capex": fmt.usd(host["capex_usd"], language),
                "saving": fmt.usd(report.saving_usd_per_month, language),
                "alternative": fmt.payback(report.alternative_status, report.alternative_days, language),
                "offer": data["serverless"]["alternative"]["offer"] or t("ui.unknown"),
            },
        ),
        (
            "break_even",
            fmt.usd(even["api_usd_per_month"], language),
            {"tokens": fmt.token_count(even["tokens_per_month"], language)},
            {"utilization": fmt.fraction(even["utilization"], language), "horizon": horizon},
        ),
    )
    if not bought and report.status is not None:
        offer = data["serverless"]["alternative"]["offer"] or t("ui.unknown")
        other = fmt.usd(report.alternative_saving_usd_per_month, language)
        saved = fmt.usd(report.saving_usd_per_month, language)
        cards = (*cards[:2], ("saving", saved, {}, {"offer": offer, "other": other}), cards[3])
    page.cards(
        [
            (t(f"metric.{name}"), value, t(f"metric.{name}_line", **line), t(f"metric.{name}_help", **parts))
            for name, value, line, parts in cards
        ]
    )


def cash_flow(own: Sequence[float | None]) -> None:
    """Cumulative cash flow against both offers."""
    other = report.cumulative_usd(alternative=True)
    x = list(range(len(own)))
    fig = charts.figure(t("axis.month"), t("axis.cumulative_usd"), zero=False)
    offer = report.resolved.baseline.id
    lines = [(own, charts.API, offer)]
    if other is not None and report.resolved.alternative is not None:
        lines.append((other, charts.ALTERNATIVE, report.resolved.alternative.id))
    unsure, likely = report.uncertainty, t("chart.likely")
    band = None if unsure is None else cash_band(report.inputs, report.result, unsure.inputs)
    if band is not None:
        charts.band(fig, x, band[0].tolist(), band[1].tolist(), likely)
    charts.fan(fig, x, lines)
    told = fmt.payback(report.status, report.days, language)
    if report.status == "pays_back":
        charts.mark(fig, float(report.result.flow.payback_months), 0.0, told, position="bottom right")
    title = t(cash_key(report.result, report.status), days=told, horizon=horizon)
    alt = t("chart.cash_alt", title=title, offer=offer, end=money(own[-1] or 0.0))
    columns = {t("col.month"): x} | {f"{t('chart.against', offer=name)}, USD": values for values, _, name in lines}
    if band is not None:
        columns |= {f"{likely}, P10": band[0].tolist(), f"{likely}, P90": band[1].tolist()}
    page.chart(fig, "cash_flow", title, alt, columns)


def cost_curve(curve: views.CostCurve) -> None:
    """Cost of a month against volume, whole systems at a time."""
    fig = charts.figure(t("axis.tokens_per_month"), t("axis.usd_per_month"))
    charts.beyond(fig, curve.capacity_tokens, float(curve.own_tokens[-1]), t("chart.beyond"))
    lines = [(curve.api_usd, charts.API, report.resolved.baseline.id)]
    if curve.alternative_usd is not None and report.resolved.alternative is not None:
        lines.append((curve.alternative_usd, charts.ALTERNATIVE, report.resolved.alternative.id))
    charts.fan(fig, curve.api_tokens, lines)
    charts.line(fig, curve.own_tokens, curve.own_usd, charts.OWN, t("chart.own"), at=0, position="top right")
    if curve.break_even_tokens is not None and curve.break_even_usd is not None:
        label = t("chart.break_even", tokens=tokens(curve.break_even_tokens))
        charts.mark(fig, curve.break_even_tokens, curve.break_even_usd, label, position="bottom right")
        title = t(break_even_key(report.even), tokens=tokens(curve.break_even_tokens))
    else:
        title = t("chart.never_cheaper")
    charts.upright(fig, curve.served_tokens, t("chart.planned"))
    columns = {
        t("axis.tokens_per_month"): curve.own_tokens,
        t("col.systems"): curve.own_counts,
        t("chart.own_usd"): curve.own_usd,
    }
    capacity, load = tokens(curve.capacity_tokens), share(state.scenario.utilization)
    page.chart(fig, "cost_curve", title, t("chart.cost_alt", title=title, capacity=capacity, share=load), columns)


def first_visit() -> None:
    """Three questions for those who come without a scenario; the answer stands above them already."""
    with st.popover(t("guide.start"), key="guide", on_change="rerun") as box:
        if box.open:
            inputs.guide(state)


verdict()
figures()
if state.first_visit:
    first_visit()
money_by_month, curve = report.cumulative_usd(), views.cost_curve(report)
if money_by_month is not None or curve is not None:
    page.tables()
with st.grid(2, min_column_width=400) as grid:
    if money_by_month is not None:
        with grid.cell():
            cash_flow(money_by_month)
    if curve is not None:
        with grid.cell():
            cost_curve(curve)
page.share_and_downloads(report, language)
page.notes(report)
page.sources(report, language)
