"""Public claims, recomputed: what each says, what follows from its own numbers, and under which inputs it holds.

data/claims.toml has the claims in our words with source, date, the numbers claimed and a scenario. A check here works
out the same quantities with the functions that the app runs on and compares. The rating is the outcome of that
comparison, never a word in a file: other data give another rating.
"""

import datetime as dt
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from calculators.catalog import DATA, Catalog
from calculators.link import changed
from calculators.memory import KvDtype, Layout, model_shape, sequences_that_fit
from calculators.numbers import money, share, three_digits, tokens
from calculators.records import Preset
from calculators.report import Report, build_report
from calculators.scenario import Scenario
from calculators.sizing import Sizing, SizingInputs, size, sizing_inputs
from calculators.solve import crossing
from calculators.texts import Language, catalogue, duration_text, text
from calculators.throughput import operate
from calculators.units import DAYS_PER_MONTH, GIB, TOKENS_PER_MTOK

Array = npt.NDArray[np.float64]
Given = Mapping[str, Any]
Rating = Literal["supported", "holds_only_if", "contradicted", "cannot_be_checked"]

FILE: Final = DATA / "claims.toml"
TIB: Final = 2.0**40
_K3: Final = "kimi-k3"


@dataclass(frozen=True)
class Compared:
    """One number of a claim: as claimed (None = not stated) and as computed (infinity = never)."""

    key: str
    names: Mapping[str, str]
    unit: str
    claimed: float | None
    computed: float

    def name(self, language: Language = "en") -> str:
        """What the number is."""
        return self.names[language]


@dataclass(frozen=True)
class Variant:
    """One combination of c01: mix (id of a preset), speculation, price and running cost, and what it gives."""

    mix: str
    mix_name: str
    cached_tokens_share: float
    accepted_tokens_per_step: float
    offer: str
    with_running_cost: bool
    tokens_per_month: float
    payback_days: float
    evidence: str
    scenario: Scenario
    meets_both: bool

    def title(self, language: Language = "en") -> str:
        """Name of the mix, of the catalogue where no text translates it."""
        key = f"preset.{self.mix.replace('-', '_')}"
        return text(key, language) if key in catalogue() else self.mix_name


@dataclass(frozen=True)
class Claim:
    """A claim with its recomputation and the rating that follows from it."""

    id: str
    texts: Mapping[str, str]
    said_by: str
    date: str
    rating: Rating
    reasons: Mapping[str, str]
    numbers: tuple[Compared, ...]
    scenario: Scenario
    variants: tuple[Variant, ...] = ()

    def statement(self, language: Language = "en") -> str:
        """The claim in our words."""
        return self.texts[language]

    def reason(self, language: Language = "en") -> str:
        """Why it is rated so, with the numbers computed."""
        return self.reasons[language]

    def link(self) -> dict[str, str]:
        """Query parameters that open the claim's scenario."""
        return changed(self.scenario)


@dataclass(frozen=True)
class _Found:
    """Outcome of a check: rating, numbers by key (claimed, computed), words for the reason by language."""

    rating: Rating
    numbers: Mapping[str, tuple[float | None, float]]
    places: Callable[[Language], Mapping[str, object]]
    variants: tuple[Variant, ...] = ()


@dataclass(frozen=True)
class _Case:
    """What a check has to work with."""

    catalog: Catalog
    given: Given
    scenario: Scenario
    rows: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def report(self, **fields: object) -> Report:
        """The claim's scenario with other fields, answered."""
        return build_report(_with(self.scenario, **fields), self.catalog)

    def size(self, system: str, **workload: Any) -> Sizing:
        """Kimi K3 on one machine, unlimited by latency unless a limit is given."""
        return size(self.inputs(system, **workload))

    def inputs(self, system: str, **workload: Any) -> SizingInputs:
        """Kimi K3 on one machine, with the claim's lengths."""
        plain = {"input_tokens": self.scenario.input_tokens, "output_tokens": self.scenario.output_tokens}
        return sizing_inputs(self.catalog, _K3, system, **{**plain, **workload})

    def measured(self, row: str, column: str = "out_tok_s_total") -> float:
        """A measured figure by the id of its row, in the unit of the column; NaN where the row lacks it."""
        return _number(self.rows.get(row, {}).get(column, ""))

    def name(self, system: str) -> str:
        """Name of a machine."""
        return self.catalog.systems[system].name


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _with(scenario: Scenario, **fields: object) -> Scenario:
    return Scenario.model_validate({**scenario.model_dump(), **fields})


