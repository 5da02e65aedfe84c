"""The verdict: one sentence for every case, with its reason and its numbers."""

import dataclasses
import re
from dataclasses import replace
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
from calculators.texts import Language, duration_text, text
from calculators.verdict import (
    Band,
    break_even_key,
    cash_key,
    is_lost_again,
    payback_of,
    plan_text,
    reason_text,
    verdict,
)

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


# Rare states ----------------------------------------------------------------------------------------------------------

FALLING: dict[str, Any] = {"acquisition": "rent", "api_price_change_per_year": -0.5}
"""Rent 45,844 + staff 6,250 = 52,094 USD a month against 94,364 x 0.5^(m/12): above it for m < 10.3, so 11 months save.
Over 48 the bills are 94,364 x 16.70 = 1.576 M and the machine 2.501 M: 924,000 USD are lost."""


def english(**changes: Any) -> str:
    """All sentences of a scenario, evaluated without its uncertainty."""
    return " ".join(verdict(*parts_of(**changes)))


def with_sizing(**changes: Any) -> str:
    """All sentences of the default where the sizing had said something else."""
    resolved, result, even = parts_of()
    values = {name: np.asarray(value) for name, value in changes.items()}
    return " ".join(verdict(resolved, replace(result, sizing=replace(result.sizing, **values)), even))


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({}, "chart.cash_pays_back", "The money is back after 232 days"),
        ({"horizon_months": 4}, "chart.cash_beyond_horizon", "The money is back after 232 days, beyond the 4 months"),
        (SHRINKING, "chart.cash_lost_again", "The money is back after 421 days, but lost again within 48 months"),
        ({"acquisition": "rent"}, "chart.cash_immediate", "Nothing is paid up front, and every month saves"),
        (FALLING, "chart.cash_immediate_lost", "It saves at first, but all of it is lost again within 48 months"),
        # 5,000 USD of calls against 11,591 of running cost, once after 630,000 of capex and once, rented, after none
        ({"demand": "spend", "demand_usd_per_month": 5000}, "chart.cash_never", "The money never comes back"),
        (
            {"demand": "spend", "demand_usd_per_month": 5000, "acquisition": "rent"},
            "chart.cash_never_saves",
            "Nothing is paid up front, and running it costs more than it saves",
        ),
    ],
)
def test_title_of_the_cash_flow_chart(changes: dict[str, Any], key: str, said: str) -> None:
    _, result, _ = parts_of(**changes)
    horizon = changes.get("horizon_months", 48)
    status, days = payback_of(result, result.flow, priced=True, horizon_months=horizon)
    assert cash_key(result, status) == key
    assert text(key, days=duration_text(days or 0.0), horizon=f"{horizon} months").startswith(said)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({}, "chart.cheaper_above"),
        ({"utilization": 0.15}, "chart.cheaper_above_plan"),  # needs 19.6 %
        ({"measured_output_tokens_per_s": 124}, "chart.cheaper_beyond"),  # full machines serve 12,582 of 24,716 USD
    ],
)
def test_title_of_the_cost_curve(changes: dict[str, Any], key: str) -> None:
    assert break_even_key(parts_of(**changes)[2]) == key


@pytest.mark.parametrize(
    ("status", "peak", "capex", "final", "lost"),
    [
        ("pays_back", 1e6, 0.0, -0.01, True),  # a thousandth of a USD in a million is rounding
        ("pays_back", 1e6, 0.0, -1e-4, False),
        ("pays_back", 0.0, 1e6, -1e-4, False),
        ("pays_back", 0.0, 1e6, -0.01, True),
        ("immediate", -1e6, 0.0, -1e-4, False),
        ("immediate", 1e6, 0.0, -0.01, True),
        ("immediate", 1e6, 0.0, 0.0, False),
        ("beyond_horizon", 1e6, 0.0, -500.0, False),
        ("never", 1e6, 0.0, -500.0, False),
        (None, 1e6, 0.0, -500.0, False),
    ],
)
def test_only_money_that_was_back_is_lost_again(
    status: str | None, peak: float, capex: float, final: float, lost: bool
) -> None:
    terms = SimpleNamespace(capex_usd=np.asarray(capex))
    flow: Any = SimpleNamespace(peak_usd=np.asarray(peak), final_usd=np.asarray(final), terms=terms)
    assert is_lost_again(flow, status) == lost


