"""The workbook and the page as lines of text, so that any change of them is a difference that a person reads.

Left out are the texts that have their own tests and move with other work: the verdict, the reasons, the warnings and
the link (its pins follow data/). They appear as '(verdict 1)', '(warning 1)', '(reason)' and '(link)'.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

import openpyxl
import pytest
from openpyxl.cell.cell import Cell
from openpyxl.worksheet.worksheet import Worksheet

from calculators.exports import html_bytes, workbook_bytes
from calculators.report import Report, to_json
from calculators.texts import Language, translated

FOLDER: Final = Path(__file__).resolve().parent / "exports"

WORKBOOKS: Final[dict[str, dict[str, Any]]] = {
    "bought": {},
    "loan-peaks": {
        "title": "Team A",
        "acquisition": "loan",
        "facility": "own",
        "demand": "tokens",
        "demand_tokens_per_month": 60e9,
        "profile": "office-hours",
        "system_count": 2,
        "reserve_systems": 1,
        "baseline": "openrouter/z-ai/glm-5.2",
        "model": "glm-5.2",
        "batch_share": 0.5,
        "cached_share": 0.4,
        "demand_growth_per_year": 0.2,
        "other_capex_usd": 50_000,
    },
    "rent-seats": {
        "acquisition": "rent",
        "rented_hours_per_month": 200,
        "demand": "seats",
        "demand_seats": 400,
        "baseline": "anthropic/claude-sonnet-4-5",
        "input_tokens": 300_000,
        "max_ttft_s": None,
        "max_tpot_ms": None,
        "cache_write_share": 0.5,
        "token_ratio": 1.2,
        "licence_share": 0.05,
        "horizon_months": 36,
    },
    "measured-spend": {
        "demand": "spend",
        "demand_usd_per_month": 8000,
        "measured_output_tokens_per_s": 3000,
        "model": "deepseek-r1-0528",
        "system": "hgx-h200-8",
        "baseline": "openai/gpt-5.4",
        "api_price_change_per_year": -0.2,
    },
    "does-not-fit": {"system": "hgx-h200-8"},
}
"""Scenarios by name; together they touch every sheet, group of inputs, kind of formula and what is said where not."""

PAGES: Final[dict[str, tuple[str, Language]]] = {
    "bought": ("bought", "en"),
    "bought-zh": ("bought", "zh"),
    "loan-peaks": ("loan-peaks", "en"),
    "rent-seats-zh": ("rent-seats", "zh"),
    "measured-spend": ("measured-spend", "en"),
    "does-not-fit": ("does-not-fit", "en"),
}
"""Pages by name: a scenario of WORKBOOKS and a language."""

_MONTHS: Final = (0, 1, 2, 12)
"""Months of the cash-flow sheet that are kept, with those around the horizon and the last."""


def said(report: Report, language: Language = "en") -> dict[str, str]:
    """Texts that are left out, and what stands for them; the longest first, as one may hold another."""
    data = to_json(report)
    found = {sentence: f"(verdict {k})" for k, sentence in enumerate(report.sentences(language), 1)}
    found |= {translated(text, language): f"(warning {k})" for k, text in enumerate(data["warnings"], 1)}
    found |= {report.reason: "(reason)", report.alternative_reason: "(reason)", data["link"]: "(link)"}
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


# Workbook ------------------------------------------------------------------------------------------------------------


def workbook_lines(report: Report, whole: bool = True) -> list[str]:
    """Every cell with its value, formula and look, and how the sheets are laid out and printed.

    Args:
        report: what the workbook is of.
        whole: whether to list the chart and all rows of the sheet of sources, or only the first and last of them.
    """
    data = workbook_bytes(report)
    book, values = (openpyxl.load_workbook(io.BytesIO(data), data_only=only) for only in (False, True))
    told = said(report)
    properties = book.properties
    lines = [
        f"title {properties.title}",
        f"created {properties.created}",
        f"calculate anew {book.calculation.fullCalcOnLoad}",
    ]
    lines += [f"name {name} {place.attr_text}" for name, place in book.defined_names.items()]
    horizon = int(report.scenario.horizon_months)
    for sheet in book:
        last = sheet.max_row
        kept = set(range(1, last + 1))
        if sheet.title == "Cash flow":
            months = {*_MONTHS, horizon - 1, horizon, horizon + 1, last - 5}
            kept = {1, 2, 3, 4, *(5 + month for month in months), last}
        elif sheet.title == "Hours":
            kept = {*range(1, 8), *range(40, 60), last}
        elif sheet.title == "Sources" and not whole:
            kept = {*range(1, 7), last}
        lines += ["", *_sheet_lines(sheet)]
        for row in sheet.iter_rows():
            if row[0].row in kept:
                lines += _row_lines(sheet, row, values[sheet.title], told)
    return lines + (["", *_chart_lines(data)] if whole else [])


def _sheet_lines(sheet: Worksheet) -> Iterator[str]:
    page = sheet.page_setup
    yield f"sheet {sheet.title} {sheet.dimensions}"
    yield f"freeze {sheet.freeze_panes} filter {sheet.auto_filter.ref} gridlines {sheet.sheet_view.showGridLines}"
    yield (
        f"print {page.orientation} paper {page.paperSize} fit {sheet.sheet_properties.pageSetUpPr.fitToPage} "
        f"{page.fitToWidth} {page.fitToHeight} titles {sheet.print_title_rows} area {sheet.print_area}"
        if sheet.sheet_properties.pageSetUpPr
        else "print as it is"
    )
    for name, column in sheet.column_dimensions.items():
        yield f"column {name} {column.min}-{column.max} width {column.width}"
    for area in sorted(str(merged) for merged in sheet.merged_cells.ranges):
        yield f"merged {area}"
    for check in sheet.data_validations.dataValidation:
        bounds = f"{check.type} {check.operator or 'between'} {check.formula1} {check.formula2}"
        yield f"check {check.sqref} {bounds} {check.errorTitle!r} {check.error!r}"
    for area in sheet.conditional_formatting:
        for rule in area.rules:
            yield f"when {area.sqref} {rule.type} {rule.formula} {_colour(rule.dxf.font.color)}"


def _row_lines(sheet: Worksheet, row: tuple[Cell, ...], values: Worksheet, told: Mapping[str, str]) -> Iterator[str]:
    number = row[0].row
    here = sheet.row_dimensions[number]
    # the link's length, and so its row's height, follows its pins
    height = None if row[0].value in told and told[row[0].value] == "(link)" else here.height
    if height or here.hidden or here.outlineLevel or here.collapsed:
        yield f"row {number} height {height} hidden {here.hidden} level {here.outlineLevel} folds {here.collapsed}"
    for cell in row:
        if cell.value in (None, ""):
            # a heading's ground goes to the end of the table
            if cell.fill.fill_type and cell is row[-1]:
                yield f"{sheet.title}!{cell.coordinate}\t{_look(cell)}"
            continue
        shown = [_shown(cell.value, told)]
        if isinstance(cell.value, str) and cell.data_type == "f":
            shown.append(_shown(values[cell.coordinate].value, told))
        yield "\t".join([f"{sheet.title}!{cell.coordinate}", *shown, _look(cell)])


def _shown(value: Any, told: Mapping[str, str]) -> str:
    if isinstance(value, bool | int | float):
        return repr(float(f"{value:.10g}"))
    text = "" if value is None else str(value)
    for sentence, place in told.items():
        if sentence:
            text = text.replace(sentence, place)
    return json.dumps(text, ensure_ascii=False)


def _colour(colour: Any) -> str:
    return "" if colour is None or not isinstance(colour.rgb, str) else f"#{colour.rgb[-6:]}"


def _look(cell: Cell) -> str:
    font, place, border = cell.font, cell.alignment, cell.border
    parts = [] if (font.name, font.sz) == ("Calibri", 10) else [f"{font.name} {font.sz:g}"]
    parts += [_colour(font.color)]
    parts += ["bold"] if font.b else []
    parts += ["italic"] if font.i else []
    parts += [f"on {_colour(cell.fill.fgColor)}"] if cell.fill.fill_type else []
    parts += [cell.number_format] if cell.number_format != "General" else []
    parts += [f"{place.horizontal} {place.indent:g}"] if place.horizontal else []
    parts += [] if place.vertical == "top" else [str(place.vertical)]
    parts += ["wrap"] if place.wrap_text else []
    for side in ("left", "right", "top", "bottom"):
        line = getattr(border, side)
        parts += [f"{side} {line.style} {_colour(line.color)}"] if line is not None and line.style else []
    return ", ".join(part for part in parts if part)


def _chart_lines(data: bytes) -> Iterator[str]:
    """The chart's elements without the numbers that it keeps of its cells, and where it stands."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.startswith(("xl/charts/", "xl/drawings/drawing"))]
        for name in sorted(names):
            text = archive.read(name).decode()
            text = re.sub(r"<c:numCache>.*?</c:numCache>", "", text)
            # the description is cut at 250 letters, so its beginning is kept and the rest is the reasons'
            text = re.sub(r'(descr="[^"]{0,32})[^"]*"', r'\1..."', text)
            yield f"part {name}"
            yield from re.sub(r"(?<=>)(?=<(?!/))", "\n", text).split("\n")


