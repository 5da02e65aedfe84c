"""Holds the sizing model against measured rows: what it would have said, how far off it was, what it could not read.

A row is never anchored on itself: points of data/measurements with the same id, or with the same configuration, shape,
concurrency and throughput, are left out before its prediction. Its evidence level therefore says what the other points
support: 'measured' (another measurement of this configuration, shape and concurrency), 'interpolated', 'modelled'
(this model on this class and engine), 'class' (other models on this class) or 'uncalibrated'.

The fitted constants have seen the shipped files, some fifteen numbers for more than a thousand rows: what they err on
configurations they never saw is in data/calibration.toml and printed by `python -m calculators.calibrate --stored`.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from calculators import memory as mem
from calculators.calibration import Calibration, load_calibration, measurement_rows
from calculators.measurements import HasRecords, Point, parse_rows, read_csv
from calculators.sizing import (
    EVIDENCE,
    INTERPOLATED_KERNEL,
    MEASURED_KERNEL,
    SHAPE_SCALES,
    Anchors,
    Correction,
    implied_concurrency,
)
from calculators.throughput import CompiledPlan, Constants, Operating, compile_plan, operate

ConstantsOf = Callable[[Point], Constants]

_OTHER_ENGINE: Final = 0.3
_OTHER_PLAN: Final = 0.3
_OTHER_CACHE_SHARDING: Final = 0.6
_OTHER_PRECISION: Final = 0.5
_OTHER_DRAFT: Final = 0.5
_OTHER_ARM: Final = 0.6
"""Strength left to a measured series that differs in one of these from what is predicted."""

SPEED_ERROR: Final = 0.06
"""Standard error of the logarithm of the predicted time per token, for rows that give a speed and no concurrency."""

_EXPECTED_SPREAD: Final = 1.5
"""Spread of the logarithm of the concurrency such a row is expected to have."""

_SATURATION_SEQUENCES_PER_DEVICE: Final = 1024.0
"""Requests in flight that a 'max load' benchmark is taken to hold, where memory allows."""


@dataclass(frozen=True)
class Reference:
    """A measured point with its measured / predicted, as an anchor for others."""

    point: Point
    log_concurrency: float
    log_rate_ratio: float
    log_tpot_ratio: float
    accepted: float


@dataclass(frozen=True)
class Prediction:
    """What the model says for a row."""

    output_tokens_per_s: float
    evidence: str
    anchor_id: str


def shape_of(point: Point, catalog: HasRecords) -> mem.ModelShape:
    """The model in the precision that was measured."""
    shape = mem.model_shape(catalog.models[point.model_id])
    bits = mem.PRECISIONS[point.precision][0]
    if abs(bits - (shape.routed_bits or shape.dense_bits)) < 0.2:
        return shape
    return mem.with_precision(shape, point.precision)


def calibrated_constants(calibration: Calibration) -> ConstantsOf:
    """Constants of a point's class, engine and half-year from the calibration file; a bound for unknown classes."""

    def of(point: Point) -> Constants:
        if not calibration.knows_class(point.class_id):
            return calibration.best_constants() if point.devices > 1 else Constants.bound()
        return calibration.for_point(point.class_id, point.engine, point.era).constants

    return of


def compiled_of(point: Point, catalog: HasRecords, constants: Constants) -> CompiledPlan:
    """The point's own layout on its own accelerator."""
    chip = mem.chip(catalog.accelerators[point.accelerator_id])
    return compile_plan(shape_of(point, catalog), chip, point.plan, constants, point.kv_dtype)


def concurrency_of(point: Point, catalog: HasRecords, compiled: CompiledPlan, accepted: float) -> float:
    """Requests in flight: stated, at 'max load' what memory holds, else by Little's law; NaN when unknown."""
    if point.saturation:
        shape, chip = shape_of(point, catalog), mem.chip(catalog.accelerators[point.accelerator_id])
        room = mem.sequences_that_fit(
            shape,
            point.plan.decode.layout,
            point.kv_dtype,
            chip.usable_bytes,
            0.9,
            point.input_tokens + point.output_tokens,
        )
        held = float(room) * point.plan.decode.workers
        return max(1.0, min(held, _SATURATION_SEQUENCES_PER_DEVICE * point.devices))
    return implied_concurrency(point, compiled, accepted)


def _operate(point: Point, compiled: CompiledPlan, concurrency: Any, accepted: float) -> Operating:
    return operate(
        compiled, concurrency, point.input_tokens, point.output_tokens, point.cached_share, accepted, point.verified
    )


