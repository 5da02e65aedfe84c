"""The command line: exit 0 with the answer, or 2 with one line that says what is wrong."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calculators import __main__ as command
from calculators.__main__ import main
from calculators.link import encode
from calculators.scenario import SPECS, Scenario

ROOT = Path(__file__).resolve().parents[2]


class Ran:
    """What a run of the command line gave."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def data(self) -> Any:
        assert self.status == 0, self.err
        assert self.err == ""
        return json.loads(self.out)

    @property
    def refusal(self) -> str:
        assert self.status == 2
        assert self.out == ""
        assert self.err.count("\n") == 1
        assert self.err.endswith((".\n", "?\n")), self.err
        assert "Traceback" not in self.err
        return self.err.strip()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def call(*arguments: object, stdin: bytes | None = None) -> Ran:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        status = main([str(a) for a in arguments])
        return Ran(status, *capsys.readouterr())

    return call


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def put(content: str | bytes, name: str = "scenario.json") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


# Where a scenario comes from ------------------------------------------------------------------------------------------


def test_no_source_is_the_default(run: Any) -> None:
    data = run("report").data
    assert data["scenario"] == Scenario().model_dump(mode="json")
    assert data["payback"]["status"] == "pays_back"


def test_link_file_and_standard_input_give_the_same_report(run: Any, write: Any) -> None:
    scenario = Scenario(utilization=0.5, title="ä & 中", system_count="auto", demand="spend", demand_usd_per_month=9e4)
    link = "https://example.org/decision?" + encode(scenario, "2026-11-29")
    as_json = scenario.model_dump_json()
    from_link = run("report", link).data
    assert from_link["scenario"] == scenario.model_dump(mode="json")
    for ran in (
        run("report", write(as_json)),
        run("report", write("\ufeff" + as_json, "bom.json")),
        run("report", write(link + "\n", "link.txt")),
        run("report", "-", stdin=as_json.encode()),
        run("report", "-", stdin=link.encode()),
        run("report", write(json.dumps(from_link), "report.json")),
    ):
        assert ran.data == from_link
    # the report's own link says where its figures came from, and gives the same answer
    again = run("report", from_link["link"]).data
    for part in ("scenario", "link", "verdict", "capacity", "served", "serverless", "payback", "break_even"):
        assert again[part] == from_link[part]


def test_unknown_ids_are_refused_and_not_replaced(run: Any) -> None:
    assert "is shown" not in run("report", "model=kimi-k9").refusal


def test_set_wins_over_the_source_and_reads_as_people_type(run: Any) -> None:
    data = run(
        "report",
        "utilization=0.5",
        "--set",
        "utilization=60 %",
        "--set",
        "hardware_usd=500k",
        "--set",
        "max_tpot_ms=",
        "--set",
        "system_count=auto",
        "--set",
        "title=a=b",
    ).data
    assert data["scenario"]["utilization"] == 0.6
    assert data["scenario"]["hardware_usd"] == 500_000
    assert data["scenario"]["max_tpot_ms"] is None
    assert data["scenario"]["title"] == "a=b"
    assert data["served"]["utilization"] == pytest.approx(0.6)


