"""What a request costs at an offer: cache writes, batch prices, discount and the provider's own count of tokens."""

import dataclasses
import datetime as dt
import math
from typing import Any

import numpy as np
import pytest

from calculators.catalog import load_catalog
from calculators.evaluate import Result, evaluate
from calculators.resolve import resolve
from calculators.scenario import Scenario
from calculators.serverless import PriceNow


def offer(new: float, cached: float, write: float, output: float) -> PriceNow:
    """Prices in USD per million tokens; an hour's write is far dearer, and no request here asks for one."""
    return PriceNow(
        offer_id="a/b",
        on=dt.date(2026, 11, 29),
        input_usd_per_mtok=new,
        cached_input_usd_per_mtok=cached,
        cache_write_usd_per_mtok=write,
        cache_write_1h_usd_per_mtok=1000.0,
        output_usd_per_mtok=output,
    )


STANDARD, BATCH = offer(3, 0.3, 3.75, 15), offer(1.5, 0.15, 2.5, 7.5)

DEFAULT = resolve(Scenario(), load_catalog()).inputs


def found(**changes: Any) -> Result:
    """8,000 + 1,000 tokens, 6,000 of them cached and half of the other 2,000 written; two fifths in batches."""
    values: dict[str, Any] = {
        "baseline": STANDARD,
        "baseline_batch": BATCH,
        "alternative": STANDARD,
        "alternative_batch": BATCH,
        "input_tokens": 8000.0,
        "output_tokens": 1000.0,
        "cached_share": 0.75,
        "cache_write_share": 0.5,
        "batch_share": 0.4,
        "token_ratio": 1.0,
        "api_discount": 0.0,
    }
    return evaluate(dataclasses.replace(DEFAULT, **values | changes))


# standard: 1,000 new x 3 + 6,000 x 0.3 + 1,000 written x 3.75 + 1,000 out x 15 = 3,000 + 1,800 + 3,750 + 15,000
# batch: 1,000 x 1.5 + 6,000 x 0.15 + 1,000 x 2.5 + 1,000 x 7.5 = 1,500 + 900 + 2,500 + 7,500
STANDARD_USD, BATCH_USD = 0.02355, 0.0124


@pytest.mark.parametrize(
    ("changes", "usd"),
    [
        ({"batch_share": 0.0}, STANDARD_USD),
        ({"batch_share": 1.0}, BATCH_USD),
        ({}, 0.6 * STANDARD_USD + 0.4 * BATCH_USD),
        # nothing written: 2,000 x 3 + 1,800 + 15,000 = 22,800 and 2,000 x 1.5 + 900 + 7,500 = 11,400
        ({"cache_write_share": 0.0}, 0.6 * 0.0228 + 0.4 * 0.0114),
        ({"cache_write_share": 0.0, "batch_share": 1.0}, 0.0114),
        # all of it: 2,000 x 3.75 + 1,800 + 15,000 = 24,300 and 2,000 x 2.5 + 900 + 7,500 = 13,400
        ({"cache_write_share": 1.0}, 0.6 * 0.0243 + 0.4 * 0.0134),
        # not stated: all that is new is written, as soon as anything is cached ...
        ({"cache_write_share": math.nan}, 0.6 * 0.0243 + 0.4 * 0.0134),
        # ... 1 of 8,000 tokens: 7,999 x 3.75 + 0.3 + 15,000 = 44,996.55
        ({"cache_write_share": math.nan, "cached_share": 1 / 8000, "batch_share": 0.0}, 0.04499655),
        # ... and nothing where nothing is: 8,000 x 3 + 15,000 = 39,000 and half of it
        ({"cache_write_share": math.nan, "cached_share": 0.0}, 0.6 * 0.039 + 0.4 * 0.0195),
        # what is stated holds without a cache too: 4,000 x 3 + 4,000 x 3.75 + 15,000 = 42,000
        ({"cached_share": 0.0, "batch_share": 0.0}, 0.042),
    ],
)
def test_a_request_at_both_offers(changes: dict[str, Any], usd: float) -> None:
    told = found(**changes)
    assert told.baseline_usd_per_request == pytest.approx(usd, rel=1e-12)
    assert told.alternative_usd_per_request == pytest.approx(usd, rel=1e-12)


def test_batches_of_an_offer_without_a_batch_price_pay_its_price() -> None:
    told = found(baseline_batch=None)
    assert told.baseline_usd_per_request == pytest.approx(STANDARD_USD)
    assert told.alternative_usd_per_request == pytest.approx(0.6 * STANDARD_USD + 0.4 * BATCH_USD)
    told = found(alternative_batch=None)
    assert told.baseline_usd_per_request == pytest.approx(0.6 * STANDARD_USD + 0.4 * BATCH_USD)
    assert told.alternative_usd_per_request == pytest.approx(STANDARD_USD)


def test_the_contract_is_todays_and_the_tokens_are_each_offers_own() -> None:
    """10 % off is agreed with today's provider; the open model counts twice the tokens in the same text."""
    told = found(api_discount=0.1, token_ratio=2.0)
    one = 0.6 * STANDARD_USD + 0.4 * BATCH_USD
    assert told.baseline_usd_per_request == pytest.approx(0.9 * one)
    assert told.alternative_usd_per_request == pytest.approx(2 * one)


def test_a_question_about_the_price_does_not_change_what_todays_spend_buys() -> None:
    """1,909 USD at 0.01909 USD are 100,000 requests, also where their price is asked to double."""
    one = 0.6 * STANDARD_USD + 0.4 * BATCH_USD
    spend: dict[str, Any] = {"demand": "spend", "demand_amount": 100_000 * one}
    told = found(**spend, api_price_factor=np.array([1.0, 2.0]), alternative_price_factor=3.0)
    assert told.demand_requests_per_month == pytest.approx(100_000)
    assert told.baseline_usd_per_request == pytest.approx([one, 2 * one])
    assert told.alternative_usd_per_request == pytest.approx(3 * one)
    assert told.baseline_usd_per_month == pytest.approx([100_000 * one, 200_000 * one])
