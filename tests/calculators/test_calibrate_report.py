"""What the script writes and prints: the summary, sets and bands of judged points, the TOML file, the tables."""

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calculators import calibrate
from calculators.calibrate import NAMES, PRIOR, Fitted, Judged
from calculators.calibration import Band, Calibration, ConstantSet, Lone, load_calibration, measurement_rows
from calculators.catalog import load_catalog
from calculators.predictions import Prediction
from calculators.throughput import Constants

CATALOG = load_catalog()
START = np.array([math.log(PRIOR[name][0]) for name in NAMES])

ROWS = [row for row in measurement_rows() if row["id"] in ("k3-001", "k3-002", "k3-009", "o-0001", "o-0004")]
"""Two loads of one K3 configuration on the B300, one with context parallelism, and R1 on the MI355X, plain and MTP."""

MARKED = {**ROWS[0], "id": "marked", "notes": "suspect"}
UNREAD = {**ROWS[0], "id": "unread", "isl": ""}


@pytest.fixture
def judged_run(monkeypatch: pytest.MonkeyPatch) -> tuple[Calibration, tuple[Prediction, ...], list[Any]]:
    """`run` on five points whose errors are given: predicted / measured is what stands in the arrays."""
    calls: list[Any] = []

    def fit_acceptance(data: Any, catalog: Any) -> dict[str, float]:
        calls.append(["acceptance", [p.id for p in data.points]])
        return {"mtp": 2.2}

    def fit_all(data: Any, catalog: Any, acceptance: Mapping[str, float]) -> Fitted:
        calls.append(["fit", [p.id for p in data.points], dict(acceptance)])
        sets = {key: START for p in data.points for key in calibrate._levels(p)}
        return Fitted({**sets, ("cdna4",): START + math.log(2.0)})

    def judge(data: Any, catalog: Any, calibration: Calibration) -> Judged:
        calls.append(["judge", calibration])
        return Judged(
            constants_only=np.log([1.5, 1.4, 1.3, 1.2, 1.1]),
            anchored=np.log([1.1, 0.9, 1.3, 1.05, 1.0]),
            anchored_level=("measured", "measured", "modelled", "measured", "interpolated"),
            renewed=np.log([1.2, math.nan, 1.4, 0.9, 1.25]),
            renewed_level=("measured", "", "modelled", "measured", "interpolated"),
            at_concurrency=np.log([1.02, 1.04, 1.06, 1.08, 1.1]),
            has_set=np.array([True, True, False, True, True]),
            by_model=np.log([2.0, math.nan, 0.5, 1.6, 1.8]),
            by_machine=np.log([3.0, 3.2, 3.4, 3.6, math.nan]),
            bound=np.log([1.5, 2.0, 4.0, 0.8, math.nan]),
        )

    monkeypatch.setattr(calibrate, "measurement_rows", lambda: (*ROWS, MARKED, UNREAD))
    monkeypatch.setattr(calibrate, "fit_acceptance", fit_acceptance)
    monkeypatch.setattr(calibrate, "fit_all", fit_all)
    monkeypatch.setattr(calibrate, "judge", judge)
    return *calibrate.run(CATALOG), calls


IDS = ["k3-001", "k3-002", "k3-009", "o-0001", "o-0004"]


def one(value: float) -> dict[str, Any]:
    return {"n": 1, "mean": value, "median": value, "p90": value}


def two(low: float, high: float) -> dict[str, Any]:
    return {
        "n": 2,
        "mean": pytest.approx((low + high) / 2, abs=1e-4),
        "median": pytest.approx((low + high) / 2, abs=1e-4),
        "p90": pytest.approx(low + 0.9 * (high - low), abs=1e-4),
    }


