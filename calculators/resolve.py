"""Scenario + catalogue -> numbers: empty overrides become the catalogue's figures, and each keeps its source."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeVar

from calculators import pins as text_pins
from calculators.catalog import Catalog, default_alternative
from calculators.evaluate import Inputs
from calculators.numbers import plain, share, three_digits
from calculators.profile import FLAT, decode_weights, used_share
from calculators.records import Figure, Model, Offer, System
from calculators.scenario import AMOUNT_OF, SPECS, Problem, Scenario
from calculators.serverless import PriceNow, effective_price, price_in_force, price_warnings, with_overrides
from calculators.sizing import Stated, sizing_inputs, with_stated
from calculators.texts import field_id, field_words, said
from calculators.units import HOURS_PER_MONTH

CATALOGUE_FIELDS = (
    "hardware_usd",
    "rent_usd_per_accelerator_hour",
    "power_kw",
    "colocation_usd_per_kw_month",
    "electricity_usd_per_kwh",
    "pue",
    "usd_per_cny",
)
"""Scenario fields that stand for a figure of data/ while they are empty, and can be pinned by a link."""

_SIDES = ("baseline", "alternative")
"""What the names of the offers' pins begin with."""

PRICE_FIELDS = ("input_usd_per_mtok", "cached_input_usd_per_mtok", "cache_write_usd_per_mtok", "output_usd_per_mtok")


@dataclass(frozen=True)
class Used:
    """A number that went into the result, and where it came from.

    origin: 'scenario' (typed or default), 'catalogue' (data/), or 'link' (pinned by the link).
    """

    name: str
    title: str
    value: float | str
    unit: str
    origin: str
    source: str
    date: str
    kind: str
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Resolved:
    """Everything that `evaluate` and the report need: numbers, records, sources, and what to warn of.

    ranges: of uncertain inputs as a link carries them; all_ranges: no other input was uncertain then.
    """

    scenario: Scenario
    inputs: Inputs
    model: Model
    system: System
    baseline: Offer
    alternative: Offer | None
    used: tuple[Used, ...]
    warnings: tuple[str, ...]
    as_of: dt.date
    ranges: Mapping[str, text_pins.Range] = field(default_factory=dict)
    all_ranges: bool = False

    def find(self, name: str) -> Used | None:
        """The used number of that name, or None."""
        return next((u for u in self.used if u.name == name), None)


class UnresolvedError(ValueError):
    """The scenario asks for something that data/ does not have, or lacks a number; ``problem`` says what."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def _nearest(word: str, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return said("problem.did_you_mean", id=close[0]) if close else ""


def check_ids(scenario: Scenario, catalog: Catalog) -> tuple[Scenario, tuple[Problem, ...]]:
    """Replace ids that data/ does not have by the defaults, and tell; the rest of the scenario is kept."""
    problems: list[Problem] = []
    update: dict[str, object] = {}
    for name, known in (("model", catalog.models), ("system", catalog.systems)):
        value = getattr(scenario, name)
        if value not in known:
            default = SPECS[name].default
            problems.append(
                Problem(
                    name,
                    value,
                    said(
                        "problem.not_known_shown",
                        name=field_id(name),
                        value=value,
                        default=default,
                        hint=_nearest(value, list(known)),
                    ),
                )
            )
            update[name] = default
    for name in ("baseline", "alternative"):
        value = getattr(scenario, name)
        if value is None:
            continue
        offer = catalog.offer(value)
        if offer is None:
            default = SPECS[name].default
            shown = default or said("problem.cheapest")
            problems.append(
                Problem(
                    name,
                    value,
                    said(
                        "problem.no_offer_shown",
                        name=field_id(name),
                        value=value,
                        default=shown,
                        hint=_nearest(value, list(catalog.offers)),
                    ),
                )
            )
            update[name] = default
        elif offer.id != value:
            update[name] = offer.id
    return (scenario.model_copy(update=update) if update else scenario), tuple(problems)


def _figure_used(name: str, figure: Figure, origin: str = "catalogue") -> Used:
    spec = SPECS.get(name)
    return Used(
        name,
        field_words(name, spec.title if spec else name.replace("_", " ")),
        figure.value,
        figure.unit,
        origin,
        figure.source,
        str(figure.date),
        figure.kind,
        figure.low,
        figure.high,
        figure.note,
    )


def _demand_amount(scenario: Scenario) -> float:
    name = AMOUNT_OF.get(scenario.demand)
    if name is None:
        return 0.0
    amount: float | None = getattr(scenario, name)
    if amount is None:
        raise UnresolvedError(
            Problem(
                name,
                "",
                said(
                    "problem.empty_amount",
                    demand=scenario.demand,
                    name=field_id(name),
                    title=field_words(name, SPECS[name].title.lower()),
                ),
            )
        )
    return amount


def _catalogue_figure(name: str, system: System, catalog: Catalog) -> Figure | None:
    if name in ("hardware_usd", "rent_usd_per_accelerator_hour", "power_kw"):
        figure: Figure | None = getattr(system, name)
        return figure
    if name == "usd_per_cny":
        return catalog.usd_per_cny(dt.date.fromisoformat(catalog.release))
    return catalog.opex.get(name)


def _needed(scenario: Scenario, name: str) -> bool:
    rented = scenario.acquisition == "rent"
    own = scenario.facility == "own"
    return {
        "hardware_usd": not rented,
        "rent_usd_per_accelerator_hour": rented,
        "power_kw": not rented,
        "colocation_usd_per_kw_month": not rented and not own,
        "electricity_usd_per_kwh": not rented and own,
        "pue": not rented and own,
        "usd_per_cny": False,
    }[name]


def _linked(name: str, title: str, value: float | str, unit: str, source: str) -> Used:
    """A figure of the link that is not today's."""
    return Used(name, title, value, unit, "link", source, "", "pinned")


