"""Request costs: the arithmetic stands beside every expected figure."""

import datetime as dt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.catalog import load_catalog
from calculators.records import Offer, OfferPrice, PriceTier
from calculators.serverless import (
    PriceNow,
    api_cost,
    effective_price,
    price_warnings,
    request_cost_usd,
    window_hours,
    with_overrides,
)

TODAY = dt.date(2026, 11, 29)


def offer(*prices: dict[str, Any], **fields: Any) -> Offer:
    shared = {"source": "a test", "checked": TODAY, "kind": "list_price"}
    data = {"id": "maker/model", "provider": "maker", "model_id": "model", "weights_class": "model"} | fields
    return Offer(**data, prices=tuple(OfferPrice(**(shared | price)) for price in prices))


def price(**fields: Any) -> PriceNow:
    found = effective_price(offer({"input_per_mtok": 3.0, "output_per_mtok": 15.0} | fields), TODAY)
    assert found is not None
    return found


# One request ---------------------------------------------------------------------------------------------------------


def test_a_cached_request_on_kimi_k3() -> None:
    k3 = effective_price(load_catalog().offers["moonshotai/kimi-k3"], TODAY)
    assert k3 is not None
    # 2,006 prompt tokens, 1,920 of them cached: 86 x 3 + 1,920 x 0.3 + 300 x 15 = 258 + 576 + 4,500 = 5,334 per million
    assert request_cost_usd(k3, 86, 1920, 0, 300) == pytest.approx(0.005334, rel=1e-12)
    # the same by shares
    assert api_cost(k3, 2006, 300, cached_share=1920 / 2006, cache_write_share=0) == pytest.approx(0.005334, rel=1e-12)


def test_a_tier_acts_on_all_tokens_of_the_request_and_on_no_other_request() -> None:
    tiered = price(
        tiers=(PriceTier(above_input_tokens=200_000, input_usd_per_mtok=6.0, output_usd_per_mtok=22.5),),
    )
    cost = request_cost_usd(tiered, np.array([150_000.0, 250_000.0]), 0.0, 0.0, 1000.0)
    # 150k: 0.15 x 3 + 0.001 x 15 = 0.465; 250k: 0.25 x 6 + 0.001 x 22.5 = 1.5225
    assert cost == pytest.approx([0.465, 1.5225], rel=1e-12)
    assert np.sum(cost) == pytest.approx(1.9875, rel=1e-12)


def test_a_tier_starts_above_its_threshold_and_counts_cached_and_written_tokens() -> None:
    tiered = price(tiers=(PriceTier(above_input_tokens=200_000, input_usd_per_mtok=6.0),))
    # exactly 200,000: 0.2 x 3 = 0.6; one more token: 0.200001 x 6
    assert request_cost_usd(tiered, 200_000, 0, 0, 0) == pytest.approx(0.6)
    assert request_cost_usd(tiered, 200_001, 0, 0, 0) == pytest.approx(1.200006)
    # 50,000 new + 100,000 cached + 60,000 written = 210,000: above; no cached or write price, so all cost 6
    assert request_cost_usd(tiered, 50_000, 100_000, 60_000, 0) == pytest.approx(0.21 * 6)


def test_a_tier_that_leaves_a_price_out_keeps_the_step_below() -> None:
    tiered = price(
        cached_input_per_mtok=0.3,
        tiers=(
            PriceTier(above_input_tokens=100_000, output_usd_per_mtok=20.0),
            PriceTier(above_input_tokens=200_000, input_usd_per_mtok=6.0),
        ),
    )
    # 250k with 100k cached: 0.15 x 6 + 0.1 x 0.3 + 0.001 x 20 = 0.9 + 0.03 + 0.02
    assert request_cost_usd(tiered, 150_000, 100_000, 0, 1000) == pytest.approx(0.95)


