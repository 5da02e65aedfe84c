"""What other parts, people and links rely on: layers, keys of the report, fields, the README's table."""

import ast
from pathlib import Path
from typing import Any

import pytest

from calculators.catalog import load_catalog
from calculators.docs import README, fields_table, made
from calculators.report import build_report, to_json
from calculators.scenario import SPECS, Scenario

ROOT = Path(__file__).resolve().parent.parent
CALCULATORS = sorted((ROOT / "calculators").rglob("*.py"))
PAGES = sorted([ROOT / "app.py", *(ROOT / "app_pages").glob("*.py")])


def modules_of(path: Path) -> set[str]:
    """Top names of all modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name in modules_of(path)}


# Layers ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CALCULATORS, ids=lambda p: str(p.relative_to(ROOT)))
def test_calculators_know_no_screen(path: Path) -> None:
    assert tops(path).isdisjoint({"streamlit", "plotly", "app_pages", "app", "tests"})


@pytest.mark.parametrize("path", CALCULATORS, ids=lambda p: str(p.relative_to(ROOT)))
def test_calculators_use_only_what_is_installed_for_people(path: Path) -> None:
    # tools of development; the price refresh and the calibration are run by maintainers
    development = {"hypothesis", "pytest", "pyxirr", "scipy", "openpyxl", "playwright"}
    if path.name != "calibrate.py":
        assert tops(path).isdisjoint(development)
    if path.name != "refresh_prices.py":
        assert "genai_prices" not in tops(path)


@pytest.mark.parametrize("path", [*CALCULATORS, *PAGES], ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_goes_online(path: Path) -> None:
    assert tops(path).isdisjoint({"requests", "httpx", "aiohttp", "socket", "ftplib", "smtplib"}) or (
        path.name == "_sockets.py"
    )
    assert "urllib.request" not in modules_of(path)
    assert not any(name.startswith("http.client") for name in modules_of(path))


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_plotly_express(path: Path) -> None:
    # it imports pandas' plotting helpers and half a second with every page
    assert not any(name.startswith("plotly.express") for name in modules_of(path))


def test_session_state_is_touched_in_one_place() -> None:
    users = {
        path.name
        for path in PAGES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr == "session_state")
        or (isinstance(node, ast.Name) and node.id == "session_state")
    }
    assert users <= {"_inputs.py"}


# The report's keys ----------------------------------------------------------------------------------------------------

KEYS: dict[str, set[str]] = {
    "memory": {
        "fits",
        "weights_bytes",
        "usable_bytes",
        "cache_bytes_per_token",
        "state_bytes_per_sequence",
        "max_concurrent_sequences",
        "short_by_bytes",
        "min_systems",
    },
    "throughput": {
        "evidence",
        "concurrency",
        "requests_per_s",
        "output_tokens_per_s",
        "new_input_tokens_per_s",
        "cached_input_tokens_per_s",
        "tpot_ms",
        "ttft_s",
        "low_factor",
        "high_factor",
        "anchor",
    },
    "capacity": {
        "tokens_per_month",
        "new_input_tokens_per_month",
        "cached_input_tokens_per_month",
        "output_tokens_per_month",
    },
    "served": {
        "tokens_per_month",
        "output_tokens_per_month",
        "utilization",
        "overflow_tokens_per_month",
        "system_count",
    },
    "serverless": {"baseline", "alternative"},
    "self_host": {"capex_usd", "opex_usd_per_month", "usd_per_month", "usd_per_mtok", "lines"},
    "payback": {
        "status",
        "days",
        "reason",
        "discounted_days",
        "npv_usd",
        "irr_per_year",
        "saving_usd_per_month",
    },
    "break_even": {
        "tokens_per_month",
        "utilization",
        "api_usd_per_month",
        "api_usd_per_mtok",
        "hardware_usd",
        "reachable",
    },
    "uncertainty": {"payback_days", "probability_pays_back", "tornado"},
}
KEYS["alternative_payback"] = KEYS["payback"]
PLAIN = {"scenario", "version", "data_release", "link", "verdict", "warnings", "sources"}
ADDED = {
    "self_host": {"usd_per_seat_month", "levelised"},
    "uncertainty": {"npv_usd", "probability_never", "probability_npv_above_zero", "draws", "seed"},
}
"""Keys that design.md does not have and that may be there too."""

CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "rent": {"acquisition": "rent", "demand": "spend", "demand_usd_per_month": 9e4},
    "loan for seats": {"acquisition": "loan", "demand": "seats", "demand_seats": 500, "system_count": "auto"},
    "does not fit": {"system": "hgx-h200-8"},
    "no machine": {"system_count": 0},
    "never": {"utilization": 0.01},
}


@pytest.mark.parametrize("case", CASES)
def test_report_has_exactly_the_keys_of_the_design(case: str) -> None:
    data = to_json(build_report(Scenario(**CASES[case]), load_catalog()))
    assert set(data) == PLAIN | set(KEYS)
    for part, keys in KEYS.items():
        extra = set(data[part]) - keys
        assert set(data[part]) >= keys, part
        assert extra <= ADDED.get(part, set()), part
    assert set(data["scenario"]) == set(SPECS)
    for offer in data["serverless"].values():
        assert (
            {"offer", "usd_per_month", "usd_per_mtok"}
            <= set(offer)
            <= {
                "offer",
                "usd_per_month",
                "usd_per_mtok",
                "usd_per_seat_month",
            }
        )
    for line in data["self_host"]["lines"]:
        assert set(line) == {"name", "usd_per_month", "formula", "source"}
    payback_days = data["uncertainty"]["payback_days"]
    assert payback_days is None or {"p10", "p50", "p90"} <= set(payback_days)
    for source in data["sources"]:
        assert {"name", "title", "value", "unit", "origin", "source", "date", "kind"} <= set(source)
        assert source["source"], source["name"]


def test_every_figure_of_data_that_was_used_has_source_date_and_kind() -> None:
    for used in to_json(build_report(Scenario(), load_catalog()))["sources"]:
        if used["origin"] == "catalogue":
            assert used["source"]
            assert used["date"]
            assert used["kind"]
            assert used["unit"]


# Fields and README ----------------------------------------------------------------------------------------------------


def test_every_field_is_declared_in_full() -> None:
    assert list(SPECS) == list(Scenario.model_fields)
    for spec in SPECS.values():
        assert spec.title
        assert spec.help.endswith("."), spec.name
        assert spec.minimum is None or spec.unit, spec.name


def test_readme_table_is_made_from_the_fields() -> None:
    text = README.read_text(encoding="utf-8")
    assert fields_table() in text, "run: python -m calculators.docs"
    assert made(text) == text, "run: python -m calculators.docs"
    for name in SPECS:
        assert f"| `{name}` |" in text
