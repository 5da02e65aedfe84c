"""Validation of measured files: both layouts, reasons for skipped rows, no row anchored on itself."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calculators import memory as mem
from calculators import validate
from calculators.calibration import load_calibration, measurement_rows
from calculators.catalog import load_catalog
from calculators.measurements import Point, Unusable, number, parse_layout, parse_row, parse_rows, read_csv
from calculators.memory import Layout
from calculators.throughput import Constants, Plan, Pool, operate
from calculators.validate import (
    Prediction,
    Reference,
    accepted_tokens,
    calibrated_constants,
    compiled_of,
    concurrency_of,
    predict,
    references,
    shape_of,
    validate_rows,
)
from calculators.validate import _rate_at_speed as rate_at_speed

CATALOG = load_catalog()
DATA = Path(__file__).resolve().parents[2] / "data" / "measurements"
K3_ROWS = read_csv(DATA / "k3_measured.csv")
OTHER_ROWS = read_csv(DATA / "other_measured.csv")


def row(ident: str) -> dict[str, str]:
    return dict(next(r for r in (*K3_ROWS, *OTHER_ROWS) if r["id"] == ident))


def only(result: dict[str, object]) -> dict[str, object]:
    rows = result["rows"]
    assert isinstance(rows, list)
    assert len(rows) == 1, result
    return dict(rows[0])


def why(result: dict[str, object]) -> str:
    summary = result["summary"]
    assert isinstance(summary, dict)
    assert len(summary["skipped"]) == 1
    return str(summary["skipped"][0]["why"])


def test_shape_of_the_answer() -> None:
    result = validate_rows(DATA / "k3_measured.csv", CATALOG)
    assert set(result) == {"rows", "summary"}
    assert set(result["summary"]) == {"n", "mape", "median_ape", "p90_ape", "by_hardware", "skipped"}
    for r in result["rows"]:
        assert {"id", "measured_output_tokens_per_s", "predicted_output_tokens_per_s", "error", "evidence"} <= set(r)
        assert r["error"] == pytest.approx(r["predicted_output_tokens_per_s"] / r["measured_output_tokens_per_s"] - 1)
    assert result["summary"]["n"] + len(result["summary"]["skipped"]) == len(K3_ROWS)
    json.dumps(result, allow_nan=False)


def test_summary_by_hand() -> None:
    result = validate_rows([row("k3-001"), row("k3-009"), row("k3-160")], CATALOG)
    errors = sorted(abs(r["error"]) for r in result["rows"])
    assert result["summary"]["n"] == 3
    assert result["summary"]["mape"] == pytest.approx(sum(errors) / 3)
    assert result["summary"]["median_ape"] == pytest.approx(errors[1])
    assert result["summary"]["p90_ape"] == pytest.approx(errors[1] + 0.8 * (errors[2] - errors[1]))
    assert set(result["summary"]["by_hardware"]) == {"b300_sxm", "mi355x"}
    assert result["summary"]["by_hardware"]["b300_sxm"]["n"] == 2


def test_no_row_is_anchored_on_itself() -> None:
    """A perfect score would be a fake one: the row's own point, also under another id, is left out."""
    result = only(validate_rows([row("k3-009")], CATALOG))
    assert result["anchor"] != "k3-009"
    assert abs(float(str(result["error"]))) > 1e-6
    renamed = only(validate_rows([{**row("k3-009"), "id": "mine"}], CATALOG))
    assert renamed["predicted_output_tokens_per_s"] == pytest.approx(result["predicted_output_tokens_per_s"])
    assert renamed["anchor"] != "k3-009"


def test_a_wrong_measurement_shows_as_a_wrong_measurement() -> None:
    """Doubling what a row claims to have measured leaves the prediction where it was."""
    honest = only(validate_rows([row("k3-158")], CATALOG))
    doubled = only(
        validate_rows([{**row("k3-158"), "id": "x", "out_tok_s_total": "1001.8", "out_tok_s_per_gpu": ""}], CATALOG)
    )
    assert doubled["predicted_output_tokens_per_s"] == pytest.approx(honest["predicted_output_tokens_per_s"], rel=0.2)
    assert float(str(doubled["error"])) < -0.3


def test_accuracy_of_the_shipped_files() -> None:
    """Targets of the project, with every point left out of its own anchors."""
    k3 = validate_rows(DATA / "k3_measured.csv", CATALOG)
    calibrated = {"b300_sxm", "gb300", "mi355x", "b200_sxm"}
    errors = sorted(abs(r["error"]) for r in k3["rows"] if r["hardware"] in calibrated and "note" not in r)
    assert sum(errors) / len(errors) <= 0.12
    assert errors[int(0.9 * len(errors))] <= 0.25
    other = validate_rows(DATA / "other_measured.csv", CATALOG)
    assert other["summary"]["mape"] <= 0.20


def test_speed_per_user_stands_in_for_a_concurrency() -> None:
    """GB300 points give 1000 / TPOT: the answer is what the pools do where each user sees that speed."""
    slow, fast = row("k3-041"), row("k3-022")
    result = {r["id"]: r for r in validate_rows([slow, fast], CATALOG)["rows"]}
    assert result["k3-041"]["predicted_output_tokens_per_s"] > 3 * result["k3-022"]["predicted_output_tokens_per_s"]
    assert abs(result["k3-041"]["error"]) < 0.25


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"layout": ""}, "layout is not stated"),
        ({"layout": "not stated per point"}, "layout is not stated"),
        ({"layout": "some mix"}, "not understood"),
        ({"gpus": ""}, "number of accelerators is not stated"),
        ({"gpus": "16"}, "uses 8 accelerators, the row says 16"),
        ({"hardware": "Cray-1"}, "is not in the catalogue"),
        ({"hardware": "serverless: Someone"}, "not a machine"),
        ({"isl": ""}, "lengths are not stated"),
        ({"osl": "1"}, "prefill only"),
        ({"precision": "Q2_K GGUF"}, "precision"),
        ({"layout": "TP8 + HiCache (host KV tier)"}, "host memory"),
        ({"out_tok_s_total": "", "out_tok_s_per_gpu": "", "total_tok_s_per_gpu": ""}, "no measured throughput"),
        ({"concurrency": "", "tok_s_per_user": "", "tpot_ms": ""}, "neither concurrency nor a speed"),
        ({"spec": "a new draft"}, "are not stated"),
        ({"isl": "abc"}, "isl 'abc' is no number"),
        ({"isl": "-5"}, "isl '-5' is out of bounds: above 0 up to 1,000,000,000"),
        ({"osl": "-5,0"}, "osl '-5,0' is out of bounds: above 0"),
        ({"osl": "0"}, "osl '0' is out of bounds: above 0"),
        # 698 tokens/s stand in the next column: a broken figure is not replaced by it.
        ({"out_tok_s_total": "NaN", "out_tok_s_per_gpu": "87.2"}, "out_tok_s_total 'NaN' is no finite number"),
        ({"out_tok_s_total": "Infinity", "out_tok_s_per_gpu": "87.2"}, "'Infinity' is no finite number"),
        ({"out_tok_s_total": "1e309"}, "out_tok_s_total '1e309' is no finite number"),
        ({"out_tok_s_total": "fast"}, "out_tok_s_total 'fast' is no number"),
        ({"concurrency": "many"}, "concurrency 'many' is no number"),
        ({"tpot_ms": "-8.5"}, "tpot_ms '-8.5' is out of bounds"),
    ],
)
def test_unusable_rows_are_listed_with_why(change: dict[str, str], reason: str) -> None:
    result = validate_rows([{**row("k3-001"), **change}], CATALOG)
    assert result["rows"] == []
    assert result["summary"]["n"] == 0
    assert result["summary"]["mape"] is None
    assert reason in why(result)