def _days(report: Report) -> float:
    """Payback in days; infinity where it never pays back or none can be told."""
    return math.inf if report.days is None else report.days


def _told(days: float, language: Language) -> str:
    return text("payback.never", language) if math.isinf(days) else duration_text(days, language)


def _list(names: Sequence[str], language: Language) -> str:
    return ("、" if language == "zh" else ", ").join(names)


def _close(value: float, claimed: float, tolerance: float) -> bool:
    return abs(value / claimed - 1.0) <= tolerance


def _graded(oks: Sequence[bool]) -> Rating:
    """All of the comparisons hold: supported; some: holds only if; none: contradicted."""
    if all(oks):
        return "supported"
    return "holds_only_if" if any(oks) else "contradicted"


# ------------------------------------------------------------------------------------------------------------- checks

_CHECKS: dict[str, tuple[Callable[[_Case], _Found], tuple[Rating, ...]]] = {}


def _check(name: str, *ratings: Rating) -> Callable[[Callable[[_Case], _Found]], Callable[[_Case], _Found]]:
    """Register a check with the ratings that it can give; data/claims.toml has a reason for each of them."""

    def register(function: Callable[[_Case], _Found]) -> Callable[[_Case], _Found]:
        _CHECKS[name] = (function, ratings)
        return function

    return register


def ratings_of(check: str) -> tuple[Rating, ...]:
    """Ratings that a check can give."""
    return _CHECKS[check][1]


_HARDWARE_ONLY: Final = {
    "spares_share": 0.0,
    "support_share_per_year": 0.0,
    "staff_fte": 0.0,
    "colocation_usd_per_kw_month": 0.0,
}
"""Fields that leave nothing but the price of the machine."""


def _mix(preset: Preset) -> dict[str, object]:
    return {
        "input_tokens": preset.input_tokens,
        "output_tokens": preset.output_tokens,
        "cached_share": preset.cached_share,
    }


def _variants(case: _Case) -> tuple[Variant, ...]:
    """Every mix x speculation x price x running cost of c01."""
    found = []
    for preset in case.catalog.presets.values():
        for accepted in dict.fromkeys((1.0, preset.accepted_tokens_per_step)):
            for offer in case.given["offers"]:
                for full in (True, False):
                    fields = {**_mix(preset), "accepted_tokens_per_step": accepted, "baseline": offer}
                    report = case.report(**fields, **({} if full else _HARDWARE_ONLY))
                    served, days = float(report.result.served_tokens_per_month), _days(report)
                    found.append(
                        Variant(
                            preset.id,
                            preset.name,
                            preset.cached_share * preset.input_tokens / (preset.input_tokens + preset.output_tokens),
                            accepted,
                            offer,
                            full,
                            served,
                            days,
                            report.evidence,
                            report.scenario,
                            served >= case.given["tokens_per_month"] and days < case.given["payback_days"],
                        )
                    )
    return tuple(found)


