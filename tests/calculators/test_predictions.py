"""Measured against predicted: the kept file is used only while it is of today's data and code."""

import dataclasses
import math
import shutil
from pathlib import Path

import pytest

from calculators import predictions
from calculators.catalog import DATA, Catalog, load_catalog
from calculators.predictions import (
    Prediction,
    errors_by,
    fingerprint,
    load_predictions,
    predict_all,
    read_csv,
    to_csv,
)
from calculators.validate import validate_rows


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def test_the_file_reads_back_what_was_written(catalog: Catalog) -> None:
    rows = validate_rows(catalog.measurements["k3_measured"][:12], catalog)["rows"]
    assert rows
    found = [
        Prediction(
            "k3_measured",
            r["id"],
            r["hardware"],
            r["model"],
            r["evidence"],
            r["measured_output_tokens_per_s"],
            r["predicted_output_tokens_per_s"],
        )
        for r in rows
    ]
    mark, back = read_csv(to_csv(found, "abc123"))
    assert mark == "abc123"
    assert [p.id for p in back] == [p.id for p in found]
    for read, made, row in zip(back, found, rows, strict=True):
        assert read.predicted_tokens_per_s == pytest.approx(made.predicted_tokens_per_s, rel=1e-4)
        assert made.error == pytest.approx(row["error"])


def test_the_fingerprint_follows_the_data(tmp_path: Path) -> None:
    for name in ("measurements", "models", "accelerators", "systems"):
        shutil.copytree(DATA / name, tmp_path / name)
    shutil.copy(DATA / "calibration.toml", tmp_path)
    before = fingerprint(tmp_path)
    assert before == fingerprint()
    file = tmp_path / "measurements" / "k3_measured.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("1240.0", "1241.0"), encoding="utf-8")
    assert fingerprint(tmp_path) != before


def test_the_file_is_used_only_while_it_is_of_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Prediction("k3_measured", "kept", "b300_sxm", "kimi-k3", "measured", 100.0, 90.0)
    anew = Prediction("k3_measured", "anew", "b300_sxm", "kimi-k3", "measured", 100.0, 95.0)
    file = tmp_path / "predictions.csv"
    monkeypatch.setattr(predictions, "FILE", file)
    monkeypatch.setattr(predictions, "predict_all", lambda catalog: (anew,))
    for mark, expected in ((fingerprint(), "kept"), ("of another day", "anew")):
        file.write_text(to_csv([kept], mark), encoding="utf-8")
        load_predictions.cache_clear()
        assert [p.id for p in load_predictions()] == [expected]
    file.unlink()
    load_predictions.cache_clear()
    assert [p.id for p in load_predictions()] == ["anew"]
    load_predictions.cache_clear()


def test_predicting_reads_every_file_of_measurements(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "measurements").mkdir()
    for name in ("k3_measured", "other_measured"):
        lines = (DATA / "measurements" / f"{name}.csv").read_text(encoding="utf-8").splitlines()[:4]
        (tmp_path / "measurements" / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = predict_all(dataclasses.replace(catalog, root=tmp_path))
    assert {p.file for p in found} == {"k3_measured", "other_measured"}
    assert all(p.measured_tokens_per_s > 0 and p.predicted_tokens_per_s > 0 for p in found)


def test_errors_by_group() -> None:
    def row(hardware: str, predicted: float) -> Prediction:
        return Prediction("f", "x", hardware, "m", "modelled", 100.0, predicted)

    # errors 10 %, 30 % and 20 % on a; 50 % on b
    found = errors_by([row("a", 110.0), row("a", 70.0), row("b", 150.0), row("a", 120.0)], "hardware")
    assert [(r.group, r.count) for r in found] == [("a", 3), ("b", 1)]
    assert found[0].mean == pytest.approx(0.2)
    assert found[0].median == pytest.approx(0.2)
    # between 0.2 and 0.3 at 0.8 of the way
    assert found[0].p90 == pytest.approx(0.28)
    assert all(math.isfinite(r.p90) for r in found)
