"""Cash flow by month: payback, discounted payback, NPV, IRR and levelised cost.

Conventions. Month m = 0, 1, ... has the price and volume level (1+g)^(m/12). A month's flow accrues evenly inside the
month (so a payback is interpolated) and is discounted at its end with the monthly rate (1+r)^(1/12) - 1. Money out is
negative. Payback counts the full capex at the start, whoever finances it; a loan adds its interest month by month, so
capex is counted once and interest is not hidden. NPV and IRR use the money that really moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from calculators.profile import FLAT, Array, used_share
from calculators.units import DAYS_PER_MONTH, MONTHS_PER_YEAR

NEVER_MONTHS = 600
"""A payback later than this (50 years) is 'never'."""

_BLOCK = 60

_NEWTON_STEPS: Final = 3
"""Enough for nearly all; a month that was not found is bisected."""


def monthly_rate(rate_per_year: npt.ArrayLike) -> Array:
    """Monthly rate that compounds to the yearly one: (1 + r)^(1/12) - 1."""
    return np.asarray(np.expm1(np.log1p(np.asarray(rate_per_year, dtype=float)) / MONTHS_PER_YEAR))


def annuity_usd_per_month(principal_usd: npt.ArrayLike, rate_per_year: npt.ArrayLike, months: npt.ArrayLike) -> Array:
    """Equal monthly payment of a loan, rate / 12 a month, paid at the month's end.

    Formula: P i / (1 - (1+i)^-n) with i = rate / 12; P / n at a zero rate (the limit).
    """
    i = np.asarray(rate_per_year, dtype=float) / MONTHS_PER_YEAR
    n = np.asarray(months, dtype=float)
    safe = np.where(i > 0, i, 1.0)
    factor = np.where(i > 0, safe / -np.expm1(-n * np.log1p(safe)), 1.0 / n)
    return np.asarray(principal_usd * factor)


def loan_balance_usd(
    principal_usd: npt.ArrayLike, rate_per_year: npt.ArrayLike, months: npt.ArrayLike, paid: npt.ArrayLike
) -> Array:
    """Balance left after ``paid`` monthly payments; 0 from the last payment on.

    Formula: P ((1+i)^n - (1+i)^k) / ((1+i)^n - 1); P (1 - k/n) at a zero rate.
    """
    i = np.asarray(rate_per_year, dtype=float) / MONTHS_PER_YEAR
    n = np.asarray(months, dtype=float)
    k = np.minimum(np.asarray(paid, dtype=float), n)
    safe = np.where(i > 0, i, 1.0)
    # written with decaying powers: (1+i)^n overflows for a long loan at a high rate
    share = np.where(i > 0, np.expm1((k - n) * np.log1p(safe)) / np.expm1(-n * np.log1p(safe)), 1.0 - k / n)
    return np.asarray(principal_usd * share)


@dataclass(frozen=True)
class FlowTerms:
    """All that the months depend on; every number may be an array, all broadcast together.

    demand_requests_per_month: what may move to own machines at month 0; infinity = as much as they can take.
    capacity_requests_per_month: planned, i.e. utilization x capacity x availability; 0 where nothing runs.
    api_usd_per_request: what the API would charge for a served request at month 0.
    licence_usd_per_request: fee for a request that own machines serve, at month 0; it follows the API's price level.
    running_usd_per_month: paid whether used or not. principal_usd: part of the capex that a loan pays.
    """

    api_usd_per_request: Array
    demand_requests_per_month: Array
    capacity_requests_per_month: Array
    rented_share: Array
    price_change_per_year: Array
    demand_growth_per_year: Array
    licence_usd_per_request: Array
    running_usd_per_month: Array
    capex_usd: Array
    residual_usd: Array
    principal_usd: Array
    loan_rate_per_year: Array
    loan_months: Array
    horizon_months: Array
    discount_rate_per_year: Array
    weights: tuple[float, ...] = FLAT

    @property
    def shape(self) -> tuple[int, ...]:
        """Broadcast shape of all numbers."""
        return np.broadcast_shapes(*(np.shape(getattr(self, f.name)) for f in fields(self) if f.name != "weights"))

    def take(self, mask: npt.NDArray[np.bool_]) -> "FlowTerms":
        """The terms where the mask (of ``shape``) is true, flattened."""
        shape = self.shape
        values: dict[str, Any] = {
            f.name: np.broadcast_to(getattr(self, f.name), shape)[mask] for f in fields(self) if f.name != "weights"
        }
        return replace(self, **values)

    def served_requests(self, months: npt.ArrayLike) -> Array:
        """Requests served by own machines in each month; shape (..., months), or (..., 1) when no month differs."""
        cap = self.capacity_requests_per_month[..., None]
        growth = np.log1p(self.demand_growth_per_year)[..., None] / MONTHS_PER_YEAR
        m = np.asarray(months, dtype=float) if (growth != 0).any() else np.zeros(1)
        demand = self.demand_requests_per_month[..., None] * np.exp(growth * m)
        with np.errstate(over="ignore"):  # more than can be written is 'as much as they can take', which infinity means
            load = np.divide(demand, cap, out=np.zeros(np.broadcast_shapes(demand.shape, cap.shape)), where=cap > 0)
        return np.asarray(cap * used_share(self.weights, self.rented_share[..., None], load))

    def price_level(self, months: npt.ArrayLike) -> Array:
        """API price relative to month 0: (1+g)^(m/12); shape (..., months)."""
        change = np.log1p(self.price_change_per_year)[..., None] / MONTHS_PER_YEAR
        if not (change != 0).any():
            return np.ones((*change.shape[:-1], 1))
        return np.asarray(np.exp(change * np.asarray(months, dtype=float)))

    def interest_usd(self, months: npt.ArrayLike) -> Array:
        """Interest paid at the end of each month; shape (..., months)."""
        if not (self.principal_usd > 0).any():
            return np.zeros(1)
        i = self.loan_rate_per_year[..., None] / MONTHS_PER_YEAR
        m = np.asarray(months, dtype=float)
        return (
            loan_balance_usd(
                self.principal_usd[..., None], self.loan_rate_per_year[..., None], self.loan_months[..., None], m
            )
            * i
        )

    def value_usd(self, months: npt.ArrayLike) -> Array:
        """API value of the served tokens less licence; shape (..., months)."""
        worth = (self.api_usd_per_request - self.licence_usd_per_request)[..., None]
        return np.asarray(worth * self.price_level(months) * self.served_requests(months))

    def operating_saving_usd(self, months: npt.ArrayLike) -> Array:
        """API value of the served tokens less licence and running cost, before any interest; shape (..., months)."""
        return np.asarray(self.value_usd(months) - self.running_usd_per_month[..., None])


@dataclass(frozen=True)
class Flow:
    """Outcome of a cash flow: arrays of the terms' shape, each computed when it is first asked for.

    ``payback_months`` is infinity for 'never' (and, without ``extend``, for anything later than the horizon).
    """

    terms: FlowTerms
    extend: bool = True

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        return self.terms.shape

    @cached_property
    def _horizon(self) -> Array:
        return np.broadcast_to(self.terms.horizon_months, self._shape)

    @cached_property
    def _months(self) -> npt.NDArray[np.int64]:
        return np.arange(int(self._horizon.max()) if self._horizon.size else 1)

    @cached_property
    def _capex(self) -> Array:
        return np.broadcast_to(self.terms.capex_usd, self._shape)

    @cached_property
    def steady(self) -> bool:
        """No volume that changes and no interest: payback and present value have a closed form."""
        terms = self.terms
        return not ((terms.demand_growth_per_year != 0).any() or (terms.principal_usd > 0).any())

    @cached_property
    def _operating(self) -> Array:
        return np.broadcast_to(self.terms.operating_saving_usd(self._months), (*self._shape, self._months.size))

    @cached_property
    def _saving(self) -> Array:
        return np.asarray(self._operating - self.terms.interest_usd(self._months))

    @cached_property
    def _cumulative(self) -> Array:
        total = np.cumsum(self._saving, axis=-1)
        total -= self._capex[..., None]
        return np.asarray(total)

    @property
    def cumulative_usd(self) -> Array:
        """Cumulative flow at the end of each month, up to the longest horizon; shape (..., months)."""
        return self._cumulative

    @cached_property
    def _inside(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self._months < self._horizon[..., None])

    @cached_property
    def _within(self) -> Array:
        return np.where(self._inside, self._cumulative, -np.inf)

    @cached_property
    def _factor(self) -> Array:
        """Present value of a USD at each month's end; 0 after the horizon."""
        rate = monthly_rate(self.terms.discount_rate_per_year)[..., None]
        return np.asarray(np.exp(-np.log1p(rate) * (self._months + 1.0)) * self._inside)

    @cached_property
    def _first_value(self) -> Array:
        """API value, less licence, of the requests served in month 0, whose price level is 1."""
        terms = self.terms
        worth = terms.api_usd_per_request - terms.licence_usd_per_request
        return np.asarray(worth * terms.served_requests(np.zeros(1))[..., 0])

    @cached_property
    def first_saving_usd(self) -> Array:
        """Saving of month 0, interest taken off."""
        if self.steady:
            return np.broadcast_to(self._first_value - self.terms.running_usd_per_month, self._shape)
        return self._saving[..., 0]

    @cached_property
    def final_usd(self) -> Array:
        """Cumulative flow at the horizon."""
        if self.steady:
            terms = self.terms
            level = np.log1p(terms.price_change_per_year) / MONTHS_PER_YEAR
            earned = self._first_value * _power_sum(level, self._horizon)
            return np.asarray(earned - terms.running_usd_per_month * self._horizon - self._capex)
        last = (self._horizon.astype(int) - 1)[..., None]
        return np.asarray(np.take_along_axis(self._cumulative, last, axis=-1)[..., 0])

    @cached_property
    def payback_months(self) -> Array:
        """Months until the cumulative flow reaches zero."""
        if self.steady:
            found = _geometric_payback(self.terms, self._first_value, -self._capex, np.zeros(self._shape))
            found = found if self.extend else np.where(found <= self._horizon, found, np.inf)
            return _without_capex(self._capex, self.first_saving_usd, found)
        found = _first_zero(self._cumulative, -self._capex, 0, self._capex)
        found = np.where(found <= self._horizon, found, np.inf)
        if self.extend:
            found = _extend(self.terms, found, self.final_usd, self._horizon)
        return _without_capex(self._capex, self.first_saving_usd, found)

    @property
    def payback_days(self) -> Array:
        """Days until the cumulative flow is zero; infinity for never."""
        return np.asarray(self.payback_months * DAYS_PER_MONTH)

    @cached_property
    def discounted_payback_months(self) -> Array:
        """Months until the discounted cumulative flow reaches zero; infinity when not within the horizon."""
        discounted = np.cumsum(self._saving * self._factor, axis=-1) - self._capex[..., None]
        found = _first_zero(np.where(self._inside, discounted, -np.inf), -self._capex, 0, self._capex)
        return _without_capex(self._capex, self.first_saving_usd, found)

    @cached_property
    def npv_usd(self) -> Array:
        """Net present value of the money that moves, residual value included."""
        terms = self.terms
        rate = monthly_rate(terms.discount_rate_per_year)
        if self.steady:
            worth = _steady_worth_usd(terms, self._first_value, self._horizon)
        else:
            worth = np.einsum("...m,...m->...", self._operating, self._factor)
        residual = np.broadcast_to(terms.residual_usd, self._shape) * np.exp(-np.log1p(rate) * self._horizon)
        return np.asarray(worth + financing_npv_usd(terms, self._months.size) - self._capex + residual)

    @cached_property
    def _peak(self) -> npt.NDArray[np.intp]:
        return np.asarray(np.argmax(self._within, axis=-1))

    @property
    def peak_month(self) -> npt.NDArray[np.intp]:
        """Month (1 = the first) at whose end the cumulative flow is highest within the horizon."""
        return np.asarray(self._peak + 1)

    @property
    def peak_usd(self) -> Array:
        """Cumulative flow at its highest."""
        return np.asarray(np.take_along_axis(self._within, self._peak[..., None], axis=-1)[..., 0])


