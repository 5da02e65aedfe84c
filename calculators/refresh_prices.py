"""Compares the price book with the installed genai-prices package and appends what changed as new dated rows.

Run `python -m calculators.refresh_prices` to see the differences and `--write` to append them. A row that exists is
never changed or removed: history stays. Needs the optional package genai-prices (extra 'prices'); the app itself never
does, and nothing here goes online: update the package to get newer prices.
"""

import argparse
import csv
import datetime as dt
import importlib
import io
import math
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from calculators.catalog import DATA, OFFER_COLUMNS, CatalogError, read_offers
from calculators.records import Offer, OfferPrice
from calculators.serverless import PRICE_KINDS, PriceKind

SOURCE: Final = "genai-prices"

_FIELDS: Final[Mapping[PriceKind, str]] = {
    "input": "input_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "output": "output_mtok",
}

_VARIANTS: Final[Mapping[tuple[str, str], str]] = {
    ("processing", "batch"): "batch",
    ("service_tier", "flex"): "flex",
    ("service_tier", "priority"): "priority",
    ("service_tier", "fast"): "fast",
    ("speed", "fast"): "fast",
}
"""Variant of genai-prices -> suffix of the offer id."""


@dataclass(frozen=True)
class Listed:
    """One price as the source lists it today, in USD per million tokens; kinds that are not listed are absent."""

    start: dt.date | None = None
    hours_utc: str = ""
    prices: Mapping[PriceKind, float] = field(default_factory=dict)
    tiers: Mapping[int, Mapping[PriceKind, float]] = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True)
class Change:
    """A row to append, with a line that says what differs."""

    offer_id: str
    effective_from: dt.date
    listed: Listed
    text: str


def _same(a: float | None, b: float | None) -> bool:
    return a is b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9))


def book_prices(row: OfferPrice) -> tuple[dict[PriceKind, float], dict[int, dict[PriceKind, float]]]:
    """Prices and tiers (by threshold) that a row of the book lists, in its currency per million tokens."""
    prices = {kind: value for kind in PRICE_KINDS if (value := getattr(row, f"{kind}_per_mtok")) is not None}
    tiers = {
        tier.above_input_tokens: {
            kind: value for kind in PRICE_KINDS if (value := getattr(tier, f"{kind}_usd_per_mtok")) is not None
        }
        for tier in row.tiers
    }
    return prices, tiers


def differences(row: OfferPrice | None, listed: Listed) -> list[str]:
    """What differs between a row of the book and a listed price, one entry a price; empty = the same."""
    prices, tiers = ({}, {}) if row is None else book_prices(row)
    pairs: list[tuple[str, Mapping[PriceKind, float], Mapping[PriceKind, float]]] = [("", prices, listed.prices)]
    pairs += [
        (f" above {threshold} input tokens", tiers.get(threshold, {}), listed.tiers.get(threshold, {}))
        for threshold in sorted({*tiers, *listed.tiers})
    ]
    found = []
    for where, before, after in pairs:
        for kind in PRICE_KINDS:
            old, new = before.get(kind), after.get(kind)
            if not _same(old, new):
                texts = ("not listed" if value is None else price_text(value) for value in (old, new))
                found.append(f"{kind}{where} {' -> '.join(texts)}")
    return found


def _in_force(rows: Iterable[OfferPrice], hours: str, on: dt.date) -> OfferPrice | None:
    started = [row for row in rows if row.hours_utc == hours and (row.effective_from or dt.date.min) <= on]
    return max(started, key=lambda row: row.effective_from or dt.date.min, default=None)


