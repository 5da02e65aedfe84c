"""Load tests: what one run measured, in one shape whatever tool wrote it.

Throughput is output tokens over the duration, or the tool's own mean; never a median, a maximum or a peak. Seconds and
milliseconds are told apart by the tool that wrote the file.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from calculators.texts import said
from calculators.usage_import.cells import number_of, text_of
from calculators.usage_import.errors import CellError, ImportRefused
from calculators.usage_import.usage import MAX_MEAN_TOKENS, RefusedRow

VALIDATE_COLUMNS: Final = (
    "id",
    "evidence",
    "hardware",
    "gpus",
    "nodes",
    "engine",
    "engine_version",
    "precision",
    "kv_dtype",
    "layout",
    "pd_split",
    "spec",
    "accept_len",
    "accept_kind",
    "isl",
    "osl",
    "concurrency",
    "prefix_cache_hit",
    "out_tok_s_total",
    "out_tok_s_per_gpu",
    "total_tok_s_per_gpu",
    "tok_s_per_user",
    "ttft_ms",
    "tpot_ms",
    "date",
    "source_url",
    "notes",
)
"""Columns of a measurement row as `python -m calculators validate` reads them."""

MAX_RUNS: Final = 2_000


@dataclass(frozen=True)
class BenchmarkRow:
    """One run at one load. Throughput is of the whole system under test. None = the file does not say.

    concurrency_max is the limit that was set, concurrency_effective the mean number of requests in flight.
    accepted_tokens_per_step counts the bonus token (1 = no speculation).
    """

    name: str = ""
    model: str = ""
    engine: str = ""
    hardware: str = ""
    precision: str = ""
    accelerators: int | None = None
    request_rate_per_s: float | None = None
    concurrency_max: float | None = None
    concurrency_effective: float | None = None
    completed_requests: int | None = None
    failed_requests: int | None = None
    duration_s: float | None = None
    total_input_tokens: int | None = None
    total_output_tokens: int | None = None
    input_tokens_mean: float | None = None
    output_tokens_mean: float | None = None
    output_tokens_per_s: float | None = None
    total_tokens_per_s: float | None = None
    requests_per_s: float | None = None
    ttft_mean_s: float | None = None
    tpot_mean_ms: float | None = None
    accepted_tokens_per_step: float | None = None
    prefix_cache_hit_share: float | None = None
    date: str = ""
    notes: tuple[str, ...] = ()

    @property
    def concurrency(self) -> float | None:
        """Requests in flight: the mean if known, else the limit that was set."""
        return self.concurrency_effective if self.concurrency_effective is not None else self.concurrency_max

    def to_json_dict(self) -> dict[str, Any]:
        """Give plain JSON values."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self.__dict__.items()}


