"""The parts of the fit and of its judgement on a few points each, by hand; test_calibrate.py fits all of them."""

import dataclasses
import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from calculators import calibrate
from calculators import memory as mem
from calculators.calibrate import NAMES, PRIOR, Dataset, Fitted, Folds
from calculators.calibration import Band, Calibration, measurement_rows
from calculators.catalog import load_catalog
from calculators.measurements import Point, parse_rows
from calculators.throughput import Constants, compile_plan, operate
from calculators.validate import predict, references, shape_of

CATALOG = load_catalog()
POINTS, _ = parse_rows(measurement_rows(), CATALOG)
BY_ID = {p.id: p for p in POINTS}
USABLE = calibrate.usable(POINTS, {"mtp": 2.0})
START = np.array([math.log(PRIOR[name][0]) for name in NAMES])
ODD = Constants(
    **{name: value * (1.0 + 0.03 * k) for k, (name, (value, _)) in enumerate(PRIOR.items()) if name in NAMES}
)
"""Constants that are all different from each other and from 1."""


def first(condition: Callable[[Point], bool]) -> Point:
    return next(p for p in USABLE if condition(p))


KINDS = {
    "plain": first(lambda p: p.plan.name == "TP8" and p.spec == "none"),
    "context parallel": BY_ID["k3-009"],
    "pipeline": BY_ID["k3-138"],
    "cached": BY_ID["k3-167"],
    "experts spread": BY_ID["k3-053"],
    "pools": first(lambda p: p.plan.prefill is not None and p.plan.prefill.workers > 1 and p.concurrency > 0),
    "draft": first(lambda p: p.spec == "mtp"),
    "many workers": first(lambda p: p.plan.decode.workers > 1 and p.concurrency > 0),
    "by speed": BY_ID["k3-019"],
    "as many as fit": first(lambda p: p.saturation),
}


def arrays_of(constants: Constants, n: int) -> dict[str, Any]:
    return {name: np.full(n, getattr(constants, name)) for name in NAMES}


def load_of(p: Point, accepted: float) -> float:
    """Requests in flight by the rules of the docstrings, written again."""
    chip, shape = mem.chip(CATALOG.accelerators[p.accelerator_id]), shape_of(p, CATALOG)
    compiled = compile_plan(shape, chip, p.plan, ODD, p.kv_dtype)
    if p.saturation:
        tokens = p.input_tokens + p.output_tokens
        fit = mem.sequences_that_fit(shape, p.plan.decode.layout, p.kv_dtype, chip.usable_bytes, 0.9, tokens)
        return min(max(1.0, float(fit) * p.plan.decode.workers), 1024.0 * p.devices)
    if p.concurrency > 0:
        return p.concurrency
    # Little's law: in decode what rate and speed say, before it what the measured or the modelled wait says
    rate = p.output_tokens_per_s / p.output_tokens
    decoding = rate * (p.output_tokens - 1) * p.speed_s
    op = operate(compiled, max(decoding, 1.0), p.input_tokens, p.output_tokens, p.cached_share, accepted, p.verified)
    wait = p.ttft_s if p.ttft_s > 0 else float(op.ttft_s)
    return max(decoding + rate * wait, 1.0)


def test_all_points_at_once_are_the_points_one_by_one() -> None:
    """The arrays of the fit give what the sizing's formulas give for each kind of point, to the last digits."""
    waited = dataclasses.replace(KINDS["by speed"], id="waited", ttft_s=2.5)
    slow = dataclasses.replace(KINDS["by speed"], id="slow", output_tokens_per_s=2.0)
    points = [*KINDS.values(), waited, slow]
    accepted = np.array([p.accepted if math.isfinite(p.accepted) else 2.4 for p in points])
    data = Dataset(points, CATALOG)
    rate, tpot, ttft = data.predict(arrays_of(ODD, len(points)), accepted)
    off = data.residuals(arrays_of(ODD, len(points)), accepted)
    for i, p in enumerate(points):
        chip = mem.chip(CATALOG.accelerators[p.accelerator_id])
        compiled = compile_plan(shape_of(p, CATALOG), chip, p.plan, ODD, p.kv_dtype)
        a = float(accepted[i])
        op = operate(compiled, load_of(p, a), p.input_tokens, p.output_tokens, p.cached_share, a, p.verified)
        expected = (float(op.requests_per_s), float(op.tpot_s), float(op.ttft_s))
        assert (rate[i], tpot[i], ttft[i]) == pytest.approx(expected, rel=1e-9), p.id
        assert off[0][i] == pytest.approx(math.log(expected[0] * p.output_tokens / p.output_tokens_per_s)), p.id
        assert off[1][i] == pytest.approx(math.log(expected[1] / p.speed_s) if p.speed_s > 0 else 0), p.id
        assert off[2][i] == pytest.approx(math.log(expected[2] / p.ttft_s) if p.ttft_s > 0 else 0), p.id
    assert load_of(slow, 1.0) < load_of(KINDS["by speed"], 1.0)
    kept = data.subset([1, 3], CATALOG)
    assert [p.id for p in kept.points] == ["k3-009", "k3-167"]
    assert kept.weight.tolist() == [1.0, 1.0]


