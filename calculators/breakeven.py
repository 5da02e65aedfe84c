"""Break-even: where own machines and the API cost the same over the horizon.

One definition for all: the cumulative cash flow is exactly zero at the horizon, so the payback equals the horizon (and,
where nothing was paid at the start, the monthly saving is zero). Each break-even moves one input and keeps the rest.
"""

from dataclasses import dataclass, replace

import numpy as np

from calculators.evaluate import Inputs, Result, evaluate, moved
from calculators.solve import crossing
from calculators.units import TOKENS_PER_MTOK


@dataclass(frozen=True)
class BreakEven:
    """Break-evens of a scenario; None where no value of that input reaches it.

    ``tokens_per_month`` is the demand that may move, input + output as own machines see them; where the week is uneven
    or the demand falls, not all of it is served. Of 'fill' it is what the machines serve: its demand is in the hours in
    which there are machines. ``utilization`` is the share of the capacity that this volume takes in month 0, searched
    up to all of it; ``above_plan`` tells that the planned utilization is too low for it. Volume and spend are what
    would be needed even if full machines cannot serve it: then ``reachable`` is False and ``utilization`` None.

    ``planned_utilization`` is the plan (highest share in any hour) from which on this scenario's own demand breaks
    even, None where no plan up to 100 % does; of 'fill' it is ``utilization``.
    """

    tokens_per_month: float | None
    utilization: float | None
    api_usd_per_month: float | None
    api_usd_per_mtok: float | None
    hardware_usd: float | None
    rent_usd_per_accelerator_hour: float | None
    reachable: bool
    above_plan: bool = False
    planned_utilization: float | None = None


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

    rented = inputs.acquisition == "rent"
    paid = "rent_usd_per_accelerator_hour" if rented else "hardware_usd"
    now = float(np.asarray(getattr(inputs, paid)))
    other = now or 1.0
    plan = float(np.asarray(inputs.utilization))
    # each is a straight line in its input, so its two ends give the exact answer; all six ends in one evaluation
    ends = moved(
        inputs,
        api_price_factor=np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0]) * np.asarray(inputs.api_price_factor),
        utilization=np.array([plan, plan, plan, plan, 0.0, 1.0]),
        **{paid: np.array([now, now, 0.0, other, now, now])},
    )
    prices, paids, loads = _final(ends, result).reshape(3, 2).tolist()

    if inputs.demand == "fill":
        # load of machines that are filled at break-even, above 1 where full ones do not do
        load = _linear_zero(*loads)
        demand = None if load is None else load * capacity
        used = load if load is not None and load <= 1 else None
        reachable, above = used is not None, used is not None and used > plan
        planned = used
    else:
        demand, used, above = _volume(inputs, result, capacity)
        reachable = used is not None
        planned = crossing(lambda u: _final(moved(inputs, utilization=u), result), 0.0, 1.0)
    tokens = None if demand is None else demand * per_request
    paid_tokens = per_request / float(np.asarray(inputs.token_ratio))

    factor = _linear_zero(*prices) if api > 0 else None
    share = _linear_zero(*paids) if paids[0] >= 0 else None
    price = None if share is None else share * other
    hardware, rent = (None, price) if rented else (price, None)
    return BreakEven(
        tokens_per_month=tokens,
        utilization=used,
        api_usd_per_month=None if demand is None else demand * api,
        api_usd_per_mtok=None if factor is None else factor * api / paid_tokens * TOKENS_PER_MTOK,
        hardware_usd=hardware,
        rent_usd_per_accelerator_hour=rent,
        reachable=reachable,
        above_plan=above,
        planned_utilization=planned,
    )


def _volume(inputs: Inputs, result: Result, capacity: float) -> tuple[float | None, float | None, bool]:
    """Requests a month that may move at break-even, the share of the capacity served, whether it is above the plan.

    The share is None where full machines cannot do it, and the requests are what it would take without their limit.
    """
    api = float(result.baseline_usd_per_request)
    plan = float(np.asarray(inputs.utilization))

    def demand(requests: np.ndarray[tuple[int, ...], np.dtype[np.float64]], limit: float) -> Inputs:
        return moved(inputs, demand="requests", demand_amount=requests, migratable_share=1.0, utilization=limit)

    for limit in (plan, 1.0):
        usable = capacity * limit
        if usable <= 0:
            continue

        def gap(
            r: np.ndarray[tuple[int, ...], np.dtype[np.float64]], limit: float = limit
        ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
            return _final(demand(r, limit), result)

        # the peak hours of an uneven week spill over, so the demand may have to be above the mean capacity
        x = crossing(gap, 0.0, usable)
        if x is None:
            x = crossing(gap, usable, usable * 168.0 / float(result.terms.rented_share))
        if x is not None:
            at = evaluate(demand(np.asarray(x), limit), sizing=result.sizing, extend=False)
            return x, float(at.served_requests_per_month) / capacity, limit > plan
    if api <= 0:
        return None, None, False
    # without the limit of the machines the flow is a straight line in the volume
    lots = replace(
        result.terms,
        capacity_requests_per_month=np.asarray(1e30),
        demand_requests_per_month=np.array([0.0, 1.0]),
        demand_growth_per_year=np.asarray(inputs.demand_growth_per_year, dtype=float),
    )
    months = np.arange(int(np.asarray(inputs.horizon_months)))
    flow = np.broadcast_to(lots.operating_saving_usd(months) - lots.interest_usd(months), (2, months.size)).sum(axis=-1)
    flow = flow - float(result.terms.capex_usd)
    return _linear_zero(float(flow[0]), float(flow[1])), None, False
