"""Choices and catalogue become numbers, and every number keeps where it came from."""

import datetime as dt
import math
from typing import Any

import pytest

from calculators.catalog import load_catalog
from calculators.link import parse
from calculators.profile import FLAT, encode_weights
from calculators.report import build_report
from calculators.resolve import (
    CATALOGUE_FIELDS,
    PRICE_FIELDS,
    Resolved,
    UnresolvedError,
    check_ids,
    live_pins,
    pins_of,
    pins_of_known,
    resolve,
)
from calculators.scenario import SPECS, Scenario

CATALOG = load_catalog()


def resolved(pins: dict[str, float | str] | None = None, **changes: Any) -> Resolved:
    return resolve(Scenario(**changes), CATALOG, pins)


def refusal(**changes: Any) -> str:
    with pytest.raises(UnresolvedError) as error:
        resolved(**changes)
    assert error.value.problem.message == str(error.value)
    return str(error.value)


# Figures --------------------------------------------------------------------------------------------------------------


def test_empty_field_takes_the_catalogues_figure_with_its_source() -> None:
    found = resolved()
    figure = CATALOG.systems["hgx-b300-8"].hardware_usd
    assert figure is not None
    assert found.inputs.hardware_usd == figure.value == 600_000
    used = found.find("hardware_usd")
    assert used is not None
    assert (used.origin, used.source, used.kind, used.low, used.high) == (
        "catalogue",
        figure.source,
        figure.kind,
        figure.low,
        figure.high,
    )


def test_typed_figure_wins_over_the_link_and_the_link_over_the_catalogue() -> None:
    pinned = resolved({"hardware_usd": 500_000.0})
    used = pinned.find("hardware_usd")
    assert used is not None
    assert (pinned.inputs.hardware_usd, used.origin) == (500_000, "link")
    typed = resolved({"hardware_usd": 500_000.0}, hardware_usd=0)
    used = typed.find("hardware_usd")
    assert used is not None
    assert (typed.inputs.hardware_usd, used.origin) == (0, "scenario"), "0 is a value, not 'missing'"


@pytest.mark.parametrize("name", [n for n in CATALOGUE_FIELDS if n != "usd_per_cny"])
def test_zero_or_least_is_taken_as_typed(name: str) -> None:
    least = SPECS[name].minimum
    assert getattr(resolved(**{name: least}).inputs, name) == least


def test_figures_that_are_not_needed_are_not_shown() -> None:
    rented = {u.name for u in resolved(acquisition="rent").used}
    assert "rent_usd_per_accelerator_hour" in rented
    assert rented.isdisjoint({"hardware_usd", "power_kw", "colocation_usd_per_kw_month", "pue"})
    own = {u.name for u in resolved(facility="own").used}
    assert {"pue", "electricity_usd_per_kwh"} <= own
    assert "colocation_usd_per_kw_month" not in own


def test_figure_that_nobody_gives_must_be_typed() -> None:
    system = next(s.id for s in CATALOG.systems.values() if s.rent_usd_per_accelerator_hour is None)
    told = refusal(acquisition="rent", system=system)
    assert told.startswith("No source gives rent_usd_per_accelerator_hour")
    assert resolved(acquisition="rent", system=system, rent_usd_per_accelerator_hour=2).inputs is not None


# Ids ------------------------------------------------------------------------------------------------------------------


def test_unknown_ids_are_refused_with_the_nearest() -> None:
    assert refusal(model="kimi-k33") == "model 'kimi-k33' is not in the catalogue. Did you mean kimi-k3?"
    assert "Did you mean hgx-b300-8?" in refusal(system="hgx-b300")
    assert "is not an offer of the catalogue, so it is unpriced" in refusal(baseline="moonshotai/kimi")
    assert "alternative 'x' is not an offer" in refusal(alternative="x")


def test_check_ids_keeps_the_rest_and_tells() -> None:
    given = Scenario(model="gone", system="hgx-b200-8", baseline="nobody/x", alternative="nobody/y", utilization=0.5)
    found, problems = check_ids(given, CATALOG)
    assert [p.field for p in problems] == ["model", "baseline", "alternative"]
    assert found == Scenario(system="hgx-b200-8", utilization=0.5)
    assert check_ids(Scenario(), CATALOG) == (Scenario(), ())


def test_an_offer_is_never_found_by_a_prefix() -> None:
    # kimi-k3.1-pro is not kimi-k3
    assert "unpriced" in refusal(baseline="moonshotai/kimi-k3.1-pr")
    found = resolved(baseline="moonshotai/kimi-k3.1-pro")
    assert found.baseline.model_id != CATALOG.offers["moonshotai/kimi-k3"].model_id


