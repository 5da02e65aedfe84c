"""Memory: what weights, cache and state take on each accelerator, and how many sequences fit beside them.

Every tensor is counted where it lies. An MLA latent is stored once per token and layer and replicated on every
tensor-parallel rank unless decode-context parallelism (DCP) divides it; grouped-query caches divide by
min(tp, kv_heads); sliding windows stop growing at their window; linear-attention state does not grow at all.
Sequences that fit are tokens that fit divided by the context, by construction (see `sequences_that_fit`).
All functions take floats or numpy arrays that broadcast; bytes are bytes (GB = 1e9, GiB = 2^30 only in print).
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from calculators.records import Accelerator, Model

Array = NDArray[np.float64]
Number = float | Array
KvDtype = Literal["fp8", "bf16"]

KV_BYTES: Final[dict[str, int]] = {"fp8": 1, "bf16": 2}
"""Bytes of one cache element. Its own choice: never taken from the weights."""

STATE_SLOTS: Final = 2.0
"""Recurrent-state slots that engines reserve a request (1 to 5 seen; shared/sizing.md default)."""

PRECISIONS: Final[dict[str, tuple[float, float]]] = {
    # name: bits of the bulk of the weights with their scales, bits of the matmuls' activations
    "mxfp4": (4.25, 8),
    "nvfp4": (4.5, 4),
    "fp4": (4.5, 4),
    "int4": (4.5, 16),
    "w4a8": (4.25, 8),
    "fp8": (8.06, 8),
    "bf16": (16, 16),
}


@dataclass(frozen=True)
class CacheShape:
    """One group of cache layers: elements a token, how it shards, bytes whose width is fixed."""

    elements_per_token: float
    fixed_bytes_per_token: float
    kv_heads: int
    replicated: bool
    window_tokens: float


@dataclass(frozen=True)
class ModelShape:
    """The numbers of a model that memory and time need, derived once from its record."""

    id: str
    layers: int
    moe_layers: int
    linear_layers: int
    cached_layers: int
    experts: int
    experts_per_token: int
    dense_bytes: float
    dense_read_bytes: float
    routed_bytes: float
    dense_active_params: float
    routed_active_params: float
    dense_bits: float
    routed_bits: float
    activation_bits: float
    cache: tuple[CacheShape, ...]
    state_bytes_per_sequence: float
    attention_flop_per_token_pair: float
    hidden_size: int
    max_context_tokens: int

    @property
    def weights_bytes(self) -> float:
        """All weights as loaded, bytes."""
        return self.dense_bytes + self.routed_bytes

    @property
    def has_mla(self) -> bool:
        """True where a cache group is replicated across tensor-parallel ranks, so that DCP helps."""
        return any(group.replicated for group in self.cache)


@dataclass(frozen=True)
class Chip:
    """The numbers of an accelerator that memory and time need. FLOP/s are dense; 0 = unknown."""

    id: str
    class_id: str
    usable_bytes: float
    bandwidth_bytes_per_s: float
    fp4_flop_per_s: float
    fp8_flop_per_s: float
    bf16_flop_per_s: float
    link_bytes_per_s: float
    link_domain: int
    network_bytes_per_s: float

    def flop_per_s(self, bits: float) -> float:
        """Rate for activations of `bits`; falls back to the next wider unit where the chip lacks one."""
        ladder = (self.fp4_flop_per_s, self.fp8_flop_per_s, self.bf16_flop_per_s)
        start = 0 if bits <= 4 else 1 if bits <= 8 else 2
        for rate in ladder[start:]:
            if rate > 0:
                return rate
        return max(ladder)


@dataclass(frozen=True)
class Layout:
    """How one replica spreads over devices: their product is the device count.

    tp: tensor ranks. pp: pipeline stages. dp: data-parallel attention ranks (each holds its own sequences).
    ep: expert ranks; above 1 the routed experts spread over tp x dp, else they are cut by tp. dcp: ranks that share
    one sequence's replicated cache; they are tensor ranks, so dcp adds no devices.
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: int = 1
    dcp: int = 1

    def __post_init__(self) -> None:
        """Refuse a layout whose parts do not multiply out."""
        if min(self.tp, self.pp, self.dp, self.ep, self.dcp) < 1:
            raise ValueError(f"layout {self.name}: every parallel dimension is at least 1")
        if self.dcp > 1 and self.tp % self.dcp:
            raise ValueError(f"layout {self.name}: dcp {self.dcp} must divide tp {self.tp}")
        if self.ep > self.tp * self.dp:
            raise ValueError(f"layout {self.name}: ep {self.ep} is above tp x dp = {self.tp * self.dp}")

    @property
    def devices(self) -> int:
        """Accelerators of one replica."""
        return self.tp * self.pp * self.dp

    @property
    def name(self) -> str:
        """Short name as engineers write it, e.g. 'TP8+DCP8' or 'TP8xPP2'."""
        parts = [f"TP{self.tp}"]
        if self.pp > 1:
            parts.append(f"PP{self.pp}")
        if self.dp > 1:
            parts.append(f"DP{self.dp}")
        name = "x".join(parts)
        if self.dcp > 1:
            name += f"+DCP{self.dcp}"
        if self.ep > 1:
            name += f"+EP{self.ep}"
        return name

    @property
    def expert_ranks(self) -> int:
        """Ranks that the routed experts of one pipeline stage are spread over."""
        return self.tp * self.dp if self.ep > 1 else self.tp


