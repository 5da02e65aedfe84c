"""From a report to the Scenario: every field fits its bounds and says where it comes from."""

import json

import pytest

from calculators.profile import decode_weights
from calculators.scenario import Scenario
from calculators.usage_import import ImportRefused, UsageReport, read

from .exports import EXPORTS


def usage(data: bytes) -> UsageReport:
    report = read(data)
    assert isinstance(report, UsageReport)
    return report


@pytest.mark.parametrize("name", EXPORTS)
def test_fields_are_accepted_by_the_scenario_and_each_is_explained(name: str):
    result = read(EXPORTS[name][0]).to_scenario_fields()
    scenario = Scenario(**result["fields"])
    for field, value in result["fields"].items():
        assert getattr(scenario, field) == value
        assert field == "profile_weights" or result["explanations"][field].endswith((".", "bound."))
    assert all(isinstance(question, str) and question for question in result["unresolved"])


@pytest.mark.parametrize("name", EXPORTS)
def test_the_json_form_has_finite_numbers_only(name: str):
    report = read(EXPORTS[name][0])
    text = json.dumps(report.to_json_dict(), allow_nan=False)
    assert json.loads(text)["kind"] == report.kind
    assert str(report.rows_read) in text


def test_mean_request_share_and_volume():
    # 12,000 input (4,000 cached) and 600 output tokens of 15 requests in three days, the third of them empty.
    fields = usage(EXPORTS["openai_usage.csv"][0]).to_scenario_fields()["fields"]
    assert (fields["input_tokens"], fields["output_tokens"]) == (800, 40)
    assert fields["cached_share"] == pytest.approx(1 / 3, abs=1e-6)
    assert (fields["demand"], fields["demand_tokens_per_month"]) == ("tokens", round(12_600 * 730 / 72))


def test_cache_writes_are_a_share_of_the_uncached_input():
    result = usage(EXPORTS["anthropic_usage.csv"][0]).to_scenario_fields()
    # 300 written of 3,300 uncached; 5,000 cached of 8,300
    assert result["fields"]["cache_write_share"] == pytest.approx(300 / 3_300, abs=1e-6)
    assert result["fields"]["cached_share"] == pytest.approx(5_000 / 8_300, abs=1e-6)
    assert any("1-hour" in question for question in result["unresolved"])


def test_without_request_counts_it_asks_and_takes_the_answer():
    report = usage(EXPORTS["anthropic_usage.csv"][0])
    result = report.to_scenario_fields()
    assert "input_tokens" not in result["fields"]
    assert any(q.startswith("The file has no request counts: give the mean request.") for q in result["unresolved"])
    answered = report.to_scenario_fields(mean_input_tokens=4_150)["fields"]
    # Ratio 8,300 : 700
    assert (answered["input_tokens"], answered["output_tokens"]) == (4_150, 350)


def test_an_unknown_cached_share_is_asked_for_and_not_zero():
    result = usage(EXPORTS["openrouter_daily.csv"][0]).to_scenario_fields()
    assert "cached_share" not in result["fields"]
    assert any("cached share" in question for question in result["unresolved"])


def test_spend_alone_becomes_spend():
    result = usage(EXPORTS["anthropic_cost.csv"][0]).to_scenario_fields()
    assert result["fields"]["demand"] == "spend"
    assert result["fields"]["demand_usd_per_month"] == pytest.approx(4 * 730 / 48, abs=0.005)


def test_spend_in_another_currency_is_not_taken_as_dollars():
    result = usage(EXPORTS["deepseek_cost.csv"][0]).to_scenario_fields()
    assert "demand" not in result["fields"]
    assert any("CNY" in question for question in result["unresolved"])


def test_one_model_of_several():
    rows = b"date,model,input_tokens,output_tokens,requests\n2026-06-01,a,1000,100,10\n2026-06-01,b,90,9,1\n"
    report = usage(rows)
    assert any("2 models" in q for q in report.to_scenario_fields()["unresolved"])
    chosen = report.to_scenario_fields(model="b")
    assert (chosen["fields"]["input_tokens"], chosen["fields"]["demand_tokens_per_month"]) == (90, round(99 * 730 / 24))
    with pytest.raises(ImportRefused, match="no model 'c'; it has a, b"):
        report.to_scenario_fields(model="c")