def settle(flows: Sequence[Flow]) -> None:
    """Compute payback, end and present value of many flows of one number each at once, as each would for itself.

    A table of machines asks all of them for these; alone, each would take as long as all together.

    Args:
        flows: of the same weights and the same ``extend``.
    """
    if len(flows) < 2:
        return
    names = [f.name for f in fields(FlowTerms) if f.name != "weights"]
    stacked: dict[str, Any] = {
        name: np.array([float(np.asarray(getattr(flow.terms, name)).reshape(())) for flow in flows]) for name in names
    }
    together = Flow(replace(flows[0].terms, **stacked), flows[0].extend)
    for name in ("payback_months", "final_usd", "npv_usd"):
        for flow, value in zip(flows, getattr(together, name), strict=True):
            vars(flow)[name] = np.asarray(value)


def _power_sum(log_factor: Array, count: Array) -> Array:
    """Sum of x^m over m = 0 .. count - 1, of x by its logarithm: (x^count - 1) / (x - 1), or count where x is 1."""
    flat = np.abs(log_factor) < 1e-12  # over 50 years, nothing
    safe = np.where(flat, 1.0, log_factor)
    with np.errstate(over="ignore", invalid="ignore"):  # of the branch that is not taken
        return np.asarray(np.where(flat, count, np.expm1(safe * count) / np.expm1(safe)))


