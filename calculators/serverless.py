"""What an API request costs: dated prices, cache reads and writes, long-context tiers, batch and time of day.

Rules (design.md, "Money rules"):

* new input, cached input, cache writes and output each at their own price;
* a missing cached price means full input price and is flagged, never free; a missing write price means input price;
* an unknown input or output price is 'unpriced' (None), never 0; a free tier is priced 0 and marked;
* long-context tiers act per request on ALL its tokens, never on monthly totals and never marginally;
* a price has a date it applies from, which may lie in the future, and may hold in some hours of the day only.

All prices are USD per million tokens, all token arguments are tokens per request, shares are fractions. Numbers may be
scalars or numpy arrays that broadcast.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from calculators.records import Offer, OfferPrice
from calculators.texts import field_words, said
from calculators.units import HOURS_PER_WEEK, TOKENS_PER_MTOK

Number: TypeAlias = float | NDArray[np.float64]
"""A scalar or an array that broadcasts with the other arguments."""

PRICE_BOUNDS_USD_PER_MTOK: Final = (0.0001, 1000.0)
"""Prices outside are almost always a unit slip (per token, per thousand, cents): warned about, 0 excepted (free)."""

STALE_AFTER_DAYS: Final = 90
"""Age after which a price is called old, unless the caller says otherwise."""

PriceKind: TypeAlias = Literal["input", "cached_input", "cache_write", "cache_write_1h", "output"]
PRICE_KINDS: Final[tuple[PriceKind, ...]] = ("input", "cached_input", "cache_write", "cache_write_1h", "output")

_FALLBACK: Final[tuple[tuple[PriceKind, PriceKind], ...]] = (
    ("cached_input", "input"),
    ("cache_write", "input"),
    ("cache_write_1h", "cache_write"),
)
"""What an unlisted price costs instead."""


@dataclass(frozen=True, slots=True)
class TierNow:
    """Prices of a request whose whole input is above `above_input_tokens`; every price is resolved, none is missing."""

    above_input_tokens: float
    input_usd_per_mtok: Number
    cached_input_usd_per_mtok: Number
    cache_write_usd_per_mtok: Number
    cache_write_1h_usd_per_mtok: Number
    output_usd_per_mtok: Number


@dataclass(frozen=True, slots=True)
class PriceNow:
    """Price of one offer on one day, in USD per million tokens, with every gap filled and flagged.

    `cached_is_missing`: no cached price is listed, cached tokens cost the full input price. `write_is_missing` and
    `write_1h_is_missing`: no such write price is listed, writes cost the input price (the 5-minute price for the hour).
    `is_free`: a free tier; it must not enter a break-even as a price of 0. `tiers` are ordered by threshold. `warnings`
    tell what the price itself leaves open (hours of the day); `price_warnings` adds the flags, age and bounds.
    """

    offer_id: str
    on: dt.date
    input_usd_per_mtok: Number
    cached_input_usd_per_mtok: Number
    cache_write_usd_per_mtok: Number
    cache_write_1h_usd_per_mtok: Number
    output_usd_per_mtok: Number
    tiers: tuple[TierNow, ...] = ()
    cached_is_missing: bool = False
    write_is_missing: bool = False
    write_1h_is_missing: bool = False
    is_free: bool = False
    currency: str = "USD"
    rate_usd_per_cny: float | None = None
    effective_from: dt.date | None = None
    checked: dt.date | None = None
    source: str = ""
    source_url: str = ""
    kind: str = ""
    confidence: str = ""
    note: str = ""
    warnings: tuple[str, ...] = ()


def _in_force(prices: Sequence[OfferPrice], on: dt.date) -> dict[str, OfferPrice]:
    """Latest row of each time-of-day window ('' = all day) that has started by `on`."""
    rows: dict[str, OfferPrice] = {}
    for price in prices:
        if price.effective_from is not None and price.effective_from > on:
            continue
        known = rows.get(price.hours_utc)
        started = price.effective_from or dt.date.min
        if known is None or started >= (known.effective_from or dt.date.min):
            rows[price.hours_utc] = price
    return rows


def window_hours(hours_utc: str) -> tuple[float, float]:
    """Start and end of a time-of-day window in hours of the UTC day; the end may be smaller (past midnight).

    Raises:
        ValueError: the text is not 'HH:MM-HH:MM' or the window is empty.
    """
    try:
        start, end = (int(part[:2]) + int(part[3:]) / 60 for part in hours_utc.split("-"))
    except ValueError:
        start = end = -1.0
    if len(hours_utc) != 11 or not (0 <= start < 24 and 0 <= end <= 24) or start == end:
        raise ValueError(f"hours_utc {hours_utc!r} is not a window of the day; write it as '01:00-04:00'")
    return start, end


def _share_of_hour(window: tuple[float, float], hour: int) -> float:
    """Share of the clock hour [hour, hour + 1) that lies inside the window."""
    start, end = window
    parts = ((start, end),) if start < end else ((start, 24.0), (0.0, end))
    return sum(max(0.0, min(stop, hour + 1.0) - max(begin, float(hour))) for begin, stop in parts)


def _window_share(hours_utc: str, hour_weights: Sequence[float] | None) -> float:
    """Share of the demand that falls into the window, for 168 weights of the week (None = the same in every hour)."""
    window = window_hours(hours_utc)
    by_hour = [_share_of_hour(window, hour) for hour in range(24)]
    if hour_weights is None:
        return sum(by_hour) / 24.0
    if len(hour_weights) != HOURS_PER_WEEK:
        raise ValueError(f"hour_weights has {len(hour_weights)} values; a week has {HOURS_PER_WEEK} hours")
    total = sum(hour_weights)
    if total <= 0:
        raise ValueError(f"hour_weights sum to {total}; they must sum to more than 0")
    return sum(weight * by_hour[hour % 24] for hour, weight in enumerate(hour_weights)) / total


def _convert(price: OfferPrice, offer: Offer, on: dt.date, rate_usd_per_cny: float | None) -> PriceNow | None:
    """One row as USD with its gaps filled; None when it is unpriced."""
    usd_per_unit = 1.0
    if price.currency == "CNY":
        if rate_usd_per_cny is None:
            return None
        usd_per_unit = rate_usd_per_cny
    if price.input_per_mtok is None or price.output_per_mtok is None:
        return None

    def resolve(values: Mapping[PriceKind, float | None]) -> dict[str, Any]:
        """Fill the gaps: cached and write cost the input price, an hour's write the 5-minute price."""
        filled = dict(values)
        for kind, instead in _FALLBACK:
            if filled[kind] is None:
                filled[kind] = filled[instead]
        return {f"{kind}_usd_per_mtok": (filled[kind] or 0.0) * usd_per_unit for kind in PRICE_KINDS}

    step: dict[PriceKind, float | None] = {kind: getattr(price, f"{kind}_per_mtok") for kind in PRICE_KINDS}
    base = resolve(step)
    tiers = []
    for tier in sorted(price.tiers, key=lambda item: item.above_input_tokens):
        # A tier that leaves a price out keeps the price of the step below it.
        listed: dict[PriceKind, float | None] = {kind: getattr(tier, f"{kind}_usd_per_mtok") for kind in PRICE_KINDS}
        step = {kind: step[kind] if listed[kind] is None else listed[kind] for kind in PRICE_KINDS}
        tiers.append(TierNow(above_input_tokens=float(tier.above_input_tokens), **resolve(step)))
    return PriceNow(
        offer_id=offer.id,
        on=on,
        **base,
        tiers=tuple(tiers),
        cached_is_missing=price.cached_input_per_mtok is None,
        write_is_missing=price.cache_write_per_mtok is None,
        write_1h_is_missing=price.cache_write_1h_per_mtok is None,
        is_free=price.input_per_mtok == 0 and price.output_per_mtok == 0,
        currency=price.currency,
        rate_usd_per_cny=rate_usd_per_cny if price.currency == "CNY" else None,
        effective_from=price.effective_from,
        checked=price.checked,
        source=price.source,
        source_url=price.source_url,
        kind=price.kind,
        confidence=price.confidence,
        note=price.note,
    )


