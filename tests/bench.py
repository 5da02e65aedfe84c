"""Measure the app on this machine: ``python -m tests.bench [--only PART ...]`` prints a table in Markdown.

Every time stands beside a fixed reference measured in the same run: numpy's own time for the arithmetic, an empty
Streamlit page for everything that a server or a browser does. Only those ratios can be compared between machines.
Nothing here passes or fails; budgets are printed beside what was measured.
"""

import argparse
import asyncio
import datetime as dt
import itertools
import math
import os
import platform
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from calculators.catalog import load_catalog
from calculators.evaluate import Inputs, evaluate, size_inputs
from calculators.report import build_report
from calculators.resolve import resolve
from calculators.scenario import Scenario
from calculators.uncertainty import summarise
from tests.deploy.client import Person
from tests.deploy.servers import NGINX, ROOT, Streamlit, nginx, start_streamlit, stop

PARTS = ("calc", "server", "browser", "memory", "load", "soak")
INPUT = "utilization"
"""The input that is changed in all measurements; its values are chosen by `_values`."""

PAUSE_SECONDS = 0.1

MEBI = 1024.0 * 1024.0


@dataclass
class Row:
    """One line of the table; times in milliseconds."""

    what: str
    value: str
    reference: str = ""
    budget: str = ""
    met: str = ""


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _within(value: float, budget: float) -> str:
    return "yes" if value <= budget else f"no ({value / budget:.2f} x)"


def _milliseconds(call: Callable[[], object], repeats: int) -> float:
    """Median time of a call after one call to warm up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def _values(person: int = 0) -> Iterator[float]:
    """Values of the input that nobody has asked for before: an answer given once is kept for a while."""
    for step in itertools.count(person * 1009):
        yield round(0.3 + 0.6 * (step * 0.6180339887 % 1), 7)


# Arithmetic ----------------------------------------------------------------------------------------------------------


def calc() -> list[Row]:
    """Evaluate, size and Monte Carlo, beside numpy's exp of as many numbers."""
    catalog = load_catalog()
    scenario = Scenario()
    resolved = resolve(scenario, catalog)
    result = evaluate(resolved.inputs)
    rng = np.random.default_rng(1)
    many = 100_000
    inputs = replace(
        resolved.inputs,
        utilization=rng.uniform(0.3, 0.9, many),
        hardware_usd=rng.uniform(4e5, 7e5, many),
        api_price_change_per_year=rng.uniform(-0.5, 0.1, many),
    )
    prompts = replace(
        resolved.inputs,
        input_tokens=rng.uniform(1e3, 6e4, many),
        output_tokens=rng.uniform(1e2, 4e3, many),
    )
    scalar, vector = np.asarray(0.5), rng.uniform(0.0, 1.0, many)

    def both(numbers: Inputs) -> object:
        found = evaluate(numbers)
        return found.flow.payback_months, found.alternative_flow.payback_months

    one_reference = _milliseconds(lambda: [np.exp(scalar) for _ in range(1000)], 21) / 1000
    many_reference = _milliseconds(lambda: np.exp(vector), 101)
    lengths = itertools.count(8192)
    loads = itertools.count(1)

    def another() -> Inputs:  # a workload that was asked for before is not computed again
        return replace(resolved.inputs, input_tokens=float(next(lengths)))

    def answered() -> object:
        report = build_report(scenario.model_copy(update={"utilization": 0.3 + next(loads) / 1e4}), catalog)
        return report.sentences(), dict(report.data)

    rows = []
    for what, call, reference, repeats in (
        ("evaluate with both paybacks, 1", lambda: both(another()), one_reference, 51),
        ("evaluate with both paybacks, 100,000", lambda: both(inputs), many_reference, 7),
        ("size, 1", lambda: size_inputs(another()), one_reference, 51),
        ("size, 100,000 mixes", lambda: size_inputs(prompts), many_reference, 5),
        ("uncertainty: 10,000 draws, tornado", lambda: summarise(resolved, result, catalog), many_reference, 5),
        ("whole report of a scenario, draws and links included", answered, one_reference, 21),
    ):
        taken = _milliseconds(call, repeats)
        name = "exp of 1" if reference is one_reference else "exp of 100,000"
        rows.append(Row(what, f"{taken:.2f} ms", f"{taken / reference:,.0f} x {name} ({reference:.4f} ms)"))
    return rows


