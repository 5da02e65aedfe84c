"""What a page shows beside the report: curves, all machines, all ways to pay. Pure: no Streamlit, no plotly."""

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from calculators.cashflow import settle
from calculators.catalog import Catalog
from calculators.evaluate import Result, evaluate, evaluate_each, moved
from calculators.profile import used_share
from calculators.records import Figure
from calculators.report import Report
from calculators.resolve import CATALOGUE_FIELDS, PRICE_FIELDS, Resolved, UnresolvedError, resolve
from calculators.scenario import SPECS, Scenario
from calculators.serverless import PriceNow, effective_price
from calculators.texts import Language
from calculators.units import MONTHS_PER_YEAR, TOKENS_PER_MTOK
from calculators.verdict import payback_of, reason_text

Array = npt.NDArray[np.float64]

MACHINE_FIELDS = (
    "hardware_usd",
    "rent_usd_per_accelerator_hour",
    "power_kw",
    "measured_output_tokens_per_s",
)
"""Fields that a person typed for one machine; another machine in a comparison does not take them over."""

_MOST_STEPS = 60


@dataclass(frozen=True)
class Standing:
    """The figure that stands behind an empty field, or the source of a default: number, unit, source, date."""

    value: float
    unit: str
    source: str
    date: str
    kind: str


def offer_price(catalog: Catalog, offer_id: str | None, usd_per_cny: float | None = None) -> PriceNow | None:
    """Price of an offer on the day of the data; None for an unknown or unpriced offer."""
    offer = None if offer_id is None else catalog.offer(offer_id)
    if offer is None:
        return None
    as_of = dt.date.fromisoformat(catalog.release)
    rate = usd_per_cny
    if rate is None and any(p.currency == "CNY" for p in offer.prices):
        figure = catalog.usd_per_cny(as_of)
        rate = None if figure is None else figure.value
    return effective_price(offer, as_of, rate)


def _standing(figure: Figure | None) -> Standing | None:
    if figure is None:
        return None
    return Standing(figure.value, figure.unit, figure.source, str(figure.date), figure.kind)


def standings(catalog: Catalog, system_id: str, baseline_id: str) -> dict[str, Standing]:
    """What stands behind each empty field, and where the default of a filled one comes from, by field name.

    Args:
        catalog: the records.
        system_id: the machine chosen.
        baseline_id: the offer paid today.
    """
    found: dict[str, Standing | None] = {name: _standing(catalog.opex.get(name)) for name in SPECS}
    system = catalog.systems.get(system_id)
    if system is not None:
        for name in ("hardware_usd", "rent_usd_per_accelerator_hour", "power_kw"):
            found[name] = _standing(getattr(system, name))
    found["usd_per_cny"] = _standing(catalog.usd_per_cny(dt.date.fromisoformat(catalog.release)))
    price = offer_price(catalog, baseline_id)
    if price is not None:
        for name in PRICE_FIELDS:
            date = str(price.effective_from or price.checked or "")
            found[name] = Standing(float(getattr(price, name)), "USD/Mtok", price.source, date, price.kind)
    return {name: s for name, s in found.items() if s is not None}


def catalogue_fields() -> tuple[str, ...]:
    """Fields that show the catalogue's figure while they are empty."""
    return (*CATALOGUE_FIELDS, *PRICE_FIELDS)


@dataclass(frozen=True)
class CostCurve:
    """Cost of a month against volume; x in tokens a month as own machines count them.

    ``own_*`` are the corners of a staircase: the chosen fleet up to ``capacity_tokens``, then whole systems more. Own
    cost is running cost + capex / horizon, and the API's price is its mean over the horizon, so that the lines cross
    where `break_even` says unless the demand grows (one that falls is counted at its mean over the horizon). Where
    machines are rented for a part of the hours, a demand of the whole week leaves the rest of it at the API, which is
    part of the own cost.
    """

    own_tokens: Array
    own_usd: Array
    own_counts: Array
    api_tokens: Array
    api_usd: Array
    alternative_usd: Array | None
    capacity_tokens: float
    served_tokens: float
    break_even_tokens: float | None
    break_even_usd: float | None


