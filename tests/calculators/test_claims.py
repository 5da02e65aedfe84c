"""Public claims: every rating follows from a computed comparison, so other data give another rating."""

import csv
import dataclasses
import math
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from calculators.catalog import Catalog, load_catalog
from calculators.claims import Claim, judge, judge_all, load_entries, ratings_of
from calculators.link import parse
from calculators.records import Figure
from calculators.report import build_report
from calculators.texts import LANGUAGES, catalogue
from calculators.units import GIB


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="module")
def claims(catalog: Catalog) -> dict[str, Claim]:
    return {c.id: c for c in judge_all(catalog)}


def entry(claim: str) -> Mapping[str, Any]:
    return next(e for e in load_entries() if e["id"] == claim)


def computed(claim: Claim, key: str) -> float:
    return next(n.computed for n in claim.numbers if n.key == key)


def moved(figure: Figure | None, factor: float) -> Figure:
    assert figure is not None
    ends = {name: None if end is None else end * factor for name, end in (("low", figure.low), ("high", figure.high))}
    return figure.model_copy(update={"value": figure.value * factor, **ends})


def with_record(catalog: Catalog, kind: str, key: str, **fields: object) -> Catalog:
    records = dict(getattr(catalog, kind))
    records[key] = records[key].model_copy(update=fields)
    return dataclasses.replace(catalog, **{kind: MappingProxyType(records)})


def with_measurements(catalog: Catalog, folder: Path, change: Callable[[list[dict[str, str]]], None]) -> Catalog:
    shutil.copytree(catalog.root / "measurements", folder / "measurements")
    file = folder / "measurements" / "k3_measured.csv"
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    columns = list(rows[0])
    change(rows)
    with file.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return dataclasses.replace(catalog, root=folder)


def test_all_twenty_are_rated_with_reason_source_and_link(claims: dict[str, Claim]) -> None:
    assert sorted(claims) == [f"c{n:02d}" for n in range(1, 21)]
    for claim in claims.values():
        assert claim.said_by
        assert claim.date.startswith("2026-07")
        assert claim.numbers
        for language in LANGUAGES:
            assert claim.statement(language)
            assert "{" not in claim.reason(language)
            assert catalogue()[f"rating.{claim.rating}"][language]
        # the link opens exactly the claim's scenario, and the scenario can be answered
        parsed = parse(claim.link())
        assert parsed.problems == ()
        assert parsed.scenario == claim.scenario
        assert build_report(claim.scenario, load_catalog()).reason


def test_each_rating_that_a_check_can_give_has_a_reason() -> None:
    for e in load_entries():
        assert "rating" not in e
        assert set(e["reason"]) == set(ratings_of(e["check"])), e["id"]
        for reason in e["reason"].values():
            assert set(reason) == set(LANGUAGES)
        for figure in e.get("figure", {}).values():
            assert set(figure["name"]) == set(LANGUAGES)


def test_c01_by_hand(claims: dict[str, Claim], catalog: Catalog) -> None:
    claim = claims["c01"]
    # 1,240 out tok/s at 64 requests measured (k3-009): 1,240 x 9 x 2,628,000 s x 0.75 x 0.99 = 21.8e9 tokens a month
    assert computed(claim, "tokens") == pytest.approx(1240 * 9 * 2_628_000 * 0.75 * 0.99, rel=0.02)
    # 8/9 x 3 + 1/9 x 15 USD per million
    assert computed(claim, "listed") == pytest.approx(8 / 9 * 3 + 1 / 9 * 15)
    # 630,000 x 365/12 / 100 + running cost, over 30,000 Mtok
    opex = float(build_report(claim.scenario, catalog).result.opex_usd_per_month)
    assert computed(claim, "needed") == pytest.approx((630_000 * 365 / 12 / 100 + opex) / 30_000)
    # each mix of the catalogue, both models' prices, with and without running cost
    mixes = {v.mix for v in claim.variants}
    assert mixes == set(catalog.presets)
    assert {v.offer for v in claim.variants} == {"moonshotai/kimi-k3", "moonshotai/kimi-k3.1-pro"}
    for v in claim.variants:
        report = build_report(v.scenario, catalog)
        assert float(report.result.served_tokens_per_month) == pytest.approx(v.tokens_per_month)
        assert v.meets_both == (v.tokens_per_month >= 30e9 and v.payback_days < 100)
    assert (claim.rating == "supported") == (computed(claim, "tokens") >= 30e9 and computed(claim, "days") < 100)
    assert claim.rating != "supported"


