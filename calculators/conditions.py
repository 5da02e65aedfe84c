"""What must be true: the value of each input alone at which a purchase just reaches its target.

Targets: the wanted payback in days, a net present value of 0, and, where nothing is paid at the start, a monthly saving
of 0. Every question moves one input and leaves the rest; the tokens stay what they are (a lower API price does not buy
more of them). All questions are solved together, a grid of each in one call of `evaluate`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from calculators.cashflow import NEVER_MONTHS
from calculators.evaluate import Inputs, Result, evaluate, moved
from calculators.resolve import PRICE_FIELDS, Resolved
from calculators.scenario import AMOUNT_OF, SPECS, Scenario, from_values
from calculators.serverless import PriceNow
from calculators.solve import crossing
from calculators.texts import Language, text
from calculators.units import DAYS_PER_MONTH, TOKENS_PER_MTOK

Array = npt.NDArray[np.float64]
Target = Literal["payback", "npv", "saving"]
Outcome = Literal["value", "any", "none"]

_POINTS: Final = 33
_ROUNDS: Final = 26
_LATEST_MONTHS: Final = NEVER_MONTHS - 1e-6
"""A payback of 50 years and more is 'never', so no later one can be a target."""
_MOST_PRICE_FACTOR: Final = 100.0
_MOST_THROUGHPUT_FACTOR: Final = 100.0


@dataclass(frozen=True)
class Condition:
    """One input and the value at which the target is just reached.

    outcome: 'value'; 'any' = every value within the bounds reaches the target; 'none' = no value does.
    now, value, low, high: in ``unit``. at_least: True where the target is reached at or above ``value``, False at or
    below. exact: False where the result jumps at ``value`` past the target (it pays back sooner, or never).
    change: scenario fields that put the value in place; empty where no scenario field can.
    """

    name: str
    unit: str
    now: float
    low: float
    high: float
    outcome: Outcome
    value: float | None = None
    at_least: bool = True
    exact: bool = True
    change: Mapping[str, object] = field(default_factory=dict)

    def title(self, language: Language = "en") -> str:
        """Name of the input as a table shows it."""
        return text(f"must.{self.name}", language)

    @property
    def met_now(self) -> bool:
        """Whether today's value reaches the target."""
        if self.value is None:
            return self.outcome == "any"
        return self.now >= self.value if self.at_least else self.now <= self.value


@dataclass(frozen=True)
class Conditions:
    """All conditions of a scenario for one target."""

    target: Target
    target_days: float
    rows: tuple[Condition, ...]


@dataclass(frozen=True)
class Frontier:
    """Payback and NPV over two inputs, arrays of the shape (utilization, price change); infinity = never.

    ``load_needed`` is the smallest utilization that pays back within the horizon at the scenario's price change or,
    where nothing is bought, that has an NPV of 0; None where full machines do not either.
    """

    api_price_change_per_year: Array
    utilization: Array
    payback_days: Array
    npv_usd: Array
    load_needed: float | None
    here_price_change: float
    here_utilization: float


@dataclass(frozen=True)
class _Question:
    """An input of `Inputs` to move between two values; ``shown`` and ``change`` translate its value for people."""

    name: str
    field: str
    low: float
    high: float
    unit: str
    shown: Callable[[float], float]
    change: Callable[[float], Mapping[str, object]]


def _same(x: float) -> float:
    return x


def fixed_volume(inputs: Inputs, result: Result) -> Inputs:
    """The same inputs with a demand of 'spend' written as requests, so that a price does not change the volume."""
    if inputs.demand != "spend":
        return inputs
    return moved(inputs, demand="requests", demand_amount=float(result.demand_requests_per_month))


def _price_in_force(price: PriceNow, input_tokens: float) -> dict[str, float]:
    step: Any = price
    for tier in price.tiers:
        if input_tokens > tier.above_input_tokens:
            step = tier
    return {name: float(np.asarray(getattr(step, name))) for name in PRICE_FIELDS}


def _price_change(
    resolved: Resolved, inputs: Inputs, volume: Mapping[str, object], factor: float
) -> Mapping[str, object]:
    """Scenario fields that multiply the API bill: the four prices, or the discount where a batch price counts too."""
    if inputs.baseline is None:
        return {}
    if inputs.baseline_batch is not None and resolved.scenario.batch_share > 0:
        discount = 1.0 - (1.0 - resolved.scenario.api_discount) * factor
        return {"api_discount": discount, **volume} if 0 <= discount <= 1 else {}
    prices = _price_in_force(inputs.baseline, resolved.scenario.input_tokens)
    return {**{name: value * factor for name, value in prices.items()}, **volume}