@_check("volume_and_payback", "supported", "holds_only_if", "contradicted")
def _volume_and_payback(case: _Case) -> _Found:
    given = case.given
    plain = case.report()
    served, days = float(plain.result.served_tokens_per_month), _days(plain)
    variants = _variants(case)
    good = [v for v in variants if v.meets_both]
    as_said = served >= given["tokens_per_month"] and days < given["payback_days"]
    rating: Rating = "supported" if as_said else "holds_only_if" if good else "contradicted"
    # from the claim's own numbers: the saving that pays the capex in time, per million of its tokens
    capex, opex = float(plain.result.ownership.capex_usd), float(plain.result.opex_usd_per_month)
    needed = (capex / (given["payback_days"] / DAYS_PER_MONTH) + opex) / given["tokens_per_month"] * TOKENS_PER_MTOK
    price = plain.inputs.baseline
    assert price is not None  # the offers of the file are priced
    cheap, dear = float(np.asarray(price.input_usd_per_mtok)), float(np.asarray(price.output_usd_per_mtok))
    listed = float(plain.result.baseline_usd_per_request) / (case.scenario.input_tokens + case.scenario.output_tokens)
    best = min(variants, key=lambda v: (not v.meets_both, v.payback_days))

    def places(language: Language) -> dict[str, object]:
        spec = "claim_words.speculation" if best.accepted_tokens_per_step > 1 else "claim_words.no_speculation"
        cost = "claim_words.full_cost" if best.with_running_cost else "claim_words.hardware_only"
        return {
            "tokens": tokens(served),
            "days": _told(days, language),
            "n": len(variants),
            "k": len(good),
            "needed": three_digits(needed),
            "listed": three_digits(listed * TOKENS_PER_MTOK),
            "output": share((needed - cheap) / (dear - cheap)),
            "best_mix": best.title(language),
            "best_tokens": tokens(best.tokens_per_month),
            "best_days": _told(best.payback_days, language),
            "best_cached": share(best.cached_tokens_share),
            "best_evidence": text(f"evidence.{best.evidence}", language),
            "best_how": _list((text(spec, language), text(cost, language)), language),
        }

    return _Found(
        rating,
        {
            "tokens": (given["tokens_per_month"], served),
            "days": (given["payback_days"], days),
            "needed": (None, needed),
            "listed": (None, listed * TOKENS_PER_MTOK),
        },
        places,
        variants,
    )


@_check("measured_saving", "supported", "holds_only_if", "contradicted", "cannot_be_checked")
def _measured_saving(case: _Case) -> _Found:
    saved = {}
    for name, before, after in case.given["pairs"]:
        saved[name] = 1.0 - case.measured(before) / case.measured(after)
    known = {name: value for name, value in saved.items() if math.isfinite(value)}
    claimed = case.given["saved_share"]
    rating: Rating = "cannot_be_checked" if not known else _graded([v > claimed for v in known.values()])

    def places(language: Language) -> dict[str, object]:
        return {
            "most": share(max(known.values(), default=0.0)),
            "least": share(min(known.values(), default=0.0)),
        }

    return _Found(rating, {name: (claimed, value) for name, value in known.items()}, places)


@_check("spend_threshold", "supported", "holds_only_if", "contradicted")
def _spend_threshold(case: _Case) -> _Found:
    spend = case.given["usd_per_month"]
    named = case.report(demand="spend", demand_usd_per_month=spend)
    horizon = case.scenario.horizon_months * DAYS_PER_MONTH
    paying, even = {}, {}
    for system in case.catalog.systems.values():
        if system.bound_only or system.hardware_usd is None:
            continue
        report = case.report(
            system=system.id, hardware_usd=None, system_count=1, demand="spend", demand_usd_per_month=spend
        )
        if report.status is None:
            continue
        if report.even.api_usd_per_month is not None:
            even[system.id] = report.even.api_usd_per_month
        if _days(report) <= horizon:
            paying[system.id] = _days(report)
    own = named.even.api_usd_per_month if named.even.api_usd_per_month is not None else math.inf
    cheapest = min(even.values(), default=math.inf)
    rating: Rating = "supported" if _days(named) <= horizon else "holds_only_if" if paying else "contradicted"

    def places(language: Language) -> dict[str, object]:
        return {
            "machine": case.name(case.scenario.system),
            "even": money(own) if math.isfinite(own) else _told(own, language),
            "least": money(cheapest) if math.isfinite(cheapest) else _told(cheapest, language),
            "machines": _list([case.name(s) for s in paying], language),
            "horizon": case.scenario.horizon_months,
            "days": _told(_days(named), language),
        }

    return _Found(rating, {"even": (spend, own), "least": (None, cheapest), "days": (None, _days(named))}, places)


