"""Rules learned the hard way, one test each."""

import json
from decimal import Decimal

import pytest

from calculators.usage_import import BenchmarkReport, ImportRefused, UsageReport, read

from .exports import EXPORTS, OPENAI_USAGE


def usage(text: str | bytes, **kwargs: object) -> UsageReport:
    report = read(text if isinstance(text, bytes) else text.encode(), **kwargs)  # type: ignore[arg-type]
    assert isinstance(report, UsageReport)
    return report


def generic(header: str, *rows: str) -> UsageReport:
    return usage("\n".join([header, *rows]) + "\n")


@pytest.mark.parametrize("name", ["openai_usage.csv", "openrouter_generations.csv", "litellm_logs.csv"])
def test_cached_tokens_are_inside_the_input_at_openai_openrouter_and_litellm(name: str):
    total = usage(EXPORTS[name][0]).totals
    given = {"openai_usage.csv": 12_000, "openrouter_generations.csv": 3_000, "litellm_logs.csv": 1_600}[name]
    assert total.input_tokens == given
    assert total.new_input_tokens == given - (total.cached_input_tokens or 0)


def test_cached_tokens_are_beside_the_input_at_anthropic():
    total = usage(EXPORTS["anthropic_usage.csv"][0]).totals
    assert total.new_input_tokens == 3_000
    assert total.input_tokens == 3_000 + 5_000 + 200 + 100


def test_cached_tokens_are_inside_the_prompt_counter_of_vllm():
    from .exports import vllm_metrics

    report = read(vllm_metrics(1000, 100, 10, ttft_s=1.0, hits=400))
    assert isinstance(report, BenchmarkReport)
    assert report.rows[0].total_input_tokens == 1000
    assert report.rows[0].prefix_cache_hit_share == 0.4


def test_anthropic_names_in_a_table_of_another_tool_mean_beside():
    total = generic(
        "date,model,input_tokens,cache_creation_input_tokens,cache_read_input_tokens,output_tokens",
        "2026-06-01,a,100,20,900,10",
    ).totals
    assert (total.new_input_tokens, total.cache_write_5m_tokens, total.cached_input_tokens) == (100, 20, 900)


def test_more_cached_than_input_tokens_is_refused_not_negative():
    report = usage(OPENAI_USAGE.replace(b"10000,500,4000", b"10000,500,40000"))
    assert report.rows_refused == 1
    assert "more than" in report.refused[0].why
    assert report.totals.new_input_tokens == 2_000


def test_reasoning_tokens_are_inside_output():
    # 3500 completion tokens of which 1500 are reasoning: 3500, not 5000.
    assert usage(EXPORTS["openrouter_daily.csv"][0]).totals.output_tokens == 3_500 + 300


def test_anthropic_cost_api_amounts_are_cents():
    assert usage(EXPORTS["anthropic_cost.json"][0]).totals.spend == {"USD": Decimal("123.45678")}


def test_litellm_spend_with_thousands_commas():
    assert usage(EXPORTS["litellm_logs.csv"][0]).totals.spend == {"USD": Decimal("1234.50")}


@pytest.mark.parametrize(
    ("cell", "amount"),
    [
        ('"$10,000.00 "', "10000.00"),
        ("-5.25", "-5.25"),
        ('"(5.25)"', "-5.25"),
        ('"1.234,56 €"', "1234.56"),
        ("US$ 7.5", "7.5"),
        ("1e-05", "0.00001"),
        ("0.003835980000000000000000000000", "0.00383598"),
        ('"1,234,567.8"', "1234567.8"),
        ("\u22123.5", "-3.5"),
        ('"12,5"', "12.5"),
    ],
)
def test_money_cells(cell: str, amount: str):
    report = generic("date,model,cost", f"2026-06-01,a,{cell}")
    assert sum(report.totals.spend.values()) == Decimal(amount)


@pytest.mark.parametrize("cell", ["", "NULL", "NaN", "-", "n/a", "None", '" "', "\\N"])
def test_blank_cells_are_unknown_and_not_zero_rows(cell: str):
    report = generic("date,model,cost,requests", f"2026-06-01,a,{cell},", "2026-06-02,a,1.50,3")
    assert report.totals.spend == {"USD": Decimal("1.50")}
    assert (report.rows_empty, report.rows_refused) == (1, 0)


