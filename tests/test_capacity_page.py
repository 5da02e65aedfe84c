"""The Capacity page: what is unknown is not shown as a number, and a source that is no address is no link."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.test_app import start, told


def _cards(at: AppTest) -> dict[str, str]:
    return {m.label: str(m.value) for m in at.metric}


def test_a_bare_address_is_a_link() -> None:
    words = told(start("capacity"))
    assert (
        "It rests on the measurement [k3-009](https://github.com/sgl-project/sglang/pull/37878) of 2026-09-03." in words
    )


def test_a_source_in_words_is_no_link() -> None:
    """k3-041's source reads 'https://lmsys.org/blog (kimi-k3-day0-support); ...': no address that a link could hold."""
    words = told(start("capacity", system="gb300-4x4"))
    assert "[k3-041]" not in words
    assert "It rests on the measurement k3-041 (https://lmsys.org/blog (kimi-k3-day0-support); github lm-sys" in words


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_own_load_test_leaves_latency_unknown(lang: str) -> None:
    """5,000 tokens/s is a rate; 64 requests at 40.19 ms would be 64 / 0.04019 = 1,592 tokens/s and contradict it."""
    at = start("capacity", lang=lang, measured_output_tokens_per_s="5000")
    words, unknown = told(at), {"en": "unknown", "zh": "未知"}[lang]
    cards = _cards(at)
    assert [value for value in cards.values()].count(unknown) == 3, cards
    assert "k3-009" not in words
    assert "nan" not in words.lower()
    assert "40.2" not in words


def test_a_request_that_the_model_does_not_take_is_one_sentence() -> None:
    at = start("capacity", input_tokens="1000000", output_tokens="1000000")
    words = told(at)
    assert words.count("does not fit Kimi K3: input and output together may be 1,048,576 tokens") == 1
    assert words.count("A request of 2,000,000 tokens is longer than") <= 1
    assert "0 GB" not in words
    assert "None" not in words
