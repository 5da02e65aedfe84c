"""From a model, a machine and a workload to fit, concurrency, tokens per second, latency and how sure we are.

`sizing_inputs` looks everything up once (layout, fitted constants, measured anchors); `size` is arithmetic on arrays.
The headline, curves, tornado and Monte Carlo call the same `size`; an array result equals the stack of scalar results.

How an answer comes about (README, 'How it works'):

1. Memory says how many sequences fit (calculators.memory).
2. The roofline says rate and latency at a concurrency (calculators.throughput, constants of calibrate.py).
3. Near a measured series of this model on this machine the roofline is scaled by measured / predicted at the measured
   concurrencies. One arm of the measurements (engine, layout, draft) makes a series, and it is held against the plan of
   the site: at its own mix the answer runs through its points. The weight falls smoothly to none with distance in shape
   (log input, log output, cache share, accepted tokens).
4. The operating point is the largest whole concurrency that fits, meets both latency limits, and near a measured series
   does not go beyond the tokens that were resident in its largest measured point.
5. The band is the held-out error of the evidence level (data/calibration.toml), wider where the model is known to fail
   and where one configuration alone supports the answer.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from itertools import pairwise
from typing import Any, Final, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from calculators import memory as mem
from calculators.calibration import Calibration, load_calibration
from calculators.measurements import HasRecords, Point, parse_rows
from calculators.memory import Chip, KvDtype, Layout, ModelShape
from calculators.numbers import three_digits
from calculators.records import System
from calculators.texts import said
from calculators.throughput import CompiledPlan, Constants, Operating, Plan, Pool, Workload, compile_plan, operate

Array = NDArray[np.float64]
Number = float | Array

EVIDENCE: Final = ("measured", "interpolated", "modelled", "class", "uncalibrated", "user", "none")
"""Evidence levels, best first; the index is the code in `Sizing.evidence_code`."""

LIMITS: Final = ("memory", "tpot", "ttft", "measured range", "does not fit", "context", "own test")
"""What bounds the operating point. 'context': a request is longer than the model takes; 'own test': a load test."""

SHAPE_SCALES: Final = (math.log(4.0), math.log(4.0), 0.4, math.log(6.0))
"""Distance of 1 in log input, log output, cache share and log accepted tokens: from there on anchors have no weight."""

MEASURED_KERNEL: Final = 0.95
INTERPOLATED_KERNEL: Final = 0.5
"""Kernel values from which a shape counts as the measured one, and as near enough to interpolate."""

FEW_POINTS: Final = 4
"""An accelerator class with fewer points than this is never called modelled."""

LONG_CONTEXT_TOKENS: Final = 100_000.0
SHORT_PROMPT_TOKENS: Final = 2048.0
WIDEN_KNOWN_TO_FAIL: Final = 1.5
"""In regions where the model is known to fail the band's logarithm grows by this factor."""

REFERENCE_SHAPE: Final = (8192.0, 1024.0)
REFERENCE_TPOT_S: Final = 0.060
"""Workload at which layouts of a machine are compared; fixed, so that the layout does not depend on the workload."""

_MAX_CONCURRENCY: Final = 1e6


@dataclass(frozen=True)
class Anchors:
    """A measured series: points of one model, machine and shape, by rising concurrency.

    rates: measured requests per second; tpots: measured seconds per output token, 0 where not measured.
    strength: 1 for the configuration asked for, less where layout, engine, precision or draft differ.
    layouts: of each point. unstated: what the source of each point leaves open, of 'concurrency' and 'speculation'.
    """

    input_tokens: float
    output_tokens: float
    cached_share: float
    accepted: float
    log_concurrency: tuple[float, ...]
    log_rate_ratio: tuple[float, ...]
    log_tpot_ratio: tuple[float, ...]
    log_ttft_ratio: tuple[float, ...]
    ids: tuple[str, ...]
    source_urls: tuple[str, ...]
    dates: tuple[str, ...]
    resident_tokens: float
    memory_limited: bool
    rates: tuple[float, ...]
    tpots: tuple[float, ...]
    strength: float = 1.0
    layouts: tuple[str, ...] = ()
    unstated: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True)
class Site:
    """Everything about a model on a machine that does not vary between scenarios."""

    model_id: str
    model_name: str
    system_id: str
    system_name: str
    shape: ModelShape
    chip: Chip
    kv_dtype: KvDtype
    plan: Plan
    compiled: CompiledPlan
    constants_name: str
    accelerators_per_system: int
    weights_bytes_per_device: float
    prefill_weights_bytes_per_device: float
    cache_bytes_per_token_per_device: float
    state_bytes_per_device: float
    cache_bytes_per_token: float
    anchors: tuple[Anchors, ...]
    base_evidence: int
    log_low: Array
    log_high: Array
    warnings: tuple[str, ...]
    bound_only: bool
    streaming_bytes_per_s: float
    ladder: tuple[tuple[int, float, float, float], ...]

    @property
    def decode_slots(self) -> int:
        """Independent memory domains of a replica: data-parallel ranks x decode workers."""
        return self.plan.decode.layout.dp * self.plan.decode.workers


@dataclass(frozen=True)
class Stated:
    """What a link says of a sizing, for one workload and any number of machines: it holds whatever data/ say today.

    requests_per_s, concurrency and the latencies are of one replica without an own load test; evidence, limited_by and
    the factors are those of machines that hold a replica. need_bytes: what one replica needs with a single sequence.
    usable_bytes: of one accelerator. device_*: on each accelerator of the decode pool.
    """

    evidence: str
    limited_by: str
    layout: str
    anchor: str
    accelerators_per_system: int
    devices: int
    decode_slots: int
    min_systems: int
    max_context_tokens: int
    max_concurrent_sequences: float
    concurrency: float
    weights_bytes: float
    need_bytes: float
    usable_bytes: float
    cache_bytes_per_token: float
    state_bytes_per_sequence: float
    device_weights_bytes: float
    device_cache_bytes_per_token: float
    device_state_bytes: float
    requests_per_s: float
    tpot_ms: float
    ttft_s: float
    single_stream_tokens_per_s: float
    low_factor: float
    high_factor: float
    own_test_low_factor: float
    own_test_high_factor: float
    prefill_share: float


@dataclass(frozen=True)
class SizingInputs:
    """Workload (numbers or arrays that broadcast) and the site it runs on.

    input_tokens, output_tokens: mean a request. serving_cached_share: share of the input found in the machine's own
    cache. accepted_tokens_per_step: 1 = no speculative decoding. max_tpot_ms, max_ttft_s: limits, infinity = none.
    gpu_memory_utilization: share of usable memory that the engine may take. measured_output_tokens_per_s: own load test
    of ONE whole machine at this mix, NaN = none; with several machines it is multiplied by their number.
    system_count: machines, whole numbers >= 0.
    stated: figures that replace the site's where the workload is ``stated_for`` (values of `WORKLOAD`, in that order).
    """

    site: Site
    input_tokens: Number
    output_tokens: Number
    serving_cached_share: Number = 0.0
    accepted_tokens_per_step: Number = 1.0
    max_tpot_ms: Number = math.inf
    max_ttft_s: Number = math.inf
    gpu_memory_utilization: Number = 0.90
    measured_output_tokens_per_s: Number = math.nan
    system_count: Number = 1.0
    stated: Stated | None = None
    stated_for: tuple[float, ...] = ()

    @property
    def devices(self) -> int:
        """Accelerators of one replica."""
        return self.site.plan.devices if self.stated is None else self.stated.devices

    @property
    def accelerators_per_system(self) -> int:
        """Accelerators of one machine."""
        return self.site.accelerators_per_system if self.stated is None else self.stated.accelerators_per_system


@dataclass(frozen=True)
class Sizing:
    """What the machine does. Arrays share the inputs' broadcast shape; rates are of all systems together.

    fits: the weights and at least one sequence fit on the machines given, and a request the model's context (if not,
    limited_by is 'context', no memory is short and no number of machines helps). max_concurrent_sequences: per replica,
    concurrency: per replica at the operating point. short_by_bytes: 0 where it fits. min_systems: smallest count of
    this machine that holds one replica, 0 = none does. low_factor, high_factor: band of the throughput.
    evidence and anchor describe the first element; evidence_code has one entry per element (index into EVIDENCE).
    single_stream_tokens_per_s: speed of one lone request, also where the latency limit cannot be met.
    tpot_ms and ttft_s are those of the operating point, of one lone request where the limits cannot be met, and of the
    replica that would be needed where the machines given are too few: show them only where `fits`.
    With an own load test concurrency, tpot_ms and ttft_s are NaN, unknown: the test gives a rate, and figures of the
    model beside it would contradict it. anchor is None then.
    """

    fits: NDArray[np.bool_]
    weights_bytes: float
    usable_bytes: Array
    cache_bytes_per_token: float
    state_bytes_per_sequence: float
    max_concurrent_sequences: Array
    short_by_bytes: Array
    min_systems: NDArray[np.int64]
    replicas: Array
    concurrency: Array
    requests_per_s: Array
    output_tokens_per_s: Array
    new_input_tokens_per_s: Array
    cached_input_tokens_per_s: Array
    tpot_ms: Array
    ttft_s: Array
    single_stream_tokens_per_s: Array
    low_factor: Array
    high_factor: Array
    limited_by: NDArray[np.str_]
    evidence: str
    evidence_code: NDArray[np.int64]
    anchor: Mapping[str, Any] | None
    layout: str
    warnings: tuple[str, ...] = field(default=())


# --------------------------------------------------------------------------------------------------------- anchoring


def _kernel(distance2: Array) -> Array:
    """Compact, smooth: 1 at distance 0, 0 from distance 1 on."""
    near = np.maximum(1.0 - distance2, 0.0)
    return np.asarray(near * near * near, dtype=np.float64)


def _shape_distance2(
    anchors: Anchors, x_in: Array, x_out: Array, cached: Array, accepted: Array
) -> tuple[Array, Array]:
    """Squared distance in all four directions, and in the two lengths alone."""
    lengths = ((x_in - math.log(anchors.input_tokens)) / SHAPE_SCALES[0]) ** 2 + (
        (x_out - math.log(anchors.output_tokens)) / SHAPE_SCALES[1]
    ) ** 2
    other = ((cached - anchors.cached_share) / SHAPE_SCALES[2]) ** 2 + (
        (np.log(accepted) - math.log(anchors.accepted)) / SHAPE_SCALES[3]
    ) ** 2
    return lengths + other, lengths


