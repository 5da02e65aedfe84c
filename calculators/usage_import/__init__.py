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

from calculators.texts import said
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
    csv_error,
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
        kind: said(f"import_kind.{kind}")
        for kind in (
            "auto",
            "anthropic_usage",
            "anthropic_cost",
            "openai_usage",
            "openai_costs",
            "openrouter",
            "litellm_daily",
            "litellm_logs",
            "litellm_export",
            "deepseek_usage",
            "deepseek_cost",
            "langfuse",
            "helicone",
            "focus",
            "aws_cur",
            "azure_cost",
            "gcp_billing",
            "azure_trace",
            "burstgpt",
            "mooncake",
            "generic",
            "vllm_bench",
            "sglang_bench",
            "inferencex",
            "guidellm",
            "inference_perf",
            "llmd_report",
            "metrics",
        )
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
        raise ImportRefused(said("import_refused.no_kind", kind=repr(kind), kinds=", ".join(KINDS)))
    try:
        return _read(open_source(bytes(data), filename), "generic" if mapping else kind, mapping, catalog)
    except (RecursionError, MemoryError):
        raise ImportRefused(said("import_refused.too_deep")) from None
    except csv.Error as error:
        raise ImportRefused(said("import_refused.csv", what=csv_error(error))) from None


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
    return MappingGuess(table.headers, MappingProxyType(guess), _rows.generic_is_enough(guess), said("import.needed"))


def _read(
    source: Source, kind: str, mapping: Mapping[str, str] | None, catalog: OfferLookup | None
) -> UsageReport | BenchmarkReport:
    if kind == "metrics" or (kind == "auto" and not looks_like_json(source) and looks_like_metrics(source)):
        if not looks_like_metrics(source):
            raise ImportRefused(said("import_refused.no_metrics", kind=KINDS["metrics"]))
        return read_metrics(parse_scrapes(source))
    if looks_like_json(source):
        return _read_json(source, kind, mapping, catalog)
    if kind in ("auto", "llmd_report") and _looks_like_report(source):
        if len(source.data) > MAX_REPORT_BYTES:
            raise ImportRefused(said("import_refused.yaml_large"))
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
            said("import_refused.not_kind", kind=KINDS[kind]) if kind != "auto" else said("import_refused.no_load_test")
        )
    if kind not in ("auto", fmt.kind) and not {kind, fmt.kind} == {"vllm_bench", "sglang_bench"}:
        raise ImportRefused(said("import_refused.looks_like", kind=KINDS[kind], label=fmt.label))
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
        raise ImportRefused(said("import_refused.no_results"))
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
        raise ImportRefused(said("import_refused.no_table"))
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
        raise ImportRefused(said("import_refused.is_table", kind=KINDS[kind], columns=listed(table.headers, 8)))
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
        if fmt is None:
            if seems:
                raise ImportRefused(said("import_refused.looks_like", kind=KINDS[kind], label=seems))
            raise ImportRefused(said("import_refused.not_kind", kind=KINDS[kind]))
        column = fmt.missing(table)[0]
        if seems:
            raise ImportRefused(said("import_refused.missing_looks_like", kind=KINDS[kind], column=column, label=seems))
        raise ImportRefused(said("import_refused.missing", kind=KINDS[kind], column=column))
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
        raise ImportRefused(said("import_refused.no_format", columns=listed(table.headers)))
    into = Collector("generic", said("import_label.generic"), "")
    _rows.read_generic(table, into, chosen)
    for note in table.notes:
        into.note(note)
    return _finish(into, source, catalog)
