"""The printable report in a real Chromium: no request, A4 paper, no sideways scroll, accessible in light and dark."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from calculators.exports import html_bytes
from calculators.report import Report

pytestmark = pytest.mark.e2e

Make = Callable[..., Report]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    with sync_playwright() as play:
        if path is None and not Path(play.chromium.executable_path).exists():
            pytest.skip("No Chromium is on this machine, so nothing can print.")
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def show(browser: Browser, file: Path, width: int, scheme: Any = "light") -> tuple[Page, list[str]]:
    """The file in a fresh context, and the addresses that it asks for beside itself."""
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    return page, [url for url in asked if url != file.as_uri()]


@pytest.fixture(scope="module")
def files(make: Make, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    reports = {
        "en": html_bytes(make(), "en"),
        "zh": html_bytes(make(), "zh"),
        "never": html_bytes(make(demand="spend", demand_usd_per_month=8000.0), "en"),
        "long": html_bytes(make(acquisition="loan", horizon_months=120, system_count=40), "en"),
    }
    for name, data in reports.items():
        (folder / f"{name}.html").write_bytes(data)
    return {name: folder / f"{name}.html" for name in reports}


@pytest.mark.parametrize("name", ["en", "zh", "never", "long"])
def test_prints_to_a4_without_being_shrunk(chromium: Browser, files: dict[str, Path], name: str) -> None:
    page, asked = show(chromium, files[name], 1000)
    assert asked == []
    data = page.pdf(prefer_css_page_size=True)
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
    # A4 is 210 x 297 mm, 595 x 842 points
    assert {(round(float(w)), round(float(h))) for w, h in boxes} == {(595, 842)}
    assert 3 <= len(boxes) <= 12
    # Chromium shrinks a page whose content is wider than the paper: 182 mm between the margins, 688 px
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 688


@pytest.mark.parametrize("width", [390, 768, 1440])
@pytest.mark.parametrize("name", ["en", "zh", "long"])
def test_never_scrolls_sideways(chromium: Browser, files: dict[str, Path], name: str, width: int) -> None:
    page, _ = show(chromium, files[name], width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["en", "zh", "never"])
def test_is_accessible(chromium: Browser, files: dict[str, Path], name: str, scheme: str) -> None:
    page, _ = show(chromium, files[name], 1200, scheme)
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")] == []
