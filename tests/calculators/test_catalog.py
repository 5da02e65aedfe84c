"""The catalogue: what loads, what is refused and with which sentence, and how offers are found."""

import datetime as dt
import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError

from calculators.catalog import (
    DATA,
    OFFER_COLUMNS,
    Catalog,
    CatalogError,
    default_alternative,
    figures,
    last_day,
    load_catalog,
    parse_tiers,
    read_offers,
    stale,
)
from calculators.records import Figure, Preset

TODAY = dt.date(2026, 11, 29)

ROW = {
    "offer_id": "host/model",
    "provider": "host",
    "model_id": "model",
    "weights_class": "model",
    "service_tier": "standard",
    "channel": "host",
    "currency": "USD",
    "input_per_mtok": "3",
    "output_per_mtok": "15",
    "source": "a test",
    "checked": "2026-11-29",
    "kind": "list_price",
}


def offers_file(folder: Path, *rows: dict[str, str], columns: tuple[str, ...] = OFFER_COLUMNS) -> Path:
    file = folder / "more.csv"
    lines = [",".join(f'"{(ROW | row).get(name, "")}"' for name in columns) for row in rows]
    file.write_text("# a comment\n" + "\n".join([",".join(columns), *lines]) + "\n", encoding="utf-8")
    return file


def copy_of_data(folder: Path) -> Path:
    target = folder / "data"
    shutil.copytree(DATA, target, ignore=shutil.ignore_patterns("measurements"))
    return target


