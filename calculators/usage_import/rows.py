"""Table formats: what each provider's columns mean. One reader a format; each says which columns it needs."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypedDict

from calculators.texts import listed as joined
from calculators.texts import said
from calculators.usage_import.cells import (
    Instant,
    Money,
    TokenKind,
    count_of,
    header_key,
    instant_of,
    iso_day,
    money_of,
    number_of,
    text_of,
    token_kind,
    token_scale,
)
from calculators.usage_import.errors import CellError, ImportRefused, listed, shown
from calculators.usage_import.files import Table, json_cell
from calculators.usage_import.usage import TRACE, Billing, Collector, split_input

Reader = Callable[[Table, Collector], None]


@dataclass(frozen=True)
class TableFormat:
    """A format of rows and columns.

    needs: columns that identify it, as groups: of each group at least one spelling must exist.
    """

    kind: str
    label: str
    provider: str
    needs: tuple[tuple[str, ...], ...]
    read: Reader

    def missing(self, table: Table) -> list[str]:
        """Give the needed columns that the table does not have."""
        return [group[0] for group in self.needs if table.find(*group) is None]


def each(table: Table, into: Collector) -> Iterator[tuple[int, list[Any]]]:
    """Go through the rows; malformed ones are refused with their complaint."""
    for line, cells in table.rows:
        if isinstance(cells, str):
            into.refuse(line, cells)
        else:
            yield line, cells


class Columns:
    """Typed access to one table's cells by column; a column that does not exist reads as None.

    Names are compared by their letters and digits: 'lineItem/UsageType' is 'line_item_usage_type', so each column is
    asked for once, in snake case.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.mark, self.order = table.mark, table.order

    def at(self, *names: str) -> int | None:
        """Find a column."""
        return self.table.find(*names)

    def count(self, row: list[Any], at: int | None) -> int | None:
        """Read a count."""
        return None if at is None else self._named(at, count_of, row[at], self.mark)

    def money(self, row: list[Any], at: int | None) -> Money | None:
        """Read money."""
        return None if at is None else self._named(at, money_of, row[at], self.mark)

    def number(self, row: list[Any], at: int | None) -> Decimal | None:
        """Read a quantity."""
        return None if at is None else self._named(at, number_of, row[at], self.mark)

    def instant(self, row: list[Any], at: int | None) -> Instant | None:
        """Read an instant."""
        return None if at is None else self._named(at, instant_of, row[at], self.order)

    def either(self, row: list[Any], first: int | None, second: int | None) -> Instant | None:
        """Read an instant that the file gives twice; a spreadsheet may have spoiled one of them (1,79047E+09)."""
        try:
            found = self.instant(row, first)
        except CellError:
            if second is None:
                raise
            found = None
        return self.instant(row, second) if found is None and second is not None else found

    def until(self, row: list[Any], first: int | None, second: int | None = None) -> Instant | None:
        """Read the end of a row's time; an end that cannot be read is no end, for the row has its start."""
        try:
            return self.either(row, first, second)
        except CellError:
            return None

    def text(self, row: list[Any], at: int | None) -> str:
        """Read text; '' if blank. A line break inside is a quote that was never closed."""
        if at is None:
            return ""
        cell = row[at]
        if isinstance(cell, str) and "\n" in cell and "\n" in cell.strip():
            raise CellError(
                said("import_cell.of_column", column=self.table.headers[at], what=said("import_cell.open_quote"))
            )
        return text_of(cell)

    def _named(self, at: int, read: Callable[[Any, Any], Any], cell: Any, how: Any) -> Any:
        try:
            return read(cell, how)
        except CellError as error:
            raise CellError(said("import_cell.of_column", column=self.table.headers[at], what=error.why)) from None


def _run(table: Table, into: Collector, one: Callable[[int, list[Any]], None]) -> None:
    for line, row in each(table, into):
        try:
            one(line, row)
        except CellError as error:
            into.refuse(line, error.why)


def _currency(money: Money | None, named: str, default: str) -> str:
    if named:
        return named.upper()[:8]
    if money is not None and money.currency:
        return money.currency
    return default


def is_self_hosted(*texts: str) -> bool:
    """Say whether a provider, model or address is one's own server (vLLM, SGLang, Ollama, localhost and the like)."""
    for text in texts:
        low = text.lower()
        if re.match(
            r"^(hosted_vllm|vllm|ollama|ollama_chat|lm_studio|llamafile|sglang|xinference|oobabooga|local|localai|"
            r"text-generation-inference|llama_cpp|llamacpp|self[-_ ]?hosted|on[-_ ]?prem)(/|$|\b)",
            low,
        ):
            return True
        if re.search(r"://(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]|host\.docker)", low):
            return True
    return False


def is_free(model: str) -> bool:
    """Say whether a model name carries a free variant (OpenRouter's ':free')."""
    return model.lower().endswith((":free", "/free"))


def billing_of(model: str, *texts: str) -> Billing:
    """Tell who is paid for a row by its model, provider and address."""
    if is_self_hosted(model, *texts):
        return "self-hosted"
    return "free" if is_free(model) else "api"


# -------------------------------------------------------------------------------------------------------------
# Anthropic


def read_anthropic_usage(table: Table, into: Collector) -> None:
    """Anthropic usage CSV: cached reads and writes stand beside the uncached input."""
    c = Columns(table)
    date = c.at("usage_date_utc", "usage_date", "date", "usage_hour_utc", "starting_at")
    model = c.at("model_version", "model")
    new = c.at("usage_input_tokens_no_cache", "uncached_input_tokens")
    w5, w1 = c.at("usage_input_tokens_cache_write_5m"), c.at("usage_input_tokens_cache_write_1h")
    read, out = c.at("usage_input_tokens_cache_read"), c.at("usage_output_tokens")
    tier, context = c.at("usage_type", "service_tier"), c.at("context_window")
    into.units.append("tokens")
    into.knows(new=True, cached=read is not None, writes=w5 is not None, output=True)
    into.note(said("import_note.cache_beside"))

    def one(line: int, row: list[Any]) -> None:
        when = c.instant(row, date)
        counts = [c.count(row, at) for at in (new, w5, w1, read, out)]
        if all(v is None for v in counts):
            into.cover(when, daily=_daily(when))
            return
        n, a, b, r, o = counts
        tier_notes(into, c.text(row, context))
        if "batch" in c.text(row, tier).lower():
            into.batch_tokens = (into.batch_tokens or 0) + sum(v or 0 for v in counts)
        into.add(
            when, c.text(row, model), new=n or 0, write_5m=a, write_1h=b, cached=r, output=o or 0, daily=_daily(when)
        )

    _run(table, into, one)


def tier_notes(into: Collector, context: str) -> None:
    """Ask once about requests above 200k tokens, which have a price of their own."""
    low = context.lower().replace(" ", "")
    if low and "200k" in low and not low.startswith(("≤", "<", "0-", "upto")):
        question = said("import_ask.above_200k")
        if question not in into.questions:
            into.questions.append(question)


def _daily(when: Instant | None) -> bool:
    return when is not None and not when.has_time


