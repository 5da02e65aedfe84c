"""Published calculations, recomputed by the functions that the app itself runs on.

What was published and what it starts from is data (data/worked_examples/). A row reproduces when the recomputed value
rounds to the published digits; the ones that do not are shown with their deviation, which is a finding too.
"""

import csv
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from calculators.breakeven import break_even
from calculators.cashflow import Flow, FlowTerms, annuity_usd_per_month, evaluate_flow, irr_per_year, monthly_rate
from calculators.catalog import DATA, Catalog
from calculators.evaluate import Inputs, evaluate, moved
from calculators.hybrid import hybrid_curve
from calculators.memory import cache_bytes_per_token, expected_distinct_experts, model_shape
from calculators.ownership import Ownership, OwnershipCost, ownership_cost
from calculators.profile import FLAT
from calculators.resolve import resolve
from calculators.scenario import Scenario
from calculators.serverless import PriceNow, api_cost, with_overrides
from calculators.texts import Language
from calculators.units import DAYS_PER_MONTH, GIB, HOURS_PER_MONTH, HOURS_PER_WEEK, TOKENS_PER_MTOK

Array = npt.NDArray[np.float64]
Given = Mapping[str, Any]

FOLDER: Final = DATA / "worked_examples"
NEVER: Final = "never"


@dataclass(frozen=True)
class Row:
    """One published number and its recomputation. Infinity stands for 'never'."""

    key: str
    names: Mapping[str, str]
    unit: str
    published: str
    recomputed: float

    def name(self, language: Language = "en") -> str:
        """What the number is."""
        return self.names[language]

    @property
    def published_value(self) -> float:
        """The published text as a number."""
        return math.inf if self.published == NEVER else float(self.published)

    @property
    def half_digit(self) -> float:
        """Half a unit of the last digit that was published."""
        mantissa, _, exponent = self.published.partition("e")
        decimals = len(mantissa.partition(".")[2])
        return float(0.5 * 10.0 ** (int(exponent or 0) - decimals))

    @property
    def reproduces(self) -> bool:
        """Whether the recomputed value rounds to the published one."""
        if self.published == NEVER:
            return math.isinf(self.recomputed)
        gap = abs(self.recomputed - self.published_value)
        return bool(gap <= self.half_digit * (1 + 1e-9))

    @property
    def deviation(self) -> float | None:
        """Recomputed / published - 1; None where the published value is 0 or never."""
        value = self.published_value
        return None if value == 0 or math.isinf(value) else self.recomputed / value - 1.0


@dataclass(frozen=True)
class Example:
    """A published calculation with all its rows."""

    id: str
    titles: Mapping[str, str]
    source: str
    date: str
    notes: Mapping[str, str]
    rows: tuple[Row, ...]

    def title(self, language: Language = "en") -> str:
        """What was calculated."""
        return self.titles[language]

    def note(self, language: Language = "en") -> str:
        """What a reader should know about the recomputation."""
        return self.notes[language]

    @property
    def reproduces(self) -> bool:
        """Whether every row does."""
        return all(row.reproduces for row in self.rows)


@dataclass(frozen=True)
class PanCell:
    """One cell of W1, months: as printed, from the inputs as the text states them, and as they were found to be."""

    model: str
    api: str
    published: str
    as_stated: float
    as_found: float
    with_odd_price: float

    def row(self, value: float) -> Row:
        """The cell against one of its recomputations."""
        return Row("months", {"en": f"{self.model}, {self.api}"}, "months", self.published, value)

    def matches(self, value: float) -> bool:
        """Whether a recomputation is within one unit of the last printed digit, however the table was rounded."""
        row = self.row(value)
        return abs(value - row.published_value) < 2 * row.half_digit


# ------------------------------------------------------------------------------------------------- the app's functions


def _price(input_usd_per_mtok: float, output_usd_per_mtok: float, catalog: Catalog) -> PriceNow:
    """A price with nothing but an input and an output price (a cached or written token costs as a new one)."""
    base = resolve(Scenario(), catalog).inputs.baseline
    assert base is not None  # the default offer is priced; a catalogue without it does not load
    return with_overrides(
        replace(base, tiers=(), cached_is_missing=True, write_is_missing=True, write_1h_is_missing=True),
        input_usd_per_mtok=input_usd_per_mtok,
        output_usd_per_mtok=output_usd_per_mtok,
    )


