"""Compare: two to four scenarios side by side, this one and pasted links."""

import streamlit as st

from app_pages import _format as fmt
from app_pages import _inputs as inputs
from app_pages import _page as page
from calculators import compare as comparing
from calculators.compare import CompareRow, Comparison
from calculators.numbers import money, three_digits, tokens
from calculators.report import Report
from calculators.scenario import SPECS
from calculators.texts import catalogue, duration_text, translated

t = page.t
LINKS = 3


def links() -> list[str]:
    """Pasted links, empty ones left out."""
    pasted = [
        st.text_input(t("compare.link", n=n + 2), key=f"_compare_{n}", placeholder=t("compare.paste"))
        for n in range(LINKS)
    ]
    return [link for link in pasted if link.strip()]


def value_of(row: CompareRow, value: object) -> str:
    """A value as its kind is written: money, tokens, days, shares, or as it is."""
    if value is None:
        return t("compare.empty") if row.field in SPECS else fmt.unknown(language)
    if isinstance(value, bool):
        return t("compare.yes") if value else t("compare.no")
    if isinstance(value, str):
        known = f"payback.{value}"
        return t(known) if known in catalogue() else value
    assert isinstance(value, int | float)
    if row.field in SPECS:
        return fmt.figure(float(value), row.unit)
    if row.unit.startswith("USD") and "Mtok" not in row.unit:
        return money(float(value))
    if row.unit == "tokens/month":
        return tokens(float(value))
    if row.unit == "days":
        return duration_text(float(value), language)
    if row.unit in ("share", "share/year"):
        return fmt.fraction(float(value), language)
    return f"{three_digits(float(value))} {row.unit}".strip()


def name_of(row: CompareRow) -> str:
    """Title of a row in the language."""
    if row.field in SPECS:
        return inputs.field_title(row.field, language)
    key = f"compare.{row.field.replace('.', '_')}"
    return t(key) if key in catalogue() else row.title


def rows(found: Comparison, lines: tuple[CompareRow, ...], key: str, title: str) -> None:
    """A table with one column a scenario; the better value of a row is marked by a word."""
    st.subheader(title, anchor=False)
    if not lines:
        st.caption(t("compare.same"))
        return
    columns = {t("compare.what"): [name_of(r) for r in lines]}
    for i, label in enumerate(found.labels):
        columns[translated(label, language)] = [
            value_of(r, r.values[i]) + (f" ({t('compare.better')})" if i in r.best else "") for r in lines
        ]
    page.table(columns, key, title)


def told(found: Comparison) -> None:
    """What could not be used of each link."""
    for side in found.sides:
        if side.problems:
            lines = "\n".join(f"- {fmt.escape(translated(p.message, language))}" for p in side.problems)
            st.warning(f"{fmt.escape(translated(side.label, language))}: {t('page.not_used')}\n\n{lines}")


state = inputs.current()
language = state.language
st.title(t("nav.compare"), anchor=False)
st.markdown(t("compare.how"))
this: list[str | Report] = [state.answer.report] if state.answer.report is not None else []
if state.answer.report is None:
    st.warning(fmt.escape(state.answer.stopped))
pasted = links()
if len(this) + len(pasted) < 2:
    st.info(t("compare.none"))
else:
    try:
        found = comparing.compare([*this, *pasted], state.catalog)
    except comparing.CompareError as error:
        st.error(fmt.escape(translated(error.message, language)))
    else:
        told(found)
        rows(found, found.results, "compare_results", t("compare.results"))
        rows(found, found.inputs, "compare_inputs", t("compare.inputs"))
