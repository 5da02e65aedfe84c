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
    """Constants of one (accelerator class, engine, half-year) with the quality of their fit.

    engine '' and era '' stand for all engines and all dates of the class.
    """

    class_id: str
    engine: str
    era: str
    date_from: str
    date_to: str
    models: tuple[str, ...]
    constants: Constants
    n: int
    mean_error: float | None

    @property
    def name(self) -> str:
        """Short name, e.g. 'blackwell-ultra, sglang, 2026H2'."""
        return ", ".join(part for part in (self.class_id, self.engine, self.era) if part)


@dataclass(frozen=True)
class Lone:
    """What one measured configuration alone supports, with the factors either way that its own held-out error asks for.

    model_id '' and engine '' : the whole accelerator class rests on it; else the model on this class and engine does.
    """

    class_id: str
    engine: str
    model_id: str
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class Calibration:
    """All constant sets, bands and acceptances of data/calibration.toml."""

    date: str
    sets: tuple[ConstantSet, ...]
    bands: Mapping[str, Band]
    accepted_by_spec: Mapping[str, float]
    summary: Mapping[str, Any]
    lone: tuple[Lone, ...] = ()

    def lone_of(self, class_id: str, engine: str, model_id: str) -> Lone | None:
        """The entry of the class if it rests on one configuration, else that of the model on this class and engine."""
        for wanted in (("", ""), (engine, model_id)):
            for entry in self.lone:
                if entry.class_id == class_id and (entry.engine, entry.model_id) == wanted:
                    return entry
        return None

    def knows_class(self, class_id: str) -> bool:
        """Whether any measured point calibrates this accelerator class."""
        return any(s.class_id == class_id for s in self.sets)

    def points_of_class(self, class_id: str) -> int:
        """Measured points that calibrate this accelerator class."""
        return max((s.n for s in self.sets if s.class_id == class_id and not s.engine), default=0)

    def knows_model(self, model_id: str, class_id: str) -> bool:
        """Whether a point of this model took part in a set of this class."""
        return any(s.class_id == class_id and model_id in s.models for s in self.sets)

    def best_constants(self) -> Constants:
        """The best value of every constant that any calibrated class reaches: an upper limit on speed elsewhere.

        Floors and per-sequence costs are the lowest, shares of a peak the highest.
        """
        fitted = [s.constants for s in self.sets if s.n >= 4]
        if not fitted:
            return Constants.bound()
        shares = {"e_bw", "e_kv", "e_dec", "e_pf", "e_link", "pipeline_fill", "merge"}
        best = {f.name: [getattr(c, f.name) for c in fitted] for f in fields(Constants)}
        return Constants(**{name: max(v) if name in shares else min(v) for name, v in best.items()})

    def for_point(self, class_id: str, engine: str, era: str) -> ConstantSet:
        """Constants for a dated measurement: class, engine and half-year, else class and engine, else class.

        Raises:
            KeyError: no set of this class.
        """
        for wanted in ((engine, era), (engine, ""), ("", "")):
            for s in self.sets:
                if s.class_id == class_id and (s.engine, s.era) == wanted:
                    return s
        raise KeyError(class_id)

    def for_model(self, class_id: str, model_id: str, engine: str = "") -> ConstantSet:
        """Constants for software of today: the newest set of the class that knows the model, else the newest.

        Raises:
            KeyError: no set of this class.
        """
        dated = [s for s in self.sets if s.class_id == class_id and s.era] or [
            s for s in self.sets if s.class_id == class_id
        ]
        if not dated:
            raise KeyError(class_id)
        return max(dated, key=lambda s: (s.engine == engine, model_id in s.models, s.era, s.n, s.engine))

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
        sets = tuple(
            ConstantSet(
                class_id=str(s["accelerator_class"]),
                engine=str(s["engine"]),
                era=str(s["era"]),
                date_from=_text(s.get("date_from")),
                date_to=_text(s.get("date_to")),
                models=tuple(s.get("models", ())),
                constants=Constants(**{k: float(v) for k, v in s["constants"].items()}),
                n=int(s["n"]),
                mean_error=float(s["mean_error"]) if "mean_error" in s else None,
            )
            for s in raw["set"]
        )
        bands = {k: Band(float(v["low"]), float(v["high"]), int(v["n"])) for k, v in raw["bands"].items()}
        lone = tuple(
            Lone(
                class_id=str(v["accelerator_class"]),
                engine=str(v["engine"]),
                model_id=str(v["model"]),
                n=int(v["n"]),
                low=float(v["low"]),
                high=float(v["high"]),
            )
            for v in raw.get("lone", ())
        )
    except OSError as why:
        raise ValueError(f"{source.name}: cannot be read ({why.strerror})") from why
    except (KeyError, TypeError, ValueError) as why:
        raise ValueError(f"{source.name}: is not a calibration file ({why})") from why
    ends = [(b.low, b.high) for b in bands.values()] + [(x.low, x.high) for x in lone]
    if any(not (0 < low <= 1 <= high and math.isfinite(high)) for low, high in ends):
        raise ValueError(f"{source.name}: every band needs 0 < low <= 1 <= high")
    return Calibration(
        date=_text(raw.get("date")),
        sets=sets,
        bands=bands,
        accepted_by_spec={str(k): float(v) for k, v in raw.get("accepted_tokens_per_step", {}).items()},
        summary=raw.get("summary", {}),
        lone=lone,
    )


@lru_cache(maxsize=1)
def measurement_rows() -> tuple[dict[str, str], ...]:
    """All rows of data/measurements/*.csv as text, K3 first."""
    rows: list[dict[str, str]] = []
    for path in sorted((DATA / "measurements").glob("*measured*.csv")):
        rows.extend(read_csv(path))
    return tuple(rows)
