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


def test_kinds_of_tokens_by_hand() -> None:
    # 29.035e9 tokens a month at 100 %: 8,192 of 9,216 are input, a quarter of them from the cache; 1.5 times as many by
    # the open model's own count
    report = _report(cached_share=0.25, measured_output_tokens_per_s=1240, token_ratio=1.5)
    requests = float(report.result.capacity_requests_per_month)
    rows = capacity.months(report)
    assert [r.utilization for r in rows] == [0.25, 0.5, 0.75, 1.0]
    for row in rows:
        served = row.utilization * requests * 1.5
        assert row.new_input_tokens == pytest.approx(served * 8192 * 0.75)
        assert row.cached_input_tokens == pytest.approx(served * 8192 * 0.25)
        assert row.output_tokens == pytest.approx(served * 1024)
        assert row.tokens == pytest.approx(served * 9216)


def test_the_speed_is_one_replicas_however_many_there_are() -> None:
    one, three = capacity.speed(_report()), capacity.speed(_report(system_count=3))
    assert one is not None
    assert three is not None
    assert three.point == pytest.approx(one.point)
    assert one.user_tokens_per_s == pytest.approx(1000 / one.tpot_ms)
    assert np.all(one.low_output_tokens_per_s <= one.output_tokens_per_s)
    assert np.all(one.output_tokens_per_s <= one.high_output_tokens_per_s)
    assert np.all(np.diff(one.concurrency) > 0)
    assert np.all(one.ttft_s > 0)


def test_no_operating_point_where_nothing_runs() -> None:
    assert capacity.speed(_report(system="hgx-b200-8")) is None
    missed = capacity.speed(_report(max_tpot_ms=0.001))
    assert missed is not None
    assert missed.point is None
    assert missed.concurrency.size > 5
    assert capacity.speed(_report(system_count=0)) is None


def test_what_a_planned_number_lacks_is_shared_by_its_accelerators() -> None:
    """A plan of four 8xH100 holds the weights; of three each of 24 accelerators lacks a part, and none has a cache."""
    report = _report(system="hgx-h100-8", system_count=3)
    parts, usable, short = capacity.memory_parts(report)
    # 1,560.9e9 bytes / 24 = 65.0e9 each, of 80e9 of which a tenth is the engine's: the weights alone would go in
    assert [p.key for p in parts] == ["weights", "overhead"]
    assert parts[0].size_bytes == pytest.approx(float(report.result.sizing.weights_bytes) / 24)
    assert parts[1].size_bytes == pytest.approx(0.1 * usable)
    assert short == pytest.approx(float(report.result.sizing.short_by_bytes) / 24)
    none, _, _ = capacity.memory_parts(_report(system="hgx-h100-8", system_count=0))
    assert [p.key for p in none] == ["weights", "cache", "state", "overhead", "free"]
