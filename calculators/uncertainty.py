"""How sure: the payback's likely range, the probability that it pays back, and which inputs it hangs on.

Each uncertain input has a low, a typical and a high value from data/ (data/distributions.toml says which figure and
which distribution). 10,000 draws go through the same `evaluate` as the headline, in arrays. The draws are the same for
everyone: a fixed seed, one stream an input, so a link shows the same figures to all, and a small change of an input
moves them a little (common random numbers). Each input's 10,000 draws are stratified, one in each 10,000th of its
probability (Latin hypercube, McKay et al. 1979), which converges faster than plain draws.

Correlations. One draw of the API price change holds for all months and for both API prices. Spares, support and the
residual value are shares of the hardware price, so they move with it.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final, Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt

from calculators.cashflow import NEVER_MONTHS
from calculators.catalog import DATA, Catalog, CatalogError
from calculators.evaluate import Inputs, Result, evaluate, moved
from calculators.pins import Distribution
from calculators.records import Figure, Record
from calculators.resolve import CATALOGUE_FIELDS, Resolved
from calculators.scenario import SPECS
from calculators.texts import Language, said, text
from calculators.units import DAYS_PER_MONTH
from calculators.verdict import Band

Array = npt.NDArray[np.float64]

DRAWS: Final = 10_000
SEED: Final = 20261129
BAND_Z: Final = 1.2815515655446004
"""Standard deviations from the median to the 10th and 90th percentile of a normal distribution."""

PERT_WEIGHT: Final = 4.0
"""Weight of the most likely value in a PERT distribution: mean = (low + 4 typical + high) / 6."""

_CHUNK: Final = 5000
"""Draws evaluated at once where months count one by one: draws x months of an array stay near the processor."""

_TABLE_POINTS: Final = 2049
_BINS: Final = 40
_PAYBACK_BINS: Final = 96
"""Two a month at the usual horizon of 48 months."""

Typed = Literal["fixed", "scaled", "share of the rest", "widened", "realised"]


class InputRule(Record):
    """One row of data/distributions.toml: how an input is drawn and where its range stands."""

    name: str
    distribution: Distribution
    figure: str
    typed: Typed


@dataclass(frozen=True)
class Uncertain:
    """An input with its range, in the input's own unit. ``low`` <= ``typical`` <= ``high``, not all the same."""

    name: str
    distribution: Distribution
    low: float
    typical: float
    high: float
    source: str
    date: str
    kind: str

    @property
    def unit(self) -> str:
        """Unit of the three values; a factor has none."""
        return SPECS[self.name].unit if self.name in SPECS else "ratio"

    def title(self, language: Language = "en") -> str:
        """The input as a sentence names it: 'the hardware price'."""
        return text(f"uncertain.{self.name}", language)

    def draws(self, count: int) -> Array:
        """The input's draws, the same for everyone; shape (count,)."""
        if self.distribution == "lognormal":
            low, high = math.log(self.low), math.log(self.high)
            return np.asarray(np.exp(0.5 * (low + high) + (high - low) / (2.0 * BAND_Z) * _normals(self.name, count)))
        # a range keeps its shape while other inputs move, so the beta draws are made once
        alpha = pert_alpha(self.low, self.typical, self.high)
        return np.asarray(self.low + (self.high - self.low) * _beta_draws(self.name, count, alpha))


