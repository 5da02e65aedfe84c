"""Pins that are no single number: exact there and back, and nothing else is read."""

import base64
import math
import zlib
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calculators import pins
from calculators.catalog import load_catalog
from calculators.link import parse
from calculators.profile import FLAT
from calculators.report import build_report, to_json
from calculators.scenario import Scenario
from calculators.sizing import Stated, sizing_inputs, stated_of
from tests.strategies import KNOWN_SCENARIO

CATALOG = load_catalog()


def stated(model: str = "kimi-k3", system: str = "hgx-b300-8", **workload: float) -> Stated:
    mix: dict[str, Any] = {"input_tokens": 8192.0, "output_tokens": 1024.0, "max_tpot_ms": 50.0, **workload}
    return stated_of(sizing_inputs(CATALOG, model, system, **mix))


# Sizing --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", CATALOG.systems)
def test_every_sizing_of_the_catalogue_is_read_back_as_it_was(system: str) -> None:
    for model in CATALOG.models:
        for workload in ({}, {"input_tokens": 400_000.0}, {"max_ttft_s": 0.01}):
            there = stated(model, system, **workload)
            assert pins.read_stated(pins.write_stated(there)) == there


GOOD = pins.write_stated(stated())


def with_figure(name: str, text: str) -> str:
    parts = GOOD.split("~")
    parts[list(Stated.__dataclass_fields__).index(name)] = text
    return "~".join(parts)


@pytest.mark.parametrize(
    "text",
    [
        "",
        GOOD + "~1",
        GOOD.rpartition("~")[0],
        with_figure("evidence", "user"),
        with_figure("evidence", "certain"),
        with_figure("evidence", "none"),
        with_figure("limited_by", "own_test"),
        with_figure("limited_by", "does_not_fit"),
        with_figure("limited_by", "context"),
        with_figure("layout", "[x](https://example.org)"),
        with_figure("anchor", "<b>"),
        with_figure("devices", "0"),
        with_figure("devices", "1.5"),
        with_figure("accelerators_per_system", "1e12"),
        with_figure("max_concurrent_sequences", "0"),
        with_figure("concurrency", "0"),
        with_figure("requests_per_s", "0"),
        with_figure("requests_per_s", "1e10"),
        with_figure("tpot_ms", "nan"),
        with_figure("tpot_ms", "0"),
        with_figure("ttft_s", "-1"),
        with_figure("ttft_s", "inf"),
        with_figure("weights_bytes", "0"),
        with_figure("usable_bytes", "1e300"),
        with_figure("low_factor", "0"),
        with_figure("low_factor", "1.1"),
        with_figure("high_factor", "0.9"),
        with_figure("prefill_share", "1.1"),
        with_figure("min_systems", "1_0"),
    ],
)
def test_a_sizing_that_does_not_fit_together_is_not_read(text: str) -> None:
    assert pins.found({"sizing": text}, "sizing") is None
    found = parse("v=1&pins=" + quote(f"sizing:{text},pue:1.3"))
    assert [p.field for p in found.problems] == ["pins"]
    assert "could not be read; today's is used" in found.problems[0].message
    assert found.pins == (("pue", 1.3),)
    # whoever passes it on regardless gets today's sizing
    today, asked = build_report(Scenario(), CATALOG), build_report(Scenario(), CATALOG, {"sizing": text})
    assert asked.result.sizing.output_tokens_per_s == today.result.sizing.output_tokens_per_s


def test_a_stated_sizing_holds_for_any_number_of_machines() -> None:
    slower = with_figure("requests_per_s", "0.5")
    one, three = (build_report(Scenario(system_count=n), CATALOG, {"sizing": slower}) for n in (1, 3))
    # 0.5 requests of 1,024 tokens a second on each machine
    assert float(one.result.sizing.output_tokens_per_s) == pytest.approx(512)
    assert float(three.result.sizing.output_tokens_per_s) == pytest.approx(3 * 512)
    assert float(three.result.sizing.usable_bytes) == pytest.approx(3 * float(one.result.sizing.usable_bytes))
    assert to_json(one)["throughput"]["concurrency"] == 64
    line = one.resolved.find("sizing")
    assert line is not None
    assert (line.value, line.origin) == (pytest.approx(512), "link")
    own = build_report(Scenario(measured_output_tokens_per_s=700), CATALOG, {"sizing": slower})
    assert float(own.result.sizing.output_tokens_per_s) == pytest.approx(700)
    assert own.evidence == "user"
    assert math.isnan(float(own.result.sizing.concurrency))


def test_a_stated_lack_of_memory_counts_what_is_missing_on_the_machines_given() -> None:
    small = pins.write_stated(stated(system="hgx-b200-8"))
    pinned: dict[str, float | str] = {
        "sizing": small.replace(str(int(CATALOG.accelerators["b200_sxm"].memory_usable_bytes.value)), str(170 * 10**9))
    }
    assert pinned["sizing"] != small
    one, two = (build_report(Scenario(system="hgx-b200-8", system_count=n), CATALOG, pinned) for n in (1, 2))
    need = stated(system="hgx-b200-8").need_bytes
    assert to_json(one)["memory"]["short_by_bytes"] == pytest.approx(need - 8 * 0.9 * 170e9)
    assert to_json(one)["memory"]["fits"] is False
    assert one.status is None
    assert to_json(two)["memory"]["fits"] is True


