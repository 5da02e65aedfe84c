"""Every column of every export: each name it may have, what it says, and what is unknown without it.

A case is one row. Its cells are named as the provider writes them; `aliases` are the other names of a column, `says` is
what the row adds up to by hand, `without` what changes when a column is left out.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest

from calculators.usage_import import ImportRefused, UsageReport, read

DAY, HALF_DAY = 24.0, 12.0
"""Hours that a row covers: a whole day where only its start is known, else until its end."""


@dataclass(frozen=True)
class Case:
    """One export of one row."""

    kind: str
    cells: dict[str, str]
    says: dict[str, Any]
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    without: dict[str, dict[str, Any]] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    """Columns without which the file is not of this kind."""


def table(*rows: dict[str, str]) -> bytes:
    """A CSV of rows that share their columns, each cell quoted."""

    def line(cells: Any) -> str:
        return ",".join('"' + str(c).replace('"', '""') + '"' for c in cells)

    return "\n".join([line(rows[0]), *(line(row.values()) for row in rows)]).encode()


def amounts(report: UsageReport) -> dict[str, Any]:
    """What a report of one record says, without what is unknown."""
    (record,) = report.records
    a = record.amounts
    values = {
        "period": record.period,
        "model": record.model,
        "billing": record.billing,
        "hours": report.coverage.hours,
        "new": a.new_input_tokens,
        "cached": a.cached_input_tokens,
        "write_5m": a.cache_write_5m_tokens,
        "write_1h": a.cache_write_1h_tokens,
        "output": a.output_tokens,
        "requests": a.requests,
        "spend": " ".join(f"{v} {c}" for c, v in a.spend.items()) or None,
        "list": " ".join(f"{v} {c}" for c, v in a.list_spend.items()) or None,
        "batch": report.batch_tokens,
        "per_request": report.per_request or None,
    }
    return {k: v for k, v in values.items() if v is not None}


def said_by(case: Case, cells: dict[str, str]) -> dict[str, Any]:
    report = read(table(cells), kind=case.kind)
    assert isinstance(report, UsageReport)
    assert report.kind == case.kind
    return amounts(report)


def changed(says: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in {**says, **change}.items() if v is not None}


NO_DATE = {"period": "", "hours": None}
NO_MODEL = {"model": "(no model named)"}

CASES = {
    "anthropic_usage": Case(
        "anthropic_usage",
        {
            "usage_date_utc": "2026-06-01",
            "model_version": "claude-alpha",
            "usage_type": "standard",
            "usage_input_tokens_no_cache": "1000",
            "usage_input_tokens_cache_write_5m": "200",
            "usage_input_tokens_cache_write_1h": "100",
            "usage_input_tokens_cache_read": "5000",
            "usage_output_tokens": "300",
        },
        {
            "period": "2026-06-01",
            "model": "claude-alpha",
            "billing": "api",
            "hours": DAY,
            "new": 1000,
            "write_5m": 200,
            "write_1h": 100,
            "cached": 5000,
            "output": 300,
        },
        {
            "usage_date_utc": ("usage_date", "date", "usage_hour_utc", "starting_at"),
            "model_version": ("model",),
            "usage_input_tokens_no_cache": ("uncached_input_tokens",),
        },
        {
            "usage_date_utc": NO_DATE,
            "model_version": NO_MODEL,
            "usage_input_tokens_cache_read": {"cached": None},
            "usage_input_tokens_cache_write_5m": {"write_5m": None},
            "usage_input_tokens_cache_write_1h": {"write_1h": 0},
        },
        ("usage_input_tokens_no_cache", "usage_output_tokens"),
    ),
    "anthropic_usage of a batch": Case(
        "anthropic_usage",
        {
            "usage_date_utc": "2026-06-01",
            "model_version": "a",
            "usage_type": "Batch",
            "usage_input_tokens_no_cache": "1000",
            "usage_input_tokens_cache_write_5m": "200",
            "usage_input_tokens_cache_write_1h": "100",
            "usage_input_tokens_cache_read": "5000",
            "usage_output_tokens": "300",
        },
        {
            "period": "2026-06-01",
            "model": "a",
            "billing": "api",
            "hours": DAY,
            "new": 1000,
            "write_5m": 200,
            "write_1h": 100,
            "cached": 5000,
            "output": 300,
            "batch": 6600,
        },
        {"usage_type": ("service_tier",)},
        {
            "usage_type": {"batch": None},
            "usage_input_tokens_cache_read": {"cached": None, "batch": 1600},
        },
    ),
    "anthropic_cost": Case(
        "anthropic_cost",
        {
            "usage_date_utc": "2026-06-01",
            "model": "Claude Alpha",
            "token_type": "output",
            "cost_usd": "1.25",
            "list_price_usd": "1.50",
        },
        {
            "period": "2026-06-01",
            "model": "Claude Alpha",
            "billing": "api",
            "hours": DAY,
            "spend": "1.25 USD",
            "list": "1.50 USD",
        },
        {"usage_date_utc": ("date",), "model": ("model_version",), "token_type": ("cost_type",)},
        {"model": NO_MODEL, "list_price_usd": {"list": None}},
        ("usage_date_utc", "token_type", "cost_usd"),
    ),
    "openai_usage": Case(
        "openai_usage",
        {
            "start_time": "1780272000",
            "end_time": "1780315200",
            "model": "gpt-alpha",
            "input_tokens": "1000",
            "input_cached_tokens": "400",
            "input_cache_write_tokens": "50",
            "output_tokens": "70",
            "num_model_requests": "3",
            "batch": "false",
        },
        {
            "period": "2026-06-01",
            "model": "gpt-alpha",
            "billing": "api",
            "hours": HALF_DAY,
            "new": 550,
            "cached": 400,
            "write_5m": 50,
            "output": 70,
            "requests": 3,
        },
        {
            "start_time": ("timestamp", "aggregation_timestamp", "date", "start_time_iso"),
            "end_time": ("end_time_iso",),
            "model": ("snapshot_id",),
            "input_tokens": ("n_context_tokens_total",),
            "input_cached_tokens": ("n_cached_context_tokens_total", "cached_input_tokens", "cached_tokens"),
            "input_cache_write_tokens": ("input_cache_creation_tokens",),
            "output_tokens": ("n_generated_tokens_total",),
            "num_model_requests": ("n_requests",),
        },
        {
            "model": NO_MODEL,
            "end_time": {"hours": DAY},
            "input_cached_tokens": {"cached": None, "new": 950},
            "input_cache_write_tokens": {"write_5m": None, "new": 600},
            "batch": {},
        },
        ("start_time", "input_tokens", "output_tokens", "num_model_requests"),
    ),
    "openai_usage of a batch": Case(
        "openai_usage",
        {
            "start_time": "2026-06-01",
            "model": "a",
            "input_tokens": "1000",
            "output_tokens": "70",
            "num_model_requests": "3",
            "batch": "True",
            "service_tier": "default",
        },
        {
            "period": "2026-06-01",
            "model": "a",
            "billing": "api",
            "hours": DAY,
            "new": 1000,
            "output": 70,
            "requests": 3,
            "batch": 1070,
        },
        {},
        {"batch": {"batch": None}, "service_tier": {}},
    ),
    "openai_costs": Case(
        "openai_costs",
        {
            "start_time": "1780272000",
            "end_time": "1780315200",
            "amount_value": "2.50",
            "amount_currency": "eur",
            "line_item": "gpt-alpha, cached input",
            "quantity": "3",
            "quantity_unit": "1k tokens",
        },
        {
            "period": "2026-06-01",
            "model": "gpt-alpha",
            "billing": "api",
            "hours": HALF_DAY,
            "spend": "2.50 EUR",
            "cached": 3000,
        },
        {
            "start_time": ("start_time_iso",),
            "end_time": ("end_time_iso",),
            "amount_value": ("amount.value",),
            "amount_currency": ("amount.currency",),
        },
        {
            "end_time": {"hours": DAY},
            "line_item": {**NO_MODEL, "cached": None},
            "quantity": {"cached": None},
            "quantity_unit": {"cached": None},
        },
        ("start_time", "amount_value", "amount_currency"),
    ),
    "openrouter by day": Case(
        "openrouter",
        {
            "Date": "2026-06-01 00:00:00",
            "Slug": "maker/alpha",
            "Usage": "10.50",
            "BYOK Usage": "0",
            "Requests": "7",
            "Prompt Tokens": "1000",
            "Completion Tokens": "70",
            "Cached Tokens": "400",
            "Provider Name": "P",
        },
        {
            "period": "2026-06-01",
            "model": "maker/alpha",
            "billing": "api",
            "hours": DAY,
            "new": 600,
            "cached": 400,
            "output": 70,
            "requests": 7,
            "spend": "10.50 USD",
        },
        {
            "Date": ("created_at", "timestamp"),
            "Slug": ("model_permaslug", "model"),
            "Usage": ("cost_total", "total_cost", "cost"),
            "BYOK Usage": ("byok_usage_inference",),
            "Completion Tokens": ("tokens_completion",),
            "Cached Tokens": ("tokens_cached", "native_tokens_cached"),
            "Provider Name": ("provider",),
        },
        {
            "Date": NO_DATE,
            "Usage": {"spend": None},
            "Requests": {"requests": None},
            "Completion Tokens": {"output": 0},
            "Cached Tokens": {"cached": None, "new": 1000},
            "Provider Name": {},
        },
        ("Slug", "BYOK Usage", "Prompt Tokens"),
    ),
    "openrouter by generation": Case(
        "openrouter",
        {
            "generation_id": "gen-1",
            "created_at": "2026-06-01 10:30:00",
            "model_permaslug": "maker/alpha",
            "variant": "free",
            "cost_total": "0",
            "tokens_prompt": "1000",
            "tokens_completion": "70",
        },
        {
            "period": "2026-06-01T10:00:00Z",
            "model": "maker/alpha",
            "billing": "free",
            "new": 1000,
            "output": 70,
            "requests": 1,
            "spend": "0 USD",
            "per_request": True,
        },
        {},
        {"variant": {"billing": "api"}, "cost_total": {"spend": None}},
        ("model_permaslug", "tokens_prompt"),
    ),
    "litellm_logs": Case(
        "litellm_logs",
        {
            "startTime": "2026-06-01T10:00:05Z",
            "model": "gpt-alpha",
            "model_group": "group",
            "custom_llm_provider": "openai",
            "api_base": "https://api.openai.com/v1",
            "prompt_tokens": "1000",
            "completion_tokens": "70",
            "total_tokens": "1070",
            "cache_read_input_tokens": "400",
            "cache_creation_input_tokens": "50",
            "spend": "1.25",
            "status": "success",
            "cache_hit": "False",
        },
        {
            "period": "2026-06-01T10:00:00Z",
            "model": "gpt-alpha",
            "billing": "api",
            "new": 550,
            "cached": 400,
            "write_5m": 50,
            "output": 70,
            "requests": 1,
            "spend": "1.25 USD",
            "per_request": True,
        },
        {"startTime": ("start_time",), "cache_read_input_tokens": ("cached_tokens",)},
        {
            "model": {"model": "group"},
            "model_group": {},
            "custom_llm_provider": {},
            "api_base": {},
            "cache_hit": {},
            "status": {},
            "total_tokens": {},
            "cache_read_input_tokens": {"cached": None, "new": 950},
            "cache_creation_input_tokens": {"write_5m": None, "new": 600},
        },
        ("startTime", "prompt_tokens", "completion_tokens", "spend"),
    ),
    "litellm_logs whose total tells that the cache stands beside": Case(
        "litellm_logs",
        {
            "startTime": "2026-06-01T10:00:05Z",
            "model": "a",
            "prompt_tokens": "100",
            "completion_tokens": "10",
            "total_tokens": "150",
            "cached_tokens": "40",
            "spend": "0",
        },
        {
            "period": "2026-06-01T10:00:00Z",
            "model": "a",
            "billing": "api",
            "new": 100,
            "cached": 40,
            "output": 10,
            "requests": 1,
            "spend": "0 USD",
            "per_request": True,
        },
        {},
        {"total_tokens": {"new": 60}},
    ),
    "litellm_export": Case(
        "litellm_export",
        {
            "Date": "2026-06-01",
            "Team": "core",
            "Model": "gpt-alpha",
            "Provider": "openai",
            "Spend ($)": "1,234.50",
            "Requests": "7",
            "Prompt Tokens": "1000",
            "Completion Tokens": "70",
            "Total Tokens": "1070",
            "cache_read_input_tokens": "400",
            "cache_creation_input_tokens": "50",
        },
        {
            "period": "2026-06-01",
            "model": "gpt-alpha",
            "billing": "api",
            "hours": DAY,
            "new": 550,
            "cached": 400,
            "write_5m": 50,
            "output": 70,
            "requests": 7,
            "spend": "1234.50 USD",
        },
        {
            "Team": (
                "team_id",
                "team_alias",
                "key_alias",
                "api_key_alias",
                "user_id",
                "tag",
                "organization",
                "successful_requests",
                "successful",
                "entity",
            ),
            "Model": ("model_group",),
            "Provider": ("custom_llm_provider",),
            "Spend ($)": ("spend", "total_spend"),
            "Requests": ("api_requests", "total_requests"),
            "Prompt Tokens": ("input_tokens",),
            "Completion Tokens": ("output_tokens",),
            "Total Tokens": ("tokens",),
            "cache_read_input_tokens": ("cache_read_tokens",),
            "cache_creation_input_tokens": ("cache_creation_tokens",),
        },
        {
            "Model": NO_MODEL,
            "Provider": {},
            "Requests": {"requests": None},
            "Prompt Tokens": {"new": None},
            "Completion Tokens": {"output": None},
            "Total Tokens": {},
            "cache_read_input_tokens": {"cached": None, "new": 950},
            "cache_creation_input_tokens": {"write_5m": None, "new": 600},
        },
        ("Date", "Team", "Spend ($)"),
    ),
    "litellm_export whose total tells that the cache stands beside": Case(
        "litellm_export",
        {
            "date": "2026-06-01",
            "team": "core",
            "model": "qwen",
            "provider": "hosted_vllm",
            "spend": "0",
            "requests": "1",
            "prompt_tokens": "100",
            "completion_tokens": "10",
            "total_tokens": "150",
            "cache_read_tokens": "40",
        },
        {
            "period": "2026-06-01",
            "model": "qwen",
            "billing": "self-hosted",
            "hours": DAY,
            "new": 100,
            "cached": 40,
            "output": 10,
            "requests": 1,
            "spend": "0 USD",
        },
        {"provider": ("custom_llm_provider",), "total_tokens": ("tokens",)},
        {"provider": {"billing": "api"}, "total_tokens": {"new": 60}},
    ),
    "deepseek_cost": Case(
        "deepseek_cost",
        {
            "utc_date": "2026-06-01",
            "end_time_iso": "2026-06-01T12:00:00Z",
            "model": "deepseek-alpha",
            "wallet_type": "Paid",
            "cost": "1.25",
            "currency": "usd",
        },
        {
            "period": "2026-06-01",
            "model": "deepseek-alpha",
            "billing": "api",
            "hours": HALF_DAY,
            "spend": "1.25 USD",
        },
        {"utc_date": ("start_time_iso", "date")},
        {"utc_date": NO_DATE, "end_time_iso": {"hours": DAY}},
        ("wallet_type", "cost", "currency", "model"),
    ),
    "langfuse by bucket": Case(
        "langfuse",
        {
            "traceId": "t",
            "type": "GENERATION",
            "startTime": "2026-06-01T10:30:00Z",
            "providedModelName": "gpt-alpha",
            "usageDetails": '{"input": 600, "input_cached_tokens": 400, "output": 100, "total": 1100}',
            "costDetails": '{"input": 0.25, "total": 0.75}',
            "totalCost": "0.5",
        },
        {
            "period": "2026-06-01T10:00:00Z",
            "model": "gpt-alpha",
            "billing": "api",
            "new": 600,
            "cached": 400,
            "output": 100,
            "requests": 1,
            "spend": "0.5 USD",
            "per_request": True,
        },
        {
            "startTime": ("start_time", "timestamp"),
            "providedModelName": ("model", "internalModel", "modelId"),
            "usageDetails": ("usage_details",),
            "totalCost": ("calculatedTotalCost", "calculated_total_cost", "cost"),
        },
        {
            "type": {},
            "providedModelName": NO_MODEL,
            "totalCost": {"spend": "0.75 USD"},
            "costDetails": {},
        },
        ("traceId", "startTime", "usageDetails"),
    ),
    "langfuse by column": Case(
        "langfuse",
        {
            "traceId": "t",
            "startTime": "2026-06-01T10:30:00Z",
            "model": "gpt-alpha",
            "usageDetails": "",
            "promptTokens": "1000",
            "completionTokens": "70",
            "totalTokens": "1070",
            "cost_details": '{"total": 0.75}',
        },
        {
            "period": "2026-06-01T10:00:00Z",
            "model": "gpt-alpha",
            "billing": "api",
            "new": 1000,
            "output": 70,
            "requests": 1,
            "spend": "0.75 USD",
            "per_request": True,
        },
        {
            "promptTokens": ("inputUsage", "inputTokens", "usage.input", "usage.promptTokens"),
            "completionTokens": ("outputUsage", "outputTokens", "usage.output", "usage.completionTokens"),
        },
        {"promptTokens": {"new": 0}, "completionTokens": {"output": 0}, "cost_details": {"spend": None}},
    ),
    "helicone": Case(
        "helicone",
        {
            "request_id": "1",
            "request_created_at": "2026-06-01T10:30:00Z",
            "request_model": "gpt-alpha",
            "response_model": "gpt-alpha-2026",
            "provider": "OPENAI",
            "target_url": "https://api.openai.com/v1",
            "prompt_tokens": "1000",
            "completion_tokens": "70",
            "total_tokens": "1070",
            "prompt_cache_read_tokens": "400",
            "prompt_cache_write_tokens": "50",
            "costUSD": "0.25",
        },
        {
            "period": "2026-06-01T10:00:00Z",
            "model": "gpt-alpha-2026",
            "billing": "api",
            "new": 550,
            "cached": 400,
            "write_5m": 50,
            "output": 70,
            "requests": 1,
            "spend": "0.25 USD",
            "per_request": True,
        },
        {
            "request_created_at": ("requestCreatedAt", "response_created_at"),
            "response_model": ("responseModel",),
            "prompt_cache_read_tokens": ("promptCacheReadTokens",),
            "prompt_cache_write_tokens": ("promptCacheWriteTokens",),
            "target_url": ("targetUrl",),
            "costUSD": ("cost_usd", "cost", "costs", "Cost (USD)"),
        },
        {
            "response_model": {"model": "gpt-alpha"},
            "request_model": {},
            "provider": {},
            "target_url": {},
            "total_tokens": {},
            "prompt_cache_read_tokens": {"cached": None, "new": 950},
            "prompt_cache_write_tokens": {"write_5m": None, "new": 600},
            "costUSD": {"spend": None},
        },
        ("request_created_at", "prompt_tokens", "completion_tokens"),
    ),
    "helicone with a total that tells that the cache stands beside": Case(
        "helicone",
        {
            "helicone_user": "u",
            "created_at": "2026-06-01T10:30:00Z",
            "model": "qwen",
            "target_url": "http://localhost:8000/v1",
            "prompt_tokens": "100",
            "completion_tokens": "10",
            "total_tokens": "150",
            "prompt_cache_read_tokens": "40",
        },
        {
            "period": "2026-06-01T10:00:00Z",
            "model": "qwen",
            "billing": "self-hosted",
            "new": 100,
            "cached": 40,
            "output": 10,
            "requests": 1,
            "per_request": True,
        },
        {"created_at": ("createdAt", "Created At"), "model": ("request_model", "response_model")},
        {"target_url": {"billing": "api"}, "total_tokens": {"new": 60}, "created_at": {"period": ""}},
        ("helicone_user", "model"),
    ),
    "azure_trace": Case(
        "azure_trace",
        {"TIMESTAMP": "2026-06-01 18:30:00.0000000", "ContextTokens": "1000", "GeneratedTokens": "10"},
        {
            "period": "2026-06-01T18:00:00Z",
            "model": "(trace)",
            "billing": "api",
            "new": 1000,
            "output": 10,
            "requests": 1,
            "per_request": True,
        },
        {},
        {},
        ("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    ),
    "burstgpt": Case(
        "burstgpt",
        {"Timestamp": "7205", "Model": "GPT-4", "Request tokens": "400", "Response tokens": "20"},
        {
            "period": "+0 h",
            "model": "GPT-4",
            "billing": "api",
            "new": 400,
            "output": 20,
            "requests": 1,
            "per_request": True,
        },
        {},
        {"Model": NO_MODEL},
        ("Timestamp", "Request tokens", "Response tokens"),
    ),
    "mooncake": Case(
        "mooncake",
        {"timestamp": "7200000", "input_length": "400", "output_length": "20", "session": "s"},
        {
            "period": "+0 h",
            "model": "(trace)",
            "billing": "api",
            "new": 400,
            "output": 20,
            "requests": 1,
            "per_request": True,
        },
        {},
        {},
        ("timestamp", "input_length", "output_length"),
    ),
    "focus": Case(
        "focus",
        {
            "ChargePeriodStart": "2026-06-01T00:00:00Z",
            "ChargePeriodEnd": "2026-06-01T12:00:00Z",
            "BilledCost": "10.00",
            "EffectiveCost": "10.00",
            "ListCost": "12.00",
            "BillingCurrency": "EUR",
            "ChargeCategory": "Usage",
            "ChargeDescription": "Input tokens of alpha",
            "ServiceName": "Gen API",
            "ServiceCategory": "AI and Machine Learning",
            "ServiceProviderName": "Maker",
            "SkuId": "alpha-in",
            "SkuMeter": "Input Tokens",
            "SkuPriceDetails": '{"ModelId": "alpha"}',
            "ConsumedQuantity": "5000",
            "ConsumedUnit": "Tokens",
            "PricingQuantity": "7",
            "PricingUnit": "1K tokens",
        },
        {
            "period": "2026-06-01",
            "model": "alpha",
            "billing": "api",
            "hours": HALF_DAY,
            "new": 5000,
            "spend": "10.00 EUR",
            "list": "12.00 EUR",
        },
        {
            "ChargePeriodStart": ("BillingPeriodStart",),
            "ChargePeriodEnd": ("BillingPeriodEnd",),
            "SkuPriceDetails": ("x_SkuDetails",),
        },
        {
            "ChargePeriodEnd": {"hours": DAY},
            "EffectiveCost": {},
            "ListCost": {"list": None},
            "ChargeCategory": {},
            "ChargeDescription": {},
            "ServiceName": {},
            "ServiceCategory": {},
            "SkuPriceDetails": {"model": "alpha-in"},
            "SkuMeter": {},
            "ConsumedQuantity": {"new": 7000},
            "ConsumedUnit": {"new": 7000},
            "PricingQuantity": {},
        },
        ("ChargePeriodStart", "BilledCost", "BillingCurrency"),
    ),
    "focus of a service without tokens": Case(
        "focus",
        {
            "BillingPeriodStart": "2026-06-01",
            "BillingPeriodEnd": "2026-06-02",
            "BilledCost": "10.00",
            "BillingCurrency": "USD",
            "ServiceName": "Gen API",
            "ServiceCategory": "AI and Machine Learning",
            "ProviderName": "Maker",
            "ChargeDescription": "Seats",
        },
        {
            "period": "2026-06-01",
            "model": "Gen API",
            "billing": "api",
            "hours": DAY,
            "spend": "10.00 USD",
        },
        {},
        {"ServiceName": {"model": "Maker"}, "ServiceCategory": {}, "ProviderName": {}, "ChargeDescription": {}},
    ),
    "focus that names only who provides": Case(
        "focus",
        {
            "BillingPeriodStart": "2026-06-01",
            "BillingPeriodEnd": "2026-06-02",
            "BilledCost": "",
            "EffectiveCost": "9.00",
            "BillingCurrency": "USD",
            "ServiceProviderName": "Maker",
            "ChargeDescription": "Seats",
        },
        {
            "period": "2026-06-01",
            "model": "Maker",
            "billing": "api",
            "hours": DAY,
            "spend": "9.00 USD",
        },
        {"ServiceProviderName": ("ProviderName", "PublisherName")},
        {"ServiceProviderName": {"model": "Seats"}},
    ),
    "aws_cur": Case(
        "aws_cur",
        {
            "lineItem/UsageStartDate": "2026-06-01T00:00:00Z",
            "lineItem/UsageEndDate": "2026-06-01T12:00:00Z",
            "lineItem/ProductCode": "AmazonBedrock",
            "lineItem/UsageType": "USE1-Alpha-input-tokens",
            "lineItem/UsageAmount": "1500",
            "lineItem/CurrencyCode": "EUR",
            "lineItem/UnblendedCost": "4.50",
            "lineItem/LineItemDescription": "Alpha",
            "product/ProductName": "Amazon Bedrock",
            "pricing/unit": "1K tokens",
            "pricing/publicOnDemandCost": "5.50",
        },
        {
            "period": "2026-06-01",
            "model": "Alpha",
            "billing": "api",
            "hours": HALF_DAY,
            "new": 1_500_000,
            "spend": "4.50 EUR",
            "list": "5.50 EUR",
        },
        {
            "lineItem/UsageStartDate": ("line_item_usage_start_date",),
            "lineItem/UsageEndDate": ("line_item_usage_end_date",),
            "lineItem/ProductCode": ("line_item_product_code",),
            "lineItem/UsageType": ("line_item_usage_type",),
            "lineItem/UsageAmount": ("line_item_usage_amount",),
            "lineItem/CurrencyCode": ("line_item_currency_code",),
            "lineItem/UnblendedCost": ("line_item_unblended_cost",),
            "lineItem/LineItemDescription": ("line_item_line_item_description",),
            "product/ProductName": ("product_product_name", "product/servicename"),
            "pricing/unit": ("pricing_unit",),
            "pricing/publicOnDemandCost": ("pricing_public_on_demand_cost",),
        },
        {
            "lineItem/UsageEndDate": {"hours": DAY},
            "lineItem/ProductCode": {},
            "lineItem/UsageAmount": {"new": None},
            "lineItem/CurrencyCode": {"spend": "4.50 USD", "list": "5.50 USD"},
            "lineItem/LineItemDescription": {},
            "product/ProductName": {},
            "pricing/unit": {"new": 1500},
            "pricing/publicOnDemandCost": {"list": None},
        },
        ("lineItem/UsageStartDate", "lineItem/UsageType", "lineItem/UnblendedCost"),
    ),
    "aws_cur of a marketplace": Case(
        "aws_cur",
        {
            "line_item_usage_start_date": "2026-06-01",
            "line_item_usage_end_date": "2026-06-02",
            "line_item_product_code": "abc",
            "line_item_usage_type": "USE1-MP:USE1_Count-Units",
            "line_item_usage_amount": "2",
            "line_item_unblended_cost": "6.00",
            "line_item_line_item_description": "Million Output Tokens",
            "product": '{"product_name": "Claude Alpha"}',
        },
        {
            "period": "2026-06-01",
            "model": "Claude Alpha",
            "billing": "api",
            "hours": DAY,
            "output": 2_000_000,
            "spend": "6.00 USD",
        },
        {},
        {"product": {"model": "abc"}, "line_item_line_item_description": {"output": None}},
    ),
    "azure_cost": Case(
        "azure_cost",
        {
            "Date": "2026-06-13",
            "MeterCategory": "Foundry Models",
            "MeterSubCategory": "Alpha",
            "MeterName": "gpt alpha Inp glbl Tokens",
            "ProductName": "Models",
            "Quantity": "1500",
            "UnitOfMeasure": "1K",
            "CostInBillingCurrency": "3.00",
            "BillingCurrency": "EUR",
            "PaygCostInBillingCurrency": "3.75",
        },
        {
            "period": "2026-06-13",
            "model": "gpt alpha",
            "billing": "api",
            "hours": DAY,
            "new": 1_500_000,
            "spend": "3.00 EUR",
            "list": "3.75 EUR",
        },
        {
            "Date": ("UsageDateTime", "UsageDate", "Datum"),
            "MeterCategory": ("Verbrauchskategorie",),
            "MeterName": ("Meter",),
            "Quantity": ("UsageQuantity",),
            "ProductName": ("Product",),
            "CostInBillingCurrency": ("PreTaxCost", "Cost", "CostInPricingCurrency", "Kosten"),
            "BillingCurrency": (
                "BillingCurrencyCode",
                "Currency",
                "PricingCurrency",
                "Währung",
                "Abrechnungswährung",
            ),
        },
        {
            "MeterCategory": {},
            "MeterSubCategory": {},
            "ProductName": {},
            "Quantity": {"new": None},
            "UnitOfMeasure": {"new": 1500},
            "BillingCurrency": {"spend": "3.00 ?", "list": "3.75 ?"},
            "PaygCostInBillingCurrency": {"list": None},
            "MeterName": {"model": "Foundry Models", "new": None},
        },
        ("Date", "CostInBillingCurrency"),
    ),
    "azure_cost in dollars": Case(
        "azure_cost",
        {"Date": "2026-06-13", "Meter": "gpt alpha Outp", "CostUSD": "3.00", "Currency": "EUR", "Product": "OpenAI"},
        {
            "period": "2026-06-13",
            "model": "gpt alpha",
            "billing": "api",
            "hours": DAY,
            "spend": "3.00 USD",
        },
        {"CostUSD": ("costInUsd",)},
        {"Currency": {}},
    ),
    "gcp_billing": Case(
        "gcp_billing",
        {
            "Usage start date": "2026-06-01",
            "Usage end date": "2026-06-01 12:00",
            "Service description": "Vertex AI",
            "SKU description": "Alpha Input Tokens",
            "Cost ($)": "5.00",
            "List cost ($)": "6.00",
            "Usage amount": "4000",
            "Usage unit": "count",
        },
        {
            "period": "2026-06-01",
            "model": "Alpha",
            "billing": "api",
            "hours": HALF_DAY,
            "new": 4000,
            "spend": "5.00 USD",
            "list": "6.00 USD",
        },
        {
            "Usage start date": ("usage_start_time", "usage start time"),
            "Usage end date": ("usage_end_time",),
            "Service description": ("service.description",),
            "SKU description": ("sku.description",),
            "Cost ($)": ("Unrounded cost ($)", "Unrounded subtotal ($)", "Subtotal ($)"),
            "List cost ($)": ("cost_at_list",),
            "Usage amount": ("usage.amount",),
            "Usage unit": ("usage.unit",),
        },
        {
            "Usage start date": NO_DATE,
            "Usage end date": {"hours": DAY},
            "List cost ($)": {"list": None},
            "Usage amount": {"new": None},
            "Usage unit": {"new": None},
        },
        ("Service description", "SKU description", "Cost ($)"),
    ),
    "gcp_billing by the pricing unit": Case(
        "gcp_billing",
        {
            "service.description": "Vertex AI",
            "sku.description": "Alpha Output",
            "usage_start_time": "2026-06-01",
            "usage_end_time": "2026-06-02",
            "cost": "5.00",
            "currency": "EUR",
            "usage.amount": "4000",
            "usage.unit": "seconds",
            "usage.amount_in_pricing_units": "4",
            "usage.pricing_unit": "1K tokens",
        },
        {
            "period": "2026-06-01",
            "model": "Alpha",
            "billing": "api",
            "hours": DAY,
            "output": 4000,
            "spend": "5.00 EUR",
        },
        {},
        {
            "currency": {"spend": "5.00 ?"},
            "usage.amount_in_pricing_units": {"output": None},
            "usage.pricing_unit": {"output": None},
        },
    ),
    "generic": Case(
        "generic",
        {
            "date": "2026-06-01",
            "end": "2026-06-01 12:00",
            "model": "alpha",
            "input_tokens": "1000",
            "cached_tokens": "400",
            "cache_write_tokens": "50",
            "cache_write_1h_tokens": "20",
            "output_tokens": "70",
            "total_tokens": "1070",
            "requests": "7",
            "cost": "1.25",
            "currency": "EUR",
            "provider": "maker",
        },
        {
            "period": "2026-06-01",
            "model": "alpha",
            "billing": "api",
            "hours": HALF_DAY,
            "new": 530,
            "cached": 400,
            "write_5m": 50,
            "write_1h": 20,
            "output": 70,
            "requests": 7,
            "spend": "1.25 EUR",
        },
        {
            # date: every name of a time
            "date": (
                "timestamp",
                "time",
                "datetime",
                "day",
                "hour",
                "created_at",
                "created",
                "start_time",
                "StartTime",
                "start",
                "usage_date",
                "usage_date_utc",
                "period",
                "month",
                "Datum",
                "Zeit",
                "Zeitpunkt",
                "Zeitstempel",
                "Tag",
                "Uhrzeit",
                "Monat",
                "fecha",
                "jour",
                "日期",
                "时间",
                "utc_date",
                "timestamp_hour",
            ),
            "end": ("end_time", "EndTime", "Ende", "Endzeit"),
            "model": (
                "model_name",
                "Model ID",
                "ModelName",
                "slug",
                "model_version",
                "Modell",
                "Modellname",
                "modele",
                "modèle",
                "modelo",
                "模型",
                "deployment",
                "engine",
            ),
            "input_tokens": (
                "prompt_tokens",
                "tokens_prompt",
                "tokens_in",
                "tokens_input",
                "input",
                "prompt",
                "in_tokens",
                "InputToken",
                "total_input_tokens",
                "context_tokens",
                "request_tokens",
                "input_length",
                "Eingabetokens",
                "Eingabe-Token",
                "Eingabe",
                "Eingangstokens",
                "Tokens (Eingabe)",
                "tokens_entree",
                "输入tokens",
                "输入",
            ),
            "cached_tokens": (
                "cached_input_tokens",
                "input_cached_tokens",
                "tokens_cached",
                "cache_read_tokens",
                "cache_hit_tokens",
                "input_cache_hit_tokens",
                "prompt_cache_hit_tokens",
                "cached",
                "cache_read",
                "Zwischengespeicherte Tokens",
                "Gecachte Tokens",
                "CacheTokens",
                "Zwischengespeicherte Eingabetokens",
                "Gecachte Eingabetokens",
                "cache_tokens",
            ),
            "cache_write_tokens": (
                "cache_creation_tokens",
                "cache_write",
                "cache_write_5m_tokens",
                "Cache-Schreib-Tokens",
            ),
            "cache_write_1h_tokens": ("cache_creation_1h_input_tokens",),
            "output_tokens": (
                "completion_tokens",
                "tokens_completion",
                "tokens_out",
                "tokens_output",
                "output",
                "completion",
                "out_tokens",
                "generated_tokens",
                "输出tokens",
                "输出",
            ),
            "total_tokens": ("tokens_total", "TotalTokens", "Gesamttokens", "Tokens gesamt"),
            "requests": (
                "request_count",
                "num_requests",
                "num_model_requests",
                "n_requests",
                "calls",
                "api_requests",
                "count",
                "Anfragen",
                "Anzahl Anfragen",
                "Aufrufe",
                "Anzahl",
                "requetes",
                "requêtes",
                "请求数",
                "api_calls",
            ),
            "cost": (
                "spend",
                "amount",
                "total_cost",
                "cost_total",
                "price",
                "total_spend",
                "estimated_cost",
                "Kosten",
                "Betrag",
                "Gesamtkosten",
                "Preis",
                "cout",
                "coût",
                "coste",
                "费用",
                "金额",
                "amount_value",
                "billed_cost",
            ),
            "currency": (
                "billing_currency",
                "amount_currency",
                "Währung",
                "Waehrung",
                "devise",
                "moneda",
                "币种",
            ),
            "provider": ("vendor", "Anbieter", "api_base", "custom_llm_provider"),
        },
        {
            "date": NO_DATE,
            "end": {"hours": DAY},
            "model": NO_MODEL,
            "cached_tokens": {"cached": None, "new": 930},
            "cache_write_tokens": {"write_5m": None, "new": 580},
            "cache_write_1h_tokens": {"write_1h": None, "new": 550},
            "total_tokens": {},
            "requests": {"requests": None},
            "cost": {"spend": None},
            "currency": {"spend": "1.25 USD"},
            "provider": {},
        },
    ),
    "generic with what is not cached": Case(
        "generic",
        {
            "date": "2026-06-01",
            "model": "qwen",
            "new_input_tokens": "1000",
            "cached": "400",
            "output": "70",
            "provider": "vllm",
        },
        {
            "period": "2026-06-01",
            "model": "qwen",
            "billing": "self-hosted",
            "hours": DAY,
            "new": 1000,
            "cached": 400,
            "output": 70,
        },
        {
            "new_input_tokens": (
                "uncached_input_tokens",
                "input_tokens_no_cache",
                "input_uncached_tokens",
                "cache_miss_tokens",
                "input_cache_miss_tokens",
                "prompt_cache_miss_tokens",
                "Neue Eingabetokens",
            )
        },
        {"provider": {"billing": "api"}},
    ),
}

ALIASES = [
    (name, column, alias) for name, case in CASES.items() for column in case.aliases for alias in case.aliases[column]
]
WITHOUT = [(name, column) for name, case in CASES.items() for column in case.without]
NEEDED = [(name, column) for name, case in CASES.items() for column in case.needed]


@pytest.mark.parametrize("name", CASES)
def test_what_a_row_says(name: str):
    assert said_by(CASES[name], CASES[name].cells) == CASES[name].says


@pytest.mark.parametrize(("name", "column", "alias"), ALIASES)
def test_a_column_by_its_other_names(name: str, column: str, alias: str):
    case = CASES[name]
    cells = {alias if c == column else c: cell for c, cell in case.cells.items()}
    assert said_by(case, cells) == case.says


@pytest.mark.parametrize(("name", "column"), WITHOUT)
def test_what_is_unknown_without_a_column(name: str, column: str):
    case = CASES[name]
    cells = {c: cell for c, cell in case.cells.items() if c != column}
    assert said_by(case, cells) == changed(case.says, case.without[column])


@pytest.mark.parametrize(("name", "column"), NEEDED)
def test_a_column_that_a_kind_cannot_do_without_is_named(name: str, column: str):
    case = CASES[name]
    with pytest.raises(ImportRefused, match="is missing") as caught:
        read(table({c: cell for c, cell in case.cells.items() if c != column}), kind=case.kind)
    assert "This is not " in caught.value.reason


TRACES = {"azure_trace", "burstgpt", "mooncake"}
"""Every row of a trace is a request: one without figures is refused."""


def next_day_without_figures(case: Case) -> dict[str, str]:
    """The same row a day later, with every number blank."""
    cells = {}
    for column, cell in case.cells.items():
        later = {"1780272000": "1780358400", "1780315200": "1780401600"}.get(cell, cell)
        for day in ("2026-06-02", "2026-06-01", "2026-06-13"):
            later = later.replace(day, f"2026-06-{int(day[-2:]) + 1:02d}") if later == cell else later
        cells[column] = "" if later == cell and cell.replace(",", "").replace(".", "").isdigit() else later
    return cells | {c: "" for c in ("usageDetails", "costDetails") if c in cells}


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case.needed])
def test_a_row_without_figures_is_time_without_use(name: str):
    case = CASES[name]
    report = read(table(case.cells, next_day_without_figures(case)), kind=case.kind)
    assert isinstance(report, UsageReport)
    if case.kind in TRACES:
        assert (report.rows_read, report.rows_empty, report.rows_refused) == (1, 0, 1)
        return
    if name == "openrouter by generation":  # a generation is a request even if it counts nothing
        assert (report.rows_read, report.rows_empty, report.totals.requests) == (2, 0, 2)
        return
    assert (report.rows_read, report.rows_empty, report.rows_refused) == (2, 1, 0)
    assert amounts(report) == case.says | {"hours": 24 + case.says.get("hours", 0)}
    assert report.coverage.days_with_data == 2
