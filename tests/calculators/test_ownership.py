"""What own machines cost, line by line, worked by hand."""

from typing import Any

import numpy as np
import pytest

from calculators.ownership import Ownership, OwnershipCost, ownership_cost

BASE: dict[str, Any] = {
    "systems": 1.0,
    "accelerators_per_system": 8.0,
    "hardware_usd": 600_000.0,
    "other_capex_usd": 0.0,
    "spares_share": 0.05,
    "residual_share": 0.17,
    "rent_usd_per_accelerator_hour": 4.25,
    "rented_hours_per_month": 730.0,
    "loan_rate": 0.13,
    "loan_months": 36.0,
    "colocation_usd_per_kw_month": 200.0,
    "electricity_usd_per_kwh": 0.10,
    "pue": 1.5,
    "power_kw": 14.0,
    "support_share_per_year": 0.05,
    "staff_fte": 0.25,
    "staff_usd_per_year": 300_000.0,
    "other_opex_usd_per_month": 100.0,
    "horizon_months": 48.0,
}


def cost(acquisition: str = "buy", facility: str = "colocation", **changes: Any) -> OwnershipCost:
    numbers = {name: np.asarray(value, dtype=float) for name, value in {**BASE, **changes}.items()}
    return ownership_cost(Ownership(acquisition=acquisition, facility=facility, **numbers))  # type: ignore[arg-type]


def lines(found: OwnershipCost) -> dict[str, float]:
    return {line.name: float(line.usd_per_month) for line in found.lines}


def test_buying_one_machine_in_colocation() -> None:
    found = cost()
    # 600,000 x 1.05 = 630,000; residual 600,000 x 0.17 = 102,000: spares are worth nothing at the end
    assert found.capex_usd == pytest.approx(630_000)
    assert found.residual_usd == pytest.approx(102_000)
    assert found.principal_usd == 0
    assert lines(found) == pytest.approx(
        {
            "Colocation, power included": 14 * 200,
            "Hardware support": 600_000 * 0.05 / 12,  # 2,500
            "Staff": 0.25 * 300_000 / 12,  # 6,250
            "Other running costs": 100,
            "Depreciation": (630_000 - 102_000) / 48,  # 11,000
        }
    )
    # 2,800 + 2,500 + 6,250 + 100 = 11,650
    assert found.running_usd_per_month == pytest.approx(11_650)
    assert found.opex_usd_per_month == pytest.approx(11_650)
    assert found.depreciation_usd_per_month == pytest.approx(11_000)


def test_own_facility_pays_electricity_times_pue_and_no_colocation() -> None:
    found = lines(cost(facility="own"))
    # 14 kW x 1.5 x 730 h x 0.10 = 1,533
    assert found["Electricity"] == pytest.approx(1533)
    assert "Colocation, power included" not in found


def test_colocation_includes_power() -> None:
    dear = cost(electricity_usd_per_kwh=10, pue=5)
    assert lines(dear) == lines(cost())


def test_rent_is_the_hours_that_are_reserved() -> None:
    found = cost("rent", staff_fte=0, other_opex_usd_per_month=0)
    # 8 x 4.25 x 730 = 24,820
    assert lines(found) == {"Rent": 24_820, "Staff": 0, "Other running costs": 0, "Depreciation": 0}
    assert found.capex_usd == 0
    assert found.residual_usd == 0
    # weekdays, twelve hours: 8 x 4.25 x 264 = 8,976
    assert lines(cost("rent", rented_hours_per_month=264))["Rent"] == pytest.approx(8976)
    assert lines(cost("rent", rented_hours_per_month=0))["Rent"] == 0


def test_renting_still_pays_one_off_costs() -> None:
    found = cost("rent", other_capex_usd=48_000)
    # written off over 48 months
    assert found.capex_usd == 48_000
    assert found.depreciation_usd_per_month == 1000


