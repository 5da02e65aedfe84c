"""Capacity of one scenario as the Capacity page shows it: memory, sessions, speed, tokens a month by kind.

All of it is the sizing of the report's own machine and workload; nothing is sized anew under other rules.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calculators.evaluate import site_inputs
from calculators.report import Report
from calculators.sizing import (
    ConcurrencyCurve,
    MeasuredPoint,
    TtftCurve,
    concurrency_by_context,
    kept_by_workload,
    latency_curve,
    memory_breakdown,
    ttft_by_input,
)

Array = npt.NDArray[np.float64]

_sessions = kept_by_workload(concurrency_by_context)
_latency = kept_by_workload(latency_curve)
_first_token = kept_by_workload(ttft_by_input)

UTILIZATIONS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the capacity for which tokens a month are listed, beside the scenario's own."""


@dataclass(frozen=True)
class Part:
    """A part of an accelerator's memory: a key for its name, and bytes."""

    key: str
    size_bytes: float


@dataclass(frozen=True)
class Speed:
    """Throughput of one replica against the speed that each user sees; arrays over concurrency.

    ``point`` is the operating point (user speed, output tokens/s), None where nothing runs.
    """

    concurrency: Array
    user_tokens_per_s: Array
    output_tokens_per_s: Array
    low_output_tokens_per_s: Array
    high_output_tokens_per_s: Array
    tpot_ms: Array
    ttft_s: Array
    measured: tuple[MeasuredPoint, ...]
    point: tuple[float, float] | None


@dataclass(frozen=True)
class MonthRow:
    """Tokens of a month at a share of the capacity, all systems."""

    utilization: float
    new_input_tokens: float
    cached_input_tokens: float
    output_tokens: float

    @property
    def tokens(self) -> float:
        """Input and output together."""
        return self.new_input_tokens + self.cached_input_tokens + self.output_tokens


def memory_parts(report: Report) -> tuple[tuple[Part, ...], float, float]:
    """Parts of one accelerator's memory in bytes, its usable bytes, and what is missing (0 where it fits)."""
    found = memory_breakdown(site_inputs(report.inputs), report.result.sizing)
    sizing = report.result.sizing
    accelerators = float(np.asarray(report.inputs.system_count)) * report.resolved.system.accelerators
    if not bool(sizing.fits) and accelerators > 0:
        # the sizing plans for as many machines as hold the weights; here the question is what the planned ones lack
        weights, short = sizing.weights_bytes / accelerators, float(sizing.short_by_bytes) / accelerators
        return (Part("weights", weights), Part("overhead", found.overhead_bytes)), found.usable_bytes, short
    parts = (
        Part("weights", found.weights_bytes),
        Part("cache", found.cache_bytes),
        Part("state", found.state_bytes),
        Part("overhead", found.overhead_bytes),
        Part("free", found.free_bytes),
    )
    return parts, found.usable_bytes, found.short_bytes


def sessions(report: Report) -> tuple[ConcurrencyCurve, ...]:
    """Sessions that fit one replica, by context length, layout and cache precision."""
    return _sessions(site_inputs(report.inputs))


def speed(report: Report) -> Speed | None:
    """Throughput against user speed of one replica; None where the plan does not fit."""
    if not bool(report.result.sizing.fits):
        return None
    curve = _latency(site_inputs(report.inputs))
    if not curve.concurrency.size:
        return None
    sizing = report.result.sizing
    replicas = float(sizing.replicas)
    rate = float(sizing.output_tokens_per_s)
    point = None
    if report.evidence != "none" and replicas > 0 and float(sizing.tpot_ms) > 0:
        point = (1000.0 / float(sizing.tpot_ms), rate / replicas)
    return Speed(
        curve.concurrency,
        1000.0 / curve.tpot_ms,
        curve.output_tokens_per_s,
        curve.low_output_tokens_per_s,
        curve.high_output_tokens_per_s,
        curve.tpot_ms,
        curve.ttft_s,
        curve.measured,
        point,
    )


def first_token(report: Report) -> TtftCurve:
    """Time to first token by input length; NaN where a length does not fit."""
    return _first_token(site_inputs(report.inputs))


def months(report: Report) -> tuple[MonthRow, ...]:
    """Tokens of a month by kind at several shares of the capacity, the scenario's own among them."""
    i = report.inputs
    requests = float(report.result.capacity_requests_per_month)
    ratio = float(np.asarray(i.token_ratio))
    given = float(np.asarray(i.input_tokens)) * ratio * requests
    out = float(np.asarray(i.output_tokens)) * ratio * requests
    reuse = float(np.asarray(i.serving_cached_share))
    shares = sorted({*UTILIZATIONS, float(np.asarray(i.utilization))})
    return tuple(MonthRow(u, u * given * (1 - reuse), u * given * reuse, u * out) for u in shares)
