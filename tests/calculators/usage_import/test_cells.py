"""Single cells: money, counts, dates, which tokens a meter counts and in what unit."""

import datetime as dt
from decimal import Decimal
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.usage_import.cells import (
    Instant,
    blank,
    count_of,
    header_key,
    instant_of,
    iso_day,
    iso_second,
    money_of,
    number_of,
    text_of,
    token_kind,
    token_scale,
)
from calculators.usage_import.errors import CellError, listed, shown


def why(error: pytest.ExceptionInfo[CellError]) -> tuple[str, Any]:
    said = error.value.why
    return said.key, said.places.get("cell")  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------------------ money


@pytest.mark.parametrize(
    ("cell", "amount", "currency"),
    [
        (5, "5", ""),
        (-5, "-5", ""),
        (2.5, "2.5", ""),
        (0.1, "0.1", ""),
        ("7", "7", ""),
        (" 7.25 ", "7.25", ""),
        ("+7", "7", ""),
        ("-7", "-7", ""),
        ("\u22127", "-7", ""),
        ("7-", "-7", ""),
        ("(7)", "-7", ""),
        ("(-7)", "-7", ""),
        ("+$7", "7", "USD"),
        ("-$7", "-7", "USD"),
        ("$-7", "-7", "USD"),
        ("$7-", "-7", "USD"),
        ("($7.50)", "-7.50", "USD"),
        ("US$ 7", "7", "USD"),
        ("us$7", "7", "USD"),
        ("7 €", "7", "EUR"),
        ("£7", "7", "GBP"),
        ("CN¥7", "7", "CNY"),
        ("RMB 7", "7", "CNY"),
        ("7 元", "7", "CNY"),
        ("₹7", "7", "INR"),
        ("CHF 7", "7", "CHF"),
        ("¥7", "7", "¥"),
        ("7 usd", "7", "USD"),
        ("eur 7", "7", "EUR"),
        ("7 JPY", "7", "JPY"),
        ("1e3", "1000", ""),
        ("1E-5", "0.00001", ""),
        ("$1.5e3", "1500", "USD"),
        ("1e13", "1e13", ""),
        (-(10**13), "-1e13", ""),
        ("1e-30", "1e-30", ""),
        ("1e-31", "0", ""),
        ("-1e-40", "0", ""),
        ("0", "0", ""),
    ],
)
def test_money(cell: object, amount: str, currency: str):
    found = money_of(cell)
    assert found is not None
    assert (found.amount, found.currency) == (Decimal(amount), currency)


@pytest.mark.parametrize(
    ("cell", "key"),
    [
        (True, "import_cell.no_amount"),
        (False, "import_cell.no_amount"),
        (float("inf"), "import_cell.infinite"),
        (float("-inf"), "import_cell.infinite"),
        ([1], "import_cell.other_type"),
        ("abc", "import_cell.no_amount"),
        ("5 apples", "import_cell.no_amount"),
        ("(5", "import_cell.no_amount"),
        ("5)", "import_cell.no_amount"),
        ("-5-", "import_cell.no_amount"),
        ("-$-5", "import_cell.no_amount"),
        ("$5$", "import_cell.no_amount"),
        ("$5 usd", "import_cell.no_amount"),
        ("5 abc", "import_cell.unknown_unit"),
        ("A$5", "import_cell.unknown_unit"),
        ("=1+1", "import_cell.formula"),
        ("@1", "import_cell.formula"),
        ("1" * 81, "import_cell.no_amount"),
        ("1.1e13", "import_cell.too_large"),
        ("-1.1e13", "import_cell.too_large"),
        (10**14, "import_cell.too_large"),
        (1e14, "import_cell.too_large"),
        ("1,2,3", "import_cell.no_number"),
        ("1,234.5,6", "import_cell.no_number"),
        ("1234,567.8", "import_cell.no_number"),
        ("1.2.3", "import_cell.no_number"),
        ("12.3456.789", "import_cell.no_number"),
        ("1..5", "import_cell.no_number"),
    ],
)
def test_what_is_no_money_is_quoted(cell: object, key: str):
    with pytest.raises(CellError) as error:
        money_of(cell)
    assert why(error)[0] == key
    if isinstance(cell, str) and len(cell) <= 40:
        assert why(error)[1] == repr(cell)
    if key == "import_cell.other_type":
        assert why(error)[1] == "'list'"


