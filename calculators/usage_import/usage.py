"""What a usage export says: tokens, requests and money by model and hour or day, and the scenario that follows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, Literal, Protocol

from calculators.profile import encode_weights
from calculators.records import Offer
from calculators.units import HOURS_PER_MONTH
from calculators.usage_import.cells import Instant, iso_day, iso_second
from calculators.usage_import.errors import CellError, ImportRefused, listed

Billing = Literal["api", "free", "self-hosted", "other"]
"""'api' is spend that a baseline offer can replace. Free tiers, own servers, other services are not."""

REFUSED_SHOWN: Final = 20
"""How many refused rows are listed; the rest are counted."""

MAX_MODELS: Final = 1_000
MAX_BUCKETS: Final = 120_000
OTHER_MODELS: Final = "(other models)"
UNKNOWN_MODEL: Final = "(no model named)"
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
                self.note(f"The file names more than {MAX_MODELS:,} models; the rest are added up as {OTHER_MODELS}.")
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
            raise ImportRefused(
                f"The file has more than {MAX_BUCKETS:,} combinations of model and day: export one project or a "
                "shorter period."
            )
        self._grid = _DAY
        self.note("The file has too many hours and models for an hourly table; it was added up by day.")
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
                    f"None of the {self.rows_refused:,} rows can be read; line {first.line}: {first.why}."
                )
            raise ImportRefused("The file has a header but no rows.")
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
            self.note(
                "Totals do not show single requests: a price that depends on a request's length cannot "
                "be rebuilt from them."
            )
        weights, reason = self._profile(hourly, coverage)
        if self._undated:
            self.note(f"{self._undated:,} rows have no date; they are in the totals but in no day.")
        if self._shifted_days:
            self.note(
                "The file's days start at another hour than midnight UTC; each was put on the UTC day "
                "that holds most of it."
            )
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
                price = "free"
            elif billing == "self-hosted":
                price = "self-hosted"
            elif billing == "other":
                price = "other service"
            elif spent or (amounts.spend and not amounts.total_tokens):
                price = "in file"
            elif offer is not None:
                price = "list"
            else:
                price = "unpriced"
            if billing == "api" and not spent and amounts.spend and amounts.total_tokens:
                amounts = replace(amounts, spend={})
                self.note(f"{name} has tokens but no spend: its price is unknown, not zero.")
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
            sentence = "The file has no dates: say how long a time it covers."
            return Coverage(None, None, None, None, None, None, sentence, True, True)
        first, last, days, known_end = self._first, self._last, self._days, self._last_known_end
        if first == math.inf:
            first, last, days, known_end = self._wide_first, self._wide_last, self._wide_days, True
        elif self._wide_days:
            self.note(
                "Some rows cover many days (purchases or monthly charges); the time covered is that of the other rows."
            )
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
            return None, "The file's times have no calendar: which hour of the week they are is unknown."
        if not hourly:
            return None, "The file has daily totals: the hours of the week are unknown."
        if coverage.hours is None or coverage.hours < 167.999:
            return (
                None,
                f"A profile of the week needs 7 whole days by the hour; the file covers {_span(coverage.hours)}.",
            )
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
            return None, "The file has no amounts to weigh the hours with."
        return tuple(
            r / mean for r in rates
        ), f"Mean {basis} of each hour of the week over {coverage.hours / 24:.1f} days, UTC."


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
        return "a single instant"
    if hours < 1:
        return f"{hours * 60:.0f} minutes" if hours * 60 >= 2 else f"{hours * 3600:.0f} seconds"
    if hours < 48:
        return f"{_figures(hours)} hours" if hours != 1 else "1 hour"
    return f"{hours / 24:.0f} days" if abs(hours / 24 - round(hours / 24)) < 0.05 else f"{hours / 24:.1f} days"


def _sentence(hours: float | None, scale: float | None, with_data: int, spanned: int, relative: bool) -> str:
    if hours is None or scale is None:
        return "All rows have the same instant: the file cannot be scaled to a month."
    gaps = f", {with_data} of them with data" if not relative and spanned > with_data and hours >= 24 else ""
    span = (
        f"{spanned} days{gaps}" if not relative and hours >= 48 and abs(hours - spanned * 24) < 0.01 else _span(hours)
    )
    if not relative and 23.99 < hours < 24.01:
        span = "1 day"
    text = f"The file covers {span}; a month of 730 hours is {_figures(scale)} times that."
    if hours < 23.999:
        return text + " Less than a day says little about a month: it is the rate of that time, not of a day."
    if hours < 7 * 24 - 0.01:
        return text + " It is less than a week: weekends and quiet days may be missing."
    if hours < 28 * 24 - 0.01:
        return text + " It is less than a month."
    return text


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
        raise CellError(
            f"{extra:,} cached tokens are more than the {total_input:,} input tokens that should contain them"
        )
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
            raise ImportRefused(f"The file has no model {model!r}; it has {listed(m.model for m in report.models)}.")
    else:
        chosen = api_models
        left = [m for m in report.models if m.billing != "api"]
        if left:
            total = sum(m.amounts.total_tokens or 0 for m in left)
            ask.append(
                f"{total:,} tokens of {', '.join(sorted({m.billing for m in left}))} rows are not API "
                f"spend and were left "
                "out: should they be served too?"
            )
        if not chosen:
            ask.append("All rows are free, self-hosted or of other services: there is no API spend to compare with.")
    sums = _total([m.amounts for m in chosen])
    _mix(report, sums, fields, why, ask, mean_input)
    _volume(report, chosen, sums, fields, why, ask, scale_short)
    _baseline(report, chosen, catalog, fields, why, ask)
    if report.profile_weights is not None:
        fields["profile"], fields["profile_weights"] = "imported", encode_weights(report.profile_weights)
        why["profile"] = report.profile_reason
    else:
        why["profile"] = report.profile_reason + " The scenario's profile stays as it is."
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
        ask.append("The file has no input and output tokens: give the mean request.")
        return
    if requests:
        mean_in, mean_out = given / requests, out / requests
        basis = f"over {requests:,} requests"
    elif mean_input is not None and given:
        mean_in, mean_out = float(mean_input), mean_input * out / given
        basis = (
            f"for the {mean_input:,} input tokens per request that you gave, at the file's ratio {given:,} : {out:,}"
        )
    else:
        ratio = f" Its ratio of input to output is {given / out:.3g} : 1." if out else ""
        ask.append("The file has no request counts: give the mean request." + ratio)
        mean_in = mean_out = 0.0
    if mean_in or mean_out:
        for name, mean, word in (("input_tokens", mean_in, "input"), ("output_tokens", mean_out, "output")):
            if mean > MAX_MEAN_TOKENS:
                ask.append(
                    f"The mean {word} is {mean:,.0f} tokens per request, more than any context: check "
                    f"the request count."
                )
                continue
            fields[name] = max(1, round(mean))
            why[name] = f"Mean {word} {mean:,.1f} tokens {basis}."
    if given:
        if sums.cached_input_tokens is None or not 0 <= sums.cached_input_tokens <= given:
            ask.append(
                "The file does not say how much input was cached: give the cached share; until then all of it is new."
            )
        else:
            fields["cached_share"] = round(sums.cached_input_tokens / given, 6)
            why["cached_share"] = f"{sums.cached_input_tokens:,} of {given:,} input tokens were billed as cache hits."
        uncached = given - (sums.cached_input_tokens or 0)
        if sums.cache_write_5m_tokens is not None and uncached > 0 and 0 <= sums.cache_write_tokens <= uncached:
            fields["cache_write_share"] = round(sums.cache_write_tokens / uncached, 6)
            why["cache_write_share"] = (
                f"{sums.cache_write_tokens:,} of {uncached:,} uncached input tokens were cache writes."
            )
            if sums.cache_write_1h_tokens:
                ask.append(
                    f"{sums.cache_write_1h_tokens:,} tokens were written to the 1-hour cache, which "
                    f"costs more than the "
                    "5-minute one: the scenario has one write price, so check it."
                )
    if report.serving_cached_share is not None:
        fields["serving_cached_share"] = round(report.serving_cached_share, 6)
        why["serving_cached_share"] = (
            "Share of prompt blocks seen before in this trace with a cache that never forgets: an upper "
            "bound. It says nothing about what an API bills as cached."
        )
    total = sums.total_tokens
    if report.batch_tokens and total and total > 0:
        fields["batch_share"] = round(min(1.0, report.batch_tokens / total), 6)
        why["batch_share"] = f"{report.batch_tokens:,} of {total:,} tokens went through the batch API."


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
        ask.append(cover.sentence + " Give the volume of a month.")
        return
    scale = cover.scale_to_month
    by = f"x {_figures(scale)} (730 h / {_figures(cover.hours or 0.0)} h)"
    if cover.is_short:
        ask.append(cover.sentence + " Is that a typical time?")
    usd = sums.spend.get("USD")
    foreign = {c: v for c, v in sums.spend.items() if c != "USD"}
    for currency, amount in foreign.items():
        ask.append(
            f"{money_text(amount)} {currency} is not in USD and was not converted or added: give its value in USD."
        )
    # A bill names tokens only for some of its lines: then its spend is the whole, its tokens are not.
    tokens_partial = bool(total and total > 0 and usd and report.spend_without_tokens.get("USD"))
    if total and total > 0 and not tokens_partial:
        _demand(fields, ask, "tokens", "demand_tokens_per_month", float(round(total * scale)), 1e18)
        why["demand_tokens_per_month"] = f"{total:,} tokens {by}."
        why["demand"] = "The file counts tokens, which need no price to be compared."
        if usd:
            month = float(usd) * scale
            why["demand_tokens_per_month"] += f" Its spend is {float(usd):,.2f} USD, {month:,.2f} USD a month."
    elif usd is not None and usd > 0:
        _demand(fields, ask, "spend", "demand_usd_per_month", round(float(usd) * scale, 2), 1e12)
        why["demand_usd_per_month"] = f"{money_text(usd)} USD {by}."
        why["demand"] = (
            "The file's tokens are only part of what its spend paid for."
            if tokens_partial
            else "The file has spend but no tokens; the baseline's price turns it into tokens."
        )
    elif sums.requests:
        _demand(fields, ask, "requests", "demand_requests_per_month", float(round(sums.requests * scale)), 1e15)
        why["demand_requests_per_month"] = f"{sums.requests:,} requests {by}."
        why["demand"] = "The file counts requests."
    elif not foreign:
        ask.append("The file has no tokens, no positive spend and no requests to size the demand with.")


def _demand(fields: dict[str, Any], ask: list[str], demand: str, name: str, value: float, most: float) -> None:
    """Set the demand, unless it is more than a scenario can hold: then the file's unit is in doubt."""
    if 0 < value <= most:
        fields["demand"], fields[name] = demand, value
    else:
        ask.append(f"The volume of a month comes out as {value:.3g} {demand}: check the file's units.")


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

    # Names in parentheses are the import's own: "(no model named)", "(trace)", "(not broken down by model)".
    named = [m for m in chosen if not m.model.startswith("(")]
    if len(named) == 1 and len(chosen) == 1:
        found = offer(named[0])
        if found is None:
            ask.append(f"No offer has exactly the name {named[0].model!r}: choose the offer paid today.")
        else:
            fields["baseline"] = found
            why["baseline"] = f"{named[0].model} is the offer {found}."
    elif len(named) > 1:
        ask.append(
            f"The file has {len(named)} models ({', '.join(m.model for m in named[:4])}"
            f"{', …' if len(named) > 4 else ''}): choose one, or the offer to price all of them with."
        )
    else:
        ask.append("The file names no model: choose the offer paid today.")
    unpriced = [m.model for m in named if m.price == "unpriced"]
    if unpriced:
        ask.append(
            f"{', '.join(unpriced[:4])}{', …' if len(unpriced) > 4 else ''}: unpriced. The tokens count, "
            f"their price is unknown."
        )
    if not report.per_request:
        tiered = [] if catalog is None else [o for o in (offer(m) for m in named) if o and _has_tiers(catalog.offer(o))]
        if tiered:
            ask.append(
                f"{tiered[0]} has another price for long requests, and totals do not show which requests were long: "
                "was the mean request above its threshold?"
            )


def _has_tiers(offer: Offer | None) -> bool:
    return offer is not None and any(p.tiers for p in offer.prices)