def display_slug(name: str) -> str:
    """Turn a display name into the provider's id spelling: 'Claude Haiku 4.5' is 'claude-haiku-4-5'."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def read_anthropic_cost(table: Table, into: Collector) -> None:
    """Anthropic cost CSV: dollars by model and token type, net and at list price."""
    c = Columns(table)
    date, model = c.at("usage_date_utc", "date"), c.at("model", "model_version")
    cost, listed = c.at("cost_usd"), c.at("list_price_usd")
    into.units.append("USD")

    def one(line: int, row: list[Any]) -> None:
        when = c.instant(row, date)
        money, at_list = c.money(row, cost), c.money(row, listed)
        if money is None and at_list is None:
            into.cover(when, daily=_daily(when))
            return
        name = c.text(row, model)
        into.candidates[name] = (display_slug(name), f"anthropic/{display_slug(name)}")
        _one_currency(money, "USD")
        into.add(
            when,
            name,
            spend=money.amount if money else None,
            list_spend=at_list.amount if at_list else None,
            currency="USD",
            daily=_daily(when),
        )

    _run(table, into, one)


def _one_currency(money: Money | None, expected: str) -> None:
    if money is not None and money.currency and money.currency != expected:
        raise CellError(said("import_cell.currency", currency=money.currency, expected=expected))


# ----------------------------------------------------------------------------------------------------------------
# OpenAI


def read_openai_usage(table: Table, into: Collector) -> None:
    """OpenAI usage CSV or rows of the usage API: input_tokens contains the cached ones, output the reasoning."""
    c = Columns(table)
    start = c.at("start_time", "timestamp", "aggregation_timestamp", "date")
    end = c.at("end_time")
    start_iso, end_iso = c.at("start_time_iso"), c.at("end_time_iso")
    model = c.at("model", "snapshot_id")
    given = c.at("input_tokens", "n_context_tokens_total")
    cached = c.at("input_cached_tokens", "n_cached_context_tokens_total", "cached_input_tokens", "cached_tokens")
    writes = c.at("input_cache_write_tokens", "input_cache_creation_tokens")
    out = c.at("output_tokens", "n_generated_tokens_total")
    requests = c.at("num_model_requests", "n_requests", "num_requests")
    batch, tier = c.at("batch"), c.at("service_tier")
    into.units.append("tokens")
    into.knows(new=True, cached=cached is not None, output=True, requests=requests is not None)
    into.note(said("import_note.openai_inside"))

    def one(line: int, row: list[Any]) -> None:
        when, stop = c.either(row, start, start_iso), c.until(row, end, end_iso)
        i, h, w, o, n = (c.count(row, at) for at in (given, cached, writes, out, requests))
        if i is None and o is None and n is None:
            into.cover(when, stop, _daily(when))
            return
        if c.text(row, batch).lower() in ("true", "1", "yes") or c.text(row, tier).lower() == "batch":
            into.batch_tokens = (into.batch_tokens or 0) + (i or 0) + (o or 0)
        new = split_input(i or 0, h, w, inside=True)
        into.add(
            when,
            c.text(row, model),
            end=stop,
            new=new,
            cached=(h or 0) if cached is not None else None,
            write_5m=w,
            output=o or 0,
            requests=n,
            daily=_daily(when),
        )

    _run(table, into, one)


def read_openai_costs(table: Table, into: Collector) -> None:
    """OpenAI costs CSV or API rows: an amount with its currency per line item; empty buckets are empty days."""
    c = Columns(table)
    start, end = c.at("start_time"), c.at("end_time")
    start_iso, end_iso = c.at("start_time_iso"), c.at("end_time_iso")
    amount, currency = c.at("amount_value", "amount"), c.at("amount_currency", "currency")
    item, quantity, unit = c.at("line_item"), c.at("quantity"), c.at("quantity_unit")
    into.units.append(said("import_unit.currency_not_cents"))

    def one(line: int, row: list[Any]) -> None:
        when, stop = c.either(row, start, start_iso), c.until(row, end, end_iso)
        money = c.money(row, amount)
        if money is None:
            into.cover(when, stop, _daily(when))
            return
        name, _, what = c.text(row, item).partition(",")
        tokens: _Tokens = {}
        kind = token_kind(what) if what else None
        scale = token_scale(c.text(row, unit))
        number = c.number(row, quantity)
        if kind and scale and number is not None and number >= 0:
            tokens = _as_tokens(kind, number * scale)
            into.units.append(said("import_unit.line_items"))
        into.add(
            when,
            name.strip(),
            end=stop,
            spend=money.amount,
            currency=_currency(money, c.text(row, currency), "USD"),
            daily=_daily(when),
            **tokens,
        )

    _run(table, into, one)


class _Tokens(TypedDict, total=False):
    """Token arguments of Collector.add."""

    new: int
    cached: int
    write_5m: int
    write_1h: int
    output: int


def _as_tokens(kind: TokenKind, quantity: Decimal) -> _Tokens:
    if abs(quantity) > Decimal(10) ** 18:
        raise CellError(said("import_cell.many_tokens", n=f"{quantity:.3E}"))
    tokens: _Tokens = {}
    tokens[kind] = int(quantity.to_integral_value())
    return tokens


# ------------------------------------------------------------------------------------------------------------
# OpenRouter


def read_openrouter(table: Table, into: Collector) -> None:
    """OpenRouter activity: daily totals or one row a generation; cached and reasoning tokens are inside."""
    c = Columns(table)
    single = c.at("generation_id") is not None or c.at("tokens_prompt") is not None
    date = c.at("date", "created_at", "timestamp")
    model = c.at("slug", "model_permaslug", "model")
    usage = c.at("usage", "cost_total", "total_cost", "cost")
    byok = c.at("byok_usage", "byok_usage_inference")
    requests = c.at("requests")
    given, out = (
        c.at("prompt_tokens", "tokens_prompt"),
        c.at("completion_tokens", "tokens_completion"),
    )
    cached = c.at("cached_tokens", "tokens_cached", "native_tokens_cached")
    variant, provider = c.at("variant"), c.at("provider_name", "provider")
    into.units += ["tokens", "USD"]
    into.per_request = single
    into.knows(new=True, output=True, cached=cached is not None, requests=single or requests is not None)
    into.note(said("import_note.openrouter_inside"))
    outside = Decimal(0)

    def one(line: int, row: list[Any]) -> None:
        nonlocal outside
        when = c.instant(row, date)
        name = c.text(row, model)
        i, o, h = c.count(row, given), c.count(row, out), c.count(row, cached)
        money, own = c.money(row, usage), c.money(row, byok)
        n = 1 if single else c.count(row, requests)
        if i is None and o is None and money is None and n is None:
            into.cover(when, daily=not single)
            return
        if own is not None:
            outside += own.amount
        billing = billing_of(name + (":free" if c.text(row, variant).lower() == "free" else ""), c.text(row, provider))
        _one_currency(money, "USD")
        into.add(
            when,
            name,
            new=split_input(i or 0, h, None, inside=True),
            cached=(h or 0) if cached is not None else None,
            output=o or 0,
            requests=n,
            spend=money.amount if money else None,
            billing=billing,
            daily=not single,
        )

    _run(table, into, one)
    if outside:
        into.note(said("import_note.own_keys", usd=f"{outside:,.2f}"))


# ---------------------------------------------------------------------------------------------------------------
# LiteLLM


def read_litellm_logs(table: Table, into: Collector) -> None:
    """LiteLLM spend logs: a row a request; prompt_tokens contain cached tokens; spend may carry thousands commas."""
    c = Columns(table)
    start, model = c.at("start_time"), c.at("model", "model_group")
    group = c.at("model_group")
    given, out, total = c.at("prompt_tokens"), c.at("completion_tokens"), c.at("total_tokens")
    spend, provider, base = c.at("spend"), c.at("custom_llm_provider"), c.at("api_base")
    hit, meta, status = c.at("cache_hit"), c.at("metadata"), c.at("status")
    read = c.at("cache_read_input_tokens", "cached_tokens")
    write = c.at("cache_creation_input_tokens")
    into.units += ["tokens", "USD"]
    into.per_request = True
    into.knows(new=True, output=True, requests=True)
    gateway = 0

    def one(line: int, row: list[Any]) -> None:
        nonlocal gateway
        when = c.instant(row, start)
        name = c.text(row, model) or c.text(row, group)
        i, o, t = c.count(row, given), c.count(row, out), c.count(row, total)
        money = c.money(row, spend)
        if i is None and o is None and money is None:
            into.cover(when)
            return
        r, w = c.count(row, read), c.count(row, write)
        if r is None and w is None and meta is not None:
            r, w = _litellm_cache(json_cell(row[meta]))
        new = split_input(i or 0, r, w, inside=True, output=o, grand_total=t)
        billing = billing_of(name, c.text(row, provider), c.text(row, base))
        if c.text(row, hit).lower() == "true":
            gateway += 1
            billing = "free"
        if (
            c.text(row, status).lower() in ("failure", "failed", "error")
            and not (i or o)
            and not (money and money.amount)
        ):
            into.cover(when)
            return
        into.add(
            when,
            name,
            new=new,
            cached=r,
            write_5m=w,
            output=o or 0,
            requests=1,
            spend=money.amount if money else None,
            currency=_currency(money, "", "USD"),
            billing=billing,
        )

    _run(table, into, one)
    if gateway:
        into.note(said("import_note.gateway", n=f"{gateway:,}"))


def _litellm_cache(meta: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Find cached and written tokens in the metadata of a spend log."""
    for key in ("usage_object", "additional_usage_values", "usage"):
        inner = json_cell(meta.get(key))
        if not inner:
            continue
        details = json_cell(inner.get("prompt_tokens_details"))
        read = next(
            (v for v in (inner.get("cache_read_input_tokens"), details.get("cached_tokens")) if isinstance(v, int)),
            None,
        )
        write = next(
            (
                v
                for v in (inner.get("cache_creation_input_tokens"), details.get("cache_creation_tokens"))
                if isinstance(v, int)
            ),
            None,
        )
        if read is not None or write is not None:
            return (max(0, read) if read is not None else None), (max(0, write) if write is not None else None)
    return None, None