# Page ----------------------------------------------------------------------------------------------------------------

_LINES: Final = (
    "h1 h2 h3 p ul li code main header section dl dt dd figure svg title desc rect line polyline circle text div table "
    "caption thead tr html head meta style body"
)
_BREAKS: Final = re.compile(rf"(?=<(?:{'|'.join(_LINES.split())})[ >])")
"""Elements that begin a line."""


def page_lines(report: Report, language: Language) -> list[str]:
    """The page, an element that a reader sees as one a line and a table's row as one line, without its style sheet."""
    page = html_bytes(report, language).decode()
    page = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.DOTALL)
    for sentence, place in said(report, language).items():
        if sentence:
            page = page.replace(escape(sentence), place)
    return [line for part in page.split("\n") for line in _BREAKS.split(part)]


# Compare -------------------------------------------------------------------------------------------------------------

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def assert_same_lines(found: list[str], expected: list[str]) -> None:
    """The same words, and the same numbers but for the last digits that another processor rounds differently."""
    for number, (now, then) in enumerate(zip(found, expected, strict=False), 1):
        if now == then:
            continue
        assert _NUMBER.sub("#", now) == _NUMBER.sub("#", then), f"line {number}: {now!r}, was {then!r}"
        was = [float(x) for x in _NUMBER.findall(then)]
        assert [float(x) for x in _NUMBER.findall(now)] == pytest.approx(was, rel=1e-6, abs=1e-6), f"line {number}"
    assert len(found) == len(expected)


def workbook_file(name: str, report: Report) -> tuple[Path, list[str]]:
    """Golden file of a workbook, and its lines as the code makes them; one of them lists all parts."""
    return FOLDER / f"workbook-{name}.txt", workbook_lines(report, whole=name == "bought")


def page_file(name: str, report: Report) -> tuple[Path, list[str]]:
    """Golden file of a page, and its lines as the code makes them."""
    return FOLDER / f"page-{name}.txt", page_lines(report, PAGES[name][1])


def all_files(build: Callable[[Mapping[str, Any]], Report]) -> Iterator[tuple[Path, list[str]]]:
    """Every golden file with its lines as the code makes them; ``build`` makes a report of changed fields."""
    reports = {name: build(changes) for name, changes in WORKBOOKS.items()}
    yield from (workbook_file(name, report) for name, report in reports.items())
    yield from (page_file(name, reports[scenario]) for name, (scenario, _) in PAGES.items())
