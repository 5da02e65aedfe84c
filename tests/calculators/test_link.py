"""The link: complete, exact, and never an error."""

from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calculators.catalog import load_catalog
from calculators.link import Parsed, changed, encode, parse, read_value, read_values
from calculators.numbers import NotANumberError
from calculators.report import build_report
from calculators.scenario import SPECS, VERSION, Scenario
from tests.strategies import ANY_SCENARIO

RELEASE = "2026-11-29"


def messages(link: Any) -> list[str]:
    return [p.message for p in parse(link).problems]


# Round trip ----------------------------------------------------------------------------------------------------------


@given(ANY_SCENARIO)
@example(Scenario(title="100 % + 5 & more = fun?#x;y/é中文🙂\u202f"))
@example(Scenario(title="none", utilization=0.1 + 0.2, hardware_usd=5e-324))
@example(Scenario(title="\x1c\x1dtitle\x1f", model="a+b&c=%d"))
@example(Scenario(max_tpot_ms=None, system_count="auto", serving_cached_share=0))
def test_round_trip_is_exact(scenario: Scenario) -> None:
    query = encode(scenario, RELEASE)
    for link in (
        query,
        f"?{query}",
        f"https://example.org/app/?{query}",
        dict(parse_qsl(query, True)),
        parse_qsl(query, True),
    ):
        found = parse(link)
        assert found.problems == ()
        assert found.scenario == scenario
        assert found.version == VERSION
        assert found.release == RELEASE


@given(ANY_SCENARIO)
def test_link_holds_every_field_once_and_only_plain_characters(scenario: Scenario) -> None:
    query = encode(scenario, RELEASE)
    assert query.isascii()
    assert " " not in query
    assert [name for name, _ in parse_qsl(query, True)] == ["v", "release", *SPECS]


@given(ANY_SCENARIO)
def test_short_form_is_read_too(scenario: Scenario) -> None:
    short = changed(scenario)
    assert set(short) == {n for n in SPECS if getattr(scenario, n) != getattr(Scenario(), n)}
    assert parse(short).scenario == scenario


def test_defaults_need_no_short_form() -> None:
    assert changed(Scenario()) == {}
    assert changed(Scenario(max_tpot_ms=None)) == {"max_tpot_ms": ""}


# What people write ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "field", "value"),
    [
        ("utilization=60%25", "utilization", 0.6),
        ("utilization=0,6", "utilization", 0.6),
        ("hardware_usd=600k", "hardware_usd", 600_000.0),
        ("demand_tokens_per_month=30B", "demand_tokens_per_month", 30e9),
        ("system_count=AUTO", "system_count", "auto"),
        ("system_count=3", "system_count", 3),
        ("max_tpot_ms=none", "max_tpot_ms", None),
        ("max_tpot_ms=", "max_tpot_ms", None),
        ("max_tpot_ms=None", "max_tpot_ms", None),
        ("title=a+b", "title", "a b"),
        ("title=a%2Bb", "title", "a+b"),
        ("input_tokens=8,192", "input_tokens", 8192),
        ("input_tokens=8192.0", "input_tokens", 8192),
    ],
)
def test_reads(link: str, field: str, value: object) -> None:
    found = parse(link)
    assert found.problems == ()
    assert getattr(found.scenario, field) == value
    assert type(getattr(found.scenario, field)) is type(value)


def test_read_value_needs_a_number_where_the_field_is_one() -> None:
    with pytest.raises(NotANumberError, match="'much' is not a number"):
        read_value("utilization", "much")
    assert read_value("input_tokens", "1.5") == 1.5, "kept, so that the message can name it"


# What cannot be used -------------------------------------------------------------------------------------------------


def test_out_of_bounds_is_told_and_the_rest_kept() -> None:
    found = parse("utilization=1.2&horizon_months=24&input_usd_per_mtok=-1")
    assert [p.field for p in found.problems] == ["utilization", "input_usd_per_mtok"]
    assert found.problems[0].message == "utilization is 1.2; it must be a number at least 0 and at most 1."
    assert (
        found.problems[1].message
        == "input_usd_per_mtok is -1.0; it must be a number at least 0 and at most 1,000 USD/Mtok, or empty."
    )
    assert found.scenario == Scenario(horizon_months=24)


def test_whole_number_field_names_the_fraction() -> None:
    assert messages("horizon_months=1.5") == [
        "horizon_months is 1.5; it must be a whole number at least 1 and at most 240 months."
    ]


def test_unknown_fields_and_junk_numbers_are_told() -> None:
    found = parse("nonsense=1&utilization=lots&system=hgx-b200-8")
    assert {p.field for p in found.problems} == {"nonsense", "utilization"}
    assert found.scenario == Scenario(system="hgx-b200-8")


def test_the_first_of_two_values_counts_and_the_second_is_told() -> None:
    found = parse("utilization=0.5&utilization=0.6")
    assert found.scenario.utilization == 0.5
    assert [p.message for p in found.problems] == ["utilization is given twice in the link; the first value is used."]