def test_a_missing_cached_price_is_charged_in_full_and_flagged() -> None:
    full = price()
    assert full.cached_is_missing
    assert request_cost_usd(full, 0, 1_000_000, 0, 0) == pytest.approx(3.0)
    assert any("charged in full" in text for text in price_warnings(full, TODAY))
    assert not price(cached_input_per_mtok=0.0).cached_is_missing
    assert request_cost_usd(price(cached_input_per_mtok=0.0), 0, 1_000_000, 0, 0) == 0.0


def test_cache_writes_have_two_prices() -> None:
    writes = price(cached_input_per_mtok=0.3, cache_write_per_mtok=3.75, cache_write_1h_per_mtok=6.0)
    # 1M written for 5 minutes 3.75, for an hour 6.00
    assert request_cost_usd(writes, 0, 0, 1_000_000, 0) == pytest.approx(3.75)
    assert request_cost_usd(writes, 0, 0, 0, 0, cache_write_1h_tokens=1_000_000) == pytest.approx(6.0)
    # not listed: writes cost the input price, an hour the 5-minute price
    assert request_cost_usd(price(), 0, 0, 1_000_000, 0, 1_000_000) == pytest.approx(6.0)
    assert request_cost_usd(price(cache_write_per_mtok=4.0), 0, 0, 0, 0, 1_000_000) == pytest.approx(4.0)


# A mix ---------------------------------------------------------------------------------------------------------------


def test_what_is_not_read_from_the_cache_is_written_to_it_where_writes_have_a_price() -> None:
    writes = price(cached_input_per_mtok=0.3, cache_write_per_mtok=3.75)
    # 1M input, half cached: 0.5 x 0.3 + 0.5 x 3.75 = 2.025
    assert api_cost(writes, 1_000_000, 0, cached_share=0.5) == pytest.approx(2.025)
    # nothing cached: nothing was written either, 1 x 3
    assert api_cost(writes, 1_000_000, 0) == pytest.approx(3.0)
    # said otherwise: a fifth of the uncached half is written: 0.15 + 0.1 x 3.75 + 0.4 x 3 = 1.725
    assert api_cost(writes, 1_000_000, 0, cached_share=0.5, cache_write_share=0.2) == pytest.approx(1.725)
    # no write price: 0.5 x 0.3 + 0.5 x 3
    assert api_cost(price(cached_input_per_mtok=0.3), 1_000_000, 0, cached_share=0.5) == pytest.approx(1.65)
    # by the hour: 0.5 x 0.3 + 0.5 x 6
    by_hour = price(cached_input_per_mtok=0.3, cache_write_per_mtok=3.75, cache_write_1h_per_mtok=6.0)
    assert api_cost(by_hour, 1e6, 0, cached_share=0.5, cache_write_1h_share=1.0) == pytest.approx(3.15)


def test_the_batch_price_is_taken_once_and_as_listed() -> None:
    standard = price(cached_input_per_mtok=0.3)
    batch = price(input_per_mtok=1.5, output_per_mtok=7.5, cached_input_per_mtok=0.3)
    # 1M in, 0.1M out: standard 3 + 1.5 = 4.5, batch 1.5 + 0.75 = 2.25; 40 % in batch: 0.6 x 4.5 + 0.4 x 2.25 = 3.6
    assert api_cost(standard, 1e6, 1e5, batch_price=batch, batch_share=0.4) == pytest.approx(3.6)
    assert api_cost(standard, 1e6, 1e5, batch_price=batch, batch_share=1.0) == pytest.approx(2.25)
    # cached tokens cost what the batch tier lists, here the same 0.3: 0.5 x 1.5 + 0.5 x 0.3 = 0.9
    assert api_cost(standard, 1e6, 0, cached_share=0.5, batch_price=batch, batch_share=1.0) == pytest.approx(0.9)
    # no batch tier: the share changes nothing
    assert api_cost(standard, 1e6, 1e5, batch_share=1.0) == pytest.approx(4.5)


def test_a_discount_is_taken_off_the_whole_bill() -> None:
    # (1 x 3 + 0.1 x 15) x 0.8 = 3.6
    assert api_cost(price(), 1e6, 1e5, discount=0.2) == pytest.approx(3.6)
    assert api_cost(price(), 1e6, 1e5, discount=1.0) == 0.0


