"""Fits the efficiencies of calculators.throughput to measured points and writes data/calibration.toml.

    python -m calculators.calibrate            fit, judge, write data/calibration.toml and data/predictions.csv
    python -m calculators.calibrate --report   the same figures as markdown, nothing written

How it is fitted: every constant is a logarithm pulled towards its parent by a ridge penalty - physics prior, then all
points, then the accelerator class, then class and engine, then class, engine and half-year of the software. A set with
few points stays near its parent. Rows are never free to move one by one: eleven constants a set describe all of them.

How it is judged: five folds by a hash of the configuration (model, accelerator, engine, precision, layout, speculation,
disaggregation), never by row; each fold is predicted by constants that never saw any of its configurations. Leaving out
a whole model or a whole accelerator gives the error for a model or machine without points. Marked rows (suspect, forced
acceptance, dummy weights) take no part.
"""

import argparse
import hashlib
import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calculators import memory as mem
from calculators.calibration import DATA, Band, Calibration, ConstantSet, Lone, load_calibration, measurement_rows
from calculators.measurements import HasRecords, Point, parse_rows
from calculators.predictions import FILE, Prediction, fingerprint, to_csv
from calculators.throughput import (
    DRAFT_SHARE,
    REFERENCE_RANKS,
    CompiledPlan,
    Constants,
    WorkerTerms,
    compile_plan,
    operate,
    worker_terms,
)
from calculators.validate import concurrency_of, predict, references, shape_of

Array = NDArray[np.float64]

FOLDS: Final = 5
COVERAGE: Final = 0.80
"""Share of held-out points that a band must hold."""

NAMES: Final = tuple(f.name for f in fields(Constants))
PRIOR: Final[dict[str, tuple[float, float]]] = {
    # constant: physically expected value, spread of its logarithm
    "layer_floor_s": (60e-6, 1.0),
    "moe_floor_s": (20e-6, 1.0),
    "linear_floor_s": (10e-6, 1.5),
    "ep_floor_s": (5e-6, 1.5),
    "dcp_floor_s": (5e-6, 1.5),
    "rank_growth": (0.15, 0.7),
    "pipeline_fill": (0.5, 0.8),
    "sequence_s": (30e-6, 1.0),
    "e_bw": (0.60, 0.4),
    "e_kv": (0.50, 0.5),
    "e_dec": (0.40, 0.6),
    "e_pf": (0.40, 0.6),
    "prefill_layer_s": (300e-6, 1.0),
    "e_link": (0.50, 0.6),
    "queue": (0.45, 0.5),
    "merge": (0.05, 1.0),
    "handover_s": (0.3, 1.0),
}
EFFICIENCIES: Final = frozenset({"e_bw", "e_kv", "e_dec", "e_pf", "e_link", "pipeline_fill"})
EFFICIENCY_CEILING: Final = 0.95
"""No share of a peak comes out above this: a fit may not buy speed with impossible hardware."""

_TIGHTNESS: Final = (0.12, 0.25, 0.25, 0.35)
"""Ridge of the four levels, in units of 1 / spread: global, class, class and engine, with half-year."""

_TERM_NAMES: Final = tuple(f.name for f in fields(WorkerTerms))

_UNIT: Final = Constants(**dict.fromkeys(NAMES, 1.0))


