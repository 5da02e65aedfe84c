"""What providers' cells mean: kinds of tokens, currencies, batches, failures, credits, services that are not AI."""

import json
from typing import Any

import pytest

from calculators.usage_import import ImportRefused, UsageReport, guess_mapping, read

from .reports import keys
from .test_columns import CASES, amounts, table


def usage(*rows: dict[str, str], kind: str = "auto", mapping: dict[str, str] | None = None) -> UsageReport:
    report = read(table(*rows), kind=kind, mapping=mapping)
    assert isinstance(report, UsageReport)
    return report


def of_json(*items: Any, kind: str = "auto") -> UsageReport:
    report = read("\n".join(json.dumps(i) for i in items).encode(), kind=kind)
    assert isinstance(report, UsageReport)
    return report


def note(report: UsageReport, key: str) -> dict[str, Any]:
    """The places of the note of this key."""
    (found,) = [n for n in report.notes if getattr(n, "key", "") == key]
    return dict(found.places)  # type: ignore[attr-defined]


def case(name: str, **cells: str) -> UsageReport:
    """The row of test_columns with some cells replaced."""
    return usage({**CASES[name].cells, **cells}, kind=CASES[name].kind)


# ---------------------------------------------------------------------------------------------------- every format


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.needed or c.kind == "generic"])
def test_a_row_that_is_cut_off_is_refused_and_the_others_count(name: str):
    """Formats that read by row and those that read a bill as a whole say the line and the columns."""
    cells = CASES[name].cells
    report = read(table(cells) + b"\nx\n", kind=CASES[name].kind)
    assert isinstance(report, UsageReport)
    assert amounts(report) == CASES[name].says
    (refused,) = report.refused
    assert (refused.line, refused.why.key) == (3, "import_cell.few_columns")  # type: ignore[attr-defined]
    assert refused.why.places == {"n": 1, "of": len(cells)}  # type: ignore[attr-defined]


NOT_READ = {"id", "request_id", "quantity", "PricingQuantity", "session", "generation_id", "total_tokens"}
"""Columns whose numbers are ids, or are not needed where another column says the same."""

FIGURES = [
    (name, column)
    for name, c in CASES.items()
    for column, cell in c.cells.items()
    if cell.replace(",", "").replace(".", "").isdigit()
    and column not in NOT_READ
    and (name, column) != ("gcp_billing by the pricing unit", "usage.amount")  # seconds are not tokens
]


@pytest.mark.parametrize(("name", "column"), FIGURES)
def test_a_figure_that_is_no_number_refuses_its_row_and_names_the_column(name: str, column: str):
    good = CASES[name].cells
    report = usage(good, {**good, column: "lots"}, kind=CASES[name].kind)
    if "time" in column.lower() and CASES[name].kind in ("openai_usage", "openai_costs") and "end" in column:
        assert report.rows_refused == 0  # an end that cannot be read is no end
        return
    (refused,) = report.refused
    assert refused.line == 3
    assert refused.why.startswith(f"{column}: 'lots' is not ")


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.needed and c.kind not in ("burstgpt", "mooncake")])
def test_a_date_that_is_none_refuses_its_row_and_names_the_column(name: str):
    good = CASES[name].cells
    column = next((c for c, cell in good.items() if cell.startswith("2026-06-") or cell == "1780272000"), None)
    if column is None:  # helicone_user's case has its date in created_at
        pytest.skip("no date")
    (refused,) = usage(good, {**good, column: "yesterday"}, kind=CASES[name].kind).refused
    assert refused.why.startswith(f"{column}: 'yesterday' is not a date that can be read")


def test_a_quote_that_was_never_closed_is_named():
    good = CASES["anthropic_usage"].cells
    (refused,) = usage(good, {**good, "model_version": "a\nb,c"}, kind="anthropic_usage").refused
    assert refused.why == "model_version: has a line break in it; a quote is open"
    assert usage({**good, "model_version": "a\n"}, kind="anthropic_usage").models[0].model == "a"


# ------------------------------------------------------------------------------------------- who is paid for a row


@pytest.mark.parametrize(
    ("provider", "billing"),
    [
        (p, "self-hosted")
        for p in (
            "hosted_vllm",
            "vllm",
            "Ollama",
            "ollama_chat",
            "lm_studio",
            "llamafile",
            "SGLang",
            "xinference",
            "oobabooga",
            "local",
            "localai",
            "text-generation-inference",
            "llama_cpp",
            "llamacpp",
            "self-hosted",
            "self hosted",
            "selfhosted",
            "on-prem",
            "onprem",
            "vllm/qwen",
            "http://localhost:8000/v1",
            "http://127.0.0.1:8000",
            "https://10.1.2.3/v1",
            "http://192.168.0.7",
            "http://172.16.0.1",
            "http://172.20.0.1",
            "http://172.31.0.1",
            "http://[::1]:8000",
            "http://host.docker.internal",
        )
    ]
    + [
        (p, "api")
        for p in (
            "openai",
            "vllmish",
            "https://api.openai.com/v1",
            "http://172.15.0.1",
            "http://172.32.0.1",
            "https://100.1.2.3",
            "my vllm",
            "",
        )
    ],
)
def test_own_servers_are_told_by_provider_or_address(provider: str, billing: str):
    assert case("generic", provider=provider).models[0].billing == billing
    assert case("litellm_logs", api_base=provider).models[0].billing == billing
    assert case("litellm_export", Provider=provider).models[0].billing == billing
    assert case("openrouter by day", **{"Provider Name": provider}).models[0].billing == billing
    assert case("helicone", target_url=provider).models[0].billing == billing


@pytest.mark.parametrize(
    ("model", "billing"),
    [("a:free", "free"), ("a/FREE", "free"), ("free", "api"), ("a:free-2", "api"), ("ollama/a:free", "self-hosted")],
)
def test_free_variants_and_own_servers_are_told_by_the_model(model: str, billing: str):
    assert case("generic", model=model).models[0].billing == billing
    assert case("openrouter by day", Slug=model).models[0].billing == billing
    assert case("langfuse by bucket", providedModelName=model).models[0].billing == billing