def read_litellm_export(table: Table, into: Collector) -> None:
    """LiteLLM usage exports by day (and model, team, key): spend as shown, with thousands commas."""
    c = Columns(table)
    date, model = c.at("date"), c.at("model", "model_group")
    spend = c.at("spend", "total_spend")
    requests = c.at("requests", "api_requests", "total_requests")
    given, out = c.at("prompt_tokens", "input_tokens"), c.at("completion_tokens", "output_tokens")
    total = c.at("total_tokens", "tokens")
    read, write = (
        c.at("cache_read_input_tokens", "cache_read_tokens"),
        c.at("cache_creation_input_tokens", "cache_creation_tokens"),
    )
    provider = c.at("custom_llm_provider", "provider")
    into.units += ["tokens", "USD"]
    into.knows(new=given is not None, output=out is not None, cached=read is not None, requests=requests is not None)

    def one(line: int, row: list[Any]) -> None:
        when = c.instant(row, date)
        i, o, t, n = (c.count(row, at) for at in (given, out, total, requests))
        r, w = c.count(row, read), c.count(row, write)
        money = c.money(row, spend)
        if i is None and o is None and money is None and n is None:
            into.cover(when, daily=True)
            return
        name = c.text(row, model)
        new = split_input(i, r, w, inside=True, output=o, grand_total=t)
        into.add(
            when,
            name,
            new=new,
            cached=r,
            write_5m=w,
            output=o,
            requests=n,
            spend=money.amount if money else None,
            currency=_currency(money, "", "USD"),
            billing=billing_of(name, c.text(row, provider)),
            daily=True,
        )

    _run(table, into, one)


# --------------------------------------------------------------------------------------------------------------
# DeepSeek


def read_deepseek_usage(table: Table, into: Collector) -> None:
    """DeepSeek 'amount' CSV: a row a kind of token; cache hits stand beside the misses."""
    c = Columns(table)
    start, end = c.at("utc_date", "start_time_iso"), c.at("end_time_iso")
    model, what, amount = c.at("model"), c.at("type"), c.at("amount")
    into.units.append("tokens")
    into.knows(new=True, cached=True, output=True, requests=True)
    into.note(said("import_note.deepseek_prices"))
    ignored: set[str] = set()

    def one(line: int, row: list[Any]) -> None:
        when, stop = c.instant(row, start), c.until(row, end)
        number = c.count(row, amount)
        kind = c.text(row, what).lower()
        if number is None:
            into.cover(when, stop, _daily(when))
            return
        named = {
            "input_cache_miss_tokens": "new",
            "input_tokens": "new",
            "prompt_tokens": "new",
            "prompt_cache_miss_tokens": "new",
            "input_cache_hit_tokens": "cached",
            "prompt_cache_hit_tokens": "cached",
            "output_tokens": "output",
            "completion_tokens": "output",
            "completion": "output",
            "request_count": "requests",
        }.get(kind)
        if named is None:
            if kind not in ("total_tokens", "total_token", "reasoning_tokens") and len(ignored) < 5:
                ignored.add(kind)
            into.cover(when, stop, _daily(when))
            return
        into.add_tokens(when, c.text(row, model), named, number, end=stop, daily=_daily(when))

    _run(table, into, one)
    if ignored:
        into.note(said("import_note.other_kinds", kinds=", ".join(sorted(ignored))))


def read_deepseek_cost(table: Table, into: Collector) -> None:
    """DeepSeek 'cost' CSV: money by model and wallet; granted balance is not spend."""
    c = Columns(table)
    start, end = c.at("utc_date", "start_time_iso", "date"), c.at("end_time_iso")
    model, cost, currency, wallet = c.at("model"), c.at("cost"), c.at("currency"), c.at("wallet_type")
    into.units.append(said("import_unit.currency"))

    def one(line: int, row: list[Any]) -> None:
        when, stop = c.instant(row, start), c.until(row, end)
        money = c.money(row, cost)
        if money is None:
            into.cover(when, stop, _daily(when))
            return
        granted = c.text(row, wallet).lower() in ("granted", "gift", "bonus")
        if granted:
            into.note(said("import_note.granted"))
        into.add(
            when,
            c.text(row, model),
            end=stop,
            spend=money.amount,
            currency=_currency(money, c.text(row, currency), "CNY"),
            daily=_daily(when),
        )

    _run(table, into, one)


# ------------------------------------------------------------------------------------------------------ Langfuse,
# Helicone


def read_langfuse(table: Table, into: Collector) -> None:
    """Langfuse observations: usage details are separate; the total tells whether cached ones are inside input."""
    c = Columns(table)
    start = c.at("start_time", "timestamp")
    model = c.at("provided_model_name", "model", "internal_model", "model_id")
    details, costs = c.at("usage_details"), c.at("cost_details")
    given = c.at("prompt_tokens", "input_usage", "input_tokens", "usage.input", "usage.prompt_tokens")
    out = c.at("completion_tokens", "output_usage", "output_tokens", "usage.output", "usage.completion_tokens")
    total = c.at("total_tokens", "total_usage", "usage.total", "usage.total_tokens")
    cost = c.at("total_cost", "calculated_total_cost", "cost")
    kind = c.at("type")
    into.units += ["tokens", said("import_unit.langfuse_usd")]
    into.per_request = True
    into.knows(new=True, output=True, requests=True)
    skipped = 0

    def one(line: int, row: list[Any]) -> None:
        nonlocal skipped
        if kind is not None and c.text(row, kind).upper() not in ("", "GENERATION", "EMBEDDING"):
            skipped += 1
            return
        when = c.instant(row, start)
        buckets = json_cell(row[details]) if details is not None else {}
        money = c.money(row, cost)
        if money is None and costs is not None:
            money = money_of(json_cell(row[costs]).get("total"))
        i: int | None
        if buckets:
            i, h, w, o = langfuse_buckets(buckets)
        else:
            i, o, h, w = c.count(row, given), c.count(row, out), None, None
            count_t = c.count(row, total)
            if i is None and o is None and count_t:
                raise CellError(said("import_cell.only_total"))
        if i is None and o is None and money is None:
            into.cover(when)
            return
        name = c.text(row, model)
        into.add(
            when,
            name,
            new=i or 0,
            cached=h,
            write_5m=w,
            output=o or 0,
            requests=1,
            spend=money.amount if money else None,
            billing=billing_of(name),
        )

    _run(table, into, one)
    if skipped:
        into.note(said("import_note.spans", n=f"{skipped:,}"))


