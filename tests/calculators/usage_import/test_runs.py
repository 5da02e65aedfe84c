"""Every figure of a load test's file: each name it may have, its unit, and what follows when it is missing."""

import copy
import json
from typing import Any

import pytest

from calculators.usage_import import BenchmarkReport, ImportRefused, read

from .reports import keys

DROP = object()
"""Marks a key to leave out."""


def edited(document: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """A copy of a document with the values at dotted paths replaced or left out."""
    result = copy.deepcopy(document)
    for path, value in change.items():
        *outer, last = path.split(".")
        place = result
        for key in outer:
            place = place.setdefault(key, {})
        if value is DROP:
            place.pop(last, None)
        else:
            place[last] = value
    return result


def report_of(*documents: dict[str, Any], kind: str = "auto") -> BenchmarkReport:
    report = read("\n".join(json.dumps(d) for d in documents).encode(), kind=kind)
    assert isinstance(report, BenchmarkReport)
    return report


def says(report: BenchmarkReport) -> dict[str, Any]:
    """What the only run says, without what is unknown; notes by their keys."""
    (row,) = report.rows
    found = {k: v for k, v in row.to_json_dict().items() if v not in (None, "", [])}
    if row.notes:
        found["notes"] = [note.key for note in row.notes]  # type: ignore[attr-defined]
    return found


VLLM = {
    "label": "night",
    "dataset_name": "random",
    "model_id": "maker/alpha",
    "backend": "vllm",
    "endpoint_type": "openai",
    "date": "20260601-120000-and-more",
    "request_rate": 4.0,
    "max_concurrency": 16,
    "duration": 50.0,
    "completed": 100,
    "failed": 3,
    "total_input_tokens": 100000,
    "total_output_tokens": 20000,
    "request_throughput": 2.0,
    "output_throughput": 401.0,
    "total_token_throughput": 2401.0,
    "mean_ttft_ms": 500.0,
    "mean_tpot_ms": 30.0,
    "mean_e2el_ms": 7500.0,
    "spec_decode_acceptance_length": 2.5,
}
VLLM_SAYS = {
    "name": "night",
    "model": "maker/alpha",
    "engine": "vllm",
    "date": "20260601-120000-and-",
    "request_rate_per_s": 4.0,
    "concurrency_max": 16.0,
    "concurrency_effective": 15.0,  # 2 requests/s x 7.5 s
    "completed_requests": 100,
    "failed_requests": 3,
    "duration_s": 50.0,
    "total_input_tokens": 100000,
    "total_output_tokens": 20000,
    "input_tokens_mean": 1000.0,
    "output_tokens_mean": 200.0,
    "output_tokens_per_s": 400.0,
    "total_tokens_per_s": 2400.0,
    "requests_per_s": 2.0,
    "ttft_mean_s": 0.5,
    "tpot_mean_ms": 30.0,
    "accepted_tokens_per_step": 2.5,
    "notes": ["import_note.failed"],
}
STATED_ONLY = {"total_input_tokens": DROP, "total_output_tokens": DROP}
STATED_SAYS = {
    "total_input_tokens": None,
    "total_output_tokens": None,
    "output_tokens_per_s": 401.0,
    "total_tokens_per_s": 2401.0,
    "output_tokens_mean": 200.5,  # 401 / 2
    "input_tokens_mean": 1000.0,  # (2401 - 401) / 2
}

INFERENCEX = {
    "hw": "b300",
    "tp": 8,
    "conc": 64,
    "model": "maker/alpha",
    "framework": "sglang",
    "precision": "fp4",
    "spec_decoding": "mtp",
    "isl": 8192,
    "osl": 1024,
    "tput_per_gpu": 900.0,
    "output_tput_per_gpu": 100.0,
    "mean_ttft": 2.5,
    "mean_tpot": 0.05,
    "mean_e2el": 64.0,
    "accept_length": 2.5,
    "date": "2026-06-01T12:00:00",
}
INFERENCEX_SAYS = {
    "name": "mtp",
    "model": "maker/alpha",
    "engine": "sglang",
    "hardware": "b300",
    "precision": "fp4",
    "accelerators": 8,
    "concurrency_max": 64.0,
    "concurrency_effective": 50.0,  # 800 / 1024 requests/s x 64 s
    "input_tokens_mean": 8192.0,
    "output_tokens_mean": 1024.0,
    "output_tokens_per_s": 800.0,
    "total_tokens_per_s": 7200.0,
    "requests_per_s": 0.78125,
    "ttft_mean_s": 2.5,
    "tpot_mean_ms": 50.0,
    "accepted_tokens_per_step": 2.5,
    "date": "2026-06-01",
}
ON_FOUR = {
    "accelerators": 4,
    "output_tokens_per_s": 400.0,
    "total_tokens_per_s": 3600.0,
    "requests_per_s": 0.390625,
    "concurrency_effective": 25.0,
}
SPLIT = {"disagg": "true", "num_prefill_gpu": 4, "num_decode_gpu": 4, "mean_e2el": DROP}

GUIDELLM = {
    "config": {"strategy": {"type_": "concurrent", "streams": 4}, "backend": {"model": "maker/alpha"}},
    "duration": 10.0,
    "metrics": {
        "request_totals": {"successful": 20, "errored": 1},
        "request_concurrency": {"successful": {"mean": 3.8}},
        "prompt_token_count": {"successful": {"mean": 500.0, "count": 20, "total_sum": 10000.0}},
        "output_token_count": {"successful": {"mean": 100.0, "count": 20, "total_sum": 2000.0}},
        "output_tokens_per_second": {"successful": {"mean": 180.0}},
        "tokens_per_second": {"successful": {"mean": 1100.0}},
        "requests_per_second": {"successful": {"mean": 1.9}},
        "time_to_first_token_ms": {"successful": {"mean": 80.0}},
        "inter_token_latency_ms": {"successful": {"mean": 15.0}},
        "time_per_output_token_ms": {"successful": {"mean": 16.0}},
    },
}
GUIDELLM_SAYS = {
    "name": "concurrent",
    "model": "maker/alpha",
    "concurrency_max": 4.0,
    "concurrency_effective": 3.8,
    "completed_requests": 20,
    "failed_requests": 1,
    "duration_s": 10.0,
    "total_input_tokens": 10000,
    "total_output_tokens": 2000,
    "input_tokens_mean": 500.0,
    "output_tokens_mean": 100.0,
    "output_tokens_per_s": 200.0,
    "total_tokens_per_s": 1200.0,
    "requests_per_s": 2.0,
    "ttft_mean_s": 0.08,
    "tpot_mean_ms": 15.0,
    "notes": ["import_note.guidellm_tpot", "import_note.failed"],
}
NO_DURATION = {"duration": DROP}
"""Then the tool's own means: 180 output and 1,100 tokens/s; 1.9 requests/s."""
NO_DURATION_SAYS = {
    "duration_s": None,
    "output_tokens_per_s": 180.0,
    "total_tokens_per_s": 1100.0,
    "requests_per_s": 1.9,
}

PERF = {
    "name": "stage 1",
    "load_summary": {"count": 101, "requested_rate": 3.0, "concurrency": 16},
    "failures": {"count": 1},
    "successes": {
        "count": 100,
        "latency": {
            "request_latency": {"mean": 4.0},
            "time_per_output_token": {"mean": 0.025},
            "inter_token_latency": {"mean": 0.026},
            "time_to_first_token": {"mean": 0.5},
        },
        "throughput": {"output_tokens_per_sec": 400.0, "total_tokens_per_sec": 2400.0, "requests_per_sec": 2.0},
        "prompt_len": {"mean": 1000.0},
        "output_len": {"mean": 200.0},
    },
}
PERF_SAYS = {
    "name": "stage 1",
    "request_rate_per_s": 3.0,
    "concurrency_max": 16.0,
    "concurrency_effective": 8.0,
    "completed_requests": 100,
    "failed_requests": 1,
    "duration_s": 50.0,
    "input_tokens_mean": 1000.0,
    "output_tokens_mean": 200.0,
    "output_tokens_per_s": 400.0,
    "total_tokens_per_s": 2400.0,
    "requests_per_s": 2.0,
    "ttft_mean_s": 0.5,
    "tpot_mean_ms": 25.0,
    "notes": ["import_note.failed"],
}

AT = "results.request_performance.aggregate"
LLMD = {
    "version": "0.2",
    "run": {"time": {"duration": "PT50S", "start": "2026-06-01T12:00:00Z"}},
    "scenario": {
        "model": {"name": "maker/alpha"},
        "host": {"accelerator": [{"model": "H200", "count": 8}, {"model": "H200", "count": 4}]},
        "load": {"name": "own", "standardized": {"tool": "vllm-benchmark", "concurrency": 16, "rate_qps": 4.0}},
    },
    "results": {
        "request_performance": {
            "aggregate": {
                "latency": {
                    "time_to_first_token": {"mean": 0.5, "units": "s"},
                    "time_per_output_token": {"mean": 25.0, "units": "ms/token"},
                    "inter_token_latency": {"mean": 0.026, "units": "s/token"},
                    "request_latency": {"mean": 4.0, "units": "s"},
                },
                "requests": {
                    "total": 102,
                    "failures": 2,
                    "input_length": {"mean": 1000.0},
                    "output_length": {"mean": 200.0},
                },
                "throughput": {
                    "output_token_rate": {"mean": 401.0},
                    "total_token_rate": {"mean": 2401.0},
                    "request_rate": {"mean": 2.0},
                },
            }
        }
    },
}
LLMD_SAYS = {
    "name": "vllm-benchmark",
    "model": "maker/alpha",
    "hardware": "H200",
    "accelerators": 12,
    "request_rate_per_s": 4.0,
    "concurrency_max": 16.0,
    "concurrency_effective": 8.0,
    "completed_requests": 100,
    "failed_requests": 2,
    "duration_s": 50.0,
    "total_input_tokens": 100000,
    "total_output_tokens": 20000,
    "input_tokens_mean": 1000.0,
    "output_tokens_mean": 200.0,
    "output_tokens_per_s": 400.0,
    "total_tokens_per_s": 2400.0,
    "requests_per_s": 2.0,
    "ttft_mean_s": 0.5,
    "tpot_mean_ms": 25.0,
    "date": "2026-06-01",
    "notes": ["import_note.failed"],
}
NO_SPAN = {"run.time.duration": DROP}
NO_SPAN_SAYS = {"duration_s": None, "output_tokens_per_s": 401.0, "total_tokens_per_s": 2401.0}

TOOLS = {
    "vllm": (VLLM, VLLM_SAYS),
    "inferencex": (INFERENCEX, INFERENCEX_SAYS),
    "guidellm": (GUIDELLM, GUIDELLM_SAYS),
    "inference_perf": (PERF, PERF_SAYS),
    "llmd": (LLMD, LLMD_SAYS),
}

# tool, what is changed in its file, what changes in what it says
CHANGES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    *((tool, {}, {}) for tool in TOOLS),
    # vllm bench serve and sglang.bench_serving
    ("vllm", {"label": DROP}, {"name": "random"}),
    ("vllm", {"label": DROP, "dataset_name": DROP}, {"name": None}),
    ("vllm", {"model_id": DROP, "model": "maker/beta"}, {"model": "maker/beta"}),
    ("vllm", {"model": "maker/beta"}, {}),
    ("vllm", {"backend": DROP}, {"engine": "openai"}),
    ("vllm", {"date": DROP}, {"date": None}),
    ("vllm", {"request_rate": "inf"}, {"request_rate_per_s": None}),
    ("vllm", {"max_concurrency": None}, {"concurrency_max": None}),
    ("vllm", {"mean_e2el_ms": DROP}, {"concurrency_effective": None}),
    ("vllm", {"mean_e2el_ms": DROP, "mean_e2e_latency_ms": 6000.0}, {"concurrency_effective": 12.0}),
    ("vllm", {"concurrency": 7.0}, {"concurrency_effective": 7.0}),
    ("vllm", {"request_throughput": DROP}, {"concurrency_effective": None}),  # 100 / 50 s all the same
    ("vllm", {"request_throughput": DROP, "concurrency": 7.0}, {"concurrency_effective": 7.0}),
    ("vllm", {"failed": DROP}, {"failed_requests": None, "notes": None}),
    ("vllm", {"failed": 0}, {"failed_requests": 0, "notes": None}),
    ("vllm", {"mean_ttft_ms": DROP}, {"ttft_mean_s": None}),
    ("vllm", {"mean_ttft_ms": 0}, {"ttft_mean_s": None}),
    ("vllm", {"mean_tpot_ms": DROP}, {"tpot_mean_ms": None}),
    ("vllm", {"spec_decode_acceptance_length": DROP}, {"accepted_tokens_per_step": None}),
    ("vllm", {"spec_decode_acceptance_length": DROP, "accept_length": 3.5}, {"accepted_tokens_per_step": 3.5}),
    ("vllm", {"spec_decode_acceptance_length": DROP, "spec_accept_length": 3.5}, {"accepted_tokens_per_step": 3.5}),
    ("vllm", STATED_ONLY, STATED_SAYS),
    (
        "vllm",
        {**STATED_ONLY, "total_token_throughput": DROP, "total_throughput": 2401.0},
        STATED_SAYS,
    ),
    (
        "vllm",
        {**STATED_ONLY, "total_token_throughput": DROP},
        {**STATED_SAYS, "total_tokens_per_s": None, "input_tokens_mean": None},
    ),
    # a total below the output cannot leave an input
    (
        "vllm",
        {**STATED_ONLY, "total_token_throughput": 300.0},
        {**STATED_SAYS, "total_tokens_per_s": 300.0, "input_tokens_mean": None},
    ),
    (
        "vllm",
        {"duration": DROP, "request_throughput": DROP},
        {
            "duration_s": None,
            "requests_per_s": None,
            "concurrency_effective": None,
            "output_tokens_per_s": 401.0,
            "total_tokens_per_s": 2401.0,
        },
    ),
    (
        "vllm",
        {"completed": DROP},
        {"completed_requests": None, "input_tokens_mean": 1000.0, "output_tokens_mean": None},
    ),
    (
        "vllm",
        {"total_input_tokens": DROP},
        {"total_input_tokens": None, "total_tokens_per_s": 2401.0, "input_tokens_mean": 1000.5},
    ),
    (
        "vllm",
        {"total_output_tokens": DROP},
        {
            "total_output_tokens": None,
            "output_tokens_per_s": 401.0,
            "total_tokens_per_s": 2401.0,
            "output_tokens_mean": 200.5,
        },
    ),
    # what the file states may be rounded by 2 %: 408 of 400 is, 409 is not
    ("vllm", {"output_throughput": 408.0}, {}),
    ("vllm", {"output_throughput": 392.0}, {}),
    ("vllm", {"output_throughput": 409.0}, {"notes": ["import_note.stated_rate", "import_note.failed"]}),
    ("vllm", {"output_throughput": 391.0}, {"notes": ["import_note.stated_rate", "import_note.failed"]}),
    # InferenceX: per GPU and in seconds
    ("inferencex", {"num_gpus": 4}, ON_FOUR),
    ("inferencex", {"gpus": 4}, ON_FOUR),
    ("inferencex", {"num_gpus": 4, "gpus": 2}, ON_FOUR),
    ("inferencex", {"num_decode_gpu": 4, "num_prefill_gpu": 2}, ON_FOUR),
    ("inferencex", {"tp": 4}, ON_FOUR),
    ("inferencex", {"tp": DROP, "decode_tp": 4}, ON_FOUR),
    ("inferencex", {"disagg": "true", "num_decode_gpu": 4}, ON_FOUR),
    ("inferencex", {"disagg": "true", "num_prefill_gpu": 1, "num_decode_gpu": 3}, ON_FOUR),
    ("inferencex", {"is_multinode": True, "num_prefill_gpu": 1, "num_decode_gpu": 3}, ON_FOUR),
    ("inferencex", {"disagg": "1", "num_prefill_gpu": 1, "num_decode_gpu": 3}, ON_FOUR),
    ("inferencex", {"is_multinode": 1, "num_prefill_gpu": 1, "num_decode_gpu": 3}, ON_FOUR),
    ("inferencex", {"spec_decoding": DROP, "mtp": "on"}, {"name": "on"}),
    ("inferencex", {"model": DROP, "infmax_model_prefix": "alpha"}, {"model": "alpha"}),
    ("inferencex", {"hw": DROP, "hardware": "gb300"}, {"hardware": "gb300"}),
    ("inferencex", {"framework": DROP}, {"engine": None}),
    ("inferencex", {"precision": DROP}, {"precision": None}),
    ("inferencex", {"conc": DROP}, {"concurrency_max": None}),
    ("inferencex", {"mean_e2el": DROP}, {"concurrency_effective": None}),
    ("inferencex", {"mean_tpot": DROP}, {"tpot_mean_ms": None}),
    ("inferencex", {"mean_tpot": DROP, "mean_itl": 0.04}, {"tpot_mean_ms": 40.0}),
    ("inferencex", {"mean_ttft": DROP}, {"ttft_mean_s": None}),
    ("inferencex", {"accept_length": DROP}, {"accepted_tokens_per_step": None}),
    ("inferencex", {"date": DROP}, {"date": None}),
    ("inferencex", {"output_tput_per_gpu": DROP}, {"notes": ["import_note.by_shape"]}),  # 7200 x 1024 / 9216
    ("inferencex", {"tput_per_gpu": DROP}, {"total_tokens_per_s": None}),
    (
        "inferencex",
        {"osl": DROP},
        {
            "output_tokens_mean": None,
            "requests_per_s": None,
            "concurrency_effective": None,
        },
    ),
    ("inferencex", {"isl": DROP}, {"input_tokens_mean": 8192.0}),  # (7200 - 800) / 0.78125
    # separate pools: 8 x 1000 in all = 4 x 400 output + 4 x 1600 input
    (
        "inferencex",
        {**SPLIT, "tput_per_gpu": 1000.0, "output_tput_per_gpu": 400.0, "input_tput_per_gpu": 1600.0},
        {
            "output_tokens_per_s": 1600.0,
            "total_tokens_per_s": 8000.0,
            "requests_per_s": 1.5625,
            "concurrency_effective": None,
            "notes": ["import_note.decode_gpus"],
        },
    ),
    # 8 x (100 + 800) is the total too: both are per GPU of the whole
    (
        "inferencex",
        {**SPLIT, "input_tput_per_gpu": 800.0},
        {"concurrency_effective": None},
    ),
    # neither: 7200 x 1024 / 9216
    (
        "inferencex",
        {**SPLIT, "input_tput_per_gpu": 300.0},
        {"concurrency_effective": None, "notes": ["import_note.per_gpu_sum"]},
    ),
    # guidellm
    ("guidellm", {"config.strategy.type_": "constant", "config.strategy.rate": 2.5},
     {"name": "constant", "request_rate_per_s": 2.5}),
    ("guidellm", {"config.strategy.type_": "poisson", "config.strategy.rate": 2.5},
     {"name": "poisson", "request_rate_per_s": 2.5}),
    ("guidellm", {"config.strategy.type_": "async", "config.strategy.rate": 2.5},
     {"name": "async", "request_rate_per_s": 2.5}),
    ("guidellm", {"config.strategy.rate": 2.5}, {}),
    ("guidellm", {"config.strategy.type_": "synchronous"}, {"name": "synchronous", "concurrency_max": 1.0}),
    ("guidellm", {"config.strategy.streams": DROP, "config.strategy.max_concurrency": 6}, {"concurrency_max": 6.0}),
    ("guidellm", {"config.strategy": {"type_": "throughput", "max_concurrency": 6}},
     {"name": "throughput", "concurrency_max": None}),
    ("guidellm", {"config": DROP, "args": GUIDELLM["config"]}, {}),
    ("guidellm", {"config.strategy": DROP, "scheduler.strategy": {"type_": "concurrent", "streams": 4}}, {}),
    ("guidellm", {"config.strategy": DROP}, {"name": None, "concurrency_max": None}),
    ("guidellm", {"config.backend": DROP, "worker.backend_model": "maker/beta"}, {"model": "maker/beta"}),
    ("guidellm", {"config.backend": DROP, "request_loader.model": "maker/beta"}, {"model": "maker/beta"}),
    ("guidellm", {"config.backend": DROP}, {"model": None}),
    ("guidellm", {"duration": DROP, "start_time": 100.0, "end_time": 110.0}, {}),
    ("guidellm", {"duration": DROP, "run_stats.start_time": 100.0, "run_stats.end_time": 110.0}, {}),
    ("guidellm", {"duration": DROP, "start_time": 0, "end_time": 10}, {}),
    ("guidellm", NO_DURATION, NO_DURATION_SAYS),
    ("guidellm", {**NO_DURATION, "start_time": 100.0}, NO_DURATION_SAYS),
    ("guidellm", {**NO_DURATION, "end_time": 100.0}, NO_DURATION_SAYS),
    ("guidellm", {**NO_DURATION, "run_stats.start_time": 100.0}, NO_DURATION_SAYS),
    ("guidellm", {"metrics.request_totals": DROP, "request_totals": {"successful": 20, "errored": 1}}, {}),
    ("guidellm", {"metrics.request_totals": DROP, "run_stats.requests_made": {"successful": 20, "errored": 1}}, {}),
    ("guidellm", {"metrics.request_totals": DROP},
     {"completed_requests": None, "failed_requests": None, "requests_per_s": 1.9,
      "notes": ["import_note.guidellm_tpot"]}),
    # sums from mean x count; without either the mean alone
    ("guidellm", {"metrics.prompt_token_count.successful.total_sum": DROP,
                  "metrics.output_token_count.successful.total_sum": DROP}, {}),
    ("guidellm", {"metrics.output_token_count": {"successful": {"mean": 100.0}}},
     {"total_output_tokens": None, "output_tokens_per_s": 180.0, "total_tokens_per_s": 1100.0}),
    ("guidellm", {"metrics.prompt_token_count": DROP},
     {"total_input_tokens": None, "total_tokens_per_s": 1100.0, "input_tokens_mean": 450.0}),  # (1100 - 200) / 2
    # a figure without the split into successful and errored
    ("guidellm", {"metrics.time_to_first_token_ms": {"mean": 90.0}}, {"ttft_mean_s": 0.09}),
    ("guidellm", {"metrics.inter_token_latency_ms": DROP},
     {"tpot_mean_ms": 16.0, "notes": ["import_note.failed"]}),
    ("guidellm", {"metrics.request_concurrency": DROP}, {"concurrency_effective": None}),
    # inference-perf
    ("inference_perf", {"name": DROP}, {"name": None}),
    ("inference_perf", {"successes.count": DROP}, {"completed_requests": 101, "duration_s": 50.5}),
    ("inference_perf", {"failures": DROP}, {"failed_requests": None, "notes": None}),
    ("inference_perf", {"load_summary": DROP}, {"request_rate_per_s": None, "concurrency_max": None}),
    ("inference_perf", {"successes.latency.request_latency": DROP}, {"concurrency_effective": None}),
    ("inference_perf", {"successes.throughput.requests_per_sec": DROP},
     {"requests_per_s": None, "duration_s": None, "concurrency_effective": None}),
    ("inference_perf", {"successes.latency.time_per_output_token": DROP}, {"tpot_mean_ms": 26.0}),
    ("inference_perf", {"successes.latency.time_per_output_token": DROP,
                        "successes.latency.inter_token_latency": DROP}, {"tpot_mean_ms": None}),
    ("inference_perf", {"successes.latency.time_to_first_token": DROP}, {"ttft_mean_s": None}),
    ("inference_perf", {"successes.prompt_tokens": {"mean": 1100.0}}, {"input_tokens_mean": 1100.0}),
    ("inference_perf", {"successes.output_tokens": {"mean": 210.0}}, {"output_tokens_mean": 210.0}),
    ("inference_perf", {"successes.prompt_len": DROP}, {}),  # (2400 - 400) / 2
    ("inference_perf", {"successes.output_len": DROP}, {}),  # 400 / 2
    ("inference_perf", {"successes.throughput.total_tokens_per_sec": DROP}, {"total_tokens_per_s": None}),
    # llm-d: every figure with its unit
    ("llmd", {"scenario.load.standardized.tool": DROP}, {"name": "own"}),
    ("llmd", {"scenario.model": DROP}, {"model": None}),
    ("llmd", {"scenario.host": DROP}, {"hardware": None, "accelerators": None}),
    ("llmd", {"scenario.host.accelerator": [{"model": "H200"}]}, {"accelerators": None}),
    ("llmd", {"scenario.load": DROP}, {"name": None, "request_rate_per_s": None, "concurrency_max": None}),
    ("llmd", {"run.time.start": DROP}, {"date": None}),
    ("llmd", {f"{AT}.requests.failures": DROP},
     {"failed_requests": None, "completed_requests": 102, "total_input_tokens": 102000,
      "total_output_tokens": 20400, "output_tokens_per_s": 408.0, "total_tokens_per_s": 2448.0, "notes": None}),
    ("llmd", {f"{AT}.requests.total": DROP},
     {"completed_requests": None, "total_input_tokens": None, "total_output_tokens": None,
      "output_tokens_per_s": 401.0, "total_tokens_per_s": 2401.0}),
    ("llmd", {f"{AT}.latency.time_to_first_token": {"mean": 500.0, "units": "ms"}}, {}),
    ("llmd", {f"{AT}.latency.time_to_first_token": {"mean": 500000.0, "units": "us"}}, {}),
    ("llmd", {f"{AT}.latency.time_to_first_token": {"mean": 500000.0, "units": "µs"}}, {}),
    ("llmd", {f"{AT}.latency.time_to_first_token": {"mean": 500.0, "units": "MS"}}, {}),
    ("llmd", {f"{AT}.latency.time_to_first_token": {"mean": 0.5}}, {}),
    ("llmd", {f"{AT}.latency.time_to_first_token": DROP}, {"ttft_mean_s": None}),
    ("llmd", {f"{AT}.latency.time_per_output_token": DROP}, {"tpot_mean_ms": 26.0}),
    ("llmd", {f"{AT}.latency.request_latency": DROP}, {"concurrency_effective": None}),
    ("llmd", {f"{AT}.throughput.request_rate": DROP}, {"concurrency_effective": None}),
    ("llmd", {f"{AT}.throughput.request_rate": DROP, f"{AT}.throughput.requests_per_sec": 2.0}, {}),
    ("llmd", NO_SPAN, NO_SPAN_SAYS),
    ("llmd", {**NO_SPAN, f"{AT}.throughput": {"output_tokens_per_sec": 401.0, "total_tokens_per_sec": 2401.0,
                                              "requests_per_sec": 2.0}}, NO_SPAN_SAYS),
    ("llmd", {**NO_SPAN, f"{AT}.time.duration": 50.0}, {}),
    ("llmd", {"run.time.duration": 50.0}, {}),
    ("llmd", {"run.time.duration": "50"}, {}),
    ("llmd", {"run.time.duration": "PT0S"}, NO_SPAN_SAYS),
    *(
        ("llmd", {"run.time.duration": text, f"{AT}.throughput.output_token_rate": DROP},
         {"duration_s": s, "output_tokens_per_s": 20000 / s, "total_tokens_per_s": 120000 / s})
        for text, s in (("PT1M", 60.0), ("PT2.5S", 2.5), ("PT1H1M5S", 3665.0), ("P1DT2H", 93600.0), (" P2D ", 172800.0))
    ),
    ("llmd", {"results": DROP, "metrics": LLMD["results"]["request_performance"]["aggregate"]}, {}),  # 0.1
]  # fmt: skip