# -------------------------------------------------------------------------------------------------------- currencies


@pytest.mark.parametrize(
    ("name", "cells", "spend"),
    [
        ("deepseek_cost", {"currency": ""}, "1.25 CNY"),
        ("deepseek_cost", {"currency": "", "cost": "€1.25"}, "1.25 EUR"),
        ("deepseek_cost", {"currency": "usd", "cost": "€1.25"}, "1.25 USD"),
        ("deepseek_cost", {"currency": "a very long currency"}, "1.25 A VERY L"),
        ("openai_costs", {"amount_currency": ""}, "2.50 USD"),
        ("openai_costs", {"amount_currency": "", "amount_value": "2.50 GBP"}, "2.50 GBP"),
        ("focus", {"BillingCurrency": ""}, "10.00 ?"),
        ("azure_cost", {"BillingCurrency": "", "CostInBillingCurrency": "$3.00"}, "3.00 USD"),
        ("litellm_logs", {"spend": "€1.25"}, "1.25 EUR"),
        ("litellm_export", {"Spend ($)": "£2"}, "2 GBP"),
        ("generic", {"currency": "", "cost": "1.25 chf"}, "1.25 CHF"),
        ("anthropic_cost", {"cost_usd": "$1.25"}, "1.25 USD"),
        ("anthropic_cost", {"cost_usd": ""}, None),
        ("openrouter by day", {"Usage": "$10.50"}, "10.50 USD"),
    ],
)
def test_the_currency_is_the_columns_then_the_cells_then_the_providers(
    name: str, cells: dict[str, str], spend: str | None
):
    assert amounts(case(name, **cells)).get("spend") == spend


@pytest.mark.parametrize(("name", "column"), [("anthropic_cost", "cost_usd"), ("openrouter by day", "Usage")])
def test_an_amount_in_another_currency_than_its_column_is_refused(name: str, column: str):
    good = CASES[name].cells
    (refused,) = usage(good, {**good, column: "€5"}, kind=CASES[name].kind).refused
    assert refused.why == "the amount is in EUR, the column says USD"


# ---------------------------------------------------------------------------------------------------------- Anthropic


@pytest.mark.parametrize(
    ("window", "asked"),
    [
        ("≤ 200k", False),
        ("0-200k", False),
        ("< 200K", False),
        ("up to 200k", False),
        ("", False),
        ("1M", False),
        ("> 200k", True),
        ("200k-1M", True),
        ("200K - 1M", True),
    ],
)
def test_requests_above_200k_are_asked_for_once(window: str, asked: bool):
    good = CASES["anthropic_usage"].cells | {"context_window": window}
    report = usage(good, good, kind="anthropic_usage")
    assert keys(report.questions) == (["import_ask.above_200k"] if asked else [])
    result = {"uncached_input_tokens": 1, "output_tokens": 1, "context_window": window, "model": "a"}
    bucket = {"starting_at": "2026-06-01", "ending_at": "2026-06-02", "results": [result, result]}
    assert keys(of_json({"data": [bucket]}).questions) == (["import_ask.above_200k"] if asked else [])


def test_anthropic_batches_add_up_over_rows():
    good = CASES["anthropic_usage of a batch"].cells
    assert usage(good, good, kind="anthropic_usage").batch_tokens == 2 * 6600
    partial = {**good, "usage_input_tokens_cache_write_1h": "", "usage_output_tokens": ""}
    assert usage(partial, kind="anthropic_usage").batch_tokens == 1000 + 200 + 5000


@pytest.mark.parametrize("column", [c for c in CASES["anthropic_usage"].cells if c.startswith("usage_") and "tok" in c])
def test_one_figure_is_enough_for_an_anthropic_row(column: str):
    cells = {c: v if not v.isdigit() or c == column else "" for c, v in CASES["anthropic_usage"].cells.items()}
    report = usage(cells, kind="anthropic_usage")
    assert report.rows_empty == 0
    assert report.totals.total_tokens == int(CASES["anthropic_usage"].cells[column])


def test_display_names_are_looked_up_as_ids():
    asked: list[str] = []

    class Offers:
        def offer(self, id_or_alias: str) -> None:
            asked.append(id_or_alias)

    read(table({**CASES["anthropic_cost"].cells, "model": "Claude Haiku 4.5 (new)"}), catalog=Offers())
    assert "claude-haiku-4-5-new" in asked
    assert "anthropic/claude-haiku-4-5-new" in asked


# ------------------------------------------------------------------------------------------------------------- OpenAI


@pytest.mark.parametrize(
    ("cells", "batch"),
    [
        ({"batch": "true"}, 1070),
        ({"batch": "1"}, 1070),
        ({"batch": "Yes"}, 1070),
        ({"batch": "false"}, None),
        ({"batch": "", "service_tier": "Batch"}, 1070),
        ({"batch": "no", "service_tier": "flex"}, None),
    ],
)
def test_openai_batches(cells: dict[str, str], batch: int | None):
    assert case("openai_usage of a batch", **cells).batch_tokens == batch
    good = CASES["openai_usage of a batch"].cells | cells
    assert usage(good, good, kind="openai_usage").batch_tokens == (batch and 2 * batch)


@pytest.mark.parametrize(
    ("blank", "says"),
    [
        (("input_tokens", "output_tokens"), (0, 0, 3)),
        (("input_tokens", "num_model_requests"), (0, 70, 0)),
        (("output_tokens", "num_model_requests"), (1000, 0, 0)),
    ],
)
def test_one_figure_is_enough_for_an_openai_row(blank: tuple[str, ...], says: tuple[int, ...]):
    report = case("openai_usage of a batch", **dict.fromkeys(blank, ""))
    assert report.rows_empty == 0
    total = report.totals
    assert (total.new_input_tokens, total.output_tokens, total.requests) == says


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ({"line_item": "gpt-alpha, output", "quantity_unit": "tokens"}, {"output": 3, "cached": None}),
        ({"line_item": "gpt-alpha, input", "quantity_unit": "1M tokens"}, {"new": 3_000_000, "cached": None}),
        ({"quantity": "-3"}, {"cached": None}),
        ({"quantity": "0"}, {"cached": 0}),
        ({"quantity_unit": "hours"}, {"cached": None}),
        ({"line_item": "web search"}, {"model": "web search", "cached": None}),
        ({"line_item": "gpt-alpha , image input"}, {"cached": None}),
    ],
)
def test_line_items_of_openai_count_tokens_where_their_unit_is_one(cells: dict[str, str], says: dict[str, Any]):
    told = amounts(case("openai_costs", **cells))
    assert told == {k: v for k, v in {**CASES["openai_costs"].says, **says}.items() if v is not None}


