"""The default by hand, the published examples, and: an array of any input is the stack of the scalar results."""

import dataclasses
import datetime as dt
import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from calculators.catalog import load_catalog
from calculators.evaluate import NUMERIC_FIELDS, Inputs, Result, evaluate, evaluate_each, moved
from calculators.hybrid import hybrid_curve
from calculators.resolve import resolve
from calculators.scenario import Scenario
from calculators.serverless import PriceNow
from calculators.sizing import Sizing
from tests.calculators.test_cashflow import QUANTITIES


def inputs_of(**changes: Any) -> Inputs:
    return resolve(Scenario(**changes), load_catalog()).inputs


def price(new: float, output: float, cached: float | None = None) -> PriceNow:
    return PriceNow(
        offer_id="a/b",
        on=dt.date(2026, 11, 29),
        input_usd_per_mtok=new,
        cached_input_usd_per_mtok=new if cached is None else cached,
        cache_write_usd_per_mtok=new,
        cache_write_1h_usd_per_mtok=new,
        output_usd_per_mtok=output,
    )


# The default scenario by hand -----------------------------------------------------------------------------------------


def test_default_scenario_by_hand() -> None:
    found = evaluate(inputs_of())
    # measured: 1,240 output tokens/s at 8192 in, 1024 out (k3-009) = 1.2109375 requests/s
    requests_per_s = 1240 / 1024
    assert found.sizing.evidence == "measured"
    assert found.sizing.requests_per_s == pytest.approx(requests_per_s, rel=1e-9)
    # capacity: x 9,216 tokens x 3600 s x 730 h x 0.99 = 29.035e9 tokens a month
    capacity = requests_per_s * 9216 * 3600 * 730 * 0.99
    assert capacity == pytest.approx(29.035e9, rel=1e-4)
    assert found.capacity_tokens_per_month == pytest.approx(capacity, rel=1e-9)
    # served at 75 %: 21.776e9
    assert found.served_tokens_per_month == pytest.approx(0.75 * capacity, rel=1e-9)
    # API: (8192 x 3 + 1024 x 15) / 1e6 = 0.039936 USD a request
    assert found.baseline_usd_per_request == pytest.approx(0.039936, rel=1e-12)
    bill = 0.75 * capacity / 9216 * 0.039936
    assert found.baseline_usd_per_month == pytest.approx(bill, rel=1e-9)
    # running: 14.5 kW x 195.94 = 2,841.13; support 600,000 x 5 % / 12 = 2,500; staff 0.25 x 300,000 / 12 = 6,250
    running = 14.5 * 195.94 + 2500 + 6250
    assert found.opex_usd_per_month == pytest.approx(running, rel=1e-12)
    assert found.saving_usd_per_month == pytest.approx(bill - running, rel=1e-9)
    # capex 600,000 x 1.05 = 630,000; payback = 630,000 / saving x 365 / 12 = 231.5 days
    days = 630_000 / (bill - running) * 365 / 12
    assert found.flow.payback_days == pytest.approx(days, rel=1e-9)
    assert days == pytest.approx(231.5, abs=0.05)
    # own cost: (11,591.13 + (630,000 - 102,000) / 48) / 21,776.4 M = 1.037 USD per million
    assert found.usd_per_mtok == pytest.approx((running + 11_000) / (0.75 * capacity / 1e6), rel=1e-9)


def test_utilization_acts_once() -> None:
    one, half = evaluate(inputs_of(utilization=1)), evaluate(inputs_of(utilization=0.5))
    assert half.served_requests_per_month == pytest.approx(float(one.served_requests_per_month) / 2, rel=1e-12)
    assert half.capacity_requests_per_month == one.capacity_requests_per_month
    assert half.used_share_of_capacity == pytest.approx(0.5)
    assert half.baseline_usd_per_request == one.baseline_usd_per_request


# Published examples ---------------------------------------------------------------------------------------------------


def test_w7_through_the_whole_chain() -> None:
    # capex 600,000, API 8,000 a month, running 10,000: never, losing 2,000 a month
    found = evaluate(
        inputs_of(
            hardware_usd=600_000,
            spares_share=0,
            power_kw=0,
            support_share_per_year=0,
            staff_fte=0,
            other_opex_usd_per_month=10_000,
            demand="spend",
            demand_usd_per_month=8000,
        )
    )
    assert found.ownership.capex_usd == 600_000
    assert found.saving_usd_per_month == pytest.approx(-2000)
    assert found.flow.payback_months == np.inf


