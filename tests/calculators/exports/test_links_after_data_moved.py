"""What a link showed it shows again when data/ has other figures, whichever file of data/ they stand in."""

import csv
import io
import math
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from calculators import calibration, sizing, uncertainty
from calculators.catalog import DATA, Catalog, load_catalog
from calculators.exports import cash_flow_csv_bytes, csv_bytes
from calculators.link import encode, parse
from calculators.measurements import read_csv
from calculators.report import Report, build_report
from calculators.scenario import Scenario
from calculators.views import has_moved

# Ways in which data/ moves -------------------------------------------------------------------------------------------


def scale(path: str, factor: float, names: str = "value|low|high", table: str = "") -> Callable[[Path], None]:
    """Multiplies figures of TOML files: those of the names, in the table of that name or in all."""

    def edit(data: Path) -> None:
        files = sorted(data.glob(path))
        before = [file.read_text(encoding="utf-8") for file in files]
        for file in files:
            parts = re.split(r"(?m)^(?=\[)", file.read_text(encoding="utf-8"))
            changed = [
                re.sub(
                    rf"(?m)^({names}) = ([-\d_.e]+)$",
                    lambda m: f"{m[1]} = {_like(m[2], float(m[2].replace('_', '')) * factor)}",
                    part,
                )
                if not table or part.startswith(f"[{table}]")
                else part
                for part in parts
            ]
            file.write_text("".join(changed), encoding="utf-8")
        assert [file.read_text(encoding="utf-8") for file in files] != before, path

    return edit


def _like(was: str, number: float) -> str:
    return repr(number) if "." in was or "e" in was else str(round(number))


def change(path: str, old: str, new: str) -> Callable[[Path], None]:
    """Replaces a text, which must be there."""

    def edit(data: Path) -> None:
        file = data / path
        text = file.read_text(encoding="utf-8")
        assert old in text, (path, old)
        file.write_text(text.replace(old, new), encoding="utf-8")

    return edit


def both(*edits: Callable[[Path], None]) -> Callable[[Path], None]:
    def edit(data: Path) -> None:
        for one in edits:
            one(data)

    return edit


def csv_rows(path: str, turn: Callable[[list[dict[str, str]]], list[dict[str, str]]]) -> Callable[[Path], None]:
    """Rewrites a CSV file by a function on its rows."""

    def edit(data: Path) -> None:
        file = data / path
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        rows = turn(list(csv.DictReader(lines)))
        with file.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)

    return edit


def _times(factor: float, ending: str) -> Callable[[list[dict[str, str]]], list[dict[str, str]]]:
    def turn(rows: list[dict[str, str]]) -> list[dict[str, str]]:
        for row in rows:
            for column, value in row.items():
                if column.endswith(ending) and value:
                    row[column] = repr(float(value) * factor)
        return rows

    return turn