def test_credits_are_negative_spend():
    report = generic("date,model,cost_usd", "2026-06-01,a,10.00", "2026-06-02,a,-2.50")
    assert report.totals.spend == {"USD": Decimal("7.50")}


def test_decimal_comma_and_german_header():
    report = usage(EXPORTS["german.csv"][0])
    assert report.totals.spend == {"EUR": Decimal("1235.00")}  # 1.234,56 + 0,44
    assert report.totals.input_tokens == 1_235_567  # 1.234.567 + 1.000
    assert [r.period for r in report.records] == ["2026-06-13", "2026-06-14"]
    assert "Numbers were read with a decimal comma." in report.notes


@pytest.mark.parametrize(
    "encode",
    [
        lambda t: b"\xef\xbb\xbf" + t,
        lambda t: t.replace(b"\n", b"\r\n"),
        lambda t: t.decode().encode("utf-16"),
        lambda t: t.decode().encode("utf-16-le"),
        lambda t: t.replace(b",", b"\t"),
        lambda t: t.replace(b",", b";"),
        lambda t: b"sep=;\n" + t.replace(b",", b";"),
        lambda t: b"Report of June\n\n" + t,
    ],
    ids=["BOM", "CRLF", "UTF-16", "UTF-16 without BOM", "tab", "semicolon", "sep line", "preamble"],
)
def test_encodings_and_delimiters_change_nothing(encode):
    plain, changed = usage(OPENAI_USAGE), usage(encode(OPENAI_USAGE))
    assert changed.totals == plain.totals
    assert changed.kind == "openai_usage"


def test_column_order_does_not_matter():
    lines = [line.split(",") for line in OPENAI_USAGE.decode().splitlines()]
    shuffled = "\n".join(",".join(reversed(line)) for line in lines) + "\n"
    assert usage(shuffled).totals == usage(OPENAI_USAGE).totals


def test_infinity_in_benchmark_json_is_unknown():
    report = read(EXPORTS["vllm.json"][0].replace(b'"mean_tpot_ms": 30.0', b'"mean_tpot_ms": Infinity'))
    assert isinstance(report, BenchmarkReport)
    assert report.rows[0].tpot_mean_ms is None
    json.dumps(report.to_json_dict(), allow_nan=False)


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+cmd", "-model", "@model"])
def test_a_leading_sign_is_text_in_a_name(name: str):
    report = generic("date,model,input_tokens,output_tokens", f"2026-06-01,{name},10,1")
    assert report.models[0].model == name


@pytest.mark.parametrize("cell", ["=1+1", "=SUM(A1:A9)", "@10"])
def test_a_formula_in_a_number_refuses_the_row(cell: str):
    report = generic("date,model,input_tokens,output_tokens", f"2026-06-01,a,{cell},1", "2026-06-01,a,10,1")
    assert (report.rows_read, report.rows_refused) == (1, 1)
    assert "formula" in report.refused[0].why
    assert report.totals.input_tokens == 10


def test_a_trace_of_57_minutes_is_not_a_day():
    report = usage(EXPORTS["azure_trace.csv"][0])
    assert report.coverage.hours == pytest.approx(57 / 60)
    assert report.coverage.scale_to_month == pytest.approx(730 / (57 / 60))
    assert "57 minutes" in report.coverage.sentence
    result = report.to_scenario_fields()
    assert "demand" not in result["fields"]
    assert any("57 minutes" in question for question in result["unresolved"])
    scaled = report.to_scenario_fields(scale_short=True)["fields"]
    # 4,040 tokens in 57 minutes: 4040 x 730 / 0.95
    assert scaled["demand_tokens_per_month"] == round(4040 * 730 / 0.95)


def test_self_hosted_and_free_rows_are_not_api_spend():
    report = usage(EXPORTS["litellm_logs.csv"][0])
    assert {(m.model, m.billing) for m in report.models} == {
        ("gpt-alpha", "api"),
        ("qwen", "self-hosted"),
        ("gpt-alpha", "free"),
    }
    assert report.api_totals.total_tokens == 1_100
    result = report.to_scenario_fields()
    assert any("not API spend" in question for question in result["unresolved"])
    free = usage(EXPORTS["openrouter_daily.csv"][0])
    assert free.api_totals.total_tokens == 73_500
    assert free.to_scenario_fields()["fields"]["demand_tokens_per_month"] == round(73_500 * 730 / 48)