@_check("weights_per_accelerator", "supported", "holds_only_if", "contradicted")
def _weights_per_accelerator(case: _Case) -> _Found:
    given = case.given
    weights = case.catalog.models[_K3].weights_bytes.value
    each = weights / given["accelerators"]
    fits = {s: bool(case.size(s).fits) for s in given["systems"]}
    total_ok = _close(weights, given["weights_tb"] * 1e12, given["tolerance"])
    unit_ok = _close(each / GIB, given["per_accelerator_gib"], given["tolerance"])
    slip = _close(each / 1e9, given["per_accelerator_gib"], given["tolerance"])
    rating: Rating = "contradicted"
    if all(fits.values()) and total_ok:
        rating = "supported" if unit_ok else "holds_only_if" if slip else "contradicted"

    def places(language: Language) -> dict[str, object]:
        return {
            "gb": three_digits(each / 1e9),
            "gib": three_digits(each / GIB),
            "claimed": given["per_accelerator_gib"],
            "implied": three_digits(given["per_accelerator_gib"] * GIB * given["accelerators"] / 1e12),
            "total": f"{weights / 1e12:.2f}",
            "fitting": _list([case.name(s) for s, ok in fits.items() if ok], language) or "0",
        }

    return _Found(
        rating,
        {
            "weights": (given["weights_tb"], weights / 1e12),
            "gib": (given["per_accelerator_gib"], each / GIB),
            "gb": (None, each / 1e9),
        },
        places,
    )


@_check("weights_and_room", "supported", "holds_only_if", "contradicted")
def _weights_and_room(case: _Case) -> _Found:
    given = case.given
    weights = case.catalog.models[_K3].weights_bytes.value
    fit = case.size(given["system"])
    room = float(fit.max_concurrent_sequences) if bool(fit.fits) else 0.0
    free = float(fit.usable_bytes) * case.scenario.gpu_memory_utilization - weights
    rating = _graded([_close(weights / TIB, given["weights_tib"], given["tolerance"]), room >= 1])

    def places(language: Language) -> dict[str, object]:
        return {
            "tib": f"{weights / TIB:.2f}",
            "free": f"{max(free, 0.0) / 1e9:,.0f} GB",
            "sequences": f"{room:,.0f}",
            "length": f"{case.scenario.input_tokens + case.scenario.output_tokens:,}",
        }

    return _Found(
        rating,
        {"weights": (given["weights_tib"], weights / TIB), "sequences": (None, room), "free": (None, free / 1e9)},
        places,
    )


@_check("few_at_long_context", "supported", "holds_only_if", "contradicted")
def _few_at_long_context(case: _Case) -> _Found:
    given = case.given
    length = float(given["context_tokens"])
    site = case.inputs(given["system"]).site
    usable, share_used = site.chip.usable_bytes, case.scenario.gpu_memory_utilization

    def resident(dtype: KvDtype, ranks: int) -> float:
        layout = Layout(tp=given["accelerators"], dcp=ranks)
        return math.floor(float(sequences_that_fit(site.shape, layout, dtype, usable, share_used, length)))

    sharded, wide = resident("fp8", given["accelerators"]), resident("bf16", given["accelerators"])
    copied = resident("fp8", 1)
    few = given["few"]
    rating: Rating = "supported" if sharded <= few else "holds_only_if" if copied <= few else "contradicted"

    def places(language: Language) -> dict[str, object]:
        return {"sharded": f"{sharded:,.0f}", "wide": f"{wide:,.0f}", "copied": f"{copied:,.0f}", "few": few}

    return _Found(rating, {"copied": (few, copied), "sharded": (few, sharded), "wide": (few, wide)}, places)


@_check("smallest_machine", "supported", "holds_only_if", "contradicted")
def _smallest_machine(case: _Case) -> _Found:
    given = case.given
    named = case.catalog.systems[given["system"]]
    assert named.hardware_usd is not None  # the catalogue has its price
    fits = bool(case.size(named.id).fits)
    maker = case.catalog.accelerators[named.accelerator].vendor
    same: list[str] = []
    other: list[str] = []
    for system in case.catalog.systems.values():
        if (
            system.accelerator == named.accelerator
            or system.weights_bytes_override is not None
            or system.streaming_bytes_per_s is not None
        ):
            continue
        sized = case.size(system.id)
        price = system.hardware_usd
        smaller = price is not None and price.value < named.hardware_usd.value
        if bool(sized.fits) and smaller and system.accelerators <= named.accelerators:
            vendor = case.catalog.accelerators[system.accelerator].vendor
            (same if vendor == maker else other).append(system.id)
    rating: Rating = "contradicted" if not fits or same else "holds_only_if" if other else "supported"

    def places(language: Language) -> dict[str, object]:
        return {
            "maker": maker,
            "others": _list([case.name(s) for s in (*same, *other)], language),
            "machine": named.name,
        }

    return _Found(rating, {"smaller": (0.0, float(len(same) + len(other)))}, places)


