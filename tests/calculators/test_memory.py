"""Memory against worked example W6 and hand arithmetic (bytes; GB = 1e9)."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators import memory as mem
from calculators.catalog import load_catalog
from calculators.memory import Layout

CATALOG = load_catalog()
K3 = mem.model_shape(CATALOG.models["kimi-k3"])


def chip(name: str) -> mem.Chip:
    return mem.chip(CATALOG.accelerators[name])


def test_w6_weights_to_the_digit() -> None:
    """W6: 92 x 896 x 3 x 3584 x 3072 routed parameters at 17/32 byte; the folder on disk as loaded."""
    routed = 92 * 896 * 3 * 3584 * 3072
    assert routed == 2_722_740_830_208  # 2.7227e12
    assert K3.routed_bytes == pytest.approx(routed * 17 / 32, rel=1e-12)  # 1,446.456 GB
    assert round(K3.routed_bytes / 1e9, 1) == 1446.5
    assert round(56.74e9 * 2 / 1e9, 1) == 113.5  # the rest at 2 bytes
    assert K3.weights_bytes == 1_560_936_091_448
    # The computed sum, 1,559.9 GB, is 0.06 % below the folder.
    assert (routed * 17 / 32 + 56.74e9 * 2) / K3.weights_bytes == pytest.approx(0.9994, abs=1e-4)


def test_w6_cache_and_state() -> None:
    """24 MLA layers x (512 + 64) elements; 69 KDA layers with fp32 state and two bytes of convolution."""
    assert 24 * 576 == 13_824
    assert mem.cache_bytes_per_token(K3, "bf16") == 27_648
    assert mem.cache_bytes_per_token(K3, "fp8") == 13_824
    assert round(1_048_576 * 27_648 / 1e9, 2) == 28.99
    assert round(1_048_576 * 27_648 / 2**30, 1) == 27.0
    assert K3.state_bytes_per_sequence == 69 * 96 * 128 * 128 * 4 + 69 * 36_864 * 3 * 2  # 449.4 MB
    assert K3.linear_layers == 69
    assert K3.cached_layers == 24


@pytest.mark.parametrize(("batch", "expected"), [(1, 16.0), (32, 392.6), (64, 613.2), (256, 887.1)])
def test_w6_expected_distinct_experts(batch: int, expected: float) -> None:
    """896 x (1 - (1 - 16/896)^batch)."""
    assert float(mem.expected_distinct_experts(896, 16, batch)) == pytest.approx(expected, abs=0.05)
    assert float(mem.expected_distinct_experts(896, 16, batch)) == pytest.approx(896 * (1 - (1 - 16 / 896) ** batch))


def test_bytes_read_per_token_at_batch_1() -> None:
    """137 GB: 16 of 896 experts of 1,446.456 GB = 25.83 GB, and the dense tensors but the embedding, 55.6e9 x 2."""
    read = K3.dense_read_bytes + K3.routed_bytes * 16 / 896
    assert K3.routed_bytes * 16 / 896 == pytest.approx(25.83e9, rel=1e-3)
    assert read == pytest.approx(137e9, rel=0.01)


@pytest.mark.parametrize("layout", [Layout(tp=8), Layout(tp=8, dcp=8), Layout(tp=8, pp=2, dcp=8)])
@pytest.mark.parametrize("kv_dtype", ["fp8", "bf16"])
@pytest.mark.parametrize("context", [9216.0, 131_072.0, 1_048_576.0])
def test_sessions_times_context_are_the_tokens_that_fit(layout: Layout, kv_dtype: mem.KvDtype, context: float) -> None:
    """One 128k session or 100 of them: the same arithmetic, TP8 or DCP8."""
    usable = chip("b300_sxm").usable_bytes
    tokens = mem.tokens_that_fit(K3, layout, kv_dtype, usable, 0.9, context)
    sessions = mem.sequences_that_fit(K3, layout, kv_dtype, usable, 0.9, context)
    assert float(sessions * context) == pytest.approx(float(tokens), rel=1e-12)


def test_sessions_by_hand_on_eight_b300() -> None:
    """8xB300, fp8 cache, 128k: (0.9 x 288.4 GB - 195.117 GB) / (13,824 x 131,072 + 2 x 449.4 MB / 8)."""
    usable = 288_400_343_040
    free = 0.9 * usable - 1_560_936_091_448 / 8
    one = 13_824 * 131_072 + 2 * 449_372_160 / 8
    by_dcp = 13_824 * 131_072 / 8 + 2 * 449_372_160 / 8
    got = mem.sequences_that_fit(K3, Layout(tp=8), "fp8", usable, 0.9, 131_072.0)
    assert float(got) == pytest.approx(free / one)  # 33.5
    got = mem.sequences_that_fit(K3, Layout(tp=8, dcp=8), "fp8", usable, 0.9, 131_072.0)
    assert float(got) == pytest.approx(free / by_dcp)  # 190.2
    assert free / one == pytest.approx(33.49, abs=0.01)
    assert free / by_dcp == pytest.approx(190.2, abs=0.1)


def test_a_replicated_cache_is_not_divided_by_tensor_parallel() -> None:
    whole = mem.cache_bytes_per_token(K3, "fp8")
    assert mem.cache_bytes_per_token_per_device(K3, Layout(tp=8), "fp8") == whole
    assert mem.cache_bytes_per_token_per_device(K3, Layout(tp=8, dcp=8), "fp8") == whole / 8
    assert mem.cache_bytes_per_token_per_device(K3, Layout(tp=8, pp=2), "fp8") == whole / 2


def test_grouped_queries_divide_by_at_most_their_heads() -> None:
    """Qwen3-235B has 4 KV heads: 8 tensor ranks hold each head twice."""
    shape = mem.model_shape(CATALOG.models["qwen3-235b-a22b"])
    assert mem.cache_bytes_per_token_per_device(shape, Layout(tp=8), "fp8") == 96_256 / 4
    assert mem.cache_bytes_per_token_per_device(shape, Layout(tp=2), "fp8") == 96_256 / 2


def test_sliding_layers_do_not_grow_with_context() -> None:
    """gpt-oss-120b: 18 full layers grow by 18,432 elements a token, 18 sliding ones stop at 128 tokens."""
    shape = mem.model_shape(CATALOG.models["gpt-oss-120b"])
    assert mem.cache_bytes_per_token(shape, "bf16") == 36_864
    assert mem.state_bytes_per_device(shape, Layout(tp=1), "bf16") == pytest.approx(18_432 * 2 * 128)


def test_memory_uses_total_parameters_not_active() -> None:
    """104 of 2,779 thousand million parameters are active; all of them take memory."""
    assert mem.weights_bytes_per_device(K3, Layout(tp=8)) == pytest.approx(1_560_936_091_448 / 8)


def test_layout_product_and_refusals() -> None:
    assert Layout(tp=4, pp=2, dp=3, ep=12).devices == 24
    assert Layout(tp=8, dcp=8).devices == 8  # dcp reuses the tensor ranks
    with pytest.raises(ValueError, match="dcp 3 must divide tp 8"):
        Layout(tp=8, dcp=3)
    with pytest.raises(ValueError, match="ep 16 is above"):
        Layout(tp=8, ep=16)
    with pytest.raises(ValueError, match="at least 1"):
        Layout(tp=0)


def test_experts_spread_over_expert_ranks() -> None:
    """Attention is copied on each of 8 data-parallel ranks, experts are not."""
    got = mem.weights_bytes_per_device(K3, Layout(tp=1, dp=8, ep=8))
    assert got == pytest.approx(K3.dense_bytes + K3.routed_bytes / 8)


def test_quantising_shrinks_the_experts_and_never_widens() -> None:
    r1 = mem.model_shape(CATALOG.models["deepseek-r1-0528"])
    four = mem.with_precision(r1, "fp4")
    assert four.routed_bytes == pytest.approx(r1.routed_bytes * 4.5 / r1.routed_bits)
    assert four.dense_bytes == r1.dense_bytes
    oss = mem.model_shape(CATALOG.models["gpt-oss-120b"])
    assert mem.with_precision(oss, "fp8").routed_bytes == oss.routed_bytes  # stays at 4 bit
    with pytest.raises(ValueError, match="'int3' is not one of"):
        mem.with_precision(r1, "int3")


def test_a_quantised_copy_shrinks_everything_alike() -> None:
    small = mem.model_shape(CATALOG.models["kimi-k3"], 733e9)
    assert small.weights_bytes == pytest.approx(733e9)
    assert small.dense_read_bytes / K3.dense_read_bytes == pytest.approx(733e9 / K3.weights_bytes)


def test_missing_rates_fall_back_to_wider_units() -> None:
    h200 = chip("h200_sxm")
    assert h200.flop_per_s(4) == h200.fp8_flop_per_s  # no 4-bit unit
    assert chip("epyc_turin").flop_per_s(8) == 0.0  # unknown stays unknown


@given(
    st.floats(1.0, 1e6), st.floats(0.5, 0.99), st.sampled_from([(8, 1), (8, 8), (4, 4), (16, 16)]), st.floats(1.01, 3.0)
)
def test_longer_contexts_never_hold_more_sessions(
    context: float, utilization: float, ranks: tuple[int, int], factor: float
) -> None:
    layout = Layout(tp=ranks[0], dcp=ranks[1])
    usable = chip("b300_sxm").usable_bytes
    short = mem.sequences_that_fit(K3, layout, "fp8", usable, utilization, context)
    long = mem.sequences_that_fit(K3, layout, "fp8", usable, utilization, context * factor)
    assert float(long) <= float(short)


def test_arrays_equal_scalars() -> None:
    contexts = np.array([1024.0, 9216.0, 131_072.0])
    utilizations = np.array([[0.85], [0.95]])
    got = mem.sequences_that_fit(K3, Layout(tp=8), "fp8", 288e9, utilizations, contexts)
    for i, j in itertools.product(range(2), range(3)):
        one = mem.sequences_that_fit(K3, Layout(tp=8), "fp8", 288e9, float(utilizations[i, 0]), float(contexts[j]))
        assert got[i, j] == float(one)
