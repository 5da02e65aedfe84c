"""Reading measured rows: what every column means, in which unit, what is assumed where it is empty, what is refused."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest

from calculators import measurements
from calculators.catalog import load_catalog
from calculators.measurements import (
    Point,
    Skipped,
    Unusable,
    check_columns,
    number,
    parse_layout,
    parse_row,
    parse_rows,
    read_csv,
    stated,
)
from calculators.memory import Layout
from calculators.throughput import Plan, Pool

CATALOG = load_catalog()
NAN = math.nan

K3 = {
    "id": "a",
    "evidence": "measured",
    "hardware": "B300 (HGX)",
    "gpus": "8",
    "engine": "SGLang",
    "precision": "MXFP4 experts W4A8",
    "kv_dtype": "bfloat16 (bf16)",
    "layout": "TP8",
    "spec": "none",
    "accept_len": "",
    "accept_kind": "",
    "isl": "8192",
    "osl": "1024",
    "concurrency": "16",
    "prefix_cache_hit": "25%",
    "out_tok_s_total": "698",
    "out_tok_s_per_gpu": "89",
    "total_tok_s_per_gpu": "800",
    "tok_s_per_user": "51.4",
    "ttft_ms": "3539",
    "tpot_ms": "19.47",
    "date": " 2026-09-03 ",
    "source_url": "https://example.org/1",
    "notes": "",
}
OTHER = {
    "id": "b",
    "model": "DeepSeek-R1-0528",
    "hardware": "mi355x",
    "engine": "vLLM 0.9",
    "precision": "fp8",
    "spec": "none",
    "disagg": "False",
    "prefill_tp": "",
    "prefill_ep": "",
    "prefill_workers": "",
    "decode_tp": "8",
    "decode_ep": "1",
    "dp_attention": "False",
    "decode_workers": "",
    "num_prefill_gpu": "",
    "num_decode_gpu": "",
    "gpus": "8",
    "isl": "1024",
    "osl": "512",
    "concurrency": "32",
    "total_tok_s_per_gpu": "300",
    "out_tok_s_per_gpu": "100",
    "median_tok_s_per_user": "27",
    "median_ttft_s": "0.5",
    "median_tpot_s": "0.04",
    "date": "2026-06-30",
    "source_url": "https://example.org/2",
    "notes": "",
}
POOLS = {
    "disagg": "True",
    "prefill_tp": "4",
    "prefill_ep": "1",
    "prefill_workers": "2",
    "num_prefill_gpu": "8",
    "decode_tp": "16",
    "decode_ep": "16",
    "dp_attention": "True",
    "decode_workers": "1",
    "num_decode_gpu": "16",
    "gpus": "24",
    # 1600 a second of 16 decode devices; 300 of all 24 are 7200 in and out, a third of them out: 2400
    "out_tok_s_per_gpu": "150",
    "total_tok_s_per_gpu": "300",
    "concurrency": "",
}


def k3(**changes: str) -> Point:
    return parse_row({**K3, **changes}, CATALOG)


def other(**changes: str) -> Point:
    return parse_row({**OTHER, **changes}, CATALOG)


def same(found: Point, expected: Point) -> None:
    for field in dataclasses.fields(Point):
        a, b = getattr(found, field.name), getattr(expected, field.name)
        assert a == b or (a != a and b != b) or a == pytest.approx(b), field.name


def test_a_row_of_the_k3_layout_in_si_units() -> None:
    expected = Point(
        id="a",
        model_id="kimi-k3",
        accelerator_id="b300_sxm",
        class_id="blackwell-ultra",
        engine="sglang",
        date="2026-09-03",
        precision="mxfp4",
        kv_dtype="bf16",
        plan=Plan(Pool(Layout(tp=8), 1)),
        spec="none",
        accepted=1.0,
        input_tokens=8192.0,
        output_tokens=1024.0,
        cached_share=0.25,
        concurrency=16.0,
        user_tokens_per_s=51.4,
        tpot_s=0.01947,
        ttft_s=3.539,
        output_tokens_per_s=698.0,
        source_url="https://example.org/1",
        suspect="",
        saturation=False,
        arm="",
        unstated=frozenset(),
    )
    same(k3(), expected)


def test_a_row_of_the_other_layout_in_si_units() -> None:
    expected = Point(
        id="b",
        model_id="deepseek-r1-0528",
        accelerator_id="mi355x",
        class_id="cdna4",
        engine="vllm",
        date="2026-06-30",
        precision="fp8",
        kv_dtype="fp8",
        plan=Plan(Pool(Layout(tp=8, ep=1), 1)),
        spec="none",
        accepted=1.0,
        input_tokens=1024.0,
        output_tokens=512.0,
        cached_share=0.0,
        concurrency=32.0,
        user_tokens_per_s=27.0,
        tpot_s=0.04,
        ttft_s=0.5,
        output_tokens_per_s=800.0,
        source_url="https://example.org/2",
        suspect="",
        saturation=False,
    )
    same(other(), expected)


def test_only_the_needed_columns_are_needed() -> None:
    """The six columns of the header and one throughput: everything else has a default."""
    needed = ("id", "hardware", "gpus", "layout", "isl", "osl")
    row = {name: K3[name] for name in needed} | {"out_tok_s_per_gpu": "89", "concurrency": "4"}
    point = parse_row(row, CATALOG)
    same(
        point,
        dataclasses.replace(
            k3(),
            engine="unknown",
            date="",
            kv_dtype="fp8",
            cached_share=0.0,
            concurrency=4.0,
            user_tokens_per_s=NAN,
            tpot_s=NAN,
            ttft_s=NAN,
            output_tokens_per_s=712.0,
            source_url="",
            unstated=frozenset({"speculation"}),
        ),
    )
    # 4.25 bits a weight with activations of 8 are MXFP4, as the model is published
    assert point.precision == "mxfp4"
    lean = {name: OTHER[name] for name in ("id", "model", "hardware", "decode_tp", "isl", "osl", "gpus")}
    read = parse_row({**lean, "total_tok_s_per_gpu": "300"}, CATALOG)
    # 8 x 300 in and out, 512 of 1536 tokens out
    assert read.output_tokens_per_s == pytest.approx(800)
    assert (read.engine, read.precision, read.spec, read.accepted, read.date) == ("unknown", "fp8", "none", 1.0, "")
    assert (read.suspect, read.source_url, read.saturation) == ("", "", False)
    assert math.isnan(read.concurrency)
    assert math.isnan(read.ttft_s)


@pytest.mark.parametrize(
    ("cells", "rate"),
    [
        # the whole machine's, else 8 x 89, else 8 x 800 in and out of which 1024 / 9216 are out
        ({}, 698.0),
        ({"out_tok_s_total": ""}, 712.0),
        ({"out_tok_s_total": "", "out_tok_s_per_gpu": "not stated"}, 6400 / 9),
    ],
)
def test_the_first_throughput_that_is_stated_counts(cells: dict[str, str], rate: float) -> None:
    assert k3(**cells).output_tokens_per_s == pytest.approx(rate)


@pytest.mark.parametrize(
    ("cell", "share"),
    [("", 0.0), ("0", 0.0), ("25%", 0.25), ("0.5%", 0.005), ("0.4", 0.4), ("60", 0.6), ("100", 0.999), ("1", 0.999)],
)
def test_the_cache_hit_is_a_share_or_per_cent(cell: str, share: float) -> None:
    """Above 1 it can only be per cent; all of it cached would leave nothing to compute."""
    assert k3(prefix_cache_hit=cell).cached_share == pytest.approx(share)


def test_accepted_tokens_of_a_draft() -> None:
    assert k3(spec="none", accept_len="3").accepted == 1.0
    assert k3(spec="MTP", accept_len="2.6").accepted == 2.6
    assert math.isnan(k3(spec="DSpark 7", accept_len="").accepted)
    # forced acceptance counts the drafts; the step's own token comes on top
    assert k3(spec="MTP", accept_len="2", accept_kind="forced (simulated)").accepted == 3.0
    assert math.isnan(k3(spec="MTP", accept_len="", accept_kind="forced").accepted)
    assert k3(spec=" MTP ").spec == "MTP"
    assert other(spec="MTP").spec == "mtp"
    assert math.isnan(other(spec="mtp").accepted)
    for open_ in ("", "not stated"):
        point = k3(spec=open_)
        assert (point.spec, point.accepted, point.unstated) == ("none", 1.0, frozenset({"speculation"}))
    assert k3(spec="None stated").unstated == frozenset()
    assert k3(concurrency="").unstated == frozenset({"concurrency"})


def test_tokens_verified_a_step() -> None:
    """One without a draft, 3 drafts and its own for MTP, else the block named and its own; 7 drafts where unnamed."""
    base = k3()
    for spec, verified in (
        ("none", 1.0),
        ("mtp", 4.0),
        ("DSpark 7", 8.0),
        ("dspark block 4", 5.0),
        ("DSpark 3, block 5", 6.0),
        ("block 16", 17.0),
        ("block 17", 8.0),
        ("block 1", 2.0),
        ("block 0", 8.0),
        ("eagle", 8.0),
    ):
        assert dataclasses.replace(base, spec=spec).verified == verified, spec


def test_half_year_of_the_software() -> None:
    base = k3()
    for date, era in (
        ("2026-06-30", "2026H1"),
        ("2026-07-01", "2026H2"),
        ("2025-12", "2025H2"),
        ("August 2026", "2026H1"),
        ("", "2026H1"),
        ("as of 2026-11", "2026H2"),
    ):
        assert dataclasses.replace(base, date=date).era == era, date


def test_speed_is_the_time_per_token_or_one_over_the_speed_of_a_user() -> None:
    base = k3()
    assert base.speed_s == base.tpot_s
    assert dataclasses.replace(base, tpot_s=NAN, user_tokens_per_s=50.0).speed_s == 0.02
    assert math.isnan(dataclasses.replace(base, tpot_s=NAN, user_tokens_per_s=NAN).speed_s)


def test_the_configuration_is_everything_but_shape_and_load() -> None:
    base = k3()
    assert base.configuration == "kimi-k3|b300_sxm|sglang|mxfp4|TP8|none"
    assert base.devices == 8


def test_requests_above_the_engines_cap_wait_outside() -> None:
    """Of 64 requests the engine holds 32: that is the load, and the time to first token holds the wait, so it goes."""
    for cells in ({"layout": "TP8; max_num_seqs 32"}, {"notes": "batch cap 32 in the engine"}):
        point = k3(concurrency="64", **cells)
        assert point.concurrency == 32.0
        assert math.isnan(point.ttft_s)
        assert k3(concurrency="32", **cells).ttft_s == pytest.approx(3.539)
    assert k3(concurrency="64").concurrency == 64.0


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"notes": "a SUSPECT run"}, "marked SUSPECT in its notes"),
        ({"evidence": "measured, dummy weights"}, "dummy weights"),
        ({"notes": "step of the ladder"}, "intermediate state of the software"),
        ({"notes": "plain", "evidence": "measured"}, ""),
    ],
)
def test_marked_rows_say_why(cells: dict[str, str], words: str) -> None:
    assert k3(**cells).suspect == words


def test_marks_of_the_other_layout() -> None:
    assert other(notes="untuned").suspect == "untuned baseline by its own notes"
    assert other(notes="Suspect").suspect == "marked SUSPECT in its notes"
    # 800 x (0.04 + 0.5 / 512) = 32.8 requests in flight: 30 % either side of the concurrency is believed
    contradict = "throughput, latency and concurrency contradict one another (Little's law)"
    for concurrency, words in (("46", ""), ("47", contradict), ("26", ""), ("25", contradict)):
        assert other(concurrency=concurrency).suspect == words, concurrency
    # without a time to first token the check has not enough to go by
    assert other(concurrency="100", median_ttft_s="").suspect == ""
    assert other(concurrency="").suspect == ""


def test_an_arm_of_a_source_keeps_its_name() -> None:
    assert k3(precision="MXFP4, arm tagged B2 by the source").arm == "b2"
    assert k3().arm == ""


def test_output_of_separate_pools_is_that_of_the_decode_devices() -> None:
    point = other(**POOLS)
    assert point.plan == Plan(decode=Pool(Layout(tp=1, dp=16, ep=16), 1), prefill=Pool(Layout(tp=1, dp=4, ep=4), 2))
    assert point.output_tokens_per_s == 2400.0
    assert point.suspect == ""
    # without the decode figure the total over all 24 counts: 24 x 300 x 512 / 1536
    assert other(**{**POOLS, "out_tok_s_per_gpu": ""}).output_tokens_per_s == pytest.approx(2400)
    # 15 % apart is believed, more is not
    assert other(**{**POOLS, "total_tok_s_per_gpu": "344"}).suspect == ""
    assert other(**{**POOLS, "total_tok_s_per_gpu": "346"}).suspect == "its throughput columns contradict one another"
    assert other(**{**POOLS, "total_tok_s_per_gpu": "254"}).suspect == "its throughput columns contradict one another"


@pytest.mark.parametrize(
    ("cells", "layout", "workers"),
    [
        ({"decode_tp": "8"}, Layout(tp=8), 1),
        ({"decode_tp": "4.0"}, Layout(tp=4), 2),
        ({"decode_tp": "8", "decode_ep": "8"}, Layout(tp=8, ep=8), 1),
        ({"decode_tp": "8", "decode_ep": ""}, Layout(tp=8), 1),
        # attention data-parallel: each device has its own requests, experts over all of them
        ({"decode_tp": "8", "dp_attention": "TRUE "}, Layout(tp=1, dp=8, ep=8), 1),
        # 8 expert ranks over 2 tensor ranks: four attention groups
        ({"decode_tp": "2", "decode_ep": "8"}, Layout(tp=2, dp=4, ep=8), 1),
        # as many as fit: more expert ranks than devices cannot be
        ({"decode_tp": "8", "decode_ep": "12"}, Layout(tp=8, ep=8), 1),
        ({"decode_tp": "2xTP4"}, Layout(tp=4), 2),
    ],
)
def test_layout_from_columns(cells: dict[str, str], layout: Layout, workers: int) -> None:
    assert other(**cells).plan == Plan(Pool(layout, workers))


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("TP8", Plan(Pool(Layout(tp=8), 1))),
        ("2xTP8", Plan(Pool(Layout(tp=8), 2))),
        (" 3 x TP 4 ", Plan(Pool(Layout(tp=4), 3))),
        ("TP8xPP2 + EP", Plan(Pool(Layout(tp=8, pp=2, ep=8), 1))),
        ("PP8", Plan(Pool(Layout(tp=1, pp=8), 1))),
        ("TP8, EP off", Plan(Pool(Layout(tp=8), 1))),
        ("TP8 EP4", Plan(Pool(Layout(tp=8, ep=4), 1))),
        ("TEP8", Plan(Pool(Layout(tp=8, ep=8), 1))),
        ("DEP16", Plan(Pool(Layout(tp=1, dp=16, ep=16), 1))),
        ("2xDEP8", Plan(Pool(Layout(tp=1, dp=8, ep=8), 2))),
        ("DCP8", Plan(Pool(Layout(tp=8, dcp=8), 1))),
        ("DCP8 dp4 EP32", Plan(Pool(Layout(tp=8, dp=4, ep=32, dcp=8), 1))),
        ("DP4xTP16xEP64", Plan(Pool(Layout(tp=16, dp=4, ep=64), 1))),
        ("tp8 dp2 + ep", Plan(Pool(Layout(tp=8, dp=2, ep=16), 1))),
        ("TP8; max_num_seqs 32 -", Plan(Pool(Layout(tp=8), 1))),
        ("TP4 -> 2xDEP8", Plan(decode=Pool(Layout(tp=1, dp=8, ep=8), 2), prefill=Pool(Layout(tp=4), 1))),
        ("TP4 -> TP8 -> x", Plan(decode=Pool(Layout(tp=8), 1), prefill=Pool(Layout(tp=4), 1))),
    ],
)
def test_layout_from_words(text: str, plan: Plan) -> None:
    assert parse_layout(text) == plan


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "layout is not stated"),
        ("  ", "layout is not stated"),
        ("Not stated by the source", "layout is not stated"),
        ("TP8 + HiCache", "the cache lives partly in host memory, which is not modelled"),
        ("TP8, KV offload", "the cache lives partly in host memory, which is not modelled"),
        ("TP8 with host DRAM", "the cache lives partly in host memory, which is not modelled"),
        ("TP2, experts on CPU", "layout 'TP2, experts on CPU' is not one of accelerators only"),
        ("TP2 streaming", "layout 'TP2 streaming' is not one of accelerators only"),
        ("a mix", "layout 'a mix' is not understood"),
        ("m" * 90, f"layout {'m' * 80!r} is not understood"),
        ("TP4 EP8", "layout 'TP4 EP8': more expert ranks (8) than devices of a stage (4)"),
    ],
)
def test_layouts_that_are_refused(text: str, why: str) -> None:
    with pytest.raises(Unusable) as caught:
        parse_layout(text)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (None, NAN),
        ("", NAN),
        ("abc", NAN),
        ("1,024", 1024),
        (" 12.5 ", 12.5),
        ("~12", 12),
        ("<= 3.5", 3.5),
        ("1.5e3", 1500),
        ("2k", 2000),
        ("2 K tokens", 2000),
        ("14 kW", 14),
        ("75.0% (prefix 1920)", 75),
        ("p50 3; mean 219k", 219_000),
        ("mean 12.5", 12.5),
        ("mean 1.2.3", NAN),
        ("1e999", NAN),
        ("-5", NAN),
    ],
)
def test_first_number_of_a_cell(text: str | None, value: float) -> None:
    assert number(text) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    "text",
    ["", " ", "-", "\u2013", "?", "n/a", "NA", "none", "null", "unknown", "swept", "not stated", "None reported here",
     "not measured (see text)"],
)  # fmt: skip
def test_words_that_leave_a_figure_open(text: str) -> None:
    assert math.isnan(stated({"isl": text}, "isl"))
    assert math.isnan(stated({}, "isl"))


@pytest.mark.parametrize(
    ("text", "zero", "why"),
    [
        ("abc", False, "isl 'abc' is no number"),
        ("x" * 70, False, f"isl {'x' * 60!r} is no number"),
        ("nan", False, "isl 'nan' is no finite number; give the figure or leave the cell empty"),
        ("-inf", False, "isl '-inf' is no finite number; give the figure or leave the cell empty"),
        ("-5,0", False, "isl '-5,0' is out of bounds: above 0 up to 1,000,000,000"),
        ("0", False, "isl '0' is out of bounds: above 0 up to 1,000,000,000"),
        ("-1", True, "isl '-1' is out of bounds: from 0 up to 1,000,000,000"),
        ("1000000001", True, "isl '1000000001' is out of bounds: from 0 up to 1,000,000,000"),
    ],
)
def test_figures_that_no_measurement_gives(text: str, zero: bool, why: str) -> None:
    with pytest.raises(Unusable) as caught:
        stated({"isl": text}, "isl", zero=zero)
    assert str(caught.value) == why


def test_bounds_of_a_figure_belong_to_it() -> None:
    assert stated({"isl": "0"}, "isl", zero=True) == 0
    assert stated({"isl": "1,000,000,000"}, "isl") == 1e9
    assert stated({"isl": "1e-9"}, "isl") == 1e-9


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("SGLang v0.5.18", "sglang"),
        ("vLLM nightly", "vllm"),
        ("AMD ATOM", "atom"),
        ("TRT-LLM", "trt"),
        ("TensorRT-LLM 1.2", "trt"),
        ("LMDeploy 0.9", "lmdeploy"),
        ("", "unknown"),
        ("  ", "unknown"),
    ],
)
def test_engines(text: str, engine: str) -> None:
    assert k3(engine=text).engine == engine


@pytest.mark.parametrize(
    ("text", "model", "precision"),
    [
        ("NVFP4", "kimi-k3", "nvfp4"),
        ("W4A8", "kimi-k3", "mxfp4"),
        ("int4 AWQ", "kimi-k3", "int4"),
        ("FP8 block", "kimi-k3", "fp8"),
        ("BF16", "kimi-k3", "bf16"),
        ("fp4", "kimi-k3", "fp4"),
        # not stated: as the model is published
        ("", "kimi-k3", "mxfp4"),
        ("precision not stated", "DeepSeek R1", "fp8"),
        ("", "kimi-k2.5", "int4"),
        ("", "llama-3.3-70b", "bf16"),
    ],
)
def test_precisions(text: str, model: str, precision: str) -> None:
    assert k3(precision=text, model=model).precision == precision


@pytest.mark.parametrize(("text", "kept"), [("bf16", "bf16"), ("FP16", "bf16"), ("fp8 e4m3", "fp8"), ("", "fp8")])
def test_cache_formats(text: str, kept: str) -> None:
    assert k3(kv_dtype=text).kv_dtype == kept


def test_names_of_models_and_machines() -> None:
    assert k3(model="").model_id == "kimi-k3"
    assert k3(model="moonshotai/Kimi-K3").model_id == "kimi-k3"
    assert k3(model="DeepSeek V3").model_id == "deepseek-r1-0528"
    # by the id of the catalogue, by the name of the chip, and by a machine of the catalogue
    assert k3(hardware="mi355x").accelerator_id == "mi355x"
    assert k3(hardware="NVIDIA GB300 NVL72").accelerator_id == "gb300"
    assert k3(hardware=" hgx-h200-8 ").accelerator_id == "h200_sxm"
    assert k3(hardware="H100").class_id == CATALOG.accelerators["h100_sxm"].class_id


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ({"hardware": "Serverless: X"}, "a serverless observation, not a machine"),
        ({"hardware": ""}, "machine is not stated"),
        ({"hardware": "Cray" * 25}, f"machine {('Cray' * 20)!r} is not in the catalogue"),
        ({"hardware": "xb300"}, "machine 'xb300' is not in the catalogue"),
        ({"model": "gpt-9"}, "model 'gpt-9' is not in the catalogue"),
        ({"gpus": ""}, "number of accelerators is not stated"),
        ({"gpus": "16"}, "layout 'TP8' uses 8 accelerators, the row says 16"),
        ({"evidence": "Prefill only"}, "prefill only: no output throughput"),
        ({"osl": "1"}, "prefill only: no output throughput"),
        ({"isl": "-"}, "input and output lengths are not stated"),
        ({"osl": ""}, "input and output lengths are not stated"),
        (
            {"precision": "Q2_K" * 20},
            f"precision {('Q2_K' * 15)!r} is not one this model of time knows",
        ),
        (
            {"out_tok_s_total": "", "out_tok_s_per_gpu": "", "total_tok_s_per_gpu": ""},
            "no measured throughput of the whole machine",
        ),
    ],
)
def test_rows_that_are_refused(cells: dict[str, str], why: str) -> None:
    with pytest.raises(Unusable) as caught:
        k3(**cells)
    assert str(caught.value).split(" (")[0] == why


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ({"model": ""}, "model is not stated"),
        ({"gpus": ""}, "number of accelerators is not stated"),
        ({"decode_tp": " "}, "layout is not stated"),
        ({"decode_tp": "0"}, "layout is not stated"),
        ({"decode_tp": "0.5"}, "layout is not stated"),
        ({"decode_tp": "3"}, "8 accelerators do not divide into workers of 3"),
        ({"decode_tp": "TP4"}, "layout uses 4 accelerators, the row says 8"),
        ({"isl": ""}, "input and output lengths are not stated"),
        ({"total_tok_s_per_gpu": "", "out_tok_s_per_gpu": ""}, "no measured throughput"),
        ({**POOLS, "num_prefill_gpu": ""}, "accelerators of the prefill and decode pools are not stated"),
        ({**POOLS, "num_decode_gpu": "0"}, "accelerators of the prefill and decode pools are not stated"),
        ({**POOLS, "decode_workers": "0"}, "workers of the prefill and decode pools are not stated"),
        ({**POOLS, "prefill_workers": "0"}, "workers of the prefill and decode pools are not stated"),
        ({**POOLS, "gpus": "32"}, "layout uses 24 accelerators, the row says 32"),
    ],
)
def test_rows_of_the_other_layout_that_are_refused(cells: dict[str, str], why: str) -> None:
    with pytest.raises(Unusable) as caught:
        other(**cells)
    assert str(caught.value) == why


def test_a_load_as_high_as_the_engine_takes() -> None:
    point = other(concurrency="Max load")
    assert point.saturation
    assert math.isnan(point.concurrency)


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ({"isl": "100000001"}, "input length 1e+08 is outside 1 to 1e+08"),
        ({"isl": "0.5"}, "input length 0.5 is outside 1 to 1e+08"),
        ({"osl": "0.5"}, "output length 0.5 is outside 1 to 1e+08"),
        ({"osl": "200000000"}, "output length 2e+08 is outside 1 to 1e+08"),
        (
            {"out_tok_s_total": "0.0000001", "out_tok_s_per_gpu": ""},
            "output throughput 1e-07 is outside 1e-06 to 1e+09",
        ),
        (
            {"gpus": "200000", "layout": "200000xTP1", "out_tok_s_per_gpu": ""},
            "number of accelerators 200000 is outside 1 to 100000",
        ),
        ({"concurrency": "0.5"}, "concurrency 0.5 is outside 1 to 1e+07"),
        ({"concurrency": "20000000"}, "concurrency 2e+07 is outside 1 to 1e+07"),
        ({"tpot_ms": "0.0001"}, "time per token 1e-07 is outside 1e-06 to 100000"),
        ({"tpot_ms": "200000000"}, "time per token 200000 is outside 1e-06 to 100000"),
        ({"tok_s_per_user": "0.000001"}, "speed per user 1e-06 is outside 1e-05 to 1e+06"),
        ({"tok_s_per_user": "2000000"}, "speed per user 2e+06 is outside 1e-05 to 1e+06"),
        ({"spec": "mtp", "accept_len": "0.5"}, "accepted tokens per step 0.5 is outside 1 to 64"),
        ({"spec": "mtp", "accept_len": "65"}, "accepted tokens per step 65 is outside 1 to 64"),
    ],
)
def test_typing_errors_are_named_and_not_predicted(cells: dict[str, str], why: str) -> None:
    points, skipped = parse_rows([{**K3, **cells}], CATALOG)
    assert (points, skipped) == ([], [Skipped("a", why)])


def test_figures_at_their_bounds_are_read() -> None:
    for cells in (
        {"concurrency": "1"},
        {"concurrency": "10000000"},
        {"isl": "1"},
        {"isl": "100000000"},
        {"osl": "100000000"},
        {"tok_s_per_user": "1000000"},
        {"out_tok_s_total": "1000000000", "out_tok_s_per_gpu": ""},
        {"spec": "mtp", "accept_len": "1"},
        {"spec": "mtp", "accept_len": "64"},
    ):
        points, skipped = parse_rows([{**K3, **cells}], CATALOG)
        assert (len(points), skipped) == (1, []), cells


def test_rows_are_told_by_their_id_or_their_place() -> None:
    """Column names may have blanks around them; a surplus cell (no name) is dropped, a missing one is empty."""
    ragged: list[dict[Any, Any]] = [
        {**{f" {name} ": cell for name, cell in K3.items()}, None: ["surplus"], "notes": None},
        {**K3, "id": " ", "isl": ""},
        {"id": "c", "hardware": "x"},
    ]
    points, skipped = parse_rows(ragged, CATALOG)
    same(points[0], k3())
    assert skipped == [
        Skipped("row 2", "input and output lengths are not stated"),
        Skipped("c", "columns are of neither known layout; missing gpus, isl, layout, osl"),
    ]
    (nameless,), _ = parse_rows([{**K3, "id": ""}], CATALOG)
    assert nameless.id == "row 1"
    _, (lost,) = parse_rows([{"decode_tp": "8", "id": "d"}], CATALOG)
    assert lost.why == "columns are of neither known layout; missing hardware, isl, model, osl"


@pytest.mark.parametrize("fault", [ValueError("x"), KeyError("x"), ZeroDivisionError("x")])
def test_a_row_that_breaks_the_reader_is_a_row_with_a_reason(monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    """Whatever goes wrong with one row, the others are read."""
    whole = parse_row

    def breaks(row: dict[str, str], catalog: Any) -> Point:
        if row["id"] == "broken":
            raise fault
        return whole(row, catalog)

    monkeypatch.setattr(measurements, "parse_row", breaks)
    points, skipped = parse_rows([{**K3, "id": "broken"}, K3], CATALOG)
    assert [p.id for p in points] == ["a"]
    assert skipped == [Skipped("broken", f"could not be read: {fault}")]


def test_columns_of_neither_layout_are_told_once() -> None:
    check_columns([*K3], "file")
    check_columns([f" {name} " for name in OTHER], "file")
    needs = (
        "It needs gpus, hardware, id, isl, layout, osl and one of out_tok_s_total, out_tok_s_per_gpu, "
        "total_tok_s_per_gpu; or decode_tp, hardware, id, isl, model, osl and out_tok_s_per_gpu or total_tok_s_per_gpu."
    )
    for names in (["id"], ["id", "hardware", "gpus", "layout", "isl", "osl"]):
        with pytest.raises(ValueError, match="neither") as caught:
            check_columns(names, "my.csv")
        assert str(caught.value) == f"my.csv: has the columns of neither known layout. {needs}"


def test_a_file_is_read_as_text(tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    file.write_bytes(b'\xef\xbb\xbfid,notes\r\nx,"a\r\nb"\r\ny\r\nz,1,surplus\r\n')
    assert read_csv(file) == [{"id": "x", "notes": "a\nb"}, {"id": "y", "notes": ""}, {"id": "z", "notes": "1"}]
    with pytest.raises(ValueError, match=r"^.*m\.csv: has the columns of neither known layout"):
        read_csv(file, check=True)
    with pytest.raises(ValueError, match=r"^.*none\.csv: cannot be read \(No such file or directory\)$"):
        read_csv(tmp_path / "none.csv")
    file.write_bytes(b"")
    with pytest.raises(ValueError, match=r"^.*m\.csv: has no header row$"):
        read_csv(file)
    file.write_bytes(b"id\nab\xff")
    with pytest.raises(ValueError, match=r"^.*m\.csv: is not UTF-8 text \(byte 5\)$"):
        read_csv(file)