def test_streamlits_own_parameters_are_no_problem() -> None:
    assert messages("embed=true&embed_options=light_theme&lang=zh&utilization=0.5") == []


@pytest.mark.parametrize("text", ["", "   "])
def test_empty_link_is_the_default(text: str) -> None:
    assert parse(text) == Parsed(Scenario(), ())


def test_text_without_a_scenario_is_told() -> None:
    assert messages("https://example.org/") == ["The link holds no scenario; the defaults are shown."]


def test_very_long_link_is_not_read() -> None:
    found = parse("title=" + "x" * 1_000_000)
    assert found.scenario == Scenario()
    assert "longer than 20,000 characters" in found.problems[0].message
    assert len(found.problems[0].message) < 200


def test_many_parameters_and_broken_addresses_are_told() -> None:
    assert messages("&".join(f"a{i}=1" for i in range(2000))) == ["The link could not be read; nothing was used."]
    assert messages("https://[bad/?utilization=0.5") == ["The link could not be read; nothing was used."]


@pytest.mark.parametrize(
    "version", ["0", "2", "99999999999", "-1", "1.0", "one", "", "١", "000000001" + "0" * 5000, "0000000012"]
)
def test_other_versions_are_told_and_the_fields_read(version: str) -> None:
    found = parse([("v", version), ("utilization", "0.5")])
    assert found.version is None
    assert found.scenario.utilization == 0.5
    assert [p.field for p in found.problems] == ["v"]
    assert len(found.problems[0].message) < 200


@given(st.text())
@example("v=1&pins=a:b:c,,")
@example("?%ff%fe=%00&title=%ed%a0%80")
@example("https://x/?#utilization=1")
@example(";;;;====&&&&")
def test_junk_text_never_raises(text: str) -> None:
    found = parse(text)
    assert isinstance(found.scenario, Scenario)
    for problem in found.problems:
        assert problem.message


NAMES = st.sampled_from([*SPECS, "v", "release", "pins", "embed"]) | st.text()
VALUES = st.text() | st.sampled_from(["-1", "1e308", "nan", "inf", "0", "", "none", "auto", "1e999", "²"])


@given(st.lists(st.tuples(NAMES, VALUES)))
def test_junk_pairs_never_raise(pairs: list[tuple[str, str]]) -> None:
    for link in (pairs, dict(pairs), urlencode(pairs), "?" + urlencode(pairs)):
        found = parse(link)
        assert Scenario.model_validate(found.scenario.model_dump()) == found.scenario


@given(NAMES.filter(lambda n: n not in ("v", "release", "pins", "embed")), VALUES)
def test_a_value_is_used_or_told(name: str, text: str) -> None:
    scenario, problems = read_values([(name, text)])
    if not problems:
        assert name in SPECS
    else:
        assert [p.field for p in problems] == [name]
        assert scenario == Scenario()


# Pins: the figures that a result rested on --------------------------------------------------------------------------


def test_pins_round_trip() -> None:
    pins: dict[str, float | str] = {
        "hardware_usd": 600_000.0,
        "baseline_input_usd_per_mtok": 3.0,
        "alternative_output_usd_per_mtok": 0.1 + 0.2,
        "alternative": "sail/moonshotai/kimi-k3#batch",
        "output_tokens_per_s": 1240.000000001,
    }
    found = parse(encode(Scenario(), RELEASE, pins))
    assert found.problems == ()
    assert dict(found.pins) == pins


def test_a_reports_own_pins_are_read_back() -> None:
    for scenario in (
        Scenario(),
        Scenario(cached_share=0.5, batch_share=0.3),
        Scenario(acquisition="rent", rented_hours_per_month=264),
        Scenario(facility="own"),
        Scenario(system_count="auto", demand="tokens", demand_tokens_per_month=300e9),
    ):
        report = build_report(scenario, load_catalog())
        found = parse("?" + report.link)
        assert found.problems == ()
        assert found.scenario == scenario
        assert found.pins


@pytest.mark.parametrize(
    "pin",
    [
        "hardware_usd:-1",
        "baseline_input_usd_per_mtok:-0.1",
        "power_kw:1e308",
        "usd_per_cny:0",
        "output_tokens_per_s:0",
        "output_tokens_per_s:1e300",
        "system_count:1.5",
        "system_count:-1",
        "nonsense:1",
        "utilization:0.5",
        "hardware_usd:",
        "hardware_usd",
        ":5",
        "hardware_usd:nan",
        "alternative:",
    ],
)
def test_a_pin_out_of_bounds_is_told_and_not_used(pin: str) -> None:
    found = parse("v=1&pins=" + quote(f"{pin},pue:1.3"))
    assert [p.field for p in found.problems] == ["pins"]
    assert pin.partition(":")[0] in found.problems[0].message
    assert found.pins == (("pue", 1.3),)
