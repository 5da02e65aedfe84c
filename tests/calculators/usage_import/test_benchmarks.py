"""Load tests and /metrics: what each tool's file gives, by hand."""

import csv
import io
import json

import pytest

from calculators.usage_import import VALIDATE_COLUMNS, BenchmarkReport, ImportRefused, read, read_pair

from .exports import EXPORTS, INFERENCEX, METRICS, VLLM, vllm_metrics


def bench(data: bytes) -> BenchmarkReport:
    report = read(data)
    assert isinstance(report, BenchmarkReport)
    return report


@pytest.mark.parametrize("name", ["vllm.json", "inference_perf.json", "llmd.yaml", "llmd.json"])
def test_the_same_run_written_by_four_tools(name: str):
    # 100 requests of 1000 + 200 tokens in 50 s.
    row = bench(EXPORTS[name][0]).rows[0]
    assert (row.completed_requests, row.duration_s, row.requests_per_s) == (100, 50, 2)
    assert (row.input_tokens_mean, row.output_tokens_mean) == (1000, 200)
    assert (row.output_tokens_per_s, row.total_tokens_per_s) == (400, 2400)
    assert row.ttft_mean_s == 0.5


def test_vllm_effective_concurrency_is_rate_times_latency():
    row = bench(VLLM).rows[0]
    # Little's law: 2 requests/s x 7.5 s
    assert (row.concurrency_max, row.concurrency_effective) == (16, 15)
    assert row.request_rate_per_s is None  # "inf"


def test_sglang_effective_concurrency_and_accepted_tokens():
    report = bench(EXPORTS["sglang.jsonl"][0])
    row = report.rows[0]
    assert (row.concurrency_max, row.concurrency_effective, row.accepted_tokens_per_step) == (8, 7, 2.5)
    result = report.to_scenario_fields()
    # The measured throughput holds the gain already: setting the field too would count it twice.
    assert "accepted_tokens_per_step" not in result["fields"]
    assert "2.5" in result["explanations"]["accepted_tokens_per_step"]


def test_inferencex_is_per_gpu_and_in_seconds():
    row = bench(INFERENCEX).rows[0]
    assert row.accelerators == 8
    assert (row.output_tokens_per_s, row.total_tokens_per_s) == (800, 7200)
    assert (row.ttft_mean_s, row.tpot_mean_ms) == (2.5, 50)


def test_inferencex_disaggregated_output_counts_decode_gpus_only():
    # 4 prefill + 32 decode: 36 x 1000 in all = 32 x 562.5 out + 4 x 4500 in
    row = bench(EXPORTS["inferencex.csv"][0]).rows[0]
    assert row.accelerators == 36
    assert (row.output_tokens_per_s, row.total_tokens_per_s) == (18_000, 36_000)


def test_inferencex_without_a_gpu_count_is_refused():
    with pytest.raises(ImportRefused, match="number of GPUs"):
        read(b'{"tput_per_gpu": 100, "output_tput_per_gpu": 10, "conc": 4}')


def test_guidellm_v1_takes_sums_over_duration_and_the_model_of_the_worker():
    row = bench(EXPORTS["guidellm.json"][0]).rows[0]
    # 20 x 100 tokens / 10 s; the mean of rates is 180, medians are nine times the means.
    assert (row.output_tokens_per_s, row.requests_per_s) == (200, 2)
    assert (row.model, row.concurrency_max, row.concurrency_effective, row.failed_requests) == (
        "maker/alpha",
        4,
        3.8,
        1,
    )


def test_several_runs_take_the_fastest_unless_one_is_chosen():
    slow, fast = json.loads(VLLM.replace(b"Infinity", b"1.0")), json.loads(VLLM.replace(b"Infinity", b"1.0"))
    fast |= {"duration": 25.0, "max_concurrency": 64, "output_throughput": 800.0, "request_throughput": 4.0}
    report = bench("\n".join(json.dumps(d) for d in (slow, fast)).encode())
    assert len(report.rows) == 2
    best = report.to_scenario_fields()
    assert best["fields"] == {"input_tokens": 1000, "output_tokens": 200, "measured_output_tokens_per_s": 800}
    assert any("2 runs" in q for q in best["unresolved"])
    assert report.to_scenario_fields(row=0)["fields"]["measured_output_tokens_per_s"] == 400
    with pytest.raises(ImportRefused, match="no run 7"):
        report.to_scenario_fields(row=7)


def test_a_rate_limited_test_is_not_a_capacity():
    limited = bench(VLLM.replace(b'"request_rate": "inf"', b'"request_rate": 2.0'))
    assert any("what was asked" in q for q in limited.to_scenario_fields()["unresolved"])
    assert not any("what was asked" in q for q in bench(VLLM).to_scenario_fields()["unresolved"])


def test_runs_without_any_completed_request_are_refused():
    with pytest.raises(ImportRefused, match="no completed request"):
        read(VLLM.replace(b'"completed": 100', b'"completed": 0'))


