"""The refresh script: what counts as a change, and that it only ever appends."""

import datetime as dt
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators import refresh_prices
from calculators.catalog import DATA, OFFER_COLUMNS, CatalogError, parse_tiers, read_offers
from calculators.records import Offer, OfferPrice
from calculators.refresh_prices import (
    Change,
    Listed,
    append,
    as_row,
    changes,
    compare,
    listed_prices,
    main,
    price_text,
    tiers_text,
)
from calculators.serverless import PRICE_KINDS, PriceKind, effective_price

TODAY = dt.date(2026, 12, 10)
CHECKED = dt.date(2026, 11, 29)
PRICES: dict[PriceKind, float] = {"input": 3.0, "cached_input": 0.3, "output": 15.0}


def offer(*prices: dict[str, Any], offer_id: str = "maker/model") -> Offer:
    shared = {"source": "genai-prices 0.2.3", "checked": CHECKED, "kind": "list_price"}
    shared |= {f"{kind}_per_mtok": value for kind, value in PRICES.items()}
    rows = tuple(OfferPrice(**(shared | price)) for price in prices or ({},))
    return Offer(id=offer_id, provider="maker", model_id="model", weights_class="model", prices=rows)


def test_the_same_price_is_no_change() -> None:
    assert changes(offer(), [Listed(prices=PRICES)], TODAY) == ([], [])
    # a rounding in the seventh digit is none either
    assert changes(offer(), [Listed(prices=PRICES | {"input": 3.0000001})], TODAY) == ([], [])


def test_a_price_that_moved_without_a_date_holds_from_today() -> None:
    (change,), remarks = changes(offer(), [Listed(prices=PRICES | {"input": 2.5})], TODAY)
    assert change.effective_from == TODAY
    assert change.text == "maker/model from 2026-12-10: input 3 -> 2.5"
    assert remarks == []


def test_a_cached_price_that_appears_or_goes_is_a_change() -> None:
    without = {"input": 3.0, "output": 15.0}
    (gone,), _ = changes(offer(), [Listed(prices=without)], TODAY)
    assert "cached_input 0.3 -> not listed" in gone.text
    (new,), _ = changes(offer({"cached_input_per_mtok": None}), [Listed(prices=PRICES)], TODAY)
    assert "cached_input not listed -> 0.3" in new.text


def test_an_announced_price_keeps_its_date() -> None:
    start = dt.date(2027, 1, 1)
    announced = Listed(start=start, prices=PRICES | {"output": 20.0})
    (change,), remarks = changes(offer(), [Listed(prices=PRICES), announced], TODAY)
    assert change.effective_from == start
    assert "output 15 -> 20" in change.text
    assert remarks == []
    known = offer({}, {"effective_from": start, "output_per_mtok": 20.0})
    assert changes(known, [Listed(prices=PRICES), announced], TODAY) == ([], [])
    assert changes(known, [Listed(prices=PRICES)], TODAY) == (
        [],
        ["maker/model: the price announced for 2027-01-01 is not listed any more"],
    )


def test_a_dated_price_newer_than_the_book_keeps_its_date() -> None:
    started = Listed(start=dt.date(2026, 12, 1), prices=PRICES | {"input": 2.0})
    (change,), _ = changes(offer(), [Listed(prices=PRICES), started], TODAY)
    assert change.effective_from == dt.date(2026, 12, 1)


def test_history_that_has_ended_is_left_alone() -> None:
    # an outlier of October that a later row ended, as for Kimi K3 at OpenRouter, is not brought back
    outlier = Listed(start=dt.date(2026, 10, 19), prices=PRICES | {"input": 0.239})
    after = Listed(start=dt.date(2026, 11, 3), prices=PRICES)
    book = offer({}, {"effective_from": dt.date(2026, 11, 3)})
    assert changes(book, [Listed(prices=PRICES), outlier, after], TODAY) == ([], [])


def test_tiers_and_hours_are_compared_too() -> None:
    (tier,), _ = changes(offer(), [Listed(prices=PRICES, tiers={200_000: {"input": 6.0}})], TODAY)
    assert "input above 200000 input tokens not listed -> 6" in tier.text
    night = Listed(hours_utc="01:00-04:00", prices=PRICES | {"input": 6.0})
    (window,), _ = changes(offer(), [Listed(prices=PRICES), night], TODAY)
    assert window.listed.hours_utc == "01:00-04:00"


