"""Claims: what was said in public about running Kimi K3, recomputed and rated."""

import math
from urllib.parse import urlencode

import streamlit as st

from app_pages import _format as fmt
from app_pages import _inputs as inputs
from app_pages import _page as page
from app_pages import _standing as standing
from calculators.claims import Claim, Rating
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


def show(place: int, claim: Claim) -> None:
    """One claim: what was said, the rating with its reason, a link, and the numbers behind it."""
    badge = BADGES[claim.rating].format(t(f"rating.{claim.rating}"))
    said = fmt.escape(t("claims.said", who=claim.said_by, when=claim.date))
    target = "./?" + urlencode({**standing.claim_query(place), "lang": language})
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


def combinations(place: int, claim: Claim) -> None:
    """All combinations of c01 against the two numbers that it claims."""
    variants = claim.variants
    title = t("claims.variants", k=sum(v.meets_both for v in variants), n=len(variants))
    alt = t("claims.variants_alt", title=title, n=len(variants))
    page.chart(
        standing.combinations(place, language),
        "claim_variants",
        title,
        alt,
        lambda: standing.combination_columns(variants, language),
        t("claims.variants_note"),
    )


claims = standing.claims()
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
listed = [(place, claim) for place, claim in enumerate(claims) if not chosen or claim.rating in chosen]
if any(claim.variants for _, claim in listed):
    page.tables()
for place, claim in listed:
    show(place, claim)
    if claim.variants:
        combinations(place, claim)
