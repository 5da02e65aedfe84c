"""Claims: what was said in public about running Kimi K3, recomputed and rated."""

import math
from urllib.parse import urlencode

import streamlit as st

from app_pages import _charts as charts
from app_pages import _format as fmt
from app_pages import _inputs as inputs
from app_pages import _page as page
from calculators.catalog import load_catalog
from calculators.claims import Claim, Rating, judge_all
from calculators.numbers import money, share, three_digits, tokens

t = page.t
state = inputs.current()
language = state.language
RATINGS: tuple[Rating, ...] = ("supported", "holds_only_if", "contradicted", "cannot_be_checked")
BADGES = {
    "supported": ":green-badge[:material/check: {}]",
    "holds_only_if": ":blue-badge[:material/rule: {}]",
    "contradicted": ":orange-badge[:material/close: {}]",
    "cannot_be_checked": ":gray-badge[:material/help: {}]",
}
"""Each rating has a word and a shape; the colour only repeats it."""

CLAIMED_TOKENS, CLAIMED_DAYS = 30e9, 100.0


@st.cache_resource(show_spinner=False)
def judged(release: str) -> tuple[Claim, ...]:
    """All claims against the data of this process; they depend on nothing that a person chooses."""
    return judge_all(load_catalog())


def figure(value: float | None, unit: str) -> str:
    """A number of a claim with its unit."""
    if value is None:
        return ""
    if math.isinf(value):
        return t("payback.never")
    if unit == "days":
        return fmt.days_or_never(value, language)
    if unit == "share":
        return share(value)
    if unit in ("USD", "USD/month"):
        return money(value)
    if unit == "tokens/month":
        return tokens(value)
    return f"{three_digits(value)} {unit}"


def show(claim: Claim) -> None:
    """One claim: what was said, the rating with its reason, a link, and the numbers behind it."""
    with st.container(border=True, key=f"claim_{claim.id}"):
        badge = BADGES[claim.rating].format(t(f"rating.{claim.rating}"))
        said = fmt.escape(t("claims.said", who=claim.said_by, when=claim.date))
        target = "./?" + urlencode({**claim.link(), "lang": language})
        st.markdown(
            f"{badge} **{claim.id}** {fmt.escape(claim.statement(language))} *{said}*\n\n"
            f"{fmt.escape(claim.reason(language))} [{t('claims.open', id=claim.id)}]({target})"
        )
        with st.expander(t("claims.numbers", id=claim.id), key=f"claim_numbers_{claim.id}", on_change="rerun") as box:
            pass
        if box.open:
            with box:
                numbers = claim.numbers
                page.table(
                    {
                        t("claims.col_what"): [n.name(language) for n in numbers],
                        t("claims.col_claimed"): [figure(n.claimed, n.unit) for n in numbers],
                        t("claims.col_computed"): [figure(n.computed, n.unit) for n in numbers],
                    },
                    f"claim_rows_{claim.id}",
                    claim.statement(language),
                )


def combinations(claim: Claim) -> None:
    """All combinations of c01 against the two numbers that it claims."""
    variants = claim.variants
    good = sum(v.meets_both for v in variants)
    known = [v for v in variants if math.isfinite(v.payback_days) and v.tokens_per_month > 0]
    fig = charts.figure(t("axis.tokens_per_month"), t("claims.axis_days"), height=340)
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
            "text": [t("claims.claimed_here")],
            "textposition": "middle right",
            "hoverinfo": "skip",
        }
    )
    # each mix is named once: in turn above its highest and below its lowest dot, so that neighbours do not collide
    order = sorted({v.mix for v in known}, key=lambda mix: max(v.tokens_per_month for v in known if v.mix == mix))
    named = {}
    for place, mix in enumerate(order):
        pick, where = (max, "top center") if place % 2 == 0 else (min, "bottom center")
        named[id(pick((v for v in known if v.mix == mix), key=lambda v: v.payback_days))] = where
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
    title = t("claims.variants", k=good, n=len(variants))
    columns = {
        t("claims.col_mix"): [v.title(language) for v in variants],
        t("claims.col_accepted"): [v.accepted_tokens_per_step for v in variants],
        t("claims.col_offer"): [v.offer for v in variants],
        t("claims.col_cost"): [t("claims.counted" if v.with_running_cost else "claims.left_out") for v in variants],
        t("axis.tokens_per_month"): [tokens(v.tokens_per_month) for v in variants],
        t("claims.col_cached"): [share(v.cached_tokens_share) for v in variants],
        t("claims.axis_days"): [fmt.days_or_never(v.payback_days, language) for v in variants],
        t("claims.col_both"): [t("claims.yes" if v.meets_both else "claims.no") for v in variants],
    }
    alt = t("claims.variants_alt", title=title, n=len(variants))
    page.chart(fig, "claim_variants", title, alt, columns, t("claims.variants_note"))


claims = judged(state.catalog.release)
st.title(t("claims.title"))
counts = {rating: sum(c.rating == rating for c in claims) for rating in RATINGS}
st.markdown(fmt.escape(t("claims.summary", n=len(claims), **counts)))
st.caption(fmt.escape(t("claims.how", release=state.catalog.release)))
labels = {rating: f"{t(f'rating.{rating}')} ({counts[rating]})" for rating in RATINGS}
chosen = st.segmented_control(
    t("claims.show"),
    RATINGS,
    selection_mode="multi",
    format_func=labels.__getitem__,
    key="_claims_show",
)
listed = [claim for claim in claims if not chosen or claim.rating in chosen]
if any(claim.variants for claim in listed):
    page.tables()
for claim in listed:
    show(claim)
    if claim.variants:
        combinations(claim)