def test_rent_of_8_gpus_at_any_utilization() -> None:
    rented = inputs_of(acquisition="rent", rent_usd_per_accelerator_hour=4.25, staff_fte=0, system="hgx-b300-8")
    load = np.array([0.0, 0.25, 0.5, 1.0])
    found = evaluate(dataclasses.replace(rented, utilization=load))
    # 8 x 4.25 x 730 = 24,820
    assert np.broadcast_to(found.usd_per_month, 4).tolist() == [24_820] * 4
    # a quarter of the load: four times the price of a token; no load: no price
    assert found.usd_per_mtok[1] == pytest.approx(4 * found.usd_per_mtok[3], rel=1e-12)
    assert math.isnan(found.usd_per_mtok[0])


def w4(**changes: Any) -> Inputs:
    """ConfigIQ: 100 out tok/s at 4000/1000, 0.9 available, half of it planned (peak 2), 100 h a month."""
    base = inputs_of(
        input_tokens=4000,
        output_tokens=1000,
        measured_output_tokens_per_s=100,
        availability=0.9,
        utilization=0.5,
        acquisition="rent",
        rent_usd_per_accelerator_hour=2,
        rented_hours_per_month=100,
        staff_fte=0,
        spares_share=0,
        residual_share=0,
        horizon_months=60,
        support_share_per_year=0,
        power_kw=0,
        hardware_usd=24_000,
        demand="tokens",
        demand_tokens_per_month=81_000_000,
    )
    # API 1 / 3 USD at 80 / 20 = 1.40 USD per million
    return dataclasses.replace(base, accelerators_per_system=1.0, baseline=price(1, 3), **changes)


def test_w4_capacity_and_costs_at_one_million() -> None:
    rented = evaluate(w4(demand_amount=1e6))
    # 100 x 5 x 0.9 x 100 h x 3600 / 2 = 81,000,000 tokens
    usable = rented.capacity_tokens_per_month * 0.5
    assert usable == pytest.approx(81_000_000, rel=1e-12)
    assert rented.baseline_usd_per_month == pytest.approx(1.40)
    assert rented.usd_per_month == pytest.approx(200)
    # bought: 24,000 / 60 = 400
    assert evaluate(w4(demand_amount=1e6, acquisition="buy")).usd_per_month == pytest.approx(400)


@pytest.mark.parametrize(("acquisition", "one"), [("rent", 200.0), ("buy", 400.0)])
def test_w4_second_server_starts_one_token_later(acquisition: Any, one: float) -> None:
    # a demand in all hours needs the machines in all hours: 50 % x 100 / 730 planned, for the same 81 M tokens, and the
    # 200 USD of rent spread over 730 h
    plan = {
        "utilization": 0.5 * 100 / 730,
        "rented_hours_per_month": 730.0,
        "rent_usd_per_accelerator_hour": 200 / 730,
    }
    for amount, count in ((81_000_000, 1), (81_000_001, 2)):
        inputs = w4(acquisition=acquisition, demand_amount=float(amount), **plan)
        curve = hybrid_curve(inputs, evaluate(inputs))
        assert curve is not None
        assert curve.all_own is not None
        assert curve.system_counts[curve.all_own] == count
        assert curve.own_usd_per_month[curve.all_own] == pytest.approx(one * count)
    left = evaluate(w4(acquisition=acquisition, demand_amount=81_000_001.0, **plan))
    assert left.overflow_requests_per_month * 5000 == pytest.approx(1, rel=1e-6)


# Demand ---------------------------------------------------------------------------------------------------------------


def test_demand_in_each_unit_is_the_same_demand() -> None:
    # 1e6 requests of 9,216 tokens at 0.039936 USD: 9.216e9 tokens, 39,936 USD; 1e6 / (100 x 20) = 500 seats
    common: dict[str, Any] = {"workdays_per_month": 20, "requests_per_seat_workday": 100}
    ways = [
        inputs_of(demand="requests", demand_requests_per_month=1e6, **common),
        inputs_of(demand="tokens", demand_tokens_per_month=9.216e9, **common),
        inputs_of(demand="spend", demand_usd_per_month=39_936, **common),
        inputs_of(demand="seats", demand_seats=500, **common),
    ]
    for inputs in ways:
        found = evaluate(inputs)
        assert found.demand_requests_per_month == pytest.approx(1e6, rel=1e-12)
        assert found.baseline_usd_per_month == pytest.approx(39_936, rel=1e-12)