def accepted_tokens(point: Point, calibration: Calibration) -> float:
    """Accepted tokens a step: stated, else fitted for this kind of draft; NaN when neither."""
    if math.isfinite(point.accepted):
        return point.accepted
    return calibration.accepted_by_spec.get(point.spec, math.nan)


def references(
    points: Iterable[Point], catalog: HasRecords, calibration: Calibration, constants_of: ConstantsOf
) -> dict[tuple[str, str], list[Reference]]:
    """Measured points as anchors, by (model, accelerator). Marked points and unknown acceptances are left out."""
    result: dict[tuple[str, str], list[Reference]] = defaultdict(list)
    for point in points:
        accepted = accepted_tokens(point, calibration)
        if point.suspect.startswith(("marked", "dummy", "intermediate")) or not math.isfinite(accepted):
            continue
        compiled = compiled_of(point, catalog, constants_of(point))
        concurrency = concurrency_of(point, catalog, compiled, accepted)
        if not math.isfinite(concurrency):
            continue
        op = _operate(point, compiled, concurrency, accepted)
        rate = math.log(point.output_tokens_per_s / float(op.requests_per_s) / point.output_tokens)
        tpot = point.speed_s
        result[point.model_id, point.accelerator_id].append(
            Reference(
                point,
                math.log(concurrency),
                rate,
                math.log(tpot / float(op.tpot_s)) if tpot > 0 else -rate,
                accepted,
            )
        )
    return dict(result)


def _same_point(a: Point, b: Point) -> bool:
    """The same measurement, perhaps under another id."""
    return a.id == b.id or (
        a.configuration == b.configuration
        and (a.input_tokens, a.output_tokens) == (b.input_tokens, b.output_tokens)
        and math.isclose(a.output_tokens_per_s, b.output_tokens_per_s, rel_tol=1e-6)
    )


def _strength(target: Point, other: Point) -> float:
    strength = 1.0
    if target.engine != other.engine:
        strength *= _OTHER_ENGINE
    if target.precision != other.precision:
        strength *= _OTHER_PRECISION
    if target.spec != other.spec and (target.spec == "none") == (other.spec == "none"):
        strength *= _OTHER_DRAFT
    if target.arm != other.arm:
        strength *= _OTHER_ARM
    if (target.plan.prefill is None) != (other.plan.prefill is None):
        return 0.0
    if target.plan != other.plan:
        a, b = target.plan.decode.layout, other.plan.decode.layout
        near = (
            (a.tp, a.pp, a.dp, a.ep) == (b.tp, b.pp, b.dp, b.ep)
            and target.plan.decode.workers == other.plan.decode.workers
            and target.plan.prefill == other.plan.prefill
        )
        strength *= _OTHER_CACHE_SHARDING if near else _OTHER_PLAN
    return strength


def _days(date: str) -> float:
    parts = (date + "-00-00").split("-")
    try:
        return 365.0 * int(parts[0][:4]) + 30.4 * int(parts[1][:2] or 0) + int(parts[2][:2] or 0)
    except ValueError:
        return 0.0


def _arms(members: Sequence[Reference]) -> list[list[Reference]]:
    """A group by the source's own names for its arms, in one where they were run at different concurrencies."""
    arms: dict[str, list[Reference]] = defaultdict(list)
    for ref in sorted(members, key=lambda r: r.log_concurrency):
        arms[ref.point.arm].append(ref)
    ordered = sorted(arms.values(), key=lambda arm: arm[0].log_concurrency)
    if all(a[-1].log_concurrency < b[0].log_concurrency for a, b in pairwise(ordered)):
        return [list(members)]
    return ordered


