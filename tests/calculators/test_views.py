"""What pages show beside the report agrees with the report."""

import numpy as np
import pytest

from calculators import views
from calculators.catalog import load_catalog
from calculators.report import build_report
from calculators.resolve import resolve
from calculators.scenario import Scenario

CATALOG = load_catalog()


def report(**values: object) -> views.Report:
    return build_report(Scenario.model_validate(values), CATALOG)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"acquisition": "loan"},
        {"acquisition": "rent"},
        {"acquisition": "rent", "rented_hours_per_month": 264},
        {"acquisition": "rent", "rented_hours_per_month": 264, "demand": "spend", "demand_usd_per_month": 34_126.3},
        {"api_price_change_per_year": -0.2},
        {"licence_share": 0.1},
        {"demand": "spend", "demand_usd_per_month": 94_364, "demand_growth_per_year": -0.2},
    ],
    ids=["buy", "loan", "rent", "rented hours", "rented hours of a week", "falling price", "licence", "falling demand"],
)
def test_lines_of_the_cost_curve_cross_at_the_break_even(values: dict[str, object]) -> None:
    told = report(**values)
    curve = views.cost_curve(told)
    assert curve is not None
    if curve.break_even_tokens is None:
        assert told.even.tokens_per_month is None or told.even.tokens_per_month > curve.own_tokens[-1]
        return
    # with a demand that does not grow: running cost + capex / horizon = mean API price x volume
    own = float(np.interp(curve.break_even_tokens, curve.own_tokens[:2], curve.own_usd[:2]))
    api = float(np.interp(curve.break_even_tokens, curve.api_tokens, curve.api_usd))
    assert own == pytest.approx(api, rel=1e-9)
    assert curve.break_even_usd == pytest.approx(api, rel=1e-9)


def test_the_staircase_adds_whole_systems() -> None:
    curve = views.cost_curve(report(system_count=2))
    assert curve is not None
    assert curve.own_counts[:4].tolist() == [2, 2, 3, 3]
    one, two = curve.own_usd[0], curve.own_usd[2]
    assert two > one
    assert curve.own_tokens[1] == pytest.approx(curve.capacity_tokens)


@pytest.mark.parametrize("values", [{"system": "hgx-b200-8"}, {"system_count": 0}, {"utilization": 0}])
def test_no_curve_where_nothing_can_be_served(values: dict[str, object]) -> None:
    assert views.cost_curve(report(**values)) is None


def test_machines_agree_with_their_own_reports() -> None:
    chosen = report(utilization=0.6)
    rows = {row.id: row for row in views.machines(chosen.scenario, CATALOG, "en", chosen)}
    assert set(rows) == set(CATALOG.systems)
    for system in ("hgx-b300-8", "mi355x-8", "hgx-h200-8"):
        alone = build_report(chosen.scenario.model_copy(update={"system": system}), CATALOG)
        assert (rows[system].status, rows[system].days) == (alone.status, alone.days)
        assert rows[system].why == alone.reason
    assert not rows["hgx-h200-8"].fits
    assert rows["hgx-h200-8"].usd_per_mtok is None


def test_what_was_typed_for_one_machine_stays_with_it() -> None:
    chosen = report(hardware_usd=1.0)
    rows = {row.id: row for row in views.machines(chosen.scenario, CATALOG, "en", chosen)}
    listed = CATALOG.systems["mi355x-8"].hardware_usd
    assert listed is not None
    assert rows["hgx-b300-8"].capex_usd == pytest.approx(1.05)  # 1 USD and 5 % spares
    assert rows["mi355x-8"].capex_usd == pytest.approx(listed.value * 1.05)


def test_ways_to_own_agree_with_their_own_reports() -> None:
    chosen = report()
    ways = views.ways_to_own(chosen.scenario, CATALOG, "en", chosen)
    for way in views.WAYS:
        option = ways[way]
        assert not isinstance(option, str)
        alone = report(acquisition=way)
        assert option.usd_per_month == pytest.approx(float(alone.result.usd_per_month), rel=1e-12)


def test_what_nobody_serves_has_no_api_bill() -> None:
    # 8xH200 cannot hold the model, no machine serves nothing, and idle ones do not either: no bill of 0 USD
    for values in ({"system": "hgx-h200-8"}, {"system_count": 0}, {"utilization": 0}):
        assert views.api_cost_of_served_usd_per_month(report(**values)) == (None, None)
    base, other = views.api_cost_of_served_usd_per_month(report())
    # 94,364.38 USD at 3 and 15 USD per million, a sixth less at 2.5 and 12.5
    assert base == pytest.approx(94_364.3844)
    assert other == pytest.approx(94_364.3844 * 5 / 6)


def test_standings_name_the_figure_behind_an_empty_field() -> None:
    found = views.standings(CATALOG, "hgx-b300-8", "moonshotai/kimi-k3")
    used = {u.name: u for u in resolve(Scenario(), CATALOG).used}
    assert found["hardware_usd"].value == used["hardware_usd"].value
    assert found["input_usd_per_mtok"].value == used["baseline_input_usd_per_mtok"].value
    assert all(s.source for s in found.values())