def cost_curve(report: Report) -> CostCurve | None:
    """The curve of a report, or None where there is no capacity or no price."""
    inputs, result = report.inputs, report.result
    count = float(np.asarray(inputs.system_count))
    rented = float(result.terms.rented_share)
    usable = float(result.terms.capacity_requests_per_month)
    api = float(result.baseline_usd_per_request)
    if count <= 0 or usable * rented <= 0 or not math.isfinite(api):
        return None
    if inputs.demand == "fill":
        room, taken = usable * rented, 1.0
    else:
        # below the peak hour's limit nothing spills over: what is not taken comes while nothing is rented
        room = usable / max(inputs.weights)
        taken = float(used_share(inputs.weights, rented, 1e-9)) / 1e-9 if rented < 1 else 1.0
    per_request = float(result.tokens_per_request)
    even = report.even.tokens_per_month
    served = float(result.served_requests_per_month)
    demand = float(result.demand_requests_per_month) * float(np.asarray(inputs.migratable_share))
    end = max(1.7 * room, min((even or 0.0) / per_request, 6 * room) * 1.15, min(demand, 12 * room) * 1.1)
    step = max(int(result.sizing.min_systems), 1)
    per_step = room * step / count
    more = min(math.ceil(max(end - room, 0.0) / per_step), _MOST_STEPS)
    counts = count + step * np.arange(more + 1.0)
    # of the fleets only their cost is asked for, which no throughput changes
    fleet = evaluate(moved(inputs, system_count=counts), sizing=result.sizing, extend=False)
    horizon = float(np.asarray(inputs.horizon_months))
    fixed = np.broadcast_to(fleet.ownership.opex_usd_per_month + fleet.ownership.capex_usd / horizon, counts.shape)
    months = np.arange(int(horizon))
    # the volume is of month 0; a demand that falls costs less at the API later, and one that grows soon fills machines
    growth = 0.0 if inputs.demand == "fill" else min(float(np.asarray(inputs.demand_growth_per_year)), 0.0)
    level = float(np.mean(result.terms.price_level(months) * (1.0 + growth) ** (months / MONTHS_PER_YEAR)))
    licence = float(np.asarray(inputs.licence_share)) * api * level
    limits = room + per_step * np.arange(more + 1.0)
    left = np.concatenate(([0.0], limits[:-1]))
    corners = np.stack((left, limits), axis=-1).ravel()
    own = np.repeat(fixed, 2) + (licence * taken + (1.0 - taken) * api * level) * corners
    ends = np.linspace(0.0, float(corners[-1]), 21)
    alternative = float(result.alternative_usd_per_request)
    known = report.resolved.alternative is not None and math.isfinite(alternative)
    inside = even is not None and even / per_request <= ends[-1]
    return CostCurve(
        own_tokens=corners * per_request,
        own_usd=own,
        own_counts=np.repeat(counts, 2),
        api_tokens=ends * per_request,
        api_usd=ends * api * level,
        alternative_usd=ends * alternative * level if known else None,
        capacity_tokens=room * per_request,
        served_tokens=served * per_request,
        break_even_tokens=even if inside else None,
        break_even_usd=None if even is None or not inside else even / per_request * api * level,
    )


@dataclass(frozen=True)
class Option:
    """One machine, or one way to pay, with what comes of it; None where it is not known. ``why`` is one sentence."""

    id: str
    name: str
    accelerators: int
    system_count: int
    fits: bool
    evidence: str
    output_tokens_per_s: float | None
    tokens_per_month: float | None
    capex_usd: float | None
    usd_per_month: float | None
    usd_per_mtok: float | None
    status: str | None
    days: float | None
    low_factor: float | None
    high_factor: float | None
    why: str


def _number(value: Any, known: bool = True) -> float | None:
    x = float(np.asarray(value).reshape(()))
    return x if known and math.isfinite(x) else None