def test_rows_of_the_other_layout() -> None:
    result = only(validate_rows([row("o-0012")], CATALOG))
    # 88.6 output tokens/s per GPU on 8 GPUs.
    assert result["measured_output_tokens_per_s"] == pytest.approx(88.599645 * 8)
    assert result["hardware"] == "mi355x"
    assert "layout is not stated" in why(validate_rows([{**row("o-0012"), "decode_tp": ""}], CATALOG))
    assert "accelerators is not stated" in why(validate_rows([{**row("o-0012"), "gpus": ""}], CATALOG))


def test_output_of_separate_pools_is_per_decode_accelerator() -> None:
    """Dynamo rows divide output by decode GPUs and the total by all: 1,661.03 x 16 = 2,214.64 x 24 / 2."""
    r = row("o-0189")
    assert float(r["out_tok_s_per_gpu"]) * 16 == pytest.approx(float(r["total_tok_s_per_gpu"]) * 24 / 2, rel=1e-3)
    point = parse_row(r, CATALOG)
    assert point.output_tokens_per_s == pytest.approx(float(r["out_tok_s_per_gpu"]) * 16)
    assert point.devices == 24


def test_total_throughput_counts_input_too() -> None:
    """A row with only total_tok_s_per_gpu: 1,395 x 8 x 1,024 / 9,216 = 1,240."""
    r = {**row("k3-009"), "out_tok_s_total": "", "out_tok_s_per_gpu": ""}
    assert parse_row(r, CATALOG).output_tokens_per_s == pytest.approx(1395 * 8 / 9)


def test_requests_beyond_the_admission_cap_are_no_load() -> None:
    """k3-166 offers 256 requests to an engine that admits 64."""
    assert parse_row(row("k3-166"), CATALOG).concurrency == 64


def test_marked_rows_carry_their_mark() -> None:
    result = only(validate_rows([row("o-1933")], CATALOG))
    assert "untuned" in str(result["note"])


def test_layouts_as_people_write_them() -> None:
    assert parse_layout("TP8xPP2, EP off") == Plan(Pool(Layout(tp=8, pp=2)))
    assert parse_layout("TP8xPP2 + EP, max_num_seqs 256") == Plan(Pool(Layout(tp=8, pp=2, ep=8)))
    assert parse_layout("TP8+DCP8") == Plan(Pool(Layout(tp=8, dcp=8)))
    assert parse_layout("DEP4") == Plan(Pool(Layout(dp=4, ep=4)))
    two = parse_layout("2xPP8 -> DCP8 dp4 EP32")
    assert two.prefill == Pool(Layout(pp=8), 2)
    assert two.decode == Pool(Layout(tp=8, dp=4, ep=32, dcp=8))
    assert two.devices == 48
    with pytest.raises(Unusable):
        parse_layout("")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8192", 8192.0),
        ("1,024", 1024.0),
        ("AgentX traces (p50 142k, mean 219k)", 219_000.0),
        ("p50 444, mean 1077", 1077.0),
        ("75.0% (prefix 1920)", 75.0),
        ("<=10240", 10240.0),
        ("~100k", 100_000.0),
    ],
)
def test_numbers_in_cells(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "swept", "not stated", "nan", "inf", None])
def test_cells_without_a_number(text: str | None) -> None:
    assert math.isnan(number(text))


def test_files_from_other_tools(tmp_path: Path) -> None:
    """Byte-order mark, CRLF, blank lines, ragged and nonsense rows: each row is read or listed, never a traceback."""
    header = ",".join(K3_ROWS[0])
    good = ",".join(f'"{v}"' for v in row("k3-001").values())
    text = "\ufeff" + header + "\r\n" + good + "\r\n\r\n1,2,3\r\n" + ",".join(["=cmd()"] * 60) + "\r\n"
    path = tmp_path / "mine.csv"
    path.write_bytes(text.encode("utf-8"))
    result = validate_rows(path, CATALOG)
    assert result["summary"]["n"] == 1
    assert len(result["summary"]["skipped"]) == 2
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("change", [{"isl": "abc"}, {"osl": "-1"}, {"out_tok_s_per_gpu": "inf"}, {"gpus": "eight"}])
def test_cells_of_the_other_layout_are_read_as_strictly(change: dict[str, str]) -> None:
    (column, cell), *_ = change.items()
    assert why(validate_rows([{**row("o-0012"), **change}], CATALOG)).startswith(f"{column} '{cell}' is ")


def test_an_open_figure_is_not_a_wrong_one() -> None:
    """'not stated (swept)', '-' and nothing leave a figure open; the row is read without it."""
    for words in ("", "not stated (swept)", "n/a", "-", "None"):
        point = parse_row({**row("k3-001"), "ttft_ms": words, "concurrency": words}, CATALOG)
        assert math.isnan(point.ttft_s)
        assert math.isnan(point.concurrency)