def langfuse_buckets(buckets: Mapping[str, Any]) -> tuple[int | None, int | None, int | None, int | None]:
    """Split Langfuse usage details into new, cached, written and output tokens.

    The buckets are meant to be separate (input + cached + output = total); where total = input + output the cached
    ones are
    inside input after all.
    """
    values = {k: v for k, v in ((str(k), count_of(v)) for k, v in buckets.items()) if v is not None}
    total = values.pop("total", None)
    cached = written = extra_out = plain = other_in = None
    output = None
    for key, value in values.items():
        low = key.lower()
        if low in ("input", "prompt_tokens", "input_tokens"):
            plain = (plain or 0) + value
        elif low in ("output", "completion_tokens", "output_tokens"):
            output = (output or 0) + value
        elif "cache" in low and ("creat" in low or "write" in low):
            written = (written or 0) + value
        elif "cache" in low:
            cached = (cached or 0) + value
        elif "output" in low or "reasoning" in low or "completion" in low:
            extra_out = (extra_out or 0) + value
        elif "input" in low or "prompt" in low:
            other_in = (other_in or 0) + value
    if total is not None and plain is not None and output is not None and total == plain + output:
        # Everything else is inside these two.
        return split_input(plain, cached, written, inside=True), cached, written, output
    out = None if output is None and extra_out is None else (output or 0) + (extra_out or 0)
    new = None if plain is None and other_in is None else (plain or 0) + (other_in or 0)
    return new, cached, written, out


def read_helicone(table: Table, into: Collector) -> None:
    """Helicone requests: cached tokens are beside the prompt for Anthropic, inside it for all others."""
    c = Columns(table)
    start = c.at("request_created_at", "created_at", "response_created_at")
    model, second = c.at("response_model", "request_model", "model"), c.at("request_model", "model")
    given, out, total = c.at("prompt_tokens"), c.at("completion_tokens"), c.at("total_tokens")
    read, write = c.at("prompt_cache_read_tokens"), c.at("prompt_cache_write_tokens")
    cost = c.at("cost_usd", "cost", "costs")
    provider, target, served = c.at("provider"), c.at("target_url"), c.at("cache_reference_id", "cache_hit", "cached")
    into.units += ["tokens", said("import_unit.helicone_usd")]
    into.per_request = True
    into.knows(new=True, output=True, requests=True, cached=read is not None)

    def one(line: int, row: list[Any]) -> None:
        when = c.instant(row, start)
        name = c.text(row, model) or c.text(row, second)
        i, o, t = c.count(row, given), c.count(row, out), c.count(row, total)
        r, w = c.count(row, read), c.count(row, write)
        money = c.money(row, cost)
        if i is None and o is None and money is None:
            into.cover(when)
            return
        maker = c.text(row, provider).lower()
        beside = "anthropic" in maker or name.lower().startswith(("claude", "anthropic"))
        new = split_input(i or 0, r, w, inside=not beside, output=o, grand_total=t)
        own = c.text(row, served).lower()
        billing = billing_of(name, maker, c.text(row, target))
        if own and own not in ("false", "0", "miss", "00000000-0000-0000-0000-000000000000"):
            billing = "free"
        into.add(
            when,
            name,
            new=new,
            cached=r,
            write_5m=w,
            output=o or 0,
            requests=1,
            spend=money.amount if money else None,
            billing=billing,
        )

    _run(table, into, one)


# ----------------------------------------------------------------------------------------------------------------
# traces


def read_azure_trace(table: Table, into: Collector) -> None:
    """Azure LLM inference trace: a row a request with its instant, prompt and generated tokens."""
    c = Columns(table)
    start, given, out = c.at("timestamp"), c.at("context_tokens"), c.at("generated_tokens")
    into.units.append("tokens")
    into.per_request = True

    def one(line: int, row: list[Any]) -> None:
        when = c.instant(row, start)
        i, o = c.count(row, given), c.count(row, out)
        if i is None or o is None:
            raise CellError(said("import_cell.no_counts"))
        into.add(when, TRACE, new=i, output=o, requests=1)

    _run(table, into, one)
    into.note(said("import_note.trace"))


def read_burstgpt(table: Table, into: Collector) -> None:
    """BurstGPT trace: seconds since its start; a response of 0 tokens is a failure."""
    c = Columns(table)
    start, model = c.at("timestamp"), c.at("model")
    given, out = c.at("request_tokens"), c.at("response_tokens")
    into.units.append("tokens")
    into.per_request = into.relative = True
    failed = 0

    def one(line: int, row: list[Any]) -> None:
        nonlocal failed
        seconds = c.number(row, start)
        i, o = c.count(row, given), c.count(row, out)
        if seconds is None or i is None or o is None:
            raise CellError(said("import_cell.no_time_or_counts"))
        if not 0 <= seconds < 10**10:
            raise CellError(said("import_cell.not_seconds"))
        failed += o == 0
        into.add(Instant(float(seconds), True), c.text(row, model), new=i, output=o, requests=1)

    _run(table, into, one)
    if failed:
        into.note(said("import_note.no_answer", n=f"{failed:,}"))


def read_mooncake(table: Table, into: Collector) -> None:
    """Mooncake trace: milliseconds since its start; hash ids of prompt blocks tell what a perfect cache would reuse."""
    c = Columns(table)
    start, given, out, ids = c.at("timestamp"), c.at("input_length"), c.at("output_length"), c.at("hash_ids")
    into.units += ["tokens", said("import_unit.ms_since_start")]
    into.per_request = into.relative = True
    seen: set[int] = set()
    hits = blocks = 0
    full = False

    def one(line: int, row: list[Any]) -> None:
        nonlocal hits, blocks, full
        milliseconds = c.number(row, start)
        i, o = c.count(row, given), c.count(row, out)
        if milliseconds is None or i is None or o is None:
            raise CellError(said("import_cell.no_time_or_counts"))
        if not 0 <= milliseconds < 10**13:
            raise CellError(said("import_cell.not_milliseconds"))
        into.add(Instant(float(milliseconds) / 1000, True), TRACE, new=i, output=o, requests=1)
        chain = row[ids] if ids is not None else None
        if isinstance(chain, list) and not full:
            fresh = False
            for block in chain:
                if not isinstance(block, int):
                    continue
                blocks += 1
                fresh = fresh or block not in seen
                hits += not fresh
                seen.add(block)
            full = len(seen) > 3_000_000

    _run(table, into, one)
    if blocks:
        into.serving_hits = (hits, blocks)
        into.note(said("import_note.blocks", hits=f"{hits:,}", blocks=f"{blocks:,}", share=f"{hits / blocks:.1%}"))


# --------------------------------------------------------------------------------------------------------- cloud
# billing

_AI_SERVICES: Final = re.compile(
    r"bedrock|sagemaker|openai|anthropic|claude|cognitive services|foundry|azure ai|ai "
    r"services|vertex|gemini|generative|"
    r"language model|llm|mistral|cohere|llama|deepseek|kimi|qwen|gpt|ai and machine learning|inference",
    re.I,
)