@_check("single_stream", "supported", "holds_only_if", "contradicted", "cannot_be_checked")
def _single_stream(case: _Case) -> _Found:
    """A speed of one request with speculation: measured rows, and the acceptance that the model needs for it."""
    given = case.given
    claimed = given["tokens_per_s"]
    rows = {
        key: row
        for key, row in case.rows.items()
        if _close(_number(row["tok_s_per_user"]) or math.nan, claimed, given["tolerance"])
        and any(row["hardware"].startswith(name) for name in given["hardware"])
    }
    base = float(case.size(given["system"]).single_stream_tokens_per_s)

    def speed(accepted: Array) -> Array:
        found = case.size(given["system"], accepted_tokens_per_step=accepted).single_stream_tokens_per_s
        return np.broadcast_to(found, np.shape(accepted)).astype(float)

    needed = crossing(lambda a: speed(a) - claimed, 1.0, given["most_accepted"])
    usual = float(speed(np.asarray(given["usual_accepted"], dtype=float)))
    rating: Rating
    if rows:
        rating = "supported"
    elif needed is None:
        rating = "contradicted"
    else:
        rating = "supported" if needed <= given["accepted"] else "holds_only_if"

    def places(language: Language) -> dict[str, object]:
        return {
            "rows": _list(sorted(rows), language),
            "needed": "-" if needed is None else three_digits(needed),
            "accepted": given["accepted"],
            "usual": three_digits(usual),
            "usual_accepted": given["usual_accepted"],
            "base": three_digits(base),
            "most": given["most_accepted"],
            "most_speed": three_digits(float(speed(np.asarray(float(given["most_accepted"]))))),
        }

    numbers: dict[str, tuple[float | None, float]] = {
        "base": (given.get("base_tokens_per_s"), base),
        "speed": (claimed, float(speed(np.asarray(float(given["accepted"]))))),
        "usual": (None, usual),
    }
    if needed is not None:
        numbers["needed"] = (None, needed)
    return _Found(rating, numbers, places)


@_check("single_stream_elsewhere", "supported", "holds_only_if", "contradicted")
def _single_stream_elsewhere(case: _Case) -> _Found:
    """A speed that was measured on another maker's machine."""
    given = case.given
    claimed = given["tokens_per_s"]
    at_speed = {
        key: row["hardware"]
        for key, row in case.rows.items()
        if _close(_number(row["tok_s_per_user"]) or math.nan, claimed, given["tolerance"])
    }
    here = [key for key, hardware in at_speed.items() if any(hardware.startswith(n) for n in given["hardware"])]
    elsewhere = {key: hardware for key, hardware in at_speed.items() if key not in here}
    fastest = {
        s: float(case.size(s, accepted_tokens_per_step=given["most_accepted"]).single_stream_tokens_per_s)
        for s in given["systems"]
    }
    best = max(fastest.values())
    rating: Rating = "supported" if here else "holds_only_if" if best >= claimed else "contradicted"

    def places(language: Language) -> dict[str, object]:
        found = next(iter(elsewhere.items()), ("", ""))
        return {
            "best": three_digits(best),
            "most": given["most_accepted"],
            "row": found[0] or "-",
            "hardware": found[1].split(" (")[0] or "-",
        }

    return _Found(rating, {"speed": (claimed, best)}, places)


@_check("bound", "contradicted", "cannot_be_checked")
def _bound(case: _Case) -> _Found:
    """A speed on a machine that nobody measured: it can only be held against the bandwidth bound."""
    given = case.given
    sized = case.size(given["system"])
    bound = float(sized.single_stream_tokens_per_s)
    rating: Rating = "cannot_be_checked" if bool(sized.fits) and bound >= given["tokens_per_s"] else "contradicted"
    system = case.catalog.systems[given["system"]]
    usable = system.accelerators * case.catalog.accelerators[system.accelerator].memory_usable_bytes.value

    def places(language: Language) -> dict[str, object]:
        return {
            "bound": three_digits(bound),
            "claimed": given["tokens_per_s"],
            "share": share(given["tokens_per_s"] / bound) if bound > 0 else "-",
            "usable": f"{usable / 1e12:.2f} TB",
        }

    return _Found(
        rating,
        {"speed": (given["tokens_per_s"], bound), "memory": (given["memory_tb"], usable / 1e12)},
        places,
    )


