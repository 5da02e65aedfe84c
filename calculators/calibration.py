"""Reads data/calibration.toml (written by calibrate.py) and the measurement files; no fitting happens here."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from calculators.measurements import read_csv
from calculators.throughput import Constants

DATA: Final = Path(__file__).resolve().parent.parent / "data"


@dataclass(frozen=True)
class Band:
    """Factors on throughput that hold 80 % of held-out points of an evidence level between them."""

    low: float
    high: float
    n: int


@dataclass(frozen=True)
class ConstantSet:
    """Constants of one (accelerator class, engine, date) with the quality of their fit."""

    name: str
    class_id: str
    engine: str
    date_from: str
    date_to: str
    models: tuple[str, ...]
    constants: Constants
    n: int
    mean_error: float


@dataclass(frozen=True)
class Calibration:
    """All constant sets, bands and acceptances of data/calibration.toml."""

    date: str
    sets: tuple[ConstantSet, ...]
    bands: Mapping[str, Band]
    accepted_by_spec: Mapping[str, float]
    summary: Mapping[str, Any]

    def knows_class(self, class_id: str) -> bool:
        """Whether any measured point calibrates this accelerator class."""
        return any(s.class_id == class_id for s in self.sets)

    def knows_model(self, model_id: str, class_id: str) -> bool:
        """Whether a point of this model took part in a set of this class."""
        return any(s.class_id == class_id and model_id in s.models for s in self.sets)

    def constants(
        self, class_id: str, engine: str = "", date: str = "", model_id: str = ""
    ) -> tuple[Constants, str]:
        """Constants for a class: same model first, then same engine, then the date that comes nearest, else the newest.

        Raises:
            KeyError: no set of this class.
        """
        of_class = [s for s in self.sets if s.class_id == class_id]
        if not of_class:
            raise KeyError(class_id)

        def rank(s: ConstantSet) -> tuple[int, int, int, str, int]:
            inside = 1 if not date or s.date_from <= date[:10] <= s.date_to else 0
            return (int(s.engine == engine), int(model_id in s.models), inside, s.date_to, s.n)

        best = max(of_class, key=rank)
        return best.constants, best.name

    def bands_for(self, levels: Sequence[str]) -> tuple[Band, ...]:
        """One band a level, in the order given; a level without held-out points takes the next worse one's."""
        result: list[Band] = []
        for i, level in enumerate(levels):
            if level == "none":
                result.append(Band(1.0, 1.0, 0))
                continue
            later = [self.bands[x] for x in levels[i:] if x in self.bands and x != "user"]
            found = self.bands.get(level) or (later[0] if later else Band(0.5, 2.0, 0))
            result.append(found)
        return tuple(result)


def _text(value: object) -> str:
    return "" if value is None else str(value)


@lru_cache(maxsize=4)
def load_calibration(path: Path | None = None) -> Calibration:
    """Read the calibration file.

    Raises:
        ValueError: it is missing or malformed, in one sentence.
    """
    source = path if path is not None else DATA / "calibration.toml"
    try:
        raw = tomllib.loads(source.read_text(encoding="utf-8"))
        names = {f.name for f in fields(Constants)}
        sets = tuple(
            ConstantSet(
                name=str(s["name"]),
                class_id=str(s["accelerator_class"]),
                engine=str(s["engine"]),
                date_from=_text(s.get("date_from")),
                date_to=_text(s.get("date_to")),
                models=tuple(s.get("models", ())),
                constants=Constants(**{k: float(v) for k, v in s["constants"].items() if k in names}),
                n=int(s["n"]),
                mean_error=float(s["mean_error"]),
            )
            for s in raw["set"]
        )
        bands = {k: Band(float(v["low"]), float(v["high"]), int(v["n"])) for k, v in raw["bands"].items()}
    except OSError as why:
        raise ValueError(f"{source.name}: cannot be read ({why.strerror})") from why
    except (KeyError, TypeError, ValueError) as why:
        raise ValueError(f"{source.name}: is not a calibration file ({why})") from why
    if any(not (0 < b.low <= 1 <= b.high and math.isfinite(b.high)) for b in bands.values()):
        raise ValueError(f"{source.name}: every band needs 0 < low <= 1 <= high")
    return Calibration(
        date=_text(raw.get("date")),
        sets=sets,
        bands=bands,
        accepted_by_spec={str(k): float(v) for k, v in raw.get("accepted_tokens_per_step", {}).items()},
        summary=raw.get("summary", {}),
    )


@lru_cache(maxsize=1)
def measurement_rows() -> tuple[dict[str, str], ...]:
    """All rows of data/measurements/*.csv as text, K3 first."""
    rows: list[dict[str, str]] = []
    for path in sorted((DATA / "measurements").glob("*measured*.csv")):
        rows.extend(read_csv(path))
    return tuple(rows)
