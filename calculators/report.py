"""One scenario, answered: all that the page, the JSON, the CSV, the workbook and the link show comes from here."""

import datetime as dt
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from calculators.breakeven import BreakEven, break_even
from calculators.cashflow import NEAR, Flow, FlowTerms, Schedule, irr_per_year, schedule, settle
from calculators.catalog import Catalog
from calculators.evaluate import Inputs, Result, evaluate, moved, site_inputs
from calculators.hybrid import HybridCurve, hybrid_curve
from calculators.link import encode
from calculators.numbers import money, plain, share
from calculators.ownership import CostLine
from calculators.pins import ALL_RANGES, RANGE, SIZING, Range, write_range, write_stated
from calculators.resolve import Resolved, pins_of, resolve
from calculators.scenario import SPECS, VERSION, Scenario
from calculators.sizing import stated_of
from calculators.texts import Language, field_words, listed, months_said, said, unit_words
from calculators.uncertainty import Uncertainty, summarise, uncertain_inputs
from calculators.units import DAYS_PER_MONTH, TOKENS_PER_MTOK
from calculators.verdict import Band, is_lost_again, payback_of, reason_text, verdict

UNITS_BY_SUFFIX: Final = (
    ("_usd_per_month", "USD/month"),
    ("usd_per_mtok", "USD/Mtok"),
    ("_usd_per_accelerator_hour", "USD/accelerator-hour"),
    ("usd_per_seat_month", "USD/seat-month"),
    ("tokens_per_month", "tokens/month"),
    ("_bytes_per_token", "bytes/token"),
    ("_bytes_per_sequence", "bytes/sequence"),
    ("tokens_per_s", "tokens/s"),
    ("requests_per_s", "requests/s"),
    ("_bytes", "bytes"),
    ("_usd", "USD"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("days", "days"),
    ("_per_year", "share/year"),
    ("utilization", "share"),
    ("_share", "share"),
    ("probability_pays_back", "share"),
    ("concurrency", "sequences"),
    ("sequences", "sequences"),
    ("_systems", "systems"),
    ("system_count", "systems"),
    ("_factor", "ratio"),
    ("usd_per_month", "USD/month"),
)
"""Unit of a result by the end of its name; the first that fits."""


COUNT_PIN: Final = "system_count"
"""Name under which a link carries the number of machines that 'auto' chose."""

BAND_PINS: Final = ("payback_p10_days", "payback_p90_days")
"""Names under which a link carries the likely range of the payback; no second one means 'to never'."""

NO_UNCERTAINTY: Final = MappingProxyType({"payback_days": None, "probability_pays_back": None, "tornado": None})
"""What the JSON says where there is no payback."""

RATE_PIN: Final = "output_tokens_per_s"
"""Name under which older links carry the throughput alone; today's carry the whole sizing."""


def unit_of(name: str) -> str:
    """Unit of a result by its name, or '' for a text or a flag."""
    return next((unit for suffix, unit in UNITS_BY_SUFFIX if name.endswith(suffix)), "")


class Sections(Mapping[str, Any]):
    """Sections by name, each made as plain JSON values when it is first asked for: a page shows few of them."""

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._makers = makers
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            made = self._makers[name]()
            self._made[name] = made if isinstance(made, Sections) else jsonable(made)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True)
