"""The Capacity page's figures agree with the report's."""

import numpy as np
import pytest

from calculators import capacity
from calculators.catalog import load_catalog
from calculators.report import Report, build_report, to_json
from calculators.scenario import Scenario


def _report(**fields: object) -> Report:
    return build_report(Scenario.model_validate(fields), load_catalog())


def test_memory_parts_fill_the_accelerator() -> None:
    parts, usable, short = capacity.memory_parts(_report())
    assert short == 0
    assert sum(p.size_bytes for p in parts) == pytest.approx(usable)
    # 288,400,343,040 bytes, a tenth of which is kept from the engine (gpu_memory_utilization 0.90)
    assert usable == 288_400_343_040
    assert {p.key: p.size_bytes for p in parts}["overhead"] == pytest.approx(28_840_034_304)


def test_a_plan_that_does_not_fit_shows_what_is_missing() -> None:
    report = _report(system="hgx-b200-8")
    parts, usable, short = capacity.memory_parts(report)
    # 1,560.9e9 / 8 = 195.1e9 bytes of weights on each card of 193.3e9 bytes, a tenth of them kept from the engine
    assert parts[0].size_bytes == pytest.approx(1_560_936_091_448 / 8)
    assert parts[0].size_bytes + parts[1].size_bytes > usable
    assert short == pytest.approx(float(report.result.sizing.short_by_bytes) / 8)
    assert short > 0
    assert not [row for row in capacity.months(report) if row.tokens > 0]


def test_the_operating_point_lies_on_the_curve_where_it_was_measured() -> None:
    found = capacity.speed(_report())
    assert found is not None
    assert found.point is not None
    # k3-009: 1,240 output tokens/s at 40.19 ms a token, that is 24.88 tokens/s for each user
    assert found.point == pytest.approx((1000 / 40.19, 1240.0))
    near = int(np.argmin(np.abs(found.concurrency - 64)))
    assert found.output_tokens_per_s[near] == pytest.approx(1240, rel=0.1)
    assert any(p.id == "k3-009" for p in found.measured)


def test_months_by_kind_are_the_capacity_times_the_share() -> None:
    report = _report(cached_share=0.5, utilization=0.6)
    data = to_json(report)["capacity"]
    rows = capacity.months(report)
    assert [r.utilization for r in rows] == [0.25, 0.5, 0.6, 0.75, 1.0]
    full = rows[-1]
    assert full.tokens == pytest.approx(data["tokens_per_month"])
    assert full.cached_input_tokens == pytest.approx(data["cached_input_tokens_per_month"])
    assert rows[0].output_tokens == pytest.approx(0.25 * data["output_tokens_per_month"])


def test_sessions_times_context_are_the_tokens_that_fit() -> None:
    for curve in capacity.sessions(_report()):
        assert np.all(curve.sessions * curve.context_tokens <= curve.tokens * (1 + 1e-9))
        assert np.all((curve.sessions + 1) * curve.context_tokens > curve.tokens)


def test_a_longer_prompt_waits_longer_for_its_first_token() -> None:
    lone = capacity.first_token(_report()).lone_s
    known = lone[np.isfinite(lone)]
    assert known.size > 3
    assert np.all(np.diff(known) > 0)