@dataclass(frozen=True)
class BenchmarkReport:
    """What a load test measured, run by run."""

    kind: str
    label: str
    rows: tuple[BenchmarkRow, ...]
    rows_read: int
    rows_refused: int
    refused: tuple[RefusedRow, ...]
    notes: tuple[str, ...]
    units: tuple[str, ...]
    questions: tuple[str, ...] = field(default=())

    def best(self) -> int:
        """Index of the run with the highest output throughput (the first one if none has any)."""
        return max(range(len(self.rows)), key=lambda i: (self.rows[i].output_tokens_per_s or -1.0, -i))

    def to_json_dict(self) -> dict[str, Any]:
        """Give plain JSON values: finite numbers, None for what is unknown."""
        return {
            "type": "benchmark",
            "kind": self.kind,
            "label": self.label,
            "rows_read": self.rows_read,
            "rows_refused": self.rows_refused,
            "refused": [{"line": r.line, "why": r.why} for r in self.refused],
            "notes": list(self.notes),
            "units": list(self.units),
            "rows": [r.to_json_dict() for r in self.rows],
        }

    def to_scenario_fields(self, row: int | None = None) -> dict[str, Any]:
        """Turn one run into fields of the Scenario.

        Args:
            row: index of the run; None takes the one with the highest output throughput.

        Returns:
            {'fields': {name: value}, 'explanations': {name: sentence}, 'unresolved': [question, ...]}.

        Raises:
            ImportRefused: there is no such run.
        """
        if row is not None and not 0 <= row < len(self.rows):
            raise ImportRefused(said("import_refused.no_run", run=row, last=len(self.rows) - 1))
        index = self.best() if row is None else row
        run = self.rows[index]
        fields: dict[str, Any] = {}
        why: dict[str, str] = {}
        ask: list[str] = list(self.questions)
        for name, mean, word in (
            ("input_tokens", run.input_tokens_mean, said("import.input")),
            ("output_tokens", run.output_tokens_mean, said("import.output")),
        ):
            if mean is None:
                ask.append(said("import_ask.no_mean", which=word))
            elif 0 < mean <= MAX_MEAN_TOKENS:
                fields[name] = max(1, round(mean))
                why[name] = said("import_why.test_mean", which=word, n=f"{mean:,.1f}")
        if run.output_tokens_per_s and run.output_tokens_per_s <= 1e9:
            fields["measured_output_tokens_per_s"] = run.output_tokens_per_s
            basis = (
                said("import_why.basis", n=f"{run.total_output_tokens:,}", s=f"{run.duration_s:,.2f}")
                if run.total_output_tokens and run.duration_s
                else ""
            )
            at = said("import_why.in_flight", n=f"{run.concurrency:,.4g}") if run.concurrency is not None else ""
            why["measured_output_tokens_per_s"] = said(
                "import_why.throughput", run=index, rate=f"{run.output_tokens_per_s:,.2f}", basis=basis, at=at
            )
            ask.append(
                said("import_ask.which_machine")
                if run.accelerators is None
                else said("import_ask.accelerators", n=run.accelerators)
            )
        else:
            ask.append(said("import_ask.no_throughput"))
        if run.prefix_cache_hit_share is not None:
            fields["serving_cached_share"] = round(run.prefix_cache_hit_share, 6)
            why["serving_cached_share"] = said("import_why.prefix_hits")
        elif run.output_tokens_per_s:
            ask.append(said("import_ask.prefix_hits"))
        if run.accepted_tokens_per_step is not None and run.accepted_tokens_per_step > 1:
            why["accepted_tokens_per_step"] = said("import_why.accepted", n=f"{run.accepted_tokens_per_step:.3g}")
        if len(self.rows) > 1:
            ask.append(
                said("import_ask.best_run", n=len(self.rows), run=index)
                if row is None
                else said("import_ask.run", n=len(self.rows), run=index)
            )
        if _load_limited(run):
            ask.append(said("import_ask.fixed_rate"))
        return {"fields": fields, "explanations": why, "unresolved": list(dict.fromkeys(ask))}

    def to_validate_rows(self, hardware: str = "unknown", accelerators: int | None = None) -> list[dict[str, str]]:
        """Write the runs with a throughput as measurement rows for `validate`, all values text, '' where unknown.

        Args:
            hardware: machine that the test ran on; the files seldom say.
            accelerators: number of accelerators it used.
        """
        out = []
        for i, run in enumerate(self.rows):
            if run.output_tokens_per_s is None:
                continue
            gpus = accelerators or run.accelerators
            total = run.total_tokens_per_s
            spec = run.accepted_tokens_per_step
            values: dict[str, str | float | None] = {
                "id": f"import-{i + 1:03d}",
                "evidence": "measured",
                "hardware": run.hardware if hardware == "unknown" and run.hardware else hardware,
                "gpus": gpus,
                "engine": run.engine,
                "precision": run.precision,
                "spec": "none" if spec is None else "yes" if spec > 1 else "none",
                "accept_len": spec,
                "isl": run.input_tokens_mean,
                "osl": run.output_tokens_mean,
                "concurrency": run.concurrency,
                "prefix_cache_hit": run.prefix_cache_hit_share,
                "out_tok_s_total": run.output_tokens_per_s,
                "out_tok_s_per_gpu": run.output_tokens_per_s / gpus if gpus else None,
                "total_tok_s_per_gpu": total / gpus if gpus and total is not None else None,
                "tok_s_per_user": 1000 / run.tpot_mean_ms if run.tpot_mean_ms else None,
                "ttft_ms": run.ttft_mean_s * 1000 if run.ttft_mean_s is not None else None,
                "tpot_ms": run.tpot_mean_ms,
                "date": run.date,
                "notes": "; ".join(n for n in (run.name, run.model) if n),
            }
            out.append({c: _cell(values.get(c)) for c in VALIDATE_COLUMNS})
        return out


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.10g}"


def _load_limited(run: BenchmarkRow) -> bool:
    rate, done = run.request_rate_per_s, run.requests_per_s
    return rate is not None and done is not None and done >= 0.9 * rate