def test_an_efficiency_comes_close_to_its_ceiling_and_no_further() -> None:
    for name in calibrate.EFFICIENCIES:
        assert float(calibrate._natural(name, np.array(math.log(0.3)))) == pytest.approx(0.3, rel=1e-4)
        assert float(calibrate._natural(name, np.array(math.log(50.0)))) == pytest.approx(0.95, rel=1e-6)
        # at the ceiling itself 0.95 / 2^(1/8)
        assert float(calibrate._natural(name, np.array(math.log(0.95)))) == pytest.approx(0.95 / 2**0.125)
    assert float(calibrate._natural("layer_floor_s", np.array(math.log(50.0)))) == pytest.approx(50)


def test_an_odd_row_counts_linearly() -> None:
    """Near zero the residual itself; far out its square grows like the residual times the scale."""
    assert calibrate._soft(np.array([0.001]), 0.3)[0] == pytest.approx(0.001, rel=1e-4)
    assert calibrate._soft(np.array([30.0]), 0.3)[0] ** 2 == pytest.approx(30 * 0.3, rel=1e-3)
    assert calibrate._soft(np.array([-0.3]), 0.3)[0] == pytest.approx(-0.3 / 2**0.25)


def test_the_fit_is_where_its_objective_is_least() -> None:
    """Written again: rate fully, time per token half, time to first token a tenth, ridge by the prior's spreads."""
    points = [p for p in USABLE if p.model_id == "kimi-k3" and p.accelerator_id == "b200_sxm"]
    rng = np.random.default_rng(5)
    points = [
        dataclasses.replace(
            p,
            output_tokens_per_s=p.output_tokens_per_s * float(np.exp(rng.normal(0, 0.2))),
            tpot_s=p.speed_s * float(np.exp(rng.normal(0, 0.3))),
            ttft_s=2.0 * float(np.exp(rng.normal(0, 0.5))),
        )
        for p in points
    ]
    data = Dataset(points, CATALOG)
    data.weight = np.linspace(0.3, 1.0, len(points))
    ones = np.ones(len(points))
    spread = np.array([PRIOR[name][1] for name in NAMES])

    def soft(x: Any, scale: float) -> Any:
        return x / (1 + (x / scale) ** 2) ** 0.25

    def objective(logs: Any) -> float:
        k = {n: np.full(len(points), float(calibrate._natural(n, logs[j]))) for j, n in enumerate(NAMES)}
        rate, tpot, ttft = data.residuals(k, ones)
        w = data.weight
        parts = (w * soft(rate, 0.3), 0.5 * w * soft(tpot, 0.3), 0.1 * w * soft(ttft, 0.5))
        return float(sum((part**2).sum() for part in parts) + ((0.3 * (logs - START) / spread) ** 2).sum())

    found = calibrate.fit(data, START, 0.3, ones, iterations=80)
    least = objective(found)
    assert least < objective(START)
    for j, name in enumerate(NAMES):
        h = np.zeros(len(NAMES))
        h[j] = 0.01
        up, down = objective(found + h), objective(found - h)
        # the step that Newton would still take along this constant alone, of its logarithm
        step = 0.01 * (up - down) / (2 * (up - 2 * least + down))
        assert abs(step) < 0.02, name
    # no step at all stays where it was
    assert calibrate.fit(data, START, 0.3, ones, iterations=0).tolist() == START.tolist()


