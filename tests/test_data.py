"""The figures in data/ against published constants, worked examples and each other."""

import datetime as dt
import hashlib
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from calculators.catalog import DATA, Catalog, default_alternative, figures, load_catalog
from calculators.records import Model
from calculators.serverless import PRICE_BOUNDS_USD_PER_MTOK, PRICE_KINDS, effective_price, price_warnings
from calculators.units import GIB

TODAY = dt.date(2026, 11, 29)

MODELS = (
    "deepseek-r1-0528 deepseek-v3.2 deepseek-v4-flash deepseek-v4-pro glm-5 glm-5.2 gpt-oss-120b kimi-k2.5 kimi-k3 "
    "kimi-k3.1-pro llama-3.3-70b minimax-m2.5 minimax-m3 qwen3-235b-a22b qwen3.5-397b-a17b"
)
SYSTEMS = (
    "atlas-a3-64 dgx-b300-8 epyc-turin-4tb epyc-venice-4tb gb200-nvl72 gb300-4x4 gb300-nvl72 hgx-b200-8 hgx-b300-8 "
    "hgx-h100-8 hgx-h200-8 mac-studio-512-x2 mbp-m5max-128 mi300x-8 mi325x-8 mi350x-8 mi355x-8 rtx5090-80 rtxpro6000-8"
)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def cache_bytes(model: Model, bytes_per_element: int) -> float:
    """Cache per token and rank-independent, sliding windows apart."""
    groups = [group for group in model.cache if group.kind != "sliding"]
    return sum(g.elements_per_token * bytes_per_element + g.fixed_bytes_per_token for g in groups)


def test_the_catalogue_holds_what_the_plan_names(catalog: Catalog) -> None:
    assert sorted(catalog.models) == MODELS.split()
    assert sorted(catalog.systems) == SYSTEMS.split()
    assert list(catalog.presets) == ["benchmark-8k-1k", "chat", "coding-agent", "long-context-agent", "rag"]
    assert list(catalog.profiles) == ["flat", "office-hours", "global"]
    assert catalog.release == "2026-11-29"


# Models --------------------------------------------------------------------------------------------------------------


def test_kimi_k3_constants_follow_from_its_config(catalog: Catalog) -> None:
    k3 = catalog.models["kimi-k3"]
    # W6: 92 x 896 x 3 x 3584 x 3072 = 2.7227e12 routed parameters at 17/32 byte = 1,446.5 GB
    routed = 92 * 896 * 3 * 3584 * 3072
    assert k3.routed_expert_params is not None
    assert k3.routed_expert_bytes is not None
    assert k3.routed_expert_params.value == routed
    assert k3.routed_expert_bytes.value == routed * 17 / 32
    assert routed / 1e12 == pytest.approx(2.7227, abs=5e-5)
    # other 56.74e9 parameters at 2 bytes = 113.5 GB; sum 1,559.9 GB; folder 1,560,936,091,448 bytes
    other = (k3.total_params.value - routed) * 2
    assert other / 1e9 == pytest.approx(113.5, abs=0.05)
    assert (k3.routed_expert_bytes.value + other) / 1e9 == pytest.approx(1559.9, abs=0.05)
    assert k3.weights_bytes.value == 1_560_936_091_448
    # cache 24 x 576 elements: 27,648 bytes in bf16, 13,824 in fp8; a million tokens 28.99 GB = 27.0 GiB
    assert cache_bytes(k3, 2) == 27_648
    assert cache_bytes(k3, 1) == 13_824
    assert 1_048_576 * cache_bytes(k3, 2) / 1e9 == pytest.approx(28.99, abs=0.005)
    assert 1_048_576 * cache_bytes(k3, 2) / GIB == 27.0
    # state 69 x 96 x 128 x 128 x 4 + 69 x 36,864 x 3 x 2
    assert k3.state_bytes_per_sequence == 69 * 96 * 128 * 128 * 4 + 69 * 36_864 * 3 * 2 == 449_372_160
    assert (k3.layers, k3.moe_layers, k3.experts, k3.experts_per_token, k3.hidden_size) == (93, 92, 896, 16, 7168)