def _mean(prices: Sequence[PriceNow], shares: Sequence[float]) -> PriceNow:
    """Mean of prices that hold in different hours, weighted by the share of the demand in each.

    The cost of a request is linear in the prices, so this is exact for tiers too where all windows share the same
    thresholds; a window that lists no tiers then keeps its one price above the threshold.
    """
    fields = [f"{kind}_usd_per_mtok" for kind in PRICE_KINDS]
    first = prices[0]

    def mean(items: Sequence[PriceNow | TierNow]) -> dict[str, Any]:
        pairs = list(zip(items, shares, strict=True))
        return {field: sum(share * float(getattr(item, field)) for item, share in pairs) for field in fields}

    thresholds = sorted({tier.above_input_tokens for price in prices for tier in price.tiers})
    tiers = tuple(
        TierNow(above_input_tokens=threshold, **mean([_step(price, threshold) for price in prices]))
        for threshold in thresholds
    )
    return replace(first, **mean(prices), tiers=tiers)


def _step(price: PriceNow, threshold: float) -> PriceNow | TierNow:
    """Prices of `price` for a request just above `threshold` input tokens."""
    step: PriceNow | TierNow = price
    for tier in price.tiers:
        if tier.above_input_tokens <= threshold:
            step = tier
    return step


def price_in_force(price: PriceNow, input_tokens: float) -> PriceNow | TierNow:
    """Prices that a request with this much input pays: those of the highest long-context tier below it."""
    step: PriceNow | TierNow = price
    for tier in price.tiers:
        if input_tokens > tier.above_input_tokens:
            step = tier
    return step


