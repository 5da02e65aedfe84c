"""From numbers to result: one function for the headline, the curves, the tornado and the Monte Carlo.

``Inputs`` are plain numbers with units in their names; each may be a scalar or a numpy array, and all broadcast
together. Nothing here knows a catalogue, a person or a page.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from calculators.cashflow import Flow, FlowTerms, evaluate_flow
from calculators.ownership import CostLine, Ownership, OwnershipCost, ownership_cost
from calculators.profile import FLAT
from calculators.serverless import PriceNow, api_cost
from calculators.sizing import Sizing, SizingInputs, size
from calculators.units import HOURS_PER_MONTH, SECONDS_PER_MONTH, TOKENS_PER_MTOK

Array = npt.NDArray[np.float64]
Number = float | Array
Record = TypeVar("Record", OwnershipCost, CostLine, FlowTerms, "Result")

_STATIC = {"static": True}


@dataclass(frozen=True)
class Inputs:
    """All numbers of a decision. Fields marked static are choices, not numbers.

    Tokens per request are counted as today's provider counts them; own machines see ``token_ratio`` times as many.
    ``demand_amount`` is in the unit of ``demand``: tokens, requests, USD or seats a month (ignored for 'fill').
    NaN in ``cache_write_share`` means 'all new input once any is cached', in ``measured_output_tokens_per_s`` 'not
    measured'; infinity in a limit means 'no limit'. ``throughput_factor``, ``api_price_factor`` and
    ``alternative_price_factor`` are 1 except where a question moves them.
    """

    sizing: SizingInputs = field(metadata=_STATIC)
    baseline: PriceNow | None = field(metadata=_STATIC)
    baseline_batch: PriceNow | None = field(metadata=_STATIC)
    alternative: PriceNow | None = field(metadata=_STATIC)
    alternative_batch: PriceNow | None = field(metadata=_STATIC)
    demand: Literal["fill", "tokens", "requests", "spend", "seats"] = field(metadata=_STATIC)
    acquisition: Literal["buy", "loan", "rent"] = field(metadata=_STATIC)
    facility: Literal["colocation", "own"] = field(metadata=_STATIC)
    weights: tuple[float, ...] = field(metadata=_STATIC)

    input_tokens: Number
    output_tokens: Number
    cached_share: Number
    cache_write_share: Number
    serving_cached_share: Number
    batch_share: Number
    token_ratio: Number
    demand_amount: Number
    requests_per_seat_workday: Number
    workdays_per_month: Number
    migratable_share: Number
    demand_growth_per_year: Number
    api_discount: Number
    api_price_change_per_year: Number
    utilization: Number
    availability: Number
    gpu_memory_utilization: Number
    accepted_tokens_per_step: Number
    max_tpot_ms: Number
    max_ttft_s: Number
    measured_output_tokens_per_s: Number
    system_count: Number
    reserve_systems: Number
    accelerators_per_system: Number
    hardware_usd: Number
    other_capex_usd: Number
    spares_share: Number
    rent_usd_per_accelerator_hour: Number
    rented_hours_per_month: Number
    loan_rate: Number
    loan_months: Number
    colocation_usd_per_kw_month: Number
    electricity_usd_per_kwh: Number
    pue: Number
    power_kw: Number
    support_share_per_year: Number
    staff_fte: Number
    staff_usd_per_year: Number
    other_opex_usd_per_month: Number
    licence_share: Number
    horizon_months: Number
    discount_rate: Number
    residual_share: Number
    throughput_factor: Number = 1.0
    api_price_factor: Number = 1.0
    alternative_price_factor: Number = 1.0


NUMERIC_FIELDS: tuple[str, ...] = tuple(f.name for f in fields(Inputs) if not f.metadata.get("static"))
"""Names of the inputs that may be arrays."""

_SIZING_FIELDS = (
    "serving_cached_share",
    "accepted_tokens_per_step",
    "max_tpot_ms",
    "max_ttft_s",
    "gpu_memory_utilization",
    "measured_output_tokens_per_s",
    "system_count",
)


@dataclass(frozen=True)
class Result:
    """What follows from the inputs; arrays of the inputs' broadcast shape, most of them computed when asked for.

    Requests and tokens are a month's at month 0. Tokens are the open model's own. ``capacity_*`` is at 100 % of the
    operating point, all running systems. ``asked_requests_per_month`` is the demand, infinity for 'fill'. NaN in an
    API figure means 'unpriced'.
    """

    sizing: Sizing
    ownership: OwnershipCost
    terms: FlowTerms
    capacity_requests_per_month: Array
    asked_requests_per_month: Array
    tokens_per_request: Array
    baseline_usd_per_request: Array
    inputs: Inputs = field(repr=False)
    numbers: dict[str, Array] = field(repr=False, compare=False)
    extend: bool = True

    @cached_property
    def alternative_usd_per_request(self) -> Array:
        """What a request costs at the alternative offer, which counts tokens as the open model does."""
        i, a = self.inputs, self.numbers
        usd = _request_usd(i.alternative, i.alternative_batch, a, a["token_ratio"], np.zeros(()))
        return usd * a["alternative_price_factor"]

    @cached_property
    def alternative_terms(self) -> FlowTerms:
        """What the months against the alternative offer depend on."""
        return replace(self.terms, api_usd_per_request=self.alternative_usd_per_request)

    @cached_property
    def flow(self) -> Flow:
        """Cash flow against the baseline offer."""
        return evaluate_flow(self.terms, extend=self.extend)

    @cached_property
    def alternative_flow(self) -> Flow:
        """Cash flow against the alternative offer."""
        return evaluate_flow(self.alternative_terms, extend=self.extend)

    @cached_property
    def served_requests_per_month(self) -> Array:
        """Requests that own machines serve."""
        return self.terms.served_requests(np.zeros(1))[..., 0]

    @cached_property
    def demand_requests_per_month(self) -> Array:
        """Requests of the whole demand; of 'fill' those served."""
        asked = self.asked_requests_per_month
        return np.where(np.isinf(asked), self.served_requests_per_month, asked)

    @cached_property
    def overflow_requests_per_month(self) -> Array:
        """Requests of the demand that are left to the API."""
        demand = self.demand_requests_per_month
        left = demand - self.served_requests_per_month
        return np.where(left <= 1e-9 * demand, 0.0, left)  # rounding is no demand that is left over

    @property
    def baseline_usd_per_month(self) -> Array:
        """The whole demand at the baseline offer."""
        return np.asarray(self.demand_requests_per_month * self.baseline_usd_per_request)

    @property
    def alternative_usd_per_month(self) -> Array:
        """The whole demand at the alternative offer."""
        return np.asarray(self.demand_requests_per_month * self.alternative_usd_per_request)

    @cached_property
    def licence_usd_per_month(self) -> Array:
        """Licence fee on the served requests."""
        return np.asarray(self.terms.licence_usd_per_request * self.served_requests_per_month)

    @cached_property
    def opex_usd_per_month(self) -> Array:
        """Running cost of own machines, licence and a loan's mean interest included."""
        return np.asarray(self.ownership.opex_usd_per_month + self.licence_usd_per_month)

    @cached_property
    def usd_per_month(self) -> Array:
        """Running cost and depreciation."""
        return np.asarray(self.opex_usd_per_month + self.ownership.depreciation_usd_per_month)

    @cached_property
    def usd_per_mtok(self) -> Array:
        """Cost of a month per million served tokens; NaN where nothing is served."""
        month, served = np.broadcast_arrays(self.usd_per_month, self.served_tokens_per_month / TOKENS_PER_MTOK)
        # dearer than 1e15 USD per million tokens means that next to nothing is served: no price, and no overflow
        usd: Array = np.divide(
            month, served, out=np.full(month.shape, np.nan), where=(served > 0) & (served > month * 1e-15)
        )
        return usd

    @property
    def saving_usd_per_month(self) -> Array:
        """What the served requests would cost at the baseline offer, less the running cost."""
        return np.asarray(self.served_requests_per_month * self.baseline_usd_per_request - self.opex_usd_per_month)

    @property
    def alternative_saving_usd_per_month(self) -> Array:
        """What the served requests would cost at the alternative offer, less the running cost."""
        return np.asarray(self.served_requests_per_month * self.alternative_usd_per_request - self.opex_usd_per_month)

    @property
    def served_tokens_per_month(self) -> Array:
        """Input + output tokens that own machines serve in a month."""
        return np.asarray(self.served_requests_per_month * self.tokens_per_request)

    @property
    def capacity_tokens_per_month(self) -> Array:
        """Input + output tokens at 100 % of the operating point, a month, all running systems."""
        return np.asarray(self.capacity_requests_per_month * self.tokens_per_request)

    @property
    def used_share_of_capacity(self) -> Array:
        """Served / capacity over the whole month; 0 where there is no capacity."""
        served, capacity = np.broadcast_arrays(self.served_requests_per_month, self.capacity_requests_per_month)
        used: Array = np.divide(served, capacity, out=np.zeros(capacity.shape), where=capacity > 0)
        return used


