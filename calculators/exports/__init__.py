"""Files that leave the app: CSV, cash flow as CSV, workbook and HTML page, all made from one `Report`."""

from typing import TYPE_CHECKING

from calculators.exports.csv_file import cash_flow_csv_bytes, csv_bytes
from calculators.texts import Language

if TYPE_CHECKING:
    from calculators.report import Report

__all__ = ["cash_flow_csv_bytes", "csv_bytes", "html_bytes", "workbook_bytes"]


def workbook_bytes(report: "Report") -> bytes:
    """The report as an XLSX workbook whose results are formulas; see `calculators.exports.workbook`."""
    # XlsxWriter is loaded when a workbook is asked for, not with every page
    from calculators.exports.workbook import workbook_bytes as make

    return make(report)


def html_bytes(report: "Report", language: Language = "en") -> bytes:
    """The report as one self-contained page in UTF-8; see `calculators.exports.html_page`."""
    from calculators.exports.html_page import html_bytes as make

    return make(report, language)