def test_rent_that_saves_at_first_and_loses_it_all_is_told() -> None:
    told = english(**FALLING)
    cumulative = np.cumsum([94_364.3844 * 0.5 ** (m / 12) - 52_094 for m in range(48)])
    assert (int(np.argmax(cumulative)) + 1, round(cumulative[-1], -3)) == (11, -924_000)
    assert "saves 42,300 USD a month from the first day" in told
    assert "best in month 11 at 218,000 USD and stands at -924,000 USD after 48 months" in told
    assert "It hangs most on utilization and the API price. It would need" in told
    assert "Below" not in told
    # 2.501 M / 16.70 = 149,700 USD of calls; full machines serve 125,819 of them
    assert "It would need 150,000 USD of API spend a month" in told
    assert "more than these machines serve even when they are full" in told


@pytest.mark.parametrize("changes", [{}, {"migratable_share": 0}, {"rented_hours_per_month": 0}])
def test_machines_that_no_point_lets_run_say_so(changes: dict[str, Any]) -> None:
    """What 'fill' and a purchase do not ask for is no reason: neither a share that may move nor rented hours."""
    resolved, _, _ = parts_of(**changes)
    resolved = replace(resolved, inputs=replace(resolved.inputs, throughput_factor=0.0))
    result = evaluate(resolved.inputs)
    told = verdict(resolved, result, break_even(resolved.inputs, result))
    assert "it serves nothing, because no operating point meets the latency limits. It costs 11,600 USD" in told[0]
    assert told[1] == "No volume breaks even at this API price."


def test_a_request_longer_than_the_context_is_told_with_its_length() -> None:
    # 1,048,576 + 1,024 tokens where both together may be 1,048,576; half as many more by the open model's own count
    assert "A request of 1,049,600 tokens does not fit Kimi K3: " in english(input_tokens=1_048_576)
    told = english(input_tokens=1_000_000, token_ratio=1.5)
    assert "A request of 1,501,536 tokens does not fit Kimi K3" in told
    assert "input and output together may be 1,048,576 tokens" in told


def test_a_model_that_no_number_of_machines_holds() -> None:
    changes: dict[str, Any] = {"fits": False, "short_by_bytes": 12.6e9, "evidence": "none"}
    told = with_sizing(min_systems=0, **changes)
    assert "Kimi K3 does not fit on 1 x 8xB300 server: it needs 13 GB more memory than is left for the engine. " in told
    assert told.endswith("No number of this machine is known to hold it.")
    assert with_sizing(min_systems=1, **changes).endswith("1 of them hold it (8 accelerators).")


def test_a_speed_that_is_not_known_is_no_missed_limit() -> None:
    told = with_sizing(evidence="none", limited_by="tpot", single_stream_tokens_per_s=0.0)
    assert told.startswith("How fast 8xB300 server runs Kimi K3 is not known: nothing was measured")
    told = with_sizing(evidence="none", limited_by="tpot", single_stream_tokens_per_s=0.5)
    assert "even one request at a time gets 0.500 tokens a second from Kimi K3" in told


def test_limits_that_are_missed_are_told_as_they_were_asked_for() -> None:
    # 0.001 ms a token are 1,000,000 tokens a second
    told = english(max_tpot_ms=0.001)
    assert "the limit asks for 0.00100 ms per token (1,000,000 tokens a second). Raise" in told
    told = english(max_tpot_ms=0.001, max_ttft_s=5)
    assert "0.00100 ms per token (1,000,000 tokens a second) and a first token within 5.00 s. Raise" in told


def test_interest_is_part_of_what_a_loan_costs_more_than_the_calls() -> None:
    # 900 USD of calls and no running cost, but 600,000 x 13 % / 12 = 6,500 USD of interest in the first month
    told = english(**OWN, acquisition="loan", loan_rate=0.13, demand="spend", demand_usd_per_month=900)
    assert "running it costs 5,600 USD a month more than the moonshotai/kimi-k3 calls" in told


