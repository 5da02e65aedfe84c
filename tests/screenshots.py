"""Make the README's screenshots anew: ``python -m tests.screenshots``. Needs a Chromium; starts its own server."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.deploy.servers import start_streamlit, stop

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".streamlit" / "screenshots"
PAGES = ("", "capacity", "machines", "costs", "risk", "claims", "compare", "usage", "evidence")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    """One picture a page at 1440 x 900, light; the first page also dark, on a phone and in Chinese."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as play:
        server = start_streamlit(Path(scratch) / "log.txt")
        path = next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-background-networking"])
        shots = [(page, page or "decision", 1440, 900, "light", "en-US") for page in PAGES]
        shots += [
            ("", "decision-dark", 1440, 900, "dark", "en-US"),
            ("", "decision-phone", 390, 844, "light", "en-US"),
            ("", "decision-zh", 1440, 900, "light", "zh-CN"),
        ]
        for page, name, width, height, scheme, locale in shots:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale
            )
            tab = context.new_page()
            tab.goto(f"{server.url}/{page}")
            tab.wait_for_selector('[data-test-script-state="notRunning"]', state="attached", timeout=120_000)
            tab.wait_for_load_state("networkidle")
            tab.wait_for_timeout(2500)
            tab.screenshot(path=FOLDER / f"{name}.png")
            context.close()
        browser.close()
        stop(server.process)


if __name__ == "__main__":
    main()