def test_demand_of_nothing_and_above_all_machines() -> None:
    nothing = evaluate(inputs_of(demand="tokens", demand_tokens_per_month=0))
    assert nothing.served_requests_per_month == 0
    assert nothing.flow.payback_months == np.inf
    assert nothing.baseline_usd_per_month == 0
    above = evaluate(inputs_of(demand="tokens", demand_tokens_per_month=1e18))
    fill = evaluate(inputs_of())
    assert above.served_requests_per_month == pytest.approx(float(fill.served_requests_per_month), rel=1e-12)
    assert above.overflow_requests_per_month == pytest.approx(1e18 / 9216, rel=1e-6)
    assert above.flow.payback_months == pytest.approx(float(fill.flow.payback_months), rel=1e-9)


@pytest.mark.parametrize("count", [0, 1, 3, 10_000])
def test_no_one_and_many_systems(count: int) -> None:
    found = evaluate(inputs_of(system_count=count))
    one = evaluate(inputs_of())
    assert found.capacity_requests_per_month == pytest.approx(count * float(one.capacity_requests_per_month), rel=1e-12)
    assert found.ownership.capex_usd == pytest.approx(630_000 * count)
    if count == 0:
        assert found.usd_per_month == 0
        assert found.flow.payback_months == np.inf


def test_reserve_machines_are_paid_and_do_not_serve() -> None:
    found, one = evaluate(inputs_of(reserve_systems=1)), evaluate(inputs_of())
    assert found.ownership.capex_usd == 2 * one.ownership.capex_usd
    assert found.served_requests_per_month == one.served_requests_per_month


def test_migratable_share_caps_what_moves() -> None:
    found = evaluate(inputs_of(demand="tokens", demand_tokens_per_month=9.216e9, migratable_share=0.4))
    assert found.served_requests_per_month == pytest.approx(400_000)
    assert found.overflow_requests_per_month == pytest.approx(600_000)


def test_token_ratio_counts_own_tokens() -> None:
    found = evaluate(inputs_of(token_ratio=1.5, demand="requests", demand_requests_per_month=1e5))
    assert found.tokens_per_request == 9216 * 1.5
    # the bill of today counts today's tokens, the alternative's the open model's
    assert found.baseline_usd_per_request == pytest.approx(0.039936)
    alone = evaluate(inputs_of(demand="requests", demand_requests_per_month=1e5))
    assert found.alternative_usd_per_request == pytest.approx(1.5 * float(alone.alternative_usd_per_request))


def test_the_licence_is_owed_against_a_free_offer_too() -> None:
    # 10 % of today's 94,364 USD, beside 11,591 USD of running cost, whatever the other offer costs
    free = dataclasses.replace(inputs_of(licence_share=0.1), alternative_price_factor=0.0)
    found = evaluate(free)
    owed = 0.1 * float(found.served_requests_per_month) * 0.039936
    assert owed == pytest.approx(9_436.44, abs=0.01)
    assert found.alternative_saving_usd_per_month == pytest.approx(-(14.5 * 195.94 + 8750 + owed), rel=1e-12)
    assert found.alternative_flow.first_saving_usd == pytest.approx(
        float(found.alternative_saving_usd_per_month), rel=1e-12
    )
    # an unpriced API of today leaves the other comparison known where no licence is a share of it
    none = evaluate(dataclasses.replace(inputs_of(), baseline=None))
    assert none.alternative_flow.payback_months == pytest.approx(
        float(evaluate(inputs_of()).alternative_flow.payback_months)
    )


def test_licence_is_a_share_of_todays_value_against_both_offers() -> None:
    found = evaluate(inputs_of(licence_share=0.1))
    bill = float(found.served_requests_per_month) * 0.039936
    assert found.licence_usd_per_month == pytest.approx(0.1 * bill)
    assert found.flow.first_saving_usd == pytest.approx(float(found.saving_usd_per_month), rel=1e-12)
    assert found.alternative_flow.first_saving_usd == pytest.approx(
        float(found.alternative_saving_usd_per_month), rel=1e-12
    )