def effective_price(
    offer: Offer,
    on: dt.date,
    rate_usd_per_cny: float | None = None,
    *,
    hour_utc: float | None = None,
    hour_weights: Sequence[float] | None = None,
) -> PriceNow | None:
    """Price of an offer on a day, or None when it is unpriced that day.

    Of the rows that have started by `on`, the one with the latest start holds; a row without a start date has always
    held. Rows with hours (`hours_utc`) replace it in those hours.

    Args:
        offer: provider x model x service tier with its dated prices.
        on: day of the request; past and future days give past and announced prices.
        rate_usd_per_cny: USD for one CNY, needed for an offer priced in CNY (without it: unpriced).
        hour_utc: price at this hour of the UTC day (0 <= hour < 24) instead of the mean over the day.
        hour_weights: 168 weights of the week, Monday 00:00 UTC first, for the mean over hours that differ in price;
            None weighs every hour alike.

    Returns:
        Price in USD per million tokens, or None: no row has started, the input or output price is unknown, or the rate
        is missing. Unpriced is never 0.
    """
    if rate_usd_per_cny is not None and not 0 < rate_usd_per_cny < float("inf"):
        raise ValueError(f"rate_usd_per_cny is {rate_usd_per_cny}; it must be above 0")
    rows = _in_force(offer.prices, on)
    base_row = rows.pop("", None)
    if base_row is None:
        return None
    base = _convert(base_row, offer, on, rate_usd_per_cny)
    if base is None or not rows:
        return base
    windows: list[tuple[str, PriceNow]] = []
    for hours, row in sorted(rows.items()):
        converted = _convert(row, offer, on, rate_usd_per_cny)
        if converted is None:
            return None
        windows.append((hours, converted))
    if hour_utc is not None:
        if not 0 <= hour_utc < 24:
            raise ValueError(f"hour_utc is {hour_utc}; it must be at least 0 and below 24")
        for hours, price in windows:
            start, end = window_hours(hours)
            if start <= hour_utc < end or (start > end and (hour_utc >= start or hour_utc < end)):
                return price
        return base
    shares = [_window_share(hours, hour_weights) for hours, _ in windows]
    mean = _mean([base, *(price for _, price in windows)], [1.0 - sum(shares), *shares])
    text = ", ".join(f"{hours} UTC" for hours, _ in windows)
    warning = said("warning.time_of_day", offer=offer.id, hours=text)
    return replace(mean, warnings=(*mean.warnings, warning))