def _steady_worth_usd(terms: FlowTerms, value: Array, horizon: Array) -> Array:
    """Present value of the operating savings where only the price moves.

    With the discount factor d of a month, the monthly price factor p, the running cost O and the value v of month 0, it
    is the sum over m = 0..H-1 of (v p^m - O) d^(m+1) = d (v g(p d) - O g(d)), g as in `_power_sum`.
    """
    discount = -np.log1p(monthly_rate(terms.discount_rate_per_year))
    level = np.log1p(terms.price_change_per_year) / MONTHS_PER_YEAR
    running = terms.running_usd_per_month
    earned, spent = _power_sum(level + discount, horizon), _power_sum(discount, horizon)
    return np.asarray(np.exp(discount) * (value * earned - running * spent))


NEAR: Final = 1e-9
"""Share of the capex by which a flow may miss zero and still counts as there: less than a cent of a million USD.

A value solved for 'pays back just so' touches zero at the peak; put back, rounding must not make it 'never'.
"""


def _first_zero(cumulative: Array, start: Array, first_month: int, capex: Array) -> Array:
    """Months until the cumulative flow (ends of months) first reaches zero, interpolated; infinity if it does not."""
    reached = cumulative >= -NEAR * np.abs(capex)[..., None]
    index = np.argmax(reached, axis=-1)
    any_reached = np.any(reached, axis=-1)
    at = np.take_along_axis(cumulative, index[..., None], axis=-1)[..., 0]
    before = np.take_along_axis(cumulative, np.maximum(index - 1, 0)[..., None], axis=-1)[..., 0]
    before = np.where(index == 0, start, before)
    step = at - before
    part = np.minimum(np.divide(-before, step, out=np.zeros(step.shape), where=step > 0), 1.0)
    return np.where(any_reached, first_month + index + part, np.inf)


