"""The verdict: one sentence for every case, with its reason and its numbers."""

import dataclasses
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from calculators.breakeven import BreakEven, break_even
from calculators.catalog import load_catalog
from calculators.evaluate import Result, evaluate
from calculators.report import Report, build_report, to_json
from calculators.resolve import Resolved, resolve
from calculators.scenario import Scenario
from calculators.verdict import Band, payback_of, plan_text, verdict

OWN = {"spares_share": 0, "power_kw": 0, "support_share_per_year": 0, "staff_fte": 0, "hardware_usd": 600_000}
"""A machine of 600,000 USD that costs nothing to run."""

RUNNING = 14.5 * 195.94 + 2500 + 6250
"""Running cost of the default scenario, USD a month (see test_evaluate)."""


def report_of(**changes: Any) -> Report:
    return build_report(Scenario(**changes), load_catalog())


def parts_of(**changes: Any) -> tuple[Resolved, Result, BreakEven]:
    resolved = resolve(Scenario(**changes), load_catalog())
    result = evaluate(resolved.inputs)
    return resolved, result, break_even(resolved.inputs, result)


CASES: list[tuple[dict[str, Any], str | None, str]] = [
    ({}, "pays_back", r"Buying one 8xB300 server pays back in 232 days against .* bill of 94,400 USD a month\."),
    ({"system_count": 3}, "pays_back", r"Buying 3 .*8xB300 server.* pays? back in \d+ days"),
    ({"acquisition": "loan"}, "pays_back", r"Buying one 8xB300 server on a loan pays back"),
    (
        {"acquisition": "rent", "rent_usd_per_accelerator_hour": 4.25},
        "immediate",
        r"Renting one 8xB300 server saves [\d,]+ USD a month from the first day",
    ),
    (
        {**OWN, "other_opex_usd_per_month": 10_000, "demand": "spend", "demand_usd_per_month": 8000},
        "never",
        r"never pays back: running it costs 2,000 USD a month more than the moonshotai/kimi-k3 calls",
    ),
    (
        {
            **OWN,
            "other_opex_usd_per_month": 8192,
            "demand": "requests",
            "demand_requests_per_month": 2**20,
            "input_usd_per_mtok": 0,
            "output_usd_per_mtok": 7.62939453125,
        },
        "never",
        # 2^20 requests x 1024 output tokens x 7.62939453125 / 1e6 = 8,192 USD, exactly what it costs to run
        r"costs exactly as much",
    ),
    ({"horizon_months": 4}, "beyond_horizon", r"pays back only in 232 days, after your horizon of 4 months"),
    (
        {"api_price_change_per_year": -0.95},
        "never",
        r"cumulative cash flow peaks in month \d+ at -[\d,]+ USD and turns",
    ),
    (
        {**OWN, "demand": "spend", "demand_usd_per_month": 900},
        "never",
        # 600,000 / 900 = 667 months
        r"does not pay back within 50 years: it saves only 900 USD a month",
    ),
    ({"utilization": 0}, "never", r"serves nothing, because utilization is 0\. It costs 11,600 USD a month"),
    ({"availability": 0}, "never", r"serves nothing, because availability is 0"),
    ({"demand": "tokens", "demand_tokens_per_month": 0}, "never", r"serves nothing, because the demand is 0"),
    (
        {"demand": "tokens", "demand_tokens_per_month": 1e9, "migratable_share": 0},
        "never",
        r"because no share of the demand may move",
    ),
    (
        {"acquisition": "rent", "rent_usd_per_accelerator_hour": 4.25, "rented_hours_per_month": 0},
        "never",
        r"because no hours are rented",
    ),
    ({"input_usd_per_mtok": 0, "output_usd_per_mtok": 0}, "never", r"moonshotai/kimi-k3 costs nothing at these prices"),
    (
        {"input_usd_per_mtok": 0, "output_usd_per_mtok": 0, "demand": "spend", "demand_usd_per_month": 95_000},
        "never",
        r"costs nothing at these prices",
    ),
    ({"system_count": 0}, None, r"No machine is planned, and the demand is to fill the machines: nothing is bought"),
    (
        {"system_count": "auto", "demand": "tokens", "demand_tokens_per_month": 1e8},
        None,
        r"No number of 8xB300 server costs less than moonshotai/kimi-k3: the cheapest plan is to buy none",
    ),
    ({"system": "hgx-h200-8"}, None, r"does not fit on 1 x .*needs [\d,]+ GB more memory.* 2 of them hold it \(16 acc"),
    ({"system": "hgx-b200-8"}, None, r"does not fit on 1 x .*2 of them hold it \(16 accelerators\)"),
    ({"max_tpot_ms": 0.001}, None, r"too slow for your latency limit"),
    (
        {"max_ttft_s": 0.001},
        None,
        r"limit of the time to first token: .* waits 0\.378 s .* limit is 0\.00100 s",
    ),
]