def test_a_file_without_known_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for header in ("a,b", "id,hardware,gpus,layout,isl,osl", "id,hardware,gpus,layout,isl,out_tok_s_total"):
        path.write_text(header + "\n1,2\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"neither known layout\. It needs gpus, hardware, id, isl, layout, osl"):
            validate_rows(path, CATALOG)
    path.write_text("id,hardware,gpus,layout,isl,osl,out_tok_s_total\n", encoding="utf-8")
    assert validate_rows(path, CATALOG)["summary"]["n"] == 0  # known columns, no rows yet
    assert "neither known layout" in why(validate_rows([{"a": "1", "b": "2"}], CATALOG))
    empty = tmp_path / "empty.csv"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="no header row"):
        validate_rows(empty, CATALOG)
    with pytest.raises(ValueError, match="cannot be read"):
        validate_rows(tmp_path / "missing.csv", CATALOG)


def test_a_machine_of_the_catalogue_without_measurements() -> None:
    """MI350X has no point of its own: predicted with its class's constants, and says so."""
    result = only(validate_rows([{**row("k3-158"), "id": "new", "hardware": "MI350X"}], CATALOG))
    assert result["evidence"] in ("modelled", "class")
    assert result["anchor"] is None


def test_system_ids_are_machine_names_too() -> None:
    result = only(validate_rows([{**row("k3-001"), "id": "new", "hardware": "hgx-b300-8"}], CATALOG))
    assert result["hardware"] == "b300_sxm"


def test_every_shipped_row_is_read_or_explained() -> None:
    rows = measurement_rows()
    points, skipped = parse_rows(rows, CATALOG)
    assert len(points) + len(skipped) == len(rows)
    assert all(s.why for s in skipped)
    assert len(points) > 1200
    assert load_calibration().summary["n"] <= len(points)


def test_nonsense_in_any_cell_is_listed_never_a_traceback() -> None:
    """A thousand real rows with one to four cells replaced by what people and tools put there."""
    rng = random.Random(1)
    nonsense = ["", "-5", "0", "1e309", "1e300", "nan", "-inf", "abc", "TP0", "TP999", "8x", "TP8->", "->", "{}"]
    rows = []
    for i in range(1000):
        changed = dict(rng.choice(K3_ROWS if i % 2 else OTHER_ROWS[:200])) | {"id": f"f{i}"}
        for column in rng.sample([c for c in changed if c != "id"], rng.randint(1, 4)):
            changed[column] = rng.choice(nonsense)
        rows.append(changed)
    result = validate_rows(rows, CATALOG)
    assert result["summary"]["n"] + len(result["summary"]["skipped"]) == 1000
    assert all(s["why"] for s in result["summary"]["skipped"])
    json.dumps(result, allow_nan=False)


# ------------------------------------------------------------------------------------ rows that contradict themselves


@pytest.mark.parametrize(
    ("total", "per_gpu", "told"),
    [
        ("113.0", "14.1", None),  # 112.8, rounded
        ("46.1", "5.8", None),  # 46.4: the half digit of 5.8 is 0.4 on eight
        ("100", "12.5", None),
        ("100", "12.7", None),  # 101.6
        ("100", "12.25", None),  # 98: two per cent
        ("100", "13", None),  # 104: the half unit of a whole number is 4 on eight
        ("100", "12.80", "= 102.4"),
        ("100", "12.1", "= 96.8"),
        ("1000", "14.1", "= 112.8"),
        ("113.0", "113.0", "= 904"),
        ("", "14.1", None),
        ("113.0", "", None),
        ("113.0", "not stated", None),
    ],
)
def test_a_total_that_is_not_its_share_times_the_accelerators_is_told(total: str, per_gpu: str, told: str | None):
    changed = {**row("k3-001"), "id": "mine", "out_tok_s_total": total, "out_tok_s_per_gpu": per_gpu}
    result = validate_rows([changed], CATALOG)
    if told is None:
        assert result["summary"]["skipped"] == []
        return
    assert result["rows"] == []
    (skipped,) = result["summary"]["skipped"]
    assert skipped["id"] == "mine"
    assert f"out_tok_s_total {total} contradicts out_tok_s_per_gpu {per_gpu} x 8 accelerators {told}" in skipped["why"]
    assert "correct one of them or leave it empty" in skipped["why"]


def test_output_per_decode_accelerator_is_no_contradiction():
    """Separate pools: 2 x 8 for prefill, 32 for decode; the output may be per accelerator of all or of decode only."""
    pools = {**row("k3-001"), "id": "m", "layout": "2xPP8 -> DCP8 dp4 EP32", "gpus": "48", "out_tok_s_total": "9600"}
    for per_gpu in ("200", "300"):
        assert parse_row({**pools, "out_tok_s_per_gpu": per_gpu}, CATALOG).output_tokens_per_s == 9600
    with pytest.raises(Unusable, match="x 48 accelerators = 12000"):
        parse_row({**pools, "out_tok_s_per_gpu": "250"}, CATALOG)


def test_the_other_layout_contradicts_itself_too():
    changed = {**row("o-0012"), "out_tok_s_total": "5000"}
    assert "out_tok_s_total 5000 contradicts out_tok_s_per_gpu" in why(validate_rows([changed], CATALOG))
    assert validate_rows([{**row("o-0012"), "out_tok_s_total": "708.8"}], CATALOG)["summary"]["n"] == 1
    pools = row("o-0189")
    total = float(pools["out_tok_s_per_gpu"]) * 16
    assert parse_row({**pools, "out_tok_s_total": str(total)}, CATALOG).devices == 24


# --------------------------------------------------------------------------------------------------------------- dates


@pytest.mark.parametrize(
    ("cell", "date"),
    [
        ("2026-09-03", "2026-09-03"),
        ("2026-9-3", "2026-09-03"),
        ("2026/09/03", "2026-09-03"),
        ("2026-09-03T12:00:00Z", "2026-09-03"),
        ("20260903", "2026-09-03"),
        ("20260903-120000", "2026-09-03"),
        ("2026-09-03 (blog)", "2026-09-03"),
        ("2026-09-03, rerun", "2026-09-03"),
        ("2026-09", "2026-09"),
        ("2026", "2026"),
        ("2026 (undated)", "2026 (undated)"),
        ("2025/2026 (doc, undated)", "2025/2026 (doc, undated)"),
        ("2024-02-29", "2024-02-29"),
        ("", ""),
        ("  ", ""),
        ("not stated", ""),
        ("n/a", ""),
        ("undated", ""),
    ],
)
@pytest.mark.parametrize("ident", ["k3-001", "o-0012"])
def test_dates_as_people_and_tools_write_them(ident: str, cell: str, date: str):
    assert parse_row({**row(ident), "date": cell}, CATALOG).date == date


