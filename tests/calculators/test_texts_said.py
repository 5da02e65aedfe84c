"""Words that remember which text they are: English to files, any language to pages."""

import copy
import json
import pickle
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from calculators.catalog import load_catalog
from calculators.link import parse
from calculators.numbers import NotANumberError, parse_number
from calculators.report import Report, build_report, cost_lines, to_json
from calculators.resolve import UnresolvedError, check_ids
from calculators.scenario import SPECS, Problem, Scenario, from_values
from calculators.serverless import PriceNow
from calculators.texts import Said, catalogue, field_id, field_words, listed, said, text, translated, unit_words

ROOT = Path(__file__).resolve().parents[2]
ENGLISH_WORD = re.compile(r"\b(the|is|are|of|must|was|were|not|more|than|price|only)\b")
"""Words that every English sentence of the app has at least one of, and no Chinese one."""


def report(**choices: object) -> Report:
    return build_report(Scenario.model_validate(choices), load_catalog())


def test_said_words_are_a_text_in_english() -> None:
    words = said("unit.days", n="232")
    assert words == "232 days"
    assert isinstance(words, str)
    assert json.dumps({"words": words}) == '{"words": "232 days"}'
    assert translated(words, "en") == "232 days"
    assert type(translated(words, "en")) is str


def test_said_words_in_chinese() -> None:
    assert translated(said("unit.days", n="232"), "zh") == "232 天"
    assert translated("as typed", "zh") == "as typed"


def test_said_words_within_said_words_are_translated_too() -> None:
    words = said("problem.of_field", name=field_id("utilization"), what=said("problem.no_number", value="abc"))
    assert words == "utilization: 'abc' is not a number; write for example 600k, 30B, 0.75 or 75 %."
    told = translated(words, "zh")
    assert told == f"{text('field_title.utilization', 'zh')}：" + text("problem.no_number", "zh", value="abc")


def test_copies_remember() -> None:
    words = said("list.comma", a=said("unit.days", n=1), b="x")
    for copied in (copy.copy(words), copy.deepcopy(words), pickle.loads(pickle.dumps(words))):
        assert copied == "1 days, x"
        assert translated(copied, "zh") == "1 天、x"
    kept = asdict(Problem("f", "v", words))["message"]
    assert translated(kept, "zh") == "1 天、x"


def test_field_names_titles_and_units() -> None:
    assert field_id("utilization") == "utilization"
    assert field_words("utilization", "load") == "load"
    assert translated(field_words("utilization", "load"), "zh") == text("field_title.utilization", "zh")
    assert type(field_id("no such field")) is str
    assert unit_words("USD/kW-month") == "USD/kW-month"
    assert translated(unit_words("USD/kW-month"), "zh") == text("unit_of.usd_per_kw_month", "zh")
    assert unit_words("kW") == "kW"


def test_a_unit_keeps_its_english_word() -> None:
    for key, entry in catalogue().items():
        if key.startswith("unit_of."):
            name = entry["en"].lower().replace("/", "_per_").replace("-", "_")
            assert key == f"unit_of.{name}"


def test_listed_parts() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"], "list.semicolon") == "a; b; c"
    assert translated(listed(["a", "b", "c"]), "zh") == "a、b、c"


def test_an_unknown_text_cannot_be_said() -> None:
    with pytest.raises(KeyError):
        said("warning.nonsense")


CASES = (
    {},
    {"batch_share": 0.5, "cached_share": 0.9, "max_ttft_s": 5.0},
    {"input_tokens": 900_000, "output_tokens": 300_000, "model": "deepseek-v3.2"},
    {"input_tokens": 200_000, "model": "glm-5.2"},
    {"system": "rtx5090-80", "system_count": 1},
    {"system": "mbp-m5max-128", "system_count": 1},
    {"system": "epyc-turin-4tb", "max_tpot_ms": 1.0, "system_count": 1},
    {"system": "hgx-b300-8", "max_ttft_s": 0.001, "system_count": 4, "input_tokens": 100},
    {"profile": "imported"},
)
"""Scenarios that between them bring most warnings."""


@pytest.mark.parametrize("choices", CASES, ids=lambda c: ",".join(c) or "default")
def test_every_warning_has_its_chinese(choices: dict[str, object]) -> None:
    data = to_json(report(**choices))
    written_in_data = {w for m in load_catalog().models.values() for w in m.warnings}
    for warning in data["warnings"]:
        if warning not in written_in_data:
            assert isinstance(warning, Said), warning
            assert not ENGLISH_WORD.search(translated(warning, "zh")), translated(warning, "zh")