@pytest.mark.parametrize(("changes", "status", "sentence"), CASES, ids=lambda v: None)
def test_first_sentence_is_the_answer(changes: dict[str, Any], status: str | None, sentence: str) -> None:
    report = report_of(**changes)
    first = report.sentences()[0]
    assert report.status == status or (status is None and report.days is None)
    assert re.search(sentence, re.sub(r" \(likely [^)]*\)", "", first)), first
    for language in ("en", "zh"):
        for told in report.sentences(language):  # type: ignore[arg-type]
            assert "nan" not in told
            assert "inf " not in told
            assert "{" not in told
            assert told.endswith((".", "。"))


def test_unpriced_offer_is_told() -> None:
    resolved, _, _ = parts_of()
    resolved = dataclasses.replace(resolved, inputs=dataclasses.replace(resolved.inputs, baseline=None))
    result = evaluate(resolved.inputs)
    sentences = verdict(resolved, result, break_even(resolved.inputs, result))
    assert sentences == (
        "moonshotai/kimi-k3 has no known price, so nothing can be compared with it. Type its input and output price.",
    )


def test_never_says_what_it_would_need() -> None:
    sentences = report_of(demand="spend", demand_usd_per_month=5000).sentences()
    # 630,000 / 48 + 11,591.13 = 24,716 USD of API spend, as worked in test_breakeven
    assert any("It would need 24,700 USD of API spend a month (5.70 B tokens)" in s for s in sentences)
    sentences = report_of(measured_output_tokens_per_s=124).sentences()
    assert any("more than these machines serve even when they are full" in s for s in sentences)
    sentences = report_of(licence_share=1).sentences()
    assert any(s == "No volume breaks even at this API price." for s in sentences)


def test_a_plan_below_the_load_that_would_do_names_that_load() -> None:
    # 19.6 % of the capacity earns 24,716 USD, see test_breakeven; at the plan of 15 % the price would have to rise to
    # 24,716 / (0.15 / 0.75 x 94,364) x 4.3333 = 5.675 USD per million
    told = report_of(utilization=0.15).sentences()
    assert any(
        "needs 19.6 % load, which is 24,700 USD of API spend a month; only 15 % is planned. "
        "Or the API price would have to be 5.67 USD" in s
        for s in told
    ), told
    assert not any("Below" in s for s in told)
    told = report_of(acquisition="rent", utilization=0.3).sentences()
    assert any("it needs 41.4 % load" in s and "only 30 % is planned" in s for s in told), told
    told = report_of(utilization=0.15, demand="spend", demand_usd_per_month=100_000).sentences()
    assert any("with this demand it needs a planned utilization of 19.6 %" in s for s in told), told
    # 20,000 USD do not do at any plan, and the 24,716 that would take more than the 15 % planned
    told = report_of(utilization=0.15, demand="spend", demand_usd_per_month=20_000).sentences()
    assert any("24,700 USD" in s and "at 19.6 % load where 15 % is planned" in s for s in told), told


SHRINKING: dict[str, Any] = {
    "api_price_change_per_year": -0.5,
    "demand_growth_per_year": -0.3,
    "demand": "spend",
    "demand_usd_per_month": 94_364,
}


def test_money_that_comes_back_and_is_lost_again_is_told() -> None:
    report = report_of(**SHRINKING)
    # 94,364 x 0.35^(m/12) - 11,591: above 0 while 0.35^(m/12) > 0.12283, that is for m < 23.97, so month 24 is the last
    cumulative = np.cumsum([94_364 * 0.35 ** (m / 12) - RUNNING for m in range(48)]) - 630_000
    assert int(np.argmax(cumulative)) + 1 == 24
    assert report.status == "pays_back"
    assert report.days == pytest.approx(420.6, abs=0.1)
    second = report.sentences()[1]
    assert f"best in month 24 at {cumulative.max() / 1e3:,.1f}00 USD".replace(".", ",") in second
    assert f"stands at {cumulative[-1] / 1e3:,.1f}00 USD after 48 months".replace(".", ",") in second
    assert "the NPV is -3,060 USD" in second
    assert second in report.reason
    assert not any("Below" in s for s in report.sentences())
    told = [w for w in to_json(report)["warnings"] if "behind again after 48 months" in w]
    assert len(told) == 1
    assert "moonshotai/kimi-k3" in told[0]


def test_a_payback_that_discounting_takes_away_is_told() -> None:
    # 630,000 over 48 months need 24,716 USD: with 25,000 it is back in month 47, and nothing is left after 10 % a year
    case = {"demand": "spend", "demand_usd_per_month": 25_000, "residual_share": 0}
    report = report_of(**case)
    assert report.status == "pays_back"
    assert float(report.result.flow.npv_usd) < 0
    assert any(s.startswith("Discounted at 10 % a year it still loses money") for s in report.sentences())
    assert any("its NPV is -" in w for w in to_json(report)["warnings"])
    assert not any("Discounted" in s for s in report_of().sentences())