@pytest.mark.parametrize(("count", "factor"), [(0, 0), (1, 1), (7, 7), (10_000, 10_000)])
def test_machines_scale_and_staff_does_not(count: int, factor: int) -> None:
    found = cost(systems=count, other_capex_usd=10_000)
    assert found.capex_usd == pytest.approx(630_000 * factor + (10_000 if count else 0))
    shown = lines(found)
    assert shown["Colocation, power included"] == pytest.approx(2800 * factor)
    assert shown["Hardware support"] == pytest.approx(2500 * factor)
    # a team runs one machine or many; without a machine there is no team
    assert shown["Staff"] == (6250 if count else 0)


def test_no_machine_costs_nothing() -> None:
    for acquisition in ("buy", "loan", "rent"):
        found = cost(acquisition, systems=0, other_capex_usd=5000)
        assert set(lines(found).values()) == {0.0}
        assert found.capex_usd == 0


def test_loan_interest_is_a_line_and_not_in_the_running_cost() -> None:
    found = cost("loan", spares_share=0)
    # 20,216.4 x 36 - 600,000 = 127,790 of interest over a horizon of 48 months = 2,662 a month
    i = 0.13 / 12
    payment = 600_000 * i / (1 - (1 + i) ** -36)
    interest = (payment * 36 - 600_000) / 48
    assert round(payment) == 20_216
    assert lines(found)["Loan interest, mean over the horizon"] == pytest.approx(interest, rel=1e-9)
    assert interest == pytest.approx(2662, abs=1)
    assert found.principal_usd == 600_000
    assert found.running_usd_per_month == pytest.approx(11_650)
    assert found.opex_usd_per_month == pytest.approx(11_650 + interest)


def test_loan_longer_than_the_horizon_shows_only_interest_paid_by_then() -> None:
    found = cost("loan", loan_months=60, horizon_months=12)
    i, balance, paid = 0.13 / 12, 630_000.0, 0.0
    payment = balance * i / (1 - (1 + i) ** -60)
    for _ in range(12):
        paid += balance * i
        balance = balance * (1 + i) - payment
    assert lines(found)["Loan interest, mean over the horizon"] == pytest.approx(paid / 12, rel=1e-9)


def test_loan_at_no_rate_has_no_interest() -> None:
    for months in (12, 48, 120):
        found = cost("loan", loan_rate=0, loan_months=months)
        assert lines(found)["Loan interest, mean over the horizon"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("residual", "depreciation"), [(0, 630_000 / 48), (1, 30_000 / 48)])
def test_residual_of_nothing_and_of_everything(residual: float, depreciation: float) -> None:
    # with the whole price left at the end only the spares are written off: 30,000 / 48 = 625 a month
    assert cost(residual_share=residual).depreciation_usd_per_month == pytest.approx(depreciation)


@pytest.mark.parametrize("acquisition", ["buy", "loan", "rent"])
@pytest.mark.parametrize("facility", ["colocation", "own"])
def test_lines_sum_to_the_totals(acquisition: str, facility: str) -> None:
    found = cost(acquisition, facility, systems=3, other_capex_usd=12_000)
    total = sum(lines(found).values())
    assert total == pytest.approx(float(found.opex_usd_per_month + found.depreciation_usd_per_month), rel=1e-12)
    without = [line for line in found.lines if not line.is_depreciation and "interest" not in line.name]
    assert sum(float(line.usd_per_month) for line in without) == pytest.approx(float(found.running_usd_per_month))
    assert [line.name for line in found.lines if line.is_depreciation] == ["Depreciation"]
    for line in found.lines:
        assert line.formula
        assert line.terms
        assert float(line.usd_per_month) >= 0


def test_two_axes_broadcast() -> None:
    count, price = np.array([0.0, 1.0, 5.0])[:, None], np.array([0.0, 6e5])
    found = cost("loan", systems=count, hardware_usd=price)
    assert np.shape(found.capex_usd) == (3, 2)
    for i in range(3):
        for j in range(2):
            alone = cost("loan", systems=count[i, 0], hardware_usd=price[j])
            assert found.capex_usd[i, j] == pytest.approx(float(alone.capex_usd))
            for together, one in zip(found.lines, alone.lines, strict=True):
                shown = np.broadcast_to(together.usd_per_month, (3, 2))[i, j]
                assert shown == pytest.approx(float(one.usd_per_month)), one.name