class Dataset:
    """Points turned into arrays once, so that a fit evaluates all of them in a few array operations."""

    def __init__(self, points: Sequence[Point], catalog: HasRecords) -> None:
        """Compile the unit coefficients of every point."""
        self.points = list(points)
        n = len(self.points)
        self.rate = np.array([p.output_tokens_per_s / p.output_tokens for p in points])
        self.tpot = np.array([p.speed_s for p in points])
        self.ttft = np.array([p.ttft_s for p in points])
        self.concurrency = np.array([p.concurrency for p in points])
        self.weight = np.ones(n)
        self.parts: list[dict[str, Any]] = []
        for shared in (True, False):
            index = np.array([i for i, p in enumerate(points) if (p.plan.prefill is None) == shared], dtype=np.int64)
            if not len(index):
                continue
            chosen = [self.points[i] for i in index]
            decode, prefill, room = [], [], []
            for p in chosen:
                shape, chip = shape_of(p, catalog), mem.chip(catalog.accelerators[p.accelerator_id])
                pool = p.plan.prefill or p.plan.decode
                layout = p.plan.decode.layout
                decode.append(worker_terms(shape, chip, layout, _UNIT, p.kv_dtype))
                prefill.append(worker_terms(shape, chip, pool.layout, _UNIT, p.kv_dtype))
                fit = mem.sequences_that_fit(
                    shape, layout, p.kv_dtype, chip.usable_bytes, 0.9, p.input_tokens + p.output_tokens
                )
                room.append(max(1.0, float(fit) * p.plan.decode.workers))
            self.parts.append(
                {
                    "index": index,
                    "shared": shared,
                    "decode": _stack(decode) | _floor_inputs(chosen, catalog),
                    "prefill": _stack(prefill),
                    "decode_workers": np.array([float(p.plan.decode.workers) for p in chosen]),
                    "prefill_workers": np.array([float((p.plan.prefill or p.plan.decode).workers) for p in chosen]),
                    "isl": np.array([p.input_tokens for p in chosen]),
                    "osl": np.array([p.output_tokens for p in chosen]),
                    "cached": np.array([p.cached_share for p in chosen]),
                    "verified": np.array([p.verified for p in chosen]),
                    "room": np.minimum(np.array(room), 1024.0 * np.array([p.devices for p in chosen])),
                    "saturation": np.array([p.saturation for p in chosen]),
                }
            )

    def subset(self, keep: Iterable[int], catalog: HasRecords) -> "Dataset":
        """The points of these indices."""
        return Dataset([self.points[i] for i in keep], catalog)

    def predict(self, constants: Mapping[str, Array], accepted: Array) -> tuple[Array, Array, Array]:
        """Requests per second, time per token and time to first token of every point under its constants."""
        n = len(self.points)
        rate, tpot, ttft = np.zeros(n), np.zeros(n), np.zeros(n)
        for part in self.parts:
            i = part["index"]
            k = {name: values[i] for name, values in constants.items()}
            plan = CompiledPlan(
                Constants(**k),  # arrays broadcast through the same formulas
                _scaled(part["decode"], k),
                part["decode_workers"],
                _scaled(part["prefill"], k),
                part["prefill_workers"],
                part["shared"],
            )
            c = self.concurrency[i]
            args = (part["isl"], part["osl"], part["cached"], accepted[i], part["verified"])
            c = np.where(part["saturation"], part["room"], c)
            unknown = ~(c > 0)
            if unknown.any():
                # Little's law: what is in decode follows from rate and speed; what is in prefill from the model.
                decoding = self.rate[i] * (part["osl"] - 1) * self.tpot[i]
                op = operate(plan, np.where(unknown, np.maximum(decoding, 1.0), c), *args)
                wait = np.where(self.ttft[i] > 0, self.ttft[i], op.ttft_s)
                c = np.where(unknown, np.maximum(decoding + self.rate[i] * wait, 1.0), c)
            op = operate(plan, c, *args)
            rate[i], tpot[i], ttft[i] = op.requests_per_s, op.tpot_s, op.ttft_s
        return rate, tpot, ttft

    def residuals(self, constants: Mapping[str, Array], accepted: Array) -> tuple[Array, Array, Array]:
        """Log of predicted / measured: rate, time per token, time to first token (0 where not measured)."""
        rate, tpot, ttft = self.predict(constants, accepted)
        return (
            np.log(rate / self.rate),
            np.where(self.tpot > 0, np.log(tpot / np.where(self.tpot > 0, self.tpot, 1.0)), 0.0),
            np.where(self.ttft > 0, np.log(ttft / np.where(self.ttft > 0, self.ttft, 1.0)), 0.0),
        )


def _stack(terms: Sequence[WorkerTerms]) -> dict[str, Array]:
    return {f.name: np.array([float(getattr(t, f.name)) for t in terms]) for f in fields(WorkerTerms)}


def _floor_inputs(points: Sequence[Point], catalog: HasRecords) -> dict[str, Array]:
    """What the latency floor of the decode worker depends on; the one coefficient that is not a plain factor."""
    shapes = [shape_of(p, catalog) for p in points]
    return {
        "layers": np.array([float(s.layers) for s in shapes]),
        "moe_layers": np.array([float(s.moe_layers) for s in shapes]),
        "linear_layers": np.array([float(s.linear_layers) for s in shapes]),
        "ep_layers": np.array(
            [float(s.moe_layers * (p.plan.decode.layout.ep > 1)) for s, p in zip(shapes, points, strict=True)]
        ),
        "dcp_layers": np.array(
            [float(s.cached_layers * (p.plan.decode.layout.dcp > 1)) for s, p in zip(shapes, points, strict=True)]
        ),
        "ranks": np.array([p.plan.decode.layout.tp * p.plan.decode.layout.dp / REFERENCE_RANKS for p in points]),
    }


def _scaled(raw: Mapping[str, Array], k: Mapping[str, Array]) -> WorkerTerms:
    """Unit coefficients times the constants: every one of them enters as a plain factor."""
    values: dict[str, Any] = {name: raw[name] for name in _TERM_NAMES}
    if "layers" in raw:
        floor = (
            raw["layers"] * k["layer_floor_s"]
            + raw["moe_layers"] * k["moe_floor_s"]
            + raw["linear_layers"] * k["linear_floor_s"]
            + raw["ep_layers"] * k["ep_floor_s"]
            + raw["dcp_layers"] * k["dcp_floor_s"]
        ) * raw["ranks"] ** k["rank_growth"]
        values["decode_batches"] = 1.0 + k["pipeline_fill"] * (raw["pp"] - 1)
        values["floor_s"], values["draft_s"] = floor, DRAFT_SHARE * floor
    for name, factor in (
        ("chunk_floor_s", k["prefill_layer_s"]),
        ("per_token_s", 1 / k["e_link"]),
        ("new_token_comm_s", 1 / k["e_link"]),
        ("dense_weights_s", 1 / k["e_bw"]),
        ("routed_weights_s", 1 / k["e_bw"]),
        ("chunk_weights_s", 1 / k["e_bw"]),
        ("flop_per_local_token_s", 1 / k["e_dec"]),
        ("flop_per_token_s", 1 / k["e_dec"]),
        ("cache_per_token_s", 1 / k["e_kv"]),
        ("state_s", 1 / k["e_kv"]),
        ("new_token_flop_s", 1 / k["e_pf"]),
        ("pair_flop_s", 1 / k["e_pf"]),
    ):
        values[name] = raw[name] * factor
    return WorkerTerms(**values)