def _price_title(label: str, name: str) -> str:
    return f"{label.replace('_', ' ').capitalize()}: {SPECS[name].title.lower()}"


def _price_line(
    label: str,
    name: str,
    price: PriceNow,
    listed: PriceNow | None,
    pins: Mapping[str, float | str],
    offer: Offer,
    input_tokens: float,
) -> Used:
    """A price that is used, ``listed`` being what it would be without the link's pins."""
    value = getattr(price_in_force(price, input_tokens), name)
    note = price.note
    if name == "cached_input_usd_per_mtok" and price.cached_is_missing:
        note = "no cached price is listed: charged in full"
    source = f"{offer.id}: {price.source} {price.source_url}".strip()
    today = None if listed is None else float(getattr(price_in_force(listed, input_tokens), name))
    if f"{label}_{name}" in pins and today != float(value):
        source = said("said_source.pinned_of", offer=offer.id)
        return _linked(f"{label}_{name}", _price_title(label, name), float(value), "USD/Mtok", source)
    return Used(
        f"{label}_{name}",
        _price_title(label, name),
        float(value),
        "USD/Mtok",
        "catalogue",
        source,
        str(price.effective_from or price.checked or ""),
        price.kind or "list_price",
        note=note,
    )


def _priced(
    offer: Offer | None, catalog: Catalog, as_of: dt.date, rate: float | None, weights: Sequence[float]
) -> tuple[PriceNow | None, PriceNow | None]:
    """Price of an offer and of its batch sibling; a time-of-day price is averaged over the hours of the demand."""
    if offer is None:
        return None, None
    sibling = catalog.batch_offer(offer)
    batch = None if sibling is None else effective_price(sibling, as_of, rate, hour_weights=weights)
    return effective_price(offer, as_of, rate, hour_weights=weights), batch


def _overrides(scenario: Scenario) -> dict[str, float | None]:
    return {name: getattr(scenario, name) for name in PRICE_FIELDS}