def test_only_offers_of_this_source_are_compared_and_a_lost_one_is_a_remark() -> None:
    other = offer({"source": "litellm 1.110.2"}, offer_id="host/other")
    book = {"maker/model": offer(), "host/other": other}
    assert compare(book, {}, TODAY) == ([], ["maker/model: not listed any more"])
    found, remarks = compare(book, {"maker/model": [Listed(prices=PRICES | {"input": 1.0})]}, TODAY)
    assert ([change.offer_id for change in found], remarks) == (["maker/model"], [])


def test_a_model_of_the_package_becomes_prices_by_tier() -> None:
    tiered = SimpleNamespace(base=1.25, tiers=[SimpleNamespace(start=200_000, price=2.5)])
    standard = SimpleNamespace(input_mtok=tiered, cache_read_mtok=0.125, output_mtok=10)
    late = SimpleNamespace(
        constraint=SimpleNamespace(start_date=dt.date(2026, 10, 1)),
        prices=SimpleNamespace(input_mtok=1, cache_read_mtok=0.1, output_mtok=8),
    )
    night = SimpleNamespace(
        constraint=SimpleNamespace(start_time=dt.time(1), end_time=dt.time(4, 30)),
        prices=SimpleNamespace(input_mtok=2, output_mtok=16),
    )
    batch = SimpleNamespace(
        when={"processing": "batch"},
        prices=SimpleNamespace(input_mtok=0.5, output_mtok=4),
        constraint=SimpleNamespace(start_date=dt.date(2026, 10, 14)),
    )
    unknown = SimpleNamespace(when={"region": "moon"}, prices=standard, constraint=None)
    first = SimpleNamespace(constraint=None, prices=standard)
    model = SimpleNamespace(prices=[first, late, night], price_variants=[batch, unknown])
    found = listed_prices(model, "https://example.org")
    assert set(found) == {"", "#batch"}
    assert [(item.start, item.hours_utc) for item in found[""]] == [
        (None, ""),
        (dt.date(2026, 10, 1), ""),
        (None, "01:00-04:30"),
    ]
    assert found[""][0].tiers == {200_000: {"input": 2.5}}
    # cached input is not listed for batch: the standard price of that day, 0.1
    assert found["#batch"][0].prices == {"input": 0.5, "output": 4.0, "cached_input": 0.1}
    plain = SimpleNamespace(prices=SimpleNamespace(input_mtok=1, output_mtok=2), price_variants=None)
    assert listed_prices(plain, "")[""][0].prices == {"input": 1.0, "output": 2.0}


@given(
    tiers=st.dictionaries(
        st.integers(1, 2_000_000),
        st.dictionaries(st.sampled_from(PRICE_KINDS), st.integers(0, 10**9).map(lambda n: n / 1e6), min_size=1),
        max_size=3,
    )
)
def test_tiers_survive_being_written_and_read(tiers: dict[int, dict[PriceKind, float]]) -> None:
    read = {
        tier.above_input_tokens: {
            kind: value for kind in PRICE_KINDS if (value := getattr(tier, f"{kind}_usd_per_mtok")) is not None
        }
        for tier in parse_tiers(tiers_text(tiers))
    }
    assert read == tiers


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (0.3, "0.3"), (0.003625, "0.003625"), (1234.5678, "1234.5678"), (0.0, "0"), (20.0, "20")],
)
def test_a_price_is_written_in_plain_digits(value: float, text: str) -> None:
    assert price_text(value) == text


def book_with(tmp_path: Path) -> Path:
    file = tmp_path / "offers.csv"
    shutil.copy(DATA / "offers.csv", file)
    return file


