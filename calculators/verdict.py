"""The verdict: one to four short sentences with the reason, the fragile inputs and the alternative."""

import math
from dataclasses import dataclass

import numpy as np

from calculators.breakeven import BreakEven
from calculators.cashflow import NEAR, Flow
from calculators.evaluate import Result
from calculators.numbers import money, share, three_digits, tokens
from calculators.resolve import Resolved
from calculators.texts import Language, duration_text, months_text, text

NO_PAYBACK_REASONS = ("does_not_fit", "no_throughput", "unpriced")


@dataclass(frozen=True)
class Payback:
    """Payback as the report states it. ``status`` is None where no payback can be told; ``reason`` says why."""

    status: str | None
    days: float | None
    reason: str


@dataclass(frozen=True)
class Band:
    """Likely range of the payback in days; infinity = never."""

    low_days: float
    high_days: float


def payback_of(result: Result, flow: Flow, *, priced: bool, horizon_months: float) -> tuple[str | None, float | None]:
    """Status and days of a scalar flow: pays_back, beyond_horizon, immediate, never; None where it cannot be told."""
    if not priced or not bool(result.sizing.fits) or str(result.sizing.evidence) == "none":
        return None, None
    months = float(flow.payback_months)
    if math.isinf(months) or math.isnan(months):
        return "never", None
    days = float(flow.payback_days)
    if months == 0:
        return "immediate", 0.0
    return ("pays_back" if months <= horizon_months else "beyond_horizon"), days


def is_lost_again(flow: Flow, status: str | None) -> bool:
    """Whether the money comes back within the horizon and is gone again at its end (by more than rounding)."""
    if status not in ("pays_back", "immediate") or float(flow.final_usd) >= 0:
        return False
    size = max(abs(float(flow.peak_usd)), abs(float(flow.terms.capex_usd)))
    return float(flow.final_usd) < -NEAR * size


def cash_key(result: Result, status: str | None) -> str:
    """Key of the text that says what the cumulative cash flow against today's offer does."""
    if is_lost_again(result.flow, status):
        return "chart.cash_lost_again" if status == "pays_back" else "chart.cash_immediate_lost"
    if status == "never" and float(result.ownership.capex_usd) == 0:
        return "chart.cash_never_saves"
    return f"chart.cash_{status}"


def break_even_key(even: BreakEven) -> str:
    """Key of the text that says what the break-even volume asks of the machines."""
    if not even.reachable:
        return "chart.cheaper_beyond"
    return "chart.cheaper_above_plan" if even.above_plan else "chart.cheaper_above"


def plan_text(resolved: Resolved, language: Language = "en") -> str:
    """'Buying one HGX B300 server'."""
    count = int(np.asarray(resolved.inputs.system_count))
    how = resolved.scenario.acquisition
    key = f"verdict.{how}_{'one' if count == 1 else 'many'}"
    return text(key, language, machine=resolved.system.name, count=f"{count:,}")


def _why_nothing(resolved: Resolved, result: Result) -> str | None:
    i = resolved.inputs
    for key, empty in (
        ("utilization", float(np.asarray(i.utilization)) == 0),
        ("availability", float(np.asarray(i.availability)) == 0),
        ("migratable", i.demand != "fill" and float(np.asarray(i.migratable_share)) == 0),
        ("demand", i.demand != "fill" and float(result.demand_requests_per_month) == 0),
        ("hours", i.acquisition == "rent" and float(np.asarray(i.rented_hours_per_month)) == 0),
        ("limits", float(result.capacity_requests_per_month) == 0),
    ):
        if empty:
            return key
    return None


def reason_text(
    resolved: Resolved,
    result: Result,
    flow: Flow,
    status: str | None,
    days: float | None,
    offer: str,
    usd_per_request: float,
    language: Language = "en",
    *,
    auto: bool = False,
) -> str:
    """What the payback is against an offer, why, and whether it lasts; `reason` of the report and of a comparison."""
    first = answer_text(resolved, result, flow, status, days, offer, usd_per_request, language, auto=auto)
    return (" " if language == "en" else "").join([first, *_after(resolved, flow, status, language)])