# Server --------------------------------------------------------------------------------------------------------------


@contextmanager
def _servers() -> Iterator[tuple[Streamlit, Streamlit, Path]]:
    """The app and an empty page with the same settings."""
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    empty = folder / "empty"
    (empty / ".streamlit").mkdir(parents=True)
    shutil.copy(ROOT / ".streamlit" / "config.toml", empty / ".streamlit")
    (empty / "app.py").write_text(
        "import streamlit as st\n"
        "st.set_page_config(layout='wide')\n"
        f"st.slider('x', 0.0, 1.0, 0.5, 0.01, key='{INPUT}', bind='query-params')\n"
        f"st.metric('x', st.session_state['{INPUT}'])\n"
    )
    started: list[Streamlit] = []
    try:
        started.append(start_streamlit(folder / "app.log"))
        started.append(start_streamlit(folder / "empty.log", root=empty))
        yield started[0], started[1], folder
    finally:
        for server in started:
            stop(server.process)
        shutil.rmtree(folder, ignore_errors=True)


def _rss_mib(server: Streamlit) -> float:
    """Resident memory of the process (Linux)."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return float(found[1]) / 1024 if found else float("nan")


def _cpu_seconds(server: Streamlit) -> float:
    """Processor time of the process so far (Linux): unlike wall time it does not depend on what else runs."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _reruns(server: Streamlit, page: str, count: int) -> tuple[list[float], float, float, int, tuple[str, ...]]:
    values = _values()
    async with Person(server.url, page=page) as person:
        await person.run()
        for _ in range(5):
            await person.change(INPUT, next(values))
        runs, before = [], _cpu_seconds(server)
        for _ in range(count):
            await asyncio.sleep(PAUSE_SECONDS)  # people do not change an input in the instant the last answer ends
            runs.append(await person.change(INPUT, next(values)))
        cpu = (_cpu_seconds(server) - before) / count * 1e3
    errors = tuple(error for run in runs for error in run.errors)
    size = statistics.median(run.received_bytes for run in runs)
    return [run.seconds * 1e3 for run in runs], cpu, size, max(run.plots for run in runs), errors


async def _page_names(server: Streamlit) -> tuple[str, ...]:
    async with Person(server.url) as person:
        await person.run()
        return person.pages or ("",)


def server(app: Streamlit, empty: Streamlit) -> list[Row]:
    """Rerun of each page on a real server, over its websocket: change an input, receive the whole page."""
    times, cpu, size, _, _ = asyncio.run(_reruns(empty, "", 40))
    reference = statistics.median(times)
    rows = [
        Row(
            "rerun, empty page",
            f"p50 {reference:.1f}, p95 {_percentile(times, 0.95):.1f} ms, {cpu:.0f} ms CPU, {size / 1e3:.0f} kB",
            "1 x",
        )
    ]
    for page in asyncio.run(_page_names(app)):
        times, cpu, size, plots, errors = asyncio.run(_reruns(app, page, 40))
        p95 = _percentile(times, 0.95)
        note = f", errors {set(errors)}" if errors else ""
        rows.append(
            Row(
                f"rerun, {page or 'default page'} ({plots} charts)",
                f"p50 {statistics.median(times):.1f}, p95 {p95:.1f} ms, {cpu:.0f} ms CPU, {size / 1e3:.0f} kB{note}",
                f"{statistics.median(times) / reference:.1f} x empty page",
                "p95 50 ms",
                _within(p95, 50),
            )
        )
    return rows


# Browser -------------------------------------------------------------------------------------------------------------

_WATCH = """() => {
  const main = document.querySelector("[data-testid='stMain']") || document.body;
  window.__last = 0;
  if (window.__observer) window.__observer.disconnect();
  // inside a canvas stands what a screen reader reads, rewritten a while after the table is drawn: nobody sees it
  const seen = ({type, target}) => {
    const canvas = (target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement)?.closest("canvas");
    return !canvas || (target === canvas && type === "attributes");
  };
  window.__observer = new MutationObserver((records) => {
    const now = performance.now();
    if (records.some(seen)) window.__last = now;
  });
  window.__observer.observe(main, {childList: true, subtree: true, characterData: true, attributes: true,
    attributeFilter: ["d", "transform", "class", "style"]});
  window.__start = performance.now();
}"""
_QUIET = """() => {
  const now = performance.now();
  const idle = document.querySelector("[data-test-script-state='notRunning']") !== null;
  return idle && (window.__last > 0 ? now - window.__last > 600 : now - window.__start > 8000);
}"""