@pytest.mark.parametrize(
    "cell",
    [
        "yesterday",
        "2026-13-40",
        "2026-02-30",
        "2026-00",
        "2026-06-311",
        "20261340",
        "1999-01-01",
        "12",
        "June 2026",
        "3.9.2026",
    ],
)
@pytest.mark.parametrize("ident", ["k3-001", "o-0012"])
def test_a_date_that_is_none_is_told(ident: str, cell: str):
    result = validate_rows([{**row(ident), "id": "mine", "date": cell}], CATALOG)
    assert result["rows"] == []
    (skipped,) = result["summary"]["skipped"]
    assert skipped["id"] == "mine"
    assert skipped["why"] == (f"date '{cell}' is no date: write 2026-09-30, 2026-09 or 2026, or leave the cell empty")


# ------------------------------------------------------------------------------------------- what the other points say

CALIBRATION = load_calibration()
CONSTANTS = calibrated_constants(CALIBRATION)
TARGET = replace(parse_row(row("k3-009"), CATALOG), id="mine")
"""Kimi K3 on eight B300: TP8 with the cache in eight shards, 8,192 + 1,024 tokens, 64 requests in flight."""
TP8 = Layout(tp=8)


def measured(ident: str = "other", faster: float = 1.3, **change: Any) -> Point:
    """Another measurement: the target's, some times as fast and otherwise as changed."""
    return replace(TARGET, id=ident, output_tokens_per_s=faster * TARGET.output_tokens_per_s, **change)


def refs_of(*points: Point) -> dict[tuple[str, str], list[Reference]]:
    return references(points, CATALOG, CALIBRATION, CONSTANTS)


def told(target: Point, *points: Point, **more: Any) -> tuple[float, str, str]:
    """How far the points pull the prediction (logarithm), the evidence, and which point anchors it."""
    found = predict(target, CATALOG, CALIBRATION, refs_of(*points), CONSTANTS, **more)
    bare = predict(target, CATALOG, CALIBRATION, {}, CONSTANTS)
    return math.log(found.output_tokens_per_s / bare.output_tokens_per_s), found.evidence, found.anchor_id


def own_ratio(point: Point) -> float:
    """Logarithm of measured / predicted of a point."""
    ((ref,),) = refs_of(point).values()
    return ref.log_rate_ratio


@pytest.mark.parametrize(
    ("change", "strength", "evidence"),
    [
        ({}, 1.0, "measured"),
        ({"concurrency": 67.0}, 1.0, "measured"),
        ({"concurrency": 75.0}, 1.0, "interpolated"),
        ({"concurrency": 90.0}, 1.0, "modelled"),
        ({"engine": "vllm"}, 0.3, "class"),
        ({"precision": "nvfp4"}, 0.5, "interpolated"),
        ({"arm": "b"}, 0.6, "interpolated"),
        ({"engine": "vllm", "arm": "b"}, 0.18, "class"),
        ({"plan": Plan(Pool(TP8))}, 0.6, "interpolated"),
        ({"plan": Plan(Pool(Layout(tp=4, dp=2)))}, 0.3, "modelled"),
        ({"plan": Plan(Pool(Layout(tp=8, pp=2, dcp=8)))}, 0.3, "modelled"),
        ({"plan": Plan(Pool(Layout(tp=8, ep=8, dcp=8)))}, 0.3, "modelled"),
        ({"plan": Plan(Pool(Layout(tp=8, dcp=8), 2))}, 0.3, "modelled"),
    ],
)
def test_a_point_pulls_by_how_like_its_configuration_is(change: dict[str, Any], strength: float, evidence: str):
    other = measured(**change)
    pull, level, anchor = told(TARGET, other)
    assert pull / own_ratio(other) == pytest.approx(strength, abs=1e-6)
    assert (level, anchor) == (evidence, "other")


@pytest.mark.parametrize(
    "change",
    [
        {"plan": Plan(Pool(Layout(tp=4)), Pool(Layout(tp=4)))},
        {"saturation": True},
        {"input_tokens": 4.1 * TARGET.input_tokens},
        {"output_tokens": TARGET.output_tokens / 4.1},
        {"cached_share": 0.41},
        {"suspect": "marked SUSPECT in its notes"},
        {"suspect": "dummy weights"},
        {"suspect": "intermediate state of the software"},
        {"concurrency": math.nan, "tpot_s": math.nan, "user_tokens_per_s": math.nan, "ttft_s": math.nan},
        {"spec": "a new draft", "accepted": math.nan},
    ],
)
def test_points_that_say_nothing_of_a_row(change: dict[str, Any]):
    assert told(TARGET, measured(**change)) == (0.0, told(TARGET, measured(**change))[1], "")


def test_the_same_measurement_under_another_id_is_left_out():
    assert told(TARGET, measured(faster=1.0))[2] == ""
    assert told(TARGET, measured("mine", faster=1.3))[2] == ""
    assert told(TARGET, measured(faster=1.0 + 1e-7))[2] == ""
    assert told(TARGET, measured(faster=1.0 + 1e-5))[2] == "other"
    assert told(TARGET, measured(faster=1.0, input_tokens=8000.0))[2] == "other"
    assert told(TARGET, measured(faster=1.0, engine="vllm"))[2] == "other"


def test_a_shape_further_away_pulls_less():
    pulls = []
    for factor in (1.0, 1.2, 2.0, 3.0):
        other = measured(input_tokens=factor * TARGET.input_tokens)
        pulls.append(told(TARGET, other)[0] / own_ratio(other))
    assert pulls[0] == pytest.approx(1.0)
    assert pulls == sorted(pulls, reverse=True)
    assert 0 < pulls[-1] < 0.3