def test_a_set_is_pulled_towards_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """All points, class, class and engine, with half-year: each starts at the level above, with its own points."""
    calls: list[tuple[tuple[str, ...], float, float, list[float], list[float]]] = []

    def fit(data: Dataset, start: Any, tightness: float, accepted: Any, iterations: int = 25) -> Any:
        ids = tuple(p.id for p in data.points)
        calls.append((ids, float(start[0]), tightness, data.weight.tolist(), accepted.tolist()))
        return start + 1.0

    monkeypatch.setattr(calibrate, "fit", fit)
    base = BY_ID["k3-001"]
    drafted = dataclasses.replace(base, class_id="x", engine="sglang", spec="mtp", accepted=math.nan)
    points = [
        dataclasses.replace(base, id="a", class_id="x", engine="vllm", date="2026-08-01"),
        dataclasses.replace(base, id="b", class_id="x", engine="vllm", date="2026-02-01", concurrency=2.0),
        dataclasses.replace(drafted, id="c", date="2026-08-01"),
        dataclasses.replace(drafted, id="d", date="2026-09-01"),
    ]
    fitted = calibrate.fit_all(Dataset(points, CATALOG), CATALOG, {"mtp": 2.2})
    zero, half = float(START[0]), pytest.approx(1 / math.sqrt(2))
    assert calls == [
        (("a", "b", "c", "d"), zero, 0.12, [1.0, 1.0, half, half], [1.0, 1.0, 2.2, 2.2]),
        (("a", "b", "c", "d"), zero + 1, 0.25, [1.0, 1.0, half, half], [1.0, 1.0, 2.2, 2.2]),
        (("c", "d"), zero + 2, 0.25, [half, half], [2.2, 2.2]),
        (("a", "b"), zero + 2, 0.25, [1.0, 1.0], [1.0, 1.0]),
        (("c", "d"), zero + 3, 0.35, [half, half], [2.2, 2.2]),
        (("b",), zero + 3, 0.35, [1.0], [1.0]),
        (("a",), zero + 3, 0.35, [1.0], [1.0]),
    ]
    assert set(fitted.sets) == {
        (),
        ("x",),
        ("x", "vllm"),
        ("x", "sglang"),
        ("x", "vllm", "2026H1"),
        ("x", "vllm", "2026H2"),
        ("x", "sglang", "2026H2"),
    }


def test_a_point_takes_the_most_specific_set() -> None:
    p = dataclasses.replace(BY_ID["k3-001"], class_id="x", engine="vllm", date="2026-08-01")
    keys: list[tuple[str, ...]] = [(), ("x",), ("x", "vllm"), ("x", "vllm", "2026H2")]
    for k in range(len(keys)):
        sets = {key: START + 0.01 * j for j, key in enumerate(keys[: k + 1])}
        fitted = Fitted(sets)
        assert fitted.of(p)[0] == pytest.approx(START[0] + 0.01 * k)
        found = calibrate.constants_of(fitted)
        natural = {n: float(calibrate._natural(n, START[j] + 0.01 * k)) for j, n in enumerate(NAMES)}
        assert dataclasses.asdict(found(p)) == pytest.approx(natural)
        assert found(p) is found(dataclasses.replace(p, id="again"))
        assert {n: float(v[1]) for n, v in fitted.arrays([p, p]).items()} == pytest.approx(natural)
    for lookup in (Fitted({("y",): START}).of, calibrate.constants_of(Fitted({("y",): START}))):
        with pytest.raises(KeyError):
            lookup(p)


def test_a_point_measured_daily_is_one_point() -> None:
    """Four repeats in a half-year weigh 1 / 2 each: together like two. Another load, shape or half-year is not one."""
    p = BY_ID["k3-001"]
    others = [
        dataclasses.replace(p, concurrency=99.0),
        dataclasses.replace(p, input_tokens=99.0),
        dataclasses.replace(p, output_tokens=99.0),
        dataclasses.replace(p, date="2025-01-01"),
        dataclasses.replace(p, spec="mtp"),
    ]
    assert calibrate._balance([p] * 4 + others).tolist() == [0.5] * 4 + [1.0] * 5


def test_accepted_tokens_are_stated_or_those_of_the_kind_of_draft() -> None:
    p = BY_ID["k3-001"]
    points = [
        dataclasses.replace(p, accepted=2.7),
        dataclasses.replace(p, accepted=math.nan, spec="mtp"),
        dataclasses.replace(p, accepted=math.nan, spec="x"),
    ]
    assert calibrate.accepted_of(points, {"mtp": 2.1}).tolist() == pytest.approx([2.7, 2.1, math.nan], nan_ok=True)


