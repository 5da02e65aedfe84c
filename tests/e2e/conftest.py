"""A running server and a Chromium for the browser tests: the system's where there is one, else playwright's own."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.deploy.servers import start_streamlit, stop

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
PATIENCE_MS = 60_000
"""How long an answer may take before a test says that it did not come; no test measures time."""

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="package")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server that runs the app."""
    server = start_streamlit(tmp_path_factory.mktemp("server") / "log.txt")
    yield server.url
    stop(server.process)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for all tests; each test opens contexts of its own."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as play:
        if path is None and not Path(play.chromium.executable_path).exists():
            pytest.skip("no Chromium on this machine: python -m playwright install chromium")
        browser = play.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()


class Visitor:
    """A person with a fresh browser; notes what was asked of other hosts and what went wrong on the page."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        context.set_default_timeout(PATIENCE_MS)
        self.url = url
        self.external: list[str] = []
        self.errors: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _asked(self, address: str) -> None:
        if not address.startswith((self.url, self.url.replace("http", "ws"), "data:", "blob:")):
            self.external.append(address)

    def open(self, path: str = "", charts: int = 1) -> None:
        """Open a page and wait until its charts are drawn."""
        self.page.goto(f"{self.url}/{path}")
        self.settle(charts)

    def settle(self, charts: int = 0) -> None:
        """Wait until the answer stands."""
        expect(self.page.locator('[data-test-script-state="notRunning"]')).to_be_attached()
        expect(self.page.locator("h1").first).to_be_visible()
        for place in range(charts):
            expect(self.page.locator(".js-plotly-plot .main-svg").nth(place)).to_be_attached()
        assert self.page.get_by_test_id("stException").count() == 0

    @property
    def verdict(self) -> str:
        """The page's first heading."""
        return self.page.locator("h1").first.inner_text()

    def expect_verdict(self, words: str) -> None:
        """Wait until the first heading says this, and the run is over."""
        expect(self.page.locator("h1").first).to_have_text(words)
        self.settle()

    def expect_figures(self, values: list[str]) -> None:
        """Wait until the metrics show these values."""
        expect(self.page.get_by_test_id("stMetricValue")).to_have_text(values)

    @property
    def figures(self) -> list[str]:
        """Values of the metrics."""
        expect(self.page.get_by_test_id("stMetricValue")).to_have_count(4)
        return self.page.get_by_test_id("stMetricValue").all_inner_texts()

    @property
    def history(self) -> int:
        """Entries of the browser's history."""
        return int(self.page.evaluate("history.length"))


@pytest.fixture
def visit(chromium: Browser, url: str) -> Iterator[Callable[..., Visitor]]:
    """Make visitors, each with a browser context of its own."""
    contexts: list[BrowserContext] = []

    def make(width: int = 1440, height: int = 900, scheme: str = "light", locale: str = "en-US") -> Visitor:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale, accept_downloads=True
        )
        contexts.append(context)
        return Visitor(context, url)

    yield make
    for context in contexts:
        context.close()