def test_set_of_a_fill_field_needs_its_amount(run: Any) -> None:
    told = run("report", "--set", "demand=tokens").refusal
    assert "demand_tokens_per_month is empty" in told
    assert run("report", "--set", "demand=tokens", "--set", "demand_tokens_per_month=30B").status == 0


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["report", "utilization=1.5"], ["utilization is 1.5", "at most 1"]),
        (["report", "input_usd_per_mtok=-1"], ["input_usd_per_mtok is -1", "at least 0"]),
        (["report", "model=kimi-k9"], ["model 'kimi-k9' is not in the catalogue", "Did you mean kimi-k3?"]),
        (["report", "--set", "model=kimi-k9"], ["'kimi-k9'"]),
        (["report", "system=abacus"], ["system 'abacus' is not in the catalogue"]),
        (["report", "baseline=nobody/nothing"], ["'nobody/nothing' is not an offer", "unpriced"]),
        (["report", "alternative=moonshotai/kimi"], ["'moonshotai/kimi' is not an offer"]),
        (["report", "nonsense=1"], ["nonsense is not a field"]),
        (["report", "https://example.org/?junk"], ["junk is not a field"]),
        (["report", "https://example.org/"], ["holds no scenario"]),
        (["report", "?v=99&utilization=0.5"], ["version 99", "leave out 'v'"]),
        (["report", "?utilization=0.5&utilization=0.6"], ["utilization is given twice", "give it once"]),
        (["report", "?utilization=0.5&pins=hardware_usd:x"], ["'hardware_usd:x' could not be read", "leave it out"]),
        (["report", "?pins=hardware_usd:-5"], ["hardware_usd is -5"]),
        (["report", "utilization=lots"], ["utilization: 'lots' is not a number"]),
        (["report", "missing.json"], ["missing.json could not be read", "No such file"]),
        (["report", "bad\0name"], ["is no name of a file"]),
        (["report", "--set", "utilization"], ["--set utilization needs the form field=value"]),
        (["report", "--set", "utilization=abc"], ["utilization: 'abc' is not a number"]),
        (["report", "--set", "nonsense=1"], ["nonsense is not a field"]),
        (["report", "--set", "horizon_months=1.5"], ["horizon_months is 1.5", "whole number"]),
        (["report", "--format", "pdf"], ["invalid choice: 'pdf'"]),
        (["report", "--output", "no/such/folder/x.json"], ["no/such/folder/x.json could not be written"]),
        (["report", "a=1&" * 30_000], ["longer than 20,000 characters"]),
        (["report", "x" * 100_000], ["could not be read"]),
        (["report", "--set", "x" * 100_000 + "=1"], ["is not a field"]),
        (["report", "acquisition=rent&system=epyc-turin-4tb"], ["No source gives rent_usd_per_accelerator_hour"]),
        ([], ["required: command"]),
        (["nonsense"], ["invalid choice: 'nonsense'"]),
        (["catalog", "prices"], ["invalid choice: 'prices'"]),
        (["catalog"], ["required: what"]),
        (["validate", "missing.csv"], ["missing.csv"]),
        (["import", "missing.csv"], ["missing.csv could not be read"]),
        (["report", "--unknown"], ["unrecognized arguments: --unknown"]),
    ],
)
def test_refused_in_one_line(run: Any, arguments: list[str], parts: list[str]) -> None:
    told = run(*arguments).refusal
    for part in parts:
        assert part in told
    assert len(told) < 1100


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "neither a link nor valid JSON"),
        ("{", "at line 1"),
        ('{"utilization": 0.5,\n}', "at line 2"),
        ("[]", "must hold a JSON object"),
        ("3", "must hold a JSON object"),
        ("null", "must hold a JSON object"),
        ('"utilization"', "must hold a JSON object"),
        ('{"utilization": NaN}', "utilization is nan"),
        ('{"utilization": Infinity}', "utilization is inf"),
        ('{"utilization": -1e308}', "utilization is -1e+308"),
        ('{"utilization": true}', "utilization is true"),
        ('{"utilization": [0.5]}', "utilization is [0.5]"),
        ('{"utilization": {"value": 0.5}}', "utilization is {"),
        ('{"utilization": "half"}', "'half' is not a number"),
        ('{"utilization": null}', "utilization is None"),
        ('{"system_count": 1.5}', "system_count is 1.5"),
        ('{"hardware_usd": 1' + "0" * 400 + "}", "hardware_usd is 1000"),
        ('{"hardware_usd": 1' + "0" * 5000 + "}", "neither a link nor valid JSON"),
        ('{"model": 3}', "model is 3"),
        ('{"title": "' + "x" * 200 + '"}', "0 to 120 characters"),
        ('{"title": "\\ud800"}', "title is"),
        ('{"nonsense": 1}', "nonsense is not a field"),
        ('{"a\\nb": 1}', "a b is not a field"),
        ('{"scenario": {"utilization": 2}}', "utilization is 2"),
        ("[" * 100_000, "neither a link nor valid JSON"),
        (b"\x00\xff\xfe\x01", "not UTF-8"),
        (b"PK\x03\x04\xff", "not UTF-8"),
    ],
)
def test_files_and_standard_input_are_refused_in_one_line(
    run: Any, write: Any, content: str | bytes, part: str
) -> None:
    for ran in (
        run("report", write(content)),
        run("report", "-", stdin=content if isinstance(content, bytes) else content.encode()),
    ):
        assert part in ran.refusal


