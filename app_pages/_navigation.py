"""The pages in the order of the menu."""

from copy import copy
from functools import lru_cache
from typing import Final

import streamlit as st

from calculators.texts import Language, text

PAGES: Final = (
    ("decision", ":material/balance:"),
    ("capacity", ":material/speed:"),
    ("machines", ":material/dns:"),
    ("costs", ":material/receipt_long:"),
    ("risk", ":material/casino:"),
    ("claims", ":material/fact_check:"),
    ("compare", ":material/compare:"),
    ("usage", ":material/upload_file:"),
    ("evidence", ":material/menu_book:"),
)
"""Name, which is the address as well, and icon; the first is the default."""


@lru_cache(maxsize=4)
def _made(language: Language) -> tuple[st.Page, ...]:
    return tuple(
        st.Page(
            f"app_pages/{name}.py",
            title=text(f"nav.{name}", language),
            icon=icon,
            url_path=name,
            default=name == PAGES[0][0],
        )
        for name, icon in PAGES
    )


def pages(language: Language) -> list[st.Page]:
    """The pages for this run: copies, as a run marks the one that it shows; nine files are looked up only once."""
    return [copy(page) for page in _made(language)]