def _after(resolved: Resolved, flow: Flow, status: str | None, language: Language) -> list[str]:
    """What becomes of the money after it is back; nothing where it is kept."""
    if status not in ("pays_back", "immediate"):
        return []
    horizon = months_text(resolved.scenario.horizon_months, language)
    npv = float(flow.npv_usd)
    if is_lost_again(flow, status):
        return [
            text(
                "verdict.lost_again",
                language,
                month=int(flow.peak_month),
                peak=money(float(flow.peak_usd)),
                end=money(float(flow.final_usd)),
                horizon=horizon,
                npv=money(npv),
            )
        ]
    if npv < 0:
        rate = share(float(np.asarray(resolved.inputs.discount_rate)))
        return [text("verdict.npv_loss", language, rate=rate, horizon=horizon, npv=money(npv))]
    return []


def answer_text(
    resolved: Resolved,
    result: Result,
    flow: Flow,
    status: str | None,
    days: float | None,
    offer: str,
    usd_per_request: float,
    language: Language = "en",
    *,
    band: Band | None = None,
    auto: bool = False,
) -> str:
    """One sentence: what the payback is against an offer and why."""
    plan = plan_text(resolved, language)
    served = float(result.served_requests_per_month)
    saving = served * usd_per_request - float(result.opex_usd_per_month)
    bill = float(result.demand_requests_per_month) * usd_per_request
    count = int(np.asarray(resolved.inputs.system_count))
    common = {"plan": plan, "offer": offer}
    if not math.isfinite(usd_per_request):
        return text("verdict.unpriced", language, offer=offer)
    if count == 0:
        key = "verdict.auto_none" if auto else "verdict.no_systems"
        if resolved.inputs.demand == "fill":
            key = "verdict.no_systems_fill"
        elif float(result.demand_requests_per_month) == 0 and usd_per_request > 0:
            key += "_idle"
        return text(key, language, machine=resolved.system.name, offer=offer, bill=money(bill))
    sizing = result.sizing
    if str(sizing.limited_by) == "context":
        tokens_each = float(
            (resolved.inputs.input_tokens + resolved.inputs.output_tokens) * resolved.inputs.token_ratio
        )
        return text(
            "verdict.too_long",
            language,
            model=resolved.model.name,
            length=f"{tokens_each:,.0f}",
            limit=f"{resolved.model.max_context_tokens:,}",
        )
    if not bool(sizing.fits):
        need = int(sizing.min_systems)
        told = (
            text("verdict.fits_never", language)
            if need <= 0
            else text("verdict.fits_on", language, count=need, accelerators=need * resolved.system.accelerators)
        )
        return text(
            "verdict.does_not_fit",
            language,
            model=resolved.model.name,
            count=count,
            machine=resolved.system.name,
            short=f"{float(sizing.short_by_bytes) / 1e9:,.0f} GB",
            need=told,
        )
    if str(sizing.evidence) == "none" and str(sizing.limited_by) == "ttft" and resolved.scenario.max_ttft_s is not None:
        return text(
            "verdict.misses_first_token",
            language,
            machine=resolved.system.name,
            model=resolved.model.name,
            wait=three_digits(float(sizing.ttft_s)),
            limit=three_digits(resolved.scenario.max_ttft_s),
        )
    if str(sizing.evidence) == "none" and float(sizing.single_stream_tokens_per_s) > 0:
        return text(
            "verdict.misses_limit",
            language,
            machine=resolved.system.name,
            model=resolved.model.name,
            speed=three_digits(float(sizing.single_stream_tokens_per_s)),
            limit=_limit_text(resolved, language),
        )
    if str(sizing.evidence) == "none":
        return text("verdict.no_throughput", language, machine=resolved.system.name, model=resolved.model.name)
    if usd_per_request == 0:
        return text("verdict.price_zero", language, loss=money(float(result.opex_usd_per_month)), **common)
    why = _why_nothing(resolved, result)
    if why is not None and served == 0:
        return text(
            "verdict.serves_nothing",
            language,
            why=text(f"verdict.why_{why}", language),
            loss=money(float(result.opex_usd_per_month)),
            **common,
        )
    if status == "immediate":
        return text("verdict.immediate", language, saving=money(saving), bill=money(bill), **common)
    if status in ("pays_back", "beyond_horizon"):
        told = "" if band is None else _band_text(band, days or 0.0, language)
        if status == "pays_back":
            return text(
                "verdict.pays_back",
                language,
                days=duration_text(days or 0.0, language),
                band=told,
                bill=money(bill),
                **common,
            )
        return text(
            "verdict.beyond" if saving >= 0 else "verdict.beyond_losing",
            language,
            loss=money(-saving),
            days=duration_text(days or 0.0, language),
            band=told,
            horizon=months_text(resolved.scenario.horizon_months, language),
            saving=money(saving),
            **common,
        )
    first = float(flow.first_saving_usd)
    if first < 0 or saving < 0:
        key = "verdict.never_losing" if float(flow.terms.capex_usd) > 0 else "verdict.rent_losing"
        return text(key, language, loss=money(-min(saving, first)), **common)
    if first == 0:
        return text("verdict.never_zero", language, **common)
    horizon = resolved.scenario.horizon_months
    if int(flow.peak_month) < horizon:
        return text(
            "verdict.never_falling",
            language,
            saving=money(saving),
            month=int(flow.peak_month),
            peak=money(float(flow.peak_usd)),
            **common,
        )
    return text("verdict.never_late", language, saving=money(saving), **common)