@pytest.mark.parametrize(
    ("cell", "dot", "comma"),
    [
        # read with the decimal mark of the file: a point, a comma
        ("1.234", "1.234", "1234"),
        ("1,234", "1234", "1.234"),
        ("12.345", "12.345", "12345"),
        ("123,456", "123456", "123.456"),
        ("1234,567", "1234.567", "1234.567"),
        ("1234.567", "1234.567", "1234.567"),
        ("0,123", "0.123", "0.123"),
        ("0.123", "0.123", "0.123"),
        ("12,5", "12.5", "12.5"),
        ("12.5", "12.5", "12.5"),
        ("1.234,56", "1234.56", "1234.56"),
        ("1,234.56", "1234.56", "1234.56"),
        ("1.234.567", "1234567", "1234567"),
        ("1,234,567.8", "1234567.8", "1234567.8"),
        ("12,34,567", "1234567", "1234567"),
        ("1'234.5", "1234.5", "1234.5"),
        ("1\u2019234,5", "1234.5", "1234.5"),
        ("1 234,5", "1234.5", "1234.5"),
        (",5", "0.5", "0.5"),
        (".5", "0.5", "0.5"),
        ("5,", "5", "5"),
        ("1,5e3", "1500", "1500"),
        ("1,234e1", "12.34", "12.34"),
    ],
)
def test_thousands_and_decimals(cell: str, dot: str, comma: str):
    for mark, expected in ((".", dot), (",", comma)):
        found = money_of(f"${cell}", mark)  # type: ignore[arg-type]
        assert found is not None
        assert found.amount == Decimal(expected)
        bare = money_of(cell, mark)  # type: ignore[arg-type]
        assert bare is not None
        assert bare.amount == Decimal(expected)


@given(st.integers(0, 10**12), st.integers(0, 99), st.sampled_from([(",", "."), (".", ","), ("'", "."), (" ", ",")]))
def test_every_amount_with_cents_reads_the_same_in_every_country(whole: int, cents: int, marks: tuple[str, str]):
    thousands, decimal = marks
    text = f"{whole:,}".replace(",", thousands) + f"{decimal}{cents:02d}"
    mark: Literal[".", ","] = "." if decimal == "." else ","
    found = money_of(text, mark)
    assert found is not None
    assert found.amount == Decimal(whole) + Decimal(cents) / 100


BLANKS = ["", "  ", "-", "--", "–", "—", "NULL", "none", "NaN", "N/A", "na", "#N/A", "nil", "undefined", "(null)"]
BLANKS += ["<null>", "\\N", "not_available", "Not available", "unbekannt", "k. A.", "k.A.", "keine"]


@pytest.mark.parametrize("cell", [*BLANKS, None, float("nan")])
def test_blank_cells_say_nothing(cell: object):
    assert blank(cell)
    assert (money_of(cell), number_of(cell), count_of(cell), instant_of(cell), text_of(cell)) == (
        None,
        None,
        None,
        None,
        "",
    )


@pytest.mark.parametrize("cell", [0, "0", 0.0, False, "x"])
def test_zero_is_not_blank(cell: object):
    assert not blank(cell)


# ----------------------------------------------------------------------------------------------------------- counts


@pytest.mark.parametrize(
    ("cell", "mark", "count"),
    [
        (12, ".", 12),
        (12.0, ".", 12),
        ("12", ".", 12),
        (" 12 ", ".", 12),
        ("12.0", ".", 12),
        ("1,234", ".", 1234),
        ("1.234", ".", 1234),
        ("1,234", ",", 1234),
        ("1.234", ",", 1234),
        ("999,999", ".", 999_999),
        ("12.000", ".", 12),
        ("12.000", ",", 12_000),
        ("12,000", ".", 12_000),
        ("12,000", ",", 12),
        ("1.234.567", ".", 1_234_567),
        ("1 000", ".", 1000),
        ("1e6", ".", 10**6),
        ("+5", ".", 5),
        (0, ".", 0),
        (10**18, ".", 10**18),
        ("1000000000000000000", ".", 10**18),
        ("999999999999999999", ".", 999_999_999_999_999_999),
    ],
)
def test_counts(cell: object, mark: Literal[".", ","], count: int):
    assert count_of(cell, mark) == count


@pytest.mark.parametrize(
    ("cell", "key"),
    [
        ("12.5", "import_cell.not_whole"),
        (12.5, "import_cell.not_whole"),
        ("0.123", "import_cell.not_whole"),
        ("-5", "import_cell.negative"),
        (-5, "import_cell.negative"),
        ("-1,234", "import_cell.negative"),
        (10**18 + 1, "import_cell.no_count"),
        ("1000000000000000001", "import_cell.no_count"),
        ("1e19", "import_cell.no_count"),
        ("1e25", "import_cell.too_large"),
        ("$5", "import_cell.money"),
        ("x", "import_cell.no_amount"),
        (True, "import_cell.no_amount"),
    ],
)
def test_what_is_no_count_is_quoted(cell: object, key: str):
    with pytest.raises(CellError) as error:
        count_of(cell)
    assert why(error)[0] == key
    if key != "import_cell.no_count":
        assert why(error)[1] == repr(str(cell))


