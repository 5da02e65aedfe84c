"""How sure: ranges, draws, probabilities and the tornado."""

import dataclasses
import json
import math
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from calculators.catalog import Catalog, CatalogError, load_catalog
from calculators.evaluate import evaluate
from calculators.records import Figure
from calculators.report import Report, build_report
from calculators.scenario import Scenario
from calculators.texts import LANGUAGES, catalogue
from calculators.uncertainty import (
    DRAWS,
    Bar,
    Uncertain,
    Uncertainty,
    cash_band,
    load_rules,
    pert_quantile,
    summarise,
    uncertain_inputs,
    uniforms,
)

# Costs 10,000 USD a month in all: no colocation, support or staff, 10,000 of other running costs.
LOSING = {
    "hardware_usd": 600_000.0,
    "demand": "spend",
    "demand_usd_per_month": 8_000.0,
    "other_opex_usd_per_month": 10_000.0,
    "colocation_usd_per_kw_month": 0.0,
    "support_share_per_year": 0.0,
    "staff_fte": 0.0,
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def told(catalog: Catalog, **fields: object) -> tuple[Report, Uncertainty]:
    report = build_report(Scenario(**fields), catalog)
    found = summarise(report.resolved, report.result, catalog)
    assert found is not None
    return report, found


def without_width(report: Report, catalog: Catalog) -> tuple[Report, Catalog]:
    """The same scenario where every figure and the throughput are known exactly."""

    def exact(figure: Figure | None) -> Figure | None:
        return None if figure is None else figure.model_copy(update={"low": figure.value, "high": figure.value})

    names = ("hardware_usd", "power_kw", "rent_usd_per_accelerator_hour")
    system = report.resolved.system
    system = system.model_copy(update={name: exact(getattr(system, name)) for name in names})
    opex = MappingProxyType({key: exact(figure) for key, figure in catalog.opex.items()})
    one = np.ones(())
    sizing = dataclasses.replace(report.result.sizing, low_factor=one, high_factor=one)
    known = dataclasses.replace(
        report,
        resolved=dataclasses.replace(report.resolved, system=system),
        result=dataclasses.replace(report.result, sizing=sizing),
    )
    return known, dataclasses.replace(catalog, opex=opex)


def test_losing_2000_a_month_never_pays_back(catalog: Catalog) -> None:
    # W7: API 8,000 - running 10,000 = -2,000 a month, at any throughput and with any falling price.
    report, found = told(catalog, **LOSING)
    assert report.status == "never"
    assert float(report.result.saving_usd_per_month) == pytest.approx(-2_000)
    assert found.probability_never == 1
    assert found.probability_pays_back == 0
    assert math.isinf(found.payback_days.p10)
    assert found.to_json()["payback_days"] == {"p10": None, "p50": None, "p90": None}


def test_a_trivially_good_purchase_never_fails(catalog: Catalog) -> None:
    _, found = told(catalog, hardware_usd=1_000.0, output_usd_per_mtok=500.0)
    assert found.probability_never == 0
    assert found.probability_pays_back == 1


def test_without_any_width_all_percentiles_are_the_headline(catalog: Catalog) -> None:
    report, known = without_width(build_report(Scenario(), catalog), catalog)
    found = summarise(report.resolved, report.result, known)
    assert found is not None
    assert found.inputs == ()
    headline = float(report.result.flow.payback_days)
    assert (found.payback_days.p10, found.payback_days.p50, found.payback_days.p90) == (headline,) * 3
    npv = float(report.result.flow.npv_usd)
    assert (found.npv_usd.p10, found.npv_usd.p50, found.npv_usd.p90) == (npv,) * 3
    assert found.probability_pays_back == 1
    assert found.fragile() is None


@pytest.mark.parametrize("acquisition", ["buy", "loan", "rent"])
def test_tornado_ends_equal_evaluate_at_those_ends(catalog: Catalog, acquisition: str) -> None:
    report, found = told(catalog, acquisition=acquisition, demand="spend", demand_usd_per_month=60_000.0)
    assert {bar.input.name for bar in found.tornado} == {u.name for u in found.inputs}
    for bar in found.tornado:
        for value, days, npv in (
            (bar.input.low, bar.payback_days_at_low, bar.npv_usd_at_low),
            (bar.input.high, bar.payback_days_at_high, bar.npv_usd_at_high),
        ):
            # everything else at its typical value, sized anew
            flow = evaluate(dataclasses.replace(report.inputs, **{bar.input.name: value})).flow
            assert days == pytest.approx(float(flow.payback_days), rel=1e-12)
            assert npv == pytest.approx(float(flow.npv_usd), rel=1e-9)


def test_tornado_is_ranked_by_the_swing_and_never_comes_first(catalog: Catalog) -> None:
    _, found = told(catalog, demand="spend", demand_usd_per_month=40_000.0)
    swings = [bar.rank for bar in found.tornado]
    assert swings == sorted(swings, reverse=True)
    # at half the price each year this one never pays back: the largest swing of all
    assert found.tornado[0].input.name == "api_price_change_per_year"
    assert math.isinf(found.tornado[0].swing_days)
    first, second = (bar.input.title() for bar in found.tornado[:2])
    assert found.fragile() == (first, second)


def test_both_ends_never_is_no_swing_of_the_payback() -> None:
    one = Uncertain("power_kw", "PERT", 1.0, 2.0, 3.0, "source", "2026", "estimate")
    assert Bar(one, math.inf, math.inf, -3.0, -1.0).swing_days == 0
    assert Bar(one, math.inf, math.inf, -3.0, -1.0).rank == (0.0, 2.0)


def test_ten_thousand_draws_have_converged(catalog: Catalog) -> None:
    report, found = told(catalog)
    many = summarise(report.resolved, report.result, catalog, 10 * DRAWS)
    assert many is not None
    for name in ("p10", "p50", "p90"):
        assert getattr(found.payback_days, name) == pytest.approx(getattr(many.payback_days, name), rel=0.01)
        assert getattr(found.npv_usd, name) == pytest.approx(getattr(many.npv_usd, name), rel=0.01)
    # the standard error of a share of 10,000 plain draws is at most 0.5 / sqrt(10,000) = 0.005
    assert found.probability_pays_back == pytest.approx(many.probability_pays_back, abs=0.005)
    _, tight = told(catalog, demand="spend", demand_usd_per_month=40_000.0)
    assert 0.05 < tight.probability_never < 0.5
    report, _ = told(catalog, demand="spend", demand_usd_per_month=40_000.0)
    more = summarise(report.resolved, report.result, catalog, 10 * DRAWS)
    assert more is not None
    assert tight.probability_never == pytest.approx(more.probability_never, abs=0.005)


def test_everyone_sees_the_same_figures(catalog: Catalog) -> None:
    _, first = told(catalog)
    uniforms.cache_clear()
    _, second = told(catalog)
    assert first.to_json() == second.to_json()


def test_a_small_change_moves_the_figures_a_little(catalog: Catalog) -> None:
    # common random numbers: 0.1 % on a typed price moves each percentile by less than 0.5 %
    _, one = told(catalog, hardware_usd=600_000.0)
    _, other = told(catalog, hardware_usd=600_600.0)
    for name in ("p10", "p50", "p90"):
        before, after = getattr(one.payback_days, name), getattr(other.payback_days, name)
        assert before < after < before * 1.005


def test_each_input_has_a_stream_of_its_own_with_one_draw_a_stratum() -> None:
    u = uniforms("hardware_usd")
    assert u.shape == (DRAWS,)
    assert np.array_equal(np.sort(np.floor(u * DRAWS)), np.arange(DRAWS))
    assert abs(np.corrcoef(u, uniforms("power_kw"))[0, 1]) < 0.05


def test_pert_closed_forms() -> None:
    u = np.array([0.1, 0.5, 0.9])
    # mode at the high end: beta(5, 1), whose distribution function is x^5
    assert pert_quantile(u, -0.5, 0.0, 0.0) == pytest.approx(-0.5 + 0.5 * u**0.2, abs=1e-6)
    # mode at the low end: beta(1, 5), 1 - (1 - x)^5
    assert pert_quantile(u, 2.0, 2.0, 12.0) == pytest.approx(2 + 10 * (1 - (1 - u) ** 0.2), abs=1e-5)
    # symmetric: the median is the typical value
    assert float(pert_quantile(0.5, 0.0, 50.0, 100.0)) == pytest.approx(50, abs=1e-9)
    # mean (450 + 4 x 600 + 660) / 6 = 585
    assert pert_quantile(uniforms("x"), 450.0, 600.0, 660.0).mean() == pytest.approx(585, rel=1e-4)
    assert pert_quantile(u, 7.0, 7.0, 7.0).tolist() == [7.0, 7.0, 7.0]


def test_pert_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    u = np.linspace(0.001, 0.999, 101)
    # (0.75 - 0.3) / (0.85 - 0.3) = 9/11: beta(1 + 36/11, 1 + 8/11)
    expected = 0.3 + 0.55 * stats.beta.ppf(u, 1 + 36 / 11, 1 + 8 / 11)
    # the inverse is interpolated on 2,048 cells: within a tenth of a cell
    assert pert_quantile(u, 0.3, 0.75, 0.85) == pytest.approx(expected, abs=0.1 * 0.55 / 2048)


def test_the_throughput_band_is_an_80_percent_band() -> None:
    band = Uncertain("throughput_factor", "lognormal", 0.8, 1.0, 1.5, "source", "", "derived")
    values = band.draws(DRAWS)
    assert np.mean(values < 0.8) == pytest.approx(0.1, abs=0.0002)
    assert np.mean(values > 1.5) == pytest.approx(0.1, abs=0.0002)
    # median sqrt(0.8 x 1.5) = 1.0954
    assert np.median(values) == pytest.approx(math.sqrt(1.2), rel=1e-3)


def ranges(catalog: Catalog, **fields: object) -> dict[str, Uncertain]:
    report = build_report(Scenario(**fields), catalog)
    return {u.name: u for u in uncertain_inputs(report.resolved, report.result, catalog)}


def test_ranges_come_from_the_data(catalog: Catalog) -> None:
    found = ranges(catalog)
    price = catalog.systems["hgx-b300-8"].hardware_usd
    assert price is not None
    assert (found["hardware_usd"].low, found["hardware_usd"].high) == (price.low, price.high)
    assert found["hardware_usd"].source == price.source
    assert found["utilization"].low == catalog.opex["utilization"].low
    assert "demand_growth_per_year" not in found
    assert "electricity_usd_per_kwh" not in found
    assert "electricity_usd_per_kwh" in ranges(catalog, facility="own")
    assert "loan_rate" in ranges(catalog, acquisition="loan")
    assert set(ranges(catalog, acquisition="rent")).isdisjoint({"hardware_usd", "power_kw", "residual_share"})


def test_what_a_person_typed_has_no_width_unless_it_is_a_forecast(catalog: Catalog) -> None:
    typed = ranges(catalog, hardware_usd=500_000.0, staff_fte=0.5, power_kw=14.0, support_share_per_year=0.04)
    assert set(typed).isdisjoint({"hardware_usd", "staff_fte", "power_kw", "support_share_per_year"})
    # a planned load of 60 % instead of 75 %: 0.3 x 0.6 / 0.75 = 0.24 to 0.85 x 0.6 / 0.75 = 0.68
    load = ranges(catalog, utilization=0.6)["utilization"]
    assert (load.low, load.typical, load.high) == pytest.approx((0.24, 0.6, 0.68))
    assert ranges(catalog, utilization=0.95)["utilization"].high == 1.0
    # the data say -50 % to 0; a person who expects +10 % widens it
    change = ranges(catalog, api_price_change_per_year=0.1)["api_price_change_per_year"]
    assert (change.low, change.typical, change.high) == (-0.5, 0.1, 0.1)
    # down time 1 % (0.1 to 3 %) in the data; half as much typed, half as much at both ends
    up = ranges(catalog, availability=0.995)["availability"]
    assert (up.low, up.high) == pytest.approx((0.985, 0.9995))
    # a planned growth of 20 % may not come, or come as 30 %
    plan = {"demand": "spend", "demand_usd_per_month": 50_000.0}
    growth = ranges(catalog, demand_growth_per_year=0.2, **plan)["demand_growth_per_year"]
    assert (growth.low, growth.typical, growth.high) == pytest.approx((0, 0.2, 0.3))
    shrink = ranges(catalog, demand_growth_per_year=-0.2, **plan)["demand_growth_per_year"]
    assert (shrink.low, shrink.typical, shrink.high) == pytest.approx((-0.3, -0.2, 0))


def test_a_price_pinned_by_a_link_keeps_its_range(catalog: Catalog) -> None:
    report = build_report(Scenario(), catalog, {"hardware_usd": 300_000.0})
    found = {u.name: u for u in uncertain_inputs(report.resolved, report.result, catalog)}
    # half of today's 600,000, so half of 450,000 and 660,000
    assert (found["hardware_usd"].low, found["hardware_usd"].high) == (225_000, 330_000)


def test_no_payback_no_uncertainty(catalog: Catalog) -> None:
    report = build_report(Scenario(system="hgx-h200-8"), catalog)
    assert report.status is None
    assert summarise(report.resolved, report.result, catalog) is None


def test_histograms_hold_the_draws(catalog: Catalog) -> None:
    _, found = told(catalog)
    assert found.payback_histogram.shares.sum() == pytest.approx(found.probability_pays_back)
    # the NPV histogram leaves out half a per cent on each side
    assert 0.98 < found.npv_histogram.shares.sum() <= 1


def test_json_is_finite_and_complete(catalog: Catalog) -> None:
    _, found = told(catalog, demand="spend", demand_usd_per_month=40_000.0)
    shown = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert {"payback_days", "probability_pays_back", "tornado"} <= set(shown)
    assert shown["payback_days"]["p90"] is None
    assert shown["tornado"][0]["payback_days_at_low"] is None
    assert shown["tornado"][0]["unit"] == "share/year"


def test_every_rule_has_its_figure_and_its_texts(catalog: Catalog) -> None:
    rules, own = load_rules()
    assert len({rule.name for rule in rules}) == len(rules)
    for rule in rules:
        where, _, key = rule.figure.partition(".")
        if where == "opex":
            figure = catalog.opex[key]
            assert figure.low is not None, rule.name
            assert figure.high is not None, rule.name
        elif where not in ("system", "throughput"):
            assert rule.figure in own
        assert set(catalogue()[f"uncertain.{rule.name}"]) == set(LANGUAGES)


def test_a_rule_for_an_unknown_input_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "distributions.toml"
    file.write_text('[[input]]\nname = "weather"\ndistribution = "PERT"\nfigure = "opex.pue"\ntyped = "fixed"\n')
    with pytest.raises(CatalogError, match="weather"):
        load_rules(str(file))


def test_cash_band_encloses_the_middle_and_vanishes_with_the_widths() -> None:
    report = build_report(Scenario(), load_catalog())
    assert report.uncertainty is not None
    low, high = cash_band(report.inputs, report.result, report.uncertainty.inputs)
    assert low.shape == high.shape == (49,)
    assert np.all(low <= high)
    # the start is minus the capex, which varies with the price of the machine and the spares: 450,000 to 660,000
    assert -660_000 * 1.08 < low[0] < high[0] < -450_000
    # half of the draws pay back before the 50th percentile: at that month the band holds zero
    month = int(report.uncertainty.payback_days.p50 * 12 / 365)
    assert low[month] < 0 < high[month + 1]
    none = cash_band(report.inputs, report.result, ())
    assert none[0] == pytest.approx(none[1])
    assert none[0][1:] == pytest.approx(report.schedule().cumulative_usd)
