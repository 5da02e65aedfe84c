"""Levelised cost: equals the month's cost at a zero rate, and its kinds add up to the whole."""

import pytest

from calculators.catalog import load_catalog
from calculators.levelised import levelised
from calculators.report import Report, build_report
from calculators.scenario import Scenario


def _report(**fields: object) -> Report:
    return build_report(Scenario.model_validate(fields), load_catalog())


@pytest.mark.parametrize("acquisition", ["buy", "rent"])
def test_without_discounting_it_is_the_cost_of_a_month(acquisition: str) -> None:
    # at a rate of 0 and level demand, (capex - residual + 48 x opex) / (48 x tokens) = (write-off + opex) / tokens
    report = _report(acquisition=acquisition, discount_rate=0)
    found = levelised(report)
    assert found is not None
    assert found.usd_per_mtok == pytest.approx(float(report.result.usd_per_mtok))


def test_the_kinds_add_up_to_the_whole() -> None:
    found = levelised(_report(cached_share=0.5))
    assert found is not None
    assert found.new_input_usd_per_mtok is not None
    # of 9,216 tokens a request, 4,096 are new input and 1,024 are output; cached input costs nothing of its own
    whole = (4096 * found.new_input_usd_per_mtok + 1024 * found.output_usd_per_mtok) / 9216
    assert found.usd_per_mtok == pytest.approx(whole)
    assert found.cached_input_usd_per_mtok == 0


def test_discounting_makes_early_capex_weigh_more() -> None:
    low, high = levelised(_report(discount_rate=0.05)), levelised(_report(discount_rate=0.15))
    assert low is not None
    assert high is not None
    assert low.usd_per_mtok < high.usd_per_mtok


def test_more_reuse_leaves_less_of_the_time_to_prefill() -> None:
    shares = [levelised(_report(cached_share=s)) for s in (0.0, 0.5, 0.9)]
    known = [s.prefill_share for s in shares if s is not None]
    assert known == sorted(known, reverse=True)
    assert len(known) == 3


def test_nothing_served_has_no_cost_a_token() -> None:
    assert levelised(_report(utilization=0)) is None
    assert levelised(_report(system="hgx-b200-8")) is None


def test_an_own_load_test_is_split_as_the_model_splits_it() -> None:
    # The test states no concurrency; the share of prefill is the model's at its own operating point, 64 requests.
    own, modelled = levelised(_report(measured_output_tokens_per_s=1240)), levelised(_report())
    assert own is not None
    assert modelled is not None
    assert own.prefill_share == pytest.approx(modelled.prefill_share)
    assert own.output_usd_per_mtok == pytest.approx(modelled.output_usd_per_mtok)