def _owned(catalog: Catalog, **numbers: Any) -> OwnershipCost:
    """Cost of owned machines with nothing but the numbers given; the rest is 0 (horizon 1 month, PUE 1)."""
    zero = np.zeros(())
    plain: dict[str, Any] = {name: zero for name in Ownership.__dataclass_fields__}
    plain |= {"acquisition": "buy", "facility": "own", "systems": np.ones(()), "pue": np.ones(())}
    plain |= {"horizon_months": np.ones(()), "loan_months": np.ones(()), "accelerators_per_system": np.ones(())}
    plain |= {
        name: value if isinstance(value, str) else np.asarray(value, dtype=float) for name, value in numbers.items()
    }
    return ownership_cost(Ownership(**plain))


def _flow(
    api_usd_per_month: npt.ArrayLike,
    running_usd_per_month: npt.ArrayLike,
    capex_usd: npt.ArrayLike,
    *,
    months: float = 48,
    discount_rate: float = 0.0,
) -> Flow:
    """Cash flow where a month's API bill is one request that own machines serve."""
    one, zero = np.ones(()), np.zeros(())
    return evaluate_flow(
        FlowTerms(
            api_usd_per_request=np.asarray(api_usd_per_month, dtype=float),
            demand_requests_per_month=one,
            capacity_requests_per_month=one,
            rented_share=one,
            price_change_per_year=zero,
            demand_growth_per_year=zero,
            licence_usd_per_request=zero,
            running_usd_per_month=np.asarray(running_usd_per_month, dtype=float),
            capex_usd=np.asarray(capex_usd, dtype=float),
            residual_usd=zero,
            principal_usd=zero,
            loan_rate_per_year=zero,
            loan_months=one,
            horizon_months=np.asarray(months, dtype=float),
            discount_rate_per_year=np.asarray(discount_rate, dtype=float),
            weights=FLAT,
        )
    )


def _measured_plan(catalog: Catalog, price: PriceNow, **numbers: Any) -> Inputs:
    """Inputs of machines with a measured rate and no cost but what is given, on a machine that holds its model."""
    scenario = Scenario(model="gpt-oss-120b", demand="requests", demand_requests_per_month=1.0)
    inputs = resolve(scenario, catalog).inputs
    plain = {
        "utilization": 1.0,
        "availability": 1.0,
        "spares_share": 0.0,
        "support_share_per_year": 0.0,
        "staff_fte": 0.0,
        "residual_share": 0.0,
        "colocation_usd_per_kw_month": 0.0,
        "hardware_usd": 0.0,
        "max_tpot_ms": math.inf,
        "serving_cached_share": 0.0,
    }
    return moved(inputs, baseline=price, baseline_batch=None, **{**plain, **numbers})


# ----------------------------------------------------------------------------------------------------------- examples