def test_what_is_fitted_and_judged(judged_run: Any) -> None:
    """Marked and unread rows take no part; the fitted acceptance goes into the fit, and both into the judgement."""
    _, _, calls = judged_run
    assert calls[0] == ["acceptance", IDS]
    assert calls[1] == ["fit", IDS, {"mtp": 2.2}]
    provisional = calls[2][1]
    assert provisional.accepted_by_spec == {"mtp": 2.2}
    # the classes that were measured, so that a prediction knows which are; nothing else of it is used
    assert sorted(s.class_id for s in provisional.sets) == ["blackwell-ultra", "cdna4"]
    assert provisional.knows_class("cdna4")
    assert (provisional.bands, provisional.summary) == ({}, {})
    assert not any(s.engine or s.era or s.date_from or s.date_to or s.models for s in provisional.sets)
    assert provisional.sets[0].constants.e_bw == pytest.approx(float(calibrate._natural("e_bw", START[8])), rel=1e-3)


def test_the_summary_by_hand(judged_run: Any) -> None:
    summary = judged_run[0].summary
    counts = {k: summary[k] for k in ("n", "n_rows", "n_skipped", "n_marked", "configurations")}
    assert counts == {"n": 5, "n_rows": 7, "n_skipped": 1, "n_marked": 1, "configurations": 4}
    assert summary["software_floor"] == {"n": 0}
    assert summary["all"]["anchored"] == {"n": 5, "mean": 0.11, "median": 0.1, "p90": 0.22}
    assert summary["all"]["constants_only"] == {"n": 5, "mean": 0.3, "median": 0.3, "p90": 0.46}
    # K3: two points whose class and engine have another K3 configuration, one without
    assert summary["k3"] == {
        "renewed": one(0.2),
        "anchored": two(0.1, 0.1),
        "constants_only": two(0.4, 0.5),
        "at_concurrency": two(0.02, 0.04),
        "without_set": one(0.3),
        "leave_model_out": two(0.5, 1.0),
        "leave_machine_out": {"n": 3, "mean": 2.2, "median": 2.2, "p90": 2.36},
    }
    assert summary["other"] == {
        "renewed": two(0.1, 0.25),
        "anchored": two(0.0, 0.05),
        "constants_only": two(0.1, 0.2),
        "at_concurrency": two(0.08, 0.1),
        "without_set": {"n": 0},
        "leave_model_out": two(0.6, 0.8),
        "leave_machine_out": one(2.6),
    }
    assert list(summary["by_hardware"]) == ["b300_sxm", "mi355x"]
    assert summary["by_hardware"]["b300_sxm"] == {
        "anchored": {"n": 3, "mean": 0.1667, "median": 0.1, "p90": 0.26},
        "constants_only": two(0.4, 0.5),
        "leave_machine_out": {"n": 3, "mean": 2.2, "median": 2.2, "p90": 2.36},
    }
    assert summary["by_hardware"]["mi355x"] == {
        "anchored": two(0.0, 0.05),
        "constants_only": two(0.1, 0.2),
        "leave_machine_out": one(2.6),
    }


def test_bands_by_hand(judged_run: Any) -> None:
    """Of few points the worst count: 1.2 and 0.9 times too fast give 1 / 1.2 to 1 / 0.9; a worse level is no narrower.

    A bound is not exceeded, and a user's own load test has 5 % either way.
    """
    bands, coverage = judged_run[0].bands, judged_run[0].summary["coverage"]
    assert bands == {
        "measured": Band(0.833, 1.111, 2),
        "interpolated": Band(0.8, 1.111, 1),
        "modelled": Band(0.714, 1.111, 1),
        "class": Band(0.5, 2.0, 4),
        "uncalibrated": Band(0.25, 1.0, 4),
        "user": Band(0.95, 1.05, 0),
    }
    # measured / predicted 1 / 0.8 lies above the bound
    assert coverage == {"measured": 1.0, "interpolated": 1.0, "modelled": 1.0, "class": 1.0, "uncalibrated": 0.75}


