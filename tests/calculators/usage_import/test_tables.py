"""From bytes to rows: delimiters, headers, decimal marks, the order of dates, JSON of several shapes, limits."""

import codecs
import json
from typing import Any

import pytest

from calculators.usage_import import ImportRefused, UsageReport, guess_mapping, read
from calculators.usage_import import files as files_module
from calculators.usage_import.files import flatten, json_cell, object_table, open_source

from .reports import keys

HEADER = ("date", "model", "input_tokens", "output_tokens")
ROW = ("2026-06-01", "a", "900", "100")


def usage(data: str | bytes, **more: Any) -> UsageReport:
    report = read(data if isinstance(data, bytes) else data.encode(), **more)
    assert isinstance(report, UsageReport)
    return report


def lines(*rows: tuple[str, ...], mark: str = ",") -> str:
    return "".join(mark.join(r) + "\n" for r in rows)


def refusal(data: str | bytes, **more: Any) -> tuple[str, dict[str, Any]]:
    with pytest.raises(ImportRefused) as caught:
        read(data if isinstance(data, bytes) else data.encode(), **more)
    said = caught.value.args[0]
    return said.key, said.places


# ----------------------------------------------------------------------------------------------- kinds of files


@pytest.mark.parametrize(
    ("head", "what", "remedy"),
    [
        (b"PK\x03\x04", "zip archive or an Excel", "save"),
        (b"PK\x05\x06", "zip", "unpack"),
        (b"\x1f\x8b", "gzip", "unpack"),
        (b"\xd0\xcf\x11\xe0", "Excel", "save"),
        (b"%PDF", "PDF", "save"),
        (b"PAR1", "Parquet", "save"),
        (b"ORC", "ORC", "save"),
        (b"Obj\x01", "Avro", "save"),
        (b"SQLite format 3", "SQLite", "save"),
        (b"BZh", "bzip2", "unpack"),
        (b"\xfd7zXZ", "xz", "unpack"),
        (b"\x28\xb5\x2f\xfd", "zstd", "unpack"),
        (b"7z\xbc\xaf", "7", "unpack"),
        (b"Rar!", "RAR", "unpack"),
        (b"\x89PNG", "picture", "save"),
        (b"\xff\xd8\xff", "picture", "save"),
        (b"GIF8", "picture", "save"),
        (b"\x7fELF", "program", "save"),
        (b"ARROW1", "Arrow", "save"),
    ],
)
def test_files_that_are_no_text_are_named_with_a_remedy(head: bytes, what: str, remedy: str):
    key, places = refusal(head + lines(HEADER, ROW).encode())
    assert key == "import_refused.magic"
    assert what.lower().replace("picture", "") in places["what"].lower()
    assert places["remedy"].key == f"import_refused.{remedy}"


def test_the_limit_of_the_size_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files_module, "MAX_BYTES", 2_000_000)
    good = lines(HEADER, ROW).encode()
    padded = good + b" " * (2_000_000 - len(good))
    assert usage(padded).rows_read == 1
    assert refusal(padded + b" " * 1_600_000) == ("import_refused.too_large", {"mb": "4", "most": "2"})
    assert refusal(padded + b" ")[0] == "import_refused.too_large"


@pytest.mark.parametrize(
    "head", ["<!DOCTYPE html>", "<HTML>", "  \n<html lang='en'>", "<?xml version='1.0'?>", "<svg>"]
)
def test_web_pages_are_named(head: str):
    assert refusal(head + "a,b\n1,2\n")[0] == "import_refused.web_page"


def test_some_odd_characters_are_no_binary_file():
    assert usage(lines(HEADER, ("2026-06-01", "a\x01\x02\x03\x04", "9", "1"))).rows_read == 1
    assert refusal(b"a,b\n" + b"\x01\x02\x03\x04\x05")[0] == "import_refused.binary"
    long = lines(HEADER, *[ROW] * 100)
    allowed = len(long) // 20
    assert usage(long.replace(",a,", ",a\x01,", 100)).rows_read == 100
    assert refusal("\x01" * (allowed * 2) + long)[0] == "import_refused.binary"


