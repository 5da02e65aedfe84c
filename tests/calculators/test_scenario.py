"""The scenario's declarations: every field complete, every bound enforced with a sentence that names it."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from calculators.scenario import AMOUNT_OF, GROUPS, SPECS, VERSION, FieldSpec, Problem, Scenario, from_values
from tests.strategies import ANY_SCENARIO, any_value

BOUNDED = [spec for spec in SPECS.values() if spec.minimum is not None]
NUMERIC = [spec.name for spec in BOUNDED]


def one(name: str, value: object) -> tuple[Scenario, tuple[Problem, ...]]:
    return from_values({name: value})


def outside(spec: FieldSpec, side: str) -> float:
    """The nearest value that the bound excludes."""
    assert spec.minimum is not None
    assert spec.maximum is not None
    if spec.integer:
        return spec.minimum - 1 if side == "low" else spec.maximum + 1
    return math.nextafter(spec.minimum, -math.inf) if side == "low" else math.nextafter(spec.maximum, math.inf)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())
def test_field_says_what_it_is(spec: FieldSpec) -> None:
    assert spec.title
    assert spec.title[0].isupper()
    assert spec.help.endswith(".")
    assert spec.group in GROUPS
    assert spec.widget in {"number", "share", "slider", "amount", "choice", "count", "text", "hidden"}
    if spec.minimum is not None:
        assert spec.unit, "a number has a unit"
        assert spec.maximum is not None, "a number has two bounds"
    if spec.optional and spec.minimum is not None and spec.name not in AMOUNT_OF.values():
        assert spec.catalogue, "an empty field says what it stands for"
    if spec.unit == "share" or spec.unit.startswith("share/"):
        assert spec.scale == 100


def test_every_group_has_fields_and_the_first_holds_the_five_that_matter() -> None:
    assert {spec.group for spec in SPECS.values()} == set(GROUPS)
    first = {spec.name for spec in SPECS.values() if spec.group == "first"}
    assert {"model", "system", "baseline", "utilization", "demand"} <= first


def test_defaults_are_those_of_the_design() -> None:
    s = Scenario()
    assert (s.model, s.system, s.system_count) == ("kimi-k3", "hgx-b300-8", 1)
    assert (s.input_tokens, s.output_tokens, s.cached_share, s.serving_cached_share) == (8192, 1024, 0, None)
    assert (s.demand, s.baseline, s.alternative) == ("fill", "moonshotai/kimi-k3", None)
    assert (s.utilization, s.availability, s.kv_dtype, s.gpu_memory_utilization) == (0.75, 0.99, "fp8", 0.90)
    assert (s.max_tpot_ms, s.max_ttft_s, s.accepted_tokens_per_step) == (60, None, 1)
    assert (s.acquisition, s.hardware_usd, s.spares_share, s.rented_hours_per_month) == ("buy", None, 0.05, 730)
    assert (s.loan_rate, s.loan_months, s.facility) == (0.13, 36, "colocation")
    assert (s.support_share_per_year, s.staff_fte, s.staff_usd_per_year) == (0.05, 0.25, 300_000)
    assert (s.horizon_months, s.discount_rate, s.residual_share, s.target_payback_days) == (48, 0.10, 0.17, 365)
    assert VERSION == 1


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())
def test_default_obeys_its_own_bounds(spec: FieldSpec) -> None:
    scenario, problems = one(spec.name, spec.default)
    assert problems == ()
    assert scenario == Scenario()


@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("spec", BOUNDED, ids=NUMERIC)
def test_just_outside_a_bound_is_refused_by_name_value_and_bound(spec: FieldSpec, side: str) -> None:
    value = outside(spec, side)
    scenario, problems = from_values({"utilization" if spec.name != "utilization" else "pue": 1, spec.name: value})
    assert [p.field for p in problems] == [spec.name]
    assert getattr(scenario, spec.name) == spec.default
    assert (scenario.utilization if spec.name != "utilization" else scenario.pue) == 1, "the rest is kept"
    message = problems[0].message
    bound = spec.minimum if side == "low" else spec.maximum
    assert message.startswith(f"{spec.name} is {value}; it must be ")
    assert f"{bound:,.12g}" in message
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize("spec", BOUNDED, ids=NUMERIC)
def test_the_bounds_themselves_are_allowed(spec: FieldSpec) -> None:
    assert spec.minimum is not None
    low = math.nextafter(spec.minimum, math.inf) if spec.exclusive_minimum else spec.minimum
    for value in (low, spec.maximum):
        scenario, problems = one(spec.name, value)
        assert problems == ()
        assert getattr(scenario, spec.name) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, -1e308, 10**400, "abc", "1e999", True, False])
@pytest.mark.parametrize("name", NUMERIC)
def test_no_number_field_takes_what_is_no_usable_number(name: str, value: object) -> None:
    scenario, problems = one(name, value)
    assert [p.field for p in problems] == [name]
    assert scenario == Scenario()
    assert name in problems[0].message


@pytest.mark.parametrize("value", [[], {}, [1], {"a": 1}, b"1", object(), (1, 2), 1j])
@pytest.mark.parametrize("name", ["utilization", "system_count", "model", "title", "demand", "profile_weights"])
def test_wrong_types_are_problems_not_exceptions(name: str, value: object) -> None:
    scenario, problems = one(name, value)
    assert [p.field for p in problems] == [name]
    assert scenario == Scenario()


def test_whole_number_fields_refuse_fractions() -> None:
    for name in ("input_tokens", "horizon_months", "reserve_systems", "system_count"):
        _, problems = one(name, 1.5)
        assert "whole number" in problems[0].message


def test_choice_names_its_options() -> None:
    _, problems = one("demand", "everything")
    assert problems[0].message == "demand is 'everything'; it must be one of fill, tokens, requests, spend, seats."


def test_text_names_its_length() -> None:
    _, problems = one("title", "x" * 121)
    assert "0 to 120 characters" in problems[0].message
    assert len(problems[0].message) < 200
    _, problems = one("baseline", "")
    assert "1 to 160 characters" in problems[0].message


def test_unknown_field_is_told_and_the_rest_kept() -> None:
    scenario, problems = from_values({"utilisation": 0.5, "utilization": 0.5})
    assert [p.field for p in problems] == ["utilisation"]
    assert scenario.utilization == 0.5
    _, long = from_values({"x" * 100_000: 1})
    assert len(long[0].message) < 300


def test_empty_text_is_empty_where_a_field_may_be_empty() -> None:
    scenario, problems = from_values({"hardware_usd": " ", "alternative": "", "max_tpot_ms": ""})
    assert problems == ()
    assert (scenario.hardware_usd, scenario.alternative, scenario.max_tpot_ms) == (None, None, None)
    _, problems = one("utilization", "")
    assert [p.field for p in problems] == ["utilization"]


def test_zero_is_a_value_and_not_missing() -> None:
    for name in NUMERIC:
        if SPECS[name].minimum == 0:
            scenario, problems = one(name, 0)
            assert problems == ()
            assert getattr(scenario, name) == 0
            assert getattr(scenario, name) is not None


def test_scenario_is_frozen_and_strict() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Scenario().utilization = 0.5  # type: ignore[misc]
    with pytest.raises(ValidationError, match=r"[Ee]xtra"):
        Scenario.model_validate({"nonsense": 1})


@given(ANY_SCENARIO)
def test_any_allowed_scenario_is_taken_field_by_field(scenario: Scenario) -> None:
    again, problems = from_values(scenario.model_dump())
    assert problems == ()
    assert again == scenario
    assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario


@given(st.data())
def test_one_bad_value_costs_only_its_own_field(data: st.DataObject) -> None:
    spoiled = data.draw(st.sampled_from(NUMERIC))
    good = {name: data.draw(any_value(name)) for name in ("utilization", "input_tokens", "title") if name != spoiled}
    values: dict[str, Any] = {**good, spoiled: outside(SPECS[spoiled], data.draw(st.sampled_from(["low", "high"])))}
    scenario, problems = from_values(values)
    assert [p.field for p in problems] == [spoiled]
    assert {name: getattr(scenario, name) for name in good} == good


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.integers())))
def test_junk_never_raises(values: dict[str, object]) -> None:
    scenario, problems = from_values(values)
    assert scenario == Scenario()
    assert {p.field for p in problems} == set(values)
