"""Numbers as people type and read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.numbers import (
    NotANumberError,
    duration,
    money,
    parse_number,
    plain,
    share,
    three_digits,
    tokens,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("600k", 600_000.0),
        ("600 K", 600_000.0),
        ("30B", 30e9),
        ("30 bn", 30e9),
        ("2.5g", 2.5e9),
        ("1.2T", 1.2e12),
        ("3M", 3e6),
        ("75 %", 0.75),
        ("75%", 0.75),
        ("8,3 %", 0.083),
        ("0,75", 0.75),
        (",5", 0.5),
        (".5", 0.5),
        ("600,000", 600_000.0),  # one comma, three digits after it: thousands
        ("0,750", 0.75),  # a number below 1 has no thousands
        ("600.000", 600.0),  # a single point is always a decimal point
        ("1.234.567", 1_234_567.0),
        ("1,234,567.5", 1_234_567.5),
        ("1.234.567,5", 1_234_567.5),
        ("1.234,5", 1234.5),
        ("1'234'567", 1_234_567.0),
        ("1 234 567", 1_234_567.0),
        ("1\u202f234\u00a0567", 1_234_567.0),
        ("1_000", 1000.0),
        ("-12.5", -12.5),
        ("+3", 3.0),
        ("1e9", 1e9),
        ("2.5E-3", 0.0025),
        ("$95k", 95_000.0),
        ("USD 95k", 95_000.0),
        ("95k usd", 95_000.0),
        ("US$ 95", 95.0),
        ("3万", 30_000.0),
        ("2.5亿", 250e6),
        ("  7  ", 7.0),
    ],
)
def test_reads(text: str, value: float) -> None:
    assert parse_number(text) == value


def test_percent_keeps_the_digits_that_were_typed() -> None:
    # 75.3 * 0.01 is 0.7529999999999999 in binary; a person typed 0.753
    assert parse_number("75.3 %") == 0.753
    assert parse_number("0.1k") == 100.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "1,2,3",
        "1.2.3,4.5",
        "1,23,456",
        "12,34.5",
        "--1",
        "1e",
        "e5",
        "1k%",
        "nan",
        "inf",
        "-infinity",
        "0x10",
        "1/2",
        "١٢",
        "１２",
        "1;2",
        "5 apples",
        "\x00",
        "1\n2",
    ],
)
def test_refuses_with_one_sentence(text: str) -> None:
    with pytest.raises(NotANumberError) as refusal:
        parse_number(text)
    message = str(refusal.value)
    assert text.strip() in message
    assert message.endswith(".")


@pytest.mark.parametrize("text", ["1e309", "-1e999", "1e308k", "9" * 350])
def test_refuses_what_a_float_cannot_hold(text: str) -> None:
    with pytest.raises(NotANumberError, match="too large"):
        parse_number(text)


def test_long_text_is_refused_and_not_quoted_in_full() -> None:
    # the pattern would take quadratic time on '1    ...    x'
    with pytest.raises(NotANumberError) as refusal:
        parse_number("1" + " " * 1_000_000 + "x")
    assert len(str(refusal.value)) < 200


@given(st.text())
def test_junk_raises_nothing_else(text: str) -> None:
    try:
        value = parse_number(text)
    except NotANumberError:
        return
    assert math.isfinite(value)


@given(FINITE)
def test_plain_reads_back_to_the_last_bit(value: float) -> None:
    assert parse_number(plain(value)) == value


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (600_000.0, "600000"), (0.75, "0.75"), (1e14, "100000000000000"), (-2.0, "-2")]
)
def test_plain_is_short(value: float, text: str) -> None:
    assert plain(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1240, "1,240"),
        (1241.4, "1,240"),
        (0.05333, "0.0533"),
        (12.34, "12.3"),
        (1.005, "1.00"),
        (999.6, "1,000"),
        (9.996, "10.0"),
        (0.99951, "1.00"),
        (-0.05333, "-0.0533"),
        (1.234e-9, "1.23e-09"),
        (5e-324, "4.94e-324"),
        (29_035_195_200, "29,000,000,000"),
    ],
)
def test_three_digits(value: float, text: str) -> None:
    assert three_digits(value) == text


@given(FINITE.filter(lambda v: 0 < abs(v) < 1e308))
def test_three_digits_is_within_half_of_the_third_digit(value: float) -> None:
    assert abs(float(three_digits(value).replace(",", "")) - value) <= 0.5051e-2 * abs(value) + 5e-324


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0, "0 USD"),
        (600_000, "600,000 USD"),
        (94_364.38, "94,400 USD"),
        (999.9, "1,000 USD"),
        (1.0374, "1.04 USD"),
        (12_340_000, "12.3 M USD"),
        (-2000, "-2,000 USD"),
        (-94_364, "-94,400 USD"),
    ],
)
def test_money(usd: float, text: str) -> None:
    assert money(usd) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (512, "512"),
        (950e6, "950 M"),
        (22.0e9, "22.0 B"),
        (29_035_195_200, "29.0 B"),
        (9.996e9, "10.0 B"),
        (99.96e9, "100 B"),
        (999.6e9, "1.00 T"),
        (999_600, "1.00 M"),
        (1.5e12, "1.50 T"),
        (1e18, "1,000,000 T"),
    ],
)
def test_tokens(count: float, text: str) -> None:
    assert tokens(count) == text


@given(st.floats(1e6, 1e15))
def test_tokens_show_three_digits_at_least(count: float) -> None:
    assert sum(c.isdigit() for c in tokens(count)) >= 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.75, "75 %"),
        (0.085, "8.5 %"),
        (0.002, "0.2 %"),
        (1, "100 %"),
        (0, "0 %"),
        (1.234, "123 %"),
        (0.1964, "19.6 %"),
    ],
)
def test_share(value: float, text: str) -> None:
    assert share(value) == text


@pytest.mark.parametrize(
    ("days", "text"), [(231.5, "232 days"), (0, "0 days"), (729, "729 days"), (730, "2.0 years"), (1_095, "3.0 years")]
)
def test_duration(days: float, text: str) -> None:
    assert duration(days) == text