def hourly(hours: int) -> bytes:
    """Write hourly rows from Monday 2026-06-01 00:00 UTC: 300 tokens in each hour from 9 to 16, 100 in the others."""
    lines = ["start_time,end_time,model,input_tokens,output_tokens,num_model_requests"]
    for h in range(hours):
        start = 1780272000 + 3600 * h
        lines.append(f"{start},{start + 3600},a,{290 if 9 <= h % 24 < 17 else 90},10,1")
    return "\n".join(lines).encode()


@pytest.mark.parametrize("hours", [168, 168 * 2 + 30])
def test_hours_of_the_week(hours: int):
    report = usage(hourly(hours))
    assert report.profile_weights is not None
    # Mean of 8 hours of 300 and 16 of 100 = 4000 / 24; a partial third week does not lift its hours.
    mean = 4000 / 24
    assert report.profile_weights[9] == pytest.approx(300 / mean)
    assert report.profile_weights[0] == pytest.approx(100 / mean)
    assert report.profile_weights[24 * 6 + 16] == pytest.approx(300 / mean)
    assert sum(report.profile_weights) == pytest.approx(168)
    fields = report.to_scenario_fields()["fields"]
    assert fields["profile"] == "imported"
    # 64 levels: the largest is kept exactly, the others to 1/126 of it.
    decoded = decode_weights(fields["profile_weights"])
    assert decoded[9] / decoded[0] == pytest.approx(3, abs=0.05)


def test_less_than_a_week_or_daily_totals_give_no_profile():
    short = usage(hourly(167))
    assert short.profile_weights is None
    assert "7 whole days" in short.profile_reason
    daily = usage(
        b"date,model,input_tokens,output_tokens\n" + b"".join(b"2026-06-%02d,a,9,1\n" % d for d in range(1, 29))
    )
    assert daily.profile_weights is None
    assert "daily totals" in daily.profile_reason
    assert daily.coverage.is_short is False


def test_no_dates_no_volume():
    result = usage(b"model,input_tokens,output_tokens\na,10,1\n").to_scenario_fields()
    assert "demand" not in result["fields"]
    assert any("no dates" in question for question in result["unresolved"])


def test_mooncake_reuse_is_serving_reuse_and_not_a_billed_share():
    # Blocks [1, 2], [1, 2, 3, 4], [9, 2]: 0 + 2 + 0 leading blocks were seen before, of 8; 2 after 9 has another
    # prefix.
    fields = usage(EXPORTS["mooncake.jsonl"][0]).to_scenario_fields()["fields"]
    assert fields["serving_cached_share"] == pytest.approx(2 / 8)
    assert "cached_share" not in fields


def test_local_days_are_counted_as_days_and_not_by_the_midnights_that_they_cross():
    rows = [f"u,2026-06-{d:02d}T00:00:00+08:00,2026-06-{d + 1:02d}T00:00:00+08:00,m,Paid,1,CNY" for d in range(2, 4)]
    header = "user_id,start_time_iso,end_time_iso,model,wallet_type,cost,currency"
    coverage = usage("\n".join([header, *rows]).encode()).coverage
    # 1 June 16:00 to 3 June 16:00 UTC: two days, though three dates are touched.
    assert (coverage.days_spanned, coverage.days_with_data, coverage.hours) == (2, 2, 48)


def test_hours_named_by_their_start_last_an_hour():
    rows = b"hour,model,input_tokens,output_tokens\n2026-06-01T10:00Z,a,9,1\n2026-06-01T11:00Z,a,9,1\n"
    assert usage(rows).coverage.hours == 2


def test_a_mean_request_longer_than_any_context_is_asked_for():
    result = usage(b"date,model,input_tokens,output_tokens,requests\n2026-06-01,a,9000000,10,1\n").to_scenario_fields()
    assert "input_tokens" not in result["fields"]
    assert result["fields"]["output_tokens"] == 10
    assert any("more than any context" in question for question in result["unresolved"])