def test_which_points_may_calibrate() -> None:
    base = dataclasses.replace(
        BY_ID["k3-001"], concurrency=math.nan, tpot_s=math.nan, user_tokens_per_s=math.nan, saturation=False, suspect=""
    )
    changes: list[tuple[dict[str, Any], bool]] = [
        ({}, False),
        ({"concurrency": 1.0}, True),
        ({"tpot_s": 0.1}, True),
        ({"user_tokens_per_s": 0.5}, True),
        ({"saturation": True}, True),
        ({"concurrency": 1.0, "suspect": "dummy weights"}, False),
        ({"concurrency": 1.0, "accepted": math.nan, "spec": "mtp"}, True),
        ({"concurrency": 1.0, "accepted": math.nan, "spec": "other"}, False),
        ({"concurrency": 1.0, "accepted": 2.0, "spec": "other"}, True),
    ]
    for change, told in changes:
        assert bool(calibrate.usable([dataclasses.replace(base, **change)], {"mtp": 2.0})) is told, change


def test_a_fold_is_the_hash_of_the_configuration() -> None:
    p = BY_ID["k3-001"]
    value = int(hashlib.sha256(p.configuration.encode()).hexdigest(), 16)
    assert calibrate.fold_of(p) == value % 5
    assert calibrate.fold_of(p, 7) == value % 7


def of_folds() -> list[Point]:
    """Two configurations of each fold, each of another chip where there is one, all with a stated load."""
    found: list[Point] = []
    for fold in range(5):
        here = [p for p in USABLE if calibrate.fold_of(p) == fold and p.concurrency > 0]
        seen: dict[str, Point] = {}
        for p in here:
            seen.setdefault(p.configuration, p)
        chosen = list(seen.values())
        found += [chosen[0], chosen[-1]]
    return found


