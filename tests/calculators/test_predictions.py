"""Measured against predicted: each row by constants that never saw its configuration, kept with its source data."""

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

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
    assert [(p.id, p.hardware, p.evidence) for p in back] == [("one", "a", "modelled"), ("two", "b", "modelled")]
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
    assert found[1].measured_tokens_per_s == 1240
    assert found[1].predicted_tokens_per_s == pytest.approx(1364)
    assert found[1].constants_only_tokens_per_s == pytest.approx(620)
    assert all(0 <= fold_of(p) < 5 for p in points)


def test_errors_by_group() -> None:
    # by constants alone 10 %, 30 % and 20 % on a, 50 % on b; with measurements near 0, 100 and 50 % on a
    rows = [row("a", 100.0, 110.0), row("a", 200.0, 70.0), row("b", 150.0, 150.0), row("a", 50.0, 120.0)]
    found = errors_by(rows, "hardware")
    assert [(r.group, r.count) for r in found] == [("a", 3), ("b", 1)]
    assert found[0].mean == pytest.approx(0.2)
    assert found[0].median == pytest.approx(0.2)
    # between 0.2 and 0.3 at 0.8 of the way
    assert found[0].p90 == pytest.approx(0.28)
    assert found[0].near_mean == pytest.approx(0.5)
    # between 0.5 and 1.0 at 0.8 of the way
    assert found[0].near_p90 == pytest.approx(0.9)