# Ranges --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hardware_usd", "PERT~1"),
        ("hardware_usd", "PERT~2~1"),
        ("hardware_usd", "uniform~1~2"),
        ("hardware_usd", "PERT~-1~2"),
        ("hardware_usd", "PERT~1~nan"),
        ("hardware_usd", "PERT~1~1e300"),
        ("hardware_usd", "lognormal~0~2"),
        ("utilization", "lognormal~0.1~0.9"),
        ("throughput_factor", "lognormal~0~2"),
        ("throughput_factor", "lognormal~1.1~2"),
        ("input_tokens", "PERT~1~2"),
        ("title", "PERT~1~2"),
        ("discount_rate", "PERT~0.1~0.2"),
        ("nonsense", "PERT~1~2"),
        ("", "PERT~1~2"),
    ],
)
def test_a_range_out_of_bounds_is_told_and_not_used(name: str, text: str) -> None:
    found = parse("v=1&pins=" + quote(f"range_{name}:{text},pue:1.3"))
    assert [p.field for p in found.problems] == ["pins"]
    assert found.pins == (("pue", 1.3),)


def test_a_range_of_the_link_is_drawn_from() -> None:
    pinned: dict[str, float | str] = {"range_hardware_usd": "PERT~600000~600000", "range_staff_fte": "PERT~0.25~5"}
    found = build_report(Scenario(), CATALOG, pinned).uncertainty
    assert found is not None
    drawn = {u.name: u for u in found.inputs}
    assert "hardware_usd" not in drawn, "no width"
    assert (drawn["staff_fte"].high, drawn["staff_fte"].kind) == (5.0, "pinned")
    assert drawn["utilization"].kind != "pinned", "what the link does not say is today's"
    only = build_report(Scenario(), CATALOG, {**pinned, "ranges": "all"}).uncertainty
    assert only is not None
    assert [u.name for u in only.inputs] == ["staff_fte"]


def test_a_lognormal_range_around_nothing_is_not_drawn_from() -> None:
    pinned: dict[str, float | str] = {"range_staff_fte": "lognormal~0.1~1"}
    assert build_report(Scenario(staff_fte=0), CATALOG, pinned).uncertainty is not None


# Hours ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", [p.id for p in CATALOG.profiles.values()])
def test_hours_are_read_back_to_the_last_digit(profile: str) -> None:
    weights = CATALOG.profiles[profile].weights
    text = pins.write_hours(weights)
    assert pins.read_hours(text) == weights
    assert len(text) < 300


@given(st.lists(st.floats(0, 100), min_size=168, max_size=168).filter(lambda w: sum(w) > 1))
def test_any_week_is_read_back(weights: list[float]) -> None:
    mean_one = [w * 168 / math.fsum(weights) for w in weights]
    if max(mean_one) <= 168 and abs(sum(mean_one) - 168) < 1e-7:
        text = pins.write_hours(mean_one)
        if len(text) <= 4000:
            assert list(pins.read_hours(text)) == mean_one


def packed(words: str) -> str:
    return base64.urlsafe_b64encode(zlib.compress(words.encode())).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A" * 168,
        "not base 64!",
        packed(",".join(["1"] * 167)),
        packed(",".join(["1"] * 167 + ["2"])),
        packed(",".join(["1"] * 166 + ["-1", "3"])),
        packed(",".join(["1"] * 167 + ["nan"])),
        packed(",".join(["1"] * 167 + ["x"])),
        packed("1" * 10_000_000),
        packed(",".join(["1"] * 168)) + "AAAA",
    ],
)
def test_other_hours_are_told_and_not_used(text: str) -> None:
    found = parse("v=1&pins=" + quote(f"hours:{text},pue:1.3"))
    assert [p.field for p in found.problems] == ["pins"]
    assert len(found.problems[0].message) < 200
    assert found.pins == (("pue", 1.3),)


def test_hours_of_the_link_stand_for_the_profile_and_say_so() -> None:
    base: dict[str, Any] = {"demand": "tokens", "demand_tokens_per_month": 20e9, "profile": "office-hours"}
    flat = build_report(Scenario(**base), CATALOG, {"hours": pins.write_hours(FLAT)})
    assert flat.inputs.weights == FLAT
    line = flat.resolved.find("hours")
    assert line is not None
    assert (line.value, line.origin) == ("office-hours", "link")


# All together --------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(KNOWN_SCENARIO)
def test_every_link_is_short_and_gives_the_same_report(scenario: Scenario) -> None:
    there = build_report(scenario, CATALOG)
    assert len(there.link) < 4000
    read = parse(there.link)
    assert read.problems == ()
    assert read.scenario == scenario
    again = build_report(read.scenario, CATALOG, dict(read.pins))
    parts = (
        "memory",
        "throughput",
        "served",
        "serverless",
        "self_host",
        "payback",
        "alternative_payback",
        "uncertainty",
    )
    old, new = to_json(there), to_json(again)
    assert {part: old[part] for part in parts} == {part: new[part] for part in parts}
    assert old["verdict"] == new["verdict"]


TEXTS = st.text(max_size=40) | st.sampled_from(
    ["", "none", "all", GOOD, "PERT~1~2", "lognormal~1e-300~1e300", "~", "~~"]
)


@given(st.sampled_from(["sizing", "hours", "ranges", "alternative", *pins.PRICES, "range_pue", "range_"]), TEXTS)
def test_junk_in_a_pin_never_raises(name: str, text: str) -> None:
    found = parse([("v", "1"), ("pins", f"{name}:{text}")])
    assert all(problem.field == "pins" for problem in found.problems)
    assert pins.found(dict(found.pins), name) == dict(found.pins).get(name)