def resolve(
    scenario: Scenario,
    catalog: Catalog,
    pins: Mapping[str, float | str] | None = None,
    today: dt.date | None = None,
) -> Resolved:
    """Turn choices into numbers with sources.

    Args:
        scenario: what a person chose.
        catalog: the records of data/.
        pins: catalogue figures that a link carries; they replace today's figures of the same name.
        today: day of the reader, to warn of old prices; None is the day of the data.

    Raises:
        UnresolvedError: an unknown id, an empty amount, or a figure that neither scenario nor catalogue has.
    """
    pins = pins or {}
    model = _record("model", scenario.model, catalog.models)
    system = _record("system", scenario.system, catalog.systems)
    sizing = text_pins.found(pins, text_pins.SIZING)
    stated = None if sizing is None else text_pins.read_stated(sizing)
    if stated is not None:
        model = model.model_copy(update={"max_context_tokens": stated.max_context_tokens})
        system = system.model_copy(update={"accelerators": stated.accelerators_per_system})
    as_of = dt.date.fromisoformat(catalog.release)
    pinned = {name: value for name, value in pins.items() if not isinstance(value, str)}
    numbers, used = _catalogue_numbers(scenario, system, catalog, pinned)
    weights, warnings = _week(scenario, catalog)
    then = text_pins.found(pins, text_pins.HOURS)
    if then is not None and text_pins.read_hours(then) != weights:
        weights = text_pins.read_hours(then)
        source = said("said_source.pinned")
        used.append(_linked(text_pins.HOURS, said("stated.hours"), scenario.profile, "", source))
    offers = _offers(
        scenario.model_copy(update=_ONE_MACHINE),
        catalog,
        model.id,
        tuple(sorted((name, value) for name, value in pins.items() if name.startswith(_SIDES))),
        numbers.get("usd_per_cny"),
        as_of,
        tuple(weights),
        today or as_of,
    )
    used += offers.used
    warnings = [*model.warnings, *offers.warnings, *warnings, *_workload_warnings(scenario, model)]
    warnings += _rent_warnings(scenario, weights)
    inputs = _inputs(scenario, catalog, model, system, offers, numbers, weights, stated)
    if inputs.sizing.stated is not None:
        rate = inputs.sizing.stated.requests_per_s * scenario.output_tokens * scenario.token_ratio
        source = said("said_source.pinned")
        used.append(_linked(text_pins.SIZING, said("stated.sizing"), rate, "tokens/s", source))
    used += _chosen(scenario)
    return Resolved(
        scenario,
        inputs,
        model,
        system,
        offers.baseline,
        offers.alternative,
        tuple(used),
        tuple(dict.fromkeys(warnings)),
        as_of,
        text_pins.ranges(pins),
        text_pins.found(pins, text_pins.ALL_RANGES) is not None,
    )


T = TypeVar("T")


def _record(name: str, value: str, known: Mapping[str, T]) -> T:
    if value not in known:
        told = said("problem.not_known", name=field_id(name), value=value, hint=_nearest(value, list(known)))
        raise UnresolvedError(Problem(name, value, told))
    return known[value]


def _catalogue_numbers(
    scenario: Scenario, system: System, catalog: Catalog, pinned: Mapping[str, float]
) -> tuple[dict[str, float], list[Used]]:
    """Figures that stand behind empty fields: typed, pinned by the link, of the catalogue, or 0 if unused."""
    used: list[Used] = []
    numbers: dict[str, float] = {}
    for name in CATALOGUE_FIELDS:
        chosen: float | None = getattr(scenario, name)
        figure = _catalogue_figure(name, system, catalog)
        needed = _needed(scenario, name)
        spec = SPECS[name]
        if chosen is not None:
            numbers[name] = chosen
            used.append(
                Used(
                    name,
                    field_words(name, spec.title),
                    chosen,
                    spec.unit,
                    "scenario",
                    said("said_source.typed"),
                    "",
                    "user",
                )
            )
        elif name in pinned and (figure is None or figure.value != pinned[name]):
            numbers[name] = pinned[name]
            told = said("said_source.pinned")
            if needed:
                used.append(_linked(name, field_words(name, spec.title), pinned[name], spec.unit, told))
        elif figure is not None:
            numbers[name] = figure.value
            if needed:
                used.append(_figure_used(name, figure))
        elif needed:
            told = said("problem.no_figure", name=field_id(name), machine=system.name)
            raise UnresolvedError(Problem(name, "", told))
        else:
            numbers[name] = 0.0
    return numbers, used


@dataclass(frozen=True)
class _Offers:
    """The two offers with their prices of the day, what was used of them, and what to warn of."""

    baseline: Offer
    alternative: Offer | None
    baseline_price: PriceNow | None
    baseline_batch: PriceNow | None
    alternative_price: PriceNow | None
    alternative_batch: PriceNow | None
    used: tuple[Used, ...]
    warnings: tuple[str, ...]