def moved(inputs: Inputs, **values: Any) -> Inputs:
    """The inputs with some of them moved; as `dataclasses.replace`, which sets all sixty of them once more.

    Raises:
        TypeError: a name is not an input.
    """
    unknown = values.keys() - Inputs.__dataclass_fields__.keys()
    if unknown:
        raise TypeError(f"not an input: {', '.join(sorted(unknown))}")
    copied = copy(inputs)
    vars(copied).update(values)
    return copied


def site_inputs(inputs: Inputs) -> SizingInputs:
    """The machine with the workload as it sees it: the open model's own tokens."""
    ratio = np.asarray(inputs.token_ratio, dtype=float)
    workload: dict[str, Any] = {name: getattr(inputs, name) for name in _SIZING_FIELDS}
    return replace(
        inputs.sizing, input_tokens=inputs.input_tokens * ratio, output_tokens=inputs.output_tokens * ratio, **workload
    )


def size_inputs(inputs: Inputs) -> Sizing:
    """Memory fit and operating point of the inputs' machines and workload."""
    return size(site_inputs(inputs))


def evaluate(inputs: Inputs, *, sizing: Sizing | None = None, extend: bool = True) -> Result:
    """Evaluate a decision.

    Args:
        inputs: numbers, scalars or arrays that broadcast.
        sizing: a sizing of the same machine and workload that is already known; None computes it.
        extend: look for paybacks beyond the horizon (see `evaluate_flow`).

    Returns:
        The result, arrays of the broadcast shape.
    """
    a = {name: np.asarray(getattr(inputs, name), dtype=float) for name in NUMERIC_FIELDS}
    fit = size_inputs(inputs) if sizing is None else sizing
    capacity = np.asarray(
        fit.requests_per_s * a["throughput_factor"] * SECONDS_PER_MONTH * a["availability"], dtype=float
    )
    usable = capacity * a["utilization"]
    rented_share = a["rented_hours_per_month"] / HOURS_PER_MONTH if inputs.acquisition == "rent" else np.ones(())

    ratio = a["token_ratio"]
    own_tokens = (a["input_tokens"] + a["output_tokens"]) * ratio
    base_request = _request_usd(inputs.baseline, inputs.baseline_batch, a, np.ones(()), a["api_discount"])
    # today's spend buys today's tokens: a question about another price does not change how many there are
    whole = _demand_requests(inputs.demand, a, base_request)
    base_request = base_request * a["api_price_factor"]

    movable = whole * a["migratable_share"] if inputs.demand != "fill" else whole

    own = ownership_cost(
        Ownership(
            acquisition=inputs.acquisition,
            facility=inputs.facility,
            systems=np.where(a["system_count"] > 0, a["system_count"] + a["reserve_systems"], 0.0),
            **{f.name: a[f.name] for f in fields(Ownership) if f.name in a},
        )
    )
    # the licence is a share of today's API value, whichever offer we compare with: own machines owe it even where that
    # offer is free; an unpriced API leaves the rest known where there is no licence
    fee = np.where(a["licence_share"] > 0, a["licence_share"] * base_request, 0.0)
    terms = FlowTerms(
        api_usd_per_request=base_request,
        demand_requests_per_month=movable,
        capacity_requests_per_month=usable,
        rented_share=rented_share,
        price_change_per_year=a["api_price_change_per_year"],
        demand_growth_per_year=a["demand_growth_per_year"],
        licence_usd_per_request=fee,
        running_usd_per_month=own.running_usd_per_month,
        capex_usd=own.capex_usd,
        residual_usd=own.residual_usd,
        principal_usd=own.principal_usd,
        loan_rate_per_year=a["loan_rate"],
        loan_months=a["loan_months"],
        horizon_months=a["horizon_months"],
        discount_rate_per_year=a["discount_rate"],
        weights=FLAT if inputs.demand == "fill" else inputs.weights,
    )
    return Result(
        sizing=fit,
        ownership=own,
        terms=terms,
        capacity_requests_per_month=capacity * rented_share,
        asked_requests_per_month=whole,
        tokens_per_request=own_tokens,
        baseline_usd_per_request=base_request,
        inputs=inputs,
        numbers=a,
        extend=extend,
    )


