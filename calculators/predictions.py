"""Measured against predicted, for every usable row of data/measurements, ready to show.

Each row is predicted by constants that never saw its configuration (the folds of calculators.calibrate), which takes a
minute. So the outcome is kept in data/predictions.csv with a fingerprint of the data that it follows from.
``python -m calculators.calibrate`` writes it with the constants, ``python -m calculators.predictions`` alone.
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

from calculators.calibration import DATA, load_calibration

FILE: Final = DATA / "predictions.csv"
COLUMNS: Final = ("id", "hardware", "model", "evidence", "measured", "predicted", "constants_only")


@dataclass(frozen=True)
class Prediction:
    """One measured row: output tokens per second of the whole replica, measured and predicted, configuration held out.

    predicted: as the app answers, scaled by measured points near the row (never the row itself). constants_only:
    without any measured point of the configuration.
    """

    id: str
    hardware: str
    model: str
    evidence: str
    measured_tokens_per_s: float
    predicted_tokens_per_s: float
    constants_only_tokens_per_s: float

    @property
    def error(self) -> float:
        """Predicted / measured - 1."""
        return self.predicted_tokens_per_s / self.measured_tokens_per_s - 1.0

    @property
    def constants_only_error(self) -> float:
        """Predicted / measured - 1 without any measured point of the configuration."""
        return self.constants_only_tokens_per_s / self.measured_tokens_per_s - 1.0


@dataclass(frozen=True)
class ErrorRow:
    """Absolute relative errors of a group of rows, fractions: by constants alone, and with measured points near."""

    group: str
    count: int
    mean: float
    median: float
    p90: float
    near_mean: float
    near_p90: float


def fingerprint(root: Path = DATA) -> str:
    """Hash of the data that the predictions follow from: measurements, records, constants."""
    digest = hashlib.sha256()
    data = [root / "calibration.toml", *sorted((root / "measurements").glob("*.csv"))]
    data += [file for kind in ("models", "accelerators", "systems") for file in sorted((root / kind).glob("*.toml"))]
    for file in data:
        digest.update(file.name.encode() + b"\0" + file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def to_csv(predictions: Iterable[Prediction], mark: str) -> str:
    """The text of data/predictions.csv, five significant digits."""
    text = io.StringIO()
    text.write(f"# Output tokens per second, configuration held out (python -m calculators.predictions). {mark}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for p in predictions:
        rates = (p.measured_tokens_per_s, p.predicted_tokens_per_s, p.constants_only_tokens_per_s)
        writer.writerow((p.id, p.hardware, p.model, p.evidence, *(f"{rate:.5g}" for rate in rates)))
    return text.getvalue()


def read_csv(text: str) -> tuple[str, tuple[Prediction, ...]]:
    """Fingerprint and rows of the text of data/predictions.csv."""
    head, _, body = text.partition("\n")
    found = tuple(
        Prediction(
            row["id"],
            row["hardware"],
            row["model"],
            row["evidence"],
            float(row["measured"]),
            float(row["predicted"]),
            float(row["constants_only"]),
        )
        for row in csv.DictReader(io.StringIO(body))
    )
    return head.rpartition(" ")[2], found


@lru_cache(maxsize=1)
def load_predictions() -> tuple[Prediction, ...]:
    """Held-out predictions of the project's own data, as they were made with its constants."""
    return read_csv(FILE.read_text(encoding="utf-8"))[1]


def errors_by(predictions: Iterable[Prediction], key: str) -> tuple[ErrorRow, ...]:
    """Errors by a field of `Prediction` ('hardware', 'evidence', 'model'), most rows first."""
    groups: dict[str, list[Prediction]] = {}
    for p in predictions:
        groups.setdefault(str(getattr(p, key)), []).append(p)
    rows = []
    for name, members in groups.items():
        bare = np.abs([p.constants_only_error for p in members])
        near = np.abs([p.error for p in members])
        figures = (np.mean(bare), np.median(bare), np.quantile(bare, 0.9), np.mean(near), np.quantile(near, 0.9))
        rows.append(ErrorRow(name, len(members), *(float(x) for x in figures)))
    return tuple(sorted(rows, key=lambda row: -row.count))


def _main() -> None:
    from calculators.calibrate import held_out_predictions
    from calculators.catalog import load_catalog

    FILE.write_text(to_csv(held_out_predictions(load_catalog(), load_calibration()), fingerprint()), encoding="utf-8")


if __name__ == "__main__":
    _main()
