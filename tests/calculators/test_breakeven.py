"""Break-evens: by hand where the case is flat, and put back into the scenario everywhere else."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from calculators.breakeven import BreakEven, break_even
from calculators.catalog import load_catalog
from calculators.evaluate import Inputs, Result, evaluate
from calculators.resolve import resolve
from calculators.scenario import Scenario
from tests.strategies import ORDINARY_SCENARIO

RUNNING = 14.5 * 195.94 + 2500 + 6250
"""Running cost of the default scenario, USD a month (see test_evaluate)."""


def solved(**changes: Any) -> tuple[Inputs, Result, BreakEven]:
    inputs = resolve(Scenario(**changes), load_catalog()).inputs
    result = evaluate(inputs)
    return inputs, result, break_even(inputs, result)


def test_default_by_hand() -> None:
    _, result, even = solved()
    # over 48 months the API bill must pay 630,000 + 48 x running: 13,125 + 11,591.13 = 24,716.13 USD a month
    spend = 630_000 / 48 + RUNNING
    assert even.api_usd_per_month == pytest.approx(spend, rel=1e-9)
    assert even.reachable
    # at 0.039936 USD a request of 9,216 tokens
    assert even.tokens_per_month == pytest.approx(spend / 0.039936 * 9216, rel=1e-9)
    assert even.utilization == pytest.approx(spend / 0.039936 / float(result.capacity_requests_per_month), rel=1e-9)
    # the price at which today's served tokens cost as much: 4.3333 x 24,716 / 94,364
    bill = float(result.baseline_usd_per_month)
    assert even.api_usd_per_mtok == pytest.approx(0.039936 / 9216 * 1e6 * spend / bill, rel=1e-9)
    # hardware h: 1.05 h + 48 (0.05 h / 12 + 9,091.13) = 48 x bill, so h = 48 (bill - 9,091.13) / 1.25
    assert even.hardware_usd == pytest.approx(48 * (bill - (RUNNING - 2500)) / 1.25, rel=1e-9)
    assert even.rent_usd_per_accelerator_hour is None


def test_rent_by_hand() -> None:
    _, result, even = solved(acquisition="rent", rent_usd_per_accelerator_hour=4.25)
    # nothing is paid at the start, so the rent that eats the whole bill: (bill - 6,250) / (8 x 730)
    bill = float(result.baseline_usd_per_month)
    assert even.rent_usd_per_accelerator_hour == pytest.approx((bill - 6250) / 5840, rel=1e-9)
    assert even.hardware_usd is None
    # 24,820 rent + 6,250 staff
    assert even.api_usd_per_month == pytest.approx(24_820 + 6250, rel=1e-9)


def test_volume_above_the_machines_is_told_as_not_reachable() -> None:
    # a tenth of the speed serves 9,436 USD a month at most, and 24,716 are needed
    _, result, even = solved(measured_output_tokens_per_s=124)
    assert not even.reachable
    assert even.utilization is None
    assert even.api_usd_per_month == pytest.approx(630_000 / 48 + RUNNING, rel=1e-9)
    assert even.tokens_per_month is not None
    assert even.tokens_per_month > float(result.capacity_tokens_per_month)


def test_no_break_even_where_there_is_no_price_or_no_machine() -> None:
    for changes in ({"system_count": 0}, {"availability": 0}, {"system": "hgx-h200-8"}):
        _, _, even = solved(**changes)
        assert even == BreakEven(None, None, None, None, None, None, False)
    inputs, _, _ = solved()
    unpriced = dataclasses.replace(inputs, baseline=None)
    assert break_even(unpriced, evaluate(unpriced)) == BreakEven(None, None, None, None, None, None, False)


def test_a_plan_that_is_too_low_does_not_hide_the_load_that_would_do() -> None:
    # 24,716.13 of 125,819 USD that full machines would serve: 19.6 %, whatever the plan is
    for planned in (0.0, 0.15, 0.75):
        _, result, even = solved(utilization=planned)
        assert even.reachable
        assert even.utilization == pytest.approx(0.1964416725)
        assert even.planned_utilization == pytest.approx(0.1964416725)
        assert even.above_plan == (planned < 0.19)
        assert even.api_usd_per_month == pytest.approx(630_000 / 48 + RUNNING, rel=1e-9)
    # rented for 45,844 a month and 6,250 of staff: 52,094 of 125,819 USD
    _, result, even = solved(acquisition="rent", utilization=0.3)
    full = float(result.capacity_requests_per_month) * 0.039936
    assert even.utilization == pytest.approx(52_094 / full, rel=1e-9)
    assert even.utilization == pytest.approx(0.414, abs=5e-4)
    assert even.above_plan
    # a demand of 100,000 USD would do as well, as soon as more of the capacity is planned
    _, _, even = solved(utilization=0.15, demand="spend", demand_usd_per_month=100_000)
    assert even.planned_utilization == pytest.approx(0.1964416725)
    # 20,000 USD do not, at any plan
    _, _, even = solved(utilization=0.15, demand="spend", demand_usd_per_month=20_000)
    assert even.planned_utilization is None
    assert even.above_plan
    assert even.api_usd_per_month == pytest.approx(630_000 / 48 + RUNNING, rel=1e-9)


def test_machines_rented_for_a_part_of_the_hours_break_even_on_the_demand_of_those_hours() -> None:
    # 264 of 730 hours: 8 x 7.85 x 264 of rent and 6,250 of staff
    rented: dict[str, Any] = {
        "acquisition": "rent", "rent_usd_per_accelerator_hour": 7.85, "rented_hours_per_month": 264,
    }  # fmt: skip
    cost = 8 * 7.85 * 264 + 6250
    _, result, even = solved(**rented)
    # 'fill' serves all of its demand, which is there in the rented hours only
    assert even.api_usd_per_month == pytest.approx(cost, rel=1e-9)
    assert even.utilization == pytest.approx(cost / 0.039936 / float(result.capacity_requests_per_month), rel=1e-9)
    # a spend spread over the week meets machines in 264 of 730 hours: 730 / 264 times as much is needed
    _, _, spread = solved(**rented, demand="spend", demand_usd_per_month=34_126.3)
    assert spread.api_usd_per_month == pytest.approx(cost * 730 / 264, rel=1e-9)
    assert spread.utilization == pytest.approx(even.utilization, rel=1e-9)


def test_free_api_has_no_volume() -> None:
    _, _, even = solved(input_usd_per_mtok=0, output_usd_per_mtok=0)
    assert even.tokens_per_month is None
    assert even.api_usd_per_month is None
    assert even.hardware_usd is None
    assert not even.reachable


def test_hardware_that_does_not_pay_even_as_a_gift() -> None:
    _, _, even = solved(demand="spend", demand_usd_per_month=1000)
    assert even.hardware_usd is None
    assert even.api_usd_per_month == pytest.approx(630_000 / 48 + RUNNING, rel=1e-9)


def test_nothing_may_move_and_the_volume_is_still_known() -> None:
    _, _, even = solved(demand="tokens", demand_tokens_per_month=1e9, migratable_share=0)
    assert even.reachable
    assert even.api_usd_per_month == pytest.approx(630_000 / 48 + RUNNING, rel=1e-9)


def assert_zero(inputs: Inputs, result: Result) -> None:
    """The cumulative cash flow is zero at the horizon, and the payback equals the horizon where money only comes in."""
    scale = float(result.terms.capex_usd) + float(result.terms.running_usd_per_month) * float(inputs.horizon_months)
    assert float(result.flow.final_usd) == pytest.approx(0, abs=1e-6 * scale)
    steady = float(np.asarray(inputs.api_price_change_per_year)) >= 0
    steady &= float(np.asarray(inputs.demand_growth_per_year)) >= 0
    if steady and float(result.terms.capex_usd) > 1e-3 * scale:
        assert float(result.flow.payback_months) == pytest.approx(float(inputs.horizon_months), rel=1e-3)


@settings(deadline=None, max_examples=60)
@given(ORDINARY_SCENARIO)
def test_each_break_even_put_back_gives_a_payback_at_the_horizon(scenario: Scenario) -> None:
    inputs, result, even = solved(**scenario.model_dump())
    tokens = (inputs.input_tokens + inputs.output_tokens) * inputs.token_ratio

    def put_back(**changes: Any) -> None:
        moved = dataclasses.replace(inputs, **changes)
        assert_zero(moved, evaluate(moved))

    if even.hardware_usd is not None:
        put_back(hardware_usd=even.hardware_usd)
    if even.rent_usd_per_accelerator_hour is not None:
        put_back(rent_usd_per_accelerator_hour=even.rent_usd_per_accelerator_hour)
    if even.api_usd_per_mtok is not None:
        paid = float(result.baseline_usd_per_request) / (inputs.input_tokens + inputs.output_tokens) * 1e6
        put_back(api_price_factor=even.api_usd_per_mtok / paid)
    if even.reachable and even.tokens_per_month is not None:
        if scenario.demand == "fill":  # filled machines serve what they are filled with
            volume: dict[str, Any] = {"utilization": even.utilization}
        else:
            volume = {"demand": "requests", "demand_amount": even.tokens_per_month / tokens, "migratable_share": 1.0}
            volume |= {"utilization": 1.0} if even.above_plan else {}
        put_back(**volume)
        again = evaluate(dataclasses.replace(inputs, **volume))
        assert even.utilization == pytest.approx(float(again.used_share_of_capacity))
        # above the plan: the demand's peak hours take more than it, even where the mean does not
        assert even.above_plan or even.utilization <= scenario.utilization * (1 + 1e-9)
    if even.planned_utilization is not None:
        put_back(utilization=even.planned_utilization)


@settings(deadline=None, max_examples=40)
@given(ORDINARY_SCENARIO)
def test_no_break_even_means_that_none_exists(scenario: Scenario) -> None:
    inputs, result, even = solved(**scenario.model_dump())

    def final(**changes: Any) -> float:
        return float(evaluate(dataclasses.replace(inputs, **changes)).flow.final_usd)

    if inputs.acquisition == "rent":
        if even.rent_usd_per_accelerator_hour is None:
            assert final(rent_usd_per_accelerator_hour=0.0) < 0
    elif even.hardware_usd is None:
        assert final(hardware_usd=0.0) < 0
    if not even.reachable:
        lots = final(demand="requests", demand_amount=1e12, migratable_share=1.0, utilization=1.0)
        assert lots < 1e-6 * abs(float(result.terms.capex_usd)) + 1e-3


def test_break_even_prices_do_not_depend_on_the_price_that_is_moved() -> None:
    """Of a machine that is a gift too: see the default and the rent by hand above."""
    for hardware in (0, 1, 600_000, 5e6):
        _, result, even = solved(hardware_usd=hardware)
        bill = float(result.baseline_usd_per_month)
        # from a step of 1 USD on millions the last digits are rounding
        assert even.hardware_usd == pytest.approx(48 * (bill - (RUNNING - 2500)) / 1.25, rel=1e-7)
    for rent in (0, 4.25, 50):
        _, result, even = solved(acquisition="rent", rent_usd_per_accelerator_hour=rent)
        bill = float(result.baseline_usd_per_month)
        assert even.rent_usd_per_accelerator_hour == pytest.approx((bill - 6250) / 5840, rel=1e-9)


def test_a_machine_that_costs_nothing_breaks_even_at_a_price_of_nothing() -> None:
    gift: dict[str, Any] = {"hardware_usd": 0, "power_kw": 0, "staff_fte": 0}
    for more in ({}, {"demand": "spend", "demand_usd_per_month": 1000}):
        _, _, even = solved(**gift, **more)
        assert even.api_usd_per_mtok == 0
        assert even.tokens_per_month == 0
        assert even.api_usd_per_month == 0
        assert even.reachable
        assert not even.above_plan


def test_a_plan_of_nothing_leaves_the_volume_to_a_full_machine() -> None:
    # 24,716 of 125,819 USD, above a plan of 0
    _, _, even = solved(utilization=0, demand="spend", demand_usd_per_month=100_000)
    assert even.utilization == pytest.approx(0.1964416725)
    assert (even.reachable, even.above_plan) == (True, True)
    assert even.planned_utilization == pytest.approx(0.1964416725)


SLOW: dict[str, Any] = {"measured_output_tokens_per_s": 124, "demand": "spend", "demand_usd_per_month": 1000}
"""A tenth of the speed: full machines serve 12,582 USD a month, so no volume they can take pays 24,716 a month."""


def test_a_volume_beyond_the_machines_by_hand() -> None:
    costs = 630_000 + 48 * RUNNING
    _, _, even = solved(**SLOW)
    assert (even.reachable, even.utilization, even.above_plan) == (False, None, False)
    assert even.api_usd_per_month == pytest.approx(costs / 48, rel=1e-9)
    assert even.tokens_per_month == pytest.approx(costs / 48 / 0.039936 * 9216, rel=1e-9)
    # a demand that grows by half a year: of month 0, with the sum of 1.5^(m/12) over 48 months
    _, _, even = solved(**SLOW, demand_growth_per_year=0.5)
    months = (1.5**4 - 1) / (1.5 ** (1 / 12) - 1)
    assert even.api_usd_per_month == pytest.approx(costs / months, rel=1e-9)
    # a price that halves every year pays 0.5^(m/12) of it
    _, _, even = solved(**SLOW, api_price_change_per_year=-0.5)
    months = (1 - 0.5**4) / (1 - 0.5 ** (1 / 12))
    assert even.api_usd_per_month == pytest.approx(costs / months, rel=1e-9)
    # the API's own count of tokens is paid, the open model's is served: 1.5 times as many tokens, at the same spend
    _, _, even = solved(**SLOW, token_ratio=1.5)
    assert even.api_usd_per_month == pytest.approx(costs / 48, rel=1e-9)
    assert even.tokens_per_month == pytest.approx(costs / 48 / 0.039936 * 9216 * 1.5, rel=1e-9)


def test_interest_is_part_of_a_volume_beyond_the_machines() -> None:
    # 630,000 USD over 36 months at 12 %: 1 % a month, so 20,925.02 a month and 123,300 of interest in all
    payment = 630_000 * 0.01 / (1 - 1.01**-36)
    interest = 36 * payment - 630_000
    assert interest == pytest.approx(123_301, abs=1)
    _, _, even = solved(**SLOW, acquisition="loan", loan_rate=0.12, loan_months=36)
    assert even.api_usd_per_month == pytest.approx((630_000 + interest) / 48 + RUNNING, rel=1e-9)


def test_the_break_even_price_is_per_token_as_the_provider_counts_it() -> None:
    # 4.3333 USD per million today; own machines see 1.5 times the tokens, the price is still for the provider's
    _, result, even = solved(token_ratio=1.5)
    spend = 630_000 / 48 + RUNNING
    share = spend / float(result.baseline_usd_per_month)
    assert even.api_usd_per_mtok == pytest.approx(0.039936 / 9216 * 1e6 * share, rel=1e-9)