# -------------------------------------------------------------------------------------------------------------- numbers


def num(value: Any, *, low: float = 0.0) -> float | None:
    """Read a number of a result; None if missing, infinite, NaN or below `low`."""
    if value is None or isinstance(value, bool | dict | list):
        return None
    if isinstance(value, int | float):
        number = float(value) if abs(value) < 1e300 else math.inf
    else:
        try:
            found = number_of(value)
        except CellError:
            return None
        number = float(found) if found is not None else math.nan
    return number if math.isfinite(number) and number >= low and number < 1e18 else None


def whole(value: Any) -> int | None:
    """Read a count of a result."""
    if isinstance(value, list):
        return None
    number = num(value)
    return None if number is None else round(number)


def pos(value: Any) -> float | None:
    """Read a number above zero; a latency of exactly 0 means 'not measured'."""
    number = num(value)
    return number if number else None


def _get(item: Any, *path: str) -> Any:
    for key in path:
        if not isinstance(item, dict):
            return None
        item = item.get(key)
    return item


def _ratio(top: float | None, bottom: float | None) -> float | None:
    return top / bottom if top is not None and bottom else None


def make_row(**values: Any) -> BenchmarkRow:
    """Complete a run: sum / duration first, then the tool's own mean; means from sums and counts.

    Raises:
        CellError: the run has neither throughput nor any token count.
    """
    notes: list[str] = list(values.pop("notes", ()))
    stated = values.pop("stated_output_tokens_per_s", None)
    stated_total = values.pop("stated_total_tokens_per_s", None)
    duration, done = values.get("duration_s"), values.get("completed_requests")
    out, given = values.get("total_output_tokens"), values.get("total_input_tokens")
    if values.get("requests_per_s") is None:
        values["requests_per_s"] = _ratio(done, duration)
    rate = values["requests_per_s"]
    computed = _ratio(out, duration) if out else None
    if computed is not None and stated is not None and abs(computed - stated) > 0.02 * computed:
        notes.append(said("import_note.stated_rate", stated=f"{stated:,.2f}", computed=f"{computed:,.2f}"))
    speed = computed if computed is not None else stated
    if values.get("output_tokens_mean") is None:
        values["output_tokens_mean"] = _ratio(out, done) if out else _ratio(speed, rate)
    if values.get("input_tokens_mean") is None:
        values["input_tokens_mean"] = _ratio(given, done) if given else None
    both = (given or 0) + (out or 0)
    total = _ratio(both, duration) if given and out and duration else stated_total
    if values.get("input_tokens_mean") is None and total is not None and speed is not None and rate:
        values["input_tokens_mean"] = max(0.0, (total - speed) / rate) or None
    values["output_tokens_per_s"], values["total_tokens_per_s"] = speed, total
    if speed is None and not out and not given:
        raise CellError(said("import_cell.no_throughput"))
    failed = values.get("failed_requests")
    if failed:
        notes.append(said("import_note.failed", n=f"{failed:,}"))
    if done == 0:
        raise CellError(said("import_cell.none_completed"))
    return BenchmarkRow(**values, notes=tuple(notes))


# ---------------------------------------------------------------------------------------------------------------- tools


def vllm_run(d: Mapping[str, Any]) -> BenchmarkRow:
    """`vllm bench serve` and `sglang.bench_serving`: latencies in ms, duration in s."""
    rate, e2e = pos(d.get("request_throughput")), pos(d.get("mean_e2el_ms")) or pos(d.get("mean_e2e_latency_ms"))
    effective = pos(d.get("concurrency"))
    if effective is None and rate is not None and e2e is not None:
        effective = rate * e2e / 1000
    accepted = (
        pos(d.get("accept_length")) or pos(d.get("spec_decode_acceptance_length")) or pos(d.get("spec_accept_length"))
    )
    return make_row(
        name=text_of(d.get("label")) or text_of(d.get("dataset_name")),
        model=text_of(d.get("model_id")) or text_of(d.get("model")),
        engine=text_of(d.get("backend")) or text_of(d.get("endpoint_type")),
        date=text_of(d.get("date"))[:20],
        request_rate_per_s=pos(d.get("request_rate")),
        concurrency_max=pos(d.get("max_concurrency")),
        concurrency_effective=effective,
        completed_requests=whole(d.get("completed")),
        failed_requests=whole(d.get("failed")),
        duration_s=pos(d.get("duration")),
        total_input_tokens=whole(d.get("total_input_tokens")),
        total_output_tokens=whole(d.get("total_output_tokens")),
        stated_output_tokens_per_s=pos(d.get("output_throughput")),
        stated_total_tokens_per_s=pos(d.get("total_token_throughput")) or pos(d.get("total_throughput")),
        requests_per_s=rate,
        ttft_mean_s=_ratio(pos(d.get("mean_ttft_ms")), 1000.0),
        tpot_mean_ms=pos(d.get("mean_tpot_ms")),
        accepted_tokens_per_step=accepted,
    )


