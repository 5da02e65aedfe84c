"""How many machines: own machines take what they can in each hour, the API takes the rest, and the sum is least.

The curve is for month 0 and counts depreciation, so that buying and renting compare.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calculators.evaluate import Inputs, Result, evaluate, moved

Array = npt.NDArray[np.float64]

_MOST_POINTS = 400
_MOST_SYSTEMS = 10_000


@dataclass(frozen=True)
class HybridCurve:
    """Monthly cost for each number of systems; arrays of shape (counts,).

    ``best`` indexes the least total. ``all_own`` indexes the smallest fleet with nothing left over for the API, or is
    None where part of the demand may not move or the range ends before.
    """

    system_counts: Array
    own_usd_per_month: Array
    overflow_usd_per_month: Array
    total_usd_per_month: Array
    served_share: Array
    best: int
    all_own: int | None

    @property
    def best_count(self) -> int:
        """Number of systems that costs least."""
        return int(self.system_counts[self.best])

    @property
    def saved_against_api_usd_per_month(self) -> float:
        """What the best fleet with a router saves against sending all to the API."""
        return float(self.total_usd_per_month[0] - self.total_usd_per_month[self.best])

    @property
    def saved_against_own_usd_per_month(self) -> float | None:
        """What it saves against a fleet that serves the whole demand itself."""
        if self.all_own is None:
            return None
        return float(self.total_usd_per_month[self.all_own] - self.total_usd_per_month[self.best])


def hybrid_curve(inputs: Inputs, result: Result) -> HybridCurve | None:
    """Cost of 0, 1, 2 ... replicas for the inputs' demand; None when the demand is 'fill', unpriced or nothing fits.

    Args:
        inputs: scalars; their system_count does not matter.
        result: their evaluation.
    """
    step = int(result.sizing.min_systems)
    price = float(result.baseline_usd_per_request)
    if inputs.demand == "fill" or step <= 0 or not math.isfinite(price):
        return None
    one = evaluate(moved(inputs, system_count=float(step)), extend=False)
    usable = float(one.terms.capacity_requests_per_month) * float(one.terms.rented_share)
    movable = float(result.demand_requests_per_month) * float(np.asarray(inputs.migratable_share))
    peak = max(inputs.weights) if inputs.weights else 1.0
    most = 1
    if usable > 0:  # the quotient of a huge demand and a tiny machine cannot be written: compare before dividing
        most = max(_MOST_SYSTEMS // step, 1)
        if movable * peak < usable * most:
            most = min(math.ceil(movable * peak / usable) + 1, most)
    replicas = np.unique(np.round(np.linspace(0, most, min(most + 1, _MOST_POINTS))))
    curve = _curve(inputs, replicas * step)
    if replicas.size <= most:  # a large fleet is sampled: fill in every count around the two that are asked for
        found = [curve.best] if curve.all_own is None else [curve.best, curve.all_own]
        near = [np.arange(replicas[max(i - 1, 0)], replicas[min(i + 1, replicas.size - 1)] + 1) for i in found]
        curve = _curve(inputs, np.unique(np.concatenate((replicas, *near))) * step)
    return curve


def _curve(inputs: Inputs, counts: Array) -> HybridCurve:
    many = evaluate(moved(inputs, system_count=counts), extend=False)
    overflow = np.broadcast_to(many.overflow_requests_per_month * many.baseline_usd_per_request, counts.shape)
    own = np.broadcast_to(many.usd_per_month, counts.shape)
    total = own + overflow
    demand = np.broadcast_to(many.demand_requests_per_month, counts.shape)
    served = np.broadcast_to(many.served_requests_per_month, counts.shape)
    share = np.divide(served, demand, out=np.zeros(counts.shape), where=demand > 0)
    complete = np.flatnonzero(share >= 1 - 1e-12)
    return HybridCurve(
        counts, own, overflow, total, share, int(np.argmin(total)), int(complete[0]) if complete.size else None
    )