def test_a_change_is_appended_and_every_old_byte_stays(tmp_path: Path) -> None:
    file = book_with(tmp_path)
    before = file.read_bytes()
    book = read_offers([file])
    chosen = book["moonshotai/kimi-k3"]
    listed = Listed(
        prices=PRICES | {"input": 2.0}, tiers={200_000: {"input": 4.0, "output": 20.0}}, url="https://a.example"
    )
    row = as_row(Change(chosen.id, TODAY, listed, "moonshotai/kimi-k3: input 3 -> 2"), chosen, "0.3.0", TODAY)
    append(file, [row])
    after = file.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 1
    refreshed = read_offers([file])["moonshotai/kimi-k3"]
    old, new = effective_price(refreshed, CHECKED), effective_price(refreshed, TODAY)
    assert old is not None
    assert new is not None
    assert (old.input_usd_per_mtok, new.input_usd_per_mtok) == (3.0, 2.0)
    assert new.tiers[0].output_usd_per_mtok == 20.0
    assert new.source == "genai-prices 0.3.0"
    assert new.note == "appended by refresh_prices: input 3 -> 2"
    assert changes(refreshed, [listed], TODAY) == ([], [])


def test_a_row_that_would_not_load_is_not_written(tmp_path: Path) -> None:
    file = book_with(tmp_path)
    before = file.read_bytes()
    chosen = read_offers([file])["moonshotai/kimi-k3"]
    row = as_row(Change(chosen.id, TODAY, Listed(prices=PRICES), "x: y"), chosen, "1", TODAY) | {"source": ""}
    with pytest.raises(CatalogError, match="has no source"):
        append(file, [row])
    assert file.read_bytes() == before


def test_the_script_writes_only_when_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = book_with(tmp_path)
    before = file.read_bytes()
    book = read_offers([file])
    listed = {
        name: [Listed(item.effective_from, item.hours_utc, *refresh_prices.book_prices(item)) for item in one.prices]
        for name, one in book.items()
    }
    monkeypatch.setattr(refresh_prices, "read_package", lambda: ("0.3.0", listed))
    arguments = ["--offers", str(file), "--as-of", TODAY.isoformat()]
    assert main(arguments) == 0
    assert "0 prices to append (dry run" in capsys.readouterr().out
    del listed["avian/moonshotai/kimi-k3"]
    assert main(arguments) == 0
    assert "remark: avian/moonshotai/kimi-k3: not listed any more" in capsys.readouterr().out
    listed["moonshotai/kimi-k3"] = [Listed(prices=PRICES | {"input": 2.0})]
    assert main(arguments) == 0
    assert "moonshotai/kimi-k3 from 2026-12-10: input 3 -> 2, cache_write 3 -> not listed" in capsys.readouterr().out
    assert file.read_bytes() == before
    assert main([*arguments, "--write"]) == 0
    assert "1 prices appended" in capsys.readouterr().out
    assert file.read_bytes().startswith(before)
    assert main([*arguments, "--write"]) == 0
    assert "0 prices appended" in capsys.readouterr().out


def test_without_the_package_there_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(refresh_prices.importlib, "import_module", missing)
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "install the extra 'prices'" in captured.err


def test_the_book_follows_the_package_it_was_made_from() -> None:
    package = pytest.importorskip("genai_prices")
    if package.__version__ != "0.2.3":
        pytest.skip("another version of genai-prices lists other prices")
    _, listed = refresh_prices.read_package()
    assert compare(read_offers([DATA / "offers.csv"]), listed, CHECKED) == ([], [])


def test_what_differs_is_told_price_by_price_in_the_order_of_the_tiers() -> None:
    row = offer({"tiers": parse_tiers(">200000: input=6 output=22.5 | >400000: input=8")}).prices[0]
    listed = Listed(
        prices={"input": 3.0, "output": 16.0},
        tiers={200_000: {"input": 6.0, "output": 22.5}, 300_000: {"cache_write": 1.0}},
    )
    assert refresh_prices.differences(row, listed) == [
        "cached_input 0.3 -> not listed",
        "output 15 -> 16",
        "cache_write above 300000 input tokens not listed -> 1",
        "input above 400000 input tokens 8 -> not listed",
    ]
    assert refresh_prices.differences(None, Listed(prices={"input": 1.0})) == ["input not listed -> 1"]
    # a free price is a price
    assert refresh_prices.differences(None, Listed(prices={"input": 0.0})) == ["input not listed -> 0"]
    assert refresh_prices.differences(offer({"input_per_mtok": 0.0}).prices[0], Listed(prices=PRICES)) == [
        "input 0 -> 3"
    ]


