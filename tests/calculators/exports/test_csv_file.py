import csv
import io
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.exports import cash_flow_csv_bytes, csv_bytes
from calculators.exports.csv_file import COLUMNS, RESULTS, SECTIONS, cell, safe_text
from calculators.report import Report, to_json

Make = Callable[..., Report]

CASES: dict[str, dict[str, Any]] = {
    "pays back": {},
    "never": {"demand": "spend", "demand_usd_per_month": 8000.0, "alternative": "moonshotai/kimi-k3"},
    "does not fit": {"system": "hgx-h200-8"},
    "loan": {"acquisition": "loan", "api_price_change_per_year": -0.3},
    "seats": {"demand": "seats", "demand_seats": 300.0, "profile": "office-hours"},
    "nothing": {"utilization": 0.0},
}


def frame(data: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(data), encoding="utf-8-sig", dtype=str, keep_default_na=False)


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(f"{name}.{key}", inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value, 1):
            yield from leaves(f"{name}.{index}", inner)
    else:
        yield name, value


@pytest.mark.parametrize("case", CASES)
def test_holds_every_figure_of_the_json_to_the_last_digit(make: Make, case: str) -> None:
    report = make(**CASES[case])
    data = to_json(report)
    table = frame(csv_bytes(report))
    results = dict(zip(table["name"], table["value"], strict=True))
    told = [pair for part in RESULTS for pair in leaves(part, {k: v for k, v in data[part].items() if k != "lines"})]
    assert len(told) > 40
    for name, value in told:
        if value is None:
            assert results[name] == ""
        elif isinstance(value, bool | str):
            assert results[name] == (value if isinstance(value, str) else str(value).lower())
        else:
            assert float(results[name]) == value, name  # the same double, not a rounded one


@pytest.mark.parametrize("case", CASES)
def test_is_a_tidy_file_without_nan(make: Make, case: str) -> None:
    data = csv_bytes(make(**CASES[case]))
    assert data.startswith(b"\xef\xbb\xbf" + ",".join(COLUMNS).encode() + b"\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    table = frame(data)
    assert list(table.columns) == list(COLUMNS)
    order = list(dict.fromkeys(table["section"]))
    assert order == [s for s in SECTIONS if s in order]  # each section in one piece
    assert {"scenario", "inputs", "results", "costs", "sources"} <= set(order)
    assert not table["value"].str.lower().isin(["nan", "inf", "-inf", "infinity", "none"]).any() or set(
        table.loc[table["value"].str.lower() == "none", "name"]
    ) <= {"throughput.evidence"}


def test_every_input_has_a_source_and_every_scenario_field_a_row(make: Make) -> None:
    report = make()
    table = frame(csv_bytes(report))
    inputs = table[table["section"] == "inputs"]
    assert (inputs["source"] != "").all()
    price = inputs[inputs["name"] == "hardware_usd"].iloc[0]
    assert (price["value"], price["unit"], price["as_of"]) == ("600000", "USD", "2026-09")
    assert list(table[table["section"] == "scenario"]["name"]) == list(report.scenario.model_dump())


def test_months_are_those_of_the_schedule(make: Make) -> None:
    report = make(acquisition="loan", horizon_months=24)
    table = frame(csv_bytes(report))
    flow = table[table["section"] == "cash_flow"].set_index("name")["value"]
    # month 0: the capex is paid, the loan of the hardware (600,000 + 5 % spares = 630,000) received
    assert float(flow["month 0 cumulative_usd"]) == -630000
    assert float(flow["month 0 cash_usd"]) == 0
    schedule = report.schedule()
    for month in (1, 12, 24):
        assert float(flow[f"month {month} cumulative_usd"]) == schedule.cumulative_usd[month - 1]
        assert float(flow[f"month {month} interest_usd"]) == schedule.interest_usd[month - 1]
    assert "month 25 cumulative_usd" not in flow.index


def test_cash_flow_file_is_numbers_to_pandas(make: Make) -> None:
    report = make(api_price_change_per_year=-0.4)
    table = pd.read_csv(io.BytesIO(cash_flow_csv_bytes(report)), encoding="utf-8-sig")
    assert list(table["month"]) == list(range(49))
    assert table["cumulative_usd"].iloc[1:].tolist() == report.schedule().cumulative_usd.tolist()
    assert (table["cumulative_usd"].iloc[:3] < 0).all()  # negatives stay numbers
    # the cumulative flow is the sum of the savings, less the capex
    assert table["saving_usd"].sum() - 630000 == pytest.approx(table["cumulative_usd"].iloc[-1], rel=1e-12)
    # cash is what NPV is made of: flow 0 now, the others at the end of their month
    rate = 1.1 ** (1 / 12) - 1
    npv = sum(cash / (1 + rate) ** month for month, cash in zip(table["month"], table["cash_usd"], strict=True))
    assert npv == pytest.approx(float(report.result.flow.npv_usd), rel=1e-9)


def test_no_cash_flow_where_no_payback_can_be_told(make: Make) -> None:
    lines = cash_flow_csv_bytes(make(system="hgx-h200-8")).decode("utf-8-sig").splitlines()
    assert len(lines) == 1


@pytest.mark.parametrize("title", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "=cmd|' /C calc'!A0", 'a "b", c\nd'])
def test_texts_are_no_formulas_and_come_back(make: Make, title: str) -> None:
    data = csv_bytes(make(title=title))
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    value = next(r[2] for r in rows if r[:2] == ["scenario", "title"])
    assert value.removeprefix("'") == title.strip()
    assert not value.startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.text())
def test_safe_text_never_starts_a_formula(text: str) -> None:
    safe = safe_text(text)
    assert not safe.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert "\x00" not in safe


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_numbers_read_back_or_are_empty(value: float) -> None:
    text = cell(value)
    assert text == "" if value != value or abs(value) == float("inf") else float(text) == value