def _limit_text(resolved: Resolved, language: Language) -> str:
    s = resolved.scenario
    parts = []
    if s.max_tpot_ms is not None:
        parts.append(
            text(
                "verdict.limit_tpot", language, ms=three_digits(s.max_tpot_ms), speed=three_digits(1000 / s.max_tpot_ms)
            )
        )
    if s.max_ttft_s is not None:
        parts.append(text("verdict.limit_ttft", language, s=three_digits(s.max_ttft_s)))
    return text("verdict.and", language).join(parts)


def _band_text(band: Band, days: float, language: Language) -> str:
    """The likely range in words. Ranges are lopsided, so the payback at the typical values may lie outside of it."""
    if math.isinf(band.low_days):
        return ""
    outside = "" if band.low_days <= days <= band.high_days else "_outside"
    low = duration_text(band.low_days, language)
    if math.isinf(band.high_days):
        return text(f"verdict.band{outside}_open", language, low=low)
    if band.high_days < 730:  # both in days: the unit once
        low = f"{band.low_days:,.0f}"
    return text(f"verdict.band{outside}", language, low=low, high=duration_text(band.high_days, language))


def verdict(
    resolved: Resolved,
    result: Result,
    even: BreakEven,
    language: Language = "en",
    *,
    band: Band | None = None,
    auto: bool = False,
    fragile: tuple[str, str] | None = None,
) -> tuple[str, ...]:
    """The verdict as sentences, the first one being the answer.

    Args:
        resolved: scenario with numbers and records.
        result: its evaluation.
        even: its break-evens.
        language: of the sentences.
        band: likely range of the payback.
        auto: the count was chosen by cost.
        fragile: texts of the two inputs with the largest swing on the payback; None names utilization and API price.
    """
    horizon = resolved.scenario.horizon_months
    base = float(result.baseline_usd_per_request)
    flow = result.flow
    status, days = payback_of(result, flow, priced=math.isfinite(base), horizon_months=horizon)
    sentences = [
        answer_text(resolved, result, flow, status, days, resolved.baseline.id, base, language, band=band, auto=auto)
    ]
    if status is None and not (bool(result.sizing.fits) and math.isfinite(base)):
        return tuple(sentences)
    sentences += _after(resolved, flow, status, language)
    sentences += _left_at_the_api(resolved, result, language)
    sentences += _evidence(resolved, result, language)
    if status is not None:
        first, second = fragile or (text("input.utilization", language), text("input.api_price", language))
        if status in ("pays_back", "immediate") and float(flow.final_usd) >= 0:
            limits = _limits(resolved, result, even, language)
            if limits:
                sentences.append(text("verdict.hangs_on", language, first=first, second=second, limits=limits))
        else:
            if status != "never":
                sentences.append(text("verdict.hangs_only", language, first=first, second=second))
            sentences.append(_needs(resolved, result, even, language))
    return (*sentences, *_alternative(resolved, result, language))


def _left_at_the_api(resolved: Resolved, result: Result, language: Language) -> list[str]:
    """What the machines do not take of the demand: it is paid for beside them, and is part of the bill."""
    demand, left = float(result.demand_requests_per_month), float(result.overflow_requests_per_month)
    served = float(result.served_requests_per_month)
    if served <= 0 or left < 0.0005 * demand:
        return []
    usd = left * float(result.baseline_usd_per_request)
    return [text("verdict.stays", language, share=share(left / demand), offer=resolved.baseline.id, usd=money(usd))]