class Correction:
    """Measured / predicted of the nearby series, as a function of concurrency."""

    def __init__(self, anchors: Sequence[Anchors], x_in: Array, x_out: Array, cached: Array, accepted: Array) -> None:
        """Weigh the series at log input, log output, cache share and accepted tokens (arrays that broadcast)."""
        parts: list[tuple[Anchors, Array]] = []
        self.lengths_kernels: list[tuple[Anchors, Array]] = []
        for series in anchors:
            d2, lengths2 = _shape_distance2(series, x_in, x_out, cached, accepted)
            near_lengths = _kernel(lengths2)
            if float(near_lengths.max()) <= 0.0:
                continue
            self.lengths_kernels.append((series, near_lengths))
            near = series.strength * _kernel(d2)
            if float(near.max()) > 0.0:
                parts.append((series, near))
        self.series: list[tuple[Anchors, Array, Array]] = []
        self.weighted: list[NDArray[np.intp] | None] = []
        if len(parts) == 1:
            self.series = [(parts[0][0], parts[0][1], parts[0][1])]
        elif parts:
            # A series at distance 0 must count alone, so the others are damped by how near it is.
            far = [1.0 - near for _, near in parts]
            weights = []
            for i, (_, near) in enumerate(parts):
                weight = near
                for j, other in enumerate(far):
                    if j != i:
                        weight = weight * other
                weights.append(weight)
            total = np.maximum(sum(weights), 1e-300)
            scale = (1.0 - np.prod(np.broadcast_arrays(*far), axis=0)) / total
            self.series = [(s, np.asarray(w * scale), near) for (s, near), w in zip(parts, weights, strict=True)]
        self.weighted = [_where_weighted(weight) for _, weight, _ in self.series]

    def take(self, index: NDArray[np.intp]) -> "Correction":
        """For the ratios at the elements that `index` picks; series without weight there are left out."""
        part = Correction((), _ZERO, _ZERO, _ZERO, _ONE)
        for series, weight, near in self.series:
            picked = weight if weight.size == 1 else weight[index]
            if picked.any():
                part.series.append((series, picked, near))
                part.weighted.append(_where_weighted(picked))
        return part

    def log_ratio(self, of: Literal["rate", "tpot", "ttft"], log_c: Array) -> Array | float:
        """Log of measured / predicted of the rate, the time per token or the time to first token."""
        total: Array | float = 0.0
        for (series, weight, _), index in zip(self.series, self.weighted, strict=True):
            xs, ys = series.log_concurrency, getattr(series, f"log_{of}_ratio")
            if index is None:
                total = total + weight * _piecewise(log_c, xs, ys)
                continue
            # Most elements are far from this series: interpolate only where it has weight.
            part = np.zeros(weight.shape)
            part[index] = weight[index] * _piecewise(log_c if log_c.ndim == 0 else log_c[index], xs, ys)
            total = total + part
        return total

    def ratio(self, of: Literal["rate", "tpot", "ttft"], c: Array) -> Array | float:
        """Measured / predicted at concurrency `c`; 1 where no series has weight."""
        return np.exp(self.log_ratio(of, np.log(c))) if self.series else 1.0


def _where_weighted(weight: Array) -> NDArray[np.intp] | None:
    """Elements with weight, None where they are most of them or few elements are asked for."""
    if weight.ndim != 1 or weight.size <= 64:
        return None
    index = np.flatnonzero(weight)
    return index if index.size < 0.6 * weight.size else None


def _piecewise(at: Array, xs: Sequence[float], ys: Sequence[float]) -> Array | float:
    """np.interp; sums of ramps are faster where there are few corners, as most series have."""
    if len(xs) > 3:
        return np.interp(at, xs, ys)
    total: Array | float = ys[0]
    for x0, x1, y0, y1 in zip(xs, xs[1:], ys, ys[1:], strict=False):
        total = total + (np.minimum(np.maximum(at, x0), x1) - x0) * ((y1 - y0) / (x1 - x0))
    return total


def anchors_from_points(
    points: Sequence[Point],
    plan: Plan,
    shape: ModelShape,
    chip: Chip,
    constants: Constants,
    kv_dtype: KvDtype,
    accepted_by_spec: Mapping[str, float],
) -> tuple[Anchors, ...]:
    """Series of one model and accelerator, one a shape, with measured / predicted under the site's plan.

    Args:
        points: candidates; those with other device counts, pool kinds or precision are left out.
        plan: the plan that the site will use.
        shape: model as the site runs it.
        chip: the accelerator.
        constants: constants of the site.
        kv_dtype: cache width of the site.
        accepted_by_spec: accepted tokens of drafts whose acceptance the row does not state.
    """
    groups: dict[tuple[float, float, float, float], list[tuple[float, Point, Operating]]] = {}
    for point in points:
        if point.suspect or point.saturation or not _same_kind(point, plan):
            continue
        accepted = point.accepted if math.isfinite(point.accepted) else accepted_by_spec.get(point.spec, math.nan)
        if not math.isfinite(accepted):
            continue
        # Against the plan of the site, not the one that was measured: what the site answers at a measured concurrency
        # and mix is then the measured rate at the measured time per token, whatever the layouts differ in.
        compiled = compile_plan(shape, chip, plan, constants, point.kv_dtype)
        concurrency = implied_concurrency(point, compiled, accepted)
        if not math.isfinite(concurrency):
            continue
        op = operate(compiled, concurrency, point.input_tokens, point.output_tokens, point.cached_share, accepted)
        key = (point.input_tokens, point.output_tokens, round(point.cached_share, 2), accepted)
        groups.setdefault(key, []).append((concurrency, point, op))
    result = []
    for (isl, osl, cached, accepted), members in groups.items():
        chosen = _one_arm(members, plan)
        rate, tpot, ttft = [], [], []
        for concurrency, point, op in chosen:
            rate.append(math.log(point.output_tokens_per_s / float(op.requests_per_s * osl)))
            tpot.append(math.log(point.speed_s / float(op.tpot_s)) if point.speed_s > 0 else -rate[-1])
            wait = point.ttft_s
            if not wait > 0:  # by Little's law: what of a request's time in flight is not decode
                wait = concurrency * osl / point.output_tokens_per_s - (osl - 1.0) * point.speed_s
            ttft.append(math.log(wait / float(op.ttft_s)) if wait > 0 else 0.0)
        largest_c, largest, _ = chosen[-1]
        resident = largest_c * (isl + osl)
        layout = largest.plan.decode.layout
        fit = (
            float(mem.tokens_that_fit(shape, layout, largest.kv_dtype, chip.usable_bytes, 0.9, isl + osl))
            * largest.plan.decode.workers
        )
        result.append(
            Anchors(
                input_tokens=isl,
                output_tokens=osl,
                cached_share=cached,
                accepted=accepted,
                log_concurrency=tuple(math.log(m[0]) for m in chosen),
                log_rate_ratio=tuple(rate),
                log_tpot_ratio=tuple(tpot),
                log_ttft_ratio=tuple(ttft),
                ids=tuple(m[1].id for m in chosen),
                source_urls=tuple(m[1].source_url for m in chosen),
                dates=tuple(m[1].date for m in chosen),
                resident_tokens=min(resident, fit),
                # More was offered than the accelerators could hold: the series ended at its memory, not by choice.
                memory_limited=largest.concurrency > 0 and resident > 1.1 * fit,
                rates=tuple(m[1].output_tokens_per_s / osl for m in chosen),
                tpots=tuple(m[1].tpot_s if m[1].tpot_s > 0 else 0.0 for m in chosen),
                layouts=tuple(m[1].plan.name for m in chosen),
                unstated=tuple(m[1].unstated for m in chosen),
            )
        )
    return tuple(result)


def _one_arm(members: Sequence[tuple[float, Point, Operating]], plan: Plan) -> list[tuple[float, Point, Operating]]:
    """The points of one arm of the measurements at one shape, by rising concurrency.

    An arm is what was run as one thing: engine, layout of all pools, draft, and a name that the source gives to it. A
    series that hops between arms would promise the best of each at once, so one arm speaks: the one of the site's own
    layout, else the one that a buyer would run, with the highest rate measured at the reference speed (of the arms with
    two concurrencies or more). Where a source ran every concurrency with one layout only, changing it along the sweep,
    these layouts are one arm.
    """
    arms: dict[tuple[Any, ...], list[tuple[float, Point, Operating]]] = {}
    # The newest software at a concurrency speaks; of the same day the faster run.
    for member in sorted(members, key=lambda m: (m[1].date, m[1].output_tokens_per_s), reverse=True):
        point = member[1]
        arm = arms.setdefault((point.engine, point.plan, point.spec, point.arm), [])
        if all(abs(math.log(member[0] / other[0])) > 0.05 for other in arm):
            arm.append(member)

    def rank(arm: list[tuple[float, Point, Operating]]) -> tuple[bool, bool, float, str]:
        quick = [p.output_tokens_per_s for _, p, _ in arm if not p.speed_s > REFERENCE_TPOT_S]
        return arm[0][1].plan == plan, len(arm) > 1, max(quick, default=0.0), arm[0][1].date

    lead = max(arms.values(), key=rank)

    def sweep(arm: list[tuple[float, Point, Operating]]) -> tuple[str, str, str, str]:
        point = arm[0][1]
        return point.source_url, point.date, point.engine, point.spec

    same = sorted((arm for arm in arms.values() if sweep(arm) == sweep(lead)), key=lambda arm: min(m[0] for m in arm))
    apart = all(max(m[0] for m in a) < min(m[0] for m in b) for a, b in pairwise(same))
    return sorted((m for arm in (same if apart else [lead]) for m in arm), key=lambda m: m[0])


def implied_concurrency(point: Point, compiled: CompiledPlan, accepted: float) -> float:
    """Requests in flight of a point: stated, or by Little's law from its rate and latency; NaN when neither is known.

    With separate pools the time before decode is the model's own when the row does not state it.
    """
    if point.concurrency > 0:
        return point.concurrency
    tpot = point.speed_s
    if not math.isfinite(tpot):
        return math.nan
    rate = point.output_tokens_per_s / point.output_tokens
    decoding = rate * (point.output_tokens - 1.0) * tpot
    ttft = point.ttft_s
    if not math.isfinite(ttft):
        ttft = float(
            operate(
                compiled, max(decoding, 1.0), point.input_tokens, point.output_tokens, point.cached_share, accepted
            ).ttft_s
        )
    return max(decoding + rate * ttft, 1.0)