def _questions(resolved: Resolved, result: Result, target: Target) -> list[_Question]:
    scenario, inputs = resolved.scenario, resolved.inputs
    found: list[_Question] = []
    requests = float(result.demand_requests_per_month)
    volume: dict[str, object] = {}
    if scenario.demand == "spend":
        volume = {"demand": "requests", "demand_requests_per_month": requests}

    def plain(name: str, **more: object) -> None:
        spec = SPECS[name]
        low = -math.inf if spec.minimum is None else spec.minimum
        high = math.inf if spec.maximum is None else spec.maximum
        found.append(_Question(name, name, low, high, spec.unit, _same, lambda x: {name: x, **more}))

    usd = float(result.baseline_usd_per_request)
    per_mtok = usd / float(np.asarray(inputs.input_tokens + inputs.output_tokens)) * TOKENS_PER_MTOK
    if usd > 0:
        scale = per_mtok / float(np.asarray(inputs.api_price_factor))
        found.append(
            _Question(
                "api_price_factor",
                "api_price_factor",
                0.0,
                _MOST_PRICE_FACTOR,
                "USD/Mtok",
                lambda x: x * scale,
                lambda x: _price_change(resolved, inputs, volume, x),
            )
        )
        plain("api_discount", **volume)
    plain("api_price_change_per_year")
    plain("utilization")
    rate = float(result.sizing.output_tokens_per_s)
    if rate > 0:
        site = inputs.sizing
        systems = float(np.asarray(inputs.system_count))
        # a load test counts for a whole machine, or for a replica where one replica takes several machines
        per_system = float(result.sizing.replicas) if site.devices > site.accelerators_per_system else systems
        found.append(
            _Question(
                "throughput_factor",
                "throughput_factor",
                0.0,
                _MOST_THROUGHPUT_FACTOR,
                "tokens/s",
                lambda x: x * rate,
                lambda x: {"measured_output_tokens_per_s": x * rate / per_system},
            )
        )
    plain("availability")
    if inputs.demand != "fill":
        amount = AMOUNT_OF[scenario.demand]
        now = float(np.asarray(inputs.demand_amount))
        movable = float(np.asarray(inputs.migratable_share))
        usable = float(result.terms.capacity_requests_per_month)
        if requests > 0 and now > 0 and movable > 0 and usable > 0:
            # the peak hours of an uneven week spill over, so the demand may have to be far above the mean capacity
            most = min(usable * 168.0 / movable / requests, (SPECS[amount].maximum or math.inf) / now)
            found.append(
                _Question(
                    "demand_amount",
                    "demand_amount",
                    0.0,
                    most * (requests if scenario.demand == "spend" else now),
                    SPECS[amount].unit,
                    (lambda x: x * usd) if scenario.demand == "spend" else _same,
                    (lambda x: {amount: x * usd}) if scenario.demand == "spend" else (lambda x: {amount: x}),
                )
            )
        plain("migratable_share")
        plain("demand_growth_per_year")
    if inputs.acquisition == "rent":
        plain("rent_usd_per_accelerator_hour")
    else:
        plain("hardware_usd")
        plain("support_share_per_year")
        if inputs.facility == "colocation":
            plain("colocation_usd_per_kw_month")
        else:
            plain("electricity_usd_per_kwh")
    if inputs.acquisition == "loan":
        plain("loan_rate")
    plain("staff_fte")
    if float(np.asarray(inputs.other_opex_usd_per_month)) > 0:
        plain("other_opex_usd_per_month")
    if float(np.asarray(inputs.other_capex_usd)) > 0:
        plain("other_capex_usd")
    if target == "npv":
        plain("discount_rate")
        if inputs.acquisition != "rent":
            plain("residual_share")
    return found