def test_the_price_in_force_is_the_last_that_has_started() -> None:
    """Of the same hours; the day itself counts, an undated row has always been there."""
    first, second, night = (
        {"input_per_mtok": 1.0},
        {"input_per_mtok": 2.0, "effective_from": TODAY},
        {"input_per_mtok": 9.0},
    )
    book = offer(first, second, night | {"hours_utc": "01:00-04:00"}).prices
    yesterday, tomorrow = TODAY - dt.timedelta(1), TODAY + dt.timedelta(1)

    def at(hours: str, day: dt.date) -> float | None:
        found = refresh_prices._in_force(book, hours, day)
        return None if found is None else found.input_per_mtok

    assert [at("", day) for day in (yesterday, TODAY, tomorrow)] == [1.0, 2.0, 2.0]
    assert at("01:00-04:00", yesterday) == 9.0
    assert at("05:00-06:00", TODAY) is None
    assert refresh_prices._in_force(book[1:2], "", yesterday) is None


def test_hours_have_their_own_changes_and_their_own_text() -> None:
    night = Listed(hours_utc="01:00-04:00", prices=PRICES | {"input": 6.0})
    (change,), remarks = changes(offer(), [night], TODAY)
    assert change.offer_id == "maker/model"
    assert change.listed == night
    assert change.effective_from == TODAY
    assert change.text == (
        "maker/model 01:00-04:00 UTC from 2026-12-10: input not listed -> 6, cached_input not listed -> 0.3, "
        "output not listed -> 15"
    )
    assert remarks == []
    # an announced price of the day's hours is not that of the night
    start = dt.date(2027, 1, 1)
    known = offer({}, {"effective_from": start, "hours_utc": "01:00-04:00"})
    assert changes(known, [Listed(prices=PRICES)], TODAY)[1] == [
        "maker/model: the price announced for 2027-01-01 is not listed any more"
    ]


def test_a_price_of_the_day_is_neither_old_nor_announced() -> None:
    """Listed from today: its own date stands, once; a date that the book has gives way to the day it is seen."""
    today = Listed(start=TODAY, prices=PRICES | {"input": 2.0})
    (change,), _ = changes(offer(), [Listed(prices=PRICES), today], TODAY)
    assert change.effective_from == TODAY
    book = offer({}, {"effective_from": dt.date(2026, 12, 1)})
    corrected = Listed(start=dt.date(2026, 12, 1), prices=PRICES | {"input": 2.5})
    (again,), _ = changes(book, [corrected], TODAY)
    assert again.effective_from == TODAY
    # the book's own row of today is in force today, and no remark is due for it
    assert changes(offer({}, {"effective_from": TODAY}), [Listed(prices=PRICES)], TODAY) == ([], [])
    # the newest of what has started counts, in whatever order it is listed
    older = Listed(start=dt.date(2026, 11, 1), prices=PRICES | {"input": 9.0})
    (newest,), _ = changes(offer(), [today, older, Listed(prices=PRICES)], TODAY)
    assert newest.listed == today


