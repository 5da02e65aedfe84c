"""What must be true: every value, put back into the scenario, gives the target."""

import dataclasses
import math

import numpy as np
import pytest

from calculators.catalog import Catalog, load_catalog
from calculators.conditions import (
    Condition,
    Conditions,
    Target,
    _inverse,
    _Question,
    _solve,
    conditions,
    frontier,
    put_back,
)
from calculators.evaluate import evaluate
from calculators.report import Report, build_report
from calculators.scenario import SPECS, Scenario
from calculators.texts import LANGUAGES, catalogue

SCENARIOS = {
    "defaults": {},
    "spend, below capacity": {"demand": "spend", "demand_usd_per_month": 40_000.0},
    "spend, discount, cached": {
        "demand": "spend",
        "demand_usd_per_month": 90_000.0,
        "api_discount": 0.1,
        "cached_share": 0.5,
    },
    "loan, falling price, office hours, seats": {
        "acquisition": "loan",
        "api_price_change_per_year": -0.3,
        "profile": "office-hours",
        "demand": "seats",
        "demand_seats": 1500.0,
    },
    "rent": {"acquisition": "rent"},
    "own facility, growth, batch": {
        "facility": "own",
        "demand": "requests",
        "demand_requests_per_month": 1.5e6,
        "demand_growth_per_year": 0.4,
        "batch_share": 0.5,
        "other_capex_usd": 50_000.0,
        "other_opex_usd_per_month": 1_000.0,
    },
    "tokens, long target": {
        "demand": "tokens",
        "demand_tokens_per_month": 9e9,
        "target_payback_days": 1700.0,
        "horizon_months": 36,
    },
    "several machines": {"system_count": 3, "staff_fte": 1.0},
    "batch prices": {"baseline": "fireworks/kimi-k3", "batch_share": 0.5},
    "long-context tier": {
        "baseline": "anthropic/claude-haiku-5-5",
        "input_tokens": 300_000,
        "cached_share": 0.9,
        "max_tpot_ms": None,
    },
    "auto": {"system_count": "auto", "demand": "spend", "demand_usd_per_month": 300_000.0},
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def reached(report: Report, target: Target) -> float:
    flow = report.result.flow
    if target == "payback":
        return float(flow.payback_days)
    return float(flow.npv_usd) if target == "npv" else float(report.result.saving_usd_per_month)


def row(found: Conditions, name: str) -> Condition:
    return next(r for r in found.rows if r.name == name)


@pytest.mark.parametrize("target", ["payback", "npv"])
@pytest.mark.parametrize("name", list(SCENARIOS))
def test_each_value_put_back_gives_the_target(catalog: Catalog, name: str, target: Target) -> None:
    report = build_report(Scenario(**SCENARIOS[name]), catalog)
    found = conditions(report.resolved, report.result, target)
    solved = [r for r in found.rows if r.value is not None and r.exact]
    assert len(solved) >= 3
    for r in solved:
        there = put_back(report.scenario, r)
        if there is None:
            # no field multiplies a batch price above the list
            assert r.name == "api_price_factor"
            assert report.scenario.batch_share > 0
            assert r.value > r.now
            continue
        value = reached(build_report(there, catalog), found.target)
        if found.target == "payback":
            assert value == pytest.approx(found.target_days, rel=1e-3), r.name
        else:
            # 0.1 % of the capex, or of a month's running cost where nothing is bought
            scale = max(float(report.result.ownership.capex_usd), float(report.result.opex_usd_per_month))
            assert abs(value) < 1e-3 * scale, r.name


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_the_better_side_is_the_better_side(catalog: Catalog, name: str) -> None:
    report = build_report(Scenario(**SCENARIOS[name]), catalog)
    found = conditions(report.resolved, report.result)
    for r in found.rows:
        if found.target == "payback" and r.outcome == "value":
            now = reached(report, "payback")
            assert r.met_now == (now <= found.target_days), r.name


def test_any_and_none_hold_at_both_bounds(catalog: Catalog) -> None:
    report = build_report(Scenario(demand="spend", demand_usd_per_month=40_000.0), catalog)
    found = conditions(report.resolved, report.result)
    # the demand is below the capacity, so no utilization, throughput or availability serves more of it
    for name in ("utilization", "throughput_factor", "availability", "colocation_usd_per_kw_month"):
        assert row(found, name).outcome == "none"
    for value in (0.0, 10_000.0):
        inputs = dataclasses.replace(report.inputs, colocation_usd_per_kw_month=value)
        assert float(evaluate(inputs).flow.payback_days) > 365
    easy = build_report(Scenario(hardware_usd=1_000.0), catalog)
    assert row(conditions(easy.resolved, easy.result, "npv"), "residual_share").outcome == "any"


def test_flat_case_by_hand(catalog: Catalog) -> None:
    # capex 600,000 (no spares), nothing but 10,000 USD a month of other costs, bill 50,000: saving 40,000 a month.
    scenario = Scenario(
        demand="spend",
        demand_usd_per_month=50_000.0,
        hardware_usd=600_000.0,
        spares_share=0.0,
        other_opex_usd_per_month=10_000.0,
        colocation_usd_per_kw_month=0.0,
        support_share_per_year=0.0,
        staff_fte=0.0,
        target_payback_days=365.0,
    )
    report = build_report(scenario, catalog)
    assert report.days == pytest.approx(600_000 / 40_000 * 365 / 12)
    found = conditions(report.resolved, report.result)
    # 365 days = 12 months: 600,000 / 12 + 10,000 = 60,000 of bill, or 12 x 40,000 = 480,000 for the machine
    assert row(found, "demand_amount").value == pytest.approx(60_000)
    assert row(found, "hardware_usd").value == pytest.approx(480_000)
    price = row(found, "api_price_factor")
    assert price.value == pytest.approx(price.now * 60_000 / 50_000)
    assert row(found, "other_opex_usd_per_month").outcome == "value"
    assert row(found, "other_opex_usd_per_month").value == pytest.approx(0, abs=1e-6)
    assert not price.met_now


def test_a_discount_does_not_buy_more_tokens(catalog: Catalog) -> None:
    scenario = Scenario(demand="spend", demand_usd_per_month=90_000.0, target_payback_days=365.0)
    report = build_report(scenario, catalog)
    discount = row(conditions(report.resolved, report.result), "api_discount")
    there = put_back(scenario, discount)
    assert there is not None
    assert there.demand == "requests"
    served = build_report(there, catalog).result.served_requests_per_month
    assert float(served) == pytest.approx(float(report.result.served_requests_per_month))


def test_where_the_payback_jumps_to_never_the_value_is_marked(catalog: Catalog) -> None:
    # the price halves each year: the cumulative flow peaks early, so a payback of 1,400 days is never reached exactly
    scenario = Scenario(api_price_change_per_year=-0.5, target_payback_days=1400.0)
    report = build_report(scenario, catalog)
    found = row(conditions(report.resolved, report.result), "hardware_usd")
    assert found.outcome == "value"
    assert not found.exact
    there = put_back(scenario, dataclasses.replace(found, change={"hardware_usd": found.value * 0.9999}))
    beyond = put_back(scenario, dataclasses.replace(found, change={"hardware_usd": found.value * 1.0001}))
    assert there is not None
    assert beyond is not None
    assert build_report(there, catalog).days < 1400
    assert build_report(beyond, catalog).status == "never"


def test_a_batch_price_is_moved_by_the_discount_and_not_raised(catalog: Catalog) -> None:
    report = build_report(Scenario(baseline="fireworks/kimi-k3", batch_share=0.5), catalog)
    price = row(conditions(report.resolved, report.result), "api_price_factor")
    assert price.value is not None
    # the whole bill times value / now, which is a discount of the rest
    assert price.change["api_discount"] == pytest.approx(1 - price.value / price.now)
    dear = build_report(Scenario(baseline="fireworks/kimi-k3", batch_share=0.5, target_payback_days=100.0), catalog)
    above = row(conditions(dear.resolved, dear.result), "api_price_factor")
    assert above.value is not None
    assert above.value > above.now
    assert put_back(dear.scenario, above) is None


def test_a_price_above_a_tier_is_the_price_in_force(catalog: Catalog) -> None:
    scenario = Scenario(**SCENARIOS["long-context tier"])
    report = build_report(scenario, catalog)
    offer = catalog.offers[scenario.baseline]
    tier = offer.prices[-1].tiers[-1]
    assert scenario.input_tokens > tier.above_input_tokens
    price = row(conditions(report.resolved, report.result), "api_price_factor")
    assert price.value is not None
    assert price.change["input_usd_per_mtok"] == pytest.approx(tier.input_usd_per_mtok * price.value / price.now)


def test_a_target_beyond_fifty_years_is_fifty_years(catalog: Catalog) -> None:
    scenario = Scenario(target_payback_days=36_500.0)
    report = build_report(scenario, catalog)
    found = conditions(report.resolved, report.result)
    # 600 months of 365/12 days; later is 'never'
    assert found.target_days == pytest.approx(18_250)
    there = put_back(scenario, row(found, "staff_fte"))
    assert there is not None
    assert build_report(there, catalog).days == pytest.approx(18_250, rel=1e-3)


def test_a_value_outside_a_fields_bounds_opens_nothing(catalog: Catalog) -> None:
    # an API price of 1,000 USD and more per million is no value of the field
    report = build_report(Scenario(hardware_usd=300_000_000.0), catalog)
    price = row(conditions(report.resolved, report.result), "api_price_factor")
    assert price.outcome == "none" or put_back(report.scenario, price) is None
    assert put_back(report.scenario, dataclasses.replace(price, change={"hardware_usd": -1.0})) is None


def test_nothing_to_solve_where_nothing_is_known(catalog: Catalog) -> None:
    report = build_report(Scenario(system="hgx-h200-8"), catalog)
    assert conditions(report.resolved, report.result).rows == ()


def test_frontier_equals_evaluate(catalog: Catalog) -> None:
    report = build_report(Scenario(demand="spend", demand_usd_per_month=60_000.0), catalog)
    found = frontier(report.inputs, report.result, points=9)
    assert found.payback_days.shape == (9, 9)
    for i, j in ((0, 0), (8, 0), (8, 8), (4, 3)):
        inputs = dataclasses.replace(
            report.inputs,
            demand="fill",
            utilization=float(found.utilization[i]),
            api_price_change_per_year=float(found.api_price_change_per_year[j]),
        )
        assert found.payback_days[i, j] == pytest.approx(float(evaluate(inputs).flow.payback_days), rel=1e-9)
    # at the used share of the scenario and its own price change, the frontier gives the headline
    inputs = dataclasses.replace(report.inputs, demand="fill", utilization=found.here_utilization)
    assert float(evaluate(inputs).flow.payback_days) == pytest.approx(report.days, rel=1e-9)
    # more load never pays back later, a higher price neither
    filled = np.where(np.isinf(found.payback_days), 1e9, found.payback_days)
    assert np.all(np.diff(filled, axis=0) <= 1e-9)
    assert np.all(np.diff(filled, axis=1) <= 1e-9)
    assert math.isinf(found.payback_days[0, 0])


def test_the_frontier_names_the_load_that_it_shows(catalog: Catalog) -> None:
    # over 48 months 24,716 of the 125,819 USD that full machines serve: 19.6 %, planned or not
    for utilization in (0.0, 0.15, 0.75):
        report = build_report(Scenario(utilization=utilization), catalog)
        assert frontier(report.inputs, report.result, points=5).load_needed == pytest.approx(0.1964416725)
    # a payback inside the horizon counts even where the money is lost again at its end
    falling = build_report(Scenario(api_price_change_per_year=-0.5), catalog)
    found = frontier(falling.inputs, falling.result, points=5)
    assert found.load_needed is not None
    at = evaluate(dataclasses.replace(falling.inputs, utilization=found.load_needed * (1 + 1e-9)))
    assert float(at.flow.payback_months) < 48
    assert float(at.flow.final_usd) < 0
    below = evaluate(dataclasses.replace(falling.inputs, utilization=found.load_needed * 0.999))
    assert math.isinf(float(below.flow.payback_months))
    # rent: 8 x 7.85 x 730 + 6,250 of 125,819 USD
    rent = build_report(Scenario(acquisition="rent", rent_usd_per_accelerator_hour=7.85), catalog)
    found = frontier(rent.inputs, rent.result, points=5)
    assert found.load_needed == pytest.approx((8 * 7.85 * 730 + 6250) / (94_364.3844 / 0.75), rel=1e-9)
    at = evaluate(dataclasses.replace(rent.inputs, utilization=found.load_needed))
    assert float(at.flow.npv_usd) == pytest.approx(0, abs=1e-3)
    dear = build_report(Scenario(staff_fte=10), catalog)
    assert frontier(dear.inputs, dear.result, points=5).load_needed is None


def test_every_condition_has_its_texts(catalog: Catalog) -> None:
    for fields in SCENARIOS.values():
        report = build_report(Scenario(**fields), catalog)
        for r in conditions(report.resolved, report.result, "npv").rows:
            assert set(catalogue()[f"must.{r.name}"]) == set(LANGUAGES)
            assert r.title("zh") == catalogue()[f"must.{r.name}"]["zh"]


@pytest.mark.parametrize(
    "change",
    [{"api_price_change_per_year": -0.7}, {"api_price_change_per_year": -0.9}, {"api_price_change_per_year": -0.5}],
)
def test_a_value_at_which_the_flow_only_touches_zero_still_pays_back(change: dict[str, float]) -> None:
    """A falling price: the wanted 1,200 days lie after the peak, so the value solved for makes the peak just zero."""
    scenario = Scenario(demand="fill", target_payback_days=1200, **change)
    report = build_report(scenario, load_catalog())
    touching = [row for row in conditions(report.resolved, report.result, target="payback").rows if not row.exact]
    put = [put_back(scenario, row) for row in touching]
    found = [build_report(s, load_catalog()) for s in put if s is not None]
    assert found
    for again in found:
        assert again.status == "pays_back"
        assert again.days is not None
        assert again.days <= 1200 * (1 + 1e-6)
        assert "e-" not in " ".join(again.sentences())


def test_a_row_carries_the_fields_own_unit_bounds_and_value(catalog: Catalog) -> None:
    for name, fields in SCENARIOS.items():
        report = build_report(Scenario(**fields), catalog)
        for r in conditions(report.resolved, report.result, "npv").rows:
            if r.name in ("api_price_factor", "throughput_factor", "demand_amount"):
                continue
            spec = SPECS[r.name]
            assert (r.unit, r.low, r.high) == (spec.unit, spec.minimum, spec.maximum), (name, r.name)
            assert r.now == float(getattr(report.inputs, r.name)), (name, r.name)
            if r.value is not None:
                kept = {"demand", "demand_requests_per_month", "system_count"} & set(r.change)
                assert dict(r.change) == {r.name: r.value} | {k: r.change[k] for k in kept}, (name, r.name)


def names(report: Report, target: Target = "payback") -> list[str]:
    return [r.name for r in conditions(report.resolved, report.result, target).rows]


def test_which_inputs_are_asked_for(catalog: Catalog) -> None:
    """Those that the purchase depends on: a rent has no hardware, a loan its rate, a demand its amount."""
    start = ["api_price_factor", "api_discount", "api_price_change_per_year", "utilization", "throughput_factor"]
    start += ["availability"]
    demand = ["demand_amount", "migratable_share", "demand_growth_per_year"]
    owned = ["hardware_usd", "support_share_per_year"]
    some = {"demand": "tokens", "demand_tokens_per_month": 1e10}
    for fields, expected in (
        ({}, [*start, *owned, "colocation_usd_per_kw_month", "staff_fte"]),
        ({"facility": "own"}, [*start, *owned, "electricity_usd_per_kwh", "staff_fte"]),
        ({"acquisition": "loan"}, [*start, *owned, "colocation_usd_per_kw_month", "loan_rate", "staff_fte"]),
        ({"acquisition": "rent"}, [*start, "rent_usd_per_accelerator_hour", "staff_fte"]),
        (
            {**some, "other_opex_usd_per_month": 5.0, "other_capex_usd": 5.0},
            [*start, *demand, *owned, "colocation_usd_per_kw_month", "staff_fte", "other_opex_usd_per_month",
             "other_capex_usd"],
        ),
        # where nothing may move, no amount of demand helps
        (
            {**some, "migratable_share": 0.0},
            [*start, *demand[1:], *owned, "colocation_usd_per_kw_month", "staff_fte"],
        ),
        (
            {"demand": "tokens", "demand_tokens_per_month": 0.0},
            [*start, *demand[1:], *owned, "colocation_usd_per_kw_month", "staff_fte"],
        ),
        (
            {**some, "utilization": 0.0},
            [*start, *demand[1:], *owned, "colocation_usd_per_kw_month", "staff_fte"],
        ),
    ):  # fmt: skip
        report = build_report(Scenario(**fields), catalog)
        assert names(report) == expected, fields
        more = ["discount_rate"] if report.inputs.acquisition == "rent" else ["discount_rate", "residual_share"]
        assert names(report, "npv") == expected + more


def test_price_throughput_and_demand_in_the_units_of_a_table(catalog: Catalog) -> None:
    report = build_report(Scenario(demand="tokens", demand_tokens_per_month=1e10, token_ratio=1.25), catalog)
    found = conditions(report.resolved, report.result)
    price = row(found, "api_price_factor")
    # 8,192 x 3 + 1,024 x 15 = 39,936 of a million tokens' USD for 9,216 tokens
    assert (price.unit, price.low) == ("USD/Mtok", 0.0)
    assert price.now == pytest.approx(39_936 / 9_216)
    assert price.high == pytest.approx(100 * 39_936 / 9_216)
    assert price.value is not None
    assert price.change == pytest.approx(
        {
            "input_usd_per_mtok": 3 * price.value / price.now,
            "cached_input_usd_per_mtok": 0.3 * price.value / price.now,
            "cache_write_usd_per_mtok": 3 * price.value / price.now,
            "output_usd_per_mtok": 15 * price.value / price.now,
        }
    )
    speed = row(found, "throughput_factor")
    rate = float(report.result.sizing.output_tokens_per_s)
    assert (speed.unit, speed.low) == ("tokens/s", 0.0)
    assert (speed.now, speed.high) == pytest.approx((rate, 100 * rate))
    amount = row(found, "demand_amount")
    assert (amount.unit, amount.low, amount.now) == ("tokens/month", 0.0, 1e10)
    # as much as a single busy hour of the week could fill all of the plan with
    usable = float(report.result.terms.capacity_requests_per_month)
    assert amount.high == pytest.approx(usable * 168 * 9_216)
    half = build_report(Scenario(demand="tokens", demand_tokens_per_month=1e10, migratable_share=0.5), catalog)
    assert row(conditions(half.resolved, half.result), "demand_amount").high == pytest.approx(
        float(half.result.terms.capacity_requests_per_month) * 168 * 9_216 / 0.5
    )


def test_a_spend_is_asked_for_in_usd(catalog: Catalog) -> None:
    report = build_report(Scenario(demand="spend", demand_usd_per_month=40_000.0), catalog)
    amount = row(conditions(report.resolved, report.result), "demand_amount")
    usd = float(report.result.baseline_usd_per_request)
    assert amount.unit == "USD/month"
    assert amount.now == pytest.approx(40_000)
    assert amount.high == pytest.approx(float(report.result.terms.capacity_requests_per_month) * 168 * usd)
    assert amount.change == {"demand_usd_per_month": amount.value}


def test_a_demand_cannot_be_asked_for_beyond_its_field(catalog: Catalog) -> None:
    # a field that ends at 1e6 people: more seats than that are no value, whatever the machines could serve
    fields = {"demand": "seats", "demand_seats": 10.0, "requests_per_seat_workday": 0.001}
    report = build_report(Scenario(**fields), catalog)
    usable = float(report.result.terms.capacity_requests_per_month) * 168
    assert usable / float(report.result.demand_requests_per_month) * 10.0 > (SPECS["demand_seats"].maximum or 0)
    assert row(conditions(report.resolved, report.result), "demand_amount").high == pytest.approx(
        SPECS["demand_seats"].maximum
    )


def test_the_speed_of_a_load_test_is_of_a_machine_or_of_a_replica_across_machines(catalog: Catalog) -> None:
    for fields, units in (({"system_count": 3}, 3), ({"system": "hgx-h200-8", "system_count": 4}, None)):
        report = build_report(Scenario(**fields), catalog)
        speed = row(conditions(report.resolved, report.result, "npv"), "throughput_factor")
        replicas = float(report.result.sizing.replicas)
        assert speed.value is not None
        per = units if units is not None else replicas
        assert speed.change == pytest.approx({"measured_output_tokens_per_s": speed.value / per}), fields
        if units is None:
            assert report.inputs.sizing.site.plan.devices > 8
            assert replicas != 4


def test_a_target_of_the_caller_counts_before_the_scenarios(catalog: Catalog) -> None:
    report = build_report(Scenario(), catalog)
    for days in (200.0, 400.0):
        found = conditions(report.resolved, report.result, target_days=days)
        assert (found.target, found.target_days) == ("payback", days)
        there = put_back(report.scenario, row(found, "hardware_usd"))
        assert there is not None
        assert build_report(there, catalog).days == pytest.approx(days, rel=1e-6)
    assert conditions(report.resolved, report.result).target_days == report.scenario.target_payback_days
    assert conditions(report.resolved, report.result, "npv").target == "npv"
    # a rent has nothing to pay back: its question is whether it saves
    rent = build_report(Scenario(acquisition="rent"), catalog)
    assert conditions(rent.resolved, rent.result).target == "saving"
    assert conditions(rent.resolved, rent.result, "npv").target == "npv"


def test_auto_is_held_at_the_number_of_machines_chosen(catalog: Catalog) -> None:
    report = build_report(Scenario(**SCENARIOS["auto"]), catalog)
    count = int(report.inputs.system_count)
    assert count > 1
    solved = [r for r in conditions(report.resolved, report.result).rows if r.change]
    assert {r.change["system_count"] for r in solved} == {count}
    fixed = build_report(Scenario(), catalog)
    assert not any("system_count" in r.change for r in conditions(fixed.resolved, fixed.result).rows)


def test_what_is_met_now() -> None:
    base = Condition("x", "USD", now=5.0, low=0.0, high=10.0, outcome="value", value=5.0)
    assert base.met_now
    assert dataclasses.replace(base, at_least=False).met_now
    assert not dataclasses.replace(base, value=5.1).met_now
    assert dataclasses.replace(base, value=5.1, at_least=False).met_now
    assert not dataclasses.replace(base, value=4.9, at_least=False).met_now
    assert dataclasses.replace(base, outcome="any", value=None).met_now
    assert not dataclasses.replace(base, outcome="none", value=None).met_now


def test_the_axes_of_the_frontier(catalog: Catalog) -> None:
    report = build_report(Scenario(), catalog)
    found = frontier(report.inputs, report.result, points=5)
    assert found.utilization == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert found.api_price_change_per_year == pytest.approx([-0.6, -0.4, -0.2, 0.0, 0.2])
    assert (found.here_price_change, found.here_utilization) == pytest.approx((0.0, 0.75))
    for change, ends in ((-0.8, (-0.8, 0.2)), (0.9, (-0.6, 0.9))):
        wide = build_report(Scenario(api_price_change_per_year=change), catalog)
        axis = frontier(wide.inputs, wide.result, points=3).api_price_change_per_year
        assert (axis[0], axis[-1]) == pytest.approx(ends)
    assert frontier(report.inputs, report.result).npv_usd.shape == (25, 25)
    again = evaluate(dataclasses.replace(report.inputs, utilization=0.4, api_price_change_per_year=-0.4))
    assert found.npv_usd[1, 1] == pytest.approx(float(again.flow.npv_usd))


def test_inverse_interpolation_says_how_far_three_points_are_from_four() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0])
    exact = pytest.approx(0.0, abs=1e-12)
    assert _inverse(x, 2.0 * x - 3.0) == (pytest.approx(1.5), exact)
    assert _inverse(x + 10, 2.0 * x - 3.0) == (pytest.approx(11.5), exact)
    # x = g^2 is a parabola of g: three points give it exactly, and four agree
    assert _inverse(np.array([1.0, 4.0, 9.0, 16.0]), np.array([1.0, 2.0, 3.0, 4.0])) == (exact, exact)
    # x = g^3 at g = 0 is 0 by four points; the parabola through 1, 2, 3 is 6 g^2 - 11 g + 6, which says 6
    assert _inverse(np.array([1.0, 8.0, 27.0, 64.0]), np.array([1.0, 2.0, 3.0, 4.0])) == (
        pytest.approx(0.0, abs=1e-10),
        pytest.approx(6.0),
    )
    found = _inverse(x, np.exp(x) - 2.0)
    assert found is not None
    assert found[1] > 0.01
    assert _inverse(x, np.array([-1.0, 0.0, 0.0, 1.0])) is None
    assert _inverse(x, np.array([-1.0, 1.0, np.inf, np.inf])) is None