@given(
    cached=st.floats(0, 1),
    batch_share=st.floats(0, 1),
    discount=st.floats(0, 1),
    input_tokens=st.floats(0, 1e6),
    output_tokens=st.floats(0, 1e5),
)
def test_an_array_gives_the_stack_of_its_scalars(
    cached: float, batch_share: float, discount: float, input_tokens: float, output_tokens: float
) -> None:
    tiers = (PriceTier(above_input_tokens=200_000, input_usd_per_mtok=6.0, output_usd_per_mtok=22.5),)
    standard = price(cached_input_per_mtok=0.3, cache_write_per_mtok=3.75, tiers=tiers)
    batch = price(input_per_mtok=1.5, output_per_mtok=7.5, tiers=tiers)
    one = api_cost(standard, input_tokens, output_tokens, cached, None, discount, batch, batch_share)
    many = api_cost(
        standard,
        np.array([[input_tokens], [250_000.0]]),
        output_tokens,
        np.array([cached, 0.0, 1.0]),
        None,
        discount,
        batch,
        batch_share,
    )
    assert np.shape(many) == (2, 3)
    assert np.asarray(many)[0, 0] == pytest.approx(one, rel=1e-12, abs=1e-15)
    assert np.isscalar(one)


@given(cached=st.floats(0, 1), more=st.floats(0, 1))
def test_caching_saves_at_most_the_input_and_never_the_output(cached: float, more: float) -> None:
    listed = price(cached_input_per_mtok=0.3)
    low, high = sorted((cached, more))
    assert api_cost(listed, 1e6, 1e5, high) <= api_cost(listed, 1e6, 1e5, low) + 1e-12
    assert api_cost(listed, 1e6, 1e5, cached) >= 0.1 * 15 + 0.3 - 1e-12


# Price rows ----------------------------------------------------------------------------------------------------------


def test_the_price_of_a_day_is_the_latest_row_that_has_started() -> None:
    dated = offer(
        {"input_per_mtok": 5.0, "output_per_mtok": 30.0},
        {"input_per_mtok": 4.0, "output_per_mtok": 20.0, "effective_from": dt.date(2026, 8, 21)},
        {"input_per_mtok": 8.0, "output_per_mtok": 40.0, "effective_from": dt.date(2027, 1, 1)},
    )
    on = {
        dt.date(2026, 8, 20): 5.0,
        dt.date(2026, 8, 21): 4.0,
        TODAY: 4.0,
        dt.date(2026, 12, 31): 4.0,
        dt.date(2027, 1, 1): 8.0,
    }
    for day, expected in on.items():
        found = effective_price(dated, day)
        assert found is not None
        assert found.input_usd_per_mtok == expected


def test_before_the_first_row_an_offer_is_unpriced() -> None:
    digitalocean = load_catalog().offers["digitalocean/kimi-k3"]
    assert effective_price(digitalocean, dt.date(2026, 7, 30)) is None
    assert effective_price(digitalocean, TODAY) is not None


@pytest.mark.parametrize("missing", ["input_per_mtok", "output_per_mtok"])
def test_an_unknown_price_is_unpriced_and_enters_no_total(missing: str) -> None:
    unknown = offer({"input_per_mtok": 3.0, "output_per_mtok": 15.0} | {missing: None})
    found = effective_price(unknown, TODAY)
    assert found is None
    assert request_cost_usd(found, 1, 0, 0, 1) is None
    assert api_cost(found, 8192, 1024) is None


def test_a_free_tier_is_marked_and_is_not_unknown() -> None:
    free = price(input_per_mtok=0.0, output_per_mtok=0.0)
    assert free.is_free
    assert api_cost(free, 8192, 1024) == 0.0
    assert any("free tier" in text for text in price_warnings(free, TODAY))