def test_an_alias_becomes_its_offer() -> None:
    offer = next(o for o in CATALOG.offers.values() if o.aliases)
    found, problems = check_ids(Scenario(baseline=offer.aliases[0].upper()), CATALOG)
    assert problems == ()
    assert found.baseline == offer.id


# Demand and week ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("demand", "field"),
    [
        ("tokens", "demand_tokens_per_month"),
        ("requests", "demand_requests_per_month"),
        ("spend", "demand_usd_per_month"),
        ("seats", "demand_seats"),
    ],
)
def test_demand_needs_its_own_amount(demand: str, field: str) -> None:
    others = {
        "demand_tokens_per_month": 1.0,
        "demand_requests_per_month": 2.0,
        "demand_usd_per_month": 3.0,
        "demand_seats": 4.0,
    }
    told = refusal(demand=demand, **{n: v for n, v in others.items() if n != field})
    assert told.startswith(f"demand is '{demand}', but {field} is empty")
    assert resolved(demand=demand, **others).inputs.demand_amount == others[field]
    assert resolved(demand=demand, **{field: 0}).inputs.demand_amount == 0


def test_imported_week() -> None:
    weights = [2.0] * 84 + [0.0] * 84
    found = resolved(profile="imported", profile_weights=encode_weights(weights))
    assert found.inputs.weights == pytest.approx(weights)
    missing = resolved(profile="imported")
    assert missing.inputs.weights == FLAT
    assert any("none were imported" in w for w in missing.warnings)


# Prices ---------------------------------------------------------------------------------------------------------------


def test_typed_price_replaces_only_itself() -> None:
    found = resolved(output_usd_per_mtok=20)
    assert found.inputs.baseline is not None
    assert (found.inputs.baseline.input_usd_per_mtok, found.inputs.baseline.output_usd_per_mtok) == (3, 20)
    used = {u.name: u for u in found.used}
    assert used["baseline_output_usd_per_mtok"].origin == "scenario"
    assert used["baseline_input_usd_per_mtok"].origin == "catalogue"
    # the alternative is not ours to retype
    assert found.inputs.alternative == resolved().inputs.alternative


def test_reuse_follows_the_bill_until_it_is_set() -> None:
    assert resolved(cached_share=0.6).inputs.serving_cached_share == 0.6
    assert any("Prefix reuse" in w for w in resolved(cached_share=0.6).warnings)
    assert resolved(cached_share=0.6, serving_cached_share=0).inputs.serving_cached_share == 0
    assert not any("Prefix reuse" in w for w in resolved(cached_share=0.6, serving_cached_share=0).warnings)


def test_limits_and_load_test_that_are_empty_are_no_limit_and_not_measured() -> None:
    found = resolved(max_tpot_ms=None)
    assert found.inputs.max_tpot_ms == math.inf
    assert found.inputs.max_ttft_s == math.inf
    assert math.isnan(float(found.inputs.measured_output_tokens_per_s))


def test_request_longer_than_the_model_takes_is_told() -> None:
    limit = CATALOG.models["kimi-k3"].max_context_tokens
    found = resolved(input_tokens=min(limit, 1_048_576), output_tokens=10_000)
    assert any("longer than" in w for w in found.warnings)


def test_missing_batch_price_is_told_when_it_matters() -> None:
    offer = next(o for o in CATALOG.offers.values() if o.service_tier == "standard" and CATALOG.batch_offer(o) is None)
    assert any("no batch price" in w for w in resolved(baseline=offer.id, batch_share=0.5).warnings)
    assert not any("no batch price" in w for w in resolved(baseline=offer.id).warnings)


def test_old_prices_are_told_to_a_late_reader() -> None:
    late = resolve(Scenario(), CATALOG, today=dt.date(2030, 1, 1))
    assert any("days ago" in w for w in late.warnings)
    assert not any("days ago" in w for w in resolved().warnings)


def test_offer_in_another_currency_brings_its_rate() -> None:
    offers = [o for o in CATALOG.offers.values() if any(p.currency == "CNY" for p in o.prices)]
    for offer in offers[:3]:
        used = resolved(baseline=offer.id).find("usd_per_cny")
        assert used is not None
        assert used.date
        mine = resolved(baseline=offer.id, usd_per_cny=0.2)
        twice = resolved(baseline=offer.id, usd_per_cny=0.4)
        if mine.inputs.baseline is not None:
            assert twice.inputs.baseline is not None
            assert twice.inputs.baseline.input_usd_per_mtok == pytest.approx(
                2 * mine.inputs.baseline.input_usd_per_mtok
            )


# Pins -----------------------------------------------------------------------------------------------------------------