def _anchors(target: Point, accepted: float, refs: Sequence[Reference]) -> list[Anchors]:
    """Series of the other points, each with how much it says about the target's configuration."""
    groups: dict[tuple[Any, ...], list[Reference]] = defaultdict(list)
    for ref in refs:
        p = ref.point
        if _same_point(target, p) or p.saturation != target.saturation:
            continue
        d2 = (
            (math.log(p.input_tokens / target.input_tokens) / SHAPE_SCALES[0]) ** 2
            + (math.log(p.output_tokens / target.output_tokens) / SHAPE_SCALES[1]) ** 2
            + ((p.cached_share - target.cached_share) / SHAPE_SCALES[2]) ** 2
            + (math.log(ref.accepted / accepted) / SHAPE_SCALES[3]) ** 2
        )
        if d2 < 1.0:
            key = (p.engine, p.precision, p.plan, p.spec, p.input_tokens, p.output_tokens, p.cached_share)
            groups[key].append(ref)
    result = []
    when = _days(target.date)
    for members in (arm for group in groups.values() for arm in _arms(group)):
        first = members[0]
        strength = _strength(target, first.point)
        if strength <= 0:
            continue
        chosen: list[Reference] = []
        # Of several dates at one concurrency the software nearest in time to the target speaks.
        for ref in sorted(members, key=lambda r: (abs(_days(r.point.date) - when), r.point.id)):
            if all(abs(ref.log_concurrency - other.log_concurrency) > 0.05 for other in chosen):
                chosen.append(ref)
        chosen.sort(key=lambda r: r.log_concurrency)
        result.append(
            Anchors(
                input_tokens=first.point.input_tokens,
                output_tokens=first.point.output_tokens,
                cached_share=first.point.cached_share,
                accepted=first.accepted,
                log_concurrency=tuple(r.log_concurrency for r in chosen),
                log_rate_ratio=tuple(r.log_rate_ratio for r in chosen),
                log_tpot_ratio=tuple(r.log_tpot_ratio for r in chosen),
                log_ttft_ratio=tuple(0.0 for _ in chosen),
                ids=tuple(r.point.id for r in chosen),
                source_urls=tuple(r.point.source_url for r in chosen),
                dates=tuple(r.point.date for r in chosen),
                resident_tokens=math.inf,
                memory_limited=False,
                rates=(),
                tpots=(),
                strength=strength,
            )
        )
    return result


def predict(
    point: Point,
    catalog: HasRecords,
    calibration: Calibration,
    refs: Mapping[tuple[str, str], Sequence[Reference]],
    constants_of: ConstantsOf,
    *,
    anchored: bool = True,
    without: Callable[[Point], bool] | None = None,
) -> Prediction:
    """Output tokens per second of a row from everything but the row itself.

    Args:
        point: the row.
        catalog: models and accelerators by id.
        calibration: acceptances and known classes.
        refs: measured points by (model, accelerator), see `references`.
        constants_of: constants of a point.
        anchored: False ignores the measured points.
        without: measured points that may not anchor, beside the row itself.

    Raises:
        ValueError: the row lacks what a prediction needs, in words.
    """
    accepted = accepted_tokens(point, calibration)
    if not math.isfinite(accepted):
        raise ValueError(f"accepted tokens per step of {point.spec!r} are not stated")
    compiled = compiled_of(point, catalog, constants_of(point))
    others = refs.get((point.model_id, point.accelerator_id), ())
    if without is not None:
        others = [ref for ref in others if not without(ref.point)]
    series = _anchors(point, accepted, others) if anchored else []
    correction = Correction(
        series,
        np.asarray(math.log(point.input_tokens)),
        np.asarray(math.log(point.output_tokens)),
        np.asarray(point.cached_share),
        np.asarray(accepted),
    )

    def at(log_c: Any) -> tuple[Any, Any]:
        op = _operate(point, compiled, np.exp(log_c), accepted)
        where = np.asarray(log_c)
        rate, tpot = correction.log_ratio("rate", where), correction.log_ratio("tpot", where)
        return op.requests_per_s * np.exp(rate), op.tpot_s * np.exp(tpot)

    if point.concurrency > 0 or point.saturation:
        log_c = math.log(concurrency_of(point, catalog, compiled, accepted))
        rate = float(at(log_c)[0])
    elif point.tpot_s > 0 or point.user_tokens_per_s > 0:
        target = 1 / point.user_tokens_per_s if point.user_tokens_per_s > 0 else point.tpot_s
        rate, log_c = _rate_at_speed(at, target, point.plan.decode.workers)
    else:
        raise ValueError("neither concurrency nor a speed per user is stated")

    known = any(
        r.point.engine == point.engine and not _same_point(point, r.point)
        for key, rs in refs.items()
        if key[0] == point.model_id and catalog.accelerators[key[1]].class_id == point.class_id
        for r in rs
    )
    if not calibration.knows_class(point.class_id):
        level = EVIDENCE.index("uncalibrated")
    else:
        level = EVIDENCE.index("modelled" if known else "class")
    anchor = ""
    best = 0.0
    for part, _, near in correction.series:
        gaps = [abs(log_c - x) for x in part.log_concurrency]
        nearest = int(np.argmin(gaps))
        if float(near) > best:
            best, anchor = float(near), part.ids[nearest]
        inside = part.log_concurrency[0] - 0.25 < log_c < part.log_concurrency[-1] + 0.25
        if float(near) >= MEASURED_KERNEL and gaps[nearest] < 0.1:
            level = 0
        elif float(near) >= INTERPOLATED_KERNEL and inside:
            level = min(level, 1)
    return Prediction(rate * point.output_tokens, EVIDENCE[level], anchor)