def test_kimi_k3_1_pro_borrows_the_sizing_and_says_so(catalog: Catalog) -> None:
    pro, k3 = catalog.models["kimi-k3.1-pro"], catalog.models["kimi-k3"]
    assert (pro.sized_as, pro.weights_class, k3.weights_class) == ("kimi-k3", "kimi-k3.1", "kimi-k3")
    assert pro.weights_bytes.kind == "assumption"
    assert any("indexer is not modelled" in text for text in pro.warnings)


@pytest.mark.parametrize(
    ("model_id", "bf16", "fp8"),
    [
        # bytes per token, published or computed from the configs: all layers, sliding windows apart
        ("kimi-k2.5", 70_272, 35_136),
        ("deepseek-r1-0528", 70_272, 35_136),
        ("deepseek-v3.2", 78_324, 43_188),
        ("deepseek-v4-pro", 8_888, 4_924),
        ("deepseek-v4-flash", 6_208, 3_440),
        ("glm-5", 100_152, 55_224),
        ("glm-5.2", 92_496, 47_568),
        ("qwen3.5-397b-a17b", 30_720, 15_360),
        ("qwen3-235b-a22b", 192_512, 96_256),
        ("gpt-oss-120b", 36_864, 18_432),
        ("minimax-m2.5", 253_952, 126_976),
        ("minimax-m3", 137_472, 68_736),
        ("llama-3.3-70b", 327_680, 163_840),
    ],
)
def test_cache_per_token(catalog: Catalog, model_id: str, bf16: int, fp8: int) -> None:
    assert cache_bytes(catalog.models[model_id], 2) == bf16
    assert cache_bytes(catalog.models[model_id], 1) == fp8


@pytest.mark.parametrize(
    ("model_id", "window_bytes_bf16"),
    [("gpt-oss-120b", 4_718_592), ("deepseek-v4-pro", 7_995_392), ("deepseek-v4-flash", 5_636_096)],
)
def test_sliding_windows(catalog: Catalog, model_id: str, window_bytes_bf16: int) -> None:
    (group,) = [group for group in catalog.models[model_id].cache if group.kind == "sliding"]
    assert group.window_tokens is not None
    assert group.elements_per_token * group.window_tokens * 2 == window_bytes_bf16
    assert catalog.models[model_id].state_bytes_per_sequence == 0


def test_parameters_and_bytes_agree(catalog: Catalog) -> None:
    for model in catalog.models.values():
        assert model.active_params.value <= model.total_params.value, model.id
        per_parameter = model.weights_bytes.value / model.total_params.value
        assert 0.5 <= per_parameter <= 2.0, model.id
        if model.routed_expert_bytes is not None:
            # routed experts are the bulk, and the rest is left over for attention, shared experts and embeddings
            assert 0.85 < model.routed_expert_bytes.value / model.weights_bytes.value < 1.0, model.id
        if model.moe_layers:
            assert model.experts_per_token < model.experts, model.id
            assert model.moe_layers <= model.layers, model.id
        full = sum(group.layers for group in model.cache if group.kind != "sliding")
        assert full <= model.layers * 2, model.id


# Machines ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system_id", "usable", "fits"),
    [
        # 8 x usable bytes against 1.561e12 of Kimi K3
        ("hgx-b300-8", 2.307e12, True),
        ("mi355x-8", 2.474e12, True),
        ("mi350x-8", 2.474e12, True),
        ("hgx-b200-8", 1.546e12, False),
        ("hgx-h200-8", 1.211e12, False),
    ],
)
def test_usable_bytes(catalog: Catalog, system_id: str, usable: float, fits: bool) -> None:
    system = catalog.systems[system_id]
    total = system.accelerators * catalog.accelerators[system.accelerator].memory_usable_bytes.value
    assert total == pytest.approx(usable, rel=5e-4)
    assert (total > catalog.models["kimi-k3"].weights_bytes.value) == fits