class Report:
    """A scenario with everything that is found out about it (all numbers scalars), each part when it is asked for."""

    scenario: Scenario
    resolved: Resolved
    result: Result
    hybrid: HybridCurve | None
    release: str
    auto: bool
    catalog: Catalog = field(repr=False, compare=False)
    pins: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def inputs(self) -> Inputs:
        """The numbers that were evaluated."""
        return self.resolved.inputs

    @cached_property
    def even(self) -> BreakEven:
        """Where the scenario breaks even."""
        return break_even(self.inputs, self.result)

    @cached_property
    def _payback(self) -> tuple[str | None, float | None]:
        return self._payback_of(self.result.flow, self.result.baseline_usd_per_request)

    @cached_property
    def _alternative_payback(self) -> tuple[str | None, float | None]:
        return self._payback_of(self.result.alternative_flow, self.result.alternative_usd_per_request)

    def _payback_of(self, flow: Flow, usd_per_request: Any) -> tuple[str | None, float | None]:
        if "payback_months" not in vars(flow):
            settle((self.result.flow, self.result.alternative_flow))
        fee = float(self.result.licence_usd_per_month)  # unknown where it is a share of a price that is
        known = math.isfinite(float(usd_per_request) + fee)
        return payback_of(self.result, flow, priced=known, horizon_months=self.scenario.horizon_months)

    @property
    def status(self) -> str | None:
        """Whether it pays back against today's offer: pays_back, never, ...; None = nothing can be told."""
        return self._payback[0]

    @property
    def days(self) -> float | None:
        """Payback against today's offer in days, or None."""
        return self._payback[1]

    @cached_property
    def reason(self) -> str:
        """Why, against today's offer, in one sentence."""
        result = self.result
        return self._reason(result.flow, self._payback, self.resolved.baseline.id, result.baseline_usd_per_request)

    @property
    def alternative_status(self) -> str | None:
        """Whether it pays back against the serverless alternative; None = nothing can be told."""
        return self._alternative_payback[0]

    @property
    def alternative_days(self) -> float | None:
        """Payback against the serverless alternative in days, or None."""
        return self._alternative_payback[1]

    @cached_property
    def alternative_reason(self) -> str:
        """Why, against the serverless alternative, in one sentence."""
        if self.resolved.alternative is None:
            return "No serverless offer of these weights is known."
        usd, offer = self.result.alternative_usd_per_request, self.resolved.alternative.id
        return self._reason(self.result.alternative_flow, self._alternative_payback, offer, usd)

    def _reason(self, flow: Flow, payback: tuple[str | None, float | None], offer: str, usd_per_request: Any) -> str:
        usd = float(usd_per_request)
        return reason_text(self.resolved, self.result, flow, *payback, offer, usd, auto=self.auto)

    @property
    def evidence(self) -> str:
        """Evidence level of the throughput."""
        return str(self.result.sizing.evidence)

    @cached_property
    def uncertainty(self) -> Uncertainty | None:
        """Draws, probabilities and tornado; None where there is no payback to be unsure of."""
        return None if self.status is None else summarise(self.resolved, self.result, self.catalog)

    @cached_property
    def link(self) -> str:
        """Query string of the full link: every field, and the figures that the result rested on."""
        return encode(self.scenario, self.release, _pins_of(self))

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """The report as plain JSON values (see `to_json`), each section made when it is first asked for."""
        return _sections(self)

    @property
    def band(self) -> Band | None:
        """Likely range of the payback: the link's, as long as its figures hold, else today's."""
        low = self.pins.get(BAND_PINS[0])
        if isinstance(low, float):
            high = self.pins.get(BAND_PINS[1])
            return Band(low, high if isinstance(high, float) else math.inf)
        return None if self.uncertainty is None else self.uncertainty.band()

    @cached_property
    def ranges(self) -> tuple[tuple[str, str, float, float], ...]:
        """What the payback's likely range is drawn from: input, distribution, low and high. Empty without a payback."""
        if self.status is None:
            return ()
        found = uncertain_inputs(self.resolved, self.result, self.catalog)
        return tuple(sorted((u.name, u.distribution, u.low, u.high) for u in found))

    @property
    def saving_usd_per_month(self) -> float | None:
        """Saving of the first month against today's offer; None without a payback."""
        return number(self.result.saving_usd_per_month) if self.status is not None else None

    @property
    def alternative_saving_usd_per_month(self) -> float | None:
        """Saving of the first month against the serverless alternative; None without a payback."""
        return number(self.result.alternative_saving_usd_per_month) if self.alternative_status is not None else None

    def sentences(self, language: Language = "en") -> tuple[str, ...]:
        """The verdict in a language, with the likely range of the payback and the two inputs it hangs on."""
        unsure = self.uncertainty
        return verdict(
            self.resolved,
            self.result,
            self.even,
            language,
            auto=self.auto,
            band=self.band,
            fragile=None if unsure is None else unsure.fragile(language),
        )

    def cumulative_usd(self, alternative: bool = False) -> list[float | None] | None:
        """Cumulative cash flow at the start and at the end of each month, None where nothing can be told.

        Args:
            alternative: against the serverless alternative instead of today's offer.
        """
        if (self.alternative_status if alternative else self.status) is None:
            return None
        flow = self.result.alternative_flow if alternative else self.result.flow
        months = np.broadcast_to(flow.cumulative_usd, (self.scenario.horizon_months,)).tolist()
        return [number(x) for x in (-float(flow.terms.capex_usd), *months)]

    def schedule(self) -> Schedule:
        """The cash flow by month."""
        return schedule(scalar_terms(self.result.terms))

    def alternative_schedule(self) -> Schedule:
        """The cash flow by month against the alternative offer."""
        return schedule(scalar_terms(self.result.alternative_terms))

    def irr_per_year(self) -> float | None:
        """Yearly internal rate of return of the money that moves, or None."""
        return _irr(self.result.terms) if self.status is not None else None


