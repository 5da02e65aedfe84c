"""What a usage export says: tokens, requests and money by model and hour or day, and the scenario that follows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, Literal, Protocol

from calculators.profile import encode_weights
from calculators.records import Offer
from calculators.texts import listed as joined
from calculators.texts import said
from calculators.units import HOURS_PER_MONTH
from calculators.usage_import.cells import Instant, iso_day, iso_second
from calculators.usage_import.errors import CellError, ImportRefused, listed, then

Billing = Literal["api", "free", "self-hosted", "other"]
"""'api' is spend that a baseline offer can replace. Free tiers, own servers, other services are not."""

REFUSED_SHOWN: Final = 20
"""How many refused rows are listed; the rest are counted."""

MAX_MODELS: Final = 1_000
MAX_BUCKETS: Final = 120_000
OTHER_MODELS: Final = said("import_model.other")
UNKNOWN_MODEL: Final = said("import_model.unnamed")
ALL_MODELS: Final = said("import_model.all")
NO_BREAKDOWN: Final = said("import_model.no_breakdown")
TRACE: Final = said("import_model.trace")
MAX_MEAN_TOKENS: Final = 1_048_576
_HOUR: Final = 3600
_DAY: Final = 86_400


class OfferLookup(Protocol):
    """The part of the catalog that the import needs."""

    def offer(self, id_or_alias: str) -> Offer | None:
        """Give the offer of exactly this id or alias, or None."""


@dataclass(frozen=True)
class RefusedRow:
    """A row that was not used, and why."""

    line: int
    why: str


@dataclass(frozen=True)
class Amounts:
    """Sums of rows. None means that the file does not say, which is not 0.

    `new_input_tokens` are billed at the input price, `cached_input_tokens` at the cache-hit price, the writes at their
    write prices: the four never overlap, whatever the provider's columns do. Reasoning tokens are inside output.
    """

    new_input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_5m_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    requests: int | None = None
    spend: Mapping[str, Decimal] = field(default_factory=dict)
    list_spend: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def input_tokens(self) -> int | None:
        """All input: new, cached and written to the cache."""
        if self.new_input_tokens is None:
            return None
        return self.new_input_tokens + (self.cached_input_tokens or 0) + self.cache_write_tokens

    @property
    def cache_write_tokens(self) -> int:
        """Both kinds of cache writes; 0 where the file does not know any."""
        return (self.cache_write_5m_tokens or 0) + (self.cache_write_1h_tokens or 0)

    @property
    def total_tokens(self) -> int | None:
        """Input plus output."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    def to_json_dict(self) -> dict[str, Any]:
        """Give plain JSON values; money as decimal strings, exact to the last digit of the file."""
        return {
            "new_input_tokens": self.new_input_tokens,
            "cached_input_tokens": self.cached_input_tokens,
            "cache_write_5m_tokens": self.cache_write_5m_tokens,
            "cache_write_1h_tokens": self.cache_write_1h_tokens,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total_tokens,
            "requests": self.requests,
            "spend": {c: money_text(v) for c, v in self.spend.items()},
            "list_spend": {c: money_text(v) for c, v in self.list_spend.items()},
        }


@dataclass(frozen=True)
class UsageRecord:
    """Amounts of one model in one hour or day.

    period: '2026-11-02' (day) or '2026-11-02T07:00:00Z' (hour), UTC; '+3 h' where a trace has no calendar; '' if
    undated.
    """

    model: str
    billing: Billing
    period: str
    amounts: Amounts


@dataclass(frozen=True)
class ModelTotal:
    """Amounts of one model over the whole file, and what is known of its price.

    price: 'in file' (the file has its spend), 'list' (no spend, but the catalog has exactly this offer),
    'unpriced' (neither),
    'free', 'self-hosted' or 'other service'.
    """

    model: str
    billing: Billing
    amounts: Amounts
    offer_id: str | None
    price: str


@dataclass(frozen=True)
class Coverage:
    """The time that a file covers, UTC.

    `last` is the end of the last bucket or day, for traces the last instant. `days_with_data` counts calendar days with
    rows, empty buckets included; `days_spanned` counts all days from first to last. `hours` is None when it cannot be
    told; `scale_to_month` = 730 / hours. `is_short`: less than 28 days; `under_a_day`: less than 24 hours, which is not
    scaled unless asked for.
    """

    first: str | None
    last: str | None
    days_with_data: int | None
    days_spanned: int | None
    hours: float | None
    scale_to_month: float | None
    sentence: str
    is_short: bool
    under_a_day: bool


