"""Reads data/ into frozen records, refuses what is malformed or unsourced, and lists every figure for the evidence.

Layout of data/: one TOML file a model, accelerator and system; offers.csv (one dated price a row, append-only),
rentals.csv and rates.csv (one dated figure a row); opex.toml, presets.toml and profiles.toml; release.toml.
"""

import csv
import datetime as dt
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from pydantic import BaseModel, Field, ValidationError

from calculators.records import (
    Accelerator,
    Figure,
    Model,
    Offer,
    OfferPrice,
    Preset,
    PriceTier,
    Profile,
    Record,
    System,
    Text,
)
from calculators.serverless import PRICE_BOUNDS_USD_PER_MTOK, api_cost, effective_price, window_hours
from calculators.units import HOURS_PER_WEEK

DATA: Final = Path(__file__).resolve().parent.parent / "data"

OFFER_COLUMNS: Final = (
    "offer_id",
    "provider",
    "model_id",
    "weights_class",
    "service_tier",
    "channel",
    "region",
    "context_window_tokens",
    "aliases",
    "is_frontier_baseline",
    "effective_from",
    "hours_utc",
    "currency",
    "input_per_mtok",
    "cached_input_per_mtok",
    "cache_write_per_mtok",
    "cache_write_1h_per_mtok",
    "output_per_mtok",
    "tiers",
    "source",
    "source_url",
    "checked",
    "kind",
    "confidence",
    "note",
)
"""Columns of offers.csv. Prices are in `currency` per million tokens."""

_UNPRICED_SENTINEL: Final = -1.0
"""Router catalogues write -1 for 'depends'; it is read as unknown, never as a number."""


class CatalogError(ValueError):
    """data/ is malformed; the message is one sentence with file, record or line, and reason."""

    def __init__(self, file: Path | str, where: str, reason: str) -> None:
        """Name the file, the record or line in it, and what is wrong."""
        name = file.name if isinstance(file, Path) else file
        self.file = name
        self.where = where
        self.reason = reason
        super().__init__(f"{name}, {where}: {reason}")


class Rental(Record):
    """One published rental rate or ownership estimate of an accelerator, in USD per accelerator-hour."""

    accelerator: Text
    provider: Text
    instance: str = ""
    terms: Text = Field(description="on-demand, spot, 1-yr prepaid, TCO own, ...")
    usd_per_accelerator_hour: Figure
    min_accelerators: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Catalog:
    """Everything in data/, frozen. Mappings are keyed by id. Compared by identity, so it can be a key."""

    root: Path
    release: str
    models: Mapping[str, Model]
    accelerators: Mapping[str, Accelerator]
    systems: Mapping[str, System]
    offers: Mapping[str, Offer]
    presets: Mapping[str, Preset]
    profiles: Mapping[str, Profile]
    opex: Mapping[str, Figure]
    rates: tuple[Figure, ...]
    rentals: tuple[Rental, ...]
    offer_names: Mapping[str, str]
    """Lower-case id or alias -> id."""

    def __repr__(self) -> str:
        sizes = f"{len(self.models)} models, {len(self.systems)} systems, {len(self.offers)} offers"
        return f"Catalog({self.release}: {sizes})"

    def offer(self, id_or_alias: str) -> Offer | None:
        """Offer with exactly this id or alias in any case; never by prefix, so kimi-k3.1-pro is not kimi-k3."""
        found = self.offer_names.get(id_or_alias.strip().lower())
        return None if found is None else self.offers[found]

    def batch_offer(self, offer: Offer) -> Offer | None:
        """The batch tier of the same provider and model, or None: then nothing is cheaper in batch."""
        if offer.service_tier != "standard":
            return None
        return self.offers.get(f"{offer.id}#batch")

    def usd_per_cny(self, on: dt.date) -> Figure | None:
        """Latest rate dated at or before `on`; None when there is none, then CNY offers are unpriced."""
        known = [rate for rate in self.rates if isinstance(rate.date, dt.date) and rate.date <= on]
        return max(known, key=lambda rate: str(rate.date), default=None)

    @cached_property
    def measurements(self) -> Mapping[str, tuple[Mapping[str, str], ...]]:
        """Rows of every CSV in data/measurements as text, by file name without '.csv'; read when first asked for."""
        folder = self.root / "measurements"
        files = sorted(folder.glob("*.csv")) if folder.is_dir() else []
        return MappingProxyType({file.stem: tuple(MappingProxyType(row) for _, row in _csv(file)) for file in files})