def test_more_tokens_than_plausible_refuse_the_line_item():
    good = CASES["openai_costs"].cells
    assert usage({**good, "quantity": "1e15"}, kind="openai_costs").totals.cached_input_tokens == 10**18
    (refused,) = usage(good, {**good, "quantity": "1.1e15"}, kind="openai_costs").refused
    assert refused.why == "1.100E+18 tokens are not plausible"


# --------------------------------------------------------------------------------------------- OpenRouter and LiteLLM


def test_own_keys_are_added_up_and_named():
    cells = CASES["openrouter by day"].cells
    report = usage({**cells, "BYOK Usage": "1000.5"}, {**cells, "BYOK Usage": "234"}, kind="openrouter")
    assert note(report, "import_note.own_keys") == {"usd": "1,234.50"}
    assert "import_note.own_keys" not in keys(usage(cells, kind="openrouter").notes)


@pytest.mark.parametrize("left", ["Prompt Tokens", "Completion Tokens", "Usage", "Requests"])
def test_one_figure_is_enough_for_an_openrouter_row(left: str):
    figures = ("Prompt Tokens", "Completion Tokens", "Usage", "Requests", "Cached Tokens")
    report = case("openrouter by day", **{c: "" for c in figures if c != left})
    assert report.rows_empty == 0


LOG = CASES["litellm_logs"].cells
BARE_LOG = {c: v for c, v in LOG.items() if not c.startswith("cache_") and c != "total_tokens"}


@pytest.mark.parametrize(
    ("metadata", "cached", "written"),
    [
        ({"usage_object": {"cache_read_input_tokens": 30}}, 30, None),
        ({"additional_usage_values": {"cache_read_input_tokens": 30}}, 30, None),
        ({"usage": {"cache_read_input_tokens": 30, "cache_creation_input_tokens": 20}}, 30, 20),
        ({"usage": {"prompt_tokens_details": {"cached_tokens": 30}}}, 30, None),
        ({"usage": {"prompt_tokens_details": {"cached_tokens": 30, "cache_creation_tokens": 20}}}, 30, 20),
        ({"usage": {"cache_creation_input_tokens": 20}}, None, 20),
        ({"usage": {"cache_read_input_tokens": -5, "cache_creation_input_tokens": -5}}, 0, 0),
        ({"usage": {"cache_read_input_tokens": "30"}}, None, None),
        ({"usage_object": {}, "usage": {"cache_read_input_tokens": 30}}, 30, None),
        ({"usage_object": {"other": 1}, "usage": {"cache_read_input_tokens": 30}}, 30, None),
        ({"usage_object": {"cache_read_input_tokens": 1}, "usage": {"cache_read_input_tokens": 30}}, 1, None),
        ({}, None, None),
    ],
)
def test_cached_tokens_in_the_metadata_of_a_log(metadata: dict[str, Any], cached: int | None, written: int | None):
    total = usage({**BARE_LOG, "metadata": json.dumps(metadata)}).totals
    assert (total.cached_input_tokens, total.cache_write_5m_tokens) == (cached, written)
    assert total.new_input_tokens == 1000 - (cached or 0) - (written or 0)


def test_columns_go_before_the_metadata_of_a_log():
    metadata = json.dumps({"usage": {"cache_read_input_tokens": 1, "cache_creation_input_tokens": 2}})
    total = usage({**LOG, "metadata": metadata}).totals
    assert (total.cached_input_tokens, total.cache_write_5m_tokens) == (400, 50)
    one = usage({**LOG, "cache_creation_input_tokens": "", "metadata": metadata}).totals
    assert (one.cached_input_tokens, one.cache_write_5m_tokens) == (400, None)


@pytest.mark.parametrize("status", ["failure", "Failed", "error"])
def test_failed_requests_are_no_use_unless_they_cost(status: str):
    nothing = {**BARE_LOG, "status": status, "prompt_tokens": "0", "completion_tokens": "0", "spend": "0"}
    assert usage(BARE_LOG, nothing).rows_empty == 1
    for column in ("prompt_tokens", "completion_tokens", "spend"):
        report = usage(BARE_LOG, {**nothing, column: "5"})
        assert (report.rows_empty, report.totals.requests) == (0, 2)
    assert usage(BARE_LOG, {**nothing, "status": "success"}).totals.requests == 2


def test_answers_of_the_gateways_own_cache_are_free_and_counted():
    rows = [{**LOG, "cache_hit": c} for c in ("True", "true", "False")]
    report = usage(*rows)
    assert note(report, "import_note.gateway") == {"n": "2"}
    assert {(m.billing, m.amounts.requests) for m in report.models} == {("free", 2), ("api", 1)}
    assert "import_note.gateway" not in keys(usage(LOG).notes)


@pytest.mark.parametrize("left", ["prompt_tokens", "completion_tokens", "spend"])
def test_one_figure_is_enough_for_a_log(left: str):
    report = usage({**BARE_LOG, **{c: "" for c in ("prompt_tokens", "completion_tokens", "spend") if c != left}})
    assert (report.rows_empty, report.totals.requests) == (0, 1)


@pytest.mark.parametrize("left", ["Prompt Tokens", "Completion Tokens", "Spend ($)", "Requests"])
def test_one_figure_is_enough_for_a_day_of_litellm(left: str):
    figures = [c for c, v in CASES["litellm_export"].cells.items() if v.replace(",", "").replace(".", "").isdigit()]
    assert case("litellm_export", **{c: "" for c in figures if c != left}).rows_empty == 0