@pytest.mark.parametrize(("tool", "change", "expected"), CHANGES, ids=[f"{t} {list(c)}" for t, c, _ in CHANGES])
def test_what_a_run_says(tool: str, change: dict[str, Any], expected: dict[str, Any]):
    document, told = TOOLS[tool]
    found = says(report_of(edited(document, change)))
    wanted = {k: v for k, v in {**told, **expected}.items() if v is not None}
    assert found == {k: pytest.approx(v, rel=1e-12) if isinstance(v, float) else v for k, v in wanted.items()}


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (30, 30.0),
        ("30.5", 30.5),
        ("1,234.5", 1234.5),
        (0.001, 0.001),
        (9e17, 9e17),
        (1e18, None),
        (1e301, None),
        (10**400, None),
        (float("inf"), None),
        (float("nan"), None),
        ("fast", None),
        ("", None),
        (0, None),
        (-1, None),
        (True, None),
        (None, None),
        ([30], None),
        ({"mean": 30}, None),
    ],
)
def test_a_latency_that_is_no_positive_number_is_unknown(cell: object, value: float | None):
    assert report_of({**VLLM, "mean_tpot_ms": cell}).rows[0].tpot_mean_ms == value


@pytest.mark.parametrize(
    ("cell", "count"), [(100000, 100000), (99999.6, 100000), ("100,000", 100000), ([1, 2], None), (None, None)]
)
def test_a_count_of_tokens_is_rounded_and_a_list_of_requests_is_none(cell: object, count: int | None):
    assert report_of({**VLLM, "total_input_tokens": cell}).rows[0].total_input_tokens == count