def option_of(
    name: str, resolved: Resolved, result: Result, language: Language = "en", *, auto: bool = False
) -> Option:
    """Sum up an evaluated scenario as one row of a comparison."""
    base = float(result.baseline_usd_per_request)
    horizon = resolved.scenario.horizon_months
    status, days = payback_of(result, result.flow, priced=math.isfinite(base), horizon_months=horizon)
    fits = bool(result.sizing.fits)
    known = fits and str(result.sizing.evidence) != "none"
    rate = result.sizing.output_tokens_per_s * np.asarray(resolved.inputs.throughput_factor)
    return Option(
        id=resolved.system.id,
        name=name,
        accelerators=resolved.system.accelerators,
        system_count=int(np.asarray(resolved.inputs.system_count)),
        fits=fits,
        evidence=str(result.sizing.evidence),
        output_tokens_per_s=_number(rate, known),
        tokens_per_month=_number(result.served_tokens_per_month, known),
        capex_usd=_number(result.ownership.capex_usd),
        usd_per_month=_number(result.usd_per_month),
        usd_per_mtok=_number(result.usd_per_mtok, known),
        status=status,
        days=None if days is None else _number(days),
        low_factor=_number(result.sizing.low_factor, known),
        high_factor=_number(result.sizing.high_factor, known),
        why=reason_text(resolved, result, result.flow, status, days, resolved.baseline.id, base, language, auto=auto),
    )


def _unknown(system_id: str, catalog: Catalog, why: str) -> Option:
    system = catalog.systems[system_id]
    return Option(
        id=system_id,
        name=system.name,
        accelerators=system.accelerators,
        system_count=0,
        fits=False,
        evidence="none",
        output_tokens_per_s=None,
        tokens_per_month=None,
        capex_usd=None,
        usd_per_month=None,
        usd_per_mtok=None,
        status=None,
        days=None,
        low_factor=None,
        high_factor=None,
        why=why,
    )


def machines(
    scenario: Scenario, catalog: Catalog, language: Language = "en", chosen: Report | None = None
) -> tuple[Option, ...]:
    """Every machine of the catalogue for this workload, the rest of the scenario unchanged.

    Args:
        scenario: what a person chose; what was typed for its machine stays with that machine.
        catalog: the records.
        language: of the reasons.
        chosen: the report of the scenario, so that its row has the same figures (pins of a link included).
    """
    found: dict[str, tuple[Resolved, Result] | str] = {}
    together: dict[str, Resolved] = {}
    auto = scenario.system_count == "auto"
    # the alternative does not depend on the machine: found once
    known = chosen.resolved.alternative if chosen is not None else None
    shared = {} if known is None else {"alternative": known.id}
    for system_id in catalog.systems:
        if chosen is not None and system_id == scenario.system:
            found[system_id] = (chosen.resolved, chosen.result)
            continue
        drop = {} if system_id == scenario.system else dict.fromkeys(MACHINE_FIELDS)
        asked = scenario.model_copy(update={"system": system_id, **shared, **drop})
        try:
            if auto:
                found[system_id] = _settled(asked, catalog)
            else:
                together[system_id] = resolve(asked, catalog)
        except UnresolvedError as error:
            found[system_id] = str(error)
    results = evaluate_each([resolved.inputs for resolved in together.values()])
    found |= {name: (resolved, result) for (name, resolved), result in zip(together.items(), results, strict=True)}
    _settle_others(found.values(), chosen)
    return tuple(
        _unknown(system_id, catalog, answer)
        if isinstance(answer, str)
        else option_of(system.name, *answer, language, auto=auto)
        for system_id, system in catalog.systems.items()
        for answer in (found[system_id],)
    )


def _settled(scenario: Scenario, catalog: Catalog) -> tuple[Resolved, Result]:
    """Resolve and evaluate, with the cheapest number of systems where the scenario leaves it open."""
    from calculators.hybrid import hybrid_curve

    resolved = resolve(scenario, catalog)
    result = evaluate(resolved.inputs)
    if scenario.system_count == "auto":
        curve = hybrid_curve(resolved.inputs, result)
        count = curve.best_count if curve is not None else max(int(result.sizing.min_systems), 1)
        resolved = replace(resolved, inputs=moved(resolved.inputs, system_count=float(count)))
        result = evaluate(resolved.inputs)
    return resolved, result


def by_payback(option: Option) -> tuple[float, float]:
    """Sort key: shortest payback first, then least cost per token; what is not known comes last."""
    return (
        math.inf if option.days is None else option.days,
        math.inf if option.usd_per_mtok is None else option.usd_per_mtok,
    )