def test_pins_are_the_catalogues_figures_and_no_typed_ones() -> None:
    pins = pins_of(resolved(hardware_usd=1, input_usd_per_mtok=1))
    assert "hardware_usd" not in pins
    assert "baseline_input_usd_per_mtok" not in pins
    assert {"power_kw", "baseline_output_usd_per_mtok", "alternative_input_usd_per_mtok", "alternative"} <= set(pins)


def test_pins_of_another_machine_or_offer_no_longer_apply() -> None:
    linked = Scenario()
    pins = dict(parse("?" + build_report(linked, CATALOG).link).pins)
    assert live_pins(pins, linked, linked) == pins
    other = live_pins(pins, linked, Scenario(system="hgx-b200-8"))
    assert "hardware_usd" not in other
    assert "sizing" not in other
    assert "baseline_input_usd_per_mtok" in other
    offer = live_pins(pins, linked, Scenario(baseline="anthropic/claude-opus-5"))
    assert not any(name == f"baseline_{price}" for name in offer for price in PRICE_FIELDS)
    assert "hardware_usd" in offer
    # money that rests on nothing that changed stays; the likely range of the payback rests on everything
    gone = {"payback_p10_days", "payback_p90_days", "range_utilization", "ranges"}
    figures = {name: value for name, value in pins.items() if name not in gone}
    assert live_pins(pins, linked, Scenario(utilization=0.2)) == figures


@pytest.mark.parametrize(
    ("name", "lets_go", "keeps"),
    [
        ("sizing", {"model": "glm-5.2"}, {"system_count": 2}),
        ("sizing", {"input_tokens": 4096}, {"measured_output_tokens_per_s": 900.0}),
        ("sizing", {"max_tpot_ms": 30.0}, {"utilization": 0.4}),
        ("hours", {"profile": "global"}, {"demand_tokens_per_month": 9e9}),
        ("range_hardware_usd", {"system": "hgx-h200-8"}, {"staff_fte": 0.5}),
        ("range_hardware_usd", {"hardware_usd": 1e5}, {"power_kw": 12.0}),
        ("range_staff_fte", {"staff_fte": 0.5}, {"system": "hgx-h200-8"}),
        ("range_throughput_factor", {"kv_dtype": "bf16"}, {"horizon_months": 36}),
        ("ranges", {"acquisition": "rent"}, {"horizon_months": 36}),
        ("ranges", {"staff_fte": 0.5}, {"title": "x"}),
        ("alternative", {"alternative": "moonshotai/kimi-k3"}, {"baseline": "openai/gpt-5"}),
        ("baseline_batch_price", {"baseline": "openai/gpt-5"}, {"system": "hgx-h200-8"}),
    ],
)
def test_a_pin_is_let_go_where_what_it_rests_on_changes_and_only_there(
    name: str, lets_go: dict[str, Any], keeps: dict[str, Any]
) -> None:
    base = {"demand": "tokens", "demand_tokens_per_month": 2e9, "profile": "office-hours", "batch_share": 0.3}
    linked = Scenario(**base)
    pins = dict(parse("?" + build_report(linked, CATALOG).link).pins)
    assert name in pins
    assert name not in live_pins(pins, linked, Scenario(**{**base, **lets_go}))
    assert name in live_pins(pins, linked, Scenario(**{**base, **keeps}))


def test_pins_of_what_data_no_longer_have_are_not_used_for_what_stands_there_instead() -> None:
    linked = Scenario(system="sold-out-8", baseline="gone/offer")
    pins: dict[str, float | str] = {"hardware_usd": 1.0, "baseline_output_usd_per_mtok": 2.0, "pue": 1.2}
    shown, unknown = check_ids(linked, CATALOG)
    assert (shown.system, shown.baseline) == (Scenario().system, Scenario().baseline)
    assert pins_of_known(pins, linked, unknown) == {"pue": 1.2}
    # an alias is the same offer under another name
    alias = next(a for o in CATALOG.offers.values() for a in o.aliases if a != o.id)
    renamed = Scenario(baseline=alias)
    assert pins_of_known(pins, renamed, check_ids(renamed, CATALOG)[1]) == pins


def test_prices_of_an_alternative_that_is_gone_are_no_other_offers_prices() -> None:
    pins: dict[str, float | str] = {"alternative": "gone/offer", "alternative_output_usd_per_mtok": 0.01}
    today, then = resolved(), resolved(pins)
    assert then.alternative == today.alternative
    assert then.inputs.alternative == today.inputs.alternative


