"""The collected samples give the totals that their README states, to the cent and the token."""

from decimal import Decimal
from pathlib import Path

import pytest

from calculators.usage_import import BenchmarkReport, UsageReport, read

SAMPLES = Path(__file__).resolve().parents[3].parent / "shared" / "samples"


def sample(name: str) -> UsageReport | BenchmarkReport:
    path = SAMPLES / name
    if not path.exists():
        pytest.skip(f"the collected sample {name} is not here; test_formats has own ones of every format")
    return read(path.read_bytes(), path.name)


def usage(name: str) -> UsageReport:
    report = sample(name)
    assert isinstance(report, UsageReport)
    assert report.rows_refused == 0
    return report


def bench(name: str) -> BenchmarkReport:
    report = sample(name)
    assert isinstance(report, BenchmarkReport)
    return report


def test_b01_anthropic_usage():
    total = usage("b01_anthropic_usage_tokens.csv").totals
    assert (total.input_tokens, total.output_tokens) == (350_000, 17_000)


def test_b02_anthropic_cost_net_and_list():
    total = usage("b02_anthropic_cost.csv").totals
    assert (total.spend, total.list_spend) == ({"USD": Decimal("0.47")}, {"USD": Decimal("1.37")})


def test_b04_openai_costs_with_an_empty_bucket():
    report = usage("b04_openai_costs.csv")
    assert report.totals.spend == {"USD": Decimal("0.50383598")}
    assert (report.rows_read, report.rows_empty) == (3, 1)
    # The empty bucket is a day of the file: 27 and 28 September.
    assert report.coverage.days_spanned == 2


def test_b06_openai_costs_api():
    assert usage("b06_openai_costs_api.json").totals.spend == {"USD": Decimal("18.75")}


def test_b06b_openai_usage_api_takes_the_cached_tokens_out_of_the_input():
    total = usage("b06b_openai_usage_completions_api.json").totals
    assert (total.requests, total.input_tokens, total.cached_input_tokens) == (12, 1_500, 250)
    assert (total.new_input_tokens, total.output_tokens, total.total_tokens) == (1_250, 800, 2_300)


def test_b07_openrouter_daily():
    report = usage("b07_openrouter_activity_daily.csv")
    total = report.totals
    assert total.spend == {"USD": Decimal("935.94")}
    assert (total.input_tokens, total.output_tokens, total.requests) == (158_165_158, 5_805_092, 8_369)
    assert "2 days" in report.coverage.sentence


@pytest.mark.parametrize(
    ("name", "usd"), [("b13b_focus_saas_money_text.csv", 10_000), ("b13c_focus_saas_unit_money_text.csv", 50_000)]
)
def test_b13_focus_money_as_text(name: str, usd: int):
    assert usage(name).totals.spend == {"USD": Decimal(usd)}


def test_b14_litellm_daily_activity():
    total = usage("b14_litellm_user_daily_activity_excerpt.json").totals
    assert total.spend == {"USD": Decimal("0.0177072")}
    assert (total.input_tokens, total.output_tokens, total.total_tokens, total.requests) == (111, 1_711, 1_822, 11)


def test_b15_vllm_metrics_one_scrape_has_totals_and_no_rate():
    report = bench("b15_vllm_metrics_2026.prom")
    (row,) = report.rows
    assert (row.total_input_tokens, row.total_output_tokens) == (41_367_205, 295_648)
    assert row.output_tokens_per_s is None
    assert any("One scrape" in note for note in report.notes)


def test_b17_sglang_bench_serving():
    (row,) = bench("b17_sglang_bench_serving.jsonl").rows
    # 195,775 output tokens / 204.536945 s
    assert row.output_tokens_per_s == pytest.approx(957.162, abs=5e-4)


def test_b19_guidellm_v2_is_sum_over_duration():
    row = bench("b19_guidellm_report_v2.json").rows[0]
    assert (row.completed_requests, row.total_input_tokens, row.total_output_tokens) == (2, 143, 16)
    assert row.duration_s == pytest.approx(5.0196, abs=5e-5)
    # 16 / 5.01965 = 3.187; the report's own mean of rates is 3.195.
    assert row.output_tokens_per_s == pytest.approx(3.187, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "given", "out"),
    [
        ("b20_azure_llm_trace_code_head200.csv", 414_215, 4_907),
        ("b20_azure_llm_trace_conv_head200.csv", 180_695, 47_050),
    ],
)
def test_b20_azure_traces(name: str, given: int, out: int):
    total = usage(name).totals
    assert (total.input_tokens, total.output_tokens, total.requests) == (given, out, 200)


def test_b21_mooncake_with_block_hits():
    report = usage("b21_mooncake_trace_head60.jsonl")
    assert (report.totals.input_tokens, report.totals.output_tokens) == (743_189, 21_759)
    assert report.serving_cached_share == pytest.approx(59 / 1_486)
