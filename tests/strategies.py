"""Hypothesis strategies over all scenario fields, made from their declarations, and a few shared helpers."""

import math
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from calculators.catalog import load_catalog
from calculators.scenario import AMOUNT_OF, SPECS, FieldSpec, Scenario

WEIGHTS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs",)))


def _number(spec: FieldSpec) -> st.SearchStrategy[Any]:
    assert spec.minimum is not None
    assert spec.maximum is not None
    if spec.integer:
        return st.integers(int(spec.minimum), int(spec.maximum))
    return st.floats(spec.minimum, spec.maximum, exclude_min=spec.exclusive_minimum)


def any_value(name: str) -> st.SearchStrategy[Any]:
    """Any value that the declaration of a field allows, ids being any text."""
    spec = SPECS[name]
    if name == "system_count":
        return st.just("auto") | _number(spec)
    if name == "profile_weights":
        return st.just("") | st.text(alphabet=WEIGHTS, min_size=168, max_size=168)
    if spec.options:
        return st.sampled_from(spec.options)
    if spec.max_length is not None:
        low = spec.min_length
        values = TEXT.map(lambda t: t.strip()[: spec.max_length].strip()).filter(lambda t: len(t) >= low)
        # 'none' is how a link writes an empty optional field, so it can be no id
        return st.none() | values.filter(lambda t: t.casefold() != "none") if spec.optional else values
    return (st.none() | _number(spec)) if spec.optional else _number(spec)


ANY_SCENARIO: st.SearchStrategy[Scenario] = st.fixed_dictionaries(
    {}, optional={name: any_value(name) for name in SPECS}
).map(lambda values: Scenario(**values))
"""Every field at its default or at any allowed value."""


def known_value(name: str) -> st.SearchStrategy[Any]:
    """As `any_value`, but ids are those of data/."""
    catalog = load_catalog()
    if name == "model":
        return st.sampled_from(sorted(catalog.models))
    if name == "system":
        return st.sampled_from(sorted(catalog.systems))
    if name == "baseline":
        return st.sampled_from(sorted(catalog.offers))
    if name == "alternative":
        return st.none() | st.sampled_from(sorted(catalog.offers))
    return any_value(name)


def _complete(values: dict[str, Any]) -> Scenario:
    """Give the demand its amount and a rented machine its price, so that the scenario can be resolved."""
    amount = AMOUNT_OF.get(values.get("demand", "fill"))
    if amount is not None and values.get(amount) is None:
        values = {**values, amount: 1e6}
    typed = {"hardware_usd": 600e3, "rent_usd_per_accelerator_hour": 4.25, "power_kw": 14.5}
    return Scenario(**{**values, **{k: v for k, v in typed.items() if values.get(k) is None}})


KNOWN_SCENARIO: st.SearchStrategy[Scenario] = st.fixed_dictionaries(
    {}, optional={name: known_value(name) for name in SPECS}
).map(_complete)
"""A scenario that data/ can answer, every field at its default or at any allowed value."""


# values of ordinary size, for properties that compare two results to many digits
_ORDINARY: dict[str, st.SearchStrategy[Any]] = {
    "system_count": st.integers(1, 20),
    "input_tokens": st.integers(256, 65_536),
    "output_tokens": st.integers(64, 8192),
    "cached_share": st.floats(0, 0.95),
    "migratable_share": st.floats(0.2, 1),
    "token_ratio": st.floats(0.5, 2),
    "profile": st.sampled_from(["flat", "office-hours", "global"]),
    "demand_growth_per_year": st.floats(-0.5, 1),
    "api_price_change_per_year": st.floats(-0.8, 0.5),
    "api_discount": st.floats(0, 0.5),
    "utilization": st.floats(0.05, 1),
    "availability": st.floats(0.5, 1),
    "acquisition": st.sampled_from(["buy", "loan", "rent"]),
    "facility": st.sampled_from(["colocation", "own"]),
    "hardware_usd": st.floats(50e3, 2e6),
    "other_capex_usd": st.floats(0, 1e5),
    "spares_share": st.floats(0, 0.2),
    "reserve_systems": st.integers(0, 2),
    "rent_usd_per_accelerator_hour": st.floats(0.5, 10),
    "rented_hours_per_month": st.floats(100, 730),
    "loan_rate": st.floats(0, 0.3),
    "loan_months": st.integers(6, 72),
    "staff_fte": st.floats(0, 2),
    "licence_share": st.floats(0, 0.3),
    "horizon_months": st.integers(6, 84),
    "discount_rate": st.floats(0, 0.3),
    "residual_share": st.floats(0, 0.5),
    "demand": st.sampled_from(["fill", "tokens", "requests", "spend", "seats"]),
    "demand_tokens_per_month": st.floats(1e9, 1e12),
    "demand_requests_per_month": st.floats(1e5, 1e8),
    "demand_usd_per_month": st.floats(1e3, 1e7),
    "demand_seats": st.floats(10, 1e5),
}

ORDINARY_SCENARIO: st.SearchStrategy[Scenario] = st.fixed_dictionaries({}, optional=_ORDINARY).map(_complete)
"""Kimi K3 on 8xB300 with money, demand and time of ordinary size."""


def numbers_in(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """All numbers of a JSON value with their paths."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers_in(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for item in value:
            yield from numbers_in(item, f"{path}[]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def assert_finite(value: Any) -> None:
    """Every number of a JSON value is finite."""
    wrong = [path for path, number in numbers_in(value) if not math.isfinite(number)]
    assert wrong == []