REFUSED = [
    ("vllm", {"completed": 0}, "import_cell.none_completed"),
    ("vllm", {**STATED_ONLY, "output_throughput": 0}, "import_cell.no_throughput"),
    ("inferencex", {"tp": DROP}, "import_cell.no_gpus"),
    ("inferencex", {**SPLIT, "input_tput_per_gpu": 300.0, "isl": DROP}, "import_cell.no_throughput"),
    ("inferencex", {"output_tput_per_gpu": DROP, "osl": DROP}, "import_cell.no_throughput"),
]


@pytest.mark.parametrize(("tool", "change", "key"), REFUSED)
def test_a_run_that_says_too_little_is_refused_with_its_number(tool: str, change: dict[str, Any], key: str):
    with pytest.raises(ImportRefused) as caught:
        report_of(edited(TOOLS[tool][0], change))
    refusal = caught.value.args[0]
    assert refusal.key == "import_refused.run_unread"
    assert refusal.places["run"] == 1
    assert refusal.places["why"].key == key


def test_runs_that_cannot_be_read_are_counted_and_the_others_are_kept():
    other = {"hello": 1}
    report = report_of(VLLM, {**VLLM, "completed": 0}, other, kind="vllm_bench")
    assert (report.rows_read, report.rows_refused) == (1, 2)
    assert [(r.line, r.why.key) for r in report.refused] == [  # type: ignore[attr-defined]
        (2, "import_cell.none_completed"),
        (3, "import_cell.no_run"),
    ]
    many = report_of(VLLM, *[{**VLLM, "completed": 0}] * 25)
    assert (many.rows_refused, len(many.refused)) == (25, 20)


