"""The comparison with aiconfigurator, without the package: what it is asked, and what is said of its answers."""

import math
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from calculators import compare_aiconfigurator as aic
from calculators.catalog import Catalog, load_catalog
from calculators.measurements import Point, Skipped, Unusable, parse_rows
from calculators.memory import Layout
from calculators.throughput import Plan, Pool


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="module")
def points(catalog: Catalog) -> dict[str, Point]:
    return {p.id: p for p in parse_rows(catalog.measurements["k3_measured"], catalog)[0]}


def test_a_shared_pool_is_asked_as_measured(points: dict[str, Point]) -> None:
    # k3-002: 8 x B300, SGLang, TP8, 8192 in, 1024 out, 16 requests in flight, no draft
    asked = aic.question(points["k3-002"], 1.0)
    assert asked["model_path"] == "moonshotai/Kimi-K3"
    assert (asked["system_name"], asked["backend_name"], asked["mode"]) == ("b300_sxm", "sglang", "agg")
    assert (asked["isl"], asked["osl"], asked["prefix"], asked["batch_size"]) == (8192, 1024, 0, 16)
    assert (asked["tp_size"], asked["pp_size"], asked["moe_tp_size"], asked["moe_ep_size"]) == (8, 1, 8, 1)
    assert asked["moe_quant_mode"] is None
    assert "nextn" not in asked


def test_precision_and_cached_input_are_passed_on(points: dict[str, Point]) -> None:
    assert aic.question(points["k3-006"], 1.0)["moe_quant_mode"] == "nvfp4"
    # k3-167: 219,000 tokens of which 2.7 % were cached = 5,913
    assert aic.question(points["k3-167"], 1.0)["prefix"] == 5913


def test_the_batch_is_one_stage_of_one_rank(points: dict[str, Point]) -> None:
    # k3-146: TP8 x PP2, 128 in flight: 64 a stage. Experts cut by tp: 8 x 1. k3-151 spreads them over 8 ranks: 1 x 8.
    plain, spread = aic.question(points["k3-146"], 1.0), aic.question(points["k3-151"], 1.0)
    assert (plain["batch_size"], plain["moe_tp_size"], plain["moe_ep_size"]) == (64, 8, 1)
    assert (spread["batch_size"], spread["moe_tp_size"], spread["moe_ep_size"]) == (32, 1, 8)
    # 4 attention ranks of TP2: the experts must cover 8 devices either way, and 10 requests are 3 a rank, rounded up
    ranks = Plan(Pool(Layout(tp=2, dp=4, ep=8)))
    asked = aic.question(replace(points["k3-002"], plan=ranks, concurrency=10.0), 1.0)
    assert asked["batch_size"] == 3
    assert asked["moe_tp_size"] * asked["moe_ep_size"] == asked["tp_size"] * asked["attention_dp_size"] == 8


def test_drafts_are_counted_without_the_bonus_token(points: dict[str, Point]) -> None:
    # k3-115: a block of 7 drafts, 4.49 tokens a step with the bonus token: 3.49 accepted drafts of 7
    asked = aic.question(points["k3-115"], 4.49)
    assert asked["nextn"] == 7
    assert asked["nextn_accepted"] == pytest.approx(3.49)