def test_c01_with_a_dear_api_or_a_cheap_one(catalog: Catalog) -> None:
    offer = catalog.offers["moonshotai/kimi-k3"]

    def priced(factor: float) -> Catalog:
        found = catalog
        for key in ("moonshotai/kimi-k3", "moonshotai/kimi-k3.1-pro"):
            prices = tuple(
                p.model_copy(
                    update={
                        name: None if getattr(p, name) is None else getattr(p, name) * factor
                        for name in (
                            "input_per_mtok",
                            "cached_input_per_mtok",
                            "cache_write_per_mtok",
                            "output_per_mtok",
                        )
                    }
                )
                for p in catalog.offers[key].prices
            )
            found = with_record(found, "offers", key, prices=prices)
        return found

    assert offer.prices
    assert judge(entry("c01"), priced(0.05)).rating == "contradicted"
    assert judge(entry("c01"), priced(10.0)).rating == "holds_only_if"


def test_c02_needs_all_measured_pairs(catalog: Catalog, tmp_path: Path) -> None:
    # 1 - 44.3/112.5 = 60.6 %, 1 - 113/312 = 63.8 %, 1 - 1240/1766 = 29.8 %
    claim = judge(entry("c02"), catalog)
    assert [n.computed for n in claim.numbers] == pytest.approx([0.606, 0.638, 0.298], abs=0.0005)
    assert claim.rating == "holds_only_if"

    def faster(rows: list[dict[str, str]]) -> None:
        next(r for r in rows if r["id"] == "k3-010")["out_tok_s_total"] = "4000"

    assert judge(entry("c02"), with_measurements(catalog, tmp_path, faster)).rating == "supported"


def test_c03_follows_the_price_of_the_machine(catalog: Catalog, claims: dict[str, Claim]) -> None:
    assert claims["c03"].rating == "holds_only_if"
    # 630,000 / 48 + 11,591 = 24,716 USD a month
    assert computed(claims["c03"], "even") == pytest.approx(24_716, abs=1)
    system = catalog.systems["hgx-b300-8"]
    cheap = with_record(catalog, "systems", "hgx-b300-8", hardware_usd=moved(system.hardware_usd, 0.5))
    assert judge(entry("c03"), cheap).rating == "supported"
    dear = catalog
    for key, other in catalog.systems.items():
        if other.hardware_usd is not None:
            dear = with_record(dear, "systems", key, hardware_usd=moved(other.hardware_usd, 4.0))
    assert judge(entry("c03"), dear).rating == "contradicted"


def test_c04_finds_the_unit_slip(catalog: Catalog, claims: dict[str, Claim]) -> None:
    weights = 1_560_936_091_448
    assert computed(claims["c04"], "gb") == pytest.approx(weights / 8 / 1e9)
    assert computed(claims["c04"], "gib") == pytest.approx(weights / 8 / GIB) == pytest.approx(181.72, abs=0.01)
    assert claims["c04"].rating == "holds_only_if"
    # were the claim 182 GiB, it would simply hold
    e = entry("c04")
    right = {**e, "given": {**e["given"], "per_accelerator_gib": 182}}
    assert judge(right, catalog).rating == "supported"
    model = catalog.models["kimi-k3"]
    heavy = with_record(catalog, "models", "kimi-k3", weights_bytes=moved(model.weights_bytes, 1.5))
    assert judge(e, heavy).rating == "contradicted"


def test_c05_weights_and_room(catalog: Catalog, claims: dict[str, Claim]) -> None:
    assert computed(claims["c05"], "weights") == pytest.approx(1_560_936_091_448 / 2**40)
    assert claims["c05"].rating == "supported"
    model = catalog.models["kimi-k3"]
    heavy = with_record(catalog, "models", "kimi-k3", weights_bytes=moved(model.weights_bytes, 2.0))
    assert judge(entry("c05"), heavy).rating == "contradicted"