def with_overrides(
    price: PriceNow,
    *,
    input_usd_per_mtok: Number | None = None,
    cached_input_usd_per_mtok: Number | None = None,
    cache_write_usd_per_mtok: Number | None = None,
    output_usd_per_mtok: Number | None = None,
) -> PriceNow:
    """Replace single prices by the user's own, in USD per million tokens.

    None or NaN leaves a price as listed; 0 is a value and means free. A price that is replaced holds for every request:
    its listed long-context tiers no longer apply, the tiers of the other prices do. The write override holds for
    5-minute and 1-hour writes. A cached or write price that is not listed follows the (replaced) input price.

    Raises:
        ValueError: an override is negative or infinite.
    """
    overrides: dict[PriceKind, Number | None] = {
        "input": input_usd_per_mtok,
        "cached_input": cached_input_usd_per_mtok,
        "cache_write": cache_write_usd_per_mtok,
        "cache_write_1h": cache_write_usd_per_mtok,
        "output": output_usd_per_mtok,
    }
    for kind, override in overrides.items():
        if override is not None:
            values = np.asarray(override, dtype=np.float64)
            if np.any(values < 0) or np.any(np.isinf(values)):
                raise ValueError(f"{kind}_usd_per_mtok is {override}; a price must be 0 or above and finite")

    def apply(step: PriceNow | TierNow) -> dict[str, Any]:
        full = _or_listed(overrides["input"], step.input_usd_per_mtok)
        listed_cached = full if price.cached_is_missing else step.cached_input_usd_per_mtok
        listed_write = full if price.write_is_missing else step.cache_write_usd_per_mtok
        write = _or_listed(overrides["cache_write"], listed_write)
        listed_write_1h = write if price.write_1h_is_missing else step.cache_write_1h_usd_per_mtok
        return {
            "input_usd_per_mtok": full,
            "cached_input_usd_per_mtok": _or_listed(overrides["cached_input"], listed_cached),
            "cache_write_usd_per_mtok": write,
            "cache_write_1h_usd_per_mtok": _or_listed(overrides["cache_write_1h"], listed_write_1h),
            "output_usd_per_mtok": _or_listed(overrides["output"], step.output_usd_per_mtok),
        }

    tiers = tuple(TierNow(above_input_tokens=tier.above_input_tokens, **apply(tier)) for tier in price.tiers)
    cached_given = _is_given(cached_input_usd_per_mtok)
    base = apply(price)
    return replace(
        price,
        **base,
        tiers=tiers,
        cached_is_missing=price.cached_is_missing and not cached_given,
        write_is_missing=price.write_is_missing and not _is_given(cache_write_usd_per_mtok),
        is_free=bool(np.all(base["input_usd_per_mtok"] == 0) and np.all(base["output_usd_per_mtok"] == 0)),
    )


def _is_given(override: Number | None) -> bool:
    return override is not None and not bool(np.all(np.isnan(override)))


def _or_listed(override: Number | None, listed: Number) -> Number:
    """Override where it is a number, the listed price where it is None or NaN."""
    if override is None:
        return listed
    if isinstance(override, int | float):
        return listed if override != override else float(override)
    merged: NDArray[np.float64] = np.where(np.isnan(override), listed, override)
    return merged


@overload
def request_cost_usd(
    price: None,
    new_input_tokens: Number,
    cached_input_tokens: Number,
    cache_write_tokens: Number,
    output_tokens: Number,
    cache_write_1h_tokens: Number = ...,
) -> None: ...


@overload
def request_cost_usd(
    price: PriceNow,
    new_input_tokens: Number,
    cached_input_tokens: Number,
    cache_write_tokens: Number,
    output_tokens: Number,
    cache_write_1h_tokens: Number = ...,
) -> Number: ...


def request_cost_usd(
    price: PriceNow | None,
    new_input_tokens: Number,
    cached_input_tokens: Number,
    cache_write_tokens: Number,
    output_tokens: Number,
    cache_write_1h_tokens: Number = 0.0,
) -> Number | None:
    """Cost of one request in USD; None when the offer is unpriced.

    usd = (new x input + cached x cached_input + written x cache_write + written_1h x cache_write_1h + out x output)
    / 1e6

    The four kinds of input exclude one another: their sum is the input of the request. Where that sum is ABOVE a tier's
    threshold, the prices of that tier hold for all tokens of the request, output too.

    Example:
        86 new, 1,920 cached and 300 output tokens at 3 / 0.3 / 15 USD per million cost
        (86 x 3 + 1920 x 0.3 + 300 x 15) / 1e6 = 0.005334 USD.
    """
    if price is None:
        return None
    tokens = (new_input_tokens, cached_input_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens)
    usd = _at(price, tokens)
    if not price.tiers:
        return usd
    total_input = new_input_tokens + cached_input_tokens + cache_write_tokens + cache_write_1h_tokens
    tiered = np.asarray(usd)
    for tier in price.tiers:
        tiered = np.where(np.greater(total_input, tier.above_input_tokens), _at(tier, tokens), tiered)
    return _scalar(tiered)


def _scalar(values: NDArray[np.float64]) -> Number:
    """A 0-d array as a plain number, any other as it is."""
    return float(values) if values.ndim == 0 else values


def _at(step: PriceNow | TierNow, tokens: tuple[Number, Number, Number, Number, Number]) -> Number:
    new, cached, write, write_1h, output = tokens
    return (
        new * step.input_usd_per_mtok
        + cached * step.cached_input_usd_per_mtok
        + write * step.cache_write_usd_per_mtok
        + write_1h * step.cache_write_1h_usd_per_mtok
        + output * step.output_usd_per_mtok
    ) / TOKENS_PER_MTOK