def test_sets_by_hand(judged_run: Any) -> None:
    calibration = judged_run[0]
    told = [
        (s.class_id, s.engine, s.era, s.date_from, s.date_to, s.models, s.n, s.mean_error) for s in calibration.sets
    ]
    k3, r1 = ("kimi-k3",), ("deepseek-r1-0528",)
    days = sorted(row["date"] for row in ROWS if row["id"].startswith("k3"))
    assert told == [
        ("blackwell-ultra", "", "", days[0], days[-1], k3, 3, 0.4),
        ("blackwell-ultra", "sglang", "", days[0], days[-1], k3, 3, 0.4),
        ("blackwell-ultra", "sglang", "2026H2", days[0], days[-1], k3, 3, 0.4),
        ("cdna4", "", "", "2026-05-20", "2026-06-11", r1, 2, 0.15),
        ("cdna4", "sglang", "", "2026-05-20", "2026-06-11", r1, 2, 0.15),
        ("cdna4", "sglang", "2026H1", "2026-05-20", "2026-06-11", r1, 2, 0.15),
    ]
    assert calibration.date == days[-1]
    assert calibration.accepted_by_spec == {"mtp": 2.2}
    # four digits of each constant; this set's logarithms are those of twice the prior
    assert calibration.sets[3].constants.layer_floor_s == 120e-6
    assert calibration.sets[0].constants.layer_floor_s == 60e-6
    assert calibration.sets[0].constants.e_pf == float(f"{float(calibrate._natural('e_pf', np.log(0.4))):.4g}")
    # each model on its class and engine, or the class, has more than one configuration here
    assert calibration.lone == ()


def test_predictions_come_with_it(judged_run: Any) -> None:
    predictions = judged_run[1]
    assert [p.id for p in predictions] == IDS
    assert predictions[0].predicted_tokens_per_s == pytest.approx(113.0 * 1.1)
    assert predictions[0].constants_only_tokens_per_s == pytest.approx(113.0 * 1.5)
    assert (predictions[2].hardware, predictions[2].model, predictions[2].evidence) == (
        "b300_sxm",
        "kimi-k3",
        "modelled",
    )


SMALL = Calibration(
    date="2026-09-30",
    sets=(
        ConstantSet("a", "", "", "2026-01", "2026-09-30", ("m1", "m2"), Constants(layer_floor_s=1.23456e-5), 7, 0.125),
        ConstantSet("a", "vllm", "2026H2", "", "", (), Constants(), 1, None),
    ),
    bands={"measured": Band(0.9, 1.1, 5), "user": Band(0.95, 1.05, 0)},
    accepted_by_spec={"mtp": 2.2, 'dspark "7"': 4.0},
    summary={
        "n": 8,
        "n_rows": 12,
        "n_skipped": 3,
        "n_marked": 1,
        "configurations": 4,
        "software_floor": {"n": 2, "mean": 0.05, "median": 0.04, "p90": 0.06},
        "all": {},
        "k3": {
            "anchored": {"n": 1, "mean": 0.11, "median": 0.01, "p90": 0.21},
            "renewed": {"n": 2, "mean": 0.12, "median": 0.02, "p90": 0.22},
            "constants_only": {"n": 3, "mean": 0.13, "median": 0.03, "p90": 0.23},
            "at_concurrency": {"n": 4, "mean": 0.14, "median": 0.04, "p90": 0.24},
            "without_set": {"n": 5, "mean": 0.15, "median": 0.05, "p90": 0.25},
            "leave_model_out": {"n": 6, "mean": 0.16, "median": 0.06, "p90": 0.26},
            "leave_machine_out": {"n": 7, "mean": 0.17, "median": 0.07, "p90": 0.27},
        },
        "other": {
            "anchored": {"n": 11, "mean": 0.31, "median": 0.01, "p90": 0.41},
            "renewed": {"n": 12, "mean": 0.32, "median": 0.02, "p90": 0.42},
            "constants_only": {"n": 13, "mean": 0.33, "median": 0.03, "p90": 0.43},
            "at_concurrency": {"n": 14, "mean": 0.34, "median": 0.04, "p90": 0.44},
            "without_set": {"n": 0},
            "leave_model_out": {"n": 16, "mean": 0.36, "median": 0.06, "p90": 0.46},
            "leave_machine_out": {"n": 17, "mean": 0.37, "median": 0.07, "p90": 0.47},
        },
        "by_hardware": {
            "x1": {
                "anchored": {"n": 3, "mean": 0.5, "median": 0.5, "p90": 0.5},
                "constants_only": {"n": 0},
                "leave_machine_out": {"n": 3, "mean": 0.75, "median": 0.7, "p90": 0.8},
            }
        },
        "coverage": {"measured": 0.8},
    },
    lone=(Lone("b", "", "", 2, 0.5, 2.0), Lone("c", "vllm", "m1", 1, 0.8, 1.25)),
)