def _known_offer(name: str, value: str, catalog: Catalog) -> Offer:
    offer = catalog.offer(value)
    if offer is None:
        hint = _nearest(value, list(catalog.offers))
        raise UnresolvedError(
            Problem(name, value, said("problem.no_offer", name=field_id(name), value=value, hint=hint))
        )
    return offer


_ONE_MACHINE: Final = {
    name: SPECS[name].default
    for name in (
        "system",
        "system_count",
        "utilization",
        "acquisition",
        "hardware_usd",
        "rent_usd_per_accelerator_hour",
        "power_kw",
        "measured_output_tokens_per_s",
    )
}
"""What no offer depends on: all machines of a comparison, and all loads, ask for the same offers."""


@lru_cache(maxsize=64)
def _offers(
    scenario: Scenario,
    catalog: Catalog,
    model_id: str,
    pins: tuple[tuple[str, float | str], ...],
    rate: float | None,
    as_of: dt.date,
    weights: tuple[float, ...],
    day: dt.date,
) -> _Offers:
    """Choose both offers and price them: typed prices first, then the link's, then the list's.

    Args:
        scenario: what a person chose, the fields of `_ONE_MACHINE` at their defaults.
        catalog: the records.
        model_id: whose weights the alternative must have.
        pins: figures of a link, by name.
        rate: USD per CNY, where it is needed.
        as_of: day of the prices.
        weights: of the hours of a week.
        day: of the reader, to warn of old prices.
    """
    model = catalog.models[model_id]
    pin = dict(pins)
    baseline = _known_offer("baseline", scenario.baseline, catalog)
    base_listed, batch_listed = _priced(baseline, catalog, as_of, rate, weights)
    batch_listed, scaled = _batch_of_typed(batch_listed, base_listed, scenario)
    base_price, typed = _with_prices(base_listed, scenario, pin, baseline)
    base_batch = _pinned_price("baseline_batch", batch_listed, pin, baseline.id)
    alternative: Offer | None
    was = pin.get(text_pins.ALTERNATIVE)
    if scenario.alternative is not None:
        alternative = _known_offer("alternative", scenario.alternative, catalog)
    elif was == text_pins.NONE:
        alternative = None
    elif isinstance(was, str) and catalog.offer(was) is not None:
        alternative = catalog.offer(was)
    else:
        if was is not None:  # its prices are no other offer's
            pin = {name: value for name, value in pin.items() if not name.startswith("alternative")}
        alternative = default_alternative(
            catalog,
            model.weights_class,
            on=as_of,
            input_tokens=scenario.input_tokens,
            output_tokens=scenario.output_tokens,
            cached_share=scenario.cached_share,
        )
    alt_listed, alt_batch_listed = _priced(alternative, catalog, as_of, rate, weights)
    alternative_id = "" if alternative is None else alternative.id
    alt_price = _pinned_price("alternative", alt_listed, pin, alternative_id)
    alt_batch = _pinned_price("alternative_batch", alt_batch_listed, pin, alternative_id)
    used: list[Used] = []
    warnings: list[str] = []
    if scenario.usd_per_cny is None and any(
        price.currency == "CNY" for offer in (baseline, alternative) if offer is not None for price in offer.prices
    ):
        figure = catalog.usd_per_cny(as_of)
        if rate is not None and (figure is None or figure.value != rate):
            title, unit = field_words("usd_per_cny", SPECS["usd_per_cny"].title), SPECS["usd_per_cny"].unit
            used.append(_linked("usd_per_cny", title, rate, unit, said("said_source.pinned")))
        elif figure is not None:
            used.append(_figure_used("usd_per_cny", figure))
    for label, price, listed, offer in (
        ("baseline", base_price, base_listed, baseline),
        ("alternative", alt_price, alt_listed, alternative),
    ):
        mine = typed if label == "baseline" else frozenset()
        lines, told = _offer_lines(label, price, listed, pin, offer, scenario, mine, model, day)
        used += lines
        warnings += told
    if scenario.batch_share > 0:
        for label, price, listed, whole in (
            ("baseline_batch", base_batch, batch_listed, baseline),
            ("alternative_batch", alt_batch, alt_batch_listed, alternative),
        ):
            if price is not None and whole is not None:
                offer = catalog.batch_offer(whole) or whole
                moved = scaled if label == "baseline_batch" else frozenset()
                for name in PRICE_FIELDS:
                    line = _price_line(label, name, price, listed, pin, offer, _paid_input(label, scenario))
                    used.append(replace(line, note="moved with the typed price") if name in moved else line)
        if base_batch is not None and scaled:
            prices = {kind: three_digits(float(getattr(base_batch, f"{kind}_usd_per_mtok"))) for kind in _BATCH_TOLD}
            warnings.append(said("warning.scaled_batch", offer=baseline.id, **prices))
    if scenario.batch_share > 0 and base_batch is None:
        warnings.append(said("warning.no_batch", offer=baseline.id))
    return _Offers(baseline, alternative, base_price, base_batch, alt_price, alt_batch, tuple(used), tuple(warnings))


