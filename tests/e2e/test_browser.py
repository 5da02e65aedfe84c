"""What only a browser shows: the address bar, history, links, downloads, keyboard, widths, names for screen readers."""

import csv
import html
import io
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from openpyxl import load_workbook
from playwright.sync_api import expect

from calculators import link
from calculators.catalog import load_catalog
from calculators.report import build_report
from calculators.scenario import Scenario
from calculators.texts import Language, duration_text
from tests.e2e.conftest import Visitor

pytestmark = pytest.mark.e2e

Visit = Callable[..., Visitor]
CHARTS = {"": 2, "capacity": 4, "machines": 1, "costs": 1}
PAGES = ("", "capacity", "machines", "costs", "risk", "claims", "usage", "evidence", "compare")


def answer(scenario: Scenario, language: Language = "en") -> str:
    """What the page's heading must say."""
    return build_report(scenario, load_catalog()).sentences(language)[0]


def parameters(address: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(address).query, keep_blank_values=True).items()}


def test_utilization_by_keyboard_moves_the_verdict_and_the_link_shows_the_same_elsewhere(visit: Visit) -> None:
    first = visit()
    first.open(charts=2)
    entries = first.history
    slider = first.page.get_by_role("slider", name="Utilization")
    slider.focus()
    for _ in range(13):  # 0.75 -> 0.62, a hundredth a key
        first.page.keyboard.press("ArrowLeft")
    expect(slider).to_have_value("0.62")
    after = answer(Scenario(utilization=0.62))
    first.expect_verdict(after)
    assert parameters(first.page.url) == {"utilization": "0.62"}
    assert first.history == entries

    first.page.get_by_role("button", name="Share and download").click()
    shared = first.page.get_by_test_id("stCode").inner_text().replace("\n", "")
    assert shared.startswith(f"{first.url}/?v=1&release=")
    for address in (first.page.url, shared):
        second = visit()
        second.page.goto(address)
        second.expect_verdict(after)
        second.expect_figures(first.figures)
        assert second.page.get_by_text("could not be used").count() == 0


def test_a_complete_link_adds_nothing_to_the_history(visit: Visit) -> None:
    report = build_report(Scenario(system="mi355x-8", max_tpot_ms=None), load_catalog())
    visitor = visit()
    visitor.open(f"?{report.link}")
    visitor.expect_verdict(report.sentences()[0])
    # about:blank and the page
    assert visitor.history == 2
    assert link.parse(visitor.page.url).scenario == report.scenario


def test_three_changes_leave_the_history_alone_and_a_preset_adds_one_entry(visit: Visit) -> None:
    visitor = visit()
    visitor.open()
    page, entries = visitor.page, visitor.history
    for count in (2, 3, 4):
        box = page.get_by_role("textbox", name="Number of machines")
        box.fill(str(count))
        box.press("Enter")
        visitor.expect_verdict(answer(Scenario(system_count=count)))
    before = answer(Scenario(system_count=4))
    assert visitor.history == entries
    address = page.url

    page.get_by_role("button", name="Take a known workload").click()
    page.get_by_role("button", name="Chat", exact=True).click()
    mix = load_catalog().presets["chat"]
    fields = ("input_tokens", "output_tokens", "cached_share", "accepted_tokens_per_step")
    chat = Scenario(system_count=4, **{name: getattr(mix, name) for name in fields})
    visitor.expect_verdict(answer(chat))
    assert visitor.history == entries + 1
    assert link.parse(page.url).scenario == chat

    page.go_back()
    visitor.expect_verdict(before)
    assert page.url == address
    page.go_forward()
    visitor.expect_verdict(answer(chat))


def test_opening_and_closing_groups_keeps_what_was_typed_and_the_address(visit: Visit) -> None:
    visitor = visit()
    visitor.open()
    page = visitor.page

    def group(name: str) -> None:
        page.get_by_role("button", name=name, exact=True).click()

    def type_into(name: str, text: str) -> None:
        box = page.get_by_role("textbox", name=name)
        box.fill(text)
        box.press("Enter")

    group("Running costs")
    type_into("Staff (FTE)", "0.5")
    visitor.expect_verdict(answer(Scenario(staff_fte=0.5)))
    group("API prices")  # stands above: the field of the other group moves down
    type_into("Discount on the API bill", "10 %")
    both = Scenario(staff_fte=0.5, api_discount=0.1)
    visitor.expect_verdict(answer(both))
    group("API prices")
    group("Running costs")
    page.get_by_role("link", name="Costs").click()
    expect(page.get_by_role("textbox", name="Staff (FTE)")).to_have_value("0.5")
    page.get_by_role("link", name="Decision").click()
    visitor.expect_verdict(answer(both))
    assert link.parse(page.url).scenario == both
    page.reload()
    visitor.expect_verdict(answer(both))


