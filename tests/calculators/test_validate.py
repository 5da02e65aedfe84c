"""Validation of measured files: both layouts, reasons for skipped rows, no row anchored on itself."""

import json
import math
import random
from pathlib import Path

import pytest

from calculators.calibration import load_calibration, measurement_rows
from calculators.catalog import load_catalog
from calculators.measurements import Unusable, number, parse_layout, parse_row, parse_rows, read_csv
from calculators.memory import Layout
from calculators.throughput import Plan, Pool
from calculators.validate import validate_rows

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