def _cloud_model(text: str) -> str:
    """Strip the direction, unit and region words from a meter's name so that one model's meters share a name."""
    name = re.sub(r"^(AWS Marketplace software usage|[A-Z]{2,4}\d?-)\b[|:]?", "", text.strip())
    name = re.sub(r"(?i)\b(per|for|in|using)\b.*\btokens?\b.*$", "", name) if len(name) > 60 else name
    name = re.sub(
        r"(?i)[-_ "
        r".:]*\b(input|output|inp|outp|opt|cached?|cchd|cch|cd|read|write|hit|miss|prompt|completion|response|tokens?|"
        r"tokencount|count|batch|1k|1m|million|thousand|text|glbl|global|regional|regnl|dzone|data "
        r"?zone|units|standard|short|long|"
        r"predictions?|context)\b",
        " ",
        name,
    )
    return re.sub(r"[\s\-_,:.]+$", "", re.sub(r"\s+", " ", name)).strip(" -_,:|.")


def _cloud(into: Collector, entries: Iterator[tuple[int, dict[str, Any] | str]]) -> None:
    """Add rows of a bill; rows of other services are 'other' if any row names an AI service, else all are API spend."""
    found_ai = found_other = False
    for line, entry in entries:
        if isinstance(entry, str):
            into.refuse(line, entry)
            continue
        if entry.pop("empty", False):
            into.cover(entry["when"], entry["end"], _daily(entry["when"]))
            continue
        is_ai = bool(entry.pop("ai"))
        found_ai, found_other = found_ai or is_ai, found_other or not is_ai
        into.add(billing="api" if is_ai else "other", **entry)
    if found_other and not found_ai:
        into.all_api()
        into.note(said("import_note.no_ai_service"))
    elif found_other:
        into.note(said("import_note.other_services"))


def _entries(
    table: Table, into: Collector, one: Callable[[list[Any]], dict[str, Any]]
) -> Iterator[tuple[int, dict[str, Any] | str]]:
    for line, cells in table.rows:
        if isinstance(cells, str):
            yield line, cells
            continue
        try:
            yield line, one(cells)
        except CellError as error:
            yield line, error.why


def read_focus(table: Table, into: Collector) -> None:
    """FOCUS 1.x: BilledCost is the bill, ListCost the list price; token meters say what they count."""
    c = Columns(table)
    start = c.at("charge_period_start", "billing_period_start")
    end = c.at("charge_period_end", "billing_period_end")
    billed, effective, listed = c.at("billed_cost"), c.at("effective_cost"), c.at("list_cost")
    currency, category = c.at("billing_currency"), c.at("charge_category")
    service, service_category = c.at("service_name"), c.at("service_category")
    provider = c.at("service_provider_name", "provider_name", "publisher_name")
    meter, description, sku = c.at("sku_meter"), c.at("charge_description"), c.at("sku_id")
    details = c.at("sku_price_details", "x_sku_details")
    quantity, unit = c.at("consumed_quantity"), c.at("consumed_unit")
    priced, price_unit = c.at("pricing_quantity"), c.at("pricing_unit")
    into.units.append(said("import_unit.focus"))
    amortised = Decimal(0)
    paid = Decimal(0)

    def one(row: list[Any]) -> dict[str, Any]:
        nonlocal amortised, paid
        when, stop = c.instant(row, start), c.until(row, end)
        money, list_money, spread = c.money(row, billed), c.money(row, listed), c.money(row, effective)
        if money is None and spread is not None:
            money = spread
        if money is None and list_money is None:
            return {"when": when, "end": stop, "empty": True}
        if money is not None and spread is not None:
            amortised, paid = amortised + spread.amount, paid + money.amount
        info = {header_key(str(k)): v for k, v in json_cell(row[details]).items()} if details is not None else {}
        direction = str(info.get("tokendirection", "")).lower()
        action = str(info.get("tokencacheaction", "")).lower()
        words = f"{c.text(row, meter)} {c.text(row, description)}"
        kind = (
            (
                "output"
                if direction == "output"
                else "cached"
                if action == "read"
                else "write_5m"
                if action == "write"
                else "new"
                if direction == "input"
                else None
            )
            or token_kind(c.text(row, meter))
            or token_kind(words)
        )
        tokens: _Tokens = {}
        for amount_at, unit_at in ((quantity, unit), (priced, price_unit)):
            scale = token_scale(c.text(row, unit_at)) if unit_at is not None else None
            number = c.number(row, amount_at) if scale else None
            if kind and scale and number is not None:
                tokens = _as_tokens(kind, number * scale)
                break
        name = (
            text_of(info.get("modelid")) or (_cloud_model(c.text(row, sku)) if tokens else "") or c.text(row, service)
        )
        ai = bool(tokens) or bool(
            _AI_SERVICES.search(" ".join((c.text(row, service), c.text(row, service_category), words)))
        )
        if c.text(row, category).lower() in ("purchase", "tax", "credit", "adjustment"):
            into.note(said("import_note.purchases"))
        return {
            "when": when,
            "end": stop,
            "model": name or c.text(row, provider) or c.text(row, description),
            "spend": money.amount if money else None,
            "list_spend": list_money.amount if list_money else None,
            "currency": _currency(money, c.text(row, currency), "?"),
            "ai": ai,
            **tokens,
        }

    _cloud(into, _entries(table, into, one))
    if amortised != paid:
        into.note(said("import_note.effective_cost", amortised=f"{amortised:,.2f}", paid=f"{paid:,.2f}"))


def read_aws_cur(table: Table, into: Collector) -> None:
    """AWS Cost and Usage Report, both versions: unblended cost; Bedrock usage types say what they count."""
    c = Columns(table)
    start, end = c.at("line_item_usage_start_date"), c.at("line_item_usage_end_date")
    code, usage_type = c.at("line_item_product_code"), c.at("line_item_usage_type")
    amount, cost = c.at("line_item_usage_amount"), c.at("line_item_unblended_cost")
    currency = c.at("line_item_currency_code")
    description = c.at("line_item_line_item_description")
    product = c.at("product_product_name", "product_servicename")
    unit = c.at("pricing_unit")
    on_demand = c.at("pricing_public_on_demand_cost")
    into.units.append(said("import_unit.aws"))

    def one(row: list[Any]) -> dict[str, Any]:
        when, stop = c.instant(row, start), c.until(row, end)
        money, listed = c.money(row, cost), c.money(row, on_demand)
        if money is None:
            return {"when": when, "end": stop, "empty": True}
        kind_text, words = c.text(row, usage_type), c.text(row, description)
        named = c.text(row, product)
        if not named and product is None:
            info = c.at("product")
            named = text_of(json_cell(row[info]).get("product_name")) if info is not None else ""
        kind = token_kind(kind_text) or token_kind(words)
        scale = (
            token_scale(c.text(row, unit))
            or (token_scale(words) if "token" in words.lower() else None)
            or (token_scale(kind_text) if "token" in kind_text.lower() and "-units" not in kind_text.lower() else None)
        )
        number = c.number(row, amount) if kind and scale else None
        tokens = _as_tokens(kind, number * scale) if kind and scale and number is not None and number >= 0 else {}
        ai = bool(tokens) or bool(_AI_SERVICES.search(" ".join((c.text(row, code), named, kind_text))))
        stem = re.sub(r"^[A-Z]{2,4}\d?-", "", kind_text)
        name = (_cloud_model(stem) if ai and kind and "MP:" not in stem else "") or named or c.text(row, code)
        return {
            "when": when,
            "end": stop,
            "model": name,
            "spend": money.amount,
            "ai": ai,
            "list_spend": listed.amount if listed else None,
            "currency": _currency(money, c.text(row, currency), "USD"),
            **tokens,
        }

    _cloud(into, _entries(table, into, one))