def test_next_to_nothing_left_at_the_api_is_not_told() -> None:
    # the machine serves 21,776 M tokens; a demand of 0.04 % more is met, one of 0.06 % more leaves 56.65 USD
    served = float(parts_of()[1].served_tokens_per_month)
    demand: dict[str, Any] = {"demand": "tokens"}
    assert "stay at" not in english(**demand, demand_tokens_per_month=served / (1 - 0.0004))
    told = english(**demand, demand_tokens_per_month=served / (1 - 0.0006))
    assert "0.1 % of the tokens stay at moonshotai/kimi-k3, for 56.7 USD a month" in told
    assert "stay at" not in english(**demand, demand_tokens_per_month=1e9, utilization=0)


def test_two_loads_that_round_alike_are_told_apart() -> None:
    # 19.64416725 % are needed (see test_breakeven)
    told = english(utilization=0.1964)
    assert "it needs 19.6442 % load" in told
    assert "only 19.64 % is planned" in told


def test_how_far_load_and_price_may_fall() -> None:
    resolved, result, even = parts_of()

    def hangs(moved: BreakEven, language: Language = "en", **changes: Any) -> list[str]:
        r, found, _ = parts_of(**changes) if changes else (resolved, result, even)
        start = "It hangs most" if language == "en" else "影响最大的是"
        return [s for s in verdict(r, found, moved, language) if s.startswith(start)]

    whole = "It hangs most on utilization and the API price. "
    load, price = "Below 19.6 % load the money is not back after 48 months", "nor below 1.13 USD per million API tokens"
    assert hangs(even) == [f"{whole}{load}, {price}."]
    assert hangs(replace(even, api_usd_per_mtok=None)) == [f"{whole}{load}."]
    alone = "Below 1.13 USD per million API tokens"
    assert hangs(replace(even, utilization=None)) == [f"{whole}{alone} the money is not back after 48 months."]
    rent = hangs(replace(even, utilization=None), acquisition="rent")
    assert rent == [f"{whole}{alone} it saves nothing over 48 months."]
    assert hangs(replace(even, utilization=None, api_usd_per_mtok=None)) == []
    (told,) = hangs(even, "zh")
    assert "仍未收回投资，API 价格低于" in told


def test_the_most_fragile_inputs_are_named_where_they_are_known() -> None:
    told = verdict(*parts_of(), fragile=("power", "staff"))
    assert any(s.startswith("It hangs most on power and staff. Below") for s in told)
    # beyond the horizon they are named alone, and a payback that never comes hangs on nothing
    assert "It hangs most on utilization and the API price." in verdict(*parts_of(horizon_months=4))
    assert "It hangs" not in english(demand="spend", demand_usd_per_month=5000)


@pytest.mark.parametrize(
    ("changes", "versus"),
    [
        # 5/6 of 94,364 USD less 11,591 are 67,046 a month: 630,000 in 285.8 days
        ({}, "; against it, own machines pay back in 286 days."),
        # 12,500 USD of calls cost 10,417 there, less than 11,591 of running cost
        ({"demand": "spend", "demand_usd_per_month": 12_500}, "; against it, own machines never pay back."),
        # 0.45 / 0.75 x 94,364 = 56,619 USD, 47,182 there, and the rented machine costs 52,094
        ({"acquisition": "rent", "utilization": 0.45}, "; against it, own machines never save money."),
        ({"acquisition": "rent"}, "; own machines still cost less from the first day."),
        # 94,364 x 30.74 = 2.90 M, 2.42 M there, and 48 x 52,094 = 2.50 M for the machine
        (
            {"acquisition": "rent", "api_price_change_per_year": -0.22},
            "; own machines cost less at first, but not over 48 months.",
        ),
        (
            {**SHRINKING, "demand_usd_per_month": 110_000},
            "; against it, own machines pay back in 578 days but lose it again.",
        ),
    ],
)
def test_own_machines_against_the_cheapest_offer(changes: dict[str, Any], versus: str) -> None:
    told = verdict(*parts_of(**changes))[-1]
    assert told.startswith("Moving to ")
    assert "saves 16.7 % of the bill now" in told
    assert told.endswith(versus)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (0.0006, r"^Moving to \S+ instead saves 0\.1 % of the bill now"),
        (0.0004, r"^No known serverless offer of the same weights is cheaper"),
        (-0.0004, r"^No known serverless offer of the same weights is cheaper"),
        (-0.0006, r"^Moving to \S+ instead would cost 0\.1 % more than today\.$"),
    ],
)
def test_a_difference_of_half_a_thousandth_is_none(change: float, said: str) -> None:
    resolved, _, _ = parts_of()
    # the alternative costs 5/6 of today's offer
    factor = 1.2 * (1 - change)
    resolved = replace(resolved, inputs=replace(resolved.inputs, alternative_price_factor=factor))
    result = evaluate(resolved.inputs)
    assert re.search(said, verdict(resolved, result, break_even(resolved.inputs, result))[-1])