def _same_kind(point: Point, plan: Plan) -> bool:
    """Whether a measured point speaks for a plan: same device counts, pools and tensor width; DCP and EP may differ."""
    if (point.plan.prefill is None) != (plan.prefill is None) or point.devices != plan.devices:
        return False
    a, b = point.plan.decode, plan.decode
    if a.workers != b.workers or (a.layout.tp, a.layout.pp, a.layout.dp) != (b.layout.tp, b.layout.pp, b.layout.dp):
        return False
    if point.plan.prefill is None or plan.prefill is None:
        return True
    return point.plan.prefill.devices == plan.prefill.devices


# ------------------------------------------------------------------------------------------------------------ layouts


def _powers_of_two(limit: int) -> list[int]:
    return [2**i for i in range(limit.bit_length()) if 2**i <= limit]


def plan_fits(
    shape: ModelShape, chip: Chip, plan: Plan, kv_dtype: KvDtype, utilization: float, tokens: float = 8192.0
) -> bool:
    """Whether every device of every pool holds its weights and the decode pool one sequence of `tokens`."""
    for pool in (plan.decode, plan.prefill):
        if pool is None:
            continue
        free = mem.free_bytes_per_device(shape, pool.layout, chip.usable_bytes, utilization)
        need = 0.0
        if pool is plan.decode:
            need = mem.cache_bytes_per_token_per_device(
                shape, pool.layout, kv_dtype
            ) * tokens + mem.state_bytes_per_device(shape, pool.layout, kv_dtype)
        if float(free) < need:
            return False
    return True


def unified_plan(shape: ModelShape, chip: Chip, system: System, devices: int, dcp: bool = True) -> Plan:
    """Shared pool on `devices` accelerators: tensor parallel inside a scale-up domain, pipeline across."""
    per_node = max(1, min(system.accelerators_per_node, devices))
    width = per_node if chip.link_domain <= per_node else min(8, chip.link_domain, devices)
    tp = math.gcd(devices, width)
    pp = devices // tp
    use_dcp = tp if dcp and shape.has_mla and tp > 1 else 1
    return Plan(Pool(Layout(tp=tp, pp=pp, dcp=use_dcp)))


def smallest_devices(
    shape: ModelShape, chip: Chip, system: System, kv_dtype: KvDtype, utilization: float, limit: int = 4096
) -> int:
    """Smallest device count whose memory holds the model: a power of two (tensors and experts divide), or one machine.

    0 = none up to `limit`.
    """
    sizes = sorted(set(_powers_of_two(limit)) | {system.accelerators})
    for devices in sizes:
        if plan_fits(shape, chip, unified_plan(shape, chip, system, devices), kv_dtype, utilization):
            return devices
    return 0


def _ladder(
    shape: ModelShape, chip: Chip, system: System, kv_dtype: KvDtype, limit: int = 4096
) -> tuple[tuple[int, float, float, float], ...]:
    """Device counts that a replica may have, with weights, cache per token and state on each device, bytes."""
    rows = []
    for devices in sorted(set(_powers_of_two(limit)) | {system.accelerators}):
        layout = unified_plan(shape, chip, system, devices).decode.layout
        rows.append(
            (
                devices,
                mem.weights_bytes_per_device(shape, layout),
                mem.cache_bytes_per_token_per_device(shape, layout, kv_dtype),
                mem.state_bytes_per_device(shape, layout, kv_dtype),
            )
        )
    return tuple(rows)


def _reference_rate(compiled: CompiledPlan, fit_sequences: float, series: Sequence[Anchors]) -> float:
    """Requests per second of a replica at the reference shape and speed, for comparing layouts.

    Scaled by measured / predicted at the concurrency itself where a series lies near the reference shape, else by the
    mean of what was measured at other shapes.
    """
    grid = np.unique(np.floor(np.geomspace(1.0, max(min(fit_sequences, 1e5), 1.0), 48)))
    op = operate(compiled, grid, *REFERENCE_SHAPE)
    x_in, x_out = (np.asarray(math.log(n)) for n in REFERENCE_SHAPE)
    near = Correction(series, x_in, x_out, _ZERO, _ONE)
    rate, tpot = op.requests_per_s, op.tpot_s * near.ratio("tpot", grid)
    if near.series:
        rate = rate * near.ratio("rate", grid)
    elif series:
        rate = rate * math.exp(float(np.mean([r for s in series for r in s.log_rate_ratio])))
    ok = tpot <= REFERENCE_TPOT_S
    if not bool(np.any(ok)):
        return float(rate[0]) * 1e-3
    return float(np.max(rate[ok]))


def choose_plan(
    shape: ModelShape,
    chip: Chip,
    system: System,
    kv_dtype: KvDtype,
    constants: Constants,
    points: Sequence[Point],
    accepted_by_spec: Mapping[str, float],
) -> Plan:
    """Layout of one replica: the candidate with the highest rate per machine at the reference workload.

    Candidates are shared pools from the smallest device count that fits up to one machine, and the plans that were
    measured for this model on this accelerator. A measured candidate counts with its measured / predicted ratio.
    It never depends on the workload, so that curves and Monte Carlo draws are of one machine.
    """
    least = smallest_devices(shape, chip, system, kv_dtype, 0.9)
    if not least:
        return unified_plan(shape, chip, system, system.accelerators)
    largest = max(least, system.accelerators)
    candidates: dict[str, Plan] = {}
    for devices in _powers_of_two(largest):
        if devices >= least:
            plan = unified_plan(shape, chip, system, devices)
            candidates[plan.name] = plan
    if system.accelerators >= least:
        plan = unified_plan(shape, chip, system, system.accelerators)
        candidates[plan.name] = plan
    for point in points:
        if not point.suspect and point.devices <= largest and point.plan.prefill is not None:
            layout = point.plan.decode.layout
            if shape.has_mla and layout.tp > 1 and layout.dp == 1 and layout.ep == 1:
                layout = Layout(tp=layout.tp, pp=layout.pp, dcp=layout.tp)
            plan = Plan(Pool(layout, point.plan.decode.workers), point.plan.prefill)
            candidates[plan.name] = plan
    best, best_score = None, -1.0
    machines = max(1, math.ceil(least / system.accelerators))
    for plan in candidates.values():
        if not plan_fits(shape, chip, plan, kv_dtype, 0.9):
            continue
        compiled = compile_plan(shape, chip, plan, constants, kv_dtype)
        layout = plan.decode.layout
        room = float(mem.sequences_that_fit(shape, layout, kv_dtype, chip.usable_bytes, 0.9, sum(REFERENCE_SHAPE)))
        series = anchors_from_points(points, plan, shape, chip, constants, kv_dtype, accepted_by_spec)
        if plan.prefill is not None and not series:
            continue
        whole = max(machines, math.ceil(plan.devices / system.accelerators))
        replicas = whole * system.accelerators // plan.devices
        score = _reference_rate(compiled, room * plan.decode.workers, series) * replicas / whole
        if score > best_score * 1.02:
            best, best_score = plan, score
    return best if best is not None else unified_plan(shape, chip, system, least)


# ------------------------------------------------------------------------------------------------------------ builder


def _points_of(catalog: HasRecords, rows: Sequence[Mapping[str, str]] | None) -> tuple[Point, ...]:
    if rows is not None:
        return tuple(parse_rows(rows, catalog)[0])
    return _catalog_points(_ById(catalog))


_It = TypeVar("_It")
_Curve = TypeVar("_Curve")