def scalar_terms(terms: FlowTerms) -> FlowTerms:
    """Terms with every number as a zero-dimensional array."""
    values: dict[str, Any] = {k: np.asarray(v).reshape(()) for k, v in vars(terms).items() if k != "weights"}
    return replace(terms, **values)


def _irr(terms: FlowTerms) -> float | None:
    terms = scalar_terms(terms)
    start = -float(terms.capex_usd) + float(terms.principal_usd)
    return irr_per_year(np.concatenate(([start], schedule(terms).cash_usd)))


def build_report(
    scenario: Scenario,
    catalog: Catalog,
    pins: Mapping[str, float | str] | None = None,
    today: dt.date | None = None,
) -> Report:
    """Resolve and evaluate a scenario; the arguments are those of `resolve`.

    Raises:
        UnresolvedError: an unknown id or a number that is missing.
    """
    resolved = resolve(scenario, catalog, pins, today)
    result = evaluate(resolved.inputs)
    hybrid = hybrid_curve(resolved.inputs, result)
    auto = scenario.system_count == "auto"
    pinned = {name: value for name, value in (pins or {}).items() if isinstance(value, float)}
    if auto:
        best = hybrid.best_count if hybrid is not None else max(int(result.sizing.min_systems), 1)
        inputs = moved(resolved.inputs, system_count=pinned.get(COUNT_PIN, float(best)))
        resolved = replace(resolved, inputs=inputs)
        result = evaluate(inputs)
    rate = float(result.sizing.output_tokens_per_s)
    if SIZING not in (pins or {}) and pinned.get(RATE_PIN, 0.0) > 0 and rate > 0:
        # an older link's throughput, through the factor that every question about throughput uses
        resolved = replace(resolved, inputs=moved(resolved.inputs, throughput_factor=pinned[RATE_PIN] / rate))
        result = evaluate(resolved.inputs, sizing=result.sizing)
    return Report(
        scenario=scenario,
        resolved=resolved,
        result=result,
        hybrid=hybrid,
        release=catalog.release,
        auto=auto,
        catalog=catalog,
        pins=dict(pins or {}),
    )