def test_downloads_hold_what_the_page_shows(visit: Visit) -> None:
    visitor = visit()
    visitor.open("?utilization=0.6")
    report = build_report(Scenario(utilization=0.6), load_catalog())
    visitor.page.get_by_role("button", name="Share and download").click()

    def fetch(name: str) -> bytes:
        with visitor.page.expect_download() as waiting:
            visitor.page.get_by_role("button", name=name).click()
        return waiting.value.path().read_bytes()

    rows = list(csv.DictReader(io.StringIO(fetch("All as CSV").decode("utf-8-sig"), newline="")))
    values = {(row["section"], row["name"]): row["value"] for row in rows}
    assert float(values["results", "payback.days"]) == report.days
    assert values["scenario", "utilization"] == "0.6"
    months = list(csv.reader(io.StringIO(fetch("Cash flow as CSV").decode("utf-8-sig"), newline="")))
    assert len(months) == 1 + 1 + report.scenario.horizon_months  # header, the start, each month
    book = load_workbook(io.BytesIO(fetch("Workbook")))
    assert book.sheetnames == ["Inputs", "Result", "Cash flow", "Costs", "Sources"]
    inputs = {row[0].value: row[1].value for row in book["Inputs"].iter_rows() if len(row) > 1}
    assert inputs["Utilization"] == 0.6
    printed = html.unescape(fetch("Report to print").decode())
    assert report.sentences()[0] in printed
    assert printed.rstrip().endswith("</html>")


def test_a_pasted_link_stands_beside_this_scenario(visit: Visit) -> None:
    other = build_report(Scenario(utilization=0.4, title="slow"), load_catalog())
    visitor = visit()
    visitor.open("compare", charts=0)
    visitor.page.get_by_role("textbox", name="Link 2").fill(f"{visitor.url}/?{other.link}")
    visitor.page.get_by_role("textbox", name="Link 2").press("Enter")
    expect(visitor.page.get_by_test_id("stDataFrame")).to_have_count(2)
    visitor.settle()
    # the tables are drawn on a canvas; their cells stand behind it for screen readers
    results, differing = (visitor.page.get_by_test_id("stDataFrame").nth(n).locator("td, th") for n in (0, 1))
    expect(differing.filter(has_text="75 %")).to_have_count(1)
    expect(differing.filter(has_text="40 %")).to_have_count(1)
    assert {"Utilization", "slow"} <= set(differing.all_text_contents())
    expect(results.filter(has_text=duration_text(other.days or 0.0)).first).to_be_attached()


def test_a_link_after_the_data_moved_keeps_its_answer_until_asked(visit: Visit) -> None:
    visitor = visit()
    visitor.open("?v=1&release=2026-06-01&pins=hardware_usd%3A300000")
    then = build_report(Scenario(), load_catalog(), {"hardware_usd": 300_000.0}).sentences()[0]
    now = build_report(Scenario(), load_catalog()).sentences()[0]
    visitor.expect_verdict(then)
    visitor.page.get_by_role("button", name="Use today's data").click()
    visitor.expect_verdict(now)


def test_pages_share_the_scenario_and_the_address_bar(visit: Visit) -> None:
    visitor = visit()
    visitor.open("?utilization=0.5&hardware_usd=500k")
    for name in ("Capacity", "Machines", "Costs", "Decision"):
        visitor.page.get_by_role("link", name=name, exact=True).click()
        expect(visitor.page).to_have_url(re.compile("decision|/\\?" if name == "Decision" else name.lower()))
        visitor.settle()
        expect(visitor.page.get_by_role("slider", name="Utilization")).to_have_value("0.5")
        assert parameters(visitor.page.url) == {"utilization": "0.5", "hardware_usd": "500k"}