@pytest.mark.parametrize(
    "encode",
    [
        lambda t: codecs.BOM_UTF8 + t.encode(),
        lambda t: codecs.BOM_UTF16_LE + t.encode("utf-16-le"),
        lambda t: codecs.BOM_UTF16_BE + t.encode("utf-16-be"),
        lambda t: codecs.BOM_UTF32_LE + t.encode("utf-32-le"),
        lambda t: codecs.BOM_UTF32_BE + t.encode("utf-32-be"),
        lambda t: t.encode("utf-16-le"),
        lambda t: t.encode("utf-16-be"),
        lambda t: t.encode(),
    ],
    ids=["UTF-8 BOM", "16 LE", "16 BE", "32 LE", "32 BE", "16 LE bare", "16 BE bare", "UTF-8"],
)
@pytest.mark.parametrize("body", ["csv", "json"])
def test_unicode_in_every_encoding(encode: Any, body: str):
    text = lines(HEADER, ("2026-06-01", "café", "900", "100"))
    if body == "json":
        text = json.dumps([dict(zip(HEADER, ("2026-06-01", "café", 900, 100), strict=True))], ensure_ascii=False)
    report = usage(encode(text))
    assert (report.models[0].model, report.totals.total_tokens) == ("café", 1000)
    assert "import_note.not_utf8" not in keys(report.notes)


def test_windows_text_is_read_and_noted_also_late_in_a_long_file():
    text = lines(HEADER, *[ROW] * 6_000, ("2026-06-01", "café", "900", "100"))
    report = usage(text.encode("cp1252"))
    assert {m.model for m in report.models} == {"a", "café"}
    assert "import_note.not_utf8" in keys(report.notes)


def test_a_file_cut_inside_a_character_is_still_utf8():
    cut = lines(HEADER, ("2026-06-01", "café", "9", "1"), ("2026-06-01", "a", "9", "é")).encode()[:-2]
    report = usage(cut)
    assert "import_note.not_utf8" not in keys(report.notes)
    assert report.models[0].model == "café"
    # a lone accent as the last byte of a file without others is Windows-1252
    ends = usage(("input_tokens,output_tokens,model\n9,1,café").encode("cp1252"))
    assert (ends.models[0].model, "import_note.not_utf8" in keys(ends.notes)) == ("café", True)


# --------------------------------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiters(mark: str):
    assert usage(lines(HEADER, ROW, mark=mark)).totals.total_tokens == 1000
    assert usage(f"sep={mark}\n" + lines(HEADER, ROW, mark=mark)).totals.total_tokens == 1000


def test_a_mark_inside_cells_is_no_delimiter():
    rows = [("2026-06-01", f"a;b;c;d;e{i}", "900", "100") for i in range(3)]
    assert usage(lines(HEADER, *rows)).totals.total_tokens == 3000
    # a sep= line that the rows contradict is only taken for a delimiter
    assert usage("sep=x\n" + lines(HEADER, ROW)).totals.total_tokens == 1000


def test_a_preamble_before_the_header():
    text = "Usage report\nof,June\n\n" + lines(HEADER, ROW)
    assert usage(text).totals.total_tokens == 1000
    # the header is looked for among the first 25 records
    assert usage("note,1x\n" * 24 + lines(HEADER, ROW)).totals.total_tokens == 1000
    assert refusal("note,1x\n" * 25 + lines(HEADER, ROW))[0] == "import_refused.no_format"


def test_line_numbers_count_the_lines_of_the_file():
    text = "Usage report\n\n" + lines(HEADER, ROW, ("2026-06-01", "a", "x", "1"))
    assert usage(text).refused[0].line == 5
    quoted = lines(HEADER, ("2026-06-01", '"a\n"', "9", "1"), ("2026-06-01", "a", "x", "1"))
    assert usage(quoted).refused[0].line == 4


def test_rows_that_are_too_short_or_too_long():
    report = usage(lines(HEADER, ROW, ROW[:3], (*ROW, "more"), (*ROW, ""), (*ROW, "", " ")))
    assert report.rows_read == 3
    assert [(r.line, r.why.key, r.why.places) for r in report.refused] == [  # type: ignore[attr-defined]
        (3, "import_cell.few_columns", {"n": 3, "of": 4}),
        (4, "import_cell.more_columns", {"n": 5, "of": 4}),
    ]


def test_empty_columns_at_the_end_of_the_header_do_not_count():
    assert usage(lines((*HEADER, "", ""), ROW, (*ROW, "", ""))).rows_refused == 0
    kept = usage(lines((*HEADER, ""), (*ROW, "x"), ROW))
    assert (kept.rows_read, kept.rows_refused) == (1, 1)


