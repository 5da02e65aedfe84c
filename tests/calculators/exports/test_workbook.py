"""The workbook against the app: as made, recalculated by LibreOffice, and recalculated after a change of its cells."""

import io
import math
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from calculators.cashflow import irr_per_year, schedule
from calculators.evaluate import Inputs, evaluate
from calculators.exports import workbook_bytes
from calculators.exports.workbook import _live
from calculators.report import Report, scalar_terms, to_json
from calculators.units import DAYS_PER_MONTH

Make = Callable[..., Report]
Values = dict[str, Any]

SOFFICE = shutil.which("soffice") or shutil.which("libreoffice")


@dataclass(frozen=True)
class Case:
    """A scenario, the input cells that are typed over, and the same change of the app's inputs."""

    scenario: Mapping[str, Any]
    cells: Mapping[str, float]
    inputs: Mapping[str, Any]


def same(**values: float) -> dict[str, Any]:
    """Cells that have the name of the input that they stand for."""
    return {"cells": values, "inputs": values}


OUTPUT = {"baseline_output_usd_per_mtok": 9.0, "baseline_input_usd_per_mtok": 2.0}
SPEND: dict[str, Any] = {"demand": "spend", "demand_usd_per_month": 60000.0}
PEAKY: dict[str, Any] = {"demand": "tokens", "demand_tokens_per_month": 20e9, "profile": "office-hours"}
GROWING: dict[str, Any] = {"demand": "requests", "demand_requests_per_month": 5e5, "demand_growth_per_year": 0.6}
LOAN: dict[str, Any] = {"acquisition": "loan"}
RENT: dict[str, Any] = {"acquisition": "rent"}

CASES: dict[str, Case] = {
    "as made": Case({}, {}, {}),
    "discount rate": Case({}, **same(discount_rate=0.2)),
    "hardware price": Case({}, **same(hardware_usd=750000)),
    "utilization": Case({}, **same(utilization=0.31)),
    "price change": Case({}, **same(api_price_change_per_year=-0.5)),
    "prices": Case({"cached_share": 0.4}, OUTPUT, {}),
    "horizon": Case({}, **same(horizon_months=30, residual_share=0.3)),
    "two machines": Case({"reserve_systems": 1}, **same(system_count=2)),
    "support, staff, spares": Case({}, **same(support_share_per_year=0.1, staff_fte=1.5, spares_share=0.0)),
    "one-off, other": Case({}, **same(other_capex_usd=80000, other_opex_usd_per_month=1234.5, licence_share=0.05)),
    "loan as made": Case(LOAN, {}, {}),
    "loan rate": Case(LOAN, **same(loan_rate=0.2, loan_months=60)),
    "loan at no interest": Case(LOAN, **same(loan_rate=0.0, other_capex_usd=50000)),
    "rent as made": Case(RENT, {}, {}),
    "rent price and hours": Case(RENT, **same(rent_usd_per_accelerator_hour=5.0, rented_hours_per_month=264)),
    "rent with one-off costs": Case({**RENT, "other_capex_usd": 1e5}, **same(rent_usd_per_accelerator_hour=4.0)),
    "rent that loses at first": Case({**GROWING, **RENT}, **same(demand_growth_per_year=3.0)),
    "own facility": Case({"facility": "own"}, **same(electricity_usd_per_kwh=0.2, pue=1.5, power_kw=16.0)),
    "never": Case({**SPEND, "demand_usd_per_month": 8000.0}, {}, {}),
    "never becomes a payback": Case(
        {**SPEND, "demand_usd_per_month": 8000.0}, {"demand_usd_per_month": 90000}, {"demand_amount": 90000}
    ),
    "pays back, then never": Case({}, **same(utilization=0.05)),
    "late": Case({}, **same(utilization=0.17)),
    "spend": Case(SPEND, **same(api_discount=0.15, migratable_share=0.8)),
    "growth": Case(GROWING, **same(demand_growth_per_year=1.5, api_price_change_per_year=-0.2)),
    "uneven week": Case(PEAKY, {"demand_tokens_per_month": 35e9}, {"demand_amount": 35e9}),
    "uneven week, growing": Case(PEAKY, **same(demand_growth_per_year=0.5, utilization=0.5)),
    "uneven week, rented by day": Case({**PEAKY, **RENT}, **same(rented_hours_per_month=200)),
    "seats": Case(
        {"demand": "seats", "demand_seats": 400.0}, {"demand_seats": 700, "workdays_per_month": 20},
        {"demand_amount": 700, "workdays_per_month": 20},
    ),
    "no load": Case({}, **same(utilization=0.0)),
}  # fmt: skip

