"""The roofline against arithmetic by hand, with round constants."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.memory import CacheShape, Chip, Layout, ModelShape
from calculators.throughput import (
    Constants,
    Plan,
    Pool,
    Workload,
    compile_plan,
    operate,
    worker_terms,
)

DENSE = ModelShape(
    id="toy-dense",
    layers=10,
    moe_layers=0,
    linear_layers=0,
    cached_layers=10,
    experts=0,
    experts_per_token=0,
    dense_bytes=8e9,
    dense_read_bytes=8e9,
    routed_bytes=0.0,
    dense_active_params=4e9,
    routed_active_params=0.0,
    dense_bits=16,
    routed_bits=0.0,
    activation_bits=16,
    cache=(CacheShape(1000.0, 0.0, 8, False, math.inf),),
    state_bytes_per_sequence=0.0,
    attention_flop_per_token_pair=0.0,
    hidden_size=0,
    max_context_tokens=100_000,
)
MOE = ModelShape(
    id="toy-moe",
    layers=10,
    moe_layers=10,
    linear_layers=5,
    cached_layers=5,
    experts=100,
    experts_per_token=10,
    dense_bytes=1e9,
    dense_read_bytes=1e9,
    routed_bytes=100e9,
    dense_active_params=0.5e9,
    routed_active_params=10e9,
    dense_bits=16,
    routed_bits=8,
    activation_bits=8,
    cache=(CacheShape(1000.0, 0.0, 1, True, math.inf),),
    state_bytes_per_sequence=1e6,
    attention_flop_per_token_pair=0.0,
    hidden_size=0,
    max_context_tokens=100_000,
)
CHIP = Chip("toy", "toy", 100e9, 1e12, 0.0, 2e15, 1e15, 100e9, 8, 10e9)
IDEAL = Constants.bound()
ROUND = Constants(
    layer_floor_s=100e-6,
    moe_floor_s=50e-6,
    linear_floor_s=20e-6,
    ep_floor_s=0.0,
    dcp_floor_s=0.0,
    rank_growth=0.0,
    pipeline_fill=1.0,
    sequence_s=10e-6,
    e_bw=0.5,
    e_kv=0.5,
    e_dec=0.5,
    e_pf=0.5,
    prefill_layer_s=1e-3,
    e_link=0.5,
    queue=0.5,
    merge=0.0,
    handover_s=0.0,
)


def test_decode_step_of_a_dense_model_by_hand() -> None:
    """One device, batch 1, context 1,000: 8 GB / 1 TB/s = 8 ms, cache 1,000 x 1 B x 1,000 = 1 MB: 1 us."""
    work = Workload(compile_plan(DENSE, CHIP, Plan(Pool(Layout())), IDEAL, "fp8"), 500.0, 1000.0)
    assert float(work.step_s(np.asarray(1.0))) == pytest.approx(8e-3 + 1e-6)
    # Batch 1,000 is bound by FLOP/s: 2 x 4e9 x 1,000 / 1e15 = 8 ms too; batch 4,000: 32 ms, cache 4 ms.
    assert float(work.step_s(np.asarray(4000.0))) == pytest.approx(32e-3 + 4e-3)


def test_decode_step_of_a_mixture_by_hand() -> None:
    """Two tensor ranks, batch 4, round constants.

    floor: 10 x 100 + 10 x 50 + 5 x 20 = 1,600 us. sequences: 4 x 10 = 40 us.
    weights: dense 1 GB / 2, routed 100 GB / 2 x (1 - 0.9^4 = 0.3439) = 17.195 GB; 17.695 GB / (0.5 TB/s) = 35.39 ms.
    cache: 4 x 1,000 B x 600 tokens (replicated) + 4 x 2 x 1 MB / 2 of state = 6.4 MB; / 0.5 TB/s = 12.8 us.
    """
    work = Workload(compile_plan(MOE, CHIP, Plan(Pool(Layout(tp=2))), ROUND, "fp8"), 100.0, 1000.0)
    expected = 1600e-6 + 40e-6 + 17.695e9 / 0.5e12 + 6.4e6 / 0.5e12
    comm = 4 * (2 * 0.5 * 2 * 2 * 10) / (0.5 * 100e9)  # hidden size unknown counts as 1
    assert float(work.step_s(np.asarray(4.0))) == pytest.approx(expected + comm, rel=1e-9)


def test_the_latency_floor_dominates_small_batches() -> None:
    """Kimi-like: without its floor the step would be several times too fast."""
    with_floor = worker_terms(MOE, CHIP, Layout(tp=8), ROUND, "fp8").floor_s
    assert with_floor == pytest.approx(1.6e-3)


def test_pipeline_stages_work_on_batches_of_their_own() -> None:
    """Two filled stages: a token takes a pass of half the batch; half filled: of 1 / 1.5 of it."""
    full = Workload(compile_plan(MOE, CHIP, Plan(Pool(Layout(pp=2))), ROUND, "fp8"), 100.0, 100.0)
    one = Workload(compile_plan(MOE, CHIP, Plan(Pool(Layout())), ROUND, "fp8"), 100.0, 100.0)
    assert float(full.step_s(np.asarray(64.0))) == pytest.approx(float(one.step_s(np.asarray(32.0))), rel=1e-6)


def test_expert_parallel_reads_each_expert_once() -> None:
    """8 data-parallel ranks: batch 64 routes over all, so every rank reads an eighth of the touched experts."""
    spread = worker_terms(MOE, CHIP, Layout(dp=8, ep=8), ROUND, "fp8")
    assert spread.routed_weights_s == pytest.approx(100e9 / 8 / 0.5e12)
    assert spread.dense_weights_s == pytest.approx(1e9 / 0.5e12)


def test_dcp_divides_the_replicated_cache_only() -> None:
    plain = worker_terms(MOE, CHIP, Layout(tp=8), ROUND, "fp8")
    shared = worker_terms(MOE, CHIP, Layout(tp=8, dcp=8), ROUND, "fp8")
    assert shared.cache_per_token_s == pytest.approx(plain.cache_per_token_s / 8)
    assert shared.state_s == plain.state_s


def test_shared_pool_by_hand() -> None:
    """C requests: X = C / (osl t + C T). Dense toy, 8,192 in, 101 out, C = 4, round constants.

    T: floor 10 x 1 ms = 10 ms; FLOPs 8,192 x 2 x 4e9 / (0.5 x 1e15) = 131.07 ms > weights 16 ms. T = 141.07 ms.
    t: floor 1 ms, sequences 40 us, weights 16 ms (FLOPs 4 x 8e9 / 0.5e15 = 64 us), cache 4 x 1,000 x 8,242.5 / 0.5e12.
    """
    plan = compile_plan(DENSE, CHIP, Plan(Pool(Layout())), ROUND, "fp8")
    prompt = 10e-3 + 8192 * 2 * 4e9 / (0.5 * 1e15)
    step = 1e-3 + 40e-6 + 16e-3 + 4 * 1000 * 8242.5 / 0.5e12
    cycle = 101 * step + 4 * prompt
    op = operate(plan, 4.0, 8192.0, 101.0)
    assert float(op.requests_per_s) == pytest.approx(4 / cycle)
    ttft = prompt * (1 + 0.5 * 3) + step
    assert float(op.ttft_s) == pytest.approx(ttft)
    assert float(op.tpot_s) == pytest.approx((cycle - ttft) / 100)


def test_latencies_and_rate_obey_littles_law() -> None:
    plan = compile_plan(MOE, CHIP, Plan(Pool(Layout(tp=8))), ROUND, "fp8")
    c = np.array([1.0, 8.0, 64.0, 500.0])
    op = operate(plan, c, 3000.0, 500.0, 0.3, 2.0)
    assert op.requests_per_s * (op.ttft_s + 499 * op.tpot_s) == pytest.approx(c)


def test_cached_input_skips_prefill_and_is_still_read_in_decode() -> None:
    plan = compile_plan(DENSE, CHIP, Plan(Pool(Layout())), ROUND, "fp8")
    cold = Workload(plan, 8192.0, 101.0, 0.0)
    warm = Workload(plan, 8192.0, 101.0, 0.75)
    # A quarter of the tokens: FLOPs shrink to 2,048 x 8e9 / 0.5e15, the chunk's floor stays.
    assert float(warm.lone) == pytest.approx(10e-3 + 2048 * 8e9 / 0.5e15)
    assert float(warm.lone) < float(cold.lone)
    assert float(warm.step_s(np.asarray(4.0))) == float(cold.step_s(np.asarray(4.0)))


def test_everything_cached_still_computes_one_token() -> None:
    plan = compile_plan(DENSE, CHIP, Plan(Pool(Layout())), ROUND, "fp8")
    assert math.isfinite(float(operate(plan, 1.0, 8192.0, 10.0, 1.0).requests_per_s))


def test_speculation_emits_accepted_tokens_and_verifies_more() -> None:
    """Batch 1: 3 tokens a step in the same 8 ms. Batch 8,000: FLOPs are full, verifying 6 tokens costs 6 times.

    There: step 8,000 x 8e9 / 1e15 = 64 ms and cache 8,000 x 516 kB / 1e12 = 4.128 ms; a prompt 8 ms of weights.
    """
    plan = compile_plan(DENSE, CHIP, Plan(Pool(Layout())), IDEAL, "fp8")

    def gain(c: float) -> float:
        fast = operate(plan, c, 16.0, 1000.0, 0.0, 3.0)
        slow = operate(plan, c, 16.0, 1000.0, 0.0, 1.0)
        return float(fast.requests_per_s / slow.requests_per_s)

    assert gain(1.0) == pytest.approx(3.0, rel=0.02)
    assert gain(64.0) < gain(1.0)
    slow_cycle = 1000 * (64e-3 + 4.128e-3) + 8000 * 8e-3
    fast_cycle = 1000 / 3 * (6 * 64e-3 + 4.128e-3) + 8000 * 8e-3
    assert gain(8000.0) == pytest.approx(slow_cycle / fast_cycle, rel=1e-3)  # 0.68: a loss


def test_separate_pools_are_bound_by_the_slower_one() -> None:
    """A single prefill worker serves at most 1 / T requests a second however large the decode pool is."""
    pools = Plan(decode=Pool(Layout(), 50), prefill=Pool(Layout(), 1))
    plan = compile_plan(DENSE, CHIP, pools, ROUND, "fp8")
    prompt = 10e-3 + 8192 * 2 * 4e9 / (0.5 * 1e15)
    rate = float(operate(plan, 5000.0, 8192.0, 101.0).requests_per_s)
    assert rate <= 1 / prompt
    assert rate == pytest.approx(1 / prompt, rel=0.02)
    # With little load the rate follows from latency: T + 101 t each.
    step = 1e-3 + 10e-6 + 16e-3 + 1000 * 8242.5 / 0.5e12
    assert float(operate(plan, 1.0, 8192.0, 101.0).requests_per_s) == pytest.approx(1 / (prompt + 101 * step), rel=0.01)


def test_separate_pools_decode_without_prefill_in_the_way() -> None:
    pools = Plan(decode=Pool(Layout(), 1), prefill=Pool(Layout(), 1))
    plan = compile_plan(DENSE, CHIP, pools, ROUND, "fp8")
    shared = compile_plan(DENSE, CHIP, Plan(Pool(Layout())), ROUND, "fp8")
    assert float(operate(plan, 16.0, 8192.0, 101.0).tpot_s) < float(operate(shared, 16.0, 8192.0, 101.0).tpot_s)
    assert pools.devices == 2
    assert pools.name == "TP1 -> TP1"


def test_collectives_leave_the_fast_link_when_ranks_exceed_its_domain() -> None:
    """16 tensor ranks on a link domain of 8 use the network: 10 GB/s instead of 100."""
    wide = ModelShape(**{**MOE.__dict__, "hidden_size": 1000})
    inside = worker_terms(wide, CHIP, Layout(tp=8), ROUND, "fp8").per_token_s
    outside = worker_terms(wide, CHIP, Layout(tp=16), ROUND, "fp8").per_token_s
    # 2 x (n - 1)/n x 2 x 2,000 bytes x 10 layers over e_link x bandwidth.
    assert inside == pytest.approx(2 * 7 / 8 * 2 * 2000 * 10 / (0.5 * 100e9))
    assert outside == pytest.approx(2 * 15 / 16 * 2 * 2000 * 10 / (0.5 * 10e9))


@given(
    c=st.floats(1, 1e4),
    isl=st.floats(1, 1e6),
    osl=st.floats(1, 1e5),
    cached=st.floats(0, 1),
    accepted=st.floats(1, 8),
    more=st.floats(1.05, 4),
)
def test_more_load_never_makes_anything_faster(
    c: float, isl: float, osl: float, cached: float, accepted: float, more: float
) -> None:
    plan = compile_plan(MOE, CHIP, Plan(Pool(Layout(tp=8))), ROUND, "fp8")
    a, b = operate(plan, c, isl, osl, cached, accepted), operate(plan, c * more, isl, osl, cached, accepted)
    assert float(b.requests_per_s) >= float(a.requests_per_s) * (1 - 1e-9)
    assert float(b.ttft_s) >= float(a.ttft_s) * (1 - 1e-9)
    for op in (a, b):
        assert all(math.isfinite(float(v)) and float(v) > 0 for v in (op.requests_per_s, op.ttft_s))


def test_arrays_equal_the_stack_of_scalars() -> None:
    plans = (Plan(Pool(Layout(tp=8))), Plan(decode=Pool(Layout(tp=4), 2), prefill=Pool(Layout(pp=4))))
    rng = np.random.default_rng(7)
    c, isl, osl = rng.uniform(1, 300, 20), rng.uniform(100, 5e4, 20), rng.uniform(2, 4e3, 20)
    cached, accepted = rng.uniform(0, 1, 20), rng.uniform(1, 5, 20)
    for plan in plans:
        compiled = compile_plan(MOE, CHIP, plan, ROUND, "fp8")
        whole = operate(compiled, c, isl, osl, cached, accepted)
        for i in range(20):
            one = operate(compiled, c[i], isl[i], osl[i], cached[i], accepted[i])
            assert whole.requests_per_s[i] == float(one.requests_per_s)
            assert whole.tpot_s[i] == float(one.tpot_s)
            assert whole.ttft_s[i] == float(one.ttft_s)