def _saved_until(result: Result, months: float) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Highest point of the cumulative cash flow up to a time, USD, and whether that point is the time itself."""
    whole = max(math.ceil(months), 1)
    m = np.arange(whole, dtype=np.float64)
    terms = result.terms
    shape = terms.shape
    saving = np.broadcast_to(terms.operating_saving_usd(m) - terms.interest_usd(m), (*shape, whole)).copy()
    saving[..., -1] *= months - (whole - 1)
    cumulative = np.cumsum(saving, axis=-1) - np.broadcast_to(terms.capex_usd, shape)[..., None]
    peak = np.argmax(cumulative, axis=-1)
    top = np.take_along_axis(cumulative, peak[..., None], axis=-1)[..., 0]
    return top, peak == whole - 1


def _gap(target: Target, months: float, result: Result) -> Array:
    if target == "payback":
        return _saved_until(result, months)[0]
    if target == "npv":
        return np.asarray(result.flow.npv_usd)
    return np.asarray(result.saving_usd_per_month)


def _inverse(x: Array, g: Array) -> tuple[float, float] | None:
    """Where g is zero, by inverse interpolation through four points (Neville), and by how much three differ from four.

    None where two points have the same g. On a straight line the difference is none at once.
    """
    values = [float(v) for v in g]
    if not all(map(math.isfinite, values)) or len(set(values)) < len(values):
        return None
    p = [float(v) for v in x]
    before = p[0]
    for order in range(1, len(p)):
        for i in range(len(p) - order):
            a, b = values[i], values[i + order]
            p[i] = (b * p[i] - a * p[i + 1]) / (b - a)
        if order == len(p) - 2:
            before = p[0]
    return p[0], abs(p[0] - before)


def _solve(
    questions: list[_Question], gaps: Callable[[list[_Question], Array], Array]
) -> list[tuple[Outcome, float, bool]]:
    """For each question: outcome, the first value where the gap changes its sign, and whether it rises there.

    Each round evaluates 33 points of every open question at once and keeps the first interval with a change of sign,
    until inverse interpolation is settled there: three and four points agree to 1e-11 of the interval and of the value.
    Until then the next round looks where they nearly agree, and in the whole interval where that is not enough.
    """
    answers: list[tuple[Outcome, float, bool]] = [("none", math.nan, True)] * len(questions)
    whole = [(q.low, q.high) for q in questions]
    bounds = list(whole)
    active = list(range(len(questions)))
    for turn in range(_ROUNDS):
        if not active:
            break
        x = np.array([np.linspace(*bounds[k], _POINTS) for k in active])
        g = gaps([questions[k] for k in active], x)
        still = []
        for row, k in enumerate(active):
            xs, gs = x[row], g[row]
            change = np.flatnonzero(np.sign(gs[:-1]) * np.sign(gs[1:]) <= 0)
            change = change[(gs[change] != 0) | (gs[change + 1] != 0)]
            if not change.size:
                if turn == 0:
                    answers[k] = ("any" if bool(np.all(gs >= 0)) else "none", math.nan, True)
                elif bounds[k] != whole[k]:
                    bounds[k] = whole[k]
                    still.append(k)
                continue
            i = int(change[0])
            rises = bool(gs[i + 1] > gs[i])
            low, high = float(xs[i]), float(xs[i + 1])
            first = min(max(i - 1, 0), _POINTS - 4)
            found = _inverse(xs[first : first + 4], gs[first : first + 4])
            spacing = float(xs[1] - xs[0])
            whole[k] = bounds[k] = (low, high)
            if found is not None and low <= found[0] <= high:
                root, apart = found
                if apart <= 1e-11 * min(spacing, abs(root) + 1e-12 * spacing):
                    answers[k] = ("value", root, rises)
                    continue
                bounds[k] = (max(low, root - 4.0 * apart), min(high, root + 4.0 * apart))
            answers[k] = ("value", 0.5 * (low + high), rises)
            if high - low > 1e-13 * max(abs(low), abs(high)):
                still.append(k)
        active = still
    return answers


def conditions(
    resolved: Resolved, result: Result, target: Target = "payback", target_days: float | None = None
) -> Conditions:
    """What each input alone must be for the target to be reached.

    Args:
        resolved: a scalar scenario with its numbers.
        result: its evaluation; its sizing is reused, as no question changes the operating point.
        target: 'payback' in ``target_days``, or 'npv' = 0. Without any capex 'payback' becomes 'saving': the monthly
            saving is 0, since such a purchase has nothing to pay back.
        target_days: None takes the scenario's target_payback_days; at most 50 years, as a later payback is 'never'.

    Returns:
        One row a question; none where no throughput or no price is known.
    """
    wanted = resolved.scenario.target_payback_days if target_days is None else target_days
    days = min(wanted, _LATEST_MONTHS * DAYS_PER_MONTH)
    sizing = result.sizing
    if target == "payback" and float(result.ownership.capex_usd) == 0:
        target = "saving"
    known = (
        bool(sizing.fits) and str(sizing.evidence) != "none" and math.isfinite(float(result.baseline_usd_per_request))
    )
    if not known:
        return Conditions(target, days, ())
    months = days / DAYS_PER_MONTH
    base = fixed_volume(resolved.inputs, result)
    questions = _questions(resolved, result, target)

    def gaps(asked: list[_Question], x: Array) -> Array:
        columns: dict[str, Any] = {}
        for place, q in enumerate(asked):
            column = np.full(x.shape, float(np.asarray(getattr(base, q.field))))
            column[place] = x[place]
            columns[q.field] = column
        found = evaluate(moved(base, **columns), sizing=sizing, extend=False)
        return np.broadcast_to(_gap(target, months, found), x.shape)

    answers = _solve(questions, gaps)
    solved = [k for k, (outcome, _, _) in enumerate(answers) if outcome == "value"]
    exact = {k: True for k in solved}
    if target == "payback" and solved:
        # each value put in place, all in one call: does the flow reach zero at the target itself, or at a peak before?
        at: dict[str, Any] = {}
        for place, k in enumerate(solved):
            name = questions[k].field
            column = at.setdefault(name, np.full(len(solved), float(np.asarray(getattr(base, name)))))
            column[place] = answers[k][1]
        there = _saved_until(evaluate(moved(base, **at), sizing=sizing, extend=False), months)[1]
        exact = dict(zip(solved, np.broadcast_to(there, (len(solved),)).tolist(), strict=True))
    # 'auto' would choose another number of machines once a value moves: it is held at the number chosen
    held = {"system_count": int(np.asarray(base.system_count))} if resolved.scenario.system_count == "auto" else {}
    rows = []
    for k, (q, (outcome, value, rises)) in enumerate(zip(questions, answers, strict=True)):
        now = float(np.asarray(getattr(base, q.field)))
        row = Condition(q.name, q.unit, q.shown(now), q.shown(q.low), q.shown(q.high), outcome)
        if outcome == "value":
            row = replace(row, value=q.shown(value), at_least=rises, exact=exact[k], change=_and(q.change(value), held))
        rows.append(row)
    return Conditions(target, days, tuple(rows))


def _and(change: Mapping[str, object], more: Mapping[str, object]) -> Mapping[str, object]:
    """Both sets of fields; nothing where the first is empty: then no field holds the value."""
    return {**change, **more} if change else {}


def put_back(scenario: Scenario, condition: Condition) -> Scenario | None:
    """The scenario with a condition's value in place; None where no scenario field can hold it."""
    if not condition.change:
        return None
    there, problems = from_values({**scenario.model_dump(), **condition.change})
    return None if problems else there