_BATCH_TOLD = ("input", "output")


def _batch_of_typed(
    batch: PriceNow | None, listed: PriceNow | None, scenario: Scenario
) -> tuple[PriceNow | None, frozenset[str]]:
    """The batch price beside typed prices, and the fields moved: as listed, times typed / listed standard price.

    A negotiated price holds for batches too, at the listed ratio. Where the standard price is listed as 0 there is no
    ratio, and the batch pays the typed price.
    """
    typed = {name: value for name, value in _overrides(scenario).items() if value is not None}
    if batch is None or listed is None or not typed:
        return batch, frozenset()
    moved: dict[str, float] = {}
    for name, value in typed.items():
        was = float(getattr(listed, name))
        moved[name] = float(getattr(batch, name)) * (value / was) if was > 0 else value
    return with_overrides(batch, **moved), frozenset(moved)


def _paid_input(label: str, scenario: Scenario) -> float:
    """Input tokens of a mean request as that offer counts them."""
    return scenario.input_tokens * (scenario.token_ratio if label.startswith("alternative") else 1.0)


def _pinned_figures(label: str, pins: Mapping[str, float | str]) -> dict[str, float | None]:
    """The link's prices of an offer, by field."""
    found = {name: pins.get(f"{label}_{name}") for name in PRICE_FIELDS}
    return {name: value if isinstance(value, float) else None for name, value in found.items()}


def _pinned_price(
    label: str, price: PriceNow | None, pins: Mapping[str, float | str], offer_id: str
) -> PriceNow | None:
    """A listed price with the link's figures in its place; none where the link says that there was none."""
    figures = _pinned_figures(label, pins)
    if pins.get(f"{label}_price") == text_pins.NONE:
        return None
    if all(value is None for value in figures.values()):
        return price
    return _made_price(offer_id, figures, "") if price is None else with_overrides(price, **figures)


def _made_price(offer_id: str, figures: Mapping[str, float | None], source: str) -> PriceNow | None:
    """A price of single figures, where none is listed; None where input or output is not known."""
    new_input, output = figures["input_usd_per_mtok"], figures["output_usd_per_mtok"]
    if new_input is None or output is None:
        return None
    cached, write = figures["cached_input_usd_per_mtok"], figures["cache_write_usd_per_mtok"]
    return PriceNow(
        offer_id=offer_id,
        on=dt.date.min,
        input_usd_per_mtok=new_input,
        cached_input_usd_per_mtok=new_input if cached is None else cached,
        cache_write_usd_per_mtok=new_input if write is None else write,
        cache_write_1h_usd_per_mtok=new_input if write is None else write,
        output_usd_per_mtok=output,
        cached_is_missing=cached is None,
        write_is_missing=write is None,
        source=source,
    )