def test_more_than_two_thousand_runs_are_cut_and_it_says_so():
    short = {"output_throughput": 1.0, "duration": 1.0, "completed": 1}
    assert report_of(*[short] * 2000).notes == ()
    report = report_of(*[short] * 2001)
    assert report.rows_read == 2000
    assert report.notes[0] == "The file has 2,001 runs; the first 2,000 were read."


@pytest.mark.parametrize("per_gpu", [100.0, 102.0, 102.1])
def test_two_percent_decide_whether_output_counts_decode_gpus_only(per_gpu: float):
    """1 + 1 GPUs, 200 tokens/s in all: output + input per GPU may be off by 4 tokens/s."""
    report = report_of(
        {
            "num_prefill_gpu": 1,
            "num_decode_gpu": 1,
            "disagg": True,
            "isl": 300,
            "osl": 100,
            "tput_per_gpu": 100.0,
            "output_tput_per_gpu": per_gpu,
            "input_tput_per_gpu": 102.0,
        }
    )
    assert report.rows[0].output_tokens_per_s == (50.0 if per_gpu > 102.0 else per_gpu)


# ------------------------------------------------------------------------------------------------ which tool wrote it


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"output_throughput": 5.0, "duration": 1.0}, "vllm_bench"),
        ({"output_throughput": 5.0, "completed": 1}, "vllm_bench"),
        ({"output_throughput": 5.0, "total_output_tokens": 5}, "vllm_bench"),
        ({"output_throughput": 5.0, "input_throughput": 5.0}, "sglang_bench"),
        ({"output_throughput": 5.0, "total_output_tokens_retokenized": 5}, "sglang_bench"),
        ({"output_throughput": 5.0, "accept_length": 2.0}, "sglang_bench"),
        ({"output_throughput": 5.0, "mean_e2e_latency_ms": 5.0}, "sglang_bench"),
        ({"tput_per_gpu": 5.0, "tp": 1, "isl": 1, "osl": 1}, "inferencex"),
        ({"output_tput_per_gpu": 5.0, "tp": 1}, "inferencex"),
        ({"metrics": {"tput_per_gpu": 5.0, "tp": 1}, "isl": 1, "osl": 1}, "inferencex"),
        ({"data": [{"output_tput_per_gpu": 5.0, "tp": 1}]}, "inferencex"),
        ({"metrics": {"output_token_count": {"total_sum": 5, "mean": 5}}}, "guidellm"),
        ({"metrics": {"output_tokens_per_second": {"mean": 5.0}}}, "guidellm"),
        ({"benchmarks": [{"metrics": {"output_tokens_per_second": {"mean": 5.0}}}]}, "guidellm"),
        ({"successes": {"throughput": {"output_tokens_per_sec": 5.0}}}, "inference_perf"),
        (
            {"scenario": {}, "metrics": {"throughput": {"output_tokens_per_sec": 5.0}}},
            "llmd_report",
        ),
        (
            {"results": {"request_performance": {"aggregate": {"throughput": {"output_token_rate": 5.0}}}}},
            "llmd_report",
        ),
    ],
)
def test_the_tool_is_known_by_its_keys(document: dict[str, Any], kind: str):
    report = report_of(document)
    assert report.kind == kind
    assert report_of(document, kind=kind).rows == report.rows