def _until_still(page: Page, act: Callable[[], None]) -> float:
    """Milliseconds from an action to the last change of the page's main part that it causes; NaN for no change."""
    page.evaluate(_WATCH)
    act()
    page.wait_for_function(_QUIET, timeout=60_000, polling=50)
    return float(page.evaluate("window.__last > 0 ? window.__last - window.__start : NaN"))


def _charts(page: Page) -> int:
    return int(page.locator(".js-plotly-plot").count())


_VERDICT = """new MutationObserver(() => {
  if (!window.__verdict && document.querySelector("h1")?.checkVisibility()) window.__verdict = performance.now();
}).observe(document, {childList: true, subtree: true});"""


def _visit(context: BrowserContext, url: str, chart: bool) -> tuple[Page, float, int, float, set[str]]:
    """Open a page; milliseconds until its first screen stands, requests, transferred bytes, hosts."""
    page = context.new_page()
    page.add_init_script(_VERDICT)
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    sizes: list[float] = []
    hosts: set[str] = set()
    devtools.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.on("request", lambda r: hosts.add(r.url.split("/")[2]) if r.url.startswith(("http", "ws")) else None)
    start = time.perf_counter()
    page.goto(url)
    page.locator("[data-test-script-state='notRunning']").wait_for(state="attached", timeout=60_000)
    page.locator("[data-testid='stMetric']").first.wait_for(timeout=60_000)
    if chart:
        page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=60_000)
        page.wait_for_function(
            "() => [...document.querySelectorAll('[data-testid=stPlotlyChart]')]"
            ".every(chart => chart.querySelector('.main-svg'))",
            timeout=60_000,
        )
    return page, (time.perf_counter() - start) * 1e3, len(sizes), sum(sizes), hosts


def _updates(page: Page, count: int) -> list[float]:
    """Visible updates: one step of a slider, until the last change on the page."""
    times = []
    for number in range(count + 2):
        slider = page.locator(f".st-key-{INPUT} :is([role='slider'], input[type='range'])").first
        slider.focus()
        times.append(_until_still(page, partial(page.keyboard.press, "ArrowLeft" if number % 2 else "ArrowRight")))
        if math.isnan(times[-1]):
            return []  # nothing on this page hangs on the input
    return times[2:]


def browser(app: Streamlit, empty: Streamlit, folder: Path) -> list[Row]:
    """Visits, updates and page switches in Chromium, through nginx where there is one."""
    rows: list[Row] = []
    # a whole browser loads pages of its own into each new window, on the same two cores: the shell has none
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        reference = _empty_visit(chromium, empty)
        if NGINX:
            with nginx(folder / "nginx", [app.port]) as (url, _):
                rows += _app_visits(chromium, url, "nginx", reference)
        else:
            rows += _app_visits(chromium, app.url, "no nginx", reference)
        chromium.close()
    return rows


def _empty_visit(chromium: Browser, empty: Streamlit) -> tuple[float, float, float]:
    cold, warm, updates = [], [], []
    for _ in range(3):
        context = chromium.new_context(viewport={"width": 1400, "height": 1000})
        page, taken, *_ = _visit(context, empty.url, chart=False)
        cold.append(taken)
        page.close()
        page, taken, *_ = _visit(context, empty.url, chart=False)
        warm.append(taken)
        updates += _updates(page, 10)
        context.close()
    return statistics.median(cold), statistics.median(warm), statistics.median(updates)