def test_a_link_can_say_that_there_was_no_price_and_no_alternative() -> None:
    then = resolved({"baseline_price": "none", "alternative": "none"})
    assert then.inputs.baseline is None
    assert then.alternative is None
    assert {"baseline_price": "none", "alternative": "none"}.items() <= pins_of(then).items()
    typed = resolved({"baseline_price": "none"}, input_usd_per_mtok=1.0, output_usd_per_mtok=2.0).inputs.baseline
    assert typed is not None
    assert (typed.input_usd_per_mtok, typed.output_usd_per_mtok) == (1.0, 2.0)


def test_a_figure_of_the_link_says_so_only_where_it_is_not_todays() -> None:
    pins = pins_of(resolved())
    assert {u.origin for u in resolved(pins).used} == {u.origin for u in resolved().used}
    dearer = resolved({**pins, "baseline_output_usd_per_mtok": 20.0})
    line, same = dearer.find("baseline_output_usd_per_mtok"), dearer.find("baseline_input_usd_per_mtok")
    assert line is not None
    assert (line.value, line.origin) == (20.0, "link")
    assert line.source == f"{dearer.baseline.id}: data/ of the day on which the link was made"
    assert same is not None
    assert same.origin == "catalogue"


def test_an_amount_that_the_demand_does_not_use_is_told() -> None:
    told = resolve(Scenario(demand_tokens_per_month=2e9), load_catalog()).warnings
    assert told == (
        "demand_tokens_per_month is 2,000,000,000, and is not used: the demand is 'fill'. To use it, set demand to "
        "'tokens'.",
    )
    both = Scenario(demand="spend", demand_usd_per_month=95_000, demand_tokens_per_month=2e9, demand_seats=10)
    told = resolve(both, load_catalog()).warnings
    assert [w.split(" is ")[0] for w in told] == ["demand_tokens_per_month", "demand_seats"]
    assert resolve(Scenario(demand="tokens", demand_tokens_per_month=2e9), load_catalog()).warnings == ()


def test_a_rent_for_a_part_of_the_hours_says_what_the_demand_does_then() -> None:
    part = {"acquisition": "rent", "rented_hours_per_month": 264}
    assert "rented hours only" in resolve(Scenario(**part), load_catalog()).warnings[0]
    # a flat week has 264 / 730 = 36.2 % of its tokens in them
    spend = {"demand": "spend", "demand_usd_per_month": 34_126.3}
    assert "63.8 % of its tokens" in resolve(Scenario(**part, **spend), load_catalog()).warnings[0]
    # of office hours more than three quarters are
    office = resolve(Scenario(**part, **spend, profile="office-hours"), load_catalog()).warnings[0]
    assert "21.6 % of its tokens" in office
    for whole in ({"acquisition": "rent"}, {"rented_hours_per_month": 264}):
        assert resolve(Scenario(**whole, **spend), load_catalog()).warnings == ()


def test_a_typed_price_moves_the_batch_price_at_the_listed_ratio() -> None:
    offer = next(o for o in CATALOG.offers.values() if o.service_tier == "standard" and CATALOG.batch_offer(o))
    base: dict[str, Any] = {"baseline": offer.id, "batch_share": 0.5}
    listed = resolve(Scenario(**base), CATALOG).inputs
    assert listed.baseline is not None
    assert listed.baseline_batch is not None
    input_price, output_price = float(listed.baseline.input_usd_per_mtok), float(listed.baseline.output_usd_per_mtok)
    # a third off the input, twice the output: the batch price does the same
    typed = resolve(
        Scenario(**base, input_usd_per_mtok=input_price * 2 / 3, output_usd_per_mtok=output_price * 2), CATALOG
    )
    moved = typed.inputs.baseline_batch
    assert moved is not None
    assert moved.input_usd_per_mtok == pytest.approx(float(listed.baseline_batch.input_usd_per_mtok) * 2 / 3)
    assert moved.output_usd_per_mtok == pytest.approx(float(listed.baseline_batch.output_usd_per_mtok) * 2)
    assert [w for w in typed.warnings if "the typed price is taken for the batch price too" in w]
    line = typed.find("baseline_batch_input_usd_per_mtok")
    assert line is not None
    assert line.note == "moved with the typed price"
    # a link keeps the moved price, and moves it no second time
    pins = pins_of(typed)
    again = resolve(typed.scenario, CATALOG, pins).inputs.baseline_batch
    assert again is not None
    assert again.input_usd_per_mtok == pytest.approx(float(moved.input_usd_per_mtok), rel=1e-12)
    # another typed price lets go of it
    other = typed.scenario.model_copy(update={"input_usd_per_mtok": input_price})
    assert "baseline_batch_input_usd_per_mtok" not in live_pins(pins, typed.scenario, other)
    # without a batch share nothing is told
    assert not [w for w in resolve(Scenario(**{**base, "batch_share": 0}), CATALOG).warnings if "typed price" in w]
