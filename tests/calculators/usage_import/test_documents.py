"""JSON of provider APIs: pages, buckets, days and breakdowns, with what is left over."""

import copy
import json
from decimal import Decimal
from typing import Any

import pytest

from calculators.usage_import import ImportRefused, UsageReport, read

from .reports import keys, token_counts


def usage(*documents: Any, kind: str = "auto") -> UsageReport:
    report = read("\n".join(json.dumps(d) for d in documents).encode(), kind=kind)
    assert isinstance(report, UsageReport)
    return report


def page(*results: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A page with one bucket of a day."""
    return {
        "data": [{"starting_at": "2026-06-01T00:00:00Z", "ending_at": "2026-06-02T00:00:00Z", "results": [*results]}],
        **more,
    }


# ------------------------------------------------------------------------------------------------ Anthropic

ANTHROPIC = {
    "model": "claude-alpha",
    "uncached_input_tokens": 100,
    "cache_read_input_tokens": 850,
    "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
    "output_tokens": 60,
    "service_tier": "standard",
}


@pytest.mark.parametrize(
    ("change", "expected", "batch"),
    [
        ({}, (100, 850, 20, 30, 60, None), None),
        ({"uncached_input_tokens": None}, (0, 850, 20, 30, 60, None), None),
        ({"cache_read_input_tokens": None}, (100, 0, 20, 30, 60, None), None),
        ({"output_tokens": None}, (100, 850, 20, 30, 0, None), None),
        ({"cache_creation": {"ephemeral_5m_input_tokens": 20}}, (100, 850, 20, 0, 60, None), None),
        ({"cache_creation": {"ephemeral_1h_input_tokens": 30}}, (100, 850, 0, 30, 60, None), None),
        ({"cache_creation": None}, (100, 850, 0, 0, 60, None), None),
        ({"cache_creation": None, "cache_creation_input_tokens": 50}, (100, 850, 50, 0, 60, None), None),
        ({"cache_creation_input_tokens": 50}, (100, 850, 20, 30, 60, None), None),
        ({"service_tier": "Batch"}, (100, 850, 20, 30, 60, None), 1060),
    ],
)
def test_results_of_anthropic(change: dict[str, Any], expected: tuple[int | None, ...], batch: int | None):
    report = usage(page({**ANTHROPIC, **change}))
    assert (report.kind, report.models[0].model) == ("anthropic_usage", "claude-alpha")
    assert token_counts(report) == expected
    assert report.batch_tokens == batch
    assert (report.coverage.hours, report.records[0].period) == (24, "2026-06-01")
    twice = usage(page({**ANTHROPIC, **change}, {**ANTHROPIC, **change}))
    assert twice.batch_tokens == (batch and 2 * batch)


@pytest.mark.parametrize(("start", "end"), [("starting_at", "ending_at"), ("start_time", "end_time")])
def test_buckets_by_either_name_of_their_times(start: str, end: str):
    bucket = {start: "2026-06-01T00:00:00Z", end: "2026-06-01T01:00:00Z", "results": [ANTHROPIC]}
    report = usage({"data": [bucket]})
    assert (report.coverage.hours, report.granularity) == (1, "hour")
    bare = usage({"starting_at": "2026-06-01T00:00:00Z", "ending_at": "2026-06-01T01:00:00Z", "results": [ANTHROPIC]})
    assert bare.coverage.hours == 1
    single = usage({"data": [{start: "2026-06-01T00:00:00Z", end: "2026-06-02T00:00:00Z", "result": [ANTHROPIC]}]})
    assert single.totals.output_tokens == 60


def test_bad_buckets_and_results_are_refused_with_their_number():
    document = page(ANTHROPIC, {**ANTHROPIC, "output_tokens": "x"}, 7)  # type: ignore[arg-type]
    document["data"].append({"starting_at": "yesterday", "ending_at": "today", "results": [ANTHROPIC]})
    document["data"].append({"starting_at": "2026-06-02T00:00:00Z", "ending_at": "never", "results": [ANTHROPIC]})
    report = usage(document)
    assert report.rows_read == 2
    assert [(r.line, r.why.key) for r in report.refused] == [  # type: ignore[attr-defined]
        (2, "import_cell.no_amount"),
        (3, "import_cell.unread_date"),
    ]


def test_empty_buckets_are_time_without_use():
    document = page(ANTHROPIC)
    document["data"].append({"starting_at": "2026-06-02", "ending_at": "2026-06-03", "results": []})
    report = usage(document)
    assert (report.rows_read, report.rows_empty) == (2, 1)
    assert (report.coverage.hours, report.coverage.days_with_data) == (48, 2)


COST = {"model": "Claude Alpha", "description": "Claude Alpha Usage", "currency": "eur", "amount": "1250"}


@pytest.mark.parametrize(
    ("change", "model", "spend", "listed"),
    [
        ({}, "Claude Alpha", {"EUR": "12.5"}, {}),
        ({"model": None}, "Claude Alpha Usage", {"EUR": "12.5"}, {}),
        ({"currency": ""}, "Claude Alpha", {"USD": "12.5"}, {}),
        ({"currency": "a long currency"}, "Claude Alpha", {"A LONG C": "12.5"}, {}),
        ({"list_amount": "1500"}, "Claude Alpha", {"EUR": "12.5"}, {"EUR": "15"}),
        ({"amount": 33.3}, "Claude Alpha", {"EUR": "0.333"}, {}),
    ],
)
def test_costs_of_anthropic_are_cents(
    change: dict[str, Any], model: str, spend: dict[str, str], listed: dict[str, str]
):
    report = usage(page({**COST, **change}))
    assert (report.kind, report.models[0].model) == ("anthropic_cost", model)
    assert report.totals.spend == {c: Decimal(v) for c, v in spend.items()}
    assert report.totals.list_spend == {c: Decimal(v) for c, v in listed.items()}
    assert report.coverage.hours == 24
    assert "import_note.anthropic_cents" in keys(report.notes)
    assert keys(report.units) == ["import_unit.cents_text"]


def test_a_cost_without_an_amount_is_time_without_spend():
    report = usage(page(COST, {**COST, "amount": None, "list_amount": "5"}))
    assert (report.rows_read, report.rows_empty, report.totals.list_spend) == (2, 1, {})


def test_display_names_of_costs_are_looked_up_as_ids():
    asked: list[str] = []

    class Offers:
        def offer(self, id_or_alias: str) -> None:
            asked.append(id_or_alias)

    read(json.dumps(page({**COST, "model": "Claude Haiku 4.5"})).encode(), catalog=Offers())
    assert {"claude-haiku-4-5", "anthropic/claude-haiku-4-5"} <= set(asked)


# ------------------------------------------------------------------------------------------------ OpenAI


def openai(*results: Any, start: int = 1780272000, **more: Any) -> dict[str, Any]:
    return {"data": [{"start_time": start, "end_time": start + 86400, "results": [*results]}], **more}


OPENAI = {"input_tokens": 900, "output_tokens": 90, "num_model_requests": 3, "model": "gpt-alpha"}


def test_usage_of_openai():
    report = usage(openai(OPENAI, {**OPENAI, "num_requests": 2, "num_model_requests": None}, 7))
    assert report.kind == "openai_usage"
    assert (report.label.key, report.provider) == ("import_label.openai_usage_api", "openai")  # type: ignore[attr-defined]
    assert token_counts(report) == (1800, None, None, None, 180, 3)
    assert (report.coverage.hours, report.records[0].period) == (24, "2026-06-01")
    other = usage(openai({k: v for k, v in OPENAI.items() if k != "num_model_requests"} | {"num_requests": 2}))
    assert other.totals.requests == 2
    later = usage({"data": openai(OPENAI)["data"] + openai(start=1780358400)["data"]})
    assert (later.rows_empty, later.coverage.hours) == (1, 48)


@pytest.mark.parametrize(
    ("amount", "more", "spend"),
    [
        ({"value": 12.5, "currency": "usd"}, {}, {"USD": "12.5"}),
        ({"value": "6.25", "currency": "EUR"}, {}, {"EUR": "6.25"}),
        ({"value": 12.5}, {"currency": "eur"}, {"EUR": "12.5"}),
        ({"value": 12.5}, {}, {"USD": "12.5"}),
    ],
)
def test_costs_of_openai(amount: dict[str, Any], more: dict[str, Any], spend: dict[str, str]):
    report = usage(openai({"amount": amount, "line_item": "gpt-alpha, output", **more}))
    assert (report.kind, report.models[0].model) == ("openai_costs", "gpt-alpha")
    assert report.totals.spend == {c: Decimal(v) for c, v in spend.items()}
    assert report.coverage.hours == 24


def test_a_cost_whose_amount_has_no_value_is_refused():
    report = usage(openai({"amount": {"value": 1, "currency": "usd"}}, {"amount": {"currency": "usd"}}))
    assert (report.rows_read, report.rows_empty) == (2, 1)
    with pytest.raises(ImportRefused, match="'dict' where an amount should be"):
        usage(openai({"amount": {"currency": "usd"}}))


# ------------------------------------------------------------------------------------------------ pages


@pytest.mark.parametrize(("more", "asked"), [(True, True), (False, False), (None, False), ("true", False)])
def test_a_page_that_has_more_after_it_is_asked_for(more: Any, asked: bool):
    report = usage(page(ANTHROPIC, has_more=more))
    assert ("import_note.has_more" in keys(report.notes)) is asked
    assert ("import_ask.more_pages" in keys(report.questions)) is asked


def test_only_the_last_page_tells_whether_there_is_more():
    first, last = page(ANTHROPIC, has_more=True), page(ANTHROPIC, has_more=False)
    for documents in ((first, last), ([first, last],)):
        report = usage(*documents)
        assert report.totals.output_tokens == 120
        assert "import_note.has_more" not in keys(report.notes)
    assert "import_note.has_more" in keys(usage([last, first]).notes)


def test_buckets_without_a_result_are_refused():
    with pytest.raises(ImportRefused, match="time buckets but not one result"):
        usage({"data": [{"start_time": 1780272000, "results": []}, {"start_time": 1780358400, "results": []}]})
    with pytest.raises(ImportRefused, match="column mapping"):
        usage({"data": [{"start_time": 1780272000, "results": [{"a": 1}]}]})


@pytest.mark.parametrize(
    ("document", "kind", "label"),
    [
        (page(ANTHROPIC), "openai_usage", "Anthropic usage API"),
        (page(COST), "openai_usage", "Anthropic cost API"),
        (openai(OPENAI), "anthropic_usage", "OpenAI usage API"),
        (openai({"amount": {"value": 1}}), "anthropic_usage", "OpenAI costs API"),
    ],
)
def test_a_document_of_another_api_is_named(document: Any, kind: str, label: str):
    with pytest.raises(ImportRefused) as caught:
        usage(document, kind=kind)
    assert caught.value.args[0].places["label"] == label
    assert caught.value.args[0].key == "import_refused.missing_looks_like"


# ------------------------------------------------------------------------------------------------ LiteLLM by day

DAY: dict[str, Any] = {
    "date": "2026-06-01",
    "metrics": {
        "spend": 1.25,
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "cache_read_input_tokens": 400,
        "cache_creation_input_tokens": 50,
        "total_tokens": 1100,
        "api_requests": 10,
    },
}


def with_models(day: dict[str, Any], **models: dict[str, Any]) -> dict[str, Any]:
    return {**day, "breakdown": {"models": {name: {"metrics": m} for name, m in models.items()}}}


def by_model(report: UsageReport) -> dict[str, tuple[int | None, int | None, int | None, str]]:
    return {
        m.model: (
            m.amounts.new_input_tokens,
            m.amounts.output_tokens,
            m.amounts.requests,
            str(m.amounts.spend.get("USD", "")),
        )
        for m in report.models
    }


PART = {
    "spend": 1.0,
    "prompt_tokens": 700,
    "completion_tokens": 80,
    "cache_read_input_tokens": 400,
    "cache_creation_input_tokens": 50,
    "api_requests": 7,
}


def test_a_day_without_a_breakdown_is_all_models():
    report = usage({"results": [DAY]})
    assert report.kind == "litellm_daily"
    assert token_counts(report) == (550, 400, 50, None, 100, 10)
    assert by_model(report) == {"(all models)": (550, 100, 10, "1.25")}
    assert (report.coverage.hours, report.rows_read) == (24, 1)
    assert report.units == ("tokens", "USD")


def test_a_days_models_and_what_they_leave_over():
    report = usage({"results": [with_models(DAY, alpha=PART)]})
    assert by_model(report) == {"alpha": (250, 80, 7, "1.0"), "(not broken down by model)": (300, 20, 3, "0.25")}
    assert (report.rows_read, token_counts(report)) == (1, (550, 400, 50, None, 100, 10))
    whole = usage({"results": [with_models(DAY, alpha=DAY["metrics"])]})
    assert by_model(whole) == {"alpha": (550, 100, 10, "1.25")}
    two = usage({"results": [with_models(DAY, alpha=PART, vllm=PART)]})
    assert "import_note.day_totals" in keys(two.notes)
    assert by_model(two) == {"(all models)": (550, 100, 10, "1.25")}
    flat = usage({"results": [{**DAY, "breakdown": {"models": {"alpha": PART, "x": 5}}}]})
    assert by_model(flat)["alpha"] == (250, 80, 7, "1.0")


@pytest.mark.parametrize(
    ("spend", "models"),
    [
        (1.2500005, ["alpha"]),  # less than a millionth too much is rounding
        (1.26, ["(all models)"]),
        (1.2499999999, ["alpha"]),
        (1.2499, ["alpha", "(not broken down by model)"]),
    ],
)
def test_rounding_of_a_breakdown_is_not_a_remainder(spend: float, models: list[str]):
    part = {**DAY["metrics"], "spend": spend}
    report = usage({"results": [with_models(DAY, alpha=part)]})
    assert sorted(by_model(report)) == sorted(models)


def test_the_total_of_a_day_tells_that_the_cache_stands_beside():
    beside = copy.deepcopy(DAY)
    beside["metrics"]["total_tokens"] = 1550
    assert usage({"results": [beside]}).totals.new_input_tokens == 1000
    # with a breakdown the day's total says nothing of its parts
    assert by_model(usage({"results": [with_models(beside, alpha=PART)]}))["alpha"][0] == 250


def test_days_by_provider_empty_days_and_bad_days():
    days = [
        DAY,
        {"date": "2026-06-02", "metrics": {"spend": 0, "prompt_tokens": 0}},
        {"date": "someday", "metrics": {"spend": 1}},
        {"date": "2026-06-03", "metrics": {"spend": "x"}},
        {"date": "2026-06-03", "metrics": {"prompt_tokens": 5}},
        {"no": "date"},
        with_models({**DAY, "date": "2026-06-04"}, **{"hosted_vllm/qwen": PART}),
    ]
    report = usage({"results": days})
    assert (report.rows_read, report.rows_empty, report.rows_refused) == (4, 1, 2)
    assert [r.line for r in report.refused] == [3, 4]
    assert {m.model: m.billing for m in report.models}["hosted_vllm/qwen"] == "self-hosted"
    assert report.coverage.days_spanned == 4
    bare = usage([DAY, {**DAY, "date": "2026-06-02"}])
    assert bare.totals.requests == 20


SPENDING = {"startTime": "2026-06-01", "spend": 5.0, "models": {"alpha": 3.0, "hosted_vllm/qwen": 1.0}, "users": {}}


def test_spend_by_day_and_model():
    report = usage([SPENDING])
    assert (report.kind, report.label.key) == ("litellm_logs", "import_label.litellm_spend_days")  # type: ignore[attr-defined]
    assert {m.model: (m.billing, str(m.amounts.spend["USD"])) for m in report.models} == {
        "alpha": ("api", "3.0"),
        "hosted_vllm/qwen": ("self-hosted", "1.0"),
        "(not broken down by model)": ("api", "1.0"),
    }
    assert (report.rows_read, report.coverage.hours) == (1, 24)
    assert report.units == ("USD",)
    exact = usage([{**SPENDING, "spend": 4.0}])
    assert "(not broken down by model)" not in {m.model for m in exact.models}


def test_days_without_spend_and_bad_days_of_spend():
    days = [
        SPENDING,
        {**SPENDING, "startTime": "2026-06-02", "spend": None},
        {**SPENDING, "startTime": "x"},
        {**SPENDING, "models": {"alpha": "x"}},
        {**SPENDING, "startTime": "2026-06-03", "models": {}, "spend": 2.0},
        {**SPENDING, "startTime": "2026-06-04", "models": {}, "spend": 0},
    ]
    report = usage(days)
    assert (report.rows_empty, [r.line for r in report.refused]) == (1, [3, 4])
    assert report.totals.spend == {"USD": Decimal(7)}
    assert report.coverage.days_spanned == 3


# ------------------------------------------------------------------------------------------------ Langfuse by day


def test_days_of_langfuse():
    use = {"model": "alpha", "inputUsage": 1000, "outputUsage": 100, "countObservations": 9, "totalCost": 0.75}
    days = [
        {"date": "2026-06-01", "countTraces": 5, "usage": [use, 7, {**use, "model": "beta", "totalCost": None}]},
        {"date": "2026-06-02", "countTraces": 0, "usage": []},
        {"date": "x", "countTraces": 1, "usage": [use]},
        {"date": "2026-06-03", "countTraces": 1, "usage": [{**use, "inputUsage": "x"}]},
        {"date": "2026-06-03", "countTraces": 1},
    ]
    report = usage({"data": days})
    assert (report.kind, report.label.key) == ("langfuse", "import_label.langfuse_daily")  # type: ignore[attr-defined]
    assert token_counts(report) == (2000, None, None, None, 200, 18)
    assert report.totals.spend == {"USD": Decimal("0.75")}
    assert (report.rows_read, report.rows_empty, [r.line for r in report.refused]) == (3, 1, [3, 4])
    assert report.coverage.days_spanned == 2
    assert report.coverage.hours == 48
    assert report.units[0] == "tokens"
    assert keys(report.units) == ["tokens", "import_unit.langfuse_usd"]