def _without_capex(capex: Array, saving: Array, months: Array) -> Array:
    """Where nothing was paid: 0 if the first month saves, never if it saves exactly nothing.

    A fleet that loses money at first has its losses to pay back, so the months found hold for it too.
    """
    owes = (capex > 0) | (saving < 0)
    return np.where(owes, months, np.where(saving > 0, 0.0, np.inf))


def evaluate_flow(terms: FlowTerms, *, extend: bool = True) -> Flow:
    """Payback, discounted payback, NPV and the peak of the cumulative flow.

    Args:
        terms: all numbers, broadcast together.
        extend: look beyond the horizon (to ``NEVER_MONTHS``) for a payback; otherwise later than the horizon is inf.
    """
    return Flow(terms, extend)


def _extend(terms: FlowTerms, payback: Array, last: Array, horizon: Array) -> Array:
    """Continue the search month by month past the horizon, only where it is still open and not hopeless."""
    payback = np.array(payback, dtype=float)
    pending = np.array(np.isinf(payback))
    cumulative = np.array(last, dtype=float)
    flat = terms.take(pending)
    pending[pending] = cumulative[pending] + _most_still_to_come_usd(flat, horizon[pending] * 1.0) >= 0
    if not pending.any():
        return payback
    flat = terms.take(pending)
    if not (flat.demand_growth_per_year != 0).any() and not np.any(flat.interest_usd(horizon[pending][:, None]) > 0):
        begin = horizon[pending] * 1.0
        value = flat.value_usd(begin[:, None])[:, 0]
        payback[pending] = _geometric_payback(flat, value, cumulative[pending], begin)
        return payback
    for start in range(0, NEVER_MONTHS, _BLOCK):
        if not pending.any():
            break
        sub = terms.take(pending)
        begin = horizon[pending]
        months = begin[:, None] + start + np.arange(_BLOCK)
        saving = sub.operating_saving_usd(months) - sub.interest_usd(months)
        saving = np.broadcast_to(saving, months.shape)
        run = cumulative[pending][:, None] + np.cumsum(saving, axis=-1)
        found = _first_zero(run, cumulative[pending], 0, sub.capex_usd) + begin + start
        found = np.where(found <= NEVER_MONTHS, found, np.inf)
        payback[pending] = found
        cumulative[pending] = run[:, -1]
        pending[pending] = np.isinf(found) & (run[:, -1] + _most_still_to_come_usd(sub, months[:, -1] + 1.0) >= 0)
    return payback