def test_a_price_in_cny_needs_its_rate() -> None:
    china = load_catalog().offers["moonshot-cn/kimi-k3"]
    assert effective_price(china, TODAY) is None
    # 20 / 2 / 100 CNY at 0.14 USD: 2.8 / 0.28 / 14
    found = effective_price(china, TODAY, 0.14)
    assert found is not None
    assert (found.input_usd_per_mtok, found.cached_input_usd_per_mtok, found.output_usd_per_mtok) == pytest.approx(
        (2.8, 0.28, 14.0)
    )
    assert (found.currency, found.rate_usd_per_cny) == ("CNY", 0.14)
    with pytest.raises(ValueError, match="rate_usd_per_cny is 0"):
        effective_price(china, TODAY, 0.0)


def test_time_of_day_prices() -> None:
    # DeepSeek V4 Pro: 0.66 / 1.98, doubled 01:00-04:00 and 06:00-10:00 UTC, 7 of 24 hours
    deepseek = load_catalog().offers["deepseek/deepseek-v4-pro"]
    mean = effective_price(deepseek, TODAY)
    assert mean is not None
    # 0.66 x 17/24 + 1.32 x 7/24 = 0.8525; 1.98 x 17/24 + 3.96 x 7/24 = 2.5575
    assert mean.input_usd_per_mtok == pytest.approx(0.8525)
    assert mean.output_usd_per_mtok == pytest.approx(2.5575)
    assert any("time of day" in text for text in mean.warnings)
    for hour, expected in ((0, 0.66), (1, 1.32), (3.99, 1.32), (4, 0.66), (6, 1.32), (10, 0.66), (23.5, 0.66)):
        at_hour = effective_price(deepseek, TODAY, hour_utc=hour)
        assert at_hour is not None
        assert at_hour.input_usd_per_mtok == expected
    # demand only at 02:00 UTC pays the peak price, demand only at noon the other
    for hour, expected in ((2, 1.32), (12, 0.66)):
        weights = [7.0 if index % 24 == hour else 0.0 for index in range(168)]
        weighted = effective_price(deepseek, TODAY, hour_weights=weights)
        assert weighted is not None
        assert weighted.input_usd_per_mtok == pytest.approx(expected)
    # before the windows began
    flat = effective_price(deepseek, dt.date(2026, 8, 16))
    assert flat is not None
    assert flat.input_usd_per_mtok == 0.435


def test_a_window_of_unknown_price_leaves_the_day_unpriced() -> None:
    day = {"input_per_mtok": 4.0, "output_per_mtok": 4.0}
    partly = offer(day, {"input_per_mtok": 2.0, "hours_utc": "22:00-04:00"})
    assert effective_price(partly, TODAY) is None


def test_a_window_may_pass_midnight_and_tiers_are_averaged_too() -> None:
    tier = (PriceTier(above_input_tokens=1000, input_usd_per_mtok=8.0),)
    night = offer(
        {"input_per_mtok": 4.0, "output_per_mtok": 4.0, "tiers": tier},
        {"input_per_mtok": 2.0, "output_per_mtok": 2.0, "hours_utc": "22:00-04:00"},
    )
    mean = effective_price(night, TODAY)
    assert mean is not None
    # 6 of 24 hours: 4 x 0.75 + 2 x 0.25 = 3.5; above the threshold 8 x 0.75 + 2 x 0.25 = 6.5
    assert mean.input_usd_per_mtok == pytest.approx(3.5)
    assert request_cost_usd(mean, 1_000_000, 0, 0, 0) == pytest.approx(6.5)
    for hour, expected in ((23, 2.0), (3, 2.0), (4, 4.0), (12, 4.0)):
        at_hour = effective_price(night, TODAY, hour_utc=hour)
        assert at_hour is not None
        assert at_hour.input_usd_per_mtok == expected


@pytest.mark.parametrize("text", ["1:00-4:00", "01:00", "25:00-26:00", "aa:00-bb:00", "04:00-04:00"])
def test_a_window_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a window of the day"):
        window_hours(text)


