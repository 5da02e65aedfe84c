"""What a link showed it shows again when data/ has other figures: the CSV of both is the same but for named rows."""

import csv
import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calculators.catalog import DATA, Catalog, load_catalog
from calculators.exports import csv_bytes
from calculators.link import parse
from calculators.report import build_report
from calculators.scenario import Scenario


def prices_times(factor: float) -> Callable[[Path], None]:
    def edit(data: Path) -> None:
        file = data / "offers.csv"
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        rows = list(csv.DictReader(lines))
        for row in rows:
            for column, value in row.items():
                if column.endswith("_per_mtok") and value:
                    row[column] = repr(float(value) * factor)
        with file.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)

    return edit


def cheaper_machine(data: Path) -> None:
    file = data / "systems" / "hgx-b300-8.toml"
    text = file.read_text(encoding="utf-8")
    assert "value = 600_000" in text
    assert "value = 14.5" in text
    file.write_text(text.replace("value = 600_000", "value = 580_000").replace("value = 14.5", "value = 15.0"))


def dearer_running(data: Path) -> None:
    file = data / "opex.toml"
    text = file.read_text(encoding="utf-8")
    assert "value = 195.94" in text
    file.write_text(text.replace("value = 195.94", "value = 215.0"))


MOVES: dict[str, Callable[[Path], None]] = {
    "prices": prices_times(1.3),
    "machine": cheaper_machine,
    "running costs": dearer_running,
}
SCENARIOS: dict[str, dict[str, Any]] = {
    "default": {},
    "auto": {"system_count": "auto", "demand": "tokens", "demand_tokens_per_month": 60e9},
    "office hours": {"profile": "office-hours", "demand": "tokens", "demand_tokens_per_month": 20e9},
    "spend": {"demand": "spend", "demand_usd_per_month": 60000.0, "cached_share": 0.5},
    "rent": {"acquisition": "rent"},
    "long context": {"baseline": "anthropic/claude-sonnet-4-5", "input_tokens": 300_000},
    "batch": {"baseline": "openrouter/z-ai/glm-5.2", "batch_share": 0.5},
}


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Catalog]:
    found = {}
    for name, edit in MOVES.items():
        folder = tmp_path_factory.mktemp("moved") / "data"
        shutil.copytree(DATA, folder)
        edit(folder)
        found[name] = load_catalog(folder)
    return found


def figures(data: bytes) -> dict[tuple[str, str], str]:
    """Values of results, costs and months. The band is drawn around today's low and high figures, so it may move."""
    rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    kept = {(r[0], r[1]): r[2] for r in rows if r[0] in ("results", "costs", "cash_flow")}
    free = ("uncertainty.", "verdict", "link", "data_release", "payback.reason", "alternative_payback.reason")
    return {key: value for key, value in kept.items() if not key[1].startswith(free)}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_link_shows_the_same_figures(moved: dict[str, Catalog], name: str, move: str) -> None:
    before = build_report(Scenario(**SCENARIOS[name]), load_catalog())
    read = parse(before.link)
    assert read.problems == ()
    after = build_report(read.scenario, moved[move], dict(read.pins))
    old, new = figures(csv_bytes(before)), figures(csv_bytes(after))
    assert old.keys() == new.keys()
    for key, value in old.items():
        try:
            number = float(value)
        except ValueError:
            assert new[key] == value, key
        else:
            assert float(new[key]) == pytest.approx(number, rel=1e-9, abs=1e-6), key


@pytest.mark.parametrize("move", MOVES)
def test_without_its_figures_it_would_not(moved: dict[str, Catalog], move: str) -> None:
    scenario = Scenario()
    assert build_report(scenario, moved[move]).days != build_report(scenario, load_catalog()).days
