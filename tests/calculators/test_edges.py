"""Edges that mutation testing showed to be open: columns of the schedule, flows without a rate, texts at a limit."""

import datetime as dt
from dataclasses import fields

import numpy as np
import pytest

from calculators import link, views
from calculators.cashflow import irr_per_year, loan_balance_usd, schedule
from calculators.catalog import load_catalog
from calculators.numbers import NotANumberError, duration, money, parse_number, share, three_digits
from calculators.ownership import Ownership
from calculators.report import build_report
from calculators.scenario import Scenario
from calculators.texts import catalogue
from calculators.verdict import break_even_key
from tests.calculators.test_cashflow import terms
from tests.calculators.test_ownership import cost


def test_the_schedule_shows_level_volume_running_cost_and_balance() -> None:
    table = schedule(
        terms(
            price_change_per_year=-0.3,
            demand_requests_per_month=40_000.0,
            demand_growth_per_year=0.5,
            principal_usd=500_000.0,
            horizon_months=24.0,
        )
    )
    # month 13 is m = 12: the price is at 0.7; the demand of 40,000 x 1.5 is above the capacity of 45,000
    assert table.price_level[0] == 1.0
    assert table.price_level[12] == pytest.approx(0.7)
    assert table.served_requests[0] == 40_000
    assert table.served_requests[12] == 45_000
    assert list(np.unique(table.running_usd)) == [10_000]
    # what is left after payments 1 and 24 of 36
    assert table.loan_balance_usd.shape == (24,)
    assert table.loan_balance_usd[0] == pytest.approx(float(loan_balance_usd(500_000, 0.13, 36, 1)))
    assert table.loan_balance_usd[-1] == pytest.approx(float(loan_balance_usd(500_000, 0.13, 36, 24)))
    assert table.loan_balance_usd[0] - table.loan_balance_usd[-1] == pytest.approx(table.principal_repaid_usd[1:].sum())


@pytest.mark.parametrize(
    "flows",
    [
        [],
        [0, 0],
        [100, -10, -10],  # money comes first: nothing was invested
        [0.5, -1, 2],
        [0, 100, -50],
        [-100, -1],
        [-100, 0, -1],
    ],
)
def test_flows_that_have_no_rate(flows: list[float]) -> None:
    assert irr_per_year(flows) is None


def test_small_and_whole_flows_have_a_rate() -> None:
    # 1.00 now for 1.01 a month later: (1.01)^12 - 1 = 12.68 %
    assert irr_per_year([-1, 1.01]) == pytest.approx(0.126825, abs=1e-6)
    assert irr_per_year([0, -1, 1.01]) == pytest.approx(0.126825, abs=1e-6)
    # 0.5 back of 1 after twelve months: half is lost in a year
    assert irr_per_year([-1, *[0] * 11, 0.5]) == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (three_digits(1), "1.00"),
        (money(1e7), "10.0 M USD"),
        (money(1000), "1,000 USD"),
        (money(1000.4), "1,000 USD"),
        (share(1.005), "100 %"),
        (share(1.0), "100 %"),
        (duration(7300), "20.0 years"),
        (duration(73_000), "200.0 years"),
    ],
)
def test_texts_at_a_limit(shown: str, expected: str) -> None:
    assert shown == expected


@pytest.mark.parametrize("text", ["9" * 400, "1.2.3,4,5", "1,5,5", "x" * 300])
def test_a_text_that_is_no_number_is_quoted_in_part(text: str) -> None:
    with pytest.raises(NotANumberError, match=rf"^'{text[:60]}'?[^{text[60:61] or 'x'}]"):
        parse_number(text)


@pytest.mark.parametrize(
    ("facility", "formula", "named"),
    [
        ("colocation", "systems x power x colocation price", ("power_kw", "colocation_usd_per_kw_month")),
        (
            "own",
            "systems x power x PUE x 730 h x electricity price",
            ("power_kw", "pue", "electricity_usd_per_kwh"),
        ),
    ],
)
def test_the_power_line_says_how_and_from_what(facility: str, formula: str, named: tuple[str, ...]) -> None:
    written = {line.formula: line.terms for line in cost(facility=facility).lines}
    assert written[formula] == named


@pytest.mark.parametrize("acquisition", ["buy", "loan", "rent"])
@pytest.mark.parametrize("facility", ["colocation", "own"])
def test_each_cost_line_names_inputs_that_exist(acquisition: str, facility: str) -> None:
    known = {f.name for f in fields(Ownership)}
    for line in cost(acquisition, facility).lines:
        assert line.terms
        assert set(line.terms) <= known, line


def test_an_offer_in_yuan_has_its_price_in_usd_under_its_box() -> None:
    catalog = load_catalog()
    offer = catalog.offers["moonshot-cn/kimi-k3"]
    rate = catalog.usd_per_cny(dt.date.fromisoformat(catalog.release))
    assert rate is not None
    price = views.offer_price(catalog, offer.id)
    assert price is not None
    listed = offer.prices[-1].input_per_mtok
    assert listed is not None
    assert float(price.input_usd_per_mtok) == pytest.approx(listed * rate.value)
    doubled = views.offer_price(catalog, offer.id, usd_per_cny=2 * rate.value)
    assert doubled is not None
    assert float(doubled.input_usd_per_mtok) == pytest.approx(2 * float(price.input_usd_per_mtok))


def test_an_unreadable_link_names_the_link() -> None:
    parsed = link.parse("http://[broken/?utilization=0.5")
    assert [p.field for p in parsed.problems] == ["link"]
    assert parsed.scenario == Scenario()


@pytest.mark.parametrize("scenario", [Scenario(), Scenario(utilization=0.15), Scenario(hardware_usd=9e8)])
def test_titles_of_the_cost_curve_are_texts(scenario: Scenario) -> None:
    assert break_even_key(build_report(scenario, load_catalog()).even) in catalogue()