def test_variants_and_their_cached_price() -> None:
    def entry(start: dt.date | None, **prices: Any) -> SimpleNamespace:
        return SimpleNamespace(constraint=SimpleNamespace(start_date=start), prices=SimpleNamespace(**prices))

    def variant(when: dict[str, str], start: dt.date | None = None, **prices: Any) -> SimpleNamespace:
        return SimpleNamespace(
            when=when, constraint=SimpleNamespace(start_date=start), prices=SimpleNamespace(**prices)
        )

    tiered = SimpleNamespace(base=0.2, tiers=[SimpleNamespace(start=200_000, price=0.4)])
    half = SimpleNamespace(
        base=1, tiers=[SimpleNamespace(start=200_000, price=2), SimpleNamespace(start=400_000, price=3)]
    )
    day = dt.date(2026, 10, 1)
    model = SimpleNamespace(
        prices=[
            entry(None, input_mtok=2, cache_read_mtok=0.1, output_mtok=4),
            entry(day, input_mtok=2, cache_read_mtok=tiered),
        ],
        price_variants=[
            # on the day itself the price that begins on it counts
            variant({"processing": "batch"}, day, input_mtok=half),
            variant({"processing": "batch"}, day - dt.timedelta(1), input_mtok=1),
            variant({"service_tier": "flex"}, None, input_mtok=1, cache_read_mtok=0.05),
            variant({"service_tier": "priority"}, None, input_mtok=5),
            variant({"speed": "fast"}, None, input_mtok=6),
            variant({"service_tier": "fast"}, None, input_mtok=7),
            # two conditions at once are no variant of the book
            variant({"processing": "batch", "region": "moon"}, None, input_mtok=9),
        ],
    )  # fmt: skip
    found = listed_prices(model, "https://a.example")
    assert set(found) == {"", "#batch", "#flex", "#priority", "#fast"}
    assert {item.url for items in found.values() for item in items} == {"https://a.example"}
    later, earlier = found["#batch"]
    assert (later.start, later.prices) == (day, {"input": 1.0, "cached_input": 0.2})
    # the cached price's own tier; above 400,000 the package lists none
    assert later.tiers == {200_000: {"input": 2.0, "cached_input": 0.4}, 400_000: {"input": 3.0}}
    assert (earlier.start, earlier.prices) == (day - dt.timedelta(1), {"input": 1.0, "cached_input": 0.1})
    assert found["#flex"][0].prices == {"input": 1.0, "cached_input": 0.05}
    # without a date the last standard price counts
    assert found["#priority"][0].prices == {"input": 5.0, "cached_input": 0.2}
    assert [item.prices["input"] for item in found["#fast"]] == [6.0, 7.0]
    # nothing cached in the standard price: nothing to fall back on
    plain = SimpleNamespace(
        prices=[entry(None, input_mtok=2)], price_variants=[variant({"processing": "batch"}, input_mtok=1)]
    )
    assert listed_prices(plain, "")["#batch"][0].prices == {"input": 1.0}


def test_half_a_window_is_no_window_and_numbers_are_rounded() -> None:
    half = SimpleNamespace(start_time=dt.time(1), end_time=None, start_date=TODAY)
    assert refresh_prices._when(half) == (TODAY, "")
    assert refresh_prices._when(SimpleNamespace(end_time=dt.time(1))) == (None, "")
    assert refresh_prices._when(None) == (None, "")
    assert refresh_prices._number("0.12345678") == 0.123457
    price = SimpleNamespace(
        input_mtok=1, cache_read_mtok=2, cache_write_mtok=3, cache_write_1h_mtok=4, output_mtok=5, other_mtok=6
    )
    kinds = {"input": 1.0, "cached_input": 2.0, "cache_write": 3.0, "cache_write_1h": 4.0, "output": 5.0}
    assert refresh_prices._split(price) == (kinds, {})


def test_the_package_is_read_by_offer_id(monkeypatch: pytest.MonkeyPatch) -> None:
    def model(name: str, **more: Any) -> SimpleNamespace:
        return SimpleNamespace(id=name, prices=SimpleNamespace(input_mtok=1), price_variants=None, **more)

    batch = SimpleNamespace(when={"processing": "batch"}, constraint=None, prices=SimpleNamespace(input_mtok=0.5))
    with_batch = SimpleNamespace(id="m2", prices=SimpleNamespace(input_mtok=1), price_variants=[batch])
    modules = {
        "genai_prices": SimpleNamespace(__version__="0.9.1"),
        "genai_prices.data": SimpleNamespace(
            providers=[
                SimpleNamespace(
                    id="maker",
                    pricing_urls=["https://a.example", "https://b.example"],
                    models=[model("Maker/Maker/M1"), with_batch, model("m3:batch")],
                ),
                SimpleNamespace(id="host", pricing_urls=None, models=[model("maker/m1")]),
            ]
        ),
    }
    monkeypatch.setattr(refresh_prices.importlib, "import_module", modules.__getitem__)
    version, found = refresh_prices.read_package()
    assert version == "0.9.1"
    assert set(found) == {"maker/m1", "maker/m2", "maker/m2#batch", "maker/m3#batch", "host/maker/m1"}
    assert found["maker/m1"] == [Listed(None, "", {"input": 1.0}, {}, "https://a.example")]
    assert found["maker/m2#batch"][0].prices == {"input": 0.5}
    assert found["host/maker/m1"][0].url == ""