def _natural(name: str, log_value: Array) -> Array:
    """Constant from its logarithm; efficiencies saturate smoothly below the ceiling."""
    value = np.exp(log_value)
    if name in EFFICIENCIES:
        return np.asarray(value / (1.0 + (value / EFFICIENCY_CEILING) ** 8) ** 0.125)
    return np.asarray(value)


def _soft(residual: Array, scale: float) -> Array:
    """Residual whose square grows only linearly far out, so that an odd row cannot bend a set."""
    return np.asarray(residual / np.sqrt(np.sqrt(1.0 + (residual / scale) ** 2)))


def fit(data: Dataset, start: Array, tightness: float, accepted: Array, iterations: int = 25) -> Array:
    """Constants (logarithms, order of NAMES) of one set, pulled towards `start` by the ridge.

    Levenberg-Marquardt with numerical derivatives; rate counts fully, time per token half, time to first token a tenth.
    """
    n = len(data.points)
    spread = np.array([PRIOR[name][1] for name in NAMES])

    def cost(delta: Array) -> Array:
        k = {name: np.broadcast_to(_natural(name, start[j] + delta[j]), (n,)) for j, name in enumerate(NAMES)}
        rate, tpot, ttft = data.residuals(k, accepted)
        w = data.weight
        return np.concatenate(
            [w * _soft(rate, 0.3), 0.5 * w * _soft(tpot, 0.3), 0.1 * w * _soft(ttft, 0.5), tightness * delta / spread]
        )

    delta = np.zeros(len(NAMES))
    residual = cost(delta)
    value = float(residual @ residual)
    damping = 1e-2
    for _ in range(iterations):
        jacobian = np.empty((len(residual), len(delta)))
        for j in range(len(delta)):
            moved = delta.copy()
            moved[j] += 1e-3
            jacobian[:, j] = (cost(moved) - residual) / 1e-3
        normal, gradient = jacobian.T @ jacobian, jacobian.T @ residual
        improved = False
        for _ in range(8):
            step = np.clip(-np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-9), gradient), -1, 1)
            trial = cost(delta + step)
            if float(trial @ trial) < value:
                improved, gain = True, value - float(trial @ trial)
                delta, residual, value = delta + step, trial, float(trial @ trial)
                damping = max(damping / 5, 1e-6)
                break
            damping *= 4
        if not improved or gain < 1e-5 * value:
            break
    return start + delta


Key = tuple[str, ...]


def _levels(point: Point) -> tuple[Key, Key, Key, Key]:
    return (), (point.class_id,), (point.class_id, point.engine), (point.class_id, point.engine, point.era)


@dataclass
class Fitted:
    """Log constants at every level that had points."""

    sets: dict[Key, Array]

    def of(self, point: Point) -> Array:
        """Constants for a point: the most specific level that exists."""
        for key in reversed(_levels(point)):
            if key in self.sets:
                return self.sets[key]
        raise KeyError(())

    def arrays(self, points: Sequence[Point]) -> dict[str, Array]:
        """One value a point and constant."""
        logs = np.array([self.of(p) for p in points])
        return {name: _natural(name, logs[:, j]) for j, name in enumerate(NAMES)}


def fit_all(data: Dataset, catalog: HasRecords, acceptance: Mapping[str, float]) -> Fitted:
    """Fit all levels, each pulled towards its parent."""
    start = np.array([math.log(PRIOR[name][0]) for name in NAMES])
    sets: dict[Key, Array] = {}
    balance = _balance(data.points)
    for level in range(4):
        groups: dict[Key, list[int]] = defaultdict(list)
        for i, p in enumerate(data.points):
            groups[_levels(p)[level]].append(i)
        for key in sorted(groups):
            rows = groups[key]
            part = data if len(rows) == len(data.points) else data.subset(rows, catalog)
            part.weight = balance[rows]
            parent = start if level == 0 else sets[key[:-1]]
            sets[key] = fit(part, parent, _TIGHTNESS[level], accepted_of(part.points, acceptance))
    return Fitted(sets)


def _balance(points: Sequence[Point]) -> Array:
    """Weights: a configuration measured daily for months is one configuration, and one shape is not another."""
    counts: dict[tuple[Any, ...], int] = defaultdict(int)
    keys = [(p.configuration, p.input_tokens, p.output_tokens, p.concurrency, p.era) for p in points]
    for key in keys:
        counts[key] += 1
    return np.array([1.0 / math.sqrt(counts[key]) for key in keys])