@pytest.mark.parametrize(
    ("change", "distance"),
    [
        ({"input_tokens": 2 * 8192.0}, 0.5),  # log 2 / log 4
        ({"input_tokens": 8192.0 / 3}, 0.7925),  # log 3 / log 4
        ({"output_tokens": 3 * 1024.0}, 0.7925),
        ({"output_tokens": 1024.0 / 2}, 0.5),
        ({"cached_share": 0.3}, 0.75),  # 0.3 / 0.4
        ({"accepted": 3.0, "spec": "mtp"}, 0.6131),  # log 3 / log 6
        ({"input_tokens": 2 * 8192.0, "output_tokens": 2 * 1024.0}, 0.7071),  # the root of 0.25 + 0.25
        ({"output_tokens": 2 * 1024.0, "cached_share": 0.2, "accepted": 2.0, "spec": "mtp"}, 0.8059),
    ],
)
def test_how_much_less_a_shape_pulls_by_hand(change: dict[str, Any], distance: float):
    """(1 - d^2)^3 at a distance of 0 to 1; the last one is the root of 0.25 + 0.25 + (log 2 / log 6)^2 = 0.1497."""
    other = measured(**change)
    assert told(TARGET, other)[0] / own_ratio(other) == pytest.approx((1 - distance**2) ** 3, abs=2e-4)


def test_between_two_points_of_a_series_the_ratio_is_interpolated():
    low, high = measured("low", 1.1, concurrency=32.0), measured("high", 1.5, concurrency=128.0)
    pull, level, anchor = told(TARGET, low, high)
    # 64 lies in the middle of 32 and 128 on the logarithm
    assert pull == pytest.approx((own_ratio(low) + own_ratio(high)) / 2)
    assert (level, anchor in ("low", "high")) == ("interpolated", True)
    beyond, level, anchor = told(replace(TARGET, concurrency=256.0), low, high)
    assert beyond == pytest.approx(own_ratio(high))
    assert (level, anchor) == ("modelled", "high")


def test_of_several_dates_the_nearest_speaks():
    old, new = measured("old", 1.1, date="2025-01-01"), measured("new", 1.5, date="2026-08-30")
    assert told(TARGET, old, new)[0] == pytest.approx(own_ratio(new))
    assert told(replace(TARGET, date="2025-02-01"), old, new)[0] == pytest.approx(own_ratio(old))
    months = measured("old", 1.1, date="2026-03"), measured("new", 1.5, date="2026-08")
    assert told(replace(TARGET, date="2026-04-20"), *months)[0] == pytest.approx(own_ratio(months[0]))


def test_points_may_be_kept_from_anchoring():
    a, b = measured("a", 1.1), measured("b", 1.5, concurrency=128.0)
    assert told(TARGET, a, b, anchored=False) == (0.0, "modelled", "")
    assert told(TARGET, a, b, without=lambda p: p.id == "a")[2] == "b"


def test_evidence_without_a_point_of_the_model():
    assert predict(TARGET, CATALOG, CALIBRATION, {}, CONSTANTS).evidence == "class"
    far = measured(input_tokens=5 * TARGET.input_tokens)
    assert told(TARGET, far)[1] == "modelled"
    elsewhere = replace(TARGET, accelerator_id="h100_sxm", class_id="no such class")
    assert predict(elsewhere, CATALOG, CALIBRATION, {}, CONSTANTS).evidence == "uncalibrated"


def test_drafts_of_another_kind_count_half():
    mtp = {"spec": "mtp", "accepted": 2.5}
    target, other = replace(TARGET, **mtp), measured(spec="EAGLE-3", accepted=2.5)
    pull, level, _ = told(target, other)
    assert pull / own_ratio(other) == pytest.approx(0.5)
    assert level == "interpolated"
    same = measured(**mtp)
    assert told(target, same)[0] == pytest.approx(own_ratio(same))


def test_what_a_prediction_lacks_is_named():
    with pytest.raises(ValueError, match="accepted tokens per step of 'a new draft' are not stated"):
        told(replace(TARGET, spec="a new draft", accepted=math.nan))
    nothing = {"concurrency": math.nan, "user_tokens_per_s": math.nan, "tpot_s": math.nan}
    with pytest.raises(ValueError, match="neither concurrency nor a speed per user is stated"):
        told(replace(TARGET, **nothing))


def test_a_speed_per_user_or_per_token_is_the_same_load():
    base = replace(TARGET, concurrency=math.nan)
    by_user = predict(replace(base, tpot_s=math.nan, user_tokens_per_s=25.0), CATALOG, CALIBRATION, {}, CONSTANTS)
    by_token = predict(replace(base, tpot_s=0.04, user_tokens_per_s=math.nan), CATALOG, CALIBRATION, {}, CONSTANTS)
    both = predict(replace(base, tpot_s=9.0, user_tokens_per_s=25.0), CATALOG, CALIBRATION, {}, CONSTANTS)
    assert by_user == by_token == both
    slow = {"tpot_s": math.nan, "user_tokens_per_s": 0.5}, {"tpot_s": 2.0, "user_tokens_per_s": math.nan}
    one, other = (predict(replace(base, **speed), CATALOG, CALIBRATION, {}, CONSTANTS) for speed in slow)
    assert one == other
    faster = predict(replace(base, tpot_s=0.03, user_tokens_per_s=math.nan), CATALOG, CALIBRATION, {}, CONSTANTS)
    assert faster.output_tokens_per_s < by_token.output_tokens_per_s


def test_a_speed_is_an_average_over_the_loads_that_give_it():
    """The load at which the model gives this speed, pulled a little towards 16 requests a worker."""
    at_32 = replace(TARGET, concurrency=32.0)
    rate = predict(at_32, CATALOG, CALIBRATION, {}, CONSTANTS).output_tokens_per_s
    ((ref,),) = refs_of(replace(at_32, id="x")).values()
    speed = at_32.tpot_s / math.exp(ref.log_tpot_ratio)  # what the model itself gives at 32 in flight
    found = predict(replace(TARGET, concurrency=math.nan, tpot_s=speed, user_tokens_per_s=math.nan), CATALOG,
                    CALIBRATION, {}, CONSTANTS)  # fmt: skip
    assert found.output_tokens_per_s == pytest.approx(rate, rel=0.06)


def test_a_reference_holds_measured_over_predicted():
    ((ref,),) = refs_of(measured()).values()
    bare = predict(TARGET, CATALOG, CALIBRATION, {}, CONSTANTS).output_tokens_per_s
    assert ref.log_rate_ratio == pytest.approx(math.log(1.3 * TARGET.output_tokens_per_s / bare))
    assert ref.log_concurrency == pytest.approx(math.log(64))
    assert ref.accepted == 1.0
    without_speed = measured(tpot_s=math.nan, user_tokens_per_s=math.nan)
    ((ref,),) = refs_of(without_speed).values()
    assert ref.log_tpot_ratio == pytest.approx(-ref.log_rate_ratio)


