"""nginx with two processes, as deployed: who goes where, what is closed, and what happens when a process dies."""

import asyncio
import json
import re
import shutil
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from calculators.scenario import SPECS
from calculators.texts import text as text_of
from tests.deploy.client import Person, new_route
from tests.deploy.servers import NGINX, NO_NGINX, Streamlit, get, nginx, start_streamlit, stop

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(NGINX is None, reason=NO_NGINX)]

ROUTES = [f"{number:032x}" for number in range(64)]
"""Cookies of 64 made-up browsers."""

SECRET_VALUE = "7654321"
"""A price that somebody types; it may stand in no log."""


@dataclass
class Deployment:
    """Two processes behind nginx."""

    url: str
    processes: dict[int, Streamlit]
    nginx_log: Path
    folder: Path

    def restart(self, port: int) -> None:
        """Bring back a process that died, on its port."""
        self.processes[port] = start_streamlit(self.processes[port].log, port=port)

    def port_of(self, route: str) -> int:
        """The process to which a browser with this cookie goes, from the access log."""
        path = f"/page-{uuid.uuid4().hex}"  # any path opens the app; a name of its own finds its line in the log
        get(self.url + path, {"Cookie": f"route={route}"})
        for _ in range(200):
            lines = re.findall(rf'GET "{path}" 200 .*:(\d+)$', self.nginx_log.read_text(), flags=re.MULTILINE)
            if lines:
                return int(lines[0])
            time.sleep(0.02)  # the line is written after the answer is sent
        raise AssertionError("The access log does not show the request.")


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("deployment")
    processes: dict[int, Streamlit] = {}
    try:
        for name in ("one", "two"):
            server = start_streamlit(folder / f"{name}.log")
            processes[server.port] = server
        with nginx(folder / "nginx", list(processes)) as (url, log):
            yield Deployment(url, processes, log, folder)
    finally:
        for server in processes.values():
            stop(server.process)


@pytest.fixture(scope="module")
def browser_here() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@dataclass
class Visitor:
    """A browser of its own, held to a process by its cookie, and what it complained of."""

    page: Page
    console: list[str]
    hosts: set[str]


def visit(browser: Browser, deployment: Deployment, route: str, path: str = "/") -> Visitor:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    context.add_cookies([{"name": "route", "value": route, "url": deployment.url}])
    page = context.new_page()
    visitor = Visitor(page, [], set())
    page.on("console", lambda message: visitor.console.append(f"{message.type}: {message.text}"))
    page.on("request", lambda request: visitor.hosts.add(request.url.split("/")[2] if "//" in request.url else ""))
    page.goto(deployment.url + path)
    idle(page)
    return visitor


def idle(page: Page) -> None:
    """Wait until the script has run to its end."""
    expect(page.locator("[data-test-script-state='notRunning']")).to_be_attached(timeout=30_000)
    expect(page.locator(".st-key-utilization input").first).to_be_visible(timeout=30_000)


def set_input(page: Page, key: str, text: str) -> None:
    field = page.locator(f".st-key-{key} input").first
    if not field.count():
        group = page.get_by_role("button", name=text_of(f"group.{SPECS[key].group}", "en"), exact=True)
        # While the browser looks for another process its inputs are disabled. playwright then tries to click again and
        # again, each time scrolling the button to another edge, and at an edge the button moves when it gets the focus:
        # the pointer is let go over another place and nothing is clicked.
        expect(group).to_be_enabled(timeout=30_000)
        group.click()
    field.fill(text)
    field.press("Enter")
    page.wait_for_function("key => location.search.includes(key + '=')", arg=key, timeout=30_000)
    idle(page)


def test_browsers_spread_over_the_processes_and_stay(deployment: Deployment) -> None:
    ports = [deployment.port_of(route) for route in ROUTES]
    for port in deployment.processes:
        assert ports.count(port) >= len(ROUTES) // 5
    assert [deployment.port_of(route) for route in ROUTES[:8]] == ports[:8]


def test_a_new_browser_gets_its_cookie_with_the_page_only(deployment: Deployment) -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", new_route(deployment.url))
    for path in ("/static/favicon.png", "/_stcore/host-config"):
        assert "route=" not in get(deployment.url + path)[1].get("set-cookie", "")
    assert "route=" not in get(deployment.url, {"Cookie": f"route={ROUTES[0]}"})[1].get("set-cookie", "")


