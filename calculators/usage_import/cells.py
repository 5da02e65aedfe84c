"""Reading of single cells: counts, money, instants, directions of tokens.

A cell comes from a CSV (text) or from JSON (number, text, boolean, None). Blank, NULL, NaN, '-' and their like are
None,
never 0. Whatever cannot be read raises CellError with the reason; nothing is guessed silently.
"""

import datetime as dt
import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from calculators.texts import said
from calculators.usage_import.errors import CellError, shown

DecimalMark = Literal[".", ","]
DayOrder = Literal["mdy", "dmy"]

BLANK: Final = frozenset(
    {
        "",
        "-",
        "--",
        "–",
        "—",
        "null",
        "none",
        "nan",
        "n/a",
        "na",
        "#n/a",
        "nil",
        "undefined",
        "(null)",
        "<null>",
        "\\n",
        "not_available",
        "not available",
        "unbekannt",
        "k. a.",
        "k.a.",
        "keine",
    }
)
"""Cells that mean 'nothing was said', compared in lower case."""

MAX_COUNT: Final = 10**18
"""Largest plausible count of tokens in one cell; above it the row is refused."""

MAX_MONEY: Final = Decimal(10) ** 13
"""Largest plausible amount of money in one cell."""

_MAX_QUANTITY: Final = Decimal(10) ** 24

_SYMBOLS: Final = {
    "$": "USD",
    "us$": "USD",
    "€": "EUR",
    "£": "GBP",
    "cn¥": "CNY",
    "rmb": "CNY",
    "元": "CNY",
    "₹": "INR",
    "chf": "CHF",
}
_CODES: Final = frozenset(
    {
        "USD",
        "EUR",
        "GBP",
        "CNY",
        "JPY",
        "CHF",
        "INR",
        "AUD",
        "CAD",
        "NZD",
        "SEK",
        "NOK",
        "DKK",
        "PLN",
        "CZK",
        "HUF",
        "BRL",
        "MXN",
        "ZAR",
        "KRW",
        "SGD",
        "HKD",
        "TWD",
        "TRY",
        "ILS",
        "AED",
        "SAR",
        "THB",
    }
)
_MONEY: Final = re.compile(
    r"^(?P<open>\()?(?P<s1>[-+])?\s*(?P<c1>[A-Za-z]{2,3}\$?|[A-Za-z]{0,2}[$€£¥₹元])?\s*(?P<s2>[-+])?\s*"
    r"(?P<n>\d[\d.,'\u2019 ]*(?:[eE][-+]?\d{1,4})?|[.,]\d+(?:[eE][-+]?\d{1,4})?)\s*(?P<s3>-)?\s*"
    r"(?P<c2>[A-Za-z]{2,3}|[$€£¥₹元])?\s*(?P<close>\))?$"
)
_PLAIN: Final = re.compile(r"^[-+]?\d+(?:\.\d+)?$")


class Money(NamedTuple):
    """An exact amount; `currency` is empty when the cell does not name one."""

    amount: Decimal
    currency: str


def header_key(text: str) -> str:
    """Reduce a column name to its letters and digits in lower case: 'Prompt Tokens' and 'prompt_tokens' are one."""
    return "".join(c for c in text.casefold() if c.isalnum())


def blank(value: object) -> bool:
    """Say whether a cell is empty in any of the usual spellings (blank, NULL, NaN, '-', None)."""
    if value is None:
        return True
    if isinstance(value, str):
        return value.strip().lower() in BLANK
    return isinstance(value, float) and value != value


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text[:200])


def text_of(value: object) -> str:
    """Give the text of a cell, '' if blank. A leading = + - @ stays what it is: text, never a formula."""
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in BLANK:
            return ""
        # Nearly every cell is short and printable; the rest are cut and cleaned.
        return text if len(text) <= 200 and text.isprintable() else _clean(text)
    if blank(value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)[:200] if isinstance(value, int | float) else ""