def frontier(inputs: Inputs, result: Result, *, points: int = 25) -> Frontier:
    """Payback over the API price change and the share of the capacity that is used.

    The machines are taken as filled to each share, whatever the demand is given as, so growth does not enter.

    Args:
        inputs: scalars.
        result: their evaluation.
        points: on the price axis; the other axis has as many.
    """
    base = moved(fixed_volume(inputs, result), demand="fill")
    here_change = float(np.asarray(inputs.api_price_change_per_year))
    change = np.linspace(min(-0.6, here_change), max(0.2, here_change), points)
    load = np.linspace(1.0 / points, 1.0, points)
    found = evaluate(
        moved(base, api_price_change_per_year=change[None, :], utilization=load[:, None]), sizing=result.sizing
    )
    days, npv = (np.broadcast_to(v, (points, points)) for v in (found.flow.payback_days, found.flow.npv_usd))
    horizon = float(np.asarray(inputs.horizon_months))
    bought = float(result.ownership.capex_usd) > 0

    def gap(u: Array) -> Array:
        at = evaluate(moved(base, utilization=u), sizing=result.sizing, extend=False)
        return _saved_until(at, horizon)[0] if bought else np.asarray(at.flow.npv_usd)

    needed = crossing(gap, 0.0, 1.0)
    return Frontier(change, load, days, npv, needed, here_change, float(result.used_share_of_capacity))