def test_inference_perf_with_latencies_alone_is_known_and_has_no_throughput():
    with pytest.raises(ImportRefused, match="No run of inference-perf"):
        report_of({"successes": {"latency": {"request_latency": {"mean": 1.0}}}})


@pytest.mark.parametrize("kind", ["vllm_bench", "sglang_bench"])
def test_vllm_and_sglang_files_are_read_as_either_kind(kind: str):
    assert report_of(VLLM, kind=kind).rows[0].output_tokens_per_s == 400


@pytest.mark.parametrize("kind", ["guidellm", "inferencex", "inference_perf", "llmd_report"])
def test_a_run_of_another_tool_is_named(kind: str):
    with pytest.raises(ImportRefused) as caught:
        report_of(VLLM, kind=kind)
    assert caught.value.args[0].key == "import_refused.looks_like"
    assert caught.value.args[0].places["label"] == "vllm bench serve"
    with pytest.raises(ImportRefused) as caught:
        report_of({"hello": 1}, kind=kind)
    assert caught.value.args[0].key == "import_refused.not_kind"


def test_the_model_of_a_guidellm_report_is_that_of_its_runs():
    run = edited(GUIDELLM, {"config.backend": DROP})
    for outer in ({"config": {"spec": {"backend": {"model": "m"}}}}, {"args": {"model": "m"}}):
        assert report_of({"benchmarks": [run], **outer}).rows[0].model == "m"
    own = report_of({"benchmarks": [GUIDELLM], "args": {"model": "m"}})
    assert own.rows[0].model == "maker/alpha"
    assert report_of({"benchmarks": [run]}).rows[0].model == ""


