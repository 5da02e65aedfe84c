"""The report: the same figures everywhere, and what must hold for every scenario."""

import dataclasses
import datetime as dt
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calculators.catalog import load_catalog
from calculators.evaluate import evaluate
from calculators.exports.months import months
from calculators.link import parse
from calculators.report import Report, build_report, cost_lines, jsonable, number, to_json, unit_of
from calculators.scenario import Scenario
from calculators.texts import LANGUAGES
from tests.strategies import KNOWN_SCENARIO, ORDINARY_SCENARIO, assert_finite, numbers_in

SLOW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
# a report with its 10,000 draws takes a tenth of a second
SLOWEST = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def report_of(**changes: Any) -> Report:
    return build_report(Scenario(**changes), load_catalog())


def moved(scenario: Scenario, **changes: Any) -> Report:
    return build_report(scenario.model_copy(update=changes), load_catalog())


# By hand --------------------------------------------------------------------------------------------------------------


def test_default_report_holds_the_worked_figures() -> None:
    data = to_json(report_of())
    # the arithmetic stands in test_evaluate.test_default_scenario_by_hand
    capacity = 1240 / 1024 * 9216 * 3600 * 730 * 0.99
    assert data["capacity"]["tokens_per_month"] == pytest.approx(capacity, rel=1e-9)
    assert data["served"]["tokens_per_month"] == pytest.approx(0.75 * capacity, rel=1e-9)
    assert data["served"]["utilization"] == pytest.approx(0.75)
    assert data["payback"]["status"] == "pays_back"
    assert data["payback"]["days"] == pytest.approx(231.5, abs=0.05)
    assert data["self_host"]["capex_usd"] == 630_000
    assert data["serverless"]["baseline"]["usd_per_mtok"] == pytest.approx(0.039936 / 9216 * 1e6)
    assert data["verdict"][0].startswith("Buying one 8xB300 server pays back in 232 days")
    assert "232 days" in data["payback"]["reason"]


