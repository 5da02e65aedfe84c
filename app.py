"""The app's shell: page settings, navigation, inputs; each page is a thin file in app_pages/."""

from pathlib import Path

import streamlit as st

from app_pages import _inputs as inputs
from app_pages._charts import STYLE
from app_pages._logs import hide_values
from app_pages._navigation import pages
from app_pages._session import keep_what_is_loaded, look_up_one, send_theme_as_made, share_options
from app_pages._sockets import send_at_once
from app_pages._turns import TURN
from calculators.calibration import load_calibration
from calculators.catalog import load_catalog

ICON = Path(__file__).parent / "app_pages" / "icon.svg"

st.set_page_config(page_title="Self-hosting economics", page_icon=str(ICON), layout="wide")
hide_values()
send_at_once()
look_up_one()
share_options()
send_theme_as_made()


def _login() -> None:
    """Ask who it is where the deployment has set up OpenID Connect (.streamlit/deploy/README.md); else do nothing."""
    if st.secrets.load_if_toml_exists() and "auth" in st.secrets and not st.user.is_logged_in:
        st.title("Self-hosting economics")
        st.button("Log in", on_click=st.login, type="primary")
        st.stop()


_login()
try:
    catalog = load_catalog()
    load_calibration()
except ValueError as error:
    if not st.context.headers:  # the health check has no browser: it must fail
        raise
    st.error(f"The app cannot start: {error}")
    st.stop()

with TURN:
    st.html(STYLE)
    state = inputs.draw(catalog)
    page = st.navigation(pages(state.language), position="top")
    page.run()
    keep_what_is_loaded()
