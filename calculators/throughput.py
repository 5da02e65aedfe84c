"""Time: a roofline of decode and prefill with the latency floor that real engines have.

The formulas are those of the sizing rules (see README, 'How it works'):

    t_step = L lam(N) + sig B + comm + max(bytes_w / (e_bw BW), flops / (e_dec F)) + (cache + state) / (e_kv BW)
    T_p    = overhead + max(FLOPs / (e_pf F), weight bytes / (e_bw BW)) + comm          uncached tokens only
    X      = C / (osl / A t_step(C) + C T_p)                        prefill and decode share the machine
    TTFT   = T_p (1 + psi (C - 1)) + t_step
    TPOT   = (C / X - TTFT) / (osl - 1)

All functions take floats or numpy arrays that broadcast, in SI units, and are pure. The efficiencies come from
`Constants`, which calibrate.py fits; nothing else in this module is fitted.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calculators.memory import (
    KV_BYTES,
    Chip,
    KvDtype,
    Layout,
    ModelShape,
    cache_bytes_per_token_per_device,
    weights_bytes_per_device,
)

Array = NDArray[np.float64]
Number = float | Array

REFERENCE_RANKS: Final = 8
"""Ranks of a stage at which the latency floor is quoted."""

CHUNK_TOKENS: Final = 8192.0
"""Prefill chunk of current engines, tokens."""

DRAFT_SHARE: Final = 0.06
"""A draft pass beside a verification step: its share of the step's latency floor (5 draft layers of 93, K3 DSpark)."""

MAX_VERIFIED_TOKENS: Final = 8.0
"""Tokens verified a sequence and step with speculation: the widest draft block in use (DSpark 7 + 1)."""

VERIFIED_PER_ACCEPTED: Final = 2.0
"""Where the draft length is not stated, an engine is taken to verify twice what it accepts, up to the widest block:
published acceptance is 3.0 of 4 verified tokens, 3.84 of 8 (K3 DSpark, coding)."""


@dataclass(frozen=True)
class Constants:
    """Fitted efficiencies of one (accelerator class, engine, date); each has a physical meaning.

    layer_floor_s: launch, synchronisation and small collectives of one layer in a decode step, seconds.
    moe_floor_s, linear_floor_s: what a mixture-of-experts layer (routing, dispatch) and a linear-attention layer
    (state update) add to that floor, seconds.
    ep_floor_s, dcp_floor_s: what dispatch to spread experts adds to each mixture-of-experts layer, and the merge of
    partial attention to each cached layer under decode-context parallelism, seconds.
    rank_growth: exponent with which the floor grows with the ranks of a stage, relative to 8.
    pipeline_fill: share of the pipeline stages beyond the first that decode keeps busy with batches of their own.
    sequence_s: work that grows with every sequence of a step and is no memory traffic (sampling, routing), seconds.
    e_bw, e_kv: share of the memory bandwidth reached on weights, and on cache and state.
    e_dec, e_pf: share of the dense FLOP/s reached in decode, and in prefill.
    prefill_layer_s: floor of one layer and prefill chunk, seconds.
    e_link: share of the link bandwidth reached by collectives.
    queue: psi, share of the other sequences' prefill that a new one waits for.
    merge: how readily several short prompts share one chunk (0 = never).
    handover_s: moving a prompt's cache from a prefill to a decode worker and routing it, seconds (separate pools only).
    """

    layer_floor_s: float = 60e-6
    moe_floor_s: float = 20e-6
    linear_floor_s: float = 10e-6
    ep_floor_s: float = 5e-6
    dcp_floor_s: float = 5e-6
    rank_growth: float = 0.15
    pipeline_fill: float = 0.5
    sequence_s: float = 60e-6
    e_bw: float = 0.60
    e_kv: float = 0.50
    e_dec: float = 0.40
    e_pf: float = 0.35
    prefill_layer_s: float = 400e-6
    e_link: float = 0.6
    queue: float = 0.45
    merge: float = 0.05
    handover_s: float = 0.3

    @classmethod
    def bound(cls) -> "Constants":
        """No losses at all: what bandwidth and FLOP/s alone allow, an upper limit on speed."""
        return cls(
            layer_floor_s=0.0,
            moe_floor_s=0.0,
            linear_floor_s=0.0,
            ep_floor_s=0.0,
            dcp_floor_s=0.0,
            rank_growth=0.0,
            pipeline_fill=1.0,
            sequence_s=0.0,
            e_bw=1.0,
            e_kv=1.0,
            e_dec=1.0,
            e_pf=1.0,
            prefill_layer_s=0.0,
            e_link=1.0,
            queue=0.5,
            merge=0.0,
            handover_s=0.0,
        )


