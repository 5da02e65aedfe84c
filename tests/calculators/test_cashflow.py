"""Cash flow: every figure worked by hand or held against another library."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import pyxirr
from hypothesis import given
from hypothesis import strategies as st

from calculators.cashflow import (
    NEVER_MONTHS,
    Flow,
    FlowTerms,
    annuity_usd_per_month,
    evaluate_flow,
    financing_npv_usd,
    irr_per_year,
    loan_balance_usd,
    monthly_rate,
    schedule,
    settle,
)

QUANTITIES = (
    "payback_months",
    "payback_days",
    "discounted_payback_months",
    "npv_usd",
    "peak_month",
    "peak_usd",
    "final_usd",
    "first_saving_usd",
)
"""What a flow tells."""


def terms(**changes: Any) -> FlowTerms:
    """A fleet whose API value is 45,000 USD a month and whose running cost is 10,000: it saves 35,000 a month."""
    values: dict[str, Any] = {
        "api_usd_per_request": 1.0,
        "demand_requests_per_month": np.inf,
        "capacity_requests_per_month": 45_000.0,
        "rented_share": 1.0,
        "price_change_per_year": 0.0,
        "demand_growth_per_year": 0.0,
        "licence_usd_per_request": 0.0,
        "running_usd_per_month": 10_000.0,
        "capex_usd": 600_000.0,
        "residual_usd": 0.0,
        "principal_usd": 0.0,
        "loan_rate_per_year": 0.13,
        "loan_months": 36.0,
        "horizon_months": 36.0,
        "discount_rate_per_year": 0.10,
    }
    weights = changes.pop("weights", None)
    arrays = {name: np.asarray(value, dtype=float) for name, value in {**values, **changes}.items()}
    return FlowTerms(**arrays) if weights is None else FlowTerms(**arrays, weights=weights)


def flow(**changes: Any) -> Flow:
    return evaluate_flow(terms(**changes))


# W8 and the NPV oracle ------------------------------------------------------------------------------------------------


def test_w8_payback_npv_and_discounted_payback() -> None:
    found = flow()
    # 600,000 / 35,000 = 17.142857 months, x 365 / 12 = 521.43 days
    assert found.payback_months == pytest.approx(600 / 35, rel=1e-12)
    assert found.payback_days == pytest.approx(600 / 35 * 365 / 12, rel=1e-12)
    # i = 1.10^(1/12) - 1 = 0.797414 %; NPV = 35,000 x (1 - 1.10^-3) / i - 600,000 = 491.5 thousand USD
    i = 1.10 ** (1 / 12) - 1
    assert monthly_rate(0.10) == pytest.approx(i, rel=1e-14)
    assert found.npv_usd == pytest.approx(35_000 * (1 - 1.10**-3) / i - 600_000, rel=1e-12)
    assert found.npv_usd == pytest.approx(491_500, abs=50)
    # undiscounted 36 x 35,000 - 600,000 = 660,000
    assert found.final_usd == pytest.approx(660_000)
    # after 18 months the discounted sum is 35,000 x (1 - 1.10^-1.5) / i = 584.7 thousand; the 19th month adds
    # 35,000 x 1.10^(-19/12) = 30.1 thousand: (600 - 584.7) / 30.1 = 0.51
    after_18 = 35_000 * (1 - 1.10**-1.5) / i
    expected = 18 + (600_000 - after_18) / (35_000 * 1.10 ** (-19 / 12))
    assert found.discounted_payback_months == pytest.approx(expected, rel=1e-12)
    assert 18.45 < float(found.discounted_payback_months) < 18.55


def test_w8_npv_is_the_numpy_sum() -> None:
    month = np.arange(1, 37)
    assert flow().npv_usd == pytest.approx(np.sum(35_000 / 1.10 ** (month / 12)) - 600_000, rel=1e-12)


def test_w8_loan_of_600_000_at_13_percent() -> None:
    # i = 0.13 / 12; 600,000 i / (1 - (1 + i)^-36) = 20,216 USD a month, 36 payments = 727.8 thousand
    payment = float(annuity_usd_per_month(600_000, 0.13, 36))
    i = 0.13 / 12
    assert payment == pytest.approx(600_000 * i / (1 - (1 + i) ** -36), rel=1e-13)
    assert round(payment) == 20_216
    assert payment * 36 == pytest.approx(727_800, abs=50)


def test_npv_oracle_irr_and_equivalent_annual_cost() -> None:
    # 600,000 now, 4 years at 12 %, 60,000 salvage. Annuity factor (1 - 1.12^-4) / 0.12 = 3.037349.
    # Equivalent annual cost (600,000 - 60,000 / 1.12^4) / 3.037349 = 184,986.60; the yearly flow that gives an NPV of
    # 197,468.42 is 184,986.60 + 197,468.42 / 3.037349 = 250,000.
    factor = (1 - 1.12**-4) / 0.12
    cost = (600_000 - 60_000 / 1.12**4) / factor
    assert cost == pytest.approx(184_986.60, abs=0.005)
    assert cost + 197_468.42 / factor == pytest.approx(250_000, abs=0.01)
    # by the month: the payment that grows to 250,000 by the end of a year at the monthly rate
    monthly = 250_000 * float(monthly_rate(0.12)) / 0.12
    found = flow(
        capacity_requests_per_month=monthly + 10_000,
        horizon_months=48,
        residual_usd=60_000,
        discount_rate_per_year=0.12,
    )
    assert found.npv_usd == pytest.approx(197_468.42, abs=0.01)
    yearly = np.zeros(49)
    yearly[0] = -600_000
    yearly[12::12] = 250_000
    yearly[48] += 60_000
    assert irr_per_year(yearly) == pytest.approx(0.26354, abs=5e-6)
    assert irr_per_year(yearly) == pytest.approx(pyxirr.irr([-600e3, 250e3, 250e3, 250e3, 310e3]), rel=1e-9)


# W7: never ------------------------------------------------------------------------------------------------------------


def test_w7_running_cost_above_the_api_is_never() -> None:
    # API 8,000, running 10,000: loses 2,000 a month
    found = flow(capacity_requests_per_month=8000)
    assert found.payback_months == np.inf
    assert found.discounted_payback_months == np.inf
    assert found.first_saving_usd == -2000
    assert found.final_usd == -600_000 - 36 * 2000


def test_w7_saving_exactly_zero_is_never() -> None:
    assert flow(capacity_requests_per_month=10_000).payback_months == np.inf
    assert flow(capacity_requests_per_month=10_000, capex_usd=0).payback_months == np.inf


def test_w7_no_capex_with_a_saving_is_at_once() -> None:
    found = flow(capex_usd=0)
    assert found.payback_months == 0
    assert found.discounted_payback_months == 0


def test_no_capex_and_a_loss_at_first_has_its_losses_to_pay_back() -> None:
    # rented: value 8,000 growing tenfold a year with the price, running 10,000. Month 0 loses 2,000, month 1 brings
    # 8,000 x 10^(1/12) = 9,692 and loses 308, month 2 brings 11,743 and gains 1,743, month 3 14,226 and gains 4,226:
    # -2,308 after two months, -565 after three, so the zero is at 3 + 565 / 4,226 = 3.13 months
    found = flow(capex_usd=0, capacity_requests_per_month=8000, price_change_per_year=9)
    gains = [8000 * 10 ** (m / 12) - 10_000 for m in range(4)]
    assert found.payback_months == pytest.approx(3 - sum(gains[:3]) / gains[3], rel=1e-12)
    assert float(found.payback_months) == pytest.approx(3.13, abs=0.01)


# Payback within the month, horizon and beyond -------------------------------------------------------------------------


def test_payback_is_interpolated_inside_the_month() -> None:
    # 90,000 / 35,000 = 2.5714 months: two whole months bring 70,000, the third 20,000 / 35,000 of itself
    assert flow(capex_usd=90_000).payback_months == pytest.approx(90 / 35, rel=1e-13)
    # exactly at the end of a month
    assert flow(capex_usd=70_000).payback_months == pytest.approx(2, rel=1e-13)
    # inside the first
    assert flow(capex_usd=7000).payback_months == pytest.approx(0.2, rel=1e-13)


def test_horizon_shorter_than_the_payback() -> None:
    # 600 / 35 = 17.14 months whatever the horizon; without `extend` it is not looked for beyond the 12 months
    found = flow(horizon_months=12)
    assert found.payback_months == pytest.approx(600 / 35, rel=1e-12)
    assert found.discounted_payback_months == np.inf, "the discounted payback ends with the horizon"
    assert evaluate_flow(terms(horizon_months=12), extend=False).payback_months == np.inf
    assert evaluate_flow(terms(horizon_months=18), extend=False).payback_months == pytest.approx(600 / 35, rel=1e-12)


def test_later_than_fifty_years_is_never() -> None:
    # 35,000 x 599 and x 601 months
    assert flow(capex_usd=35_000 * 599).payback_months == pytest.approx(599, rel=1e-9)
    assert flow(capex_usd=35_000 * (NEVER_MONTHS + 1)).payback_months == np.inf


@given(st.floats(1e3, 1e7), st.floats(-5e4, 5e5), st.integers(1, 240))
def test_flat_case_is_capex_over_saving(capex: float, saving: float, horizon: int) -> None:
    months = flow(
        capex_usd=capex,
        capacity_requests_per_month=saving + 60_000,
        running_usd_per_month=60_000,
        horizon_months=horizon,
    ).payback_months
    expected = capex / saving if saving > 0 else np.inf
    if expected > NEVER_MONTHS * 1.001:
        assert months == np.inf
    elif expected < NEVER_MONTHS * 0.999:
        assert months == pytest.approx(expected, rel=1e-7)


# Prices and volumes that move -----------------------------------------------------------------------------------------


def test_price_change_by_the_month() -> None:
    # halving in a year: month m is worth 45,000 x 0.5^(m/12)
    m = np.arange(36)
    value = 45_000 * 0.5 ** (m / 12)
    found = flow(price_change_per_year=-0.5, capex_usd=100_000)
    assert found.final_usd == pytest.approx(np.sum(value - 10_000) - 100_000, rel=1e-12)
    assert found.npv_usd == pytest.approx(np.sum((value - 10_000) / 1.1 ** ((m + 1) / 12)) - 100_000, rel=1e-11)
    assert terms(price_change_per_year=-0.5).price_level(12)[..., 0] == pytest.approx(0.5)


def test_growth_by_the_month_until_the_machines_are_full() -> None:
    # 20,000 requests doubling in a year reach 45,000 after 12 log2(2.25) = 14.04 months: full from month 15 on
    m = np.arange(36)
    served = np.minimum(20_000 * 2 ** (m / 12), 45_000)
    found = terms(demand_requests_per_month=20_000, demand_growth_per_year=1.0)
    assert found.served_requests(m) == pytest.approx(served, rel=1e-12)
    assert served[14] < 45_000 == served[15]
    assert evaluate_flow(found).final_usd == pytest.approx(np.sum(served - 10_000) - 600_000, rel=1e-12)


def test_falling_price_turns_ten_months_into_never_and_tells_the_peak() -> None:
    # 100,000 API value less 40,000 running: 600,000 / 60,000 = 10 months at today's price
    flat = {"capacity_requests_per_month": 100_000, "running_usd_per_month": 40_000, "horizon_months": 48}
    assert flow(**flat).payback_months == pytest.approx(10, rel=1e-12)
    # at -80 % a year month m is worth 100,000 x 0.2^(m/12); above 40,000 until m = 12 ln 0.4 / ln 0.2 = 6.83, so seven
    # months (0 to 6) still gain: the cumulative flow peaks at the end of month 7
    found = flow(**flat, price_change_per_year=-0.8)
    assert found.payback_months == np.inf
    assert found.first_saving_usd == 60_000
    assert found.peak_month == 7
    gained = sum(100_000 * 0.2 ** (m / 12) - 40_000 for m in range(7))
    assert found.peak_usd == pytest.approx(-600_000 + gained, rel=1e-12)
    assert found.final_usd < found.peak_usd


def test_falling_price_can_still_pay_back_beyond_the_horizon() -> None:
    # -10 % a year, 12 months of horizon: the sum of 100,000 x 0.9^(m/12) - 40,000 reaches 900,000 in month 20
    total, month = 0.0, 0
    while total + 100_000 * 0.9 ** (month / 12) - 40_000 < 900_000:
        total += 100_000 * 0.9 ** (month / 12) - 40_000
        month += 1
    expected = month + (900_000 - total) / (100_000 * 0.9 ** (month / 12) - 40_000)
    found = flow(
        capacity_requests_per_month=100_000,
        running_usd_per_month=40_000,
        capex_usd=900_000,
        horizon_months=12,
        price_change_per_year=-0.1,
    )
    assert found.payback_months == pytest.approx(expected, rel=1e-10)
    assert 12 < expected < 24


@pytest.mark.parametrize("change", [-1e-18, -1e-300, -5e-324, 1e-18])
def test_price_change_too_small_for_a_float_is_none(change: float) -> None:
    assert flow(price_change_per_year=change, horizon_months=12).payback_months == pytest.approx(600 / 35, rel=1e-9)


@given(
    st.floats(-0.99, 3), st.floats(-0.9, 3), st.floats(0, 2e5), st.floats(0, 1e5), st.floats(1, 1e6), st.integers(1, 60)
)
def test_search_beyond_the_horizon_equals_a_plain_loop(
    change: float, growth: float, demand: float, running: float, capex: float, horizon: int
) -> None:
    """The early end of the search (no saving still to come can pay back) must never change the answer."""
    found = float(
        flow(
            price_change_per_year=change,
            demand_growth_per_year=growth,
            demand_requests_per_month=demand,
            running_usd_per_month=running,
            capex_usd=capex,
            horizon_months=horizon,
        ).payback_months
    )
    m = np.arange(NEVER_MONTHS)
    saving = np.minimum(demand * (1 + growth) ** (m / 12), 45_000) * (1 + change) ** (m / 12) - running
    total = np.cumsum(saving) - capex
    margin = 1e-9 * (capex + np.cumsum(np.abs(saving)))
    sure, possible = np.flatnonzero(total > margin), np.flatnonzero(total > -margin)
    if not possible.size:
        assert found == np.inf
    elif sure.size and sure[0] == possible[0]:
        assert sure[0] <= found <= sure[0] + 1 + 1e-9


# Residual, licence, rates ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("residual", [0.0, 600_000.0])
def test_residual_counts_at_the_horizon_and_not_in_the_payback(residual: float) -> None:
    found = flow(residual_usd=residual)
    # 600,000 in three years at 10 % is worth 600,000 / 1.331 = 450,789 now
    assert found.npv_usd - flow().npv_usd == pytest.approx(residual / 1.1**3, abs=1e-6)
    assert found.payback_months == flow().payback_months


def test_licence_takes_its_share_of_the_value() -> None:
    # 45,000 x 0.9 - 10,000 = 30,500 a month
    assert flow(licence_usd_per_request=0.1).payback_months == pytest.approx(600 / 30.5, rel=1e-12)


def test_discount_rate_zero_is_the_plain_sum() -> None:
    found = flow(discount_rate_per_year=0)
    assert found.npv_usd == pytest.approx(660_000, rel=1e-12)
    assert found.discounted_payback_months == pytest.approx(found.payback_months, rel=1e-12)


# Loans ----------------------------------------------------------------------------------------------------------------


def test_loan_at_no_rate_is_the_principal_over_the_months() -> None:
    assert annuity_usd_per_month(600_000, 0, 36) == pytest.approx(600_000 / 36, rel=1e-15)
    assert loan_balance_usd(600_000, 0, 36, np.array([0, 12, 36, 48])) == pytest.approx([600_000, 400_000, 0, 0])


def test_loan_rate_near_zero_joins_up_with_zero() -> None:
    assert annuity_usd_per_month(600_000, 1e-12, 36) == pytest.approx(600_000 / 36, rel=1e-9)
    assert loan_balance_usd(600_000, 1e-12, 36, 12) == pytest.approx(400_000, rel=1e-9)


@given(st.floats(1, 1e9), st.floats(0, 1), st.integers(1, 240))
def test_balance_month_by_month(principal: float, rate: float, months: int) -> None:
    """Each month the balance grows by rate / 12 and falls by the payment; the last payment clears it."""
    payment = float(annuity_usd_per_month(principal, rate, months))
    balance = principal
    for k in range(1, min(months, 24) + 1):
        balance = balance * (1 + rate / 12) - payment
        assert loan_balance_usd(principal, rate, months, k) == pytest.approx(balance, rel=1e-6, abs=1e-6 * principal)
    assert loan_balance_usd(principal, rate, months, months) == pytest.approx(0, abs=1e-9 * principal)


@pytest.mark.parametrize("loan_months", [24, 36, 60])
def test_loan_shorter_equal_and_longer_than_the_horizon(loan_months: int) -> None:
    found = terms(principal_usd=600_000, loan_months=loan_months, residual_usd=100_000)
    payment = float(annuity_usd_per_month(600_000, 0.13, loan_months))
    balance, interest = 600_000.0, []
    for month in range(36):
        interest.append(balance * 0.13 / 12 if month < loan_months else 0.0)
        balance = balance + interest[-1] - payment if month < loan_months else 0.0
    # payback: capex once, plus the interest month by month
    total = np.cumsum(35_000 - np.asarray(interest)) - 600_000
    first = int(np.argmax(total >= 0))
    expected = first - total[first - 1] / (total[first] - total[first - 1])
    result = evaluate_flow(found)
    assert result.payback_months == pytest.approx(expected, rel=1e-10)
    assert result.payback_months > 600 / 35, "interest is not hidden"
    # NPV: nothing paid at the start, payments while the loan runs, what is still owed is cleared at the horizon
    k = np.arange(1, 37)
    cash = 35_000 - payment * (k <= loan_months)
    cash[-1] += 100_000 - (balance if loan_months > 36 else 0.0)
    assert result.npv_usd == pytest.approx(np.sum(cash / 1.1 ** (k / 12)), rel=1e-9)
    table = schedule(found)
    assert table.cash_usd == pytest.approx(cash, rel=1e-9)
    assert table.interest_usd == pytest.approx(interest, rel=1e-9, abs=1e-6)


def test_loan_at_the_discount_rate_costs_nothing_now() -> None:
    # a loan at the same effective rate as the discount rate has present value 0; its nominal rate is 12 x i
    nominal = 12 * (1.1 ** (1 / 12) - 1)
    same = terms(principal_usd=600_000, loan_rate_per_year=nominal, loan_months=24)
    assert financing_npv_usd(same, 36) == pytest.approx(0, abs=1e-6)
    assert evaluate_flow(same).npv_usd == pytest.approx(float(flow().npv_usd), rel=1e-9)


# IRR ------------------------------------------------------------------------------------------------------------------


def test_irr_of_a_year() -> None:
    # 100 now, 121 after 24 months: 10 % a year
    flows = np.zeros(25)
    flows[0], flows[24] = -100, 121
    assert irr_per_year(flows) == pytest.approx(0.10, rel=1e-9)
    # half of it lost in a year
    assert irr_per_year([-100] + [0] * 11 + [50]) == pytest.approx(-0.5, rel=1e-9)


@pytest.mark.parametrize("flows", [[], [0.0], [100.0, 50.0], [-100.0, -50.0], [0.0, 0.0], [-1e-300, 1e300]])
def test_no_irr(flows: list[float]) -> None:
    assert irr_per_year(flows) is None


@given(st.floats(1e3, 1e7), st.lists(st.floats(1, 1e6), min_size=12, max_size=60))
def test_irr_equals_pyxirr(capex: float, gains: list[float]) -> None:
    found = irr_per_year([-capex, *gains])
    oracle = pyxirr.irr([-capex, *gains])
    assert oracle is not None
    if -0.3 < oracle < 5:  # a loss of 99 % a year is -32 % a month: below that there is no rate to show
        assert found is not None
        assert (1 + found) ** (1 / 12) - 1 == pytest.approx(oracle, rel=1e-6, abs=1e-8)


@given(st.floats(0.001, 3), st.integers(2, 120))
def test_irr_gives_back_the_rate_that_made_the_flow(rate: float, months: int) -> None:
    k = np.arange(1, months + 1)
    value = np.sum(1000 / (1 + rate) ** (k / 12))
    assert irr_per_year([-value] + [1000] * months) == pytest.approx(rate, rel=1e-6)


# The table ------------------------------------------------------------------------------------------------------------


def test_schedule_ticks_off() -> None:
    table = schedule(
        terms(residual_usd=102_000, price_change_per_year=-0.3, licence_usd_per_request=0.1, principal_usd=500_000)
    )
    result = evaluate_flow(
        terms(residual_usd=102_000, price_change_per_year=-0.3, licence_usd_per_request=0.1, principal_usd=500_000)
    )
    assert table.month.tolist() == list(range(1, 37))
    assert table.api_value_usd == pytest.approx(45_000 * 0.7 ** (np.arange(36) / 12), rel=1e-12)
    assert table.licence_usd == pytest.approx(table.api_value_usd * 0.1)
    assert table.saving_usd == pytest.approx(table.api_value_usd * 0.9 - 10_000 - table.interest_usd)
    assert table.cumulative_usd[-1] == pytest.approx(float(result.final_usd))
    assert np.sum(table.principal_repaid_usd) == pytest.approx(500_000)
    assert table.loan_balance_usd[-1] == pytest.approx(0, abs=1e-3)
    # depreciation: (600,000 - 102,000) / 36 = 13,833.33 a month down to the residual value
    assert table.depreciation_usd == pytest.approx(np.full(36, 498_000 / 36))
    assert table.book_value_usd[-1] == pytest.approx(102_000)
    # the money that moves, discounted, is the NPV: 100,000 of the capex is paid at the start, the rest by the loan
    k = np.arange(1, 37)
    assert np.sum(table.cash_usd / 1.1 ** (k / 12)) - 100_000 == pytest.approx(float(result.npv_usd), rel=1e-9)
    saved = np.cumsum(table.saving_usd / 1.1 ** (k / 12)) - 600_000
    assert table.discounted_cumulative_usd == pytest.approx(saved, rel=1e-9)


# Arrays ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(FlowTerms) if f.name != "weights"])
def test_array_of_any_term_is_the_stack_of_scalars(name: str) -> None:
    steps = {"horizon_months": [6.0, 36.0, 48.0], "loan_months": [6.0, 36.0, 60.0]}
    share = [0.0, 0.3, 1.0]
    values = steps.get(name, share if name.endswith(("_share", "_per_year")) else [0.0, 30_000.0, 900_000.0])
    other = {"principal_usd": 100_000, "price_change_per_year": -0.2, "demand_growth_per_year": 0.1}
    other = {**other, "demand_requests_per_month": 40_000}
    together = flow(**{**other, name: values})
    for i, value in enumerate(values):
        alone = flow(**{**other, name: value})
        for quantity in QUANTITIES:
            stacked = np.broadcast_to(getattr(together, quantity), (3,))[i]
            assert stacked == pytest.approx(float(getattr(alone, quantity)), rel=1e-12), quantity


def test_flows_settled_together_say_what_each_says_alone() -> None:
    """A table of machines: one that pays back, one that never does, one with a loan, one that grows, other horizons."""
    cases: list[dict[str, Any]] = [
        {},
        {"running_usd_per_month": 50_000},
        {"principal_usd": 500_000, "horizon_months": 24},
        {"demand_growth_per_year": 0.5, "demand_requests_per_month": 20_000, "price_change_per_year": -0.3},
        {"capex_usd": 0, "horizon_months": 60},
    ]
    for chosen in (cases, [cases[0], cases[1], cases[4]], cases[:1]):
        together, alone = ([flow(**case) for case in chosen] for _ in range(2))
        settle(together)
        for one, other in zip(together, alone, strict=True):
            for name in QUANTITIES:
                value = float(getattr(one, name))
                assert np.shape(getattr(one, name)) == ()
                assert value == pytest.approx(float(getattr(other, name)), rel=1e-12, abs=1e-6), name
    settle([])


def test_a_tiny_value_against_a_large_running_cost_keeps_its_digits() -> None:
    """A price that grows tenfold a year from almost nothing: v is not lost in (v - O) + O."""
    t = terms(
        api_usd_per_request=1e-9,
        demand_requests_per_month=1.0,
        capacity_requests_per_month=1.0,
        running_usd_per_month=32_000.0,
        price_change_per_year=10.0,
        horizon_months=240.0,
        discount_rate_per_year=0.0,
        residual_usd=0.0,
    )
    months = np.arange(240)
    by_month = math.fsum(1e-9 * 11.0 ** (m / 12) for m in months) - 240 * 32_000.0 - float(t.capex_usd)
    assert float(evaluate_flow(t).npv_usd) == pytest.approx(by_month, rel=1e-9)


def test_the_smallest_number_there_is_divides_nothing() -> None:
    """Hours rented for no time at all: the value of a month is a subnormal number, and it never pays."""
    found = flow(capacity_requests_per_month=5e-310, price_change_per_year=-0.2)
    assert np.isinf(found.payback_months)