def fixed_fit(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Instead of a fit the prior, and a list of the points that each fit has seen."""
    seen: list[list[str]] = []

    def fit_all(data: Dataset, catalog: Any, acceptance: Any) -> Fitted:
        seen.append([p.id for p in data.points])
        return Fitted({(): START})

    monkeypatch.setattr(calibrate, "fit_all", fit_all)
    return seen


def priors(p: Point, accepted: float) -> float:
    """Log of predicted / measured by the prior at the stated load."""
    k = Constants(**{n: float(calibrate._natural(n, START[j])) for j, n in enumerate(NAMES)})
    chip = mem.chip(CATALOG.accelerators[p.accelerator_id])
    compiled = compile_plan(shape_of(p, CATALOG), chip, p.plan, k, p.kv_dtype)
    op = operate(compiled, p.concurrency, p.input_tokens, p.output_tokens, p.cached_share, accepted, p.verified)
    return math.log(float(op.requests_per_s) * p.output_tokens / p.output_tokens_per_s)


def test_a_part_that_is_held_out_is_in_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = fixed_fit(monkeypatch)
    points = of_folds()
    result = calibrate.held_out(Dataset(points, CATALOG), CATALOG, {"mtp": 2.0}, lambda p: p.model_id)
    models = sorted({p.model_id for p in points})
    assert len(models) > 1
    assert seen == [[p.id for p in points if p.model_id != model] for model in models]
    expected = [priors(p, p.accepted if math.isfinite(p.accepted) else 2.0) for p in points]
    assert result.tolist() == pytest.approx(expected)
    # nothing is left to fit where all are one part
    nothing = calibrate.held_out(Dataset(points, CATALOG), CATALOG, {"mtp": 2.0}, lambda p: 1)
    assert np.isnan(nothing).all()
    # a part without a fit does not end the others: a number beside a text is sorted as text
    mixed = calibrate.held_out(
        Dataset(points[:2], CATALOG), CATALOG, {"mtp": 2.0}, lambda p: 1 if p is points[0] else "x"
    )
    assert np.isfinite(mixed).all()


CALIBRATION = Calibration("", (), {}, {"mtp": 2.0}, {})


def test_every_configuration_is_held_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = fixed_fit(monkeypatch)
    points = of_folds()
    # the first one again: in its month, and in another month; and twice without a load
    month = points[0].date[:7]
    bare = BY_ID["k3-019"]
    points += [
        dataclasses.replace(points[0], id="repeat", output_tokens_per_s=points[0].output_tokens_per_s * 1.1),
        dataclasses.replace(points[0], id="later", date="2031-01-01"),
        bare,
        dataclasses.replace(bare, id="bare again"),
    ]
    assert month != "2031-01"
    folds = calibrate.judge_folds(Dataset(points, CATALOG), CATALOG, CALIBRATION)
    assert seen == [[p.id for p in points if calibrate.fold_of(p) != fold] for fold in range(5)]
    of = calibrate.constants_of(Fitted({(): START}))
    refs = references(points, CATALOG, CALIBRATION, of)
    for i, p in enumerate(points):
        said = predict(p, CATALOG, CALIBRATION, refs, of)
        assert folds.anchored[i] == pytest.approx(math.log(said.output_tokens_per_s / p.output_tokens_per_s)), p.id
        assert folds.anchored_level[i] == said.evidence, p.id
        plain = predict(p, CATALOG, CALIBRATION, refs, of, anchored=False)
        assert folds.constants_only[i] == pytest.approx(math.log(plain.output_tokens_per_s / p.output_tokens_per_s))
        if p.concurrency > 0:
            accepted = p.accepted if math.isfinite(p.accepted) else 2.0
            assert folds.at_concurrency[i] == pytest.approx(priors(p, accepted)), p.id
        others = [q for q in points if calibrate.fold_of(q) != calibrate.fold_of(p)]
        same = [q for q in others if (q.model_id, q.class_id, q.engine) == (p.model_id, p.class_id, p.engine)]
        assert folds.has_set[i] == bool(same), p.id
        fresh = predict(p, CATALOG, CALIBRATION, refs, of, without=calibrate._repeats_of(p))
        if p.id == "repeat":
            # a point of its month stands for it already
            assert math.isnan(folds.renewed[i])
            assert folds.renewed_level[i] == ""
        else:
            assert folds.renewed[i] == pytest.approx(math.log(fresh.output_tokens_per_s / p.output_tokens_per_s)), p.id
            assert folds.renewed_level[i] == fresh.evidence
    assert True in folds.has_set.tolist()
    assert False in folds.has_set.tolist()
    # without its repeat of the month the first point has a worse prediction than with it
    assert folds.anchored[0] != pytest.approx(folds.renewed[0])


def test_whole_models_and_machines_are_left_out_too(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed_fit(monkeypatch)
    points = [*of_folds(), KINDS["as many as fit"]]
    data = Dataset(points, CATALOG)
    found = calibrate.judge(data, CATALOG, CALIBRATION)
    folds = calibrate.judge_folds(data, CATALOG, CALIBRATION)
    for field in dataclasses.fields(Folds):
        kept, again = getattr(found, field.name), getattr(folds, field.name)
        assert (
            list(kept) == pytest.approx(list(again), nan_ok=True)
            if field.type == "Array"
            else list(kept) == list(again)
        )
    by_model = calibrate.held_out(data, CATALOG, {"mtp": 2.0}, lambda p: p.model_id)
    by_machine = calibrate.held_out(data, CATALOG, {"mtp": 2.0}, lambda p: p.accelerator_id)
    assert found.by_model.tolist() == pytest.approx(by_model.tolist(), nan_ok=True)
    assert found.by_machine.tolist() == pytest.approx(by_machine.tolist(), nan_ok=True)
    for i, p in enumerate(points):
        chip, accepted = mem.chip(CATALOG.accelerators[p.accelerator_id]), p.accepted
        if not math.isfinite(accepted):
            accepted = 2.0
        compiled = compile_plan(shape_of(p, CATALOG), chip, p.plan, Constants.bound(), p.kv_dtype)
        op = operate(
            compiled, load_of(p, accepted), p.input_tokens, p.output_tokens, p.cached_share, accepted, p.verified
        )
        expected = math.log(float(op.requests_per_s) * p.output_tokens / p.output_tokens_per_s)
        assert found.bound[i] == pytest.approx(expected), p.id


def test_a_repeat_is_the_same_point_in_the_same_month() -> None:
    p = dataclasses.replace(BY_ID["k3-001"], date="2026-09-03")
    is_repeat = calibrate._repeats_of(p)
    assert is_repeat(dataclasses.replace(p, id="x", date="2026-09-30", output_tokens_per_s=1.0))
    for change in ({"date": "2026-10-03"}, {"concurrency": 9.0}, {"input_tokens": 9.0}, {"output_tokens": 9.0},
                   {"spec": "mtp"}):  # fmt: skip
        assert not is_repeat(dataclasses.replace(p, **change)), change  # type: ignore[arg-type]
    unknown = dataclasses.replace(p, concurrency=math.nan)
    assert not calibrate._repeats_of(unknown)(unknown)


def test_the_acceptance_that_fits_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data made at 2.4 accepted tokens: of 1.6, 1.8 ... 2.8 that one fits. A stated kind is not searched for."""
    k = Constants(**{n: float(calibrate._natural(n, START[j])) for j, n in enumerate(NAMES)})
    tried: list[dict[str, float]] = []

    def fit_all(data: Dataset, catalog: Any, acceptance: dict[str, float]) -> Fitted:
        tried.append(dict(acceptance))
        return Fitted({(): START})

    monkeypatch.setattr(calibrate, "fit_all", fit_all)
    made = []
    for p, spec, accepted in ((KINDS["draft"], "mtp", 2.4), (KINDS["draft"], "dspark 7", 4.4)):
        p = dataclasses.replace(p, spec=spec, accepted=math.nan)
        chip = mem.chip(CATALOG.accelerators[p.accelerator_id])
        op = operate(
            compile_plan(shape_of(p, CATALOG), chip, p.plan, k, p.kv_dtype),
            p.concurrency, p.input_tokens, p.output_tokens, p.cached_share, accepted, p.verified,
        )  # fmt: skip
        rate, tpot = float(op.requests_per_s) * p.output_tokens, float(op.tpot_s)
        made.append(dataclasses.replace(p, output_tokens_per_s=rate, tpot_s=tpot))
    stated = dataclasses.replace(KINDS["draft"], spec="known", accepted=3.0)
    found = calibrate.fit_acceptance(Dataset([*made, stated], CATALOG), CATALOG)
    assert found == {"dspark 7": 4.4, "mtp": 2.4}
    # the other kind stands at its usual value, or at what was found for it, while one is searched
    assert [t["dspark 7"] for t in tried[:9]] == pytest.approx([3.2, 3.4, 3.6, 3.8, 4.0, 4.2, 4.4, 4.6, 4.8])
    assert {t["mtp"] for t in tried[:9]} == {2.0}
    assert [t["mtp"] for t in tried[9:]] == pytest.approx([1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8])
    assert {t["dspark 7"] for t in tried[9:]} == {4.4}


def test_band_of_few_points_by_hand() -> None:
    """Four points, 1.2 and 1.1 too fast, 0.9 and 0.8 too slow: all of them, 1 / 1.2 to 1 / 0.8."""
    low, high = calibrate.band_of(np.log([1.2, 0.9, 0.8, 1.1]))
    assert (low, high) == pytest.approx((1 / 1.2, 1 / 0.8))
    # nine at 80 %: n + 1 = 10, tails of one: the first and the ninth; at 60 % the second and the eighth
    nine = np.log(np.linspace(0.5, 1.5, 9))
    assert calibrate.band_of(nine) == pytest.approx((1 / 1.5, 1 / 0.5))
    assert calibrate.band_of(nine, 0.6) == pytest.approx((1 / 1.375, 1 / 0.625))


def in_fold(fold: int) -> Point:
    return next(p for p in USABLE if calibrate.fold_of(p) == fold)


def test_what_a_band_is_worth_on_the_other_folds() -> None:
    """Folds 0 and 1 with four points each: fold 1's range (0.8 to 1.2) holds two of fold 0, fold 0's all of fold 1."""
    points = [in_fold(0)] * 4 + [in_fold(1)] * 4
    residual = -np.log([0.5, 0.9, 1.1, 2.0, 0.8, 0.9, 1.1, 1.2])
    assert calibrate.coverage_across_folds(points, residual) == 6 / 8
    # at the very ends of the other fold's band is inside
    ends = -np.log([0.8, 0.9, 1.1, 1.2, 0.8, 0.9, 1.1, 1.2])
    assert calibrate.coverage_across_folds(points, ends) == 1.0
    # with no other fold to learn from nothing is known to be inside but an exact hit
    assert calibrate.coverage_across_folds(points[:4], residual[:4]) == 0.0
    assert calibrate.coverage_across_folds(points[:2], np.zeros(2)) == 1.0
    assert calibrate.coverage_across_folds([], np.array([])) == 0.0


def test_the_narrowest_band_that_holds_what_it_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def coverage(points: Sequence[Point], residual: Any, nominal: float = 0.8) -> float:
        asked.append(nominal)
        return 0.80 if nominal > 0.815 else 0.79

    monkeypatch.setattr(calibrate, "coverage_across_folds", coverage)
    residual = np.linspace(-0.5, 0.5, 199)
    assert calibrate.honest_band([], residual) == pytest.approx(calibrate.band_of(residual, 0.82))
    assert asked == pytest.approx([0.80, 0.81, 0.82])
    monkeypatch.setattr(calibrate, "coverage_across_folds", lambda *_: 0.5)
    assert calibrate.honest_band([], residual) == pytest.approx(calibrate.band_of(residual, 0.99))
    assert calibrate.band_of(residual, 0.99) != pytest.approx(calibrate.band_of(residual, 0.98))


def test_quantiles_of_the_error_by_hand() -> None:
    """1.1, 0.9, 1.3, 2.0 and one unknown: |e| = 0.1, 0.1, 0.3, 1.0; the 90th between 0.3 and 1.0 at 0.7 of the way."""
    assert calibrate.errors(np.log([1.1, 0.9, np.nan, 1.3, 2.0])) == {"n": 4, "mean": 0.375, "median": 0.2, "p90": 0.79}
    assert calibrate.errors(np.log([1.123456])) == {"n": 1, "mean": 0.1235, "median": 0.1235, "p90": 0.1235}


def test_software_alone_moves_a_point() -> None:
    """First and last of a configuration, shape and load in different months: 100 -> 125 is |0.8 - 1| = 0.2."""
    p = dataclasses.replace(BY_ID["k3-001"], concurrency=8.0)

    def at(date: str, rate: float, **more: Any) -> Point:
        return dataclasses.replace(p, date=date, output_tokens_per_s=rate, **more)

    points = [at("2026-09-30", 125), at("2026-08-01", 100), at("2026-08-15", 300)]
    assert calibrate.software_floor(points) == {"n": 1, "mean": 0.2, "median": 0.2, "p90": 0.2}
    # within a month, of another load or shape, and without a load there is nothing to compare
    for others in (
        [at("2026-08-01", 100), at("2026-08-31", 125)],
        [at("2026-08-01", 100), at("2026-09-01", 125, concurrency=9.0)],
        [at("2026-08-01", 100), at("2026-09-01", 125, input_tokens=9.0)],
        [at("2026-08-01", 100), at("2026-09-01", 125, output_tokens=9.0)],
        [at("2026-08-01", 100), at("2026-09-01", 125, spec="mtp")],
        [at("2026-08-01", 100, concurrency=math.nan), at("2026-09-01", 125, concurrency=math.nan)],
    ):
        assert calibrate.software_floor(others) == {"n": 0}


def test_one_configuration_says_how_far_the_next_may_be_off() -> None:
    """Nine points off by 1.1 to 1.9: 80 % of n + 1 = 8 of them, x1.8 either way."""
    p = dataclasses.replace(BY_ID["k3-001"], class_id="a class")
    (entry,) = calibrate.lone_configurations([p] * 9, np.log([1.9, 1 / 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1]))
    assert (entry.n, entry.low, entry.high) == (9, round(1 / 1.8, 3), 1.8)
    # a second engine of the class makes the class rest on two, each engine's model on one
    second = dataclasses.replace(p, engine="vllm")
    found = calibrate.lone_configurations([p, second], np.log([1.25, 0.5]))
    assert [(x.class_id, x.engine, x.model_id, x.n, x.low, x.high) for x in found] == [
        ("a class", "sglang", "kimi-k3", 1, 0.8, 1.25),
        ("a class", "vllm", "kimi-k3", 1, 0.5, 2.0),
    ]


def test_bands_come_in_with_a_floor() -> None:
    assert calibrate.band_of(np.log([1.01, 0.99])) == (0.97, 1.03)
    assert Band(*calibrate.band_of(np.log([1.5, 0.5])), 2) == Band(pytest.approx(1 / 1.5), pytest.approx(2.0), 2)
