"""Usage exports and load tests of other tools, read into scenario fields.

`read` takes a file's bytes and gives a UsageReport or a BenchmarkReport, or raises ImportRefused with one
sentence. `read_pair`
takes two scrapes of /metrics. Nothing is stored or sent.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from calculators.usage_import import rows as _rows
from calculators.usage_import.bench import (
    BENCH_KINDS,
    VALIDATE_COLUMNS,
    BenchmarkReport,
    BenchmarkRow,
    detect_bench,
    read_runs,
    runs_of,
)
from calculators.usage_import.blocks import parse_blocks
from calculators.usage_import.documents import DOCUMENT_FORMATS, buckets, note_pages, plain_rows
from calculators.usage_import.errors import ImportRefused, listed
from calculators.usage_import.files import (
    MAX_BYTES,
    Source,
    Table,
    csv_rows,
    csv_table,
    is_json_lines,
    iter_json_lines,
    load_json,
    looks_like_json,
    object_table,
    open_source,
)
from calculators.usage_import.metrics import looks_like_metrics, parse_scrapes, read_metrics
from calculators.usage_import.rows import GENERIC_FIELDS, TableFormat
from calculators.usage_import.usage import (
    Amounts,
    Collector,
    Coverage,
    ModelTotal,
    OfferLookup,
    RefusedRow,
    UsageRecord,
    UsageReport,
)

__all__ = [
    "GENERIC_FIELDS",
    "KINDS",
    "MAX_BYTES",
    "VALIDATE_COLUMNS",
    "Amounts",
    "BenchmarkReport",
    "BenchmarkRow",
    "Coverage",
    "ImportRefused",
    "MappingGuess",
    "ModelTotal",
    "RefusedRow",
    "UsageRecord",
    "UsageReport",
    "guess_mapping",
    "read",
    "read_pair",
]

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "auto": "Find out",
        "anthropic_usage": "Anthropic usage (CSV or API)",
        "anthropic_cost": "Anthropic cost (CSV or API)",
        "openai_usage": "OpenAI usage (CSV or API)",
        "openai_costs": "OpenAI costs (CSV or API)",
        "openrouter": "OpenRouter activity (CSV or API)",
        "litellm_daily": "LiteLLM daily activity (API)",
        "litellm_logs": "LiteLLM spend logs (CSV or JSON)",
        "litellm_export": "LiteLLM usage export (CSV)",
        "deepseek_usage": "DeepSeek usage, the amount file (CSV)",
        "deepseek_cost": "DeepSeek cost (CSV)",
        "langfuse": "Langfuse observations or daily metrics (CSV or JSON)",
        "helicone": "Helicone requests (CSV or JSON)",
        "focus": "FOCUS 1.x bill (CSV)",
        "aws_cur": "AWS Cost and Usage Report (CSV)",
        "azure_cost": "Azure cost export (CSV)",
        "gcp_billing": "GCP billing export (CSV or JSON)",
        "azure_trace": "Request trace: Azure LLM (CSV)",
        "burstgpt": "Request trace: BurstGPT (CSV)",
        "mooncake": "Request trace: Mooncake (JSON Lines)",
        "generic": "Other table, with a column mapping (CSV or JSON)",
        "vllm_bench": "Load test: vllm bench serve (JSON)",
        "sglang_bench": "Load test: sglang.bench_serving (JSON Lines)",
        "inferencex": "Load test: InferenceX (JSON or CSV)",
        "guidellm": "Load test: guidellm (JSON)",
        "inference_perf": "Load test: inference-perf (JSON)",
        "llmd_report": "Load test: llm-d benchmark report (YAML or JSON)",
        "metrics": "Server metrics: vLLM or SGLang /metrics (one or two scrapes)",
    }
)
"""Kinds of files that `read` knows, with a label for people."""


MAX_REPORT_BYTES: Final = 8 * 10**6
"""Largest benchmark report in YAML."""


@dataclass(frozen=True)
class MappingGuess:
    """Columns of a table and a guess of what they are, for a mapping step.

    enough: whether the guess alone can be read; needed: what is needed, in a sentence.
    """

    columns: tuple[str, ...]
    guess: Mapping[str, str]
    enough: bool
    needed: str


_NEEDED: Final = (
    "Needed: the columns of input and output tokens, or of cost, or of requests and time; a date and a model help."
)


def read(
    data: bytes,
    filename: str = "",
    kind: str = "auto",
    mapping: Mapping[str, str] | None = None,
    catalog: OfferLookup | None = None,
) -> UsageReport | BenchmarkReport:
    """Read a usage export, a bill, a trace, a load test or a scrape of /metrics.

    Args:
        data: the file's bytes, at most 64 MB.
        filename: its name, for messages only.
        kind: a key of KINDS; 'auto' finds out by what is in the file, never by its name.
        mapping: {field of GENERIC_FIELDS: column} for a table of any other tool; implies kind 'generic'.
        catalog: looks up offers by exact id or alias.

    Raises:
        ImportRefused: the file cannot be read, or is not of the kind given; the reason is one sentence.
    """
    if kind not in KINDS:
        raise ImportRefused(f"There is no kind {kind!r}; kinds are {', '.join(KINDS)}.")
    try:
        return _read(open_source(bytes(data), filename), "generic" if mapping else kind, mapping, catalog)
    except (RecursionError, MemoryError):
        raise ImportRefused("The file is too deep or too large to be read.") from None
    except csv.Error as error:
        raise ImportRefused(f"The CSV cannot be read: {error}.") from None


def read_pair(first: bytes, second: bytes, seconds: float | None = None) -> BenchmarkReport:
    """Read two scrapes of the same server's /metrics, taken one after the other, into rates.

    Args:
        first: earlier scrape.
        second: later scrape.
        seconds: time between them; None takes it from '# scraped_at ...' lines or sample timestamps. Without any
        of these the
            report has totals and means between the scrapes, but no rates.

    Raises:
        ImportRefused: not metrics, in the wrong order, or the server was restarted in between.
    """
    scrapes = [scrape for data in (first, second) for scrape in parse_scrapes(open_source(bytes(data)))]
    return read_metrics(scrapes, seconds)


def guess_mapping(data: bytes, filename: str = "") -> MappingGuess:
    """Guess the column mapping of a table.

    Raises:
        ImportRefused: the file is not a table.
    """
    source = open_source(bytes(data), filename)
    table = object_table(plain_rows(load_json(source))) if looks_like_json(source) else _best_header(source)
    guess = _rows.guess_columns(table)
    return MappingGuess(table.headers, MappingProxyType(guess), _rows.generic_is_enough(guess), _NEEDED)


def _read(
    source: Source, kind: str, mapping: Mapping[str, str] | None, catalog: OfferLookup | None
) -> UsageReport | BenchmarkReport:
    if kind == "metrics" or (kind == "auto" and not looks_like_json(source) and looks_like_metrics(source)):
        if not looks_like_metrics(source):
            raise ImportRefused(f"This is not {KINDS['metrics']}: no line starts with vllm: or sglang:.")
        return read_metrics(parse_scrapes(source))
    if looks_like_json(source):
        return _read_json(source, kind, mapping, catalog)
    if kind in ("auto", "llmd_report") and _looks_like_report(source):
        if len(source.data) > MAX_REPORT_BYTES:
            raise ImportRefused("The YAML is larger than a benchmark report.")
        with source.text() as handle:
            documents = parse_blocks(handle.read())
        return _bench(runs_of(documents), kind)
    return _read_csv(source, kind, mapping, catalog)


def _looks_like_report(source: Source) -> bool:
    lines = [line.strip().removeprefix("- ") for line in source.first_text.splitlines()[:40] if line.strip()]
    keys = {line.partition(":")[0] for line in lines if ":" in line}
    return (
        bool(keys & {"scenario", "results", "version"})
        and bool(keys & {"results", "metrics", "run", "scenario"})
        and not any("," in line.partition(":")[0] for line in lines[:3])
    )


def _bench(runs: Sequence[Mapping[str, Any]], kind: str) -> BenchmarkReport:
    fmt = detect_bench(runs)
    if fmt is None:
        raise ImportRefused(
            f"This is not {KINDS[kind]}." if kind != "auto" else "No run of a known load test is in the file."
        )
    if kind not in ("auto", fmt.kind) and not {kind, fmt.kind} == {"vllm_bench", "sglang_bench"}:
        raise ImportRefused(f"This is not {KINDS[kind]}; it looks like {fmt.label}.")
    return read_runs(fmt, list(runs))


def _finish(into: Collector, source: Source, catalog: OfferLookup | None) -> UsageReport:
    for note in source.notes:
        into.note(note)
    return into.report(catalog)


#
# ----------------------------------------------------------------------------------------------------------------- JSON


def _read_json(
    source: Source, kind: str, mapping: Mapping[str, str] | None, catalog: OfferLookup | None
) -> UsageReport | BenchmarkReport:
    if is_json_lines(source) and kind not in BENCH_KINDS:
        first = [item for _, item in zip(range(200), (d for _, d in iter_json_lines(source)), strict=False)]
        sample = object_table(first)
        fmt = _rows.detect(sample)
        nested = any(f.matches(first) for f in DOCUMENT_FORMATS) or detect_bench(runs_of(first)) is not None
        if fmt is not None and not nested and kind in ("auto", fmt.kind):
            return _read_table(object_table(iter_json_lines(source), first), fmt, source, catalog)
    documents = load_json(source)
    runs = runs_of(documents)
    if kind in BENCH_KINDS or (kind == "auto" and detect_bench(runs[:50]) is not None):
        return _bench(runs, kind)
    if kind != "generic":
        for shape in DOCUMENT_FORMATS:
            if kind in ("auto", shape.kind) and shape.matches(documents):
                into = Collector(shape.kind, shape.label, shape.provider)
                shape.read(documents, into)
                note_pages(documents, into)
                return _finish(into, source, catalog)
    found = buckets(documents)
    if found and not any(bucket.get("results", bucket.get("result")) for bucket in found) and kind != "generic":
        raise ImportRefused("The report has time buckets but not one result: nothing was used in its time.")
    items = plain_rows(documents)
    table = object_table(items)
    if kind == "generic":
        return _read_generic(table, mapping, source, catalog)
    if kind != "auto":
        return _read_kind(table, kind, source, catalog, _name_document(documents))
    fmt = _rows.detect(table)
    if fmt is not None:
        return _read_table(table, fmt, source, catalog)
    return _read_generic(table, None, source, catalog)


def _name_document(documents: Sequence[Any]) -> str:
    shape = next((s for s in DOCUMENT_FORMATS if s.matches(documents)), None)
    if shape is not None:
        return shape.label
    bench = detect_bench(runs_of(documents)[:50])
    return bench.label if bench is not None else ""


#
# ------------------------------------------------------------------------------------------------------------------ CSV


def _headers(source: Source) -> Iterator[tuple[int, Table]]:
    """Give the file with each of its first lines as the header: exports often have a preamble."""
    probe, _ = csv_rows(source)
    for at, (_, record) in enumerate(probe):
        if at >= 25:
            return
        if sum(1 for cell in record if cell.strip()) >= 2 and any(any(c.isalpha() for c in cell) for cell in record):
            yield at, csv_table(source, at)


def _best_header(source: Source) -> Table:
    best: tuple[float, Table] | None = None
    for at, table in _headers(source):
        if _rows.detect(table) is not None:
            return table
        score = len(_rows.guess_columns(table)) - at / 100
        if best is None or score > best[0]:
            best = (score, table)
    if best is None:
        raise ImportRefused("The file is not a table: no line has two columns. Give a CSV, JSON, or /metrics text.")
    return best[1]


def _read_csv(
    source: Source, kind: str, mapping: Mapping[str, str] | None, catalog: OfferLookup | None
) -> UsageReport | BenchmarkReport:
    best = _best_header(source)
    if mapping:
        wanted = [c for c in mapping.values() if c]
        table = next((t for _, t in _headers(source) if all(t.find(c) is not None for c in wanted)), best)
        return _read_generic(table, mapping, source, catalog)
    table = best
    if kind in ("auto", "inferencex") and (table.has("output_tput_per_gpu") or table.has("tput_per_gpu")):
        return _bench(
            [dict(zip(table.headers, cells, strict=False)) for _, cells in table.rows if not isinstance(cells, str)],
            kind,
        )
    if kind in BENCH_KINDS:
        raise ImportRefused(f"This is not {KINDS[kind]}: it is a table with the columns {listed(table.headers, 8)}.")
    if kind == "generic":
        return _read_generic(table, None, source, catalog)
    if kind != "auto":
        wanted_format = _rows.BY_KIND.get(kind)
        if wanted_format is not None:
            table = next((t for _, t in _headers(source) if not wanted_format.missing(t)), table)
        return _read_kind(table, kind, source, catalog, "")
    fmt = _rows.detect(table)
    if fmt is not None:
        return _read_table(table, fmt, source, catalog)
    return _read_generic(table, None, source, catalog)


def _read_kind(table: Table, kind: str, source: Source, catalog: OfferLookup | None, seems: str) -> UsageReport:
    fmt = _rows.BY_KIND.get(kind)
    if fmt is None or fmt.missing(table):
        other = _rows.detect(table)
        seems = seems or (other.label if other is not None else "")
        missing = f": the column {fmt.missing(table)[0]} is missing" if fmt is not None else ""
        guess = f"; it looks like {seems}" if seems else ""
        raise ImportRefused(f"This is not {KINDS[kind]}{missing}{guess}.")
    return _read_table(table, fmt, source, catalog)


def _read_table(table: Table, fmt: TableFormat, source: Source, catalog: OfferLookup | None) -> UsageReport:
    into = Collector(fmt.kind, fmt.label, fmt.provider)
    fmt.read(table, into)
    for note in table.notes:
        into.note(note)
    return _finish(into, source, catalog)


def _read_generic(
    table: Table, mapping: Mapping[str, str] | None, source: Source, catalog: OfferLookup | None
) -> UsageReport:
    chosen = dict(mapping) if mapping else _rows.guess_columns(table)
    if not mapping and not _rows.generic_is_enough(chosen):
        raise ImportRefused(
            f"The file is of no known format and its columns ({listed(table.headers)}) do not name tokens or cost: "
            "give a column mapping with input_tokens and output_tokens, or cost, or requests and time."
        )
    into = Collector("generic", "Table with mapped columns", "")
    _rows.read_generic(table, into, chosen)
    for note in table.notes:
        into.note(note)
    return _finish(into, source, catalog)
