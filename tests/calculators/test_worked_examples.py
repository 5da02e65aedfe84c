"""Published calculations with their arithmetic; the app's own functions must give the same."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from calculators.catalog import Catalog, load_catalog
from calculators.texts import LANGUAGES
from calculators.worked_examples import FOLDER, Example, Row, pan_cells, worked_examples


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="module")
def examples(catalog: Catalog) -> dict[str, Example]:
    return {e.id: e for e in worked_examples(catalog)}


def value(example: Example, key: str) -> float:
    return next(r.recomputed for r in example.rows if r.key == key)


# (model, API): published, months as the text states its inputs (160 h, 400 W or 575 W), with 176 h and 300 W or 500 W.
# Kimi-K2 on 16 x A100, GPT-5 at 1.25 / 10: (1.25 + 2 x 10) / 3 = 7.0833 USD/Mtok.
#   160 h: 800 x 160 x 3600 / 1e6 = 460.8 Mtok; 460.8 x 7.0833 - 16 x 0.4 x 160 x 0.15 = 3,264 - 153.6 = 3,110.4
#          240,000 / 3,110.4 = 77.16
#   176 h: 506.88 x 7.0833 = 3,590.4; 16 x 0.3 x 176 x 0.15 = 126.72; 240,000 / 3,463.68 = 69.29
PAN = {
    ("Kimi-K2", "GPT-5"): (69.3, 77.160, 69.290),
    ("Kimi-K2", "Claude-4 Opus"): (8.7, 9.527, 8.648),
    ("Kimi-K2", "Claude-4 Sonnet"): (44.0, 48.828, 44.045),
    ("GLM-4.5", "GPT-5"): (51.5, 57.165, 51.497),
    ("GLM-4.5", "Claude-4 Opus"): (6.5, 7.135, 6.479),
    ("GLM-4.5", "Claude-4 Sonnet"): (32.8, 36.337, 32.843),
    ("Llama-3.3-70B", "GPT-5"): (17.8, 19.592, 17.756),
    ("Llama-3.3-70B", "Claude-4 Opus"): (2.3, 2.496, 2.268),
    ("Llama-3.3-70B", "Claude-4 Sonnet"): (11.4, 12.560, 11.396),
    ("EXAONE 4.0 32B", "GPT-5"): (2.26, 2.493, 2.261),
    ("Magistral Small", "Claude-4 Opus"): (0.4, 0.422, 0.384),
}


def test_w1_pan_sample_cells(catalog: Catalog) -> None:
    cells = {(c.model, c.api): c for c in pan_cells(catalog)}
    assert len(cells) == 45
    for key, (published, stated, found) in PAN.items():
        cell = cells[key]
        assert float(cell.published) == published
        assert cell.as_stated == pytest.approx(stated, abs=0.0006)
        assert cell.as_found == pytest.approx(found, abs=0.0006)


def test_w1_gemini_was_blended_at_another_price(catalog: Catalog) -> None:
    cells = {(c.model, c.api): c for c in pan_cells(catalog)}
    # 506.88 Mtok x 7.75 = 3,928.32; less 126.72 = 3,801.6; 240,000 / 3,801.6 = 63.131, printed 63.1
    kimi = cells["Kimi-K2", "Gemini 2.5 Pro"]
    assert kimi.as_found == pytest.approx(69.290, abs=0.0006)
    assert kimi.with_odd_price == pytest.approx(63.131, abs=0.0006)
    assert not kimi.matches(kimi.as_found)
    assert kimi.matches(kimi.with_odd_price)


def test_w1_the_table_does_not_follow_from_its_text(examples: dict[str, Example]) -> None:
    w1 = examples["W1"]
    assert value(w1, "stated_mean_deviation") == pytest.approx(0.128, abs=0.0005)
    assert value(w1, "stated_largest_deviation") == pytest.approx(0.223, abs=0.0005)
    assert value(w1, "found_cells") == 36
    assert value(w1, "found_cells_with_odd_price") == 45
    assert not w1.reproduces


def test_w2_hybrid_fleet(examples: dict[str, Example]) -> None:
    w2 = examples["W2"]
    # 4 x 6 x 730 = 17,520; 26,600 x 3600 x 730 = 69.9048e9 tokens; 17,520 / 69,904.8 = 0.2506 USD/Mtok
    assert value(w2, "replica_usd_per_month") == pytest.approx(17_520)
    assert value(w2, "replica_tokens_per_month") == pytest.approx(69.9048e9)
    assert value(w2, "replica_usd_per_mtok") == pytest.approx(17_520 / 69_904.8)
    # four serve 279.6192e9, 583e9 - that = 303.3808e9 spill at 0.317: 96,171.71; with 4 x 17,520 = 166,251.71
    assert value(w2, "overflow_usd_per_month") == pytest.approx(303_380.8 * 0.317)
    assert value(w2, "total_usd_per_month") == pytest.approx(70_080 + 303_380.8 * 0.317)
    assert value(w2, "api_usd_per_month") == pytest.approx(583_000 * 0.317)
    # published with 303 rounded: 96,051 and 166,131, saving 18,680 (10.1 %); unrounded 18,559 (10.0 %)
    assert value(w2, "saving_usd_per_month") == pytest.approx(18_680, rel=0.007)
    assert "8 replicas" in w2.note()


def test_w4_whole_server_steps(examples: dict[str, Example]) -> None:
    w4 = examples["W4"]
    # 100 out tok/s x 5 (4000 + 1000 a request of 1000 out) x 0.9 x 100 h x 3600 / 2 = 81,000,000
    assert value(w4, "capacity_tokens_per_month") == pytest.approx(81e6)
    # 2 x 100 = 200; 24,000 / 60 = 400; 0.8 x 1 + 0.2 x 3 = 1.40
    assert [
        value(w4, k) for k in ("rented_usd_per_month", "owned_usd_per_month", "api_usd_per_month")
    ] == pytest.approx([200, 400, 1.40])
    assert value(w4, "servers_at_capacity") == 1
    assert value(w4, "servers_one_token_more") == 2
    assert value(w4, "rented_usd_one_token_more") == pytest.approx(400)
    assert value(w4, "owned_usd_one_token_more") == pytest.approx(800)
    # three servers cost 3 x 100 + 30 = 330 and carry 243 M; two (230 / 1.40 = 164.3 M > 162 M) do not carry theirs
    assert value(w4, "crossover_tokens_per_month") == math.ceil(330 / 1.40 * 1e6) == 235_714_286


def test_w5_payback_in_hours(examples: dict[str, Example]) -> None:
    w5 = examples["W5"]
    assert value(w5, "payback_hours") == pytest.approx(833_806 / (98.32 - 0.87))
    assert value(w5, "payback_months") == pytest.approx(8_556.24 / 720, rel=1e-5)
    assert value(w5, "later_payback_hours") == pytest.approx(833_806 / (55.04 - 0.87))
    assert w5.reproduces


def test_w6_kimi_k3_constants(examples: dict[str, Example]) -> None:
    w6 = examples["W6"]
    # 92 x 896 x 3 x 3584 x 3072
    assert value(w6, "routed_params") == 2_722_740_830_208
    assert value(w6, "routed_bytes") == 2_722_740_830_208 * 17 / 32
    # 24 x 576 x 2 bytes; 69 x 96 x 128 x 128 x 4 + 69 x 36,864 x 3 x 2
    assert value(w6, "cache_bf16") == 24 * 576 * 2
    assert value(w6, "state_bytes") == 69 * 96 * 128 * 128 * 4 + 69 * 36_864 * 3 * 2
    # 896 (1 - (1 - 16/896)^32)
    assert value(w6, "distinct_32") == pytest.approx(896 * (1 - (1 - 16 / 896) ** 32))
    assert w6.reproduces


def test_w7_never_and_immediate(examples: dict[str, Example]) -> None:
    w7 = examples["W7"]
    assert math.isinf(value(w7, "losing_days"))
    assert value(w7, "losing_usd_per_month") == -2_000
    assert math.isinf(value(w7, "zero_days"))
    assert value(w7, "nothing_paid_days") == 0
    assert w7.reproduces


def test_w8_cash_flow(examples: dict[str, Example]) -> None:
    w8 = examples["W8"]
    # 600,000 / 35,000 = 17.14 months
    assert value(w8, "payback_months") == pytest.approx(600 / 35)
    # annuity factor at i = 1.1^(1/12) - 1 over 36 months, flows at the ends
    i = 1.1 ** (1 / 12) - 1
    assert value(w8, "npv_usd") == pytest.approx(35_000 * (1 - (1 + i) ** -36) / i - 600_000)
    # in the 19th month: 18 months discounted are not enough, 19 are
    worth = 35_000 * (1 - (1 + i) ** -np.array([18.0, 19.0])) / i
    assert worth[0] < 600_000 < worth[1]
    assert 18 < value(w8, "discounted_payback_months") < 19
    # 13 % / 12 a month
    j = 0.13 / 12
    assert value(w8, "loan_usd_per_month") == pytest.approx(600_000 * j / (1 - (1 + j) ** -36))
    # yearly flow of the textbook case: (197,468.42 + 600,000 - 60,000 / 1.12^4) / 3.03735 = 250,000; IRR 26.354 %
    worth_of = sum(250_000 / 1.26354**k for k in range(1, 5)) + 60_000 / 1.26354**4
    assert worth_of == pytest.approx(600_000, rel=1e-4)
    assert w8.reproduces


def test_a_changed_publication_no_longer_reproduces(catalog: Catalog, tmp_path: Path) -> None:
    text = (FOLDER / "examples.toml").read_text(encoding="utf-8")
    file = tmp_path / "examples.toml"
    file.write_text(text.replace("hardware_usd = 833_806", "hardware_usd = 733_806"), encoding="utf-8")
    w5 = {e.id: e for e in worked_examples(catalog, file)}["W5"]
    assert not w5.reproduces
    assert value(w5, "payback_hours") == pytest.approx(733_806 / 97.45)


def test_print_rounding() -> None:
    def row(published: str, recomputed: float) -> Row:
        return Row("x", {"en": "x"}, "months", published, recomputed)

    assert row("69.3", 69.29).reproduces
    assert not row("8.7", 8.648).reproduces
    assert row("280e9", 279.6e9).reproduces
    assert row("never", math.inf).reproduces
    assert not row("never", 1e6).reproduces
    assert row("never", 1e6).deviation is None
    assert row("2.0e3", 2_049.0).half_digit == pytest.approx(50)


def test_texts_are_in_all_languages(examples: dict[str, Example]) -> None:
    for example in examples.values():
        assert set(example.titles) == set(example.notes) == set(LANGUAGES)
        assert "{" not in example.note("zh")
        for r in example.rows:
            assert set(r.names) == set(LANGUAGES)
            assert not math.isnan(r.recomputed)


def test_w2_every_row_follows_from_the_given_numbers(examples: dict[str, Example]) -> None:
    w2 = examples["W2"]
    served, overflow = 4 * 69.9048e9, 583e9 - 4 * 69.9048e9
    api, total = 583_000 * 0.317, 4 * 17_520 + overflow / 1e6 * 0.317
    expected = {
        "served_tokens_per_month": served,
        "overflow_tokens_per_month": overflow,
        "own_usd_per_month": 4 * 17_520,
        "saving_usd_per_month": api - total,
        "saving_share": 1 - total / api,
    }
    for key, number in expected.items():
        assert value(w2, key) == pytest.approx(number), key


def test_w5_the_later_price_in_months_too(examples: dict[str, Example]) -> None:
    assert value(examples["W5"], "later_payback_months") == pytest.approx(833_806 / 54.17 / 720)


def test_w8_what_the_loan_costs_and_what_is_left(examples: dict[str, Example]) -> None:
    w8 = examples["W8"]
    assert value(w8, "undiscounted_usd") == pytest.approx(35_000 * 36 - 600_000)
    assert value(w8, "loan_total_usd") == pytest.approx(36 * value(w8, "loan_usd_per_month"))
    assert value(w8, "oracle_irr") == pytest.approx(0.26354, abs=1e-4)
    # four years at 12 %: (600,000 - 60,000 / 1.12^4) / 3.03735
    worth = (1 - 1.12**-4) / 0.12
    assert value(w8, "oracle_annual_cost_usd") == pytest.approx((600_000 - 60_000 / 1.12**4) / worth)


def test_a_row_says_how_far_it_is_off() -> None:
    row = Row("k", {"en": "a", "zh": "\u7532"}, "USD", "200", 210.0)
    assert (row.name(), row.name("zh"), row.published_value, row.half_digit) == ("a", "\u7532", 200.0, 0.5)
    assert row.deviation == pytest.approx(0.05)
    assert Row("k", {"en": "a"}, "USD", "0.00", 1.0).deviation is None
    # half a unit of the last digit still rounds to it, on either side
    for recomputed, same in ((200.5, True), (199.5, True), (200.51, False), (199.49, False)):
        assert Row("k", {"en": "a"}, "USD", "200", recomputed).reproduces is same


def test_an_example_reproduces_when_all_rows_do(examples: dict[str, Example]) -> None:
    w5 = examples["W5"]
    broken = dataclasses.replace(w5, rows=(*w5.rows[:1], dataclasses.replace(w5.rows[1], recomputed=1.0), *w5.rows[2:]))
    assert w5.reproduces
    assert not broken.reproduces
    assert (w5.title(), w5.title("zh")) == (w5.titles["en"], w5.titles["zh"])
    assert (w5.note(), w5.note("zh")) == (w5.notes["en"], w5.notes["zh"])
    assert w5.title() != w5.title("zh")


def test_a_cell_of_w1_may_be_one_unit_of_its_last_digit_off(catalog: Catalog) -> None:
    cell = pan_cells(catalog)[0]
    printed = float(cell.published)
    unit = 2 * cell.row(0.0).half_digit
    assert cell.row(1.5).recomputed == 1.5
    assert cell.row(1.5).name() == f"{cell.model}, {cell.api}"
    assert cell.matches(printed + 0.99 * unit)
    assert cell.matches(printed - 0.99 * unit)
    assert not cell.matches(printed + 1.01 * unit)


def test_what_the_notes_say_is_what_was_calculated(examples: dict[str, Example]) -> None:
    assert "176 h" in examples["W1"].note()
    assert "300/500 W" in examples["W1"].note()
    strict = sum(c.row(c.with_odd_price).reproduces for c in pan_cells(load_catalog()))
    assert f"then {strict} cells" in examples["W1"].note()
    assert "2,000" in examples["W7"].note() or "2,000" in examples["W7"].note("zh")
