"""Measured K3 points beside our prediction and that of NVIDIA's aiconfigurator.

``python -m calculators.compare_aiconfigurator [--limit N] [--database-mode MODE]``; aiconfigurator is an optional
extra, ``pip install -e '.[aic]'``, and is imported only when the script runs.

Our figure for a row never uses that row as an anchor (calculators.validate); 'constants alone' uses no measured series
at all, but the fitted constants have seen the file. aiconfigurator composes kernel timings measured on the chip and was
told the same layout, lengths, precision, concurrency and accepted tokens, through its `cli_estimate` (mode 'agg').

Left out, each with its reason: rows of chips and engines that it has no tables for, rows without a stated concurrency
(all disaggregated ones), and decode-context parallelism, which it has no argument for.

Run once with aiconfigurator 0.12.0 over the whole file: it priced 18 rows, had no experts' timings for NVFP4 and found
that two rows of 219,000 tokens do not fit. Its separate pools and its other database modes were not run. The tests of
this file need no package: they replace `cli_estimate`.
"""

import argparse
import importlib
import math
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from calculators.calibration import load_calibration, measurement_rows
from calculators.catalog import load_catalog
from calculators.measurements import HasRecords, Point, Skipped, Unusable, parse_rows
from calculators.validate import accepted_tokens, calibrated_constants, predict, references

Estimate = Callable[..., Any]

INSTALL: Final = "aiconfigurator is not installed; install it with pip install -e '.[aic]'."

MODEL_PATHS: Final[Mapping[str, str]] = {"kimi-k3": "moonshotai/Kimi-K3"}
"""Checkpoints by our model ids."""

SYSTEMS: Final[Mapping[str, str]] = {
    name: name for name in ("b300_sxm", "b200_sxm", "gb300", "gb200", "h200_sxm", "h100_sxm")
}
"""aiconfigurator's system names by our accelerator ids."""

BACKENDS: Final = ("sglang", "vllm", "trtllm")

EXPERT_QUANT: Final[Mapping[str, str | None]] = {"mxfp4": None, "nvfp4": "nvfp4"}
"""Its name for the experts' precision; None = what the published checkpoint says."""

DATABASE_MODES: Final = ("SILICON", "HYBRID", "EMPIRICAL", "SOL")


class MissingPackage(RuntimeError):
    """The optional package is not there; the message says what to install."""


@dataclass(frozen=True)
class Compared:
    """One row: output tokens per second of the whole replica. theirs None = aiconfigurator gave none, see why."""

    id: str
    accelerator_id: str
    engine: str
    layout: str
    concurrency: float
    measured_tokens_per_s: float
    ours_tokens_per_s: float
    evidence: str
    constants_alone_tokens_per_s: float
    theirs_tokens_per_s: float | None
    why: str = ""

    def error(self, tokens_per_s: float | None) -> float | None:
        """Given / measured - 1, None where nothing was given."""
        return None if tokens_per_s is None else tokens_per_s / self.measured_tokens_per_s - 1.0


def load_estimate() -> Estimate:
    """`cli_estimate` of the package.

    Raises:
        MissingPackage: it is not installed, or is a release without that function.
    """
    try:
        found: Estimate = importlib.import_module("aiconfigurator.cli.api").cli_estimate
    except ModuleNotFoundError as why:
        if (why.name or "").split(".")[0] != "aiconfigurator":
            raise MissingPackage(f"aiconfigurator cannot be used, it misses {why.name}; {INSTALL}") from why
        raise MissingPackage(INSTALL) from why
    except (ImportError, AttributeError) as why:
        raise MissingPackage(f"this release of aiconfigurator has no cli_estimate; {INSTALL}") from why
    return found


