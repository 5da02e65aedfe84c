"""Machines: every machine of the catalogue for this workload, those that do not fit included, with why."""

import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _page as page
from calculators import views

t = page.t
state, report = page.begin()
language = state.language
options = sorted(views.machines(state.scenario, state.catalog, language, report), key=views.by_payback)
fastest, cheapest = views.best(options)


def evidence(option: views.Option) -> str:
    """'measured', or that it does not fit."""
    if not option.fits:
        return t("machines.does_not_fit")
    return t("ui.unknown") if option.evidence == "none" else t(f"evidence.{option.evidence}")


def chart() -> None:
    """USD per million tokens against payback; the shape is the evidence."""
    shown = [o for o in options if o.days and o.usd_per_mtok]
    fig = charts.figure(t("axis.usd_per_mtok"), t("axis.payback_days"), height=380)
    fig.update_layout(hovermode="closest")
    hover = [
        f"{o.name}: {fmt.usd_per_mtok(o.usd_per_mtok, language)}, "
        f"{fmt.payback(o.status, o.days, language)}, {evidence(o)}"
        for o in shown
    ]
    x, y, names = [o.usd_per_mtok or 0.0 for o in shown], [o.days or 0.0 for o in shown], [o.name for o in shown]
    places = charts.label_places(x, y, names)
    charts.points(fig, x, y, names, [charts.SYMBOL[o.evidence] for o in shown], hover=hover, positions=places)
    api = views.api_usd_per_mtok(report)
    charts.logarithmic(fig, x if api is None else [*x, api], y)
    chosen = [o for o in shown if o.id == state.scenario.system]
    for option in chosen:
        charts.ring(fig, option.usd_per_mtok, option.days)
    if api is not None and api > 0:
        charts.upright(fig, api, t("machines.api_today"), log=True, low=True)
        # written towards the middle of the chart, so that its edge cuts nothing
        fig.layout["annotations"][-1]["xanchor"] = "right" if api * api > min([*x, api]) * max([*x, api]) else "left"
    title = (
        t("machines.none_pays")
        if fastest is None or cheapest is None
        else t(
            "machines.finding",
            fastest=fastest.name,
            days=fmt.payback(fastest.status, fastest.days, language),
            cheapest=cheapest.name,
            usd=fmt.usd_per_mtok(cheapest.usd_per_mtok, language),
        )
    )
    legend = ", ".join(t(f"machines.shape_{level}") for level in dict.fromkeys(o.evidence for o in shown))
    left_out = t("machines.left_out", n=len(options) - len(shown))
    st.title(fmt.escape(title), anchor=False)
    st.caption(f"{t('machines.shapes')} {legend}. {left_out}" if shown else left_out)
    if shown:
        page.plot(fig, "machines", t("machines.alt", title=title, n=len(shown)))


def rows() -> None:
    """All machines, sortable by every column."""
    number = st.column_config.NumberColumn
    names = {
        "name": st.column_config.TextColumn(t("col.machine"), pinned=True),
        "count": number(t("col.systems"), format="localized"),
        "evidence": t("col.evidence"),
        "usd_per_mtok": number(t("axis.usd_per_mtok"), format="%.3f"),
        "days": number(t("axis.payback_days"), format="localized"),
        "rate": number(t("col.output_tokens_per_s"), format="localized"),
        "served": number(t("col.served_btok"), format="%.2f"),
        "capex": number(t("col.capex_usd"), format="localized"),
        "month": number(t("col.usd_per_month"), format="localized"),
        "band": t("col.band"),
        "why": st.column_config.TextColumn(t("col.why"), width="large"),
    }
    page.table(
        {
            "name": [o.name for o in options],
            "evidence": [evidence(o) for o in options],
            "usd_per_mtok": [o.usd_per_mtok for o in options],
            "days": [fmt.whole(o.days) for o in options],
            "rate": [fmt.whole(o.output_tokens_per_s) for o in options],
            "served": [fmt.billions(o.tokens_per_month) for o in options],
            "capex": [fmt.whole(o.capex_usd) for o in options],
            "month": [fmt.whole(o.usd_per_month) for o in options],
            "count": [o.system_count for o in options],
            "band": [fmt.factors(o.low_factor, o.high_factor, language) for o in options],
            "why": [o.why for o in options],
        },
        "machines_rows",
        t("machines.table_alt"),
        column_config=names,
        height="content",
        placeholder=t("ui.unknown"),
    )


chart()
rows()
page.sources(report, language)
