"""The report as an Excel workbook whose results are formulas on its input cells.

Sheets: Inputs, Result, Cash flow, Costs, Sources (and Hours where the week is not flat). A controller changes a blue
cell of Inputs and costs, months, payback, NPV and IRR follow; each formula is that of `ownership`, `cashflow` and
`evaluate`, written with named cells. Each formula also carries the app's own value, so that a viewer that does not
recalculate shows the figures of the page. Not live, because they come from the sizing model and not from arithmetic:
the requests per second of the operating point and the price tier of a long-context request; both are input cells.
"""

import datetime as dt
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
import xlsxwriter  # type: ignore[import-untyped]
from xlsxwriter.format import Format  # type: ignore[import-untyped]
from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]

from calculators.cashflow import NEVER_MONTHS, FlowTerms, annuity_usd_per_month, schedule
from calculators.numbers import three_digits
from calculators.ownership import CostLine
from calculators.report import Report, line_formula, line_source, number, scalar_terms, to_json
from calculators.resolve import Used
from calculators.scenario import AMOUNT_OF, SPECS
from calculators.serverless import PriceNow, TierNow
from calculators.texts import said
from calculators.units import (
    HOURS_PER_MONTH,
    HOURS_PER_WEEK,
    MONTHS_PER_YEAR,
    SECONDS_PER_MONTH,
    TOKENS_PER_MTOK,
)

UNKNOWN: Final = "unknown"
NEVER: Final = "never"
NONE: Final = "none"

Value = float | int | str | None

PRICES: Final = ("input", "cached_input", "cache_write", "output")
_FIRST_MONTH_ROW: Final = 4
"""Row (from 0) of month 0 on the cash-flow sheet."""

_MONTHS: Final = NEVER_MONTHS
"""Months that the sheet computes: a payback is looked for as far as the app looks."""

_DAYS_PER_MONTH: Final = "365/12"
_RUNNING: Final = ("Licence fee", "Loan interest, mean over the horizon", "Depreciation")
"""Cost lines that are not part of the running cost of the cash flow."""


@dataclass(frozen=True)
class _Cell:
    """One input cell: name of the cell, its title, value and where the value is from. ``formula`` where it follows."""

    name: str
    title: str
    value: Value
    unit: str
    source: str
    date: str = ""
    kind: str = ""
    note: str = ""
    low: float | None = None
    high: float | None = None
    formula: str = ""


@dataclass(frozen=True)
class _Line:
    """One result: its cell's name, title, formula ('' = not live), the app's value and unit."""

    name: str
    title: str
    formula: str
    value: Value
    unit: str
    note: str = ""


@dataclass
class _Book:
    """The workbook while it is made, with its formats."""

    book: xlsxwriter.Workbook
    report: Report
    data: Mapping[str, Any]
    formats: dict[str, Format] = field(default_factory=dict)

    def style(self, **properties: Any) -> Format:
        """A format, made once."""
        key = repr(sorted(properties.items()))
        if key not in self.formats:
            base = {"font_name": "Calibri", "font_size": 10, "valign": "top"}
            self.formats[key] = self.book.add_format({**base, **properties})
        return self.formats[key]

    def name(self, name: str, sheet: str, row: int, column: int) -> None:
        """Name a cell."""
        self.book.define_name(name, f"='{sheet}'!${_letter(column)}${row + 1}")