def _rate_at_speed(at: Callable[[Any], tuple[Any, Any]], target_s: float, workers: int) -> tuple[float, float]:
    """Rate and log concurrency where each user sees this time per token.

    Near the latency floor speed says next to nothing about concurrency: a few per cent of speed are a factor of
    several in it. So the speed is taken to be known as well as the model predicts it (SPEED_ERROR), and concurrency
    is averaged over what is then possible, from 1 to 1e5, with a broad expectation of some 16 requests a worker.
    """
    grid = np.linspace(0.0, math.log(1e5), 240)
    rate, tpot = at(grid)
    score = ((np.log(tpot) - math.log(target_s)) / SPEED_ERROR) ** 2 + (
        (grid - math.log(16.0 * workers)) / _EXPECTED_SPREAD
    ) ** 2
    weight = np.exp(-0.5 * (score - score.min()))
    weight /= weight.sum()
    return math.exp(float(weight @ np.log(rate))), float(weight @ grid)


class _Key:
    """Identity of a catalogue, so that its parsed measurements are kept."""

    def __init__(self, catalog: HasRecords) -> None:
        self.catalog = catalog

    def __hash__(self) -> int:
        return id(self.catalog)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.catalog is self.catalog


@lru_cache(maxsize=4)
def _own_references(key: _Key) -> dict[tuple[str, str], list[Reference]]:
    calibration = load_calibration()
    points, _ = parse_rows(measurement_rows(), key.catalog)
    return references(points, key.catalog, calibration, calibrated_constants(calibration))


def validate_rows(
    rows: Iterable[Mapping[str, str]] | Path | str, catalog: HasRecords, *, anchored: bool = True
) -> dict[str, Any]:
    """Predict every usable row and compare.

    Args:
        rows: rows as text by column, or the path of a CSV file in either layout.
        catalog: models, accelerators and systems by id.
        anchored: False predicts from the fitted constants alone.

    Returns:
        {'rows': [{id, measured_output_tokens_per_s, predicted_output_tokens_per_s, error, evidence}],
        'summary': {n, mape, median_ape, p90_ape, by_hardware, skipped: [{id, why}]}}. error is predicted / measured
        - 1, a fraction; the summary's figures are null when no row was usable.

    Raises:
        ValueError: the file cannot be read, or its columns are of neither layout.
    """
    texts = read_csv(rows, check=True) if isinstance(rows, str | Path) else list(rows)
    points, skipped_points = parse_rows(texts, catalog)
    calibration = load_calibration()
    constants_of = calibrated_constants(calibration)
    refs = _own_references(_Key(catalog))
    result, skipped = [], [{"id": s.id, "why": s.why} for s in skipped_points]
    by_hardware: dict[str, list[float]] = defaultdict(list)
    for point in points:
        try:
            said = predict(point, catalog, calibration, refs, constants_of, anchored=anchored)
        except (ValueError, ArithmeticError) as why:
            skipped.append({"id": point.id, "why": str(why)})
            continue
        error = said.output_tokens_per_s / point.output_tokens_per_s - 1.0
        if not math.isfinite(error):
            skipped.append({"id": point.id, "why": "its figures are outside what can be computed"})
            continue
        row: dict[str, Any] = {
            "id": point.id,
            "measured_output_tokens_per_s": point.output_tokens_per_s,
            "predicted_output_tokens_per_s": said.output_tokens_per_s,
            "error": error,
            "evidence": said.evidence,
            "hardware": point.accelerator_id,
            "model": point.model_id,
            "anchor": said.anchor_id or None,
        }
        if point.suspect:
            row["note"] = point.suspect
        result.append(row)
        by_hardware[point.accelerator_id].append(abs(error))
    return {
        "rows": result,
        "summary": {
            **_summary([abs(r["error"]) for r in result]),
            "by_hardware": {name: _summary(errors) for name, errors in sorted(by_hardware.items())},
            "skipped": skipped,
        },
    }


def _summary(errors: Sequence[float]) -> dict[str, float | int | None]:
    """Count and quantiles of absolute relative errors (fractions); None without rows."""
    if not errors:
        return {"n": 0, "mape": None, "median_ape": None, "p90_ape": None}
    values = np.asarray(errors)
    return {
        "n": len(errors),
        "mape": float(values.mean()),
        "median_ape": float(np.median(values)),
        "p90_ape": float(np.quantile(values, 0.9)),
    }
