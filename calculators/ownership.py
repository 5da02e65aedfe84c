"""What own machines cost: capex, and a month's running cost line by line. Pure; numbers may be arrays.

Rules. Rent, depreciation and reserved power are paid whether used or not. A colocation price includes power, so
electricity and PUE are added only in an own facility. Rented machines bring their power, support and spares with them.
Reserve machines (N+1) are paid for but are not capacity.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from calculators.cashflow import annuity_usd_per_month, loan_balance_usd
from calculators.texts import said
from calculators.units import HOURS_PER_MONTH, MONTHS_PER_YEAR

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ownership:
    """Numbers that a fleet's cost depends on; per system where the name has no unit of its own.

    ``systems`` counts all machines that are paid for: running and in reserve.
    """

    acquisition: Literal["buy", "loan", "rent"]
    facility: Literal["colocation", "own"]
    systems: Array
    accelerators_per_system: Array
    hardware_usd: Array
    other_capex_usd: Array
    spares_share: Array
    residual_share: Array
    rent_usd_per_accelerator_hour: Array
    rented_hours_per_month: Array
    loan_rate: Array
    loan_months: Array
    colocation_usd_per_kw_month: Array
    electricity_usd_per_kwh: Array
    pue: Array
    power_kw: Array
    support_share_per_year: Array
    staff_fte: Array
    staff_usd_per_year: Array
    other_opex_usd_per_month: Array
    horizon_months: Array


@dataclass(frozen=True)
class CostLine:
    """One line of a month's cost. ``terms`` are the inputs that it multiplies, ``formula`` says how."""

    name: str
    usd_per_month: Array
    formula: str
    terms: tuple[str, ...]
    is_depreciation: bool = False


@dataclass(frozen=True)
class OwnershipCost:
    """Capex and the month's lines; ``running_usd_per_month`` leaves out depreciation and loan interest."""

    capex_usd: Array
    principal_usd: Array
    residual_usd: Array
    lines: tuple[CostLine, ...]
    running_usd_per_month: Array
    opex_usd_per_month: Array
    depreciation_usd_per_month: Array


def ownership_cost(own: Ownership) -> OwnershipCost:
    """Capex, residual value and monthly cost lines of a fleet.

    Capex = systems x hardware x (1 + spares) + one-off costs; nothing for hardware when rented. The residual value is
    a share of the hardware price without spares. Depreciation is straight line over the horizon down to the residual.
    A loan's interest is shown as its average over the horizon; the cash flow has it month by month.
    """
    n = own.systems
    any_system = np.where(n > 0, 1.0, 0.0)
    owned = own.acquisition != "rent"
    hardware = n * own.hardware_usd if owned else np.zeros_like(n * own.hardware_usd)
    fleet = hardware * (1.0 + own.spares_share)
    capex = fleet + own.other_capex_usd * any_system
    residual = hardware * own.residual_share
    principal = fleet if own.acquisition == "loan" else np.zeros_like(fleet)

    lines: list[CostLine] = []
    if owned:
        if own.facility == "colocation":
            lines.append(
                CostLine(
                    "Colocation, power included",
                    n * own.power_kw * own.colocation_usd_per_kw_month,
                    said("formula.colocation"),
                    ("power_kw", "colocation_usd_per_kw_month"),
                )
            )
        else:
            lines.append(
                CostLine(
                    "Electricity",
                    n * own.power_kw * own.pue * HOURS_PER_MONTH * own.electricity_usd_per_kwh,
                    said("formula.electricity"),
                    ("power_kw", "pue", "electricity_usd_per_kwh"),
                )
            )
        lines.append(
            CostLine(
                "Hardware support",
                hardware * own.support_share_per_year / MONTHS_PER_YEAR,
                said("formula.support"),
                ("hardware_usd", "support_share_per_year"),
            )
        )
    else:
        lines.append(
            CostLine(
                "Rent",
                n * own.accelerators_per_system * own.rent_usd_per_accelerator_hour * own.rented_hours_per_month,
                said("formula.rent"),
                ("accelerators_per_system", "rent_usd_per_accelerator_hour", "rented_hours_per_month"),
            )
        )
    lines.append(
        CostLine(
            "Staff",
            any_system * own.staff_fte * own.staff_usd_per_year / MONTHS_PER_YEAR,
            said("formula.staff"),
            ("staff_fte", "staff_usd_per_year"),
        )
    )
    lines.append(
        CostLine(
            "Other running costs",
            any_system * own.other_opex_usd_per_month,
            said("formula.as_given"),
            ("other_opex_usd_per_month",),
        )
    )
    running = sum((line.usd_per_month for line in lines), np.zeros(()))
    if own.acquisition == "loan":
        payment = annuity_usd_per_month(principal, own.loan_rate, own.loan_months)
        total = payment * own.loan_months - principal
        # interest is front-loaded; a horizon shorter than the loan sees only what was paid until then
        paid = np.where(own.loan_months <= own.horizon_months, total, _interest_until(own, principal))
        lines.append(
            CostLine(
                "Loan interest, mean over the horizon",
                paid / own.horizon_months,
                said("formula.interest"),
                ("loan_rate", "loan_months"),
            )
        )
    opex = sum((line.usd_per_month for line in lines), np.zeros(()))
    depreciation = (capex - residual) / own.horizon_months
    lines.append(
        CostLine(
            "Depreciation",
            depreciation,
            said("formula.depreciation"),
            ("hardware_usd", "spares_share", "other_capex_usd", "residual_share", "horizon_months"),
            is_depreciation=True,
        )
    )
    return OwnershipCost(
        capex, principal, residual, tuple(lines), np.asarray(running), np.asarray(opex), np.asarray(depreciation)
    )


def _interest_until(own: Ownership, principal: Array) -> Array:
    """Interest paid in the first ``horizon_months`` payments: payments less what the balance fell by."""
    paid = annuity_usd_per_month(principal, own.loan_rate, own.loan_months) * own.horizon_months
    left = loan_balance_usd(principal, own.loan_rate, own.loan_months, own.horizon_months)
    return np.asarray(paid - (principal - left))