LIVE = {
    "capex_usd": lambda r: r.ownership.capex_usd,
    "opex_usd_per_month": lambda r: r.opex_usd_per_month,
    "own_usd_per_month": lambda r: r.usd_per_month,
    "own_usd_per_mtok": lambda r: r.usd_per_mtok,
    "cost_running": lambda r: r.ownership.running_usd_per_month,
    "served_requests_per_month": lambda r: r.served_requests_per_month,
    "capacity_tokens_per_month": lambda r: r.capacity_tokens_per_month,
    "overflow_tokens_per_month": lambda r: r.overflow_requests_per_month * r.tokens_per_request,
    "api_usd_per_request": lambda r: r.baseline_usd_per_request,
    "api_usd_per_month": lambda r: r.baseline_usd_per_month,
    "alternative_usd_per_month": lambda r: r.alternative_usd_per_month,
    "saving_usd_per_month": lambda r: r.saving_usd_per_month,
    "alternative_saving_usd_per_month": lambda r: r.alternative_saving_usd_per_month,
    "npv_usd": lambda r: r.flow.npv_usd,
    "alternative_npv_usd": lambda r: r.alternative_flow.npv_usd,
    "payback_days": lambda r: r.flow.payback_days,
    "alternative_payback_days": lambda r: r.alternative_flow.payback_days,
    "discounted_payback_days": lambda r: r.flow.discounted_payback_months * DAYS_PER_MONTH,
    "alternative_discounted_payback_days": lambda r: r.alternative_flow.discounted_payback_months * DAYS_PER_MONTH,
}


def place(book: openpyxl.Workbook, name: str) -> Any:
    """The cell of a name."""
    sheet, cell = re.fullmatch(r"'?([^'!]+)'?!\$?([A-Z]+\$?\d+)", book.defined_names[name].attr_text).groups()
    return book[sheet][cell.replace("$", "")]


def read(path: Path | io.BytesIO) -> Values:
    """Values of all named cells, and the sum of each column of the cash flow within the horizon."""
    book = openpyxl.load_workbook(path, data_only=True)
    return {
        name: place(book, name).value
        for name, told in book.defined_names.items()
        if re.search(r"!\$[A-Z]+\$\d+$", told.attr_text)
    }


