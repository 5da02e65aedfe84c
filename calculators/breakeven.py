"""Break-even: where own machines and the API cost the same over the horizon.

One definition for all: the cumulative cash flow is exactly zero at the horizon, so the payback equals the horizon (and,
where nothing was paid at the start, the monthly saving is zero). Each break-even moves one input and keeps the rest.
"""

from dataclasses import dataclass, replace

import numpy as np

from calculators.evaluate import Inputs, Result, evaluate
from calculators.solve import crossing
from calculators.units import TOKENS_PER_MTOK


@dataclass(frozen=True)
class BreakEven:
    """Break-evens of a scenario; None where no value of that input reaches it.

    ``tokens_per_month`` is the demand that may move, input + output as own machines see them; where the week is uneven
    or the demand falls, not all of it is served. It is what would be needed even if the machines cannot serve it: then
    ``reachable`` is False and ``utilization`` None.
    """

    tokens_per_month: float | None
    utilization: float | None
    api_usd_per_month: float | None
    api_usd_per_mtok: float | None
    hardware_usd: float | None
    rent_usd_per_accelerator_hour: float | None
    reachable: bool


def _final(inputs: Inputs, result: Result) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(evaluate(inputs, sizing=result.sizing, extend=False).flow.final_usd)


def _linear_zero(at_zero: float, at_one: float) -> float | None:
    """Where a straight line through (0, at_zero) and (1, at_one) is zero, if at or above 0."""
    slope = at_one - at_zero
    if slope == 0 or not np.isfinite(slope):
        return None
    zero = -at_zero / slope
    return zero if zero >= 0 else None


def break_even(inputs: Inputs, result: Result) -> BreakEven:
    """All break-evens of a scalar scenario.

    Args:
        inputs: scalars.
        result: their evaluation.
    """
    none = BreakEven(None, None, None, None, None, None, False)
    api = float(result.baseline_usd_per_request)
    if not np.isfinite(api) or float(result.capacity_requests_per_month) <= 0:
        return none
    per_request = float(result.tokens_per_request)
    capacity = float(result.capacity_requests_per_month)

    demand, served, reachable = _volume(inputs, result)
    tokens = None if demand is None else demand * per_request
    paid_tokens = per_request / float(np.asarray(inputs.token_ratio))

    # all three are straight lines in their input, so two evaluations give the exact answer
    prices = _final(replace(inputs, api_price_factor=np.array([0.0, 1.0])), result)
    factor = _linear_zero(float(prices[0]), float(prices[1])) if api > 0 else None
    hardware = rent = None
    if inputs.acquisition == "rent":
        now = float(np.asarray(inputs.rent_usd_per_accelerator_hour)) or 1.0
        rents = _final(replace(inputs, rent_usd_per_accelerator_hour=np.array([0.0, now])), result)
        share = _linear_zero(float(rents[0]), float(rents[1])) if rents[0] >= 0 else None
        rent = None if share is None else share * now
    else:
        now = float(np.asarray(inputs.hardware_usd)) or 1.0
        flows = _final(replace(inputs, hardware_usd=np.array([0.0, now])), result)
        share = _linear_zero(float(flows[0]), float(flows[1])) if flows[0] >= 0 else None
        hardware = None if share is None else share * now
    return BreakEven(
        tokens_per_month=tokens,
        utilization=served / capacity if served is not None and reachable else None,
        api_usd_per_month=None if demand is None else demand * api,
        api_usd_per_mtok=None if factor is None else factor * api / paid_tokens * TOKENS_PER_MTOK,
        hardware_usd=hardware,
        rent_usd_per_accelerator_hour=rent,
        reachable=reachable,
    )


def _volume(inputs: Inputs, result: Result) -> tuple[float | None, float | None, bool]:
    """Requests a month that may move at break-even, those served of them, and whether the machines can do it."""
    usable = float(result.terms.capacity_requests_per_month)
    api = float(result.baseline_usd_per_request)

    # machines that are filled stay full: growth of the demand does not act, here as in the headline
    growth = np.zeros(()) if inputs.demand == "fill" else np.asarray(inputs.demand_growth_per_year, dtype=float)

    def demand(requests: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Inputs:
        return replace(
            inputs,
            demand="requests",
            demand_amount=requests,
            migratable_share=1.0,
            demand_growth_per_year=float(growth),
        )

    if usable > 0:
        # the peak hours of an uneven week spill over, so the demand may have to be above the mean capacity
        high = usable * 168.0
        x = crossing(lambda r: _final(demand(r), result), 0.0, usable)
        if x is None:
            x = crossing(lambda r: _final(demand(r), result), usable, high)
        if x is not None:
            served = evaluate(demand(np.asarray(x)), sizing=result.sizing, extend=False).served_requests_per_month
            return float(x), float(served), True
    if api <= 0:
        return None, None, False
    # without the limit of the machines the flow is a straight line in the volume
    lots = replace(
        result.terms,
        capacity_requests_per_month=np.asarray(1e30),
        demand_requests_per_month=np.array([0.0, 1.0]),
        demand_growth_per_year=growth,
    )
    months = np.arange(int(np.asarray(inputs.horizon_months)))
    flow = np.broadcast_to(lots.operating_saving_usd(months) - lots.interest_usd(months), (2, months.size)).sum(axis=-1)
    flow = flow - float(result.terms.capex_usd)
    return _linear_zero(float(flow[0]), float(flow[1])), None, False