def _geometric_payback(terms: FlowTerms, value: Array, cumulative: Array, begin: Array) -> Array:
    """Payback in months after ``begin`` where the volume no longer changes and no interest is left.

    With the value v of month ``begin`` before running cost O and the monthly price factor p, n more months add
    v (1 - p^n) / (1 - p) - O n, or (v - O) n at p = 1. For p <= 1 the sum rises until the month's value falls below O,
    for p > 1 it turns upward once, so in both cases one whole month, up to the last that can help, is the first.
    """
    running = terms.running_usd_per_month
    level = np.log1p(terms.price_change_per_year) / MONTHS_PER_YEAR
    level = np.where(np.abs(level) < 1e-12, 0.0, level)  # slower than that, 50 years change nothing
    moving = level != 0
    rate = np.where(moving, level, 1.0)

    # v (1 - p^n) / (1 - p) = scale (p^n - 1); where the price stands still its part joins what grows with n
    scale = np.where(moving, value / np.expm1(rate), 0.0)
    cost = np.where(moving, running, running - value)

    slack = NEAR * np.abs(terms.capex_usd)

    def after(n: Array) -> Array:
        return np.asarray(cumulative + scale * np.expm1(rate * n) - cost * n)

    most = NEVER_MONTHS - begin
    falls = (level < 0) & (running > 0) & (value > running)
    ratio = np.where(falls, running / np.where(falls, value, 1.0), 1.0)
    paying = np.floor(np.divide(np.log(ratio), np.where(falls, level, -1.0))) + 1.0
    high = np.maximum(np.where(falls, np.minimum(most, paying), most), 0.0)
    at = after(high)
    reached = at >= -slack
    low, before = np.zeros_like(high), np.broadcast_to(cumulative, high.shape)
    # Newton's method between the months says which month it is; the two whole months around it are then tried
    saving = value - running
    # a wild guess is no harm: it is only tried; dividing where asked for takes longer than dividing everywhere
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        near = np.where((saving > 0) & (high > 0), -cumulative / saving, high)
        for _ in range(_NEWTON_STEPS):
            near = np.minimum(np.maximum(near, 0.0), high)
            power = np.exp(rate * near)
            slope = scale * rate * power - cost
            gap = cumulative + scale * (power - 1.0) - cost * near
            near = near - np.where(slope > 0, gap / slope, 0.0)
    near = np.floor(near)
    for tried in (near, near + 1.0):
        middle = np.minimum(np.maximum(tried, low), high)
        there = after(middle)
        enough = there >= -slack
        sooner = enough & (middle > low)
        high, at = np.where(sooner, middle, high), np.where(sooner, there, at)
        low, before = np.where(enough, low, middle), np.where(enough, before, there)
    # where that was not it, whole months are bisected
    left = np.flatnonzero(reached & (high - low > 1))
    if left.size:
        parts = (cumulative, scale, rate, cost, slack, low, high)
        found = _bisect_months(*(np.broadcast_to(x, high.shape).ravel()[left] for x in parts))
        high = high.copy()
        high.flat[left] = found
        before, at = after(high - 1.0), after(high)
    part = np.minimum(np.divide(-before, at - before, out=np.zeros(at.shape), where=at > before), 1.0)
    return np.where(reached & (high > 0), begin + high - 1.0 + part, np.inf)