def test_c06_depends_on_how_the_cache_is_kept(catalog: Catalog, claims: dict[str, Claim]) -> None:
    # 288.4 GB x 0.9 - 195.1 GB = 64.4 GB free on each; 13,824 B x 1e6 = 13.8 GB a user, two state slots of 449 MB / 8
    assert computed(claims["c06"], "copied") == 4
    # sharded: an eighth of the cache on each
    assert 30 < computed(claims["c06"], "sharded") < 37
    assert claims["c06"].rating == "holds_only_if"
    chip = catalog.accelerators["b300_sxm"]
    small = with_record(catalog, "accelerators", "b300_sxm", memory_usable_bytes=moved(chip.memory_usable_bytes, 0.82))
    assert judge(entry("c06"), small).rating == "supported"
    large = with_record(catalog, "accelerators", "b300_sxm", memory_usable_bytes=moved(chip.memory_usable_bytes, 2.0))
    assert judge(entry("c06"), large).rating == "contradicted"


def test_c07_holds_only_among_nvidia(catalog: Catalog, claims: dict[str, Claim]) -> None:
    assert claims["c07"].rating == "holds_only_if"
    assert "NVIDIA" in claims["c07"].reason()
    systems = {k: s for k, s in catalog.systems.items() if catalog.accelerators[s.accelerator].vendor == "NVIDIA"}
    only = dataclasses.replace(catalog, systems=MappingProxyType(systems))
    assert judge(entry("c07"), only).rating == "supported"


def test_c08_c09_single_stream(catalog: Catalog, claims: dict[str, Claim], tmp_path: Path) -> None:
    assert claims["c08"].rating == "supported"
    assert "k3-116" in claims["c08"].reason()
    assert claims["c09"].rating == "holds_only_if"
    # more accepted tokens than the low-entropy benchmark had, and no more than a block holds
    assert 4.49 < computed(claims["c09"], "needed") < 8

    def found(rows: list[dict[str, str]]) -> None:
        next(r for r in rows if r["id"] == "k3-116")["tok_s_per_user"] = "464"

    assert judge(entry("c09"), with_measurements(catalog, tmp_path, found)).rating == "supported"


def test_c10_was_measured_on_another_makers_machine(catalog: Catalog, claims: dict[str, Claim], tmp_path: Path) -> None:
    assert claims["c10"].rating == "contradicted"
    assert "k3-094" in claims["c10"].reason()
    assert computed(claims["c10"], "speed") < 423

    def on_amd(rows: list[dict[str, str]]) -> None:
        next(r for r in rows if r["id"] == "k3-094")["hardware"] = "MI355X"

    assert judge(entry("c10"), with_measurements(catalog, tmp_path, on_amd)).rating == "supported"


def test_c11_c12_c13_c14_bounds(catalog: Catalog, claims: dict[str, Claim]) -> None:
    assert claims["c11"].rating == "cannot_be_checked"
    chip = catalog.accelerators["rtx5090"]
    slow = with_record(
        catalog, "accelerators", "rtx5090", memory_bandwidth_bytes_per_s=moved(chip.memory_bandwidth_bytes_per_s, 0.02)
    )
    assert judge(entry("c11"), slow).rating == "contradicted"

    # 4,096 GB / 64 x 1,200 USD = 76,800; 16 x 12,800e6 x 8 B = 1.638 TB/s
    assert computed(claims["c12"], "memory") == pytest.approx(76_800)
    assert computed(claims["c12"], "bandwidth") == pytest.approx(1.6384)
    assert claims["c12"].rating == "contradicted"
    chip, system = catalog.accelerators["epyc_venice"], catalog.systems["epyc-venice-4tb"]
    fast = with_record(
        catalog, "accelerators", "epyc_venice", memory_bandwidth_bytes_per_s=moved(chip.memory_bandwidth_bytes_per_s, 3)
    )
    assert judge(entry("c12"), fast).rating == "holds_only_if"
    both = with_record(fast, "systems", "epyc-venice-4tb", hardware_usd=moved(system.hardware_usd, 0.4))
    assert judge(entry("c12"), both).rating == "supported"

    assert claims["c13"].rating == "holds_only_if"
    mac = catalog.systems["mac-studio-512-x2"]
    light = with_record(catalog, "systems", mac.id, weights_bytes_override=moved(mac.weights_bytes_override, 0.8))
    assert judge(entry("c13"), light).rating == "cannot_be_checked"
    heavy = with_record(catalog, "systems", mac.id, weights_bytes_override=moved(mac.weights_bytes_override, 1.3))
    assert judge(entry("c13"), heavy).rating == "contradicted"

    assert claims["c14"].rating == "supported"
    book = catalog.systems["mbp-m5max-128"]
    quick = with_record(catalog, "systems", book.id, streaming_bytes_per_s=moved(book.streaming_bytes_per_s, 200.0))
    assert judge(entry("c14"), quick).rating == "contradicted"