# ----------------------------------------------------------------------------------------------------------- DeepSeek


def deepseek(*rows: tuple[str, str]) -> UsageReport:
    return usage(
        *(
            {
                "utc_date": "20260601",
                "end_time_iso": "2026-06-01T12:00:00Z",
                "model": "deepseek-alpha",
                "api_key": "k",
                "type": kind,
                "amount": amount,
            }
            for kind, amount in rows
        )
    )


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("input_cache_miss_tokens", "new_input_tokens"),
        ("input_tokens", "new_input_tokens"),
        ("prompt_tokens", "new_input_tokens"),
        ("prompt_cache_miss_tokens", "new_input_tokens"),
        ("input_cache_hit_tokens", "cached_input_tokens"),
        ("prompt_cache_hit_tokens", "cached_input_tokens"),
        ("output_tokens", "output_tokens"),
        ("completion_tokens", "output_tokens"),
        ("Completion", "output_tokens"),
        ("request_count", "requests"),
    ],
)
def test_kinds_of_rows_of_deepseek(kind: str, field: str):
    report = deepseek((kind, "7"))
    counted = {
        f: getattr(report.totals, f) for f in ("new_input_tokens", "cached_input_tokens", "output_tokens", "requests")
    }
    assert counted == {**dict.fromkeys(counted, 0), field: 7}
    (record,) = report.records
    assert (record.model, record.period, report.coverage.hours) == ("deepseek-alpha", "2026-06-01", 12)


def test_other_kinds_of_rows_of_deepseek_are_left_out_and_named():
    report = deepseek(
        ("output_tokens", "7"),
        ("total_tokens", "99"),
        ("total_token", "99"),
        ("reasoning_tokens", "99"),
        *((f"kind {c}", "1") for c in "fedcba"),
    )
    assert report.totals.total_tokens == 7
    assert (report.rows_read, report.rows_empty) == (10, 9)
    # the first five of the file, in alphabetical order
    assert note(report, "import_note.other_kinds") == {"kinds": "kind b, kind c, kind d, kind e, kind f"}
    assert "import_note.other_kinds" not in keys(deepseek(("output_tokens", "7"), ("total_tokens", "9")).notes)
    assert deepseek(("output_tokens", "7"), ("output_tokens", "")).rows_empty == 1


@pytest.mark.parametrize(("name", "cells"), [("utc_date", {}), ("start_time_iso", {})])
def test_deepseek_days_by_either_name(name: str, cells: dict[str, str]):
    row = {name: "2026-06-01", "model": "a", "price": "1", "type": "output_tokens", "amount": "7"}
    assert amounts(usage(row))["period"] == "2026-06-01"
    assert usage(row).coverage.hours == 24


@pytest.mark.parametrize(("wallet", "granted"), [("Granted", True), ("gift", True), ("bonus", True), ("Paid", False)])
def test_granted_balance_is_spend_and_named(wallet: str, granted: bool):
    report = case("deepseek_cost", wallet_type=wallet)
    assert ("import_note.granted" in keys(report.notes)) is granted
    assert amounts(report)["spend"] == "1.25 USD"


# ----------------------------------------------------------------------------------------------- Langfuse and Helicone


@pytest.mark.parametrize(
    ("buckets", "says"),
    [
        # new, cached, written, output
        ({"input": 60, "output": 9}, (60, None, None, 9)),
        ({"prompt_tokens": 60, "completion_tokens": 9}, (60, None, None, 9)),
        ({"input_tokens": 60, "output_tokens": 9}, (60, None, None, 9)),
        ({"input": 60, "prompt_tokens": 5, "output": 9, "output_tokens": 1}, (65, None, None, 10)),
        ({"input": 60, "cache_read_input_tokens": 40, "output": 9}, (60, 40, None, 9)),
        ({"input": 60, "cache_creation_input_tokens": 30, "output": 9}, (60, None, 30, 9)),
        ({"input": 60, "input_cache_write": 30, "cache_write_1h": 3, "output": 9}, (60, None, 33, 9)),
        ({"input": 60, "input_cached": 30, "cache_read": 3, "output": 9}, (60, 33, None, 9)),
        ({"input": 60, "input_audio": 6, "prompt_image": 1, "output": 9}, (67, None, None, 9)),
        ({"input": 60, "output": 9, "output_reasoning": 3, "completion_audio": 1}, (60, None, None, 13)),
        ({"input": 60, "reasoning": 3}, (60, None, None, 3)),
        ({"input_audio": 6, "output": 9}, (6, None, None, 9)),
        ({"input": 60, "output": 9, "other": 5}, (60, None, None, 9)),
        # the total says that the cached ones stand beside, or inside
        ({"input": 60, "input_cached": 40, "output": 9, "total": 109}, (60, 40, None, 9)),
        ({"input": 100, "input_cached": 40, "cache_write": 10, "output": 9, "total": 109}, (50, 40, 10, 9)),
        ({"input": 100, "output": 9, "output_reasoning": 4, "total": 109}, (100, None, None, 9)),
        ({"input": 60, "input_cached": None, "output": "9"}, (60, None, None, 9)),
    ],
)
def test_buckets_of_langfuse(buckets: dict[str, Any], says: tuple[int | None, ...]):
    told = amounts(case("langfuse by bucket", usageDetails=json.dumps(buckets)))
    assert tuple(told.get(k) for k in ("new", "cached", "write_5m", "output")) == says


def test_observations_that_are_no_model_calls_are_left_out_and_counted():
    cells = CASES["langfuse by bucket"].cells
    kinds = ("GENERATION", "embedding", "", "SPAN", "EVENT", "TOOL")
    report = usage(*({**cells, "type": kind} for kind in kinds))
    assert report.totals.requests == 3
    assert note(report, "import_note.spans") == {"n": "3"}
    assert "import_note.spans" not in keys(usage(cells).notes)