@overload
def api_cost(
    price: None,
    input_tokens: Number,
    output_tokens: Number,
    cached_share: Number = ...,
    cache_write_share: Number | None = ...,
    discount: Number = ...,
    batch_price: PriceNow | None = ...,
    batch_share: Number = ...,
    cache_write_1h_share: Number = ...,
) -> None: ...


@overload
def api_cost(
    price: PriceNow,
    input_tokens: Number,
    output_tokens: Number,
    cached_share: Number = ...,
    cache_write_share: Number | None = ...,
    discount: Number = ...,
    batch_price: PriceNow | None = ...,
    batch_share: Number = ...,
    cache_write_1h_share: Number = ...,
) -> Number: ...


def api_cost(
    price: PriceNow | None,
    input_tokens: Number,
    output_tokens: Number,
    cached_share: Number = 0.0,
    cache_write_share: Number | None = None,
    discount: Number = 0.0,
    batch_price: PriceNow | None = None,
    batch_share: Number = 0.0,
    cache_write_1h_share: Number = 0.0,
) -> Number | None:
    """Mean cost of a request of this mix in USD; None when the offer is unpriced.

    Args:
        price: standard price of the offer.
        input_tokens: input per request, cached part included.
        output_tokens: output per request, reasoning tokens included.
        cached_share: share of the input billed as cache hits.
        cache_write_share: share of the uncached input billed as cache writes. None applies the rule of the app: 1 where
            anything is cached and the offer lists a write price (what is read from a cache was written to it), else 0.
        discount: share taken off the whole bill (a contract); cache and batch discounts are in the prices already.
        batch_price: price of the same model's batch tier. None: there is none, so the batch share pays `price`.
        batch_share: share of the requests that takes the batch tier. Its price is used once, as listed: the half price
            is never taken off again, and cached tokens cost what the batch tier lists for them.
        cache_write_1h_share: share of the cache writes that is kept for an hour and billed at that price.
    """
    if price is None:
        return None
    mix = (input_tokens, output_tokens, cached_share, cache_write_share, cache_write_1h_share)
    cost = _mix_cost(price, *mix)
    if batch_price is not None:
        cost = cost + batch_share * (_mix_cost(batch_price, *mix) - cost)
    return cost * (1.0 - discount)


def _mix_cost(
    price: PriceNow,
    input_tokens: Number,
    output_tokens: Number,
    cached_share: Number,
    cache_write_share: Number | None,
    cache_write_1h_share: Number,
) -> Number:
    cached = input_tokens * cached_share
    uncached = input_tokens - cached
    if cache_write_share is None:
        cache_write_share = 0.0 if price.write_is_missing else np.greater(cached_share, 0.0) * 1.0
    written = uncached * cache_write_share
    written_1h = written * cache_write_1h_share
    return request_cost_usd(price, uncached - written, cached, written - written_1h, output_tokens, written_1h)


def price_warnings(price: PriceNow, today: dt.date, stale_after_days: int = STALE_AFTER_DAYS) -> tuple[str, ...]:
    """Sentences on what is doubtful about a price: its own flags, its age, and values outside the plausible bounds."""
    found = list(price.warnings)
    if price.cached_is_missing:
        found.append(said("warning.no_cached_price", offer=price.offer_id))
    if price.is_free:
        found.append(said("warning.free_tier", offer=price.offer_id))
    if price.checked is not None and (age := (today - price.checked).days) > stale_after_days:
        day = price.checked.isoformat()
        found.append(said("warning.old_price", offer=price.offer_id, day=day, age=age, limit=stale_after_days))
    low, high = PRICE_BOUNDS_USD_PER_MTOK
    for step in (price, *price.tiers):
        for kind in PRICE_KINDS:
            value = np.asarray(getattr(step, f"{kind}_usd_per_mtok"))
            if np.any((value != 0) & ((value < low) | (value > high))):
                name = field_words(f"{kind}_usd_per_mtok", kind.replace("_", " "))
                bounds = {"low": f"{low:g}", "high": f"{high:g}"}
                found.append(said("warning.price_bounds", offer=price.offer_id, kind=name, **bounds))
    if "SUSPECT" in f"{price.confidence} {price.note}":
        found.append(said("warning.suspect", offer=price.offer_id, note=price.note))
    return tuple(dict.fromkeys(found))