def test_no_origin_is_trusted_to_steer_the_app(deployment: Deployment) -> None:
    assert json.loads(get(deployment.url + "/_stcore/host-config")[2])["allowedOrigins"] == []


def test_headers_of_pages_files_and_errors(deployment: Deployment) -> None:
    for path in ("/", "/_stcore/health", "/_stcore/metrics"):
        _, headers, _ = get(deployment.url + path)
        assert "script-src 'self' 'sha256-" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["server"] == "nginx"
    assert "strict-transport-security" not in get(deployment.url)[1]
    over_tls = get(deployment.url, {"X-Forwarded-Proto": "https"})[1]
    assert over_tls["strict-transport-security"] == "max-age=31536000"
    assert over_tls["set-cookie"].endswith("; Secure")


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/metrics/",
        "/_stcore/%6detrics",
        "//_stcore//metrics",
        "/page/../_stcore/metrics",
        "/_stcore/agent/openapi.json",
        "/_stcore/agent/mcp",
        "/risk/_stcore/agent/openapi.json",
        "/_stcore/script-health-check",
    ],
)
def test_what_is_for_the_inside_is_closed(deployment: Deployment, path: str) -> None:
    status, _, body = get(deployment.url + path)
    assert status == 404
    assert b"active_sessions" not in body


def test_files_are_compressed_and_kept_by_the_browser(deployment: Deployment) -> None:
    page = get(deployment.url)[2].decode()
    script = re.search(r"\./(static/js/index\.[^\"]+\.js)", page)
    assert script is not None
    plain = get(f"{deployment.url}/{script[1]}")
    packed = get(f"{deployment.url}/{script[1]}", {"Accept-Encoding": "gzip"})
    assert packed[1]["content-encoding"] == "gzip"
    assert len(packed[2]) < 0.5 * len(plain[2])
    assert "immutable" in packed[1]["cache-control"]
    assert get(deployment.url)[1]["cache-control"] == "no-cache"


def test_the_probe_of_a_process_runs_the_script(deployment: Deployment) -> None:
    for server in deployment.processes.values():
        assert get(f"{server.url}/_stcore/script-health-check")[::2] == (200, b"ok")


def test_pages_draw_their_charts_under_the_policy_and_ask_no_other_host(
    deployment: Deployment, browser_here: Browser
) -> None:
    visitor = visit(browser_here, deployment, ROUTES[0])
    expect(visitor.page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=30_000)
    links = visitor.page.locator("[data-testid='stSidebarNavLink'], [data-testid='stTopNavLink']")
    for number in range(links.count()):
        links.nth(number).click()
        idle(visitor.page)
        expect(visitor.page.locator("[data-testid='stException']")).to_have_count(0)
    assert links.count() >= 2
    refused = [line for line in visitor.console if "Content Security Policy" in line or "Refused to" in line]
    assert refused == []
    assert visitor.hosts - {""} == {deployment.url.removeprefix("http://")}
    visitor.page.context.close()


def download_all(page: Page) -> dict[str, bytes]:
    """What each download button of the page gives."""
    files: dict[str, bytes] = {}
    box = page.get_by_role("button", name=text_of("share.title", "en"))
    if box.count():
        box.click()
        expect(page.locator("[data-testid='stDownloadButton'] button").first).to_be_visible(timeout=30_000)
    buttons = page.locator("[data-testid='stDownloadButton'] button")
    for number in range(buttons.count()):
        if not buttons.nth(number).is_visible():
            continue
        with page.expect_download(timeout=30_000) as waiting:
            buttons.nth(number).click()
        files[waiting.value.suggested_filename] = waiting.value.path().read_bytes()
    return files


def by_process(deployment: Deployment) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {port: [] for port in deployment.processes}
    for route in ROUTES:
        found[deployment.port_of(route)].append(route)
    return found