def _pins_of(report: Report) -> dict[str, float | str]:
    pins = pins_of(report.resolved)
    inputs = report.inputs
    pins[SIZING] = write_stated(stated_of(site_inputs(inputs), float(np.asarray(inputs.throughput_factor))))
    if report.uncertainty is not None:
        pins[ALL_RANGES] = "all"
        for u in report.uncertainty.inputs:
            # the throughput's range is a band of factors, whatever the throughput
            unit = u.typical if u.name == "throughput_factor" else 1.0
            pins[RANGE + u.name] = write_range(Range(u.distribution, u.low / unit, u.high / unit))
    if report.auto:
        pins[COUNT_PIN] = float(np.asarray(inputs.system_count))
    band = report.band
    if band is not None:
        pins |= {
            name: x for name, x in zip(BAND_PINS, (band.low_days, band.high_days), strict=True) if math.isfinite(x)
        }
    return pins


def number(value: Any) -> float | int | None:
    """A JSON number: None for NaN, infinity and None; whole numbers without a fraction."""
    if value is None:
        return None
    x = value if type(value) is float else float(np.asarray(value).reshape(()))
    if not math.isfinite(x):
        return None
    return int(x) if x == int(x) and abs(x) < 2**53 else x


def jsonable(value: Any) -> Any:
    """Plain JSON values all the way down: numbers finite or None, mappings as dict, dates as ISO text."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is float:
        return number(value)
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return [jsonable(v) for v in value.tolist()]
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating | np.integer | np.ndarray):
        return number(value)
    return str(value)


def _inside(title: str) -> str:
    """A title within a sentence: 'Price of one machine' begins small, 'PUE' and 'FTE' stay."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def line_formula(line: CostLine, report: Report) -> str:
    """The formula of a cost line with its numbers, so that a reader can redo it."""
    parts = []
    for term in line.terms:
        value = getattr(report.inputs, term, None)
        if value is None:
            continue
        spec = SPECS.get(term)
        unit = spec.unit if spec else ""
        title = field_words(term, _inside(spec.title)) if spec else said("formula.accelerators_per_system")
        shown = plain(float(np.asarray(value)))
        if unit:
            parts.append(said("formula.term", title=title, value=shown, unit=unit_words(unit)))
        else:
            parts.append(said("formula.bare_term", title=title, value=shown))
    systems = int(np.asarray(report.inputs.system_count)) + int(np.asarray(report.inputs.reserve_systems))
    count = said("formula.systems", n=systems) if "systems" in line.formula else ""
    return said("formula.worked", formula=line.formula, systems=count, terms=listed(parts))


def line_source(line: CostLine, report: Report) -> str:
    """Sources of a cost line's terms."""
    found = [report.resolved.find(term) for term in line.terms]
    return "; ".join(
        dict.fromkeys(f"{u.title}: {u.source}{f' ({u.date})' if u.date else ''}" for u in found if u is not None)
    )


def cost_lines(report: Report) -> list[dict[str, Any]]:
    """Cost lines as records: name, usd_per_month, formula, source; they sum to self_host.usd_per_month."""
    rows = [
        {
            "name": line.name,
            "usd_per_month": number(line.usd_per_month),
            "formula": line_formula(line, report),
            "source": line_source(line, report),
        }
        for line in report.result.ownership.lines
    ]
    if float(np.asarray(report.inputs.licence_share)) > 0:
        rows.append(
            {
                "name": "Licence fee",
                "usd_per_month": number(report.result.licence_usd_per_month),
                "formula": said("formula.licence"),
                "source": "Licence fee: typed in",
            }
        )
    return rows


def _flow_json(
    flow: Flow, terms: FlowTerms, status: str | None, days: float | None, reason: str, saving: float | None
) -> dict[str, Any]:
    told = status is not None
    discounted = float(flow.discounted_payback_months) * DAYS_PER_MONTH
    return {
        "status": status,
        "days": number(days),
        "reason": reason,
        "discounted_days": number(discounted) if told else None,
        "npv_usd": number(flow.npv_usd) if told else None,
        "irr_per_year": number(_irr(terms)) if told else None,
        "saving_usd_per_month": saving,
    }