def test_validate_rows_have_the_columns_of_a_measurement():
    report = bench(VLLM)
    (row,) = report.to_validate_rows(hardware="B300 (HGX)", accelerators=8)
    assert tuple(row) == VALIDATE_COLUMNS
    assert (row["hardware"], row["gpus"], row["out_tok_s_total"], row["out_tok_s_per_gpu"]) == (
        "B300 (HGX)",
        "8",
        "400",
        "50",
    )
    assert (row["total_tok_s_per_gpu"], row["isl"], row["osl"], row["concurrency"]) == ("300", "1000", "200", "15")
    assert row["tok_s_per_user"] == "33.33333333"  # 1000 / 30 ms
    unknown = report.to_validate_rows()[0]
    assert (unknown["hardware"], unknown["gpus"]) == ("unknown", "")
    out = io.StringIO()
    csv.DictWriter(out, VALIDATE_COLUMNS).writerow(row)
    assert "nan" not in out.getvalue()


def test_one_scrape_adds_up_engines_and_has_means_without_rates():
    report = bench(METRICS)
    (row,) = report.rows
    assert (row.total_input_tokens, row.total_output_tokens, row.completed_requests) == (1000, 100, 10)
    assert (row.input_tokens_mean, row.output_tokens_mean, row.ttft_mean_s) == (100, 10, 0.5)
    assert (row.output_tokens_per_s, row.duration_s) == (None, None)
    assert report.to_validate_rows() == []
    assert any("second scrape" in q for q in report.to_scenario_fields()["unresolved"])


FIRST = vllm_metrics(1000, 100, 10, ttft_s=5.0, hits=0, at="2026-06-01T12:00:00Z")
SECOND = vllm_metrics(7000, 1300, 40, ttft_s=11.0, hits=3000, at="2026-06-01T12:01:00Z")


@pytest.mark.parametrize(
    "read_it",
    [lambda: read_pair(FIRST, SECOND), lambda: read(FIRST + SECOND), lambda: read(FIRST + b"# EOF\n" + SECOND)],
    ids=["two files", "one after the other", "EOF between"],
)
def test_two_scrapes_give_rates(read_it):
    (row,) = read_it().rows
    # 1200 output and 6000 input tokens of 30 requests in 60 s; 6 s of TTFT for 30 requests; 3000 hits of 6000.
    assert row.duration_s == 60
    assert (row.output_tokens_per_s, row.total_tokens_per_s, row.requests_per_s) == (20, 120, 0.5)
    assert (row.input_tokens_mean, row.output_tokens_mean) == (200, 40)
    assert row.ttft_mean_s == pytest.approx(0.2)
    assert row.prefix_cache_hit_share == 0.5


def test_of_many_scrapes_the_first_and_the_last_count():
    between = vllm_metrics(3000, 400, 20, ttft_s=7.0, at="2026-06-01T12:00:20Z")
    report = bench(FIRST + between + between + between + SECOND)
    # 1200 output tokens in 60 s, whatever lies between.
    assert (report.rows[0].output_tokens_per_s, report.rows[0].duration_s) == (20, 60)


def test_the_seconds_may_come_from_the_caller_and_are_asked_for_otherwise():
    bare = [data.split(b"\n", 1)[1] for data in (FIRST, SECOND)]
    assert read_pair(*bare, seconds=120).rows[0].output_tokens_per_s == 10
    without = read_pair(*bare)
    assert without.rows[0].output_tokens_per_s is None
    assert without.rows[0].total_output_tokens == 1200
    assert "How many seconds lie between the two scrapes?" in without.to_scenario_fields()["unresolved"]


@pytest.mark.parametrize("pair", [(SECOND, FIRST), (FIRST, METRICS.replace(b"generation_tokens_total", b"other"))])
def test_scrapes_in_the_wrong_order_or_a_restart_are_refused(pair: tuple[bytes, bytes]):
    with pytest.raises(ImportRefused):
        read_pair(*pair, seconds=None if pair[0] is SECOND else 60)


def test_a_restart_between_scrapes_is_named():
    with pytest.raises(ImportRefused, match="restarted"):
        read_pair(vllm_metrics(5000, 500, 5, ttft_s=1), vllm_metrics(100, 10, 1, ttft_s=1), seconds=60)


def test_sglang_metrics():
    text = (
        'sglang:prompt_tokens_total{model_name="m"} 8000\nsglang:generation_tokens_total{model_name="m"} 400\n'
        'sglang:cached_tokens_total{model_name="m"} 2000\nsglang:num_requests_total{model_name="m"} 20\n'
        'sglang:spec_accept_length{model_name="m"} 2.2\n'
    )
    report = bench(text.encode())
    (row,) = report.rows
    assert report.kind == "sglang_metrics"
    assert (row.input_tokens_mean, row.output_tokens_mean, row.prefix_cache_hit_share) == (400, 20, 0.25)
    assert row.accepted_tokens_per_step == 2.2