@dataclass(frozen=True)
class UsageReport:
    """All that a usage or cost export says.

    Raises:
        ImportRefused: from to_scenario_fields, when the model asked for is not in the file.
    """

    kind: str
    label: str
    provider: str
    rows_read: int
    rows_empty: int
    rows_refused: int
    refused: tuple[RefusedRow, ...]
    notes: tuple[str, ...]
    units: tuple[str, ...]
    granularity: Literal["hour", "day", "none"]
    records: tuple[UsageRecord, ...]
    models: tuple[ModelTotal, ...]
    totals: Amounts
    api_totals: Amounts
    coverage: Coverage
    profile_weights: tuple[float, ...] | None
    profile_reason: str
    serving_cached_share: float | None = None
    batch_tokens: int | None = None
    per_request: bool = False
    questions: tuple[str, ...] = ()
    spend_without_tokens: Mapping[str, Decimal] = field(default_factory=dict)

    def to_json_dict(self) -> dict[str, Any]:
        """Give plain JSON values: finite numbers, money as decimal strings, None for what is unknown."""
        return {
            "type": "usage",
            "kind": self.kind,
            "label": self.label,
            "rows_read": self.rows_read,
            "rows_empty": self.rows_empty,
            "rows_refused": self.rows_refused,
            "refused": [{"line": r.line, "why": r.why} for r in self.refused],
            "notes": list(self.notes),
            "units": list(self.units),
            "granularity": self.granularity,
            "totals": self.totals.to_json_dict(),
            "api_totals": self.api_totals.to_json_dict(),
            "models": [
                {
                    "model": m.model,
                    "billing": m.billing,
                    "offer_id": m.offer_id,
                    "price": m.price,
                    **m.amounts.to_json_dict(),
                }
                for m in self.models
            ],
            "records": [
                {"model": r.model, "billing": r.billing, "period": r.period, **r.amounts.to_json_dict()}
                for r in self.records
            ],
            "coverage": {
                "first": self.coverage.first,
                "last": self.coverage.last,
                "days_with_data": self.coverage.days_with_data,
                "days_spanned": self.coverage.days_spanned,
                "hours": self.coverage.hours,
                "scale_to_month": self.coverage.scale_to_month,
                "sentence": self.coverage.sentence,
            },
            "profile_weights": list(self.profile_weights) if self.profile_weights else None,
            "profile_reason": self.profile_reason,
            "serving_cached_share": self.serving_cached_share,
        }

    def to_scenario_fields(
        self,
        model: str | None = None,
        catalog: OfferLookup | None = None,
        *,
        mean_input_tokens: int | None = None,
        scale_short: bool = False,
    ) -> dict[str, Any]:
        """Turn the report into fields of the Scenario.

        Args:
            model: use this model's rows only; None uses all rows that are API spend.
            catalog: where exact offer ids and aliases are looked up for the baseline.
            mean_input_tokens: the answer to 'how long is a request', for files without request counts.
            scale_short: scale to a month even a file that covers less than a day.

        Returns:
            {'fields': {name: value}, 'explanations': {name: sentence}, 'unresolved': [question, ...]}.

        Raises:
            ImportRefused: the model is not in the file.
        """
        return _scenario(self, model, catalog, mean_input_tokens, scale_short)


def money_text(value: Decimal) -> str:
    """Write a Decimal without exponent and without trailing zeros beyond the cents."""
    text = format(value.normalize() if value else Decimal(0), "f")
    whole, _, part = text.partition(".")
    return f"{whole}.{part.ljust(2, '0')}"


# ------------------------------------------------------------------------------------------------------- collecting

_NEW, _CACHED, _W5, _W1, _OUT, _REQ, _SPENT = range(7)