def test_the_file_says_what_the_calibration_holds(tmp_path: Path) -> None:
    text = calibrate.to_toml(SMALL)
    assert text.startswith("# Written by `python -m calculators.calibrate` from data/measurements; do not edit.\n")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    raw = tomllib.loads(text)
    assert raw["date"] == "2026-09-30"
    # in the order of their names
    assert list(raw["accepted_tokens_per_step"].items()) == [('dspark "7"', 4.0), ("mtp", 2.2)]
    assert raw["bands"] == {
        "measured": {"low": 0.9, "high": 1.1, "n": 5},
        "user": {"low": 0.95, "high": 1.05, "n": 0},
    }
    assert raw["lone"] == [
        {"accelerator_class": "b", "engine": "", "model": "", "n": 2, "low": 0.5, "high": 2.0},
        {"accelerator_class": "c", "engine": "vllm", "model": "m1", "n": 1, "low": 0.8, "high": 1.25},
    ]
    first, second = raw["set"]
    # four digits are kept of a constant
    assert first.pop("constants") == dataclasses.asdict(Constants(layer_floor_s=1.235e-5))
    assert first == {
        "accelerator_class": "a",
        "engine": "",
        "era": "",
        "date_from": "2026-01",
        "date_to": "2026-09-30",
        "models": ["m1", "m2"],
        "n": 7,
        "mean_error": 0.125,
    }
    assert "mean_error" not in second
    assert (second["engine"], second["era"], second["models"]) == ("vllm", "2026H2", [])
    assert raw["summary"] == SMALL.summary
    file = tmp_path / "c.toml"
    file.write_text(text, encoding="utf-8")
    assert load_calibration(file).summary == SMALL.summary


def test_odd_names_are_quoted() -> None:
    lines = calibrate._toml_tables("s", {"a b": 1, 'c"\\': {"x/y": {"n": 2}}})
    assert tomllib.loads("\n".join(lines)) == {"s": {"a b": 1, 'c"\\': {"x/y": {"n": 2}}}}
    # a table's own figures come before the tables inside it, else they would belong to these
    assert tomllib.loads("\n".join(calibrate._toml_tables("s", {"t": {"n": 1}, "m": 2}))) == {
        "s": {"t": {"n": 1}, "m": 2}
    }
    assert calibrate._key("a_b-9") == "a_b-9"