def _request_usd(
    price: PriceNow | None, batch: PriceNow | None, a: dict[str, Array], ratio: Array, discount: Array
) -> Array:
    """USD for a mean request at an offer; NaN where the offer has no price."""
    if price is None:
        return np.full((), np.nan)
    # NaN: what is read from a cache was written to it, so all new input is a write as soon as any input is cached
    writes = np.where(np.isnan(a["cache_write_share"]), a["cached_share"] > 0, a["cache_write_share"])
    cost = api_cost(
        price,
        input_tokens=a["input_tokens"] * ratio,
        output_tokens=a["output_tokens"] * ratio,
        cached_share=a["cached_share"],
        cache_write_share=writes,
        discount=discount,
        batch_price=batch,
        batch_share=a["batch_share"],
    )
    return np.asarray(cost)


def _demand_requests(kind: str, a: dict[str, Array], usd_per_request: Array) -> Array:
    """Requests a month of the whole demand; infinity for 'fill'. Spend at a price of 0 is no known demand."""
    amount: Array = a["demand_amount"]
    if kind == "fill":
        return np.full((), np.inf)
    if kind == "requests":
        return amount
    if kind == "seats":
        return np.asarray(amount * a["requests_per_seat_workday"] * a["workdays_per_month"])
    if kind == "tokens":
        return np.asarray(amount / (a["input_tokens"] + a["output_tokens"]))
    amount, price = np.broadcast_arrays(amount, usd_per_request)
    requests: Array = np.divide(amount, price, out=np.zeros(price.shape), where=price > 0)
    return requests