def test_hours_and_weights_are_checked() -> None:
    deepseek = load_catalog().offers["deepseek/deepseek-v4-pro"]
    with pytest.raises(ValueError, match="hour_utc is 24"):
        effective_price(deepseek, TODAY, hour_utc=24)
    with pytest.raises(ValueError, match="hour_weights has 24 values; a week has 168 hours"):
        effective_price(deepseek, TODAY, hour_weights=[1.0] * 24)
    with pytest.raises(ValueError, match="must sum to more than 0"):
        effective_price(deepseek, TODAY, hour_weights=[0.0] * 168)


# Overrides -----------------------------------------------------------------------------------------------------------


def test_an_override_replaces_one_price_and_zero_is_a_value() -> None:
    listed = price(cached_input_per_mtok=0.3)
    assert with_overrides(listed) == listed
    assert with_overrides(listed, input_usd_per_mtok=float("nan")) == listed
    cheap = with_overrides(listed, input_usd_per_mtok=2.0, output_usd_per_mtok=0.0)
    # 1 x 2 + 1 x 0 and the cached price as listed
    assert request_cost_usd(cheap, 1e6, 0, 0, 1e6) == pytest.approx(2.0)
    assert request_cost_usd(cheap, 0, 1e6, 0, 0) == pytest.approx(0.3)
    assert with_overrides(listed, input_usd_per_mtok=0.0, output_usd_per_mtok=0.0).is_free
    assert not cheap.is_free


def test_an_unlisted_cached_or_write_price_follows_the_input_override() -> None:
    changed = with_overrides(price(), input_usd_per_mtok=2.0)
    assert request_cost_usd(changed, 0, 1e6, 1e6, 0) == pytest.approx(4.0)
    assert changed.cached_is_missing
    given_cached = with_overrides(price(), cached_input_usd_per_mtok=0.0)
    assert not given_cached.cached_is_missing
    assert request_cost_usd(given_cached, 0, 1e6, 0, 0) == 0.0
    assert not with_overrides(price(), cache_write_usd_per_mtok=1.0).write_is_missing


def test_an_override_switches_off_the_tiers_of_its_price_only() -> None:
    tiered = price(tiers=(PriceTier(above_input_tokens=200_000, input_usd_per_mtok=6.0, output_usd_per_mtok=22.5),))
    changed = with_overrides(tiered, input_usd_per_mtok=1.0)
    # 250k in at 1, 1k out at the listed tier: 0.25 + 0.0225
    assert request_cost_usd(changed, 250_000, 0, 0, 1000) == pytest.approx(0.2725)


def test_an_array_of_overrides_keeps_the_listed_price_where_it_is_nan() -> None:
    changed = with_overrides(price(), input_usd_per_mtok=np.array([np.nan, 1.0, 0.0]))
    assert request_cost_usd(changed, 1e6, 0, 0, 0) == pytest.approx([3.0, 1.0, 0.0])


@pytest.mark.parametrize("bad", [-1.0, float("inf")])
def test_a_negative_or_infinite_override_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="output_usd_per_mtok is"):
        with_overrides(price(), output_usd_per_mtok=bad)


# Doubts --------------------------------------------------------------------------------------------------------------


def test_an_old_price_is_called_old() -> None:
    listed = price(cached_input_per_mtok=0.3)
    # checked on 2026-11-29: 90 days later is 2027-02-27
    assert price_warnings(listed, dt.date(2027, 2, 27)) == ()
    (warning,) = price_warnings(listed, dt.date(2027, 2, 28))
    assert "91 days ago" in warning
    assert price_warnings(listed, dt.date(2027, 2, 28), stale_after_days=91) == ()


@pytest.mark.parametrize(
    ("value", "odd"), [(0.00009, True), (0.0001, False), (1000.0, False), (1001.0, True), (0.0, False)]
)
def test_a_price_outside_the_bounds_is_flagged(value: float, odd: bool) -> None:
    found = price_warnings(price(cached_input_per_mtok=value), TODAY)
    assert any("cached input price is outside 0.0001 to 1000" in text for text in found) == odd


def test_a_suspect_price_says_so() -> None:
    found = price_warnings(price(cached_input_per_mtok=0.3, confidence="SUSPECT", note="near the cached price"), TODAY)
    assert any("marked SUSPECT" in text for text in found)