@_check("memory_machine", "supported", "holds_only_if", "contradicted")
def _memory_machine(case: _Case) -> _Found:
    """Price, bandwidth and speed of a machine that keeps the weights in ordinary memory."""
    given = case.given
    system = case.catalog.systems[given["system"]]
    accelerator = case.catalog.accelerators[system.accelerator]
    price = system.hardware_usd
    assert price is not None  # the catalogue has its price
    low = price.value if price.low is None else price.low
    bandwidth = accelerator.memory_bandwidth_bytes_per_s.value
    channels = given["channels"] * given["mega_transfers_per_s"] * 1e6 * 8.0
    bound = float(case.size(system.id).single_stream_tokens_per_s)
    per_token = bandwidth / bound if bound > 0 else math.inf
    module = case.catalog.opex[given["module_figure"]]
    memory = given["memory_gb"] / given["module_gb"] * module.value
    oks = [low <= given["hardware_usd"], bound >= given["tokens_per_s"]]
    rating = _graded(oks)

    def places(language: Language) -> dict[str, object]:
        return {
            "low": money(low),
            "claimed_usd": money(given["hardware_usd"]),
            "memory": money(memory),
            "bound": three_digits(bound),
            "claimed": given["tokens_per_s"],
            "read": f"{per_token / 1e9:,.0f} GB",
            "allowed": f"{bandwidth / given['tokens_per_s'] / 1e9:,.0f} GB",
        }

    return _Found(
        rating,
        {
            "price": (given["hardware_usd"], price.value),
            "memory": (None, memory),
            "bandwidth": (given["bandwidth_tb_per_s"], channels / 1e12),
            "speed": (given["tokens_per_s"], bound),
        },
        places,
    )


@_check("quantised", "supported", "holds_only_if", "contradicted", "cannot_be_checked")
def _quantised(case: _Case) -> _Found:
    given = case.given
    system = case.catalog.systems[given["system"]]
    weights = system.weights_bytes_override
    assert weights is not None  # the catalogue gives the quantised size
    sized = case.size(system.id)
    usable = float(sized.usable_bytes) * case.scenario.gpu_memory_utilization
    largest = weights.value if weights.high is None else weights.high
    bound = float(sized.single_stream_tokens_per_s)
    params = case.catalog.models[_K3].total_params.value
    rating: Rating
    if not bool(sized.fits) or bound < given["tokens_per_s"]:
        rating = "contradicted"
    else:
        # a bound is not a measurement: it cannot support a speed
        rating = "holds_only_if" if largest > usable else "cannot_be_checked"

    def places(language: Language) -> dict[str, object]:
        return {
            "bits": f"{usable * 8 / params:.1f}",
            "largest": f"{largest / 1e9:,.0f} GB",
            "largest_bits": f"{largest * 8 / params:.1f}",
            "usable": f"{usable / 1e9:,.0f} GB",
            "bound": three_digits(bound),
            "claimed": given["tokens_per_s"],
        }

    return _Found(
        rating,
        {"speed": (given["tokens_per_s"], bound), "size": (None, weights.value / 1e9), "usable": (None, usable / 1e9)},
        places,
    )


@_check("streaming", "supported", "contradicted")
def _streaming(case: _Case) -> _Found:
    given = case.given
    bound = float(case.size(given["system"]).single_stream_tokens_per_s)
    measured = [case.measured(row, "tok_s_per_user") for row in given["rows"]]
    known = [value for value in measured if math.isfinite(value)]
    fastest = max([bound, *known])

    def places(language: Language) -> dict[str, object]:
        return {
            "bound": three_digits(bound),
            "measured": _list([three_digits(v) for v in known], language) or "-",
            "slow": given["slow_tokens_per_s"],
        }

    rating: Rating = "supported" if fastest < given["slow_tokens_per_s"] else "contradicted"
    return _Found(rating, {"speed": (given["slow_tokens_per_s"], bound)}, places)