class Collector:
    """Adds up rows as they are read; its memory grows with models x hours, never with rows."""

    def __init__(self, kind: str, label: str, provider: str) -> None:
        self.kind, self.label, self.provider = kind, label, provider
        self.notes: list[str] = []
        self.units: list[str] = []
        self.questions: list[str] = []
        self.rows_read = self.rows_empty = self.rows_refused = 0
        self.refused: list[RefusedRow] = []
        self.relative = False
        self.per_request = False
        self.batch_tokens: int | None = None
        self.serving_hits: tuple[int, int] | None = None
        self.candidates: dict[str, tuple[str, ...]] = {}
        self._seen = [False] * 6
        self._model_ids: dict[tuple[str, Billing], int] = {}
        self._sums: dict[tuple[int, int], list[int]] = {}
        self._money: dict[tuple[int, int, str, bool], Decimal] = {}
        self._bare_spend: dict[str, Decimal] = {}
        self._undated = 0
        self._clock: set[float] = set()
        self._on_the_hour = True
        self._narrowest: float | None = None
        self._first = math.inf
        self._last = -math.inf
        self._last_known_end = False
        self._days: set[int] = set()
        self._wide_first = math.inf
        self._wide_last = -math.inf
        self._wide_days: set[int] = set()
        self._grid = _HOUR
        self._shifted_days = False

    # -- reading

    def refuse(self, line: int, why: str) -> None:
        """Count a row that cannot be used."""
        self.rows_refused += 1
        if len(self.refused) < REFUSED_SHOWN:
            self.refused.append(RefusedRow(line, why))

    def note(self, sentence: str) -> None:
        """Add a plain sentence once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def knows(
        self,
        *,
        new: bool = False,
        cached: bool = False,
        writes: bool = False,
        output: bool = False,
        requests: bool = False,
    ) -> None:
        """Say which amounts the file has columns for: 0 is then a value and not 'unknown'."""
        for at, flag in (
            (_NEW, new),
            (_CACHED, cached),
            (_W5, writes),
            (_W1, writes),
            (_OUT, output),
            (_REQ, requests),
        ):
            self._seen[at] = self._seen[at] or flag

    def add(
        self,
        when: Instant | None,
        model: str,
        *,
        end: Instant | None = None,
        billing: Billing = "api",
        new: int | None = None,
        cached: int | None = None,
        write_5m: int | None = None,
        write_1h: int | None = None,
        output: int | None = None,
        requests: int | None = None,
        spend: Decimal | None = None,
        currency: str = "USD",
        list_spend: Decimal | None = None,
        daily: bool = False,
    ) -> None:
        """Add one row's amounts.

        Args:
            when: start of the row's time (or its instant); None for an undated row.
            model: model as the file names it.
            end: end of the row's time, if the file has it.
            billing: who is paid for the row.
            new: input tokens billed in full, without cached and written ones.
            cached: input tokens read from the provider's cache.
            write_5m: tokens written to a cache of five minutes.
            write_1h: tokens written to a cache of one hour.
            output: output tokens, reasoning included.
            requests: number of requests.
            spend: net amount, negative for a credit.
            currency: currency code of spend and list_spend.
            list_spend: amount at list price.
            daily: the row is a total of the UTC day that `when` lies in.
        """
        self.rows_read += 1
        bucket = self._bucket(when, end, daily)
        key = self._model(model or UNKNOWN_MODEL, billing)
        sums = self._sums.get((key, bucket))
        if sums is None:
            if len(self._sums) >= MAX_BUCKETS:
                self._coarsen()
                bucket -= bucket % self._grid if bucket >= 0 else 0
            sums = self._sums.setdefault((key, bucket), [0] * 7)
        seen = self._seen
        if new is not None:
            sums[_NEW] += new
            seen[_NEW] = True
        if cached is not None:
            sums[_CACHED] += cached
            seen[_CACHED] = True
        if write_5m is not None:
            sums[_W5] += write_5m
            seen[_W5] = True
        if write_1h is not None:
            sums[_W1] += write_1h
            seen[_W1] = True
        if output is not None:
            sums[_OUT] += output
            seen[_OUT] = True
        if requests is not None:
            sums[_REQ] += requests
            seen[_REQ] = True
        if spend is not None:
            sums[_SPENT] = 1
            money = (key, bucket, currency, False)
            self._money[money] = self._money.get(money, Decimal(0)) + spend
            if (
                billing == "api"
                and spend > 0
                and new is None
                and cached is None
                and write_5m is None
                and output is None
            ):
                self._bare_spend[currency] = self._bare_spend.get(currency, Decimal(0)) + spend
        if list_spend is not None:
            money = (key, bucket, currency, True)
            self._money[money] = self._money.get(money, Decimal(0)) + list_spend

    def add_tokens(
        self,
        when: Instant | None,
        model: str,
        kind: str,
        tokens: int,
        *,
        end: Instant | None = None,
        daily: bool = False,
    ) -> None:
        """Add a row that counts one kind of token ('new', 'cached', 'write_5m', 'write_1h', 'output') or 'requests'."""
        self.add(
            when,
            model,
            end=end,
            daily=daily,
            new=tokens if kind == "new" else None,
            cached=tokens if kind == "cached" else None,
            write_5m=tokens if kind == "write_5m" else None,
            write_1h=tokens if kind == "write_1h" else None,
            output=tokens if kind == "output" else None,
            requests=tokens if kind == "requests" else None,
        )

    def all_api(self) -> None:
        """Count the rows of other services as API spend; for files that have no API rows."""
        self._model_ids = {(name, "api"): number for (name, _), number in self._model_ids.items()}

    def cover(self, when: Instant | None, end: Instant | None = None, daily: bool = False) -> None:
        """Count an empty row: no amounts, but its time belongs to the file."""
        self.rows_read += 1
        self.rows_empty += 1
        self._bucket(when, end, daily)

    def _model(self, name: str, billing: Billing) -> int:
        key = (name, billing)
        found = self._model_ids.get(key)
        if found is None:
            if len(self._model_ids) >= MAX_MODELS and name != OTHER_MODELS:
                self.note(said("import_note.many_models", most=f"{MAX_MODELS:,}", name=OTHER_MODELS))
                return self._model(OTHER_MODELS, billing)
            found = self._model_ids[key] = len(self._model_ids)
        return found

    def _bucket(self, when: Instant | None, end: Instant | None, daily: bool) -> int:
        if when is None:
            self._undated += 1
            return -1
        start = when.epoch_s
        stop = end.epoch_s if end is not None and end.epoch_s > start else None
        if daily and stop is None:
            start -= start % _DAY
            stop = start + _DAY
        if stop is not None and stop - start > 28 * _HOUR:
            # A row of many days (a purchase, a monthly charge) says nothing of the time that daily rows cover.
            self._wide_first, self._wide_last = min(self._wide_first, start), max(self._wide_last, stop)
            self._wide_days.update(range(int(start // _DAY), min(math.ceil(stop / _DAY), int(start // _DAY) + 1500)))
            bucket = int(start // _HOUR) * _HOUR
            return bucket - bucket % self._grid
        at = start
        self._first = min(self._first, start)
        if stop is None:
            if start >= self._last:
                self._last, self._last_known_end = start, False
        else:
            width = stop - start
            if stop >= self._last:
                self._last, self._last_known_end = stop, True
            self._narrowest = width if self._narrowest is None else min(self._narrowest, width)
            if width >= 20 * _HOUR:
                at = start + width / 2
                self._shifted_days = self._shifted_days or start % _DAY != 0
        self._days.add(int(at // _DAY))
        if len(self._clock) < 3:
            self._clock.add(start % _DAY)
        if start % _HOUR:
            self._on_the_hour = False
        bucket = int(at // _HOUR) * _HOUR
        return bucket - bucket % self._grid

    def _coarsen(self) -> None:
        if self._grid == _DAY:
            raise ImportRefused(said("import_refused.many_buckets", most=f"{MAX_BUCKETS:,}"))
        self._grid = _DAY
        self.note(said("import_note.by_day"))
        sums: dict[tuple[int, int], list[int]] = {}
        for (key, bucket), values in self._sums.items():
            place = sums.setdefault((key, bucket - bucket % _DAY if bucket >= 0 else bucket), [0] * 7)
            for i, value in enumerate(values):
                place[i] = place[i] + value if i != _SPENT else max(place[i], value)
        self._sums = sums
        money: dict[tuple[int, int, str, bool], Decimal] = {}
        for (key, bucket, currency, is_list), amount in self._money.items():
            place_of = (key, bucket - bucket % _DAY if bucket >= 0 else bucket, currency, is_list)
            money[place_of] = money.get(place_of, Decimal(0)) + amount
        self._money = money

    # -- finishing

    def report(self, catalog: OfferLookup | None) -> UsageReport:
        """Close the books.

        Raises:
            ImportRefused: not one row could be used.
        """
        if self.rows_read == 0:
            if self.refused:
                first = self.refused[0]
                raise ImportRefused(
                    said("import_refused.no_row", n=f"{self.rows_refused:,}", line=first.line, why=first.why)
                )
            raise ImportRefused(said("import_refused.header_only"))
        hourly = self._hourly()
        if not hourly and self._grid == _HOUR:
            grid_notes = list(self.notes)
            self._coarsen()
            self.notes = grid_notes
        names = {number: key for key, number in self._model_ids.items()}
        places = sorted(self._sums, key=lambda at: (at[1], names[at[0]]))
        by_place: dict[tuple[int, int], tuple[dict[str, Decimal], dict[str, Decimal]]] = {}
        for (key, bucket, currency, is_list), amount in self._money.items():
            place = by_place.setdefault((key, bucket), ({}, {}))
            place[1 if is_list else 0][currency] = amount
        rows = tuple(
            UsageRecord(
                *names[at[0]], self._period(at[1], hourly), self._amounts(self._sums[at], *by_place.get(at, ({}, {})))
            )
            for at in places
        )
        models = self._models(rows, catalog)
        totals = _total([m.amounts for m in models])
        api = _total([m.amounts for m in models if m.billing == "api"])
        if all(m.billing != "api" for m in models):
            api = replace(_total([]), spend={}, list_spend={})
        coverage = self._coverage(hourly)
        if totals.total_tokens and not self.per_request:
            self.note(said("import_note.totals"))
        weights, reason = self._profile(hourly, coverage)
        if self._undated:
            self.note(said("import_note.undated", n=f"{self._undated:,}"))
        if self._shifted_days:
            self.note(said("import_note.shifted_days"))
        hits = self.serving_hits
        return UsageReport(
            self.kind,
            self.label,
            self.provider,
            self.rows_read,
            self.rows_empty,
            self.rows_refused,
            tuple(self.refused),
            tuple(self.notes),
            tuple(dict.fromkeys(self.units)),
            "hour" if hourly else "day" if self._dated else "none",
            rows,
            models,
            totals,
            api,
            coverage,
            weights,
            reason,
            hits[0] / hits[1] if hits and hits[1] else None,
            self.batch_tokens,
            self.per_request,
            tuple(self.questions),
            dict(self._bare_spend),
        )

    @property
    def _dated(self) -> bool:
        return self._first < math.inf or self._wide_first < math.inf

    def _hourly(self) -> bool:
        if self._grid == _DAY or self._first == math.inf:
            return False
        if self.relative:
            return True
        if self._narrowest is not None:
            return self._narrowest <= _HOUR
        return len(self._clock) > 1 or (self.per_request and self._clock != {0.0})

    def _period(self, bucket: int, hourly: bool) -> str:
        if bucket < 0:
            return ""
        if self.relative:
            return f"+{(bucket - int(self._first // _HOUR) * _HOUR) // _HOUR} h"
        return iso_second(bucket) if hourly else iso_day(bucket)

    def _amounts(self, sums: list[int], spend: Mapping[str, Decimal], list_spend: Mapping[str, Decimal]) -> Amounts:
        known = [sums[i] if self._seen[i] else None for i in range(6)]
        new, cached, write_5m, write_1h, output, requests = known
        return Amounts(
            new,
            cached,
            write_5m,
            write_1h,
            output,
            requests,
            dict(sorted(spend.items())),
            dict(sorted(list_spend.items())),
        )

    def _models(self, rows: tuple[UsageRecord, ...], catalog: OfferLookup | None) -> tuple[ModelTotal, ...]:
        groups: dict[tuple[str, Billing], list[Amounts]] = {}
        for row in rows:
            groups.setdefault((row.model, row.billing), []).append(row.amounts)
        found = []
        for (name, billing), parts in groups.items():
            amounts = _total(parts)
            offer = self.offer_of(name, catalog)
            spent = any(v != 0 for v in amounts.spend.values())
            if billing == "free":
                price = said("import_price.free")
            elif billing == "self-hosted":
                price = said("import_price.self_hosted")
            elif billing == "other":
                price = said("import_price.other_service")
            elif spent or (amounts.spend and not amounts.total_tokens):
                price = said("import_price.in_file")
            elif offer is not None:
                price = said("import_price.list")
            else:
                price = said("import_price.unpriced")
            if billing == "api" and not spent and amounts.spend and amounts.total_tokens:
                amounts = replace(amounts, spend={})
                self.note(said("import_note.no_spend", model=name))
            found.append(ModelTotal(name, billing, amounts, offer, price))

        def weight(m: ModelTotal) -> tuple[Decimal, int]:
            return (max(m.amounts.spend.values(), default=Decimal(0)), m.amounts.total_tokens or 0)

        return tuple(sorted(found, key=lambda m: (m.billing != "api", *(-w for w in weight(m)), m.model)))

    def offer_of(self, name: str, catalog: OfferLookup | None) -> str | None:
        """Look up an offer by exact id or alias: the name itself, then provider/name; never by prefix."""
        if catalog is None:
            return None
        return exact_offer(name, self.provider, self.candidates.get(name, ()), catalog)

    def _coverage(self, hourly: bool) -> Coverage:
        if not self._dated:
            undated = said("import_time.no_dates")
            return Coverage(None, None, None, None, None, None, undated, True, True)
        first, last, days, known_end = self._first, self._last, self._days, self._last_known_end
        if first == math.inf:
            first, last, days, known_end = self._wide_first, self._wide_last, self._wide_days, True
        elif self._wide_days:
            self.note(said("import_note.wide_rows"))
        if hourly:
            buckets_without_end = not known_end and self._on_the_hour and not self.per_request
            stop = last + _HOUR if buckets_without_end else last
        elif known_end:
            stop = last
        else:
            first -= first % _DAY
            stop = last - last % _DAY + _DAY
        hours = (stop - first) / _HOUR if stop > first else None
        scale = HOURS_PER_MONTH / hours if hours else None
        spanned = int((stop - 1e-6) // _DAY) - int(first // _DAY) + 1
        if self._shifted_days and hours:
            spanned = max(1, round(hours / 24))
        under = hours is None or hours < 23.999
        short = hours is None or hours < 28 * 24 - 0.001
        sentence = _sentence(hours, scale, len(days), spanned, self.relative)
        if self.relative:
            return Coverage(None, None, None, None, hours, scale, sentence, short, under)
        return Coverage(iso_second(first), iso_second(stop), len(days), spanned, hours, scale, sentence, short, under)

    def _profile(self, hourly: bool, coverage: Coverage) -> tuple[tuple[float, ...] | None, str]:
        if self.relative:
            return None, said("import_time.no_calendar")
        if not hourly:
            return None, said("import_time.daily")
        if coverage.hours is None or coverage.hours < 167.999:
            return None, said("import_time.short_profile", span=_span(coverage.hours))
        load = [0.0] * 168
        basis = "tokens" if self._seen[_NEW] or self._seen[_OUT] else "requests" if self._seen[_REQ] else "spend"
        for (_, bucket), sums in self._sums.items():
            if bucket >= 0:
                hour = _hour_of_week(bucket)
                load[hour] += sum(sums[:5]) if basis == "tokens" else sums[_REQ] if basis == "requests" else 0
        if basis == "spend":
            for (_, bucket, _, is_list), amount in self._money.items():
                if bucket >= 0 and not is_list:
                    load[_hour_of_week(bucket)] += max(0.0, float(amount))
        covered = [0.0] * 168
        whole_weeks, rest = divmod(coverage.hours, 168.0)
        for hour in range(168):
            covered[hour] = whole_weeks
        at = self._first + whole_weeks * 168 * _HOUR
        end = at + rest * _HOUR
        while at < end - 1e-6:
            step = min(end, (at // _HOUR + 1) * _HOUR) - at
            covered[_hour_of_week(int(at))] += step / _HOUR
            at += step
        rates = [load[h] / covered[h] if covered[h] > 0 else 0.0 for h in range(168)]
        mean = sum(rates) / 168
        if mean <= 0:
            return None, said("import_time.no_amounts")
        reason = said("import_time.profile", basis=said(f"import.{basis}"), days=f"{coverage.hours / 24:.1f}")
        return tuple(r / mean for r in rates), reason


def _hour_of_week(epoch_s: float) -> int:
    # 1970-01-01 was a Thursday: 72 hours after Monday 00:00.
    return int(epoch_s // _HOUR + 72) % 168


def exact_offer(name: str, provider: str, more: tuple[str, ...], catalog: OfferLookup) -> str | None:
    """Find an offer by exact id or alias among the name, provider/name and the given spellings.

    OpenRouter writes 'claude-opus-4.7' where Anthropic writes 'claude-opus-4-7': the dot as a hyphen is tried last. A
    name is never shortened, for 'gpt-4o-2024-05-13' has another price than 'gpt-4o'.
    """
    spellings = [name, f"{provider}/{name}" if provider and "/" not in name else "", *more]
    for candidate in (*spellings, *(s.replace(".", "-") for s in spellings)):
        if candidate:
            offer = catalog.offer(candidate)
            if offer is not None:
                return offer.id
    return None


def _figures(value: float) -> str:
    """Write about four significant figures without an exponent."""
    decimals = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{min(decimals, 8)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _span(hours: float | None) -> str:
    if hours is None:
        return said("import_time.instant")
    if hours < 1:
        if hours * 60 >= 2:
            return said("import_time.minutes", n=f"{hours * 60:.0f}")
        return said("import_time.seconds", n=f"{hours * 3600:.0f}")
    if hours < 48:
        return said("import_time.hours", n=_figures(hours)) if hours != 1 else said("import_time.hour")
    days = hours / 24
    return said("unit.days", n=f"{days:.0f}" if abs(days - round(days)) < 0.05 else f"{days:.1f}")


def _sentence(hours: float | None, scale: float | None, with_data: int, spanned: int, relative: bool) -> str:
    if hours is None or scale is None:
        return said("import_time.no_span")
    span = _span(hours)
    if not relative and hours >= 48 and abs(hours - spanned * 24) < 0.01:
        gaps = spanned > with_data
        span = said("import_time.gaps", n=spanned, with_data=with_data) if gaps else said("unit.days", n=spanned)
    if not relative and 23.99 < hours < 24.01:
        span = said("unit.day")
    covers = said("import_time.covers", span=span, scale=_figures(scale))
    if hours < 23.999:
        return then(covers, said("import_time.under_a_day"))
    if hours < 7 * 24 - 0.01:
        return then(covers, said("import_time.under_a_week"))
    if hours < 28 * 24 - 0.01:
        return then(covers, said("import_time.under_a_month"))
    return covers


def _total(parts: list[Amounts]) -> Amounts:
    def add(name: str) -> int | None:
        values = [getattr(p, name) for p in parts if getattr(p, name) is not None]
        return sum(values) if values else None

    spend: dict[str, Decimal] = {}
    list_spend: dict[str, Decimal] = {}
    for part in parts:
        for currency, amount in part.spend.items():
            spend[currency] = spend.get(currency, Decimal(0)) + amount
        for currency, amount in part.list_spend.items():
            list_spend[currency] = list_spend.get(currency, Decimal(0)) + amount
    return Amounts(
        add("new_input_tokens"),
        add("cached_input_tokens"),
        add("cache_write_5m_tokens"),
        add("cache_write_1h_tokens"),
        add("output_tokens"),
        add("requests"),
        spend,
        list_spend,
    )


def split_input(
    total_input: int | None,
    cached: int | None,
    writes: int | None,
    *,
    inside: bool,
    output: int | None = None,
    grand_total: int | None = None,
) -> int | None:
    """Give the new input tokens of a row from a column that may or may not contain the cached ones.

    Args:
        total_input: the row's input (prompt) tokens as the file counts them.
        cached: its cached tokens, None if the file has none.
        writes: its cache writes, None if the file has none.
        inside: whether the format's input column contains cached and written tokens (OpenAI, OpenRouter, LiteLLM,
        vLLM: yes;
            Anthropic: no).
        output: output tokens, to check with `grand_total`.
        grand_total: the row's own total; where it settles the question it overrules `inside`.

    Raises:
        CellError: more cached than input tokens though they should be inside.
    """
    if total_input is None:
        return None
    extra = (cached or 0) + (writes or 0)
    if not extra:
        return total_input
    if grand_total is not None and output is not None:
        if grand_total == total_input + output:
            inside = True
        elif grand_total == total_input + output + extra:
            inside = False
    if not inside:
        return total_input
    if extra > total_input:
        raise CellError(said("import_cell.cached_more", cached=f"{extra:,}", total=f"{total_input:,}"))
    return total_input - extra


# --------------------------------------------------------------------------------------------------------- the scenario


def _scenario(
    report: UsageReport, model: str | None, catalog: OfferLookup | None, mean_input: int | None, scale_short: bool
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    why: dict[str, str] = {}
    ask: list[str] = []
    api_models = [m for m in report.models if m.billing == "api"]
    if model is not None:
        rows = [m for m in report.models if m.model == model]
        # The same name may have free rows too; they are taken only when there are no others.
        chosen = [m for m in rows if m.billing == "api"] or rows
        if not chosen:
            raise ImportRefused(
                said("import_refused.no_model", model=repr(model), models=listed(m.model for m in report.models))
            )
    else:
        chosen = api_models
        left = [m for m in report.models if m.billing != "api"]
        if left:
            total = sum(m.amounts.total_tokens or 0 for m in left)
            kinds = [said(f"import_price.{b.replace('-', '_')}") for b in sorted({m.billing for m in left})]
            ask.append(said("import_ask.left_out", n=f"{total:,}", kinds=joined(kinds)))
        if not chosen:
            ask.append(said("import_ask.no_api_spend"))
    sums = _total([m.amounts for m in chosen])
    _mix(report, sums, fields, why, ask, mean_input)
    _volume(report, chosen, sums, fields, why, ask, scale_short)
    _baseline(report, chosen, catalog, fields, why, ask)
    if report.profile_weights is not None:
        fields["profile"], fields["profile_weights"] = "imported", encode_weights(report.profile_weights)
        why["profile"] = report.profile_reason
    else:
        why["profile"] = then(report.profile_reason, said("import_time.profile_stays"))
    ask.extend(report.questions)
    return {"fields": fields, "explanations": why, "unresolved": list(dict.fromkeys(ask))}


def _mix(
    report: UsageReport,
    sums: Amounts,
    fields: dict[str, Any],
    why: dict[str, str],
    ask: list[str],
    mean_input: int | None,
) -> None:
    given, out, requests = sums.input_tokens, sums.output_tokens, sums.requests
    if given is None or out is None or given < 0 or out < 0 or not given + out:
        ask.append(said("import_ask.no_tokens"))
        return
    basis: str
    if requests:
        mean_in, mean_out = given / requests, out / requests
        basis = said("import_why.over_requests", n=f"{requests:,}")
    elif mean_input is not None and given:
        mean_in, mean_out = float(mean_input), mean_input * out / given
        basis = said("import_why.given_mean", n=f"{mean_input:,}", given=f"{given:,}", out=f"{out:,}")
    else:
        open_mean: str = said("import_ask.no_requests")
        ask.append(then(open_mean, said("import_ask.ratio", ratio=f"{given / out:.3g}")) if out else open_mean)
        mean_in, mean_out, basis = 0.0, 0.0, ""
    if mean_in or mean_out:
        for name, mean, word in (
            ("input_tokens", mean_in, said("import.input")),
            ("output_tokens", mean_out, said("import.output")),
        ):
            if mean > MAX_MEAN_TOKENS:
                ask.append(said("import_ask.huge_mean", which=word, n=f"{mean:,.0f}"))
                continue
            fields[name] = max(1, round(mean))
            why[name] = said("import_why.mean", which=word, n=f"{mean:,.1f}", basis=basis)
    if given:
        if sums.cached_input_tokens is None or not 0 <= sums.cached_input_tokens <= given:
            ask.append(said("import_ask.cached"))
        else:
            fields["cached_share"] = round(sums.cached_input_tokens / given, 6)
            why["cached_share"] = said("import_why.cached_share", n=f"{sums.cached_input_tokens:,}", of=f"{given:,}")
        uncached = given - (sums.cached_input_tokens or 0)
        if sums.cache_write_5m_tokens is not None and uncached > 0 and 0 <= sums.cache_write_tokens <= uncached:
            fields["cache_write_share"] = round(sums.cache_write_tokens / uncached, 6)
            why["cache_write_share"] = said(
                "import_why.write_share", n=f"{sums.cache_write_tokens:,}", of=f"{uncached:,}"
            )
            if sums.cache_write_1h_tokens:
                ask.append(said("import_ask.hour_cache", n=f"{sums.cache_write_1h_tokens:,}"))
    if report.serving_cached_share is not None:
        fields["serving_cached_share"] = round(report.serving_cached_share, 6)
        why["serving_cached_share"] = said("import_why.blocks")
    total = sums.total_tokens
    if report.batch_tokens and total and total > 0:
        fields["batch_share"] = round(min(1.0, report.batch_tokens / total), 6)
        why["batch_share"] = said("import_why.batch", n=f"{report.batch_tokens:,}", of=f"{total:,}")


def _volume(
    report: UsageReport,
    chosen: list[ModelTotal],
    sums: Amounts,
    fields: dict[str, Any],
    why: dict[str, str],
    ask: list[str],
    scale_short: bool,
) -> None:
    cover = report.coverage
    total = sums.total_tokens
    if cover.scale_to_month is None:
        ask.append(cover.sentence)
        return
    if cover.under_a_day and not scale_short:
        ask.append(then(cover.sentence, said("import_ask.month")))
        return
    scale = cover.scale_to_month
    by = said("import_why.scaled", scale=_figures(scale), hours=_figures(cover.hours or 0.0))
    if cover.is_short:
        ask.append(then(cover.sentence, said("import_ask.typical")))
    usd = sums.spend.get("USD")
    foreign = {c: v for c, v in sums.spend.items() if c != "USD"}
    for currency, amount in foreign.items():
        ask.append(said("import_ask.foreign", amount=money_text(amount), currency=currency))
    # A bill names tokens only for some of its lines: then its spend is the whole, its tokens are not.
    tokens_partial = bool(total and total > 0 and usd and report.spend_without_tokens.get("USD"))
    if total and total > 0 and not tokens_partial:
        _demand(fields, ask, "tokens", "demand_tokens_per_month", float(round(total * scale)), 1e18)
        counted: str = said("import_why.tokens", n=f"{total:,}", by=by)
        if usd:
            month = float(usd) * scale
            counted = then(counted, said("import_why.spend", usd=f"{float(usd):,.2f}", month=f"{month:,.2f}"))
        why["demand_tokens_per_month"] = counted
        why["demand"] = said("import_why.counts_tokens")
    elif usd is not None and usd > 0:
        _demand(fields, ask, "spend", "demand_usd_per_month", round(float(usd) * scale, 2), 1e12)
        why["demand_usd_per_month"] = said("import_why.usd", usd=money_text(usd), by=by)
        why["demand"] = said("import_why.tokens_partial") if tokens_partial else said("import_why.spend_only")
    elif sums.requests:
        _demand(fields, ask, "requests", "demand_requests_per_month", float(round(sums.requests * scale)), 1e15)
        why["demand_requests_per_month"] = said("import_why.requests", n=f"{sums.requests:,}", by=by)
        why["demand"] = said("import_why.counts_requests")
    elif not foreign:
        ask.append(said("import_ask.no_demand"))


def _demand(fields: dict[str, Any], ask: list[str], demand: str, name: str, value: float, most: float) -> None:
    """Set the demand, unless it is more than a scenario can hold: then the file's unit is in doubt."""
    if 0 < value <= most:
        fields["demand"], fields[name] = demand, value
    else:
        ask.append(said("import_ask.volume", n=f"{value:.3g}", what=said(f"import.{demand}")))