@dataclass(frozen=True)
class Quantiles:
    """10th, 50th and 90th percentile; infinity = never."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True)
class Histogram:
    """Shares of the draws between neighbouring edges; they sum to 1 less what lies beyond the edges."""

    edges: Array
    shares: Array


@dataclass(frozen=True)
class Bar:
    """One input of the tornado: everything else typical, this one at its low and at its high. Infinity = never."""

    input: Uncertain
    payback_days_at_low: float
    payback_days_at_high: float
    npv_usd_at_low: float
    npv_usd_at_high: float

    @property
    def swing_days(self) -> float:
        """Difference of the payback between the ends; infinity where one end never pays back, 0 where both do not."""
        low, high = self.payback_days_at_low, self.payback_days_at_high
        return 0.0 if math.isinf(low) and math.isinf(high) else abs(high - low)

    @property
    def swing_npv_usd(self) -> float:
        """Difference of the net present value between the ends."""
        return abs(self.npv_usd_at_high - self.npv_usd_at_low)

    @property
    def rank(self) -> tuple[float, float]:
        """Sort key, largest first: swing of the payback with 'never' as 50 years, then swing of the NPV."""
        most = NEVER_MONTHS * DAYS_PER_MONTH
        low, high = min(self.payback_days_at_low, most), min(self.payback_days_at_high, most)
        return abs(high - low), self.swing_npv_usd


@dataclass(frozen=True)
class Uncertainty:
    """What the draws and the tornado say of one scenario, against today's offer.

    probability_pays_back counts paybacks within the horizon, probability_never those that `cashflow` calls never; the
    rest pays back after the horizon. probability_npv_above_zero is what counts where nothing is bought: there is
    nothing to pay back then.
    """

    payback_days: Quantiles
    npv_usd: Quantiles
    probability_pays_back: float
    probability_never: float
    payback_histogram: Histogram
    npv_histogram: Histogram
    probability_npv_above_zero: float
    inputs: tuple[Uncertain, ...]
    tornado: tuple[Bar, ...]
    draws: int = DRAWS
    seed: int = SEED

    def band(self) -> Band:
        """The 80 % band of the payback, for the verdict."""
        return Band(self.payback_days.p10, self.payback_days.p90)

    def fragile(self, language: Language = "en") -> tuple[str, str] | None:
        """The two inputs with the largest swing, as a sentence names them; None when fewer than two matter."""
        moving = [bar for bar in self.tornado if bar.rank > (0.0, 0.0)]
        return None if len(moving) < 2 else (moving[0].input.title(language), moving[1].input.title(language))

    def to_json(self) -> dict[str, Any]:
        """For the report: finite numbers, None for never."""
        return {
            "payback_days": _quantiles_json(self.payback_days),
            "probability_pays_back": self.probability_pays_back,
            "probability_never": self.probability_never,
            "probability_npv_above_zero": self.probability_npv_above_zero,
            "npv_usd": _quantiles_json(self.npv_usd),
            "draws": self.draws,
            "seed": self.seed,
            "tornado": [
                {
                    "input": bar.input.name,
                    "title": bar.input.title(),
                    "unit": bar.input.unit,
                    "distribution": bar.input.distribution,
                    "low": bar.input.low,
                    "typical": bar.input.typical,
                    "high": bar.input.high,
                    "payback_days_at_low": finite(bar.payback_days_at_low),
                    "payback_days_at_high": finite(bar.payback_days_at_high),
                    "swing_days": finite(bar.swing_days),
                    "npv_usd_at_low": finite(bar.npv_usd_at_low),
                    "npv_usd_at_high": finite(bar.npv_usd_at_high),
                    "swing_npv_usd": finite(bar.swing_npv_usd),
                    "source": bar.input.source,
                    "date": bar.input.date,
                    "kind": bar.input.kind,
                }
                for bar in self.tornado
            ],
        }


def finite(value: float) -> float | None:
    """The number, or None where it is infinite or unknown."""
    return value if math.isfinite(value) else None


def _quantiles_json(q: Quantiles) -> dict[str, float | None]:
    return {"p10": finite(q.p10), "p50": finite(q.p50), "p90": finite(q.p90)}


# ------------------------------------------------------------------------------------------------------ distributions


@lru_cache(maxsize=128)
def _pert_table(alpha: float) -> tuple[Array, Array]:
    """Distribution function of a beta(alpha, 6 - alpha) on a grid, by the trapezoid rule (both parameters >= 1)."""
    t = np.linspace(0.0, 1.0, _TABLE_POINTS)
    beta = 2.0 + PERT_WEIGHT - alpha
    density = t ** (alpha - 1.0) * (1.0 - t) ** (beta - 1.0)
    area = np.concatenate(([0.0], np.cumsum(density[1:] + density[:-1])))
    return area / area[-1], t


def pert_alpha(low: float, typical: float, high: float) -> float:
    """First parameter of a PERT's beta distribution, 1 + 4 (typical - low) / (high - low); the second is 6 less it."""
    return round(1.0 + PERT_WEIGHT * (typical - low) / (high - low), 12)


@lru_cache(maxsize=64)
def _beta_draws(name: str, count: int, alpha: float) -> Array:
    draws = np.interp(uniforms(name, count), *_pert_table(alpha))
    draws.flags.writeable = False
    return draws


def pert_quantile(u: npt.ArrayLike, low: float, typical: float, high: float) -> Array:
    """Values of a PERT distribution at the probabilities ``u``, in the unit of ``low``.

    Formula: low + (high - low) x, with x from beta(1 + 4 (typical - low) / (high - low), 1 + 4 (high - typical) /
    (high - low)); its distribution function is inverted on a grid of 2,049 points.
    """
    if high <= low:
        return np.full(np.shape(u), typical, dtype=float)
    cdf, t = _pert_table(pert_alpha(low, typical, high))
    return np.asarray(low + (high - low) * np.interp(np.asarray(u, dtype=float), cdf, t))