@_check("measured_by", "supported", "cannot_be_checked", "contradicted")
def _measured_by(case: _Case) -> _Found:
    """Which hardware has a published measurement by a day. A missing one refutes nothing: then it cannot be checked."""
    given = case.given
    limit = dt.date.fromisoformat(given["by"])
    first: dict[str, dt.date | None] = {}
    for name, prefixes in given["hardware"].items():
        days = []
        for row in case.rows.values():
            if any(row["hardware"].startswith(prefix) for prefix in prefixes):
                try:
                    days.append(dt.date.fromisoformat(row["date"]))
                except ValueError:
                    continue
        first[name] = min(days, default=None)
    seen = [name for name, day in first.items() if day is not None and day <= limit]
    later = [f"{name} ({day})" for name, day in first.items() if day is not None and day > limit]
    never = [name for name, day in first.items() if day is None]
    fits = [bool(case.size(s, system_count=n).fits) for s, n in given["fits"]]
    rating: Rating = (
        "contradicted" if not all(fits) else "supported" if not later and not never else "cannot_be_checked"
    )

    def places(language: Language) -> dict[str, object]:
        none = text("claim_words.nothing", language)
        return {
            "seen": _list(seen, language) or none,
            "later": _list(later, language) or none,
            "never": _list(never, language) or none,
            "by": given["by"],
        }

    return _Found(rating, {"measured": (float(len(first)), float(len(seen)))}, places)


@_check("offers_exist", "supported", "holds_only_if", "contradicted")
def _offers_exist(case: _Case) -> _Found:
    given = case.given
    priced = [
        offer.id
        for offer in (case.catalog.offer(name) for name in given["offers"])
        if offer is not None
        and any(p.input_per_mtok is not None and p.output_per_mtok is not None for p in offer.prices)
    ]
    rate = case.catalog.usd_per_cny(dt.date.fromisoformat(case.catalog.release))
    cheapest, where = math.inf, "-"
    for offer in case.catalog.offers.values():
        if offer.weights_class != _K3 or offer.channel not in ("maker", "host"):
            continue
        price = offer.prices[-1]
        if not price.output_per_mtok:
            continue
        usd = price.output_per_mtok * (rate.value if price.currency == "CNY" and rate is not None else 1.0)
        if usd < cheapest:
            cheapest, where = usd, offer.id
    all_there, missing = len(priced) == len(given["offers"]), cheapest > given["endpoint_usd"]
    rating: Rating = "supported" if all_there and missing else "holds_only_if" if priced else "contradicted"

    def places(language: Language) -> dict[str, object]:
        return {
            "k": len(priced),
            "n": len(given["offers"]),
            "cheapest": three_digits(cheapest) if math.isfinite(cheapest) else "-",
            "where": where,
            "claimed": given["endpoint_usd"],
        }

    return _Found(
        rating,
        {"offers": (float(len(given["offers"])), float(len(priced))), "endpoint": (given["endpoint_usd"], cheapest)},
        places,
    )


@_check("router", "supported", "holds_only_if", "contradicted")
def _router(case: _Case) -> _Found:
    """Whether a fleet that sends the rest to the API costs less than the API alone, at several volumes."""
    saved = {}
    for spend in case.given["usd_per_month"]:
        curve = case.report(demand="spend", demand_usd_per_month=spend).hybrid
        saved[float(spend)] = 0.0 if curve is None else curve.saved_against_api_usd_per_month
    lowers = {spend: value for spend, value in saved.items() if value > 0}
    rating = _graded([value > 0 for value in saved.values()])
    most = max(saved)

    def places(language: Language) -> dict[str, object]:
        return {
            "from": money(min(lowers)) if lowers else "-",
            "to": money(most),
            "saved": money(saved[most]),
            "none": _list([money(s) for s, v in saved.items() if v <= 0], language) or "-",
        }

    return _Found(rating, {f"saved_{int(spend)}": (None, value) for spend, value in saved.items()}, places)


@_check("fixed_state", "supported", "contradicted")
def _fixed_state(case: _Case) -> _Found:
    shape = model_shape(case.catalog.models[_K3])
    part = shape.linear_layers / shape.layers
    length = case.given["context_tokens"]
    cache = sum(group.elements_per_token for group in shape.cache) * length
    state = shape.state_bytes_per_sequence
    every = cache * shape.layers / max(shape.cached_layers, 1)
    rating: Rating = "supported" if part > 0.5 and cache + state < every else "contradicted"

    def places(language: Language) -> dict[str, object]:
        return {
            "linear": shape.linear_layers,
            "layers": shape.layers,
            "share": share(part),
            "state": f"{state / 1e6:,.0f} MB",
            "now": f"{(cache + state) / 1e9:.2f} GB",
            "every": f"{every / 1e9:.2f} GB",
            "length": f"{length:,}",
        }

    return _Found(
        rating,
        {"share": (0.5, part), "now": (None, (cache + state) / 1e9), "every": (None, every / 1e9)},
        places,
    )