def guidellm_run(b: Mapping[str, Any]) -> BenchmarkRow:
    """One benchmark of a guidellm report (v1 and v2): successful requests only; ms in the names, duration in s."""
    metrics = b.get("metrics")

    def good(name: str) -> Any:
        value = _get(metrics, name)
        return _get(value, "successful") if isinstance(_get(value, "successful"), dict) else value

    start, end = num(b.get("start_time")), num(b.get("end_time"))
    duration = pos(b.get("duration")) or (pos(end - start) if start is not None and end is not None else None)
    if duration is None:
        start, end = num(_get(b, "run_stats", "start_time")), num(_get(b, "run_stats", "end_time"))
        duration = pos(end - start) if start is not None and end is not None else None
    totals = _get(metrics, "request_totals") or b.get("request_totals") or _get(b, "run_stats", "requests_made")
    done = whole(_get(totals, "successful"))
    prompt, output = good("prompt_token_count"), good("output_token_count")
    config = b.get("config") if isinstance(b.get("config"), dict) else b.get("args")
    strategy = _get(config, "strategy") or _get(b, "scheduler", "strategy") or {}
    kind = text_of(_get(strategy, "type_"))
    streams = pos(_get(strategy, "streams")) or (
        pos(_get(strategy, "max_concurrency")) if kind in ("concurrent", "synchronous") else None
    )
    model = (
        text_of(_get(config, "backend", "model"))
        or text_of(_get(b, "worker", "backend_model"))
        or text_of(_get(b, "request_loader", "model"))
    )
    errored = whole(_get(totals, "errored"))
    total_out = _sum_of(output)
    return make_row(
        name=kind,
        model=model,
        engine="",
        request_rate_per_s=pos(_get(strategy, "rate")) if kind in ("constant", "poisson", "async") else None,
        concurrency_max=1.0 if kind == "synchronous" else streams,
        concurrency_effective=pos(_get(good("request_concurrency"), "mean")),
        completed_requests=done,
        failed_requests=errored,
        duration_s=duration,
        total_input_tokens=_sum_of(prompt),
        total_output_tokens=total_out,
        input_tokens_mean=pos(_get(prompt, "mean")),
        output_tokens_mean=pos(_get(output, "mean")),
        stated_output_tokens_per_s=pos(_get(good("output_tokens_per_second"), "mean"))
        if total_out is None or duration is None
        else None,
        stated_total_tokens_per_s=pos(_get(good("tokens_per_second"), "mean")),
        requests_per_s=_ratio(done, duration) or pos(_get(good("requests_per_second"), "mean")),
        ttft_mean_s=_ratio(pos(_get(good("time_to_first_token_ms"), "mean")), 1000.0),
        tpot_mean_ms=pos(_get(good("inter_token_latency_ms"), "mean"))
        or pos(_get(good("time_per_output_token_ms"), "mean")),
        notes=() if pos(_get(good("inter_token_latency_ms"), "mean")) is None else (said("import_note.guidellm_tpot"),),
    )


def _sum_of(distribution: Any) -> int | None:
    total = pos(_get(distribution, "total_sum"))
    if total is None:
        mean, count = pos(_get(distribution, "mean")), pos(_get(distribution, "count"))
        total = mean * count if mean and count else None
    return None if total is None else round(total)