def test_an_unknown_model_keeps_its_tokens_and_is_unpriced():
    report = generic(
        "date,model,input_tokens,output_tokens,cost_usd", "2026-06-01,known,10,1,0.5", "2026-06-01,mystery,100,20,0"
    )
    mystery = next(m for m in report.models if m.model == "mystery")
    assert mystery.price == "unpriced"
    assert mystery.amounts.total_tokens == 120
    assert mystery.amounts.spend == {}
    assert any("unpriced" in question for question in report.to_scenario_fields()["unresolved"])


def test_mixed_currencies_are_never_added():
    report = generic("date,model,cost,currency", "2026-06-01,a,10,USD", "2026-06-01,a,20,EUR", "2026-06-02,a,5,USD")
    assert report.totals.spend == {"USD": Decimal(15), "EUR": Decimal(20)}
    result = report.to_scenario_fields()
    assert result["fields"]["demand_usd_per_month"] == pytest.approx(15 * 730 / 48, abs=0.005)
    assert any("20.00 EUR" in question for question in result["unresolved"])


def test_a_late_row_of_california_belongs_to_the_next_utc_day():
    report = generic("timestamp,model,input_tokens,output_tokens", "2026-11-01T23:30-08:00,a,10,1")
    assert [r.period for r in report.records] == ["2026-11-02"]
    hours = generic(
        "timestamp,model,input_tokens,output_tokens", "2026-11-01T23:30-08:00,a,10,1", "2026-11-01T12:00:00Z,a,1,1"
    )
    assert [r.period for r in hours.records] == ["2026-11-01T12:00:00Z", "2026-11-02T07:00:00Z"]


class _Catalog:
    """Offers by exact id only, one of them with a price for long requests."""

    def __init__(self, offer) -> None:
        self.known = offer

    def offer(self, id_or_alias: str):
        return self.known if id_or_alias.lower() in (self.known.id, *self.known.aliases) else None


def _offer(tiers: bool):
    from calculators.records import Offer

    price = {
        "input_per_mtok": 3.0,
        "output_per_mtok": 15.0,
        "source": "s",
        "checked": "2026-11-01",
        "kind": "list_price",
        "tiers": [{"above_input_tokens": 200_000, "input_usd_per_mtok": 6.0}] if tiers else [],
    }
    return Offer.model_validate(
        {
            "id": "openai/gpt-alpha",
            "provider": "openai",
            "model_id": "gpt-alpha",
            "weights_class": "gpt-alpha",
            "prices": [price],
        }
    )


def test_per_request_tiers_cannot_be_rebuilt_from_totals_so_it_asks():
    report = usage(OPENAI_USAGE, catalog=_Catalog(_offer(True)))
    assert any("long requests" in q for q in report.to_scenario_fields(catalog=_Catalog(_offer(True)))["unresolved"])
    assert not any(
        "long requests" in q for q in report.to_scenario_fields(catalog=_Catalog(_offer(False)))["unresolved"]
    )
    assert any("cannot be rebuilt" in note for note in report.notes)


def test_the_baseline_is_an_exact_match_and_never_a_prefix():
    catalog = _Catalog(_offer(False))
    exact = usage(OPENAI_USAGE).to_scenario_fields(catalog=catalog)
    assert exact["fields"]["baseline"] == "openai/gpt-alpha"
    dotted = usage(EXPORTS["openrouter_daily.csv"][0].replace(b"maker/alpha", b"OpenAI/gpt.alpha"))
    assert dotted.to_scenario_fields(catalog=catalog)["fields"]["baseline"] == "openai/gpt-alpha"
    longer = usage(OPENAI_USAGE.replace(b"gpt-alpha", b"gpt-alpha-mini")).to_scenario_fields(catalog=catalog)
    assert "baseline" not in longer["fields"]
    assert any("exactly" in question for question in longer["unresolved"])


def test_a_benchmark_is_sum_over_duration_never_median_or_maximum():
    report = read(EXPORTS["vllm.json"][0])
    assert isinstance(report, BenchmarkReport)
    row = report.rows[0]
    # 20,000 / 50 s; the peak is 950 and medians are a third of the means.
    assert row.output_tokens_per_s == 400
    assert (row.ttft_mean_s, row.tpot_mean_ms) == (0.5, 30.0)
    stated = read(EXPORTS["vllm.json"][0].replace(b'"output_throughput": 400.0', b'"output_throughput": 999.0'))
    assert isinstance(stated, BenchmarkReport)
    assert stated.rows[0].output_tokens_per_s == 400
    assert "999" in stated.rows[0].notes[0]