def test_moved_data_are_noticed_and_equal_data_are_not() -> None:
    now = report()
    assert not views.has_moved(now, report())
    assert views.has_moved(build_report(Scenario(), CATALOG, {"hardware_usd": 300_000.0}), now)
    # against an API that gives its tokens away nothing pays back
    free = {"baseline_input_usd_per_mtok": 0.0, "baseline_output_usd_per_mtok": 0.0}
    never = build_report(Scenario(), CATALOG, free)
    assert never.status == "never"
    assert views.has_moved(never, now)


def test_a_bound_is_never_named_the_best() -> None:
    report = build_report(Scenario(), load_catalog())
    options = views.machines(report.scenario, load_catalog())
    bound = [o for o in options if o.evidence == "uncalibrated" and o.days is not None]
    known = [o for o in options if o.evidence != "uncalibrated" and o.days is not None]
    assert bound
    assert known
    # with only the bound and a slower known machine, the known one is named
    slowest = max(known, key=lambda o: o.days or 0.0)
    fastest, cheapest = views.best([*bound, slowest])
    assert fastest == cheapest == slowest


# How many machines, where the scenario leaves it open -----------------------------------------------------------------


def test_an_open_number_of_machines_to_fill_is_the_smallest_that_holds_the_model() -> None:
    """'Fill' names no demand to weigh costs by, so there is no curve: as many as hold the weights, at least one."""
    chosen = report(system_count="auto")
    for known in (None, chosen):
        rows = {row.id: row for row in views.machines(chosen.scenario, CATALOG, "en", known)}
        # 1,560.9e9 bytes of weights: eight H200 of 141 GB hold 1,015 GB of them, eight H100 half as much
        counts = {s: rows[s].system_count for s in ("hgx-b300-8", "hgx-b200-8", "hgx-h200-8", "hgx-h100-8")}
        assert counts == {"hgx-b300-8": 1, "hgx-b200-8": 2, "hgx-h200-8": 2, "hgx-h100-8": 4}
        assert all(rows[s].fits for s in counts)
        assert all(row.system_count >= 1 for row in rows.values())


def test_an_open_number_is_one_where_no_number_holds_the_request() -> None:
    # 1,048,576 + 1,024 tokens are more than the model's context, on any number of machines
    asked = Scenario(system_count="auto", input_tokens=1_048_576)
    rows = views.machines(asked, CATALOG)
    assert {(row.system_count, row.fits, row.usd_per_mtok) for row in rows} == {(1, False, None)}
    assert all("A request of 1,049,600 tokens does not fit" in row.why for row in rows)


def test_an_open_number_with_a_demand_is_the_cheapest_of_each_machine() -> None:
    # 94,364 USD of calls fill one 8xB300 at 75 %; 3.5 times as much is cheapest on four (see test_hybrid)
    chosen = report(system_count="auto", demand="spend", demand_usd_per_month=3.5 * 94_364.3844)
    rows = {row.id: row for row in views.machines(chosen.scenario, CATALOG)}
    assert rows["hgx-b300-8"].system_count == 4
    assert rows["hgx-b300-8"].days == chosen.days
    for system in ("hgx-h200-8", "mi355x-8"):
        alone = build_report(chosen.scenario.model_copy(update={"system": system}), CATALOG)
        assert rows[system].system_count == int(alone.inputs.system_count)
    ways = views.ways_to_own(chosen.scenario, CATALOG)
    for way in views.WAYS:
        option = ways[way]
        assert not isinstance(option, str)
        alone = build_report(chosen.scenario.model_copy(update={"acquisition": way}), CATALOG)
        assert option.system_count == int(alone.inputs.system_count)
        assert option.capex_usd == pytest.approx(float(alone.result.ownership.capex_usd))


@pytest.mark.parametrize(
    ("count", "said"), [("auto", "No number of 8xB300 server costs less than"), (0, "No machine is planned, so all of")]
)
def test_no_machine_by_cost_and_no_machine_by_choice_differ(count: int | str, said: str) -> None:
    asked = Scenario.model_validate({"system_count": count, "demand": "spend", "demand_usd_per_month": 500})
    known = build_report(asked, CATALOG)
    for chosen in (None, known):
        row = next(r for r in views.machines(asked, CATALOG, "en", chosen) if r.id == asked.system)
        assert row.system_count == 0
        assert row.why.startswith(said)
        option = views.ways_to_own(asked, CATALOG, "en", chosen)["buy"]
        assert not isinstance(option, str)
        assert option.why.startswith(said)


def test_the_staircase_adds_as_many_systems_as_hold_the_model() -> None:
    # two 8xH200 hold the weights, one more alone would serve nothing
    curve = views.cost_curve(report(system="hgx-h200-8", system_count=2))
    assert curve is not None
    assert curve.own_counts.tolist() == [2, 2, 4, 4]
    assert curve.own_tokens[3] == pytest.approx(2 * curve.capacity_tokens)
