"""CSV files: one tidy table of all that a report says, and the cash flow by month.

RFC 4180 (comma, quotes where needed, CRLF), UTF-8 with a byte order mark so that Excel reads it. A value that is not
known is empty, never NaN, Infinity or 0. Numbers have the digits of the JSON. A text that a spreadsheet would take for
a formula starts with an apostrophe; numbers never do, so negatives stay numbers.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from calculators.exports import months as table
from calculators.numbers import plain
from calculators.report import Report, number, to_json, unit_of
from calculators.resolve import Used
from calculators.scenario import SPECS
from calculators.texts import said

COLUMNS: Final = ("section", "name", "value", "unit", "source", "as_of")
SECTIONS: Final = ("scenario", "inputs", "results", "costs", "cash_flow", "warnings", "sources")
RESULTS: Final = (
    "memory",
    "throughput",
    "capacity",
    "served",
    "serverless",
    "self_host",
    "payback",
    "alternative_payback",
    "break_even",
    "uncertainty",
)
"""Parts of the JSON that are results, in the order in which they are written."""

CALCULATED: Final = "calculated"
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_CONTROL: Final = {code: None for code in range(32) if chr(code) not in "\t\n\r"}
_DAYS: Final = ("p10", "p50", "p90")


class Row(NamedTuple):
    """One line of the tidy file; ``value`` None = not known."""

    section: str
    name: str
    value: str | float | int | bool | None
    unit: str = ""
    source: str = ""
    as_of: str = ""


def safe_text(text: str) -> str:
    """A text without control characters that no spreadsheet evaluates: an apostrophe before = + - @ tab and returns."""
    clean = text.translate(_CONTROL)
    return f"'{clean}" if clean.startswith(_FORMULA_STARTS) else clean


def cell(value: str | float | int | bool | None) -> str:
    """A value as CSV text: numbers with all their digits, true/false, '' for what is not known."""
    if value is None:
        return ""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    finite = number(value)
    return "" if finite is None else plain(finite)


def rows(report: Report) -> Iterator[Row]:
    """All rows of the tidy file, section by section in the order of `SECTIONS`."""
    data = to_json(report)
    used = report.resolved.used
    yield from _scenario(data["scenario"])
    yield from _inputs(used)
    yield from _results(data, report)
    for line in data["self_host"]["lines"]:
        yield Row(
            "costs",
            line["name"],
            line["usd_per_month"],
            "USD/month",
            "; ".join(part for part in (line["formula"], line["source"]) if part),
        )
    found = table.months(report)
    if found is not None:
        for month in range(len(found)):
            for name, values in found.columns.items():
                yield Row("cash_flow", f"month {month} {name}", values[month], table.unit(name), CALCULATED)
    for index, warning in enumerate(data["warnings"], 1):
        yield Row("warnings", f"warning {index}", warning)
    yield from _sources(used)


def _scenario(values: Mapping[str, Any]) -> Iterator[Row]:
    for name, value in values.items():
        spec = SPECS[name]
        if value is None or value == "":
            source = f"empty: {spec.catalogue}" if spec.catalogue else "empty"
        else:
            source = "default of the scenario" if value == spec.default else "typed in"
        yield Row("scenario", name, value if value != "" else None, spec.unit, source)


def _inputs(used: Iterable[Used]) -> Iterator[Row]:
    for figure in used:
        yield Row("inputs", figure.name, figure.value, figure.unit, figure.source, figure.date)
        for bound in ("low", "high"):
            value = getattr(figure, bound)
            if value is not None:
                yield Row("inputs", f"{figure.name} {bound}", value, figure.unit, figure.source, figure.date)


def _results(data: Mapping[str, Any], report: Report) -> Iterator[Row]:
    for index, sentence in enumerate(data["verdict"], 1):
        yield Row("results", f"verdict {index}", sentence, "", CALCULATED)
    for name in ("link", "version", "data_release"):
        yield Row("results", name, data[name], "", CALCULATED)
    anchor = data["throughput"]["anchor"] or {}
    linked = report.inputs.sizing.stated is not None
    for part in RESULTS:
        source, date = CALCULATED, ""
        if part in ("memory", "throughput") and linked:
            source = said("said_source.pinned")
        elif part == "throughput":
            source = anchor.get("source_url") or f"{CALCULATED}, evidence: {report.evidence}"
            date = str(anchor.get("date") or "")
        content = {k: v for k, v in data[part].items() if k != "lines"}
        for name, value in _flat(part, content):
            yield Row("results", name, value, _unit(name, value), source, date)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Names and scalars of nested values; a list is counted from 1."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value, 1):
            yield from _flat(f"{name}.{index}", inner)
    else:
        yield name, value


def _unit(name: str, value: Any) -> str:
    if isinstance(value, str | bool):
        return ""
    last = name.rsplit(".", 1)[-1]
    return "days" if last in _DAYS else unit_of(last)


def _sources(used: Iterable[Used]) -> Iterator[Row]:
    """Each source once, with the figures that rest on it and how they are known."""
    seen: dict[tuple[str, str, str], list[str]] = {}
    notes: dict[tuple[str, str, str], str] = {}
    for figure in used:
        if figure.origin == "scenario":
            continue
        key = (figure.source, figure.date, figure.kind)
        seen.setdefault(key, []).append(figure.name)
        notes.setdefault(key, figure.note)
    for (source, date, kind), names in seen.items():
        told = f"{kind}; {notes[(source, date, kind)]}" if notes[(source, date, kind)] else kind
        yield Row("sources", ", ".join(names), told, "", source, date)


def _encode(lines: Iterable[Iterable[str]]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows(lines)
    return out.getvalue().encode("utf-8-sig")


def csv_bytes(report: Report) -> bytes:
    """Everything in one tidy table: section, name, value, unit, source, as_of."""
    body = (
        [r.section, safe_text(r.name), cell(r.value), safe_text(r.unit), safe_text(r.source), safe_text(r.as_of)]
        for r in rows(report)
    )
    return _encode([list(COLUMNS), *body])


def cash_flow_csv_bytes(report: Report) -> bytes:
    """The cash flow, one row a month from month 0 (the start) to the horizon, units in the headers.

    Only the header where no payback can be told.
    """
    names = (*table.COLUMNS, *table.ALTERNATIVE_COLUMNS)
    found = table.months(report)
    head = ["month", *(name if name.endswith("_usd") else f"{name}_{table.unit(name)}" for name in names)]
    head = [h.replace("served_requests_requests", "served_requests") for h in head]
    body = (
        []
        if found is None
        else [[str(month), *(cell(found.columns[name][month]) for name in names)] for month in range(len(found))]
    )
    return _encode([head, *body])
