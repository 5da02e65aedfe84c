"""JSON of provider APIs: pages, buckets and reports, turned into rows and read by the same readers as the CSVs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from calculators.texts import said
from calculators.usage_import.cells import Instant, count_of, instant_of, money_of, text_of
from calculators.usage_import.errors import CellError
from calculators.usage_import.files import object_table
from calculators.usage_import.rows import (
    billing_of,
    display_slug,
    read_openai_costs,
    read_openai_usage,
    tier_notes,
)
from calculators.usage_import.usage import ALL_MODELS, NO_BREAKDOWN, Collector, split_input

_LISTS: Final = (
    "data",
    "results",
    "rows",
    "items",
    "value",
    "usage",
    "activity",
    "logs",
    "observations",
    "requests",
    "records",
    "entries",
    "daily",
    "monthly",
)


@dataclass(frozen=True)
class DocumentFormat:
    """A JSON shape that is not a plain list of rows."""

    kind: str
    label: str
    provider: str
    matches: Callable[[Sequence[Any]], bool]
    read: Callable[[Sequence[Any], Collector], None]


def pages(documents: Sequence[Any]) -> list[Any]:
    """Unwrap a list of pages (or one document that is a list of pages)."""
    found: list[Any] = []
    for document in documents:
        found += document if isinstance(document, list) else [document]
    return found


def plain_rows(documents: Sequence[Any]) -> list[Any]:
    """Find the list of row objects of a document: itself, or the list under 'data', 'results' and the like."""
    rows: list[Any] = []
    for document in documents:
        if isinstance(document, list):
            rows += document
        elif isinstance(document, dict):
            inner = next(
                (
                    document[k]
                    for k in _LISTS
                    if isinstance(document.get(k), list) and all(isinstance(r, dict) for r in document[k])
                ),
                None,
            )
            if inner is not None:
                rows += inner
            elif isinstance(document.get("data"), dict):
                rows.append(document["data"])
            else:
                rows.append(document)
    return rows


def note_pages(documents: Sequence[Any], into: Collector) -> None:
    """Say that a page of several is not the whole."""
    last = pages(documents)
    if last and isinstance(last[-1], dict) and last[-1].get("has_more") is True:
        into.note(said("import_note.has_more"))
        into.questions.append(said("import_ask.more_pages"))


def buckets(documents: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Collect the time buckets ({start, end, results: [...]}) of all pages."""
    found: list[Mapping[str, Any]] = []
    for page in pages(documents):
        if not isinstance(page, dict):
            continue
        inner = page.get("data")
        if isinstance(inner, list):
            found += [b for b in inner if isinstance(b, dict) and isinstance(b.get("results", b.get("result")), list)]
        elif isinstance(page.get("results"), list) and ("start_time" in page or "starting_at" in page):
            found.append(page)
    return found


def _results(bucket: Mapping[str, Any]) -> list[Any]:
    inner = bucket.get("results", bucket.get("result"))
    return inner if isinstance(inner, list) else []


def _first_result(documents: Sequence[Any]) -> Mapping[str, Any]:
    for bucket in buckets(documents):
        for result in _results(bucket):
            if isinstance(result, dict):
                return result
    return {}