@pytest.mark.parametrize("total", ["totalTokens", "totalUsage", "usage.total", "usage.totalTokens"])
def test_a_total_alone_cannot_be_split_and_is_refused(total: str):
    cells = {"traceId": "t", "startTime": "2026-06-01T10:30:00Z", "model": "a", "usageDetails": "", total: "9"}
    good = {**cells, "promptTokens": "5"}
    report = usage(good, {**good, "promptTokens": ""})
    assert report.rows_refused == 1
    assert report.refused[0].why == "has a total but no input and output tokens"


@pytest.mark.parametrize("left", ["promptTokens", "completionTokens", "cost_details"])
def test_one_figure_is_enough_for_an_observation(left: str):
    report = case("langfuse by column", **{
        c: "" for c in ("promptTokens", "completionTokens", "totalTokens", "cost_details") if c != left
    })  # fmt: skip
    assert (report.rows_empty, report.totals.requests) == (0, 1)


@pytest.mark.parametrize(
    ("cells", "new"),
    [
        ({"provider": "ANTHROPIC"}, 1000),
        ({"response_model": "Claude-alpha"}, 1000),
        ({"response_model": "anthropic/alpha"}, 1000),
        ({"provider": "AWS"}, 550),
        ({"provider": "AWS", "response_model": "an-anthropic-like"}, 550),
    ],
)
def test_helicone_has_the_cache_beside_the_prompt_for_anthropic_only(cells: dict[str, str], new: int):
    assert case("helicone", total_tokens="", **cells).totals.new_input_tokens == new


@pytest.mark.parametrize("column", ["cache_reference_id", "cacheHit", "cached"])
def test_helicones_own_cache_is_free(column: str):
    for cell, billing in (
        ("a1b2", "free"),
        ("true", "free"),
        ("false", "api"),
        ("0", "api"),
        ("miss", "api"),
        ("", "api"),
        ("00000000-0000-0000-0000-000000000000", "api"),
    ):
        assert case("helicone", **{column: cell}).models[0].billing == billing


@pytest.mark.parametrize("left", ["prompt_tokens", "completion_tokens", "costUSD"])
def test_one_figure_is_enough_for_a_request_of_helicone(left: str):
    figures = [c for c, v in CASES["helicone"].cells.items() if v.replace(".", "").isdigit() and c != "request_id"]
    assert case("helicone", **{c: "" for c in figures if c != left}).rows_empty == 0


# ------------------------------------------------------------------------------------------------------------- traces


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        ("-1", "import_cell.not_seconds"),
        ("10000000000", "import_cell.not_seconds"),
        ("", "import_cell.no_time_or_counts"),
        ("0", None),
        ("9999999999", None),
    ],
)
def test_the_clock_of_burstgpt(seconds: str, why: str | None):
    good = CASES["burstgpt"].cells
    report = usage(good, {**good, "Timestamp": seconds})
    assert [r.why.key for r in report.refused] == ([why] if why else [])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("milliseconds", "why"),
    [
        ("-1", "import_cell.not_milliseconds"),
        ("10000000000000", "import_cell.not_milliseconds"),
        ("", "import_cell.no_time_or_counts"),
        ("0", None),
        ("9999999999999", None),
    ],
)
def test_the_clock_of_mooncake(milliseconds: str, why: str | None):
    good = CASES["mooncake"].cells
    report = usage(good, {**good, "timestamp": milliseconds})
    assert [r.why.key for r in report.refused] == ([why] if why else [])  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["azure_trace", "burstgpt", "mooncake"])
def test_a_request_of_a_trace_needs_both_counts(name: str):
    good = CASES[name].cells
    counts = list(good)[-2:] if name != "mooncake" else ["input_length", "output_length"]
    why = "import_cell.no_counts" if name == "azure_trace" else "import_cell.no_time_or_counts"
    for column in counts:
        (refused,) = usage(good, {**good, column: ""}).refused
        assert refused.why.key == why  # type: ignore[attr-defined]


def test_times_of_traces_are_seconds_and_milliseconds():
    burst = usage(*({**CASES["burstgpt"].cells, "Timestamp": t} for t in ("5", "3605", "7205.5")))
    assert [r.period for r in burst.records] == ["+0 h", "+1 h", "+2 h"]
    assert burst.coverage.hours == pytest.approx(7200.5 / 3600)
    moon = usage(*({**CASES["mooncake"].cells, "timestamp": t} for t in ("5000", "3605000", "7205500")))
    assert [r.period for r in moon.records] == ["+0 h", "+1 h", "+2 h"]
    assert moon.coverage.hours == pytest.approx(7200.5 / 3600)


def test_requests_without_an_answer_are_counted_and_named():
    cells = CASES["burstgpt"].cells
    report = usage(cells, {**cells, "Response tokens": "0"}, {**cells, "Response tokens": "0"})
    assert report.totals.requests == 3
    assert note(report, "import_note.no_answer") == {"n": "2"}
    assert "import_note.no_answer" not in keys(usage(cells).notes)


@pytest.mark.parametrize(
    ("chains", "hits", "blocks"),
    [
        ([[1, 2], [1, 2, 3]], 2, 5),
        ([[1, 2], [3, 1, 2]], 0, 5),  # another prefix: what follows is of no use
        ([[1], [1], [1]], 2, 3),
        ([[1, "x"], [1, None, 2]], 1, 3),  # what is no block is passed over
        ([[5, 5], [5, 5]], 2, 4),
    ],
)
def test_blocks_that_a_cache_would_have_kept(chains: list[list[Any]], hits: int, blocks: int):
    report = of_json(
        *({"timestamp": i, "input_length": 9, "output_length": 1, "hash_ids": c} for i, c in enumerate(chains))
    )
    assert report.serving_cached_share == pytest.approx(hits / blocks)
    places = note(report, "import_note.blocks")
    assert places == {"hits": str(hits), "blocks": str(blocks), "share": f"{100 * hits / blocks:.1f}%"}


# -------------------------------------------------------------------------------------------------------- cloud bills