def model_shape(model: Model, weights_bytes_override: float | None = None) -> ModelShape:
    """Derive the sizing numbers of a model record.

    Args:
        model: the record.
        weights_bytes_override: bytes of a quantised copy, which shrinks all tensors alike.

    Returns:
        ModelShape. Where the record does not state routed parameters they follow from total and active counts:
        active = (total - routed) + routed x k / experts.
    """
    total, active = model.total_params.value, model.active_params.value
    weights = model.weights_bytes.value
    moe = model.experts > 0 and model.experts_per_token > 0
    share = model.experts_per_token / model.experts if moe else 0.0
    routed_params = 0.0
    if moe:
        stated = getattr(model, "routed_expert_params", None)
        routed_params = stated.value if stated is not None else (total - active) / (1 - share)
    dense_params = max(total - routed_params, 1.0)
    routed_bytes = 0.0
    if moe:
        stated_bytes = model.routed_expert_bytes
        routed_bytes = stated_bytes.value if stated_bytes is not None else routed_params * model.weights_bits / 8
        routed_bytes = min(routed_bytes, weights)
    dense_bytes = weights - routed_bytes
    dense_active = max(active - routed_params * share, 0.0)
    cache = tuple(
        CacheShape(
            elements_per_token=group.elements_per_token,
            fixed_bytes_per_token=group.fixed_bytes_per_token,
            kv_heads=group.kv_heads,
            replicated=group.kind in ("mla", "compressed"),
            window_tokens=float(group.window_tokens) if group.window_tokens else np.inf,
        )
        for group in model.cache
    )
    cached_layers = sum(g.layers for g in model.cache)
    attention_layers = sum(g.layers for g in model.cache if g.kind != "sliding")
    shape = ModelShape(
        id=model.id,
        layers=model.layers,
        moe_layers=model.moe_layers if moe else 0,
        cached_layers=cached_layers,
        linear_layers=max(model.layers - cached_layers, 0) if model.state_bytes_per_sequence > 0 else 0,
        experts=model.experts if moe else 0,
        experts_per_token=model.experts_per_token if moe else 0,
        dense_bytes=dense_bytes,
        dense_read_bytes=dense_bytes * min(1.0, dense_active / dense_params),
        routed_bytes=routed_bytes,
        dense_active_params=dense_active,
        routed_active_params=routed_params * share,
        dense_bits=8 * dense_bytes / dense_params,
        routed_bits=8 * routed_bytes / routed_params if routed_params else 0.0,
        activation_bits=model.activation_bits,
        cache=cache,
        state_bytes_per_sequence=model.state_bytes_per_sequence,
        # QK and PV, a multiply and an add each; on average half the context is visible (applied by the caller).
        attention_flop_per_token_pair=4.0 * attention_layers * model.attention_heads * model.attention_head_dim,
        hidden_size=model.hidden_size,
        max_context_tokens=model.max_context_tokens,
    )
    if weights_bytes_override is not None:
        factor = weights_bytes_override / weights
        shape = replace(
            shape,
            dense_bytes=shape.dense_bytes * factor,
            dense_read_bytes=shape.dense_read_bytes * factor,
            routed_bytes=shape.routed_bytes * factor,
        )
    return shape