def test_the_cases_bring_most_warnings() -> None:
    keys = {w.key for c in CASES for w in to_json(report(**c))["warnings"] if isinstance(w, Said)}
    assert len(keys) >= 10, sorted(keys)


def test_a_price_in_doubt_is_told_in_chinese() -> None:
    import datetime as dt

    from calculators.serverless import price_warnings

    day = dt.date(2026, 1, 1)
    price = PriceNow(
        offer_id="x/y",
        on=day,
        input_usd_per_mtok=1e6,
        cached_input_usd_per_mtok=0.1,
        cache_write_usd_per_mtok=1.0,
        cache_write_1h_usd_per_mtok=1.0,
        output_usd_per_mtok=1.0,
        cached_is_missing=True,
        is_free=True,
        checked=day,
        note="SUSPECT",
    )
    found = price_warnings(price, dt.date(2026, 12, 1))
    assert len(found) == 5
    for warning in found:
        assert not ENGLISH_WORD.search(translated(warning, "zh")), warning


def chinese(problem: Problem) -> str:
    assert isinstance(problem.message, Said), problem.message
    return translated(problem.message, "zh")


def test_every_field_s_bound_is_told_in_chinese() -> None:
    for name, spec in SPECS.items():
        if name in ("model", "system", "baseline", "alternative", "title"):
            continue
        problems = from_values({name: -1e30 if not spec.options else "nonsense"})[1]
        assert len(problems) == 1, name
        assert problems[0].message.startswith(name)
        told = chinese(problems[0])
        assert not ENGLISH_WORD.search(told), told
        if name != "profile_weights":
            assert text(f"field_title.{name}", "zh") in told


def test_what_a_link_gets_wrong_is_told_in_chinese() -> None:
    found = [
        *parse("utilization=abc&utilization=1&nonsense=1&v=99&pins=hardware_usd:x,pue:0").problems,
        *parse("x" * 30_000).problems,
        *parse("nothing").problems,
        *parse("&".join("a=1" for _ in range(2000))).problems,
        *check_ids(Scenario(model="kimi-k33", system="nonsense", baseline="moonshotai/kimi-k33"), load_catalog())[1],
    ]
    assert len(found) >= 10
    for problem in found:
        assert not ENGLISH_WORD.search(chinese(problem)), chinese(problem)


@pytest.mark.parametrize("typed", ["abc", "1,2,34", "9" * 399, "1" * 500])
def test_no_number_is_told_in_chinese(typed: str) -> None:
    with pytest.raises(NotANumberError) as error:
        parse_number(typed)
    assert str(error.value) == error.value.message
    assert not ENGLISH_WORD.search(translated(error.value.message, "zh"))


@pytest.mark.parametrize(
    "choices",
    [{"model": "kimi-k33"}, {"baseline": "nonsense"}, {"demand": "tokens"}],
)
def test_why_there_is_no_report_is_told_in_chinese(choices: dict[str, object]) -> None:
    with pytest.raises(UnresolvedError) as error:
        report(**choices)
    assert str(error.value) == error.value.problem.message
    assert not ENGLISH_WORD.search(chinese(error.value.problem))


@pytest.mark.parametrize(
    "choices", [{}, {"acquisition": "rent"}, {"acquisition": "loan", "facility": "own", "licence_share": 0.1}]
)
def test_the_working_of_a_cost_line_is_told_in_chinese(choices: dict[str, object]) -> None:
    lines = cost_lines(report(**choices))
    assert len(lines) >= 4
    for line in lines:
        assert isinstance(line["formula"], Said)
        told = translated(line["formula"], "zh")
        assert not re.search(r"[a-z]{4,}", told.replace("token", "")), told
        # the same numbers stand in both
        assert re.findall(r"\d[\d.]*", told) == re.findall(r"\d[\d.]*", line["formula"])


def test_a_chinese_page_shows_its_warnings_and_problems_in_chinese() -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    query = {
        "lang": "zh",
        "batch_share": "0.5",
        "cached_share": "0.9",
        "max_ttft_s": "5",
        "utilization": "7",
        "v": "99",
    }
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    warnings = to_json(report(batch_share=0.5, cached_share=0.9, max_ttft_s=5.0))["warnings"]
    assert len(warnings) >= 2
    shown = "\n".join(e.value for e in (*at.markdown, *at.warning)).replace("\\", "")
    for warning in warnings:
        assert warning not in shown
        assert translated(warning, "zh") in shown
    problem = from_values({"utilization": 7})[1][0].message
    assert problem not in shown
    assert translated(problem, "zh").split("；")[1] in shown
