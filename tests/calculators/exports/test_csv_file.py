import csv
import io
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.exports import cash_flow_csv_bytes, csv_bytes
from calculators.exports.csv_file import COLUMNS, RESULTS, SECTIONS, Row, _flat, _sources, cell, safe_text
from calculators.report import Report, to_json
from calculators.resolve import Used
from calculators.scenario import SPECS

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


def table_of(report: Report) -> list[list[str]]:
    return list(csv.reader(io.StringIO(csv_bytes(report).decode("utf-8-sig"), newline="")))


def test_each_figure_that_went_in_has_a_row_with_its_range(make: Make) -> None:
    report = make(power_kw=12.0)
    inputs = [row[1:] for row in table_of(report) if row[0] == "inputs"]
    expected = []
    for used in report.resolved.used:
        expected.append([used.name, cell(used.value), used.unit, used.source, used.date])
        for word, bound in (("low", used.low), ("high", used.high)):
            if bound is not None:
                expected.append([f"{used.name} {word}", cell(bound), used.unit, used.source, used.date])
    assert inputs == expected
    # some have both bounds, some have none
    assert len(report.resolved.used) < len(inputs) < 3 * len(report.resolved.used)


def test_the_scenario_says_what_was_typed_and_what_stands_for_an_empty_field(make: Make) -> None:
    rows = {row[1]: row[2:5] for row in table_of(make(utilization=0.6)) if row[0] == "scenario"}
    assert rows["utilization"] == ["0.6", "share", "typed in"]
    assert rows["horizon_months"] == ["48", "months", "default of the scenario"]
    assert rows["title"] == ["", "", "empty"]
    value, unit, source = rows["hardware_usd"]
    assert (value, unit) == ("", "USD")
    # the field's own words for what is taken where it is empty
    assert source == f"empty: {SPECS['hardware_usd'].catalogue}"
    assert SPECS["hardware_usd"].catalogue


@pytest.mark.parametrize("case", ["pays back", "does not fit"])
def test_a_result_has_its_unit_and_the_throughput_its_measurement(make: Make, case: str) -> None:
    report = make(**CASES[case])
    rows = {row[1]: row[2:] for row in table_of(report) if row[0] == "results"}
    sentences = report.sentences()
    assert [rows[f"verdict {k}"] for k in range(1, len(sentences) + 1)] == [
        [s, "", "calculated", ""] for s in sentences
    ]
    assert rows["data_release"] == [report.release, "", "calculated", ""]
    assert rows["payback.days"][1:] == ["days", "calculated", ""]
    assert rows["payback.reason"][1:] == ["", "calculated", ""]
    assert rows["memory.fits"][1:] == ["", "calculated", ""]
    assert rows["self_host.capex_usd"][1] == "USD"
    assert not [name for name in rows if name.startswith("self_host.lines")]
    if case == "pays back":
        # by page and mean: every quantile of the payback is a number of days
        assert {rows[f"uncertainty.payback_days.{q}"][1] for q in ("p10", "p50", "p90")} == {"days"}
        anchor = to_json(report)["throughput"]["anchor"]
        assert rows["throughput.output_tokens_per_s"][1:] == ["tokens/s", anchor["source_url"], anchor["date"]]
        assert rows["throughput.anchor.id"][0] == anchor["id"]
    else:
        assert rows["throughput.output_tokens_per_s"][1:] == [
            "tokens/s",
            f"calculated, evidence: {report.evidence}",
            "",
        ]


def test_costs_warnings_and_months_have_their_own_rows(make: Make) -> None:
    report = make(
        acquisition="loan", horizon_months=12, api_price_change_per_year=-0.6, licence_share=0.05, batch_share=0.5
    )
    rows = table_of(report)
    data = to_json(report)
    costs = [row[1:] for row in rows if row[0] == "costs"]
    assert costs == [
        [
            safe_text(line["name"]),
            cell(line["usd_per_month"]),
            "USD/month",
            f"{line['formula']}; {line['source']}" if line["source"] else line["formula"],
            "",
        ]
        for line in data["self_host"]["lines"]
    ]
    assert data["warnings"]
    warnings = [row[1:] for row in rows if row[0] == "warnings"]
    assert warnings == [[f"warning {k}", text, "", "", ""] for k, text in enumerate(data["warnings"], 1)]
    flow = [row[1:] for row in rows if row[0] == "cash_flow"]
    assert flow[0][:1] == ["month 0 price_level"]
    assert flow[-1][0].startswith("month 12 ")
    units = {row[0].split(" ", 2)[2]: row[2] for row in flow}
    assert units["price_level"] == "ratio"
    assert units["served_requests"] == "requests"
    assert units["cumulative_usd"] == "USD"
    assert {row[3] for row in flow} == {"calculated"}
    assert len(flow) == 13 * len(units)


def test_each_source_is_listed_once_with_what_rests_on_it() -> None:
    """Figures of one source, date and kind share a row; the note is the first one's; what was typed has no source."""

    def used(name: str, source: str = "a", date: str = "2026", kind: str = "list_price", **more: Any) -> Used:
        return Used(name, name, 1.0, "USD", more.pop("origin", "catalogue"), source, date, kind, **more)

    rows = list(
        _sources(
            [
                used("one", note="of the vendor"),
                used("typed", origin="scenario"),
                used("two", note="another note"),
                used("three", kind="press"),
                used("four", date="2025"),
                used("five", source="b"),
                used("six", source="b", origin="link"),
            ]
        )
    )
    assert rows == [
        Row("sources", "one, two", "list_price; of the vendor", "", "a", "2026"),
        Row("sources", "three", "press", "", "a", "2026"),
        Row("sources", "four", "list_price", "", "a", "2025"),
        Row("sources", "five, six", "list_price", "", "b", "2026"),
    ]


def test_the_sources_of_a_report_are_all_there(make: Make) -> None:
    report = make(staff_fte=1.0)
    told = [row[1] for row in table_of(report) if row[0] == "sources"]
    from_data = [used.name for used in report.resolved.used if used.origin != "scenario"]
    assert sorted(name for names in told for name in names.split(", ")) == sorted(from_data)


def test_heads_of_the_cash_flow_file_name_their_units(make: Make) -> None:
    head, zero, *_ = cash_flow_csv_bytes(make()).decode("utf-8-sig").splitlines()
    assert head == (
        "month,price_level_ratio,served_requests,api_value_usd,licence_usd,running_usd,interest_usd,"
        "principal_repaid_usd,loan_balance_usd,saving_usd,cumulative_usd,discounted_cumulative_usd,cash_usd,"
        "depreciation_usd,book_value_usd,alternative_saving_usd,alternative_cumulative_usd"
    )
    # the start: nothing served at no price level, 630,000 paid and on the books
    assert zero == "0,,0,0,0,0,0,0,0,0,-630000,-630000,-630000,0,630000,0,-630000"


def test_a_list_is_counted_from_one_and_controls_are_dropped() -> None:
    assert list(_flat("a", {"b": [1, {"c": None}], "d": "x"})) == [("a.b.1", 1), ("a.b.2.c", None), ("a.d", "x")]
    assert safe_text("a\x00b\x1fc\td\n") == "abc\td\n"
    assert safe_text("a=1") == "a=1"
    assert [cell(v) for v in (True, False, None, "-x", 1e-7, 2.0)] == ["true", "false", "", "'-x", "1e-07", "2"]
