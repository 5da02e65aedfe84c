"""Numbers as people read them, in both languages; None becomes the word for 'unknown'. No Streamlit, no arithmetic."""

import math
import re
from collections.abc import Iterable

from calculators.numbers import money, plain, share, three_digits, tokens
from calculators.texts import Language, duration_text, months_text, text
from calculators.uncertainty import Quantiles
from calculators.views import Option

_MARKDOWN = re.compile(r"([\\`*_\[\]$<>#~:|])")


def escape(words: str) -> str:
    """Text that markdown shows as it is: what a person typed, and ids of offers."""
    return _MARKDOWN.sub(r"\\\1", words)


def unknown(language: Language) -> str:
    """The word for a figure that nobody knows."""
    return text("ui.unknown", language)


def usd(value: float | None, language: Language) -> str:
    """'600,000 USD'."""
    return unknown(language) if value is None else money(value)


def cents(value: float | None, language: Language) -> str:
    """'2,841.13', USD and cents of a line that others are summed with."""
    return unknown(language) if value is None else f"{value:,.2f}"


def usd_per_mtok(value: float | None, language: Language) -> str:
    """'1.04 USD/M'."""
    return unknown(language) if value is None else f"{three_digits(value)} USD/M"


def token_count(value: float | None, language: Language) -> str:
    """'22.0 B'."""
    return unknown(language) if value is None else tokens(value)


def fraction(value: float | None, language: Language) -> str:
    """'75 %'."""
    return unknown(language) if value is None else share(value)


def rate(value: float | None, language: Language, unit: str = "tokens/s") -> str:
    """'1,240 tokens/s'."""
    return unknown(language) if value is None else f"{three_digits(value)} {unit}".strip()


def size(value: float | None, language: Language) -> str:
    """'1,561 GB', decimal gigabytes."""
    return unknown(language) if value is None else f"{value / 1e9:,.0f} GB"


def payback(status: str | None, days: float | None, language: Language) -> str:
    """'232 days', 'never', 'at once' or 'unknown'."""
    if status is None:
        return unknown(language)
    if status in ("pays_back", "beyond_horizon") and days is not None:
        return duration_text(days, language)
    return text(f"payback.{status}", language)


def band(days: Quantiles | None, language: Language) -> str:
    """'likely 206 days to 364 days' from 10th and 90th percentile, of which infinity is never."""
    if days is None:
        return unknown(language)
    low, high = days_or_never(days.p10, language), days_or_never(days.p90, language)
    if low == high:
        return text("metric.band_one", language, value=low)
    return text("metric.band", language, low=low, high=high)


def chance(probability: float, language: Language) -> str:
    """A probability; what is nearly certain or nearly impossible is not rounded to either."""
    if 0 < probability < 0.001:
        return text("risk.under", language, p="0.1 %")
    return text("risk.over", language, p="99.9 %") if 0.999 < probability < 1 else share(probability)


def days_or_never(days: float, language: Language) -> str:
    """'232 days', or 'never' for infinity."""
    return text("payback.never", language) if days == float("inf") else duration_text(days, language)


def field_text(name: str, value: object) -> str:
    """A scenario value as its input field shows it: '5 %', '8,192', '' for empty."""
    from calculators.scenario import SPECS

    spec = SPECS[name]
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    assert isinstance(value, int | float)
    if spec.widget == "share":
        return f"{plain(round(value * 100, 10))} %"
    return f"{int(value):,}" if value == int(value) else plain(float(value))


def figure(value: float | str, unit: str) -> str:
    """A figure of the list of sources: all its digits, separators, shares as per cent."""
    if isinstance(value, str):
        return value
    if unit in ("share", "share/year"):
        return f"{plain(round(value * 100, 6))} %" + ("/year" if unit == "share/year" else "")
    shown = f"{int(value):,}" if value == int(value) else f"{value:,.6g}"
    return f"{shown} {unit}".strip()


def whole(value: float | None) -> int | None:
    """A number without fraction for a table's column, None kept."""
    return None if value is None else round(value)


def billions(value: float | None) -> float | None:
    """Tokens in billions for a table's column, None kept."""
    return None if value is None else value / 1e9


def factors(low: float | None, high: float | None, language: Language) -> str:
    """'-5 % to +12 %': how far a throughput may be off."""
    if low is None or high is None:
        return unknown(language)
    return f"-{share(1 - low)} / +{share(high - 1)}"


def within(days: float | None, horizon_months: int, language: Language) -> str:
    """A discounted payback; None is not within the horizon."""
    if days is None:
        return text("costs.not_within", language, n=months_text(horizon_months, language))
    return text("payback.immediate", language) if days == 0 else duration_text(days, language)


def option_usd(option: Option | str, name: str, language: Language) -> str:
    """A money figure of a way to own; a way without a price has none."""
    return unknown(language) if isinstance(option, str) else usd(getattr(option, name), language)


def option_payback(option: Option | str, language: Language) -> str:
    """Payback of a way to own."""
    return unknown(language) if isinstance(option, str) else payback(option.status, option.days, language)


def count(value: float | None, language: Language) -> str:
    """A number of things: '502'."""
    return unknown(language) if value is None else f"{value:,.0f}"


def gigabytes(value: float) -> float:
    """Bytes as decimal gigabytes, for an axis."""
    return value / 1e9


def positive(x: Iterable[float], y: Iterable[float]) -> tuple[list[float], list[float]]:
    """The points that a logarithmic axis can show."""
    pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True) if math.isfinite(b) and b > 0]
    return [a for a, _ in pairs], [b for _, b in pairs]


def finite(values: Iterable[float]) -> list[float | None]:
    """Numbers for a table, None where there is none."""
    return [float(v) if math.isfinite(v) else None for v in values]


def milliseconds_each(per_second: float) -> float:
    """A rate as the time that one of them takes, for an axis."""
    return 1000.0 / per_second