def _offer_lines(
    label: str,
    price: PriceNow | None,
    listed: PriceNow | None,
    pins: Mapping[str, float | str],
    offer: Offer | None,
    scenario: Scenario,
    typed: frozenset[str],
    model: Model,
    day: dt.date,
) -> tuple[list[Used], list[str]]:
    """The four prices of an offer with their source, and what a reader should know of them."""
    if offer is None:
        return [], [said("warning.no_offer", model=model.name)]
    if price is None:
        side = said("part.baseline") if label == "baseline" else said("part.alternative")
        return [], [said("warning.unpriced", label=side, offer=offer.id, day=day)]
    used = []
    for name in PRICE_FIELDS:
        line = _price_line(label, name, price, listed, pins, offer, _paid_input(label, scenario))
        if name in typed:
            line = Used(line.name, line.title, line.value, line.unit, "scenario", said("said_source.typed"), "", "user")
        used.append(line)
    # a missing cached price matters only where something is cached
    asked = price if scenario.cached_share > 0 else replace(price, cached_is_missing=False)
    warnings = list(price_warnings(asked, day))
    return used, warnings


def _week(scenario: Scenario, catalog: Catalog) -> tuple[tuple[float, ...], list[str]]:
    """Weights of the hours of the week, and a warning where imported ones are missing."""
    profile = catalog.profiles.get(scenario.profile)
    if profile is not None:
        return profile.weights, []
    if scenario.profile_weights:
        return decode_weights(scenario.profile_weights), []
    return FLAT, [said("warning.no_hours")]


def _workload_warnings(scenario: Scenario, model: Model) -> list[str]:
    warnings: list[str] = []
    length = (scenario.input_tokens + scenario.output_tokens) * scenario.token_ratio  # in the open model's own tokens
    if length > model.max_context_tokens:
        limit = f"{model.max_context_tokens:,}"
        warnings.append(said("warning.too_long", length=f"{length:,.0f}", limit=limit, model=model.name))
    if scenario.cached_share > 0 and scenario.serving_cached_share is None:
        warnings.append(said("warning.same_reuse"))
    moved = (scenario.demand_growth_per_year, scenario.migratable_share, scenario.profile) != (0.0, 1.0, "flat")
    if scenario.demand == "fill" and moved:
        warnings.append(said("warning.fill_ignores"))
    for kind, name in AMOUNT_OF.items():
        amount = getattr(scenario, name)
        if amount is not None and kind != scenario.demand:
            warnings.append(
                said(
                    "warning.unused_amount",
                    name=field_id(name),
                    value=f"{amount:,.12g}",
                    demand=scenario.demand,
                    kind=kind,
                )
            )
    return warnings


def _rent_warnings(scenario: Scenario, weights: tuple[float, ...]) -> list[str]:
    """What a rent for a part of the hours does: a filled machine has its demand then, any other demand all week."""
    rented = scenario.rented_hours_per_month / HOURS_PER_MONTH
    if scenario.acquisition != "rent" or not 0 < rented < 1:
        return []
    hours = {"hours": plain(scenario.rented_hours_per_month), "month": plain(HOURS_PER_MONTH)}
    if scenario.demand == "fill":
        return [said("warning.rented_fill", **hours)]
    # far below the capacity nothing spills over, so what is not used then comes while nothing is rented
    missed = 1.0 - float(used_share(weights, rented, 1e-9)) / 1e-9
    if missed < 0.0005:
        return []
    return [said("warning.rented_spread", **hours, profile=scenario.profile, share=share(missed))]


_DIRECT = (
    "input_tokens",
    "output_tokens",
    "cached_share",
    "batch_share",
    "token_ratio",
    "requests_per_seat_workday",
    "workdays_per_month",
    "migratable_share",
    "demand_growth_per_year",
    "api_discount",
    "api_price_change_per_year",
    "utilization",
    "availability",
    "gpu_memory_utilization",
    "accepted_tokens_per_step",
    "reserve_systems",
    "other_capex_usd",
    "spares_share",
    "rented_hours_per_month",
    "loan_rate",
    "loan_months",
    "support_share_per_year",
    "staff_fte",
    "staff_usd_per_year",
    "other_opex_usd_per_month",
    "licence_share",
    "horizon_months",
    "discount_rate",
    "residual_share",
)
"""Scenario fields that are inputs as they stand."""