def accepted_of(points: Sequence[Point], acceptance: Mapping[str, float]) -> Array:
    """Accepted tokens a step: stated, else the fitted acceptance of that kind of draft."""
    return np.array([p.accepted if math.isfinite(p.accepted) else acceptance.get(p.spec, math.nan) for p in points])


def fold_of(point: Point, folds: int = FOLDS) -> int:
    """Fold of a point's configuration; the same on every machine and every day."""
    return int(hashlib.sha256(point.configuration.encode()).hexdigest(), 16) % folds


def usable(points: Sequence[Point], acceptance: Mapping[str, float]) -> list[Point]:
    """Points that may calibrate: not marked, with a concurrency or a speed, acceptance known."""
    return [
        p
        for p in points
        if not p.suspect
        and (p.concurrency > 0 or p.tpot_s > 0 or p.user_tokens_per_s > 0 or p.saturation)
        and (math.isfinite(p.accepted) or p.spec in acceptance)
    ]


def held_out(
    data: Dataset, catalog: HasRecords, acceptance: Mapping[str, float], part_of: Callable[[Point], Any]
) -> Array:
    """Log(predicted / measured) rate of every point by constants that never saw its part (fold, model, machine)."""
    result = np.full(len(data.points), np.nan)
    parts = [part_of(p) for p in data.points]
    for part in sorted(set(parts), key=str):
        test = [i for i, x in enumerate(parts) if x == part]
        train = [i for i, x in enumerate(parts) if x != part]
        if not train:
            continue
        fitted = fit_all(data.subset(train, catalog), catalog, acceptance)
        subset = data.subset(test, catalog)
        rate, _, _ = subset.residuals(fitted.arrays(subset.points), accepted_of(subset.points, acceptance))
        result[test] = rate
    return result


# ------------------------------------------------------------------------------------------------------------ judging


@dataclass(frozen=True)
class Folds:
    """Errors of points whose configuration was held out, log(predicted / measured); one entry a point.

    anchored, anchored_level: as the app answers, other points as anchors. renewed, renewed_level: the same without
    repeats of the point in the same month, and NaN for all but one of such repeats: a buyer's software is another
    month's, and a point measured daily is one point. constants_only: no anchors, rows without a
    concurrency predicted from their speed. at_concurrency: no anchors, such rows at the concurrency that rate and
    latency imply. has_set: the training folds hold another configuration of the model on this class and engine.
    """

    constants_only: Array
    anchored: Array
    anchored_level: tuple[str, ...]
    renewed: Array
    renewed_level: tuple[str, ...]
    at_concurrency: Array
    has_set: NDArray[np.bool_]


@dataclass(frozen=True)
class Judged(Folds):
    """All hold-outs: also the whole model, the whole machine, and no constants at all (the physical bound)."""

    by_model: Array
    by_machine: Array
    bound: Array


def fit_acceptance(data: Dataset, catalog: HasRecords) -> dict[str, float]:
    """Accepted tokens a step of drafts whose rows do not state it, by kind of draft: the value that fits best.

    One number a kind of draft, the same for all machines.
    """
    kinds = sorted({p.spec for p in data.points if not math.isfinite(p.accepted)})
    acceptance = {kind: (2.0 if kind == "mtp" else 3.8) for kind in kinds}
    for kind in kinds:
        best = (math.inf, acceptance[kind])
        for value in np.arange(1.6, 2.81, 0.2) if kind == "mtp" else np.arange(3.2, 4.81, 0.2):
            trial = {**acceptance, kind: round(float(value), 2)}
            fitted = fit_all(data, catalog, trial)
            rate, tpot, _ = data.residuals(fitted.arrays(data.points), accepted_of(data.points, trial))
            rows = [i for i, p in enumerate(data.points) if p.spec == kind]
            best = min(best, (float(np.mean(np.abs(rate[rows])) + np.mean(np.abs(tpot[rows]))), trial[kind]))
        acceptance[kind] = best[1]
    return acceptance


def constants_of(fitted: Fitted) -> Callable[[Point], Constants]:
    """Lookup of natural constants for a point, most specific level first."""
    cache: dict[Key, Constants] = {}

    def of(point: Point) -> Constants:
        for key in reversed(_levels(point)):
            if key in fitted.sets:
                if key not in cache:
                    logs = fitted.sets[key]
                    cache[key] = Constants(**{name: float(_natural(name, logs[j])) for j, name in enumerate(NAMES)})
                return cache[key]
        raise KeyError(())

    return of