def with_precision(shape: ModelShape, precision: str) -> ModelShape:
    """The same model quantised otherwise: bulk weights and activations as `precision` names them.

    Args:
        shape: the model as published.
        precision: a key of PRECISIONS. Routed experts take the bits; the rest follows a dense model's
            matrices. Nothing is ever widened.

    Raises:
        ValueError: the precision is not known.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision {precision!r} is not one of {', '.join(PRECISIONS)}")
    bits, activation = PRECISIONS[precision]
    if shape.experts:
        bits = min(bits, shape.routed_bits)  # a 4-bit checkpoint served with 8-bit activations stays 4-bit
    if not shape.experts:
        factor = min(1.0, bits / shape.dense_bits)
        return replace(
            shape,
            dense_bytes=shape.dense_bytes * factor,
            dense_read_bytes=shape.dense_read_bytes * factor,
            dense_bits=shape.dense_bits * factor,
            activation_bits=activation,
        )
    routed = shape.routed_bytes * bits / shape.routed_bits
    return replace(shape, routed_bytes=routed, routed_bits=bits, activation_bits=activation)


def chip(accelerator: Accelerator) -> Chip:
    """Derive the sizing numbers of an accelerator record (missing rates become 0 = unknown)."""
    a = accelerator

    def value(figure: object) -> float:
        return float(figure.value) if figure is not None else 0.0  # type: ignore[attr-defined]

    return Chip(
        id=a.id,
        class_id=a.class_id,
        usable_bytes=a.memory_usable_bytes.value,
        bandwidth_bytes_per_s=a.memory_bandwidth_bytes_per_s.value,
        fp4_flop_per_s=value(a.fp4_flop_per_s),
        fp8_flop_per_s=value(a.fp8_flop_per_s),
        bf16_flop_per_s=value(a.bf16_flop_per_s),
        link_bytes_per_s=value(a.scale_up_bytes_per_s),
        link_domain=a.scale_up_domain,
        network_bytes_per_s=value(a.scale_out_bytes_per_s),
    )


def weights_bytes_per_device(shape: ModelShape, layout: Layout) -> float:
    """Weights on each accelerator, bytes: dense parts by tp, routed experts by the expert ranks, all by pp."""
    return (shape.dense_bytes / layout.tp + shape.routed_bytes / layout.expert_ranks) / layout.pp


def cache_bytes_per_token(shape: ModelShape, kv_dtype: KvDtype) -> float:
    """Cache of one token, stored once, bytes; sliding windows are left out (they do not grow: see state)."""
    width = KV_BYTES[kv_dtype]
    return sum(g.elements_per_token * width + g.fixed_bytes_per_token for g in shape.cache if np.isinf(g.window_tokens))


def cache_bytes_per_token_per_device(shape: ModelShape, layout: Layout, kv_dtype: KvDtype) -> float:
    """Cache that one token of a sequence takes on one device that holds it, bytes."""
    width = KV_BYTES[kv_dtype]
    total = 0.0
    for group in shape.cache:
        if np.isfinite(group.window_tokens):
            continue
        shard = layout.dcp if group.replicated else min(layout.tp, group.kv_heads)
        total += (group.elements_per_token * width + group.fixed_bytes_per_token) / shard
    return total / layout.pp


def state_bytes_per_device(shape: ModelShape, layout: Layout, kv_dtype: KvDtype, slots: float = STATE_SLOTS) -> float:
    """Bytes one sequence takes on one device whatever its context: recurrent state slots or full sliding windows.

    A record's `state_bytes_per_sequence` already holds its sliding windows; a record that only lists sliding cache
    groups gets their windows from the groups, so the larger of the two is taken, never both.
    """
    width = KV_BYTES[kv_dtype]
    windows = sum(
        (g.elements_per_token * width + g.fixed_bytes_per_token)
        * g.window_tokens
        / (layout.dcp if g.replicated else min(layout.tp, g.kv_heads))
        for g in shape.cache
        if np.isfinite(g.window_tokens)
    )
    return max(slots * shape.state_bytes_per_sequence / layout.tp, float(windows)) / layout.pp


def free_bytes_per_device(
    shape: ModelShape, layout: Layout, usable_bytes: Number, gpu_memory_utilization: Number
) -> Number:
    """Bytes left for cache and state on each accelerator; negative when the weights do not fit."""
    return usable_bytes * gpu_memory_utilization - weights_bytes_per_device(shape, layout)


def tokens_that_fit(
    shape: ModelShape,
    layout: Layout,
    kv_dtype: KvDtype,
    usable_bytes: Number,
    gpu_memory_utilization: Number,
    context_tokens: Number,
) -> Array:
    """Tokens of cache a replica holds when every sequence is `context_tokens` long (state included in the price)."""
    free = np.maximum(free_bytes_per_device(shape, layout, usable_bytes, gpu_memory_utilization), 0.0)
    per_sequence = cache_bytes_per_token_per_device(shape, layout, kv_dtype) * np.asarray(
        context_tokens, dtype=np.float64
    ) + state_bytes_per_device(shape, layout, kv_dtype)
    return np.asarray(layout.dp * free / per_sequence * context_tokens, dtype=np.float64)


def sequences_that_fit(
    shape: ModelShape,
    layout: Layout,
    kv_dtype: KvDtype,
    usable_bytes: Number,
    gpu_memory_utilization: Number,
    context_tokens: Number,
) -> Array:
    """Sequences of `context_tokens` a replica holds: tokens that fit / context (not rounded)."""
    tokens = tokens_that_fit(shape, layout, kv_dtype, usable_bytes, gpu_memory_utilization, context_tokens)
    return np.asarray(tokens / context_tokens, dtype=np.float64)


def expected_distinct_experts(experts: int, experts_per_token: int, tokens: Number) -> Array:
    """Distinct routed experts that a batch of `tokens` touches in one layer, with independent uniform routing.

    E x (1 - (1 - k/E)^tokens); worked example W6: of 896 with top 16, batch 64 touches 613.2.
    """
    if experts <= 0:
        return np.zeros_like(np.asarray(tokens, dtype=np.float64))
    log_miss = np.log1p(-experts_per_token / experts) if experts_per_token < experts else -np.inf
    return np.asarray(-experts * np.expm1(np.asarray(tokens, dtype=np.float64) * log_miss), dtype=np.float64)