def test_b300_memory_in_three_units_is_one_machine(catalog: Catalog) -> None:
    value = catalog.accelerators["b300_sxm"].memory_usable_bytes.value
    # 275,040 MiB = 268.59 GiB = 288.4 GB
    assert value == 275_040 * 2**20
    assert value / GIB == pytest.approx(268.6, abs=0.05)
    assert value / 1e9 == pytest.approx(288.4, abs=0.05)


def test_the_default_machine_has_its_price_and_power(catalog: Catalog) -> None:
    system = catalog.systems["hgx-b300-8"]
    assert system.hardware_usd is not None
    assert system.power_kw is not None
    assert (system.hardware_usd.value, system.hardware_usd.low, system.hardware_usd.high) == (600_000, 450_000, 660_000)
    assert (system.power_kw.value, system.power_kw.high) == (14.5, 15.5)
    assert "list price" in system.hardware_usd.note.lower()


def test_four_trays_cost_their_part_of_the_rack(catalog: Catalog) -> None:
    part, rack = catalog.systems["gb300-4x4"], catalog.systems["gb300-nvl72"]
    assert part.hardware_usd is not None
    assert rack.hardware_usd is not None
    # 4,000,000 x 16 / 72 = 888,889
    assert part.hardware_usd.value == round(rack.hardware_usd.value * 16 / 72) == 888_889
    assert part.hardware_usd.kind == "derived"
    assert (part.accelerators, part.accelerators_per_node) == (16, 4)


def test_machines_without_a_serving_class_are_bounds_only(catalog: Catalog) -> None:
    bounds = {system.id for system in catalog.systems.values() if system.bound_only}
    assert bounds == {
        "epyc-turin-4tb",
        "epyc-venice-4tb",
        "mac-studio-512-x2",
        "mbp-m5max-128",
        "rtx5090-80",
        "atlas-a3-64",
    }
    assert catalog.systems["mbp-m5max-128"].streaming_bytes_per_s is not None
    override = catalog.systems["mac-studio-512-x2"].weights_bytes_override
    assert override is not None
    # 2.7227e12 x 2.0625 / 8 + 56.74e9 x 4.5 / 8 = 702.0e9 + 31.9e9
    assert override.value / 1e9 == pytest.approx(733.9, abs=0.05)


def test_rent_is_a_market_rate_and_semianalysis_is_only_a_reference(catalog: Catalog) -> None:
    for system in catalog.systems.values():
        if system.rent_usd_per_accelerator_hour is None:
            assert system.bound_only, system.id
        else:
            assert "SemiAnalysis" not in system.rent_usd_per_accelerator_hour.source, system.id
    assert len(catalog.rentals) == 163
    ours = [rental for rental in catalog.rentals if "SemiAnalysis" in rental.provider]
    assert all(rental.usd_per_accelerator_hour.kind == "press" for rental in ours)


# Offers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offer_id", "prices"),
    [
        ("moonshotai/kimi-k3", (3, 0.3, 3, 6, 15)),
        ("moonshotai/kimi-k3.1-pro", (2, 0.2, 2, 4, 10)),
        ("digitalocean/kimi-k3", (3, 0.3, 3, 3, 15)),
        ("together/moonshotai/kimi-k3", (3, 0.3, 3, 3, 15)),
        ("fireworks/kimi-k3", (3, 0.3, 3, 3, 15)),
        ("fireworks/kimi-k3#batch", (1.5, 0.15, 1.5, 1.5, 7.5)),
        ("modal/moonshotai/kimi-k3", (3, 0.3, 3, 3, 15)),
        ("baseten/moonshotai/kimi-k3", (3, 0.3, 3, 3, 15)),
        ("anthropic/claude-opus-5", (5, 0.5, 6.25, 10, 25)),
        ("openai/gpt-6-sol", (2, 0.2, 2.5, 2.5, 10)),
        ("google/gemini-4-argon", (2, 0.1, 2, 2, 10)),
    ],
)
def test_prices_of_known_offers(catalog: Catalog, offer_id: str, prices: tuple[float, ...]) -> None:
    found = effective_price(catalog.offers[offer_id], TODAY)
    assert found is not None
    assert tuple(getattr(found, f"{kind}_usd_per_mtok") for kind in PRICE_KINDS) == prices


