"""Files that are refused with one sentence, column mapping, kinds given by name, and memory."""

import gzip
import io
import json
import tracemalloc
import zipfile

import pytest

from calculators.usage_import import (
    GENERIC_FIELDS,
    KINDS,
    MAX_BYTES,
    ImportRefused,
    UsageReport,
    guess_mapping,
    read,
    read_pair,
)

from .exports import EXPORTS, METRICS, OPENAI_USAGE, OPENAI_USAGE_API


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("usage.csv", OPENAI_USAGE)
    return buffer.getvalue()


def workbook() -> bytes:
    import xlsxwriter

    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer)
    book.add_worksheet().write_row(0, 0, ["date", "cost"])
    book.close()
    return buffer.getvalue()


REFUSED = {
    "empty": (b"", "empty"),
    "spaces": (b"  \n\n ", "no text"),
    "zip": (zipped(), "zip"),
    "workbook": (workbook(), "Excel"),
    "gzip": (gzip.compress(OPENAI_USAGE), "gzip"),
    "pdf": (b"%PDF-1.7\n...", "PDF"),
    "parquet": (b"PAR1" + bytes(100), "Parquet"),
    "binary": (bytes(range(256)) * 50, "binary"),
    "zeros": (bytes(4000), "binary"),
    "html": (b"<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
    "xml": (b"<?xml version='1.0'?><a/>", "web page or XML"),
    "too large": (b"a,b\n" * (MAX_BYTES // 4 + 1), "limit is 64 MB"),
    "prose": (b"Dear all, please find the numbers attached.\nRegards\n", ""),
    "one column": (b"tokens\n1\n2\n", "not a table"),
    "cut JSON": (OPENAI_USAGE_API[:-40], "cut off"),
    "bad JSON": (b'{"data": [1, 2,, 3]}', "cannot be read at line 1"),
    "deep list": (b"[" * 200_000, ""),
    "deep JSON": (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "nested too deep"),
    "many values": (b"[" + b"[]," * 3_100_000 + b"[]]", "more values"),
    "long number": (b'{"a": ' + b"9" * 5000 + b"}", "too long"),
    "header only": (OPENAI_USAGE.splitlines()[0] + b"\n", "no rows"),
    "unknown columns": (b"name,score\nann,5\n", "column mapping"),
    "JSON without usage": (b'{"hello": "world"}', "column mapping"),
    "no results": (b'{"data": [{"start_time": 1780272000, "end_time": 1780358400, "results": []}]}', "not one result"),
    "metrics of another server": (b"# HELP vllm:x y\nvllm:num_requests_running 1\n", "no token counters"),
    "one endless line": (b"a," * 2_500_000, "longer than"),
    "endless YAML": (b"results:\n  scenario: x\n" + b"- \n" * 3_000_000, "larger than"),
    "open quote": (b'date,model,cost\n2026-06-01,"a,1\n' * 3, ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_not_an_export_is_refused_in_one_sentence(name: str):
    data, part = REFUSED[name]
    with pytest.raises(ImportRefused) as caught:
        read(data, name)
    reason = caught.value.reason
    assert part in reason
    assert "\n" not in reason
    assert 10 < len(reason) < 500
    assert reason.endswith(".")


def test_only_bytes_matter_not_the_name():
    assert read(OPENAI_USAGE, "picture.png").kind == "openai_usage"


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("openai_usage.csv", "anthropic_usage", ("Anthropic usage", "usage_input_tokens_no_cache", "OpenAI usage")),
        ("anthropic_cost.json", "openai_costs", ("OpenAI costs", "Anthropic cost API")),
        ("vllm.json", "guidellm", ("guidellm", "vllm bench serve")),
        ("generic.csv", "vllm_bench", ("vllm bench serve", "table")),
        ("openai_usage.csv", "metrics", ("/metrics",)),
        ("vllm.json", "openai_usage", ("OpenAI usage", "vllm bench serve")),
    ],
)
def test_a_wrong_kind_says_what_it_looks_like(name: str, kind: str, words: tuple[str, ...]):
    with pytest.raises(ImportRefused) as caught:
        read(EXPORTS[name][0], name, kind=kind)
    assert "This is not" in caught.value.reason
    for word in words:
        assert word in caught.value.reason


def test_a_kind_that_does_not_exist():
    with pytest.raises(ImportRefused, match="There is no kind 'excel'"):
        read(OPENAI_USAGE, kind="excel")
    assert "auto" in KINDS


ODD = b"wann;was;rein;raus;preis\n01.06.2026;alpha;1.000;10;2,50\n02.06.2026;alpha;3.000;20;7,50\n"


def test_an_unknown_table_is_read_with_a_mapping():
    with pytest.raises(ImportRefused, match=r"wann, was, rein, raus"):
        read(b"wann;was;rein;raus\n01.06.2026;alpha;1.000;10\n")
    report = read(
        ODD, mapping={"time": "wann", "model": "was", "input_tokens": "rein", "output_tokens": "raus", "cost": "preis"}
    )
    assert isinstance(report, UsageReport)
    assert (report.totals.input_tokens, report.totals.output_tokens) == (4_000, 30)
    assert str(report.totals.spend["USD"]) == "10.00"
    # The column names no currency: it is assumed, and asked.
    assert any("USD was assumed" in note for note in report.notes)
    assert any("US dollars" in q for q in report.to_scenario_fields()["unresolved"])


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"input_tokens": "nix", "output_tokens": "raus"}, "no column 'nix'"),
        ({"tokens": "rein"}, "no field 'tokens'"),
        ({"time": "wann"}, "do not say enough"),
    ],
)
def test_a_wrong_mapping_is_named(mapping: dict[str, str], words: str):
    with pytest.raises(ImportRefused, match=words):
        read(ODD, mapping=mapping)