def question(point: Point, accepted: float, database_mode: str = "SILICON") -> dict[str, Any]:
    """What to ask `cli_estimate` for a measured point.

    Args:
        point: a row in SI units.
        accepted: tokens a step emits, the bonus token included; 1 without speculation.
        database_mode: SILICON = measured tables only.

    Returns:
        Keyword arguments. batch_size is a stage's share of one rank's sequences, so that batch_size x data-parallel
        ranks x pipeline stages is the concurrency, rounded up.

    Raises:
        Unusable: aiconfigurator cannot be asked about it, with the reason.
    """
    if point.model_id not in MODEL_PATHS:
        raise Unusable(f"model {point.model_id} has no checkpoint name here")
    if point.accelerator_id not in SYSTEMS:
        raise Unusable(f"no tables for {point.accelerator_id}")
    if point.engine not in BACKENDS:
        raise Unusable(f"no tables for the engine {point.engine or 'that is not stated'}")
    if point.precision not in EXPERT_QUANT:
        raise Unusable(f"precision {point.precision} is not mapped")
    if point.suspect:
        raise Unusable(point.suspect)
    if point.plan.prefill is not None or point.plan.decode.workers != 1:
        raise Unusable("separate pools without a stated batch of each")
    layout = point.plan.decode.layout
    if layout.dcp > 1:
        raise Unusable("decode-context parallelism has no argument")
    if not point.concurrency > 0:
        raise Unusable("concurrency is not stated")
    if not math.isfinite(accepted):
        raise Unusable(f"accepted tokens per step of {point.spec!r} are not stated")
    spread = layout.ep > 1
    asked: dict[str, Any] = {
        "model_path": MODEL_PATHS[point.model_id],
        "system_name": SYSTEMS[point.accelerator_id],
        "mode": "agg",
        "backend_name": point.engine,
        "database_mode": database_mode,
        "isl": round(point.input_tokens),
        "osl": round(point.output_tokens),
        "prefix": round(point.input_tokens * point.cached_share),
        "batch_size": math.ceil(point.concurrency / (layout.dp * layout.pp)),
        "tp_size": layout.tp,
        "pp_size": layout.pp,
        "attention_dp_size": layout.dp,
        "moe_tp_size": layout.tp * layout.dp // layout.ep if spread else layout.tp,
        "moe_ep_size": layout.ep if spread else layout.dp,
        "moe_quant_mode": EXPERT_QUANT[point.precision],
    }
    if accepted > 1.0:
        drafts = max(round(point.verified) - 1, math.ceil(accepted - 1.0))
        asked |= {"nextn": drafts, "nextn_accepted": accepted - 1.0}
    return asked


def compare(
    rows: Iterable[Mapping[str, str]],
    catalog: HasRecords,
    estimate: Estimate,
    limit: int | None = None,
    database_mode: str = "SILICON",
) -> tuple[list[Compared], list[Skipped]]:
    """Price rows three ways.

    Args:
        rows: measured rows as text, of either layout of data/measurements.
        catalog: records by id.
        estimate: `cli_estimate`, or what stands for it.
        limit: at most so many rows are priced, None = all.
        database_mode: passed on.

    Returns:
        Compared rows, and those left out with their reason. A row on which aiconfigurator fails is kept, with why.
    """
    calibration = load_calibration()
    constants_of = calibrated_constants(calibration)
    own = parse_rows(measurement_rows(), catalog)[0]
    refs = references(own, catalog, calibration, constants_of)
    points, skipped = parse_rows(rows, catalog)
    compared: list[Compared] = []
    for point in points:
        if limit is not None and len(compared) >= limit:
            break
        try:
            asked = question(point, accepted_tokens(point, calibration), database_mode)
            ours = predict(point, catalog, calibration, refs, constants_of)
            alone = predict(point, catalog, calibration, refs, constants_of, anchored=False)
        except ValueError as why:
            skipped.append(Skipped(point.id, str(why)))
            continue
        theirs, reason = _theirs(estimate, asked, point.concurrency)
        compared.append(
            Compared(
                id=point.id,
                accelerator_id=point.accelerator_id,
                engine=point.engine,
                layout=point.plan.name + ("" if point.spec == "none" else " + draft"),
                concurrency=point.concurrency,
                measured_tokens_per_s=point.output_tokens_per_s,
                ours_tokens_per_s=ours.output_tokens_per_s,
                evidence=ours.evidence,
                constants_alone_tokens_per_s=alone.output_tokens_per_s,
                theirs_tokens_per_s=theirs,
                why=reason,
            )
        )
    return compared, skipped