def test_several_runs_of_a_report_and_lists_of_runs():
    other = edited(GUIDELLM, {"duration": 20.0})
    assert [r.output_tokens_per_s for r in report_of({"benchmarks": [GUIDELLM, other, 7]}).rows] == [200, 100]
    listed = read(json.dumps([[VLLM], {**VLLM, "duration": 25.0}]).encode())
    assert isinstance(listed, BenchmarkReport)
    assert [r.output_tokens_per_s for r in listed.rows] == [400, 800]
    runs = report_of({"data": [INFERENCEX, {**INFERENCEX, "tp": 4}, "x"]})
    assert [r.accelerators for r in runs.rows] == [8, 4]


# ------------------------------------------------------------------------------------------------- into the scenario


def test_a_run_becomes_the_fields_of_a_measurement():
    result = report_of({**VLLM, "request_rate": DROP_TEXT}).to_scenario_fields()
    assert result["fields"] == {
        "input_tokens": 1000,
        "output_tokens": 200,
        "measured_output_tokens_per_s": 400.0,
    }
    why = result["explanations"]
    assert why["input_tokens"] == "Mean input of the test, 1,000.0 tokens per request."
    assert why["output_tokens"] == "Mean output of the test, 200.0 tokens per request."
    assert why["measured_output_tokens_per_s"] == (
        "Run 0: 400.00 output tokens/s = 20,000 output tokens / 50.00 s at 15 requests in flight, whole system."
    )
    assert "2.5 tokens per step" in why["accepted_tokens_per_step"]
    assert keys(result["unresolved"]) == ["import_ask.which_machine", "import_ask.prefix_hits"]


