"""A change of a field, of data/ or of the model is seen here before a reader of an old link sees it."""

import json
from typing import Any

import pytest

from calculators.link import parse
from calculators.scenario import VERSION
from tests.golden import DECLARATIONS, HEADLINES, SCENARIOS, declarations, headline


def test_declarations_of_this_version_are_unchanged() -> None:
    assert DECLARATIONS.exists(), "new VERSION: run python -m tests.golden.update"
    old, now = json.loads(DECLARATIONS.read_text(encoding="utf-8")), declarations()
    moved = sorted(name for name in set(old) | set(now) if old.get(name) != now.get(name))
    assert moved == [], f"fields differ from those of version {VERSION}: bump VERSION and run tests.golden.update"
    assert list(old) == list(now), "the order of the fields is the order of the link"


def test_every_golden_scenario_has_its_figures() -> None:
    assert set(json.loads(HEADLINES.read_text(encoding="utf-8"))["scenarios"]) == set(SCENARIOS)


def assert_same(found: Any, expected: Any, path: str) -> None:
    if isinstance(expected, dict):
        assert set(found) == set(expected), path
        for key, value in expected.items():
            assert_same(found[key], value, f"{path}.{key}")
    elif isinstance(expected, bool) or not isinstance(expected, int | float):
        assert found == expected, path
    else:
        assert found == pytest.approx(expected, rel=1e-6), path


@pytest.mark.parametrize("name", SCENARIOS)
def test_headline_figures_are_unchanged(name: str) -> None:
    """If data/ or the model changed on purpose: python -m tests.golden.update, and say why in the commit."""
    expected = json.loads(HEADLINES.read_text(encoding="utf-8"))["scenarios"][name]
    assert_same(headline(SCENARIOS[name]), expected, name)


def test_link_of_version_1_is_read_for_ever() -> None:
    # a link as people have it: written when version 1 was new, with its figures
    found = parse(
        "https://example.org/?v=1&release=2026-11-29&title=Team+A+%26+B&model=kimi-k3&system=hgx-b300-8&system_count=2"
        "&utilization=0.6&demand=spend&demand_usd_per_month=95000&max_tpot_ms=none&max_ttft_s="
        "&pins=hardware_usd%3A600000%2Coutput_tokens_per_s%3A2480%2Calternative%3Asail%2Fmoonshotai%2Fkimi-k3"
    )
    assert found.problems == ()
    assert (found.version, found.release) == (1, "2026-11-29")
    s = found.scenario
    assert (s.title, s.system_count, s.utilization, s.demand_usd_per_month, s.max_tpot_ms, s.max_ttft_s) == (
        "Team A & B",
        2,
        0.6,
        95_000,
        None,
        None,
    )
    assert dict(found.pins) == {
        "hardware_usd": 600_000,
        "output_tokens_per_s": 2480,
        "alternative": "sail/moonshotai/kimi-k3",
    }
