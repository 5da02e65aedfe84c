"""Two to four scenarios side by side: the inputs in which they differ, and their results. Pure.

Each scenario is a link (its own problems and pinned figures are kept) or a finished report. A scenario that cannot be
resolved keeps its place and says why, so that one bad link does not hide the others.
"""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from calculators.catalog import Catalog
from calculators.link import parse
from calculators.report import Report, build_report, to_json, unit_of
from calculators.resolve import UnresolvedError, check_ids, pins_of_known
from calculators.scenario import SPECS, Problem, Scenario
from calculators.texts import said

LEAST: Final = 2
MOST: Final = 4

Value = str | float | int | bool | None

RESULTS: Final[tuple[tuple[str, str], ...]] = (
    ("payback.status", "Outcome"),
    ("payback.days", "Payback"),
    ("payback.discounted_days", "Discounted payback"),
    ("payback.saving_usd_per_month", "Saving a month"),
    ("payback.npv_usd", "Net present value"),
    ("payback.irr_per_year", "Internal rate of return"),
    ("alternative_payback.status", "Outcome against the alternative"),
    ("alternative_payback.days", "Payback against the alternative"),
    ("alternative_payback.npv_usd", "Net present value against the alternative"),
    ("uncertainty.probability_pays_back", "Probability of paying back"),
    ("memory.fits", "Fits the memory"),
    ("throughput.evidence", "Evidence of the throughput"),
    ("throughput.output_tokens_per_s", "Output throughput"),
    ("capacity.tokens_per_month", "Capacity"),
    ("served.tokens_per_month", "Served by own machines"),
    ("served.utilization", "Used share of the capacity"),
    ("served.overflow_tokens_per_month", "Left at the API"),
    ("served.system_count", "Machines"),
    ("serverless.baseline.usd_per_month", "API bill today"),
    ("serverless.baseline.usd_per_mtok", "API price today"),
    ("serverless.alternative.offer", "Alternative offer"),
    ("serverless.alternative.usd_per_month", "Bill at the alternative"),
    ("self_host.capex_usd", "Capex"),
    ("self_host.opex_usd_per_month", "Opex"),
    ("self_host.usd_per_month", "Own machines a month, all in"),
    ("self_host.usd_per_mtok", "Own machines, per million tokens"),
    ("break_even.api_usd_per_month", "Break-even API spend"),
    ("break_even.tokens_per_month", "Break-even volume"),
    ("break_even.utilization", "Break-even utilization"),
    ("break_even.hardware_usd", "Break-even hardware price"),
)
"""Results that are compared: path in the JSON of a report, and a title."""

LOWER_IS_BETTER: Final = frozenset(
    {
        "payback.days",
        "payback.discounted_days",
        "alternative_payback.days",
        "self_host.capex_usd",
        "self_host.opex_usd_per_month",
        "self_host.usd_per_month",
        "self_host.usd_per_mtok",
        "break_even.api_usd_per_month",
        "break_even.tokens_per_month",
        "break_even.utilization",
    }
)
HIGHER_IS_BETTER: Final = frozenset(
    {
        "payback.saving_usd_per_month",
        "payback.npv_usd",
        "payback.irr_per_year",
        "alternative_payback.npv_usd",
        "uncertainty.probability_pays_back",
        "capacity.tokens_per_month",
        "break_even.hardware_usd",
    }
)