_SHARED = tuple(f.name for f in fields(Inputs) if f.metadata.get("static") and f.name != "sizing")
"""Choices and prices that decisions must have in common to be evaluated at once."""


def evaluate_each(cases: Sequence[Inputs]) -> list[Result]:
    """Evaluate several decisions, each as `evaluate` does; at once where they differ in numbers and machines only.

    A table of nineteen machines takes a quarter less time so.

    Args:
        cases: inputs of one number each.
    """
    fits = [size_inputs(case) for case in cases]
    alike = all(getattr(case, name) is getattr(cases[0], name) for case in cases for name in _SHARED)
    if len(cases) < 2 or not alike:
        return [evaluate(case, sizing=fit) for case, fit in zip(cases, fits, strict=True)]
    numbers = [{name: np.asarray(getattr(case, name), dtype=float) for name in NUMERIC_FIELDS} for case in cases]
    stacked = moved(
        cases[0], **{name: np.array([float(getattr(case, name)) for case in cases]) for name in NUMERIC_FIELDS}
    )
    rates = np.array([float(fit.requests_per_s) for fit in fits])
    together = evaluate(stacked, sizing=replace(fits[0], requests_per_s=rates))
    together.usd_per_mtok  # noqa: B018 - what a table shows of each is found here, for all of them
    found = []
    for k, (case, fit, a) in enumerate(zip(cases, fits, numbers, strict=True)):
        lines = tuple(_at(line, k) for line in together.ownership.lines)
        own, terms = _at(together.ownership, k, lines=lines), _at(together.terms, k)
        found.append(_at(together, k, sizing=fit, ownership=own, terms=terms, inputs=case, numbers=a))
    return found


def _at(record: Record, place: int, **others: Any) -> Record:
    """A record of arrays at one place: arrays of shape (n,) give that number, ``others`` are put in, the rest stays."""
    copied: Record = object.__new__(type(record))
    values = vars(copied)
    for name, value in vars(record).items():
        values[name] = np.asarray(value[place]) if isinstance(value, np.ndarray) and value.ndim else value
    values.update(others)
    return copied