def test_a_quantity_may_be_large_and_has_no_currency():
    assert number_of("1e20") == Decimal("1e20")
    with pytest.raises(CellError) as error:
        number_of("€5")
    assert why(error) == ("import_cell.money", "'€5'")


# ------------------------------------------------------------------------------------------------------------ dates


def utc(*parts: int) -> float:
    return dt.datetime(*parts, tzinfo=dt.UTC).timestamp()  # type: ignore[arg-type, misc]


DAY = utc(2026, 6, 1)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2026-06-01", Instant(DAY, False)),
        ("2026/6/1", Instant(DAY, False)),
        ("2026.06.01", Instant(DAY, False)),
        ("2026-06", Instant(DAY, False)),
        ("20260601", Instant(DAY, False)),
        ("2026-06-01T13:30", Instant(DAY + 48600, True)),
        ("2026-06-01 13:30:15", Instant(DAY + 48615, True)),
        ("2026-06-01_13:30:15", Instant(DAY + 48615, True)),
        ("2026-06-01T133015Z", Instant(DAY + 48615, True)),
        ("2026-06-01T13:30:15.25Z", Instant(DAY + 48615.25, True)),
        ("2026-06-01T13:30:15,5Z", Instant(DAY + 48615.5, True)),
        ("2026-06-01T00:00:00Z", Instant(DAY, True)),
        ("2026-06-01T13:30 UTC", Instant(DAY + 48600, True)),
        ("2026-06-01T13:30 GMT", Instant(DAY + 48600, True)),
        ("2026-06-01T13:30+02:00", Instant(DAY + 41400, True)),
        ("2026-06-01T13:30+0200", Instant(DAY + 41400, True)),
        ("2026-06-01T13:30+02", Instant(DAY + 41400, True)),
        ("2026-06-01T13:30-08:00", Instant(DAY + 77400, True)),
        ("2026-06-01T13:30+05:30", Instant(DAY + 28800, True)),
        ("2026-06-01T15:00+15:00", Instant(DAY, True)),
        ("2026-06-01 12:00 AM", Instant(DAY, True)),
        ("2026-06-01 12:30 PM", Instant(DAY + 45000, True)),
        ("2026-06-01 1:30 pm", Instant(DAY + 48600, True)),
        ("2026-06-01 11:30 am", Instant(DAY + 41400, True)),
        ("2026-06-01T24:00", Instant(DAY + 86400, True)),
        ("2026-06-01T23:59:60", Instant(DAY + 86400, True)),
        ("6/1/2026", Instant(DAY, False)),
        ("06-01-2026", Instant(DAY, False)),
        ("6/1/26 13:30", Instant(DAY + 48600, True)),
        ("6/1/2026, 1:30:15 PM", Instant(DAY + 48615, True)),
        ("06/01/2026 13:30:15.5 UTC", Instant(DAY + 48615.5, True)),
        ("06/01/2026 13:30 +02:00", Instant(DAY + 41400, True)),
        ("1.6.2026", Instant(DAY, False)),
        ("01.06.2026 13:30", Instant(DAY + 48600, True)),
        ("13/6/2026", Instant(utc(2026, 6, 13), False)),
        ("Jun 1, 2026", Instant(DAY, False)),
        ("1 June 2026", Instant(DAY, False)),
        ("1. Juni 2026", Instant(DAY, False)),
        ("Mon, 1 Jun 2026 13:30:15 GMT", Instant(DAY + 48615, True)),
        ("Monday June 1 2026 1:30 PM", Instant(DAY + 48600, True)),
        ("1-Jun-2026", Instant(DAY, False)),
        ("Jun 1 2026 13:30 +02:00", Instant(DAY + 41400, True)),
        *(
            (f"5 {name} 2026", Instant(utc(2026, number, 5), False))
            for number, names in enumerate(
                (
                    ("Jan", "January", "Januar"),
                    ("Feb", "February", "Februar"),
                    ("Mar", "March", "März", "mrz"),
                    ("Apr", "April"),
                    ("May", "Mai"),
                    ("Jun", "June"),
                    ("Jul", "July"),
                    ("Aug", "August"),
                    ("Sep", "Sept", "September"),
                    ("Oct", "October", "Oktober"),
                    ("Nov", "November"),
                    ("Dec", "December", "Dezember"),
                ),
                1,
            )
            for name in names
        ),
        ("1780272000", Instant(DAY, True)),
        ("1780272000.5", Instant(DAY + 0.5, True)),
        (1780272000, Instant(DAY, True)),
        (1780272000000, Instant(DAY, True)),
        (1780272000000000, Instant(DAY, True)),
        (1780272000000000000, Instant(DAY, True)),
        ("946684800", Instant(946684800.0, True)),
        ("4102444799", Instant(4102444799.0, True)),
        ("2000-01-01", Instant(946684800.0, False)),
        ("2099-12-31", Instant(4102358400.0, False)),
        (True, None),
    ],
)
def test_dates(cell: object, expected: Instant | None):
    assert instant_of(cell) == expected