class CompareError(ValueError):
    """Too few or too many scenarios; ``message`` is one sentence."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Side:
    """One scenario of a comparison; ``report`` is None where it could not be resolved (then a problem says why)."""

    label: str
    scenario: Scenario
    report: Report | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class CompareRow:
    """One input or result of all scenarios. ``best`` indexes the better ones, empty where none is (or all are)."""

    field: str
    title: str
    unit: str
    values: tuple[Value, ...]
    best: tuple[int, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Scenarios side by side: what they differ in and what comes of it."""

    sides: tuple[Side, ...]
    inputs: tuple[CompareRow, ...]
    results: tuple[CompareRow, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """A short name of each scenario, all different."""
        return tuple(side.label for side in self.sides)


def compare(items: Sequence[str | Report], catalog: Catalog, today: dt.date | None = None) -> Comparison:
    """Compare two to four scenarios.

    Args:
        items: links (with or without host) or reports, in any mixture.
        catalog: the records of data/; a link's pinned figures go before them.
        today: day of the reader, for warnings of old prices.

    Returns:
        Inputs that differ (fields of the scenario, then catalogue figures such as prices), with the value that was
        used; None where a scenario has none. Results of all; None = not known, or the scenario could not be resolved.

    Raises:
        CompareError: fewer than two or more than four.
    """
    if not LEAST <= len(items) <= MOST:
        raise CompareError(said("problem.scenario_count", n=len(items), least=LEAST, most=MOST))
    sides = [_side(item, catalog, today) for item in items]
    names = _labels(sides)
    sides = [Side(name, s.scenario, s.report, s.problems) for name, s in zip(names, sides, strict=True)]
    return Comparison(tuple(sides), tuple(_inputs(sides)), tuple(_results(sides)))


def _side(item: str | Report, catalog: Catalog, today: dt.date | None) -> Side:
    if isinstance(item, Report):
        return Side("", item.scenario, item, ())
    parsed = parse(item)
    scenario, more = check_ids(parsed.scenario, catalog)
    problems = (*parsed.problems, *more)
    try:
        pins = pins_of_known(dict(parsed.pins), parsed.scenario, more)
        report = build_report(scenario, catalog, pins, today)
    except UnresolvedError as error:
        return Side("", scenario, None, (*problems, error.problem))
    return Side("", scenario, report, problems)


def _labels(sides: Sequence[Side]) -> list[str]:
    """Titles, or 'Scenario 1'; a title that occurs twice gets its number."""
    titles = [side.scenario.title or said("problem.scenario_n", n=index) for index, side in enumerate(sides, 1)]
    return [f"{t} ({k})" if titles.count(t) > 1 else t for k, t in enumerate(titles, 1)]


def _inputs(sides: Sequence[Side]) -> list[CompareRow]:
    """What differs: the fields as they were used, then figures that are no field, such as the prices of the offers."""
    rows = []
    used = [{} if s.report is None else {u.name: u for u in s.report.resolved.used} for s in sides]

    def shown(index: int, name: str) -> Value:
        chosen: Value = getattr(sides[index].scenario, name)
        figure = used[index].get(name)
        return figure.value if chosen is None and figure is not None else chosen

    def add(name: str, title: str, unit: str, values: tuple[Value, ...]) -> None:
        known = [value if value != "" else None for value in values]
        if any(value != known[0] for value in known[1:]):
            rows.append(CompareRow(name, title, unit, tuple(known)))

    for name, spec in SPECS.items():
        if name != "title":
            add(name, spec.title, spec.unit, tuple(shown(index, name) for index in range(len(sides))))
    names = dict.fromkeys(name for figures in used for name in figures if name not in SPECS)
    for name in names:
        first = next(figures[name] for figures in used if name in figures)
        values = tuple(figures[name].value if name in figures else None for figures in used)
        add(name, first.title, first.unit, values)
    return rows


def _results(sides: Sequence[Side]) -> list[CompareRow]:
    data = [None if side.report is None else to_json(side.report) for side in sides]
    rows = []
    for path, title in RESULTS:
        values = tuple(_at(d, path) for d in data)
        unit = "" if all(isinstance(v, str | bool) or v is None for v in values) else unit_of(path.rsplit(".", 1)[-1])
        ranked = tuple(_never_is_last(d, path, v) for d, v in zip(data, values, strict=True))
        rows.append(CompareRow(path, title, unit, values, _best(path, ranked)))
    return rows


def _at(data: Mapping[str, Any] | None, path: str) -> Value:
    found: Any = data
    for key in path.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return None if isinstance(found, Mapping | list) else found


def _never_is_last(data: Mapping[str, Any] | None, path: str, value: Value) -> Value:
    """The value for ranking: a payback that never comes is later than any other, an unknown one is not ranked."""
    part, _, key = path.partition(".")
    never = key == "days" and _at(data, f"{part}.status") == "never"
    return math.inf if never else value


def _best(path: str, values: Sequence[Value]) -> tuple[int, ...]:
    """Indices of the better values; empty where the result has no better end or those that are known do not differ."""
    if path not in LOWER_IS_BETTER and path not in HIGHER_IS_BETTER:
        return ()
    known = {k: float(v) for k, v in enumerate(values) if v is not None and not isinstance(v, str)}
    if len(set(known.values())) < LEAST:
        return ()
    best = min(known.values()) if path in LOWER_IS_BETTER else max(known.values())
    return tuple(k for k, v in known.items() if v == best)