def _app_visits(chromium: Browser, url: str, through: str, reference: tuple[float, float, float]) -> list[Row]:
    cold, answered, warm, switches = [], [], [], []
    updates: dict[str, tuple[int, list[float]]] = {}
    requests, transferred, hosts = 0, 0.0, set()
    for visit in range(5):
        context = chromium.new_context(viewport={"width": 1400, "height": 1000})
        page, taken, requests, transferred, asked = _visit(context, url, chart=True)
        cold.append(taken)
        answered.append(float(page.evaluate("window.__verdict")))
        hosts |= asked
        page.close()
        page, taken, _, _, asked = _visit(context, url, chart=True)
        warm.append(taken)
        hosts |= asked
        if visit == 0:
            links = page.locator("[data-testid='stSidebarNavLink'], [data-testid='stTopNavLink']")
            names = [links.nth(n).inner_text().split()[-1] for n in range(links.count())]
            for _ in range(5):
                for number, name in enumerate(names):
                    taken = _until_still(page, links.nth(number).click)
                    if name in updates:
                        switches.append(taken)
                    else:
                        updates[name] = (_charts(page), _updates(page, 12))
        context.close()
    p95 = _percentile(switches, 0.95) if switches else float("nan")
    external = hosts - {url.removeprefix("http://")}
    rows = [
        Row(
            f"cold visit, all charts drawn ({through})",
            f"{statistics.median(cold):,.0f} ms",
            f"{statistics.median(cold) / reference[0]:.1f} x empty page ({reference[0]:,.0f} ms)",
            "3,000 ms",
            _within(statistics.median(cold), 3000),
        ),
        Row(f"cold visit, the verdict stands ({through})", f"{statistics.median(answered):,.0f} ms"),
        Row("requests and bytes of a cold visit", f"{requests}, {transferred / 1e6:.2f} MB"),
        Row("hosts asked other than the app's", f"{len(external)}", "", "0", _within(len(external), 0.5)),
        Row(
            "warm visit, all charts drawn",
            f"{statistics.median(warm):,.0f} ms",
            f"{statistics.median(warm) / reference[1]:.1f} x empty page ({reference[1]:,.0f} ms)",
        ),
        Row(
            "page switch to a page seen before",
            f"p50 {statistics.median(switches):.0f}, p95 {p95:.0f} ms",
            f"{statistics.median(switches) / reference[2]:.1f} x an update of the empty page",
            "500 ms",
            _within(p95, 500),
        ),
    ]
    for name, (charts, times) in updates.items():
        if not times:
            continue
        p95 = _percentile(times, 0.95)
        rows.append(
            Row(
                f"visible update, {name} ({charts} charts)",
                f"p50 {statistics.median(times):.0f}, p95 {p95:.0f} ms",
                f"{statistics.median(times) / reference[2]:.1f} x empty page ({reference[2]:.0f} ms)",
                "p95 300 ms",
                _within(p95, 300),
            )
        )
    return rows


# Many people ---------------------------------------------------------------------------------------------------------


async def _crowd(
    server: Streamlit, sessions: int, think_seconds: float, seconds: float
) -> tuple[list[float], list[str], float]:
    """Sessions that change an input, read for a while, and change it again; times in ms, errors, RSS in MiB."""
    times: list[float] = []
    errors: list[str] = []
    rng = random.Random(7)
    pages = await _page_names(server)
    until = [0.0]
    ready = asyncio.Event()

    async def one(number: int) -> None:
        values = _values(number + 1)
        async with Person(server.url, page=pages[number % len(pages)]) as person:
            await person.run()
            opened.append(number)
            await ready.wait()
            await asyncio.sleep(rng.uniform(0, think_seconds))
            while time.monotonic() < until[0]:
                run = await person.change(INPUT, next(values))
                times.append(run.seconds * 1e3)
                errors.extend(run.errors)
                await asyncio.sleep(think_seconds * rng.uniform(0.8, 1.2))

    opened: list[int] = []
    people = []
    for number in range(sessions):
        people.append(asyncio.create_task(one(number)))
        await asyncio.sleep(0.2)  # a first visit costs more than a rerun: they do not all come at once
    while len(opened) < sessions and not any(p.done() for p in people):
        await asyncio.sleep(0.05)
    until[0] = time.monotonic() + seconds
    ready.set()
    await asyncio.sleep(seconds)
    rss = _rss_mib(server)
    await asyncio.gather(*people)
    return times, errors, rss