@pytest.mark.parametrize(
    ("row", "change", "reason"),
    [
        ("k3-160", {}, "no tables for mi355x"),
        ("k3-019", {}, "separate pools"),
        ("k3-009", {}, "decode-context parallelism"),
        ("k3-002", {"concurrency": math.nan}, "concurrency is not stated"),
        ("k3-002", {"engine": "atom"}, "engine atom"),
        ("k3-002", {"precision": "int4"}, "precision int4"),
        ("k3-002", {"model_id": "glm-5"}, "model glm-5"),
        ("k3-002", {"suspect": "dummy weights"}, "dummy weights"),
    ],
)
def test_what_cannot_be_asked_says_why(points: dict[str, Point], row: str, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        aic.question(replace(points[row], **change), 1.0)


def test_unknown_acceptance_is_not_asked(points: dict[str, Point]) -> None:
    with pytest.raises(Unusable, match="accepted tokens"):
        aic.question(points["k3-115"], math.nan)


def test_comparison_keeps_failures_and_reasons(catalog: Catalog) -> None:
    wanted = {"k3-001", "k3-002", "k3-006", "k3-009"}
    rows = [r for r in catalog.measurements["k3_measured"] if r["id"] in wanted]

    def estimate(**asked: Any) -> SimpleNamespace:
        if asked["moe_quant_mode"] == "nvfp4":
            raise KeyError("no such table")
        warning = "cache is\nfull" if asked["batch_size"] == 16 else None
        return SimpleNamespace(tokens_per_second=100.0 * asked["batch_size"], kv_cache_warning=warning)

    compared, skipped = aic.compare(rows, catalog, estimate)
    assert [s.id for s in skipped] == ["k3-009"]
    one, sixteen, failed = compared
    assert (one.id, one.theirs_tokens_per_s, one.why) == ("k3-001", 100.0, "")
    assert (sixteen.theirs_tokens_per_s, sixteen.why) == (1600.0, "cache is full")
    assert failed.theirs_tokens_per_s is None
    assert failed.why == "KeyError: 'no such table'"
    # measured 113 tokens per second: 100 / 113 - 1 = -11.5 %
    assert one.error(one.theirs_tokens_per_s) == pytest.approx(100 / 113 - 1)
    assert failed.error(failed.theirs_tokens_per_s) is None
    # ours must not lean on the row itself: the neighbours leave an error, and constants alone another
    assert one.ours_tokens_per_s != one.measured_tokens_per_s
    assert one.ours_tokens_per_s != one.constants_alone_tokens_per_s
    text = aic.table(compared, skipped)
    assert "| k3-001 | b300_sxm, sglang, TP8 | 1 | 113 |" in text
    assert "-12%" in text
    assert "unknown | unknown |" in text
    assert "over the 2 rows" in text
    assert "decode-context parallelism has no argument: k3-009" in text
    assert "nan" not in text
    # only as many as asked for
    assert len(aic.compare(rows, catalog, estimate, limit=1)[0]) == 1


def test_another_concurrency_than_the_measured_one_is_told(catalog: Catalog) -> None:
    # k3-138: one request on two pipeline stages; the package fills both
    rows = [r for r in catalog.measurements["k3_measured"] if r["id"] in ("k3-138", "k3-139")]
    compared, _ = aic.compare(rows, catalog, lambda **_: SimpleNamespace(tokens_per_second=109.0, concurrency=2))
    assert [row.why for row in compared] == ["priced with 2 requests in flight.", ""]


def test_answers_that_are_no_throughput_are_unknown(catalog: Catalog) -> None:
    rows = [r for r in catalog.measurements["k3_measured"] if r["id"] == "k3-002"]
    for value in (0.0, math.nan, math.inf):
        compared, _ = aic.compare(rows, catalog, lambda v=value, **_: SimpleNamespace(tokens_per_second=v))
        assert compared[0].theirs_tokens_per_s is None
        assert "No row was priced by all three" in aic.table(compared, [Skipped("a", "b")])


def test_without_the_package_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "aiconfigurator", None)
    assert aic.main([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "pip install -e '.[aic]'" in said.err


def test_a_release_without_the_function_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("aiconfigurator", "aiconfigurator.cli", "aiconfigurator.cli.api"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    with pytest.raises(aic.MissingPackage, match="has no cli_estimate"):
        aic.load_estimate()


def test_main_prints_the_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(aic, "load_estimate", lambda: lambda **_: SimpleNamespace(tokens_per_second=113.0))
    assert aic.main(["--limit", "1"]) == 0
    # the first row of the file measured 113
    assert "| k3-001 |" in capsys.readouterr().out


def test_a_limit_below_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        aic.main(["--limit", "0"])
    assert "'0' is no whole number of rows from 1" in capsys.readouterr().err
