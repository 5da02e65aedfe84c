"""Frozen records of data/: what a figure, a model, a machine, an offer and a measurement are.

A figure is never a bare number: it carries its unit, source, date and kind. A record that lacks one of them does not
load. Prices live in CSV rows (one row a dated price); everything else is TOML, one file a model, accelerator or system.
"""

import datetime as dt
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from calculators.units import GB, GIB

Kind = Literal["measured", "specification", "list_price", "quote", "press", "derived", "estimate", "assumption"]
"""How a figure came to be known. 'assumption' and 'estimate' are honest kinds: they are shown as such."""

AttentionKind = Literal["mla", "gqa", "sliding", "compressed"]

Text = Annotated[str, Field(min_length=1)]


class Record(BaseModel):
    """Base of all records: frozen, no unknown keys, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Figure(Record):
    """One number with all that is needed to believe or doubt it."""

    value: float
    unit: Text
    source: Text
    date: dt.date | Text
    kind: Kind
    low: float | None = None
    high: float | None = None
    note: str = ""

    @model_validator(mode="after")
    def _ordered(self) -> "Figure":
        if self.low is not None and self.low > self.value:
            raise ValueError(f"low {self.low} is above the value {self.value}")
        if self.high is not None and self.high < self.value:
            raise ValueError(f"high {self.high} is below the value {self.value}")
        return self


_BYTES_OF: Final = MappingProxyType({"bytes": 1.0, "GB": GB, "GiB": GIB})


def _in_bytes(figure: Figure) -> Figure:
    """A memory size in bytes, whether it was typed in bytes, GB (1e9) or GiB (2^30).

    Raises:
        ValueError: another unit.
    """
    if figure.unit not in _BYTES_OF:
        raise ValueError(f"the unit is '{figure.unit}'; write a memory size in bytes, GB or GiB")
    factor = _BYTES_OF[figure.unit]
    if factor == 1.0:
        return figure
    return figure.model_copy(
        update={
            "value": figure.value * factor,
            "low": None if figure.low is None else figure.low * factor,
            "high": None if figure.high is None else figure.high * factor,
            "unit": "bytes",
            "note": f"{figure.note} typed as {figure.value:g} {figure.unit}".strip(),
        }
    )


ByteFigure = Annotated[Figure, AfterValidator(_in_bytes)]
"""A figure that is bytes in the program and may be typed in GB or GiB."""


class CacheGroup(Record):
    """Layers that keep a cache of the same shape.

    kind 'mla': one latent per token and layer, replicated on every tensor-parallel rank (decode-context-parallel
    divides it). 'gqa': divided by min(tp, kv_heads). 'sliding': as gqa, but capped at `window_tokens`. 'compressed':
    as mla (replicated), already averaged over its compression ratios in `elements_per_token`.
    `fixed_bytes_per_token`: bytes whose width does not follow the cache dtype (a sparse indexer's keys, for example).
    """

    kind: AttentionKind
    layers: int = Field(gt=0)
    elements_per_token: float = Field(gt=0, description="cache elements per token, all layers of the group together")
    kv_heads: int = Field(default=1, ge=1)
    window_tokens: int | None = None
    fixed_bytes_per_token: float = 0.0


class Model(Record):
    """An open-weight model: sizes for memory (TOTAL parameters) and for time (what a step reads and computes)."""

    id: Text
    name: Text
    release: str = ""
    weights_class: Text = Field(description="offers with the same class serve these weights, e.g. 'kimi-k3'")
    total_params: Figure
    active_params: Figure
    layers: int = Field(gt=0)
    moe_layers: int = Field(default=0, ge=0)
    experts: int = Field(default=0, ge=0, description="routed experts per MoE layer")
    experts_per_token: int = Field(default=0, ge=0)
    shared_experts: int = Field(default=0, ge=0)
    weights_bytes: ByteFigure = Field(description="checkpoint as it is loaded, all tensors at their own precision")
    routed_expert_bytes: Figure | None = Field(default=None, description="routed experts of all layers together")
    routed_expert_params: Figure | None = Field(
        default=None, description="routed parameters of all layers; None = derived from total and active counts"
    )
    weights_bits: float = Field(default=16, description="nominal bits of the bulk of the weights: 4, 8 or 16")
    activation_bits: float = Field(default=16, description="bits of the matmuls' activations: 4, 8 or 16")
    cache: tuple[CacheGroup, ...] = Field(min_length=1)
    cache_source: Text = Field(description="source of the cache groups and of the state")
    state_bytes_per_sequence: float = Field(
        default=0, ge=0, description="recurrent state and sliding windows, constant"
    )
    attention_heads: int = Field(default=0, ge=0, description="query heads; 0 = unknown")
    attention_head_dim: int = Field(default=128, ge=1, description="dimension that attention scores and values work on")
    hidden_size: int = Field(default=0, ge=0, description="0 = unknown")
    max_context_tokens: int = Field(gt=0)
    sized_as: str = Field(default="", description="id of the model whose constants were used, when its own are unknown")
    warnings: tuple[str, ...] = ()
    licence_note: str = ""
    notes: str = ""


class Accelerator(Record):
    """One chip (or, for CPU and unified-memory machines, one socket or computer)."""

    id: Text
    name: Text
    vendor: Text
    kind: Text
    class_id: Text = Field(description="accelerator class of the calibration, e.g. 'blackwell-ultra'")
    memory_usable_bytes: ByteFigure
    memory_marketing: str = ""
    memory_bandwidth_bytes_per_s: Figure
    fp4_flop_per_s: Figure | None = None
    fp8_flop_per_s: Figure | None = None
    bf16_flop_per_s: Figure | None = None
    power_w: Figure | None = None
    scale_up: str = ""
    scale_up_bytes_per_s: Figure | None = None
    scale_up_domain: int = Field(default=1, ge=1, description="accelerators that reach each other at scale-up speed")
    scale_out_bytes_per_s: Figure | None = None
    notes: str = ""


class System(Record):
    """A machine that can be bought: N accelerators with a price and a power draw at the wall."""

    id: Text
    name: Text
    accelerator: Text
    accelerators: int = Field(gt=0)
    accelerators_per_node: int = Field(gt=0)
    hardware_usd: Figure | None = None
    power_kw: Figure | None = None
    rent_usd_per_accelerator_hour: Figure | None = None
    streaming_bytes_per_s: Figure | None = Field(
        default=None, description="SSD read rate where weights do not fit memory"
    )
    weights_bytes_override: Figure | None = Field(default=None, description="weights as quantised for this machine")
    bound_only: bool = Field(
        default=False, description="no serving measurement class: a bandwidth bound is all we have"
    )
    notes: str = ""


class PriceTier(Record):
    """Prices that replace the standard ones for every token of a request whose input is above the threshold."""

    above_input_tokens: int = Field(gt=0)
    input_usd_per_mtok: float | None = None
    cached_input_usd_per_mtok: float | None = None
    cache_write_usd_per_mtok: float | None = None
    cache_write_1h_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None


class OfferPrice(Record):
    """One dated price of an offer. None = unknown ('unpriced'), 0 = free; the two are never mixed up."""

    effective_from: dt.date | None = None
    currency: Literal["USD", "CNY"] = "USD"
    input_per_mtok: float | None = Field(default=None, ge=0)
    cached_input_per_mtok: float | None = Field(default=None, ge=0)
    cache_write_per_mtok: float | None = Field(default=None, ge=0)
    cache_write_1h_per_mtok: float | None = Field(default=None, ge=0)
    output_per_mtok: float | None = Field(default=None, ge=0)
    tiers: tuple[PriceTier, ...] = ()
    hours_utc: str = Field(default="", description="time-of-day price: 'HH:MM-HH:MM', empty = always")
    source: Text
    source_url: str = ""
    checked: dt.date
    kind: Kind
    confidence: str = ""
    note: str = ""


class Offer(Record):
    """A serverless offer: provider x model x service tier x region, with all its dated prices, oldest first."""

    id: Text
    provider: Text
    model_id: Text
    weights_class: Text
    service_tier: Literal["standard", "batch", "flex", "priority", "fast", "balanced", "spot"] = "standard"
    region: str = ""
    context_window_tokens: int | None = None
    aliases: tuple[str, ...] = ()
    prices: tuple[OfferPrice, ...] = Field(min_length=1)
    is_frontier_baseline: bool = False
    channel: Literal["maker", "host", "reseller", "plan"] = Field(
        default="host",
        description="maker of the model, host with machines of its own, reseller or router, or a plan with a quota",
    )


class Preset(Record):
    """A workload people recognise; sets the mix and nothing else."""

    id: Text
    name: Text
    description: Text
    input_tokens: int = Field(gt=0)
    output_tokens: int = Field(gt=0)
    cached_share: float = Field(ge=0, le=1)
    accepted_tokens_per_step: float = Field(default=1.0, ge=1)
    source: Text
    date: dt.date | Text
    kind: Kind
    note: str = ""


class Profile(Record):
    """Shape of demand over the 168 hours of a week (Monday 00:00 UTC first); weights sum to 168."""

    id: Text
    name: Text
    description: Text
    weights: tuple[float, ...] = Field(min_length=168, max_length=168)
    source: Text
    date: dt.date | Text
    kind: Kind