def inference_perf_run(d: Mapping[str, Any]) -> BenchmarkRow:
    """inference-perf lifecycle metrics: all latencies in seconds."""
    good, load = d.get("successes"), d.get("load_summary")
    speed, rate = (
        pos(_get(good, "throughput", "output_tokens_per_sec")),
        pos(_get(good, "throughput", "requests_per_sec")),
    )
    done = whole(_get(good, "count"))
    if done is None:
        done = whole(_get(load, "count"))
    latency = pos(_get(good, "latency", "request_latency", "mean"))
    given = pos(_get(good, "prompt_tokens", "mean")) or pos(_get(good, "prompt_len", "mean"))
    tpot = pos(_get(good, "latency", "time_per_output_token", "mean")) or pos(
        _get(good, "latency", "inter_token_latency", "mean")
    )
    return make_row(
        name=text_of(d.get("name")),
        completed_requests=done,
        failed_requests=whole(_get(d, "failures", "count")),
        duration_s=_ratio(float(done) if done else None, rate),
        request_rate_per_s=pos(_get(load, "requested_rate")),
        concurrency_max=pos(_get(load, "concurrency")),
        concurrency_effective=rate * latency if rate and latency else None,
        input_tokens_mean=given,
        output_tokens_mean=pos(_get(good, "output_tokens", "mean")) or pos(_get(good, "output_len", "mean")),
        stated_output_tokens_per_s=speed,
        stated_total_tokens_per_s=pos(_get(good, "throughput", "total_tokens_per_sec")),
        requests_per_s=rate,
        ttft_mean_s=pos(_get(good, "latency", "time_to_first_token", "mean")),
        tpot_mean_ms=tpot * 1000 if tpot else None,
    )


def llmd_run(d: Mapping[str, Any]) -> BenchmarkRow:
    """llm-d benchmark report 0.1 and 0.2: every figure carries its unit, so seconds and ms are read from it."""
    found = _get(d, "results", "request_performance", "aggregate")
    metrics = found if isinstance(found, dict) else d.get("metrics")
    requests, latency, speed = (_get(metrics, k) for k in ("requests", "latency", "throughput"))
    total, failures = whole(_get(requests, "total")), whole(_get(requests, "failures"))
    done = total - (failures or 0) if total is not None else None
    duration = _seconds(_get(d, "run", "time", "duration")) or _seconds(_get(metrics, "time", "duration"))

    def mean_speed(*names: str) -> float | None:
        for name in names:
            value = _get(speed, name)
            number = pos(_get(value, "mean")) if isinstance(value, dict) else pos(value)
            if number is not None:
                return number
        return None

    def ms(*names: str) -> float | None:
        for name in names:
            value = _get(latency, name)
            mean = pos(_get(value, "mean"))
            if mean is not None:
                unit = text_of(_get(value, "units")).lower()
                return mean if unit.startswith("ms") else mean / 1000 if unit.startswith(("us", "µs")) else mean * 1000
        return None

    host = _get(d, "scenario", "host", "accelerator")
    accelerators = [h for h in host if isinstance(h, dict)] if isinstance(host, list) else []
    counts = [whole(h.get("count")) for h in accelerators]
    model = text_of(_get(d, "scenario", "model", "name"))
    given, out = pos(_get(requests, "input_length", "mean")), pos(_get(requests, "output_length", "mean"))
    standard = _get(d, "scenario", "load", "standardized")
    e2e, rate = ms("request_latency"), mean_speed("request_rate", "requests_per_sec")
    return make_row(
        name=text_of(_get(standard, "tool")) or text_of(_get(d, "scenario", "load", "name")),
        model=model,
        hardware=text_of(accelerators[0].get("model")) if accelerators else "",
        accelerators=sum(c or 0 for c in counts) or None,
        request_rate_per_s=pos(_get(standard, "rate_qps")),
        concurrency_max=pos(_get(standard, "concurrency")),
        concurrency_effective=rate * e2e / 1000 if rate and e2e else None,
        completed_requests=done,
        failed_requests=failures,
        duration_s=duration,
        total_input_tokens=_times(given, done),
        total_output_tokens=_times(out, done),
        input_tokens_mean=given,
        output_tokens_mean=out,
        stated_output_tokens_per_s=mean_speed("output_token_rate", "output_tokens_per_sec"),
        stated_total_tokens_per_s=mean_speed("total_token_rate", "total_tokens_per_sec"),
        requests_per_s=rate,
        ttft_mean_s=_ratio(ms("time_to_first_token"), 1000.0),
        tpot_mean_ms=ms("time_per_output_token") or ms("inter_token_latency"),
        date=text_of(_get(d, "run", "time", "start"))[:10],
    )


def _times(mean: float | None, count: int | None) -> int | None:
    return round(mean * count) if mean and count else None