def _other_offers(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The offers of the scenarios lose their prices and their batch tier, and cheaper ones appear."""
    kept = [row for row in rows if row["offer_id"] != "openrouter/z-ai/glm-5.2#batch"]
    alternative = next(row for row in kept if row["offer_id"] == "sail/moonshotai/kimi-k3")
    cheap = {"offer_id": "new/kimi-k3", "provider": "new", "model_id": "kimi-k3", "aliases": ""}
    cheap |= {"input_per_mtok": "0.1", "cached_input_per_mtok": "0.01", "output_per_mtok": "0.5"}
    batch = {"offer_id": "moonshotai/kimi-k3#batch", "provider": "moonshotai", "model_id": "kimi-k3", "aliases": ""}
    added = [{**alternative, **cheap}, {**alternative, **cheap, **batch, "service_tier": "batch"}]
    for row in kept:
        if row["offer_id"] in ("anthropic/claude-sonnet-4-5", "sail/moonshotai/kimi-k3"):
            row |= dict.fromkeys(("input_per_mtok", "cached_input_per_mtok", "output_per_mtok"), "")
            row |= dict.fromkeys(("cache_write_per_mtok", "cache_write_1h_per_mtok", "tiers"), "")
    return [*kept, *added]


def busier_noons(data: Path) -> None:
    """Profiles with higher peaks: what is over half of the mean counts twice as much, the sum stays."""
    file = data / "profiles.toml"

    def steeper(match: re.Match[str]) -> str:
        weights = [float(w) for w in match[1].replace("\n", " ").split(",") if w.strip()]
        if len(set(weights)) > 1:
            weights = [w**2 for w in weights]
            weights = [w * 168.0 / sum(weights) for w in weights]
        return f"weights = [{', '.join(map(repr, weights))}]"

    file.write_text(re.sub(r"weights = \[([^\]]*)\]", steeper, file.read_text(encoding="utf-8")), encoding="utf-8")


AVAILABILITY = """[[input]]
name = "availability"
distribution = "PERT"
figure = "opex.availability"
typed = "share of the rest"
"""

MOVES: dict[str, Callable[[Path], None]] = {
    "prices": csv_rows("offers.csv", _times(1.3, "_per_mtok")),
    "offers": csv_rows("offers.csv", _other_offers),
    "exchange rate": both(*(csv_rows("rates.csv", _times(1.2, name)) for name in ("usd_per_cny", "low", "high"))),
    "machines": scale("systems/*.toml", 1.1),
    "size of machines": scale("systems/*-8*.toml", 2, "accelerators|accelerators_per_node"),
    "memory": scale("accelerators/*.toml", 0.6, table="memory_usable_bytes"),
    "bandwidth": scale("accelerators/*.toml", 1.4, table="memory_bandwidth_bytes_per_s"),
    "larger models": both(
        *(scale("models/*.toml", 1.7, table=name) for name in ("weights_bytes", "routed_expert_bytes"))
    ),
    "smaller models": both(
        *(scale("models/*.toml", 0.5, table=name) for name in ("weights_bytes", "routed_expert_bytes"))
    ),
    "cache and context": both(
        scale("models/*.toml", 2, "elements_per_token"), scale("models/*.toml", 0.25, "max_context_tokens")
    ),
    "longer context": scale("models/*.toml", 4, "max_context_tokens"),
    "constants": scale("calibration.toml", 0.8, "e_bw|e_dec|e_pf", "set.constants"),
    "bands": both(scale("calibration.toml", 0.7, "low"), scale("calibration.toml", 1.5, "high")),
    "measurements": csv_rows("measurements/k3_measured.csv", lambda rows: [r for r in rows if r["isl"] != "8192"]),
    "running costs": scale("opex.toml", 1.1),
    "ranges": both(
        change("distributions.toml", "high = 1.5", "high = 3"),
        change("distributions.toml", 'distribution = "lognormal"', 'distribution = "PERT"'),
        change("distributions.toml", 'typed = "fixed"', 'typed = "scaled"'),
        change("distributions.toml", AVAILABILITY, ""),
    ),
    "hours": busier_noons,
    "release": change("release.toml", "2026-11-29", "2027-03-01"),
}

MOVES_NOTHING = ("release",)
"""Prices in force on that day, the oldest of which are the same."""

SCENARIOS: dict[str, dict[str, Any]] = {
    "default": {},
    "auto": {"system_count": "auto", "demand": "tokens", "demand_tokens_per_month": 60e9},
    "office hours": {"profile": "office-hours", "demand": "tokens", "demand_tokens_per_month": 20e9},
    "global": {"profile": "global", "demand": "requests", "demand_requests_per_month": 3e6, "system_count": 3},
    "spend": {"demand": "spend", "demand_usd_per_month": 60000.0, "cached_share": 0.5},
    "rent": {"acquisition": "rent", "rented_hours_per_month": 400, "demand": "tokens", "demand_tokens_per_month": 9e9},
    "long context": {"baseline": "anthropic/claude-sonnet-4-5", "input_tokens": 300_000},
    "batch": {"baseline": "openrouter/z-ai/glm-5.2", "batch_share": 0.5},
    "no batch tier": {"batch_share": 0.5, "baseline": "moonshotai/kimi-k3"},
    "does not fit": {"system": "hgx-b200-8"},
    "needs two": {"system": "hgx-b200-8", "system_count": "auto", "demand": "tokens", "demand_tokens_per_month": 60e9},
    "too slow": {"system": "epyc-venice-4tb"},
    "too long": {"model": "deepseek-r1-0528", "input_tokens": 300_000},
    "other model": {"model": "glm-5.2", "baseline": "openrouter/z-ai/glm-5.2", "system": "mi355x-8"},
    "bound": {"system": "rtx5090-80", "hardware_usd": 500_000},
    "seats": {"demand": "seats", "demand_seats": 900, "demand_growth_per_year": 0.3, "profile": "office-hours"},
    "loan": {"acquisition": "loan", "facility": "own", "system": "mi355x-8", "discount_rate": 0.12},
    "own test": {"measured_output_tokens_per_s": 1500.0, "system_count": 2},
    "yuan": {"baseline": "moonshot-cn/kimi-k3", "alternative": "moonshotai/kimi-k3", "licence_share": 0.1},
}


@dataclass(frozen=True)
class Moved:
    """A copy of data/ with other figures, and everything that reads it from a fixed place reading the copy."""

    data: Path

    @cached_property
    def catalog(self) -> Catalog:
        return load_catalog(self.data)

    @cached_property
    def measured(self) -> tuple[dict[str, str], ...]:
        files = sorted((self.data / "measurements").glob("*measured*.csv"))
        return tuple(row for file in files for row in read_csv(file))

    @contextmanager
    def read(self) -> Iterator[None]:
        found = calibration.load_calibration(self.data / "calibration.toml")
        rules = uncertainty.load_rules(str(self.data / "distributions.toml"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sizing, "load_calibration", lambda: found)
            patch.setattr(calibration, "measurement_rows", lambda: self.measured)
            patch.setattr(uncertainty, "load_rules", lambda: rules)
            yield


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Moved]:
    known: dict[str, Moved] = {}

    def of(name: str) -> Moved:
        if name not in known:
            folder = tmp_path_factory.mktemp("moved") / "data"
            shutil.copytree(DATA, folder)
            MOVES[name](folder)
            known[name] = Moved(folder)
        return known[name]

    return of


@dataclass(frozen=True)
class Made:
    """A report, with its figures read once."""

    report: Report = field(repr=False)

    @cached_property
    def figures(self) -> Mapping[tuple[str, str], str]:
        return figures(self.report)

    def opened(self, catalog: Catalog) -> "Made":
        """Its link, opened with other data."""
        read = parse("?" + self.report.link)
        assert read.problems == ()
        return Made(build_report(read.scenario, catalog, dict(read.pins)))

    def different(self, other: "Made") -> list[str]:
        """Names of the figures that are not the same (to nine digits) in both."""
        old, new = self.figures, other.figures
        return sorted(" ".join(name) for name in old.keys() | new.keys() if not _same(old.get(name), new.get(name)))


@pytest.fixture(scope="module")
def made() -> Callable[[str], Made]:
    """The scenarios with the data as they are."""
    known: dict[str, Made] = {}

    def of(name: str) -> Made:
        if name not in known:
            known[name] = Made(build_report(Scenario(**SCENARIOS[name]), load_catalog()))
        return known[name]

    return of


PROVENANCE = re.compile(r"link|data_release|throughput\.anchor\b.*|uncertainty\.tornado\.\d+\.(source|date|kind)")
"""Where figures come from: a link says 'the data of its day' where today's data no longer give them."""


def figures(report: Report) -> Mapping[tuple[str, str], str]:
    """All that is found out: verdict, results, costs and every month, as the files say it."""
    rows = csv.reader(io.StringIO(csv_bytes(report).decode("utf-8-sig"), newline=""))
    kept = {(r[0], r[1]): r[2] for r in rows if r[0] in ("results", "costs")}
    months = io.StringIO(cash_flow_csv_bytes(report).decode("utf-8-sig"), newline="") if has_months(report) else ()
    kept |= {("month", f"{i} {name}"): v for i, row in enumerate(csv.DictReader(months)) for name, v in row.items()}
    kept |= {("zh", str(i)): sentence for i, sentence in enumerate(report.sentences("zh"))}
    return {key: value for key, value in kept.items() if not PROVENANCE.fullmatch(key[1])}


def has_months(report: Report) -> bool:
    return report.status is not None


def _same(old: str | None, new: str | None) -> bool:
    if old == new:
        return True
    try:
        return math.isclose(float(old or ""), float(new or ""), rel_tol=1e-9, abs_tol=1e-6)
    except ValueError:
        return False


# What a link keeps ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("move", MOVES)
def test_a_link_shows_the_same_figures(moved: Callable[[str], Moved], made: Callable[[str], Made], move: str) -> None:
    untold, changed = [], []
    with moved(move).read():
        catalog = moved(move).catalog
        for name in SCENARIOS:
            before = made(name)
            after, now = before.opened(catalog), Made(build_report(before.report.scenario, catalog))
            told = has_moved(after.report, now.report)
            moved_figures = before.different(after)
            assert moved_figures == [], name
            passed_on, had = parse(after.report.link).pins, parse(before.report.link).pins
            assert dict(passed_on) == dict(had), "what is passed on is what was opened"
            if (not told or not changed) and before.different(now):
                changed.append(name)
                untold += [] if told else [name]
    assert untold == [], "the answer moved, and nobody is told"
    assert changed or move in MOVES_NOTHING, (
        "without the link's figures the answer would be the same: nothing is tested"
    )


@pytest.mark.parametrize(
    "move", ["offers", "memory", "larger models", "longer context", "constants", "ranges", "hours"]
)
def test_a_link_of_other_data_shows_its_answer_today(moved: Callable[[str], Moved], move: str) -> None:
    """The other way round: what did not fit, was too long, had no price or no range then is so still."""
    names = (
        "default",
        "office hours",
        "long context",
        "no batch tier",
        "does not fit",
        "needs two",
        "too long",
        "bound",
    )
    kinds = set()
    for name in names:
        with moved(move).read():
            # offers.csv is append only: an alternative of then that is unknown today cannot be
            scenario = Scenario(**{"alternative": "sail/moonshotai/kimi-k3", **SCENARIOS[name]})
            before = Made(build_report(scenario, moved(move).catalog))
            kinds.add((before.report.status, str(before.report.result.sizing.limited_by)))
            assert before.figures
        moved_figures = before.different(before.opened(load_catalog()))
        assert moved_figures == [], name
    assert len(kinds) > 1, "paybacks and what has none"


def test_a_link_from_before_the_sizing_was_in_it_keeps_its_money_and_throughput(moved: Callable[[str], Moved]) -> None:
    before = build_report(Scenario(system_count="auto", demand="tokens", demand_tokens_per_month=60e9), load_catalog())
    numbers = {name: value for name, value in parse("?" + before.link).pins if isinstance(value, float)}
    old = {**numbers, "output_tokens_per_s": float(before.result.sizing.output_tokens_per_s)}
    read = parse(encode(before.scenario, "2026-06-01", {**old, "alternative": "sail/moonshotai/kimi-k3"}))
    assert read.problems == ()
    for move in ("machines", "constants", "running costs"):
        with moved(move).read():
            after = build_report(read.scenario, moved(move).catalog, dict(read.pins))
            assert after.days == pytest.approx(before.days, rel=1e-9)
            assert after.band == before.band
            assert parse(after.link).problems == ()