def _bisect_months(
    cumulative: Array, scale: Array, rate: Array, cost: Array, slack: Array, low: Array, high: Array
) -> Array:
    """First whole month after ``low``, at the latest ``high``, at whose end the flow is there; flat arrays."""
    while bool((high - low > 1).any()):
        middle = np.floor(0.5 * (low + high))
        enough = cumulative + scale * np.expm1(rate * middle) - cost * middle >= -slack
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return high


def _most_still_to_come_usd(terms: FlowTerms, month: Array) -> Array:
    """Upper bound of all savings from ``month`` on: no interest, stopped when they no longer pay.

    The machines serve at most their capacity, and where the demand does not grow at most the demand of today.

    With a falling price (monthly factor p < 1) the months that still pay are n = ceil(ln(O / v) / ln p), and the sum is
    v (1 - p^n) / (1 - p) - O n, with v the month's value and O the running cost. Otherwise unbounded while v > O.
    """
    level = np.log1p(terms.price_change_per_year) / MONTHS_PER_YEAR
    most = terms.capacity_requests_per_month * terms.rented_share
    most = np.where(terms.demand_growth_per_year > 0, most, np.minimum(most, terms.demand_requests_per_month))
    full = most * (terms.api_usd_per_request - terms.licence_usd_per_request)
    value = full * np.exp(level * month)
    cost = terms.running_usd_per_month
    falls = level < -1e-12  # slower than that, 50 years change nothing; the bound below is then infinite, which holds
    pays = value > cost
    ratio = np.divide(cost, value, out=np.ones(value.shape), where=pays)
    positive = falls & pays & (ratio > 0)
    n = np.ceil(np.divide(np.log(np.where(positive, ratio, 1.0)), np.where(falls, level, -1.0)))
    # 1 - p and 1 - p^n by expm1, which keeps its digits where the price falls slowly
    fall = np.where(falls, level, -1.0)
    decaying = value * np.where(positive, np.expm1(n * fall), -1.0) / np.expm1(fall) - np.where(positive, cost * n, 0.0)
    return np.where(falls, np.where(pays, decaying, 0.0), np.where(pays | (level > 0), np.inf, 0.0))