def judge_folds(data: Dataset, catalog: HasRecords, calibration: Calibration) -> Folds:
    """Every configuration held out once. A point is in neither the constants nor the anchors that predict it."""
    points = data.points
    acceptance = calibration.accepted_by_spec
    n = len(points)
    only, anchored, stated = np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan)
    levels = [""] * n
    renewed, renewed_levels = np.full(n, np.nan), [""] * n
    first_of: set[tuple[Any, ...]] = set()
    has_set = np.zeros(n, dtype=bool)
    for fold in range(FOLDS):
        test = [i for i, p in enumerate(points) if fold_of(p) == fold]
        train = [i for i, p in enumerate(points) if fold_of(p) != fold]
        fitted = fit_all(data.subset(train, catalog), catalog, acceptance)
        of = constants_of(fitted)
        subset = data.subset(test, catalog)
        stated[test], _, _ = subset.residuals(fitted.arrays(subset.points), accepted_of(subset.points, acceptance))
        refs = references(points, catalog, calibration, of)
        seen = {(points[i].model_id, points[i].class_id, points[i].engine) for i in train}
        for i in test:
            p = points[i]
            said = predict(p, catalog, calibration, refs, of)
            anchored[i] = math.log(said.output_tokens_per_s / p.output_tokens_per_s)
            if not (p.concurrency > 0) or _repeat_key(p) not in first_of:
                first_of.add(_repeat_key(p))
                fresh = predict(p, catalog, calibration, refs, of, without=_repeats_of(p))
                renewed[i] = math.log(fresh.output_tokens_per_s / p.output_tokens_per_s)
                renewed_levels[i] = fresh.evidence
            bare = predict(p, catalog, calibration, refs, of, anchored=False)
            only[i] = math.log(bare.output_tokens_per_s / p.output_tokens_per_s)
            levels[i] = said.evidence
            has_set[i] = (p.model_id, p.class_id, p.engine) in seen
    return Folds(
        constants_only=only,
        anchored=anchored,
        anchored_level=tuple(levels),
        renewed=renewed,
        renewed_level=tuple(renewed_levels),
        at_concurrency=stated,
        has_set=has_set,
    )


def judge(data: Dataset, catalog: HasRecords, calibration: Calibration) -> Judged:
    """All hold-outs."""
    points = data.points
    acceptance = calibration.accepted_by_spec
    folds = judge_folds(data, catalog, calibration)
    by_model = held_out(data, catalog, acceptance, lambda p: p.model_id)
    by_machine = held_out(data, catalog, acceptance, lambda p: p.accelerator_id)
    bound_constants = Constants.bound()
    bound = np.full(len(points), np.nan)
    for i, p in enumerate(points):
        accepted = float(accepted_of([p], acceptance)[0])
        compiled = compile_plan(
            shape_of(p, catalog),
            mem.chip(catalog.accelerators[p.accelerator_id]),
            p.plan,
            bound_constants,
            p.kv_dtype,
        )
        c = concurrency_of(p, catalog, compiled, accepted)
        op = operate(compiled, c, p.input_tokens, p.output_tokens, p.cached_share, accepted, p.verified)
        bound[i] = math.log(float(op.requests_per_s) * p.output_tokens / p.output_tokens_per_s)
    return Judged(**vars(folds), by_model=by_model, by_machine=by_machine, bound=bound)


def predictions_of(points: Sequence[Point], folds: Folds) -> tuple[Prediction, ...]:
    """The held-out predictions as they are kept in data/predictions.csv."""
    return tuple(
        Prediction(
            id=p.id,
            hardware=p.accelerator_id,
            model=p.model_id,
            evidence=folds.anchored_level[i],
            measured_tokens_per_s=p.output_tokens_per_s,
            predicted_tokens_per_s=p.output_tokens_per_s * math.exp(folds.anchored[i]),
            constants_only_tokens_per_s=p.output_tokens_per_s * math.exp(folds.constants_only[i]),
        )
        for i, p in enumerate(points)
    )


def held_out_predictions(catalog: HasRecords, calibration: Calibration) -> tuple[Prediction, ...]:
    """Predict every usable row of data/measurements by constants that never saw its configuration; takes a minute."""
    parsed, _ = parse_rows(measurement_rows(), catalog)
    points = usable(parsed, calibration.accepted_by_spec)
    return predictions_of(points, judge_folds(Dataset(points, catalog), catalog, calibration))


def lone_configurations(points: Sequence[Point], residual: Array) -> tuple[Lone, ...]:
    """Classes, and models on a class and engine, that one configuration alone supports, with what it asks of the band.

    Its held-out error says how far the next configuration may be off, and not in which direction once the constants
    have seen it. So the band reaches as far either way as COVERAGE of its points were off (all of them where few).

    Args:
        points: measured points.
        residual: log(predicted / measured) of each by constants without its configuration and without anchors.
    """
    groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for i, p in enumerate(points):
        groups[p.class_id, "", ""].append(i)
        groups[p.class_id, p.engine, p.model_id].append(i)
    found: list[Lone] = []
    for (class_id, engine, model_id), rows in sorted(groups.items()):
        if len({points[i].configuration for i in rows}) > 1:
            continue
        if any(entry.class_id == class_id and not entry.model_id for entry in found):
            continue  # the class says it already
        off = np.sort(np.abs(residual[rows]))
        factor = math.exp(float(off[min(len(off) - 1, math.ceil(COVERAGE * (len(off) + 1) - 1e-9) - 1)]))
        found.append(Lone(class_id, engine, model_id, len(rows), round(1 / factor, 3), round(factor, 3)))
    return tuple(found)


def _repeat_key(p: Point) -> tuple[Any, ...]:
    return p.configuration, p.input_tokens, p.output_tokens, p.concurrency, p.date[:7]