def test_prices_past_and_announced(catalog: Catalog) -> None:
    def input_price(offer_id: str, on: dt.date) -> float:
        found = effective_price(catalog.offers[offer_id], on)
        assert found is not None
        return float(found.input_usd_per_mtok)

    assert input_price("openai/gpt-5.6-sol", dt.date(2026, 8, 20)) == 5
    assert input_price("openai/gpt-5.6-sol", TODAY) == 4
    assert input_price("google/gemini-4-argon", dt.date(2026, 12, 1)) == 4
    assert input_price("google/gemini-4-argon#batch", dt.date(2026, 12, 1)) == 2
    assert input_price("fireworks/kimi-k3-us", dt.date(2026, 8, 31)) == 3.3
    assert input_price("fireworks/kimi-k3-us", TODAY) == 4.5


def test_suspect_prices_are_left_out(catalog: Catalog) -> None:
    assert "aihubmix/coding-kimi-k3" not in catalog.offers
    starts = {price.effective_from for price in catalog.offers["openrouter/moonshotai/kimi-k3"].prices}
    assert starts == {None, dt.date(2026, 11, 3)}
    assert not any(price.confidence == "SUSPECT" for offer in catalog.offers.values() for price in offer.prices)


def test_every_price_is_in_bounds_and_known(catalog: Catalog) -> None:
    low, high = PRICE_BOUNDS_USD_PER_MTOK
    for offer in catalog.offers.values():
        found = effective_price(offer, TODAY, 0.14)
        assert found is not None, offer.id
        assert not found.is_free, offer.id
        assert not any("outside" in text or "days ago" in text for text in price_warnings(found, TODAY)), offer.id
        for price in offer.prices:
            for kind in PRICE_KINDS:
                value = getattr(price, f"{kind}_per_mtok")
                assert value is None or low <= value <= high, offer.id
            if price.cached_input_per_mtok is not None and price.input_per_mtok is not None:
                assert price.cached_input_per_mtok <= price.input_per_mtok, offer.id


def test_the_frontier_offers_are_those_of_three_makers(catalog: Catalog) -> None:
    frontier = Counter(offer.provider for offer in catalog.offers.values() if offer.is_frontier_baseline)
    assert set(frontier) == {"anthropic", "google", "openai"}
    assert min(frontier.values()) > 20


def test_service_tiers_show_in_the_id(catalog: Catalog) -> None:
    for offer in catalog.offers.values():
        if "#" in offer.id:
            base, _, tier = offer.id.partition("#")
            assert tier == offer.service_tier, offer.id
            if base in catalog.offers:
                assert catalog.offers[base].weights_class == offer.weights_class, offer.id


def test_a_batch_tier_costs_less_than_its_standard_tier(catalog: Catalog) -> None:
    siblings = 0
    for offer in catalog.offers.values():
        batch = catalog.batch_offer(offer)
        if batch is None:
            continue
        siblings += 1
        standard_price, batch_price = effective_price(offer, TODAY), effective_price(batch, TODAY)
        assert standard_price is not None
        assert batch_price is not None
        assert batch_price.input_usd_per_mtok < standard_price.input_usd_per_mtok, offer.id
        assert batch_price.output_usd_per_mtok < standard_price.output_usd_per_mtok, offer.id
    assert siblings > 40


@pytest.mark.parametrize(
    "weights_class", ["kimi-k3", "kimi-k3.1", "deepseek-v4-pro", "glm-5.2", "gpt-oss-120b", "kimi-k2.5"]
)
def test_served_models_have_an_alternative(catalog: Catalog, weights_class: str) -> None:
    chosen = default_alternative(catalog, weights_class, on=TODAY)
    assert chosen is not None
    assert (chosen.weights_class, chosen.service_tier) == (weights_class, "standard")
    assert chosen.channel in ("maker", "host")


# Workloads -----------------------------------------------------------------------------------------------------------