@pytest.mark.parametrize(
    ("details", "meter", "says"),
    [
        ({"TokenDirection": "Output"}, "Units", "output"),
        ({"TokenDirection": "input"}, "Units", "new"),
        ({"TokenDirection": "Input", "TokenCacheAction": "Read"}, "Units", "cached"),
        ({"TokenDirection": "Input", "TokenCacheAction": "WRITE"}, "Units", "write_5m"),
        ({"TokenDirection": "Output"}, "Input Tokens", "output"),
        ({}, "Output Tokens", "output"),
        ({}, "Units", "new"),  # by the description
    ],
)
def test_the_direction_of_focus_tokens(details: dict[str, str], meter: str, says: str):
    told = amounts(case("focus", SkuPriceDetails=json.dumps(details), SkuMeter=meter))
    counted = {k: v for k, v in told.items() if k in ("new", "cached", "write_5m", "output")}
    assert counted == {says: 5000}


@pytest.mark.parametrize("category", ["Purchase", "Tax", "Credit", "Adjustment", "Usage", ""])
def test_purchases_of_a_focus_bill_are_named(category: str):
    named = "import_note.purchases" in keys(case("focus", ChargeCategory=category).notes)
    assert named is (category not in ("Usage", ""))


def test_a_bill_that_spreads_purchases_says_how_much():
    cells = CASES["focus"].cells
    report = usage(cells, {**cells, "BilledCost": "0", "EffectiveCost": "1234.5"})
    assert note(report, "import_note.effective_cost") == {"amortised": "1,244.50", "paid": "10.00"}
    assert "import_note.effective_cost" not in keys(usage(cells).notes)


@pytest.mark.parametrize(
    ("cells", "empty"),
    [
        ({"BilledCost": "", "EffectiveCost": "", "ListCost": ""}, 1),
        ({"BilledCost": "", "EffectiveCost": ""}, 0),
        ({"BilledCost": "", "ListCost": ""}, 0),
        ({"EffectiveCost": "", "ListCost": ""}, 0),
    ],
)
def test_one_amount_is_enough_for_a_row_of_focus(cells: dict[str, str], empty: int):
    good = CASES["focus"].cells
    assert usage(good, {**good, **cells}).rows_empty == empty


AI = [
    ("service", "Amazon Bedrock"),
    ("service", "SageMaker"),
    ("service", "Vertex AI"),
    ("category", "AI and Machine Learning"),
    ("description", "claude inference"),
]


@pytest.mark.parametrize(("where", "words"), AI)
def test_rows_of_other_services_are_kept_apart_where_one_is_ai(where: str, words: str):
    row = {
        "ChargePeriodStart": "2026-06-01",
        "ChargePeriodEnd": "2026-06-02",
        "BilledCost": "5",
        "BillingCurrency": "USD",
        "ServiceName": words if where == "service" else "S",
        "ServiceCategory": words if where == "category" else "C",
        "ChargeDescription": words if where == "description" else "D",
    }
    other = {**row, "ServiceName": "Disks", "ServiceCategory": "Storage", "ChargeDescription": "GB", "BilledCost": "9"}
    report = usage(row, other)
    assert {m.billing: str(m.amounts.spend["USD"]) for m in report.models} == {"api": "5", "other": "9"}
    assert "import_note.other_services" in keys(report.notes)
    assert "import_note.no_ai_service" not in keys(report.notes)
    alone = usage(other)
    assert [m.billing for m in alone.models] == ["api"]
    assert "import_note.no_ai_service" in keys(alone.notes)
    only_ai = usage(row)
    assert not {"import_note.no_ai_service", "import_note.other_services"} & set(keys(only_ai.notes))


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ({"lineItem/UsageType": "USE1-Alpha-output-tokens"}, {"output": 1_500_000, "new": None}),
        ({"lineItem/UsageType": "EUC1-Alpha-input-tokens"}, {}),
        ({"lineItem/UsageAmount": "-5"}, {"new": None}),
        ({"pricing/unit": "", "lineItem/LineItemDescription": "$3 per 1M input tokens"}, {"new": 1_500_000_000}),
        ({"pricing/unit": "Units", "lineItem/LineItemDescription": "per hour"}, {"new": 1500}),
        (
            {"pricing/unit": "Hrs", "lineItem/UsageType": "BoxUsage:p5", "lineItem/ProductCode": "AmazonBedrock"},
            {"new": None, "model": "Amazon Bedrock"},
        ),
        (
            {"pricing/unit": "Hrs", "lineItem/UsageType": "Box", "product/ProductName": ""},
            {"new": None, "model": "AmazonBedrock"},
        ),
    ],
)
def test_usage_types_of_aws(cells: dict[str, str], says: dict[str, Any]):
    told = amounts(case("aws_cur", **cells))
    assert told == {k: v for k, v in {**CASES["aws_cur"].says, **says}.items() if v is not None}


@pytest.mark.parametrize(
    ("meter", "unit", "says"),
    [
        ("gpt alpha Outp glbl Tokens", "1K", {"output": 1_500_000}),
        ("gpt alpha cchd Inp glbl Tokens", "1M", {"cached": 1_500_000_000}),
        ("gpt alpha Inp glbl Tokens", "1", {"new": 1500}),
        ("gpt alpha Inp 1M Tokens", "", {"new": 1_500_000_000}),
        ("gpt alpha Inp 1K Tokens", "", {"new": 1_500_000}),
        ("gpt alpha Inp glbl Tokens", "1 Hour", {}),
        ("gpt alpha Inp", "1K", {"new": 1_500_000}),
        ("ND96 H100", "1 Hour", {"model": "ND96 H100"}),
    ],
)
def test_meters_of_azure(meter: str, unit: str, says: dict[str, Any]):
    told = amounts(case("azure_cost", MeterName=meter, UnitOfMeasure=unit))
    expected = {**CASES["azure_cost"].says, "new": None, "model": told["model"], **says}
    assert told == {k: v for k, v in expected.items() if v is not None}
    assert told["model"].lower().startswith(("gpt alpha", "nd96"))


def test_negative_quantities_of_azure_and_gcp_count_no_tokens():
    assert "new" not in amounts(case("azure_cost", Quantity="-5"))
    assert "new" not in amounts(case("gcp_billing", **{"Usage amount": "-5"}))
    assert amounts(case("azure_cost", Quantity="0"))["new"] == 0