@lru_cache(maxsize=64)
def uniforms(name: str, count: int = DRAWS) -> Array:
    """The stratified probabilities of an input: always the same for a name and a count. Read-only, shape (count,)."""
    stream = np.random.Generator(np.random.PCG64(np.random.SeedSequence([SEED, crc32(name.encode())])))
    u = (stream.permutation(count) + stream.random(count)) / count
    u.flags.writeable = False
    return u


@lru_cache(maxsize=64)
def _normals(name: str, count: int) -> Array:
    inverse = NormalDist().inv_cdf
    z = np.array([inverse(p) for p in uniforms(name, count).tolist()])
    z.flags.writeable = False
    return z


# ------------------------------------------------------------------------------------------------------------- ranges


@lru_cache(maxsize=4)
def load_rules(path: str = str(DATA / "distributions.toml")) -> tuple[tuple[InputRule, ...], Mapping[str, Figure]]:
    """Rules and own figures of data/distributions.toml.

    Raises:
        CatalogError: a rule names an unknown input or figure, or a record is malformed.
    """
    with open(path, "rb") as file:
        data = tomllib.load(file)
    rules = tuple(InputRule.model_validate(row) for row in data.pop("input", []))
    figures = {key: Figure.model_validate(value) for key, value in data.items()}
    for rule in rules:
        where, _, _ = rule.figure.partition(".")
        if rule.name not in Inputs.__dataclass_fields__:
            raise CatalogError("distributions.toml", rule.name, "it is not an input of the calculation")
        if where not in ("opex", "system", "throughput") and rule.figure not in figures:
            raise CatalogError("distributions.toml", rule.name, f"its figure {rule.figure!r} does not exist")
    return rules, figures


def _matters(name: str, resolved: Resolved) -> bool:
    """Whether the calculation reads the input at all in this scenario."""
    i = resolved.inputs
    rented = i.acquisition == "rent"
    return {
        "rent_usd_per_accelerator_hour": rented,
        "hardware_usd": not rented,
        "spares_share": not rented,
        "residual_share": not rented,
        "support_share_per_year": not rented,
        "power_kw": not rented,
        "colocation_usd_per_kw_month": not rented and i.facility == "colocation",
        "electricity_usd_per_kwh": not rented and i.facility == "own",
        "pue": not rented and i.facility == "own",
        "loan_rate": i.acquisition == "loan",
        "demand_growth_per_year": i.demand != "fill",
    }.get(name, True)


def _typed(name: str, resolved: Resolved) -> bool:
    """Whether a person chose the value; a scenario keeps no record of a typed default, so that counts as default."""
    chosen = getattr(resolved.scenario, name, None)
    return chosen is not None if name in CATALOGUE_FIELDS else chosen != SPECS[name].default


def _figure(rule: InputRule, resolved: Resolved, catalog: Catalog, own: Mapping[str, Figure]) -> Figure | None:
    where, _, key = rule.figure.partition(".")
    if where == "opex":
        return catalog.opex.get(key)
    if where == "system":
        figure: Figure | None = getattr(resolved.system, key)
        return figure
    return own.get(rule.figure)


def _span(rule: InputRule, value: float, figure: Figure, typed: bool) -> tuple[float, float]:
    """Low and high of an input whose value is ``value``, from the figure's range."""
    low = figure.value if figure.low is None else figure.low
    high = figure.value if figure.high is None else figure.high
    if rule.typed == "realised":
        ends = sorted((value * low, value * high))
        return ends[0], ends[1]
    if rule.typed == "widened":
        return min(low, value), max(high, value)
    if typed and rule.typed == "fixed":
        return value, value
    if value == figure.value:
        return low, high
    if rule.typed == "share of the rest":
        scale = (1.0 - value) / (1.0 - figure.value) if figure.value < 1 else 0.0
        return 1.0 - (1.0 - low) * scale, 1.0 - (1.0 - high) * scale
    scale = value / figure.value if figure.value else 0.0
    return low * scale, high * scale