def _openai_rows(documents: Sequence[Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for bucket in buckets(documents):
        times = {k: bucket[k] for k in ("start_time", "end_time", "start_time_iso", "end_time_iso") if k in bucket}
        results = [r for r in _results(bucket) if isinstance(r, dict)]
        rows += [{**times, **r} for r in results] or [times]
    return rows


def _is_openai_usage(documents: Sequence[Any]) -> bool:
    first = _first_result(documents)
    return "input_tokens" in first and "output_tokens" in first and "uncached_input_tokens" not in first


def _is_openai_costs(documents: Sequence[Any]) -> bool:
    return isinstance(_first_result(documents).get("amount"), dict)


def _read_openai_usage(documents: Sequence[Any], into: Collector) -> None:
    read_openai_usage(object_table(_openai_rows(documents)), into)


def _read_openai_costs(documents: Sequence[Any], into: Collector) -> None:
    read_openai_costs(object_table(_openai_rows(documents)), into)


def _is_anthropic_usage(documents: Sequence[Any]) -> bool:
    return "uncached_input_tokens" in _first_result(documents)


def _is_anthropic_cost(documents: Sequence[Any]) -> bool:
    first = _first_result(documents)
    return "amount" in first and not isinstance(first["amount"], dict) and "currency" in first


def _end(value: object) -> Instant | None:
    try:
        return instant_of(value)
    except CellError:
        return None


def _anthropic(
    documents: Sequence[Any], into: Collector, one: Callable[[Instant | None, Instant | None, Mapping[str, Any]], None]
) -> None:
    line = 0
    for bucket in buckets(documents):
        try:
            when = instant_of(bucket.get("starting_at", bucket.get("start_time")))
            stop = _end(bucket.get("ending_at", bucket.get("end_time")))
        except CellError as error:
            into.refuse(line + 1, error.why)
            continue
        results = [r for r in _results(bucket) if isinstance(r, dict)]
        if not results:
            into.cover(when, stop)
        for result in results:
            line += 1
            try:
                one(when, stop, result)
            except CellError as error:
                into.refuse(line, error.why)


def _read_anthropic_usage(documents: Sequence[Any], into: Collector) -> None:
    into.units.append("tokens")
    into.knows(new=True, cached=True, writes=True, output=True)
    into.note(said("import_note.cache_beside"))

    def one(when: Instant | None, stop: Instant | None, r: Mapping[str, Any]) -> None:
        made = r.get("cache_creation") if isinstance(r.get("cache_creation"), dict) else {}
        assert isinstance(made, dict)
        new, read, out = (
            count_of(r.get(k)) or 0 for k in ("uncached_input_tokens", "cache_read_input_tokens", "output_tokens")
        )
        w5, w1 = (count_of(made.get(k)) or 0 for k in ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"))
        if not made:
            w5 = count_of(r.get("cache_creation_input_tokens")) or 0
        if text_of(r.get("service_tier")).lower() == "batch":
            into.batch_tokens = (into.batch_tokens or 0) + new + read + out + w5 + w1
        tier_notes(into, text_of(r.get("context_window")))
        into.add(when, text_of(r.get("model")), end=stop, new=new, cached=read, write_5m=w5, write_1h=w1, output=out)

    _anthropic(documents, into, one)


def _read_anthropic_cost(documents: Sequence[Any], into: Collector) -> None:
    into.units.append(said("import_unit.cents_text"))
    into.note(said("import_note.anthropic_cents"))

    def one(when: Instant | None, stop: Instant | None, r: Mapping[str, Any]) -> None:
        money, listed = money_of(r.get("amount")), money_of(r.get("list_amount"))
        if money is None:
            into.cover(when, stop)
            return
        name = text_of(r.get("model")) or text_of(r.get("description"))
        into.candidates[name] = (display_slug(name), f"anthropic/{display_slug(name)}")
        into.add(
            when,
            name,
            end=stop,
            spend=money.amount / 100,
            currency=text_of(r.get("currency")).upper()[:8] or "USD",
            list_spend=listed.amount / 100 if listed else None,
        )

    _anthropic(documents, into, one)


# ---------------------------------------------------------------------------------------------------------------
# LiteLLM


def _days(documents: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for page in pages(documents):
        if isinstance(page, dict) and isinstance(page.get("results"), list):
            found += page["results"]
        else:
            found.append(page)
    return [d for d in found if isinstance(d, dict) and isinstance(d.get("metrics"), dict) and "date" in d]


def _is_litellm_daily(documents: Sequence[Any]) -> bool:
    days = _days(documents)
    return bool(days) and ("spend" in days[0]["metrics"] or "prompt_tokens" in days[0]["metrics"])


_LITELLM: Final = (
    "prompt_tokens",
    "completion_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "api_requests",
)


def _metrics_of(m: Mapping[str, Any]) -> tuple[list[int | None], Decimal | None]:
    inner = m.get("metrics")
    source: Mapping[str, Any] = inner if isinstance(inner, dict) else m
    money = money_of(source.get("spend"))
    return [count_of(source.get(k)) for k in _LITELLM], money.amount if money else None


def _read_litellm_daily(documents: Sequence[Any], into: Collector) -> None:
    """Days with a breakdown by model; what the breakdown leaves out is kept as '(not broken down by model)'."""
    into.units += ["tokens", "USD"]
    for number, day in enumerate(_days(documents), 1):
        try:
            when = instant_of(day["date"])
            counts, spend = _metrics_of(day["metrics"])
            breakdown = day.get("breakdown")
            models = breakdown.get("models") if isinstance(breakdown, dict) else None
            parts = (
                [(text_of(k), *_metrics_of(v)) for k, v in models.items() if isinstance(v, dict)]
                if isinstance(models, dict)
                else []
            )
            total = count_of(day["metrics"].get("total_tokens"))
            if not any(counts) and not spend:
                into.cover(when, daily=True)
                continue
            rest = [None if c is None else c - sum(p[1][i] or 0 for p in parts) for i, c in enumerate(counts)]
            rest_spend = None if spend is None else spend - sum((p[2] or Decimal(0) for p in parts), Decimal(0))
            if any(r is not None and r < 0 for r in rest) or (
                rest_spend is not None and rest_spend < Decimal("-0.000001")
            ):
                into.note(said("import_note.day_totals"))
                parts, rest, rest_spend = [], counts, spend
            # A remainder below zero is rounding by now: nobody is paid back for it.
            if any(rest) or (rest_spend is not None and rest_spend > Decimal("1e-9")):
                parts.append((NO_BREAKDOWN if parts else ALL_MODELS, rest, rest_spend))
            grand = total if len(parts) == 1 else None
            for name, amounts, money in parts:
                given, out, read, write, requests = amounts
                new = split_input(given, read, write, inside=True, output=out, grand_total=grand)
                into.add(
                    when,
                    name,
                    new=new,
                    cached=read,
                    write_5m=write,
                    output=out,
                    requests=requests,
                    spend=money,
                    billing=billing_of(name),
                    daily=True,
                )
            # A day is one row of the file however many models it was split into.
            into.rows_read -= len(parts) - 1
        except CellError as error:
            into.refuse(number, error.why)


def _spend_days(documents: Sequence[Any]) -> list[Any]:
    return [
        d
        for d in plain_rows(documents)
        if isinstance(d, dict) and isinstance(d.get("models"), dict) and "spend" in d and "startTime" in d
    ]


def _read_spend_days(documents: Sequence[Any], into: Collector) -> None:
    into.units.append("USD")
    for number, day in enumerate(_spend_days(documents), 1):
        try:
            when = instant_of(day["startTime"])
            total = money_of(day["spend"])
            parts = [(text_of(k), money_of(v)) for k, v in day["models"].items()]
            known = sum((m.amount for _, m in parts if m), Decimal(0))
            if total is None:
                into.cover(when, daily=True)
                continue
            rest = total.amount - known
            entries = [(n, m.amount) for n, m in parts if m] + (
                [(NO_BREAKDOWN, rest)] if abs(rest) > Decimal("1e-9") else []
            )
            for name, amount in entries:
                into.add(when, name, spend=amount, billing=billing_of(name), daily=True)
            into.rows_read -= max(0, len(entries) - 1)
        except CellError as error:
            into.refuse(number, error.why)


# --------------------------------------------------------------------------------------------------------------
# Langfuse


def _langfuse_days(documents: Sequence[Any]) -> list[Any]:
    return [
        d
        for d in plain_rows(documents)
        if isinstance(d, dict) and "countTraces" in d and isinstance(d.get("usage"), list)
    ]


def _read_langfuse_days(documents: Sequence[Any], into: Collector) -> None:
    into.units += ["tokens", said("import_unit.langfuse_usd")]
    for number, day in enumerate(_langfuse_days(documents), 1):
        try:
            when = instant_of(day.get("date"))
            if not day["usage"]:
                into.cover(when, daily=True)
            for u in day["usage"]:
                if not isinstance(u, dict):
                    continue
                money = money_of(u.get("totalCost"))
                into.add(
                    when,
                    text_of(u.get("model")),
                    new=count_of(u.get("inputUsage")),
                    output=count_of(u.get("outputUsage")),
                    requests=count_of(u.get("countObservations")),
                    spend=money.amount if money else None,
                    daily=True,
                )
        except CellError as error:
            into.refuse(number, error.why)


DOCUMENT_FORMATS: Final = (
    DocumentFormat(
        "anthropic_usage",
        said("import_label.anthropic_usage_api"),
        "anthropic",
        _is_anthropic_usage,
        _read_anthropic_usage,
    ),
    DocumentFormat(
        "openai_costs", said("import_label.openai_costs_api"), "openai", _is_openai_costs, _read_openai_costs
    ),
    DocumentFormat(
        "anthropic_cost", said("import_label.anthropic_cost_api"), "anthropic", _is_anthropic_cost, _read_anthropic_cost
    ),
    DocumentFormat(
        "openai_usage", said("import_label.openai_usage_api"), "openai", _is_openai_usage, _read_openai_usage
    ),
    DocumentFormat("litellm_daily", said("import_label.litellm_daily"), "", _is_litellm_daily, _read_litellm_daily),
    DocumentFormat(
        "litellm_logs", said("import_label.litellm_spend_days"), "", lambda d: bool(_spend_days(d)), _read_spend_days
    ),
    DocumentFormat(
        "langfuse", said("import_label.langfuse_daily"), "", lambda d: bool(_langfuse_days(d)), _read_langfuse_days
    ),
)
"""Shapes in the order in which they are tried."""