def _plain_number(body: str, mark: DecimalMark) -> str:
    """Turn digits with thousands separators into digits with a decimal point.

    '1.234,56' and '1,234.56' read themselves: the last separator is the decimal mark. '1.234' alone is ambiguous and
    follows `mark`, the mark of the file.
    """
    mantissa, exponent = body, ""
    at = body.lower().find("e")
    if at >= 0:
        mantissa, exponent = body[:at], body[at:]
    mantissa = re.sub(r"['\u2019\s\u00a0\u202f]", "", mantissa)
    dots, commas = mantissa.count("."), mantissa.count(",")
    if dots and commas:
        last = "." if mantissa.rfind(".") > mantissa.rfind(",") else ","
        other = "," if last == "." else "."
        whole, _, part = mantissa.rpartition(last)
        if last in whole or not _grouped(whole, other):
            raise CellError(said("import_cell.no_number", cell=shown(body)))
        return whole.replace(other, "") + "." + part + exponent
    if not dots and not commas:
        return mantissa + exponent
    separator = "." if dots else ","
    if dots + commas > 1:
        if not _grouped(mantissa, separator):
            raise CellError(said("import_cell.no_number", cell=shown(body)))
        return mantissa.replace(separator, "") + exponent
    whole, _, part = mantissa.partition(separator)
    thousands_shape = len(part) == 3 and 1 <= len(whole) <= 3 and whole not in ("0", "") and not exponent
    if separator == mark or not thousands_shape:
        return (whole or "0") + "." + (part or "0") + exponent
    return whole + part


def _grouped(text: str, separator: str) -> bool:
    groups = text.split(separator)
    if len(groups) == 1:
        return groups[0].isdigit()
    # Indian grouping (1,00,000) has groups of two; the last is always three.
    return (
        groups[0].isdigit()
        and len(groups[0]) <= 3
        and len(groups[-1]) == 3
        and all(g.isdigit() and len(g) in (2, 3) for g in groups[1:])
    )


def money_of(value: object, mark: DecimalMark = ".", most: Decimal = MAX_MONEY) -> Money | None:
    """Read an amount of money exactly, as a Decimal.

    Reads "$10,000.00 ", "1.234,56 €", "(12.00)", "-5", "5-", "1e-05" and numbers of JSON. An amount above `most` is
    refused as implausible.

    Raises:
        CellError: the cell is a formula, not a number, not finite or implausibly large.
    """
    if value is None:
        return None
    if isinstance(value, bool):
        raise CellError(said("import_cell.no_amount", cell=shown(value)))
    if isinstance(value, int):
        return _bounded(Decimal(value), "", value, most)
    if isinstance(value, float):
        if value != value:
            return None
        if value in (float("inf"), float("-inf")):
            raise CellError(said("import_cell.infinite"))
        return _bounded(Decimal(repr(value)), "", value, most)
    if not isinstance(value, str):
        raise CellError(said("import_cell.other_type", cell=shown(type(value).__name__)))
    text = value.strip().replace("\u2212", "-")
    if text.lower() in BLANK:
        return None
    if len(text) > 80:
        raise CellError(said("import_cell.no_amount", cell=shown(text)))
    if not _PLAIN.match(text) or (mark == "," and "." in text):
        if text[0] in "=@":
            raise CellError(said("import_cell.formula", cell=shown(text)))
        match = _MONEY.match(text)
        if match is None or bool(match["open"]) != bool(match["close"]):
            raise CellError(said("import_cell.no_amount", cell=shown(text)))
        signs = [s for s in (match["s1"], match["s2"], match["s3"]) if s]
        if len(signs) > 1 or (match["c1"] and match["c2"]):
            raise CellError(said("import_cell.no_amount", cell=shown(text)))
        negative = "-" in signs or bool(match["open"])
        named = (match["c1"] or match["c2"] or "").lower()
        currency = _SYMBOLS.get(named) or (named.upper() if named.upper() in _CODES else "¥" if "¥" in named else "")
        if named and not currency:
            raise CellError(said("import_cell.unknown_unit", cell=shown(text)))
        number = _decimal(_plain_number(match["n"].strip(), mark), text)
        return _bounded(-number if negative else number, currency, text, most)
    return _bounded(_decimal(text, text), "", text, most)