def test_json_says_never_with_its_reason_and_its_loss() -> None:
    data = to_json(
        report_of(
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
    assert data["payback"]["status"] == "never"
    assert data["payback"]["days"] is None
    assert "costs 2,000 USD a month more" in data["payback"]["reason"]
    assert data["payback"]["saving_usd_per_month"] == pytest.approx(-2000)
    assert data["payback"]["discounted_days"] is None


def test_horizon_shorter_than_the_payback_is_beyond() -> None:
    data = to_json(report_of(horizon_months=3))
    assert data["payback"]["status"] == "beyond_horizon"
    assert data["payback"]["days"] == pytest.approx(231.5, abs=0.05)
    assert data["payback"]["discounted_days"] is None
    assert "after your horizon of 3 months" in data["payback"]["reason"]


def test_nothing_to_pay_back_is_immediate() -> None:
    data = to_json(report_of(acquisition="rent", rent_usd_per_accelerator_hour=4.25))
    assert data["payback"]["status"] == "immediate"
    assert data["payback"]["days"] == 0
    assert data["self_host"]["capex_usd"] == 0


def test_falling_price_names_the_month_of_the_peak() -> None:
    data = to_json(report_of(api_price_change_per_year=-0.95))
    assert data["payback"]["status"] == "never"
    assert "peaks in month" in data["payback"]["reason"]


def test_machine_that_does_not_hold_the_model_has_no_payback() -> None:
    data = to_json(report_of(system="hgx-h200-8"))
    assert data["memory"]["fits"] is False
    assert data["memory"]["short_by_bytes"] > 0
    assert data["memory"]["min_systems"] == 2
    assert data["payback"]["status"] is None
    assert data["payback"]["days"] is None
    for part in ("throughput", "capacity"):
        assert all(v is None or v == "none" for v in data[part].values())
    assert data["uncertainty"] == {"payback_days": None, "probability_pays_back": None, "tornado": None}


@pytest.mark.parametrize("name", ["utilization", "availability"])
def test_zero_gives_one_sentence(name: str) -> None:
    data = to_json(report_of(**{name: 0}))
    assert data["payback"]["status"] == "never"
    assert f"{name} is 0" in data["payback"]["reason"]
    assert data["self_host"]["usd_per_mtok"] is None


def test_price_of_zero_gives_one_sentence() -> None:
    data = to_json(report_of(input_usd_per_mtok=0, output_usd_per_mtok=0))
    assert data["payback"]["status"] == "never"
    assert "costs nothing at these prices" in data["payback"]["reason"]
    assert data["serverless"]["baseline"]["usd_per_month"] == 0
    assert data["serverless"]["baseline"]["usd_per_mtok"] == 0


def test_demand_of_zero_gives_one_sentence() -> None:
    data = to_json(report_of(demand="tokens", demand_tokens_per_month=0))
    assert "the demand is 0" in data["payback"]["reason"]
    assert data["served"]["tokens_per_month"] == 0
    assert data["serverless"]["baseline"]["usd_per_mtok"] == pytest.approx(0.039936 / 9216 * 1e6), "still a price"


def test_cost_per_seat() -> None:
    data = to_json(report_of(demand="seats", demand_seats=250))
    # 250 x 100 x 21 = 525,000 requests at 0.039936 USD: 83.87 USD a seat
    assert data["serverless"]["baseline"]["usd_per_seat_month"] == pytest.approx(100 * 21 * 0.039936)
    month = data["self_host"]["usd_per_month"]
    assert data["self_host"]["usd_per_seat_month"] == pytest.approx(month / 250)
    assert "usd_per_seat_month" not in to_json(report_of())["self_host"]


def test_alternative_that_is_todays_offer_keeps_its_own_price() -> None:
    data = to_json(
        report_of(alternative="moonshotai/kimi-k3", api_discount=0.5, demand="tokens", demand_tokens_per_month=0)
    )
    assert data["serverless"]["baseline"]["usd_per_mtok"] == pytest.approx(0.5 * 0.039936 / 9216 * 1e6)
    assert data["serverless"]["alternative"]["usd_per_mtok"] == pytest.approx(0.039936 / 9216 * 1e6)


def test_auto_takes_the_fleet_that_costs_least() -> None:
    # 70 / 21.776 = 3.21 machines: the fourth takes 0.21 x 94,364 = 20,200 USD of API calls for 16,341 USD
    report = report_of(system_count="auto", demand="tokens", demand_tokens_per_month=70e9)
    assert report.hybrid is not None
    assert to_json(report)["served"]["system_count"] == report.hybrid.best_count == 4
    none = to_json(report_of(system_count="auto", demand="tokens", demand_tokens_per_month=1e8))
    assert none["served"]["system_count"] == 0
    assert "buy none" in none["verdict"][0]


def test_irr_and_npv_are_those_of_the_table() -> None:
    report = report_of(acquisition="loan", other_capex_usd=10_000)
    data, table = to_json(report)["payback"], report.schedule()
    k = np.arange(1, 49)
    start = -10_000  # the loan pays for machines and spares
    assert data["npv_usd"] == pytest.approx(start + np.sum(table.cash_usd / 1.1 ** (k / 12)), rel=1e-9)
    irr = data["irr_per_year"]
    if irr is not None:
        value = start + np.sum(table.cash_usd / (1 + irr) ** (k / 12))
        assert value == pytest.approx(0, abs=1e-4 * np.abs(table.cash_usd).sum())


def test_every_line_shows_numbers_that_give_its_amount() -> None:
    rows = {row["name"]: row for row in cost_lines(report_of(licence_share=0.1))}
    assert rows["Hardware support"]["usd_per_month"] == 600_000 * 0.05 / 12
    assert "600000 USD" in rows["Hardware support"]["formula"]
    assert "0.05" in rows["Hardware support"]["formula"]
    assert "Licence fee" in rows
    for row in rows.values():
        assert row["formula"]
        assert row["source"]


# The link of a report -------------------------------------------------------------------------------------------------


def test_link_shows_the_same_numbers_when_data_have_changed() -> None:
    report = report_of(demand="tokens", demand_tokens_per_month=20e9)
    found = parse("?" + report.link)
    pins = dict(found.pins)
    again = build_report(found.scenario, load_catalog(), pins)
    assert again.days == report.days
    # a dearer machine in the link's figures, as if data/ had been 10 % dearer on that day
    dearer = build_report(found.scenario, load_catalog(), {**pins, "hardware_usd": 660_000.0})
    used = dearer.resolved.find("hardware_usd")
    assert used is not None
    assert (used.origin, used.value) == ("link", 660_000)
    assert float(dearer.result.ownership.capex_usd) == pytest.approx(660_000 * 1.05)


def test_throughput_of_the_link_is_kept() -> None:
    report = build_report(Scenario(), load_catalog(), {"output_tokens_per_s": 620.0})
    # half of 1,240
    assert to_json(report)["throughput"]["output_tokens_per_s"] == pytest.approx(620)
    assert to_json(report)["capacity"]["tokens_per_month"] == pytest.approx(29.035e9 / 2, rel=1e-4)


def test_old_prices_are_told_to_a_late_reader() -> None:
    late = build_report(Scenario(), load_catalog(), today=dt.date(2028, 1, 1))
    assert any("last checked" in w for w in late.resolved.warnings)


# For every scenario ---------------------------------------------------------------------------------------------------

MAY_BE_NEGATIVE = ("npv_usd", "irr_per_year", "saving_usd_per_month", "change_per_year", "growth_per_year")


@SLOWEST
@given(KNOWN_SCENARIO)
def test_json_holds_only_finite_numbers_and_no_negative_where_none_can_be(scenario: Scenario) -> None:
    report = build_report(scenario, load_catalog())
    data = to_json(report)
    assert_finite(data)
    json.dumps(data, allow_nan=False)
    for path, value in numbers_in({k: v for k, v in data.items() if k not in ("scenario", "sources")}):
        if "npv" not in path and not path.endswith(MAY_BE_NEGATIVE) and "tornado" not in path:
            assert value >= 0, path
    assert data["payback"]["status"] in {"pays_back", "never", "immediate", "beyond_horizon", None}
    assert (data["payback"]["days"] is None) == (data["payback"]["status"] in {"never", None})
    for language in LANGUAGES:
        sentences = report.sentences(language)  # type: ignore[arg-type]
        assert sentences
        assert all(s and "{" not in s and "nan" not in s and "inf" not in s.split() for s in sentences)
    found = parse(data["link"])
    assert found.problems == ()
    assert found.scenario == scenario


def fleet(report: Report) -> float:
    return float(np.asarray(report.inputs.system_count))


@SLOW
@given(KNOWN_SCENARIO)
def test_sums_hold(scenario: Scenario) -> None:
    report = build_report(scenario, load_catalog())
    r = report.result
    total = sum(row["usd_per_month"] or 0.0 for row in cost_lines(report))
    assert total == pytest.approx(float(r.usd_per_month), rel=1e-9, abs=1e-9)
    served, left = float(r.served_requests_per_month), float(r.overflow_requests_per_month)
    demand = float(r.demand_requests_per_month)
    assert served + left == pytest.approx(demand, rel=1e-9)
    assert served <= float(r.capacity_requests_per_month) * (1 + 1e-12)
    assert served <= demand * (1 + 1e-9)


@SLOWEST
@given(ORDINARY_SCENARIO)
def test_parts_of_the_capacity_sum_to_the_whole(scenario: Scenario) -> None:
    capacity = to_json(build_report(scenario, load_catalog()))["capacity"]
    parts = sum(value for name, value in capacity.items() if name != "tokens_per_month")
    assert parts == pytest.approx(capacity["tokens_per_month"], rel=1e-12)


@SLOW
@given(ORDINARY_SCENARIO, st.floats(0, 1), st.floats(0, 1))
def test_more_utilization_never_serves_less_and_leaves_rent_and_capacity(
    scenario: Scenario, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    less, more = moved(scenario, utilization=low).result, moved(scenario, utilization=high).result
    assert float(more.served_requests_per_month) >= float(less.served_requests_per_month) * (1 - 1e-12)
    assert float(more.capacity_requests_per_month) == float(less.capacity_requests_per_month)
    assert [float(x.usd_per_month) for x in more.ownership.lines] == [
        float(x.usd_per_month) for x in less.ownership.lines
    ], "rent and all else is paid whether used or not"
    assert later_or_same(less.flow.payback_months, more.flow.payback_months)


def later_or_same(late: Any, early: Any) -> bool:
    return float(late) >= float(early) * (1 - 1e-9) - 1e-9


@SLOW
@given(ORDINARY_SCENARIO.filter(lambda s: s.acquisition != "rent"), st.floats(0, 3e6), st.floats(0, 3e6))
def test_a_dearer_machine_never_pays_back_earlier(scenario: Scenario, one: float, other: float) -> None:
    low, high = sorted((one, other))
    cheap, dear = moved(scenario, hardware_usd=low).result, moved(scenario, hardware_usd=high).result
    assert later_or_same(dear.flow.payback_months, cheap.flow.payback_months)
    assert later_or_same(dear.alternative_flow.payback_months, cheap.alternative_flow.payback_months)


@SLOW
@given(ORDINARY_SCENARIO, st.floats(0, 100), st.floats(0, 100))
def test_a_higher_api_price_never_pays_back_later(scenario: Scenario, one: float, other: float) -> None:
    low, high = sorted((one, other))
    cheap = moved(scenario, output_usd_per_mtok=low).result
    dear = moved(scenario, output_usd_per_mtok=high).result
    assert later_or_same(cheap.flow.payback_months, dear.flow.payback_months)


@SLOW
@given(ORDINARY_SCENARIO)
def test_curves_pass_through_the_headline(scenario: Scenario) -> None:
    report = build_report(scenario, load_catalog())
    for name, others in (
        ("utilization", [0.1, 0.9]),
        ("api_price_change_per_year", [-0.5, 0.5]),
        ("hardware_usd", [1e5, 1e6]),
        ("demand_amount", [1e3, 1e12]),
        ("horizon_months", [12.0, 60.0]),
    ):
        values = np.array([others[0], float(getattr(report.inputs, name)), others[1]])
        curve = evaluate(dataclasses.replace(report.inputs, **{name: values}))
        for field in ("payback_months", "npv_usd", "final_usd", "peak_usd"):
            found = np.broadcast_to(getattr(curve.flow, field), 3)[1]
            assert found == pytest.approx(float(getattr(report.result.flow, field)), rel=1e-9, abs=1e-6), (name, field)
        assert np.broadcast_to(curve.usd_per_month, 3)[1] == pytest.approx(float(report.result.usd_per_month))


@SLOW
@given(ORDINARY_SCENARIO)
def test_saving_is_the_bill_of_the_served_less_the_running_cost(scenario: Scenario) -> None:
    r = build_report(scenario, load_catalog()).result
    bill = float(r.served_requests_per_month) * float(r.baseline_usd_per_request)
    assert float(r.saving_usd_per_month) == pytest.approx(bill - float(r.opex_usd_per_month), rel=1e-9, abs=1e-6)


# Small parts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, None),
        (math.nan, None),
        (math.inf, None),
        (-math.inf, None),
        (np.float64(0.0), 0),
        (-0.0, 0),
        (3.0, 3),
        (0.25, 0.25),
        (np.array([7.5]), 7.5),
        (1e300, 1e300),
    ],
)
def test_number(value: Any, found: Any) -> None:
    assert number(value) == found
    assert type(number(value)) is type(found)


def test_jsonable_leaves_nothing_that_json_cannot_write() -> None:
    given_values = {
        1: np.array([1.0, math.nan]),
        "b": (np.bool_(True), np.int64(3), dt.date(2026, 1, 2)),
        "c": {"d": math.inf, "e": None, "f": True, "g": "x"},
        "h": [np.float64(2.5)],
    }
    expected = {
        "1": [1, None],
        "b": [True, 3, "2026-01-02"],
        "c": {"d": None, "e": None, "f": True, "g": "x"},
        "h": [2.5],
    }
    assert jsonable(given_values) == expected


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("self_host.usd_per_mtok", "USD/Mtok"),
        ("payback.days", "days"),
        ("capacity.tokens_per_month", "tokens/month"),
        ("self_host.opex_usd_per_month", "USD/month"),
        ("throughput.tpot_ms", "ms"),
        ("throughput.ttft_s", "s"),
        ("throughput.requests_per_s", "requests/s"),
        ("memory.usable_bytes", "bytes"),
        ("payback.status", ""),
    ],
)
def test_unit_of(name: str, unit: str) -> None:
    assert unit_of(name) == unit


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"acquisition": "loan", "api_price_change_per_year": -0.2},
        {"demand": "spend", "demand_usd_per_month": 60_000, "demand_growth_per_year": 0.3, "horizon_months": 7},
        {"acquisition": "rent"},
        {"utilization": 0},
        {"system": "hgx-h200-8"},
    ],
    ids=str,
)
def test_the_chart_of_the_cash_flow_has_the_numbers_of_its_table(values: dict[str, Any]) -> None:
    report = report_of(**values)
    table = months(report)
    own, other = report.cumulative_usd(), report.cumulative_usd(alternative=True)
    if table is None:
        assert own is None
        return
    assert own == pytest.approx(table.columns["cumulative_usd"], rel=1e-12)
    assert (other is not None) == table.alternative
    if other is not None:
        assert other == pytest.approx(table.columns["alternative_cumulative_usd"], rel=1e-12)