DROP_TEXT = "inf"
"""A request rate without a limit, as the tool writes it."""


def test_what_a_run_does_not_say_is_asked():
    bare = {"output_throughput": 400.0, "completed": 100}
    result = report_of(bare).to_scenario_fields()
    assert result["fields"] == {"measured_output_tokens_per_s": 400.0}
    assert result["explanations"] == {"measured_output_tokens_per_s": "Run 0: 400.00 output tokens/s, whole system."}
    assert keys(result["unresolved"]) == [
        "import_ask.no_mean",
        "import_ask.no_mean",
        "import_ask.which_machine",
        "import_ask.prefix_hits",
    ]
    assert [q.places["which"] for q in result["unresolved"][:2]] == ["input", "output"]
    tokens = {"output_throughput": None, "completed": 10, "total_input_tokens": 20, "total_output_tokens": 4}
    silent = report_of(tokens).to_scenario_fields()
    assert silent["fields"] == {"input_tokens": 2, "output_tokens": 1}
    assert keys(silent["unresolved"]) == ["import_ask.no_throughput"]


def test_the_number_of_accelerators_is_told():
    (question,) = [q for q in report_of(INFERENCEX).to_scenario_fields()["unresolved"] if "accelerators" in q]
    assert question.key == "import_ask.accelerators"
    assert question.places["n"] == 8