@pytest.mark.parametrize(
    ("cell", "order", "day"),
    [
        ("5/6/2026", "mdy", "2026-05-06"),
        ("5/6/2026", "dmy", "2026-06-05"),
        ("5-6-26", "dmy", "2026-06-05"),
        ("5/13/2026", "dmy", "2026-05-13"),
        ("13/5/2026", "mdy", "2026-05-13"),
        ("12/12/2026", "mdy", "2026-12-12"),
        ("1/12/2026", "dmy", "2026-12-01"),
        ("5.6.2026", "mdy", "2026-06-05"),
    ],
)
def test_the_order_of_day_and_month(cell: str, order: Literal["mdy", "dmy"], day: str):
    found = instant_of(cell, order)
    assert found is not None
    assert iso_day(found.epoch_s) == day


@pytest.mark.parametrize(
    ("cell", "key"),
    [
        ("yesterday", "import_cell.unread_date"),
        ("12", "import_cell.unread_date"),
        ("2026-06-01T13:30 PST", "import_cell.unread_date"),
        ("1 2026", "import_cell.unread_date"),
        ("2026-13-01", "import_cell.no_such_date"),
        ("2026-02-29", "import_cell.no_such_date"),
        ("31/31/2026", "import_cell.no_such_date"),
        ("20261301", "import_cell.no_such_date"),
        ("5 Foo 2026", "import_cell.no_such_date"),
        ("2026-06-01T25:00", "import_cell.no_time"),
        ("2026-06-01T13:60", "import_cell.no_time"),
        ("2026-06-01T13:30:61", "import_cell.no_time"),
        ("2026-06-01T13:30+15:01", "import_cell.no_offset"),
        ("1999-12-31", "import_cell.outside"),
        ("2100-01-01", "import_cell.outside"),
        ("946684799", "import_cell.no_epoch"),
        ("4102444800", "import_cell.no_epoch"),
        (5, "import_cell.no_epoch"),
        (-5, "import_cell.no_epoch"),
        (10**400, "import_cell.no_epoch"),
        ("2026-06-01" + " " * 20 + "x" * 40, "import_cell.no_date"),
    ],
)
def test_what_is_no_date_is_quoted(cell: object, key: str):
    with pytest.raises(CellError) as error:
        instant_of(cell)
    assert why(error)[0] == key
    if isinstance(cell, str) and len(cell) <= 40:
        assert why(error)[1] == repr(cell)


def test_a_date_in_another_type_is_refused():
    with pytest.raises(CellError, match="a date was expected"):
        instant_of([2026])


@given(st.integers(int(utc(2000, 1, 2)), int(utc(2099, 12, 30))), st.integers(-14 * 60, 14 * 60))
def test_every_instant_reads_back_in_every_zone(second: int, offset_min: int):
    zone = dt.timezone(dt.timedelta(minutes=offset_min))
    assert instant_of(iso_second(second)) == Instant(second, True)
    assert instant_of(dt.datetime.fromtimestamp(second, zone).isoformat()) == Instant(second, True)


# ------------------------------------------------------------------------------------------------- tokens of a meter


