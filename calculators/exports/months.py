"""The cash flow as a table of months, the same rows for the CSV, the workbook and the page."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from calculators.cashflow import Schedule
from calculators.report import Report, scalar_terms

UNITS: Final[Mapping[str, str]] = {
    "price_level": "ratio",
    "served_requests": "requests",
}
"""Units of the columns that are not USD."""

COLUMNS: Final = (
    "price_level",
    "served_requests",
    "api_value_usd",
    "licence_usd",
    "running_usd",
    "interest_usd",
    "principal_repaid_usd",
    "loan_balance_usd",
    "saving_usd",
    "cumulative_usd",
    "discounted_cumulative_usd",
    "cash_usd",
    "depreciation_usd",
    "book_value_usd",
)
"""Columns against today's offer, as in `Schedule`; two more compare with the serverless alternative."""

ALTERNATIVE_COLUMNS: Final = ("alternative_saving_usd", "alternative_cumulative_usd")


def unit(column: str) -> str:
    """Unit of a column of the table."""
    return UNITS.get(column, "USD")


@dataclass(frozen=True)
class Months:
    """Month 0 (the start) to the horizon; each column has horizon + 1 numbers, None where nothing is known.

    ``alternative`` tells whether the comparison with the serverless offer is known.
    """

    columns: Mapping[str, tuple[float | None, ...]]
    alternative: bool

    def __len__(self) -> int:
        """Rows, month 0 included."""
        return len(self.columns["cumulative_usd"])


def months(report: Report) -> Months | None:
    """The months of a report, or None where no payback can be told (does not fit, not measured, unpriced).

    Month 0 is the start: the capex is paid, the loan received, nothing is served. From month 1 on the columns are those
    of `Schedule`, flows of the month and balances at its end.
    """
    if report.status is None:
        return None
    terms = scalar_terms(report.result.terms)
    capex = float(terms.capex_usd)
    start = {
        "cumulative_usd": -capex,
        "discounted_cumulative_usd": -capex,
        "cash_usd": -capex + float(terms.principal_usd),
        "loan_balance_usd": float(terms.principal_usd),
        "book_value_usd": capex,
        "price_level": None,
    }
    table = report.schedule()
    columns: dict[str, tuple[float | None, ...]] = {
        name: (start.get(name, 0.0), *_finite(getattr(table, name))) for name in COLUMNS
    }
    known = report.alternative_status is not None
    other: Schedule | None = report.alternative_schedule() if known else None
    nothing = (None,) * (len(table.month) + 1)
    columns["alternative_saving_usd"] = nothing if other is None else (0.0, *_finite(other.saving_usd))
    columns["alternative_cumulative_usd"] = nothing if other is None else (-capex, *_finite(other.cumulative_usd))
    return Months(columns, known)


def _finite(values: Any) -> tuple[float | None, ...]:
    numbers = np.asarray(values, dtype=float)
    if np.isfinite(numbers).all():
        return tuple(numbers.tolist())
    return tuple(v if math.isfinite(v) else None for v in numbers.tolist())