@pytest.mark.parametrize(("tokens", "field"), [(1_048_576, 1_048_576), (1_048_577, None), (0.3, 1), (2.5, 2)])
def test_a_mean_length_is_taken_up_to_a_million_tokens(tokens: float, field: int | None):
    document = edited(PERF, {"successes.prompt_len.mean": tokens})
    assert report_of(document).to_scenario_fields()["fields"].get("input_tokens") == field


@pytest.mark.parametrize(("rate", "field"), [(1e9, 1e9), (1.1e9, None)])
def test_a_throughput_above_a_billion_tokens_is_not_taken(rate: float, field: float | None):
    fields = report_of({"output_throughput": rate, "completed": 1}).to_scenario_fields()["fields"]
    assert fields.get("measured_output_tokens_per_s") == field


def test_acceptance_of_one_token_is_no_speculation():
    for accepted, told in ((1.0, False), (1.5, True)):
        why = report_of({**VLLM, "spec_decode_acceptance_length": accepted}).to_scenario_fields()["explanations"]
        assert ("accepted_tokens_per_step" in why) is told


def test_of_several_runs_the_fastest_is_taken_and_of_equals_the_first():
    slow, fast = VLLM, {**VLLM, "duration": 25.0, "request_throughput": 4.0, "output_throughput": 800.0}
    unknown = {"output_throughput": None, "completed": 10, "total_input_tokens": 20, "total_output_tokens": 4}
    report = report_of(unknown, slow, fast, fast)
    assert report.best() == 2
    assert report_of(unknown, unknown).best() == 0
    chosen = report.to_scenario_fields()
    assert chosen["unresolved"][-1].key in ("import_ask.best_run", "import_ask.fixed_rate")
    (question,) = [q for q in chosen["unresolved"] if q.key == "import_ask.best_run"]
    assert (question.places["n"], question.places["run"]) == (4, 2)
    (question,) = [q for q in report.to_scenario_fields(row=1)["unresolved"] if q.key == "import_ask.run"]
    assert (question.places["n"], question.places["run"]) == (4, 1)
    assert report.to_scenario_fields(row=3)["fields"]["measured_output_tokens_per_s"] == 800
    for row in (-1, 4):
        with pytest.raises(ImportRefused, match=f"There is no run {row}; the file has runs 0 to 3"):
            report.to_scenario_fields(row=row)


@pytest.mark.parametrize(("asked", "limited"), [(2.0, True), (2.2, True), (2.3, False), (None, False)])
def test_a_server_that_keeps_up_with_nine_tenths_of_the_rate_is_not_at_its_limit(asked: float | None, limited: bool):
    questions = keys(report_of({**VLLM, "request_rate": asked}).to_scenario_fields()["unresolved"])
    assert ("import_ask.fixed_rate" in questions) is limited


# --------------------------------------------------------------------------------------------- into measurement rows


def test_a_run_becomes_a_measurement_row():
    (row,) = report_of(INFERENCEX).to_validate_rows()
    assert {k: v for k, v in row.items() if v} == {
        "id": "import-001",
        "evidence": "measured",
        "hardware": "b300",
        "gpus": "8",
        "engine": "sglang",
        "precision": "fp4",
        "spec": "yes",
        "accept_len": "2.5",
        "isl": "8192",
        "osl": "1024",
        "concurrency": "50",
        "out_tok_s_total": "800",
        "out_tok_s_per_gpu": "100",
        "total_tok_s_per_gpu": "900",
        "tok_s_per_user": "20",  # 1000 / 50 ms
        "ttft_ms": "2500",
        "tpot_ms": "50",
        "date": "2026-06-01",
        "notes": "mtp; maker/alpha",
    }


def test_the_machine_named_by_the_caller_goes_before_the_files():
    report = report_of(INFERENCEX, {**INFERENCEX, "mean_tpot": DROP_TEXT, "accept_length": 1.0, "spec_decoding": ""})
    first, second = report.to_validate_rows("hgx-b300-8", 4)
    assert (first["hardware"], first["gpus"], first["out_tok_s_per_gpu"]) == ("hgx-b300-8", "4", "200")
    assert (second["id"], second["spec"], second["tok_s_per_user"], second["notes"]) == (
        "import-002",
        "none",
        "",
        "maker/alpha",
    )
    (bare,) = report_of({"output_throughput": 400.0, "completed": 100}).to_validate_rows()
    assert {k: v for k, v in bare.items() if v} == {
        "id": "import-001",
        "evidence": "measured",
        "hardware": "unknown",
        "spec": "none",
        "out_tok_s_total": "400",
    }


def test_runs_without_a_throughput_are_no_measurement():
    tokens = {"output_throughput": None, "completed": 10, "total_input_tokens": 20, "total_output_tokens": 4}
    assert [r["id"] for r in report_of(tokens, VLLM).to_validate_rows()] == ["import-002"]


def test_the_json_form_of_a_report():
    plain = report_of(VLLM, {**VLLM, "completed": 0}).to_json_dict()
    assert set(plain) == {
        "type",
        "kind",
        "label",
        "rows_read",
        "rows_refused",
        "refused",
        "notes",
        "units",
        "rows",
    }
    assert (plain["type"], plain["kind"], plain["label"]) == ("benchmark", "vllm_bench", "vllm bench serve")
    assert plain["refused"] == [{"line": 2, "why": "has no completed request"}]
    assert plain["rows"][0]["output_tokens_per_s"] == 400
    assert plain["notes"] == plain["rows"][0]["notes"] == ["3 requests failed; they are not in the throughput."]
    assert plain["units"] == ["tokens/s", "latencies in ms", "duration in s"]
