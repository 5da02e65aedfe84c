"""Costs: a month line by line, ways to pay side by side, the cash flow by month, how many machines."""

from collections.abc import Sequence

import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _page as page
from calculators import views
from calculators.exports.months import COLUMNS, months
from calculators.levelised import levelised
from calculators.texts import months_text, translated

t = page.t
state, report = page.begin()
language = state.language
data = report.data


def answer() -> None:
    """What a month costs, in large type."""
    rows = data["self_host"]["lines"]
    largest = max(rows, key=lambda row: row["usd_per_month"] or 0.0)
    total = fmt.usd(data["self_host"]["usd_per_month"], language)
    words = t("costs.lines_title", total=total, line=page.text_of_line(largest["name"], language))
    st.title(fmt.escape(words), anchor=False)


def figures() -> None:
    """Capex, NPV, IRR, discounted payback."""
    payback, host = data["payback"], data["self_host"]
    discounted = payback["discounted_days"]
    known = report.status is not None
    irr = t("ui.unknown" if not known else "costs.no_irr")
    cards = (
        ("capex", fmt.usd(host["capex_usd"], language)),
        ("npv", fmt.usd(payback["npv_usd"], language)),
        ("irr", irr if payback["irr_per_year"] is None else fmt.fraction(payback["irr_per_year"], language)),
        (
            "discounted",
            fmt.unknown(language) if not known else fmt.within(discounted, state.scenario.horizon_months, language),
        ),
    )
    page.cards([(t(f"costs.{name}"), value, "", t(f"costs.{name}_help")) for name, value in cards])


def lines() -> None:
    """The month's lines; they sum to the total in the title."""
    rows = data["self_host"]["lines"]
    page.finding(t("page.working"), t("costs.lines_note"))
    page.small_table(
        {
            t("col.line"): [page.text_of_line(row["name"], language) for row in rows],
            t("col.usd_per_month"): [fmt.cents(row["usd_per_month"], language) for row in rows],
            t("col.formula"): [translated(row["formula"], language) for row in rows],
        }
    )
    seat = data["self_host"].get("usd_per_seat_month")
    if seat is not None:
        api = data["serverless"]["baseline"].get("usd_per_seat_month")
        st.markdown(t("costs.per_seat", own=fmt.usd(seat, language), api=fmt.usd(api, language)))


def ways() -> None:
    """Buy, loan and rent of these machines, and both APIs, for the tokens served."""
    own = views.ways_to_own(state.scenario, state.catalog, language, report)
    base, other = views.api_cost_of_served_usd_per_month(report)
    bars = [
        (t(f"costs.{way}"), option.usd_per_month, charts.OWN)
        for way, option in own.items()
        if not isinstance(option, str)
    ]
    bars.append((report.resolved.baseline.id, base, charts.API))
    if report.resolved.alternative is not None:
        bars.append((report.resolved.alternative.id, other, charts.ALTERNATIVE))
    shown = [(name, usd, colour) for name, usd, colour in bars if usd is not None]
    fig = charts.figure(t("axis.usd_per_month"), "")
    charts.ranked(
        fig,
        [name for name, _, _ in shown],
        [usd for _, usd, _ in shown],
        [colour for _, _, colour in shown],
        [fmt.usd(usd, language) for _, usd, _ in shown],
    )
    # without a bill to hold against them, the least of the own bars would be no answer
    comparable = base is not None and bool(shown)
    cheapest = min(shown, key=lambda bar: bar[1])[0] if comparable else ""
    served = float(report.result.served_requests_per_month) > 0
    title = t(
        "costs.ways_title" if comparable else "costs.ways_unpriced" if served else "costs.ways_nothing",
        cheapest=cheapest,
        offer=report.resolved.baseline.id,
    )

    def columns() -> dict[str, Sequence[object]]:
        return {
            t("costs.way"): list(own),
            t("col.capex_usd"): [fmt.option_usd(o, "capex_usd", language) for o in own.values()],
            t("col.usd_per_month"): [fmt.option_usd(o, "usd_per_month", language) for o in own.values()],
            t("axis.usd_per_mtok"): [fmt.option_usd(o, "usd_per_mtok", language) for o in own.values()],
            t("metric.payback"): [fmt.option_payback(o, language) for o in own.values()],
            t("col.why"): [o if isinstance(o, str) else o.why for o in own.values()],
        }

    page.chart(fig, "ways", title, t("costs.ways_alt", title=title), columns, t("costs.ways_note"))


