"""Costs, machines, risk and decision: what they say where there is nothing to compare, to pay back, or to keep."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.test_risk_pages import page, words


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