def test_profiles_have_the_peak_of_their_source(catalog: Catalog) -> None:
    # weights average 1, so the largest is the peak to mean ratio
    peaks = {name: max(profile.weights) for name, profile in catalog.profiles.items()}
    assert peaks["flat"] == 1.0
    assert peaks["office-hours"] == pytest.approx(3.3, abs=1e-3)  # Azure coding trace, eye-read
    assert peaks["global"] == pytest.approx(1.226, abs=1e-3)  # DeepSeek: 278 / 226.75 nodes
    assert pytest.approx(1.226, abs=5e-4) == 278 / 226.75
    for profile in catalog.profiles.values():
        assert math.fsum(profile.weights) == pytest.approx(168, abs=1e-9)
        assert profile.kind == "assumption"
    office = catalog.profiles["office-hours"].weights
    # weekday peak 12 times the night, weekend a fifth of the weekday
    assert max(office[:24]) / min(office[:24]) == pytest.approx(12, rel=0.01)
    assert max(office[120:144]) / max(office[:24]) == pytest.approx(0.2, rel=0.01)


def test_presets(catalog: Catalog) -> None:
    bench = catalog.presets["benchmark-8k-1k"]
    assert (bench.input_tokens, bench.output_tokens, bench.cached_share) == (8192, 1024, 0.0)
    agent = catalog.presets["coding-agent"]
    # about 2,048 new tokens of 75,000: 1 - 2,048 / 75,000 = 0.9727
    assert agent.cached_share == pytest.approx(1 - 2048 / 75_000, abs=0.005)
    for preset in catalog.presets.values():
        assert preset.accepted_tokens_per_step <= 4.73, preset.id


# Upkeep --------------------------------------------------------------------------------------------------------------


def test_opex_has_what_the_model_reads(catalog: Catalog) -> None:
    keys = (
        "colocation_usd_per_kw_month electricity_usd_per_kwh pue staff_usd_per_year support_share_per_year "
        "spares_share loan_rate discount_rate network_share_of_capex goodput_share gpu_failure_per_year "
        "useful_life_years api_price_change_per_year utilization availability demand_growth_per_year"
    )
    assert set(keys.split()) <= set(catalog.opex)
    shares = [catalog.opex[f"residual_share_after_{year}y"].value for year in range(1, 6)]
    assert shares == [0.62, 0.43, 0.30, 0.17, 0.12]
    for name, figure in catalog.opex.items():
        if figure.unit.startswith("fraction"):
            assert -1 <= figure.value <= 1, f"{name} is a percentage, not a fraction"
    assert catalog.opex["api_price_change_per_year"].kind == "assumption"


def test_words_of_doubt_are_kept(catalog: Catalog) -> None:
    rows = list(figures(catalog))
    assert "unverified" in catalog.models["deepseek-v4-pro"].active_params.note
    dgx = catalog.systems["dgx-b300-8"].hardware_usd
    assert dgx is not None
    assert "unverified" in dgx.note
    kinds = Counter(row.kind for row in rows)
    assert kinds["estimate"] > 50
    assert kinds["assumption"] > 10
    assert "read the licence" in catalog.models["kimi-k3"].licence_note.lower()


def test_no_text_of_data_names_a_machine_of_its_authors() -> None:
    files = [file for file in DATA.rglob("*") if file.suffix in (".toml", ".csv")]
    pattern = re.compile(r"(?<![\w.])/(?:work|tmp|root|home|opt)/")
    for file in files:
        assert not pattern.search(file.read_text(encoding="utf-8")), file.name


PUBLISHED = {"2026-11-29": (575, "c0b7b83afc3e18817d9b26c87c53d701b22ff3b64741fe6f0a153c4b0114be12")}
"""Release -> lines of offers.csv at that release and their SHA-256."""


@pytest.mark.parametrize("release", PUBLISHED)
def test_published_prices_are_only_ever_added_to(release: str) -> None:
    lines, digest = PUBLISHED[release]
    kept = "".join(Path(DATA / "offers.csv").read_text(encoding="utf-8").splitlines(keepends=True)[:lines])
    assert hashlib.sha256(kept.encode()).hexdigest() == digest, (
        f"a price published on {release} was edited; add a row at the end with a later date in 'checked' instead"
    )