@pytest.mark.parametrize(
    "word",
    ["Total", "TOTALS", "Grand Total", "subtotal:", "Sum", "Summe", "Gesamt", "Gesamtsumme", "Insgesamt", "合计"],
)
def test_lines_of_totals(word: str):
    for row in ((word, "", "900", "100"), ("", word, "900", "100")):
        report = usage(lines(HEADER, ROW, row))
        assert (report.rows_read, report.refused[0].why.key) == (1, "import_cell.total_row")  # type: ignore[attr-defined]
    named = usage(lines(HEADER, ROW, ("2026-06-01", word, "900", "100")))
    assert named.rows_read == 2


def test_two_columns_of_one_name_keep_the_first():
    report = usage(lines((*HEADER, "Input Tokens"), (*ROW, "7")))
    assert report.totals.input_tokens == 900


def test_too_many_columns_are_refused():
    wide = [f"c{i}" for i in range(1996)]
    assert usage(lines((*HEADER, *wide), (*ROW, *wide))).rows_read == 1
    wide += ["one more"]
    key, places = refusal(lines((*HEADER, *wide), (*ROW, *wide)))
    assert (key, places) == ("import_refused.many_columns", {"line": 1, "most": "2,000"})


def test_a_line_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch):
    key, places = refusal(lines(HEADER, ROW) + "x" * 4_000_000)
    assert (key, places) == ("import_refused.long_line", {"line": 3, "most": "4,000,000"})


@pytest.mark.parametrize(
    ("cells", "mark", "note"),
    [
        (("1,5",), ",", "import_note.decimal_comma"),
        (("1.5",), ".", None),
        (("1,5", "2.5"), ".", "import_note.mixed_marks"),
        (("1,5", "2,5", "2.5"), ",", "import_note.mixed_marks"),
        (("0,123",), ",", "import_note.decimal_comma"),
        (("1.234,56",), ",", "import_note.decimal_comma"),
        (("1,234.56",), ".", None),
        (("1,2345",), ",", "import_note.decimal_comma"),
        (("€1,50",), ",", "import_note.decimal_comma"),
        (("1e-05",), ".", None),
        (("1234",), ".", None),
        (("1.234",), ".", None),
    ],
)
def test_the_decimal_mark_is_that_of_most_numbers(cells: tuple[str, ...], mark: str, note: str | None):
    rows = [("2026-06-01", "a", f'"{c}"') for c in cells]
    report = usage(lines(("date", "model", "cost"), *rows, ("2026-06-01", "b", '"7.125"')))
    by_model = {m.model: m.amounts.spend.get("USD") for m in report.models}
    assert str(by_model["b"]) == ("7125" if mark == "," else "7.125")
    marks = {"import_note.decimal_comma", "import_note.mixed_marks"} & set(keys(report.notes))
    assert marks == ({note} if note else set())


def test_semicolons_and_thousands_are_a_german_file():
    text = lines(("day", "model", "cost_eur"), ("2026-06-01", "a", "1.234"), ("2026-06-01", "b", "7.125"), mark=";")
    assert str(usage(text).totals.spend["EUR"]) == "8359"
    comma = lines(("day", "model", "cost_eur"), ("2026-06-01", "a", "1.234"), ("2026-06-01", "b", "7.125"))
    assert str(usage(comma).totals.spend["EUR"]) == "8.359"
    zeros = lines(("day", "model", "cost_eur"), ("2026-06-01", "a", "1.000"), mark=";")
    assert str(usage(zeros).totals.spend["EUR"]) == "1.000"


@pytest.mark.parametrize(
    "header",
    [
        "Datum",
        "Zeit",
        "Tag",
        "Modell",
        "Kosten",
        "Betrag",
        "Währung",
        "Anfragen",
        "Ausgabe",
        "Eingabe",
        "Menge",
        "Anzahl",
    ],
)
def test_a_german_header_means_a_decimal_comma_where_nothing_else_tells(header: str):
    mapping = {"time": "d", "cost": "c"}
    text = lines(("d", "c", header), ("2026-06-01", "1.234", "x"))
    assert str(usage(text, mapping=mapping).totals.spend["USD"]) == "1234"
    assert str(usage(text.replace(header, "note"), mapping=mapping).totals.spend["USD"]) == "1.234"


