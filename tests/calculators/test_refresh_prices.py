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
from calculators.catalog import DATA, CatalogError, parse_tiers, read_offers
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
