"""Costs, machines, risk and decision: what they say where there is nothing to compare, to pay back, or to keep."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.test_risk_pages import open_tab, page, words


def told(name: str, **query: str) -> str:
    """All words of a page apart from its figures."""
    at = page(name, **query)
    more = "\n".join(str(e.value) for kind in (at.main.title, at.main.caption, at.main.info) for e in kind)
    return f"{words(at)}\n{more}".replace("\\", "")


def charts(at: AppTest) -> dict[str, Any]:
    """Specifications of the page's charts in order, by place."""
    import json

    return {str(i): json.loads(c.proto.spec) for i, c in enumerate(at.get("plotly_chart"))}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_costs_rank_nothing_where_nothing_is_served(lang: str) -> None:
    # 8xH200 does not hold the model: the APIs have no bill for its tokens, neither 0 USD nor the least
    at = page("costs", lang=lang, system="hgx-h200-8")
    assert "costs least" not in words(at)
    assert "费用最低" not in words(at)
    assert ("These machines serve no tokens" in words(at)) == (lang == "en")
    bars = next(iter(charts(at).values()))["data"][0]
    assert not [name for name in bars["y"] if "kimi-k3" in name]


def test_costs_rank_the_ways_where_all_have_a_price() -> None:
    at = page("costs")
    assert "Buy costs least a month" in words(at) or "Loan costs least a month" in words(at)
    bars = next(iter(charts(at).values()))["data"][0]
    assert "moonshotai/kimi-k3" in bars["y"]


@pytest.mark.parametrize(
    ("query", "needed"),
    [({"utilization": "0.15"}, "19.6 %"), ({"acquisition": "rent", "utilization": "0.3"}, "41.4 %")],
)
def test_the_title_of_the_frontier_agrees_with_its_chart(query: dict[str, str], needed: str) -> None:
    # 24,716 of 125,819 USD that full machines would serve are 19.6 %, the rent's 52,094 are 41.4 % (test_breakeven)
    shown = words(open_tab(page("risk", **query), "risk", "risk.tab_frontier"))
    assert f"At today's price trend it needs {needed} of the capacity" in shown
    assert "no load" not in shown


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("utilization", ["0.75", "0.3", "0"])
def test_rent_has_a_risk_page_without_paybacks(lang: str, utilization: str) -> None:
    at = page("risk", lang=lang, acquisition="rent", utilization=utilization)
    shown = words(at)
    assert len(at.metric) == 4
    drawn = charts(at)
    # tornado of the NPV, histogram of the NPV; in the next tab the NPV over price and load
    assert len(drawn) == 2
    assert len(charts(open_tab(at, "risk", "risk.tab_frontier", lang))) == 1
    everything = "\n".join([shown, words(at), words(open_tab(at, "risk", "risk.must", lang))])
    for word in ("0 days", "never and never", "between never", "pay back before", "0 天"):
        assert word not in everything
    shares = drawn["1"]["data"][0]["y"]
    assert len(list(shares)) > 1 or isinstance(shares, dict)
    if lang == "en":
        assert "Nothing is bought, so there is nothing to pay back" in shown
        assert "NPV" in shown


def test_money_lost_again_titles_the_cash_flow() -> None:
    shown = told(
        "decision", api_price_change_per_year="-0.5", demand_growth_per_year="-0.3", demand="spend",
        demand_usd_per_month="94364",
    )  # fmt: skip
    assert "The money is back after 421 days, but lost again within 48 months" in shown
    assert "But that does not last" in shown


def test_decision_of_a_rent_speaks_of_the_saving() -> None:
    at = page("decision", acquisition="rent")
    assert at.metric[2].label == "Saving a month"
    # 94,364 - 52,094 (test_breakeven) = 42,270
    assert at.metric[2].value == "42,300 USD"
    shown = words(at)
    assert "it saves money over 48 months (NPV above 0) with a probability of" in shown
    assert "pays back within" not in shown


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ({"demand_usd_per_month": "60000"}, "One machine costs least"),
        ({"demand_usd_per_month": "280000"}, "3 machines cost least"),
        ({"demand_usd_per_month": "5000"}, "Buying no machine costs least: 5,000 USD a month at the API"),
        ({"demand_usd_per_month": "0"}, "There is no demand, so no machine costs least"),
    ],
)
def test_the_number_of_machines_that_costs_least_in_words(query: dict[str, str], title: str) -> None:
    # one machine takes 94,364 USD of API spend and costs 22,591 a month: 280,000 fill three, nearly
    assert title in told("costs", demand="spend", **query)


def test_a_break_even_above_the_plan_is_named_as_such() -> None:
    # 24,716 USD at 4.3333 per million are 5.70 B tokens; 15 % of the capacity are 4.36 B
    shown = told("decision", utilization="0.15")
    assert "Own machines are cheaper above 5.70 B tokens a month, more than is planned on them" in shown
    assert "it needs 19.6 % load" in shown