def test_max_load_is_what_memory_holds_up_to_a_bound():
    full = replace(TARGET, saturation=True, concurrency=math.nan)
    ((ref,),) = refs_of(replace(full, id="x")).values()
    held = math.exp(ref.log_concurrency)
    assert 1 <= held <= 1024 * 8
    longer = replace(full, id="x", input_tokens=10 * full.input_tokens)
    ((ref,),) = refs_of(longer).values()
    assert math.exp(ref.log_concurrency) < held


def test_a_row_without_a_mark_has_no_note_and_without_an_anchor_says_none():
    result = only(validate_rows([row("k3-009")], CATALOG, anchored=False))
    assert "note" not in result
    assert result["anchor"] is None
    assert (result["id"], result["model"], result["hardware"]) == ("k3-009", "kimi-k3", "b300_sxm")
    assert result["measured_output_tokens_per_s"] == 1240.0
    assert result["evidence"] in ("modelled", "class")


def test_a_file_is_held_against_the_measured_points_unless_that_is_not_wanted():
    anchored, bare = (only(validate_rows([row("k3-009")], CATALOG, **how)) for how in ({}, {"anchored": False}))
    assert anchored["anchor"] is not None
    assert anchored["predicted_output_tokens_per_s"] != bare["predicted_output_tokens_per_s"]
    assert only(validate_rows([row("k3-009")], CATALOG, anchored=True)) == anchored


def test_a_catalogue_is_parsed_once_and_another_one_anew():
    first = only(validate_rows([row("k3-009")], CATALOG))
    again = only(validate_rows([row("k3-009")], load_catalog()))
    assert first == again


def test_dates_are_compared_across_the_turn_of_a_year():
    old, new = measured("old", 1.1, date="2025-12-20"), measured("new", 1.5, date="2026-03-01")
    assert told(replace(TARGET, date="2026-01-05"), old, new)[0] == pytest.approx(own_ratio(old))
    assert told(replace(TARGET, date="2026-02-20"), old, new)[0] == pytest.approx(own_ratio(new))


def test_an_unstated_load_follows_from_rate_and_speed():
    """Little's law: 1,240 x 1.3 tokens/s of users who wait 40.19 ms a token, and the wait for the first one."""
    open_ = measured(concurrency=math.nan, spec="mtp", accepted=2.5, ttft_s=math.nan)
    ((ref,),) = refs_of(open_).values()
    assert math.exp(ref.log_concurrency) == pytest.approx(open_.output_tokens_per_s * open_.tpot_s, rel=0.5)
    assert math.exp(ref.log_concurrency) >= open_.output_tokens_per_s * open_.tpot_s


# ------------------------------------------------------------------------------- differences, arms and dates together

DRAFT: dict[str, Any] = {"spec": "mtp", "accepted": 2.5}
SPLIT = Plan(Pool(TP8), Pool(Layout(pp=8), 2))
"""Two prefill workers of eight beside one decode worker of eight."""


@pytest.mark.parametrize(
    ("target", "change", "strength"),
    [
        ({}, {"engine": "vllm", "precision": "nvfp4"}, 0.3 * 0.5),
        (DRAFT, {"spec": "EAGLE-3", "engine": "vllm"}, 0.3 * 0.5),
        (DRAFT, {"spec": "EAGLE-3", "precision": "nvfp4"}, 0.5 * 0.5),
        (DRAFT, {"spec": "EAGLE-3", "arm": "b"}, 0.5 * 0.6),
        ({}, {"precision": "nvfp4", "plan": Plan(Pool(TP8))}, 0.5 * 0.6),
        ({}, {"arm": "b", "plan": Plan(Pool(Layout(tp=4, dp=2)))}, 0.6 * 0.3),
        (DRAFT, {"spec": "EAGLE-3", "engine": "vllm", "precision": "nvfp4", "arm": "b"}, 0.3 * 0.5 * 0.5 * 0.6),
        # a draft against none is no other kind of draft: how many tokens it gets accepted says how far they are apart
        ({}, {"spec": "mtp", "accepted": 1.0}, 1.0),
        ({"spec": "mtp", "accepted": 1.0}, {"spec": "none", "accepted": 1.0}, 1.0),
        ({"plan": SPLIT}, {}, 1.0),
        ({"plan": SPLIT}, {"plan": Plan(Pool(Layout(tp=8, dcp=8)), SPLIT.prefill)}, 0.6),
        ({"plan": SPLIT}, {"plan": Plan(Pool(TP8, 2), SPLIT.prefill)}, 0.3),
        ({"plan": SPLIT}, {"plan": Plan(Pool(TP8), Pool(Layout(pp=8)))}, 0.3),
    ],
)
def test_differences_multiply(target: dict[str, Any], change: dict[str, Any], strength: float):
    asked = replace(TARGET, **target)
    other = measured(**{**target, **change})
    assert told(asked, other)[0] / own_ratio(other) == pytest.approx(strength, abs=1e-6)


def test_the_strongest_series_is_the_anchor_and_sets_the_evidence():
    like, unlike = measured("like"), measured("unlike", precision="nvfp4")
    for points in ((like, unlike), (unlike, like)):
        pull, level, anchor = told(TARGET, *points)
        assert (level, anchor) == ("measured", "like")
        assert pull == pytest.approx(own_ratio(like))  # what is the same configuration and shape speaks alone


@pytest.mark.parametrize(
    ("concurrency", "evidence"),
    [(60.0, "measured"), (57.0, "interpolated"), (51.0, "interpolated"), (49.0, "modelled"), (82.0, "interpolated")],
)
def test_how_far_from_a_single_point_it_still_speaks(concurrency: float, evidence: str):
    """Within 10 % it is measured, within 28 % (a quarter on the logarithm) interpolated: 64 / 1.284 = 49.8."""
    assert told(TARGET, measured(concurrency=concurrency))[1] == evidence


def test_the_nearest_point_of_a_series_is_its_anchor():
    # on the logarithm 100 is 0.45 above 64 and 32 is 0.69 below
    low, high = measured("low", 1.1, concurrency=32.0), measured("high", 1.5, concurrency=100.0)
    assert told(TARGET, low, high)[2] == told(TARGET, high, low)[2] == "high"