def test_the_amount_of_the_demand_stays_in_the_address_and_is_kept_while_another_is_asked(visit: Visit) -> None:
    visitor = visit()
    visitor.open(charts=2)
    page = visitor.page

    def choose(kind: str) -> None:
        box = page.get_by_role("combobox", name="Demand is given as")
        box.click()
        page.get_by_role("option", name=kind, exact=True).click()
        expect(box).to_have_value(kind)

    def type_amount(name: str, value: str) -> None:
        field = page.get_by_role("textbox", name=name)
        field.fill(value)
        field.press("Enter")

    choose("tokens")
    type_amount("Tokens a month", "5B")
    visitor.expect_verdict(answer(Scenario(demand="tokens", demand_tokens_per_month=5e9)))
    for name in ("Capacity", "Decision"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(re.compile("/\\?" if name == "Decision" else name.lower()))
        visitor.settle()
        assert parameters(page.url) == {"demand": "tokens", "demand_tokens_per_month": "5B"}
    choose("spend")
    type_amount("Spend a month", "95k")
    both = Scenario(demand="spend", demand_usd_per_month=95_000, demand_tokens_per_month=5e9)
    visitor.expect_verdict(answer(both))
    assert parameters(page.url) == {"demand": "spend", "demand_usd_per_month": "95k"}
    choose("tokens")
    visitor.expect_verdict(answer(Scenario(demand="tokens", demand_tokens_per_month=5e9)))
    expect(page.get_by_role("textbox", name="Tokens a month")).to_have_value("5B")
    assert parameters(page.url) == {"demand": "tokens", "demand_tokens_per_month": "5B"}


def test_first_visit_by_keyboard_alone(visit: Visit) -> None:
    visitor = visit()
    visitor.open()
    page = visitor.page
    start = page.get_by_role("button", name="This is an example: make it your case")
    for _ in range(120):
        if start.evaluate("e => e === document.activeElement || e.contains(document.activeElement)"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    spend = page.get_by_role("textbox", name="API bill a month")
    expect(spend).to_be_visible()
    for _ in range(20):
        if spend.evaluate("e => e === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.type("95k")
    page.keyboard.press("Enter")
    apply = page.get_by_role("button", name="Show my answer")
    for _ in range(20):
        if apply.evaluate("e => e === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expected = Scenario(demand="spend", demand_usd_per_month=95_000)
    visitor.expect_verdict(answer(expected))
    assert link.parse(page.url).scenario == expected


def test_the_first_screen_answers_without_scrolling(visit: Visit) -> None:
    visitor = visit(1440, 900)
    visitor.open(charts=2)
    for thing in (
        visitor.page.locator("h1").first,
        *visitor.page.get_by_test_id("stMetric").all(),
        visitor.page.get_by_test_id("stPlotlyChart").first,
    ):
        box = thing.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900


def test_the_browsers_language_is_taken_and_can_be_switched(visit: Visit) -> None:
    visitor = visit(locale="zh-CN")
    visitor.open()
    visitor.expect_verdict(answer(Scenario(), "zh"))
    visitor.page.get_by_role("radio", name="en", exact=True).or_(
        visitor.page.get_by_role("button", name="en", exact=True)
    ).first.click()
    visitor.expect_verdict(answer(Scenario()))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_nothing_serious_for_axe_and_no_request_leaves(visit: Visit, page: str, scheme: str) -> None:
    visitor = visit(scheme=scheme)
    visitor.open(page, CHARTS.get(page, 0))
    found = Axe().run(visitor.page).response["violations"]
    serious = [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
    assert not serious
    assert not visitor.external
    assert not visitor.errors


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("width", "height"), [(390, 844), (720, 450)], ids=["phone", "200 % zoom"])
def test_narrow_screens_never_scroll_sideways(visit: Visit, page: str, width: int, height: int) -> None:
    visitor = visit(width, height)
    visitor.open(page, min(CHARTS.get(page, 0), 1))
    assert not visitor.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    main = visitor.page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth <= e.clientWidth")


@pytest.mark.parametrize("page", CHARTS)
def test_every_chart_has_a_name_and_a_table(visit: Visit, page: str) -> None:
    visitor = visit()
    visitor.open(page, CHARTS[page])
    assert visitor.page.get_by_test_id("stPlotlyChart").count() <= 4
    named = visitor.page.get_by_role("figure").all()
    assert len(named) >= CHARTS[page]
    assert all(len(figure.get_attribute("aria-label") or "") > 40 for figure in named[: CHARTS[page]])
    if page != "machines":  # its table stands open below the chart
        visitor.page.get_by_text("Charts as tables, too").click()
        expect(visitor.page.get_by_test_id("stDataFrame").first).to_be_visible()


def test_a_tab_stays_open_while_inputs_change_and_its_answer_follows(visit: Visit) -> None:
    visitor = visit()
    visitor.open("risk?utilization=0.5", charts=2)
    visitor.page.get_by_role("tab", name="What must be true").click()
    table = visitor.page.get_by_test_id("stMain").get_by_role("table")
    expect(table.get_by_role("row", name="Utilization").get_by_role("cell").nth(1)).to_have_text("50.0 %")
    slider = visitor.page.get_by_role("slider", name="Utilization")
    slider.focus()
    visitor.page.keyboard.press("ArrowRight")
    expect(table.get_by_role("row", name="Utilization").get_by_role("cell").nth(1)).to_have_text("51.0 %")
    assert visitor.page.locator(".js-plotly-plot").count() == 0
    visitor.page.get_by_role("tab", name="Price, load and time").click()
    expect(visitor.page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(visitor.page.get_by_role("table")).to_have_count(0)
    assert not visitor.errors
