"""Measured against predicted, for every usable row of data/measurements, ready to show.

Predicting all rows takes seconds, so the outcome is kept in data/predictions.csv with a fingerprint of everything that
it follows from: the measurements, the records, the calibration and the sizing code. When any of these moved, the file
is not used and the rows are predicted anew. ``python -m calculators.predictions`` writes the file.
"""

import csv
import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from calculators.catalog import DATA, Catalog, load_catalog
from calculators.validate import validate_rows

FILE: Final = DATA / "predictions.csv"
COLUMNS: Final = ("file", "id", "hardware", "model", "evidence", "measured", "predicted")
_CODE: Final = ("memory", "throughput", "sizing", "measurements", "calibration", "validate")


@dataclass(frozen=True)
class Prediction:
    """One measured row: output tokens per second of the whole replica, measured and predicted without that row."""

    file: str
    id: str
    hardware: str
    model: str
    evidence: str
    measured_tokens_per_s: float
    predicted_tokens_per_s: float

    @property
    def error(self) -> float:
        """Predicted / measured - 1."""
        return self.predicted_tokens_per_s / self.measured_tokens_per_s - 1.0


@dataclass(frozen=True)
class ErrorRow:
    """Absolute relative errors of a group of rows, fractions."""

    group: str
    count: int
    mean: float
    median: float
    p90: float


def fingerprint(root: Path = DATA) -> str:
    """Hash of the data and the code that the predictions follow from."""
    digest = hashlib.sha256()
    data = [root / "calibration.toml", *sorted((root / "measurements").glob("*.csv"))]
    data += [file for kind in ("models", "accelerators", "systems") for file in sorted((root / kind).glob("*.toml"))]
    code = [Path(__file__).with_name(f"{name}.py") for name in _CODE]
    for file in (*data, *code):
        digest.update(file.name.encode() + b"\0" + file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def predict_all(catalog: Catalog) -> tuple[Prediction, ...]:
    """Predict every usable row of data/measurements; takes seconds."""
    found = []
    for name, rows in sorted(catalog.measurements.items()):
        for row in validate_rows(rows, catalog)["rows"]:
            found.append(
                Prediction(
                    name,
                    row["id"],
                    row["hardware"],
                    row["model"],
                    row["evidence"],
                    row["measured_output_tokens_per_s"],
                    row["predicted_output_tokens_per_s"],
                )
            )
    return tuple(found)


def to_csv(predictions: Iterable[Prediction], mark: str) -> str:
    """The text of data/predictions.csv, five significant digits."""
    text = io.StringIO()
    text.write(f"# Written by python -m calculators.predictions; output tokens per second. fingerprint {mark}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for p in predictions:
        writer.writerow(
            (
                p.file,
                p.id,
                p.hardware,
                p.model,
                p.evidence,
                f"{p.measured_tokens_per_s:.5g}",
                f"{p.predicted_tokens_per_s:.5g}",
            )
        )
    return text.getvalue()


def read_csv(text: str) -> tuple[str, tuple[Prediction, ...]]:
    """Fingerprint and rows of the text of data/predictions.csv."""
    head, _, body = text.partition("\n")
    rows = csv.DictReader(io.StringIO(body))
    found = tuple(
        Prediction(
            row["file"],
            row["id"],
            row["hardware"],
            row["model"],
            row["evidence"],
            float(row["measured"]),
            float(row["predicted"]),
        )
        for row in rows
    )
    return head.rpartition(" ")[2], found


@lru_cache(maxsize=1)
def load_predictions() -> tuple[Prediction, ...]:
    """Predictions of the project's own data: from the file if it is of today's data and code, else made anew."""
    if FILE.exists():
        mark, found = read_csv(FILE.read_text(encoding="utf-8"))
        if mark == fingerprint():
            return found
    return predict_all(load_catalog())


def errors_by(predictions: Iterable[Prediction], key: str) -> tuple[ErrorRow, ...]:
    """Errors by a field of `Prediction` ('hardware', 'evidence', 'model'), most rows first."""
    groups: dict[str, list[float]] = {}
    for p in predictions:
        groups.setdefault(str(getattr(p, key)), []).append(abs(p.error))
    rows = [
        ErrorRow(name, len(e), float(np.mean(e)), float(np.median(e)), float(np.quantile(e, 0.9)))
        for name, e in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: -row.count))


if __name__ == "__main__":
    FILE.write_text(to_csv(predict_all(load_catalog()), fingerprint()), encoding="utf-8")