def test_of_two_points_at_one_load_only_one_speaks():
    # 66 is 3 % above 64, the same load; 70 is 9 % above it, another one
    near, far = {"concurrency": 66.0, "date": TARGET.date}, {"concurrency": 64.0, "date": "2025-01-01"}
    new, old = measured("new", 1.5, **near), measured("old", 1.1, **far)
    for points in ((new, old), (old, new)):
        pull, _, anchor = told(TARGET, *points)
        assert (pull, anchor) == (pytest.approx(own_ratio(new)), "new")
    apart = replace(new, concurrency=70.0)
    assert told(TARGET, apart, old)[0] == pytest.approx(own_ratio(old))
    first, second = measured("a", 1.1), measured("b", 1.5)  # of one day: the first by name
    for points in ((first, second), (second, first)):
        assert told(TARGET, *points)[0] == pytest.approx(own_ratio(first))


def test_arms_that_took_turns_in_concurrency_are_one_series():
    target = replace(TARGET, arm="a")
    low = measured("low", 1.1, arm="a", concurrency=32.0)
    high = measured("high", 1.5, arm="b", concurrency=128.0)
    pull, level, _ = told(target, low, high)
    assert (pull, level) == (pytest.approx((own_ratio(low) + own_ratio(high)) / 2), "interpolated")
    # run at the same concurrencies the arms are two curves, and the target's own speaks
    own = measured("own", 1.3, arm="a", concurrency=128.0)
    between = measured("between", 2.0, arm="b")
    pull, level, _ = told(target, low, own, between)
    assert (pull, level) == (pytest.approx((own_ratio(low) + own_ratio(own)) / 2), "interpolated")
    at_one = measured("2", 1.1, arm="a"), measured("1", 1.5, arm="b")
    for points in (at_one, at_one[::-1]):
        assert told(target, *points)[0] == pytest.approx(own_ratio(at_one[0]))


@pytest.mark.parametrize(
    ("target", "near", "far"),
    [
        ("2026-01-10", "2026", "2026-03-30"),  # a bare year is its beginning
        ("2026-01-10", "2026-01-05", "2026"),
        ("2025-06-01", "2025/2026 (doc, undated)", "2027-01-01"),
        ("2026-06-01", "2020-01-01", ""),  # what has no date is far from all that has one
        ("", "", "2020-01-01"),
        ("2026-03-02", "2026-02-27", "2026-03-09"),
        ("2026-12-30", "2027-01-02", "2026-12-20"),
    ],
)
def test_which_of_two_dates_is_nearer(target: str, near: str, far: str):
    # the ids would decide for the other one
    speaks, silent = measured("b", 1.5, date=near), measured("a", 1.1, date=far)
    # the software's half-year is part of a point's constants: compare which of both anchors, not by how much
    assert told(replace(TARGET, date=target), silent, speaks)[2] == "b"


def test_another_accelerator_of_the_class_makes_it_modelled_and_anchors_nothing():
    """GB300 has the B300's class; another model of that class, or another engine, says less."""
    assert told(TARGET, measured(accelerator_id="gb300")) == (0.0, "modelled", "")
    assert told(TARGET, measured(accelerator_id="gb300", engine="vllm"))[1] == "class"
    assert told(TARGET, measured(accelerator_id="mi355x", class_id="cdna4"))[1] == "class"
    assert told(TARGET, measured(model_id="deepseek-r1-0528"))[1] == "class"


def test_points_that_do_not_anchor_do_not_hide_those_after_them():
    silent = {"concurrency": math.nan, "tpot_s": math.nan, "user_tokens_per_s": math.nan, "ttft_s": math.nan}
    bad = (
        measured("marked", suspect="marked SUSPECT in its notes"),
        measured("dummy", suspect="dummy weights"),
        measured("draft", spec="a new draft", accepted=math.nan),
        measured("silent", **silent),
    )
    ((only_one,),) = refs_of(*bad, measured("good")).values()
    assert only_one.point.id == "good"
    pools = measured("pools", plan=Plan(Pool(Layout(tp=4)), Pool(Layout(tp=4))))
    far, full = measured("far", input_tokens=5 * TARGET.input_tokens), measured("full", saturation=True)
    assert told(TARGET, pools, far, full, measured("good"))[2] == "good"


# ----------------------------------------------------------------------------------------------- what a prediction is


def test_a_prediction_without_points_is_the_models_own_rate_of_the_row():
    target = replace(TARGET, cached_share=0.5, **DRAFT)
    plan = compiled_of(target, CATALOG, CONSTANTS(target))
    # 3 drafts and a token of its own are verified a step, 2.5 of them accepted
    rate = operate(plan, 64.0, 8192.0, 1024.0, 0.5, 2.5, 4.0).requests_per_s
    found = predict(target, CATALOG, CALIBRATION, {}, CONSTANTS)
    assert found.output_tokens_per_s == pytest.approx(1024 * float(rate))


def test_accepted_tokens_that_a_row_leaves_open_are_those_of_its_kind_of_draft():
    open_ = replace(TARGET, spec="mtp", accepted=math.nan)
    assert accepted_tokens(open_, CALIBRATION) == CALIBRATION.accepted_by_spec["mtp"]
    assert accepted_tokens(replace(open_, accepted=1.5), CALIBRATION) == 1.5
    assert math.isnan(accepted_tokens(replace(open_, spec="a new draft"), CALIBRATION))


def test_a_model_in_its_own_precision_is_the_catalogues():
    own = mem.model_shape(CATALOG.models["kimi-k3"])
    assert shape_of(TARGET, CATALOG) == own  # 4.25 bits, as published
    # other four bits are no wider than the published ones, but their products are of four bits too
    nvfp4 = shape_of(replace(TARGET, precision="nvfp4"), CATALOG)
    assert (nvfp4.routed_bytes, nvfp4.activation_bits, own.activation_bits) == (own.routed_bytes, 4, 8)
    r1 = mem.model_shape(CATALOG.models["deepseek-r1-0528"])
    as_fp8, as_fp4 = (
        shape_of(replace(TARGET, model_id=r1.id, precision=precision), CATALOG) for precision in ("fp8", "fp4")
    )
    assert as_fp8 == r1
    assert as_fp4.routed_bits == 4.5
    assert as_fp4.routed_bytes == pytest.approx(r1.routed_bytes * 4.5 / r1.routed_bits)