def test_unpriced_offers_have_no_bill_and_no_saving() -> None:
    found = evaluate(dataclasses.replace(inputs_of(), baseline=None, alternative=None))
    assert math.isnan(float(found.baseline_usd_per_month))
    assert math.isnan(float(found.saving_usd_per_month))
    assert math.isnan(float(found.alternative_usd_per_month))
    assert float(found.usd_per_month) > 0


# An array is the stack of its scalars ---------------------------------------------------------------------------------

VALUES: Mapping[str, tuple[float, ...]] = {
    "input_tokens": (1.0, 8192.0, 200_000.0),
    "output_tokens": (1.0, 1024.0, 4096.0),
    "cached_share": (0.0, 0.5, 1.0),
    "cache_write_share": (math.nan, 0.0, 0.5),
    "serving_cached_share": (0.0, 0.5, 1.0),
    "batch_share": (0.0, 0.5, 1.0),
    "token_ratio": (0.05, 1.0, 20.0),
    "demand_amount": (0.0, 1e6, 1e12),
    "requests_per_seat_workday": (0.0, 100.0, 1e6),
    "workdays_per_month": (0.0, 21.0, 31.0),
    "migratable_share": (0.0, 0.5, 1.0),
    "demand_growth_per_year": (-0.99, 0.0, 10.0),
    "api_discount": (0.0, 0.5, 1.0),
    "api_price_change_per_year": (-0.8, 0.0, 0.5),
    "utilization": (0.0, 0.5, 1.0),
    "availability": (0.0, 0.5, 1.0),
    "gpu_memory_utilization": (0.1, 0.9, 1.0),
    "accepted_tokens_per_step": (1.0, 2.0, 4.0),
    "max_tpot_ms": (0.001, 30.0, math.inf),
    "max_ttft_s": (0.001, 10.0, math.inf),
    "measured_output_tokens_per_s": (math.nan, 500.0, 2000.0),
    "system_count": (0.0, 1.0, 16.0),
    "reserve_systems": (0.0, 1.0, 3.0),
    "accelerators_per_system": (1.0, 8.0, 72.0),
    "hardware_usd": (0.0, 6e5, 3e6),
    "other_capex_usd": (0.0, 1e5, 1e6),
    "spares_share": (0.0, 0.05, 1.0),
    "rent_usd_per_accelerator_hour": (0.0, 4.25, 20.0),
    "rented_hours_per_month": (0.0, 264.0, 730.0),
    "loan_rate": (0.0, 0.13, 1.0),
    "loan_months": (1.0, 36.0, 240.0),
    "colocation_usd_per_kw_month": (0.0, 200.0, 1000.0),
    "electricity_usd_per_kwh": (0.0, 0.1, 1.0),
    "pue": (1.0, 1.3, 5.0),
    "power_kw": (0.0, 14.5, 120.0),
    "support_share_per_year": (0.0, 0.05, 1.0),
    "staff_fte": (0.0, 0.25, 10.0),
    "staff_usd_per_year": (0.0, 3e5, 1e6),
    "other_opex_usd_per_month": (0.0, 1e4, 1e6),
    "licence_share": (0.0, 0.1, 1.0),
    "horizon_months": (1.0, 48.0, 240.0),
    "discount_rate": (0.0, 0.1, 1.0),
    "residual_share": (0.0, 0.17, 1.0),
    "throughput_factor": (0.0, 1.0, 1.5),
    "api_price_factor": (0.0, 1.0, 2.0),
    "alternative_price_factor": (0.0, 1.0, 2.0),
}

CASES: Mapping[str, dict[str, Any]] = {
    "buy, colocation, fill, flat": {"token_ratio": 1.2, "licence_share": 0.02},
    "loan, own, tokens, office hours": {
        "acquisition": "loan",
        "facility": "own",
        "demand": "tokens",
        "demand_tokens_per_month": 30e9,
        "profile": "office-hours",
        "cached_share": 0.6,
        "demand_growth_per_year": 0.2,
        "api_price_change_per_year": -0.3,
    },
    "rent, spend, office hours": {
        "acquisition": "rent",
        "demand": "spend",
        "demand_usd_per_month": 120e3,
        "profile": "office-hours",
        "rented_hours_per_month": 264,
        "rent_usd_per_accelerator_hour": 4.25,
        "migratable_share": 0.8,
        "baseline": "anthropic/claude-opus-5",
        "batch_share": 0.3,
    },
    "buy, own, seats, global": {
        "facility": "own",
        "demand": "seats",
        "demand_seats": 2000,
        "profile": "global",
        "system_count": 2,
        "other_capex_usd": 20e3,
        "reserve_systems": 1,
    },
    "loan, colocation, requests, flat": {
        "acquisition": "loan",
        "demand": "requests",
        "demand_requests_per_month": 3e6,
        "system": "hgx-h200-8",
        "system_count": 2,
        "api_discount": 0.1,
        "loan_months": 60,
    },
}