def test_a_demand_that_grows_into_the_machines_is_no_negative_saving() -> None:
    # 5,000 USD of calls against 11,591 of running cost: 6,590 a month more today, and the demand doubles every year
    report = report_of(demand="spend", demand_usd_per_month=5000, demand_growth_per_year=1.0, horizon_months=24)
    assert report.status == "beyond_horizon"
    assert "Today it costs 6,590 USD a month more than the moonshotai/kimi-k3 calls" in report.sentences()[0]
    assert "saves -" not in " ".join(report.sentences())


def test_what_stays_at_the_api_is_told() -> None:
    # 2,000 x 100 x 21 requests of 0.039936 USD: 167,731 a month, of which 94,364 are served: 43.7 % or 73,367 stay
    told = report_of(demand="seats", demand_seats=2000).sentences()
    assert "43.7 % of the tokens stay at moonshotai/kimi-k3, for 73,400 USD a month." in told
    assert not any("stay at" in s for s in report_of().sentences())


def test_rent_has_nothing_to_pay_back_and_the_limits_do_not_speak_of_it() -> None:
    told = " ".join(report_of(acquisition="rent").sentences())
    assert "nothing has to be paid back" in told
    assert "load it saves nothing over 48 months" in told
    assert "not back" not in told
    losing = " ".join(report_of(acquisition="rent", utilization=0.3).sentences())
    assert "never saves money" in losing
    assert "pay back" not in losing


def test_words_for_one_month_and_for_no_machine() -> None:
    assert "over 1 month," in " ".join(report_of(acquisition="rent", horizon_months=1).sentences())
    assert report_of(system_count=2).sentences()[0].startswith("Buying 2 x 8xB300 server")
    none = report_of(system_count=0).sentences()
    assert len(none) == 1
    assert "nothing is bought" in none[0]
    assert "0 USD" not in none[0]
    idle: dict[str, Any] = {"demand": "spend", "demand_usd_per_month": 0}
    assert "0 USD" not in report_of(system_count=0, **idle).sentences()[0]
    assert "0 USD" not in report_of(system_count="auto", **idle).sentences()[0]
    kept = report_of(system_count=0, demand="spend", demand_usd_per_month=5000).sentences()[0]
    assert "all of it stays at moonshotai/kimi-k3 for 5,000 USD a month" in kept


def test_alternative_is_always_told() -> None:
    same = report_of(alternative="moonshotai/kimi-k3").sentences()
    assert any(s.startswith("No known serverless offer of the same weights is cheaper") for s in same)
    dearer = report_of(api_discount=0.9).sentences()
    assert any(" instead would cost " in s for s in dearer)
    cheaper = report_of().sentences()
    # 2.5 / 12.5 USD against 3 / 15: a sixth less
    assert any(
        "saves 16.7 % of the bill now, with no hardware; against it, own machines pay back" in s for s in cheaper
    )


def test_evidence_below_measured_is_told() -> None:
    report = report_of(system="hgx-h200-8", system_count=2, model="deepseek-r1-0528", input_tokens=30_000)
    told = " ".join(report.sentences())
    if report.evidence in ("modelled", "class", "uncalibrated"):
        assert "Nobody has published a measurement" in told
    assert "Nobody has published" not in " ".join(report_of().sentences())


def test_band_of_the_payback() -> None:
    resolved, result, even = parts_of()
    one = verdict(resolved, result, even, band=Band(180, 700))[0]
    assert "(likely 180 to 700 days)" in one
    assert "(likely 180 days to never)" in verdict(resolved, result, even, band=Band(180, np.inf))[0]
    assert "likely" not in verdict(resolved, result, even, band=Band(np.inf, np.inf))[0]


@pytest.mark.parametrize(
    ("acquisition", "count", "text"),
    [
        ("buy", 1, "Buying one 8xB300 server"),
        ("rent", 1, "Renting one 8xB300 server"),
        ("loan", 1, "Buying one 8xB300 server on a loan"),
    ],
)
def test_plan(acquisition: str, count: int, text: str) -> None:
    resolved, _, _ = parts_of(acquisition=acquisition, system_count=count, rent_usd_per_accelerator_hour=4)
    assert plan_text(resolved) == text


def test_plan_of_many_names_the_count() -> None:
    resolved, _, _ = parts_of(system_count=1234)
    assert "1,234" in plan_text(resolved)
    assert "1,234" in plan_text(resolved, "zh")


def test_status_of_a_flow() -> None:
    _, result, _ = parts_of()
    flow = result.flow
    assert payback_of(result, flow, priced=True, horizon_months=48) == ("pays_back", float(flow.payback_days))
    assert payback_of(result, flow, priced=True, horizon_months=7) == ("beyond_horizon", float(flow.payback_days))
    assert payback_of(result, flow, priced=False, horizon_months=48) == (None, None)
    never: Any = SimpleNamespace(payback_months=np.asarray(np.inf), payback_days=np.asarray(np.inf))
    assert payback_of(result, never, priced=True, horizon_months=48) == ("never", None)
    at_once: Any = SimpleNamespace(payback_months=np.asarray(0.0), payback_days=np.asarray(0.0))
    assert payback_of(result, at_once, priced=True, horizon_months=48) == ("immediate", 0.0)