@_check("first_token_by_length", "supported", "contradicted")
def _first_token_by_length(case: _Case) -> _Found:
    lengths = np.asarray(case.given["input_tokens"], dtype=float)
    seconds = np.array([_lone_first_token_s(case.inputs(case.given["system"], input_tokens=n)) for n in lengths])
    ratio = float(seconds[-1] / seconds[0])
    rating: Rating = "supported" if ratio >= case.given["ratio"] else "contradicted"

    def places(language: Language) -> dict[str, object]:
        return {
            "short": f"{lengths[0]:,.0f}",
            "long": f"{lengths[-1]:,.0f}",
            "short_s": three_digits(float(seconds[0])),
            "long_s": three_digits(float(seconds[-1])),
            "ratio": three_digits(ratio),
        }

    return _Found(rating, {"short": (None, float(seconds[0])), "long": (None, float(seconds[-1]))}, places)


def _lone_first_token_s(inputs: SizingInputs) -> float:
    """Time to first token of a request that runs alone, s: the least that any load allows."""
    alone = operate(inputs.site.compiled, 1.0, inputs.input_tokens, inputs.output_tokens)
    return float(alone.ttft_s)


@_check("spread_between_rigs", "supported", "contradicted", "cannot_be_checked")
def _spread_between_rigs(case: _Case) -> _Found:
    """How far figures of the same model and kind of service lie apart between those who measured."""
    numbers: dict[str, tuple[float | None, float]] = {}
    for name, column, rows in case.given["groups"]:
        values = [v for v in (case.measured(row, column) for row in rows) if math.isfinite(v)]
        if len(values) > 1:
            numbers[name] = (None, max(values) / min(values))
    largest = max((ratio for _, ratio in numbers.values()), default=0.0)
    rating: Rating = "cannot_be_checked"
    if numbers:
        rating = "supported" if largest - 1.0 > case.given["spread"] else "contradicted"

    def places(language: Language) -> dict[str, object]:
        ratios: dict[str, object] = {name: three_digits(ratio) for name, (_, ratio) in numbers.items()}
        return {**ratios, "most": three_digits(largest)}

    return _Found(rating, numbers, places)


# ------------------------------------------------------------------------------------------------------------- loading


@lru_cache(maxsize=4)
def load_entries(path: Path = FILE) -> tuple[Mapping[str, Any], ...]:
    """The claims of a file as they stand there."""
    with path.open("rb") as file:
        return tuple(tomllib.load(file)["claim"])


def judge(entry: Mapping[str, Any], catalog: Catalog) -> Claim:
    """Recompute and rate one claim.

    Args:
        entry: one [[claim]] of data/claims.toml.
        catalog: the records that it is held against.
    """
    rows = {row["id"]: row for row in catalog.measurements.get("k3_measured", ())}
    scenario = Scenario.model_validate(entry.get("scenario", {}))
    check, allowed = _CHECKS[entry["check"]]
    found = check(_Case(catalog, entry["given"], scenario, rows))
    assert found.rating in allowed  # the registration names every rating that the check gives
    reasons = {
        language: template.format(**found.places(language))
        for language, template in entry["reason"][found.rating].items()
    }
    figures = entry.get("figure", {})
    numbers = tuple(
        Compared(key, figures[key]["name"], figures[key]["unit"], claimed, computed)
        for key, (claimed, computed) in found.numbers.items()
    )
    return Claim(
        entry["id"],
        entry["text"],
        entry["said_by"],
        entry["date"],
        found.rating,
        reasons,
        numbers,
        scenario,
        found.variants,
    )


def judge_all(catalog: Catalog, path: Path = FILE) -> tuple[Claim, ...]:
    """All claims, in the order of the file."""
    return tuple(judge(entry, catalog) for entry in load_entries(path))
