"""A link of another day in the app: its answer, the note that data have moved, and today's data at a press."""

from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from calculators.catalog import load_catalog
from calculators.link import encode, parse
from calculators.pins import read_stated, write_stated
from calculators.report import Report, build_report
from calculators.scenario import Scenario

ROOT = Path(__file__).resolve().parent.parent
CATALOG = load_catalog()
NOTE = "Data have moved since this link was made (2026-06-01)"

Pins = dict[str, float | str]


def pins_of_today() -> Pins:
    return dict(parse("?" + build_report(Scenario(), CATALOG).link).pins)


def half_as_fast() -> Pins:
    """What a link carries from a day on which measurements said half of today's throughput."""
    pins = pins_of_today()
    stated = read_stated(str(pins["sizing"]))
    slower = write_stated(type(stated)(**{**vars(stated), "requests_per_s": stated.requests_per_s / 2}))
    return {**pins, "sizing": slower}


def opened(pins: Pins, page: str = "decision", scenario: Scenario | None = None, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    pairs = dict(parse_qsl(encode(scenario or Scenario(), "2026-06-01", pins), keep_blank_values=True))
    for key, value in (pairs | query).items():
        at.query_params[key] = value
    at.run()
    if page != "decision":
        at.switch_page(f"app_pages/{page}.py").run()
    assert not at.exception
    return at


def verdict(report: Report, language: str = "en") -> str:
    return report.sentences("zh" if language == "zh" else "en")[0]


def shown(at: AppTest) -> str:
    return str(at.title[0].value).replace("\\", "")


def test_a_link_of_todays_data_needs_no_note() -> None:
    at = opened(pins_of_today())
    assert shown(at) == verdict(build_report(Scenario(), CATALOG))
    assert not at.info


@pytest.mark.parametrize("language", ["en", "zh"])
def test_another_throughput_is_the_links_until_todays_is_asked_for(language: str) -> None:
    pins = half_as_fast()
    then, now = build_report(Scenario(), CATALOG, pins), build_report(Scenario(), CATALOG)
    assert then.days is not None
    assert now.days is not None
    assert then.days > now.days
    at = opened(pins, lang=language)
    assert shown(at) == verdict(then, language)
    assert f"{then.days:,.0f}" in at.info[0].value
    assert f"{now.days:,.0f}" in at.info[0].value
    at.button(key="_use_today").click().run()
    assert shown(at) == verdict(now, language)
    assert not at.info


def test_another_range_leaves_the_payback_and_says_that_other_figures_differ() -> None:
    at = opened({**pins_of_today(), "range_staff_fte": "PERT~0~3"})
    assert at.info[0].value.startswith(f"{NOTE}: the payback stays as it was")
    at.button(key="_use_today").click().run()
    assert not at.info


def test_the_capacity_page_tells_which_figures_are_the_links() -> None:
    at = opened(half_as_fast(), "capacity")
    assert any("those of the day on which the link was made" in m.value for m in at.markdown)
    at.button(key="_use_today").click().run()
    assert not any("those of the day on which the link was made" in m.value for m in at.markdown)


def test_the_note_goes_when_what_the_figures_rest_on_is_changed() -> None:
    at = opened(half_as_fast())
    assert at.info
    at.selectbox(key="system").set_value("mi355x-8").run()
    assert not at.info
    assert shown(at) == verdict(build_report(Scenario(system="mi355x-8"), CATALOG))


def test_a_bad_pin_is_told_and_todays_figure_is_used() -> None:
    at = opened({"sizing": "measured~fast", "hours": "AAAA", "range_staff_fte": "PERT~5~1"})
    assert shown(at) == verdict(build_report(Scenario(), CATALOG))
    assert all(name in at.warning[0].value for name in ("sizing", "hours", "range"))
    assert not at.info


def test_figures_of_a_machine_that_is_gone_are_not_anothers() -> None:
    at = opened({"hardware_usd": 1000.0}, scenario=Scenario(system="sold-out-8"))
    assert "sold-out-8" in at.warning[0].value
    assert shown(at) == verdict(build_report(Scenario(), CATALOG))
