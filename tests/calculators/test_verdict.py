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
from calculators.report import Report, build_report
from calculators.resolve import Resolved, resolve
from calculators.scenario import Scenario
from calculators.verdict import Band, payback_of, plan_text, verdict

OWN = {"spares_share": 0, "power_kw": 0, "support_share_per_year": 0, "staff_fte": 0, "hardware_usd": 600_000}
"""A machine of 600,000 USD that costs nothing to run."""


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
    ({"system_count": 0}, None, r"No machine is planned, so all of it stays at moonshotai/kimi-k3"),
    (
        {"system_count": "auto", "demand": "tokens", "demand_tokens_per_month": 1e8},
        None,
        r"No number of 8xB300 server costs less than moonshotai/kimi-k3: the cheapest plan is to buy none",
    ),
    ({"system": "hgx-h200-8"}, None, r"does not fit on 1 x .*needs [\d,]+ GB more memory.* 2 of them hold it \(16 acc"),
    ({"system": "hgx-b200-8"}, None, r"does not fit on 1 x .*2 of them hold it \(16 accelerators\)"),
    ({"max_tpot_ms": 0.001}, None, r"too slow for your latency limit"),
    ({"max_ttft_s": 0.001}, None, r"too slow for your latency limit.* first token within 0\.001(00)? s"),
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
    assert any("more than it serves at the planned utilization" in s for s in sentences)
    sentences = report_of(licence_share=1).sentences()
    assert any(s == "No volume breaks even at this API price." for s in sentences)


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
