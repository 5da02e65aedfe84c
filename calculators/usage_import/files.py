"""Bytes to rows: what kind of file it is, its encoding, its delimiter; CSV streamed row by row, JSON with limits.

Bounded memory: CSV and JSON Lines are read row by row from the bytes that are there already; a JSON document is parsed
at once, but texts and lists that no reader needs (prompts, answers, per-token times) are dropped as it is parsed.
"""

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from calculators.texts import catalogue, said
from calculators.usage_import.cells import DayOrder, DecimalMark, header_key
from calculators.usage_import.errors import ImportRefused

MAX_BYTES: Final = 64 * 10**6
"""Largest file that is read. Usage exports of a year by day are a hundredth of it."""

MAX_JSON_CONTAINERS: Final = 3_000_000
MAX_JSON_COMMAS: Final = 4_000_000
_FIELD_LIMIT: Final = 4 * 10**6
_LINE_LIMIT: Final = 4 * 10**6
_MAX_COLUMNS: Final = 2_000

_MAGIC: Final = (
    (b"PK\x03\x04", "zip_or_excel"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\xd0\xcf\x11\xe0", "old_excel"),
    (b"%PDF", "pdf"),
    (b"PAR1", "parquet"),
    (b"ORC", "orc"),
    (b"Obj\x01", "avro"),
    (b"SQLite format 3", "sqlite"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf", "seven_zip"),
    (b"Rar!", "rar"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"\x7fELF", "program"),
    (b"ARROW1", "arrow"),
)
"""First bytes of files that are not text, and what they are (a text of [import_magic])."""

_ARCHIVES: Final = frozenset({"zip", "gzip", "bzip2", "xz", "zstd", "seven_zip", "rar"})

_DROPPED: Final = frozenset(
    [
        "messages",
        "prompt",
        "response",
        "completion",
        "choices",
        "input",
        "output",
        "body",
        "requestbody",
        "responsebody",
        "requestargs",
        "generatedtexts",
        "errors",
        "itls",
        "ttfts",
        "inputlens",
        "outputlens",
        "iterations",
        "pdf",
        "percentiles",
        "text",
        "content",
        "tools",
        "tokenizer",
        "proxyserverrequest",
        "stack",
        "modelparameters",
        "requestmodelparameters",
        "apikeybreakdown",
        "entities",
        "mcpservers",
    ]
)
"""Keys whose values no reader uses and which make files large; kept when they are plain numbers."""


@dataclass(frozen=True)
class Source:
    """A file's bytes with what was found out about them."""

    data: bytes
    filename: str
    encoding: str
    notes: tuple[str, ...] = ()
    first_text: str = ""

    def text(self) -> io.TextIOWrapper:
        """Open the bytes as text, decoded as it is read."""
        return io.TextIOWrapper(io.BytesIO(self.data), encoding=self.encoding, errors="replace", newline="")

    def lines(self, longest: int = _LINE_LIMIT) -> Iterator[str]:
        """Stream the lines.

        Raises:
            ImportRefused: a line is longer than any export writes (4 million characters).
        """
        with self.text() as handle:
            number = 1
            while line := handle.readline(longest):
                if len(line) >= longest:
                    raise ImportRefused(said("import_refused.long_line", line=number, most=f"{longest:,}"))
                yield line
                number += 1


def open_source(data: bytes, filename: str = "") -> Source:
    """Check size and nature of a file and find its encoding.

    Raises:
        ImportRefused: empty, too large, an archive, a workbook, a picture or another binary file, a web page.
    """
    if not data:
        raise ImportRefused(said("import_refused.empty"))
    if len(data) > MAX_BYTES:
        raise ImportRefused(
            said("import_refused.too_large", mb=f"{len(data) / 1e6:,.0f}", most=f"{MAX_BYTES / 1e6:,.0f}")
        )
    for magic, name in _MAGIC:
        if data.startswith(magic):
            remedy = "unpack" if name in _ARCHIVES else "save"
            raise ImportRefused(
                said("import_refused.magic", what=said(f"import_magic.{name}"), remedy=said(f"import_refused.{remedy}"))
            )
    notes: list[str] = []
    head = data[:65536]
    encoding = _encoding(data, head, notes)
    text = codecs.decode(
        head[: len(head) - len(head) % 4] if encoding.startswith("utf-") and "8" not in encoding else head,
        encoding,
        "replace",
    ).lstrip("\ufeff")
    if not text.strip():
        raise ImportRefused(said("import_refused.no_text"))
    odd = sum(1 for c in text[:20000] if (ord(c) < 32 and c not in "\t\r\n\f\x0b") or c == "\ufffd")
    if odd > max(4, len(text[:20000]) // 20):
        raise ImportRefused(said("import_refused.binary"))
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype html", "<html", "<?xml", "<svg")):
        raise ImportRefused(said("import_refused.web_page"))
    return Source(data, filename, encoding, tuple(notes), text)


def _encoding(data: bytes, head: bytes, notes: list[str]) -> str:
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = head[:4096]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if len(sample) >= 4 and odd > len(sample) * 0.3 and even < len(sample) * 0.05:
        return "utf-16-le"
    if len(sample) >= 4 and even > len(sample) * 0.3 and odd < len(sample) * 0.05:
        return "utf-16-be"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), 1 << 20):
            decoder.decode(data[start : start + (1 << 20)])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        # A file cut inside a character whose other characters are UTF-8; a lone accent at the end is Windows-1252.
        if error.reason == "unexpected end of data" and not data[:-3].isascii():
            return "utf-8"
        notes.append(said("import_note.not_utf8"))
        return "cp1252"
    return "utf-8"


# -------------------------------------------------------------------------------------------------------------- tables


@dataclass
class Table:
    """Rows with named columns, from a CSV or from JSON objects.

    `keys` are the column names reduced by header_key; `rows` yields (line, cells) with cells as long as keys; a
    row that
    is too short or too long yields its complaint (a str) instead of cells.
    """

    headers: tuple[str, ...]
    keys: tuple[str, ...]
    rows: Iterator[tuple[int, list[Any] | str]]
    mark: DecimalMark = "."
    order: DayOrder = "mdy"
    notes: list[str] = field(default_factory=list)
    nested: bool = False

    def find(self, *names: str) -> int | None:
        """Give the index of the first of these columns that exists (names compared by their letters and digits)."""
        for name in names:
            key = header_key(name)
            if key in self.keys:
                return self.keys.index(key)
        return None

    def has(self, *names: str) -> bool:
        """Say whether all of these columns exist."""
        return all(header_key(name) in self.keys for name in names)


def _delimiter(lines: Sequence[str]) -> str:
    """Pick the delimiter that splits the first lines into the most equal columns."""
    best, best_score = ",", 0.0
    for mark in (",", ";", "\t", "|"):
        counts = [len(next(csv.reader([line], delimiter=mark), [])) for line in lines if line.strip()]
        if not counts or max(counts) < 2:
            continue
        top = max(set(counts), key=lambda n: (counts.count(n), n))
        score = counts.count(top) / len(counts) * min(top, 50) if top > 1 else 0.0
        if score > best_score:
            best, best_score = mark, score
    return best


def csv_rows(source: Source) -> tuple[Iterator[tuple[int, list[str]]], str]:
    """Stream a CSV's records with their line numbers; gives also the delimiter."""
    csv.field_size_limit(_FIELD_LIMIT)
    sample = source.first_text.splitlines()[:30]
    skip = 0
    delimiter = ""
    if sample and (match := re.match(r"^sep=(.)\s*$", sample[0])):
        delimiter, skip = match[1], 1
    if delimiter not in (",", ";", "\t", "|"):
        delimiter = _delimiter(sample[:-1] if len(sample) == 30 else sample)

    def stream() -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(source.lines(), delimiter=delimiter)
        try:
            while True:
                line = reader.line_num + 1
                record = next(reader)
                if line <= skip:
                    continue
                if line == 1 and record:
                    record[0] = record[0].lstrip("\ufeff")
                if len(record) > _MAX_COLUMNS:
                    raise ImportRefused(said("import_refused.many_columns", line=line, most=f"{_MAX_COLUMNS:,}"))
                if any(cell.strip() for cell in record):
                    yield line, record
        except StopIteration:
            return
        except csv.Error as error:
            raise ImportRefused(said("import_refused.csv_line", line=reader.line_num, what=csv_error(error))) from None

    return stream(), delimiter


def csv_table(source: Source, header_at: int) -> Table:
    """Open a CSV whose header is its record number `header_at` (0 = first)."""
    probe, delimiter = csv_rows(source)
    sample: list[list[str]] = []
    headers: list[str] = []
    for number, (_, record) in enumerate(probe):
        if number == header_at:
            headers = [cell.strip() for cell in record]
        elif number > header_at:
            sample.append(record)
        if len(sample) >= 400:
            break
    mark, order, notes = _style(headers, sample, delimiter)
    width = len(headers)
    while width and not headers[width - 1] and all(not row[width - 1].strip() for row in sample if len(row) >= width):
        width -= 1

    def body() -> Iterator[tuple[int, list[Any] | str]]:
        rows, _ = csv_rows(source)
        for number, (line, record) in enumerate(rows):
            if number <= header_at:
                continue
            if _is_total(record):
                yield line, said("import_cell.total_row")
            elif len(record) < width:
                yield line, said("import_cell.few_columns", n=len(record), of=width)
            elif len(record) > width and any(cell.strip() for cell in record[width:]):
                yield line, said("import_cell.more_columns", n=len(record), of=width)
            else:
                yield line, record

    headers = headers[:width]
    keys = [header_key(h) for h in headers]
    keys = [k if k not in keys[:i] else f"{k}#{i}" for i, k in enumerate(keys)]
    return Table(tuple(headers), tuple(keys), body(), mark, order, notes)


_TOTALS: Final = frozenset(
    {"total", "totals", "grand total", "subtotal", "sum", "summe", "gesamt", "gesamtsumme", "insgesamt", "合计"}
)


def _is_total(record: Sequence[str]) -> bool:
    """Say whether a row is a line of totals, as consoles put under their tables."""
    first = next((cell.strip() for cell in record if cell.strip()), "")
    return first.rstrip(":").casefold() in _TOTALS


_GERMAN: Final = frozenset(
    [
        "datum",
        "zeit",
        "tag",
        "modell",
        "kosten",
        "betrag",
        "währung",
        "waehrung",
        "anfragen",
        "ausgabe",
        "eingabe",
        "menge",
        "anzahl",
        "ausgabetokens",
        "eingabetokens",
    ]
)
_COMMA_DECIMAL: Final = re.compile(r"^[^\d]{0,4}(?:0,\d+|\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,}))[^\d]{0,4}$")
_DOT_DECIMAL: Final = re.compile(
    r"^[^\d]{0,4}(?:0?\.\d+|\d{1,3}(?:,\d{3})+\.\d+|\d+\.(?:\d{1,2}|\d{4,})(?:[eE][-+]?\d+)?)[^\d]{0,4}$"
)
_DATE_PARTS: Final = re.compile(r"^(\d{1,2})([/-])(\d{1,2})\2\d{2,4}\b")


def _style(
    headers: Sequence[str], sample: Sequence[Sequence[str]], delimiter: str
) -> tuple[DecimalMark, DayOrder, list[str]]:
    """Find the decimal mark and the order of day and month from the first rows."""
    commas = dots = thousands = month_first = day_first = undecided = 0
    for row in sample:
        for cell in row[:200]:
            text = cell.strip()
            if not text or len(text) > 40 or not any(c.isdigit() for c in text):
                continue
            if match := _DATE_PARTS.match(text):
                day_first += int(match[1]) > 12
                month_first += int(match[3]) > 12
                undecided += 1
            elif _COMMA_DECIMAL.match(text):
                commas += 1
            elif _DOT_DECIMAL.match(text):
                dots += 1
            elif re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", text) and not text.endswith("000"):
                thousands += 1
    german = bool({header_key(h) for h in headers} & _GERMAN)
    notes: list[str] = []
    mark: DecimalMark = "."
    if commas > dots or (commas == dots and (german or (delimiter == ";" and thousands > 0))):
        mark = ","
    if commas and dots:
        notes.append(said("import_note.mixed_marks", mark=mark))
    elif mark == ",":
        notes.append(said("import_note.decimal_comma"))
    order: DayOrder = "dmy" if day_first > month_first or (not month_first and not day_first and german) else "mdy"
    if undecided and not day_first and not month_first:
        notes.append(said("import_note.dates_dmy" if order == "dmy" else "import_note.dates_mdy"))
    if day_first and month_first:
        notes.append(said("import_note.mixed_dates_dmy" if order == "dmy" else "import_note.mixed_dates_mdy"))
    return mark, order, notes


# ---------------------------------------------------------------------------------------------------------------- JSON


def looks_like_json(source: Source) -> bool:
    """Say whether the text starts as JSON does."""
    return source.first_text.lstrip()[:1] in ("{", "[")


def _pruned(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in pairs:
        if isinstance(value, str):
            if len(value) > (200 if header_key(key) in _DROPPED else 2000):
                continue
        elif (
            isinstance(value, list | dict)
            and value
            and len(pairs) > 1
            and header_key(key) in _DROPPED
            and not (isinstance(value, dict) and _numeric(value))
        ):
            continue
        kept[key] = value
    return kept


def _numeric(value: Mapping[str, Any]) -> bool:
    """Say whether a dropped key holds a small statistic after all (guidellm's 'errors', a mapping of costs)."""
    return len(value) <= 40 and all(isinstance(v, int | float) or v is None for v in value.values())


def load_json(source: Source) -> list[Any]:
    """Parse a JSON document or JSON Lines into a list of documents.

    Raises:
        ImportRefused: truncated or not JSON, nested too deep, or too many values.
    """
    data = source.data
    opened = data.count(b"{") + data.count(b"[")
    if opened > MAX_JSON_CONTAINERS or data.count(b",") > MAX_JSON_COMMAS:
        raise ImportRefused(said("import_refused.many_values"))
    if _is_lines(source):
        return [document for _, document in iter_json_lines(source)]
    with source.text() as handle:
        text = handle.read().lstrip("\ufeff").strip()
    return list(_documents(json.JSONDecoder(object_pairs_hook=_pruned), text))


def iter_json_lines(source: Source) -> Iterator[tuple[int, Any]]:
    """Stream the documents of a JSON Lines file with their line numbers."""
    decoder = json.JSONDecoder(object_pairs_hook=_pruned)
    for number, line in enumerate(source.lines(MAX_BYTES), 1):
        text = line.strip().lstrip("\ufeff")
        if text:
            yield number, _parse(decoder, text, number)


def _is_lines(source: Source) -> bool:
    if not source.first_text.lstrip().startswith("{"):
        return False
    text = source.first_text.lstrip()
    newline = text.find("\n")
    if newline < 0 and source.encoding.startswith("utf-8"):
        # The first line is longer than the head that was decoded: a benchmark with per-request details.
        at = source.data.find(b"\n")
        return at > 0 and source.data[:at].rstrip()[-1:] == b"}" and source.data[at : at + 1000].lstrip()[:1] == b"{"
    return newline > 0 and text[:newline].rstrip().endswith("}") and text[newline:].lstrip().startswith("{")


def is_json_lines(source: Source) -> bool:
    """Say whether the file is JSON Lines with more than one line."""
    return _is_lines(source)


def _documents(decoder: json.JSONDecoder, text: str) -> Iterator[Any]:
    """Parse one document, or several that were saved one after the other."""
    at = 0
    while at < len(text):
        document, at = _parse_at(decoder, text, at, None)
        yield document
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1


def _parse(decoder: json.JSONDecoder, text: str, line: int) -> Any:
    document, end = _parse_at(decoder, text, 0, line)
    if text[end:].strip():
        raise ImportRefused(said("import_refused.json_at", line=line, what=said("import_json.extra_data")))
    return document


def _parse_at(decoder: json.JSONDecoder, text: str, start: int, line: int | None) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        where = line if line is not None else error.lineno
        if error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg:
            raise ImportRefused(said("import_refused.json_cut", line=where)) from None
        raise ImportRefused(said("import_refused.json_at", line=where, what=_json_error(error.msg))) from None
    except RecursionError:
        raise ImportRefused(said("import_refused.json_deep")) from None
    except ValueError:
        raise ImportRefused(said("import_refused.json_number")) from None


def csv_error(error: csv.Error) -> str:
    """What the CSV parser complains of; in English if it is none of the usual complaints."""
    words = str(error)
    if match := re.fullmatch(r"field larger than field limit \((\d+)\)", words):
        return said("import_csv.field_limit", n=match[1])
    if words == catalogue()["import_csv.new_line"]["en"]:
        return said("import_csv.new_line")
    return words


def _json_error(message: str) -> str:
    """What the JSON parser complains of; in English if it is none of the usual complaints."""
    words = message.rstrip(".").lower()
    key = "import_json." + re.sub(r"[^a-z]+", "_", words.replace("','", "comma").replace("':'", "colon")).strip("_")
    return said(key) if key in catalogue() and catalogue()[key]["en"] == words else words


def flatten(item: Mapping[str, Any], depth: int = 3) -> dict[str, Any]:
    """Flatten nested objects by joining their keys with dots; lists stay values."""
    flat: dict[str, Any] = {}
    for key, value in item.items():
        if isinstance(value, dict) and depth > 0:
            flat[str(key)] = value
            for inner, inner_value in flatten(value, depth - 1).items():
                flat[f"{key}.{inner}"] = inner_value
        else:
            flat[str(key)] = value
    return flat


def object_table(items: Sequence[Any] | Iterator[tuple[int, Any]], first: Sequence[Any] = ()) -> Table:
    """Make a table of JSON objects: one row an object, one column a key (nested keys joined with dots).

    Args:
        items: the objects, or pairs (line, object) as they stream.
        first: with a stream, the objects whose keys name the columns.
    """
    streaming = not isinstance(items, Sequence)
    sample = list(first) if streaming else list(items)
    headers: dict[str, str] = {}
    for item in sample[:5000]:
        if isinstance(item, dict):
            for key in flatten(item):
                headers.setdefault(header_key(key), key)
        if len(headers) > _MAX_COLUMNS:
            raise ImportRefused(said("import_refused.json_keys", most=f"{_MAX_COLUMNS:,}"))
    keys = tuple(headers)
    index = {key: i for i, key in enumerate(keys)}

    def body() -> Iterator[tuple[int, list[Any] | str]]:
        pairs: Iterator[tuple[int, Any]] = items if streaming else iter(enumerate(sample, 1))  # type: ignore[assignment]
        for number, item in pairs:
            if not isinstance(item, dict):
                yield number, said("import_cell.no_object")
                continue
            cells: list[Any] = [None] * len(keys)
            for key, value in flatten(item).items():
                at = index.get(header_key(key))
                if at is not None:
                    cells[at] = value
            yield number, cells

    return Table(tuple(headers.values()), keys, body(), nested=True)


def json_cell(value: object) -> dict[str, Any]:
    """Read a cell that holds a JSON object (or is one already); {} if it does not."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value.lstrip()[:1] == "{" and len(value) < 100_000:
        try:
            loaded = json.loads(value)
        except (ValueError, RecursionError):
            return {}
        return loaded if isinstance(loaded, dict) else {}
    return {}