def _decimal(number: str, text: str) -> Decimal:
    try:
        return Decimal(number)
    except InvalidOperation:
        raise CellError(said("import_cell.no_number", cell=shown(text))) from None


def _bounded(amount: Decimal, currency: str, cell: object, most: Decimal) -> Money:
    if not amount.is_finite() or abs(amount) > most:
        raise CellError(said("import_cell.too_large", cell=shown(cell)))
    if amount != 0 and amount.adjusted() < -30:
        amount = Decimal(0)
    return Money(amount, currency)


def number_of(value: object, mark: DecimalMark = ".") -> Decimal | None:
    """Read a plain number (a quantity) exactly; None if blank. A currency sign is an error.

    Raises:
        CellError: not a finite number.
    """
    found = money_of(value, mark, _MAX_QUANTITY)
    if found is None:
        return None
    if found.currency:
        raise CellError(said("import_cell.money", cell=shown(value)))
    return found.amount


def count_of(value: object, mark: DecimalMark = ".") -> int | None:
    """Read a count of tokens or requests; None if blank.

    '12.0' is 12; '1,234' and '1.234' are 1234, for a count has no decimals; only '12.000' follows the file's
    decimal mark.

    Raises:
        CellError: negative, not whole, not a number, or above 10**18.
    """
    if type(value) is int:
        number = value
    elif isinstance(value, str) and len(value) <= 18 and value.isascii() and value.isdigit():
        number = int(value)
    else:
        plain = value
        if isinstance(value, str):
            text = value.strip()
            if re.fullmatch(r"[-+]?[1-9]\d{0,2}[.,]\d{3}", text) and not (text.endswith("000") and text[-4] == mark):
                plain = text.replace(".", "").replace(",", "")
        quantity = number_of(plain, mark)
        if quantity is None:
            return None
        if quantity != quantity.to_integral_value():
            raise CellError(said("import_cell.not_whole", cell=shown(value)))
        number = int(quantity)
    if number < 0:
        raise CellError(said("import_cell.negative", cell=shown(value)))
    if number > MAX_COUNT:
        raise CellError(said("import_cell.no_count", cell=shown(value)))
    return number


