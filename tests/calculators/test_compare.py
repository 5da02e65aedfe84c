import pytest

from calculators.catalog import load_catalog
from calculators.compare import RESULTS, CompareError, Comparison, compare
from calculators.report import build_report, to_json
from calculators.scenario import Scenario

BASE = "v=1&title=Base"


def row(found: Comparison, field: str) -> tuple[object, ...]:
    return next(r.values for r in (*found.inputs, *found.results) if r.field == field)


def test_shows_only_the_inputs_that_differ() -> None:
    found = compare([BASE, "?utilization=0.5&title=Half", "https://host/app?acquisition=rent"], load_catalog())
    assert found.labels == ("Base", "Half", "Scenario 3")
    assert row(found, "utilization") == (0.75, 0.5, 0.75)
    assert row(found, "acquisition") == ("buy", "buy", "rent")
    # what renting does not use is not there for it; the machine's price is the catalogue's for the others
    assert row(found, "hardware_usd") == (600000, 600000, None)
    fields = [r.field for r in found.inputs]
    assert "title" not in fields
    assert "model" not in fields
    assert "baseline_output_usd_per_mtok" not in fields
    assert len(fields) == len(set(fields))
    by_name = {r.field: r for r in found.inputs}
    assert (by_name["utilization"].title, by_name["utilization"].unit) == ("Utilization", "share")


def test_prices_of_another_offer_are_inputs_that_differ() -> None:
    found = compare([BASE, "baseline=anthropic/claude-sonnet-4-5"], load_catalog())
    assert row(found, "baseline") == ("moonshotai/kimi-k3", "anthropic/claude-sonnet-4-5")
    assert any(r.field.startswith("baseline_") for r in found.inputs)


def test_results_are_those_of_each_report() -> None:
    catalog = load_catalog()
    one = build_report(Scenario(), catalog)
    two = build_report(Scenario(hardware_usd=450_000.0), catalog)
    found = compare([one, two], catalog)
    assert [r.field for r in found.results] == [path for path, _ in RESULTS]
    for side, report in enumerate((one, two)):
        data = to_json(report)
        for line in found.results:
            value = data
            for key in line.field.split("."):
                value = value[key]
            assert line.values[side] == value, line.field
    better = {r.field: r.best for r in found.results}
    # the cheaper machine is better in capex and payback; capacity is the same, so neither is better
    assert better["self_host.capex_usd"] == (1,)
    assert better["payback.days"] == (1,)
    assert better["payback.npv_usd"] == (1,)
    assert better["capacity.tokens_per_month"] == ()
    units = {r.field: r.unit for r in found.results}
    assert units["payback.days"] == "days"
    assert units["self_host.usd_per_mtok"] == "USD/Mtok"
    assert units["payback.status"] == ""
    assert all(units[path] for path, _ in RESULTS if path.endswith(("usd", "month", "year", "days", "utilization")))


def test_a_payback_beats_never() -> None:
    found = compare([BASE, "utilization=0.02"], load_catalog())
    assert row(found, "payback.status") == ("pays_back", "never")
    assert row(found, "payback.days")[1] is None
    assert next(r.best for r in found.results if r.field == "payback.days") == (0,)


def test_each_link_keeps_its_problems_and_the_others_stay() -> None:
    found = compare(["utilization=7&nonsense=1", BASE, "demand=spend", "model=no-such-model"], load_catalog())
    told = [[p.field for p in side.problems] for side in found.sides]
    assert sorted(told[0]) == ["nonsense", "utilization"]
    assert told[1] == []
    # spend without an amount cannot be resolved: it keeps its place and says what is missing
    assert told[2] == ["demand_usd_per_month"]
    assert found.sides[2].report is None
    assert row(found, "payback.days")[2] is None
    assert told[3] == ["model"]
    assert found.sides[3].report is not None
    assert row(found, "payback.days")[0] == row(found, "payback.days")[1]