def _inputs(
    scenario: Scenario,
    catalog: Catalog,
    model: Model,
    system: System,
    offers: _Offers,
    numbers: Mapping[str, float],
    weights: tuple[float, ...],
    stated: Stated | None,
) -> Inputs:
    reuse = scenario.cached_share if scenario.serving_cached_share is None else scenario.serving_cached_share
    count = 1 if scenario.system_count == "auto" else scenario.system_count
    measured = math.nan if scenario.measured_output_tokens_per_s is None else scenario.measured_output_tokens_per_s
    max_tpot_ms = math.inf if scenario.max_tpot_ms is None else scenario.max_tpot_ms
    max_ttft_s = math.inf if scenario.max_ttft_s is None else scenario.max_ttft_s
    sizing = sizing_inputs(
        catalog,
        model.id,
        system.id,
        input_tokens=scenario.input_tokens * scenario.token_ratio,
        output_tokens=scenario.output_tokens * scenario.token_ratio,
        serving_cached_share=reuse,
        accepted_tokens_per_step=scenario.accepted_tokens_per_step,
        max_tpot_ms=max_tpot_ms,
        max_ttft_s=max_ttft_s,
        gpu_memory_utilization=scenario.gpu_memory_utilization,
        kv_dtype=scenario.kv_dtype,
        measured_output_tokens_per_s=measured,
        system_count=count,
    )
    if stated is not None:
        sizing = with_stated(sizing, stated)
    direct: dict[str, float] = {name: float(getattr(scenario, name)) for name in _DIRECT}
    figures: dict[str, float] = {name: numbers[name] for name in CATALOGUE_FIELDS if name != "usd_per_cny"}
    return Inputs(
        sizing=sizing,
        baseline=offers.baseline_price,
        baseline_batch=offers.baseline_batch,
        alternative=offers.alternative_price,
        alternative_batch=offers.alternative_batch,
        demand=scenario.demand,
        acquisition=scenario.acquisition,
        facility=scenario.facility,
        weights=weights,
        demand_amount=_demand_amount(scenario),
        serving_cached_share=reuse,
        cache_write_share=math.nan if scenario.cache_write_share is None else scenario.cache_write_share,
        measured_output_tokens_per_s=measured,
        max_tpot_ms=max_tpot_ms,
        max_ttft_s=max_ttft_s,
        system_count=float(count),
        accelerators_per_system=float(system.accelerators),
        **direct,
        **figures,
    )


def _chosen(scenario: Scenario) -> list[Used]:
    """The scenario's own fields, for the list of what was used."""
    return [
        _chosen_one(name, value)
        for name, value in scenario
        if not (name in CATALOGUE_FIELDS or name in PRICE_FIELDS or value in (None, "") or name == "profile_weights")
    ]


@lru_cache(maxsize=512)
def _chosen_one(name: str, value: float | str) -> Used:
    spec = SPECS[name]
    origin = said("said_source.default") if value == spec.default else said("said_source.typed")
    shown = value if isinstance(value, str) else float(value)
    return Used(name, field_words(name, spec.title), shown, spec.unit, "scenario", origin, "", "user")


def _with_prices(
    price: PriceNow | None, scenario: Scenario, pins: Mapping[str, float | str], offer: Offer
) -> tuple[PriceNow | None, frozenset[str]]:
    """Put typed prices over the listed ones; an unpriced offer becomes priced when input and output are typed."""
    typed = _overrides(scenario)
    pinned = _pinned_figures("baseline", pins)
    chosen = {n: v if v is not None else pinned[n] for n, v in typed.items()}
    if pins.get("baseline_price") == text_pins.NONE:
        price = None
    overridden = frozenset(n for n, v in typed.items() if v is not None)
    if all(v is None for v in chosen.values()):
        return price, overridden
    if price is None:
        return _made_price(offer.id, chosen, "typed in"), overridden
    return with_overrides(price, **chosen), overridden


def pins_of(resolved: Resolved) -> dict[str, float | str]:
    """What of data/ a result rested on, for the link: money figures, API prices, hours; nothing that was typed."""
    pins: dict[str, float | str] = {
        u.name: float(plain(float(u.value)))
        for u in resolved.used
        if u.origin in ("catalogue", "link") and not isinstance(u.value, str) and u.name != text_pins.SIZING
    }
    scenario, inputs, alternative = resolved.scenario, resolved.inputs, resolved.alternative
    if scenario.alternative is None:
        pins[text_pins.ALTERNATIVE] = text_pins.NONE if alternative is None else alternative.id
    for label, price, batch in (
        ("baseline", inputs.baseline, inputs.baseline_batch),
        ("alternative", inputs.alternative, inputs.alternative_batch),
    ):
        if label == "baseline" or alternative is not None:
            if price is None:
                pins[f"{label}_price"] = text_pins.NONE
            elif batch is None and scenario.batch_share > 0:
                pins[f"{label}_batch_price"] = text_pins.NONE
    if scenario.demand != "fill" and not scenario.profile_weights and inputs.weights != FLAT:
        pins[text_pins.HOURS] = text_pins.write_hours(inputs.weights)
    return pins


