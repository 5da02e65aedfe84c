"""Read numbers as people type them ('600k', '30B', '75 %', '0,75', '600.000') and write them as people read them."""

import math
import re
from typing import Final

from calculators.texts import said

_SUFFIX: Final = {
    "": 1.0,
    "k": 1e3,
    "m": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "g": 1e9,
    "t": 1e12,
    "%": 0.01,
    "万": 1e4,
    "亿": 1e8,
}
_NUMBER: Final = re.compile(
    r"^([+-]?)([0-9][0-9.,' \u00a0\u202f_]*|[.,][0-9]+)(e[+-]?[0-9]{1,3})?\s*(k|m|bn|b|g|t|%|万|亿)?$"
)
_MAX_LENGTH: Final = 400
"""Longest text that is read as a number; the smallest float in full, 0.000...5, has 326 characters."""
_CURRENCY: Final = re.compile(r"^(usd|\$|us\$)\s*|\s*(usd|\$)$")


class NotANumberError(ValueError):
    """The text is not a number; ``message`` says what a number may look like."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def parse_number(text: str) -> float:
    """Read a number with thousands separators, decimal comma, magnitude (k, M, B, T) or per cent.

    A single comma or point followed by exactly three digits separates thousands if it is a comma and the number does
    not start with 0; a single point is always a decimal point. When both occur, the last one is the decimal sign.

    Args:
        text: for example '600k', '30 B', '0,75', '1.234,5', '600,000', '75 %', '1e9', 'USD 95k'.

    Raises:
        NotANumberError: with one sentence.
    """
    shown = text.strip()
    if len(shown) > _MAX_LENGTH:  # the patterns below take quadratic time on a long text
        raise NotANumberError(said("problem.too_long", value=shown[:60]))
    clean = _CURRENCY.sub("", shown.lower()).strip()
    match = _NUMBER.match(clean)
    if match is None:
        raise NotANumberError(said("problem.no_number", value=shown[:60]))
    sign, digits, exponent, suffix = match.groups()
    digits = re.sub(r"[' \u00a0\u202f_]", "", digits)
    commas, points = digits.count(","), digits.count(".")
    if commas and points:
        decimal = "," if digits.rfind(",") > digits.rfind(".") else "."
    elif commas == 1:
        thousands = len(digits) - digits.find(",") == 4 and not digits.startswith(("0", ","))
        decimal = "." if thousands else ","
    else:
        decimal = "," if points > 1 else "."
    thousand = "," if decimal == "." else "."
    whole, *fraction = digits.split(decimal)
    groups = whole.split(thousand)
    if len(fraction) > 1 or (fraction and thousand in fraction[0]) or any(len(g) != 3 for g in groups[1:]):
        raise NotANumberError(said("problem.separators", value=shown[:60]))
    value = float(f"{sign}{''.join(groups) or '0'}.{fraction[0] if fraction else '0'}{exponent or ''}")
    if suffix:  # '75.3 %' is 0.753, not 0.7529999999999999; a number without suffix is kept to the last bit
        value = float(f"{value * _SUFFIX[suffix]:.15g}")
    if not math.isfinite(value):
        raise NotANumberError(said("problem.too_large", value=shown[:60]))
    return value


def plain(value: float) -> str:
    """Write a number for a link or a file: shortest text that reads back as the same number, no exponent below 1e15."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


def three_digits(value: float) -> str:
    """Write a number with three significant digits and thousands separators: 1,240, 0.0533 or 1.2e-09."""
    if value == 0:
        return "0"
    if not 1e-6 <= abs(value) < 1e18:
        return f"{value:.3g}"
    digits = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    if rounded and math.floor(math.log10(abs(rounded))) > math.floor(math.log10(abs(value))):
        digits -= 1
    return f"{rounded:,.{max(digits, 0)}f}"


def money(usd: float) -> str:
    """Write USD: '600,000 USD' below ten million, '12.3 M USD' above; three digits below a thousand.

    Under a millionth it is what rounding left of 0.
    """
    if abs(usd) < 1e-6:
        return "0 USD"
    if abs(usd) >= 1e7:
        return f"{three_digits(usd / 1e6)} M USD"
    if abs(usd) >= 1000:
        return f"{round(usd, 2 - math.floor(math.log10(abs(usd)))):,.0f} USD"
    return f"{three_digits(usd)} USD"


def tokens(count: float) -> str:
    """Write a number of tokens: '22.0 B', '950 M'; always three digits."""
    for size, suffix in ((1e12, " T"), (1e9, " B"), (1e6, " M")):
        if abs(count) >= size * 0.9995:
            return f"{_fixed_three(count / size)}{suffix}"
    return three_digits(count)


def _fixed_three(value: float) -> str:
    """Three digits with trailing zeros; 9.996 rounds to 10.0, so the digits are counted after rounding."""
    digits = max(0, 2 - math.floor(math.log10(abs(float(f"{value:.3g}")))))
    return f"{value:,.{min(digits, 2)}f}"


def share(value: float) -> str:
    """Write a share as per cent: '75 %', '8.5 %', '0.2 %'."""
    percent = value * 100
    return f"{percent:.0f} %" if abs(percent - round(percent)) < 0.05 or abs(percent) >= 100 else f"{percent:.1f} %"


def duration(days: float) -> str:
    """Write days under two years as days, longer ones as years."""
    return f"{days:,.0f} days" if days < 730 else f"{days / 365:.1f} years"