@dataclass(frozen=True)
class Pool:
    """One kind of worker: a layout, how many of them, on which chip."""

    layout: Layout
    workers: int = 1

    @property
    def devices(self) -> int:
        """Accelerators of all workers together."""
        return self.layout.devices * self.workers


@dataclass(frozen=True)
class Plan:
    """How one replica serves: one shared pool, or a prefill pool beside the decode pool (disaggregated)."""

    decode: Pool
    prefill: Pool | None = None

    @property
    def devices(self) -> int:
        """Accelerators of one replica, all pools."""
        return self.decode.devices + (self.prefill.devices if self.prefill else 0)

    @property
    def name(self) -> str:
        """Short name, e.g. 'TP8+DCP8' or 'PP8 -> 2x TP8+DCP8'."""

        def pool(p: Pool) -> str:
            return (f"{p.workers}x " if p.workers > 1 else "") + p.layout.name

        return pool(self.decode) if self.prefill is None else f"{pool(self.prefill)} -> {pool(self.decode)}"


def _link_bytes_per_s(chip: Chip, ranks: int) -> float:
    """Bandwidth a collective over `ranks` sees: the scale-up link inside its domain, else the network."""
    if ranks <= chip.link_domain or chip.network_bytes_per_s <= 0:
        return chip.link_bytes_per_s
    return min(chip.network_bytes_per_s, chip.link_bytes_per_s) if chip.link_bytes_per_s else chip.network_bytes_per_s


def _comm_s(shape: ModelShape, chip: Chip, layout: Layout, constants: Constants, tokens: float) -> float:
    """Time of the collectives of one pass over all layers for `tokens` tokens, seconds.

    Two all-reduces a layer of tokens x hidden x 2 bytes over tp ranks (ring: 2 (n-1)/n), or with experts spread over
    ranks an all-to-all of the routed copies; pipeline hops once a stage.
    """
    seconds = 0.0
    hidden_bytes = 2.0 * max(shape.hidden_size, 1)
    if layout.tp > 1:
        link = _link_bytes_per_s(chip, layout.tp)
        if link > 0:
            volume = 2.0 * (layout.tp - 1) / layout.tp * 2.0 * hidden_bytes * shape.layers
            seconds = seconds + tokens / layout.dp * (volume / (constants.e_link * link))
    if layout.ep > 1 and layout.dp > 1:
        link = _link_bytes_per_s(chip, layout.ep)
        if link > 0:
            copies = min(shape.experts_per_token, layout.ep) * 1.5  # 1 byte out, 2 bytes back
            volume = copies * max(shape.hidden_size, 1) * max(shape.moe_layers, 1)
            seconds = seconds + tokens / (layout.tp * layout.dp) * (volume / (constants.e_link * link))
    if layout.pp > 1:
        link = _link_bytes_per_s(chip, layout.devices)
        if link > 0:
            seconds = seconds + tokens * (hidden_bytes * (layout.pp - 1) / (constants.e_link * link))
    return seconds


def _flop_seconds(shape: ModelShape, chip: Chip) -> tuple[float, float]:
    """Seconds per token at full FLOP rate on one device: (dense part, routed part)."""
    dense_rate = chip.flop_per_s(16 if shape.dense_bits > 12 else max(shape.activation_bits, 8))
    if not shape.experts:
        dense_rate = chip.flop_per_s(shape.activation_bits)
    routed_rate = chip.flop_per_s(shape.activation_bits)
    dense = 2 * shape.dense_active_params / dense_rate if dense_rate else 0.0
    routed = 2 * shape.routed_active_params / routed_rate if routed_rate else 0.0
    return dense, routed