def test_machines_of_azure_and_gcp_are_other_services():
    azure = CASES["azure_cost"].cells
    machine = {
        **azure,
        "MeterCategory": "Virtual Machines",
        "MeterSubCategory": "ND",
        "MeterName": "ND96 Input",
        "ProductName": "VM",
        "UnitOfMeasure": "1K",
    }
    report = usage(azure, machine)
    assert {m.model: m.billing for m in report.models} == {"gpt alpha": "api", "ND96 Input": "other"}
    assert report.totals.new_input_tokens == 1_500_000
    gcp = CASES["gcp_billing"].cells
    disk = {**gcp, "Service description": "Compute", "SKU description": "Input disk", "Usage unit": "1K tokens"}
    report = usage(gcp, disk)
    assert {m.model: m.billing for m in report.models} == {"Alpha": "api", "Compute": "other"}
    assert report.totals.new_input_tokens == 4000


GCP = {
    "service": {"description": "Vertex AI"},
    "sku": {"description": "Alpha Output Tokens"},
    "usage_start_time": "2026-06-01 00:00:00 UTC",
    "usage_end_time": "2026-06-01 01:00:00 UTC",
    "cost": 5.0,
    "currency": "EUR",
    "usage": {"amount": 4000, "unit": "count"},
}


@pytest.mark.parametrize(
    ("credits", "net"),
    [
        ([], "5.0"),
        ([{"amount": -1.5}, {"amount": "-0.5"}], "3.0"),
        ([{"amount": None}, "x", {}], "5.0"),
        ('[{"name": "promo", "amount": -1.5}, {"amount": -0.25}]', "3.25"),
        ("none", "5.0"),
        (None, "5.0"),
    ],
)
def test_credits_of_gcp_are_taken_off(credits: Any, net: str):
    told = amounts(of_json({**GCP, "credits": credits}, kind="gcp_billing"))
    assert told["spend"] == f"{net} EUR"
    assert told["output"] == 4000


@pytest.mark.parametrize(
    ("sku", "unit", "output"),
    [
        ("Alpha Output Tokens", "counts", 4000),
        ("Alpha Output", "count", None),
        ("Alpha Output", "1K tokens", 4_000_000),
        ("Alpha Output Tokens", "hour", None),
    ],
)
def test_counts_of_gcp_are_tokens_where_the_sku_says_so(sku: str, unit: str, output: int | None):
    item = {**GCP, "sku": {"description": sku}, "usage": {"amount": 4000, "unit": unit}}
    assert amounts(of_json(item, kind="gcp_billing")).get("output") == output


@pytest.mark.parametrize(
    ("sku", "model"),
    [
        ("USE1-Alpha-2-input-tokens", "Alpha-2"),
        ("Alpha 2.5 Pro Input Text Tokens - Global", "Alpha 2.5 Pro"),
        ("gpt 4.1 cchd Inp glbl Tokens", "gpt 4.1"),
        ("AWS Marketplace software usage|us-east-1|Alpha", "us-east-1|Alpha"),
        ("Alpha  Flash   Output", "Alpha Flash"),
        ("Alpha Pro for prompts longer than two hundred thousand tokens in one region", "Alpha Pro"),
        ("Alpha for output tokens", "Alpha for"),
    ],
)
def test_one_models_meters_share_a_name(sku: str, model: str):
    assert amounts(case("focus", SkuPriceDetails="", SkuId=sku))["model"] == model


# ---------------------------------------------------------------------------------------------------- any other tool


@pytest.mark.parametrize(
    ("header", "scale"),
    [
        ("Input tokens (K)", 1_000),
        ("Input tokens [k]", 1_000),
        ("Input tokens (Tsd.)", 1_000),
        ("Input tokens (thousands)", 1_000),
        ("Input tokens (Tausend)", 1_000),
        ("Input tokens (ktok)", 1_000),
        ("Input tokens (1000)", 1_000),
        ("Input tokens (M)", 1_000_000),
        ("Input tokens (Mio.)", 1_000_000),
        ("Input tokens (million)", 1_000_000),
        ("Input tokens (Mtok)", 1_000_000),
        ("Input tokens (M tokens)", 1_000_000),
        ("Input tokens", 1),
        ("Input tokens (new)", 1),
    ],
)
def test_the_unit_of_a_token_column_is_in_its_name(header: str, scale: int):
    report = usage({"date": "2026-06-01", header: "3", "output_tokens": "1"})
    assert report.totals.input_tokens == 3 * scale
    assert report.totals.output_tokens == 1
    scaled = [n.places for n in report.notes if getattr(n, "key", "") == "import_note.scaled"]  # type: ignore[attr-defined]
    assert scaled == ([{"column": header, "n": f"{scale:,}"}] if scale > 1 else [])


@pytest.mark.parametrize(
    ("column", "scale"),
    [("in_mtok", 10**6), ("rein_millions", 10**6), ("in_ktok", 10**3), ("Tokens in Mio", 10**6), ("Tok in Tsd", 10**3)],
)
def test_the_unit_of_a_mapped_column(column: str, scale: int):
    rows = ({column: "1.5", "out": "1"}, {column: "", "out": "1"}, {column: "-1", "out": "1"})
    report = usage(*rows, mapping={"input_tokens": column, "output_tokens": "out"})
    assert report.totals.input_tokens == 1.5 * scale
    (refused,) = report.refused
    assert (refused.line, refused.why) == (4, "'-1' is a negative count")


@pytest.mark.parametrize(
    ("header", "spend", "asked"),
    [
        ("cost_usd", "2.50 USD", False),
        ("Cost (USD)", "2.50 USD", False),
        ("Kosten_EUR", "2.50 EUR", False),
        ("cost_eur", "2.50 EUR", False),
        ("Cost ($)", "2.50 USD", False),
        ("Cost (€)", "2.50 EUR", False),
        ("Cost £", "2.50 GBP", False),
        ("cost (cny)", "2.50 CNY", False),
        ("Cost (GBP)", "2.50 GBP", False),
        ("cost", "2.50 USD", True),
        ("cost_cents", "0.025 USD", True),
        ("Amount cents", "0.025 USD", True),
        ("usd", "2.50 USD", False),
    ],
)
def test_the_currency_of_a_cost_column_is_in_its_name_or_asked(header: str, spend: str, asked: bool):
    report = usage({"date": "2026-06-01", "model": "a", header: "2.50"})
    assert amounts(report)["spend"] == spend
    assert (keys(report.questions) == ["import_ask.usd"]) is asked
    assert ("import_note.usd_assumed" in keys(report.notes)) is asked
    assert ("import_unit.cents" in keys(report.units)) is ("cents" in header)
    assert report.totals.total_tokens is None