def test_c15_by_the_measurement_list(catalog: Catalog, claims: dict[str, Claim], tmp_path: Path) -> None:
    assert claims["c15"].rating == "cannot_be_checked"
    assert "Hopper" in claims["c15"].reason()

    def all_early(rows: list[dict[str, str]]) -> None:
        for number, hardware in (("k3-154", "MI355X"), ("k3-155", "H200")):
            next(r for r in rows if r["id"] == number).update(hardware=hardware, date="2026-07-29")

    assert judge(entry("c15"), with_measurements(catalog, tmp_path, all_early)).rating == "supported"


def test_c16_by_the_price_list(catalog: Catalog, claims: dict[str, Claim]) -> None:
    assert claims["c16"].rating == "supported"
    offer = catalog.offers["fireworks/kimi-k3"]
    cheap = with_record(
        catalog, "offers", offer.id, prices=(offer.prices[-1].model_copy(update={"output_per_mtok": 4.0}),)
    )
    assert judge(entry("c16"), cheap).rating == "holds_only_if"
    none = dataclasses.replace(catalog, offer_names=MappingProxyType({}))
    # the scenario is not needed for the check itself
    assert judge(entry("c16"), none).rating == "contradicted"


def test_c17_needs_volume(catalog: Catalog, claims: dict[str, Claim]) -> None:
    assert claims["c17"].rating == "holds_only_if"
    assert computed(claims["c17"], "saved_10000") == 0
    assert computed(claims["c17"], "saved_150000") > 0
    e = entry("c17")
    small = {**e, "given": {"usd_per_month": [1_000, 5_000, 10_000]}}
    small["figure"] = {f"saved_{n}": e["figure"]["saved_10000"] for n in (1000, 5000, 10000)}
    assert judge(small, catalog).rating == "contradicted"
    large = {**e, "given": {"usd_per_month": [50_000, 150_000]}}
    assert judge(large, catalog).rating == "supported"


def test_c18_c19_c20(catalog: Catalog, claims: dict[str, Claim], tmp_path: Path) -> None:
    # 69 of 93 layers
    assert computed(claims["c18"], "share") == pytest.approx(69 / 93)
    # 13,824 B x 131,072 + 449,372,160 B
    assert computed(claims["c18"], "now") == pytest.approx((13_824 * 131_072 + 449_372_160) / 1e9)
    assert claims["c18"].rating == "supported"
    every = with_record(catalog, "models", "kimi-k3", state_bytes_per_sequence=0.0)
    assert judge(entry("c18"), every).rating == "contradicted"
    assert claims["c19"].rating == "supported"
    e = entry("c19")
    close = {**e, "given": {**e["given"], "input_tokens": [1000, 1100]}}
    assert judge(close, catalog).rating == "contradicted"
    # 42 / 22 tokens a second, 1,258.5 / 1,142.7 tokens a second
    assert computed(claims["c20"], "serverless") == pytest.approx(42 / 22)
    assert computed(claims["c20"], "same_machine") == pytest.approx(1258.5 / 1142.7)
    assert claims["c20"].rating == "supported"

    def alike(rows: list[dict[str, str]]) -> None:
        for r in rows:
            if r["hardware"].startswith("serverless"):
                r["tok_s_per_user"] = "30"
            if r["id"] in ("k3-160", "k3-161", "k3-164"):
                r["out_tok_s_total"] = "1240"

    assert judge(entry("c20"), with_measurements(catalog, tmp_path, alike)).rating == "contradicted"


def test_numbers_are_known(claims: dict[str, Claim]) -> None:
    for claim in claims.values():
        assert not any(math.isnan(n.computed) for n in claim.numbers), claim.id
