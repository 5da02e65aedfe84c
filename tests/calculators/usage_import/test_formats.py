"""Each format with invented rows: what it adds up to, by hand."""

from decimal import Decimal

import pytest

from calculators.usage_import import KINDS, BenchmarkReport, UsageReport, read

from .exports import EXPORTS
from .reports import token_counts


def usage(name: str) -> UsageReport:
    report = read(EXPORTS[name][0], name)
    assert isinstance(report, UsageReport)
    return report


@pytest.mark.parametrize("name", EXPORTS)
def test_auto_finds_the_kind_and_the_kind_given_by_name_reads_the_same(name: str):
    data, kind = EXPORTS[name]
    report = read(data, name)
    assert report.kind == kind
    assert report.rows_refused == 0
    given = "metrics" if kind == "vllm_metrics" else kind
    assert given in KINDS
    again = read(data, name, kind=given)
    assert again.to_json_dict() == report.to_json_dict()


# name: (new, cached, written 5 min, written 1 h, output, requests), spend, list spend
EXPECTED = {
    # 1000 + 2000 new, cached and written beside them
    "anthropic_usage.csv": ((3000, 5000, 200, 100, 700, None), {}, {}),
    "anthropic_cost.csv": ((None,) * 6, {"USD": "4.00"}, {"USD": "5.00"}),
    "anthropic_usage.json": ((100, 850, 20, 30, 60, None), {}, {}),
    # 12345.678 cents
    "anthropic_cost.json": ((None,) * 6, {"USD": "123.45678"}, {}),
    # 10000 - 4000 cached + 2000
    "openai_usage.csv": ((8000, 4000, None, None, 600, 15), {}, {}),
    "openai_usage.json": ((600, 300, None, None, 90, 3), {}, {}),
    "openai_costs.csv": ((None,) * 6, {"USD": "1.5000000000000000000001"}, {}),
    "openai_costs.json": ((None,) * 6, {"USD": "18.75"}, {}),
    "openrouter_daily.csv": ((73000, None, None, None, 3800, 10), {"USD": "10.50"}, {}),
    "openrouter.json": ((500, None, None, None, 50, 2), {"USD": "0.25"}, {}),
    # 1000 - 600 cached + 2000
    "openrouter_generations.csv": ((2400, 600, None, None, 300, 2), {"USD": "0.03"}, {}),
    "litellm_daily.json": ((600, 400, 0, None, 100, 10), {"USD": "1.25"}, {}),
    # 1000 - 250 cached + 500 + 100
    "litellm_logs.csv": ((1350, 250, None, None, 160, 3), {"USD": "1234.50"}, {}),
    "litellm_export.csv": ((1000, None, None, None, 100, 100), {"USD": "1234.56"}, {}),
    "deepseek_usage.csv": ((500, 1000, None, None, 200, 3), {}, {}),
    "deepseek_cost.csv": ((None,) * 6, {"CNY": "1.2345"}, {}),
    # separate buckets: 600 + 400 + 90 + 10 = 1100
    "langfuse.csv": ((600, 400, None, None, 100, 1), {"USD": "0.5"}, {}),
    "langfuse_daily.json": ((1000, None, None, None, 100, 9), {"USD": "0.75"}, {}),
    # OpenAI: 1000 with 400 inside; Anthropic: 200 beside 800 and 100
    "helicone.csv": ((800, 1200, 100, None, 150, 2), {"USD": "0.03"}, {}),
    # 5,000,000 tokens, 10 x 1,000,000 and 1000 x 1,000; the disks are spend of another service
    "focus.csv": ((5_000_000, 10_000_000, None, None, 1_000_000, None), {"USD": "136.00"}, {"USD": "138.00"}),
    "focus_money_text.csv": ((None,) * 6, {"USD": "50000.00"}, {"USD": "50000.00"}),
    # 1500 x 1,000 in, 100 x 1,000 out; 4.50 + 1.50 - 1.00 + 98.32
    "aws_cur.csv": ((1_500_000, None, None, None, 100_000, None), {"USD": "103.32"}, {"USD": "104.32"}),
    # 2 marketplace units of a million
    "aws_cur2.csv": ((2_000_000, None, None, None, None, None), {"USD": "6.00"}, {}),
    # 1500 x 1K, 500 x 1K, 0.1 x 1M
    "azure_cost.csv": ((1_500_000, 500_000, None, None, 100_000, None), {"EUR": "604.50"}, {"EUR": "605.60"}),
    # 5.00 - 1.50 credit + 80.00
    "gcp_billing.jsonl": ((4_000_000, None, None, None, None, None), {"USD": "83.50"}, {"USD": "6.00"}),
    "azure_trace.csv": ((4000, None, None, None, 40, 2), {}, {}),
    "burstgpt.csv": ((1000, None, None, None, 100, 2), {}, {}),
    "mooncake.jsonl": ((3500, None, None, None, 60, 3), {}, {}),
    "german.csv": ((1_235_567, None, None, None, 12_400, 110), {"EUR": "1235.00"}, {}),
    "generic.csv": ((4000, None, None, None, 400, 40), {"USD": "2.00"}, {}),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_totals(name: str):
    report = usage(name)
    counts, spend, listed = EXPECTED[name]
    assert token_counts(report) == counts
    assert report.totals.spend == {c: Decimal(v) for c, v in spend.items()}
    assert report.totals.list_spend == {c: Decimal(v) for c, v in listed.items()}


@pytest.mark.parametrize("name", EXPECTED)
def test_records_and_models_add_up_to_the_totals(name: str):
    report = usage(name)
    for parts in (report.records, report.models):
        for field in ("new_input_tokens", "cached_input_tokens", "output_tokens", "requests"):
            known = [getattr(p.amounts, field) for p in parts if getattr(p.amounts, field) is not None]
            assert (sum(known) if known else None) == getattr(report.totals, field)
        for currency, total in report.totals.spend.items():
            assert sum((p.amounts.spend.get(currency, Decimal(0)) for p in parts), Decimal(0)) == total


def test_every_usage_export_is_covered_by_the_table_above():
    others = {name for name, (data, _) in EXPORTS.items() if isinstance(read(data), BenchmarkReport)}
    assert set(EXPECTED) | others == set(EXPORTS)


def test_deepseek_days_of_shanghai_are_put_on_the_utc_day_that_holds_most_of_them():
    # 2026-06-02T00:00+08:00 begins at 16:00 UTC of 1 June; 16 of its 24 hours are 2 June.
    report = usage("deepseek_cost.csv")
    assert [r.period for r in report.records] == ["2026-06-02"]


def test_rows_of_other_services_and_credits_in_a_cloud_bill():
    report = usage("aws_cur.csv")
    assert report.totals.spend["USD"] == Decimal("103.32")
    assert report.api_totals.spend["USD"] == Decimal("5.00")
    assert {m.model: m.billing for m in report.models} == {"Alpha": "api", "Amazon EC2": "other"}


def test_litellm_breakdown_keeps_what_no_model_accounts_for():
    report = usage("litellm_daily.json")
    by_model = {m.model: m.amounts for m in report.models}
    assert by_model["gpt-alpha"].new_input_tokens == 300  # 700 with 400 cached inside
    assert by_model["(not broken down by model)"].new_input_tokens == 300  # 1000 - 700
    assert report.rows_read == 1


def test_a_page_of_several_says_so():
    report = usage("anthropic_cost.json")
    assert any("has_more" in note for note in report.notes)
    assert any("more pages" in question for question in report.to_scenario_fields()["unresolved"])


def test_byok_is_named_and_not_added():
    report = usage("openrouter_daily.csv")
    assert report.totals.spend == {"USD": Decimal("10.50")}
    assert any("2.00 USD" in note and "BYOK" in note for note in report.notes)


def test_batch_rows_give_the_batch_share():
    # Anthropic: 2400 of 9000 tokens are batch.
    fields = usage("anthropic_usage.csv").to_scenario_fields()["fields"]
    assert fields["batch_share"] == pytest.approx(2400 / 9000, abs=1e-6)


def test_a_bill_that_names_tokens_for_some_lines_only_is_sized_by_its_spend():
    header = "service.description,sku.description,usage_start_time,usage_end_time,cost,currency,usage.amount,usage.unit"
    day = "2026-06-01 00:00:00 UTC,2026-06-02 00:00:00 UTC"
    rows = [
        f"Vertex AI,Alpha Output Tokens,{day},1.00,USD,100000,count",
        f"Vertex AI,Alpha Grounding,{day},3.00,USD,9,hour",
    ]
    report = read("\n".join([header, *rows]).encode())
    assert isinstance(report, UsageReport)
    assert report.totals.output_tokens == 100_000
    assert report.spend_without_tokens == {"USD": Decimal("3.00")}
    fields = report.to_scenario_fields()["fields"]
    assert fields["demand"] == "spend"
    assert fields["demand_usd_per_month"] == pytest.approx(4 * 730 / 24, abs=0.005)


def test_a_bill_without_any_ai_service_is_taken_whole_and_says_so():
    report = usage("focus_money_text.csv")
    assert report.api_totals.spend == {"USD": Decimal("50000.00")}
    assert any("No row names an AI service" in note for note in report.notes)