def _theirs(estimate: Estimate, asked: Mapping[str, Any], concurrency: float) -> tuple[float | None, str]:
    """Its tokens per second and what it warned of; None with the reason where it has no answer."""
    try:
        answer = estimate(**asked)
        value = float(answer.tokens_per_second)
    except Exception as why:  # a foreign package: whatever it raises is the reason that people read
        text = " ".join(str(why).split())
        return None, f"{type(why).__name__}: {text[:160]}"
    if not math.isfinite(value) or value <= 0:
        return None, "gave no throughput"
    said = " ".join(str(getattr(answer, "kv_cache_warning", None) or "").split())[:160]
    held = float(getattr(answer, "concurrency", 0.0) or 0.0)
    if held > 0 and abs(held / concurrency - 1.0) > 0.01:
        # It fills every pipeline stage, so it cannot hold fewer requests than there are stages.
        said = f"priced with {held:g} requests in flight. {said}".strip()
    return value, said


def _percent(error: float | None) -> str:
    return "unknown" if error is None else f"{error:+.0%}"


def table(compared: Sequence[Compared], skipped: Sequence[Skipped]) -> str:
    """Markdown: one line a row, the mean and median absolute errors, then what was left out."""
    lines = [
        "Output tokens per second of the whole replica; errors are predicted / measured - 1.",
        "",
        "| row | machine, engine, layout | concurrency | measured | ours | error | evidence | constants alone | error "
        "| aiconfigurator | error |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in compared:
        theirs = "unknown" if row.theirs_tokens_per_s is None else f"{row.theirs_tokens_per_s:,.0f}"
        lines.append(
            f"| {row.id} | {row.accelerator_id}, {row.engine}, {row.layout} | {row.concurrency:g} "
            f"| {row.measured_tokens_per_s:,.0f} "
            f"| {row.ours_tokens_per_s:,.0f} | {_percent(row.error(row.ours_tokens_per_s))} | {row.evidence} "
            f"| {row.constants_alone_tokens_per_s:,.0f} | {_percent(row.error(row.constants_alone_tokens_per_s))} "
            f"| {theirs} | {_percent(row.error(row.theirs_tokens_per_s))} |"
        )
    both = [row for row in compared if row.theirs_tokens_per_s is not None]
    lines.append("")
    if both:
        lines.append(f"Absolute error over the {len(both)} rows that all three priced:")
        for name, given in (
            ("ours", [row.ours_tokens_per_s for row in both]),
            ("constants alone", [row.constants_alone_tokens_per_s for row in both]),
            ("aiconfigurator", [row.theirs_tokens_per_s for row in both]),
        ):
            errors = [abs(e) for row, value in zip(both, given, strict=True) if (e := row.error(value)) is not None]
            lines.append(f"- {name}: mean {statistics.fmean(errors):.0%}, median {statistics.median(errors):.0%}")
    else:
        lines.append("No row was priced by all three.")
    notes = [f"- {row.id}: {row.why}" for row in compared if row.why]
    if notes:
        lines += ["", "What aiconfigurator said:", *notes]
    reasons: dict[str, list[str]] = {}
    for item in skipped:
        reasons.setdefault(item.why, []).append(item.id)
    if reasons:
        lines += ["", f"Left out, {len(skipped)} rows:"]
        lines += [f"- {why}: {', '.join(ids)}" for why, ids in sorted(reasons.items())]
    return "\n".join(lines)


def _whole(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no whole number of rows from 1")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; 2 with one sentence on standard error when the package is missing."""
    parser = argparse.ArgumentParser(prog="python -m calculators.compare_aiconfigurator", description=__doc__)
    parser.add_argument("--limit", type=_whole, default=None, help="price at most so many rows")
    parser.add_argument("--database-mode", choices=DATABASE_MODES, default="SILICON", help="its source of timings")
    chosen = parser.parse_args(arguments)
    try:
        estimate = load_estimate()
    except MissingPackage as why:
        sys.stderr.write(f"{why}\n")
        return 2
    catalog = load_catalog()
    rows = [row for row in catalog.measurements["k3_measured"] if row.get("id")]
    compared, skipped = compare(rows, catalog, estimate, chosen.limit, chosen.database_mode)
    sys.stdout.write(table(compared, skipped) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