def _letter(column: int) -> str:
    return chr(65 + column) if column < 26 else chr(64 + column // 26) + chr(65 + column % 26)


def _float(value: Any) -> float:
    return float(np.asarray(value, dtype=float).reshape(()))


def _known(value: Any) -> Value:
    """A number to write, or 'unknown'."""
    finite = number(value)
    return UNKNOWN if finite is None else finite


def _number_format(unit: str) -> str:
    if unit.startswith("share"):
        return "0.00%"
    if unit in ("USD", "USD/month", "USD/year"):
        return "#,##0.00"
    if unit in ("systems", "months", "people", "accelerators", "tokens/month", "tokens", "requests/month", "replicas"):
        return "#,##0"
    if unit == "days":
        return "#,##0.0"
    if unit == "USD/request":
        return "0.00000000"
    return "#,##0.00####"


# Inputs --------------------------------------------------------------------------------------------------------------


def _used_cell(report: Report, name: str, value: Value, *, find: str = "", note: str = "") -> _Cell:
    """Input cell of a scenario field, with the source of the number that was used."""
    spec = SPECS[name]
    used = report.resolved.find(find or name)
    if used is None:
        return _Cell(name, spec.title, value, spec.unit, "default of the scenario", note=note)
    return _Cell(
        name,
        spec.title,
        value,
        spec.unit,
        used.source,
        used.date,
        used.kind,
        " ".join(part for part in (note, used.note) if part),
        used.low,
        used.high,
    )


def _tier(price: PriceNow, input_tokens: float) -> PriceNow | TierNow:
    """Prices that hold for a request of this input."""
    held: PriceNow | TierNow = price
    for tier in price.tiers:
        if input_tokens > tier.above_input_tokens:
            held = tier
    return held


def _price_cells(report: Report, label: str, price: PriceNow, input_tokens: float, batch: bool) -> list[_Cell]:
    held = _tier(price, input_tokens)
    note = ""
    if isinstance(held, TierNow):
        note = f"Price of requests above {held.above_input_tokens:,.0f} input tokens; it holds for the whole request."
    elif price.tiers:
        note = (
            f"Holds up to {price.tiers[0].above_input_tokens:,.0f} input tokens a request; above, type the dearer one."
        )
    cells = []
    for kind in PRICES:
        field_name = f"{kind}_usd_per_mtok"
        used = report.resolved.find(f"{label}_{field_name}")
        title = f"{label.capitalize()} {'batch ' if batch else ''}{SPECS[field_name].title.lower()}"
        if batch or used is None:
            source = f"{price.offer_id}: {price.source} {price.source_url}".strip()
            date, about = str(price.effective_from or price.checked or ""), price.kind
        else:
            source, date, about = used.source, used.date, used.kind
        told = note
        if not batch and used is not None and used.note:
            told = f"{note} {used.note}".strip()
        value = _known(getattr(held, field_name))
        name = f"{label}_{'batch_' if batch else ''}{field_name}"
        cells.append(_Cell(name, title, value, "USD/Mtok", source, date, about, told))
    return cells


def _input_groups(report: Report, live: "_Live") -> list[tuple[str, list[_Cell]]]:
    i, scenario = report.inputs, report.scenario

    def cell(name: str, *, note: str = "", find: str = "") -> _Cell:
        return _used_cell(report, name, _known(getattr(i, name)), note=note, find=find)

    fixed = "Part of the operating point: a change here moves prices, not the throughput below. Change it in the app."
    workload = [cell("input_tokens", note=fixed), cell("output_tokens", note=fixed), cell("cached_share")]
    writes = cell("cache_write_share")
    if scenario.cache_write_share is None:
        shown = 1 if _float(i.cached_share) > 0 else 0
        told = "Follows the cached share: all new input is written as soon as any input is cached."
        writes = replace(
            writes, value=shown, formula="=IF(cached_share>0,1,0)", source="rule of the app", kind="rule", note=told
        )
    workload += [writes, cell("token_ratio", note="Also part of the operating point.")]
    if live.batch:
        workload.append(cell("batch_share"))

    demand: list[_Cell] = []
    if i.demand != "fill":
        name = AMOUNT_OF[i.demand]
        demand.append(_used_cell(report, name, _known(i.demand_amount)))
        if i.demand == "seats":
            demand += [cell("requests_per_seat_workday"), cell("workdays_per_month")]
        demand += [cell("migratable_share"), cell("demand_growth_per_year")]

    prices: list[_Cell] = []
    tokens = _float(i.input_tokens)
    for label, price, batch, ratio in (
        ("baseline", i.baseline, i.baseline_batch, 1.0),
        ("alternative", i.alternative, i.alternative_batch, _float(i.token_ratio)),
    ):
        if price is not None:
            prices += _price_cells(report, label, price, tokens * ratio, False)
            if batch is not None:
                prices += _price_cells(report, label, batch, tokens * ratio, True)
    prices += [cell("api_discount", note="Of the baseline alone."), cell("api_price_change_per_year")]

    anchor = report.result.sizing.anchor or {}
    per = "replica" if live.by_replica else "machine"
    evidence = f"evidence: {report.evidence}"
    if report.evidence != "none":
        s = report.result.sizing
        evidence += f", times {three_digits(_float(s.low_factor))} to {three_digits(_float(s.high_factor))}"
    serving = [
        _Cell(
            "requests_per_s_each",
            f"Requests per second of one {per} at the operating point",
            live.rate_each if live.rate_each is not None else UNKNOWN,
            "requests/s",
            _serving_source(report),
            str(anchor.get("date") or ""),
            report.evidence,
            f"{evidence}; from the app's sizing, not live: it does not follow tokens, cache or latency limits.",
        ),
        _Cell(
            "replica_accelerators",
            "Accelerators of one replica",
            live.devices,
            "accelerators",
            f"layout {report.result.sizing.layout}",
            kind="derived",
        ),
        cell("availability"),
        cell("utilization"),
    ]
    buying = [
        replace(cell("system_count", note="Whole machines; replicas follow."), value=_known(i.system_count)),
        cell("reserve_systems"),
        _Cell(
            "accelerators_per_system",
            "Accelerators per machine",
            _known(i.accelerators_per_system),
            "accelerators",
            report.resolved.system.name,
            kind="specification",
        ),
    ]
    owned = i.acquisition != "rent"
    names = ["hardware_usd", "spares_share", "residual_share"] if owned else []
    names += ["other_capex_usd"]
    names += [] if owned else ["rent_usd_per_accelerator_hour", "rented_hours_per_month"]
    names += ["loan_rate", "loan_months"] if i.acquisition == "loan" else []
    buying += [cell(name) for name in names]
    running = []
    if owned:
        running = ["power_kw", "support_share_per_year"]
        running += ["colocation_usd_per_kw_month"] if i.facility == "colocation" else ["electricity_usd_per_kwh", "pue"]
    running += ["staff_fte", "staff_usd_per_year", "other_opex_usd_per_month", "licence_share"]
    finance = [cell(name) for name in ("horizon_months", "discount_rate")]
    groups = [
        ("Workload of a mean request", workload),
        ("Demand", demand),
        ("API prices", prices),
        ("Serving", serving),
        ("Buying", buying),
        ("Running", [cell(name) for name in running]),
        ("Finance", finance),
    ]
    return [(title, cells) for title, cells in groups if cells]


# What can be live ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Live:
    """Which parts are known, so that their formulas have numbers to stand on."""

    rate_each: float | None
    by_replica: bool
    devices: int
    priced: bool
    alternative: bool
    batch: bool
    uneven: bool
    volume: bool
    flow: bool


def _serving_source(report: Report) -> str:
    """Where the throughput comes from."""
    if report.evidence == "user":
        return "own load test"
    if report.inputs.sizing.stated is not None:
        return said("said_source.pinned")
    return str((report.result.sizing.anchor or {}).get("source_url") or "sizing model")


def _live(report: Report) -> _Live:
    i, s = report.inputs, report.result.sizing
    devices = int(i.sizing.devices)
    measured = _float(i.measured_output_tokens_per_s)
    user = math.isfinite(measured) and measured > 0
    by_replica = not user or devices > _float(i.accelerators_per_system)
    units = _float(s.replicas) if by_replica else _float(i.system_count)
    known = bool(s.fits) and report.evidence != "none" and units > 0
    rate = _float(s.requests_per_s) * _float(i.throughput_factor)
    priced = i.baseline is not None
    volume = known and (priced or i.demand != "spend")
    return _Live(
        rate_each=rate / units if known else None,
        by_replica=by_replica,
        devices=devices,
        priced=priced,
        alternative=i.alternative is not None,
        batch=i.baseline_batch is not None or i.alternative_batch is not None,
        uneven=i.demand != "fill" and len(set(i.weights)) > 1,
        volume=volume,
        flow=known and priced and report.status is not None,
    )


# Result --------------------------------------------------------------------------------------------------------------


def _request_formula(label: str, *, ratio: bool, batch: bool, discount: bool) -> str:
    """USD of a mean request: the mix at each kind's own price."""

    def mix(prefix: str) -> str:
        per = (
            f"input_tokens*((1-cached_share)*((1-cache_write_share)*{prefix}_input_usd_per_mtok"
            f"+cache_write_share*{prefix}_cache_write_usd_per_mtok)+cached_share*{prefix}_cached_input_usd_per_mtok)"
            f"+output_tokens*{prefix}_output_usd_per_mtok"
        )
        return f"({per})" + ("*token_ratio" if ratio else "")

    cost = mix(label)
    if batch:
        cost = f"((1-batch_share)*{cost}+batch_share*{mix(f'{label}_batch')})"
    return f"={cost}" + ("*(1-api_discount)" if discount else "") + f"/{TOKENS_PER_MTOK:.0f}"


def _used_share_formula(load: str) -> str:
    """Used share of the planned capacity in an uneven week, as `profile.used_share`; load = demand / capacity."""
    x = f"({load})*week_weights"
    return f"SUMPRODUCT(week_rented*(({x}<1)*{x}+({x}>=1)))/{HOURS_PER_WEEK}"


def _served_formula(demand: str, live: _Live, fill: bool) -> str:
    """Served requests of a month (without the leading '=') for a demand in requests a month."""
    if fill:
        return "planned_requests_per_month*rented_share"
    if live.uneven:
        share = _used_share_formula(f"{demand}/planned_requests_per_month")
        return f"IF(planned_requests_per_month>0,planned_requests_per_month*{share},0)"
    return f"rented_share*MIN({demand},planned_requests_per_month)"


def _volume_lines(report: Report, live: _Live) -> list[_Line]:
    i, r = report.inputs, report.result
    fill = i.demand == "fill"
    units = "INT(system_count*accelerators_per_system/replica_accelerators)" if live.by_replica else "system_count"
    rate = _float(r.sizing.requests_per_s) * _float(i.throughput_factor)
    rented = _float(r.terms.rented_share)
    whole = {
        "tokens": "demand_tokens_per_month/(input_tokens+output_tokens)",
        "requests": "demand_requests_per_month",
        "seats": "demand_seats*requests_per_seat_workday*workdays_per_month",
        "spend": "IF(api_usd_per_request>0,demand_usd_per_month/api_usd_per_request,0)",
        "fill": "served_requests_per_month",
    }[i.demand]
    movable = "total_demand_requests_per_month*migratable_share"
    v = live.volume

    def line(name: str, title: str, formula: str, value: Any, unit: str, note: str = "") -> _Line:
        return _Line(name, title, formula if v else "", _known(value) if v else UNKNOWN, unit, note)

    rent_formula = f"=rented_hours_per_month/{HOURS_PER_MONTH:.0f}" if i.acquisition == "rent" else "=1"
    return [
        line(
            "requests_per_s", "Requests per second, all machines", f"=requests_per_s_each*{units}", rate, "requests/s"
        ),
        line(
            "planned_requests_per_month",
            "Planned requests a month while the machines are there",
            f"=requests_per_s*{SECONDS_PER_MONTH:.0f}*availability*utilization",
            r.terms.capacity_requests_per_month,
            "requests/month",
            "utilization acts here, and only here",
        ),
        _Line("rented_share", "Share of the month in which the machines are there", rent_formula, rented, "share"),
        line(
            "capacity_tokens_per_month",
            "Capacity at 100 % of the operating point",
            f"=requests_per_s*{SECONDS_PER_MONTH:.0f}*availability*rented_share*own_tokens_per_request",
            r.capacity_tokens_per_month,
            "tokens/month",
            "input + output tokens of the open model",
        ),
        _Line(
            "own_tokens_per_request",
            "Tokens of a request on own machines",
            "=(input_tokens+output_tokens)*token_ratio",
            _known(r.tokens_per_request),
            "tokens",
        ),
        line("total_demand_requests_per_month", "Demand", f"={whole}", r.demand_requests_per_month, "requests/month"),
        line(
            "served_requests_per_month",
            "Served by own machines",
            "=" + _served_formula(movable, live, fill),
            r.served_requests_per_month,
            "requests/month",
            "month 1; uneven weeks hour by hour (sheet Hours)" if live.uneven else "month 1",
        ),
        line(
            "served_tokens_per_month",
            "Served tokens",
            "=served_requests_per_month*own_tokens_per_request",
            r.served_tokens_per_month,
            "tokens/month",
        ),
        line(
            "used_share",
            "Used share of the capacity",
            "=IF(capacity_tokens_per_month>0,served_tokens_per_month/capacity_tokens_per_month,0)",
            r.used_share_of_capacity,
            "share",
        ),
        line(
            "overflow_tokens_per_month",
            "Left at the API",
            "=MAX(total_demand_requests_per_month-served_requests_per_month,0)*own_tokens_per_request",
            r.overflow_requests_per_month * r.tokens_per_request,
            "tokens/month",
        ),
    ]


def _api_lines(report: Report, live: _Live) -> list[_Line]:
    i, r = report.inputs, report.result
    lines = []
    for label, title, known, usd, month, batch in (
        ("", report.resolved.baseline.id, live.priced, r.baseline_usd_per_request, r.baseline_usd_per_month,
         i.baseline_batch),
        ("alternative_", report.resolved.alternative.id if report.resolved.alternative else "no alternative",
         live.alternative, r.alternative_usd_per_request, r.alternative_usd_per_month, i.alternative_batch),
    ):  # fmt: skip
        name = f"{label}usd_per_request" if label else "api_usd_per_request"
        formula = _request_formula(
            label.rstrip("_") or "baseline", ratio=bool(label), batch=batch is not None, discount=not label
        )
        total = name.replace("_request", "_month")
        mtok = name.replace("_request", "_mtok")
        per = _float(usd) / (_float(i.input_tokens) + _float(i.output_tokens)) * TOKENS_PER_MTOK
        lines += [
            _Line(name, f"A mean request at {title}", formula if known else "", _known(usd), "USD/request"),
            _Line(
                mtok,
                f"Million tokens at {title}",
                f"={name}/(input_tokens+output_tokens)*{TOKENS_PER_MTOK:.0f}" if known else "",
                _known(per),
                "USD/Mtok",
                "tokens as today's provider counts them",
            ),
            _Line(
                total,
                f"Whole demand at {title}",
                f"={name}*total_demand_requests_per_month" if known and live.volume else "",
                _known(month) if live.volume else UNKNOWN,
                "USD/month",
            ),
        ]
    return lines


def _own_lines(report: Report, live: _Live) -> list[_Line]:
    i, r = report.inputs, report.result
    owned = i.acquisition != "rent"
    loan = i.acquisition == "loan"
    fleet = "paid_systems*hardware_usd*(1+spares_share)" if owned else "0"
    paid = _float(i.system_count) + _float(i.reserve_systems) if _float(i.system_count) > 0 else 0.0
    payment = annuity_usd_per_month(_float(r.ownership.principal_usd), i.loan_rate, i.loan_months)
    lines = [
        _Line(
            "paid_systems",
            "Machines paid for, reserve included",
            "=IF(system_count>0,system_count+reserve_systems,0)",
            _known(paid),
            "systems",
        ),
        _Line(
            "capex_usd",
            "Capex",
            f"={fleet}+IF(system_count>0,other_capex_usd,0)",
            _known(r.ownership.capex_usd),
            "USD",
            "hardware with spares, and one-off costs" if owned else "one-off costs; the machines are rented",
        ),
        _Line(
            "residual_usd",
            "Residual value at the horizon",
            "=paid_systems*hardware_usd*residual_share" if owned else "=0",
            _known(r.ownership.residual_usd),
            "USD",
            "of the hardware without spares",
        ),
        _Line("principal_usd", "Loan", f"={fleet}" if loan else "=0", _known(r.ownership.principal_usd), "USD"),
        _Line(
            "loan_payment_usd_per_month",
            "Loan payment a month",
            "=IF(loan_rate>0,principal_usd*loan_rate/12/(1-(1+loan_rate/12)^-loan_months),principal_usd/loan_months)"
            if loan
            else "=0",
            _known(payment) if loan else 0,
            "USD/month",
        ),
        _Line("opex_usd_per_month", "Opex", "=cost_opex", _known(r.opex_usd_per_month), "USD/month", "sheet Costs"),
        _Line(
            "own_usd_per_month",
            "Own machines, depreciation included",
            "=cost_total",
            _known(r.usd_per_month),
            "USD/month",
            "sheet Costs",
        ),
        _Line(
            "own_usd_per_mtok",
            "Million served tokens on own machines",
            f'=IF(served_tokens_per_month>0,own_usd_per_month/served_tokens_per_month*{TOKENS_PER_MTOK:.0f},"{UNKNOWN}")'
            if live.volume
            else "",
            _known(r.usd_per_mtok) if live.volume else UNKNOWN,
            "USD/Mtok",
            "input + output tokens of the open model",
        ),
    ]
    return lines if not _opex_unknown(report) else [_without_formula(x) if "opex" in x.formula else x for x in lines]


def _opex_unknown(report: Report) -> bool:
    return number(report.result.opex_usd_per_month) is None


def _without_formula(line: _Line) -> _Line:
    return replace(line, formula="")


def _payback_lines(report: Report, data: Mapping[str, Any], live: _Live, grid: "_Grid") -> list[_Line]:
    lines = []
    flow_known = {"": live.flow, "alternative_": live.flow and report.alternative_status is not None}
    against = {"": "today's offer", "alternative_": "the serverless alternative"}
    for prefix, part in (("", "payback"), ("alternative_", "alternative_payback")):
        told = data[part]
        known = flow_known[prefix]
        price = f"{prefix}usd_per_request" if prefix else "api_usd_per_request"
        saving = grid.first(f"{prefix}saving")
        cross, discounted = grid.all(f"{prefix}crossing"), grid.all(f"{prefix}discounted_crossing")
        cash = grid.whole(f"{prefix}cash")
        status = f"{prefix}payback_status"
        guess = (1.0 + told["irr_per_year"]) ** (1 / MONTHS_PER_YEAR) - 1.0 if told["irr_per_year"] is not None else 0.1
        rates = "".join(f"IFERROR((1+IRR({cash},{g!r}))^12-1," for g in (guess, 0.1, 0.01, -0.02, -0.1, 0.5))
        # no return where nothing was invested: the first money that moves must go out; and none that is the only one
        # where the last month costs money (a loan that is left), since then two rates fit or none
        invested = f"OR(capex_usd>principal_usd,AND(capex_usd=principal_usd,{grid.first(f'{prefix}cash')}<0))"
        irr = f'=IF(AND({invested},INDEX({cash},horizon_months+1)>0),{rates}"{NONE}"' + ")" * 6 + f',"{NONE}")'

        def shown(value: Any, otherwise: str, known: bool = known) -> Value:
            return UNKNOWN if not known else otherwise if value is None else value

        title = against[prefix]
        new = [
            _Line(
                f"{prefix}saving_usd_per_month",
                f"Saving a month against {title}",
                f"=served_requests_per_month*{price}-opex_usd_per_month",
                shown(told["saving_usd_per_month"], UNKNOWN),
                "USD/month",
                "first month; a loan's interest at its mean",
            ),
            _Line(
                status,
                f"Outcome against {title}",
                f'=IF(OR(capex_usd>0,{saving}<0),IF(COUNT({cross})=0,"never",IF(MIN({cross})<=horizon_months,"pays_back",'
                f'"beyond_horizon")),IF({saving}>0,"immediate","never"))',
                shown(told["status"], UNKNOWN),
                "",
                "looked for up to 50 years",
            ),
            _Line(
                f"{prefix}payback_days",
                f"Payback against {title}",
                f'=IF({status}="never","{NEVER}",IF({status}="immediate",0,MIN({cross})*{_DAYS_PER_MONTH}))',
                shown(told["days"], NEVER),
                "days",
                "first time the cumulative flow is zero, interpolated inside the month",
            ),
            _Line(
                f"{prefix}discounted_payback_days",
                f"Discounted payback against {title}",
                f'=IF(OR(capex_usd>0,{saving}<0),IF(COUNT({discounted})=0,"{NEVER}",MIN({discounted})*{_DAYS_PER_MONTH}),'
                f'IF({saving}>0,0,"{NEVER}"))',
                shown(told["discounted_days"], NEVER),
                "days",
                "within the horizon",
            ),
            _Line(
                f"{prefix}npv_usd",
                f"Net present value against {title}",
                f"=SUMPRODUCT({cash},{grid.whole('discount_factor')})",
                shown(told["npv_usd"], UNKNOWN),
                "USD",
                "of the money that moves, residual value included, before tax",
            ),
            _Line(
                f"{prefix}irr_per_year",
                f"Internal rate of return against {title}",
                irr,
                shown(told["irr_per_year"], NONE),
                "share/year",
            ),
        ]
        lines += new if known else [_without_formula(x) for x in new]
    return lines


# Cash flow -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """A column of the months: title, unit, formulas for month 0 and a later month, and the app's values."""

    key: str
    title: str
    unit: str
    start: Value | str
    formula: str
    values: tuple[Value, ...]


class _Grid:
    """The months as columns of formulas; references by key."""

    def __init__(self, report: Report, live: _Live) -> None:
        self.columns: list[_Column] = []
        if live.flow:
            self._fill(report, live)
        self.index = {column.key: k for k, column in enumerate(self.columns)}

    def _ref(self, key: str, first: int, last: int) -> str:
        if key not in self.index:
            return ""
        letter = _letter(self.index[key])
        top = _FIRST_MONTH_ROW + 1
        return f"'Cash flow'!${letter}${top + first}:${letter}${top + last}"

    def all(self, key: str) -> str:
        """Months 1 to the last."""
        return self._ref(key, 1, _MONTHS)

    def whole(self, key: str) -> str:
        """Months 0 to the last."""
        return self._ref(key, 0, _MONTHS)

    def first(self, key: str) -> str:
        """Month 1."""
        return self._ref(key, 1, 1).split(":")[0]

    def _fill(self, report: Report, live: _Live) -> None:
        i, r = report.inputs, report.result
        terms = scalar_terms(r.terms)
        long = _Long(terms)
        horizon = int(terms.horizon_months)
        months = np.arange(1, _MONTHS + 1)
        inside = months <= horizon
        factor = np.where(inside, (1.0 + float(terms.discount_rate_per_year)) ** (-months / MONTHS_PER_YEAR), 0.0)
        capex, principal = float(terms.capex_usd), float(terms.principal_usd)
        residual = float(terms.residual_usd)
        loan = i.acquisition == "loan"
        fill = i.demand == "fill"
        growing = "total_demand_requests_per_month*migratable_share*(1+demand_growth_per_year)^(({month}-1)/12)"
        served = _served_formula(growing, live, fill)
        spread = (capex - residual) / horizon
        add = self._add
        add("month", "Month", "", 0, "={month_above}+1", months)
        add(
            "price_level",
            "API price level",
            "ratio",
            None,
            "=(1+api_price_change_per_year)^(({month}-1)/12)",
            long.price,
        )
        add("served", "Served", "requests", 0, f"={served}", long.served)
        add("api_value", "API value of the served", "USD", 0, "=api_usd_per_request*{price_level}*{served}", long.value)
        add("licence", "Licence", "USD", 0, "=licence_share*{api_value}", long.licence)
        add("running", "Running cost", "USD", 0, "=cost_running", long.running)
        balance = "=IF({month}>=loan_months,0,{balance_above}*(1+loan_rate/12)-loan_payment_usd_per_month)"
        interest = "={balance_above}*loan_rate/12" if loan else "=0"
        add("interest", "Interest", "USD", 0, interest, long.interest)
        add("repaid", "Loan repaid", "USD", 0, "={balance_above}-{balance}", long.repaid)
        add("balance", "Loan left", "USD", "=principal_usd", balance if loan else "=0", long.balance, principal)
        add(
            "discount_factor",
            "Discount factor",
            "ratio",
            1,
            "=IF({month}<=horizon_months,(1+discount_rate)^(-{month}/12),0)",
            factor,
        )
        self._side("", "", long, capex, principal, residual, horizon, factor, "{licence}", "{api_value}")
        add(
            "depreciation", "Depreciation", "USD", 0,
            "=IF({month}<=horizon_months,(capex_usd-residual_usd)/horizon_months,0)", np.where(inside, spread, 0.0),
        )  # fmt: skip
        book = capex - spread * np.minimum(months, horizon)
        add("book", "Book value", "USD", "=capex_usd", "={book_above}-{depreciation}", book, capex)
        if report.alternative_status is None:
            return
        other = _Long(scalar_terms(r.alternative_terms))
        value = "=alternative_usd_per_request*{price_level}*{served}"
        add("alternative_value", "API value at the alternative", "USD", 0, value, other.value)
        self._side(
            "alternative_", "Against the alternative: ", other, capex, principal, residual, horizon, factor,
            "{licence}", "{alternative_value}",
        )  # fmt: skip

    def _add(
        self, key: str, title: str, unit: str, start: Value, formula: str, values: Any, first: Value = None
    ) -> None:
        told = first if isinstance(start, str) else start
        numbers = [v if isinstance(v, str) else float(v) for v in values]
        self.columns.append(_Column(key, title, unit, start, formula, (told, *numbers)))

    def _side(
        self,
        prefix: str,
        title: str,
        long: "_Long",
        capex: float,
        principal: float,
        residual: float,
        horizon: int,
        factor: Any,
        licence: str,
        value: str,
    ) -> None:
        """Saving, cumulative flow, discounted flow, money that moves and the months in which zero is crossed."""

        def key(name: str) -> str:
            return f"{prefix}{name}"

        def titled(text: str) -> str:
            return f"{title}{text.lower()}" if title else text

        inside = np.arange(1, _MONTHS + 1) <= horizon
        discounted = np.cumsum(long.saving * factor) - capex
        cash = np.where(inside, long.saving - long.repaid, 0.0)
        cash[horizon - 1] += residual - long.balance[horizon - 1]
        shown = [v if k else "" for v, k in zip(discounted, inside, strict=True)]
        saving, cumulative, present = (f"{{{key(n)}}}" for n in ("saving", "cumulative", "discounted"))
        above, present_above = f"{{{key('cumulative')}_above}}", f"{{{key('discounted')}_above}}"
        add = self._add
        add(key("saving"), titled("Saving"), "USD", 0, f"={value}-{licence}-{{running}}-{{interest}}", long.saving)
        add(
            key("cumulative"), titled("Cumulative"), "USD", "=-capex_usd", f"={above}+{saving}", long.cumulative,
            -capex,
        )  # fmt: skip
        add(
            key("discounted"), titled("Cumulative, discounted"), "USD", "=-capex_usd",
            f'=IF({{month}}<=horizon_months,{present_above}+{saving}*{{discount_factor}},"")', shown, -capex,
        )  # fmt: skip
        add(
            key("cash"), titled("Money that moves"), "USD", "=principal_usd-capex_usd",
            f"=IF({{month}}<=horizon_months,{saving}-{{repaid}},0)"
            "+IF({month}=horizon_months,residual_usd-{balance},0)",
            cash, principal - capex,
        )  # fmt: skip
        add(
            key("crossing"), titled("Payback month"), "months", "",
            f'=IF(AND({cumulative}>=0,{above}<0),{{month}}-1-{above}/({cumulative}-{above}),"")',
            _crossings(-capex, long.cumulative),
        )  # fmt: skip
        add(
            key("discounted_crossing"), titled("Discounted payback month"), "months", "",
            f"=IF({{month}}<=horizon_months,"
            f'IF(AND({present}>=0,{present_above}<0),{{month}}-1-{present_above}/({present}-{present_above}),""),"")',
            _crossings(-capex, np.where(inside, discounted, -np.inf)),
        )  # fmt: skip


class _Long:
    """Columns of the app for as many months as the sheet has."""

    def __init__(self, terms: FlowTerms) -> None:
        table = schedule(replace(terms, horizon_months=np.asarray(float(_MONTHS))))
        self.price = np.broadcast_to(table.price_level, (_MONTHS,))
        self.served = table.served_requests
        self.value = table.api_value_usd
        self.licence = table.licence_usd
        self.running = table.running_usd
        self.interest = table.interest_usd
        self.repaid = table.principal_repaid_usd
        self.balance = table.loan_balance_usd
        self.saving = table.saving_usd
        self.cumulative = table.cumulative_usd


def _crossings(start: float, cumulative: Any) -> list[float | str]:
    """Months, with their part, in which a flow that begins at ``start`` goes from below zero to zero or above."""
    found: list[float | str] = []
    before = start
    for month, now in enumerate(cumulative):
        found.append(month - before / (now - before) if now >= 0 > before else "")
        before = now
    return found


# Sheets --------------------------------------------------------------------------------------------------------------


def _title(book: _Book, sheet: Worksheet, text: str, note: str) -> None:
    sheet.write_string(0, 0, text, book.style(bold=True, font_size=14, font_color="#17324D"))
    sheet.write_string(1, 0, note, book.style(italic=True, font_color="#5B6570"))


def _head(book: _Book, sheet: Worksheet, row: int, titles: tuple[str, ...]) -> None:
    style = book.style(bold=True, bg_color="#17324D", font_color="#FFFFFF", text_wrap=True, valign="vcenter")
    for column, title in enumerate(titles):
        sheet.write_string(row, column, title, style)


def _page(sheet: Worksheet, repeat: int) -> None:
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(repeat)
    sheet.hide_gridlines(2)


def _fit(sheet: Worksheet, row: int, *texts: tuple[str, float]) -> None:
    """Make a row high enough for its wrapped texts, given with the widths of their columns."""
    lines = max(math.ceil(len(text) / (width * 1.15)) or 1 for text, width in texts)
    if lines > 1:
        sheet.set_row(row, 13.5 * min(lines, 20))


def _put(book: _Book, sheet: Worksheet, row: int, column: int, formula: str, value: Value, style: Format) -> None:
    """A formula with the app's value, a number, or a text; never a text as a formula."""
    if formula:
        sheet.write_formula(row, column, formula, style, "" if value is None else value)
    elif isinstance(value, str):
        sheet.write_string(row, column, value, style)
    elif value is None:
        sheet.write_blank(row, column, None, style)
    else:
        sheet.write_number(row, column, value, style)


def _validate(sheet: Worksheet, row: int, name: str) -> None:
    spec = SPECS.get(name)
    if spec is None or spec.minimum is None or spec.maximum is None:
        return
    kind: Literal["integer", "decimal"] = "integer" if spec.integer else "decimal"
    message = f"From {spec.minimum:,.12g} to {spec.maximum:,.12g} {spec.unit}".strip()
    sheet.data_validation(
        row,
        1,
        row,
        1,
        {
            "validate": kind,
            "criteria": "between",
            "minimum": spec.minimum,
            "maximum": spec.maximum,
            "error_title": spec.title[:32],
            "error_message": message[:255],
        },
    )


def _inputs_sheet(book: _Book, live: _Live) -> None:
    sheet = book.book.add_worksheet("Inputs")
    report = book.report
    _title(
        book,
        sheet,
        report.scenario.title or "Inputs",
        "Change a blue cell: costs, months and results follow. Model, machine, buy or rent are choices of the app.",
    )
    _head(book, sheet, 3, ("Input", "Value", "Unit", "Low", "High", "Source", "As of", "Kind", "Note"))
    row = 4
    choices = (
        ("Model", report.resolved.model.name),
        ("Machine", report.resolved.system.name),
        ("Offer paid today", report.resolved.baseline.id),
        ("Serverless alternative", report.resolved.alternative.id if report.resolved.alternative else NONE),
        ("Buy, loan or rent", report.inputs.acquisition),
        ("Where it stands", report.inputs.facility),
        ("Demand is given as", report.inputs.demand),
        ("Hours of the week", report.scenario.profile),
    )
    group = book.style(bold=True, bg_color="#E8EDF2", font_color="#17324D")
    plain_text = book.style(text_wrap=True)

    def heading(text: str) -> None:
        for column in range(9):
            sheet.write_string(row, column, text if column == 0 else "", group)

    heading("Choices (not live)")
    for title, value in choices:
        row += 1
        sheet.write_string(row, 0, title, plain_text)
        sheet.write_string(row, 1, value, book.style(align="right", indent=1, text_wrap=True))
    for title, cells in _input_groups(report, live):
        row += 1
        heading(title)
        for cell in cells:
            row += 1
            style = book.style(
                font_color="#0B4FD6", bg_color="#FFFBE6", border=1, border_color="#D9D9D9", align="right", indent=1,
                num_format=_number_format(cell.unit),
            )  # fmt: skip
            sheet.write_string(row, 0, cell.title, plain_text)
            _put(book, sheet, row, 1, cell.formula, cell.value, style)
            book.name(cell.name, "Inputs", row, 1)
            _validate(sheet, row, cell.name)
            sheet.write_string(row, 2, cell.unit, plain_text)
            bound = book.style(num_format=_number_format(cell.unit))
            for column, limit in ((3, cell.low), (4, cell.high)):
                _put(book, sheet, row, column, "", limit, bound)
            for column, text in ((5, cell.source), (6, cell.date), (7, cell.kind), (8, cell.note)):
                sheet.write_string(row, column, text, plain_text)
            _fit(sheet, row, (cell.title, 46), (cell.source, 60), (cell.note, 70))
    for column, width in enumerate((46, 20, 20, 14, 14, 60, 12, 13, 70)):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(4, 2)
    _page(sheet, 3)


def _result_sheet(book: _Book, live: _Live, grid: _Grid) -> None:
    sheet = book.book.add_worksheet("Result")
    report = book.report
    _title(
        book, sheet, "Result", "Live: follows the blue cells of Inputs. The last but one column is what the app said."
    )
    _head(book, sheet, 3, ("Result", "Live", "Unit", "In the app", "Note"))
    wrap = book.style(text_wrap=True)
    group = book.style(bold=True, bg_color="#E8EDF2", font_color="#17324D")
    row = 3
    for title, lines in (
        ("Does it pay?", _payback_lines(report, book.data, live, grid)),
        ("Own machines", _own_lines(report, live)),
        ("API", _api_lines(report, live)),
        ("Volume", _volume_lines(report, live)),
    ):
        row += 1
        for column in range(5):
            sheet.write_string(row, column, title if column == 0 else "", group)
        for line in lines:
            row += 1
            strong = book.style(num_format=_number_format(line.unit), align="right", indent=1, bold=True)
            sheet.write_string(row, 0, line.title, wrap)
            _put(book, sheet, row, 1, line.formula, line.value, strong)
            book.name(line.name, "Result", row, 1)
            sheet.write_string(row, 2, line.unit, wrap)
            told = book.style(num_format=_number_format(line.unit), align="right", indent=1, font_color="#5B6570")
            _put(book, sheet, row, 3, "", line.value, told)
            sheet.write_string(row, 4, line.note, wrap)
            _fit(sheet, row, (line.title, 52), (line.note, 62))
    even = book.data["break_even"]
    row += 1
    for column in range(5):
        sheet.write_string(row, column, "Break-even (of the app, not live)" if column == 0 else "", group)
    for name, title, unit in (
        ("tokens_per_month", "Tokens that may move, at break-even", "tokens/month"),
        ("utilization", "Utilization at break-even", "share"),
        ("api_usd_per_month", "API spend at break-even", "USD/month"),
        ("api_usd_per_mtok", "API price at break-even", "USD/Mtok"),
        ("hardware_usd", "Price of one machine at break-even", "USD"),
    ):
        row += 1
        sheet.write_string(row, 0, title, wrap)
        style = book.style(num_format=_number_format(unit), align="right", indent=1, font_color="#5B6570")
        sheet.write_blank(row, 1, None, wrap)
        _put(book, sheet, row, 3, "", "not reachable" if even[name] is None else even[name], style)
        sheet.write_string(row, 2, unit, wrap)
    row += 1
    for title, texts in (
        ("Verdict of the app", book.data["verdict"]),
        ("What to know", book.data["warnings"]),
        ("Link that opens this scenario", [book.data["link"]]),
    ):
        row += 1
        sheet.write_string(row, 0, title, book.style(bold=True, font_color="#17324D"))
        for text in texts:
            row += 1
            sheet.merge_range(row, 0, row, 4, "", wrap)
            sheet.write_string(row, 0, text, wrap)
            _fit(sheet, row, (text, 174))
    for column, width in enumerate((52, 22, 16, 22, 62)):
        sheet.set_column(column, column, width)
    if live.flow:
        # beside the table on the screen, not on paper: there the page is as wide as the table
        sheet.insert_chart(3, 6, _chart(book, grid), {"object_position": 2, "description": _chart_text(book)})
    sheet.print_area(0, 0, row, 4)
    sheet.freeze_panes(4, 1)
    _page(sheet, 3)


def _chart(book: _Book, grid: _Grid) -> Any:
    """Cumulative cash flow over the app's horizon, both comparisons."""
    chart = book.book.add_chart({"type": "scatter", "subtype": "straight"})
    horizon = int(_float(book.report.inputs.horizon_months))
    bottom = _FIRST_MONTH_ROW + horizon
    for key, title, color in (
        ("cumulative", "against today's offer", "#17629C"),
        ("alternative_cumulative", "against the alternative", "#C4702B"),
    ):
        if key in grid.index:
            column = grid.index[key]
            chart.add_series(
                {
                    "name": title,
                    "categories": ["Cash flow", _FIRST_MONTH_ROW, 0, bottom, 0],
                    "values": ["Cash flow", _FIRST_MONTH_ROW, column, bottom, column],
                    "line": {"color": color, "width": 2},
                }
            )
    chart.set_title({"name": "Cumulative cash flow", "name_font": {"size": 12}})
    chart.set_x_axis({"name": "month", "min": 0, "max": horizon, "label_position": "low", "major_gridlines": {}})
    chart.set_y_axis({"name": "USD", "num_format": "#,##0", "major_gridlines": {"visible": True}})
    chart.set_plotarea({"fill": {"none": True}})
    chart.set_legend({"position": "bottom"})
    chart.set_size({"width": 720, "height": 400})
    return chart


def _chart_text(book: _Book) -> str:
    return f"Cumulative cash flow by month. {book.report.reason} {book.report.alternative_reason}"[:250]


def _flow_sheet(book: _Book, grid: _Grid) -> None:
    sheet = book.book.add_worksheet("Cash flow")
    report = book.report
    note = (
        "Month 0 is the start. Grey months lie beyond the horizon: they only serve to find a later payback (unfold "
        "them with the + at the left)."
    )
    _title(book, sheet, "Cash flow", note)
    if not grid.columns:
        sheet.write_string(3, 0, f"There is no cash flow to show. {report.reason}", book.style())
        sheet.set_column(0, 0, 100)
        return
    _head(book, sheet, 2, tuple(column.title for column in grid.columns))
    for column, told in enumerate(grid.columns):
        sheet.write_string(3, column, told.unit, book.style(italic=True, font_color="#5B6570", bottom=1))
    letters = {c.key: _letter(k) for k, c in enumerate(grid.columns)}
    styles = [book.style(num_format=_flow_format(c)) for c in grid.columns]
    horizon = int(_float(report.inputs.horizon_months))
    for month in range(_MONTHS + 1):
        row = _FIRST_MONTH_ROW + month
        here = {key: f"{letter}{row + 1}" for key, letter in letters.items()}
        here |= {f"{key}_above": f"{letter}{row}" for key, letter in letters.items()}
        if month > horizon:
            sheet.set_row(row, None, None, {"level": 1, "hidden": True})
        for column, (told, style) in enumerate(zip(grid.columns, styles, strict=True)):
            if month == 0:
                start = told.start if isinstance(told.start, str) else ""
                _put(book, sheet, row, column, start, told.values[0], style)
            else:
                _put(book, sheet, row, column, told.formula.format(**here), told.values[month], style)
    bottom = _FIRST_MONTH_ROW + _MONTHS
    sheet.set_row(bottom + 1, None, None, {"collapsed": True})
    sheet.conditional_format(
        _FIRST_MONTH_ROW,
        0,
        bottom,
        len(grid.columns) - 1,
        {
            "type": "formula",
            "criteria": f"=$A{_FIRST_MONTH_ROW + 1}>horizon_months",
            "format": book.book.add_format({"font_color": "#A6A6A6"}),
        },
    )
    sheet.set_column(0, 0, 8)
    sheet.set_column(1, len(grid.columns) - 1, 16)
    sheet.set_row(2, 44)
    sheet.freeze_panes(_FIRST_MONTH_ROW, 1)
    _page(sheet, 2)


def _flow_format(column: _Column) -> str:
    if column.key == "month":
        return "0"
    if column.unit == "USD":
        return "#,##0.00;[Red]-#,##0.00"
    return "0.000000" if column.unit == "ratio" else "#,##0.00"


def _cost_formula(line: CostLine) -> str:
    """The formula of a cost line on the input cells; '' where there is none."""
    rented = "paid_systems*accelerators_per_system*rent_usd_per_accelerator_hour*rented_hours_per_month"
    power = f"paid_systems*power_kw*pue*{HOURS_PER_MONTH:.0f}*electricity_usd_per_kwh"
    formulas = {
        "Colocation, power included": "paid_systems*power_kw*colocation_usd_per_kw_month",
        "Electricity": power,
        "Hardware support": "paid_systems*hardware_usd*support_share_per_year/12",
        "Rent": rented,
        "Staff": "IF(system_count>0,staff_fte*staff_usd_per_year/12,0)",
        "Other running costs": "IF(system_count>0,other_opex_usd_per_month,0)",
        "Depreciation": "(capex_usd-residual_usd)/horizon_months",
        "Loan interest, mean over the horizon": _interest_formula(),
    }
    found = formulas.get(line.name)
    return "" if found is None else f"={found}"


def _interest_formula() -> str:
    """Interest of the payments within the horizon, a month: what is paid less what the balance falls by."""
    n = "MIN(loan_months,horizon_months)"
    # balance after n payments: P (1+i)^n - A ((1+i)^n - 1) / i
    growth = f"(1+loan_rate/12)^{n}"
    left = f"(principal_usd*{growth}-loan_payment_usd_per_month*({growth}-1)/(loan_rate/12))"
    return f"IF(loan_rate>0,({n}*loan_payment_usd_per_month-(principal_usd-{left}))/horizon_months,0)"


def _costs_sheet(book: _Book, live: _Live) -> None:
    sheet = book.book.add_worksheet("Costs")
    report = book.report
    _title(
        book, sheet, "Costs of a month", "Live. Rent, power and staff are paid whether the machines are used or not."
    )
    _head(book, sheet, 3, ("Cost line", "Live", "Unit", "In the app", "Formula", "Source"))
    wrap = book.style(text_wrap=True)
    money = _number_format("USD/month")
    row = 3
    refs: dict[str, str] = {}

    def write(name: str, formula: str, value: Value, words: str, source: str, *, bold: bool = False) -> None:
        nonlocal row
        row += 1
        extra = {"bold": True, "top": 1} if bold else {}
        sheet.write_string(row, 0, name, book.style(text_wrap=True, **extra))
        _put(book, sheet, row, 1, formula, value, book.style(num_format=money, align="right", indent=1, **extra))
        sheet.write_string(row, 2, "USD/month", wrap)
        told = book.style(num_format=money, align="right", indent=1, font_color="#5B6570", **extra)
        _put(book, sheet, row, 3, "", value, told)
        sheet.write_string(row, 4, words, wrap)
        sheet.write_string(row, 5, source, wrap)
        _fit(sheet, row, (name, 38), (words, 70), (source, 80))
        refs[name] = f"B{row + 1}"

    lines = report.result.ownership.lines
    for line in (x for x in lines if x.name not in _RUNNING):
        formula = _cost_formula(line)
        write(line.name, formula, _known(line.usd_per_month), line_formula(line, report), line_source(line, report))
    running = "=" + "+".join(refs.values())
    write("Running cost", running, _known(report.result.ownership.running_usd_per_month), "sum", "", bold=True)
    book.name("cost_running", "Costs", row, 1)
    opex = [refs["Running cost"]]
    for line in (x for x in lines if x.name in _RUNNING and not x.is_depreciation):
        formula = _cost_formula(line)
        write(line.name, formula, _known(line.usd_per_month), line_formula(line, report), line_source(line, report))
        opex.append(refs[line.name])
    known = live.priced and live.volume
    licence = "=licence_share*api_usd_per_request*served_requests_per_month" if known else ""
    words = "licence share x API value of the served tokens"
    value = _known(report.result.licence_usd_per_month)
    write("Licence fee", licence, value, words, "Licence share: typed in" if value else "")
    if not isinstance(value, str):
        opex.append(refs["Licence fee"])
    unknown = _opex_unknown(report)
    write(
        "Opex", "" if unknown else "=" + "+".join(opex), _known(report.result.opex_usd_per_month), "sum", "", bold=True
    )
    book.name("cost_opex", "Costs", row, 1)
    for line in (x for x in lines if x.is_depreciation):
        formula = _cost_formula(line)
        write(line.name, formula, _known(line.usd_per_month), line_formula(line, report), line_source(line, report))
    total = "" if unknown else f"={refs['Opex']}+{refs['Depreciation']}"
    write("Own machines, all in", total, _known(report.result.usd_per_month), "sum", "", bold=True)
    book.name("cost_total", "Costs", row, 1)
    for column, width in enumerate((38, 18, 12, 18, 70, 80)):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(4, 1)
    _page(sheet, 3)


def _sources_sheet(book: _Book) -> None:
    sheet = book.book.add_worksheet("Sources")
    report = book.report
    _title(book, sheet, "Sources", f"Every number that went in. Data of {report.release}.")
    _head(book, sheet, 3, ("Figure", "Value", "Unit", "Low", "High", "Kind", "Source", "As of", "From", "Note"))
    wrap = book.style(text_wrap=True)
    rows: list[Used] = sorted(report.resolved.used, key=lambda u: u.origin == "scenario")
    anchor = report.result.sizing.anchor
    row = 3
    for used in rows:
        row += 1
        style = book.style(num_format="#,##0.######", align="right", indent=1)
        sheet.write_string(row, 0, used.title, wrap)
        value: Value = used.value if isinstance(used.value, str) else _known(used.value)
        _put(book, sheet, row, 1, "", value, style)
        sheet.write_string(row, 2, used.unit, wrap)
        _put(book, sheet, row, 3, "", used.low, style)
        _put(book, sheet, row, 4, "", used.high, style)
        for column, text in enumerate((used.kind, used.source, used.date, used.origin, used.note), 5):
            sheet.write_string(row, column, text, wrap)
        _fit(sheet, row, (used.title, 36), (used.source, 70), (used.note, 70))
    if anchor:
        row += 1
        about = (report.evidence, str(anchor.get("source_url") or ""), str(anchor.get("date") or ""), "measurement")
        cells = ("Throughput", "", "requests/s", "", "", *about, f"nearest measured point {anchor.get('id', '')}")
        for column, text in enumerate(cells):
            sheet.write_string(row, column, text, wrap)
        _put(book, sheet, row, 1, "", _known(report.result.sizing.requests_per_s), book.style(align="right", indent=1))
    for column, width in enumerate((36, 20, 20, 12, 12, 14, 70, 12, 14, 70)):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(4, 1)
    sheet.autofilter(3, 0, row, 9)
    _page(sheet, 3)


def _hours_sheet(book: _Book) -> None:
    """Hours of the week, the busiest first: weight, and the part of the hour in which the machines are there."""
    sheet = book.book.add_worksheet("Hours")
    note = (
        "Demand of each hour of the week relative to the mean hour, busiest first; own machines take up to their plan."
    )
    _title(book, sheet, "Hours of the week", note)
    _head(book, sheet, 3, ("Rank", "Weight", "There, part of the hour"))
    weights = sorted(book.report.inputs.weights, reverse=True)
    rented = _float(book.report.result.terms.rented_share)
    style = book.style(num_format="0.000000", font_color="#0B4FD6")
    for rank, weight in enumerate(weights, 1):
        row = 3 + rank
        sheet.write_number(row, 0, rank, book.style())
        sheet.write_number(row, 1, weight, style)
        part = min(max(rented * HOURS_PER_WEEK - (rank - 1), 0.0), 1.0)
        formula = f"=MAX(0,MIN(1,rented_share*{HOURS_PER_WEEK}-(A{row + 1}-1)))"
        sheet.write_formula(row, 2, formula, book.style(num_format="0.000000"), part)
    for name, letter in (("week_weights", "B"), ("week_rented", "C")):
        book.book.define_name(name, f"=Hours!${letter}$5:${letter}${4 + HOURS_PER_WEEK}")
    sheet.set_column(0, 2, 24)
    sheet.freeze_panes(4, 0)
    _page(sheet, 3)


def workbook_bytes(report: Report) -> bytes:
    """The workbook of a report, with formulas and the app's values; no macros and no links to outside."""
    out = io.BytesIO()
    made = xlsxwriter.Workbook(
        out,
        {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False},
    )
    day = dt.datetime.combine(report.resolved.as_of, dt.time())
    made.set_properties({"title": report.scenario.title or "Self-hosting report", "created": day})
    made.set_calc_mode("auto")
    book = _Book(made, report, to_json(report))
    live = _live(report)
    grid = _Grid(report, live)
    _inputs_sheet(book, live)
    _result_sheet(book, live, grid)
    _flow_sheet(book, grid)
    _costs_sheet(book, live)
    _sources_sheet(book)
    if live.uneven:
        _hours_sheet(book)
    made.close()
    return out.getvalue()