def _repeats_of(target: Point) -> Callable[[Point], bool]:
    """Whether another point is the target measured again in the same month (never where no concurrency is stated)."""
    if not target.concurrency > 0:
        return lambda other: False
    key = _repeat_key(target)
    return lambda other: _repeat_key(other) == key


def band_of(residual: Array, coverage: float = COVERAGE) -> tuple[float, float]:
    """Low and high factor on a prediction that hold `coverage` of measured values, equal tails.

    Quantiles are those of n + 1 (conformal), so that a new point is covered too, not only those at hand. A band never
    closes below 3 % either side: repeated runs of one machine differ by that.
    """
    ratio = np.sort(-residual)  # log(measured / predicted)
    n = len(ratio)
    tail = (1.0 - coverage) / 2.0
    low = ratio[max(0, math.floor(tail * (n + 1) + 1e-9) - 1)]
    high = ratio[min(n - 1, math.ceil((1.0 - tail) * (n + 1) - 1e-9) - 1)]
    return min(math.exp(float(low)), 0.97), max(math.exp(float(high)), 1.03)


def coverage_across_folds(points: Sequence[Point], residual: Array, nominal: float = COVERAGE) -> float:
    """Share of points inside the band that the other folds give: what the band is worth on unseen configurations."""
    folds = np.array([fold_of(p) for p in points])
    inside = 0
    for fold in range(FOLDS):
        test, train = residual[folds == fold], residual[folds != fold]
        if not len(test):
            continue
        low, high = band_of(train, nominal) if len(train) else (1.0, 1.0)
        ratio = np.exp(-test)
        inside += int(np.sum((ratio >= low) & (ratio <= high)))
    return inside / max(len(residual), 1)


def honest_band(points: Sequence[Point], residual: Array) -> tuple[float, float]:
    """The narrowest band whose version from the other folds still holds COVERAGE of each fold's points."""
    for nominal in np.arange(COVERAGE, 0.985, 0.01):
        if coverage_across_folds(points, residual, float(nominal)) >= COVERAGE:
            return band_of(residual, float(nominal))
    return band_of(residual, 0.99)


def errors(residual: Array) -> dict[str, float | int]:
    """Count, mean, median and 90th percentile of |predicted / measured - 1|, fractions."""
    e = np.abs(np.expm1(residual[np.isfinite(residual)]))
    if not len(e):
        return {"n": 0}
    return {
        "n": len(e),
        "mean": round(float(e.mean()), 4),
        "median": round(float(np.median(e)), 4),
        "p90": round(float(np.quantile(e, 0.9)), 4),
    }


def software_floor(points: Sequence[Point]) -> dict[str, float | int]:
    """How far measurements of one configuration, shape and concurrency at different dates lie apart."""
    groups: dict[tuple[Any, ...], list[Point]] = defaultdict(list)
    for p in points:
        if p.concurrency > 0:
            groups[p.configuration, p.input_tokens, p.output_tokens, p.concurrency].append(p)
    logs = []
    for members in groups.values():
        ordered = sorted(members, key=lambda p: p.date)
        if ordered[0].date[:7] != ordered[-1].date[:7]:
            logs.append(math.log(ordered[0].output_tokens_per_s / ordered[-1].output_tokens_per_s))
    return errors(np.array(logs)) if logs else {"n": 0}


