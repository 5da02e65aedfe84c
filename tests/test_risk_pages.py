"""Risk, claims and evidence pages: what they say, in both languages and in every state."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from calculators import link
from calculators.catalog import load_catalog
from calculators.claims import judge_all
from calculators.link import parse
from calculators.report import build_report
from calculators.scenario import Scenario
from calculators.texts import catalogue
from calculators.worked_examples import worked_examples

ROOT = Path(__file__).resolve().parent.parent


def page(name: str, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    at.switch_page(f"app_pages/{name}.py").run()
    assert not at.exception, [e.value for e in at.exception]
    return at


def open_tab(at: AppTest, page_name: str, name: str, lang: str = "en") -> AppTest:
    """Open a tab of a page by the key of its name, as a click does; the other tabs are not drawn then."""
    at.session_state[f"_{page_name}_tabs"] = catalogue()[name][lang]
    at.run()
    assert not at.exception, [e.value for e in at.exception]
    return at


RISK_TABS = ("risk.tab_drivers", "risk.tab_frontier", "risk.must")


def words(at: AppTest) -> str:
    return "\n".join(str(m.value) for m in at.main.markdown).replace("\\", "")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"demand": "spend", "demand_usd_per_month": "8000"},
        {"acquisition": "rent"},
        {"acquisition": "loan", "facility": "own", "profile": "office-hours", "demand": "seats", "demand_seats": "900"},
        {"system": "hgx-h200-8"},
        {"system_count": "auto", "demand": "spend", "demand_usd_per_month": "200000"},
        {"utilization": "0"},
        {"horizon_months": "3"},
    ],
    ids=["defaults", "losing", "rent", "loan", "does not fit", "auto", "idle", "short horizon"],
)
def test_risk_page_in_every_state(query: dict[str, str], lang: str) -> None:
    at = page("risk", lang=lang, **query)
    report = build_report(parse(list(query.items())).scenario, load_catalog())
    if report.uncertainty is None:
        assert at.info
        assert not at.metric
        assert not at.tabs
        return
    assert [tab.label for tab in at.tabs] == [catalogue()[name][lang] for name in RISK_TABS]
    shown = []
    for name in RISK_TABS:
        told = words(open_tab(at, "risk", name, lang))
        assert "nan" not in told.lower()
        assert "inf" not in re.sub(r"info\w*", "", told.lower())
        assert len(at.metric) == 4
        shown.append((len(at.get("plotly_chart")), "|" in told))
    never = not report.uncertainty.probability_pays_back
    bought = query.get("acquisition") != "rent"
    assert shown == [(1 if bought and never else 2, False), (2 if bought and not never else 1, False), (0, True)]


def test_the_probability_on_the_page_is_the_reports() -> None:
    at = page("risk", demand="spend", demand_usd_per_month="40000")
    report = build_report(Scenario(demand="spend", demand_usd_per_month=40_000.0), load_catalog())
    unsure = report.uncertainty
    assert unsure is not None
    assert at.metric[0].value == f"{unsure.probability_pays_back * 100:.1f} %"
    assert at.metric[2].value == f"{unsure.probability_never * 100:.1f} %"


def test_a_link_of_what_must_be_true_opens_the_scenario_that_has_it() -> None:
    at = open_tab(page("risk", target_payback_days="300"), "risk", "risk.must")
    links = re.findall(r"\]\(\?([^)]+)\)", words(at))
    assert len(links) > 10
    first = link.parse(links[0])
    assert first.problems == ()
    # the first row is the API price, its first link the payback of 300 days
    assert build_report(first.scenario, load_catalog()).days == pytest.approx(300, rel=1e-3)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_claims_page_has_all_claims_with_rating_and_link(lang: str) -> None:
    at = page("claims", lang=lang)
    told = words(at)
    claims = judge_all(load_catalog())
    for claim in claims:
        assert f"**{claim.id}**" in told
        assert claim.statement(lang) in told
        assert claim.reason(lang) in told
    assert told.count("](./?") == len(claims) == 20


def test_claims_can_be_filtered_by_rating() -> None:
    at = page("claims")
    control = next(c for c in at.button_group if c.key == "_claims_show")
    control.set_value(["contradicted"]).run()
    assert not at.exception
    wanted = [c.id for c in judge_all(load_catalog()) if c.rating == "contradicted"]
    assert re.findall(r"\*\*(c\d\d)\*\*", words(at)) == wanted


def figures_of(lang: str) -> AppTest:
    """The Evidence page with the tab of every figure open."""
    at = page("evidence", lang=lang)
    assert not [t for t in at.text_input if t.key == "_evidence_search"], "a closed tab is not drawn"
    return open_tab(at, "evidence", "evidence_page.figures", lang)


def test_evidence_page_opens_its_first_tab_in_another_language() -> None:
    at = figures_of("en")
    at.button_group(key="lang").set_value("zh").run()
    assert not at.exception
    assert [tab.label for tab in at.tabs] == [
        catalogue()[f"evidence_page.{name}"]["zh"] for name in ("measured", "examples", "figures")
    ]


def test_evidence_page_shows_published_numbers_beside_recomputed_ones() -> None:
    at = open_tab(page("evidence"), "evidence", "evidence_page.examples")
    rows = [row for example in worked_examples(load_catalog()) for row in example.rows]
    good = sum(row.reproduces for row in rows)
    assert any(f"{good} of {len(rows)} published numbers" in c.value for c in at.caption)
    assert len(at.dataframe[0].value) == len(rows)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_evidence_page_searches_every_figure(lang: str) -> None:
    at = figures_of(lang)
    at.text_input(key="_evidence_search").set_value("hgx-b300-8 hardware_usd").run()
    assert not at.exception
    table = at.dataframe[-1].value
    assert len(table) == 1
    assert "600,000" in str(table.iloc[0, 2])
    at.text_input(key="_evidence_search").set_value("no such figure anywhere").run()
    assert not at.exception
    assert len(at.dataframe[-1].value) == 0


def test_evidence_page_marks_what_is_stale() -> None:
    at = figures_of("en")
    at.checkbox(key="_evidence_stale").check().run()
    assert not at.exception
    table = at.dataframe[-1].value
    assert len(table) > 0
    assert set(table["Age"]) == {"stale"}