_SIZES = [f.name for f in dataclasses.fields(Sizing) if f.name not in ("evidence", "anchor", "layout", "warnings")]
_WHOLES = (
    "sizing",
    "ownership",
    "terms",
    "alternative_terms",
    "flow",
    "alternative_flow",
    "inputs",
    "numbers",
    "extend",
)
_RESULTS = [
    *(f.name for f in dataclasses.fields(Result) if f.name not in _WHOLES),
    *(n for n, v in vars(Result).items() if isinstance(v, property | cached_property) and n not in _WHOLES),
]


def arrays_of(result: Result) -> dict[str, np.ndarray[Any, Any]]:
    """Every array that a result holds, by its path."""
    found = {name: np.asarray(getattr(result, name)) for name in _RESULTS}
    found |= {f"sizing.{name}": np.asarray(getattr(result.sizing, name)) for name in _SIZES}
    for label, flow in (("flow", result.flow), ("alternative_flow", result.alternative_flow)):
        found |= {f"{label}.{name}": np.asarray(getattr(flow, name)) for name in QUANTITIES}
    found |= {f"line.{line.name}": np.asarray(line.usd_per_month) for line in result.ownership.lines}
    own = result.ownership
    for name in ("capex_usd", "principal_usd", "residual_usd", "running_usd_per_month", "opex_usd_per_month"):
        found[f"ownership.{name}"] = np.asarray(getattr(own, name))
    return found


def assert_stacks(together: Result, alone: Mapping[tuple[int, ...], Result], shape: tuple[int, ...]) -> None:
    stacked = arrays_of(together)
    for at, one in alone.items():
        for name, value in arrays_of(one).items():
            found = np.broadcast_to(stacked[name], shape)[at]
            assert value.shape == (), name
            if value.dtype.kind in "US":
                assert found == value, (name, at)
            else:
                # a sum over months of large gains and losses keeps fewer digits than its terms
                assert found == pytest.approx(value.item(), rel=1e-9, abs=1e-6, nan_ok=True), (name, at)


def test_every_numeric_field_has_values_to_try() -> None:
    assert set(VALUES) == set(NUMERIC_FIELDS)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", NUMERIC_FIELDS)
def test_array_of_any_input_is_the_stack_of_the_scalars(case: str, name: str) -> None:
    inputs = inputs_of(**CASES[case])
    values = np.asarray(VALUES[name])
    together = evaluate(dataclasses.replace(inputs, **{name: values}))
    alone = {(i,): evaluate(dataclasses.replace(inputs, **{name: float(v)})) for i, v in enumerate(values)}
    assert_stacks(together, alone, values.shape)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("column", "row"),
    [
        ("utilization", "api_price_change_per_year"),
        ("system_count", "demand_amount"),
        ("horizon_months", "loan_months"),
        ("rented_hours_per_month", "utilization"),
        ("cached_share", "throughput_factor"),
        ("serving_cached_share", "measured_output_tokens_per_s"),
        ("input_tokens", "max_tpot_ms"),
        ("residual_share", "demand_growth_per_year"),
    ],
)
def test_column_and_row_broadcast(case: str, column: str, row: str) -> None:
    inputs = inputs_of(**CASES[case])
    down, across = np.asarray(VALUES[column])[:, None], np.asarray(VALUES[row])
    together = evaluate(dataclasses.replace(inputs, **{column: down, row: across}))
    shape = (down.size, across.size)
    alone = {
        (i, j): evaluate(dataclasses.replace(inputs, **{column: float(down[i, 0]), row: float(across[j])}))
        for i in range(shape[0])
        for j in range(shape[1])
    }
    assert_stacks(together, alone, shape)


def test_a_known_sizing_may_be_handed_in() -> None:
    inputs = inputs_of()
    first = evaluate(inputs)
    again = evaluate(dataclasses.replace(inputs, utilization=np.array([0.5, 0.75])), sizing=first.sizing)
    assert again.flow.payback_days[1] == pytest.approx(float(first.flow.payback_days), rel=1e-12)