def changes(offer: Offer, listed: Sequence[Listed], as_of: dt.date) -> tuple[list[Change], list[str]]:
    """Rows to append so that the book says what the source says on `as_of` and after, and remarks for a person.

    Only the price in force on `as_of` and announced ones are compared: history that has ended stays as it was reviewed.
    A price that changed without a start date takes effect on `as_of`.
    """
    found: list[Change] = []
    remarks: list[str] = []
    for hours in sorted({item.hours_utc for item in listed}):
        items = sorted((item for item in listed if item.hours_utc == hours), key=lambda item: item.start or dt.date.min)
        current = [item for item in items if (item.start or dt.date.min) <= as_of][-1:]
        announced = [item for item in items if item.start is not None and item.start > as_of]
        for item in [*current, *announced]:
            on = as_of if item in current else item.start or as_of
            row = _in_force(offer.prices, hours, on)
            differing = differences(row, item)
            if not differing:
                continue
            last = max(
                (p.effective_from or dt.date.min for p in offer.prices if p.hours_utc == hours), default=dt.date.min
            )
            start = item.start if item.start is not None and (item in announced or item.start > last) else as_of
            window = f" {hours} UTC" if hours else ""
            text = f"{offer.id}{window} from {start.isoformat()}: {', '.join(differing)}"
            found.append(Change(offer.id, start, item, text))
    known = {(item.start, item.hours_utc) for item in listed}
    for row in offer.prices:
        if row.effective_from and row.effective_from > as_of and (row.effective_from, row.hours_utc) not in known:
            remarks.append(
                f"{offer.id}: the price announced for {row.effective_from.isoformat()} is not listed any more"
            )
    return found, remarks


def _number(value: Any) -> float:
    return round(float(value), 6)


def _split(price: Any) -> tuple[dict[PriceKind, float], dict[int, dict[PriceKind, float]]]:
    """Base prices and tiers of a genai-prices ModelPrice."""
    prices: dict[PriceKind, float] = {}
    tiers: dict[int, dict[PriceKind, float]] = {}
    for kind, name in _FIELDS.items():
        value = getattr(price, name, None)
        if value is None:
            continue
        if hasattr(value, "tiers"):
            prices[kind] = _number(value.base)
            for tier in value.tiers:
                tiers.setdefault(int(tier.start), {})[kind] = _number(tier.price)
        else:
            prices[kind] = _number(value)
    return prices, tiers


def _when(constraint: Any) -> tuple[dt.date | None, str]:
    """Start date and UTC window of a genai-prices constraint."""
    start = getattr(constraint, "start_date", None)
    begin, end = getattr(constraint, "start_time", None), getattr(constraint, "end_time", None)
    hours = f"{begin:%H:%M}-{end:%H:%M}" if begin is not None and end is not None else ""
    return start, hours


def listed_prices(model: Any, url: str) -> dict[str, list[Listed]]:
    """Prices of a genai-prices model by id suffix ('' = standard, '#batch', ...).

    A variant that leaves the cached price out costs the standard one, as the package itself falls back.
    """
    entries = model.prices if isinstance(model.prices, list) else [model.prices]
    standard: list[Listed] = []
    for entry in entries:
        start, hours = _when(getattr(entry, "constraint", None))
        prices, tiers = _split(getattr(entry, "prices", entry))
        standard.append(Listed(start, hours, prices, tiers, url))
    found = {"": standard}
    for variant in getattr(model, "price_variants", None) or ():
        when = tuple(variant.when.items())
        tier = _VARIANTS.get(when[0]) if len(when) == 1 else None
        if tier is None:
            continue
        start, hours = _when(getattr(variant, "constraint", None))
        prices, tiers = _split(variant.prices)
        base = [
            item for item in standard if not item.hours_utc and (item.start or dt.date.min) <= (start or dt.date.max)
        ]
        if "cached_input" not in prices and base and "cached_input" in base[-1].prices:
            prices["cached_input"] = base[-1].prices["cached_input"]
            for threshold, values in tiers.items():
                if "cached_input" in base[-1].tiers.get(threshold, {}):
                    values["cached_input"] = base[-1].tiers[threshold]["cached_input"]
        found.setdefault(f"#{tier}", []).append(Listed(start, hours, prices, tiers, url))
    return found


def read_package() -> tuple[str, dict[str, list[Listed]]]:
    """Version of genai-prices and its prices by offer id.

    Raises:
        RuntimeError: the package is not installed.
    """
    try:  # imported by name, so that neither the app nor the type check needs the package
        package = importlib.import_module("genai_prices")
        providers = importlib.import_module("genai_prices.data").providers
    except ImportError as error:
        raise RuntimeError(
            "genai-prices is not installed; install the extra 'prices' of this project to refresh the price book"
        ) from error
    found: dict[str, list[Listed]] = {}
    for provider in providers:
        urls = list(provider.pricing_urls or ())
        for model in provider.models:
            name = model.id.lower()
            while name.startswith(f"{provider.id}/"):
                name = name.removeprefix(f"{provider.id}/")
            batch = name.endswith(":batch")
            for suffix, items in listed_prices(model, str(urls[0]) if urls else "").items():
                found[f"{provider.id}/{name.removesuffix(':batch')}{'#batch' if batch else suffix}"] = items
    return str(package.__version__), found