def uncertain_inputs(resolved: Resolved, result: Result, catalog: Catalog) -> tuple[Uncertain, ...]:
    """The inputs with a width in this scenario, with their ranges, in the order of data/distributions.toml."""
    rules, own = load_rules()
    today = {u.name: u for u in _uncertain_today(resolved, result, catalog, rules, own)}
    names = [rule.name for rule in rules if rule.name in resolved.ranges or not resolved.all_ranges]
    found = []
    for name in dict.fromkeys((*names, *resolved.ranges)):
        entry = _ranged(name, resolved) or today.get(name)
        if entry is not None and entry.high > entry.low and _matters(name, resolved):
            same = today.get(name)
            drawn = (entry.distribution, entry.low, entry.high)
            found.append(same if same is not None and drawn == (same.distribution, same.low, same.high) else entry)
    return tuple(found)


def _ranged(name: str, resolved: Resolved) -> Uncertain | None:
    """An input with the range that the link carries, or None where it carries none for this value."""
    pin = resolved.ranges.get(name)
    value = float(np.asarray(getattr(resolved.inputs, name)))
    if pin is None or (pin.distribution == "lognormal" and value <= 0):
        return None
    unit = value if name == "throughput_factor" else 1.0
    low, high = min(pin.low * unit, value), max(pin.high * unit, value)
    return Uncertain(name, pin.distribution, low, value, high, said("said_source.pinned"), "", "pinned")


def _uncertain_today(
    resolved: Resolved,
    result: Result,
    catalog: Catalog,
    rules: Sequence[InputRule],
    own: Mapping[str, Figure],
) -> tuple[Uncertain, ...]:
    """The inputs with a width by the rules and figures of data/."""
    found = []
    for rule in rules:
        if not _matters(rule.name, resolved):
            continue
        value = float(np.asarray(getattr(resolved.inputs, rule.name)))
        if rule.figure == "throughput":
            s = result.sizing
            low, high = value * float(s.low_factor), value * float(s.high_factor)
            source = f"80 % band of the error where the throughput is {s.evidence} (calibration.toml)"
            entry = Uncertain(
                rule.name, rule.distribution, min(low, value), value, max(high, value), source, "", "derived"
            )
        else:
            figure = _figure(rule, resolved, catalog, own)
            if figure is None:
                continue
            low, high = _span(rule, value, figure, _typed(rule.name, resolved))
            spec = SPECS[rule.name]
            low = low if spec.minimum is None else max(low, min(spec.minimum, value))
            high = high if spec.maximum is None else min(high, max(spec.maximum, value))
            entry = Uncertain(
                rule.name,
                rule.distribution,
                min(low, value),
                value,
                max(high, value),
                figure.source,
                str(figure.date),
                figure.kind,
            )
        if entry.high > entry.low:
            found.append(entry)
    return tuple(found)


# -------------------------------------------------------------------------------------------------------------- draws


def draw(inputs: Sequence[Uncertain], count: int = DRAWS) -> dict[str, Array]:
    """The draws of each input by name, arrays of shape (count,)."""
    return {u.name: u.draws(count) for u in inputs}


def _quantiles(sorted_values: Array) -> Quantiles:
    """Smallest value that at least 10, 50 and 90 % of the draws do not exceed (infinity is ordered, not averaged)."""
    return Quantiles(*(float(sorted_values[_place(p, sorted_values.size)]) for p in (0.1, 0.5, 0.9)))


def _place(share: float, count: int) -> int:
    """Where among ``count`` values in order the smallest stands that at least this share of them do not exceed."""
    return max(math.ceil(share * count) - 1, 0)


def outcomes(inputs: Inputs, result: Result, draws: Mapping[str, Array], count: int = DRAWS) -> tuple[Array, Array]:
    """Payback in days (infinity = never) and NPV in USD of each draw, arrays of shape (count,).

    Args:
        inputs: scalars of the scenario.
        result: their evaluation; its sizing is reused, as no uncertain input changes the operating point.
        draws: values that replace the inputs of the same names.
        count: number of draws.
    """
    if not draws:
        # the same numbers as the headline, to the last bit
        days, npv = float(result.flow.payback_days), float(result.flow.npv_usd)
        return np.full(count, days), np.full(count, npv)
    days_of, npv_of = np.empty(count), np.empty(count)
    by_month = not result.flow.steady or "demand_growth_per_year" in draws
    step = math.ceil(count / max(round(count / _CHUNK), 1)) if by_month else count
    for start in range(0, count, step):
        part = slice(start, min(start + step, count))
        columns: dict[str, Any] = {name: values[part] for name, values in draws.items()}
        flow = evaluate(moved(inputs, **columns), sizing=result.sizing).flow
        days_of[part] = flow.payback_days
        npv_of[part] = flow.npv_usd
    return days_of, npv_of