def hybrid_key(count: int, usd: float) -> str:
    """Key of the title for the number of machines that costs least."""
    if count == 0:
        return "costs.hybrid_title_none" if usd > 0 else "costs.hybrid_title_idle"
    return "costs.hybrid_title_one" if count == 1 else "costs.hybrid_title"


def machines() -> None:
    """Cost against the number of machines, for a known demand."""
    curve = report.hybrid
    if curve is None:
        st.caption(t("costs.no_hybrid"))
        return
    fig = charts.figure(t("col.systems"), t("axis.usd_per_month"))
    x = curve.system_counts
    charts.line(fig, x, curve.total_usd_per_month, charts.INK, t("costs.total"), at=None)
    charts.line(fig, x, curve.own_usd_per_month, charts.OWN, t("chart.own"), at=None)
    charts.line(fig, x, curve.overflow_usd_per_month, charts.API, t("costs.rest_at_api"), at=None)
    charts.legend(fig)
    least = float(curve.total_usd_per_month[curve.best])
    charts.mark(fig, float(curve.best_count), least, t("costs.least", n=curve.best_count), position="bottom center")
    title = t(hybrid_key(curve.best_count, least), n=curve.best_count, usd=fmt.usd(least, language))
    note = t("costs.saved_api", usd=fmt.usd(curve.saved_against_api_usd_per_month, language))
    if curve.saved_against_own_usd_per_month is not None:
        note += " " + t("costs.saved_own", usd=fmt.usd(curve.saved_against_own_usd_per_month, language))
    columns = {
        t("col.systems"): x,
        t("chart.own_usd"): curve.own_usd_per_month,
        t("costs.rest_at_api"): curve.overflow_usd_per_month,
        t("costs.total"): curve.total_usd_per_month,
        t("costs.served_share"): curve.served_share,
    }
    page.chart(fig, "hybrid", title, t("costs.hybrid_alt", title=title), columns, note)


def by_kind() -> None:
    """Levelised cost per million tokens, in all and by kind."""
    found = levelised(report)
    if found is None:
        return
    title = t("levelised.title", usd=fmt.usd_per_mtok(found.usd_per_mtok, language))
    page.finding(title, t("levelised.note", share=fmt.fraction(found.prefill_share, language)))
    kinds = {
        t("levelised.all"): found.usd_per_mtok,
        t("levelised.new"): found.new_input_usd_per_mtok,
        t("levelised.cached"): found.cached_input_usd_per_mtok,
        t("levelised.output"): found.output_usd_per_mtok,
    }
    shown = {name: fmt.usd_per_mtok(value, language) for name, value in kinds.items() if value is not None}
    page.small_table({t("levelised.kind"): list(shown), "USD/Mtok": list(shown.values())})


def schedule() -> None:
    """Every month, as a controller ticks it off."""
    if report.status is None:
        return
    title = t("costs.schedule", n=months_text(state.scenario.horizon_months, language))
    with st.expander(title, key="schedule", on_change="rerun") as box:
        pass
    found = months(report) if box.open else None
    if found is not None:
        with box:
            money = st.column_config.NumberColumn
            page.table(
                {"month": range(len(found))} | {name: found.columns[name] for name in COLUMNS},
                "schedule_rows",
                title,
                column_config={"month": t("col.month")}
                | {
                    name: money(t(f"month.{name}"), format="%.4f" if name == "price_level" else "%,.0f")
                    for name in COLUMNS
                },
            )


answer()
figures()
page.tables()
with st.grid(2, min_column_width=400) as grid:
    with grid.cell():
        ways()
    with grid.cell():
        machines()
lines()
by_kind()
schedule()
page.notes(report)
page.sources(report, language)