def test_folder_and_huge_file_are_refused(
    run: Any, write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Is a directory" in run("report", tmp_path).refusal
    monkeypatch.setattr(command, "MAX_INPUT_BYTES", 1_000_000)
    big = write(b" " * 1_000_001)
    assert "is larger than 1 MB" in run("report", big).refusal
    assert "standard input is larger than 1 MB" in run("report", "-", stdin=b" " * 1_000_001).refusal
    assert "is larger than 1 MB" in run("import", big).refusal


def test_every_problem_of_a_link_is_told_at_once(run: Any) -> None:
    told = run("report", "utilization=2&horizon_months=0&nonsense=1").refusal
    assert "utilization is 2" in told
    assert "horizon_months is 0" in told
    assert "nonsense" in told


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(SPECS)), st.text() | st.sampled_from(["1e999", "-0", "nan", "0", "1e308", "auto", "-"]))
def test_any_text_for_any_field_answers_or_is_refused(run: Any, name: str, text: str) -> None:
    for ran in (run("report", "--set", f"{name}={text}"), run("report", "?" + urlencode({name: text}))):
        if ran.status == 0:
            assert ran.data["version"] == 1
        else:
            assert ran.refusal


@pytest.mark.parametrize(
    "pairs",
    [
        {"system_count": "10000", "demand": "tokens", "demand_tokens_per_month": "1e18"},
        {"horizon_months": "240", "loan_months": "240", "acquisition": "loan", "loan_rate": "1"},
        {"input_usd_per_mtok": "0", "output_usd_per_mtok": "0"},
        {"token_ratio": "20"},
        {"token_ratio": "0.05"},
        {"input_tokens": "1", "output_tokens": "1"},
        {"input_tokens": "1048576", "output_tokens": "1048576"},
        {"max_tpot_ms": "0.001"},
        {"max_ttft_s": "0.001"},
        {"demand": "spend", "demand_usd_per_month": "1e12", "input_usd_per_mtok": "0", "output_usd_per_mtok": "0"},
        {"system_count": "auto", "demand": "seats", "demand_seats": "1e8", "requests_per_seat_workday": "1e6"},
        {
            "api_price_change_per_year": "10",
            "demand_growth_per_year": "10",
            "demand": "requests",
            "demand_requests_per_month": "1",
            "horizon_months": "240",
        },
        {"api_price_change_per_year": "-0.99", "demand_growth_per_year": "-0.99"},
        {"gpu_memory_utilization": "0.1"},
        {"system_count": "0"},
        {"discount_rate": "1", "residual_share": "1", "horizon_months": "1"},
        {"measured_output_tokens_per_s": "0.001"},
        {"measured_output_tokens_per_s": "1e9"},
        {"acquisition": "rent", "rented_hours_per_month": "0", "rent_usd_per_accelerator_hour": "0"},
    ],
)
def test_extremes_are_answered(run: Any, pairs: dict[str, str]) -> None:
    data = run("report", "?" + urlencode(pairs)).data
    assert data["verdict"]
    assert data["payback"]["reason"]


# Formats --------------------------------------------------------------------------------------------------------------


def test_json_goes_to_a_file_and_is_the_same(run: Any, tmp_path: Path) -> None:
    shown = run("report", "title=中文")
    target = tmp_path / "out.json"
    written = run("report", "title=中文", "--output", target)
    assert (written.status, written.out, written.err) == (0, "", "")
    assert json.loads(target.read_text(encoding="utf-8")) == shown.data
    assert run("report", "title=中文", "--output", "-").data == shown.data


