"""Measured against predicted: each row by constants that never saw its configuration, kept with its source data."""

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calculators import calibrate, predictions
from calculators.calibrate import Folds, errors, fold_of, predictions_of, usable
from calculators.calibration import load_calibration, measurement_rows
from calculators.catalog import DATA, load_catalog
from calculators.measurements import parse_rows
from calculators.predictions import (
    FILE,
    Prediction,
    errors_by,
    fingerprint,
    load_predictions,
    read_csv,
    to_csv,
)

KEPT = load_predictions()


def row(hardware: str, predicted: float, constants_only: float = 100.0, ident: str = "x") -> Prediction:
    return Prediction(ident, hardware, "m", "modelled", 100.0, predicted, constants_only)


def test_the_file_reads_back_what_was_written() -> None:
    found = [row("a", 90.123456, 80.0, "one"), row("b", 1.0 / 3.0, 150.0, "two")]
    mark, back = read_csv(to_csv(found, "abc123"))
    assert mark == "abc123"
    told = [(p.id, p.hardware, p.model, p.evidence) for p in back]
    assert told == [("one", "a", "m", "modelled"), ("two", "b", "m", "modelled")]
    # five digits are kept
    rates = [(p.measured_tokens_per_s, p.predicted_tokens_per_s, p.constants_only_tokens_per_s) for p in back]
    assert rates == [(100.0, 90.123, 80.0), (100.0, 0.33333, 150.0)]
    head, names, first, *_ = to_csv(found, "abc123").split("\n")
    assert head == "# Output tokens per second, configuration held out (python -m calculators.predictions). abc123"
    assert names == "id,hardware,model,evidence,measured,predicted,constants_only"
    assert first == "one,a,m,modelled,100,90.123,80"
    assert back[0].error == pytest.approx(-0.09877, abs=1e-4)
    assert back[1].constants_only_error == pytest.approx(0.5)


def test_the_kept_file_is_of_the_shipped_data() -> None:
    """After any change of measurements, records or constants: python -m calculators.predictions."""
    assert read_csv(FILE.read_text(encoding="utf-8"))[0] == fingerprint()
    points = usable(parse_rows(measurement_rows(), load_catalog())[0], load_calibration().accepted_by_spec)
    assert [p.id for p in KEPT] == [p.id for p in points]


def test_the_kept_file_says_what_the_calibration_says() -> None:
    """One source for page and README: errors of the file equal the summary of data/calibration.toml (5 digits kept)."""
    summary = load_calibration().summary
    for name, value in (("anchored", "error"), ("constants_only", "constants_only_error")):
        again = errors(np.log1p([getattr(p, value) for p in KEPT]))
        assert again["n"] == summary["all"][name]["n"]
        for figure in ("mean", "median", "p90"):
            assert again[figure] == pytest.approx(summary["all"][name][figure], abs=2e-4)
    by_machine = {r.group: r for r in errors_by(KEPT, "hardware")}
    for machine, found in summary["by_hardware"].items():
        assert by_machine[machine].count == found["anchored"]["n"]
        assert by_machine[machine].near_mean == pytest.approx(found["anchored"]["mean"], abs=2e-4)
        if found["constants_only"]["n"] == found["anchored"]["n"]:
            assert by_machine[machine].mean == pytest.approx(found["constants_only"]["mean"], abs=2e-4)
    # The one Ascend point: 463 predicted without it, 111.4 measured.
    assert by_machine["ascend910c_die"].mean == pytest.approx(3.16, abs=0.2)


def test_the_fingerprint_follows_the_data(tmp_path: Path) -> None:
    for name in ("measurements", "models", "accelerators", "systems"):
        shutil.copytree(DATA / name, tmp_path / name)
    shutil.copy(DATA / "calibration.toml", tmp_path)
    before = fingerprint(tmp_path)
    assert before == fingerprint()
    file = tmp_path / "measurements" / "k3_measured.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("1240.0", "1241.0"), encoding="utf-8")
    assert fingerprint(tmp_path) != before