def edited(folder: Path, name: str, old: str, new: str) -> Path:
    """A copy of data/ with one text replaced in one file."""
    root = copy_of_data(folder)
    text = (root / name).read_text(encoding="utf-8")
    assert old in text
    (root / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


# Loading -------------------------------------------------------------------------------------------------------------


def test_the_default_catalogue_is_read_once(catalog: Catalog) -> None:
    assert load_catalog() is catalog


def test_nothing_in_it_can_be_changed(catalog: Catalog) -> None:
    with pytest.raises(TypeError):
        catalog.models["kimi-k3"] = catalog.models["kimi-k3.1-pro"]  # type: ignore[index]
    with pytest.raises(ValidationError):
        catalog.models["kimi-k3"].layers = 1


def test_one_model_or_machine_can_be_added_from_a_file(catalog: Catalog, tmp_path: Path) -> None:
    text = (DATA / "models" / "kimi-k3.toml").read_text(encoding="utf-8")
    model = tmp_path / "mine.toml"
    model.write_text(text.replace('id = "kimi-k3"', 'id = "mine"'), encoding="utf-8")
    text = (DATA / "systems" / "hgx-b300-8.toml").read_text(encoding="utf-8")
    system = tmp_path / "box.toml"
    system.write_text(text.replace('id = "hgx-b300-8"', 'id = "box"'), encoding="utf-8")
    offers = offers_file(tmp_path, {})
    more = load_catalog(extra=[model, system, offers])
    assert set(more.models) - set(catalog.models) == {"mine"}
    assert set(more.systems) - set(catalog.systems) == {"box"}
    assert set(more.offers) - set(catalog.offers) == {"host/model"}
    assert load_catalog() is catalog


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "odd.toml"
    file.write_text('id = "odd"\n', encoding="utf-8")
    with pytest.raises(CatalogError, match=r"odd\.toml, file: it holds no model, accelerator or system"):
        load_catalog(extra=[file])


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("models/kimi-k3.toml", "layers = 93", 'layers = "many"', r"kimi-k3\.toml, kimi-k3: layers is 'many'"),
        ("models/kimi-k3.toml", "layers = 93\n", "", r"kimi-k3\.toml, kimi-k3: layers is missing"),
        ("models/kimi-k3.toml", "layers = 93", "layers = 93\nsurprise = 1", r"surprise is 1: Extra inputs"),
        ("models/kimi-k3.toml", 'id = "kimi-k3"', 'id = "kimi-k4"', "the id must be the name of the file, 'kimi-k3'"),
        ("models/kimi-k3.toml", "value = 1_560_936_091_448", 'value = "1.56e12"', "write a number without quotes"),
        ("models/kimi-k3.toml", "value = 1_560_936_091_448", "value = nan", r"weights_bytes\.value is nan"),
        ("models/kimi-k3.1-pro.toml", 'sized_as = "kimi-k3"', 'sized_as = "k3"', "sized_as 'k3' does not exist"),
        ("systems/hgx-b300-8.toml", '"b300_sxm"', '"b301"', "accelerator 'b301' does not exist"),
        ("systems/hgx-b300-8.toml", "accelerators = 8", "accelerators = 9", "do not divide into nodes of 8"),
        ("systems/hgx-b300-8.toml", "low = 450_000", "low = 700_000", "hardware_usd: low 700000.0 is above the value"),
        ("accelerators/b300_sxm.toml", "source = ", "sauce = ", r"memory_usable_bytes\.source is missing"),
        ("accelerators/b300_sxm.toml", "id = ", "id ", "it is not valid TOML"),
        ("opex.toml", "source = ", "sauce = ", r"opex\.toml, colocation_usd_per_kw_month: source is missing"),
        ("release.toml", "2026-11-29", "soon", "'soon' is not a date"),
        ("profiles.toml", "1.0,", "2.0,", r"profiles\.toml, flat: weights sum to 169"),
        ("profiles.toml", "1.0, 1.0,", "3.0, -1.0,", "weights holds a negative value"),
        ("rates.csv", "0.14,", ",", r"rates\.csv, line 3: usd_per_cny is empty"),
        ("rates.csv", "usd_per_cny,low", "rate,low", r"rates\.csv, line 2: the columns differ"),
        ("rentals.csv", "h100_sxm", "h101", r"rentals\.csv, record 1: accelerator 'h101' does not exist"),
        ("presets.toml", 'id = "chat"', 'id = "rag"', r"presets\.toml, rag: this id is used twice"),
    ],
)
def test_malformed_data_is_one_sentence_that_says_where(
    tmp_path: Path, name: str, old: str, new: str, message: str
) -> None:
    with pytest.raises(CatalogError, match=message) as caught:
        load_catalog(edited(tmp_path, name, old, new))
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_a_csv_may_have_empty_lines_but_must_be_utf8(tmp_path: Path) -> None:
    file = offers_file(tmp_path, {})
    file.write_text(file.read_text(encoding="utf-8") + "\n\n", encoding="utf-8")
    assert list(read_offers([file])) == ["host/model"]
    file.write_bytes(file.read_bytes() + b"\xff\n")
    with pytest.raises(CatalogError, match=r"more\.csv, file: it cannot be read"):
        read_offers([file])


def test_an_id_is_lower_case(tmp_path: Path) -> None:
    file = tmp_path / "Mine.toml"
    text = (DATA / "models" / "kimi-k3.toml").read_text(encoding="utf-8")
    file.write_text(text.replace('id = "kimi-k3"', 'id = "Mine"'), encoding="utf-8")
    with pytest.raises(CatalogError, match="an id is written in lower case"):
        load_catalog(extra=[file])


def test_it_prints_short(catalog: Catalog) -> None:
    assert repr(catalog).startswith("Catalog(2026-11-29: 15 models, 19 systems, ")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    root = copy_of_data(tmp_path)
    (root / "opex.toml").unlink()
    with pytest.raises(CatalogError, match=r"opex\.toml, file: it does not exist"):
        load_catalog(root)