def _seconds(value: Any) -> float | None:
    if isinstance(value, str) and (
        match := re.fullmatch(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?", value.strip())
    ):
        parts = [num(g) or 0.0 for g in match.groups()]
        return parts[0] * 86400 + parts[1] * 3600 + parts[2] * 60 + parts[3] or None
    return pos(value)


def inferencex_run(d: Mapping[str, Any]) -> BenchmarkRow:
    """InferenceX results: throughput per GPU, latencies in seconds; the number of GPUs makes it the whole system's."""
    m = {**d, **d["metrics"]} if isinstance(d.get("metrics"), dict) else d
    split = text_of(m.get("disagg")).lower() in ("true", "1") or text_of(m.get("is_multinode")).lower() in ("true", "1")
    prefill, decode = pos(m.get("num_prefill_gpu")), pos(m.get("num_decode_gpu"))
    own = pos(m.get("num_gpus")) or pos(m.get("gpus"))
    gpus = (
        own
        or ((prefill or 0) + (decode or 0) if split and decode else decode)
        or pos(m.get("tp"))
        or pos(m.get("decode_tp"))
    )
    total_each, out_each, in_each = (
        pos(m.get(k)) for k in ("tput_per_gpu", "output_tput_per_gpu", "input_tput_per_gpu")
    )
    if gpus is None:
        raise CellError(said("import_cell.no_gpus"))
    isl, osl = pos(m.get("isl")), pos(m.get("osl"))
    total = total_each * gpus if total_each else None
    notes: list[str] = []
    output = out_each * gpus if out_each else None
    if split and total and out_each and in_each and prefill and decode:
        apart = out_each * decode + in_each * prefill
        if abs(apart - total) <= 0.02 * total:
            output = out_each * decode
            notes.append(said("import_note.decode_gpus"))
        elif abs((out_each + in_each) * gpus - total) > 0.02 * total:
            output = total * osl / (isl + osl) if isl and osl else None
            notes.append(said("import_note.per_gpu_sum"))
    if output is None and total and isl and osl:
        output = total * osl / (isl + osl)
        notes.append(said("import_note.by_shape"))
    rate = _ratio(output, osl)
    tpot = pos(m.get("mean_tpot")) or pos(m.get("mean_itl"))
    e2e = pos(m.get("mean_e2el"))
    return make_row(
        name=text_of(m.get("spec_decoding")) or text_of(m.get("mtp")),
        model=text_of(m.get("model")) or text_of(m.get("infmax_model_prefix")),
        engine=text_of(m.get("framework")),
        hardware=text_of(m.get("hw")) or text_of(m.get("hardware")),
        precision=text_of(m.get("precision")),
        accelerators=round(gpus),
        concurrency_max=pos(m.get("conc")),
        concurrency_effective=rate * e2e if rate and e2e else None,
        input_tokens_mean=isl,
        output_tokens_mean=osl,
        stated_output_tokens_per_s=output,
        stated_total_tokens_per_s=total,
        requests_per_s=rate,
        ttft_mean_s=pos(m.get("mean_ttft")),
        tpot_mean_ms=tpot * 1000 if tpot else None,
        date=text_of(m.get("date"))[:10],
        notes=tuple(notes),
        accepted_tokens_per_step=pos(m.get("accept_length")),
    )


# --------------------------------------------------------------------------------------------------------------- detect


def _is_vllm(d: Mapping[str, Any]) -> bool:
    return (
        "output_throughput" in d
        and ("duration" in d or "completed" in d or "total_output_tokens" in d)
        and not _is_sglang(d)
    )


def _is_sglang(d: Mapping[str, Any]) -> bool:
    return "output_throughput" in d and (
        "input_throughput" in d
        or "total_output_tokens_retokenized" in d
        or "accept_length" in d
        or "mean_e2e_latency_ms" in d
    )


def _is_inferencex(d: Mapping[str, Any]) -> bool:
    inner = d.get("metrics")
    return "tput_per_gpu" in d or "output_tput_per_gpu" in d or (isinstance(inner, dict) and "tput_per_gpu" in inner)


def _is_guidellm(d: Mapping[str, Any]) -> bool:
    return isinstance(d.get("metrics"), dict) and (
        "output_token_count" in d["metrics"] or "output_tokens_per_second" in d["metrics"]
    )


def _is_inference_perf(d: Mapping[str, Any]) -> bool:
    return isinstance(d.get("successes"), dict) and ("throughput" in d["successes"] or "latency" in d["successes"])


def _is_llmd(d: Mapping[str, Any]) -> bool:
    v2 = _get(d, "results", "request_performance", "aggregate")
    v1 = d.get("metrics")
    return isinstance(v2, dict) or (isinstance(v1, dict) and isinstance(v1.get("throughput"), dict) and "scenario" in d)


@dataclass(frozen=True)
class BenchFormat:
    """A tool's result: how to know it and how to read one run."""

    kind: str
    label: str
    matches: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], BenchmarkRow]
    units: tuple[str, ...]