def run(catalog: HasRecords) -> tuple[Calibration, tuple[Prediction, ...]]:
    """Fit, judge and build the calibration and the held-out predictions that are written to data/."""
    parsed, skipped = parse_rows(measurement_rows(), catalog)
    kinds = {p.spec for p in parsed if not math.isfinite(p.accepted)}
    # Drafts whose acceptance is not stated get one fitted number a kind.
    points = usable(parsed, dict.fromkeys(kinds, 1.0))
    data = Dataset(points, catalog)
    acceptance = fit_acceptance(data, catalog)
    fitted = fit_all(data, catalog, acceptance)
    natural = {
        key: Constants(**{name: float(f"{float(_natural(name, logs[j])):.4g}") for j, name in enumerate(NAMES)})
        for key, logs in fitted.sets.items()
    }
    provisional = Calibration(
        "",
        tuple(ConstantSet(k[0], "", "", "", "", (), natural[k], 0, None) for k in natural if len(k) == 1),
        {},
        acceptance,
        {},
    )
    judged = judge(data, catalog, provisional)
    levels = np.array(judged.renewed_level)
    is_k3 = np.array([p.model_id == "kimi-k3" for p in points])
    summary: dict[str, Any] = {
        "n": len(points),
        "n_rows": len(parsed) + len(skipped),
        "n_skipped": len(skipped),
        "n_marked": len(parsed) - len(points),
        "configurations": len({p.configuration for p in points}),
        "software_floor": software_floor(points),
    }
    summary["all"] = {"anchored": errors(judged.anchored), "constants_only": errors(judged.constants_only)}
    for name, mask in (("k3", is_k3), ("other", ~is_k3)):
        summary[name] = {
            "renewed": errors(judged.renewed[mask & judged.has_set]),
            "anchored": errors(judged.anchored[mask & judged.has_set]),
            "constants_only": errors(judged.constants_only[mask & judged.has_set]),
            "at_concurrency": errors(judged.at_concurrency[mask & judged.has_set]),
            "without_set": errors(judged.constants_only[mask & ~judged.has_set]),
            "leave_model_out": errors(judged.by_model[mask]),
            "leave_machine_out": errors(judged.by_machine[mask]),
        }
    hardware: dict[str, Any] = {}
    for accelerator in sorted({p.accelerator_id for p in points}):
        here = np.array([p.accelerator_id == accelerator for p in points])
        hardware[accelerator] = {
            "anchored": errors(judged.anchored[here]),
            "constants_only": errors(judged.constants_only[here & judged.has_set]),
            "leave_machine_out": errors(judged.by_machine[here]),
        }
    summary["by_hardware"] = hardware
    bands: dict[str, Band] = {}
    coverage: dict[str, float] = {}
    for level, residual, chosen in (
        ("measured", judged.renewed, levels == "measured"),
        ("interpolated", judged.renewed, levels == "interpolated"),
        ("modelled", judged.renewed, levels == "modelled"),
        ("class", judged.by_model, np.isfinite(judged.by_model)),
        ("uncalibrated", judged.bound, np.isfinite(judged.bound)),
    ):
        part = residual[chosen]
        members = [p for p, c in zip(points, chosen, strict=True) if c]
        low, high = honest_band(members, part)
        # Worse evidence is never shown with a narrower band than better evidence.
        low, high = min(low, *(b.low for b in bands.values()), 1.0), max(high, *(b.high for b in bands.values()), 1.0)
        if level == "uncalibrated":
            high = 1.0  # a bound is not exceeded
        bands[level] = Band(round(low, 3), round(high, 3), len(part))
        inside = (np.exp(-part) >= low) & (np.exp(-part) <= high)
        coverage[level] = round(float(np.mean(inside)), 3)
    bands["user"] = Band(0.95, 1.05, 0)
    summary["coverage"] = coverage
    of_key: dict[Key, list[int]] = defaultdict(list)
    for i, p in enumerate(points):
        for key in _levels(p)[1:]:
            of_key[key].append(i)
    sets = []
    for key in sorted(natural):
        if not key:
            continue
        rows = of_key[key]
        dates = sorted(m.group(0) for i in rows if (m := re.search(r"20\d\d-\d\d(-\d\d)?", points[i].date)))
        error = errors(judged.constants_only[rows])
        sets.append(
            ConstantSet(
                class_id=key[0],
                engine=key[1] if len(key) > 1 else "",
                era=key[2] if len(key) > 2 else "",
                date_from=dates[0] if dates else "",
                date_to=dates[-1] if dates else "",
                models=tuple(sorted({points[i].model_id for i in rows})),
                constants=natural[key],
                n=len(rows),
                mean_error=float(error["mean"]) if error["n"] else None,
            )
        )
    newest = max(s.date_to for s in sets)
    lone = lone_configurations(points, judged.constants_only)
    return Calibration(newest, tuple(sets), bands, acceptance, summary, lone), predictions_of(points, judged)


def to_toml(calibration: Calibration) -> str:
    """The calibration file: constants with n, dates and held-out error; bands; acceptances; accuracy."""
    lines = [
        "# Written by `python -m calculators.calibrate` from data/measurements; do not edit.",
        "# Constants are per accelerator class, engine and half-year ('' = all); mean_error: configuration held out.",
        "# Measurements of models other than Kimi K3 are mostly InferenceX by SemiAnalysis.",
        f"date = {_toml(calibration.date)}",
        "",
        "[accepted_tokens_per_step]",
    ]
    lines += [f"{_toml(k)} = {v}" for k, v in sorted(calibration.accepted_by_spec.items())]
    for level, band in calibration.bands.items():
        lines += ["", f"[bands.{level}]", f"low = {band.low}", f"high = {band.high}", f"n = {band.n}"]
    for entry in calibration.lone:
        lines += [
            "",
            "[[lone]]",
            f"accelerator_class = {_toml(entry.class_id)}",
            f"engine = {_toml(entry.engine)}",
            f"model = {_toml(entry.model_id)}",
            f"n = {entry.n}",
            f"low = {entry.low}",
            f"high = {entry.high}",
        ]
    for s in calibration.sets:
        lines += [
            "",
            "[[set]]",
            f"accelerator_class = {_toml(s.class_id)}",
            f"engine = {_toml(s.engine)}",
            f"era = {_toml(s.era)}",
            f"date_from = {_toml(s.date_from)}",
            f"date_to = {_toml(s.date_to)}",
            f"models = [{', '.join(_toml(m) for m in s.models)}]",
            f"n = {s.n}",
        ]
        if s.mean_error is not None:
            lines.append(f"mean_error = {s.mean_error}")
        lines.append("[set.constants]")
        lines += [f"{f.name} = {getattr(s.constants, f.name):.4g}" for f in fields(Constants)]
    lines += _toml_tables("summary", calibration.summary)
    return "\n".join(lines) + "\n"