def test_a_curved_question_takes_a_few_rounds_and_a_kink_beside_the_guess_is_found() -> None:
    """e^x - 1.5 settles in four rounds instead of seven; a gap that jumps beside the guess falls back to its range."""
    asked: list[int] = []

    def curved(questions: list[_Question], x: np.ndarray) -> np.ndarray:
        asked.append(len(questions))
        return np.exp(x) - 1.5

    ((outcome, value, rises),) = _solve([question(0.0, 1.0)], curved)
    assert (outcome, rises) == ("value", True)
    assert value == pytest.approx(math.log(1.5), rel=1e-12)
    assert len(asked) <= 4

    def kinked(questions: list[_Question], x: np.ndarray) -> np.ndarray:
        # smooth at the four points of the first round, a step of its own between them: the guess misses it
        return np.where(x < 0.4711, x**3 - 0.3, x**3 + 0.3)

    ((outcome, value, rises),) = _solve([question(0.0, 1.0)], kinked)
    assert (outcome, rises) == ("value", True)
    assert value == pytest.approx(0.4711, abs=1e-9)


def question(low: float, high: float) -> _Question:
    return _Question("q", "q", low, high, "USD", lambda x: x, lambda x: {"q": x})


def test_solving_by_hand() -> None:
    """The first change of sign counts; all good, all bad, rising, falling, and a jump between two points."""
    gaps = [
        lambda x: x - 0.3,
        lambda x: 0.3 - x,
        lambda x: x + 1.0,
        lambda x: x - 2.0,
        lambda x: np.where(x < 0.7, -1.0, 1.0),
        lambda x: np.sin(7.0 * x + 0.5) - 0.2,
        lambda x: np.zeros_like(x),
        lambda x: np.where(x == 0.0, 0.0, x),
        lambda x: np.exp(x) - 1.5,
    ]

    def answer(asked: list[_Question], x: np.ndarray) -> np.ndarray:
        return np.array([gaps[int(q.low * -1000)](x[k] + 0.001 * int(q.low * -1000)) for k, q in enumerate(asked)])

    # each question's range is [0, 1] moved by its number in thousandths, so that the answers are told apart
    found = _solve([question(-0.001 * k, 1.0 - 0.001 * k) for k in range(len(gaps))], answer)
    outcomes = [outcome for outcome, _, _ in found]
    assert outcomes == ["value", "value", "any", "none", "value", "value", "any", "value", "value"]
    values = [value + 0.001 * k for k, (_, value, _) in enumerate(found)]
    first = (math.pi - math.asin(0.2) - 0.5) / 7.0
    for k, expected in ((0, 0.3), (1, 0.3), (4, 0.7), (5, first), (7, 0.0), (8, math.log(1.5))):
        assert values[k] == pytest.approx(expected, abs=1e-9), k
    assert [rises for _, _, rises in found] == [True, False, True, True, True, False, True, True, True]