_RATE_MS_S: Final = ("tokens/s", said("import_unit.latency_ms"), said("import_unit.duration_s"))

BENCH_FORMATS: Final = (
    BenchFormat("sglang_bench", "sglang.bench_serving", _is_sglang, vllm_run, _RATE_MS_S),
    BenchFormat("vllm_bench", "vllm bench serve", _is_vllm, vllm_run, _RATE_MS_S),
    BenchFormat(
        "inferencex",
        said("import_label.inferencex"),
        _is_inferencex,
        inferencex_run,
        (said("import_unit.rate_per_gpu"), said("import_unit.latency_s")),
    ),
    BenchFormat("guidellm", said("import_label.guidellm"), _is_guidellm, guidellm_run, ("tokens", *_RATE_MS_S[1:])),
    BenchFormat(
        "inference_perf",
        said("import_label.inference_perf"),
        _is_inference_perf,
        inference_perf_run,
        ("tokens/s", said("import_unit.latency_s")),
    ),
    BenchFormat("llmd_report", said("import_label.llmd_report"), _is_llmd, llmd_run, (said("import_unit.as_stated"),)),
)
BENCH_KINDS: Final = {f.kind: f for f in BENCH_FORMATS}


def runs_of(documents: Iterable[Any]) -> list[Mapping[str, Any]]:
    """Unwrap lists and reports of several benchmarks into single runs."""
    found: list[Mapping[str, Any]] = []
    for document in documents:
        if isinstance(document, list):
            found += runs_of(document)
        elif isinstance(document, dict):
            inner = document.get("benchmarks")
            if isinstance(inner, list) and any(isinstance(b, dict) and _is_guidellm(b) for b in inner):
                found += [_with_outer(b, document) for b in inner if isinstance(b, dict)]
            elif isinstance(document.get("data"), list) and any(
                isinstance(b, dict) and _is_inferencex(b) for b in document["data"]
            ):
                found += [b for b in document["data"] if isinstance(b, dict)]
            else:
                found.append(document)
    return found


def _with_outer(run: Mapping[str, Any], report: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give a guidellm run the model that only the report names."""
    if _get(run, "config", "backend", "model"):
        return run
    outer = text_of(_get(report, "config", "spec", "backend", "model")) or text_of(_get(report, "args", "model"))
    return {**run, "worker": {"backend_model": outer}} if outer else run


def detect_bench(runs: Iterable[Mapping[str, Any]]) -> BenchFormat | None:
    """Tell which tool wrote the runs; None if none is known."""
    for run in runs:
        for known in BENCH_FORMATS:
            if known.matches(run):
                return known
    return None


def read_runs(fmt: BenchFormat, runs: list[Mapping[str, Any]]) -> BenchmarkReport:
    """Read all runs of one tool.

    Raises:
        ImportRefused: none of them can be read.
    """
    rows: list[BenchmarkRow] = []
    refused: list[RefusedRow] = []
    count = 0
    notes: list[str] = []
    if len(runs) > MAX_RUNS:
        notes.append(said("import_note.many_runs", n=f"{len(runs):,}", most=f"{MAX_RUNS:,}"))
    for i, run in enumerate(runs[:MAX_RUNS], 1):
        try:
            if not fmt.matches(run):
                raise CellError(said("import_cell.no_run", label=fmt.label))
            rows.append(fmt.read(run))
        except CellError as error:
            count += 1
            if len(refused) < 20:
                refused.append(RefusedRow(i, error.why))
    if not rows:
        first = refused[0] if refused else None
        raise ImportRefused(
            said("import_refused.no_run_read", label=fmt.label)
            if first is None
            else said("import_refused.run_unread", label=fmt.label, run=first.line, why=first.why)
        )
    notes += list(dict.fromkeys(n for r in rows for n in r.notes))
    return BenchmarkReport(fmt.kind, fmt.label, tuple(rows), len(rows), count, tuple(refused), tuple(notes), fmt.units)