def test_a_process_dies_under_load_and_nobody_loses_an_input(deployment: Deployment, browser_here: Browser) -> None:
    routes = by_process(deployment)
    doomed, other = deployment.processes
    people = [visit(browser_here, deployment, route) for port in (doomed, other) for route in routes[port][:2]]
    for number, person in enumerate(people):
        set_input(person.page, "staff_fte", f"0.{number + 1}")
    assert deployment.processes[doomed].active_sessions() >= 2
    assert deployment.processes[other].active_sessions() >= 2

    with load(deployment, routes[doomed][2:6] + routes[other][2:6]) as answers:
        deployment.processes[doomed].process.send_signal(signal.SIGKILL)
        deployment.processes[doomed].process.wait(timeout=10)
        for number, person in enumerate(people):
            set_input(person.page, "hardware_usd", SECRET_VALUE)
            expect(person.page.locator("[data-testid='stException']")).to_have_count(0)
            assert f"staff_fte=0.{number + 1}" in person.page.url
            assert float(person.page.locator(".st-key-staff_fte input").first.input_value()) == (number + 1) / 10
            # what the survivor shows is what the link alone shows in a browser that was never here
            fresh = visit(browser_here, deployment, routes[other][6 + number], "/?" + person.page.url.split("?", 1)[1])
            wait_until_alike(person.page, fresh.page)
            fresh.page.context.close()
    assert sum(answers.values()) > 0

    # the process comes back: those who were moved stay where they are, and their downloads still come
    deployment.restart(doomed)
    assert deployment.port_of(routes[other][0]) == other
    wait_until_used_again(deployment, routes[doomed][0], doomed)
    assert download_everywhere(deployment, people[0].page)
    for person in people:
        person.page.context.close()


def download_everywhere(deployment: Deployment, page: Page) -> dict[str, bytes]:
    """Downloads of the first page that has visible buttons."""
    files = download_all(page)
    links = page.locator("[data-testid='stSidebarNavLink'], [data-testid='stTopNavLink']")
    for number in range(links.count()):
        if files:
            break
        links.nth(number).click()
        idle(page)
        files = download_all(page)
    return files


def shown(page: Page) -> list[str]:
    """The figures of the page."""
    metrics = page.locator("[data-testid='stMetric']")
    expect(metrics.first).to_be_visible(timeout=30_000)
    return metrics.all_inner_texts()


def wait_until_alike(one: Page, other: Page) -> None:
    """Under load a page stands for a while with a part of its figures; in the end both show the same."""
    for _ in range(240):
        if shown(one) == shown(other):
            return
        one.wait_for_timeout(250)
    assert shown(one) == shown(other)


def wait_until_used_again(deployment: Deployment, route: str, port: int) -> None:
    """nginx asks a process again some seconds after it failed."""
    for _ in range(100):
        if deployment.port_of(route) == port:
            return
        threading.Event().wait(0.1)
    raise AssertionError(f"The process on port {port} came back, but nginx does not use it.")


class load:
    """Sessions that change an input five times a second; counts answers, and reconnects as a browser does."""

    def __init__(self, deployment: Deployment, routes: list[str]) -> None:
        self._url, self._routes = deployment.url, routes
        self._answers = dict.fromkeys(routes, 0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._all()))

    def __enter__(self) -> dict[str, int]:
        self._thread.start()
        return self._answers

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=30)

    async def _all(self) -> None:
        await asyncio.gather(*(self._one(route) for route in self._routes))

    async def _one(self, route: str) -> None:
        for _ in range(5):
            if self._stop.is_set():
                return
            try:
                async with Person(self._url, route=route) as person:
                    await person.run()
                    for number in range(100):
                        if self._stop.is_set():
                            return
                        await person.change("utilization", 0.5 + number / 1000)
                        self._answers[route] += 1
                        await asyncio.sleep(0.2)
            except OSError:
                await asyncio.sleep(0.2)
            except Exception as error:  # the socket of a process that was killed closes without a farewell
                if "ConnectionClosed" not in type(error).__name__:
                    raise
                await asyncio.sleep(0.2)


def test_no_log_holds_an_input(deployment: Deployment) -> None:
    get(f"{deployment.url}/?hardware_usd={SECRET_VALUE}")
    get(f"{deployment.url}/risk?hardware_usd={SECRET_VALUE}", {"Referer": f"{deployment.url}/?x={SECRET_VALUE}"})
    logs = [deployment.nginx_log, *(server.log for server in deployment.processes.values())]
    for log in logs:
        assert SECRET_VALUE not in log.read_text()
    assert '"/risk" 200' in deployment.nginx_log.read_text()