def test_a_dense_model_in_half_its_bits_reads_half_its_bytes():
    dense = next(s for s in map(mem.model_shape, CATALOG.models.values()) if not s.experts and s.dense_bits > 15.9)
    assert shape_of(replace(TARGET, model_id=dense.id, precision="bf16"), CATALOG) == dense
    fp8 = shape_of(replace(TARGET, model_id=dense.id, precision="fp8"), CATALOG)
    assert fp8.dense_bytes == pytest.approx(dense.dense_bytes * 8.06 / dense.dense_bits)
    # products in 16 bits, as the published model's, do not make weights of four bits the published ones
    int4 = shape_of(replace(TARGET, model_id=dense.id, precision="int4"), CATALOG)
    assert int4.dense_bytes == pytest.approx(dense.dense_bytes * 4.5 / dense.dense_bits)


def test_a_class_that_was_never_measured_is_bounded():
    unknown = replace(TARGET, class_id="no such class")
    assert CONSTANTS(unknown) == CALIBRATION.best_constants()
    # one accelerator has no link, about which measured classes could tell
    assert CONSTANTS(replace(unknown, plan=Plan(Pool(Layout())))) == Constants.bound()
    two = replace(unknown, plan=Plan(Pool(Layout(tp=2))))
    assert CONSTANTS(two) == CALIBRATION.best_constants()
    assert CONSTANTS(TARGET) == CALIBRATION.for_point("blackwell-ultra", "sglang", "2026H2").constants


def loaded(**change: Any) -> float:
    """Requests in flight that a 'max load' row is taken to hold."""
    point = replace(TARGET, saturation=True, concurrency=math.nan, **change)
    return concurrency_of(point, CATALOG, compiled_of(point, CATALOG, CONSTANTS(point)), 1.0)


def test_max_load_by_hand():
    shape, chip = shape_of(TARGET, CATALOG), mem.chip(CATALOG.accelerators["b300_sxm"])
    # nine tenths of the memory, in requests of 8,192 + 1,024 tokens
    held = float(mem.sequences_that_fit(shape, TARGET.plan.decode.layout, "fp8", chip.usable_bytes, 0.9, 9216))
    assert 1 < held < 4096
    assert loaded() == pytest.approx(held)
    assert loaded(plan=Plan(Pool(TARGET.plan.decode.layout, 2))) == pytest.approx(2 * held)
    # a request of two tokens would fit by the million: 1,024 on each of eight accelerators; a longer one is one
    assert loaded(input_tokens=1.0, output_tokens=1.0, model_id="deepseek-r1-0528", precision="fp8") == 8 * 1024
    assert loaded(input_tokens=1e8) == 1.0


def test_a_speed_that_tells_the_load_and_one_that_tells_nothing():
    """Expected are 16 requests a worker, within a factor e^1.5; the speed is known within 6 %."""

    # time per token = requests in flight, in ms: log c is 4.605 +- 0.06 by the speed, 2.773 +- 1.5 by expectation, so
    # 4.60517 - 1.83258 x 0.0036 / (2.25 + 0.0036) = 4.60224; with four workers 4.15888 is expected, and 4.60446 found
    def at(log_c: Any) -> tuple[Any, Any]:
        return 3.0 * np.exp(log_c), np.exp(log_c) / 1000.0

    for workers, log_c in ((1, 4.60224), (4, 4.60446)):
        rate, found = rate_at_speed(at, 0.1, workers)
        assert found == pytest.approx(log_c, abs=1e-5)
        assert rate == pytest.approx(3 * math.exp(log_c), rel=1e-5)

    # at the floor all loads have one speed: a normal of 2.77259 +- 1.5 without what is below one request (-1.8484 s):
    # 2.77259 + 1.5 x 0.07226 / 0.96773 = 2.88460
    def flat(log_c: Any) -> tuple[Any, Any]:
        return np.exp(log_c), np.full(np.shape(log_c), 0.02)

    assert rate_at_speed(flat, 0.02, 1)[1] == pytest.approx(2.8846, abs=0.01)
    # up to 100,000: of a thousand workers log 16,000 = 9.68 is expected, and 1.22 s above it is the end:
    # 9.68034 - 1.5 x 0.18926 / 0.88904 = 9.36102
    assert rate_at_speed(flat, 0.02, 1000)[1] == pytest.approx(9.361, abs=0.01)


def test_a_figure_that_cannot_be_computed_is_listed_and_the_rows_after_it_are_read(monkeypatch: pytest.MonkeyPatch):
    real = validate.predict

    def broken(point: Point, *args: Any, **more: Any) -> Prediction:
        if point.id != "broken":
            return real(point, *args, **more)
        return Prediction(math.inf, "measured", "")

    monkeypatch.setattr(validate, "predict", broken)
    unread = {**row("k3-001"), "id": "unread", "spec": "a new draft"}
    result = validate_rows([{**row("k3-001"), "id": "broken"}, unread, row("k3-009")], CATALOG)
    assert [r["id"] for r in result["rows"]] == ["k3-009"]
    assert result["summary"]["skipped"] == [
        {"id": "broken", "why": "its figures are outside what can be computed"},
        {"id": "unread", "why": "accepted tokens per step of 'a new draft' are not stated"},
    ]


def test_a_summary_of_nothing_and_of_both_signs(monkeypatch: pytest.MonkeyPatch):
    assert validate_rows([], CATALOG)["summary"] == {
        "n": 0, "mape": None, "median_ape": None, "p90_ape": None, "by_hardware": {}, "skipped": [],
    }  # fmt: skip
    # 30 % too much and 10 % too little: 20 % off in the mean and the median, 0.1 + 0.9 x 0.2 = 28 % at the ninth decile
    said = {"a": 1.3, "b": 0.9}

    def wrong(point: Point, *_: Any, **__: Any) -> Prediction:
        return Prediction(said[point.id] * point.output_tokens_per_s, "measured", "")

    monkeypatch.setattr(validate, "predict", wrong)
    rows = [{**row("k3-001"), "id": "a"}, {**row("k3-001"), "id": "b"}]
    result = validate_rows(rows, CATALOG)
    assert [r["error"] for r in result["rows"]] == pytest.approx([0.3, -0.1])
    summary = {"n": 2, "mape": 0.2, "median_ape": 0.2, "p90_ape": 0.28}
    assert {name: result["summary"][name] for name in summary} == pytest.approx(summary)
    assert result["summary"]["by_hardware"] == {"b300_sxm": pytest.approx(summary)}


def test_a_path_may_be_a_text():
    path = DATA / "k3_measured.csv"
    assert validate_rows(str(path), CATALOG) == validate_rows(path, CATALOG)