# --------------------------------------------------------------------------------------------------------- instants

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST_S: Final = 946_684_800.0  # 2000-01-01
_LAST_S: Final = 4_102_444_800.0  # 2100-01-01
_ISO: Final = re.compile(
    r"^(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?"
    r"(?:[T\s_]+(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?\s*(AM|PM)?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{0,2}(?:\s*UTC)?)?$",
    re.I,
)
_SLASH: Final = re.compile(
    r"^(\d{1,2})([/.\-])(\d{1,2})\2(\d{4}|\d{2})"
    r"(?:,?[T\s]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*(AM|PM)?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{0,2})?$",
    re.I,
)
_COMPACT: Final = re.compile(r"^(20\d{2})(\d{2})(\d{2})$")
_MONTHS: Final = {
    m: i + 1 for i, m in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"))
} | {"mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12}
_NAMED: Final = re.compile(
    r"^(?:[A-Za-z]{2,9}\.?,?\s+)?(?:(?P<m1>[A-Za-zä]{3,9})\.?\s+(?P<d1>\d{1,2})|(?P<d2>\d{1,2})[.\s-]+(?P<m2>[A-Za-zä]{3,9})\.?)[,\s-]+(?P<y>\d{4})"
    r"(?:,?[T\s]+(?P<h>\d{1,2}):(?P<mi>\d{2})(?::(?P<s>\d{2}))?\s*(?P<ap>AM|PM)?)?\s*(?P<tz>Z|UTC|GMT|[+-]\d{2}:?\d{2})?$",
    re.I,
)


class Instant(NamedTuple):
    """Seconds since 1970 in UTC, and whether the cell had a time of day."""

    epoch_s: float
    has_time: bool


def instant_of(value: object, order: DayOrder = "mdy") -> Instant | None:
    """Read an instant as UTC; None if blank.

    Reads ISO 8601 with and without offset (without: UTC), '2026-05-12', '20260512', '5/1/25', '01.05.2026',
    'May 12, 2026', and seconds, milliseconds, microseconds or nanoseconds since 1970.

    Raises:
        CellError: not a date, or outside the years 2000 to 2099.
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if value != value:
            return None
        return _epoch(float(value) if abs(value) < 1e30 else 1e30)
    if not isinstance(value, str):
        raise CellError(said("import_cell.date_expected"))
    return _instant_of_text(value, order)


@lru_cache(maxsize=4096)
def _instant_of_text(value: str, order: DayOrder) -> Instant | None:
    text = value.strip()
    if text.lower() in BLANK:
        return None
    if len(text) > 60:
        raise CellError(said("import_cell.no_date", cell=shown(text)))
    if match := _ISO.match(text):
        y, mo, d, h, mi, s, frac, half, tz = match.groups()
        return _build(text, int(y), int(mo), int(d or 1), _half(h, half), mi, s, frac, tz)
    if match := _COMPACT.match(text):
        return _build(text, int(match[1]), int(match[2]), int(match[3]), None, None, None, None, None)
    if re.fullmatch(r"\d{9,19}(?:\.\d+)?", text):
        return _epoch(float(text))
    if match := _SLASH.match(text):
        a, mark, b, y, h, mi, s, frac, half, tz = match.groups()
        first, second = int(a), int(b)
        day_first = mark == "." or first > 12 or (order == "dmy" and second <= 12)
        day, month = (first, second) if day_first else (second, first)
        year = int(y) + (2000 if len(y) == 2 else 0)
        return _build(text, year, month, day, _half(h, half), mi, s, frac, tz)
    if match := _NAMED.match(text):
        month = _MONTHS.get((match["m1"] or match["m2"])[:3].lower(), 0)
        return _build(
            text,
            int(match["y"]),
            month,
            int(match["d1"] or match["d2"]),
            _half(match["h"], match["ap"]),
            match["mi"],
            match["s"],
            None,
            match["tz"],
        )
    raise CellError(said("import_cell.unread_date", cell=shown(text)))


def _half(hour: str | None, half: str | None) -> str | None:
    if hour is None or not half:
        return hour
    return str(int(hour) % 12 + (12 if half.upper() == "PM" else 0))


def _build(
    text: str, y: int, mo: int, d: int, h: str | None, mi: str | None, s: str | None, frac: str | None, tz: str | None
) -> Instant:
    try:
        day = dt.datetime(y, mo, d, tzinfo=dt.UTC)
        clock = dt.timedelta(hours=int(h or 0), minutes=int(mi or 0), seconds=int(s or 0))
    except (ValueError, OverflowError):
        raise CellError(said("import_cell.no_such_date", cell=shown(text))) from None
    if int(h or 0) > 24 or int(mi or 0) > 59 or int(s or 0) > 60:
        raise CellError(said("import_cell.no_time", cell=shown(text)))
    # Microseconds: a float of seconds since 1970 cannot hold the ninth digit and would round up into the next day.
    seconds = (day - _EPOCH).total_seconds() + clock.total_seconds() + (float("0." + frac[:6]) if frac else 0.0)
    if tz and tz[0] in "+-":
        digits = re.sub(r"\D", "", tz)
        offset = int(digits[:2]) * 3600 + int(digits[2:4] or 0) * 60
        if offset > 15 * 3600:
            raise CellError(said("import_cell.no_offset", cell=shown(text)))
        seconds += -offset if tz[0] == "+" else offset
    return _checked(seconds, h is not None, text)


def _epoch(number: float) -> Instant:
    for scale in (1.0, 1e3, 1e6, 1e9):
        if _FIRST_S <= number / scale < _LAST_S:
            return Instant(number / scale, True)
    raise CellError(said("import_cell.no_epoch", cell=shown(f"{number:.15g}")))


def _checked(seconds: float, has_time: bool, text: str) -> Instant:
    if not _FIRST_S <= seconds < _LAST_S:
        raise CellError(said("import_cell.outside", cell=shown(text)))
    return Instant(seconds, has_time)


def iso_day(epoch_s: float) -> str:
    """Give the UTC calendar day of an instant, '2026-11-02'."""
    return (_EPOCH + dt.timedelta(seconds=epoch_s)).strftime("%Y-%m-%d")


def iso_second(epoch_s: float) -> str:
    """Give an instant as '2026-11-02T07:30:00Z'."""
    return (_EPOCH + dt.timedelta(seconds=epoch_s)).strftime("%Y-%m-%dT%H:%M:%SZ")


# ------------------------------------------------------------------------------------------------- direction of tokens

TokenKind = Literal["new", "cached", "write_5m", "write_1h", "output"]


@lru_cache(maxsize=4096)
def token_kind(text: str) -> TokenKind | None:
    """Tell from a meter's or line item's name which tokens it counts; None if it does not say.

    Knows the words of OpenAI ('gpt-5, cached input'), Anthropic ('input_cache_read'), AWS ('cache-write-input-tokens'),
    Azure ('gpt 4.1 cchd Inp glbl Tokens', 'Outp') and GCP ('Input Cached Text Tokens').
    """
    words = set(re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower()))
    joined = re.sub(r"[^a-z0-9]+", " ", text.lower())
    if "storage" in words or "image" in words or "audio" in words:
        return None
    if words & {"cache", "cached", "cchd", "cch", "caching", "cd"}:
        if (
            words & {"write", "writes", "creation", "created", "wr", "wrt", "write1h", "write5m"}
            or "cache write" in joined
        ):
            one_hour = bool(words & {"1h", "1hr", "1hour", "60m", "write1h"}) or "1 h" in joined or "one hour" in joined
            return "write_1h" if one_hour else "write_5m"
        if words & {"read", "reads", "hit", "hits", "cached", "cchd", "cch", "cd", "rd"}:
            return "cached"
        if "miss" in words:
            return "new"
    if words & {
        "output",
        "outputs",
        "outp",
        "opt",
        "out",
        "completion",
        "completions",
        "response",
        "generated",
        "outputtokens",
    }:
        return "output"
    if "outputtoken" in joined.replace(" ", ""):
        return "output"
    if words & {"input", "inputs", "inp", "prompt", "prompts", "context", "inputtokens"}:
        return "new"
    if "inputtoken" in joined.replace(" ", ""):
        return "new"
    return None


@lru_cache(maxsize=1024)
def token_scale(text: str) -> int | None:
    """Tell how many tokens one unit of a meter is: '1K', '1000 tokens', 'Million Input Tokens', 'Tokens', 'count'.

    None when the unit is not one of tokens (hours, GB, requests).
    """
    low = text.strip().lower().replace(",", "")
    if not low:
        return None
    tokenish = "token" in low
    match = re.match(
        r"^(?:per\s+)?(\d+(?:\.0+)?)?\s*(k|m|b|thousand|thousands|million|millions|billion)?(?:\b|(?=tokens?))", low
    )
    if re.search(r"\bmillion\b|\b1m\b", low) or "1m tokens" in low:
        return 1_000_000
    if re.search(r"\bthousand\b|\b1k\b", low) or "1ktokens" in low.replace(" ", ""):
        return 1_000
    if match and match[1]:
        number = int(float(match[1]))
        suffix = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000, "b": 10**9}.get(
            match[2] or "", 1
        )
        rest = low[match.end() :].strip()
        if (tokenish or rest in ("", "s")) and 1 <= number * suffix <= 10**9:
            return number * suffix
    if re.fullmatch(r"k\s*tokens?|ktok", low):
        return 1_000
    if re.fullmatch(r"m\s*tokens?|mtok", low):
        return 1_000_000
    return 1 if tokenish else None