def test_guess_mapping_shows_columns_guess_and_needs():
    guess = guess_mapping(EXPORTS["german.csv"][0])
    assert guess.columns == ("Datum", "Modell", "Eingabe-Tokens", "Ausgabe-Tokens", "Anfragen", "Kosten", "Währung")
    assert guess.guess["input_tokens"] == "Eingabe-Tokens"
    assert guess.enough
    odd = guess_mapping(ODD)
    assert set(odd.guess) <= set(GENERIC_FIELDS)
    assert "output tokens" in odd.needed


def test_a_file_that_is_not_utf8_is_read_and_says_so():
    report = read("date,model,cost\n2026-06-01,café,5\n".encode("cp1252"))
    assert isinstance(report, UsageReport)
    assert report.models[0].model == "café"
    assert any("Windows-1252" in note for note in report.notes)


def test_json_lines_and_lists_of_pages():
    lines = OPENAI_USAGE_API + b"\n" + OPENAI_USAGE_API
    pages = b"[" + OPENAI_USAGE_API + b"," + OPENAI_USAGE_API + b"]"
    for data in (lines, pages):
        report = read(data)
        assert isinstance(report, UsageReport)
        assert report.totals.requests == 6


def test_texts_of_prompts_are_dropped_while_parsing():
    row = {
        "request_id": "1",
        "request_created_at": "2026-06-01T10:00:00Z",
        "model": "a",
        "prompt_tokens": 5,
        "completion_tokens": 1,
        "request_body": {"messages": [{"content": "secret " * 1000}]},
    }
    report = read(json.dumps({"data": [row]}).encode())
    assert isinstance(report, UsageReport)
    assert report.totals.total_tokens == 6
    assert "secret" not in json.dumps(report.to_json_dict())


def rows(count: int) -> bytes:
    lines = ["start_time,end_time,num_model_requests,model,input_tokens,output_tokens,input_cached_tokens"]
    for i in range(count):
        start = 1780272000 + 3600 * (i % 500)
        lines.append(f"{start},{start + 3600},{i % 9},gpt-{i % 5},{1000 + i},{i % 99},{i % 1000}")
    return "\n".join(lines).encode()


def test_memory_does_not_grow_with_the_rows():
    peaks = []
    for count in (10_000, 40_000):
        data = rows(count)
        tracemalloc.start()
        report = read(data)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert report.rows_read == count
    # The table has 500 hours x 5 models in both; only the copy of the bytes may grow.
    assert peaks[1] < peaks[0] + len(rows(40_000)) + 2_000_000


def test_more_hours_and_models_than_a_table_holds_become_days():
    lines = ["time,model,input_tokens,output_tokens"]
    lines += [f"{1780272000 + 3600 * (i // 900)},m{i % 900},1,1" for i in range(130_000)]
    report = read("\n".join(lines).encode())
    assert isinstance(report, UsageReport)
    assert report.granularity == "day"
    assert report.totals.total_tokens == 260_000
    assert any("added up by day" in note for note in report.notes)


def test_two_scrapes_need_two_metrics_files():
    with pytest.raises(ImportRefused, match="no token counters"):
        read_pair(b"# HELP x\n", METRICS[:60])