def test_seconds_and_milliseconds_are_told_apart_by_the_tool():
    reports = {
        name: read(EXPORTS[name][0])
        for name in ("vllm.json", "inference_perf.json", "llmd.yaml", "llmd.json", "guidellm.json")
    }
    for name, report in reports.items():
        assert isinstance(report, BenchmarkReport)
        ttft = report.rows[0].ttft_mean_s
        assert ttft == pytest.approx(0.08 if name == "guidellm.json" else 0.5)
        assert report.rows[0].tpot_mean_ms == pytest.approx({"vllm.json": 30.0, "guidellm.json": 15.0}.get(name, 25.0))


def test_a_two_day_file_says_so():
    report = usage(EXPORTS["generic.csv"][0])
    assert "2 days" in report.coverage.sentence
    assert "less than a week" in report.coverage.sentence
    assert report.coverage.scale_to_month == pytest.approx(730 / 48)


def test_quiet_days_inside_the_span_count():
    # 1 and 10 June: ten days, two of them with data; 20 tokens in 240 h.
    report = generic("date,model,input_tokens,output_tokens", "2026-06-01,a,9,1", "2026-06-10,a,9,1")
    assert (report.coverage.days_spanned, report.coverage.days_with_data) == (10, 2)
    assert report.to_scenario_fields()["fields"]["demand_tokens_per_month"] == round(20 * 730 / 240)


def test_a_month_in_one_row_is_a_month():
    report = generic("month,model,input_tokens,output_tokens", "2026-05,a,9000,1000", "2026-06,a,9000,1000")
    assert report.coverage.days_spanned == 31 + 30
    assert report.coverage.scale_to_month == pytest.approx(730 / (61 * 24))


def test_units_of_thousands_and_cents_in_the_header():
    report = generic("date,Model,Input tokens (K),Output tokens (K),cost_cents", '2026-06-01,a,"1,234.5",10,250')
    assert (report.totals.input_tokens, report.totals.output_tokens) == (1_234_500, 10_000)
    assert report.totals.spend == {"USD": Decimal("2.50")}


def test_integers_above_two_to_the_53_stay_exact():
    big = 2**53 + 1
    report = usage(json.dumps([{"date": "2026-06-01", "model": "a", "input_tokens": big, "output_tokens": 1}]))
    assert report.totals.input_tokens == big


@pytest.mark.parametrize("bad", ["-5", "1e30", "0.5", "abc", "5 apples", "Infinity"])
def test_impossible_counts_refuse_their_row_and_name_the_column(bad: str):
    report = generic("date,model,input_tokens,output_tokens", f"2026-06-01,a,{bad},1", "2026-06-01,a,10,1")
    assert report.rows_refused == 1
    assert report.refused[0].why.startswith("input_tokens: ")
    assert report.refused[0].line == 2
    assert report.totals.input_tokens == 10


def test_a_cut_last_row_is_refused_and_counted():
    report = usage(OPENAI_USAGE[: OPENAI_USAGE.index(b"2000,100,0") + 6])
    assert (report.rows_read, report.rows_refused) == (1, 1)
    assert "columns" in report.refused[0].why


def test_when_no_row_can_be_read_the_first_reason_is_given():
    with pytest.raises(ImportRefused, match="None of the 1 rows can be read; line 2: input_tokens"):
        generic("date,model,input_tokens,output_tokens", "2026-06-01,a,x,1")


def test_a_spreadsheet_that_spoiled_the_epoch_leaves_the_iso_time():
    header, first, *_ = OPENAI_USAGE.decode().splitlines()
    spoiled = first.replace("1780272000,1780358400", "1.78E+09,1.78E+09")
    report = usage(f"{header}\n{spoiled}\n")
    assert (report.rows_refused, [r.period for r in report.records]) == (0, ["2026-06-01"])


def test_saved_again_by_a_german_spreadsheet():
    text = EXPORTS["openai_costs.csv"][0].decode().replace(",", ";").replace("1.50000", "1,50000")
    assert usage(text).totals.spend == usage(EXPORTS["openai_costs.csv"][0]).totals.spend