def read_azure_cost(table: Table, into: Collector) -> None:
    """Azure cost export (EA, MCA, pay as you go): quantity x unit of measure is tokens for the AI meters."""
    c = Columns(table)
    start = c.at("date", "usage_date_time", "usage_date", "datum")
    category, sub = c.at("meter_category", "verbrauchskategorie"), c.at("meter_sub_category")
    meter = c.at("meter_name", "meter")
    service, consumed = c.at("service_name", "service_family"), c.at("consumed_service")
    product = c.at("product_name", "product")
    quantity, unit = c.at("quantity", "usage_quantity"), c.at("unit_of_measure")
    cost = c.at(
        "cost_in_billing_currency",
        "pre_tax_cost",
        "cost",
        "cost_in_pricing_currency",
        "kosten",
        "cost_usd",
        "cost_in_usd",
    )
    listed = c.at("payg_cost_in_billing_currency")
    currency = c.at(
        "billing_currency",
        "billing_currency_code",
        "currency",
        "pricing_currency",
        "währung",
        "abrechnungswährung",
    )
    in_usd = cost is not None and table.keys[cost] in ("costusd", "costinusd")
    into.units.append(said("import_unit.azure"))

    def one(row: list[Any]) -> dict[str, Any]:
        when = c.instant(row, start)
        day_end = Instant(when.epoch_s + 86400, False) if when is not None and not when.has_time else None
        money, list_money = c.money(row, cost), c.money(row, listed)
        if money is None:
            return {"when": when, "end": day_end, "empty": True}
        words = f"{c.text(row, meter)} {c.text(row, product)}"
        kind = token_kind(c.text(row, meter)) or token_kind(words)
        service_text = " ".join(c.text(row, at) for at in (category, sub, service, consumed))
        ai = bool(_AI_SERVICES.search(service_text + " " + words))
        measure = c.text(row, unit)
        scale = token_scale(measure) if ai and (kind or "token" in words.lower()) else None
        if scale is None and "token" in words.lower() and measure.strip() in ("1", ""):
            scale = token_scale(words)
        number = c.number(row, quantity) if kind and scale else None
        tokens = _as_tokens(kind, number * scale) if kind and scale and number is not None and number >= 0 else {}
        name = (_cloud_model(c.text(row, meter)) if ai else "") or c.text(row, meter) or c.text(row, category)
        return {
            "when": when,
            "end": day_end,
            "model": name,
            "spend": money.amount,
            "ai": ai,
            "list_spend": list_money.amount if list_money else None,
            "currency": "USD" if in_usd else _currency(money, c.text(row, currency), "?"),
            **tokens,
        }

    _cloud(into, _entries(table, into, one))


def read_gcp_billing(table: Table, into: Collector) -> None:
    """GCP billing export (BigQuery JSON or CSV, console cost table): cost plus credits is what is paid."""
    c = Columns(table)
    start, end = c.at("usage_start_time", "usage_start_date"), c.at("usage_end_time", "usage_end_date")
    service, sku = c.at("service.description"), c.at("sku.description")
    cost = c.at("cost", "unrounded_cost", "unrounded_subtotal", "subtotal")
    credits_at, listed = c.at("credits"), c.at("cost_at_list", "list_cost")
    currency = c.at("currency")
    amount, unit = c.at("usage.amount"), c.at("usage.unit")
    priced, price_unit = c.at("usage.amount_in_pricing_units"), c.at("usage.pricing_unit")
    into.units.append(said("import_unit.gcp"))
    in_dollars = cost is not None and "$" in table.headers[cost]

    def one(row: list[Any]) -> dict[str, Any]:
        when, stop = c.instant(row, start), c.until(row, end)
        money, list_money = c.money(row, cost), c.money(row, listed)
        if money is None:
            return {"when": when, "end": stop, "empty": True}
        net = money.amount
        given = row[credits_at] if credits_at is not None else None
        for credit in _credits(given):
            found = money_of(credit.get("amount"))
            net += found.amount if found else Decimal(0)
        name = c.text(row, sku)
        kind = token_kind(name)
        ai = bool(_AI_SERVICES.search(f"{c.text(row, service)} {name}"))
        tokens: _Tokens = {}
        for amount_at, unit_at in ((amount, unit), (priced, price_unit)):
            measure = c.text(row, unit_at)
            scale = token_scale(measure) or (
                1 if measure.lower() in ("count", "counts") and "token" in name.lower() else None
            )
            number = c.number(row, amount_at) if kind and scale and ai else None
            if kind and scale and number is not None and number >= 0:
                tokens = _as_tokens(kind, number * scale)
                break
        return {
            "when": when,
            "end": stop,
            "model": (_cloud_model(name) if ai else "") or c.text(row, service),
            "spend": net,
            "list_spend": list_money.amount if list_money else None,
            "ai": ai,
            "currency": "USD" if in_dollars and currency is None else _currency(money, c.text(row, currency), "?"),
            **tokens,
        }

    _cloud(into, _entries(table, into, one))


def _credits(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, list):
        return [v for v in value if isinstance(v, dict)]
    if isinstance(value, str) and value.lstrip().startswith("["):
        return [v for v in (json_cell("{" + part + "}") for part in re.findall(r"\{([^{}]*)\}", value)) if v]
    return []


# ---------------------------------------------------------------------------------------------------------------
# generic

GENERIC_FIELDS: Final[Mapping[str, str]] = {
    name: said(f"import_field.{name}")
    for name in (
        "time",
        "end_time",
        "model",
        "input_tokens",
        "new_input_tokens",
        "cached_input_tokens",
        "cache_write_tokens",
        "cache_write_1h_tokens",
        "output_tokens",
        "total_tokens",
        "requests",
        "cost",
        "currency",
        "provider",
    )
}
"""Fields of a column mapping with their labels. Needed: input and output tokens, or cost, or requests."""