def best(options: Iterable[Option]) -> tuple[Option | None, Option | None]:
    """The option with the shortest payback, and the one with the least cost per token; None where none is known.

    An uncalibrated speed is an upper bound, so such a machine is listed but never named the best.
    """
    known = [o for o in options if o.usd_per_mtok is not None and o.evidence != "uncalibrated"]
    back = [o for o in known if o.days is not None]
    return (
        min(back, key=lambda o: o.days or 0.0, default=None),
        min(known, key=lambda o: o.usd_per_mtok or 0.0, default=None),
    )


WAYS = ("buy", "loan", "rent")


def ways_to_own(
    scenario: Scenario, catalog: Catalog, language: Language = "en", chosen: Report | None = None
) -> Mapping[str, Option | str]:
    """Buy, loan and rent of the same machine; a sentence where a way has no price."""
    found: dict[str, tuple[Resolved, Result] | str] = {}
    for way in WAYS:
        if chosen is not None and way == scenario.acquisition:
            found[way] = (chosen.resolved, chosen.result)
            continue
        try:
            found[way] = _settled(scenario.model_copy(update={"acquisition": way}), catalog)
        except UnresolvedError as error:
            found[way] = str(error)
    _settle_others(found.values(), chosen)
    auto = scenario.system_count == "auto"
    return {
        way: answer if isinstance(answer, str) else option_of(way, *answer, language, auto=auto)
        for way, answer in found.items()
    }


def _settle_others(found: Iterable[tuple[Resolved, Result] | str], chosen: Report | None) -> None:
    """Cash flows of all answers at once, but of the report's own, which are known or will be."""
    flows = [answer[1].flow for answer in found if not isinstance(answer, str)]
    settle([flow for flow in flows if chosen is None or flow is not chosen.result.flow])


def api_usd_per_mtok(report: Report, offer: str = "baseline") -> float | None:
    """Price of the mix at an offer, USD per million tokens as that offer counts them; None when unpriced."""
    i, r = report.inputs, report.result
    usd = float(r.baseline_usd_per_request if offer == "baseline" else r.alternative_usd_per_request)
    paid = float(np.asarray(i.input_tokens)) + float(np.asarray(i.output_tokens))
    return usd / paid * TOKENS_PER_MTOK if math.isfinite(usd) else None


def api_cost_of_served_usd_per_month(report: Report) -> tuple[float | None, float | None]:
    """What the tokens that own machines serve would cost at the baseline and at the alternative offer, month 0.

    None where an offer has no price, and for both where the machines serve nothing: 0 USD would be no price for that.
    """
    r = report.result
    served = float(r.served_requests_per_month)
    if served <= 0:
        return None, None
    known = report.resolved.alternative is not None
    return (
        _number(served * float(r.baseline_usd_per_request)),
        _number(served * float(r.alternative_usd_per_request), known),
    )


def has_moved(then: Report, now: Report, tolerance: float = 1e-9) -> bool:
    """Whether today's data give another answer than the figures that a link carries."""
    rests = [(report.ranges, report.inputs.weights) for report in (then, now)]
    if then.inputs.sizing.stated is not None or rests[0] != rests[1]:
        return True
    return any(
        (a is None) != (b is None) or (a is not None and b is not None and not math.isclose(a, b, rel_tol=tolerance))
        for a, b in zip(_answer(then), _answer(now), strict=True)
    )


def _answer(report: Report) -> list[float | None]:
    """What a report finds out, as numbers; None where it is not known."""
    r, known = report.result, report.status is not None
    told = [value if value is None else float(value) for value in vars(report.even).values()]
    return [
        ("never", "beyond_horizon", "pays_back", "immediate").index(report.status) if report.status else None,
        float(r.sizing.evidence_code),
        float(r.sizing.fits),
        report.days,
        report.alternative_days,
        _number(r.flow.npv_usd, known),
        _number(r.alternative_flow.npv_usd, report.alternative_status is not None),
        *(
            _number(value)
            for value in (
                r.baseline_usd_per_request,
                r.alternative_usd_per_request,
                r.ownership.capex_usd,
                r.usd_per_month,
                r.usd_per_mtok,
                r.saving_usd_per_month,
            )
        ),
        *told,
    ]
