"""Operating point, anchoring, evidence and machines; the headline scenario by hand."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators import memory as mem
from calculators.calibration import load_calibration
from calculators.catalog import load_catalog
from calculators.sizing import (
    EVIDENCE,
    LIMITS,
    Sizing,
    SizingInputs,
    concurrency_by_context,
    latency_curve,
    memory_breakdown,
    size,
    sizing_inputs,
    ttft_by_input,
)

CATALOG = load_catalog()
STATIC = {"weights_bytes", "cache_bytes_per_token", "state_bytes_per_sequence"} | {"evidence", "anchor", "layout"}
STATIC |= {"warnings"}
ARRAYS = [f.name for f in dataclasses.fields(Sizing) if f.name not in STATIC]


def inputs(system: str = "hgx-b300-8", model: str = "kimi-k3", **kw: object) -> SizingInputs:
    values: dict[str, object] = {"input_tokens": 8192.0, "output_tokens": 1024.0, "max_tpot_ms": 60.0, **kw}
    return sizing_inputs(CATALOG, model, system, **values)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ the headline by hand


def test_the_default_scenario_is_the_measured_point() -> None:
    """Kimi K3, 8xB300, 8,192 / 1,024: k3-009 measured 1,240 output tokens/s and 40.19 ms at 64 requests in flight.

    requests/s = 1,240 / 1,024 = 1.2109; new input = 1.2109 x 8,192 = 9,920 tokens/s. 502 sequences fit, but nothing of
    this shape was measured beyond 64, so the answer stays there.
    """
    r = size(inputs())
    assert r.layout == "TP8+DCP8"
    assert float(r.concurrency) == 64
    assert float(r.output_tokens_per_s) == pytest.approx(1240, rel=1e-9)
    assert float(r.requests_per_s) == pytest.approx(1240 / 1024, rel=1e-9)
    assert float(r.new_input_tokens_per_s) == pytest.approx(9920, rel=1e-9)
    assert float(r.cached_input_tokens_per_s) == 0
    assert float(r.tpot_ms) == pytest.approx(40.19, rel=1e-9)
    assert float(r.ttft_s) == pytest.approx(11.635, rel=1e-9)
    assert r.evidence == "measured"
    assert r.anchor is not None
    assert r.anchor["id"] == "k3-009"
    assert r.anchor["source_url"] == "https://github.com/sgl-project/sglang/pull/37878"
    assert str(r.limited_by) == "measured range"
    assert 0.8 < float(r.low_factor) < 1 < float(r.high_factor) < 1.25


def test_what_fits_the_default_machine() -> None:
    """(0.9 x 288.4 GB - 195.117 GB) / (13,824 x 9,216 / 8 + 2 x 449.4 MB / 8) = 64.44e9 / 128.3e6 = 502."""
    r = size(inputs())
    free = 0.9 * 288_400_343_040 - 1_560_936_091_448 / 8
    one = 13_824 * 9216 / 8 + 2 * 449_372_160 / 8
    assert float(r.max_concurrent_sequences) == math.floor(free / one) == 502
    assert float(r.usable_bytes) == pytest.approx(2.307e12, rel=1e-3)
    assert r.weights_bytes == 1_560_936_091_448
    assert r.cache_bytes_per_token == 13_824
    assert float(r.short_by_bytes) == 0


@pytest.mark.parametrize(
    ("system", "machines"),
    [
        ("hgx-b300-8", 1),
        ("mi355x-8", 1),
        ("mi350x-8", 1),
        ("hgx-b200-8", 2),
        ("hgx-h200-8", 2),
        ("hgx-h100-8", 4),
        ("mi300x-8", 2),
        ("gb300-4x4", 1),
        ("gb300-nvl72", 1),
        ("gb200-nvl72", 1),
    ],
)
def test_smallest_count_of_each_machine_for_k3(system: str, machines: int) -> None:
    """K3: 8xB300, 8xMI350X/355X, 16xB200, 16xH200, 32xH100; 8xMI300X do not hold it."""
    one = size(inputs(system))
    assert int(one.min_systems) == machines
    assert bool(one.fits) == (machines == 1)
    enough = size(inputs(system, system_count=machines))
    assert bool(enough.fits)
    assert float(enough.requests_per_s) > 0
    if machines > 1:
        assert not bool(size(inputs(system, system_count=machines - 1)).fits)


def test_a_plan_that_does_not_fit_yields_nothing_and_says_by_how_much() -> None:
    """8xB200 at 0.90: 1,391.6 GB for 1,560.9 GB of weights and one sequence of 1.0 GB: 170.4 GB short."""
    r = size(inputs("hgx-b200-8"))
    have = 8 * 193_273_528_320 * 0.9
    one_sequence = 13_824 * 9216 + 2 * 449_372_160  # divided over 16 devices, summed over them
    assert float(r.short_by_bytes) == pytest.approx(1_560_936_091_448 + one_sequence - have, rel=1e-9)
    assert not bool(r.fits)
    assert float(r.requests_per_s) == 0
    assert float(r.concurrency) == 0
    assert r.evidence == "none"
    assert str(r.limited_by) == "does not fit"
    assert r.anchor is None
    assert any("short by 170.4 GB" in w and "needs 2" in w for w in r.warnings)


def test_systems_without_accelerators_do_nothing() -> None:
    r = size(inputs(system_count=0))
    assert not bool(r.fits)
    assert float(r.requests_per_s) == 0


def test_racks_split_into_replicas() -> None:
    """72 accelerators hold four replicas of 16 (8 prefill, 8 decode); 16 hold one."""
    rack, tray = size(inputs("gb300-nvl72")), size(inputs("gb300-4x4"))
    assert float(rack.replicas) == 4
    assert float(tray.replicas) == 1
    assert float(rack.output_tokens_per_s) == pytest.approx(4 * float(tray.output_tokens_per_s))


def test_two_machines_serve_twice() -> None:
    one, two = size(inputs()), size(inputs(system_count=2))
    assert float(two.output_tokens_per_s) == pytest.approx(2 * float(one.output_tokens_per_s))
    assert float(two.concurrency) == float(one.concurrency)


# -------------------------------------------------------------------------------------------------------- anchoring


def test_an_anchor_corrects_less_the_farther_the_shape() -> None:
    """At the measured shape the correction is measured / predicted in full; four times the length away it is gone."""
    ratios = []
    for factor in (1.0, 1.3, 2.0, 4.0, 5.0):
        kw = {"input_tokens": 8192.0 * factor, "max_tpot_ms": math.inf}
        with_anchor, without = size(inputs(**kw)), size(inputs(**kw, anchored=False))
        same = size(dataclasses.replace(inputs(**kw, anchored=False), max_tpot_ms=math.inf))
        assert float(without.requests_per_s) == float(same.requests_per_s)
        curve, bare = latency_curve(inputs(**kw)), latency_curve(inputs(**kw, anchored=False))
        i = int(np.argmin(np.abs(curve.concurrency - 60)))
        ratios.append(float(curve.output_tokens_per_s[i] / bare.output_tokens_per_s[i]))
        assert float(with_anchor.requests_per_s) > 0
    distances = [abs(math.log(r)) for r in ratios]
    assert distances[0] > distances[1] > distances[2] > distances[3]
    assert distances[3] == pytest.approx(0, abs=1e-9)
    assert distances[4] == pytest.approx(0, abs=1e-9)


GB300_ARMS = {
    # tokens/s per GPU at ms per token, 16 GPUs, 8,192 / 1,024 (lmsys day-0 figure)
    "PP8 -> TP8": (
        *((12.22, 31.1), (19.63, 75.3), (25.72, 114.1), (34.81, 173.9), (42.94, 214.7), (47.22, 264.6)),
        *((53.35, 301.7), (53.6, 312.0)),
    ),
    "PP8 -> TP8+DCP8": ((13.35, 29.2), (27.02, 109.4), (48.8, 246.5), (53.82, 282.1), (54.96, 298.1)),
}


@pytest.mark.parametrize("limit_ms", [15, 20, 27.02, 30, 35, 40, 45, 47, 48.8, 49, 50, 53.6, 54, 55, 60, 200])
def test_an_answer_is_no_better_than_the_measured_frontier(limit_ms: float) -> None:
    """GB300, 16 GPUs: arms of one sweep are separate. At 49 ms the layout of the site measured 246.5 to 282.1 a GPU.

    Between (48.8 ms, 246.5) and (53.82, 282.1) it is 246.5 + 0.2 / 5.02 x 35.6 = 247.9 a GPU at 49 ms, 3,967 in all;
    a series that hopped between the arms said 283. Nowhere is the answer above the best arm at its time per token.
    """
    r = size(inputs("gb300-4x4", max_tpot_ms=limit_ms))
    assert r.layout == "TP1xPP8 -> TP8+DCP8"
    rate, tpot = float(r.output_tokens_per_s) / 16, float(r.tpot_ms)
    assert tpot <= limit_ms
    best = max(float(np.interp(tpot, *zip(*points, strict=True))) for points in GB300_ARMS.values())
    assert rate <= best * 1.001
    # Its own arm is followed; where 14 and 22 ms lie between its points the roofline bends a tenth off the chord.
    own = float(np.interp(tpot, *zip(*GB300_ARMS["PP8 -> TP8+DCP8"], strict=True)))
    assert rate == pytest.approx(own, rel=0.1)
    if limit_ms == 49:
        assert rate == pytest.approx(247.9, rel=0.01)
    if limit_ms >= 55:
        assert rate == pytest.approx(298.1, rel=0.005)
        assert r.anchor is not None
        assert (r.anchor["id"], r.anchor["layout"]) == ("k3-041", r.layout)


@pytest.mark.parametrize(
    ("system", "model"),
    [
        ("gb300-4x4", "kimi-k3"),
        ("hgx-b300-8", "kimi-k3"),
        ("mi355x-8", "kimi-k3"),
        ("hgx-b200-8", "deepseek-r1-0528"),
        ("hgx-h200-8", "deepseek-r1-0528"),
        ("mi355x-8", "deepseek-r1-0528"),
        ("hgx-b200-8", "kimi-k2.5"),
    ],
)
def test_at_a_measured_point_the_answer_is_that_point(system: str, model: str) -> None:
    """At a point's own mix and its own speed as the limit: its rate, its time per token and its requests in flight.

    Also where the layout that was measured is not the site's. Requests are whole: one of C moves the rate by up to 1/C.
    """
    checked = 0
    for series in inputs(system, model).site.anchors:
        order = [math.exp(c) for c in series.log_concurrency]
        for i, c in enumerate(order):
            rising = all(t < series.tpots[i] for t in series.tpots[:i]) and all(
                t > series.tpots[i] for t in series.tpots[i + 1 :]
            )
            if (
                not series.tpots[i]
                or not rising
                or c > series.resident_tokens / (series.input_tokens + series.output_tokens)
            ):
                continue
            mix = {
                "input_tokens": series.input_tokens,
                "output_tokens": series.output_tokens,
                "serving_cached_share": series.cached_share,
                "accepted_tokens_per_step": series.accepted,
            }
            r = size(inputs(system, model, **mix, max_tpot_ms=series.tpots[i] * 1e3 * (1 + 1e-9)))
            assert float(r.concurrency) == pytest.approx(c, abs=1.0 + 1e-6)
            slack = 1.5 / c + 1e-9 if c != round(c) else 1e-6
            assert float(r.requests_per_s / r.replicas) == pytest.approx(series.rates[i], rel=slack)
            assert float(r.tpot_ms) == pytest.approx(series.tpots[i] * 1e3, rel=slack)
            assert r.evidence == "measured"
            checked += 1
    assert checked >= 3


@pytest.mark.parametrize("system", ["gb300-4x4", "hgx-b300-8", "hgx-b200-8", "mi355x-8"])
@pytest.mark.parametrize("limit_ms", [20.0, 35.0, 49.0, 60.0])
def test_rate_latency_and_requests_in_flight_agree(system: str, limit_ms: float) -> None:
    """Little's law: requests in flight = rate x (time to first token + 1,023 x time per token); 8xB300 at 64 requests:

    1.2109 x (11.635 + 1,023 x 0.04019) = 63.9. Between points the three are interpolated one by one: within 5 %.
    """
    r = size(inputs(system, system_count=2, max_tpot_ms=limit_ms))
    each = float(r.requests_per_s / r.replicas)
    in_flight = each * (float(r.ttft_s) + 1023 * float(r.tpot_ms) / 1e3)
    assert in_flight == pytest.approx(float(r.concurrency), rel=0.05)


def test_a_sweep_that_changes_its_layout_is_one_series() -> None:
    """SGLang on 8xB300 ran 1 and 16 requests as TP8 and 64 as TP8+DCP8: no two layouts at one concurrency."""
    series = next(s for s in inputs().site.anchors if s.accepted == 1 and s.input_tokens == 8192)
    assert series.ids == ("k3-001", "k3-002", "k3-009")
    assert series.layouts == ("TP8", "TP8", "TP8+DCP8")
    r = size(inputs(max_tpot_ms=20.0))
    assert any(
        w == "k3-002 was measured as TP8; these machines are planned as TP8+DCP8 and taken to be no faster than "
        "it at its mix."
        for w in r.warnings
    )


def test_what_a_source_leaves_open_is_said() -> None:
    """The GB300 figure states neither concurrency nor drafts; the 8xB300 table states both."""
    r = size(inputs("gb300-4x4"))
    assert r.anchor is not None
    assert r.anchor["unstated"] == ["concurrency", "speculation"]
    assert sum("states no concurrency" in w for w in r.warnings) == 1
    assert sum("whether drafts were used" in w for w in r.warnings) == 1
    stated = size(inputs())
    assert stated.anchor is not None
    assert stated.anchor["unstated"] == []
    assert stated.warnings == ()


def test_results_do_not_jump_near_an_anchor() -> None:
    """Half a per cent of input moves the throughput by little, also where a series ends and at its edge."""
    lengths = 8192 * np.exp(np.linspace(-1.6, 1.6, 641))
    r = size(inputs(input_tokens=lengths, max_tpot_ms=math.inf))
    steps = np.abs(np.diff(np.log(r.output_tokens_per_s)))
    # Whole requests in flight: a step of one of some 60 is 1.6 %.
    assert float(steps.max()) < 0.03


def test_no_extrapolation_beyond_the_largest_measured_concurrency() -> None:
    """Without any latency limit 502 sequences fit; the measured series ends at 64."""
    r = size(inputs(max_tpot_ms=math.inf))
    assert float(r.concurrency) == 64
    assert str(r.limited_by) == "measured range"


def test_an_anchor_measured_with_speculation_is_not_sped_up_again() -> None:
    """k3-010 measured 1,766 tokens/s with a draft; its own acceptance gives exactly that back."""
    site = inputs().site
    with_draft = next(s for s in site.anchors if s.accepted > 1)
    r = size(inputs(accepted_tokens_per_step=with_draft.accepted))
    assert float(r.output_tokens_per_s) == pytest.approx(1766, rel=1e-6)
    assert r.anchor is not None
    assert r.anchor["id"] == "k3-010"


@pytest.mark.parametrize("accepted", [3.8, 4.0, 4.7])
def test_speculation_at_batch_64_gains_a_half_not_fourfold(accepted: float) -> None:
    base = float(size(inputs()).output_tokens_per_s)
    gain = float(size(inputs(accepted_tokens_per_step=accepted)).output_tokens_per_s) / base
    assert 1.3 <= gain <= 1.6


@pytest.mark.parametrize(
    ("system", "model", "words"),
    [
        ("atlas-a3-64", "kimi-k3", "One measured configuration alone calibrates the class of"),
        ("mi325x-8", "deepseek-r1-0528", "One measured configuration alone calibrates the class of"),
        ("mi355x-8", "kimi-k3", "Kimi K3 was measured in one configuration only on the class of"),
    ],
)
def test_what_rests_on_one_configuration_is_as_unsure_as_that(system: str, model: str, words: str) -> None:
    """The band away from any point reaches what this configuration was missed by when it was held out, and says so."""
    x = inputs(system, model, max_tpot_ms=math.inf, system_count=4)
    lone = [entry for entry in load_calibration().lone if entry.class_id == x.site.chip.class_id]
    entry = next(entry for entry in lone if entry.model_id in ("", model))
    r = size(dataclasses.replace(x, input_tokens=30_000.0, output_tokens=1500.0))
    assert r.evidence in ("modelled", "class")
    band = load_calibration().bands[r.evidence]
    assert float(r.low_factor) == pytest.approx(min(band.low, entry.low))
    assert float(r.high_factor) == pytest.approx(max(band.high, entry.high))
    assert sum(w.startswith(words) and f"factor of {entry.high:.2f}" in w for w in r.warnings) == 1
    assert not any("measured point only" in w for w in r.warnings)


def test_own_load_test_replaces_the_model() -> None:
    """2,000 output tokens/s of one machine; three machines serve 6,000."""
    r = size(inputs(measured_output_tokens_per_s=2000.0, system_count=3))
    assert float(r.output_tokens_per_s) == pytest.approx(6000)
    assert r.evidence == "user"
    assert 0.9 < float(r.low_factor) < 1 < float(r.high_factor) < 1.1


def test_an_own_load_test_says_nothing_of_latency() -> None:
    """5,000 tokens/s with the model's 64 requests at 40.19 ms would be 64 / 0.04019 = 1,592 tokens/s: a contradiction.

    So requests at a time and latency are unknown, no measured point is named, and one sentence says why.
    """
    r = size(inputs(measured_output_tokens_per_s=5000.0))
    assert float(r.output_tokens_per_s) == pytest.approx(5000)
    assert all(math.isnan(float(v)) for v in (r.concurrency, r.tpot_ms, r.ttft_s))
    assert r.anchor is None
    assert str(r.limited_by) == "own test"
    assert len(r.warnings) == 1
    assert r.warnings[0].startswith("Your load test (5,000 output tokens/s) is used as it is. It does not say how many")
    # The memory of an accelerator is shown at the model's own operating point: 64 sessions of 9,216 tokens.
    m = memory_breakdown(inputs(measured_output_tokens_per_s=5000.0))
    assert m.cache_bytes == pytest.approx(64 * 9216 * 13_824 / 8)
    # Where the machine does not hold the model a load test changes nothing.
    none = size(inputs("hgx-b200-8", measured_output_tokens_per_s=5000.0))
    assert float(none.output_tokens_per_s) == 0
    assert str(none.limited_by) == "does not fit"


def test_excluded_points_do_not_anchor() -> None:
    r = size(inputs(exclude_measurements=frozenset({"k3-009"})))
    assert r.anchor is None or r.anchor["id"] != "k3-009"


# ----------------------------------------------------------------------------------------------------------- limits


def test_latency_limits_hold_and_the_next_request_would_break_them() -> None:
    x = inputs(input_tokens=3000.0, output_tokens=400.0, max_tpot_ms=35.0)
    r = size(x)
    assert str(r.limited_by) == "tpot"
    assert float(r.tpot_ms) <= 35.0
    curve = latency_curve(x, 400)
    next_up = curve.concurrency >= float(r.concurrency) + 1
    assert float(curve.tpot_ms[next_up][0]) > 35.0


def test_first_token_limit() -> None:
    r = size(inputs(max_ttft_s=3.0))
    assert str(r.limited_by) == "ttft"
    assert float(r.ttft_s) <= 3.0
    assert 1 <= float(r.concurrency) < 64


def test_a_first_token_limit_that_nothing_meets_is_named() -> None:
    """A lone request of 8,192 tokens waits 0.378 s (k3-001): no machine gives a first token in 1 ms."""
    r = size(inputs(max_ttft_s=0.001))
    assert float(r.requests_per_s) == 0
    assert str(r.limited_by) == "ttft"
    assert any("time to first token is 0.378 s, the limit 0.00100 s" in w for w in r.warnings)
    assert not any("time per token is" in w for w in r.warnings)


def test_a_request_longer_than_the_model_takes_is_no_throughput() -> None:
    """1,000,000 + 1,000,000 tokens; Kimi K3 takes 1,048,576. One token less than too long fits."""
    r = size(inputs(input_tokens=1e6, output_tokens=1e6, max_tpot_ms=math.inf))
    assert not bool(r.fits)
    assert str(r.limited_by) == "context"
    assert (float(r.requests_per_s), float(r.concurrency), float(r.short_by_bytes), int(r.min_systems)) == (0, 0, 0, 0)
    assert r.evidence == "none"
    assert r.warnings == ("A request of 2,000,000 tokens is longer than the 1,048,576 tokens that Kimi K3 takes.",)
    longest = size(inputs(input_tokens=np.array([1_047_552.0, 1_047_553.0]), max_tpot_ms=math.inf))
    assert longest.fits.tolist() == [True, False]


@pytest.mark.parametrize(
    ("system", "count", "sentence"),
    [
        ("hgx-h100-8", 5, "Machines that stand idle: 1 of 5 (8xH100 server). One replica takes 4;"),  # 5 = 4 + 1
        ("hgx-h100-8", 11, "Machines that stand idle: 3 of 11 (8xH100 server). One replica takes 4;"),  # 11 = 2 x 4 + 3
        ("hgx-h100-8", 8, ""),
        ("hgx-b300-8", 3, ""),
        ("gb300-nvl72", 1, "Accelerators that stand idle: 8 of 72. One replica takes 16."),  # 72 = 4 x 16 + 8
    ],
)
def test_what_stands_idle_is_said(system: str, count: int, sentence: str) -> None:
    r = size(inputs(system, system_count=count))
    told = [w for w in r.warnings if "stand idle" in w]
    assert len(told) == bool(sentence)
    assert all(w.startswith(sentence) for w in told)


def test_out_of_memory_and_missed_latency_are_told_apart() -> None:
    """EPYC holds K3 and cannot reach 60 ms: it fits, serves nothing, and says which limit."""
    r = size(inputs("epyc-turin-4tb"))
    assert bool(r.fits)
    assert float(r.requests_per_s) == 0
    assert str(r.limited_by) == "tpot"
    assert any("misses the limit" in w for w in r.warnings)


# ------------------------------------------------------------------------------------------------------ low end, bounds


def test_bandwidth_bound_of_a_cpu_by_hand() -> None:
    """137.9 GB a token at 614 GB/s = 224.6 ms, plus cache of one sequence: 4.4 tokens/s at most."""
    r = size(inputs("epyc-turin-4tb", max_tpot_ms=math.inf))
    read = 137.9e9 / 0.614e12
    assert float(r.single_stream_tokens_per_s) == pytest.approx(1 / read, rel=0.02)
    assert r.evidence == "uncalibrated"
    assert float(r.high_factor) == 1.0
    assert any("bandwidth bound" in w for w in r.warnings)


def test_quantised_weights_read_less() -> None:
    """Two Mac Studios hold 734 GB at Q2 and read 65 GB a token instead of 138."""
    r = size(inputs("mac-studio-512-x2", max_tpot_ms=math.inf))
    assert r.weights_bytes == pytest.approx(733.9e9, rel=1e-3)
    assert bool(r.fits)


def test_weights_streamed_from_an_ssd() -> None:
    """114 GB of dense tensors do not quite fit 92.8 GB; the rest and 25.8 GB of experts come at 10 GB/s: 4.9 s."""
    r = size(inputs("mbp-m5max-128", max_tpot_ms=math.inf))
    assert bool(r.fits)
    assert float(r.concurrency) == 1
    assert float(r.single_stream_tokens_per_s) == pytest.approx(0.21, abs=0.01)
    assert any("stream from the SSD" in w for w in r.warnings)


@pytest.mark.parametrize("system", sorted(CATALOG.systems))
@pytest.mark.parametrize("model", ["kimi-k3", "gpt-oss-120b", "deepseek-v3.2"])
def test_every_machine_gives_finite_figures(model: str, system: str) -> None:
    first = size(inputs(system, model))
    count = max(int(first.min_systems), 1)
    r = size(inputs(system, model, system_count=count, max_tpot_ms=math.inf))
    for name in ARRAYS:
        value = getattr(r, name)
        if value.dtype.kind == "f":
            assert np.isfinite(value).all(), name
    assert r.evidence in EVIDENCE
    assert str(r.limited_by) in LIMITS
    if bool(r.fits):
        assert float(r.low_factor) <= 1 <= float(r.high_factor)


def test_every_model_can_be_sized_on_the_default_machine() -> None:
    for model in CATALOG.models:
        r = size(inputs(model=model))
        assert bool(r.fits), model
        assert float(r.output_tokens_per_s) > 0, model


def test_k31_is_sized_as_k3_and_says_so() -> None:
    r = size(inputs(model="kimi-k3.1-pro"))
    assert any("indexer" in w or "sized as" in w.lower() for w in r.warnings)
    assert EVIDENCE.index(r.evidence) >= EVIDENCE.index("class")


# ------------------------------------------------------------------------------------------------------- long context


def test_agentic_context_is_limited_by_resident_sessions() -> None:
    """219k tokens with most of the prefix cached: 20 sessions of 3.15 GB and their state fit 64.4 GB (TP8)."""
    r = size(inputs(input_tokens=219_000.0, output_tokens=1077.0, serving_cached_share=0.97))
    assert str(r.limited_by) == "memory"
    free = 0.9 * 288_400_343_040 - 1_560_936_091_448 / 8
    assert float(r.concurrency) == math.floor(free / (13_824 * 220_077 + 2 * 449_372_160 / 8)) == 20
    assert any("resident sessions" in w for w in r.warnings)
    near = size(inputs())
    assert float(r.low_factor) < float(near.low_factor)
    assert float(r.high_factor) > float(near.high_factor)


def test_sessions_by_context_agree_with_tokens_and_grow_with_dcp() -> None:
    curves = {(c.layout, c.kv_dtype): c for c in concurrency_by_context(inputs())}
    assert set(curves) == {(a, b) for a in ("TP8", "TP8+DCP8") for b in ("fp8", "bf16")}
    for c in curves.values():
        assert c.context_tokens[-1] == 1_048_576
        assert (np.floor(c.tokens / c.context_tokens + 1e-9) == c.sessions).all()
    assert (curves["TP8+DCP8", "fp8"].sessions >= curves["TP8", "fp8"].sessions).all()
    assert (curves["TP8", "fp8"].sessions >= curves["TP8", "bf16"].sessions).all()
    # 64.44 GB / (13,824 x 1,048,576 + 112 MB) = 4.4 sessions of a million tokens under TP8.
    assert curves["TP8", "fp8"].sessions[-1] == 4
    assert curves["TP8+DCP8", "fp8"].sessions[-1] == 33


def test_memory_parts_add_up() -> None:
    for system in ("hgx-b300-8", "mi355x-8", "gb300-4x4"):
        m = memory_breakdown(inputs(system))
        parts = m.weights_bytes + m.cache_bytes + m.state_bytes + m.overhead_bytes + m.free_bytes
        assert parts == pytest.approx(m.usable_bytes, rel=1e-12)
        assert m.short_bytes == 0
    m = memory_breakdown(inputs())
    assert m.state_bytes == pytest.approx(64 * 2 * 449_372_160 / 8)
    assert m.cache_bytes == pytest.approx(64 * 9216 * 13_824 / 8)


def test_latency_curve_carries_its_measured_points() -> None:
    curve = latency_curve(inputs())
    ids = {p.id: p for p in curve.measured}
    assert ids["k3-009"].output_tokens_per_s == pytest.approx(1240)
    assert ids["k3-009"].same_shape
    assert not ids["k3-010"].same_shape
    assert bool((np.diff(curve.output_tokens_per_s) > 0).all())
    assert bool((curve.low_output_tokens_per_s < curve.output_tokens_per_s).all())
    assert bool(curve.beyond_measured[-1])
    assert not bool(curve.beyond_measured[0])
    assert latency_curve(inputs("hgx-b200-8")).measured is not None


def test_first_token_by_input_is_graded() -> None:
    curve = ttft_by_input(inputs())
    assert bool((np.diff(curve.lone_s) > 0).all())
    assert curve.grade[0] == "good"
    assert curve.grade[-1] == "long"
    assert set(ttft_by_input(inputs("hgx-b200-8")).grade) == {"does not fit"}
    # The last prompt leaves room for the answer: 1,048,576 - 1,024.
    assert float(curve.input_tokens[-1]) == 1_047_552


# ------------------------------------------------------------------------------------------------- arrays and extension


def test_arrays_equal_the_stack_of_scalars() -> None:
    rng = np.random.default_rng(3)
    n = 60
    values = {
        "input_tokens": 8192 * np.exp(rng.normal(size=n)),
        "output_tokens": 1024 * np.exp(rng.normal(size=n)),
        "serving_cached_share": rng.uniform(0, 1, n),
        "accepted_tokens_per_step": rng.uniform(1, 5, n),
        "max_tpot_ms": np.where(rng.uniform(size=n) < 0.2, np.inf, rng.uniform(15, 90, n)),
        "max_ttft_s": np.where(rng.uniform(size=n) < 0.5, np.inf, rng.uniform(0.3, 20, n)),
        "gpu_memory_utilization": rng.uniform(0.6, 0.95, n),
        "measured_output_tokens_per_s": np.where(rng.uniform(size=n) < 0.8, np.nan, 1500.0),
        "system_count": rng.integers(0, 4, n).astype(float),
    }
    for system in ("hgx-b300-8", "hgx-b200-8", "gb300-nvl72"):
        whole = size(inputs(system, **values))
        for i in range(n):
            one = size(inputs(system, **{k: float(v[i]) for k, v in values.items()}))
            for name in ARRAYS:
                got, alone = getattr(whole, name)[i], np.asarray(getattr(one, name))[()]
                if alone.dtype.kind == "f":
                    # The last bit of exp and log may differ between a lone value and a vector.
                    expected = pytest.approx(float(alone), rel=1e-12, abs=0, nan_ok=True)
                    assert got == expected, (system, i, name)
                else:
                    assert got == alone, (system, i, name)


def test_a_workload_asked_for_again_is_not_computed_again_and_another_is() -> None:
    first = size(inputs())
    assert size(inputs()) is first
    assert size(inputs(measured_output_tokens_per_s=float("nan"))) is first, "NaN is 'none', whichever NaN it is"
    other = size(inputs(input_tokens=9000.0))
    assert other.output_tokens_per_s != first.output_tokens_per_s
    assert size(inputs("hgx-b200-8")).usable_bytes != first.usable_bytes


def test_pieces_of_a_long_array_equal_the_whole() -> None:
    lengths = np.linspace(500, 60_000, 20_000)
    whole = size(inputs(input_tokens=lengths))
    part = size(inputs(input_tokens=lengths[9000:9100]))
    # the last bit of exp and log may depend on where a value stands in a vector
    assert whole.output_tokens_per_s[9000:9100] == pytest.approx(part.output_tokens_per_s, rel=1e-12, abs=0)
    assert whole.output_tokens_per_s.shape == (20_000,)


def test_shapes_broadcast() -> None:
    r = size(inputs(input_tokens=np.array([1000.0, 8192.0]), gpu_memory_utilization=np.array([[0.8], [0.9], [0.95]])))
    assert r.requests_per_s.shape == (3, 2)
    assert r.limited_by.shape == (3, 2)


@settings(max_examples=60, deadline=None)
@given(
    isl=st.floats(1, 1e6),
    osl=st.floats(1, 1e5),
    cached=st.floats(0, 1),
    accepted=st.floats(1, 8),
    tpot=st.one_of(st.just(math.inf), st.floats(1, 1000)),
    utilization=st.floats(0.1, 0.99),
    count=st.integers(0, 5),
)
def test_any_workload_gives_finite_consistent_figures(
    isl: float, osl: float, cached: float, accepted: float, tpot: float, utilization: float, count: int
) -> None:
    r = size(
        inputs(
            input_tokens=isl,
            output_tokens=osl,
            serving_cached_share=cached,
            accepted_tokens_per_step=accepted,
            max_tpot_ms=tpot,
            gpu_memory_utilization=utilization,
            system_count=count,
        )
    )
    for name in ("requests_per_s", "output_tokens_per_s", "tpot_ms", "ttft_s", "low_factor", "high_factor"):
        assert np.isfinite(getattr(r, name)).all()
    x = float(r.requests_per_s)
    assert float(r.output_tokens_per_s) == pytest.approx(x * osl)
    both = float(r.new_input_tokens_per_s) + float(r.cached_input_tokens_per_s)
    assert both == pytest.approx(x * isl, abs=1e-9)
    if not bool(r.fits):
        assert x == 0
    if x > 0:
        assert float(r.tpot_ms) <= tpot * (1 + 1e-9)
        assert float(r.concurrency) <= float(r.max_concurrent_sequences)


def test_a_model_and_a_machine_are_one_file_each(tmp_path: Path) -> None:
    """A copy of K3 under another id, and of the default machine with four accelerators more, from a scratch folder."""
    data = Path(__file__).resolve().parents[2] / "data"
    model = (data / "models" / "kimi-k3.toml").read_text(encoding="utf-8")
    (tmp_path / "my-model.toml").write_text(model.replace('"kimi-k3"', '"my-model"', 1), encoding="utf-8")
    system = (data / "systems" / "hgx-b300-8.toml").read_text(encoding="utf-8")
    (tmp_path / "my-box.toml").write_text(system.replace('"hgx-b300-8"', '"my-box"', 1), encoding="utf-8")
    catalog = load_catalog(extra=(tmp_path / "my-model.toml", tmp_path / "my-box.toml"))
    assert "my-model" in catalog.models
    assert "my-box" in catalog.systems
    r = size(sizing_inputs(catalog, "my-model", "my-box", input_tokens=8192.0, output_tokens=1024.0, max_tpot_ms=60.0))
    assert bool(r.fits)
    assert r.evidence == "class"  # no point of this model: constants of the class only
    assert r.anchor is None
    assert float(r.output_tokens_per_s) > 0
    same = size(sizing_inputs(catalog, "kimi-k3", "my-box", input_tokens=8192.0, output_tokens=1024.0))
    assert same.evidence == "measured"  # the accelerator is what was measured, not the name on the box


def test_unknown_names_are_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="model 'kimi' is not in the catalogue; known: "):
        sizing_inputs(CATALOG, "kimi", "hgx-b300-8", input_tokens=1.0, output_tokens=1.0)
    with pytest.raises(ValueError, match="system 'b300' is not in the catalogue"):
        sizing_inputs(CATALOG, "kimi-k3", "b300", input_tokens=1.0, output_tokens=1.0)
    with pytest.raises(ValueError, match="kv_dtype 'int4' is not one of fp8, bf16"):
        sizing_inputs(CATALOG, "kimi-k3", "hgx-b300-8", input_tokens=1.0, output_tokens=1.0, kv_dtype="int4")  # type: ignore[arg-type]


def test_cache_width_is_its_own_choice() -> None:
    fp8, bf16 = inputs(), inputs(kv_dtype="bf16")
    assert fp8.site.cache_bytes_per_token == 13_824
    assert bf16.site.cache_bytes_per_token == 27_648
    layout = fp8.site.plan.decode.layout
    assert mem.weights_bytes_per_device(fp8.site.shape, layout) == bf16.site.weights_bytes_per_device