def cash_band(inputs: Inputs, result: Result, uncertain: Sequence[Uncertain], count: int = 400) -> tuple[Array, Array]:
    """Band of the cumulative cash flow: its 10th and 90th percentile at the start and at the end of each month, USD.

    Args:
        inputs: scalars of the scenario.
        result: their evaluation.
        uncertain: what is drawn.
        count: draws; enough for a band on a chart, far fewer than for the probabilities.

    Returns:
        Two arrays of shape (months + 1,), the capex (negative) first.
    """
    drawn: dict[str, Any] = dict(draw(uncertain, count))
    flow = evaluate(moved(inputs, **drawn), sizing=result.sizing, extend=False).flow
    months = np.broadcast_to(flow.cumulative_usd, (count, flow.cumulative_usd.shape[-1]))
    start = np.broadcast_to(-np.asarray(flow.terms.capex_usd, dtype=float), (count,))
    ordered = np.sort(np.column_stack([start, months]), axis=0)
    return ordered[_place(0.1, count)], ordered[_place(0.9, count)]


def tornado(inputs: Inputs, result: Result, uncertain: Sequence[Uncertain]) -> tuple[Bar, ...]:
    """Each input at its low and its high with the rest typical, largest swing first."""
    cases = 2 * len(uncertain)
    return _bars(uncertain, *outcomes(inputs, result, _ends(inputs, uncertain), cases)) if uncertain else ()


def _ends(inputs: Inputs, uncertain: Sequence[Uncertain]) -> dict[str, Array]:
    """Cases of the tornado: in case 2k input k is at its low, in case 2k + 1 at its high, all others are typical."""
    columns: dict[str, Array] = {}
    for k, u in enumerate(uncertain):
        column = np.full(2 * len(uncertain), float(np.asarray(getattr(inputs, u.name))))
        column[2 * k], column[2 * k + 1] = u.low, u.high
        columns[u.name] = column
    return columns


def _bars(uncertain: Sequence[Uncertain], days: Array, npv: Array) -> tuple[Bar, ...]:
    bars = [
        Bar(u, float(days[2 * k]), float(days[2 * k + 1]), float(npv[2 * k]), float(npv[2 * k + 1]))
        for k, u in enumerate(uncertain)
    ]
    return tuple(sorted(bars, key=lambda bar: bar.rank, reverse=True))


def _histogram(values: Array, edges: Array, count: int) -> Histogram:
    counts, _ = np.histogram(values, edges)
    return Histogram(edges, counts / count)


def summarise(resolved: Resolved, result: Result, catalog: Catalog, count: int = DRAWS) -> Uncertainty | None:
    """Draws, probabilities and tornado of a scalar scenario; None where there is no payback to be unsure of.

    Args:
        resolved: scenario with numbers and records.
        result: its evaluation.
        catalog: the records that give the ranges.
        count: draws.
    """
    sizing = result.sizing
    known = bool(sizing.fits) and str(sizing.evidence) != "none" and bool(np.isfinite(result.baseline_usd_per_request))
    if not known:
        return None
    uncertain = uncertain_inputs(resolved, result, catalog)
    # draws and the tornado's cases in one evaluation
    drawn, ends = draw(uncertain, count), _ends(resolved.inputs, uncertain)
    columns = {name: np.concatenate((values, ends[name])) for name, values in drawn.items()}
    days, npv = outcomes(resolved.inputs, result, columns, count + 2 * len(uncertain))
    bars = _bars(uncertain, days[count:], npv[count:])
    days, npv = days[:count], npv[:count]
    horizon = float(np.asarray(resolved.inputs.horizon_months))
    months = days / DAYS_PER_MONTH
    within = int(np.count_nonzero(months <= horizon * (1 + 1e-12)))
    never = int(np.count_nonzero(np.isinf(days)))
    ordered = np.sort(npv)
    middle = ordered[int(0.005 * count) : max(math.ceil(0.995 * count), 1)]
    low, high = float(middle[0]), float(middle[-1])
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return Uncertainty(
        payback_days=_quantiles(np.sort(days)),
        npv_usd=_quantiles(ordered),
        probability_pays_back=within / count,
        probability_never=never / count,
        payback_histogram=_histogram(days, np.linspace(0.0, horizon * DAYS_PER_MONTH, _PAYBACK_BINS + 1), count),
        npv_histogram=_histogram(npv, np.linspace(low, high, _BINS + 1), count),
        probability_npv_above_zero=int(np.count_nonzero(npv > 0)) / count,
        inputs=uncertain,
        tornado=bars,
        draws=count,
    )