@dataclass(frozen=True)
class WorkerTerms:
    """Coefficients of the two time formulas for one worker, so that an evaluation is a dozen array operations."""

    pp: int
    dp: int
    decode_batches: float
    floor_s: float
    draft_s: float
    per_token_s: float
    dense_weights_s: float
    routed_weights_s: float
    log_miss: float
    flop_per_local_token_s: float
    flop_per_token_s: float
    cache_per_token_s: float
    state_s: float
    chunk_floor_s: float
    chunk_weights_s: float
    new_token_flop_s: float
    pair_flop_s: float
    new_token_comm_s: float


@lru_cache(maxsize=4096)
def worker_terms(shape: ModelShape, chip: Chip, layout: Layout, constants: Constants, kv_dtype: KvDtype) -> WorkerTerms:
    """Reduce a model, chip, layout and constants to the coefficients of the step and prompt times (class Workload)."""
    k = constants
    bandwidth = chip.bandwidth_bytes_per_s
    floor = (
        shape.layers * k.layer_floor_s
        + shape.moe_layers * k.moe_floor_s
        + shape.linear_layers * k.linear_floor_s
        + (shape.moe_layers * k.ep_floor_s if layout.ep > 1 else 0.0)
        + (shape.cached_layers * k.dcp_floor_s if layout.dcp > 1 else 0.0)
    ) * (layout.tp * layout.dp / REFERENCE_RANKS) ** k.rank_growth
    dense_flop_s, routed_flop_s = _flop_seconds(shape, chip)
    cache = cache_bytes_per_token_per_device(shape, layout, kv_dtype) * layout.pp
    windows = sum(
        g.elements_per_token * KV_BYTES[kv_dtype] / min(layout.tp, g.kv_heads) * g.window_tokens
        for g in shape.cache
        if np.isfinite(g.window_tokens)
    )
    # Recurrent state is read and written once a step; sliding windows are only read.
    state = windows if windows else 2.0 * shape.state_bytes_per_sequence / layout.tp
    ranks = layout.tp * layout.dp
    attention_rate = chip.flop_per_s(16)
    return WorkerTerms(
        pp=layout.pp,
        dp=layout.dp,
        decode_batches=1.0 + k.pipeline_fill * (layout.pp - 1),
        floor_s=floor,
        draft_s=DRAFT_SHARE * floor,
        per_token_s=_comm_s(shape, chip, layout, k, 1.0),
        dense_weights_s=shape.dense_read_bytes / layout.tp / (k.e_bw * bandwidth),
        routed_weights_s=shape.routed_bytes / layout.expert_ranks / (k.e_bw * bandwidth),
        log_miss=float(np.log1p(-shape.experts_per_token / shape.experts)) if shape.experts else 0.0,
        flop_per_local_token_s=dense_flop_s / layout.tp / k.e_dec,
        flop_per_token_s=routed_flop_s / layout.expert_ranks / k.e_dec,
        cache_per_token_s=cache / (k.e_kv * bandwidth),
        state_s=state / (k.e_kv * bandwidth),
        chunk_floor_s=shape.layers * k.prefill_layer_s / layout.dp / layout.pp,
        chunk_weights_s=weights_bytes_per_device(shape, layout) / (k.e_bw * bandwidth) / layout.dp,
        new_token_flop_s=(dense_flop_s + routed_flop_s) / (k.e_pf * ranks) / layout.pp,
        pair_flop_s=(
            shape.attention_flop_per_token_pair / attention_rate / (k.e_pf * ranks) / layout.pp
            if attention_rate
            else 0.0
        ),
        new_token_comm_s=_comm_s(shape, chip, layout, k, 1.0) / layout.pp,
    )


@dataclass(frozen=True)
class Operating:
    """What one replica does at a concurrency. Arrays of one shape."""

    requests_per_s: Array
    tpot_s: Array
    ttft_s: Array


@dataclass(frozen=True)
class CompiledPlan:
    """A plan reduced to coefficients: what `operate` needs."""

    constants: Constants
    decode: WorkerTerms
    decode_workers: int
    prefill: WorkerTerms
    prefill_workers: int
    shared: bool


