"""Figures that must not move unseen: declarations of the scenario, and headline figures of a few scenarios."""

import json
from pathlib import Path
from typing import Any, Final

from calculators.catalog import load_catalog
from calculators.report import build_report, to_json
from calculators.scenario import SPECS, VERSION, Scenario

FOLDER: Final = Path(__file__).resolve().parent
DECLARATIONS: Final = FOLDER / f"scenario_v{VERSION}.json"
HEADLINES: Final = FOLDER / "headlines.json"

SCENARIOS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "office-hours, loan, own facility": {
        "acquisition": "loan",
        "facility": "own",
        "profile": "office-hours",
        "demand": "tokens",
        "demand_tokens_per_month": 30e9,
        "cached_share": 0.6,
        "api_price_change_per_year": -0.3,
        "demand_growth_per_year": 0.3,
    },
    "rented for seats against a frontier API": {
        "acquisition": "rent",
        "demand": "seats",
        "demand_seats": 400,
        "baseline": "anthropic/claude-opus-5",
        "cached_share": 0.8,
        "token_ratio": 1.2,
        "input_tokens": 20_000,
        "output_tokens": 700,
    },
    "auto for a spend": {
        "system_count": "auto",
        "demand": "spend",
        "demand_usd_per_month": 250_000,
        "reserve_systems": 1,
    },
    "rack": {"system": "gb300-nvl72", "accepted_tokens_per_step": 2.5, "max_tpot_ms": 30},
    "another model and machine": {
        "model": "deepseek-r1-0528",
        "system": "hgx-h200-8",
        "baseline": "openai/gpt-5",
        "input_tokens": 4000,
        "output_tokens": 1000,
    },
    "does not fit": {"system": "hgx-b200-8"},
    "never": {"demand": "spend", "demand_usd_per_month": 8000},
}
"""Scenarios by name; together they touch every branch of the money and several machines."""


def declarations() -> dict[str, Any]:
    """What every field is: default, bounds, options, unit."""
    return {
        name: {
            "default": spec.default,
            "minimum": spec.minimum,
            "maximum": spec.maximum,
            "exclusive_minimum": spec.exclusive_minimum,
            "min_length": spec.min_length,
            "max_length": spec.max_length,
            "options": list(spec.options),
            "optional": spec.optional,
            "integer": spec.integer,
            "unit": spec.unit,
        }
        for name, spec in SPECS.items()
    }


def headline(changes: dict[str, Any]) -> dict[str, Any]:
    """The figures of a scenario that people quote."""
    data = to_json(build_report(Scenario(**changes), load_catalog()))
    return {
        "memory": {k: data["memory"][k] for k in ("fits", "short_by_bytes", "min_systems")},
        "throughput": {k: data["throughput"][k] for k in ("evidence", "concurrency", "output_tokens_per_s", "tpot_ms")},
        "capacity": {"tokens_per_month": data["capacity"]["tokens_per_month"]},
        "served": data["served"],
        "serverless": data["serverless"],
        "self_host": {
            k: data["self_host"][k] for k in ("capex_usd", "opex_usd_per_month", "usd_per_month", "usd_per_mtok")
        },
        "payback": {k: v for k, v in data["payback"].items() if k != "reason"},
        "alternative_payback": {k: v for k, v in data["alternative_payback"].items() if k != "reason"},
        "break_even": data["break_even"],
    }


def write_json(path: Path, data: Any) -> None:
    """Write sorted, indented JSON with a final newline."""
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