def _baseline(
    report: UsageReport,
    chosen: list[ModelTotal],
    catalog: OfferLookup | None,
    fields: dict[str, Any],
    why: dict[str, str],
    ask: list[str],
) -> None:
    def offer(m: ModelTotal) -> str | None:
        return m.offer_id or (exact_offer(m.model, report.provider, (), catalog) if catalog is not None else None)

    # Names in parentheses are the import's own ([import_model] of the texts).
    named = [m for m in chosen if not m.model.startswith("(")]
    if len(named) == 1 and len(chosen) == 1:
        found = offer(named[0])
        if found is None:
            ask.append(said("import_ask.no_offer", model=repr(named[0].model)))
        else:
            fields["baseline"] = found
            why["baseline"] = said("import_why.offer", model=named[0].model, offer=found)
    elif len(named) > 1:
        ask.append(said("import_ask.many_models", n=len(named), models=_first_names([m.model for m in named])))
    else:
        ask.append(said("import_ask.no_model"))
    unpriced = [m.model for m in named if m.price == "unpriced"]
    if unpriced:
        ask.append(said("import_ask.unpriced", models=_first_names(unpriced)))
    if not report.per_request:
        tiered = [] if catalog is None else [o for o in (offer(m) for m in named) if o and _has_tiers(catalog.offer(o))]
        if tiered:
            ask.append(said("import_ask.tiered", offer=tiered[0]))


def _first_names(names: list[str]) -> str:
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")


def _has_tiers(offer: Offer | None) -> bool:
    return offer is not None and any(p.tiers for p in offer.prices)