def test_the_fingerprint_is_of_every_file_and_of_no_line_ending(tmp_path: Path) -> None:
    """A checkout with other line ends is the same data; a record, a constant or a measurement that moves is not."""
    kinds = ("measurements", "models", "accelerators", "systems")
    for name in kinds:
        (tmp_path / name).mkdir()
        (tmp_path / name / f"a.{'csv' if name == 'measurements' else 'toml'}").write_bytes(b"x\ny\n")
        (tmp_path / name / "notes.txt").write_bytes(b"no data")
    (tmp_path / "calibration.toml").write_bytes(b"c\n")
    before = fingerprint(tmp_path)
    files = [file for file in tmp_path.rglob("*") if file.suffix in (".csv", ".toml")]
    assert len(files) == 5
    for file in files:
        kept = file.read_bytes()
        file.write_bytes(kept.replace(b"\n", b"\r\n"))
        assert fingerprint(tmp_path) == before, file
        file.write_bytes(kept + b"z")
        assert fingerprint(tmp_path) != before, file
        file.write_bytes(kept)
    assert fingerprint(tmp_path) == before
    (tmp_path / "models" / "a.toml").rename(tmp_path / "models" / "b.toml")
    assert fingerprint(tmp_path) != before
    (tmp_path / "models" / "b.toml").rename(tmp_path / "models" / "a.toml")
    (tmp_path / "models" / "notes.txt").write_bytes(b"other")
    assert fingerprint(tmp_path) == before


def test_the_script_writes_what_is_held_out_by_the_kept_constants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [row("a", 90.0, 80.0, "one")]
    asked: list[Any] = []

    def held_out(catalog: Any, calibration: Any) -> Any:
        asked.append((catalog, calibration))
        return made

    monkeypatch.setattr(calibrate, "held_out_predictions", held_out)
    monkeypatch.setattr(predictions, "FILE", tmp_path / "predictions.csv")
    predictions._main()
    assert (tmp_path / "predictions.csv").read_text(encoding="utf-8") == to_csv(made, fingerprint())
    assert asked == [(load_catalog(), load_calibration())]


def test_predictions_from_errors_of_the_folds() -> None:
    """log(predicted / measured) = log 1.1 anchored and log 0.5 without: 110 % and 50 % of what was measured."""
    points = [p for p in parse_rows(measurement_rows(), load_catalog())[0] if p.id in ("k3-001", "k3-009")]
    n = len(points)
    nothing = np.full(n, math.nan)
    folds = Folds(
        constants_only=np.full(n, math.log(0.5)),
        anchored=np.full(n, math.log(1.1)),
        anchored_level=("modelled",) * n,
        renewed=nothing,
        renewed_level=("",) * n,
        at_concurrency=nothing,
        has_set=np.ones(n, dtype=bool),
    )
    found = predictions_of(points, folds)
    assert [p.id for p in found] == ["k3-001", "k3-009"]
    assert {(p.hardware, p.model, p.evidence) for p in found} == {("b300_sxm", "kimi-k3", "modelled")}
    assert found[1].measured_tokens_per_s == 1240
    assert found[1].predicted_tokens_per_s == pytest.approx(1364)
    assert found[1].constants_only_tokens_per_s == pytest.approx(620)
    assert all(0 <= fold_of(p) < 5 for p in points)


def test_errors_by_group() -> None:
    # by constants alone 10 %, 30 % and 20 % on a, 50 % on b; with measurements near 0, 100 and 50 % on a
    rows = [row("a", 100.0, 110.0), row("a", 200.0, 70.0), row("b", 150.0, 150.0), row("a", 50.0, 120.0)]
    found = errors_by(rows, "hardware")
    assert [(r.group, r.count) for r in found] == [("a", 3), ("b", 1)]
    assert [r.group for r in errors_by([rows[2], rows[0], rows[1]], "hardware")] == ["a", "b"]
    assert [(r.group, r.count) for r in errors_by(rows, "model")] == [("m", 4)]
    assert found[0].mean == pytest.approx(0.2)
    assert found[0].median == pytest.approx(0.2)
    # between 0.2 and 0.3 at 0.8 of the way
    assert found[0].p90 == pytest.approx(0.28)
    assert found[0].near_mean == pytest.approx(0.5)
    # between 0.5 and 1.0 at 0.8 of the way
    assert found[0].near_p90 == pytest.approx(0.9)