_SIZED_BY = (
    "model",
    "system",
    "system_count",
    "input_tokens",
    "output_tokens",
    "cached_share",
    "serving_cached_share",
    "token_ratio",
    "accepted_tokens_per_step",
    "kv_dtype",
    "gpu_memory_utilization",
    "max_tpot_ms",
    "max_ttft_s",
    "measured_output_tokens_per_s",
)
"""Fields that the throughput depends on."""

_RANGE_RESTS_ON: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "throughput_factor": _SIZED_BY,
        "hardware_usd": ("system", "hardware_usd"),
        "rent_usd_per_accelerator_hour": ("system", "rent_usd_per_accelerator_hour"),
        "power_kw": ("system", "power_kw"),
    }
)
"""Fields that the range of an input depends on; any other range on the field of its own name."""

_PIN_RESTS_ON: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "hardware_usd": ("system",),
        "power_kw": ("system",),
        "rent_usd_per_accelerator_hour": ("system",),
        "output_tokens_per_s": _SIZED_BY,
        # what a replica does, whatever the number of machines
        text_pins.SIZING: tuple(f for f in _SIZED_BY if f not in ("system_count", "measured_output_tokens_per_s")),
        text_pins.HOURS: ("profile", "profile_weights"),
        **{
            name: tuple(field for field in SPECS if field != "title")
            for name in ("system_count", "payback_p10_days", "payback_p90_days")
        },
        text_pins.ALTERNATIVE: ("model", "alternative"),
        # which inputs were uncertain depends on what is asked, and on whatever a person may type over
        text_pins.ALL_RANGES: (
            *("acquisition", "facility", "demand"),
            *(f for name in text_pins.UNCERTAIN for f in _RANGE_RESTS_ON.get(name, (name,))),
        ),
        **{text_pins.RANGE + name: _RANGE_RESTS_ON.get(name, (name,)) for name in text_pins.UNCERTAIN},
        **{
            f"{label}_price": chosen
            for label, chosen in (
                ("baseline", ("baseline",)),
                ("baseline_batch", ("baseline",)),
                ("alternative", ("model", "alternative")),
                ("alternative_batch", ("model", "alternative")),
            )
        },
        **{
            f"{label}_{name}": (*chosen, "input_tokens", "token_ratio")
            for label, chosen in (
                ("baseline", ("baseline",)),
                ("baseline_batch", ("baseline", *PRICE_FIELDS)),
                ("alternative", ("model", "alternative")),
                ("alternative_batch", ("model", "alternative")),
            )
            for name in PRICE_FIELDS
        },
    }
)


def pins_of_known(
    pins: Mapping[str, float | str], linked: Scenario, unknown: Sequence[Problem]
) -> dict[str, float | str]:
    """The pins of a link without those of a model, machine or offer that data/ does not have (any more).

    Args:
        pins: figures of the link.
        linked: its scenario as it stands in the link.
        unknown: what `check_ids` replaced.
    """
    replaced = {problem.field: SPECS[problem.field].default for problem in unknown}
    return live_pins(pins, linked, linked.model_copy(update=replaced))


def live_pins(pins: Mapping[str, float | str], linked: Scenario, now: Scenario) -> dict[str, float | str]:
    """The pins that still apply after a person changed a linked scenario: another machine has another price.

    Args:
        pins: figures of the link.
        linked: the scenario of the link.
        now: the scenario as it is.
    """
    changed = frozenset(name for name in SPECS if getattr(linked, name) != getattr(now, name))
    return {name: value for name, value in pins.items() if changed.isdisjoint(_PIN_RESTS_ON.get(name, ()))}