@pytest.mark.parametrize(("kind", "start"), [("csv", None), ("xlsx", b"PK"), ("html", b"<!doctype html")])
def test_other_formats_go_to_a_file(run: Any, tmp_path: Path, kind: str, start: bytes | None) -> None:
    target = tmp_path / f"out.{kind}"
    ran = run("report", "--format", kind, "--output", target)
    assert (ran.status, ran.err) == (0, "")
    content = target.read_bytes()
    assert len(content) > 2000
    if start is not None:
        assert content[: len(start)].lower() == start.lower()
    if kind in ("csv", "html"):
        assert "nan" not in content.decode("utf-8-sig").lower().split(",")
        assert "231.5" in content.decode("utf-8-sig") or "232 days" in content.decode("utf-8-sig")


@pytest.mark.parametrize("what", ["models", "systems", "offers", "measurements"])
def test_catalog_lists(run: Any, what: str) -> None:
    rows = run("catalog", what, "--format", "json").data
    assert len(rows) > 5
    plain = run("catalog", what)
    assert plain.status == 0
    assert len(plain.out.strip().split("\n")) == len(rows)
    if what != "measurements":
        assert len({row["id"] for row in rows}) == len(rows)


def test_validate_tells_measured_against_predicted(run: Any) -> None:
    source = ROOT / "data" / "measurements"
    table = sorted(source.glob("*.csv"))[0]
    found = run("validate", table, "--format", "json").data
    assert set(found["summary"]) >= {"n", "mape", "median_ape", "p90_ape", "by_hardware", "skipped"}
    assert found["rows"]
    shown = run("validate", table)
    assert shown.status == 0
    assert "measured" in shown.out


@pytest.mark.parametrize("name", ["anthropic_cost.csv", "azure_trace.csv"])
def test_import_gives_fields_that_report_takes(run: Any, write: Any, name: str) -> None:
    source = ROOT / "tests" / "calculators" / "usage_import" / "exports" / name
    found = run("import", source, "--format", "json").data
    assert found["rows_read"] > 0
    assert found["scenario"]
    assert run("report", write(json.dumps(found["scenario"]))).status == 0
    told = run("import", source)
    assert told.status == 0
    assert "rows read" in told.out


def test_import_refuses_what_it_cannot_read(run: Any, write: Any) -> None:
    for content in (b"", b"\x00\xff\xfe", b"a,b\n1,2\n", b"{" * 1000):
        assert run("import", write(content, "usage.csv")).refusal
    assert run("import", write(b"a,b\n1,2\n", "usage.csv"), "--kind", "nonsense").refusal


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"a,b\n1,2\n", b"id\n" + b"x" * 100_000])
def test_validate_refuses_a_file_without_its_columns(run: Any, write: Any, content: bytes) -> None:
    ran = run("validate", write(content, "rows.csv"), "--format", "json")
    assert ran.status == 2
    assert ran.refusal
    if content.startswith((b"a,b", b"id")):
        assert "It needs gpus, hardware, id, isl, layout, osl and one of out_tok_s_total" in ran.refusal


def test_report_with_an_own_load_test_and_every_bound_at_once(run: Any) -> None:
    for side in ("minimum", "maximum"):
        pairs = {n: str(getattr(s, side)) for n, s in SPECS.items() if s.minimum is not None}
        assert run("report", "?" + urlencode(pairs)).data["payback"]["reason"]


def test_help_is_not_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    assert "report" in capsys.readouterr().out


# For real -------------------------------------------------------------------------------------------------------------


def test_as_a_process_of_its_own() -> None:
    def process(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "calculators", *arguments], cwd=ROOT, input=stdin, capture_output=True, check=False
        )

    good = process("report", "-", stdin=b'{"utilization": 0.5}')
    assert (good.returncode, good.stderr) == (0, b"")
    assert json.loads(good.stdout)["scenario"]["utilization"] == 0.5
    bad = process("report", "-", stdin=b"\xff\x00")
    assert (bad.returncode, bad.stdout) == (2, b"")
    assert bad.stderr == b"standard input could not be read: it is not UTF-8 text.\n"