def price_text(usd_per_mtok: float) -> str:
    """A price as plain digits, to a millionth of a dollar per million tokens."""
    return f"{usd_per_mtok:.6f}".rstrip("0").rstrip(".")


def tiers_text(tiers: Mapping[int, Mapping[PriceKind, float]]) -> str:
    """Tiers in the form of offers.csv."""
    return " | ".join(
        f">{threshold}: "
        + " ".join(f"{kind}={price_text(tiers[threshold][kind])}" for kind in PRICE_KINDS if kind in tiers[threshold])
        for threshold in sorted(tiers)
    )


def as_row(change: Change, offer: Offer, version: str, as_of: dt.date) -> dict[str, str]:
    """The row of offers.csv that records a change; the shared columns repeat what the offer has."""
    prices = {f"{kind}_per_mtok": price_text(value) for kind, value in change.listed.prices.items()}
    return dict.fromkeys(OFFER_COLUMNS, "") | {
        "offer_id": offer.id,
        "provider": offer.provider,
        "model_id": offer.model_id,
        "weights_class": offer.weights_class,
        "service_tier": offer.service_tier,
        "channel": offer.channel,
        "region": offer.region,
        "is_frontier_baseline": "yes" if offer.is_frontier_baseline else "no",
        "effective_from": change.effective_from.isoformat(),
        "hours_utc": change.listed.hours_utc,
        "currency": "USD",
        **prices,
        "tiers": tiers_text(change.listed.tiers),
        "source": f"{SOURCE} {version}",
        "source_url": change.listed.url,
        "checked": as_of.isoformat(),
        "kind": "list_price",
        "confidence": "primary-transcribed",
        "note": f"appended by refresh_prices: {change.text.partition(': ')[2]}",
    }


def compare(
    offers: Mapping[str, Offer], listed: Mapping[str, Sequence[Listed]], as_of: dt.date
) -> tuple[list[Change], list[str]]:
    """Changes and remarks for every offer of the book that came from this source."""
    found: list[Change] = []
    remarks: list[str] = []
    for offer in offers.values():
        if not any(price.source.startswith(SOURCE) for price in offer.prices):
            continue
        items = listed.get(offer.id)
        if items is None:
            remarks.append(f"{offer.id}: not listed any more")
            continue
        some, said = changes(offer, items, as_of)
        found += some
        remarks += said
    return found, remarks


def append(file: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """Add rows at the end of offers.csv, after checking that the book still loads with them.

    Raises:
        CatalogError: a row would not load; the file is left as it was.
    """
    lines = io.StringIO()
    csv.DictWriter(lines, OFFER_COLUMNS, lineterminator="\n").writerows(rows)
    before = file.read_text(encoding="utf-8")
    text = before + ("" if before.endswith("\n") else "\n") + lines.getvalue()
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / file.name
        trial.write_text(text, encoding="utf-8", newline="")
        read_offers([trial])
    file.write_text(text, encoding="utf-8", newline="")


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the differences; with --write append them. Exit 0, or 2 with one line on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m calculators.refresh_prices", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--write", action="store_true", help="append the changed prices; without it nothing is written")
    parser.add_argument(
        "--offers", type=Path, default=DATA / "offers.csv", help="price book (default: data/offers.csv)"
    )
    parser.add_argument(
        "--as-of", type=dt.date.fromisoformat, default=None, help="day of the comparison (default: today)"
    )
    chosen = parser.parse_args(arguments)
    as_of: dt.date = chosen.as_of or dt.date.today()
    try:
        version, listed = read_package()
        offers = read_offers([chosen.offers])
        found, remarks = compare(offers, listed, as_of)
        for change in found:
            sys.stdout.write(f"{change.text}\n")
        for remark in remarks:
            sys.stdout.write(f"remark: {remark}\n")
        if chosen.write and found:
            append(chosen.offers, [as_row(change, offers[change.offer_id], version, as_of) for change in found])
    except (RuntimeError, CatalogError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    verb = "appended" if chosen.write else "to append (dry run; --write appends them)"
    sys.stdout.write(f"{len(found)} prices {verb}, {len(remarks)} remarks, compared with {SOURCE} {version}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