def _csv(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def pan_cells(catalog: Catalog) -> tuple[PanCell, ...]:
    """All 45 cells of W1, each recomputed in three ways, months."""
    given = {e["id"]: e for e in _load()}["W1"]["given"]
    machines = {row["model"]: row for row in _csv("pan_hardware.csv")}
    cells = _csv("pan_break_even.csv")
    small = np.array([machines[c["open_model"]]["accelerator"] == given["small_accelerator"] for c in cells])

    def column(name: str) -> Array:
        return np.array([float(machines[c["open_model"]][name]) for c in cells])

    tokens = (float(given["input_tokens"]), float(given["output_tokens"]))
    mix = np.array(
        [
            float(
                np.asarray(
                    api_cost(_price(float(c["input_usd_per_mtok"]), float(c["output_usd_per_mtok"]), catalog), *tokens)
                )
            )
            for c in cells
        ]
    )
    usd_per_mtok = mix / sum(tokens) * TOKENS_PER_MTOK
    odd = np.array([c["api"] == given["odd_api"] for c in cells])

    def months(kind: str, price: Array) -> Array:
        hours = float(given[f"{kind}_hours_per_month"])
        watts = np.where(small, given[f"{kind}_small_w"], given[f"{kind}_large_w"])
        mtok = column("throughput_tokens_per_s") * hours * 3600.0 / TOKENS_PER_MTOK
        own = _owned(
            catalog,
            hardware_usd=column("hardware_usd"),
            # machines are switched on for these hours only, so the mean power of the month counts
            power_kw=column("accelerators") * watts / 1000.0 * hours / HOURS_PER_MONTH,
            electricity_usd_per_kwh=given["electricity_usd_per_kwh"],
        )
        return _flow(mtok * price, own.running_usd_per_month, own.capex_usd).payback_months

    stated, found = months("stated", usd_per_mtok), months("found", usd_per_mtok)
    fixed = months("found", np.where(odd, given["odd_blended_usd_per_mtok"], usd_per_mtok))
    return tuple(
        PanCell(c["open_model"], c["api"], c["published_months"], float(a), float(b), float(d))
        for c, a, b, d in zip(cells, stated, found, fixed, strict=True)
    )


def _w1(given: Given, catalog: Catalog) -> tuple[dict[str, float], dict[str, Any]]:
    cells = pan_cells(catalog)
    off = np.array([abs(c.as_stated / float(c.published) - 1.0) for c in cells])
    values = {
        "stated_mean_deviation": float(off.mean()),
        "stated_largest_deviation": float(off.max()),
        "found_cells": float(sum(c.matches(c.as_found) for c in cells)),
        "found_cells_with_odd_price": float(sum(c.matches(c.with_odd_price) for c in cells)),
    }
    strict = sum(c.row(c.with_odd_price).reproduces for c in cells)
    watts = f"{given['found_large_w']}/{given['found_small_w']}"
    return values, {"found_hours": given["found_hours_per_month"], "found_watts": watts, "strict": strict}


def _w2(given: Given, catalog: Catalog) -> tuple[dict[str, float], dict[str, Any]]:
    price = _price(given["api_usd_per_mtok"], given["api_usd_per_mtok"], catalog)
    # one input and one output token a request, so half of the tokens a second are output
    inputs = _measured_plan(
        catalog,
        price,
        acquisition="rent",
        demand="tokens",
        demand_amount=given["demand_tokens_per_month"],
        input_tokens=1.0,
        output_tokens=1.0,
        measured_output_tokens_per_s=given["tokens_per_s_per_replica"] / 2.0,
        accelerators_per_system=given["accelerators_per_replica"],
        rent_usd_per_accelerator_hour=given["rent_usd_per_accelerator_hour"],
        rented_hours_per_month=HOURS_PER_MONTH,
        system_count=given["replicas"],
    )
    one, fleet = evaluate(moved(inputs, system_count=1.0)), evaluate(inputs)
    curve = hybrid_curve(inputs, fleet)
    assert curve is not None  # the demand is given and priced
    served = float(fleet.served_tokens_per_month)
    left = float(fleet.overflow_requests_per_month * fleet.tokens_per_request)
    at = int(np.flatnonzero(curve.system_counts == given["replicas"])[0])
    api = float(fleet.baseline_usd_per_month)
    total = float(curve.total_usd_per_month[at])
    return {
        "replica_usd_per_month": float(one.usd_per_month),
        "replica_tokens_per_month": float(one.capacity_tokens_per_month),
        "replica_usd_per_mtok": float(one.usd_per_mtok),
        "served_tokens_per_month": served,
        "overflow_tokens_per_month": left,
        "own_usd_per_month": float(curve.own_usd_per_month[at]),
        "overflow_usd_per_month": float(curve.overflow_usd_per_month[at]),
        "total_usd_per_month": total,
        "api_usd_per_month": api,
        "saving_usd_per_month": api - total,
        "saving_share": 1.0 - total / api,
    }, {"best": curve.best_count}


def _peaky(peak: float) -> tuple[float, ...]:
    """Hours of the week with all demand in 1 / peak of them, mean 1."""
    busy = round(HOURS_PER_WEEK / peak)
    return tuple(HOURS_PER_WEEK / busy if hour < busy else 0.0 for hour in range(HOURS_PER_WEEK))


def _w4(given: Given, catalog: Catalog) -> tuple[dict[str, float], dict[str, Any]]:
    price = _price(given["input_usd_per_mtok"], given["output_usd_per_mtok"], catalog)
    per_request = float(given["input_tokens"] + given["output_tokens"])
    hours = float(given["hours_per_month"])
    # the server works in these hours only: it is 'available' for that share of the month
    inputs = _measured_plan(
        catalog,
        price,
        acquisition="rent",
        demand="tokens",
        input_tokens=float(given["input_tokens"]),
        output_tokens=float(given["output_tokens"]),
        measured_output_tokens_per_s=given["output_tokens_per_s"],
        utilization=given["utilization"],
        availability=hours / HOURS_PER_MONTH,
        weights=_peaky(given["peak_to_mean"]),
        accelerators_per_system=1.0,
        rent_usd_per_accelerator_hour=given["rent_usd_per_hour"] * hours / HOURS_PER_MONTH,
        rented_hours_per_month=HOURS_PER_MONTH,
        system_count=1.0,
        demand_amount=1e12,
    )
    usable = float(evaluate(inputs).terms.capacity_requests_per_month) * per_request
    capacity = usable / float(given["peak_to_mean"])

    def fleet(tokens: float) -> tuple[int, float]:
        asked = moved(inputs, demand_amount=tokens)
        curve = hybrid_curve(asked, evaluate(asked))
        assert curve is not None  # the demand is given and priced
        assert curve.all_own is not None  # the curve ends above the peak
        return int(curve.system_counts[curve.all_own]), float(curve.own_usd_per_month[curve.all_own])

    # the capacity in whole tokens; the product of the given numbers is a whole number up to rounding
    whole = float(round(capacity))
    servers, rented = fleet(whole)
    more, rented_more = fleet(whole + 1.0)
    life = float(given["life_months"])
    owned = [
        float(
            _owned(
                catalog, systems=n, hardware_usd=given["hardware_usd"], horizon_months=life
            ).depreciation_usd_per_month
        )
        for n in (servers, more)
    ]
    million = api_cost(price, float(given["input_tokens"]), float(given["output_tokens"]))
    crossing = math.inf
    for count in range(1, 20):
        fixed = replace(
            inputs,
            rent_usd_per_accelerator_hour=given["crossover_rent_usd_per_hour"] * hours / HOURS_PER_MONTH,
            other_opex_usd_per_month=float(given["crossover_direct_usd_per_month"]),
            system_count=float(count),
        )
        even = break_even(fixed, evaluate(fixed))
        # a fleet counts when it carries the break-even volume with its peak
        if even.tokens_per_month is not None and even.tokens_per_month <= count * capacity:
            crossing = math.ceil(even.tokens_per_month - 1e-6)
            break
    return {
        "capacity_tokens_per_month": capacity,
        "rented_usd_per_month": rented,
        "owned_usd_per_month": owned[0],
        "api_usd_per_month": float(np.asarray(million)) * given["tokens_per_month"] / per_request,
        "servers_at_capacity": float(servers),
        "servers_one_token_more": float(more),
        "rented_usd_one_token_more": rented_more,
        "owned_usd_one_token_more": owned[1],
        "crossover_tokens_per_month": crossing,
    }, {"hours": given["hours_per_month"], "peak": given["peak_to_mean"]}


def _w5(given: Given, catalog: Catalog) -> tuple[dict[str, float], dict[str, Any]]:
    cloud = np.array([given["cloud_usd_per_hour"], given["later_cloud_usd_per_hour"]]) * HOURS_PER_MONTH
    flow = _flow(cloud, given["running_usd_per_hour"] * HOURS_PER_MONTH, given["hardware_usd"])
    hours = flow.payback_months * HOURS_PER_MONTH
    months = hours / given["hours_per_month"]
    return {
        "payback_hours": float(hours[0]),
        "payback_months": float(months[0]),
        "later_payback_hours": float(hours[1]),
        "later_payback_months": float(months[1]),
    }, {}


def _w6(given: Given, catalog: Catalog) -> tuple[dict[str, float], dict[str, Any]]:
    model = catalog.models["kimi-k3"]
    shape = model_shape(model)
    routed = float(math.prod(given[k] for k in ("moe_layers", "experts", "matrices", "latent_width", "expert_width")))
    routed_bytes = routed * given["expert_bytes_per_param"]
    other_bytes = given["other_params"] * given["other_bytes_per_param"]
    bf16 = cache_bytes_per_token(shape, "bf16")
    values = {
        "routed_params": routed,
        "routed_bytes": routed_bytes,
        "other_bytes": other_bytes,
        "sum_bytes": routed_bytes + other_bytes,
        "weights_bytes": shape.weights_bytes,
        "cache_bf16": bf16,
        "cache_fp8": cache_bytes_per_token(shape, "fp8"),
        "cache_context_gib": bf16 * given["context_tokens"] / GIB,
        "state_bytes": shape.state_bytes_per_sequence,
    }
    for batch in (1, 32, 64, 256):
        found = expected_distinct_experts(shape.experts, shape.experts_per_token, float(batch))
        values[f"distinct_{batch}"] = float(found)
    return values, {}


def _w7(given: Given, catalog: Catalog) -> tuple[dict[str, float], dict[str, Any]]:
    api, running, capex = (float(given[k]) for k in ("api_usd_per_month", "running_usd_per_month", "capex_usd"))
    flow = _flow([api, running, running], [running, running, api], [capex, capex, 0.0])
    days = flow.payback_months * DAYS_PER_MONTH
    return {
        "losing_days": float(days[0]),
        "losing_usd_per_month": float(flow.first_saving_usd[0]),
        "zero_days": float(days[1]),
        "nothing_paid_days": float(days[2]),
    }, {"loss": f"{running - api:,.0f}"}


def _w8(given: Given, catalog: Catalog) -> tuple[dict[str, float], dict[str, Any]]:
    capex, months = float(given["capex_usd"]), float(given["months"])
    flow = _flow(given["saving_usd_per_month"], 0.0, capex, months=months, discount_rate=given["discount_rate"])
    payment = float(annuity_usd_per_month(capex, given["loan_rate"], given["loan_months"]))
    years, rate = int(given["oracle_years"]), float(given["oracle_rate"])
    factor = 1.0 / (1.0 + float(monthly_rate(rate))) ** (12.0 * np.arange(1, years + 1))
    salvage = given["oracle_salvage_usd"] * factor[-1]
    yearly = (given["oracle_npv_usd"] + capex - salvage) / factor.sum()
    flows = np.zeros(12 * years + 1)
    flows[0] = -capex
    flows[12::12] = yearly
    flows[-1] += given["oracle_salvage_usd"]
    irr = irr_per_year(flows)
    # an annuity of whole years: a yearly rate r is 12 x r to a function that takes a twelfth of it
    cost = float(annuity_usd_per_month(capex - salvage, 12.0 * rate, years))
    return {
        "payback_months": float(flow.payback_months),
        "discounted_payback_months": float(flow.discounted_payback_months),
        "npv_usd": float(flow.npv_usd),
        "undiscounted_usd": float(flow.final_usd),
        "loan_usd_per_month": payment,
        "loan_total_usd": payment * given["loan_months"],
        "oracle_irr": math.nan if irr is None else irr,
        "oracle_annual_cost_usd": cost,
    }, {}


_CALCULATIONS: Final[Mapping[str, Callable[[Given, Catalog], tuple[dict[str, float], dict[str, Any]]]]] = {
    "W1": _w1,
    "W2": _w2,
    "W4": _w4,
    "W5": _w5,
    "W6": _w6,
    "W7": _w7,
    "W8": _w8,
}


@lru_cache(maxsize=4)
def _load(path: Path = FOLDER / "examples.toml") -> tuple[Mapping[str, Any], ...]:
    with path.open("rb") as file:
        return tuple(tomllib.load(file)["example"])


def worked_examples(catalog: Catalog, path: Path = FOLDER / "examples.toml") -> tuple[Example, ...]:
    """All published calculations with their recomputation.

    Args:
        catalog: records of data/ (W6 reads Kimi K3; the others need any priced offer and any machine).
        path: another file of the same form.
    """
    found = []
    for entry in _load(path):
        values, places = _CALCULATIONS[entry["id"]](entry["given"], catalog)
        rows = tuple(
            Row(row["key"], row["name"], row["unit"], row["published"], values[row["key"]]) for row in entry["row"]
        )
        notes = {language: template.format(**places) for language, template in entry["note"].items()}
        found.append(Example(entry["id"], entry["title"], entry["source"], entry["date"], notes, rows))
    return tuple(found)