def flow_warnings(report: Report) -> list[str]:
    """What a payback alone would hide: money that is lost again, months that only cost, a negative NPV."""
    sides = [(report.result.flow, report.status, report.resolved.baseline.id)]
    if report.resolved.alternative is not None:
        sides.append((report.result.alternative_flow, report.alternative_status, report.resolved.alternative.id))
    horizon = months_said(report.scenario.horizon_months)
    told: list[str] = []
    for flow, status, offer in sides:
        if status not in ("pays_back", "immediate"):
            continue
        npv, month = float(flow.npv_usd), int(flow.peak_month)
        if is_lost_again(flow, status):
            peak, end = money(float(flow.peak_usd)), money(float(flow.final_usd))
            told.append(
                said(
                    "warning.lost_again",
                    offer=offer,
                    horizon=horizon,
                    month=f"{month}",
                    peak=peak,
                    end=end,
                    npv=money(npv),
                )
            )
            continue
        peak_usd = float(flow.peak_usd)
        if float(flow.final_usd) < peak_usd - NEAR * max(abs(peak_usd), abs(float(flow.terms.capex_usd))):
            told.append(said("warning.turns", offer=offer, month=f"{month}"))
        if npv < 0:
            rate = share(report.scenario.discount_rate)
            told.append(said("warning.npv_loss", offer=offer, npv=money(npv), rate=rate, horizon=horizon))
    return told


def _warnings(report: Report) -> list[str]:
    """What a reader should know: of the inputs, of the machine, of the money."""
    running = float(np.asarray(report.inputs.system_count)) > 0
    found = [*report.resolved.warnings, *(report.result.sizing.warnings if running else ()), *flow_warnings(report)]
    return list(dict.fromkeys(found))


def to_json(report: Report) -> dict[str, Any]:
    """The report as the command line prints it: finite numbers, None for what is not known. Made once a report."""
    return {str(name): jsonable(section) for name, section in report.data.items()}