_GUESSES: Final[Mapping[str, tuple[str, ...]]] = {
    "time": (
        "timestamp",
        "time",
        "datetime",
        "date",
        "day",
        "hour",
        "created_at",
        "created",
        "start_time",
        "starttime",
        "start",
        "usage_date",
        "usage_date_utc",
        "period",
        "month",
        "datum",
        "zeit",
        "zeitpunkt",
        "zeitstempel",
        "tag",
        "uhrzeit",
        "monat",
        "fecha",
        "jour",
        "日期",
        "时间",
        "utc_date",
        "timestamp_hour",
    ),
    "end_time": ("end_time", "endtime", "end", "ende", "endzeit"),
    "model": (
        "model",
        "model_name",
        "model_id",
        "modelname",
        "slug",
        "model_version",
        "modell",
        "modellname",
        "modele",
        "modèle",
        "modelo",
        "模型",
        "deployment",
        "engine",
    ),
    "new_input_tokens": (
        "uncached_input_tokens",
        "new_input_tokens",
        "input_tokens_no_cache",
        "input_uncached_tokens",
        "cache_miss_tokens",
        "input_cache_miss_tokens",
        "prompt_cache_miss_tokens",
        "neue_eingabetokens",
    ),
    "input_tokens": (
        "input_tokens",
        "prompt_tokens",
        "tokens_prompt",
        "tokens_in",
        "tokens_input",
        "input",
        "prompt",
        "in_tokens",
        "inputtoken",
        "total_input_tokens",
        "context_tokens",
        "contexttokens",
        "request_tokens",
        "input_length",
        "eingabetokens",
        "eingabe_token",
        "eingabe",
        "eingangstokens",
        "tokens_eingabe",
        "tokens_entree",
        "输入tokens",
        "输入",
    ),
    "cached_input_tokens": (
        "cached_input_tokens",
        "input_cached_tokens",
        "cached_tokens",
        "tokens_cached",
        "cache_read_input_tokens",
        "cache_read_tokens",
        "cache_hit_tokens",
        "input_cache_hit_tokens",
        "prompt_cache_hit_tokens",
        "cached",
        "cache_read",
        "zwischengespeicherte_tokens",
        "gecachte_tokens",
        "cachetokens",
        "zwischengespeicherte_eingabetokens",
        "gecachte_eingabetokens",
        "cache_tokens",
    ),
    "cache_write_tokens": (
        "cache_write_tokens",
        "cache_creation_input_tokens",
        "cache_creation_tokens",
        "cache_write",
        "cache_write_5m_tokens",
        "cache_schreib_tokens",
    ),
    "cache_write_1h_tokens": ("cache_write_1h_tokens", "cache_creation_1h_input_tokens"),
    "output_tokens": (
        "output_tokens",
        "completion_tokens",
        "tokens_completion",
        "tokens_out",
        "tokens_output",
        "output",
        "completion",
        "out_tokens",
        "generated_tokens",
        "generatedtokens",
        "response_tokens",
        "total_output_tokens",
        "output_length",
        "ausgabetokens",
        "ausgabe_token",
        "ausgabe",
        "ausgangstokens",
        "tokens_ausgabe",
        "tokens_sortie",
        "输出tokens",
        "输出",
    ),
    "total_tokens": ("total_tokens", "tokens_total", "totaltokens", "gesamttokens", "tokens_gesamt"),
    "requests": (
        "requests",
        "request_count",
        "num_requests",
        "num_model_requests",
        "n_requests",
        "calls",
        "api_requests",
        "count",
        "anfragen",
        "anzahl_anfragen",
        "aufrufe",
        "anzahl",
        "requetes",
        "requêtes",
        "请求数",
        "api_calls",
    ),
    "cost": (
        "cost",
        "cost_usd",
        "spend",
        "amount",
        "total_cost",
        "cost_total",
        "usage_usd",
        "price",
        "spend_usd",
        "usd",
        "amount_usd",
        "costusd",
        "total_spend",
        "estimated_cost",
        "kosten",
        "betrag",
        "gesamtkosten",
        "kosten_eur",
        "kosten_usd",
        "preis",
        "cout",
        "coût",
        "coste",
        "费用",
        "金额",
        "cost_eur",
        "amount_value",
        "billed_cost",
        "cost_cents",
        "amount_cents",
        "spend_cents",
        "cents",
    ),
    "currency": ("currency", "billing_currency", "amount_currency", "währung", "waehrung", "devise", "moneda", "币种"),
    "provider": ("provider", "vendor", "anbieter", "api_base", "custom_llm_provider"),
}

_CURRENCIES_IN_NAMES: Final = {
    "usd": "USD",
    "eur": "EUR",
    "gbp": "GBP",
    "cny": "CNY",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
}


def guess_columns(table: Table) -> dict[str, str]:
    """Guess which column is which field, by name: {field: header}. Fields that no column fits are left out."""
    found: dict[str, str] = {}
    used: set[int] = set()
    bare = [header_key(re.sub(r"[\(\[].*?[\)\]]", "", h)) for h in table.headers]
    for name, spellings in _GUESSES.items():
        for spelling in spellings:
            key = header_key(spelling)
            at = next((i for i, k in enumerate(table.keys) if k == key and i not in used), None)
            if at is None:
                at = next((i for i, k in enumerate(bare) if k == key and i not in used), None)
            if at is not None:
                found[name] = table.headers[at]
                used.add(at)
                break
    beside = {header_key(found.get(f, "")) for f in ("cached_input_tokens", "cache_write_tokens")} & {
        "cachereadinputtokens",
        "cachecreationinputtokens",
    }
    if beside and "new_input_tokens" not in found and header_key(found.get("input_tokens", "")) == "inputtokens":
        # These are the names of Anthropic's API, where input_tokens has neither cached reads nor writes in it.
        found["new_input_tokens"] = found.pop("input_tokens")
    return found


def _header_scale(header: str) -> int:
    """Tell the unit of a token column from its name: 'Input tokens (K)', 'Tokens in Mio' or 'output_mtok'."""
    low = header.lower()
    if re.search(r"[(\[]\s*(m|mm|mio\.?|millions?|mtok|m tokens?)\s*[)\]]|\bin (millions|mio)|_mtok$|_millions$", low):
        return 1_000_000
    if re.search(
        r"[(\[]\s*(k|tsd\.?|thousands?|tausend|ktok|k tokens?|1k|1000)\s*[)\]]|\bin (thousands|tsd)|_ktok$", low
    ):
        return 1_000
    return 1


def generic_is_enough(columns: Mapping[str, str]) -> bool:
    """Say whether a mapping has what a report needs: input and output tokens, or cost, or requests with a time."""
    tokens = ("input_tokens" in columns or "new_input_tokens" in columns) and "output_tokens" in columns
    return tokens or "cost" in columns or ("requests" in columns and "time" in columns)