@pytest.mark.parametrize(
    ("header", "dates", "first", "note"),
    [
        ("date", ("05/06/2026",), "2026-05-06", "import_note.dates_mdy"),
        ("Datum", ("05/06/2026",), "2026-06-05", "import_note.dates_dmy"),
        ("date", ("05/06/2026", "13/06/2026"), "2026-06-05", None),
        ("Datum", ("05/06/2026", "06/13/2026"), "2026-05-06", None),
        ("date", ("05/06/2026", "13/06/2026", "06/13/2026"), "2026-05-06", "import_note.mixed_dates_mdy"),
        (
            "date",
            ("05/06/2026", "13/06/2026", "14/06/2026", "06/13/2026"),
            "2026-06-05",
            "import_note.mixed_dates_dmy",
        ),
        ("date", ("5-6-26",), "2026-05-06", "import_note.dates_mdy"),
        ("date", ("12/06/2026", "06/12/2026"), "2026-06-12", "import_note.dates_mdy"),
        ("date", ("2026-06-05",), "2026-06-05", None),
    ],
)
def test_the_order_of_dates_is_told_by_the_file(header: str, dates: tuple[str, ...], first: str, note: str | None):
    report = usage(lines((header, *HEADER[1:]), *((d, f"m{i}", "9", "1") for i, d in enumerate(dates))))
    by_model = {r.model: r.period for r in report.records}
    assert by_model["m0"] == (first if header != "date" or dates[0] != "12/06/2026" else "2026-12-06")
    noted = [k for k in keys(report.notes) if "dates" in k]
    assert noted == ([note] if note else [])


def test_lines_may_end_as_they_did_on_old_machines():
    assert usage(lines(HEADER, ROW, ROW).replace("\n", "\r")).totals.total_tokens == 2000


def test_a_csv_that_breaks_says_at_which_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files_module, "_FIELD_LIMIT", 100)
    forty = [ROW] * 40
    assert usage(lines(HEADER, *forty, ("2026-06-01", "x" * 100, "9", "1"))).rows_read == 41
    key, places = refusal(lines(HEADER, *forty, ("2026-06-01", "x" * 101, "9", "1")))
    assert (key, places["line"], places["what"].key) == ("import_refused.csv_line", 42, "import_csv.field_limit")
    assert places["what"].places == {"n": "100"}
    key, places = refusal(lines(HEADER, ("2026-06-01", "x" * 101, "9", "1")))
    assert (key, places["what"].key) == ("import_refused.csv", "import_csv.field_limit")


# ----------------------------------------------------------------------------------------------------------------- JSON


ITEM: dict[str, Any] = {"date": "2026-06-01", "model": "a", "input_tokens": 900, "output_tokens": 100}


@pytest.mark.parametrize(
    "name",
    [
        "data",
        "results",
        "rows",
        "items",
        "value",
        "usage",
        "activity",
        "logs",
        "observations",
        "requests",
        "records",
        "entries",
        "daily",
        "monthly",
    ],
)
def test_rows_under_the_usual_names(name: str):
    assert usage(json.dumps({name: [ITEM, ITEM]})).totals.total_tokens == 2000


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (json.dumps([ITEM, ITEM]), 2),
        (json.dumps(ITEM), 1),
        (json.dumps({"data": ITEM}), 1),
        (json.dumps({"meta": 1, "data": [ITEM]}), 1),
        (json.dumps(ITEM) + "\n" + json.dumps(ITEM), 2),
        (json.dumps(ITEM) + "\n\n" + json.dumps(ITEM) + "\n", 2),
        (json.dumps(ITEM) + json.dumps(ITEM), 2),
        (json.dumps(ITEM) + ",\r\n\t" + json.dumps(ITEM), 2),
        (json.dumps([ITEM], indent=1) + "\n" + json.dumps([ITEM], indent=1), 2),
        (json.dumps(ITEM, indent=1), 1),
        ("\ufeff" + json.dumps(ITEM), 1),
        ("  \n " + json.dumps([ITEM]), 1),
    ],
)
def test_shapes_of_json(text: str, rows: int):
    report = usage(text)
    assert (report.rows_read, report.totals.total_tokens) == (rows, 1000 * rows)


