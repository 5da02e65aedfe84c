"""vLLM and SGLang /metrics: counters of a server. One scrape has totals only; two scrapes have a rate.

Counters have no clock. The time between two scrapes comes from a comment such as '# scraped_at
2026-06-10T12:00:00Z' before
each, from sample timestamps, or from the caller.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Final

from calculators.texts import said
from calculators.usage_import.bench import BenchmarkReport, BenchmarkRow
from calculators.usage_import.cells import instant_of
from calculators.usage_import.errors import CellError, ImportRefused
from calculators.usage_import.files import Source

_SAMPLE: Final = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+(-?[\d.]+))?\s*$")
_MODEL: Final = re.compile(r'\bmodel_name="((?:[^"\\]|\\.)*)"')
_STAMP: Final = re.compile(r"^#\s*(?:scraped[_ ]?at|scrape[_ ]?time|timestamp|time|date|at)\s*[:=]?\s*(.+?)\s*$", re.I)

_NAMES: Final = {
    "prompt": ("vllm:prompt_tokens_total", "vllm:prompt_tokens", "sglang:prompt_tokens_total", "sglang:prompt_tokens"),
    "output": (
        "vllm:generation_tokens_total",
        "vllm:generation_tokens",
        "sglang:generation_tokens_total",
        "sglang:generation_tokens",
    ),
    "hits": (
        "vllm:prefix_cache_hits_total",
        "vllm:prefix_cache_hits",
        "vllm:gpu_prefix_cache_hits_total",
        "sglang:cached_tokens_total",
    ),
    "queries": ("vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries_total"),
    "success": ("vllm:request_success_total", "vllm:request_success", "sglang:num_requests_total"),
    "ttft_sum": ("vllm:time_to_first_token_seconds_sum", "sglang:time_to_first_token_seconds_sum"),
    "ttft_count": ("vllm:time_to_first_token_seconds_count", "sglang:time_to_first_token_seconds_count"),
    "tpot_sum": ("vllm:request_time_per_output_token_seconds_sum", "sglang:time_per_output_token_seconds_sum"),
    "tpot_count": ("vllm:request_time_per_output_token_seconds_count", "sglang:time_per_output_token_seconds_count"),
    "itl_sum": (
        "vllm:inter_token_latency_seconds_sum",
        "vllm:time_per_output_token_seconds_sum",
        "sglang:inter_token_latency_seconds_sum",
    ),
    "itl_count": (
        "vllm:inter_token_latency_seconds_count",
        "vllm:time_per_output_token_seconds_count",
        "sglang:inter_token_latency_seconds_count",
    ),
    "e2e_sum": ("vllm:e2e_request_latency_seconds_sum", "sglang:e2e_request_latency_seconds_sum"),
    "e2e_count": ("vllm:e2e_request_latency_seconds_count", "sglang:e2e_request_latency_seconds_count"),
    "drafts": ("vllm:spec_decode_num_drafts_total", "vllm:spec_decode_num_drafts"),
    "accepted": ("vllm:spec_decode_num_accepted_tokens_total", "vllm:spec_decode_num_accepted_tokens"),
}
_ROLE: Final = {name: role for role, names in _NAMES.items() for name in names}
_GAUGES: Final = {"sglang:spec_accept_length": "accept_length"}


@dataclass
class Scrape:
    """Counters of one scrape, added up over engines, by model."""

    values: dict[tuple[str, str], float] = field(default_factory=dict)
    series: set[str] = field(default_factory=set)
    at_s: float | None = None
    engine: str = ""
    lines: int = 0

    def get(self, model: str, role: str) -> float | None:
        """Give a counter of a model; None if the server does not have it."""
        return self.values.get((model, role))

    def models(self) -> list[str]:
        """Give the models that have token counters."""
        return sorted({m for m, role in self.values if role in ("prompt", "output")})


def looks_like_metrics(source: Source) -> bool:
    """Say whether a text is a scrape of vLLM or SGLang."""
    return bool(re.search(r"(?m)^(?:# (?:HELP|TYPE) )?(?:vllm|sglang):\w+", source.first_text))


def parse_scrapes(source: Source) -> list[Scrape]:
    """Read the scrapes of a file; a series that comes again, or '# EOF', starts the next scrape.

    Raises:
        ImportRefused: a line is not in the Prometheus text format.
    """
    scrapes = [Scrape()]
    pending: float | None = None
    for number, raw in enumerate(source.lines(100_000), 1):
        line = raw.strip().lstrip("\ufeff")
        if not line:
            continue
        if line.startswith("#"):
            if line.upper() == "# EOF" and scrapes[-1].series:
                _next(scrapes)
            elif match := _STAMP.match(line):
                pending = _stamp(match[1])
            continue
        sample = _SAMPLE.match(line)
        if sample is None:
            if number < 3 or not scrapes[-1].series:
                raise ImportRefused(said("import_refused.not_prometheus", line=number))
            continue
        name, labels, text, stamp = sample.groups()
        role = _ROLE.get(name) or _GAUGES.get(name)
        if role is None:
            continue
        key = f"{name}{{{labels or ''}}}"
        if key in scrapes[-1].series:
            _next(scrapes)
        current = scrapes[-1]
        current.series.add(key)
        current.lines += 1
        if len(current.series) > 200_000:
            raise ImportRefused(said("import_refused.many_series"))
        if pending is not None:
            current.at_s, pending = pending, None
        elif stamp is not None and current.at_s is None:
            current.at_s = _stamp(stamp)
        current.engine = current.engine or name.partition(":")[0]
        try:
            value = float(text)
        except ValueError:
            raise ImportRefused(said("import_refused.metric_value", line=number, name=name)) from None
        if not math.isfinite(value) or value < 0 or value > 1e18:
            continue
        found = _MODEL.search(labels or "")
        place = (found[1][:200] if found else "", role)
        current.values[place] = current.values.get(place, 0.0) + value if role not in _GAUGES.values() else value
    return [s for s in scrapes if s.series]


def _next(scrapes: list[Scrape]) -> None:
    """Start another scrape; of many only the first and the last count, so those between are let go."""
    scrapes.append(Scrape())
    if len(scrapes) > 3:
        del scrapes[1]


def _stamp(text: str) -> float | None:
    try:
        found = instant_of(text.strip())
    except CellError:
        return None
    return found.epoch_s if found else None


def read_metrics(scrapes: list[Scrape], seconds: float | None = None) -> BenchmarkReport:
    """Turn one scrape into totals, or the first and the last of several into rates.

    Args:
        scrapes: in the order in which they were taken.
        seconds: time between the first and the last; None takes it from the scrapes.

    Raises:
        ImportRefused: no token counters, a counter that went down (the server was restarted), or no time between
        scrapes.
    """
    if not scrapes or not any(s.models() for s in scrapes):
        raise ImportRefused(said("import_refused.no_counters"))
    first, last = (None, scrapes[0]) if len(scrapes) == 1 else (scrapes[0], scrapes[-1])
    notes: list[str] = []
    questions: list[str] = []
    elapsed = None
    if first is None:
        notes.append(said("import_note.one_scrape"))
    else:
        stamped = last.at_s - first.at_s if last.at_s is not None and first.at_s is not None else None
        elapsed = seconds if seconds is not None else stamped
        if elapsed is not None and (not math.isfinite(elapsed) or elapsed <= 0):
            raise ImportRefused(said("import_refused.scrape_order"))
        if elapsed is None:
            notes.append(said("import_note.no_clock"))
            questions.append(said("import_ask.seconds"))
        else:
            notes.append(said("import_note.rates", s=f"{elapsed:,.1f}"))
    rows = [_row(first, last, model, elapsed) for model in last.models()]
    rows = [r for r in rows if r.total_input_tokens or r.total_output_tokens]
    if not rows:
        raise ImportRefused(said("import_refused.idle") if first is not None else said("import_refused.no_tokens_yet"))
    engine = last.engine or "server"
    return BenchmarkReport(
        f"{engine}_metrics",
        f"{'vLLM' if engine == 'vllm' else 'SGLang'} /metrics",
        tuple(rows),
        sum(s.lines for s in scrapes),
        0,
        (),
        tuple(notes),
        ("tokens", said("import_unit.latency_s")),
        tuple(questions),
    )


def _row(first: Scrape | None, last: Scrape, model: str, elapsed: float | None) -> BenchmarkRow:
    def grown(role: str) -> float | None:
        now = last.get(model, role)
        if now is None or first is None:
            return now
        before = first.get(model, role) or 0.0
        if now < before:
            raise ImportRefused(
                said("import_refused.counter_fell", name=role, before=f"{before:,.0f}", now=f"{now:,.0f}")
            )
        return now - before

    def mean(top: str, bottom: str) -> float | None:
        total, count = grown(top), grown(bottom)
        return total / count if total is not None and count else None

    given, out = grown("prompt"), grown("output")
    requests = grown("e2e_count") or grown("success") or grown("ttft_count")
    done = round(requests) if requests else None
    tpot = mean("tpot_sum", "tpot_count")
    tpot = mean("itl_sum", "itl_count") if tpot is None else tpot
    hits, queries = grown("hits"), grown("queries")
    queries = given if queries is None and hits is not None else queries
    drafts, accepted = grown("drafts"), grown("accepted")
    step = 1 + accepted / drafts if drafts and accepted is not None else last.get(model, "accept_length")
    e2e_total = grown("e2e_sum")
    share = min(1.0, hits / queries) if hits is not None and queries else None
    return BenchmarkRow(
        name=said("import.since_start") if first is None else said("import.between_scrapes"),
        model=model,
        engine=last.engine,
        completed_requests=done,
        duration_s=elapsed,
        total_input_tokens=round(given or 0),
        total_output_tokens=round(out or 0),
        input_tokens_mean=given / done if given and done else None,
        output_tokens_mean=out / done if out and done else None,
        output_tokens_per_s=out / elapsed if out and elapsed else None,
        total_tokens_per_s=(given + out) / elapsed if given and out and elapsed else None,
        requests_per_s=done / elapsed if done and elapsed else None,
        concurrency_effective=e2e_total / elapsed if e2e_total and elapsed else None,
        ttft_mean_s=mean("ttft_sum", "ttft_count"),
        tpot_mean_ms=tpot * 1000 if tpot is not None else None,
        accepted_tokens_per_step=step if step else None,
        prefix_cache_hit_share=share,
    )