def _sections(report: Report) -> Sections:
    r, s, i = report.result, report.result.sizing, report.inputs
    fits = bool(s.fits)
    factor = float(np.asarray(i.throughput_factor))
    known = fits and report.evidence != "none"
    served = float(r.served_requests_per_month)
    mean_in = float(np.asarray(i.input_tokens)) * float(np.asarray(i.token_ratio))
    mean_out = float(np.asarray(i.output_tokens)) * float(np.asarray(i.token_ratio))
    reuse = float(np.asarray(i.serving_cached_share))
    capacity = float(r.capacity_requests_per_month)
    demand = float(r.demand_requests_per_month)
    paid_tokens = demand * (float(np.asarray(i.input_tokens)) + float(np.asarray(i.output_tokens)))
    seats = float(np.asarray(i.demand_amount)) if i.demand == "seats" else 0.0

    def when(value: Any, condition: bool = known) -> float | int | None:
        return number(value) if condition else None

    def per(total: Any, count: float) -> float | int | None:
        return number(float(total) / count) if count > 0 else None

    def offer_json(offer: Any, usd: Any, usd_per_request: Any, tokens: float) -> dict[str, Any]:
        if not counted:
            usd = math.nan
        entry = {
            "offer": offer.id if offer else None,
            "usd_per_month": number(usd),
            "usd_per_mtok": per(float(usd) * TOKENS_PER_MTOK, tokens) if math.isfinite(float(usd)) else None,
        }
        if entry["usd_per_mtok"] is None and offer is not None:
            entry["usd_per_mtok"] = number(float(usd_per_request) / tokens_per_request * TOKENS_PER_MTOK)
        if seats > 0:
            entry["usd_per_seat_month"] = per(usd, seats)
        return entry

    tokens_per_request = float(np.asarray(i.input_tokens)) + float(np.asarray(i.output_tokens))
    # 'fill' has as much demand as the machines serve: nothing is known of it where nothing is known of them
    counted = known or i.demand != "fill"
    self_host: dict[str, Callable[[], Any]] = {
        "capex_usd": lambda: number(r.ownership.capex_usd),
        "opex_usd_per_month": lambda: number(r.opex_usd_per_month),
        "usd_per_month": lambda: number(r.usd_per_month),
        "usd_per_mtok": lambda: when(r.usd_per_mtok),
        "lines": lambda: cost_lines(report),
    }
    if seats > 0:
        self_host["usd_per_seat_month"] = lambda: per(r.usd_per_month, seats)
    return Sections(
        {
            "scenario": lambda: report.scenario.model_dump(mode="json"),
            "version": lambda: VERSION,
            "data_release": lambda: report.release,
            "link": lambda: "?" + report.link,
            "verdict": lambda: list(report.sentences()),
            "memory": lambda: {
                "fits": fits,
                "weights_bytes": number(s.weights_bytes),
                "usable_bytes": number(s.usable_bytes),
                "cache_bytes_per_token": number(s.cache_bytes_per_token),
                "state_bytes_per_sequence": number(s.state_bytes_per_sequence),
                "max_concurrent_sequences": number(s.max_concurrent_sequences) if fits else None,
                "short_by_bytes": number(s.short_by_bytes),
                "min_systems": number(s.min_systems) or None,
            },
            "throughput": lambda: {
                "evidence": report.evidence,
                "concurrency": when(s.concurrency),
                "requests_per_s": when(s.requests_per_s * factor),
                "output_tokens_per_s": when(s.output_tokens_per_s * factor),
                "new_input_tokens_per_s": when(s.new_input_tokens_per_s * factor),
                "cached_input_tokens_per_s": when(s.cached_input_tokens_per_s * factor),
                "tpot_ms": when(s.tpot_ms),
                "ttft_s": when(s.ttft_s),
                "low_factor": when(s.low_factor),
                "high_factor": when(s.high_factor),
                "anchor": s.anchor if known else None,
            },
            "capacity": lambda: {
                "tokens_per_month": when(r.capacity_tokens_per_month),
                "new_input_tokens_per_month": when(capacity * mean_in * (1 - reuse)),
                "cached_input_tokens_per_month": when(capacity * mean_in * reuse),
                "output_tokens_per_month": when(capacity * mean_out),
            },
            "served": lambda: {
                "tokens_per_month": when(r.served_tokens_per_month),
                "output_tokens_per_month": when(served * mean_out),
                "utilization": when(r.used_share_of_capacity),
                "overflow_tokens_per_month": when(r.overflow_requests_per_month * r.tokens_per_request, counted),
                "system_count": number(i.system_count),
            },
            "serverless": lambda: {
                "baseline": offer_json(
                    report.resolved.baseline, r.baseline_usd_per_month, r.baseline_usd_per_request, paid_tokens
                ),
                "alternative": offer_json(
                    report.resolved.alternative, r.alternative_usd_per_month, r.alternative_usd_per_request, paid_tokens
                ),
            },
            "self_host": lambda: Sections(self_host),
            "payback": lambda: _flow_json(
                r.flow, r.terms, report.status, report.days, report.reason, report.saving_usd_per_month
            ),
            "alternative_payback": lambda: _flow_json(
                r.alternative_flow,
                r.alternative_terms,
                report.alternative_status,
                report.alternative_days,
                report.alternative_reason,
                report.alternative_saving_usd_per_month,
            ),
            "break_even": lambda: {
                "tokens_per_month": number(report.even.tokens_per_month),
                "utilization": number(report.even.utilization),
                "api_usd_per_month": number(report.even.api_usd_per_month),
                "api_usd_per_mtok": number(report.even.api_usd_per_mtok),
                "hardware_usd": number(report.even.hardware_usd),
                "reachable": report.even.reachable,
            },
            "uncertainty": lambda: NO_UNCERTAINTY if report.uncertainty is None else report.uncertainty.to_json(),
            "warnings": lambda: _warnings(report),
            "sources": lambda: [dict(vars(u)) for u in report.resolved.used],
        }
    )
