"""The Compare page: this scenario and pasted links side by side; a bad link hides nothing."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from calculators.link import encode
from calculators.scenario import Scenario

ROOT = Path(__file__).resolve().parent.parent


def _page() -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    at.switch_page("app_pages/compare.py").run()
    assert not at.exception
    return at


def test_one_scenario_asks_for_another() -> None:
    assert len(_page().info) == 1


def test_a_pasted_link_stands_beside_this_scenario() -> None:
    at = _page()
    at.text_input(key="_compare_0").set_value("?" + encode(Scenario(utilization=0.4, title="slow"), "2026-11-29")).run()
    assert not at.exception
    results, differing = (frame.value for frame in at.dataframe)
    assert len(results.columns) == 3
    assert differing["What"].tolist() == ["Utilization"]
    row = differing[differing["What"] == "Utilization"].iloc[0].tolist()
    assert row[1:] == ["75 %", "40 %"]


def test_a_bad_link_is_told_and_the_rest_is_shown() -> None:
    at = _page()
    at.text_input(key="_compare_0").set_value("https://example.invalid/?utilization=9&foo=1").run()
    assert not at.exception
    assert any("utilization is 9" in w.value for w in at.warning)
    assert at.dataframe
