"""What must be true: every value, put back into the scenario, gives the target."""

import dataclasses
import math

import numpy as np
import pytest

from calculators.catalog import Catalog, load_catalog
from calculators.conditions import Condition, Conditions, Target, conditions, frontier, put_back
from calculators.evaluate import evaluate
from calculators.report import Report, build_report
from calculators.scenario import Scenario
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