def read_generic(table: Table, into: Collector, mapping: Mapping[str, str]) -> None:
    """Read a table by a column mapping {field of GENERIC_FIELDS: column name}.

    Raises:
        ImportRefused: a field or column does not exist, or the mapping lacks what is needed.
    """
    unknown = [f for f in mapping if f not in GENERIC_FIELDS]
    if unknown:
        raise ImportRefused(said("import_refused.no_field", field=repr(unknown[0]), fields=", ".join(GENERIC_FIELDS)))
    places: dict[str, int] = {}
    for name, column in mapping.items():
        if not column:
            continue
        at = next((i for i, h in enumerate(table.headers) if h == column), None)
        at = table.find(column) if at is None else at
        if at is None:
            raise ImportRefused(
                said("import_refused.no_column", column=repr(column), field=name, columns=listed(table.headers))
            )
        places[name] = at
    if not generic_is_enough({k: "" for k in places}):
        raise ImportRefused(said("import_refused.not_enough", columns=listed(table.headers)))
    c = Columns(table)
    used = [f"{name} = {table.headers[at]}" for name, at in places.items()]
    into.note(said("import_note.columns_used", columns=joined(used, "list.semicolon")))
    cost_at = places.get("cost")
    default_currency = "USD"
    if cost_at is not None:
        parts = set(re.split(r"[^a-z$€£]+", re.sub(r"([$€£])", r" \1 ", table.headers[cost_at].lower())))
        named = [
            code for mark, code in _CURRENCIES_IN_NAMES.items() if mark in parts or table.keys[cost_at].endswith(mark)
        ]
        default_currency = named[0] if named else ""
    into.units += (["tokens"] if "output_tokens" in places else []) + (
        [said("import_unit.money")] if cost_at is not None else []
    )
    both = "input_tokens" in places
    has_new = both or "new_input_tokens" in places
    into.knows(
        new=has_new,
        cached="cached_input_tokens" in places,
        output="output_tokens" in places,
        requests="requests" in places,
    )
    if both and "cached_input_tokens" in places:
        into.note(said("import_note.cached_inside"))
    assumed = False

    def cell(name: str) -> int | None:
        return places.get(name)

    cents = 100 if cost_at is not None and re.search(r"(?i)\bcents?\b|_cents?$", table.headers[cost_at]) else 1
    if cents == 100:
        into.units.append(said("import_unit.cents"))
    scales = {name: _header_scale(table.headers[at]) for name, at in places.items() if name.endswith("_tokens")}
    for name, scale in scales.items():
        if scale > 1:
            into.note(said("import_note.scaled", column=table.headers[places[name]], n=f"{scale:,}"))

    def tokens(row: list[Any], name: str) -> int | None:
        if scales.get(name, 1) == 1:
            return c.count(row, cell(name))
        number = c.number(row, cell(name))
        if number is not None and number < 0:
            raise CellError(said("import_cell.negative", cell=shown(number)))
        return None if number is None else _as_tokens("new", number * scales[name])["new"]

    def one(line: int, row: list[Any]) -> None:
        nonlocal assumed
        when, stop = c.instant(row, cell("time")), c.until(row, cell("end_time"))
        if stop is None and when is not None and re.fullmatch(r"\d{4}[-/.]\d{1,2}", c.text(row, cell("time"))):
            # A row of a month, not of its first day.
            stop = Instant((when.epoch_s // 86400 + 32) * 86400, False)
            stop = instant_of(iso_day(stop.epoch_s)[:8] + "01")
        given, new_only = tokens(row, "input_tokens"), tokens(row, "new_input_tokens")
        h, w5, w1 = (tokens(row, f) for f in ("cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens"))
        o, total = tokens(row, "output_tokens"), tokens(row, "total_tokens")
        n, money = c.count(row, cell("requests")), c.money(row, cost_at)
        if given is None and new_only is None and o is None and n is None and money is None:
            into.cover(when, stop, _daily(when))
            return
        writes = None if w5 is None and w1 is None else (w5 or 0) + (w1 or 0)
        new = (
            new_only
            if new_only is not None
            else split_input(given, h, writes, inside=True, output=o, grand_total=total)
        )
        name = c.text(row, cell("model"))
        currency = _currency(money, c.text(row, cell("currency")), default_currency)
        if money is not None and not currency:
            currency, assumed = "USD", True
        into.add(
            when,
            name,
            end=stop,
            new=new,
            cached=h,
            write_5m=w5,
            write_1h=w1,
            output=o,
            requests=n,
            spend=money.amount / cents if money else None,
            currency=currency or "USD",
            billing=billing_of(name, c.text(row, cell("provider"))),
            daily=_daily(when),
        )

    _run(table, into, one)
    if assumed:
        into.note(said("import_note.usd_assumed"))
        into.questions.append(said("import_ask.usd"))


# --------------------------------------------------------------------------------------------------------------
# register

TABLE_FORMATS: Final = (
    TableFormat(
        "anthropic_usage",
        said("import_label.anthropic_usage"),
        "anthropic",
        (("usage_input_tokens_no_cache", "uncached_input_tokens"), ("usage_output_tokens",)),
        read_anthropic_usage,
    ),
    TableFormat(
        "anthropic_cost",
        said("import_label.anthropic_cost"),
        "anthropic",
        (("cost_usd",), ("token_type", "cost_type"), ("usage_date_utc", "date")),
        read_anthropic_cost,
    ),
    TableFormat(
        "openai_costs",
        said("import_label.openai_costs"),
        "openai",
        (("amount_value", "amount.value"), ("amount_currency", "amount.currency"), ("start_time", "start_time_iso")),
        read_openai_costs,
    ),
    TableFormat(
        "openai_usage",
        said("import_label.openai_usage"),
        "openai",
        (
            ("input_tokens", "n_context_tokens_total"),
            ("output_tokens", "n_generated_tokens_total"),
            ("num_model_requests", "n_requests"),
            ("start_time", "start_time_iso", "timestamp", "aggregation_timestamp", "date"),
        ),
        read_openai_usage,
    ),
    TableFormat(
        "openrouter",
        said("import_label.openrouter"),
        "",
        (
            ("byok_usage", "byok_usage_inference", "generation_id"),
            ("prompt_tokens", "tokens_prompt"),
            ("slug", "model_permaslug", "model"),
        ),
        read_openrouter,
    ),
    TableFormat(
        "litellm_logs",
        said("import_label.litellm_logs"),
        "",
        (("spend",), ("prompt_tokens",), ("completion_tokens",), ("startTime",)),
        read_litellm_logs,
    ),
    TableFormat(
        "deepseek_usage",
        said("import_label.deepseek_usage"),
        "deepseek",
        (("type",), ("amount",), ("model",), ("utc_date", "start_time_iso"), ("api_key_name", "price", "api_key")),
        read_deepseek_usage,
    ),
    TableFormat(
        "deepseek_cost",
        said("import_label.deepseek_cost"),
        "deepseek",
        (("wallet_type",), ("cost",), ("currency",), ("model",)),
        read_deepseek_cost,
    ),
    TableFormat(
        "focus",
        "FOCUS 1.x",
        "",
        (("BilledCost",), ("BillingCurrency",), ("ChargePeriodStart", "BillingPeriodStart")),
        read_focus,
    ),
    TableFormat(
        "aws_cur",
        said("import_label.aws_cur"),
        "",
        (
            ("lineItem/UnblendedCost", "line_item_unblended_cost"),
            ("lineItem/UsageStartDate", "line_item_usage_start_date"),
            ("lineItem/UsageType", "line_item_usage_type"),
        ),
        read_aws_cur,
    ),
    TableFormat(
        "azure_cost",
        said("import_label.azure_cost"),
        "",
        (
            ("MeterCategory", "MeterName", "Meter", "Verbrauchskategorie"),
            ("CostInBillingCurrency", "PreTaxCost", "Cost", "CostInPricingCurrency", "Kosten", "CostUSD", "CostInUsd"),
            ("Date", "UsageDateTime", "UsageDate", "Datum"),
        ),
        read_azure_cost,
    ),
    TableFormat(
        "gcp_billing",
        said("import_label.gcp_billing"),
        "",
        (
            ("service.description", "Service description"),
            ("sku.description", "SKU description"),
            ("cost", "Cost ($)", "Unrounded cost ($)", "Subtotal ($)", "Unrounded subtotal ($)"),
        ),
        read_gcp_billing,
    ),
    TableFormat(
        "langfuse",
        said("import_label.langfuse"),
        "",
        (
            ("traceId", "trace_id"),
            ("startTime", "start_time", "timestamp"),
            (
                "usageDetails",
                "promptTokens",
                "inputUsage",
                "inputTokens",
                "usage.input",
                "usage_details",
                "totalTokens",
            ),
        ),
        read_langfuse,
    ),
    TableFormat(
        "helicone",
        said("import_label.helicone"),
        "",
        (
            ("prompt_tokens", "promptTokens"),
            ("completion_tokens", "completionTokens"),
            (
                "request_created_at",
                "requestCreatedAt",
                "response_created_at",
                "responseCreatedAt",
                "helicone_user",
            ),
            ("request_model", "response_model", "model", "requestModel", "responseModel"),
        ),
        read_helicone,
    ),
    TableFormat(
        "azure_trace",
        said("import_label.azure_trace"),
        "",
        (("TIMESTAMP",), ("ContextTokens",), ("GeneratedTokens",)),
        read_azure_trace,
    ),
    TableFormat(
        "burstgpt",
        said("import_label.burstgpt"),
        "",
        (("Timestamp",), ("Request tokens",), ("Response tokens",)),
        read_burstgpt,
    ),
    TableFormat(
        "mooncake",
        said("import_label.mooncake"),
        "",
        (("timestamp",), ("input_length",), ("output_length",)),
        read_mooncake,
    ),
    TableFormat(
        "litellm_export",
        said("import_label.litellm_export"),
        "",
        (
            ("date",),
            ("spend", "spend ($)", "total_spend"),
            ("requests", "api_requests", "total_requests", "prompt_tokens", "total_tokens"),
            (
                "team",
                "team_id",
                "team_alias",
                "key_alias",
                "api_key_alias",
                "user_id",
                "tag",
                "organization",
                "model_group",
                "api_requests",
                "successful_requests",
                "successful",
                "entity",
            ),
        ),
        read_litellm_export,
    ),
)
"""Formats in the order in which they are tried: the most particular first."""

BY_KIND: Final = {f.kind: f for f in TABLE_FORMATS}


def detect(table: Table) -> TableFormat | None:
    """Give the first format whose needed columns all exist."""
    return next((f for f in TABLE_FORMATS if not f.missing(table)), None)