def compile_plan(shape: ModelShape, chip: Chip, plan: Plan, constants: Constants, kv_dtype: KvDtype) -> CompiledPlan:
    """Reduce a plan to coefficients once, so that each evaluation is arithmetic only."""
    decode = worker_terms(shape, chip, plan.decode.layout, constants, kv_dtype)
    if plan.prefill is None:
        return CompiledPlan(constants, decode, plan.decode.workers, decode, plan.decode.workers, True)
    prefill = worker_terms(shape, chip, plan.prefill.layout, constants, kv_dtype)
    return CompiledPlan(constants, decode, plan.decode.workers, prefill, plan.prefill.workers, False)


class Workload:
    """A plan under a request shape: everything that does not depend on concurrency is computed once."""

    def __init__(
        self,
        plan: CompiledPlan,
        input_tokens: Number,
        output_tokens: Number,
        cached_share: Number = 0.0,
        accepted: Number = 1.0,
        verified: Number | None = None,
    ) -> None:
        """See `operate` for the arguments."""
        self.plan = plan
        a = np.asarray(accepted, dtype=np.float64)
        given = np.asarray(input_tokens, dtype=np.float64)
        out = np.asarray(output_tokens, dtype=np.float64)
        self.accepted = a
        if verified is None:
            verified = np.where(a > 1.0, np.minimum(VERIFIED_PER_ACCEPTED * a, MAX_VERIFIED_TOKENS), 1.0)
        self.verified = np.asarray(verified, dtype=np.float64)
        cached = given * cached_share
        new = np.maximum(given - cached, 1.0)
        self.steps = np.maximum(out - 1.0, 1.0)
        self.decode_steps = out / a
        # Prefill: chunk floor and chunk weights shrink with merging, the rest does not.
        t = plan.prefill
        chunks = np.maximum(new * (1.0 / CHUNK_TOKENS), 1.0)
        self.room = np.maximum(CHUNK_TOKENS / new, 1.0)
        self.prompt_floor = chunks * t.chunk_floor_s
        self.prompt_weights = chunks * t.chunk_weights_s
        self.prompt_flops = new * (t.new_token_flop_s + t.pair_flop_s * (cached + 0.5 * new))
        self.prompt_comm = new * t.new_token_comm_s
        self.lone = self.prompt_floor + np.maximum(self.prompt_flops, self.prompt_weights) + self.prompt_comm
        self.lone_latency = self.lone * t.pp
        # Decode: a constant, a part a sequence, and the weights touched by a batch.
        d = plan.decode
        self.step_constant = d.floor_s + np.where(self.verified > 1.0, d.draft_s, 0.0)
        self.per_local = (
            plan.constants.sequence_s * self.verified + d.cache_per_token_s * (given + 0.5 * out) + d.state_s
        )
        self.per_sequence = d.per_token_s * self.verified
        self.flop_per_local = d.flop_per_local_token_s * self.verified
        self.flop_per_sequence = d.flop_per_token_s * self.verified
        self.log_miss = d.log_miss * self.verified
        # Without data-parallel ranks the local and the whole batch are one number, so their coefficients add up.
        self.per_batch = self.per_local + self.per_sequence
        self.flop_per_batch = self.flop_per_local + self.flop_per_sequence
        self.decode_share = self.steps / a

    def take(self, index: NDArray[np.intp]) -> "Workload":
        """The elements that `index` picks of one-dimensional arrays; single numbers stay. Cheaper than a new one."""
        part = Workload.__new__(Workload)
        part.plan = self.plan
        for name in _BY_ELEMENT:
            values = getattr(self, name)
            setattr(part, name, values if values.size == 1 else values[index])
        return part

    def step_s(self, batch: Array) -> Array:
        """Seconds between two steps of one sequence when a worker has `batch` sequences in decode.

        A full pipeline works on pp batches at once, so a token takes a full pass of batch / pp sequences; a badly
        filled one takes longer (`pipeline_fill`).
        """
        d = self.plan.decode
        b = np.maximum(batch / d.decode_batches, 1.0)
        weights = d.dense_weights_s - d.routed_weights_s * np.expm1(b * self.log_miss)
        if np.ndim(d.dp) == 0 and d.dp == 1:  # the calibration stacks its plans, then it is an array
            return np.asarray(self.step_constant + self.per_batch * b + np.maximum(weights, self.flop_per_batch * b))
        local = np.maximum(b / d.dp, 1.0)
        flops = self.flop_per_local * local + self.flop_per_sequence * b
        return np.asarray(
            self.step_constant + self.per_local * local + self.per_sequence * b + np.maximum(weights, flops)
        )

    def prompt_s(self, concurrency: Array) -> Array:
        """Seconds of a worker that one prompt takes when `concurrency` requests share it.

        Cached tokens skip the matmuls but attention reads them. Short prompts share a chunk and so its floor and its
        pass over the weights. Pipeline stages work on different chunks: the latency of a lone prompt is pp times this.
        """
        shared = np.minimum(self.room, 1.0 + self.plan.constants.merge * (concurrency - 1.0))
        return np.asarray(
            self.prompt_floor / shared + np.maximum(self.prompt_flops, self.prompt_weights / shared) + self.prompt_comm
        )

    def at(self, concurrency: Number) -> Operating:
        """Steady state with this many requests in flight."""
        plan = self.plan
        c = np.asarray(concurrency, dtype=np.float64)
        if plan.shared:
            local = c / plan.decode_workers  # an array where the calibration stacks its plans
            step = self.step_s(local)
            merged = self.prompt_s(local)
            cycle = self.decode_steps * step + local * merged
            ttft = self.lone_latency + plan.constants.queue * merged * np.maximum(local - 1.0, 0.0) + step
            # Whatever the queue, the first token cannot take longer than the cycle leaves beside decode proper.
            ttft = np.minimum(ttft, np.maximum(cycle - self.decode_share * step, step))
            return Operating(c / cycle, (cycle - ttft) / self.steps, ttft)
        per_worker = np.maximum(c / plan.prefill_workers, 1.0)
        ceiling = plan.prefill_workers / self.prompt_s(per_worker)
        latency = self.lone_latency + plan.constants.handover_s
        in_decode = c
        for _ in range(3):
            # Sequences in prefill are not in decode: Little's law splits the concurrency between the pools.
            step = self.step_s(np.maximum(in_decode / plan.decode_workers, 1.0))
            free = c / (latency + self.decode_steps * step)
            ratio = free / ceiling
            ratio = ratio * ratio
            rate = free / np.sqrt(np.sqrt(1.0 + ratio * ratio))
            in_decode = np.minimum(rate * self.decode_steps * step, c)
        tpot = step / self.accepted
        return Operating(rate, tpot, np.maximum(c / rate - self.steps * tpot, latency + step))