@pytest.mark.parametrize(
    ("meter", "kind"),
    [
        ("gpt-5, input", "new"),
        ("gpt-5, output", "output"),
        ("gpt-5, cached input", "cached"),
        ("input_cache_read", "cached"),
        ("input_cache_write", "write_5m"),
        ("cache_creation_input_tokens", "write_5m"),
        ("input_cache_write_5m", "write_5m"),
        ("input_cache_write_1h", "write_1h"),
        ("cache write 1 h", "write_1h"),
        ("cache write one hour", "write_1h"),
        ("Cache Write 1hr", "write_1h"),
        ("Cache Write 60m", "write_1h"),
        ("CacheWrite1h", "write_1h"),
        ("cache wr", "write_5m"),
        ("cache wrt tokens", "write_5m"),
        ("cache writes", "write_5m"),
        ("cache created", "write_5m"),
        ("cache hit", "cached"),
        ("cache hits", "cached"),
        ("cache reads", "cached"),
        ("cache rd", "cached"),
        ("caching reads", "cached"),
        ("cache miss", "new"),
        ("cache storage", None),
        ("context caching", "new"),
        ("cache", None),
        ("cchd Inp", "cached"),
        ("cch Inp", "cached"),
        ("gpt cd Inp", "cached"),
        ("Outp glbl Tokens", "output"),
        ("opt", "output"),
        ("out", "output"),
        ("outputs", "output"),
        ("completion", "output"),
        ("completions", "output"),
        ("response tokens", "output"),
        ("generated", "output"),
        ("OutputTokenCount", "output"),
        ("USE1_OutputTokens", "output"),
        ("outputtokens", "output"),
        ("myoutputtoken", "output"),
        ("Inp glbl Tokens", "new"),
        ("inputs", "new"),
        ("prompt", "new"),
        ("prompts", "new"),
        ("context tokens", "new"),
        ("USE1_InputTokenCount", "new"),
        ("inputtokens", "new"),
        ("myinputtoken", "new"),
        ("Image Input Tokens", None),
        ("Audio Output Tokens", None),
        ("Input storage", None),
        ("ND96 H100", None),
        ("", None),
    ],
)
def test_which_tokens_a_meter_counts(meter: str, kind: str | None):
    assert token_kind(meter) == kind


@pytest.mark.parametrize(
    ("unit", "scale"),
    [
        ("Tokens", 1),
        ("token", 1),
        ("1", 1),
        ("1000", 1000),
        ("1,000", 1000),
        ("1K", 1000),
        ("1k tokens", 1000),
        ("1000 tokens", 1000),
        ("1,000 Tokens", 1000),
        ("10K tokens", 10_000),
        ("1.0 K tokens", 1000),
        ("per 1K tokens", 1000),
        ("per 500 tokens", 500),
        ("Thousand Tokens", 1000),
        ("ktok", 1000),
        ("K tokens", 1000),
        ("ktokens", 1000),
        ("1KTokens", 1000),
        ("1M", 1_000_000),
        ("1M tokens", 1_000_000),
        ("1000000 Tokens", 1_000_000),
        ("Million Input Tokens", 1_000_000),
        ("10 million tokens", 1_000_000),
        ("5M tokens", 5_000_000),
        ("Mtok", 1_000_000),
        ("M tokens", 1_000_000),
        ("1b tokens", 10**9),
        ("2b tokens", 1),
        ("$0.003 per 1K input tokens", 1000),
        ("0 tokens", 1),
        ("1 Hour", None),
        ("Hrs", None),
        ("GB", None),
        ("100 requests", None),
        ("", None),
        (" ", None),
    ],
)
def test_how_many_tokens_a_unit_is(unit: str, scale: int | None):
    assert token_scale(unit) == scale


# -------------------------------------------------------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (" a ", "a"),
        ("=1+1", "=1+1"),
        (5, "5"),
        (2.5, "2.5"),
        (True, "true"),
        (False, "false"),
        ([1], ""),
        ({}, ""),
        ("a\tb\x00", "a b "),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200),
        (10**300, str(10**300)[:200]),
    ],
)
def test_texts(cell: object, text: str):
    assert text_of(cell) == text


def test_column_names_are_compared_by_letters_and_digits():
    names = ("Prompt Tokens", "prompt_tokens", "promptTokens", "PROMPT-TOKENS", " prompt.tokens ")
    assert {header_key(n) for n in names} == {"prompttokens"}
    assert header_key("Währung (€)") == "währung"


def test_what_a_message_quotes_is_short_and_on_one_line():
    assert shown("x" * 40) == repr("x" * 40)
    assert shown("x" * 41) == repr("x" * 39 + "…")
    assert shown("a\nb") == "'a b'"
    assert shown(5) == "'5'"
    assert listed(["a", "b"]) == "a, b"
    assert listed(["x" * 40, "y" * 41]) == "x" * 40 + ", " + "y" * 39 + "…"
    assert listed([]) == "none"
    assert listed([str(i) for i in range(12)]) == ", ".join(map(str, range(12)))
    assert listed([str(i) for i in range(14)]) == ", ".join(map(str, range(12))) + " and 2 more"