# Reading -------------------------------------------------------------------------------------------------------------

R = TypeVar("R", bound=BaseModel)


def _csv(file: Path, columns: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and row of a CSV; '#' lines above the header are comments.

    Raises:
        CatalogError: a column is missing or unknown, or a row has more or fewer fields than the header.
    """
    try:
        with file.open(encoding="utf-8", newline="") as handle:
            skipped = 0
            position = handle.tell()
            while handle.readline().startswith("#"):
                skipped += 1
                position = handle.tell()
            handle.seek(position)
            reader = csv.reader(handle)
            header = next(reader, [])
            if columns and tuple(header) != tuple(columns):
                odd = sorted(set(columns) ^ set(header)) or ["their order"]
                raise CatalogError(file, f"line {skipped + 1}", f"the columns differ from the expected ones in {odd}")
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise CatalogError(
                        file, f"line {skipped + reader.line_num}", f"{len(row)} fields, the header has {len(header)}"
                    )
                yield skipped + reader.line_num, dict(zip(header, (cell.strip() for cell in row), strict=True))
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(file, "file", f"it cannot be read ({error})") from error


def _toml(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as handle:
            return tomllib.load(handle)
    except FileNotFoundError as error:
        raise CatalogError(file, "file", "it does not exist") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(file, "file", f"it is not valid TOML ({error})") from error


def _refuse_text_numbers(value: object, file: Path, where: str, field: str = "") -> None:
    """Pydantic would read "3" as 3; a figure written as text is an editing slip and is refused."""
    if isinstance(value, dict):
        if "unit" in value and isinstance(value.get("value"), str | bool):
            raise CatalogError(file, where, f"{field}.value is {value['value']!r}; write a number without quotes")
        for key, inner in value.items():
            _refuse_text_numbers(inner, file, where, f"{field}.{key}" if field else str(key))


def _record(kind: type[R], data: Mapping[str, Any], file: Path, where: str) -> R:
    """Validate one record; the first problem becomes the sentence of the error."""
    _refuse_text_numbers(dict(data), file, where)
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "record"
        if first["type"] == "missing":
            raise CatalogError(file, where, f"{field} is missing") from error
        given = "" if isinstance(first["input"], dict) else f" is {first['input']!r}"
        raise CatalogError(file, where, f"{field}{given}: {first['msg'].removeprefix('Value error, ')}") from error


def _add(target: dict[str, R], record: R, file: Path) -> None:
    key: str = record.id  # type: ignore[attr-defined]
    if key in target:
        raise CatalogError(file, key, "this id is used twice; ids must be unique")
    if key != key.lower() or key != key.strip():
        raise CatalogError(file, key, "an id is written in lower case without spaces around it")
    target[key] = record


def _number(text: str, file: Path, line: int, column: str) -> float | None:
    """A price: empty or -1 = unknown; anything else must be a finite number of 0 or more."""
    if text == "":
        return None
    try:
        value = float(text)
    except ValueError:
        raise CatalogError(file, f"line {line}", f"{column} is {text!r}; write a number or leave it empty") from None
    if value == _UNPRICED_SENTINEL:
        return None
    if not math.isfinite(value) or value < 0:
        raise CatalogError(file, f"line {line}", f"{column} is {text}; it must be finite and 0 or above")
    return value


def _date(text: str, file: Path, line: int, column: str) -> dt.date | None:
    if text == "":
        return None
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise CatalogError(file, f"line {line}", f"{column} is {text!r}; write it as 2026-11-29") from None


def _loose_date(text: str) -> dt.date | str:
    """A full ISO date as a date; '2026-09' and 'H2-2025' stay text."""
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return text


_TIER_PRICES: Final = ("input", "cached_input", "cache_write", "cache_write_1h", "output")


def parse_tiers(text: str) -> tuple[PriceTier, ...]:
    """Long-context tiers of offers.csv: '>200000: input=6 output=22.5 | >500000: input=9'.

    Raises:
        ValueError: the text does not follow this form, or a threshold or price occurs twice.
    """
    tiers: dict[int, PriceTier] = {}
    for part in filter(None, (piece.strip() for piece in text.split("|"))):
        match = re.fullmatch(r">\s*(\d+)\s*:\s*(.+)", part)
        if match is None:
            raise ValueError(f"tiers {part!r} does not read as '>200000: input=6 output=22.5'")
        prices: dict[str, float] = {}
        for pair in match[2].split():
            name, _, value = pair.partition("=")
            if name not in _TIER_PRICES or name in prices:
                raise ValueError(f"tiers {part!r}: {name!r} is not one of {', '.join(_TIER_PRICES)}, once each")
            price = float(value)
            if not math.isfinite(price) or price < 0:
                raise ValueError(f"tiers {part!r}: {pair!r} must be finite and 0 or above")
            prices[name] = price
        threshold = int(match[1])
        if threshold in tiers:
            raise ValueError(f"tiers: the threshold {threshold} occurs twice")
        tiers[threshold] = PriceTier(
            above_input_tokens=threshold, **{f"{name}_usd_per_mtok": value for name, value in prices.items()}
        )
    return tuple(tiers[threshold] for threshold in sorted(tiers))


def _price(row: Mapping[str, str], file: Path, line: int) -> OfferPrice:
    if not row["source"]:
        raise CatalogError(file, f"line {line}", f"{row['offer_id']} has no source; it does not load without one")
    checked = _date(row["checked"], file, line, "checked")
    if checked is None:
        raise CatalogError(file, f"line {line}", f"{row['offer_id']} has no date in 'checked'")
    try:
        if row["hours_utc"]:
            window_hours(row["hours_utc"])
        tiers = parse_tiers(row["tiers"])
    except ValueError as error:
        raise CatalogError(file, f"line {line}", f"{error}") from error
    data: dict[str, Any] = {
        "effective_from": _date(row["effective_from"], file, line, "effective_from"),
        "currency": row["currency"] or "USD",
        "tiers": tiers,
        "hours_utc": row["hours_utc"],
        "source": row["source"],
        "source_url": row["source_url"],
        "checked": checked,
        "kind": row["kind"],
        "confidence": row["confidence"],
        "note": row["note"],
    }
    for kind in _TIER_PRICES:
        data[f"{kind}_per_mtok"] = _number(row[f"{kind}_per_mtok"], file, line, f"{kind}_per_mtok")
    return _record(OfferPrice, data, file, f"line {line}")


_SHARED: Final = ("provider", "model_id", "weights_class", "service_tier", "channel", "region", "is_frontier_baseline")


def read_offers(files: Iterable[Path]) -> dict[str, Offer]:
    """Offers of one or more files in the form of offers.csv.

    Rows of one offer may stand anywhere, since a new price is appended at the end.

    Raises:
        CatalogError: a row is malformed, unsourced, or a second price for the same offer, date and hours that was not
            checked later than the first.
    """
    rows: dict[str, dict[tuple[dt.date, str], OfferPrice]] = {}
    heads: dict[str, dict[str, Any]] = {}
    for file in files:
        for line, row in _csv(file, OFFER_COLUMNS):
            offer_id = row["offer_id"]
            if not offer_id or offer_id != offer_id.lower() or any(c.isspace() for c in offer_id):
                raise CatalogError(file, f"line {line}", f"offer_id {offer_id!r} must be lower case without spaces")
            price = _price(row, file, line)
            head = heads.get(offer_id)
            if head is None:
                head = {name: row[name] for name in _SHARED} | {"aliases": (), "file": file, "line": line}
                heads[offer_id] = head
                rows[offer_id] = {}
            for name in _SHARED:
                if row[name] and row[name] != head[name]:
                    raise CatalogError(
                        file, f"line {line}", f"{offer_id} has {name} {row[name]!r} here and {head[name]!r} further up"
                    )
            head["aliases"] = tuple(dict.fromkeys([*head["aliases"], *row["aliases"].lower().split()]))
            if row["context_window_tokens"]:
                window = _number(row["context_window_tokens"], file, line, "context_window_tokens")
                head["context_window_tokens"] = None if window is None else int(window)
            key = (price.effective_from or dt.date.min, price.hours_utc)
            before = rows[offer_id].get(key)
            if before is not None and before.checked >= price.checked:
                raise CatalogError(
                    file,
                    f"line {line}",
                    f"{offer_id} has two prices from {row['effective_from'] or 'the start'} {row['hours_utc']}; "
                    "a correction needs a later date in 'checked'",
                )
            rows[offer_id][key] = price
    offers: dict[str, Offer] = {}
    for offer_id, head in heads.items():
        file, line = head.pop("file"), head.pop("line")
        flag = head.pop("is_frontier_baseline")
        if flag not in ("", "yes", "no"):
            raise CatalogError(file, f"line {line}", f"is_frontier_baseline is {flag!r}; write yes or no")
        prices = tuple(price for _, price in sorted(rows[offer_id].items(), key=lambda item: item[0]))
        data = {name: value for name, value in head.items() if value != ""}
        offers[offer_id] = _record(
            Offer,
            data | {"id": offer_id, "prices": prices, "is_frontier_baseline": flag == "yes"},
            file,
            f"line {line}, {offer_id}",
        )
    return offers


def _offer_names(offers: Mapping[str, Offer], file: Path) -> dict[str, str]:
    """Id and alias -> id.

    Raises:
        CatalogError: an alias is also an id or an alias of another offer: it would not resolve to exactly one.
    """
    names = {offer_id: offer_id for offer_id in offers}
    for offer in offers.values():
        for alias in offer.aliases:
            taken = names.get(alias)
            if taken is not None and taken != offer.id:
                raise CatalogError(
                    file, offer.id, f"the alias {alias!r} also names {taken}; it must resolve to exactly one offer"
                )
            if "*" in alias or alias.endswith("/"):
                raise CatalogError(file, offer.id, f"the alias {alias!r} is a pattern; aliases are matched whole")
            names[alias] = offer.id
    return names


def _profile(data: Mapping[str, Any], file: Path, where: str) -> Profile:
    profile = _record(Profile, data, file, where)
    if any(weight < 0 for weight in profile.weights):
        raise CatalogError(file, where, "weights holds a negative value; weights are 0 or above")
    total = sum(profile.weights)
    if abs(total - HOURS_PER_WEEK) > 1e-6:
        raise CatalogError(file, where, f"weights sum to {total:.6f}; they must sum to {HOURS_PER_WEEK}")
    return profile


def _figures_of_csv(
    file: Path, columns: Sequence[str], value: str, unit: str
) -> Iterator[tuple[Figure, dict[str, str]]]:
    for line, row in _csv(file, columns):
        number = _number(row[value], file, line, value)
        if number is None:
            raise CatalogError(file, f"line {line}", f"{value} is empty; a dated figure needs its value")
        figure = _record(
            Figure,
            {
                "value": number,
                "unit": unit,
                "source": row["source"],
                "date": _loose_date(row["date"]),
                "kind": row["kind"],
                "low": _number(row["low"], file, line, "low"),
                "high": _number(row["high"], file, line, "high"),
                "note": row["note"],
            },
            file,
            f"line {line}",
        )
        yield figure, row


RENTAL_COLUMNS: Final = (
    "accelerator",
    "provider",
    "instance",
    "terms",
    "usd_per_accelerator_hour",
    "low",
    "high",
    "min_accelerators",
    "date",
    "source",
    "kind",
    "note",
)
RATE_COLUMNS: Final = ("usd_per_cny", "low", "high", "date", "source", "kind", "note")


def _rentals(file: Path, accelerators: Mapping[str, Accelerator]) -> tuple[Rental, ...]:
    rentals = []
    columns = RENTAL_COLUMNS
    unit = "USD/accelerator-hour"
    for index, (figure, row) in enumerate(_figures_of_csv(file, columns, "usd_per_accelerator_hour", unit)):
        where = f"record {index + 1}"
        if row["accelerator"] not in accelerators:
            raise CatalogError(file, where, f"accelerator {row['accelerator']!r} does not exist in accelerators/")
        data = {
            "accelerator": row["accelerator"],
            "provider": row["provider"],
            "instance": row["instance"],
            "terms": row["terms"],
            "usd_per_accelerator_hour": figure,
            "min_accelerators": int(row["min_accelerators"]) if row["min_accelerators"] else None,
        }
        rentals.append(_record(Rental, data, file, where))
    return tuple(rentals)


def _extra_kind(data: Mapping[str, Any], file: Path) -> str:
    """Which record a single TOML file holds, read from the fields only that record has."""
    marks = {"models": "total_params", "accelerators": "memory_usable_bytes", "systems": "accelerators_per_node"}
    found = [kind for kind, mark in marks.items() if mark in data]
    if len(found) != 1:
        raise CatalogError(file, "file", f"it holds no model, accelerator or system ({', '.join(marks.values())})")
    return found[0]


def load_catalog(path: Path | None = None, extra: Sequence[Path] = ()) -> Catalog:
    """Read data/ (or `path`), with single records added from `extra`.

    Args:
        path: another folder of the same layout; None = the project's own data/, read once and kept.
        extra: TOML files, each with one model, accelerator or system, and CSV files with the columns of offers.csv.

    Raises:
        CatalogError: anything is malformed, unsourced, double or refers to what does not exist.
    """
    if path is None and not extra:
        return _default()
    return _load(DATA if path is None else path, tuple(extra))


@lru_cache(maxsize=1)
def _default() -> Catalog:
    return _load(DATA, ())


def _load(root: Path, extra: tuple[Path, ...]) -> Catalog:
    kinds = ("models", "accelerators", "systems")
    files: dict[str, list[Path]] = {kind: sorted((root / kind).glob("*.toml")) for kind in kinds}
    tables: dict[Path, dict[str, Any]] = {}
    offer_files = [root / "offers.csv"]
    for file in extra:
        if file.suffix == ".csv":
            offer_files.append(file)
        else:
            tables[file] = _toml(file)
            files[_extra_kind(tables[file], file)].append(file)

    def read(kind: str, record: type[R]) -> dict[str, R]:
        found: dict[str, R] = {}
        for file in files[kind]:
            data = tables[file] if file in tables else _toml(file)
            _add(found, _record(record, data, file, str(data.get("id", "record"))), file)
            if file not in tables and data.get("id") != file.stem:
                raise CatalogError(file, str(data.get("id")), f"the id must be the name of the file, {file.stem!r}")
        return found

    models = read("models", Model)
    accelerators = read("accelerators", Accelerator)
    systems = read("systems", System)
    for system in systems.values():
        if system.accelerator not in accelerators:
            raise CatalogError(f"{system.id}.toml", system.id, f"accelerator {system.accelerator!r} does not exist")
        if system.accelerators % system.accelerators_per_node:
            raise CatalogError(
                f"{system.id}.toml",
                system.id,
                f"{system.accelerators} accelerators do not divide into nodes of {system.accelerators_per_node}",
            )
    for model in models.values():
        if model.sized_as and model.sized_as not in models:
            raise CatalogError(f"{model.id}.toml", model.id, f"sized_as {model.sized_as!r} does not exist in models/")

    offers = read_offers(offer_files)
    names = _offer_names(offers, offer_files[0])

    def many(name: str, key: str, build: Callable[[Mapping[str, Any], Path, str], R]) -> dict[str, R]:
        file = root / name
        found: dict[str, R] = {}
        for index, data in enumerate(_toml(file).get(key, [])):
            _add(found, build(data, file, str(data.get("id", f"record {index + 1}"))), file)
        return found

    release = _toml(root / "release.toml").get("release")
    if not isinstance(release, str) or _loose_date(release) == release:
        raise CatalogError(root / "release.toml", "release", f'{release!r} is not a date; write it as "2026-11-29"')
    opex_file = root / "opex.toml"
    opex = {name: _record(Figure, data, opex_file, name) for name, data in _toml(opex_file).items()}
    rates_file = root / "rates.csv"
    rates = tuple(figure for figure, _ in _figures_of_csv(rates_file, RATE_COLUMNS, "usd_per_cny", "USD/CNY"))
    return Catalog(
        root=root,
        release=release,
        models=MappingProxyType(models),
        accelerators=MappingProxyType(accelerators),
        systems=MappingProxyType(systems),
        offers=MappingProxyType(offers),
        presets=MappingProxyType(many("presets.toml", "preset", lambda d, f, w: _record(Preset, d, f, w))),
        profiles=MappingProxyType(many("profiles.toml", "profile", _profile)),
        opex=MappingProxyType(opex),
        rates=rates,
        rentals=_rentals(root / "rentals.csv", accelerators),
        offer_names=MappingProxyType(names),
    )


# Evidence ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of data/ for the evidence page: where it stands, what it is and who says so. None = not stated."""

    path: str
    record: str
    field: str
    value: float
    unit: str
    low: float | None
    high: float | None
    source: str
    date: dt.date | str
    kind: str
    note: str


def _row(path: str, record: str, field: str, figure: Figure) -> FigureRow:
    return FigureRow(
        path=path,
        record=record,
        field=field,
        value=figure.value,
        unit=figure.unit,
        low=figure.low,
        high=figure.high,
        source=figure.source,
        date=figure.date,
        kind=figure.kind,
        note=figure.note,
    )


def _record_rows(folder: str, record: Model | Accelerator | System) -> Iterator[FigureRow]:
    for field in type(record).model_fields:
        value = getattr(record, field)
        if isinstance(value, Figure):
            yield _row(f"{folder}/{record.id}.toml", record.id, field, value)


def _model_constants(model: Model) -> Iterator[FigureRow]:
    """Cache groups and state: constants that share one source."""
    constants: list[tuple[str, float, str]] = [
        (f"cache[{index}].{group.kind}.elements_per_token", group.elements_per_token, "elements per token")
        for index, group in enumerate(model.cache)
    ]
    constants += [
        (f"cache[{index}].{group.kind}.fixed_bytes_per_token", group.fixed_bytes_per_token, "bytes per token")
        for index, group in enumerate(model.cache)
        if group.fixed_bytes_per_token
    ]
    if model.state_bytes_per_sequence:
        constants.append(("state_bytes_per_sequence", model.state_bytes_per_sequence, "bytes per sequence"))
    for field, value, unit in constants:
        yield FigureRow(
            path=f"models/{model.id}.toml",
            record=model.id,
            field=field,
            value=value,
            unit=unit,
            low=None,
            high=None,
            source=model.cache_source,
            date=model.weights_bytes.date,
            kind="derived",
            note=model.notes,
        )


def _offer_rows(offer: Offer) -> Iterator[FigureRow]:
    for price in offer.prices:
        start = f" from {price.effective_from.isoformat()}" if price.effective_from else ""
        hours = f" {price.hours_utc} UTC" if price.hours_utc else ""
        values: list[tuple[str, float | None]] = [(kind, getattr(price, f"{kind}_per_mtok")) for kind in _TIER_PRICES]
        values += [
            (f"{kind} above {tier.above_input_tokens} input tokens", getattr(tier, f"{kind}_usd_per_mtok"))
            for tier in price.tiers
            for kind in _TIER_PRICES
        ]
        for name, value in values:
            if value is not None:
                yield FigureRow(
                    path="offers.csv",
                    record=offer.id,
                    field=f"{name}{start}{hours}",
                    value=value,
                    unit=f"{price.currency} per million tokens",
                    low=None,
                    high=None,
                    source=f"{price.source} {price.source_url}".strip(),
                    date=price.checked,
                    kind=price.kind,
                    note="; ".join(filter(None, (price.confidence, price.note))),
                )


def figures(catalog: Catalog) -> Iterator[FigureRow]:
    """Every figure of data/ with its path, for the evidence page; measurements have a page of their own."""
    for model in catalog.models.values():
        yield from _record_rows("models", model)
        yield from _model_constants(model)
    for accelerator in catalog.accelerators.values():
        yield from _record_rows("accelerators", accelerator)
    for system in catalog.systems.values():
        yield from _record_rows("systems", system)
    for name, figure in catalog.opex.items():
        yield _row("opex.toml", name, "value", figure)
    for rate in catalog.rates:
        yield _row("rates.csv", "usd_per_cny", str(rate.date), rate)
    for rental in catalog.rentals:
        field = f"{rental.provider} {rental.instance} {rental.terms}".replace(" - ", " ")
        yield _row("rentals.csv", rental.accelerator, field, rental.usd_per_accelerator_hour)
    for preset in catalog.presets.values():
        for field, unit in (
            ("input_tokens", "tokens per request"),
            ("output_tokens", "tokens per request"),
            ("cached_share", "fraction of input"),
            ("accepted_tokens_per_step", "tokens per decode step"),
        ):
            figure = Figure(
                value=getattr(preset, field),
                unit=unit,
                source=preset.source,
                date=preset.date,
                kind=preset.kind,
                note=preset.note,
            )
            yield _row("presets.toml", preset.id, field, figure)
    for profile in catalog.profiles.values():
        figure = Figure(
            value=max(profile.weights), unit="ratio", source=profile.source, date=profile.date, kind=profile.kind
        )
        yield _row("profiles.toml", profile.id, "peak to mean", figure)
    for offer in catalog.offers.values():
        yield from _offer_rows(offer)


_DATE: Final = re.compile(
    r"(H[12]|Q[1-4])?[- ]?(20\d\d)(?:-(0[1-9]|1[0-2])(?!\d))?(?:-(\d\d)(?!\d))?(?:-?(Q[1-4]|H[12]))?"
)


def last_day(date: dt.date | str) -> dt.date | None:
    """Last day that a date of data/ can mean: '2026-09' its 30th, 'H2-2025' 31 December, '2025/2026' the later year.

    None when the text names no year: its age is unknown.
    """
    if isinstance(date, dt.date):
        return date
    found: list[dt.date] = []
    for match in re.finditer(
        r"(H[12]|Q[1-4])?[- ]?(20\d\d)(?:-(0[1-9]|1[0-2])(?!\d))?(?:-(\d\d)(?!\d))?(?:-?(Q[1-4]|H[12]))?", date
    ):
        year = int(match[2])
        part = match[1] or match[5]
        month = 12
        if match[3]:
            month = int(match[3])
        elif part:
            month = int(part[1]) * (6 if part[0] == "H" else 3)
        if match[4]:
            try:
                found.append(dt.date(year, month, int(match[4])))
            except ValueError:
                continue
        else:
            following = dt.date(year + month // 12, month % 12 + 1, 1)
            found.append(following - dt.timedelta(days=1))
    return max(found, default=None)


def stale(figure: Figure | FigureRow, today: dt.date, days: int) -> bool:
    """Whether a figure is more than `days` days old on `today`; one whose date names no year counts as old."""
    known = last_day(figure.date)
    return known is None or (today - known).days > days


# Choices -------------------------------------------------------------------------------------------------------------


_CLOSED_REGIONS: Final = ("china", "us-gov")


def default_alternative(
    catalog: Catalog,
    weights_class: str,
    *,
    on: dt.date,
    input_tokens: float = 8192,
    output_tokens: float = 1024,
    cached_share: float = 0.0,
    exclude: Sequence[str] = (),
) -> Offer | None:
    """Cheapest offer that serves the same weights and that anyone can use for production on that day.

    Considered: standard service tier, sold by the maker or by a host with machines of its own (resellers, routers and
    plans with a quota only pass these on), priced in USD, not in a market closed to most (China, US government), not
    free, not marked deprecated or SUSPECT, price within plausible bounds. Prices within 0.1 % of the lowest count as
    equal: then the maker comes first, after that the lower id. None when no offer is left.

    Args:
        catalog: the price book.
        weights_class: as in Model.weights_class.
        on: day of the price.
        input_tokens: input per request, cached part included.
        output_tokens: output per request.
        cached_share: share of the input billed as cache hits.
        exclude: ids of offers that are not wanted.
    """
    low, high = PRICE_BOUNDS_USD_PER_MTOK
    candidates: list[tuple[float, Offer]] = []
    for offer in catalog.offers.values():
        if offer.weights_class != weights_class or offer.service_tier != "standard" or offer.id in exclude:
            continue
        if offer.channel not in ("maker", "host") or offer.region.startswith(_CLOSED_REGIONS):
            continue
        price = effective_price(offer, on)
        if price is None or price.is_free or price.currency != "USD":
            continue
        if "DEPRECATED" in price.note or "SUSPECT" in f"{price.confidence} {price.note}":
            continue
        if not (low <= float(price.input_usd_per_mtok) <= high and low <= float(price.output_usd_per_mtok) <= high):
            continue
        candidates.append((float(api_cost(price, input_tokens, output_tokens, cached_share)), offer))
    if not candidates:
        return None
    lowest = min(usd for usd, _ in candidates)
    equal = [offer for usd, offer in candidates if usd <= lowest * 1.001]
    return min(equal, key=lambda offer: (offer.channel != "maker", offer.id))