class _ById(Generic[_It]):
    """Makes a catalogue or a site hashable by identity, for the caches of what follows from it."""

    def __init__(self, it: _It) -> None:
        self.it = it

    def __hash__(self) -> int:
        return id(self.it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.it is self.it


@lru_cache(maxsize=8)
def _catalog_points(key: _ById[HasRecords]) -> tuple[Point, ...]:
    from calculators.calibration import measurement_rows

    return tuple(parse_rows(measurement_rows(), key.it)[0])


@lru_cache(maxsize=512)
def _site(
    key: _ById[HasRecords], model_id: str, system_id: str, kv_dtype: KvDtype, exclude: frozenset[str], anchored: bool
) -> Site:
    catalog = key.it
    model = catalog.models[model_id]
    system = catalog.systems[system_id]
    accelerator = catalog.accelerators[system.accelerator]
    override = system.weights_bytes_override.value if system.weights_bytes_override is not None else None
    shape = mem.model_shape(model, override)
    chip = mem.chip(accelerator)
    # Inside one machine accelerators reach each other over its own links, whatever the chip's own fabric spans.
    chip = replace(chip, link_domain=max(chip.link_domain, system.accelerators_per_node))
    calibration: Calibration = load_calibration()
    measured_as = model.sized_as or model_id
    own = [
        p
        for p in _catalog_points(key)
        if p.model_id == measured_as
        and p.accelerator_id == accelerator.id
        and p.id not in exclude
        and abs(_point_bits(p.precision) - (shape.routed_bits or shape.dense_bits)) < 0.2
    ]
    warnings: list[str] = list(model.warnings)
    streaming = system.streaming_bytes_per_s.value if system.streaming_bytes_per_s is not None else math.nan
    bound_only = not calibration.knows_class(chip.class_id)
    few = calibration.points_of_class(chip.class_id)
    if bound_only:
        # One socket or computer: bandwidth alone. Many joined accelerators also pay the latency of joining them, at
        # least what the best calibrated machine pays.
        joined = system.accelerators > 1
        constants = calibration.best_constants() if joined else Constants.bound()
        name: str = said("warning.bound_bandwidth_latency") if joined else said("warning.bound_bandwidth")
        engine = ""
    else:
        chosen = calibration.for_model(chip.class_id, measured_as, _engine_of(own))
        constants, name, engine = chosen.constants, chosen.name, chosen.engine
    plan = choose_plan(shape, chip, system, kv_dtype, constants, own, calibration.accepted_by_spec)
    if math.isfinite(streaming):
        plan = unified_plan(shape, chip, system, system.accelerators)
        warnings.append(said("warning.streaming", rate=f"{streaming / 1e9:.3g}"))
    compiled = compile_plan(shape, chip, plan, constants, kv_dtype)
    if math.isfinite(streaming):
        compiled = _streaming(compiled, shape, chip, streaming)
    anchors = (
        anchors_from_points(own, plan, shape, chip, constants, kv_dtype, calibration.accepted_by_spec)
        if anchored and not bound_only
        else ()
    )
    if bound_only:
        base = EVIDENCE.index("uncalibrated")
    elif few < FEW_POINTS:
        base = EVIDENCE.index("class")
        if calibration.lone_of(chip.class_id, engine, measured_as) is None:
            few_key = "warning.few_points_many" if few > 1 else "warning.few_points_one"
            warnings.append(said(few_key, chip=accelerator.name, n=few))
    elif calibration.knows_model(measured_as, chip.class_id) and not model.sized_as:
        base = EVIDENCE.index("modelled")
    else:
        base = EVIDENCE.index("class")
    if model.sized_as:
        sized = catalog.models[model.sized_as].name if model.sized_as in catalog.models else model.sized_as
        text = said("warning.sized_as", model=model.name, other=sized)
        if not any("sized as" in w.lower() for w in warnings):
            warnings.append(text)
    if bound_only:
        warnings.append(said("warning.uncalibrated", chip=accelerator.name, bound=name))
    decode = plan.decode.layout
    bands = calibration.bands_for(EVIDENCE)
    low, high = np.array([b.low for b in bands]), np.array([b.high for b in bands])
    lone = None if bound_only else calibration.lone_of(chip.class_id, engine, measured_as)
    if lone is not None:
        # What one configuration alone supports is not known better than that configuration was when held out.
        levels = [EVIDENCE.index("modelled"), EVIDENCE.index("class")]
        low[levels], high[levels] = np.minimum(low[levels], lone.low), np.maximum(high[levels], lone.high)
        places = {"model": model.name, "chip": accelerator.name, "factor": f"{lone.high:.2f}"}
        warnings.append(said(f"warning.one_configuration_{'of_model' if lone.model_id else 'of_class'}", **places))
    return Site(
        model_id=model_id,
        model_name=model.name,
        system_id=system_id,
        system_name=system.name,
        shape=shape,
        chip=chip,
        kv_dtype=kv_dtype,
        plan=plan,
        compiled=compiled,
        constants_name=name,
        accelerators_per_system=system.accelerators,
        weights_bytes_per_device=mem.weights_bytes_per_device(shape, decode),
        prefill_weights_bytes_per_device=(
            mem.weights_bytes_per_device(shape, plan.prefill.layout) if plan.prefill else 0.0
        ),
        cache_bytes_per_token_per_device=mem.cache_bytes_per_token_per_device(shape, decode, kv_dtype),
        state_bytes_per_device=mem.state_bytes_per_device(shape, decode, kv_dtype),
        cache_bytes_per_token=mem.cache_bytes_per_token(shape, kv_dtype),
        anchors=anchors,
        base_evidence=base,
        log_low=np.log(low),
        log_high=np.log(high),
        warnings=tuple(warnings),
        bound_only=bound_only,
        streaming_bytes_per_s=streaming,
        ladder=_ladder(shape, chip, system, kv_dtype),
    )


def _point_bits(precision: str) -> float:
    return mem.PRECISIONS[precision][0]


def _engine_of(points: Sequence[Point]) -> str:
    """Engine with the most points of this model on this machine, '' without any."""
    counts: dict[str, int] = {}
    for point in points:
        counts[point.engine] = counts.get(point.engine, 0) + 1
    return max(sorted(counts), key=lambda e: counts[e]) if counts else ""


def sizing_inputs(
    catalog: HasRecords,
    model_id: str,
    system_id: str,
    *,
    input_tokens: Number,
    output_tokens: Number,
    serving_cached_share: Number = 0.0,
    accepted_tokens_per_step: Number = 1.0,
    max_tpot_ms: Number = math.inf,
    max_ttft_s: Number = math.inf,
    gpu_memory_utilization: Number = 0.90,
    kv_dtype: KvDtype = "fp8",
    measured_output_tokens_per_s: Number = math.nan,
    system_count: Number = 1.0,
    exclude_measurements: frozenset[str] = frozenset(),
    anchored: bool = True,
) -> SizingInputs:
    """Look up a model on a machine and pair it with a workload.

    Args:
        catalog: records by id.
        model_id: key of catalog.models.
        system_id: key of catalog.systems.
        input_tokens: mean input tokens a request.
        output_tokens: mean output tokens a request.
        serving_cached_share: share of the input found in the machine's own cache, 0 to 1.
        accepted_tokens_per_step: tokens a decode step emits; 1 = no speculative decoding.
        max_tpot_ms: limit of the time per output token, infinity = none.
        max_ttft_s: limit of the time to first token, infinity = none.
        gpu_memory_utilization: share of usable memory that the engine may take.
        kv_dtype: cache width, 'fp8' or 'bf16'.
        measured_output_tokens_per_s: own load test of one whole machine at this mix, NaN = none.
        system_count: machines, whole numbers from 0.
        exclude_measurements: ids of measured points that may not serve as anchors (for judging accuracy).
        anchored: False ignores all measured points.

    Raises:
        ValueError: an id is not in the catalogue, or kv_dtype is neither 'fp8' nor 'bf16'.
    """
    if model_id not in catalog.models:
        raise ValueError(f"model {model_id!r} is not in the catalogue; known: {', '.join(sorted(catalog.models))}")
    if system_id not in catalog.systems:
        raise ValueError(f"system {system_id!r} is not in the catalogue; known: {', '.join(sorted(catalog.systems))}")
    if kv_dtype not in mem.KV_BYTES:
        raise ValueError(f"kv_dtype {kv_dtype!r} is not one of {', '.join(mem.KV_BYTES)}")
    return SizingInputs(
        site=_site(_ById(catalog), model_id, system_id, kv_dtype, exclude_measurements, anchored),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        serving_cached_share=serving_cached_share,
        accepted_tokens_per_step=accepted_tokens_per_step,
        max_tpot_ms=max_tpot_ms,
        max_ttft_s=max_ttft_s,
        gpu_memory_utilization=gpu_memory_utilization,
        measured_output_tokens_per_s=measured_output_tokens_per_s,
        system_count=system_count,
    )


def _streaming(compiled: CompiledPlan, shape: ModelShape, chip: Chip, bytes_per_s: float) -> CompiledPlan:
    """Weights beyond memory are read from the SSD each time: dense tensors stay resident first, then experts."""
    room = chip.usable_bytes * 0.9
    dense_resident = min(1.0, room / shape.dense_bytes)
    routed_resident = min(1.0, max(room - shape.dense_bytes, 0.0) / shape.routed_bytes) if shape.routed_bytes else 1.0

    def seconds(amount: float, resident: float) -> float:
        return amount * resident / chip.bandwidth_bytes_per_s + amount * (1 - resident) / bytes_per_s

    terms = replace(
        compiled.decode,
        dense_weights_s=seconds(shape.dense_read_bytes, dense_resident),
        routed_weights_s=seconds(shape.routed_bytes, routed_resident),
        chunk_weights_s=seconds(shape.dense_bytes, dense_resident) + seconds(shape.routed_bytes, routed_resident),
    )
    return replace(compiled, decode=terms, prefill=terms)


# --------------------------------------------------------------------------------------------------------------- size

_CHUNK: Final = 16384
"""Elements evaluated at once: intermediate arrays stay near the processor, and the calls are few."""

_NUMERIC: Final = (
    "input_tokens",
    "output_tokens",
    "serving_cached_share",
    "accepted_tokens_per_step",
    "max_tpot_ms",
    "max_ttft_s",
    "gpu_memory_utilization",
    "measured_output_tokens_per_s",
    "system_count",
)


WORKLOAD: Final = tuple(name for name in _NUMERIC if name not in ("measured_output_tokens_per_s", "system_count"))
"""What figures that a link states are stated for: all but the number of machines and the own load test."""


def size(x: SizingInputs) -> Sizing:
    """Fit, operating point and throughput of a workload on a site.

    Args:
        x: numbers or arrays that broadcast to a common shape.

    Returns:
        Sizing with arrays of that shape. What does not fit has fits False, no concurrency and no throughput; what fits
        and cannot meet a latency limit even with one request has concurrency 0 and the limit in `limited_by`.
    """
    key = _workload_of(x)
    if key is None:
        return _size(x, {name: np.asarray(getattr(x, name), dtype=np.float64) for name in _NUMERIC})
    return _size_one(key)


@dataclass(frozen=True)
class _Workload:
    """One scalar workload on a site, as a key; NaN, which is not equal to itself, is None."""

    site: _ById[Site]
    stated: Stated | None
    stated_for: tuple[float, ...]
    numbers: tuple[float | None, ...]

    def inputs(self) -> SizingInputs:
        """The workload as inputs again."""
        values = {n: math.nan if v is None else v for n, v in zip(_NUMERIC, self.numbers, strict=True)}
        return SizingInputs(site=self.site.it, stated=self.stated, stated_for=self.stated_for, **values)


def _workload_of(x: SizingInputs) -> _Workload | None:
    """The key of scalar inputs; None for arrays."""
    values = [getattr(x, name) for name in _NUMERIC]
    if any(np.ndim(v) for v in values):
        return None
    return _Workload(_ById(x.site), x.stated, x.stated_for, tuple(None if math.isnan(v) else float(v) for v in values))


@lru_cache(maxsize=512)
def _size_one(key: _Workload) -> Sizing:
    """One workload, kept: prices, loads and money do not change it, and a table of machines asks for all of them."""
    x = key.inputs()
    return _size(x, {n: np.asarray(getattr(x, n), dtype=np.float64) for n in _NUMERIC})


def kept_by_workload(curve: Callable[[SizingInputs], _Curve]) -> Callable[[SizingInputs], _Curve]:
    """A curve of one workload, kept as `_size_one` keeps its sizing."""

    @lru_cache(maxsize=64)
    def of(key: _Workload) -> _Curve:
        return curve(key.inputs())

    @wraps(curve)
    def kept(x: SizingInputs) -> _Curve:
        key = _workload_of(x)
        return curve(x) if key is None else of(key)

    return kept


def _size(x: SizingInputs, arrays: dict[str, Array]) -> Sizing:
    shape = np.broadcast_shapes(*(a.shape for a in arrays.values()))
    count = math.prod(shape)
    if count <= _CHUNK:
        raw = _figures(x, arrays)
        out = {k: v if v.shape == shape else np.broadcast_to(v, shape) for k, v in raw.items()}
    else:
        out = _evaluate_chunks(x, arrays, shape, count)
    site, stated = x.site, x.stated
    first = {k: a.reshape(-1)[0] if a.size else a for k, a in out.items()}
    code = int(first["evidence"]) if count else EVIDENCE.index("none")
    head = {k: float(a.reshape(-1)[0]) for k, a in arrays.items() if a.size}
    anchor = _anchor(x, head, first) if count else None
    return Sizing(
        fits=out["fits"],
        weights_bytes=site.shape.weights_bytes if stated is None else stated.weights_bytes,
        usable_bytes=out["usable_bytes"],
        cache_bytes_per_token=site.cache_bytes_per_token if stated is None else stated.cache_bytes_per_token,
        state_bytes_per_sequence=(
            site.shape.state_bytes_per_sequence if stated is None else stated.state_bytes_per_sequence
        ),
        max_concurrent_sequences=out["max_concurrent_sequences"],
        short_by_bytes=out["short_by_bytes"],
        min_systems=out["min_systems"],
        replicas=out["replicas"],
        concurrency=out["concurrency"],
        requests_per_s=out["requests_per_s"],
        output_tokens_per_s=out["output_tokens_per_s"],
        new_input_tokens_per_s=out["new_input_tokens_per_s"],
        cached_input_tokens_per_s=out["cached_input_tokens_per_s"],
        tpot_ms=out["tpot_ms"],
        ttft_s=out["ttft_s"],
        single_stream_tokens_per_s=out["single_stream_tokens_per_s"],
        low_factor=out["low_factor"],
        high_factor=out["high_factor"],
        limited_by=np.asarray(LIMITS).take(out["limit"]),
        evidence=EVIDENCE[code],
        evidence_code=out["evidence"],
        anchor=anchor,
        layout=site.plan.name if stated is None else stated.layout,
        warnings=_warnings(x, head, first, anchor) if count else site.warnings,
    )


def _figures(x: SizingInputs, a: Mapping[str, Array]) -> dict[str, NDArray[Any]]:
    """All figures of `size` for one chunk: stated ones where the workload is the one they are stated for."""
    if x.stated is None:
        return _evaluate(x.site, a)
    same = np.logical_and.reduce(
        np.broadcast_arrays(*(a[name] == value for name, value in zip(WORKLOAD, x.stated_for, strict=True)))
    )
    if not bool(same.any()):
        return _evaluate(x.site, a)
    then = _figures_stated(x.stated, a)
    if bool(same.all()):
        return then
    return {name: np.where(same, then[name], value) for name, value in _evaluate(x.site, a).items()}


def _figures_stated(stated: Stated, a: Mapping[str, Array]) -> dict[str, NDArray[Any]]:
    """What `_evaluate` gives, from the figures that a link states and the number of machines."""
    given, out, cached = a["input_tokens"], a["output_tokens"], a["serving_cached_share"]
    devices, per_system = stated.devices, stated.accelerators_per_system
    systems = np.floor(a["system_count"] + 1e-9)
    accelerators = systems * per_system
    holds = stated.max_concurrent_sequences >= 1
    too_long = stated.limited_by == "context"
    replicas = np.floor(accelerators / devices + 1e-9)
    fits = holds & (replicas >= 1)
    usable = stated.usable_bytes * a["gpu_memory_utilization"]
    short = np.maximum(stated.need_bytes - usable * np.minimum(accelerators, devices), 0.0)
    user = a["measured_output_tokens_per_s"]
    has_user = np.isfinite(user) & (user > 0)
    units = np.where(devices <= per_system, systems, replicas)
    runs = fits & ((stated.concurrency >= 1) | has_user)
    total = np.where(runs, np.where(has_user, user / out * units, stated.requests_per_s * replicas), 0.0)
    unknown = has_user & fits
    code = np.where(has_user, LIMITS.index("own test"), LIMITS.index(stated.limited_by))
    evidence = np.where(has_user, EVIDENCE.index("user"), EVIDENCE.index(stated.evidence))
    return {
        "fits": np.asarray(fits),
        "usable_bytes": np.asarray(stated.usable_bytes * accelerators),
        "max_concurrent_sequences": np.asarray(stated.max_concurrent_sequences),
        "short_by_bytes": np.asarray(np.where(fits | too_long, 0.0, short)),
        "min_systems": np.asarray(stated.min_systems),
        "replicas": np.asarray(np.where(holds, replicas, 0.0)),
        "concurrency": np.asarray(np.where(fits, np.where(has_user, math.nan, stated.concurrency), 0.0)),
        "requests_per_s": np.asarray(total),
        "output_tokens_per_s": np.asarray(total * out),
        "new_input_tokens_per_s": np.asarray(total * given * (1.0 - cached)),
        "cached_input_tokens_per_s": np.asarray(total * given * cached),
        "tpot_ms": np.asarray(np.where(unknown, math.nan, stated.tpot_ms)),
        "ttft_s": np.asarray(np.where(unknown, math.nan, stated.ttft_s)),
        "single_stream_tokens_per_s": np.asarray(np.where(fits, stated.single_stream_tokens_per_s, 0.0)),
        "low_factor": np.asarray(
            np.where(runs, np.where(has_user, stated.own_test_low_factor, stated.low_factor), 1.0)
        ),
        "high_factor": np.asarray(
            np.where(runs, np.where(has_user, stated.own_test_high_factor, stated.high_factor), 1.0)
        ),
        "limit": np.asarray(np.where(fits, code, LIMITS.index("context" if too_long else "does not fit"))),
        "evidence": np.asarray(np.where(runs, evidence, EVIDENCE.index("none"))),
    }


def stated_of(x: SizingInputs, factor: float = 1.0) -> Stated:
    """What a link has to state of scalar inputs, so that the same sizing comes out of other data.

    Args:
        x: scalar inputs, stated or not.
        factor: what the throughput is multiplied with.
    """
    site, then = x.site, x.stated
    # a count that holds a replica: what one replica does is stated even where the machines given are too few for it
    enough = float(max(math.ceil(x.devices / x.accelerators_per_system), 1))
    one = size(replace(x, system_count=enough, measured_output_tokens_per_s=math.nan))
    replicas = float(one.replicas)
    context = np.asarray(x.input_tokens, dtype=float) + np.asarray(x.output_tokens, dtype=float)
    low, high = (np.exp(v[EVIDENCE.index("user")]) for v in (site.log_low, site.log_high))
    return Stated(
        evidence=one.evidence,
        limited_by=str(one.limited_by),
        layout=one.layout,
        anchor=then.anchor if then is not None else "" if one.anchor is None else str(one.anchor["id"]),
        accelerators_per_system=x.accelerators_per_system,
        devices=x.devices,
        decode_slots=site.decode_slots if then is None else then.decode_slots,
        min_systems=int(one.min_systems),
        max_context_tokens=site.shape.max_context_tokens if then is None else then.max_context_tokens,
        max_concurrent_sequences=float(one.max_concurrent_sequences),
        concurrency=float(one.concurrency),
        weights_bytes=one.weights_bytes,
        need_bytes=float(_need_bytes(site, context)) if then is None else then.need_bytes,
        usable_bytes=site.chip.usable_bytes if then is None else then.usable_bytes,
        cache_bytes_per_token=one.cache_bytes_per_token,
        state_bytes_per_sequence=one.state_bytes_per_sequence,
        device_weights_bytes=site.weights_bytes_per_device if then is None else then.device_weights_bytes,
        device_cache_bytes_per_token=(
            site.cache_bytes_per_token_per_device if then is None else then.device_cache_bytes_per_token
        ),
        device_state_bytes=site.state_bytes_per_device if then is None else then.device_state_bytes,
        requests_per_s=float(one.requests_per_s) / replicas * factor if replicas > 0 else 0.0,
        tpot_ms=float(one.tpot_ms),
        ttft_s=float(one.ttft_s),
        single_stream_tokens_per_s=float(one.single_stream_tokens_per_s),
        low_factor=float(one.low_factor),
        high_factor=float(one.high_factor),
        own_test_low_factor=float(low) if then is None else then.own_test_low_factor,
        own_test_high_factor=float(high) if then is None else then.own_test_high_factor,
        prefill_share=prefill_share(x, float(one.concurrency)) if one.concurrency >= 1 else 0.0,
    )


def with_stated(x: SizingInputs, stated: Stated) -> SizingInputs:
    """Scalar inputs with the figures that a link states for them; unchanged where data/ give the same today."""
    today = vars(stated_of(x))
    differ = (
        today[name] != then if isinstance(then, str) else not math.isclose(today[name], then, rel_tol=1e-9)
        for name, then in vars(stated).items()
        if name not in ("layout", "anchor")  # where the figures come from, not what they are
    )
    if not any(differ):
        return x
    return replace(x, stated=stated, stated_for=tuple(float(np.asarray(getattr(x, name))) for name in WORKLOAD))


def prefill_share(x: SizingInputs, concurrency: float) -> float:
    """Share of the machines' time that goes into prefill at a concurrency of one replica (scalar inputs).

    One pool: time of a batch's prompts / (their time + time of their decode steps). Separate pools: share of devices.
    """
    if x.stated is not None:
        return x.stated.prefill_share
    plan = x.site.plan
    if plan.prefill is not None:
        return plan.prefill.devices / plan.devices
    load = Workload(
        x.site.compiled, x.input_tokens, x.output_tokens, x.serving_cached_share, x.accepted_tokens_per_step
    )
    local = np.asarray(concurrency / plan.decode.workers)
    prompts = local * load.prompt_s(local)
    decode = load.decode_steps * load.step_s(local)
    return float(prompts / (prompts + decode))


def _evaluate_chunks(
    x: SizingInputs, arrays: Mapping[str, Array], shape: tuple[int, ...], count: int
) -> dict[str, NDArray[Any]]:
    """`_evaluate` piece by piece: intermediate arrays stay in cache. Threads were slower, the pieces are short."""
    flat = {k: (a if a.ndim == 0 else np.broadcast_to(a, shape).reshape(-1)) for k, a in arrays.items()}

    out: dict[str, NDArray[Any]] = {}
    for start in range(0, count, _CHUNK):
        part = _figures(x, {k: (a if a.ndim == 0 else a[start : start + _CHUNK]) for k, a in flat.items()})
        for key, value in part.items():
            if key not in out:
                # A figure without dimension follows from inputs without dimension: the same in every piece.
                out[key] = value if value.ndim == 0 else np.empty(count, dtype=value.dtype)
            if value.ndim:
                out[key][start : start + _CHUNK] = value
    return {k: v.reshape(shape) if v.ndim else np.broadcast_to(v, shape) for k, v in out.items()}


def _evaluate(site: Site, a: Mapping[str, Array]) -> dict[str, NDArray[Any]]:
    """All figures of `size` for one chunk of broadcastable arrays."""
    given, out = a["input_tokens"], a["output_tokens"]
    cached, accepted = a["serving_cached_share"], a["accepted_tokens_per_step"]
    context = given + out
    utilization = a["gpu_memory_utilization"]
    devices = site.plan.devices
    per_system = site.accelerators_per_system
    systems = np.floor(a["system_count"] + 1e-9)
    accelerators = systems * per_system

    # Memory -------------------------------------------------------------------------------------------------------
    usable = site.chip.usable_bytes * utilization
    per_sequence = _per_sequence_bytes(site, context)
    streaming = math.isfinite(site.streaming_bytes_per_s)
    if streaming:
        sequences = np.broadcast_to(np.ones(()), np.broadcast_shapes(usable.shape, per_sequence.shape))
        room = np.full(usable.shape, True)
    else:
        free = usable - site.weights_bytes_per_device
        sequences = np.maximum(free, 0.0) / per_sequence * site.decode_slots
        room = usable >= site.prefill_weights_bytes_per_device
    too_long = context > site.shape.max_context_tokens
    holds = room & (sequences >= 1.0) & ~too_long
    replicas = np.floor(accelerators / devices + 1e-9)
    fits = holds & (replicas >= 1)
    # A replica that does not fit is short of its weights and one sequence, on the machines given.
    need = _need_bytes(site, context)
    have = usable * np.minimum(np.where(accelerators > 0, accelerators, 0.0), devices)
    short = np.where(fits | too_long, 0.0, np.maximum(need - have, 0.0))
    min_systems = np.where(too_long, 0, _min_systems(site, utilization, context))

    # Operating point ----------------------------------------------------------------------------------------------
    x_in, x_out = np.log(np.maximum(given, 1.0)), np.log(np.maximum(out, 1.0))
    correction = Correction(site.anchors, x_in, x_out, cached, accepted)
    ceiling = np.minimum(np.maximum(sequences, 1.0), _MAX_CONCURRENCY)
    limit = np.zeros(ceiling.shape, dtype=np.int64)
    for series, near in correction.lengths_kernels:
        cap = series.resident_tokens / context / np.maximum(near, 1e-9)
        tighter = cap < ceiling
        # A series that ended where its own memory ended says 'memory', not 'nobody measured further'.
        limit = np.where(tighter, 0 if series.memory_limited else 3, limit)
        ceiling = np.minimum(ceiling, np.maximum(cap, 1.0))
    ceiling = np.floor(ceiling + 1e-6)

    workload = Workload(site.compiled, given, out, cached, accepted)
    tpot_limit = a["max_tpot_ms"] * 1e-3
    ttft_limit = a["max_ttft_s"]
    limits_ttft = bool(np.isfinite(ttft_limit).any())

    lone = workload.at(_ONE)
    lone_tpot = lone.tpot_s * correction.ratio("tpot", _ONE)

    def excess_of(index: NDArray[np.intp] | None) -> Excess:
        """Function of concurrency: worse latency over its limit, minus 1, and whether it is the first token's.

        index picks elements, so that the search goes on with those that have not converged.
        """
        load, near, by_token, by_first = workload, correction, tpot_limit, ttft_limit
        if index is not None:
            load, near = workload.take(index), correction.take(index)
            by_token, by_first = (v if v.size == 1 else v[index] for v in (tpot_limit, ttft_limit))

        def excess(c: Array) -> tuple[Array, NDArray[np.bool_]]:
            op = load.at(c)
            token = op.tpot_s * near.ratio("tpot", c) / by_token
            if not limits_ttft:
                return token - 1.0, _FALSE
            first = op.ttft_s * near.ratio("ttft", c) / by_first
            return np.maximum(token, first) - 1.0, first > token

        return excess

    unlimited = not limits_ttft and bool(np.isinf(tpot_limit).all())
    if unlimited:
        concurrency, code = ceiling, limit
    else:
        token = lone_tpot / tpot_limit
        first = lone.ttft_s * correction.ratio("ttft", _ONE) / ttft_limit if limits_ttft else token
        at_one = (np.maximum(token, first) - 1.0, first > token if limits_ttft else _FALSE)
        concurrency, code = _largest_concurrency(ceiling, limit, at_one, excess_of)
    feasible = concurrency >= 1.0
    running = np.maximum(concurrency, 1.0)
    log_c = np.log(running)
    op = workload.at(running)
    rate, tpot, ttft = op.requests_per_s, op.tpot_s, op.ttft_s
    if correction.series:
        rate = rate * np.exp(correction.log_ratio("rate", log_c))
        tpot = tpot * np.exp(correction.log_ratio("tpot", log_c))
        ttft = ttft * np.exp(correction.log_ratio("ttft", log_c))

    # A person's own load test replaces the rate; what it was run at is not known, so concurrency and latency are not.
    user = a["measured_output_tokens_per_s"]
    has_user = np.isfinite(user) & (user > 0)
    if bool(has_user.any()):
        concurrency, tpot, ttft = (np.where(has_user & fits, math.nan, v) for v in (concurrency, tpot, ttft))
        code = np.where(has_user, LIMITS.index("own test"), code)
    units = np.where(devices <= per_system, systems, replicas)
    total = np.where(has_user, user / out * units, rate * replicas)
    runs = fits & (feasible | has_user)
    total = np.where(runs, total, 0.0)

    # Evidence -----------------------------------------------------------------------------------------------------
    evidence = np.full(np.broadcast_shapes(log_c.shape, x_in.shape), site.base_evidence, dtype=np.int64)
    for series, _, near in correction.series:
        if float(near.max()) < INTERPOLATED_KERNEL:
            continue
        if site.base_evidence > EVIDENCE.index("modelled"):
            continue  # points of a stand-in model correct the figure, they do not make it measured
        if near.ndim == 1 and evidence.shape == near.shape == log_c.shape:
            close = np.flatnonzero(near >= INTERPOLATED_KERNEL)
            evidence[close] = np.minimum(evidence[close], _closeness(series, near[close], log_c[close]))
        else:
            evidence = np.minimum(evidence, _closeness(series, near, log_c))
    evidence = np.where(has_user, EVIDENCE.index("user"), evidence)
    evidence = np.where(runs, evidence, EVIDENCE.index("none"))
    low, high = site.log_low[evidence], site.log_high[evidence]
    hard = (
        ((context > LONG_CONTEXT_TOKENS) | (given * (1 - cached) < SHORT_PROMPT_TOKENS))
        & (evidence >= 1)
        & (evidence != EVIDENCE.index("user"))
    )
    widen = np.where(hard, WIDEN_KNOWN_TO_FAIL, 1.0)
    return {
        "fits": np.asarray(fits),
        "usable_bytes": np.asarray(site.chip.usable_bytes * accelerators),
        "max_concurrent_sequences": np.asarray(np.where(holds, np.floor(sequences + 1e-6), 0.0)),
        "short_by_bytes": np.asarray(short),
        "min_systems": np.asarray(min_systems),
        "replicas": np.asarray(np.where(holds, replicas, 0.0)),
        "concurrency": np.asarray(np.where(fits, concurrency, 0.0)),
        "requests_per_s": np.asarray(total),
        "output_tokens_per_s": np.asarray(total * out),
        "new_input_tokens_per_s": np.asarray(total * given * (1.0 - cached)),
        "cached_input_tokens_per_s": np.asarray(total * given * cached),
        "tpot_ms": np.asarray(tpot * 1e3),
        "ttft_s": np.asarray(ttft),
        "single_stream_tokens_per_s": np.asarray(np.where(fits, 1.0 / lone_tpot, 0.0)),
        "low_factor": np.asarray(np.exp(low * widen)),
        "high_factor": np.asarray(np.exp(high * widen)),
        "limit": np.asarray(
            np.where(fits, code, np.where(too_long, LIMITS.index("context"), LIMITS.index("does not fit")))
        ),
        "evidence": np.asarray(evidence),
    }


def _per_sequence_bytes(site: Site, context: Array) -> Array:
    """Cache and state of one sequence on each accelerator of the decode pool."""
    return site.cache_bytes_per_token_per_device * context + site.state_bytes_per_device


def _need_bytes(site: Site, context: Array) -> Array:
    """Weights and one sequence of a replica."""
    return site.shape.weights_bytes + _per_sequence_bytes(site, context) * site.plan.decode.layout.devices


def _closeness(series: Anchors, near: Array, log_c: Array) -> NDArray[np.int64]:
    """Code of the evidence that a series gives: 0 at a measured point, 1 between and beside them, 6 elsewhere."""
    xs = series.log_concurrency
    inside = (log_c > xs[0] - 0.25) & (log_c < xs[-1] + 0.25)
    gap = np.abs(log_c - xs[0])
    for at in xs[1:]:
        gap = np.minimum(gap, np.abs(log_c - at))
    return np.where((near >= MEASURED_KERNEL) & (gap < 0.1), 0, np.where((near >= INTERPOLATED_KERNEL) & inside, 1, 6))


_FALSE: Final = np.zeros((), dtype=np.bool_)
_ZERO: Final = np.zeros(())
_ONE: Final = np.ones(())

Excess = Callable[[Array], tuple[Array, NDArray[np.bool_]]]


def _largest_concurrency(
    ceiling: Array,
    limit: NDArray[np.int64],
    at_one: tuple[Array, NDArray[np.bool_]],
    excess_of: Callable[[NDArray[np.intp] | None], Excess],
) -> tuple[Array, NDArray[np.int64]]:
    """Largest whole concurrency up to `ceiling` that meets both limits, and what bounds it (index into LIMITS).

    Regula falsi (Illinois variant) over whole numbers; an element that has converged no longer moves, so that an array
    gives what its elements would give alone. 0 = not even one request meets the limits. at_one: what `excess_of` gives
    at concurrency 1.
    """
    excess = excess_of(None)
    f_high, by_ttft = excess(ceiling)
    over = f_high > 0
    if not bool(over.any()):
        return ceiling, limit
    f_low, by_ttft_low = at_one
    impossible = over & (f_low > 0)
    shape = np.broadcast_shapes(over.shape, limit.shape)
    found = np.where(impossible, 0.0, ceiling)
    which = np.where(impossible, by_ttft_low, by_ttft)
    searched = over & ~impossible
    if bool(searched.any()):
        index = np.flatnonzero(np.broadcast_to(searched, shape)) if len(shape) == 1 else None

        def pick(v: NDArray[Any]) -> NDArray[Any]:
            whole = np.broadcast_to(v, shape)
            return whole if index is None else whole[index]

        low, which_low = _search(
            pick(np.ones(())),
            pick(ceiling),
            pick(f_low),
            pick(f_high),
            pick(by_ttft),
            pick(searched),
            excess_of,
            index,
        )
        if index is None:
            found, which = np.where(searched, low, found), np.where(searched, which_low, which)
        else:
            found, which = np.broadcast_to(found, shape).copy(), np.broadcast_to(which, shape).copy()
            found[index], which[index] = low, which_low
    code = np.where(over, np.where(which, LIMITS.index("ttft"), LIMITS.index("tpot")), limit)
    return found, code


def _search(
    low: Array,
    high: Array,
    f_low: Array,
    f_high: Array,
    which: NDArray[np.bool_],
    active: NDArray[np.bool_],
    excess_of: Callable[[NDArray[np.intp] | None], Excess],
    index: NDArray[np.intp] | None,
) -> tuple[Array, NDArray[np.bool_]]:
    """Largest whole number where the excess is at most 0, between `low` (met) and `high` (missed).

    Returns it with the limit that the next number misses. Where `index` is given, converged elements are dropped as
    the search goes on.
    """
    final_low, final_which = low.copy(), which.copy()
    place = np.arange(low.size) if index is not None else None
    excess = excess_of(index)
    # Illinois: an end of the bracket that stays twice in a row counts half. 0.5 where it would, 1 elsewhere.
    keep_low: Array = np.ones(low.shape)
    keep_high: Array = np.ones(low.shape)
    for _ in range(200):
        active = active & (high - low > 1.0)
        remaining = int(np.count_nonzero(active))
        if place is None:
            final_low, final_which = low, which
            if not remaining:
                break
        else:
            final_low[place], final_which[place] = low, which
            if not remaining:
                break
            if remaining < 0.85 * active.size:
                keep = np.flatnonzero(active)
                index, place = index[keep], place[keep]  # type: ignore[index]
                low, high, f_low, f_high = low[keep], high[keep], f_low[keep], f_high[keep]
                keep_low, keep_high = keep_low[keep], keep_high[keep]
                which, active = which[keep], active[keep]
                excess = excess_of(index)
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = np.floor(high - f_high * (high - low) / (f_high - f_low))
        # No difference to divide by: any number inside the bracket does, converged elements are not touched.
        middle = np.fmin(np.fmax(middle, low + 1.0), np.maximum(high - 1.0, 1.0))
        f, by = excess(middle)
        up = f > 0
        if remaining < active.size:  # those that have converged stay as they are
            up, down = active & up, active & ~up
            f_low = np.where(down, f, np.where(up, f_low * keep_low, f_low))
            f_high = np.where(up, f, np.where(down, f_high * keep_high, f_high))
            high, low = np.where(up, middle, high), np.where(down, middle, low)
        else:
            f_low, f_high = np.where(up, f_low * keep_low, f), np.where(up, f, f_high * keep_high)
            high, low = np.where(up, middle, high), np.where(up, low, middle)
        which = which & ~up if by is _FALSE else np.where(up, by, which)
        keep_low = np.asarray(1.0 - 0.5 * up, dtype=np.float64)
        keep_high = 1.5 - keep_low
    return final_low, final_which


def _min_systems(site: Site, utilization: Array, context: Array) -> NDArray[np.int64]:
    """Smallest count of this machine that holds one replica, whole machines, device counts of `smallest_devices`."""
    if math.isfinite(site.streaming_bytes_per_s):
        return np.ones((), dtype=np.int64)
    usable = site.chip.usable_bytes * utilization
    result = np.zeros(np.broadcast_shapes(usable.shape, context.shape), dtype=np.int64)
    if not result.size:
        return result
    most, shortest = float(usable.max()), float(context.min())
    for devices, weights, per_token, state in site.ladder:
        if most < weights + per_token * shortest + state:
            continue  # too small for all
        holds = (usable >= weights + per_token * context + state) & (result == 0)
        result = np.where(holds, math.ceil(devices / site.accelerators_per_system), result)
        if result.all():
            break
    return np.asarray(result, dtype=np.int64)


def _anchor(x: SizingInputs, head: Mapping[str, float], first: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The measured point nearest to the first element's operating point, or None when none has weight.

    Of stated figures it is the stated point, or None where it is no longer among the measured ones.
    """
    site = x.site
    if not bool(first["fits"]) or not first["concurrency"] >= 1:
        return None  # also where an own load test leaves the concurrency unknown
    best: tuple[float, Anchors] | None = None
    for series in site.anchors:
        d2, _ = _shape_distance2(
            series,
            np.asarray(math.log(max(head["input_tokens"], 1.0))),
            np.asarray(math.log(max(head["output_tokens"], 1.0))),
            np.asarray(head["serving_cached_share"]),
            np.asarray(head["accepted_tokens_per_step"]),
        )
        near = float(_kernel(d2))
        known = near > 0.01 if x.stated is None else x.stated.anchor in series.ids
        if known and (best is None or near > best[0]):
            best = (near, series)
    if best is None:
        return None
    near, series = best
    log_c = math.log(float(first["concurrency"]))
    i = min(range(len(series.ids)), key=lambda j: abs(series.log_concurrency[j] - log_c))
    if x.stated is not None:
        i = series.ids.index(x.stated.anchor)
    return {
        "id": series.ids[i],
        "source_url": series.source_urls[i],
        "date": series.dates[i],
        "layout": series.layouts[i] if series.layouts else "",
        "unstated": sorted(series.unstated[i]) if series.unstated else [],
        "concurrency": round(math.exp(series.log_concurrency[i]), 3),
        "input_tokens": series.input_tokens,
        "output_tokens": series.output_tokens,
        "measured_over_predicted": math.exp(series.log_rate_ratio[i]),
        "weight": near,
    }


def _warnings(
    x: SizingInputs, head: Mapping[str, float], first: Mapping[str, Any], anchor: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """Sentences a reader must see beside the figures of the first element."""
    site = x.site
    texts = list(site.warnings)
    context = head["input_tokens"] + head["output_tokens"]
    if str(LIMITS[int(first["limit"])]) == "context":
        limit = f"{site.shape.max_context_tokens if x.stated is None else x.stated.max_context_tokens:,d}"
        texts.append(said("warning.too_long", length=f"{context:,.0f}", limit=limit, model=site.model_name))
        return tuple(texts)
    if not bool(first["fits"]):
        minimum = int(first["min_systems"])
        texts.append(
            said(
                "warning.does_not_fit",
                model=site.model_name,
                count=f"{head['system_count']:.0f}",
                machine=site.system_name,
                short=f"{float(first['short_by_bytes']) / 1e9:,.1f}",
                remedy=said("warning.remedy_more", n=minimum) if minimum else said("warning.remedy_none"),
            )
        )
        return tuple(texts)
    texts += _idle(x, head["system_count"], float(first["replicas"]))
    if str(LIMITS[int(first["limit"])]) == "own test":
        texts.append(said("warning.own_test", rate=f"{head['measured_output_tokens_per_s']:,.0f}"))
        return tuple(dict.fromkeys(texts))
    if anchor is not None:
        places = {"id": anchor["id"], "n": f"{anchor['concurrency']:,.0f}"}
        texts += [said(f"warning.no_{name}", **places) for name in anchor["unstated"]]
        plan = site.plan.name if x.stated is None else x.stated.layout
        if anchor["layout"] not in ("", plan):
            texts.append(said("warning.other_layout", id=anchor["id"], was=anchor["layout"], plan=plan))
    if context > LONG_CONTEXT_TOKENS:
        fit = float(first["max_concurrent_sequences"])
        measured = [
            s
            for s in site.anchors
            if s.memory_limited and abs(math.log(context / (s.input_tokens + s.output_tokens))) < 0.5
        ]
        held: str = ""
        if measured:
            sessions = min(s.resident_tokens for s in measured) / context
            held = said("warning.long_context_held", id=measured[0].ids[-1], sessions=f"{sessions:,.0f}")
        texts.append(
            said(
                "warning.long_context",
                context=f"{context:,.0f}",
                fit=f"{fit:,.0f}",
                plan=site.plan.name,
                dtype=site.kv_dtype,
                held=held,
                band=said(f"warning.long_context_{'wider' if int(first['evidence']) >= 1 else 'measured'}"),
            )
        )
        if site.shape.has_mla and site.plan.decode.layout.dcp == 1:
            texts.append(said("warning.replicated_cache"))
    new = head["input_tokens"] * (1 - head["serving_cached_share"])
    if new < SHORT_PROMPT_TOKENS and int(first["evidence"]) >= 1:
        texts.append(said("warning.short_prompts", n=f"{new:,.0f}"))
    if float(first["concurrency"]) < 1.0:
        which = str(LIMITS[int(first["limit"])])
        is_ms, limit_ms = three_digits(float(first["tpot_ms"])), three_digits(head["max_tpot_ms"])
        is_s, limit_s = three_digits(float(first["ttft_s"])), three_digits(head["max_ttft_s"])
        texts.append(
            said("warning.misses_tpot", is_ms=is_ms, limit_ms=limit_ms)
            if which == "tpot"
            else said("warning.misses_ttft", is_s=is_s, limit_s=limit_s)
        )
    if math.isfinite(head["max_ttft_s"]):
        texts.append(said("warning.ttft_poor"))
    return tuple(dict.fromkeys(texts))


def _idle(x: SizingInputs, systems: float, replicas: float) -> list[str]:
    """What of the machines given no replica uses: whole machines, else accelerators."""
    site, per_machine, devices = x.site, x.accelerators_per_system, x.devices
    left = math.floor(systems + 1e-9) * per_machine - round(replicas) * devices
    if left >= per_machine:
        need, idle = math.ceil(devices / per_machine), left // per_machine
        return [said("warning.idle_machines", machine=site.system_name, need=need, n=idle, count=f"{systems:.0f}")]
    if left > 0:
        whole = math.floor(systems + 1e-9) * per_machine
        return [said("warning.idle_accelerators", need=devices, n=left, count=whole)]
    return []


# ----------------------------------------------------------------------------------------------- figures for the pages


@dataclass(frozen=True)
class MemoryBreakdown:
    """Bytes on each accelerator of the decode pool at the operating point; the five parts add up to usable_bytes."""

    usable_bytes: float
    weights_bytes: float
    cache_bytes: float
    state_bytes: float
    overhead_bytes: float
    free_bytes: float
    short_bytes: float


def memory_breakdown(x: SizingInputs, sizing: Sizing | None = None) -> MemoryBreakdown:
    """Where the memory of one accelerator goes (scalar inputs).

    Args:
        x: scalar inputs.
        sizing: its sizing, when known already.

    Returns:
        weights, cache and state of the sequences at the operating concurrency, overhead = what gpu_memory_utilization
        leaves to the engine, free = the rest. Where the weights do not fit, cache and state are 0 and short_bytes says
        by how much; free is then 0 and the parts exceed usable_bytes by short_bytes.
    """
    site = x.site
    result = size(x) if sizing is None else sizing
    if math.isnan(float(result.concurrency)):  # an own load test does not say how many requests were in flight
        result = size(replace(x, measured_output_tokens_per_s=math.nan))
    then = x.stated
    usable = site.chip.usable_bytes if then is None else then.usable_bytes
    overhead = usable * (1.0 - float(np.asarray(x.gpu_memory_utilization)))
    weights = site.weights_bytes_per_device if then is None else then.device_weights_bytes
    local = float(result.concurrency) / (site.decode_slots if then is None else then.decode_slots)
    context = float(np.asarray(x.input_tokens)) + float(np.asarray(x.output_tokens))
    per_token = site.cache_bytes_per_token_per_device if then is None else then.device_cache_bytes_per_token
    cache = per_token * context * local
    state = (site.state_bytes_per_device if then is None else then.device_state_bytes) * local
    rest = usable - overhead - weights - cache - state
    return MemoryBreakdown(usable, weights, cache, state, overhead, max(rest, 0.0), max(-rest, 0.0))


@dataclass(frozen=True)
class ConcurrencyCurve:
    """Sessions that fit a replica by context length, one array a layout and cache width."""

    context_tokens: Array
    layout: str
    kv_dtype: KvDtype
    sessions: Array
    tokens: Array


CONTEXTS: Final = tuple(float(2**n) for n in range(12, 21))
"""Context lengths of the long-context view: 4,096 to 1,048,576 tokens."""


def concurrency_by_context(x: SizingInputs, contexts: Sequence[float] = CONTEXTS) -> tuple[ConcurrencyCurve, ...]:
    """Whole sessions that a replica of the site holds, with and without DCP, fp8 and bf16 cache.

    Args:
        x: scalar inputs; only the site and gpu_memory_utilization are used.
        contexts: tokens a session, input and output together.

    Returns:
        One curve a layout (tensor parallel alone; with DCP where the cache is replicated) and cache width. Zero where
        not even one session fits. tokens = what fits before rounding sessions down.
    """
    site = x.site
    context = np.asarray(contexts, dtype=np.float64)
    base = site.plan.decode.layout
    layouts = [replace(base, dcp=1)]
    if site.shape.has_mla and base.tp > 1:
        layouts.append(replace(base, dcp=base.tp))
    utilization = float(np.asarray(x.gpu_memory_utilization))
    curves = []
    for layout in layouts:
        for kv_dtype in ("fp8", "bf16"):
            tokens = (
                mem.tokens_that_fit(site.shape, layout, kv_dtype, site.chip.usable_bytes, utilization, context)
                * site.plan.decode.workers
            )
            curves.append(ConcurrencyCurve(context, layout.name, kv_dtype, np.floor(tokens / context + 1e-9), tokens))
    return tuple(curves)


@dataclass(frozen=True)
class MeasuredPoint:
    """A measured point of this model on this machine, as drawn beside a curve (one replica)."""

    id: str
    source_url: str
    concurrency: float
    output_tokens_per_s: float
    tokens_per_s_per_user: float
    input_tokens: float
    output_tokens: float
    accepted_tokens_per_step: float
    same_shape: bool


@dataclass(frozen=True)
class LatencyCurve:
    """Throughput against latency of one replica over concurrency, with its band and the measured points."""

    concurrency: Array
    output_tokens_per_s: Array
    low_output_tokens_per_s: Array
    high_output_tokens_per_s: Array
    tpot_ms: Array
    ttft_s: Array
    beyond_measured: NDArray[np.bool_]
    measured: tuple[MeasuredPoint, ...]


def latency_curve(x: SizingInputs, points: int = 40) -> LatencyCurve:
    """Output rate, time per token and time to first token of one replica from 1 request to what memory holds.

    Args:
        x: scalar inputs; latency limits are ignored, the curve shows what they would cut.
        points: concurrencies, evenly spaced on a logarithmic scale, rounded to whole requests.

    Returns:
        Arrays over concurrency, empty where nothing fits. beyond_measured marks concurrencies past the largest one that
        was measured near this shape: `size` does not go there. The band is the one of the site's evidence there.
    """
    site = x.site
    none = np.zeros(0)
    result = size(replace(x, max_tpot_ms=math.inf, max_ttft_s=math.inf, measured_output_tokens_per_s=math.nan))
    most = float(np.asarray(result.max_concurrent_sequences))
    if most < 1:
        return LatencyCurve(none, none, none, none, none, none, np.zeros(0, dtype=np.bool_), ())
    c = np.unique(np.round(np.geomspace(1.0, most, points)))
    given, out = np.asarray(x.input_tokens, dtype=np.float64), np.asarray(x.output_tokens, dtype=np.float64)
    cached = np.asarray(x.serving_cached_share, dtype=np.float64)
    accepted = np.asarray(x.accepted_tokens_per_step, dtype=np.float64)
    correction = Correction(site.anchors, np.log(given), np.log(out), cached, accepted)
    op = Workload(site.compiled, given, out, cached, accepted).at(c)
    log_c = np.log(c)
    rate = op.requests_per_s * out * np.exp(correction.log_ratio("rate", log_c))
    level = np.full(c.shape, site.base_evidence, dtype=np.int64)
    for series, _, near in correction.series:
        xs = np.asarray(series.log_concurrency)
        inside = (log_c > xs[0] - 0.25) & (log_c < xs[-1] + 0.25) & (float(near) >= INTERPOLATED_KERNEL)
        level = np.where(inside, np.minimum(level, 1), level)
    shown = [
        MeasuredPoint(
            id=series.ids[i],
            source_url=series.source_urls[i],
            concurrency=round(math.exp(series.log_concurrency[i]), 3),
            output_tokens_per_s=series.rates[i] * series.output_tokens,
            tokens_per_s_per_user=1.0 / series.tpots[i],
            input_tokens=series.input_tokens,
            output_tokens=series.output_tokens,
            accepted_tokens_per_step=series.accepted,
            same_shape=float(near) >= MEASURED_KERNEL,
        )
        for series, near in (
            (s, _kernel(_shape_distance2(s, np.log(given), np.log(out), cached, accepted)[0])) for s in site.anchors
        )
        for i in range(len(series.ids))
        if series.tpots[i] > 0
    ]
    return LatencyCurve(
        concurrency=c,
        output_tokens_per_s=rate,
        low_output_tokens_per_s=rate * np.exp(site.log_low[level]),
        high_output_tokens_per_s=rate * np.exp(site.log_high[level]),
        tpot_ms=op.tpot_s * np.exp(correction.log_ratio("tpot", log_c)) * 1e3,
        ttft_s=op.ttft_s * np.exp(correction.log_ratio("ttft", log_c)),
        beyond_measured=c > float(np.asarray(result.concurrency)),
        measured=tuple(shown),
    )


@dataclass(frozen=True)
class TtftCurve:
    """Time to first token by input length: a lone request, and at the operating point. grade: good, slow or long."""

    input_tokens: Array
    lone_s: Array
    loaded_s: Array
    concurrency: Array
    grade: tuple[str, ...]


TTFT_GOOD_S: Final = 2.0
TTFT_SLOW_S: Final = 10.0
"""Grades of the wait for the first token, a convention of this app: good up to 2 s, slow up to 10 s, long beyond."""


def ttft_by_input(x: SizingInputs, inputs: Sequence[float] = CONTEXTS) -> TtftCurve:
    """Time to first token over input length, the workload's cache share and output kept.

    Args:
        x: scalar inputs.
        inputs: input tokens; the last one is what the model's context leaves beside the output.

    Returns:
        lone_s for a request alone, loaded_s at the concurrency that `size` chooses (infinite limits mean what fits).
        Entries that do not fit are NaN here and must be shown as 'does not fit'.
    """
    out = float(np.asarray(x.output_tokens))
    most = max(x.site.shape.max_context_tokens - out, 1.0)
    lengths = np.unique(np.minimum(np.asarray(inputs, dtype=np.float64), most))
    loaded = size(replace(x, input_tokens=lengths, measured_output_tokens_per_s=math.nan))
    cached = np.asarray(x.serving_cached_share, dtype=np.float64)
    accepted = np.asarray(x.accepted_tokens_per_step, dtype=np.float64)
    op = Workload(x.site.compiled, lengths, out, cached, accepted).at(np.ones(()))
    correction = Correction(x.site.anchors, np.log(lengths), np.log(np.asarray(out)), cached, accepted)
    lone = op.ttft_s * np.exp(correction.log_ratio("ttft", np.zeros(())))
    fits = np.broadcast_to(loaded.fits, lengths.shape)
    lone = np.where(fits, lone, math.nan)
    grade = tuple(
        "does not fit" if not ok else "good" if s <= TTFT_GOOD_S else "slow" if s <= TTFT_SLOW_S else "long"
        for ok, s in zip(fits.tolist(), lone.tolist(), strict=True)
    )
    concurrency = np.broadcast_to(loaded.concurrency, lengths.shape)
    busy = np.where(fits & (concurrency >= 1), loaded.ttft_s, math.nan)
    return TtftCurve(lengths, lone, busy, concurrency, grade)