def test_pinned_figures_of_a_link_hold() -> None:
    report = build_report(Scenario(), load_catalog())
    assert "pins=hardware_usd%3A600000" in report.link
    older = report.link.replace("hardware_usd%3A600000", "hardware_usd%3A550000")
    found = compare([report.link, older], load_catalog())
    assert row(found, "hardware_usd") == (600000, 550000)
    # 550,000 x 1.05 spares
    assert row(found, "self_host.capex_usd") == (630000, 577500)


def test_same_title_twice_gets_numbers() -> None:
    assert compare([BASE, BASE], load_catalog()).labels == ("Base (1)", "Base (2)")
    assert compare([BASE, BASE], load_catalog()).inputs == ()


@pytest.mark.parametrize("count", [0, 1, 5])
def test_two_to_four(count: int) -> None:
    with pytest.raises(CompareError, match=rf"^{count} scenarios were given; compare 2 to 4\.$"):
        compare([BASE] * count, load_catalog())


def best(found: Comparison, field: str) -> tuple[int, ...]:
    return next(r.best for r in found.results if r.field == field)


def test_four_scenarios_and_a_tie() -> None:
    # a half costs more per token than three quarters, and a rented machine pays nothing back
    found = compare([BASE, "utilization=0.5", BASE, "utilization=0.7"], load_catalog())
    assert found.labels == ("Base (1)", "Scenario 2", "Base (3)", "Scenario 4")
    assert best(found, "payback.days") == (0, 2)
    assert best(found, "payback.npv_usd") == (0, 2)
    assert best(found, "self_host.usd_per_mtok") == (0, 2)
    assert best(found, "self_host.capex_usd") == ()
    assert best(found, "payback.status") == ()
    # neither end of a bill or of a fit is better
    assert best(found, "serverless.baseline.usd_per_month") == ()


def test_what_is_not_known_is_not_ranked_and_never_is_last() -> None:
    # one 8xB200 does not hold the model: nobody knows its payback, so a single known one is not the better
    unknown = compare([BASE, "system=hgx-b200-8"], load_catalog())
    assert row(unknown, "payback.status") == ("pays_back", None)
    assert row(unknown, "payback.days")[1] is None
    assert best(unknown, "payback.days") == ()
    # against both offers: 5/6 of the bill pays back as well, 2 % of load never does
    never = compare(["utilization=0.02", BASE, "utilization=0.5"], load_catalog())
    for part in ("payback", "alternative_payback"):
        assert row(never, f"{part}.status") == ("never", "pays_back", "pays_back")
        assert best(never, f"{part}.days") == (1,)
    both = compare(["utilization=0.02", "utilization=0.03"], load_catalog())
    assert best(both, "payback.days") == ()
    days = next(r for r in both.results if r.field == "payback.days")
    assert (days.values, days.unit) == ((None, None), "")


def test_a_scenario_that_cannot_be_resolved_is_never_better_and_has_no_figures() -> None:
    found = compare(["demand=spend", BASE, "utilization=0.5"], load_catalog())
    assert best(found, "payback.days") == (1,)
    assert row(found, "self_host.capex_usd") == (None, 630_000, 630_000)
    assert row(found, "hardware_usd") == (None, 600_000, 600_000)
    assert row(found, "demand") == ("spend", "fill", "fill")
    assert found.sides[0].label == "Scenario 1"


def test_never_against_one_offer_is_not_never_against_the_other() -> None:
    # 13,500 USD of calls pay 11,591 of running cost and the machine in 330 months; 5/6 of them, 11,250, never do
    found = compare(["demand=spend&demand_usd_per_month=13500", BASE], load_catalog())
    assert row(found, "payback.status") == ("beyond_horizon", "pays_back")
    assert row(found, "alternative_payback.status") == ("never", "pays_back")
    assert best(found, "payback.days") == best(found, "alternative_payback.days") == (1,)