def typed_over(book: bytes, cells: Mapping[str, float]) -> bytes:
    """The workbook with other numbers in its input cells and without cached results: LibreOffice must calculate."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.read("xl/workbook.xml").decode()
        for item in old.namelist():
            text = old.read(item)
            if item.startswith("xl/worksheets/sheet"):
                text = re.sub(rb"(<f>[^<]*</f>)<v>[^<]*</v>", rb"\1", text)
            if item == "xl/worksheets/sheet1.xml":
                for name, value in cells.items():
                    found = re.search(rf'<definedName name="{name}">.?Inputs.?!\$B\$(\d+)<', names)
                    assert found, name
                    cell = re.compile(rf'(<c r="B{found[1]}"[^>]*>)<v>[^<]*</v>'.encode())
                    text, count = cell.subn(rb"\g<1><v>%s</v>" % repr(value).encode(), text)
                    assert count == 1, name
            new.writestr(item, text)
    return out.getvalue()


@pytest.fixture(scope="module")
def reports(make: Make) -> dict[str, Report]:
    return {name: make(**case.scenario) for name, case in CASES.items()}


@pytest.fixture(scope="module")
def made(reports: dict[str, Report]) -> dict[str, bytes]:
    """Workbook of each case; cases of one scenario share theirs."""
    books: dict[str, bytes] = {}
    for report in reports.values():
        books.setdefault(report.link, workbook_bytes(report))
    return {name: books[report.link] for name, report in reports.items()}


@pytest.fixture(scope="module")
def recalculated(made: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Values]:
    """Every case with its cells typed over, all formulas calculated anew by LibreOffice in one run."""
    if SOFFICE is None:
        pytest.skip("LibreOffice is not on this machine (Debian: libreoffice-calc), so nothing can recalculate.")
    folder = tmp_path_factory.mktemp("books")
    (folder / "out").mkdir()
    for index, (name, case) in enumerate(CASES.items()):
        (folder / f"{index}.xlsx").write_bytes(typed_over(made[name], case.cells))
    files = [str(folder / f"{index}.xlsx") for index in range(len(CASES))]
    profile = f"-env:UserInstallation=file://{folder / 'profile'}"
    command = [SOFFICE, profile, "--headless", "--convert-to", "xlsx", "--outdir", str(folder / "out"), *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return {name: read(folder / "out" / f"{index}.xlsx") for index, name in enumerate(CASES)}


def changed(report: Report, case: Case) -> Inputs:
    """The app's inputs with the case's change."""
    inputs = replace(report.inputs, **{k: float(v) for k, v in case.inputs.items()})
    prices = {
        cell.removeprefix("baseline_"): value for cell, value in case.cells.items() if cell.startswith("baseline_")
    }
    if prices:
        assert inputs.baseline is not None
        inputs = replace(inputs, baseline=replace(inputs.baseline, **prices))
    return inputs


@pytest.mark.parametrize("name", CASES)
def test_recalculated_figures_are_the_apps(
    reports: dict[str, Report], recalculated: dict[str, Values], name: str
) -> None:
    report, case, book = reports[name], CASES[name], recalculated[name]
    inputs = changed(report, case)
    result = evaluate(inputs)
    for key, of in LIVE.items():
        expected = float(of(result))
        if math.isnan(expected):
            assert book[key] == "unknown", key
        elif math.isinf(expected):
            assert book[key] == "never", key
        else:
            assert book[key] == pytest.approx(expected, rel=1e-6, abs=1e-6), key
    days = float(result.flow.payback_days)
    horizon = float(np.asarray(inputs.horizon_months))
    status = (
        "never"
        if math.isinf(days)
        else "immediate"
        if days == 0
        else "pays_back"
        if days <= horizon * DAYS_PER_MONTH
        else "beyond_horizon"
    )
    assert book["payback_status"] == status


@pytest.mark.parametrize("name", CASES)
def test_irr_is_the_rate_at_which_the_money_is_worth_nothing(
    reports: dict[str, Report], recalculated: dict[str, Values], name: str
) -> None:
    report, case, book = reports[name], CASES[name], recalculated[name]
    terms = scalar_terms(evaluate(changed(report, case)).terms)
    start = float(terms.principal_usd - terms.capex_usd)
    expected = irr_per_year(np.concatenate(([start], schedule(terms).cash_usd)))
    if expected is None:
        assert book["irr_per_year"] == "none"
    else:
        assert book["irr_per_year"] == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_the_cases_cover_every_outcome(reports: dict[str, Report], recalculated: dict[str, Values]) -> None:
    found = {values["payback_status"] for values in recalculated.values()}
    assert found == {"pays_back", "beyond_horizon", "never", "immediate"}
    assert {r.inputs.acquisition for r in reports.values()} == {"buy", "loan", "rent"}


@pytest.mark.parametrize("name", ["as made", "loan as made", "rent as made", "never", "uneven week", "seats"])
def test_a_viewer_without_recalculation_shows_the_apps_figures(
    reports: dict[str, Report], made: dict[str, bytes], name: str
) -> None:
    report = reports[name]
    data = to_json(report)
    book = read(io.BytesIO(made[name]))
    for prefix, part in (("", "payback"), ("alternative_", "alternative_payback")):
        for cell, key in (
            ("payback_days", "days"),
            ("discounted_payback_days", "discounted_days"),
            ("npv_usd", "npv_usd"),
            ("irr_per_year", "irr_per_year"),
            ("saving_usd_per_month", "saving_usd_per_month"),
            ("payback_status", "status"),
        ):
            told = data[part][key]
            assert book[prefix + cell] == (told if told is not None else "none" if key == "irr_per_year" else "never")
    assert book["own_usd_per_mtok"] == data["self_host"]["usd_per_mtok"]
    assert book["capex_usd"] == data["self_host"]["capex_usd"]
    assert book["served_tokens_per_month"] == data["served"]["tokens_per_month"]


@pytest.mark.parametrize("name", ["as made", "loan as made", "growth", "uneven week"])
def test_months_as_written_are_those_of_the_schedule(
    reports: dict[str, Report], made: dict[str, bytes], name: str
) -> None:
    report = reports[name]
    sheet = openpyxl.load_workbook(io.BytesIO(made[name]), data_only=True)["Cash flow"]
    head = {sheet.cell(3, c).value: c for c in range(1, sheet.max_column + 1)}
    table = report.schedule()
    for month in (1, 7, 48):
        for title, column in (
            ("Served", table.served_requests),
            ("Saving", table.saving_usd),
            ("Cumulative", table.cumulative_usd),
            ("Cumulative, discounted", table.discounted_cumulative_usd),
            ("Money that moves", table.cash_usd),
            ("Loan left", table.loan_balance_usd),
            ("Book value", table.book_value_usd),
        ):
            expected = pytest.approx(float(column[month - 1]), rel=1e-9, abs=1e-6)
            assert sheet.cell(5 + month, head[title]).value == expected, (title, month)


STILL: dict[str, dict[str, Any]] = {
    "does not fit": {"system": "hgx-h200-8"},
    "no machine": {"system_count": 0},
    "bound": {"system": "mbp-m5max-128"},
}


@pytest.mark.parametrize("case", STILL)
def test_what_is_not_known_is_said_and_never_zero(make: Make, case: str) -> None:
    report = make(**STILL[case])
    data = to_json(report)
    book = read(io.BytesIO(workbook_bytes(report)))
    if report.status is None:
        assert book["payback_days"] == "unknown"
        assert book["npv_usd"] == "unknown"
    assert book["own_usd_per_month"] == data["self_host"]["usd_per_month"]
    assert not any(isinstance(v, float) and not math.isfinite(v) for v in book.values())


def test_is_a_plain_workbook(make: Make) -> None:
    title = "=HYPERLINK(A1)"
    data = workbook_bytes(make(title=title))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        assert not [n for n in names if "externalLink" in n or "vba" in n or n.endswith(".bin")]
        assert not [n for n in names if b'TargetMode="External"' in archive.read(n)]
    book = openpyxl.load_workbook(io.BytesIO(data))
    assert book.sheetnames == ["Inputs", "Result", "Cash flow", "Costs", "Sources"]
    assert book["Inputs"]["A1"].value == title
    assert book["Inputs"]["A1"].data_type == "s"
    assert all(sheet.freeze_panes for sheet in book)
    # results are formulas, inputs are not
    assert str(place(book, "npv_usd").value).startswith("=SUMPRODUCT(")
    assert place(book, "discount_rate").value == 0.1
    units = {row[2].value for row in book["Inputs"].iter_rows(min_row=5) if isinstance(row[1].value, int | float)}
    assert None not in units


def test_same_report_same_bytes(reports: dict[str, Report], made: dict[str, bytes]) -> None:
    assert workbook_bytes(reports["as made"]) == made["as made"]


@pytest.mark.parametrize(
    ("demand", "volume"), [({}, True), ({"demand": "spend", "demand_usd_per_month": 5e4}, False)], ids=["fill", "spend"]
)
def test_without_a_price_a_spend_is_no_volume(make: Make, demand: dict[str, Any], volume: bool) -> None:
    """Full machines serve what they serve; how much a sum of money asks for needs a price. No cash flow either way."""
    report = make(**demand)
    unpriced = replace(report, resolved=replace(report.resolved, inputs=replace(report.inputs, baseline=None)))
    live = _live(unpriced)
    assert (live.volume, live.priced, live.flow) == (volume, False, False)
    known = _live(report)
    assert (known.volume, known.priced, known.flow) == (True, True, True)