def _toml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _toml_tables(name: str, table: Mapping[str, Any]) -> list[str]:
    lines = ["", f"[{name}]"]
    lines += [f"{_key(k)} = {v}" for k, v in table.items() if not isinstance(v, Mapping)]
    for k, v in table.items():
        if isinstance(v, Mapping):
            lines += _toml_tables(f"{name}.{_key(k)}", v)
    return lines


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def report(calibration: Calibration) -> str:
    """Accuracy as markdown tables, from the figures in the calibration file."""
    s = calibration.summary

    def row(label: str, e: Mapping[str, Any], target: str = "") -> str:
        if not e.get("n"):
            return f"| {label} | 0 | | | | {target} |"
        return f"| {label} | {e['n']} | {e['mean']:.1%} | {e['median']:.1%} | {e['p90']:.1%} | {target} |"

    lines = [
        f"Output throughput, {s['n']} usable points of {s['n_rows']} measured rows, "
        f"{s['configurations']} configurations ({s['n_skipped']} rows without layout, count or lengths; "
        f"{s['n_marked']} marked suspect or without a speed). "
        "Held out by configuration (model, accelerator, engine, precision, layout, speculation): "
        f"{FOLDS} folds by hash. 'Anchored' is how the app answers: constants that never saw the configuration, scaled "
        "by the other measured points near it, which may be of the same configuration; the point itself never takes "
        "part. 'Constants only' uses no measured point of the configuration at all.",
        "",
        "| Held out | n | mean | median | 90th pct | target |",
        "|---|---|---|---|---|---|",
        row("K3, machines with a calibration set, anchored", s["k3"]["anchored"], "12 % / 25 %"),
        row("K3, anchored, without repeats of a point in its month", s["k3"]["renewed"], "12 % / 25 %"),
        row(
            "K3, constants only, or from the speed where no concurrency is stated",
            s["k3"]["constants_only"],
            "12 % / 25 %",
        ),
        row("K3, constants only, at the concurrency stated or implied by rate and latency", s["k3"]["at_concurrency"]),
        row("K3, engine and class without another K3 configuration", s["k3"]["without_set"]),
        row("Other models, same chips, anchored", s["other"]["anchored"], "20 % mean"),
        row("Other models, anchored, without repeats of a point in its month", s["other"]["renewed"], "20 % mean"),
        row("Other models, same chips, constants only", s["other"]["constants_only"], "20 % mean"),
        row("Other models, constants only, at the concurrency stated or implied", s["other"]["at_concurrency"]),
        row("Other models, class and engine without the model", s["other"]["without_set"]),
        row("K3 with all K3 points left out", s["k3"]["leave_model_out"]),
        row("Other models, the whole model left out", s["other"]["leave_model_out"]),
        row("K3, the whole machine left out", s["k3"]["leave_machine_out"]),
        row("Other models, the whole machine left out", s["other"]["leave_machine_out"]),
        row("Software floor: same configuration and point, other month", s["software_floor"]),
        "",
        "| Evidence | band on throughput | n | held-out points inside |",
        "|---|---|---|---|",
    ]
    for level, value in s["coverage"].items():
        band = calibration.bands[level]
        lines.append(f"| {level} | x{band.low:.2f} to x{band.high:.2f} | {band.n} | {value:.0%} |")
    if calibration.lone:
        lines += [
            "",
            "What one configuration alone supports gets at least the band that this configuration, held out, asks for:",
            "",
            "| Accelerator class | engine | model | n | band at least |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {x.class_id} | {x.engine or 'all'} | {x.model_id or 'all'} | {x.n} | x{x.low:.2f} to x{x.high:.2f} |"
            for x in calibration.lone
        ]
    lines += ["", "| Accelerator | n | anchored mean | constants-only mean | machine left out mean |"]
    lines.append("|---|---|---|---|---|")

    def mean(e: Mapping[str, Any]) -> str:
        return f"{e['mean']:.1%}" if e.get("n") else "-"

    for name, e in s["by_hardware"].items():
        lines.append(
            f"| {name} | {e['anchored']['n']} | {mean(e['anchored'])} | {mean(e['constants_only'])} | "
            f"{mean(e['leave_machine_out'])} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 0 when done."""
    parser = argparse.ArgumentParser(prog="python -m calculators.calibrate", description=__doc__)
    parser.add_argument("--report", action="store_true", help="fit and judge again, print the accuracy, write nothing")
    parser.add_argument("--stored", action="store_true", help="print the accuracy stored in data/calibration.toml")
    parser.add_argument("--output", type=Path, default=DATA / "calibration.toml")
    options = parser.parse_args(arguments)
    if options.stored:
        sys.stdout.write(report(load_calibration()) + "\n")
        return 0
    from calculators.catalog import load_catalog

    calibration, predictions = run(load_catalog())
    if not options.report:
        options.output.write_text(to_toml(calibration), encoding="utf-8")
        if options.output == DATA / "calibration.toml":
            FILE.write_text(to_csv(predictions, fingerprint()), encoding="utf-8")
    sys.stdout.write(report(calibration) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