def test_an_appended_row_repeats_the_offer_and_says_where_it_is_from() -> None:
    chosen = read_offers([DATA / "offers.csv"])["moonshotai/kimi-k3"]
    listed = Listed(
        None, "01:00-04:00", {"input": 2.0, "cache_write_1h": 0.25}, {200_000: {"output": 20.0}}, "https://a.example"
    )
    row = as_row(
        Change(chosen.id, TODAY, listed, "x from y: input 3 -> 2: note"), chosen, "0.3.0", dt.date(2026, 12, 11)
    )
    filled = {name: value for name, value in row.items() if value}
    assert list(row) == list(OFFER_COLUMNS)
    assert filled == {
        "offer_id": "moonshotai/kimi-k3",
        "provider": chosen.provider,
        "model_id": chosen.model_id,
        "weights_class": chosen.weights_class,
        "service_tier": chosen.service_tier,
        "channel": chosen.channel,
        "is_frontier_baseline": "no",
        "effective_from": "2026-12-10",
        "hours_utc": "01:00-04:00",
        "currency": "USD",
        "input_per_mtok": "2",
        "cache_write_1h_per_mtok": "0.25",
        "tiers": ">200000: output=20",
        "source": "genai-prices 0.3.0",
        "source_url": "https://a.example",
        "checked": "2026-12-11",
        "kind": "list_price",
        "confidence": "primary-transcribed",
        "note": "appended by refresh_prices: input 3 -> 2: note",
    } | ({"region": chosen.region} if chosen.region else {})
    frontier = chosen.model_copy(update={"is_frontier_baseline": True})
    assert as_row(Change(chosen.id, TODAY, listed, "a: b"), frontier, "1", TODAY)["is_frontier_baseline"] == "yes"


def test_a_file_without_a_last_line_end_gets_one(tmp_path: Path) -> None:
    file = book_with(tmp_path)
    before = file.read_text(encoding="utf-8").rstrip("\n")
    file.write_text(before, encoding="utf-8")
    chosen = read_offers([file])["moonshotai/kimi-k3"]
    row = as_row(Change(chosen.id, TODAY, Listed(prices=PRICES), "x: \u4ef7\u683c"), chosen, "1", TODAY)
    append(file, [row, row | {"effective_from": "2026-12-11"}])
    added = file.read_bytes().decode("utf-8").removeprefix(before + "\n").split("\n")
    assert len(added) == 3
    assert added[0].endswith("appended by refresh_prices: \u4ef7\u683c")
    assert added[2] == ""


def test_every_offer_of_the_source_is_compared_after_one_that_is_lost() -> None:
    book = {
        "host/other": offer({"source": "litellm 1"}, offer_id="host/other"),
        "maker/lost": offer(offer_id="maker/lost"),
        "maker/a": offer(offer_id="maker/a"),
        "maker/b": offer({"source": "typed by hand"}, {"effective_from": CHECKED}, offer_id="maker/b"),
    }
    dearer = [Listed(prices=PRICES | {"input": 4.0})]
    found, remarks = compare(book, {"maker/a": dearer, "maker/b": dearer, "host/other": dearer}, TODAY)
    assert [change.offer_id for change in found] == ["maker/a", "maker/b"]
    assert remarks == ["maker/lost: not listed any more"]


def test_the_day_of_the_comparison_is_today_unless_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = book_with(tmp_path)
    listed = {"moonshotai/kimi-k3": [Listed(prices=PRICES | {"input": 2.0})]}
    monkeypatch.setattr(refresh_prices, "read_package", lambda: ("0.3.0", listed))
    days: list[dt.date] = []

    def remember(offers: Any, listed: Any, as_of: dt.date) -> Any:
        days.append(as_of)
        return compare(offers, listed, as_of)

    monkeypatch.setattr(refresh_prices, "compare", remember)
    assert main(["--offers", str(file)]) == 0
    assert main(["--offers", str(file), "--as-of", "2026-12-10"]) == 0
    assert abs(days[0] - dt.date.today()) <= dt.timedelta(1)
    assert days[1] == TODAY
    out = capsys.readouterr().out.splitlines()
    remarks = sum(line.startswith("remark: ") for line in out) // 2
    assert (
        out[-1]
        == f"1 prices to append (dry run; --write appends them), {remarks} remarks, compared with genai-prices 0.3.0"
    )
    assert main(["--offers", str(tmp_path / "none.csv")]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "none.csv" in told.err