def test_a_file_of_another_tool_with_request_ids_keeps_its_dates():
    row = "chat-1,2026-06-01 10:30:45,gpt-alpha,150,75,225,0.0012"
    report = generic("request_id,timestamp,model,prompt_tokens,completion_tokens,total_tokens,cost_usd", row)
    assert report.kind == "generic"
    assert [r.period for r in report.records] == ["2026-06-01"]
    assert report.totals.spend == {"USD": Decimal("0.0012")}


def test_a_total_settles_whether_cached_tokens_are_inside():
    header = "date,model,input_tokens,cached_tokens,output_tokens,total_tokens"
    inside = generic(header, "2026-06-01,a,100,40,10,110").totals
    beside = generic(header, "2026-06-01,a,100,40,10,150").totals
    assert (inside.new_input_tokens, beside.new_input_tokens) == (60, 100)


def test_counts_with_thousands_of_other_countries():
    report = generic(
        "date,model,input_tokens,output_tokens", '2026-06-01,a,"12\'345",1 000', '2026-06-01,a,"1,234",2.345'
    )
    assert (report.totals.input_tokens, report.totals.output_tokens) == (12_345 + 1_234, 1_000 + 2_345)


def test_an_impossible_volume_is_asked_for_and_not_put_into_the_scenario():
    report = generic("date,model,input_tokens,output_tokens", f"2026-06-01,a,{10**18},1")
    result = report.to_scenario_fields()
    assert "demand" not in result["fields"]
    assert any("check the file's units" in question for question in result["unresolved"])


@pytest.mark.parametrize("word", ["Total", "Grand total:", "Summe"])
def test_a_line_of_totals_is_not_added_to_what_it_totals(word: str):
    report = generic("date,model,cost_usd", "2026-06-01,a,10", "2026-06-02,a,5", f"{word},,15")
    assert report.totals.spend == {"USD": Decimal(15)}
    assert report.refused[0].why == "adds up other rows and was left out"


@pytest.mark.parametrize(
    ("cell", "period"),
    [
        ("2026-06-01", "2026-06-01"),
        ("20260601", "2026-06-01"),
        ("6/1/26", "2026-06-01"),
        ("06/13/2026 11:30 PM", "2026-06-13"),
        ("13/06/2026", "2026-06-13"),
        ("13.06.2026 08:00", "2026-06-13"),
        ("2026/06/01", "2026-06-01"),
        ('"Jun 1, 2026"', "2026-06-01"),
        ("1 June 2026", "2026-06-01"),
        ("2026-06-01 12:00 AM", "2026-06-01"),
        ("2026-06-01T23:59:59.999999999Z", "2026-06-01"),
        ("2026-06-01 00:30:00+0200", "2026-05-31"),
        ("2026-06-01 10:00:00 UTC", "2026-06-01"),
        ("1780272000", "2026-06-01"),
        ("1780272000000", "2026-06-01"),
        ("1780272000000000", "2026-06-01"),
    ],
)
def test_dates(cell: str, period: str):
    report = generic("date,model,input_tokens,output_tokens", f"{cell},a,1,1")
    assert [r.period for r in report.records] == [period]


@pytest.mark.parametrize(
    "cell", ["2026-02-30", "2026-13-01", "31/31/2026", "1999-01-01", "yesterday", "12", "2026-06-01 25:61", "10:00 PST"]
)
def test_dates_that_do_not_exist_refuse_their_row(cell: str):
    report = generic("date,model,input_tokens,output_tokens", f"{cell},a,1,1", "2026-06-01,a,1,1")
    assert report.rows_refused == 1
    assert report.refused[0].why.startswith("date: ")


def test_day_and_month_are_told_apart_by_the_rest_of_the_file():
    header = "date,model,input_tokens,output_tokens"
    european = generic(header, "05/06/2026,a,1,1", "25/06/2026,a,1,1")
    american = generic(header, "05/06/2026,a,1,1", "06/25/2026,a,1,1")
    unclear = generic(header, "05/06/2026,a,1,1")
    assert european.records[0].period == "2026-06-05"
    assert american.records[0].period == "2026-05-06"
    assert unclear.records[0].period == "2026-05-06"
    assert any("month/day" in note for note in unclear.notes)