def test_items_that_are_no_objects_are_refused_with_their_number():
    report = usage(json.dumps([ITEM, 5, ITEM]))
    assert (report.rows_read, report.rows_refused) == (2, 1)
    assert (report.refused[0].line, report.refused[0].why) == (2, "is not an object")
    long = "\n".join([json.dumps(ITEM)] * 300 + ['{"a": 1}', json.dumps({**ITEM, "input_tokens": "x"})])
    streamed = usage(long, kind="generic")
    assert streamed.refused[0].line == 302


@pytest.mark.parametrize(
    ("text", "key", "places"),
    [
        ('[{"a": 1}', "import_refused.json_cut", {"line": 1}),
        ('[{"a": "x', "import_refused.json_cut", {"line": 1}),
        ('[\n{"a": 1},\n{"a"', "import_refused.json_cut", {"line": 3}),
        ("[\n1 2, 3, 4]", "import_refused.json_at", {"line": 2, "what": "expecting ',' delimiter"}),
        ('{"a" 5, "b": 1}', "import_refused.json_at", {"line": 1, "what": "expecting ':' delimiter"}),
        ("{a: 5, b: 6}", "import_refused.json_at", {"line": 1}),
        ('{"a": 1}\n{"b": 2} x\n{"c": 3}', "import_refused.json_at", {"line": 2, "what": "extra data"}),
        ('{"a": 1}\n{"b": 2\n', "import_refused.json_cut", {"line": 2}),
        ('{"a": ' + "9" * 5000 + "}", "import_refused.json_number", {}),
        ('[{"a": "x\\q"}, 5, 6]', "import_refused.json_at", {"line": 1}),
    ],
)
def test_json_that_cannot_be_read_says_where(text: str, key: str, places: dict[str, Any]):
    found, told = refusal(text)
    assert found == key
    assert {k: told[k] for k in places} == places


def test_the_number_of_json_values_has_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files_module, "MAX_JSON_CONTAINERS", 3)
    monkeypatch.setattr(files_module, "MAX_JSON_COMMAS", 7)
    assert usage(json.dumps([ITEM, ITEM])).rows_read == 2  # 3 brackets, 7 commas
    assert refusal(json.dumps([ITEM, ITEM]) + "{}")[0] == "import_refused.many_values"
    assert refusal(json.dumps([ITEM, {**ITEM, "x": 1}]))[0] == "import_refused.many_values"


def test_too_many_different_keys_are_refused():
    fits = {**ITEM, **{f"k{i}": 1 for i in range(1996)}}
    assert usage(json.dumps([fits])).rows_read == 1
    assert refusal(json.dumps([{**fits, "more": 1}])) == ("import_refused.json_keys", {"most": "2,000"})


def test_keys_of_objects_are_joined_with_dots_to_a_depth():
    item = {"a": {"b": {"c": {"d": {"e": 1}}}}, "l": [1]}
    flat = flatten(item)
    assert flat["a.b.c.d"] == {"e": 1}
    assert flat["a.b"] == {"c": {"d": {"e": 1}}}
    assert flat["l"] == [1]
    assert "a.b.c.d.e" not in flat
    assert object_table([{"usage": {"input": 5}}]).find("usage.input") is not None


def test_a_key_that_comes_late_is_a_column_too():
    report = usage(json.dumps([{k: v for k, v in ITEM.items() if k != "model"}, ITEM]))
    assert {m.model for m in report.models} == {"a", "(no model named)"}


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        (' {"a": 1}', {"a": 1}),
        ('{"a": ', {}),
        ("[1]", {}),
        ("x", {}),
        (None, {}),
        (5, {}),
        ('{"a": "' + "x" * 100_000 + '"}', {}),
        ('{"a":' * 3000 + "1" + "}" * 3000, {}),
    ],
)
def test_json_inside_a_cell(cell: object, found: dict[str, Any]):
    assert json_cell(cell) == found


def test_long_texts_are_let_go_and_numbers_are_kept():
    item = {
        **ITEM,
        "prompt": "p" * 201,
        "note": "n" * 2001,
        "messages": [{"content": "x"}],
        "output": {"text": 1, "words": "x"},
        "usage": {"input": 1},
        "errors": {"a": 1, "b": None},
    }
    columns = guess_mapping(json.dumps([item]).encode()).columns
    assert not {"prompt", "note", "messages", "output"} & set(columns)
    assert {"usage.input", "errors.a", "date"} <= set(columns)
    short = {**ITEM, "prompt": "p" * 200, "note": "n" * 2000, "input": [], "completion": 5}
    assert {"prompt", "note", "input", "completion"} <= set(guess_mapping(json.dumps([short]).encode()).columns)


