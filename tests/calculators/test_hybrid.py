"""How many machines: least cost of own machines plus what is left to the API."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.catalog import load_catalog
from calculators.evaluate import Inputs, evaluate
from calculators.hybrid import HybridCurve, hybrid_curve
from calculators.resolve import resolve
from calculators.scenario import Scenario
from tests.strategies import ORDINARY_SCENARIO


def curve_of(**changes: Any) -> tuple[Inputs, HybridCurve | None]:
    inputs = resolve(Scenario(**changes), load_catalog()).inputs
    return inputs, hybrid_curve(inputs, evaluate(inputs))


def test_demand_of_three_and_a_half_machines_by_hand() -> None:
    one = float(evaluate(resolve(Scenario(), load_catalog()).inputs).served_tokens_per_month)
    _, curve = curve_of(demand="tokens", demand_tokens_per_month=3.5 * one)
    assert curve is not None
    assert curve.system_counts.tolist() == [0, 1, 2, 3, 4, 5]
    # a machine costs 2,841.13 + 2,500 a month and 11,000 of depreciation, the team 6,250 as soon as there is one
    own = [0.0] + [6250 + n * (14.5 * 195.94 + 2500 + 11_000) for n in range(1, 6)]
    assert curve.own_usd_per_month == pytest.approx(own)
    bill = 3.5 * one / 9216 * 0.039936
    left = [bill * max(3.5 - n, 0) / 3.5 for n in range(6)]
    assert curve.overflow_usd_per_month == pytest.approx(left, abs=1e-6)
    assert curve.total_usd_per_month == pytest.approx(np.add(own, left))
    # the fourth machine takes half a machine's tokens, worth 47,182 USD, for 16,341: it pays
    assert curve.best_count == 4
    assert curve.all_own == 4
    assert curve.saved_against_api_usd_per_month == pytest.approx(bill - own[4])
    assert curve.saved_against_own_usd_per_month == pytest.approx(0)


def test_last_machine_that_does_not_pay_is_left_to_the_api() -> None:
    one = float(evaluate(resolve(Scenario(), load_catalog()).inputs).served_tokens_per_month)
    # the second machine would take 5 % of a machine's tokens, worth 4,718 USD, for 16,341
    _, curve = curve_of(demand="tokens", demand_tokens_per_month=1.05 * one)
    assert curve is not None
    assert curve.best_count == 1
    assert curve.all_own == 2
    saved = 14.5 * 195.94 + 2500 + 11_000 - 0.05 * one / 9216 * 0.039936
    assert curve.saved_against_own_usd_per_month == pytest.approx(saved, rel=1e-9)


def test_small_demand_buys_nothing() -> None:
    _, curve = curve_of(demand="tokens", demand_tokens_per_month=1e8)
    assert curve is not None
    assert curve.best_count == 0
    assert curve.saved_against_api_usd_per_month == 0


def test_counts_come_in_whole_replicas() -> None:
    # two 8xH200 hold Kimi K3, one does not
    _, curve = curve_of(system="hgx-h200-8", demand="tokens", demand_tokens_per_month=60e9)
    assert curve is not None
    assert set(np.diff(curve.system_counts)) == {2.0}


def test_part_that_may_not_move_leaves_no_fleet_that_serves_all() -> None:
    _, curve = curve_of(demand="tokens", demand_tokens_per_month=30e9, migratable_share=0.5)
    assert curve is not None
    assert curve.all_own is None
    assert curve.saved_against_own_usd_per_month is None


def test_no_curve_without_a_demand_a_price_or_a_machine_that_fits() -> None:
    assert curve_of()[1] is None
    inputs, _ = curve_of(demand="tokens", demand_tokens_per_month=30e9)
    unpriced = dataclasses.replace(inputs, baseline=None)
    assert hybrid_curve(unpriced, evaluate(unpriced)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"demand_tokens_per_month": 0},
        {"demand_tokens_per_month": 1e18},
        {"demand_tokens_per_month": 1e18, "system": "hgx-h200-8"},
        {"demand_tokens_per_month": 1e18, "utilization": 5e-324},
        {"demand_tokens_per_month": 1e9, "utilization": 0},
        {"demand_tokens_per_month": 1e9, "availability": 0},
        {"demand_tokens_per_month": 1e12, "migratable_share": 5e-324},
        {"demand_tokens_per_month": 1e12, "profile": "office-hours", "reserve_systems": 3},
    ],
)
def test_extremes_stay_within_the_largest_fleet(changes: dict[str, Any]) -> None:
    _, curve = curve_of(demand="tokens", **changes)
    assert curve is not None
    assert curve.system_counts[0] == 0
    assert curve.system_counts[-1] <= 10_000
    assert curve.system_counts.size <= 520
    assert np.all(np.isfinite(curve.total_usd_per_month))


@pytest.mark.parametrize("profile", ["flat", "office-hours"])
def test_best_of_a_large_fleet_is_exact(profile: str) -> None:
    # some 1,400 machines: the curve is sampled, the two counts that matter are not
    inputs, curve = curve_of(demand="tokens", demand_tokens_per_month=30e12, profile=profile)
    assert curve is not None
    every = np.arange(0, float(curve.system_counts[-1]) + 1)
    assert every.size > 1000
    many = evaluate(dataclasses.replace(inputs, system_count=every))
    total = many.usd_per_month + many.overflow_requests_per_month * many.baseline_usd_per_request
    assert curve.best_count == int(np.argmin(total))
    assert curve.all_own is not None
    complete = np.flatnonzero(many.served_requests_per_month >= many.demand_requests_per_month * (1 - 1e-12))
    assert curve.system_counts[curve.all_own] == complete[0]


@settings(deadline=None, max_examples=60)
@given(ORDINARY_SCENARIO.filter(lambda s: s.demand != "fill"))
def test_no_fleet_of_the_curve_costs_less_than_the_best(scenario: Scenario) -> None:
    inputs, curve = curve_of(**scenario.model_dump())
    assert curve is not None
    best = evaluate(dataclasses.replace(inputs, system_count=float(curve.best_count)))
    own = float(best.usd_per_month) + float(best.overflow_requests_per_month * best.baseline_usd_per_request)
    assert own == pytest.approx(float(np.min(curve.total_usd_per_month)), rel=1e-9)
    assert np.all(np.diff(curve.served_share) >= -1e-12), "more machines never serve less"
    assert curve.saved_against_api_usd_per_month >= 0
    # all stays at the API with no machine
    assert curve.total_usd_per_month[0] == pytest.approx(float(best.baseline_usd_per_month), rel=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.floats(1e8, 1e12), st.sampled_from(["flat", "office-hours", "global"]))
def test_range_of_the_curve_holds_the_optimum(tokens: float, profile: str) -> None:
    inputs, curve = curve_of(demand="tokens", demand_tokens_per_month=tokens, profile=profile)
    assert curve is not None
    beyond = evaluate(dataclasses.replace(inputs, system_count=curve.system_counts[-1] + np.array([1.0, 5.0, 50.0])))
    total = beyond.usd_per_month + beyond.overflow_requests_per_month * beyond.baseline_usd_per_request
    assert np.all(total >= curve.total_usd_per_month.min() - 1e-6)


def counts_of(**changes: Any) -> list[float]:
    _, curve = curve_of(**changes)
    assert curve is not None
    return [float(n) for n in curve.system_counts]


def test_the_curve_ends_one_replica_after_the_fleet_that_takes_all() -> None:
    one = float(evaluate(resolve(Scenario(), load_catalog()).inputs).served_tokens_per_month)
    demand: dict[str, Any] = {"demand": "tokens", "demand_tokens_per_month": 3.5 * one}
    assert counts_of(**demand) == [0, 1, 2, 3, 4, 5]
    # half of it may move: 1.75 machines are two, and one more
    assert counts_of(**demand, migratable_share=0.5) == [0, 1, 2, 3]
    # rented for half of the hours, each takes half as much a month: seven, and one more
    assert counts_of(**demand, acquisition="rent", rented_hours_per_month=365)[-1] == 8
    # an uneven week needs machines for its peak hour
    inputs, curve = curve_of(**demand, profile="office-hours")
    assert curve is not None
    assert max(inputs.weights) > 1.2
    assert curve.system_counts[-1] == np.ceil(3.5 * max(inputs.weights)) + 1
    # two 8xH200 hold the model: machines that serve nothing are shown as one replica beside none
    assert counts_of(demand="tokens", demand_tokens_per_month=1e9, utilization=0) == [0, 1]
    assert counts_of(demand="tokens", demand_tokens_per_month=1e9, utilization=0, system="hgx-h200-8") == [0, 2]
    # a demand beyond any fleet is shown up to ten thousand systems
    assert counts_of(demand="tokens", demand_tokens_per_month=1e18)[-1] == 10_000
    assert counts_of(demand="tokens", demand_tokens_per_month=1e18, system="hgx-h100-8")[-1] == 10_000


def test_no_demand_is_served_by_no_fleet() -> None:
    _, curve = curve_of(demand="tokens", demand_tokens_per_month=0)
    assert curve is not None
    assert curve.system_counts.tolist() == [0, 1]
    assert curve.served_share.tolist() == [0, 0]
    assert curve.overflow_usd_per_month.tolist() == [0, 0]
    assert (curve.best, curve.all_own) == (0, None)


def test_no_curve_for_a_request_that_no_machine_holds() -> None:
    # 1,048,576 + 1,024 tokens are more than the model's context
    assert curve_of(demand="tokens", demand_tokens_per_month=30e9, input_tokens=1_048_576)[1] is None


def test_best_of_a_large_fleet_is_exact_where_part_must_stay() -> None:
    inputs, curve = curve_of(demand="tokens", demand_tokens_per_month=30e12, migratable_share=0.9)
    assert curve is not None
    assert curve.all_own is None
    every = np.arange(0, float(curve.system_counts[-1]) + 1)
    assert every.size > 1000
    many = evaluate(dataclasses.replace(inputs, system_count=every))
    total = many.usd_per_month + many.overflow_requests_per_month * many.baseline_usd_per_request
    assert curve.best_count == int(np.argmin(total))