REPORT = """\
Output throughput, 8 usable points of 12 measured rows, 4 configurations (3 rows without layout, count or lengths; \
1 marked suspect or without a speed). Held out by configuration (model, accelerator, engine, precision, layout, \
speculation): 5 folds by hash. 'Anchored' is how the app answers: constants that never saw the configuration, scaled \
by the other measured points near it, which may be of the same configuration; the point itself never takes part. \
'Constants only' uses no measured point of the configuration at all.

| Held out | n | mean | median | 90th pct | target |
|---|---|---|---|---|---|
| K3, machines with a calibration set, anchored | 1 | 11.0% | 1.0% | 21.0% | 12 % / 25 % |
| K3, anchored, without repeats of a point in its month | 2 | 12.0% | 2.0% | 22.0% | 12 % / 25 % |
| K3, constants only, or from the speed where no concurrency is stated | 3 | 13.0% | 3.0% | 23.0% | 12 % / 25 % |
| K3, constants only, at the concurrency stated or implied by rate and latency | 4 | 14.0% | 4.0% | 24.0% |  |
| K3, engine and class without another K3 configuration | 5 | 15.0% | 5.0% | 25.0% |  |
| Other models, same chips, anchored | 11 | 31.0% | 1.0% | 41.0% | 20 % mean |
| Other models, anchored, without repeats of a point in its month | 12 | 32.0% | 2.0% | 42.0% | 20 % mean |
| Other models, same chips, constants only | 13 | 33.0% | 3.0% | 43.0% | 20 % mean |
| Other models, constants only, at the concurrency stated or implied | 14 | 34.0% | 4.0% | 44.0% |  |
| Other models, class and engine without the model | 0 | | | |  |
| K3 with all K3 points left out | 6 | 16.0% | 6.0% | 26.0% |  |
| Other models, the whole model left out | 16 | 36.0% | 6.0% | 46.0% |  |
| K3, the whole machine left out | 7 | 17.0% | 7.0% | 27.0% |  |
| Other models, the whole machine left out | 17 | 37.0% | 7.0% | 47.0% |  |
| Software floor: same configuration and point, other month | 2 | 5.0% | 4.0% | 6.0% |  |

| Evidence | band on throughput | n | held-out points inside |
|---|---|---|---|
| measured | x0.90 to x1.10 | 5 | 80% |

What one configuration alone supports gets at least the band that this configuration, held out, asks for:

| Accelerator class | engine | model | n | band at least |
|---|---|---|---|---|
| b | all | all | 2 | x0.50 to x2.00 |
| c | vllm | m1 | 1 | x0.80 to x1.25 |

| Accelerator | n | anchored mean | constants-only mean | machine left out mean |
|---|---|---|---|---|
| x1 | 3 | 50.0% | - | 75.0% |"""


def test_the_tables_of_the_accuracy() -> None:
    """They stand in the README: each figure under its name."""
    assert calibrate.report(SMALL) == REPORT
    assert "What one configuration alone" not in calibrate.report(dataclasses.replace(SMALL, lone=()))


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a flag both files of data/ are written; elsewhere only the constants; --report writes nothing."""
    rows = (Prediction("a", "x1", "m1", "modelled", 100.0, 110.0, 90.0),)
    monkeypatch.setattr(calibrate, "run", lambda catalog: (SMALL, rows))
    monkeypatch.setattr(calibrate, "load_calibration", lambda: SMALL)
    monkeypatch.setattr(calibrate, "DATA", tmp_path)
    monkeypatch.setattr(calibrate, "FILE", tmp_path / "predictions.csv")
    elsewhere = tmp_path / "mine.toml"
    for arguments, written in (
        (["--report"], []),
        (["--stored"], []),
        (["--output", str(elsewhere)], ["mine.toml"]),
        ([], ["calibration.toml", "mine.toml", "predictions.csv"]),
    ):
        assert calibrate.main(arguments) == 0
        assert capsys.readouterr().out == REPORT + "\n"
        assert sorted(file.name for file in tmp_path.iterdir()) == written
    for name in ("mine.toml", "calibration.toml"):
        assert (tmp_path / name).read_text(encoding="utf-8") == calibrate.to_toml(SMALL)
    assert "a,x1,m1,modelled,100,110,90" in (tmp_path / "predictions.csv").read_text(encoding="utf-8")


def test_held_out_predictions_are_of_the_usable_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "measurement_rows", lambda: (*ROWS, MARKED, UNREAD))
    asked: list[Any] = []

    def judge_folds(data: Any, catalog: Any, calibration: Any) -> Any:
        asked.append((data.points, catalog, calibration))
        n = len(data.points)
        return calibrate.Folds(
            np.zeros(n), np.full(n, math.log(2.0)), ("measured",) * n, np.zeros(n), ("",) * n, np.zeros(n),
            np.ones(n, dtype=bool),
        )  # fmt: skip

    monkeypatch.setattr(calibrate, "judge_folds", judge_folds)
    calibration = dataclasses.replace(SMALL, accepted_by_spec={})
    found = calibrate.held_out_predictions(CATALOG, calibration)
    # without an acceptance for MTP its row is not usable
    assert [p.id for p in found] == IDS[:4]
    assert found[0].predicted_tokens_per_s == pytest.approx(226.0)
    assert asked[0][1:] == (CATALOG, calibration)