def memory(app: Streamlit, sessions: int) -> list[Row]:
    """Resident memory before and with idle sessions on all pages."""

    async def idle() -> tuple[float, float]:
        pages = await _page_names(app)
        async with Person(app.url) as first:
            for page in pages:  # what each page loads once a process is not a session's
                first.page = page
                await first.run()
            before = _rss_mib(app)
            people = [Person(app.url, page=pages[n % len(pages)]) for n in range(sessions)]
            try:
                for person in people:
                    await person.__aenter__()
                    await person.run()
                return before, _rss_mib(app)
            finally:
                for person in people:
                    await person.__aexit__(None, None, None)

    before, after = asyncio.run(idle())
    return [
        Row(
            f"resident memory with {sessions} idle sessions",
            f"{after:.0f} MiB ({before:.0f} with one; {(after - before) * 1024 / sessions:.0f} KiB a session)",
            "",
            "200 MB at 200",
            _within(after * MEBI / 1e6, 200),
        )
    ]


def load(app: Streamlit, sessions: Sequence[int], seconds: float) -> list[Row]:
    """Sessions on all pages with five seconds to think, one process; the clients run on the same cores."""
    rows = []
    for count in sessions:
        times, errors, rss = asyncio.run(_crowd(app, count, 5.0, seconds))
        p95 = _percentile(times, 0.95)
        rows.append(
            Row(
                f"{count} sessions, a change every 5 s for {seconds:.0f} s",
                f"p50 {statistics.median(times):.0f}, p95 {p95:.0f} ms, {len(times) / seconds:.0f}/s, "
                f"{len(errors)} errors, {rss:.0f} MiB",
                "",
                "p95 300 ms at 150" if count == 150 else "",
                _within(p95, 300) if count == 150 else "",
            )
        )
    return rows


def soak(app: Streamlit, reruns: int) -> list[Row]:
    """Resident memory over many reruns of one session, page after page."""

    async def run() -> list[float]:
        pages = await _page_names(app)
        seen = []
        values = _values()
        async with Person(app.url) as person:
            await person.run()
            for number in range(reruns):
                if number % 50 == 0:
                    person.page = pages[(number // 50) % len(pages)]
                await person.change(INPUT, next(values))
                if number + 1 in (reruns // 6, reruns // 2, reruns):
                    seen.append(_rss_mib(app))
        return seen

    seen = asyncio.run(run())
    return [
        Row(
            f"resident memory after {reruns // 6:,}, {reruns // 2:,} and {reruns:,} reruns",
            ", ".join(f"{value:.0f}" for value in seen) + " MiB",
            "",
            "flat",
            f"{seen[-1] - seen[0]:+.0f} MiB",
        )
    ]


# Table ---------------------------------------------------------------------------------------------------------------


def _machine() -> str:
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text())
        model = found[1].strip() if found else ""
    return (
        f"{dt.date.today().isoformat()}, {os.cpu_count()} cores {model or platform.machine()}, load before "
        f"{os.getloadavg()[0]:.1f}, Python {platform.python_version()}, numpy {np.__version__}"
    )


def table(rows: Sequence[Row]) -> str:
    """Markdown."""
    lines = ["| what | measured | beside the reference | budget | met |", "|---|---|---|---|---|"]
    lines += [f"| {r.what} | {r.value} | {r.reference} | {r.budget} | {r.met} |" for r in rows]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run; all by default")
    parser.add_argument("--sessions", nargs="+", type=int, default=[50, 100, 150, 200], help="sizes of the crowd")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of each load")
    parser.add_argument("--reruns", type=int, default=3000, help="length of the soak")
    chosen = parser.parse_args(arguments)
    machine = _machine()
    rows: list[Row] = []

    def add(more: list[Row]) -> None:
        for row in more:
            print(f"  {row.what}: {row.value}", file=sys.stderr, flush=True)
        rows.extend(more)

    if "calc" in chosen.only:
        add(calc())
    if set(chosen.only) - {"calc"}:
        with _servers() as (app, empty, folder):
            if "server" in chosen.only:
                add(server(app, empty))
            if "browser" in chosen.only:
                add(browser(app, empty, folder))
            if "memory" in chosen.only:
                add(memory(app, 200))
            if "load" in chosen.only:
                add(load(app, chosen.sessions, chosen.seconds))
            if "soak" in chosen.only:
                add(soak(app, chosen.reruns))
    print(f"Measured on {machine}.\n")
    print(table(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