def test_moved_inputs_are_what_replace_makes_and_the_first_stay_as_they_were() -> None:
    inputs = inputs_of()
    changes: dict[str, Any] = {"utilization": np.array([0.1, 0.9]), "demand": "requests", "demand_amount": 5.0}
    one, other = moved(inputs, **changes), dataclasses.replace(inputs, **changes)
    for f in dataclasses.fields(Inputs):
        assert getattr(one, f.name) is getattr(other, f.name), f.name
    assert inputs.utilization == 0.75
    assert inputs.demand == "fill"
    with pytest.raises(TypeError, match="not an input: utilisation"):
        moved(inputs, utilisation=0.5)


# Many decisions at once -----------------------------------------------------------------------------------------------

SAME = (
    "served_requests_per_month", "usd_per_month", "usd_per_mtok", "opex_usd_per_month", "licence_usd_per_month",
    "demand_requests_per_month", "overflow_requests_per_month", "baseline_usd_per_month", "alternative_usd_per_month",
    "saving_usd_per_month", "alternative_saving_usd_per_month", "capacity_tokens_per_month", "tokens_per_request",
    "used_share_of_capacity",
)  # fmt: skip


def assert_same(found: Result, alone: Result) -> None:
    for name in SAME:
        a, b = np.asarray(getattr(found, name)), np.asarray(getattr(alone, name))
        assert a.shape == b.shape == (), name
        assert a == pytest.approx(float(b), rel=1e-12, nan_ok=True), name
    assert found.sizing == alone.sizing
    assert found.inputs == alone.inputs
    for name in ("payback_months", "npv_usd", "final_usd", "discounted_payback_months", "cumulative_usd"):
        for flow in ("flow", "alternative_flow"):
            a, b = getattr(getattr(found, flow), name), getattr(getattr(alone, flow), name)
            assert a == pytest.approx(b, rel=1e-9, abs=1e-6, nan_ok=True), (flow, name)
    lines = [(line.name, line.formula, line.terms) for line in alone.ownership.lines]
    assert [(line.name, line.formula, line.terms) for line in found.ownership.lines] == lines
    amounts = [float(line.usd_per_month) for line in alone.ownership.lines]
    assert [float(line.usd_per_month) for line in found.ownership.lines] == pytest.approx(amounts, rel=1e-12)
    for name in ("capex_usd", "residual_usd", "principal_usd", "running_usd_per_month", "depreciation_usd_per_month"):
        assert float(getattr(found.ownership, name)) == pytest.approx(float(getattr(alone.ownership, name)), rel=1e-12)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"demand": "spend", "demand_usd_per_month": 60_000, "profile": "office-hours"},
        {"acquisition": "loan", "facility": "own", "demand": "tokens", "demand_tokens_per_month": 30e9},
        {"acquisition": "rent", "rented_hours_per_month": 300, "licence_share": 0.1},
        {"system_count": 0},
        {"utilization": 0},
        {"demand": "seats", "demand_seats": 900, "demand_growth_per_year": 0.5, "api_price_change_per_year": -0.3},
    ],
    ids=str,
)
def test_each_of_many_machines_gets_what_it_gets_alone(values: dict[str, Any]) -> None:
    machines = ("hgx-b300-8", "hgx-h200-8", "mi355x-8", "gb300-nvl72", "hgx-b200-8")
    known = [name for name in machines if name in load_catalog().systems]
    assert len(known) >= 4
    price = {"rent_usd_per_accelerator_hour": 4.0} if values.get("acquisition") == "rent" else {}
    cases = [
        inputs_of(system=name, hardware_usd=100_000.0 * (k + 1), **price, **values) for k, name in enumerate(known)
    ]
    together = evaluate_each(cases)
    assert all("usd_per_mtok" in vars(found) for found in together), "it was found for all of them at once"
    for found, alone in zip(together, map(evaluate, cases), strict=True):
        assert_same(found, alone)


def test_decisions_that_share_no_choice_are_evaluated_one_by_one() -> None:
    cases = [inputs_of(), inputs_of(acquisition="loan"), inputs_of(demand="spend", demand_usd_per_month=50_000)]
    for found, alone in zip(evaluate_each(cases), map(evaluate, cases), strict=True):
        assert_same(found, alone)
    assert evaluate_each([]) == []