def _needs(resolved: Resolved, result: Result, even: BreakEven, language: Language) -> str:
    """What would break even within the horizon, where the scenario does not: load, else spend, and the API price."""
    if even.api_usd_per_month is None or even.tokens_per_month is None:
        return text("verdict.need_nothing", language)
    plan = float(np.asarray(resolved.inputs.utilization))
    horizon = months_text(resolved.scenario.horizon_months, language)
    spend = money(even.api_usd_per_month)
    if even.planned_utilization is not None and even.planned_utilization > plan:
        price = ""
        if even.api_usd_per_mtok is not None:
            price = text("verdict.need_price", language, p=three_digits(even.api_usd_per_mtok))
        needed, planned = _apart(even.planned_utilization, plan)
        key = "verdict.need_load" if resolved.inputs.demand == "fill" else "verdict.need_plan"
        return text(key, language, u=needed, planned=planned, horizon=horizon, spend=spend, price=price)
    beyond = ""
    if not even.reachable:
        beyond = text("verdict.need_beyond", language)
    elif even.utilization is not None and even.utilization > plan:
        needed, planned = _apart(even.utilization, plan)
        beyond = text("verdict.need_above", language, u=needed, planned=planned)
    return text("verdict.need_spend", language, spend=spend, tokens=tokens(even.tokens_per_month), beyond=beyond)


def _apart(high: float, low: float) -> tuple[str, str]:
    """Two shares as per cent, with as many digits as tell them apart."""
    shown = share(high), share(low)
    return shown if shown[0] != shown[1] else (f"{high * 100:.6g} %", f"{low * 100:.6g} %")


def _limits(resolved: Resolved, result: Result, even: BreakEven, language: Language) -> str:
    """How far load and API price may fall before the money is not back at the horizon."""
    kind = "" if float(result.ownership.capex_usd) > 0 else "_rent"
    horizon = months_text(resolved.scenario.horizon_months, language)
    price = None if even.api_usd_per_mtok is None else three_digits(even.api_usd_per_mtok)
    if even.utilization is not None:
        told = text(f"verdict.limit_utilization{kind}", language, u=share(even.utilization), horizon=horizon)
        return (
            told
            if price is None
            else f"{told}{'，' if language == 'zh' else ', '}" + text("verdict.limit_price", language, p=price)
        )
    return "" if price is None else text(f"verdict.limit_price_only{kind}", language, p=price, horizon=horizon)


def _evidence(resolved: Resolved, result: Result, language: Language) -> list[str]:
    level = str(result.sizing.evidence)
    if level in ("measured", "interpolated", "user", "none") or int(np.asarray(resolved.inputs.system_count)) == 0:
        return []
    places = {"low": share(1 - float(result.sizing.low_factor)), "high": share(float(result.sizing.high_factor) - 1)}
    if level == "uncalibrated":
        return [text("verdict.evidence_bound", language, model=resolved.model.name, **places)]
    return [text("verdict.evidence_band", language, evidence=text(f"evidence.{level}", language), **places)]


def _alternative(resolved: Resolved, result: Result, language: Language) -> list[str]:
    base, other = float(result.baseline_usd_per_month), float(result.alternative_usd_per_month)
    if resolved.alternative is None or not (math.isfinite(base) and math.isfinite(other)) or base <= 0:
        return []
    versus = ""
    if int(np.asarray(resolved.inputs.system_count)) > 0:
        status, days = payback_of(
            result, result.alternative_flow, priced=True, horizon_months=resolved.scenario.horizon_months
        )
        if status == "never":
            key = "verdict.versus_never" if float(result.ownership.capex_usd) > 0 else "verdict.versus_never_saves"
            versus = text(key, language)
        elif is_lost_again(result.alternative_flow, status):
            horizon = months_text(resolved.scenario.horizon_months, language)
            key = "verdict.versus_lost" if status == "pays_back" else "verdict.versus_immediate_lost"
            versus = text(key, language, days=duration_text(days or 0.0, language), horizon=horizon)
        elif status == "immediate":
            versus = text("verdict.versus_immediate", language)
        elif days is not None:
            versus = text("verdict.versus_days", language, days=duration_text(days, language))
    change = 1 - other / base
    if change > 0.0005:
        return [
            text(
                "verdict.alternative_saves", language, offer=resolved.alternative.id, share=share(change), versus=versus
            )
        ]
    if change >= -0.0005:
        return [text("verdict.alternative_same", language, offer=resolved.alternative.id, versus=versus)]
    return [text("verdict.alternative_dearer", language, offer=resolved.alternative.id, share=share(-change))]