_BY_ELEMENT: Final = (
    "accepted",
    "verified",
    "steps",
    "decode_steps",
    "decode_share",
    "room",
    "prompt_floor",
    "prompt_weights",
    "prompt_flops",
    "prompt_comm",
    "lone",
    "lone_latency",
    "step_constant",
    "per_local",
    "per_sequence",
    "per_batch",
    "flop_per_local",
    "flop_per_sequence",
    "flop_per_batch",
    "log_miss",
)
"""What a `Workload` holds for each element."""


def operate(
    plan: CompiledPlan,
    concurrency: Number,
    input_tokens: Number,
    output_tokens: Number,
    cached_share: Number = 0.0,
    accepted: Number = 1.0,
    verified: Number | None = None,
) -> Operating:
    """Steady state of one replica with `concurrency` requests always in flight (closed loop).

    Args:
        plan: compiled pools.
        concurrency: requests in flight, whole replica.
        input_tokens: mean input tokens a request.
        output_tokens: mean output tokens a request.
        cached_share: share of the input whose cache exists; it skips prefill and is still read in decode.
        accepted: tokens emitted a step (accepted drafts and the bonus token); 1 = no speculation.
        verified: tokens verified a step; None = 1 without speculation, else twice the accepted ones, at most the widest
            block.

    Returns:
        Requests per second of the replica, time per output token and time to first token, seconds.
    """
    return Workload(plan, input_tokens, output_tokens, cached_share, accepted, verified).at(concurrency)