def test_a_cell_with_a_currency_needs_no_question():
    report = usage({"date": "2026-06-01", "model": "a", "cost": "€2.50"})
    assert (amounts(report)["spend"], report.questions) == ("2.50 EUR", ())


@pytest.mark.parametrize("left", ["input_tokens", "output_tokens", "requests", "cost", "new_input_tokens"])
def test_one_figure_is_enough_for_a_row(left: str):
    figures = ("input_tokens", "output_tokens", "requests", "cost", "new_input_tokens")
    row = {"date": "2026-06-01", **{c: "7" if c == left else "" for c in figures}}
    report = usage(row, mapping={"time": "date", **{c: c for c in figures}})
    assert (report.rows_read, report.rows_empty) == (1, 0)
    nothing = usage({**row, left: ""}, mapping={"time": "date", **{c: c for c in figures}})
    assert (nothing.rows_empty, nothing.coverage.hours) == (1, 24)


@pytest.mark.parametrize(
    ("columns", "enough"),
    [
        (("input_tokens", "output_tokens"), True),
        (("new_input_tokens", "output_tokens"), True),
        (("cost",), True),
        (("requests", "time"), True),
        (("input_tokens",), False),
        (("output_tokens", "time"), False),
        (("requests",), False),
        (("time", "model", "total_tokens"), False),
    ],
)
def test_what_a_mapping_needs(columns: tuple[str, ...], enough: bool):
    row = {**{c: "7" if c != "time" else "2026-06-01" for c in columns}, "other": "x"}
    mapping = {c: c for c in columns}
    if enough:
        assert usage(row, mapping=mapping).rows_read == 1
        assert guess_mapping(table(row)).enough
        return
    with pytest.raises(ImportRefused) as caught:
        usage(row, mapping=mapping)
    assert caught.value.args[0].key == "import_refused.not_enough"
    assert caught.value.args[0].places["columns"] == ", ".join([*columns, "other"])
    assert not guess_mapping(table(row)).enough


def test_a_mapping_names_what_it_does_not_know():
    row = {"a": "1", "b": "2"}
    with pytest.raises(ImportRefused) as caught:
        usage(row, mapping={"tokens": "a"})
    assert caught.value.args[0].key == "import_refused.no_field"
    assert caught.value.args[0].places["field"] == "'tokens'"
    assert "cache_write_1h_tokens" in caught.value.args[0].places["fields"]
    with pytest.raises(ImportRefused) as caught:
        usage(row, mapping={"input_tokens": "a", "output_tokens": "c"})
    assert caught.value.args[0].key == "import_refused.no_column"
    assert caught.value.args[0].places == {"column": "'c'", "field": "output_tokens", "columns": "a, b"}


def test_a_mapping_may_leave_fields_open_and_finds_names_by_their_letters():
    report = usage(
        {"In Tokens": "5", "OUT": "1"}, mapping={"input_tokens": "in_tokens", "output_tokens": "out", "model": ""}
    )
    assert (report.totals.input_tokens, report.totals.output_tokens) == (5, 1)
    assert note(report, "import_note.columns_used") == {"columns": "input_tokens = In Tokens; output_tokens = OUT"}


def test_two_columns_of_one_name_are_told_apart():
    exact = usage(
        {"tokens": "5", "Tokens": "7", "out": "1"}, mapping={"input_tokens": "Tokens", "output_tokens": "out"}
    )
    assert exact.totals.input_tokens == 7


def test_a_column_is_used_for_one_field_only():
    guess = guess_mapping(table({"date": "2026-06-01", "input": "1", "output": "2", "cost (usd)": "3", "count": "4"}))
    assert guess.guess == {
        "time": "date",
        "input_tokens": "input",
        "output_tokens": "output",
        "requests": "count",
        "cost": "cost (usd)",
    }


def test_cached_tokens_inside_or_beside_are_said():
    inside = usage({"date": "2026-06-01", "input_tokens": "9", "cached_tokens": "4", "output_tokens": "1"})
    assert "import_note.cached_inside" in keys(inside.notes)
    beside = usage({"date": "2026-06-01", "new_input_tokens": "9", "cached_tokens": "4", "output_tokens": "1"})
    assert "import_note.cached_inside" not in keys(beside.notes)
    assert (inside.totals.new_input_tokens, beside.totals.new_input_tokens) == (5, 9)


@pytest.mark.parametrize("name", ["cache_read_input_tokens", "cache_creation_input_tokens"])
def test_anthropics_names_mean_beside(name: str):
    total = usage({"date": "2026-06-01", "input_tokens": "9", name: "4", "output_tokens": "1"}).totals
    assert (total.new_input_tokens, total.input_tokens) == (9, 13)
    prompt = usage({"date": "2026-06-01", "prompt_tokens": "9", name: "4", "output_tokens": "1"}).totals
    assert (prompt.new_input_tokens, prompt.input_tokens) == (5, 9)


@pytest.mark.parametrize(
    ("cell", "hours"),
    [("2026-01", 31 * 24), ("2026-02", 28 * 24), ("2026/04", 30 * 24), ("2026.12", 31 * 24), ("2026-2", 28 * 24)],
)
def test_a_row_of_a_month_is_as_long_as_the_month(cell: str, hours: int):
    report = usage({"month": cell, "model": "a", "cost_usd": "1"})
    assert report.coverage.hours == hours
    ended = usage({"month": cell, "end": "2027-01-01", "model": "a", "cost_usd": "1"})
    assert ended.coverage.hours is not None
    assert ended.coverage.hours >= hours