def test_without_a_bill_there_is_nothing_an_alternative_saves() -> None:
    told = english(demand="tokens", demand_tokens_per_month=0)
    assert "Moving to" not in told
    assert "No known" not in told
    resolved, result, even = parts_of()
    assert "Moving to" not in " ".join(verdict(replace(resolved, alternative=None), result, even))


def test_a_speed_that_nobody_measured_says_how_far_off_it_may_be() -> None:
    for level, said in (
        (
            "uncalibrated",
            "measurement of Kimi K3 on this machine. The estimate is a bound and may be off by 86.4 % down",
        ),
        ("modelled", "close to this case: the throughput is modelled and may be off by 86.4 % down"),
        ("class", "may be off by 86.4 % down"),
    ):
        told = with_sizing(evidence=level, low_factor=0.136, high_factor=1.25)
        assert f"{said} or 25 % up." in told
    for level in ("measured", "interpolated", "user"):
        assert "Nobody has published" not in with_sizing(evidence=level, low_factor=0.136, high_factor=1.25)
    none = parts_of(system="mi355x-8", system_count=0, demand="spend", demand_usd_per_month=5000)
    assert "Nobody has published" not in " ".join(verdict(*none))


def test_a_payback_outside_of_its_likely_range_says_so() -> None:
    resolved, result, even = parts_of()
    days = float(result.flow.payback_days)  # 231.5

    def told(low: float, high: float) -> str:
        return verdict(resolved, result, even, band=Band(low, high))[0].partition(" against")[0]

    pays = "Buying one 8xB300 server pays back in 232 days"
    outside = f"{pays} with these inputs (over their ranges likely"
    assert told(300, 700) == f"{outside} 300 to 700 days)"
    assert told(100, 200) == f"{outside} 100 to 200 days)"
    assert told(300, np.inf) == f"{outside} 300 days to never)"
    assert told(days, 700) == f"{pays} (likely 232 to 700 days)"
    assert told(180, days) == f"{pays} (likely 180 to 232 days)"
    # from two years on the end is in years, and each end has its unit
    assert told(180, 729) == f"{pays} (likely 180 to 729 days)"
    assert told(180, 730) == f"{pays} (likely 180 days to 2.0 years)"


def test_a_reason_is_one_text_in_either_language() -> None:
    resolved, result, _ = parts_of(**SHRINKING)
    status, days = payback_of(result, result.flow, priced=True, horizon_months=48)
    languages: tuple[Language, ...] = ("en", "zh")
    for language in languages:
        told = reason_text(resolved, result, result.flow, status, days, "an/offer", 0.039936, language)
        first, second = verdict(resolved, result, parts_of(**SHRINKING)[2], language)[:2]
        between = " " if language == "en" else ""
        assert told == f"{first}{between}{second}".replace("moonshotai/kimi-k3", "an/offer")


def test_a_payback_on_the_last_day_of_the_horizon_is_within_it() -> None:
    _, result, _ = parts_of()
    last: Any = SimpleNamespace(payback_months=np.asarray(48.0), payback_days=np.asarray(1460.0))
    assert payback_of(result, last, priced=True, horizon_months=48) == ("pays_back", 1460.0)
    unknown: Any = SimpleNamespace(payback_months=np.asarray(np.nan), payback_days=np.asarray(np.nan))
    assert payback_of(result, unknown, priced=True, horizon_months=48) == ("never", None)
    for changes in ({"fits": np.asarray(False)}, {"evidence": np.asarray("none")}):
        moved = replace(result, sizing=replace(result.sizing, **changes))
        assert payback_of(moved, last, priced=True, horizon_months=48) == (None, None)