def financing_npv_usd(terms: FlowTerms, length: int) -> Array:
    """Present value of a loan: the principal received now, less the payments and the balance left at the horizon."""
    if not (terms.principal_usd > 0).any():
        return np.zeros(())
    rate = monthly_rate(terms.discount_rate_per_year)[..., None]
    months = np.arange(length)
    n = np.minimum(terms.loan_months, terms.horizon_months)[..., None]
    payment = annuity_usd_per_month(terms.principal_usd, terms.loan_rate_per_year, terms.loan_months)[..., None]
    paid = (payment * (months < n) * np.exp(-np.log1p(rate) * (months + 1.0))).sum(axis=-1)
    left = loan_balance_usd(terms.principal_usd, terms.loan_rate_per_year, terms.loan_months, terms.horizon_months)
    return np.asarray(terms.principal_usd - paid - left * np.exp(-np.log1p(rate[..., 0]) * terms.horizon_months))


@dataclass(frozen=True)
class Schedule:
    """The months of one scenario, row by row, as a controller ticks them off; arrays of shape (months,)."""

    month: Array
    price_level: Array
    served_requests: Array
    api_value_usd: Array
    licence_usd: Array
    running_usd: Array
    interest_usd: Array
    principal_repaid_usd: Array
    loan_balance_usd: Array
    saving_usd: Array
    cumulative_usd: Array
    discounted_cumulative_usd: Array
    cash_usd: Array
    depreciation_usd: Array
    book_value_usd: Array


def schedule(terms: FlowTerms) -> Schedule:
    """Month-by-month table of one scalar scenario; ``cash_usd`` is the money that really moves at each month's end."""
    n = int(terms.horizon_months)
    m = np.arange(n, dtype=np.float64)
    level = np.broadcast_to(terms.price_level(m), (n,))
    served = np.broadcast_to(terms.served_requests(m), (n,))
    value = terms.api_usd_per_request * level * served
    licence = terms.licence_usd_per_request * level * served
    running = np.full(n, float(terms.running_usd_per_month))
    interest = np.broadcast_to(terms.interest_usd(m), (n,))
    balance = loan_balance_usd(terms.principal_usd, terms.loan_rate_per_year, terms.loan_months, np.arange(n + 1.0))
    repaid = balance[:-1] - balance[1:]
    saving = value - licence - running - interest
    cumulative = np.cumsum(saving) - terms.capex_usd
    factor = np.exp(-np.log1p(monthly_rate(terms.discount_rate_per_year)) * (m + 1.0))
    discounted = np.cumsum(saving * factor) - terms.capex_usd
    cash = saving - repaid
    cash[-1] += terms.residual_usd - balance[-1]
    depreciation = np.full(n, float((terms.capex_usd - terms.residual_usd) / n))
    book = terms.capex_usd - np.cumsum(depreciation)
    return Schedule(
        m + 1.0,
        level,
        served,
        value,
        licence,
        running,
        interest,
        repaid,
        balance[1:],
        saving,
        cumulative,
        discounted,
        cash,
        depreciation,
        book,
    )


def irr_per_year(flows_usd: npt.ArrayLike) -> float | None:
    """Yearly internal rate of return of monthly flows (flow 0 is now), or None where there is none.

    Bisection on the monthly rate, between -99 % a year and +1000 % a month, of NPV(i) = sum f_k (1+i)^-k; the yearly
    rate is (1+i)^12 - 1. None when the first flow is not an outlay (nothing was invested), none is positive, or the
    sign of the NPV does not change in the range.
    """
    flows = np.asarray(flows_usd, dtype=float)
    moving = flows[flows != 0]
    if not moving.size or moving[0] > 0 or not (moving > 0).any():
        return None
    k = np.arange(flows.size)

    def value(rate: float) -> float:
        # scaled by the largest power so that a rate near -1 cannot overflow
        exponent = -k * np.log1p(rate)
        return float((flows * np.exp(exponent - exponent.max())).sum())

    low, high = 0.01 ** (1.0 / MONTHS_PER_YEAR) - 1.0, 10.0
    if value(low) * value(high) > 0:
        return None
    rising = value(low) < 0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break  # neighbours: nothing between them
        if (value(middle) < 0) == rising:
            low = middle
        else:
            high = middle
    return float(np.expm1(MONTHS_PER_YEAR * np.log1p(0.5 * (low + high))))