# Offers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": ""}, "host/model has no source"),
        ({"checked": ""}, "host/model has no date in 'checked'"),
        ({"checked": "29.11.2026"}, "checked is '29.11.2026'; write it as 2026-11-29"),
        ({"input_per_mtok": "3,0"}, "input_per_mtok is '3,0'; write a number or leave it empty"),
        ({"input_per_mtok": "-3"}, "input_per_mtok is -3; it must be finite and 0 or above"),
        ({"input_per_mtok": "nan"}, "input_per_mtok is nan"),
        ({"output_per_mtok": "inf"}, "output_per_mtok is inf"),
        ({"kind": "rumour"}, "kind is 'rumour'"),
        ({"currency": "EUR"}, "currency is 'EUR'"),
        ({"service_tier": "cheap"}, "service_tier is 'cheap'"),
        ({"is_frontier_baseline": "maybe"}, "is_frontier_baseline is 'maybe'; write yes or no"),
        ({"offer_id": "Host/Model"}, "offer_id 'Host/Model' must be lower case"),
        ({"hours_utc": "1-4"}, "hours_utc '1-4' is not a window of the day"),
        ({"tiers": "200000=6"}, "does not read as"),
        ({"tiers": ">200000: input=6 input=7"}, "once each"),
        ({"tiers": ">200000: input=-6"}, "must be finite and 0 or above"),
        ({"tiers": ">1: input=6 | >1: input=7"}, "the threshold 1 occurs twice"),
        ({"aliases": "host/*"}, "is a pattern"),
        ({"aliases": "moonshotai/kimi-k3"}, "also names moonshotai/kimi-k3; it must resolve to exactly one offer"),
    ],
)
def test_a_malformed_price_is_refused_with_its_line(tmp_path: Path, change: dict[str, str], message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        load_catalog(extra=[offers_file(tmp_path, change)])


def test_the_line_counts_the_comments(tmp_path: Path) -> None:
    # comment, header, good row, bad row: line 4
    file = offers_file(tmp_path, {}, {"offer_id": "host/other", "source": ""})
    with pytest.raises(CatalogError, match=r"more\.csv, line 4: host/other has no source"):
        read_offers([file])


def test_minus_one_and_nothing_are_unknown_and_zero_is_a_price(tmp_path: Path) -> None:
    row = {"input_per_mtok": "-1", "cached_input_per_mtok": "", "output_per_mtok": "0"}
    (price,) = read_offers([offers_file(tmp_path, row)])["host/model"].prices
    assert price.input_per_mtok is None
    assert price.cached_input_per_mtok is None
    assert price.output_per_mtok == 0.0


def test_rows_of_one_offer_may_stand_apart_and_are_sorted_by_date(tmp_path: Path) -> None:
    later = {"effective_from": "2026-08-01", "input_per_mtok": "2"}
    file = offers_file(tmp_path, later, {"offer_id": "host/other"}, {})
    offers = read_offers([file])
    assert [price.effective_from for price in offers["host/model"].prices] == [None, dt.date(2026, 8, 1)]


def test_a_second_price_for_the_same_start_needs_a_later_check(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="two prices from the start"):
        read_offers([offers_file(tmp_path, {}, {"input_per_mtok": "4"})])
    corrected = {"input_per_mtok": "4", "checked": "2026-12-01"}
    (price,) = read_offers([offers_file(tmp_path, {}, corrected)])["host/model"].prices
    assert price.input_per_mtok == 4.0


def test_rows_of_one_offer_may_not_contradict_each_other(tmp_path: Path) -> None:
    other = {"effective_from": "2026-08-01", "weights_class": "another"}
    with pytest.raises(CatalogError, match="host/model has weights_class 'another' here and 'model' further up"):
        read_offers([offers_file(tmp_path, {}, other)])


def test_a_row_with_a_field_too_many_is_refused(tmp_path: Path) -> None:
    file = offers_file(tmp_path, {})
    file.write_text(file.read_text(encoding="utf-8").rstrip("\n") + ",more\n", encoding="utf-8")
    with pytest.raises(CatalogError, match=r"line 3: 26 fields, the header has 25"):
        read_offers([file])


def test_tiers_are_read_in_order_of_their_threshold() -> None:
    first, second = parse_tiers(">500000: input=9 | >200000: input=6 cached_input=0.6 output=22.5")
    assert (first.above_input_tokens, first.input_usd_per_mtok, first.cached_input_usd_per_mtok) == (200_000, 6.0, 0.6)
    assert (second.above_input_tokens, second.input_usd_per_mtok, second.output_usd_per_mtok) == (500_000, 9.0, None)
    assert parse_tiers("") == ()


def test_an_offer_is_found_by_its_exact_name_only(catalog: Catalog) -> None:
    k3 = catalog.offer("moonshotai/kimi-k3")
    assert k3 is not None
    assert catalog.offer(" MoonshotAI/Kimi-K3 ") is k3
    assert catalog.offer("moonshot/kimi-k3") is k3
    pro = catalog.offer("moonshotai/kimi-k3.1-pro")
    assert pro is not None
    assert pro.weights_class == "kimi-k3.1"
    assert k3.weights_class == "kimi-k3"
    for name in ("moonshotai/kimi-k", "moonshotai/kimi-k3.", "moonshotai/kimi-k3.1", "kimi-k3", "moonshotai/", ""):
        assert catalog.offer(name) is None, name


def test_a_batch_sibling_is_found_from_the_standard_offer_only(catalog: Catalog) -> None:
    standard = catalog.offers["fireworks/kimi-k3"]
    batch = catalog.batch_offer(standard)
    assert batch is not None
    assert (batch.id, batch.service_tier) == ("fireworks/kimi-k3#batch", "batch")
    assert catalog.batch_offer(batch) is None
    assert catalog.batch_offer(catalog.offers["moonshotai/kimi-k3"]) is None


# Choices -------------------------------------------------------------------------------------------------------------


def row(offer_id: str, usd_in: float, usd_out: float, **more: str) -> dict[str, str]:
    prices = {"input_per_mtok": str(usd_in), "output_per_mtok": str(usd_out)}
    return {"offer_id": offer_id, "provider": offer_id.split("/")[0], "weights_class": "test"} | prices | more


def test_the_default_alternative_is_the_cheapest_that_anyone_can_buy(tmp_path: Path) -> None:
    rows = [
        row("maker/m", 3, 15, channel="maker"),
        row("host-a/m", 2.5, 12.5),
        row("free/m", 0, 0),
        row("spot/m", 1, 5, service_tier="spot"),
        row("host-a/m#batch", 1, 5, service_tier="batch"),
        row("router/m", 2, 10, channel="reseller"),
        row("plan/m", 2, 10, channel="plan"),
        row("cn/m", 2, 10, region="china"),
        row("yuan/m", 2, 10, currency="CNY"),
        row("gone/m", 2, 10, note="DEPRECATED/not listed any more"),
        row("odd/m", 2, 10, confidence="SUSPECT"),
        row("slip/m", 0.000003, 0.000015),
        row("unknown/m", -1, 15),
        row("soon/m", 2, 10, effective_from="2027-01-01"),
        row("other/m", 2, 10, weights_class="other"),
    ]
    catalog = load_catalog(extra=[offers_file(tmp_path, *rows)])
    chosen = default_alternative(catalog, "test", on=TODAY)
    assert chosen is not None
    assert chosen.id == "host-a/m"
    # from 2027 on the announced price holds
    later = default_alternative(catalog, "test", on=dt.date(2027, 1, 1))
    assert later is not None
    assert later.id == "soon/m"
    second = default_alternative(catalog, "test", on=TODAY, exclude=["host-a/m"])
    assert second is not None
    assert second.id == "maker/m"
    assert default_alternative(catalog, "nobody serves this", on=TODAY) is None


def test_the_mix_decides_which_is_cheapest_and_a_tie_goes_to_the_maker(tmp_path: Path) -> None:
    rows = [
        row("a/m", 3, 15, cached_input_per_mtok="0.3"),
        row("b/m", 2.9, 14.5),
        row("maker/m", 2.9, 14.501, channel="maker"),
    ]
    catalog = load_catalog(extra=[offers_file(tmp_path, *rows)])

    def chosen(cached_share: float) -> str:
        found = default_alternative(catalog, "test", on=TODAY, cached_share=cached_share)
        assert found is not None
        return found.id

    # nothing cached: 2.9 beats 3; b and the maker differ by less than 0.1 %, so the maker is named
    assert chosen(0.0) == "maker/m"
    # 90 % cached: a pays 0.57 per million input on average, the others 2.9
    assert chosen(0.9) == "a/m"


# Evidence ------------------------------------------------------------------------------------------------------------


def test_every_figure_is_listed_with_its_source_and_place(catalog: Catalog) -> None:
    rows = list(figures(catalog))
    for item in rows:
        assert item.source.strip(), item
        assert item.unit.strip(), item
        assert item.path.split("/")[0].split(".")[0] in {
            "models", "accelerators", "systems", "opex", "rates", "rentals", "presets", "profiles", "offers",
        }  # fmt: skip
    found = {(item.path, item.field): item for item in rows}
    price = found["systems/hgx-b300-8.toml", "hardware_usd"]
    assert (price.value, price.low, price.high, price.kind) == (600_000, 450_000, 660_000, "estimate")
    assert found["models/kimi-k3.toml", "state_bytes_per_sequence"].value == 449_372_160
    offers = [item for item in rows if item.record == "moonshotai/kimi-k3"]
    assert [(item.field, item.value) for item in offers] == [
        ("input", 3.0),
        ("cached_input", 0.3),
        ("cache_write", 3.0),
        ("cache_write_1h", 6.0),
        ("output", 15.0),
    ]
    assert {item.unit for item in rows if item.record == "moonshot-cn/kimi-k3"} == {"CNY per million tokens"}
    tiered = {item.field: item.value for item in rows if item.record == "anthropic/claude-sonnet-4-5"}
    assert tiered["input above 200000 input tokens"] == 6.0


def test_the_rate_of_a_day_is_the_latest_before_it(catalog: Catalog) -> None:
    rate = catalog.usd_per_cny(TODAY)
    assert rate is not None
    assert (rate.value, rate.kind) == (0.14, "assumption")
    assert catalog.usd_per_cny(dt.date(2020, 1, 1)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (dt.date(2026, 9, 19), dt.date(2026, 9, 19)),
        ("2026-09", dt.date(2026, 9, 30)),
        ("2026-12", dt.date(2026, 12, 31)),
        ("2026", dt.date(2026, 12, 31)),
        ("2024-2026", dt.date(2026, 12, 31)),
        ("2025-07..2026-01", dt.date(2026, 1, 31)),
        ("2025-09/2026-09", dt.date(2026, 9, 30)),
        ("H2-2025", dt.date(2025, 12, 31)),
        ("H1 2026", dt.date(2026, 6, 30)),
        ("2026-H1", dt.date(2026, 6, 30)),
        ("2026-Q1", dt.date(2026, 3, 31)),
        ("from 2026-02-27 to 2026-02-31", dt.date(2026, 2, 27)),
        ("Q3-2025", dt.date(2025, 9, 30)),
        ("unknown", None),
    ],
)
def test_a_loose_date_means_its_last_day(text: dt.date | str, expected: dt.date | None) -> None:
    assert last_day(text) == expected


def test_a_figure_is_stale_after_the_given_days() -> None:
    figure = Figure(value=1, unit="USD", source="a test", date="2026-09", kind="press")
    # 30 September to 29 November: 60 days
    assert not stale(figure, TODAY, 60)
    assert stale(figure, TODAY, 59)
    assert stale(figure.model_copy(update={"date": "long ago"}), TODAY, 10_000)


def test_measurements_are_rows_of_text_or_none(catalog: Catalog, tmp_path: Path) -> None:
    assert all(isinstance(value, str) for table in catalog.measurements.values() for value in table[0].values())
    assert load_catalog(copy_of_data(tmp_path)).measurements == {}


def test_presets_are_records(catalog: Catalog) -> None:
    assert isinstance(catalog.presets["chat"], Preset)