# ------------------------------------------------------------------------------------------------------ one kind asked


def test_kinds_that_do_not_fit_name_what_is_missing_and_what_it_looks_like():
    openai = "start_time,model,input_tokens,output_tokens,num_model_requests\n1780272000,a,9,1,1\n"
    key, places = refusal(openai, kind="helicone")
    assert (key, places["column"], places["label"]) == (
        "import_refused.missing_looks_like",
        "prompt_tokens",
        "OpenAI usage",
    )
    key, places = refusal(lines(HEADER, ROW), kind="helicone")
    assert (key, places["column"]) == ("import_refused.missing", "prompt_tokens")
    key, places = refusal(openai, kind="litellm_daily")
    assert (key, places["label"]) == ("import_refused.looks_like", "OpenAI usage")
    assert refusal(lines(HEADER, ROW), kind="litellm_daily")[0] == "import_refused.not_kind"
    key, places = refusal(lines(HEADER, ROW), kind="guidellm")
    assert (key, places["columns"]) == ("import_refused.is_table", "date, model, input_tokens, output_tokens")
    key, places = refusal(lines((*HEADER, *"bcdef"), (*ROW, *"12345")), kind="guidellm")
    assert places["columns"] == "date, model, input_tokens, output_tokens, b, c, d, e and 1 more"
    assert refusal(lines(HEADER, ROW), kind="metrics")[0] == "import_refused.no_metrics"
    key, places = refusal(lines(HEADER, ROW), kind="excel")
    assert (key, places["kind"]) == ("import_refused.no_kind", "'excel'")
    assert places["kinds"].startswith("auto, anthropic_usage")


def test_a_kind_asked_for_finds_its_own_header():
    openai = "a,b\nc,d\nstart_time,model,input_tokens,output_tokens,num_model_requests\n1780272000,a,9,1,1\n"
    assert usage(openai, kind="openai_usage").totals.total_tokens == 10
    assert usage(openai, kind="generic").kind == "generic"
    assert usage(openai).kind == "openai_usage"


def test_a_mapping_finds_the_header_that_has_its_columns():
    text = "Report,of June\nx,y\nwhen,who,rein,raus\n2026-06-01,a,9,1\n"
    mapping = {"time": "when", "input_tokens": "rein", "output_tokens": "raus", "model": "who"}
    report = usage(text, mapping=mapping)
    assert (report.totals.total_tokens, report.models[0].model) == (10, "a")
    assert refusal(text, mapping={**mapping, "cost": "nix"})[0] == "import_refused.no_column"


def test_a_mapping_reads_json_too():
    items = [{"when": "2026-06-01", "rein": 9, "raus": 1}]
    report = usage(json.dumps(items), mapping={"time": "when", "input_tokens": "rein", "output_tokens": "raus"})
    assert report.totals.total_tokens == 10


def test_a_guess_of_the_best_header_line():
    guess = guess_mapping(("Report,of June\n" + lines(HEADER, ROW)).encode(), "x.csv")
    assert guess.columns == HEADER
    assert guess.guess == {
        "time": "date",
        "model": "model",
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
    }
    assert guess.enough
    poor = guess_mapping(b"foo,bar\n1,2\n")
    assert (poor.columns, dict(poor.guess), poor.enough) == (("foo", "bar"), {}, False)
    with pytest.raises(ImportRefused, match="no line has two columns"):
        guess_mapping(b"foo\n1\n")


def test_notes_of_the_source_and_of_the_table_are_in_the_report():
    text = lines(("Datum", "Modell", "Kosten"), ("01/02/2026", "café", "1,5"), mark=";")
    assert {"import_note.not_utf8", "import_note.decimal_comma", "import_note.dates_dmy"} <= set(
        keys(usage(text.encode("cp1252")).notes)
    )


def test_a_source_streams_its_lines():
    source = open_source(b"a\nb\r\nc")
    assert list(source.lines()) == ["a\n", "b\r\n", "c"]
    assert (source.encoding, source.filename, source.notes) == ("utf-8", "", ())
